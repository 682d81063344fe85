/* SPDX-License-Identifier: MIT */
/*
 * Firings and ends.  A node fires when each in-port holds its window; queues have no end unless declared
 * depths are asked for.  A node ends when an input is closed and holds too little; a node that no in-port feeds ends with its
 * readers. Kahn's theorem makes the packets independent of the order in which all this is tried.  A node that faults
 * fires no more and closes nothing; whoever needs one more packet of it, and has all else, is held and closes nothing.
 */
#include "tests/oracle/kahn.h"

#include <string.h>

/* ---- what a window waits for ---- */

static void find_shape(struct channel *channel, int depth)
{
    if (channel->row || !channel->writer || depth > 1000) return;
    const struct node *writer = channel->writer;
    for (uint32_t i = 0; i < writer->in_count && !channel->row; i++) {
        const struct port *port = &writer->ports[i];
        if (writer->phases != 1 || (!port->window_width && port->pop[0] != 1)) continue;
        struct channel *before = writer->ends[port->first].channel;
        find_shape(before, depth + 1);
        channel->row = before->row;
        channel->height = before->height;
    }
}

/* The packets that must be present from the reader's place on, 0 if it can never fire; *rows of the frame seen. */
size_t window_ahead(const struct node *node, const struct port *port, const struct end *end,
                    uint64_t *rows)
{
    struct channel *channel = end->channel;
    (void)node;
    find_shape(channel, 0);
    if (!channel->row) kahn_refuse(0, "a window on '%s', which has no rows", channel->name);
    size_t count = channel->packets.count, row = channel->row,
           whole = channel->height ? row * channel->height : SIZE_MAX / 2;
    size_t start = channel->height ? end->at / whole * whole : 0, centre = end->at - start,
           there = count - start;
    size_t ahead = centre + (port->window_height / 2) * row + port->window_width / 2 + 1;
    if (port->border == BORDER_WRAP && port->window_height > 1) ahead = whole;
    if (port->border == BORDER_WRAP && port->window_height == 1) ahead = (centre / row + 1) * row;
    if (ahead > whole) ahead = whole;
    *rows = whole / row;
    if (there >= ahead) return ahead;
    *rows = there / row;
    return channel->closed && centre / row < *rows ? ahead : 0;
}

/* ---- firing ---- */

enum ready { WAITS, FIRES, ENDS, HELD };

static enum ready end_ready(const struct node *node, const struct port *port, const struct end *end)
{
    uint64_t phase = node->firings % node->phases, rows;
    bool enough = port->window_width ? window_ahead(node, port, end, &rows) > 0
                                     : end->channel->packets.count - end->at >= port->peek[phase];
    if (enough) return FIRES;
    if (end->channel->closed) return ENDS;
    const struct node *writer = end->channel->writer;
    return writer && (writer->faulted || writer->held) ? HELD : WAITS;
}

static enum ready inputs_ready(const struct node *node)
{
    enum ready ready = FIRES;
    for (uint32_t i = 0; i < node->in_count; i++)
        for (uint64_t n = 0; n < node->ports[i].arity; n++) {
            enum ready one =
                end_ready(node, &node->ports[i], &node->ends[node->ports[i].first + n]);
            if (one == ENDS) return ENDS;
            if (one == WAITS || (one == HELD && ready == FIRES)) ready = one;
        }
    return ready;
}

/* For exact declared rates only: the packets of a firing must fit the declared depth. */
static bool has_room(const struct node *node)
{
    for (uint32_t i = node->in_count; i < node->port_count; i++)
        for (uint64_t n = 0; n < node->ports[i].arity; n++) {
            const struct channel *c = node->outs[node->ports[i].first + n];
            uint64_t burst =
                node->ports[i].push ? node->ports[i].push[node->firings % node->phases].high : 1;
            size_t held = 0;
            for (const struct end *end = c->readers; end; end = end->next)
                if (!end->node->ended && c->packets.count - end->at > held)
                    held = c->packets.count - end->at;
            if (c->depth && held + burst > c->depth) return false;
        }
    return true;
}

/* Of a node that every other end lets fire. */
static void hold(struct node *node)
{
    node->held = node->ended = true;
    for (uint32_t i = 0; i < node->in_count; i++)
        for (uint64_t n = 0; n < node->ports[i].arity; n++) {
            struct end *end = &node->ends[node->ports[i].first + n];
            end->lacks = end_ready(node, &node->ports[i], end) == HELD;
        }
}

bool node_has_finish(const struct node *node)
{
    for (const struct tree *s = node->body->a; s; s = s->next)
        if (s->kind == S_FINISH) return true;
    return false;
}

static void end_node(struct node *node)
{
    node->ended = true;
    node->faulted =
        node->faulted || (node_has_finish(node) && kahn_faults(node, node_finish, "finish"));
    for (uint32_t i = 0; i < node->out_elements && !node->faulted; i++)
        node->outs[i]->closed = true;
}

/* ---- what no in-port feeds ---- */

static void mark_fed(struct graph *graph)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (struct node *node = graph->nodes; node; node = node->next)
            for (uint32_t i = 0; i < node->in_elements && !node->fed; i++) {
                const struct channel *c = node->ends[i].channel;
                node->fed = c->outer_in || (c->writer && c->writer->fed);
                changed |= node->fed;
            }
    }
}

/* A running node outside of all cycles still reads its output. */
static void mark_wanted(struct graph *graph)
{
    for (struct node *node = graph->nodes; node; node = node->next)
        node->alive = node->fed || node->out_elements == 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (struct node *node = graph->nodes; node; node = node->next)
            for (uint32_t i = 0; i < node->out_elements && !node->alive; i++) {
                node->alive = node->outs[i]->outer_out;
                for (const struct end *end = node->outs[i]->readers; end && !node->alive;
                     end = end->next)
                    node->alive = !end->node->ended && end->node->alive;
                changed |= node->alive;
            }
    }
}

static bool end_unwanted(struct graph *graph)
{
    bool ended = false;
    mark_wanted(graph);
    for (struct node *node = graph->nodes; node; node = node->next)
        if (!node->ended && !node->alive) {
            end_node(node);
            ended = true;
        }
    return ended;
}

/* ---- the run ---- */

static bool try_node(struct node *node, bool bounded, uint64_t firings)
{
    if (node->ended) return false;
    if (node->in_elements == 0 && node->firings == firings) {
        end_node(node);
        return true;
    }
    enum ready ready = inputs_ready(node);
    if (ready == WAITS || (ready == FIRES && bounded && !has_room(node))) return false;
    if (ready == HELD) {
        hold(node);
        return true;
    }
    if (ready == FIRES) node->faulted = kahn_faults(node, node_fire, NULL);
    if (ready == ENDS || node->ended || node->faulted) end_node(node);
    return true;
}

int kahn_run(struct graph *graph, bool bounded, uint64_t firings)
{
    mark_fed(graph);
    for (struct node *node = graph->nodes; node; node = node->next)
        node->faulted = node->ended = kahn_faults(node, node_prepare, "init");
    for (bool progress = true; progress;) {
        progress = false;
        for (struct node *node = graph->nodes; node; node = node->next)
            while (node->in_elements > 0 && try_node(node, bounded, firings))
                progress = true;
        progress |= end_unwanted(graph);
        if (progress) continue;
        for (struct node *node = graph->nodes; node; node = node->next)
            if (node->in_elements == 0) progress |= try_node(node, bounded, firings);
    }
    int status = kahn_verdict(graph);
    for (const struct node *node = graph->nodes; node; node = node->next)
        if (status == 0 && !node->ended) status = KAHN_STARVED;
    return status;
}
