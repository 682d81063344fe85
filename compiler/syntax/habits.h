/* SPDX-License-Identifier: MIT */
/*
 * habits: words of other languages, and their equivalents in this one.
 */
#ifndef PIPEC_HABITS_H
#define PIPEC_HABITS_H

#include <stdbool.h>

enum habit_place {
    HABIT_ANYWHERE,
    HABIT_FIRST,    /* begins a statement or an item, before another word or a bracket */
    HABIT_OPERATOR, /* stands between or before operands */
    HABIT_NAME      /* a name like any other; explained if it is not declared */
};

struct habit {
    const char *word;
    enum habit_place place;
    const char *help;
};

/* NULL: the word belongs to no other language. */
const struct habit *habit_find(const char *word);
/* The type that replaces such a word (`float`: f32), or NULL. */
const char *habit_type(const char *word);

#endif
