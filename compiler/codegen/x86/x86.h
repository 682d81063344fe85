/* SPDX-License-Identifier: MIT */
/*
 * x86: the code generator's steps for x86-64, private to it. codegen knows them as code_generator_x86
 * (compiler/target/target.h).
 */
#ifndef PIPEC_X86_H
#define PIPEC_X86_H

#include "compiler/codegen/common/kernel_llvm.h"

/* ---- x86_sets.c ---- */

/* The names are the levels of the psABI and "native": the features of the processor that pipec runs on, as far
 * as lang/cpu_features.def knows them, tuned for it. */
extern const char *const x86_set_names[];
/* As code_generator.find_set and .rank. */
bool x86_find_set(struct arena *arena, const char *name, struct instruction_set *out);
unsigned x86_rank(const struct instruction_set *set);

/* ---- kernel_range.c ---- */

/* minimumNumber or maximumNumber if one instruction a register gives it; NULL: there is none for these
 * operands. x86_quiet_ranges has to follow. */
LLVMValueRef x86_range_extreme(struct kernel_emitter *e, bool maximum, LLVMValueRef *args);
/* In the module as LLVM has optimised it: no operand of these instructions is a signalling NaN. */
void x86_quiet_ranges(struct kernel_emitter *e);

/* ---- kernel_lookup.c ---- */

/* As code_generator.table_items. */
LLVMValueRef x86_table_items(struct kernel_emitter *e, LLVMValueRef table, LLVMValueRef index);

/* ---- kernel_fixup.c ---- */

/* In the module as LLVM has optimised it: vectors of 512 bits choose canonical NaNs in one instruction. */
void x86_fix_nans(struct kernel_emitter *e);

#endif
