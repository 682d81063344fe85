/* SPDX-License-Identifier: MIT */
#include "base/nearest.h"
#include "tools/piperun/io/arrival_text.h"
#include "tools/piperun/io/io_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OPTION_MAX ((uint64_t)INT32_MAX)

/* A piece of the text, not NUL-terminated. */
struct piece {
    const char *text;
    size_t length;
};

static bool piece_is(struct piece piece, const char *word)
{
    return piece.length == strlen(word) && memcmp(piece.text, word, piece.length) == 0;
}

/* Cuts `prefix` off the front if it is there. */
static bool piece_skip(struct piece *piece, const char *prefix)
{
    size_t length = strlen(prefix);
    if (piece->length < length || memcmp(piece->text, prefix, length) != 0) return false;
    piece->text += length;
    piece->length -= length;
    return true;
}

static bool piece_begins(struct piece piece, const char *prefix)
{
    return piece_skip(&piece, prefix);
}

/* Cuts the part before `separator` off the front, and the separator; all if there is none. */
static struct piece piece_split(struct piece *rest, char separator)
{
    const char *found = memchr(rest->text, separator, rest->length);
    struct piece front = {rest->text, found != NULL ? (size_t)(found - rest->text) : rest->length};
    size_t used = found != NULL ? front.length + 1 : front.length;
    rest->text += used;
    rest->length -= used;
    return front;
}

static bool parse_spec_number(struct piece piece, uint64_t highest, uint64_t *number)
{
    uint64_t base = piece_skip(&piece, "0x") ? 16 : 10, value = 0;
    if (piece.length == 0) return false;
    for (size_t i = 0; i < piece.length; i++) {
        int c = tolower((unsigned char)piece.text[i]);
        uint64_t digit = 99;
        if (c >= '0' && c <= '9')
            digit = (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (uint64_t)(c - 'a') + 10;
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value) || value > highest)
            return false;
    }
    *number = value;
    return true;
}

/* TYPE: a name of the language, or s8..s64, then le, be or nothing. */
static bool parse_spec_type(struct piece piece, struct prt_port_spec *spec)
{
    char name[8];
    bool big_endian = false;
    if (piece.length == 0 || piece.length >= sizeof name) return false;
    for (size_t i = 0; i < piece.length; i++)
        name[i] = (char)tolower((unsigned char)piece.text[i]);
    size_t length = piece.length;
    if (length > 2 && name[length - 1] == 'e' &&
        (name[length - 2] == 'l' || name[length - 2] == 'b')) {
        big_endian = name[length - 2] == 'b';
        length -= 2;
    }
    if (name[0] == 's') name[0] = 'i';
    if (!scalar_from_name(name, length, &spec->element)) return false;
    spec->has_element = true;
    spec->big_endian = big_endian;
    return true;
}

/* --- items --- */

#define TYPE_BIT(suffix) (1u << SCALAR_##suffix)
enum {
    ALL_TYPES = (1u << SCALAR_COUNT) - 1,
    AIFF_TYPES = TYPE_BIT(I16) | TYPE_BIT(I32) | TYPE_BIT(F32) | TYPE_BIT(F64),
    WAV_TYPES = TYPE_BIT(U8) | AIFF_TYPES,
};

static const struct format_item {
    const char *name;
    enum prt_format format;
    uint32_t channels; /* implied */
    unsigned types;    /* bits: those of NAME:TYPE; 0: there is no such form */
} items[] = {
    {"raw", PRT_FORMAT_RAW, 0, ALL_TYPES},
    {"npy", PRT_FORMAT_NPY, 0, ALL_TYPES & ~TYPE_BIT(BF16)},
    {"wav", PRT_FORMAT_WAV, 0, WAV_TYPES},
    {"aiff", PRT_FORMAT_AIFF, 0, AIFF_TYPES},
    {"flac", PRT_FORMAT_FLAC, 0, TYPE_BIT(I16)},
    {"ogg", PRT_FORMAT_OGG, 0, 0},
    {"pgm", PRT_FORMAT_PGM, 0, 0},
    {"ppm", PRT_FORMAT_PGM, 3, 0},
    {"png", PRT_FORMAT_PNG, 0, 0},
    {"y4m", PRT_FORMAT_Y4M, 0, 0},
    {"csv", PRT_FORMAT_CSV, 0, 0},
    {"jsonl", PRT_FORMAT_JSONL, 0, 0},
    {"null", PRT_FORMAT_NULL, 0, 0},
};

enum { OPTION_RATE, OPTION_WIDTH, OPTION_HEIGHT, OPTION_CHANNELS, OPTIONS };

static const char *const options[OPTIONS] = {"rate", "width", "height", "channels"};

enum {
    ITEMS = sizeof items / sizeof items[0],
    WORD_BYTES = 32 /* longer ones are cut: no known word resembles them */
};

/* The items of one binding while they are read. */
struct item_reader {
    struct prt_port_spec *spec;
    const char *fixed;        /* why the port can have no format, for a message; NULL: it can */
    struct piece format;      /* the item that named the format; empty: none yet */
    uint32_t values[OPTIONS]; /* 0: not given */
    uint32_t rate_divisor;    /* 0: not given */
};

/* For nearest_consider: NUL-terminated. */
static const char *piece_word(struct piece piece, char word[WORD_BYTES])
{
    size_t length = piece.length < WORD_BYTES ? piece.length : WORD_BYTES - 1;
    memcpy(word, piece.text, length);
    word[length] = '\0';
    return word;
}

static enum prt_status refuse_type(const struct prt_port_spec *spec,
                                   const struct format_item *format, struct piece type,
                                   struct prt_error *error)
{
    char word[WORD_BYTES], list[128];
    size_t length = 0;
    struct nearest nearest = {.wanted = piece_word(type, word)};
    for (int i = 0; i < SCALAR_COUNT; i++) {
        const char *name = scalar_name((enum scalar_type)i);
        if ((format->types >> i & 1) == 0) continue;
        nearest_consider(&nearest, name);
        length += (size_t)snprintf(list + length, sizeof list - length, "%s ", name);
    }
    const char *meant = nearest.near ? nearest.name : NULL;
    if (meant != NULL)
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': %s has no type '%.*s'; did you mean '%s:%s'?", spec->port,
                             format->name, (int)type.length, type.text, format->name, meant);
    return prt_error_set(error, PRT_E_USAGE,
                         "port '%s': %s has no type '%.*s': its types are %s(s16 is i16; with le "
                         "or be after it)",
                         spec->port, format->name, (int)type.length, type.text, list);
}

/* Takes an item that names the format of the packets, unless another item has named one. */
static enum prt_status take_format(struct item_reader *reader, struct piece item,
                                   const struct format_item *format, struct prt_error *error)
{
    struct prt_port_spec *spec = reader->spec;
    struct piece type = item;
    bool typed = piece_split(&type, ':').length != item.length;
    if (reader->fixed != NULL)
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': '%s' and '%.*s' contradict each other: %s", spec->port,
                             spec->path, (int)item.length, item.text, reader->fixed);
    if (reader->format.length != 0)
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': '%.*s' and '%.*s' are two formats: a port has one",
                             spec->port, (int)reader->format.length, reader->format.text,
                             (int)item.length, item.text);
    if (typed && format->types == 0)
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': '%.*s': %s takes no type; raw:TYPE, npy:TYPE, wav:TYPE, "
                             "aiff:TYPE and flac:TYPE do",
                             spec->port, (int)item.length, item.text, format->name);
    if (typed && !parse_spec_type(type, spec)) return refuse_type(spec, format, type, error);
    reader->format = item;
    spec->format = format->format;
    spec->channels = format->channels;
    return PRT_OK;
}

static enum prt_status take_spec_option(struct item_reader *reader, size_t option,
                                        struct piece value, bool has_value, struct prt_error *error)
{
    const char *port = reader->spec->port, *name = options[option];
    uint64_t number, divisor = 1;
    if (reader->values[option] != 0)
        return prt_error_set(error, PRT_E_USAGE, "port '%s': %s= is given twice", port, name);
    if (!has_value || value.length == 0)
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': %s= takes a whole number from 1 to %d, and there is none",
                             port, name, INT32_MAX);
    struct piece below = value, above = piece_split(&below, '/');
    bool fraction = option == OPTION_RATE && above.length != value.length;
    if (!parse_spec_number(fraction ? above : value, OPTION_MAX, &number) || number == 0 ||
        (fraction && (!parse_spec_number(below, OPTION_MAX, &divisor) || divisor == 0)))
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': %s= takes a whole number from 1 to %d, not '%.*s'", port,
                             name, INT32_MAX, (int)value.length, value.text);
    if (option == OPTION_RATE) reader->rate_divisor = (uint32_t)divisor;
    reader->values[option] = (uint32_t)number;
    return PRT_OK;
}

static enum prt_status take_arrivals(struct prt_port_spec *spec, struct piece value,
                                     struct prt_error *error)
{
    if (spec->arrive_packets != 0 || spec->arrive_path != NULL)
        return prt_error_set(error, PRT_E_USAGE, "port '%s': arrive= is given twice", spec->port);
    struct piece path = value;
    if (piece_skip(&path, "@") && path.length > 0) {
        spec->arrive_path = strndup(path.text, path.length);
        return spec->arrive_path != NULL ? PRT_OK : prt_io_no_memory(error);
    }
    if (prt_arrival_rate_parse(value.text, value.length, &spec->arrive_packets,
                               &spec->arrive_seconds))
        return PRT_OK;
    return prt_error_set(error, PRT_E_USAGE,
                         "port '%s': arrive= takes the packets that arrive in a second, such as "
                         "48000, 44.1kHz or 30000/1001, or @FILE with a line for each arrival, not "
                         "'%.*s'",
                         spec->port, (int)value.length, value.text);
}

/* One character that no number, name or quotes can begin with. */
static bool parse_mark(struct piece value, char *mark)
{
    if (piece_is(value, "tab"))
        *mark = '\t';
    else if (value.length == 1 && ispunct((unsigned char)value.text[0]) &&
             strchr("\"'+-._", value.text[0]) == NULL)
        *mark = value.text[0];
    else
        return false;
    return true;
}

enum { MARK_SEPARATOR, MARK_COMMENT, MARK_MISSING, MARKS };

static const char *const mark_names[MARKS] = {"separator", "comment", "missing"};

static enum prt_status take_csv_option(struct prt_port_spec *spec, int option, struct piece value,
                                       struct prt_error *error)
{
    const char *name = mark_names[option];
    char *mark = option == MARK_SEPARATOR ? &spec->separator : &spec->comment;
    if (option == MARK_MISSING ? spec->missing != NULL : *mark != '\0')
        return prt_error_set(error, PRT_E_USAGE, "port '%s': %s= is given twice", spec->port, name);
    if (option == MARK_MISSING && value.length > 0) {
        spec->missing = strndup(value.text, value.length);
        return spec->missing != NULL ? PRT_OK : prt_io_no_memory(error);
    }
    if (option == MARK_MISSING)
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': missing= takes a number, such as 0 or nan, and there is "
                             "none",
                             spec->port);
    if (!parse_mark(value, mark))
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': %s= takes one character, such as %s, or tab, not '%.*s'",
                             spec->port, name, option == MARK_SEPARATOR ? "';'" : "'#'",
                             (int)value.length, value.text);
    if (spec->separator != spec->comment) return PRT_OK;
    return prt_error_set(error, PRT_E_USAGE,
                         "port '%s': separator= and comment= are the same character", spec->port);
}

static enum prt_status refuse_item(const struct prt_port_spec *spec, struct piece item,
                                   struct piece name, bool has_value, struct prt_error *error)
{
    char word[WORD_BYTES];
    struct nearest nearest = {.wanted = piece_word(name, word)};
    if (item.length == 0)
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': nothing follows a comma: leave it out, or name a "
                             "format",
                             spec->port);
    struct prt_port_spec typed = *spec;
    if (!has_value && parse_spec_type(item, &typed))
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': '%.*s' is a type, and a port needs a format; did you mean "
                             "'raw:%.*s'?",
                             spec->port, (int)item.length, item.text, (int)item.length, item.text);
    for (size_t i = 0; i < OPTIONS; i++)
        nearest_consider(&nearest, options[i]);
    nearest_consider(&nearest, "arrive");
    for (size_t i = 0; i < MARKS; i++)
        nearest_consider(&nearest, mark_names[i]);
    if (!has_value) nearest_consider(&nearest, "headings");
    if (!has_value) nearest_consider(&nearest, "full");
    for (size_t i = 0; i < ITEMS && !has_value; i++)
        nearest_consider(&nearest, items[i].name);
    const char *meant = nearest.near ? nearest.name : NULL;
    if (meant != NULL)
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': there is no %s '%.*s'; did you mean '%s%s'?", spec->port,
                             has_value ? "option" : "format", (int)name.length, name.text, meant,
                             has_value ? "=" : "");
    return prt_error_set(
        error, PRT_E_USAGE,
        "port '%s': '%.*s' is no format and no option of a port: raw raw:TYPE npy "
        "wav aiff flac ogg pgm ppm png y4m csv jsonl null rate=N width=N height=N channels=N "
        "arrive=RATE "
        "arrive=@FILE full headings separator=C comment=C missing=VALUE (a path ends at its "
        "first comma)",
        spec->port, (int)item.length, item.text);
}

static enum prt_status take_spec_item(struct item_reader *reader, struct piece item,
                                      struct prt_error *error)
{
    struct piece value = item, type = item;
    struct piece option = piece_split(&value, '='), format = piece_split(&type, ':');
    bool has_value = option.length != item.length;
    for (size_t i = 0; i < OPTIONS; i++)
        if (piece_is(option, options[i]))
            return take_spec_option(reader, i, value, has_value, error);
    if (piece_is(option, "arrive")) return take_arrivals(reader->spec, value, error);
    for (int i = 0; i < MARKS; i++)
        if (piece_is(option, mark_names[i])) return take_csv_option(reader->spec, i, value, error);
    if (piece_is(item, "headings")) {
        reader->spec->headings = true;
        return PRT_OK;
    }
    if (piece_is(item, "full")) {
        reader->spec->full = true;
        return PRT_OK;
    }
    for (size_t i = 0; i < ITEMS; i++)
        if (piece_is(format, items[i].name)) return take_format(reader, item, &items[i], error);
    return refuse_item(reader->spec, item, has_value ? option : format, has_value, error);
}

static enum prt_status parse_items(struct item_reader *reader, struct piece rest,
                                   struct prt_error *error)
{
    bool more = true;
    while (more) {
        more = memchr(rest.text, ',', rest.length) != NULL;
        enum prt_status status = take_spec_item(reader, piece_split(&rest, ','), error);
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

/* --- paths --- */

static enum prt_status refuse_generator(const struct prt_port_spec *spec, struct piece name,
                                        struct prt_error *error)
{
    static const char *const names[] = {"ramp", "noise", "zeros"};
    char word[WORD_BYTES];
    const char *meant = nearest_name(piece_word(name, word), names, sizeof names / sizeof names[0]);
    if (meant != NULL)
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': there is no generator 'gen:%.*s'; did you mean 'gen:%s'?",
                             spec->port, (int)name.length, name.text, meant);
    return prt_error_set(error, PRT_E_USAGE,
                         "port '%s': 'gen:%.*s' is no generator: gen:ramp[:COUNT] "
                         "gen:noise:SEED[:COUNT] gen:zeros[:COUNT]",
                         spec->port, (int)name.length, name.text);
}

/* The rest of gen:NAME[:SEED][:COUNT]. */
static enum prt_status parse_generator(struct piece text, struct prt_port_spec *spec,
                                       struct prt_error *error)
{
    struct piece name = piece_split(&text, ':');
    bool more = text.text > name.text + name.length; /* a colon followed the name */
    if (piece_is(name, "ramp"))
        spec->format = PRT_FORMAT_RAMP;
    else if (piece_is(name, "zeros"))
        spec->format = PRT_FORMAT_ZEROS;
    else if (piece_is(name, "noise"))
        spec->format = PRT_FORMAT_NOISE;
    else
        return refuse_generator(spec, name, error);
    if (spec->format == PRT_FORMAT_NOISE) {
        struct piece seed = piece_split(&text, ':');
        more = text.text > seed.text + seed.length;
        if (seed.length == 0)
            return prt_error_set(error, PRT_E_USAGE,
                                 "port '%s': gen:noise needs a seed: gen:noise:SEED[:COUNT], or "
                                 "gen:noise and --seed",
                                 spec->port);
        if (!parse_spec_number(seed, UINT64_MAX, &spec->seed))
            return prt_error_set(error, PRT_E_USAGE,
                                 "port '%s': the seed of gen:noise is a whole number below 2^64, "
                                 "not '%.*s'",
                                 spec->port, (int)seed.length, seed.text);
    }
    spec->has_count = more;
    if (!more || parse_spec_number(text, UINT64_MAX - 1, &spec->count_packets)) return PRT_OK;
    return prt_error_set(
        error, PRT_E_USAGE,
        "port '%s': the packets of gen:%.*s are a whole number below 2^64 - 1, not "
        "'%.*s'",
        spec->port, (int)name.length, name.text, (int)text.length, text.text);
}

static bool format_from_ending(const char *path, struct prt_port_spec *spec)
{
    static const struct {
        const char *ending;
        enum prt_format format;
        uint32_t channels; /* implied */
    } endings[] = {{"raw", PRT_FORMAT_RAW, 0},     {"bin", PRT_FORMAT_RAW, 0},
                   {"npy", PRT_FORMAT_NPY, 0},     {"wav", PRT_FORMAT_WAV, 0},
                   {"aiff", PRT_FORMAT_AIFF, 0},   {"aif", PRT_FORMAT_AIFF, 0},
                   {"flac", PRT_FORMAT_FLAC, 0},   {"ogg", PRT_FORMAT_OGG, 0},
                   {"pgm", PRT_FORMAT_PGM, 0},     {"pnm", PRT_FORMAT_PGM, 0},
                   {"ppm", PRT_FORMAT_PGM, 3},     {"png", PRT_FORMAT_PNG, 0},
                   {"csv", PRT_FORMAT_CSV, 0},     {"txt", PRT_FORMAT_CSV, 0},
                   {"jsonl", PRT_FORMAT_JSONL, 0}, {"ndjson", PRT_FORMAT_JSONL, 0},
                   {"y4m", PRT_FORMAT_Y4M, 0}};
    spec->format = PRT_FORMAT_RAW;
    if (strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0) return true;
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash != NULL ? slash : path, '.');
    if (dot == NULL) return false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (strcasecmp(dot + 1, endings[i].ending) != 0) continue;
        spec->format = endings[i].format;
        spec->channels = endings[i].channels;
        return true;
    }
    return parse_spec_type((struct piece){dot + 1, strlen(dot + 1)}, spec);
}

/* Ports that need no file; *fixed NULL: the path is a file. */
static enum prt_status parse_made(struct piece path, struct prt_port_spec *spec, const char **fixed,
                                  struct prt_error *error)
{
    struct piece generator = path;
    *fixed = NULL;
    if (piece_is(path, "null")) {
        spec->format = PRT_FORMAT_NULL;
        *fixed = "null has no format (a file of that name is './null')";
    } else if (piece_skip(&generator, "gen:")) {
        *fixed = "a generator has no format, it makes packets of the port's type";
        return parse_generator(generator, spec, error);
    } else if (piece_begins(path, "alsa:") || piece_begins(path, "pipewire:") ||
               piece_begins(path, "jack:")) {
        spec->format = PRT_FORMAT_LIVE;
        *fixed = "a sound device has no format, it has packets of the port's type";
    }
    return PRT_OK;
}

/* `spec->path` is the path. */
static enum prt_status parse_path(struct piece path, struct piece item_text, bool has_items,
                                  struct prt_port_spec *spec, struct prt_error *error)
{
    struct item_reader reader = {.spec = spec};
    if (path.length == 0)
        return prt_error_set(error, PRT_E_USAGE, "port '%s': a path is missing", spec->port);
    enum prt_status status = parse_made(path, spec, &reader.fixed, error);
    if (status == PRT_OK && has_items) status = parse_items(&reader, item_text, error);
    if (status != PRT_OK) return status;
    if (spec->format == PRT_FORMAT_LIVE) {
        /* the path is the device */
    } else if (reader.fixed != NULL) {
        free(spec->path);
        spec->path = NULL;
    } else if (reader.format.length == 0 && !format_from_ending(spec->path, spec)) {
        return prt_error_set(
            error, PRT_E_USAGE,
            "port '%s': the ending of '%s' names no format, as .raw .bin .npy .wav "
            ".aiff .aif .flac .ogg .pgm .pnm .ppm .png .y4m .csv .txt .jsonl .ndjson and those of "
            "types "
            "do (.f32 "
            ".s16le): "
            "name one, as in %s=%s,raw",
            spec->port, spec->path, spec->port, spec->path);
    }
    spec->rate_hertz = reader.values[OPTION_RATE];
    spec->rate_divisor = reader.rate_divisor;
    spec->width_packets = reader.values[OPTION_WIDTH];
    spec->height_packets = reader.values[OPTION_HEIGHT];
    spec->channels_implied = spec->channels != 0 && reader.values[OPTION_CHANNELS] == 0;
    if (reader.values[OPTION_CHANNELS] != 0) spec->channels = reader.values[OPTION_CHANNELS];
    return PRT_OK;
}

enum prt_status prt_port_spec_parse(const char *text, struct prt_port_spec *spec,
                                    struct prt_error *error)
{
    *spec = (struct prt_port_spec){.format = PRT_FORMAT_RAW};
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return prt_error_set(error, PRT_E_USAGE, "'%s' is not PORT=PATH[,FORMAT...]", text);
    struct piece rest = {equals + 1, strlen(equals + 1)};
    bool has_items = memchr(rest.text, ',', rest.length) != NULL;
    struct piece path = piece_split(&rest, ',');
    spec->port = strndup(text, (size_t)(equals - text));
    spec->path = strndup(path.text, path.length);
    enum prt_status status = spec->port == NULL || spec->path == NULL
                                 ? prt_io_no_memory(error)
                                 : parse_path(path, rest, has_items, spec, error);
    if (status != PRT_OK) prt_port_spec_free(spec);
    return status;
}

void prt_port_spec_free(struct prt_port_spec *spec)
{
    if (spec == NULL) return;
    free(spec->port);
    free(spec->path);
    free(spec->arrive_path);
    free(spec->missing);
    *spec = (struct prt_port_spec){.format = PRT_FORMAT_RAW};
}

bool prt_port_spec_is_standard(const struct prt_port_spec *spec)
{
    return spec->path != NULL && strcmp(spec->path, "-") == 0 && spec->format != PRT_FORMAT_NULL;
}
