/* SPDX-License-Identifier: MIT */
/*
 * kernel_sources: where a command list of a program has its kernels from.
 *
 * A list names the program's file, or, made of a list, the files that this one names; in a form that
 * holds where the list is written.  It carries the text of items itself (kernels, functions,
 * structs, constants, with their comments) where it is to be whole, and of those that have no file: of
 * standard input, and of a list that carries some already.
 */
#ifndef PIPEC_KERNEL_SOURCES_H
#define PIPEC_KERNEL_SOURCES_H

#include "compiler/describe/describe.h"
#include "compiler/syntax/ast.h"

/* `output`: the file that the list is written to; NULL, "-": a stream, which may go anywhere.
 * `embed`: the text of everything that is not the library's. */
const struct kernel_sources *kernel_sources(struct compile *cx, const struct ast_program *program,
                                            const char *output, bool embed);

#endif
