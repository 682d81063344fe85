/* Firings to a file, with the packets that each takes and gives. */
#include "runtime/debug/debug_internal.h"

#include "base/file_open.h"
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

static void print_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            fprintf(to, "\\%c", byte);
        else if (byte < 0x20)
            fprintf(to, "\\u%04x", byte);
        else
            fputc(byte, to);
    }
    fputc('"', to);
}

/* The value as text; in JSON as a string of it, which says NaN and infinities, too. */
static void print_packet(const struct prt_debugger *d, uint32_t buffer, uint64_t packet)
{
    const struct debug_trace *t = d->trace;
    const uint8_t *bytes = prt_debugger_packet_bytes(d, buffer, packet);
    struct memory_text memory;
    bool begun = memory_text_begin(&memory);
    if (begun && bytes != NULL)
        prt_packet_print(memory.file, d->container, &d->container->buffers[buffer], bytes,
                         ITEMS_TRACED);
    char *text = begun ? memory_text_end(&memory, NULL) : NULL;
    const char *shown = text != NULL && text[0] != '\0' ? text : "?";
    if (t->json)
        print_quoted(t->file, shown);
    else
        fputs(shown, t->file);
    free(text);
}

static void print_end(const struct prt_debugger *d, const struct traced_end *end, bool first)
{
    FILE *to = d->trace->file;
    uint64_t shown = end->count < PACKETS_TRACED ? end->count : PACKETS_TRACED;
    if (d->trace->json) {
        fputs(first ? "{\"buffer\": " : ", {\"buffer\": ", to);
        print_quoted(to, debug_buffer_name(d, end->buffer));
        fprintf(to, ", \"first\": %" PRIu64 ", \"count\": %" PRIu64 ", \"packets\": [", end->first,
                end->count);
    } else {
        prt_debugger_say(to, "%s%s@%" PRIu64 " ", first ? " " : ", ",
                         debug_buffer_name(d, end->buffer), end->first);
        fputc('[', to);
    }
    for (uint64_t i = 0; i < shown; i++) {
        if (i > 0) fputs(", ", to);
        print_packet(d, end->buffer, end->first + i);
    }
    if (shown < end->count && !d->trace->json)
        fprintf(to, ", ... %" PRIu64 " more", end->count - shown);
    fputs(d->trace->json ? "]}" : "]", to);
}

/* What the last firing has taken: between where its readers were and are. */
static void print_inputs(const struct prt_debugger *d, const struct prt_stage *stage)
{
    bool first = true;
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct prt_stage_input *input = &stage->inputs[i];
        uint64_t from = d->taken_from[stage->node->first_input + i];
        uint64_t to = input->buffer->fifo.readers[input->reader].position_packets;
        if (to == from) continue;
        print_end(
            d, &(struct traced_end){(uint32_t)(input->buffer - d->sched->buffers), from, to - from},
            first);
        first = false;
    }
}

static void print_outputs(const struct prt_debugger *d, const struct prt_stage *stage)
{
    bool first = true;
    for (uint32_t i = 0; i < stage->node->output_count; i++) {
        const struct prt_buffer *buffer = stage->outputs[i].buffer;
        uint64_t from = d->given_from[stage->node->first_output + i];
        if (buffer->fifo.written_packets == from) continue;
        print_end(d,
                  &(struct traced_end){(uint32_t)(buffer - d->sched->buffers), from,
                                       buffer->fifo.written_packets - from},
                  first);
        first = false;
    }
}

void prt_debugger_trace_firing(struct prt_debugger *d)
{
    const struct prt_stage *stage = &d->sched->stages[d->last.stage];
    FILE *to = d->trace->file;
    uint64_t cycle = prt_run_total_cycles(d->run);
    char firing[160];
    if (d->trace->json) {
        fprintf(to, "{\"cycle\": %" PRIu64 ", \"node\": ", cycle);
        print_quoted(to, debug_stage_name(d, d->last.stage));
        fputs(", \"kernel\": ", to);
        print_quoted(to, debug_text(d, stage->node->kernel_title));
        if (d->last.finish)
            fputs(", \"finish\": true, \"takes\": [", to);
        else
            fprintf(to, ", \"firing\": %" PRIu64 ", \"takes\": [", d->last.firing);
        print_inputs(d, stage);
        fputs("], \"gives\": [", to);
        print_outputs(d, stage);
        fputs("]}\n", to);
        return;
    }
    prt_debugger_firing_text(d, &d->last, firing, sizeof firing);
    prt_debugger_say(to, "%" PRIu64 ": %s:", cycle, firing);
    print_inputs(d, stage);
    fputs(" ->", to);
    print_outputs(d, stage);
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
    if (!whole) status = prt_error_set(error, PRT_E_WRITE, "%s: not written whole", trace->path);
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
