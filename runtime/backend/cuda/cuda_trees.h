/* SPDX-License-Identifier: MIT */
/*
 * cuda_trees: the tables and the workspaces of stages whose kernels launch kernels (core/resident/child_tree.h).
 *
 * Ownership: prt_cuda_trees_free.  Errors: PRT_E_NOMEM.
 */
#ifndef RUNTIME_BACKEND_CUDA_CUDA_TREES_H
#define RUNTIME_BACKEND_CUDA_CUDA_TREES_H

#include "core/resident/child_tree.h"
#include "runtime/load/reader.h"

/* Of a container without such stages all are NULL and 0. */
struct prt_cuda_trees {
    struct core_tree_root *roots;     /* by stage */
    struct core_tree_output *outputs; /* by output of all stages */
    uint32_t *entries;                /* by interface */
    uint8_t *children;                /* interfaces of children, by launch */
    uint64_t child_bytes;             /* of one of them */
    uint64_t workspace_bytes;         /* of one block */
    uint64_t levels; /* bodies of one thread that wait for one another at most; 0: none waits */
};

/* `emulated`: numbers of entries are those of emulated_driver.h. */
enum prt_status prt_cuda_trees_create(const struct prt_container *container,
                                      const struct core *core, bool emulated,
                                      struct prt_cuda_trees *trees);
void prt_cuda_trees_free(struct prt_cuda_trees *trees);

#endif
