/* SPDX-License-Identifier: MIT */
/*
 * stage_marks: a set of stages, which are taken from it in the order of their numbers.
 *
 * A bit for each stage, and one for each word of them: so of very many stages the few that are marked are found without
 * a look at the others.
 *
 * Ownership: the set owns its memory; a zeroed one may be destroyed.  Threads: one.  Allocation: at creation only.
 * Errors: creation: false, out of memory.
 */
#ifndef RUNTIME_SCHED_STAGE_MARKS_H
#define RUNTIME_SCHED_STAGE_MARKS_H

#include <stdbool.h>
#include <stdint.h>

struct prt_stage_marks {
    uint64_t *stages; /* bit i % 64 of word i / 64: stage i is marked */
    uint64_t *words;  /* the same of the words above that are not 0 */
    uint32_t count;   /* of stages there are */
    uint32_t marked;  /* of them */
};

#define PRT_STAGE_MARKS_NONE UINT32_MAX

/* Of `count` stages none is marked. */
bool prt_stage_marks_create(struct prt_stage_marks *marks, uint32_t count);
void prt_stage_marks_destroy(struct prt_stage_marks *marks);

/* A second time it does nothing. */
static inline void prt_stage_mark(struct prt_stage_marks *marks, uint32_t stage)
{
    uint64_t bit = UINT64_C(1) << stage % 64, *word = &marks->stages[stage / 64];
    if ((*word & bit) != 0) return;
    *word |= bit;
    marks->words[stage / 4096] |= UINT64_C(1) << stage / 64 % 64;
    marks->marked++;
}

void prt_stage_mark_all(struct prt_stage_marks *marks);

/* Takes the first marked stage from number `from` on out of the set; PRT_STAGE_MARKS_NONE: there is none. */
uint32_t prt_stage_marks_take(struct prt_stage_marks *marks, uint32_t from);

#endif
