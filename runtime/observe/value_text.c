/* SPDX-License-Identifier: MIT */
#include "runtime/observe/value_text.h"

#include "lang/scalar.h"
#include "lang/scalar_text.h"
#include "runtime/load/debug_info.h"

#include <inttypes.h>

enum { SCALAR_TEXT_BYTES = 64 };

static void print_scalar(FILE *to, uint32_t scalar, const uint8_t *bytes)
{
    char text[SCALAR_TEXT_BYTES];
    scalar_format((enum scalar_type)scalar, prt_debug_scalar_bits(scalar, bytes), text,
                  sizeof text);
    fputs(text, to);
}

static void print_left_out(FILE *to, uint64_t shown, uint64_t count)
{
    if (shown < count) fprintf(to, ", ... %" PRIu64 " more", count - shown);
}

static uint64_t shown_of(uint64_t count, uint64_t items_max)
{
    return items_max > 0 && count > items_max ? items_max : count;
}

static void print_list(FILE *to, const struct prt_container *c, const struct container_type *type,
                       const uint8_t *bytes, uint64_t items_max)
{
    uint64_t width = c->types[type->element].width_bytes;
    uint64_t shown = shown_of(type->length, items_max);
    fputc('[', to);
    for (uint64_t i = 0; i < shown; i++) {
        if (i > 0) fputs(", ", to);
        prt_value_print(to, c, type->element, bytes + i * width, items_max);
    }
    print_left_out(to, shown, type->length);
    fputc(']', to);
}

static void print_struct_value(FILE *to, const struct prt_container *c,
                               const struct container_type *type, const uint8_t *bytes,
                               uint64_t items_max)
{
    fputc('{', to);
    for (uint32_t i = 0; i < type->member_count; i++) {
        const struct container_member *member = &c->members[type->first_member + i];
        fprintf(to, "%s%s: ", i > 0 ? ", " : "", prt_container_text(c, member->name));
        prt_value_print(to, c, member->type, bytes + member->offset_bytes, items_max);
    }
    fputc('}', to);
}

void prt_value_print(FILE *to, const struct prt_container *c, uint32_t type, const void *bytes,
                     uint64_t items_max)
{
    const struct container_type *record = prt_debug_type(c, type);
    if (record == NULL)
        fputc('?', to);
    else if (record->kind == CONTAINER_TYPE_SCALAR)
        print_scalar(to, record->scalar, bytes);
    else if (record->kind == CONTAINER_TYPE_STRUCT)
        print_struct_value(to, c, record, bytes, items_max);
    else
        print_list(to, c, record, bytes, items_max);
}

void prt_packet_print(FILE *to, const struct prt_container *c,
                      const struct container_buffer *buffer, const void *bytes, uint64_t items_max)
{
    if (prt_debug_type(c, buffer->type) != NULL) {
        prt_value_print(to, c, buffer->type, bytes, items_max);
        return;
    }
    size_t width = scalar_width_bytes((enum scalar_type)buffer->scalar);
    uint64_t count = buffer->width_bytes / width, shown = shown_of(count, items_max);
    if (count > 1) fputc('[', to);
    for (uint64_t i = 0; i < shown; i++) {
        if (i > 0) fputs(", ", to);
        print_scalar(to, buffer->scalar, (const uint8_t *)bytes + i * width);
    }
    print_left_out(to, shown, count);
    if (count > 1) fputc(']', to);
}

static void print_base_value(FILE *to, const struct prt_container *c,
                             const struct container_type *base)
{
    if (base->kind == CONTAINER_TYPE_STRUCT)
        fputs(prt_container_text(c, base->name), to);
    else if (base->kind == CONTAINER_TYPE_VECTOR)
        fprintf(to, "%sx%" PRIu64, scalar_name((enum scalar_type)c->types[base->element].scalar),
                base->length);
    else
        fputs(scalar_name((enum scalar_type)base->scalar), to);
}

void prt_type_print(FILE *to, const struct prt_container *c, uint32_t type)
{
    const struct container_type *record = prt_debug_type(c, type);
    if (record == NULL) {
        fputc('?', to);
        return;
    }
    const struct container_type *base = record;
    while (base->kind == CONTAINER_TYPE_ARRAY)
        base = &c->types[base->element];
    print_base_value(to, c, base);
    for (; record != base; record = &c->types[record->element])
        fprintf(to, "[%" PRIu64 "]", record->length);
}
