/* SPDX-License-Identifier: MIT */
/*
 * program_text: `piperun disasm`, `verify` and `asm`: the scheduler program of a container.
 *
 * argv[0] is the subcommand's name.  Each function prints its messages, frees its memory, and returns the exit code.
 */
#ifndef TOOLS_PIPERUN_PROGRAM_TEXT_H
#define TOOLS_PIPERUN_PROGRAM_TEXT_H

int prt_command_disasm(int argc, char **argv);
int prt_command_verify(int argc, char **argv);
int prt_command_asm(int argc, char **argv);

#endif
