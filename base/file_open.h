/* SPDX-License-Identifier: MIT */
/*
 * file_open: files that are opened by name without waiting for another process.
 *
 * Opening a named pipe waits for its other end, and reading a device may never end.  So a name leads to a regular file,
 * unless it says that it is a stream: /dev/stdin, /dev/stdout, /dev/fd/3, /proc/self/fd/3, and links to them.  It
 * examines the opened file, because the name may lead to another one by then.
 *
 * Thread-safety: yes.
 */
#ifndef BASE_FILE_OPEN_H
#define BASE_FILE_OPEN_H

#include <stdio.h>

/* Values of errno besides those of the system. */
enum { FILE_IS_PIPE = -1, FILE_IS_DEVICE = -2 };

/* For reading, closed by exec: a regular file, /dev/null, or a descriptor by name.  -1: errno, EISDIR for a folder. */
int file_open_input(const char *path);
/* The same as a stream.  NULL: errno. */
FILE *file_open_input_stream(const char *path);

/* For writing, closed by exec: a character device that is there, as /dev/null.  -1: errno. */
int file_open_output_device(const char *path);

/* For writing from the start: a regular file, which is made where there is none, a character device, or a descriptor by
 * name.  NULL: errno. */
FILE *file_open_output_stream(const char *path);

/* strerror, which also knows the values above. */
const char *file_error_text(int error);

#endif
