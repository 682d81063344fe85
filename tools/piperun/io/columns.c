/* SPDX-License-Identifier: MIT */
#include "tools/piperun/io/columns.h"

#include "tools/piperun/io/io_internal.h"
#include "tools/piperun/io/timestamp.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_columns(struct prt_columns *columns, enum scalar_type scalar, uint64_t offset_bytes,
                        uint64_t count, const struct prt_field_information *field)
{
    for (uint64_t i = 0; i < count; i++)
        /* There is room for the scalars of a packet.
         * NOLINTNEXTLINE(clang-analyzer-security.ArrayBound) */
        columns->items[columns->count++] = (struct prt_column){
            scalar, (size_t)(offset_bytes + i * scalar_width_bytes(scalar)), field, i};
}

void prt_columns_free(struct prt_columns *columns)
{
    /* uncovered: as in prt_columns_make */
    if (columns->locale != (locale_t)0) freelocale(columns->locale);
    free(columns->items);
    *columns = (struct prt_columns){.count = 0};
}

enum prt_status prt_columns_make(struct prt_columns *columns, const char *name,
                                 const struct prt_packet *layout, struct prt_error *error)
{
    uint64_t count = layout->field_count == 0 ? prt_packet_units(layout) : 0;
    for (uint32_t i = 0; i < layout->field_count; i++)
        count += layout->fields[i].count; /* each at most the packet's bytes */
    if (count > PRT_COLUMNS_MAX)
        return prt_error_set(error, PRT_E_USAGE,
                             "%s: a packet of type %s has more than %d numbers: use raw or npy",
                             name, layout->type, PRT_COLUMNS_MAX);
    columns->items = calloc((size_t)count + 1, sizeof *columns->items);
    columns->locale = newlocale(LC_ALL_MASK, "C",
                                (locale_t)0); /* equivalent: of all categories, no base is read */
    /* uncovered: the C library has the locale "C" at hand, without allocating */
    if (columns->items == NULL || columns->locale == (locale_t)0) {
        prt_columns_free(columns);
        return prt_io_no_memory(error);
    }
    columns->units = prt_packet_units(layout);
    columns->width_bytes = (size_t)layout->width_bytes;
    if (layout->field_count == 0) add_columns(columns, layout->scalar, 0, count, NULL);
    for (uint32_t i = 0; i < layout->field_count; i++)
        add_columns(columns, layout->fields[i].scalar, layout->fields[i].offset_bytes,
                    layout->fields[i].count, &layout->fields[i]);
    return PRT_OK;
}

void prt_column_name(const struct prt_columns *columns, size_t index, const char *port,
                     char name[PRT_COLUMN_NAME_BYTES])
{
    const struct prt_column *column = &columns->items[index];
    const struct prt_field_information *field = column->field;
    const char *shape = field != NULL ? field->shape : "";
    bool named = field != NULL && field->name[0] != '\0';
    uint64_t inside = field != NULL ? field->count : columns->count, rest = column->part;
    int used = snprintf(name, PRT_COLUMN_NAME_BYTES, "%s", named ? field->name : port);
    if (inside < 2) return;
    while (inside > 0 && used > 0 && used < PRT_COLUMN_NAME_BYTES) {
        char *end;
        uint64_t extent = strtoull(shape, &end, 10);
        inside = extent > 0 ? inside / extent : 1;
        if (inside == 0) inside = 1;
        used += snprintf(name + used, (size_t)(PRT_COLUMN_NAME_BYTES - used), "[%" PRIu64 "]",
                         rest / inside);
        rest %= inside;
        shape = *end == ',' ? end + 1 : end;
        if (*end != ',') return;
    }
}

/* --- from text --- */

/* Limits of the integer types, as the widest of each kind. */
static int64_t signed_highest(size_t width_bytes)
{
    return (int64_t)(UINT64_MAX >> (65 - 8 * (unsigned)width_bytes));
}

static uint64_t unsigned_highest(size_t width_bytes)
{
    return UINT64_MAX >> (64 - 8 * (unsigned)width_bytes);
}

/* Parses all of `text` as the type; false if it is no such number or out of range. */
static bool parse_integer(const char *text, enum scalar_type type, void *packet)
{
    size_t width = scalar_width_bytes(type);
    char *end;
    errno = 0;
    if (scalar_is_signed(type)) {
        int64_t value = strtoimax(text, &end, 10);
        if (errno != 0 || *end != '\0' || value > signed_highest(width) ||
            value < -signed_highest(width) - 1)
            return false;
        memcpy(packet, &value, width);
        return true;
    }
    uint64_t value = strtoumax(text, &end, 10);
    if (errno != 0 || *end != '\0' || value > unsigned_highest(width)) return false;
    if (text[0] == '-' && value != 0) /* strtoumax would wrap */
        return false;
    memcpy(packet, &value, width);
    return true;
}

/* Range errors of strtod are no errors: the value is then infinite, or tiny. */
static bool parse_any_float(const char *text, enum scalar_type type, void *packet)
{
    char *end;
    if (type == SCALAR_F32) {
        float value = strtof(text, &end);
        memcpy(packet, &value, sizeof value);
    } else {
        double value = strtod(text, &end);
        (void)prt_io_convert(packet, type, &value, SCALAR_F64, 1);
    }
    return *end == '\0';
}

static bool parse_bool(const char *text, void *packet)
{
    char *end;
    bool value = strcmp(text, "true") == 0;
    if (!value && strcmp(text, "false") != 0) {
        value = strtod(text, &end) != 0;
        if (*end != '\0') return false;
    }
    *(unsigned char *)packet = value;
    return true;
}

bool prt_number_parse(const char *text, enum scalar_type type, void *packet)
{
    if (text[0] == '\0') return false;
    if (type == SCALAR_BOOL) return parse_bool(text, packet);
    bool is_number = scalar_is_float(type) ? parse_any_float(text, type, packet)
                                           : parse_integer(text, type, packet);
    return is_number || prt_timestamp_parse(text, type, packet);
}

/* --- to text --- */

/* Prints the fewest digits that read back as the same value, by way of an f64, too: at most 9 for f32, 17 for f64, 5 for
 * the 16-bit floats. */
static int print_f32(char *text, float value)
{
    int length;
    int digits = 5;
    do {
        digits++;
        assert(digits <= 9);
        length = snprintf(text, PRT_NUMBER_BYTES, "%.*g", digits, (double)value);
    } while (strtof(text, NULL) != value || (float)strtod(text, NULL) != value);
    return length;
}

static int print_f64(char *text, double value)
{
    int length;
    int digits = 14;
    do {
        digits++;
        assert(digits <= 17);
        length = snprintf(text, PRT_NUMBER_BYTES, "%.*g", digits, value);
    } while (strtod(text, NULL) != value);
    return length;
}

static int print_half(char *text, enum scalar_type type, const unsigned char *packet)
{
    int length;
    int digits = 0;
    unsigned char half[2];
    double value, back;
    (void)prt_io_convert(&value, SCALAR_F64, packet, type, 1);
    if (isnan(value)) return snprintf(text, PRT_NUMBER_BYTES, "nan");
    do {
        digits++;
        assert(digits <= 5);
        length = snprintf(text, PRT_NUMBER_BYTES, "%.*g", digits, value);
        back = strtod(text, NULL);
        (void)prt_io_convert(half, type, &back, SCALAR_F64, 1);
    } while (memcmp(half, packet, sizeof half) != 0);
    return length;
}

int prt_number_print(char *text, enum scalar_type type, const unsigned char *packet)
{
    int64_t number = 0;
    double value = 0;
    if (type == SCALAR_F16 || type == SCALAR_BF16) return print_half(text, type, packet);
    if (type == SCALAR_F32) {
        float narrow;
        memcpy(&narrow, packet, sizeof narrow);
        if (!isnan(narrow)) return print_f32(text, narrow);
        return snprintf(text, PRT_NUMBER_BYTES, "nan");
    }
    if (type == SCALAR_F64) {
        memcpy(&value, packet, sizeof value);
        if (!isnan(value)) return print_f64(text, value);
        return snprintf(text, PRT_NUMBER_BYTES, "nan");
    }
    if (scalar_is_signed(type)) {
        (void)prt_io_convert(&number, SCALAR_I64, packet, type, 1);
        return snprintf(text, PRT_NUMBER_BYTES, "%" PRId64, number);
    }
    uint64_t positive = 0;
    (void)prt_io_convert(&positive, SCALAR_U64, packet, type, 1);
    return snprintf(text, PRT_NUMBER_BYTES, "%" PRIu64, positive);
}
