/* SPDX-License-Identifier: MIT */
/* kernel_llvm_types: types and constants of LLVM, loads and stores of scalars, blocks, branches, and the way out of a fault. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_LLVM_TYPES_H
#define COMPILER_CODEGEN_COMMON_KERNEL_LLVM_TYPES_H

#include "compiler/codegen/common/kernel_llvm.h"

/* Ends the process: exit 3.  For what cannot happen. */
_Noreturn void kernel_internal_error(const char *what);
LLVMTypeRef kernel_scalar_type(struct kernel_emitter *e,
                               enum scalar_type scalar); /* in registers */
LLVMTypeRef kernel_memory_type(struct kernel_emitter *e, const struct type *type); /* in memory */
/* In memory of that layout: scalars are vectors where it is LAYOUT_LANES. */
LLVMTypeRef kernel_layout_type(struct kernel_emitter *e, const struct type *type,
                               enum kernel_layout layout);
/* The same type with as many elements as `like` has, where that is a vector. */
LLVMTypeRef kernel_type_like(LLVMTypeRef scalar, LLVMValueRef like);
bool kernel_is_vector(LLVMValueRef value);
LLVMValueRef kernel_splat(struct kernel_emitter *e, LLVMValueRef value, uint32_t lanes);
/* Makes vectors of both where one is. */
void kernel_unify(struct kernel_emitter *e, LLVMValueRef *a, LLVMValueRef *b);
/* The same value, of which LLVM does not know that: a call of empty assembly. */
LLVMValueRef kernel_unknown(struct kernel_emitter *e, LLVMBuilderRef builder, LLVMValueRef value,
                            const char *name);
LLVMValueRef kernel_i64(struct kernel_emitter *e, uint64_t value);
LLVMValueRef kernel_integer_like(struct kernel_emitter *e, LLVMValueRef like, unsigned bits,
                                 uint64_t value);
LLVMValueRef kernel_constant(struct kernel_emitter *e, struct scalar_value value);
/* A private constant of the module with this value. */
LLVMValueRef kernel_private_constant(struct kernel_emitter *e, LLVMValueRef value,
                                     const char *name);
LLVMValueRef kernel_constant_global(struct kernel_emitter *e, const struct variable *variable);
LLVMValueRef kernel_alloca(struct kernel_emitter *e, LLVMTypeRef type, const char *name);
/* The same for a value of the language, with its alignment. */
LLVMValueRef kernel_alloca_value(struct kernel_emitter *e, const struct type *type,
                                 enum kernel_layout layout, const char *name);
LLVMValueRef kernel_load(struct kernel_emitter *e, const struct type *type,
                         struct kernel_address from);
/* A scalar as memory holds it: i8 for bool. */
LLVMValueRef kernel_memory_value(struct kernel_emitter *e, const struct type *type,
                                 LLVMValueRef value);
void kernel_store(struct kernel_emitter *e, const struct type *type, struct kernel_address to,
                  LLVMValueRef value);
LLVMValueRef kernel_offset(struct kernel_emitter *e, LLVMBuilderRef builder, LLVMValueRef pointer,
                           uint64_t bytes);
LLVMBasicBlockRef kernel_block(struct kernel_emitter *e, const char *name);
void kernel_position(struct kernel_emitter *e, LLVMBasicBlockRef block);
void kernel_function_attribute(struct kernel_emitter *e, LLVMValueRef function, const char *name);
void kernel_parameter_attribute(struct kernel_emitter *e, LLVMValueRef function, unsigned parameter,
                                const char *name);
LLVMValueRef kernel_intrinsic(struct kernel_emitter *e, const char *name, LLVMValueRef *args,
                              unsigned count, LLVMTypeRef *overloads, unsigned overload_count);
/* The smaller one of two i64, without sign. */
LLVMValueRef kernel_smaller(struct kernel_emitter *e, LLVMValueRef a, LLVMValueRef b);
/* The loop that ends with `branch` is neither unrolled nor vectorised. */
void kernel_leave_loop_alone(struct kernel_emitter *e, LLVMValueRef branch);
/* The loop that ends with `branch` is written out, all its rounds. */
void kernel_unroll_loop(struct kernel_emitter *e, LLVMValueRef branch);
/* So many rounds of the loop that ends with `branch` are executed side by side, if LLVM proves that this is the same. */
void kernel_interleave_loop(struct kernel_emitter *e, LLVMValueRef branch, uint64_t rounds);
/* Has the line at `address` brought to the first-level cache; an address that cannot be read does no harm. */
void kernel_prefetch(struct kernel_emitter *e, LLVMValueRef address);
/* Goes to `unlikely` where `condition` (i1, uniform) is true. */
void kernel_branch_unlikely(struct kernel_emitter *e, LLVMValueRef condition,
                            LLVMBasicBlockRef unlikely, LLVMBasicBlockRef likely);
/* Goes on where `bad` (i1, uniform) is false; where it is true the body ends with the fault. */
void kernel_fault_if(struct kernel_emitter *e, LLVMValueRef bad, enum kernel_status status,
                     struct span span, LLVMValueRef index, LLVMValueRef bound);
/* Goes on where `status` is KERNEL_OK; else the body ends with it. */
void kernel_fault_through(struct kernel_emitter *e, LLVMValueRef status);

#endif
