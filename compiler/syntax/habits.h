/* SPDX-License-Identifier: MIT */
/*
 * habits: words of other languages, and what is written here instead.
 */
#ifndef PIPEC_HABITS_H
#define PIPEC_HABITS_H

#include <stdbool.h>

enum habit_place {
    HABIT_ANYWHERE,
    HABIT_FIRST,    /* begins a statement or an item, before another word or a bracket */
    HABIT_OPERATOR, /* stands between or before operands */
    HABIT_NAME      /* is a name like any other: of interest where it is not declared */
};

struct habit {
    const char *word;
    enum habit_place place;
    const char *help;
};

/* NULL: the word is nobody's habit. */
const struct habit *habit_find(const char *word);
/* The type that such a word stands for (`float`: f32), or NULL. */
const char *habit_type(const char *word);

#endif
