/* SPDX-License-Identifier: MIT */
/*
 * import_fix: the edit that imports a file of the library.
 */
#ifndef PIPEC_IMPORT_FIX_H
#define PIPEC_IMPORT_FIX_H

#include "compiler/context/context.h"

/* Adds to `diag` the edit `import "LIBRARY";` in the source of `use`: after its imports, else after the comment at its
 * top, else at its beginning. Adds nothing for a command list. */
void import_fix(const struct compile *cx, struct diag *diag, struct span use, const char *library);

#endif
