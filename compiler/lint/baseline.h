/* SPDX-License-Identifier: MIT */
/*
 * baseline: findings that are known, and not reported again.
 *
 * A file of JSON, sorted, in which a finding is its rule, its file (by the shortest name, from the
 * current folder where it is below it) and the text of its line, and how many such there are: it
 * stays the same finding when lines above it come and go.
 * Errors of the language are never in it.
 *
 *     {"version": 1, "tool": "pipec", "findings": [
 *         {"file": "a.pipe", "rule": "unused-variable", "line": "i32 n = 0;", "count": 1}]}
 */
#ifndef PIPEC_BASELINE_H
#define PIPEC_BASELINE_H

#include "compiler/context/context.h"

struct baseline;

/* NULL: reported on stderr. */
struct baseline *baseline_load(struct arena *arena, const char *path);
/* Findings of `cx` that are known are no longer reported: all, or those of its first source.
 * Several compilations, with different first sources, may do so at the same time. */
void baseline_apply(struct baseline *baseline, struct compile *cx, bool first_source_only);
/* The file was looked at, without errors: what is known of it and was not found is outdated. */
void baseline_examined(struct baseline *baseline, const char *file);
/* RULE_OUTDATED_BASELINE for what is no longer there. */
void baseline_report_outdated(const struct baseline *baseline, struct diags *diags);
/* Writes what was found instead of reporting it.  False: `path` could not be written (errno). */
bool baseline_write(struct diags *diags, const struct sources *sources, struct arena *arena,
                    const char *path);

#endif
