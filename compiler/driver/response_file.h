/* SPDX-License-Identifier: MIT */
/*
 * response_file: arguments from files, `@FILE`, quoted as GCC has it.
 *
 * White space separates; single and double quotes keep it; a backslash keeps any one character,
 * inside quotes too.  A file may name further ones, which are found from the current folder.
 */
#ifndef PIPEC_RESPONSE_FILE_H
#define PIPEC_RESPONSE_FILE_H

#include <stdbool.h>

#include "base/arena.h"

#define RESPONSE_FILES_MAX 2000 /* so that files which name each other come to an end */

/* Replaces every argument behind the first that begins with '@' by what its file holds; the result
 * is in `arena` and ends with NULL.  False, reported: a file that cannot be read or that is no
 * text, too many of them. */
bool response_files_expand(int *argc, char ***argv, struct arena *arena);

#endif
