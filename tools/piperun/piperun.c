/* SPDX-License-Identifier: MIT */
/*
 * piperun: runs a compiled pipeline from the command line.
 *
 *     piperun.c           chooses the command
 *     run_options.c       reads the command line
 *     run_version.c       --version
 *     program_load.c      loads the program; compiles it first if it is a source file
 *     port_binding.c      binds ports to files
 *     run_ports.c         opens and publishes the files
 *     run_command.c       the steps of a run, and its report
 *     run_watch.c         progress, --top, --watch: watch/
 *     replay_print.c      the steps of a counterexample
 *     debug_session.c     the debugger: debug_commands.c, line_input.c
 *     signals.c           interrupts, time-out, crashes
 *     program_text.c      disasm, verify, asm
 *     device_list.c       --list-devices, partition
 *     partition_scheme.c  the words after partition
 *     message.c           messages
 */
#include "base/standard_streams.h"
#include "tools/piperun/run_options.h"
#include "tools/piperun/device_list.h"
#include "tools/piperun/message.h"
#include "tools/piperun/program_text.h"
#include "tools/piperun/run_command.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* The exit code; PRT_COMMAND_RUN: it is none of these. */
static int run_subcommand(int argc, char **argv)
{
    if (argc < 2) return PRT_COMMAND_RUN;
    if (strcmp(argv[1], "disasm") == 0) return prt_command_disasm(argc - 1, argv + 1);
    if (strcmp(argv[1], "verify") == 0) return prt_command_verify(argc - 1, argv + 1);
    if (strcmp(argv[1], "asm") == 0) return prt_command_asm(argc - 1, argv + 1);
    if (strcmp(argv[1], "partition") == 0) return prt_command_partition(argc - 1, argv + 1);
    return PRT_COMMAND_RUN;
}

static int run_file(int argc, char **argv)
{
    struct prt_command command = {.file = NULL};
    int exit_code = prt_command_read(argc, argv, &command);
    if (exit_code == PRT_COMMAND_RUN) {
        prt_message_levels(command.quiet, command.verbose);
        exit_code = prt_command_run(&command);
    }
    prt_command_free(&command);
    return exit_code;
}

int main(int argc, char **argv)
{
    standard_streams_occupy();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that would become too large is an error of its write */
    int exit_code = run_subcommand(argc, argv);
    if (exit_code == PRT_COMMAND_RUN) exit_code = run_file(argc, argv);
    return prt_output_finish(exit_code);
}
