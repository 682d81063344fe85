/* SPDX-License-Identifier: MIT */
/*
 * command_lint: the parts of `pipec lint`.
 *
 *   lint_paths.c   the files: those that are named, and *.pipe in folders
 *   lint_run.c     lints the files on several threads; the findings are in order of path
 */
#ifndef PIPEC_COMMAND_LINT_H
#define PIPEC_COMMAND_LINT_H

#include <sys/types.h>

#include "compiler/lint/baseline.h"
#include "compiler/driver/command_line.h"
#include "base/vec.h"

struct lint_path {
    const char *path;
    dev_t device; /* with `inode`: identifies the file; 0 for "-" */
    ino_t inode;
};

struct lint_paths {
    VEC(struct lint_path) items; /* sorted, each file once */
    bool failed;                 /* a path could not be read; reported */
};

/* Finds the named files, and all *.pipe in the named folders and their subfolders. Skips names
 * that begin with a dot, and links to folders. */
void lint_paths_find(struct lint_paths *paths, struct arena *arena, const char *const *names,
                     size_t count);

struct lint_run {
    const struct command_line *line;
    const struct lint_paths *paths;
    unsigned threads;
    struct baseline *baseline;                            /* or NULL */
    struct sources *sources;                              /* of `diags` */
    struct diags *diags;                                  /* the findings */
    void (*prepare)(void *data, struct sources *sources); /* of each compilation; or NULL */
    void *prepare_data;
    bool *defines;   /* by definition of `line`: a pipeline has the name */
    bool unreadable; /* a file could not be read; reported on stderr */
    bool incomplete; /* a file has a syntax error */
};

/* The result depends only on the files, not on `threads`. */
void lint_files(struct lint_run *run);

/* The options of `pipec lint ...`, with argv[0] "lint". */
struct command_line command_lint_line(struct arena *arena, int argc, char **argv);
/* Examines the files of run->paths, as run->line says. False, reported: the baseline cannot be read. */
bool lint_find(struct lint_run *run, struct arena *arena);

#endif
