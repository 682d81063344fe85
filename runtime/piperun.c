/*
 * piperun: runs a compiled pipeline from the command line.
 *
 *     piperun.c           which command it is
 *     piperun_command.c   reads the command line
 *     piperun_load.c      loads the program, compiling it first if it is a source file
 *     piperun_bind.c      what the ports are to be bound to
 *     piperun_ports.c     opens and publishes the files behind them
 *     piperun_run.c       the steps of a run, and what is said of it
 *     piperun_replay.c    the steps of a counterexample
 *     piperun_debug.c     the debugger: piperun_debug_commands.c, piperun_lines.c
 *     piperun_signals.c   interrupts, time-out, crashes
 *     piperun_program.c   disasm, verify, asm
 *     piperun_devices.c   --list-devices, partition
 *     piperun_schemes.c   the words behind partition
 *     piperun_message.c   what is printed
 */
#include "lang/standard_streams.h"
#include "runtime/piperun_command.h"
#include "runtime/piperun_devices.h"
#include "runtime/piperun_message.h"
#include "runtime/piperun_program.h"
#include "runtime/piperun_run.h"

#include <errno.h>
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
    if (fflush(stdout) != 0 && errno != EPIPE && exit_code == EXIT_DONE)
        exit_code = PRT_COMPLAIN(EXIT_USAGE, "standard output: %s", strerror(errno));
    return exit_code;
}

int main(int argc, char **argv)
{
    standard_streams_occupy();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that would become too large is an error of its write */
    int exit_code = run_subcommand(argc, argv);
    return exit_code != PRT_COMMAND_RUN ? exit_code : run_file(argc, argv);
}
