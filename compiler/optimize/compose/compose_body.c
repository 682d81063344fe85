/* SPDX-License-Identifier: MIT */
/*
 * Clones the members' statements: variables become the composite's, and compose_port.c replaces accesses to
 * packets.  Proofs about accesses are kept, because a clone computes the same values.
 */
#include "compiler/optimize/compose/compose_internal.h"

static void clone_list(struct firing *f, const struct ks *first, struct ks ***at);

/* ---- variables ---- */

static struct variable *local_of(struct firing *f, const struct variable *v)
{
    struct variable **local = &f->locals[v->index];
    if (*local == NULL) {
        *local = compose_local(f->c, v->name, v->type, v->span);
        (*local)->is_const = v->is_const;
    }
    return *local;
}

static size_t place_in_list(struct variable *const *list, size_t count, const struct variable *v)
{
    size_t i = 0;
    while (i < count && list[i] != v)
        i++;
    return i;
}

static struct kx *firing_argument(struct firing *f, const struct kx *x)
{
    const struct kernel *k = f->m->kernel;
    size_t i = place_in_list(k->arguments, k->argument_count, x->variable);
    if (f->m->arguments[i] != NULL) return compose_variable(f->c, f->m->arguments[i], x->span);
    struct kx *constant = arena_copy(f->c->cx->arena, f->m->of->arguments[i], sizeof *constant);
    constant->span = x->span;
    return constant;
}

static struct kx *firing_variable(struct firing *f, const struct kx *x)
{
    const struct kernel *k = f->m->kernel;
    const struct variable *v = x->variable;
    switch (v->kind) {
    case VARIABLE_LOCAL: return compose_variable(f->c, local_of(f, v), x->span);
    case VARIABLE_ARGUMENT: return firing_argument(f, x);
    case VARIABLE_TABLE:
        v = f->m->tables[place_in_list(k->tables.items, k->tables.count, v)];
        return compose_variable(f->c, v, x->span);
    case VARIABLE_STATE:
        if (compose_counter(f->m, v) != NULL) return compose_count_value(f, x);
        v = f->m->states[place_in_list(k->states.items, k->states.count, v)];
        return compose_variable(f->c, v, x->span);
    case VARIABLE_CONSTANT:
    case VARIABLE_SHARED: break;
    }
    return compose_variable(f->c, v, x->span);
}

/* ---- expressions ---- */

static struct kx *clone_child(const struct kx *x, void *data)
{
    return compose_clone(data, x);
}

struct kx *compose_clone(struct firing *f, const struct kx *x)
{
    if (x == NULL) return NULL;
    if (x->kind == KX_VARIABLE) return firing_variable(f, x);
    if (x->kind == KX_PEEK) return compose_read(f, x);
    if (x->kind == KX_WINDOW) return compose_read_window(f, x);
    if (x->kind == KX_LEFT) return compose_left_of(f, x);
    struct kx *clone = kx_copy(f->c->cx->arena, x, clone_child, f);
    clone->regions[0] = clone->regions[1] = 0;
    return clone;
}

/* ---- statements ---- */

static struct ks *clone_parts(struct firing *f, const struct ks *s, struct ks ***at)
{
    struct ks *clone = compose_put(f->c, at, s->kind, s->span), *next = clone->next;
    *clone = *s;
    clone->next = next;
    clone->region = clone->round_region = clone->step_region = 0;
    clone->init = clone->body = clone->otherwise = NULL;
    if (s->kind == KS_DECLARE) clone->variable = local_of(f, s->variable);
    return clone;
}

/* Both sides begin with the same places of packets.  They also end with the same ones, except where `counted`. */
static void clone_if(struct firing *f, const struct ks *s, struct ks ***at)
{
    struct ks *clone = clone_parts(f, s, at), **to = &clone->body;
    clone->expr = compose_clone(f, s->expr);
    uint64_t *places = ARENA_ARRAY(f->c->cx->arena, uint64_t, f->m->output_count + 1u);
    for (uint32_t i = 0; i < f->m->output_count; i++)
        places[i] = f->m->outputs[i].place;
    f->depth++;
    clone_list(f, s->body, &to);
    for (uint32_t i = 0; s->otherwise != NULL && i < f->m->output_count; i++)
        f->m->outputs[i].place = places[i];
    to = &clone->otherwise;
    clone_list(f, s->otherwise, &to);
    f->depth--;
}

static void clone_loop(struct firing *f, const struct ks *s, struct ks ***at)
{
    struct ks *clone = clone_parts(f, s, at), **to = &clone->init;
    clone_list(f, s->init, &to);
    f->depth++;
    clone->expr = compose_clone(f, s->expr);
    to = &clone->body;
    clone_list(f, s->body, &to);
    clone->step = compose_clone(f, s->step);
    f->depth--;
}

static void clone_switch(struct firing *f, const struct ks *s, struct ks ***at)
{
    struct ks *clone = clone_parts(f, s, at), **to = &clone->body;
    clone->expr = compose_clone(f, s->expr);
    f->depth++;
    clone_list(f, s->body, &to);
    f->depth--;
}

static void clone_statement(struct firing *f, const struct ks *s, struct ks ***at)
{
    struct ks *clone, **to;
    if (compose_moves_counter(f, s)) return;
    switch (s->kind) {
    case KS_EMIT: compose_append(f, s, at); break;
    case KS_STORE: compose_set(f, s, at); break;
    case KS_IF: clone_if(f, s, at); break;
    case KS_LOOP: clone_loop(f, s, at); break;
    case KS_SWITCH: clone_switch(f, s, at); break;
    case KS_RETURN: break; /* the last statement */
    case KS_BLOCK:
        clone = clone_parts(f, s, at);
        to = &clone->body;
        clone_list(f, s->body, &to);
        break;
    case KS_EXPR:
    case KS_DECLARE:
    case KS_CASE:
    case KS_BREAK:
    case KS_CONTINUE:
    case KS_STOP:
    case KS_BARRIER:
    case KS_FOREIGN:
    case KS_LAUNCH:
        clone = clone_parts(f, s, at);
        clone->expr = compose_clone(f, s->expr);
        break;
    }
}

static void clone_list(struct firing *f, const struct ks *first, struct ks ***at)
{
    for (const struct ks *s = first; s != NULL; s = s->next)
        clone_statement(f, s, at);
}

/* ---- firings ---- */

static void begin_section(struct firing *f)
{
    f->counted = ARENA_ARRAY(f->c->cx->arena, bool, f->m->kernel->states.count + 1);
    f->locals = ARENA_ARRAY(f->c->cx->arena, struct variable *, f->m->kernel->local_count + 1u);
}

static void clone_section(struct firing *f, const struct ks *first, struct ks ***at)
{
    begin_section(f);
    clone_list(f, first, at);
}

void compose_firing_begin(struct firing *f, struct ks ***at)
{
    compose_ports_begin(f, at);
    begin_section(f);
}

void compose_statement(struct firing *f, const struct ks *s, struct ks ***at)
{
    clone_statement(f, s, at);
}

void compose_copy(struct firing *f, const struct ks *first, struct ks ***at)
{
    struct variable **locals = f->locals;
    size_t bytes = f->m->kernel->local_count * sizeof *locals;
    f->locals = arena_copy(f->c->cx->arena, locals, bytes);
    clone_list(f, first, at);
    f->locals = locals;
}

void compose_firing(struct firing *f, struct ks ***at)
{
    compose_ports_begin(f, at);
    clone_section(f, f->m->body, at);
    compose_ports_end(f, at);
}

void compose_firings(struct composer *c, struct member *m, uint64_t number, uint64_t count,
                     bool outside, struct ks ***at)
{
    struct firing f = {.c = c, .m = m, .number = number, .outside = outside};
    if (m->unrolled) {
        for (uint64_t i = 0; i < count; i++, f.number++)
            compose_firing(&f, at);
        return;
    }
    struct ks **body;
    f.round = compose_loop(c, at, count, m->kernel->span, &body);
    f.depth = 1;
    compose_firing(&f, &body);
}

void compose_finish(struct firing *f, struct ks ***at)
{
    clone_section(f, f->m->kernel->finish, at);
}

void compose_init(struct composer *c, struct member *m, struct ks ***at)
{
    struct firing f = {.c = c, .m = m};
    clone_section(&f, m->kernel->init, at);
}
