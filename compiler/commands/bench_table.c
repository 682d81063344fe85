/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "compiler/commands/bench_run.h"
#include "base/json_write.h"

/* "12.3 us": three digits. */
static const char *time_text(struct arena *arena, double seconds)
{
    static const char *const units[] = {"s", "ms", "us", "ns"};
    size_t unit = 0;
    while (unit < 3 && seconds < 1) {
        seconds *= 1000;
        unit++;
    }
    int places = seconds >= 100 ? 0 : seconds >= 10 ? 1 : 2;
    return arena_printf(arena, "%.*f %s", places, seconds, units[unit]);
}

static const struct bench_stage *find_stage(const struct bench_device *device, const char *name)
{
    for (size_t i = 0; i < device->stages.count; i++)
        if (strcmp(device->stages.items[i].name, name) == 0) return &device->stages.items[i];
    return NULL;
}

struct names {
    VEC(const char *) items;
};

/* Fusion gives devices different stages: each name once, in the order of the first device that has it. */
static struct names stage_names(struct arena *arena, const struct bench_device *devices,
                                size_t count)
{
    struct names names = {0};
    for (size_t d = 0; d < count; d++)
        for (size_t s = 0; s < devices[d].stages.count; s++) {
            const char *name = devices[d].stages.items[s].name;
            size_t at = 0;
            while (at < names.items.count && strcmp(names.items.items[at], name) != 0)
                at++;
            if (at == names.items.count) vec_push(arena, &names.items, name);
        }
    return names;
}

static double busy_seconds(const struct bench_device *device)
{
    double sum = 0;
    for (size_t i = 0; i < device->stages.count; i++)
        sum += device->stages.items[i].busy_seconds;
    return sum;
}

static void print_cell(FILE *to, const char *text)
{
    fprintf(to, "  %12s", text);
}

static void print_row(FILE *to, int width, const char *name)
{
    fprintf(to, "%-*s", width, name);
}

static const struct bench_device *fastest_device(const struct bench_device *devices, size_t count,
                                                 bool is_real)
{
    const struct bench_device *best = NULL;
    for (size_t d = 0; d < count; d++)
        if (devices[d].is_there && devices[d].is_real == is_real &&
            (best == NULL || devices[d].run_seconds < best->run_seconds))
            best = &devices[d];
    return best;
}

/* Simulated time and real time are not compared. */
static void print_fastest(FILE *to, const struct bench_device *devices, size_t count)
{
    for (int real = 1; real >= 0; real--) {
        const struct bench_device *best = fastest_device(devices, count, real != 0);
        bool first = true;
        for (size_t d = 0; best != NULL && d < count; d++) {
            const struct bench_device *other = &devices[d];
            if (!other->is_there || other == best || other->is_real != best->is_real) continue;
            if (first)
                fprintf(to, "%s is the fastest%s:", best->name, real ? "" : " simulated one");
            fprintf(to, "%s %.2f times as fast as %s", first ? "" : ",",
                    other->run_seconds / best->run_seconds, other->name);
            first = false;
        }
        if (!first) fputc('\n', to);
    }
}

static void print_times(FILE *to, struct arena *arena, const struct bench_device *devices,
                        size_t count, int width, const char *stage)
{
    print_row(to, width, stage);
    for (size_t d = 0; d < count; d++) {
        if (!devices[d].is_there) continue;
        const struct bench_stage *found = find_stage(&devices[d], stage);
        print_cell(to, found != NULL ? time_text(arena, found->busy_seconds) : "-");
    }
    fputc('\n', to);
}

void bench_print_text(FILE *to, struct arena *arena, const struct bench_device *devices,
                      size_t count)
{
    static const char *const sums[] = {"all stages", "inputs, outputs", "whole run"};
    struct names names = stage_names(arena, devices, count);
    int width = (int)strlen(sums[1]);
    for (size_t i = 0; i < names.items.count; i++)
        if ((int)strlen(names.items.items[i]) > width) width = (int)strlen(names.items.items[i]);
    print_row(to, width, "stage");
    for (size_t d = 0; d < count; d++)
        if (devices[d].is_there) print_cell(to, devices[d].name);
    fputc('\n', to);
    for (size_t i = 0; i < names.items.count; i++)
        print_times(to, arena, devices, count, width, names.items.items[i]);
    for (size_t row = 0; row < sizeof sums / sizeof *sums; row++) {
        print_row(to, width, sums[row]);
        for (size_t d = 0; d < count; d++) {
            const struct bench_device *device = &devices[d];
            const double values[] = {busy_seconds(device), device->host_seconds,
                                     device->run_seconds};
            if (device->is_there) print_cell(to, time_text(arena, values[row]));
        }
        fputc('\n', to);
    }
    print_fastest(to, devices, count);
}

static void put_nanoseconds(struct json *json, const char *key, double seconds)
{
    json_number(json, key, (uint64_t)(seconds * 1e9 + 0.5));
}

void bench_put_json(struct json *json, const struct bench_device *devices, size_t count)
{
    json_begin(json, "devices", '[');
    for (size_t d = 0; d < count; d++) {
        const struct bench_device *device = &devices[d];
        if (!device->is_there) continue;
        json_begin(json, NULL, '{');
        json_text(json, "device", device->name);
        json_text(json, "time", device->is_real ? "real" : "simulated");
        put_nanoseconds(json, "run_ns", device->run_seconds);
        put_nanoseconds(json, "host_ns", device->host_seconds);
        json_begin(json, "stages", '[');
        for (size_t s = 0; s < device->stages.count; s++) {
            const struct bench_stage *stage = &device->stages.items[s];
            json_begin_line(json, NULL, '{');
            json_text(json, "name", stage->name);
            json_number(json, "firings", stage->firings);
            put_nanoseconds(json, "busy_ns", stage->busy_seconds);
            json_end(json, '}');
        }
        json_end(json, ']');
        json_end(json, '}');
    }
    json_end(json, ']');
}
