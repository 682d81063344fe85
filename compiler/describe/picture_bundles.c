/* SPDX-License-Identifier: MIT */
#include "compiler/describe/picture_bundles.h"

#include <stdlib.h>
#include <string.h>

/* ---- ports ---- */

static void number_ports(struct arena *arena, const struct graph *graph, struct shown_ports *ports)
{
    size_t count = graph->nodes.count;
    ports->first_input = ARENA_ARRAY(arena, uint32_t, count + 1);
    ports->first_output = ARENA_ARRAY(arena, uint32_t, count + 1);
    for (size_t n = 0; n < count; n++) {
        const struct graph_node *node = &graph->nodes.items[n];
        ports->first_input[n + 1] = ports->first_input[n] + (uint32_t)node->inputs.count;
        ports->first_output[n + 1] = ports->first_output[n] + (uint32_t)node->outputs.count;
    }
    ports->input = ARENA_ARRAY(arena, uint32_t, (size_t)ports->first_input[count] + 1);
    ports->output = ARENA_ARRAY(arena, uint32_t, (size_t)ports->first_output[count] + 1);
}

/* The end of the array of ports that begins at `port`: elements of one port of the kernel. */
static uint32_t input_array_end(const struct graph_node *node, uint32_t port)
{
    uint32_t end = port + 1;
    while (end < node->inputs.count &&
           node->inputs.items[end].kernel_port == node->inputs.items[port].kernel_port)
        end++;
    return end;
}

static uint32_t output_array_end(const struct graph_node *node, uint32_t port)
{
    uint32_t end = port + 1;
    while (end < node->outputs.count &&
           node->outputs.items[end].kernel_port == node->outputs.items[port].kernel_port)
        end++;
    return end;
}

typedef uint32_t array_end(const struct graph_node *node, uint32_t port);

/* With `bundle_of` (by port), only arrays whose ports have one bundle are shown as one port. */
static void show_arrays(const struct graph_node *node, size_t count, array_end *end_of,
                        const uint32_t *bundle_of, bool folds, uint32_t *shown)
{
    for (uint32_t first = 0; first < count;) {
        uint32_t end = end_of(node, first);
        bool one = folds && end - first >= FOLD_LEAST;
        for (uint32_t i = first; one && bundle_of != NULL && i < end; i++)
            one = bundle_of[i] == bundle_of[first];
        for (uint32_t i = first; i < end; i++)
            shown[i] = one ? first : i;
        first = end;
    }
}

/* Before there are bundles, `bundle` is NULL. */
static void choose_shown_ports(struct arena *arena, const struct picture *picture, bool folds,
                               struct shown_ports *ports)
{
    for (size_t n = 0; n < picture->graph->nodes.count; n++) {
        const struct graph_node *node = &picture->graph->nodes.items[n];
        size_t most = node->inputs.count + node->outputs.count;
        uint32_t *in = NULL, *out = NULL;
        if (picture->shown[n] != n) continue;
        if (picture->bundle != NULL) {
            in = ARENA_ARRAY(arena, uint32_t, most + 1);
            out = in + node->inputs.count;
            for (size_t i = 0; i < node->inputs.count; i++)
                in[i] = picture->bundle[node->inputs.items[i].buffer];
            for (size_t o = 0; o < node->outputs.count; o++)
                out[o] = picture->bundle[node->outputs.items[o].buffer];
        }
        show_arrays(node, node->inputs.count, input_array_end, in, folds,
                    &ports->input[ports->first_input[n]]);
        show_arrays(node, node->outputs.count, output_array_end, out, folds,
                    &ports->output[ports->first_output[n]]);
    }
}

/* The number of ports from `first` on that are shown as `first` is. */
static uint32_t count_shown_alike(const uint32_t *shown, uint32_t first, size_t count)
{
    uint32_t end = first + 1;
    while (end < count && shown[end] == first)
        end++;
    return end - first;
}

uint32_t shown_input_count(const struct picture *picture, const struct picture_bundles *bundles,
                           uint32_t node, uint32_t input)
{
    return count_shown_alike(&bundles->ports.input[bundles->ports.first_input[node]], input,
                             picture->graph->nodes.items[node].inputs.count);
}

uint32_t shown_output_count(const struct picture *picture, const struct picture_bundles *bundles,
                            uint32_t node, uint32_t output)
{
    return count_shown_alike(&bundles->ports.output[bundles->ports.first_output[node]], output,
                             picture->graph->nodes.items[node].outputs.count);
}

/* ---- the ends of each buffer ---- */

static int compare_ends(const void *a, const void *b)
{
    const struct bundle_end *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return x->port < y->port ? -1 : x->port > y->port;
}

static void sort_ends(struct bundle_ends *ends)
{
    size_t kept = 0;
    if (ends->to.count > 1)
        qsort(ends->to.items, ends->to.count, sizeof *ends->to.items, compare_ends);
    for (size_t i = 0; i < ends->to.count; i++)
        if (kept == 0 || compare_ends(&ends->to.items[kept - 1], &ends->to.items[i]) != 0)
            ends->to.items[kept++] = ends->to.items[i];
    ends->to.count = kept;
}

/* Without the ends between members of a chain: the box of the chain stands for these. */
static struct bundle_ends ends_of_buffer(struct arena *arena, const struct picture *picture,
                                         const struct picture_fold *fold,
                                         const struct shown_ports *ports,
                                         const struct graph_buffer *buffer)
{
    struct bundle_ends ends = {.from = {GRAPH_NONE, 0}};
    uint32_t writer = buffer->writer_node;
    if (writer != GRAPH_NONE) {
        uint32_t node = picture->shown[writer];
        ends.from = (struct bundle_end){
            node, ports->output[ports->first_output[node] + buffer->writer_output]};
    }
    for (size_t i = 0; i < buffer->readers.count; i++) {
        const struct graph_reader *reader = &buffer->readers.items[i];
        uint32_t node = picture->shown[reader->node];
        struct bundle_end to = {node, ports->input[ports->first_input[node] + reader->input]};
        if (writer == GRAPH_NONE || !fold_is_link(fold, writer, reader->node))
            vec_push(arena, &ends.to, to);
    }
    sort_ends(&ends);
    return ends;
}

/* ---- bundles ---- */

struct bundling {
    const struct graph *graph;
    struct bundle_ends *ends; /* by buffer */
};

/* Outer ports of one array may be one bundle, other ones not. */
static int compare_outer_names(const char *a, const char *b)
{
    const char *open_a = strchr(a, '['), *open_b = strchr(b, '[');
    if (open_a == NULL || open_b == NULL || open_a - a != open_b - b) return strcmp(a, b);
    return strncmp(a, b, (size_t)(open_a - a));
}

static int compare_buffers(const void *a, const void *b, void *data)
{
    const struct bundling *bundling = data;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct bundle_ends *ends_x = &bundling->ends[x], *ends_y = &bundling->ends[y];
    const struct graph_buffer *buffer_x = &bundling->graph->buffers.items[x];
    const struct graph_buffer *buffer_y = &bundling->graph->buffers.items[y];
    if (buffer_x->outer != buffer_y->outer) return buffer_x->outer < buffer_y->outer ? -1 : 1;
    int order = compare_ends(&ends_x->from, &ends_y->from);
    if (order != 0) return order;
    if (ends_x->to.count != ends_y->to.count) return ends_x->to.count < ends_y->to.count ? -1 : 1;
    for (size_t i = 0; i < ends_x->to.count && order == 0; i++)
        order = compare_ends(&ends_x->to.items[i], &ends_y->to.items[i]);
    if (order == 0 && buffer_x->outer != GRAPH_INNER)
        order = compare_outer_names(buffer_x->name, buffer_y->name);
    return order;
}

static int compare_stably(const void *a, const void *b, void *data)
{
    int order = compare_buffers(a, b, data);
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return order != 0 ? order : x < y ? -1 : x > y;
}

static void add_to_bundle(struct picture_bundle *bundle, const struct graph_buffer *buffer)
{
    uint64_t depth = buffer->depth_packets, init = buffer->initial.packets;
    if (bundle->buffers == 0 || depth < bundle->depth_least) bundle->depth_least = depth;
    if (bundle->buffers == 0 || init < bundle->init_least) bundle->init_least = init;
    if (depth > bundle->depth_most) bundle->depth_most = depth;
    if (init > bundle->init_most) bundle->init_most = init;
    bundle->buffers++;
}

/* By buffer: the first one of its bundle. */
static const uint32_t *find_first_buffers(struct arena *arena, struct bundling *bundling,
                                          bool folds)
{
    uint32_t count = (uint32_t)bundling->graph->buffers.count;
    uint32_t *sorted = ARENA_ARRAY(arena, uint32_t, (size_t)count + 1);
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = first[i] = i;
    if (!folds || count == 0) return first;
    qsort_r(sorted, count, sizeof *sorted, compare_stably, bundling);
    for (uint32_t i = 1; i < count; i++)
        if (compare_buffers(&sorted[i - 1], &sorted[i], bundling) == 0)
            first[sorted[i]] = first[sorted[i - 1]];
    return first;
}

static void number_bundles(struct arena *arena, struct picture *picture,
                           const struct picture_fold *fold, struct picture_bundles *bundles,
                           bool folds)
{
    const struct graph *graph = picture->graph;
    uint32_t count = (uint32_t)graph->buffers.count;
    struct bundling bundling = {graph, ARENA_ARRAY(arena, struct bundle_ends, (size_t)count + 1)};
    for (uint32_t i = 0; i < count; i++)
        bundling.ends[i] =
            ends_of_buffer(arena, picture, fold, &bundles->ports, &graph->buffers.items[i]);
    const uint32_t *first = find_first_buffers(arena, &bundling, folds);
    picture->bundle = ARENA_ARRAY(arena, uint32_t, (size_t)count + 1);
    picture->bundles.count = bundles->ends.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        picture->bundle[i] =
            first[i] == i ? (uint32_t)picture->bundles.count : picture->bundle[first[i]];
        if (first[i] == i) {
            vec_push(arena, &picture->bundles, (struct picture_bundle){.buffer = i});
            vec_push(arena, &bundles->ends, bundling.ends[i]);
        }
        add_to_bundle(&picture->bundles.items[picture->bundle[i]], &graph->buffers.items[i]);
    }
}

struct picture_bundles picture_bundles_make(struct arena *arena, struct picture *picture,
                                            const struct picture_fold *fold, bool folds)
{
    struct picture_bundles bundles = {0};
    picture->shown = fold->shown;
    number_ports(arena, picture->graph, &bundles.ports);
    choose_shown_ports(arena, picture, folds, &bundles.ports);
    number_bundles(arena, picture, fold, &bundles, folds);
    if (!folds) return bundles;
    /* An array of ports whose buffers are several bundles is shown port by port. */
    choose_shown_ports(arena, picture, folds, &bundles.ports);
    number_bundles(arena, picture, fold, &bundles, folds);
    return bundles;
}
