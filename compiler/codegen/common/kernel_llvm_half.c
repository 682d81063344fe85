/* SPDX-License-Identifier: MIT */
/*
 * f16 (binary16) and bf16 are stored only: a register holds their 16 bits.  Conversions are spelt
 * out in integer and f32 operations, so that every instruction set gives the same bits without
 * library calls.
 */
#include "compiler/codegen/common/kernel_llvm_half.h"

#include "compiler/codegen/common/kernel_llvm_types.h"

static LLVMValueRef i32_like(struct kernel_emitter *e, LLVMValueRef like, uint32_t value)
{
    return kernel_integer_like(e, like, 32, value);
}

static LLVMValueRef as_float(struct kernel_emitter *e, LLVMValueRef bits)
{
    return LLVMBuildBitCast(e->builder, bits, kernel_type_like(e->f32, bits), "");
}

static LLVMValueRef as_bits(struct kernel_emitter *e, LLVMValueRef value)
{
    return LLVMBuildBitCast(e->builder, value, kernel_type_like(e->i32, value), "");
}

/* Exponent and fraction moved into place are the value x 2^-112, subnormals included. */
static LLVMValueRef binary16_to_f32(struct kernel_emitter *e, LLVMValueRef half)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef magnitude = LLVMBuildAnd(b, half, i32_like(e, half, 0x7fff), "");
    LLVMValueRef moved = LLVMBuildShl(b, magnitude, i32_like(e, half, 13), "");
    LLVMValueRef scale = as_float(e, i32_like(e, half, 0x77800000)); /* 2^112 */
    LLVMValueRef finite = as_bits(e, LLVMBuildFMul(b, as_float(e, moved), scale, ""));
    LLVMValueRef special = LLVMBuildOr(b, moved, i32_like(e, half, 0x7f800000), "");
    LLVMValueRef is_special =
        LLVMBuildICmp(b, LLVMIntUGE, magnitude, i32_like(e, half, 0x7c00), "");
    LLVMValueRef bits = LLVMBuildSelect(b, is_special, special, finite, "");
    LLVMValueRef sign = LLVMBuildAnd(b, half, i32_like(e, half, 0x8000), "");
    sign = LLVMBuildShl(b, sign, i32_like(e, half, 16), "");
    return as_float(e, LLVMBuildOr(b, bits, sign, ""));
}

LLVMValueRef kernel_half_to_f32(struct kernel_emitter *e, LLVMValueRef half, enum scalar_type from)
{
    LLVMValueRef wide = LLVMBuildZExt(e->builder, half, kernel_type_like(e->i32, half), "");
    if (from == SCALAR_F16) return binary16_to_f32(e, wide);
    return as_float(e, LLVMBuildShl(e->builder, wide, i32_like(e, wide, 16), ""));
}

/* (bits + half a unit - 1 + the lowest bit kept) >> shift: to nearest, ties to even. */
static LLVMValueRef round_bits(struct kernel_emitter *e, LLVMValueRef bits, uint32_t bias,
                               uint32_t shift)
{
    LLVMValueRef odd = LLVMBuildLShr(e->builder, bits, i32_like(e, bits, shift), "");
    odd = LLVMBuildAnd(e->builder, odd, i32_like(e, bits, 1), "");
    LLVMValueRef sum = LLVMBuildAdd(e->builder, bits, i32_like(e, bits, bias), "");
    sum = LLVMBuildAdd(e->builder, sum, odd, "");
    return LLVMBuildLShr(e->builder, sum, i32_like(e, bits, shift), "");
}

static LLVMValueRef f32_to_bf16(struct kernel_emitter *e, LLVMValueRef value)
{
    LLVMValueRef nan = LLVMBuildFCmp(e->builder, LLVMRealUNO, value, value, "");
    LLVMValueRef bits = as_bits(e, value);
    LLVMValueRef rounded = round_bits(e, bits, 0x7fff, 16);
    return LLVMBuildSelect(e->builder, nan, i32_like(e, bits, 0x7fc0), rounded, "");
}

static LLVMValueRef f32_to_binary16(struct kernel_emitter *e, LLVMValueRef value)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef bits = as_bits(e, value);
    LLVMValueRef magnitude = LLVMBuildAnd(b, bits, i32_like(e, bits, 0x7fffffff), "");
    LLVMValueRef normal = round_bits(e, magnitude, 0xc8000fff, 13); /* exponent bias 127 to 15 */
    /* Below 2^-14: adding 1/2 lets the f32 addition round at the place of the last subnormal bit.
     */
    LLVMValueRef half = i32_like(e, bits, 0x3f000000);
    LLVMValueRef sum = LLVMBuildFAdd(b, as_float(e, magnitude), as_float(e, half), "");
    LLVMValueRef tiny = LLVMBuildSub(b, as_bits(e, sum), half, "");
    LLVMValueRef is_tiny =
        LLVMBuildICmp(b, LLVMIntULT, magnitude, i32_like(e, bits, 0x38800000), "");
    LLVMValueRef result = LLVMBuildSelect(b, is_tiny, tiny, normal, "");
    LLVMValueRef is_nan =
        LLVMBuildICmp(b, LLVMIntUGT, magnitude, i32_like(e, bits, 0x7f800000), "");
    LLVMValueRef special =
        LLVMBuildSelect(b, is_nan, i32_like(e, bits, 0x7e00), i32_like(e, bits, 0x7c00), "");
    LLVMValueRef is_large =
        LLVMBuildICmp(b, LLVMIntUGE, magnitude, i32_like(e, bits, 0x47800000), "");
    result = LLVMBuildSelect(b, is_large, special, result, "");
    LLVMValueRef sign = LLVMBuildLShr(b, bits, i32_like(e, bits, 16), "");
    sign = LLVMBuildAnd(b, sign, i32_like(e, bits, 0x8000), "");
    return LLVMBuildOr(b, result, sign, "");
}

LLVMValueRef kernel_f32_to_half(struct kernel_emitter *e, LLVMValueRef value, enum scalar_type to)
{
    LLVMValueRef bits = to == SCALAR_F16 ? f32_to_binary16(e, value) : f32_to_bf16(e, value);
    return LLVMBuildTrunc(e->builder, bits, kernel_type_like(e->i16, bits), "");
}

LLVMValueRef kernel_round_to_odd(struct kernel_emitter *e, LLVMValueRef value)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef nearest = LLVMBuildFPTrunc(b, value, kernel_type_like(e->f32, value), "");
    LLVMValueRef back = LLVMBuildFPExt(b, nearest, LLVMTypeOf(value), "");
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef size = kernel_intrinsic(e, "llvm.fabs", &value, 1, &type, 1);
    LLVMValueRef back_size = kernel_intrinsic(e, "llvm.fabs", &back, 1, &type, 1);
    LLVMValueRef bits = as_bits(e, nearest);
    LLVMValueRef away = LLVMBuildFCmp(b, LLVMRealOGT, back_size, size, "");
    LLVMValueRef inexact = LLVMBuildFCmp(b, LLVMRealONE, back, value, "");
    bits = LLVMBuildSub(b, bits, LLVMBuildZExt(b, away, LLVMTypeOf(bits), ""), "");
    bits = LLVMBuildOr(b, bits, LLVMBuildZExt(b, inexact, LLVMTypeOf(bits), ""), "");
    return as_float(e, bits);
}
