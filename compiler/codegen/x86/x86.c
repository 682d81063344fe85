/* SPDX-License-Identifier: MIT */
#include "compiler/codegen/x86/x86.h"

#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <string.h>

#include "compiler/codegen/common/code_generator.h"
#include "compiler/target/target.h"
#include "lang/container.h"

static void x86_register_target(void)
{
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
}

/* The image is marked for indirect branch tracking and shadow stacks: a process with an image that is not
 * marked would lose them. */
static void x86_mark_module(struct kernel_emitter *e)
{
    static const char *const flags[] = {"cf-protection-branch", "cf-protection-return"};
    for (size_t i = 0; i < 2; i++)
        LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorOverride, flags[i], strlen(flags[i]),
                          LLVMValueAsMetadata(LLVMConstInt(e->i32, 1, 0)));
}

/* Vectors are as wide as the registers, which LLVM's generic processors with AVX-512 would not use whole.
 * Registers that are spilled lie in one line of the cache each; LLVM sees to that only if it knows of it
 * before it assigns registers. */
static void x86_mark_function(struct kernel_emitter *e, LLVMValueRef function)
{
    char *host = e->isa.native ? LLVMGetHostCPUName() : NULL;
    const char *width = arena_printf(e->scratch, "%u", e->isa.vector_bits);
    kernel_text_attribute(e, function, "prefer-vector-width", width);
    kernel_text_attribute(e, function, "stackrealign", "");
    if (host != NULL) kernel_text_attribute(e, function, "tune-cpu", host);
    LLVMDisposeMessage(host);
}

static char x86_register_letter(unsigned bits)
{
    (void)bits;
    return 'r';
}

static void x86_rewrite_module(struct kernel_emitter *e)
{
    x86_quiet_ranges(e);
    if (e->cx->options.optimisation > 0) x86_fix_nans(e);
}

const struct code_generator code_generator_x86 = {
    .name = "x86-64",
    .triple = "x86_64-pc-linux-gnu",
    .linker_emulation = "elf_x86_64",
    .complete_set = "x86-64-v3",
    .set_names = x86_set_names,
    .image_kind = CONTAINER_IMAGE_X86,
    .find_set = x86_find_set,
    .rank = x86_rank,
    .register_letter = x86_register_letter,
    .register_target = x86_register_target,
    .mark_module = x86_mark_module,
    .mark_function = x86_mark_function,
    .float_extreme = x86_range_extreme,
    .table_items = x86_table_items,
    .rewrite_module = x86_rewrite_module,
};
