/* SPDX-License-Identifier: MIT */
/*
 * emit_static: the static part of a scheduler program (lang/scheduler.md, "The static part"),
 * between the prologue and the guarded loop.
 *
 * Every guard that fails leads, through `wait` or at once, to the code after the static part.
 */
#ifndef PIPEC_EMIT_STATIC_H
#define PIPEC_EMIT_STATIC_H

#include "compiler/plan/schedule.h"
#include "lang/sched_code.h"

/* `set`: the stages that are in no island, which `selection` chooses from; unused if there are
 * none. */
void emit_static(struct sched_builder *builder, const struct plan *plan, uint32_t set,
                 enum sched_opcode selection);

#endif
