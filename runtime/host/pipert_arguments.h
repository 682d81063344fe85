/* SPDX-License-Identifier: MIT */
/*
 * pipert_arguments: the values of a pipeline's arguments.
 *
 * Ownership: create, free; also after a failure, and of zeroed ones.  Thread-safety: one thread at a time.
 * Errors: PRT_E_NOMEM, PRT_E_USAGE.
 */
#ifndef RUNTIME_HOST_PIPERT_ARGUMENTS_H
#define RUNTIME_HOST_PIPERT_ARGUMENTS_H

#include "runtime/load/reader.h"

#include <stdbool.h>

struct prt_arguments {
    uint8_t *block; /* as the container lays it out */
    bool *set;      /* by argument: it has a value */
};

/* The defaults. */
enum prt_status prt_arguments_create(const struct prt_container *container,
                                     struct prt_arguments *arguments, struct prt_error *error);
void prt_arguments_free(struct prt_arguments *arguments);

/* As prt_run_set_argument. */
enum prt_status prt_arguments_set(const struct prt_container *container,
                                  struct prt_arguments *arguments, const char *name,
                                  const char *text, struct prt_error *error);

/* PRT_E_USAGE: some argument has no value. */
enum prt_status prt_arguments_check(const struct prt_container *container,
                                    const struct prt_arguments *arguments, struct prt_error *error);

#endif
