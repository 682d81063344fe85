/* SPDX-License-Identifier: MIT */
/*
 * test_internal: the interface between test_block.c (statements) and test_values.c (streams).
 */
#ifndef PIPEC_TEST_INTERNAL_H
#define PIPEC_TEST_INTERNAL_H

#include "compiler/sema/sema_internal.h"
#include "compiler/sema/test_block.h"

/* The stream of `expr`, in packets of `type`.  False after an error; an empty stream is NULL. */
bool test_values_parse(struct sema *sema, struct scope *scope, const struct ast_expr *expr,
                       const struct type *type, struct test_values **out);

/* test_check with a sema that is shared: its graphs are for reading, not for analyses. */
bool test_check_with(struct sema *sema, const struct ast_item *item, struct test_case *test);

#endif
