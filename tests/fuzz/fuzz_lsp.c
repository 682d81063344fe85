/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes as the input of the language server. Bytes that begin with "Content-Length:" are the messages as
 * an editor sends them. Otherwise each line is the body of a message, after `initialize`. Answers are computed in this
 * process. A document file://tests/fuzz/containers.pipe is a file, so that its diagnostics are computed, too.
 */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/commands/lsp_server.h"
#include "base/memory_text.h"

static void put_message(FILE *to, const void *body, size_t size)
{
    fprintf(to, "Content-Length: %zu\r\n\r\n", size);
    fwrite(body, 1, size, to);
}

static void put_lines(FILE *to, const char *text, size_t size)
{
    static const char initialize[] = "{\"id\":0,\"method\":\"initialize\",\"params\":{}}";
    put_message(to, initialize, sizeof initialize - 1);
    for (const char *end = text + size; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline != NULL ? newline : end;
        put_message(to, text, (size_t)(stop - text));
        text = stop + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char header[] = "Content-Length:";
    static FILE *nowhere;
    struct memory_text input;
    size_t input_size;
    if (nowhere == NULL) nowhere = fopen("/dev/null", "w");
    if (nowhere == NULL || !memory_text_begin(&input)) return 0;
    if (size >= sizeof header - 1 && memcmp(data, header, sizeof header - 1) == 0)
        fwrite(data, 1, size, input.file);
    else
        put_lines(input.file, (const char *)data, size);
    char *bytes = memory_text_end(&input, &input_size);
    FILE *from = bytes != NULL && input_size > 0 ? fmemopen(bytes, input_size, "r") : NULL;
    if (from != NULL) {
        lsp_server_run(from, nowhere, true);
        fclose(from);
    }
    free(bytes);
    return 0;
}
