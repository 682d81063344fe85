/* SPDX-License-Identifier: MIT */
/*
 * periodic: sufficient conditions that do not depend on the size of the repetition counts.
 *
 * A strictly periodic schedule starts firing k of node n at s[n] + (k - 1) T / q[n].  An arc a -> b
 * (add u, take v, initial M, g = gcd(u, v)) is respected by every pair of firings exactly if
 *
 *     s[b] - s[a] > T / (q[a] u) x (v - g - floor(M / g) g)
 *
 * because firing k of b waits for firing j = ceil((v k - M) / u) of a, and the largest value of j u
 * - (v k - M) over k is u - g + (M mod g).  (Benazouz, Marchetti, Munier-Kordon & Urard, "A new
 * approach for minimizing buffer capacities with throughput constraint for embedded system design",
 * AICCSA 2010; the condition on a circuit is that of Marchetti & Munier-Kordon, "A sufficient
 * condition for the liveness of weighted event graphs", EJOR 197(2), 2009.)
 *
 * A window K beyond v counts as K - v tokens less, and a node with phases as one that fires a whole
 * cycle at once: it takes what the cycle needs at its beginning and adds at its end, which is a
 * schedule of the real one, too.
 *
 * So starting times that satisfy these differences prove liveness: firings in order of time never
 * wait.  They are found by longest paths over the arcs (Bellman-Ford).  No solution proves nothing.
 */
#ifndef PIPEC_PERIODIC_H
#define PIPEC_PERIODIC_H

#include "compiler/ir/ratio.h"
#include "compiler/liveness/token_game.h"

/* Looks for a periodic schedule over the arcs of packets and of declared room (ARC_ROOM is left
 * out). With `room`, writes for each ARC_ROOM arc the initial tokens that this schedule needs on it
 * (parallel to the arcs). False: none was found. */
bool periodic_schedule(const struct net *net, uint64_t *room);

struct periodic_starts {
    uint32_t period_bits; /* T = 2^period_bits */
    int128 *starts;       /* s of each node of the net, 0..2^100 */
};
/* The same, for who wants the starting times: a proof that others can check. */
bool periodic_find_starts(struct arena *arena, const struct net *net,
                          struct periodic_starts *starts);

#endif
