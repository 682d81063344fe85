/* SPDX-License-Identifier: MIT */
/*
 * diag_internal: the collection (diag.c) as the printers of diagnostics see it.
 */
#ifndef PIPEC_DIAG_INTERNAL_H
#define PIPEC_DIAG_INTERNAL_H

#include "compiler/diagnostics/diag_set.h"
#include "base/vec.h"

struct place {
    struct span span;
    const char *text; /* or NULL */
};

struct remark {
    bool is_help;
    const char *text;
};

struct diag {
    struct arena *arena;
    const struct sources *sources;
    bool
        discarded; /* equal to an earlier one, switched off, or beyond KEPT_MAX: takes no further text */
    enum rule rule;
    enum diag_level level;
    const char *message;
    struct place primary;
    VEC(struct place) labels;
    VEC(struct remark) remarks;
    VEC(struct place) edits; /* of one fix: spans and the texts that replace them */
    unsigned trace_count;
    size_t order;
    struct diag *next_equal; /* in its bucket */
};

/* The diagnostics to show, in order of place. */
struct report {
    struct arena *arena;
    const struct sources *sources;
    const struct diag **items;
    size_t count;
    size_t lost_count; /* reported, but not kept */
    size_t error_count, warning_count;
    bool colour;        /* text only */
    bool all;           /* text only: no limit */
    size_t error_limit; /* text only */
    bool finished; /* false: the run ended because of usage or files, not because of the program */
};

void diag_print_text(const struct report *report, FILE *to);
void diag_print_short(const struct report *report, FILE *to);
void diag_print_json(const struct report *report, FILE *to);
struct json;
/* The diagnostics as an array under `key`. */
void report_list_json(const struct report *report, struct json *json, const char *key);
void diag_print_jsonl(const struct report *report, FILE *to);
void diag_print_sarif(const struct report *report, FILE *to);
void diag_print_github(const struct report *report, FILE *to);
void diag_print_gitlab(const struct report *report, FILE *to);
void diag_print_checkstyle(const struct report *report, FILE *to);

/* ---- places ---- */

struct position { /* counted from 1; `line` in lines that end with LF, the others within the line */
    uint32_t line, byte, character, utf16;
};

struct extent {
    const struct source *source;
    struct position begin, end; /* half open */
};

/* Remembers the last place: ascending places cost one pass over a long line. */
struct locator {
    const struct sources *sources;
    uint32_t source, offset;
    struct position position;
};

/* False: the span is no place. */
bool locate_span(struct locator *locator, struct span span, struct extent *extent);

/* ---- texts ---- */

/* True if it has edits, all of them in files of the user. */
bool diag_is_fixable(const struct sources *sources, const struct diag *diag);
/* The name of a file as code-review platforms expect it: relative names without "./". */
const char *plain_path(const char *name);
/* The prefix and the path, whose bytes are percent-encoded where a URI needs that. */
const char *uri_encoded(struct arena *arena, const char *prefix, const char *path);
/* The message, the labels (if `labels`), notes and help, one per line. */
const char *diag_full_text(const struct report *report, const struct diag *diag, bool labels);
/* A number for each item that stays the same when lines move: from rule, file, message and the
 * text of the line. Equal items are numbered. */
const uint64_t *diag_fingerprints(const struct report *report);

#endif
