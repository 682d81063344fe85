/* SPDX-License-Identifier: MIT */
/*
 * dead_work_print: which work is left out, and what that saves.
 */
#ifndef PIPEC_DEAD_WORK_PRINT_H
#define PIPEC_DEAD_WORK_PRINT_H

#include <stdio.h>

#include "compiler/ir/graph.h"
#include "base/json_write.h"

/* Tables of left-out work and of blocks taken apart; nothing if there is neither. */
void reduce_print(FILE *to, const struct graph *graph);
/* `"left_out": [..]` */
void reduce_put_json(struct json *json, const struct graph *graph);
/* Likewise, of tables that are constants: "constant_tables". */
void tables_print(FILE *to, const struct graph *graph);
void tables_put_json(struct json *json, const struct graph *graph);

#endif
