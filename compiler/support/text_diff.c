/* SPDX-License-Identifier: MIT */
#include "compiler/support/text_diff.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"

enum {
    CONTEXT = 3,
    EDITS_MAX = 3000, /* memory grows with the square */
};

struct text_line {
    const char *bytes;
    size_t size_bytes; /* with its newline, if it has one */
};

typedef VEC(struct text_line) text_lines;

struct diff {
    struct arena *arena;
    text_lines old, new;
    bool *removed, *added; /* by line of old, of new */
};

static void split_lines(struct arena *arena, const struct text *text, text_lines *lines)
{
    const char *at = text->bytes, *end = at + text->size_bytes;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *next = newline != NULL ? newline + 1 : end;
        vec_push(arena, lines, (struct text_line){at, (size_t)(next - at)});
        at = next;
    }
}

static bool is_same_line(const struct diff *diff, size_t old, size_t new)
{
    const struct text_line *a = &diff->old.items[old], *b = &diff->new.items[new];
    return a->size_bytes == b->size_bytes && memcmp(a->bytes, b->bytes, a->size_bytes) == 0;
}

/* Goes back from the end: marks the lines that the shortest path removes and adds. */
static void trace_back(struct diff *diff, size_t begin, int64_t **rows, int64_t edits, int64_t x,
                       int64_t y)
{
    for (int64_t d = edits; d > 0; d--) {
        const int64_t *row = rows[d - 1] + d; /* row[k] for -d .. d */
        int64_t k = x - y;
        bool down = k == -d || (k != d && row[k - 1] < row[k + 1]);
        int64_t before = down ? k + 1 : k - 1;
        int64_t before_x = row[before], before_y = before_x - before;
        if (down)
            diff->added[(int64_t)begin + before_y] = true;
        else
            diff->removed[(int64_t)begin + before_x] = true;
        x = before_x;
        y = before_y;
    }
}

/* Myers' greedy search over old_count x new_count lines from `begin` on. Row d holds, for each
 * diagonal k of -(d + 1) .. d + 1, the furthest point after d edits. */
static bool search_edits(struct diff *diff, size_t begin, int64_t old_count, int64_t new_count)
{
    int64_t **rows = ARENA_ARRAY(diff->arena, int64_t *, EDITS_MAX + 2);
    int64_t *far = ARENA_ARRAY(diff->arena, int64_t, 2 * EDITS_MAX + 5);
    int64_t *middle = far + EDITS_MAX + 2;
    for (int64_t d = 0; d <= EDITS_MAX; d++) {
        for (int64_t k = -d; k <= d; k += 2) {
            bool down = k == -d || (k != d && middle[k - 1] < middle[k + 1]);
            int64_t x = down ? middle[k + 1] : middle[k - 1] + 1;
            int64_t y = x - k;
            while (x < old_count && y >= 0 && y < new_count &&
                   is_same_line(diff, begin + (size_t)x, begin + (size_t)y)) {
                x++;
                y++;
            }
            middle[k] = x;
            if (x >= old_count && y >= new_count) {
                trace_back(diff, begin, rows, d, old_count, new_count);
                return true;
            }
        }
        rows[d] = arena_copy(diff->arena, middle - d - 1, (size_t)(2 * d + 3) * sizeof *far);
    }
    return false;
}

static void compare_texts(struct diff *diff)
{
    size_t begin = 0, old_end = diff->old.count, new_end = diff->new.count;
    while (begin < old_end && begin < new_end && is_same_line(diff, begin, begin))
        begin++;
    while (old_end > begin && new_end > begin && is_same_line(diff, old_end - 1, new_end - 1)) {
        old_end--;
        new_end--;
    }
    if (search_edits(diff, begin, (int64_t)(old_end - begin), (int64_t)(new_end - begin))) return;
    memset(diff->removed + begin, 1, old_end - begin);
    memset(diff->added + begin, 1, new_end - begin);
}

static void print_diff_line(FILE *to, char sign, const struct text_line *line)
{
    fputc(sign, to);
    fwrite(line->bytes, 1, line->size_bytes, to);
    if (line->bytes[line->size_bytes - 1] != '\n') fputs("\n\\ No newline at end of file\n", to);
}

struct place {
    size_t old, new;
};

static bool is_change(const struct diff *diff, struct place at)
{
    return (at.old < diff->old.count && diff->removed[at.old]) ||
           (at.new < diff->new.count && diff->added[at.new]);
}

static bool is_diff_end(const struct diff *diff, struct place at)
{
    return at.old >= diff->old.count && at.new >= diff->new.count;
}

/* The place after the lines of one change. */
static struct place skip_change(const struct diff *diff, struct place at)
{
    while (at.old < diff->old.count && diff->removed[at.old])
        at.old++;
    while (at.new < diff->new.count && diff->added[at.new])
        at.new++;
    return at;
}

/* The end of the hunk that begins with the change at `at`. Changes belong together if the distance
 * between them is at most twice the context. */
static struct place hunk_end(const struct diff *diff, struct place at)
{
    for (;;) {
        at = skip_change(diff, at);
        struct place ahead = at;
        while (!is_diff_end(diff, ahead) && !is_change(diff, ahead) &&
               ahead.old - at.old <= (size_t)2 * CONTEXT)
            ahead = (struct place){ahead.old + 1, ahead.new + 1};
        if (is_diff_end(diff, ahead) || !is_change(diff, ahead)) break;
        at = ahead;
    }
    for (int i = 0; i < CONTEXT && at.old < diff->old.count; i++)
        at = (struct place){at.old + 1, at.new + 1};
    return at;
}

static void print_range(FILE *to, char sign, size_t begin, size_t end)
{
    size_t count = end - begin;
    fprintf(to, "%c%zu", sign, count == 0 ? begin : begin + 1);
    if (count != 1) fprintf(to, ",%zu", count);
}

static void print_hunk(FILE *to, const struct diff *diff, struct place begin, struct place end)
{
    fputs("@@ ", to);
    print_range(to, '-', begin.old, end.old);
    fputc(' ', to);
    print_range(to, '+', begin.new, end.new);
    fputs(" @@\n", to);
    for (struct place at = begin; at.old < end.old || at.new < end.new;) {
        if (!is_change(diff, at)) {
            print_diff_line(to, ' ', &diff->old.items[at.old]);
            at = (struct place){at.old + 1, at.new + 1};
            continue;
        }
        struct place next = skip_change(diff, at);
        for (; at.old < next.old; at.old++)
            print_diff_line(to, '-', &diff->old.items[at.old]);
        for (; at.new < next.new; at.new++)
            print_diff_line(to, '+', &diff->new.items[at.new]);
    }
}

void text_diff(FILE *to, const struct text *before, const struct text *after)
{
    struct diff diff = {.arena = arena_create()};
    split_lines(diff.arena, before, &diff.old);
    split_lines(diff.arena, after, &diff.new);
    diff.removed = ARENA_ARRAY(diff.arena, bool, diff.old.count + 1);
    diff.added = ARENA_ARRAY(diff.arena, bool, diff.new.count + 1);
    compare_texts(&diff);
    bool any = false;
    for (struct place at = {0}; !is_diff_end(&diff, at);) {
        if (!is_change(&diff, at)) {
            at = (struct place){at.old + 1, at.new + 1};
            continue;
        }
        if (!any) fprintf(to, "--- %s\n+++ %s\n", before->name, after->name);
        any = true;
        size_t lead = at.old < CONTEXT ? at.old : CONTEXT;
        if (at.new < lead) lead = at.new;
        struct place end = hunk_end(&diff, at);
        print_hunk(to, &diff, (struct place){at.old - lead, at.new - lead}, end);
        at = end;
    }
    arena_destroy(diff.arena);
}
