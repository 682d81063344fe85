/* SPDX-License-Identifier: MIT */
/*
 * debug_fused: nodes that are no stage of their own, because pipec has fused them with neighbours.  For
 * such a stage a container has only a name, which consists of the names of the nodes (lang/plan.md,
 * "Neighbours become one stage").  So the results of this module are hints.
 *
 * Ownership: names belong to the program.  Thread-safety: reads only.  Errors: none.
 */
#ifndef RUNTIME_DEBUG_DEBUG_FUSED_H
#define RUNTIME_DEBUG_DEBUG_FUSED_H

#include "runtime/debug/debug_internal.h"

/* The stage that the node of that name is a part of; NULL: none is named after it. */
const char *prt_debugger_fused_into(const struct prt_debugger *d, const char *node);

/* Some stage of several nodes; NULL: there is none. */
const char *prt_debugger_any_fused(const struct prt_debugger *d);

#endif
