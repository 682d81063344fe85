/* SPDX-License-Identifier: MIT */
/*
 * piperun_path: the program that runs containers.
 */
#ifndef PIPEC_PIPERUN_PATH_H
#define PIPEC_PIPERUN_PATH_H

#include "base/arena.h"

/* The program `wanted`, else the piperun in the folder of this process, else "piperun", which PATH is
 * searched for. A path with a slash is absolute if the file exists. */
const char *piperun_path(struct arena *arena, const char *wanted);

#endif
