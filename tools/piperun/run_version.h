/* SPDX-License-Identifier: MIT */
/* run_version: what --version of piperun prints. */
#ifndef PIPERUN_RUN_VERSION_H
#define PIPERUN_RUN_VERSION_H

/* `form`: NULL, or "json". Returns the exit status; every other form is an error. */
int prt_version_print(const char *form);

#endif
