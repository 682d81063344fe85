/* SPDX-License-Identifier: MIT */
/*
 * stage_marks: a set of stages.  They are taken out of it in the order of their numbers.
 *
 * There is one bit for each stage, and one bit for each word of these.  So a few marked stages among very many are found
 * without a look at the others.
 *
 * Ownership: the set owns its memory; a zeroed one may be destroyed.  Thread-safety: one thread at a time.
 * Allocation: only at creation.  Errors: creation returns false if memory runs out.
 */
#ifndef RUNTIME_SCHED_STAGE_MARKS_H
#define RUNTIME_SCHED_STAGE_MARKS_H

#include <stdbool.h>
#include <stdint.h>

struct prt_stage_marks {
    uint64_t *stages; /* bit i % 64 of word i / 64: stage i is marked */
    uint64_t *words;  /* bit i % 64 of word i / 64: word i of `stages` is not 0 */
    uint32_t count;   /* all stages */
    uint32_t marked;  /* the marked ones */
};

#define PRT_STAGE_MARKS_NONE UINT32_MAX

/* Creates a set for `count` stages, none of which is marked. */
bool prt_stage_marks_create(struct prt_stage_marks *marks, uint32_t count);
void prt_stage_marks_destroy(struct prt_stage_marks *marks);

/* Marks the stage, if it is not marked yet. */
static inline void prt_stage_mark(struct prt_stage_marks *marks, uint32_t stage)
{
    uint64_t bit = UINT64_C(1) << stage % 64, *word = &marks->stages[stage / 64];
    if ((*word & bit) != 0) return;
    *word |= bit;
    marks->words[stage / 4096] |= UINT64_C(1) << stage / 64 % 64;
    marks->marked++;
}

void prt_stage_mark_all(struct prt_stage_marks *marks);

/* Removes and returns the first marked stage from number `from` on; PRT_STAGE_MARKS_NONE: there is none. */
uint32_t prt_stage_marks_take(struct prt_stage_marks *marks, uint32_t from);

#endif
