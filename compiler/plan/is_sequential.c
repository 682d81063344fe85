#include "compiler/plan/is_sequential.h"

#include "compiler/ir/ratio.h"

enum { STEPS = 100 * 1000 };

struct game {
    const struct graph *graph;
    uint64_t **held; /* by buffer and reader: packets */
    uint32_t ready;  /* nodes that can fire */
    uint32_t next;   /* one of them */
    uint64_t *can;   /* by node: firings that its inputs admit */
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

static uint64_t admitted(const struct game *game, const struct graph_node *node)
{
    uint64_t firings = UINT64_MAX;
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        if (game->graph->buffers.items[in->buffer].outer == GRAPH_OUTER_IN) continue;
        uint64_t held = game->held[in->buffer][in->reader];
        firings = min64(firings, held < in->peek ? 0 : (held - in->peek) / in->pop + 1);
    }
    return firings;
}

static void look_at(struct game *game, uint32_t index)
{
    uint64_t can = admitted(game, &game->graph->nodes.items[index]);
    game->ready -= game->can[index] > 0;
    game->can[index] = can;
    game->ready += can > 0;
    if (can > 0) game->next = index;
}

static void start(struct arena *scratch, struct game *game)
{
    const struct graph *graph = game->graph;
    game->held = ARENA_ARRAY(scratch, uint64_t *, graph->buffers.count + 1);
    game->can = ARENA_ARRAY(scratch, uint64_t, graph->nodes.count + 1);
    for (size_t b = 0; b < graph->buffers.count; b++) {
        const struct graph_buffer *buffer = &graph->buffers.items[b];
        game->held[b] = ARENA_ARRAY(scratch, uint64_t, buffer->readers.count + 1);
        for (size_t r = 0; r < buffer->readers.count; r++)
            game->held[b][r] = buffer->initial.packets;
    }
    for (uint32_t n = 0; n < graph->nodes.count; n++)
        look_at(game, n);
}

static void fire(struct game *game, uint32_t index)
{
    const struct graph *graph = game->graph;
    const struct graph_node *node = &graph->nodes.items[index];
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        if (graph->buffers.items[in->buffer].outer == GRAPH_INNER)
            game->held[in->buffer][in->reader] -= in->pop;
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[node->outputs.items[i].buffer];
        for (size_t r = 0; r < buffer->readers.count; r++) {
            uint64_t *held = &game->held[node->outputs.items[i].buffer][r];
            *held = add_clamped(*held, node->outputs.items[i].push);
            look_at(game, buffer->readers.items[r].node);
        }
    }
    look_at(game, index);
}

bool plan_takes_turns(struct arena *scratch, const struct graph *graph)
{
    struct game game = {.graph = graph};
    uint64_t steps = 0;
    if (!is_plain(graph)) return false;
    for (size_t n = 0; n < graph->nodes.count; n++)
        steps = add_clamped(steps, graph->nodes.items[n].repetitions);
    if (steps > STEPS) return false;
    start(scratch, &game);
    for (; steps > 0; steps--) {
        if (game.ready != 1) return false;
        if (game.can[game.next] != 1) return false;
        fire(&game, game.next);
    }
    return game.ready == 1;
}
