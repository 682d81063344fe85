/* SPDX-License-Identifier: MIT */
/*
 * deepen: a container with deeper buffers, for several threads (lang/cpu.md, "Depths from threads").
 *
 * A factor multiplies the depths of the buffers with CONTAINER_BUFFER_GROWS, and the largest batches of the stages
 * that read and write only such buffers.  Thresholds stay.  The program has two forms: *scaled*, in which the
 * counts of `run` and of the guards are multiplied too, so that every level of a static part is; and as it was.
 * Neither form is proven here: prt_verify proves what runs.
 *
 * Requires: a verified container, which outlives the deeper one.
 * Ownership: the deeper container owns the tables that differ, and borrows all others.  It has no own bytes:
 *   prt_container_free must not free it.
 * Thread-safety: no state.
 * Errors: PRT_E_NOMEM; PRT_E_VERIFY, a number of the deeper container does not fit its record.
 */
#ifndef RUNTIME_LOAD_DEEPEN_H
#define RUNTIME_LOAD_DEEPEN_H

#include "runtime/load/reader.h"

#include <stdbool.h>

/* What all growth of one run may take. */
#define PRT_DEEPEN_BYTES_MAX (UINT64_C(64) << 20)

/* The largest factor, at most `wanted`, by which the buffers take at most PRT_DEEPEN_BYTES_MAX more.  1: nothing
 * grows. */
uint64_t prt_deepen_factor(const struct prt_container *container, uint64_t wanted);

enum prt_status prt_container_deepen(const struct prt_container *container, uint64_t factor,
                                     bool scales_program, struct prt_container *deep,
                                     struct prt_error *error);

/* A zeroed container is allowed. */
void prt_container_free_deep(struct prt_container *deep);

#endif
