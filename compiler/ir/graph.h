/* SPDX-License-Identifier: MIT */
/*
 * graph: the topology of one pipeline, flattened.
 *
 * A *node* is an instance of a kernel; a *buffer* is a FIFO of packets with one writer and one or
 * more readers.  A port array is flattened: each element is an input or output of its own.  Outer
 * ports of the pipeline are buffers without a writer (in-ports) or without readers (out-ports);
 * they are bound when the pipeline runs and are not part of its memory.  Nodes and buffers are in
 * order of declaration; indices are stable names.
 *
 * The graph knows no syntax and no device.  Passes fill the marked fields; a field is zero before its
 * pass.
 */
#ifndef PIPEC_GRAPH_H
#define PIPEC_GRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "compiler/ir/kernel.h"
#include "compiler/context/context.h"

#define GRAPH_NONE UINT32_MAX
#define GRAPH_COST_MAX (INT64_C(1) << 40) /* cycles of one firing, declared or estimated */

struct graph_input {
    const char *port;              /* as shown: x, x[3] */
    uint32_t kernel_port, element; /* index into kernel->in, and which element of a port array */
    struct span span;              /* of the buffer's name in the instance */
    uint32_t buffer;
    uint32_t reader; /* index into the buffer's readers */
    /* As in struct kernel_port: sums over a cycle of phases, and each phase's (NULL: one phase);
     * filled by bodies/amplify. */
    uint64_t pop, peek;
    const uint64_t *pops, *peeks;
    /* How many consumed packets stay in the buffer for later firings (a 2-D window; else 0): the last
     * ones. */
    uint64_t history;
};

struct graph_output {
    const char *port;
    uint32_t kernel_port, element;
    struct span span;
    uint32_t buffer;
    uint64_t push_least, push; /* likewise; equal: an exact rate */
    const uint64_t *push_leasts, *pushes;
    uint64_t finish_max; /* maximum packets that the node's `finish` appends; likewise */
    /* Outputs of the node with the same bundle, 1.., are written in step: each firing appends
     * k x share packets to each of them, with a k of its own.  Two or more with bounded rates into
     * inner buffers; shares without a common divisor.  0: none.  By bodies/amplify. */
    uint32_t bundle;
    uint64_t share;
};

/* The cost of a node's warps (lang/time.md): lanes of a core, filled with firings or with work-items. */
struct graph_warp {
    bool counted;             /* the cost of a warp depends on data: generated code counts it */
    uint64_t cycles;          /* of a warp; stateful: of a firing; `counted`: an estimate */
    uint64_t finish_cycles;   /* of `finish`; 0: there is none */
    uint32_t firings, pieces; /* firings in a warp, warps of a firing: one of both is 1 */
};

struct graph_node {
    const char *name; /* label, `eq[3]`, or the kernel's name (`squelch`, `squelch#2`) */
    struct span span; /* of the label, or of the kernel's name */
    struct kernel *kernel;
    struct kx **arguments; /* one per kernel argument: expressions over the pipeline's arguments */
    VEC(struct graph_input) inputs; /* none: a source */
    VEC(struct graph_output) outputs;
    uint32_t importance;    /* 0..255 */
    bool stateful;          /* its firings do not overlap */
    bool cost_declared;     /* `cost N` was written: cost_cycles is the author's */
    uint64_t cost_cycles;   /* of one firing */
    struct graph_warp warp; /* filled by bodies/cost */
    uint64_t repetitions;   /* firings per iteration of its component; filled by liveness/rate */
    uint32_t component;     /* part connected by exact rates, 0..; filled by liveness/rate */
    /* `repetitions` of the graph as it was written, before nodes were fused: it orders faults. */
    uint64_t source_repetitions;
};

enum graph_outer { GRAPH_INNER, GRAPH_OUTER_IN, GRAPH_OUTER_OUT };

struct graph_reader {
    uint32_t node, input;
};

/* Initial packets, in order: `value_count` scalars (the packets' scalars one after the other),
 * repeated until `packets` packets are there. */
struct graph_initial {
    uint64_t packets;
    const struct scalar_value *values;
    uint64_t value_count;
    struct span span;
};

/* How the packets of a buffer lie in two dimensions. */
struct graph_shape {
    uint64_t row_packets; /* 0: linear */
    uint64_t frame_rows;  /* 0: rows without an end */
    bool declared;        /* else it came through kernels with pop 1 and push 1 */
    struct span span;     /* of the attribute that declared it */
};

struct graph_buffer {
    const char *name; /* `band[3]`; unnamed ones of a chain: `squelch->gain` */
    struct span span; /* of its declaration (the node before it, where it is unnamed) */
    const struct type *type;
    uint64_t width_bytes;
    enum graph_outer outer;
    uint32_t writer_node, writer_output; /* GRAPH_NONE for an outer in-port */
    VEC(struct graph_reader) readers;
    struct graph_initial initial;
    struct graph_shape shape;
    bool depth_declared;
    struct span depth_span;
    uint64_t depth_packets;     /* declared, or filled by pace/bufsize and raised by plan */
    uint64_t depth_min_packets; /* smallest found that is free of deadlock with the other depths
                                   as they are; by pace/bufsize */
    const char *depth_reason;   /* one sentence; by pace/bufsize, plan */
    /* --buffers=fast: the depth follows from the maximum throughput; else it is to have room for a
     * dispatch. By pace/bufsize. */
    bool depth_paced;
    /* A run with several threads may make it deeper: the depth is the plan's own choice.  By plan. */
    bool depth_grows;
    /* Why the author accepts that its varying rate leaves liveness unproven: by a command list, or
     * by liveness/bounded from a comment; else NULL. */
    const char *unproven_reason;
};

/* The properties of its stream that an input may know. */
enum graph_property {
    PROPERTY_NONE,
    PROPERTY_RATE,
    PROPERTY_WIDTH,
    PROPERTY_HEIGHT,
    PROPERTY_CHANNELS,
    PROPERTIES
};

struct graph_argument { /* of the pipeline: set when it runs */
    struct variable *variable;
    bool has_default;
    const struct scalar_value *values; /* all scalars of the default, or of what -D said */
    /* Its value is this property of an in-port, unless the run gives another; NONE: of none. */
    enum graph_property property;
    const char *port; /* name of the in-port's buffer; NULL: none */
};

/* Knowledge of the memory if the minimum was requested. */
enum graph_least {
    LEAST_NOT_ASKED, /* or not defined: some throughput is unbounded */
    LEAST_BOUND,     /* it is enough; the minimum may be smaller */
    LEAST_EXACT,     /* it is the minimum */
    LEAST_GIVEN_UP,  /* no depths were found that reach the maximum throughput */
};

/* A trade-off of one part (component) between memory and throughput. */
struct graph_tradeoff {
    uint32_t component;
    uint64_t memory_bytes;       /* of the pipeline, with the minimum for the other parts */
    uint64_t port_bytes;         /* beside these; 0 where ports are not counted */
    uint64_t iterations, cycles; /* in lowest terms; 0 cycles: unbounded */
    const uint64_t *depths;      /* by buffer */
};

struct graph_front { /* by component, then rising */
    VEC(struct graph_tradeoff) points;
    bool whole;         /* up to the maximum throughput of each part */
    const char *reason; /* why not */
};

struct reductions;      /* optimize/region/dead_work.h */
struct constant_tables; /* optimize/constant_tables.h */
struct graph_origin;    /* ir/graph_origin.h */

enum graph_policy { POLICY_AUTO, POLICY_ROUND_ROBIN, POLICY_PRIORITY, POLICY_FULLEST };

struct graph {
    const char *name; /* of the pipeline */
    struct span span;
    VEC(struct graph_node) nodes;
    VEC(struct graph_buffer) buffers;
    VEC(struct graph_argument) arguments;
    /* Every kernel in use once: those of nodes in order of id, then the child kernels that they
     * launch, directly or through others, in order of id. */
    VEC(struct kernel *) kernels;
    size_t child_kernels;             /* so many of the last ones are children */
    VEC(struct function *) functions; /* every function in use once, in order of id */
    struct types *types;
    enum graph_policy policy; /* as the author named it */
    uint32_t component_count; /* by liveness/rate */
    /* The proof that the pipeline cannot deadlock with these depths, as in the container; by
     * liveness/certify. */
    const uint64_t *certificate;
    size_t certificate_words;
    bool is_counterexample; /* it deadlocks, and the certificate shows how */
    bool unproven;          /* the author accepts that it may deadlock; by liveness/bounded */
    enum buffers_mode buffers_mode; /* the goal of undeclared depths; by pace/bufsize */
    /* If the minimum was requested: less than so many bytes is not enough.  By pace/bufsize. */
    enum graph_least memory_least;
    uint64_t memory_least_bytes;
    struct graph_front *front; /* if it was requested; by pace/bufsize */
    const struct reductions
        *reductions; /* work that is left out in it; by optimize/region/dead_work, or NULL */
    const struct constant_tables *constant_tables; /* likewise; by optimize/constant_tables */
    /* The pipeline as it was written, if some nodes have become one; else NULL. */
    const struct graph_origin *origin;
    uint64_t memory_bytes; /* sum over inner buffers of depth x width; by pace/bufsize, again by
                              plan */
};

uint32_t graph_add_node(struct compile *cx, struct graph *graph, struct graph_node node);
uint32_t graph_add_buffer(struct compile *cx, struct graph *graph, struct graph_buffer buffer);
/* Connects both ways: fills the buffer's writer or readers and the node's output or input. */
void graph_connect_input(struct compile *cx, struct graph *graph, uint32_t node,
                         struct graph_input input);
void graph_connect_output(struct compile *cx, struct graph *graph, uint32_t node,
                          struct graph_output output);
/* By node, and one more at the end: outputs of the nodes before it. */
uint32_t *graph_number_outputs(struct arena *arena, const struct graph *graph);
/* Phases of the node's rates, 1.. */
uint32_t graph_phases(const struct graph_node *node);
/* Whether every firing of a phase writes the same number, so that the rates of both ends balance.
 * False with bounds, and where only `finish` writes. */
bool graph_is_exact(const struct graph_node *node, const struct graph_output *output);
/* Maximum packets of one firing. */
uint64_t graph_push_most(const struct graph_node *node, const struct graph_output *output);
/* The end that writes; NULL for an outer in-port. */
const struct graph_output *graph_writer(const struct graph *graph,
                                        const struct graph_buffer *buffer);
const struct graph_input *graph_reader_input(const struct graph *graph,
                                             const struct graph_buffer *buffer, size_t reader);
/* Whether the reader's 2-D window wraps (border wrap): then it frees a whole frame, or row, at once. */
bool graph_window_wraps(const struct graph *graph, const struct graph_buffer *buffer,
                        size_t reader);
struct window;
struct window_shape;
/* The 2-D window through which the node reads the input, and the shape of its buffer.  False: it reads
 * without one, or the buffer has no shape. */
bool graph_input_window(const struct graph *graph, const struct graph_node *node,
                        const struct graph_input *in, struct window *window,
                        struct window_shape *shape);
/* Packets that the reader's window keeps in the buffer: the minimum depth that it needs. */
uint64_t graph_window_packets(const struct graph *graph, const struct graph_buffer *buffer,
                              size_t reader);
/* Whether it is an inner buffer with a rate that is not exact: such a buffer relates no repetitions. */
bool graph_is_bounded(const struct graph *graph, const struct graph_buffer *buffer);
/* Adds the place of the kernel's use to its diagnostics after the first `kept` ones. */
void graph_trace_kernel(struct compile *cx, const struct kernel *kernel, size_t kept);
/* As it is written: "rate"; NONE: "". */
const char *graph_property_name(enum graph_property property);
/* False: no property is called that. */
bool graph_property_named(const char *name, enum graph_property *property);
/* As it is written: "round_robin". */
const char *graph_policy_name(enum graph_policy policy);
/* False: no policy is called that. */
bool graph_policy_named(const char *name, enum graph_policy *policy);
/* Whether some kernel is foreign code. */
bool graph_is_foreign(const struct graph *graph);
/* Sum of depth x width over inner buffers; false on overflow of 63 bits. */
bool graph_memory(const struct graph *graph, uint64_t *bytes);
/* Stable text of everything in the graph: what --emit=graph prints and golden tests compare. */
void graph_print(FILE *to, const struct graph *graph);
/* `3`, `{3, 1}`, `0..8`, `{0..2, 1}`: of each phase, at least and at most. */
void graph_print_rate(FILE *to, uint32_t phases, const uint64_t *leasts, const uint64_t *mosts);
/* ` pop 4 peek 64` */
void graph_print_in_rates(FILE *to, const struct graph_node *node, const struct graph_input *in);
/* ` push {0..2, 1} finish 3 in bundle 1 share 2` */
void graph_print_out_rates(FILE *to, const struct graph_node *node, const struct graph_output *out);

#endif
