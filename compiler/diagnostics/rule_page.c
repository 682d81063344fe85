/* SPDX-License-Identifier: MIT */
#include "compiler/diagnostics/rule_page.h"

#include <string.h>

#include "lang/embedded.h"

static const char *page_text(enum rule rule)
{
    for (const struct embedded_file *file = embedded_rule_files; file->name; file++)
        if (strcmp(file->name, rule_id(rule)) == 0) return (const char *)file->bytes;
    return "";
}

/* The line that begins with `title`, or NULL. */
static const char *find_title(const char *text, const char *title)
{
    size_t length = strlen(title);
    while (text != NULL && strncmp(text, title, length) != 0) {
        text = strchr(text, '\n');
        if (text != NULL) text++;
    }
    return text;
}

static size_t line_length(const char *line)
{
    return strcspn(line, "\n");
}

static const char *next_line(const char *line)
{
    line += line_length(line);
    return *line == '\n' ? line + 1 : line;
}

static struct rule_example read_example(struct arena *arena, const char *text, const char *title)
{
    static const char with[] = ", with ";
    struct rule_example example = {.options = "", .language = ""};
    const char *line = find_title(text, title);
    if (line == NULL) return example;
    const char *rest = line + strlen(title);
    size_t length = line_length(rest);
    if (strncmp(rest, with, sizeof with - 1) == 0 && length > sizeof with)
        example.options = arena_string(arena, rest + sizeof with - 1, length - sizeof with);
    const char *fence = strstr(line, "```");
    const char *end = fence != NULL ? strstr(fence + 3, "```") : NULL;
    if (end == NULL) return example;
    const char *begin = next_line(fence);
    example.language = arena_string(arena, fence + 3, line_length(fence + 3));
    example.text = arena_string(arena, begin, (size_t)(end - begin));
    return example;
}

struct rule_page rule_page(struct arena *arena, enum rule rule)
{
    const char *text = page_text(rule);
    const char *end = find_title(text, "Fails");
    size_t length = end != NULL ? (size_t)(end - text) : strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        length--;
    return (struct rule_page){.explanation = arena_string(arena, text, length),
                              .fails = read_example(arena, text, "Fails"),
                              .fixed = read_example(arena, text, "Fixed")};
}
