/* SPDX-License-Identifier: MIT */
/*
 * driver_files: exit statuses, the files that a command reads and writes, and the device.
 *
 * Functions that return int return an exit status of the process. If it is not EXIT_DONE, they have
 * reported the reason, on stderr or as a diagnostic of `cx`.
 */
#ifndef PIPEC_DRIVER_FILES_H
#define PIPEC_DRIVER_FILES_H

#include <stdio.h>

#include "compiler/context/context.h"
#include "compiler/support/source_paths.h"
#include "lang/devdesc.h"

enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_FILES = 2, EXIT_INTERNAL = 3 };

/* The exit status after an error, from cx->halt. */
int refusal_status(const struct compile *cx);

/* Prints "cannot WHAT 'PATH'" with errno's reason and returns the exit status. Path "-" is standard
 * output or input. A reader that has closed the pipe (EPIPE) is no failure. */
int file_failure(const char *what, const char *path);
/* Reports the folders that could not be read. */
int unread_folders(const struct source_paths *paths);
/* Flushes standard output. The status says whether everything that was printed has been written. */
int standard_output_status(void);
int input_read(struct compile *cx, const char *path, uint32_t *source);
/* True if both names are of the same existing regular file. */
bool file_is_same(const char *a, const char *b);
/* Reports, and returns true, if writing `what` ("output") to `path` would overwrite a source of the
 * program, or another file that the command reads. Source 1 is the input; `path` may be NULL.
 * Object files of extern kernels are known once code has been generated: ask before a pass that
 * takes long, and again before the file is replaced. */
bool refuse_over_input(const struct compile *cx, const char *what, const char *path);
/* The part of refuse_over_input for the files beside the sources. */
bool refuse_over_read(const struct compile_options *options, const char *what, const char *path);
/* Parses and reports.  False: it is not valid. */
bool device_read(struct compile *cx, uint32_t source, struct devdesc *device);
/* The file that describes the device of that name; NULL: a built-in device. */
const char *device_path(const char *name);
/* The built-in device of that name, or the device that a file NAME.dev describes. */
int device_load(struct compile *cx, const char *name, struct devdesc *device);

#endif
