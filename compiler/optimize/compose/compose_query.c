/* SPDX-License-Identifier: MIT */
/* Questions about kernels: can a node be a member, may it fault, how large is its code? */
#include "compiler/bodies/checks.h"
#include "compiler/optimize/compose/compose_internal.h"
#include "compiler/support/source.h"

#include <inttypes.h>
#include <string.h>

/* ---- faults ---- */

/* The search for faults ends here: a composite of so many expressions is never built. */
#define SIZE_LIMIT (UINT64_C(1) << 20)

struct fault_search {
    const struct kernel *kernel; /* NULL: in a function */
    bool bounds_checks;
    uint64_t *visited; /* expressions so far, calls expanded */
    const char **what; /* the fault that was found: "may divide by zero", */
    struct span *where;
};

/* Sets the fault.  Returns true, which ends the search. */
static bool set_fault(const struct fault_search *search, const char *what, struct span where)
{
    *search->what = what;
    *search->where = where;
    return true;
}

static bool may_overrun(const struct fault_search *search, const struct kx *index,
                        enum access_check check, uint64_t bound)
{
    return checks_index(search->bounds_checks, index, check, bound);
}

static bool packet_faults(const struct fault_search *search, const struct kx *x)
{
    const struct kernel_port *port = &search->kernel->in[x->port];
    return may_overrun(search, x->right, x->check, port->peek) ||
           (x->left != NULL && may_overrun(search, x->left, x->element_check, port->arity));
}

static bool may_window_fault(const struct fault_search *search, const struct kx *x)
{
    const struct kernel_port *port = &search->kernel->in[x->port];
    return checks_offset(search->bounds_checks, x->left, x->check, port->window_height) ||
           checks_offset(search->bounds_checks, x->right, x->column_check, port->window_width) ||
           (x->third != NULL && may_overrun(search, x->third, x->element_check, port->arity));
}

/* The fault of the expression itself, not of its operands; or NULL. */
static const char *fault_of(const struct fault_search *search, const struct kx *x)
{
    switch (x->kind) {
    case KX_INDEX:
        return may_overrun(search, x->right, x->check, x->left->type->length)
                   ? "may use an index outside of an array"
                   : NULL;
    case KX_PEEK: return packet_faults(search, x) ? "may look past its packets" : NULL;
    case KX_WINDOW: return may_window_fault(search, x) ? "may look past its window" : NULL;
    case KX_DONE: return "waits for an event";
    case KX_BINARY:
    case KX_ASSIGN: return checks_divides_by_zero(x) ? "may divide by zero" : NULL;
    default: return NULL;
    }
}

static bool expression_faults(const struct kx *x, void *data)
{
    struct fault_search *search = data;
    struct fault_search inside = *search;
    inside.kernel = NULL;
    if (++*search->visited > SIZE_LIMIT)
        return set_fault(search, "is too large to be searched for faults, which are not excluded",
                         x->span);
    const char *what = fault_of(search, x);
    if (what != NULL) return set_fault(search, what, x->span);
    return x->kind == KX_CALL && ks_any(x->function->body, NULL, expression_faults, &inside);
}

static bool statement_faults(const struct ks *s, void *data)
{
    const struct fault_search *search = data;
    if (s->kind == KS_FOREIGN) return set_fault(data, "may report a fault", s->span);
    if (s->kind != KS_EMIT && s->kind != KS_STORE) return false;
    const struct kernel_port *port = &search->kernel->out[s->port];
    if (s->element != NULL && may_overrun(search, s->element, s->element_check, port->arity))
        return set_fault(search, "may name a port that its array does not have", s->span);
    if (s->kind == KS_EMIT)
        return !s->count_proven &&
               set_fault(search, "may append more or fewer packets than it declares", s->span);
    return may_overrun(search, s->index, s->check, port->push) &&
           set_fault(search, "may write past its packets", s->span);
}

/* ---- returns ---- */

static const struct ks *last_statement(const struct ks *first)
{
    const struct ks *last = first;
    while (last != NULL && (last->next != NULL || last->kind == KS_BLOCK))
        last = last->next != NULL ? last->next : last->body;
    return last;
}

static bool is_other_return(const struct ks *s, void *data)
{
    return s->kind == KS_RETURN && s != (const struct ks *)data;
}

/* Is there a `return` other than the last statement? */
static bool leaves_early(const struct ks *first)
{
    union {
        const struct ks *in;
        void *out;
    } last = {.in = last_statement(first)};
    return ks_any(first, is_other_return, NULL, last.out);
}

/* ---- loops ---- */

const struct ks *compose_counter_of(const struct ks *loop)
{
    const struct ks *s = loop->init;
    while (s != NULL && s->kind == KS_BLOCK && s->next == NULL)
        s = s->body;
    return s != NULL && s->kind == KS_DECLARE && s->next == NULL ? s : NULL;
}

bool compose_continues(const struct ks *first)
{
    for (const struct ks *s = first; s != NULL; s = s->next) {
        if (s->kind == KS_CONTINUE) return true;
        if (s->kind != KS_LOOP && (compose_continues(s->body) || compose_continues(s->otherwise)))
            return true;
    }
    return false;
}

/* ---- nodes ---- */

static bool may_fault(const struct ks *section, struct fault_search *search)
{
    return ks_any(section, statement_faults, expression_faults, search);
}

bool compose_may_fault(const struct compile *cx, const struct kernel *kernel)
{
    uint64_t visited = 0;
    const char *what = NULL;
    struct span where = {0};
    struct fault_search search = {kernel, cx->options.bounds_checks, &visited, &what, &where};
    return kernel_launches_any(&kernel->launches) || may_fault(kernel->body, &search) ||
           may_fault(kernel->finish, &search);
}

const char *compose_refuses(const struct compile *cx, const struct graph *graph, uint32_t node)
{
    const struct kernel *kernel = graph->nodes.items[node].kernel;
    uint64_t visited = 0;
    const char *what = NULL;
    struct span where = {0};
    struct fault_search search = {kernel, cx->options.bounds_checks, &visited, &what, &where};
    if (kernel->foreign != NULL) return "is foreign code ('extern kernel')";
    if (kernel->unit != NULL) return "is executed by a unit of the device";
    if (kernel->grouped) return "has work-items ('group'), so a firing is a work-group of its own";
    if (kernel_launches_any(&kernel->launches)) return "launches kernels";
    if (kernel->finish != NULL && kernel->composed) return "has a 'finish'";
    for (uint32_t i = 0; i < kernel->out_count; i++)
        if (kernel->out[i].push == 0) return "writes only in its 'finish'";
    if (kernel->stops) return "may stop by itself";
    if (kernel->phases > 1) return "has rates that change from firing to firing";
    if (leaves_early(kernel->body) || leaves_early(kernel->init) || leaves_early(kernel->finish))
        return "leaves its body early";
    if (may_fault(kernel->body, &search) || may_fault(kernel->init, &search) ||
        may_fault(kernel->finish, &search)) {
        /* "may divide by zero (fft.pipe:12:5)" */
        uint32_t line, column;
        const struct source *source = source_get(cx->sources, where.source);
        if (source == NULL) return what;
        source_locate(source, where.begin, &line, &column);
        const char *slash = strrchr(source->name, '/');
        return arena_printf(cx->arena, "%s (%s:%" PRIu32 ":%" PRIu32 ")", what,
                            slash != NULL ? slash + 1 : source->name, line, column);
    }
    return NULL;
}

/* ---- size ---- */

static bool count_expression(const struct kx *x, void *data)
{
    uint64_t *size = data;
    *size += x->type->kind == TYPE_VECTOR ? x->type->length : 1;
    if (x->kind == KX_CALL) ks_any(x->function->body, NULL, count_expression, size);
    return *size >= SIZE_LIMIT;
}

uint64_t compose_size_of(const struct ks *first)
{
    uint64_t size = 1;
    ks_any(first, NULL, count_expression, &size);
    return size;
}

uint64_t compose_size(const struct kernel *kernel)
{
    return compose_size_of(kernel->body);
}

static bool is_loop_node(const struct ks *s, void *data)
{
    (void)data;
    return s->kind == KS_LOOP;
}

bool compose_loops(const struct kernel *kernel)
{
    return ks_any(kernel->body, is_loop_node, NULL, NULL);
}
