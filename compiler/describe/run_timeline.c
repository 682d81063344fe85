/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file_open.h"
#include "compiler/describe/run_report.h"

enum { LINE_BYTES_MAX = 65536, FIRST_QUEUE = 3, LAUNCHES_LANE = 1 };

struct reading {
    const struct run_report *report;
    struct run_timeline *timeline;
    json_t *buffers, *stages; /* name to number */
    double bin_us;            /* length of a part */
    unsigned char *written;   /* buffer x bins: `levels` has been set there */
    double *busy_us;          /* stage x bins */
    uint64_t total_cycles;    /* as the timeline says */
    bool is_ended;            /* otherData has been read */
};

/* ---- events ---- */

static uint32_t bin_of(const struct reading *r, double us)
{
    double bin = us / r->bin_us;
    if (!(bin > 0)) return 0;
    return bin < r->timeline->bins ? (uint32_t)bin : r->timeline->bins - 1;
}

/* The packets in a buffer from then on. */
static void take_counter(struct reading *r, json_t *event, double us)
{
    json_t *number = json_object_get(r->buffers, json_string_value(json_object_get(event, "name")));
    json_int_t packets =
        json_integer_value(json_object_get(json_object_get(event, "args"), "packets"));
    if (number == NULL || packets < 0) return;
    size_t at = (size_t)json_integer_value(number) * r->timeline->bins + bin_of(r, us);
    r->timeline->levels[at] = (uint64_t)packets;
    r->written[at] = 1;
}

/* A piece of an interrupted launch is called "s (goes on)". */
static json_t *stage_of_slice(const struct reading *r, const char *name)
{
    json_t *number = json_object_get(r->stages, name);
    char start[256];
    const char *end = strrchr(name, '(');
    if (number != NULL || end == NULL || end - name < 2 || end - name > (long)sizeof start)
        return number;
    memcpy(start, name, (size_t)(end - name - 1));
    start[end - name - 1] = '\0';
    return json_object_get(r->stages, start);
}

/* A launch; its parts, which have no arguments, have been counted with it. */
static void take_launch(struct reading *r, json_t *event, double us)
{
    const char *name = json_string_value(json_object_get(event, "name"));
    double end = us + json_number_value(json_object_get(event, "dur"));
    json_t *number = name != NULL ? stage_of_slice(r, name) : NULL;
    if (number == NULL || !json_is_object(json_object_get(event, "args"))) return;
    double *busy = &r->busy_us[(size_t)json_integer_value(number) * r->timeline->bins];
    for (uint32_t bin = bin_of(r, us), last = bin_of(r, end); bin <= last; bin++) {
        double from = bin * r->bin_us, to = from + r->bin_us;
        if (from < us) from = us;
        if (to > end) to = end;
        if (to > from) busy[bin] += to - from;
    }
}

static void take_event(struct reading *r, json_t *event)
{
    const char *kind = json_string_value(json_object_get(event, "ph"));
    double us = json_number_value(json_object_get(event, "ts"));
    json_int_t process = json_integer_value(json_object_get(event, "pid"));
    json_int_t lane = json_integer_value(json_object_get(event, "tid"));
    if (kind == NULL || !(us >= 0)) return;
    if (strcmp(kind, "C") == 0)
        take_counter(r, event, us);
    else if (strcmp(kind, "X") == 0 && process >= FIRST_QUEUE && lane == LAUNCHES_LANE)
        take_launch(r, event, us);
}

/* ---- lines ---- */

/* Each event has a line of its own, and so has each member of otherData. */
static void take_line(struct reading *r, const char *line, size_t length)
{
    static const char total[] = "\"total_cycles\": ", omitted[] = "\"omitted_events\": ",
                      complete[] = "\"complete_cycles\": ";
    while (length > 0 && strchr(" \r\n,", line[length - 1]) != NULL)
        length--;
    for (; length > 0 && *line == ' '; length--)
        line++;
    if (length > 1 && line[0] == '{' && line[length - 1] == '}') {
        json_t *event = json_loadb(line, length, 0, NULL);
        take_event(r, event);
        json_decref(event);
    } else if (strncmp(line, total, sizeof total - 1) == 0) {
        r->total_cycles = strtoull(line + sizeof total - 1, NULL, 10);
    } else if (strncmp(line, omitted, sizeof omitted - 1) == 0) {
        r->timeline->omitted_events = strtoull(line + sizeof omitted - 1, NULL, 10);
    } else if (strncmp(line, complete, sizeof complete - 1) == 0) {
        r->timeline->complete_cycles = strtoull(line + sizeof complete - 1, NULL, 10);
        r->is_ended = true;
    }
}

/* False: *reason says why. */
static bool read_event_lines(struct reading *r, gzFile file, const char **reason)
{
    static const char no_timeline[] = "it is no timeline of piperun --trace=FILE";
    char *line = malloc(LINE_BYTES_MAX);
    int error = 0;
    if (line == NULL) arena_out_of_memory();
    *reason = NULL;
    while (*reason == NULL && gzgets(file, line, LINE_BYTES_MAX) != NULL) {
        size_t length = strlen(line);
        if (length + 1 == LINE_BYTES_MAX && line[length - 1] != '\n') *reason = no_timeline;
        take_line(r, line, length);
    }
    free(line);
    gzerror(file, &error);
    if (error == Z_ERRNO)
        *reason = file_error_text(errno);
    else if (error != Z_OK && error != Z_STREAM_END)
        *reason = "it is not a whole compressed file";
    else if (*reason == NULL && !r->is_ended)
        *reason = no_timeline;
    else if (*reason == NULL && r->total_cycles != r->report->total_cycles)
        *reason = "it is of another run than the statistics";
    return *reason == NULL;
}

/* ---- the whole ---- */

/* A buffer keeps its packets until the next event; a part is busy for at most all of its time. */
static void complete_bins(struct reading *r)
{
    struct run_timeline *timeline = r->timeline;
    for (size_t b = 0; b < r->report->buffers.count; b++)
        for (size_t i = b * timeline->bins + 1; i < (b + 1) * timeline->bins; i++)
            if (r->written[i] == 0) timeline->levels[i] = timeline->levels[i - 1];
    for (size_t i = 0; i < r->report->stages.count * timeline->bins; i++) {
        double percent = 100 * r->busy_us[i] / r->bin_us;
        timeline->busy[i] = (uint64_t)(percent < 100 ? percent + 0.5 : 100);
    }
}

static struct reading begin_reading(struct arena *arena, const struct run_report *report,
                                    uint32_t bins)
{
    struct reading r = {.report = report, .timeline = ARENA_NEW(arena, struct run_timeline)};
    size_t buffers = report->buffers.count + 1, stages = report->stages.count + 1;
    double hertz = report->clock_hz > 0 ? (double)report->clock_hz : 1e9;
    r.timeline->bins = bins;
    r.timeline->levels = ARENA_ARRAY(arena, uint64_t, buffers *bins);
    r.timeline->busy = ARENA_ARRAY(arena, uint64_t, stages *bins);
    r.written = ARENA_ARRAY(arena, unsigned char, buffers *bins);
    r.busy_us = ARENA_ARRAY(arena, double, stages *bins);
    r.bin_us = (double)(report->total_cycles > 0 ? report->total_cycles : 1) / hertz * 1e6 / bins;
    r.buffers = json_object();
    r.stages = json_object();
    for (size_t b = 0; b < report->buffers.count; b++)
        json_object_set_new(r.buffers, report->buffers.items[b].name, json_integer((json_int_t)b));
    for (size_t s = 0; s < report->stages.count; s++)
        json_object_set_new(r.stages, report->stages.items[s].name, json_integer((json_int_t)s));
    return r;
}

const struct run_timeline *run_timeline_read(struct arena *arena, const struct run_report *report,
                                             const char *path, uint32_t bins, const char **reason)
{
    int fd = file_open_input(path);
    if (fd < 0) {
        *reason = file_error_text(errno);
        return NULL;
    }
    gzFile file = gzdopen(fd, "rb");
    if (file == NULL) {
        close(fd);
        arena_out_of_memory();
    }
    struct reading r = begin_reading(arena, report, bins);
    bool whole = read_event_lines(&r, file, reason);
    gzclose(file);
    if (whole) complete_bins(&r);
    json_decref(r.buffers);
    json_decref(r.stages);
    return whole ? r.timeline : NULL;
}
