/* SPDX-License-Identifier: MIT */
/*
 * report_files: --stats and --trace of a run: the reports and their files.
 *
 *     prt_reports_open      opens the trace's file; the run is created with its observer
 *     prt_reports_write     writes the statistics; then the trace gets its name
 *     prt_reports_close     removes unfinished files
 *
 * Files appear whole or not at all, as outputs do; `-` is standard output, which no port may use
 * then.  A trace whose name ends in .gz is compressed: the same run gives the same bytes.
 *
 * Errors: an exit code; the message has been printed.
 */
#ifndef TOOLS_PIPERUN_REPORT_FILES_H
#define TOOLS_PIPERUN_REPORT_FILES_H

#include "tools/piperun/run_ports.h"

struct prt_reports;

/* Do two of out-ports, statistics and trace want standard output, or the same file?  Requires: the
 * session's bindings. */
int prt_reports_check(const struct prt_session *session);

/* Requires: the environment.  *reports NULL: no trace is wanted. */
int prt_reports_open(const struct prt_session *session, struct prt_reports **reports);

/* NULL: no trace is wanted. */
const struct prt_observer *prt_reports_observer(const struct prt_reports *reports);

/* The run has ended, well or not. */
int prt_reports_write(const struct prt_session *session, struct prt_reports *reports);

void prt_reports_close(struct prt_reports *reports); /* NULL is allowed */

#endif
