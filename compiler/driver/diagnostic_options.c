/* SPDX-License-Identifier: MIT */
#include "compiler/driver/diagnostic_options.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/diagnostics/diag_set.h"
#include "compiler/driver/driver_files.h"
#include "base/nearest.h"

/* ---- --diagnostics ---- */

static bool find_diagnostics_format(const char *name, size_t length, enum diag_format *format)
{
    for (int i = 0; i < DIAG_FORMAT_COUNT; i++) {
        const char *known = diag_format_name((enum diag_format)i);
        if (strlen(known) != length || strncmp(known, name, length) != 0) continue;
        *format = (enum diag_format)i;
        return true;
    }
    return false;
}

const char *diagnostic_options_format(struct diagnostic_options *options, struct arena *arena,
                                      const char *text)
{
    struct diagnostic_sink sink = {0};
    const char *colon = strchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    if (!find_diagnostics_format(text, length, &sink.format))
        return arena_printf(arena,
                            "--diagnostics=%s: the formats are text, short, json, jsonl, sarif, "
                            "github, gitlab and checkstyle",
                            text);
    if (colon == NULL) {
        options->on_stderr = sink.format;
        return NULL;
    }
    sink.path = colon + 1;
    if (*sink.path == '\0')
        return arena_printf(arena, "--diagnostics=%s: no file after the colon", text);
    vec_push(arena, &options->sinks, sink);
    return NULL;
}

static bool is_same_output(const char *a, const char *b)
{
    return strcmp(a, b) == 0 && strncmp(a, "/dev/", 5) != 0;
}

static const char *two_outputs(struct arena *arena, const char *path)
{
    if (strcmp(path, "-") == 0) return "two outputs to standard output";
    return arena_printf(arena, "two outputs to '%s'", path);
}

const char *diagnostic_options_check(const struct diagnostic_options *options, struct arena *arena,
                                     const char *output)
{
    const char *baseline = options->new_baseline;
    if (baseline != NULL && options->baseline != NULL)
        return "--baseline FILE reads the findings to leave out, --write-baseline FILE writes "
               "them: "
               "give one of the two";
    if (baseline != NULL && output != NULL && is_same_output(baseline, output))
        return two_outputs(arena, output);
    for (size_t i = 0; i < options->sinks.count; i++) {
        const char *path = options->sinks.items[i].path;
        bool shared = output != NULL && is_same_output(path, output);
        shared |= baseline != NULL && is_same_output(path, baseline);
        for (size_t k = 0; k < i; k++)
            shared |= is_same_output(path, options->sinks.items[k].path);
        if (shared) return two_outputs(arena, path);
    }
    return NULL;
}

/* ---- levels ---- */

static enum rule find_rule(const char *name, struct arena *arena, const char *text,
                           const char **problem)
{
    enum rule rule = rule_find(name);
    if (rule != RULE_COUNT) return rule;
    const char *names[RULE_COUNT + 3];
    for (int i = 0; i < RULE_COUNT; i++)
        names[i] = rule_id((enum rule)i);
    names[RULE_COUNT] = "error";
    names[RULE_COUNT + 1] = "all";
    names[RULE_COUNT + 2] = "lint";
    const char *nearest = nearest_name(name, names, RULE_COUNT + 3);
    *problem = nearest != NULL
                   ? arena_printf(arena, "-W%s: there is no rule '%s'; did you mean '%s'?", text,
                                  name, nearest)
                   : arena_printf(arena, "-W%s: there is no rule '%s'", text, name);
    return RULE_COUNT;
}

/* The effect of "no-", "error=" and "no-error=" on a rule. */
enum effect { ENABLE, DISABLE, MAKE_ERROR, MAKE_WARNING };

static const char *skip_prefix(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static enum effect split_warning(const char *text, const char **name)
{
    static const char *const prefixes[] = {
        [DISABLE] = "no-", [MAKE_ERROR] = "error=", [MAKE_WARNING] = "no-error="};
    for (int i = MAKE_WARNING; i > ENABLE; i--)
        if ((*name = skip_prefix(text, prefixes[i])) != NULL) return (enum effect)i;
    *name = text;
    return ENABLE;
}

const char *diagnostic_options_warning(struct diagnostic_options *options, struct arena *arena,
                                       const char *text)
{
    const char *name, *problem = NULL;
    if (strcmp(text, "all") == 0 || strcmp(text, "lint") == 0 || strcmp(text, "no-lint") == 0) {
        options->lint_rules = *text != 'n';
        return NULL;
    }
    if (strcmp(text, "error") == 0 || strcmp(text, "no-error") == 0) {
        options->warnings_are_errors = *text == 'e';
        return NULL;
    }
    enum effect effect = split_warning(text, &name);
    enum rule rule = find_rule(name, arena, text, &problem);
    if (problem != NULL) return problem;
    if (rule_level(rule) == DIAG_ERROR && effect != MAKE_ERROR)
        return arena_printf(arena, "-W%s: '%s' is an error of the language and cannot be lowered",
                            text, name);
    struct rule_choice *choice = &options->choices[rule];
    choice->disabled = effect == DISABLE || (choice->disabled && effect == MAKE_WARNING);
    choice->enabled =
        effect == ENABLE || effect == MAKE_ERROR || (choice->enabled && effect == MAKE_WARNING);
    if (effect == MAKE_ERROR) choice->effect = AS_ERROR;
    if (effect == MAKE_WARNING) choice->effect = AS_WARNING;
    return NULL;
}

static bool parse_diagnostic_level(const char *text, enum diag_level *level)
{
    for (int known = DIAG_NOTE; known <= DIAG_ERROR; known++) {
        if (strcmp(text, diag_level_name((enum diag_level)known)) != 0) continue;
        *level = (enum diag_level)known;
        return true;
    }
    return false;
}

const char *diagnostic_options_min_level(struct diagnostic_options *options, const char *text)
{
    return parse_diagnostic_level(text, &options->min_level)
               ? NULL
               : "--min-level: the levels are note, warning and error";
}

const char *diagnostic_options_fail_on(struct diagnostic_options *options, const char *text)
{
    return parse_diagnostic_level(text, &options->fail_level)
               ? NULL
               : "--fail-on: the levels are note, warning and error";
}

const char *diagnostic_options_error_limit(struct diagnostic_options *options, const char *text)
{
    char *end;
    errno = 0;
    unsigned long long limit = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || limit > SIZE_MAX)
        return "--error-limit: a number of errors, 0 for no limit";
    options->limits_errors = true;
    options->error_limit = (size_t)limit;
    return NULL;
}

/* ---- the run ---- */

static enum diag_level chosen_level(const struct diagnostic_options *options, enum rule rule)
{
    const struct rule_choice *choice = &options->choices[rule];
    if (choice->disabled) return DIAG_OFF;
    if (rule_is_lint(rule) && !choice->enabled && !options->lint_rules) return DIAG_OFF;
    if (choice->effect == AS_ERROR) return DIAG_ERROR;
    bool raised = choice->effect == AS_ALL_WARNINGS && options->warnings_are_errors;
    return raised && rule_level(rule) == DIAG_WARNING ? DIAG_ERROR : rule_level(rule);
}

void diagnostics_set_levels(const struct diagnostic_options *options, struct diags *diags)
{
    for (int i = 0; i < RULE_COUNT; i++)
        (void)diag_set_level(diags, (enum rule)i, chosen_level(options, (enum rule)i));
    if (options->limits_errors && options->error_limit == 0) diag_keep(diags, SIZE_MAX);
}

bool diagnostics_open(struct diagnostic_options *options, const char **path)
{
    for (size_t i = 0; i < options->sinks.count; i++) {
        struct diagnostic_sink *sink = &options->sinks.items[i];
        if (output_open(&sink->output, sink->path)) continue;
        int error = errno;
        *path = sink->path;
        for (size_t k = 0; k < i; k++)
            output_abandon(&options->sinks.items[k].output);
        errno = error;
        return false;
    }
    return true;
}

bool diagnostics_write(struct diagnostic_options *options, const struct diags *diags, bool colour,
                       bool unfinished, const char **path)
{
    struct diag_view view = {.format = options->on_stderr,
                             .min_level = options->min_level,
                             .colour = colour,
                             .unfinished = unfinished,
                             .all = options->limits_errors ? options->error_limit == 0
                                                           : options->on_stdout,
                             .error_limit = options->error_limit};
    bool written = true;
    int error = 0;
    diag_print(diags, options->on_stdout ? stdout : stderr, &view);
    view.colour = false;
    for (size_t i = 0; i < options->sinks.count; i++) {
        struct diagnostic_sink *sink = &options->sinks.items[i];
        if (sink->output.file == NULL) continue; /* abandoned */
        view.format = sink->format;
        diag_print(diags, sink->output.file, &view);
        if (output_close(&sink->output)) continue;
        if (written) {
            error = errno;
            *path = sink->path;
        }
        written = false;
    }
    errno = error;
    return written;
}

bool diagnostics_print_counts(const struct diagnostic_options *options, const struct diags *diags,
                              enum diag_level lowest)
{
    const struct {
        enum diag_level level;
        size_t count;
    } found[] = {{DIAG_ERROR, diag_error_count(diags)},
                 {DIAG_WARNING, diag_warning_count(diags)},
                 {DIAG_NOTE, diag_note_count(diags)}};
    const char *separator = "pipec: ";
    if (options->on_stderr != DIAG_TEXT && options->on_stderr != DIAG_SHORT) return false;
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        if (found[i].count == 0 || found[i].level < lowest) continue;
        fprintf(stderr, "%s%zu %s%s", separator, found[i].count, diag_level_name(found[i].level),
                found[i].count == 1 ? "" : "s");
        separator = ", ";
    }
    return separator[0] == ',';
}

bool diagnostics_fail(const struct diagnostic_options *options, const struct diags *diags)
{
    return diag_failed(diags) ||
           (options->fail_level <= DIAG_WARNING && diag_warning_count(diags) > 0) ||
           (options->fail_level <= DIAG_NOTE && diag_note_count(diags) > 0);
}

int diagnostics_begin(struct diagnostic_options *options, struct diags *diags)
{
    const char *path;
    diagnostics_set_levels(options, diags);
    return diagnostics_open(options, &path) ? EXIT_DONE : file_failure("write", path);
}

int diagnostics_end(struct diagnostic_options *options, const struct compile *cx, bool colour,
                    int status)
{
    const char *path;
    for (size_t i = 0; i < options->sinks.count; i++) {
        if (!refuse_over_input(cx, "diagnostics file", options->sinks.items[i].path)) continue;
        output_abandon(&options->sinks.items[i].output);
        status = EXIT_FILES;
    }
    if (status == EXIT_DONE && diagnostics_fail(options, cx->diags)) status = EXIT_REFUSED;
    if (diagnostics_write(options, cx->diags, colour, status > EXIT_REFUSED, &path)) return status;
    int failure = file_failure("write", path);
    return failure != EXIT_DONE ? failure : status;
}
