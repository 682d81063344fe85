/* SPDX-License-Identifier: MIT */
/*
 * run_report: what a run has measured, from the files of `piperun --stats=json:FILE` and `--trace=FILE` (lang/reports.md).
 *
 * Nothing in the files is trusted. Keys that are missing, or have values of another kind, count as 0 or "".
 */
#ifndef PIPEC_RUN_REPORT_H
#define PIPEC_RUN_REPORT_H

#include "compiler/ir/graph.h"

enum { RUN_CAUSES = 8 }; /* of stalls, lang/stalls.def */

struct run_stage {
    const char *name;
    uint64_t queue, cu_count, firings, dispatches;
    uint64_t execute_cycles, index_cycles, device_queue_cycles, launch_cycles, switch_cycles;
    uint64_t stall_cycles[RUN_CAUSES];
    const char *wait_cause, *wait_buffer; /* the longest one; NULL: none */
};

struct run_buffer {
    const char *name;
    uint64_t depth_packets, packets, high_water_packets;
};

struct run_queue {
    uint64_t queue, first_cu, cu_count, launches, busy_cycles;
};

struct run_memory {
    const char *key; /* "buffers_bytes" */
    uint64_t bytes;
};

struct run_report {
    const char *pipeline, *device;
    bool is_real_time;
    uint64_t clock_hz, total_cycles, dispatches, suspensions;
    const char *limit, *limit_stage; /* of the bottleneck; NULL: none */
    uint64_t limit_busy_cycles;
    VEC(struct run_stage) stages;
    VEC(struct run_buffer) buffers;
    VEC(struct run_queue) queues;
    VEC(struct run_memory) memory;
};

/* Strings live in `arena`. NULL: the file cannot be read, or is no report; *reason says why. */
const struct run_report *run_report_read(struct arena *arena, const char *path,
                                         const char **reason);
/* By node, its stage; GRAPH_NONE: it has none. NULL: a stage has a kernel that the graph does not have, *unknown: it is the
 * report of another program. */
const uint32_t *run_report_stages(struct arena *arena, const struct run_report *report,
                                  const struct graph *graph, const char **unknown);
/* By node, its share of the busiest one's time, 0 to 1. The time of a stage of several nodes counts for each of them.
 * `stage_of`: by node; GRAPH_NONE: none. */
const double *run_report_loads(struct arena *arena, const struct run_report *report,
                               const uint32_t *stage_of, size_t node_count);

/* ---- timelines ---- */

struct run_timeline {
    uint32_t bins;    /* parts of the time of the run, all equally long */
    uint64_t *levels; /* buffer x bins: the packets that it holds at the end of the part */
    uint64_t *busy;   /* stage x bins: percent of the part in which a launch of it is executed */
    uint64_t omitted_events; /* 0: the timeline is complete */
    uint64_t complete_cycles;
};

/* The file may be compressed. Buffers and stages are those of the report. NULL: as above, or the file is of another run. */
const struct run_timeline *run_timeline_read(struct arena *arena, const struct run_report *report,
                                             const char *path, uint32_t bins, const char **reason);

#endif
