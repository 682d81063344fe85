#include "runtime/nearest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { NAME_BYTES_MAX = 64 };

/* Letters that are missing, too many, wrong, or two neighbours in the wrong order. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][NAME_BYTES_MAX + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > NAME_BYTES_MAX || b_length > NAME_BYTES_MAX) return SIZE_MAX;
    for (size_t k = 0; k <= b_length; k++)
        before[k] = above[k] = k;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t k = 1; k <= b_length; k++) {
            size_t cost = above[k - 1] + (a[i - 1] != b[k - 1]);
            if (above[k] + 1 < cost) cost = above[k] + 1;
            if (row[k - 1] + 1 < cost) cost = row[k - 1] + 1;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
                before[k - 2] + 1 < cost)
                cost = before[k - 2] + 1;
            row[k] = cost;
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b_length];
}

void prt_nearest_consider(struct prt_nearest *nearest, const char *candidate)
{
    size_t distance = edit_distance(nearest->wanted, candidate);
    if (distance == SIZE_MAX || (nearest->name != NULL && distance >= nearest->distance)) return;
    nearest->distance = distance;
    nearest->name = candidate;
}

const char *prt_nearest_close(const struct prt_nearest *nearest)
{
    bool close = nearest->name != NULL && nearest->distance <= (strlen(nearest->wanted) + 1) / 3;
    return close ? nearest->name : NULL;
}
