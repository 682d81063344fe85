/* SPDX-License-Identifier: MIT */
/* Operators and conversions.  Integers wrap: no instruction here has nsw or nuw. */
#include "compiler/codegen/common/kernel_llvm_arith.h"

#include <math.h>

#include "compiler/bodies/checks.h"
#include "compiler/codegen/common/kernel_llvm_builtin.h"
#include "compiler/codegen/common/kernel_llvm_half.h"
#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/codegen/common/kernel_query.h"

LLVMValueRef kernel_relaxed(struct kernel_emitter *e, LLVMValueRef value)
{
    /* NaNs and infinities keep their meaning under --fast-math: isnan and the like still answer. */
    if (e->cx->options.fast_math && !e->body->strict && LLVMIsAInstruction(value) != NULL &&
        LLVMCanValueUseFastMathFlags(value)) {
        LLVMSetFastMathFlags(value, LLVMFastMathAllowReassoc | LLVMFastMathAllowContract |
                                        LLVMFastMathAllowReciprocal | LLVMFastMathNoSignedZeros |
                                        LLVMFastMathApproxFunc);
    }
    return value;
}

static bool type_is_signed(const struct type *type)
{
    return scalar_kind(type->scalar) == SCALAR_KIND_SIGNED;
}

LLVMValueRef kernel_select(struct kernel_emitter *e, LLVMValueRef condition, LLVMValueRef yes,
                           LLVMValueRef no)
{
    kernel_unify(e, &yes, &no);
    if (kernel_is_vector(condition)) {
        uint32_t lanes = LLVMGetVectorSize(LLVMTypeOf(condition));
        if (!kernel_is_vector(yes)) yes = kernel_splat(e, yes, lanes);
        if (!kernel_is_vector(no)) no = kernel_splat(e, no, lanes);
    }
    return LLVMBuildSelect(e->builder, condition, yes, no, "");
}

/* ---- integers ---- */

static LLVMValueRef one_like(struct kernel_emitter *e, LLVMValueRef like)
{
    LLVMTypeRef type = LLVMTypeOf(like);
    unsigned bits = LLVMGetIntTypeWidth(kernel_is_vector(like) ? LLVMGetElementType(type) : type);
    return kernel_integer_like(e, like, bits, 1);
}

/* 1 in place of 0, for a quotient that may be computed where no firing wants it: division by zero traps.  A local that
 * is not yet written has any value there: freeze makes it one and the same for the test and the division. */
static LLVMValueRef nonzero_divisor(struct kernel_emitter *e, LLVMValueRef divisor)
{
    divisor = LLVMBuildFreeze(e->builder, divisor, "");
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(divisor));
    LLVMValueRef is_zero = LLVMBuildICmp(e->builder, LLVMIntEQ, divisor, zero, "");
    return LLVMBuildSelect(e->builder, is_zero, one_like(e, divisor), divisor, "");
}

/* INT_MIN / -1 traps in hardware: a divisor of -1 is replaced by 1, and the result is chosen. */
static LLVMValueRef signed_division(struct kernel_emitter *e, bool remainder, LLVMValueRef left,
                                    LLVMValueRef right)
{
    LLVMTypeRef type = LLVMTypeOf(right);
    LLVMValueRef minus_one =
        LLVMBuildICmp(e->builder, LLVMIntEQ, right, LLVMConstAllOnes(type), "");
    LLVMValueRef divisor = LLVMBuildSelect(e->builder, minus_one, one_like(e, right), right, "");
    if (remainder) {
        LLVMValueRef value = LLVMBuildSRem(e->builder, left, divisor, "");
        return LLVMBuildSelect(e->builder, minus_one, LLVMConstNull(type), value, "");
    }
    LLVMValueRef value = LLVMBuildSDiv(e->builder, left, divisor, "");
    LLVMValueRef negated = LLVMBuildNeg(e->builder, left, "");
    return LLVMBuildSelect(e->builder, minus_one, negated, value, "");
}

static LLVMValueRef build_division(struct kernel_emitter *e, bool remainder,
                                   const struct type *type, LLVMValueRef left, LLVMValueRef right,
                                   const struct kx *at)
{
    if (checks_divides_by_zero(at)) {
        LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(right));
        LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntEQ, right, zero, "");
        kernel_fault_if(e, bad, KERNEL_FAULT_DIVISION, at->span, NULL, NULL);
    } else if (kernel_speculates(e) && checks_divisor_varies(at)) {
        right = nonzero_divisor(e, right);
    }
    if (type_is_signed(type)) return signed_division(e, remainder, left, right);
    return remainder ? LLVMBuildURem(e->builder, left, right, "")
                     : LLVMBuildUDiv(e->builder, left, right, "");
}

/* The count is taken modulo the width, which is a power of two: its low bits tell. */
static LLVMValueRef emit_shift(struct kernel_emitter *e, enum kx_op op, const struct type *type,
                               LLVMValueRef left, LLVMValueRef right)
{
    LLVMTypeRef scalar = kernel_scalar_type(e, type->scalar);
    unsigned bits = LLVMGetIntTypeWidth(scalar);
    LLVMValueRef count =
        LLVMBuildIntCast2(e->builder, right, kernel_type_like(scalar, right), 0, "");
    kernel_unify(e, &left, &count);
    LLVMValueRef mask = kernel_integer_like(e, count, bits, bits - 1);
    count = LLVMBuildAnd(e->builder, count, mask, "");
    if (op == OP_SHL) return LLVMBuildShl(e->builder, left, count, "");
    return type_is_signed(type) ? LLVMBuildAShr(e->builder, left, count, "")
                                : LLVMBuildLShr(e->builder, left, count, "");
}

static LLVMValueRef integer_binary(struct kernel_emitter *e, enum kx_op op, const struct type *type,
                                   LLVMValueRef left, LLVMValueRef right, const struct kx *at)
{
    if (op == OP_SHL || op == OP_SHR) return emit_shift(e, op, type, left, right);
    kernel_unify(e, &left, &right);
    switch (op) {
    case OP_ADD: return LLVMBuildAdd(e->builder, left, right, "");
    case OP_SUB: return LLVMBuildSub(e->builder, left, right, "");
    case OP_MUL: return LLVMBuildMul(e->builder, left, right, "");
    case OP_DIV: return build_division(e, false, type, left, right, at);
    case OP_REM: return build_division(e, true, type, left, right, at);
    case OP_AND: return LLVMBuildAnd(e->builder, left, right, "");
    case OP_OR: return LLVMBuildOr(e->builder, left, right, "");
    case OP_XOR: return LLVMBuildXor(e->builder, left, right, "");
    default: kernel_internal_error("an operator that integers do not have");
    }
}

static LLVMValueRef float_binary(struct kernel_emitter *e, enum kx_op op, LLVMValueRef left,
                                 LLVMValueRef right)
{
    kernel_unify(e, &left, &right);
    switch (op) {
    case OP_ADD: return kernel_relaxed(e, LLVMBuildFAdd(e->builder, left, right, ""));
    case OP_SUB: return kernel_relaxed(e, LLVMBuildFSub(e->builder, left, right, ""));
    case OP_MUL: return kernel_relaxed(e, LLVMBuildFMul(e->builder, left, right, ""));
    case OP_DIV: return kernel_relaxed(e, LLVMBuildFDiv(e->builder, left, right, ""));
    default: kernel_internal_error("an operator that floats do not have");
    }
}

static bool is_half(enum scalar_type scalar)
{
    return scalar == SCALAR_F16 || scalar == SCALAR_BF16;
}

LLVMValueRef kernel_binary(struct kernel_emitter *e, enum kx_op op, const struct type *type,
                           LLVMValueRef left, LLVMValueRef right, const struct kx *at)
{
    if (is_half(type->scalar)) {
        LLVMValueRef a = kernel_half_to_f32(e, left, type->scalar);
        LLVMValueRef b = kernel_half_to_f32(e, right, type->scalar);
        return kernel_f32_to_half(e, float_binary(e, op, a, b), type->scalar);
    }
    if (type_is_float(type)) return float_binary(e, op, left, right);
    return integer_binary(e, op, type, left, right, at);
}

LLVMValueRef kernel_negate(struct kernel_emitter *e, const struct type *type, LLVMValueRef value)
{
    if (is_half(type->scalar)) {
        return LLVMBuildXor(e->builder, value, kernel_integer_like(e, value, 16, 0x8000), "");
    }
    if (type_is_float(type)) return kernel_relaxed(e, LLVMBuildFNeg(e->builder, value, ""));
    return LLVMBuildNeg(e->builder, value, "");
}

/* ---- comparisons ---- */

static LLVMRealPredicate real_predicate(enum kx_op op)
{
    switch (op) {
    case OP_LT: return LLVMRealOLT;
    case OP_GT: return LLVMRealOGT;
    case OP_LE: return LLVMRealOLE;
    case OP_GE: return LLVMRealOGE;
    case OP_EQ: return LLVMRealOEQ;
    default: return LLVMRealUNE;
    }
}

static LLVMIntPredicate int_predicate(enum kx_op op, bool is_signed)
{
    switch (op) {
    case OP_LT: return is_signed ? LLVMIntSLT : LLVMIntULT;
    case OP_GT: return is_signed ? LLVMIntSGT : LLVMIntUGT;
    case OP_LE: return is_signed ? LLVMIntSLE : LLVMIntULE;
    case OP_GE: return is_signed ? LLVMIntSGE : LLVMIntUGE;
    case OP_EQ: return LLVMIntEQ;
    default: return LLVMIntNE;
    }
}

LLVMValueRef kernel_compare(struct kernel_emitter *e, enum kx_op op, const struct type *type,
                            LLVMValueRef left, LLVMValueRef right)
{
    kernel_unify(e, &left, &right);
    if (is_half(type->scalar)) {
        left = kernel_half_to_f32(e, left, type->scalar);
        right = kernel_half_to_f32(e, right, type->scalar);
    }
    if (type_is_float(type)) {
        return LLVMBuildFCmp(e->builder, real_predicate(op), left, right, "");
    }
    return LLVMBuildICmp(e->builder, int_predicate(op, type_is_signed(type)), left, right, "");
}

/* ---- conversions ---- */

static LLVMValueRef real_like(struct kernel_emitter *e, LLVMValueRef like, double number)
{
    LLVMTypeRef type = LLVMTypeOf(like);
    if (!kernel_is_vector(like)) return LLVMConstReal(type, number);
    return kernel_splat(e, LLVMConstReal(LLVMGetElementType(type), number),
                        LLVMGetVectorSize(type));
}

/* Saturates; NaN gives 0.  By compares and selects: LLVM cannot split its own saturating
 * conversions of wide vectors. A value outside of the integer's range is converted as 0, then
 * replaced. */
static LLVMValueRef float_to_integer(struct kernel_emitter *e, LLVMValueRef value,
                                     enum scalar_type to)
{
    LLVMBuilderRef b = e->builder;
    bool is_signed = scalar_is_signed(to);
    unsigned bits = 8 * (unsigned)scalar_width_bytes(to), range = is_signed ? bits - 1 : bits;
    LLVMValueRef high = real_like(e, value, ldexp(1, (int)range));
    LLVMValueRef low = real_like(e, value, is_signed ? -ldexp(1, (int)range) : 0);
    LLVMValueRef over = LLVMBuildFCmp(b, LLVMRealOGE, value, high, "");
    LLVMValueRef under = LLVMBuildFCmp(b, LLVMRealOLT, value, low, "");
    LLVMValueRef inside = LLVMBuildAnd(b, LLVMBuildFCmp(b, LLVMRealOGE, value, low, ""),
                                       LLVMBuildFCmp(b, LLVMRealOLT, value, high, ""), "");
    LLVMValueRef safe = LLVMBuildSelect(b, inside, value, real_like(e, value, 0), "");
    LLVMTypeRef type = kernel_type_like(kernel_scalar_type(e, to), value);
    LLVMValueRef result;
    if (bits < 32)
        result = LLVMBuildTrunc(b, LLVMBuildFPToSI(b, safe, kernel_type_like(e->i32, value), ""),
                                type, "");
    else
        result =
            is_signed ? LLVMBuildFPToSI(b, safe, type, "") : LLVMBuildFPToUI(b, safe, type, "");
    uint64_t most = UINT64_MAX >> (64 - range);
    result = LLVMBuildSelect(b, over, kernel_integer_like(e, value, bits, most), result, "");
    if (!is_signed) return result;
    return LLVMBuildSelect(b, under, kernel_integer_like(e, value, bits, ~most), result, "");
}

static LLVMValueRef integer_to_float(struct kernel_emitter *e, LLVMValueRef value,
                                     enum scalar_type from, LLVMTypeRef to)
{
    to = kernel_type_like(to, value);
    return scalar_is_signed(from) ? LLVMBuildSIToFP(e->builder, value, to, "")
                                  : LLVMBuildUIToFP(e->builder, value, to, "");
}

/* As f64; beyond its 53 bits the last one kept says whether others were lost. */
static LLVMValueRef integer_to_odd(struct kernel_emitter *e, LLVMValueRef value,
                                   enum scalar_type from)
{
    const uint64_t exact = UINT64_C(1) << 53, lost = 0xfff;
    if (scalar_width_bytes(from) < 8) return integer_to_float(e, value, from, e->f64);
    LLVMBuilderRef b = e->builder;
    bool is_signed = scalar_is_signed(from);
    LLVMValueRef size = value, zero = LLVMConstNull(LLVMTypeOf(value));
    if (is_signed) size = LLVMBuildAdd(b, value, kernel_integer_like(e, value, 64, exact), "");
    LLVMValueRef limit = kernel_integer_like(e, value, 64, is_signed ? 2 * exact : exact);
    LLVMValueRef rest = LLVMBuildAnd(b, value, kernel_integer_like(e, value, 64, lost), "");
    LLVMValueRef inexact = LLVMBuildICmp(b, LLVMIntNE, rest, zero, "");
    LLVMValueRef mark = kernel_integer_like(e, value, 64, (lost + 1) / 2);
    LLVMValueRef kept = LLVMBuildAnd(b, value, kernel_integer_like(e, value, 64, ~lost), "");
    kept = LLVMBuildOr(b, kept, LLVMBuildSelect(b, inexact, mark, zero, ""), "");
    LLVMValueRef is_large = LLVMBuildICmp(b, LLVMIntUGT, size, limit, "");
    return integer_to_float(e, LLVMBuildSelect(b, is_large, kept, value, ""), from, e->f64);
}

/* To f16 or bf16: by way of f32 in a rounding that does not spoil the second one. */
static LLVMValueRef to_half(struct kernel_emitter *e, LLVMValueRef value, enum scalar_type from,
                            enum scalar_type to)
{
    if (from == SCALAR_F64)
        value = kernel_round_to_odd(e, value);
    else if (from != SCALAR_F32) {
        value = kernel_round_to_odd(e, integer_to_odd(e, value, from));
    }
    return kernel_f32_to_half(e, value, to);
}

LLVMValueRef kernel_convert(struct kernel_emitter *e, LLVMValueRef value,
                            const struct type *from_type, const struct type *to_type)
{
    enum scalar_type from = from_type->scalar, to = to_type->scalar;
    if (from == to) return value;
    if (is_half(from)) {
        value = kernel_half_to_f32(e, value, from);
        from = SCALAR_F32;
        if (to == SCALAR_F32) return value;
    }
    if (to == SCALAR_BOOL) {
        LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(value));
        if (scalar_is_float(from)) return LLVMBuildFCmp(e->builder, LLVMRealUNE, value, zero, "");
        return LLVMBuildICmp(e->builder, LLVMIntNE, value, zero, "");
    }
    if (is_half(to)) return to_half(e, value, from, to);
    LLVMTypeRef type = kernel_type_like(kernel_scalar_type(e, to), value);
    if (scalar_is_float(from) && scalar_is_float(to)) {
        return LLVMBuildFPCast(e->builder, value, type, "");
    }
    if (scalar_is_float(from)) return float_to_integer(e, value, to);
    if (scalar_is_float(to)) return integer_to_float(e, value, from, kernel_scalar_type(e, to));
    return LLVMBuildIntCast2(e->builder, value, type, scalar_is_signed(from), "");
}
