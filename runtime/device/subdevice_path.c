/* SPDX-License-Identifier: MIT */
#include "runtime/device/subdevice_path.h"

#include <stdlib.h>

static void release_but(struct prt_device_tree *tree, const struct prt_device_handle *made,
                        uint32_t count, uint32_t kept)
{
    /* equivalent: only sanitizers see a handle read past the last one */
    for (uint32_t i = 0; i < count; i++)
        if (i != kept) prt_device_release(tree, made[i]);
}

static enum prt_status take_step(struct prt_device_tree *tree, struct prt_device_handle from,
                                 const struct prt_sub_device_step *step,
                                 struct prt_device_handle *to)
{
    uint32_t count = 0; /* equivalent: it is written, unless there is an error */
    /* equivalent: without room for handles the number of handles does not matter */
    enum prt_status status = prt_create_sub_devices(tree, from, step->properties, 0, NULL, &count);
    if (status == PRT_OK && step->index >= count) status = PRT_E_INVALID_VALUE;
    if (status != PRT_OK) return status;
    struct prt_device_handle *made = calloc(count, sizeof *made);
    /* uncovered: tests/fault runs programs in which memory ends */
    if (made == NULL) return PRT_E_NOMEM;
    status = prt_create_sub_devices(tree, from, step->properties, count, made, NULL);
    /* uncovered: the first call has checked all but memory, as above */
    if (status == PRT_OK) {
        release_but(tree, made, count, step->index);
        *to = made[step->index];
    }
    free(made); /* equivalent: only sanitizers see the leak */
    return status;
}

enum prt_status prt_sub_device_find(struct prt_device_tree *tree,
                                    const struct prt_sub_device_step *steps, uint32_t count,
                                    struct prt_device_handle *found, uint32_t *failed)
{
    struct prt_device_handle at = prt_device_tree_root(tree);
    for (uint32_t i = 0; i < count; i++) {
        struct prt_device_handle next;
        enum prt_status status = take_step(tree, at, &steps[i], &next);
        prt_device_release(tree, at); /* the root is not counted */
        *failed = i;
        if (status != PRT_OK) return status;
        at = next;
    }
    *found = at;
    return PRT_OK;
}
