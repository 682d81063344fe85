/* SPDX-License-Identifier: MIT */
/* Vectors as the whole registers that they take: taken apart for an instruction of the target, and put together. */
#include "compiler/codegen/common/kernel_registers.h"

#include <string.h>

#include "compiler/codegen/common/kernel_llvm_types.h"

/* `count` lanes of the concatenated vectors, from lane `first` on. */
static LLVMValueRef lanes_from(struct kernel_emitter *e, LLVMValueRef one, LLVMValueRef other,
                               unsigned first, unsigned count)
{
    LLVMValueRef *places = ARENA_ARRAY(e->scratch, LLVMValueRef, count);
    for (unsigned i = 0; i < count; i++)
        places[i] = LLVMConstInt(LLVMInt32TypeInContext(e->context), first + i, 0);
    return LLVMBuildShuffleVector(e->builder, one, other, LLVMConstVector(places, count), "");
}

unsigned kernel_float_registers(LLVMTypeRef type, unsigned register_bits)
{
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return 0;
    LLVMTypeKind scalar = LLVMGetTypeKind(LLVMGetElementType(type));
    if (scalar != LLVMFloatTypeKind && scalar != LLVMDoubleTypeKind) return 0;
    unsigned bits = LLVMGetVectorSize(type) * (scalar == LLVMFloatTypeKind ? 32 : 64);
    unsigned registers = bits / register_bits;
    bool whole = bits % register_bits == 0 && (registers & (registers - 1)) == 0;
    return whole && registers <= KERNEL_REGISTERS_MAX ? registers : 0;
}

LLVMValueRef kernel_register_of(struct kernel_emitter *e, LLVMValueRef vector, unsigned registers,
                                unsigned index)
{
    unsigned each = LLVMGetVectorSize(LLVMTypeOf(vector)) / registers;
    return registers == 1 ? vector : lanes_from(e, vector, vector, index * each, each);
}

LLVMValueRef kernel_join_registers(struct kernel_emitter *e, LLVMValueRef *registers,
                                   unsigned count)
{
    unsigned each = LLVMGetVectorSize(LLVMTypeOf(registers[0]));
    for (; count > 1; count /= 2, each *= 2)
        for (size_t i = 0; i < count / 2; i++)
            registers[i] = lanes_from(e, registers[2 * i], registers[2 * i + 1], 0, 2 * each);
    return registers[0];
}

LLVMValueRef kernel_target_call(struct kernel_emitter *e, const char *name, LLVMValueRef *arguments,
                                unsigned count)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (id == 0) kernel_internal_error("an instruction that this LLVM does not know");
    LLVMValueRef callee = LLVMGetIntrinsicDeclaration(e->module, id, NULL, 0);
    return LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(callee), callee, arguments, count, "");
}
