/* SPDX-License-Identifier: MIT */
/* pipec lint: the findings in files and folders of sources. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/commands/command_lint.h"
#include "base/standard_streams.h"
#include "compiler/commands/commands.h"
#include "compiler/diagnostics/diag_set.h"
#include "compiler/driver/driver_files.h"
#include "compiler/driver/fix_files.h"
#include "compiler/support/output.h"

static const char help_text[] =
    "usage: pipec lint [options] PATH...   files, and folders with the *.pipe below them\n"
    "\n"
    "Findings go to standard output.  All rules are on; 'pipec explain --list' has them.\n"
    "\n"
    "  -j N                  threads (default: as many as processors)\n"
    "  -D NAME=VALUE         a compile-time parameter, or the default of a run-time argument, of "
    "the\n"
    "                        pipelines that have it\n"
    "  -I DIR                folder to look for imports in\n"
    "  --buffers=min|fast|default  depths that are not declared\n"
    "  --max-memory BYTES    maximum memory of all buffers (default 1G; suffixes K M G)\n"
    "  --color=auto|always|never   colours in messages\n"
    "  --diagnostics=text|short|json|jsonl|sarif|github|gitlab|checkstyle[:FILE]\n"
    "                        the form of messages, and the file for them\n"
    "  -Wno-NAME, -WNAME     switch a rule off, on; -Wno-lint: only what compiling reports\n"
    "  -Werror[=NAME]        warnings, or this one, are errors\n"
    "  --min-level=note|warning|error  the minimum level to show\n"
    "  --fail-on=note|warning|error  exit status 1 from this level on (default warning)\n"
    "  --error-limit=N       as text, show N errors (default: all)\n"
    "  --fix                 write the edits of findings where one edit is certain into the "
    "sources\n"
    "  --baseline FILE       do not report the findings that FILE has\n"
    "  --write-baseline FILE write the findings to FILE instead of reporting them\n"
    "  -q                    no count at the end\n"
    "  @FILE                 more arguments, from FILE\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "examples:\n"
    "  $ pipec lint .\n"
    "  $ pipec lint --write-baseline known.json smooth.pipe\n"
    "  $ pipec lint --baseline known.json --diagnostics=sarif:lint.sarif smooth.pipe\n"
    "\n"
    "Exit status: 0 no finding of the level of --fail-on or above, 1 there are some,\n"
    "2 usage or files, 3 internal error.\n";

enum { THREADS_MAX = 256, KEPT_MAX = 1000000 };

static bool path_is_linted(const struct lint_paths *paths, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    for (size_t i = 0; i < paths->items.count; i++)
        if (paths->items.items[i].device == info.st_dev &&
            paths->items.items[i].inode == info.st_ino)
            return true;
    return false;
}

static bool refuse_lint_output(const struct command_line *line, const struct lint_paths *paths,
                               const char *what, const char *path)
{
    if (!path_is_linted(paths, path)) return refuse_over_read(&line->options, what, path);
    fprintf(stderr, "pipec: error: the %s '%s' is a source\n", what, path);
    return true;
}

/* Refuses outputs that would replace a source, or another file that the command reads. */
static bool refuse_lint_outputs(const struct command_line *line, const struct lint_paths *paths)
{
    const struct diagnostic_options *options = &line->diagnostics;
    bool refused = false;
    for (size_t i = 0; i < options->sinks.count; i++)
        refused |=
            refuse_lint_output(line, paths, "diagnostics file", options->sinks.items[i].path);
    if (options->new_baseline != NULL)
        refused |= refuse_lint_output(line, paths, "baseline", options->new_baseline);
    return refused;
}

/* Refuses a -D that no pipeline uses, unless a file has a syntax error: it may have used it. */
static bool refuse_definitions(const struct lint_run *run)
{
    const struct compile_options *options = &run->line->options;
    bool refused = false;
    if (run->unreadable || run->incomplete) return false;
    for (size_t i = 0; i < options->definition_count; i++) {
        if (run->defines[i]) continue;
        refused = true;
        fprintf(stderr, "pipec: error: -D %s: no pipeline of these files has an argument '%s'\n",
                options->definitions[i].name, options->definitions[i].name);
    }
    return refused;
}

static int write_findings(struct lint_run *run, struct command_line *line)
{
    const char *path = "-";
    bool unfinished = run->unreadable || run->paths->failed;
    int status = unfinished ? EXIT_FILES : EXIT_DONE;
    if (status == EXIT_DONE && diagnostics_fail(&line->diagnostics, run->diags))
        status = EXIT_REFUSED;
    bool written =
        diagnostics_write(&line->diagnostics, run->diags, line->colour, unfinished, &path);
    if (written) errno = stream_flush(stdout);
    if (written && errno == 0) return status;
    int failure = file_failure("write", path);
    return failure != EXIT_DONE ? failure : status;
}

bool lint_find(struct lint_run *run, struct arena *arena)
{
    const struct diagnostic_options *options = &run->line->diagnostics;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned count = run->line->jobs;
    if (count == 0) count = processors > 0 ? (unsigned)processors : 1;
    run->threads = count < THREADS_MAX ? count : THREADS_MAX;
    run->sources = sources_create(arena);
    run->diags = diags_create(arena, run->sources);
    run->defines = ARENA_ARRAY(arena, bool, run->line->options.definition_count + 1);
    diag_keep(run->diags, KEPT_MAX);
    diagnostics_set_levels(options, run->diags);
    if (options->baseline != NULL) {
        run->baseline = baseline_load(arena, options->baseline);
        if (run->baseline == NULL) return false;
    }
    lint_files(run);
    return true;
}

static int lint_to_fix(const struct command_line *line, struct arena *arena,
                       const struct diags **diags, const struct sources **sources)
{
    struct lint_paths paths = {0};
    struct lint_run run = {.line = line, .paths = &paths};
    lint_paths_find(&paths, arena, line->inputs, line->input_count);
    if (!lint_find(&run, arena)) return EXIT_FILES;
    *diags = run.diags;
    *sources = run.sources;
    return run.unreadable || paths.failed ? EXIT_FILES : EXIT_DONE;
}

static int run_lint(struct command_line *line, struct arena *arena)
{
    const struct diagnostic_options *options = &line->diagnostics;
    const char *path = NULL;
    struct lint_paths paths = {0};
    lint_paths_find(&paths, arena, line->inputs, line->input_count);
    if (refuse_lint_outputs(line, &paths)) return EXIT_FILES;
    if (!diagnostics_open(&line->diagnostics, &path)) return file_failure("write", path);
    struct lint_run run = {.line = line, .paths = &paths};
    if (!lint_find(&run, arena)) return EXIT_FILES;
    if (run.baseline != NULL) baseline_report_outdated(run.baseline, run.diags);
    if (options->new_baseline != NULL &&
        !baseline_write(run.diags, run.sources, arena, options->new_baseline))
        return file_failure("write", options->new_baseline);
    int status = write_findings(&run, line);
    if (!run.line->quiet && diagnostics_print_counts(&run.line->diagnostics, run.diags, DIAG_NOTE))
        fprintf(stderr, " in %zu file%s\n", run.paths->items.count,
                run.paths->items.count == 1 ? "" : "s");
    return refuse_definitions(&run) ? EXIT_FILES : status;
}

struct command_line command_lint_line(struct arena *arena, int argc, char **argv)
{
    static const struct option none[] = {{NULL, 0, NULL, 0}};
    struct command_options *options = ARENA_NEW(arena, struct command_options);
    *options =
        (struct command_options){.help = help_text,
                                 .letters = "",
                                 .longer = none,
                                 .shares = SHARES_ANALYSIS | SHARES_DEFINITIONS | SHARES_BASELINE,
                                 .reports = true};
    return command_line_parse_command(argc, argv, arena, options);
}

int command_lint(int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct command_line line = command_lint_line(arena, argc, argv);
    int status = EXIT_FILES;
    if (line.action == COMMAND_DONE) {
        status = standard_output_status();
    } else if (line.action != COMMAND_USAGE &&
               (!line.fix || (status = fix_files(&line, lint_to_fix)) == EXIT_DONE)) {
        cleanup_install();
        status = run_lint(&line, arena);
    }
    arena_destroy(arena);
    return status;
}
