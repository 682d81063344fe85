/* SPDX-License-Identifier: MIT */
/* Rates of firings: see schedule_world.h. */
#include "tests/schedules/schedule_world.h"

/* Owner, phases: of the node of an end, found by its place in the tables. */
static const struct container_node *node_of_input(const struct prt_container *c,
                                                  const struct container_input *input)
{
    return &c->nodes[c->readers[input->reader].node];
}

static const struct container_node *node_of_output(const struct prt_container *c,
                                                   const struct container_output *output)
{
    return &c->nodes[c->buffers[output->buffer].writer_node];
}

/* The sum of a list over firings. */
static uint64_t sum_firings(const uint64_t *list, uint64_t cycle, uint32_t phases, uint64_t first,
                            uint64_t count)
{
    uint64_t sum = count / phases * cycle;
    for (uint64_t i = count - count % phases; i < count; i++)
        sum += list[(first + i) % phases];
    return sum;
}

uint64_t schedule_pops(const struct prt_container *c, const struct container_input *input,
                       uint64_t first, uint64_t count)
{
    if (input->rates == CONTAINER_NONE) return count * input->pop;
    return sum_firings(c->rates + input->rates, input->pop, node_of_input(c, input)->phases, first,
                       count);
}

uint64_t schedule_sees(const struct prt_container *c, const struct container_input *input,
                       uint64_t first, uint64_t count)
{
    if (count == 0) return 0;
    if (input->rates == CONTAINER_NONE) return (count - 1) * input->pop + input->peek;
    const struct container_node *node = node_of_input(c, input);
    const uint64_t *peeks = c->rates + input->rates + node->phases;
    uint64_t most = 0;
    for (uint64_t i = count > node->phases ? count - node->phases : 0; i < count; i++) {
        uint64_t end = schedule_pops(c, input, first, i) + peeks[(first + i) % node->phases];
        if (end > most) most = end;
    }
    return most;
}

static uint64_t most_at(const struct prt_container *c, const struct container_output *output,
                        uint32_t phases, uint64_t firing)
{
    return output->rates == CONTAINER_NONE ? output->push
                                           : c->rates[output->rates + phases + firing % phases];
}

uint64_t schedule_most(const struct prt_container *c, const struct container_output *output,
                       uint64_t first, uint64_t count)
{
    uint32_t phases = node_of_output(c, output)->phases;
    if (output->rates == CONTAINER_NONE) return count * output->push;
    return sum_firings(c->rates + output->rates + phases, output->push, phases, first, count);
}

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Outputs of a bundle append equal numbers of shares. */
static uint64_t appends_at(const struct prt_container *c, uint32_t number, uint64_t firing)
{
    const struct container_output *output = &c->outputs[number];
    uint32_t writer = c->buffers[output->buffer].writer_node, phases = c->nodes[writer].phases;
    uint64_t most = most_at(c, output, phases, firing), least = output->push_least;
    if (output->rates != CONTAINER_NONE) least = c->rates[output->rates + firing % phases];
    uint64_t share = output->share > 0 ? output->share : 1, drawn;
    drawn = mixed(firing * 8191 + writer * 131u +
                  (output->bundle > 0 ? output->bundle : 1000 + number));
    return (least / share + drawn % ((most - least) / share + 1)) * share;
}

uint64_t schedule_appends(const struct prt_container *c, uint32_t number, uint64_t first,
                          uint64_t count)
{
    const struct container_output *output = &c->outputs[number];
    uint64_t sum = 0;
    if (output->push_least == output->push) return schedule_most(c, output, first, count);
    for (uint64_t i = 0; i < count; i++)
        sum += appends_at(c, number, first + i);
    return sum;
}

uint64_t schedule_finish_appends(const struct container_output *output, uint32_t number)
{
    return output->finish_max == 0 ? 0 : mixed(number) % (output->finish_max + 1);
}
