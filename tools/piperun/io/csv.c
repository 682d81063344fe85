/* SPDX-License-Identifier: MIT */
/* csv: a packet a line, its scalars in order (of a struct: its fields) as columns, separated by
 * commas; in C's notation whatever the locale.
 *
 * Read: blanks around the numbers, a carriage return before the newline, and empty lines are
 * allowed; a line is at most LINE_BYTES_MAX long, or 64 bytes for each column; the last newline may
 * be missing.
 *   integers  decimal, with a sign if the type has one, in the range of the type
 *   bool      a number (0 or not), true, false
 *   floats    as strtod reads them: decimal, hexadecimal, inf, nan; to the nearest f32 or f64
 * Written: integers in decimal; bool as 0 or 1; floats with the fewest digits that read back as
 * the same value; nan, inf, -inf. */
#include "tools/piperun/io/io_internal.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES_MAX 1024
#define NUMBER_BYTES_MAX 48
#define COLUMN_BYTES_MAX 64
#define COLUMNS_MAX 900 /* a line fits the reader's buffer */

struct column {
    enum scalar_type scalar;
    size_t offset_bytes; /* in the packet */
};

/* Where the numbers of a line belong. */
struct columns {
    struct column *items; /* owned */
    size_t count;
    size_t units;       /* of what is carried, a packet */
    size_t width_bytes; /* of a packet */
};

struct csv_source {
    struct prt_source base;
    struct columns columns;
    struct prt_io_reader reader;
    locale_t locale; /* "C" */
    uint64_t line;   /* number of the next line, from 1 */
};

struct csv_sink {
    struct prt_sink base;
    struct columns columns;
    locale_t locale;
};

/* --- columns --- */

static void add_columns(struct columns *columns, enum scalar_type scalar, uint64_t offset_bytes,
                        uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        /* There is room for the scalars of a packet.
         * NOLINTNEXTLINE(clang-analyzer-security.ArrayBound) */
        columns->items[columns->count++] =
            (struct column){scalar, (size_t)(offset_bytes + i * scalar_width_bytes(scalar))};
}

static enum prt_status make_columns(struct columns *columns, const char *name,
                                    const struct prt_packet *layout, struct prt_error *error)
{
    uint64_t count = prt_packet_units(layout);
    if (prt_packet_is_record(layout)) {
        count = 0;
        for (uint32_t i = 0; i < layout->field_count; i++)
            count += layout->fields[i].count; /* each at most the packet's bytes */
    }
    if (count > COLUMNS_MAX)
        return prt_error_set(error, PRT_E_USAGE,
                             "%s: a packet of type %s has more than %d numbers: use raw or npy",
                             name, layout->type, COLUMNS_MAX);
    columns->items = calloc((size_t)count + 1, sizeof *columns->items);
    if (columns->items == NULL) return prt_io_no_memory(error);
    columns->units = prt_packet_units(layout);
    columns->width_bytes = (size_t)layout->width_bytes;
    if (!prt_packet_is_record(layout)) {
        add_columns(columns, layout->scalar, 0, count);
        return PRT_OK;
    }
    for (uint32_t i = 0; i < layout->field_count; i++)
        add_columns(columns, layout->fields[i].scalar, layout->fields[i].offset_bytes,
                    layout->fields[i].count);
    return PRT_OK;
}

static size_t line_bytes_max(const struct columns *columns)
{
    return columns->count > 1 ? COLUMN_BYTES_MAX * columns->count : LINE_BYTES_MAX;
}

/* --- one number --- */

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
static bool parse_csv_float(const char *text, enum scalar_type type, void *packet)
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

static bool parse_csv_number(const char *text, enum scalar_type type, void *packet)
{
    if (text[0] == '\0') return false;
    if (type == SCALAR_BOOL) return parse_bool(text, packet);
    return scalar_is_float(type) ? parse_csv_float(text, type, packet)
                                 : parse_integer(text, type, packet);
}

/* --- source --- */

/* Finds the next line in the buffer: `*length` bytes, without the newline if `*has_newline`. */
static enum prt_status find_csv_line(struct csv_source *csv, size_t *length, bool *has_newline,
                                     struct prt_error *error)
{
    struct prt_io_reader *reader = &csv->reader;
    const unsigned char *newline = NULL;
    for (size_t searched = 0;;) {
        size_t available = prt_io_reader_available(reader);
        const unsigned char *bytes = prt_io_reader_bytes(reader);
        newline = memchr(bytes + searched, '\n', available - searched);
        *length = newline != NULL ? (size_t)(newline - bytes) : available;
        *has_newline = newline != NULL;
        if (*length > line_bytes_max(&csv->columns))
            return prt_error_set_at(error, PRT_E_FORMAT, reader->offset,
                                    "%s:%llu: the line at byte %llu is longer than %zu bytes",
                                    reader->name, (unsigned long long)csv->line,
                                    (unsigned long long)reader->offset,
                                    line_bytes_max(&csv->columns));
        if (newline != NULL || reader->at_end) return PRT_OK;
        searched = available;
        enum prt_status status = prt_io_reader_need(reader, available + 1, error);
        if (status != PRT_OK) return status;
    }
}

/* The text without the blanks around it, NUL-terminated, at most LINE_BYTES_MAX.  False if it holds
 * a NUL or is longer: a number cut short would be another one. */
static bool trim_blanks(char *text, const unsigned char *bytes, size_t length)
{
    while (length > 0 && strchr(" \t\r", bytes[length - 1]) != NULL && bytes[length - 1] != 0)
        length--;
    while (length > 0 && (bytes[0] == ' ' || bytes[0] == '\t')) {
        bytes++;
        length--;
    }
    bool whole = length <= LINE_BYTES_MAX;
    if (!whole) length = LINE_BYTES_MAX;
    memcpy(text, bytes, length);
    text[length] = '\0';
    return whole && memchr(text, '\0', length) == NULL;
}

static enum prt_status not_a_number(const struct csv_source *csv, const char *text,
                                    const struct column *column, struct prt_error *error)
{
    const struct prt_io_reader *reader = &csv->reader;
    bool heading = csv->line == 1 && isalpha((unsigned char)text[0]);
    return prt_error_set_at(error, PRT_E_FORMAT, reader->offset,
                            "%s:%llu: '%.40s' at byte %llu is not a number of type %s%s",
                            reader->name, (unsigned long long)csv->line, text,
                            (unsigned long long)reader->offset, scalar_name(column->scalar),
                            heading ? ", and there can be no line of headings" : "");
}

static enum prt_status wrong_columns(const struct csv_source *csv, size_t found,
                                     struct prt_error *error)
{
    const struct prt_io_reader *reader = &csv->reader;
    return prt_error_set_at(error, PRT_E_FORMAT, reader->offset,
                            "%s:%llu: the line at byte %llu has %zu column%s, not %zu%s",
                            reader->name, (unsigned long long)csv->line,
                            (unsigned long long)reader->offset, found, found == 1 ? "" : "s",
                            csv->columns.count, found == 1 ? ": write commas between them" : "");
}

static size_t count_commas(const unsigned char *bytes, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += bytes[i] == ',';
    return count;
}

static enum prt_status read_columns(struct csv_source *csv, const unsigned char *bytes,
                                    size_t length, unsigned char *packet, struct prt_error *error)
{
    const struct columns *columns = &csv->columns;
    char text[LINE_BYTES_MAX + 1];
    memset(packet, 0, columns->width_bytes);
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->items[i];
        bool last = i + 1 == columns->count;
        const unsigned char *comma = memchr(bytes, ',', length);
        size_t part = comma != NULL ? (size_t)(comma - bytes) : length;
        if (last != (comma == NULL))
            return wrong_columns(csv, i + 1 + count_commas(bytes, length), error);
        if (!trim_blanks(text, bytes, part) ||
            !parse_csv_number(text, column->scalar, packet + column->offset_bytes))
            return not_a_number(csv, text, column, error);
        bytes += part + !last;
        length -= part + !last;
    }
    return PRT_OK;
}

static bool is_blank_line(const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] != ' ' && bytes[i] != '\t' && bytes[i] != '\r') return false;
    return true;
}

static enum prt_status read_csv_line(struct csv_source *csv, void *packet, bool *found, bool *ended,
                                     struct prt_error *error)
{
    struct prt_io_reader *reader = &csv->reader;
    size_t length;
    bool has_newline;
    enum prt_status status = find_csv_line(csv, &length, &has_newline, error);
    if (status != PRT_OK) return status;
    const unsigned char *bytes = prt_io_reader_bytes(reader);
    *found = !is_blank_line(bytes, length);
    *ended = !has_newline;
    if (*found) status = read_columns(csv, bytes, length, packet, error);
    if (status != PRT_OK) return status;
    prt_io_reader_consume(reader, length + (has_newline ? 1 : 0));
    csv->line++;
    return PRT_OK;
}

static enum prt_status read_lines(struct csv_source *csv, unsigned char *packets, size_t capacity,
                                  size_t *count, struct prt_error *error)
{
    struct prt_io_reader *reader = &csv->reader;
    const struct columns *columns = &csv->columns;
    unsigned char *next = packets;
    bool ended = false;
    while (capacity - *count >= columns->units && !ended) {
        bool found = false;
        size_t available = prt_io_reader_available(reader);
        if (*count > 0 && !reader->regular &&
            (available == 0 || memchr(prt_io_reader_bytes(reader), '\n', available) == NULL))
            return PRT_OK; /* deliver the packets read so far */
        enum prt_status status = read_csv_line(csv, next, &found, &ended, error);
        if (status != PRT_OK) return status;
        *count += found ? columns->units : 0;
        next += found ? columns->width_bytes : 0;
    }
    return PRT_OK;
}

static enum prt_status csv_read(struct prt_source *source, void *packets, size_t capacity,
                                size_t *count, struct prt_error *error)
{
    struct csv_source *csv = (struct csv_source *)source;
    locale_t before = uselocale(csv->locale);
    enum prt_status status = read_lines(csv, packets, capacity, count, error);
    (void)uselocale(before);
    return status;
}

static void csv_close(struct prt_source *source)
{
    struct csv_source *csv = (struct csv_source *)source;
    prt_io_reader_close(&csv->reader);
    /* uncovered: as in prt_csv_source_open */
    if (csv->locale != (locale_t)0) freelocale(csv->locale);
    free(csv->columns.items);
    free(source);
}

static const struct prt_source_ops csv_source_ops = {csv_read, csv_close};

enum prt_status prt_csv_source_open(const struct prt_port_spec *spec,
                                    const struct prt_packet *layout,
                                    const struct prt_io_environment *environment,
                                    struct prt_source **source, struct prt_error *error)
{
    enum scalar_type packet = layout->scalar;
    struct prt_source *made =
        prt_source_make(sizeof(struct csv_source), &csv_source_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    struct csv_source *csv = (struct csv_source *)made;
    made->reader = &csv->reader;
    csv->line = 1;
    csv->locale = newlocale(LC_ALL_MASK, "C",
                            (locale_t)0); /* equivalent: of all categories, no base is read */
    /* uncovered: the C library has the locale "C" at hand, without allocating */
    enum prt_status status = csv->locale == (locale_t)0
                                 ? prt_io_no_memory(error)
                                 : make_columns(&csv->columns, spec->path, layout, error);
    if (status == PRT_OK) status = prt_io_reader_open(&csv->reader, spec->path, environment, error);
    if (status != PRT_OK) {
        csv_close(made);
        return status;
    }
    *source = made;
    return PRT_OK;
}

/* --- sink --- */

/* Prints the fewest digits that read back as the same value: at most 9 for f32, 17 for f64, 5 for the 16-bit floats. */
static int print_f32(char *text, float value)
{
    int length;
    int digits = 5;
    do {
        digits++;
        assert(digits <= 9);
        length = snprintf(text, NUMBER_BYTES_MAX, "%.*g", digits, (double)value);
    } while (strtof(text, NULL) != value);
    return length;
}

static int print_f64(char *text, double value)
{
    int length;
    int digits = 14;
    do {
        digits++;
        assert(digits <= 17);
        length = snprintf(text, NUMBER_BYTES_MAX, "%.*g", digits, value);
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
    if (isnan(value)) return snprintf(text, NUMBER_BYTES_MAX, "nan");
    do {
        digits++;
        assert(digits <= 5);
        length = snprintf(text, NUMBER_BYTES_MAX, "%.*g", digits, value);
        back = strtod(text, NULL);
        (void)prt_io_convert(half, type, &back, SCALAR_F64, 1);
    } while (memcmp(half, packet, sizeof half) != 0);
    return length;
}

static int print_csv_number(char *text, enum scalar_type type, const unsigned char *packet)
{
    int64_t number = 0;
    double value = 0;
    if (type == SCALAR_F16 || type == SCALAR_BF16) return print_half(text, type, packet);
    if (type == SCALAR_F32) {
        float narrow;
        memcpy(&narrow, packet, sizeof narrow);
        if (!isnan(narrow)) return print_f32(text, narrow);
        return snprintf(text, NUMBER_BYTES_MAX, "nan");
    }
    if (type == SCALAR_F64) {
        memcpy(&value, packet, sizeof value);
        if (!isnan(value)) return print_f64(text, value);
        return snprintf(text, NUMBER_BYTES_MAX, "nan");
    }
    if (scalar_is_signed(type)) {
        (void)prt_io_convert(&number, SCALAR_I64, packet, type, 1);
        return snprintf(text, NUMBER_BYTES_MAX, "%" PRId64, number);
    }
    uint64_t positive = 0;
    (void)prt_io_convert(&positive, SCALAR_U64, packet, type, 1);
    return snprintf(text, NUMBER_BYTES_MAX, "%" PRIu64, positive);
}

static enum prt_status write_line(struct prt_sink *sink, const unsigned char *packet,
                                  struct prt_error *error)
{
    const struct columns *columns = &((struct csv_sink *)sink)->columns;
    enum prt_status status = PRT_OK;
    for (size_t i = 0; i < columns->count && status == PRT_OK; i++) {
        const struct column *column = &columns->items[i];
        char text[NUMBER_BYTES_MAX + 1];
        int length = print_csv_number(text, column->scalar, packet + column->offset_bytes);
        assert(length > 0 && length < NUMBER_BYTES_MAX);
        text[length] = i + 1 < columns->count ? ',' : '\n';
        status = prt_io_writer_put(&sink->writer, text, (size_t)length + 1, error);
    }
    return status;
}

static enum prt_status csv_write(struct prt_sink *sink, const void *packets, size_t count,
                                 struct prt_error *error)
{
    const struct columns *columns = &((struct csv_sink *)sink)->columns;
    locale_t before = uselocale(((struct csv_sink *)sink)->locale);
    enum prt_status status = PRT_OK;
    for (size_t i = 0; i < count / columns->units && status == PRT_OK; i++)
        status = write_line(sink, (const unsigned char *)packets + i * columns->width_bytes, error);
    (void)uselocale(before);
    return status;
}

static void csv_release(struct prt_sink *sink)
{
    freelocale(((struct csv_sink *)sink)->locale);
    free(((struct csv_sink *)sink)->columns.items);
}

static const struct prt_sink_ops csv_sink_ops = {csv_write, NULL, csv_release};

enum prt_status prt_csv_sink_open(const struct prt_port_spec *spec, const struct prt_packet *layout,
                                  const struct prt_io_environment *environment,
                                  struct prt_sink **sink, struct prt_error *error)
{
    enum scalar_type packet = layout->scalar;
    struct prt_sink *made = prt_sink_make(sizeof(struct csv_sink), &csv_sink_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    locale_t locale = newlocale(LC_ALL_MASK, "C",
                                (locale_t)0); /* equivalent: of all categories, no base is read */
    struct columns *columns = &((struct csv_sink *)made)->columns;
    /* uncovered: the C library has the locale "C" at hand, without allocating */
    enum prt_status status = locale == (locale_t)0
                                 ? prt_io_no_memory(error)
                                 : make_columns(columns, spec->path, layout, error);
    if (status == PRT_OK)
        status = prt_io_writer_open(&made->writer, spec->path, false, environment, error);
    if (status != PRT_OK) {
        if (locale != (locale_t)0) freelocale(locale); /* uncovered: as above */
        free(columns->items);
        free(made);
        return status;
    }
    ((struct csv_sink *)made)->locale = locale;
    *sink = made;
    return PRT_OK;
}
