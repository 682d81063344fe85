/* SPDX-License-Identifier: MIT */
/*
 * depfile: the rule that tells make and ninja which files an output depends on.
 *
 * Listed are the files that the compilation read from disk, in the order in which it read them: the
 * source, the device description, the imports.  The embedded library, standard input and pipes are
 * not files.  Names are quoted as GNU make wants them: a backslash before blanks, '#' and ':',
 * backslashes doubled where one of these or the end of the name follows, '$' doubled.  make has no
 * quoting for ';', '|' and '%' (nor have GCC and clang), and none for a line break, which is
 * refused.  ninja reads the same, except that it takes doubled backslashes for names of their own.
 */
#ifndef PIPEC_DEPFILE_H
#define PIPEC_DEPFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "compiler/support/source.h"

struct depfile_target {
    const char *text;
    bool verbatim; /* -MT; a name to quote otherwise */
};

struct depfile {
    bool wanted;
    bool alone;         /* -M: the compilation ends with the rule */
    bool phony_targets; /* -MP: a rule without prerequisites for all but the source */
    const char *path;   /* "-" is standard output */
    const struct depfile_target *targets;
    size_t target_count;
};

/* Fills in what the user left open: the target is `output`, or the source in the current folder
 * with the ending .pbc; the path is `output`, or that target, with the ending .d.  An `output` of
 * NULL, "-" or /dev/null is none.  With `alone` the path is `output` as it is, and the target comes
 * from the source.  False: source and output are streams and nothing names the path. */
bool depfile_complete(struct depfile *depfile, const char *source, const char *output,
                      struct arena *arena);
/* False: a name holds a line break; what was written is of no use. */
bool depfile_print(FILE *to, const struct depfile *depfile, const struct sources *sources);
bool depfile_quote(FILE *to, const char *name);

#endif
