/* SPDX-License-Identifier: MIT */
#include "base/arithmetic.h"
#include "compiler/optimize/compose/compose_internal.h"

#include <assert.h>
#include <inttypes.h>

#include "compiler/bodies/written.h"

/* The maximum of firings of one member in an iteration. */
#define FIRINGS_MAX (UINT64_C(1) << 20)
enum {
    JOINED_MAX = 4096
}; /* packets of all elements of a port, where the body computes the element */

struct member *compose_member_of(struct composer *c, uint32_t node)
{
    for (size_t i = 0; i < c->members.count; i++)
        if (c->members.items[i].node == node) return &c->members.items[i];
    return NULL;
}

/* ---- how the members' bodies access their ports ---- */

struct port_search {
    struct member *m;
    uint32_t port;
    uint64_t element;
    bool found;
};

static bool see_packet(const struct kx *x, void *data)
{
    struct member *m = data;
    if (x->kind == KX_WINDOW) {
        if (x->third != NULL && x->third->kind != KX_CONSTANT)
            m->in[x->port].varying_element = true;
    } else if (x->kind == KX_PEEK) {
        if (x->left != NULL && x->left->kind != KX_CONSTANT) m->in[x->port].varying_element = true;
        if (x->right->kind != KX_CONSTANT) m->in[x->port].varying_place = true;
    }
    return false;
}

static bool see_output(const struct ks *s, void *data)
{
    struct member *m = data;
    if (s->kind != KS_EMIT && s->kind != KS_STORE) return false;
    if (s->element != NULL && s->element->kind != KX_CONSTANT)
        m->out[s->port].varying_element = true;
    if (s->kind == KS_STORE && s->index->kind != KX_CONSTANT) m->out[s->port].varying_place = true;
    return false;
}

static bool appends_to(const struct ks *s, void *data)
{
    const struct port_search *search = data;
    if (s->kind != KS_EMIT || s->port != search->port) return false;
    return (s->element != NULL ? s->element->value.bits : 0) == search->element;
}

/* Do the statements append the same number of packets to the element on every path?  If so, adds it to *count. */
static bool counts_alike(const struct ks *first, struct port_search *search, uint64_t *count)
{
    for (const struct ks *s = first; s != NULL; s = s->next) {
        uint64_t other = *count;
        if (appends_to(s, search)) ++*count;
        if ((s->kind == KS_LOOP || s->kind == KS_SWITCH) &&
            ks_any(s->body, appends_to, NULL, search))
            return false;
        if (s->kind == KS_BLOCK && !counts_alike(s->body, search, count)) return false;
        if (s->kind == KS_IF && (!counts_alike(s->body, search, count) ||
                                 !counts_alike(s->otherwise, search, &other) || *count != other))
            return false;
    }
    return true;
}

/* ---- members ---- */

static void bind_ends(struct composer *c, struct member *m)
{
    const struct kernel *k = m->kernel;
    struct arena *arena = c->cx->arena;
    m->in = ARENA_ARRAY(arena, struct member_port, k->in_count + 1u);
    m->out = ARENA_ARRAY(arena, struct member_port, k->out_count + 1u);
    for (uint32_t p = 0; p < k->in_count; p++) {
        m->in[p].first = m->input_count;
        m->input_count += (uint32_t)k->in[p].arity;
    }
    for (uint32_t p = 0; p < k->out_count; p++) {
        m->out[p].first = m->output_count;
        m->output_count += (uint32_t)k->out[p].arity;
    }
    m->inputs = ARENA_ARRAY(arena, struct member_input, m->input_count + 1u);
    m->outputs = ARENA_ARRAY(arena, struct member_output, m->output_count + 1u);
    for (size_t i = 0; i < m->of->inputs.count; i++) {
        const struct graph_input *in = &m->of->inputs.items[i];
        m->inputs[m->in[in->kernel_port].first + in->element].end = in;
    }
    for (size_t i = 0; i < m->of->outputs.count; i++) {
        const struct graph_output *out = &m->of->outputs.items[i];
        struct member_output *end = &m->outputs[m->out[out->kernel_port].first + out->element];
        end->end = out;
        end->port = GRAPH_NONE;
    }
}

static void read_body(struct composer *c, struct member *m)
{
    m->body = compose_unroll(c, m);
    ks_any(m->body, see_output, see_packet, m);
    /* The number of an inlined firing is known only at run time, and so are the places of the
     * packets that it stores by index. These packets are collected in `joined`, and appended at
     * the end of the firing. */
    for (uint32_t p = 0; m->inlined && p < m->kernel->out_count; p++)
        if (m->kernel->out[p].indexed) m->out[p].varying_element = true;
    /* If a firing pushes one packet, its place is 0, so it is never `counted`. */
    for (uint32_t p = 0; p < m->kernel->out_count; p++) {
        const struct kernel_port *port = &m->kernel->out[p];
        for (uint64_t e = 0; e < port->arity; e++) {
            struct port_search search = {.port = p, .element = e};
            uint64_t count = 0;
            if (port->indexed || port->push == 1 || m->out[p].varying_element) continue;
            m->outputs[m->out[p].first + e].counted = !counts_alike(m->body, &search, &count);
        }
    }
}

static bool count_step_firings(struct composer *c, const struct compose_step *step)
{
    struct member *m = compose_member_of(c, step->node);
    if (m == NULL) {
        const struct graph_node *of = &c->graph->nodes.items[step->node];
        struct member new = {.node = step->node, .of = of, .kernel = of->kernel};
        size_t index = vec_push(c->cx->arena, &c->members, new);
        m = &c->members.items[index];
    }
    assert(m != NULL);
    m->firings += step->firings;
    m->step_count++;
    if (step->firings > FIRINGS_MAX || m->firings > FIRINGS_MAX)
        return compose_fail(c, "'%s' would fire more than %" PRIu64 " times", m->of->name,
                            FIRINGS_MAX);
    return true;
}

static bool find_members(struct composer *c)
{
    for (size_t i = 0; i < c->group->step_count; i++)
        if (!count_step_firings(c, &c->group->steps[i])) return false;
    for (size_t i = 0; i < c->members.count; i++) {
        struct member *m = &c->members.items[i];
        bind_ends(c, m);
        m->least = m->firings;
    }
    return true;
}

/* ---- buffers inside ---- */

static struct member_input *reader_input(struct composer *c, const struct graph_reader *reader)
{
    struct member *m = compose_member_of(c, reader->node);
    if (m == NULL) return NULL;
    const struct graph_input *in = &m->of->inputs.items[reader->input];
    return &m->inputs[m->in[in->kernel_port].first + in->element];
}

static bool is_buffer_kept(const struct composer *c, uint32_t buffer)
{
    return c->group->kept != NULL && c->group->kept[buffer];
}

static bool is_read_inside(struct composer *c, uint32_t index)
{
    const struct graph_buffer *buffer = &c->graph->buffers.items[index];
    if (is_buffer_kept(c, index)) return false;
    for (size_t i = 0; i < buffer->readers.count; i++)
        if (reader_input(c, &buffer->readers.items[i]) != NULL) return true;
    return false;
}

static bool is_read_outside_composite(struct composer *c, uint32_t index)
{
    const struct graph_buffer *buffer = &c->graph->buffers.items[index];
    if (is_buffer_kept(c, index)) return true;
    for (size_t i = 0; i < buffer->readers.count; i++)
        if (reader_input(c, &buffer->readers.items[i]) == NULL) return true;
    return buffer->outer == GRAPH_OUTER_OUT;
}

/* The data decide how many packets are written, so the reader's firing stands where a packet is written. */
static bool inline_reader(struct composer *c, struct edge *edge, const struct graph_buffer *buffer)
{
    struct member *reader = NULL;
    for (size_t i = 0; i < buffer->readers.count; i++) {
        struct member *m = compose_member_of(c, buffer->readers.items[i].node);
        if (m == NULL) continue;
        if (reader != NULL)
            return compose_fail(c, "'%s' and '%s' read '%s', whose rate varies", reader->of->name,
                                m->of->name, buffer->name);
        reader = m;
    }
    assert(reader != NULL); /* add_inside_edge found a reader inside */
    const struct graph_input *in =
        reader->of->inputs.count == 1 ? &reader->of->inputs.items[0] : NULL;
    if (in == NULL || in->pop != 1 || in->peek != 1 || reader->kernel->in[0].window_width > 0)
        return compose_fail(c, "the rate of '%s' varies, and '%s' needs more than one packet of it",
                            buffer->name, reader->of->name);
    if (buffer->initial.packets > 0)
        return compose_fail(c, "the rate of '%s' varies, and it has initial packets", buffer->name);
    edge->form = COMPOSE_INLINED;
    edge->reader = reader;
    reader->inlined = true;
    return true;
}

static bool is_written_in_part(struct composer *c, const struct member *w, uint32_t port)
{
    return w->kernel->out[port].indexed && !written_wholly(c->cx->arena, w->kernel, port);
}

static bool add_inside_edge(struct composer *c, struct member *w, struct member_output *out)
{
    const struct graph_buffer *buffer = &c->graph->buffers.items[out->end->buffer];
    if (!is_read_inside(c, out->end->buffer)) return true;
    struct edge edge = {.buffer = out->end->buffer,
                        .type = buffer->type,
                        .writer = w,
                        .initial = buffer->initial.packets,
                        .push = out->end->push,
                        .zeroed = is_written_in_part(c, w, out->end->kernel_port)};
    bool exact = out->end->push_least == out->end->push && !w->inlined;
    if (!exact && !inline_reader(c, &edge, buffer)) return false;
    vec_push(c->cx->arena, &c->edges, edge);
    return true;
}

static void connect_edge(struct composer *c, struct edge *edge)
{
    const struct graph_buffer *buffer = &c->graph->buffers.items[edge->buffer];
    const struct graph_output *out = graph_writer(c->graph, buffer);
    edge->writer->outputs[edge->writer->out[out->kernel_port].first + out->element].edge = edge;
    for (size_t i = 0; i < buffer->readers.count; i++) {
        struct member_input *in = reader_input(c, &buffer->readers.items[i]);
        if (in != NULL) in->edge = edge;
    }
    if (edge->form != COMPOSE_INLINED) return;
    uint64_t least = out->push_least, most = out->push;
    struct member *reader = edge->reader;
    bool many = __builtin_mul_overflow(edge->writer->least, least, &reader->least) ||
                __builtin_mul_overflow(edge->writer->firings, most, &reader->firings);
    if (many || reader->firings > FIRINGS_MAX)
        compose_fail(c, "'%s' might fire more than %" PRIu64 " times", reader->of->name,
                     FIRINGS_MAX);
}

static bool find_edges(struct composer *c)
{
    for (size_t i = 0; i < c->members.count; i++) {
        struct member *w = &c->members.items[i];
        for (uint32_t o = 0; o < w->output_count; o++)
            if (!add_inside_edge(c, w, &w->outputs[o])) return false;
    }
    for (size_t i = 0; i < c->edges.count && c->reason == NULL; i++)
        connect_edge(c, &c->edges.items[i]);
    return c->reason == NULL;
}

/* ---- ports that are used element by element ---- */

static bool joins_are_small(struct composer *c, const struct member *m)
{
    for (uint32_t p = 0; p < m->kernel->in_count; p++) {
        const struct kernel_port *port = &m->kernel->in[p];
        if (!m->in[p].varying_element) continue;
        if (port->window_width > 0 || m->inlined || port->peek > JOINED_MAX / port->arity)
            return compose_fail(c, "'%s' computes which element of '%s' it reads", m->of->name,
                                port->name);
    }
    for (uint32_t p = 0; p < m->kernel->out_count; p++) {
        const struct kernel_port *port = &m->kernel->out[p];
        if (!m->out[p].varying_element) continue;
        if (port->push_least != port->push || port->push > JOINED_MAX / port->arity)
            return compose_fail(c, "'%s' computes which element of '%s' it writes", m->of->name,
                                port->name);
    }
    return true;
}

static bool row_windows_fit(struct composer *c, const struct member *m)
{
    for (uint32_t i = 0; i < m->input_count; i++) {
        const struct member_input *in = &m->inputs[i];
        if (m->kernel->in[in->end->kernel_port].window_width == 0) continue;
        if (in->edge != NULL)
            return compose_fail(c, "'%s' looks at rows of '%s'", m->of->name,
                                c->graph->buffers.items[in->edge->buffer].name);
        if (m->firings != 1)
            return compose_fail(c, "'%s' looks at rows, and would fire %" PRIu64 " times",
                                m->of->name, m->firings);
    }
    return true;
}

/* ---- ports of the composite ---- */

static bool same_window(const struct kernel_port *a, const struct kernel_port *b)
{
    return a->window_width == b->window_width && a->window_height == b->window_height &&
           (a->window_width == 0 || a->border == b->border);
}

static const char *composed_port_name(struct composer *c, const struct member *m, const char *port)
{
    return arena_printf(c->cx->arena, "%s.%s", m->of->name, port);
}

/* An existing in-port with the same buffer, pop and window; or a new one. */
static uint32_t find_in_port(struct composer *c, const struct member *m,
                             const struct graph_input *end)
{
    const struct kernel_port *port = &m->kernel->in[end->kernel_port];
    uint64_t pop = m->firings * end->pop;
    uint32_t i = 0;
    while (i < c->in.count && (c->inputs.items[i].buffer != end->buffer ||
                               c->in.items[i].pop != pop || !same_window(&c->in.items[i], port)))
        i++;
    if (i < c->in.count) return i;
    struct kernel_port new = {.name = composed_port_name(c, m, end->port),
                              .span = port->span,
                              .type = port->type,
                              .arity = 1,
                              .rate_declared = true,
                              .rate_span = port->span,
                              .pop = pop,
                              .window_width = port->window_width,
                              .window_height = port->window_height,
                              .border = port->border,
                              .window_span = port->window_span};
    struct graph_input input = *end;
    input.port = new.name;
    input.kernel_port = i;
    input.element = 0;
    input.pop = pop;
    input.peek = 0;
    vec_push(c->cx->arena, &c->in, new);
    vec_push(c->cx->arena, &c->inputs, input);
    return i;
}

static void add_outer_output(struct composer *c, const struct member *m, struct member_output *out)
{
    const struct graph_output *end = out->end;
    const struct kernel_port *port = &m->kernel->out[end->kernel_port];
    struct kernel_port new = {.name = composed_port_name(c, m, end->port),
                              .span = port->span,
                              .type = port->type,
                              .arity = 1,
                              .rate_declared = true,
                              .rate_span = port->rate_declared ? port->rate_span : port->span,
                              .push_least = m->least * end->push_least,
                              .push = m->firings * end->push,
                              .indexed = port->indexed && !m->inlined,
                              .count_proven = true};
    new.own_push_least = new.push_least;
    new.own_push = new.push;
    struct graph_output output = *end;
    out->port = (uint32_t)c->out.count;
    output.port = new.name;
    output.kernel_port = out->port;
    output.element = 0;
    output.push_least = new.push_least;
    output.push = new.push;
    vec_push(c->cx->arena, &c->out, new);
    vec_push(c->cx->arena, &c->outputs, output);
}

/* The new number of the bundle of `end`: that of an earlier end of the same bundle, or the next free one. */
static uint32_t bundle_number(const struct kernel_step *of, const struct kernel_step *steps,
                              size_t end, uint32_t bundles)
{
    for (size_t i = 0; i < end; i++)
        if (of[i].bundle == of[end].bundle) return steps[i].bundle;
    return bundles + 1;
}

/* Ends of one member that are written in step (struct kernel_step) stay in step in the composite. */
static void keep_steps(struct composer *c)
{
    size_t count = c->out.count;
    struct kernel_step *steps = ARENA_ARRAY(c->cx->arena, struct kernel_step, count + 1);
    struct kernel_step *members = ARENA_ARRAY(c->cx->arena, struct kernel_step, count + 1);
    uint32_t ends = 0, bundles = 0;
    for (size_t i = 0; i < c->members.count; i++) {
        const struct member *m = &c->members.items[i];
        for (uint32_t o = 0; o < m->output_count; o++) {
            if (m->outputs[o].port == GRAPH_NONE) continue;
            struct kernel_step step = {o + 1, 1};
            if (m->kernel->steps != NULL) step = m->kernel->steps[o];
            members[m->outputs[o].port] = (struct kernel_step){ends + step.bundle, step.share};
        }
        ends += m->output_count;
    }
    for (size_t o = 0; o < count; o++) {
        steps[o].bundle = bundle_number(members, steps, o, bundles);
        steps[o].share = members[o].share;
        if (steps[o].bundle > bundles) bundles = steps[o].bundle;
    }
    c->kernel->steps = steps;
}

static bool add_outer_ports(struct composer *c)
{
    for (size_t i = 0; i < c->members.count; i++) {
        struct member *m = &c->members.items[i];
        for (uint32_t n = 0; n < m->input_count; n++)
            if (m->inputs[n].edge == NULL) {
                struct member_input *in = &m->inputs[n];
                const struct graph_input *end = in->end;
                in->port = find_in_port(c, m, end);
                struct kernel_port *port = &c->in.items[in->port];
                uint64_t before = (m->firings + m->ahead - 1) * end->pop;
                uint64_t kernel_peek = before + m->kernel->in[end->kernel_port].peek;
                uint64_t peek = before + end->peek; /* a 2-D window sees more of the buffer */
                if (kernel_peek > port->peek) port->peek = kernel_peek;
                if (peek > c->inputs.items[in->port].peek) c->inputs.items[in->port].peek = peek;
            }
        for (uint32_t o = 0; o < m->output_count; o++)
            if (is_read_outside_composite(c, m->outputs[o].end->buffer))
                add_outer_output(c, m, &m->outputs[o]);
    }
    const uint64_t rate_max = UINT64_C(1) << 31;
    for (size_t i = 0; i < c->in.count; i++)
        if (c->in.items[i].peek > rate_max)
            return compose_fail(c, "an iteration reads more than 2^31 packets");
    for (size_t i = 0; i < c->out.count; i++)
        if (c->out.items[i].push > rate_max)
            return compose_fail(c, "an iteration writes more than 2^31 packets");
    return true;
}

/* ---- blocks ---- */

static uint64_t begin_block(uint64_t bytes)
{
    enum { BLOCK_ALIGNMENT = 16 };
    return align_up(bytes, BLOCK_ALIGNMENT);
}

/* A copy of the member's variable for the composite, whose block of this member begins at `begin`. */
static struct variable *move_variable(struct composer *c, const struct member *m,
                                      const struct variable *v, uint64_t begin, size_t index)
{
    struct variable *moved = arena_copy(c->cx->arena, v, sizeof *v);
    moved->name = arena_printf(c->cx->arena, "%s.%s", m->of->name, v->name);
    moved->offset_bytes += begin;
    moved->index = (uint32_t)index;
    return moved;
}

static void add_arguments(struct composer *c, struct member *m)
{
    struct kernel *k = c->kernel;
    struct arena *arena = c->cx->arena;
    uint64_t begin = begin_block(k->arguments_bytes);
    m->arguments = ARENA_ARRAY(arena, struct variable *, m->kernel->argument_count + 1u);
    for (uint32_t i = 0; i < m->kernel->argument_count; i++) {
        struct kx *value = m->of->arguments[i];
        if (kx_is_constant(value)) continue;
        m->arguments[i] = move_variable(c, m, m->kernel->arguments[i], begin, c->arguments.count);
        vec_push(arena, &c->arguments, value);
        k->arguments[k->argument_count++] = m->arguments[i];
        k->arguments_bytes = begin + m->kernel->arguments_bytes;
    }
}

static void add_blocks(struct composer *c, struct member *m)
{
    struct kernel *k = c->kernel;
    struct arena *arena = c->cx->arena;
    const struct kernel *mk = m->kernel;
    uint64_t tables = begin_block(k->tables_bytes), states = begin_block(k->state_bytes);
    m->tables = ARENA_ARRAY(arena, struct variable *, mk->tables.count + 1);
    m->states = ARENA_ARRAY(arena, struct variable *, mk->states.count + 1);
    for (size_t i = 0; i < mk->tables.count; i++) {
        m->tables[i] = move_variable(c, m, mk->tables.items[i], tables, k->tables.count);
        vec_push(arena, &k->tables, m->tables[i]);
    }
    for (size_t i = 0; i < mk->states.count; i++) {
        if (compose_counter(m, mk->states.items[i]) != NULL) continue;
        m->states[i] = move_variable(c, m, mk->states.items[i], states, k->states.count);
        vec_push(arena, &k->states, m->states[i]);
    }
    if (mk->tables.count > 0) k->tables_bytes = tables + mk->tables_bytes;
    if (m->stateful) k->state_bytes = states + mk->state_bytes;
}

static void add_member_variables(struct composer *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->members.count; i++)
        count += c->members.items[i].kernel->argument_count;
    c->kernel->arguments = ARENA_ARRAY(c->cx->arena, struct variable *, count + 1);
    c->kernel->argument_defaults = ARENA_ARRAY(c->cx->arena, struct kx *, count + 1);
    for (size_t i = 0; i < c->members.count; i++) {
        add_arguments(c, &c->members.items[i]);
        add_blocks(c, &c->members.items[i]);
    }
}

/* ---- initial packets ---- */

struct values {
    const struct graph_initial *initial;
    uint64_t next;
};

static struct kx *initial_value(struct composer *c, const struct type *type, struct values *values)
{
    const struct span span = values->initial->span;
    if (type_is_scalar(type)) {
        struct kx *x = compose_integer(c, 0);
        uint64_t count = values->initial->value_count;
        x->type = type;
        x->span = span;
        x->value = (struct scalar_value){type->scalar, 0};
        if (count > 0) x->value = values->initial->values[values->next++ % count];
        return x;
    }
    bool is_struct = type->kind == TYPE_STRUCT;
    uint64_t count = is_struct ? type->field_count : type->length;
    struct kx **items = ARENA_ARRAY(c->cx->arena, struct kx *, count);
    for (uint64_t i = 0; i < count; i++)
        items[i] = initial_value(c, is_struct ? type->fields[i].type : type->element, values);
    return compose_aggregate(c, type, items, count, span);
}

static void initialise_rest(struct composer *c, const struct edge *edge, struct ks ***at)
{
    struct values values = {.initial = &c->graph->buffers.items[edge->buffer].initial};
    const struct span span = values.initial->span;
    for (uint64_t i = 0; edge->rest != NULL && i < edge->initial; i++)
        compose_assign(c, at, compose_variable(c, edge->rest[i], span),
                       initial_value(c, edge->type, &values));
    if (edge->rest_array != NULL)
        compose_assign(c, at, compose_variable(c, edge->rest_array, span),
                       initial_value(c, edge->rest_array->type, &values));
}

/* ---- the kernel ---- */

static struct ks *make_body(struct composer *c)
{
    struct ks *first = NULL, **at = &first;
    compose_edges_begin(c, &at);
    for (size_t i = 0; i < c->members.count; i++)
        c->members.items[i].fired = 0;
    for (size_t i = 0; i < c->group->step_count; i++) {
        const struct compose_step *step = &c->group->steps[i];
        struct member *m = compose_member_of(c, step->node);
        if (m->inlined) continue;
        if (m->streams != NULL) {
            if (m->streams->writer != m) compose_stream(c, m->streams, &at);
            continue;
        }
        compose_firings(c, m, m->fired, step->firings, true, &at);
        m->fired += step->firings;
        if (m->ahead > 0) compose_firings(c, m, m->fired, m->ahead, false, &at);
    }
    compose_edges_end(c, &at);
    *c->prologue = first;
    return c->declarations;
}

static uint64_t add_cycles(uint64_t sum, uint64_t firings, uint64_t cycles)
{
    uint64_t all;
    if (__builtin_mul_overflow(firings, cycles, &all) || __builtin_add_overflow(sum, all, &sum) ||
        sum > (uint64_t)GRAPH_COST_MAX)
        return GRAPH_COST_MAX;
    return sum;
}

static bool make_kernel(struct composer *c)
{
    struct kernel *k = c->kernel;
    c->prologue = &c->declarations;
    add_member_variables(c);
    if (!compose_settle_edges(c) || !add_outer_ports(c)) return false;
    k->in = c->in.items;
    k->in_count = (uint32_t)c->in.count;
    k->out = c->out.items;
    k->out_count = (uint32_t)c->out.count;
    keep_steps(c);
    k->state_bytes = begin_block(k->state_bytes);
    struct ks *first = NULL, **at = &first;
    for (size_t i = 0; i < c->edges.count; i++)
        initialise_rest(c, &c->edges.items[i], &at);
    for (size_t i = 0; i < c->members.count; i++)
        if (c->members.items[i].kernel->init != NULL) compose_init(c, &c->members.items[i], &at);
    k->init = first;
    k->body = make_body(c);
    compose_zip(c);
    if (!compose_tail(c)) return false;
    for (size_t i = 0; i < c->members.count; i++) {
        const struct member *m = &c->members.items[i];
        k->cost_cycles = add_cycles(k->cost_cycles, m->firings + m->ahead, m->of->cost_cycles);
    }
    return true;
}

/* ---- the node ---- */

static void make_node(struct composer *c, struct composite *composite)
{
    const struct graph_node *first = c->members.items[0].of;
    struct graph_node *node = &composite->node;
    *node = (struct graph_node){.name = c->group->name,
                                .span = first->span,
                                .kernel = c->kernel,
                                .arguments = c->arguments.items,
                                .importance = first->importance,
                                .stateful = c->kernel->states.count > 0,
                                .cost_cycles = c->kernel->cost_cycles};
    for (size_t i = 0; i < c->members.count; i++)
        node->cost_declared |= c->members.items[i].of->cost_declared;
    for (size_t i = 0; i < c->inputs.count; i++)
        vec_push(c->cx->arena, &node->inputs, c->inputs.items[i]);
    for (size_t i = 0; i < c->outputs.count; i++)
        vec_push(c->cx->arena, &node->outputs, c->outputs.items[i]);
}

static void report_parts(struct composer *c, struct composite *composite)
{
    for (size_t i = 0; i < c->members.count; i++) {
        const struct member *m = &c->members.items[i];
        struct compose_member member = {m->node, m->firings, m->ahead, m->inlined};
        vec_push(c->cx->arena, &composite->members, member);
    }
    for (size_t i = 0; i < c->edges.count; i++) {
        const struct edge *edge = &c->edges.items[i];
        struct compose_inside inside = {edge->buffer, edge->form, edge->places};
        vec_push(c->cx->arena, &composite->inside, inside);
    }
}

static bool compose_group(struct composer *c)
{
    if (!find_members(c) || !find_edges(c)) return false;
    for (size_t i = 0; i < c->members.count; i++)
        compose_find_counters(c, &c->members.items[i]);
    for (size_t i = 0; i < c->members.count; i++)
        read_body(c, &c->members.items[i]);
    for (size_t i = 0; i < c->members.count; i++)
        if (!joins_are_small(c, &c->members.items[i]) || !row_windows_fit(c, &c->members.items[i]))
            return false;
    return make_kernel(c);
}

static bool are_all_within(const struct graph *graph, const struct compose_group *group)
{
    for (size_t i = 0; i < group->step_count; i++)
        if (!graph->nodes.items[group->steps[i].node].kernel->within) return false;
    return true;
}

bool compose(struct compile *cx, const struct graph *graph, const struct compose_group *group,
             struct composite *composite, const char **reason)
{
    const struct graph_node *first = &graph->nodes.items[group->steps[0].node];
    struct composer c = {.cx = cx,
                         .graph = graph,
                         .group = group,
                         .kernel = ARENA_NEW(cx->arena, struct kernel),
                         .index_type = type_scalar(graph->types, SCALAR_I64)};
    *c.kernel = (struct kernel){.name = group->name,
                                .title = group->name,
                                .span = first->kernel->span,
                                .phases = 1,
                                .group = {1, 1, 1},
                                .composed = true};
    *composite = (struct composite){0};
    c.kernel->within = are_all_within(graph, group);
    if (!compose_group(&c)) {
        *reason = c.reason;
        return false;
    }
    make_node(&c, composite);
    report_parts(&c, composite);
    return true;
}
