/*
 * piperun_devices: `piperun --list-devices` and `piperun partition`: what there is to run on, and
 * how it can be cut.
 *
 * Each returns the exit code; everything has been said and freed.
 */
#ifndef RUNTIME_PIPERUN_DEVICES_H
#define RUNTIME_PIPERUN_DEVICES_H

int prt_command_list_devices(void);
/* argv[0] is "partition". */
int prt_command_partition(int argc, char **argv);

#endif
