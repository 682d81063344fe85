/* SPDX-License-Identifier: MIT */
/* Visits, copies and searches typed trees: see kernel.h. */
#include "compiler/ir/kernel.h"
#include "base/arena.h"

const struct kx *kx_find(const struct kx *x, kx_test *test, void *data)
{
    if (x == NULL || test(x, data)) return x;
    const struct kx *found = NULL;
    for (uint32_t i = 0; found == NULL && i < kx_child_count(x); i++)
        found = kx_find(kx_child(x, i), test, data);
    return found;
}

bool kx_any(const struct kx *x, kx_test *test, void *data)
{
    return kx_find(x, test, data) != NULL;
}

struct kx *kx_copy(struct arena *arena, const struct kx *x, kx_map *map, void *data)
{
    struct kx *copy = arena_copy(arena, x, sizeof *x);
    if (x->left != NULL) copy->left = map(x->left, data);
    if (x->right != NULL) copy->right = map(x->right, data);
    if (x->third != NULL) copy->third = map(x->third, data);
    if (x->argument_count > 0) copy->arguments = ARENA_ARRAY(arena, struct kx *, x->argument_count);
    for (uint32_t i = 0; i < x->argument_count; i++)
        copy->arguments[i] = x->arguments[i] != NULL ? map(x->arguments[i], data) : NULL;
    return copy;
}

uint32_t kx_operands(const struct kx *x, const struct kx *operands[KX_OPERANDS_MAX])
{
    if (x->kind != KX_BUILTIN) {
        operands[0] = x->left;
        operands[1] = x->right;
        operands[2] = x->third;
        return !x->left ? 0 : !x->right ? 1 : !x->third ? 2 : 3;
    }
    uint32_t count = x->argument_count < KX_OPERANDS_MAX ? x->argument_count : KX_OPERANDS_MAX;
    for (uint32_t i = 0; i < count; i++)
        operands[i] = x->arguments[i];
    return count;
}

const struct ks *ks_find(const struct ks *first, ks_test *test, void *data)
{
    for (const struct ks *s = first; s != NULL; s = s->next) {
        if (test(s, data)) return s;
        const struct ks *found = ks_find(s->init, test, data);
        if (found == NULL) found = ks_find(s->body, test, data);
        if (found == NULL) found = ks_find(s->otherwise, test, data);
        if (found != NULL) return found;
    }
    return NULL;
}

static bool any_part(const struct ks *s, kx_test *test, void *data)
{
    return kx_any(s->expr, test, data) || kx_any(s->element, test, data) ||
           kx_any(s->index, test, data) || kx_any(s->step, test, data);
}

bool ks_any(const struct ks *first, ks_test *statement, kx_test *expression, void *data)
{
    for (const struct ks *s = first; s != NULL; s = s->next) {
        if (statement != NULL && statement(s, data)) return true;
        if (ks_any(s->init, statement, expression, data)) return true;
        if (expression != NULL && any_part(s, expression, data)) return true;
        if (ks_any(s->body, statement, expression, data) ||
            ks_any(s->otherwise, statement, expression, data))
            return true;
    }
    return false;
}

static bool appends_to_port(const struct ks *s, void *data)
{
    return s->kind == KS_EMIT && s->port == *(const uint32_t *)data;
}

bool ks_appends(const struct ks *first, uint32_t port)
{
    return ks_any(first, appends_to_port, NULL, &port);
}

static bool is_assignment(const struct kx *x, void *data)
{
    const struct variable *const *variable = data;
    return x->kind == KX_ASSIGN && (*variable == NULL || kx_root_variable(x->left) == *variable);
}

bool kx_assigns(const struct kx *x, const struct variable *variable)
{
    return kx_any(x, is_assignment, &variable);
}

bool ks_assigns(const struct ks *first, const struct variable *variable)
{
    return ks_any(first, NULL, is_assignment, &variable);
}

static bool is_variable(const struct kx *x, void *data)
{
    const struct variable *const *variable = data;
    return x->kind == KX_VARIABLE && x->variable == *variable;
}

bool kx_mentions(const struct kx *x, const struct variable *variable)
{
    return kx_any(x, is_variable, &variable);
}
