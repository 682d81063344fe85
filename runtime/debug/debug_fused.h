/* SPDX-License-Identifier: MIT */
/*
 * debug_fused: nodes that are no stage by themselves, because pipec has made one of them and their
 * neighbours.  Of such a stage a container has the name alone, which is made of theirs (lang/plan.md,
 * "Neighbours become one stage"), so what is said here is a hint.
 *
 * Ownership: names are the program's.  Thread-safety: reads only.  Errors: none.
 */
#ifndef RUNTIME_DEBUG_DEBUG_FUSED_H
#define RUNTIME_DEBUG_DEBUG_FUSED_H

#include "runtime/debug/debug_internal.h"

/* The stage that the node of that name is a part of; NULL: none is named after it. */
const char *prt_debugger_fused_into(const struct prt_debugger *d, const char *node);

/* Some stage of several nodes; NULL: there is none. */
const char *prt_debugger_any_fused(const struct prt_debugger *d);

#endif
