/* SPDX-License-Identifier: MIT */
/* kernel_items: the work-items of a firing. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_ITEMS_H
#define COMPILER_CODEGEN_COMMON_KERNEL_ITEMS_H

#include "compiler/codegen/common/kernel_llvm.h"

/* Whether (i1) the registers of the batch are those of items numbered x first. */
LLVMValueRef kernel_items_numbered(struct kernel_emitter *e);
/* Begins a firing of work-items: what follows is emitted for all of them. */
void kernel_items_begin(struct kernel_emitter *e);
/* The statements of all items, which are cut into what is done together and runs in between. */
void kernel_items_statements(struct kernel_emitter *e, const struct ks *first);
/* The parts of a statement that is done together: a value (evaluated for its effects, too), the
 * beginning of a loop, the zero of a variable. */
LLVMValueRef kernel_items_value(struct kernel_emitter *e, const struct kx *x);
void kernel_items_init(struct kernel_emitter *e, const struct ks *first);
void kernel_items_zero(struct kernel_emitter *e, const struct variable *variable);
/* The present item ends its firing. */
void kernel_items_leave(struct kernel_emitter *e);

#endif
