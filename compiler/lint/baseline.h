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
/* Removes the known findings of `cx` from its report: all of them, or those of its first source.
 * Several compilations, with different first sources, may do so at the same time. */
void baseline_apply(struct baseline *baseline, struct compile *cx, bool first_source_only);
/* Lint has read the file without errors: each known finding of it that was not found is outdated. */
void baseline_examined(struct baseline *baseline, const char *file);
/* Reports RULE_OUTDATED_BASELINE for each known finding that no longer exists. */
void baseline_report_outdated(const struct baseline *baseline, struct diags *diags);
/* Writes the findings instead of reporting them.  False: `path` could not be written (errno). */
bool baseline_write(struct diags *diags, const struct sources *sources, struct arena *arena,
                    const char *path);

#endif
