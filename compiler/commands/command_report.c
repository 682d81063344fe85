/* SPDX-License-Identifier: MIT */
/* pipec report: one page about a program and a run of it. */
#include <string.h>

#include "compiler/commands/commands.h"
#include "compiler/describe/report_page.h"
#include "compiler/driver/command_line.h"
#include "compiler/driver/driver_files.h"
#include "compiler/driver/passes.h"
#include "compiler/support/output.h"
#include "compiler/target/target.h"

static const char help_text[] =
    "usage: pipec report --stats=FILE [--trace=FILE] [-o FILE] [options] FILE.pipe\n"
    "\n"
    "Writes one page (HTML) about a program and a run of it: topology, rates, depths and why, "
    "memory,\n"
    "schedule, sub-devices over time, where time went, what limits, and a slider through the time "
    "of\n"
    "the run. The page needs no network.\n"
    "\n"
    "  --stats=FILE          of 'piperun --stats=json:FILE'\n"
    "  --trace=FILE          of 'piperun --trace=FILE', for all that is shown over time; FILE.gz "
    "too\n"
    "  -o FILE               write it there; '-' is standard output, the default\n"
    "  --device=DEVICE       the device of the plan (default: that of the run)\n"
    "  -p NAME               the pipeline (default: that of the run)\n"
    "  -D NAME=VALUE         a compile-time parameter, or the default of a run-time argument\n"
    "  -I, -O, --march, --buffers, --max-memory, --color, --diagnostics, -W, --min-level, "
    "--fail-on,\n"
    "  -j, -q, @FILE: as in 'pipec --help'; give the options that made the container\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "examples:\n"
    "  $ pipec smooth.pipe -o smooth.pbc\n"
    "  $ piperun smooth.pbc samples=gen:ramp:4096 smooth=null --stats=json:s.json "
    "--trace=t.json.gz\n"
    "  $ pipec report --stats=s.json --trace=t.json.gz -o report.html smooth.pipe\n"
    "\n"
    "Exit status: 0 done, 1 the program is refused, 2 usage or files, 3 internal error.\n";

enum { OPTION_STATS = COMMAND_OPTION, OPTION_TRACE };

struct request {
    const char *output, *pipeline, *stats, *trace;
};

static const char *take_report_option(void *data, struct arena *arena, int option,
                                      const char *value)
{
    struct request *request = data;
    (void)arena;
    switch (option) {
    case OPTION_STATS: request->stats = value; break;
    case OPTION_TRACE: request->trace = value; break;
    case 'o': request->output = value; break;
    default: request->pipeline = value; break;
    }
    return NULL;
}

static int refuse_run_file(const char *path, const char *reason)
{
    fprintf(stderr, "pipec: error: cannot read '%s': %s\n", path, reason);
    return EXIT_FILES;
}

static int write_page(const struct report_subject *subject, const char *path)
{
    struct output output;
    if (path == NULL) path = "-";
    if (!output_open(&output, path)) return file_failure("write", path);
    report_page(output.file, subject);
    return output_close(&output) ? EXIT_DONE : file_failure("write", path);
}

/* The plan as the run had it; then what the run measured is read. */
static int report_of_passes(struct passes *passes, const struct request *request,
                            const struct run_report *report)
{
    struct compile *cx = passes->cx;
    const char *reason, *unknown;
    if (!passes_run(passes, PASS_SCHEDULE)) return EXIT_REFUSED;
    const uint32_t *stage_of = run_report_stages(cx->arena, report, passes->written, &unknown);
    if (stage_of == NULL)
        return refuse_run_file(request->stats,
                               arena_printf(cx->arena, "pipeline '%s' has no kernel '%s'",
                                            passes->written->name, unknown));
    const struct run_timeline *timeline = NULL;
    if (request->trace != NULL) {
        uint32_t bins = report_page_bins(report);
        timeline = run_timeline_read(cx->arena, report, request->trace, bins, &reason);
        if (timeline == NULL) return refuse_run_file(request->trace, reason);
    }
    struct verdict verdict = passes_verdict(passes);
    struct inspection inspection = inspect_graph(cx, passes->written, &verdict, passes->fusion,
                                                 passes->plan, passes->schedule);
    struct report_subject subject = {.cx = cx,
                                     .graph = passes->written,
                                     .inspection = &inspection,
                                     .report = report,
                                     .stage_of = stage_of,
                                     .timeline = timeline,
                                     .output = request->output};
    return write_page(&subject, request->output);
}

static int report_of_file(struct compile *cx, const struct command_line *line,
                          const struct request *request)
{
    uint32_t source;
    const char *reason;
    struct devdesc *device = ARENA_NEW(cx->arena, struct devdesc);
    int status = input_read(cx, line->inputs[0], &source);
    if (status != EXIT_DONE) return status;
    const struct run_report *report = run_report_read(cx->arena, request->stats, &reason);
    if (report == NULL) return refuse_run_file(request->stats, reason);
    status = device_load(cx, line->device_given ? line->device : report->device, device);
    if (status != EXIT_DONE) return status;
    cx->device = device;
    cx->options.depths_by_clock = target_of(device)->counts_cycles;
    cx->options.pipeline = request->pipeline != NULL ? request->pipeline : report->pipeline;
    struct passes passes = passes_of_source(cx, source);
    passes_run(&passes, PASS_PARSE);
    if (refuse_over_input(cx, "output", request->output)) return EXIT_FILES;
    return report_of_passes(&passes, request, report);
}

int command_report(int argc, char **argv)
{
    static const struct option options[] = {{"stats", required_argument, NULL, OPTION_STATS},
                                            {"trace", required_argument, NULL, OPTION_TRACE},
                                            {NULL, 0, NULL, 0}};
    struct request request = {0};
    struct arena *arena = arena_create();
    struct command_options own = {.help = help_text,
                                  .letters = "o:p:",
                                  .longer = options,
                                  .take = take_report_option,
                                  .data = &request,
                                  .output = &request.output,
                                  .shares = SHARES_ANALYSIS | SHARES_CODE | SHARES_DEFINITIONS};
    struct command_line line = command_line_parse_command(argc, argv, arena, &own);
    int status = EXIT_FILES;
    if (line.action == COMMAND_DONE) {
        status = standard_output_status();
    } else if (line.action != COMMAND_USAGE && line.input_count > 1) {
        fprintf(stderr, "pipec: error: a second input file '%s'\n", line.inputs[1]);
    } else if (line.action != COMMAND_USAGE && request.stats == NULL) {
        fputs("pipec: error: pipec report needs --stats=FILE, the file of "
              "'piperun --stats=json:FILE'\n",
              stderr);
    } else if (line.action != COMMAND_USAGE) {
        struct compile cx = compile_begin(arena, line.options);
        vec_push(arena, &cx.options.also_read, request.stats);
        if (request.trace != NULL) vec_push(arena, &cx.options.also_read, request.trace);
        cleanup_install();
        status = diagnostics_begin(&line.diagnostics, cx.diags);
        if (status == EXIT_DONE)
            status = diagnostics_end(&line.diagnostics, &cx, line.colour,
                                     report_of_file(&cx, &line, &request));
    }
    arena_destroy(arena);
    return status;
}
