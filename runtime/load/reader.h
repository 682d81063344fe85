/* SPDX-License-Identifier: MIT */
/*
 * reader: a container file as checked tables (lang/container.md).
 *
 * The whole file is first read into private memory, so it may change or shrink afterwards.  After a
 * successful read, every record can be used without further bounds checks: each index, string, count and
 * size lies within its table.  The *meaning* of the records (rates, depths, cross-links, the scheduler
 * program) is checked by verify.h.
 *
 * Requires: a little-endian host.
 * Ownership: prt_container_free frees everything.  All pointers inside, except `sets`, point into `bytes`.
 * Thread-safety: no state.  A container is read-only after the read, and threads may share it.
 * Errors: the message names the section and record, `error->offset` the byte in the file.
 *   PRT_E_OPEN, PRT_E_READ   the file cannot be read
 *   PRT_E_TRUNCATED          shorter than its header says
 *   PRT_E_VERSION            another version of the format
 *   PRT_E_CHECKSUM           damaged
 *   PRT_E_FORMAT             no container, or its tables are inconsistent
 *   PRT_E_NOMEM
 */
#ifndef RUNTIME_LOAD_READER_H
#define RUNTIME_LOAD_READER_H

#include "model/container_tables.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Files above this are refused before they are read. */
#define PRT_CONTAINER_BYTES_MAX (UINT64_C(1) << 32)

/* Reads `path` to its end ("-" is not special here). */
enum prt_status prt_container_read_file(const char *path, struct prt_container *container,
                                        struct prt_error *error);

/* Copies `size` bytes and reads the copy. */
enum prt_status prt_container_read_memory(const void *bytes, size_t size,
                                          struct prt_container *container, struct prt_error *error);

/* Frees the container's memory and zeroes it; a zeroed container is allowed. */
void prt_container_free(struct prt_container *container);

/* The checksum that a container of these bytes must carry; `size` is at least the size of the header.
 */
uint64_t prt_container_checksum(const void *bytes, size_t size);

#endif
