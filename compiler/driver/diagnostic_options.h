/* SPDX-License-Identifier: MIT */
/*
 * diagnostic_options: where diagnostics go, in which form, and what they do to the exit status.
 *
 * Functions that read an argument return what is wrong with it, or NULL.
 */
#ifndef PIPEC_DIAGNOSTIC_OPTIONS_H
#define PIPEC_DIAGNOSTIC_OPTIONS_H

#include "compiler/context/context.h"
#include "compiler/diagnostics/diag.h"
#include "compiler/support/output.h"
#include "base/vec.h"

struct diagnostic_sink {
    enum diag_format format;
    const char *path;
    struct output output;
};

struct rule_choice {
    bool enabled, disabled;
    enum { AS_ALL_WARNINGS, AS_WARNING, AS_ERROR } effect;
};

struct diagnostic_options {
    enum diag_format on_stderr;
    bool on_stdout; /* that one, instead, and all of it */
    VEC(struct diagnostic_sink) sinks;
    enum diag_level min_level;
    enum diag_level fail_level; /* the exit status is 1 from this level on */
    bool limits_errors;         /* --error-limit was given */
    size_t error_limit;         /* 0: none */
    bool warnings_are_errors;
    bool lint_rules;          /* those that are off by default are on */
    const char *baseline;     /* --baseline: findings to leave out, or NULL */
    const char *new_baseline; /* --write-baseline: where findings are written instead, or NULL */
    struct rule_choice choices[RULE_COUNT];
};

/* --diagnostics=FORMAT[:FILE] */
const char *diagnostic_options_format(struct diagnostic_options *options, struct arena *arena,
                                      const char *text);
/* What follows -W. */
const char *diagnostic_options_warning(struct diagnostic_options *options, struct arena *arena,
                                       const char *text);
/* --min-level, --fail-on, --error-limit */
const char *diagnostic_options_min_level(struct diagnostic_options *options, const char *text);
const char *diagnostic_options_fail_on(struct diagnostic_options *options, const char *text);
const char *diagnostic_options_error_limit(struct diagnostic_options *options, const char *text);
/* Two outputs to one file destroy each other; `output` is what else the run writes, or NULL. */
const char *diagnostic_options_check(const struct diagnostic_options *options, struct arena *arena,
                                     const char *output);

/* The levels of the rules, and how many findings are kept where there is no limit. */
void diagnostics_set_levels(const struct diagnostic_options *options, struct diags *diags);
/* False: *path cannot be written (errno). */
bool diagnostics_open(struct diagnostic_options *options, const char **path);
/* What would be written over a file that the program is made of is given up: true, and reported. */
bool diagnostics_refuse_sources(struct diagnostic_options *options, const struct compile *cx);
/* Writes standard error and every sink that is open; files are published or leave nothing.  False:
 * *path could not be written (errno); the others are. */
bool diagnostics_write(struct diagnostic_options *options, const struct diags *diags, bool colour,
                       bool unfinished, const char **path);
/* Prints "pipec: 2 errors, 1 warning" on standard error, without a newline: how many findings of
 * each level from `lowest` on.  False: nothing is printed, as there are none or the form of the
 * diagnostics is not text. */
bool diagnostics_print_counts(const struct diagnostic_options *options, const struct diags *diags,
                              enum diag_level lowest);
/* The exit status is 1. */
bool diagnostics_fail(const struct diagnostic_options *options, const struct diags *diags);

#endif
