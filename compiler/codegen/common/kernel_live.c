/* SPDX-License-Identifier: MIT */
/*
 * How much of a body's locals is alive at one time, in order of the text: from where a variable is
 * first named to where it is last named, and to the end of the loops in which it is named but not
 * declared.
 */
#include "compiler/codegen/common/kernel_live.h"

struct life {
    uint64_t first, last; /* places in the text, from 1; 0: never named */
};

struct text {
    const bool *counted; /* by variable->index */
    struct life *lives;  /* likewise */
    const struct variable **variables;
    uint32_t local_count;
    uint64_t at;
};

static void append_name(struct text *t, const struct variable *v)
{
    if (v->kind != VARIABLE_LOCAL || !t->counted[v->index]) return;
    struct life *life = &t->lives[v->index];
    t->variables[v->index] = v;
    life->last = ++t->at;
    if (life->first == 0) life->first = t->at;
}

static bool name_in(const struct kx *x, void *data)
{
    if (x->kind == KX_VARIABLE) append_name(data, x->variable);
    return false;
}

static void read_list(struct text *t, const struct ks *first);

/* A value from before the loop is also needed in the next round. */
static void read_loop(struct text *t, const struct ks *s)
{
    read_list(t, s->init);
    uint64_t start = t->at;
    kx_any(s->expr, name_in, t);
    read_list(t, s->body);
    kx_any(s->step, name_in, t);
    t->at++;
    for (uint32_t i = 0; i < t->local_count; i++) {
        struct life *life = &t->lives[i];
        if (life->first > 0 && life->first <= start && life->last > start) life->last = t->at;
    }
}

static void read_statement(struct text *t, const struct ks *s)
{
    if (s->kind == KS_LOOP) {
        read_loop(t, s);
        return;
    }
    kx_any(s->element, name_in, t);
    kx_any(s->index, name_in, t);
    kx_any(s->expr, name_in, t);
    if (s->kind == KS_DECLARE && !s->unset) append_name(t, s->variable);
    read_list(t, s->body);
    read_list(t, s->otherwise);
}

static void read_list(struct text *t, const struct ks *first)
{
    for (const struct ks *s = first; s != NULL; s = s->next)
        read_statement(t, s);
}

uint64_t kernel_live_bytes(struct arena *scratch, const struct ks *first, const bool *counted,
                           uint32_t local_count)
{
    struct text t = {.counted = counted, .local_count = local_count};
    t.lives = ARENA_ARRAY(scratch, struct life, local_count + 1u);
    t.variables = ARENA_ARRAY(scratch, const struct variable *, local_count + 1u);
    read_list(&t, first);
    uint64_t *born = ARENA_ARRAY(scratch, uint64_t, t.at + 2);
    uint64_t *gone = ARENA_ARRAY(scratch, uint64_t, t.at + 2);
    for (uint32_t i = 0; i < local_count; i++) {
        if (t.lives[i].first == 0) continue;
        uint64_t bytes = t.variables[i]->type->width_bytes;
        born[t.lives[i].first] += bytes;
        gone[t.lives[i].last + 1] += bytes;
    }
    uint64_t alive = 0, most = 0;
    for (uint64_t at = 0; at <= t.at; at++) {
        alive = alive + born[at] - gone[at];
        if (alive > most) most = alive;
    }
    return most;
}
