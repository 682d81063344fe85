/* SPDX-License-Identifier: MIT */
/*
 * report_page: one offline page (HTML) about a program and a run of it.
 *
 * The page has the picture of the graph, the data as JSON, and the style and script of compiler/page, which make tables and
 * lanes of the data. It loads nothing. A run of many stages gets fewer parts of time, so that the page takes at most 1 MiB
 * for 1,000 nodes.
 */
#ifndef PIPEC_REPORT_PAGE_H
#define PIPEC_REPORT_PAGE_H

#include "compiler/describe/inspection.h"
#include "compiler/describe/run_report.h"

enum {
    REPORT_TIMELINE_BYTES = 150000, /* of the values over time, about */
    REPORT_BINS_MIN = 24,
    REPORT_BINS_MAX = 1000,
};

/* Of one page. */
struct report_subject {
    const struct compile *cx;
    const struct graph *graph; /* as written; its plan is in the inspection */
    const struct inspection *inspection;
    const struct run_report *report;
    const uint32_t *stage_of;            /* of run_report_stages */
    const struct run_timeline *timeline; /* or NULL */
    const char *output;                  /* as in struct picture_look */
};

/* The parts of time that the page has room for. */
uint32_t report_page_bins(const struct run_report *report);
void report_page(FILE *to, const struct report_subject *subject);

#endif
