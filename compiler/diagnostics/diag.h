/* SPDX-License-Identifier: MIT */
/*
 * diag: collects diagnostics, then shows them in order of place, in the forms of `diag_format`
 * (one printer each, diag_*.c, behind diag_internal.h).
 *
 * Every diagnostic belongs to a rule of `rules.def` (a stable id with a default level).  A pass
 * reports and goes on; the driver asks `diag_failed` between passes.  Equal diagnostics (same rule,
 * place and text) are kept once, so a kernel that is instantiated ten times complains once.
 *
 *     struct diag *d = diag_report(cx->diags, RULE_UNKNOWN_NAME, span, "there is no buffer '%s'",
 * name); diag_label(d, other_span, "'%s' is declared here", other);      a second place, shown with
 * its own caret diag_note(d, "...");                                            a line without
 * place diag_help(d, "...");                                            only where it is true
 *
 * Text form (GNU first line, then the snippets):
 *
 *     edge.pipe:7:26: error: buffer 'c' holds 32 packets but ... [buffer-below-burst]
 *         7 |     buffer u8 c depth 32;
 *           |                       ^^ depth 32
 *
 * Control characters, and bytes that are not UTF-8, are shown escaped (\xNN) wherever they come
 * from.
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
/* Adds to what was reported since `diags` kept `since` diagnostics where its cause was used: a
 * label, with the text "for '`what`' here".  An error in the library gets this as its first place
 * if it is none of the library.  Otherwise at most DIAG_TRACES_MAX of a diagnostic: inner ones.
 */
enum { DIAG_TRACES_MAX = 4 };
void diag_trace(struct diags *diags, size_t since, struct span use, const char *what);
void diag_note(struct diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_help(struct diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* An edit for tools: replaces `span` with the text; an empty span inserts it.  The edits of one
 * diagnostic are applied together and do not overlap.  Applied, they leave no finding of its rule
 * at that place (tests/e2e/fixes.sh applies all of them).  A fix in the library is not shown. */
void diag_fix(struct diag *diag, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The help "did you mean 'NAME'?", and the edit that writes the name over `span`. */
void diag_suggest(struct diag *diag, struct span span, const char *name);

/* ---- several compilations in one list ---- */

/* Adds to `to`, whose sources are `to_sources`, copies of what `from` holds and `takes` says yes to
 * (NULL: all).  Sources are copied as far as they are referred to; those that several lists share
 * (not source 1) are found again by name.  Nothing of `from` is needed afterwards. */
void diag_absorb(struct diags *to, struct sources *to_sources, const struct diags *from,
                 bool (*takes)(void *data, const struct diag *diag), void *data);
/* The same between processes whose sources are the same: all that `from` holds. */
struct parcel;
struct parcel_reader;
void diag_pack(struct parcel *parcel, const struct diags *from);
void diag_unpack(struct diags *to, struct parcel_reader *reader, const struct sources *sources);
enum rule diag_rule(const struct diag *diag);
enum diag_level diag_level(const struct diag *diag);
struct span diag_span(const struct diag *diag);
size_t diag_kept_count(const struct diags *diags);
const struct diag *diag_at(const struct diags *diags, size_t index); /* in order of report */
/* Forgets what `drops` says yes to, in the counts too. */
void diag_drop(struct diags *diags, bool (*drops)(void *data, const struct diag *diag), void *data);
/* What `hides` says yes to is not reported from now on. */
void diag_hide(struct diags *diags,
               bool (*hides)(void *data, enum rule rule, struct span span, const char *message),
               void *data);
/* How many are kept at most; those beyond are only counted. */
void diag_keep(struct diags *diags, size_t most);

/* True once an error has been reported. */
bool diag_failed(const struct diags *diags);
size_t diag_error_count(const struct diags *diags);
size_t diag_warning_count(const struct diags *diags);
/* Whether the rule has been reported, and what the first error was (RULE_COUNT: none). */
bool diag_reported(const struct diags *diags, enum rule rule);
enum rule diag_first_error(const struct diags *diags);
/* Moves everything that `from` holds to the end of `to`; equal ones are kept once.  The texts
 * stay where they are. */
void diag_take(struct diags *to, struct diags *from);
size_t diag_note_count(const struct diags *diags);
const char *rule_id(enum rule rule);
/* The rule with that id, or RULE_COUNT. */
enum rule rule_find(const char *id);
enum diag_level rule_level(enum rule rule); /* as the table has it */
bool rule_is_lint(enum rule rule);          /* off unless asked for: `pipec lint`, -W */
/* A comment `pipec: allow(ID)` may accept it: what is no error, and the errors that say so. */
bool rule_is_suppressible(enum rule rule);
const char *rule_group(enum rule rule);
const char *rule_summary(enum rule rule);
const char *diag_level_name(enum diag_level level);
/* Overrides a rule's level (-W, -Wno-, -Werror=); errors of the language cannot be lowered. */
bool diag_set_level(struct diags *diags, enum rule rule, enum diag_level level);
/* False: the rule is off, and looking for what it reports is of no use. */
bool diag_wants(const struct diags *diags, enum rule rule);

/* ---- comments that accept findings (suppress.h) ---- */

/* What diag_report asks, for who does more than report: a comment at that place accepts the rule
 * (with a reason, where the rule is an error).  The comment counts as used. */
bool diag_is_allowed(struct diags *diags, enum rule rule, struct span span);
/* The same; the reason that the comment gives ("" for none), or NULL: it is not accepted. */
const char *diag_allowed_reason(struct diags *diags, enum rule rule, struct span span);
/* The item at `span` was analysed as far as its group of rules needs, or not (in this run; once is
 * enough).  What was not may hold comments whose use is not known. */
void diag_examined(struct diags *diags, struct span item, bool examined);
/* Reports comments that are malformed, that name what does not exist or cannot be accepted, that
 * give no reason, and, where the run was `complete`, those that were of no use (rules of style:
 * everywhere; others: not in items that were not examined).  Sources of the embedded library are
 * left out.  After everything else; a second call does nothing. */
void diag_check_suppressions(struct diags *diags, bool complete);

enum diag_format {
    DIAG_TEXT,
    DIAG_SHORT, /* first lines only */
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
    enum diag_level min_level; /* what is below is not shown */
    bool colour;
    bool unfinished;    /* the run ended for a reason that is not the program's */
    bool all;           /* texts: however many there are */
    size_t error_limit; /* texts: so many errors (0: DIAG_SHOWN_MAX) */
};

const char *diag_format_name(enum diag_format format);

/* Of texts, errors, unless --error-limit says another number; what comes after them is counted on one
 * last line. */
enum { DIAG_SHOWN_MAX = 100 };

/* Prints everything collected so far, sorted by place. */
void diag_print(const struct diags *diags, FILE *to, const struct diag_view *view);

/* Prints everything collected so far as text and forgets it (the counts stay).  What was reported
 * once is not reported again after a flush. */
void diag_flush(struct diags *diags, FILE *to, bool colour);

#endif
