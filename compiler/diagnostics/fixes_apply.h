/* SPDX-License-Identifier: MIT */
/*
 * fixes_apply: writes the edits of diagnostics into their files.
 *
 * The edits of one diagnostic are written together or not at all. In the order of the reports, a diagnostic is left out if one of its
 * edits overlaps an edit that is taken, or is in a source that is no file: standard input, the library. Equal edits
 * are written once. Whole lines that are inserted at one place are all inserted. A file is replaced completely, and
 * only if it still has the text that was read.
 */
#ifndef PIPEC_FIXES_APPLY_H
#define PIPEC_FIXES_APPLY_H

#include "compiler/diagnostics/diag_set.h"

struct fixes_applied {
    size_t findings, files;
    const char *
        failed; /* the file that could not be written, with errno (0: it has changed); NULL: none */
};

/* Applies those of diagnostics from `min_level` on. */
struct fixes_applied fixes_apply(struct arena *arena, const struct diags *diags,
                                 const struct sources *sources, enum diag_level min_level);

#endif
