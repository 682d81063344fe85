/* SPDX-License-Identifier: MIT */
/* Prints places, stops, and the parts of the run. */
#include "base/plural.h"
#include "runtime/debug/debug_condition.h"
#include "runtime/debug/debug_origin.h"
#include "runtime/debug/debug_place.h"
#include "runtime/debug/debug_source.h"
#include "runtime/load/debug_info.h"
#include "runtime/observe/text_table.h"
#include "runtime/observe/value_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    PACKETS_SHOWN = 200,
    ITEMS_SHOWN = 200, /* of an array or vector */
    TAKEN_SHOWN = 8,
    BYTES_A_LINE = 16,
    BYTES_SHOWN = 4096
};

/* ---- values ---- */

static void print_type(FILE *to, const struct prt_debugger *d, uint32_t buffer, uint32_t type)
{
    if (prt_debug_type(d->container, type) != NULL)
        prt_type_print(to, d->container, type);
    else if (buffer != PRT_NONE)
        prt_debugger_say(to, "%s", debug_text(d, d->container->buffers[buffer].type_text));
    else
        fputc('?', to);
}

static void print_packet(FILE *to, const struct prt_debugger *d, uint32_t buffer, uint64_t packet)
{
    const uint8_t *bytes = prt_debugger_packet_bytes(d, buffer, packet);
    const struct container_buffer *record = &d->container->buffers[buffer];
    if (bytes != NULL)
        prt_packet_print(to, d->container, record, bytes, ITEMS_SHOWN);
    else
        fputs("not in memory any more", to);
}

static void print_packets(FILE *to, const struct prt_debugger *d, const struct debug_place *place)
{
    const struct core_fifo *fifo = d->sched->buffers[place->buffer].fifo;
    uint64_t shown = place->count < PACKETS_SHOWN ? place->count : PACKETS_SHOWN;
    prt_debugger_say(to, "%s: %" PRIu64 " packet%s of ", place->name, place->count,
                     plural(place->count));
    print_type(to, d, place->buffer, d->container->buffers[place->buffer].type);
    if (place->count > 0) fprintf(to, ", from packet %" PRIu64 " on", place->first);
    fputc('\n', to);
    for (uint64_t i = 0; i < shown; i++) {
        uint64_t packet = place->first + i;
        fprintf(to, "  [%" PRId64 "] ", (int64_t)(packet - fifo->oldest_packets));
        print_packet(to, d, place->buffer, packet);
        fputc('\n', to);
    }
    if (shown < place->count) fprintf(to, "  ... %" PRIu64 " more\n", place->count - shown);
}

static void print_value(FILE *to, const struct prt_debugger *d, const struct debug_place *place)
{
    prt_debugger_say(to, "%s: ", place->name);
    print_type(to, d, place->buffer, place->type);
    fputs(" = ", to);
    if (prt_debug_type(d->container, place->type) != NULL || place->buffer == PRT_NONE)
        prt_value_print(to, d->container, place->type, place->bytes, ITEMS_SHOWN);
    else
        prt_packet_print(to, d->container, &d->container->buffers[place->buffer], place->bytes,
                         ITEMS_SHOWN);
    fputc('\n', to);
}

static void print_block(FILE *to, const struct prt_debugger *d, const struct debug_place *place)
{
    const struct container_node *node = prt_stage_node(d->sched, &d->sched->stages[place->stage]);
    const struct container_kernel *kernel = prt_debug_kernel(d->container, node->kernel);
    static const char *const kinds[] = {[CONTAINER_VARIABLE_STATE] = "state",
                                        [CONTAINER_VARIABLE_TABLE] = "table",
                                        [CONTAINER_VARIABLE_ARGUMENT] = "argument"};
    uint32_t found = 0;
    for (uint32_t i = 0; i < kernel->variable_count; i++) {
        const struct container_variable *v = &d->container->variables[kernel->first_variable + i];
        if (place->block_kind != DEBUG_ALL_VARIABLES && (int)v->kind != place->block_kind) continue;
        found++;
        prt_debugger_say(to, "  %s %s: ", kinds[v->kind], debug_text(d, v->name));
        print_type(to, d, PRT_NONE, v->type);
        fputs(" = ", to);
        prt_value_print(to, d->container, v->type, prt_debugger_variable_bytes(d, place->stage, v),
                        ITEMS_SHOWN);
        fputc('\n', to);
    }
    if (found == 0)
        prt_debugger_say(to, "'%s' has no %s\n", debug_stage_name(d, place->stage),
                         place->block_kind == DEBUG_ALL_VARIABLES ? "state, table or argument"
                                                                  : kinds[place->block_kind]);
}

/* Reads a text that consists of one place.  PRT_E_USAGE: it is no place, or more text follows. */
static enum prt_status read_whole_place(const struct prt_debugger *d, const char *text,
                                        struct debug_place *place, struct prt_error *error)
{
    *place = (struct debug_place){.kind = DEBUG_VALUE};
    prt_debugger_skip_blanks(&text);
    if (*text == '\0') return prt_error_set(error, PRT_E_USAGE, "a place is missing");
    enum prt_status status = prt_debugger_place_read(d, &text, place, error);
    prt_debugger_skip_blanks(&text);
    if (status == PRT_OK && *text != '\0') return prt_debugger_refuse_rest(text, error);
    if (status == PRT_OK && place->kind == DEBUG_VALUE && place->bytes == NULL)
        return prt_error_set(error, PRT_E_USAGE, "%s", place->missing);
    return status;
}

static void print_text_and_number(FILE *to, const char *text, struct debug_value value)
{
    prt_debugger_say(to, "%s = ", text);
    if (value.kind == DEBUG_FLOAT)
        fprintf(to, "%.17g\n", value.number);
    else if (value.kind == DEBUG_NOTHING)
        fputs("nothing\n", to);
    else if (value.integer < 0)
        fprintf(to, "%" PRId64 "\n", (int64_t)value.integer);
    else
        fprintf(to, "%" PRIu64 "\n", (uint64_t)value.integer);
}

/* Is it more than a place? */
static bool is_condition(const char *text)
{
    return strpbrk(text, "=!<>&|(") != NULL || strcmp(text, "cycle") == 0 ||
           strcmp(text, "firing") == 0;
}

enum prt_status prt_debug_print(struct prt_debugger *d, const char *text, FILE *to,
                                struct prt_error *error)
{
    struct debug_place place;
    struct debug_value value;
    struct prt_error other;
    prt_debugger_skip_blanks(&text);
    enum prt_status status = read_whole_place(d, text, &place, error);
    if (status != PRT_OK && is_condition(text)) {
        uint64_t firing = d->next.stage != PRT_NONE ? d->next.firing : d->last.firing;
        status = prt_debugger_evaluate(d, text, firing, &value, &other);
        if (status == PRT_OK)
            print_text_and_number(to, text, value);
        else
            *error = other;
        return status;
    }
    if (status != PRT_OK) return status;
    if (place.kind == DEBUG_PACKETS)
        print_packets(to, d, &place);
    else if (place.kind == DEBUG_VALUE)
        print_value(to, d, &place);
    else
        print_block(to, d, &place);
    return PRT_OK;
}

/* ---- bytes ---- */

static void print_bytes(FILE *to, const uint8_t *bytes, uint64_t size)
{
    uint64_t shown = size < BYTES_SHOWN ? size : BYTES_SHOWN;
    for (uint64_t i = 0; i < shown; i += BYTES_A_LINE) {
        fprintf(to, "  %04" PRIx64 ":", i);
        for (uint64_t k = i; k < shown && k < i + BYTES_A_LINE; k++)
            fprintf(to, " %02x", bytes[k]);
        fputc('\n', to);
    }
    if (shown < size) fprintf(to, "  ... %" PRIu64 " more\n", size - shown);
}

enum prt_status prt_debug_examine(struct prt_debugger *d, const char *text, FILE *to,
                                  struct prt_error *error)
{
    struct debug_place place;
    enum prt_status status = read_whole_place(d, text, &place, error);
    if (status != PRT_OK) return status;
    if (place.kind == DEBUG_BLOCK)
        return prt_error_set(error, PRT_E_USAGE, "'%s' is several values: name one of them",
                             place.name);
    if (place.kind == DEBUG_VALUE) {
        prt_debugger_say(to, "%s: %" PRIu64 " byte%s\n", place.name, place.size_bytes,
                         plural(place.size_bytes));
        print_bytes(to, place.bytes, place.size_bytes);
        return PRT_OK;
    }
    uint64_t width = d->container->buffers[place.buffer].width_bytes;
    for (uint64_t i = 0; i < place.count && i < PACKETS_SHOWN; i++) {
        const uint8_t *bytes = prt_debugger_packet_bytes(d, place.buffer, place.first + i);
        prt_debugger_say(to, "%s@%" PRIu64 ": %" PRIu64 " byte%s\n",
                         debug_buffer_name(d, place.buffer), place.first + i, width, plural(width));
        if (bytes != NULL) print_bytes(to, bytes, width);
    }
    return PRT_OK;
}

/* ---- origins of packets ---- */

/* "firing 3 of 'scale', at f.pipe:7" */
static void print_writer(FILE *to, const struct prt_debugger *d, uint32_t buffer, uint64_t packet,
                         bool with_source)
{
    const struct debug_written *written = prt_debugger_origin_of(d, buffer, packet);
    const struct container_buffer *record = &d->container->buffers[buffer];
    char firing[160];
    if (written == NULL) {
        const char *who = "an initial packet";
        if (packet >= record->initial_packets)
            who = record->outer == CONTAINER_OUTER_IN ? "the host" : "a firing long ago";
        fprintf(to, "%s\n", who);
        return;
    }
    prt_debugger_firing_text(d, &written->by, firing, sizeof firing);
    prt_debugger_say(to, "%s", firing);
    const struct container_place *place = prt_debug_origin(d->container, written->origin);
    uint32_t source, line;
    prt_debugger_kernel_place(d, written->by.stage, &source, &line);
    if (place != NULL)
        prt_debugger_say(to, ", at %s:%" PRIu32 ":%" PRIu32 "\n",
                         prt_container_source(d->container, place->source), place->line,
                         place->column);
    else
        prt_debugger_say(
            to, ", kernel '%s' at %s:%" PRIu32 "%s\n",
            debug_text(
                d, prt_stage_node(d->sched, &d->sched->stages[written->by.stage])->kernel_title),
            prt_container_source(d->container, source), line,
            prt_debug_mode(d->container) ? "" : " (which statement: compile with --debug-mode)");
    if (with_source && place != NULL)
        prt_debugger_source_line(d, place->source, place->line, place->column, to);
    else if (with_source)
        prt_debugger_source_line(d, source, line, 0, to);
}

enum prt_status prt_debug_origin_of(struct prt_debugger *d, const char *text, FILE *to,
                                    struct prt_error *error)
{
    struct debug_place place;
    enum prt_status status = read_whole_place(d, text, &place, error);
    if (status != PRT_OK) return status;
    if (place.buffer == PRT_NONE)
        return prt_error_set(error, PRT_E_USAGE, "'%s' is no packet", place.name);
    if (place.kind == DEBUG_VALUE) place.first = place.packet;
    uint64_t count = place.kind == DEBUG_VALUE ? 1 : place.count;
    for (uint64_t i = 0; i < count && i < PACKETS_SHOWN; i++) {
        prt_debugger_say(to, "%s@%" PRIu64 " was written by ", debug_buffer_name(d, place.buffer),
                         place.first + i);
        print_writer(to, d, place.buffer, place.first + i, place.kind == DEBUG_VALUE);
    }
    return PRT_OK;
}

/* ---- stops ---- */

static void describe_hit(struct prt_debugger *d, const struct prt_break_hit *hit, FILE *to)
{
    char kind[64], text[300];
    if (!prt_debugger_break_title(d, hit->number, kind, sizeof kind, text, sizeof text)) return;
    prt_debugger_say(to, "%s %" PRIu32 ", %s\n", kind, hit->number, text);
    if (hit->buffer == PRT_NONE) return;
    const struct core_fifo *fifo = d->sched->buffers[hit->buffer].fifo;
    if (prt_debugger_break_is_level(d, hit->number)) {
        prt_debugger_say(to, "'%s' holds %" PRIu64 " of %" PRIu64 " packet%s\n",
                         debug_buffer_name(d, hit->buffer),
                         fifo->written_packets - fifo->oldest_packets, fifo->depth_packets,
                         plural(fifo->depth_packets));
        return;
    }
    prt_debugger_say(to, "%s@%" PRIu64 " = ", debug_buffer_name(d, hit->buffer), hit->packet);
    print_packet(to, d, hit->buffer, hit->packet);
    fputs(", written by ", to);
    print_writer(to, d, hit->buffer, hit->packet, true);
    if (hit->others > 0)
        fprintf(to, "and %" PRIu64 " more packet%s like it\n", hit->others, plural(hit->others));
}

static void describe_next(struct prt_debugger *d, FILE *to)
{
    char firing[160];
    const struct container_node *node = prt_stage_node(d->sched, &d->sched->stages[d->next.stage]);
    uint32_t source, line;
    prt_debugger_kernel_place(d, d->next.stage, &source, &line);
    prt_debugger_firing_text(d, &d->next, firing, sizeof firing);
    prt_debugger_say(to, "cycle %" PRIu64 ": next is %s, kernel '%s' at %s:%" PRIu32 "\n",
                     prt_run_moment_cycles(d->run), firing, debug_text(d, node->kernel_title),
                     prt_container_source(d->container, source), line);
}

static void describe_begin(struct prt_debugger *d, FILE *to)
{
    const struct prt_container *c = d->container;
    prt_debugger_say(
        to,
        "pipeline '%s' for device '%s'%s: %" PRIu32 " stage%s, %" PRIu32 " buffer%s; nothing "
        "has fired\n",
        debug_text(d, c->pipeline->name), debug_text(d, c->device->name),
        prt_debug_mode(c) ? ", compiled for debugging"
                          : ", compiled without --debug-mode: no variables, no statements",
        c->stage_count, plural(c->stage_count), c->buffer_count, plural(c->buffer_count));
}

/* The packets that a firing which failed was to consume. */
static void print_taken(struct prt_debugger *d, FILE *to)
{
    const struct core_stage *stage = &d->sched->stages[d->next.stage];
    for (uint32_t i = 0; i < stage->input_count && !d->next.finish; i++) {
        const struct core_input *input = core_input(d->sched->core, stage, i);
        uint32_t buffer = input->buffer;
        uint64_t first = d->taken_from[stage->first_input + i];
        uint64_t count =
            core_flow_total(core_numbers(d->sched->core), &input->take.pop, d->next.firing, 1);
        for (uint64_t k = 0; k < count && k < TAKEN_SHOWN; k++) {
            prt_debugger_say(to, "it read %s@%" PRIu64 " = ", debug_buffer_name(d, buffer),
                             first + k);
            print_packet(to, d, buffer, first + k);
            fputc('\n', to);
        }
    }
}

static void describe_fault(struct prt_debugger *d, FILE *to)
{
    struct prt_fault_information fault;
    if (!prt_run_fault(d->run, &fault)) return;
    if (fault.line > 0) {
        prt_debugger_say(to, "at %s:%" PRIu32 ":%" PRIu32 "\n", fault.source, fault.line,
                         fault.column);
        prt_debugger_source_line(d, d->sched->core->fault.fault.source, fault.line, fault.column,
                                 to);
    }
    if (d->next.stage != PRT_NONE && fault.firing == d->next.firing) print_taken(d, to);
}

static void describe_end(struct prt_debugger *d, const struct prt_stop *stop, FILE *to)
{
    struct prt_error unheard;
    if (stop->status == PRT_OK) {
        fprintf(to, "the run has ended at cycle %" PRIu64 "\n", prt_run_moment_cycles(d->run));
        return;
    }
    prt_debugger_say(to, "the run has ended at cycle %" PRIu64 ": %s\n",
                     prt_run_moment_cycles(d->run), stop->message);
    if (stop->status == PRT_E_FAULT) describe_fault(d, to);
    if (stop->status == PRT_E_STALL) (void)prt_debug_where(d, "", to, &unheard);
}

void prt_debug_describe_stop(struct prt_debugger *d, const struct prt_stop *stop, FILE *to)
{
    char firing[160];
    if (stop->interrupted && stop->cause != PRT_STOP_END) fputs("interrupted\n", to);
    for (uint32_t i = 0; i < stop->hit_count; i++)
        describe_hit(d, &stop->hits[i], to);
    switch (stop->cause) {
    case PRT_STOP_BEGIN: describe_begin(d, to); break;
    case PRT_STOP_BEFORE: describe_next(d, to); break;
    case PRT_STOP_AFTER:
        prt_debugger_firing_text(d, &d->last, firing, sizeof firing);
        prt_debugger_say(to, "cycle %" PRIu64 ": after %s\n", prt_run_moment_cycles(d->run),
                         firing);
        break;
    case PRT_STOP_END: describe_end(d, stop, to); break;
    }
}
