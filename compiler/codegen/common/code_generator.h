/* SPDX-License-Identifier: MIT */
/*
 * code_generator: the parameters and steps of an instruction-set architecture.
 *
 * The other files of codegen know no instruction set. They read these parameters and those of the
 * instruction set (instruction_set.h), and call these steps.
 */
#ifndef PIPEC_CODE_GENERATOR_H
#define PIPEC_CODE_GENERATOR_H

#include <llvm-c/Types.h>

#include "compiler/codegen/common/instruction_set.h"

struct kernel_emitter;

struct code_generator {
    const char *name;   /* in messages: "x86-64" */
    const char *triple; /* of LLVM's target */
    const char
        *linker_emulation;    /* the linker's option -m; NULL: an image is not linked, it is text */
    const char *complete_set; /* an instruction set that has every operation of kernels */
    const char *const *
        set_names; /* of its instruction sets: the first one all targets have; the last one is NULL */
    uint32_t image_kind; /* enum container_image_kind */
    /* Firings and work-items are threads: an entry is executed by many threads, each of which executes its
     * part (lang/gpu_abi.h).  Otherwise an entry executes all firings, in vectors. */
    bool threads;

    /* Describes the instruction set of that name, except its `code`; false: there is none. */
    bool (*find_set)(struct arena *arena, const char *name, struct instruction_set *out);
    /* Of two sets the one with the larger number is better. */
    unsigned (*rank)(const struct instruction_set *set);
    /* The letter of a constraint of inline assembly: a register for so many bits. */
    char (*register_letter)(unsigned bits);
    /* Makes LLVM's target known to LLVM. */
    void (*register_target)(void);
    /* Adds flags to the module, which is empty, and attributes to a function, which has its code. */
    void (*mark_module)(struct kernel_emitter *e);
    void (*mark_function)(struct kernel_emitter *e, LLVMValueRef function);
    /* minimumNumber or maximumNumber of floats in fewer instructions than LLVM's; NULL: not of these operands. */
    LLVMValueRef (*float_extreme)(struct kernel_emitter *e, bool maximum, LLVMValueRef *args);
    /* For each lane of `index` the item of `table`, a constant array, without a load; NULL: loads are as good.  Each index
     * is below the length.  Called after LLVM's optimiser. */
    LLVMValueRef (*table_items)(struct kernel_emitter *e, LLVMValueRef table, LLVMValueRef index);
    /* Rewrites the module after LLVM's optimiser. Bits stay the same. */
    void (*rewrite_module)(struct kernel_emitter *e);
};

#endif
