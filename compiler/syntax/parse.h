/* SPDX-License-Identifier: MIT */
/*
 * parse: from source files to an AST.
 *
 * Requires  cx with sources, names and diags.
 * Returns   the program with every import loaded once; never NULL.  It is correct if no error was
 *           reported.
 * Fails     RULE_SYNTAX and its relatives, RULE_IMPORT_NOT_FOUND. Recovers at `;` and `}`, so that
 *           independent errors are all reported.  The caller reports a main file that cannot be read
 *           (source_read's status).
 */
#ifndef PIPEC_PARSE_H
#define PIPEC_PARSE_H

#include "compiler/context/context.h"
#include "compiler/syntax/ast.h"

/* Parses source `id` (already read) and, recursively, its imports. */
struct ast_program *parse_program(struct compile *cx, uint32_t id);
/* Parses only this file, without its imports. */
struct ast_file *parse_one_file(struct compile *cx, uint32_t id);

#endif
