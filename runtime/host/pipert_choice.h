/* SPDX-License-Identifier: MIT */
/*
 * pipert_choice: which device a run is on, by its options: the backend, the description, and the part of
 * it that is the program's.
 *
 * Requires: a container that prt_verify has passed; `options` may be NULL.  Keeps nothing.
 * Fills *choice, of which the device is opened.  Thread-safe: no state.
 * Errors: as prt_run_create says of the device.
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
    uint32_t host_threads; /* as in the options, or of cpu:N */
};

enum prt_status prt_device_choose(const struct prt_container *container,
                                  const struct prt_run_options *options,
                                  struct prt_device_choice *choice, struct prt_error *error);

/* The sub-device at the end of the options' path in `tree`, which is that of the chosen device.
 * PRT_E_DEVICE: it has not as many compute units as the program wants. */
enum prt_status prt_device_choose_part(const struct prt_container *container,
                                       const struct prt_run_options *options,
                                       struct prt_device_tree *tree, struct prt_device_handle *part,
                                       struct prt_error *error);

#endif
