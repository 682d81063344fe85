/* SPDX-License-Identifier: MIT */
/*
 * kernel_fixup: canonical NaNs (kernel_nans.c) in vectors of 512 bits.
 *
 * To choose the canonical NaN, LLVM compares, which gives a mask, and moves under the mask. The processor has
 * one instruction for both: VFIXUPIMM looks up the result of each lane by the class of its value. The bits are
 * the same. The code is rewritten after LLVM has optimised it, because most of these vectors are made by LLVM's
 * own vectoriser.
 */
#include "compiler/codegen/common/kernel_registers.h"
#include "compiler/codegen/x86/x86.h"

/* A digit for each class of value, quiet and signalling NaN the lowest: 0 takes what stands in the
 * destination, 1 the value. */
#define KEEP_ALL_BUT_NANS 0x11111100U

enum { REGISTER_BITS = 512, ROUNDING_AS_SET = 4 };

struct choice { /* value, or `otherwise` where that is a NaN */
    LLVMValueRef value, otherwise;
    unsigned registers, width_bits;
};

static bool is_select(LLVMValueRef v)
{
    return LLVMIsAInstruction(v) != NULL && LLVMGetInstructionOpcode(v) == LLVMSelect;
}

static bool asks_for_nan(LLVMValueRef condition, LLVMValueRef value)
{
    if (LLVMIsAFCmpInst(condition) == NULL || LLVMGetFCmpPredicate(condition) != LLVMRealUNO)
        return false;
    LLVMValueRef with = LLVMGetOperand(condition, 1);
    return LLVMGetOperand(condition, 0) == value && (with == value || LLVMIsNull(with));
}

/* Is the instruction a choice that whole registers can make? */
static bool is_choice(LLVMValueRef select, struct choice *choice)
{
    if (!is_select(select) || LLVMGetTypeKind(LLVMTypeOf(select)) != LLVMVectorTypeKind)
        return false;
    LLVMValueRef cast = LLVMIsABitCastInst(LLVMGetOperand(select, 2));
    if (cast == NULL) return false;
    LLVMValueRef value = LLVMGetOperand(cast, 0); /* a float, which the cast reinterprets */
    if (!asks_for_nan(LLVMGetOperand(select, 0), value)) return false;
    LLVMTypeRef type = LLVMTypeOf(value);
    unsigned registers = kernel_float_registers(type, REGISTER_BITS);
    if (registers == 0 || LLVMGetVectorSize(LLVMTypeOf(select)) != LLVMGetVectorSize(type))
        return false;
    unsigned width = LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMFloatTypeKind ? 32 : 64;
    *choice = (struct choice){value, LLVMGetOperand(select, 1), registers, width};
    return true;
}

static LLVMValueRef splat_value(LLVMTypeRef vector, uint64_t value)
{
    LLVMValueRef lanes[REGISTER_BITS / 32];
    unsigned count = LLVMGetVectorSize(vector);
    for (unsigned i = 0; i < count; i++)
        lanes[i] = LLVMConstInt(LLVMGetElementType(vector), value, 0);
    return LLVMConstVector(lanes, count);
}

static LLVMValueRef fix_register(struct kernel_emitter *e, LLVMValueRef otherwise,
                                 LLVMValueRef value, unsigned width_bits)
{
    const char *name = width_bits == 32 ? "llvm.x86.avx512.mask.fixupimm.ps.512"
                                        : "llvm.x86.avx512.mask.fixupimm.pd.512";
    LLVMTypeRef word = LLVMInt32TypeInContext(e->context);
    LLVMTypeRef bits = LLVMIntTypeInContext(e->context, width_bits);
    LLVMTypeRef mask = LLVMIntTypeInContext(e->context, REGISTER_BITS / width_bits);
    LLVMValueRef arguments[] = {
        otherwise,
        value,
        splat_value(LLVMVectorType(bits, REGISTER_BITS / width_bits), KEEP_ALL_BUT_NANS),
        LLVMConstInt(word, 0, 0),
        LLVMConstAllOnes(mask),
        LLVMConstInt(word, ROUNDING_AS_SET, 0)};
    return kernel_target_call(e, name, arguments, sizeof arguments / sizeof arguments[0]);
}

/* In front of the select: what it chooses, register by register. */
static LLVMValueRef fix_choice(struct kernel_emitter *e, const struct choice *c)
{
    LLVMValueRef registers[KERNEL_REGISTERS_MAX];
    LLVMValueRef otherwise = LLVMBuildBitCast(e->builder, c->otherwise, LLVMTypeOf(c->value), "");
    for (unsigned i = 0; i < c->registers; i++)
        registers[i] =
            fix_register(e, kernel_register_of(e, otherwise, c->registers, i),
                         kernel_register_of(e, c->value, c->registers, i), c->width_bits);
    return kernel_join_registers(e, registers, c->registers);
}

static void fix_block(struct kernel_emitter *e, LLVMBasicBlockRef block)
{
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != NULL; i = next) {
        struct choice choice;
        next = LLVMGetNextInstruction(i);
        if (!is_choice(i, &choice)) continue;
        LLVMPositionBuilderBefore(e->builder, i);
        LLVMValueRef fixed =
            LLVMBuildBitCast(e->builder, fix_choice(e, &choice), LLVMTypeOf(i), "");
        LLVMReplaceAllUsesWith(i, fixed);
        LLVMInstructionEraseFromParent(i);
    }
}

void x86_fix_nans(struct kernel_emitter *e)
{
    if (e->isa.vector_bits != REGISTER_BITS) return;
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL;
             b = LLVMGetNextBasicBlock(b))
            fix_block(e, b);
}
