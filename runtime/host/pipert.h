/* SPDX-License-Identifier: MIT */
/*
 * pipert: runs compiled pipelines inside a program.  Pipelines are containers, which `pipec` writes.
 *
 *     struct prt_error error;
 *     struct prt_program *program;
 *     struct prt_run *run;
 *     if (prt_program_load_file("edge.pbc", &program, &error) != PRT_OK) ...
 *     if (prt_run_create(program, NULL, &run, &error) != PRT_OK) ...
 *     prt_run_set_argument(run, "gain", "0.5", &error);
 *     prt_run_bind_input(run, prt_program_find_port(program, "x"), read_x, context, &error);
 *     prt_run_bind_output(run, prt_program_find_port(program, "y"), write_y, context, &error);
 *     status = prt_run_execute(run, &error);
 *     prt_run_destroy(run);
 *     prt_program_free(program);
 *
 * Ownership.  The caller owns the programs that it loads and the runs that it creates.  Destroy all
 *   runs of a program before the program.  Returned strings and records belong to the program or run
 *   that returned them, and live as long as it.  The caller owns the contexts of callbacks.
 *
 * Threads.  There is no global state: programs and runs are independent of each other.  A loaded
 *   program is read-only.  Any number of threads may use it, and may execute several runs of it at
 *   the same time.  Only one thread at a time may use a run.  The exceptions are prt_run_interrupt and
 *   prt_run_describe_crash: any thread and any signal handler may call them.  The thread in
 *   prt_run_execute calls the callbacks.  If a port has a thread of its own, that thread calls the
 *   port's callback.  Kernels execute on threads that belong to the run.
 *
 * Errors.  Every call that can fail returns a status.  Unless `error` is NULL, it also fills the
 *   caller's record (base/status.h).  No call aborts the process.  A failed call changes nothing, and
 *   its objects can still be freed.  Every call that takes an error record may return PRT_E_NOMEM.
 *
 * Trust.  The loader checks the structure, the checksum and the meaning of a container before it runs
 *   anything from it.  The native code in the container is trusted like an executable.
 *
 * Memory.  A run allocates memory when it is created, when its ports are set up, and when prt_run_execute
 *   begins.  Firings do not allocate, however long the streams are.
 */
#ifndef RUNTIME_HOST_PIPERT_H
#define RUNTIME_HOST_PIPERT_H

#include "lang/scalar.h"
#include "runtime/host/field.h"
#include "runtime/sched/moment.h"
#include "runtime/sched/observer.h"
#include "runtime/host/pipert_device.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct prt_program;
struct prt_run;

#define PRT_NONE UINT32_MAX

/* ---- programs ---- */

/* Loads and checks a container.  Does not load its native code yet.  The path names a regular file,
 * or a descriptor (/dev/stdin).  A named pipe or a device file is PRT_E_OPEN, because it could
 * block forever. PRT_E_OPEN, PRT_E_READ: the file cannot be read.  PRT_E_FORMAT, PRT_E_TRUNCATED,
 * PRT_E_CHECKSUM, PRT_E_VERSION, PRT_E_VERIFY: the container is refused; the error has the section,
 * the offset and the reason.  PRT_E_DEVICE: the container has no code for this processor. */
enum prt_status prt_program_load_file(const char *path, struct prt_program **program,
                                      struct prt_error *error);

/* As prt_program_load_file, from memory.  Copies the bytes. */
enum prt_status prt_program_load_memory(const void *bytes, size_t size,
                                        struct prt_program **program, struct prt_error *error);

/* NULL is allowed.  Requires: all runs of the program have been destroyed. */
void prt_program_free(struct prt_program *program);

struct prt_program_information {
    const char *name;   /* of the pipeline */
    const char *device; /* the device that it was compiled for */
    /* instruction set of the native code: "x86-64-v3"; "" if the kernels are linked in */
    const char *isa;
    const char *compiler; /* "pipec 0.1.0" */
    uint32_t stage_count, buffer_count, port_count, argument_count;
    uint64_t memory_bytes; /* sum over all inner buffers, before rounding to pages */
    bool counterexample;   /* it ends in a deadlock: replay it with prt_run_replay */
};

void prt_program_information(const struct prt_program *program,
                             struct prt_program_information *information);

/* The name of extern kernel `index`, from 0; NULL: there are no more.  Other compilers have made its code.  A container
 * promises nothing about it, and not that it gives equal bits everywhere. */
const char *prt_program_foreign_kernel(const struct prt_program *program, uint32_t index);

struct prt_kernel_information {
    const char *name;                   /* of the node of the pipeline: "average" */
    uint32_t input_count, output_count; /* port arrays are flattened */
};

/* The kernels that the container has, one for each node of the pipeline, from 0: command queues execute them
 * (pipert_queue.h).  Returns false if there is no such kernel. */
bool prt_program_kernel(const struct prt_program *program, uint32_t index,
                        struct prt_kernel_information *information);

/* The shared libraries that the code of extern kernels needs.  They are no part of the container, and execute code of their own when
 * they are loaded: a run that needs one which has not been allowed is refused (PRT_E_USAGE).  NULL: there are no more. */
const char *prt_program_library(const struct prt_program *program, uint32_t index);
/* Allows the library of that name, if the program needs it.  Thread-safe. */
void prt_program_allow_library(struct prt_program *program, const char *name);

enum prt_port_direction { PRT_PORT_IN, PRT_PORT_OUT };

struct prt_port_information {
    const char *name;
    enum prt_port_direction direction;
    const char *type; /* as the source writes it: "f32", "u8[7][7]" */
    /* Type of the packet's scalars.  u8 if they differ, or if there is padding between them. */
    enum scalar_type scalar;
    uint64_t width_bytes; /* of a packet; a multiple of the scalar's width */
    uint32_t field_count; /* 0: the packet consists of scalars of one type */
    uint64_t row_packets; /* packets in a row; 0: the port has no shape */
    uint64_t frame_rows;  /* rows in a frame; 0: the number of rows is unlimited */
};

/* Ports are numbered from 0 in order of declaration. */
uint32_t prt_program_port_count(const struct prt_program *program);
/* Returns false if there is no such port. */
bool prt_program_port(const struct prt_program *program, uint32_t port,
                      struct prt_port_information *information);
/* Returns false if there is no such port or field. */
bool prt_program_port_field(const struct prt_program *program, uint32_t port, uint32_t field,
                            struct prt_field_information *information);
/* The number of the port with that name, or PRT_NONE. */
uint32_t prt_program_find_port(const struct prt_program *program, const char *name);

/* In lowest terms. */
struct prt_ratio {
    uint64_t numerator, denominator; /* denominator 0: there is no ratio */
};

/* Gives the number of packets that pass `to_port` for each packet that passes `from_port`.  There
 * is no ratio if a rate between the ports can vary, or if the ports are not connected.
 * PRT_E_USAGE: there is no such port. */
enum prt_status prt_program_port_ratio(const struct prt_program *program, uint32_t from_port,
                                       uint32_t to_port, struct prt_ratio *ratio,
                                       struct prt_error *error);

/* The properties of its stream that an input may know. */
enum prt_property {
    PRT_PROPERTY_NONE,
    PRT_PROPERTY_RATE,
    PRT_PROPERTY_WIDTH,
    PRT_PROPERTY_HEIGHT,
    PRT_PROPERTY_CHANNELS
};

struct prt_argument_information {
    const char *name;
    const char *type; /* as the source writes it: "f32", "f32[4][2]", "f32x2[8]" */
    enum scalar_type scalar;
    uint64_t count; /* scalars, row-major; 1: one number */
    /* "": one number; "4, 2": the lengths, from the outermost on; the last one is the vector's, if there is one */
    const char *shape;
    uint32_t lanes;   /* of that vector; 1: none */
    bool has_default; /* without a value, set the argument before prt_run_execute */
    /* Without another value it is what the input of the in-port `port` knows (prt_run_tell_input). */
    enum prt_property property;
    uint32_t port; /* PRT_NONE without a property */
};

uint32_t prt_program_argument_count(const struct prt_program *program);
bool prt_program_argument(const struct prt_program *program, uint32_t argument,
                          struct prt_argument_information *information);

/* ---- runs ---- */

/* How the scheduler hands launches to the device's queues (lang/dispatch.md).  Outputs do not
 * depend on it. */
enum prt_dispatch_mode {
    PRT_DISPATCH_PROGRAM,   /* the choice in the container */
    PRT_DISPATCH_CONDENSED, /* several launches per packet, as differences from stored references */
    PRT_DISPATCH_REFERENCE, /* one packet per launch, which also stores a reference */
    PRT_DISPATCH_FULL       /* one full packet per launch */
};

struct prt_run_options { /* all zero: the defaults */
    /* The name of the device.
     *   NULL                    the device that the program was compiled for
     *   "sim16"                 a simulated device that comes with the library
     *   "FILE.dev", "sim:FILE"  a simulated device that a file describes
     *   "cpu", "cpu:4"          cores of the host; possible for every program
     *   "cuda", "cuda:1"        a GPU of this machine, for programs with an image for GPUs
     *   "cuda-emulated"         the scheduler of GPUs, on threads of the host
     *   "null"                  executes no kernel, to measure the scheduler; possible for every program */
    const char *device;
    /* Number of threads that execute kernels.  0: one per processor, within the affinity and the
     * CPU quota of the process.  1: only the calling thread. */
    uint32_t host_threads;
    enum prt_dispatch_mode dispatch;
    /* How long packets may rest at an eager in-port that has a thread, or arrivals in simulated time, so that more
     * of them are processed together.  0: never; they are processed when the run has nothing else to do. */
    uint64_t latency_nanoseconds;
    bool measure; /* collect the statistics of runtime/sched/observer.h; slower */
    /* Receives the events of the run, and enables their measurement.  The record is copied.  NULL:
     * there is no observer. */
    const struct prt_observer *observer;
    /* Run on a sub-device of `device`, which must be simulated or a GPU.  This is the path to the sub-device
     * (lang/subdevices.md), with `sub_device_steps` steps; 0 steps: the whole device.  The program
     * uses the sub-device as its device, and partitions it further.  It may have been compiled for
     * any device with as many compute units as the sub-device and as many lanes; on a GPU, for any device, and the
     * sub-device needs two multiprocessors. */
    const struct prt_sub_device_step *sub_device;
    uint32_t sub_device_steps;
    /* Run on the (sub-)device `part` of `tree`, a tree that prt_device_open has made of a simulated device or a
     * GPU.  The rules are those of `sub_device`; together they are refused.  `device` is NULL, or names the device of the
     * tree.  The run retains `part` until it is destroyed, and keeps the tree: the caller may release the handle, and destroy the tree,
     * as soon as prt_run_create has returned.  While the run lives, its sub-devices and queues count in the tree
     * (prt_device_tree_live); queues of different runs have nothing to do with each other, because each run has a clock
     * of its own.  NULL: no handle. */
    struct prt_device_tree *tree;
    struct prt_device_handle part;
    /* Receives the errors and warnings about a device description in a file, as text with places.
     * NULL: the error record has the first error. */
    prt_report_callback report;
    void *report_context;
    /* On "cpu": multiplies the depths that the plan chose (lang/cpu.md, "Depths from threads").  0: by twice
     * the number of threads, and not at all for one thread.  1: they stay.  Outputs do not depend on it.  prt_run_buffer has the depths of the run.  It has no
     * effect on other devices. */
    uint32_t depth_factor;
};

/* Creates a run of the program.  `options` may be NULL; they are not kept.  PRT_E_DEVICE: the
 * program was not compiled for that device.  PRT_E_USAGE: there is no such device.  PRT_E_OPEN,
 * PRT_E_FORMAT: the device description cannot be read.  A wrong path to a sub-device gives the
 * errors of prt_create_sub_devices.  A handle: PRT_E_INVALID_DEVICE, it names no device of the tree, or one that has been
 * released, or `device` is another device; PRT_E_USAGE, the tree is that of the host's cores or was not opened by
 * prt_device_open, there is a path as well, or the tree is missing; PRT_E_DEVICE, the program needs another number of
 * compute units or lanes: the message has the commands that compile it for the sub-device. */
enum prt_status prt_run_create(const struct prt_program *program,
                               const struct prt_run_options *options, struct prt_run **run,
                               struct prt_error *error);

/* The program of the run. */
const struct prt_program *prt_run_program(const struct prt_run *run);

/* NULL is allowed.  Requires: prt_run_execute is not active. */
void prt_run_destroy(struct prt_run *run);

/* Sets an argument of the pipeline from text: a number (decimal or 0x), or true, false; of an array, all its values,
 * row-major, with commas between them.
 * PRT_E_USAGE: there is no such argument, or the text is not a value of its type, or not so many. */
enum prt_status prt_run_set_argument(struct prt_run *run, const char *name, const char *text,
                                     struct prt_error *error);

/* Sets an argument from memory: `count` scalars of `type`, row-major.  They are copied.
 * PRT_E_USAGE: there is no such argument; it has another type or another number of scalars; a bool is neither 0 nor 1. */
enum prt_status prt_run_set_argument_values(struct prt_run *run, const char *name,
                                            enum scalar_type type, const void *values, size_t count,
                                            struct prt_error *error);

struct prt_input_properties { /* 0: the input does not know it */
    uint32_t rate_hertz, width, height, channels;
};

/* One of them; 0: the input does not know it. */
uint32_t prt_input_property(const struct prt_input_properties *properties,
                            enum prt_property property);

/* Says what is known of the data of an in-port.  The arguments that take one of these properties get it as their value,
 * unless prt_run_set_argument has set them.  Call it before prt_run_execute.  PRT_E_USAGE: there is no such in-port, or an
 * argument's type does not hold the number. */
enum prt_status prt_run_tell_input(struct prt_run *run, uint32_t port,
                                   const struct prt_input_properties *properties,
                                   struct prt_error *error);

/* Ends every node without in-ports (a source) after that number of firings.  Without a limit, such
 * a node ends when it executes `stop`, or never.  Call it before prt_run_execute. */
void prt_run_limit_firings(struct prt_run *run, uint64_t firings);

/* Reads packets for an in-port.  The callback writes up to `capacity` (1 or more) packets to
 * `packets` and their number to *count.  It may block, and it may write fewer packets than
 * `capacity`.  A count of 0 is the end of the stream: the callback is not called again.  A bool
 * packet is one byte, 0 or 1. PRT_E_INTERRUPTED also ends the stream, like prt_run_interrupt.  Any
 * other failure ends the run with that status; then the callback must fill *error, which is never
 * NULL. */
typedef enum prt_status (*prt_read_callback)(void *context, void *packets, size_t capacity,
                                             size_t *count, struct prt_error *error);

/* Writes packets of an out-port: `count` packets, in order.  Without a thread of its own, the
 * port's callback returns before the run reads more input.  PRT_E_CLOSED_PIPE: the callback wants
 * no more packets.  The run continues for the other outputs, and ends when all outputs are closed.
 * Any other failure ends the run with that status. */
typedef enum prt_status (*prt_write_callback)(void *context, const void *packets, size_t count,
                                              struct prt_error *error);

/* Binds a callback to an in-port, and replaces an earlier binding.  PRT_E_USAGE: there is no such
 * in-port. */
enum prt_status prt_run_bind_input(struct prt_run *run, uint32_t port, prt_read_callback read,
                                   void *context, struct prt_error *error);
/* Promises that the callback of the in-port never blocks, like one that reads a file.  The run then
 * calls it before it begins, and later asks for one packet more than the buffer has room for.  If
 * the inputs fit their buffers, the scheduler never waits for the host (`suspensions` is 0).
 * Results and cycles do not depend on this promise.  PRT_E_USAGE: there is no such in-port. */
enum prt_status prt_run_input_at_hand(struct prt_run *run, uint32_t port, struct prt_error *error);
/* Makes the in-port eager: packets that have arrived are processed before the port is full.  The run asks the
 * callback once when it cannot go on without it; the callback may give fewer packets than asked.  All
 * packets that can be computed from those before have been written by then, unless an out-port has a
 * thread.  A callback that blocks stops the other ports too; prt_run_give_thread avoids this.
 * On simulated devices without prt_run_input_rate or prt_run_input_arrivals, under a debugger, and, in real time, if
 * it is bound to memory, the port is full all the same.  Outputs do not depend on it.  Call it before prt_run_execute.  PRT_E_USAGE: there is no such
 * in-port. */
enum prt_status prt_run_input_eager(struct prt_run *run, uint32_t port, struct prt_error *error);
/* The stream of the in-port never ends by itself, like that of a generator.  So the port closes when its packets no longer
 * lead to an open out-port, or to a running kernel without out-ports.  Without this call the nodes that the
 * port feeds run to the end of its stream, and with them the run.  Packets that are left over after such a port are not
 * counted.  Outputs do not depend on it.  Call it before prt_run_execute.  PRT_E_USAGE: there is no such in-port. */
enum prt_status prt_run_input_endless(struct prt_run *run, uint32_t port, struct prt_error *error);
/* On a simulated device, the packets of the in-port arrive in the course of the run, and not all of them at cycle 0
 * (lang/time.md, "Arrivals").  Packet k, counted from 0, arrives in the first cycle that is not before
 * k x seconds / packets seconds of the device's clock, and so does the end of a stream of k packets.  The port is full
 * unless prt_run_input_eager has been called for it, too.  `latency_nanoseconds` is then a time of the device's clock.
 * Cycles do not depend on the time in which the callback answers, and outputs do not depend on arrivals.  A second call
 * replaces the first one.  Call it before prt_run_execute.  PRT_E_USAGE: there is no such in-port; the device is "cpu"
 * or "null"; one of the numbers is 0, or they have no exact step at this clock. */
enum prt_status prt_run_input_rate(struct prt_run *run, uint32_t port, uint64_t packets,
                                   uint64_t seconds, struct prt_error *error);
/* As prt_run_input_rate: packets[i] packets arrive in cycle cycles[i], for each i below `count`, and the end of the
 * stream in the last of these cycles.  Copies both.  PRT_E_USAGE also if `count` is 0, if a cycle is below the one
 * before it, if packets[i] is 0 except for the last i, or if a cycle or the sum of the packets is 2^63 or more; then
 * *line, unless it is NULL, is that i, or SIZE_MAX if no single line is the reason.  If the stream has more packets than the
 * lines, the run ends with PRT_E_FORMAT. */
enum prt_status prt_run_input_arrivals(struct prt_run *run, uint32_t port, const uint64_t *cycles,
                                       const uint64_t *packets, size_t count, size_t *line,
                                       struct prt_error *error);
/* Binds a callback to an out-port, and replaces an earlier binding.  If `write` is NULL, or the
 * port is never bound, its packets are dropped.  PRT_E_USAGE: there is no such out-port. */
enum prt_status prt_run_bind_output(struct prt_run *run, uint32_t port, prt_write_callback write,
                                    void *context, struct prt_error *error);

/* Gives the port a thread of its own, which calls the port's callback.  An in-port is read ahead.
 * An out-port is written while the pipeline continues.  So the pipeline does not stop while the
 * host waits or converts data.  Results, cycles and statuses are the same, with these differences:
 *   - Callbacks of different ports may run at the same time, and before this port's packets are written.
 *   - The callback may read packets that the run never consumes.  At most the port's depth and 1 MiB (or
 *     five packets, if these are larger) lie between the callback and the pipeline.
 *   - The run reacts to PRT_E_CLOSED_PIPE a little later.
 * When the run needs no more packets, the thread in prt_run_execute calls `wake`, which may be
 * NULL.  A blocked read callback must then return; its result is ignored.  When prt_run_execute
 * returns, all packets are written, and no callback is called any more.  After prt_run_interrupt
 * the run processes the packets that the callback has read so far. Ports that are bound to memory,
 * and runs under a debugger, do not get threads.  If the system cannot create a thread, callbacks
 * are called as without this function.  PRT_E_USAGE: there is no such port. */
typedef void (*prt_wake_callback)(void *context);
enum prt_status prt_run_give_thread(struct prt_run *run, uint32_t port, prt_wake_callback wake,
                                    void *context, struct prt_error *error);

/* Binds a port to memory, without callbacks: the stream of an in-port is an array in the caller's
 * memory, and an out-port fills one.  Kernels use the memory in place if it is aligned.  Its
 * address must be a multiple of the largest power of two, up to 64, that divides the width of the
 * port's packets.  Otherwise packets are copied.  They are also copied at the end of the memory, if
 * a batch could need more room than is left.  A bool is a byte, 0 or 1. The run uses the memory
 * from the beginning to the end of prt_run_execute.  The memory must not overlap other memory that
 * is bound to the run.  Results and cycles are the same as with callbacks that never block.
 *   input   exactly these packets; the run does not write to them
 *   output  the first `capacity` packets.  Then the output is closed, like a callback that returns
 *           PRT_E_CLOSED_PIPE.  *count (never NULL) is the number of packets; the memory after them is
 *           undefined.
 * PRT_E_USAGE: there is no such port, or the size exceeds half of the address space. */
enum prt_status prt_run_bind_input_memory(struct prt_run *run, uint32_t port, const void *packets,
                                          size_t count, struct prt_error *error);
enum prt_status prt_run_bind_output_memory(struct prt_run *run, uint32_t port, void *packets,
                                           size_t capacity, size_t *count, struct prt_error *error);

/* Executes the run to the end of its streams.  A run can be executed only once.
 *   PRT_OK             every packet has been processed
 *   PRT_E_USAGE        an in-port is not bound, an argument has no value, or the run has been executed
 *   PRT_E_VERIFY       the program is a counterexample, or its scheduler program halts too early
 *   PRT_E_OPEN, PRT_E_FORMAT  the native code cannot be loaded; it is loaded now, if the device
 *                      executes it
 *   PRT_E_FAULT        a kernel fault; prt_run_fault has the details
 *   PRT_E_STALL        the pipeline cannot go on; the message names the cycle of waits
 *   PRT_E_INTERRUPTED  interrupted; packets read before have been processed and written
 *   PRT_E_CLOSED_PIPE  all outputs are closed
 *   and statuses of callbacks */
enum prt_status prt_run_execute(struct prt_run *run, struct prt_error *error);

/* A firing of a counterexample, and the levels of the node's buffers after it. */
struct prt_replay_level {
    const char *buffer;
    uint64_t packets, depth_packets;
};

struct prt_replay_step {
    const char *node;
    uint64_t firing; /* number of the node's firing, from 1 */
    const struct prt_replay_level *levels;
    uint32_t level_count;
};

typedef void (*prt_replay_callback)(void *context, const struct prt_replay_step *step);

/* Fires the sequence of a counterexample, one firing at a time, instead of prt_run_execute.  A run
 * can be replayed only once.  PRT_E_STALL is the expected result; the message names the cycle of
 * waits. PRT_E_USAGE: the program is no counterexample.  PRT_E_VERIFY: its sequence cannot be
 * fired, or does not end in a stall.  Other errors: as prt_run_execute. */
enum prt_status prt_run_replay(struct prt_run *run, prt_replay_callback show, void *context,
                               struct prt_error *error);

/* Ends all in-ports and sources.  The run still processes the packets that they have delivered,
 * then ends; cycles without input stop.  It takes effect before the next read, so the caller must
 * wake a blocked read callback itself.  Async-signal-safe. */
void prt_run_interrupt(struct prt_run *run);

/* Receives a text in pieces.  `size` 0 is the end of the text. */
typedef void (*prt_standing_callback)(void *context, const char *text, size_t size);

/* Requests a report on the state of the run, as lines of text: the cycle and the cause for which
 * the scheduler waits; a table of the stages (firings begun, dispatches, dispatches in flight,
 * cycles, and cause of waiting or "ended"); a table of the buffers (packets held, depth, high-water
 * mark, packets written, open or closed). Call it in the thread that executes the run, from a
 * callback or from a signal handler.  If the run is waiting for a callback or the device, or the
 * device is executing a kernel, `write` is called before this function returns.  Otherwise it is
 * called before the scheduler's next instruction.  A second request before that replaces the first
 * one.  Async-signal-safe, if `write` is. */
void prt_run_tell_standing(struct prt_run *run, prt_standing_callback write, void *context);

/* Receives one wait: "'a' waits for room in 'b' (holds 4 of 4, needs 1)". */
typedef void (*prt_wait_callback)(void *context, const char *wait);

/* After prt_run_execute has returned PRT_E_STALL: reports every wait of the cycle.  The error
 * message has only as many as fit.  Otherwise does nothing. */
void prt_run_tell_stall(const struct prt_run *run, prt_wait_callback receive, void *context);

/* ---- results of a run: valid after prt_run_execute, or during it from a callback ---- */

/* The cost of handing launches to the device.  Its share of the run is overhead_cycles /
 * (overhead_cycles + switch_cycles + execute_cycles). */
struct prt_dispatch_account {
    uint64_t launches;
    uint64_t packets, bytes;
    uint64_t enqueues, processings, clean_ups;
    uint64_t overhead_cycles; /* sum over enqueues, processings and clean-ups */
};

struct prt_run_statistics {
    /* of the device's time: simulated cycles, or nanoseconds on the host's cores */
    uint64_t total_cycles;
    uint64_t scheduler_cycles; /* in instructions of the scheduler; overlaps with execution */
    uint64_t instructions;
    uint64_t dispatches;
    uint64_t launch_cycles; /* enqueue, packet processing and clean-up, over all dispatches */
    uint64_t switch_cycles;
    uint64_t execute_cycles;
    uint64_t suspensions; /* how often the scheduler had to ask the host to fill an in-port */
    uint64_t host_cycles; /* sum over all ports (prt_buffer_statistics) */
    uint64_t leftover_packets, discarded_packets;
    uint32_t host_threads;                  /* number of threads that executed kernels */
    struct prt_dispatch_account dispatched; /* in the mode of this run */
    struct prt_dispatch_account as_full;    /* the same launches, if each were a full packet */
    /* Reference entries stored.  Spills: stores, and launches by another stage's entry, that a
     * larger reference table would have avoided. */
    uint64_t reference_stores, spills;
};

struct prt_stage_statistics {
    const char *name, *kernel;
    const char *source;
    uint32_t line;
    uint32_t cu_count;
    uint64_t firings, dispatches;
    uint64_t execute_cycles, launch_cycles, switch_cycles;
};

struct prt_buffer_statistics {
    const char *name, *type;
    uint32_t port; /* number of the pipeline's port, or PRT_NONE */
    uint64_t width_bytes, depth_packets;
    /* the depth in the container: less where the run has deepened the buffer */
    uint64_t planned_packets;
    uint64_t packets; /* written in all, including initial packets */
    uint64_t high_water_packets;
    /* of an in-port: how often the scheduler had to ask the host to fill it */
    uint64_t suspensions;
    /* Of a port: cycles in which the scheduler waited for its callback, or for the thread that
     * calls it.  0 if time is simulated, and if the run is not measured. */
    uint64_t host_cycles;
    /* written after all readers had ended, or held by a reader that ended */
    uint64_t discarded_packets;
    /* Packets that a reader never consumed, apart from those that its window has already seen.  With
     * several readers: the maximum. */
    uint64_t leftover_packets;
    /* On a simulated device, of an in-port with arrivals (prt_run_input_rate): cycles in which the scheduler did nothing
     * but wait for its packets; if the run is measured, for how long packets rested from their arrival until the
     * scheduler took them: the sum over them, and the maximum. */
    bool arrives;
    uint64_t arrived_packets; /* taken by the scheduler */
    uint64_t arrival_cycles, rest_cycles, rest_most_cycles;
    /* Of an out-port, if the run is measured: the packets that depend on an arrival, and the cycles from the arrival of
     * the last packet that each depends on until the host was given it: the sum, the minimum, the maximum. */
    uint64_t late_packets, late_cycles, late_least_cycles, late_most_cycles;
};

void prt_run_statistics(const struct prt_run *run, struct prt_run_statistics *statistics);
/* Stages and buffers are numbered from 0, in order of declaration.  Both functions return false if
 * the number is too large. */
bool prt_run_stage(const struct prt_run *run, uint32_t stage,
                   struct prt_stage_statistics *statistics);
bool prt_run_buffer(const struct prt_run *run, uint32_t buffer,
                    struct prt_buffer_statistics *statistics);

/* The packets left over in a buffer of the pipeline when a run has ended well. */
struct prt_leftover_statistics {
    const char *buffer;
    uint32_t port;             /* number of the pipeline's port, or PRT_NONE */
    bool inside;               /* of a stage: prt_run_buffer does not know this buffer */
    bool more;                 /* there are more packets, which were not read from the host */
    uint64_t few_packets;      /* left because they were too few for another firing */
    uint64_t stranded_packets; /* left because their reader found too few in another buffer */
    bool primes_loop;          /* the packets are no more than a feedback loop's initial packets */
    const char *stranded_reader; /* node that stranded packets; NULL: there is none */
    const char *stranded_by; /* buffer in which it found too few; NULL: the run was interrupted */
};

/* All buffers of the program are numbered from 0, in order of declaration, also those inside of stages.  Returns false if
 * the number is too large. */
bool prt_run_leftover(const struct prt_run *run, uint32_t buffer,
                      struct prt_leftover_statistics *statistics);

struct prt_fault_information {
    const char *id;     /* "division-by-zero" */
    const char *node;   /* "" for an argument */
    const char *source; /* place in the kernel's body */
    uint32_t line, column;
    uint64_t firing; /* UINT64_MAX: the fault was not in a firing */
};

/* Returns false if there was no fault. */
bool prt_run_fault(const struct prt_run *run, struct prt_fault_information *information);

/* For a handler of SIGSEGV and similar signals.  Writes the kernel that the calling thread executes
 * for this run to `text`, like "kernel 'find' (edge.pipe:4) in firings 118 to 133".  Returns false
 * if the thread executes no kernel.  Async-signal-safe. */
bool prt_run_describe_crash(const struct prt_run *run, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
