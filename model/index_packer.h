/* SPDX-License-Identifier: MIT */
/*
 * index_packer: indices in registers of 16 or 32 bits (lang/index_generator.md, "Format").
 *
 * The format of a register is lang/index_format.h's; generated code unpacks with the same widths.
 *
 * Requires: indices below the extents of the format.
 * Ownership: `registers` is the caller's.  Thread-safe: no state.  Allocation, errors: none.
 */
#ifndef MODEL_INDEX_PACKER_H
#define MODEL_INDEX_PACKER_H

#include "lang/index_format.h"

#include <stdint.h>

/* Writes `count` registers from number `at` on; `registers` are uint16_t or uint32_t, as the format
 * says. */
void prt_index_pack(const struct index_format *format, const uint32_t *x, const uint32_t *y,
                    const uint32_t *z, uint32_t count, void *registers, uint32_t at);

#endif
