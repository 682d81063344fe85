/* SPDX-License-Identifier: MIT */
#include "compiler/plan/is_sequential.h"

#include "compiler/ir/ratio.h"
#include "compiler/liveness/token_game.h"

enum { STEPS = 100 * 1000 };

struct game {
    struct net *net;
    uint32_t ready; /* nodes that can fire */
    uint32_t next;  /* one of them */
    uint64_t *can;  /* by node of the net: firings that its inputs admit */
};

/* Is the graph one that can be played? */
static bool is_plain(const struct graph *graph)
{
    for (size_t n = 0; n < graph->nodes.count; n++) {
        const struct graph_node *node = &graph->nodes.items[n];
        if (graph_phases(node) > 1 || node->kernel->stops || node->inputs.count == 0) return false;
        for (size_t i = 0; i < node->outputs.count; i++)
            if (node->outputs.items[i].push_least != node->outputs.items[i].push) return false;
        for (size_t i = 0; i < node->inputs.count; i++)
            if (node->inputs.items[i].history > 0 || node->inputs.items[i].pop == 0) return false;
    }
    return graph->nodes.count > 1;
}

static void look_at(struct game *game, uint32_t node)
{
    uint64_t can = net_enabled(game->net, node);
    game->ready -= game->can[node] > 0;
    game->can[node] = can;
    game->ready += can > 0;
    if (can > 0) game->next = node;
}

bool plan_takes_turns(struct arena *scratch, const struct graph *graph)
{
    uint64_t steps = 0;
    if (!is_plain(graph)) return false;
    for (size_t n = 0; n < graph->nodes.count; n++)
        steps = add_clamped(steps, graph->nodes.items[n].repetitions);
    if (steps > STEPS) return false;
    struct channels channels = channels_collect(scratch, graph, CHANNELS_INNER);
    struct game game = {.net = net_create(scratch, &channels, NULL, NULL)};
    struct net *net = game.net;
    if (net->too_large) return false;
    game.can = ARENA_ARRAY(scratch, uint64_t, net->node_count);
    for (uint32_t n = 0; n < net->node_count; n++)
        look_at(&game, n);
    for (; steps > 0; steps--) {
        if (game.ready != 1 || game.can[game.next] != 1) return false;
        const uint32_t node = game.next;
        net_fire(net, node, 1);
        for (uint32_t i = net->nodes[node].first_out; i < net->nodes[node + 1].first_out; i++)
            look_at(&game, net->arcs[net->out_arcs[i]].to);
        look_at(&game, node);
    }
    return game.ready == 1;
}
