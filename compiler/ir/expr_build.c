/* SPDX-License-Identifier: MIT */
#include "compiler/ir/expr_build.h"

#include "compiler/ir/arith.h"

/* ---- expressions ---- */

struct kx *build_kx(const struct expr_build *t, enum kx_kind kind, const struct type *type)
{
    struct kx *x = ARENA_NEW(t->arena, struct kx);
    x->kind = kind;
    x->type = type;
    x->span = t->span;
    x->check = x->column_check = x->element_check = t->check;
    return x;
}

struct kx *build_constant(const struct expr_build *t, struct scalar_value value)
{
    struct kx *x = build_kx(t, KX_CONSTANT, type_scalar(t->types, value.type));
    x->value = value;
    return x;
}

struct kx *build_i32(const struct expr_build *t, uint64_t value)
{
    return build_constant(t, arith_integer(SCALAR_I32, value));
}

struct kx *build_i64(const struct expr_build *t, uint64_t value)
{
    return build_constant(t, arith_integer(SCALAR_I64, value));
}

struct kx *build_variable(const struct expr_build *t, const struct variable *variable)
{
    struct kx *x = build_kx(t, KX_VARIABLE, variable->type);
    x->variable = variable;
    return x;
}

struct kx *build_binary(const struct expr_build *t, enum kx_op op, const struct type *type,
                        struct kx *left, struct kx *right)
{
    struct kx *x = build_kx(t, KX_BINARY, type);
    x->op = op;
    x->left = left;
    x->right = right;
    return x;
}

struct kx *build_compare(const struct expr_build *t, enum kx_op op, struct kx *left,
                         struct kx *right)
{
    struct kx *x = build_binary(t, op, type_scalar(t->types, SCALAR_BOOL), left, right);
    x->kind = KX_COMPARE;
    return x;
}

struct kx *build_index(const struct expr_build *t, struct kx *left, struct kx *right)
{
    struct kx *x = build_kx(t, KX_INDEX, left->type->element);
    x->left = left;
    x->right = right;
    return x;
}

struct kx *build_peek(const struct expr_build *t, uint32_t port, struct kx *packet)
{
    struct kx *x = build_kx(t, KX_PEEK, t->kernel->in[port].type);
    x->port = port;
    x->right = packet;
    return x;
}

struct kx *build_fma(const struct expr_build *t, struct kx *a, struct kx *b, struct kx *c)
{
    struct kx *x = build_kx(t, KX_BUILTIN, c->type);
    x->builtin = BUILTIN_FMA;
    x->argument_count = 3;
    x->arguments = ARENA_ARRAY(t->arena, struct kx *, 3);
    x->arguments[0] = a;
    x->arguments[1] = b;
    x->arguments[2] = c;
    return x;
}

struct kx *build_assign(const struct expr_build *t, struct kx *to, struct kx *value)
{
    struct kx *x = build_kx(t, KX_ASSIGN, to->type);
    x->left = to;
    x->right = value;
    return x;
}

struct kx *build_left(const struct expr_build *t, uint32_t port)
{
    struct kx *x = build_kx(t, KX_LEFT, type_scalar(t->types, SCALAR_I64));
    x->port = port;
    return x;
}

/* ---- variables ---- */

struct variable *build_local(const struct expr_build *t, const char *name, const struct type *type,
                             bool is_const)
{
    struct variable *variable = ARENA_NEW(t->arena, struct variable);
    *variable = (struct variable){.kind = VARIABLE_LOCAL,
                                  .name = name,
                                  .span = t->span,
                                  .type = type,
                                  .index = t->kernel->local_count++,
                                  .is_const = is_const};
    return variable;
}

struct variable *build_constant_array(const struct expr_build *t, const char *name,
                                      const struct scalar_value *values, uint64_t count)
{
    struct variable *variable = ARENA_NEW(t->arena, struct variable);
    *variable = (struct variable){
        .kind = VARIABLE_CONSTANT,
        .name = name,
        .span = t->span,
        .type = type_array(t->types, type_scalar(t->types, values[0].type), count),
        .constant = arena_copy(t->arena, values, (size_t)count * sizeof *values)};
    return variable;
}

struct kx *build_scalar_place(const struct expr_build *t, struct kx *x, uint64_t k)
{
    while (x->type->kind != TYPE_SCALAR) {
        if (type_is_indexed(x->type)) {
            uint64_t each = type_scalar_count(x->type->element);
            x = build_index(t, x, build_i64(t, k / each));
            x->check = ACCESS_PROVEN;
            k %= each;
            continue;
        }
        uint32_t field = x->type->field_count - 1;
        while (x->type->fields[field].first_scalar > k)
            field--;
        k -= x->type->fields[field].first_scalar;
        struct kx *member = build_kx(t, KX_MEMBER, x->type->fields[field].type);
        member->left = x;
        member->member = field;
        x = member;
    }
    return x;
}

/* ---- statements ---- */

struct ks *build_ks(const struct expr_build *t, enum ks_kind kind)
{
    struct ks *s = ARENA_NEW(t->arena, struct ks);
    s->kind = kind;
    s->span = t->span;
    return s;
}

void build_append(struct build_list *list, struct ks *statement)
{
    if (list->end == NULL) list->end = &list->first;
    *list->end = statement;
    list->end = &statement->next;
}

struct ks *build_block(const struct expr_build *t, const struct build_list *list)
{
    struct ks *s = build_ks(t, KS_BLOCK);
    s->body = list->first;
    return s;
}

struct ks *build_declare(const struct expr_build *t, struct variable *variable, struct kx *value)
{
    struct ks *s = build_ks(t, KS_DECLARE);
    s->variable = variable;
    s->expr = value;
    return s;
}

struct ks *build_expression(const struct expr_build *t, struct kx *x)
{
    struct ks *s = build_ks(t, KS_EXPR);
    s->expr = x;
    return s;
}

struct ks *build_emit(const struct expr_build *t, uint32_t port, struct kx *packet)
{
    struct ks *s = build_ks(t, KS_EMIT);
    s->port = port;
    s->expr = packet;
    return s;
}

struct ks *build_if(const struct expr_build *t, struct kx *condition, struct ks *body)
{
    struct ks *s = build_ks(t, KS_IF);
    s->expr = condition;
    s->body = body;
    return s;
}

struct ks *build_loop(const struct expr_build *t, struct variable *i, uint64_t count,
                      struct ks *body)
{
    struct ks *s = build_ks(t, KS_LOOP);
    struct kx *step = build_assign(t, build_variable(t, i), build_i32(t, 1));
    step->op = OP_ADD;
    step->operation = i->type;
    s->init = build_declare(t, i, build_i32(t, 0));
    s->expr = build_compare(t, OP_LT, build_variable(t, i), build_i32(t, count));
    s->step = step;
    s->body = body;
    return s;
}
