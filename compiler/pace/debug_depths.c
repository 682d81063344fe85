/* SPDX-License-Identifier: MIT */
/*
 * debug_depths: debug mode cuts every buffer, declared ones as well.
 *
 * The depths are those of --buffers=min without declarations: the proofs for those hold here.  The
 * minimum of memory may need one buffer deeper than declared, for the sake of another one.  A cut is
 * never a raise, so that declaration is kept then, and the depths of the rest are found again.
 * Afterwards the kept ones are cut to their minimum with the others as they are.  There is an answer at
 * the latest when all declarations are kept, because those have been accepted.
 */
#include "compiler/pace/debug_depths.h"

#include <inttypes.h>

#include "compiler/pace/bufsize.h"

struct declared {
    uint64_t packets; /* 0: not declared */
    uint64_t kept;    /* treated as declared by the model; 0: it is free */
};

static void restore_declared(struct graph *graph, const struct declared *declared)
{
    for (size_t i = 0; i < graph->buffers.count; i++) {
        struct graph_buffer *buffer = &graph->buffers.items[i];
        if (declared[i].packets == 0) continue;
        buffer->depth_declared = declared[i].kept > 0;
        if (declared[i].kept > 0) buffer->depth_packets = declared[i].kept;
    }
}

/* Keeps the declarations that would have been raised; false: there is none. */
static bool keep_raised(const struct graph *graph, struct declared *declared)
{
    bool any = false;
    for (size_t i = 0; i < graph->buffers.count; i++) {
        uint64_t packets = declared[i].packets;
        if (packets == 0 || graph->buffers.items[i].depth_packets <= packets) continue;
        declared[i].kept = packets;
        any = true;
    }
    return any;
}

/* Cuts one of the kept declarations that could do with less, with the others as they are; false:
 * none. */
static bool cut_kept(const struct graph *graph, struct declared *declared)
{
    for (size_t i = 0; i < graph->buffers.count; i++) {
        uint64_t least = graph->buffers.items[i].depth_min_packets;
        if (declared[i].kept == 0 || least == 0 || least >= declared[i].kept) continue;
        declared[i].kept = least;
        return true;
    }
    return false;
}

/* False: no depths were found.  That is no mistake of the program if the declared ones are
 * enough. */
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
        uint64_t packets = declared[i].packets, depth = buffer->depth_packets;
        if (packets == 0 || buffer->depth_reason == NULL) continue;
        if (declared[i].kept > 0)
            buffer->depth_reason = arena_printf(
                cx->arena, "%" PRIu64 ": no more than the %" PRIu64 " declared", depth, packets);
        else if (depth < packets)
            buffer->depth_reason = arena_printf(cx->arena, "%s; cut from the %" PRIu64 " declared",
                                                buffer->depth_reason, packets);
    }
}

void debug_cut_depths(struct compile *cx, struct graph *graph)
{
    enum { ROUNDS_MAX = 16 };
    cx->options.buffers = graph->buffers_mode = BUFFERS_MIN;
    if (graph->unproven) return;
    struct declared *declared = ARENA_ARRAY(cx->arena, struct declared, graph->buffers.count + 1);
    for (size_t i = 0; i < graph->buffers.count; i++)
        if (graph->buffers.items[i].depth_declared)
            declared[i].packets = graph->buffers.items[i].depth_packets;
    bool good = false, goes_on = true;
    for (int round = 0; round < ROUNDS_MAX && goes_on; round++) {
        restore_declared(graph, declared);
        bool assigned = assign_quietly(cx, graph), raised = keep_raised(graph, declared);
        good = assigned && !raised;
        goes_on = assigned && (raised || cut_kept(graph, declared));
    }
    if (!good) {
        for (size_t i = 0; i < graph->buffers.count; i++)
            declared[i].kept = declared[i].packets;
        restore_declared(graph, declared);
        bufsize_assign(cx, graph);
    }
    word_cuts(cx, graph, declared);
}
