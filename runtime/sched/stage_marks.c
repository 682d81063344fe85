/* SPDX-License-Identifier: MIT */
#include "runtime/sched/stage_marks.h"

#include <stdlib.h>

enum { WORD_BITS = 64, BLOCK_STAGES = WORD_BITS * WORD_BITS };

bool prt_stage_marks_create(struct prt_stage_marks *marks, uint32_t count)
{
    *marks = (struct prt_stage_marks){.count = count};
    marks->stages = calloc((size_t)count / WORD_BITS + 1, sizeof *marks->stages);
    marks->words = calloc((size_t)count / BLOCK_STAGES + 1, sizeof *marks->words);
    if (marks->stages != NULL && marks->words != NULL) return true;
    prt_stage_marks_destroy(marks);
    return false;
}

void prt_stage_marks_destroy(struct prt_stage_marks *marks)
{
    free(marks->stages);
    free(marks->words);
    *marks = (struct prt_stage_marks){0};
}

void prt_stage_mark_all(struct prt_stage_marks *marks)
{
    for (uint32_t i = 0; i < marks->count; i++)
        prt_stage_mark(marks, i);
}

/* The first bit from number `from` on that is set, below `count`; PRT_STAGE_MARKS_NONE: there is none. */
static uint32_t first_bit(const uint64_t *words, uint32_t from, uint32_t count)
{
    while (from < count) {
        uint64_t bits = words[from / WORD_BITS] >> from % WORD_BITS;
        if (bits != 0) return from + (uint32_t)__builtin_ctzll(bits);
        from = (from / WORD_BITS + 1) * WORD_BITS;
    }
    return PRT_STAGE_MARKS_NONE;
}

/* The first marked stage from number `from` on; PRT_STAGE_MARKS_NONE: there is none. */
static uint32_t first_marked(const struct prt_stage_marks *marks, uint32_t from)
{
    if (marks->marked == 0 || from >= marks->count) return PRT_STAGE_MARKS_NONE;
    uint32_t word = from / WORD_BITS, words = marks->count / WORD_BITS + 1;
    uint32_t here = first_bit(marks->stages, from, (word + 1) * WORD_BITS);
    if (here != PRT_STAGE_MARKS_NONE) return here;
    word = first_bit(marks->words, word + 1, words);
    if (word == PRT_STAGE_MARKS_NONE) return PRT_STAGE_MARKS_NONE;
    return first_bit(marks->stages, word * WORD_BITS, (word + 1) * WORD_BITS);
}

uint32_t prt_stage_marks_take(struct prt_stage_marks *marks, uint32_t from)
{
    uint32_t stage = first_marked(marks, from);
    if (stage == PRT_STAGE_MARKS_NONE) return stage;
    uint64_t *word = &marks->stages[stage / WORD_BITS];
    *word &= ~(UINT64_C(1) << stage % WORD_BITS);
    if (*word == 0)
        marks->words[stage / BLOCK_STAGES] &= ~(UINT64_C(1) << stage / WORD_BITS % WORD_BITS);
    marks->marked--;
    return stage;
}
