/* SPDX-License-Identifier: MIT */
/*
 * bufsize_report: the words for depths: why a buffer has its depth, and what is wrong with a declared one.
 */
#include "compiler/pace/bufsize_internal.h"
#include "compiler/diagnostics/diag_list.h"
#include "compiler/ir/ratio.h"
#include "base/plural.h"

#include <inttypes.h>
#include <string.h>

enum { LINES_MAX = 12, LARGEST_SHOWN = 3 };

struct ends { /* of a buffer, for messages */
    const char *writer, *reader;
    uint64_t push, pop, peek, finish_max; /* push: the maximum of a firing */
    uint64_t window;                      /* packets that the reader's window keeps there */
    uint32_t writer_phases, reader_phases;
    bool always; /* every firing pushes the same number */
};

static struct ends buffer_ends(const struct graph *graph, const struct graph_buffer *buffer,
                               uint32_t reader)
{
    struct ends ends = {.writer = "the outside",
                        .reader = "the outside",
                        .push = 1,
                        .writer_phases = 1,
                        .reader_phases = 1,
                        .always = true};
    if (buffer->writer_node != GRAPH_NONE) {
        const struct graph_node *writer = &graph->nodes.items[buffer->writer_node];
        const struct graph_output *out = &writer->outputs.items[buffer->writer_output];
        ends.writer = writer->name;
        ends.push = graph_push_most(writer, out);
        ends.writer_phases = graph_phases(writer);
        ends.finish_max = out->finish_max;
        ends.always = ends.writer_phases == 1 && out->push_least == out->push;
    }
    if (reader < buffer->readers.count) {
        struct graph_reader at = buffer->readers.items[reader];
        const struct graph_node *node = &graph->nodes.items[at.node];
        ends.reader = node->name;
        ends.pop = node->inputs.items[at.input].pop;
        ends.peek = node->inputs.items[at.input].peek;
        ends.window = graph_window_packets(graph, buffer, reader);
        ends.reader_phases = graph_phases(node);
    }
    return ends;
}

/* ---- reasons ---- */

static const char *floor_text(struct arena *arena, const struct graph_buffer *buffer,
                              const struct ends *ends, enum depth_why why)
{
    uint64_t initial = buffer->initial.packets;
    switch (why) {
    case WHY_PORT: return "one packet at a time passes";
    case WHY_WINDOW:
        return arena_printf(arena, "one window of '%s' (%" PRIu64 " packet%s)", ends->reader,
                            ends->window, plural(ends->window));
    case WHY_WRITE:
        return arena_printf(arena, "one firing of '%s' writes %" PRIu64 " packet%s", ends->writer,
                            ends->push, plural(ends->push));
    case WHY_INITIAL:
        return arena_printf(arena, "its %" PRIu64 " initial packet%s", initial, plural(initial));
    case WHY_PAIR:
        return arena_printf(arena,
                            "'%s' writes %" PRIu64 " at a time and '%s' reads %" PRIu64
                            " of a window of %" PRIu64 ": with less each could wait for the other",
                            ends->writer, ends->push, ends->reader, ends->pop, ends->peek);
    case WHY_LOOP:
        return arena_printf(arena,
                            "'%s' writes %" PRIu64 " packet%s beside the %" PRIu64
                            " initial ones before it frees what it read",
                            ends->writer, ends->push, plural(ends->push), initial);
    case WHY_BOUNDED:
        if (ends->window < 2)
            return arena_printf(arena, "one firing of '%s' may write up to %" PRIu64 " packet%s",
                                ends->writer, ends->push, plural(ends->push));
        return arena_printf(
            arena,
            "one firing of '%s' may write up to %" PRIu64 " packet%s beside the %" PRIu64
            " that '%s' can keep of an incomplete window",
            ends->writer, ends->push, plural(ends->push), ends->window - 1, ends->reader);
    case WHY_FINISH:
        if (ends->window < 2)
            return arena_printf(arena, "'%s' may append %" PRIu64 " packet%s when it ends",
                                ends->writer, ends->finish_max, plural(ends->finish_max));
        return arena_printf(arena,
                            "'%s' may append %" PRIu64 " packet%s when it ends, beside the %" PRIu64
                            " that '%s' can keep of an incomplete window",
                            ends->writer, ends->finish_max, plural(ends->finish_max),
                            ends->window - 1, ends->reader);
    case WHY_FINISH_INITIAL:
        return arena_printf(arena,
                            "'%s' may append %" PRIu64 " packet%s when it ends, beside the %" PRIu64
                            " initial one%s",
                            ends->writer, ends->finish_max, plural(ends->finish_max), initial,
                            plural(initial));
    case WHY_WAIT:
    case WHY_PACE:
    case WHY_PERIODIC: break;
    }
    return "";
}

/* Is the depth the sum of something else and of the room that is kept free for the end? */
static bool keeps_room(const struct sizing *sizing, enum depth_why why)
{
    return sizing->ending > 0 &&
           (why == WHY_PAIR || why == WHY_WAIT || why == WHY_PERIODIC || why == WHY_PACE);
}

static const char *keeping_room(struct arena *arena, const struct graph *graph,
                                const struct graph_buffer *buffer, const struct sizing *sizing,
                                const char *text)
{
    struct ends ends = buffer_ends(graph, buffer, 0);
    return arena_printf(arena, "%s; %s of it for what '%s' may append when it ends", text,
                        arena_counted(arena, sizing->ending, "packet"), ends.writer);
}

static const char *why_text(struct arena *arena, const struct graph *graph,
                            const struct graph_buffer *buffer, const struct sizing *sizing)
{
    struct ends ends = buffer_ends(graph, buffer, sizing->reader);
    if (sizing->why == WHY_PERIODIC)
        return "enough for a periodic schedule; a bound, because the repetition counts are too "
               "large "
               "to find the minimum";
    if (sizing->why == WHY_PACE)
        return arena_printf(
            arena,
            "for the maximum throughput of %" PRIu64 "/%" PRIu64
            " iterations per clock cycle: with less, '%s' and '%s' slow each other down",
            sizing->iterations, sizing->cycles, ends.writer, ends.reader);
    if (sizing->why != WHY_WAIT) return floor_text(arena, buffer, &ends, sizing->why);
    ends = buffer_ends(graph, buffer, 0);
    if (sizing->waiter == GRAPH_NONE)
        return arena_printf(arena, "'%s' has to write so many before '%s' can free any",
                            ends.writer, ends.reader);
    return arena_printf(arena,
                        "'%s' has to write so many before '%s' finds its packets in another buffer",
                        ends.writer, graph->nodes.items[sizing->waiter].name);
}

/* Some of the declared depths of a cycle have to grow, others turn out to be deep enough. */
static bool has_to_grow(const struct graph_buffer *buffer, const struct sizing *sizing)
{
    return sizing->depth_packets > buffer->depth_packets;
}

const char *bufsize_reason(struct arena *arena, const struct graph *graph, uint32_t index,
                           const struct sizing *sizing)
{
    const struct graph_buffer *buffer = &graph->buffers.items[index];
    if (!buffer->depth_declared) {
        const char *why = why_text(arena, graph, buffer, sizing);
        if (keeps_room(sizing, sizing->why)) why = keeping_room(arena, graph, buffer, sizing, why);
        return arena_printf(arena, "%" PRIu64 ": %s", sizing->depth_packets, why);
    }
    if (sizing->fault != FAULT_NONE && has_to_grow(buffer, sizing))
        return arena_printf(arena, "%" PRIu64 ": declared, and too small", buffer->depth_packets);
    if (sizing->least_packets == 0)
        return arena_printf(arena, "%" PRIu64 ": declared", buffer->depth_packets);
    return arena_printf(arena, "%" PRIu64 ": declared; the minimum is %" PRIu64,
                        buffer->depth_packets, sizing->least_packets);
}

/* ---- circular waits ---- */

static const char *word_arc(struct arena *arena, const struct channels *channels,
                            const struct net *net, const struct net_arc *arc)
{
    uint64_t need = net_need(net, arc), found = arc->tokens < 0 ? 0 : (uint64_t)arc->tokens;
    const struct net_node *waiting = &net->nodes[arc->to];
    const struct channel *channel = &channels->items[arc->channel];
    const struct graph *graph = channels->graph;
    const struct graph_buffer *buffer = &graph->buffers.items[channel->buffer];
    struct ends ends = buffer_ends(graph, buffer, channel->reader);
    const char *after = "";
    if (waiting->node < graph->nodes.count)
        after = arena_printf(arena, " after %s", arena_counted(arena, waiting->fired, "firing"));
    else if (graph_is_bounded(graph, buffer) && ends.push > need) {
        /* The source that stands for the writer claims a share, the writer its maximum. */
        int64_t room = arc->tokens + (int64_t)(ends.push - need);
        found = room < 0 ? 0 : (uint64_t)room;
        need = ends.push;
    }
    if (arc->kind == ARC_PACKETS)
        return arena_printf(
            arena, "'%s' needs %s in '%s' and finds %" PRIu64 "%s: it waits for '%s'", ends.reader,
            arena_counted(arena, need, "packet"), buffer->name, found, after, ends.writer);
    return arena_printf(
        arena, "'%s' needs room for %s in '%s' and finds %" PRIu64 "%s: it waits for '%s'",
        ends.writer, arena_counted(arena, need, "packet"), buffer->name, found, after, ends.reader);
}

struct waiting *bufsize_word_waiting(struct arena *arena, const struct channels *channels,
                                     const struct net *net, const struct net_cycle *cycle)
{
    struct waiting *waiting = ARENA_NEW(arena, struct waiting);
    waiting->count = cycle->count;
    waiting->shown = cycle->count < LINES_MAX ? cycle->count : LINES_MAX;
    waiting->nodes = ARENA_ARRAY(arena, uint32_t, waiting->shown);
    waiting->lines = ARENA_ARRAY(arena, const char *, waiting->shown);
    for (uint32_t i = 0; i < waiting->shown; i++) {
        const struct net_arc *arc = &net->arcs[cycle->arcs[i]];
        waiting->lines[i] = word_arc(arena, channels, net, arc);
        uint32_t node = net->nodes[arc->to].node;
        waiting->nodes[i] = node < channels->graph->nodes.count ? node : GRAPH_NONE;
    }
    return waiting;
}

/* ---- faults ---- */

struct faults {
    struct compile *cx;
    const struct graph *graph;
    struct sizing *sizings;
};

static struct span depth_place(const struct graph_buffer *buffer)
{
    return buffer->depth_span.source ? buffer->depth_span : buffer->span;
}

/* Proposes a number where the depth is written as a number for this buffer only. */
static void fix_depth(const struct faults *faults, struct diag *d,
                      const struct graph_buffer *buffer, uint64_t packets)
{
    const struct source *source = source_get(faults->cx->sources, buffer->depth_span.source);
    if (source == NULL || strchr(buffer->name, '[') != NULL) return;
    for (uint32_t i = buffer->depth_span.begin; i < buffer->depth_span.end; i++)
        if (source->bytes[i] < '0' || source->bytes[i] > '9') return;
    diag_fix(d, buffer->depth_span, "%" PRIu64, packets);
}

static void report_initial(const struct faults *faults, const struct graph_buffer *buffer,
                           const struct sizing *sizing)
{
    struct diag *d = diag_report(faults->cx->diags, RULE_INITIAL_BEYOND_DEPTH, depth_place(buffer),
                                 "buffer '%s' holds %s but begins with %" PRIu64, buffer->name,
                                 arena_counted(faults->cx->arena, buffer->depth_packets, "packet"),
                                 buffer->initial.packets);
    diag_label(d, buffer->initial.span, "%s",
               arena_counted(faults->cx->arena, buffer->initial.packets, "initial packet"));
    diag_help(d, "give '%s' a depth of at least %" PRIu64, buffer->name, sizing->depth_packets);
    fix_depth(faults, d, buffer, sizing->depth_packets);
}

/* Reports the end whose single firing is beyond the depth. */
static void report_burst(const struct faults *faults, const struct graph_buffer *buffer,
                         const struct sizing *sizing)
{
    struct ends ends = buffer_ends(faults->graph, buffer, 0);
    bool writes = ends.push > buffer->depth_packets;
    const struct graph_node *node =
        writes ? &faults->graph->nodes.items[buffer->writer_node] : NULL;
    for (uint32_t r = 0; r < buffer->readers.count && !node; r++) {
        ends = buffer_ends(faults->graph, buffer, r);
        if (ends.window > buffer->depth_packets)
            node = &faults->graph->nodes.items[buffer->readers.items[r].node];
    }
    if (!node) return;
    uint64_t packets = writes ? ends.push : ends.window;
    struct diag *d =
        diag_report(faults->cx->diags, RULE_BUFFER_BELOW_BURST, depth_place(buffer),
                    "buffer '%s' holds %s but one firing of '%s' %s %" PRIu64, buffer->name,
                    arena_counted(faults->cx->arena, buffer->depth_packets, "packet"), node->name,
                    !writes       ? "needs a window of"
                    : ends.always ? "writes"
                                  : "may write",
                    packets);
    diag_primary(d, "depth %" PRIu64, buffer->depth_packets);
    diag_label(d, node->span, "%s %s%s per firing", writes ? "writes" : "sees",
               (writes ? ends.always : ends.reader_phases == 1) ? "" : "up to ",
               arena_counted(faults->cx->arena, packets, "packet"));
    diag_note(d,
              "'%s' could never %s such a firing: the pipeline would stop with '%s' blocked on "
              "'%s'",
              node->name, writes ? "complete" : "start", node->name, buffer->name);
    diag_help(d, "give '%s' a depth of at least %" PRIu64, buffer->name, sizing->depth_packets);
    fix_depth(faults, d, buffer, sizing->depth_packets);
}

static struct diag *report_too_small(const struct faults *faults, const struct graph_buffer *buffer)
{
    struct diag *d =
        diag_report(faults->cx->diags, RULE_DEPTH_TOO_SMALL, depth_place(buffer),
                    "buffer '%s' with a depth of %" PRIu64 " packet%s is too small", buffer->name,
                    buffer->depth_packets, plural(buffer->depth_packets));
    diag_primary(d, "depth %" PRIu64, buffer->depth_packets);
    return d;
}

static void label_ends(const struct faults *faults, struct diag *d,
                       const struct graph_buffer *buffer, uint32_t reader)
{
    const struct graph *graph = faults->graph;
    struct ends ends = buffer_ends(graph, buffer, reader);
    if (buffer->writer_node != GRAPH_NONE)
        diag_label(d, graph->nodes.items[buffer->writer_node].span,
                   "writes %s%" PRIu64 " per firing", ends.always ? "" : "up to ", ends.push);
    if (reader < buffer->readers.count)
        diag_label(d, graph->nodes.items[buffer->readers.items[reader].node].span,
                   "reads %" PRIu64 " of a window of %" PRIu64, ends.pop, ends.peek);
}

/* The need of an end is sufficient, and not always necessary. */
static void help_least(const struct faults *faults, struct diag *d,
                       const struct graph_buffer *buffer, const struct sizing *sizing)
{
    fix_depth(faults, d, buffer, sizing->depth_packets);
    if (sizing->ending > 0 || sizing->floor_why == WHY_FINISH ||
        sizing->floor_why == WHY_FINISH_INITIAL) {
        diag_help(d, "give '%s' a depth of at least %" PRIu64, buffer->name, sizing->depth_packets);
        return;
    }
    if (sizing->loose) {
        diag_help(d, "give '%s' a depth of %" PRIu64 ": this is enough (fewer may be)",
                  buffer->name, sizing->depth_packets);
        return;
    }
    diag_help(d, "give '%s' a depth of %" PRIu64 ": %" PRIu64 " %s enough, %" PRIu64 " %s not",
              buffer->name, sizing->depth_packets, sizing->depth_packets,
              sizing->depth_packets == 1 ? "is" : "are", sizing->depth_packets - 1,
              sizing->depth_packets == 2 ? "is" : "are");
}

static void report_small(const struct faults *faults, const struct graph_buffer *buffer,
                         const struct sizing *sizing)
{
    struct arena *arena = faults->cx->arena;
    struct ends ends = buffer_ends(faults->graph, buffer, sizing->reader);
    struct diag *d = report_too_small(faults, buffer);
    label_ends(faults, d, buffer, sizing->reader);
    const char *why = floor_text(arena, buffer, &ends, sizing->floor_why);
    if (keeps_room(sizing, sizing->floor_why))
        why = keeping_room(arena, faults->graph, buffer, sizing, why);
    diag_note(d, "%s", why);
    help_least(faults, d, buffer, sizing);
}

static void note_waiting(const struct faults *faults, struct diag *d, const struct waiting *waiting)
{
    for (uint32_t i = 0; i < waiting->shown; i++) {
        if (waiting->nodes[i] == GRAPH_NONE)
            diag_note(d, "%s", waiting->lines[i]);
        else
            diag_label(d, faults->graph->nodes.items[waiting->nodes[i]].span, "%s",
                       waiting->lines[i]);
    }
    if (waiting->shown < waiting->count)
        diag_note(d, "... and %" PRIu32 " more in the same cycle", waiting->count - waiting->shown);
}

/* Notes the need for room that the lines of a cycle do not show. */
static void note_ending(const struct faults *faults, struct diag *d,
                        const struct graph_buffer *buffer, const struct sizing *sizing)
{
    if (sizing->ending == 0) return;
    diag_note(d, "room for %s in '%s' is kept for what '%s' may append when it ends",
              arena_counted(faults->cx->arena, sizing->ending, "packet"), buffer->name,
              buffer_ends(faults->graph, buffer, 0).writer);
}

static void report_wait(const struct faults *faults, const struct graph_buffer *buffer,
                        const struct sizing *sizing)
{
    struct diag *d = report_too_small(faults, buffer);
    note_waiting(faults, d, sizing->waiting);
    note_ending(faults, d, buffer, sizing);
    help_least(faults, d, buffer, sizing);
    if (sizing->waiting->cheapest)
        diag_note(d, "no other declared depth of the cycle fixes it with fewer bytes");
}

/* Names no depths if none could be found. */
static void help_together(const struct faults *faults, struct diag *d,
                          const struct graph_buffer *buffer, const struct sizing *sizing)
{
    const char *others = sizing->waiting->none_alone || sizing->waiting->buffer_count > 1
                             ? " with the others reported here,"
                             : "";
    if (diag_has(faults->cx->diags, RULE_LIVENESS_UNDECIDED)) return;
    if (sizing->ending == 0 && sizing->least_packets == sizing->depth_packets)
        diag_help(d,
                  "give '%s' a depth of %" PRIu64 ":%s %" PRIu64 " are enough, %" PRIu64 " %s not",
                  buffer->name, sizing->depth_packets, others, sizing->depth_packets,
                  sizing->depth_packets - 1, sizing->depth_packets == 2 ? "is" : "are");
    else
        diag_help(d, "give '%s' a depth of %" PRIu64 ":%s this is enough (fewer may be)",
                  buffer->name, sizing->depth_packets, others);
}

static void report_together(const struct faults *faults, const struct graph_buffer *buffer,
                            const struct sizing *sizing)
{
    const struct waiting *waiting = sizing->waiting;
    struct diag *d = report_too_small(faults, buffer);
    note_waiting(faults, d, waiting);
    if (waiting->none_alone)
        diag_note(d, "no single depth in this cycle fixes the pipeline");
    else
        diag_note(d, "the minimum that fixes the pipeline was not found within the budget of the "
                     "simulations");
    for (uint32_t i = 0; i < waiting->buffer_count; i++) {
        const struct graph_buffer *other = &faults->graph->buffers.items[waiting->buffers[i]];
        struct sizing *at = &faults->sizings[waiting->buffers[i]];
        at->fault_told = true;
        if (!has_to_grow(other, at)) continue;
        if (other != buffer)
            diag_label(d, depth_place(other), "depth %" PRIu64, other->depth_packets);
        note_ending(faults, d, other, at);
        help_together(faults, d, other, at);
    }
}

static void report_fault(const struct faults *faults, uint32_t index)
{
    const struct graph_buffer *buffer = &faults->graph->buffers.items[index];
    struct sizing *sizing = &faults->sizings[index];
    if (sizing->fault_told) return;
    switch (sizing->fault) {
    case FAULT_NONE: return;
    case FAULT_INITIAL: report_initial(faults, buffer, sizing); return;
    case FAULT_BURST: report_burst(faults, buffer, sizing); return;
    case FAULT_SMALL: report_small(faults, buffer, sizing); return;
    case FAULT_WAIT: report_wait(faults, buffer, sizing); return;
    case FAULT_TOGETHER:
        if (has_to_grow(buffer, sizing)) report_together(faults, buffer, sizing);
        return;
    }
}

void bufsize_report_faults(struct compile *cx, const struct graph *graph, struct sizing *sizings)
{
    struct faults faults = {cx, graph, sizings};
    for (uint32_t i = 0; i < graph->buffers.count; i++)
        report_fault(&faults, i);
}

/* ---- memory ---- */

static uint64_t depth_bytes(const struct graph_buffer *buffer)
{
    return buffer->outer == GRAPH_INNER ? mul_clamped(buffer->depth_packets, buffer->width_bytes)
                                        : 0;
}

/* The largest inner buffer after `last` in falling order of bytes, GRAPH_NONE past the end. */
static uint32_t next_largest(const struct graph *graph, uint32_t last)
{
    uint32_t best = GRAPH_NONE;
    for (uint32_t i = 0; i < graph->buffers.count; i++) {
        uint64_t bytes = depth_bytes(&graph->buffers.items[i]);
        if (bytes == 0) continue;
        if (last != GRAPH_NONE) {
            uint64_t before = depth_bytes(&graph->buffers.items[last]);
            if (bytes > before || (bytes == before && i <= last)) continue;
        }
        if (best == GRAPH_NONE || bytes > depth_bytes(&graph->buffers.items[best])) best = i;
    }
    return best;
}

void bufsize_report_memory(struct compile *cx, const struct graph *graph, uint64_t limit_bytes)
{
    uint64_t bytes;
    struct diag *d;
    if (graph_memory(graph, &bytes))
        d = diag_report(cx->diags, RULE_MEMORY_LIMIT, graph->span,
                        "the buffers need %" PRIu64 " bytes, and %" PRIu64 " are allowed", bytes,
                        limit_bytes);
    else
        d = diag_report(cx->diags, RULE_MEMORY_LIMIT, graph->span,
                        "the buffers need more bytes than 63 bits count");
    uint32_t largest = next_largest(graph, GRAPH_NONE);
    for (int i = 0; i < LARGEST_SHOWN && largest != GRAPH_NONE; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[largest];
        diag_label(d, buffer->span, "'%s': %" PRIu64 " packet%s of %" PRIu64 " byte%s",
                   buffer->name, buffer->depth_packets, plural(buffer->depth_packets),
                   buffer->width_bytes, plural(buffer->width_bytes));
        if (buffer->depth_reason) diag_note(d, "'%s': %s", buffer->name, buffer->depth_reason);
        largest = next_largest(graph, largest);
    }
    if (graph_memory(graph, &bytes))
        diag_help(d, "smaller depths, or '--max-memory %" PRIu64 "', which allows so many", bytes);
}

void bufsize_report_port_memory(struct compile *cx, const struct graph_buffer *buffer,
                                uint64_t limit_bytes)
{
    diag_report(cx->diags, RULE_MEMORY_LIMIT, buffer->span,
                "port '%s' needs a buffer of %" PRIu64 " packet%s of %" PRIu64
                " byte%s, and %" PRIu64 " are allowed",
                buffer->name, buffer->depth_min_packets, plural(buffer->depth_min_packets),
                buffer->width_bytes, plural(buffer->width_bytes), limit_bytes);
}
