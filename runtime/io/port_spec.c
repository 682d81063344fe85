#include "runtime/io/io_internal.h"

#include <ctype.h>
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

static bool parse_number(struct piece piece, uint64_t highest, uint64_t *number)
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

/* TYPE: a name of the language, or s8..s64, with le or be behind it. */
static bool parse_type(struct piece piece, struct prt_port_spec *spec)
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

static const struct {
    const char *name;
    enum prt_format format;
    uint32_t channels; /* implied */
    bool typed;        /* NAME:TYPE is allowed */
} items[] = {
    {"raw", PRT_FORMAT_RAW, 0, true},  {"npy", PRT_FORMAT_NPY, 0, true},
    {"wav", PRT_FORMAT_WAV, 0, true},  {"pgm", PRT_FORMAT_PGM, 0, false},
    {"ppm", PRT_FORMAT_PGM, 3, false}, {"png", PRT_FORMAT_PNG, 0, false},
    {"csv", PRT_FORMAT_CSV, 0, false}, {"null", PRT_FORMAT_NULL, 0, false},
};

/* Takes NAME or NAME:TYPE; false if it is neither. */
static bool parse_format(struct piece item, struct prt_port_spec *spec)
{
    struct piece type = item;
    struct piece name = piece_split(&type, ':');
    bool has_type = name.length != item.length;
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        if (!piece_is(name, items[i].name)) continue;
        spec->format = items[i].format;
        if (items[i].channels != 0) spec->channels = items[i].channels;
        return !has_type || (items[i].typed && parse_type(type, spec));
    }
    return false;
}

/* Takes rate=N and the like; false if it is none of them, or N is no such number. */
static bool parse_option(struct piece item, struct prt_port_spec *spec)
{
    uint32_t *field = NULL;
    uint64_t number;
    if (piece_skip(&item, "rate="))
        field = &spec->rate_hertz;
    else if (piece_skip(&item, "width="))
        field = &spec->width_packets;
    else if (piece_skip(&item, "channels="))
        field = &spec->channels;
    if (field == NULL || !parse_number(item, OPTION_MAX, &number) || number == 0) return false;
    *field = (uint32_t)number;
    return true;
}

static enum prt_status parse_items(struct piece rest, struct prt_port_spec *spec, bool *has_format,
                                   struct prt_error *error)
{
    bool more = true;
    while (more) {
        more = memchr(rest.text, ',', rest.length) != NULL;
        struct piece item = piece_split(&rest, ',');
        if (parse_option(item, spec)) continue;
        if (*has_format || !parse_format(item, spec))
            return prt_error_set(error, PRT_E_USAGE, "'%.*s' %s", (int)item.length, item.text,
                                 *has_format ? "is no option, and the format is already named"
                                             : "is no format and no option of a port (raw raw:TYPE "
                                               "npy wav pgm ppm png csv null rate=N width=N "
                                               "channels=N)");
        *has_format = true;
    }
    return PRT_OK;
}

/* --- paths --- */

/* The rest of gen:NAME[:SEED][:COUNT]. */
static bool parse_generator(struct piece text, struct prt_port_spec *spec)
{
    struct piece name = piece_split(&text, ':');
    bool more = text.text > name.text + name.length; /* a colon stood behind the name */
    if (piece_is(name, "ramp"))
        spec->format = PRT_FORMAT_RAMP;
    else if (piece_is(name, "zeros"))
        spec->format = PRT_FORMAT_ZEROS;
    else if (piece_is(name, "noise"))
        spec->format = PRT_FORMAT_NOISE;
    else
        return false;
    if (spec->format == PRT_FORMAT_NOISE) {
        struct piece seed = piece_split(&text, ':');
        more = text.text > seed.text + seed.length;
        if (!parse_number(seed, UINT64_MAX, &spec->seed)) return false;
    }
    spec->has_count = more;
    return !more || parse_number(text, UINT64_MAX - 1, &spec->count_packets);
}

static bool format_from_ending(const char *path, struct prt_port_spec *spec)
{
    static const struct {
        const char *ending, *item;
    } endings[] = {{"raw", "raw"}, {"bin", "raw"}, {"npy", "npy"}, {"wav", "wav"}, {"pgm", "pgm"},
                   {"pnm", "pgm"}, {"ppm", "ppm"}, {"png", "png"}, {"csv", "csv"}, {"txt", "csv"}};
    spec->format = PRT_FORMAT_RAW;
    if (strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0) return true;
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash != NULL ? slash : path, '.');
    if (dot == NULL) return false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (strcasecmp(dot + 1, endings[i].ending) == 0)
            return parse_format((struct piece){endings[i].item, 3}, spec);
    return parse_type((struct piece){dot + 1, strlen(dot + 1)}, spec);
}

/* `spec->path` is the path. */
static enum prt_status parse_path(struct piece path, struct piece item_text, bool has_items,
                                  struct prt_port_spec *spec, struct prt_error *error)
{
    struct piece generator = path;
    bool has_format = false, made = true; /* made: no file */
    uint32_t channels_by_option;
    if (path.length == 0)
        return prt_error_set(error, PRT_E_USAGE, "port '%s': a path is missing", spec->port);
    if (piece_is(path, "null")) {
        spec->format = PRT_FORMAT_NULL;
    } else if (piece_skip(&generator, "gen:")) {
        if (!parse_generator(generator, spec))
            return prt_error_set(error, PRT_E_USAGE,
                                 "port '%s': '%.*s' is no generator: gen:ramp[:COUNT] "
                                 "gen:noise:SEED[:COUNT] gen:zeros[:COUNT]",
                                 spec->port, (int)path.length, path.text);
    } else {
        made = false;
    }
    if (has_items) {
        has_format = made; /* it may not be named again */
        enum prt_status status = parse_items(item_text, spec, &has_format, error);
        if (status != PRT_OK) return status;
    }
    if (made) {
        free(spec->path);
        spec->path = NULL;
        return PRT_OK;
    }
    channels_by_option = spec->channels;
    if (!has_format && !format_from_ending(spec->path, spec))
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': the ending of '%s' tells no format: name one, as in "
                             "%s=%s,raw:f32le",
                             spec->port, spec->path, spec->port, spec->path);
    if (channels_by_option != 0) spec->channels = channels_by_option;
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
    *spec = (struct prt_port_spec){.format = PRT_FORMAT_RAW};
}

bool prt_port_spec_is_standard(const struct prt_port_spec *spec)
{
    return spec->path != NULL && strcmp(spec->path, "-") == 0 && spec->format != PRT_FORMAT_NULL;
}
