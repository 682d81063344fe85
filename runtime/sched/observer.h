/* SPDX-License-Identifier: MIT */
/*
 * observer: events during a run, and the statistics of a run that was measured (lang/reports.md defines every
 * figure).
 *
 *     struct prt_observer observer = {.launch = on_launch, .context = mine};
 *     struct prt_run_options options = {.measure = true, .observer = &observer};
 *
 * A run that is not measured only tests a pointer for each event.
 *
 * Ownership: records are valid until the callback returns.  Names in statistics live as long as the run.
 * Thread-safety: the thread in prt_run_execute calls the callbacks.  A callback may read statistics of the run and
 *   interrupt it, nothing else.
 * Units: cycles of the device's clock.  Events of one lane (a queue, a compute unit, a buffer, the scheduler) come in
 *   order of time.  Launches of all queues come in order of their end.
 * Errors: functions that return bool return false if there is no such object, if no launch used the queue, or if the
 *   run was not measured.
 * Growth: new members are only added after the others; a zeroed observer receives nothing.
 */
#ifndef RUNTIME_SCHED_OBSERVER_H
#define RUNTIME_SCHED_OBSERVER_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct prt_run;

/* The form of dispatch packet that contained a launch (lang/dispatch.md). */
enum prt_launch_form {
    PRT_LAUNCH_FULL,
    PRT_LAUNCH_REFERENCE,
    PRT_LAUNCH_CONDENSED,
    PRT_LAUNCH_FORMS
};

/* ---- events ---- */

/* Packets of a buffer that a launch has read or written.  Packet 0 is the first packet of the buffer in this run. */
struct prt_launch_end {
    uint32_t buffer; /* as prt_run_buffer counts */
    uint64_t first_packet, packets;
};

/* A launch that has ended.  end - begin = launch + switch + index + execute + device queue, and execute is the
 * maximum of compute and memory.
 *
 * A launch that more important ones have interrupted has one event for each of its pieces, when the piece ends.  All
 * but the last are `interrupted`, all but the first `resumed`.  Times, warps and cu_cycles are those of the piece.
 * Firings are those of the launch.  The first piece has the inputs, the last one the outputs.  One struct because one call
 * of an observer shows one launch. */
struct prt_launch_event {
    uint32_t stage; /* as prt_run_stage counts */
    uint32_t queue; /* as prt_run_queue counts */
    bool finish;
    enum prt_launch_form form;
    bool first_of_packet; /* enqueue and processing of the packet are in its launch cycles */
    bool cleaned_up;      /* it had a clean-up of its own */
    uint64_t first_firing, firings;
    uint64_t enqueued_cycles, begin_cycles, end_cycles;
    uint64_t launch_cycles, switch_cycles, index_cycles, execute_cycles, device_queue_cycles;
    uint64_t cleanup_cycles; /* of launch_cycles, the part after all others */
    uint64_t compute_cycles, memory_cycles;
    uint64_t warps;
    uint32_t first_cu, cu_count; /* of the device; 0: not known */
    /* Per compute unit of these: cycles that it computed, children included. */
    const uint64_t *cu_cycles;
    const struct prt_launch_end *inputs, *outputs;
    uint32_t input_count, output_count;
    bool interrupted, resumed;
    uint32_t importance; /* of its queue */
    /* Of a stage whose firings launch kernels, on a simulated device: spans of its firings and of all that they have
     * launched (prt_run_span), and those that found no room.  0 where the launch was interrupted. */
    uint64_t span_count, spans_omitted;
};

/* A firing of the stage, or of a child kernel, holds a compute unit: until it ends, or waits for a child. */
struct prt_span_event {
    const char *kernel;     /* of a child; NULL: a firing of the stage */
    uint32_t level;         /* of a child, from 1 */
    uint32_t cu;            /* of the device */
    uint64_t issued_cycles; /* of a child: when its parent launched it */
    uint64_t begin_cycles, end_cycles;
    bool resumed; /* it goes on after a wait */
};

/* Span `index` of the launch, in its callback only: in order of end. */
bool prt_run_span(const struct prt_run *run, const struct prt_launch_event *launch, uint64_t index,
                  struct prt_span_event *span);

/* The number of packets in a buffer has changed. */
struct prt_level_event {
    uint32_t buffer;
    uint64_t cycles;
    uint64_t packets, depth_packets;
};

enum prt_scheduler_doing {
    PRT_SCHEDULER_WORKS,     /* it executed instructions from begin to end */
    PRT_SCHEDULER_SUSPENDED, /* until the host has filled in-port `buffer`: no simulated time */
    PRT_SCHEDULER_ENDS,      /* `stage` has ended */
    PRT_SCHEDULER_WAITS,     /* for packets that arrive at in-port `buffer`, from begin to end */
};

struct prt_scheduler_event {
    enum prt_scheduler_doing doing;
    uint64_t begin_cycles, end_cycles;
    uint32_t stage, buffer; /* UINT32_MAX: none */
};

/* Each callback may be NULL. */
struct prt_observer {
    void *context;
    void (*begin)(void *context, const struct prt_run *run); /* before the first event */
    void (*launch)(void *context, const struct prt_launch_event *launch);
    void (*level)(void *context, const struct prt_level_event *level);
    void (*scheduler)(void *context, const struct prt_scheduler_event *event);
    void (*end)(void *context, const struct prt_run *run, uint64_t total_cycles);
};

/* ---- statistics of a run that was measured: options.measure, or with an observer ---- */

/* Why a stage did not execute. */
enum prt_stall_cause {
    PRT_STALL_PACKETS,   /* an input held too few packets for a firing */
    PRT_STALL_ROOM,      /* an output had too little room for one */
    PRT_STALL_THRESHOLD, /* it could fire, but fewer times than its threshold */
    PRT_STALL_UNITS,     /* enqueued, but its compute units executed other launches */
    PRT_STALL_COMPLETION, /* its launch had ended, but its completion was not seen yet: other launches of its
                              dispatch packet had not ended */
    PRT_STALL_SCHEDULER,   /* ready, but the scheduler had not dispatched it yet */
    PRT_STALL_ENDED,       /* nothing is left for it to do */
    PRT_STALL_INTERRUPTED, /* more important stages used its compute units during its launch */
    PRT_STALL_CAUSES
};

/* Busy time and stalls of a stage.  Their sum is the total cycles of the run. */
struct prt_stage_time {
    uint64_t execute_cycles, launch_cycles, switch_cycles, index_cycles, device_queue_cycles;
    uint64_t stall_cycles[PRT_STALL_CAUSES];
    uint64_t launches[PRT_LAUNCH_FORMS];
    uint64_t warps;
    /* separate sums over all launches; they overlap in time */
    uint64_t compute_cycles, memory_cycles;
    uint64_t memory_bound_cycles; /* execute cycles of launches in which memory took longer */
    uint32_t queue;               /* to which the stage is bound */
    uint64_t interruptions;       /* times that a launch has yielded and gone on later */
    uint64_t latency_cycles;      /* sum over all launches, each from enqueuing to end */
    uint64_t latency_most_cycles; /* of the longest launch */
};

bool prt_run_stage_time(const struct prt_run *run, uint32_t stage, struct prt_stage_time *time);

/* How long a stage has waited at one of its ends. */
struct prt_wait_statistics {
    const char *buffer;
    enum prt_stall_cause cause; /* PACKETS or ROOM */
    uint64_t cycles;
};

/* Ends are numbered from 0: the stage's inputs, then its outputs. */
bool prt_run_wait(const struct prt_run *run, uint32_t stage, uint32_t end,
                  struct prt_wait_statistics *wait);

/* Packets that a stage has appended to one of its outputs, and the declared bounds. */
struct prt_output_statistics {
    uint32_t stage;
    const char *buffer;
    /* packets of a firing: minimum and maximum over all phases */
    uint64_t declared_least, declared_most;
    uint64_t observed_most; /* maximum packets of a firing */
    uint64_t firings, packets;
    bool ranges; /* minimum and maximum differ in some phase */
    /* Maximum memory that a declared bound of `observed_most` would free (lang/reports.md). */
    uint64_t frees_bytes;
};

/* Outputs of all stages, numbered from 0. */
bool prt_run_output(const struct prt_run *run, uint32_t output,
                    struct prt_output_statistics *statistics);

/* A queue and its (sub-)device. */
struct prt_queue_statistics {
    uint32_t first_cu, cu_count;
    bool root; /* its (sub-)device is that of the whole program */
    uint64_t launches;
    uint64_t busy_cycles;    /* from begin to end of its launches, without interruptions */
    uint64_t execute_cycles; /* of that, executing */
    uint32_t importance;     /* of its stages */
};

bool prt_run_queue(const struct prt_run *run, uint32_t queue,
                   struct prt_queue_statistics *statistics);

/* Cycles that a compute unit of the device, numbered from 0, has computed. */
bool prt_run_cu(const struct prt_run *run, uint32_t cu, uint64_t *busy_cycles);

/* After a run on a GPU: has the multiprocessor of that number, from 0 on, executed firings of the stage?  False on other
 * devices, and before the end.  The run need not be watched. */
bool prt_run_used_multiprocessor(const struct prt_run *run, uint32_t stage, uint32_t number);

/* Counters of the device, for every run, measured or not.  One struct because one call copies them all at one time. */
struct prt_device_statistics {
    uint64_t clock_hz; /* 0: not known */
    bool real_time;    /* the host's own device, or a GPU: a cycle is a nanosecond of its clock */
    const char *name;
    uint32_t cu_count, lanes;
    /* the compute units on which the program runs: all, or those of a sub-device (prt_run_options) */
    uint32_t part_first_cu, part_cu_count;
    /* dispatch packets, by form (lang/dispatch.md) */
    uint64_t packets[PRT_LAUNCH_FORMS], launches[PRT_LAUNCH_FORMS];
    uint64_t enqueue_cycles, process_cycles, cleanup_cycles;
    /* index generator (lang/index_generator.md) */
    uint64_t index_requests, index_resident, index_hits, index_misses;
    uint64_t index_cycles, index_saved_cycles;
    /* device queue (lang/device_queue.md) */
    uint64_t child_launches, child_groups, child_cycles, child_launch_cycles, child_wait_cycles;
    uint32_t child_levels_most, child_queue_most, child_queue_entries;
    /* bytes of the device's memory that the program uses, and by which parts of it (lang/devices.md, "Memory");
     * memory_bytes: the size of that memory, 0: not known */
    uint64_t memory_bytes, memory_taken_bytes;
    uint64_t memory_buffers_bytes, memory_ports_bytes, memory_blocks_bytes, memory_indices_bytes;
    uint64_t memory_queue_bytes, memory_launching_bytes;
    const char *backend; /* what executed the run: null, sim, cpu, cuda, cuda-emulated */
};

void prt_run_device(const struct prt_run *run, struct prt_device_statistics *statistics);

/* A child kernel, numbered from 0, in every run on a device that executes; false: there is no such. */
struct prt_child_statistics {
    const char *kernel, *source;
    uint32_t line;
    uint64_t launches, groups; /* groups: work-groups of all launches */
    uint32_t level_most;       /* the deepest level at which it was launched */
    /* of the device's model (lang/device_queue.md, "Time"): in its code; in its start and in launching others; between
     * its launch and its begin; of the longest, with its start.  On a GPU, when the run has ended, and by its clock: launching
     * others is in its code */
    uint64_t cycles, launch_cycles, wait_cycles, longest_cycles;
};

bool prt_run_child(const struct prt_run *run, uint32_t child,
                   struct prt_child_statistics *statistics);

/* The limit of the speed of a run (lang/reports.md, "What limited the run"). */
enum prt_limit {
    PRT_LIMIT_NOTHING,      /* no launch */
    PRT_LIMIT_COMPUTE,      /* the stage's kernel */
    PRT_LIMIT_BANDWIDTH,    /* memory traffic of the stage's launches */
    PRT_LIMIT_LAUNCH,       /* enqueue, processing and clean-up of its launches */
    PRT_LIMIT_SWITCH,       /* switches of its compute units from other stages to this one */
    PRT_LIMIT_SCHEDULER,    /* the scheduler's instructions */
    PRT_LIMIT_DEPENDENCIES, /* no resource: stages wait for each other */
    PRT_LIMIT_CHILDREN,     /* kernels that its firings launch on the device */
    PRT_LIMIT_HOST,         /* sources and sinks, in real time */
    PRT_LIMIT_ARRIVALS,     /* packets that arrive in simulated time */
};

struct prt_bottleneck {
    enum prt_limit limit;
    uint32_t stage;       /* the one with the largest share of busy_cycles; UINT32_MAX: none */
    uint32_t queue;       /* the one whose compute units are busy longest */
    uint32_t stage_count; /* stages bound to these compute units, by this queue or another */
    /* of these units; SCHEDULER: of the scheduler; HOST: waiting for the host; ARRIVALS: for arrivals */
    uint64_t busy_cycles;
    uint64_t stage_cycles; /* of that stage, from begin to end of its launches */
};

bool prt_run_bottleneck(const struct prt_run *run, struct prt_bottleneck *bottleneck);

/* ---- a timeline for Perfetto ---- */

struct prt_trace;

/* Writes the next bytes of the text.  False: they could not be written, and the callback is not called again. */
typedef bool (*prt_trace_write)(void *context, const char *bytes, size_t size);

#define PRT_TRACE_EVENTS_DEFAULT 200000u

/* Creates an observer that writes the Trace Event Format.  Events past `events_max` are omitted and counted.  The
 * text is complete when the run has ended.  PRT_E_NOMEM. */
enum prt_status prt_trace_create(prt_trace_write write, void *context, uint64_t events_max,
                                 struct prt_trace **trace);
void prt_trace_destroy(struct prt_trace *trace); /* NULL is allowed */

/* For prt_run_options.  Valid until the trace is destroyed, which must be after the run has executed. */
const struct prt_observer *prt_trace_observer(const struct prt_trace *trace);

struct prt_trace_summary {
    uint64_t events, omitted_events;
    uint64_t complete_cycles; /* no event before this time was omitted */
    bool whole;               /* the text is complete, and all of it was written */
    bool no_memory;           /* memory ran out when the run began: there is no text */
};

void prt_trace_summary(const struct prt_trace *trace, struct prt_trace_summary *summary);

#ifdef __cplusplus
}
#endif

#endif
