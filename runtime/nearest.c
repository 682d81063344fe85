#include "runtime/nearest.h"

#include <stdint.h>
#include <string.h>

enum { NAME_BYTES_MAX = 64 };

static size_t edit_distance(const char *a, const char *b)
{
    size_t row[NAME_BYTES_MAX + 1];
    size_t b_length = strlen(b);
    if (strlen(a) > NAME_BYTES_MAX || b_length > NAME_BYTES_MAX) return SIZE_MAX;
    for (size_t k = 0; k <= b_length; k++)
        row[k] = k;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t k = 0; k < b_length; k++) {
            size_t cost = diagonal + (a[i] != b[k]);
            diagonal = row[k + 1];
            if (row[k] + 1 < cost) cost = row[k] + 1;
            if (row[k + 1] + 1 < cost) cost = row[k + 1] + 1;
            row[k + 1] = cost;
        }
    }
    return row[b_length];
}

void prt_nearest_consider(struct prt_nearest *nearest, const char *candidate)
{
    size_t distance = edit_distance(nearest->wanted, candidate);
    if (distance == SIZE_MAX || (nearest->name != NULL && distance >= nearest->distance)) return;
    nearest->distance = distance;
    nearest->name = candidate;
}
