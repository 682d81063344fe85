/* SPDX-License-Identifier: MIT */
/* kernel_stream: stores past the caches. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_STREAM_H
#define COMPILER_CODEGEN_COMMON_KERNEL_STREAM_H

#include "compiler/codegen/common/kernel_llvm.h"

enum { KERNEL_LINE_BYTES = 64 }; /* of a cache, and of its memory */
/* The firings from `from` on that are executed with stores past the caches: where the batch asks for it, there are many
 * and the kernel is admitted.  Returns where the others begin. */
LLVMValueRef kernel_emit_streamed(struct kernel_emitter *e, LLVMValueRef from, LLVMValueRef to);

#endif
