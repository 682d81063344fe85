/* SPDX-License-Identifier: MIT */
/* kernel_pairs: bytes of two firings in one word. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_PAIRS_H
#define COMPILER_CODEGEN_COMMON_KERNEL_PAIRS_H

#include "compiler/codegen/common/kernel_llvm.h"

/* An integer of 16 bits that is a packet of 8. */
bool kernel_is_packet_word(const struct kx *x);
/* A byte of each lane, LAYOUT_PAIRS: as 16 bits, and as it is. */
LLVMValueRef kernel_load_pair_words(struct kernel_emitter *e, struct kernel_address from,
                                    bool is_signed);
LLVMValueRef kernel_load_pairs(struct kernel_emitter *e, struct kernel_address from);
void kernel_store_pairs(struct kernel_emitter *e, struct kernel_address to, LLVMValueRef bytes);

#endif
