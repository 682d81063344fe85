/* SPDX-License-Identifier: MIT */
/*
 * file_open: opens files by name without waiting for another process.
 *
 * Opening a named pipe waits for its other end, and reading a device may never end. So a name must lead
 * to a regular file, unless it names a stream: /dev/stdin, /dev/stdout, /dev/fd/3, /proc/self/fd/3, and
 * links to these. The opened file is examined, not its name, because the name may lead to another file
 * by then.
 *
 * Thread-safety: yes.
 */
#ifndef BASE_FILE_OPEN_H
#define BASE_FILE_OPEN_H

#include <stdio.h>

/* Values of errno besides those of the system. */
enum { FILE_IS_PIPE = -1, FILE_IS_DEVICE = -2 };

/* Opens a regular file, /dev/null, or a descriptor by name for reading, with close-on-exec. -1:
 * errno, which is EISDIR for a folder. */
int file_open_input(const char *path);
/* As file_open_input, but returns a stream. NULL: errno. */
FILE *file_open_input_stream(const char *path);

/* Opens an existing character device, such as /dev/null, for writing, with close-on-exec. -1:
 * errno. */
int file_open_output_device(const char *path);

/* Opens for writing from the start: a regular file, which is created if it does not exist; a
 * character device; or a descriptor by name. NULL: errno. */
FILE *file_open_output_stream(const char *path);

/* As strerror, and also for the values above. */
const char *file_error_text(int error);

#endif
