/* SPDX-License-Identifier: MIT */
/*
 * diagnostic_options: the destination and form of diagnostics, and their effect on the exit status.
 *
 * Functions that read an argument return the problem with it, or NULL.
 */
#ifndef PIPEC_DIAGNOSTIC_OPTIONS_H
#define PIPEC_DIAGNOSTIC_OPTIONS_H

#include "compiler/context/context.h"
#include "compiler/diagnostics/diag_set.h"
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
    bool on_stdout; /* diagnostics in the form `on_stderr` go to standard output, without a limit */
    VEC(struct diagnostic_sink) sinks;
    enum diag_level min_level;
    enum diag_level fail_level; /* the exit status is 1 from this level on */
    bool limits_errors;         /* --error-limit was given */
    size_t error_limit;         /* 0: none */
    bool warnings_are_errors;
    bool lint_rules;          /* rules that are off by default are on */
    const char *baseline;     /* --baseline: findings to omit, or NULL */
    const char *new_baseline; /* --write-baseline: the file that gets the findings, or NULL */
    struct rule_choice choices[RULE_COUNT];
};

/* --diagnostics=FORMAT[:FILE] */
const char *diagnostic_options_format(struct diagnostic_options *options, struct arena *arena,
                                      const char *text);
/* Reads the text after -W. */
const char *diagnostic_options_warning(struct diagnostic_options *options, struct arena *arena,
                                       const char *text);
/* --min-level, --fail-on, --error-limit */
const char *diagnostic_options_min_level(struct diagnostic_options *options, const char *text);
const char *diagnostic_options_fail_on(struct diagnostic_options *options, const char *text);
const char *diagnostic_options_error_limit(struct diagnostic_options *options, const char *text);
/* Refuses two outputs to one file, because they destroy each other. `output` is the other output
 * of the run, or NULL. */
const char *diagnostic_options_check(const struct diagnostic_options *options, struct arena *arena,
                                     const char *output);

/* Sets the levels of the rules, and the maximum of kept findings if there is no limit. */
void diagnostics_set_levels(const struct diagnostic_options *options, struct diags *diags);
/* False: *path cannot be written (errno). */
bool diagnostics_open(struct diagnostic_options *options, const char **path);
/* Writes standard error and every open sink. Files are published, or nothing is left. False: *path
 * could not be written (errno); the others were. */
bool diagnostics_write(struct diagnostic_options *options, const struct diags *diags, bool colour,
                       bool unfinished, const char **path);

/* The begin and the end of a command that compiles one program, around its work; both return an exit
 * status. diagnostics_begin sets the levels and opens the sinks; if it is not EXIT_DONE, the command
 * ends with it. diagnostics_end takes the status of the work. It refuses sinks that would replace a
 * file that the command reads, writes the others, whatever the work came to, and returns the status
 * of the command. */
int diagnostics_begin(struct diagnostic_options *options, struct diags *diags);
int diagnostics_end(struct diagnostic_options *options, const struct compile *cx, bool colour,
                    int status);
/* Prints the number of findings of each level from `lowest` on, as in "pipec: 2 errors, 1
 * warning", on standard error, without a newline. False: nothing was printed, because there are no
 * findings, or the form of the diagnostics is not text. */
bool diagnostics_print_counts(const struct diagnostic_options *options, const struct diags *diags,
                              enum diag_level lowest);
/* True if the exit status is 1 because of the diagnostics. */
bool diagnostics_fail(const struct diagnostic_options *options, const struct diags *diags);

#endif
