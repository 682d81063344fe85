/* SPDX-License-Identifier: MIT */
/*
 * Buffers inside: counts the firings ahead, checks that each packet is written before it is read, and chooses the
 * variables that hold the packets.
 */
#include "compiler/optimize/compose/compose_internal.h"

#include <inttypes.h>

#include "base/plural.h"

enum {
    SCALARS_MAX = 64,      /* packets of a buffer with one local for each */
    UNROLLED_MAX = 64,     /* firings of a member that are unrolled, */
    UNROLLED_SIZE = 1024,  /* and their expressions */
    REST_MAX = 256,        /* packets of a buffer at rest between iterations */
    ROUNDS_UNROLLED = 8,   /* rounds of a loop that copies packets, when unrolled */
    EDGE_BYTES_MAX = 65536 /* of all packets inside */
};

/* Are the member's firings unrolled? */
static bool unrolls_firings(const struct member *m)
{
    uint64_t count = m->firings + m->ahead;
    if (count == 1) return true;
    return count <= UNROLLED_MAX && count * compose_size_of(m->body) <= UNROLLED_SIZE;
}

static const char *edge_name(const struct composer *c, const struct edge *edge)
{
    return c->graph->buffers.items[edge->buffer].name;
}

/* ---- firings ahead ---- */

/* The packets that readers inside see in an iteration, including those at rest. */
static uint64_t packets_seen_inside(const struct composer *c, const struct edge *edge)
{
    uint64_t most = 0;
    for (size_t i = 0; i < c->members.count; i++) {
        const struct member *m = &c->members.items[i];
        for (uint32_t n = 0; n < m->input_count; n++) {
            const struct member_input *in = &m->inputs[n];
            if (in->edge != edge) continue;
            uint64_t sees = (m->firings + m->ahead - 1) * in->end->pop + in->end->peek;
            if (sees > most) most = sees;
        }
    }
    return most;
}

static bool reads_rest(const struct member *m)
{
    for (uint32_t i = 0; i < m->input_count; i++)
        if (m->inputs[i].edge != NULL && m->inputs[i].edge->initial > 0) return true;
    return false;
}

static bool fires_ahead(struct composer *c, const struct edge *edge, uint64_t packets)
{
    struct member *w = edge->writer;
    uint64_t ahead = (packets + edge->push - 1) / edge->push;
    const char *name = w->of->name;
    if (edge->initial > 0 || reads_rest(w) || w->step_count > 1)
        return compose_fail(c, "'%s' is read %" PRIu64 " packet%s ahead, around a cycle",
                            edge_name(c, edge), packets, plural(packets));
    if (w->stateful)
        return compose_fail(
            c, "'%s' is read %" PRIu64 " packet%s ahead, and '%s', which writes it, has state",
            edge_name(c, edge), packets, plural(packets), name);
    for (uint32_t i = 0; i < w->kernel->in_count; i++)
        if (w->kernel->in[i].window_width > 0)
            return compose_fail(
                c, "'%s' is read %" PRIu64 " packet%s ahead, and '%s' has a window of rows",
                edge_name(c, edge), packets, plural(packets), name);
    if (ahead > w->ahead) w->ahead = ahead;
    return true;
}

/* Requires the firings ahead of all readers of the writer. */
static bool settle_ahead(struct composer *c, const struct member *writer)
{
    for (size_t i = 0; i < c->edges.count; i++) {
        struct edge *edge = &c->edges.items[i];
        if (edge->writer != writer || edge->form == COMPOSE_INLINED) continue;
        uint64_t held = edge->initial + writer->firings * edge->push,
                 all = packets_seen_inside(c, edge);
        if (all > held && !fires_ahead(c, edge, all - held)) return false;
    }
    return true;
}

static bool count_ahead(struct composer *c)
{
    for (size_t i = c->members.count; i-- > 0;)
        if (!settle_ahead(c, &c->members.items[i])) return false;
    for (size_t i = 0; i < c->edges.count; i++) {
        struct edge *edge = &c->edges.items[i];
        edge->places = edge->initial + (edge->writer->firings + edge->writer->ahead) * edge->push;
        if (edge->form != COMPOSE_INLINED && packets_seen_inside(c, edge) > edge->places)
            return compose_fail(c, "'%s' is read around a cycle by firings ahead",
                                edge_name(c, edge));
    }
    return true;
}

/* ---- order ---- */

static bool check_step_order(struct composer *c, const struct compose_step *step)
{
    struct member *m = compose_member_of(c, step->node);
    uint64_t last = m->fired + step->firings + (m->step_count == 1 ? m->ahead : 0);
    for (uint32_t i = 0; i < m->input_count; i++) {
        const struct member_input *in = &m->inputs[i];
        if (in->edge == NULL || m->inlined) continue;
        if ((last - 1) * in->end->pop + in->end->peek >
            in->edge->initial + in->edge->writer->fired * in->edge->push)
            return compose_fail(c, "'%s' would read '%s' before it is written", m->of->name,
                                edge_name(c, in->edge));
    }
    m->fired = last;
    return true;
}

static bool steps_in_order(struct composer *c)
{
    for (size_t i = 0; i < c->group->step_count; i++)
        if (!check_step_order(c, &c->group->steps[i])) return false;
    return true;
}

/* ---- forms ---- */

static bool reader_names_places(const struct member *m, const struct edge *edge)
{
    for (uint32_t p = 0; p < m->kernel->in_count; p++)
        for (uint64_t e = 0; e < m->kernel->in[p].arity; e++)
            if (m->inputs[m->in[p].first + e].edge == edge && m->in[p].varying_place) return false;
    return true;
}

static bool writer_names_places(const struct edge *edge)
{
    const struct member *w = edge->writer;
    for (uint32_t p = 0; p < w->kernel->out_count; p++)
        for (uint64_t e = 0; e < w->kernel->out[p].arity; e++) {
            const struct member_output *out = &w->outputs[w->out[p].first + e];
            if (out->edge == edge && (out->counted || w->out[p].varying_place)) return false;
        }
    return true;
}

static bool reads_edge(const struct member *m, const struct edge *edge)
{
    for (uint32_t i = 0; i < m->input_count; i++)
        if (m->inputs[i].edge == edge) return true;
    return false;
}

static bool is_scalars(const struct composer *c, const struct edge *edge)
{
    if (edge->places > SCALARS_MAX || !edge->writer->unrolled || !writer_names_places(edge))
        return false;
    for (size_t i = 0; i < c->members.count; i++) {
        const struct member *m = &c->members.items[i];
        if (reads_edge(m, edge) && (!m->unrolled || !reader_names_places(m, edge))) return false;
    }
    return true;
}

static bool choose_form(struct composer *c, struct edge *edge, uint64_t *bytes)
{
    uint64_t size;
    if (writer_names_places(edge) && compose_find_stream(c, edge)) edge->places = edge->push;
    if (__builtin_mul_overflow(edge->places, edge->type->width_bytes, &size) ||
        __builtin_add_overflow(*bytes, size, bytes) || *bytes > EDGE_BYTES_MAX)
        return compose_fail(c, "the packets inside take more than %d bytes", EDGE_BYTES_MAX);
    if (edge->initial > REST_MAX)
        return compose_fail(c, "'%s' keeps %" PRIu64 " packets", edge_name(c, edge), edge->initial);
    bool scalars = edge->streamed || is_scalars(c, edge);
    edge->form = scalars ? COMPOSE_SCALARS : COMPOSE_ARRAY;
    const struct span span = c->graph->buffers.items[edge->buffer].span;
    if (scalars) {
        edge->packets = ARENA_ARRAY(c->cx->arena, struct variable *, edge->places);
    } else {
        const struct type *type = type_array(c->graph->types, edge->type, edge->places);
        edge->array = compose_local(c, edge_name(c, edge), type, span);
        compose_declare_first(c, edge->array, !edge->zeroed);
    }
    if (edge->initial == 0) return true;
    edge->form = COMPOSE_STATE;
    if (!scalars) {
        const struct type *type = type_array(c->graph->types, edge->type, edge->initial);
        edge->rest_array = compose_state(c, edge_name(c, edge), type, span);
        return true;
    }
    edge->rest = ARENA_ARRAY(c->cx->arena, struct variable *, edge->initial);
    for (uint64_t i = 0; i < edge->initial; i++)
        edge->packets[i] = edge->rest[i] = compose_state(c, edge_name(c, edge), edge->type, span);
    return true;
}

bool compose_settle_edges(struct composer *c)
{
    uint64_t bytes = 0;
    if (!count_ahead(c) || !steps_in_order(c)) return false;
    for (size_t i = 0; i < c->members.count; i++)
        c->members.items[i].unrolled = unrolls_firings(&c->members.items[i]);
    for (size_t i = 0; i < c->edges.count; i++)
        if (c->edges.items[i].form != COMPOSE_INLINED &&
            !choose_form(c, &c->edges.items[i], &bytes))
            return false;
    return true;
}

/* ---- packets ---- */

struct variable *compose_edge_packet(struct composer *c, struct edge *edge, uint64_t place)
{
    struct variable **packet = &edge->packets[place];
    if (*packet == NULL) {
        const struct span span = c->graph->buffers.items[edge->buffer].span;
        *packet = compose_local(c, edge_name(c, edge), edge->type, span);
        compose_declare_first(c, *packet, !edge->zeroed);
    }
    return *packet;
}

static struct kx *item_at(struct composer *c, const struct variable *array, struct kx *index,
                          uint64_t offset)
{
    struct kx *of = compose_variable(c, array, array->span);
    return compose_item(c, of, compose_offset(c, index, offset));
}

/* to[i] = from[i + from_first] for i below `count` */
static void copy_items(struct composer *c, struct ks ***at, const struct variable *to,
                       const struct variable *from, uint64_t from_first, uint64_t count)
{
    if (count <= ROUNDS_UNROLLED) {
        for (uint64_t i = 0; i < count; i++)
            compose_assign(c, at, item_at(c, to, compose_integer(c, i), 0),
                           item_at(c, from, compose_integer(c, i), from_first));
        return;
    }
    struct ks **body;
    struct variable *i = compose_loop(c, at, count, to->span, &body);
    compose_assign(c, &body, item_at(c, to, compose_variable(c, i, to->span), 0),
                   item_at(c, from, compose_variable(c, i, to->span), from_first));
}

void compose_edges_begin(struct composer *c, struct ks ***at)
{
    for (size_t i = 0; i < c->edges.count; i++) {
        const struct edge *edge = &c->edges.items[i];
        if (edge->rest_array != NULL)
            copy_items(c, at, edge->array, edge->rest_array, 0, edge->initial);
    }
}

/* Stores the packets that are at rest for the next iteration.  A packet moves to the place of an older one, so the
 * packets move in order. */
void compose_edges_end(struct composer *c, struct ks ***at)
{
    for (size_t i = 0; i < c->edges.count; i++) {
        struct edge *edge = &c->edges.items[i];
        uint64_t first = edge->writer->firings * edge->push;
        if (edge->rest_array != NULL)
            copy_items(c, at, edge->rest_array, edge->array, first, edge->initial);
        for (uint64_t n = 0; edge->rest != NULL && n < edge->initial; n++) {
            struct variable *from = compose_edge_packet(c, edge, first + n);
            compose_assign(c, at, compose_variable(c, edge->rest[n], from->span),
                           compose_variable(c, from, from->span));
        }
    }
}
