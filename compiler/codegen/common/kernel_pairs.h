/* SPDX-License-Identifier: MIT */
/* kernel_pairs: bytes of two firings in one word. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_PAIRS_H
#define COMPILER_CODEGEN_COMMON_KERNEL_PAIRS_H

#include "compiler/codegen/common/kernel_llvm.h"

/* Is the expression an 8-bit packet, converted to 16 bits? */
bool kernel_is_packet_word(const struct kx *x);
/* Load the byte of each lane (LAYOUT_PAIRS): widened to 16 bits, and unchanged. */
LLVMValueRef kernel_load_pair_words(struct kernel_emitter *e, struct kernel_address from,
                                    bool is_signed);
LLVMValueRef kernel_load_pairs(struct kernel_emitter *e, struct kernel_address from);
void kernel_store_pairs(struct kernel_emitter *e, struct kernel_address to, LLVMValueRef bytes);

#endif
