/* SPDX-License-Identifier: MIT */
/*
 * schedule_text: a sequence of firings as rules: a straight-line grammar with repetition counts
 * (lang/container.md, "Certificate").
 *
 * A sequence is folded in rounds.  Each round joins equal neighbours into one item with a larger count.
 * It also replaces pairs of neighbours that occur at least three times by a rule of their own; of two
 * overlapping pairs the more frequent one.  So a text that repeats itself on any scale becomes short,
 * as schedules of rates without a common divisor do.  A round shortens the repeating parts to about two
 * thirds.
 *
 * (Pairs as in Larsson & Moffat, "Off-line dictionary-based compression", Proc. IEEE 88(11), 2000; by
 * rounds as in Jeż, "Recompression: a simple and powerful technique for word equations", J. ACM 63(1),
 * 2016.)
 *
 * Work: the length times the rounds.  They end when one shortens the text by less than an eighth.
 */
#ifndef PIPEC_SCHEDULE_TEXT_H
#define PIPEC_SCHEDULE_TEXT_H

#include "base/vec.h"

struct schedule_item { /* fire the symbol `count` times */
    uint64_t symbol, count;
};

struct schedule_rule {
    struct schedule_item *items;
    size_t count;
};

struct schedule_text {
    struct arena *arena;
    uint64_t terminals; /* symbols below are firings; the others are rules, by index */
    VEC(struct schedule_rule) rules;
};

typedef VEC(struct schedule_item) schedule_items;

/* Adds a rule; returns its symbol. */
uint64_t schedule_rule_add(struct schedule_text *text, const struct schedule_item *items,
                           size_t count);
/* Shortens the sequence in place; repeated parts become rules of the text. */
void schedule_fold(struct schedule_text *text, schedule_items *items);
/* The number of words of the rules in the container; schedule_write writes them. */
uint64_t schedule_words(const struct schedule_text *text);
void schedule_write(const struct schedule_text *text, uint64_t *words);

#endif
