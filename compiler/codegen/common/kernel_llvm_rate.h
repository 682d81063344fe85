/* SPDX-License-Identifier: MIT */
/* kernel_llvm_rate: phases of firings, counts of appended packets, and the report of a batch. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_LLVM_RATE_H
#define COMPILER_CODEGEN_COMMON_KERNEL_LLVM_RATE_H

#include "compiler/codegen/common/kernel_llvm.h"

/* A firing's window is not found by its number times a rate, for some port. */
bool kernel_rates_vary(const struct kernel *kernel);
bool kernel_in_moves(const struct kernel_port *port);
bool kernel_out_moves(const struct kernel *kernel, const struct kernel_port *port);
/* Of the present firing's phase: one of the list, or `single` where that is NULL.  `limit` is the
 * minimum of the list. */
struct kernel_bound kernel_phase_rate(struct kernel_emitter *e, uint64_t single,
                                      const uint64_t *list);
/* The minimum of the list, or `single` if it is NULL. */
uint64_t kernel_rate_least(const struct kernel *kernel, uint64_t single, const uint64_t *list);
/* Around the loop over firings, and around each of them. */
void kernel_rates_begin(struct kernel_emitter *e);
void kernel_firing_begin(struct kernel_emitter *e);
void kernel_firing_end(struct kernel_emitter *e);
void kernel_reset_counts(struct kernel_emitter *e);
/* Ends the batch: the present firing does not count.  In `finish`: stores its report (lang/kernel_abi.h, `completed`). */
void kernel_stop(struct kernel_emitter *e, const struct kx *report);
/* Ends the batch of a run with that status; the block is terminated. */
void kernel_leave_batch(struct kernel_emitter *e, LLVMValueRef status);
/* Code between the two is executed only if the caller passes a pointer that is not NULL. */
LLVMBasicBlockRef kernel_begin_asked(struct kernel_emitter *e, LLVMValueRef pointer);
void kernel_end_asked(struct kernel_emitter *e, LLVMBasicBlockRef end);
/* Stores the packets that the batch appended and the firings that it completed, if the caller asks. */
void kernel_report_batch(struct kernel_emitter *e, LLVMValueRef produced, LLVMValueRef completed,
                         LLVMValueRef most);
void kernel_report_finish(struct kernel_emitter *e, LLVMValueRef produced);

#endif
