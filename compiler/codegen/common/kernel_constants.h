/* SPDX-License-Identifier: MIT */
/* kernel_constants: a table of constants, from which firings in lanes load each one where they use it. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_CONSTANTS_H
#define COMPILER_CODEGEN_COMMON_KERNEL_CONSTANTS_H

#include "compiler/codegen/common/kernel_llvm.h"

struct kernel_constants {
    const struct scalar_value *values; /* each once */
    size_t count;
    LLVMValueRef table; /* a global of `type`, a struct with an item for each */
    LLVMTypeRef type;
};
/* The constants of the body, if they are more than `registers`; else NULL. */
struct kernel_constants *kernel_collect_constants(struct kernel_emitter *e,
                                                  const struct kernel *kernel, uint32_t registers);
/* A constant as an operand: in lanes it is loaded from the body's table, if it is there. */
LLVMValueRef kernel_constant_in_lanes(struct kernel_emitter *e, struct scalar_value value);

#endif
