/* SPDX-License-Identifier: MIT */
/*
 * codegen: kernels to native code, everything to a container.
 */
#ifndef PIPEC_CODEGEN_H
#define PIPEC_CODEGEN_H

#include "compiler/ir/graph.h"
#include "compiler/plan/emit_sched.h"
#include "lang/sched_code.h"

/* The kernels for one instruction set. */
struct kernel_object {
    const unsigned char *bytes; /* as its kind says: lang/kernel_abi.h, lang/gpu_abi.h */
    size_t size_bytes;
    const char *isa;   /* as --march names it */
    uint32_t kind;     /* enum container_image_kind */
    uint64_t features; /* that it needs of a processor, as the kind says */
};

struct kernel_image {
    const struct kernel_object *objects; /* best first; all have the same entries */
    uint32_t object_count;
    const uint32_t *node_kernel;  /* per node: <ID> of its symbols */
    const uint32_t *child_kernel; /* per child kernel of the graph, likewise */
    struct place_table *places;   /* that the code names: the container has them, and more */
};

enum kernel_text { KERNEL_TEXT_LLVM, KERNEL_TEXT_ASM, KERNEL_TEXT_PTX, KERNEL_TEXT_OBJ };

/* Compiles every kernel of the graph, once for each instruction set that the options name.  LLVM runs in
 * a child process, so there must be one thread.  NULL after RULE_CODEGEN (LLVM's or the linker's message,
 * or how the child ended: then cx->halt says so), or another error. */
struct kernel_image *kernel_compile(struct compile *cx, const struct graph *graph);
/* The module as text or object bytes, after optimisation, for the first of the instruction sets; PTX for
 * the first GPU among them, or for any from sm_80 on where there is none.  False after an error. */
bool kernel_emit(struct compile *cx, const struct graph *graph, enum kernel_text kind, FILE *to);

struct container_bytes {
    const unsigned char *bytes;
    size_t size_bytes;
};
/* The whole file, in cx->arena.  Deterministic: equal arguments give equal bytes.  Depths, rates,
 * repetitions, plan and `image` (its node_kernel) are final. */
struct container_bytes container_build(struct compile *cx, const struct graph *graph,
                                       const struct plan *plan, const struct sched_program *program,
                                       const struct kernel_image *image);

#endif
