/* SPDX-License-Identifier: MIT */
/*
 * library_add: adds the library's files that need no import: its mathematics, for `sin(x)`, and the units, for builtin
 * kernels.
 */
#ifndef PIPEC_LIBRARY_ADD_H
#define PIPEC_LIBRARY_ADD_H

#include "compiler/context/context.h"
#include "compiler/syntax/ast.h"

/* Appends std/math.pipe to a parsed program if the program uses one of its names, and std/units.pipe if it has a builtin
 * kernel; never a file that is there already. */
void library_add(struct compile *cx, struct ast_program *program);

#endif
