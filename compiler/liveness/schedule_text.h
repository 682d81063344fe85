/* SPDX-License-Identifier: MIT */
/*
 * schedule_text: a sequence of firings as rules: a straight-line grammar with repetition counts
 * (lang/container.md, "Certificate").
 *
 * A sequence is folded by rounds.  Each joins equal neighbours into one item with a larger count,
 * and replaces pairs of neighbours that occur at least three times, the more frequent of two that
 * overlap, by a rule of their own.  So a text that repeats itself on any scale, as schedules of
 * rates without a common divisor do, becomes short: a round shortens what repeats to some two
 * thirds.  (Pairs as in Larsson & Moffat, "Off-line dictionary-based compression", Proc. IEEE
 * 88(11), 2000; by rounds as in Jeż, "Recompression: a simple and powerful technique for word
 * equations", J. ACM 63(1), 2016.)  Work: the length times the rounds, which end when one shortens
 * by less than an eighth.
 */
#ifndef PIPEC_SCHEDULE_TEXT_H
#define PIPEC_SCHEDULE_TEXT_H

#include "base/vec.h"

struct schedule_item { /* fire the symbol so often */
    uint64_t symbol, count;
};

struct schedule_rule {
    struct schedule_item *items;
    size_t count;
};

struct schedule_text {
    struct arena *arena;
    uint64_t terminals; /* symbols below fire; others are rules, by index */
    VEC(struct schedule_rule) rules;
};

typedef VEC(struct schedule_item) schedule_items;

/* Adds a rule; returns its symbol. */
uint64_t schedule_rule_add(struct schedule_text *text, const struct schedule_item *items,
                           size_t count);
/* Shortens the sequence in place; what repeats goes to rules of the text. */
void schedule_fold(struct schedule_text *text, schedule_items *items);
/* Words of the rules in the container, and the words. */
uint64_t schedule_words(const struct schedule_text *text);
void schedule_write(const struct schedule_text *text, uint64_t *words);

#endif
