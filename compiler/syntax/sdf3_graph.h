/* SPDX-License-Identifier: MIT */
/*
 * sdf3_graph: a graph as a file of the SDF3 tools has it (lang/sdf3.md).  Private to syntax.
 *
 * sdf3_read fills everything that is not marked; sdf3_link fills the rest. All lives in cx->arena. Spans are in the
 * XML file.
 */
#ifndef PIPEC_SDF3_GRAPH_H
#define PIPEC_SDF3_GRAPH_H

#include "compiler/context/context.h"
#include "base/vec.h"

struct sdf3_text { /* an attribute's value */
    const char *text;
    struct span span;
};

struct sdf3_run { /* so many phases, one after the other, with this value */
    uint32_t phases;
    uint64_t value;
};

struct sdf3_rates { /* one value for each phase, in runs; at least one phase */
    VEC(struct sdf3_run) runs;
    uint32_t phases;
    struct span span;
};

struct sdf3_port {
    struct sdf3_text name;
    bool is_out;
    struct sdf3_rates rates;
    /* By sdf3_link: its name in the language, and its channel's number; SDF3_NONE: it has none. */
    const char *word;
    uint32_t channel;
};

#define SDF3_NONE UINT32_MAX

struct sdf3_actor {
    struct sdf3_text name;
    VEC(struct sdf3_port) ports;
    /* By sdf3_link: the name of its kernel; the phases of its rates; cycles of a firing, and where they stand. */
    const char *word;
    uint32_t phases;
    uint64_t cycles;
    struct span cycles_span;
    bool stateful; /* a channel to itself with one token lets one firing go on at a time */
};

struct sdf3_end { /* of a channel */
    struct sdf3_text actor_name, port_name;
    uint32_t actor, port; /* by sdf3_link */
};

struct sdf3_channel {
    struct sdf3_text name;
    struct sdf3_end from, to;
    uint64_t tokens;
    struct span tokens_span;
    bool left_out; /* by sdf3_link: its actor is stateful instead */
};

struct sdf3_time { /* of an actor, on one processor */
    struct sdf3_text actor_name;
    bool is_default;
    struct sdf3_rates cycles;
};

struct sdf3_graph {
    const char *name;
    VEC(struct sdf3_actor) actors;
    VEC(struct sdf3_channel) channels;
    VEC(struct sdf3_time) times;
};

/* Reads the XML text of source `id`. False: it is no such graph, which has been reported. */
bool sdf3_read(struct compile *cx, uint32_t id, struct sdf3_graph *graph);
/* Finds the ends of channels by their names, and says what becomes of each actor. False after an error. */
bool sdf3_link(struct compile *cx, struct sdf3_graph *graph);
/* The graph as a command list: a source whose lines know the elements that they were made from. 0: it is too large,
 * which has been reported. */
uint32_t sdf3_list(struct compile *cx, uint32_t id, const struct sdf3_graph *graph);

#endif
