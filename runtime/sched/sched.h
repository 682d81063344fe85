/* SPDX-License-Identifier: MIT */
/*
 * sched: the host's side of one run: ports and their callbacks, kernel objects, the device, and the state of the
 * scheduler, which is the block of core/core.h.
 *
 * The scheduler core executes the program of the container (core/machine.h).  It calls the device by the environment of
 * this run, and returns where it needs the host: then sched.c fills in-ports, drains out-ports, and goes on.
 *
 * sched_create.c creates a run, program.c decodes its program and executes the prologue, sched.c drives the core.
 * inport.c reads the packets of in-ports.
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

#include "core/environment.h"
#include "model/bindings.h"
#include "model/stage_objects.h"
#include "runtime/device/device.h"
#include "runtime/device/ring.h"
#include "runtime/load/image.h"
#include "runtime/load/reader.h"
#include "runtime/sched/indices.h"
#include "runtime/sched/moment.h"

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
    uint64_t packets; /* that have passed through the port */
    uint64_t suspensions;
    struct prt_ahead ahead;
    struct prt_port_memory memory;
    struct prt_arrival_port
        *arrival; /* NULL: all packets have arrived in cycle 0, or time is real */
    struct prt_port_thread *given_thread; /* NULL: the port gets no thread */
    struct prt_port_thread *thread; /* the running thread; NULL: the scheduler calls the host */
};

/* Leftover packets of a buffer (leftovers.h), each the maximum over the readers. */
struct prt_leftover {
    uint64_t few_packets;        /* too few for another firing */
    uint64_t stranded_packets;   /* the reader has found too few in another buffer */
    bool more;                   /* there are more than these figures say */
    const char *stranded_reader; /* NULL: there is none */
    const char *stranded_by;     /* the other buffer; NULL: the run was interrupted */
};

struct prt_buffer {
    const struct container_buffer *record;
    struct core_buffer *core; /* its row in the block of the core */
    struct core_fifo *fifo;   /* of that */
    struct prt_ring ring;
    struct prt_port *port; /* of an outer buffer, else NULL */
    struct prt_leftover left;
};

/* Where the windows of an input are. */
struct prt_input_window {
    const struct prt_ring *ring;
    const struct core_reader *reader;
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

/* How many packets or firings there would have been of nodes that are parts of stages (fused.h). */
struct prt_packets {
    uint64_t least, most; /* between these; `most` UINT64_MAX: no limit is known */
    bool moment;          /* how many depends on the moment */
};

struct prt_fused_node {
    struct prt_packets firings; /* as a stage of its own */
    bool fed;                   /* packets of an in-port reach it, directly or not */
    bool cut_off;               /* packets of an endless in-port reach it */
};

struct prt_fused_buffer {
    uint64_t finished;        /* packets that the writer's `finish` has appended */
    struct prt_leftover left; /* of a buffer that the run does not have */
};

/* A node of the container. */
struct prt_fused_whole {
    uint64_t report; /* the part of the report of its finish that has not been read */
    bool ended;      /* it has found too few packets */
};

/* A run on its host.  One struct because all modules of runtime/sched work on one run. */
struct prt_sched {
    const struct prt_container *container;
    const struct prt_image *image;
    const struct prt_device_ops *ops;
    struct prt_device *device;

    /* The scheduler, and pointers to tables of it. */
    struct core *core;
    struct core_stage *stages;
    struct core_input *inputs;
    struct core_output *outputs;
    struct core_environment environment;
    struct prt_error *error; /* of the run that is driven: receives the text of its first failure */
    enum prt_status status;  /* of the first failure, if the host or the device has failed */

    struct prt_profile *profile;  /* stage_profile.h; NULL: the run is not measured */
    const struct prt_step *step;  /* NULL: the run does not go one firing at a time */
    struct prt_live *live;        /* live_port.h; NULL: no port is eager */
    struct prt_bell *bell;        /* of port threads; NULL: no port is eager */
    uint64_t latency_nanoseconds; /* how long packets rest at an eager in-port */
    struct prt_origins *origins;  /* provenance.h; NULL: origins of packets are not kept */

    struct prt_buffer *buffers;
    struct prt_port *ports; /* one per outer buffer */
    uint32_t *node_stage;   /* stage of each node */

    struct prt_device_queue **device_queues; /* by stage; NULL: its firings launch nothing */
    struct prt_stage_objects work;
    struct prt_kernel_object
        *objects; /* of `work`: run of every stage, then finish of every stage */
    /* Per input or output of the container; the objects point into these. */
    const void **windows_in;
    void **windows_out;
    struct kernel_window *window_places;
    struct prt_input_window *read; /* per input: where its windows are */
    struct prt_buffer **written;   /* per output */
    struct prt_indices indices;    /* of kernels with work-items */
    uint8_t *blocks;               /* arguments, tables and state of all nodes, mapped */
    size_t blocks_bytes;
    void **argument_blocks;

    struct prt_fused_node *fused_nodes; /* by record of the container */
    struct prt_packets *fused_inputs;
    struct prt_fused_buffer *fused_buffers;
    struct prt_fused_whole *fused_wholes; /* by node */

    struct prt_bindings bindings; /* own_queues.h adds queues to them */

    uint64_t suspensions; /* of all in-ports */

    /* Requests for the state of the run (run_state.h). */
    _Atomic(prt_run_state_write) ask_write; /* NULL: the text is not asked for */
    void *ask_context;
    _Atomic(prt_visit_callback) visit; /* NULL: no visit is asked for */
    void *visit_context;
    const struct prt_run *visit_run;
    const struct prt_buffer *doing_buffer; /* buffer of the port that `doing` is about, or NULL */
    atomic_int doing;                      /* enum prt_doing */
    /* by stage: in the cycle of a replay, only whose waits are explained; else NULL */
    const bool *among;
};

static inline const struct container_node *prt_stage_node(const struct prt_sched *s,
                                                          const struct core_stage *stage)
{
    return &s->container->nodes[stage->node];
}

static inline struct prt_buffer *prt_input_buffer(const struct prt_sched *s,
                                                  const struct core_input *input)
{
    return &s->buffers[input->buffer];
}

static inline struct prt_buffer *prt_output_buffer(const struct prt_sched *s,
                                                   const struct core_output *output)
{
    return &s->buffers[output->buffer];
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
/* The stream of the in-port never ends by itself (core/ends.h).  Before the start. */
void prt_sched_source_endless(struct prt_sched *sched, uint32_t buffer);
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

/* Executes the prologue of the program, and hands the run over to a scheduler that is resident on the device. */
enum prt_status prt_sched_begin(struct prt_sched *sched, struct prt_error *error);

/* Executes the program up to its end, or to the first failure, which *error explains. */
enum prt_status prt_sched_run(struct prt_sched *sched, struct prt_error *error);

/* Fires the stage once, and waits for it.  *ready: it had packets and room. */
enum prt_status prt_sched_fire(struct prt_sched *sched, uint32_t stage, bool *ready,
                               struct prt_error *error);

/* Fills in the environment by which the core of this run calls the device and sends its events. */
void prt_sched_set_environment(struct prt_sched *sched);

#endif
