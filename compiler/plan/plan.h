/* SPDX-License-Identifier: MIT */
/*
 * plan: how the stages of a graph use a device.  The same graph can be planned for many devices.
 *
 * plan_place
 *   Requires  repetitions, costs and depths of the graph; a device description.
 *   Fills     stages (one for each node), the layout and its sub-devices (choose.h), thresholds, batches, packs, and
 *             the static schedule; raises undeclared depths so that full dispatches fit, within --max-memory, and
 *             updates depth_reason and memory_bytes.
 *   Fails     RULE_MEMORY_LIMIT; RULE_LOCAL_MEMORY; RULE_TOO_LARGE, for what a group or its indices are to
 *             the device.
 */
#ifndef PIPEC_PLAN_H
#define PIPEC_PLAN_H

#include "compiler/ir/graph.h"
#include "lang/devdesc.h"
#include "lang/sched_code.h"

enum plan_mode {
    PLAN_SIDE_BY_SIDE, /* each stage on a sub-device of its own */
    PLAN_IN_GROUPS,    /* two sub-devices or more; on some of them several stages in sequence */
    PLAN_IN_SEQUENCE,  /* every stage on the whole device */
};

/* How the sub-devices are made. */
enum plan_partition {
    PLAN_PARTITION_NONE,
    PLAN_PARTITION_COUNTS,
    PLAN_PARTITION_EQUALLY,
    PLAN_PARTITION_AFFINITY, /* the shares are the domains of a level */
};

#define PLAN_PACE_ONE UINT64_C(65536)

struct plan_stage {
    uint32_t node;
    uint32_t
        sub_device; /* index into sub_devices, may be others' too; GRAPH_NONE: the whole device */
    uint32_t cu_count; /* of the sub-device */
    uint64_t load;     /* its share of the work, in units of its own; at least 1 */
    uint64_t
        pace; /* firings for one iteration of the first island, in PLAN_PACE_ONE-ths; at least 1 */
    uint32_t threshold; /* firings */
    uint64_t batch_max; /* firings of one dispatch at most */
    const char *threshold_reason;
    /* How it is launched; by reference_entries.  Places are those within the pack. */
    uint32_t entry; /* of the reference table; GRAPH_NONE: by packets of its own */
    uint32_t pack, place;
    bool spilled;   /* the entry is another stage's */
    uint32_t units; /* of 16 bits, that a launch takes in a condensed packet, as planned */
    bool ends_pack;
};

struct plan_index { /* the index generator, for a kernel with work-items */
    const struct kernel *kernel;
    uint32_t extents[3];          /* of a group */
    uint32_t items;               /* their product */
    uint32_t bits, register_bits; /* of a packed index, and of what holds it: 16 or 32 */
    uint32_t step[3];             /* the device's lanes as xc + yc dx + zc dx dy */
    uint64_t bytes;               /* of a group's packed indices */
    uint32_t address_bytes;       /* of those in the index memory */
    bool dedicated;               /* no other kernel uses that memory */
};

/* Bytes of the device's memory (lang/devices.md, "Memory"); a sum that overflows is UINT64_MAX. */
struct plan_memory {
    uint64_t buffers, ports; /* depth x width */
    uint64_t blocks;         /* arguments, tables and state of the nodes */
    uint64_t indices;        /* index memory of all compute units */
    uint64_t device_queue;   /* its entries, indices of children, packets that are kept aside */
    uint64_t launching;      /* dispatch packets, one for each stage; the reference table */
    uint64_t total;
};

struct plan {
    const struct devdesc *device;
    enum plan_mode mode;
    struct plan_stage *stages;
    uint32_t stage_count;
    uint32_t *sub_devices; /* CUs of each */
    uint32_t sub_device_count;
    enum plan_partition partition;
    enum devdesc_level level;   /* of PLAN_PARTITION_AFFINITY */
    struct plan_index *indices; /* in the order of graph->kernels */
    uint32_t index_count;
    struct plan_memory memory;
    /* Entries that are used, stages that own one (for good or in turn), stages that refer to another
     * one's; past the entry where those that stages own in turn end, 0: there are none. */
    uint32_t pack_count, entry_count, owner_count, spilled_count, shared_end;
    /* Which of the ready stages is selected: never POLICY_AUTO. */
    enum graph_policy selection;
    const char *policy; /* "round_robin" */
    const char *mode_reason, *policy_reason;
    const char *batch_reason; /* NULL: batches are the smallest of the target */
    const char *depth_reason; /* what the clock says of --buffers=fast; NULL: it was not asked */
    const struct graph_front *front; /* by the clock, with --pareto; NULL: it was not asked for */
    const struct schedule
        *schedule; /* schedule.h; NULL: every stage is dispatched when it is ready */
    /* One kernel at a time, a dispatch for each firing, a packet for each launch, no static schedule. */
    bool debug_mode;
};

/* "side by side" */
const char *plan_mode_name(enum plan_mode mode);

/* "by-affinity l3", "equally 4", "by-counts"; NULL: there are no sub-devices. */
const char *plan_partition_text(struct arena *arena, const struct plan *plan);
struct plan *plan_place(struct compile *cx, struct graph *graph, const struct devdesc *device);
/* Fills plan->memory; also after a plan, when tables have become constants (device_memory.c).  Fails: RULE_MEMORY_LIMIT. */
void plan_check_memory(struct compile *cx, const struct graph *graph, struct plan *plan);
/* Text for `pipec inspect`: stages, CUs, thresholds, depths and why, memory; of its scheduler program
 * what is static (NULL: nothing is said of that).  Rows of equal nodes become one, unless `whole`. */
void plan_print(FILE *to, const struct graph *graph, const struct plan *plan,
                const struct sched_program *program, bool whole);
/* A line on the index generator for the kernel of that title. */
void plan_print_index(FILE *to, const char *kernel, const struct plan_index *index);
/* "buffers 1024, ports 64": the parts that are not 0. */
const char *plan_memory_text(struct arena *arena, const struct plan_memory *memory);
/* Of the kernel; NULL: it has no work-items. */
const struct plan_index *plan_find_index(const struct plan *plan, const struct kernel *kernel);

#endif
