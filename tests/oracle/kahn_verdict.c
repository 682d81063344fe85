/* SPDX-License-Identifier: MIT */
/*
 * A fault counts if it is demanded.  An out-port demands every packet.  A node without out-ports demands all that it
 * reads.  A node that is held back demands the packets that it lacks, if it is demanded itself.  Of several faults the one in the lowest
 * iteration counts, and in that the node that is declared first.  An iteration is that of the exact part: of the nodes
 * that rates connect of which each firing of a phase appends the same number.
 */
#include "tests/oracle/kahn.h"

#include <stdio.h>

/* ---- demanded nodes ---- */

static void want(struct node *node)
{
    if (node->wanted) return;
    node->wanted = true;
    for (uint32_t i = 0; i < node->in_elements; i++)
        if (node->ends[i].lacks) want(node->ends[i].channel->writer);
}

static bool is_asked_by_host(const struct node *node)
{
    bool asked = node->out_elements == 0;
    for (uint32_t i = 0; i < node->out_elements; i++)
        asked |= node->outs[i]->outer_out;
    return asked;
}

/* ---- iterations ---- */

static uint64_t common(uint64_t a, uint64_t b)
{
    return b ? common(b, a % b) : a;
}

/* Packets of a whole cycle of the writer's phases; 0: the rate is not exact, or not known. */
static uint64_t exact_push(const struct node *node, const struct port *port, uint64_t element)
{
    const struct channel *channel = node->outs[port->first + element];
    uint64_t sum = 0;
    for (uint64_t phase = 0; phase < node->phases; phase++) {
        if (port->push && port->push[phase].declared) {
            if (port->push[phase].low != port->push[phase].high) return 0;
            sum += port->push[phase].high;
        } else {
            if (channel->varies || !channel->appended || !channel->appended[phase]) return 0;
            sum += channel->appended[phase] - 1;
        }
    }
    return sum;
}

static uint64_t pop_of(const struct end *end)
{
    const struct node *node = end->node;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < node->in_count; i++) {
        const struct port *port = &node->ports[i];
        if (end < &node->ends[port->first] || end >= &node->ends[port->first + port->arity])
            continue;
        for (uint64_t phase = 0; phase < node->phases; phase++)
            sum += port->window_width ? 1 : port->pop[phase];
    }
    return sum;
}

/* `to` goes round its phases push / pop times where `from` does once; or the other way round. */
static bool relate(struct node *to, const struct node *from, uint64_t push, uint64_t pop)
{
    if (to->share || !from->share || !push || !pop) return false;
    uint64_t shared = common(from->share, pop), of = common(push, from->of);
    to->share = from->share / shared * (push / of);
    to->of = from->of / of * (pop / shared);
    to->part = from->part;
    return true;
}

static bool relate_readers(struct node *node)
{
    bool any = false;
    for (uint32_t i = node->in_count; i < node->port_count; i++)
        for (uint64_t n = 0; n < node->ports[i].arity; n++) {
            const struct channel *channel = node->outs[node->ports[i].first + n];
            uint64_t push = exact_push(node, &node->ports[i], n);
            for (struct end *end = channel->readers; end; end = end->next) {
                any |= relate(end->node, node, push, pop_of(end));
                any |= relate(node, end->node, pop_of(end), push);
            }
        }
    return any;
}

/* The readers of one channel are of one part, whatever its writer does. */
static bool relate_shared(const struct channel *channel)
{
    bool any = false;
    for (struct end *a = channel->readers; a; a = a->next)
        for (struct end *b = channel->readers; b; b = b->next)
            any |= relate(a->node, b->node, pop_of(b), pop_of(a));
    return any;
}

static void relate_all(struct graph *graph)
{
    for (bool any = true; any;) {
        any = false;
        for (struct node *node = graph->nodes; node; node = node->next)
            any |= relate_readers(node);
        for (size_t i = 0; i < graph->channel_count; i++)
            any |= relate_shared(graph->channels[i]);
    }
}

/* Scales the fractions of a part to the smallest whole numbers, in `share`, phases counted. */
static void make_whole(struct graph *graph, uint32_t part)
{
    uint64_t all = 1, divisor = 0;
    for (struct node *node = graph->nodes; node; node = node->next)
        if (node->part == part) all = all / common(all, node->of) * node->of;
    for (struct node *node = graph->nodes; node; node = node->next) {
        if (node->part != part) continue;
        node->share = node->share * (all / node->of);
        divisor = common(node->share, divisor);
    }
    for (struct node *node = graph->nodes; node; node = node->next)
        if (node->part == part) node->share = node->share / divisor * node->phases;
}

static void find_iterations(struct graph *graph)
{
    uint32_t parts = 0;
    for (struct node *node = graph->nodes; node; node = node->next) {
        if (node->share) continue;
        node->share = node->of = 1;
        node->part = parts++;
        relate_all(graph);
    }
    for (uint32_t part = 0; part < parts; part++)
        make_whole(graph, part);
}

/* ---- the verdict ---- */

static int say(const struct node *node)
{
    printf("fault %s line %d in ", node->fault_id, node->fault_line);
    if (node->fault_section)
        printf("%s\n", node->fault_section);
    else
        printf("%llu\n", (unsigned long long)node->firings);
    return KAHN_FAULT;
}

int kahn_verdict(struct graph *graph)
{
    const struct node *first = NULL;
    for (const struct node *node = graph->nodes; node; node = node->next)
        if (node->faulted && node->fault_section && node->fault_section[0] == 'i') return say(node);
    for (struct node *node = graph->nodes; node; node = node->next)
        if ((node->faulted || node->held) && is_asked_by_host(node)) want(node);
    find_iterations(graph);
    for (const struct node *node = graph->nodes; node; node = node->next) {
        if (!node->faulted || !node->wanted) continue;
        if (!first || node->firings / node->share < first->firings / first->share) first = node;
    }
    return first ? say(first) : 0;
}
