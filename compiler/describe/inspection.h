/* SPDX-License-Identifier: MIT */
/*
 * inspection: the facts about a topology that `pipec inspect` shows, from a source or from a container
 * (lang/inspect.md).
 *
 * A number that is not known is 0 where 0 cannot be a value (repetitions, depths), and a text NULL.
 */
#ifndef PIPEC_INSPECTION_H
#define PIPEC_INSPECTION_H

#include "compiler/liveness/counterexample.h"
#include "compiler/pace/performance.h"
#include "compiler/optimize/fuse/fuse.h"
#include "compiler/ir/graph.h"
#include "compiler/plan/program_shape.h"
#include "compiler/plan/priority_groups.h"

enum known { UNKNOWN, KNOWN_FALSE, KNOWN_TRUE };

/* Pop and peek, or minimum and maximum: of a firing or, if the arrays are there, of each phase. */
struct inspected_end {
    const char *port;
    uint32_t buffer;
    uint64_t low, high;
    const uint64_t *lows, *highs;
    uint32_t bundle; /* of outputs in step, from 1; 0: none */
    uint64_t share;
    uint64_t history; /* of an input: packets that its window keeps after they were read */
};

struct inspected_region { /* of a kernel whose cost is counted */
    const char *what;
    uint32_t line;
    uint64_t cycles; /* of an arrival */
};

/* One member for each key that `pipec inspect` prints of a node. */
/* A node of the program that a node of a container executes. */
struct inspected_fused {
    const char *name;
    uint64_t firings; /* in a firing of the node */
};

/* One struct because text and JSON show a node as a whole, whether it comes from a graph or from a container. */
struct inspected_node {
    const char *name, *kernel;
    const char *file; /* with `line`: of its declaration */
    uint32_t line;
    uint32_t group[3]; /* work-items of a firing */
    uint32_t phases;
    uint64_t repetitions;
    uint32_t importance;
    bool stateful;
    const char *unit;    /* of the device, that executes it; or NULL */
    const char *foreign; /* code of an extern kernel: "pure" or "impure"; NULL: pipec's own */
    uint64_t cost_cycles;
    /* Of a kernel that launches; `children` NULL: it launches nothing. */
    uint64_t launches, nesting, tree_launches, queue_entries;
    const char *const *children;
    uint32_t child_count;
    struct graph_warp warp;   /* firings 0: not known; 1: of one that launches */
    uint32_t registers;       /* of a work-item; 0: not known */
    uint64_t constant_cycles; /* of a counted one: the cost of every execution */
    struct inspected_region *regions;
    uint32_t region_count; /* 0: from a container */
    bool has_checks;       /* false for a container */
    uint32_t appends_proven, appends_checked, accesses_proven, accesses_checked;
    struct inspected_end *inputs, *outputs;
    uint32_t input_count, output_count;
    struct inspected_fused *fused; /* of a container */
    uint32_t fused_count;
};

struct inspected_buffer {
    const char *name, *type;
    enum graph_outer outer;
    uint32_t writer; /* node; GRAPH_NONE: outside */
    uint32_t *readers;
    uint32_t reader_count;
    uint64_t width_bytes, initial_packets, depth_packets, depth_min_packets;
    uint64_t row_packets, frame_rows;
    enum known depth_declared;
    const char *depth_reason;
};

struct inspected_argument { /* of a container */
    const char *name, *type;
    const char
        *value; /* "1, 2, ...", "x.rate", "x.rate, else 48000"; NULL: the run has to give one */
};

struct inspected_stage {
    const char *name;           /* of its node; in a container, of a composite */
    const char *const *members; /* the nodes that it executes */
    uint32_t member_count;
    const char *kernel;
    uint32_t threshold;
    uint64_t batch_max;
    uint32_t sub_device, cu_count; /* 0 CUs: not known */
    const char *threshold_reason;
    const struct plan_index *index; /* NULL: no work-items */
    uint32_t entry, pack, place;    /* as in struct plan_stage */
    bool spilled;
};

struct inspected_plan {
    const char *device;
    uint32_t cu_count, lanes;
    const char *mode, *mode_reason, *policy, *policy_reason, *batch_reason;
    const char *partition;       /* the scheme; NULL: none, or not known */
    const uint32_t *sub_devices; /* NULL: not known */
    uint32_t sub_device_count;
    const struct plan_memory *memory; /* NULL: not known */
    uint64_t memory_limit_bytes;      /* of the device */
    struct inspected_stage *stages;
    uint32_t stage_count;
    const struct plan_ranks *ranks; /* NULL: not known */
    const struct program_shape *program;
    /* Why some stages are not static, and the reason of each stage; NULL: not known, or all are
     * static. */
    const char *guarded_reason;
    const char *const *guarded_reasons;
    const struct fusion *fusion; /* NULL: not known */
    /* By the device's clock, once buffers are filled; 0: not known. */
    uint64_t timed_iterations, timed_cycles;
    const char *depth_reason;        /* of --buffers=fast, by the clock; or NULL */
    const struct graph_front *front; /* by the clock, if requested; or NULL */
};

struct inspected_image {
    const char *isa, *features;
    uint64_t size_bytes;
};

struct inspection {
    const char *pipeline;
    const char *compiler; /* that made the container; else NULL */
    /* Of a container: the instruction sets of its images, as --march accepts them. */
    const char *isa;
    struct inspected_image *images; /* of a container */
    const char *const *libraries;   /* of a container: that its foreign code needs */
    uint64_t memory_bytes, physical_bytes;
    const char *buffers_mode;     /* the purpose of undeclared depths: "min"; NULL: not known */
    uint64_t memory_least_bytes;  /* no less is enough; 0: not known */
    const struct graph *explored; /* the graph with a front; or NULL */
    struct inspected_node *nodes;
    struct inspected_buffer *buffers;
    struct inspected_argument *arguments;
    const struct performance *performance; /* NULL: not measured */
    const struct inspected_plan *plan;
    const struct diags *diags;                   /* or NULL */
    const struct counterexample *counterexample; /* if requested; or NULL */
    uint32_t image_count, library_count, node_count, buffer_count, argument_count;
    enum known consistent, deadlock_free;
    enum known memory_is_least; /* UNKNOWN: no minimum was requested */
    bool has_topology;
    bool rates_bounded; /* some end has no exact rate */
    bool has_memory;
    bool debug_mode; /* pipec --debug-mode */
};

/* How far the analyses of a graph came. */
struct verdict {
    bool rates_inferred;
    enum known consistent, deadlock_free;
    bool depths_assigned;
};

/* `graph`, as written, may be NULL if there were errors before it.  `fusion` (with the graph of
 * the plan), `plan` and `program` (of the plan) may be NULL if it was not planned. */
struct inspection inspect_graph(const struct compile *cx, const struct graph *graph,
                                const struct verdict *verdict, const struct fusion *fusion,
                                const struct plan *plan, const struct sched_program *program);
/* Reads the bytes of a container, of any version and state.  NULL: this version does not know
 * them, for the reason in *problem. */
struct inspection *inspect_container(struct arena *arena, const char *bytes, size_t size_bytes,
                                     const char **problem);
/* Throughput and latency of the inspected graph; NULL: its ends do not fit together. */
const struct performance *inspection_measure(struct arena *arena,
                                             const struct inspection *inspection);
bool is_container(const char *bytes, size_t size_bytes);

void inspection_print_json(FILE *to, const struct inspection *inspection);
/* Text of a container; a source has plan_print. */
void inspection_print_text(FILE *to, const struct inspection *inspection, bool whole);

#endif
