/* SPDX-License-Identifier: MIT */
/*
 * name_fold: one name for the elements of an array or a chain, as "eq[0..9]" for eq[0], eq[1], ... eq[9].
 *
 * An index is a decimal number after '[' or '#'.  Both names have the same text but for their indices.
 */
#ifndef BASE_NAME_FOLD_H
#define BASE_NAME_FOLD_H

#include <stdint.h>

#include "base/arena.h"

/* Fewer equal things in a row are not folded. */
enum { NAME_FOLD_LEAST = 3 };

#define NAME_STEP_NONE UINT64_MAX

/* How the indices of `next` follow from those of `first`: bit k is set where index k is larger by
 * `distance`, and clear where it is equal.  NAME_STEP_NONE: anything else differs, or there are more
 * than 63 indices. */
uint64_t name_step(const char *first, const char *next, uint64_t distance);

/* How many names from names[0] on differ only by indices that rise together, one each; 1: fewer than
 * NAME_FOLD_LEAST do. */
size_t name_run(const char *const *names, size_t count);

/* Requires name_step(first, last, ...) != NAME_STEP_NONE.  Owned by the arena. */
const char *name_fold(struct arena *arena, const char *first, const char *last);

#endif
