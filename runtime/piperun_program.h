/*
 * piperun_program: `piperun disasm`, `verify` and `asm`: the scheduler program of a container.
 *
 * argv[0] is the subcommand's name.  Each returns the exit code; everything has been said and
 * freed.
 */
#ifndef RUNTIME_PIPERUN_PROGRAM_H
#define RUNTIME_PIPERUN_PROGRAM_H

int prt_command_disasm(int argc, char **argv);
int prt_command_verify(int argc, char **argv);
int prt_command_asm(int argc, char **argv);

#endif
