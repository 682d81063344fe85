/* SPDX-License-Identifier: MIT */
/*
 * The packets that have to come out, whatever the order of firings: each node fires as long as it can, on queues without a
 * limit; then what can fire no more ends.
 */
#include "tests/schedules/schedule_world.h"

#include <stdlib.h>

struct kahn {
    const struct prt_container *c;
    const struct schedule_scenario *scenario;
    uint64_t *written, *eaten, *fired; /* by buffer, reader, node */
    bool *closed, *over;               /* by buffer, node */
};

enum { ENDLESS = 1 << 18 }; /* firings of a node */

static bool has_packets(const struct kahn *k, uint32_t n)
{
    const struct container_node *node = &k->c->nodes[n];
    for (uint32_t i = node->first_input; i < node->first_input + node->input_count; i++) {
        const struct container_input *input = &k->c->inputs[i];
        if (k->written[input->buffer] - k->eaten[input->reader] <
            schedule_sees(k->c, input, k->fired[n], 1))
            return false;
    }
    return true;
}

/* Would the next firing execute `stop`? */
static bool is_to_stop(const struct kahn *k, uint32_t n)
{
    return k->c->nodes[n].flags & CONTAINER_NODE_STOPS && k->fired[n] >= k->scenario->stop_after;
}

static bool can_fire(const struct kahn *k, uint32_t n)
{
    bool limited = k->c->nodes[n].input_count == 0 && k->fired[n] >= k->scenario->firings;
    return !k->over[n] && !limited && !is_to_stop(k, n) && has_packets(k, n);
}

static void fire_node(struct kahn *k, uint32_t n)
{
    const struct container_node *node = &k->c->nodes[n];
    for (uint32_t i = node->first_input; i < node->first_input + node->input_count; i++)
        k->eaten[k->c->inputs[i].reader] += schedule_pops(k->c, &k->c->inputs[i], k->fired[n], 1);
    for (uint32_t o = node->first_output; o < node->first_output + node->output_count; o++)
        k->written[k->c->outputs[o].buffer] += schedule_appends(k->c, o, k->fired[n], 1);
    k->fired[n]++;
}

/* It cannot fire now: can it never fire again? */
static bool is_at_end(const struct kahn *k, uint32_t n)
{
    const struct container_node *node = &k->c->nodes[n];
    if (node->input_count == 0 || (is_to_stop(k, n) && has_packets(k, n))) return true;
    for (uint32_t i = node->first_input; i < node->first_input + node->input_count; i++) {
        const struct container_input *input = &k->c->inputs[i];
        uint64_t held = k->written[input->buffer] - k->eaten[input->reader];
        if (k->closed[input->buffer] && held < schedule_sees(k->c, input, k->fired[n], 1))
            return true;
    }
    return false;
}

static bool step_node(struct kahn *k, uint32_t n, bool *endless)
{
    const struct container_node *node = &k->c->nodes[n];
    bool moved = false;
    for (; can_fire(k, n) && !*endless; moved = true) {
        fire_node(k, n);
        *endless = k->fired[n] > ENDLESS;
    }
    if (k->over[n] || !is_at_end(k, n)) return moved;
    k->over[n] = true;
    for (uint32_t o = node->first_output; o < node->first_output + node->output_count; o++) {
        const struct container_output *output = &k->c->outputs[o];
        if (node->flags & CONTAINER_NODE_FINISH)
            k->written[output->buffer] += schedule_finish_appends(output, o);
        k->closed[output->buffer] = true;
    }
    return true;
}

bool schedule_expect(const struct prt_container *c, const struct schedule_scenario *scenario,
                     uint64_t *packets)
{
    struct kahn k = {c,
                     scenario,
                     packets,
                     calloc(c->reader_count + 1, sizeof(uint64_t)),
                     calloc(c->node_count, sizeof(uint64_t)),
                     calloc(c->buffer_count + 1, 1),
                     calloc(c->node_count, 1)};
    bool endless = false;
    if (!k.eaten || !k.fired || !k.closed || !k.over) abort();
    for (uint32_t b = 0; b < c->buffer_count; b++) {
        bool port = c->buffers[b].outer == CONTAINER_OUTER_IN;
        packets[b] = c->buffers[b].initial_packets + (port ? scenario->packets_in : 0);
        k.closed[b] = port;
    }
    for (bool more = true; more && !endless;) {
        more = false;
        for (uint32_t n = 0; n < c->node_count && !endless; n++)
            more = step_node(&k, n, &endless) || more;
    }
    free(k.eaten);
    free(k.fired);
    free(k.closed);
    free(k.over);
    return !endless;
}
