#include <string.h>

#include "compiler/optimize/region/symbolic.h"

/*
 * The interpreter of constants (sema/consteval.c) with values that may be unknown.  What it cannot do
 * ends it with a reason: a branch or a place that data decide, a possible fault, state.
 */

enum { DEPTH_MAX = 3000 };

struct frame {
    sym **locals; /* by variable->index; NULL: not declared yet */
    sym *result;
};

struct machine {
    struct symbols *s;
    const struct kernel *kernel;
    const sym *arguments;
    sym *const *tables;
    sym *const *states;                 /* init, where it is known; else NULL */
    const struct symbolic_ports *ports; /* NULL: init */
    uint64_t *appended;                 /* by element of the out-ports, one after the other */
    uint32_t *first_element;            /* by out-port, and one more at the end */
    struct frame *frame;
    uint32_t depth;
    bool starts; /* init: tables may be written */
};

enum flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_FAILED };

static bool eval(struct machine *m, const struct kx *kx, sym *out);
static enum flow execute_list(struct machine *m, const struct ks *ks);

static bool fail(struct machine *m, const char *reason)
{
    if (m->s->reason == NULL) m->s->reason = reason;
    return false;
}

static bool spend(struct machine *m, uint64_t steps)
{
    m->s->steps += steps;
    if (m->s->steps > m->s->step_limit) return fail(m, "takes too many steps");
    return m->s->reason == NULL;
}

static sym *take(struct machine *m, const struct type *type)
{
    uint64_t count = type_scalar_count(type);
    if (count > m->s->step_limit || !spend(m, count / 16)) {
        fail(m, "has too much data");
        return NULL;
    }
    return ARENA_ARRAY(m->s->arena, sym, (size_t)count + 1);
}

static void zero_scalar(enum scalar_type scalar, uint64_t offset_bytes, void *data)
{
    sym **values = data;
    (void)offset_bytes;
    *(*values)++ = (sym){scalar, 0};
}

static void set_zero(sym *values, const struct type *type)
{
    type_each_scalar(type, zero_scalar, &values);
}

/* ---- places ---- */

static uint32_t position(struct variable *const *items, size_t count, const struct variable *of)
{
    uint32_t i = 0;
    while (i < count && items[i] != of)
        i++;
    return i;
}

static sym *variable_place(struct machine *m, const struct variable *variable)
{
    const struct kernel *kernel = m->kernel;
    uint32_t at;
    switch (variable->kind) {
    case VARIABLE_CONSTANT: return (sym *)variable->constant;
    case VARIABLE_LOCAL: return m->frame->locals[variable->index];
    case VARIABLE_ARGUMENT:
        at = position(kernel->arguments, kernel->argument_count, variable);
        return at < kernel->argument_count ? (sym *)&m->arguments[at] : NULL;
    case VARIABLE_TABLE:
        at = position(kernel->tables.items, kernel->tables.count, variable);
        return at < kernel->tables.count ? m->tables[at] : NULL;
    case VARIABLE_STATE:
        if (m->states == NULL) return NULL;
        at = position(kernel->states.items, kernel->states.count, variable);
        return at < kernel->states.count ? m->states[at] : NULL;
    case VARIABLE_SHARED: break;
    }
    return NULL;
}

/* A constant index within `bound`. */
static bool known_index(struct machine *m, const struct kx *index, uint64_t bound, uint64_t *at)
{
    sym value;
    if (!eval(m, index, &value)) return false;
    if (!sym_is_constant(value)) return fail(m, "looks at a place that data decide");
    __int128 exact = arith_as_exact(value);
    if (exact < 0 || exact >= (__int128)bound) return fail(m, "may fault");
    *at = (uint64_t)exact;
    return true;
}

/* Where the value of `kx` is kept: a place of its own where it is no variable. */
static sym *place(struct machine *m, const struct kx *kx)
{
    if (kx->kind == KX_VARIABLE) {
        sym *found = variable_place(m, kx->variable);
        if (found == NULL) fail(m, "has state");
        return found;
    }
    if (kx->kind == KX_INDEX) {
        sym *base = place(m, kx->left);
        uint64_t at;
        if (!base || !known_index(m, kx->right, kx->left->type->length, &at)) return NULL;
        return base + at * type_scalar_count(kx->type);
    }
    if (kx->kind == KX_MEMBER) {
        sym *base = place(m, kx->left);
        return base ? base + kx->left->type->fields[kx->member].first_scalar : NULL;
    }
    sym *values = take(m, kx->type);
    return values && eval(m, kx, values) ? values : NULL;
}

/* ---- expressions ---- */

static enum sym_kind sym_kind_of(const struct kx *kx)
{
    switch (kx->kind) {
    case KX_NEGATE: return SYM_NEGATE;
    case KX_COMPLEMENT: return SYM_COMPLEMENT;
    case KX_NOT: return SYM_NOT;
    case KX_COMPARE: return SYM_COMPARE;
    case KX_CONVERT: return SYM_CONVERT;
    case KX_BUILTIN: return SYM_BUILTIN;
    default: return SYM_BINARY;
    }
}

/* An operation on scalars; of a vector, on one element of each operand. */
static sym operate(struct machine *m, const struct kx *kx, const sym *operands, uint32_t count)
{
    struct sym_node node = {
        .kind = sym_kind_of(kx), .type = type_item(kx->type)->scalar, .operand_count = count};
    if (kx->kind == KX_BINARY || kx->kind == KX_COMPARE) node.op = kx->op;
    if (kx->kind == KX_BUILTIN) node.builtin = kx->builtin;
    memcpy(node.operands, operands, count * sizeof *operands);
    return sym_operation(m->s, node);
}

static uint32_t operands_of(const struct kx *kx, const struct kx **parts)
{
    parts[0] = kx->left;
    parts[1] = kx->right;
    if (kx->kind != KX_BUILTIN) return kx->right ? 2 : 1;
    for (uint32_t i = 0; i < kx->argument_count && i < SYM_OPERANDS; i++)
        parts[i] = kx->arguments[i];
    return kx->argument_count < SYM_OPERANDS ? kx->argument_count : SYM_OPERANDS;
}

static bool eval_operation(struct machine *m, const struct kx *kx, sym *out)
{
    const struct kx *parts[SYM_OPERANDS];
    sym *values[SYM_OPERANDS], operands[SYM_OPERANDS];
    uint32_t count = operands_of(kx, parts);
    if (kx->kind == KX_BUILTIN && (kx->builtin == BUILTIN_ANY || kx->builtin == BUILTIN_ALL))
        return fail(m, "looks at vectors of conditions");
    for (uint32_t n = 0; n < count; n++) {
        values[n] = place(m, parts[n]);
        if (!values[n]) return false;
    }
    uint64_t lanes = kx->type->kind == TYPE_VECTOR ? kx->type->length : 1;
    for (uint64_t i = 0; i < lanes; i++) {
        for (uint32_t n = 0; n < count; n++)
            operands[n] = values[n][parts[n]->type->kind == TYPE_VECTOR ? i : 0];
        out[i] = operate(m, kx, operands, count);
    }
    return m->s->reason == NULL;
}

static sym choose(struct machine *m, sym condition, sym yes, sym no)
{
    return sym_operation(m->s, (struct sym_node){.kind = SYM_SELECT,
                                                 .type = sym_type(yes),
                                                 .operand_count = 3,
                                                 .operands = {condition, yes, no}});
}

static bool eval_select(struct machine *m, const struct kx *kx, sym *out)
{
    sym condition;
    if (!eval(m, kx->left, &condition)) return false;
    if (sym_is_constant(condition))
        return eval(m, arith_truth(condition) ? kx->right : kx->third, out);
    if (kx_assigns(kx->right, NULL) || kx_assigns(kx->third, NULL))
        return fail(m, "assigns what data decide");
    sym *no = take(m, kx->type);
    if (!no || !eval(m, kx->right, out) || !eval(m, kx->third, no)) return false;
    for (uint64_t i = 0; i < type_scalar_count(kx->type); i++)
        out[i] = choose(m, condition, out[i], no[i]);
    return true;
}

static bool eval_logical(struct machine *m, const struct kx *kx, sym *out)
{
    sym left, right;
    if (!eval(m, kx->left, &left)) return false;
    bool decides = kx->op == OP_LOGICAL_OR;
    if (sym_is_constant(left)) {
        *out = left;
        return arith_truth(left) == decides || eval(m, kx->right, out);
    }
    if (kx_assigns(kx->right, NULL)) return fail(m, "assigns what data decide");
    if (!eval(m, kx->right, &right)) return false;
    *out = decides ? choose(m, left, arith_bool(true), right)
                   : choose(m, left, right, arith_bool(false));
    return true;
}

static sym convert(struct machine *m, sym value, enum scalar_type to)
{
    return sym_operation(
        m->s, (struct sym_node){
                  .kind = SYM_CONVERT, .type = to, .operand_count = 1, .operands = {value}});
}

static bool eval_assign(struct machine *m, const struct kx *kx, sym *out)
{
    const struct variable *root = kx_root_variable(kx->left);
    bool starts = m->starts && root && root->kind == VARIABLE_TABLE;
    starts |= m->states != NULL && root && root->kind == VARIABLE_STATE;
    if (!root || (root->kind != VARIABLE_LOCAL && !starts)) return fail(m, "has state");
    uint64_t count = type_scalar_count(kx->type);
    sym *to = place(m, kx->left);
    if (!to) return false;
    if (kx->op == OP_NONE) {
        if (!eval(m, kx->right, out)) return false;
        memmove(to, out, (size_t)count * sizeof *to);
        return spend(m, count / 16);
    }
    memmove(out, to, (size_t)count * sizeof *to);
    sym *right = place(m, kx->right);
    if (!right) return false;
    bool spread = kx->right->type->kind != TYPE_VECTOR;
    for (uint64_t i = 0; i < count; i++) {
        enum scalar_type type = type_item(kx->operation)->scalar;
        sym left = convert(m, out[i], type), old = out[i];
        sym result = sym_binary(m->s, kx->op, type, left, right[spread ? 0 : i]);
        to[i] = convert(m, result, type_item(kx->type)->scalar);
        out[i] = kx->postfix ? old : to[i];
    }
    return m->s->reason == NULL;
}

static bool eval_peek(struct machine *m, const struct kx *kx, sym *out)
{
    const struct kernel_port *port = &m->kernel->in[kx->port];
    uint64_t packet, element = 0;
    if (m->ports == NULL) return fail(m, "reads packets in init");
    if (!known_index(m, kx->right, port->peek, &packet)) return false;
    if (kx->left && !known_index(m, kx->left, port->arity, &element)) return false;
    uint64_t count = type_scalar_count(kx->type);
    for (uint64_t i = 0; i < count; i++)
        out[i] = m->ports->read(m->ports->data, kx->port, element, packet, (uint32_t)i);
    return spend(m, count / 16);
}

static bool eval_aggregate(struct machine *m, const struct kx *kx, sym *out)
{
    set_zero(out, kx->type);
    for (uint32_t i = 0; i < kx->argument_count; i++) {
        const struct kx *argument = kx->arguments[i];
        if (argument && !eval(m, argument, out)) return false;
        if (kx->type->kind == TYPE_STRUCT)
            out += type_scalar_count(kx->type->fields[i].type);
        else
            out += type_scalar_count(argument ? argument->type : kx->type->element);
    }
    return true;
}

static bool call_once(struct machine *m, const struct kx *kx, sym *const *arguments,
                      uint64_t element, sym *out)
{
    const struct function *function = kx->function;
    struct frame frame = {.result = out}, *caller = m->frame;
    frame.locals = ARENA_ARRAY(m->s->arena, sym *, (size_t)function->local_count + 1);
    for (uint32_t i = 0; i < function->param_count; i++) {
        const struct variable *param = function->params[i];
        sym *values = take(m, param->type);
        if (!values) return false;
        memcpy(values, arguments[i] + element,
               (size_t)type_scalar_count(param->type) * sizeof *values);
        frame.locals[param->index] = values;
    }
    m->frame = &frame;
    enum flow flow = execute_list(m, function->body);
    m->frame = caller;
    if (flow == FLOW_FAILED) return false;
    return flow == FLOW_RETURN || kx->type->kind == TYPE_VOID || fail(m, "may fault");
}

static bool eval_call(struct machine *m, const struct kx *kx, sym *out)
{
    const struct function *function = kx->function;
    sym **arguments = ARENA_ARRAY(m->s->arena, sym *, (size_t)function->param_count + 1);
    if (!function->body) return fail(m, "calls what it does not define");
    for (uint32_t i = 0; i < function->param_count; i++) {
        arguments[i] = take(m, kx->arguments[i]->type);
        if (!arguments[i] || !eval(m, kx->arguments[i], arguments[i])) return false;
    }
    bool each = kx->type != function->result;
    for (uint64_t i = 0; i < (each ? kx->type->length : 1); i++)
        if (!call_once(m, kx, arguments, i, out + i)) return false;
    return true;
}

static bool eval_kind(struct machine *m, const struct kx *kx, sym *out)
{
    switch (kx->kind) {
    case KX_CONSTANT: *out = kx->value; return true;
    case KX_VARIABLE:
    case KX_MEMBER:
    case KX_INDEX: {
        uint64_t count = type_scalar_count(kx->type);
        const sym *from = place(m, kx);
        if (!from) return false;
        memmove(out, from, (size_t)count * sizeof *out);
        return spend(m, count / 16);
    }
    case KX_PEEK: return eval_peek(m, kx, out);
    case KX_NEGATE:
    case KX_COMPLEMENT:
    case KX_NOT:
    case KX_BINARY:
    case KX_COMPARE:
    case KX_CONVERT:
    case KX_BUILTIN: return eval_operation(m, kx, out);
    case KX_LOGICAL: return eval_logical(m, kx, out);
    case KX_SELECT: return eval_select(m, kx, out);
    case KX_ASSIGN: return eval_assign(m, kx, out);
    case KX_CALL: return eval_call(m, kx, out);
    case KX_AGGREGATE: return eval_aggregate(m, kx, out);
    case KX_BROADCAST:
        if (!eval(m, kx->left, out)) return false;
        for (uint64_t i = 1; i < kx->type->length; i++)
            out[i] = out[0];
        return true;
    case KX_COMMA: {
        sym *ignored = take(m, kx->left->type);
        return ignored && eval(m, kx->left, ignored) && eval(m, kx->right, out);
    }
    case KX_WINDOW:
    case KX_PHASE:
    case KX_FIRING:
    case KX_ITEM:
    case KX_DONE:
    case KX_LEFT: break;
    }
    return fail(m, "is not the same in every firing");
}

static bool eval(struct machine *m, const struct kx *kx, sym *out)
{
    if (!spend(m, 1)) return false;
    if (++m->depth > DEPTH_MAX) fail(m, "is nested too deeply");
    bool done = m->s->reason == NULL && eval_kind(m, kx, out);
    m->depth--;
    return done && m->s->reason == NULL;
}

/* ---- statements ---- */

static bool eval_condition(struct machine *m, const struct kx *kx, bool *truth)
{
    sym value;
    if (!eval(m, kx, &value)) return false;
    if (!sym_is_constant(value)) return fail(m, "branches on data");
    *truth = arith_truth(value);
    return true;
}

static bool eval_ignored(struct machine *m, const struct kx *kx)
{
    sym *ignored = take(m, kx->type);
    return ignored && eval(m, kx, ignored);
}

static enum flow execute_declare(struct machine *m, const struct ks *ks)
{
    sym **local = &m->frame->locals[ks->variable->index];
    if (!*local) *local = take(m, ks->variable->type);
    if (!*local || !spend(m, type_scalar_count(ks->variable->type) / 16)) return FLOW_FAILED;
    if (ks->expr) return eval(m, ks->expr, *local) ? FLOW_NEXT : FLOW_FAILED;
    set_zero(*local, ks->variable->type);
    return FLOW_NEXT;
}

static enum flow execute_loop(struct machine *m, const struct ks *ks)
{
    bool goes_on = true;
    if (execute_list(m, ks->init) == FLOW_FAILED) return FLOW_FAILED;
    for (bool first = true;; first = false) {
        if (!spend(m, 1)) return FLOW_FAILED;
        if (ks->expr && !(first && ks->test_after) && !eval_condition(m, ks->expr, &goes_on))
            return FLOW_FAILED;
        if (!goes_on) return FLOW_NEXT;
        enum flow flow = execute_list(m, ks->body);
        if (flow == FLOW_BREAK) return FLOW_NEXT;
        if (flow == FLOW_RETURN || flow == FLOW_FAILED) return flow;
        if (ks->step && !eval_ignored(m, ks->step)) return FLOW_FAILED;
    }
}

static enum flow execute_switch(struct machine *m, const struct ks *ks)
{
    sym value;
    if (!eval(m, ks->expr, &value)) return FLOW_FAILED;
    if (!sym_is_constant(value)) {
        fail(m, "branches on data");
        return FLOW_FAILED;
    }
    enum flow flow = execute_list(m, ks_find_label(ks, value));
    return flow == FLOW_BREAK ? FLOW_NEXT : flow;
}

/* The place of a packet that is appended or set; its scalars go to `out` of the port. */
static enum flow execute_output(struct machine *m, const struct ks *ks)
{
    const struct kernel_port *port = &m->kernel->out[ks->port];
    uint64_t element = 0, packet = 0;
    uint64_t scalars = type_scalar_count(port->type);
    if (m->ports == NULL) return FLOW_FAILED;
    if (ks->element && !known_index(m, ks->element, port->arity, &element)) return FLOW_FAILED;
    if (ks->kind == KS_STORE) {
        if (!known_index(m, ks->index, port->push, &packet)) return FLOW_FAILED;
    } else {
        packet = m->appended[m->first_element[ks->port] + element]++;
        if (packet >= port->push) {
            fail(m, "may append too much");
            return FLOW_FAILED;
        }
    }
    sym *to = m->ports->out[ks->port] + (element * port->push + packet) * scalars;
    sym *value = place(m, ks->expr);
    if (!value) return FLOW_FAILED;
    memmove(to, value, (size_t)scalars * sizeof *to);
    return FLOW_NEXT;
}

static enum flow execute(struct machine *m, const struct ks *ks)
{
    bool truth;
    if (!spend(m, 1)) return FLOW_FAILED;
    switch (ks->kind) {
    case KS_EXPR: return eval_ignored(m, ks->expr) ? FLOW_NEXT : FLOW_FAILED;
    case KS_DECLARE: return execute_declare(m, ks);
    case KS_BLOCK: return execute_list(m, ks->body);
    case KS_IF:
        if (!eval_condition(m, ks->expr, &truth)) return FLOW_FAILED;
        return execute_list(m, truth ? ks->body : ks->otherwise);
    case KS_LOOP: return execute_loop(m, ks);
    case KS_SWITCH: return execute_switch(m, ks);
    case KS_CASE: return FLOW_NEXT;
    case KS_BREAK: return FLOW_BREAK;
    case KS_CONTINUE: return FLOW_CONTINUE;
    case KS_RETURN:
        if (!ks->expr) return FLOW_RETURN;
        return m->frame->result && eval(m, ks->expr, m->frame->result) ? FLOW_RETURN : FLOW_FAILED;
    case KS_EMIT:
    case KS_STORE: return execute_output(m, ks);
    case KS_STOP:
    case KS_LAUNCH:
    case KS_BARRIER: break;
    }
    fail(m, "is not the same in every firing");
    return FLOW_FAILED;
}

static enum flow execute_list(struct machine *m, const struct ks *ks)
{
    enum flow flow = FLOW_NEXT;
    if (++m->depth > DEPTH_MAX) fail(m, "is nested too deeply");
    for (; ks && flow == FLOW_NEXT; ks = ks->next)
        flow = m->s->reason == NULL ? execute(m, ks) : FLOW_FAILED;
    m->depth--;
    return flow;
}

/* ---- entries ---- */

/* All zero. */
static sym **begin_variables(struct machine *m, struct variable *const *items, size_t count)
{
    sym **values = ARENA_ARRAY(m->s->arena, sym *, count + 1);
    for (size_t i = 0; i < count; i++) {
        values[i] = take(m, items[i]->type);
        if (values[i] == NULL) return NULL;
        set_zero(values[i], items[i]->type);
    }
    return values;
}

bool symbolic_init(struct symbols *s, const struct kernel *kernel, const sym *arguments,
                   const sym *const **tables, const sym *const **states)
{
    struct machine m = {.s = s, .kernel = kernel, .arguments = arguments, .starts = true};
    struct frame frame = {.locals = ARENA_ARRAY(s->arena, sym *, (size_t)kernel->local_count + 1)};
    m.frame = &frame;
    m.tables = begin_variables(&m, kernel->tables.items, kernel->tables.count);
    if (states != NULL) m.states = begin_variables(&m, kernel->states.items, kernel->states.count);
    if (s->reason != NULL) return false;
    *tables = (const sym *const *)m.tables;
    if (states != NULL) *states = (const sym *const *)m.states;
    return execute_list(&m, kernel->init) != FLOW_FAILED && s->reason == NULL;
}

struct unknown {
    struct symbols *s;
    sym *next;
};

static void set_unknown(enum scalar_type scalar, uint64_t offset_bytes, void *data)
{
    struct unknown *unknown = data;
    (void)offset_bytes;
    *unknown->next++ = sym_unknown(unknown->s, scalar);
}

void symbolic_unknown_tables(struct symbols *s, const struct kernel *kernel,
                             const sym *const **tables)
{
    sym **values = ARENA_ARRAY(s->arena, sym *, kernel->tables.count + 1);
    for (size_t i = 0; i < kernel->tables.count; i++) {
        const struct type *type = kernel->tables.items[i]->type;
        if (type_scalar_count(type) > s->node_limit - s->nodes.count) {
            s->reason = "has too much data";
            return;
        }
        values[i] = ARENA_ARRAY(s->arena, sym, type_scalar_count(type));
        type_each_scalar(type, set_unknown, &(struct unknown){s, values[i]});
    }
    *tables = (const sym *const *)values;
}

static bool appended_all(const struct machine *m)
{
    const struct kernel *kernel = m->kernel;
    for (uint32_t p = 0; p < kernel->out_count; p++)
        for (uint64_t e = 0; !kernel->out[p].indexed && e < kernel->out[p].arity; e++)
            if (m->appended[m->first_element[p] + e] != kernel->out[p].push) return false;
    return true;
}

bool symbolic_fire(struct symbols *s, const struct symbolic_kernel *known,
                   const struct symbolic_ports *ports)
{
    const struct kernel *kernel = known->kernel;
    struct machine m = {.s = s,
                        .kernel = kernel,
                        .arguments = known->arguments,
                        .tables = (sym *const *)known->tables,
                        .ports = ports};
    struct frame frame = {.locals = ARENA_ARRAY(s->arena, sym *, (size_t)kernel->local_count + 1)};
    m.first_element = ARENA_ARRAY(s->arena, uint32_t, (size_t)kernel->out_count + 1);
    for (uint32_t p = 0; p < kernel->out_count; p++) {
        const struct kernel_port *port = &kernel->out[p];
        m.first_element[p + 1] = m.first_element[p] + (uint32_t)port->arity;
        uint64_t scalars = type_scalar_count(port->type);
        for (uint64_t i = 0; i < port->arity * port->push; i++)
            set_zero(ports->out[p] + i * scalars, port->type);
    }
    m.appended = ARENA_ARRAY(s->arena, uint64_t, (size_t)m.first_element[kernel->out_count] + 1);
    m.frame = &frame;
    if (execute_list(&m, kernel->body) == FLOW_FAILED || s->reason != NULL) {
        fail(&m, "is not the same in every firing");
        return false;
    }
    return appended_all(&m) || fail(&m, "appends what data decide");
}
