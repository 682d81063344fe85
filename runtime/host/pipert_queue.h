/* SPDX-License-Identifier: MIT */
/*
 * pipert_queue: queues of commands, for programs that launch kernels of a container by themselves, without its pipeline.
 *
 *     #include <pipert.h>
 *     #include <pipert_queue.h>
 *
 *     struct prt_device_tree *tree;
 *     struct prt_program *program;
 *     struct prt_command_queue *queue = NULL;
 *     struct prt_error error;
 *     prt_device_open("sim16", NULL, NULL, &tree, NULL, &error);
 *     prt_program_load_file("edge.pbc", &program, &error);
 *     prt_command_queue_create(program, tree, prt_device_tree_root(tree), NULL, &queue, &error);
 *
 *     float x[1000], y[1000];
 *     const struct prt_command_input in = {x, 1000};
 *     const struct prt_command_output out = {y, 1000, NULL};
 *     const struct prt_command scale = {.kernel = "scale", .firings = 1000,
 *         .inputs = &in, .input_count = 1, .outputs = &out, .output_count = 1};
 *     struct prt_command_event event;
 *     prt_command_queue_set_argument(queue, "by", "0.5", &error);
 *     prt_command_queue_enqueue(queue, &scale, &event, &error);
 *     prt_command_queue_wait(queue, &error);          event.end_cycles - event.begin_cycles
 *     prt_command_queue_destroy(queue);
 *
 * A *command* is one launch of a kernel: so many firings, which read packets from the host's memory and write packets there.
 * It is independent of the pipeline, of its buffers and of its other kernels.  Its firings are numbered from 0, and a kernel
 * with state begins each command with its initial state.
 *
 * A *queue* is in order: a command begins when the one before it in the queue has ended.  Queues on sub-devices with no
 * compute unit in common execute side by side; others take turns (lang/time.md).
 *
 * Devices.  A queue is on a (sub-)device of a tree of prt_device_open: of a simulated device whose compute units have as many
 * lanes as those that the program was compiled for, or of the host's cores ("cpu").  The first queue makes the device, whose
 * clock begins at cycle 0.  Queues that are made `beside` it share this device and its clock.
 *
 * Time.  On a simulated device enqueuing takes no time, and only waiting makes time pass.  A command takes the cycles of a
 * launch in a full packet (lang/dispatch.md, lang/time.md) with a completion signal and, unless it is `independent`, with
 * the barrier bit; all that it reads and writes passes through memory.  Cycles do not depend on the host.  On the host's
 * cores cycles are nanoseconds, and commands execute while the caller goes on.
 *
 * Ownership.  The caller owns queues, memory, events and the program.  It keeps the program until the queues are destroyed, and
 *   the memory and the event of a command until the command has completed.  Names and tables of a command are not kept.  A queue
 *   keeps its device: the handle may be released and the tree destroyed while the queue lives.  The queue is attached to the
 *   device, as prt_device_attach says.
 *
 * Threads.  Queues that are beside each other belong together: only one thread at a time may call their functions.  Others are
 *   independent.
 *
 * Errors.  As of runtime/host/pipert.h.  A failed call changes nothing.
 *
 * Sources: OpenCL 1.2, 5.1 (clCreateCommandQueue, in order), 5.8 (clEnqueueNDRangeKernel), 5.9 (clWaitForEvents, clFinish), 5.12
 *   (profiling); HSA Platform System Architecture Specification 1.2, 2.9 (AQL).
 */
#ifndef RUNTIME_HOST_PIPERT_QUEUE_H
#define RUNTIME_HOST_PIPERT_QUEUE_H

#include "lang/scalar.h"
#include "runtime/host/pipert_device.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct prt_program; /* pipert.h */
struct prt_command_queue;

struct prt_command_queue_options { /* all zero: the defaults */
    /* A queue of the same program and the same tree: the new one shares its device.  NULL: a device of its own. */
    struct prt_command_queue *beside;
    /* 0 to 255: the commands of a more important queue interrupt those of others on the same compute units, between
     * work-groups (lang/time.md). */
    uint32_t importance;
    /* The rest is of the device, and has no effect on a queue that is beside another one. */
    uint32_t host_threads;  /* as in prt_run_options */
    uint32_t commands_most; /* in flight at a time, in all queues of the device: 1 to 4096; 0: 64 */
    /* Firings of one command, if the cost of its kernel depends on data (lang/time.md): 1 to 2^24; 0: 4096. */
    uint32_t counted_firings_most;
};

/* Creates a queue on the (sub-)device `part` of `tree`.  `options` may be NULL.  PRT_E_INVALID_DEVICE: `part` names no
 * device of the tree, or one that has been released.  PRT_E_USAGE: the tree was not opened by prt_device_open; `beside` is
 * of another program or tree; a shared library has not been allowed.  PRT_E_INVALID_VALUE: an option is out of its range.
 * PRT_E_DEVICE: the program has other lanes, or needs what the device does not have.  PRT_E_FORMAT, PRT_E_OPEN: as
 * prt_run_execute, when it loads the native code. */
enum prt_status prt_command_queue_create(const struct prt_program *program,
                                         struct prt_device_tree *tree,
                                         struct prt_device_handle part,
                                         const struct prt_command_queue_options *options,
                                         struct prt_command_queue **queue, struct prt_error *error);

/* Waits for the commands of the queue, as prt_command_queue_wait.  NULL is allowed. */
void prt_command_queue_destroy(struct prt_command_queue *queue);

/* Sets an argument of the pipeline, from which the arguments of its kernels are computed, for later commands of the queue.
 * As prt_run_set_argument. */
enum prt_status prt_command_queue_set_argument(struct prt_command_queue *queue, const char *name,
                                               const char *text, struct prt_error *error);

/* As prt_run_set_argument_values. */
enum prt_status prt_command_queue_set_argument_values(struct prt_command_queue *queue,
                                                      const char *name, enum scalar_type type,
                                                      const void *values, size_t count,
                                                      struct prt_error *error);

/* Packets, one after the other, each as wide as prt_port_information.width_bytes says of such packets, aligned as their
 * scalars are.  The outputs of a command do not overlap its other windows. */
struct prt_command_input {
    const void *packets;
    size_t count;
};
struct prt_command_output {
    void *packets;
    size_t capacity;
    size_t *
        count; /* receives the number of packets when the command has completed; NULL: not wanted */
};

struct prt_command {
    const char *kernel; /* the name of a node of the pipeline, as `pipec inspect` shows it */
    uint64_t firings;   /* 1 to 2^32 - 1 */
    /* In the order of the kernel's ports; port arrays are flattened.  The inputs have the packets that all firings consume,
     * and those that the last ones see beyond them.  The outputs have room for all packets that the firings may
     * append.  More is allowed, and is not touched. */
    const struct prt_command_input *inputs;
    const struct prt_command_output *outputs;
    uint32_t input_count, output_count;
    /* It reads nothing that an earlier command of the queue writes: its packet may be processed before that one has ended,
     * where the device does so (processes_ahead, lang/devices.md).  It begins after it all the same. */
    bool independent;
};

/* The result of a command.  Cycles are of the device's clock. */
struct prt_command_event {
    bool complete; /* the other members are there */
    bool skipped;  /* not executed: a command before it has faulted */
    /* PRT_E_FAULT: its kernel has faulted, or it was skipped.  The outputs then have the packets of the firings before. */
    enum prt_status status;
    uint64_t
        firings; /* executed; fewer than asked for after a fault, and where a source has stopped */
    uint64_t enqueued_cycles; /* CL_PROFILING_COMMAND_QUEUED */
    uint64_t begin_cycles;    /* CL_PROFILING_COMMAND_START */
    uint64_t end_cycles;      /* CL_PROFILING_COMMAND_END */
    /* Parts of the time from begin to end (lang/time.md). */
    uint64_t execute_cycles, launch_cycles, switch_cycles;
};

/* Enqueues a command.  Does not block.  `event` may be NULL; it is written now, and when the command has completed, which is
 * during a call that waits.
 *
 * PRT_E_USAGE           there is no such kernel; it has a 2-D window, or it launches kernels; an argument has no value
 * PRT_E_INVALID_VALUE   firings out of range; another number of inputs or outputs than the kernel has; a window is NULL, too
 *                       small, or not aligned
 * PRT_E_BUSY            as many commands as possible are in flight: wait, and enqueue it again
 * PRT_E_FAULT           a command of the queue has faulted: nothing is executed on it any more; or an argument, or the `init`
 *                       of the kernel, has faulted
 * PRT_E_NOMEM */
enum prt_status prt_command_queue_enqueue(struct prt_command_queue *queue,
                                          const struct prt_command *command,
                                          struct prt_command_event *event, struct prt_error *error);

/* Waits until all commands of the queue have completed (clFinish).  Those of other queues of the device that end until then
 * complete, too.  PRT_E_FAULT: one of the queue has faulted; the message says where. */
enum prt_status prt_command_queue_wait(struct prt_command_queue *queue, struct prt_error *error);

/* Waits for one command, of this queue or of one beside it (clWaitForEvents).  PRT_E_FAULT: it has faulted, or was skipped.
 * PRT_E_USAGE: there is no such command. */
enum prt_status prt_command_queue_wait_for(struct prt_command_queue *queue,
                                           const struct prt_command_event *event,
                                           struct prt_error *error);

/* The clock of the device. */
uint64_t prt_command_queue_now_cycles(const struct prt_command_queue *queue);

#ifdef __cplusplus
}
#endif

#endif
