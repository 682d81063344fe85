/* SPDX-License-Identifier: MIT */
/* kernel_compact: packets that only some of the firings in lanes append. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_COMPACT_H
#define COMPILER_CODEGEN_COMMON_KERNEL_COMPACT_H

#include "compiler/codegen/common/kernel_llvm.h"

/* The kernel's rates vary only because a firing appends one packet or none; it may be executed in lanes. */
bool kernel_compacts(struct kernel_emitter *e, const struct kernel *kernel);
/* The lanes that execute append `value`, a vector as memory holds it. */
void kernel_append_some(struct kernel_emitter *e, uint32_t port, LLVMValueRef value);

#endif
