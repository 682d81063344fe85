/* SPDX-License-Identifier: MIT */
#include "compiler/describe/run_report.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/file_open.h"
#include "base/name_fold.h"

static const char *const cause_names[RUN_CAUSES] = {
#define STALL(NAME, key) key,
#include "lang/stalls.def"
#undef STALL
};

/* ---- values ---- */

static uint64_t report_number(json_t *object, const char *key)
{
    json_int_t number = json_integer_value(json_object_get(object, key));
    return number > 0 ? (uint64_t)number : 0;
}

static const char *report_string(struct arena *arena, json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    return text != NULL ? arena_string(arena, text, json_string_length(value)) : "";
}

/* ---- the parts of a report ---- */

static void read_waits(struct arena *arena, json_t *object, struct run_stage *stage)
{
    size_t i;
    json_t *wait;
    uint64_t most = 0;
    json_array_foreach(json_object_get(object, "waits"), i, wait)
    {
        uint64_t cycles = report_number(wait, "cycles");
        if (cycles <= most) continue;
        most = cycles;
        stage->wait_cause = report_string(arena, wait, "cause");
        stage->wait_buffer = report_string(arena, wait, "buffer");
    }
}

static void read_run_stages(struct arena *arena, json_t *stages, struct run_report *report)
{
    size_t i;
    json_t *object;
    json_array_foreach(stages, i, object)
    {
        json_t *stalls = json_object_get(object, "stalls");
        struct run_stage stage = {
            .name = report_string(arena, object, "name"),
            .queue = report_number(object, "queue"),
            .cu_count = report_number(object, "cu_count"),
            .firings = report_number(object, "firings"),
            .dispatches = report_number(object, "dispatches"),
            .execute_cycles = report_number(object, "execute_cycles"),
            .index_cycles = report_number(object, "index_cycles"),
            .device_queue_cycles = report_number(object, "device_queue_cycles"),
            .launch_cycles = report_number(object, "launch_cycles"),
            .switch_cycles = report_number(object, "switch_cycles"),
        };
        for (int c = 0; c < RUN_CAUSES; c++)
            stage.stall_cycles[c] = report_number(stalls, cause_names[c]);
        read_waits(arena, object, &stage);
        vec_push(arena, &report->stages, stage);
    }
}

static void read_run_buffers(struct arena *arena, json_t *buffers, struct run_report *report)
{
    size_t i;
    json_t *object;
    json_array_foreach(buffers, i, object)
    {
        struct run_buffer buffer = {.name = report_string(arena, object, "name"),
                                    .depth_packets = report_number(object, "depth_packets"),
                                    .packets = report_number(object, "packets"),
                                    .high_water_packets =
                                        report_number(object, "high_water_packets")};
        vec_push(arena, &report->buffers, buffer);
    }
}

static void read_run_queues(struct arena *arena, json_t *queues, struct run_report *report)
{
    size_t i;
    json_t *object;
    json_array_foreach(queues, i, object)
    {
        struct run_queue queue = {report_number(object, "queue"), report_number(object, "first_cu"),
                                  report_number(object, "cu_count"),
                                  report_number(object, "launches"),
                                  report_number(object, "busy_cycles")};
        vec_push(arena, &report->queues, queue);
    }
}

static void read_run_memory(struct arena *arena, json_t *memory, struct run_report *report)
{
    const char *key;
    json_t *value;
    json_object_foreach(memory, key, value)
    {
        struct run_memory part = {arena_string(arena, key, strlen(key)),
                                  report_number(memory, key)};
        vec_push(arena, &report->memory, part);
    }
}

static struct run_report *read_parts(struct arena *arena, json_t *object)
{
    struct run_report *report = ARENA_NEW(arena, struct run_report);
    json_t *bottleneck = json_object_get(object, "bottleneck");
    *report = (struct run_report){
        .pipeline = report_string(arena, object, "pipeline"),
        .device = report_string(arena, object, "device"),
        .is_real_time = strcmp(report_string(arena, object, "time"), "real") == 0,
        .clock_hz = report_number(object, "clock_hz"),
        .total_cycles = report_number(object, "total_cycles"),
        .dispatches = report_number(object, "dispatches"),
        .suspensions = report_number(object, "suspensions"),
        .limit = report_string(arena, bottleneck, "limit"),
        .limit_stage = report_string(arena, bottleneck, "stage"),
        .limit_busy_cycles = report_number(bottleneck, "busy_cycles"),
    };
    read_run_stages(arena, json_object_get(object, "stages"), report);
    read_run_buffers(arena, json_object_get(object, "buffers"), report);
    read_run_queues(arena, json_object_get(object, "queues"), report);
    read_run_memory(arena, json_object_get(object, "memory"), report);
    return report;
}

const struct run_report *run_report_read(struct arena *arena, const char *path, const char **reason)
{
    json_error_t error;
    FILE *file = file_open_input_stream(path);
    if (file == NULL) {
        *reason = file_error_text(errno);
        return NULL;
    }
    errno = 0;
    json_t *object = json_loadf(file, 0, &error);
    *reason = ferror(file) != 0 && errno != 0 ? file_error_text(errno)
                                              : "it is no report of piperun --stats=json:FILE";
    fclose(file);
    struct run_report *report = NULL;
    if (json_is_array(json_object_get(object, "stages"))) report = read_parts(arena, object);
    json_decref(object);
    return report;
}

/* ---- stages of nodes ---- */

/* A stage of several nodes has their names with '+' between them; names of alike nodes are folded. */
static bool find_stage_nodes(struct arena *arena, json_t *nodes, const char *name, uint32_t stage,
                             uint32_t *stage_of)
{
    while (*name != '\0') {
        size_t length = strcspn(name, "+");
        const char *part = arena_string(arena, name, length);
        uint64_t count = name_unfold_count(part);
        if (count > json_object_size(nodes)) return false;
        for (uint64_t i = 0; i < count; i++) {
            json_t *node = json_object_get(nodes, name_unfold(arena, part, i));
            if (node == NULL) return false;
            stage_of[json_integer_value(node)] = stage;
        }
        name += length + (name[length] == '+');
    }
    return true;
}

const uint32_t *run_report_stages(struct arena *arena, const struct run_report *report,
                                  const struct graph *graph, const char **unknown)
{
    json_t *nodes = json_object();
    uint32_t *stage_of = ARENA_ARRAY(arena, uint32_t, graph->nodes.count + 1);
    *unknown = NULL;
    for (size_t n = 0; n < graph->nodes.count; n++) {
        stage_of[n] = GRAPH_NONE;
        json_object_set_new(nodes, graph->nodes.items[n].name, json_integer((json_int_t)n));
    }
    for (size_t s = 0; s < report->stages.count && *unknown == NULL; s++)
        if (!find_stage_nodes(arena, nodes, report->stages.items[s].name, (uint32_t)s, stage_of))
            *unknown = report->stages.items[s].name;
    json_decref(nodes);
    return *unknown == NULL ? stage_of : NULL;
}

const double *run_report_loads(struct arena *arena, const struct run_report *report,
                               const uint32_t *stage_of, size_t node_count)
{
    uint64_t most = 1;
    double *loads = ARENA_ARRAY(arena, double, node_count + 1);
    for (size_t s = 0; s < report->stages.count; s++)
        if (report->stages.items[s].execute_cycles > most)
            most = report->stages.items[s].execute_cycles;
    for (size_t n = 0; n < node_count; n++)
        if (stage_of[n] != GRAPH_NONE)
            loads[n] = (double)report->stages.items[stage_of[n]].execute_cycles / (double)most;
    return loads;
}
