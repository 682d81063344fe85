/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/cost_table.h"

#include "compiler/bodies/cost.h"
#include "compiler/bodies/cost_regions.h"

const struct devdesc_costs *cost_table(struct compile *cx)
{
    return &compile_device(cx)->costs;
}

/* ---- classes ---- */

static uint64_t element_count(const struct type *type)
{
    return type->kind == TYPE_VECTOR ? type->length : 1;
}

static bool is_double(const struct type *type)
{
    return type->kind == TYPE_SCALAR && type->scalar == SCALAR_F64;
}

static uint64_t float_cost(const struct devdesc_costs *costs, const struct type *item,
                           uint64_t cycles)
{
    return is_double(item) ? cycles * costs->double_factor : cycles;
}

/* An operation of the simplest kind on such values. */
static uint64_t simple_cost(const struct devdesc_costs *costs, const struct type *item)
{
    return type_is_float(item) ? float_cost(costs, item, costs->floating) : costs->integer;
}

static uint64_t operation_cost(const struct devdesc_costs *costs, enum kx_op op,
                               const struct type *type)
{
    const struct type *item = type_item(type);
    bool divides = op == OP_DIV || op == OP_REM;
    uint64_t cycles = simple_cost(costs, item);
    if (divides && type_is_float(item))
        cycles = float_cost(costs, item, costs->float_divide);
    else if (divides)
        cycles = costs->divide;
    else if (op == OP_MUL && !type_is_float(item))
        cycles = costs->multiply;
    return cycles * element_count(type);
}

/* Between integers and bools it is free. */
static uint64_t conversion_cost(const struct devdesc_costs *costs, const struct kx *x)
{
    const struct type *from = type_item(x->left->type), *to = type_item(x->type);
    bool floats = type_is_float(from) || type_is_float(to);
    if (!floats || from == to) return 0;
    return float_cost(costs, is_double(from) ? from : to, costs->convert) * element_count(x->type);
}

static uint64_t builtin_cost(const struct devdesc_costs *costs, const struct kx *x)
{
    const struct type *type = x->arguments[0]->type, *item = type_item(type);
    if (x->builtin == BUILTIN_SQRT)
        return float_cost(costs, item, costs->sqrt) * element_count(type);
    return simple_cost(costs, item) * element_count(type);
}

static uint64_t assignment_cost(const struct devdesc_costs *costs, const struct kx *x)
{
    uint64_t cycles = x->op != OP_NONE ? operation_cost(costs, x->op, x->operation) : 0;
    return x->left->kind != KX_VARIABLE ? cycles + costs->store : cycles;
}

uint64_t cost_not_loaded(const struct devdesc_costs *costs, const struct kx *assign)
{
    bool only_written = assign->op == OP_NONE && assign->left->kind != KX_VARIABLE;
    return only_written ? costs->load : 0;
}

static bool calls_or_assigns(const struct kx *x, void *data)
{
    (void)data;
    return x->kind == KX_CALL || x->kind == KX_ASSIGN || x->kind == KX_DONE;
}

bool cost_choice_jumps(const struct kx *x)
{
    if (x->kind != KX_SELECT && x->kind != KX_LOGICAL) return false;
    return kx_any(x->right, calls_or_assigns, NULL) || kx_any(x->third, calls_or_assigns, NULL);
}

uint64_t cost_calls(const struct kx *call)
{
    return call->type != call->function->result ? element_count(call->type) : 1;
}

/* ---- places ---- */

bool cost_is_unrolled(const struct devdesc_costs *costs, const struct ks *loop)
{
    uint64_t rounds;
    return costs->unrolled_rounds > 0 && cost_known_rounds(loop, &rounds) &&
           rounds <= costs->unrolled_rounds;
}

uint64_t cost_of_expression(const struct devdesc_costs *costs, const struct kx *x)
{
    switch (x->kind) {
    case KX_PEEK:
    case KX_WINDOW:
        if (x->lines > 0) return cost_multiply(costs->line, x->lines);
        return costs->load;
    case KX_INDEX:
    case KX_MEMBER:
    case KX_DONE: return costs->load;
    case KX_NEGATE:
    case KX_COMPLEMENT: return simple_cost(costs, type_item(x->type)) * element_count(x->type);
    case KX_BINARY: return operation_cost(costs, x->op, x->type);
    case KX_COMPARE:
        return simple_cost(costs, type_item(x->left->type)) * element_count(x->left->type);
    case KX_LOGICAL:
    case KX_SELECT:
        if (cost_choice_jumps(x)) return costs->branch;
        return simple_cost(costs, type_item(type_base(x->type))) * element_count(x->type);
    case KX_CONVERT: return conversion_cost(costs, x);
    case KX_ASSIGN: return assignment_cost(costs, x);
    case KX_CALL: return costs->call * cost_calls(x);
    case KX_BUILTIN: return builtin_cost(costs, x);
    case KX_CONSTANT:
    case KX_VARIABLE:
    case KX_LEFT:
    case KX_PHASE:
    case KX_FIRING:
    case KX_ITEM:
    case KX_NOT:
    case KX_BROADCAST:
    case KX_COMMA:
    case KX_AGGREGATE: break;
    }
    return 0;
}

uint64_t cost_of_statement(const struct devdesc_costs *costs, const struct ks *s)
{
    switch (s->kind) {
    case KS_LOOP: return cost_is_unrolled(costs, s) ? 0 : costs->branch;
    case KS_IF:
    case KS_SWITCH: return costs->branch;
    case KS_EMIT:
    case KS_STORE:
        if (s->lines > 0) return cost_multiply(costs->line, s->lines);
        return costs->store;
    case KS_BARRIER: return costs->barrier;
    case KS_EXPR:
    case KS_DECLARE:
    case KS_BLOCK:
    case KS_CASE:
    case KS_BREAK:
    case KS_CONTINUE:
    case KS_RETURN:
    case KS_STOP:
    case KS_FOREIGN: /* its kernel declares a cost */
    case KS_LAUNCH: break;
    }
    return 0;
}

uint64_t cost_of_evaluation(const struct devdesc_costs *costs, const struct kx *x)
{
    if (x == NULL) return 0;
    uint64_t cycles = cost_of_expression(costs, x);
    cycles = cost_add(cycles, cost_of_evaluation(costs, x->left));
    if (x->kind == KX_ASSIGN) cycles -= cost_not_loaded(costs, x);
    if (cost_choice_jumps(x)) return cycles;
    for (uint32_t i = 1; i < kx_child_count(x); i++)
        cycles = cost_add(cycles, cost_of_evaluation(costs, kx_child(x, i)));
    if (x->kind == KX_CALL && x->function->costs != NULL)
        cycles = cost_add(cycles, cost_multiply(cost_calls(x), x->function->costs->constant));
    return cycles;
}
