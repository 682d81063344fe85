/* SPDX-License-Identifier: MIT */
/*
 * depfile: the rule that lists the files on which an output depends, for make and ninja.
 *
 * The rule lists the files that the compilation read from disk, in the order of reading: the source, the
 * device description, the imports, then the code of extern kernels.  The embedded library, standard input and pipes are not files.
 *
 * Names are quoted for GNU make: a backslash before blanks, '#' and ':'; backslashes doubled before one
 * of these or the end of the name; '$' doubled.  make has no quoting for ';', '|' and '%' (GCC and clang
 * do not quote them either), and none for a line break, which is refused.  ninja reads the same, except
 * that it keeps doubled backslashes.
 */
#ifndef PIPEC_DEPFILE_H
#define PIPEC_DEPFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "compiler/support/source.h"

struct depfile_target {
    const char *text;
    bool verbatim; /* -MT: the name is not quoted */
};

struct depfile {
    bool wanted;
    bool alone;         /* -M: the compilation ends with the rule */
    bool phony_targets; /* -MP: a rule without prerequisites for each file except the source */
    const char *path;   /* "-" is standard output */
    const struct depfile_target *targets;
    size_t target_count;
};

/* Fills in the names that the user did not give. The target is `output`, or the source's name in
 * the current folder with the ending .pbc. The path is `output`, or that target, with the ending
 * .d. An `output` of NULL, "-" or /dev/null counts as none. With `alone` the path is `output`
 * unchanged, and the target comes from the source. False: source and output are streams, and no
 * option names the path. */
bool depfile_complete(struct depfile *depfile, const char *source, const char *output,
                      struct arena *arena);
/* `others`: files that are no sources. False: a name contains a line break; discard the text. */
bool depfile_print(FILE *to, const struct depfile *depfile, const struct sources *sources,
                   const char *const *others, size_t other_count);
bool depfile_quote(FILE *to, const char *name);

#endif
