/* SPDX-License-Identifier: MIT */
/*
 * memory_port: ports whose streams lie in memory of the host's.
 *
 * The port's fifo is placed in that memory (fifo.h): packets are read where they are, and written
 * where they are to be.  To the scheduler it is a port as any other, with a source that is at hand,
 * or a sink: its depth, and with it every result, is what it is with callbacks.  They copy only
 * what cannot be in place: memory that is not aligned as kernels expect, an in-port with initial
 * packets in front, and the end of an out-port's memory where a batch claims more than is left.
 * Kernels may write past the caches what is larger than they are (kernel_batch.past_caches).
 *
 * Requires: sched_create's tables; the run has not begun.
 * Ownership: the memory is the caller's, until the run has ended.  What is read is not written to.
 * Threads: the scheduler's.  Errors: PRT_E_NOMEM; PRT_E_USAGE: so many bytes there cannot be.
 */
#ifndef RUNTIME_SCHED_MEMORY_PORT_H
#define RUNTIME_SCHED_MEMORY_PORT_H

#include "runtime/sched/sched.h"

/* The stream of the in-port, the buffer of that number, is these packets. */
enum prt_status prt_memory_port_read(struct prt_sched *sched, uint32_t number, const void *packets,
                                     size_t count, struct prt_error *error);

/* The first `capacity` packets of the out-port go there, and *count (not NULL) says how many have;
 * it wants no more of them. */
enum prt_status prt_memory_port_write(struct prt_sched *sched, uint32_t number, void *packets,
                                      size_t capacity, size_t *count, struct prt_error *error);

#endif
