/* SPDX-License-Identifier: MIT */
/*
 * constant_tables: makes tables with contents that are known when compiling constants of the image.
 *
 * If a kernel's `init` depends on nothing that is known only at run time, it is executed when compiling, with
 * the same bits.  Its tables then take no memory of the node and no time at start-up, and code that reads them
 * is compiled with their values.  State that `init` sets is set to constants instead.
 *
 * Tables stay as they are if nodes that share the kernel have different arguments.  TABLES_KERNEL_BYTES (per
 * kernel) and TABLES_ALL_BYTES (per program) limit the size of the image.
 */
#ifndef PIPEC_CONSTANT_TABLES_H
#define PIPEC_CONSTANT_TABLES_H

#include "compiler/ir/graph.h"

#define TABLES_KERNEL_BYTES ((uint64_t)64 << 10)
#define TABLES_ALL_BYTES ((uint64_t)1 << 20)

struct constant_table {
    const char *kernel; /* title */
    const char *table;
    uint64_t bytes;
};

struct constant_tables {
    VEC(struct constant_table) items;
};

/* Requires  analyses done.
 * Fills     graph->constant_tables; in kernels: `tables`, `tables_bytes`, `init`, and `kind` and `constant` of
 *           their variables.
 * Never reports. */
void tables_to_constants(struct compile *cx, struct graph *graph);

#endif
