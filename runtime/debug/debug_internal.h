/* SPDX-License-Identifier: MIT */
/*
 * debug_internal: the debugger of a run (runtime/host/pipert_debug.h), for its own files.
 *
 *     debugger.c            stopping and resuming
 *     debug_break.c         breakpoints: their texts, their table, whether the run has reached them
 *     debug_condition.c     conditions: comparisons of places and numbers
 *     debug_place.c         places: packets, state, tables, arguments, by name
 *     debug_fused.c         nodes that have become parts of stages
 *     debug_show.c          printing of values, stops and tables
 *     debug_where.c         waits between stages; the scheduler program
 *     debug_origin.c        the firing that wrote a packet
 *     debug_source.c        lines of source files
 *     debug_trace.c         firings to a file
 *
 * The scheduler calls the debugger before and after each firing (struct prt_step), while nothing is in
 * flight.  A buffer's memory keeps a packet until another one overwrites it.  So packets that a firing
 * has consumed, or that a port has handed to the host, can still be read after the firing.
 */
#ifndef RUNTIME_DEBUG_DEBUG_INTERNAL_H
#define RUNTIME_DEBUG_DEBUG_INTERNAL_H

#include "runtime/host/pipert_debug.h"
#include "runtime/host/pipert_run.h"

/* The next stop of the run, after it resumes. */
enum debug_goal {
    DEBUG_CONTINUE,
    DEBUG_STEP,  /* until `goal_count` firings have been made */
    DEBUG_STAGE, /* before the next firing of `goal_stage` */
    DEBUG_ENDED, /* `goal_stage` has ended */
    DEBUG_CYCLE, /* simulated time is at least `goal_count` */
    DEBUG_KILL
};

struct prt_debugger {
    struct prt_run *run;
    struct prt_sched *sched;
    const struct prt_container *container;
    prt_stop_callback stop;
    void *context;
    struct prt_step step;
    struct prt_run_watch watch;
    atomic_bool interrupted;
    bool stopped, ended;

    struct prt_firing last, next;
    enum debug_goal goal;
    uint64_t goal_count;
    uint32_t goal_stage;

    struct debug_breaks *breaks;
    struct prt_break_hit *hits; /* room for one a breakpoint */
    uint32_t hit_count;

    uint64_t *taken_from, *given_from; /* per input, output: where the firing began */
    uint64_t *claimed_to;              /* per buffer: what its writer may have touched */
    struct debug_origins *origins;     /* firings that wrote the latest packets */
    struct debug_trace *trace;         /* NULL: none is written */
    char *directory;                   /* of sources; NULL: none was named */
    struct debug_listing *listing;     /* what `list` has shown last */
};

/* ---- text: names come out escaped ---- */

void prt_debugger_say(FILE *to, const char *format, ...) PRT_PRINTF(2, 3);

static inline const char *debug_text(const struct prt_debugger *d, container_string string)
{
    return prt_container_text(d->container, string);
}

static inline const char *debug_stage_name(const struct prt_debugger *d, uint32_t stage)
{
    return debug_text(d, prt_stage_node(d->sched, &d->sched->stages[stage])->name);
}

static inline const char *debug_buffer_name(const struct prt_debugger *d, uint32_t buffer)
{
    return debug_text(d, d->container->buffers[buffer].name);
}

/* "firing 3 of 'scale'", "the finish of 'scale'" */
void prt_debugger_firing_text(const struct prt_debugger *d, const struct prt_firing *firing,
                              char *text, size_t size);

/* ---- breakpoints ---- */

struct debug_breaks *prt_debugger_breaks_create(void);
void prt_debugger_breaks_free(struct debug_breaks *breaks);

/* Looks at what has been written since the last time, and at levels; `behind`: the firing `last`
 * has written it, else the host.  Fills the hits. */
void prt_debugger_breaks_look(struct prt_debugger *d, bool behind);
/* Breakpoints on the firing `next`, and on cycles. */
void prt_debugger_breaks_firing(struct prt_debugger *d);

/* "Temporary breakpoint", "value c > 3 if cycle > 100"; false: there is no such one any more. */
bool prt_debugger_break_title(const struct prt_debugger *d, uint32_t number, char *kind,
                              size_t kind_size, char *text, size_t text_size);
bool prt_debugger_break_is_level(const struct prt_debugger *d, uint32_t number);

/* ---- a trace ---- */

/* The firing `last` has been made. */
void prt_debugger_trace_firing(struct prt_debugger *d);
void prt_debugger_trace_free(struct debug_trace *trace);

void prt_debugger_listing_free(struct debug_listing *listing);

#endif
