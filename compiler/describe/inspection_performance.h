/* SPDX-License-Identifier: MIT */
/*
 * inspection_performance: throughput and latency, in JSON and in words (lang/inspect.md).
 *
 * Names are those of the inspection.  In words at most PERFORMANCE_HOPS_MAX hops of a circuit are
 * shown.
 */
#ifndef PIPEC_INSPECTION_PERFORMANCE_H
#define PIPEC_INSPECTION_PERFORMANCE_H

#include "compiler/describe/inspection.h"
#include "base/json_write.h"

enum { PERFORMANCE_HOPS_MAX = 8 };

/* The members `throughput` and `latency_cycles`. */
void performance_put(struct json *json, const struct inspection *inspection);
/* The members of `exact` that belong to them. */
void performance_put_exact(struct json *json, const struct inspection *inspection);
/* What an iteration is, where rates are exact; throughput, without and with the depths; latency. */
void performance_print(FILE *to, const struct inspection *inspection);

#endif
