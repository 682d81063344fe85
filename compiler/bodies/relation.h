/* SPDX-License-Identifier: MIT */
/*
 * relation: equations that always hold between the numbers of packets that a firing appends to its
 * outputs.
 *
 * Domain    an affine subspace of the vectors of counts (a coordinate for each end of the
 *           out-ports): a point and directions, all integers.  Sound: every vector of a real execution
 *           at that place of the body lies in it.
 * Reference M. Karr, "Affine relationships among variables of a program", Acta Informatica 6, 1976,
 *           restricted to counters.  A body cannot read its counters, so the packets of a piece
 *           of it do not depend on those before: an append is a translation, two paths that meet
 *           give the affine hull of both, and a loop needs no iteration (relation_repeat).
 * Limits    conditions are ignored (two `if` with the same condition are four ways); up to
 *           RELATION_ENDS_MAX ends; a number above 63 bits makes the relation `any`.
 * Cost      joining is O(ends^2) for each direction, of which there are at most `ends`.
 */
#ifndef PIPEC_RELATION_H
#define PIPEC_RELATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define RELATION_ENDS_MAX 16u

struct relation {
    uint32_t ends;
    uint32_t direction_count;
    bool any; /* nothing is known */
    int64_t *point;
    /* Row after row, each without a common divisor; no row has anything at the first non-zero place
     * of an earlier one. */
    int64_t *directions;
};

struct relation relation_create(struct arena *arena, uint32_t ends);
/* Nothing has been appended. */
void relation_clear(struct relation *r);
void relation_copy(struct relation *to, const struct relation *from);
/* One packet to one of the ends first..last. */
void relation_append(struct relation *r, uint32_t first, uint32_t last);
/* to := to or from; where the point of `to` is zero it stays so: a linear subspace. */
void relation_join(struct relation *to, const struct relation *from);
/* `left` is reached after any number of rounds instead of after none; one round leads from `begin`
 * to `next`. */
void relation_repeat(struct relation *left, const struct relation *begin,
                     const struct relation *next);
/* Of a linear subspace: whether the counts of the two ends are always in the same proportion, both
 * positive or both zero, and not always zero.  Returns the proportion in lowest terms. */
bool relation_in_step(const struct relation *r, uint32_t a, uint32_t b, uint64_t *share_a,
                      uint64_t *share_b);

#endif
