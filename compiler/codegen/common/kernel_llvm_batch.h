/* SPDX-License-Identifier: MIT */
/* kernel_llvm_batch: the entries of kernels (lang/kernel_abi.h), and the loop over the firings of a batch. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_LLVM_BATCH_H
#define COMPILER_CODEGEN_COMMON_KERNEL_LLVM_BATCH_H

#include "compiler/codegen/common/kernel_llvm.h"

/* Parameters of the internal functions; the windows follow. */
enum kernel_param {
    KERNEL_PARAM_ARGUMENTS,
    KERNEL_PARAM_TABLES,
    KERNEL_PARAM_STATE,
    KERNEL_PARAM_FIRST,
    KERNEL_PARAM_COUNT,
    KERNEL_PARAM_FAULT,
    KERNEL_PARAM_LEFT,
    KERNEL_PARAM_PRODUCED,
    KERNEL_PARAM_COMPLETED,
    KERNEL_PARAM_SEEN,
    KERNEL_PARAM_MOST,
    KERNEL_PARAM_LAUNCHES,
    KERNEL_PARAM_INDICES,
    KERNEL_PARAM_CYCLES,
    KERNEL_PARAM_ORIGINS,
    KERNEL_PARAM_PAST_CACHES,
    KERNEL_PARAM_WINDOWS,
    KERNEL_PARAM_IN = KERNEL_PARAM_WINDOWS, /* of many ends: arrays of windows */
    KERNEL_PARAM_OUT
};
struct kernel_end_counts {
    uint64_t in, out;
    bool many; /* there is one parameter for all of them on each side */
};
/* Loads the arguments of an internal function from the batch; args[] has room for all. Returns their number. */
unsigned kernel_batch_arguments(struct kernel_emitter *e, LLVMValueRef batch,
                                struct kernel_end_counts ends, LLVMValueRef *args);
void kernel_emit_variant(struct kernel_emitter *e, const struct kernel_variant *variant);
void kernel_emit_arguments_entry(struct kernel_emitter *e);
/* for (i = from; i < to; i += step) one firing (lanes 0), or those of all lanes. */
void kernel_emit_firings(struct kernel_emitter *e, LLVMValueRef from, LLVMValueRef to,
                         uint32_t lanes);
/* The firings from .. to - 1 of the batch, in lanes where the plan has some. */
void kernel_emit_run(struct kernel_emitter *e, const struct kernel_lane_plan *plan,
                     LLVMValueRef from, LLVMValueRef to);
/* Begins a function: entry block, `setup`, first block of its code.  The caller fills in the rest
 * of *body. */
void kernel_body_begin(struct kernel_emitter *e, struct kernel_body *body, LLVMValueRef function,
                       uint32_t local_count);
void kernel_body_end(struct kernel_emitter *e, struct kernel_body *outer,
                     LLVMBasicBlockRef outer_at);

#endif
