/* SPDX-License-Identifier: MIT */
/* kernel_threads: the entries of kernels whose firings are threads of a GPU (lang/gpu_abi.h). */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_THREADS_H
#define COMPILER_CODEGEN_COMMON_KERNEL_THREADS_H

#include "compiler/codegen/common/kernel_llvm.h"
#include "compiler/codegen/common/kernel_llvm_batch.h"

/* Exports an entry of that name, which calls the internal function. */
void kernel_export_threads(struct kernel_emitter *e, const char *name,
                           const struct kernel_variant *variant, enum kernel_entry_kind entry,
                           LLVMValueRef internal, struct kernel_end_counts ends);
/* Exports pipe_call, after all entries. */
void kernel_emit_call(struct kernel_emitter *e);

#endif
