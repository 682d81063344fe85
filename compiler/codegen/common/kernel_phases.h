/* SPDX-License-Identifier: MIT */
/* kernel_phases: windows of firings in lanes, split into phases. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_PHASES_H
#define COMPILER_CODEGEN_COMMON_KERNEL_PHASES_H

#include "compiler/codegen/common/kernel_llvm.h"

/* Whether so many firings of the port, woven in so many parts (1: in order), are read, or appended, by phases. */
bool kernel_has_in_phases(struct kernel_emitter *e, const struct kernel_port *port, uint32_t lanes,
                          uint32_t weave);
bool kernel_has_out_phases(struct kernel_emitter *e, const struct kernel_port *port, uint32_t lanes,
                           uint32_t weave);
/* Begins a block of firings: copies the windows that are read by phases, makes room for what is appended so; and
 * ends it. */
void kernel_cut_phases(struct kernel_emitter *e);
void kernel_join_phases(struct kernel_emitter *e);
/* The packet of an in-port that has phases; the index is uniform. */
struct kernel_address kernel_phase_packet(struct kernel_emitter *e, uint32_t in,
                                          LLVMValueRef index);
/* The packet of an out-port that has phases. */
struct kernel_address kernel_appended_packet(struct kernel_emitter *e, uint32_t out,
                                             LLVMValueRef index);

#endif
