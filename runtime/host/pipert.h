/* SPDX-License-Identifier: MIT */
/*
 * pipert: runs compiled pipelines (containers, as `pipec` writes them) inside a program.
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
 * Ownership.  A program belongs to its loader, a run to its creator; a program outlives its runs.
 *   Strings and records given out belong to the program or run they came from and live as long as
 *   it.  Callback contexts are the caller's.
 *
 * Threads.  There is no global state: programs and runs are independent of each other.  A program
 *   is read-only once loaded and may be used by any number of threads, so several runs of it may be
 *   executed at a time.  A run is used by one thread at a time; prt_run_interrupt and
 *   prt_run_describe_crash may be called by any, also from signal handlers.  Callbacks are called
 *   by the thread in prt_run_execute, those of ports that have been given a thread by that one.
 *   Kernels are executed by threads of the run's own.
 *
 * Errors.  Every call that can fail returns a status and, unless `error` is NULL, fills the
 *   caller's record: see base/status.h.  Nothing aborts; a failed call changes nothing, and what
 *   it was called on can still be freed.  PRT_E_NOMEM may come from every call that takes an error
 *   record.
 *
 * Trust.  A container is checked completely (structure, checksum, meaning) before anything in it
 *   runs.  Its native code is trusted as that of an executable is.
 *
 * Memory.  A run allocates everything when it is created and as its first instructions make queues;
 *   firing does not allocate, whatever the length of the streams.
 */
#ifndef RUNTIME_HOST_PIPERT_H
#define RUNTIME_HOST_PIPERT_H

#include "lang/scalar.h"
#include "runtime/host/field.h"
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

/* Loads and checks a container; its code is not executed, and not loaded yet.  The path names a regular
 * file or a descriptor (/dev/stdin); a named pipe or a device is PRT_E_OPEN, for it could wait for
 * ever.  PRT_E_OPEN, PRT_E_READ: the file; PRT_E_FORMAT,
 * PRT_E_TRUNCATED, PRT_E_CHECKSUM, PRT_E_VERSION, PRT_E_VERIFY: the container, with section, offset
 * and reason; PRT_E_DEVICE: its code is not for this processor. */
enum prt_status prt_program_load_file(const char *path, struct prt_program **program,
                                      struct prt_error *error);

/* The same from memory; the bytes are copied. */
enum prt_status prt_program_load_memory(const void *bytes, size_t size,
                                        struct prt_program **program, struct prt_error *error);

/* NULL is allowed.  Requires: no run of it is left. */
void prt_program_free(struct prt_program *program);

struct prt_program_information {
    const char *name;   /* of the pipeline */
    const char *device; /* it was compiled for */
    const char *isa;    /* of the native code that runs: "x86-64-v3"; "": its entries were given */
    const char *compiler; /* "pipec 0.1.0" */
    uint32_t stage_count, buffer_count, port_count, argument_count;
    uint64_t memory_bytes; /* of all inner buffers, logically */
    bool counterexample;   /* it stops for ever, and is replayed, not run */
};

void prt_program_information(const struct prt_program *program,
                             struct prt_program_information *information);

enum prt_port_direction { PRT_PORT_IN, PRT_PORT_OUT };

struct prt_port_information {
    const char *name;
    enum prt_port_direction direction;
    const char *type; /* as the source writes it: "f32", "u8[7][7]" */
    /* Of all scalars of a packet; u8 where they differ or do not fill it. */
    enum scalar_type scalar;
    uint64_t width_bytes; /* of a packet: a multiple of the scalar's */
    uint32_t field_count; /* 0: nothing but scalars of the one type */
    uint64_t row_packets; /* its shape: of a row; 0: it has none */
    uint64_t frame_rows;  /* of a frame; 0: rows without an end */
};

/* Ports are numbered from 0 in order of declaration. */
uint32_t prt_program_port_count(const struct prt_program *program);
/* False: there is no such port. */
bool prt_program_port(const struct prt_program *program, uint32_t port,
                      struct prt_port_information *information);
/* False: there is no such port or field. */
bool prt_program_port_field(const struct prt_program *program, uint32_t port, uint32_t field,
                            struct prt_field_information *information);
/* The port of that name, or PRT_NONE. */
uint32_t prt_program_find_port(const struct prt_program *program, const char *name);

/* In lowest terms. */
struct prt_ratio {
    uint64_t numerator, denominator; /* denominator 0: there is none */
};

/* How many packets pass one port for each that passes another: of an out-port for each of an in-port, say.  There is
 * none where a rate that may vary, or nothing at all, connects the two.  PRT_E_USAGE: no such port. */
enum prt_status prt_program_port_ratio(const struct prt_program *program, uint32_t from_port,
                                       uint32_t to_port, struct prt_ratio *ratio,
                                       struct prt_error *error);

struct prt_argument_information {
    const char *name;
    enum scalar_type scalar;
    bool has_default; /* without one it must be set before the run is executed */
};

uint32_t prt_program_argument_count(const struct prt_program *program);
bool prt_program_argument(const struct prt_program *program, uint32_t argument,
                          struct prt_argument_information *information);

/* ---- runs ---- */

/* How launches are given to the device's queues (lang/dispatch.md).  Outputs do not depend on it. */
enum prt_dispatch_mode {
    PRT_DISPATCH_PROGRAM,   /* as the program says */
    PRT_DISPATCH_CONDENSED, /* several launches a packet, as differences to stored references */
    PRT_DISPATCH_REFERENCE, /* every launch a packet of its own that stores a reference */
    PRT_DISPATCH_FULL       /* every launch a packet of its own */
};

struct prt_run_options { /* zero everywhere: the defaults */
    /* NULL: the one the program was compiled for. "sim16"; "FILE.dev" or "sim:FILE", a description;
     * for every program: "cpu" or "cpu:4", cores of the host; "null", which executes no kernel: for
     * measuring the scheduler */
    const char *device;
    /* that execute kernels; 0: one per processor that the process may use and is granted the time of;
     * 1: the calling thread alone */
    uint32_t host_threads;
    enum prt_dispatch_mode dispatch;
    bool measure; /* the statistics of runtime/sched/observer.h, which cost something */
    /* Is told what happens, and has it measured; copied.  NULL: nobody is told. */
    const struct prt_observer *observer;
    /* Run on a part of `device`, a simulated one: the path from it to a sub-device (lang/subdevices.md),
     * of `sub_device_steps` steps; 0: on all of it.  The program takes that sub-device for its device
     * and cuts it further, as it cuts the whole.  It may have been compiled for any device of as many
     * compute units as the sub-device has and as many lanes. */
    const struct prt_sub_device_step *sub_device;
    uint32_t sub_device_steps;
    /* gets what a device description from a file has against it, errors and warnings, as text with
     * the place; NULL: the first error is in the error record */
    prt_report_callback report;
    void *report_context;
};

/* Makes a run of the program; `options` may be NULL.  PRT_E_DEVICE: the program was not compiled
 * for that device; PRT_E_USAGE: there is no such device; PRT_E_OPEN, PRT_E_FORMAT: the description;
 * the errors of prt_create_sub_devices: the path to the sub-device. */
enum prt_status prt_run_create(const struct prt_program *program,
                               const struct prt_run_options *options, struct prt_run **run,
                               struct prt_error *error);

/* What it is a run of. */
const struct prt_program *prt_run_program(const struct prt_run *run);

/* NULL is allowed.  Not while it is executed. */
void prt_run_destroy(struct prt_run *run);

/* Sets an argument of the pipeline from text: a number (decimal or 0x), or true, false.
 * PRT_E_USAGE: there is no such argument, or the text is no value of its type. */
enum prt_status prt_run_set_argument(struct prt_run *run, const char *name, const char *text,
                                     struct prt_error *error);

/* Ends every kernel without in-ports (a source) after so many firings; without this it ends when it
 * executes `stop`, or never.  Before the run is executed. */
void prt_run_limit_firings(struct prt_run *run, uint64_t firings);

/* The host gives packets: writes up to `capacity` (1 or more) packets to `packets`, says how many
 * in *count.  0 is the end of the stream, and the callback is not called again.  May block; may
 * give fewer than asked for.  A bool packet is one byte, 0 or 1.  PRT_E_INTERRUPTED ends the stream
 * there, as prt_run_interrupt does; any other failure ends the run with that status, and the
 * callback fills *error (never NULL). */
typedef enum prt_status (*prt_read_callback)(void *context, void *packets, size_t capacity,
                                             size_t *count, struct prt_error *error);

/* The host takes `count` packets, in order, before anything more is read.  PRT_E_CLOSED_PIPE: it
 * wants no more of them; the run goes on for the other outputs, and ends when no output is left.
 * Any other failure ends the run. */
typedef enum prt_status (*prt_write_callback)(void *context, const void *packets, size_t count,
                                              struct prt_error *error);

/* PRT_E_USAGE: no such in-port.  Binding again replaces. */
enum prt_status prt_run_bind_input(struct prt_run *run, uint32_t port, prt_read_callback read,
                                   void *context, struct prt_error *error);
/* Says that the callback bound to that in-port never waits, as one that reads a file does not: then
 * it is asked before the run begins, and later for one packet more than there is room for.  A run
 * whose inputs fit its in-ports then needs nothing of the host while it runs (`suspensions`).
 * Results and cycles do not depend on it.  PRT_E_USAGE: no such in-port. */
enum prt_status prt_run_input_at_hand(struct prt_run *run, uint32_t port, struct prt_error *error);
/* `write` NULL: the packets are dropped, which also holds for ports never bound. */
enum prt_status prt_run_bind_output(struct prt_run *run, uint32_t port, prt_write_callback write,
                                    void *context, struct prt_error *error);

/* Gives the port a thread of the run's own, which calls its callback: the source of an in-port is
 * asked ahead of what the pipeline takes, and the sink of an out-port is given packets while the
 * pipeline goes on.  So it does not stand still while the host waits or converts.  Results, cycles
 * and statuses are the same, but
 *   - callbacks of different ports may be called at a time, before those of this one have taken all;
 *   - the source may be asked for packets that nobody takes in the end: a MiB (or five packets, if
 *     they are larger) and the port's depth are the most that lie between;
 *   - PRT_E_CLOSED_PIPE is heard a little later.
 * When no more packets are wanted `wake` (may be NULL) is called, by the thread in prt_run_execute:
 * a source that waits then has to return, whatever it returns.  prt_run_execute returns when the
 * sinks have taken everything, and no callback is called any more.  After prt_run_interrupt what the
 * source has brought by then is processed.
 * Ports that read or write memory, and runs under a debugger, have none.  Where the system has no
 * thread to give, callbacks are called as ever.  PRT_E_USAGE: no such port. */
typedef void (*prt_wake_callback)(void *context);
enum prt_status prt_run_give_thread(struct prt_run *run, uint32_t port, prt_wake_callback wake,
                                    void *context, struct prt_error *error);

/* Without callbacks and without copies: the stream of an in-port is an array in the caller's memory,
 * and an out-port fills one.  Kernels read and write it in place, where its address is a multiple of
 * the largest power of two, up to 64, that divides the width of the port's packets; elsewhere, and
 * at its end where a batch could need more room than is left, packets are copied.  A bool is a byte,
 * 0 or 1.  The memory is the run's from the beginning of prt_run_execute to its end; it overlaps no
 * other of the run's.  Results and cycles are those of an input at hand, and of an output that takes
 * what it is given.
 *   input   exactly these packets; they are not written to
 *   output  the first `capacity` packets; then it wants no more, as a callback that returns
 *           PRT_E_CLOSED_PIPE.  *count (never NULL) is how many have come; what is behind them is
 *           undefined
 * PRT_E_USAGE: no such port, or more than half of what there can be of memory. */
enum prt_status prt_run_bind_input_memory(struct prt_run *run, uint32_t port, const void *packets,
                                          size_t count, struct prt_error *error);
enum prt_status prt_run_bind_output_memory(struct prt_run *run, uint32_t port, void *packets,
                                           size_t capacity, size_t *count, struct prt_error *error);

/* Runs to the end of the streams; once a run.
 *   PRT_OK             every packet has been processed
 *   PRT_E_USAGE        an in-port is not bound, an argument has no value, or it has been executed
 *   PRT_E_VERIFY       it is a counterexample, or the scheduler program halts too early
 *   PRT_E_OPEN, PRT_E_FORMAT  the container's code cannot be loaded, which is done now, where the
 *                      device executes it
 *   PRT_E_FAULT        a kernel fault; prt_run_fault has the figures
 *   PRT_E_STALL        the pipeline cannot go on: the message names the cycle of waits
 *   PRT_E_INTERRUPTED  interrupted; what had been read is processed and written
 *   PRT_E_CLOSED_PIPE  every output wants no more
 *   and what callbacks return */
enum prt_status prt_run_execute(struct prt_run *run, struct prt_error *error);

/* A firing of a counterexample, and what the buffers at the node's ends hold after it. */
struct prt_replay_level {
    const char *buffer;
    uint64_t packets, depth_packets;
};

struct prt_replay_step {
    const char *node;
    uint64_t firing; /* of that node, from 1 */
    const struct prt_replay_level *levels;
    uint32_t level_count;
};

typedef void (*prt_replay_callback)(void *context, const struct prt_replay_step *step);

/* Fires the sequence of a counterexample, one firing at a time, instead of executing the program;
 * once a run.  PRT_E_STALL is the good end: the message names the cycle of waits.  PRT_E_USAGE: it
 * is no counterexample; PRT_E_VERIFY: its sequence cannot be fired, or does not end in a stall; else
 * as prt_run_execute. */
enum prt_status prt_run_replay(struct prt_run *run, prt_replay_callback show, void *context,
                               struct prt_error *error);

/* In-ports end where they are, and sources; what they have brought is processed to its end; loops
 * that neither drives stop.  Takes effect before the next read: a callback that blocks has to be
 * woken by other means.  Async-signal-safe. */
void prt_run_interrupt(struct prt_run *run);

/* Gets a text in pieces; `size` 0: that was all. */
typedef void (*prt_standing_callback)(void *context, const char *text, size_t size);

/* Has it told how the run stands, in lines: the cycle and what the scheduler waits for; a table of
 * the stages (firings begun, dispatches, of these in flight, cycles, and what each waits for, or
 * that it has ended); a table of the buffers (packets held, depth, high-water mark, packets
 * written, open or closed).  In the thread that executes the run: from a callback or a signal
 * handler.  While the run waits for a callback or the device, also where that executes a kernel,
 * `write` is called before this returns; else soon, before the next instruction of the scheduler.
 * Async-signal-safe, if `write` is.  Asked again before that, it is told once, to the last one. */
void prt_run_tell_standing(struct prt_run *run, prt_standing_callback write, void *context);

/* Gets one wait: "'a' waits for room in 'b' (holds 4 of 4, needs 1)". */
typedef void (*prt_wait_callback)(void *context, const char *wait);

/* After PRT_E_STALL from prt_run_execute: tells every wait of the cycle, of which the message has as
 * many as it has room for.  Else nothing. */
void prt_run_tell_stall(const struct prt_run *run, prt_wait_callback told, void *context);

/* ---- what a run has done: after (or during, from a callback) prt_run_execute ---- */

/* What giving launches to the device costs.  Its share of the run is overhead_cycles /
 * (overhead_cycles + switch_cycles + execute_cycles). */
struct prt_dispatch_account {
    uint64_t launches;
    uint64_t packets, bytes;
    uint64_t enqueues, processings, clean_ups;
    uint64_t overhead_cycles; /* of all three */
};

struct prt_run_statistics {
    uint64_t total_cycles;     /* of simulated time */
    uint64_t scheduler_cycles; /* of instructions; overlaps with execution */
    uint64_t instructions;
    uint64_t dispatches;
    uint64_t launch_cycles; /* enqueue, packet processing and clean-up of all dispatches */
    uint64_t switch_cycles;
    uint64_t execute_cycles;
    uint64_t suspensions; /* times the scheduler waited for the host to fill an in-port, of all */
    uint64_t host_cycles; /* of all ports (prt_buffer_statistics) */
    uint64_t leftover_packets, discarded_packets;
    uint32_t host_threads;                  /* that executed kernels */
    struct prt_dispatch_account dispatched; /* as it was */
    struct prt_dispatch_account as_full;    /* the same launches, each as a full packet */
    /* Reference entries stored, and of these and of launches by another stage's entry those that a
     * larger table would have spared. */
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
    uint32_t port; /* of the pipeline, or PRT_NONE */
    uint64_t width_bytes, depth_packets;
    uint64_t packets; /* that were written, initial ones included */
    uint64_t high_water_packets;
    uint64_t suspensions; /* of an in-port: times the scheduler waited for the host */
    /* Of a port: of the run's real time, that in which the scheduler waited for its callback, or for the
     * thread that calls it; 0 where time is simulated, and of a run that is not measured. */
    uint64_t host_cycles;
    uint64_t discarded_packets; /* that no kernel took: its readers had ended */
    uint64_t leftover_packets;  /* that a reader never consumed, without those that its window had
                                    seen; of several readers the most */
    bool leftover_more;         /* of an in-port: at least so many, the rest has not been read */
    uint64_t few_packets;       /* left by a reader because they were too few themselves */
    uint64_t stranded_packets;  /* left by a reader because it found too few elsewhere */
    bool primes_loop; /* those left over are no more than the initial packets of a feedback loop */
    const char *stranded_reader; /* the node; NULL if there are none */
    const char *stranded_by;     /* the buffer in which it found too few; NULL: interrupted */
};

void prt_run_statistics(const struct prt_run *run, struct prt_run_statistics *statistics);
/* Stages and buffers are numbered from 0, in order of declaration.  False: there is no such one. */
bool prt_run_stage(const struct prt_run *run, uint32_t stage,
                   struct prt_stage_statistics *statistics);
bool prt_run_buffer(const struct prt_run *run, uint32_t buffer,
                    struct prt_buffer_statistics *statistics);

struct prt_fault_information {
    const char *id;     /* "division-by-zero" */
    const char *node;   /* "" for an argument */
    const char *source; /* where in the kernel's body */
    uint32_t line, column;
    uint64_t firing; /* UINT64_MAX: not in a firing */
};

/* False: there was none. */
bool prt_run_fault(const struct prt_run *run, struct prt_fault_information *information);

/* For a handler of SIGSEGV and the like: writes "kernel 'find' (edge.pipe:4) in firings 118 to 133"
 * of this run, as the calling thread is executing it, to `text`; false if it executes no kernel.
 * Async-signal-safe. */
bool prt_run_describe_crash(const struct prt_run *run, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
