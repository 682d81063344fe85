/* SPDX-License-Identifier: MIT */
/* kernel_origin: debug mode: which statement wrote a packet. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_ORIGIN_H
#define COMPILER_CODEGEN_COMMON_KERNEL_ORIGIN_H

#include "compiler/codegen/common/kernel_llvm.h"

/* Remembers where the windows of an out-port begin; nothing without debug mode. */
void kernel_origins_begin(struct kernel_emitter *e, uint32_t port);
/* The packet at that address was written by the statement at `span`. */
void kernel_origin_store(struct kernel_emitter *e, uint32_t port, LLVMValueRef element,
                         LLVMValueRef packet, struct span span);

#endif
