/* SPDX-License-Identifier: MIT */
/*
 * deepen: a container with deeper buffers, for several threads (lang/cpu.md, "Depths from threads").
 *
 * A factor multiplies the depths of the buffers with CONTAINER_BUFFER_GROWS, and the largest batches of the stages
 * that read and write only such buffers.  Thresholds stay.  The program has two forms: unchanged, and *scaled*.  The scaled
 * form also multiplies the counts of `run` and of the guards, and so every level of a static part.  Neither form is proven
 * here: prt_verify proves the form that runs.
 *
 * Requires: a verified container, which outlives the deeper one; a factor of at least 1.
 * Ownership: the deeper container owns the tables that differ, and borrows all others.  It has no own bytes:
 *   prt_container_free must not free it.
 * Thread-safety: no state.
 * Errors: PRT_E_NOMEM; PRT_E_VERIFY, a number of the deeper container does not fit its record.
 */
#ifndef RUNTIME_LOAD_DEEPEN_H
#define RUNTIME_LOAD_DEEPEN_H

#include "runtime/load/reader.h"

#include <stdbool.h>

/* The largest factor, at most `wanted`, by which the buffers take at most `bytes_max` more, and keep the limit of the
 * container.  1: no buffer may grow, or no stage can use several threads, because all have state. */
uint64_t prt_deepen_factor(const struct prt_container *container, uint64_t wanted,
                           uint64_t bytes_max);

enum prt_status prt_container_deepen(const struct prt_container *container, uint64_t factor,
                                     bool scales_program, struct prt_container *deep,
                                     struct prt_error *error);

/* A zeroed container is allowed. */
void prt_container_free_deep(struct prt_container *deep);

#endif
