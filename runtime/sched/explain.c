/* SPDX-License-Identifier: MIT */
#include "runtime/sched/explain.h"
#include "base/plural.h"

#include "core/ready.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- faults ---- */

const char *prt_explain_fault_id(enum kernel_status status)
{
    switch (status) {
#define FAULT(status, id)                                                                          \
    case status: return id;
#include "lang/faults.def"
#undef FAULT
    default: return "unknown-fault";
    }
}

/* "wrote 65 packets in firing 118, declared 64" */
static void describe_fault_cause(const struct core_fault *f, const char *where, char *out,
                                 size_t size)
{
    const struct kernel_fault *fault = &f->fault;
    bool figures = fault->index != 0 || fault->bound != 0;
    switch (f->status) {
    case KERNEL_FAULT_DIVISION: snprintf(out, size, "divided by zero%s", where); break;
    case KERNEL_FAULT_INDEX:
        if (figures)
            snprintf(out, size, "used index %" PRId64 " of %" PRIu64 "%s", fault->index,
                     fault->bound, where);
        else
            snprintf(out, size, "used an index out of range%s", where);
        break;
    case KERNEL_FAULT_PUSH:
        if (figures)
            snprintf(out, size, "wrote %" PRId64 " packet%s%s, declared %" PRIu64, fault->index,
                     plural((uint64_t)fault->index), where, fault->bound);
        else
            snprintf(out, size, "wrote more or fewer packets than declared%s", where);
        break;
    case KERNEL_FAULT_LAUNCHES:
        snprintf(out, size, "launched %" PRId64 " kernel%s%s, declared %" PRIu64, fault->index,
                 plural((uint64_t)fault->index), where, fault->bound);
        break;
    case KERNEL_FAULT_TREE:
        snprintf(out, size, "launched %" PRId64 " kernel%s with its tree%s, declared %" PRIu64,
                 fault->index, plural((uint64_t)fault->index), where, fault->bound);
        break;
    case KERNEL_FAULT_NESTING:
        snprintf(out, size, "launched kernels in %" PRId64 " level%s%s, declared %" PRIu64,
                 fault->index, plural((uint64_t)fault->index), where, fault->bound);
        break;
    case KERNEL_FAULT_GROUPS:
        snprintf(out, size, "launched %" PRId64 " work-groups%s, declared 1 to %" PRIu64,
                 fault->index, where, fault->bound);
        break;
    case KERNEL_FAULT_FOREIGN:
        snprintf(out, size, "is foreign code, and returned %" PRId64 "%s", fault->index, where);
        break;
    case KERNEL_FAULT_IMPURE:
        snprintf(out, size, "is declared 'pure', and did not do the same%s when it was fired twice",
                 where);
        break;
    default: snprintf(out, size, "returned the unknown status %d%s", (int)f->status, where); break;
    }
}

/* The file name without its folder. */
static const char *source_name(const struct prt_container *c, uint32_t source)
{
    const char *name = prt_container_source(c, source);
    const char *slash = strrchr(name, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : name;
}

/* " in firing 118, in a kernel launched 2 levels below" */
static void describe_fault_place(const struct core_fault *f, char *out, size_t size)
{
    const struct kernel_fault *fault = &f->fault;
    if (fault->firing == UINT64_MAX)
        snprintf(out, size, " in its %s", f->finish ? "finish" : "init");
    else if (fault->level == 0)
        snprintf(out, size, " in firing %" PRIu64, fault->firing);
    else
        snprintf(out, size,
                 " in firing %" PRIu64 ", in a kernel launched %" PRIu32 " level%s below",
                 fault->firing, fault->level, plural(fault->level));
}

enum prt_status prt_explain_fault(const struct prt_sched *s, struct prt_error *error)
{
    return prt_explain_core_fault(s->container, &s->core->fault, error);
}

enum prt_status prt_explain_core_fault(const struct prt_container *c, const struct core_fault *f,
                                       struct prt_error *error)
{
    char where[96], cause[240];
    if (f->node == CONTAINER_NONE) {
        describe_fault_cause(f, "", cause, sizeof cause);
        return prt_error_set(error, PRT_E_FAULT, "an argument (%s:%" PRIu32 ") %s [%s]",
                             source_name(c, f->fault.source), f->fault.line, cause,
                             prt_explain_fault_id(f->status));
    }
    const struct container_node *node = &c->nodes[f->node];
    describe_fault_place(f, where, sizeof where);
    describe_fault_cause(f, where, cause, sizeof cause);
    return prt_error_set(error, PRT_E_FAULT, "kernel '%s' (instance at %s:%" PRIu32 ") %s [%s]",
                         prt_container_text(c, node->name), source_name(c, node->source),
                         node->line, cause, prt_explain_fault_id(f->status));
}

/* ---- stalls ---- */

struct story {
    char text[480];
    size_t used;
};

static void add_words(struct story *story, const char *format, ...) PRT_PRINTF(2, 3);

static void add_words(struct story *story, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(story->text + story->used, sizeof story->text - story->used, format, arguments);
    va_end(arguments);
    if (length > 0) story->used += (size_t)length; /* uncovered: no text is empty */
    if (story->used >= sizeof story->text) story->used = sizeof story->text - 1;
}

static const char *stage_name(const struct prt_sched *s, uint32_t stage)
{
    return prt_container_text(s->container, prt_stage_node(s, &s->stages[stage])->name);
}

/* A replay waits only for the stages of its cycle: others have not been asked to fire. */
static bool is_waited_for(const struct prt_sched *s, uint32_t node)
{
    return s->among == NULL || s->among[s->node_stage[node]];
}

static bool has_reader_waited_for(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    const struct container_buffer *record = buffer->record;
    for (uint32_t i = 0; s->among != NULL && i < record->reader_count; i++)
        if (is_waited_for(s, s->container->readers[record->first_reader + i].node)) return true;
    return s->among == NULL;
}

/* The output with too little room for the stage's next firing or finish, or NULL. */
static const struct core_output *find_full_output(const struct prt_sched *s,
                                                  const struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(s->core, stage, i);
        if (core_fifo_room(prt_output_buffer(s, output)->fifo) <
                core_ready_wanted_room(s->core, stage, output) &&
            has_reader_waited_for(s, prt_output_buffer(s, output)))
            return output;
    }
    return NULL;
}

/* The input whose packets the stage waits for, or NULL.  It does not wait for an open in-port that can be filled. */
static const struct core_input *find_starved_input(const struct prt_sched *s,
                                                   const struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(s->core, stage, i);
        bool counts = prt_input_buffer(s, input)->record->outer == CONTAINER_OUTER_IN ||
                      is_waited_for(s, prt_input_buffer(s, input)->record->writer_node);
        if (counts && core_ready_input(s->core, stage, input, true, 1) == 0) return input;
    }
    return NULL;
}

/* A stage whose packets are the oldest in the buffer; only it can free room.  UINT32_MAX: none that counts. */
static uint32_t find_slowest_reader(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    const struct container_buffer *record = buffer->record;
    for (uint32_t i = 0; i < record->reader_count; i++) {
        const struct core_reader *reader = core_fifo_reader(buffer->fifo, i);
        uint32_t node = s->container->readers[record->first_reader + i].node;
        if (reader->attached && reader->position_packets == buffer->fifo->oldest_packets &&
            is_waited_for(s, node)) {
            return s->node_stage[node];
        }
    }
    return UINT32_MAX;
}

/* An in-port cannot be filled for one reader while another reader keeps its packets.  Appends that, and returns the
 * reader that keeps them: `waiting` itself if it is the slowest one; UINT32_MAX: none. */
static uint32_t append_port_wait(const struct prt_sched *s, uint32_t waiting,
                                 const struct prt_buffer *buffer, struct story *story)
{
    const struct core_fifo *fifo = buffer->fifo;
    uint32_t slowest = find_slowest_reader(s, buffer);
    if (slowest == UINT32_MAX || slowest == waiting) return slowest;
    add_words(story,
              "; '%s' is full (holds %" PRIu64 " of %" PRIu64
              "): its reader '%s' has consumed none of them",
              prt_container_text(s->container, buffer->record->name),
              fifo->written_packets - fifo->oldest_packets, fifo->depth_packets,
              stage_name(s, slowest));
    return slowest;
}

/* Appends the wait of one stage.  Returns the stage that it waits for; UINT32_MAX: none. */
static uint32_t append_wait(const struct prt_sched *s, uint32_t index, struct story *story)
{
    const struct core_stage *stage = &s->stages[index];
    const struct prt_container *c = s->container;
    const struct core_input *input = find_starved_input(s, stage);
    if (stage->life == CORE_FAULTED) {
        add_words(story, "'%s' %s", stage_name(s, index),
                  core_faults(s->core)[index].there ? "has faulted"
                                                    : "needs packets that a fault keeps back");
        return UINT32_MAX;
    }
    if (input != NULL && stage->life == CORE_RUNNING) {
        const struct prt_buffer *buffer = prt_input_buffer(s, input);
        uint32_t writer = buffer->record->writer_node;
        add_words(story, "'%s' waits for packets in '%s' (holds %" PRIu64 ", needs %" PRIu64 ")",
                  stage_name(s, index), prt_container_text(c, buffer->record->name),
                  core_fifo_held(buffer->fifo, input->reader),
                  core_ready_needs(s->core, stage, input));
        if (writer == CONTAINER_NONE) return append_port_wait(s, index, buffer, story);
        return s->node_stage[writer];
    }
    const struct core_output *output = find_full_output(s, stage);
    if (output == NULL) return UINT32_MAX;
    const struct core_fifo *fifo = prt_output_buffer(s, output)->fifo;
    add_words(
        story, "'%s' waits for room in '%s' (holds %" PRIu64 " of %" PRIu64 ", needs %" PRIu64 ")",
        stage_name(s, index), prt_container_text(c, prt_output_buffer(s, output)->record->name),
        fifo->written_packets - fifo->oldest_packets, fifo->depth_packets,
        core_ready_wanted_room(s->core, stage, output));
    return find_slowest_reader(s, prt_output_buffer(s, output));
}

uint32_t prt_explain_wait(const struct prt_sched *s, uint32_t stage, char *text, size_t size)
{
    struct story story = {.used = 0};
    uint32_t next = append_wait(s, stage, &story);
    snprintf(text, size, "%s", story.text);
    return next;
}

/* A stage of the cycle of waits that `first` leads to; if there is no cycle, `first`.  Each stage waits for at most one
 * other, so after as many steps as there are stages the walk is in the cycle. */
static uint32_t find_first_wait(const struct prt_sched *s, uint32_t first)
{
    uint32_t at = first, steps = 0;
    for (; steps < s->container->stage_count; steps++) {
        struct story unheard = {.used = 0};
        uint32_t next = append_wait(s, at, &unheard);
        if (next == UINT32_MAX) break;
        at = next;
    }
    bool cycle = steps == s->container->stage_count;
    return cycle ? at : first;
}

/* Appends the wait if there is room for all of it, and counts it as omitted otherwise.  The first one is always
 * appended, cut to fit. */
static void append_or_omit(struct story *story, const struct story *wait, uint32_t *omitted)
{
    enum { ROOM_FOR_COUNT = 40, FIRST_MAX = sizeof story->text - ROOM_FOR_COUNT - 1 };
    if (story->used == 0)
        add_words(story, "%.*s", (int)FIRST_MAX, wait->text);
    else if (*omitted == 0 && story->used + wait->used + ROOM_FOR_COUNT < sizeof story->text)
        add_words(story, "; %s", wait->text);
    else
        ++*omitted;
}

enum prt_status prt_explain_stall(const struct prt_sched *s, uint32_t first,
                                  struct prt_error *error)
{
    struct story story = {.used = 0};
    uint32_t begin = find_first_wait(s, first), at = begin, omitted = 0;
    do {
        struct story wait = {.used = 0};
        at = append_wait(s, at, &wait);
        append_or_omit(&story, &wait, &omitted);
    } while (at != UINT32_MAX && at != begin);
    if (omitted > 0) add_words(&story, "; and %" PRIu32 " more wait%s", omitted, plural(omitted));
    return prt_error_set(error, PRT_E_STALL, "the pipeline has stalled: %s", story.text);
}

void prt_explain_waits(const struct prt_sched *s, uint32_t first,
                       void (*receive)(void *context, const char *wait), void *context)
{
    uint32_t begin = find_first_wait(s, first), at = begin;
    do {
        struct story wait = {.used = 0};
        at = append_wait(s, at, &wait);
        receive(context, wait.text);
    } while (at != UINT32_MAX && at != begin);
}

/* ---- failures ---- */

static const char *why_misplaced(enum core_failure_kind kind)
{
    switch (kind) {
    case CORE_BAD_REPEAT: return "too many repeats within each other, or one of no round";
    case CORE_BAD_AGAIN: return "an 'again' outside of what is repeated";
    case CORE_BAD_CALL: return "a call in a routine";
    case CORE_BAD_RETURN: return "a return that no call leads to";
    /* uncovered: the verifier has proven that the prologue comes first */
    default: return "an instruction of the prologue after it";
    }
}

static enum prt_status explain_run(const struct prt_sched *s, uint32_t index, uint64_t firings,
                                   struct prt_error *error)
{
    const struct core_stage *stage = &s->stages[index];
    const char *why = stage->life != CORE_RUNNING || stage->stopped
                          ? "which has ended"
                          : "for which there are too few packets or too little room";
    return prt_error_set(error, PRT_E_VERIFY,
                         "container: the scheduler program runs %" PRIu64 " firing%s of '%s', %s",
                         firings, plural(firings), stage_name(s, index), why);
}

enum prt_status prt_explain_failure(const struct prt_sched *s, struct prt_error *error)
{
    const struct core_failure *f = &s->core->failure;
    if (s->core->fault.there) return prt_explain_fault(s, error);
    switch (f->kind) {
    case CORE_GOOD: return PRT_OK;
    case CORE_STOPPED:
    case CORE_BAD_DEVICE: return s->status;
    case CORE_SINKS_GONE:
        return prt_error_set(error, PRT_E_CLOSED_PIPE, "%s", prt_status_text(PRT_E_CLOSED_PIPE));
    case CORE_STALLED: return prt_explain_stall(s, f->stage, error);
    case CORE_BAD_RUN: return explain_run(s, f->stage, f->number, error);
    case CORE_BAD_HALT:
        return prt_error_set(error, PRT_E_VERIFY,
                             "container: the scheduler program halts although '%s' could go on",
                             stage_name(s, f->stage));
    case CORE_BAD_COUNTS:
        return prt_error_set(
            error, PRT_E_FAULT,
            "kernel '%s' reports more or fewer packets or firings than it may make",
            stage_name(s, f->stage));
    case CORE_BAD_REPORT:
        return prt_error_set(error, PRT_E_FAULT,
                             "kernel '%s' reports a fault in a firing that it was not given",
                             stage_name(s, f->stage));
    default:
        return prt_error_set(error, PRT_E_VERIFY, "container: the scheduler program has %s",
                             why_misplaced(f->kind));
    }
}
