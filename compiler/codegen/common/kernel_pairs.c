/* SPDX-License-Identifier: MIT */
/*
 * kernel_pairs: bytes of two firings in one word.
 *
 * Lanes that compute in 16 bits from packets of 8 are woven in two parts (kernel_weave.c): lane l of part k holds the
 * firing 2l + k.  Then one load of words reads the packets of both parts: the low halves belong to part 0, the high
 * halves to part 1.  A mask or a shift makes 16 bits of each half.  Bytes in order would have to be spread over the
 * registers instead.  In the next column of a window, part 0 needs the high halves of the same words.  So a window of
 * n columns needs n + 1 halves, not 2n.  The packets that the parts append become words in the same way.
 *
 * Places in a window count from its leftmost column.  Words begin at even places: the last packet of a window of an
 * odd number of columns is a high half, and nothing beyond the window is read.
 */
#include "compiler/codegen/common/kernel_pairs.h"

#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/codegen/common/kernel_registers.h"

enum { BYTE_BITS = 8, PARTS = 2 };

static LLVMTypeRef vector_of(struct kernel_emitter *e, LLVMTypeRef item)
{
    return LLVMVectorType(item, e->body->lanes / PARTS);
}

static LLVMTypeRef pair_word_type(struct kernel_emitter *e)
{
    return LLVMInt16TypeInContext(e->context);
}

/* The packets at a place as 16 bits, each of a firing two after the one before. */
static LLVMValueRef load_part(struct kernel_emitter *e, struct kernel_address from, bool is_signed,
                              uint64_t part)
{
    LLVMBuilderRef b = e->builder;
    unsigned lanes = e->body->lanes / PARTS;
    LLVMTypeRef word = pair_word_type(e);
    LLVMValueRef place = LLVMBuildAdd(b, from.parts[0], kernel_i64(e, part), "");
    LLVMValueRef odd = LLVMBuildAnd(b, place, kernel_i64(e, 1), "odd");
    LLVMValueRef offset = LLVMBuildSub(b, kernel_i64(e, part), odd, "");
    LLVMValueRef at = LLVMBuildInBoundsGEP2(b, e->i8, from.pointer, &offset, 1, "");
    LLVMValueRef words = LLVMBuildLoad2(b, vector_of(e, word), at, "words");
    LLVMSetAlignment(words, 1);
    LLVMValueRef low = LLVMBuildMul(b, odd, kernel_i64(e, BYTE_BITS), ""); /* its lowest bit */
    low = LLVMBuildTrunc(b, low, word, "");
    LLVMValueRef byte_bits = LLVMConstInt(word, BYTE_BITS, 0);
    if (!is_signed) {
        words = LLVMBuildLShr(b, words, kernel_splat(e, low, lanes), "");
        return LLVMBuildAnd(b, words, kernel_splat(e, LLVMConstInt(word, UINT8_MAX, 0), lanes), "");
    }
    LLVMValueRef above = LLVMBuildSub(b, byte_bits, low, "");
    words = LLVMBuildShl(b, words, kernel_splat(e, above, lanes), "");
    return LLVMBuildAShr(b, words, kernel_splat(e, byte_bits, lanes), "");
}

LLVMValueRef kernel_load_pair_words(struct kernel_emitter *e, struct kernel_address from,
                                    bool is_signed)
{
    LLVMValueRef part[PARTS];
    for (unsigned k = 0; k < PARTS; k++)
        part[k] = load_part(e, from, is_signed, k);
    return kernel_join_registers(e, part, PARTS);
}

LLVMValueRef kernel_load_pairs(struct kernel_emitter *e, struct kernel_address from)
{
    LLVMTypeRef bytes = LLVMVectorType(e->i8, e->body->lanes);
    return LLVMBuildTrunc(e->builder, kernel_load_pair_words(e, from, false), bytes, "");
}

bool kernel_is_packet_word(const struct kx *x)
{
    if (x->kind != KX_CONVERT) return false;
    bool packet = x->left->kind == KX_WINDOW || x->left->kind == KX_PEEK;
    return packet && type_is_integer(x->left->type) && type_is_integer(x->type) &&
           x->left->type->width_bytes == 1 && x->type->width_bytes == PARTS;
}

void kernel_store_pairs(struct kernel_emitter *e, struct kernel_address to, LLVMValueRef bytes)
{
    LLVMValueRef part[PARTS];
    unsigned lanes = e->body->lanes / PARTS;
    for (unsigned k = 0; k < PARTS; k++) {
        part[k] = kernel_register_of(e, bytes, PARTS, k);
        part[k] = LLVMBuildZExt(e->builder, part[k], vector_of(e, pair_word_type(e)), "");
    }
    LLVMValueRef bits = kernel_splat(e, LLVMConstInt(pair_word_type(e), BYTE_BITS, 0), lanes);
    LLVMValueRef high = LLVMBuildShl(e->builder, part[1], bits, "");
    LLVMValueRef words = LLVMBuildOr(e->builder, part[0], high, "words");
    LLVMSetAlignment(LLVMBuildStore(e->builder, words, to.pointer), 1);
}
