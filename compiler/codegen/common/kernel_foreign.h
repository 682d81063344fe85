/* SPDX-License-Identifier: MIT */
/* kernel_foreign: calls of foreign code, and bitcode that becomes part of the module. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_FOREIGN_H
#define COMPILER_CODEGEN_COMMON_KERNEL_FOREIGN_H

#include "compiler/codegen/common/kernel_llvm.h"

/* The call of the statement's section (KS_FOREIGN). */
void kernel_foreign_call(struct kernel_emitter *e, const struct ks *s);
/* Adds the bitcode files to the module; functions of firings are put in place of their calls.  False: reported. */
bool kernel_link_bitcode(struct kernel_emitter *e);

#endif
