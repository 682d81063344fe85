/* SPDX-License-Identifier: MIT */
/* pipec graph: the topology as a drawing, as JSON, as a command list. */
#include <string.h>

#include "compiler/driver/command_line.h"
#include "compiler/commands/commands.h"
#include "compiler/describe/describe.h"
#include "compiler/describe/graph_page.h"
#include "compiler/describe/run_report.h"
#include "compiler/driver/kernel_sources.h"
#include "compiler/driver/driver_files.h"
#include "compiler/driver/passes.h"
#include "compiler/support/output.h"
#include "base/words.h"

static const char help_text[] =
    "usage: pipec graph [--format=FORMAT] [--stats=FILE] [-o FILE] [options] FILE\n"
    "\n"
    "Prints the flattened topology of a source, a command list, or a graph in SDF3 XML.\n"
    "\n"
    "  --format=dot|svg|html|json|cmds|sdf3\n"
    "                        dot (the default): text for Graphviz, svg: a picture, html: a page "
    "with it\n"
    "                        and the reasons for depths, cmds: the command list, sdf3: XML of the\n"
    "                        SDF3 tools; pipec reads the last two like a source\n"
    "  --stats=FILE          in a picture, show how busy each kernel was in a run; FILE is from\n"
    "                        'piperun --stats=json:FILE'\n"
    "  --unfold              in a picture, draw each kernel of an array and of a chain\n"
    "  --embed               the command list contains the text of its kernels, and needs "
    "no\n"
    "                        other files than the library's\n"
    "  -o FILE               write it there; '-' is standard output, the default\n"
    "  -p NAME               the pipeline (default: main, else the only one)\n"
    "  -D NAME=VALUE         a compile-time parameter, or the default of a run-time argument\n"
    "  -I, --buffers, --max-memory, --color, --diagnostics, -W, --min-level, --fail-on, -j, -q, "
    "@FILE:\n"
    "  as in 'pipec --help'\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "A program that does not pass is drawn as far as it has a topology.\n"
    "\n"
    "examples:\n"
    "  $ pipec graph smooth.pipe                         # text for Graphviz\n"
    "  $ pipec graph --format=svg -o smooth.svg smooth.pipe\n"
    "  $ pipec graph --format=json -o smooth.json smooth.pipe\n"
    "  $ pipec graph --format=cmds --embed -o smooth.cmds smooth.pipe\n"
    "  $ pipec graph --format=sdf3 -o smooth.xml smooth.pipe\n"
    "\n"
    "Exit status: 0 done, 1 the program is refused, 2 usage or files, 3 internal error.\n";

enum { OPTION_FORMAT = COMMAND_OPTION, OPTION_EMBED, OPTION_STATS, OPTION_UNFOLD };
enum format { FORMAT_DOT, FORMAT_SVG, FORMAT_HTML, FORMAT_JSON, FORMAT_CMDS, FORMAT_SDF3 };

struct request {
    enum format format;
    bool embed, unfold;
    const char *output, *pipeline;
    const char *stats; /* the report of a run, or NULL */
};

static const char *take_graph_option(void *data, struct arena *arena, int option, const char *value)
{
    struct request *request = data;
    switch (option) {
    case OPTION_FORMAT: {
        static const char *const names[] = {"dot", "svg", "html", "json", "cmds", "sdf3"};
        size_t format = WORD_INDEX(value, names);
        request->format = (enum format)format;
        if (format < sizeof names / sizeof *names) return NULL;
        return arena_printf(arena, "--format=%s: dot, svg, html, json, cmds or sdf3", value);
    }
    case OPTION_EMBED: request->embed = true; return NULL;
    case OPTION_UNFOLD: request->unfold = true; return NULL;
    case OPTION_STATS: request->stats = value; return NULL;
    case 'o': request->output = value; return NULL;
    default: request->pipeline = value; return NULL;
    }
}

/* ---- writing ---- */

/* NULL: the report cannot be read, or is of another program, which has been reported. */
static const double *read_loads(struct arena *arena, const struct graph *graph, const char *path)
{
    const char *reason, *unknown;
    const uint32_t *stage_of = NULL;
    const struct run_report *run = run_report_read(arena, path, &reason);
    if (run != NULL) {
        stage_of = run_report_stages(arena, run, graph, &unknown);
        if (stage_of != NULL) return run_report_loads(arena, run, stage_of, graph->nodes.count);
        reason = arena_printf(arena, "pipeline '%s' has no kernel '%s'", graph->name, unknown);
    }
    fprintf(stderr, "pipec: error: cannot read '%s': %s\n", path, reason);
    return NULL;
}

static int write_graph_form(struct compile *cx, const struct request *request,
                            const struct graph *graph, const struct ast_program *program, FILE *to)
{
    const double *loads = NULL;
    if (request->stats != NULL) {
        loads = read_loads(cx->arena, graph, request->stats);
        if (loads == NULL) return EXIT_FILES;
    }
    struct picture_look look = {
        .loads = loads, .output = request->output, .unfolded = request->unfold};
    switch (request->format) {
    case FORMAT_DOT: graph_dot(to, graph); break;
    case FORMAT_JSON: graph_json(to, cx, graph); break;
    case FORMAT_CMDS:
        graph_cmds(to, kernel_sources(cx, program, request->output, request->embed), graph);
        break;
    case FORMAT_SDF3: return graph_sdf3(to, cx, graph) ? EXIT_DONE : EXIT_REFUSED;
    case FORMAT_SVG: graph_svg(to, cx->arena, cx, graph, &look, NULL); break;
    case FORMAT_HTML: graph_html(to, cx, graph, &look); break;
    }
    return EXIT_DONE;
}

static int write_graph(struct compile *cx, const struct request *request, const struct graph *graph,
                       const struct ast_program *program)
{
    const char *path = request->output != NULL ? request->output : "-";
    struct output output;
    if (!output_open(&output, path)) return file_failure("write", path);
    int status = write_graph_form(cx, request, graph, program, output.file);
    if (status != EXIT_DONE) {
        output_abandon(&output);
        return status;
    }
    return output_close(&output) ? EXIT_DONE : file_failure("write", path);
}

static int graph_of_file(struct compile *cx, const struct request *request, const char *path)
{
    uint32_t source;
    int status = input_read(cx, path, &source);
    if (status != EXIT_DONE) return status;
    struct passes passes = passes_of_source(cx, source);
    passes_run(&passes, PASS_PARSE);
    if (refuse_over_input(cx, "output", request->output)) return EXIT_FILES;
    passes_run(&passes, PASS_DEPTHS);
    if (passes.written == NULL) return EXIT_REFUSED;
    status = write_graph(cx, request, passes.written, passes.program);
    return status == EXIT_DONE && diag_failed(cx->diags) ? EXIT_REFUSED : status;
}

int command_graph(int argc, char **argv)
{
    static const struct option options[] = {{"format", required_argument, NULL, OPTION_FORMAT},
                                            {"embed", no_argument, NULL, OPTION_EMBED},
                                            {"stats", required_argument, NULL, OPTION_STATS},
                                            {"unfold", no_argument, NULL, OPTION_UNFOLD},
                                            {NULL, 0, NULL, 0}};
    struct request request = {0};
    struct arena *arena = arena_create();
    struct command_options own = {.help = help_text,
                                  .letters = "o:p:",
                                  .longer = options,
                                  .take = take_graph_option,
                                  .data = &request,
                                  .output = &request.output,
                                  .shares = SHARES_ANALYSIS | SHARES_DEFINITIONS};
    struct command_line line = command_line_parse_command(argc, argv, arena, &own);
    int status = EXIT_FILES;
    if (line.action == COMMAND_DONE) {
        status = standard_output_status();
    } else if (line.action != COMMAND_USAGE && line.input_count > 1) {
        fprintf(stderr, "pipec: error: a second input file '%s'\n", line.inputs[1]);
    } else if (line.action != COMMAND_USAGE && request.embed && request.format != FORMAT_CMDS) {
        fputs("pipec: error: --embed goes with --format=cmds\n", stderr);
    } else if (line.action != COMMAND_USAGE && request.stats != NULL &&
               request.format != FORMAT_SVG && request.format != FORMAT_HTML) {
        fputs("pipec: error: --stats goes with --format=svg or html\n", stderr);
    } else if (line.action != COMMAND_USAGE && request.unfold && request.format != FORMAT_SVG &&
               request.format != FORMAT_HTML) {
        fputs("pipec: error: --unfold goes with --format=svg or html\n", stderr);
    } else if (line.action != COMMAND_USAGE) {
        struct compile cx = compile_begin(arena, line.options);
        cx.options.pipeline = request.pipeline;
        if (request.stats != NULL) vec_push(arena, &cx.options.also_read, request.stats);
        cleanup_install();
        status = diagnostics_begin(&line.diagnostics, cx.diags);
        if (status == EXIT_DONE)
            status = diagnostics_end(&line.diagnostics, &cx, line.colour,
                                     graph_of_file(&cx, &request, line.inputs[0]));
    }
    arena_destroy(arena);
    return status;
}
