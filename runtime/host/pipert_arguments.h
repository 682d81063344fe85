/* SPDX-License-Identifier: MIT */
/*
 * pipert_arguments: the values of a pipeline's arguments.
 *
 * Ownership: create, free; also after a failure, and of zeroed ones.  Thread-safety: one thread at a time.
 * Errors: PRT_E_NOMEM, PRT_E_USAGE.
 */
#ifndef RUNTIME_HOST_PIPERT_ARGUMENTS_H
#define RUNTIME_HOST_PIPERT_ARGUMENTS_H

#include "runtime/host/pipert.h"
#include "runtime/load/reader.h"

enum prt_argument_origin {
    PRT_ARGUMENT_UNSET, /* it has no value */
    PRT_ARGUMENT_DEFAULT,
    PRT_ARGUMENT_FROM_INPUT,
    PRT_ARGUMENT_GIVEN
};

struct prt_arguments {
    uint8_t *block;                    /* as the container lays it out */
    enum prt_argument_origin *origins; /* by argument */
};

/* The defaults. */
enum prt_status prt_arguments_create(const struct prt_container *container,
                                     struct prt_arguments *arguments, struct prt_error *error);
void prt_arguments_free(struct prt_arguments *arguments);

/* As prt_run_set_argument. */
enum prt_status prt_arguments_set(const struct prt_container *container,
                                  struct prt_arguments *arguments, const char *name,
                                  const char *text, struct prt_error *error);

/* As prt_run_set_argument_values. */
enum prt_status prt_arguments_set_values(const struct prt_container *container,
                                         struct prt_arguments *arguments, const char *name,
                                         enum scalar_type type, const void *values, size_t count,
                                         struct prt_error *error);

/* As prt_run_tell_input; `buffer` is the in-port. */
enum prt_status prt_arguments_tell(const struct prt_container *container,
                                   struct prt_arguments *arguments, uint32_t buffer,
                                   const struct prt_input_properties *properties,
                                   struct prt_error *error);

/* PRT_E_USAGE: some argument has no value. */
enum prt_status prt_arguments_check(const struct prt_container *container,
                                    const struct prt_arguments *arguments, struct prt_error *error);

#endif
