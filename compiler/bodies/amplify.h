/* SPDX-License-Identifier: MIT */
/*
 * amplify: how many packets a firing appends.
 *
 * Fills   port->push (and push_least, by phase) where it is not declared or where the proof is
 *         narrower, port->finish_max, ks->count_proven, kernel->steps; then the ends of the graph.
 * Fails   RULE_RATE_MISMATCH where the body certainly appends another number than declared,
 *         RULE_INVALID_RATE where nothing is declared and the body shows no bound,
 *         RULE_ENDLESS_FIRING.
 * Warns   RULE_RATE_UNPROVEN; the run then checks the appends.
 */
#ifndef PIPEC_AMPLIFY_H
#define PIPEC_AMPLIFY_H

#include "compiler/ir/graph.h"

void amplify_infer_rates(struct compile *cx, struct graph *graph);

#endif
