/* SPDX-License-Identifier: MIT */
/*
 * self_driven: which stages packets of in-ports and of sources reach, and the components of the others (core/ends.h).
 *
 * Requires: a block with linked ends.  Thread-safety: no state.  Allocation: none that outlasts a call.
 */
#ifndef MODEL_SELF_DRIVEN_H
#define MODEL_SELF_DRIVEN_H

#include "core/core.h"

/* Marks the stages that are fed and driven, finds the component of each stage that is not fed, and counts its takers.
 * Marks components without takers for `ends`.  False: out of memory. */
bool prt_self_driven_find(struct core *core);

/* Is the buffer on a cycle: do packets of its readers, directly or not, reach its writer?  Stages may be fed or not.
 * False if memory runs out. */
bool prt_self_driven_closes_cycle(const struct core *core, uint32_t buffer);

#endif
