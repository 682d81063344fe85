/* SPDX-License-Identifier: MIT */
/*
 * child_message: numbers and texts that one process of a compilation sends to another.
 *
 * They are unpacked in the order in which they were packed. A received parcel is not trusted: a missing
 * item reads as 0, NULL and no bytes, and then the parcel is `damaged`. Counts are compared with the
 * bytes that are left, so nothing is allocated for items that are not there.
 *
 * Ownership: packed bytes live in the parcel's arena, unpacked ones in the reader's.
 */
#ifndef PIPEC_CHILD_MESSAGE_H
#define PIPEC_CHILD_MESSAGE_H

#include <stdbool.h>

#include "compiler/support/source.h"
#include "base/vec.h"

struct parcel {
    struct arena *arena;
    VEC(unsigned char) bytes;
};

void pack_number(struct parcel *parcel, uint64_t number);
/* Packs the bytes with their length. */
void pack_bytes(struct parcel *parcel, const void *bytes, size_t size_bytes);
/* NULL stays NULL. */
void pack_text(struct parcel *parcel, const char *text);
void pack_span(struct parcel *parcel, struct span span);

struct parcel_reader {
    struct arena *arena;
    const unsigned char *bytes; /* the bytes that are left */
    size_t size_bytes;
    bool damaged;
};

uint64_t unpack_number(struct parcel_reader *reader);
/* At most `most`; a larger number is damage. */
uint32_t unpack_small(struct parcel_reader *reader, uint32_t most);
/* The number of items that follow, each of at least `item_bytes` (> 0) bytes. */
size_t unpack_count(struct parcel_reader *reader, size_t item_bytes);
/* Returns a pointer into the reader's bytes. */
const unsigned char *unpack_bytes(struct parcel_reader *reader, size_t *size_bytes);
const char *unpack_text(struct parcel_reader *reader);
/* A place in one of the first `sources` sources, or no place. */
struct span unpack_span(struct parcel_reader *reader, uint32_t sources);

#endif
