/* SPDX-License-Identifier: MIT */
/*
 * stage_marks: a set of stages.  They are taken out of it in the order of their numbers.
 *
 * There is one bit for each stage, and one bit for each word of these.  So a few marked stages among very many are found
 * without a look at the others.
 *
 * The bits lie in memory of the caller at a fixed distance from the set, so that both can be moved together.
 * Thread-safety: one thread at a time.  Allocation: none.  Errors: none.
 */
#ifndef CORE_MARKS_H
#define CORE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core_marks {
    uint64_t
        stages_at; /* distance of the words of stages: bit i % 64 of word i / 64: stage i is marked */
    uint64_t
        words_at; /* distance of theirs: bit i % 64 of word i / 64: word i of the stages is not 0 */
    uint32_t count;  /* all stages */
    uint32_t marked; /* the marked ones */
};

#define CORE_NONE UINT32_MAX /* no stage, buffer or end */

/* Words of the bits of `count` stages. */
static inline size_t core_marks_words(uint32_t count)
{
    return (size_t)count / 64 + 1 + (size_t)count / 4096 + 1;
}

/* A set for `count` stages, none of which is marked.  `words`: core_marks_words of them, zeroed. */
void core_marks_lay_out(struct core_marks *marks, uint64_t *words, uint32_t count);

static inline uint64_t *core_marks_stages(const struct core_marks *marks)
{
    return (uint64_t *)((uintptr_t)marks + marks->stages_at);
}

static inline uint64_t *core_marks_of_words(const struct core_marks *marks)
{
    return (uint64_t *)((uintptr_t)marks + marks->words_at);
}

/* Marks the stage, if it is not marked yet. */
static inline void core_mark(struct core_marks *marks, uint32_t stage)
{
    uint64_t bit = UINT64_C(1) << stage % 64, *word = &core_marks_stages(marks)[stage / 64];
    if ((*word & bit) != 0) return;
    *word |= bit;
    core_marks_of_words(marks)[stage / 4096] |= UINT64_C(1) << stage / 64 % 64;
    marks->marked++;
}

void core_mark_all(struct core_marks *marks);

/* Removes and returns the first marked stage from number `from` on; CORE_NONE: there is none. */
uint32_t core_marks_take(struct core_marks *marks, uint32_t from);

#endif
