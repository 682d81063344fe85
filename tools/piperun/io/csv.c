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
#include "tools/piperun/io/columns.h"
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
#define COLUMN_BYTES_MAX 64

enum { COLUMN_LEFT_OUT = UINT16_MAX };
_Static_assert((int)PRT_COLUMNS_MAX < (int)COLUMN_LEFT_OUT, "numbers of columns");

struct csv_source {
    struct prt_source base;
    struct prt_columns columns;
    struct prt_io_reader reader;
    uint64_t line; /* number of the next line, from 1 */
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
    struct prt_columns columns;
    char separator;
};

static size_t line_bytes_max(const struct prt_columns *columns)
{
    return columns->count > 1 ? COLUMN_BYTES_MAX * columns->count : LINE_BYTES_MAX;
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
    struct quote_scan scan = {.fresh = true};
    for (size_t from = 0;; from = *length + 1) {
        enum prt_status status =
            prt_io_reader_line(reader, from, source_line_max(csv), length, has_newline, error);
        if (status != PRT_OK) return status;
        if (*length > source_line_max(csv))
            return prt_error_set_at(error, PRT_E_FORMAT, reader->offset,
                                    "%s:%llu: the line at byte %llu is longer than %zu bytes",
                                    reader->name, (unsigned long long)csv->line,
                                    (unsigned long long)reader->offset, source_line_max(csv));
        const unsigned char *bytes = prt_io_reader_bytes(reader);
        if (!*has_newline || is_comment_line(csv, bytes, *length) ||
            !ends_in_quotes(csv, bytes, *length, &scan))
            return PRT_OK;
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
                                    const struct prt_column *column, struct prt_error *error)
{
    bool heading = csv->line == 1 && isalpha((unsigned char)text[0]);
    return CSV_REFUSE(csv, at, error, "'%.40s' is not a number of type %s%s", text,
                      scalar_name(column->scalar),
                      heading ? "; if this is a line of headings, add 'headings'" : "");
}

/* A field without a number. */
static enum prt_status fill_missing(const struct csv_source *csv, size_t at,
                                    const struct prt_column *column, unsigned char *packet,
                                    struct prt_error *error)
{
    const char *type = scalar_name(column->scalar);
    if (csv->missing == NULL)
        return CSV_REFUSE(csv, at, error,
                          "a number of type %s is missing; missing=VALUE would fill it in", type);
    if (!prt_number_parse(csv->missing, column->scalar, packet + column->offset_bytes))
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
    const struct prt_columns *columns = &csv->columns;
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
        const struct prt_column *column = &columns->items[index];
        bool whole = csv_field_text(bytes, field, text, sizeof text);
        if (field.length == 0)
            status = fill_missing(csv, begin, column, packet, error);
        else if (!whole || !prt_number_parse(text, column->scalar, packet + column->offset_bytes))
            status = not_a_number(csv, field.begin, text, column, error);
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

/* The column of that name; COLUMN_LEFT_OUT: there is none. */
static uint16_t find_column(const struct csv_source *csv, const char *wanted)
{
    char name[PRT_COLUMN_NAME_BYTES];
    for (size_t i = 0; i < csv->columns.count; i++) {
        prt_column_name(&csv->columns, i, csv->port, name);
        if (strcmp(name, wanted) == 0) return (uint16_t)i;
    }
    return COLUMN_LEFT_OUT;
}

/* Every column of the packet is in the file, once. */
static enum prt_status check_headings(const struct csv_source *csv, size_t length,
                                      struct prt_error *error)
{
    char name[PRT_COLUMN_NAME_BYTES];
    for (size_t i = 0; i < csv->columns.count; i++) {
        size_t found = 0;
        for (size_t k = 0; k < csv->file_columns; k++)
            found += csv->order[k] == i;
        if (found == 1) continue;
        prt_column_name(&csv->columns, i, csv->port, name);
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
        char name[PRT_COLUMN_NAME_BYTES];
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
    const struct prt_columns *columns = &csv->columns;
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
    locale_t before = uselocale(csv->columns.locale);
    enum prt_status status = read_lines(csv, packets, capacity, count, error);
    (void)uselocale(before);
    return status;
}

static void csv_close(struct prt_source *source)
{
    struct csv_source *csv = (struct csv_source *)source;
    prt_io_reader_close(&csv->reader);
    prt_columns_free(&csv->columns);
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
    bool whole = csv->port != NULL && (csv->missing != NULL || spec->missing == NULL);
    enum prt_status status = whole ? prt_columns_make(&csv->columns, spec->path, layout, error)
                                   : prt_io_no_memory(error);
    if (status == PRT_OK) status = prt_io_reader_open(&csv->reader, spec->path, environment, error);
    if (status != PRT_OK) {
        csv_close(made);
        return status;
    }
    *source = made;
    return PRT_OK;
}

/* --- sink --- */

static enum prt_status write_line(struct prt_sink *sink, const unsigned char *packet,
                                  struct prt_error *error)
{
    const struct prt_columns *columns = &((struct csv_sink *)sink)->columns;
    enum prt_status status = PRT_OK;
    for (size_t i = 0; i < columns->count && status == PRT_OK; i++) {
        const struct prt_column *column = &columns->items[i];
        char text[PRT_NUMBER_BYTES + 1];
        int length = prt_number_print(text, column->scalar, packet + column->offset_bytes);
        assert(length > 0 && length < PRT_NUMBER_BYTES);
        text[length] = i + 1 < columns->count ? ((struct csv_sink *)sink)->separator : '\n';
        status = prt_io_writer_put(&sink->writer, text, (size_t)length + 1, error);
    }
    return status;
}

static enum prt_status csv_write(struct prt_sink *sink, const void *packets, size_t count,
                                 struct prt_error *error)
{
    const struct prt_columns *columns = &((struct csv_sink *)sink)->columns;
    locale_t before = uselocale(columns->locale);
    enum prt_status status = PRT_OK;
    for (size_t i = 0; i < count / columns->units && status == PRT_OK; i++)
        status = write_line(sink, (const unsigned char *)packets + i * columns->width_bytes, error);
    (void)uselocale(before);
    return status;
}

static void csv_release(struct prt_sink *sink)
{
    prt_columns_free(&((struct csv_sink *)sink)->columns);
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
        char name[PRT_COLUMN_NAME_BYTES];
        bool last = i + 1 == csv->columns.count;
        prt_column_name(&csv->columns, i, port, name);
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
    struct csv_sink *csv = (struct csv_sink *)made;
    csv->separator = spec->separator != '\0' ? spec->separator : ',';
    enum prt_status status = prt_columns_make(&csv->columns, spec->path, layout, error);
    if (status == PRT_OK)
        status = prt_io_writer_open(&made->writer, spec->path, false, environment, error);
    if (status == PRT_OK && spec->headings) status = write_headings(made, spec->port, error);
    if (status != PRT_OK) {
        prt_sink_close(made);
        return status;
    }
    *sink = made;
    return PRT_OK;
}
