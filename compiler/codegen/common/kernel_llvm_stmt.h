/* SPDX-License-Identifier: MIT */
/* kernel_llvm_stmt: statements. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_LLVM_STMT_H
#define COMPILER_CODEGEN_COMMON_KERNEL_LLVM_STMT_H

#include "compiler/codegen/common/kernel_llvm.h"

void kernel_statements(struct kernel_emitter *e, const struct ks *first);
void kernel_statement(struct kernel_emitter *e, const struct ks *s);

#endif
