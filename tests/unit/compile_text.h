/* SPDX-License-Identifier: MIT */
/*
 * compile_text: compiles a program from memory, for tests of what follows sema.
 */
#ifndef TESTS_COMPILE_TEXT_H
#define TESTS_COMPILE_TEXT_H

#include "compiler/ir/graph.h"

struct text_compile {
    struct compile cx;
    struct graph *graph; /* NULL after errors in parse or sema */
};

/* Parses and elaborates `text`; the caller runs analyses on `graph` and ends with
 * text_compile_free. */
struct text_compile *text_compile(const char *text);
/* The same of one of several pipelines; NULL: there is only one. */
struct text_compile *text_compile_pipeline(const char *text, const char *pipeline);
void text_compile_free(struct text_compile *compile);
/* Everything reported so far, as pipec prints it; the caller frees. */
char *text_compile_messages(struct text_compile *compile);

#endif
