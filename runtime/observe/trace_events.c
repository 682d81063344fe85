/* SPDX-License-Identifier: MIT */
/*
 * The timeline of a run in the Trace Event Format (lang/reports.md; format: "Trace Event Format",
 * the document of the Chromium project), as an observer.
 *
 *     process 1      scheduler: its instructions as slices, suspensions and ends as instants
 *     process 2      buffers: a counter of each
 *     process 3 + q  queue q: lane 1 its launches, with their parts inside; lane 2 + n: CU n
 *
 * Times are rounded to nanoseconds before durations are taken, so that slices that nest in cycles
 * nest in the text.  An arrow goes from the launch that has written the last packet which a launch
 * sees to that launch.
 *
 * A launch that was interrupted is a slice for each of its pieces, and their names say so.
 *
 * A launch and all that belongs to it are written together or not at all; from the first event that
 * does not fit on, everything is left out, so that the timeline is whole up to a point.
 */
#include "base/json_write.h"
#include "runtime/host/pipert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESS_SCHEDULER = 1, PROCESS_BUFFERS = 2, PROCESS_QUEUES = 3 };
enum { LANE_LAUNCHES = 1, LANE_UNITS = 2 };
enum { PIECE_MARK = sizeof " (goes on, interrupted)" };
enum { WRITERS_KEPT = 64 }; /* launches that wrote to a buffer, the last ones */

/* A launch that wrote packets, as the beginning of arrows. */
struct writer {
    uint64_t first_packet, end_packet;
    uint64_t cycles; /* within its slice */
    uint32_t queue;
};

struct writers {
    struct writer kept[WRITERS_KEPT];
    uint32_t next, count;
};

struct prt_trace {
    struct prt_observer observer;
    struct json json; /* its file leads to `write` through `buffer` */
    prt_trace_write write;
    void *context;
    bool failed; /* no memory when the run began, or `write` returned false */
    char buffer[4096];
    const struct prt_run *run;
    uint64_t clock_hz;
    uint64_t events, events_max, omitted, arrows;
    uint64_t complete_cycles;
    struct writers *writers; /* per buffer */
    bool *queue_named;
    char *piece_name; /* room for the longest */
    size_t piece_size;
    uint32_t stage_count, buffer_count;
    bool full, ended;
    bool no_memory; /* when the run began */
};

/* ---- times ---- */

static uint64_t trace_nanoseconds(const struct prt_trace *t, uint64_t cycles)
{
    if (t->clock_hz == 0) return cycles;
    unsigned __int128 ns = (unsigned __int128)cycles * 1000000000u / t->clock_hz;
    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

static void write_time(struct prt_trace *t, const char *key, uint64_t ns)
{
    json_fraction(&t->json, key, ns, 3); /* in microseconds, as the format wants */
}

/* ---- events ---- */

static void begin_event(struct prt_trace *t, const char *phase, const char *name, uint32_t process,
                        uint32_t lane)
{
    json_begin_line(&t->json, NULL, '{');
    json_text(&t->json, "ph", phase);
    json_text(&t->json, "name", name);
    json_number(&t->json, "pid", process);
    json_number(&t->json, "tid", lane);
}

static void end_event(struct prt_trace *t)
{
    json_end(&t->json, '}');
    t->events++;
}

/* Leaves it open for arguments. */
static void begin_slice(struct prt_trace *t, const char *name, uint32_t process, uint32_t lane,
                        uint64_t begin_cycles, uint64_t end_cycles)
{
    uint64_t begin = trace_nanoseconds(t, begin_cycles);
    begin_event(t, "X", name, process, lane);
    write_time(t, "ts", begin);
    write_time(t, "dur", trace_nanoseconds(t, end_cycles) - begin);
}

static void name_lane(struct prt_trace *t, const char *key, const char *name, uint32_t process,
                      uint32_t lane)
{
    begin_event(t, "M", key, process, lane);
    json_begin(&t->json, "args", '{');
    json_text(&t->json, "name", name);
    json_end(&t->json, '}');
    json_end(&t->json, '}');
}

static void sort_lane(struct prt_trace *t, const char *key, uint32_t process, uint32_t lane,
                      uint32_t place)
{
    begin_event(t, "M", key, process, lane);
    json_begin(&t->json, "args", '{');
    json_number(&t->json, "sort_index", place);
    json_end(&t->json, '}');
    json_end(&t->json, '}');
}

static void name_process(struct prt_trace *t, const char *name, uint32_t process)
{
    name_lane(t, "process_name", name, process, 0);
    sort_lane(t, "process_sort_index", process, 0, process);
}

/* Whether `count` events, which ended at `end_cycles`, still fit.  If not, they and all later ones are left out. */
static bool admit_events(struct prt_trace *t, uint64_t count, uint64_t end_cycles)
{
    if (!t->full && count <= t->events_max - t->events) return true;
    t->full = true;
    t->omitted += count;
    if (end_cycles < t->complete_cycles) t->complete_cycles = end_cycles;
    return false;
}

/* ---- the scheduler and buffers ---- */

static void on_scheduler(void *context, const struct prt_scheduler_event *event)
{
    struct prt_trace *t = context;
    struct prt_stage_statistics stage;
    struct prt_buffer_statistics buffer;
    if (!admit_events(t, 1, event->end_cycles)) return;
    if (event->doing == PRT_SCHEDULER_WORKS || event->doing == PRT_SCHEDULER_WAITS) {
        bool waits = event->doing == PRT_SCHEDULER_WAITS;
        begin_slice(t, waits ? "waits for arrivals" : "instructions", PROCESS_SCHEDULER, 1,
                    event->begin_cycles, event->end_cycles);
        json_begin(&t->json, "args", '{');
        if (prt_run_buffer(t->run, event->buffer, &buffer))
            json_text(&t->json, "port", buffer.name);
        json_number(&t->json, "begin_cycles", event->begin_cycles);
        json_number(&t->json, "end_cycles", event->end_cycles);
        json_end(&t->json, '}');
        end_event(t);
        return;
    }
    bool ends = event->doing == PRT_SCHEDULER_ENDS;
    begin_event(t, "i", ends ? "stage ends" : "suspended for input", PROCESS_SCHEDULER, 1);
    write_time(t, "ts", trace_nanoseconds(t, event->begin_cycles));
    json_text(&t->json, "s", "t");
    json_begin(&t->json, "args", '{');
    if (prt_run_stage(t->run, event->stage, &stage)) json_text(&t->json, "stage", stage.name);
    if (prt_run_buffer(t->run, event->buffer, &buffer)) json_text(&t->json, "port", buffer.name);
    json_number(&t->json, "cycles", event->begin_cycles);
    json_end(&t->json, '}');
    end_event(t);
}

static void on_level(void *context, const struct prt_level_event *level)
{
    struct prt_trace *t = context;
    struct prt_buffer_statistics buffer;
    if (!admit_events(t, 1, level->cycles)) return;
    prt_run_buffer(t->run, level->buffer, &buffer);
    begin_event(t, "C", buffer.name, PROCESS_BUFFERS, 0);
    write_time(t, "ts", trace_nanoseconds(t, level->cycles));
    json_begin(&t->json, "args", '{');
    json_number(&t->json, "packets", level->packets);
    json_end(&t->json, '}');
    end_event(t);
}

/* ---- launches ---- */

static void name_queue(struct prt_trace *t, const struct prt_launch_event *l)
{
    char name[80];
    if (t->queue_named[l->queue]) return;
    t->queue_named[l->queue] = true;
    uint32_t process = PROCESS_QUEUES + l->queue;
    int length = snprintf(name, sizeof name, "queue %" PRIu32, l->queue);
    if (l->cu_count > 0)
        length += snprintf(name + length, sizeof name - (size_t)length, ": CU%s %" PRIu32,
                           l->cu_count == 1 ? "" : "s", l->first_cu);
    if (l->cu_count > 1)
        length += snprintf(name + length, sizeof name - (size_t)length, " to %" PRIu32,
                           l->first_cu + l->cu_count - 1);
    if (l->importance > 0)
        snprintf(name + length, sizeof name - (size_t)length, ", importance %" PRIu32,
                 l->importance);
    name_process(t, name, process);
    name_lane(t, "thread_name", "launches", process, LANE_LAUNCHES);
    sort_lane(t, "thread_sort_index", process, LANE_LAUNCHES, LANE_LAUNCHES);
    for (uint32_t i = 0; i < l->cu_count; i++) {
        uint32_t lane = LANE_UNITS + l->first_cu + i;
        snprintf(name, sizeof name, "CU %" PRIu32, l->first_cu + i);
        name_lane(t, "thread_name", name, process, lane);
        sort_lane(t, "thread_sort_index", process, lane, lane);
    }
}

struct part {
    const char *name;
    uint64_t cycles;
};

enum { PARTS = 6 };

/* In the order in which they pass. */
static void cut_launch(const struct prt_launch_event *l, struct part *parts)
{
    const struct part cut[PARTS] = {{"launch", l->launch_cycles - l->cleanup_cycles},
                                    {"switch", l->switch_cycles},
                                    {"index", l->index_cycles},
                                    {"execute", l->execute_cycles},
                                    {"device queue", l->device_queue_cycles},
                                    {"clean-up", l->cleanup_cycles}};
    for (int i = 0; i < PARTS; i++)
        parts[i] = cut[i];
}

static void launch_arguments(struct prt_trace *t, const struct prt_launch_event *l)
{
    static const char *const forms[] = {"full", "reference", "condensed"};
    struct json *json = &t->json;
    json_begin(json, "args", '{');
    if (l->finish) {
        json_boolean(json, "finish", true);
    } else {
        json_number(json, "first_firing", l->first_firing);
        json_number(json, "firings", l->firings);
    }
    if (l->resumed) json_boolean(json, "resumed", true);
    if (l->interrupted) json_boolean(json, "interrupted", true);
    json_text(json, "packet", forms[l->form]);
    json_boolean(json, "first_of_packet", l->first_of_packet);
    json_number(json, "warps", l->warps);
    json_number(json, "enqueued_cycles", l->enqueued_cycles);
    json_number(json, "begin_cycles", l->begin_cycles);
    json_number(json, "end_cycles", l->end_cycles);
    json_number(json, "launch_cycles", l->launch_cycles);
    json_number(json, "switch_cycles", l->switch_cycles);
    json_number(json, "index_cycles", l->index_cycles);
    json_number(json, "execute_cycles", l->execute_cycles);
    json_number(json, "compute_cycles", l->compute_cycles);
    json_number(json, "memory_cycles", l->memory_cycles);
    json_number(json, "device_queue_cycles", l->device_queue_cycles);
    if (l->span_count > 0) json_number(json, "spans", l->span_count);
    if (l->spans_omitted > 0) json_number(json, "omitted_spans", l->spans_omitted);
    json_end(json, '}');
}

/* "s", "s (interrupted)", "s (goes on)" and both. */
static const char *name_piece(struct prt_trace *t, const struct prt_launch_event *l,
                              const char *stage)
{
    static const char *const marks[2][2] = {{"", " (interrupted)"},
                                            {" (goes on)", " (goes on, interrupted)"}};
    if (!l->resumed && !l->interrupted) return stage;
    snprintf(t->piece_name, t->piece_size, "%s%s", stage, marks[l->resumed][l->interrupted]);
    return t->piece_name;
}

/* Returns when the execution begins. */
static uint64_t write_launch(struct prt_trace *t, const struct prt_launch_event *l,
                             const char *name, const struct part *parts)
{
    uint32_t process = PROCESS_QUEUES + l->queue;
    uint64_t at = l->begin_cycles, executes = l->begin_cycles;
    begin_slice(t, name, process, LANE_LAUNCHES, l->begin_cycles, l->end_cycles);
    launch_arguments(t, l);
    end_event(t);
    for (int i = 0; i < PARTS; i++) {
        if (parts[i].name[0] == 'e') executes = at;
        if (parts[i].cycles == 0) continue;
        begin_slice(t, parts[i].name, process, LANE_LAUNCHES, at, at + parts[i].cycles);
        end_event(t);
        at += parts[i].cycles;
    }
    return executes;
}

/* The compute units of a launch that launches: each firing of the stage, and each child. */
static void write_spans(struct prt_trace *t, const struct prt_launch_event *l, const char *stage)
{
    struct prt_span_event span;
    for (uint64_t i = 0; prt_run_span(t->run, l, i, &span); i++) {
        begin_slice(t, span.kernel != NULL ? span.kernel : stage, PROCESS_QUEUES + l->queue,
                    LANE_UNITS + span.cu, span.begin_cycles, span.end_cycles);
        json_begin(&t->json, "args", '{');
        if (span.kernel != NULL) {
            json_number(&t->json, "level", span.level);
            json_number(&t->json, "issued_cycles", span.issued_cycles);
        }
        if (span.resumed) json_boolean(&t->json, "resumed", true);
        json_number(&t->json, "begin_cycles", span.begin_cycles);
        json_number(&t->json, "end_cycles", span.end_cycles);
        json_end(&t->json, '}');
        end_event(t);
    }
}

static void write_units(struct prt_trace *t, const struct prt_launch_event *l, const char *name,
                        uint64_t executes)
{
    for (uint32_t i = 0; i < l->cu_count; i++) {
        uint64_t cycles = l->cu_cycles[i];
        if (cycles == 0) continue;
        begin_slice(t, name, PROCESS_QUEUES + l->queue, LANE_UNITS + l->first_cu + i, executes,
                    executes + cycles);
        json_begin(&t->json, "args", '{');
        json_number(&t->json, "begin_cycles", executes);
        json_number(&t->json, "end_cycles", executes + cycles);
        json_end(&t->json, '}');
        end_event(t);
    }
}

/* ---- arrows ---- */

/* The launch that wrote that packet, if it is still known. */
static const struct writer *find_writer(const struct writers *w, uint64_t packet)
{
    for (uint32_t i = 0; i < w->count; i++) {
        const struct writer *kept = &w->kept[i];
        if (packet >= kept->first_packet && packet < kept->end_packet) return kept;
    }
    return NULL;
}

static const struct writer *writer_of(const struct prt_trace *t, const struct prt_launch_end *input)
{
    if (input->packets == 0) return NULL;
    return find_writer(&t->writers[input->buffer], input->first_packet + input->packets - 1);
}

static void write_arrow_end(struct prt_trace *t, const char *phase, const char *name,
                            uint32_t queue, uint64_t cycles)
{
    begin_event(t, phase, name, PROCESS_QUEUES + queue, LANE_LAUNCHES);
    json_text(&t->json, "cat", "packets");
    json_number(&t->json, "id", t->arrows);
    if (phase[0] == 'f') json_text(&t->json, "bp", "e");
    write_time(t, "ts", trace_nanoseconds(t, cycles));
    end_event(t);
}

static void write_arrows(struct prt_trace *t, const struct prt_launch_event *l)
{
    struct prt_buffer_statistics buffer;
    for (uint32_t i = 0; i < l->input_count; i++) {
        const struct writer *from = writer_of(t, &l->inputs[i]);
        if (from == NULL) continue;
        prt_run_buffer(t->run, l->inputs[i].buffer, &buffer);
        t->arrows++;
        write_arrow_end(t, "s", buffer.name, from->queue, from->cycles);
        write_arrow_end(t, "f", buffer.name, l->queue, l->begin_cycles);
    }
}

/* An arrow begins in the last cycle of the slice it leaves, for there it is bound to it. */
static void keep_writer(struct prt_trace *t, const struct prt_launch_event *l)
{
    uint64_t leaves = l->end_cycles > l->begin_cycles ? l->end_cycles - 1 : l->end_cycles;
    for (uint32_t i = 0; i < l->output_count; i++) {
        const struct prt_launch_end *output = &l->outputs[i];
        if (output->packets == 0) continue;
        struct writers *w = &t->writers[output->buffer];
        w->kept[w->next] = (struct writer){
            output->first_packet, output->first_packet + output->packets, leaves, l->queue};
        w->next = (w->next + 1) % WRITERS_KEPT;
        if (w->count < WRITERS_KEPT) w->count++;
    }
}

static uint64_t count_events(const struct prt_trace *t, const struct prt_launch_event *l,
                             const struct part *parts)
{
    uint64_t count = 1;
    for (int i = 0; i < PARTS; i++)
        count += parts[i].cycles > 0;
    for (uint32_t i = 0; l->span_count == 0 && i < l->cu_count; i++)
        count += l->cu_cycles[i] > 0;
    count += l->span_count;
    for (uint32_t i = 0; i < l->input_count; i++)
        count += writer_of(t, &l->inputs[i]) != NULL ? 2 : 0;
    return count;
}

static void on_launch(void *context, const struct prt_launch_event *l)
{
    struct prt_trace *t = context;
    struct prt_stage_statistics stage;
    struct part parts[PARTS];
    if (t->failed) return; /* perhaps there was no memory */
    cut_launch(l, parts);
    if (admit_events(t, count_events(t, l, parts), l->end_cycles)) {
        prt_run_stage(t->run, l->stage, &stage);
        name_queue(t, l);
        const char *name = name_piece(t, l, stage.name);
        uint64_t executes = write_launch(t, l, name, parts);
        if (l->span_count > 0)
            write_spans(t, l, stage.name);
        else
            write_units(t, l, name, executes);
        write_arrows(t, l);
    }
    keep_writer(t, l); /* also where it is left out: arrows from it are counted */
}

/* ---- begin and end ---- */

static bool allocate_trace(struct prt_trace *t)
{
    struct prt_stage_statistics stage;
    struct prt_buffer_statistics buffer;
    for (; prt_run_stage(t->run, t->stage_count, &stage); t->stage_count++) {
        size_t size = strlen(stage.name) + PIECE_MARK;
        if (size > t->piece_size) t->piece_size = size;
    }
    while (prt_run_buffer(t->run, t->buffer_count, &buffer))
        t->buffer_count++;
    t->writers = calloc((size_t)t->buffer_count + 1, sizeof *t->writers);
    t->queue_named = calloc((size_t)t->stage_count + 1, sizeof *t->queue_named);
    t->piece_name = calloc(t->piece_size + 1, 1);
    return t->writers != NULL && t->queue_named != NULL && t->piece_name != NULL;
}

static void on_begin(void *context, const struct prt_run *run)
{
    struct prt_trace *t = context;
    struct prt_device_statistics device;
    prt_run_device(run, &device);
    t->run = run;
    t->clock_hz = device.clock_hz;
    t->no_memory = t->failed = !allocate_trace(t);
    json_begin(&t->json, NULL, '{');
    json_begin(&t->json, "traceEvents", '[');
    name_process(t, "scheduler", PROCESS_SCHEDULER);
    name_lane(t, "thread_name", "scheduler", PROCESS_SCHEDULER, 1);
    name_process(t, "buffers", PROCESS_BUFFERS);
}

static void on_end(void *context, const struct prt_run *run, uint64_t total_cycles)
{
    struct prt_trace *t = context;
    struct prt_program_information program;
    prt_program_information(prt_run_program(run), &program);
    if (total_cycles < t->complete_cycles) t->complete_cycles = total_cycles;
    json_end(&t->json, ']');
    json_text(&t->json, "displayTimeUnit", "ns");
    json_begin(&t->json, "otherData", '{');
    json_number(&t->json, "version", 1);
    json_text(&t->json, "pipeline", program.name);
    json_text(&t->json, "device", program.device);
    json_number(&t->json, "clock_hz", t->clock_hz);
    json_number(&t->json, "total_cycles", total_cycles);
    json_number(&t->json, "events", t->events);
    json_number(&t->json, "omitted_events", t->omitted);
    json_number(&t->json, "complete_cycles", t->complete_cycles);
    json_end(&t->json, '}');
    json_end(&t->json, '}');
    t->ended = fflush(t->json.to) == 0 && !t->failed;
}

static ssize_t pass_on(void *cookie, const char *bytes, size_t size)
{
    struct prt_trace *t = cookie;
    if (!t->failed) t->failed = !t->write(t->context, bytes, size);
    return t->failed ? 0 : (ssize_t)size;
}

enum prt_status prt_trace_create(prt_trace_write write, void *context, uint64_t events_max,
                                 struct prt_trace **trace)
{
    struct prt_trace *t = calloc(1, sizeof *t);
    if (t == NULL) return PRT_E_NOMEM;
    t->json.to = fopencookie(t, "w", (cookie_io_functions_t){.write = pass_on});
    if (t->json.to == NULL) {
        free(t);
        return PRT_E_NOMEM;
    }
    setvbuf(t->json.to, t->buffer, _IOFBF, sizeof t->buffer);
    t->write = write;
    t->context = context;
    t->events_max = events_max;
    t->complete_cycles = UINT64_MAX;
    t->observer = (struct prt_observer){.context = t,
                                        .begin = on_begin,
                                        .launch = on_launch,
                                        .level = on_level,
                                        .scheduler = on_scheduler,
                                        .end = on_end};
    *trace = t;
    return PRT_OK;
}

void prt_trace_destroy(struct prt_trace *trace)
{
    if (trace == NULL) return;
    trace->failed = true; /* a text that did not end is not continued */
    fclose(trace->json.to);
    free(trace->writers);
    free(trace->queue_named);
    free(trace->piece_name);
    free(trace);
}

const struct prt_observer *prt_trace_observer(const struct prt_trace *trace)
{
    return &trace->observer;
}

void prt_trace_summary(const struct prt_trace *trace, struct prt_trace_summary *summary)
{
    *summary = (struct prt_trace_summary){.events = trace->events,
                                          .omitted_events = trace->omitted,
                                          .complete_cycles = trace->complete_cycles,
                                          .whole = trace->ended,
                                          .no_memory = trace->no_memory};
}
