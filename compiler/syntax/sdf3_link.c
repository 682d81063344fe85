/* SPDX-License-Identifier: MIT */
/* The names of a graph: what they mean, and what they are called in the language. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/diagnostics/diag.h"
#include "compiler/syntax/sdf3_graph.h"
#include "compiler/syntax/syntax_help.h"
#include "base/arithmetic.h"
#include "base/words.h"
#include "lang/scalar.h"

/* ---- finding names ---- */

struct named {
    const struct sdf3_text *name;
    uint32_t number;
};

struct name_index { /* in order of name */
    struct named *items;
    size_t count;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *one = a, *other = b;
    int order = strcmp(one->name->text, other->name->text);
    if (order != 0) return order;
    return one->number < other->number ? -1 : one->number > other->number;
}

static void sort_names(struct compile *cx, struct name_index *index, const char *what)
{
    if (index->count > 0) qsort(index->items, index->count, sizeof *index->items, compare_named);
    for (size_t i = 1; i < index->count; i++) {
        const struct sdf3_text *name = index->items[i].name, *before = index->items[i - 1].name;
        if (strcmp(name->text, before->text) != 0) continue;
        struct diag *d = diag_report(cx->diags, RULE_SDF3, name->span, "two %ss are called '%s'",
                                     what, name->text);
        diag_label(d, before->span, "one of them is here");
    }
}

/* SDF3_NONE: nothing is called that. */
static uint32_t find_named(const struct name_index *index, const char *name)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(index->items[middle].name->text, name);
        if (order == 0) return index->items[middle].number;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return SDF3_NONE;
}

struct names {
    struct compile *cx;
    struct sdf3_graph *graph;
    struct name_index actors;
    struct name_index *ports; /* by actor */
};

static void index_ports(struct names *n, uint32_t actor)
{
    const struct sdf3_actor *of = &n->graph->actors.items[actor];
    struct name_index *index = &n->ports[actor];
    *index = (struct name_index){ARENA_ARRAY(n->cx->arena, struct named, of->ports.count + 1),
                                 of->ports.count};
    for (uint32_t i = 0; i < of->ports.count; i++)
        index->items[i] = (struct named){&of->ports.items[i].name, i};
    sort_names(n->cx, index, "port");
}

static void index_names(struct names *n)
{
    struct arena *arena = n->cx->arena;
    const struct sdf3_graph *graph = n->graph;
    struct name_index channels = {ARENA_ARRAY(arena, struct named, graph->channels.count + 1),
                                  graph->channels.count};
    n->actors = (struct name_index){ARENA_ARRAY(arena, struct named, graph->actors.count),
                                    graph->actors.count};
    n->ports = ARENA_ARRAY(arena, struct name_index, graph->actors.count);
    for (uint32_t i = 0; i < graph->actors.count; i++) {
        n->actors.items[i] = (struct named){&graph->actors.items[i].name, i};
        index_ports(n, i);
    }
    for (uint32_t i = 0; i < graph->channels.count; i++)
        channels.items[i] = (struct named){&graph->channels.items[i].name, i};
    sort_names(n->cx, &n->actors, "actor");
    sort_names(n->cx, &channels, "channel");
}

static uint32_t find_actor(const struct names *n, struct sdf3_text name)
{
    uint32_t actor = find_named(&n->actors, name.text);
    if (actor == SDF3_NONE)
        diag_report(n->cx->diags, RULE_SDF3, name.span, "no actor is called '%s'", name.text);
    return actor;
}

/* ---- channels ---- */

static struct sdf3_port *port_of_end(const struct sdf3_graph *graph, const struct sdf3_end *end)
{
    return &graph->actors.items[end->actor].ports.items[end->port];
}

static void link_end(struct names *n, struct sdf3_end *end, bool is_from, uint32_t channel)
{
    end->actor = find_actor(n, end->actor_name);
    if (end->actor == SDF3_NONE) return;
    end->port = find_named(&n->ports[end->actor], end->port_name.text);
    if (end->port == SDF3_NONE) {
        diag_report(n->cx->diags, RULE_SDF3, end->port_name.span, "'%s' has no port '%s'",
                    end->actor_name.text, end->port_name.text);
        return;
    }
    struct sdf3_port *port = port_of_end(n->graph, end);
    if (port->is_out != is_from) {
        diag_report(n->cx->diags, RULE_SDF3, end->port_name.span,
                    is_from ? "a channel begins at an out-port, and '%s' is an in-port"
                            : "a channel ends at an in-port, and '%s' is an out-port",
                    end->port_name.text);
    } else if (port->channel != SDF3_NONE) {
        struct diag *d = diag_report(n->cx->diags, RULE_SDF3, end->port_name.span,
                                     "the port '%s' has two channels", end->port_name.text);
        diag_label(d, n->graph->channels.items[port->channel].name.span, "the other one");
    }
    port->channel = channel;
}

static bool is_always_one(const struct sdf3_rates *rates)
{
    for (size_t i = 0; i < rates->runs.count; i++)
        if (rates->runs.items[i].value != 1) return false;
    return true;
}

/* A channel from an actor to itself with one token, which every firing takes and gives back. */
static bool is_state_loop(const struct sdf3_graph *graph, const struct sdf3_channel *channel)
{
    return channel->from.actor == channel->to.actor && channel->tokens == 1 &&
           is_always_one(&port_of_end(graph, &channel->from)->rates) &&
           is_always_one(&port_of_end(graph, &channel->to)->rates);
}

/* State stands for such channels, unless the actor has no others: every kernel has a port. */
static void find_states(struct compile *cx, struct sdf3_graph *graph)
{
    bool *keeps = ARENA_ARRAY(cx->arena, bool, graph->actors.count);
    for (size_t i = 0; i < graph->channels.count; i++) {
        const struct sdf3_channel *channel = &graph->channels.items[i];
        if (!is_state_loop(graph, channel))
            keeps[channel->from.actor] = keeps[channel->to.actor] = true;
    }
    for (size_t i = 0; i < graph->channels.count; i++) {
        struct sdf3_channel *channel = &graph->channels.items[i];
        if (!is_state_loop(graph, channel) || !keeps[channel->from.actor]) continue;
        channel->left_out = graph->actors.items[channel->from.actor].stateful = true;
        port_of_end(graph, &channel->from)->channel = SDF3_NONE;
        port_of_end(graph, &channel->to)->channel = SDF3_NONE;
    }
}

static void report_open_ports(struct compile *cx, const struct sdf3_graph *graph)
{
    for (size_t i = 0; i < graph->actors.count; i++) {
        const struct sdf3_actor *actor = &graph->actors.items[i];
        size_t joined = 0;
        for (size_t k = 0; k < actor->ports.count; k++) {
            const struct sdf3_port *port = &actor->ports.items[k];
            joined += port->channel != SDF3_NONE;
            if (port->channel == SDF3_NONE)
                diag_report(cx->diags, RULE_SDF3_DIFFERENCE, port->name.span,
                            "the port '%s' of '%s' has no channel, and is left out",
                            port->name.text, actor->name.text);
        }
        if (joined == 0)
            diag_report(cx->diags, RULE_SDF3, actor->name.span, "the actor '%s' has no channel",
                        actor->name.text);
    }
}

/* ---- times ---- */

static uint64_t longest_phase(const struct sdf3_rates *cycles, uint64_t *least)
{
    uint64_t most = 0;
    *least = UINT64_MAX;
    for (size_t i = 0; i < cycles->runs.count; i++) {
        uint64_t value = cycles->runs.items[i].value;
        if (value > most) most = value;
        if (value < *least) *least = value;
    }
    return most;
}

/* A kernel has one cost, of at least 1. */
static void set_cycles(struct compile *cx, struct sdf3_actor *actor, const struct sdf3_time *time)
{
    uint64_t least = 0;
    actor->cycles_span = time != NULL ? time->cycles.span : actor->name.span;
    actor->cycles = time != NULL ? longest_phase(&time->cycles, &least) : 0;
    const char *name = actor->name.text;
    if (time == NULL)
        diag_report(cx->diags, RULE_SDF3_DIFFERENCE, actor->name.span,
                    "the actor '%s' has no execution time: it gets 1 cycle", name);
    else if (actor->cycles == 0)
        diag_report(cx->diags, RULE_SDF3_DIFFERENCE, actor->cycles_span,
                    "the actor '%s' takes no time: it gets 1 cycle, the minimum", name);
    else if (least != actor->cycles)
        diag_report(cx->diags, RULE_SDF3_DIFFERENCE, actor->cycles_span,
                    "the phases of '%s' take %" PRIu64 " to %" PRIu64 " cycles: each gets %" PRIu64
                    ", so the throughput may be higher",
                    name, least, actor->cycles, actor->cycles);
    if (actor->cycles == 0) actor->cycles = 1;
}

/* The time on the default processor, else on the first one. */
static void link_times(struct names *n)
{
    struct sdf3_graph *graph = n->graph;
    const struct sdf3_time **chosen =
        ARENA_ARRAY(n->cx->arena, const struct sdf3_time *, graph->actors.count);
    for (size_t i = 0; i < graph->times.count; i++) {
        const struct sdf3_time *time = &graph->times.items[i];
        uint32_t actor = find_actor(n, time->actor_name);
        if (actor == SDF3_NONE) continue;
        if (chosen[actor] == NULL || (time->is_default && !chosen[actor]->is_default))
            chosen[actor] = time;
    }
    for (size_t i = 0; i < graph->actors.count; i++)
        set_cycles(n->cx, &graph->actors.items[i], chosen[i]);
}

/* ---- phases ---- */

/* The least common multiple of all its ports. Too many are refused with the kernel. */
static void find_phases(struct sdf3_actor *actor)
{
    uint64_t phases = 1;
    for (size_t i = 0; i < actor->ports.count; i++) {
        const struct sdf3_port *port = &actor->ports.items[i];
        if (port->channel == SDF3_NONE) continue;
        uint32_t of_port = port->rates.phases;
        assert(of_port > 0); /* a port without a rate is refused */
        phases *= of_port / gcd64(phases, of_port);
        if (phases > UINT16_MAX) break;
    }
    actor->phases = (uint32_t)phases;
}

/* ---- words of the language ---- */

static bool is_type_word(const char *name)
{
    enum scalar_type type;
    size_t length = strlen(name), lanes = length;
    while (lanes > 0 && byte_is_digit(name[lanes - 1]))
        lanes--;
    if (lanes > 1 && lanes < length && name[lanes - 1] == 'x') length = lanes - 1;
    return scalar_from_name(name, length, &type);
}

/* Names that the generated text needs, or that mean something wherever they stand. */
static bool is_free_word(const char *name)
{
    static const char *const taken[] = {"phase", "fired", "rates", "token",
                                        "int",   "void",  "true",  "false"};
    if (*name == '\0' || byte_is_digit(*name) || is_type_word(name)) return false;
    for (const char *at = name; *at != '\0'; at++)
        if (!byte_is_word(*at)) return false;
    for (const char *const *word = reserved_words; *word != NULL; word++)
        if (strcmp(*word, name) == 0) return false;
    return WORD_INDEX(name, taken) == sizeof taken / sizeof *taken;
}

/* The name, or one made from it and its number, which no other of `index` has. */
static const char *choose_word(struct arena *arena, const struct name_index *index,
                               const char *name, uint32_t number)
{
    if (is_free_word(name)) return name;
    char *clean = arena_string(arena, name, strlen(name));
    for (char *at = clean; *at != '\0'; at++)
        if (!byte_is_word(*at)) *at = '_';
    const char *before = byte_is_digit(*clean) ? "_" : "";
    const char *word = arena_printf(arena, "%s%s_%" PRIu32, before, clean, number);
    while (find_named(index, word) != SDF3_NONE)
        word = arena_printf(arena, "_%s", word);
    return word;
}

static void choose_words(struct names *n)
{
    struct arena *arena = n->cx->arena;
    for (uint32_t i = 0; i < n->graph->actors.count; i++) {
        struct sdf3_actor *actor = &n->graph->actors.items[i];
        actor->word = choose_word(arena, &n->actors, actor->name.text, i);
        if (actor->word != actor->name.text)
            diag_report(n->cx->diags, RULE_SDF3_DIFFERENCE, actor->name.span,
                        "'%s' is no name of the language: its kernel is called '%s'",
                        actor->name.text, actor->word);
        for (uint32_t k = 0; k < actor->ports.count; k++) {
            struct sdf3_port *port = &actor->ports.items[k];
            if (port->channel == SDF3_NONE) continue;
            port->word = choose_word(arena, &n->ports[i], port->name.text, k);
            if (port->word != port->name.text)
                diag_report(n->cx->diags, RULE_SDF3_DIFFERENCE, port->name.span,
                            "'%s' is no name of the language: this port is called '%s'",
                            port->name.text, port->word);
        }
    }
}

bool sdf3_link(struct compile *cx, struct sdf3_graph *graph)
{
    struct names n = {.cx = cx, .graph = graph};
    size_t errors = diag_error_count(cx->diags);
    index_names(&n);
    for (uint32_t i = 0; i < graph->channels.count; i++) {
        link_end(&n, &graph->channels.items[i].from, true, i);
        link_end(&n, &graph->channels.items[i].to, false, i);
    }
    link_times(&n);
    if (diag_error_count(cx->diags) > errors) return false;
    report_open_ports(cx, graph);
    if (diag_error_count(cx->diags) > errors) return false;
    find_states(cx, graph);
    for (size_t i = 0; i < graph->actors.count; i++)
        find_phases(&graph->actors.items[i]);
    choose_words(&n);
    return true;
}
