/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes as an operation of the graphical editor, on one program. The new text has all comments of the program,
 * and no syntax error: then a second operation that removes a part that does not exist is refused for that reason only.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/commands/answer_child.h"
#include "compiler/commands/edit_work.h"

static const char path[] = "tests/fuzz/containers.pipe"; /* a file, in whose place the text is */

static const char program[] = "kernel k(in i32 x, out i32 y; i32 n = 1) { y <- x + n; }\n"
                              "kernel j(in i32 a, in i32 b, out i32 y) { y <- a + b; }\n"
                              "pipeline main(in i32 x, out i32 y) {\n"
                              "    buffer i32 p, q depth 4; // one\n"
                              "    first: k(x -> p; 2); // two\n"
                              "    p -> k -> /* three */ k(3) -> q;\n"
                              "    for (int i = 0; i < 1; i++) j(p, q -> y);\n"
                              "}\n";

static char *apply(const char *text, size_t size, const char *operation, size_t *answer_bytes)
{
    struct arena *arena = arena_create();
    struct editor_document document = {path, path, text, size};
    struct editor_request request = {.arena = arena,
                                     .documents = &document,
                                     .open_count = 1,
                                     .document_count = 1,
                                     .document = &document,
                                     .text = operation};
    char *answer = answer_here(edit_apply, &request, answer_bytes);
    arena_destroy(arena);
    return answer;
}

static void check_text(const char *text, size_t size)
{
    static const char *const comments[] = {"// one\n", "// two\n", "/* three */"};
    size_t answer_bytes;
    for (size_t i = 0; i < sizeof comments / sizeof comments[0]; i++)
        if (memmem(text, size, comments[i], strlen(comments[i])) == NULL) abort();
    char *answer = apply(text, size, "{\"op\":\"remove\",\"at\":0}", &answer_bytes);
    if (answer == NULL || strstr(answer, "no part of a pipeline") == NULL) abort();
    free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *operation = malloc(size + 1), *end;
    size_t answer_bytes;
    if (operation == NULL) return 0;
    memcpy(operation, data, size);
    operation[size] = '\0';
    char *answer = apply(program, sizeof program - 1, operation, &answer_bytes);
    if (answer == NULL) abort();
    size_t text_bytes = strtoul(answer, &end, 10);
    if (*end != '\n' || text_bytes > answer_bytes - (size_t)(end + 1 - answer)) abort();
    if (text_bytes > 0) check_text(end + 1, text_bytes);
    free(answer);
    free(operation);
    return 0;
}
