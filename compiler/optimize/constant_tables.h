/* SPDX-License-Identifier: MIT */
/*
 * constant_tables: tables whose contents are known when compiling are constants of the image.
 *
 * A kernel's `init` is executed when compiling, with the bits that the compiled one would have, where it
 * depends on nothing that is known only when the program runs.  Its tables then take no memory of the
 * node and no time at start-up, and code that reads them is compiled with their values.  State that it
 * initialises is set to constants in its place.
 *
 * Not where nodes that share the kernel have different arguments, nor beyond TABLES_KERNEL_BYTES of a
 * kernel and TABLES_ALL_BYTES of a program: they would make the image large.
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
