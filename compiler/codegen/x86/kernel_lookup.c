/* SPDX-License-Identifier: MIT */
/*
 * Items of a small table, one for each lane.  VPERMD takes 8 items (16 with AVX-512) from a register in one instruction.
 * A larger table takes some such registers, and the bits of the index that VPERMD does not read choose between their
 * items.  The loads that this replaces take five instructions for each lane, and LLVM's time as well.
 */
#include <assert.h>
#include <llvm-c/Core.h>

#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/codegen/common/kernel_registers.h"
#include "compiler/codegen/x86/x86.h"

enum { ITEM_BITS = 32, PARTS_MAX = 4 };

struct lookup {
    struct kernel_emitter *e;
    LLVMTypeRef word;             /* i32 */
    unsigned lanes;               /* of a register */
    unsigned parts;               /* registers that hold the table: 1, 2 or 4 */
    LLVMValueRef part[PARTS_MAX]; /* its items */
};

static bool fits_word(LLVMTypeRef item)
{
    LLVMTypeKind kind = LLVMGetTypeKind(item);
    return kind == LLVMFloatTypeKind ||
           (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(item) <= ITEM_BITS);
}

/* How many registers hold so many items: a power of two; 0: too many. */
static unsigned register_count_for(unsigned items, unsigned lanes)
{
    unsigned parts = 1;
    while (parts <= PARTS_MAX && parts * lanes < items)
        parts *= 2;
    return parts <= PARTS_MAX ? parts : 0;
}

static LLVMValueRef item_word(const struct lookup *l, LLVMValueRef item)
{
    if (LLVMGetTypeKind(LLVMTypeOf(item)) == LLVMFloatTypeKind)
        return LLVMConstBitCast(item, l->word);
    return LLVMConstInt(l->word, LLVMConstIntGetZExtValue(item), 0);
}

static void fill_parts(struct lookup *l, LLVMValueRef table, unsigned items)
{
    LLVMValueRef *words = ARENA_ARRAY(l->e->scratch, LLVMValueRef, l->lanes);
    for (unsigned p = 0; p < l->parts; p++) {
        for (unsigned i = 0; i < l->lanes; i++) {
            unsigned place = p * l->lanes + i;
            words[i] = place < items ? item_word(l, LLVMGetAggregateElement(table, place))
                                     : LLVMConstNull(l->word);
        }
        l->part[p] = LLVMConstVector(words, l->lanes);
    }
}

static LLVMValueRef build_permute(const struct lookup *l, LLVMValueRef part, LLVMValueRef index)
{
    const char *name = l->lanes == 8 ? "llvm.x86.avx2.permd" : "llvm.x86.avx512.permvar.si.512";
    LLVMValueRef arguments[] = {part, index};
    return kernel_target_call(l->e, name, arguments, 2);
}

/* Is that bit of the index 1?  Tests the sign after a shift, because a blend reads signs. */
static LLVMValueRef has_bit(const struct lookup *l, LLVMValueRef index, unsigned bit)
{
    LLVMBuilderRef b = l->e->builder;
    LLVMTypeRef type = LLVMTypeOf(index);
    LLVMValueRef *shifts = ARENA_ARRAY(l->e->scratch, LLVMValueRef, l->lanes);
    for (unsigned i = 0; i < l->lanes; i++)
        shifts[i] = LLVMConstInt(l->word, ITEM_BITS - 1 - bit, 0);
    LLVMValueRef sign = LLVMBuildShl(b, index, LLVMConstVector(shifts, l->lanes), "");
    return LLVMBuildICmp(b, LLVMIntSLT, sign, LLVMConstNull(type), "");
}

/* The items of one register of indices. */
static LLVMValueRef look_up(const struct lookup *l, LLVMValueRef index)
{
    LLVMValueRef found[PARTS_MAX];
    assert(l->parts > 0);
    for (unsigned p = 0; p < l->parts; p++)
        found[p] = build_permute(l, l->part[p], index);
    unsigned bit = l->lanes == 8 ? 3 : 4;
    for (unsigned count = l->parts; count > 1; count /= 2, bit++) {
        LLVMValueRef high = has_bit(l, index, bit);
        for (unsigned i = 0; i < count / 2; i++)
            found[i] = LLVMBuildSelect(l->e->builder, high, found[(size_t)2 * i + 1],
                                       found[(size_t)2 * i], "");
    }
    return found[0];
}

static LLVMValueRef as_item(const struct lookup *l, LLVMValueRef words, LLVMTypeRef item)
{
    unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(words));
    if (item == l->word) return words;
    LLVMTypeRef type = LLVMVectorType(item, lanes);
    return LLVMGetTypeKind(item) == LLVMFloatTypeKind
               ? LLVMBuildBitCast(l->e->builder, words, type, "")
               : LLVMBuildTrunc(l->e->builder, words, type, "");
}

LLVMValueRef x86_table_items(struct kernel_emitter *e, LLVMValueRef table, LLVMValueRef index)
{
    LLVMTypeRef item = LLVMGetElementType(LLVMTypeOf(table));
    unsigned items = (unsigned)LLVMGetArrayLength2(LLVMTypeOf(table));
    unsigned all = LLVMGetVectorSize(LLVMTypeOf(index));
    struct lookup l = {.e = e, .word = e->i32, .lanes = e->isa.vector_bits / ITEM_BITS};
    if (l.lanes < 8 || !fits_word(item) || all % l.lanes != 0) return NULL;
    unsigned registers = all / l.lanes;
    l.parts = register_count_for(items, l.lanes);
    if (l.parts == 0 || registers > KERNEL_REGISTERS_MAX || (registers & (registers - 1)) != 0)
        return NULL;
    fill_parts(&l, table, items);
    LLVMTypeRef words = LLVMVectorType(l.word, all);
    LLVMValueRef found[KERNEL_REGISTERS_MAX],
        place = LLVMBuildIntCast2(e->builder, index, words, 0, "");
    for (unsigned r = 0; r < registers; r++)
        found[r] = look_up(&l, kernel_register_of(e, place, registers, r));
    return as_item(&l, kernel_join_registers(e, found, registers), item);
}
