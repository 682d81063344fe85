/* SPDX-License-Identifier: MIT */
/*
 * plan_tables: the tables of a container that follow from a graph and its plan, and from nothing else.
 *
 * The container has them, with names, places and code (emit/container_write.c); a trial runs on them as they are.  So both
 * have the same rates, depths, costs and stages.
 *
 * Requires: rates, repetitions, costs and depths of the graph; stages of the plan.
 * Fills: device, nodes, inputs, outputs, rates, buffers, readers, stages, sets and code.  Of nodes without: kernel,
 *   arguments, places, and the flags FAULTS and INDEXED; of buffers without what is not said of packets.
 * Ownership: the arena's.  Errors: false: a table would have CONTAINER_NONE rows or more; nothing is filled in then.
 */
#ifndef PIPEC_PLAN_TABLES_H
#define PIPEC_PLAN_TABLES_H

#include "compiler/plan/plan.h"
#include "model/container_tables.h"

bool plan_tables_fill(struct arena *arena, const struct graph *graph, const struct plan *plan,
                      const struct sched_program *program, struct prt_container *tables);

#endif
