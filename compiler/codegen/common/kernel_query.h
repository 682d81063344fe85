/* SPDX-License-Identifier: MIT */
/* kernel_query: questions about typed trees: faults, effects, size. */
#ifndef COMPILER_CODEGEN_COMMON_KERNEL_QUERY_H
#define COMPILER_CODEGEN_COMMON_KERNEL_QUERY_H

#include "compiler/codegen/common/kernel_llvm.h"

struct kernel_function *kernel_function_of(struct kernel_emitter *e, const struct function *f);
bool kernel_function_faults(struct kernel_emitter *e, const struct function *function);
bool kernel_has_effects(const struct kx *x);
/* May be evaluated though its value is not wanted: no fault, no effect, no loop, no access that
 * might be outside. */
bool kernel_is_speculatable(struct kernel_emitter *e, const struct kx *x);
bool kernel_index_is_checked(const struct kernel_emitter *e, const struct kx *index,
                             enum access_check check, uint64_t bound);
/* The same of a row or column, counted from the centre of a 2-D window. */
bool kernel_offset_is_checked(const struct kernel_emitter *e, const struct kx *offset,
                              enum access_check check, uint32_t side);
/* Is the code emitted now executed even where the conditions around it do not hold?  The analyses prove indices and
 * divisors only under these conditions, so such code keeps each of them in range. */
bool kernel_speculates(const struct kernel_emitter *e);
/* There are indices or divisors in the function, or in those that it calls, that a condition around the call may keep in
 * range. */
bool kernel_function_rests_on_proofs(struct kernel_emitter *e, const struct function *function);
/* Whether some in-port has a 2-D window. */
bool kernel_has_windows(const struct kernel *kernel);
/* Bytes of the local variables that the statements declare. */
uint64_t kernel_locals_bytes(const struct ks *first);
uint64_t kernel_size(struct kernel_emitter *e, const struct ks *first);

#endif
