/* SPDX-License-Identifier: MIT */
/*
 * subdevice_words: the partitions that lead to a sub-device, as words of the command line, for messages.
 *
 * Thread-safe as the calls on the tree are.  Allocation: for the call.
 */
#ifndef RUNTIME_DEVICE_SUBDEVICE_WORDS_H
#define RUNTIME_DEVICE_SUBDEVICE_WORDS_H

#include "model/subdevice.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes the command that describes the sub-device of the device `name`, and the one that compiles for it:
 * "piperun partition sim16 equally 8 --describe 0 >part.dev; pipec --device part.dev".  False: it is longer than
 * `size`, or the device is a root; `text` then has no meaning. */
bool prt_sub_device_tell(struct prt_device_tree *tree, struct prt_device_handle device,
                         const char *name, char *text, size_t size);

#endif
