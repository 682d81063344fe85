/* SPDX-License-Identifier: MIT */
/*
 * The composite's `finish`, for members with a `finish`.
 *
 * It runs when the composite's only in-port has ended, with less than an iteration's packets.  Each member, in the order
 * of an iteration, fires as often as its packets admit and then executes its own `finish`.  The members after it consume
 * these packets.  Packets between members are items of arrays of the maximum size.  No member sees a packet twice (peek =
 * pop) and no packet is at rest, so whole iterations leave no packets between the members.
 *
 * The runtime computes from the rates how many packets the members leave over (lang/container.md, "Fused nodes").  It cannot
 * know how many packets a member's `finish` has appended.  So the last statement reports these numbers, as one: of the
 * buffers inside with such a writer, in order, each number is a digit whose base is the maximum plus 1, the first one the
 * lowest.
 */
#include "compiler/ir/graph_origin.h"
#include "compiler/optimize/compose/compose_internal.h"

enum { TAIL_BYTES_MAX = 65536 }; /* all packets inside */

/* ---- where there can be one ---- */

static const struct member *find_finishing_member(const struct composer *c)
{
    for (size_t i = 0; i < c->members.count; i++)
        if (c->members.items[i].kernel->finish != NULL) return &c->members.items[i];
    return NULL;
}

static bool member_admits_finish(struct composer *c, const struct member *m)
{
    const struct kernel *k = m->kernel;
    const char *name = m->of->name;
    if (m->inlined) return compose_fail(c, "how often '%s' fires varies", name);
    for (uint32_t i = 0; i < m->input_count; i++) {
        const struct graph_input *in = m->inputs[i].end;
        if (in->peek != in->pop || k->in[in->kernel_port].window_width > 0)
            return compose_fail(c, "'%s' looks at packets again", name);
    }
    for (uint32_t p = 0; p < k->out_count; p++) {
        if (k->out[p].indexed) return compose_fail(c, "'%s' writes by index", name);
        if (k->out[p].push_least != k->out[p].push)
            return compose_fail(c, "how much '%s' writes varies", name);
        if (k->finish != NULL && k->out[p].is_array)
            return compose_fail(c, "'%s' is an array of ports", k->out[p].name);
    }
    return true;
}

static bool keeps_packets(struct composer *c)
{
    for (size_t i = 0; i < c->edges.count; i++)
        if (c->edges.items[i].initial > 0) return true;
    for (size_t i = 0; i < c->inputs.count; i++) {
        uint32_t writer = c->graph->buffers.items[c->inputs.items[i].buffer].writer_node;
        if (writer != GRAPH_NONE && compose_member_of(c, writer) != NULL) return true;
    }
    return false;
}

static bool group_admits_finish(struct composer *c)
{
    if (keeps_packets(c)) return compose_fail(c, "there are packets at rest between them");
    if (c->in.count != 1) return compose_fail(c, "all together have several inputs");
    for (size_t i = 0; i < c->members.count; i++)
        if (!member_admits_finish(c, &c->members.items[i])) return false;
    return true;
}

/* ---- maximum numbers of packets ---- */

static uint64_t most_tail_firings(const struct composer *c, const struct member *m)
{
    uint64_t most = UINT64_MAX;
    for (uint32_t i = 0; i < m->input_count; i++) {
        const struct member_input *in = &m->inputs[i];
        uint64_t have = in->edge != NULL ? in->edge->have_max : c->in.items[0].peek - 1;
        if (have / in->end->pop < most) most = have / in->end->pop;
    }
    return most;
}

static bool bound_member_packets(struct composer *c, struct member *m, uint64_t *bytes)
{
    uint64_t firings = most_tail_firings(c, m), size;
    for (uint32_t o = 0; o < m->output_count; o++) {
        const struct member_output *out = &m->outputs[o];
        uint64_t packets;
        if (__builtin_mul_overflow(firings, out->end->push, &packets) ||
            __builtin_add_overflow(packets, out->end->finish_max, &packets) ||
            packets > UINT32_MAX / 2)
            return compose_fail(c, "'%s' might write too much at its end", m->of->name);
        if (out->port != GRAPH_NONE) {
            c->out.items[out->port].finish_max = packets;
            c->out.items[out->port].finish_proven = true;
            c->outputs.items[out->port].finish_max = packets;
        }
        if (out->edge == NULL) continue;
        out->edge->have_max = packets;
        if (__builtin_mul_overflow(packets, out->edge->type->width_bytes, &size) ||
            __builtin_add_overflow(*bytes, size, bytes) || *bytes > TAIL_BYTES_MAX)
            return compose_fail(c, "what is between them at its end takes more than %d bytes",
                                TAIL_BYTES_MAX);
    }
    return true;
}

static bool bound_all_packets(struct composer *c)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < c->members.count; i++)
        if (!bound_member_packets(c, &c->members.items[i], &bytes)) return false;
    return true;
}

/* ---- a member ---- */

static struct kx *available_packets(struct composer *c, const struct member_input *in,
                                    struct span span)
{
    if (in->edge == NULL) return compose_left(c, span);
    return compose_variable(c, in->edge->have, span);
}

static struct kx *admitted_firings(struct composer *c, const struct member_input *in,
                                   struct span span)
{
    struct kx *have = available_packets(c, in, span);
    if (in->end->pop == 1) return have;
    return compose_binary(c, OP_DIV, have, compose_integer(c, in->end->pop));
}

/* i64 firings = the minimum of the firings that each in-port admits */
static struct variable *declare_firings(struct composer *c, const struct member *m, struct ks ***at)
{
    const struct span span = m->kernel->span;
    struct variable *firings = compose_local(c, "firings", c->index_type, span);
    compose_declare(c, at, firings, admitted_firings(c, &m->inputs[0], span));
    for (uint32_t i = 1; i < m->input_count; i++) {
        struct kx *so_far = compose_variable(c, firings, span);
        struct kx *less =
            compose_compare(c, OP_LT, admitted_firings(c, &m->inputs[i], span), so_far);
        compose_assign(c, at, compose_variable(c, firings, span),
                       compose_select(c, less, admitted_firings(c, &m->inputs[i], span),
                                      compose_variable(c, firings, span)));
    }
    return firings;
}

static void count_edge(struct composer *c, const struct member_output *out,
                       const struct variable *firings, struct ks ***at)
{
    struct kx *have = compose_variable(c, firings, firings->span);
    if (out->end->push != 1)
        have = compose_binary(c, OP_MUL, have, compose_integer(c, out->end->push));
    if (out->counter != NULL)
        have = compose_binary(c, OP_ADD, have, compose_variable(c, out->counter, firings->span));
    out->edge->have = compose_local(c, "packets", c->index_type, firings->span);
    compose_declare(c, at, out->edge->have, have);
}

static void add_firings(struct composer *c, struct member *m, const struct variable *firings,
                        struct ks ***at)
{
    struct firing f = {.c = c, .m = m, .outside = true, .depth = 1};
    struct ks **body;
    f.round =
        compose_loop_to(c, at, compose_variable(c, firings, firings->span), firings->span, &body);
    compose_firing(&f, &body);
}

/* Appends the member's `finish`.  Its packets follow those of the firings, and a counter holds their number. */
static void add_finish(struct composer *c, struct member *m, struct variable *firings,
                       struct ks ***at)
{
    struct firing f = {.c = c, .m = m, .outside = true, .depth = 1, .round = firings};
    for (uint32_t o = 0; o < m->output_count; o++) {
        m->outputs[o].counter = compose_local(c, "place", c->index_type, firings->span);
        compose_declare(c, at, m->outputs[o].counter, compose_integer(c, 0));
    }
    compose_finish(&f, at);
}

static void append_member_tail(struct composer *c, struct member *m, struct ks ***at)
{
    for (uint32_t o = 0; o < m->output_count; o++)
        if (m->outputs[o].edge != NULL) {
            /* Declares an array for the edge's packets, which replaces the variables of the body. */
            struct edge *edge = m->outputs[o].edge;
            const struct graph_buffer *buffer = &c->graph->buffers.items[edge->buffer];
            uint64_t places = edge->have_max > 0 ? edge->have_max : 1;
            const struct type *type = type_array(c->graph->types, edge->type, places);
            edge->array = compose_local(c, buffer->name, type, buffer->span);
            edge->streamed = false;
            struct ks *s = compose_put(c, at, KS_DECLARE, buffer->span);
            s->variable = edge->array;
            s->unset = true;
        }
    struct variable *firings = declare_firings(c, m, at);
    if (most_tail_firings(c, m) > 0) add_firings(c, m, firings, at);
    for (uint32_t o = 0; o < m->output_count; o++)
        m->outputs[o].counter = NULL;
    if (m->kernel->finish != NULL) add_finish(c, m, firings, at);
    for (uint32_t o = 0; o < m->output_count; o++)
        if (m->outputs[o].edge != NULL) count_edge(c, &m->outputs[o], firings, at);
}

/* ---- the report ---- */

/* Does the `finish` that a member was written with append to an edge?  That of a region (optimize/region) writes only what
 * its own members' firings write. */
static bool is_appended_late(const struct composer *c, const struct member *m,
                             const struct member_output *out)
{
    return out->edge != NULL && out->end->finish_max > 0 && m->kernel->finish != NULL &&
           graph_is_written_node(c->graph, m->node);
}

/* The output of this kind with the lowest buffer from `first` on; or NULL. */
static const struct member_output *next_appended(const struct composer *c, uint32_t first)
{
    const struct member_output *next = NULL;
    for (size_t i = 0; i < c->members.count; i++) {
        const struct member *m = &c->members.items[i];
        for (uint32_t o = 0; o < m->output_count; o++) {
            const struct member_output *out = &m->outputs[o];
            if (!is_appended_late(c, m, out) || out->end->buffer < first) continue;
            if (next == NULL || out->end->buffer < next->end->buffer) next = out;
        }
    }
    return next;
}

/* Requires the counters of the finishes. */
static bool report_finishes(struct composer *c, struct ks ***at)
{
    const struct member_output *out = next_appended(c, 0);
    struct kx *sum = NULL;
    uint64_t base = 1;
    for (; out != NULL; out = next_appended(c, out->end->buffer + 1)) {
        struct kx *digit = compose_variable(c, out->counter, out->counter->span);
        if (base != 1) digit = compose_binary(c, OP_MUL, digit, compose_integer(c, base));
        sum = sum == NULL ? digit : compose_binary(c, OP_ADD, sum, digit);
        if (__builtin_mul_overflow(base, out->end->finish_max + 1, &base) || base > INT64_MAX)
            return compose_fail(c, "together they might write too much at their ends");
    }
    if (sum != NULL) compose_put(c, at, KS_STOP, sum->span)->expr = sum;
    return true;
}

/* ---- all ---- */

bool compose_tail(struct composer *c)
{
    struct ks *first = NULL, **at = &first;
    const struct member *ends = find_finishing_member(c);
    if (ends == NULL) return true;
    if (!group_admits_finish(c) || !bound_all_packets(c))
        return compose_fail(c, "'%s' has a 'finish', and %s", ends->of->name, c->reason);
    for (size_t i = 0; i < c->members.count; i++)
        append_member_tail(c, &c->members.items[i], &at);
    if (!report_finishes(c, &at))
        return compose_fail(c, "'%s' has a 'finish', and %s", ends->of->name, c->reason);
    c->kernel->finish = first;
    return true;
}
