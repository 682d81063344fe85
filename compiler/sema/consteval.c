#include <string.h>

#include "compiler/ir/arith.h"
#include "compiler/sema/sema_internal.h"

/*
 * Values are kept as one struct scalar_value per scalar, flattened (ir/type.h): the same form as
 * constants.  The memory of locals is a stack of chunks; a call, and every expression of a
 * statement, gives back what it took.
 */

enum { DEPTH_MAX = 4000, CHUNK_SCALARS = 4096, SCALARS_PER_STEP = 16 };

struct chunk {
    struct chunk *next; /* kept for reuse */
    uint64_t size;
    struct scalar_value values[];
};

struct mark {
    struct chunk *chunk;
    uint64_t used;
    uint64_t total;
};

struct frame {
    const struct function *function;
    struct scalar_value **locals; /* by variable->index; NULL: not declared yet */
    struct scalar_value *result;
};

struct interpreter {
    struct compile *cx;
    struct arena *scratch;
    struct consteval_error *error;
    struct frame *frame; /* NULL outside of functions */
    struct chunk *first;
    struct mark top;
    uint64_t steps;
    uint32_t calls, depth;
};

enum flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_FAILED };

static bool eval(struct interpreter *in, const struct kx *kx, struct scalar_value *out);
static enum flow execute(struct interpreter *in, const struct ks *ks);
static enum flow execute_list(struct interpreter *in, const struct ks *ks);

/* ---- failing ---- */

static bool fail(struct interpreter *in, struct span span, const char *reason)
{
    in->error->reason = reason;
    in->error->span = span;
    return false;
}

static bool fail_too_large(struct interpreter *in, struct span span, const char *reason)
{
    in->error->too_large = true;
    return fail(in, span, reason);
}

static bool fail_not_constant(struct interpreter *in, const struct kx *kx)
{
    in->error->culprit = kx;
    in->error->depends_on = kx->kind == KX_VARIABLE ? kx->variable->name : NULL;
    return fail(in, kx->span, NULL);
}

static bool spend(struct interpreter *in, struct span span, uint64_t steps)
{
    in->steps += steps;
    in->cx->constant_steps += steps;
    if (in->steps > CONSTEVAL_MAX_STEPS)
        return fail_too_large(in, span, "it takes more than 10,000,000 steps");
    if (in->cx->constant_steps <= CONSTEVAL_ALL_STEPS) return true;
    return fail_too_large(in, span,
                          "the constants of the program take more than 500,000,000 steps together");
}

/* ---- memory ---- */

static struct chunk *add_chunk(struct interpreter *in, uint64_t size)
{
    struct chunk *chunk =
        arena_alloc(in->scratch, sizeof *chunk + (size_t)size * sizeof(struct scalar_value));
    chunk->size = size;
    return chunk;
}

/* `count` scalars, not zeroed; NULL beyond the limit. */
static struct scalar_value *take(struct interpreter *in, struct span span, uint64_t count)
{
    if (count > CONSTEVAL_MAX_SCALARS || in->top.total + count > CONSTEVAL_MAX_SCALARS) {
        fail_too_large(in, span, "its variables hold more than 4,194,304 values at one time");
        return NULL;
    }
    struct chunk **link = in->top.chunk ? &in->top.chunk->next : &in->first;
    if (!in->top.chunk || in->top.used + count > in->top.chunk->size) {
        if (!*link || (*link)->size < count) {
            struct chunk *rest = *link;
            *link = add_chunk(in, count > CHUNK_SCALARS ? count : CHUNK_SCALARS);
            (*link)->next = rest;
        }
        in->top.chunk = *link;
        in->top.used = 0;
    }
    struct scalar_value *values = &in->top.chunk->values[in->top.used];
    in->top.used += count;
    in->top.total += count;
    return values;
}

static void zero_scalar(enum scalar_type scalar, uint64_t offset_bytes, void *data)
{
    struct scalar_value **values = data;
    (void)offset_bytes;
    *(*values)++ = (struct scalar_value){scalar, 0};
}

static void set_zero(struct scalar_value *values, const struct type *type)
{
    type_each_scalar(type, zero_scalar, &values);
}

static bool copy_values(struct interpreter *in, struct span span, struct scalar_value *to,
                        const struct scalar_value *from, const struct type *type)
{
    uint64_t count = type_scalar_count(type);
    memmove(to, from, (size_t)count * sizeof *to);
    return count == 1 || spend(in, span, count / SCALARS_PER_STEP);
}

/* ---- places: where a variable, or an element of it, is kept ---- */

static struct scalar_value *variable_place(struct interpreter *in, const struct kx *kx)
{
    const struct variable *variable = kx->variable;
    if (variable->kind == VARIABLE_CONSTANT) return (struct scalar_value *)variable->constant;
    if (variable->kind != VARIABLE_LOCAL || !in->frame || !in->frame->locals[variable->index]) {
        fail_not_constant(in, kx);
        return NULL;
    }
    return in->frame->locals[variable->index];
}

static struct scalar_value *place(struct interpreter *in, const struct kx *kx);

static struct scalar_value *element_place(struct interpreter *in, const struct kx *kx)
{
    struct scalar_value *base = place(in, kx->left);
    struct scalar_value index;
    if (!base || !eval(in, kx->right, &index)) return NULL;
    __int128 at = arith_as_exact(index);
    uint64_t length = kx->left->type->length;
    if (at < 0 || at >= (__int128)length) {
        fail(in, kx->right->span,
             arena_printf(in->cx->arena, "index %s is outside of an array of %llu",
                          arith_text(in->cx->arena, index), (unsigned long long)length));
        return NULL;
    }
    return base + (uint64_t)at * type_scalar_count(kx->type);
}

static struct scalar_value *member_place(struct interpreter *in, const struct kx *kx)
{
    struct scalar_value *base = place(in, kx->left);
    return base ? base + kx->left->type->fields[kx->member].first_scalar : NULL;
}

/* A value that is no variable gets a place of its own, until the end of the statement. */
static struct scalar_value *place(struct interpreter *in, const struct kx *kx)
{
    if (kx->kind == KX_VARIABLE) return variable_place(in, kx);
    struct scalar_value *values = NULL;
    if (++in->depth > DEPTH_MAX) {
        fail_too_large(in, kx->span, "its calls and expressions are nested too deeply");
    } else if (kx->kind == KX_INDEX) {
        values = element_place(in, kx);
    } else if (kx->kind == KX_MEMBER) {
        values = member_place(in, kx);
    } else {
        values = take(in, kx->span, type_scalar_count(kx->type));
        if (values && !eval(in, kx, values)) values = NULL;
    }
    in->depth--;
    return values;
}

/* ---- expressions ---- */

static bool eval_binary(struct interpreter *in, const struct kx *kx, struct scalar_value *out)
{
    struct scalar_value left, right;
    if (!eval(in, kx->left, &left) || !eval(in, kx->right, &right)) return false;
    if (kx->kind == KX_COMPARE) {
        *out = arith_bool(arith_compare(kx->op, left, right));
        return true;
    }
    return arith_binary(kx->op, left, right, out) || fail(in, kx->span, "division by zero");
}

static bool eval_logical(struct interpreter *in, const struct kx *kx, struct scalar_value *out)
{
    struct scalar_value left;
    if (!eval(in, kx->left, &left)) return false;
    if (arith_truth(left) == (kx->op == OP_LOGICAL_OR)) {
        *out = left;
        return true;
    }
    return eval(in, kx->right, out);
}

/* left = right: the value is complete before the first scalar of left changes. */
static bool assign_plain(struct interpreter *in, const struct kx *kx, struct scalar_value *to,
                         struct scalar_value *out)
{
    if (!eval(in, kx->right, out)) return false;
    return copy_values(in, kx->span, to, out, kx->type);
}

/* left = right, or left = convert(convert(left, operation) op right); the old value of left is read
 * first.  Vectors: element by element. */
static bool eval_assign(struct interpreter *in, const struct kx *kx, struct scalar_value *out)
{
    struct scalar_value *to = place(in, kx->left), result;
    uint64_t count = type_scalar_count(kx->type);
    if (!to) return false;
    if (kx->op == OP_NONE) return assign_plain(in, kx, to, out);
    struct scalar_value *right = take(in, kx->span, count);
    if (!right || !copy_values(in, kx->span, out, to, kx->type)) return false;
    if (!eval(in, kx->right, right)) return false;
    for (uint64_t i = 0; i < count; i++) {
        struct scalar_value old = out[i];
        struct scalar_value left = arith_convert(old, type_item(kx->operation)->scalar);
        if (!arith_binary(kx->op, left, right[i], &result))
            return fail(in, kx->span, "division by zero");
        to[i] = arith_convert(result, type_item(kx->type)->scalar);
        out[i] = kx->postfix ? old : to[i];
    }
    return true;
}

static bool eval_reduction(struct interpreter *in, const struct kx *kx, struct scalar_value *out)
{
    uint64_t count = type_scalar_count(kx->arguments[0]->type);
    bool truth = kx->builtin == BUILTIN_ALL;
    struct scalar_value *values = take(in, kx->span, count);
    if (!values || !eval(in, kx->arguments[0], values)) return false;
    for (uint64_t i = 0; i < count; i++)
        truth = kx->builtin == BUILTIN_ALL ? truth && arith_truth(values[i])
                                           : truth || arith_truth(values[i]);
    *out = arith_bool(truth);
    return true;
}

static bool eval_builtin(struct interpreter *in, const struct kx *kx, struct scalar_value *out)
{
    struct scalar_value arguments[3];
    if (kx->builtin == BUILTIN_ANY || kx->builtin == BUILTIN_ALL)
        return eval_reduction(in, kx, out);
    for (uint32_t i = 0; i < kx->argument_count && i < 3; i++)
        if (!eval(in, kx->arguments[i], &arguments[i])) return false;
    *out = arith_builtin(kx->builtin, arguments);
    return true;
}

/* One element of an operation on vectors, from those of its operands. */
static bool element_value(struct interpreter *in, const struct kx *kx,
                          const struct scalar_value *operands, struct scalar_value *out)
{
    switch (kx->kind) {
    case KX_NEGATE: *out = arith_negate(operands[0]); return true;
    case KX_COMPLEMENT: *out = arith_complement(operands[0]); return true;
    case KX_NOT: *out = arith_bool(!arith_truth(operands[0])); return true;
    case KX_CONVERT: *out = arith_convert(operands[0], kx->type->element->scalar); return true;
    case KX_COMPARE:
        *out = arith_bool(arith_compare(kx->op, operands[0], operands[1]));
        return true;
    case KX_BUILTIN: *out = arith_builtin(kx->builtin, operands); return true;
    default:
        return arith_binary(kx->op, operands[0], operands[1], out) ||
               fail(in, kx->span, "division by zero");
    }
}

static bool eval_elementwise(struct interpreter *in, const struct kx *kx, struct scalar_value *out)
{
    enum { OPERANDS_MAX = 3 };
    const struct kx *parts[OPERANDS_MAX] = {kx->left, kx->right};
    struct scalar_value *values[OPERANDS_MAX], operands[OPERANDS_MAX] = {0};
    uint64_t lanes = kx->type->length;
    int count = kx->right ? 2 : 1;
    if (kx->kind == KX_BUILTIN) {
        count = (int)kx->argument_count;
        for (int n = 0; n < count; n++)
            parts[n] = kx->arguments[n];
    }
    for (int n = 0; n < count; n++) {
        values[n] = take(in, kx->span, lanes);
        if (!values[n] || !eval(in, parts[n], values[n])) return false;
    }
    for (uint64_t i = 0; i < lanes; i++) {
        for (int n = 0; n < count; n++)
            operands[n] = values[n][i];
        if (!element_value(in, kx, operands, out + i)) return false;
    }
    return true;
}

/* Each argument behind the one before it; one of a vector may be a shorter vector. */
static bool eval_aggregate(struct interpreter *in, const struct kx *kx, struct scalar_value *out)
{
    const struct type *type = kx->type;
    if (!spend(in, kx->span, type_scalar_count(type) / SCALARS_PER_STEP)) return false;
    set_zero(out, type);
    struct scalar_value *at = out;
    for (uint32_t i = 0; i < kx->argument_count; i++) {
        const struct kx *argument = kx->arguments[i];
        if (argument && !eval(in, argument, at)) return false;
        if (type->kind == TYPE_STRUCT)
            at += type_scalar_count(type->fields[i].type);
        else
            at += argument ? type_scalar_count(argument->type) : type_scalar_count(type->element);
    }
    return true;
}

static bool eval_broadcast(struct interpreter *in, const struct kx *kx, struct scalar_value *out)
{
    if (!eval(in, kx->left, out)) return false;
    for (uint64_t i = 1; i < kx->type->length; i++)
        out[i] = out[0];
    return true;
}

static bool run_function(struct interpreter *in, const struct kx *kx, struct frame *frame)
{
    struct frame *caller = in->frame;
    in->frame = frame;
    in->calls++;
    enum flow flow = execute(in, frame->function->body);
    in->calls--;
    in->frame = caller;
    if (flow == FLOW_FAILED) return false;
    return flow == FLOW_RETURN || kx->type->kind == TYPE_VOID ||
           fail(in, kx->span, "the function ends without a value");
}

/* One empty slot for each local, from the same stack. */
static struct scalar_value **take_locals(struct interpreter *in, struct span span, uint32_t count)
{
    _Static_assert(sizeof(struct scalar_value) >= sizeof(struct scalar_value *), "a slot fits");
    void *slots = take(in, span, (uint64_t)count + 1);
    if (slots) memset(slots, 0, (size_t)count * sizeof(struct scalar_value *));
    return slots;
}

/* Calls with arguments that have been evaluated: those of element `element`, where the call is done
 * for each. */
static bool call_with(struct interpreter *in, const struct kx *kx, struct scalar_value **arguments,
                      uint64_t element, struct scalar_value *out)
{
    const struct function *function = kx->function;
    struct frame frame = {.function = function, .result = out};
    frame.locals = take_locals(in, kx->span, function->local_count);
    if (!frame.locals) return false;
    for (uint32_t i = 0; i < function->param_count; i++) {
        const struct variable *param = function->params[i];
        uint64_t count = type_scalar_count(param->type);
        struct scalar_value *values = take(in, kx->span, count);
        if (!values) return false;
        memcpy(values, arguments[i] + element, (size_t)count * sizeof *values);
        frame.locals[param->index] = values;
    }
    return run_function(in, kx, &frame);
}

static bool eval_call(struct interpreter *in, const struct kx *kx, struct scalar_value *out)
{
    const struct function *function = kx->function;
    struct mark before = in->top;
    if (in->calls >= CONSTEVAL_MAX_CALLS)
        return fail_too_large(in, kx->span, "its calls are nested more than 256 deep");
    if (!function->body) return fail_not_constant(in, kx);
    /* Room for scalars holds as many pointers: they are smaller, and aligned no stricter. */
    void *room = take_locals(in, kx->span, function->param_count);
    struct scalar_value **arguments = room;
    if (!arguments) return false;
    for (uint32_t i = 0; i < function->param_count; i++) {
        arguments[i] = take(in, kx->span, type_scalar_count(kx->arguments[i]->type));
        if (!arguments[i] || !eval(in, kx->arguments[i], arguments[i])) return false;
    }
    bool each = kx->type != function->result, done = true;
    struct mark arguments_end = in->top;
    for (uint64_t i = 0; done && i < (each ? kx->type->length : 1); i++) {
        in->top = arguments_end;
        done = call_with(in, kx, arguments, i, out + i);
    }
    in->top = before;
    return done;
}

static bool eval_kind(struct interpreter *in, const struct kx *kx, struct scalar_value *out)
{
    struct scalar_value value = {SCALAR_BOOL, 0};
    if (kx_is_elementwise(kx)) return eval_elementwise(in, kx, out);
    switch (kx->kind) {
    case KX_CONSTANT: *out = kx->value; return true;
    case KX_VARIABLE:
    case KX_MEMBER:
    case KX_INDEX: {
        const struct scalar_value *from = place(in, kx);
        return from && copy_values(in, kx->span, out, from, kx->type);
    }
    case KX_PEEK:
    case KX_WINDOW:
    case KX_PHASE:
    case KX_FIRING:
    case KX_ITEM:
    case KX_DONE:
    case KX_LEFT: return fail_not_constant(in, kx);
    case KX_NEGATE:
        if (!eval(in, kx->left, out)) return false;
        *out = arith_negate(*out);
        return true;
    case KX_COMPLEMENT:
        if (!eval(in, kx->left, out)) return false;
        *out = arith_complement(*out);
        return true;
    case KX_NOT:
        if (!eval(in, kx->left, out)) return false;
        *out = arith_bool(!arith_truth(*out));
        return true;
    case KX_BINARY:
    case KX_COMPARE: return eval_binary(in, kx, out);
    case KX_LOGICAL: return eval_logical(in, kx, out);
    case KX_SELECT:
        if (!eval(in, kx->left, &value)) return false;
        return eval(in, arith_truth(value) ? kx->right : kx->third, out);
    case KX_CONVERT:
        if (!eval(in, kx->left, &value)) return false;
        *out = arith_convert(value, kx->type->scalar);
        return true;
    case KX_BROADCAST: return eval_broadcast(in, kx, out);
    case KX_ASSIGN: return eval_assign(in, kx, out);
    case KX_CALL: return eval_call(in, kx, out);
    case KX_BUILTIN: return eval_builtin(in, kx, out);
    case KX_COMMA: {
        struct scalar_value *ignored = take(in, kx->span, type_scalar_count(kx->left->type) + 1);
        return ignored && eval(in, kx->left, ignored) && eval(in, kx->right, out);
    }
    case KX_AGGREGATE: return eval_aggregate(in, kx, out);
    }
    return false;
}

static bool eval(struct interpreter *in, const struct kx *kx, struct scalar_value *out)
{
    if (!spend(in, kx->span, 1)) return false;
    if (++in->depth > DEPTH_MAX)
        return fail_too_large(in, kx->span, "its calls and expressions are nested too deeply");
    bool done = eval_kind(in, kx, out);
    in->depth--;
    return done;
}

/* Evaluates for a statement: temporaries are given back. */
static bool eval_whole(struct interpreter *in, const struct kx *kx, struct scalar_value *out)
{
    struct mark before = in->top;
    bool done = eval(in, kx, out);
    in->top = before;
    return done;
}

/* Evaluates for the effects alone. */
static bool eval_ignored(struct interpreter *in, const struct kx *kx)
{
    struct mark before = in->top;
    struct scalar_value *ignored = take(in, kx->span, type_scalar_count(kx->type) + 1);
    bool done = ignored && eval(in, kx, ignored);
    in->top = before;
    return done;
}

/* ---- statements ---- */

static enum flow execute_declare(struct interpreter *in, const struct ks *ks)
{
    const struct variable *variable = ks->variable;
    struct scalar_value **local = &in->frame->locals[variable->index];
    uint64_t count = type_scalar_count(variable->type);
    if (!*local) *local = take(in, ks->span, count);
    if (!*local || !spend(in, ks->span, count / SCALARS_PER_STEP)) return FLOW_FAILED;
    if (!ks->expr) {
        set_zero(*local, variable->type);
        return FLOW_NEXT;
    }
    return eval_whole(in, ks->expr, *local) ? FLOW_NEXT : FLOW_FAILED;
}

static enum flow execute_loop(struct interpreter *in, const struct ks *ks)
{
    struct scalar_value condition;
    if (execute_list(in, ks->init) == FLOW_FAILED) return FLOW_FAILED;
    for (bool first = true;; first = false) {
        if (!spend(in, ks->span, 1)) return FLOW_FAILED;
        if (ks->expr && !(first && ks->test_after)) {
            if (!eval_whole(in, ks->expr, &condition)) return FLOW_FAILED;
            if (!arith_truth(condition)) return FLOW_NEXT;
        }
        enum flow flow = execute_list(in, ks->body);
        if (flow == FLOW_BREAK) return FLOW_NEXT;
        if (flow == FLOW_RETURN || flow == FLOW_FAILED) return flow;
        if (ks->step && !eval_ignored(in, ks->step)) return FLOW_FAILED;
    }
}

static enum flow execute_switch(struct interpreter *in, const struct ks *ks)
{
    struct scalar_value value;
    if (!eval_whole(in, ks->expr, &value)) return FLOW_FAILED;
    enum flow flow = execute_list(in, ks_find_label(ks, value));
    return flow == FLOW_BREAK ? FLOW_NEXT : flow;
}

static enum flow execute_kind(struct interpreter *in, const struct ks *ks)
{
    struct scalar_value condition;
    switch (ks->kind) {
    case KS_EXPR: return eval_ignored(in, ks->expr) ? FLOW_NEXT : FLOW_FAILED;
    case KS_DECLARE: return execute_declare(in, ks);
    case KS_BLOCK: return execute_list(in, ks->body);
    case KS_IF:
        if (!eval_whole(in, ks->expr, &condition)) return FLOW_FAILED;
        return execute_list(in, arith_truth(condition) ? ks->body : ks->otherwise);
    case KS_LOOP: return execute_loop(in, ks);
    case KS_SWITCH: return execute_switch(in, ks);
    case KS_CASE: return FLOW_NEXT;
    case KS_BREAK: return FLOW_BREAK;
    case KS_CONTINUE: return FLOW_CONTINUE;
    case KS_RETURN:
        if (!ks->expr) return FLOW_RETURN;
        return eval(in, ks->expr, in->frame->result) ? FLOW_RETURN : FLOW_FAILED;
    case KS_EMIT:
    case KS_STORE:
    case KS_STOP:
    case KS_LAUNCH:
    case KS_BARRIER: break;
    }
    fail(in, ks->span, NULL);
    return FLOW_FAILED;
}

static enum flow execute(struct interpreter *in, const struct ks *ks)
{
    enum flow flow = FLOW_FAILED;
    if (!spend(in, ks->span, 1)) return FLOW_FAILED;
    if (++in->depth > DEPTH_MAX)
        fail_too_large(in, ks->span, "its calls and statements are nested too deeply");
    else
        flow = execute_kind(in, ks);
    in->depth--;
    return flow;
}

static enum flow execute_list(struct interpreter *in, const struct ks *ks)
{
    enum flow flow = FLOW_NEXT;
    for (; ks && flow == FLOW_NEXT; ks = ks->next)
        flow = execute(in, ks);
    return flow;
}

bool consteval(struct compile *cx, const struct kx *expr, struct scalar_value *out,
               struct consteval_error *error)
{
    *error = (struct consteval_error){0};
    if (expr->kind == KX_CONSTANT) {
        *out = expr->value;
        return true;
    }
    struct interpreter in = {.cx = cx, .scratch = arena_create(), .error = error};
    bool done = eval(&in, expr, out);
    arena_destroy(in.scratch);
    return done;
}
