/* SPDX-License-Identifier: MIT */
/* kernel_constants: constants of firings in lanes that are loaded where they are used. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_CONSTANTS_H
#define COMPILER_CODEGEN_COMMON_KERNEL_CONSTANTS_H

#include "compiler/codegen/common/kernel_llvm.h"

struct kernel_constants {
    const struct scalar_value *values; /* each once */
    size_t count;
    LLVMValueRef table; /* a global of `type`, a struct with an item for each */
    LLVMTypeRef type;
};
/* Those of the body, if there are more than so many; else NULL. */
struct kernel_constants *kernel_collect_constants(struct kernel_emitter *e,
                                                  const struct kernel *kernel, uint32_t registers);
/* A constant as an operand: in lanes loaded from `constants`, if it is there. */
LLVMValueRef kernel_constant_in_lanes(struct kernel_emitter *e, struct scalar_value value);

#endif
