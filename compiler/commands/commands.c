/* SPDX-License-Identifier: MIT */
#include "compiler/commands/commands.h"

#include <stddef.h>
#include <string.h>

#include "compiler/driver/passes.h"
#include "base/nearest.h"

static const struct command commands[] = {
    {"explain", command_explain}, {"fmt", command_fmt},   {"graph", command_graph},
    {"test", command_test},       {"lint", command_lint}, {NULL, NULL},
};

const char *command_nearest(const char *name)
{
    const char *names[sizeof commands / sizeof commands[0]] = {"inspect"};
    size_t count = 1;
    for (const struct command *c = commands; c->name != NULL; c++)
        names[count++] = c->name;
    return nearest_name(name, names, count);
}

const struct command *command_find(const char *name)
{
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}
