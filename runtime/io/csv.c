/* csv: one number a line, in C's notation whatever the locale.
 *
 * Read: blanks around the number, a carriage return before the newline, and empty lines are
 * allowed; a line is at most LINE_BYTES_MAX long; the last newline may be missing.
 *   integers  decimal, with a sign if the type has one, in the range of the type
 *   bool      a number (0 or not), true, false
 *   floats    as strtod reads them: decimal, hexadecimal, inf, nan; to the nearest f32 or f64
 * Written: integers in decimal; bool as 0 or 1; floats with the fewest digits that read back as
 * the same value; nan, inf, -inf. */
#include "runtime/io/io_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES_MAX 1024
#define NUMBER_BYTES_MAX 48

struct csv_source {
    struct prt_source base;
    struct prt_io_reader reader;
    locale_t locale; /* "C" */
    uint64_t line;   /* number of the next line, from 1 */
};

struct csv_sink {
    struct prt_sink base;
    locale_t locale;
};

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
static bool parse_float(const char *text, enum scalar_type type, void *packet)
{
    char *end;
    if (type == SCALAR_F32) {
        float value = strtof(text, &end);
        memcpy(packet, &value, sizeof value);
    } else {
        double value = strtod(text, &end);
        memcpy(packet, &value, sizeof value);
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

static bool parse_packet(const char *text, enum scalar_type type, void *packet)
{
    if (type == SCALAR_BOOL) return parse_bool(text, packet);
    return scalar_is_float(type) ? parse_float(text, type, packet)
                                 : parse_integer(text, type, packet);
}

/* --- source --- */

/* Finds the next line in the buffer: `*length` bytes, without the newline if `*has_newline`. */
static enum prt_status find_line(struct csv_source *csv, size_t *length, bool *has_newline,
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
        if (*length > LINE_BYTES_MAX)
            return prt_error_set_at(error, PRT_E_FORMAT, reader->offset,
                                    "%s:%llu: the line at byte %llu is longer than %d bytes",
                                    reader->name, (unsigned long long)csv->line,
                                    (unsigned long long)reader->offset, LINE_BYTES_MAX);
        if (newline != NULL || reader->at_end) return PRT_OK;
        searched = available;
        enum prt_status status = prt_io_reader_need(reader, available + 1, error);
        if (status != PRT_OK) return status;
    }
}

/* The line without the blanks around it, NUL-terminated.  False if it holds a NUL. */
static bool trim_line(char *text, const unsigned char *bytes, size_t length)
{
    while (length > 0 && strchr(" \t\r", bytes[length - 1]) != NULL && bytes[length - 1] != 0)
        length--;
    while (length > 0 && (bytes[0] == ' ' || bytes[0] == '\t')) {
        bytes++;
        length--;
    }
    if (length > LINE_BYTES_MAX) length = LINE_BYTES_MAX; /* find_line has seen to it */
    memcpy(text, bytes, length);
    text[length] = '\0';
    return memchr(text, '\0', length) == NULL;
}

static enum prt_status read_line(struct csv_source *csv, void *packet, bool *found, bool *ended,
                                 struct prt_error *error)
{
    struct prt_io_reader *reader = &csv->reader;
    char text[LINE_BYTES_MAX + 1];
    size_t length;
    bool has_newline;
    enum prt_status status = find_line(csv, &length, &has_newline, error);
    if (status != PRT_OK) return status;
    bool good = trim_line(text, prt_io_reader_bytes(reader), length);
    *found = !good || text[0] != '\0';
    *ended = !has_newline;
    if (*found && !(good && parse_packet(text, csv->base.packet, packet)))
        return prt_error_set_at(error, PRT_E_FORMAT, reader->offset,
                                "%s:%llu: '%.40s' at byte %llu is not a number of type %s",
                                reader->name, (unsigned long long)csv->line, text,
                                (unsigned long long)reader->offset, scalar_name(csv->base.packet));
    prt_io_reader_consume(reader, length + (has_newline ? 1 : 0));
    csv->line++;
    return PRT_OK;
}

static enum prt_status read_lines(struct csv_source *csv, unsigned char *packets, size_t capacity,
                                  size_t *count, struct prt_error *error)
{
    struct prt_io_reader *reader = &csv->reader;
    size_t width = scalar_width_bytes(csv->base.packet);
    bool ended = false;
    while (*count < capacity && !ended) {
        bool found = false;
        size_t available = prt_io_reader_available(reader);
        if (*count > 0 && !reader->regular &&
            (available == 0 || memchr(prt_io_reader_bytes(reader), '\n', available) == NULL))
            return PRT_OK; /* give what has come */
        enum prt_status status = read_line(csv, packets + *count * width, &found, &ended, error);
        if (status != PRT_OK) return status;
        *count += found;
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
    if (csv->locale != (locale_t)0) freelocale(csv->locale);
    free(source);
}

static const struct prt_source_ops csv_source_ops = {csv_read, csv_close};

enum prt_status prt_csv_source_open(const struct prt_port_spec *spec, enum scalar_type packet,
                                    const struct prt_io_environment *environment,
                                    struct prt_source **source, struct prt_error *error)
{
    struct prt_source *made =
        prt_source_make(sizeof(struct csv_source), &csv_source_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    struct csv_source *csv = (struct csv_source *)made;
    csv->line = 1;
    csv->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    enum prt_status status = csv->locale == (locale_t)0
                                 ? prt_io_no_memory(error)
                                 : prt_io_reader_open(&csv->reader, spec->path, environment, error);
    if (status != PRT_OK) {
        csv_close(made);
        return status;
    }
    *source = made;
    return PRT_OK;
}

/* --- sink --- */

static int print_f32(char *text, float value)
{
    int length = 0;
    for (int digits = 6; digits <= 9; digits++) {
        length = snprintf(text, NUMBER_BYTES_MAX, "%.*g\n", digits, (double)value);
        if (strtof(text, NULL) == value) break;
    }
    return length;
}

static int print_f64(char *text, double value)
{
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(text, NUMBER_BYTES_MAX, "%.*g\n", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return length;
}

static int print_packet(char *text, enum scalar_type type, const unsigned char *packet)
{
    int64_t number = 0;
    double value = 0;
    if (type == SCALAR_F32) {
        float narrow;
        memcpy(&narrow, packet, sizeof narrow);
        if (!isnan(narrow)) return print_f32(text, narrow);
        return snprintf(text, NUMBER_BYTES_MAX, "nan\n");
    }
    if (type == SCALAR_F64) {
        memcpy(&value, packet, sizeof value);
        if (!isnan(value)) return print_f64(text, value);
        return snprintf(text, NUMBER_BYTES_MAX, "nan\n");
    }
    if (scalar_is_signed(type)) {
        (void)prt_io_convert(&number, SCALAR_I64, packet, type, 1);
        return snprintf(text, NUMBER_BYTES_MAX, "%" PRId64 "\n", number);
    }
    uint64_t positive = 0;
    (void)prt_io_convert(&positive, SCALAR_U64, packet, type, 1);
    return snprintf(text, NUMBER_BYTES_MAX, "%" PRIu64 "\n", positive);
}

static enum prt_status csv_write(struct prt_sink *sink, const void *packets, size_t count,
                                 struct prt_error *error)
{
    size_t width = scalar_width_bytes(sink->packet);
    locale_t before = uselocale(((struct csv_sink *)sink)->locale);
    enum prt_status status = PRT_OK;
    for (size_t i = 0; i < count && status == PRT_OK; i++) {
        char text[NUMBER_BYTES_MAX];
        int length = print_packet(text, sink->packet, (const unsigned char *)packets + i * width);
        status = length > 0 ? prt_io_writer_put(&sink->writer, text, (size_t)length, error)
                            : prt_error_set(error, PRT_E_INTERNAL, "cannot print a number");
    }
    (void)uselocale(before);
    return status;
}

static void csv_release(struct prt_sink *sink)
{
    freelocale(((struct csv_sink *)sink)->locale);
}

static const struct prt_sink_ops csv_sink_ops = {csv_write, NULL, csv_release};

enum prt_status prt_csv_sink_open(const struct prt_port_spec *spec, enum scalar_type packet,
                                  const struct prt_io_environment *environment,
                                  struct prt_sink **sink, struct prt_error *error)
{
    struct prt_sink *made = prt_sink_make(sizeof(struct csv_sink), &csv_sink_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    enum prt_status status = locale == (locale_t)0 ? prt_io_no_memory(error)
                                                   : prt_io_writer_open(&made->writer, spec->path,
                                                                        false, environment, error);
    if (status != PRT_OK) {
        if (locale != (locale_t)0) freelocale(locale);
        free(made);
        return status;
    }
    ((struct csv_sink *)made)->locale = locale;
    *sink = made;
    return PRT_OK;
}
