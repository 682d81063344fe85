/* SPDX-License-Identifier: MIT */
/*
 * sched: the state of one run, and what the scheduler machine's instructions do to it
 * (lang/scheduler.md).
 *
 * A *stage* is a node with a place to run: idle or in flight, and in one of the phases below.  A
 * *port* is an outer buffer with the host's callback behind it.
 *
 *     running ── a closed input holds too little ──> finish waiting ── room ──> finishing
 *        ├─────────────────── no finish ──────────────────> ended <──────────────────┤
 *        └────────── a firing faults, or needs what a fault keeps back ────> faulted ┘
 *
 * The loop of a run, which the program in the container spells out:
 *
 *     ends      stages that can never fire again run their finish, close their outputs, detach
 *               from their inputs
 *     select    the next stage with enough packets and room; outer in-ports are filled by the host
 *     dispatch  claims the windows, enqueues
 *     wait      the earliest completions are committed; outer out-ports are drained to the host
 *
 * A static part, where there is one, runs ahead of that loop (static_part.h).
 *
 * Order.  A queue executes its launches one after the other, each after the one before has
 * completed (device.h).  A buffer inside of the pipeline is *in order* if its writer and all its
 * readers are bound to one queue.  Its positions move when a launch is dispatched, not when it has
 * completed: its readers free what the firings consume, and a writer whose rates are exact commits
 * what they append.  So stages of one queue follow each other without a wait, in one packet.
 *
 * That is sound.  Claim: for each launch L, what the positions of a buffer in order say when L is
 * dispatched is what holds when L begins to execute.  All that moves them are launches of that one
 * queue, each by an amount that follows from the number of its firings alone (pops are exact, 2-D
 * windows follow from places, the pushes of an exact writer that does not stop are those of its
 * phases).  Launches are enqueued in the order in which they are dispatched (packets.h), so those
 * that have moved the positions before L is dispatched are those that execute before L, and all of
 * them have completed when L begins.  Hence L's windows hold what was to be in them, its room is
 * free, and what a later launch writes into room that L has freed is written after L.  What a
 * writer with bounded rates, one that stops, or a `finish` appends is committed when it has
 * completed: until then its claim stands, and readers do not see it.  A fault ends the queue:
 * nothing that was to follow is executed, and nothing of it reaches a port, for ports are moved by
 * completions alone; what it has moved is taken back when it is delivered as skipped.  A closed buffer has an idle writer, a stage that may end is itself idle: so
 * ends see positions that hold.
 *
 * sched_create.c has what allocates: creation, and the program's prologue.  sched.c has the loop,
 * ready.c what a stage could do now, select.c which one is next, inport.c what the host brings, flow.c and lang/window.h the
 * arithmetic.
 *
 * Requires: a verified container; one run per object.
 * Ownership: the caller keeps container, image and device alive; everything else is freed by
 *   prt_sched_destroy.
 * Thread-safety: one thread (kernels run where the device runs them; callbacks run in this thread).
 *   prt_sched_interrupt is async-signal-safe and may be called from any thread.
 * Allocation: prt_sched_create and the prologue (partitions, bindings) only: nothing on the firing
 *   path.
 * Errors: PRT_E_FAULT (a kernel), PRT_E_STALL, PRT_E_CLOSED_PIPE (every sink has gone),
 *   PRT_E_VERIFY (the program halts with work left), what callbacks return, PRT_E_NOMEM.
 */
#ifndef RUNTIME_SCHED_SCHED_H
#define RUNTIME_SCHED_SCHED_H

#include "lang/dispatch_codec.h"
#include "lang/window.h"
#include "runtime/device/device.h"
#include "runtime/device/fifo.h"
#include "runtime/load/image.h"
#include "runtime/load/reader.h"
#include "runtime/sched/flow.h"
#include "runtime/sched/indices.h"
#include "runtime/sched/stage_marks.h"

#include <signal.h>
#include <stdatomic.h>

/* The host fills up to `capacity` packets; 0 is the end of the stream.  May block. */
typedef enum prt_status (*prt_sched_source)(void *context, void *packets, size_t capacity,
                                            size_t *count, struct prt_error *error);
/* The host takes `count` packets.  PRT_E_CLOSED_PIPE: it wants no more. */
typedef enum prt_status (*prt_sched_sink)(void *context, const void *packets, size_t count,
                                          struct prt_error *error);

/* What an in-port has been brought before it is wanted (inport.h). */
struct prt_ahead {
    uint64_t packets;       /* in the room of the buffer */
    void *extra;            /* place for one more; NULL: the port is not at hand */
    bool has_extra;         /* it is there */
    uint64_t rest_packets;  /* read behind them after the run, to be counted */
    bool over;              /* behind them there are no packets, for this reason: */
    enum prt_status status; /* PRT_OK: the stream ends; PRT_E_INTERRUPTED; `error` */
    struct prt_error error;
};

/* Gets a text in pieces; `size` 0: that was all. */
typedef void (*prt_standing_write)(void *context, const char *text, size_t size);

/* What the scheduler does now (run_state.h). */
enum prt_doing {
    PRT_DOING_NOTHING, /* the run has not begun */
    PRT_DOING_WORK,
    PRT_DOING_READ, /* waits for the host to bring packets, or to take them */
    PRT_DOING_WRITE,
    PRT_DOING_DEVICE, /* waits for the device */
    PRT_DOING_STEP,   /* waits for whoever is told of steps */
    PRT_DOING_ENDED
};

/* The host's memory behind a port (memory_port.h). */
struct prt_port_memory {
    uint8_t *packets;
    size_t capacity_packets, passed_packets, width_bytes;
    size_t *count; /* is told of those that have passed; NULL: nobody is */
};

struct prt_port_thread; /* port_thread.h */
struct prt_bell;        /* port_thread.h */
struct prt_live;        /* live_port.h */

struct prt_port {
    prt_sched_source source;
    prt_sched_sink sink; /* NULL: packets are dropped */
    void *context;
    bool asked_eager; /* by the host: an in-port */
    bool eager;       /* in this run (live_port.h) */
    bool gone;        /* the sink wants no more */
    uint64_t packets; /* that have passed */
    uint64_t suspensions;
    struct prt_ahead ahead;
    struct prt_port_memory memory;
    struct prt_port_thread *given_thread; /* NULL: it is to have none */
    struct prt_port_thread *thread;       /* that calls the host; NULL: the scheduler does */
};

struct prt_buffer {
    const struct container_buffer *record;
    struct prt_fifo fifo;
    struct prt_port *port;     /* of an outer buffer, else NULL */
    uint64_t few_packets;      /* left over for a reader, too few themselves (leftovers.h) */
    uint64_t stranded_packets; /* left over for a reader which found too few elsewhere */
    bool leftover_more;        /* there are more of them */
    const struct prt_stage *stranded_reader;
    const struct prt_buffer *stranded_by; /* in which it found too few; NULL: interrupted */
};

struct prt_stage_input {
    struct prt_buffer *buffer;
    uint32_t reader; /* of the buffer's fifo */
    struct prt_take take;
    struct window window; /* 2-D, and then `take` says nothing; width 0: none */
    struct window_shape shape;
    bool in_order; /* freed at dispatch: "Order" above */
    bool lacks;    /* of a stage that is FAULTED: it needs a packet that a fault keeps back */
    struct {       /* when the stage has fired for the last time (leftovers.h) */
        bool counts;
        uint64_t from_packets, history_packets;
    } left;
};

struct prt_stage_output {
    struct prt_buffer *buffer;
    struct prt_flow least, most; /* packets of a firing */
    uint64_t finish_max;
    /* Of a bundle (lang/container.h), else share 0: an output of the same one, and both shares. */
    uint32_t in_step_with;
    uint64_t share, other_share;
    bool in_order; /* committed at dispatch: "Order" above */
};

/* (A *phase* is one of the rates'.) */
enum prt_stage_life {
    PRT_STAGE_RUNNING,
    PRT_STAGE_FINISH_WAITING,
    PRT_STAGE_FINISHING,
    PRT_STAGE_ENDED,
    PRT_STAGE_FAULTED /* fires no more and does not end: faults.h */
};

struct prt_stage {
    const struct container_node *node;
    struct prt_stage_input *inputs;
    struct prt_stage_output *outputs;
    enum prt_stage_life life;
    bool in_flight;
    bool fed;         /* by an in-port, directly or not */
    bool driven;      /* by an in-port or a source: else it ends with its readers alone */
    bool stopped;     /* by `stop`, or a source by an interrupt: it fires no more */
    bool demanded;    /* FAULTED: what it keeps back is wanted, by an open out-port or a sink */
    bool open;        /* faults.c's: FAULTED, and it is not decided whether that is so */
    bool reads_tail;  /* its finish reads what its only input has left */
    bool reads_port;  /* some input is an in-port */
    bool exact;       /* each firing gives as many packets as the one a cycle of phases before */
    bool settled;     /* found not ready, and nothing it depends on has changed since */
    bool writes_live; /* an eager out-port, whose room changes by itself: it is never settled */
    uint32_t circle;  /* of stages that take each other's packets; where not fed */
    uint32_t circle_next; /* another of that circle, and so round it */
    /* The input, the output that has admitted no firing when it was looked at last: looked at first. */
    uint32_t lacking_input, lacking_output;
    uint32_t roomy_outputs; /* the first ones, which have room for what the finish appends */
    uint32_t queue, cu_count;
    uint32_t entry;       /* of the reference table; CONTAINER_NONE: none */
    bool loads;           /* its first launch fills the entry */
    bool spilled;         /* it uses another stage's entry */
    bool ends_pack;       /* the last stage of its pack */
    bool awaited;         /* a more important stage reads what it writes */
    uint32_t grid_before; /* firings of its launch before, of one that is packed */
    uint32_t threshold;
    uint64_t batch_max;
    uint64_t
        frame_packets;   /* where inputs have 2-D windows, which stand at the same place; else 0 */
    uint64_t firings;    /* completed or in flight */
    uint64_t batch;      /* in flight */
    uint64_t read_bytes; /* by a firing; where rates have phases: 0 */
    uint64_t
        completed; /* of those in flight, written by the device; finish: packets are left over */

    uint64_t dispatches;
    uint64_t execute_cycles, launch_cycles, switch_cycles;
};

/* A queue of a (sub-)device: it has one for each importance among its stages. */
struct prt_sched_queue {
    uint32_t importance;
    uint32_t next; /* another of the same (sub-)device */
    bool root;
};

#define PRT_SCHED_NO_QUEUE UINT32_MAX

/* What has been dispatched to a queue and is not enqueued yet. */
struct prt_open_packet {
    struct dispatch_writer writer;
    uint32_t stages[DISPATCH_UNITS]; /* of its launches */
    uint32_t entries;                /* set of those that it refers to */
    uint32_t in_flight;              /* launches of the queue that are enqueued */
};

struct prt_sched_fault {
    bool there;
    uint32_t node; /* CONTAINER_NONE: an argument */
    enum kernel_status status;
    bool finish;     /* in `finish` */
    uint64_t firing; /* whose turn it was; of a `finish`: firings before it */
    struct kernel_fault fault;
};

/* Is told of each firing of a run that goes one firing at a time (guards fail, so that the program's
 * guarded loop does everything), and of each finish: before its
 * windows are opened, with the stage selected; and once it has been committed, with nothing in
 * flight.  A status other than PRT_OK ends the run. */
struct prt_step {
    void *context;
    enum prt_status (*before)(void *context, uint32_t stage, bool finish, struct prt_error *error);
    enum prt_status (*after)(void *context, uint32_t stage, bool finish, struct prt_error *error);
};

struct prt_origins; /* provenance.h */

struct prt_sched {
    const struct prt_container *container;
    const struct prt_image *image;
    const struct prt_device_ops *ops;
    struct prt_device *device;
    struct prt_collect *collect;  /* stage_profile.h; NULL: nobody watches */
    const struct prt_step *step;  /* NULL: the run goes as fast as it can */
    struct prt_live *live;        /* live_port.h; NULL: no port is eager */
    struct prt_bell *bell;        /* of port threads; NULL: no port is eager */
    uint64_t latency_nanoseconds; /* how long packets rest at an eager in-port */
    struct prt_origins
        *origins; /* provenance.h; NULL: nobody asks which statement wrote a packet */

    struct prt_buffer *buffers;
    struct prt_port *ports; /* one per outer buffer */
    struct prt_stage *stages;
    struct prt_stage_input *inputs;
    struct prt_stage_output *outputs;
    struct prt_stage_marks ends_due; /* what `ends` may have something to do with */
    struct prt_stage_marks
        changed;             /* something they depend on, since prt_collect_look has seen them */
    uint32_t *node_stage;    /* stage of each node */
    uint64_t *takers;        /* of each circle's packets, outside of it */
    uint32_t *cursors;       /* per set: index after the stage selected last */
    uint32_t *fullest;       /* per set: how many times `fullest` has selected */
    uint32_t *by_importance; /* the stages of each set, the most important first */
    uint32_t **set_order;    /* per set: where its stages are in there */

    struct prt_device_queue **device_queues; /* by stage; NULL: its firings launch nothing */
    struct prt_kernel_object *objects;       /* run of every stage, then finish of every stage */
    const void **windows_in;
    void **windows_out;
    uint64_t *pop_bytes, *push_bytes, *left, *produced, *claimed_bytes, *packet_bytes;
    struct kernel_window *window_places; /* per input */
    uint64_t *flow_sums;                 /* prefix sums of rates with phases */
    struct prt_completion *completions;
    struct prt_indices indices; /* of kernels with work-items */
    uint8_t *blocks;            /* arguments, tables and state of all nodes, mapped */
    size_t blocks_bytes;
    void **argument_blocks;

    struct prt_device_handle root; /* what the program takes for its device */
    struct prt_device_handle *sub_devices;
    uint32_t *sub_device_queues; /* the first of each; PRT_SCHED_NO_QUEUE: none yet */
    uint32_t sub_device_count;
    uint32_t root_queue;
    struct prt_sched_queue *queues;    /* by number */
    uint32_t queue_count, bound_count; /* stages that have been bound */

    enum prt_packet_kind
        dispatch;        /* the form of packets: CONDENSED, but where that gains nothing */
    bool dispatch_given; /* by the caller: it is not the program's to choose */
    struct dispatch_table references; /* what the device's table holds */
    uint32_t reference_stages[DISPATCH_ENTRIES_MAX];
    struct prt_open_packet *open_packets; /* by queue */
    uint64_t spilled_launches;            /* by another stage's entry */
    uint32_t open_count;                  /* of open packets with something in them */
    uint16_t lanes;                       /* items of a work-group */

    uint32_t selected;    /* stage, with `selected_firings` */
    uint32_t instruction; /* that is executed, from 0 */
    uint64_t selected_firings;
    uint32_t in_flight;
    uint32_t open_sinks;
    uint64_t firings_limit; /* of each source; UINT64_MAX: none */
    bool waiver;            /* thresholds are waived until the next dispatch */
    bool found_none;        /* a selection, since the last wait */
    bool end_propagated;    /* since a wait has seen it last */
    bool sinks_gone;        /* the last sink wants no more */

    uint64_t instruction_cycles; /* of all instructions */
    uint64_t passed_cycles;      /* of these, given to the device's clock */
    uint64_t instructions;
    uint64_t suspensions;                 /* of all in-ports */
    struct prt_sched_fault fault;         /* that ends the run */
    struct prt_sched_fault *stage_faults; /* by stage: that of one of its firings */
    uint32_t *fault_walk;                 /* faults.c's: stages to look at */
    bool faulted;                         /* a firing has faulted, and the program is to be left */
    bool ends_at_once;                    /* by the first fault: a replay, which has one schedule */
    atomic_bool interrupted;
    bool interrupt_seen;
    uint32_t stalled;  /* at the halt: a stage that waits for ever, and 1; 0: none */
    atomic_bool asked; /* how the run stands; by whom: */
    prt_standing_write ask_write;
    void *ask_context;
    const struct prt_buffer *doing_buffer;
    atomic_int doing;  /* enum prt_doing */
    const bool *among; /* by stage: the circle of a replay, whose waits are explained; else NULL */
};

/* Something has changed that may make the stage worth another look. */
static inline void prt_stage_changed(struct prt_sched *s, uint32_t stage)
{
    s->stages[stage].settled = false;
    if (s->collect != NULL) prt_stage_mark(&s->changed, stage);
}

static inline uint32_t prt_stage_number(const struct prt_sched *s, const struct prt_stage *stage)
{
    return (uint32_t)(stage - s->stages);
}

/* The stage may have fired for the last time, or there may be room for its finish: `ends` is to see. */
static inline void prt_stage_may_end(struct prt_sched *s, const struct prt_stage *stage)
{
    prt_stage_mark(&s->ends_due, prt_stage_number(s, stage));
}

/* Everything a run needs, sized from the container.  The device has been opened for it. */
enum prt_status prt_sched_create(const struct prt_container *container,
                                 const struct prt_image *image, const struct prt_device_ops *ops,
                                 struct prt_device *device, struct prt_sched **sched,
                                 struct prt_error *error);
void prt_sched_destroy(struct prt_sched *sched);

/* Behind the outer buffer of that index. */
void prt_sched_bind_source(struct prt_sched *sched, uint32_t buffer, prt_sched_source source,
                           void *context);
void prt_sched_bind_sink(struct prt_sched *sched, uint32_t buffer, prt_sched_sink sink,
                         void *context);

/* Asking that source never waits: it is asked ahead.  PRT_E_NOMEM. */
enum prt_status prt_sched_source_at_hand(struct prt_sched *sched, uint32_t buffer,
                                         struct prt_error *error);

/* The in-port does not wait until it is full (live_port.h).  Before the start. */
void prt_sched_source_eager(struct prt_sched *sched, uint32_t buffer);
/* Packets of eager in-ports rest for that time at most, so that more of them come together. */
void prt_sched_set_latency(struct prt_sched *sched, uint64_t nanoseconds);

/* Arguments of all nodes from the pipeline's block, then every `init` in node order, then initial
 * packets; then the host brings what it has (inport.h). */
enum prt_status prt_sched_start(struct prt_sched *sched, const void *pipeline_arguments,
                                struct prt_error *error);

/* Each source ends after so many firings.  Before the start. */
void prt_sched_limit_firings(struct prt_sched *sched, uint64_t firings);

/* The sub-device on which the program runs as if it were the device: it has as many compute units as the
 * container's.  Before the first instruction. */
void prt_sched_set_root(struct prt_sched *sched, struct prt_device_handle root);

/* How launches become packets, whatever the program says.  Before the start. */
void prt_sched_set_dispatch(struct prt_sched *sched, enum prt_packet_kind form);

/* In-ports end where they are, sources stop, and so do loops that neither drives. */
void prt_sched_interrupt(struct prt_sched *sched);

/* ---- the machine's instructions ---- */

enum prt_status prt_sched_partition_equally(struct prt_sched *sched, uint32_t cu_count,
                                            struct prt_error *error);
/* `counts` has `count` numbers. */
enum prt_status prt_sched_partition_counts(struct prt_sched *sched, const uint32_t *counts,
                                           uint32_t count, struct prt_error *error);
/* Into the domains of enum prt_affinity_level `level`, each of `cu_count` CUs. */
enum prt_status prt_sched_partition_affinity(struct prt_sched *sched, uint32_t level,
                                             uint32_t cu_count, struct prt_error *error);
enum prt_status prt_sched_bind_root(struct prt_sched *sched, uint32_t stage,
                                    struct prt_error *error);
enum prt_status prt_sched_bind(struct prt_sched *sched, uint32_t stage, uint32_t sub_device,
                               struct prt_error *error);

void prt_sched_packets(struct prt_sched *sched, enum prt_packet_kind form);
void prt_sched_load_reference(struct prt_sched *sched, uint32_t stage);

enum prt_status prt_sched_ends(struct prt_sched *sched, struct prt_error *error);
/* *found: a stage of the set is ready and selected. */
enum prt_status prt_sched_select_round_robin(struct prt_sched *sched, uint32_t set, bool *found,
                                             struct prt_error *error);
enum prt_status prt_sched_select_priority(struct prt_sched *sched, uint32_t set, bool *found,
                                          struct prt_error *error);
enum prt_status prt_sched_select_fullest(struct prt_sched *sched, uint32_t set, bool *found,
                                         struct prt_error *error);
enum prt_status prt_sched_dispatch(struct prt_sched *sched, struct prt_error *error);
/* Claims what so many firings of a running, idle stage need and launches them: they are ready. */
enum prt_status prt_sched_launch(struct prt_sched *s, uint32_t index, uint64_t firings,
                                 struct prt_error *error);
/* *jump: go on at the label; else nothing can come any more. */
enum prt_status prt_sched_wait(struct prt_sched *sched, bool *jump, struct prt_error *error);
/* The end of the run: PRT_OK or why it is not a good one. */
enum prt_status prt_sched_halt(struct prt_sched *sched, struct prt_error *error);

/* Gives the device's clock the cycles of the instructions since it was given some. */
void prt_sched_pass_time(struct prt_sched *sched);
/* Something is in flight: enqueues the open packets of idle queues and reaps. */
enum prt_status prt_sched_await(struct prt_sched *sched, struct prt_error *error);
/* Delivers the earliest completions, all of them: the first error is kept. */
enum prt_status prt_sched_reap(struct prt_sched *sched, struct prt_error *error);

/* A stage fires no more: its inputs hold no packets for it any more. */
void prt_sched_detach(struct prt_sched *s, struct prt_stage *stage);
/* Delivers the packets that the counted firings of a batch have appended to an output that is not in order and for
 * which room is claimed so far.  An out-port is drained. */
enum prt_status prt_sched_deliver(struct prt_sched *s, struct prt_stage *stage, uint32_t output,
                                  uint64_t packets, struct prt_error *error);

/* Enqueues what is open; waits until nothing is in flight; what completes is committed unless a kernel has faulted. */
enum prt_status prt_sched_settle(struct prt_sched *sched, struct prt_error *error);

#endif
