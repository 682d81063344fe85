/* SPDX-License-Identifier: MIT */
/*
 * pipeline_argument: the run-time arguments of the compiled pipeline, and their defaults: constants, what -D says, or
 * what an input knows (`x.rate`).
 *
 * Fails  RULE_TYPE_MISMATCH, RULE_CONSTANT_RANGE, RULE_UNKNOWN_BUFFER, RULE_WRONG_KIND_OF_NAME; RULE_UNKNOWN_ARGUMENT:
 *        a -D that names nothing; RULE_TOO_LARGE: more than SEMA_MAX_NODE_BYTES together.
 */
#ifndef PIPEC_PIPELINE_ARGUMENT_H
#define PIPEC_PIPELINE_ARGUMENT_H

#include "compiler/sema/elaborate_internal.h"

/* A run-time argument of a pipeline, declared in `scope`; NULL after an error. */
struct variable *argument_variable(struct elaboration *el, struct scope *scope,
                                   const struct ast_param *param);
/* `offset_bytes`: where the arguments before it end. */
void declare_argument(struct elaboration *el, struct scope *scope, const struct ast_param *param,
                      uint64_t *offset_bytes);
/* Finds the in-ports of defaults such as `x.rate`.  Requires: all ports are declared. */
void bind_properties(struct elaboration *el, struct scope *scope);
/* Whether the default of an argument is what an input of the signature knows; signature NULL: of a command list. */
bool is_input_property(const struct ast_signature *signature, struct scope *scope,
                       const struct ast_expr *value);
/* Checks that every -D names an argument or a compile-time parameter, unless several programs share the definitions. */
void check_definitions(struct elaboration *el);

#endif
