/* SPDX-License-Identifier: MIT */
/*
 * debug_source: lines of source files.  They come from the container if it holds the sources.  Otherwise they come from the
 * present files: first by the name in the program, then in the debugger's directory.
 *
 * Errors: a missing line is not printed.
 */
#ifndef RUNTIME_DEBUG_DEBUG_SOURCE_H
#define RUNTIME_DEBUG_DEBUG_SOURCE_H

#include "runtime/debug/debug_internal.h"

/* The line with its number, and below it a mark at the column; 0: without one. */
void prt_debugger_source_line(const struct prt_debugger *d, uint32_t source, uint32_t line,
                              uint32_t column, FILE *to);

/* Where the kernel of a stage's node is defined, as far as it is known. */
void prt_debugger_kernel_place(const struct prt_debugger *d, uint32_t stage, uint32_t *source,
                               uint32_t *line);

#endif
