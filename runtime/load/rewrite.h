/* SPDX-License-Identifier: MIT */
/*
 * rewrite: a container with another scheduler program, for `piperun asm`.
 *
 * Thread-safety: no state.  Errors: PRT_E_FORMAT (the program is for another number of stages),
 * PRT_E_NOMEM.
 */
#ifndef RUNTIME_LOAD_REWRITE_H
#define RUNTIME_LOAD_REWRITE_H

#include "lang/sched_code.h"
#include "runtime/load/reader.h"

/* *bytes is allocated and the caller's: the container with SETS and PROGRAM replaced, and a right
 * checksum.  It has not been read or verified. */
enum prt_status prt_container_with_program(const struct prt_container *container,
                                           const struct sched_program *program, uint8_t **bytes,
                                           size_t *size, struct prt_error *error);

#endif
