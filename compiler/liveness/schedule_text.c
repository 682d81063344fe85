/* SPDX-License-Identifier: MIT */
#include "compiler/liveness/schedule_text.h"

#include <stdbool.h>
#include <string.h>

enum { SHORT = 32, REPEATED = 3, ROUNDS_MAX = 64 };

uint64_t schedule_rule_add(struct schedule_text *text, const struct schedule_item *items,
                           size_t count)
{
    struct schedule_rule rule = {.count = count};
    rule.items = ARENA_ARRAY(text->arena, struct schedule_item, count + 1);
    if (count) memcpy(rule.items, items, count * sizeof *items);
    return text->terminals + vec_push(text->arena, &text->rules, rule);
}

/* ---- folding ---- */

struct pair {
    struct schedule_item first, second;
    uint32_t seen;
    uint64_t symbol; /* 0: it has no rule yet (the first symbol is a terminal) */
};

struct pairs { /* a hash table */
    struct pair *slots;
    size_t slot_count; /* a power of two */
};

static uint64_t hash_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static struct pair *find_pair(const struct pairs *pairs, const struct schedule_item *at)
{
    uint64_t hash = hash_mix(
        hash_mix(hash_mix(hash_mix(1, at[0].symbol), at[0].count), at[1].symbol), at[1].count);
    size_t mask = pairs->slot_count - 1, slot = (size_t)(hash >> 7) & mask;
    while (pairs->slots[slot].seen) {
        const struct pair *pair = &pairs->slots[slot];
        if (pair->first.symbol == at[0].symbol && pair->first.count == at[0].count &&
            pair->second.symbol == at[1].symbol && pair->second.count == at[1].count)
            break;
        slot = (slot + 1) & mask;
    }
    return &pairs->slots[slot];
}

static void join_equal(schedule_items *items)
{
    size_t kept = 0;
    for (size_t i = 0; i < items->count; i++) {
        struct schedule_item item = items->items[i];
        if (kept && items->items[kept - 1].symbol == item.symbol)
            items->items[kept - 1].count += item.count;
        else
            items->items[kept++] = item;
    }
    items->count = kept;
}

static bool is_pair_chosen(const struct pairs *pairs, const schedule_items *items, size_t i)
{
    if (i + 1 >= items->count) return false;
    uint32_t seen = find_pair(pairs, &items->items[i])->seen;
    if (seen < REPEATED) return false;
    return i + 2 >= items->count || find_pair(pairs, &items->items[i + 1])->seen <= seen;
}

static void replace_pairs(struct schedule_text *text, const struct pairs *pairs,
                          schedule_items *items)
{
    size_t kept = 0;
    for (size_t i = 0; i < items->count;) {
        struct schedule_item item = items->items[i];
        if (is_pair_chosen(pairs, items, i)) {
            struct pair *pair = find_pair(pairs, &items->items[i]);
            if (pair->symbol == 0) pair->symbol = schedule_rule_add(text, &items->items[i], 2);
            item = (struct schedule_item){pair->symbol, 1};
            i++;
        }
        i++;
        items->items[kept++] = item;
    }
    items->count = kept;
}

void schedule_fold(struct schedule_text *text, schedule_items *items)
{
    join_equal(items);
    for (int round = 0; round < ROUNDS_MAX && items->count > SHORT; round++) {
        size_t before = items->count;
        struct arena *scratch = arena_create();
        struct pairs pairs = {.slot_count = 64};
        while (pairs.slot_count < 2 * items->count)
            pairs.slot_count *= 2;
        pairs.slots = ARENA_ARRAY(scratch, struct pair, pairs.slot_count);
        for (size_t i = 0; i + 1 < items->count; i++) {
            struct pair *pair = find_pair(&pairs, &items->items[i]);
            pair->first = items->items[i];
            pair->second = items->items[i + 1];
            pair->seen++;
        }
        replace_pairs(text, &pairs, items);
        join_equal(items);
        arena_destroy(scratch);
        if (items->count > before - before / 8) return;
    }
}

/* ---- writing ---- */

uint64_t schedule_words(const struct schedule_text *text)
{
    uint64_t words = 1;
    for (size_t i = 0; i < text->rules.count; i++)
        words += 1 + 2 * (uint64_t)text->rules.items[i].count;
    return words;
}

void schedule_write(const struct schedule_text *text, uint64_t *words)
{
    *words++ = text->rules.count;
    for (size_t i = 0; i < text->rules.count; i++) {
        const struct schedule_rule *rule = &text->rules.items[i];
        *words++ = rule->count;
        for (size_t k = 0; k < rule->count; k++) {
            *words++ = rule->items[k].symbol;
            *words++ = rule->items[k].count;
        }
    }
}
