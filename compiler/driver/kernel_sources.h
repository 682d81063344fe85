/* SPDX-License-Identifier: MIT */
/*
 * kernel_sources: the sources of the kernels of a program that is written as a command list.
 *
 * The list names the program's file. If the program is a command list itself, the new list names the
 * files that this one names, with paths that hold in the new place. The list has the text of items
 * (kernels, functions, structs, constants, with their comments) if it must be complete in itself. It also
 * has the text of items without a file: of standard input, and of a list that has such items already.
 */
#ifndef PIPEC_KERNEL_SOURCES_H
#define PIPEC_KERNEL_SOURCES_H

#include "compiler/describe/describe.h"
#include "compiler/syntax/ast.h"

/* `output`: the file of the list; NULL or "-": a stream, which may go anywhere. `embed`: include
 * the text of all items except the library's. */
const struct kernel_sources *kernel_sources(struct compile *cx, const struct ast_program *program,
                                            const char *output, bool embed);

#endif
