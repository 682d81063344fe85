/* SPDX-License-Identifier: MIT */
#include "runtime/host/pipert_arguments.h"

#include "base/plural.h"
#include "lang/input_property.h"
#include "lang/scalar_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t argument_width(const struct container_argument *a)
{
    return scalar_width_bytes((enum scalar_type)a->scalar);
}

enum prt_status prt_arguments_create(const struct prt_container *c, struct prt_arguments *arguments,
                                     struct prt_error *error)
{
    arguments->block = calloc(1, (size_t)c->pipeline->arguments_bytes + 8);
    arguments->origins = calloc((size_t)c->argument_count + 1, sizeof *arguments->origins);
    if (arguments->block == NULL || arguments->origins == NULL)
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    memcpy(arguments->block, c->defaults, (size_t)c->pipeline->arguments_bytes);
    for (uint32_t i = 0; i < c->argument_count; i++)
        if (c->arguments[i].has_default) arguments->origins[i] = PRT_ARGUMENT_DEFAULT;
    return PRT_OK;
}

void prt_arguments_free(struct prt_arguments *arguments)
{
    free(arguments->block);
    free(arguments->origins);
    *arguments = (struct prt_arguments){.block = NULL};
}

/* The number of the argument with that name.  False: reported. */
static bool find_container_argument(const struct prt_container *c, const char *name,
                                    uint32_t *number, struct prt_error *error)
{
    for (uint32_t i = 0; i < c->argument_count; i++) {
        if (strcmp(prt_container_text(c, c->arguments[i].name), name) != 0) continue;
        *number = i;
        return true;
    }
    (void)prt_error_set(error, PRT_E_USAGE, "pipeline '%s' has no argument '%s'",
                        prt_container_text(c, c->pipeline->name), name);
    return false;
}

enum prt_status prt_arguments_set(const struct prt_container *c, struct prt_arguments *arguments,
                                  const char *name, const char *text, struct prt_error *error)
{
    uint32_t number;
    char why[SCALAR_WHY_BYTES + 32];
    if (!find_container_argument(c, name, &number, error)) return PRT_E_USAGE;
    const struct container_argument *a = &c->arguments[number];
    uint64_t *bits = calloc((size_t)a->count, sizeof *bits);
    if (bits == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    bool good =
        scalar_list_parse(text, (enum scalar_type)a->scalar, a->count, bits, why, sizeof why);
    for (uint64_t i = 0; good && i < a->count; i++)
        memcpy(arguments->block + a->offset_bytes + i * argument_width(a), &bits[i],
               argument_width(a));
    free(bits);
    if (!good && a->count > 1)
        return prt_error_set(error, PRT_E_USAGE, "argument '%s' (%s): %s", name,
                             prt_container_text(c, a->type_text), why);
    if (!good) return prt_error_set(error, PRT_E_USAGE, "argument '%s': %s", name, why);
    arguments->origins[number] = PRT_ARGUMENT_GIVEN;
    return PRT_OK;
}

enum prt_status prt_arguments_set_values(const struct prt_container *c,
                                         struct prt_arguments *arguments, const char *name,
                                         enum scalar_type type, const void *values, size_t count,
                                         struct prt_error *error)
{
    uint32_t number;
    if (!find_container_argument(c, name, &number, error)) return PRT_E_USAGE;
    const struct container_argument *a = &c->arguments[number];
    const char *wanted = prt_container_text(c, a->type_text);
    if (type != (enum scalar_type)a->scalar)
        return prt_error_set(error, PRT_E_USAGE, "argument '%s' is %s, and the values are %s", name,
                             wanted, scalar_name(type));
    if (values == NULL || count != a->count)
        return prt_error_set(error, PRT_E_USAGE,
                             "argument '%s' (%s) takes %" PRIu64 " value%s, not %zu", name, wanted,
                             a->count, plural(a->count), values == NULL ? 0 : count);
    for (size_t i = 0; type == SCALAR_BOOL && i < count; i++)
        if (((const uint8_t *)values)[i] > 1)
            return prt_error_set(error, PRT_E_USAGE,
                                 "argument '%s': value %zu of %zu is %u, and a bool is 0 or 1",
                                 name, i + 1, count, ((const uint8_t *)values)[i]);
    memcpy(arguments->block + a->offset_bytes, values, count * argument_width(a));
    arguments->origins[number] = PRT_ARGUMENT_GIVEN;
    return PRT_OK;
}

uint32_t prt_input_property(const struct prt_input_properties *properties,
                            enum prt_property property)
{
    switch (property) {
    case PRT_PROPERTY_RATE: return properties->rate_hertz;
    case PRT_PROPERTY_WIDTH: return properties->width;
    case PRT_PROPERTY_HEIGHT: return properties->height;
    case PRT_PROPERTY_CHANNELS: return properties->channels;
    case PRT_PROPERTY_NONE: break;
    }
    return 0;
}

/* False: the type of the argument does not hold the number exactly. */
static bool store_property(const struct container_argument *a, uint32_t value, uint8_t *to)
{
    char text[16];
    uint64_t bits = 0;
    snprintf(text, sizeof text, "%" PRIu32, value);
    if (!scalar_parse(text, (enum scalar_type)a->scalar, &bits)) return false;
    memcpy(to, &bits, argument_width(a));
    char back[64];
    scalar_format((enum scalar_type)a->scalar, bits, back, sizeof back);
    return strtod(back, NULL) == (double)value;
}

enum prt_status prt_arguments_tell(const struct prt_container *c, struct prt_arguments *arguments,
                                   uint32_t buffer, const struct prt_input_properties *properties,
                                   struct prt_error *error)
{
    for (uint32_t i = 0; i < c->argument_count; i++) {
        const struct container_argument *a = &c->arguments[i];
        bool open = arguments->origins[i] != PRT_ARGUMENT_GIVEN;
        if (a->property == CONTAINER_PROPERTY_NONE || a->buffer != buffer || !open) continue;
        uint32_t value = prt_input_property(properties, (enum prt_property)a->property);
        uint8_t bytes[8];
        if (value == 0) continue;
        if (!store_property(a, value, bytes))
            return prt_error_set(
                error, PRT_E_USAGE,
                "argument '%s' is %s, which cannot be %" PRIu32 ", the %s of the input of '%s'",
                prt_container_text(c, a->name), prt_container_text(c, a->type_text), value,
                input_property_name(a->property), prt_container_text(c, c->buffers[buffer].name));
        memcpy(arguments->block + a->offset_bytes, bytes, argument_width(a));
        arguments->origins[i] = PRT_ARGUMENT_FROM_INPUT;
    }
    return PRT_OK;
}

enum prt_status prt_arguments_check(const struct prt_container *c,
                                    const struct prt_arguments *arguments, struct prt_error *error)
{
    for (uint32_t i = 0; i < c->argument_count; i++) {
        const struct container_argument *a = &c->arguments[i];
        if (arguments->origins[i] != PRT_ARGUMENT_UNSET) continue;
        if (a->property == CONTAINER_PROPERTY_NONE)
            return prt_error_set(error, PRT_E_USAGE, "argument '%s' has no value",
                                 prt_container_text(c, a->name));
        return prt_error_set(
            error, PRT_E_USAGE, "argument '%s' has no value: the input of '%s' knows no %s",
            prt_container_text(c, a->name), prt_container_text(c, c->buffers[a->buffer].name),
            input_property_name(a->property));
    }
    return PRT_OK;
}
