/* SPDX-License-Identifier: MIT */
/*
 * command_explain: the forms of `pipec explain`.
 *
 *   explain_rules.c     rules, from the table and their pages
 *   explain_library.c   items of the library, from their declarations and comments
 */
#ifndef PIPEC_COMMAND_EXPLAIN_H
#define PIPEC_COMMAND_EXPLAIN_H

#include <stdio.h>

#include "compiler/diagnostics/diag.h"
#include "base/vec.h"

/* One line for each rule. */
void explain_list(FILE *to, const enum rule *rules, size_t count);
void explain_text(FILE *to, struct arena *arena, const enum rule *rules, size_t count);
void explain_json(FILE *to, struct arena *arena, const enum rule *rules, size_t count);
/* The page pipec-rules(7). */
void explain_man(FILE *to, struct arena *arena, const enum rule *rules, size_t count);

struct explain_names {
    VEC(const char *) of;
};

/* Explains names of the form `std`, std/FILE, std/FILE.pipe, std/FILE.ITEM or ITEM. Returns an
 * exit status. */
int explain_library(FILE *to, const char **names, size_t count, bool as_json);
/* True if the name has one of the first four forms, or the library has this item. */
bool explain_is_library(const char *name);
/* Adds the names of all items that `pipec explain std/FILE` lists. They live as long as `arena`. */
void explain_item_names(struct arena *arena, struct explain_names *names);

#endif
