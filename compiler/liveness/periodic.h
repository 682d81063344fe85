/* SPDX-License-Identifier: MIT */
/*
 * periodic: sufficient conditions that do not depend on the size of the repetition counts.
 *
 * A strictly periodic schedule starts firing k of node n at s[n] + (k - 1) T / q[n].  Let an arc a -> b
 * add u and take v, with M initial tokens and g = gcd(u, v).  Every pair of firings respects it exactly
 * if
 *
 *     s[b] - s[a] > T / (q[a] u) x (v - g - floor(M / g) g)
 *
 * because firing k of b waits for firing j = ceil((v k - M) / u) of a, and the largest value of
 * j u - (v k - M) over k is u - g + (M mod g).
 *
 * A window K larger than v counts as K - v tokens less.  A node with phases counts as a node that fires
 * a whole cycle of phases at once: it takes the needs of the cycle at its beginning and adds at its end.
 * That is a schedule of the real node, too.
 *
 * So starting times that satisfy these differences prove liveness: firings in order of time never wait.
 * They are found by longest paths over the arcs (Bellman-Ford).  If there is no solution, nothing is
 * proven.
 *
 * (Benazouz, Marchetti, Munier-Kordon & Urard, "A new approach for minimizing buffer capacities with
 * throughput constraint for embedded system design", AICCSA 2010.  The condition on a cycle is that of
 * Marchetti & Munier-Kordon, "A sufficient condition for the liveness of weighted event graphs", EJOR
 * 197(2), 2009.)
 */
#ifndef PIPEC_PERIODIC_H
#define PIPEC_PERIODIC_H

#include "compiler/ir/ratio.h"
#include "compiler/liveness/token_game.h"

/* Looks for a periodic schedule over the arcs of packets and of declared room, without ARC_ROOM.
 * With `room`, writes for each ARC_ROOM arc the initial tokens that this schedule needs on it
 * (parallel to the arcs). False: none was found. */
bool periodic_schedule(const struct net *net, uint64_t *room);

struct periodic_starts {
    uint32_t period_bits; /* T = 2^period_bits */
    int128 *starts;       /* s of each node of the net, 0..2^100 */
};
/* The same, and keeps the starting times: a proof that others can check. */
bool periodic_find_starts(struct arena *arena, const struct net *net,
                          struct periodic_starts *starts);

#endif
