/* SPDX-License-Identifier: MIT */
/* pipec edit: a graphical editor of a source, as a page on the loopback address (edit_server.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/commands/commands.h"
#include "compiler/commands/edit_server.h"
#include "compiler/driver/command_line.h"
#include "compiler/driver/driver_files.h"
#include "compiler/support/output.h"

static const char help_text[] =
    "usage: pipec edit [--port=N] [options] FILE.pipe\n"
    "\n"
    "Serves a page with the picture of a pipeline on the loopback address, and prints its URL. "
    "The\n"
    "page inserts, removes, connects and moves kernels, and changes their arguments. Each change "
    "is\n"
    "an edit of the source. The URL has a token that is good for one browser window. Ctrl-C ends "
    "it.\n"
    "\n"
    "  --port=N              the port to listen on (default: a free one)\n"
    "  -p NAME               the pipeline that is shown (default: main, else the only one)\n"
    "  -D NAME=VALUE         a compile-time parameter, or the default of a run-time argument\n"
    "  -I, --buffers, --max-memory, --color, --diagnostics, -W, --min-level, --fail-on, -j, -q, "
    "@FILE:\n"
    "  as in 'pipec --help'; findings are shown as 'pipec lint' without options reports them\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "examples:\n"
    "  $ pipec edit smooth.pipe\n"
    "  $ pipec edit --port=8391 -p main smooth.pipe\n"
    "\n"
    "Exit status: 2 usage or files; it ends by a signal.\n";

enum { OPTION_PORT = COMMAND_OPTION, PORT_MAX = 65535 };

struct request {
    unsigned port;
    const char *pipeline;
};

static const char *take_edit_option(void *data, struct arena *arena, int option, const char *value)
{
    struct request *request = data;
    if (option == 'p') {
        request->pipeline = value;
        return NULL;
    }
    char *end;
    errno = 0;
    unsigned long port = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end != '\0' || errno != 0 || port < 1 || port > PORT_MAX)
        return arena_printf(arena, "--port=%s: a number from 1 to %d", value, PORT_MAX);
    request->port = (unsigned)port;
    return NULL;
}

/* The options of the analyses, as words for `pipec lint`. */
static size_t words_of_options(struct arena *arena, const struct compile_options *options,
                               const char ***words)
{
    static const char *const depths[] = {"default", "min", "fast"};
    size_t count = 0;
    *words = ARENA_ARRAY(arena, const char *,
                         2 * (options->import_folder_count + options->definition_count) + 3);
    for (size_t i = 0; i < options->import_folder_count; i++) {
        (*words)[count++] = "-I";
        (*words)[count++] = options->import_folders[i];
    }
    for (size_t i = 0; i < options->definition_count; i++) {
        (*words)[count++] = "-D";
        (*words)[count++] = arena_printf(arena, "%s=%s", options->definitions[i].name,
                                         options->definitions[i].value);
    }
    (*words)[count++] = arena_printf(arena, "--buffers=%s", depths[options->buffers]);
    (*words)[count++] =
        arena_printf(arena, "--max-memory=%llu", (unsigned long long)options->max_memory_bytes);
    return count;
}

static int edit_file_of(struct arena *arena, const struct command_line *line,
                        const struct request *request)
{
    struct stat info;
    const char *path = line->inputs[0];
    size_t length = strlen(path);
    if (length < 5 || strcmp(path + length - 5, ".pipe") != 0) {
        fprintf(stderr, "pipec: error: '%s': 'pipec edit' edits sources, which end in .pipe\n",
                path);
        return EXIT_FILES;
    }
    if (stat(path, &info) != 0) return file_failure("read", path);
    if (!S_ISREG(info.st_mode)) {
        fprintf(stderr, "pipec: error: '%s' is no regular file\n", path);
        return EXIT_FILES;
    }
    const char **words;
    size_t count = words_of_options(arena, &line->options, &words);
    struct editor_document document = {.uri = path, .path = path, .text = ""};
    struct editor_request about = {.arena = arena,
                                   .documents = &document,
                                   .document = &document,
                                   .words = words,
                                   .word_count = count,
                                   .pipeline = request->pipeline};
    return edit_server_run(&about, request->port);
}

int command_edit(int argc, char **argv)
{
    static const struct option options[] = {{"port", required_argument, NULL, OPTION_PORT},
                                            {NULL, 0, NULL, 0}};
    struct request request = {0};
    struct arena *arena = arena_create();
    struct command_options own = {.help = help_text,
                                  .letters = "p:",
                                  .longer = options,
                                  .take = take_edit_option,
                                  .data = &request,
                                  .shares = SHARES_ANALYSIS | SHARES_DEFINITIONS};
    struct command_line line = command_line_parse_command(argc, argv, arena, &own);
    int status = EXIT_FILES;
    if (line.action == COMMAND_DONE) {
        status = standard_output_status();
    } else if (line.action != COMMAND_USAGE && line.input_count > 1) {
        fprintf(stderr, "pipec: error: a second input file '%s'\n", line.inputs[1]);
    } else if (line.action != COMMAND_USAGE) {
        cleanup_install();
        status = edit_file_of(arena, &line, &request);
    }
    arena_destroy(arena);
    return status;
}
