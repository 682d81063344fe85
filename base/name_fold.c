/* SPDX-License-Identifier: MIT */
#include "base/name_fold.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the number at *text and moves past it; false: there is none of at most 18 digits. */
static bool read_index(const char **text, uint64_t *index)
{
    size_t length = strspn(*text, "0123456789");
    if (length == 0 || length > 18) return false;
    *index = strtoull(*text, NULL, 10);
    *text += length;
    return true;
}

uint64_t name_step(const char *first, const char *next, uint64_t distance)
{
    uint64_t moved = 0;
    for (unsigned position = 0; *first != '\0' || *next != '\0';) {
        if (*first != *next) return NAME_STEP_NONE;
        bool opens = *first == '[' || *first == '#';
        uint64_t from, to;
        first++, next++;
        if (!opens || !read_index(&first, &from)) continue;
        if (!read_index(&next, &to) || position == 63) return NAME_STEP_NONE;
        if (to == from + distance)
            moved |= UINT64_C(1) << position;
        else if (to != from)
            return NAME_STEP_NONE;
        position++;
    }
    return moved;
}

size_t name_run(const char *const *names, size_t count)
{
    uint64_t step = count > 1 ? name_step(names[0], names[1], 1) : NAME_STEP_NONE;
    size_t run = 1;
    while (step != 0 && step != NAME_STEP_NONE && run < count &&
           name_step(names[0], names[run], run) == step)
        run++;
    return run < NAME_FOLD_LEAST ? 1 : run;
}

const char *name_fold(struct arena *arena, const char *first, const char *last)
{
    /* Each index of `last` is added once, with two dots. */
    size_t room = strlen(first) + 3 * strlen(last) + 1;
    char *folded = ARENA_ARRAY(arena, char, room), *to = folded;
    while (*first != '\0') {
        bool opens = *first == '[' || *first == '#';
        const char *digits = first + 1;
        uint64_t from = 0, end = 0;
        *to++ = *first++;
        last++;
        if (!opens || !read_index(&first, &from)) continue;
        const char *last_digits = last;
        (void)read_index(&last, &end);
        to = mempcpy(to, digits, (size_t)(first - digits));
        if (end == from) continue;
        to = mempcpy(to, "..", 2);
        to = mempcpy(to, last_digits, (size_t)(last - last_digits));
    }
    return folded;
}

/* Reads "2..5" and moves past it; false: it is not there. */
static bool read_index_range(const char **text, uint64_t *from, uint64_t *to)
{
    const char *at = *text;
    if (!read_index(&at, from) || strncmp(at, "..", 2) != 0) return false;
    at += 2;
    if (!read_index(&at, to) || *to < *from) return false;
    *text = at;
    return true;
}

uint64_t name_unfold_count(const char *folded)
{
    uint64_t from, to;
    while (*folded != '\0') {
        bool opens = *folded == '[' || *folded == '#';
        folded++;
        if (opens && read_index_range(&folded, &from, &to)) return to - from + 1;
    }
    return 1;
}

const char *name_unfold(struct arena *arena, const char *folded, uint64_t index)
{
    /* An index may have more digits than the one it replaces. */
    char *name = ARENA_ARRAY(arena, char, 8 * strlen(folded) + 1), *to = name;
    while (*folded != '\0') {
        bool opens = *folded == '[' || *folded == '#';
        uint64_t first, last;
        *to++ = *folded++;
        if (opens && read_index_range(&folded, &first, &last))
            to += sprintf(to, "%" PRIu64, first + index);
    }
    return name;
}
