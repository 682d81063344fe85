/* SPDX-License-Identifier: MIT */
#include "compiler/sema/import_fix.h"

#include <string.h>

static bool line_begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* The offset past the line at `at`. */
static size_t line_end(const struct source *source, size_t at)
{
    const char *end = memchr(source->bytes + at, '\n', source->size_bytes - at);
    return end != NULL ? (size_t)(end - source->bytes) + 1 : source->size_bytes;
}

/* Reads imports, line comments and empty lines, and stops at anything else. *after_import: past the last import; 0: none.
 * Returns the offset past the comment at the top that an empty line ends, or 0. */
static size_t read_head(const struct source *source, size_t *after_import)
{
    size_t head = 0;
    bool in_comment = false;
    for (size_t at = 0; at < source->size_bytes; at = line_end(source, at)) {
        const char *line = source->bytes + at;
        bool empty = line[strspn(line, " \t\r")] == '\n';
        size_t end = line_end(source, at);
        if (line_begins(line, "import \"") && source->bytes[end - 1] == '\n')
            *after_import = end;
        else if (!line_begins(line, "//") && !empty)
            break;
        if (empty && in_comment && head == 0) head = end;
        in_comment = line_begins(line, "//");
    }
    return head;
}

void import_fix(const struct compile *cx, struct diag *diag, struct span use, const char *library)
{
    const struct source *source = source_get(cx->sources, use.source);
    size_t length = strlen(source->name), imports = 0;
    bool is_list = line_begins(source->bytes, "// pipec commands") ||
                   (length > 5 && strcmp(source->name + length - 5, ".cmds") == 0);
    if (is_list) return;
    size_t head = read_head(source, &imports);
    uint32_t at = (uint32_t)(imports > 0 ? imports : head);
    diag_fix(diag, (struct span){use.source, at, at}, "import \"%s\";\n%s", library,
             imports > 0 ? "" : "\n");
}
