/* SPDX-License-Identifier: MIT */
/* pipec run: compiles a source and runs it; piperun does both. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler/commands/commands.h"
#include "compiler/commands/piperun_path.h"
#include "compiler/driver/command_line.h"
#include "compiler/driver/driver_files.h"

static const char help_text[] =
    "usage: pipec run FILE.pipe [PORT=PATH[,FORMAT...]]... [-D NAME=VALUE]... [options]\n"
    "\n"
    "Compiles a source in memory and runs it. This is 'piperun FILE.pipe ...': the same options,\n"
    "signals and exit status, which 'piperun --help' lists. A container (.pbc) is run as it is.\n"
    "\n"
    "  PORT=PATH             every port is bound: a file, '-', null, gen:ramp[:COUNT], ...\n"
    "                        'pipec help ports' shows the forms\n"
    "  -D NAME=VALUE         an argument, or a compile-time parameter, of the pipeline\n"
    "  -p NAME               the pipeline (default: main, else the only one)\n"
    "  --device NAME         sim16 (the default), cpu, ...; 'piperun --list-devices'\n"
    "  --stats, --trace=FILE where the time of the run went; a timeline\n"
    "  --debug               run under the debugger\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "examples:\n"
    "  $ pipec run smooth.pipe samples=gen:ramp:8 smooth=-,csv\n"
    "  $ seq 8 | pipec run smooth.pipe -D by=2 samples=-,csv smooth=smooth.wav\n"
    "  $ pipec run smooth.pipe --device=cpu --stats samples=gen:ramp:4096 smooth=null\n"
    "\n"
    "Exit status: that of piperun.\n";

int command_run(int argc, char **argv)
{
    if (argc > 1 && command_line_answer(argv[1], help_text)) return standard_output_status();
    if (argc < 2) {
        fputs("pipec: error: no input file\npipec: 'pipec run --help' lists the options\n", stderr);
        return EXIT_FILES;
    }
    struct arena *arena = arena_create();
    const char *program = piperun_path(arena, NULL);
    argv[0] = arena_printf(arena, "%s", program);
    execvp(program, argv);
    fprintf(stderr, "pipec: error: cannot start '%s': %s\n", program, strerror(errno));
    arena_destroy(arena);
    return EXIT_FILES;
}
