/* npy: NumPy's array files, versions 1.0, 2.0 and 3.0.
 *
 *   0x93 "NUMPY"  major u8  minor u8  header length u16 (1.0) or u32, little-endian
 *   header: a Python literal {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *   the elements
 *
 * Read: elements |b1 |i1 |u1 and <>=i2..i8 u2..u8 f2..f8, C order (Fortran order where it is the
 * same: at most one dimension above 1), any number of dimensions, flat.  Bytes behind the array are
 * refused.  Written: version 1.0, one dimension, header of HEADER_BYTES with room for any length.
 */
#include "runtime/io/io_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX_BYTES 8
#define HEADER_BYTES 128 /* as written, prefix and length included */
#define HEADER_TEXT_MAX ((size_t)60000)
#define DIMENSIONS_MAX 64

struct npy_source {
    struct prt_source base;
    struct prt_io_reader reader;
    struct prt_io_elements elements;
};

struct npy_sink {
    struct prt_sink base;
    enum scalar_type element;
    bool big_endian;
};

/* --- the header's literal --- */

/* A cursor over the header text. */
struct literal {
    const char *next, *end;
    const char *fault; /* what was wrong first, NULL: nothing */
};

struct npy_header {
    bool has_type, has_order, has_shape, fortran;
    enum scalar_type type;
    bool big_endian;
    uint64_t elements;
    int large_dimensions; /* those above 1 */
};

static bool fault(struct literal *literal, const char *what)
{
    if (literal->fault == NULL) literal->fault = what;
    return false;
}

static void skip_blanks(struct literal *literal)
{
    while (literal->next < literal->end && (*literal->next == ' ' || *literal->next == '\n' ||
                                            *literal->next == '\t' || *literal->next == '\r'))
        literal->next++;
}

static bool take(struct literal *literal, char expected)
{
    skip_blanks(literal);
    if (literal->next == literal->end || *literal->next != expected) return false;
    literal->next++;
    return true;
}

static bool take_word(struct literal *literal, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(literal);
    if ((size_t)(literal->end - literal->next) < length || memcmp(literal->next, word, length) != 0)
        return false;
    literal->next += length;
    return true;
}

/* A quoted string without escapes, up to 31 bytes. */
static bool take_string(struct literal *literal, char string[32])
{
    skip_blanks(literal);
    if (literal->next == literal->end || (*literal->next != '\'' && *literal->next != '"'))
        return fault(literal, "a string is expected");
    char quote = *literal->next++;
    size_t length = 0;
    while (literal->next < literal->end && *literal->next != quote && length < 31)
        string[length++] = *literal->next++;
    string[length] = '\0';
    if (!take(literal, quote)) return fault(literal, "a string is too long or has no end");
    return true;
}

static bool parse_type(struct literal *literal, struct npy_header *header)
{
    static const struct {
        char name[3];
        enum scalar_type type;
    } types[] = {{"b1", SCALAR_BOOL}, {"i1", SCALAR_I8},  {"u1", SCALAR_U8},  {"i2", SCALAR_I16},
                 {"u2", SCALAR_U16},  {"i4", SCALAR_I32}, {"u4", SCALAR_U32}, {"i8", SCALAR_I64},
                 {"u8", SCALAR_U64},  {"f2", SCALAR_F16}, {"f4", SCALAR_F32}, {"f8", SCALAR_F64}};
    char text[32];
    if (!take_string(literal, text)) return fault(literal, "descr is no simple type");
    const char *name = text;
    char order = '=';
    if (text[0] != '\0' && strchr("<>=|", text[0]) != NULL) order = *name++;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(name, types[i].name) != 0) continue;
        if (order == '|' && scalar_width_bytes(types[i].type) > 1)
            return fault(literal, "descr has no byte order");
        header->type = types[i].type;
        header->big_endian = order == '>';
        return true;
    }
    return fault(literal, "descr is a type that is not supported");
}

static bool parse_dimension(struct literal *literal, uint64_t *dimension)
{
    uint64_t value = 0;
    const char *first = literal->next;
    for (; literal->next < literal->end && *literal->next >= '0' && *literal->next <= '9';
         literal->next++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*literal->next - '0'), &value))
            return fault(literal, "shape is too large");
    if (literal->next == first) return fault(literal, "shape has an entry that is not a length");
    if (literal->next < literal->end && *literal->next == 'L') literal->next++; /* Python 2 */
    *dimension = value;
    return true;
}

static bool parse_shape(struct literal *literal, struct npy_header *header)
{
    bool overflow = false, empty = false;
    header->elements = 1;
    header->large_dimensions = 0;
    if (!take(literal, '(')) return fault(literal, "shape is not a tuple");
    for (int i = 0; !take(literal, ')'); i++) {
        uint64_t dimension = 0;
        if (i == DIMENSIONS_MAX) return fault(literal, "shape has too many dimensions");
        if (!parse_dimension(literal, &dimension)) return false;
        header->large_dimensions += dimension > 1;
        empty |= dimension == 0;
        if (!empty)
            overflow |= __builtin_mul_overflow(header->elements, dimension, &header->elements);
        if (take(literal, ',')) continue;
        if (!take(literal, ')')) return fault(literal, "shape has no end");
        break;
    }
    if (empty) header->elements = 0;
    return !overflow || empty || fault(literal, "shape is too large");
}

static bool parse_order(struct literal *literal, struct npy_header *header)
{
    header->fortran = take_word(literal, "True");
    return header->fortran || take_word(literal, "False") ||
           fault(literal, "fortran_order is neither True nor False");
}

/* One key and its value. */
static bool parse_entry(struct literal *literal, struct npy_header *header)
{
    char key[32];
    if (!take_string(literal, key)) return false;
    if (!take(literal, ':')) return fault(literal, "a ':' is missing");
    struct {
        const char *key;
        bool *seen;
        bool (*parse)(struct literal *, struct npy_header *);
    } entries[] = {{"descr", &header->has_type, parse_type},
                   {"fortran_order", &header->has_order, parse_order},
                   {"shape", &header->has_shape, parse_shape}};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (strcmp(key, entries[i].key) != 0) continue;
        if (*entries[i].seen) return fault(literal, "a key is given twice");
        *entries[i].seen = true;
        return entries[i].parse(literal, header);
    }
    return fault(literal, "there is a key that is not descr, fortran_order or shape");
}

static bool parse_literal(struct literal *literal, struct npy_header *header)
{
    *header = (struct npy_header){0};
    if (!take(literal, '{')) return fault(literal, "it is not a dictionary");
    while (!take(literal, '}')) {
        if (!parse_entry(literal, header)) return false;
        if (take(literal, ',')) continue;
        if (!take(literal, '}')) return fault(literal, "the dictionary has no end");
        break;
    }
    skip_blanks(literal);
    if (literal->next != literal->end)
        return fault(literal, "something stands behind the dictionary");
    if (!header->has_type || !header->has_order || !header->has_shape)
        return fault(literal, "descr, fortran_order or shape is missing");
    if (header->fortran && header->large_dimensions > 1)
        return fault(literal, "fortran_order is True: only C order is read");
    uint64_t bytes;
    if (__builtin_mul_overflow(header->elements, scalar_width_bytes(header->type), &bytes) ||
        bytes > (uint64_t)INT64_MAX)
        return fault(literal, "shape is too large");
    return true;
}

/* --- source --- */

static enum prt_status refuse(const struct prt_io_reader *reader, uint64_t offset,
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
        return refuse(reader, 0, error, "this is not a npy file");
    if (available < PREFIX_BYTES)
        return prt_io_reader_truncated(reader, error, "inside the npy header");
    unsigned major = bytes[6];
    size_t length_bytes = major == 1 ? 2 : 4;
    if (major < 1 || major > 3 || bytes[7] != 0)
        return refuse(reader, 6, error, "the version is not 1.0, 2.0 or 3.0");
    if (available < PREFIX_BYTES + length_bytes)
        return prt_io_reader_truncated(reader, error, "inside the npy header");
    size_t length = 0;
    for (size_t i = length_bytes; i > 0; i--)
        length = length << 8 | bytes[PREFIX_BYTES + i - 1];
    if (length > HEADER_TEXT_MAX)
        return refuse(reader, PREFIX_BYTES, error, "the header is too long");
    prt_io_reader_consume(reader, PREFIX_BYTES + length_bytes);
    *text_bytes = length;
    return PRT_OK;
}

static enum prt_status read_header(struct prt_io_reader *reader, struct npy_header *header,
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
    if (!parse_literal(&literal, header))
        return refuse(reader, reader->offset + (uint64_t)(literal.next - text), error,
                      literal.fault != NULL ? literal.fault : "it cannot be read");
    prt_io_reader_consume(reader, text_bytes);
    return PRT_OK;
}

/* What the header says against the port and the file. */
static enum prt_status check_header(const struct prt_io_reader *reader,
                                    const struct npy_header *header, enum scalar_type packet,
                                    struct prt_error *error)
{
    if (!prt_io_converts(header->type, packet))
        return prt_error_set_at(error, PRT_E_FORMAT, PREFIX_BYTES,
                                "%s: npy descr: %s does not convert to a port of type %s",
                                reader->name, scalar_name(header->type), scalar_name(packet));
    uint64_t bytes = header->elements * scalar_width_bytes(header->type);
    if (!reader->regular || reader->size_bytes - reader->offset >= bytes) return PRT_OK;
    return prt_error_set_at(error, PRT_E_TRUNCATED, reader->size_bytes,
                            "%s: the file ends at byte %llu, its npy header says %llu",
                            reader->name, (unsigned long long)reader->size_bytes,
                            (unsigned long long)reader->offset + bytes);
}

/* Behind the last element the file must end. */
static enum prt_status check_end(struct npy_source *npy, struct prt_error *error)
{
    struct prt_io_reader *reader = &npy->reader;
    enum prt_status status = prt_io_reader_need(reader, 1, error);
    if (status != PRT_OK || prt_io_reader_available(reader) == 0) return status;
    return prt_error_set_at(error, PRT_E_FORMAT, reader->offset,
                            "%s: there is more behind the npy array, which ends at byte %llu",
                            reader->name, (unsigned long long)reader->offset);
}

static enum prt_status npy_read(struct prt_source *source, void *packets, size_t capacity,
                                size_t *count, struct prt_error *error)
{
    struct npy_source *npy = (struct npy_source *)source;
    if (npy->elements.remaining == 0) return check_end(npy, error);
    return prt_io_elements_read(&npy->reader, &npy->elements, source->packet, packets, capacity,
                                count, error);
}

static void npy_close(struct prt_source *source)
{
    prt_io_reader_close(&((struct npy_source *)source)->reader);
    free(source);
}

static const struct prt_source_ops npy_source_ops = {npy_read, npy_close};

enum prt_status prt_npy_source_open(const struct prt_port_spec *spec, enum scalar_type packet,
                                    const struct prt_io_environment *environment,
                                    struct prt_source **source, struct prt_error *error)
{
    if (spec->has_element)
        return prt_error_set(error, PRT_E_USAGE, "%s: a npy file names its own type", spec->path);
    struct prt_source *made =
        prt_source_make(sizeof(struct npy_source), &npy_source_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    struct npy_source *npy = (struct npy_source *)made;
    struct npy_header header = {0};
    enum prt_status status = prt_io_reader_open(&npy->reader, spec->path, environment, error);
    if (status == PRT_OK) status = read_header(&npy->reader, &header, error);
    if (status == PRT_OK) status = check_header(&npy->reader, &header, packet, error);
    if (status != PRT_OK) {
        npy_close(made);
        return status;
    }
    npy->elements = (struct prt_io_elements){header.type, header.big_endian, header.elements};
    made->information.packets = header.elements;
    *source = made;
    return PRT_OK;
}

/* --- sink --- */

static const char *type_text(enum scalar_type type, bool big_endian, char text[4])
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

static void make_header(const struct npy_sink *npy, uint64_t packets, char header[HEADER_BYTES])
{
    char type[4], text[HEADER_BYTES];
    int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%llu,), }",
                 type_text(npy->element, npy->big_endian, type), (unsigned long long)packets);
    memset(header, ' ', HEADER_BYTES);
    memcpy(header, "\x93NUMPY\x01\x00", PREFIX_BYTES);
    header[PREFIX_BYTES] = HEADER_BYTES - PREFIX_BYTES - 2;
    header[PREFIX_BYTES + 1] = 0;
    memcpy(header + PREFIX_BYTES + 2, text, (size_t)length); /* at most 85 bytes */
    header[HEADER_BYTES - 1] = '\n';
}

static enum prt_status npy_write(struct prt_sink *sink, const void *packets, size_t count,
                                 struct prt_error *error)
{
    struct npy_sink *npy = (struct npy_sink *)sink;
    return prt_sink_put_elements(sink, npy->element, npy->big_endian, packets, count, error);
}

static enum prt_status npy_complete(struct prt_sink *sink, struct prt_error *error)
{
    char header[HEADER_BYTES];
    make_header((struct npy_sink *)sink, sink->packets, header);
    return prt_io_writer_patch(&sink->writer, 0, header, sizeof header, error);
}

static const struct prt_sink_ops npy_sink_ops = {npy_write, npy_complete, NULL};

enum prt_status prt_npy_sink_open(const struct prt_port_spec *spec, enum scalar_type packet,
                                  const struct prt_io_environment *environment,
                                  struct prt_sink **sink, struct prt_error *error)
{
    enum scalar_type element;
    enum prt_status status = prt_sink_element(spec, packet, &element, error);
    if (status != PRT_OK) return status;
    if (element == SCALAR_BF16)
        return prt_error_set(error, PRT_E_USAGE, "%s: npy has no type bf16", spec->path);
    struct npy_sink *npy =
        (struct npy_sink *)prt_sink_make(sizeof *npy, &npy_sink_ops, packet, error);
    if (npy == NULL) return PRT_E_NOMEM;
    npy->element = element;
    npy->big_endian = spec->big_endian;
    char header[HEADER_BYTES];
    make_header(npy, 0, header);
    status = prt_io_writer_open(&npy->base.writer, spec->path, true, environment, error);
    if (status == PRT_OK)
        status = prt_io_writer_put(&npy->base.writer, header, sizeof header, error);
    if (status != PRT_OK) {
        prt_sink_close(&npy->base);
        return status;
    }
    *sink = &npy->base;
    return PRT_OK;
}
