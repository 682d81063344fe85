/* SPDX-License-Identifier: MIT */
/* Reads and writes packets of a member's ports: in locals, arrays, state, or the composite's ports. */
#include "compiler/optimize/compose/compose_internal.h"

/* ---- places ---- */

/* The place of packet `index` of the firing.  A firing has `rate` packets, and the first packet of the iteration has the
 * place `base`. */
static struct kx *packet_place(struct firing *f, struct kx *index, uint64_t rate, uint64_t base)
{
    struct composer *c = f->c;
    struct kx *place = compose_offset(c, index, f->number * rate + base);
    if (f->round == NULL) return place;
    struct kx *round = compose_variable(c, f->round, index->span);
    if (rate != 1) round = compose_binary(c, OP_MUL, round, compose_integer(c, rate));
    if (place->kind == KX_CONSTANT && place->value.bits == 0) return round;
    return compose_binary(c, OP_ADD, round, compose_as_index(c, place));
}

static bool is_array(const struct edge *edge)
{
    return edge->array != NULL;
}

static struct kx *array_packet(struct firing *f, const struct edge *edge, struct kx *place)
{
    struct kx *array = compose_variable(f->c, edge->array, place->span);
    return compose_item(f->c, array, place);
}

/* ---- reading ---- */

static struct kx *input_packet(struct firing *f, const struct member_input *in, struct kx *index)
{
    struct composer *c = f->c;
    struct edge *edge = in->edge;
    if (f->packet != NULL) return compose_variable(c, f->packet, index->span);
    if (edge == NULL) {
        struct kx *x = ARENA_NEW(f->c->cx->arena, struct kx);
        *x = (struct kx){.kind = KX_PEEK,
                         .type = f->c->in.items[in->port].type,
                         .span = index->span,
                         .port = in->port,
                         .check = ACCESS_PROVEN,
                         .element_check = ACCESS_PROVEN,
                         .right = packet_place(f, index, in->end->pop, 0)};
        return x;
    }
    struct kx *place = packet_place(f, index, in->end->pop, 0);
    if (is_array(edge)) return array_packet(f, edge, place);
    return compose_variable(c, compose_edge_packet(c, edge, place->value.bits), index->span);
}

/* left(x) in a member's finish: the packets that its firings have not consumed. */
struct kx *compose_left_of(struct firing *f, const struct kx *x)
{
    struct composer *c = f->c;
    const struct member_input *in = &f->m->inputs[f->m->in[x->port].first];
    struct kx *all =
        in->edge != NULL ? compose_variable(c, in->edge->have, x->span) : compose_left(c, x->span);
    struct kx *used = compose_variable(c, f->round, x->span);
    if (in->end->pop != 1) used = compose_binary(c, OP_MUL, used, compose_integer(c, in->end->pop));
    return compose_binary(c, OP_SUB, all, used);
}

struct kx *compose_read(struct firing *f, const struct kx *x)
{
    const struct member_port *port = &f->m->in[x->port];
    struct edge *edge = f->m->inputs[port->first].edge;
    if (edge != NULL && edge->streamed) {
        uint64_t place = x->right->kind == KX_CONSTANT ? x->right->value.bits : f->streamed;
        return compose_variable(f->c, compose_edge_packet(f->c, edge, place), x->span);
    }
    struct kx *index = compose_clone(f, x->right);
    if (x->left == NULL || x->left->kind == KX_CONSTANT) {
        uint64_t element = x->left != NULL ? x->left->value.bits : 0;
        return input_packet(f, &f->m->inputs[port->first + element], index);
    }
    struct kx *joined = compose_variable(f->c, port->joined, x->span);
    return compose_item(f->c, compose_item(f->c, joined, compose_clone(f, x->left)), index);
}

/* A member with a 2-D window fires once. */
struct kx *compose_read_window(struct firing *f, const struct kx *x)
{
    const struct member_port *port = &f->m->in[x->port];
    uint64_t element = x->third != NULL ? x->third->value.bits : 0;
    struct kx *clone = arena_copy(f->c->cx->arena, x, sizeof *x);
    clone->port = f->m->inputs[port->first + element].port;
    clone->left = compose_clone(f, x->left);
    clone->right = compose_clone(f, x->right);
    clone->third = NULL;
    return clone;
}

/* ---- writing ---- */

static void write_inside(struct firing *f, struct edge *edge, struct kx *index, struct kx *value,
                         struct ks ***at)
{
    struct composer *c = f->c;
    struct kx *place = edge->streamed ? index : packet_place(f, index, edge->push, edge->initial);
    if (is_array(edge)) {
        compose_assign(c, at, array_packet(f, edge, place), value);
        return;
    }
    uint64_t number = place->value.bits;
    if (edge->packets[number] == NULL && f->depth == 0) {
        const char *name = c->graph->buffers.items[edge->buffer].name;
        edge->packets[number] = compose_local(c, name, edge->type, value->span);
        compose_declare(c, at, edge->packets[number], value);
        return;
    }
    struct variable *packet = compose_edge_packet(c, edge, number);
    compose_assign(c, at, compose_variable(c, packet, value->span), value);
}

static void write_outside(struct firing *f, const struct member_output *out, struct kx *index,
                          struct kx *value, const struct ks *s, struct ks ***at)
{
    bool set = s->kind == KS_STORE;
    struct ks *clone = compose_put(f->c, at, s->kind, s->span);
    clone->port = out->port;
    clone->expr = value;
    clone->count_proven = true;
    clone->check = clone->element_check = ACCESS_PROVEN;
    if (set) clone->index = packet_place(f, index, out->end->push, 0);
}

/* Writes a packet to the edge inside, to the composite's port, and to the firing of an inlined reader. */
static void write_everywhere(struct firing *f, const struct member_output *out, struct kx *index,
                             struct kx *value, const struct ks *s, struct ks ***at)
{
    struct composer *c = f->c;
    struct edge *edge = out->edge;
    bool outside = f->outside && out->port != GRAPH_NONE;
    bool inlined = edge != NULL && edge->form == COMPOSE_INLINED;
    bool inside = edge != NULL && !inlined;
    bool several = (outside && inside) || inlined;
    bool nobody = !outside && !inside && !(inlined && f->outside);
    struct variable *packet = NULL;
    if (nobody && !kx_assigns(value, NULL)) return;
    if (several || nobody) {
        packet = compose_local(c, "packet", value->type, value->span);
        compose_declare(c, at, packet, value);
    }
    if (inside)
        write_inside(f, edge, index,
                     packet != NULL ? compose_variable(c, packet, value->span) : value, at);
    if (outside)
        write_outside(f, out, index,
                      packet != NULL ? compose_variable(c, packet, value->span) : value, s, at);
    if (inlined && f->outside) {
        struct firing reader = {.c = f->c,
                                .m = edge->reader,
                                .packet = packet,
                                .outside = true,
                                .depth = f->depth + (f->round != NULL)};
        compose_firing(&reader, at);
    }
}

static struct kx *joined_packet(struct firing *f, const struct member_port *port,
                                struct kx *element, struct kx *index)
{
    struct kx *joined = compose_variable(f->c, port->joined, element->span);
    return compose_item(f->c, compose_item(f->c, joined, element), index);
}

static struct kx *output_counter(struct firing *f, const struct member_port *port,
                                 const struct variable *element)
{
    struct kx *counters = compose_variable(f->c, port->counters, element->span);
    return compose_item(f->c, counters, compose_variable(f->c, element, element->span));
}

/* joined[element][counters[element]++] = value */
static void append_joined(struct firing *f, const struct ks *s, struct ks ***at)
{
    struct composer *c = f->c;
    const struct member_port *port = &f->m->out[s->port];
    struct variable *element = compose_local(c, "element", c->index_type, s->span);
    compose_declare(c, at, element, compose_as_index(c, compose_clone(f, s->element)));
    struct kx *index =
        port->counters != NULL ? output_counter(f, port, element) : compose_integer(c, 0);
    struct kx *to = joined_packet(f, port, compose_variable(c, element, s->span), index);
    compose_assign(c, at, to, compose_clone(f, s->expr));
    if (port->counters == NULL) return;
    struct kx *more =
        compose_binary(c, OP_ADD, output_counter(f, port, element), compose_integer(c, 1));
    compose_assign(c, at, output_counter(f, port, element), more);
}

void compose_append(struct firing *f, const struct ks *s, struct ks ***at)
{
    struct composer *c = f->c;
    const struct member_port *port = &f->m->out[s->port];
    if (port->varying_element) {
        append_joined(f, s, at);
        return;
    }
    uint64_t element = s->element != NULL ? s->element->value.bits : 0;
    struct member_output *out = &f->m->outputs[port->first + element];
    struct kx *index = out->counter != NULL ? compose_variable(c, out->counter, s->span)
                                            : compose_integer(c, out->place);
    write_everywhere(f, out, index, compose_clone(f, s->expr), s, at);
    if (out->counter != NULL)
        compose_count(c, at, out->counter);
    else if (out->end->push > 1)
        out->place++;
}

void compose_set(struct firing *f, const struct ks *s, struct ks ***at)
{
    const struct member_port *port = &f->m->out[s->port];
    struct kx *index = compose_clone(f, s->index), *value = compose_clone(f, s->expr);
    if (port->varying_element) {
        struct kx *element = s->element != NULL
                                 ? compose_as_index(f->c, compose_clone(f, s->element))
                                 : compose_integer(f->c, 0);
        compose_assign(f->c, at, joined_packet(f, port, element, index), value);
        return;
    }
    uint64_t element = s->element != NULL ? s->element->value.bits : 0;
    write_everywhere(f, &f->m->outputs[port->first + element], index, value, s, at);
}

/* ---- ports whose elements the body computes ---- */

static const struct type *joined_type(struct composer *c, const struct kernel_port *port,
                                      uint64_t packets)
{
    const struct type *row = type_array(c->graph->types, port->type, packets);
    return type_array(c->graph->types, row, port->arity);
}

/* joined = {{packets of element 0}, ...} */
static void join_inputs(struct firing *f, uint32_t in, struct ks ***at)
{
    struct composer *c = f->c;
    struct member_port *mp = &f->m->in[in];
    const struct kernel_port *port = &f->m->kernel->in[in];
    const struct type *type = joined_type(c, port, port->peek);
    struct kx **rows = ARENA_ARRAY(c->cx->arena, struct kx *, port->arity);
    for (uint64_t e = 0; e < port->arity; e++) {
        struct kx **row = ARENA_ARRAY(c->cx->arena, struct kx *, port->peek);
        for (uint64_t i = 0; i < port->peek; i++)
            row[i] = input_packet(f, &f->m->inputs[mp->first + e], compose_integer(c, i));
        rows[e] = compose_aggregate(c, type->element, row, port->peek, port->span);
    }
    mp->joined = compose_local(c, port->name, type, port->span);
    compose_declare(c, at, mp->joined, compose_aggregate(c, type, rows, port->arity, port->span));
}

static void join_outputs(struct firing *f, uint32_t out, struct ks ***at)
{
    struct composer *c = f->c;
    struct member_port *mp = &f->m->out[out];
    const struct kernel_port *port = &f->m->kernel->out[out];
    mp->joined = compose_local(c, port->name, joined_type(c, port, port->push), port->span);
    compose_declare(c, at, mp->joined, NULL);
    mp->counters = NULL;
    if (port->indexed || port->push == 1) return;
    const struct type *counts = type_array(c->graph->types, c->index_type, port->arity);
    mp->counters = compose_local(c, "count", counts, port->span);
    compose_declare(c, at, mp->counters, NULL);
}

static void part_outputs(struct firing *f, uint32_t out, struct ks ***at)
{
    struct composer *c = f->c;
    const struct member_port *mp = &f->m->out[out];
    const struct kernel_port *port = &f->m->kernel->out[out];
    const struct ks s = {.kind = port->indexed && !f->m->inlined ? KS_STORE : KS_EMIT,
                         .span = port->span};
    for (uint64_t e = 0; e < port->arity; e++)
        for (uint64_t i = 0; i < port->push; i++) {
            struct kx *value = joined_packet(f, mp, compose_integer(c, e), compose_integer(c, i));
            write_everywhere(f, &f->m->outputs[mp->first + e], compose_integer(c, i), value, &s,
                             at);
        }
}

void compose_ports_begin(struct firing *f, struct ks ***at)
{
    const struct kernel *k = f->m->kernel;
    for (uint32_t i = 0; i < k->in_count; i++)
        if (f->m->in[i].varying_element) join_inputs(f, i, at);
    for (uint32_t o = 0; o < k->out_count; o++)
        if (f->m->out[o].varying_element) join_outputs(f, o, at);
    for (uint32_t i = 0; i < f->m->output_count; i++) {
        struct member_output *out = &f->m->outputs[i];
        out->place = 0;
        out->counter = NULL;
        if (!out->counted) continue;
        out->counter = compose_local(f->c, "place", f->c->index_type, k->span);
        compose_declare(f->c, at, out->counter, compose_integer(f->c, 0));
    }
}

void compose_ports_end(struct firing *f, struct ks ***at)
{
    for (uint32_t o = 0; o < f->m->kernel->out_count; o++)
        if (f->m->out[o].varying_element) part_outputs(f, o, at);
}
