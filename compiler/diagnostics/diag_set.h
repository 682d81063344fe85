/* SPDX-License-Identifier: MIT */
/*
 * diag_set: merges, filters and prints collected diagnostics. They are shown in order of place, in the
 * forms of `diag_format`. Each form has a printer, diag_*.c, which sees the collection through
 * diag_internal.h.
 *
 * Text form (GNU first line, then the snippets):
 *
 *     edge.pipe:7:26: error: buffer 'c' holds 32 packets but ... [buffer-below-burst]
 *         7 |     buffer u8 c depth 32;
 *           |                       ^^ depth 32
 *
 * Control characters, and bytes that are not UTF-8, are always shown escaped (\xNN).
 */
#ifndef PIPEC_DIAG_SET_H
#define PIPEC_DIAG_SET_H

#include <stdio.h>

#include "compiler/diagnostics/diag.h"

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
const char *diag_message(const struct diag *diag);
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
/* Moves all diagnostics of `from` to the end of `to`, and keeps equal ones once. The texts are not
 * copied. */
void diag_take(struct diags *to, struct diags *from);
/* As diag_take, without the errors at places where `to` has an error of their rule: two analyses of
 * one item may name one mistake in two ways. */
void diag_take_other(struct diags *to, struct diags *from);

/* ---- levels, and comments that accept findings (suppress.h) ---- */

/* Overrides a rule's level (-W, -Wno-, -Werror=). False: the level of a language error cannot be
 * lowered. */
bool diag_set_level(struct diags *diags, enum rule rule, enum diag_level level);
/* Records whether the item at `span` was analysed as far as its group of rules needs. One complete
 * analysis per run is enough. In other items, the use of comments is not known. */
void diag_examined(struct diags *diags, struct span item, bool examined);
/* Reports malformed comments, comments that name an unknown rule or one that cannot be accepted,
 * and comments without a required reason. If the run was `complete`, also reports unused comments;
 * those of rules other than style only in examined items. Omits sources of the embedded library.
 * Call it after all other reports; a second call does nothing. */
void diag_check_suppressions(struct diags *diags, bool complete);

/* ---- printing ---- */

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
