/* SPDX-License-Identifier: MIT */
/*
 * pipert_choice: selects the device of a run by its options: the backend, the description, and the
 * sub-device that the program uses.
 *
 * Requires: a container that prt_verify has accepted; `options` may be NULL.
 * Fills *choice, from which the device is opened.  Keeps no pointers to the options.
 * Thread-safe: no state.  Errors: those of prt_run_create that concern the device.
 */
#ifndef RUNTIME_HOST_PIPERT_CHOICE_H
#define RUNTIME_HOST_PIPERT_CHOICE_H

#include "lang/devdesc.h"
#include "runtime/device/device.h"
#include "runtime/load/reader.h"
#include "runtime/host/pipert.h"

struct prt_device_choice {
    const struct prt_device_ops *ops;
    struct devdesc description;
    uint32_t host_threads;        /* from the options, or from cpu:N */
    uint32_t number;              /* from cuda:N */
    struct prt_device_tree *tree; /* from the options; NULL: the device has its own */
};

enum prt_status prt_device_choose(const struct prt_container *container,
                                  const struct prt_run_options *options,
                                  struct prt_device_choice *choice, struct prt_error *error);

/* Finds the (sub-)device that the options name, by a handle or by a path, in `tree`, the tree of the chosen device.  The
 * caller gives it up with prt_device_leave_part.  PRT_E_DEVICE: its number of compute units is not the one that the
 * program needs, or, on a GPU, it has only one. */
enum prt_status prt_device_choose_part(const struct prt_container *container,
                                       const struct prt_run_options *options, bool gpu,
                                       struct prt_device_tree *tree, struct prt_device_handle *part,
                                       struct prt_error *error);

void prt_device_leave_part(struct prt_device_tree *tree, struct prt_device_handle part);

/* Does the run use a handle or a path of its options? */
static inline bool prt_options_have_part(const struct prt_run_options *options)
{
    return options != NULL && (options->tree != NULL || options->sub_device_steps > 0);
}

#endif
