/* SPDX-License-Identifier: MIT */
/*
 * kernel_lanes: firings in the lanes of vectors.
 *
 * LLVM vectorises loops over firings whose bodies are straight-line code.  A body with loops of its
 * own (a FIR filter) it executes firing by firing, since a sum must not be reassociated.  Here such
 * a body is emitted a second time, with a vector of consecutive firings for every value that
 * differs between them: each lane computes exactly what the scalar code does, in the same order.
 *
 * A value is *varying* if it may differ between the lanes, else *uniform*.  A kernel is admitted
 * where
 *   - it has no state, rates that are the same for every firing but for that, and nothing that can fault;
 *   - loops, switches and jumps depend on uniform values only; `if` and selections may depend on
 *     varying ones: then both sides are executed, and assignments are masked. Such a side holds no
 *     loop that might not end: it would run where no lane takes it;
 *   - what it emits, it emits in uniform control flow, or it is one packet or none (kernel_compact.c);
 *   - structs are used by field; whole arrays and vectors are assigned in uniform control flow only.
 *
 * Method: starting from "everything is uniform", the body is walked until no variable becomes
 * varying any more.  A variable that is assigned under varying control is varying, unless it was
 * declared under the same control: then the lanes that do not execute do not see it.
 */
#include "compiler/codegen/common/kernel_lanes.h"

#include "compiler/bodies/checks.h"
#include "compiler/codegen/common/kernel_compact.h"
#include "compiler/codegen/common/kernel_count.h"
#include "compiler/codegen/common/kernel_live.h"
#include "compiler/codegen/common/kernel_llvm_rate.h"
#include "compiler/codegen/common/kernel_pad.h"
#include "compiler/codegen/common/kernel_phases.h"
#include "compiler/codegen/common/kernel_query.h"
#include "compiler/codegen/common/kernel_stream.h"
#include "compiler/codegen/common/kernel_unroll.h"
#include "compiler/codegen/common/kernel_weave.h"
#include "compiler/ir/arith.h"

/* How much of a value is worth having in vectors, what the locals of one lane may take. */
enum { VECTOR_BYTES_MAX = 256, LOCAL_BYTES_MAX = 8192 };
/* Of kernels that compute packet by packet: several registers, between which what a packet takes is shared; and how
 * large bodies are of which that does not stay in registers anyway, with packets side by side. */
enum { PACKET_LANES = 32, PACKET_NODES = 256 };
/* Programs of more kernels do with less code for each, or compiling them takes too long: without the second width,
 * which serves what the first leaves over for nearly as much code again, and with one register for each value. */
enum { RICH_KERNELS_MAX = 64 };

struct lanes {
    struct kernel_emitter *e;
    const struct kernel *kernel; /* NULL in functions */
    bool *varying;               /* by variable->index */
    uint32_t *declared; /* by variable->index: depth of varying control at the declaration */
    uint32_t local_count;
    uint32_t depth;          /* varying conditions around the statement */
    uint32_t break_depth;    /* of the innermost loop or switch */
    uint32_t continue_depth; /* of the innermost loop */
    uint32_t speculative;    /* sides of varying selections around the expression */
    uint32_t loops;          /* around the statement */
    bool changed, denied;
};

static bool visit_lane_value(struct lanes *l, const struct kx *x);
static void walk_lane_statements(struct lanes *l, const struct ks *first);

static bool deny_lanes(struct lanes *l)
{
    l->denied = true;
    return true;
}

static void mark_lane_varying(struct lanes *l, const struct variable *variable)
{
    if (l->varying[variable->index]) return;
    l->varying[variable->index] = true;
    l->changed = true;
}

/* ---- loops ---- */

/* The constant that the loop's own declaration gives to its counter. */
static bool start_of(const struct ks *init, const struct variable *counter, __int128 *start)
{
    if (init != NULL && init->kind == KS_BLOCK) init = init->body;
    for (; init != NULL; init = init->next) {
        if (init->kind != KS_DECLARE || init->variable != counter) continue;
        if (init->expr == NULL || init->expr->kind != KX_CONSTANT) return false;
        *start = arith_as_exact(init->expr->value);
        return true;
    }
    return false;
}

/* `for (TYPE i = constant; i < constant; i += constant)`, upwards and for a few rounds, where
 * nothing else assigns i: the last step stays below the bound and one pace more, which TYPE holds.  Returns how
 * many; 0: it is not of that form. */
uint64_t kernel_rounds_of(const struct ks *loop)
{
    enum { ROUNDS_MAX = 4096 };
    const struct kx *test = loop->expr, *step = loop->step;
    __int128 start;
    if (test == NULL || test->kind != KX_COMPARE || (test->op != OP_LT && test->op != OP_LE))
        return 0;
    if (test->left->kind != KX_VARIABLE || test->right->kind != KX_CONSTANT) return 0;
    const struct variable *counter = test->left->variable;
    if (counter->kind != VARIABLE_LOCAL || !type_is_integer(counter->type)) return 0;
    if (step == NULL || step->kind != KX_ASSIGN || step->op != OP_ADD ||
        step->right->kind != KX_CONSTANT || step->left->kind != KX_VARIABLE ||
        step->left->variable != counter || ks_assigns(loop->body, counter) ||
        !start_of(loop->init, counter, &start)) {
        return 0;
    }
    __int128 bound = arith_as_exact(test->right->value), pace = arith_as_exact(step->right->value);
    __int128 most = (__int128)(UINT64_MAX >> (64 - 8 * counter->type->width_bytes));
    if (scalar_is_signed(counter->type->scalar)) most /= 2;
    if (pace <= 0 || bound + pace > most || (bound - start) / pace >= ROUNDS_MAX) return 0;
    __int128 rounds = (bound - start + pace - (test->op == OP_LT ? 1 : 0)) / pace;
    return rounds > 0 ? (uint64_t)rounds : 1;
}

static bool certainly_ends(const struct ks *loop)
{
    return kernel_rounds_of(loop) > 0;
}

/* A loop that might not end where it is not meant to run. */
static bool is_open_loop(const struct ks *s, void *data)
{
    (void)data;
    return s->kind == KS_LOOP && !certainly_ends(s);
}

static bool calls_open_loop(const struct kx *x, void *data);

static bool has_open_loop(struct kernel_emitter *e, const struct function *f)
{
    if (kernel_function_of(e, f)->loops_openly == 0) {
        bool open = ks_any(f->body, is_open_loop, calls_open_loop, e);
        kernel_function_of(e, f)->loops_openly = open ? 1 : -1;
    }
    return kernel_function_of(e, f)->loops_openly > 0;
}

static bool calls_open_loop(const struct kx *x, void *data)
{
    return x->kind == KX_CALL && has_open_loop(data, x->function);
}

/* ---- expressions: whether the value is varying ---- */

/* Is the value in memory, where its parts have addresses? */
/* Structs are read from packets, tables and constants; a varying local has no layout for them. */
static bool visit_member(struct lanes *l, const struct kx *x)
{
    if (!kx_has_place(x->left)) return deny_lanes(l);
    const struct variable *root = kx_root_variable(x);
    if (root != NULL && root->kind == VARIABLE_LOCAL) return deny_lanes(l);
    return visit_lane_value(l, x->left);
}

static bool visit_index(struct lanes *l, const struct kx *x)
{
    const struct kx *base = x->left;
    if (!kx_has_place(base)) return deny_lanes(l);
    if (kernel_index_is_checked(l->e, x->right, x->check, base->type->length)) return deny_lanes(l);
    bool varying = visit_lane_value(l, base);
    return visit_lane_value(l, x->right) || varying;
}

static bool visit_peek(struct lanes *l, const struct kx *x)
{
    if (l->kernel == NULL) return deny_lanes(l);
    const struct kernel_port *port = &l->kernel->in[x->port];
    if (kernel_index_is_checked(l->e, x->right, x->check, port->peek)) return deny_lanes(l);
    if (x->left != NULL) {
        if (kernel_index_is_checked(l->e, x->left, x->element_check, port->arity))
            return deny_lanes(l);
        if (visit_lane_value(l, x->left)) return deny_lanes(l);
    }
    visit_lane_value(l, x->right);
    return true;
}

static bool visit_window(struct lanes *l, const struct kx *x)
{
    if (l->kernel == NULL) return deny_lanes(l);
    const struct kernel_port *port = &l->kernel->in[x->port];
    if (kernel_offset_is_checked(l->e, x->left, x->check, port->window_height))
        return deny_lanes(l);
    if (kernel_offset_is_checked(l->e, x->right, x->column_check, port->window_width))
        return deny_lanes(l);
    if (x->third != NULL) {
        if (kernel_index_is_checked(l->e, x->third, x->element_check, port->arity))
            return deny_lanes(l);
        if (visit_lane_value(l, x->third)) return deny_lanes(l);
    }
    visit_lane_value(l, x->left);
    visit_lane_value(l, x->right);
    return true;
}

/* Is the type copied scalar by scalar? */
static bool is_small(const struct type *type)
{
    enum { SCALARS_MAX = 64 };
    return type_base(type)->kind != TYPE_STRUCT && type_scalar_count(type) <= SCALARS_MAX;
}

/* Assignments are to locals. */
static bool visit_lane_assign(struct lanes *l, const struct kx *x)
{
    if (checks_divides_by_zero(x)) return deny_lanes(l);
    if (!type_is_scalar(x->type) && (l->depth > 0 || !is_small(x->type))) return deny_lanes(l);
    const struct kx *root = x->left;
    for (; root->kind == KX_INDEX; root = root->left) {
        if (visit_lane_value(l, root->right)) return deny_lanes(l);
    }
    if (root->kind != KX_VARIABLE || root->variable->kind != VARIABLE_LOCAL) return deny_lanes(l);
    visit_lane_value(l, x->left);
    if (visit_lane_value(l, x->right) || l->depth > l->declared[root->variable->index]) {
        mark_lane_varying(l, root->variable);
    }
    return l->varying[root->variable->index];
}

/* Under a varying condition both sides are evaluated. */
static bool visit_choice(struct lanes *l, const struct kx *x)
{
    bool varying = visit_lane_value(l, x->left);
    uint32_t deeper = varying ? 1 : 0;
    if (varying &&
        (kernel_has_effects(x->right) || (x->third != NULL && kernel_has_effects(x->third)))) {
        return deny_lanes(l);
    }
    l->speculative += deeper;
    if (visit_lane_value(l, x->right)) varying = true;
    if (x->third != NULL && visit_lane_value(l, x->third)) varying = true;
    l->speculative -= deeper;
    return varying;
}

static bool visit_call(struct lanes *l, const struct kx *x)
{
    bool varying = false;
    if (kernel_function_faults(l->e, x->function) || !type_is_scalar(x->type)) return deny_lanes(l);
    bool for_nobody = l->depth > 0 || l->speculative > 0;
    if (for_nobody && has_open_loop(l->e, x->function)) return deny_lanes(l);
    for (uint32_t i = 0; i < x->argument_count; i++) {
        const struct kx *argument = x->arguments[i];
        bool varies = visit_lane_value(l, argument);
        if (!type_is_scalar(argument->type) && (varies || argument->kind != KX_VARIABLE)) {
            return deny_lanes(l);
        }
        varying = varying || varies;
    }
    if (varying && kernel_function_lanes(l->e, x->function) == NULL) return deny_lanes(l);
    return varying;
}

static bool visit_operands(struct lanes *l, const struct kx *x)
{
    bool varying = false;
    for (uint32_t i = 0; i < kx_child_count(x); i++)
        if (kx_child(x, i) != NULL && visit_lane_value(l, kx_child(x, i))) varying = true;
    return varying;
}

static bool visit_lane_value(struct lanes *l, const struct kx *x)
{
    if (l->denied) return true;
    if (type_is_aggregate(x->type) && !kx_has_place(x) && !is_small(x->type)) return deny_lanes(l);
    switch (x->kind) {
    case KX_CONSTANT: return false;
    case KX_FIRING: return true;
    case KX_VARIABLE:
        if (x->variable->kind == VARIABLE_STATE || x->variable->kind == VARIABLE_SHARED)
            return deny_lanes(l);
        return x->variable->kind == VARIABLE_LOCAL && l->varying[x->variable->index];
    case KX_INDEX: return visit_index(l, x);
    case KX_MEMBER: return visit_member(l, x);
    case KX_PEEK: return visit_peek(l, x);
    case KX_WINDOW: return visit_window(l, x);
    case KX_ASSIGN: return visit_lane_assign(l, x);
    case KX_LOGICAL:
    case KX_SELECT: return type_is_scalar(x->type) ? visit_choice(l, x) : deny_lanes(l);
    case KX_CALL: return visit_call(l, x);
    case KX_COMMA: visit_lane_value(l, x->left); return visit_lane_value(l, x->right);
    case KX_BINARY: return checks_divides_by_zero(x) ? deny_lanes(l) : visit_operands(l, x);
    case KX_NEGATE:
    case KX_COMPLEMENT:
    case KX_NOT:
    case KX_COMPARE:
    case KX_CONVERT:
    case KX_BROADCAST:
    case KX_AGGREGATE:
    case KX_BUILTIN: return visit_operands(l, x);
    case KX_LEFT:
    case KX_PHASE:
    case KX_ITEM:
    case KX_DONE: return deny_lanes(l);
    }
    return deny_lanes(l);
}

/* ---- statements ---- */

/* The items of an initialiser are written one by one. */
static bool visit_initialiser(struct lanes *l, const struct kx *x)
{
    if (x->kind != KX_AGGREGATE) return visit_lane_value(l, x);
    if (!type_is_indexed(x->type)) return deny_lanes(l);
    bool varying = false;
    for (uint32_t i = 0; i < x->argument_count; i++) {
        if (x->arguments[i] != NULL && visit_initialiser(l, x->arguments[i])) varying = true;
    }
    return varying;
}

static void walk_lane_if(struct lanes *l, const struct ks *s)
{
    uint32_t deeper = visit_lane_value(l, s->expr) ? 1 : 0;
    l->depth += deeper;
    walk_lane_statements(l, s->body);
    walk_lane_statements(l, s->otherwise);
    l->depth -= deeper;
}

static void walk_lane_loop(struct lanes *l, const struct ks *s)
{
    uint32_t outer_break = l->break_depth, outer_continue = l->continue_depth;
    if (l->depth > 0 && !certainly_ends(s)) deny_lanes(l);
    walk_lane_statements(l, s->init);
    l->break_depth = l->continue_depth = l->depth;
    l->loops++;
    if (s->expr != NULL && visit_lane_value(l, s->expr)) deny_lanes(l);
    walk_lane_statements(l, s->body);
    l->loops--;
    if (s->step != NULL) visit_lane_value(l, s->step);
    l->break_depth = outer_break;
    l->continue_depth = outer_continue;
}

static void walk_lane_switch(struct lanes *l, const struct ks *s)
{
    uint32_t outer = l->break_depth;
    if (visit_lane_value(l, s->expr)) deny_lanes(l);
    l->break_depth = l->depth;
    walk_lane_statements(l, s->body);
    l->break_depth = outer;
}

/* Packets leave in uniform control flow, unchecked, or some of them where they can be brought together: at most one
 * of a firing, and so outside of loops. */
static void walk_output(struct lanes *l, const struct ks *s)
{
    bool some = l->kernel != NULL && kernel_out_moves(l->kernel, &l->kernel->out[s->port]);
    if (l->kernel == NULL || (some ? l->loops > 0 : l->depth > 0)) {
        deny_lanes(l);
        return;
    }
    const struct kernel_port *port = &l->kernel->out[s->port];
    if (!is_small(port->type)) deny_lanes(l);
    if (s->kind == KS_EMIT && !s->count_proven) deny_lanes(l);
    if (s->element != NULL &&
        (kernel_index_is_checked(l->e, s->element, s->element_check, port->arity) ||
         visit_lane_value(l, s->element))) {
        deny_lanes(l);
    }
    if (s->kind == KS_STORE) {
        if (kernel_index_is_checked(l->e, s->index, s->check, port->push))
            deny_lanes(l);
        else
            visit_lane_value(l, s->index);
    }
    if (!l->denied) visit_lane_value(l, s->expr);
}

static void walk_lane_statement(struct lanes *l, const struct ks *s)
{
    switch (s->kind) {
    case KS_EXPR: visit_lane_value(l, s->expr); break;
    case KS_DECLARE:
        l->declared[s->variable->index] = l->depth;
        if (type_base(s->variable->type)->kind == TYPE_STRUCT) deny_lanes(l);
        if (s->expr != NULL && visit_initialiser(l, s->expr)) mark_lane_varying(l, s->variable);
        break;
    case KS_BLOCK: walk_lane_statements(l, s->body); break;
    case KS_IF: walk_lane_if(l, s); break;
    case KS_LOOP: walk_lane_loop(l, s); break;
    case KS_SWITCH: walk_lane_switch(l, s); break;
    case KS_CASE: break;
    case KS_LAUNCH:
    case KS_FOREIGN:
    case KS_BARRIER: deny_lanes(l); break;
    case KS_BREAK:
        if (l->depth > l->break_depth) deny_lanes(l);
        break;
    case KS_CONTINUE:
        if (l->depth > l->continue_depth) deny_lanes(l);
        break;
    case KS_RETURN:
        if (l->depth > 0)
            deny_lanes(l);
        else if (s->expr != NULL)
            visit_lane_value(l, s->expr);
        break;
    case KS_STOP: deny_lanes(l); break;
    case KS_EMIT:
    case KS_STORE: walk_output(l, s); break;
    }
}

static void walk_lane_statements(struct lanes *l, const struct ks *first)
{
    for (const struct ks *s = first; s != NULL && !l->denied; s = s->next)
        walk_lane_statement(l, s);
}

static bool solve_lanes(struct lanes *l, const struct ks *body)
{
    l->declared = ARENA_ARRAY(l->e->scratch, uint32_t, l->local_count);
    do {
        l->changed = false;
        walk_lane_statements(l, body);
    } while (l->changed && !l->denied);
    return !l->denied;
}

/* ---- functions ---- */

static const bool *function_lanes(struct kernel_emitter *e, const struct function *f)
{
    struct lanes l = {.e = e, .local_count = f->local_count};
    l.varying = ARENA_ARRAY(e->scratch, bool, f->local_count + 1u);
    for (uint32_t i = 0; i < f->param_count; i++) {
        const struct variable *param = f->params[i];
        if (type_is_scalar(param->type))
            l.varying[param->index] = true;
        else if (ks_assigns(f->body, param))
            return NULL;
    }
    if (!type_is_scalar(f->result) || kernel_function_faults(e, f)) return NULL;
    return solve_lanes(&l, f->body) ? l.varying : NULL;
}

const bool *kernel_function_lanes(struct kernel_emitter *e, const struct function *f)
{
    if (kernel_function_of(e, f)->lanes_admitted == 0) {
        const bool *varying = function_lanes(e, f);
        struct kernel_function *known = kernel_function_of(e, f);
        known->varying = varying;
        known->lanes_admitted = varying != NULL ? 1 : -1;
    }
    return kernel_function_of(e, f)->varying;
}

/* ---- kernels ---- */

static bool is_loop_in_lanes(const struct ks *s, void *data)
{
    (void)data;
    return s->kind == KS_LOOP;
}

static bool calls_loop(const struct kx *x, void *data)
{
    struct kernel_emitter *e = data;
    if (x->kind != KX_CALL) return false;
    if (kernel_function_of(e, x->function)->loops == 0) {
        bool loops = ks_any(x->function->body, is_loop_in_lanes, calls_loop, e);
        kernel_function_of(e, x->function)->loops = loops ? 1 : -1;
    }
    return kernel_function_of(e, x->function)->loops > 0;
}

static bool declares_array(const struct ks *s, void *data)
{
    const struct lanes *l = data;
    return s->kind == KS_DECLARE && l->varying[s->variable->index] &&
           !type_is_scalar(s->variable->type);
}

struct width_count {
    struct kernel_emitter *e;
    const bool *varying; /* by variable->index */
    uint64_t widest_bytes;
};

static bool is_varying(const struct kx *x, void *data)
{
    const struct width_count *count = data;
    if (x->kind == KX_PEEK || x->kind == KX_WINDOW || x->kind == KX_FIRING) return true;
    return x->kind == KX_VARIABLE && x->variable->kind == VARIABLE_LOCAL &&
           count->varying[x->variable->index];
}

static void widen_count(struct width_count *count, uint64_t bytes)
{
    if (bytes > count->widest_bytes) count->widest_bytes = bytes;
}

/* The width of the widest value computed in lanes, those in called functions included. */
static bool widen_to(const struct kx *x, void *data)
{
    struct width_count *count = data;
    const struct type *item = type_base(x->type);
    if (item->kind == TYPE_SCALAR && item->width_bytes > count->widest_bytes &&
        kx_any(x, is_varying, count))
        widen_count(count, item->width_bytes);
    if (x->kind != KX_CALL || !kx_any(x, is_varying, count)) return false;
    const bool *varying = kernel_function_lanes(count->e, x->function);
    if (varying == NULL) return false;
    if (kernel_function_of(count->e, x->function)->widest_bytes == 0) {
        struct width_count inside = {count->e, varying, 1};
        ks_any(x->function->body, NULL, widen_to, &inside);
        kernel_function_of(count->e, x->function)->widest_bytes = inside.widest_bytes;
    }
    widen_count(count, kernel_function_of(count->e, x->function)->widest_bytes);
    return false;
}

/* A firing takes or gives so much that its own operations keep the processor busy. */
static bool has_blocks(const struct kernel *kernel)
{
    enum { SCALARS_MIN = 12 };
    uint64_t most = 0;
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *port = &kernel->in[i];
        if (port->peek == port->pop && port->pop > most) most = port->pop;
    }
    for (uint32_t i = 0; i < kernel->out_count; i++)
        if (kernel->out[i].push > most) most = kernel->out[i].push;
    return most >= SCALARS_MIN;
}

/* As many lanes as keep the varying variables in registers (several vectors of one variable hide
 * latencies), and no value longer than VECTOR_BYTES_MAX; of arrays and blocks, as many as a register has. */
static uint32_t best_width(struct lanes *l, uint32_t *register_lanes)
{
    struct width_count width_of = {l->e, l->varying, 1};
    bool arrays = ks_any(l->kernel->body, declares_array, NULL, l) || has_blocks(l->kernel);
    bool narrow = arrays || l->e->variants.count > RICH_KERNELS_MAX;
    uint64_t vector_bytes = l->e->isa.vector_bits / 8;
    uint64_t alive = kernel_live_bytes(l->e->scratch, l->kernel->body, l->varying, l->local_count);
    ks_any(l->kernel->body, NULL, widen_to, &width_of);
    for (uint32_t i = 0; i < l->kernel->out_count; i++)
        widen_count(&width_of, type_base(l->kernel->out[i].type)->width_bytes);
    uint64_t vector_max = narrow ? vector_bytes : VECTOR_BYTES_MAX, widest = width_of.widest_bytes;
    uint32_t width = KERNEL_LANES_MAX;
    *register_lanes = (uint32_t)(vector_bytes / widest);
    while (width > KERNEL_LANES_MIN &&
           (width * widest > vector_max ||
            (width * widest > vector_bytes && width * alive > l->e->isa.live_bytes_max)))
        width /= 2;
    return width;
}

static bool calls_function(const struct kx *x, void *data)
{
    (void)data;
    return x->kind == KX_CALL;
}

/* The packets of consecutive firings are neighbours, or become neighbours. */
static bool lie_side_by_side(struct kernel_emitter *e, const struct kernel *kernel, uint32_t lanes)
{
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *port = &kernel->in[i];
        if (port->window_width > 0) return false;
        if (port->pop != 1 && !kernel_has_in_phases(e, port, lanes, 1)) return false;
    }
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        if (port->push != 1 && !kernel_has_out_phases(e, port, lanes, 1)) return false;
    }
    return true;
}

/* LLVM makes vectors of the packets of a firing, too: of neighbouring firings they take less loads. */
static bool has_packets_for_lanes(struct kernel_emitter *e, const struct kernel *kernel)
{
    return kernel->packet_by_packet && kernel_size(e, kernel->body) >= PACKET_NODES &&
           lie_side_by_side(e, kernel, PACKET_LANES);
}

/* Straight-line code of so many operations, each of which may wait for the one before it, that LLVM
 * would not put several vectors side by side.  The live values of called functions are not known here, so such code is left to LLVM. */
static bool is_long_chain(struct kernel_emitter *e, const struct kernel *kernel)
{
    enum { LONG_NODES = 48 };
    if (!lie_side_by_side(e, kernel, KERNEL_LANES_MIN)) return false;
    if (ks_any(kernel->body, NULL, calls_function, NULL)) return false;
    return kernel_size(e, kernel->body) >= LONG_NODES;
}

/* Blocks of vectors so long that they lie far apart in lanes: a firing's own loops have more to offer. */
static bool has_long_blocks(struct kernel_emitter *e, const struct kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *port = &kernel->in[i];
        bool block = !type_is_scalar(port->type) && port->window_width == 0;
        if (block && !kernel_has_in_phases(e, port, KERNEL_LANES_MIN, 1)) return true;
    }
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        if (!type_is_scalar(port->type) && !kernel_has_out_phases(e, port, KERNEL_LANES_MIN, 1))
            return true;
    }
    return false;
}

bool kernel_plan_lanes(struct kernel_emitter *e, const struct kernel *kernel,
                       struct kernel_lane_plan *plan)
{
    struct lanes l = {.e = e, .kernel = kernel, .local_count = kernel->local_count};
    if (e->cx->options.optimisation == 0 || kernel->states.count > 0 || kernel->grouped)
        return false;
    if (e->code->threads) return false;
    if (kernel->within && !has_packets_for_lanes(e, kernel)) return false;
    bool vary = kernel_rates_vary(kernel);
    if (e->cx->options.debug_mode || (vary && !kernel_compacts(e, kernel))) return false;
    if (!vary && !ks_any(kernel->body, is_loop_in_lanes, calls_loop, e) &&
        !is_long_chain(e, kernel) && !kernel_has_windows(kernel))
        return false;
    if (kernel_size(e, kernel->body) > KERNEL_LANES_SIZE_MAX) return false;
    if (kernel_locals_bytes(kernel->body) > LOCAL_BYTES_MAX) return false;
    if (has_long_blocks(e, kernel)) return false;
    l.varying = ARENA_ARRAY(e->scratch, bool, kernel->local_count + 1u);
    if (!solve_lanes(&l, kernel->body)) return false;
    plan->varying = l.varying;
    plan->loops = kernel_plan_loops(e, kernel->body, l.varying);
    plan->repeats = !vary && kernel->phases <= 1 && kernel_counts_by_firing(e);
    uint32_t second = KERNEL_LANES_MIN, register_lanes;
    plan->widths[0] = best_width(&l, &register_lanes);
    if (kernel->packet_by_packet) plan->widths[0] = PACKET_LANES;
    bool pads = plan->repeats && kernel_pads(e, kernel);
    /* If short batches are padded, no loop uses half of a register: all its lanes take the same time. */
    if (pads && register_lanes > second) second = register_lanes;
    bool few_kernels = e->variants.count <= RICH_KERNELS_MAX;
    plan->widths[1] = plan->widths[0] > second && few_kernels ? second : 0;
    if (pads) plan->padded = plan->widths[plan->widths[1] > 0 ? 1 : 0];
    plan->weave = kernel_weave(e, kernel, plan);
    plan->pairs = plan->weave == 1 && kernel_weaves_pairs(e, kernel, plan);
    if (plan->pairs) plan->weave = 2;
    return true;
}

/* Packet by packet, of one output: its lanes are whole, consecutive lines. */
static bool kernel_streams_packets(struct kernel_emitter *e, const struct kernel *kernel)
{
    enum { LIGHT_NODES = 256 };
    if (kernel->out_count != 1 || kernel->phases > 1 || kernel_rates_vary(kernel)) return false;
    const struct kernel_port *out = &kernel->out[0];
    if (out->arity != 1 || out->push != 1 || !type_is_scalar(out->type)) return false;
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *in = &kernel->in[i];
        if (in->pop != 1 || in->window_width > 0 || !type_is_scalar(in->type)) return false;
    }
    return kernel_size(e, kernel->body) <= LIGHT_NODES;
}

bool kernel_plan_stream(struct kernel_emitter *e, const struct kernel *kernel,
                        struct kernel_lane_plan *plan)
{
    struct lanes l = {.e = e, .kernel = kernel, .local_count = kernel->local_count};
    if (e->cx->options.optimisation == 0 || e->cx->options.debug_mode || e->body->counting != NULL)
        return false;
    if (e->code->threads) return false;
    if (kernel->states.count > 0 || kernel->grouped || kernel->within) return false;
    if (!kernel_streams_packets(e, kernel)) return false;
    l.varying = ARENA_ARRAY(e->scratch, bool, kernel->local_count + 1u);
    if (!solve_lanes(&l, kernel->body)) return false;
    uint32_t register_lanes;
    *plan = (struct kernel_lane_plan){.varying = l.varying,
                                      .loops = kernel_plan_loops(e, kernel->body, l.varying),
                                      .widths = {best_width(&l, &register_lanes)}};
    return plan->widths[0] * kernel->out[0].type->width_bytes % KERNEL_LINE_BYTES == 0;
}
