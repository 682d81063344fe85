/* SPDX-License-Identifier: MIT */
#include "runtime/load/debug_info.h"

#include "lang/scalar.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct container_type *prt_debug_type(const struct prt_container *c, uint32_t type)
{
    return type < c->type_count ? &c->types[type] : NULL;
}

const struct container_place *prt_debug_place(const struct prt_container *c, uint32_t place)
{
    return place < c->place_count ? &c->places[place] : NULL;
}

const struct container_place *prt_debug_origin(const struct prt_container *c, uint32_t origin)
{
    return origin > 0 ? prt_debug_place(c, origin - 1) : NULL;
}

const struct container_kernel *prt_debug_kernel(const struct prt_container *c, uint32_t kernel)
{
    uint32_t first = 0, end = c->kernel_count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (c->kernels[middle].kernel < kernel)
            first = middle + 1;
        else
            end = middle;
    }
    bool found = first < c->kernel_count && c->kernels[first].kernel == kernel;
    return found ? &c->kernels[first] : NULL;
}

const struct container_variable *prt_debug_variable(const struct prt_container *c,
                                                    const struct container_kernel *kernel,
                                                    const char *name)
{
    for (uint32_t i = 0; i < kernel->variable_count; i++) {
        const struct container_variable *variable = &c->variables[kernel->first_variable + i];
        if (strcmp(prt_container_text(c, variable->name), name) == 0) return variable;
    }
    return NULL;
}

/* ---- sources ---- */

bool prt_debug_source_line(const struct prt_container *c, uint32_t source, uint32_t line,
                           const char **text, size_t *length)
{
    if (source >= c->source_count || line == 0) return false;
    const char *at = c->source_texts + c->sources[source].text_offset_bytes;
    const char *end = at + c->sources[source].text_bytes;
    for (uint32_t i = 1; i < line && at < end; i++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        at = feed != NULL ? feed + 1 : end;
    }
    if (at == end) return false;
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    *text = at;
    *length = (size_t)((feed != NULL ? feed : end) - at);
    if (*length > 0 && at[*length - 1] == '\r') --*length;
    return true;
}

/* ---- paths ---- */

void prt_debug_parts_text(const struct prt_container *c, uint32_t type, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    if (type >= c->type_count) return;
    const struct container_type *t = &c->types[type];
    if (t->kind == CONTAINER_TYPE_ARRAY || t->kind == CONTAINER_TYPE_VECTOR)
        snprintf(text, size, "[0] to [%" PRIu64 "]", (uint64_t)t->length - 1);
    uint32_t count = t->kind == CONTAINER_TYPE_STRUCT ? t->member_count : 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = prt_container_text(c, c->members[t->first_member + i].name);
        size_t needed = strlen(name) + sizeof ", , ...";
        bool fits = used + needed <= size;
        int written =
            snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", fits ? name : "...");
        /* uncovered: nothing in this format can fail */
        if (!fits || written < 0) return;
        used += (size_t)written;
    }
}

static enum prt_status follow_member(const struct prt_container *c, struct prt_debug_part *part,
                                     const char **path, struct prt_error *error)
{
    const struct container_type *type = &c->types[part->type];
    if (**path == '.') ++*path;
    int length = (int)strcspn(*path, ".[");
    for (uint32_t i = 0; i < type->member_count; i++) {
        const struct container_member *member = &c->members[type->first_member + i];
        const char *name = prt_container_text(c, member->name);
        if (strlen(name) != (size_t)length || strncmp(name, *path, (size_t)length) != 0) continue;
        part->type = member->type;
        part->offset_bytes += member->offset_bytes;
        *path += length;
        return PRT_OK;
    }
    if (type->kind != CONTAINER_TYPE_STRUCT)
        return prt_error_set(error, PRT_E_INVALID_VALUE, "'.%.*s': it is not a struct", length,
                             *path);
    char fields[DEBUG_PARTS_MAX];
    prt_debug_parts_text(c, part->type, fields, sizeof fields);
    return prt_error_set(error, PRT_E_INVALID_VALUE,
                         "struct '%s' has no field '%.*s': its fields are %s",
                         prt_container_text(c, type->name), length, *path, fields);
}

static enum prt_status follow_index(const struct prt_container *c, struct prt_debug_part *part,
                                    const char **path, struct prt_error *error)
{
    const struct container_type *type = &c->types[part->type];
    const char *digits = *path + 1;
    size_t length = strspn(digits, "0123456789");
    if (length == 0 || length > 18 || digits[length] != ']')
        return prt_error_set(error, PRT_E_INVALID_VALUE, "'%s': an index is [NUMBER]", *path);
    uint64_t index = strtoull(digits, NULL, 10);
    if (type->kind != CONTAINER_TYPE_ARRAY && type->kind != CONTAINER_TYPE_VECTOR)
        return prt_error_set(error, PRT_E_INVALID_VALUE,
                             "'[%" PRIu64 "]': it is neither array nor vector", index);
    if (index >= type->length)
        return prt_error_set(error, PRT_E_INVALID_VALUE, "index %" PRIu64 " is not below %" PRIu64,
                             index, type->length);
    part->type = type->element;
    part->offset_bytes += index * c->types[type->element].width_bytes;
    *path = digits + length + 1;
    return PRT_OK;
}

enum prt_status prt_debug_follow(const struct prt_container *c, uint32_t type, const char *path,
                                 struct prt_debug_part *part, struct prt_error *error)
{
    *part = (struct prt_debug_part){.type = type};
    if (type >= c->type_count)
        return prt_error_set(error, PRT_E_INVALID_VALUE, "its type is not known");
    enum prt_status status = PRT_OK;
    while (*path != '\0' && status == PRT_OK)
        status = *path == '[' ? follow_index(c, part, &path, error)
                              : follow_member(c, part, &path, error);
    return status;
}

/* ---- scalars ---- */

uint64_t prt_debug_scalar_bits(uint32_t scalar, const void *bytes)
{
    uint64_t bits = 0;
    size_t width = scalar_width_bytes((enum scalar_type)scalar);
    memcpy(&bits, bytes, width);
    /* uncovered: every scalar type has bytes */
    if (width == 0 || width >= 8 || !scalar_is_signed((enum scalar_type)scalar)) return bits;
    uint64_t sign = UINT64_C(1) << (8 * width - 1);
    return (bits ^ sign) - sign;
}
