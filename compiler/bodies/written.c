/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/written.h"

#include "compiler/sema/evaluate.h"

/*
 * The body is executed as far as counters go: a local has a known value where nothing but its declaration assigns it,
 * or nothing else but the step of the loop that it counts.  So no expression that is evaluated assigns a known local.
 */

enum {
    STEPS_MAX = 1 << 16,      /* statements */
    EVALUATION_MAX = 1 << 20, /* steps of all expressions */
    SCALARS_MAX = 1 << 12,
    CALLS_MAX = 16
};

struct count {
    const struct kernel *kernel;
    uint32_t port;
    struct scalar_value *values; /* by local */
    bool *known;
    uint32_t *assignments;
    bool *written; /* by packet */
    uint64_t left; /* packets */
    uint64_t steps, evaluated;
    struct evaluator in;
    bool ends_early; /* some jump may leave statements out */
};

/* ---- assignments ---- */

static bool count_assignment(const struct kx *x, void *data)
{
    struct count *c = data;
    const struct variable *root = x->kind == KX_ASSIGN ? kx_root_variable(x->left) : NULL;
    if (root != NULL && root->kind == VARIABLE_LOCAL) c->assignments[root->index]++;
    return false;
}

static bool note_jump(const struct ks *s, void *data)
{
    struct count *c = data;
    c->ends_early |= s->kind == KS_RETURN || s->kind == KS_STOP || s->kind == KS_BREAK ||
                     s->kind == KS_CONTINUE || s->kind == KS_SWITCH;
    return false;
}

/* ---- values ---- */

static bool spend_evaluation(void *data, struct span span, uint64_t steps)
{
    struct count *c = data;
    (void)span;
    c->evaluated += steps;
    return c->evaluated <= EVALUATION_MAX;
}

static void ignore_failure(void *data, const struct evaluate_error *error)
{
    (void)data;
    (void)error;
}

static struct scalar_value *find_known(void *data, const struct variable *variable)
{
    struct count *c = data;
    bool known = variable->kind == VARIABLE_LOCAL && c->known[variable->index];
    return known ? &c->values[variable->index] : NULL;
}

static bool find_value(struct count *c, const struct kx *x, struct scalar_value *value)
{
    return x != NULL && type_is_scalar(x->type) && evaluate_alone(&c->in, x, value);
}

static void set_local(struct count *c, const struct variable *local, struct scalar_value value)
{
    c->values[local->index] = value;
    c->known[local->index] = true;
}

/* ---- statements ---- */

static void count_written(struct count *c, const struct ks *s);

static void walk_store(struct count *c, const struct ks *s)
{
    const struct kernel_port *port = &c->kernel->out[s->port];
    struct scalar_value index;
    if (s->port != c->port || !find_value(c, s->index, &index)) return;
    __int128 packet = arith_as_exact(index);
    if (packet < 0 || packet >= (__int128)port->push || c->written[packet]) return;
    c->written[packet] = true;
    c->left--;
}

/* `i += constant`, where nothing else assigns i. */
static const struct variable *counter_of(const struct count *c, const struct ks *loop)
{
    const struct kx *step = loop->step;
    if (step == NULL || step->kind != KX_ASSIGN || step->op != OP_ADD ||
        step->left->kind != KX_VARIABLE || !type_is_scalar(step->left->type))
        return NULL;
    const struct variable *counter = step->left->variable;
    bool alone = counter->kind == VARIABLE_LOCAL && c->assignments[counter->index] == 1;
    return alone && step->operation == counter->type ? counter : NULL;
}

static bool declares_counter(struct count *c, const struct ks *init, const struct variable *counter)
{
    if (init != NULL && init->kind == KS_BLOCK) init = init->body;
    if (init == NULL || init->kind != KS_DECLARE || init->variable != counter || init->next != NULL)
        return false;
    struct scalar_value value;
    if (!find_value(c, init->expr, &value)) return false;
    set_local(c, counter, value);
    return true;
}

static void count_written_loop(struct count *c, const struct ks *loop)
{
    const struct variable *counter = counter_of(c, loop);
    struct scalar_value more, pace, next;
    if (counter == NULL || loop->test_after || !declares_counter(c, loop->init, counter)) return;
    while (c->steps < STEPS_MAX && find_value(c, loop->expr, &more) && arith_truth(more)) {
        count_written(c, loop->body);
        if (!find_value(c, loop->step->right, &pace) ||
            !arith_binary(OP_ADD, c->values[counter->index],
                          arith_convert(pace, counter->type->scalar), &next))
            break;
        set_local(c, counter, next);
    }
    c->known[counter->index] = false;
}

/* Does not enter an `if`: its statements may not be executed. */
static void count_written(struct count *c, const struct ks *s)
{
    for (; s != NULL && c->steps++ < STEPS_MAX; s = s->next) {
        if (s->kind == KS_BLOCK) count_written(c, s->body);
        if (s->kind == KS_STORE) walk_store(c, s);
        if (s->kind == KS_DECLARE) {
            struct scalar_value value;
            c->known[s->variable->index] = false;
            if (c->assignments[s->variable->index] == 0 && find_value(c, s->expr, &value))
                set_local(c, s->variable, value);
        }
        if (s->kind == KS_LOOP) count_written_loop(c, s);
    }
}

bool written_wholly(struct arena *scratch, const struct kernel *kernel, uint32_t port)
{
    const struct kernel_port *out = &kernel->out[port];
    if (!out->indexed || out->is_array || out->push > STEPS_MAX || kernel->phases > 1 ||
        kernel->grouped || kernel->is_child || kernel_launches_any(&kernel->launches))
        return false;
    static const struct evaluate_domain known = {
        .spend = spend_evaluation, .fail = ignore_failure, .find = find_known};
    struct count c = {.kernel = kernel, .port = port, .left = out->push};
    c.in = (struct evaluator){.domain = &known,
                              .data = &c,
                              .scratch = scratch,
                              .scalars_max = SCALARS_MAX,
                              .calls_max = CALLS_MAX};
    c.values = ARENA_ARRAY(scratch, struct scalar_value, kernel->local_count + 1u);
    c.known = ARENA_ARRAY(scratch, bool, kernel->local_count + 1u);
    c.assignments = ARENA_ARRAY(scratch, uint32_t, kernel->local_count + 1u);
    c.written = ARENA_ARRAY(scratch, bool, out->push + 1);
    ks_any(kernel->body, note_jump, count_assignment, &c);
    if (!c.ends_early) count_written(&c, kernel->body);
    return c.left == 0;
}
