/* SPDX-License-Identifier: MIT */
/*
 * output: files that appear complete or not at all.
 *
 * A regular file is written under a temporary name in the same folder. When it is complete and on disk,
 * it is renamed, and the folder is synchronised. Until then an earlier file stays as it was. A link to
 * the file stays a link. "-" is standard output. Descriptors by name (/dev/stdout) and character devices
 * are written directly. Other files that are not regular are refused: opening a named pipe waits for a
 * reader (base/file_open.h). A temporary file is removed by output_abandon, at exit, and by every signal
 * that ends the process (base/ending_signals.h).
 */
#ifndef PIPEC_OUTPUT_H
#define PIPEC_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
    const char *path; /* as given */
    char *temporary;  /* NULL if written directly */
    char *target;     /* the file that is replaced: `path`, or the target of that link */
    FILE *file;       /* write here */
    bool keep_equal;  /* set after opening: a file that already has these bytes keeps its time */
};

/* False: cannot be created (errno). */
bool output_open(struct output *output, const char *path);
/* Completes and publishes. False: a byte was not written (errno); then no file is left. */
bool output_close(struct output *output);
/* The two halves of output_close, for files that appear together. output_complete writes all bytes
 * without publishing them; output_publish gives the file its name. False: as above, for this
 * output. */
bool output_complete(struct output *output);
bool output_publish(struct output *output);
void output_abandon(struct output *output);

/* Adds a path that is removed at exit or on a signal, until it is forgotten. A folder
 * (`is_folder`) is removed with its files, after all files. False: the table is full. */
bool cleanup_add(const char *path, bool is_folder);
void cleanup_forget(const char *path);
/* As mkdtemp. The new path enters the table before a signal can be handled. */
bool cleanup_make_folder(char *pattern);
/* Removes the path now. If that fails, it is tried again at exit. Keeps errno. */
void cleanup_remove(const char *path);
/* Forgets all paths, in a child process: they belong to its parent. */
void cleanup_disown(void);
/* Installs the exit handler and the signal handlers. Writing a file beyond the limit (ulimit -f)
 * becomes an error of the write. Call it once, at the start of main. */
void cleanup_install(void);

#endif
