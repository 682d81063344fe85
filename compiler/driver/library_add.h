/* SPDX-License-Identifier: MIT */
/*
 * library_add: adds the library's mathematics to a program, so that `sin(x)` needs no import.
 */
#ifndef PIPEC_LIBRARY_ADD_H
#define PIPEC_LIBRARY_ADD_H

#include "compiler/context/context.h"
#include "compiler/syntax/ast.h"

/* Appends std/math.pipe to a parsed program, unless the program uses none of its names or is that file. */
void library_add(struct compile *cx, struct ast_program *program);

#endif
