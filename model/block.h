/* SPDX-License-Identifier: MIT */
/*
 * block: the block of the scheduler core (core/core.h), filled in from a container.
 *
 * Requires: a verified container.  Ownership: the caller's; the block is one allocation, to be freed.
 * Errors: NULL if memory runs out.
 */
#ifndef MODEL_BLOCK_H
#define MODEL_BLOCK_H

#include "core/core.h"
#include "model/container_tables.h"

/* `node_stage`: receives the stage of each node.  `reference_entries`: of the device's reference table. */
struct core *prt_block_create(const struct prt_container *container, uint32_t reference_entries,
                              uint32_t *node_stage);

/* Finds which ends are in order, and whose packets a more important stage reads.  Called when every stage has its
 * queue. */
void prt_block_find_order(struct core *core);

#endif
