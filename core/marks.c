/* SPDX-License-Identifier: MIT */
#include "core/marks.h"

enum { WORD_BITS = 64, BLOCK_STAGES = WORD_BITS * WORD_BITS };

/* The marks write through `words`.  NOLINTNEXTLINE(readability-non-const-parameter) */
void core_marks_lay_out(struct core_marks *marks, uint64_t *words, uint32_t count)
{
    uint64_t at = (uintptr_t)words - (uintptr_t)marks;
    *marks = (struct core_marks){.stages_at = at,
                                 .words_at = at + ((uint64_t)count / WORD_BITS + 1) * sizeof *words,
                                 .count = count};
}

void core_mark_all(struct core_marks *marks)
{
    for (uint32_t i = 0; i < marks->count; i++)
        core_mark(marks, i);
}

/* The first bit from number `from` on that is set, below `count`; CORE_NONE: there is none. */
static uint32_t first_bit(const uint64_t *words, uint32_t from, uint32_t count)
{
    while (from < count) {
        uint64_t bits = words[from / WORD_BITS] >> from % WORD_BITS;
        if (bits != 0) return from + (uint32_t)__builtin_ctzll(bits);
        from = (from / WORD_BITS + 1) * WORD_BITS;
    }
    return CORE_NONE;
}

/* The first marked stage from number `from` on; CORE_NONE: there is none. */
static uint32_t first_marked(const struct core_marks *marks, uint32_t from)
{
    if (marks->marked == 0 || from >= marks->count) return CORE_NONE;
    uint32_t word = from / WORD_BITS, words = marks->count / WORD_BITS + 1;
    uint32_t here = first_bit(core_marks_stages(marks), from, (word + 1) * WORD_BITS);
    if (here != CORE_NONE) return here;
    word = first_bit(core_marks_of_words(marks), word + 1, words);
    if (word == CORE_NONE) return CORE_NONE;
    return first_bit(core_marks_stages(marks), word * WORD_BITS, (word + 1) * WORD_BITS);
}

uint32_t core_marks_take(struct core_marks *marks, uint32_t from)
{
    uint32_t stage = first_marked(marks, from);
    if (stage == CORE_NONE) return stage;
    uint64_t *word = &core_marks_stages(marks)[stage / WORD_BITS];
    *word &= ~(UINT64_C(1) << stage % WORD_BITS);
    if (*word == 0)
        core_marks_of_words(marks)[stage / BLOCK_STAGES] &=
            ~(UINT64_C(1) << stage / WORD_BITS % WORD_BITS);
    marks->marked--;
    return stage;
}
