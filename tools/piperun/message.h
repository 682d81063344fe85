/* SPDX-License-Identifier: MIT */
/*
 * message: piperun's messages on standard error, and its exit statuses.
 *
 * Every line is `piperun: LEVEL: TEXT`; control bytes in TEXT, which may hold names from files,
 * come out as \xNN.  Thread-safety: main thread; the levels are set once, by the command line.
 */
#ifndef TOOLS_PIPERUN_MESSAGE_H
#define TOOLS_PIPERUN_MESSAGE_H

#include "base/nearest.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum exit_code {
    EXIT_DONE = 0,
    EXIT_REFUSED = 1,
    EXIT_USAGE = 2,
    EXIT_INTERNAL = 3,
    EXIT_FAULT = 4,
    EXIT_TIMEOUT = 5,
    EXIT_DEVICE = 6,
    EXIT_SKIPPED = 77,
    EXIT_SIGNAL = 128, /* and the number of the signal */
    EXIT_SIGINT = 130,
};

/* -q and -v: without notes, with progress. */
void prt_message_levels(bool quiet, bool verbose);

void prt_say_error(const char *format, ...) PRT_PRINTF(1, 2);
/* A note on a run that has gone well; nothing with -q. */
void prt_say_note(const char *format, ...) PRT_PRINTF(1, 2);
/* A step that is done; nothing without -v. */
void prt_say_done(const char *format, ...) PRT_PRINTF(1, 2);

/* A prt_report_callback: prints the report. */
void prt_print_report(void *context, const char *text);

/* Prints an error; its value is the exit code. */
#define PRT_COMPLAIN(exit_code, ...) (prt_say_error(__VA_ARGS__), (exit_code))
int prt_complain_status(const struct prt_error *error);
int prt_complain_memory(void);

/* Flushes standard output at the end of a command, and returns the exit code.  If the command has done well, but not
 * everything has been written, it complains, unless the reader has gone. */
int prt_output_finish(int exit_code);

#endif
