/* SPDX-License-Identifier: MIT */
/*
 * debug_origin: which firing has written a packet and, if the program was compiled for debugging, which statement.
 *
 * The firings are known for the last 65536 packets of each buffer that are in its memory, the statements for the packets
 * that sched/provenance.h keeps.
 *
 * Ownership: prt_debugger_origins_free.  Errors: NULL: no memory.
 */
#ifndef RUNTIME_DEBUG_DEBUG_ORIGIN_H
#define RUNTIME_DEBUG_DEBUG_ORIGIN_H

#include "runtime/debug/debug_internal.h"

struct debug_written {
    struct prt_firing by;
    uint32_t origin; /* kernel_batch.origins; 0: not known */
};

struct debug_origins *prt_debugger_origins_create(const struct prt_sched *sched);
void prt_debugger_origins_free(struct debug_origins *origins); /* NULL is allowed */

/* Called after the debugger's last firing has been committed. */
void prt_debugger_origins_behind(struct debug_origins *origins,
                                 const struct prt_debugger *debugger);

/* NULL: not known; of an in-port: the host, or the packet is an initial one. */
const struct debug_written *prt_debugger_origin_of(const struct prt_debugger *debugger,
                                                   uint32_t buffer, uint64_t packet);

#endif
