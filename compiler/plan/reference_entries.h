/*
 * reference_entries: which stages are launched by one packet, and which entries of the device's
 * reference table they use (lang/dispatch.md).
 *
 * A pack is a run of stages of one queue and one importance, in the order of an iteration, whose
 * launches fit the 31 units of a condensed packet: a diff header, the number of the first firing
 * (kernarg_address) and, where bounded rates make it vary, the number of firings (grid_size_x).  A
 * stage that waits for the completion of another one of its pack, because the rate between them is
 * bounded, begins a new pack.  The last stage of a pack gives the completion signal and has the
 * release scope: what its reference holds.  So has one that a more important stage reads from, for
 * that is not to wait for the rest of the pack; the others have neither.
 *
 * Entries are allocated as registers are, by weight: launches an iteration.  The heaviest stages own
 * one each; what is beyond the device's entries is spilled: such a stage uses another one's entry,
 * from which its kernel object differs as well (4 units more, and 2 for the number of firings), and
 * that is cheaper than a packet that stores the entry anew.  A stage alone in its pack is launched
 * by a full packet, which costs the same, and needs no entry.  In debug mode every stage is.
 *
 *   Requires  stages with sub-devices and batches.
 *   Fills     entry, spilled, pack, place, ends_pack of every stage; the plan's dispatch figures.
 *   Fails     never.  Work: O((stages + buffers) log stages).
 *
 * Source: allocation by weight: G. Chaitin, "Register allocation and spilling via graph coloring",
 * SIGPLAN Notices 17 (1982); here every stage is alive throughout the loop, so all interfere.
 */
#ifndef PIPEC_REFERENCE_ENTRIES_H
#define PIPEC_REFERENCE_ENTRIES_H

#include "compiler/plan/plan.h"

/* The nodes in the order of an iteration: each behind those whose packets its first firing needs. */
void plan_order_stages(struct arena *scratch, const struct graph *graph, uint32_t *order);
void plan_reference_entries(struct arena *scratch, const struct graph *graph, struct plan *plan);

#endif
