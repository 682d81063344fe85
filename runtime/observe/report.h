/* SPDX-License-Identifier: MIT */
/*
 * report: what a run has done, as text for people and as JSON for programs (lang/reports.md).
 *
 * Requires: prt_run_execute has returned.  Thread-safety: as the run.
 * Errors: those of the stream; the caller looks at ferror().
 */
#ifndef RUNTIME_OBSERVE_REPORT_H
#define RUNTIME_OBSERVE_REPORT_H

#include "runtime/host/pipert.h"

#include <stdio.h>

/* Prints the time of the run and its bottleneck, then tables of its parts.  For a run that was not
 * measured: only stages and buffers. */
void prt_report_text(FILE *to, const struct prt_program *program, const struct prt_run *run);

/* One object; keys are stable and only added to; no times of the host. */
void prt_report_json(FILE *to, const struct prt_program *program, const struct prt_run *run);

#endif
