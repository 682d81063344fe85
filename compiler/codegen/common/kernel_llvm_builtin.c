/* SPDX-License-Identifier: MIT */
/* Built-in functions: exact, or correctly rounded, in instructions of the target. */

/* An intrinsic over operands of one type, which is also its result's. */
#include "compiler/codegen/common/kernel_llvm_builtin.h"

#include "compiler/codegen/common/kernel_llvm_arith.h"
#include "compiler/codegen/common/kernel_llvm_expr.h"
#include "compiler/codegen/common/kernel_llvm_types.h"

static LLVMValueRef same_type_intrinsic(struct kernel_emitter *e, const char *name,
                                        LLVMValueRef *args, unsigned count)
{
    LLVMTypeRef type = LLVMTypeOf(args[0]);
    return kernel_intrinsic(e, name, args, count, &type, 1);
}

static unsigned width_bits(enum scalar_type scalar)
{
    return (unsigned)scalar_width_bytes(scalar) * 8;
}

/* ---- floats as bits ---- */

struct float_bits {
    uint64_t magnitude, infinity, nan;
};

static struct float_bits float_bits(enum scalar_type scalar)
{
    switch (scalar) {
    case SCALAR_F16: return (struct float_bits){0x7fff, 0x7c00, 0x7e00};
    case SCALAR_BF16: return (struct float_bits){0x7fff, 0x7f80, 0x7fc0};
    case SCALAR_F32: return (struct float_bits){0x7fffffff, 0x7f800000, 0x7fc00000};
    default:
        return (struct float_bits){INT64_MAX, UINT64_C(0x7ff0000000000000),
                                   UINT64_C(0x7ff8000000000000)};
    }
}

static LLVMValueRef bits_of(struct kernel_emitter *e, LLVMValueRef value, enum scalar_type scalar)
{
    LLVMTypeRef type = LLVMIntTypeInContext(e->context, width_bits(scalar));
    return LLVMBuildBitCast(e->builder, value, kernel_type_like(type, value), "");
}

static LLVMValueRef compare_magnitude(struct kernel_emitter *e, LLVMIntPredicate predicate,
                                      LLVMValueRef value, enum scalar_type scalar)
{
    LLVMValueRef bits = bits_of(e, value, scalar);
    uint64_t mask = float_bits(scalar).magnitude;
    LLVMValueRef magnitude =
        LLVMBuildAnd(e->builder, bits, kernel_integer_like(e, bits, width_bits(scalar), mask), "");
    LLVMValueRef infinity =
        kernel_integer_like(e, magnitude, width_bits(scalar), float_bits(scalar).infinity);
    return LLVMBuildICmp(e->builder, predicate, magnitude, infinity, "");
}

static LLVMValueRef is_nan(struct kernel_emitter *e, LLVMValueRef value, enum scalar_type scalar)
{
    if (scalar == SCALAR_F32 || scalar == SCALAR_F64) {
        return LLVMBuildFCmp(e->builder, LLVMRealUNO, value, value, "");
    }
    return compare_magnitude(e, LLVMIntUGT, value, scalar);
}

/* A value that LLVM knows nothing of.  Were it known to be a NaN, choosing it could become a choice among floats,
 * `x < 0 ? NaN : sqrt(x)`, and that any NaN: the one that the processor makes of a root has another sign. */
static LLVMValueRef canonical_nan(struct kernel_emitter *e, LLVMValueRef like,
                                  enum scalar_type scalar)
{
    LLVMTypeRef bits = LLVMIntTypeInContext(e->context, width_bits(scalar));
    LLVMValueRef known = LLVMConstInt(bits, float_bits(scalar).nan, 0);
    LLVMValueRef nan = kernel_unknown(e, e->body->setup, known, "nan");
    return kernel_is_vector(like) ? kernel_splat(e, nan, LLVMGetVectorSize(LLVMTypeOf(like))) : nan;
}

LLVMValueRef kernel_canonical_bits(struct kernel_emitter *e, LLVMValueRef value,
                                   enum scalar_type scalar)
{
    LLVMValueRef bits = bits_of(e, value, scalar);
    return LLVMBuildSelect(e->builder, is_nan(e, value, scalar), canonical_nan(e, bits, scalar),
                           bits, "");
}

static LLVMValueRef sign_bit(struct kernel_emitter *e, LLVMValueRef value, enum scalar_type scalar)
{
    LLVMValueRef bits = bits_of(e, value, scalar);
    return LLVMBuildICmp(e->builder, LLVMIntSLT, bits, LLVMConstNull(LLVMTypeOf(bits)), "");
}

/* ---- minimum and maximum ---- */

static LLVMValueRef integer_extreme(struct kernel_emitter *e, bool maximum, enum scalar_type scalar,
                                    LLVMValueRef *args)
{
    static const char *const names[2][2] = {{"llvm.umin", "llvm.umax"}, {"llvm.smin", "llvm.smax"}};
    return same_type_intrinsic(e, names[scalar_is_signed(scalar)][maximum], args, 2);
}

/* minimumNumber, maximumNumber: a NaN is ignored, -0 is less than +0.  Equal operands differ in the
 * sign of zero at most, so joining their bits chooses. */
static LLVMValueRef emit_float_extreme(struct kernel_emitter *e, bool maximum,
                                       enum scalar_type scalar, LLVMValueRef *args)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef whole = e->code->float_extreme(e, maximum, args);
    if (whole != NULL) return whole;
    LLVMValueRef first = bits_of(e, args[0], scalar), second = bits_of(e, args[1], scalar);
    LLVMValueRef better =
        LLVMBuildFCmp(b, maximum ? LLVMRealOGT : LLVMRealOLT, args[0], args[1], "");
    LLVMValueRef equal = LLVMBuildFCmp(b, LLVMRealOEQ, args[0], args[1], "");
    LLVMValueRef joined =
        maximum ? LLVMBuildAnd(b, first, second, "") : LLVMBuildOr(b, first, second, "");
    LLVMValueRef bits = LLVMBuildSelect(b, better, first, second, "");
    bits = LLVMBuildSelect(b, equal, joined, bits, "");
    bits = LLVMBuildSelect(b, is_nan(e, args[1], scalar), first, bits, "");
    return LLVMBuildBitCast(b, bits, LLVMTypeOf(args[0]), "");
}

static LLVMValueRef build_extreme(struct kernel_emitter *e, bool maximum, enum scalar_type scalar,
                                  LLVMValueRef *args)
{
    return scalar_is_float(scalar) ? emit_float_extreme(e, maximum, scalar, args)
                                   : integer_extreme(e, maximum, scalar, args);
}

static LLVMValueRef build_absolute(struct kernel_emitter *e, enum scalar_type scalar,
                                   LLVMValueRef value)
{
    if (scalar_is_float(scalar)) return same_type_intrinsic(e, "llvm.fabs", &value, 1);
    if (!scalar_is_signed(scalar)) return value;
    LLVMValueRef args[] = {value, LLVMConstInt(e->i1, 0, 0)}; /* 0: INT_MIN wraps, is not poison */
    return same_type_intrinsic(e, "llvm.abs", args, 2);
}

/* The sign of a NaN differs between devices, so it is never seen: it counts as plus. */
static LLVMValueRef visible_sign(struct kernel_emitter *e, LLVMValueRef value,
                                 enum scalar_type scalar)
{
    LLVMValueRef number = LLVMBuildNot(e->builder, is_nan(e, value, scalar), "");
    return LLVMBuildAnd(e->builder, sign_bit(e, value, scalar), number, "");
}

static LLVMValueRef copy_sign(struct kernel_emitter *e, enum scalar_type scalar, LLVMValueRef *args)
{
    LLVMValueRef plus = LLVMConstNull(LLVMTypeOf(args[1]));
    LLVMValueRef sign = LLVMBuildSelect(e->builder, is_nan(e, args[1], scalar), plus, args[1], "");
    return same_type_intrinsic(e, "llvm.copysign", (LLVMValueRef[]){args[0], sign}, 2);
}

/* ---- all ---- */

static LLVMValueRef builtin_of(struct kernel_emitter *e, const struct kx *x, LLVMValueRef *args)
{
    enum scalar_type scalar = type_item(x->arguments[0]->type)->scalar;
    switch (x->builtin) {
    case BUILTIN_FMA: return same_type_intrinsic(e, "llvm.fma", args, 3);
    case BUILTIN_SQRT: return same_type_intrinsic(e, "llvm.sqrt", args, 1);
    case BUILTIN_FLOOR: return same_type_intrinsic(e, "llvm.floor", args, 1);
    case BUILTIN_CEIL: return same_type_intrinsic(e, "llvm.ceil", args, 1);
    case BUILTIN_TRUNC: return same_type_intrinsic(e, "llvm.trunc", args, 1);
    case BUILTIN_RINT: return same_type_intrinsic(e, "llvm.roundeven", args, 1);
    case BUILTIN_ROUND: return same_type_intrinsic(e, "llvm.round", args, 1);
    case BUILTIN_COPYSIGN: return copy_sign(e, scalar, args);
    case BUILTIN_ABS: return build_absolute(e, scalar, args[0]);
    case BUILTIN_MIN: return build_extreme(e, false, scalar, args);
    case BUILTIN_MAX: return build_extreme(e, true, scalar, args);
    case BUILTIN_ISNAN: return is_nan(e, args[0], scalar);
    case BUILTIN_ISINF: return compare_magnitude(e, LLVMIntEQ, args[0], scalar);
    case BUILTIN_SIGNBIT: return visible_sign(e, args[0], scalar);
    case BUILTIN_BITS: return kernel_canonical_bits(e, args[0], scalar);
    case BUILTIN_FROM_BITS:
        return LLVMBuildBitCast(
            e->builder, args[0],
            kernel_type_like(kernel_scalar_type(e, type_item(x->type)->scalar), args[0]), "");
    case BUILTIN_ANY:
    case BUILTIN_ALL:
    case BUILTIN_COUNT: break;
    }
    kernel_internal_error("a built-in function without code");
}

LLVMValueRef kernel_builtin_item(struct kernel_emitter *e, const struct kx *x, LLVMValueRef *args)
{
    for (uint32_t i = 1; i < x->argument_count; i++)
        kernel_unify(e, &args[0], &args[i]);
    for (uint32_t i = 1; i < x->argument_count; i++) /* those before the first that is in lanes */
        kernel_unify(e, &args[0], &args[i]);
    return kernel_relaxed(e, builtin_of(e, x, args));
}

/* any, all */
static LLVMValueRef build_reduction(struct kernel_emitter *e, const struct kx *x)
{
    uint64_t lanes = x->arguments[0]->type->length;
    struct kernel_operand operand = kernel_operand(e, x->arguments[0], false);
    LLVMValueRef value = kernel_operand_item(e, &operand, lanes, 0);
    for (uint64_t i = 1; i < lanes; i++) {
        LLVMValueRef item = kernel_operand_item(e, &operand, lanes, i);
        value = x->builtin == BUILTIN_ANY ? LLVMBuildOr(e->builder, value, item, "")
                                          : LLVMBuildAnd(e->builder, value, item, "");
    }
    return value;
}

LLVMValueRef kernel_builtin(struct kernel_emitter *e, const struct kx *x)
{
    if (x->builtin == BUILTIN_ANY || x->builtin == BUILTIN_ALL) return build_reduction(e, x);
    enum { ARITY_MAX = 3 };
    LLVMValueRef args[ARITY_MAX] = {NULL};
    if (x->argument_count == 0 || x->argument_count > ARITY_MAX) {
        kernel_internal_error("a built-in function with that many arguments");
    }
    for (uint32_t i = 0; i < x->argument_count; i++) {
        args[i] = kernel_expression(e, x->arguments[i]);
    }
    return kernel_builtin_item(e, x, args);
}
