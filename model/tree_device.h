/* SPDX-License-Identifier: MIT */
/*
 * tree_device: a tree of sub-devices (subdevice.h) knows the device that it divides, and may have several users: its
 * caller, runs, and queues.
 *
 * Ownership: the tree keeps a copy of the description.  Each user ends with prt_device_tree_destroy; the tree goes with
 *   the last one.
 * Thread-safety: prt_device_tree_share may be called while the tree has a user.  The description is set by the thread
 *   that has created the tree, before another thread uses it.
 */
#ifndef MODEL_TREE_DEVICE_H
#define MODEL_TREE_DEVICE_H

#include "lang/devdesc.h"
#include "model/subdevice.h"

/* PRT_E_NOMEM. */
enum prt_status prt_device_tree_describe(struct prt_device_tree *tree,
                                         const struct devdesc *description);

/* NULL: it was not made for a device, but by prt_device_tree_create itself. */
const struct devdesc *prt_device_tree_description(const struct prt_device_tree *tree);

/* Adds a user, and returns the tree. */
struct prt_device_tree *prt_device_tree_share(struct prt_device_tree *tree);

#endif
