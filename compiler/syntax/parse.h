/* SPDX-License-Identifier: MIT */
/*
 * parse: from source files to an AST.
 *
 * Requires  cx with sources, names and diags.
 * Returns   the program with every import loaded once; never NULL.  Success is "no error was
 *           reported".
 * Fails     RULE_SYNTAX and its relatives, RULE_IMPORT_NOT_FOUND; recovers at `;` and `}` so that
 *           independent errors are all reported.  A main file that cannot be read is reported by
 *           the caller (source_read's status).
 */
#ifndef PIPEC_PARSE_H
#define PIPEC_PARSE_H

#include "compiler/context/context.h"
#include "compiler/syntax/ast.h"

/* Parses source `id` (already read) and, recursively, what it imports. */
struct ast_program *parse_program(struct compile *cx, uint32_t id);
/* Parses it alone: its imports are not looked for. */
struct ast_file *parse_one_file(struct compile *cx, uint32_t id);

#endif
