/* SPDX-License-Identifier: MIT */
/*
 * diag: collects diagnostics, then shows them in order of place, in the forms of `diag_format`. Each
 * form has a printer, diag_*.c, which sees the collection through diag_internal.h.
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
 * Text form (GNU first line, then the snippets):
 *
 *     edge.pipe:7:26: error: buffer 'c' holds 32 packets but ... [buffer-below-burst]
 *         7 |     buffer u8 c depth 32;
 *           |                       ^^ depth 32
 *
 * Control characters, and bytes that are not UTF-8, are always shown escaped (\xNN).
 */
#ifndef PIPEC_DIAG_H
#define PIPEC_DIAG_H

#include <stdbool.h>
#include <stdio.h>

#include "compiler/support/source.h"

enum diag_level { DIAG_OFF, DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };

enum rule {
#define RULE(enumerator, id, level, group, summary) RULE_##enumerator,
#include "compiler/diagnostics/rules.def"
#undef RULE
    RULE_COUNT
};

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

/* ---- several compilations in one list ---- */

/* Copies diagnostics of `from` for which `takes` is true (NULL: all) to `to`, whose sources are
 * `to_sources`. Copies each source that they refer to. Shared sources (not source 1) are found by
 * name. Afterwards `from` may be freed. */
void diag_absorb(struct diags *to, struct sources *to_sources, const struct diags *from,
                 bool (*takes)(void *data, const struct diag *diag), void *data);
/* Send and receive all diagnostics between processes that have the same sources. */
struct parcel;
struct parcel_reader;
void diag_pack(struct parcel *parcel, const struct diags *from);
void diag_unpack(struct diags *to, struct parcel_reader *reader, const struct sources *sources);
enum rule diag_rule(const struct diag *diag);
enum diag_level diag_level(const struct diag *diag);
struct span diag_span(const struct diag *diag);
size_t diag_kept_count(const struct diags *diags);
const struct diag *diag_at(const struct diags *diags,
                           size_t index); /* in the order of the reports */
/* Forgets the diagnostics for which `drops` is true, also in the counts. */
void diag_drop(struct diags *diags, bool (*drops)(void *data, const struct diag *diag), void *data);
/* From now on, diagnostics for which `hides` is true are not reported. */
void diag_hide(struct diags *diags,
               bool (*hides)(void *data, enum rule rule, struct span span, const char *message),
               void *data);
/* Sets how many diagnostics are kept. Those beyond the maximum are only counted. */
void diag_keep(struct diags *diags, size_t most);

/* True once an error has been reported. */
bool diag_failed(const struct diags *diags);
size_t diag_error_count(const struct diags *diags);
size_t diag_warning_count(const struct diags *diags);
/* Whether the rule was reported, and the rule of the first error (RULE_COUNT: no error). */
bool diag_has(const struct diags *diags, enum rule rule);
enum rule diag_first_error(const struct diags *diags);
/* Moves all diagnostics of `from` to the end of `to`, and keeps equal ones once. The texts are not
 * copied. */
void diag_take(struct diags *to, struct diags *from);
/* As diag_take, without the errors at places where `to` has an error of their rule: two analyses of
 * one item may name one mistake in two ways. */
void diag_take_other(struct diags *to, struct diags *from);
size_t diag_note_count(const struct diags *diags);
const char *rule_id(enum rule rule);
/* The rule with this id, or RULE_COUNT. */
enum rule rule_find(const char *id);
enum diag_level rule_level(enum rule rule); /* the default level */
bool rule_is_lint(enum rule rule);          /* off by default: `pipec lint` and -W switch it on */
/* True if a comment `pipec: allow(ID)` may accept it: a warning, a note, or an ACCEPTABLE_ERROR. */
bool rule_is_suppressible(enum rule rule);
const char *rule_group(enum rule rule);
const char *rule_summary(enum rule rule);
const char *diag_level_name(enum diag_level level);
/* Overrides a rule's level (-W, -Wno-, -Werror=). False: the level of a language error cannot be
 * lowered. */
bool diag_set_level(struct diags *diags, enum rule rule, enum diag_level level);
/* False: the rule is off, so the caller need not look for its findings. */
bool diag_wants(const struct diags *diags, enum rule rule);

/* ---- comments that accept findings (suppress.h) ---- */

/* True if a comment at that place accepts the rule (with a reason, if the rule is an error).
 * diag_report asks this itself. A caller asks if it does more than report. The comment counts as
 * used. */
bool diag_is_allowed(struct diags *diags, enum rule rule, struct span span);
/* As diag_is_allowed, but returns the reason of the comment ("" for none), or NULL. */
const char *diag_allowed_reason(struct diags *diags, enum rule rule, struct span span);
/* Records whether the item at `span` was analysed as far as its group of rules needs. One complete
 * analysis per run is enough. In other items, the use of comments is not known. */
void diag_examined(struct diags *diags, struct span item, bool examined);
/* Reports malformed comments, comments that name an unknown rule or one that cannot be accepted,
 * and comments without a required reason. If the run was `complete`, also reports unused comments;
 * those of rules other than style only in examined items. Omits sources of the embedded library.
 * Call it after all other reports; a second call does nothing. */
void diag_check_suppressions(struct diags *diags, bool complete);

enum diag_format {
    DIAG_TEXT,
    DIAG_SHORT, /* only the first line of each */
    DIAG_JSON,
    DIAG_JSONL,
    DIAG_SARIF,
    DIAG_GITHUB,
    DIAG_GITLAB,
    DIAG_CHECKSTYLE,
    DIAG_FORMAT_COUNT
};

struct diag_view {
    enum diag_format format;
    enum diag_level min_level; /* findings below this level are not shown */
    bool colour;
    bool unfinished;    /* the run ended for a reason outside of the program */
    bool all;           /* text forms: no limit */
    size_t error_limit; /* text forms: the maximum of errors (0: DIAG_SHOWN_MAX) */
};

const char *diag_format_name(enum diag_format format);

/* The maximum of errors in text forms, unless --error-limit gives another one. The last line
 * counts the rest. */
enum { DIAG_SHOWN_MAX = 100 };

/* Prints everything collected so far, sorted by place. */
void diag_print(const struct diags *diags, FILE *to, const struct diag_view *view);

/* Prints all collected diagnostics as text and forgets them, except for the counts. A diagnostic
 * that was printed is not reported again. */
void diag_flush(struct diags *diags, FILE *to, bool colour);

#endif
