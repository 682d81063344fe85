/* SPDX-License-Identifier: MIT */
#include "compiler/sema/evaluate.h"

#include <string.h>

/* The scalars of locals and temporaries live on a stack of chunks. A call, and every expression of
 * a statement, frees its scalars at its end. */

enum { DEPTH_MAX = 4000, CHUNK_SCALARS = 4096, SCALARS_PER_STEP = 16 };

struct value_chunk {
    struct value_chunk *next; /* kept for reuse */
    uint64_t size;
    struct scalar_value values[];
};

struct value_frame {
    struct scalar_value **locals; /* by variable->index; NULL: not declared yet */
    struct scalar_value *result;  /* NULL: a kernel, which has none */
};

enum flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_FAILED };

static enum flow execute_statements(struct evaluator *in, const struct ks *first);

/* ---- failing ---- */

static bool fail_with(struct evaluator *in, struct evaluate_error error)
{
    if (!in->failed) in->domain->fail(in->data, &error);
    in->failed = true;
    return false;
}

static bool fail_evaluation(struct evaluator *in, enum evaluate_failure failure, struct span span)
{
    return fail_with(in, (struct evaluate_error){.failure = failure, .span = span});
}

static bool fail_at(struct evaluator *in, enum evaluate_failure failure, const struct kx *culprit)
{
    return fail_with(
        in, (struct evaluate_error){.failure = failure, .span = culprit->span, .culprit = culprit});
}

static bool spend_steps(struct evaluator *in, struct span span, uint64_t steps)
{
    in->failed = in->failed || !in->domain->spend(in->data, span, steps);
    return !in->failed;
}

/* ---- memory ---- */

/* `count` scalars, not zeroed; NULL beyond the limit. */
static struct scalar_value *take_scalars(struct evaluator *in, struct span span, uint64_t count)
{
    if (count > in->scalars_max || in->top.total + count > in->scalars_max) {
        fail_evaluation(in, EVALUATE_TOO_MANY_SCALARS, span);
        return NULL;
    }
    struct value_chunk **link = in->top.chunk ? &in->top.chunk->next : &in->first;
    if (!in->top.chunk || in->top.used + count > in->top.chunk->size) {
        if (!*link || (*link)->size < count) {
            uint64_t size = count > CHUNK_SCALARS ? count : CHUNK_SCALARS;
            struct value_chunk *chunk = arena_alloc(
                in->scratch, sizeof *chunk + (size_t)size * sizeof(struct scalar_value));
            *chunk = (struct value_chunk){.next = *link, .size = size};
            *link = chunk;
        }
        in->top.chunk = *link;
        in->top.used = 0;
    }
    struct scalar_value *values = &in->top.chunk->values[in->top.used];
    in->top.used += count;
    in->top.total += count;
    return values;
}

/* Slots for `count` pointers to scalars, all NULL, from the same stack. */
static struct scalar_value **take_slots(struct evaluator *in, struct span span, uint32_t count)
{
    _Static_assert(sizeof(struct scalar_value) >= sizeof(struct scalar_value *), "a slot fits");
    void *slots = take_scalars(in, span, (uint64_t)count + 1);
    if (slots) memset(slots, 0, (size_t)count * sizeof(struct scalar_value *));
    return slots;
}

static void zero_scalar(enum scalar_type scalar, uint64_t offset_bytes, void *data)
{
    struct scalar_value **values = data;
    (void)offset_bytes;
    *(*values)++ = (struct scalar_value){scalar, 0};
}

void values_set_zero(struct scalar_value *values, const struct type *type)
{
    type_each_scalar(type, zero_scalar, &values);
}

static bool copy_values(struct evaluator *in, struct span span, struct scalar_value *to,
                        const struct scalar_value *from, const struct type *type)
{
    uint64_t count = type_scalar_count(type);
    memmove(to, from, (size_t)count * sizeof *to);
    return count == 1 || spend_steps(in, span, count / SCALARS_PER_STEP);
}

/* ---- places: where the scalars of a variable, or of a part of it, are ---- */

bool evaluate_index(struct evaluator *in, const struct kx *index, uint64_t bound, uint64_t *at)
{
    struct scalar_value value = {0};
    if (!evaluate(in, index, &value)) return false;
    if (!value_is_known(value)) return fail_evaluation(in, EVALUATE_UNKNOWN_INDEX, index->span);
    __int128 exact = arith_as_exact(value);
    if (exact < 0 || exact >= (__int128)bound)
        return fail_with(in, (struct evaluate_error){.failure = EVALUATE_INDEX,
                                                     .span = index->span,
                                                     .index = value,
                                                     .bound = bound});
    *at = (uint64_t)exact;
    return true;
}

/* A value that is not a variable gets a place of its own, until the end of the statement. */
static struct scalar_value *place_of_value(struct evaluator *in, const struct kx *x)
{
    if (x->kind == KX_VARIABLE) {
        const struct variable *variable = x->variable;
        struct scalar_value *values = NULL;
        if (variable->kind == VARIABLE_CONSTANT) return (struct scalar_value *)variable->constant;
        if (variable->kind == VARIABLE_LOCAL && in->frame)
            values = in->frame->locals[variable->index];
        else if (in->domain->find)
            values = in->domain->find(in->data, variable);
        if (!values) fail_at(in, EVALUATE_VARIABLE, x);
        return values;
    }
    struct scalar_value *values = NULL;
    uint64_t at = 0;
    if (++in->depth > DEPTH_MAX) {
        fail_evaluation(in, EVALUATE_TOO_DEEP, x->span);
    } else if (x->kind == KX_INDEX) {
        values = place_of_value(in, x->left);
        if (!values || !evaluate_index(in, x->right, x->left->type->length, &at))
            values = NULL;
        else
            values += at * type_scalar_count(x->type);
    } else if (x->kind == KX_MEMBER) {
        values = place_of_value(in, x->left);
        if (values) values += x->left->type->fields[x->member].first_scalar;
    } else {
        values = take_scalars(in, x->span, type_scalar_count(x->type));
        if (values && !evaluate(in, x, values)) values = NULL;
    }
    in->depth--;
    return values;
}

/* ---- expressions ---- */

/* One element of an operation; its operands are complete. */
static bool operate_element(struct evaluator *in, struct span span, struct operation operation,
                            const struct scalar_value *operands, uint32_t count,
                            struct scalar_value *out)
{
    bool known = true;
    for (uint32_t i = 0; i < count; i++)
        // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): the callers have `count` operands
        known &= value_is_known(operands[i]);
    if (known && arith_operate(operation, operands, out)) return true;
    if (!known && in->domain->operate)
        return in->domain->operate(in->data, operation, operands, count, out);
    return fail_evaluation(in, EVALUATE_DIVISION_BY_ZERO, span);
}

static bool eval_operation(struct evaluator *in, const struct kx *x, struct scalar_value *out)
{
    const struct kx *parts[KX_OPERANDS_MAX];
    struct scalar_value *values[KX_OPERANDS_MAX], scalars[KX_OPERANDS_MAX] = {0};
    uint32_t count = kx_operands(x, parts);
    const struct operation operation = kx_operation(x);
    bool is_vector = x->type->kind == TYPE_VECTOR;
    uint64_t lanes = is_vector ? x->type->length : 1;
    for (uint32_t n = 0; n < count; n++) {
        values[n] =
            is_vector ? take_scalars(in, x->span, type_scalar_count(parts[n]->type)) : &scalars[n];
        if (!values[n] || !evaluate(in, parts[n], values[n])) return false;
    }
    for (uint64_t i = 0; i < lanes; i++) {
        for (uint32_t n = 0; n < count; n++)
            scalars[n] = values[n][parts[n]->type->kind == TYPE_VECTOR ? i : 0];
        if (!operate_element(in, x->span, operation, scalars, count, out + i)) return false;
    }
    return true;
}

/* any(v), all(v) */
static bool eval_reduction(struct evaluator *in, const struct kx *x, struct scalar_value *out)
{
    const struct kx *vector = x->arguments[0];
    uint64_t count = type_scalar_count(vector->type);
    bool is_all = x->builtin == BUILTIN_ALL, truth = is_all;
    struct scalar_value *values = take_scalars(in, x->span, count);
    if (!values || !evaluate(in, vector, values)) return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!value_is_known(values[i]))
            return fail_evaluation(in, EVALUATE_UNKNOWN_REDUCTION, x->span);
        truth = is_all ? truth && arith_truth(values[i]) : truth || arith_truth(values[i]);
    }
    *out = arith_bool(truth);
    return true;
}

/* Chooses by an unknown value: evaluates both sides, which must have no effect. a && b is a ? b :
 * false, and a || b is a ? true : b. */
static bool evaluate_choice(struct evaluator *in, const struct kx *x, struct scalar_value condition,
                            struct scalar_value *out)
{
    const struct operation select = {.kind = KX_SELECT, .type = type_item(x->type)->scalar};
    const bool right_if_true = x->kind == KX_SELECT || x->op == OP_LOGICAL_AND;
    uint64_t count = type_scalar_count(x->type);
    if (kx_assigns(x->right, NULL) || kx_assigns(x->third, NULL))
        return fail_evaluation(in, EVALUATE_UNKNOWN_EFFECT, x->span);
    struct scalar_value *other = take_scalars(in, x->span, count);
    if (!other || !evaluate(in, x->right, out)) return false;
    *other = arith_bool(!right_if_true);
    if (x->kind == KX_SELECT && !evaluate(in, x->third, other)) return false;
    for (uint64_t i = 0; i < count; i++) {
        /* NOLINTBEGIN(clang-analyzer-security.ArrayBound): `out` has `count` values */
        struct scalar_value operands[] = {condition, right_if_true ? out[i] : other[i],
                                          right_if_true ? other[i] : out[i]};
        /* NOLINTEND(clang-analyzer-security.ArrayBound) */
        if (!operate_element(in, x->span, select, operands, 3, out + i)) return false;
    }
    return true;
}

/* SELECT, LOGICAL: evaluates only the chosen side. */
static bool eval_conditional(struct evaluator *in, const struct kx *x, struct scalar_value *out)
{
    struct scalar_value condition = {0};
    if (!evaluate(in, x->left, &condition)) return false;
    if (!value_is_known(condition)) return evaluate_choice(in, x, condition, out);
    bool truth = arith_truth(condition);
    if (x->kind == KX_SELECT) return evaluate(in, truth ? x->right : x->third, out);
    if (truth == (x->op == OP_LOGICAL_AND)) return evaluate(in, x->right, out);
    *out = condition;
    return true;
}

/* left = right: the value is complete before the first scalar of left changes.  With an operator:
 * left = convert(convert(left, operation) op right); the old value of left is read first. Vectors:
 * element by element. */
static bool evaluate_assign(struct evaluator *in, const struct kx *x, struct scalar_value *out)
{
    const struct variable *root = kx_root_variable(x->left);
    if (in->domain->may_assign && (!root || !in->domain->may_assign(in->data, root)))
        return fail_at(in, EVALUATE_VARIABLE, x->left);
    struct scalar_value *to = place_of_value(in, x->left);
    if (!to) return false;
    if (x->op == OP_NONE)
        return evaluate(in, x->right, out) && copy_values(in, x->span, to, out, x->type);
    const enum scalar_type type = type_item(x->operation)->scalar;
    const struct operation widen = {.kind = KX_CONVERT, .type = type};
    const struct operation binary = {.kind = KX_BINARY, .op = x->op, .type = type};
    const struct operation narrow = {.kind = KX_CONVERT, .type = type_item(x->type)->scalar};
    uint64_t count = type_scalar_count(x->type);
    struct scalar_value *right = take_scalars(in, x->span, count);
    struct scalar_value operands[2] = {{0}}, result = {0};
    if (!right || !copy_values(in, x->span, out, to, x->type) || !evaluate(in, x->right, right))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        operands[1] = right[x->right->type->kind == TYPE_VECTOR ? i : 0];
        if (!operate_element(in, x->span, widen, &out[i], 1, &operands[0]) ||
            !operate_element(in, x->span, binary, operands, 2, &result) ||
            !operate_element(in, x->span, narrow, &result, 1, &to[i]))
            return false;
        if (!x->postfix) out[i] = to[i];
    }
    return true;
}

/* Each argument follows the one before it. An argument of a vector may be a shorter vector. */
static bool evaluate_aggregate(struct evaluator *in, const struct kx *x, struct scalar_value *out)
{
    if (!spend_steps(in, x->span, type_scalar_count(x->type) / SCALARS_PER_STEP)) return false;
    values_set_zero(out, x->type);
    for (uint32_t i = 0; i < x->argument_count; i++) {
        const struct kx *argument = x->arguments[i];
        if (argument && !evaluate(in, argument, out)) return false;
        if (x->type->kind == TYPE_STRUCT)
            out += type_scalar_count(x->type->fields[i].type);
        else
            out += type_scalar_count(argument ? argument->type : x->type->element);
    }
    return true;
}

/* Calls with evaluated arguments: those of element `element`, if the call is done for each
 * element. */
static bool call_function_with(struct evaluator *in, const struct kx *x,
                               struct scalar_value **arguments, uint64_t element,
                               struct scalar_value *out)
{
    const struct function *function = x->function;
    struct value_frame frame = {take_slots(in, x->span, function->local_count), out};
    if (!frame.locals) return false;
    for (uint32_t i = 0; i < function->param_count; i++) {
        const struct variable *param = function->params[i];
        uint64_t count = type_scalar_count(param->type);
        struct scalar_value *values = take_scalars(in, x->span, count);
        if (!values) return false;
        memcpy(values, arguments[i] + element, (size_t)count * sizeof *values);
        frame.locals[param->index] = values;
    }
    struct value_frame *caller = in->frame;
    in->frame = &frame;
    in->calls++;
    enum flow flow = execute_statements(in, function->body);
    in->calls--;
    in->frame = caller;
    if (flow == FLOW_FAILED) return false;
    return flow == FLOW_RETURN || x->type->kind == TYPE_VOID ||
           fail_evaluation(in, EVALUATE_NO_RESULT, x->span);
}

static bool evaluate_call(struct evaluator *in, const struct kx *x, struct scalar_value *out)
{
    const struct function *function = x->function;
    struct value_mark before = in->top;
    if (in->calls >= in->calls_max) return fail_evaluation(in, EVALUATE_TOO_MANY_CALLS, x->span);
    if (!function->body) return fail_at(in, EVALUATE_UNKNOWN_FUNCTION, x);
    struct scalar_value **arguments = take_slots(in, x->span, function->param_count);
    if (!arguments) return false;
    for (uint32_t i = 0; i < function->param_count; i++) {
        arguments[i] = take_scalars(in, x->span, type_scalar_count(x->arguments[i]->type));
        if (!arguments[i] || !evaluate(in, x->arguments[i], arguments[i])) return false;
    }
    bool each = x->type != function->result, done = true;
    struct value_mark arguments_end = in->top;
    for (uint64_t i = 0; done && i < (each ? x->type->length : 1); i++) {
        in->top = arguments_end;
        done = call_function_with(in, x, arguments, i, out + i);
    }
    in->top = before;
    return done;
}

static bool eval_kind(struct evaluator *in, const struct kx *x, struct scalar_value *out)
{
    switch (x->kind) {
    case KX_CONSTANT: *out = x->value; return true;
    case KX_VARIABLE:
    case KX_MEMBER:
    case KX_INDEX: {
        const struct scalar_value *from = place_of_value(in, x);
        return from && copy_values(in, x->span, out, from, x->type);
    }
    case KX_NEGATE:
    case KX_COMPLEMENT:
    case KX_NOT:
    case KX_BINARY:
    case KX_COMPARE:
    case KX_CONVERT: return eval_operation(in, x, out);
    case KX_BUILTIN:
        if (x->builtin == BUILTIN_ANY || x->builtin == BUILTIN_ALL)
            return eval_reduction(in, x, out);
        return eval_operation(in, x, out);
    case KX_LOGICAL:
    case KX_SELECT: return eval_conditional(in, x, out);
    case KX_BROADCAST:
        if (!evaluate(in, x->left, out)) return false;
        for (uint64_t i = 1; i < x->type->length; i++)
            out[i] = out[0]; // NOLINT(clang-analyzer-security.ArrayBound): of a vector
        return true;
    case KX_ASSIGN: return evaluate_assign(in, x, out);
    case KX_CALL: return evaluate_call(in, x, out);
    case KX_COMMA: {
        struct scalar_value *ignored =
            take_scalars(in, x->span, type_scalar_count(x->left->type) + 1);
        return ignored && evaluate(in, x->left, ignored) && evaluate(in, x->right, out);
    }
    case KX_AGGREGATE: return evaluate_aggregate(in, x, out);
    case KX_PEEK:
    case KX_WINDOW:
    case KX_PHASE:
    case KX_FIRING:
    case KX_ITEM:
    case KX_DONE:
    case KX_LEFT: break;
    }
    return (in->domain->read && in->domain->read(in, x, out)) ||
           fail_at(in, EVALUATE_EXPRESSION, x);
}

bool evaluate(struct evaluator *in, const struct kx *x, struct scalar_value *out)
{
    if (!spend_steps(in, x->span, 1)) return false;
    if (++in->depth > DEPTH_MAX) return fail_evaluation(in, EVALUATE_TOO_DEEP, x->span);
    bool done = eval_kind(in, x, out);
    in->depth--;
    return done;
}

/* Evaluates an expression of a statement, and frees its temporaries. NULL: only for its effects. */
static bool eval_whole(struct evaluator *in, const struct kx *x, struct scalar_value *out)
{
    struct value_mark before = in->top;
    if (!out) out = take_scalars(in, x->span, type_scalar_count(x->type) + 1);
    bool done = out && evaluate(in, x, out);
    in->top = before;
    return done;
}

bool evaluate_alone(struct evaluator *in, const struct kx *x, struct scalar_value *out)
{
    in->failed = false;
    in->depth = 0;
    in->top = (struct value_mark){0};
    return evaluate(in, x, out);
}

/* ---- statements ---- */

/* Evaluates a value that selects the next statement. */
static bool eval_condition(struct evaluator *in, const struct kx *x, struct scalar_value *out)
{
    if (!eval_whole(in, x, out)) return false;
    return value_is_known(*out) || fail_evaluation(in, EVALUATE_UNKNOWN_CONDITION, x->span);
}

static enum flow execute_loop(struct evaluator *in, const struct ks *s)
{
    struct scalar_value condition;
    if (execute_statements(in, s->init) == FLOW_FAILED) return FLOW_FAILED;
    for (bool first = true;; first = false) {
        if (!spend_steps(in, s->span, 1)) return FLOW_FAILED;
        if (s->expr && !(first && s->test_after)) {
            if (!eval_condition(in, s->expr, &condition)) return FLOW_FAILED;
            if (!arith_truth(condition)) return FLOW_NEXT;
        }
        enum flow flow = execute_statements(in, s->body);
        if (flow == FLOW_BREAK) return FLOW_NEXT;
        if (flow == FLOW_RETURN || flow == FLOW_FAILED) return flow;
        if (s->step && !eval_whole(in, s->step, NULL)) return FLOW_FAILED;
    }
}

static enum flow execute_kind(struct evaluator *in, const struct ks *s)
{
    struct scalar_value value;
    enum flow flow;
    switch (s->kind) {
    case KS_EXPR: return eval_whole(in, s->expr, NULL) ? FLOW_NEXT : FLOW_FAILED;
    case KS_DECLARE: {
        const struct variable *variable = s->variable;
        struct scalar_value **local = &in->frame->locals[variable->index];
        uint64_t count = type_scalar_count(variable->type);
        if (!*local) *local = take_scalars(in, s->span, count);
        if (!*local || !spend_steps(in, s->span, count / SCALARS_PER_STEP)) return FLOW_FAILED;
        if (s->expr) return eval_whole(in, s->expr, *local) ? FLOW_NEXT : FLOW_FAILED;
        values_set_zero(*local, variable->type);
        return FLOW_NEXT;
    }
    case KS_BLOCK: return execute_statements(in, s->body);
    case KS_IF:
        if (!eval_condition(in, s->expr, &value)) return FLOW_FAILED;
        return execute_statements(in, arith_truth(value) ? s->body : s->otherwise);
    case KS_LOOP: return execute_loop(in, s);
    case KS_SWITCH:
        if (!eval_condition(in, s->expr, &value)) return FLOW_FAILED;
        flow = execute_statements(in, ks_find_label(s, value));
        return flow == FLOW_BREAK ? FLOW_NEXT : flow;
    case KS_CASE: return FLOW_NEXT;
    case KS_BREAK: return FLOW_BREAK;
    case KS_CONTINUE: return FLOW_CONTINUE;
    case KS_RETURN:
        if (!s->expr) return FLOW_RETURN;
        return evaluate(in, s->expr, in->frame->result) ? FLOW_RETURN : FLOW_FAILED;
    case KS_EMIT:
    case KS_STORE:
        if (in->domain->write && in->domain->write(in, s)) return FLOW_NEXT;
        break;
    case KS_STOP:
    case KS_LAUNCH:
    case KS_FOREIGN:
    case KS_BARRIER: break;
    }
    fail_evaluation(in, EVALUATE_STATEMENT, s->span);
    return FLOW_FAILED;
}

static enum flow execute_statement(struct evaluator *in, const struct ks *s)
{
    enum flow flow = FLOW_FAILED;
    if (!spend_steps(in, s->span, 1)) return FLOW_FAILED;
    if (++in->depth > DEPTH_MAX)
        fail_evaluation(in, EVALUATE_TOO_DEEP, s->span);
    else
        flow = execute_kind(in, s);
    in->depth--;
    return flow;
}

static enum flow execute_statements(struct evaluator *in, const struct ks *first)
{
    enum flow flow = FLOW_NEXT;
    for (const struct ks *s = first; s && flow == FLOW_NEXT; s = s->next)
        flow = execute_statement(in, s);
    return flow;
}

bool evaluate_body(struct evaluator *in, const struct ks *first, uint32_t local_count)
{
    if (!first) return true;
    struct value_frame frame = {.locals = take_slots(in, first->span, local_count)};
    if (!frame.locals) return false;
    in->frame = &frame;
    enum flow flow = execute_statements(in, first);
    in->frame = NULL;
    return flow != FLOW_FAILED;
}
