/* SPDX-License-Identifier: MIT */
/* description: device descriptions by name or from a file, and what is wrong with them as text.
 *
 * Ownership: *description is filled, nothing is kept.  Thread-safety: no state.
 * Errors: in `error`; what a file's text has against it is handed to `report` as well, one finding
 *   a call, in the form that pipec prints it in (lang/devices.md, "Errors").
 */
#ifndef RUNTIME_DEVICE_DESCRIPTION_H
#define RUNTIME_DEVICE_DESCRIPTION_H

#include "lang/devdesc.h"
#include "base/status.h"

struct prt_reporter {
    prt_report_callback report; /* NULL: the first error is all of the error record */
    void *context;
};

/* "sim16": an embedded one; "FILE.dev", "sim:FILE": a file's.  `others`: what else the caller takes, for
 * the message ("null, ").  PRT_E_USAGE: there is no such device; PRT_E_DEVICE: one that this
 * version does not have; PRT_E_OPEN, PRT_E_READ: the file; PRT_E_FORMAT: its content. */
enum prt_status prt_description_open(const char *name, const char *others,
                                     const struct prt_reporter *reporter,
                                     struct devdesc *description, struct prt_error *error);

#endif
