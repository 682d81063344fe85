/* SPDX-License-Identifier: MIT */
/*
 * core: the state of the scheduler in one run, as one block of memory that refers to nothing outside of itself.
 *
 * The scheduler core is freestanding C: it allocates nothing and calls no host.  One source serves the host's cores, the
 * simulation, and a device on which one resident thread runs it.  The block has a header, struct core, and the tables
 * of the run at fixed distances from it.  Tables refer to each other by index.  So the block may be copied to other
 * memory, at an address that is a multiple of 8.
 *
 * A *stage* is a node with a place to run.  It is idle or in flight, and in one of the states below.  A *port* is an
 * outer buffer: the host writes or reads it.
 *
 *     running ──── can never fire again ────> finish waiting ── room ──> finishing
 *        ├──── can never fire again, has no finish ────> ended <────────────┤
 *        └──── a kernel faults, or a firing lacks ────> faulted <───────────┘
 *              packets that a fault keeps back
 *
 * The guarded loop of a program:
 *
 *     ends      each stage that can never fire again runs its finish, closes its outputs and detaches from its
 *               inputs (ends.h)
 *     select    finds the next stage with enough packets and room; the host fills in-ports (select.h)
 *     dispatch  claims the windows of the selected stage and adds its launch to a packet (launch.h, packets.h)
 *     wait      commits the earliest completions; the host drains out-ports
 *
 * A static part, if the program has one, comes before that loop (static_part.h).  machine.h executes the program.
 *
 * Order.  A queue executes its launches one after the other: each begins when the one before has completed.  A buffer
 * inside the pipeline is *in order* if its writer and all its readers are bound to the same queue.  Its positions move
 * when a launch is dispatched, not when it completes:
 *
 *     a reader  frees the packets that the firings will consume
 *     a writer  commits the packets that the firings will append, if its rates are exact and it cannot stop
 *
 * So stages of one queue follow each other without a wait, and their launches can share a packet.  Stages that such
 * buffers do not connect may get queues of their own (runtime/sched/own_queues.h).
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
 * The packets of a writer with bounded rates, of a writer that stops, and of a `finish` are committed at completion.
 * Until then the claim stands, and readers do not see them.
 *
 * After a fault the queue executes no later launch.  No packet of a later launch reaches a port, because only
 * completions move the positions of ports.  Such a launch is delivered as skipped, and its moves are taken back.
 *
 * The writer of a closed buffer is idle, and only idle stages end.  So `ends` sees positions that hold.
 *
 * Requires: tables that describe a verified program.
 * Thread-safety: one thread.  `interrupted` and `asked` may be set by any thread and by signal handlers.
 * Allocation: none.  Errors: a failure (struct core_failure), which ends the run.
 */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#include "core/completion.h"
#include "core/fifo.h"
#include "core/flow.h"
#include "core/marks.h"
#include "lang/container.h"
#include "lang/dispatch_codec.h"
#include "lang/sched_opcode.h"
#include "lang/window.h"

#include <stdatomic.h>

enum core_port { CORE_INNER, CORE_IN_PORT, CORE_OUT_PORT };

struct core_buffer {
    struct core_fifo fifo;
    uint64_t initial_packets;
    uint32_t writer; /* stage; CORE_NONE: the host */
    uint8_t port;    /* enum core_port */
    bool eager;      /* of a port: packets are taken as they arrive, or given as there is room */
    bool awaited;    /* of an in-port: simulated time passes until its packets have arrived */
    bool gone;       /* of an out-port: the host wants no more packets */
    bool endless;    /* of an in-port: its stream never ends by itself (ends.h) */
    bool
        undrained; /* of an out-port: packets have been committed that the host has not been given */
    uint32_t undrained_next; /* another such out-port; CORE_NONE: none */
    /* of an eager out-port: the host has room up to this position; else UINT64_MAX */
    uint64_t room_end_packets;
};

struct core_input {
    uint64_t buffer_at; /* distance of its buffer from the header */
    uint64_t reader_at; /* distance of its reader */
    uint32_t buffer;    /* number of the buffer */
    uint32_t reader;    /* of the buffer's fifo */
    /* for the firings that the stage has been measured for (core_measure): packets that they see, and consume */
    uint64_t sees, frees;
    struct core_take take;
    struct window window; /* 2-D; it replaces `take`.  Width 0: there is none */
    struct window_shape shape;
    bool in_order; /* freed at dispatch: "Order" above */
    bool lacks;    /* of a FAULTED stage: this input needs a packet that a fault keeps back */
    struct {       /* noted when the stage fires no more */
        bool counts;
        /* position of the reader, packets from there that are history */
        uint64_t from_packets, history_packets;
    } left;
};

struct core_output {
    uint64_t buffer_at; /* as of an input */
    uint32_t buffer;
    uint64_t appends;             /* at most, by the firings that the stage has been measured for */
    struct core_flow least, most; /* minimum and maximum packets of a firing */
    uint64_t finish_max;          /* maximum packets of the finish */
    /* Of a bundle (lang/container.h): another output of the same bundle, and the shares of both.  Else share is 0. */
    uint32_t in_step_with;
    uint64_t share, other_share;
    bool in_order; /* committed at dispatch: "Order" above */
};

enum core_life {
    CORE_RUNNING,
    CORE_FINISH_WAITING,
    CORE_FINISHING,
    CORE_ENDED,
    CORE_FAULTED /* fires no more, and its outputs do not close: faults.h */
};

/* One struct because the core is one block of memory, with an array of stages in it. */
struct core_stage {
    /* The members that each dispatch and completion reads come first. */
    uint64_t inputs_at, outputs_at; /* distances of its inputs and outputs from the header */
    uint32_t first_input, input_count;
    uint32_t first_output, output_count;
    enum core_life life;
    uint32_t flags; /* enum container_node_flags */
    bool in_flight;
    bool stopped;       /* by `stop`, or a source by an interrupt: it fires no more */
    bool settled;       /* found not ready, and nothing it depends on has changed since */
    bool input_closed;  /* the stream of an input has ended */
    bool exact;         /* the minimum and maximum rates of all outputs are equal */
    bool in_order;      /* all inputs and outputs are: a completion moves no position */
    bool fed;           /* packets of an in-port reach it, directly or not */
    bool ends_pack;     /* the last stage of its pack */
    uint32_t component; /* of the stages that are not fed: ends.h */
    uint32_t queue;
    uint64_t batch_max;
    uint64_t measured; /* firings for which its ends are measured, whichever come first; 0: none */
    uint64_t firings_limit; /* of a stage that no in-port drives; UINT64_MAX: none */
    uint64_t firings;       /* completed or in flight */
    uint64_t batch;         /* firings of the launch in flight, or of the last one */
    /* Written by the device: firings of the batch that count; of a finish: its report (lang/container.md, "Fused nodes"). */
    uint64_t completed;
    uint64_t dispatches;
    uint64_t execute_cycles, launch_cycles, switch_cycles; /* of the launches that have completed */

    uint32_t node;   /* number in the container */
    uint32_t phases; /* of its rates */
    uint32_t importance;
    uint64_t repetitions; /* firings of an iteration of the graph */
    /* packets of an in-port or a source reach it; else it ends only when its readers have */
    bool driven;
    /* its packets lead to an open out-port or to a running stage without outputs; only ends.c uses it */
    bool wanted;
    bool cut_off; /* packets of an endless in-port that was cut off reach it */
    /* FAULTED: an open out-port or a stage without outputs needs the packets that it keeps back */
    bool demanded;
    bool unjudged; /* FAULTED, and it has not been found out yet whether it is demanded */
    bool open; /* FAULTED, and it is not known yet whether it is demanded; only faults.c uses it */
    bool reads_tail; /* its finish reads the packets left in its only input */
    bool reads_port; /* some input is an in-port */
    /* to an eager out-port, whose room changes at any time: it is never settled */
    bool writes_live;
    bool loads;              /* its first launch fills the entry */
    bool spilled;            /* it uses another stage's entry */
    bool awaited;            /* a more important stage reads its packets */
    bool depends;            /* a stage of its queue is at the other end of one of its buffers */
    uint32_t component_next; /* another stage of that component; the links form a ring */
    /* The input and the output that admitted no firing when the stage was last asked: they are asked first. */
    uint32_t lacking_input, lacking_output;
    uint32_t roomy_outputs; /* so many outputs, from the first one on, have room for the finish */
    uint32_t entry;         /* of the reference table; CORE_NONE: none */
    uint32_t grid_before;   /* firings of its previous packed launch */
    uint32_t threshold;     /* firings for which it is dispatched */
    /* if inputs have 2-D windows, which are all at the same place; else 0 */
    uint64_t frame_packets;
};

struct core_set {
    uint32_t first, count; /* of its stages in `members`, and in `by_importance` */
    uint32_t cursor;       /* after the stage selected last */
    uint32_t fullest;      /* selections by `fullest` */
};

/* The launches that have been dispatched to a queue and are not enqueued yet. */
struct core_open_packet {
    struct dispatch_writer writer;
    uint32_t stages[DISPATCH_UNITS]; /* of its launches */
    uint32_t entries;                /* bit i: it refers to entry i of the reference table */
    uint32_t in_flight;              /* enqueued launches of the queue */
};

struct core_fault {
    bool there;
    uint32_t node; /* CORE_NONE: an argument */
    enum kernel_status status;
    bool finish;     /* in `finish` */
    uint64_t firing; /* its number; of a `finish`: firings before it */
    struct kernel_fault fault;
};

/* An instruction of the program, decoded. */
struct core_instruction {
    uint8_t opcode, cycles;
    uint32_t operands[3];
    uint32_t target; /* number of the instruction at the label */
};

enum core_failure_kind {
    CORE_GOOD,
    CORE_BAD_DEVICE, /* the device has failed */
    CORE_BAD_COUNTS, /* the stage reports more or fewer packets or firings than it may make */
    CORE_BAD_REPORT, /* the stage reports a fault in a firing that it was not given */
    CORE_BAD_RUN,    /* `run` of `number` firings that are not possible */
    CORE_BAD_HALT,   /* `halt` although the stage could go on */
    CORE_BAD_REPEAT, /* too many repeats within each other, or one of no round */
    CORE_BAD_AGAIN,  /* an `again` outside of a repeat */
    CORE_BAD_CALL,   /* a call in a routine */
    CORE_BAD_RETURN, /* a return without a call */
    CORE_BAD_OPCODE, /* an instruction of the prologue */
    CORE_STALLED,    /* the run has stalled; the stage is blocked */
    CORE_FAULT,      /* a kernel has faulted: `fault` */
    CORE_SINKS_GONE, /* the host wants no more packets of any out-port */
    CORE_STOPPED,    /* the host has ended the run */
};

struct core_failure {
    enum core_failure_kind kind;
    uint32_t stage;
    uint64_t number;
};

/* The maximum of open loops: SCHED_REPEAT_DEPTH in the loop of the program, and as many in a routine that it calls. */
enum { CORE_LOOPS_MAX = 2 * SCHED_REPEAT_DEPTH };

struct core_loop {
    uint32_t first; /* instruction */
    uint32_t left;  /* rounds, the present one included */
};

/* The progress of an instruction that the core has left to suspend, and of the activities that outlast one. */
struct core_progress {
    uint32_t step;     /* 0: at its beginning; each instruction numbers its own */
    uint32_t at, left; /* of a search, or of firings one by one */
    uint64_t packets, most;
    bool flag;
};

enum core_attention {
    CORE_UNDRAINED = 1,  /* out-ports hold packets for the host */
    CORE_STEPPING = 2,   /* the firing of `step_stage` is being stepped */
    CORE_HAS_FAILED = 4, /* there is a failure */
    CORE_HAS_HALTED = 8,
    CORE_HAS_FAULTED = 16, /* a firing has faulted: the machine leaves the program */
    CORE_NO_SINKS = 32     /* there were sinks, and none of them wants more */
};

struct core_environment; /* environment.h */

/* One struct because it is the block of memory that a device gets: positions in it are distances from its beginning. */
struct core {
    /* Distances of the tables from the header, in bytes. */
    uint64_t stages_at, inputs_at, outputs_at, buffers_at, readers_at, sets_at;
    uint64_t members_at;       /* u32: the stages of all sets, in their order */
    uint64_t by_importance_at; /* u32: the same, within each set the most important first */
    uint64_t numbers_at;       /* u64: lists of rates */
    uint64_t
        produced_at; /* u64, per output: packets of the launch in flight; written by the device */
    uint64_t takers_at;       /* u64, per component: readers outside of it (ends.h) */
    uint64_t open_packets_at; /* per queue */
    uint64_t completions_at;  /* per stage: those of a wait */
    uint64_t faults_at;       /* per stage: the fault of one of its firings */
    uint64_t walk_at;         /* u32, per stage: only faults.c uses it */
    uint64_t code_at;
    uint64_t bytes; /* of the whole block */
    uint32_t stage_count, input_count, output_count, buffer_count, set_count, code_count;
    uint32_t queue_count;

    /* For the length of a call of the core. */
    const struct core_environment *environment;

    atomic_bool
        interrupted; /* in-ports end where they are, sources stop, and so do cycles that nothing drives */
    atomic_bool asked; /* the host wants to be returned to before the next instruction */

    /* what the host has set before the run */
    uint16_t lanes; /* items of a work-group */
    uint8_t form;   /* of the packets that launches become: enum sched_form */
    bool direct;    /* launches need no packets */
    bool observed;  /* events are sent, and `changed` is kept */
    bool live;      /* some port is eager */
    bool endless;   /* the stream of some in-port never ends by itself */
    bool stepped;   /* firings go one by one; guards fail, so the guarded loop does everything */
    bool
        ends_at_once; /* the first fault ends the run: a run that is stepped, or has one schedule */
    uint32_t open_sinks; /* sinks that still want packets */

    /* A stage has ended, or an out-port has gone, since endless in-ports were looked at. */
    bool fewer_takers;
    struct core_marks ends_due; /* stages that `ends` has to look at */
    struct core_marks changed;  /* stages that may wait for another reason than before */

    struct dispatch_table references; /* a copy of the device's reference table */
    /* whose launch each entry holds; CORE_NONE: none */
    uint32_t reference_stages[DISPATCH_ENTRIES_MAX];
    uint64_t spilled_launches; /* launches that refer to another stage's entry */
    uint32_t open_count;       /* open packets with at least one launch */

    uint32_t selected; /* stage; CORE_NONE: none */
    uint64_t selected_firings;
    uint32_t in_flight;  /* launches that are dispatched and not delivered */
    bool waiver;         /* thresholds are waived until the next dispatch */
    bool found_none;     /* a selection has found no stage since the last wait */
    bool end_propagated; /* a stage or stream has ended since a wait last reset this */
    bool interrupt_seen; /* an interrupt has ended a stream or stopped a stage */

    /* Reasons why the machine cannot go on at the next instruction: set of enum core_attention. */
    uint32_t attention;
    /* Out-ports that the host has to drain, in order; CORE_NONE: none. */
    uint32_t undrained_first, undrained_last;

    uint64_t instruction_cycles; /* of all instructions */
    uint64_t passed_cycles;      /* of these, given to the device's clock */
    uint64_t instructions;
    struct core_failure failure;
    struct core_fault fault; /* the fault that ends the run */

    /* ---- the machine ---- */
    uint8_t activity;     /* machine.h */
    bool resumes;         /* the present instruction has not been completed */
    uint32_t instruction; /* the present one, counted from 0 */
    uint32_t next;        /* instruction */
    uint32_t link;        /* where `return` goes on; CORE_NONE: not in a routine */
    uint32_t loop_count;
    struct core_loop loops[CORE_LOOPS_MAX];
    struct core_progress progress; /* of the present instruction, or round of faults.h */
    uint32_t window;               /* of faults.h */
    uint32_t step_stage;
    bool step_finish;
    uint32_t request_buffer; /* of a suspension */
    bool answer;             /* of the host: the wait was worth it */
};

/* ---- tables ---- */

#define CORE_TABLE(name, type)                                                                     \
    static inline type *core_##name(const struct core *c)                                          \
    {                                                                                              \
        return (type *)((uintptr_t)c + c->name##_at);                                              \
    }
CORE_TABLE(stages, struct core_stage)
CORE_TABLE(inputs, struct core_input)
CORE_TABLE(outputs, struct core_output)
CORE_TABLE(buffers, struct core_buffer)
CORE_TABLE(readers, struct core_reader)
CORE_TABLE(sets, struct core_set)
CORE_TABLE(members, uint32_t)
CORE_TABLE(by_importance, uint32_t)
CORE_TABLE(numbers, uint64_t)
CORE_TABLE(produced, uint64_t)
CORE_TABLE(takers, uint64_t)
CORE_TABLE(open_packets, struct core_open_packet)
CORE_TABLE(completions, struct core_completion)
CORE_TABLE(faults, struct core_fault)
CORE_TABLE(walk, uint32_t)
CORE_TABLE(code, struct core_instruction)
#undef CORE_TABLE

static inline struct core_stage *core_stage(const struct core *c, uint32_t stage)
{
    return core_stages(c) + stage;
}

static inline uint32_t core_stage_number(const struct core *c, const struct core_stage *stage)
{
    return (uint32_t)(stage - core_stages(c));
}

static inline struct core_input *core_input(const struct core *c, const struct core_stage *stage,
                                            uint32_t input)
{
    return (struct core_input *)((uintptr_t)c + stage->inputs_at) + input;
}

static inline struct core_output *core_output(const struct core *c, const struct core_stage *stage,
                                              uint32_t output)
{
    return (struct core_output *)((uintptr_t)c + stage->outputs_at) + output;
}

static inline struct core_buffer *core_read_buffer(const struct core *c,
                                                   const struct core_input *input)
{
    return (struct core_buffer *)((uintptr_t)c + input->buffer_at);
}

static inline struct core_reader *core_input_reader(const struct core *c,
                                                    const struct core_input *input)
{
    return (struct core_reader *)((uintptr_t)c + input->reader_at);
}

static inline struct core_buffer *core_written_buffer(const struct core *c,
                                                      const struct core_output *output)
{
    return (struct core_buffer *)((uintptr_t)c + output->buffer_at);
}

/* ---- the kind of run ---- */

/* On a GPU launches need no packets, and no run is observed or stepped: the compiler leaves out what would serve these. */
#ifdef __NVPTX__
enum { CORE_ON_GPU = 1 };
#else
enum { CORE_ON_GPU = 0 };
#endif

static inline bool core_is_direct(const struct core *c)
{
    return CORE_ON_GPU || c->direct;
}

static inline bool core_is_observed(const struct core *c)
{
    return !CORE_ON_GPU && c->observed;
}

static inline bool core_is_stepped(const struct core *c)
{
    return !CORE_ON_GPU && c->stepped;
}

/* ---- changes ---- */

/* A change may make the stage ready, or change the reason why it is not. */
static inline void core_stage_changed(struct core *c, uint32_t stage)
{
    core_stage(c, stage)->settled = false;
    if (core_is_observed(c)) core_mark(&c->changed, stage);
}

void core_all_stages_changed(struct core *c);

/* Packets have arrived in the buffer, or it has closed: its readers may have become ready. */
void core_readers_changed(struct core *c, const struct core_buffer *buffer);

/* The stage may have fired for the last time, or there may be room for its finish: `ends` looks at it. */
static inline void core_stage_may_end(struct core *c, const struct core_stage *stage)
{
    core_mark(&c->ends_due, core_stage_number(c, stage));
}

/* Packets of the out-port are there for the host. */
void core_to_drain(struct core *c, struct core_buffer *buffer);
/* Takes the first out-port that the host has to drain; CORE_NONE: there is none. */
uint32_t core_take_undrained(struct core *c);

static inline bool core_attends(const struct core *c, enum core_attention attention)
{
    return (c->attention & (uint32_t)attention) != 0;
}

/* One of the sinks wants no more packets. */
static inline void core_sink_leaves(struct core *c)
{
    if (--c->open_sinks == 0) c->attention |= CORE_NO_SINKS;
}

/* Notes a failure unless there is one already.  Returns false. */
bool core_fail(struct core *c, enum core_failure_kind kind, uint32_t stage, uint64_t number);

/* A flag that others may set.  On a GPU only the scheduler's own thread sets it: the read may be served by a cache. */
static inline bool core_flag(const atomic_bool *flag)
{
#ifdef __NVPTX__
    return *(const bool *)flag;
#else
    return atomic_load_explicit(flag, memory_order_relaxed);
#endif
}

static inline bool core_is_interrupted(const struct core *c)
{
    return core_flag(&c->interrupted);
}

/* ---- creation ---- */

/* How many rows the tables have. */
struct core_shape {
    uint32_t stages, inputs, outputs, buffers, sets, code;
    uint64_t readers; /* the host at each out-port included */
    uint64_t members; /* stages of all sets */
    uint64_t numbers;
};

/* Bytes of the block; 0: more than size_t can count. */
size_t core_size(const struct core_shape *shape);
/* Lays out the block: `memory` is zeroed, and has core_size bytes. */
struct core *core_lay_out(void *memory, const struct core_shape *shape);

#endif
