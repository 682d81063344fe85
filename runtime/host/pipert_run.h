/* SPDX-License-Identifier: MIT */
/*
 * pipert_run: the contents of programs and runs, for the files of runtime/host and runtime/debug.
 */
#ifndef RUNTIME_HOST_PIPERT_RUN_H
#define RUNTIME_HOST_PIPERT_RUN_H

#include "runtime/load/image.h"
#include "runtime/load/reader.h"
#include "runtime/host/pipert.h"
#include "runtime/host/pipert_arguments.h"
#include "runtime/sched/sched.h"

struct prt_program {
    struct prt_container container;
    struct prt_image *image; /* owned; its code is loaded when a run needs the kernels */
    uint32_t *ports;         /* buffer of each port */
    uint32_t port_count;
};

/* Called when a run begins, before it reads anything, and when it has ended.  A failure of `begins`
 * ends the run. */
struct prt_run_watch {
    void *context;
    enum prt_status (*begins)(void *context, struct prt_error *error);
    void (*ends)(void *context, enum prt_status status, const struct prt_error *error);
};

struct prt_run {
    const struct prt_program *loaded;  /* the caller's */
    const struct prt_program *program; /* what executes: `loaded`, or `deeper` */
    struct prt_program *deeper;        /* with deeper buffers; owned, or NULL */
    const struct prt_device_ops *ops;
    struct prt_device *device;
    struct prt_device_tree *tree; /* that `part` is in; NULL: the run is on the whole device */
    struct prt_device_handle part;
    struct prt_sched *sched;
    struct prt_arguments arguments;
    bool executed;
    bool ended;
    uint64_t ended_cycles;             /* prt_run_moment_cycles at the end of the run */
    const struct prt_run_watch *watch; /* NULL: no callbacks */
};

#endif
