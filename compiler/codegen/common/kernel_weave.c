/* SPDX-License-Identifier: MIT */
/*
 * kernel_weave: which firings lie side by side in the registers of a vector.
 *
 * Where a value takes R registers and the lanes are consecutive firings in order, a filter that looks at n packets
 * loads R x n registers: what one of them has seen, the next one sees later, but displaced.  Here lane l of part k
 * holds the firing l x R + k instead: then part k's packet i is part 0's packet i + k pop, the same register, and
 * n + R - 1 loads will do.  The window is read by phases (kernel_phases.c), of R firings; what the lanes append is put
 * in order again by them.  Each lane computes what it did before.
 *
 * LLVM finds the loads that are the same where their places are constants: in loops that are written out, or that do
 * not move over packets.  Under --fast-math nothing is woven: LLVM then brings written-out sums into another order, for
 * which there are too few registers.
 */
#include "compiler/codegen/common/kernel_weave.h"

#include "compiler/codegen/common/kernel_lanes.h"
#include "compiler/codegen/common/kernel_llvm_rate.h"
#include "compiler/codegen/common/kernel_pairs.h"
#include "compiler/codegen/common/kernel_phases.h"
#include "compiler/codegen/common/kernel_unroll.h"

struct weaving {
    struct kernel_emitter *e;
    const struct kernel *kernel;
    const bool *varying;              /* by variable->index */
    const struct kernel_loops *loops; /* that may be written out */
};

static bool is_woven_varying(const struct kx *x, void *data)
{
    const struct weaving *w = data;
    if (x->kind == KX_PEEK || x->kind == KX_WINDOW) return true;
    return x->kind == KX_VARIABLE && x->variable->kind == VARIABLE_LOCAL &&
           w->varying[x->variable->index];
}

static bool is_varying_woven(struct weaving *w, const struct kx *x)
{
    return kx_any(x, is_woven_varying, w);
}

/* A packet, or a part of one, whose place differs between the lanes: it is read where the window is. */
static bool peeks_anywhere(const struct kx *x, void *data)
{
    struct weaving *w = data;
    if (x->kind == KX_PEEK) return is_varying_woven(w, x->right);
    if (x->kind == KX_WINDOW) return is_varying_woven(w, x->left) || is_varying_woven(w, x->right);
    if (x->kind != KX_INDEX) return false;
    const struct kx *root = x->left;
    while (root->kind == KX_INDEX || root->kind == KX_MEMBER)
        root = root->left;
    return root->kind == KX_PEEK && is_varying_woven(w, x->right);
}

/* The same of what is appended. */
static bool stores_anywhere(const struct ks *s, void *data)
{
    return s->kind == KS_STORE && is_varying_woven(data, s->index);
}

static bool moves_over_packets(const struct kx *x, void *data)
{
    const struct weaving *w = data;
    if (x->kind == KX_WINDOW) return x->left->kind != KX_CONSTANT || x->right->kind != KX_CONSTANT;
    return x->kind == KX_PEEK && x->right->kind != KX_CONSTANT &&
           w->kernel->in[x->port].peek > w->kernel->in[x->port].pop;
}

/* A loop over packets that several firings see, which is not written out. */
static bool rolls_over_packets(const struct ks *s, void *data)
{
    struct weaving *w = data;
    return s->kind == KS_LOOP && ks_any(s->body, NULL, moves_over_packets, w) &&
           !kernel_is_written_out(w->loops, s);
}

static bool ports_weave(struct kernel_emitter *e, const struct kernel *kernel, uint32_t lanes,
                        uint32_t weave)
{
    bool shared = false;
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *port = &kernel->in[i];
        if (!kernel_has_in_phases(e, port, lanes, weave)) return false;
        if (port->peek / (UINT64_C(2) * weave) >= port->pop) shared = true;
    }
    for (uint32_t i = 0; i < kernel->out_count; i++)
        if (!kernel_has_out_phases(e, &kernel->out[i], lanes, weave)) return false;
    return shared;
}

static uint64_t widest_bytes(const struct kernel *kernel)
{
    uint64_t widest = 1;
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        uint64_t bytes = type_base(kernel->in[i].type)->width_bytes;
        if (bytes > widest) widest = bytes;
    }
    return widest;
}

uint32_t kernel_weave(struct kernel_emitter *e, const struct kernel *kernel,
                      const struct kernel_lane_plan *plan)
{
    struct weaving w = {e, kernel, plan->varying, plan->loops};
    uint32_t lanes = plan->widths[0];
    uint64_t vector_bytes = e->isa.vector_bits / 8, bytes = lanes * widest_bytes(kernel);
    uint64_t registers = bytes / vector_bytes;
    uint32_t weave = registers < KERNEL_WEAVE_MAX ? (uint32_t)registers : KERNEL_WEAVE_MAX;
    if (weave < 2 || e->cx->options.fast_math || kernel_rates_vary(kernel)) return 1;
    if (ks_any(kernel->body, stores_anywhere, peeks_anywhere, &w)) return 1;
    if (ks_any(kernel->body, rolls_over_packets, NULL, &w)) return 1;
    while (weave > 1 && !ports_weave(e, kernel, lanes, weave))
        weave /= 2;
    return weave;
}

/* Bytes, one a firing, of which it sees an odd number side by side. */
static bool is_of_pairs(const struct kernel_port *port, uint64_t packets, uint64_t columns)
{
    return !port->is_array && type_is_scalar(port->type) && port->type->width_bytes == 1 &&
           packets == 1 && columns % 2 == 1;
}

static bool makes_word(const struct kx *x, void *data)
{
    (void)data;
    return kernel_is_packet_word(x);
}

bool kernel_weaves_pairs(struct kernel_emitter *e, const struct kernel *kernel,
                         const struct kernel_lane_plan *plan)
{
    struct weaving w = {e, kernel, plan->varying, plan->loops};
    if (plan->widths[0] % (e->isa.vector_bits / 8) != 0) return false;
    if (!ks_any(kernel->body, NULL, makes_word, NULL)) return false;
    if (kernel->in_count == 0 || kernel_rates_vary(kernel)) return false;
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *in = &kernel->in[i];
        if (!is_of_pairs(in, in->pop, in->window_width > 0 ? in->window_width : in->peek))
            return false;
    }
    for (uint32_t i = 0; i < kernel->out_count; i++)
        if (kernel->out[i].indexed || !is_of_pairs(&kernel->out[i], kernel->out[i].push, 1))
            return false;
    return !ks_any(kernel->body, NULL, peeks_anywhere, &w) &&
           !ks_any(kernel->body, rolls_over_packets, NULL, &w);
}
