/* SPDX-License-Identifier: MIT */
/*
 * Buffers with bounded rates.
 *
 * The number of packets in such a buffer after a given number of firings is unknown.  So no balance
 * shows that its reader and the rest of the pipeline only wait for each other in turn.  But suppose that
 * the buffer is the only way from its writer to its readers: its writer's end is a *bridge* of the
 * undirected graph.  (The readers may be joined elsewhere.)  Then neither side can wait for the other by
 * a detour.  One of the two can always go on if the buffer has room for a firing of the writer while the
 * reader holds one packet less than it needs.
 *
 * Outputs in step (a *bundle*) count as one way: each gets the same number of shares.  After the bundle
 * everything balances as if it came from a node that writes one share to each at a time.  The bundle
 * must be a bridge; its buffers may be joined again.  The scheduler (runtime/sched) checks at each
 * completion that a kernel keeps to its bundles.
 *
 * The graph: nodes, buffers and bundles are vertices, their ends are edges.  Tarjan (1974), without
 * recursion: linear in the file.
 */
#include "runtime/verify/verify_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

struct search {
    const struct prt_container *c;
    uint32_t *order;  /* per vertex: when it was found, from 1; 0: not yet */
    uint32_t *low;    /* per vertex: the earliest that its subtree reaches by one edge back */
    uint32_t *via;    /* per vertex: edge by which it was found */
    uint32_t *cursor; /* per vertex: neighbours looked at */
    uint32_t *stack;
    uint32_t *members;     /* per bundle: its last output */
    uint32_t *next_member; /* per output: the one of its bundle before it, or NO_MEMBER */
    uint8_t *bridges;      /* per edge */
    uint32_t found;
};

#define NO_MEMBER (CONTAINER_NONE - 1) /* no index is so large: each output takes 48 bytes */

/* Vertices: nodes, buffers, then a bundle's place for each output.  Edges: inputs, outputs, then
 * the one from each bundle to its node. */
static uint32_t bundle_of(const struct prt_container *c, uint32_t output)
{
    const struct container_node *node =
        &c->nodes[c->buffers[c->outputs[output].buffer].writer_node];
    return node->first_output + c->outputs[output].bundle - 1;
}

static uint32_t vertex_of_bundle(const struct prt_container *c, uint32_t bundle)
{
    return c->node_count + c->buffer_count + bundle;
}

static uint32_t bundle_edge(const struct prt_container *c, uint32_t bundle)
{
    return c->input_count + c->output_count + bundle;
}

/* From the node or the buffer at its end: the vertex at the other end. */
static uint32_t across_output(const struct prt_container *c, uint32_t output, bool from_node,
                              uint32_t *edge)
{
    uint32_t buffer = c->outputs[output].buffer;
    bool bundled = c->outputs[output].bundle > 0;
    *edge = c->input_count + output;
    if (bundled && from_node) *edge = bundle_edge(c, bundle_of(c, output));
    if (bundled) return vertex_of_bundle(c, bundle_of(c, output));
    return from_node ? c->node_count + buffer : c->buffers[buffer].writer_node;
}

static bool next_of_node(struct search *s, uint32_t vertex, uint32_t *edge, uint32_t *other)
{
    const struct container_node *node = &s->c->nodes[vertex];
    uint32_t k = s->cursor[vertex];
    if (k == node->input_count + node->output_count) return false;
    s->cursor[vertex]++;
    if (k < node->input_count) {
        *edge = node->first_input + k;
        *other = s->c->node_count + s->c->inputs[*edge].buffer;
    } else {
        *other = across_output(s->c, node->first_output + k - node->input_count, true, edge);
    }
    return true;
}

static bool next_of_buffer(struct search *s, uint32_t vertex, uint32_t *edge, uint32_t *other)
{
    const struct container_buffer *buffer = &s->c->buffers[vertex - s->c->node_count];
    uint32_t k = s->cursor[vertex];
    if (k == buffer->reader_count + (buffer->writer_node != CONTAINER_NONE)) return false;
    s->cursor[vertex]++;
    if (k < buffer->reader_count) {
        const struct container_reader *reader = &s->c->readers[buffer->first_reader + k];
        *edge = reader->input;
        *other = reader->node;
    } else {
        *other = across_output(s->c, buffer->writer_output, false, edge);
    }
    return true;
}

/* The node, then the members, which are linked. */
static bool next_of_bundle(struct search *s, uint32_t vertex, uint32_t *edge, uint32_t *other)
{
    const struct prt_container *c = s->c;
    uint32_t bundle = vertex - c->node_count - c->buffer_count, output = s->members[bundle];
    if (s->cursor[vertex] == 0) {
        s->cursor[vertex] = output + 1;
        *edge = bundle_edge(c, bundle);
        *other = c->buffers[c->outputs[output].buffer].writer_node;
        return true;
    }
    output = s->cursor[vertex] - 1;
    if (output == NO_MEMBER) return false;
    s->cursor[vertex] = s->next_member[output] + 1;
    *edge = c->input_count + output;
    *other = c->node_count + c->outputs[output].buffer;
    return true;
}

/* The next edge of a vertex, and where it leads; false: it has no more. */
static bool next_edge(struct search *s, uint32_t vertex, uint32_t *edge, uint32_t *other)
{
    if (vertex < s->c->node_count) return next_of_node(s, vertex, edge, other);
    if (vertex < s->c->node_count + s->c->buffer_count)
        return next_of_buffer(s, vertex, edge, other);
    return next_of_bundle(s, vertex, edge, other);
}

static void discover_vertex(struct search *s, uint32_t vertex, uint32_t edge, uint32_t *depth)
{
    s->order[vertex] = s->low[vertex] = ++s->found;
    s->via[vertex] = edge;
    s->stack[(*depth)++] = vertex;
}

static void lower_vertex(struct search *s, uint32_t vertex, uint32_t to)
{
    if (to < s->low[vertex]) s->low[vertex] = to;
}

/* Everything that is joined to the vertex. */
static void search_joined(struct search *s, uint32_t root)
{
    uint32_t depth = 0;
    discover_vertex(s, root, UINT32_MAX, &depth);
    while (depth > 0) {
        uint32_t vertex = s->stack[depth - 1], edge, other;
        if (next_edge(s, vertex, &edge, &other)) {
            if (edge == s->via[vertex]) continue;
            if (s->order[other] == 0)
                discover_vertex(s, other, edge, &depth);
            else
                lower_vertex(s, vertex, s->order[other]);
            continue;
        }
        depth--;
        if (depth > 0) {
            uint32_t parent = s->stack[depth - 1];
            lower_vertex(s, parent, s->low[vertex]);
            s->bridges[s->via[vertex]] = s->low[vertex] > s->order[parent];
        }
    }
}

/* ---- conditions ---- */

static bool is_buffer_bounded(const struct prt_container *c, const struct container_buffer *buffer)
{
    return buffer->writer_node != CONTAINER_NONE &&
           !prt_verify_is_exact(c, &c->outputs[buffer->writer_output]);
}

/* Packets of one firing in that phase: the minimum, then the maximum. */
static uint64_t rate_of(const struct prt_container *c, const struct container_output *output,
                        uint32_t phases, uint32_t phase, bool most)
{
    if (phases > 1) return c->rates[output->rates + (most ? phases : 0) + phase];
    return most ? output->push : output->push_least;
}

/* Each bound is a number of shares, in each phase the same number as that of `other`, a member of the same bundle or
 * the output itself. */
static enum prt_status verify_ranges(const struct prt_container *c, uint32_t index, uint32_t other,
                                     struct prt_error *error)
{
    const struct container_output *output = &c->outputs[index], *before = &c->outputs[other];
    const struct container_buffer *buffer = &c->buffers[output->buffer];
    uint32_t phases = c->nodes[buffer->writer_node].phases;
    for (uint32_t p = 0; p < phases; p++) {
        for (int most = 0; most < 2; most++) {
            uint64_t rate = rate_of(c, output, phases, p, most);
            uint64_t rate_before = rate_of(c, before, phases, p, most);
            CHECK(rate % output->share == 0, OUTPUTS, index,
                  "a firing of phase %" PRIu32 " appends at %s %" PRIu64
                  " packets to '%s', which is no multiple of its share %" PRIu64,
                  p, most ? "most" : "least", rate, prt_verify_text(c, buffer->name),
                  output->share);
            CHECK(rate / output->share == rate_before / before->share, OUTPUTS, index,
                  "a firing of phase %" PRIu32 " appends at %s %" PRIu64
                  " shares to '%s', and %" PRIu64 " to '%s' in the same bundle",
                  p, most ? "most" : "least", rate / output->share,
                  prt_verify_text(c, buffer->name), rate_before / before->share,
                  prt_verify_text(c, c->buffers[before->buffer].name));
        }
    }
    return PRT_OK;
}

static enum prt_status verify_bundle_output(const struct prt_container *c, uint32_t i,
                                            struct prt_error *error)
{
    const struct container_output *output = &c->outputs[i];
    const struct container_buffer *buffer = &c->buffers[output->buffer];
    CHECK(output->bundle <= c->nodes[buffer->writer_node].output_count &&
              output->bundle <= CONTAINER_BUNDLES_MAX,
          OUTPUTS, i, "an unknown bundle");
    /* equivalent: neither of its parts needs another */
    CHECK(buffer->outer == CONTAINER_INNER && output->push > 0 && is_buffer_bounded(c, buffer),
          OUTPUTS, i, "a bundle, and buffer '%s' is not inside or has no bounded rate",
          prt_verify_text(c, buffer->name));
    return PRT_OK;
}

static enum prt_status verify_bundles(const struct prt_container *c, struct prt_error *error)
{
    for (uint32_t n = 0; n < c->node_count; n++) {
        const struct container_node *node = &c->nodes[n];
        uint32_t first[CONTAINER_BUNDLES_MAX] = {0}; /* of each bundle: its first output, from 1 */
        for (uint32_t i = node->first_output; i < node->first_output + node->output_count; i++) {
            if (c->outputs[i].bundle == 0) continue;
            enum prt_status status = verify_bundle_output(c, i, error);
            if (status != PRT_OK) return status;
            assert(c->outputs[i].bundle <= CONTAINER_BUNDLES_MAX);
            uint32_t *member = &first[c->outputs[i].bundle - 1];
            if (*member == 0) *member = i + 1;
            status = verify_ranges(c, i, *member - 1, error);
            if (status != PRT_OK) return status;
        }
    }
    return PRT_OK;
}

static bool is_bridge(const struct search *s, uint32_t output)
{
    const struct prt_container *c = s->c;
    if (c->outputs[output].bundle == 0) return s->bridges[c->input_count + output];
    return s->bridges[bundle_edge(c, bundle_of(c, output))];
}

/* The maximum number of packets while the reader needs more: one less than it needs.  If packets
 * are written and consumed in multiples of g, it is the largest number below the need that the
 * buffer may hold. */
static uint64_t waiting_packets(const struct prt_container *c,
                                const struct container_buffer *buffer,
                                const struct container_reader *reader)
{
    const struct container_input *input = &c->inputs[reader->input];
    uint64_t share = c->outputs[buffer->writer_output].share;
    uint64_t waiting = prt_verify_needs(c, input);
    waiting -= waiting > 0;
    if (share == 0 || c->nodes[reader->node].phases > 1)
        return waiting; /* windows take one: g is 1 */
    uint64_t g = prt_verify_divisor(share, input->pop);
    uint64_t beyond = (waiting % g + (g - buffer->initial_packets % g)) % g;
    return beyond < waiting ? waiting - beyond : 0; /* equivalent: 0 of as many */
}

static enum prt_status verify_reader(const struct search *s, uint32_t index, uint32_t reader_index,
                                     struct prt_error *error)
{
    const struct prt_container *c = s->c;
    const struct container_buffer *buffer = &c->buffers[index];
    const struct container_reader *reader = &c->readers[reader_index];
    const struct container_node *writer = &c->nodes[buffer->writer_node];
    const struct container_output *output = &c->outputs[buffer->writer_output];
    const char *name = prt_verify_text(c, buffer->name);
    CHECK(is_bridge(s, buffer->writer_output), BUFFERS, index,
          "'%s' has a bounded rate and lies on a cycle of the graph: '%s' and '%s' could wait for "
          "each other",
          name, prt_verify_text(c, writer->name), prt_verify_text(c, c->nodes[reader->node].name));
    uint64_t most = prt_verify_most(c, writer, output);
    if (writer->flags & CONTAINER_NODE_FINISH && output->finish_max > most)
        most = output->finish_max;
    uint64_t waiting = waiting_packets(c, buffer, reader);
    CHECK(most <= buffer->depth_packets - waiting, BUFFERS, index,
          "'%s' holds %" PRIu64 " packets: too few for the %" PRIu64
          " of a firing while '%s' waits "
          "with %" PRIu64,
          name, buffer->depth_packets, most, prt_verify_text(c, c->nodes[reader->node].name),
          waiting);
    return PRT_OK;
}

/* Packets that the reader takes in an iteration; false where they do not fit 63 bits. */
static bool packets_of_iteration(const struct prt_container *c, uint32_t reader_index,
                                 uint64_t *packets)
{
    const struct container_reader *reader = &c->readers[reader_index];
    const struct container_node *node = &c->nodes[reader->node];
    return !__builtin_mul_overflow(node->repetitions / node->phases, c->inputs[reader->input].pop,
                                   packets) &&
           *packets <= INT64_MAX;
}

/* All readers of one bounded writer, or of one bundle, consume the same number of shares. */
static enum prt_status verify_shares(const struct search *s, uint32_t index, uint32_t reader_index,
                                     struct prt_error *error)
{
    const struct prt_container *c = s->c;
    uint32_t output = c->buffers[index].writer_output, first = output;
    if (c->outputs[output].bundle > 0) first = s->members[bundle_of(c, output)];
    const struct container_buffer *other = &c->buffers[c->outputs[first].buffer];
    uint64_t share = c->outputs[output].share, other_share = c->outputs[first].share;
    uint64_t packets, other_packets;
    if (share == 0) share = other_share = 1;
    /* uncovered: a bundle's buffers are inside (verify_bundles), and what is inside has a reader
     * (verify.c) */
    if (other->reader_count == 0) return PRT_OK;
    CHECK(packets_of_iteration(c, reader_index, &packets) &&
              packets_of_iteration(c, other->first_reader, &other_packets),
          BUFFERS, index, "its packets of an iteration do not fit 63 bits");
    CHECK((unsigned __int128)packets * other_share == (unsigned __int128)other_packets * share,
          BUFFERS, index,
          "'%s' does not balance: its readers take %" PRIu64 " packets an iteration, those of '%s' "
          "%" PRIu64 ", and the shares are %" PRIu64 " and %" PRIu64,
          prt_verify_text(c, c->buffers[index].name), packets, prt_verify_text(c, other->name),
          other_packets, share, other_share);
    return PRT_OK;
}

static enum prt_status verify_bounded_buffers(const struct search *s, struct prt_error *error)
{
    const struct prt_container *c = s->c;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        const struct container_buffer *buffer = &c->buffers[i];
        for (uint32_t k = 0; is_buffer_bounded(c, buffer) && k < buffer->reader_count; k++) {
            enum prt_status status = verify_reader(s, i, buffer->first_reader + k, error);
            if (status == PRT_OK) status = verify_shares(s, i, buffer->first_reader + k, error);
            if (status != PRT_OK) return status;
        }
    }
    return PRT_OK;
}

static void link_members(struct search *s)
{
    const struct prt_container *c = s->c;
    for (uint32_t i = 0; i < c->output_count; i++)
        s->members[i] = NO_MEMBER;
    for (uint32_t i = 0; i < c->output_count; i++) {
        if (c->outputs[i].bundle == 0) continue;
        uint32_t bundle = bundle_of(c, i);
        s->next_member[i] = s->members[bundle];
        s->members[bundle] = i;
    }
}

enum prt_status prt_verify_bounded(const struct prt_container *c, struct prt_error *error)
{
    enum prt_status status = verify_bundles(c, error);
    if (status != PRT_OK || c->pipeline->flags & CONTAINER_PIPELINE_UNPROVEN) return status;
    size_t outputs = c->output_count;
    size_t vertices = (size_t)c->node_count + c->buffer_count + outputs;
    size_t edges = (size_t)c->input_count + 2 * outputs;
    uint32_t *numbers = calloc(vertices * 5 + 2 * outputs, sizeof *numbers);
    struct search s = {.c = c, .bridges = calloc(edges, 1)}; /* there is a node, which has an end */
    if (numbers == NULL || s.bridges == NULL) {
        status = prt_error_set(error, PRT_E_NOMEM, "out of memory");
    } else {
        s.order = numbers;
        s.low = s.order + vertices;
        s.via = s.low + vertices;
        s.cursor = s.via + vertices;
        s.stack = s.cursor + vertices;
        s.members = s.stack + vertices;
        s.next_member = s.members + outputs;
        link_members(&s);
        for (uint32_t i = 0; i < c->node_count + c->buffer_count; i++) {
            if (s.order[i] == 0) search_joined(&s, i);
        }
        status = verify_bounded_buffers(&s, error);
    }
    free(numbers);
    free(s.bridges);
    return status;
}
