/* SPDX-License-Identifier: MIT */
#include "compiler/commands/graph_load.h"

#include "base/file_open.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Whether `name` is one of the names in `stage`, with '+' between them. */
static bool stage_has(const char *stage, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = stage; at != NULL;
         at = strchr(at, '+') != NULL ? strchr(at, '+') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == '\0' || at[length] == '+'))
            return true;
    return false;
}

static double busy_time(json_t *stages, const char *name)
{
    size_t i;
    json_t *stage;
    json_array_foreach(stages, i, stage)
    {
        const char *of = json_string_value(json_object_get(stage, "name"));
        if (of != NULL && stage_has(of, name))
            return json_number_value(json_object_get(stage, "execute_cycles"));
    }
    return 0;
}

/* The report. NULL: *reason says why. */
static json_t *load_stats(const char *path, const char **reason)
{
    json_error_t error;
    FILE *file = file_open_input_stream(path);
    if (file == NULL) {
        *reason = file_error_text(errno);
        return NULL;
    }
    errno = 0;
    json_t *report = json_loadf(file, 0, &error);
    *reason = ferror(file) != 0 && errno != 0 ? file_error_text(errno)
                                              : "it is no report of piperun --stats=json:FILE";
    fclose(file);
    return report;
}

const double *graph_load_read(struct arena *arena, const struct graph *graph, const char *path,
                              const char **reason)
{
    double most = 0, *loads = ARENA_ARRAY(arena, double, graph->nodes.count + 1);
    json_t *report = load_stats(path, reason);
    json_t *stages = json_object_get(report, "stages");
    for (size_t i = 0; i < graph->nodes.count; i++) {
        loads[i] = busy_time(stages, graph->nodes.items[i].name);
        if (loads[i] > most) most = loads[i];
    }
    for (size_t i = 0; most > 0 && i < graph->nodes.count; i++)
        loads[i] /= most;
    bool is_report = json_is_array(stages);
    json_decref(report);
    return is_report ? loads : NULL;
}
