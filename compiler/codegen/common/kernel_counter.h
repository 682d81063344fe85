/* SPDX-License-Identifier: MIT */
/*
 * kernel_counter: what kernel_count.c and kernel_count_items.c share: the counters of a body, and
 * arithmetic of cycles, as generated code.
 *
 * Requires: e->body->counting of a body that counts.  Errors: none.
 */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_COUNTER_H
#define COMPILER_CODEGEN_COMMON_KERNEL_COUNTER_H

#include "compiler/codegen/common/kernel_llvm.h"

LLVMTypeRef kernel_counter_type(struct kernel_emitter *e, const struct kernel_counting *c,
                                uint32_t counter);
/* A place for a value of each counter, empty. */
LLVMValueRef *kernel_counter_slots(struct kernel_emitter *e, const struct kernel_counting *c);
/* A variable that is 0 from `reset` on. */
LLVMValueRef kernel_counter_create(struct kernel_emitter *e, LLVMBuilderRef reset,
                                   LLVMTypeRef type);
/* counter += amount, which is uniform or of each lane, where the code counts. */
void kernel_counter_add(struct kernel_emitter *e, uint32_t counter, LLVMValueRef amount);

/* Saturating.  weigh: `count` x cycles, count of any width and at most `most`. */
LLVMValueRef kernel_cycles_add(struct kernel_emitter *e, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef kernel_cycles_weigh(struct kernel_emitter *e, LLVMValueRef count, uint64_t cycles,
                                 uint64_t most);

/* Creates all counters of a kernel that launches: a launch in a loop also reads those that code emitted
 * after it adds to. */
void kernel_counters_create(struct kernel_emitter *e);
/* Cycles that the current work-item has executed since it began its run. */
LLVMValueRef kernel_count_item(struct kernel_emitter *e);

/* The firing has ended: the cycles of each of its warps, with those that all have taken alike. */
void kernel_count_pieces_end(struct kernel_emitter *e, LLVMValueRef common);

#endif
