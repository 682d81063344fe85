/* SPDX-License-Identifier: MIT */
/* kernel_llvm_address: addresses of variables, array items and packets; checks of indices. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_LLVM_ADDRESS_H
#define COMPILER_CODEGEN_COMMON_KERNEL_LLVM_ADDRESS_H

#include "compiler/codegen/common/kernel_llvm.h"

/* The address of a variable, or of an item or packet of something that has one. */
struct kernel_address kernel_address_of(struct kernel_emitter *e, const struct kx *x);
struct kernel_address kernel_variable_address(struct kernel_emitter *e,
                                              const struct variable *variable);
struct kernel_address kernel_member(struct kernel_emitter *e, struct kernel_address base,
                                    uint64_t offset_bytes);
struct kernel_address kernel_item(struct kernel_emitter *e, const struct type *array,
                                  struct kernel_address base, LLVMValueRef index);
/* An index as i64, checked against `bound` where it has to be. */
LLVMValueRef kernel_index(struct kernel_emitter *e, const struct kx *index, enum access_check check,
                          struct kernel_bound bound, struct span span);
struct kernel_bound kernel_constant_bound(struct kernel_emitter *e, uint64_t limit);
/* The packet `index` (i64, within the firing) of in-port and out-port `port`. */
struct kernel_address kernel_in_packet(struct kernel_emitter *e, uint32_t port,
                                       LLVMValueRef element, LLVMValueRef index);
struct kernel_address kernel_out_packet(struct kernel_emitter *e, uint32_t port,
                                        LLVMValueRef element, LLVMValueRef index);
/* The element of a port array, checked; 0 where `element` is NULL. */
LLVMValueRef kernel_port_element(struct kernel_emitter *e, const struct kernel_port *port,
                                 const struct kx *element, enum access_check check);
LLVMValueRef kernel_array_item(struct kernel_emitter *e, LLVMTypeRef item, uint64_t length,
                               LLVMValueRef array, LLVMValueRef index);

#endif
