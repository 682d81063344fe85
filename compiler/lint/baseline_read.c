/* SPDX-License-Identifier: MIT */
/* Reading a baseline: the one file that knows jansson, whose names are those of json_write. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "compiler/lint/baseline_internal.h"
#include "base/file_open.h"

static bool read_entry(struct arena *arena, const json_t *object, struct entry *entry)
{
    const json_t *file = json_object_get(object, "file"), *rule = json_object_get(object, "rule"),
                 *line = json_object_get(object, "line"), *count = json_object_get(object, "count");
    if (!json_is_string(file) || !json_is_string(rule) || !json_is_string(line)) return false;
    if (!json_is_integer(count) || json_integer_value(count) < 1) return false;
    *entry = (struct entry){
        .file = arena_string(arena, json_string_value(file), json_string_length(file)),
        .rule = arena_string(arena, json_string_value(rule), json_string_length(rule)),
        .line = arena_string(arena, json_string_value(line), json_string_length(line)),
        .count = (uint64_t)json_integer_value(count)};
    return true;
}

static bool read_findings(struct baseline *baseline, struct arena *arena, const json_t *root)
{
    const json_t *version = json_object_get(root, "version");
    const json_t *findings = json_object_get(root, "findings");
    if (!json_is_integer(version) || json_integer_value(version) != BASELINE_VERSION) return false;
    if (!json_is_array(findings)) return false;
    baseline->count = json_array_size(findings);
    baseline->entries = ARENA_ARRAY(arena, struct entry, baseline->count + 1);
    for (size_t i = 0; i < baseline->count; i++)
        if (!read_entry(arena, json_array_get(findings, i), &baseline->entries[i])) return false;
    baseline_sort(baseline);
    return true;
}

struct baseline *baseline_load(struct arena *arena, const char *path)
{
    json_error_t error;
    struct baseline *baseline = ARENA_NEW(arena, struct baseline);
    baseline->path = path;
    FILE *file = file_open_input_stream(path);
    if (file == NULL) {
        fprintf(stderr, "pipec: error: cannot read '%s': %s\n", path, file_error_text(errno));
        return NULL;
    }
    json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    if (root == NULL)
        fprintf(stderr, "pipec: error: '%s' is no baseline: line %d, column %d: %s\n", path,
                error.line, error.column, error.text);
    bool good = root != NULL && read_findings(baseline, arena, root);
    if (root != NULL && !good)
        fprintf(stderr, "pipec: error: '%s' is no baseline of version %d\n", path,
                BASELINE_VERSION);
    json_decref(root);
    return good ? baseline : NULL;
}
