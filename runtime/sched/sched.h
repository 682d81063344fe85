/* SPDX-License-Identifier: MIT */
/*
 * sched: the state of one run, and the instructions of the scheduler machine, which change it
 * (lang/scheduler.md).
 *
 * A *stage* is a node with a place to run.  It is idle or in flight, and in one of the states below.  A
 * *port* is an outer buffer with a callback of the host.
 *
 *     running ──── can never fire again ────> finish waiting ── room ──> finishing
 *        ├──── can never fire again, has no finish ────> ended <────────────┤
 *        └──── a kernel faults, or a firing lacks ────> faulted <───────────┘
 *              packets that a fault keeps back
 *
 * The guarded loop of the program in the container:
 *
 *     ends      each stage that can never fire again runs its finish, closes its outputs and detaches from its
 *               inputs
 *     select    finds the next stage with enough packets and room; the host fills in-ports
 *     dispatch  claims the windows of the selected stage and adds its launch to a packet
 *     wait      commits the earliest completions; the host drains out-ports
 *
 * A static part, if the program has one, comes before that loop (static_part.h).
 *
 * Order.  A queue executes its launches one after the other: each begins when the one before has completed
 * (device.h).  A buffer inside the pipeline is *in order* if its writer and all its readers are bound to the same
 * queue.  Its positions move when a launch is dispatched, not when it completes:
 *
 *     a reader  frees the packets that the firings will consume
 *     a writer  commits the packets that the firings will append, if its rates are exact and it cannot stop
 *
 * So stages of one queue follow each other without a wait, and their launches can share a packet.  Stages that such
 * buffers do not connect may get queues of their own (own_queues.h).
 *
 * Claim: for each launch L, the positions of an in-order buffer at the dispatch of L hold when L begins to execute.
 *
 *   1. Only launches of this one queue move the positions.  Each moves them by an amount that depends only on the
 *      number of its firings: pops are exact, 2-D windows follow from places, and the pushes of an exact writer
 *      that does not stop are those of its phases.
 *   2. Launches are enqueued in the order in which they are dispatched (packets.h).  So the launches that move the
 *      positions before L is dispatched are the launches that execute before L.  All of them have completed when L
 *      begins.
 *   3. Hence the windows of L hold its packets, and its room is free.  A later launch that writes into room that L
 *      frees executes after L.
 *
 * The packets of a writer with bounded rates, of a writer that stops, and of a `finish` are committed at
 * completion.  Until then the claim stands, and readers do not see them.
 *
 * After a fault the queue executes no later launch.  No packet of a later launch reaches a port, because only
 * completions move the positions of ports.  Such a launch is delivered as skipped, and its moves are taken back.
 *
 * The writer of a closed buffer is idle, and only idle stages end.  So `ends` sees positions that hold.
 *
 * sched_create.c creates a run and executes the prologue of the program.  sched.c has the loop, ready.c the number
 * of firings that a stage could execute now, select.c the next stage, inport.c the packets of the host, flow.c and
 * lang/window.h the arithmetic.
 *
 * Requires: a verified container; one run per object.
 * Ownership: the caller keeps container, image and device alive; prt_sched_destroy frees everything else.
 * Thread-safety: one thread.  Kernels run where the device runs them.  Callbacks run in this thread, or in the
 *   thread of their port (port_thread.h).  prt_sched_interrupt is async-signal-safe and may be called from any
 *   thread.
 * Allocation: creation, binding of ports, start, and the prologue (partitions, queues).  None on the firing path.
 * Errors: PRT_E_FAULT (a kernel), PRT_E_STALL, PRT_E_CLOSED_PIPE (every sink is gone), PRT_E_VERIFY (the program
 *   halts with work left, or runs a firing that is not possible), PRT_E_DEVICE (the device does not fit the
 *   program), PRT_E_USAGE (a source gives more packets than asked for), statuses of callbacks, PRT_E_NOMEM.
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

/* The host writes up to `capacity` packets and sets *count; 0 is the end of the stream.  May block. */
typedef enum prt_status (*prt_sched_source)(void *context, void *packets, size_t capacity,
                                            size_t *count, struct prt_error *error);
/* The host reads `count` packets.  PRT_E_CLOSED_PIPE: it wants no more.  May block. */
typedef enum prt_status (*prt_sched_sink)(void *context, const void *packets, size_t count,
                                          struct prt_error *error);

/* Packets that the host has given to an in-port before they are wanted (inport.h). */
struct prt_ahead {
    uint64_t packets;       /* in the free room of the buffer */
    void *extra;            /* room for one more packet; NULL: the port is not at hand */
    bool has_extra;         /* `extra` holds a packet */
    uint64_t rest_packets;  /* read after all of these when the run has ended, only to be counted */
    bool over;              /* no packets follow these; `status` is the reason: */
    enum prt_status status; /* PRT_OK: end of stream; PRT_E_INTERRUPTED; else as in `error` */
    struct prt_error error;
};

/* Receives a text in pieces; `size` 0: the text is complete. */
typedef void (*prt_run_state_write)(void *context, const char *text, size_t size);

/* The present activity of the scheduler (run_state.h). */
enum prt_doing {
    PRT_DOING_NOTHING, /* the run has not begun */
    PRT_DOING_WORK,
    PRT_DOING_READ,   /* waits for the source of an in-port */
    PRT_DOING_WRITE,  /* waits for the sink of an out-port */
    PRT_DOING_DEVICE, /* waits for the device */
    PRT_DOING_STEP,   /* waits for a callback of struct prt_step */
    PRT_DOING_ENDED
};

/* The host's memory that holds the stream of a port (memory_port.h). */
struct prt_port_memory {
    uint8_t *packets;
    size_t capacity_packets, passed_packets, width_bytes;
    size_t *count; /* receives passed_packets; may be NULL */
};

struct prt_port_thread;  /* port_thread.h */
struct prt_bell;         /* port_thread.h */
struct prt_live;         /* live_port.h */
struct prt_arrivals;     /* arrivals.h */
struct prt_arrival_port; /* arrival_port.h */

struct prt_port {
    prt_sched_source source;
    prt_sched_sink sink; /* NULL: packets are dropped */
    void *context;
    bool asked_eager; /* the host wants this in-port to be eager */
    bool eager;       /* it is eager in this run (live_port.h) */
    bool gone;        /* the sink gets no more packets */
    bool awaited;     /* simulated time passes until its packets have arrived (arrival_port.h) */
    uint64_t packets; /* that have passed through the port */
    uint64_t suspensions;
    struct prt_ahead ahead;
    struct prt_port_memory memory;
    struct prt_arrival_port
        *arrival; /* NULL: all packets have arrived in cycle 0, or time is real */
    struct prt_port_thread *given_thread; /* NULL: the port gets no thread */
    struct prt_port_thread *thread; /* the running thread; NULL: the scheduler calls the host */
};

struct prt_buffer {
    const struct container_buffer *record;
    struct prt_fifo fifo;
    struct prt_port *port; /* of an outer buffer, else NULL */
    /* Leftover packets (leftovers.h), each the maximum over the readers. */
    uint64_t few_packets;      /* too few for another firing */
    uint64_t stranded_packets; /* the reader has found too few in another buffer */
    bool leftover_more;        /* there are more than these figures say */
    const struct prt_stage *stranded_reader;
    const struct prt_buffer *stranded_by; /* the other buffer; NULL: the run was interrupted */
};

struct prt_stage_input {
    struct prt_buffer *buffer;
    uint32_t reader; /* of the buffer's fifo */
    struct prt_take take;
    struct window window; /* 2-D; it replaces `take`.  Width 0: there is none */
    struct window_shape shape;
    bool in_order; /* freed at dispatch: "Order" above */
    bool lacks;    /* of a FAULTED stage: this input needs a packet that a fault keeps back */
    struct {       /* noted when the stage fires no more (leftovers.h) */
        bool counts;
        /* position of the reader, packets from there that are history */
        uint64_t from_packets, history_packets;
    } left;
};

struct prt_stage_output {
    struct prt_buffer *buffer;
    struct prt_flow least, most; /* minimum and maximum packets of a firing */
    uint64_t finish_max;         /* maximum packets of the finish */
    /* Of a bundle (lang/container.h): another output of the same bundle, and the shares of both.  Else share is 0. */
    uint32_t in_step_with;
    uint64_t share, other_share;
    bool in_order; /* committed at dispatch: "Order" above */
};

enum prt_stage_life {
    PRT_STAGE_RUNNING,
    PRT_STAGE_FINISH_WAITING,
    PRT_STAGE_FINISHING,
    PRT_STAGE_ENDED,
    PRT_STAGE_FAULTED /* fires no more, and its outputs do not close: faults.h */
};

struct prt_stage {
    const struct container_node *node;
    struct prt_stage_input *inputs;
    struct prt_stage_output *outputs;
    enum prt_stage_life life;
    bool in_flight;
    bool fed; /* packets of an in-port reach it, directly or not */
    /* packets of an in-port or a source reach it; else it ends only when its readers have */
    bool driven;
    bool stopped; /* by `stop`, or a source by an interrupt: it fires no more */
    /* FAULTED: an open out-port or a stage without outputs needs the packets that it keeps back */
    bool demanded;
    bool open; /* FAULTED, and it is not known yet whether it is demanded; only faults.c uses it */
    bool reads_tail; /* its finish reads the packets left in its only input */
    bool reads_port; /* some input is an in-port */
    bool exact;      /* the minimum and maximum rates of all outputs are equal */
    bool settled;    /* found not ready, and nothing it depends on has changed since */
    /* to an eager out-port, whose room changes at any time: it is never settled */
    bool writes_live;
    uint32_t component;      /* of the stages that are not fed: self_driven.h */
    uint32_t component_next; /* another stage of that component; the links form a ring */
    /* The input and the output that admitted no firing when the stage was last asked: they are asked first. */
    uint32_t lacking_input, lacking_output;
    uint32_t roomy_outputs; /* so many outputs, from the first one on, have room for the finish */
    uint32_t queue, cu_count;
    uint32_t entry;       /* of the reference table; CONTAINER_NONE: none */
    bool loads;           /* its first launch fills the entry */
    bool spilled;         /* it uses another stage's entry */
    bool ends_pack;       /* the last stage of its pack */
    bool awaited;         /* a more important stage reads its packets */
    uint32_t grid_before; /* firings of its previous packed launch */
    uint32_t threshold;   /* firings for which it is dispatched */
    uint64_t batch_max;
    /* if inputs have 2-D windows, which are all at the same place; else 0 */
    uint64_t frame_packets;
    uint64_t firings;    /* completed or in flight */
    uint64_t batch;      /* firings of the launch in flight, or of the last one */
    uint64_t read_bytes; /* by a firing; 0 if rates have phases */
    /* Written by the device: firings of the batch that count; of a finish: 1 if packets are left over. */
    uint64_t completed;

    uint64_t dispatches;
    uint64_t execute_cycles, launch_cycles, switch_cycles; /* of the launches that have completed */
};

/* A queue of a (sub-)device, which has one for each importance among its stages, or more (own_queues.h). */
struct prt_sched_queue {
    struct prt_device_handle on;
    uint32_t importance;
    uint32_t next; /* queue of the same (sub-)device, or PRT_SCHED_NO_QUEUE */
    bool root;     /* its (sub-)device is that of the whole program */
};

#define PRT_SCHED_NO_QUEUE UINT32_MAX

/* The launches that have been dispatched to a queue and are not enqueued yet. */
struct prt_open_packet {
    struct dispatch_writer writer;
    uint32_t stages[DISPATCH_UNITS]; /* of its launches */
    uint32_t entries;                /* bit i: it refers to entry i of the reference table */
    uint32_t in_flight;              /* enqueued launches of the queue */
};

struct prt_sched_fault {
    bool there;
    uint32_t node; /* CONTAINER_NONE: an argument */
    enum kernel_status status;
    bool finish;     /* in `finish` */
    uint64_t firing; /* its number; of a `finish`: firings before it */
    struct kernel_fault fault;
};

/* The callbacks of a run that goes one firing at a time.  In such a run guards fail, so the guarded loop does
 * everything.  For each firing and each finish, `before` is called before its windows are opened, with the stage
 * selected.  `after` is called once it has been committed, with nothing in flight.  A status other than PRT_OK ends
 * the run. */
struct prt_step {
    void *context;
    enum prt_status (*before)(void *context, uint32_t stage, bool finish, struct prt_error *error);
    enum prt_status (*after)(void *context, uint32_t stage, bool finish, struct prt_error *error);
};

struct prt_origins; /* provenance.h */

/* All state of one run.  It is one struct because each instruction reads and writes members of most groups. */
struct prt_sched {
    const struct prt_container *container;
    const struct prt_image *image;
    const struct prt_device_ops *ops;
    struct prt_device *device;
    struct prt_profile *profile;  /* stage_profile.h; NULL: the run is not measured */
    const struct prt_step *step;  /* NULL: the run does not go one firing at a time */
    struct prt_live *live;        /* live_port.h; NULL: no port is eager */
    struct prt_bell *bell;        /* of port threads; NULL: no port is eager */
    uint64_t latency_nanoseconds; /* how long packets rest at an eager in-port */
    struct prt_origins *origins;  /* provenance.h; NULL: origins of packets are not kept */

    struct prt_buffer *buffers;
    struct prt_port *ports; /* one per outer buffer */
    struct prt_stage *stages;
    struct prt_stage_input *inputs;
    struct prt_stage_output *outputs;
    struct prt_stage_marks ends_due; /* stages that `ends` has to look at */
    struct prt_stage_marks changed;  /* stages that prt_profile_look has to look at */
    uint32_t *node_stage;            /* stage of each node */
    uint64_t *takers;                /* per component: readers outside of it (self_driven.h) */
    uint32_t *cursors;               /* per set: index after the stage selected last */
    uint32_t *fullest;               /* per set: selections by `fullest` */
    uint32_t *by_importance;         /* the stages of each set, the most important first */
    uint32_t **set_order;            /* per set: its stages in by_importance */

    struct prt_device_queue **device_queues; /* by stage; NULL: its firings launch nothing */
    struct prt_kernel_object *objects;       /* run of every stage, then finish of every stage */
    /* Per input or output of the container; the objects point into these. */
    const void **windows_in;
    void **windows_out;
    uint64_t *pop_bytes, *push_bytes, *left, *produced, *claimed_bytes, *packet_bytes;
    struct kernel_window *window_places;
    uint64_t *flow_sums; /* prefix sums of rates with phases */
    struct prt_completion *completions;
    struct prt_indices indices; /* of kernels with work-items */
    uint8_t *blocks;            /* arguments, tables and state of all nodes, mapped */
    size_t blocks_bytes;
    void **argument_blocks;

    struct prt_device_handle root; /* the (sub-)device on which the program runs */
    struct prt_device_handle *sub_devices;
    uint32_t *sub_device_queues; /* the first queue of each; PRT_SCHED_NO_QUEUE: none yet */
    uint32_t sub_device_count;
    uint32_t root_queue;
    struct prt_sched_queue *queues;    /* by number */
    uint32_t queue_count, bound_count; /* queues; stages that have been bound */

    enum prt_packet_kind dispatch; /* the form of packets, CONDENSED at first */
    bool dispatch_given; /* the caller has set the form, and the program cannot change it */
    struct dispatch_table references; /* a copy of the device's reference table */
    /* whose launch each entry holds; UINT32_MAX: none */
    uint32_t reference_stages[DISPATCH_ENTRIES_MAX];
    struct prt_open_packet *open_packets; /* by queue */
    uint64_t spilled_launches;            /* launches that refer to another stage's entry */
    uint32_t open_count;                  /* open packets with at least one launch */
    uint16_t lanes;                       /* items of a work-group */

    uint32_t selected;    /* stage; UINT32_MAX: none */
    uint32_t instruction; /* the present one, counted from 0 */
    uint64_t selected_firings;
    uint32_t in_flight;     /* launches that are dispatched and not delivered */
    uint32_t open_sinks;    /* sinks that still want packets */
    uint64_t firings_limit; /* of each source; UINT64_MAX: none */
    bool waiver;            /* thresholds are waived until the next dispatch */
    bool found_none;        /* a selection has found no stage since the last wait */
    bool end_propagated;    /* a stage or stream has ended since a wait last reset this */
    bool sinks_gone;        /* there were sinks, and none of them wants more */

    uint64_t instruction_cycles; /* of all instructions */
    uint64_t passed_cycles;      /* of these, given to the device's clock */
    uint64_t instructions;
    uint64_t suspensions;                 /* of all in-ports */
    struct prt_sched_fault fault;         /* the fault that ends the run */
    struct prt_sched_fault *stage_faults; /* per stage: the fault of one of its firings */
    uint32_t *fault_walk;                 /* stages still to be looked at; only faults.c uses it */
    bool faulted;                         /* a firing has faulted: the machine leaves the program */
    bool ends_at_once;       /* the first fault ends the run: a replay, which has one schedule */
    atomic_bool interrupted; /* prt_sched_interrupt has been called */
    bool interrupt_seen;     /* ... and has ended a stream or stopped a stage */
    uint32_t stalled;        /* after a stall: number of a blocked stage, plus 1; else 0 */

    /* Requests for the state of the run (run_state.h). */
    atomic_bool asked;
    prt_run_state_write ask_write;
    void *ask_context;
    const struct prt_buffer *doing_buffer; /* buffer of the port that `doing` is about, or NULL */
    atomic_int doing;                      /* enum prt_doing */
    /* by stage: in the cycle of a replay, only whose waits are explained; else NULL */
    const bool *among;
};

/* A change may make the stage ready, or change the reason why it is not. */
static inline void prt_stage_changed(struct prt_sched *s, uint32_t stage)
{
    s->stages[stage].settled = false;
    if (s->profile != NULL) prt_stage_mark(&s->changed, stage);
}

static inline uint32_t prt_stage_number(const struct prt_sched *s, const struct prt_stage *stage)
{
    return (uint32_t)(stage - s->stages);
}

/* The stage may have fired for the last time, or there may be room for its finish: `ends` looks at it. */
static inline void prt_stage_may_end(struct prt_sched *s, const struct prt_stage *stage)
{
    prt_stage_mark(&s->ends_due, prt_stage_number(s, stage));
}

/* Allocates all tables, sized from the container.  Requires: a device opened for this run.  PRT_E_NOMEM;
 * PRT_E_DEVICE: the index memory or registers of the device are too small; errors of the device. */
enum prt_status prt_sched_create(const struct prt_container *container,
                                 const struct prt_image *image, const struct prt_device_ops *ops,
                                 struct prt_device *device, struct prt_sched **sched,
                                 struct prt_error *error);
void prt_sched_destroy(struct prt_sched *sched);

/* Binds a callback to the outer buffer of that index.  NULL as sink: packets are dropped. */
void prt_sched_bind_source(struct prt_sched *sched, uint32_t buffer, prt_sched_source source,
                           void *context);
void prt_sched_bind_sink(struct prt_sched *sched, uint32_t buffer, prt_sched_sink sink,
                         void *context);

/* The source never waits, so it is asked before its packets are wanted (inport.h).  PRT_E_NOMEM. */
enum prt_status prt_sched_source_at_hand(struct prt_sched *sched, uint32_t buffer,
                                         struct prt_error *error);

/* Makes the in-port eager (live_port.h).  Before the start. */
void prt_sched_source_eager(struct prt_sched *sched, uint32_t buffer);
/* The packets of the in-port arrive at these cycles.  Takes over what `arrivals` owns, also on failure.  Before the
 * start.  Requires: a device with `wait_until`.  PRT_E_NOMEM. */
enum prt_status prt_sched_source_arrivals(struct prt_sched *sched, uint32_t buffer,
                                          struct prt_arrivals *arrivals, struct prt_error *error);
/* Packets may rest at an eager in-port for that time, so that more of them are taken together.  Before the start. */
void prt_sched_set_latency(struct prt_sched *sched, uint64_t nanoseconds);

/* Computes the arguments of all nodes from the block of the pipeline, runs every `init` in node order, starts the
 * threads of ports, writes initial packets, and lets the host give packets ahead (inport.h). */
enum prt_status prt_sched_start(struct prt_sched *sched, const void *pipeline_arguments,
                                struct prt_error *error);

/* Each source ends after so many firings.  Before the start. */
void prt_sched_limit_firings(struct prt_sched *sched, uint64_t firings);

/* The program runs on that sub-device as if it were the device.  Requires: it has as many compute units as the
 * device of the container.  Before the first instruction. */
void prt_sched_set_root(struct prt_sched *sched, struct prt_device_handle root);

/* Launches become packets of that form, whatever the program says.  Before the start. */
void prt_sched_set_dispatch(struct prt_sched *sched, enum prt_packet_kind form);

/* In-ports end where they are; sources stop, and so do cycles that no in-port or source drives. */
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
/* *found: a stage of the set was ready, and is selected. */
enum prt_status prt_sched_select_round_robin(struct prt_sched *sched, uint32_t set, bool *found,
                                             struct prt_error *error);
enum prt_status prt_sched_select_priority(struct prt_sched *sched, uint32_t set, bool *found,
                                          struct prt_error *error);
enum prt_status prt_sched_select_fullest(struct prt_sched *sched, uint32_t set, bool *found,
                                         struct prt_error *error);
enum prt_status prt_sched_dispatch(struct prt_sched *sched, struct prt_error *error);
/* Launches so many firings of a running, idle stage.  Requires: its ends admit them. */
enum prt_status prt_sched_launch(struct prt_sched *s, uint32_t index, uint64_t firings,
                                 struct prt_error *error);
/* *jump: the machine goes on at the label; else no packet can arrive any more. */
enum prt_status prt_sched_wait(struct prt_sched *sched, bool *jump, struct prt_error *error);
/* Ends the run: PRT_OK, or the reason why the end is not a normal one. */
enum prt_status prt_sched_halt(struct prt_sched *sched, struct prt_error *error);

/* Advances the device's clock by the cycles of the instructions since the last call. */
void prt_sched_pass_time(struct prt_sched *sched);
/* Enqueues the open packets of idle queues and reaps.  Requires: a launch is in flight. */
enum prt_status prt_sched_await(struct prt_sched *sched, struct prt_error *error);
/* Waits for the earliest completions and delivers all of them, even after an error; returns the first error. */
enum prt_status prt_sched_reap(struct prt_sched *sched, struct prt_error *error);

/* The stage fires no more: its inputs discard the packets that they hold for it, and all later ones. */
void prt_sched_detach(struct prt_sched *s, struct prt_stage *stage);
/* Ends the claim of an output that is not in order: commits so many packets.  An out-port is drained. */
enum prt_status prt_sched_deliver(struct prt_sched *s, struct prt_stage *stage, uint32_t output,
                                  uint64_t packets, struct prt_error *error);

/* Enqueues all open packets and reaps until nothing is in flight, even after an error; returns the first error. */
enum prt_status prt_sched_settle(struct prt_sched *sched, struct prt_error *error);

#endif
