/* SPDX-License-Identifier: MIT */
/*
 * pipert_debug: a debugger for runs (pipert.h), which executes one firing at a time.
 *
 *     prt_run_create(program, &options, &run, &error);
 *     prt_debugger_create(run, on_stop, mine, &debugger, &error);
 *     ... bind ports, set arguments ...
 *     status = prt_run_execute(run, &error);       calls on_stop at every stop
 *     prt_debugger_destroy(debugger);
 *     prt_run_destroy(run);
 *
 * One firing is in flight at a time.  Its output is committed before the next firing is chosen.  The
 * guarded loop of the scheduler program chooses it under the program's policy.  Results are those of
 * any other run; the simulated time is that of this sequential execution.
 *
 * The run stops before its first firing, where the debugger requested it, at breakpoints, when it is
 * interrupted, and at its end.  While it is stopped, the debugger can show everything and change
 * nothing.
 *
 * Numbers count from 0: firings of a stage, packets of a buffer since the start, cycles.
 *
 * Names.  Nodes and buffers have the names that `pipec inspect` shows.  The name of a kernel stands
 * for all its nodes.  Names may contain dots and brackets: the longest matching name counts.
 *
 * Places (can be printed and compared):
 *     BUFFER            all packets in the buffer, the oldest first
 *     BUFFER[i]         one of them; [-1] is the packet consumed last, if it is still in memory
 *     BUFFER[i..j]      the packets from i to j, both included
 *     BUFFER@n          packet n since the start, if it is still in memory
 *     NODE.state        the node's state; NODE.tables, NODE.arguments: likewise
 *     NODE.name         a state variable, a table, or an argument
 * After a place with one value, .FIELD and [INDEX] select a part, as in the source.
 *
 * Conditions compare places and numbers with == != < <= > >=, joined by && || ! ( ).
 *     cycle             the simulated time
 *     firing            the number of the next firing; at a breakpoint on written packets, the number
 *                       of the firing that wrote the packet
 *     level(BUFFER)     the number of packets in the buffer
 *
 * Ownership: the caller owns the debugger, and destroys it before the run.
 * Threads: as for the run.  Any thread and any signal handler may call prt_debugger_interrupt.
 * Errors: PRT_E_USAGE, with a message for the author of the text; PRT_E_NOMEM; PRT_E_DEVICE: the
 *   device executes no kernels, or is a GPU.  Control characters in names are escaped.
 */
#ifndef RUNTIME_HOST_PIPERT_DEBUG_H
#define RUNTIME_HOST_PIPERT_DEBUG_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct prt_run;
struct prt_debugger;

/* A firing of a stage, or the execution of its `finish`. */
struct prt_firing {
    uint32_t stage; /* number as for prt_run_stage; PRT_NONE: there is none */
    bool finish;
    uint64_t firing; /* number of the stage's firing, from 0 */
};

enum prt_stop_cause {
    PRT_STOP_BEGIN,  /* before the first firing; nothing has been read */
    PRT_STOP_BEFORE, /* `next` is about to fire */
    PRT_STOP_AFTER,  /* `last` has fired; the next firing is not chosen yet */
    PRT_STOP_END     /* the run has ended; it can be inspected, but not continued */
};

/* A breakpoint that the run has reached. */
struct prt_break_hit {
    uint32_t number; /* number of the breakpoint */
    uint32_t buffer; /* buffer of a breakpoint on written packets or on a level; else PRT_NONE */
    uint64_t packet; /* number of the first matching packet; for breakpoints on written packets */
    uint64_t others; /* number of further matching packets */
};

struct prt_stop {
    enum prt_stop_cause cause;
    struct prt_firing last, next;
    const struct prt_break_hit *hits;
    uint32_t hit_count;
    bool interrupted;       /* by prt_debugger_interrupt */
    enum prt_status status; /* END: the status of the run */
    const char *message;    /* END: the message of the error, or "" */
};

/* Called by the thread in prt_run_execute at every stop.  When it returns, the run goes on as
 * requested. */
typedef void (*prt_stop_callback)(void *context, const struct prt_stop *stop);

/* Attaches a debugger to a run, before prt_run_execute.  A run can have one debugger. */
enum prt_status prt_debugger_create(struct prt_run *run, prt_stop_callback stop, void *context,
                                    struct prt_debugger **debugger, struct prt_error *error);
void prt_debugger_destroy(struct prt_debugger *debugger); /* NULL is allowed */

/* Requests a stop before the next firing.  Async-signal-safe. */
void prt_debugger_interrupt(struct prt_debugger *debugger);

/* ---- resuming: call while stopped; the last request counts; without one the run continues ---- */

void prt_debug_continue(struct prt_debugger *debugger);
/* Stops after that number of firings. */
void prt_debug_step(struct prt_debugger *debugger, uint64_t firings);
/* Stops before the next firing of that stage. */
void prt_debug_until_stage(struct prt_debugger *debugger, uint32_t stage);
/* Stops when that stage has ended. */
void prt_debug_until_end(struct prt_debugger *debugger, uint32_t stage);
/* Stops when simulated time has reached that cycle. */
void prt_debug_until_cycle(struct prt_debugger *debugger, uint64_t cycles);
/* Ends the run: prt_run_execute returns PRT_E_INTERRUPTED at once. */
void prt_debug_kill(struct prt_debugger *debugger);
bool prt_debug_is_killed(const struct prt_debugger *debugger);
bool prt_debug_has_ended(const struct prt_debugger *debugger);

/* ---- breakpoints: numbered from 1, in order of creation ---- */

/* Creates a breakpoint.  ` if CONDITION` may follow each of these texts:
 *     NODE|KERNEL [firing N]          before each firing; before firing N only.  Also NODE:N
 *     kernel KERNEL [firing N]        the same, if a node has the name of a kernel
 *     buffer BUFFER OP N              when the comparison with its number of packets becomes true
 *     value BUFFER[.FIELD...] OP V    when a matching packet is written; without OP V: any packet
 *     cycle N                         before the first firing at that time or later
 * A `temporary` breakpoint is deleted when the run reaches it. */
enum prt_status prt_debug_break(struct prt_debugger *debugger, const char *text, bool temporary,
                                uint32_t *number, struct prt_error *error);
/* Creates a watchpoint.  `text`: BUFFER[.FIELD...] [OP V] [if CONDITION], as for `value`. */
enum prt_status prt_debug_watch(struct prt_debugger *debugger, const char *text, uint32_t *number,
                                struct prt_error *error);

struct prt_break_information {
    uint32_t number;
    const char *kind;      /* "breakpoint", "watchpoint" */
    const char *text;      /* as the caller wrote it */
    const char *condition; /* "": there is none */
    bool temporary, enabled;
    uint64_t hits, ignore; /* how often the run has reached it; how many further hits are ignored */
};

/* Describes the existing breakpoint with that index, from 0.  Returns false past the last one. */
bool prt_debug_break_information(const struct prt_debugger *debugger, uint32_t index,
                                 struct prt_break_information *information);
enum prt_status prt_debug_break_delete(struct prt_debugger *debugger, uint32_t number,
                                       struct prt_error *error);
enum prt_status prt_debug_break_enable(struct prt_debugger *debugger, uint32_t number, bool enabled,
                                       struct prt_error *error);
enum prt_status prt_debug_break_ignore(struct prt_debugger *debugger, uint32_t number,
                                       uint64_t count, struct prt_error *error);
/* Replaces the condition; "" removes it. */
enum prt_status prt_debug_break_condition(struct prt_debugger *debugger, uint32_t number,
                                          const char *condition, struct prt_error *error);

/* ---- inspecting: a failed call prints nothing ---- */

/* Prints the cause and the place of a stop. */
void prt_debug_describe_stop(struct prt_debugger *debugger, const struct prt_stop *stop, FILE *to);

/* Prints the value of a condition, or the values at a place. */
enum prt_status prt_debug_print(struct prt_debugger *debugger, const char *text, FILE *to,
                                struct prt_error *error);
/* Prints the bytes at a place. */
enum prt_status prt_debug_examine(struct prt_debugger *debugger, const char *text, FILE *to,
                                  struct prt_error *error);
/* Prints which firing wrote the packets at a place, and which statement. */
enum prt_status prt_debug_origin_of(struct prt_debugger *debugger, const char *text, FILE *to,
                                    struct prt_error *error);
/* Prints what stages wait for: a chain from the next stage, or from `node`; "": all stages. */
enum prt_status prt_debug_where(struct prt_debugger *debugger, const char *node, FILE *to,
                                struct prt_error *error);
/* Lists the source around a node or kernel, or around FILE:LINE.  "": around the stop, then the
 * lines that follow. */
enum prt_status prt_debug_list(struct prt_debugger *debugger, const char *text, FILE *to,
                               struct prt_error *error);
/* Adds a folder in which sources are searched, besides the paths in the program.  "": removes
 * all. */
enum prt_status prt_debug_directory(struct prt_debugger *debugger, const char *path,
                                    struct prt_error *error);
/* Prints the scheduler program around the present instruction; with `all`, the whole program. */
enum prt_status prt_debug_disassemble(struct prt_debugger *debugger, bool all, FILE *to,
                                      struct prt_error *error);

void prt_debug_show_stages(struct prt_debugger *debugger, FILE *to);
void prt_debug_show_buffers(struct prt_debugger *debugger, FILE *to);
void prt_debug_show_ports(struct prt_debugger *debugger, FILE *to);
void prt_debug_show_cycles(struct prt_debugger *debugger, FILE *to);
void prt_debug_show_program(struct prt_debugger *debugger, FILE *to);

/* Writes a trace of every firing from now on, with the packets that it reads and writes.  The trace
 * has lines of text, or lines of JSON if the file name ends in .jsonl.  NULL ends the trace.
 * PRT_E_OPEN, PRT_E_WRITE: the trace is incomplete. */
enum prt_status prt_debug_trace(struct prt_debugger *debugger, const char *path,
                                struct prt_error *error);

/* Finds the stage with that name, or the first stage whose kernel has it.  PRT_E_USAGE: there is
 * none. The message has the nearest name, or the stage that contains the node of that name. */
enum prt_status prt_debug_find_stage(const struct prt_debugger *debugger, const char *name,
                                     uint32_t *stage, struct prt_error *error);

/* Names with which texts may begin, numbered from 0: nodes of the stages, their kernels, buffers.
 * Returns NULL past the last name. */
const char *prt_debug_name(const struct prt_debugger *debugger, uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
