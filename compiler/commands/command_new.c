/* SPDX-License-Identifier: MIT */
/* pipec new: writes a small source to begin with. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler/commands/commands.h"
#include "compiler/driver/command_line.h"
#include "compiler/driver/driver_files.h"
#include "compiler/support/output.h"
#include "lang/embedded.h"

static const char help_text[] =
    "usage: pipec new [--kind=numbers|sound|picture] FILE.pipe\n"
    "\n"
    "Writes a small pipeline with a test, and prints the commands that try it. An existing file "
    "is\n"
    "never changed.\n"
    "\n"
    "  --kind=numbers|sound|picture  what it computes with (default numbers)\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "examples:\n"
    "  $ pipec new first.pipe                   # the mean of four packets\n"
    "  $ pipec new --kind=sound second.pipe     # an echo: a cycle\n"
    "  $ pipec new --kind=picture third.pipe    # outlines: windows on a picture\n"
    "\n"
    "Exit status: 0 done, 2 usage or files.\n";

enum { OPTION_KIND = COMMAND_OPTION };

static const struct embedded_file *start_find(const char *kind)
{
    const struct embedded_file *file = embedded_start_files;
    while (file->name != NULL && strcmp(file->name, kind) != 0)
        file++;
    return file->name != NULL ? file : NULL;
}

static const char *take_new_option(void *data, struct arena *arena, int option, const char *value)
{
    const struct embedded_file **start = data;
    (void)option;
    *start = start_find(value);
    return *start != NULL ? NULL
                          : arena_printf(arena, "--kind=%s: numbers, sound or picture", value);
}

/* The source, with the name of the file in the place of FILE.pipe. */
static void write_start(FILE *to, const struct embedded_file *start, const char *name)
{
    static const char place[] = "FILE.pipe";
    const char *text = (const char *)start->bytes;
    for (const char *at; (at = strstr(text, place)) != NULL; text = at + sizeof place - 1)
        fprintf(to, "%.*s%s", (int)(at - text), text, name);
    fputs(text, to);
}

/* The commands are the indented lines of the comment at the top of the source. */
static void print_commands(const struct embedded_file *start, const char *path)
{
    static const char indent[] = "//     ";
    const char *text = (const char *)start->bytes;
    for (; strncmp(text, "//", 2) == 0; text += strcspn(text, "\n") + 1) {
        if (strncmp(text, indent, sizeof indent - 1) != 0) continue;
        const char *command = text + sizeof indent - 1, *at = strstr(command, "FILE.pipe");
        printf("  %.*s%s%.*s\n", (int)(at - command), command, path, (int)strcspn(at + 9, "\n"),
               at + 9);
    }
}

static int write_new_source(const struct embedded_file *start, const char *path)
{
    const char *slash = strrchr(path, '/');
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return file_failure("write", path);
    cleanup_add(path, false);
    FILE *to = fdopen(file, "w");
    if (to == NULL) {
        close(file);
    } else {
        write_start(to, start, slash != NULL ? slash + 1 : path);
        bool written = ferror(to) == 0;
        if (fclose(to) == 0 && written) {
            cleanup_forget(path);
            return EXIT_DONE;
        }
    }
    cleanup_remove(path);
    return file_failure("write", path);
}

static int run_new_command(const struct command_line *line, const struct embedded_file *start)
{
    const char *path = line->inputs[0];
    size_t length = strlen(path);
    if (line->input_count > 1) {
        fprintf(stderr, "pipec: error: a second file '%s': one is written at a time\n",
                line->inputs[1]);
        return EXIT_FILES;
    }
    if (length < 6 || strcmp(path + length - 5, ".pipe") != 0 || path[length - 6] == '/') {
        fprintf(stderr, "pipec: error: '%s': the name of a source ends in .pipe\n", path);
        return EXIT_FILES;
    }
    int status = write_new_source(start, path);
    if (status != EXIT_DONE) return status;
    if (!line->quiet) {
        printf("'%s' is written. Try it:\n", path);
        print_commands(start, path);
    }
    return standard_output_status();
}

int command_new(int argc, char **argv)
{
    static const struct option options[] = {{"kind", required_argument, NULL, OPTION_KIND},
                                            {NULL, 0, NULL, 0}};
    const struct embedded_file *start = start_find("numbers");
    struct arena *arena = arena_create();
    struct command_options own = {.help = help_text,
                                  .letters = "",
                                  .longer = options,
                                  .take = take_new_option,
                                  .data = &start};
    struct command_line line = command_line_parse_command(argc, argv, arena, &own);
    int status = EXIT_FILES;
    if (line.action == COMMAND_DONE) {
        status = standard_output_status();
    } else if (line.action != COMMAND_USAGE) {
        cleanup_install();
        status = run_new_command(&line, start);
    }
    arena_destroy(arena);
    return status;
}
