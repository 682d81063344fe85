/* SPDX-License-Identifier: MIT */
#include "runtime/sched/explain.h"
#include "base/plural.h"

#include "runtime/sched/ready.h"

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
static void describe_fault_cause(const struct prt_sched_fault *f, const char *where, char *out,
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
                     fault->index == 1 ? "" : "s", where, fault->bound);
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
static void describe_fault_place(const struct prt_sched_fault *f, char *out, size_t size)
{
    const struct kernel_fault *fault = &f->fault;
    if (fault->firing == UINT64_MAX)
        snprintf(out, size, " in its %s", f->finish ? "finish" : "init");
    else if (fault->level == 0)
        snprintf(out, size, " in firing %" PRIu64, fault->firing);
    else
        snprintf(out, size,
                 " in firing %" PRIu64 ", in a kernel launched %" PRIu32 " level%s below",
                 fault->firing, fault->level, fault->level == 1 ? "" : "s");
}

enum prt_status prt_explain_fault(const struct prt_sched *sched, struct prt_error *error)
{
    const struct prt_container *c = sched->container;
    const struct prt_sched_fault *f = &sched->fault;
    char where[96], deed[240];
    if (f->node == CONTAINER_NONE) {
        describe_fault_cause(f, "", deed, sizeof deed);
        return prt_error_set(error, PRT_E_FAULT, "an argument (%s:%" PRIu32 ") %s [%s]",
                             source_name(c, f->fault.source), f->fault.line, deed,
                             prt_explain_fault_id(f->status));
    }
    const struct container_node *node = &c->nodes[f->node];
    describe_fault_place(f, where, sizeof where);
    describe_fault_cause(f, where, deed, sizeof deed);
    return prt_error_set(error, PRT_E_FAULT, "kernel '%s' (instance at %s:%" PRIu32 ") %s [%s]",
                         prt_container_text(c, node->name), source_name(c, node->source),
                         node->line, deed, prt_explain_fault_id(f->status));
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

static const char *stage_name(const struct prt_sched *sched, uint32_t stage)
{
    return prt_container_text(sched->container, sched->stages[stage].node->name);
}

/* A replay waits only for the stages of its cycle: others have not been asked to fire. */
static bool is_waited_for(const struct prt_sched *sched, uint32_t node)
{
    return sched->among == NULL || sched->among[sched->node_stage[node]];
}

static bool has_reader_waited_for(const struct prt_sched *sched, const struct prt_buffer *buffer)
{
    const struct container_buffer *record = buffer->record;
    for (uint32_t i = 0; sched->among != NULL && i < record->reader_count; i++)
        if (is_waited_for(sched, sched->container->readers[record->first_reader + i].node))
            return true;
    return sched->among == NULL;
}

/* The output with too little room for the stage's next firing or finish, or NULL. */
static const struct prt_stage_output *find_full_output(const struct prt_sched *sched,
                                                       const struct prt_stage *stage)
{
    for (uint32_t i = 0; i < stage->node->output_count; i++) {
        const struct prt_stage_output *output = &stage->outputs[i];
        if (prt_fifo_room(&output->buffer->fifo) < prt_ready_wanted_room(stage, output) &&
            has_reader_waited_for(sched, output->buffer))
            return output;
    }
    return NULL;
}

/* The input whose packets the stage waits for, or NULL.  It does not wait for an open in-port that can be filled. */
static const struct prt_stage_input *find_starved_input(const struct prt_sched *sched,
                                                        const struct prt_stage *stage)
{
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct prt_stage_input *input = &stage->inputs[i];
        bool counts = input->buffer->record->outer == CONTAINER_OUTER_IN ||
                      is_waited_for(sched, input->buffer->record->writer_node);
        if (counts && prt_ready_input(stage, input, true, 1) == 0) return input;
    }
    return NULL;
}

/* A stage whose packets are the oldest in the buffer; only it can free room.  UINT32_MAX: none that counts. */
static uint32_t find_slowest_reader(const struct prt_sched *sched, const struct prt_buffer *buffer)
{
    const struct container_buffer *record = buffer->record;
    for (uint32_t i = 0; i < record->reader_count; i++) {
        const struct prt_fifo_reader *reader = &buffer->fifo.readers[i];
        uint32_t node = sched->container->readers[record->first_reader + i].node;
        if (reader->attached && reader->position_packets == buffer->fifo.oldest_packets &&
            is_waited_for(sched, node)) {
            return sched->node_stage[node];
        }
    }
    return UINT32_MAX;
}

/* An in-port cannot be filled for one reader while another reader keeps its packets.  Returns that other reader. */
static uint32_t append_port_wait(const struct prt_sched *sched, uint32_t waiting,
                                 const struct prt_buffer *buffer, struct story *story)
{
    const struct prt_fifo *fifo = &buffer->fifo;
    uint32_t slowest = find_slowest_reader(sched, buffer);
    if (slowest == UINT32_MAX || slowest == waiting) return slowest;
    add_words(story,
              "; '%s' is full (holds %" PRIu64 " of %" PRIu64
              "): its reader '%s' has consumed none of them",
              prt_container_text(sched->container, buffer->record->name),
              fifo->written_packets - fifo->oldest_packets, fifo->depth_packets,
              stage_name(sched, slowest));
    return slowest;
}

/* Appends the wait of one stage.  Returns the stage that it waits for; UINT32_MAX: none. */
static uint32_t append_wait(const struct prt_sched *sched, uint32_t index, struct story *story)
{
    const struct prt_stage *stage = &sched->stages[index];
    const struct prt_container *c = sched->container;
    const struct prt_stage_input *input = find_starved_input(sched, stage);
    if (stage->life == PRT_STAGE_FAULTED) {
        add_words(story, "'%s' %s", stage_name(sched, index),
                  sched->stage_faults[index].there ? "has faulted"
                                                   : "needs what a fault keeps back");
        return UINT32_MAX;
    }
    if (input != NULL && stage->life == PRT_STAGE_RUNNING) {
        const struct prt_buffer *buffer = input->buffer;
        uint32_t writer = buffer->record->writer_node;
        add_words(story, "'%s' waits for packets in '%s' (holds %" PRIu64 ", needs %" PRIu64 ")",
                  stage_name(sched, index), prt_container_text(c, buffer->record->name),
                  prt_fifo_held(&buffer->fifo, input->reader), prt_ready_needs(stage, input));
        if (writer == CONTAINER_NONE) return append_port_wait(sched, index, buffer, story);
        return sched->node_stage[writer];
    }
    const struct prt_stage_output *output = find_full_output(sched, stage);
    if (output == NULL) return UINT32_MAX;
    const struct prt_fifo *fifo = &output->buffer->fifo;
    add_words(story,
              "'%s' waits for room in '%s' (holds %" PRIu64 " of %" PRIu64 ", needs %" PRIu64 ")",
              stage_name(sched, index), prt_container_text(c, output->buffer->record->name),
              fifo->written_packets - fifo->oldest_packets, fifo->depth_packets,
              prt_ready_wanted_room(stage, output));
    return find_slowest_reader(sched, output->buffer);
}

uint32_t prt_explain_wait(const struct prt_sched *sched, uint32_t stage, char *text, size_t size)
{
    struct story story = {.used = 0};
    uint32_t next = append_wait(sched, stage, &story);
    snprintf(text, size, "%s", story.text);
    return next;
}

/* A stage of the cycle of waits that `first` leads to; if there is no cycle, `first`.  Each stage waits for at most one
 * other, so after as many steps as there are stages the walk is in the cycle. */
static uint32_t find_first_wait(const struct prt_sched *sched, uint32_t first)
{
    uint32_t at = first, steps = 0;
    for (; steps < sched->container->stage_count; steps++) {
        struct story unheard = {.used = 0};
        uint32_t next = append_wait(sched, at, &unheard);
        if (next == UINT32_MAX) break;
        at = next;
    }
    bool cycle = steps == sched->container->stage_count;
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

enum prt_status prt_explain_stall(const struct prt_sched *sched, uint32_t first,
                                  struct prt_error *error)
{
    struct story story = {.used = 0};
    uint32_t begin = find_first_wait(sched, first), at = begin, omitted = 0;
    do {
        struct story wait = {.used = 0};
        at = append_wait(sched, at, &wait);
        append_or_omit(&story, &wait, &omitted);
    } while (at != UINT32_MAX && at != begin);
    if (omitted > 0)
        add_words(&story, "; and %" PRIu32 " more wait%s", omitted, omitted == 1 ? "" : "s");
    return prt_error_set(error, PRT_E_STALL, "the pipeline has stalled: %s", story.text);
}

void prt_explain_waits(const struct prt_sched *sched, uint32_t first,
                       void (*receive)(void *context, const char *wait), void *context)
{
    uint32_t begin = find_first_wait(sched, first), at = begin;
    do {
        struct story wait = {.used = 0};
        at = append_wait(sched, at, &wait);
        receive(context, wait.text);
    } while (at != UINT32_MAX && at != begin);
}
