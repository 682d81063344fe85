/* SPDX-License-Identifier: MIT */
/* pipec fmt: sources in their canonical layout. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "compiler/driver/command_line.h"
#include "compiler/commands/commands.h"
#include "compiler/format/format.h"
#include "compiler/driver/driver_files.h"
#include "compiler/support/output.h"
#include "compiler/support/text_diff.h"
#include "compiler/syntax/parse.h"

static const char help_text[] =
    "usage: pipec fmt [--check | --diff] PATH...\n"
    "\n"
    "Lays out the files, and every *.pipe of the folders, in the one canonical way; '-' is "
    "standard\n"
    "input, laid out to standard output.  A file with syntax errors is left as it is.\n"
    "\n"
    "  --check               list the files that would change; write nothing\n"
    "  --diff                print the changes; write nothing\n"
    "  --color, --diagnostics, --min-level, -j, -q, @FILE: as in 'pipec --help'\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "examples:\n"
    "  $ pipec fmt smooth.pipe\n"
    "  $ pipec fmt --check .                             # in CI\n"
    "  $ pipec fmt - <smooth.pipe\n"
    "\n"
    "Exit status: 0 done, 1 files would change or have errors, 2 usage or files, 3 internal "
    "error.\n";

enum mode { MODE_WRITE, MODE_CHECK, MODE_DIFF };
enum { OPTION_CHECK = COMMAND_OPTION, OPTION_DIFF };

static const char *take_fmt_option(void *data, struct arena *arena, int option, const char *value)
{
    enum mode *mode = data, wanted = option == OPTION_CHECK ? MODE_CHECK : MODE_DIFF;
    (void)arena;
    (void)value;
    if (*mode != MODE_WRITE && *mode != wanted) return "--check and --diff: one of them";
    *mode = wanted;
    return NULL;
}

struct run {
    enum mode mode;
    struct command_line line;
    struct arena *arena; /* of the run, for the names of the files */
    struct sources *sources;
    struct diags *diags;
    int status; /* the worst so far */
};

static void worsen_status(struct run *run, int status)
{
    if (status > run->status) run->status = status;
}

static int write_formatted(const struct formatted *formatted, const char *path)
{
    struct output output;
    if (!output_open(&output, path)) return file_failure("write", path);
    fwrite(formatted->text, 1, formatted->size_bytes, output.file);
    return output_close(&output) ? EXIT_DONE : file_failure("write", path);
}

static int show_formatted(const struct run *run, const struct source *source,
                          const struct formatted *formatted)
{
    if (run->mode == MODE_CHECK) {
        printf("%s\n", source->name);
        return EXIT_REFUSED;
    }
    struct text before = {source->name, source->bytes, source->size_bytes};
    struct text after = {source->name, formatted->text, formatted->size_bytes};
    text_diff(stdout, &before, &after);
    return EXIT_REFUSED;
}

/* True if the text has the tokens and comments of its source. Otherwise the file is not written. */
static bool is_faithful(struct compile *cx, uint32_t id, const struct formatted *formatted)
{
    uint32_t copy = source_add(cx->sources, "formatted", formatted->text, formatted->size_bytes);
    if (format_is_same(cx, id, copy)) return true;
    fprintf(stderr, "pipec: internal error: '%s' cannot be laid out; it is left as it is\n",
            source_get(cx->sources, id)->name);
    return false;
}

static int format_parsed(struct run *run, struct compile *cx, uint32_t id, const char *path)
{
    struct formatted formatted = format_source(cx, id);
    if (!is_faithful(cx, id, &formatted)) return EXIT_INTERNAL;
    const struct source *source = source_get(cx->sources, id);
    bool is_stream = strcmp(path, "-") == 0;
    if (run->mode == MODE_WRITE && is_stream) return write_formatted(&formatted, path);
    /* Compares with the source on disk: a byte-order mark counts as a change. */
    if (!source->has_mark && source->size_bytes == formatted.size_bytes &&
        memcmp(source->bytes, formatted.text, formatted.size_bytes) == 0)
        return EXIT_DONE;
    return run->mode == MODE_WRITE ? write_formatted(&formatted, path)
                                   : show_formatted(run, source, &formatted);
}

static void format_path(struct run *run, const char *path)
{
    struct arena *arena = arena_create();
    struct compile cx = {.arena = arena,
                         .names = intern_create(arena),
                         .sources = run->sources,
                         .diags = run->diags,
                         .options = run->line.options};
    uint32_t id;
    size_t errors = diag_error_count(run->diags);
    int status = input_read(&cx, path, &id);
    const struct ast_file *file = status == EXIT_DONE ? parse_one_file(&cx, id) : NULL;
    if (file != NULL && file->is_commands) {
        diag_report(cx.diags, RULE_UNSUPPORTED, (struct span){id, 0, 0},
                    "a command list is laid out by 'pipec graph --format=cmds'");
        status = EXIT_REFUSED;
    }
    if (status == EXIT_DONE && diag_error_count(run->diags) != errors) status = EXIT_REFUSED;
    if (status == EXIT_DONE) status = format_parsed(run, &cx, id, path);
    worsen_status(run, status);
    arena_destroy(arena);
}

static int format_paths(struct run *run)
{
    struct source_paths paths = {0};
    for (size_t i = 0; i < run->line.input_count; i++)
        source_paths_add(&paths, run->arena, run->line.inputs[i]);
    worsen_status(run, unread_folders(&paths));
    /* No diagnostics may replace a source. */
    const struct diagnostic_options *options = &run->line.diagnostics;
    for (size_t k = 0; k < paths.items.count; k++)
        vec_push(run->arena, &run->line.options.also_read, paths.items.items[k]);
    for (size_t i = 0; i < options->sinks.count; i++)
        if (refuse_over_read(&run->line.options, "diagnostics file", options->sinks.items[i].path))
            return EXIT_FILES;
    for (size_t i = 0; i < paths.items.count; i++)
        format_path(run, paths.items.items[i]);
    worsen_status(run, standard_output_status());
    const char *failed = NULL;
    if (!diagnostics_write(&run->line.diagnostics, run->diags, run->line.colour, false, &failed))
        worsen_status(run, file_failure("write", failed));
    return run->status;
}

int command_fmt(int argc, char **argv)
{
    static const struct option options[] = {{"check", no_argument, NULL, OPTION_CHECK},
                                            {"diff", no_argument, NULL, OPTION_DIFF},
                                            {NULL, 0, NULL, 0}};
    struct run run = {.mode = MODE_WRITE, .arena = arena_create()};
    struct command_options own = {.help = help_text,
                                  .letters = "",
                                  .longer = options,
                                  .take = take_fmt_option,
                                  .data = &run.mode};
    const char *failed = NULL;
    int status = EXIT_FILES;
    run.line = command_line_parse_command(argc, argv, run.arena, &own);
    if (run.line.action == COMMAND_DONE) {
        status = standard_output_status();
    } else if (run.line.action != COMMAND_USAGE) {
        cleanup_install();
        run.sources = sources_create(run.arena);
        run.diags = diags_create(run.arena, run.sources);
        diagnostics_set_levels(&run.line.diagnostics, run.diags);
        status = diagnostics_open(&run.line.diagnostics, &failed) ? format_paths(&run)
                                                                  : file_failure("write", failed);
    }
    arena_destroy(run.arena);
    return status;
}
