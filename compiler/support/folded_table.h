/* SPDX-License-Identifier: MIT */
/*
 * folded_table: rows of cells as aligned text. Rows that differ only in an index become one row.
 *
 *   struct folded_table table;
 *   FILE *rows = folded_table_begin(&table, arena);
 *   fputs("stage\tcycles\treason\n", rows);            the headings
 *   fprintf(rows, "%s\t%u\t%s\n", name, cycles, why);
 *   folded_table_end(&table, to, (const int[]){0, 8, 0}, 3, false);
 *
 * A tab ends a cell and a newline ends a row; cells contain neither.
 */
#ifndef PIPEC_FOLDED_TABLE_H
#define PIPEC_FOLDED_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "compiler/support/arena_text.h"

struct folded_table {
    struct arena *arena;
    struct memory_text text;
};

/* The stream for the rows; owned by the table. */
FILE *folded_table_begin(struct folded_table *table, struct arena *arena);

/* Prints the table and frees it. Column k is right-aligned in at least widths[k] columns, or
 * left-aligned if widths[k] is 0. The last column is not padded. `whole`: do not fold rows. */
void folded_table_end(struct folded_table *table, FILE *to, const int *widths, size_t columns,
                      bool whole);

#endif
