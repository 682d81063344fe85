/* The statistics as JSON. */
#include "runtime/observe/json_stream.h"
#include "runtime/observe/report.h"

static const char *const form_keys[PRT_LAUNCH_FORMS] = {"full", "reference", "condensed"};
static const char *const cause_keys[PRT_STALL_CAUSES] = {
    "packets", "room", "threshold", "units", "completion", "scheduler", "ended", "interrupted"};

static bool write_file(void *context, const char *bytes, size_t size)
{
    return fwrite(bytes, 1, size, context) == size;
}

static void forms(struct prt_json *json, const char *key, const uint64_t *numbers)
{
    prt_json_begin(json, key, '{');
    for (int i = 0; i < PRT_LAUNCH_FORMS; i++)
        prt_json_number(json, form_keys[i], numbers[i]);
    prt_json_end(json, '}');
}

/* ---- stages ---- */

static void waits(struct prt_json *json, const struct prt_run *run, uint32_t stage)
{
    struct prt_wait_statistics wait;
    prt_json_begin(json, "waits", '[');
    for (uint32_t i = 0; prt_run_wait(run, stage, i, &wait); i++) {
        if (wait.cycles == 0) continue;
        prt_json_begin(json, NULL, '{');
        prt_json_text(json, "cause", cause_keys[wait.cause]);
        prt_json_text(json, "buffer", wait.buffer);
        prt_json_number(json, "cycles", wait.cycles);
        prt_json_end(json, '}');
    }
    prt_json_end(json, ']');
}

static void stage_time(struct prt_json *json, const struct prt_run *run, uint32_t stage,
                       const struct prt_stage_time *t)
{
    prt_json_number(json, "index_cycles", t->index_cycles);
    prt_json_number(json, "device_queue_cycles", t->device_queue_cycles);
    prt_json_number(json, "compute_cycles", t->compute_cycles);
    prt_json_number(json, "memory_cycles", t->memory_cycles);
    prt_json_number(json, "memory_bound_cycles", t->memory_bound_cycles);
    prt_json_number(json, "warps", t->warps);
    prt_json_number(json, "queue", t->queue);
    prt_json_number(json, "interruptions", t->interruptions);
    prt_json_number(json, "latency_cycles", t->latency_cycles);
    prt_json_number(json, "latency_most_cycles", t->latency_most_cycles);
    forms(json, "launches", t->launches);
    prt_json_begin(json, "stalls", '{');
    for (int i = 0; i < PRT_STALL_CAUSES; i++)
        prt_json_number(json, cause_keys[i], t->stall_cycles[i]);
    prt_json_end(json, '}');
    waits(json, run, stage);
}

static void stages(struct prt_json *json, const struct prt_run *run)
{
    struct prt_stage_statistics s;
    struct prt_stage_time t;
    prt_json_begin(json, "stages", '[');
    for (uint32_t i = 0; prt_run_stage(run, i, &s); i++) {
        prt_json_begin_line(json, NULL, '{');
        prt_json_text(json, "name", s.name);
        prt_json_text(json, "kernel", s.kernel);
        prt_json_number(json, "cu_count", s.cu_count);
        prt_json_number(json, "firings", s.firings);
        prt_json_number(json, "dispatches", s.dispatches);
        bool measured = prt_run_stage_time(run, i, &t);
        prt_json_number(json, "execute_cycles", measured ? t.execute_cycles : s.execute_cycles);
        prt_json_number(json, "launch_cycles", s.launch_cycles);
        prt_json_number(json, "switch_cycles", s.switch_cycles);
        if (measured) stage_time(json, run, i, &t);
        prt_json_end(json, '}');
    }
    prt_json_end(json, ']');
}

/* ---- buffers and outputs ---- */

static void buffers(struct prt_json *json, const struct prt_run *run)
{
    struct prt_buffer_statistics b;
    prt_json_begin(json, "buffers", '[');
    for (uint32_t i = 0; prt_run_buffer(run, i, &b); i++) {
        prt_json_begin_line(json, NULL, '{');
        prt_json_text(json, "name", b.name);
        prt_json_boolean(json, "outer", b.port != PRT_NONE);
        prt_json_number(json, "width_bytes", b.width_bytes);
        prt_json_number(json, "depth_packets", b.depth_packets);
        prt_json_number(json, "packets", b.packets);
        prt_json_number(json, "high_water_packets", b.high_water_packets);
        prt_json_number(json, "discarded_packets", b.discarded_packets);
        prt_json_number(json, "leftover_packets", b.leftover_packets);
        prt_json_number(json, "suspensions", b.suspensions);
        prt_json_number(json, "host_cycles", b.host_cycles);
        prt_json_end(json, '}');
    }
    prt_json_end(json, ']');
}

static void outputs(struct prt_json *json, const struct prt_run *run)
{
    struct prt_output_statistics o;
    struct prt_stage_statistics stage;
    prt_json_begin(json, "outputs", '[');
    for (uint32_t i = 0; prt_run_output(run, i, &o); i++) {
        prt_run_stage(run, o.stage, &stage);
        prt_json_begin_line(json, NULL, '{');
        prt_json_text(json, "stage", stage.name);
        prt_json_text(json, "buffer", o.buffer);
        prt_json_boolean(json, "bounded", o.ranges);
        prt_json_number(json, "declared_least", o.declared_least);
        prt_json_number(json, "declared_most", o.declared_most);
        prt_json_number(json, "observed_most", o.observed_most);
        prt_json_number(json, "firings", o.firings);
        prt_json_number(json, "packets", o.packets);
        prt_json_number(json, "frees_at_most_bytes", o.frees_bytes);
        prt_json_end(json, '}');
    }
    prt_json_end(json, ']');
}

/* ---- the device ---- */

static void queues(struct prt_json *json, const struct prt_run *run, uint32_t count)
{
    struct prt_queue_statistics q;
    prt_json_begin(json, "queues", '[');
    for (uint32_t i = 0; i < count; i++) {
        if (!prt_run_queue(run, i, &q)) continue;
        prt_json_begin_line(json, NULL, '{');
        prt_json_number(json, "queue", i);
        prt_json_boolean(json, "root", q.root);
        prt_json_number(json, "first_cu", q.first_cu);
        prt_json_number(json, "cu_count", q.cu_count);
        prt_json_number(json, "importance", q.importance);
        prt_json_number(json, "launches", q.launches);
        prt_json_number(json, "busy_cycles", q.busy_cycles);
        prt_json_number(json, "execute_cycles", q.execute_cycles);
        prt_json_end(json, '}');
    }
    prt_json_end(json, ']');
}

static void units(struct prt_json *json, const struct prt_run *run)
{
    uint64_t cycles;
    prt_json_begin_line(json, "cu_busy_cycles", '[');
    for (uint32_t i = 0; prt_run_cu(run, i, &cycles); i++)
        prt_json_number(json, NULL, cycles);
    prt_json_end(json, ']');
}

static void dispatch(struct prt_json *json, const struct prt_run *run,
                     const struct prt_device_statistics *d)
{
    struct prt_run_statistics s;
    prt_run_statistics(run, &s);
    prt_json_begin_line(json, "dispatch", '{');
    forms(json, "packets", d->packets);
    forms(json, "launches", d->launches);
    prt_json_number(json, "bytes", s.dispatched.bytes);
    prt_json_number(json, "enqueue_cycles", d->enqueue_cycles);
    prt_json_number(json, "process_cycles", d->process_cycles);
    prt_json_number(json, "cleanup_cycles", d->cleanup_cycles);
    prt_json_number(json, "cleanups", s.dispatched.clean_ups);
    prt_json_number(json, "reference_stores", s.reference_stores);
    prt_json_number(json, "spills", s.spills);
    prt_json_number(json, "full_bytes", s.as_full.bytes);
    prt_json_number(json, "full_cycles", s.as_full.overhead_cycles);
    prt_json_end(json, '}');
}

static void index_generator(struct prt_json *json, const struct prt_device_statistics *d)
{
    prt_json_begin_line(json, "index", '{');
    prt_json_number(json, "requests", d->index_requests);
    prt_json_number(json, "resident", d->index_resident);
    prt_json_number(json, "hits", d->index_hits);
    prt_json_number(json, "misses", d->index_misses);
    prt_json_number(json, "cycles", d->index_cycles);
    prt_json_number(json, "saved_cycles", d->index_saved_cycles);
    prt_json_end(json, '}');
}

static void device_queue(struct prt_json *json, const struct prt_device_statistics *d)
{
    prt_json_begin_line(json, "device_queue", '{');
    prt_json_number(json, "launches", d->child_launches);
    prt_json_number(json, "cycles", d->child_cycles);
    prt_json_number(json, "launch_cycles", d->child_launch_cycles);
    prt_json_number(json, "wait_cycles", d->child_wait_cycles);
    prt_json_number(json, "levels_most", d->child_levels_most);
    prt_json_number(json, "entries_most", d->child_queue_most);
    prt_json_number(json, "entries", d->child_queue_entries);
    prt_json_end(json, '}');
}

static void memory(struct prt_json *json, const struct prt_device_statistics *d)
{
    prt_json_begin_line(json, "memory", '{');
    prt_json_number(json, "bytes", d->memory_taken_bytes);
    if (d->memory_bytes > 0)
        prt_json_number(json, "limit_bytes", d->memory_bytes);
    else
        prt_json_null(json, "limit_bytes");
    prt_json_number(json, "buffers_bytes", d->memory_buffers_bytes);
    prt_json_number(json, "ports_bytes", d->memory_ports_bytes);
    prt_json_number(json, "blocks_bytes", d->memory_blocks_bytes);
    prt_json_number(json, "indices_bytes", d->memory_indices_bytes);
    prt_json_number(json, "device_queue_bytes", d->memory_queue_bytes);
    prt_json_number(json, "launching_bytes", d->memory_launching_bytes);
    prt_json_end(json, '}');
}

static void bottleneck(struct prt_json *json, const struct prt_run *run)
{
    static const char *const limits[] = {"nothing",      "compute",  "bandwidth",
                                         "launch",       "switch",   "scheduler",
                                         "dependencies", "children", "host"};
    struct prt_bottleneck b;
    struct prt_stage_statistics stage;
    if (!prt_run_bottleneck(run, &b)) return;
    prt_json_begin_line(json, "bottleneck", '{');
    prt_json_text(json, "limit", limits[b.limit]);
    if (prt_run_stage(run, b.stage, &stage))
        prt_json_text(json, "stage", stage.name);
    else
        prt_json_null(json, "stage");
    prt_json_number(json, "queue", b.queue);
    prt_json_number(json, "busy_cycles", b.busy_cycles);
    prt_json_number(json, "stage_cycles", b.stage_cycles);
    prt_json_end(json, '}');
}

/* ---- all ---- */

static void totals(struct prt_json *json, const struct prt_run *run)
{
    struct prt_run_statistics s;
    prt_run_statistics(run, &s);
    prt_json_number(json, "total_cycles", s.total_cycles);
    prt_json_number(json, "scheduler_cycles", s.scheduler_cycles);
    prt_json_number(json, "instructions", s.instructions);
    prt_json_number(json, "dispatches", s.dispatches);
    prt_json_number(json, "launch_cycles", s.launch_cycles);
    prt_json_number(json, "switch_cycles", s.switch_cycles);
    prt_json_number(json, "execute_cycles", s.execute_cycles);
    prt_json_number(json, "suspensions", s.suspensions);
    prt_json_number(json, "host_cycles", s.host_cycles);
    prt_json_number(json, "leftover_packets", s.leftover_packets);
    prt_json_number(json, "discarded_packets", s.discarded_packets);
}

/* Of a larger device. */
static void part(struct prt_json *json, const struct prt_device_statistics *d)
{
    prt_json_begin_line(json, "part", '{');
    prt_json_text(json, "of", d->name);
    prt_json_number(json, "first_cu", d->part_first_cu);
    prt_json_number(json, "cu_count", d->part_cu_count);
    prt_json_end(json, '}');
}

void prt_report_json(FILE *to, const struct prt_program *program, const struct prt_run *run)
{
    struct prt_program_information p;
    struct prt_device_statistics d;
    struct prt_stage_time measured;
    struct prt_json json = {.write = write_file, .context = to};
    prt_program_information(program, &p);
    prt_run_device(run, &d);
    prt_json_begin(&json, NULL, '{');
    prt_json_number(&json, "version", 1);
    prt_json_text(&json, "pipeline", p.name);
    prt_json_text(&json, "device", p.device);
    if (d.part_cu_count < d.cu_count) part(&json, &d);
    prt_json_text(&json, "isa", p.isa);
    prt_json_number(&json, "clock_hz", d.clock_hz);
    prt_json_text(&json, "time", d.real_time ? "real" : "simulated");
    totals(&json, run);
    bottleneck(&json, run);
    dispatch(&json, run, &d);
    memory(&json, &d);
    if (d.index_requests > 0) index_generator(&json, &d);
    if (d.child_launches > 0) device_queue(&json, &d);
    stages(&json, run);
    buffers(&json, run);
    if (prt_run_stage_time(run, 0, &measured)) {
        outputs(&json, run);
        queues(&json, run, p.stage_count);
        units(&json, run);
    }
    prt_json_end(&json, '}');
    prt_json_flush(&json);
}
