/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "compiler/optimize/region/symbolic.h"
#include "compiler/sema/evaluate.h"

/*
 * Executes bodies (sema/evaluate.h) with unknown packets.  Execution fails with a reason if data decide a branch or a
 * place, if the body may fault, and if it has state.
 */

_Static_assert((int)SYM_NODE == (int)VALUE_UNKNOWN, "nodes are unknown values");

enum {
    SCALARS_MAX = 4194304,
    CALLS_MAX = 256
}; /* scalars of all variables; depth of nested calls */

struct machine {
    struct symbols *s;
    const struct kernel *kernel;
    const sym *const *arguments; /* the scalars of each */
    sym *const *tables;
    sym *const *states;                 /* of `init`, if the caller wants them; else NULL */
    const struct symbolic_ports *ports; /* NULL: executes `init` */
    uint64_t *appended;      /* packets by element, the elements of all out-ports in order */
    uint32_t *first_element; /* by out-port, and one more at the end */
    bool starts;             /* executes `init`, which may write tables */
};

/* ---- the domain of evaluate ---- */

static bool refuse_body(struct symbols *s, const char *reason)
{
    if (s->reason == NULL) s->reason = reason;
    return false;
}

static bool spend_symbols(void *data, struct span span, uint64_t steps)
{
    struct symbols *s = ((struct machine *)data)->s;
    (void)span;
    s->steps += steps;
    if (s->steps > s->step_limit) return refuse_body(s, "takes too many steps");
    return s->reason == NULL;
}

static void note_fault(void *data, const struct evaluate_error *error)
{
    static const char *const reasons[] = {
        [EVALUATE_DIVISION_BY_ZERO] = "divides by what may be zero",
        [EVALUATE_INDEX] = "may fault",
        [EVALUATE_NO_RESULT] = "may fault",
        [EVALUATE_TOO_DEEP] = "is nested too deeply",
        [EVALUATE_TOO_MANY_CALLS] = "is nested too deeply",
        [EVALUATE_TOO_MANY_SCALARS] = "has too much data",
        [EVALUATE_UNKNOWN_FUNCTION] = "calls what it does not define",
        [EVALUATE_UNKNOWN_INDEX] = "looks at a place that data decide",
        [EVALUATE_UNKNOWN_CONDITION] = "branches on data",
        [EVALUATE_UNKNOWN_EFFECT] = "assigns what data decide",
        [EVALUATE_UNKNOWN_REDUCTION] = "looks at vectors of conditions",
        [EVALUATE_VARIABLE] = "has state",
        [EVALUATE_EXPRESSION] = "is not the same in every firing",
        [EVALUATE_STATEMENT] = "is not the same in every firing",
    };
    refuse_body(((struct machine *)data)->s, reasons[error->failure]);
}

static sym *find_in(struct variable *const *items, size_t count, sym *const *values,
                    const struct variable *variable)
{
    for (size_t i = 0; i < count; i++)
        if (items[i] == variable) return values[i];
    return NULL;
}

static sym *find_variable_value(void *data, const struct variable *variable)
{
    const struct machine *m = data;
    const struct kernel *kernel = m->kernel;
    if (variable->kind == VARIABLE_TABLE)
        return find_in(kernel->tables.items, kernel->tables.count, m->tables, variable);
    if (variable->kind == VARIABLE_STATE && m->states != NULL)
        return find_in(kernel->states.items, kernel->states.count, m->states, variable);
    for (uint32_t i = 0; variable->kind == VARIABLE_ARGUMENT && i < kernel->argument_count; i++)
        if (kernel->arguments[i] == variable) return (sym *)m->arguments[i];
    return NULL;
}

static bool may_assign(void *data, const struct variable *variable)
{
    const struct machine *m = data;
    return variable->kind == VARIABLE_LOCAL || (variable->kind == VARIABLE_TABLE && m->starts) ||
           (variable->kind == VARIABLE_STATE && m->states != NULL);
}

static bool operate_on_symbols(void *data, struct operation operation, const sym *operands,
                               uint32_t count, sym *out)
{
    struct symbols *s = ((struct machine *)data)->s;
    struct sym_node node = {
        .kind = (enum sym_kind)operation.kind, .type = operation.type, .operand_count = count};
    if (node.kind == SYM_BINARY || node.kind == SYM_COMPARE) node.op = operation.op;
    if (node.kind == SYM_BUILTIN) node.builtin = operation.builtin;
    memcpy(node.operands, operands, count * sizeof *operands);
    *out = sym_operation(s, node);
    return s->reason == NULL;
}

static bool read_symbolic_packet(struct evaluator *in, const struct kx *x, sym *out)
{
    const struct machine *m = in->data;
    uint64_t packet, element = 0, count = type_scalar_count(x->type);
    if (x->kind != KX_PEEK) return false;
    if (m->ports == NULL) return refuse_body(m->s, "reads packets in init");
    const struct kernel_port *port = &m->kernel->in[x->port];
    if (!evaluate_index(in, x->right, port->peek, &packet)) return false;
    if (x->left && !evaluate_index(in, x->left, port->arity, &element)) return false;
    for (uint64_t i = 0; i < count; i++)
        out[i] = m->ports->read(m->ports->data, x->port, element, packet, (uint32_t)i);
    return spend_symbols(in->data, x->span, count / 16);
}

/* Stores the scalars of an appended or set packet in `out` of the port. */
static bool store_symbolic_packet(struct evaluator *in, const struct ks *s)
{
    struct machine *m = in->data;
    uint64_t element = 0, packet = 0;
    if (m->ports == NULL) return false;
    const struct kernel_port *port = &m->kernel->out[s->port];
    if (s->element && !evaluate_index(in, s->element, port->arity, &element)) return false;
    if (s->kind == KS_STORE) {
        if (!evaluate_index(in, s->index, port->push, &packet)) return false;
    } else {
        packet = m->appended[m->first_element[s->port] + element]++;
        if (packet >= port->push) return refuse_body(m->s, "may append too much");
    }
    sym *to =
        m->ports->out[s->port] + (element * port->push + packet) * type_scalar_count(port->type);
    return evaluate(in, s->expr, to);
}

static bool execute_symbolically(struct machine *m, const struct ks *code)
{
    static const struct evaluate_domain domain = {.spend = spend_symbols,
                                                  .fail = note_fault,
                                                  .find = find_variable_value,
                                                  .may_assign = may_assign,
                                                  .operate = operate_on_symbols,
                                                  .read = read_symbolic_packet,
                                                  .write = store_symbolic_packet};
    struct evaluator in = {.domain = &domain,
                           .data = m,
                           .scratch = arena_create(),
                           .scalars_max = SCALARS_MAX,
                           .calls_max = CALLS_MAX};
    bool done = evaluate_body(&in, code, m->kernel->local_count);
    arena_destroy(in.scratch);
    return done && m->s->reason == NULL;
}

/* ---- entries ---- */

/* The scalars of the variables, all zero; NULL: too many. */
static sym **begin_variables(struct machine *m, struct variable *const *items, size_t count)
{
    sym **values = ARENA_ARRAY(m->s->arena, sym *, count + 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t scalars = type_scalar_count(items[i]->type);
        if (scalars > m->s->step_limit || !spend_symbols(m, items[i]->span, scalars / 16)) {
            refuse_body(m->s, "has too much data");
            return NULL;
        }
        values[i] = ARENA_ARRAY(m->s->arena, sym, scalars + 1);
        values_set_zero(values[i], items[i]->type);
    }
    return values;
}

bool symbolic_init(struct symbols *s, const struct kernel *kernel, const sym *const *arguments,
                   const sym *const **tables, const sym *const **states)
{
    struct machine m = {.s = s, .kernel = kernel, .arguments = arguments, .starts = true};
    m.tables = begin_variables(&m, kernel->tables.items, kernel->tables.count);
    if (states != NULL) m.states = begin_variables(&m, kernel->states.items, kernel->states.count);
    if (s->reason != NULL) return false;
    *tables = (const sym *const *)m.tables;
    if (states != NULL) *states = (const sym *const *)m.states;
    return execute_symbolically(&m, kernel->init);
}

struct unknown {
    struct symbols *s;
    sym *next;
};

static void set_scalar_unknown(enum scalar_type scalar, uint64_t offset_bytes, void *data)
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
        type_each_scalar(type, set_scalar_unknown, &(struct unknown){s, values[i]});
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
    m.first_element = ARENA_ARRAY(s->arena, uint32_t, (size_t)kernel->out_count + 1);
    for (uint32_t p = 0; p < kernel->out_count; p++) {
        const struct kernel_port *port = &kernel->out[p];
        m.first_element[p + 1] = m.first_element[p] + (uint32_t)port->arity;
        uint64_t scalars = type_scalar_count(port->type);
        for (uint64_t i = 0; i < port->arity * port->push; i++)
            values_set_zero(ports->out[p] + i * scalars, port->type);
    }
    m.appended = ARENA_ARRAY(s->arena, uint64_t, (size_t)m.first_element[kernel->out_count] + 1);
    if (!execute_symbolically(&m, kernel->body))
        return refuse_body(s, "is not the same in every firing");
    return appended_all(&m) || refuse_body(s, "appends what data decide");
}
