/* SPDX-License-Identifier: MIT */
/* kernel_unroll: which loops of a body in lanes, or for threads, are unrolled. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_UNROLL_H
#define COMPILER_CODEGEN_COMMON_KERNEL_UNROLL_H

#include "compiler/codegen/common/kernel_llvm.h"

/* The loops of a body that may be written out; `varying` by variable->index, for threads NULL.  In e->scratch. */
const struct kernel_loops *kernel_plan_loops(struct kernel_emitter *e, const struct ks *body,
                                             const bool *varying);
/* Whether the loop is one of them; `loops` may be NULL. */
bool kernel_is_written_out(const struct kernel_loops *loops, const struct ks *loop);
/* Whether the loop whose blocks have just been built, from `first` on, is written out: what is left of the budgets
 * decides, and becomes less.  `added_before`: body.added_instructions when the loop began. */
bool kernel_writes_out(struct kernel_emitter *e, const struct ks *s, LLVMBasicBlockRef first,
                       uint64_t added_before);
uint64_t kernel_count_instructions(LLVMValueRef function);

#endif
