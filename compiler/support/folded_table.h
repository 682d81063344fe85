/* SPDX-License-Identifier: MIT */
/*
 * folded_table: rows of cells as aligned text, in which rows that differ only by an index are one row.
 *
 *   struct folded_table table;
 *   FILE *rows = folded_table_begin(&table, arena);
 *   fputs("stage\tcycles\treason\n", rows);            the headings
 *   fprintf(rows, "%s\t%u\t%s\n", name, cycles, why);
 *   folded_table_end(&table, to, (const int[]){0, 8, 0}, 3, false);
 *
 * A tab ends a cell and a newline a row; cells hold neither.
 */
#ifndef PIPEC_FOLDED_TABLE_H
#define PIPEC_FOLDED_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/memory_text.h"

struct folded_table {
    struct arena *arena;
    struct memory_text text;
};

/* The stream that takes the rows; owned by the table. */
FILE *folded_table_begin(struct folded_table *table, struct arena *arena);

/* Prints the table and frees it.  Column k is aligned to the right in at least widths[k] columns; to
 * the left where that is 0.  The last column is not filled.  `whole`: no row is folded. */
void folded_table_end(struct folded_table *table, FILE *to, const int *widths, size_t columns,
                      bool whole);

#endif
