/* SPDX-License-Identifier: MIT */
#include "compiler/support/child_message.h"

#include <string.h>

/* ---- packing ---- */

static void add_packed(struct parcel *parcel, const void *bytes, size_t size_bytes)
{
    size_t needed;
    if (__builtin_add_overflow(parcel->bytes.count, size_bytes, &needed)) needed = SIZE_MAX;
    parcel->bytes.items =
        vec_grow(parcel->arena, parcel->bytes.items, &parcel->bytes.capacity, needed, 1);
    if (size_bytes > 0) memcpy(parcel->bytes.items + parcel->bytes.count, bytes, size_bytes);
    parcel->bytes.count = needed;
}

void pack_number(struct parcel *parcel, uint64_t number)
{
    add_packed(parcel, &number, sizeof number);
}

void pack_bytes(struct parcel *parcel, const void *bytes, size_t size_bytes)
{
    pack_number(parcel, size_bytes);
    add_packed(parcel, bytes, size_bytes);
}

void pack_text(struct parcel *parcel, const char *text)
{
    pack_number(parcel, text != NULL);
    if (text != NULL) pack_bytes(parcel, text, strlen(text));
}

void pack_span(struct parcel *parcel, struct span span)
{
    pack_number(parcel, span.source);
    pack_number(parcel, span.begin);
    pack_number(parcel, span.end);
}

/* ---- unpacking ---- */

static const unsigned char *take_bytes(struct parcel_reader *reader, size_t size_bytes)
{
    if (reader->damaged || size_bytes > reader->size_bytes) {
        reader->damaged = true;
        return NULL;
    }
    const unsigned char *taken = reader->bytes;
    reader->bytes += size_bytes;
    reader->size_bytes -= size_bytes;
    return taken;
}

uint64_t unpack_number(struct parcel_reader *reader)
{
    uint64_t number = 0;
    const unsigned char *bytes = take_bytes(reader, sizeof number);
    if (bytes != NULL) memcpy(&number, bytes, sizeof number);
    return number;
}

uint32_t unpack_small(struct parcel_reader *reader, uint32_t most)
{
    uint64_t number = unpack_number(reader);
    if (number <= most) return (uint32_t)number;
    reader->damaged = true;
    return 0;
}

size_t unpack_count(struct parcel_reader *reader, size_t item_bytes)
{
    uint64_t count = unpack_number(reader);
    if (count <= reader->size_bytes / item_bytes) return (size_t)count;
    reader->damaged = true;
    return 0;
}

const unsigned char *unpack_bytes(struct parcel_reader *reader, size_t *size_bytes)
{
    *size_bytes = unpack_count(reader, 1);
    return take_bytes(reader, *size_bytes);
}

const char *unpack_text(struct parcel_reader *reader)
{
    size_t length;
    if (unpack_small(reader, 1) == 0) return NULL;
    const unsigned char *bytes = unpack_bytes(reader, &length);
    return bytes != NULL ? arena_string(reader->arena, (const char *)bytes, length) : NULL;
}

struct span unpack_span(struct parcel_reader *reader, uint32_t sources)
{
    struct span span = {.source = unpack_small(reader, sources),
                        .begin = unpack_small(reader, UINT32_MAX),
                        .end = unpack_small(reader, UINT32_MAX)};
    if (span.begin > span.end) reader->damaged = true;
    if (reader->damaged) span = (struct span){0};
    return span;
}
