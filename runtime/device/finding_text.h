/* SPDX-License-Identifier: MIT */
/* finding_text: a finding of a device description as lines of text.
 *
 *     small.dev:3:9: error: 'lanes' must be between 1 and 1024 [device-description]
 *         3 | lanes = 2048
 *           |         ^^^^ at most 1024
 *     help: ...
 *
 * Thread-safety: no state.  Bytes that a terminal must not see come out as \xNN.
 */
#ifndef RUNTIME_DEVICE_FINDING_TEXT_H
#define RUNTIME_DEVICE_FINDING_TEXT_H

#include "lang/devdesc.h"

#include <stdio.h>

/* `text` of `size` bytes is what the finding was found in, `path` its name. */
void prt_finding_print(FILE *to, const char *path, const char *text, size_t size,
                       const struct devdesc_finding *finding);

#endif
