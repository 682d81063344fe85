/* SPDX-License-Identifier: MIT */
/*
 * image: the native code of a container, and its entries (lang/kernel_abi.h).
 *
 * A container may hold the same kernels for several instruction sets, best first (lang/container.md,
 * "Images"): the first one whose features this processor has is loaded, the others are not looked at.
 * Images for GPUs are never loaded here.
 *
 * An image goes through two steps.  prt_image_choose takes one and checks it without executing
 * anything of it (image_elf.h).  prt_image_open loads it: when the first run on a device that executes
 * kernels begins, after everything else has been found to be in order.
 *
 * The shared object is loaded from memory (memfd_create + dlopen of /proc/self/fd/N), with no
 * temporary file.  One file descriptor stays open while it is loaded: the dynamic linker knows
 * objects by name, and the number is the name.
 *
 * Ownership: prt_image_free unloads; no entry may run by then.
 * Thread-safety: prt_image_open may be called by several threads at a time; the first one loads.
 * Errors: PRT_E_FORMAT (no image, one that image_elf.h refuses, an entry is missing), PRT_E_DEVICE (this
 * processor cannot execute any of them), PRT_E_OPEN (the dynamic linker refuses), PRT_E_NOMEM; where
 * PIPERT_IMAGE_FOLDER is set, PRT_E_OPEN and PRT_E_WRITE (the file in it, which is removed then).
 */
#ifndef RUNTIME_LOAD_IMAGE_H
#define RUNTIME_LOAD_IMAGE_H

#include "lang/kernel_abi.h"
#include "runtime/load/reader.h"

#include <pthread.h>
#include <stdbool.h>

struct prt_image_kernel {
    kernel_entry run;
    kernel_entry init, finish; /* NULL where the node's flags have none */
};

struct prt_image {
    struct prt_image_kernel *nodes; /* one per node, then one per interface (only `run`); owned */
    const struct prt_image_kernel *interfaces;
    kernel_arguments_entry arguments;
    const struct container_image *chosen; /* in the container; NULL for prt_image_from_entries */
    void *library;                        /* NULL for prt_image_from_entries */
    int fd;
    bool opened;          /* its entries are there */
    pthread_mutex_t lock; /* of what prt_image_open fills */
};

enum prt_status prt_image_choose(const struct prt_container *container, struct prt_image *image,
                                 struct prt_error *error);

/* Requires: an image of the container that has been chosen, or has entries; these are there
 * afterwards. */
enum prt_status prt_image_open(const struct prt_container *container, struct prt_image *image,
                               struct prt_error *error);

/* Checks all images of a container, for whichever processor they are.  Executes nothing. */
enum prt_status prt_image_verify_all(const struct prt_container *container,
                                     struct prt_error *error);

/* For tests and embedders: entries that are linked into the program.  `nodes` has one record per
 * node of the container, then one per interface, and is copied. */
enum prt_status prt_image_from_entries(const struct prt_container *container,
                                       const struct prt_image_kernel *nodes,
                                       kernel_arguments_entry arguments, struct prt_image *image,
                                       struct prt_error *error);

/* A zeroed image is allowed. */
void prt_image_free(struct prt_image *image);

#endif
