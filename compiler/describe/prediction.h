/* SPDX-License-Identifier: MIT */
/*
 * prediction: how long a whole run takes on the device of the plan (`pipec inspect --predict`), by a trial
 * (plan/trial.h).
 *
 * Requires  a plan, for a device whose time is a model.
 */
#ifndef PIPEC_PREDICTION_H
#define PIPEC_PREDICTION_H

#include "compiler/plan/plan.h"

/* "COUNT[,PORT=COUNT...]": packets of each in-port, and firings of each source. */
struct prediction_extent {
    uint64_t count;
    uint64_t *packets; /* by buffer */
};

/* NULL: *extent is filled in; else what is wrong with the text. */
const char *prediction_parse(struct arena *arena, const struct graph *graph, const char *text,
                             struct prediction_extent *extent);

/* Prints the cycles and what the trial has assumed, as text or as a JSON object.  False: the run does not end. */
bool prediction_print(FILE *to, struct arena *arena, const struct graph *graph,
                      const struct plan *plan, const struct prediction_extent *extent,
                      bool as_json);

#endif
