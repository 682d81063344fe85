/* SPDX-License-Identifier: MIT */
/* Checks the fields of the packets of the pipeline's ports. */
#include "runtime/verify/verify_internal.h"

#include "lang/scalar.h"

#include <inttypes.h>

/* Reads lengths such as "7, 7": their product, and the last one.  False: the text is not a list of lengths. */
static bool read_shape(const char *text, uint64_t *product, uint64_t *last)
{
    *product = *last = 1;
    while (*text != '\0') {
        uint64_t length = 0;
        const char *first = text;
        for (; *text >= '0' && *text <= '9'; text++)
            if (__builtin_mul_overflow(length, 10, &length) ||
                __builtin_add_overflow(length, (uint64_t)(*text - '0'), &length))
                return false;
        if (text == first || length == 0 || __builtin_mul_overflow(*product, length, product))
            return false;
        *last = length;
        if (*text == '\0') return true;
        if (text[0] != ',' || text[1] != ' ' || text[2] == '\0') return false;
        text += 2;
    }
    return true;
}

static bool is_lanes(uint32_t lanes)
{
    return lanes == 2 || lanes == 3 || lanes == 4 || lanes == 8 || lanes == 16;
}

bool prt_verify_shape(const char *shape, uint64_t count, uint32_t lanes)
{
    uint64_t product, last;
    return read_shape(shape, &product, &last) && product == count &&
           (lanes == 1 || (is_lanes(lanes) && last == lanes));
}

/* Checks one field, which begins at `*end` or after it; moves *end. */
static enum prt_status verify_field(const struct prt_container *c, const struct container_buffer *b,
                                    uint32_t index, uint64_t *end, struct prt_error *error)
{
    const struct container_field *f = &c->fields[index];
    uint64_t width = scalar_width_bytes((enum scalar_type)f->scalar), product, last;
    CHECK(f->offset_bytes >= *end && f->offset_bytes % width == 0 &&
              f->offset_bytes <= b->width_bytes &&
              f->count <= (b->width_bytes - f->offset_bytes) / width,
          FIELDS, index, "a place outside of the packet of '%s', or inside of another field",
          prt_verify_text(c, b->name));
    CHECK(read_shape(prt_verify_text(c, f->shape), &product, &last) && product == f->count, FIELDS,
          index, "the shape '%s' is not that of %" PRIu64 " scalars", prt_verify_text(c, f->shape),
          f->count);
    CHECK(f->lanes == 1 || (is_lanes(f->lanes) && last == f->lanes), FIELDS, index,
          "%" PRIu32 " is no number of lanes of the shape '%s'", f->lanes,
          prt_verify_text(c, f->shape));
    bool is_bytes = b->scalar == SCALAR_U8;
    CHECK(is_bytes || (f->scalar == b->scalar && f->offset_bytes == *end), FIELDS, index,
          "'%s' is said to be of one scalar type", prt_verify_text(c, b->name));
    *end = f->offset_bytes + f->count * width;
    return PRT_OK;
}

enum prt_status prt_verify_fields(const struct prt_container *c, struct prt_error *error)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        const struct container_buffer *b = &c->buffers[i];
        const char *name = prt_verify_text(c, b->name);
        uint64_t end = 0;
        CHECK(b->field_count == 0 || b->outer != CONTAINER_INNER, BUFFERS, i,
              "'%s' is no port and has fields", name);
        CHECK(b->field_count == 0 || b->first_field == next, BUFFERS, i,
              "the fields of '%s' do not follow those of the port before it", name);
        next += b->field_count;
        for (uint32_t f = 0; f < b->field_count; f++) {
            enum prt_status status = verify_field(c, b, b->first_field + f, &end, error);
            if (status != PRT_OK) return status;
        }
        CHECK(b->field_count == 0 || b->scalar == SCALAR_U8 || end == b->width_bytes, BUFFERS, i,
              "the fields of '%s' do not fill its packets", name);
    }
    CHECK(next == c->field_count, FIELDS, next, "belongs to no port");
    return PRT_OK;
}
