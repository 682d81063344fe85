/* SPDX-License-Identifier: MIT */
/*
 * response_file: arguments from files, `@FILE`, with the quoting of GCC.
 *
 * White space separates arguments. Single and double quotes keep it. A backslash keeps any one character,
 * inside quotes too. A file may name further files, relative to the current folder.
 */
#ifndef PIPEC_RESPONSE_FILE_H
#define PIPEC_RESPONSE_FILE_H

#include <stdbool.h>

#include "compiler/context/context.h"

#define RESPONSE_FILES_MAX 2000 /* ends files that name each other */

/* Replaces every argument after the first that begins with '@' by the arguments in that file. The
 * result is in `arena` and ends with NULL; the files are added to `read`. False, reported: a file
 * cannot be read or is not text, or there are too many files. */
bool response_files_expand(int *argc, char ***argv, struct arena *arena,
                           struct compile_options *read);

#endif
