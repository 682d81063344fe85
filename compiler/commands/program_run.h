/* SPDX-License-Identifier: MIT */
/*
 * program_run: runs another program to its end, and keeps what it prints.
 */
#ifndef PIPEC_PROGRAM_RUN_H
#define PIPEC_PROGRAM_RUN_H

#include "base/arena.h"

enum { PROGRAM_OUTPUT_MAX_BYTES = 1 << 20, PROGRAM_NOT_STARTED = 127 };

struct program_run {
    int status;       /* of the exit; 128 and the number of a signal; PROGRAM_NOT_STARTED */
    const char *text; /* its standard output and error, as far as there is room */
};

/* `words` begin with the program's name and end with NULL. Its standard input is empty. */
struct program_run program_run(struct arena *arena, const char *program, const char *const *words);

#endif
