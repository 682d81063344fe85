/* SPDX-License-Identifier: MIT */
/*
 * The code generator's steps for NVIDIA GPUs: PTX, text that the driver or `ptxas` compiles further.
 *
 * The results have the same bits as those of every processor. Operations round to nearest and keep subnormal
 * numbers, and a product and a sum are never joined to one operation (lang/gpu_abi.h has the rest of the contract).
 */
#include <llvm-c/Core.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <string.h>

#include "compiler/codegen/common/code_generator.h"
#include "compiler/codegen/common/kernel_llvm.h"
#include "compiler/target/target.h"
#include "lang/container.h"

/* ---- instruction sets ---- */

static const char *const set_names[] = {"sm_80", "sm_86", "sm_89", "sm_90", NULL};

static uint64_t capability_number(const char *name)
{
    uint64_t number = 0;
    for (const char *digit = name + strlen("sm_"); *digit != '\0'; digit++)
        number = number * 10 + (uint64_t)(*digit - '0');
    return number;
}

static bool find_set(struct arena *arena, const char *name, struct instruction_set *out)
{
    (void)arena;
    for (const char *const *known = set_names; *known != NULL; known++) {
        if (strcmp(name, *known) != 0) continue;
        *out = (struct instruction_set){
            .name = *known, .cpu = *known, .extra = "", .features = capability_number(*known)};
        return true;
    }
    return false;
}

static unsigned set_rank(const struct instruction_set *set)
{
    return (unsigned)set->features;
}

/* ---- steps ---- */

static void register_target(void)
{
    static bool exact;
    static const char *const arguments[] = {"pipec", "-nvptx-fma-level=0", "-nvptx-prec-divf32=2",
                                            "-nvptx-prec-sqrtf32=1"};
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    if (!exact) LLVMParseCommandLineOptions(4, arguments, NULL);
    exact = true;
}

static void mark_module(struct kernel_emitter *e)
{
    (void)e;
}

static void mark_function(struct kernel_emitter *e, LLVMValueRef function)
{
    kernel_text_attribute(e, function, "denormal-fp-math", "ieee,ieee");
}

static LLVMValueRef float_extreme(struct kernel_emitter *e, bool maximum, LLVMValueRef *args)
{
    (void)e, (void)maximum, (void)args;
    return NULL;
}

static char register_letter(unsigned bits)
{
    return bits == 16 ? 'h' : bits == 32 ? 'r' : 'l';
}

/* LLVM loads what never changes through the cache that is not coherent. In a kernel that stays resident, the memory of
 * a buffer changes. So LLVM's selection of instructions learns of no memory that it never changes. */
static void rewrite_module(struct kernel_emitter *e)
{
    for (LLVMValueRef g = LLVMGetFirstGlobal(e->module); g != NULL; g = LLVMGetNextGlobal(g))
        LLVMSetGlobalConstant(g, 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL;
             b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL;
                 i = LLVMGetNextInstruction(i))
                if (LLVMIsALoadInst(i) != NULL) LLVMSetMetadata(i, e->invariant_kind, NULL);
}

const struct code_generator code_generator_ptx = {
    .name = "NVIDIA GPUs",
    .triple = "nvptx64-nvidia-cuda",
    .set_names = set_names,
    .image_kind = CONTAINER_IMAGE_PTX,
    .threads = true,
    .find_set = find_set,
    .rank = set_rank,
    .register_letter = register_letter,
    .register_target = register_target,
    .mark_module = mark_module,
    .mark_function = mark_function,
    .float_extreme = float_extreme,
    .rewrite_module = rewrite_module,
};
