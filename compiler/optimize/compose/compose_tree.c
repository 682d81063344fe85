/* SPDX-License-Identifier: MIT */
/* Builds small typed trees with ir/expr_build: `r * 4 + i`, a declaration, a loop.  Their accesses need no checks. */
#include "base/arithmetic.h"
#include "compiler/optimize/compose/compose_internal.h"
#include "compiler/ir/expr_build.h"

#include <stdarg.h>

static struct expr_build tree_at(const struct composer *c, struct span span)
{
    return (struct expr_build){.arena = c->cx->arena,
                               .types = c->graph->types,
                               .kernel = c->kernel,
                               .span = span,
                               .check = ACCESS_PROVEN};
}

static struct kx *new_expression(struct composer *c, enum kx_kind kind, const struct type *type,
                                 struct span span)
{
    const struct expr_build tree = tree_at(c, span);
    return build_kx(&tree, kind, type);
}

/* ---- values ---- */

struct kx *compose_integer(struct composer *c, uint64_t value)
{
    const struct expr_build tree = tree_at(c, c->kernel->span);
    return build_i64(&tree, value);
}

struct kx *compose_scalar(struct composer *c, struct scalar_value value, struct span span)
{
    const struct expr_build tree = tree_at(c, span);
    return build_constant(&tree, value);
}

struct kx *compose_firing_number(struct composer *c, const struct type *type, struct span span)
{
    return new_expression(c, KX_FIRING, type, span);
}

struct kx *compose_convert(struct composer *c, const struct type *type, struct kx *x)
{
    if (x->type == type) return x;
    struct kx *converted = new_expression(c, KX_CONVERT, type, x->span);
    converted->left = x;
    return converted;
}

struct kx *compose_compare(struct composer *c, enum kx_op op, struct kx *left, struct kx *right)
{
    const struct expr_build tree = tree_at(c, left->span);
    return build_compare(&tree, op, left, right);
}

struct kx *compose_select(struct composer *c, struct kx *test, struct kx *yes, struct kx *no)
{
    struct kx *x = new_expression(c, KX_SELECT, yes->type, test->span);
    x->left = test;
    x->right = yes;
    x->third = no;
    return x;
}

struct kx *compose_left(struct composer *c, struct span span)
{
    return new_expression(c, KX_LEFT, c->index_type, span);
}

struct kx *compose_variable(struct composer *c, const struct variable *v, struct span span)
{
    const struct expr_build tree = tree_at(c, span);
    return build_variable(&tree, v);
}

struct kx *compose_item(struct composer *c, struct kx *array, struct kx *index)
{
    const struct expr_build tree = tree_at(c, array->span);
    return build_index(&tree, array, index);
}

struct kx *compose_binary(struct composer *c, enum kx_op op, struct kx *left, struct kx *right)
{
    const struct expr_build tree = tree_at(c, left->span);
    return build_binary(&tree, op, left->type, left, right);
}

struct kx *compose_as_index(struct composer *c, struct kx *x)
{
    bool is_constant = x->type != c->index_type && x->kind == KX_CONSTANT;
    return is_constant ? compose_integer(c, x->value.bits) : compose_convert(c, c->index_type, x);
}

struct kx *compose_offset(struct composer *c, struct kx *index, uint64_t offset)
{
    if (offset == 0) return index;
    if (index->kind == KX_CONSTANT) return compose_integer(c, index->value.bits + offset);
    return compose_binary(c, OP_ADD, compose_as_index(c, index), compose_integer(c, offset));
}

struct kx *compose_aggregate(struct composer *c, const struct type *type, struct kx **items,
                             uint64_t count, struct span span)
{
    struct kx *x = new_expression(c, KX_AGGREGATE, type, span);
    x->arguments = items;
    x->argument_count = (uint32_t)count;
    return x;
}

/* ---- variables ---- */

struct variable *compose_local(struct composer *c, const char *name, const struct type *type,
                               struct span span)
{
    const struct expr_build tree = tree_at(c, span);
    return build_local(&tree, name, type, false);
}

struct variable *compose_state(struct composer *c, const char *name, const struct type *type,
                               struct span span)
{
    struct kernel *k = c->kernel;
    uint64_t align = type->alignment_bytes;
    struct variable *v = ARENA_NEW(c->cx->arena, struct variable);
    *v = (struct variable){.kind = VARIABLE_STATE,
                           .name = name,
                           .span = span,
                           .type = type,
                           .index = (uint32_t)k->states.count,
                           .offset_bytes = align_up(k->state_bytes, align)};
    k->state_bytes = v->offset_bytes + type->width_bytes;
    vec_push(c->cx->arena, &k->states, v);
    return v;
}

/* ---- statements ---- */

struct ks *compose_put(struct composer *c, struct ks ***at, enum ks_kind kind, struct span span)
{
    struct ks *s = ARENA_NEW(c->cx->arena, struct ks);
    s->kind = kind;
    s->span = span;
    s->next = **at;
    **at = s;
    *at = &s->next;
    return s;
}

void compose_declare(struct composer *c, struct ks ***at, struct variable *v, struct kx *value)
{
    struct ks *s = compose_put(c, at, KS_DECLARE, v->span);
    s->variable = v;
    s->expr = value;
}

void compose_assign(struct composer *c, struct ks ***at, struct kx *to, struct kx *value)
{
    const struct expr_build tree = tree_at(c, value->span);
    compose_put(c, at, KS_EXPR, value->span)->expr = build_assign(&tree, to, value);
}

void compose_declare_first(struct composer *c, struct variable *v, bool unset)
{
    struct ks *s = compose_put(c, &c->prologue, KS_DECLARE, v->span);
    s->variable = v;
    s->unset = unset;
}

static struct kx *step_by_one(struct composer *c, const struct variable *v)
{
    const struct expr_build tree = tree_at(c, v->span);
    struct kx *x = build_assign(&tree, build_variable(&tree, v), compose_integer(c, 1));
    x->op = OP_ADD;
    x->operation = v->type;
    return x;
}

void compose_count(struct composer *c, struct ks ***at, const struct variable *v)
{
    compose_put(c, at, KS_EXPR, v->span)->expr = step_by_one(c, v);
}

struct variable *compose_loop_to(struct composer *c, struct ks ***at, struct kx *rounds,
                                 struct span span, struct ks ***body)
{
    struct variable *r = compose_local(c, "firing", c->index_type, span);
    struct ks *loop = compose_put(c, at, KS_LOOP, span);
    struct ks **init = &loop->init;
    compose_declare(c, &init, r, compose_integer(c, 0));
    loop->expr = compose_compare(c, OP_LT, compose_variable(c, r, span), rounds);
    loop->step = step_by_one(c, r);
    *body = &loop->body;
    return r;
}

struct variable *compose_loop(struct composer *c, struct ks ***at, uint64_t rounds,
                              struct span span, struct ks ***body)
{
    return compose_loop_to(c, at, compose_integer(c, rounds), span, body);
}

/* ---- reasons ---- */

bool compose_fail(struct composer *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    c->reason = arena_vprintf(c->cx->arena, format, args);
    va_end(args);
    return false;
}
