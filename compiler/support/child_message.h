/* SPDX-License-Identifier: MIT */
/*
 * child_message: numbers and texts that one process of a compilation sends to another.
 *
 * What has been packed in one order is unpacked in the same.  A parcel that comes from elsewhere is not
 * trusted: what it does not hold reads as 0, NULL and no bytes, and from then on it is `damaged`; counts
 * are checked against what is left, so that nothing is allocated for items that are not there.
 *
 * Ownership: packed bytes live in the parcel's arena, unpacked ones in the reader's.
 */
#ifndef PIPEC_PARCEL_H
#define PIPEC_PARCEL_H

#include <stdbool.h>

#include "compiler/support/source.h"
#include "base/vec.h"

struct parcel {
    struct arena *arena;
    VEC(unsigned char) bytes;
};

void pack_number(struct parcel *parcel, uint64_t number);
/* With their length. */
void pack_bytes(struct parcel *parcel, const void *bytes, size_t size_bytes);
/* NULL stays NULL. */
void pack_text(struct parcel *parcel, const char *text);
void pack_span(struct parcel *parcel, struct span span);

struct parcel_reader {
    struct arena *arena;
    const unsigned char *bytes; /* what is left */
    size_t size_bytes;
    bool damaged;
};

uint64_t unpack_number(struct parcel_reader *reader);
/* At most `most`; more is damage. */
uint32_t unpack_small(struct parcel_reader *reader, uint32_t most);
/* How many items follow, each of at least `item_bytes` (> 0) bytes. */
size_t unpack_count(struct parcel_reader *reader, size_t item_bytes);
/* They stay where they are, among the reader's bytes. */
const unsigned char *unpack_bytes(struct parcel_reader *reader, size_t *size_bytes);
const char *unpack_text(struct parcel_reader *reader);
/* A place in one of the first `sources` sources, or nowhere. */
struct span unpack_span(struct parcel_reader *reader, uint32_t sources);

#endif
