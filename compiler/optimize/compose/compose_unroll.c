/* SPDX-License-Identifier: MIT */
/*
 * Unrolls loops of a member that name its ports, such as `for (i32 i = 0; i < N; i++) s += x[i][0];`, so that packets
 * can be variables.
 *
 * A loop is unrolled if its rounds are known, its variable occurs in the number of a port's element, and the
 * result stays small.  The variable becomes a constant, and so do expressions of it and other constants.
 */
#include "compiler/optimize/compose/compose_internal.h"

#include "compiler/bodies/cost_regions.h"
#include "compiler/ir/arith.h"

enum { ROUNDS_MAX = 64, SIZE_MAX_ROUNDS = 4096 }; /* expressions of all rounds */

struct unroller {
    struct composer *c;
    const struct kx **values; /* by index of a local: its constant, or NULL */
};

static struct ks *expand_list(struct unroller *u, const struct ks *first);

/* ---- constants ---- */

static struct kx *expand_child(const struct kx *x, void *data);

static struct kx *expand_expression(struct unroller *u, const struct kx *x)
{
    if (x == NULL) return NULL;
    bool known = x->kind == KX_VARIABLE && x->variable->kind == VARIABLE_LOCAL &&
                 u->values[x->variable->index] != NULL;
    struct kx *clone =
        kx_copy(u->c->cx->arena, known ? u->values[x->variable->index] : x, expand_child, u);
    clone->span = x->span;
    struct kx *chosen = kx_chosen(clone);
    if (chosen != NULL) return chosen;
    struct scalar_value value;
    if (!type_is_scalar(x->type) || !kx_fold(clone, &value)) return clone;
    *clone = (struct kx){
        .kind = KX_CONSTANT, .type = x->type, .span = x->span, .value = value, .cast = x->cast};
    return clone;
}

static struct kx *expand_child(const struct kx *x, void *data)
{
    return expand_expression(data, x);
}

/* ---- which loops ---- */

static bool is_counter(const struct kx *x, void *data)
{
    return x->kind == KX_VARIABLE && x->variable == (const struct variable *)data;
}

static bool names_input(const struct kx *x, void *data)
{
    return x->kind == KX_PEEK && kx_any(x->left, is_counter, data);
}

static bool names_output(const struct ks *s, void *data)
{
    return (s->kind == KS_EMIT || s->kind == KS_STORE) && kx_any(s->element, is_counter, data);
}

static bool is_unrolled(const struct ks *loop, uint64_t *rounds)
{
    if (loop->kind != KS_LOOP || !cost_known_rounds(loop, rounds) || *rounds > ROUNDS_MAX)
        return false;
    const struct ks *declaration = compose_counter_of(loop);
    if (declaration == NULL || loop->step->left->variable != declaration->variable ||
        compose_continues(loop->body))
        return false;
    return ks_any(loop->body, names_output, names_input, declaration->variable) &&
           *rounds * compose_size_of(loop->body) <= SIZE_MAX_ROUNDS;
}

/* ---- statements ---- */

static void unroll_loop(struct unroller *u, const struct ks *loop, uint64_t rounds, struct ks ***at)
{
    const struct variable *counter = compose_counter_of(loop)->variable;
    struct kx *value = arena_copy(u->c->cx->arena, compose_counter_of(loop)->expr, sizeof *value);
    for (uint64_t i = 0; i < rounds; i++) {
        struct ks *round = compose_put(u->c, at, KS_BLOCK, loop->span);
        u->values[counter->index] = value;
        round->body = expand_list(u, loop->body);
        enum kx_op op = loop->step->op;
        value = arena_copy(u->c->cx->arena, value, sizeof *value);
        arith_binary(op, value->value, loop->step->right->value, &value->value);
    }
    u->values[counter->index] = NULL;
}

static void expand_statement(struct unroller *u, const struct ks *s, struct ks ***at)
{
    uint64_t rounds;
    if (is_unrolled(s, &rounds)) {
        unroll_loop(u, s, rounds, at);
        return;
    }
    struct kx *condition = expand_expression(u, s->expr);
    if (s->kind == KS_IF && condition->kind == KX_CONSTANT) {
        struct ks *taken = compose_put(u->c, at, KS_BLOCK, s->span);
        taken->body = expand_list(u, arith_truth(condition->value) ? s->body : s->otherwise);
        return;
    }
    struct ks *clone = compose_put(u->c, at, s->kind, s->span), *next = clone->next;
    *clone = *s;
    clone->next = next;
    clone->init = expand_list(u, s->init);
    clone->expr = condition;
    clone->step = expand_expression(u, s->step);
    clone->element = expand_expression(u, s->element);
    clone->index = expand_expression(u, s->index);
    clone->body = expand_list(u, s->body);
    clone->otherwise = expand_list(u, s->otherwise);
}

static struct ks *expand_list(struct unroller *u, const struct ks *first)
{
    struct ks *list = NULL, **at = &list;
    for (const struct ks *s = first; s != NULL; s = s->next)
        expand_statement(u, s, &at);
    return list;
}

static bool is_candidate(const struct ks *s, void *data)
{
    (void)data;
    uint64_t rounds;
    return is_unrolled(s, &rounds);
}

const struct ks *compose_unroll(struct composer *c, const struct member *m)
{
    struct unroller u = {.c = c};
    if (!ks_any(m->kernel->body, is_candidate, NULL, NULL)) return m->kernel->body;
    u.values = ARENA_ARRAY(c->cx->arena, const struct kx *, m->kernel->local_count + 1u);
    return expand_list(&u, m->kernel->body);
}
