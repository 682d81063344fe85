/* SPDX-License-Identifier: MIT */
/*
 * devdesc_internal: what the parts of the reader of descriptions share.
 *
 *   devdesc.c            the table of keys; lines, words and values
 *   devdesc_check.c      whether the values fit together
 *   devdesc_findings.c   the list of findings
 */
#ifndef LANG_DEVDESC_INTERNAL_H
#define LANG_DEVDESC_INTERNAL_H

#include "lang/devdesc.h"

/* One key in the text. */
struct devdesc_given {
    bool seen;
    bool valid; /* its value has been taken; false where it was refused, too */
    struct devdesc_place key, value;
};

struct devdesc_reader;

/* Requires: a key of the table. */
const struct devdesc_given *devdesc_given(const struct devdesc_reader *reader, const char *key);

/* Adds a finding.  The caller may complete the record before it adds the next one.  Above the
 * maximum it is a record that is not reported. */
struct devdesc_finding *devdesc_report(struct devdesc_findings *findings,
                                       enum devdesc_severity severity, struct devdesc_place place,
                                       const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void devdesc_caret(struct devdesc_finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void devdesc_other(struct devdesc_finding *finding, struct devdesc_place place, const char *format,
                   ...) __attribute__((format(printf, 3, 4)));
void devdesc_note(struct devdesc_finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void devdesc_help(struct devdesc_finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* In order of place; those of one place stay as they are. */
void devdesc_sort(struct devdesc_findings *findings);

/* Reports what does not fit together among the values that were taken. */
/* Has some CU a cache? */
bool devdesc_has_cache(const struct devdesc *description);
void devdesc_check(const struct devdesc_reader *reader, const struct devdesc *description,
                   struct devdesc_findings *findings);

#endif
