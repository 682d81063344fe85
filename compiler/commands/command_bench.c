/* SPDX-License-Identifier: MIT */
/* pipec bench: the times of a pipeline's stages on the devices of this machine, compared. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/commands/bench_run.h"
#include "compiler/commands/commands.h"
#include "compiler/driver/command_line.h"
#include "compiler/driver/driver_files.h"
#include "compiler/driver/passes.h"
#include "base/json_write.h"

static const char help_text[] =
    "usage: pipec bench [--device=LIST] [-n PACKETS] [options] FILE.pipe\n"
    "\n"
    "Runs a pipeline on the devices of this machine, with generated inputs, and compares the time\n"
    "of each stage. Times of 'cpu' are real and differ from run to run: the fastest run counts.\n"
    "\n"
    "  --device=LIST         devices, with commas between them (default: cpu:1, cpu and, where\n"
    "                        piperun can use one, cuda); simulated ones too\n"
    "  -n PACKETS            of the longest input, and firings of each source; default 1048576\n"
    "  --rounds=N            runs on each device, of which the fastest counts; default 3\n"
    "  --json                the times in nanoseconds, for programs\n"
    "  -p NAME               the pipeline (default: main, else the only one)\n"
    "  -D NAME=VALUE         an argument, or a compile-time parameter, of the pipeline\n"
    "  -I, --buffers, --max-memory, --color, --diagnostics, -W, --min-level, --fail-on, -j, -q, "
    "@FILE:\n"
    "  as in 'pipec --help'\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "'busy' is the time of all threads or compute units together, so a stage that two cores share\n"
    "may be busy for longer than the run. 'inputs, outputs': the device waits for the host.\n"
    "\n"
    "examples:\n"
    "  $ pipec bench smooth.pipe\n"
    "  $ pipec bench --device=cpu:1,sim16 -n 65536 smooth.pipe\n"
    "  $ pipec bench --json --rounds=1 smooth.pipe\n"
    "\n"
    "Exit status: 0 done, 1 the program is refused, 2 usage, files, or a run that failed.\n";

enum { OPTION_DEVICE = COMMAND_OPTION, OPTION_ROUNDS, OPTION_JSON };
enum { ROUNDS_DEFAULT = 3, ROUNDS_MAX = 1000 };
#define PACKETS_DEFAULT (UINT64_C(1) << 20)
#define PACKETS_MAX (UINT64_C(1) << 40)

struct request {
    const char *pipeline, *devices;
    uint64_t packets;
    unsigned rounds;
    bool as_json;
};

struct words {
    VEC(const char *) items;
};

static bool read_count(const char *text, uint64_t most, uint64_t *count)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    *count = number;
    return *text >= '0' && *text <= '9' && *end == '\0' && number >= 1 && number <= most;
}

static const char *take_bench_option(void *data, struct arena *arena, int option, const char *value)
{
    struct request *request = data;
    uint64_t rounds = 0;
    switch (option) {
    case OPTION_DEVICE: request->devices = value; return NULL;
    case OPTION_JSON: request->as_json = true; return NULL;
    case 'n':
        if (read_count(value, PACKETS_MAX, &request->packets)) return NULL;
        return arena_printf(arena, "-n '%s': a number from 1 to %" PRIu64, value, PACKETS_MAX);
    case OPTION_ROUNDS:
        if (!read_count(value, ROUNDS_MAX, &rounds))
            return arena_printf(arena, "--rounds=%s: a number from 1 to %d", value, ROUNDS_MAX);
        request->rounds = (unsigned)rounds;
        return NULL;
    default: request->pipeline = value; return NULL;
    }
}

/* ---- the bindings of the ports ---- */

/* Packets that the buffer's reader takes in one iteration of its component; 1 if no rate is known. */
static uint64_t iteration_packets(const struct graph *graph, const struct graph_buffer *buffer)
{
    uint64_t most = 1;
    for (size_t i = 0; i < buffer->readers.count; i++) {
        const struct graph_input *in = graph_reader_input(graph, buffer, i);
        const struct graph_node *node = &graph->nodes.items[buffer->readers.items[i].node];
        uint64_t cycles = node->repetitions / graph_phases(node), packets;
        if (!__builtin_mul_overflow(cycles, in->pop, &packets) && packets > most) most = packets;
    }
    return most;
}

static uint32_t component_of(const struct graph *graph, const struct graph_buffer *buffer)
{
    if (buffer->readers.count == 0) return 0;
    return graph->nodes.items[buffer->readers.items[0].node].component;
}

/* The inputs of a component end together: each has the packets of the same number of iterations. */
static uint64_t input_packets(const struct graph *graph, const struct graph_buffer *buffer,
                              uint64_t wanted)
{
    uint64_t most = 1, own = iteration_packets(graph, buffer), packets;
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *other = &graph->buffers.items[i];
        if (other->outer != GRAPH_OUTER_IN ||
            component_of(graph, other) != component_of(graph, buffer))
            continue;
        uint64_t of_other = iteration_packets(graph, other);
        if (of_other > most) most = of_other;
    }
    uint64_t iterations = wanted > most ? wanted / most : 1;
    if (__builtin_mul_overflow(iterations, own, &packets)) return own;
    uint64_t frame = buffer->shape.row_packets;
    if (buffer->shape.frame_rows > 0) frame *= buffer->shape.frame_rows;
    return frame > 0 && packets % frame != 0 ? packets + frame - packets % frame : packets;
}

static void bind_ports(struct arena *arena, const struct graph *graph, uint64_t wanted,
                       struct words *words)
{
    bool has_source = false;
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        const char *generator = buffer->type->kind == TYPE_SCALAR ? "ramp" : "zeros";
        if (buffer->outer == GRAPH_OUTER_IN)
            vec_push(arena, &words->items,
                     arena_printf(arena, "%s=gen:%s:%" PRIu64, buffer->name, generator,
                                  input_packets(graph, buffer, wanted)));
        else if (buffer->outer == GRAPH_OUTER_OUT)
            vec_push(arena, &words->items, arena_printf(arena, "%s=null", buffer->name));
    }
    for (size_t i = 0; i < graph->nodes.count; i++)
        has_source |= graph->nodes.items[i].inputs.count == 0;
    if (has_source)
        vec_push(arena, &words->items, arena_printf(arena, "--firings=%" PRIu64, wanted));
}

static struct words arguments_of(struct arena *arena, const struct command_line *line,
                                 const struct request *request, const struct graph *graph)
{
    struct words words = {0};
    vec_push(arena, &words.items, line->inputs[0]);
    bind_ports(arena, graph, request->packets, &words);
    vec_push(arena, &words.items, arena_printf(arena, "-p%s", graph->name));
    for (size_t i = 0; i < line->options.definition_count; i++)
        vec_push(arena, &words.items,
                 arena_printf(arena, "-D%s=%s", line->options.definitions[i].name,
                              line->options.definitions[i].value));
    return words;
}

/* ---- the runs ---- */

struct devices {
    VEC(struct bench_device) items;
};

static struct devices devices_of(struct arena *arena, const char *list)
{
    struct devices devices = {0};
    bool is_wanted = list != NULL;
    for (const char *at = is_wanted ? list : "cpu:1,cpu,cuda"; *at != '\0';) {
        size_t length = strcspn(at, ",");
        if (length > 0)
            vec_push(arena, &devices.items,
                     (struct bench_device){.name = arena_string(arena, at, length),
                                           .is_wanted = is_wanted});
        at += length + (at[length] == ',');
    }
    return devices;
}

static void print_results(struct arena *arena, const struct request *request,
                          const struct graph *graph, const struct devices *devices)
{
    struct json json = {.to = stdout};
    if (!request->as_json) {
        printf("pipeline %s, busy times; the fastest of %u run%s\n\n", graph->name, request->rounds,
               request->rounds == 1 ? "" : "s");
        bench_print_text(stdout, arena, devices->items.items, devices->items.count);
        return;
    }
    json_begin(&json, NULL, '{');
    json_number(&json, "version", 1);
    json_text(&json, "pipeline", graph->name);
    bench_put_json(&json, devices->items.items, devices->items.count);
    json_end(&json, '}');
}

static int bench_graph(struct arena *arena, const struct command_line *line,
                       const struct request *request, const struct graph *graph,
                       struct devices *devices)
{
    struct words words = arguments_of(arena, line, request, graph);
    for (size_t i = 0; i < devices->items.count; i++) {
        int status = bench_run(arena, &devices->items.items[i], words.items.items,
                               words.items.count, request->rounds);
        if (status != EXIT_DONE) return status;
    }
    print_results(arena, request, graph, devices);
    return standard_output_status();
}

/* The graph of the program, for the runs to bind its ports. */
static int read_graph(struct compile *cx, const char *path, const struct graph **graph)
{
    uint32_t source;
    int status = input_read(cx, path, &source);
    if (status != EXIT_DONE) return status;
    struct passes passes = passes_of_source(cx, source);
    if (!passes_run(&passes, PASS_DEPTHS) || passes.written == NULL) return EXIT_REFUSED;
    *graph = passes.written;
    return EXIT_DONE;
}

static int run_bench_command(struct arena *arena, struct command_line *line,
                             const struct request *request)
{
    struct compile cx = compile_begin(arena, line->options);
    struct devices devices = devices_of(arena, request->devices);
    const struct graph *graph = NULL;
    cx.options.pipeline = request->pipeline;
    for (size_t i = 0; i < devices.items.count; i++) {
        const char *path = device_path(devices.items.items[i].name);
        if (path != NULL) vec_push(arena, &cx.options.also_read, path);
    }
    cleanup_install();
    int status = diagnostics_begin(&line->diagnostics, cx.diags);
    if (status != EXIT_DONE) return status;
    status = read_graph(&cx, line->inputs[0], &graph);
    status = diagnostics_end(&line->diagnostics, &cx, line->colour, status);
    return status == EXIT_DONE && graph != NULL ? bench_graph(arena, line, request, graph, &devices)
                                                : status;
}

int command_bench(int argc, char **argv)
{
    static const struct option options[] = {{"device", required_argument, NULL, OPTION_DEVICE},
                                            {"rounds", required_argument, NULL, OPTION_ROUNDS},
                                            {"json", no_argument, NULL, OPTION_JSON},
                                            {NULL, 0, NULL, 0}};
    struct request request = {.packets = PACKETS_DEFAULT, .rounds = ROUNDS_DEFAULT};
    struct arena *arena = arena_create();
    struct command_options own = {.help = help_text,
                                  .letters = "n:p:",
                                  .longer = options,
                                  .take = take_bench_option,
                                  .data = &request,
                                  .shares = SHARES_ANALYSIS | SHARES_DEFINITIONS};
    struct command_line line = command_line_parse_command(argc, argv, arena, &own);
    int status = EXIT_FILES;
    if (line.action == COMMAND_DONE)
        status = standard_output_status();
    else if (line.action != COMMAND_USAGE && line.input_count > 1)
        fprintf(stderr, "pipec: error: a second input file '%s'\n", line.inputs[1]);
    else if (line.action != COMMAND_USAGE && strcmp(line.inputs[0], "-") == 0)
        fputs("pipec: error: each run reads the source: name a file\n", stderr);
    else if (line.action != COMMAND_USAGE)
        status = run_bench_command(arena, &line, &request);
    arena_destroy(arena);
    return status;
}
