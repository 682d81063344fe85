/* SPDX-License-Identifier: MIT */
/*
 * output: files that appear whole or not at all.
 *
 * A regular file is written under a temporary name in the same folder and renamed when it is
 * complete and on disk, so an earlier file stays as it was until then; then the folder is brought to disk.
 * A link to the file stays a link.
 * "-" is standard output; descriptors by name (/dev/stdout) and character devices are written directly.  Everything else
 * that is no regular file is refused: opening a named pipe waits for a reader (base/file_open.h).
 * A temporary is removed by output_abandon, at exit, and by every signal that ends the process (base/ending_signals.h).
 */
#ifndef PIPEC_OUTPUT_H
#define PIPEC_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
    const char *path; /* as given */
    char *temporary;  /* NULL where written directly */
    char *target;     /* the file that it becomes: `path`, or what that is a link to */
    FILE *file;       /* write here */
    bool keep_equal;  /* set after opening: a file that has these bytes already keeps its time */
};

/* False: cannot be created (errno). */
bool output_open(struct output *output, const char *path);
/* Completes and publishes.  False: something was not written (errno); nothing is left behind. */
bool output_close(struct output *output);
/* The two halves, for files that appear together: all bytes are written, and nothing is seen of
 * them yet; then they have their name.  False: as above, for this output. */
bool output_complete(struct output *output);
bool output_publish(struct output *output);
void output_abandon(struct output *output);

/* A path that is removed at exit or on a signal until it is forgotten; a folder (`is_folder`) with the
 * files in it, after all files.  False: no room in the table. */
bool cleanup_add(const char *path, bool is_folder);
void cleanup_forget(const char *path);
/* mkstemp and mkdtemp of something that is in the table as soon as it is there: no signal falls between. */
int cleanup_make_file(char *pattern);
bool cleanup_make_folder(char *pattern);
/* Removes it now; what cannot be, is tried again at exit.  errno stays what it was. */
void cleanup_remove(const char *path);
/* Forgets all of them, in a child process: they are its parent's. */
void cleanup_disown(void);
/* Installs the exit handler and the signal handlers; a file that would become too large (ulimit -f) is an error of
 * its write.  Once, at the start of main. */
void cleanup_install(void);

#endif
