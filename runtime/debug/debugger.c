/* SPDX-License-Identifier: MIT */
#include "runtime/debug/debug_internal.h"

#include "base/terminal_text.h"

#include "runtime/debug/debug_origin.h"
#include "runtime/load/debug_info.h"
#include "runtime/sched/provenance.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void prt_debugger_say(FILE *to, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (written < 0) return;
    size_t length = strlen(text), format_length = strlen(format);
    bool ends_line = format_length > 0 && format[format_length - 1] == '\n';
    if (ends_line && length > 0 && text[length - 1] == '\n') text[length - 1] = '\0';
    terminal_text_print(to, text);
    if (ends_line) fputc('\n', to);
}

void prt_debugger_firing_text(const struct prt_debugger *d, const struct prt_firing *firing,
                              char *text, size_t size)
{
    const char *name = debug_stage_name(d, firing->stage);
    if (firing->finish)
        snprintf(text, size, "the finish of '%s'", name);
    else
        snprintf(text, size, "firing %" PRIu64 " of '%s'", firing->firing, name);
}

/* ---- stopping ---- */

/* Calls the caller's function at a stop; unless it sets a command, the run continues. */
static void stop_at(struct prt_debugger *d, struct prt_stop *stop)
{
    stop->last = d->last;
    stop->next = d->next;
    stop->hits = d->hits;
    stop->hit_count = d->hit_count;
    stop->interrupted = atomic_exchange(&d->interrupted, false);
    d->goal = DEBUG_CONTINUE;
    d->stopped = true;
    d->stop(d->context, stop);
    d->stopped = false;
    d->hit_count = 0;
}

static enum prt_status go_on(const struct prt_debugger *d, struct prt_error *error)
{
    if (d->goal != DEBUG_KILL) return PRT_OK;
    return prt_error_set(error, PRT_E_INTERRUPTED, "%s", prt_status_text(PRT_E_INTERRUPTED));
}

static bool has_arrived(const struct prt_debugger *d)
{
    switch (d->goal) {
    case DEBUG_STEP: return d->goal_count == 0;
    case DEBUG_STAGE: return d->next.stage == d->goal_stage;
    case DEBUG_ENDED: return d->sched->stages[d->goal_stage].life == CORE_ENDED;
    case DEBUG_CYCLE: return prt_run_moment_cycles(d->run) >= d->goal_count;
    case DEBUG_CONTINUE:
    case DEBUG_KILL: break;
    }
    return false;
}

static struct prt_firing firing_of(const struct prt_debugger *d, uint32_t stage, bool finish)
{
    return (struct prt_firing){stage, finish, finish ? 0 : d->sched->stages[stage].firings};
}

/* ---- calls of the scheduler ---- */

/* Where the ends of the stage are before the firing. */
static void note_places(struct prt_debugger *d, const struct core_stage *stage)
{
    const struct core *core = d->sched->core;
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(core, stage, i);
        d->taken_from[stage->first_input + i] =
            core_fifo_reader(prt_input_buffer(d->sched, input)->fifo, input->reader)
                ->position_packets;
    }
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(core, stage, i);
        const struct prt_buffer *buffer = prt_output_buffer(d->sched, output);
        d->given_from[stage->first_output + i] = buffer->fifo->written_packets;
        uint64_t most = d->next.finish
                            ? output->finish_max
                            : core_flow_total(core_numbers(core), &output->most, stage->firings, 1);
        uint64_t *to = &d->claimed_to[buffer - d->sched->buffers];
        if (buffer->fifo->written_packets + most > *to) *to = buffer->fifo->written_packets + most;
    }
}

static enum prt_status before_firing(void *context, uint32_t stage, bool finish,
                                     struct prt_error *error)
{
    struct prt_debugger *d = context;
    struct prt_stop stop = {.cause = PRT_STOP_BEFORE};
    d->next = firing_of(d, stage, finish);
    prt_debugger_breaks_look(d, false);
    prt_debugger_breaks_firing(d);
    if (has_arrived(d) || d->hit_count > 0 || atomic_load(&d->interrupted)) stop_at(d, &stop);
    note_places(d, &d->sched->stages[stage]);
    return go_on(d, error);
}

static enum prt_status behind_firing(void *context, uint32_t stage, bool finish,
                                     struct prt_error *error)
{
    struct prt_debugger *d = context;
    struct prt_stop stop = {.cause = PRT_STOP_AFTER};
    (void)stage;
    (void)finish;
    d->last = d->next;
    d->next.stage = PRT_NONE;
    if (d->goal == DEBUG_STEP) d->goal_count--;
    prt_debugger_origins_behind(d->origins, d);
    prt_debugger_breaks_look(d, true);
    if (d->trace != NULL) prt_debugger_trace_firing(d);
    if (d->hit_count > 0) stop_at(d, &stop);
    return go_on(d, error);
}

static enum prt_status run_begins(void *context, struct prt_error *error)
{
    struct prt_debugger *d = context;
    struct prt_stop stop = {.cause = PRT_STOP_BEGIN};
    stop_at(d, &stop);
    return go_on(d, error);
}

/* After a kernel fault, the firing stays `next`: its inputs are as the kernel has seen them. */
static void run_ends(void *context, enum prt_status status, const struct prt_error *error)
{
    struct prt_debugger *d = context;
    struct prt_stop stop = {.cause = PRT_STOP_END, .status = status, .message = ""};
    if (status != PRT_OK) stop.message = error->message;
    d->ended = true;
    if (d->goal != DEBUG_KILL) stop_at(d, &stop);
}

/* ---- creation ---- */

static bool allocate_debugger(struct prt_debugger *d)
{
    const struct prt_container *c = d->container;
    d->taken_from = calloc((size_t)c->input_count + 1, sizeof *d->taken_from);
    d->given_from = calloc((size_t)c->output_count + 1, sizeof *d->given_from);
    d->claimed_to = calloc((size_t)c->buffer_count + 1, sizeof *d->claimed_to);
    d->breaks = prt_debugger_breaks_create();
    d->origins = prt_debugger_origins_create(d->sched);
    return d->taken_from != NULL && d->given_from != NULL && d->claimed_to != NULL &&
           d->breaks != NULL && d->origins != NULL;
}

enum prt_status prt_debugger_create(struct prt_run *run, prt_stop_callback stop, void *context,
                                    struct prt_debugger **debugger, struct prt_error *error)
{
    struct prt_device_info info;
    run->ops->info(run->device, &info);
    if (!info.executes)
        return prt_error_set(error, PRT_E_DEVICE,
                             "device '%s' executes no kernel: there is nothing to look at",
                             info.backend);
    if (run->ops->resident_begin != NULL)
        return prt_error_set(
            error, PRT_E_DEVICE,
            "device '%s': the debugger cannot stop or step the scheduler on a GPU, "
            "where the host sees no packets and no variables; use it on the host's "
            "cores (--device cpu) or on a simulated device",
            run->ops->name);
    struct prt_debugger *d = calloc(1, sizeof *d);
    if (d == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    d->run = run;
    d->sched = run->sched;
    d->container = &run->program->container;
    d->stop = stop;
    d->context = context;
    d->last.stage = d->next.stage = PRT_NONE;
    d->step = (struct prt_step){d, before_firing, behind_firing};
    d->watch = (struct prt_run_watch){d, run_begins, run_ends};
    enum prt_status status =
        allocate_debugger(d) ? PRT_OK : prt_error_set(error, PRT_E_NOMEM, "out of memory");
    if (status == PRT_OK && prt_debug_mode(d->container))
        status = prt_origins_create(d->sched, error);
    if (status != PRT_OK) {
        prt_debugger_destroy(d);
        return status;
    }
    run->sched->step = &d->step;
    run->watch = &d->watch;
    *debugger = d;
    return PRT_OK;
}

void prt_debugger_destroy(struct prt_debugger *d)
{
    if (d == NULL) return;
    d->sched->step = NULL;
    d->run->watch = NULL;
    prt_debugger_breaks_free(d->breaks);
    prt_debugger_trace_free(d->trace);
    prt_debugger_listing_free(d->listing);
    free(d->directory);
    free(d->hits);
    free(d->taken_from);
    free(d->given_from);
    free(d->claimed_to);
    prt_debugger_origins_free(d->origins);
    free(d);
}

void prt_debugger_interrupt(struct prt_debugger *d)
{
    atomic_store(&d->interrupted, true);
}

/* ---- continue and step ---- */

static void set_goal(struct prt_debugger *d, enum debug_goal goal, uint64_t count, uint32_t stage)
{
    d->goal = goal;
    d->goal_count = count;
    d->goal_stage = stage;
}

void prt_debug_continue(struct prt_debugger *d)
{
    set_goal(d, DEBUG_CONTINUE, 0, PRT_NONE);
}

void prt_debug_step(struct prt_debugger *d, uint64_t firings)
{
    set_goal(d, DEBUG_STEP, firings, PRT_NONE);
}

void prt_debug_until_stage(struct prt_debugger *d, uint32_t stage)
{
    set_goal(d, DEBUG_STAGE, 0, stage);
}

void prt_debug_until_end(struct prt_debugger *d, uint32_t stage)
{
    set_goal(d, DEBUG_ENDED, 0, stage);
}

void prt_debug_until_cycle(struct prt_debugger *d, uint64_t cycles)
{
    set_goal(d, DEBUG_CYCLE, cycles, PRT_NONE);
}

void prt_debug_kill(struct prt_debugger *d)
{
    set_goal(d, DEBUG_KILL, 0, PRT_NONE);
}

bool prt_debug_is_killed(const struct prt_debugger *d)
{
    return d->goal == DEBUG_KILL;
}

bool prt_debug_has_ended(const struct prt_debugger *d)
{
    return d->ended;
}
