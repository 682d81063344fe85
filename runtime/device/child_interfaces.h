/* SPDX-License-Identifier: MIT */
/*
 * child_interfaces: the interfaces of child kernels in the cache of the device queue, as the device writes them before a
 * parent begins (lang/device_queue.md, "The cache").
 *
 * Requires: a verified container with interfaces.  Errors: none but NULL, out of memory.
 */
#ifndef RUNTIME_DEVICE_CHILD_INTERFACES_H
#define RUNTIME_DEVICE_CHILD_INTERFACES_H

#include "runtime/load/reader.h"

#include <stdbool.h>

/* The bytes of the longest entry, to which all entries and interfaces are as long. */
uint64_t prt_child_entry_bytes(const struct prt_container *container);

/* The packets that one body of any kernel appends to that output at most. */
uint64_t prt_child_packets_most(const struct prt_container *container, uint32_t output);

/* Does a kernel wait for launches of its own (`done`)? */
bool prt_child_waits(const struct prt_container *container);

/* By interface: the default arguments of a child, in the container; NULL of others.  To be freed. */
const uint8_t **prt_child_defaults(const struct prt_container *container);

/* Writes the interface of that record in LAUNCHES: a launch that says nothing of its own (lang/kernel_abi.h), without its code
 * where that is not known yet (`kernel` is 0). */
void prt_child_interface_write(const struct prt_container *container, uint32_t launch,
                               const uint8_t *defaults, uint64_t kernel, uint64_t stride_bytes,
                               uint8_t *to);

#endif
