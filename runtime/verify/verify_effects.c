/* SPDX-License-Identifier: MIT */
/* The effects of runs and loops on levels: see verify_levels.h. */
#include "runtime/verify/verify_levels.h"

static bool fits_effect(prt_int128 value)
{
    return value <= PRT_LEVEL_MAX && value >= -PRT_LEVEL_MAX;
}

bool prt_effect_append(struct prt_effect *sum, const struct prt_effect *next)
{
    prt_int128 net = (prt_int128)sum->net + next->net;
    prt_int128 need = (prt_int128)next->need - sum->net;
    if (next->top != PRT_NO_TOP) {
        prt_int128 top = (prt_int128)sum->net + next->top;
        if (!fits_effect(top)) return false;
        if (sum->top == PRT_NO_TOP || top > sum->top) sum->top = (int64_t)top;
    }
    if (!fits_effect(net) || !fits_effect(need)) return false;
    if (need > sum->need) sum->need = (int64_t)need;
    sum->net = (int64_t)net;
    return true;
}

bool prt_effect_repeat(struct prt_effect *effect, uint64_t count)
{
    prt_int128 more = (prt_int128)effect->net * (count - 1);
    prt_int128 net = more + effect->net;
    prt_int128 need = more < 0 ? effect->need - more : effect->need;
    prt_int128 top = effect->top;
    /* equivalent: 0 more */
    if (more > 0 && effect->top != PRT_NO_TOP) top += more;
    if (!fits_effect(net) || !fits_effect(need) || (effect->top != PRT_NO_TOP && !fits_effect(top)))
        return false;
    *effect = (struct prt_effect){(int64_t)net, (int64_t)need,
                                  effect->top == PRT_NO_TOP ? PRT_NO_TOP : (int64_t)top};
    return true;
}

/* Packets of `firings` firings from `phase` on, less than a cycle. */
static prt_int128 part_of_cycle(const uint64_t *rates, uint32_t phases, uint64_t phase,
                                uint64_t firings)
{
    prt_int128 sum = 0;
    for (uint64_t i = 0; i < firings; i++)
        sum += rates[(phase + i) % phases];
    return sum;
}

/* For firings with phases: the maximum that one firing needs beyond the packets that earlier ones
 * have consumed.  Later cycles need more, so the last firing of each phase decides. */
static prt_int128 need_of_phases(const struct container_node *node, const uint64_t *pops,
                                 const uint64_t *peeks, uint64_t cycle, uint64_t phase,
                                 uint64_t firings)
{
    uint64_t looked_at = firings < node->phases ? firings : node->phases;
    uint64_t skipped = firings - looked_at;
    prt_int128 taken = (prt_int128)(skipped / node->phases) * cycle +
                       part_of_cycle(pops, node->phases, phase, skipped % node->phases);
    prt_int128 need = 0;
    for (uint64_t i = skipped; i < firings; i++) {
        uint64_t at = (phase + i) % node->phases;
        if (taken + peeks[at] > need) need = taken + peeks[at];
        taken += pops[at];
    }
    return need;
}

bool prt_effect_of_input(const struct prt_container *c, const struct container_node *node,
                         const struct container_input *input, uint64_t phase, uint64_t firings,
                         struct prt_effect *effect)
{
    prt_int128 taken = (prt_int128)input->pop * firings;
    prt_int128 need = (prt_int128)input->pop * (firings - 1) + input->peek;
    if (input->rates != CONTAINER_NONE) {
        const uint64_t *pops = c->rates + input->rates;
        taken = (prt_int128)(firings / node->phases) * input->pop +
                part_of_cycle(pops, node->phases, phase, firings % node->phases);
        need = need_of_phases(node, pops, pops + node->phases, input->pop, phase, firings);
    }
    if (!fits_effect(taken) || !fits_effect(need)) return false;
    *effect = (struct prt_effect){-(int64_t)taken, (int64_t)need, PRT_NO_TOP};
    return true;
}

bool prt_effect_of_output(const struct prt_container *c, const struct container_node *node,
                          const struct container_output *output, uint64_t phase, uint64_t firings,
                          struct prt_effect *effect)
{
    prt_int128 given = (prt_int128)output->push * firings;
    if (output->rates != CONTAINER_NONE)
        given = (prt_int128)(firings / node->phases) * output->push +
                part_of_cycle(c->rates + output->rates + node->phases, node->phases, phase,
                              firings % node->phases);
    if (!fits_effect(given)) return false;
    *effect = (struct prt_effect){(int64_t)given, 0, given > 0 ? (int64_t)given : PRT_NO_TOP};
    return true;
}
