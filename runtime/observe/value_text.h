/* SPDX-License-Identifier: MIT */
/*
 * value_text: values in memory as text, by the types of a container.
 *
 * Scalars as the language writes them (floats: the shortest text that reads back as the same value),
 * arrays and vectors as [1, 2, 3], structs as {x: 1, pos: [0.5, 2]}.  Of a list longer than
 * `items_max` the first so many are shown, then how many more there are; 0: all.
 *
 * Requires: a verified container.
 * Thread-safety: no state.
 */
#ifndef RUNTIME_OBSERVE_VALUE_TEXT_H
#define RUNTIME_OBSERVE_VALUE_TEXT_H

#include "runtime/load/reader.h"

#include <stdio.h>

/* A value of a type in TYPES; CONTAINER_NONE prints `?`. */
void prt_value_print(FILE *to, const struct prt_container *c, uint32_t type, const void *bytes,
                     uint64_t items_max);

/* A packet of a buffer; as a list of the buffer's scalars where its type is not known. */
void prt_packet_print(FILE *to, const struct prt_container *c,
                      const struct container_buffer *buffer, const void *bytes, uint64_t items_max);

/* The type as the language writes it: `i32`, `f32[3][4]`, `f32x4`, the name of a struct. */
void prt_type_print(FILE *to, const struct prt_container *c, uint32_t type);

#endif
