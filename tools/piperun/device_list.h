/* SPDX-License-Identifier: MIT */
/*
 * device_list: `piperun --list-devices` and `piperun partition`: the devices, how they can be
 * partitioned, and the part of one on which a program runs.
 *
 * Each returns the exit code, and has printed its messages; a command frees its memory.
 */
#ifndef TOOLS_PIPERUN_DEVICE_LIST_H
#define TOOLS_PIPERUN_DEVICE_LIST_H

#include "tools/piperun/partition_scheme.h"

int prt_command_list_devices(void);
/* argv[0] is "partition". */
int prt_command_partition(int argc, char **argv);

/* The part of a device that a program runs on, as `--partition` and `--sub-device` name it: the steps
 * of prt_run_options, which point into the schemes. */
struct prt_part {
    struct prt_scheme *schemes;
    size_t scheme_count;
    struct prt_sub_device_step *steps;
    uint32_t step_count;
};

/* `partition`: the words that `piperun partition DEVICE` takes after the device, in one text; `path`:
 * a sub-device as its table names it, "1.0".  Returns an exit code; the message has been printed;
 * prt_part_free in any case. */
int prt_part_read(const char *device, const char *partition, const char *path,
                  struct prt_part *part);
/* A zeroed one is allowed. */
void prt_part_free(struct prt_part *part);

#endif
