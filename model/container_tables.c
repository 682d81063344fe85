/* SPDX-License-Identifier: MIT */
#include "model/container_tables.h"

const struct container_index *prt_container_index(const struct prt_container *container,
                                                  uint32_t kernel)
{
    uint32_t first = 0, end = container->index_count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (container->indices[middle].kernel < kernel)
            first = middle + 1;
        else
            end = middle;
    }
    return first < container->index_count && container->indices[first].kernel == kernel
               ? &container->indices[first]
               : NULL;
}
