/* SPDX-License-Identifier: MIT */
/*
 * partition_scheme: schemes of partitioning as words of the command line, and why one failed.
 *
 * Ownership: prt_schemes_free frees the schemes of prt_schemes_read.  Errors: an exit code; the
 * message has been printed.
 */
#ifndef TOOLS_PIPERUN_PARTITION_SCHEME_H
#define TOOLS_PIPERUN_PARTITION_SCHEME_H

#include "runtime/host/pipert_device.h"

#include <stddef.h>
#include <stdint.h>

struct prt_scheme_word {
    const char *word;
    int64_t property;
    uint32_t set; /* PRT_SCHEME_* */
};

extern const struct prt_scheme_word prt_scheme_words[]; /* ends with a NULL */

struct prt_level_word {
    const char *word, *name; /* "l2", "L2" */
    int64_t domain;
};

extern const struct prt_level_word prt_level_words[]; /* ends with a NULL; "next" is one */

struct prt_scheme {
    const struct prt_scheme_word *word;
    int64_t *properties; /* the whole list, its ends included */
    size_t value_count;  /* between the scheme and the ends */
};

/* `equally 8 / by-affinity next`: no word at all is no scheme. */
int prt_schemes_read(int argc, char **argv, struct prt_scheme **schemes, size_t *count);
void prt_schemes_free(struct prt_scheme *schemes, size_t count);

/* "CL_DEVICE_PARTITION_FAILED". */
const char *prt_scheme_error_name(enum prt_status status);

/* Why partitioning a device of these figures by `scheme` ended with `status`. */
void prt_scheme_reason(const struct prt_scheme *scheme, enum prt_status status,
                       const struct prt_device_figures *figures,
                       const struct prt_device_information *device, char *reason, size_t size);

/* The scheme that made the device: "equally 8"; "-" for a root. */
void prt_scheme_describe(struct prt_device_tree *tree, struct prt_device_handle device, char *text,
                         size_t size);

#endif
