/* SPDX-License-Identifier: MIT */
/* The statistics as text. */
#include "base/terminal_text.h"
#include "base/plural.h"
#include "runtime/observe/report.h"
#include "runtime/observe/text_table.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_COLUMNS_MAX = 32 };

struct text {
    FILE *to;
    const struct prt_program *program;
    const struct prt_run *run;
    struct prt_run_statistics total;
    struct prt_device_statistics device;
    uint32_t stage_count;
    unsigned width; /* of names */
    bool measured;
};

static double share_percent(const struct text *t, uint64_t cycles)
{
    return prt_text_percent(cycles, t->total.total_cycles);
}

static void widen_report_column(unsigned *width, const char *name)
{
    unsigned columns = terminal_text_columns(name);
    if (columns > *width) *width = columns < NAME_COLUMNS_MAX ? columns : NAME_COLUMNS_MAX;
}

static unsigned name_width(const struct prt_run *run)
{
    struct prt_stage_statistics stage;
    struct prt_buffer_statistics buffer;
    unsigned width = 6;
    for (uint32_t i = 0; prt_run_stage(run, i, &stage); i++)
        widen_report_column(&width, stage.name);
    for (uint32_t i = 0; prt_run_buffer(run, i, &buffer); i++) {
        widen_report_column(&width, buffer.name);
        if (buffer.arrives) widen_report_column(&width, "arrivals");
    }
    return width;
}

static uint64_t busy_cycles(const struct prt_stage_time *time)
{
    return time->execute_cycles + time->index_cycles + time->device_queue_cycles;
}

/* ---- the bottleneck ---- */

/* The longest wait of the stage, except for its own end and for other work on its units. */
static void print_longest_wait(const struct text *t, uint32_t stage)
{
    static const char *const kinds[] = {"packets in", "room in"};
    struct prt_wait_statistics wait, longest = {.cycles = 0};
    for (uint32_t i = 0; prt_run_wait(t->run, stage, i, &wait); i++) {
        if (wait.cycles > longest.cycles) longest = wait;
    }
    if (longest.cycles == 0) return;
    fprintf(t->to, ", and waits %.1f%% for %s '", share_percent(t, longest.cycles),
            kinds[longest.cause == PRT_STALL_ROOM]);
    terminal_text_print(t->to, longest.buffer);
    fputc('\'', t->to);
}

/* "'fir': its 4 CUs are", or "the 16 CUs that 3 stages share, which are"; of the host's own device,
 * whose threads execute whatever there is, "'fir': 2 threads are". */
static void print_queue_owner(const struct text *t, const struct prt_bottleneck *b,
                              const struct prt_stage_statistics *stage)
{
    uint32_t count = t->device.real_time ? t->total.host_threads : stage->cu_count;
    const char *noun = t->device.real_time ? "thread" : "CU", *are = count == 1 ? "is" : "are";
    if (b->stage_count > 1) {
        fputs("the ", t->to);
        if (count > 1) fprintf(t->to, "%" PRIu32 " ", count);
        fprintf(t->to, "%s%s that %" PRIu32 " stages share, which %s", noun, plural(count),
                b->stage_count, are);
        return;
    }
    fputc('\'', t->to);
    terminal_text_print(t->to, stage->name);
    fputs("': its ", t->to);
    if (count > 1) fprintf(t->to, "%" PRIu32 " ", count);
    fprintf(t->to, "%s%s %s", noun, plural(count), are);
}

/* For a program with one stage: its longest state other than busy. */
static void print_longest_state(const struct text *t, const struct prt_stage_time *time)
{
    static const char *const rests[PRT_STALL_CAUSES] = {
        [PRT_STALL_PACKETS] = "waits for packets",
        [PRT_STALL_ROOM] = "waits for room",
        [PRT_STALL_THRESHOLD] = "waits for as many firings as its threshold asks for",
        [PRT_STALL_UNITS] = "waits for its launches to begin",
        [PRT_STALL_COMPLETION] = "waits for its launches to be completed",
        [PRT_STALL_SCHEDULER] = "waits for the scheduler",
        [PRT_STALL_ENDED] = "has ended",
        [PRT_STALL_INTERRUPTED] = "is interrupted",
    };
    int longest = 0;
    for (int c = 1; c < PRT_STALL_CAUSES; c++)
        if (time->stall_cycles[c] > time->stall_cycles[longest]) longest = c;
    if (time->stall_cycles[longest] == 0) return;
    fprintf(t->to, ", and %s %.1f%%", rests[longest],
            share_percent(t, time->stall_cycles[longest]));
}

static void print_dependencies(const struct text *t, const struct prt_bottleneck *b,
                               const struct prt_stage_statistics *stage)
{
    struct prt_stage_time time;
    prt_run_stage_time(t->run, b->stage, &time);
    fputs("limited by no resource: ", t->to);
    fputs(t->stage_count > 1 ? "stages wait for each other; '" : "'", t->to);
    terminal_text_print(t->to, stage->name);
    fprintf(t->to, "' is busy %s%.1f%% of the time", t->stage_count > 1 ? "longest, " : "",
            share_percent(t, busy_cycles(&time)));
    if (t->stage_count > 1)
        print_longest_wait(t, b->stage);
    else
        print_longest_state(t, &time);
    fputc('\n', t->to);
}

static void print_limit(const struct text *t)
{
    static const char *const reasons[] = {
        [PRT_LIMIT_COMPUTE] = "computing",
        [PRT_LIMIT_BANDWIDTH] = "waiting for memory: its packets need the bandwidth",
        [PRT_LIMIT_LAUNCH] = "with the overhead of launches",
        [PRT_LIMIT_CHILDREN] = "with the kernels that it launches on the device",
        [PRT_LIMIT_SWITCH] = "with switches from one stage to another",
    };
    struct prt_bottleneck b;
    struct prt_stage_statistics stage;
    if (!prt_run_bottleneck(t->run, &b) || b.limit == PRT_LIMIT_NOTHING) return;
    if (b.limit == PRT_LIMIT_SCHEDULER) {
        fprintf(t->to, "limited by the scheduler, whose instructions take %.1f%% of the time\n",
                share_percent(t, b.busy_cycles));
        return;
    }
    if (b.limit == PRT_LIMIT_HOST) {
        fprintf(
            t->to,
            "limited by the host, which writes the inputs and reads the outputs: the device waits "
            "for it %.1f%% of the time\n",
            share_percent(t, b.busy_cycles));
        return;
    }
    if (b.limit == PRT_LIMIT_ARRIVALS) {
        fprintf(t->to,
                "limited by the times at which packets arrive: the device waits for them %.1f%% of "
                "the time\n",
                share_percent(t, b.busy_cycles));
        return;
    }
    prt_run_stage(t->run, b.stage, &stage);
    if (b.limit == PRT_LIMIT_DEPENDENCIES) {
        print_dependencies(t, &b, &stage);
        return;
    }
    fputs("limited by ", t->to);
    print_queue_owner(t, &b, &stage);
    fprintf(t->to, " busy %.1f%% of the time, mostly %s", share_percent(t, b.busy_cycles),
            reasons[b.limit]);
    if (b.stage_count > 1) {
        fputs("; the largest part of that is '", t->to);
        terminal_text_print(t->to, stage.name);
        fprintf(t->to, "', %.1f%%", prt_text_percent(b.stage_cycles, b.busy_cycles));
    }
    fputc('\n', t->to);
}

/* ---- the head ---- */

static void print_seconds(const struct text *t)
{
    double seconds = (double)t->total.total_cycles / (double)t->device.clock_hz;
    if (seconds >= 1)
        fprintf(t->to, "%.3f s", seconds);
    else if (seconds >= 1e-3)
        fprintf(t->to, "%.3f ms", seconds * 1e3);
    else
        fprintf(t->to, "%.3f us", seconds * 1e6);
}

static void print_time(const struct text *t)
{
    fprintf(t->to, "%" PRIu64 " cycle%s", t->total.total_cycles, plural(t->total.total_cycles));
    if (t->device.clock_hz == 0) return;
    fputs(", ", t->to);
    print_seconds(t);
    fprintf(t->to, " at %.0f MHz", (double)t->device.clock_hz / 1e6);
}

/* For the host's own device or a GPU; the program may have been compiled for another one. */
static void print_real_time(const struct text *t, const struct prt_program_information *program)
{
    const char *backend = t->device.backend;
    fputs(backend, t->to);
    if (strncmp(program->device, backend, strlen(backend)) != 0) {
        fputs(" (compiled for ", t->to);
        terminal_text_print(t->to, program->device);
        fputc(')', t->to);
    }
    fputs(": ", t->to);
    print_seconds(t);
    fputs(" of real time; cycles are nanoseconds", t->to);
}

static void print_launches(const struct text *t)
{
    static const char *const forms[] = {"full", "reference", "condensed"};
    const struct prt_device_statistics *d = &t->device;
    const struct prt_dispatch_account *sent = &t->total.dispatched;
    fprintf(t->to, "%" PRIu64 " launch%s in %" PRIu64 " packet%s (", sent->launches,
            sent->launches == 1 ? "" : "es", sent->packets, plural(sent->packets));
    const char *before = "";
    for (int i = PRT_LAUNCH_FORMS - 1; i >= 0; i--) {
        if (d->packets[i] == 0) continue;
        fprintf(t->to, "%s%" PRIu64 " %s", before, d->packets[i], forms[i]);
        before = ", ";
    }
    fprintf(t->to, ") of %" PRIu64 " bytes", sent->bytes);
    if (t->total.spills > 0)
        fprintf(t->to, "; %" PRIu64 " spill%s: launches by other stages' entries", t->total.spills,
                plural(t->total.spills));
    fputc('\n', t->to);
}

/* The overhead in the run's own mode, and with full packets only. */
static void print_overhead(const struct text *t)
{
    const struct prt_dispatch_account *full = &t->total.as_full;
    uint64_t rest = t->total.execute_cycles + t->total.switch_cycles;
    uint64_t launch = t->total.launch_cycles, spent = t->total.dispatched.overhead_cycles;
    uint64_t hidden = spent > launch ? spent - launch : 0;
    fprintf(t->to, "launch overhead %" PRIu64 " cycles, %.1f%% of all busy time", launch,
            prt_text_percent(launch, launch + rest));
    if (hidden > 0) fprintf(t->to, ", %" PRIu64 " more while others executed", hidden);
    if (full->overhead_cycles != launch + hidden)
        fprintf(t->to, " (by full packets: %" PRIu64 " bytes, %" PRIu64 " cycles, %.1f%%)",
                full->bytes, full->overhead_cycles,
                prt_text_percent(full->overhead_cycles, full->overhead_cycles + rest));
    fprintf(t->to, "; switches %" PRIu64 "\n", t->total.switch_cycles);
}

/* Lists the ports for which the scheduler was suspended, if there are several. */
static void print_suspensions(const struct text *t)
{
    struct prt_buffer_statistics b;
    const char *before = " (";
    fprintf(t->to, "suspended %" PRIu64 " time%s for input", t->total.suspensions,
            plural(t->total.suspensions));
    for (uint32_t i = 0; prt_run_buffer(t->run, i, &b); i++) {
        if (b.suspensions == 0 || b.suspensions == t->total.suspensions) continue;
        fprintf(t->to, "%s%" PRIu64 " '", before, b.suspensions);
        terminal_text_print(t->to, b.name);
        fputc('\'', t->to);
        before = ", ";
    }
    if (before[0] == ',') fputc(')', t->to);
}

static void print_scheduler(const struct text *t, const struct prt_program_information *program)
{
    fputs("scheduler ", t->to);
    if (!t->device.real_time) fprintf(t->to, "%" PRIu64 " cycles in ", t->total.scheduler_cycles);
    fprintf(t->to, "%" PRIu64 " instructions", t->total.instructions);
    if (t->total.dispatches > 0)
        fprintf(t->to, " (%.1f a dispatch)",
                (double)t->total.instructions / (double)t->total.dispatches);
    fputs(", ", t->to);
    print_suspensions(t);
    fprintf(t->to, "; %" PRIu32 " host thread%s", t->total.host_threads,
            plural(t->total.host_threads));
    if (program->isa[0] != '\0') fprintf(t->to, ", kernels for %s", program->isa);
    fputc('\n', t->to);
}

/* Prints the device's memory, part by part. */
static void print_run_memory(const struct text *t)
{
    const struct prt_device_statistics *d = &t->device;
    const struct {
        const char *name;
        uint64_t bytes;
    } parts[] = {{"buffers", d->memory_buffers_bytes},
                 {"ports", d->memory_ports_bytes},
                 {"arguments, tables and state", d->memory_blocks_bytes},
                 {"index memory", d->memory_indices_bytes},
                 {"device queue", d->memory_queue_bytes},
                 {"dispatch packets and reference table", d->memory_launching_bytes}};
    const char *before = ": ";
    fprintf(t->to, "memory %" PRIu64, d->memory_taken_bytes);
    if (d->memory_bytes > 0) fprintf(t->to, " of %" PRIu64, d->memory_bytes);
    fputs(" bytes", t->to);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].bytes == 0) continue;
        fprintf(t->to, "%s%s %" PRIu64, before, parts[i].name, parts[i].bytes);
        before = ", ";
    }
    fputc('\n', t->to);
}

/* Prints the buffers that the run has deepened for its threads. */
static void print_growth(const struct text *t)
{
    struct prt_buffer_statistics b;
    uint64_t bytes = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; prt_run_buffer(t->run, i, &b); i++) {
        if (b.depth_packets == b.planned_packets) continue;
        bytes += (b.depth_packets - b.planned_packets) * b.width_bytes;
        count++;
    }
    if (count > 0)
        fprintf(t->to,
                "depths of %" PRIu32 " buffer%s grown for %" PRIu32 " host threads: %" PRIu64
                " bytes more than planned\n",
                count, plural(count), t->total.host_threads, bytes);
}

/* Lists the ports that waited for at least a thousandth of the time. */
static void print_host(const struct text *t)
{
    struct prt_buffer_statistics b;
    struct prt_port_information port;
    const char *before = ": ";
    fprintf(t->to, "waiting for the host %.1f%% of the time",
            share_percent(t, t->total.host_cycles));
    for (uint32_t i = 0; prt_run_buffer(t->run, i, &b); i++) {
        if (b.host_cycles == 0 || b.host_cycles < t->total.total_cycles / 1000) continue;
        prt_program_port(t->program, b.port, &port);
        fprintf(t->to, "%s%.1f%% to %s '", before, share_percent(t, b.host_cycles),
                port.direction == PRT_PORT_OUT ? "take" : "bring");
        terminal_text_print(t->to, b.name);
        fputc('\'', t->to);
        before = ", ";
    }
    fputc('\n', t->to);
}

static void print_units_of(const struct text *t, uint32_t first, uint32_t count)
{
    fprintf(t->to, "%" PRIu32, first);
    if (count > 1) fprintf(t->to, " to %" PRIu32, first + count - 1);
}

/* "sim16: ", or of a part: "CUs 12 to 15 of sim16 (compiled for sim4): ". */
static void print_device(const struct text *t, const struct prt_program_information *program)
{
    const struct prt_device_statistics *d = &t->device;
    if (d->part_cu_count < d->cu_count) {
        fputs(d->part_cu_count == 1 ? "CU " : "CUs ", t->to);
        print_units_of(t, d->part_first_cu, d->part_cu_count);
        fputs(" of ", t->to);
        terminal_text_print(t->to, d->name);
        fputs(" (compiled for ", t->to);
        terminal_text_print(t->to, program->device);
        fputs("): ", t->to);
        return;
    }
    terminal_text_print(t->to, program->device);
    fputs(": ", t->to);
}

static void print_run_head(const struct text *t, const struct prt_program_information *program)
{
    terminal_text_print(t->to, program->name);
    fputs(" on ", t->to);
    if (t->device.real_time) {
        print_real_time(t, program);
    } else {
        print_device(t, program);
        print_time(t);
    }
    fputc('\n', t->to);
    print_limit(t);
    if (t->total.dispatched.packets > 0)
        print_launches(t);
    else
        fprintf(t->to, "%" PRIu64 " launch%s without packets\n", t->total.dispatched.launches,
                t->total.dispatched.launches == 1 ? "" : "es");
    if (!t->device.real_time) print_overhead(t);
    print_scheduler(t, program);
    print_run_memory(t);
    print_growth(t);
    if (t->device.real_time && t->measured) print_host(t);
}

/* ---- stages ---- */

/* From the enqueuing of a launch to its end: the mean, and the longest. */
static void print_latency(const struct text *t, uint32_t stage)
{
    struct prt_stage_time time;
    uint64_t launches = 0;
    if (t->measured && prt_run_stage_time(t->run, stage, &time)) {
        for (int form = 0; form < PRT_LAUNCH_FORMS; form++)
            launches += time.launches[form];
        fprintf(t->to, " %9.0f %9" PRIu64,
                launches > 0 ? (double)time.latency_cycles / (double)launches : 0.0,
                time.latency_most_cycles);
    }
    fputc('\n', t->to);
}

static void print_stage_table(const struct text *t)
{
    struct prt_stage_statistics s;
    fputc('\n', t->to);
    prt_text_cell(t->to, "stage", t->width);
    fprintf(t->to, " %4s %14s %10s %14s %12s %6s%s\n", "CUs", "firings", "dispatches",
            "busy cycles", "launch", "busy", t->measured ? "   latency   maximum" : "");
    for (uint32_t i = 0; prt_run_stage(t->run, i, &s); i++) {
        prt_text_cell(t->to, s.name, t->width);
        fprintf(t->to,
                " %4" PRIu32 " %14" PRIu64 " %10" PRIu64 " %14" PRIu64 " %12" PRIu64 " %5.1f%%",
                s.cu_count, s.firings, s.dispatches, s.execute_cycles, s.launch_cycles,
                share_percent(t, s.execute_cycles));
        print_latency(t, i);
    }
}

/* As wide as its title, and as "100.0", two blanks in front. */
static int column_width(const char *title)
{
    int length = (int)strlen(title);
    return (length > 5 ? length : 5) + 2;
}

/* The causes that have taken time anywhere get a column. */
static void print_stalls(const struct text *t)
{
    static const char *const titles[PRT_STALL_CAUSES] = {
        "packets", "room", "few", "CUs", "completion", "scheduler", "ended", "important"};
    struct prt_stage_statistics s;
    struct prt_stage_time time;
    bool shown[PRT_STALL_CAUSES] = {false};
    for (uint32_t i = 0; prt_run_stage_time(t->run, i, &time); i++) {
        for (int c = 0; c < PRT_STALL_CAUSES; c++)
            shown[c] |= time.stall_cycles[c] > 0;
    }
    fputs("\nwhere the time of each stage went, in percent: busy, overhead, waiting for ...\n",
          t->to);
    prt_text_cell(t->to, "stage", t->width);
    fprintf(t->to, "  %5s  %8s", "busy", "overhead");
    for (int c = 0; c < PRT_STALL_CAUSES; c++) {
        if (shown[c]) fprintf(t->to, "%*s", column_width(titles[c]), titles[c]);
    }
    fputs("  most\n", t->to);
    for (uint32_t i = 0; prt_run_stage_time(t->run, i, &time); i++) {
        prt_run_stage(t->run, i, &s);
        prt_text_cell(t->to, s.name, t->width);
        fprintf(t->to, "  %5.1f  %8.1f", share_percent(t, busy_cycles(&time)),
                share_percent(t, time.launch_cycles + time.switch_cycles));
        for (int c = 0; c < PRT_STALL_CAUSES; c++) {
            if (shown[c])
                fprintf(t->to, "%*.1f", column_width(titles[c]),
                        share_percent(t, time.stall_cycles[c]));
        }
        struct prt_wait_statistics wait, longest = {.cycles = 0};
        for (uint32_t k = 0; prt_run_wait(t->run, i, k, &wait); k++) {
            if (wait.cycles > longest.cycles) longest = wait;
        }
        if (longest.cycles > 0) {
            fputs(longest.cause == PRT_STALL_ROOM ? "  room in '" : "  packets in '", t->to);
            terminal_text_print(t->to, longest.buffer);
            fputc('\'', t->to);
        }
        fputc('\n', t->to);
    }
}

/* ---- buffers ---- */

static void print_buffer_table(const struct text *t)
{
    struct prt_buffer_statistics b;
    bool discarded = false, left = false, grown = false;
    for (uint32_t i = 0; prt_run_buffer(t->run, i, &b); i++) {
        grown |= b.depth_packets != b.planned_packets;
        discarded |= b.discarded_packets > 0;
        left |= b.leftover_packets > 0;
    }
    fputc('\n', t->to);
    prt_text_cell(t->to, "buffer", t->width);
    fprintf(t->to, " %14s %10s%s %10s%s%s\n", "packets", "depth", grown ? "    planned" : "",
            "high water", discarded ? "  discarded" : "", left ? "  left over" : "");
    for (uint32_t i = 0; prt_run_buffer(t->run, i, &b); i++) {
        prt_text_cell(t->to, b.name, t->width);
        fprintf(t->to, " %14" PRIu64 " %10" PRIu64, b.packets, b.depth_packets);
        if (grown) fprintf(t->to, " %10" PRIu64, b.planned_packets);
        fprintf(t->to, " %10" PRIu64, b.high_water_packets);
        if (discarded) fprintf(t->to, " %10" PRIu64, b.discarded_packets);
        if (left) fprintf(t->to, " %10" PRIu64, b.leftover_packets);
        fputc('\n', t->to);
    }
}

/* ---- arrivals ---- */

static double mean_cycles(uint64_t cycles, uint64_t packets)
{
    return packets > 0 ? (double)cycles / (double)packets : 0;
}

/* For how long packets of in-ports rested, and how late the packets of out-ports are. */
static void print_arrivals(const struct text *t)
{
    struct prt_buffer_statistics b;
    double microseconds = t->device.clock_hz > 0 ? 1e6 / (double)t->device.clock_hz : 0;
    bool first = true;
    for (uint32_t i = 0; prt_run_buffer(t->run, i, &b); i++) {
        if (!b.arrives) continue;
        if (first) {
            fputc('\n', t->to);
            prt_text_cell(t->to, "arrivals", t->width);
            fprintf(t->to, " %14s %12s %12s %8s\n", "packets", "rest", "maximum", "waited");
        }
        first = false;
        prt_text_cell(t->to, b.name, t->width);
        fprintf(t->to, " %14" PRIu64 " %12.1f %12" PRIu64 " %7.1f%%\n", b.arrived_packets,
                mean_cycles(b.rest_cycles, b.arrived_packets), b.rest_most_cycles,
                share_percent(t, b.arrival_cycles));
    }
    first = true;
    for (uint32_t i = 0; prt_run_buffer(t->run, i, &b); i++) {
        if (b.late_packets == 0) continue;
        if (first) {
            fputc('\n', t->to);
            prt_text_cell(t->to, "lateness", t->width);
            fprintf(t->to, " %14s %12s %12s %12s\n", "packets", "mean", "minimum", "maximum");
        }
        first = false;
        prt_text_cell(t->to, b.name, t->width);
        fprintf(t->to, " %14" PRIu64 " %12.1f %12" PRIu64 " %12" PRIu64 " cycles, %.3f us\n",
                b.late_packets, mean_cycles(b.late_cycles, b.late_packets), b.late_least_cycles,
                b.late_most_cycles, (double)b.late_most_cycles * microseconds);
    }
}

/* ---- compute units ---- */

struct load {
    uint64_t least, most, sum;
};

static struct load load_of(const struct prt_run *run, const struct prt_queue_statistics *q)
{
    struct load load = {.least = UINT64_MAX};
    uint64_t cycles;
    for (uint32_t i = 0; i < q->cu_count && prt_run_cu(run, q->first_cu + i, &cycles); i++) {
        if (cycles < load.least) load.least = cycles;
        if (cycles > load.most) load.most = cycles;
        load.sum += cycles;
    }
    return load;
}

/* Do queues of different importance share compute units?  Then their importance distinguishes them. */
static bool share_units(const struct text *t)
{
    struct prt_queue_statistics a, b;
    for (uint32_t i = 0; i < t->stage_count; i++) {
        for (uint32_t k = 0; k < i && prt_run_queue(t->run, i, &a); k++)
            if (prt_run_queue(t->run, k, &b) && a.first_cu == b.first_cu &&
                a.importance != b.importance)
                return true;
    }
    return false;
}

static void print_interruptions(const struct text *t)
{
    struct prt_stage_statistics s;
    struct prt_stage_time time;
    bool any = false;
    for (uint32_t i = 0; prt_run_stage_time(t->run, i, &time); i++) {
        if (time.interruptions == 0) continue;
        uint64_t cycles = time.stall_cycles[PRT_STALL_INTERRUPTED];
        prt_run_stage(t->run, i, &s);
        fputs(any ? "'" : "\n'", t->to);
        terminal_text_print(t->to, s.name);
        fprintf(t->to,
                "' was interrupted %" PRIu64 " time%s by more important stages, for %" PRIu64
                " cycle%s\n",
                time.interruptions, plural(time.interruptions), cycles, plural(cycles));
        any = true;
    }
}

/* A GPU does not say which compute units a launch has taken. */
static bool knows_units(const struct text *t)
{
    struct prt_queue_statistics q;
    for (uint32_t i = 0; i < t->stage_count; i++)
        if (prt_run_queue(t->run, i, &q) && q.cu_count > 0) return true;
    return false;
}

static void print_units(const struct text *t)
{
    struct prt_queue_statistics q;
    if (!knows_units(t)) return;
    bool shared = share_units(t);
    fprintf(t->to, "\n%-14s", "CUs");
    if (shared) fprintf(t->to, " %10s", "importance");
    fprintf(t->to, " %10s %8s %8s   computing: mean, minimum, maximum of the CUs\n", "launches",
            "busy", "execute");
    for (uint32_t i = 0; i < t->stage_count; i++) {
        char name[32];
        if (!prt_run_queue(t->run, i, &q) || q.cu_count == 0) continue;
        struct load load = load_of(t->run, &q);
        if (q.cu_count == 1)
            snprintf(name, sizeof name, "%" PRIu32, q.first_cu);
        else
            snprintf(name, sizeof name, "%" PRIu32 " to %" PRIu32, q.first_cu,
                     q.first_cu + q.cu_count - 1);
        fprintf(t->to, "%-14s", name);
        if (shared) fprintf(t->to, " %10" PRIu32, q.importance);
        fprintf(t->to, " %10" PRIu64 " %7.1f%% %7.1f%%   %5.1f%% %5.1f%% %5.1f%%\n", q.launches,
                share_percent(t, q.busy_cycles), share_percent(t, q.execute_cycles),
                share_percent(t, load.sum) / (q.cu_count > 0 ? q.cu_count : 1),
                share_percent(t, load.least), share_percent(t, load.most));
    }
}

/* ---- bounds ---- */

static bool has_bounded_outputs(const struct prt_run *run)
{
    struct prt_output_statistics o;
    for (uint32_t i = 0; prt_run_output(run, i, &o); i++) {
        if (o.ranges && o.firings > 0) return true;
    }
    return false;
}

static void print_output_table(const struct text *t)
{
    struct prt_output_statistics o;
    struct prt_stage_statistics s;
    if (!has_bounded_outputs(t->run)) return;
    fputs("\npackets of a firing, where that depends on the data\n", t->to);
    prt_text_cell(t->to, "stage", t->width);
    fputc(' ', t->to);
    prt_text_cell(t->to, "buffer", t->width);
    fprintf(t->to, " %10s %10s %10s  %s\n", "declared", "largest", "mean",
            "a bound of the largest frees at most");
    for (uint32_t i = 0; prt_run_output(t->run, i, &o); i++) {
        if (!o.ranges || o.firings == 0) continue;
        prt_run_stage(t->run, o.stage, &s);
        prt_text_cell(t->to, s.name, t->width);
        fputc(' ', t->to);
        prt_text_cell(t->to, o.buffer, t->width);
        fprintf(t->to, " %10" PRIu64 " %10" PRIu64 " %10.2f  %" PRIu64 " bytes\n", o.declared_most,
                o.observed_most, (double)o.packets / (double)o.firings, o.frees_bytes);
    }
}

/* ---- units of the device ---- */

static void print_index(const struct text *t)
{
    const struct prt_device_statistics *d = &t->device;
    if (d->index_requests == 0) return;
    uint64_t known = d->index_resident + d->index_hits;
    fprintf(t->to,
            "\nindex generator: %" PRIu64 " request%s, %.1f%% known (%" PRIu64 " resident, %" PRIu64
            " stored again); %" PRIu64 " cycle%s, %" PRIu64 " saved against division\n",
            d->index_requests, plural(d->index_requests),
            prt_text_percent(known, d->index_requests), d->index_resident, d->index_hits,
            d->index_cycles, plural(d->index_cycles), d->index_saved_cycles);
}

static void print_children(const struct text *t)
{
    struct prt_child_statistics c;
    unsigned width = 6;
    for (uint32_t i = 0; prt_run_child(t->run, i, &c); i++)
        if (c.launches > 0) widen_report_column(&width, c.kernel);
    prt_text_cell(t->to, "child", width);
    fprintf(t->to, " %10s %10s %6s %14s %14s %14s %14s\n", "launches", "groups", "level", "cycles",
            "launching", "waiting", "longest");
    for (uint32_t i = 0; prt_run_child(t->run, i, &c); i++) {
        if (c.launches == 0) continue;
        prt_text_cell(t->to, c.kernel, width);
        fprintf(t->to,
                " %10" PRIu64 " %10" PRIu64 " %6" PRIu32 " %14" PRIu64 " %14" PRIu64 " %14" PRIu64
                " %14" PRIu64 "\n",
                c.launches, c.groups, c.level_most, c.cycles, c.launch_cycles, c.wait_cycles,
                c.longest_cycles);
    }
}

static void print_device_queue(const struct text *t)
{
    const struct prt_device_statistics *d = &t->device;
    if (d->child_launches == 0) return;
    fprintf(t->to,
            "\ndevice queue: %" PRIu64 " launch%s, at most %" PRIu32 " level%s deep and %" PRIu32
            " of %" PRIu32 " entries full; cycles in children %" PRIu64 ", launching them %" PRIu64
            ", waiting for their turn %" PRIu64 "\n",
            d->child_launches, d->child_launches == 1 ? "" : "es", d->child_levels_most,
            plural(d->child_levels_most), d->child_queue_most, d->child_queue_entries,
            d->child_cycles, d->child_launch_cycles, d->child_wait_cycles);
    print_children(t);
}

void prt_report_text(FILE *to, const struct prt_program *program, const struct prt_run *run)
{
    struct prt_program_information p;
    struct prt_stage_time time;
    struct text text = {.to = to, .program = program, .run = run, .width = name_width(run)};
    prt_program_information(program, &p);
    prt_run_statistics(run, &text.total);
    prt_run_device(run, &text.device);
    text.stage_count = p.stage_count;
    text.measured = prt_run_stage_time(run, 0, &time);
    print_run_head(&text, &p);
    print_stage_table(&text);
    if (text.measured) {
        print_stalls(&text);
        print_interruptions(&text);
    }
    print_buffer_table(&text);
    if (text.measured) print_arrivals(&text);
    if (text.measured) {
        print_units(&text);
        print_output_table(&text);
    }
    print_index(&text);
    print_device_queue(&text);
}
