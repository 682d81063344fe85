/* SPDX-License-Identifier: MIT */
/*
 * The schedule of a block, replayed without its loops being run.
 *
 * A part is a number of rules, and each rule a number of items, symbol and count: fire this, so
 * often.  Symbols below the block's terminals fire a vertex: one for a vertex with one phase,
 * one per phase for others, the vertices ascending.  Greater ones are rules, each only after its
 * own: so a text is a nest of loops of any depth, shared where it repeats, without recursion.  The
 * last two rules are the prologue, which may be empty, and the period.
 *
 * Of each rule a summary is kept, per channel that it touches: `net`, by how much the packets have
 * grown afterwards; `need`, how many must be there before it; `top`, how far a write reaches above
 * the packets that are there before it.  Of A then B: net = A + B; need = max(A, B - net of A); top
 * = max(A, net of A + B).  Of k times A: net k-fold; the last one needs (k - 1) x -net more where
 * net is below 0, and reaches (k - 1) x net higher where it is above.  Of each vertex with phases:
 * the one it begins with and the one it ends with, which must meet.  Nothing is approximated: a
 * text is accepted if and only if its firings, made one by one, keep to every channel.
 */
#include "runtime/verify/verify_certificate.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_WRITE INT64_MIN

struct effect {
    uint32_t key; /* channel of the block; after the channels its vertices, for their phases */
    int64_t net, need, top; /* of a vertex: last phase, first phase, 0 */
};

struct rule {
    uint64_t at, items;           /* word of the part, pairs there */
    uint64_t first_effect, count; /* once it has been summarised */
};

struct replay {
    const struct prt_channels *channels;
    const struct prt_container *c;
    const struct prt_block *block;
    struct prt_vertices vertices;
    struct prt_part part;
    struct prt_error *error;
    uint64_t *work;
    uint32_t *first_terminal;     /* of each vertex; one more at the end */
    uint32_t *first_edge, *edges; /* of each vertex: its channels in the block */
    struct rule *rules;
    uint64_t rule_count;
    struct effect *effects; /* of all rules, one after the other */
    uint64_t effect_count, effect_capacity;
    struct effect *sum; /* of the rule at hand, by key */
    bool *touched;
    uint32_t *order; /* keys that are touched */
    uint32_t order_count;
};

#define REFUSE(r, word, ...)                                                                       \
    prt_verify_refuse((r)->c, (r)->error, CONTAINER_CERTIFICATE, (r)->part.at + (word), __VA_ARGS__)

/* ---- the text ---- */

static enum prt_status read_rules(struct replay *r)
{
    uint64_t at = 1;
    r->rule_count = r->part.words[0];
    if (PRT_BREAKS(r->rule_count < 2 || r->rule_count > r->part.count - 1))
        return REFUSE(r, 0,
                      "%" PRIu64
                      " rules: a prologue and a period are missing, or they are more than "
                      "the words",
                      r->rule_count);
    r->rules = calloc(r->rule_count, sizeof *r->rules);
    if (r->rules == NULL) return prt_error_set(r->error, PRT_E_NOMEM, "out of memory");
    for (uint64_t i = 0; i < r->rule_count; i++) {
        uint64_t left = r->part.count - at;
        if (PRT_BREAKS(left == 0 || r->part.words[at] > (left - 1) / 2))
            return REFUSE(r, at < r->part.count ? at : r->part.count - 1,
                          "rule %" PRIu64 " runs past the part", i);
        r->rules[i] = (struct rule){.at = at + 1, .items = r->part.words[at]};
        at += 1 + 2 * r->rules[i].items;
    }
    if (PRT_BREAKS(at != r->part.count)) return REFUSE(r, at, "words after the last rule");
    return PRT_OK;
}

static void index_vertices(struct replay *r)
{
    uint32_t *fill = r->order;
    for (uint32_t i = 0; i < r->vertices.count; i++)
        r->first_terminal[i + 1] =
            r->first_terminal[i] + prt_vertex_phases(r->channels, r->vertices.items[i]);
    for (uint32_t i = 0; i < r->block->count; i++) {
        const struct prt_channel *channel = &r->channels->items[r->block->channels[i]];
        r->first_edge[r->channels->local[channel->from] + 1]++;
        if (channel->to != channel->from) r->first_edge[r->channels->local[channel->to] + 1]++;
    }
    for (uint32_t i = 0; i < r->vertices.count; i++) {
        r->first_edge[i + 1] += r->first_edge[i];
        fill[i] = r->first_edge[i];
    }
    for (uint32_t i = 0; i < r->block->count; i++) {
        const struct prt_channel *channel = &r->channels->items[r->block->channels[i]];
        r->edges[fill[r->channels->local[channel->from]]++] = i;
        if (channel->to != channel->from) r->edges[fill[r->channels->local[channel->to]]++] = i;
    }
}

/* The vertex of a terminal. */
static uint32_t symbol_vertex(const struct replay *r, uint64_t symbol)
{
    uint32_t low = 0, high = r->vertices.count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (r->first_terminal[middle] <= symbol)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- summaries ---- */

static bool fits_64_bits(prt_int128 value)
{
    return value <= PRT_PACKETS_MAX && value >= -PRT_PACKETS_MAX;
}

/* Adds `next` after the effects in `sum`; false beyond the arithmetic. */
static bool append_effect(struct effect *sum, const struct effect *next)
{
    prt_int128 net = (prt_int128)sum->net + next->net;
    prt_int128 need = (prt_int128)next->need - sum->net;
    if (next->top != NO_WRITE) {
        prt_int128 top = (prt_int128)sum->net + next->top;
        if (!fits_64_bits(top)) return false;
        if (sum->top == NO_WRITE || top > sum->top) sum->top = (int64_t)top;
    }
    if (need > sum->need) {
        if (!fits_64_bits(need)) return false;
        sum->need = (int64_t)need;
    }
    sum->net = (int64_t)net;
    return fits_64_bits(net);
}

static bool repeat_effect(struct effect *effect, uint64_t count)
{
    prt_int128 more = (prt_int128)effect->net * (count - 1);
    prt_int128 net = more + effect->net;
    /* equivalent: 0 more */
    prt_int128 need = more < 0 ? effect->need - more : effect->need;
    /* equivalent: 0 more */
    prt_int128 top = more > 0 ? effect->top + more : effect->top;
    if (!fits_64_bits(net) || !fits_64_bits(need) ||
        (effect->top != NO_WRITE && !fits_64_bits(top)))
        return false;
    effect->net = (int64_t)net;
    effect->need = (int64_t)need;
    effect->top = effect->top == NO_WRITE ? NO_WRITE : (int64_t)top;
    return true;
}

static enum prt_status too_large(const struct replay *r, uint64_t word)
{
    return REFUSE(r, word, "passes more packets than can be counted");
}

static enum prt_status add_effect(struct replay *r, uint64_t word, struct effect effect,
                                  uint64_t count)
{
    bool is_phase = effect.key >= r->block->count;
    struct effect *sum = &r->sum[effect.key];
    if (PRT_BREAKS(*r->work == 0))
        return REFUSE(r, word, "more work than a text of this length may ask for");
    --*r->work;
    if (PRT_BREAKS(is_phase && count > 1 && effect.net != effect.need))
        return REFUSE(r, word, "repeats a rule that does not end in the phase in which it begins");
    if (!is_phase && !repeat_effect(&effect, count)) return too_large(r, word);
    if (!r->touched[effect.key]) {
        r->touched[effect.key] = true;
        r->order[r->order_count++] = effect.key;
        *sum = effect;
        return PRT_OK;
    }
    if (!is_phase) return append_effect(sum, &effect) ? PRT_OK : too_large(r, word);
    if (PRT_BREAKS(sum->net != effect.need))
        return REFUSE(
            r, word, "'%s' is fired out of the order of its phases",
            prt_vertex_name(r->channels, r->vertices.items[effect.key - r->block->count]));
    sum->net = effect.net;
    return PRT_OK;
}

static struct effect effect_on(const struct replay *r, uint32_t edge, uint32_t vertex,
                               uint32_t phase)
{
    const struct prt_channel *channel = &r->channels->items[r->block->channels[edge]];
    struct effect effect = {.key = edge, .top = NO_WRITE};
    if (channel->to == vertex) {
        uint64_t peek = channel->peeks ? channel->peeks[phase] : channel->peek;
        uint64_t pop = channel->pops ? channel->pops[phase] : channel->pop;
        assert(pop <= peek && peek <= PRT_PACKETS_MAX); /* verify_rates.c: it sees what fits */
        effect.need = (int64_t)peek;
        effect.net = -(int64_t)pop;
    }
    if (channel->from == vertex) {
        uint64_t push = channel->pushes ? channel->pushes[phase] : channel->push;
        assert(push <= PRT_PACKETS_MAX); /* no more than the depth, nor is a share */
        effect.top = (int64_t)push;
        effect.net += effect.top;
    }
    return effect;
}

static enum prt_status replay_firings(struct replay *r, uint64_t word, uint64_t symbol,
                                      uint64_t count)
{
    uint32_t local = symbol_vertex(r, symbol), vertex = r->vertices.items[local];
    uint32_t phase = (uint32_t)symbol - r->first_terminal[local];
    uint32_t phases = prt_vertex_phases(r->channels, vertex);
    enum prt_status status = PRT_OK;
    for (uint32_t i = r->first_edge[local]; i < r->first_edge[local + 1] && status == PRT_OK; i++)
        status = add_effect(r, word, effect_on(r, r->edges[i], vertex, phase), count);
    /* equivalent: one phase follows itself, and would only be looked at */
    if (phases == 1 || status != PRT_OK) return status;
    return add_effect(
        r, word,
        (struct effect){r->block->count + local, phase + 1 == phases ? 0 : phase + 1, phase, 0},
        count);
}

static enum prt_status add_item(struct replay *r, uint64_t rule, uint64_t word)
{
    uint64_t symbol = r->part.words[word], count = r->part.words[word + 1];
    uint64_t terminals = r->first_terminal[r->vertices.count];
    if (PRT_BREAKS(count == 0 || count > INT64_MAX))
        return REFUSE(r, word + 1, "the count %" PRIu64 " is out of range", count);
    if (symbol < terminals) return replay_firings(r, word, symbol, count);
    if (PRT_BREAKS(symbol - terminals >= rule))
        return REFUSE(r, word, "rule %" PRIu64 " contains rule %" PRIu64, rule, symbol - terminals);
    const struct rule *inner = &r->rules[symbol - terminals];
    enum prt_status status = PRT_OK;
    for (uint64_t i = 0; i < inner->count && status == PRT_OK; i++)
        status = add_effect(r, word, r->effects[inner->first_effect + i], count);
    return status;
}

/* Stores the sums as the effects of the rule, and begins new sums. */
static enum prt_status keep_rule(struct replay *r, uint64_t rule)
{
    if (r->effect_count + r->order_count > r->effect_capacity) {
        /* equivalent: more memory than is needed */
        /* equivalent: how much there is to spare */
        uint64_t capacity = 2 * r->effect_capacity + r->order_count;
        struct effect *larger = realloc(r->effects, capacity * sizeof *larger);
        if (larger == NULL) return prt_error_set(r->error, PRT_E_NOMEM, "out of memory");
        r->effects = larger;
        r->effect_capacity = capacity;
    }
    r->rules[rule].first_effect = r->effect_count;
    r->rules[rule].count = r->order_count;
    for (uint32_t i = 0; i < r->order_count; i++) {
        r->effects[r->effect_count++] = r->sum[r->order[i]];
        r->touched[r->order[i]] = false;
    }
    r->order_count = 0;
    return PRT_OK;
}

static enum prt_status summarise_rules(struct replay *r)
{
    assert(r->rules != NULL);
    for (uint64_t i = 0; i < r->rule_count; i++) {
        enum prt_status status = PRT_OK;
        if (PRT_BREAKS(r->rules[i].items == 0 && i + 2 != r->rule_count))
            return REFUSE(r, r->rules[i].at - 1, "rule %" PRIu64 " is empty", i);
        for (uint64_t k = 0; k < r->rules[i].items && status == PRT_OK; k++)
            status = add_item(r, i, r->rules[i].at + 2 * k);
        if (status == PRT_OK) status = keep_rule(r, i);
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

/* ---- from the initial packets ---- */

static enum prt_status check_channel(const struct replay *r, const struct effect *effect,
                                     int64_t level, const char *when)
{
    uint32_t reader = r->block->channels[effect->key];
    const struct prt_channel *channel = &r->channels->items[reader];
    uint64_t word = r->rules[r->rule_count - 1].at - 1;
    const char *name =
        prt_verify_text(r->c, r->c->buffers[r->c->inputs[r->c->readers[reader].input].buffer].name);
    if (PRT_BREAKS(level < effect->need))
        return REFUSE(r, word, "%s, '%s' is fired without enough packets in '%s'", when,
                      prt_vertex_name(r->channels, channel->to), name);
    if (PRT_BREAKS(effect->top != NO_WRITE &&
                   (prt_int128)level + effect->top > (prt_int128)channel->room))
        return REFUSE(r, word, "%s, '%s' is fired without room in '%s'", when,
                      prt_vertex_name(r->channels, channel->from), name);
    return PRT_OK;
}

/* Leaves the packets and phases after the prologue in `sum`. */
static enum prt_status check_prologue(struct replay *r)
{
    assert(r->rules != NULL);
    const struct rule *prologue = &r->rules[r->rule_count - 2];
    memset(r->sum, 0, (r->block->count + (size_t)r->vertices.count) * sizeof *r->sum);
    for (uint64_t i = 0; i < prologue->count; i++) {
        const struct effect *effect = &r->effects[prologue->first_effect + i];
        if (effect->key < r->block->count) {
            int64_t initial = r->channels->items[r->block->channels[effect->key]].initial;
            enum prt_status status = check_channel(r, effect, initial, "in its prologue");
            if (status != PRT_OK) return status;
        } else if (PRT_BREAKS(effect->need != 0)) {
            return REFUSE(r, prologue->at - 1, "the prologue does not begin with the first phases");
        }
        r->sum[effect->key] = *effect;
    }
    return PRT_OK;
}

/* Shows that every vertex fires in the period.  Some vertex fires, because only the prologue may be
 * empty.  It goes through all of its phases, and consumes and writes at least one packet in each of
 * its channels.  These keep their packets only if the other end fires, too, and a block is
 * connected. */
static enum prt_status check_period(const struct replay *r)
{
    const struct rule *period = &r->rules[r->rule_count - 1];
    for (uint64_t i = 0; i < period->count; i++) {
        const struct effect *effect = &r->effects[period->first_effect + i];
        if (effect->key >= r->block->count) {
            if (PRT_BREAKS(effect->need != r->sum[effect->key].net || effect->net != effect->need))
                return REFUSE(r, period->at - 1,
                              "the period does not begin and end with the same phases");
            continue;
        }
        const struct prt_channel *channel = &r->channels->items[r->block->channels[effect->key]];
        if (PRT_BREAKS(effect->net != 0))
            return REFUSE(r, period->at - 1,
                          "the period does not leave as many packets between '%s' and '%s' as it "
                          "finds",
                          prt_vertex_name(r->channels, channel->from),
                          prt_vertex_name(r->channels, channel->to));
        prt_int128 level = (prt_int128)channel->initial + r->sum[effect->key].net;
        enum prt_status status = check_channel(r, effect, (int64_t)level, "in its period");
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

/* ---- the whole ---- */

static bool allocate_replay(struct replay *r)
{
    /* equivalent: one more is enough for the ends of lists */
    size_t vertices = (size_t)r->vertices.count + 1, keys = vertices + r->block->count;
    uint32_t *numbers = calloc(2 * vertices + 2 * (size_t)r->block->count + keys, sizeof *numbers);
    r->first_terminal = numbers;
    r->sum = calloc(keys, sizeof *r->sum);
    r->touched = calloc(keys, sizeof *r->touched);
    if (numbers == NULL) return false;
    r->first_edge = numbers + vertices;
    r->edges = r->first_edge + vertices;
    r->order = r->edges + 2 * (size_t)r->block->count;
    return r->sum != NULL && r->touched != NULL;
}

/* Phases of all vertices are rates in the file, so their sum fits where the file does; only a
 * node without any end of its own in RATES could say more, and verify_rates.c refuses it. */
static enum prt_status replay_all(struct replay *r)
{
    if (!allocate_replay(r)) return prt_error_set(r->error, PRT_E_NOMEM, "out of memory");
    index_vertices(r);
    enum prt_status status = read_rules(r);
    if (status == PRT_OK) status = summarise_rules(r);
    if (status == PRT_OK) status = check_prologue(r);
    if (status == PRT_OK) status = check_period(r);
    return status;
}

enum prt_status prt_verify_schedule(const struct prt_channels *channels, uint32_t block,
                                    struct prt_vertices vertices, struct prt_part part,
                                    uint64_t *work, struct prt_error *error)
{
    struct replay r = {.channels = channels,
                       .c = channels->container,
                       .block = &channels->blocks[block],
                       .vertices = vertices,
                       .part = part,
                       .error = error,
                       .work = work};
    enum prt_status status = replay_all(&r);
    free(r.first_terminal);
    free(r.sum);
    free(r.touched);
    free(r.rules);
    free(r.effects);
    return status;
}
