/* SPDX-License-Identifier: MIT */
/*
 * diag: reports diagnostics. diag_set.h merges, filters and prints what has been reported.
 *
 * Every diagnostic belongs to a rule of `rules.def` (a stable id with a default level).  A pass reports
 * and goes on; the driver asks `diag_failed` between passes.  Equal diagnostics (same rule, place and
 * text) are kept once, so a kernel that is instantiated ten times is reported once.
 *
 *     struct diag *d = diag_report(cx->diags, RULE_UNKNOWN_NAME, span, "no buffer '%s'", name);
 *     diag_label(d, other, "'%s' is declared here", near);    a second place, with its own caret
 *     diag_note(d, "...");                                    a line without a place
 *     diag_help(d, "...");                                    a fix; add it only if it is right
 *
 * A place in a text that was made from another one (source_origin) is reported as the place that it was made from.
 */
#ifndef PIPEC_DIAG_H
#define PIPEC_DIAG_H

#include "compiler/diagnostics/rule.h"
#include "compiler/support/source.h"

struct diag;
struct diags;

struct diags *diags_create(struct arena *arena, const struct sources *sources);
/* An empty collection with the sources and levels of `diags`. */
struct diags *diags_fork(struct arena *arena, const struct diags *diags);

struct diag *diag_report(struct diags *diags, enum rule rule, struct span span, const char *format,
                         ...) __attribute__((format(printf, 4, 5)));
/* The caret line of the first place carries this text (default: none). */
void diag_primary(struct diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_label(struct diag *diag, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds a label at `use`, "for '`what`' here", to the diagnostics after the first `since`. If the
 * diagnostic is in the library and `use` is not, `use` becomes its first place. A diagnostic gets
 * at most DIAG_TRACES_MAX labels: those of the innermost uses. */
enum { DIAG_TRACES_MAX = 4 };
void diag_trace(struct diags *diags, size_t since, struct span use, const char *what);
void diag_note(struct diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_help(struct diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* An edit for tools: replaces `span` by the text; an empty span inserts it. The edits of one
 * diagnostic are applied together and do not overlap. After them, the rule has no finding at that
 * place (tests/e2e/fixes.sh applies all of them). A fix in the library is not shown. */
void diag_fix(struct diag *diag, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds the help "did you mean 'NAME'?", and the edit that writes the name over `span`. */
void diag_suggest(struct diag *diag, struct span span, const char *name);

/* True once an error has been reported. */
bool diag_failed(const struct diags *diags);
size_t diag_error_count(const struct diags *diags);
size_t diag_warning_count(const struct diags *diags);
/* Whether the rule was reported, and the rule of the first error (RULE_COUNT: no error). */
bool diag_has(const struct diags *diags, enum rule rule);
enum rule diag_first_error(const struct diags *diags);
size_t diag_note_count(const struct diags *diags);
/* How many are kept: a point in the order of reports, for diag_trace. */
size_t diag_kept_count(const struct diags *diags);
/* False: the rule is off, so the caller need not look for its findings. */
bool diag_wants(const struct diags *diags, enum rule rule);

/* ---- comments that accept findings (suppress.h) ---- */

/* The reason of the comment that accepts the rule at that place, "" without one; NULL: no comment accepts it. A comment
 * accepts an error only with a reason. diag_report asks this itself; a caller asks if it does more than report. The comment
 * counts as used. */
const char *diag_allowed_reason(struct diags *diags, enum rule rule, struct span span);

#endif
