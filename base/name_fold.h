/* SPDX-License-Identifier: MIT */
/*
 * name_fold: one name for the elements of an array or a chain, as "eq[0..9]" for eq[0], eq[1], ... eq[9], and back.
 *
 * An index is a decimal number after '[' or '#'. Names are folded if they differ only in their indices.
 */
#ifndef BASE_NAME_FOLD_H
#define BASE_NAME_FOLD_H

#include <stdint.h>

#include "base/arena.h"

/* Shorter runs of names are not folded. */
enum { NAME_FOLD_LEAST = 3 };

#define NAME_STEP_NONE UINT64_MAX

/* Compares the indices of two names. Bit k is set if index k of `next` is larger than that of
 * `first` by `distance`, and clear if they are equal. NAME_STEP_NONE: the names differ otherwise,
 * or have more than 63 indices. */
uint64_t name_step(const char *first, const char *next, uint64_t distance);

/* The number of names from names[0] on that differ only in indices which increase together by one.
 * 1: the run is shorter than NAME_FOLD_LEAST. */
size_t name_run(const char *const *names, size_t count);

/* Requires name_step(first, last, ...) != NAME_STEP_NONE.  Owned by the arena. */
const char *name_fold(struct arena *arena, const char *first, const char *last);

/* The number of names that a folded name stands for; 1: it is one name. */
uint64_t name_unfold_count(const char *folded);
/* Number `index` of these names, from 0.  Owned by the arena. */
const char *name_unfold(struct arena *arena, const char *folded, uint64_t index);

#endif
