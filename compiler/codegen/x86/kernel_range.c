/* SPDX-License-Identifier: MIT */
/*
 * Minimum and maximum of floats in whole vector registers.  VRANGE of AVX-512 is minimumNumber and
 * maximumNumber in one instruction, zeros in order of their signs, but for a signalling NaN, which it
 * returns as a quiet one instead of the other operand.  So operands have to be quiet.  The results of
 * arithmetic and of VRANGE are quiet. Any other value, such as a loaded packet, is made quiet once, at its
 * definition; the payload of a NaN is never visible. This happens after LLVM's optimiser, because only
 * then does the module show which values the operands are.
 */
#include <llvm-c/Core.h>
#include <string.h>

#include "compiler/codegen/common/kernel_registers.h"
#include "compiler/codegen/x86/x86.h"

enum { SIGN_OF_RESULT = 1 << 2, MAXIMUM = 1, ROUNDING_AS_SET = 4 };
enum { LEAST_BITS = 128, DEPTH_MAX = 64 };

#define RANGE_PREFIX "llvm.x86.avx512.mask.range.p"

struct quieter {
    struct kernel_emitter *e;
    bool arithmetic; /* no arithmetic is removed after the optimiser, so its results are quiet */
    VEC(LLVMValueRef) made; /* phis and selects whose operands are quiet, or are being made so */
};

/* ---- the instruction ---- */

static unsigned register_bits_of(struct kernel_emitter *e, LLVMTypeRef type)
{
    if (e->isa.vector_bits != 512) return 0;
    for (unsigned bits = e->isa.vector_bits; bits >= LEAST_BITS; bits /= 2)
        if (kernel_float_registers(type, bits) != 0) return bits;
    return 0;
}

static LLVMValueRef build_range(struct kernel_emitter *e, bool maximum, LLVMValueRef one,
                                LLVMValueRef other, unsigned bits)
{
    LLVMTypeRef type = LLVMTypeOf(one), word = LLVMInt32TypeInContext(e->context);
    bool single = LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMFloatTypeKind;
    unsigned lanes = LLVMGetVectorSize(type);
    const char *name = arena_printf(e->scratch, RANGE_PREFIX "%c.%u", single ? 's' : 'd', bits);
    LLVMTypeRef mask = LLVMIntTypeInContext(e->context, lanes < 8 ? 8 : lanes);
    LLVMValueRef arguments[] = {one,
                                other,
                                LLVMConstInt(word, SIGN_OF_RESULT | (maximum ? MAXIMUM : 0), 0),
                                one,
                                LLVMConstAllOnes(mask),
                                LLVMConstInt(word, ROUNDING_AS_SET, 0)};
    return kernel_target_call(e, name, arguments, bits == 512 ? 6 : 5);
}

LLVMValueRef x86_range_extreme(struct kernel_emitter *e, bool maximum, LLVMValueRef *args)
{
    LLVMTypeRef type = LLVMTypeOf(args[0]);
    unsigned bits = register_bits_of(e, type);
    if (bits == 0) return NULL;
    LLVMValueRef registers[KERNEL_REGISTERS_MAX];
    unsigned count = kernel_float_registers(type, bits);
    for (unsigned i = 0; i < count; i++)
        registers[i] = build_range(e, maximum, kernel_register_of(e, args[0], count, i),
                                   kernel_register_of(e, args[1], count, i), bits);
    return kernel_join_registers(e, registers, count);
}

static bool calls_intrinsic(LLVMValueRef v, const char *prefix)
{
    if (LLVMIsACallInst(v) == NULL || LLVMIsAFunction(LLVMGetCalledValue(v)) == NULL) return false;
    size_t length;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(v), &length);
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool is_range_call(LLVMValueRef v)
{
    return calls_intrinsic(v, RANGE_PREFIX);
}

/* ---- what is quiet ---- */

static bool is_exact_number(double value)
{
    return value == value;
}

/* Arithmetic with another may leave its operand as it is, and be left out for that. */
static bool is_changing(double value)
{
    return is_exact_number(value) && value != 0 && value != 1 && value != -1;
}

static bool all_lanes(LLVMValueRef constant, bool (*holds)(double value))
{
    unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(constant));
    for (unsigned i = 0; i < lanes; i++) {
        LLVMBool inexact;
        LLVMValueRef lane = LLVMGetAggregateElement(constant, i);
        if (lane == NULL || LLVMIsAConstantFP(lane) == NULL ||
            !holds(LLVMConstRealGetDouble(lane, &inexact)))
            return false;
    }
    return true;
}

static bool is_arithmetic(LLVMValueRef v)
{
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv: return true;
    default: return calls_intrinsic(v, "llvm.fma.");
    }
}

static bool makes_quiet(const struct quieter *q, LLVMValueRef v)
{
    if (is_range_call(v)) return true;
    if (!q->arithmetic || !is_arithmetic(v)) return false;
    int operands = LLVMIsACallInst(v) != NULL ? (int)LLVMGetNumArgOperands(v) : 2;
    for (int i = 0; i < operands; i++) {
        LLVMValueRef operand = LLVMGetOperand(v, (unsigned)i);
        if (LLVMIsConstant(operand) && !all_lanes(operand, is_changing)) return false;
    }
    return true;
}

/* ---- making quiet ---- */

static LLVMValueRef first_behind(LLVMValueRef v)
{
    LLVMValueRef i = LLVMGetNextInstruction(v);
    while (LLVMIsAPHINode(i) != NULL)
        i = LLVMGetNextInstruction(i);
    return i;
}

/* A quiet copy that the program itself makes may follow the user of the copy. It moves up, to dominate all users. */
static LLVMValueRef quiet_copy(struct quieter *q, LLVMValueRef function, LLVMValueRef v)
{
    LLVMValueRef at = LLVMIsAInstruction(v) != NULL
                          ? first_behind(v)
                          : LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    LLVMPositionBuilderBefore(q->e->builder, at);
    for (LLVMValueRef i = at; is_range_call(i); i = LLVMGetNextInstruction(i)) {
        if (LLVMGetOperand(i, 0) != v || LLVMGetOperand(i, 1) != v) continue;
        if (i == at) return i;
        LLVMInstructionRemoveFromParent(i);
        LLVMInsertIntoBuilder(q->e->builder, i);
        return i;
    }
    return build_range(q->e, false, v, v, register_bits_of(q->e, LLVMTypeOf(v)));
}

static bool passes_on(LLVMValueRef v)
{
    return LLVMIsAPHINode(v) != NULL || LLVMIsASelectInst(v) != NULL;
}

static bool is_made(const struct quieter *q, LLVMValueRef v)
{
    for (size_t i = 0; i < q->made.count; i++)
        if (q->made.items[i] == v) return true;
    return false;
}

/* The value or, where it may be a signalling NaN, the quiet copy that takes its place. */
static LLVMValueRef quiet_value(struct quieter *q, LLVMValueRef function, LLVMValueRef v,
                                unsigned depth)
{
    if (LLVMIsConstant(v) && all_lanes(v, is_exact_number)) return v;
    if (LLVMIsAInstruction(v) != NULL && (makes_quiet(q, v) || is_made(q, v))) return v;
    if (!passes_on(v) || depth == DEPTH_MAX) return quiet_copy(q, function, v);
    vec_push(q->e->scratch, &q->made, v);
    bool phi = LLVMIsAPHINode(v) != NULL;
    unsigned first = phi ? 0 : 1, end = phi ? LLVMCountIncoming(v) : 3;
    for (unsigned i = first; i < end; i++)
        LLVMSetOperand(v, i, quiet_value(q, function, LLVMGetOperand(v, i), depth + 1));
    return v;
}

void x86_quiet_ranges(struct kernel_emitter *e)
{
    struct quieter q = {.e = e,
                        .arithmetic = e->cx->options.optimisation > 0 && !e->cx->options.fast_math};
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f != NULL; f = LLVMGetNextFunction(f)) {
        q.made.count = 0;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL;
             b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL;
                 i = LLVMGetNextInstruction(i)) {
                if (!is_range_call(i) || LLVMGetOperand(i, 0) == LLVMGetOperand(i, 1)) continue;
                for (unsigned operand = 0; operand < 2; operand++)
                    LLVMSetOperand(i, operand, quiet_value(&q, f, LLVMGetOperand(i, operand), 0));
            }
    }
}
