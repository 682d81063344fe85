#include "runtime/report.h"

#include <inttypes.h>
#include <string.h>

/* ---- text ---- */

/* Control bytes as \xNN; returns the columns used (UTF-8 counts characters). */
static int print_escaped(FILE *to, const char *text)
{
    int columns = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        if (*at < 0x20 || *at == 0x7f ||
            (*at >= 0x80 && *at <= 0x9f && at != (const unsigned char *)text && at[-1] == 0xc2)) {
            fprintf(to, "\\x%02x", *at);
            columns += 4;
        } else {
            fputc(*at, to);
            columns += (*at & 0xc0) != 0x80;
        }
    }
    return columns;
}

static void print_name(FILE *to, const char *name, int width)
{
    for (int columns = print_escaped(to, name); columns < width; columns++)
        fputc(' ', to);
}

static int name_width(const struct prt_run *run)
{
    struct prt_stage_statistics stage;
    struct prt_buffer_statistics buffer;
    size_t width = 6;
    for (uint32_t i = 0; prt_run_stage(run, i, &stage); i++) {
        if (strlen(stage.name) > width) width = strlen(stage.name);
    }
    for (uint32_t i = 0; prt_run_buffer(run, i, &buffer); i++) {
        if (strlen(buffer.name) > width) width = strlen(buffer.name);
    }
    return width < 40 ? (int)width : 40;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

static void print_stages(FILE *to, const struct prt_run *run, uint64_t total_cycles, int width)
{
    struct prt_stage_statistics s;
    print_name(to, "stage", width);
    fprintf(to, " %4s %14s %10s %14s %12s %6s\n", "CUs", "firings", "dispatches", "busy cycles",
            "launch", "busy");
    for (uint32_t i = 0; prt_run_stage(run, i, &s); i++) {
        print_name(to, s.name, width);
        fprintf(to,
                " %4" PRIu32 " %14" PRIu64 " %10" PRIu64 " %14" PRIu64 " %12" PRIu64 " %5.1f%%\n",
                s.cu_count, s.firings, s.dispatches, s.execute_cycles, s.launch_cycles,
                percent(s.execute_cycles, total_cycles));
    }
}

static void print_buffers(FILE *to, const struct prt_run *run, int width)
{
    struct prt_buffer_statistics b;
    print_name(to, "buffer", width);
    fprintf(to, " %14s %10s %10s %10s %10s\n", "packets", "depth", "high water", "discarded",
            "left over");
    for (uint32_t i = 0; prt_run_buffer(run, i, &b); i++) {
        print_name(to, b.name, width);
        fprintf(to, " %14" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n",
                b.packets, b.depth_packets, b.high_water_packets, b.discarded_packets,
                b.leftover_packets);
    }
}

void prt_report_text(FILE *to, const struct prt_program *program, const struct prt_run *run)
{
    struct prt_program_information program_information;
    struct prt_run_statistics s;
    prt_program_information(program, &program_information);
    prt_run_statistics(run, &s);
    print_escaped(to, program_information.name);
    fputs(" on ", to);
    print_escaped(to, program_information.device);
    fprintf(to, ": %" PRIu64 " cycles, %" PRIu64 " dispatches\n", s.total_cycles, s.dispatches);
    fprintf(to,
            "launch overhead %" PRIu64 " cycles (%.1f%% of all busy time), switches %" PRIu64
            ", scheduler %" PRIu64 " cycles in %" PRIu64 " instructions\n",
            s.launch_cycles,
            percent(s.launch_cycles, s.launch_cycles + s.switch_cycles + s.execute_cycles),
            s.switch_cycles, s.scheduler_cycles, s.instructions);
    fprintf(to, "suspended %" PRIu64 " times for input; %" PRIu32 " host thread%s\n\n",
            s.suspensions, s.host_threads, s.host_threads == 1 ? "" : "s");
    int width = name_width(run);
    print_stages(to, run, s.total_cycles, width);
    fputc('\n', to);
    print_buffers(to, run, width);
}

/* ---- JSON ---- */

/* Bytes that are not UTF-8 become U+FFFD. */
static void json_string(FILE *to, const char *text)
{
    fputc('"', to);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        size_t length = *at < 0x80 ? 1 : *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
        bool valid = *at < 0x80 || (*at >= 0xc2 && *at <= 0xf4);
        for (size_t i = 1; valid && i < length; i++)
            valid = (at[i] & 0xc0) == 0x80;
        if (!valid) {
            fputs("\\ufffd", to);
            at++;
            continue;
        }
        if (*at == '"' || *at == '\\')
            fprintf(to, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(to, "\\u%04x", *at);
        else
            fwrite(at, 1, length, to);
        at += length;
    }
    fputc('"', to);
}

static void json_member(FILE *to, const char *key, const char *value)
{
    fprintf(to, "\"%s\": ", key);
    json_string(to, value);
}

static void json_stages(FILE *to, const struct prt_run *run)
{
    struct prt_stage_statistics s;
    for (uint32_t i = 0; prt_run_stage(run, i, &s); i++) {
        fputs(i == 0 ? "\n    {" : ",\n    {", to);
        json_member(to, "name", s.name);
        fputs(", ", to);
        json_member(to, "kernel", s.kernel);
        fprintf(to,
                ", \"cu_count\": %" PRIu32 ", \"firings\": %" PRIu64 ", \"dispatches\": %" PRIu64
                ", \"execute_cycles\": %" PRIu64 ", \"launch_cycles\": %" PRIu64
                ", \"switch_cycles\": %" PRIu64 "}",
                s.cu_count, s.firings, s.dispatches, s.execute_cycles, s.launch_cycles,
                s.switch_cycles);
    }
}

static void json_buffers(FILE *to, const struct prt_run *run)
{
    struct prt_buffer_statistics b;
    for (uint32_t i = 0; prt_run_buffer(run, i, &b); i++) {
        fputs(i == 0 ? "\n    {" : ",\n    {", to);
        json_member(to, "name", b.name);
        fprintf(to,
                ", \"outer\": %s, \"width_bytes\": %" PRIu64 ", \"depth_packets\": %" PRIu64
                ", \"packets\": %" PRIu64 ", \"high_water_packets\": %" PRIu64
                ", \"discarded_packets\": %" PRIu64 ", \"leftover_packets\": %" PRIu64 "}",
                b.port != PRT_NONE ? "true" : "false", b.width_bytes, b.depth_packets, b.packets,
                b.high_water_packets, b.discarded_packets, b.leftover_packets);
    }
}

void prt_report_json(FILE *to, const struct prt_program *program, const struct prt_run *run)
{
    struct prt_program_information p;
    struct prt_run_statistics s;
    prt_program_information(program, &p);
    prt_run_statistics(run, &s);
    fputs("{\n  \"version\": 1,\n  ", to);
    json_member(to, "pipeline", p.name);
    fputs(",\n  ", to);
    json_member(to, "device", p.device);
    fprintf(to,
            ",\n  \"total_cycles\": %" PRIu64 ",\n  \"scheduler_cycles\": %" PRIu64
            ",\n  \"instructions\": %" PRIu64 ",\n  \"dispatches\": %" PRIu64
            ",\n  \"launch_cycles\": %" PRIu64 ",\n  \"switch_cycles\": %" PRIu64
            ",\n  \"execute_cycles\": %" PRIu64 ",\n  \"suspensions\": %" PRIu64
            ",\n  \"leftover_packets\": %" PRIu64 ",\n  \"discarded_packets\": %" PRIu64
            ",\n  \"stages\": [",
            s.total_cycles, s.scheduler_cycles, s.instructions, s.dispatches, s.launch_cycles,
            s.switch_cycles, s.execute_cycles, s.suspensions, s.leftover_packets,
            s.discarded_packets);
    json_stages(to, run);
    fputs("\n  ],\n  \"buffers\": [", to);
    json_buffers(to, run);
    fputs("\n  ]\n}\n", to);
}
