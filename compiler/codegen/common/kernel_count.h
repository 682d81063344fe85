/* SPDX-License-Identifier: MIT */
/* kernel_count: generated code that counts the cycles of its execution. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_COUNT_H
#define COMPILER_CODEGEN_COMMON_KERNEL_COUNT_H

#include "compiler/codegen/common/kernel_llvm.h"

/* Counts that control arrives at the region (0: no region), in the lanes and firings that the body's `mask` and `wanted`
 * select. */
void kernel_count(struct kernel_emitter *e, uint32_t region);
/* Adds the cycles that a call in that region has counted. */
void kernel_count_cycles(struct kernel_emitter *e, uint32_t region, LLVMValueRef cycles);
/* Does a call of the function deliver cycles?  Their type, in so many lanes (0: one number). */
bool kernel_function_counts(const struct kernel_emitter *e, const struct function *f);
LLVMTypeRef kernel_cycles_type(struct kernel_emitter *e, uint32_t lanes);
/* Begins the body of a function, which stores its cycles in `cycles`; and before each of its returns. */
void kernel_count_function(struct kernel_emitter *e, struct kernel_counting *counting,
                           const struct function *f, LLVMValueRef cycles);
void kernel_count_return(struct kernel_emitter *e);
/* In the body of a kernel that launches: the value of kernel_launch.timestamp at this place. */
LLVMValueRef kernel_count_so_far(struct kernel_emitter *e);
/* Begins the body of a kernel; it counts if its variant does. `counting` is its memory, the cycles are stored in `out`.
 * The next functions are called around a firing, around the work-items of a run, after each item, and at the end. */
void kernel_count_begin(struct kernel_emitter *e, struct kernel_counting *counting,
                        const struct kernel_variant *variant, LLVMValueRef out);
void kernel_count_firing_begin(struct kernel_emitter *e);
void kernel_count_firing_end(struct kernel_emitter *e);
void kernel_count_items_begin(struct kernel_emitter *e);
void kernel_count_item_end(struct kernel_emitter *e);
void kernel_count_items_end(struct kernel_emitter *e);
/* Do all firings cost the same? */
bool kernel_counts_nothing(const struct kernel_emitter *e);
/* Does a firing that is executed twice count once? */
bool kernel_counts_by_firing(const struct kernel_emitter *e);
void kernel_count_report(struct kernel_emitter *e);
/* Emits the firings from .. to - 1 of the batch. */
typedef void kernel_firings(struct kernel_emitter *e, LLVMValueRef from, LLVMValueRef to,
                            void *data);
/* All firings of the batch, block by block where the warps of each are to be counted. */
void kernel_count_blocks(struct kernel_emitter *e, LLVMValueRef count, kernel_firings *firings,
                         void *data);
/* Where a batch that may have stopped ends. */
void kernel_count_stopped(struct kernel_emitter *e);

#endif
