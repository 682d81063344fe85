/* SPDX-License-Identifier: MIT */
#include "compiler/commands/commands.h"

#include <stddef.h>
#include <string.h>

#include "compiler/driver/passes.h"
#include "base/nearest.h"

static const struct command commands[] = {
    {"bench", command_bench}, {"complete", command_complete}, {"doctor", command_doctor},
    {"edit", command_edit},   {"explain", command_explain},   {"fmt", command_fmt},
    {"graph", command_graph}, {"help", command_help},         {"lint", command_lint},
    {"lsp", command_lsp},     {"new", command_new},           {"report", command_report},
    {"run", command_run},     {"test", command_test},         {NULL, NULL},
};

const char *command_name(size_t index)
{
    size_t count = sizeof commands / sizeof commands[0] - 1;
    if (index < count) return commands[index].name;
    return index == count ? "inspect" : NULL;
}

const char *command_nearest(const char *name)
{
    const char *names[sizeof commands / sizeof commands[0]];
    size_t count = 0;
    for (; command_name(count) != NULL; count++)
        names[count] = command_name(count);
    return nearest_name(name, names, count);
}

const struct command *command_find(const char *name)
{
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}
