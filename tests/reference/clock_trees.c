/* SPDX-License-Identifier: MIT */
#include "tests/reference/clock_trees.h"

#include <assert.h>

/* ---- recording ---- */

int clock_tree_open(struct clock_trees *t, int parent, enum clock_order order, int most,
                    uint64_t before)
{
    assert(t->count < CLOCK_FIRINGS);
    int level = parent == CLOCK_NO_FIRING ? 0 : t->firings[parent].level + 1;
    t->firings[t->count] = (struct clock_firing){.parent = parent,
                                                 .level = level,
                                                 .most = most,
                                                 .order = order,
                                                 .before = before,
                                                 .first = t->count,
                                                 .asked_after = -1};
    if (parent != CLOCK_NO_FIRING) t->firings[parent].launches++;
    return t->count++;
}

int clock_tree_join(struct clock_trees *t, int first, int most)
{
    struct clock_firing *of = &t->firings[first];
    assert(t->count < CLOCK_FIRINGS);
    of->has_mates = true;
    t->firings[t->count] = (struct clock_firing){.parent = of->parent,
                                                 .level = of->level,
                                                 .most = most,
                                                 .order = CLOCK_WITH_PARENT,
                                                 .first = first,
                                                 .asked_after = -1};
    return t->count++;
}

void clock_tree_wait(struct clock_trees *t, int firing, int sibling)
{
    struct clock_firing *f = &t->firings[firing];
    f->waits[f->wait_count++] = sibling;
}

void clock_tree_ask(struct clock_trees *t, int firing, int issued, uint64_t before)
{
    t->firings[firing].asked_after = issued;
    t->firings[firing].asked_before = before;
}

void clock_tree_close(struct clock_trees *t, int firing, uint64_t cost)
{
    t->firings[firing].cost = cost;
}

/* ---- what is so at this moment ---- */

static bool tree_ended(const struct clock_trees *t, int firing)
{
    if (t->firings[firing].state != CLOCK_ENDED) return false;
    for (int i = firing + 1; i < t->count; i++)
        if (t->firings[i].parent == firing && !tree_ended(t, i)) return false;
    return true;
}

static bool launch_ended(const struct clock_trees *t, int first)
{
    for (int i = first; i < t->count; i++)
        if (t->firings[i].first == first && !tree_ended(t, i)) return false;
    return true;
}

static int running(const struct clock_trees *t)
{
    int count = 0;
    for (int i = 0; i < t->count; i++)
        count += t->firings[i].state == CLOCK_RUNNING;
    return count;
}

static bool is_ready(const struct clock_trees *t, int firing)
{
    const struct clock_firing *f = &t->firings[firing];
    if (f->state == CLOCK_RESUMING) return true;
    if (f->state != CLOCK_WAITING || f->parent == CLOCK_NO_FIRING) return false;
    if (f->first != firing) return t->firings[f->first].called;
    if (f->order != CLOCK_WITH_PARENT && !f->admitted) return false;
    for (int i = 0; i < f->wait_count; i++)
        if (!launch_ended(t, f->waits[i])) return false;
    return true;
}

static bool goes_before(const struct clock_trees *t, int a, int b)
{
    const struct clock_firing *first = &t->firings[a], *second = &t->firings[b];
    if (first->level != second->level) return first->level > second->level;
    if (first->begun != second->begun) return first->begun;
    return a < b;
}

static int first_ready(const struct clock_trees *t)
{
    int best = CLOCK_NO_FIRING;
    for (int i = 0; i < t->count; i++)
        if (is_ready(t, i) && (best == CLOCK_NO_FIRING || goes_before(t, i, best))) best = i;
    return best;
}

static uint64_t held(const struct clock_trees *t)
{
    uint64_t count = 0;
    for (int i = 0; i < t->count; i++)
        count += t->firings[i].level > 0 && t->firings[i].first == i &&
                 t->firings[i].state != CLOCK_UNISSUED && !launch_ended(t, i);
    return count;
}

static uint64_t taken(const struct clock_trees *t)
{
    uint64_t count = held(t);
    for (int i = 0; i < t->count; i++)
        if (t->firings[i].begun && t->firings[i].state != CLOCK_ENDED)
            count += (uint64_t)(t->firings[i].most - t->firings[i].issued);
    return count;
}

static bool fits_beside(const struct clock_trees *t, int firing)
{
    return taken(t) + (uint64_t)t->firings[firing].most + t->below_root <= t->entries;
}

static bool may_begin(const struct clock_trees *t, int firing)
{
    const struct clock_firing *f = &t->firings[firing];
    if (f->begun || f->most == 0) return true;
    bool alone = f->parent == CLOCK_NO_FIRING ? taken(t) == 0 : running(t) == 0;
    return alone || fits_beside(t, firing);
}

static int next_root(const struct clock_trees *t)
{
    for (int i = 0; i < t->count; i++)
        if (t->firings[i].level == 0 && t->firings[i].state == CLOCK_UNISSUED) return i;
    return CLOCK_NO_FIRING;
}

/* ---- what a firing does next ---- */

/* The child it asks for before it launches anything more, or NONE. */
static int asks_for(const struct clock_trees *t, int firing)
{
    int found = CLOCK_NO_FIRING;
    for (int i = firing + 1; i < t->count; i++) {
        const struct clock_firing *f = &t->firings[i];
        if (f->parent != firing || f->asked_after < 0 || f->answered) continue;
        if (f->asked_after > t->firings[firing].issued) continue;
        if (found == CLOCK_NO_FIRING || f->asked_after < t->firings[found].asked_after ||
            (f->asked_after == t->firings[found].asked_after &&
             f->asked_before < t->firings[found].asked_before))
            found = i;
    }
    return found;
}

static int next_launch(const struct clock_trees *t, int firing)
{
    int number = 0;
    for (int i = firing + 1; i < t->count; i++)
        if (t->firings[i].parent == firing && t->firings[i].first == i &&
            number++ == t->firings[firing].issued)
            return i;
    return CLOCK_NO_FIRING;
}

/* How much of its cost comes before that. */
static uint64_t work_until_next(const struct clock_trees *t, int firing)
{
    int asked = asks_for(t, firing), launch = next_launch(t, firing);
    uint64_t cost = t->firings[firing].cost, until = cost;
    if (asked != CLOCK_NO_FIRING)
        until = t->firings[asked].asked_before;
    else if (launch != CLOCK_NO_FIRING)
        until = t->firings[launch].before;
    return until < cost ? until : cost;
}

static bool calls_mates(const struct clock_trees *t, int firing)
{
    return t->firings[firing].has_mates && !t->firings[firing].called;
}

static bool is_at_mark(const struct clock_trees *t, int firing)
{
    const struct clock_firing *f = &t->firings[firing];
    if (calls_mates(t, firing)) return f->state == CLOCK_RUNNING && f->starting == 0;
    bool launches =
        asks_for(t, firing) == CLOCK_NO_FIRING && next_launch(t, firing) != CLOCK_NO_FIRING;
    return f->state == CLOCK_RUNNING && f->starting == 0 && f->work >= work_until_next(t, firing) &&
           (!launches || f->issuing == 0);
}

static void admit_children(struct clock_trees *t, int firing)
{
    for (int i = firing + 1; i < t->count; i++) {
        struct clock_firing *f = &t->firings[i];
        bool late = f->order == CLOCK_AFTER_PARENT && t->firings[firing].level == 0;
        if (f->parent == firing && f->state == CLOCK_WAITING && !late) f->admitted = true;
    }
}

/* Whoever stands for a tree that has ended meanwhile goes on. */
static void answer_all(struct clock_trees *t)
{
    for (int i = 0; i < t->count; i++) {
        struct clock_firing *f = &t->firings[i];
        if (f->state != CLOCK_STANDING) continue;
        int asked = asks_for(t, i);
        if (!launch_ended(t, asked)) continue;
        t->firings[asked].answered = true;
        f->state = CLOCK_RESUMING;
    }
}

static void do_next(struct clock_trees *t, int firing)
{
    struct clock_firing *f = &t->firings[firing];
    int asked = asks_for(t, firing), launch = next_launch(t, firing);
    if (calls_mates(t, firing)) {
        f->called = true;
    } else if (asked != CLOCK_NO_FIRING && launch_ended(t, asked)) {
        t->firings[asked].answered = true;
    } else if (asked != CLOCK_NO_FIRING) {
        f->state = CLOCK_STANDING;
        admit_children(t, firing);
    } else if (launch != CLOCK_NO_FIRING) {
        for (int i = launch; i < t->count; i++)
            if (t->firings[i].first == launch) t->firings[i].state = CLOCK_WAITING;
        f->issued++;
        f->issuing = t->issue;
        uint64_t entries = held(t);
        if (entries > t->entries_most) t->entries_most = entries;
    } else {
        f->state = CLOCK_ENDED;
        admit_children(t, firing);
        answer_all(t);
    }
}

static bool do_marks(struct clock_trees *t)
{
    bool any = false;
    for (int i = 0; i < t->count; i++) {
        if (!is_at_mark(t, i)) continue;
        do_next(t, i);
        any = true;
        i = -1; /* the first one again */
    }
    return any;
}

/* ---- beginning ---- */

static void begin(struct clock_trees *t, int firing)
{
    struct clock_firing *f = &t->firings[firing];
    f->state = CLOCK_RUNNING;
    if (f->begun) return;
    f->begun = true;
    f->starting = f->level > 0 && f->first == firing ? t->start : 0;
    f->issuing = t->issue;
}

/* The dispatch has ended, or as much of it as the queue has room for. */
static bool admit_late(struct clock_trees *t)
{
    bool any = false, open = next_root(t) != CLOCK_NO_FIRING;
    for (int i = 0; i < t->count; i++)
        open |=
            t->firings[i].level == 0 && t->firings[i].begun && t->firings[i].state != CLOCK_ENDED;
    if (open && (running(t) > 0 || first_ready(t) != CLOCK_NO_FIRING)) return false;
    for (int i = 0; i < t->count; i++) {
        struct clock_firing *f = &t->firings[i];
        if (f->level != 1 || f->order != CLOCK_AFTER_PARENT || f->state != CLOCK_WAITING ||
            f->admitted)
            continue;
        f->admitted = any = true;
    }
    return any;
}

static bool begin_some(struct clock_trees *t)
{
    bool any = false;
    do {
        while (running(t) < t->cus) {
            int next = first_ready(t), root = next_root(t);
            if (next == CLOCK_NO_FIRING) next = root;
            if (next == CLOCK_NO_FIRING || !may_begin(t, next)) break;
            begin(t, next);
            any = true;
        }
    } while (admit_late(t));
    return any;
}

static void pass_cycle(struct clock_trees *t)
{
    for (int i = 0; i < t->count; i++) {
        struct clock_firing *f = &t->firings[i];
        if (f->state == CLOCK_WAITING && f->level > 0) t->waited++;
        if (f->state != CLOCK_RUNNING) continue;
        if (f->starting > 0)
            f->starting--;
        else if (f->work < work_until_next(t, i))
            f->work++;
        else
            f->issuing--;
    }
    t->end++;
}

static bool all_ended(const struct clock_trees *t)
{
    for (int i = 0; i < t->count; i++)
        if (t->firings[i].state != CLOCK_ENDED) return false;
    return true;
}

/* Had the roots launched nothing: each, in order, to the unit that is free first. */
static void play_roots(struct clock_trees *t)
{
    uint64_t free_at[CLOCK_FIRINGS] = {0};
    for (int i = 0; i < t->count; i++) {
        if (t->firings[i].level > 0) continue;
        int best = 0;
        for (int u = 1; u < t->cus; u++)
            if (free_at[u] < free_at[best]) best = u;
        free_at[best] += t->firings[i].cost;
        if (free_at[best] > t->roots_alone) t->roots_alone = free_at[best];
    }
}

void clock_trees_play(struct clock_trees *t)
{
    t->end = t->entries_most = t->waited = t->roots_alone = 0;
    play_roots(t);
    for (;;) {
        bool more = true;
        while (more) {
            more = do_marks(t);
            more |= begin_some(t);
        }
        if (all_ended(t)) return;
        pass_cycle(t);
    }
}
