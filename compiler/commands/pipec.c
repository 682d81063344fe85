/* SPDX-License-Identifier: MIT */
/*
 * pipec: the compiler's driver: writes and shows the results of the passes (passes.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/diagnostics/diag_set.h"
#include "compiler/ir/graph.h"
#include "compiler/bodies/checks.h"
#include "compiler/lint/baseline.h"
#include "compiler/codegen/common/codegen.h"
#include "compiler/driver/version.h"
#include "compiler/driver/command_line.h"
#include "compiler/commands/commands.h"
#include "compiler/describe/cost_print.h"
#include "compiler/describe/describe.h"
#include "compiler/describe/front_print.h"
#include "compiler/describe/fuse_print.h"
#include "compiler/describe/header_print.h"
#include "compiler/describe/inspection.h"
#include "compiler/describe/inspection_performance.h"
#include "compiler/describe/launches_print.h"
#include "compiler/describe/dead_work_print.h"
#include "compiler/describe/prediction.h"
#include "compiler/target/target.h"
#include "compiler/driver/driver_files.h"
#include "compiler/driver/fix_files.h"
#include "compiler/driver/kernel_sources.h"
#include "compiler/driver/passes.h"
#include "compiler/plan/program_shape.h"
#include "compiler/support/output.h"
#include "compiler/context/phase_times.h"
#include "compiler/syntax/ast_print.h"
#include "base/plural.h"
#include "base/standard_streams.h"

static const char *output_path(const struct command_line *line)
{
    return line->emit != EMIT_NONE ? line->emit_path : line->output;
}

/* ---- outputs ---- */

/* Compiles the rest and writes the container. False after an error, or with errno of `to`. */
static bool write_container(struct passes *passes, FILE *to)
{
    if (!passes_run(passes, PASS_CONTAINER)) return false;
    const struct container_bytes *container = &passes->container;
    return fwrite(container->bytes, 1, container->size_bytes, to) == container->size_bytes;
}

static bool write_emit_form(struct passes *passes, const struct command_line *line, FILE *to)
{
    struct compile *cx = passes->cx;
    struct sched_error error;
    switch (line->emit) {
    case EMIT_GRAPH: graph_print(to, passes->graph); return true;
    case EMIT_CMDS:
        graph_cmds(to, kernel_sources(cx, passes->program, line->emit_path, false),
                   passes->written);
        return true;
    case EMIT_JSON: graph_json(to, cx, passes->written); return true;
    case EMIT_LLVM: return kernel_emit(cx, passes->graph, KERNEL_TEXT_LLVM, to);
    case EMIT_ASM: return kernel_emit(cx, passes->graph, KERNEL_TEXT_ASM, to);
    case EMIT_OBJ: return kernel_emit(cx, passes->graph, KERNEL_TEXT_OBJ, to);
    case EMIT_PTX: return kernel_emit(cx, passes->graph, KERNEL_TEXT_PTX, to);
    case EMIT_SCHED:
        return passes_run(passes, PASS_SCHEDULE) && sched_disassemble(to, passes->schedule, &error);
    case EMIT_NONE: return write_container(passes, to);
    case EMIT_AST:
    case EMIT_HEADER:
    case EMIT_SKELETON: break;
    }
    return false;
}

static int write_depfile(const struct compile *cx, const struct command_line *line)
{
    const struct depfile *depfile = &line->depfile;
    struct output output;
    if (!depfile->wanted) return EXIT_DONE;
    if (diagnostics_fail(&line->diagnostics, cx->diags)) return EXIT_REFUSED;
    if (refuse_over_input(cx, "dependency file", depfile->path)) return EXIT_FILES;
    if (!output_open(&output, depfile->path)) return file_failure("write", depfile->path);
    output.keep_equal = line->write_if_changed;
    if (!depfile_print(output.file, depfile, cx->sources, cx->read_files.items,
                       cx->read_files.count)) {
        output_abandon(&output);
        fprintf(stderr, "pipec: error: '%s' cannot hold a name with a line break\n", depfile->path);
        return EXIT_FILES;
    }
    return output_close(&output) ? EXIT_DONE : file_failure("write", depfile->path);
}

/* Publishes the output and its dependencies together, the dependencies first. A new output with
 * old dependencies would not be rebuilt when necessary. */
static int publish_output(const struct compile *cx, const struct command_line *line,
                          struct output *output)
{
    output->keep_equal = line->write_if_changed;
    if (refuse_over_input(cx, "output", output->path)) {
        output_abandon(output);
        return EXIT_FILES;
    }
    if (!output_complete(output)) return file_failure("write", output->path);
    int status = write_depfile(cx, line);
    if (status != EXIT_DONE)
        output_abandon(output);
    else if (!output_publish(output))
        status = file_failure("write", output->path);
    return status;
}

/* Writes one output whole, or leaves nothing. */
static int write_program_output(struct passes *passes, const struct command_line *line)
{
    const struct compile *cx = passes->cx;
    const char *path = output_path(line);
    struct output output;
    if (!output_open(&output, path)) return file_failure("write", path);
    bool written = write_emit_form(passes, line, output.file);
    if (diagnostics_fail(&line->diagnostics, cx->diags)) {
        output_abandon(&output);
        return refusal_status(cx);
    }
    if (written) return publish_output(cx, line, &output);
    int status = file_failure("write", path);
    output_abandon(&output);
    return status;
}

static int emit_ast(const struct compile *cx, const struct command_line *line,
                    const struct ast_program *program)
{
    struct output output;
    if (!output_open(&output, line->emit_path)) return file_failure("write", line->emit_path);
    ast_print(output.file, program);
    return publish_output(cx, line, &output);
}

static bool shows_declarations(const struct command_line *line)
{
    return line->emit == EMIT_HEADER || line->emit == EMIT_SKELETON;
}

/* The extern kernels of the file, which need not have a pipeline. */
static int emit_declarations(struct passes *passes, const struct command_line *line)
{
    struct compile *cx = passes->cx;
    const char *source = source_get(cx->sources, passes->source)->name;
    struct output output;
    if (!passes_run(passes, PASS_ELABORATE)) return EXIT_REFUSED;
    if (cx->foreign_kernels.count == 0) {
        fprintf(stderr, "pipec: error: '%s' has no extern kernel\n", source);
        return EXIT_REFUSED;
    }
    if (!output_open(&output, line->emit_path)) return file_failure("write", line->emit_path);
    if (line->emit == EMIT_HEADER)
        header_print(output.file, cx, source);
    else
        skeleton_print(output.file, cx, source);
    return publish_output(cx, line, &output);
}

/* Prints the time of a run of the plan. */
static int predict_run(struct passes *passes, const struct command_line *line)
{
    struct compile *cx = passes->cx;
    struct prediction_extent extent;
    if (!passes_run(passes, PASS_SCHEDULE)) return EXIT_REFUSED;
    const char *problem = NULL;
    if (!target_of(cx->device)->counts_cycles)
        problem = arena_printf(cx->arena, "the time of device '%s' is no model", cx->device->name);
    else
        problem = prediction_parse(cx->arena, passes->graph, line->predicts, &extent);
    if (problem != NULL) {
        fprintf(stderr, "pipec: error: --predict: %s\n", problem);
        return EXIT_FILES;
    }
    if (!prediction_print(stdout, cx->arena, passes->graph, passes->plan, &extent, line->as_json)) {
        fprintf(stderr, "pipec: error: --predict: a run with so many packets does not end\n");
        return EXIT_REFUSED;
    }
    int written = standard_output_status();
    return written == EXIT_DONE ? write_depfile(cx, line) : written;
}

static int inspect_plan(struct passes *passes, const struct command_line *line)
{
    struct compile *cx = passes->cx;
    const struct fusion *fusion = passes->fusion;
    const struct graph *graph = passes->written;
    if (graph->front != NULL) {
        if (passes->plan->front != NULL) front_print_timed(stdout, fusion->graph, passes->plan);
        if (fusion->composites.count > 0)
            fputs("of the pipeline as it is written, before neighbours become one stage\n", stdout);
        front_print_text(stdout, graph);
    } else {
        if (!passes_run(passes, PASS_SCHEDULE)) return EXIT_REFUSED;
        struct verdict verdict = passes_verdict(passes);
        struct inspection inspection =
            inspect_graph(cx, graph, &verdict, fusion, passes->plan, passes->schedule);
        plan_print(stdout, fusion->graph, passes->plan, passes->schedule, line->verbose);
        reduce_print(stdout, graph);
        tables_print(stdout, fusion->graph);
        fuse_print(stdout, fusion);
        cost_print(stdout, cx, graph);
        performance_print(stdout, &inspection);
        launches_print(stdout, cx->sources, graph);
        checks_print(stdout, cx->sources, graph);
    }
    int written = standard_output_status();
    return written == EXIT_DONE ? write_depfile(cx, line) : written;
}

/* Prints the object even after errors; the exit status reports them. */
static int print_inspection(struct compile *cx, const struct command_line *line,
                            struct inspection *inspection)
{
    inspection->diags = cx->diags;
    if (line->as_json)
        inspection_print_json(stdout, inspection);
    else
        inspection_print_text(stdout, inspection, line->verbose);
    int written = standard_output_status();
    if (written != EXIT_DONE) return written;
    return diag_failed(cx->diags) ? EXIT_REFUSED : write_depfile(cx, line);
}

/* Prints the known facts about the program. Without --device it has no plan. */
static int inspect_as_json(struct passes *passes, const struct command_line *line)
{
    passes_run(passes, line->device_given ? PASS_SCHEDULE : PASS_DEBUG_DEPTHS);
    struct verdict verdict = passes_verdict(passes);
    struct inspection inspection = inspect_graph(passes->cx, passes->written, &verdict,
                                                 passes->fusion, passes->plan, passes->schedule);
    return print_inspection(passes->cx, line, &inspection);
}

/* Writes the counterexample of a refused program, without the reports of its plan and code. */
static int write_counterexample(struct passes *passes, const struct command_line *line,
                                const struct counterexample *found)
{
    struct compile *cx = passes->cx;
    const char *path = line->counterexample;
    struct output output;
    const char *problem = counterexample_prepare(cx, passes->written, found);
    if (problem != NULL) {
        fprintf(stderr, "pipec: error: '%s' is not written: %s\n", path, problem);
        return EXIT_REFUSED;
    }
    if (refuse_over_input(cx, "counterexample", path)) return EXIT_FILES;
    if (!output_open(&output, path)) return file_failure("write", path);
    struct diags *reported = cx->diags;
    cx->diags = diags_create(cx->arena, cx->sources);
    struct passes rest = passes_of_depths(cx, passes->written);
    bool written = write_container(&rest, output.file);
    bool failed = diag_failed(cx->diags);
    if (cx->halt != HALT_NONE) diag_take(reported, cx->diags);
    cx->diags = reported;
    if (!written) output_abandon(&output);
    if (cx->halt != HALT_NONE) return refusal_status(cx);
    if (failed) {
        fprintf(stderr, "pipec: error: '%s' is not written: device '%s' cannot run it\n", path,
                cx->device->name);
        return EXIT_REFUSED;
    }
    if (!written) return file_failure("write", path);
    return output_close(&output) ? EXIT_DONE : file_failure("write", path);
}

/* Reports as every analysis, and prints the sequence on standard output. */
static int trace_deadlock(struct passes *passes, const struct command_line *line)
{
    struct compile *cx = passes->cx;
    passes_run(passes, PASS_SUPPRESSIONS);
    struct verdict verdict = passes_verdict(passes);
    struct inspection inspection = inspect_graph(cx, passes->written, &verdict, NULL, NULL, NULL);
    const struct counterexample *found = verdict.consistent == KNOWN_TRUE
                                             ? counterexample_find(cx, passes->written)
                                             : &(struct counterexample){.kind = COUNTER_UNSEARCHED};
    inspection.counterexample = found;
    int status = EXIT_DONE;
    if (line->as_json)
        status = print_inspection(cx, line, &inspection);
    else
        counterexample_print(stdout, passes->written, found);
    int written = standard_output_status();
    if (written != EXIT_DONE) return written;
    if (status > EXIT_REFUSED) return status;
    if (line->counterexample != NULL) {
        written = write_counterexample(passes, line, found);
        if (written != EXIT_DONE) return written;
    }
    return diag_failed(cx->diags) ? EXIT_REFUSED : EXIT_DONE;
}

static int inspect_file_of_container(struct compile *cx, const struct command_line *line,
                                     uint32_t source)
{
    const struct source *file = source_get(cx->sources, source);
    const char *problem;
    const char *chooses = line->options.explores                     ? "--pareto"
                          : line->predicts != NULL                   ? "--predict"
                          : line->options.debug_mode                 ? "--debug-mode"
                          : line->options.buffers != BUFFERS_DEFAULT ? "--buffers"
                          : line->options.layout != LAYOUT_ANY       ? "--layout"
                          : line->options.policy != NULL             ? "--policy"
                                                                     : NULL;
    if (chooses != NULL) {
        fprintf(
            stderr,
            "pipec: error: '%s' is a container, whose plan has been made: %s needs its source\n",
            file->name, chooses);
        return EXIT_FILES;
    }
    struct inspection *inspection =
        inspect_container(cx->arena, file->bytes, file->size_bytes, &problem);
    if (inspection != NULL) return print_inspection(cx, line, inspection);
    fprintf(stderr, "pipec: error: '%s' is not a container that can be shown: %s\n", file->name,
            problem);
    return EXIT_REFUSED;
}

static bool holds_container(const struct compile *cx, uint32_t source)
{
    const struct source *file = source_get(cx->sources, source);
    return is_container(file->bytes, file->size_bytes);
}

/* True for the forms that show the program itself, for any device. */
static bool shows_source(const struct command_line *line)
{
    return line->emit == EMIT_CMDS || line->emit == EMIT_JSON;
}

/* Does not report a program that is too large: writing it does. */
static const struct sched_program *emit_quietly(struct compile *cx, const struct graph *graph,
                                                const struct plan *plan)
{
    struct diags *reported = cx->diags;
    cx->diags = diags_create(cx->arena, cx->sources);
    const struct sched_program *program = sched_emit(cx, graph, plan);
    cx->diags = reported;
    return program;
}

static void describe_compilation(struct compile *cx, const struct graph *graph,
                                 const struct plan *plan)
{
    const struct sched_program *program = emit_quietly(cx, graph, plan);
    struct program_shape shape;
    fprintf(stderr, "pipec: pipeline %s: %zu node%s, %zu buffer%s of %" PRIu64 " byte%s, for %s\n",
            graph->name, graph->nodes.count, plural(graph->nodes.count), graph->buffers.count,
            plural(graph->buffers.count), graph->memory_bytes, plural(graph->memory_bytes),
            plan->device->name);
    if (!program_shape_read(cx->arena, program->code, program->code_bytes, plan->stage_count,
                            &shape))
        return;
    const char *reason = plan->schedule ? plan->schedule->reason : NULL;
    fprintf(stderr,
            "pipec: schedule: %s, %" PRIu32 " of %" PRIu32 " stage%s static%s%s; %" PRIu32
            " bytes of code, %" PRIu32 " a stage\n",
            program_shape_kind(&shape), shape.static_count, shape.stage_count,
            plural(shape.stage_count), reason ? ": " : "", reason ? reason : "", shape.code_bytes,
            program_shape_bytes_per_stage(&shape));
}

static int compile_file(struct compile *cx, const struct command_line *line)
{
    uint32_t source;
    struct devdesc *device = ARENA_NEW(cx->arena, struct devdesc);
    int status = input_read(cx, line->input, &source);
    if (status == EXIT_DONE) status = device_load(cx, line->device, device);
    if (status != EXIT_DONE) return status;
    cx->device = device;

    bool inspects = line->action == COMMAND_INSPECT;
    bool plans = !(inspects && line->as_json) || line->device_given || line->predicts != NULL;
    cx->options.depths_by_clock = plans && target_of(device)->counts_cycles;
    if (inspects && line->traces_deadlock && holds_container(cx, source)) {
        fprintf(stderr,
                "pipec: error: --trace-deadlock takes a source; 'piperun --replay' shows what "
                "a container holds\n");
        return EXIT_FILES;
    }
    if (inspects && holds_container(cx, source)) return inspect_file_of_container(cx, line, source);
    if (shows_source(line)) cx->options.debug_mode = false;
    if (shows_declarations(line)) cx->options.pipeline_optional = true;
    struct passes passes = passes_of_source(cx, source);
    passes.lints = true;
    passes_run(&passes, PASS_PARSE);
    if (inspects && line->traces_deadlock && !line->depfile.alone)
        return trace_deadlock(&passes, line);
    if (inspects && line->predicts != NULL && !line->depfile.alone)
        return predict_run(&passes, line);
    if (inspects && line->as_json && !line->depfile.alone) return inspect_as_json(&passes, line);
    if (refuse_over_input(cx, "output", output_path(line))) return EXIT_FILES;
    bool shows_tree = line->emit == EMIT_AST && !line->depfile.alone;
    if (shows_tree && !diag_failed(cx->diags)) return emit_ast(cx, line, passes.program);
    if (line->depfile.alone)
        return passes_run(&passes, PASS_RECOVERY) ? write_depfile(cx, line) : EXIT_REFUSED;
    if (shows_declarations(line)) return emit_declarations(&passes, line);
    if (!passes_run(&passes, PASS_PLAN)) return EXIT_REFUSED;
    if (inspects) return inspect_plan(&passes, line);
    if (line->verbose) describe_compilation(cx, passes.graph, passes.plan);
    if (line->output == NULL && line->emit == EMIT_NONE) return write_depfile(cx, line);
    return write_program_output(&passes, line);
}

/* Omits the known findings, or writes the baseline with the new ones. */
static int compile_with_baseline(struct compile *cx, const struct command_line *line)
{
    const struct diagnostic_options *options = &line->diagnostics;
    struct baseline *baseline = NULL;
    if (options->baseline != NULL) {
        baseline = baseline_load(cx->arena, options->baseline);
        if (baseline == NULL) return EXIT_FILES;
        baseline_apply(baseline, cx, false);
    }
    int status = compile_file(cx, line);
    if (baseline != NULL && status == EXIT_DONE) {
        for (uint32_t id = 1; id <= source_count(cx->sources); id++)
            baseline_examined(baseline, source_get(cx->sources, id)->name);
        baseline_report_outdated(baseline, cx->diags);
    }
    if (options->new_baseline == NULL || status > EXIT_REFUSED) return status;
    if (refuse_over_input(cx, "baseline", options->new_baseline)) return EXIT_FILES;
    if (!baseline_write(cx->diags, cx->sources, cx->arena, options->new_baseline))
        return file_failure("write", options->new_baseline);
    return diagnostics_fail(options, cx->diags) ? EXIT_REFUSED : EXIT_DONE;
}

static int run_chosen_command(struct compile *cx, struct command_line *line)
{
    struct diagnostic_options *options = &line->diagnostics;
    int status = diagnostics_begin(options, cx->diags);
    if (status != EXIT_DONE) return status;
    if (line->time_report) phase_times_begin(cx);
    status = compile_with_baseline(cx, line);
    if (status == EXIT_REFUSED) diag_check_suppressions(cx->diags, false);
    status = diagnostics_end(options, cx, line->colour, status);
    if (!line->quiet && diagnostics_fail(options, cx->diags)) {
        enum diag_level lowest = options->fail_level < DIAG_WARNING ? DIAG_NOTE : DIAG_WARNING;
        if (diagnostics_print_counts(options, cx->diags, lowest)) fputc('\n', stderr);
    }
    if (line->time_report) phase_times_print(stderr, cx);
    return status;
}

/* Compiles without any output. */
static int examine_to_fix(const struct command_line *line, struct arena *arena,
                          const struct diags **diags, const struct sources **sources)
{
    struct command_line check = *line;
    struct compile *cx = ARENA_NEW(arena, struct compile);
    *cx = compile_begin(arena, line->options);
    check.emit = EMIT_NONE;
    check.output = NULL;
    check.depfile = (struct depfile){0};
    check.diagnostics.new_baseline = NULL;
    diagnostics_set_levels(&line->diagnostics, cx->diags);
    int status = compile_with_baseline(cx, &check);
    *diags = cx->diags;
    *sources = cx->sources;
    return status;
}

#ifndef PIPEC_COMMIT
#define PIPEC_COMMIT ""
#endif

int main(int argc, char **argv)
{
    const struct command *command = argc > 1 ? command_find(argv[1]) : NULL;
    standard_streams_occupy();
    signal(SIGPIPE, SIG_IGN);
    version_set_commit(PIPEC_COMMIT);
    if (command != NULL) return command->run(argc - 1, argv + 1);
    struct arena *arena = arena_create();
    struct command_line line = command_line_parse(argc, argv, arena, command_nearest);
    int status = EXIT_FILES;
    if (line.action == COMMAND_DONE) {
        status = standard_output_status();
    } else if (line.action != COMMAND_USAGE &&
               (!line.fix || (status = fix_files(&line, examine_to_fix)) == EXIT_DONE)) {
        struct compile cx = compile_begin(arena, line.options);
        cleanup_install();
        signal(SIGCHLD, SIG_DFL); /* if it is ignored, a child leaves no status */
        status = run_chosen_command(&cx, &line);
    }
    arena_destroy(arena);
    return status;
}
