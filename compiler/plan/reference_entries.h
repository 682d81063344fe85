/* SPDX-License-Identifier: MIT */
/*
 * reference_entries: which stages are launched by one packet, and which entries of the device's
 * reference table they use (lang/dispatch.md).
 *
 * A pack is a run of stages of one queue and one importance, in the order of the program, whose
 * launches fit the 31 units of a condensed packet: a diff header and, where bounded rates make it
 * vary, the number of firings (grid_size_x).  A loop of the static schedule has packs of its own.  A
 * stage that waits for the completion of another one of its pack, because the rate between them is
 * bounded, begins a new pack.  The reference of the last stage of a pack has the completion signal and the
 * release scope.  So has that of a stage whose packets a more important stage reads, because that stage must not wait for
 * the rest of the pack.  The others have neither.
 *
 * Entries are allocated over the program as registers are.  The static schedule says in which loops stages are launched,
 * and how often.  A stage without an entry is spilled: its launches are differences to another stage's entry.  They take
 * 8 units more, and up to 7 for other firings or another signal.  The allocation minimises the packets of an iteration,
 * then the owners, since each costs a packet once, then the units.  It is exact, except for the choice of the owners in a
 * pack: they are the stages for which an entry saves most.  Loops without inner loops may use entries in turn.  Then
 * storing their references anew costs a packet for each whenever the loop begins.  A stage that is the only one of its
 * pack needs no entry: a full packet costs the same.  In debug mode that holds for every stage.
 *
 *   Requires  stages with sub-devices and batches; `schedule` may be NULL: all is dispatched as it is
 *             ready.  1 <= entries <= DISPATCH_ENTRIES_MAX.
 *   Fills     entry, spilled, units, pack, place, ends_pack of every stage; the plan's figures.
 *   Gives     with more entries every choice that there is with fewer: no more packets.
 *   Fails     never.  Work: O(stages x entries^2), O(entries^3) for each loop.
 *
 * Sources: dynamic programming over the last pack: D. E. Knuth, M. F. Plass, "Breaking paragraphs
 * into lines", Software: Practice and Experience 11 (1981); live ranges by loops: M. Poletto,
 * V. Sarkar, "Linear scan register allocation", ACM TOPLAS 21 (1999).
 */
#ifndef PIPEC_REFERENCE_ENTRIES_H
#define PIPEC_REFERENCE_ENTRIES_H

#include "compiler/plan/schedule.h"

/* The nodes in the order of an iteration: each after those whose packets its first firing needs. */
void plan_order_stages(struct arena *scratch, const struct graph *graph, uint32_t *order);
void plan_reference_entries(struct arena *scratch, const struct graph *graph, struct plan *plan,
                            const struct schedule *schedule, uint32_t entries);

#endif
