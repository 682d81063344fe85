/* SPDX-License-Identifier: MIT */
/* jsonl: JSON lines, a packet a line, each a value of JSON (RFC 8259).
 *
 * A packet without fields is a number or, of a vector or an array, an array of numbers, nested as the type is.  A struct is
 * an object with a member for each field.
 *
 * Read: the members may stand in any order, and others are left out.  An object with a member of the port's name may stand
 * for a packet without fields.  Empty lines are allowed; a line is at most PRT_IO_BUFFER_BYTES - 1 long; the last newline may
 * be missing.
 *   a number       of the type's range; with a fraction or an exponent it is an f64 first, and needs a column of floats
 *   true, false    of a bool
 *   a string       the text of a number (columns.h): a time, "nan", "inf", a whole number past 2^63 - 1
 *   null, nothing  an error, or missing=
 * Written: numbers as in csv; true and false; as strings nan, inf, -inf, and whole numbers past 2^63 - 1, which many readers
 * of JSON would round. */
#include "base/plural.h"
#include "tools/piperun/io/columns.h"
#include "tools/piperun/io/io_internal.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_LINE_BYTES_MAX (PRT_IO_BUFFER_BYTES - 1)

/* A step from a value to one inside of it. */
struct json_step {
    char *name;     /* owned: a member of an object; NULL: an element of an array */
    uint64_t index; /* of the element */
    uint64_t count; /* of the array's elements */
};

/* Where the scalars of a packet stand in a line: column i by the steps ends[i - 1] (or 0) to ends[i] - 1. */
struct json_layout {
    struct prt_columns columns;
    struct json_step *steps; /* owned */
    size_t *ends;            /* owned */
    size_t used, capacity;   /* of `steps` */
};

struct jsonl_source {
    struct prt_source base;
    struct json_layout layout;
    struct prt_io_reader reader;
    uint64_t line; /* number of the next line, from 1 */
    bool named;    /* the packet has fields */
    char *port;    /* owned */
    char *missing; /* owned; what null stands for, or NULL */
};

struct jsonl_sink {
    struct prt_sink base;
    struct json_layout layout;
    char *frame; /* owned: the text around the numbers */
    size_t *
        frame_ends; /* owned: the part before each column ends here; the last part is the end of the line */
};

/* --- layout --- */

static size_t first_step(const struct json_layout *layout, size_t column)
{
    return column > 0 ? layout->ends[column - 1] : 0;
}

static size_t count_steps(const struct json_layout *layout, size_t column)
{
    return layout->ends[column] - first_step(layout, column);
}

/* Appends a step, and takes the name.  False: no memory. */
static bool add_step(struct json_layout *layout, struct json_step step)
{
    if (layout->used == layout->capacity) {
        size_t larger = layout->capacity > 0 ? layout->capacity * 2 : 64;
        struct json_step *steps = realloc(layout->steps, larger * sizeof *steps);
        if (steps == NULL) {
            free(step.name);
            return false;
        }
        layout->steps = steps;
        layout->capacity = larger;
    }
    layout->steps[layout->used++] = step;
    return true;
}

/* "parts[2].id": a member, an element, a member. */
static bool add_name_steps(struct json_layout *layout, const char *name)
{
    while (*name != '\0') {
        struct json_step step = {.name = NULL};
        if (*name == '[') {
            char *end;
            step.index = strtoull(name + 1, &end, 10);
            name = end + 1; /* the bracket that closes it */
        } else {
            size_t length = strcspn(name += *name == '.', ".[");
            step.name = strndup(name, length);
            if (step.name == NULL) return false;
            name += length;
        }
        if (!add_step(layout, step)) return false;
    }
    return true;
}

/* Scalar `part` of `count` in an array of that shape: "4, 2". */
static bool add_shape_steps(struct json_layout *layout, const char *shape, uint64_t count,
                            uint64_t part)
{
    while (*shape != '\0') {
        char *end;
        uint64_t extent = strtoull(shape, &end, 10);
        count /= extent;
        if (!add_step(layout, (struct json_step){NULL, part / count, extent})) return false;
        part %= count;
        shape = *end == ',' ? end + 1 : end;
    }
    return true;
}

/* How many steps of two columns are the same, from the first one on. */
static size_t count_shared_steps(const struct json_layout *layout, size_t left, size_t right)
{
    size_t count = 0, most = count_steps(layout, left);
    if (count_steps(layout, right) < most) most = count_steps(layout, right);
    for (; count < most; count++) {
        const struct json_step *a = &layout->steps[first_step(layout, left) + count];
        const struct json_step *b = &layout->steps[first_step(layout, right) + count];
        bool same = a->name == NULL || b->name == NULL ? a->name == b->name && a->index == b->index
                                                       : strcmp(a->name, b->name) == 0;
        if (!same) break;
    }
    return count;
}

/* An array of structs has as many elements as its last column says. */
static void count_elements(struct json_layout *layout)
{
    size_t columns = layout->columns.count;
    for (size_t i = columns; i-- > 0;) {
        size_t shared = i + 1 < columns ? count_shared_steps(layout, i, i + 1) : 0;
        for (size_t k = 0; k < count_steps(layout, i); k++) {
            struct json_step *step = &layout->steps[first_step(layout, i) + k];
            if (step->name != NULL || step->count > 0) continue;
            bool follows = i + 1 < columns && k <= shared && k < count_steps(layout, i + 1);
            step->count = follows ? layout->steps[first_step(layout, i + 1) + k].count : 0;
            if (step->count == 0) step->count = step->index + 1;
        }
    }
}

static void free_layout(struct json_layout *layout)
{
    for (size_t i = 0; i < layout->used; i++)
        free(layout->steps[i].name);
    free(layout->steps);
    free(layout->ends);
    prt_columns_free(&layout->columns);
}

static enum prt_status make_layout(struct json_layout *layout, const char *name,
                                   const struct prt_packet *packet, struct prt_error *error)
{
    char flat[32] = "";
    enum prt_status status = prt_columns_make(&layout->columns, name, packet, error);
    if (status != PRT_OK) return status;
    const struct prt_columns *columns = &layout->columns;
    layout->ends = calloc(columns->count + 1, sizeof *layout->ends);
    bool whole = layout->ends != NULL;
    if (columns->count > 1) snprintf(flat, sizeof flat, "%zu", columns->count);
    for (size_t i = 0; whole && i < columns->count; i++) {
        const struct prt_field_information *field = columns->items[i].field;
        whole = field != NULL ? add_name_steps(layout, field->name) &&
                                    add_shape_steps(layout, field->shape, field->count,
                                                    columns->items[i].part)
                              : add_shape_steps(layout, flat, columns->count, i);
        layout->ends[i] = layout->used;
    }
    if (!whole) return prt_io_no_memory(error);
    count_elements(layout);
    return PRT_OK;
}

/* --- source --- */

#define JSON_REFUSE(jsonl, error, format, ...)                                                     \
    prt_error_set_at((error), PRT_E_FORMAT, (jsonl)->reader.offset, "%s:%llu: " format,            \
                     (jsonl)->reader.name,                                                         \
                     (unsigned long long)(jsonl)->line __VA_OPT__(, ) __VA_ARGS__)

/* Finds the next line in the buffer: `*length` bytes, without the newline if `*has_newline`. */
static enum prt_status find_json_line(struct jsonl_source *jsonl, size_t *length, bool *has_newline,
                                      struct prt_error *error)
{
    enum prt_status status =
        prt_io_reader_line(&jsonl->reader, 0, JSON_LINE_BYTES_MAX, length, has_newline, error);
    if (status == PRT_OK && *length > JSON_LINE_BYTES_MAX)
        return JSON_REFUSE(jsonl, error, "the line is longer than %zu bytes", JSON_LINE_BYTES_MAX);
    return status;
}

/* The words for a value of a wrong kind. */
static const char *json_kind(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_TRUE:
    case JSON_FALSE: return "true or false";
    case JSON_NULL: return "null";
    case JSON_INTEGER:
    case JSON_REAL: break;
    }
    return "a number";
}

/* Goes the steps of a column.  *found is NULL if a member on the way is missing or null. */
static enum prt_status find_json_value(const struct jsonl_source *jsonl, size_t column,
                                       const json_t *line, const char *name, const json_t **found,
                                       struct prt_error *error)
{
    const struct json_layout *layout = &jsonl->layout;
    *found = line;
    for (size_t i = first_step(layout, column); i < layout->ends[column]; i++) {
        const struct json_step *step = &layout->steps[i];
        if (*found == NULL || json_is_null(*found)) break;
        if (step->name != NULL && !json_is_object(*found))
            return JSON_REFUSE(jsonl, error, "'%s': an object with '%s' is expected, not %s", name,
                               step->name, json_kind(*found));
        if (step->name == NULL && !json_is_array(*found))
            return JSON_REFUSE(jsonl, error,
                               "'%s': an array of %" PRIu64 " values is expected, not %s", name,
                               step->count, json_kind(*found));
        if (step->name == NULL && json_array_size(*found) != step->count)
            return JSON_REFUSE(jsonl, error, "'%s': the array has %zu value%s, not %" PRIu64, name,
                               json_array_size(*found), plural(json_array_size(*found)),
                               step->count);
        *found = step->name != NULL ? json_object_get(*found, step->name)
                                    : json_array_get(*found, (size_t)step->index);
    }
    if (*found != NULL && json_is_null(*found)) *found = NULL;
    return PRT_OK;
}

/* Stores a value as a scalar.  False: it is no such number; `text` says which. */
static bool store_json_value(const json_t *value, enum scalar_type type, void *scalar, char *text,
                             size_t size)
{
    if (json_is_real(value)) {
        double number = json_real_value(value);
        snprintf(text, size, "%.17g", number);
        return scalar_is_float(type) && prt_io_convert(scalar, type, &number, SCALAR_F64, 1) == 1;
    }
    if (json_is_integer(value)) {
        snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return type != SCALAR_BOOL && prt_number_parse(text, type, scalar);
    }
    if (json_is_string(value)) {
        const char *string = json_string_value(value);
        snprintf(text, size, "'%.40s'", string);
        return strlen(string) == json_string_length(value) &&
               prt_number_parse(string, type, scalar);
    }
    snprintf(text, size, "%s", json_kind(value));
    if (!json_is_boolean(value) || type != SCALAR_BOOL) return false;
    *(unsigned char *)scalar = json_is_true(value);
    return true;
}

static enum prt_status read_json_column(const struct jsonl_source *jsonl, size_t index,
                                        const json_t *line, unsigned char *packet,
                                        struct prt_error *error)
{
    const struct prt_column *column = &jsonl->layout.columns.items[index];
    const char *type = scalar_name(column->scalar);
    const json_t *value;
    char name[PRT_COLUMN_NAME_BYTES], text[64];
    prt_column_name(&jsonl->layout.columns, index, jsonl->port, name);
    enum prt_status status = find_json_value(jsonl, index, line, name, &value, error);
    if (status != PRT_OK) return status;
    void *scalar = packet + column->offset_bytes;
    if (value != NULL)
        return store_json_value(value, column->scalar, scalar, text, sizeof text)
                   ? PRT_OK
                   : JSON_REFUSE(jsonl, error, "'%s': %s is not a number of type %s", name, text,
                                 type);
    if (jsonl->missing == NULL)
        return JSON_REFUSE(jsonl, error,
                           "'%s': a number of type %s is missing; missing=VALUE would fill it in",
                           name, type);
    if (!prt_number_parse(jsonl->missing, column->scalar, scalar))
        return JSON_REFUSE(jsonl, error,
                           "'%s': a number is missing, and '%s' of missing= is not one of type %s",
                           name, jsonl->missing, type);
    return PRT_OK;
}

static enum prt_status read_json_packet(const struct jsonl_source *jsonl,
                                        const unsigned char *bytes, size_t length,
                                        unsigned char *packet, struct prt_error *error)
{
    json_error_t wrong;
    enum prt_status status = PRT_OK;
    json_t *line = json_loadb((const char *)bytes, length,
                              JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &wrong);
    if (line == NULL && json_error_code(&wrong) == json_error_out_of_memory)
        return prt_io_no_memory(error);
    if (line == NULL)
        return JSON_REFUSE(jsonl, error, "this is no JSON: %s%s", wrong.text,
                           json_error_code(&wrong) == json_error_numeric_overflow
                               ? " (write it as a string)"
                               : "");
    const json_t *value = line;
    if (!jsonl->named && json_is_object(line)) value = json_object_get(line, jsonl->port);
    memset(packet, 0, jsonl->layout.columns.width_bytes);
    for (size_t i = 0; i < jsonl->layout.columns.count && status == PRT_OK; i++)
        status = read_json_column(jsonl, i, value, packet, error);
    json_decref(line);
    return status;
}

static bool is_blank_text(const unsigned char *bytes, size_t length)
{
    while (length > 0 && strchr(" \t\r", bytes[length - 1]) != NULL && bytes[length - 1] != '\0')
        length--;
    return length == 0;
}

static enum prt_status read_json_lines(struct jsonl_source *jsonl, unsigned char *next,
                                       size_t capacity, size_t *count, struct prt_error *error)
{
    struct prt_io_reader *reader = &jsonl->reader;
    const struct prt_columns *columns = &jsonl->layout.columns;
    bool has_newline = true;
    while (capacity - *count >= columns->units && has_newline) {
        size_t available = prt_io_reader_available(reader), length;
        if (*count > 0 && !reader->regular &&
            (available == 0 || memchr(prt_io_reader_bytes(reader), '\n', available) == NULL))
            return PRT_OK; /* deliver the packets read so far */
        enum prt_status status = find_json_line(jsonl, &length, &has_newline, error);
        if (status != PRT_OK) return status;
        const unsigned char *bytes = prt_io_reader_bytes(reader);
        if (!is_blank_text(bytes, length)) {
            status = read_json_packet(jsonl, bytes, length, next, error);
            if (status != PRT_OK) return status;
            *count += columns->units;
            next += columns->width_bytes;
        }
        jsonl->line++;
        prt_io_reader_consume(reader, length + (has_newline ? 1 : 0));
    }
    return PRT_OK;
}

static enum prt_status jsonl_read(struct prt_source *source, void *packets, size_t capacity,
                                  size_t *count, struct prt_error *error)
{
    struct jsonl_source *jsonl = (struct jsonl_source *)source;
    locale_t before = uselocale(jsonl->layout.columns.locale);
    enum prt_status status = read_json_lines(jsonl, packets, capacity, count, error);
    (void)uselocale(before);
    return status;
}

static void jsonl_close(struct prt_source *source)
{
    struct jsonl_source *jsonl = (struct jsonl_source *)source;
    prt_io_reader_close(&jsonl->reader);
    free_layout(&jsonl->layout);
    free(jsonl->port);
    free(jsonl->missing);
    free(source);
}

static const struct prt_source_ops jsonl_source_ops = {jsonl_read, jsonl_close};

enum prt_status prt_jsonl_source_open(const struct prt_port_spec *spec,
                                      const struct prt_packet *layout,
                                      const struct prt_io_environment *environment,
                                      struct prt_source **source, struct prt_error *error)
{
    struct prt_source *made =
        prt_source_make(sizeof(struct jsonl_source), &jsonl_source_ops, layout->scalar, error);
    if (made == NULL) return PRT_E_NOMEM;
    struct jsonl_source *jsonl = (struct jsonl_source *)made;
    made->reader = &jsonl->reader;
    jsonl->line = 1;
    jsonl->named = layout->field_count > 0 && layout->fields[0].name[0] != '\0';
    jsonl->port = strdup(spec->port);
    jsonl->missing = spec->missing != NULL ? strdup(spec->missing) : NULL;
    bool whole = jsonl->port != NULL && (jsonl->missing != NULL || spec->missing == NULL);
    enum prt_status status =
        whole ? make_layout(&jsonl->layout, spec->path, layout, error) : prt_io_no_memory(error);
    if (status == PRT_OK)
        status = prt_io_reader_open(&jsonl->reader, spec->path, environment, error);
    if (status != PRT_OK) {
        jsonl_close(made);
        return status;
    }
    *source = made;
    return PRT_OK;
}

/* --- sink --- */

/* Closes the containers of a column from its last step down to step `from`. */
static void close_containers(FILE *to, const struct json_layout *layout, size_t column, size_t from)
{
    for (size_t k = count_steps(layout, column); k > from; k--)
        fputc(layout->steps[first_step(layout, column) + k - 1].name != NULL ? '}' : ']', to);
}

/* Opens the containers of a column from step `from` on; that of `from` itself is open if `inside`. */
static void open_containers(FILE *to, const struct json_layout *layout, size_t column, size_t from,
                            bool inside)
{
    for (size_t k = from; k < count_steps(layout, column); k++) {
        const struct json_step *step = &layout->steps[first_step(layout, column) + k];
        if (k > from || !inside) fputc(step->name != NULL ? '{' : '[', to);
        if (step->name != NULL) fprintf(to, "\"%s\":", step->name); /* an identifier */
    }
}

/* Writes the text around the numbers once, for all lines. */
static enum prt_status make_frame(struct jsonl_sink *jsonl, struct prt_error *error)
{
    const struct json_layout *layout = &jsonl->layout;
    size_t size, columns = layout->columns.count;
    jsonl->frame_ends = calloc(columns + 1, sizeof *jsonl->frame_ends);
    FILE *to = open_memstream(&jsonl->frame, &size);
    if (jsonl->frame_ends == NULL || to == NULL) {
        if (to != NULL) (void)fclose(to);
        return prt_io_no_memory(error);
    }
    for (size_t i = 0; i < columns; i++) {
        size_t shared = i > 0 ? count_shared_steps(layout, i - 1, i) : 0;
        if (i > 0) close_containers(to, layout, i - 1, shared + 1);
        if (i > 0) fputc(',', to);
        open_containers(to, layout, i, shared, i > 0);
        jsonl->frame_ends[i] = (size_t)ftell(to);
    }
    close_containers(to, layout, columns - 1, 0);
    fputc('\n', to);
    jsonl->frame_ends[columns] = (size_t)ftell(to);
    return fclose(to) == 0 ? PRT_OK : prt_io_no_memory(error);
}

/* As JSON: what is no number of JSON, or no exact one for most readers, is a string. */
static int print_json_number(char text[PRT_NUMBER_BYTES + 2], enum scalar_type type,
                             const unsigned char *scalar)
{
    char number[PRT_NUMBER_BYTES];
    uint64_t whole = 0;
    const size_t size = PRT_NUMBER_BYTES + 2;
    if (type == SCALAR_BOOL) return snprintf(text, size, "%s", *scalar != 0 ? "true" : "false");
    if (type == SCALAR_U64) memcpy(&whole, scalar, sizeof whole);
    (void)prt_number_print(number, type, scalar);
    bool quoted = whole > INT64_MAX || strpbrk(number, "ni") != NULL; /* nan, inf */
    bool negative_zero = scalar_is_float(type) && strcmp(number, "-0") == 0;
    if (quoted) return snprintf(text, size, "\"%s\"", number);
    return snprintf(text, size, "%s%s", number, negative_zero ? ".0" : "");
}

static enum prt_status write_json_line(struct jsonl_sink *jsonl, const unsigned char *packet,
                                       struct prt_error *error)
{
    const struct prt_columns *columns = &jsonl->layout.columns;
    struct prt_io_writer *writer = &jsonl->base.writer;
    enum prt_status status = PRT_OK;
    size_t begin = 0;
    for (size_t i = 0; i < columns->count && status == PRT_OK; i++) {
        char text[PRT_NUMBER_BYTES + 2];
        const struct prt_column *column = &columns->items[i];
        int length = print_json_number(text, column->scalar, packet + column->offset_bytes);
        status =
            prt_io_writer_put(writer, jsonl->frame + begin, jsonl->frame_ends[i] - begin, error);
        if (status == PRT_OK) status = prt_io_writer_put(writer, text, (size_t)length, error);
        begin = jsonl->frame_ends[i];
    }
    if (status != PRT_OK) return status;
    return prt_io_writer_put(writer, jsonl->frame + begin,
                             jsonl->frame_ends[columns->count] - begin, error);
}

static enum prt_status jsonl_write(struct prt_sink *sink, const void *packets, size_t count,
                                   struct prt_error *error)
{
    struct jsonl_sink *jsonl = (struct jsonl_sink *)sink;
    const struct prt_columns *columns = &jsonl->layout.columns;
    locale_t before = uselocale(columns->locale);
    enum prt_status status = PRT_OK;
    for (size_t i = 0; i < count / columns->units && status == PRT_OK; i++)
        status = write_json_line(jsonl, (const unsigned char *)packets + i * columns->width_bytes,
                                 error);
    (void)uselocale(before);
    return status;
}

static void jsonl_release(struct prt_sink *sink)
{
    struct jsonl_sink *jsonl = (struct jsonl_sink *)sink;
    free_layout(&jsonl->layout);
    free(jsonl->frame);
    free(jsonl->frame_ends);
}

static const struct prt_sink_ops jsonl_sink_ops = {jsonl_write, NULL, jsonl_release};

enum prt_status prt_jsonl_sink_open(const struct prt_port_spec *spec,
                                    const struct prt_packet *layout,
                                    const struct prt_io_environment *environment,
                                    struct prt_sink **sink, struct prt_error *error)
{
    struct prt_sink *made =
        prt_sink_make(sizeof(struct jsonl_sink), &jsonl_sink_ops, layout->scalar, error);
    if (made == NULL) return PRT_E_NOMEM;
    struct jsonl_sink *jsonl = (struct jsonl_sink *)made;
    enum prt_status status = make_layout(&jsonl->layout, spec->path, layout, error);
    if (status == PRT_OK) status = make_frame(jsonl, error);
    if (status == PRT_OK)
        status = prt_io_writer_open(&made->writer, spec->path, false, environment, error);
    if (status != PRT_OK) {
        prt_sink_close(made);
        return status;
    }
    *sink = made;
    return PRT_OK;
}
