/* SPDX-License-Identifier: MIT */
/* kernel_llvm_expr: expressions of all types. Operands are evaluated from left to right. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_LLVM_EXPR_H
#define COMPILER_CODEGEN_COMMON_KERNEL_LLVM_EXPR_H

#include "compiler/codegen/common/kernel_llvm.h"

/* Scalars: the value.  Arrays, vectors, structs, void: NULL. */
LLVMValueRef kernel_expression(struct kernel_emitter *e, const struct kx *x);
/* Evaluates an expression of any type and writes it.  `fresh`: nothing in `x` can see the
 * destination. */
void kernel_expression_into(struct kernel_emitter *e, const struct kx *x, struct kernel_address to,
                            bool fresh);
void kernel_store_zero(struct kernel_emitter *e, const struct type *type, struct kernel_address to);
/* An address that holds the value of `x`, a new one where it has none. */
struct kernel_address kernel_value_address(struct kernel_emitter *e, const struct kx *x);
/* The place of each operand of an operation on vectors, or its value where all elements have one. */
struct kernel_operand {
    struct kernel_address at;
    LLVMValueRef value; /* NULL: at `at` */
    const struct type *item;
};
struct kernel_operand kernel_operand(struct kernel_emitter *e, const struct kx *x, bool copied);
LLVMValueRef kernel_operand_item(struct kernel_emitter *e, const struct kernel_operand *operand,
                                 uint64_t lanes, uint64_t i);
void kernel_copy(struct kernel_emitter *e, const struct type *type, struct kernel_address to,
                 struct kernel_address from);

#endif
