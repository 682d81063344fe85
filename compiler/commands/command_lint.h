/* SPDX-License-Identifier: MIT */
/*
 * command_lint: the parts of `pipec lint`.
 *
 *   lint_paths.c   which files: those that are named, and *.pipe in folders
 *   lint_run.c     the files one by one, on several threads; what they report in order of path
 */
#ifndef PIPEC_COMMAND_LINT_H
#define PIPEC_COMMAND_LINT_H

#include <sys/types.h>

#include "compiler/lint/baseline.h"
#include "compiler/driver/command_line.h"
#include "base/vec.h"

struct lint_path {
    const char *path;
    dev_t device; /* with `inode`: which file this is; 0 for "-" */
    ino_t inode;
};

struct lint_paths {
    VEC(struct lint_path) items; /* sorted, each file once */
    bool failed;                 /* something could not be read, and was reported */
};

/* Files as they are named; folders with what ends in .pipe below them, but for what begins with a
 * dot; links to folders are not followed. */
void lint_paths_find(struct lint_paths *paths, struct arena *arena, const char *const *names,
                     size_t count);

struct lint_run {
    const struct command_line *line;
    const struct lint_paths *paths;
    unsigned threads;
    struct baseline *baseline; /* or NULL */
    struct sources *sources;   /* of `diags` */
    struct diags *diags;       /* what was found */
    bool *defines;             /* by definition of `line`: a pipeline has what it names */
    bool unreadable;           /* a file could not be read, and was reported on stderr */
    bool incomplete;           /* a file has a syntax error */
};

/* The result depends on nothing but the files: not on `threads`. */
void lint_files(struct lint_run *run);

#endif
