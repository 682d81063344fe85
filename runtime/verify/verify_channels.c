/* SPDX-License-Identifier: MIT */
/*
 * Channels and biconnected blocks of a container: see verify_certificate.h.  Blocks by Tarjan,
 * "Depth-first search and linear graph algorithms", SIAM J. Comput. 1(2), 1972, without recursion.
 */
#include "runtime/verify/verify_certificate.h"

#include "lang/window.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

uint32_t prt_vertex_phases(const struct prt_channels *channels, uint32_t vertex)
{
    const struct prt_container *c = channels->container;
    return vertex < c->node_count ? c->nodes[vertex].phases : 1;
}

const char *prt_vertex_name(const struct prt_channels *channels, uint32_t vertex)
{
    const struct prt_container *c = channels->container;
    return vertex < c->node_count ? prt_verify_text(c, c->nodes[vertex].name)
                                  : prt_verify_text(c, c->buffers[vertex - c->node_count].name);
}

/* ---- channels ---- */

static uint64_t clamp_packets(prt_int128 value)
{
    return value > PRT_PACKETS_MAX ? (uint64_t)PRT_PACKETS_MAX : (uint64_t)value;
}

static uint64_t add_most(uint64_t a, uint64_t b)
{
    return clamp_packets((prt_int128)a + b);
}

static void fill_reader(const struct prt_container *c, struct prt_channel *channel,
                        const struct container_reader *reader)
{
    const struct container_node *node = &c->nodes[reader->node];
    const struct container_input *input = &c->inputs[reader->input];
    const struct container_buffer *buffer = &c->buffers[input->buffer];
    channel->to = reader->node;
    channel->pop = input->pop;
    channel->peek = input->peek;
    if (input->rates != CONTAINER_NONE) {
        channel->pops = c->rates + input->rates;
        channel->peeks = channel->pops + node->phases;
    }
    if (input->window_width > 0) {
        struct window window = {input->window_width, input->window_height, input->border};
        uint64_t reach =
            window_reach(window, (struct window_shape){buffer->row_packets, buffer->frame_rows});
        channel->reserve = add_most(channel->reserve, reach);
        channel->peek = reach + 1;
        channel->peeks = NULL;
    }
    prt_int128 taken = 0, most = 0;
    for (uint32_t k = 0; k < node->phases; k++) {
        prt_int128 needs = taken + (channel->peeks ? channel->peeks[k] : channel->peek);
        if (needs > most) most = needs;
        taken += channel->pops ? channel->pops[k] : channel->pop;
    }
    channel->cycle = clamp_packets(most);
}

/* Outputs of one bundle share one outside, the one of their lowest buffer.  It is stored at the place of
 * the bundle among the outputs of its node. */
static uint32_t *bundle_place(const struct prt_channels *channels, uint32_t index)
{
    const struct prt_container *c = channels->container;
    const struct container_buffer *buffer = &c->buffers[index];
    return &channels->bundles[c->nodes[buffer->writer_node].first_output +
                              c->outputs[buffer->writer_output].bundle - 1];
}

/* The packets of a bounded writer are unknown.  It counts as an outside that writes single packets
 * (shares of a bundle), and room for its maximum less one is reserved. */
static void fill_bounded(const struct prt_channels *channels, struct prt_channel *channel,
                         uint32_t index)
{
    const struct prt_container *c = channels->container;
    const struct container_buffer *buffer = &c->buffers[index];
    const struct container_output *output = &c->outputs[buffer->writer_output];
    uint64_t most = prt_verify_most(c, &c->nodes[buffer->writer_node], output);
    if (output->bundle > 0) {
        channel->from = c->node_count + *bundle_place(channels, index);
        channel->push = output->share;
    }
    channel->reserve = most > channel->push ? most - channel->push : 0;
}

static void fill_writer(const struct prt_channels *channels, struct prt_channel *channel,
                        uint32_t index)
{
    const struct prt_container *c = channels->container;
    const struct container_buffer *buffer = &c->buffers[index];
    channel->from = c->node_count + index;
    channel->push = 1;
    if (buffer->writer_node == CONTAINER_NONE) return;
    const struct container_output *output = &c->outputs[buffer->writer_output];
    if (!prt_verify_is_exact(c, output)) {
        fill_bounded(channels, channel, index);
        return;
    }
    channel->from = buffer->writer_node;
    channel->push = output->push;
    if (output->rates != CONTAINER_NONE) channel->pushes = c->rates + output->rates;
}

/* If the outside has one reader, that reader waits for no other vertex. */
static bool is_channel(const struct prt_container *c, const struct container_buffer *buffer)
{
    if (buffer->reader_count > 1 || buffer->writer_node == CONTAINER_NONE)
        return buffer->reader_count > 1;
    const struct container_output *output = &c->outputs[buffer->writer_output];
    return prt_verify_is_exact(c, output) || output->bundle > 0;
}

static void fill_channels(struct prt_channels *channels)
{
    const struct prt_container *c = channels->container;
    for (uint32_t b = c->buffer_count; b-- > 0;) {
        uint32_t output = c->buffers[b].writer_output;
        if (output != CONTAINER_NONE && c->outputs[output].bundle > 0)
            *bundle_place(channels, b) = b;
    }
    for (uint32_t b = 0; b < c->buffer_count; b++) {
        const struct container_buffer *buffer = &c->buffers[b];
        for (uint32_t k = 0; k < buffer->reader_count; k++) {
            uint32_t r = buffer->first_reader + k;
            struct prt_channel *channel = &channels->items[r];
            channel->block = CONTAINER_NONE;
            channel->present = is_channel(c, buffer);
            channel->initial = (int64_t)clamp_packets(buffer->initial_packets);
            fill_writer(channels, channel, b);
            fill_reader(c, channel, &c->readers[r]);
        }
    }
}

/* ---- blocks ---- */

struct walk {
    struct prt_channels *channels;
    uint32_t *first, *edges; /* of each vertex: its channels; a loop once */
    uint32_t *order, *low, *via, *cursor, *path, *open;
    uint32_t path_count, open_count, visited;
};

static void list_edges(struct walk *walk)
{
    const struct prt_channels *channels = walk->channels;
    uint32_t readers = channels->container->reader_count, *fill = walk->order;
    for (uint32_t i = 0; i < readers; i++) {
        const struct prt_channel *channel = &channels->items[i];
        if (!channel->present) continue;
        walk->first[channel->from + 1]++;
        if (channel->to != channel->from) walk->first[channel->to + 1]++;
    }
    for (uint32_t v = 0; v < channels->vertex_count; v++) {
        walk->first[v + 1] += walk->first[v];
        fill[v] = walk->first[v];
    }
    for (uint32_t i = 0; i < readers; i++) {
        const struct prt_channel *channel = &channels->items[i];
        if (!channel->present) continue;
        walk->edges[fill[channel->from]++] = i;
        if (channel->to != channel->from) walk->edges[fill[channel->to]++] = i;
    }
    memset(fill, 0, channels->vertex_count * sizeof *fill);
}

static void visit_vertex(struct walk *walk, uint32_t vertex, uint32_t via)
{
    walk->order[vertex] = walk->low[vertex] = ++walk->visited;
    walk->via[vertex] = via;
    walk->cursor[vertex] = walk->first[vertex];
    walk->path[walk->path_count++] = vertex;
}

static void leave_vertex(struct walk *walk)
{
    uint32_t vertex = walk->path[--walk->path_count], edge;
    if (walk->path_count == 0) return;
    uint32_t above = walk->path[walk->path_count - 1];
    if (walk->low[vertex] < walk->low[above]) walk->low[above] = walk->low[vertex];
    if (walk->low[vertex] < walk->order[above]) return;
    do {
        edge = walk->open[--walk->open_count];
        walk->channels->items[edge].block = walk->channels->block_count;
    } while (edge != walk->via[vertex]);
    walk->channels->block_count++;
}

/* An edge is opened from the end that is reached first, and passed over from the other. */
static void follow_edges(struct walk *walk, uint32_t vertex)
{
    uint32_t edge = walk->edges[walk->cursor[vertex]++];
    const struct prt_channel *channel = &walk->channels->items[edge];
    uint32_t other = channel->from == vertex ? channel->to : channel->from;
    if (other == vertex) {
        walk->channels->items[edge].block = walk->channels->block_count++;
        return;
    }
    if (edge == walk->via[vertex] || walk->order[other] > walk->order[vertex]) return;
    walk->open[walk->open_count++] = edge;
    if (walk->order[other] == 0)
        visit_vertex(walk, other, edge);
    else if (walk->order[other] < walk->low[vertex]) /* equivalent: the same again */
        walk->low[vertex] = walk->order[other];
}

static void walk_channels(struct walk *walk)
{
    for (uint32_t root = 0; root < walk->channels->vertex_count; root++) {
        if (walk->order[root] > 0) continue;
        visit_vertex(walk, root, CONTAINER_NONE);
        while (walk->path_count > 0) {
            uint32_t vertex = walk->path[walk->path_count - 1];
            if (walk->cursor[vertex] == walk->first[vertex + 1])
                leave_vertex(walk);
            else
                follow_edges(walk, vertex);
        }
    }
}

/* Numbers blocks in the order of their lowest channels, and lists the channels of each. */
static void number_blocks(struct prt_channels *channels, uint32_t *renamed, uint32_t *slots)
{
    uint32_t readers = channels->container->reader_count, next = 0;
    for (uint32_t b = 0; b < channels->block_count; b++)
        renamed[b] = CONTAINER_NONE;
    for (uint32_t i = 0; i < readers; i++) {
        struct prt_channel *channel = &channels->items[i];
        if (!channel->present) continue;
        if (renamed[channel->block] == CONTAINER_NONE) renamed[channel->block] = next++;
        channel->block = renamed[channel->block];
        channels->blocks[channel->block].count++;
    }
    for (uint32_t b = 0, used = 0; b < channels->block_count; b++) {
        channels->blocks[b].channels = slots + used;
        renamed[b] = used;
        used += channels->blocks[b].count;
    }
    for (uint32_t i = 0; i < readers; i++) {
        if (channels->items[i].present) slots[renamed[channels->items[i].block]++] = i;
    }
}

/* ---- packets of `finish` ---- */

static bool is_buffer_tied(const struct prt_channels *channels,
                           const struct container_buffer *buffer)
{
    for (uint32_t k = 0; k < buffer->reader_count; k++) {
        const struct prt_channel *channel = &channels->items[buffer->first_reader + k];
        if (channel->present && channels->blocks[channel->block].count > 1) return true;
    }
    return false;
}

/* If a reader may wait for a vertex that waits for the writer, the writer's last packets need room
 * beside all packets before them.  (For a bounded writer: beside the reserve for a firing.) */
static void reserve_finish(struct prt_channels *channels, const struct container_buffer *buffer)
{
    const struct prt_container *c = channels->container;
    if (buffer->writer_node == CONTAINER_NONE || !is_buffer_tied(channels, buffer)) return;
    const struct container_node *writer = &c->nodes[buffer->writer_node];
    const struct container_output *output = &c->outputs[buffer->writer_output];
    uint64_t ending = writer->flags & CONTAINER_NODE_FINISH ? output->finish_max : 0;
    if (!prt_verify_is_exact(c, output)) {
        uint64_t most = prt_verify_most(c, writer, output);
        if (most < channels->items[buffer->first_reader].push)
            most = channels->items[buffer->first_reader].push;
        ending = ending > most ? ending - most : 0;
    }
    for (uint32_t k = 0; k < buffer->reader_count; k++) {
        struct prt_channel *channel = &channels->items[buffer->first_reader + k];
        channel->reserve = add_most(channel->reserve, ending);
    }
}

static void fill_rooms(struct prt_channels *channels)
{
    const struct prt_container *c = channels->container;
    for (uint32_t b = 0; b < c->buffer_count; b++) {
        const struct container_buffer *buffer = &c->buffers[b];
        reserve_finish(channels, buffer);
        for (uint32_t k = 0; k < buffer->reader_count; k++) {
            struct prt_channel *channel = &channels->items[buffer->first_reader + k];
            uint64_t depth = buffer->depth_packets;
            channel->room = depth > channel->reserve ? clamp_packets(depth - channel->reserve) : 0;
        }
    }
}

/* ---- the whole ---- */

static bool allocate_channels(struct prt_channels *channels)
{
    const struct prt_container *c = channels->container;
    size_t readers = (size_t)c->reader_count + 1, vertices = (size_t)channels->vertex_count + 1;
    channels->items = calloc(readers, sizeof *channels->items);
    channels->blocks = calloc(readers, sizeof *channels->blocks);
    channels->numbers =
        calloc(readers * 5 + vertices * 8 + c->output_count, sizeof *channels->numbers);
    return channels->items != NULL && channels->blocks != NULL && channels->numbers != NULL;
}

enum prt_status prt_channels_build(const struct prt_container *c, struct prt_channels *channels,
                                   struct prt_error *error)
{
    uint64_t vertices = (uint64_t)c->node_count + c->buffer_count;
    *channels = (struct prt_channels){.container = c, .vertex_count = (uint32_t)vertices};
    assert(vertices < CONTAINER_NONE); /* a file has fewer than 2^26 of each */
    if (!allocate_channels(channels)) {
        prt_channels_free(channels);
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    }
    size_t readers = (size_t)c->reader_count + 1, size = (size_t)vertices + 1;
    struct walk walk = {.channels = channels, .edges = channels->numbers};
    uint32_t *slots = walk.edges + 2 * readers, *renamed = slots + readers;
    walk.open = renamed + readers;
    walk.first = walk.open + readers;
    walk.order = walk.first + size;
    walk.low = walk.order + size;
    walk.via = walk.low + size;
    walk.cursor = walk.via + size;
    walk.path = walk.cursor + size;
    channels->local = walk.path + size; /* equivalent: what the walk has used is free by then */
    channels->bundles = channels->local + size;
    fill_channels(channels);
    list_edges(&walk);
    walk_channels(&walk);
    number_blocks(channels, renamed, slots);
    fill_rooms(channels);
    return PRT_OK;
}

void prt_channels_free(struct prt_channels *channels)
{
    free(channels->items);
    free(channels->blocks);
    free(channels->numbers);
    *channels = (struct prt_channels){0};
}
