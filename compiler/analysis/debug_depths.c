/*
 * debug_depths: debug mode cuts every buffer, declared ones as well.
 *
 * The depths are those of --buffers=min with no declaration: what is proven there is proven here.
 * The least memory may want one buffer deeper than its author did, for another one's sake; a cut is
 * never a raise, so that declaration is kept then, and the rest is asked again.  At the latest with
 * all declarations kept there is an answer, for those have been accepted.
 */
#include <inttypes.h>

#include "compiler/analysis/analysis.h"

struct declared {
    uint64_t packets; /* 0: not declared */
    bool kept;
};

static void restore(struct graph *graph, struct declared *declared, bool all)
{
    for (size_t i = 0; i < graph->buffers.count; i++) {
        struct graph_buffer *buffer = &graph->buffers.items[i];
        if (declared[i].packets == 0) continue;
        declared[i].kept |= all;
        buffer->depth_declared = declared[i].kept;
        if (declared[i].kept) buffer->depth_packets = declared[i].packets;
    }
}

/* Keeps those that would have been raised; false: there is none. */
static bool keep_raised(const struct graph *graph, struct declared *declared)
{
    bool any = false;
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        if (declared[i].kept || declared[i].packets == 0) continue;
        if (buffer->depth_packets <= declared[i].packets) continue;
        declared[i].kept = any = true;
    }
    return any;
}

/* False: no depths were found, which is nobody's mistake where the declared ones are enough. */
static bool assign_quietly(struct compile *cx, struct graph *graph)
{
    struct diags *reported = cx->diags;
    cx->diags = diags_create(cx->arena, cx->sources);
    bufsize_assign(cx, graph);
    bool good = !diag_failed(cx->diags);
    cx->diags = reported;
    return good;
}

static void word_cuts(struct compile *cx, struct graph *graph, const struct declared *declared)
{
    for (size_t i = 0; i < graph->buffers.count; i++) {
        struct graph_buffer *buffer = &graph->buffers.items[i];
        uint64_t packets = declared[i].packets;
        if (packets == 0 || buffer->depth_reason == NULL) continue;
        const char *what = declared[i].kept ? "declared, and kept in debug mode" : NULL;
        if (what == NULL && buffer->depth_packets < packets)
            what = arena_printf(cx->arena, "cut from the %" PRIu64 " declared", packets);
        if (what != NULL)
            buffer->depth_reason =
                declared[i].kept
                    ? arena_printf(cx->arena, "%" PRIu64 ": %s: less here needs more elsewhere",
                                   packets, what)
                    : arena_printf(cx->arena, "%s; %s", buffer->depth_reason, what);
    }
}

void debug_cut_depths(struct compile *cx, struct graph *graph)
{
    enum { ROUNDS_MAX = 4 };
    if (graph->unproven) return;
    struct declared *declared = ARENA_ARRAY(cx->arena, struct declared, graph->buffers.count + 1);
    for (size_t i = 0; i < graph->buffers.count; i++)
        if (graph->buffers.items[i].depth_declared)
            declared[i].packets = graph->buffers.items[i].depth_packets;
    cx->options.buffers = BUFFERS_MIN;
    bool good = false;
    for (int round = 0; round < ROUNDS_MAX && !good; round++) {
        restore(graph, declared, false);
        if (!assign_quietly(cx, graph)) break;
        good = !keep_raised(graph, declared);
    }
    if (!good) {
        restore(graph, declared, true);
        bufsize_assign(cx, graph);
    }
    word_cuts(cx, graph, declared);
}
