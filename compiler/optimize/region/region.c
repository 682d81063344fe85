/* SPDX-License-Identifier: MIT */
#include "compiler/optimize/region/region.h"

#include "compiler/optimize/compose/compose.h"
#include "compiler/ir/expr_build.h"
#include "compiler/ir/ratio.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    ATTEMPT_STEPS = 1000000, /* of one region */
    INIT_STEPS = 8000000,    /* of the `init` of one kernel */
    ALL_STEPS = 40000000,    /* of a graph: about a second */
    ATTEMPT_NODES = 1 << 16, /* operations added by one region */
    FIRINGS_MAX = 1 << 12,   /* of a member in an iteration */
    PACKETS_MAX = 1 << 16,   /* of an end in an iteration */
    ARGUMENT_SCALARS_MAX = 512,
};

struct region_space region_space(struct compile *cx, const struct graph *graph,
                                 struct arena *scratch)
{
    size_t nodes = graph->nodes.count;
    struct region_space space = {.cx = cx,
                                 .graph = graph,
                                 .scratch = scratch,
                                 .symbols = symbols_begin(scratch),
                                 .nodes = ARENA_ARRAY(scratch, struct region_node, nodes),
                                 .steps_left = ALL_STEPS,
                                 .member_of = ARENA_ARRAY(scratch, uint32_t, nodes + 1),
                                 .required =
                                     ARENA_ARRAY(scratch, uint64_t, graph->buffers.count + 1)};
    for (size_t i = 0; i < nodes; i++)
        space.member_of[i] = GRAPH_NONE;
    return space;
}

/* ---- attempts: if one fails, others may still succeed ---- */

static void attempt_begin(struct region_space *space, uint64_t steps)
{
    struct symbols *s = &space->symbols;
    s->reason = NULL;
    s->steps = 0;
    s->step_limit = steps < space->steps_left ? steps : space->steps_left;
    s->node_limit = s->nodes.count + ATTEMPT_NODES;
}

static bool attempt_end(struct region_space *space, const char **reason)
{
    struct symbols *s = &space->symbols;
    space->steps_left -= s->steps < space->steps_left ? s->steps : space->steps_left;
    if (s->reason != NULL) *reason = s->reason;
    bool done = s->reason == NULL;
    s->reason = NULL;
    return done;
}

/* ---- the symbols that values depend on ---- */

static void want_value(struct region_space *space, sym value)
{
    if (sym_is_constant(value) || space->seen.items[value.bits] == space->walk) return;
    space->seen.items[value.bits] = space->walk;
    vec_push(space->scratch, &space->pending, (uint32_t)value.bits);
}

/* Begins a walk that meets each wanted symbol, and each symbol that it depends on, once. */
static void walk_begin(struct region_space *space)
{
    while (space->seen.count < space->symbols.nodes.count)
        vec_push(space->scratch, &space->seen, 0);
    space->pending.count = 0;
    space->walk++;
}

/* The next symbol of the walk, or NULL at its end. */
static const struct sym_node *walk_next(struct region_space *space)
{
    if (space->pending.count == 0) return NULL;
    const struct sym_node *n =
        &space->symbols.nodes.items[space->pending.items[--space->pending.count]];
    for (uint32_t k = 0; k < n->operand_count; k++)
        want_value(space, n->operands[k]);
    return n;
}

/* ---- counting ---- */

void region_count(struct region_space *space, const sym *values, size_t count, uint64_t *operations,
                  uint64_t *loads)
{
    *operations = *loads = 0;
    walk_begin(space);
    for (size_t i = 0; i < count; i++)
        want_value(space, values[i]);
    for (const struct sym_node *n; (n = walk_next(space)) != NULL;) {
        *loads += n->kind == SYM_PACKET;
        *operations += n->operand_count > 0;
    }
}

/* ---- nodes ---- */

static bool is_plain_packet(const struct type *type)
{
    return (type->kind == TYPE_SCALAR && !type_is_half(type)) ||
           (type->kind == TYPE_VECTOR && !type_is_half(type->element));
}

static const char *refuse_kernel(const struct kernel *kernel)
{
    if (kernel->foreign != NULL) return "is foreign code";
    if (kernel->unit != NULL) return "is executed by a unit of the device";
    if (kernel->phases > 1) return "has phases";
    if (kernel->stops) return "ends the stream itself";
    if (kernel->finish != NULL) return "has 'finish'";
    if (kernel->states.count > 0) return "has state";
    if (kernel->grouped || kernel->shared.count > 0) return "has work-items";
    if (kernel->is_child || kernel_launches_any(&kernel->launches)) return "launches kernels";
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        if (kernel->in[i].window_width > 0) return "has a 2-D window";
        if (!is_plain_packet(kernel->in[i].type)) return "reads packets that are no numbers";
    }
    for (uint32_t i = 0; i < kernel->out_count; i++)
        if (!is_plain_packet(kernel->out[i].type)) return "writes packets that are no numbers";
    return NULL;
}

/* The work grows with in-ends x out-ends. */
enum { ENDS_MAX = 1024 };

static const char *refuse_node(const struct graph *graph, const struct graph_node *node)
{
    if (node->inputs.count == 0) return "is a source";
    if (node->outputs.count == 0) return "is a sink";
    if (node->inputs.count + node->outputs.count > ENDS_MAX) return "has too many ends";
    if (node->cost_declared) return "has a declared cost";
    for (size_t i = 0; i < node->inputs.count; i++) {
        if (node->inputs.items[i].pop == 0) return "pops nothing";
        if (graph->buffers.items[node->inputs.items[i].buffer].shape.row_packets > 0)
            return "reads rows";
    }
    for (size_t i = 0; i < node->outputs.count; i++)
        if (!graph_is_exact(node, &node->outputs.items[i]) || node->outputs.items[i].push == 0)
            return "has a rate that varies";
    return refuse_kernel(node->kernel);
}

/* Scalar `k` of an argument becomes an argument by itself. */
static sym member_argument(struct region_space *space, uint32_t node, uint32_t argument, uint64_t k)
{
    const struct graph_node *of = &space->graph->nodes.items[node];
    const struct variable *whole = of->kernel->arguments[argument];
    struct kx *value = of->arguments[argument];
    struct variable *variable = arena_copy(space->cx->arena, whole, sizeof *whole);
    if (!type_is_scalar(whole->type)) {
        const struct expr_build t = {
            .arena = space->cx->arena, .types = space->graph->types, .span = value->span};
        variable->name = arena_printf(t.arena, "%s[%" PRIu64 "]", whole->name, k);
        value = build_scalar_place(&t, value, k);
        variable->type = value->type;
    }
    size_t number = vec_push(space->scratch, &space->arguments,
                             (struct region_argument){node, variable, value});
    return sym_argument(&space->symbols, value->type->scalar, (uint32_t)number);
}

static void set_member_arguments(struct region_space *space, uint32_t node)
{
    const struct graph_node *of = &space->graph->nodes.items[node];
    uint32_t count = of->kernel->argument_count;
    const sym **values = ARENA_ARRAY(space->scratch, const sym *, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct kx *value = of->arguments[i];
        if (kx_is_constant(value)) {
            values[i] = kx_constant_scalars(value);
            continue;
        }
        uint64_t scalars = type_scalar_count(value->type);
        sym *each = ARENA_ARRAY(space->scratch, sym, (size_t)scalars);
        for (uint64_t k = 0; k < scalars; k++)
            each[k] = member_argument(space, node, i, k);
        values[i] = each;
    }
    space->nodes[node].symbolic.arguments = values;
}

/* Values of an array are arguments of their own only where each is there without computing the others. */
static const char *refuse_arguments(const struct graph_node *node)
{
    for (uint32_t i = 0; i < node->kernel->argument_count; i++) {
        const struct kx *value = node->arguments[i];
        enum scalar_type scalar = type_base(value->type)->scalar;
        if (scalar == SCALAR_F16 || scalar == SCALAR_BF16)
            return "has an argument of half precision";
        if (type_is_scalar(value->type) || kx_is_constant(value)) continue;
        if (value->kind != KX_VARIABLE) return "has an array that is computed as an argument";
        if (type_scalar_count(value->type) > ARGUMENT_SCALARS_MAX)
            return "has an argument with many values";
    }
    return NULL;
}

static const char *set_tables(struct region_space *space, uint32_t node)
{
    struct region_node *of = &space->nodes[node];
    const struct kernel *kernel = of->symbolic.kernel;
    const char *reason = NULL;
    if (kernel->tables.count == 0) return NULL;
    attempt_begin(space, INIT_STEPS);
    if (!symbolic_init(&space->symbols, kernel, of->symbolic.arguments, &of->symbolic.tables, NULL))
        if (space->symbols.reason == NULL) space->symbols.reason = "has tables not known";
    attempt_end(space, &reason);
    return reason;
}

static const char *begin_node(struct region_space *space, uint32_t node)
{
    const struct graph_node *of = &space->graph->nodes.items[node];
    const char *reason = refuse_node(space->graph, of);
    if (reason == NULL) reason = refuse_arguments(of);
    if (reason != NULL) return reason;
    space->nodes[node].symbolic.kernel = of->kernel;
    set_member_arguments(space, node);
    attempt_begin(space, INIT_STEPS);
    symbolic_unknown_tables(&space->symbols, of->kernel, &space->nodes[node].symbolic.tables);
    attempt_end(space, &reason);
    return reason;
}

/* The number of packets of the stream that the values depend on. */
static uint64_t packets_seen(struct region_space *space, const struct region *region,
                             const struct region_end *in)
{
    bool *seen = ARENA_ARRAY(space->scratch, bool, in->packets + 1);
    uint64_t count = 0;
    walk_begin(space);
    for (size_t o = 0; o < region->out.count; o++) {
        const struct region_end *out = &region->out.items[o];
        const struct type *type = space->graph->buffers.items[out->buffer].type;
        for (uint64_t i = 0; i < out->packets * type_scalar_count(type); i++)
            want_value(space, out->values[i]);
    }
    for (const struct sym_node *n; (n = walk_next(space)) != NULL;) {
        if (n->kind != SYM_PACKET || n->stream != in->buffer || n->packet >= in->packets) continue;
        count += !seen[n->packet];
        seen[n->packet] = true;
    }
    return count;
}

static void skim_values(struct region_space *space, const struct region *alone,
                        struct region_node *of)
{
    for (size_t i = 0; i < alone->in.count; i++)
        of->drops |= packets_seen(space, alone, &alone->in.items[i]) < alone->in.items[i].packets;
    for (size_t o = 0; o < alone->out.count; o++) {
        const struct region_end *out = &alone->out.items[o];
        const struct type *type = space->graph->buffers.items[out->buffer].type;
        for (uint64_t i = 0; i < out->packets * type_scalar_count(type); i++)
            of->makes_constants |= sym_is_constant(out->values[i]);
    }
}

const struct region_node *region_skim(struct region_space *space, uint32_t node)
{
    struct region_node *of = &space->nodes[node];
    struct region alone;
    const char *reason = NULL;
    if (of->skimmed) return of;
    of->skimmed = true;
    of->reason = begin_node(space, node);
    if (of->reason == NULL && region_build(space, &node, 1, &alone, &reason))
        skim_values(space, &alone, of);
    return of;
}

const struct region_node *region_look(struct region_space *space, uint32_t node)
{
    struct region_node *of = &space->nodes[node];
    struct region alone;
    region_skim(space, node);
    if (of->known) return of;
    of->known = true;
    if (of->reason == NULL) of->reason = set_tables(space, node);
    if (of->reason == NULL && region_build(space, &node, 1, &alone, &of->reason)) {
        of->operations = alone.operations;
        of->loads = alone.loads;
    }
    return of;
}

/* ---- shape: firings of the members, buffers outside ---- */

struct build {
    struct region_space *space;
    struct region *region;
    uint32_t *member_of; /* by node: number of the member, or GRAPH_NONE */
    sym ****made;        /* by member and firing: the scalars by out-port; NULL: not fired yet */
    uint64_t *made_room; /* by member: required firings, those ahead included */
    uint64_t *required;  /* by buffer: required packets */
    uint32_t nesting;
};

static bool is_build_member(const struct build *b, uint32_t node)
{
    return node != GRAPH_NONE && b->member_of[node] != GRAPH_NONE;
}

/* Is the buffer written by a member?  Then its packets are computed on demand. */
static bool is_inside(const struct build *b, uint32_t buffer)
{
    return is_build_member(b, b->space->graph->buffers.items[buffer].writer_node);
}

/* Orders the members: each one after the writers of its inside in-ends.  False: there is a cycle. */
static bool order_members(struct build *b, const uint32_t *nodes, size_t count)
{
    const struct graph *graph = b->space->graph;
    struct region *region = b->region;
    bool *placed = ARENA_ARRAY(b->space->scratch, bool, count);
    for (size_t progress = 1; progress > 0 && region->members.count < count;) {
        progress = 0;
        for (size_t i = 0; i < count; i++) {
            const struct graph_node *node = &graph->nodes.items[nodes[i]];
            bool ready = !placed[i];
            for (size_t e = 0; ready && e < node->inputs.count; e++) {
                uint32_t writer = graph->buffers.items[node->inputs.items[e].buffer].writer_node;
                for (size_t k = 0; k < count; k++)
                    if (nodes[k] == writer && !placed[k]) ready = false;
            }
            if (!ready) continue;
            placed[i] = true;
            progress++;
            b->member_of[nodes[i]] = (uint32_t)region->members.count;
            vec_push(b->space->scratch, &region->members, (struct region_member){nodes[i], 0});
        }
    }
    return region->members.count == count;
}

static bool set_firings(struct build *b, const char **reason)
{
    const struct graph *graph = b->space->graph;
    uint64_t common = 0;
    for (size_t m = 0; m < b->region->members.count; m++)
        common = gcd64(common, graph->nodes.items[b->region->members.items[m].node].repetitions);
    assert(common > 0); /* liveness/rate gives every node a repetition */
    for (size_t m = 0; m < b->region->members.count; m++) {
        struct region_member *member = &b->region->members.items[m];
        member->firings = graph->nodes.items[member->node].repetitions / common;
        if (member->firings > FIRINGS_MAX) {
            *reason = "fires too often in an iteration";
            return false;
        }
    }
    return true;
}

static const char *refuse_inside(const struct graph_buffer *buffer)
{
    if (buffer->initial.packets > 0) return "holds initial packets";
    if (buffer->depth_declared) return "has a declared depth";
    return NULL;
}

static bool add_in_end(struct build *b, uint32_t buffer, uint64_t packets, const char **reason)
{
    for (size_t i = 0; i < b->region->in.count; i++) {
        struct region_end *end = &b->region->in.items[i];
        if (end->buffer == buffer && end->packets != packets) {
            *reason = "reads a buffer at two paces";
            return false;
        }
        if (end->buffer == buffer) return true;
    }
    vec_push(b->space->scratch, &b->region->in,
             (struct region_end){.buffer = buffer, .packets = packets});
    return true;
}

/* Is some reader no member, or is there no reader? */
static bool leaves_region(const struct build *b, const struct graph_buffer *buffer)
{
    if (buffer->outer == GRAPH_OUTER_OUT) return true;
    for (size_t r = 0; r < buffer->readers.count; r++)
        if (!is_build_member(b, buffer->readers.items[r].node)) return true;
    return false;
}

static bool add_member_ends(struct build *b, const struct region_member *member,
                            const char **reason)
{
    const struct graph *graph = b->space->graph;
    const struct graph_node *node = &graph->nodes.items[member->node];
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        const struct graph_buffer *buffer = &graph->buffers.items[in->buffer];
        uint64_t packets;
        if (is_inside(b, in->buffer)) {
            *reason = refuse_inside(buffer);
            if (*reason != NULL) return false;
            continue;
        }
        if (__builtin_mul_overflow(member->firings, in->pop, &packets) || packets > PACKETS_MAX) {
            *reason = "reads too much in an iteration";
            return false;
        }
        if (!add_in_end(b, in->buffer, packets, reason)) return false;
    }
    for (size_t o = 0; o < node->outputs.count; o++) {
        const struct graph_output *out = &node->outputs.items[o];
        uint64_t packets;
        if (!leaves_region(b, &graph->buffers.items[out->buffer])) continue;
        if (__builtin_mul_overflow(member->firings, out->push, &packets) || packets > PACKETS_MAX) {
            *reason = "writes too much in an iteration";
            return false;
        }
        vec_push(b->space->scratch, &b->region->out,
                 (struct region_end){.buffer = out->buffer, .packets = packets});
    }
    return true;
}

/* ---- needs ---- */

/* Sets needs: the packets of each in-end that packet `packet` of the out-end needs.  False: too many. */
static bool find_needs(struct build *b, const struct region_end *out, uint64_t packet,
                       uint64_t *needs)
{
    const struct graph *graph = b->space->graph;
    struct region *region = b->region;
    for (size_t m = 0; m < region->members.count; m++) {
        /* Resets `required` of the node's buffers. */
        const struct graph_node *node = &graph->nodes.items[region->members.items[m].node];
        for (size_t i = 0; i < node->inputs.count; i++)
            b->required[node->inputs.items[i].buffer] = 0;
        for (size_t o = 0; o < node->outputs.count; o++)
            b->required[node->outputs.items[o].buffer] = 0;
    }
    b->required[out->buffer] = packet + 1;
    for (size_t m = region->members.count; m-- > 0;) {
        const struct graph_node *node = &graph->nodes.items[region->members.items[m].node];
        uint64_t firings = 0, last;
        for (size_t o = 0; o < node->outputs.count; o++) {
            const struct graph_output *end = &node->outputs.items[o];
            uint64_t packets = b->required[end->buffer];
            uint64_t these = packets / end->push + (packets % end->push != 0);
            if (these > firings) firings = these;
        }
        if (firings > b->made_room[m]) b->made_room[m] = firings;
        for (size_t i = 0; firings > 0 && i < node->inputs.count; i++) {
            const struct graph_input *in = &node->inputs.items[i];
            if (firings > FIRINGS_MAX || __builtin_mul_overflow(firings - 1, in->pop, &last) ||
                __builtin_add_overflow(last, in->peek, &last) || last > PACKETS_MAX)
                return false;
            if (last > b->required[in->buffer]) b->required[in->buffer] = last;
        }
    }
    for (size_t i = 0; i < region->in.count; i++)
        needs[i] = b->required[region->in.items[i].buffer];
    return true;
}

/* Do the in-ends have the same type, rates and needs, so that they can be interleaved in one buffer? */
static bool ends_are_alike(const struct build *b)
{
    const struct graph *graph = b->space->graph;
    const struct region *region = b->region;
    size_t ins = region->in.count;
    const struct region_end *first = &region->in.items[0];
    for (size_t i = 1; i < ins; i++) {
        const struct region_end *in = &region->in.items[i];
        if (in->packets != first->packets || in->peek != first->peek ||
            graph->buffers.items[in->buffer].type != graph->buffers.items[first->buffer].type)
            return false;
    }
    for (size_t o = 0; o < region->out.count; o++) {
        const struct region_end *out = &region->out.items[o];
        for (uint64_t j = 0; j < out->packets * ins; j++)
            if (out->needs[j] != out->needs[j / ins * ins]) return false;
    }
    return first->peek <= PACKETS_MAX / ins;
}

static void find_faults(struct region_space *space)
{
    const struct graph *graph = space->graph;
    uint32_t *walk = ARENA_ARRAY(space->scratch, uint32_t, graph->nodes.count + 1), count = 0;
    space->after_fault = ARENA_ARRAY(space->scratch, bool, graph->nodes.count + 1);
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        if (!compose_may_fault(space->cx, graph->nodes.items[i].kernel)) continue;
        space->after_fault[i] = true;
        walk[count++] = i;
    }
    while (count > 0) {
        const struct graph_node *node = &graph->nodes.items[walk[--count]];
        for (size_t o = 0; o < node->outputs.count; o++) {
            const struct graph_buffer *buffer =
                &graph->buffers.items[node->outputs.items[o].buffer];
            for (size_t r = 0; r < buffer->readers.count; r++) {
                uint32_t reader = buffer->readers.items[r].node;
                if (space->after_fault[reader]) continue;
                space->after_fault[reader] = true;
                walk[count++] = reader;
            }
        }
    }
}

/* May a fault before the region withhold packets that it reads?  Then its `finish` does not run, although its members
 * would have written the packets of a part of an iteration. */
static bool may_be_kept_back(const struct build *b)
{
    struct region_space *space = b->space;
    if (space->after_fault == NULL) find_faults(space);
    for (size_t i = 0; i < b->region->in.count; i++) {
        uint32_t writer = space->graph->buffers.items[b->region->in.items[i].buffer].writer_node;
        if (writer != GRAPH_NONE && space->after_fault[writer]) return true;
    }
    return false;
}

static bool set_needs(struct build *b, const char **reason)
{
    struct region *region = b->region;
    size_t ins = region->in.count;
    for (size_t o = 0; o < region->out.count; o++) {
        struct region_end *out = &region->out.items[o];
        out->needs = ARENA_ARRAY(b->space->scratch, uint64_t, ins * out->packets + 1);
        for (uint64_t j = 0; j < out->packets; j++)
            if (!find_needs(b, out, j, &out->needs[j * ins])) {
                *reason = "looks too far ahead";
                return false;
            }
        const uint64_t *last = &out->needs[(out->packets - 1) * ins];
        for (size_t i = 0; i < ins; i++)
            if (last[i] > region->in.items[i].peek) region->in.items[i].peek = last[i];
    }
    for (size_t i = 0; i < ins; i++)
        if (region->in.items[i].peek < region->in.items[i].packets) {
            *reason = "pops packets that it never looks at";
            return false;
        }
    for (size_t o = 0; o < region->out.count; o++) {
        const struct region_end *out = &region->out.items[o];
        for (uint64_t j = 0; j < out->packets; j++)
            for (size_t i = 0; i < ins; i++) {
                bool whole = out->needs[j * ins + i] == region->in.items[i].peek;
                region->ends_late |= !whole;
                if (whole || j + 1 < out->packets) continue;
                *reason = "has outputs that are ready at different times";
                return false;
            }
    }
    if (region->ends_late && may_be_kept_back(b)) {
        *reason = "would write too late what a fault before it leaves";
        return false;
    }
    region->interleaved = region->ends_late && ins > 1;
    if (region->interleaved && !ends_are_alike(b)) {
        *reason = "has in-ends that differ, and packets to write when they end";
        return false;
    }
    return true;
}

/* ---- values ---- */

struct firing {
    struct build *build;
    uint32_t member;
    uint64_t number;
};

static sym ***fire_member(struct build *b, uint32_t member, uint64_t number);

static const struct graph_input *input_of(const struct graph_node *node, uint32_t port,
                                          uint64_t element)
{
    for (size_t i = 0; i < node->inputs.count; i++)
        if (node->inputs.items[i].kernel_port == port && node->inputs.items[i].element == element)
            return &node->inputs.items[i];
    return NULL;
}

/* The value of a scalar of a packet of an inside buffer. */
static sym made_packet(struct build *b, const struct graph_buffer *buffer, uint64_t packet,
                       uint32_t component)
{
    const struct graph_output *out = graph_writer(b->space->graph, buffer);
    uint32_t member = b->member_of[buffer->writer_node];
    sym ***made = fire_member(b, member, packet / out->push);
    uint64_t at = out->element * out->push + packet % out->push;
    if (made == NULL) return (sym){buffer->type->scalar, 0};
    return (*made)[out->kernel_port][at * type_scalar_count(buffer->type) + component];
}

static sym read_region_packet(void *data, uint32_t port, uint64_t element, uint64_t packet,
                              uint32_t component)
{
    const struct firing *firing = data;
    struct build *b = firing->build;
    const struct graph *graph = b->space->graph;
    uint32_t node = b->region->members.items[firing->member].node;
    const struct graph_input *in = input_of(&graph->nodes.items[node], port, element);
    const struct graph_buffer *buffer = &graph->buffers.items[in->buffer];
    uint64_t number = firing->number * in->pop + packet;
    if (is_inside(b, in->buffer)) return made_packet(b, buffer, number, component);
    return sym_packet(&b->space->symbols, type_item(buffer->type)->scalar, in->buffer, number,
                      component);
}

/* The scalars of each out-port of the firing; NULL: a reason is set. */
static sym ***fire_member(struct build *b, uint32_t member, uint64_t number)
{
    enum { NESTING_MAX = 64 };
    struct region_space *space = b->space;
    const struct region_node *of = &space->nodes[b->region->members.items[member].node];
    const struct kernel *kernel = of->symbolic.kernel;
    struct firing firing = {b, member, number};
    if (number >= b->made_room[member] || b->nesting >= NESTING_MAX) {
        space->symbols.reason = "looks too far ahead";
        return NULL;
    }
    if (b->made[member][number] != NULL) return &b->made[member][number];
    sym **out = ARENA_ARRAY(space->scratch, sym *, (size_t)kernel->out_count + 1);
    for (uint32_t p = 0; p < kernel->out_count; p++)
        out[p] = ARENA_ARRAY(space->scratch, sym,
                             kernel->out[p].arity * kernel->out[p].push *
                                 type_scalar_count(kernel->out[p].type));
    struct symbolic_ports ports = {read_region_packet, &firing, (sym *const *)out};
    b->nesting++;
    bool done = symbolic_fire(&space->symbols, &of->symbolic, &ports);
    b->nesting--;
    b->made[member][number] = out;
    return done ? &b->made[member][number] : NULL;
}

static bool set_values(struct build *b, const char **reason)
{
    struct region_space *space = b->space;
    struct region *region = b->region;
    b->made = ARENA_ARRAY(space->scratch, sym ***, region->members.count);
    for (size_t m = 0; m < region->members.count; m++)
        b->made[m] = ARENA_ARRAY(space->scratch, sym **, b->made_room[m] + 1);
    attempt_begin(space, ATTEMPT_STEPS);
    VEC(sym) all = {0};
    for (size_t o = 0; o < region->out.count; o++) {
        struct region_end *out = &region->out.items[o];
        const struct graph_buffer *buffer = &space->graph->buffers.items[out->buffer];
        uint64_t scalars = type_scalar_count(buffer->type);
        out->values = ARENA_ARRAY(space->scratch, sym, out->packets * scalars);
        for (uint64_t i = 0; i < out->packets * scalars && space->symbols.reason == NULL; i++) {
            out->values[i] = made_packet(b, buffer, i / scalars, (uint32_t)(i % scalars));
            vec_push(space->scratch, &all, out->values[i]);
        }
    }
    if (!attempt_end(space, reason)) return false;
    region_count(space, all.items, all.count, &region->operations, &region->loads);
    return true;
}

static bool build_members(struct build *b, const uint32_t *nodes, size_t count, const char **reason)
{
    if (!order_members(b, nodes, count)) {
        *reason = "is part of a cycle";
        return false;
    }
    if (!set_firings(b, reason)) return false;
    b->made_room = ARENA_ARRAY(b->space->scratch, uint64_t, count);
    for (size_t m = 0; m < count; m++)
        if (!add_member_ends(b, &b->region->members.items[m], reason)) return false;
    return set_needs(b, reason) && set_values(b, reason);
}

bool region_build(struct region_space *space, const uint32_t *nodes, size_t count,
                  struct region *region, const char **reason)
{
    struct build b = {.space = space,
                      .region = region,
                      .member_of = space->member_of,
                      .required = space->required};
    *region = (struct region){0};
    bool built = build_members(&b, nodes, count, reason);
    for (size_t i = 0; i < count; i++)
        space->member_of[nodes[i]] = GRAPH_NONE;
    return built;
}
