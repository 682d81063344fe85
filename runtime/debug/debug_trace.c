/* SPDX-License-Identifier: MIT */
/* Firings to a file, with the packets that each takes and gives. */
#include "runtime/debug/debug_internal.h"

#include "base/file_open.h"
#include "base/json_write.h"
#include "base/memory_text.h"
#include "runtime/debug/debug_place.h"
#include "runtime/observe/value_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PACKETS_TRACED = 64, ITEMS_TRACED = 64 };

struct debug_trace {
    FILE *file;
    char *path;
    bool json;
};

void prt_debugger_trace_free(struct debug_trace *trace)
{
    if (trace == NULL) return;
    if (trace->file != NULL) fclose(trace->file);
    free(trace->path);
    free(trace);
}

/* ---- packets ---- */

/* Of one end of a firing. */
struct traced_end {
    uint32_t buffer;
    uint64_t first, count;
};

/* To be freed; NULL: no memory. */
static char *packet_text(const struct prt_debugger *d, uint32_t buffer, uint64_t packet)
{
    const uint8_t *bytes = prt_debugger_packet_bytes(d, buffer, packet);
    struct memory_text memory;
    if (!memory_text_begin(&memory)) return NULL;
    if (bytes != NULL)
        prt_packet_print(memory.file, d->container, &d->container->buffers[buffer], bytes,
                         ITEMS_TRACED);
    return memory_text_end(&memory, NULL);
}

/* `json`: NULL for plain text.  In JSON a packet is a string, which also holds NaN and infinities. */
static void print_end(const struct prt_debugger *d, struct json *json, const struct traced_end *end,
                      bool is_first)
{
    FILE *to = d->trace->file;
    const char *buffer = debug_buffer_name(d, end->buffer);
    uint64_t shown = end->count < PACKETS_TRACED ? end->count : PACKETS_TRACED;
    if (json != NULL) {
        json_begin(json, NULL, '{');
        json_text(json, "buffer", buffer);
        json_number(json, "first", end->first);
        json_number(json, "count", end->count);
        json_begin(json, "packets", '[');
    } else {
        prt_debugger_say(to, "%s%s@%" PRIu64 " ", is_first ? " " : ", ", buffer, end->first);
        fputc('[', to);
    }
    for (uint64_t i = 0; i < shown; i++) {
        char *text = packet_text(d, end->buffer, end->first + i);
        const char *packet = text != NULL && text[0] != '\0' ? text : "?";
        if (json != NULL)
            json_text(json, NULL, packet);
        else
            fprintf(to, "%s%s", i > 0 ? ", " : "", packet);
        free(text);
    }
    if (json != NULL) {
        json_end(json, ']');
        json_end(json, '}');
        return;
    }
    if (shown < end->count) fprintf(to, ", ... %" PRIu64 " more", end->count - shown);
    fputc(']', to);
}

/* The packets that the last firing consumed: between the old and the new positions of its readers. */
static void print_inputs(const struct prt_debugger *d, struct json *json,
                         const struct core_stage *stage)
{
    bool is_first = true;
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(d->sched->core, stage, i);
        uint64_t from = d->taken_from[stage->first_input + i];
        uint64_t to = core_fifo_reader(prt_input_buffer(d->sched, input)->fifo, input->reader)
                          ->position_packets;
        if (to == from) continue;
        print_end(d, json, &(struct traced_end){input->buffer, from, to - from}, is_first);
        is_first = false;
    }
}

static void print_outputs(const struct prt_debugger *d, struct json *json,
                          const struct core_stage *stage)
{
    bool is_first = true;
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct prt_buffer *buffer =
            prt_output_buffer(d->sched, core_output(d->sched->core, stage, i));
        uint64_t from = d->given_from[stage->first_output + i];
        if (buffer->fifo->written_packets == from) continue;
        print_end(d, json,
                  &(struct traced_end){(uint32_t)(buffer - d->sched->buffers), from,
                                       buffer->fifo->written_packets - from},
                  is_first);
        is_first = false;
    }
}

void prt_debugger_trace_firing(struct prt_debugger *d)
{
    const struct core_stage *stage = &d->sched->stages[d->last.stage];
    FILE *to = d->trace->file;
    uint64_t cycle = prt_run_moment_cycles(d->run);
    char firing[160];
    if (d->trace->json) {
        struct json json = {.to = to};
        json_begin_line(&json, NULL, '{');
        json_number(&json, "cycle", cycle);
        json_text(&json, "node", debug_stage_name(d, d->last.stage));
        json_text(&json, "kernel", debug_text(d, prt_stage_node(d->sched, stage)->kernel_title));
        if (d->last.finish)
            json_boolean(&json, "finish", true);
        else
            json_number(&json, "firing", d->last.firing);
        json_begin(&json, "takes", '[');
        print_inputs(d, &json, stage);
        json_end(&json, ']');
        json_begin(&json, "gives", '[');
        print_outputs(d, &json, stage);
        json_end(&json, ']');
        json_end(&json, '}');
        return;
    }
    prt_debugger_firing_text(d, &d->last, firing, sizeof firing);
    prt_debugger_say(to, "%" PRIu64 ": %s:", cycle, firing);
    print_inputs(d, NULL, stage);
    fputs(" ->", to);
    print_outputs(d, NULL, stage);
    fputc('\n', to);
}

/* ---- the file ---- */

static bool is_json(const char *path)
{
    size_t length = strlen(path);
    return length >= 6 && strcmp(path + length - 6, ".jsonl") == 0;
}

static enum prt_status close_trace(struct prt_debugger *d, struct prt_error *error)
{
    struct debug_trace *trace = d->trace;
    enum prt_status status = PRT_OK;
    if (trace == NULL) return PRT_OK;
    bool whole = ferror(trace->file) == 0;
    whole &= fclose(trace->file) == 0;
    if (!whole)
        status = prt_error_set(error, PRT_E_WRITE, "%s: the trace could not be written completely",
                               trace->path);
    trace->file = NULL;
    d->trace = NULL;
    prt_debugger_trace_free(trace);
    return status;
}

enum prt_status prt_debug_trace(struct prt_debugger *d, const char *path, struct prt_error *error)
{
    enum prt_status status = close_trace(d, error);
    if (path == NULL || status != PRT_OK) return status;
    struct debug_trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    trace->path = strdup(path);
    trace->file = trace->path != NULL ? file_open_output_stream(path) : NULL;
    trace->json = is_json(path);
    if (trace->file == NULL) {
        status = trace->path == NULL
                     ? prt_error_set(error, PRT_E_NOMEM, "out of memory")
                     : prt_error_set(error, PRT_E_OPEN, "%s: %s", path, file_error_text(errno));
        prt_debugger_trace_free(trace);
        return status;
    }
    d->trace = trace;
    return PRT_OK;
}
