/* SPDX-License-Identifier: MIT */
/*
 * code_generator: what the code generator needs of an instruction-set architecture.
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
    const char *name;             /* in messages: "x86-64" */
    const char *triple;           /* of LLVM's target */
    const char *linker_emulation; /* the linker's option -m */
    const char *complete_set;     /* an instruction set that has every operation of kernels */
    bool links_foreign;           /* code of extern kernels becomes part of its images */

    /* Reads a list of instruction sets with commas between the names; NULL is the default. Fills sets[], the
     * best one (with the most features) first; returns how many. 0 if a name is unknown or repeated: *problem,
     * in the arena, says which one. */
    uint32_t (*read_sets)(struct arena *arena, const char *list,
                          struct instruction_set sets[INSTRUCTION_SETS_MAX], const char **problem);
    /* Makes LLVM's target known to LLVM. */
    void (*register_target)(void);
    /* Adds flags to the module, which is empty, and attributes to a function, which has its code. */
    void (*mark_module)(struct kernel_emitter *e);
    void (*mark_function)(struct kernel_emitter *e, LLVMValueRef function);
    /* minimumNumber or maximumNumber of floats in fewer instructions than LLVM's; NULL: not of these operands. */
    LLVMValueRef (*float_extreme)(struct kernel_emitter *e, bool maximum, LLVMValueRef *args);
    /* Rewrites the module after LLVM's optimiser. Bits stay the same. */
    void (*rewrite_module)(struct kernel_emitter *e);
};

#endif
