/* SPDX-License-Identifier: MIT */
/* The statistics as JSON. */
#include "base/arithmetic.h"
#include "base/json_write.h"
#include "runtime/observe/report.h"

static const char *const form_keys[PRT_LAUNCH_FORMS] = {"full", "reference", "condensed"};
static const char *const cause_keys[PRT_STALL_CAUSES] = {
#define STALL(NAME, key) [PRT_STALL_##NAME] = key,
#include "lang/stalls.def"
#undef STALL
};

static void put_forms(struct json *json, const char *key, const uint64_t *numbers)
{
    json_begin(json, key, '{');
    for (int i = 0; i < PRT_LAUNCH_FORMS; i++)
        json_number(json, form_keys[i], numbers[i]);
    json_end(json, '}');
}

/* ---- stages ---- */

static void put_waits_of(struct json *json, const struct prt_run *run, uint32_t stage)
{
    struct prt_wait_statistics wait;
    json_begin(json, "waits", '[');
    for (uint32_t i = 0; prt_run_wait(run, stage, i, &wait); i++) {
        if (wait.cycles == 0) continue;
        json_begin(json, NULL, '{');
        json_text(json, "cause", cause_keys[wait.cause]);
        json_text(json, "buffer", wait.buffer);
        json_number(json, "cycles", wait.cycles);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_stage_time(struct json *json, const struct prt_run *run, uint32_t stage,
                           const struct prt_stage_time *t)
{
    json_number(json, "index_cycles", t->index_cycles);
    json_number(json, "device_queue_cycles", t->device_queue_cycles);
    json_number(json, "compute_cycles", t->compute_cycles);
    json_number(json, "memory_cycles", t->memory_cycles);
    json_number(json, "memory_bound_cycles", t->memory_bound_cycles);
    json_number(json, "warps", t->warps);
    json_number(json, "queue", t->queue);
    json_number(json, "interruptions", t->interruptions);
    json_number(json, "latency_cycles", t->latency_cycles);
    json_number(json, "latency_most_cycles", t->latency_most_cycles);
    put_forms(json, "launches", t->launches);
    json_begin(json, "stalls", '{');
    for (int i = 0; i < PRT_STALL_CAUSES; i++)
        json_number(json, cause_keys[i], t->stall_cycles[i]);
    json_end(json, '}');
    put_waits_of(json, run, stage);
}

static void put_run_stages(struct json *json, const struct prt_run *run)
{
    struct prt_stage_statistics s;
    struct prt_stage_time t;
    json_begin(json, "stages", '[');
    for (uint32_t i = 0; prt_run_stage(run, i, &s); i++) {
        json_begin_line(json, NULL, '{');
        json_text(json, "name", s.name);
        json_text(json, "kernel", s.kernel);
        json_number(json, "cu_count", s.cu_count);
        json_number(json, "firings", s.firings);
        json_number(json, "dispatches", s.dispatches);
        bool measured = prt_run_stage_time(run, i, &t);
        json_number(json, "execute_cycles", measured ? t.execute_cycles : s.execute_cycles);
        json_number(json, "launch_cycles", s.launch_cycles);
        json_number(json, "switch_cycles", s.switch_cycles);
        if (measured) put_stage_time(json, run, i, &t);
        json_end(json, '}');
    }
    json_end(json, ']');
}

/* ---- buffers and outputs ---- */

static void put_run_buffers(struct json *json, const struct prt_run *run)
{
    struct prt_buffer_statistics b;
    json_begin(json, "buffers", '[');
    for (uint32_t i = 0; prt_run_buffer(run, i, &b); i++) {
        json_begin_line(json, NULL, '{');
        json_text(json, "name", b.name);
        json_boolean(json, "outer", b.port != PRT_NONE);
        json_number(json, "width_bytes", b.width_bytes);
        json_number(json, "depth_packets", b.depth_packets);
        json_number(json, "planned_packets", b.planned_packets);
        json_number(json, "packets", b.packets);
        json_number(json, "high_water_packets", b.high_water_packets);
        json_number(json, "discarded_packets", b.discarded_packets);
        json_number(json, "leftover_packets", b.leftover_packets);
        json_number(json, "suspensions", b.suspensions);
        json_number(json, "host_cycles", b.host_cycles);
        json_boolean(json, "arrives", b.arrives);
        json_number(json, "arrival_cycles", b.arrival_cycles);
        json_number(json, "rest_cycles", b.rest_cycles);
        json_number(json, "rest_most_cycles", b.rest_most_cycles);
        json_number(json, "late_packets", b.late_packets);
        json_number(json, "late_cycles", b.late_cycles);
        json_number(json, "late_least_cycles", b.late_least_cycles);
        json_number(json, "late_most_cycles", b.late_most_cycles);
        json_end(json, '}');
    }
    json_end(json, ']');
}

/* Of the buffers inside of stages: the others say it of themselves. */
static void put_inside_buffers(struct json *json, const struct prt_run *run)
{
    struct prt_leftover_statistics l;
    bool any = false;
    for (uint32_t i = 0; prt_run_leftover(run, i, &l); i++) {
        if (!l.inside) continue;
        if (!any) json_begin(json, "inside", '[');
        any = true;
        json_begin_line(json, NULL, '{');
        json_text(json, "name", l.buffer);
        json_number(json, "leftover_packets", max64(l.few_packets, l.stranded_packets));
        json_end(json, '}');
    }
    if (any) json_end(json, ']');
}

static void put_outputs(struct json *json, const struct prt_run *run)
{
    struct prt_output_statistics o;
    struct prt_stage_statistics stage;
    json_begin(json, "outputs", '[');
    for (uint32_t i = 0; prt_run_output(run, i, &o); i++) {
        prt_run_stage(run, o.stage, &stage);
        json_begin_line(json, NULL, '{');
        json_text(json, "stage", stage.name);
        json_text(json, "buffer", o.buffer);
        json_boolean(json, "bounded", o.ranges);
        json_number(json, "declared_least", o.declared_least);
        json_number(json, "declared_most", o.declared_most);
        json_number(json, "observed_most", o.observed_most);
        json_number(json, "firings", o.firings);
        json_number(json, "packets", o.packets);
        json_number(json, "frees_at_most_bytes", o.frees_bytes);
        json_end(json, '}');
    }
    json_end(json, ']');
}

/* ---- the device ---- */

static void put_queues(struct json *json, const struct prt_run *run, uint32_t count)
{
    struct prt_queue_statistics q;
    json_begin(json, "queues", '[');
    for (uint32_t i = 0; i < count; i++) {
        if (!prt_run_queue(run, i, &q)) continue;
        json_begin_line(json, NULL, '{');
        json_number(json, "queue", i);
        json_boolean(json, "root", q.root);
        json_number(json, "first_cu", q.first_cu);
        json_number(json, "cu_count", q.cu_count);
        json_number(json, "importance", q.importance);
        json_number(json, "launches", q.launches);
        json_number(json, "busy_cycles", q.busy_cycles);
        json_number(json, "execute_cycles", q.execute_cycles);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_units(struct json *json, const struct prt_run *run)
{
    uint64_t cycles;
    json_begin_line(json, "cu_busy_cycles", '[');
    for (uint32_t i = 0; prt_run_cu(run, i, &cycles); i++)
        json_number(json, NULL, cycles);
    json_end(json, ']');
}

static void put_dispatch(struct json *json, const struct prt_run *run,
                         const struct prt_device_statistics *d)
{
    struct prt_run_statistics s;
    prt_run_statistics(run, &s);
    json_begin_line(json, "dispatch", '{');
    put_forms(json, "packets", d->packets);
    put_forms(json, "launches", d->launches);
    json_number(json, "bytes", s.dispatched.bytes);
    json_number(json, "enqueue_cycles", d->enqueue_cycles);
    json_number(json, "process_cycles", d->process_cycles);
    json_number(json, "cleanup_cycles", d->cleanup_cycles);
    json_number(json, "cleanups", s.dispatched.clean_ups);
    json_number(json, "reference_stores", s.reference_stores);
    json_number(json, "spills", s.spills);
    json_number(json, "full_bytes", s.as_full.bytes);
    json_number(json, "full_cycles", s.as_full.overhead_cycles);
    json_end(json, '}');
}

static void put_index_generator(struct json *json, const struct prt_device_statistics *d)
{
    json_begin_line(json, "index", '{');
    json_number(json, "requests", d->index_requests);
    json_number(json, "resident", d->index_resident);
    json_number(json, "hits", d->index_hits);
    json_number(json, "misses", d->index_misses);
    json_number(json, "cycles", d->index_cycles);
    json_number(json, "saved_cycles", d->index_saved_cycles);
    json_end(json, '}');
}

static void put_device_queue(struct json *json, const struct prt_device_statistics *d)
{
    json_begin_line(json, "device_queue", '{');
    json_number(json, "launches", d->child_launches);
    json_number(json, "groups", d->child_groups);
    json_number(json, "cycles", d->child_cycles);
    json_number(json, "launch_cycles", d->child_launch_cycles);
    json_number(json, "wait_cycles", d->child_wait_cycles);
    json_number(json, "levels_most", d->child_levels_most);
    json_number(json, "entries_most", d->child_queue_most);
    json_number(json, "entries", d->child_queue_entries);
    json_end(json, '}');
}

static void put_children(struct json *json, const struct prt_run *run)
{
    struct prt_child_statistics c;
    json_begin_line(json, "children", '[');
    for (uint32_t i = 0; prt_run_child(run, i, &c); i++) {
        json_begin_line(json, NULL, '{');
        json_text(json, "kernel", c.kernel);
        json_text(json, "source", c.source);
        json_number(json, "line", c.line);
        json_number(json, "launches", c.launches);
        json_number(json, "groups", c.groups);
        json_number(json, "level_most", c.level_most);
        json_number(json, "cycles", c.cycles);
        json_number(json, "launch_cycles", c.launch_cycles);
        json_number(json, "wait_cycles", c.wait_cycles);
        json_number(json, "longest_cycles", c.longest_cycles);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_device_memory(struct json *json, const struct prt_device_statistics *d)
{
    json_begin_line(json, "memory", '{');
    json_number(json, "bytes", d->memory_taken_bytes);
    if (d->memory_bytes > 0)
        json_number(json, "limit_bytes", d->memory_bytes);
    else
        json_text(json, "limit_bytes", NULL);
    json_number(json, "buffers_bytes", d->memory_buffers_bytes);
    json_number(json, "ports_bytes", d->memory_ports_bytes);
    json_number(json, "blocks_bytes", d->memory_blocks_bytes);
    json_number(json, "indices_bytes", d->memory_indices_bytes);
    json_number(json, "device_queue_bytes", d->memory_queue_bytes);
    json_number(json, "launching_bytes", d->memory_launching_bytes);
    json_end(json, '}');
}

static void put_bottleneck(struct json *json, const struct prt_run *run)
{
    static const char *const limits[] = {"nothing", "compute",   "bandwidth",    "launch",
                                         "switch",  "scheduler", "dependencies", "children",
                                         "host",    "arrivals"};
    struct prt_bottleneck b;
    struct prt_stage_statistics stage;
    if (!prt_run_bottleneck(run, &b)) return;
    json_begin_line(json, "bottleneck", '{');
    json_text(json, "limit", limits[b.limit]);
    if (prt_run_stage(run, b.stage, &stage))
        json_text(json, "stage", stage.name);
    else
        json_text(json, "stage", NULL);
    json_number(json, "queue", b.queue);
    json_number(json, "busy_cycles", b.busy_cycles);
    json_number(json, "stage_cycles", b.stage_cycles);
    json_end(json, '}');
}

/* ---- all ---- */

static void put_totals(struct json *json, const struct prt_run *run)
{
    struct prt_run_statistics s;
    prt_run_statistics(run, &s);
    json_number(json, "total_cycles", s.total_cycles);
    json_number(json, "scheduler_cycles", s.scheduler_cycles);
    json_number(json, "instructions", s.instructions);
    json_number(json, "dispatches", s.dispatches);
    json_number(json, "launch_cycles", s.launch_cycles);
    json_number(json, "switch_cycles", s.switch_cycles);
    json_number(json, "execute_cycles", s.execute_cycles);
    json_number(json, "suspensions", s.suspensions);
    json_number(json, "host_cycles", s.host_cycles);
    json_number(json, "leftover_packets", s.leftover_packets);
    json_number(json, "discarded_packets", s.discarded_packets);
}

/* The program ran on a part of a larger device. */
static void put_part(struct json *json, const struct prt_device_statistics *d)
{
    json_begin_line(json, "part", '{');
    json_text(json, "of", d->name);
    json_number(json, "first_cu", d->part_first_cu);
    json_number(json, "cu_count", d->part_cu_count);
    json_end(json, '}');
}

void prt_report_json(FILE *to, const struct prt_program *program, const struct prt_run *run)
{
    struct prt_program_information p;
    struct prt_device_statistics d;
    struct prt_stage_time measured;
    struct json json = {.to = to};
    prt_program_information(program, &p);
    prt_run_device(run, &d);
    json_begin(&json, NULL, '{');
    json_number(&json, "version", 1);
    json_text(&json, "pipeline", p.name);
    json_text(&json, "device", p.device);
    if (d.part_cu_count < d.cu_count) put_part(&json, &d);
    json_text(&json, "isa", p.isa);
    json_number(&json, "clock_hz", d.clock_hz);
    json_text(&json, "time", d.real_time ? "real" : "simulated");
    put_totals(&json, run);
    put_bottleneck(&json, run);
    put_dispatch(&json, run, &d);
    put_device_memory(&json, &d);
    if (d.index_requests > 0) put_index_generator(&json, &d);
    if (d.child_launches > 0) {
        put_device_queue(&json, &d);
        put_children(&json, run);
    }
    put_run_stages(&json, run);
    put_run_buffers(&json, run);
    put_inside_buffers(&json, run);
    if (prt_run_stage_time(run, 0, &measured)) {
        put_outputs(&json, run);
        put_queues(&json, run, p.stage_count);
        put_units(&json, run);
    }
    json_end(&json, '}');
}
