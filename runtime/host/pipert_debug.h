/* SPDX-License-Identifier: MIT */
/*
 * pipert_debug: a run that goes one firing at a time, and a debugger that looks at it; for programs
 * that include pipert.h, which has runs.
 *
 *     prt_run_create(program, &options, &run, &error);
 *     prt_debugger_create(run, on_stop, mine, &debugger, &error);
 *     ... ports and arguments ...
 *     status = prt_run_execute(run, &error);       calls on_stop at every stop
 *     prt_debugger_destroy(debugger);
 *     prt_run_destroy(run);
 *
 * One firing is in flight at a time and everything it has written is committed before the next one
 * is chosen, by the guarded loop of the scheduler program under its policy.  Results are those of
 * any other run; simulated time is that of this one.  The run stops before its first firing, where
 * it was told to, at breakpoints, when it is interrupted, and when it has ended; while it is
 * stopped everything can be looked at and nothing changed.
 *
 * Numbers count from 0: firings of a stage, packets that a buffer has ever held, cycles.
 *
 * Names.  A *node* is named as in `pipec inspect`; the name of a kernel stands for all its nodes.
 * Buffers are named as there.  Both may hold dots and brackets: the longest name that fits counts.
 *
 * Places (what can be printed, and compared):
 *     BUFFER            all packets that it holds, the oldest first
 *     BUFFER[i]         one of them; [-1] is the one that was taken last, if it is still in memory
 *     BUFFER[i..j]      those from i to j, both included
 *     BUFFER@n          packet n of all that it has ever held, if it is still in memory
 *     NODE.state        its state; NODE.tables, NODE.arguments: likewise
 *     NODE.name         a state variable, a table, or an argument
 * and behind a place of one value .FIELD and [INDEX], as the source writes them.
 *
 * Conditions compare places and numbers with == != < <= > >=, joined by && || ! ( ); `cycle` is
 * simulated time, `firing` the number of the firing that comes next or, of a breakpoint on what is
 * written, of the one that wrote it, `level(BUFFER)` the packets that a buffer holds.
 *
 * Ownership: the caller's, before the run is destroyed.  Threads: as the run; prt_debugger_interrupt
 *   may be called from any, also from signal handlers.
 * Errors: PRT_E_USAGE with a message for whoever typed the text; PRT_E_NOMEM; PRT_E_DEVICE: the
 *   device executes no kernels.  Names come out escaped.
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

/* A firing of a stage, or its finish. */
struct prt_firing {
    uint32_t stage; /* as prt_run_stage counts; PRT_NONE: none */
    bool finish;
    uint64_t firing; /* of that stage */
};

enum prt_stop_cause {
    PRT_STOP_BEGIN,  /* nothing has fired, nothing has been read */
    PRT_STOP_BEFORE, /* `next` is about to fire */
    PRT_STOP_BEHIND, /* `last` has fired, and what comes next is not chosen yet */
    PRT_STOP_END     /* the run is over: it can be looked at, and not go on */
};

/* A breakpoint that has been met. */
struct prt_break_hit {
    uint32_t number; /* of the breakpoint */
    uint32_t buffer; /* one on what is written, or on a level; else PRT_NONE */
    uint64_t packet; /* what is written: the first that fits */
    uint64_t others; /* that fit, too */
};

struct prt_stop {
    enum prt_stop_cause cause;
    struct prt_firing last, next;
    const struct prt_break_hit *hits;
    uint32_t hit_count;
    bool interrupted;       /* by prt_debugger_interrupt */
    enum prt_status status; /* END: how the run has ended */
    const char *message;    /* END: the error's, or "" */
};

/* Called by the thread in prt_run_execute; on return the run goes on, as it has been told. */
typedef void (*prt_stop_callback)(void *context, const struct prt_stop *stop);

/* Before the run is executed.  One debugger a run. */
enum prt_status prt_debugger_create(struct prt_run *run, prt_stop_callback stop, void *context,
                                    struct prt_debugger **debugger, struct prt_error *error);
void prt_debugger_destroy(struct prt_debugger *debugger); /* NULL is allowed */

/* Stops before the next firing.  Async-signal-safe. */
void prt_debugger_interrupt(struct prt_debugger *debugger);

/* ---- how it goes on: said while it is stopped; the last word counts, without one it continues ---- */

void prt_debug_continue(struct prt_debugger *debugger);
/* So many firings. */
void prt_debug_step(struct prt_debugger *debugger, uint64_t firings);
/* Until that stage is about to fire again. */
void prt_debug_until_stage(struct prt_debugger *debugger, uint32_t stage);
/* Until that stage has ended. */
void prt_debug_until_end(struct prt_debugger *debugger, uint32_t stage);
/* Until simulated time is at least this. */
void prt_debug_until_cycle(struct prt_debugger *debugger, uint64_t cycles);
/* Not at all: prt_run_execute returns PRT_E_INTERRUPTED at once. */
void prt_debug_kill(struct prt_debugger *debugger);
bool prt_debug_is_killed(const struct prt_debugger *debugger);
/* Has the run ended? */
bool prt_debug_has_ended(const struct prt_debugger *debugger);

/* ---- breakpoints: numbered from 1, in order of creation ---- */

/* `text`, behind which ` if CONDITION` may stand:
 *     NODE|KERNEL [firing N]          before it fires; before firing N alone.  Also NODE:N
 *     kernel KERNEL [firing N]        where a node has the name of a kernel, too
 *     buffer BUFFER OP N              when the number of packets it holds becomes so
 *     value BUFFER[.FIELD...] OP V    when such a packet is written; without OP V: any packet
 *     cycle N                         before the first firing at that time or later
 * `temporary`: it is deleted when it is met. */
enum prt_status prt_debug_break(struct prt_debugger *debugger, const char *text, bool temporary,
                                uint32_t *number, struct prt_error *error);
/* `text`: BUFFER[.FIELD...] [OP V] [if CONDITION]: as `value`. */
enum prt_status prt_debug_watch(struct prt_debugger *debugger, const char *text, uint32_t *number,
                                struct prt_error *error);

struct prt_break_information {
    uint32_t number;
    const char *kind;      /* "breakpoint", "watchpoint" */
    const char *text;      /* as it was given */
    const char *condition; /* "" if there is none */
    bool temporary, enabled;
    uint64_t hits, ignore; /* met so often; not to be met so often from now on */
};

/* Of those that there are, from 0; false: there is none any more. */
bool prt_debug_break_information(const struct prt_debugger *debugger, uint32_t index,
                                 struct prt_break_information *information);
enum prt_status prt_debug_break_delete(struct prt_debugger *debugger, uint32_t number,
                                       struct prt_error *error);
enum prt_status prt_debug_break_enable(struct prt_debugger *debugger, uint32_t number, bool enabled,
                                       struct prt_error *error);
enum prt_status prt_debug_break_ignore(struct prt_debugger *debugger, uint32_t number,
                                       uint64_t count, struct prt_error *error);
/* "": none. */
enum prt_status prt_debug_break_condition(struct prt_debugger *debugger, uint32_t number,
                                          const char *condition, struct prt_error *error);

/* ---- looking; what cannot be shown is an error, and then nothing has been printed ---- */

/* What has happened at a stop, and where it is. */
void prt_debug_describe_stop(struct prt_debugger *debugger, const struct prt_stop *stop, FILE *to);

/* The value of a condition, or what is at a place. */
enum prt_status prt_debug_print(struct prt_debugger *debugger, const char *text, FILE *to,
                                struct prt_error *error);
/* The bytes at a place. */
enum prt_status prt_debug_examine(struct prt_debugger *debugger, const char *text, FILE *to,
                                  struct prt_error *error);
/* Which firing has written the packets at a place, and which statement. */
enum prt_status prt_debug_origin_of(struct prt_debugger *debugger, const char *text, FILE *to,
                                    struct prt_error *error);
/* What every stage waits for, and who waits for whom, from the one that comes next on, or from
 * `node`; "": of all. */
enum prt_status prt_debug_where(struct prt_debugger *debugger, const char *node, FILE *to,
                                struct prt_error *error);
/* Source around a node or kernel, or around FILE:LINE; "": where it has stopped, and then on. */
enum prt_status prt_debug_list(struct prt_debugger *debugger, const char *text, FILE *to,
                               struct prt_error *error);
/* Where sources are looked for, besides the names that the program has for them; "": no more. */
enum prt_status prt_debug_directory(struct prt_debugger *debugger, const char *path,
                                    struct prt_error *error);
/* The scheduler program around its present instruction; `all`: the whole of it. */
enum prt_status prt_debug_disassemble(struct prt_debugger *debugger, bool all, FILE *to,
                                      struct prt_error *error);

void prt_debug_show_stages(struct prt_debugger *debugger, FILE *to);
void prt_debug_show_buffers(struct prt_debugger *debugger, FILE *to);
void prt_debug_show_ports(struct prt_debugger *debugger, FILE *to);
void prt_debug_show_cycles(struct prt_debugger *debugger, FILE *to);
void prt_debug_show_program(struct prt_debugger *debugger, FILE *to);

/* From now on every firing with what it takes and gives, as lines of text, or, where the name ends
 * in .jsonl, as lines of JSON; NULL: no more.  PRT_E_OPEN, PRT_E_WRITE: what has been written cannot
 * be trusted. */
enum prt_status prt_debug_trace(struct prt_debugger *debugger, const char *path,
                                struct prt_error *error);

/* The stage of that name, or the first whose kernel has it.  PRT_E_USAGE: there is none; the message has
 * the nearest name, or the stage that a node of that name has become a part of. */
enum prt_status prt_debug_find_stage(const struct prt_debugger *debugger, const char *name,
                                     uint32_t *stage, struct prt_error *error);

/* Names that texts may begin with, numbered from 0: the nodes of the stages, their kernels, buffers;
 * NULL: no more. */
const char *prt_debug_name(const struct prt_debugger *debugger, uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
