/* SPDX-License-Identifier: MIT */
/*
 * inspection_performance: throughput and latency, in JSON and in words (lang/inspect.md).
 *
 * Names are those of the inspection.  The words show at most PERFORMANCE_HOPS_MAX hops of a cycle.
 */
#ifndef PIPEC_INSPECTION_PERFORMANCE_H
#define PIPEC_INSPECTION_PERFORMANCE_H

#include "compiler/describe/inspection.h"
#include "base/json_write.h"

enum { PERFORMANCE_HOPS_MAX = 8 };

/* The members `throughput` and `latency_cycles`. */
void performance_put(struct json *json, const struct inspection *inspection);
/* Their members of `exact`. */
void performance_put_exact(struct json *json, const struct inspection *inspection);
/* The member `iterations_per_cycle` of the plan: by the clock of its device. */
void performance_put_timed(struct json *json, const struct inspected_plan *plan);
/* The packets of an iteration, if rates are exact; throughput by the clock; idealised throughput, without and with the
 * depths; latency. */
void performance_print(FILE *to, const struct inspection *inspection);

#endif
