/* SPDX-License-Identifier: MIT */
#include "compiler/support/folded_table.h"

#include <string.h>

#include "base/name_fold.h"
#include "base/vec.h"

/* A longer cell moves the rest of its row instead of widening the column. */
enum { WIDEST_CELL = 32, LONGEST_PERIOD = 8 };

struct cells {
    struct arena *arena;
    size_t columns;
    VEC(const char *) items; /* row by row */
};

static const char **row_at(const struct cells *cells, size_t row)
{
    return &cells->items.items[row * cells->columns];
}

FILE *folded_table_begin(struct folded_table *table, struct arena *arena)
{
    *table = (struct folded_table){.arena = arena};
    arena_text_begin(&table->text);
    return table->text.file;
}

static void read_cells(const char *text, struct cells *cells)
{
    // cppcheck-suppress [nullPointerRedundantCheck, ctunullpointer]
    while (*text != '\0') {
        for (size_t column = 0; column < cells->columns; column++) {
            size_t length = strcspn(text, "\t\n");
            vec_push(cells->arena, &cells->items, arena_string(cells->arena, text, length));
            text += length;
            if (*text == '\t') text++;
        }
        if (*text == '\n') text++;
    }
}

/* True if `next` follows from `first`, `distance` rows before it, with the same indices rising as
 * in `second`, one row after `first`. *moves: at least one index rises. */
static bool row_follows(const struct cells *cells, size_t first, size_t second, size_t next,
                        uint64_t distance, bool *moves)
{
    const char **a = row_at(cells, first), **b = row_at(cells, second), **c = row_at(cells, next);
    for (size_t column = 0; column < cells->columns; column++) {
        uint64_t step = name_step(a[column], b[column], 1);
        if (step == NAME_STEP_NONE || step != name_step(a[column], c[column], distance))
            return false;
        *moves |= step != 0;
    }
    return true;
}

/* The number of groups of `period` rows, from `first` on, that differ only in indices. */
static size_t count_groups(const struct cells *cells, size_t first, size_t period, size_t rows)
{
    size_t count = 1;
    for (; first + (count + 1) * period <= rows; count++)
        for (size_t i = first; i < first + period; i++) {
            bool moves = false;
            if (!row_follows(cells, i, i + period, i + count * period, count, &moves) || !moves)
                return count;
        }
    return count;
}

static void fold_rows(const struct cells *cells, struct cells *folded)
{
    size_t rows = cells->items.count / cells->columns;
    for (size_t row = 0, period, count; row < rows; row += period * count) {
        period = count = 1;
        for (size_t p = 1; p <= LONGEST_PERIOD; p++) {
            size_t groups = count_groups(cells, row, p, rows);
            if (groups < NAME_FOLD_LEAST || (groups - 1) * p <= (count - 1) * period) continue;
            period = p;
            count = groups;
        }
        for (size_t i = row; i < row + period; i++) {
            const char **first = row_at(cells, i), **last = row_at(cells, i + (count - 1) * period);
            for (size_t column = 0; column < cells->columns; column++)
                vec_push(folded->arena, &folded->items,
                         name_fold(folded->arena, first[column], last[column]));
        }
    }
}

static void print_rows(const struct cells *cells, FILE *to, const int *least)
{
    size_t columns = cells->columns, rows = cells->items.count / columns;
    int *widths = ARENA_ARRAY(cells->arena, int, columns);
    for (size_t i = 0; i < cells->items.count; i++) {
        size_t length = strlen(cells->items.items[i]);
        int width = length < WIDEST_CELL ? (int)length : WIDEST_CELL;
        if (widths[i % columns] < width) widths[i % columns] = width;
    }
    for (size_t row = 0; row < rows; row++) {
        const char **cell = row_at(cells, row);
        for (size_t column = 0; column < columns; column++) {
            int width = widths[column] > least[column] ? widths[column] : least[column];
            bool is_last = column + 1 == columns;
            if (is_last && cell[column][0] == '\0') break;
            if (column > 0) fputs("  ", to);
            if (least[column] > 0)
                fprintf(to, "%*s", width, cell[column]);
            else
                fprintf(to, "%-*s", is_last ? 0 : width, cell[column]);
        }
        fputc('\n', to);
    }
}

void folded_table_end(struct folded_table *table, FILE *to, const int *widths, size_t columns,
                      bool whole)
{
    struct cells cells = {.arena = table->arena, .columns = columns}, folded = cells;
    read_cells(arena_text_end(table->arena, &table->text, NULL), &cells);
    if (!whole) fold_rows(&cells, &folded);
    print_rows(whole ? &cells : &folded, to, widths);
}
