/* SPDX-License-Identifier: MIT */
/*
 * rule_page: the pages compiler/rules/ID.md, which are part of the program.
 *
 * A page is an explanation in paragraphs, then "Fails:" and "Fixed:" (or "Fails, with OPTIONS:"),
 * each with a block of text in ``` fences.  tests/e2e/rules.sh compiles both.
 */
#ifndef PIPEC_RULE_PAGE_H
#define PIPEC_RULE_PAGE_H

#include "base/arena.h"
#include "compiler/diagnostics/diag.h"

struct rule_example {
    const char *options;  /* of pipec; empty where none */
    const char *language; /* "pipe", "dev" */
    const char *text;     /* lines, each with its newline; NULL: the page has no such example */
};

struct rule_page {
    const char
        *explanation; /* paragraphs, with an empty line between two; without a final newline */
    struct rule_example fails, fixed;
};

/* Texts live in `arena`.  Every rule has a page. */
struct rule_page rule_page(struct arena *arena, enum rule rule);

#endif
