/* SPDX-License-Identifier: MIT */
/*
 * subdevice_path: one sub-device of a tree, by the partitions that lead to it.
 *
 * Requires: a tree (subdevice.h); each step's properties are as prt_create_sub_devices takes them.
 * Fills: the handle at the end of the path, with reference count 1; of no step: the root.  All other
 *   sub-devices that the partitions have made are released again, and so are its parents.
 * Errors: those of prt_create_sub_devices; PRT_E_INVALID_VALUE: the partition makes no
 *   sub-device of that index; PRT_E_NOMEM.  *failed is then the step, and no sub-device is left.
 * Thread-safe as the calls on the tree are.
 */
#ifndef RUNTIME_DEVICE_SUBDEVICE_PATH_H
#define RUNTIME_DEVICE_SUBDEVICE_PATH_H

#include "model/subdevice.h"

enum prt_status prt_sub_device_find(struct prt_device_tree *tree,
                                    const struct prt_sub_device_step *steps, uint32_t count,
                                    struct prt_device_handle *found, uint32_t *failed);

#endif
