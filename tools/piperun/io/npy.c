/* SPDX-License-Identifier: MIT */
/* npy: NumPy's array files, versions 1.0, 2.0 and 3.0.
 *
 *   0x93 "NUMPY"  major u8  minor u8  header length u16 (1.0) or u32, little-endian
 *   header: a Python literal {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *   the elements
 *
 * A packet with several fields is a structured type: 'descr': [('id', '<i4'), ('', '|V4'), ('pos',
 * '<f8', (3,))]: name, type and shape of each field in order, '|V' the bytes between them.  An input
 * must have the names, types, shapes and places of the port.
 *
 * Read: elements |b1 |i1 |u1 and <>=i2..i8 u2..u8 f2..f8, C order (Fortran order where it is the
 * same: at most one dimension above 1), any number of dimensions, flat.  If there are several
 * dimensions and the packets are blocks or vectors, the last ones are those of a packet.  Bytes past the
 * array are refused.  Written: version 1.0; the number of packets, then the dimensions of a packet; a
 * header with room for any number.
 */
#include "base/arithmetic.h"
#include "tools/piperun/io/io_internal.h"

#include "base/memory_text.h"

#include <stdio.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX_BYTES 8
#define HEADER_STEP 64  /* the header as written, prefix and length included, is a multiple */
#define COUNT_DIGITS 20 /* of the number of packets */
#define HEADER_TEXT_MAX ((size_t)60000)
#define DIMENSIONS_MAX 64

struct npy_source {
    struct prt_source base;
    struct prt_io_reader reader;
    struct prt_io_elements elements;
    uint64_t dimensions[DIMENSIONS_MAX];
};

struct npy_sink {
    struct prt_sink base;
    const struct prt_packet *layout;
    enum scalar_type element;
    bool big_endian;
    char *header; /* owned: all of it, patched when the number of packets is known */
    size_t header_bytes;
};

/* --- the header's literal --- */

/* A cursor over the header text. */
struct literal {
    const char *next, *end;
    const char *fault; /* the first fault, NULL: none */
};

struct npy_header {
    const struct prt_packet *layout;
    bool has_type, has_order, has_shape, fortran;
    bool structured; /* descr is the list of the port's fields: elements are its bytes or scalars */
    enum scalar_type type;
    bool big_endian;
    uint64_t elements;
    uint64_t dimensions[DIMENSIONS_MAX];
    int dimension_count, large_dimensions; /* the latter: those above 1 */
};

static bool record_fault(struct literal *literal, const char *what)
{
    if (literal->fault == NULL) literal->fault = what;
    return false;
}

static void skip_npy_blanks(struct literal *literal)
{
    while (literal->next < literal->end && (*literal->next == ' ' || *literal->next == '\n' ||
                                            *literal->next == '\t' || *literal->next == '\r'))
        literal->next++;
}

static bool take_byte(struct literal *literal, char expected)
{
    skip_npy_blanks(literal);
    if (literal->next == literal->end || *literal->next != expected) return false;
    literal->next++;
    return true;
}

static bool take_npy_word(struct literal *literal, const char *word)
{
    size_t length = strlen(word);
    skip_npy_blanks(literal);
    if ((size_t)(literal->end - literal->next) < length || memcmp(literal->next, word, length) != 0)
        return false;
    literal->next += length;
    return true;
}

/* A quoted string without escapes, up to 31 bytes. */
static bool take_string(struct literal *literal, char string[32])
{
    skip_npy_blanks(literal);
    if (literal->next == literal->end || (*literal->next != '\'' && *literal->next != '"'))
        return record_fault(literal, "a string is expected");
    char quote = *literal->next++;
    size_t length = 0;
    while (literal->next < literal->end && *literal->next != quote && length < 31)
        string[length++] = *literal->next++;
    string[length] = '\0';
    if (!take_byte(literal, quote))
        return record_fault(literal, "a string is too long or has no end");
    return true;
}

/* `<f4` and the like. */
static bool scalar_of_text(struct literal *literal, const char *text, enum scalar_type *type,
                           bool *big_endian)
{
    static const struct {
        char name[3];
        enum scalar_type type;
    } types[] = {{"b1", SCALAR_BOOL}, {"i1", SCALAR_I8},  {"u1", SCALAR_U8},  {"i2", SCALAR_I16},
                 {"u2", SCALAR_U16},  {"i4", SCALAR_I32}, {"u4", SCALAR_U32}, {"i8", SCALAR_I64},
                 {"u8", SCALAR_U64},  {"f2", SCALAR_F16}, {"f4", SCALAR_F32}, {"f8", SCALAR_F64}};
    const char *name = text;
    char order = '=';
    if (text[0] != '\0' && strchr("<>=|", text[0]) != NULL) order = *name++;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(name, types[i].name) != 0) continue;
        if (order == '|' && scalar_width_bytes(types[i].type) > 1)
            return record_fault(literal, "descr has no byte order");
        *type = types[i].type;
        *big_endian = order == '>';
        return true;
    }
    return record_fault(literal, "descr is a type that is not supported");
}

/* The name of the i-th field, as a string without escapes. */
static bool take_field_name(struct literal *literal, const char *name)
{
    size_t length = strlen(name);
    skip_npy_blanks(literal);
    if (literal->end - literal->next < 2) return record_fault(literal, "a string is expected");
    char quote = *literal->next;
    if (quote != '\'' && quote != '"') return record_fault(literal, "a string is expected");
    if ((size_t)(literal->end - literal->next) < length + 2 ||
        memcmp(literal->next + 1, name, length) != 0 || literal->next[length + 1] != quote)
        return record_fault(literal, "the fields have other names than those of the port");
    literal->next += length + 2;
    return true;
}

/* `, (2, 2)` or `, 3`, or for no shape `,` or nothing: the lengths are those of `shape`. */
static bool take_field_shape(struct literal *literal, const char *shape)
{
    bool given = take_byte(literal, ','), tuple = given && take_byte(literal, '(');
    for (const char *at = shape; *at != '\0';) {
        size_t digits = strspn(at, "0123456789");
        skip_npy_blanks(literal);
        if (!given || (size_t)(literal->end - literal->next) < digits ||
            memcmp(literal->next, at, digits) != 0)
            return record_fault(literal, "a field has another shape than that of the port");
        literal->next += digits;
        at += digits;
        at += strspn(at, ", ");
        if (tuple) (void)take_byte(literal, ',');
    }
    if (tuple && !take_byte(literal, ')'))
        return record_fault(literal, "a field has another shape than that of the port");
    return true;
}

/* Takes all digits; false if their value needs more than 64 bits. */
static bool take_digits(struct literal *literal, uint64_t *value)
{
    *value = 0;
    for (; literal->next < literal->end && *literal->next >= '0' && *literal->next <= '9';
         literal->next++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*literal->next - '0'), value))
            return false;
    return true;
}

/* `|V3`: adds the number to the offset. */
static bool skip_gap(const char *text, uint64_t *offset)
{
    struct literal digits = {text + 2, text + strlen(text), NULL};
    uint64_t bytes;
    return strncmp(text, "|V", 2) == 0 && digits.next < digits.end &&
           take_digits(&digits, &bytes) && digits.next == digits.end &&
           !__builtin_add_overflow(*offset, bytes, offset);
}

/* Reads ('', '|V3'), a gap between fields.  False: it is not a gap. */
static bool take_gap(struct literal *literal, uint64_t *offset)
{
    struct literal before = *literal;
    char text[32];
    if (take_field_name(literal, "") && take_byte(literal, ',') && take_string(literal, text) &&
        take_byte(literal, ')') && skip_gap(text, offset))
        return true;
    *literal = before;
    return false;
}

static bool parse_npy_field(struct literal *literal, const struct prt_field_information *field,
                            uint64_t *offset)
{
    enum scalar_type type;
    bool big_endian;
    char text[32];
    if (!take_field_name(literal, field->name) || !take_byte(literal, ',') ||
        !take_string(literal, text) || !scalar_of_text(literal, text, &type, &big_endian))
        return record_fault(literal, "a field cannot be read");
    if (type != field->scalar || big_endian || *offset != field->offset_bytes)
        return record_fault(literal, "a field has another type or place than that of the port");
    if (!take_field_shape(literal, field->shape)) return false;
    *offset += field->count * scalar_width_bytes(type);
    if (!take_byte(literal, ')')) return record_fault(literal, "a field has no end");
    return true;
}

/* [('id', '<i4'), ...]: exactly the fields of the port. */
static bool parse_fields(struct literal *literal, struct npy_header *header)
{
    const struct prt_packet *layout = header->layout;
    uint64_t offset = 0;
    uint32_t seen = 0;
    while (!take_byte(literal, ']')) {
        if (!take_byte(literal, '('))
            return record_fault(literal, "descr is a list without fields");
        if (!take_gap(literal, &offset)) {
            if (seen == layout->field_count || layout->fields[seen].name[0] == '\0')
                return record_fault(literal, "there are more fields than the port has");
            if (!parse_npy_field(literal, &layout->fields[seen++], &offset)) return false;
        }
        if (take_byte(literal, ',')) continue;
        if (take_byte(literal, ']')) break;
        return record_fault(literal, "descr has no end");
    }
    if (seen != layout->field_count || offset != layout->width_bytes)
        return record_fault(literal, "the fields are not those of the port");
    header->type = layout->scalar;
    header->structured = true;
    return true;
}

static bool parse_npy_type(struct literal *literal, struct npy_header *header)
{
    char text[32];
    if (take_byte(literal, '[')) return parse_fields(literal, header);
    if (!take_string(literal, text)) return record_fault(literal, "descr is no simple type");
    return scalar_of_text(literal, text, &header->type, &header->big_endian);
}

static bool parse_dimension(struct literal *literal, uint64_t *dimension)
{
    const char *first = literal->next;
    if (!take_digits(literal, dimension)) return record_fault(literal, "shape is too large");
    if (literal->next == first)
        return record_fault(literal, "shape has an entry that is not a length");
    if (literal->next < literal->end && *literal->next == 'L') literal->next++; /* Python 2 */
    return true;
}

static bool parse_shape(struct literal *literal, struct npy_header *header)
{
    bool overflow = false, empty = false;
    header->elements = 1;
    header->dimension_count = header->large_dimensions = 0;
    if (!take_byte(literal, '(')) return record_fault(literal, "shape is not a tuple");
    for (int i = 0; !take_byte(literal, ')'); i++) {
        uint64_t dimension = 0;
        if (i == DIMENSIONS_MAX) return record_fault(literal, "shape has too many dimensions");
        if (!parse_dimension(literal, &dimension)) return false;
        header->dimensions[header->dimension_count++] = dimension;
        header->large_dimensions += dimension > 1;
        empty |= dimension == 0;
        if (!empty)
            overflow |= __builtin_mul_overflow(header->elements, dimension, &header->elements);
        if (take_byte(literal, ',')) continue;
        if (!take_byte(literal, ')')) return record_fault(literal, "shape has no end");
        break;
    }
    if (empty) header->elements = 0;
    if (overflow && !empty) return record_fault(literal, "shape is too large");
    return true;
}

static bool parse_order(struct literal *literal, struct npy_header *header)
{
    header->fortran = take_npy_word(literal, "True");
    if (!header->fortran && !take_npy_word(literal, "False"))
        return record_fault(literal, "fortran_order is neither True nor False");
    return true;
}

/* One key and its value. */
static bool parse_entry(struct literal *literal, struct npy_header *header)
{
    char key[32];
    if (!take_string(literal, key)) return false;
    if (!take_byte(literal, ':')) return record_fault(literal, "a ':' is missing");
    struct {
        const char *key;
        bool *seen;
        bool (*parse)(struct literal *, struct npy_header *);
    } entries[] = {{"descr", &header->has_type, parse_npy_type},
                   {"fortran_order", &header->has_order, parse_order},
                   {"shape", &header->has_shape, parse_shape}};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (strcmp(key, entries[i].key) != 0) continue;
        if (*entries[i].seen) return record_fault(literal, "a key is given twice");
        *entries[i].seen = true;
        return entries[i].parse(literal, header);
    }
    return record_fault(literal, "there is a key that is not descr, fortran_order or shape");
}

static bool parse_literal(struct literal *literal, struct npy_header *header)
{
    *header = (struct npy_header){.layout = header->layout};
    if (!take_byte(literal, '{')) return record_fault(literal, "it is not a dictionary");
    while (!take_byte(literal, '}')) {
        if (!parse_entry(literal, header)) return false;
        if (take_byte(literal, ',')) continue;
        if (!take_byte(literal, '}')) return record_fault(literal, "the dictionary has no end");
        break;
    }
    skip_npy_blanks(literal);
    if (literal->next != literal->end)
        return record_fault(literal, "something stands after the dictionary");
    if (!header->has_type || !header->has_order || !header->has_shape)
        return record_fault(literal, "descr, fortran_order or shape is missing");
    if (header->fortran && header->large_dimensions > 1)
        return record_fault(literal, "fortran_order is True: only C order is read");
    uint64_t bytes;
    if (header->structured &&
        __builtin_mul_overflow(header->elements, prt_packet_units(header->layout),
                               &header->elements))
        return record_fault(literal, "shape is too large");
    if (__builtin_mul_overflow(header->elements, scalar_width_bytes(header->type), &bytes) ||
        bytes > (uint64_t)INT64_MAX)
        return record_fault(literal, "shape is too large");
    return true;
}

/* --- source --- */

static enum prt_status refuse_npy(const struct prt_io_reader *reader, uint64_t offset,
                                  struct prt_error *error, const char *what)
{
    return prt_error_set_at(error, PRT_E_FORMAT, offset, "%s: npy header, byte %llu: %s",
                            reader->name, (unsigned long long)offset, what);
}

/* Reads magic, version and length; then the header text is the next `*text_bytes` bytes. */
static enum prt_status read_prefix(struct prt_io_reader *reader, size_t *text_bytes,
                                   struct prt_error *error)
{
    enum prt_status status = prt_io_reader_need(reader, PREFIX_BYTES + 4, error);
    if (status != PRT_OK) return status;
    const unsigned char *bytes = prt_io_reader_bytes(reader);
    size_t available = prt_io_reader_available(reader);
    static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    if (memcmp(bytes, magic, available < sizeof magic ? available : sizeof magic) != 0)
        return refuse_npy(reader, 0, error, "this is not a npy file");
    if (available < PREFIX_BYTES)
        return prt_io_reader_truncated(reader, error, "inside the npy header");
    unsigned major = bytes[6];
    size_t length_bytes = major == 1 ? 2 : 4;
    if (major < 1 || major > 3 || bytes[7] != 0)
        return refuse_npy(reader, 6, error, "the version is not 1.0, 2.0 or 3.0");
    if (available < PREFIX_BYTES + length_bytes)
        return prt_io_reader_truncated(reader, error, "inside the npy header");
    size_t length = 0;
    for (size_t i = length_bytes; i > 0; i--)
        length = length << 8 | bytes[PREFIX_BYTES + i - 1];
    if (length > HEADER_TEXT_MAX)
        return refuse_npy(reader, PREFIX_BYTES, error, "the header is too long");
    prt_io_reader_consume(reader, PREFIX_BYTES + length_bytes);
    *text_bytes = length;
    return PRT_OK;
}

static enum prt_status read_npy_header(struct prt_io_reader *reader, struct npy_header *header,
                                       struct prt_error *error)
{
    size_t text_bytes = 0;
    enum prt_status status = read_prefix(reader, &text_bytes, error);
    if (status == PRT_OK) status = prt_io_reader_need(reader, text_bytes, error);
    if (status != PRT_OK) return status;
    if (prt_io_reader_available(reader) < text_bytes)
        return prt_io_reader_truncated(reader, error, "inside the npy header");
    const char *text = (const char *)prt_io_reader_bytes(reader);
    struct literal literal = {text, text + text_bytes, NULL};
    if (!parse_literal(&literal, header)) {
        assert(literal.fault != NULL);
        return refuse_npy(reader, reader->offset + (uint64_t)(literal.next - text), error,
                          literal.fault);
    }
    prt_io_reader_consume(reader, text_bytes);
    return PRT_OK;
}

/* Do the array's last dimensions have as many elements as a packet? */
static bool ends_in_packet(const struct npy_header *header, const char *shape)
{
    int at = header->dimension_count - 1;
    for (const char *c = shape; *c != '\0'; c++)
        at -= *c == ',';
    for (const char *next = shape; at >= 0 && at < header->dimension_count; at++) {
        char *end;
        if (strtoull(next, &end, 10) != header->dimensions[at]) return false;
        next = end + strspn(end, ", ");
    }
    return at == header->dimension_count;
}

static enum prt_status check_dimensions(const struct prt_io_reader *reader,
                                        const struct npy_header *header, struct prt_error *error)
{
    const struct prt_packet *layout = header->layout;
    if (header->structured || layout->field_count != 1 || header->dimension_count < 2 ||
        layout->fields[0].shape[0] == '\0' || ends_in_packet(header, layout->fields[0].shape))
        return PRT_OK;
    return prt_error_set_at(error, PRT_E_FORMAT, PREFIX_BYTES,
                            "%s: the last dimensions of the npy array are not (%s), those of a "
                            "packet of type %s; an array of one dimension is read as it is",
                            reader->name, layout->fields[0].shape, layout->type);
}

/* Compares the header with the port and the file. */
static enum prt_status check_npy_header(const struct prt_io_reader *reader,
                                        const struct npy_header *header, struct prt_error *error)
{
    if (!header->structured && prt_packet_is_record(header->layout))
        return prt_error_set_at(error, PRT_E_FORMAT, PREFIX_BYTES,
                                "%s: npy descr: %s is no struct, packets of type %s have fields",
                                reader->name, scalar_name(header->type), header->layout->type);
    enum prt_status status = check_dimensions(reader, header, error);
    if (status != PRT_OK) return status;
    uint64_t bytes = header->elements * scalar_width_bytes(header->type);
    if (!reader->regular || reader->size_bytes - reader->offset >= bytes) return PRT_OK;
    return prt_error_set_at(error, PRT_E_TRUNCATED, reader->size_bytes,
                            "%s: the file ends at byte %llu, its npy header says %llu",
                            reader->name, (unsigned long long)reader->size_bytes,
                            (unsigned long long)reader->offset + bytes);
}

/* The file must end after the last element. */
static enum prt_status check_npy_end(struct npy_source *npy, struct prt_error *error)
{
    struct prt_io_reader *reader = &npy->reader;
    enum prt_status status = prt_io_reader_need(reader, 1, error);
    if (status != PRT_OK || prt_io_reader_available(reader) == 0) return status;
    return prt_error_set_at(error, PRT_E_FORMAT, reader->offset,
                            "%s: there is more after the npy array, which ends at byte %llu",
                            reader->name, (unsigned long long)reader->offset);
}

static enum prt_status npy_read(struct prt_source *source, void *packets, size_t capacity,
                                size_t *count, struct prt_error *error)
{
    struct npy_source *npy = (struct npy_source *)source;
    if (npy->elements.remaining == 0) return check_npy_end(npy, error);
    return prt_io_elements_read(&npy->reader, &npy->elements, source->packet, packets, capacity,
                                count, error);
}

static void npy_close(struct prt_source *source)
{
    prt_io_reader_close(&((struct npy_source *)source)->reader);
    free(source);
}

static const struct prt_source_ops npy_source_ops = {npy_read, npy_close};

enum prt_status prt_npy_source_open(const struct prt_port_spec *spec,
                                    const struct prt_packet *layout,
                                    const struct prt_io_environment *environment,
                                    struct prt_source **source, struct prt_error *error)
{
    enum scalar_type packet = layout->scalar;
    if (spec->has_element)
        return prt_error_set(error, PRT_E_USAGE, "%s: a npy file names its own type", spec->path);
    struct prt_source *made =
        prt_source_make(sizeof(struct npy_source), &npy_source_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    struct npy_source *npy = (struct npy_source *)made;
    made->reader = &npy->reader;
    struct npy_header header = {.layout = layout};
    enum prt_status status = prt_io_reader_open(&npy->reader, spec->path, environment, error);
    if (status == PRT_OK) status = read_npy_header(&npy->reader, &header, error);
    if (status == PRT_OK) status = check_npy_header(&npy->reader, &header, error);
    if (status != PRT_OK) {
        npy_close(made);
        return status;
    }
    npy->elements = (struct prt_io_elements){header.type, header.big_endian, header.elements};
    made->information.packets = header.elements;
    memcpy(npy->dimensions, header.dimensions, sizeof npy->dimensions);
    made->information.dimensions = npy->dimensions;
    made->information.dimension_count = (uint32_t)header.dimension_count;
    made->information.structured = header.structured;
    *source = made;
    return PRT_OK;
}

/* --- sink --- */

static const char *npy_type_text(enum scalar_type type, bool big_endian, char text[4])
{
    char order = scalar_width_bytes(type) == 1 ? '|' : big_endian ? '>' : '<';
    char kind = type == SCALAR_BOOL      ? 'b'
                : scalar_is_float(type)  ? 'f'
                : scalar_is_signed(type) ? 'i'
                                         : 'u';
    text[0] = order;
    text[1] = kind;
    text[2] = (char)('0' + scalar_width_bytes(type));
    text[3] = '\0';
    return text;
}

/* Whether the packets are written as a structured type. */
static bool is_structured(const struct prt_packet *layout)
{
    return layout->field_count > 1 || prt_packet_is_record(layout);
}

static void write_gap(FILE *to, uint64_t from, uint64_t end)
{
    if (end > from) fprintf(to, "('', '|V%llu'), ", (unsigned long long)(end - from));
}

static void write_npy_fields(FILE *to, const struct prt_packet *layout)
{
    uint64_t end = 0;
    fputc('[', to);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct prt_field_information *field = &layout->fields[i];
        char type[4];
        write_gap(to, end, field->offset_bytes);
        fprintf(to, "('%s', '%s'", field->name, npy_type_text(field->scalar, false, type));
        if (field->shape[0] != '\0')
            fprintf(to, ", (%s%s)", field->shape, strchr(field->shape, ',') != NULL ? "" : ",");
        fputs("), ", to);
        end = field->offset_bytes + field->count * scalar_width_bytes(field->scalar);
    }
    write_gap(to, end, layout->width_bytes);
    fputc(']', to);
}

/* The text, with room for the number of packets at `*count_at`. */
static char *header_text(const struct npy_sink *npy, size_t *length, size_t *count_at)
{
    const struct prt_packet *layout = npy->layout;
    char type[4];
    struct memory_text text;
    /* uncovered: the C library allocates for it; tests/fault lets such calls fail */
    if (!memory_text_begin(&text)) return NULL;
    FILE *to = text.file;
    fputs("{'descr': ", to);
    if (is_structured(layout))
        write_npy_fields(to, layout);
    else
        fprintf(to, "'%s'", npy_type_text(npy->element, npy->big_endian, type));
    fputs(", 'fortran_order': False, 'shape': (", to);
    *count_at = memory_text_bytes(&text);
    fprintf(to, "%*s,", COUNT_DIGITS, "");
    if (!is_structured(layout) && layout->field_count == 1 && layout->fields[0].shape[0] != '\0')
        fprintf(to, " %s,", layout->fields[0].shape);
    fputs("), }", to);
    return memory_text_end(&text, length);
}

/* The header for `packets` packets: the number in as few digits as it needs, blanks after the text. */
static enum prt_status make_npy_header(struct npy_sink *npy, uint64_t packets,
                                       struct prt_error *error)
{
    size_t length = 0, count_at = 0;
    char *text = header_text(npy, &length, &count_at), digits[COUNT_DIGITS + 1];
    if (text == NULL) return prt_io_no_memory(error);
    size_t whole = PREFIX_BYTES + 2 + length + 1;
    whole = align_up(whole, HEADER_STEP);
    if (npy->header == NULL) npy->header = malloc(whole);
    if (npy->header == NULL || length > HEADER_TEXT_MAX) {
        free(text);
        return npy->header == NULL ? prt_io_no_memory(error)
                                   : prt_error_set(error, PRT_E_USAGE,
                                                   "npy: packets of type %s have too many fields",
                                                   npy->layout->type);
    }
    size_t used = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)packets);
    size_t field = whole - PREFIX_BYTES - 2;
    memset(npy->header, ' ', whole);
    memcpy(npy->header, "\x93NUMPY\x01\x00", PREFIX_BYTES);
    npy->header[PREFIX_BYTES] = (char)(field & 0xff);
    npy->header[PREFIX_BYTES + 1] = (char)(field >> 8);
    char *at = npy->header + PREFIX_BYTES + 2;
    memcpy(at, text, count_at);
    memcpy(at + count_at, digits, used);
    memcpy(at + count_at + used, text + count_at + COUNT_DIGITS, length - count_at - COUNT_DIGITS);
    npy->header[whole - 1] = '\n';
    npy->header_bytes = whole;
    free(text);
    return PRT_OK;
}

static enum prt_status npy_write(struct prt_sink *sink, const void *packets, size_t count,
                                 struct prt_error *error)
{
    struct npy_sink *npy = (struct npy_sink *)sink;
    return prt_sink_put_elements(sink, npy->element, npy->big_endian, packets, count, error);
}

static enum prt_status npy_complete(struct prt_sink *sink, struct prt_error *error)
{
    struct npy_sink *npy = (struct npy_sink *)sink;
    bool whole = is_structured(npy->layout) ||
                 (npy->layout->field_count == 1 && npy->layout->fields[0].shape[0] != '\0');
    uint64_t packets = whole ? sink->packets / prt_packet_units(npy->layout) : sink->packets;
    enum prt_status status = make_npy_header(npy, packets, error);
    if (status != PRT_OK) return status;
    return prt_io_writer_patch(&sink->writer, 0, npy->header, npy->header_bytes, error);
}

static void npy_release(struct prt_sink *sink)
{
    free(((struct npy_sink *)sink)->header);
}

static const struct prt_sink_ops npy_sink_ops = {npy_write, npy_complete, npy_release};

/* Types that npy lacks are refused. */
static enum prt_status check_npy_types(const struct prt_port_spec *spec,
                                       const struct prt_packet *layout, enum scalar_type element,
                                       struct prt_error *error)
{
    bool bf16 = element == SCALAR_BF16;
    for (uint32_t i = 0; is_structured(layout) && i < layout->field_count; i++)
        bf16 = bf16 || layout->fields[i].scalar == SCALAR_BF16;
    if (bf16) return prt_error_set(error, PRT_E_USAGE, "%s: npy has no type bf16", spec->path);
    if (is_structured(layout) && (element != layout->scalar || spec->big_endian))
        return prt_error_set(error, PRT_E_USAGE,
                             "%s: packets of type %s have fields, they are not converted",
                             spec->path, layout->type);
    return PRT_OK;
}

enum prt_status prt_npy_sink_open(const struct prt_port_spec *spec, const struct prt_packet *layout,
                                  const struct prt_io_environment *environment,
                                  struct prt_sink **sink, struct prt_error *error)
{
    enum scalar_type element;
    enum prt_status status = prt_io_element(spec, layout, &element, error);
    if (status == PRT_OK) status = check_npy_types(spec, layout, element, error);
    if (status != PRT_OK) return status;
    struct npy_sink *npy =
        (struct npy_sink *)prt_sink_make(sizeof *npy, &npy_sink_ops, layout->scalar, error);
    if (npy == NULL) return PRT_E_NOMEM;
    npy->layout = layout;
    npy->element = element;
    npy->big_endian = spec->big_endian;
    status = make_npy_header(npy, 0, error);
    if (status == PRT_OK)
        status = prt_io_writer_open(&npy->base.writer, spec->path, true, environment, error);
    if (status == PRT_OK)
        status = prt_io_writer_put(&npy->base.writer, npy->header, npy->header_bytes, error);
    if (status != PRT_OK) {
        prt_sink_close(&npy->base);
        return status;
    }
    *sink = &npy->base;
    return PRT_OK;
}
