/* SPDX-License-Identifier: MIT */
/*
 * Values of `state` and tables before any firing.
 *
 * The intervals are an inductive invariant: they hold what `init` leaves (everything is zero before
 * it), and a firing, in any phase, that begins inside them ends inside them, whether it comes to
 * its end or stops.  They are found by walking `init`, then firings, widening what grows, until
 * nothing does; then a firing from what was found, joined with what `init` leaves, narrows them
 * once: if all states that are reached lie in K, they lie in init or F(K) too, where F is sound.
 */
#include "compiler/bodies/ranges_internal.h"

enum { FIRINGS_MAX = 9, TO_THRESHOLDS = 5 };

static bool is_tracked(const struct variable *v)
{
    const struct type *base = type_base(v->type);
    return type_is_integer(base) || type_is_bool(base);
}

/* After `init` (from zero), or after a firing that begins in `kept`.  False: it never ends. */
static bool walk_section(struct compile *cx, struct kernel *k, const struct interval *kept,
                         struct interval *ending, size_t count)
{
    struct arena *scratch = arena_create();
    struct walk_request request = {.cx = cx,
                                   .kernel = k,
                                   .body = kept == NULL ? k->init : k->body,
                                   .local_count = k->local_count,
                                   .section = kept == NULL ? WALK_INIT : WALK_FIRING,
                                   .kept = kept,
                                   .ending = ending};
    for (size_t i = 0; i < count; i++)
        ending[i] = (struct interval){1, 0};
    walk_body(&request, scratch);
    arena_destroy(scratch);
    return ending[0].low <= ending[0].high;
}

static const struct type *kept_type(const struct kernel *k, size_t i)
{
    return i < k->states.count ? k->states.items[i]->type
                               : k->tables.items[i - k->states.count]->type;
}

/* Grows `kept` until a firing that begins in it ends in it.  False: it did not come to rest. */
static bool stabilise_state(struct compile *cx, struct kernel *k, struct interval *kept,
                            struct interval *next, size_t count)
{
    struct arena *scratch = arena_create();
    struct walker widening = {.scratch = scratch};
    bool stable = false;
    walk_find_thresholds(&widening, k->body);
    for (int firing = 0; !stable && firing < FIRINGS_MAX; firing++) {
        stable = true;
        if (!walk_section(cx, k, kept, next, count)) break;
        for (size_t i = 0; i < count; i++) {
            struct interval all = interval_of_type(kept_type(k, i));
            if (interval_contains(kept[i], next[i])) continue;
            kept[i] = interval_meet(
                walk_widened(&widening, kept[i], next[i], firing >= TO_THRESHOLDS), all);
            stable = false;
        }
    }
    arena_destroy(scratch);
    return stable;
}

/* False: nothing is known. */
static bool find_kept_ranges(struct compile *cx, struct kernel *k, struct interval *kept,
                             size_t count)
{
    struct interval *begun = ARENA_ARRAY(cx->arena, struct interval, count);
    struct interval *next = ARENA_ARRAY(cx->arena, struct interval, count);
    if (k->init != NULL && !walk_section(cx, k, NULL, begun, count)) return false;
    for (size_t i = 0; i < count; i++)
        kept[i] = begun[i];
    if (!stabilise_state(cx, k, kept, next, count)) return false;
    if (!walk_section(cx, k, kept, next, count)) return true;
    for (size_t i = 0; i < count; i++)
        kept[i] = interval_meet(kept[i], interval_join(begun[i], next[i]));
    return true;
}

const struct interval *walk_kept_ranges(struct compile *cx, struct kernel *kernel)
{
    size_t count = kernel->states.count + kernel->tables.count;
    if (kernel->kept_ranges != NULL || count == 0) return kernel->kept_ranges;
    struct interval *kept = ARENA_ARRAY(cx->arena, struct interval, count);
    bool any = false; /* whether any variable is kept */
    for (size_t i = 0; i < kernel->states.count; i++) {
        kernel->states.items[i]->index = (uint32_t)i;
        any |= is_tracked(kernel->states.items[i]);
    }
    for (size_t i = 0; i < kernel->tables.count; i++) {
        kernel->tables.items[i]->index = (uint32_t)i;
        any |= is_tracked(kernel->tables.items[i]);
    }
    if (!any || kernel->grouped || !find_kept_ranges(cx, kernel, kept, count)) {
        for (size_t i = 0; i < count; i++)
            kept[i] = interval_of_type(kept_type(kernel, i));
    }
    kernel->kept_ranges = kept;
    return kept;
}
