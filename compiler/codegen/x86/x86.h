/* SPDX-License-Identifier: MIT */
/*
 * x86: the code generator's steps for x86-64, private to it. codegen knows them as code_generator_x86
 * (compiler/target/target.h).
 */
#ifndef PIPEC_X86_H
#define PIPEC_X86_H

#include "compiler/codegen/common/kernel_llvm.h"

/* ---- instruction_set.c ---- */

/* As code_generator.read_sets. The names are the levels of the psABI and "native": the features of the
 * processor that pipec runs on, as far as lang/cpu_features.def knows them, tuned for it. */
uint32_t x86_read_sets(struct arena *arena, const char *list,
                       struct instruction_set sets[INSTRUCTION_SETS_MAX], const char **problem);

/* ---- kernel_range.c ---- */

/* minimumNumber or maximumNumber if one instruction a register gives it; NULL: there is none for these
 * operands. x86_quiet_ranges has to follow. */
LLVMValueRef x86_range_extreme(struct kernel_emitter *e, bool maximum, LLVMValueRef *args);
/* In the module as LLVM has optimised it: no operand of these instructions is a signalling NaN. */
void x86_quiet_ranges(struct kernel_emitter *e);

/* ---- kernel_fixup.c ---- */

/* In the module as LLVM has optimised it: vectors of 512 bits choose canonical NaNs in one instruction. */
void x86_fix_nans(struct kernel_emitter *e);

#endif
