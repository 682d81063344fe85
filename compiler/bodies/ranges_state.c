/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/ranges_internal.h"
#include "base/arithmetic.h"

#include <string.h>

/* ---- states ---- */

/* States are recycled: constant loops make many. */
static struct walk_state *walk_new_state(struct walker *w)
{
    struct walk_state *s = w->free_states;
    if (s != NULL) {
        w->free_states = s->next_free;
        return s;
    }
    s = ARENA_NEW(w->scratch, struct walk_state);
    s->locals = ARENA_ARRAY(w->scratch, struct interval, w->local_count + 1);
    s->own_counts = ARENA_ARRAY(w->scratch, struct walk_count, w->end_count + 1);
    s->counts = s->own_counts;
    s->ties = ARENA_ARRAY(w->scratch, struct interval, w->tie_count + 1);
    if (w->sums) {
        s->sums = ARENA_ARRAY(w->scratch, struct walk_sum, w->end_count + 1);
        s->numbers = ARENA_ARRAY(w->scratch, uint32_t, w->local_count + 1);
    }
    if (w->relate) s->relation = relation_create(w->scratch, w->end_count);
    s->facts = ARENA_ARRAY(w->scratch, struct walk_fact, FACTS_MAX);
    return s;
}

void walk_drop_state(struct walker *w, struct walk_state *s)
{
    s->next_free = w->free_states;
    s->counts = s->own_counts;
    w->free_states = s;
}

struct walk_state *walk_unreachable_state(struct walker *w)
{
    struct walk_state *s = walk_new_state(w);
    s->reachable = false;
    s->certain = false;
    s->cost = 0;
    s->fact_count = 0;
    return s;
}

void walk_assign_state(const struct walker *w, struct walk_state *to, const struct walk_state *from)
{
    memcpy(to->locals, from->locals, w->local_count * sizeof *to->locals);
    if (to->counts != from->counts)
        memcpy(to->counts, from->counts, w->end_count * sizeof *to->counts);
    memcpy(to->ties, from->ties, w->tie_count * sizeof *to->ties);
    if (w->sums) {
        memcpy(to->sums, from->sums, w->end_count * sizeof *to->sums);
        memcpy(to->numbers, from->numbers, w->local_count * sizeof *to->numbers);
    }
    if (w->relate) relation_copy(&to->relation, &from->relation);
    to->fact_count = from->fact_count;
    for (uint32_t i = 0; i < from->fact_count; i++)
        to->facts[i] = from->facts[i];
    to->reachable = from->reachable;
    to->certain = from->certain;
    to->cost = from->cost;
}

/* Values that are copied, and later joined, in the time of a step. */
enum { COPIED_IN_A_STEP = 256 };

struct walk_state *walk_copy_state(struct walker *w, const struct walk_state *from)
{
    struct walk_state *to = walk_new_state(w);
    w->cx->walk_steps += (w->local_count + w->end_count) / COPIED_IN_A_STEP;
    walk_assign_state(w, to, from);
    return to;
}

/* Nearly all locals and counts are the same on both ways, so they are compared a block at a time. */
enum { JOIN_BLOCK = 64 };

static void join_counts(const struct walker *w, struct walk_count *to,
                        const struct walk_count *from)
{
    for (uint32_t i = 0; i < w->end_count && to != from; i += JOIN_BLOCK) {
        uint32_t end = w->end_count - i < JOIN_BLOCK ? w->end_count : i + JOIN_BLOCK;
        if (memcmp(&to[i], &from[i], (end - i) * sizeof *to) == 0) continue;
        for (uint32_t k = i; k < end; k++) {
            if (from[k].least < to[k].least) {
                to[k].least = from[k].least;
                to[k].least_path = from[k].least_path;
            }
            if (from[k].most > to[k].most) {
                to[k].most = from[k].most;
                to[k].most_path = from[k].most_path;
            }
        }
    }
}

static void join_locals(const struct walker *w, struct interval *to, const struct interval *from)
{
    for (uint32_t i = 0; i < w->local_count; i += JOIN_BLOCK) {
        uint32_t end = w->local_count - i < JOIN_BLOCK ? w->local_count : i + JOIN_BLOCK;
        if (memcmp(&to[i], &from[i], (end - i) * sizeof *to) == 0) continue;
        for (uint32_t k = i; k < end; k++)
            to[k] = interval_join(to[k], from[k]);
    }
}

void walk_join_state(const struct walker *w, struct walk_state *to, const struct walk_state *from)
{
    if (!from->reachable) return;
    if (!to->reachable) {
        walk_assign_state(w, to, from);
        return;
    }
    join_locals(w, to->locals, from->locals);
    join_counts(w, to->counts, from->counts);
    for (uint32_t i = 0; i < w->tie_count; i++)
        to->ties[i] = interval_join(to->ties[i], from->ties[i]);
    walk_fact_join(to, from);
    walk_sum_join(w, to, from);
    if (w->relate) relation_join(&to->relation, &from->relation);
    to->certain = to->certain && from->certain;
    if (from->cost > to->cost) to->cost = from->cost;
}

struct walk_state *walk_branch(struct walker *w, const struct walk_state *s)
{
    struct walk_state *branch = walk_new_state(w);
    w->cx->walk_steps += w->local_count / COPIED_IN_A_STEP;
    branch->counts = s->counts;
    walk_assign_state(w, branch, s);
    return branch;
}

void walk_rejoin(struct walker *w, struct walk_state *s, struct walk_state *branch)
{
    walk_join_state(w, s, branch);
    walk_drop_state(w, branch);
}

void walk_charge(struct walk_state *s, uint64_t cycles)
{
    s->cost = saturating_add(s->cost, cycles);
}

/* ---- paths ---- */

const struct walk_step *walk_step_after(struct walker *w, const struct walk_step *before,
                                        struct walk_step step)
{
    struct walk_step *next = ARENA_NEW(w->scratch, struct walk_step);
    *next = step;
    next->before = before;
    return next;
}

void walk_step(struct walker *w, struct walk_state *s, struct walk_step step)
{
    if (w->trace == NULL || !s->reachable) return;
    struct walk_count *count = &s->counts[w->trace->end];
    bool same = count->most_path == count->least_path;
    count->most_path = walk_step_after(w, count->most_path, step);
    count->least_path = same ? count->most_path : walk_step_after(w, count->least_path, step);
}

void walk_guide_begin(struct walker *w)
{
    w->guide.count = w->guide_at = w->truths.count = 0;
    if (w->trace == NULL) return;
    for (const struct walk_step *step = w->trace->guide; step != NULL; step = step->before)
        if (step->kind == STEP_BRANCH || step->kind == STEP_CASE || step->kind == STEP_LOOP)
            vec_push(w->scratch, &w->guide, step);
    for (size_t i = 0, j = w->guide.count; i + 1 < j; i++) {
        const struct walk_step *first = w->guide.items[i];
        w->guide.items[i] = w->guide.items[--j];
        w->guide.items[j] = first;
    }
}

const struct walk_step *walk_guided(struct walker *w, enum walk_step_kind kind,
                                    const struct ks *stmt)
{
    if (w->fixed_points > 0 || w->guide_at == w->guide.count) return NULL;
    const struct walk_step *next = w->guide.items[w->guide_at];
    if (next->kind != kind || next->stmt != stmt) return NULL;
    w->guide_at++;
    return next;
}

/* ---- variables ---- */

uint32_t walk_slot(const struct walker *w, const struct variable *v)
{
    bool kept = v->kind == VARIABLE_STATE || v->kind == VARIABLE_TABLE;
    if (!kept && v->kind != VARIABLE_LOCAL) return WALK_NO_SLOT;
    const struct type *base = type_base(v->type);
    if (!type_is_integer(base) && !type_is_bool(base)) return WALK_NO_SLOT;
    if (!kept) return v->index;
    if (w->kept_local == WALK_NO_SLOT || w->kernel == NULL) return WALK_NO_SLOT;
    uint32_t first = v->kind == VARIABLE_TABLE ? (uint32_t)w->kernel->states.count : 0;
    return w->kept_local + first + v->index;
}

void walk_set(struct walker *w, struct walk_state *s, const struct variable *v, bool whole,
              struct interval value)
{
    if (s->fact_count > 0) walk_fact_kill(s, v);
    walk_sum_assigned(w, s, v, 0);
    uint32_t slot = walk_slot(w, v);
    if (slot == WALK_NO_SLOT) return;
    if (!whole) value = interval_join(s->locals[slot], value);
    if (w->tie_count > 0) walk_tie_set(w, s, slot, value);
    s->locals[slot] = value;
}

struct collection {
    const struct walker *walker;
    bool *assigned;
};

static void collect_variable(const struct collection *c, const struct variable *v)
{
    uint32_t slot = v != NULL ? walk_slot(c->walker, v) : WALK_NO_SLOT;
    if (slot != WALK_NO_SLOT) c->assigned[slot] = true;
}

static bool collect_assigned_slot(const struct kx *x, void *data)
{
    if (x->kind == KX_ASSIGN) collect_variable(data, kx_root_variable(x->left));
    return false;
}

static bool collect_declared_slot(const struct ks *s, void *data)
{
    if (s->kind == KS_DECLARE) collect_variable(data, s->variable);
    return false;
}

void walk_collect_kx(const struct walker *w, const struct kx *e, bool *assigned)
{
    struct collection collection = {w, assigned};
    kx_any(e, collect_assigned_slot, &collection);
}

void walk_collect_ks(const struct walker *w, const struct ks *stmt, bool *assigned)
{
    struct collection collection = {w, assigned};
    ks_any(stmt, collect_declared_slot, collect_assigned_slot, &collection);
}
