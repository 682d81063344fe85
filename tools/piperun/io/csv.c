/* SPDX-License-Identifier: MIT */
/* csv: a packet a line, its scalars in order (of a struct: its fields) as columns, separated by commas or separator=; in
 * C's notation whatever the locale.
 *
 * Read: blanks around the numbers, a carriage return before the newline, and empty lines are allowed; a line is at most
 * LINE_BYTES_MAX long, or 64 bytes for each column; the last newline may be missing.
 *   integers  decimal, with a sign if the type has one, in the range of the type
 *   bool      a number (0 or not), true, false
 *   floats    as strtod reads them: decimal, hexadecimal, inf, nan; to the nearest f32 or f64
 *   times     by RFC 3339 (timestamp.h): nanoseconds for i64 and u64, seconds for f64
 *   in quotes any of these, by RFC 4180
 *   nothing   an error, or missing=
 * With `headings` the first line has the names of columns.  Those of the packet are found by name, and others are left
 * out: these may have quotes with line feeds, and a line may fill the reader's buffer.
 * Written: integers in decimal; bool as 0 or 1; floats with the fewest digits that read back as
 * the same value; nan, inf, -inf. */
#include "tools/piperun/io/io_internal.h"
#include "tools/piperun/io/timestamp.h"

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
    size_t offset_bytes;                       /* in the packet */
    const struct prt_field_information *field; /* that it is a part of, or NULL */
    uint64_t part;                             /* number of the scalar in the field */
};

enum { NAME_BYTES = 256, COLUMN_LEFT_OUT = UINT16_MAX };
_Static_assert(COLUMNS_MAX < COLUMN_LEFT_OUT, "numbers of columns");

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
    char separator;
    char comment;        /* 0: there are no comments */
    char *port;          /* owned; for names of columns */
    char *missing;       /* owned; what an empty field stands for, or NULL */
    bool wants_headings; /* the line with the names has not come yet */
    uint16_t *order;     /* owned; the column that each one of the file is; NULL: all in order */
    size_t file_columns; /* columns of the file */
};

/* One field of a line. */
struct csv_field {
    size_t begin; /* of its text, in the line */
    bool quoted;
    size_t length; /* of the text inside of the quotes, or without the blanks around it */
};

struct csv_sink {
    struct prt_sink base;
    struct columns columns;
    locale_t locale;
    char separator;
};

/* --- columns --- */

static void add_columns(struct columns *columns, enum scalar_type scalar, uint64_t offset_bytes,
                        uint64_t count, const struct prt_field_information *field)
{
    for (uint64_t i = 0; i < count; i++)
        /* There is room for the scalars of a packet.
         * NOLINTNEXTLINE(clang-analyzer-security.ArrayBound) */
        columns->items[columns->count++] = (struct column){
            scalar, (size_t)(offset_bytes + i * scalar_width_bytes(scalar)), field, i};
}

static enum prt_status make_columns(struct columns *columns, const char *name,
                                    const struct prt_packet *layout, struct prt_error *error)
{
    uint64_t count = layout->field_count == 0 ? prt_packet_units(layout) : 0;
    for (uint32_t i = 0; i < layout->field_count; i++)
        count += layout->fields[i].count; /* each at most the packet's bytes */
    if (count > COLUMNS_MAX)
        return prt_error_set(error, PRT_E_USAGE,
                             "%s: a packet of type %s has more than %d numbers: use raw or npy",
                             name, layout->type, COLUMNS_MAX);
    columns->items = calloc((size_t)count + 1, sizeof *columns->items);
    if (columns->items == NULL) return prt_io_no_memory(error);
    columns->units = prt_packet_units(layout);
    columns->width_bytes = (size_t)layout->width_bytes;
    if (layout->field_count == 0) add_columns(columns, layout->scalar, 0, count, NULL);
    for (uint32_t i = 0; i < layout->field_count; i++)
        add_columns(columns, layout->fields[i].scalar, layout->fields[i].offset_bytes,
                    layout->fields[i].count, &layout->fields[i]);
    return PRT_OK;
}

/* The name of a column: that of its field, of a packet without names that of the port; with the indices of a part. */
static void column_name(const struct columns *columns, size_t index, const char *port,
                        char name[NAME_BYTES])
{
    const struct column *column = &columns->items[index];
    const struct prt_field_information *field = column->field;
    const char *shape = field != NULL ? field->shape : "";
    bool named = field != NULL && field->name[0] != '\0';
    uint64_t inside = field != NULL ? field->count : columns->count, rest = column->part;
    int used = snprintf(name, NAME_BYTES, "%s", named ? field->name : port);
    if (inside < 2) return;
    while (inside > 0 && used > 0 && used < NAME_BYTES) {
        char *end;
        uint64_t extent = strtoull(shape, &end, 10);
        inside = extent > 0 ? inside / extent : 1;
        if (inside == 0) inside = 1;
        used += snprintf(name + used, (size_t)(NAME_BYTES - used), "[%" PRIu64 "]", rest / inside);
        rest %= inside;
        shape = *end == ',' ? end + 1 : end;
        if (*end != ',') return;
    }
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
    bool is_number = scalar_is_float(type) ? parse_csv_float(text, type, packet)
                                           : parse_integer(text, type, packet);
    return is_number || prt_timestamp_parse(text, type, packet);
}

/* --- source --- */

/* The longest line: with headings it has columns of any text. */
static size_t source_line_max(const struct csv_source *csv)
{
    bool headed = csv->wants_headings || csv->order != NULL;
    return headed ? PRT_IO_BUFFER_BYTES - 1 : line_bytes_max(&csv->columns);
}

/* The beginning of a line, read once. */
struct quote_scan {
    size_t scanned;
    bool quoted; /* the bytes so far end inside of quotes */
    bool fresh;  /* only blanks since the separator: quotes would begin here */
};

static bool ends_in_quotes(const struct csv_source *csv, const unsigned char *bytes, size_t length,
                           struct quote_scan *scan)
{
    if (scan->scanned == 0 && memchr(bytes, '"', length) == NULL) return false;
    for (; scan->scanned < length; scan->scanned++) {
        unsigned char byte = bytes[scan->scanned];
        bool quote = byte == '"' && (scan->fresh || scan->quoted);
        bool blank = byte == ' ' || byte == '\t';
        if (quote) scan->quoted = !scan->quoted; /* two of them in quotes: out, and in again */
        scan->fresh = !scan->quoted &&
                      (byte == (unsigned char)csv->separator || quote || (blank && scan->fresh));
    }
    return scan->quoted;
}

static bool is_comment_line(const struct csv_source *csv, const unsigned char *bytes, size_t length)
{
    while (length > 0 && (*bytes == ' ' || *bytes == '\t')) {
        bytes++;
        length--;
    }
    return csv->comment != '\0' && length > 0 && *bytes == (unsigned char)csv->comment;
}

/* Finds the next line in the buffer: `*length` bytes, without the newline if `*has_newline`.  Line feeds in quotes do not
 * end it. */
static enum prt_status find_csv_line(struct csv_source *csv, size_t *length, bool *has_newline,
                                     struct prt_error *error)
{
    struct prt_io_reader *reader = &csv->reader;
    const unsigned char *newline = NULL;
    struct quote_scan scan = {.fresh = true};
    for (size_t searched = 0;;) {
        size_t available = prt_io_reader_available(reader);
        const unsigned char *bytes = prt_io_reader_bytes(reader);
        newline = memchr(bytes + searched, '\n', available - searched);
        *length = newline != NULL ? (size_t)(newline - bytes) : available;
        *has_newline = newline != NULL;
        if (*length > source_line_max(csv))
            return prt_error_set_at(error, PRT_E_FORMAT, reader->offset,
                                    "%s:%llu: the line at byte %llu is longer than %zu bytes",
                                    reader->name, (unsigned long long)csv->line,
                                    (unsigned long long)reader->offset, source_line_max(csv));
        if (newline != NULL && !is_comment_line(csv, bytes, *length) &&
            ends_in_quotes(csv, bytes, *length, &scan)) {
            searched = *length + 1;
            continue;
        }
        if (newline != NULL || reader->at_end) return PRT_OK;
        searched = available;
        enum prt_status status = prt_io_reader_need(reader, available + 1, error);
        if (status != PRT_OK) return status;
    }
}

/* Where a byte of the line at hand is. */
struct csv_place {
    unsigned long long line, column; /* each from 1 */
};

static struct csv_place csv_place_of(const struct csv_source *csv, size_t at)
{
    const unsigned char *bytes = prt_io_reader_bytes(&csv->reader);
    struct csv_place place = {csv->line, 1};
    for (size_t i = 0; i < at; i++) {
        place.column = bytes[i] == '\n' ? 1 : place.column + 1;
        place.line += bytes[i] == '\n';
    }
    return place;
}

#define CSV_REFUSE(csv, at, error, format, ...)                                                    \
    prt_error_set_at((error), PRT_E_FORMAT, (csv)->reader.offset + (at), "%s:%llu:%llu: " format,  \
                     (csv)->reader.name, csv_place_of((csv), (at)).line,                           \
                     csv_place_of((csv), (at)).column __VA_OPT__(, ) __VA_ARGS__)

/* Cuts the field at `*at` off the line, and the separator: then `*at` is that of the next one, or length + 1. */
static enum prt_status cut_field(const struct csv_source *csv, const unsigned char *bytes,
                                 size_t length, size_t *at, struct csv_field *field,
                                 struct prt_error *error)
{
    size_t begin = *at, end;
    unsigned char separator = (unsigned char)csv->separator;
    while (begin < length && (bytes[begin] == ' ' || bytes[begin] == '\t') &&
           bytes[begin] != separator)
        begin++;
    *field = (struct csv_field){.begin = begin, .quoted = begin < length && bytes[begin] == '"'};
    if (!field->quoted) {
        const unsigned char *found = memchr(bytes + begin, separator, length - begin);
        end = found != NULL ? (size_t)(found - bytes) : length;
        *at = end + 1;
        while (end > begin && strchr(" \t\r", bytes[end - 1]) != NULL && bytes[end - 1] != 0)
            end--;
        field->length = end - begin;
        return PRT_OK;
    }
    field->begin = ++begin;
    for (end = begin; end < length; end++) {
        if (bytes[end] != '"') continue;
        if (end + 1 >= length || bytes[end + 1] != '"') break;
        end++;
    }
    if (end >= length)
        return CSV_REFUSE(csv, begin - 1, error, "the quotes that begin here have no end");
    field->length = end++ - begin;
    while (end < length && strchr(" \t\r", bytes[end]) != NULL && bytes[end] != 0 &&
           bytes[end] != separator)
        end++;
    if (end < length && bytes[end] != separator)
        return CSV_REFUSE(csv, end, error, "a separator is missing after the quotes");
    *at = end + 1;
    return PRT_OK;
}

/* The field's text, NUL-terminated, with single quotes for double ones; at most `size` - 1 bytes.  False if it holds a NUL
 * or is longer: a number cut short would be another one. */
static bool csv_field_text(const unsigned char *bytes, struct csv_field field, char *text,
                           size_t size)
{
    size_t used = 0, i = 0;
    for (; i < field.length && used + 1 < size; i++) {
        text[used++] = (char)bytes[field.begin + i];
        if (field.quoted && bytes[field.begin + i] == '"') i++;
    }
    text[used] = '\0';
    return i >= field.length && memchr(text, '\0', used) == NULL;
}

static enum prt_status not_a_number(const struct csv_source *csv, size_t at, const char *text,
                                    const struct column *column, struct prt_error *error)
{
    bool heading = csv->line == 1 && isalpha((unsigned char)text[0]);
    return CSV_REFUSE(csv, at, error, "'%.40s' is not a number of type %s%s", text,
                      scalar_name(column->scalar),
                      heading ? "; if this is a line of headings, add 'headings'" : "");
}

/* A field without a number. */
static enum prt_status fill_missing(const struct csv_source *csv, size_t at,
                                    const struct column *column, unsigned char *packet,
                                    struct prt_error *error)
{
    const char *type = scalar_name(column->scalar);
    if (csv->missing == NULL)
        return CSV_REFUSE(csv, at, error,
                          "a number of type %s is missing; missing=VALUE would fill it in", type);
    if (!parse_csv_number(csv->missing, column->scalar, packet + column->offset_bytes))
        return CSV_REFUSE(csv, at, error,
                          "a number is missing, and '%s' of missing= is not one of type %s",
                          csv->missing, type);
    return PRT_OK;
}

static enum prt_status wrong_columns(const struct csv_source *csv, size_t at, size_t found,
                                     struct prt_error *error)
{
    size_t wanted = csv->order != NULL ? csv->file_columns : csv->columns.count;
    return CSV_REFUSE(csv, at, error, "the line has %zu column%s, not %zu%s", found,
                      found == 1 ? "" : "s", wanted,
                      found == 1 && csv->separator == ',' ? ": write commas between them" : "");
}

/* Cuts the fields from `*at` on; returns their number in `*count`. */
static enum prt_status count_fields(const struct csv_source *csv, const unsigned char *bytes,
                                    size_t length, size_t at, size_t *count,
                                    struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    for (*count = 0; at <= length && status == PRT_OK; (*count)++) {
        struct csv_field field;
        status = cut_field(csv, bytes, length, &at, &field, error);
    }
    return status;
}

static enum prt_status read_columns(struct csv_source *csv, const unsigned char *bytes,
                                    size_t length, unsigned char *packet, struct prt_error *error)
{
    const struct columns *columns = &csv->columns;
    size_t wanted = csv->order != NULL ? csv->file_columns : columns->count, at = 0, count;
    char text[LINE_BYTES_MAX + 1];
    memset(packet, 0, columns->width_bytes);
    for (size_t i = 0; i < wanted; i++) {
        struct csv_field field;
        size_t begin = at, index = csv->order != NULL ? csv->order[i] : i;
        enum prt_status status = cut_field(csv, bytes, length, &at, &field, error);
        if (status != PRT_OK) return status;
        if ((i + 1 == wanted) != (at > length)) {
            size_t surplus = at > length ? length : at;
            status = count_fields(csv, bytes, length, at, &count, error);
            return status == PRT_OK ? wrong_columns(csv, surplus, i + 1 + count, error) : status;
        }
        if (index == COLUMN_LEFT_OUT) continue;
        const struct column *column = &columns->items[index];
        bool whole = csv_field_text(bytes, field, text, sizeof text);
        if (field.length == 0)
            status = fill_missing(csv, begin, column, packet, error);
        else if (!whole || !parse_csv_number(text, column->scalar, packet + column->offset_bytes))
            status = not_a_number(csv, field.begin, text, column, error);
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

/* The column of that name; COLUMN_LEFT_OUT: there is none. */
static uint16_t find_column(const struct csv_source *csv, const char *wanted)
{
    char name[NAME_BYTES];
    for (size_t i = 0; i < csv->columns.count; i++) {
        column_name(&csv->columns, i, csv->port, name);
        if (strcmp(name, wanted) == 0) return (uint16_t)i;
    }
    return COLUMN_LEFT_OUT;
}

/* Every column of the packet is in the file, once. */
static enum prt_status check_headings(const struct csv_source *csv, size_t length,
                                      struct prt_error *error)
{
    char name[NAME_BYTES];
    for (size_t i = 0; i < csv->columns.count; i++) {
        size_t found = 0;
        for (size_t k = 0; k < csv->file_columns; k++)
            found += csv->order[k] == i;
        if (found == 1) continue;
        column_name(&csv->columns, i, csv->port, name);
        return CSV_REFUSE(csv, found == 0 ? length : 0, error, "%s column has the heading '%s'",
                          found == 0 ? "no" : "more than one", name);
    }
    return PRT_OK;
}

static enum prt_status read_headings(struct csv_source *csv, const unsigned char *bytes,
                                     size_t length, struct prt_error *error)
{
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf}; /* of UTF-8, which spreadsheets write */
    size_t at = 0, count;
    if (length >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0) at = sizeof mark;
    enum prt_status status = count_fields(csv, bytes, length, at, &count, error);
    if (status != PRT_OK) return status;
    csv->order = calloc(count, sizeof *csv->order);
    if (csv->order == NULL) return prt_io_no_memory(error);
    csv->file_columns = count;
    csv->wants_headings = false;
    for (size_t i = 0; i < count; i++) {
        struct csv_field field;
        char name[NAME_BYTES];
        (void)cut_field(csv, bytes, length, &at, &field, error);
        csv->order[i] = csv_field_text(bytes, field, name, sizeof name) ? find_column(csv, name)
                                                                        : (uint16_t)COLUMN_LEFT_OUT;
    }
    return check_headings(csv, length, error);
}

static bool is_blank_line(const struct csv_source *csv, const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((bytes[i] != ' ' && bytes[i] != '\t' && bytes[i] != '\r') ||
            bytes[i] == (unsigned char)csv->separator)
            return false;
    return true;
}

static uint64_t newlines_in_quotes(const unsigned char *bytes, size_t length)
{
    uint64_t count = 0;
    const unsigned char *end = bytes + length;
    while ((bytes = memchr(bytes, '\n', (size_t)(end - bytes))) != NULL) {
        bytes++;
        count++;
    }
    return count;
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
    bool text = !is_blank_line(csv, bytes, length) && !is_comment_line(csv, bytes, length);
    *found = text && !csv->wants_headings;
    *ended = !has_newline;
    if (*found)
        status = read_columns(csv, bytes, length, packet, error);
    else if (text)
        status = read_headings(csv, bytes, length, error);
    if (status != PRT_OK) return status;
    csv->line += 1 + newlines_in_quotes(bytes, length); /* these are in quotes */
    prt_io_reader_consume(reader, length + (has_newline ? 1 : 0));
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
    free(csv->port);
    free(csv->missing);
    free(csv->order);
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
    csv->separator = spec->separator != '\0' ? spec->separator : ',';
    csv->comment = spec->comment;
    csv->wants_headings = spec->headings;
    csv->port = strdup(spec->port);
    csv->missing = spec->missing != NULL ? strdup(spec->missing) : NULL;
    csv->locale = newlocale(LC_ALL_MASK, "C",
                            (locale_t)0); /* equivalent: of all categories, no base is read */
    /* uncovered: the C library has the locale "C" at hand, without allocating */
    bool whole = csv->locale != (locale_t)0 && csv->port != NULL &&
                 (csv->missing != NULL || spec->missing == NULL);
    enum prt_status status =
        !whole ? prt_io_no_memory(error) : make_columns(&csv->columns, spec->path, layout, error);
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
        text[length] = i + 1 < columns->count ? ((struct csv_sink *)sink)->separator : '\n';
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

/* A name, in quotes where it needs them. */
static enum prt_status write_name(struct prt_sink *sink, const char *name, char separator,
                                  struct prt_error *error)
{
    const char marks[] = {separator, '"', '\n', '\r', ' ', '\0'};
    enum prt_status status = PRT_OK;
    bool quoted = strpbrk(name, marks) != NULL;
    if (quoted) status = prt_io_writer_put(&sink->writer, "\"", 1, error);
    for (; *name != '\0' && status == PRT_OK; name++) {
        if (*name == '"') status = prt_io_writer_put(&sink->writer, "\"", 1, error);
        if (status == PRT_OK) status = prt_io_writer_put(&sink->writer, name, 1, error);
    }
    return quoted && status == PRT_OK ? prt_io_writer_put(&sink->writer, "\"", 1, error) : status;
}

static enum prt_status write_headings(struct prt_sink *sink, const char *port,
                                      struct prt_error *error)
{
    const struct csv_sink *csv = (const struct csv_sink *)sink;
    enum prt_status status = PRT_OK;
    for (size_t i = 0; i < csv->columns.count && status == PRT_OK; i++) {
        char name[NAME_BYTES];
        bool last = i + 1 == csv->columns.count;
        column_name(&csv->columns, i, port, name);
        status = write_name(sink, name, csv->separator, error);
        if (status == PRT_OK)
            status = prt_io_writer_put(&sink->writer, last ? "\n" : &csv->separator, 1, error);
    }
    return status;
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
    ((struct csv_sink *)made)->separator = spec->separator != '\0' ? spec->separator : ',';
    if (status == PRT_OK && spec->headings) status = write_headings(made, spec->port, error);
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
