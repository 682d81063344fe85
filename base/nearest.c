/* SPDX-License-Identifier: MIT */
#include "base/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool same_letter(char a, char b, bool fold)
{
    return a == b || (fold && tolower((unsigned char)a) == tolower((unsigned char)b));
}

size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length, bool fold)
{
    size_t rows[3][NAME_COMPARED_MAX + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        before[j] = above[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = above[j - 1] + !same_letter(a[i - 1], b[j - 1], fold);
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2], fold) &&
                same_letter(a[i - 2], b[j - 1], fold) && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        size_t *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[b_length];
}

/* Whether `a` is better than `b`. */
static bool is_nearer(const struct nearest *a, const struct nearest *b)
{
    if (b->name == NULL) return true;
    if (a->near != b->near) return a->near;
    return a->distance < b->distance || (a->distance == b->distance && a->folded < b->folded);
}

void nearest_consider(struct nearest *nearest, const char *candidate)
{
    size_t length = strlen(nearest->wanted), other = strlen(candidate), limit = (length + 2) / 3;
    if (length > NAME_COMPARED_MAX || other > NAME_COMPARED_MAX) return;
    struct nearest found = {.wanted = nearest->wanted, .name = candidate};
    found.distance = edit_distance(found.wanted, length, candidate, other, false);
    found.folded = edit_distance(found.wanted, length, candidate, other, true);
    /* Every name of one letter is near to every other: suggest only the other case. */
    found.near =
        length > 0 && (found.folded == 0 || (found.distance <= limit && found.distance < length));
    if (is_nearer(&found, nearest)) *nearest = found;
}

const char *nearest_name(const char *wanted, const char *const *candidates, size_t count)
{
    struct nearest nearest = {.wanted = wanted};
    size_t length = strlen(wanted);
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]);
        size_t difference = other > length ? other - length : length - other;
        if (difference <= (length + 2) / 3) nearest_consider(&nearest, candidates[i]);
    }
    return nearest.near ? nearest.name : NULL;
}

const char *nearest_option(const char *written, const struct option *options)
{
    char word[NAME_COMPARED_MAX];
    while (*written == '-')
        written++;
    size_t length = strcspn(written, "=");
    if (length < 2 || length >= sizeof word) return NULL;
    snprintf(word, sizeof word, "%.*s", (int)length, written);
    struct nearest nearest = {.wanted = word};
    for (; options->name != NULL; options++)
        nearest_consider(&nearest, options->name);
    return nearest.near ? nearest.name : NULL;
}

const char *unknown_option(char *const *argv)
{
    const char *next = optopt != 0 ? argv[optind] : NULL;
    bool inside = next != NULL && next[0] == '-' && next[1] != '-' && next[1] != '\0' &&
                  strchr(next + 1, optopt) != NULL && next[2] != '\0';
    return inside ? next : argv[optind - 1];
}
