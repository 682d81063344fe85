/* SPDX-License-Identifier: MIT */
#include "lang/devdesc_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FORMAT_INTO(field)                                                                         \
    do {                                                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        vsnprintf((field), sizeof(field), format, arguments);                                      \
        va_end(arguments);                                                                         \
    } while (0)

struct devdesc_finding *devdesc_report(struct devdesc_findings *findings,
                                       enum devdesc_severity severity, struct devdesc_place place,
                                       const char *format, ...)
{
    struct devdesc_finding *finding = &findings->items[findings->count];
    if (findings->count < DEVDESC_FINDINGS_MAX)
        findings->count++;
    else
        findings->left_out++;
    if (severity == DEVDESC_ERROR) findings->failed = true;
    memset(finding, 0, sizeof *finding);
    finding->severity = severity;
    finding->place = place;
    FORMAT_INTO(finding->message);
    return finding;
}

void devdesc_caret(struct devdesc_finding *finding, const char *format, ...)
{
    FORMAT_INTO(finding->caret);
}

void devdesc_other(struct devdesc_finding *finding, struct devdesc_place place, const char *format,
                   ...)
{
    finding->other = place;
    FORMAT_INTO(finding->other_text);
}

void devdesc_note(struct devdesc_finding *finding, const char *format, ...)
{
    FORMAT_INTO(finding->note);
}

void devdesc_help(struct devdesc_finding *finding, const char *format, ...)
{
    FORMAT_INTO(finding->help);
}

void devdesc_sort(struct devdesc_findings *findings)
{
    for (size_t i = 1; i < findings->count; i++) {
        struct devdesc_finding moved = findings->items[i];
        size_t to = i;
        for (; to > 0 && findings->items[to - 1].place.begin > moved.place.begin; to--)
            findings->items[to] = findings->items[to - 1];
        findings->items[to] = moved;
    }
}
