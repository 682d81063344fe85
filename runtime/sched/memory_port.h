/* SPDX-License-Identifier: MIT */
/*
 * memory_port: ports whose streams are in the host's memory.
 *
 * The fifo of the port is placed in that memory (fifo.h), so kernels read and write the packets there.  To the
 * scheduler it is a port like any other, with a source at hand or with a sink.  Its depth is the same as with
 * callbacks, and so is every result.  Source and sink copy packets only in three cases:
 *
 *     - the memory is not aligned as kernels expect (prt_ring_alignment)
 *     - the in-port has initial packets
 *     - a batch claims more room than the memory of the out-port has left
 *
 * If the memory of an out-port is more than twice as large as the largest cache, a kernel that writes only this port
 * may bypass the caches (kernel_batch.past_caches).
 *
 * Requires: sched_create's tables; the run has not begun.
 * Ownership: the caller keeps the memory valid until the run has ended.  The memory of an in-port is not written.
 * Thread-safety: the scheduler's thread.
 * Errors: PRT_E_NOMEM; PRT_E_USAGE: the packets have more bytes than memory can have.
 */
#ifndef RUNTIME_SCHED_MEMORY_PORT_H
#define RUNTIME_SCHED_MEMORY_PORT_H

#include "runtime/sched/sched.h"

/* The stream of the in-port, which is buffer `number`, has these `count` packets. */
enum prt_status prt_memory_port_read(struct prt_sched *sched, uint32_t number, const void *packets,
                                     size_t count, struct prt_error *error);

/* The first `capacity` packets of the out-port, which is buffer `number`, are written to `packets`.  Then its sink
 * wants no more.  *count, if `count` is not NULL, is always the number written so far. */
enum prt_status prt_memory_port_write(struct prt_sched *sched, uint32_t number, void *packets,
                                      size_t capacity, size_t *count, struct prt_error *error);

#endif
