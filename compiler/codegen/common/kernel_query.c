/* SPDX-License-Identifier: MIT */
/* Questions about typed trees. */
#include "compiler/codegen/common/kernel_query.h"

#include "compiler/bodies/checks.h"
#include "compiler/codegen/common/kernel_llvm_rate.h"

/* ---- functions ---- */

struct kernel_function *kernel_function_of(struct kernel_emitter *e, const struct function *f)
{
    while (e->functions.count <= f->id) {
        vec_push(e->scratch, &e->functions, (struct kernel_function){0});
    }
    return &e->functions.items[f->id];
}

/* ---- faults ---- */

bool kernel_index_is_checked(const struct kernel_emitter *e, const struct kx *index,
                             enum access_check check, uint64_t bound)
{
    return checks_index(e->cx->options.bounds_checks, index, check, bound);
}

bool kernel_offset_is_checked(const struct kernel_emitter *e, const struct kx *offset,
                              enum access_check check, uint32_t side)
{
    return checks_offset(e->cx->options.bounds_checks, offset, check, side);
}

/* Packets that every firing sees. */
static uint64_t peek_least(const struct kernel *kernel, uint32_t port)
{
    return kernel_rate_least(kernel, kernel->in[port].peek, kernel->in[port].peeks);
}

/* Which in-port a peek means is not known here: without a proof the packet counts as checked. */
static bool peek_faults(const struct kernel_emitter *e, const struct kx *x)
{
    if (!e->cx->options.bounds_checks) return false;
    if (x->check == ACCESS_CHECKED) {
        const struct kernel *kernel = e->body != NULL ? e->body->kernel : NULL;
        bool run = e->body != NULL && e->body->entry == ENTRY_RUN;
        if (!run || kernel == NULL) return true;
        if (kernel_index_is_checked(e, x->right, x->check, peek_least(kernel, x->port)))
            return true;
    }
    return x->left != NULL && x->element_check == ACCESS_CHECKED && x->left->kind != KX_CONSTANT;
}

/* Which port a window means is not known in a function, where there is none. */
static bool window_faults(const struct kernel_emitter *e, const struct kx *x)
{
    const struct kernel_port *port = &e->body->kernel->in[x->port];
    return kernel_offset_is_checked(e, x->left, x->check, port->window_height) ||
           kernel_offset_is_checked(e, x->right, x->column_check, port->window_width) ||
           (x->third != NULL &&
            kernel_index_is_checked(e, x->third, x->element_check, port->arity));
}

static bool node_may_fault(const struct kx *x, void *data)
{
    struct kernel_emitter *e = data;
    switch (x->kind) {
    case KX_INDEX: return kernel_index_is_checked(e, x->right, x->check, x->left->type->length);
    case KX_PEEK: return peek_faults(e, x);
    case KX_WINDOW: return window_faults(e, x);
    case KX_CALL: return kernel_function_faults(e, x->function);
    case KX_DONE: return true;
    case KX_BINARY:
    case KX_ASSIGN: return checks_divides_by_zero(x);
    default: return false;
    }
}

static bool kernel_may_fault(struct kernel_emitter *e, const struct kx *x)
{
    return kx_any(x, node_may_fault, e);
}

bool kernel_function_faults(struct kernel_emitter *e, const struct function *function)
{
    if (kernel_function_of(e, function)->faults == 0) {
        bool faults = ks_any(function->body, NULL, node_may_fault, e);
        kernel_function_of(e, function)->faults = faults ? 1 : -1;
    }
    return kernel_function_of(e, function)->faults > 0;
}

/* ---- effects ---- */

static bool node_assigns(const struct kx *x, void *data)
{
    (void)data;
    return x->kind == KX_ASSIGN || x->kind == KX_DONE;
}

bool kernel_has_effects(const struct kx *x)
{
    return kx_any(x, node_assigns, NULL);
}

/* ---- speculation ---- */

bool kernel_speculates(const struct kernel_emitter *e)
{
    return e->body->mask != NULL || e->body->speculative > 0;
}

static bool node_rests_on_proofs(const struct kx *x, void *data)
{
    if (x->kind == KX_INDEX) return x->right->kind != KX_CONSTANT;
    if (x->kind == KX_CALL) return kernel_function_rests_on_proofs(data, x->function);
    return checks_divides(x) && checks_divisor_varies(x);
}

bool kernel_function_rests_on_proofs(struct kernel_emitter *e, const struct function *function)
{
    if (kernel_function_of(e, function)->rests_on_proofs == 0) {
        bool rests = ks_any(function->body, NULL, node_rests_on_proofs, e);
        kernel_function_of(e, function)->rests_on_proofs = rests ? 1 : -1;
    }
    return kernel_function_of(e, function)->rests_on_proofs > 0;
}

static bool function_is_heavy(struct kernel_emitter *e, const struct function *function);

static bool statement_is_loop(const struct ks *s, void *data)
{
    (void)data;
    return s->kind == KS_LOOP;
}

/* The range of an index in a function may rest on the condition around its call. */
static bool node_is_heavy(const struct kx *x, void *data)
{
    if (x->kind == KX_INDEX) return x->right->kind != KX_CONSTANT;
    return x->kind == KX_CALL && function_is_heavy(data, x->function);
}

static bool function_is_heavy(struct kernel_emitter *e, const struct function *function)
{
    if (kernel_function_of(e, function)->heavy == 0) {
        bool heavy = ks_any(function->body, statement_is_loop, node_is_heavy, e);
        kernel_function_of(e, function)->heavy = heavy ? 1 : -1;
    }
    return kernel_function_of(e, function)->heavy > 0;
}

/* Named by constants, and inside of the window. */
static bool packet_exists(const struct kernel_emitter *e, const struct kx *x)
{
    const struct kernel_port *port = &e->body->kernel->in[x->port];
    const struct kx *element = x->left;
    if (x->right->kind != KX_CONSTANT ||
        x->right->value.bits >= peek_least(e->body->kernel, x->port)) {
        return false;
    }
    return element == NULL || (element->kind == KX_CONSTANT && element->value.bits < port->arity);
}

static bool window_packet_exists(const struct kernel_emitter *e, const struct kx *x)
{
    const struct kernel_port *port = &e->body->kernel->in[x->port];
    const struct kx *element = x->third;
    return checks_is_within(x->left, port->window_height) &&
           checks_is_within(x->right, port->window_width) &&
           (element == NULL || (element->kind == KX_CONSTANT && element->value.bits < port->arity));
}

/* A proof that an access is in range may rest on the condition around it: only constant indices
 * count. */
static bool node_is_not_speculatable(const struct kx *x, void *data)
{
    struct kernel_emitter *e = data;
    if (!type_is_scalar(x->type) && x->kind != KX_VARIABLE && x->kind != KX_INDEX &&
        x->kind != KX_MEMBER && x->kind != KX_PEEK && x->kind != KX_WINDOW) {
        return true;
    }
    switch (x->kind) {
    case KX_ASSIGN: return true;
    case KX_INDEX:
        return x->right->kind != KX_CONSTANT || x->right->value.bits >= x->left->type->length;
    case KX_PEEK: return e->body->entry != ENTRY_RUN || !packet_exists(e, x);
    case KX_WINDOW: return !window_packet_exists(e, x);
    case KX_CALL: return function_is_heavy(e, x->function);
    default: return false;
    }
}

bool kernel_is_speculatable(struct kernel_emitter *e, const struct kx *x)
{
    return !kernel_may_fault(e, x) && !kx_any(x, node_is_not_speculatable, e);
}

/* ---- size ---- */

struct size_count {
    struct kernel_emitter *e;
    uint64_t nodes;
};

static bool count_node(const struct kx *x, void *data)
{
    struct size_count *count = data;
    count->nodes += x->type->kind == TYPE_VECTOR ? x->type->length : 1;
    if (x->kind == KX_CALL) {
        if (kernel_function_of(count->e, x->function)->size == 0) {
            uint64_t size = kernel_size(count->e, x->function->body) + 1;
            kernel_function_of(count->e, x->function)->size = size;
        }
        uint64_t calls = x->type != x->function->result ? x->type->length : 1;
        count->nodes += calls * kernel_function_of(count->e, x->function)->size;
    }
    return count->nodes > UINT32_MAX;
}

uint64_t kernel_size(struct kernel_emitter *e, const struct ks *first)
{
    struct size_count count = {e, 0};
    ks_any(first, NULL, count_node, &count);
    return count.nodes;
}

bool kernel_has_windows(const struct kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->in_count; i++)
        if (kernel->in[i].window_width > 0) return true;
    return false;
}

static bool add_local(const struct ks *s, void *data)
{
    uint64_t *bytes = data;
    if (s->kind != KS_DECLARE) return false;
    return __builtin_add_overflow(*bytes, s->variable->type->width_bytes, bytes);
}

uint64_t kernel_locals_bytes(const struct ks *first)
{
    uint64_t bytes = 0;
    return ks_any(first, add_local, NULL, &bytes) ? UINT64_MAX : bytes;
}
