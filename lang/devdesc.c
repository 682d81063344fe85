/*
 * devdesc: reads device descriptions.  The table FIELDS is the format; lang/devices.md explains it,
 * and a unit test holds the two together.
 */
#include "lang/devdesc.h"

#include "lang/embedded.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum field_kind { FIELD_NAME, FIELD_U32, FIELD_U64, FIELD_SCHEMES };
enum unit { UNIT_NONE, UNIT_BYTES, UNIT_HERTZ };

struct field {
    const char *key;
    enum field_kind kind;
    enum unit unit;
    bool required;
    uint64_t least, most, standard; /* standard: where the key is left out */
    size_t offset;
};

#define AT(member) offsetof(struct devdesc, member)
#define LEVEL(member, level)                                                                       \
    (AT(member) + DEVDESC_##level * sizeof(((struct devdesc *)NULL)->member[0]))
#define CUS_MAX 65536
#define BYTES_MAX (UINT64_C(1) << 50)

static const struct field FIELDS[] = {
    {"name", FIELD_NAME, UNIT_NONE, true, 1, 63, 0, AT(name)},
    {"cu_count", FIELD_U32, UNIT_NONE, true, 1, CUS_MAX, 0, AT(cu_count)},
    {"lanes", FIELD_U32, UNIT_NONE, true, 1, 1024, 0, AT(lanes)},
    {"clock", FIELD_U64, UNIT_HERTZ, true, 1000, UINT64_C(100000000000), 0, AT(clock_hz)},
    {"memory", FIELD_U64, UNIT_BYTES, true, 65536, BYTES_MAX, 0, AT(memory_bytes)},
    {"memory_bytes_per_cycle", FIELD_U64, UNIT_NONE, true, 1, 1 << 20, 0,
     AT(memory_bytes_per_cycle)},
    {"local_memory", FIELD_U64, UNIT_BYTES, false, 0, 1 << 30, 32768, AT(local_bytes)},
    {"cus_per_numa", FIELD_U32, UNIT_NONE, false, 0, CUS_MAX, 0, LEVEL(cus_per_domain, NUMA)},
    {"cus_per_l4", FIELD_U32, UNIT_NONE, false, 0, CUS_MAX, 0, LEVEL(cus_per_domain, L4)},
    {"cus_per_l3", FIELD_U32, UNIT_NONE, false, 0, CUS_MAX, 0, LEVEL(cus_per_domain, L3)},
    {"cus_per_l2", FIELD_U32, UNIT_NONE, false, 0, CUS_MAX, 0, LEVEL(cus_per_domain, L2)},
    {"cus_per_l1", FIELD_U32, UNIT_NONE, false, 0, CUS_MAX, 0, LEVEL(cus_per_domain, L1)},
    {"cache_l4", FIELD_U64, UNIT_BYTES, false, 0, BYTES_MAX, 0, LEVEL(cache_bytes, L4)},
    {"cache_l3", FIELD_U64, UNIT_BYTES, false, 0, BYTES_MAX, 0, LEVEL(cache_bytes, L3)},
    {"cache_l2", FIELD_U64, UNIT_BYTES, false, 0, BYTES_MAX, 0, LEVEL(cache_bytes, L2)},
    {"cache_l1", FIELD_U64, UNIT_BYTES, false, 0, BYTES_MAX, 0, LEVEL(cache_bytes, L1)},
    {"schemes", FIELD_SCHEMES, UNIT_NONE, false, 0, 7, 7, AT(schemes)},
    {"max_sub_devices", FIELD_U32, UNIT_NONE, false, 1, CUS_MAX, 16, AT(max_sub_devices)},
    {"max_group_items", FIELD_U32, UNIT_NONE, false, 1, 65535, 1024, AT(max_group_items)},
    {"reference_entries", FIELD_U32, UNIT_NONE, false, 1, 8, 8, AT(reference_entries)},
    {"launch_enqueue", FIELD_U32, UNIT_NONE, false, 0, 1 << 24, 200, AT(launch_enqueue_cycles)},
    {"launch_process", FIELD_U32, UNIT_NONE, false, 0, 1 << 24, 400, AT(launch_process_cycles)},
    {"launch_cleanup", FIELD_U32, UNIT_NONE, false, 0, 1 << 24, 200, AT(launch_cleanup_cycles)},
    {"switch", FIELD_U32, UNIT_NONE, false, 0, 1 << 24, 100, AT(switch_cycles)},
    {"device_queue_entries", FIELD_U32, UNIT_NONE, false, 0, 1 << 24, 1024,
     AT(device_queue_entries)},
    {"cores_per_cu", FIELD_U32, UNIT_NONE, false, 1, 1024, 4, AT(cores_per_cu)},
    {"index_register_bits", FIELD_U32, UNIT_NONE, false, 8, 64, 16, AT(index_register_bits)},
    {"index_history", FIELD_U32, UNIT_NONE, false, 1, 64, 4, AT(index_history_entries)},
    {"index_memory", FIELD_U64, UNIT_BYTES, false, 16, 1 << 30, 16384, AT(index_memory_bytes)},
    {"index_shared_below", FIELD_U64, UNIT_BYTES, false, 0, 1 << 30, 4096,
     AT(index_shared_below_bytes)},
    {"index_dedicated_launches", FIELD_U32, UNIT_NONE, false, 1, 1 << 24, 2,
     AT(index_dedicated_launches)},
};

enum { FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0], KEY_MAX = 32 };

static const struct {
    const char *word;
    uint32_t scheme;
} SCHEMES[] = {
    {"equally", DEVDESC_EQUALLY},
    {"by_counts", DEVDESC_BY_COUNTS},
    {"by_affinity", DEVDESC_BY_AFFINITY},
    {"none", 0},
};

static const struct {
    const char *suffix;
    enum unit unit;
    uint64_t factor;
} UNITS[] = {
    {"B", UNIT_BYTES, 1},
    {"KiB", UNIT_BYTES, UINT64_C(1) << 10},
    {"MiB", UNIT_BYTES, UINT64_C(1) << 20},
    {"GiB", UNIT_BYTES, UINT64_C(1) << 30},
    {"TiB", UNIT_BYTES, UINT64_C(1) << 40},
    {"Hz", UNIT_HERTZ, 1},
    {"kHz", UNIT_HERTZ, 1000},
    {"MHz", UNIT_HERTZ, 1000000},
    {"GHz", UNIT_HERTZ, 1000000000},
};

struct part { /* of the text: one word */
    const char *text;
    size_t length;
    uint32_t column;
};

struct reader {
    const char *line;
    size_t length, at;
    uint32_t line_number;
    uint32_t seen_line[FIELD_COUNT]; /* 0: not seen */
    struct devdesc *out;
    struct devdesc_error *error;
};

__attribute__((format(printf, 3, 4))) static bool fail(struct reader *reader, uint32_t column,
                                                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reader->error->message, sizeof reader->error->message, format, args);
    va_end(args);
    reader->error->line = reader->line_number;
    reader->error->column = column;
    return false;
}

/* ---- words ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->length && is_blank(reader->line[reader->at]))
        reader->at++;
}

static bool at_end(struct reader *reader)
{
    skip_blanks(reader);
    return reader->at == reader->length || reader->line[reader->at] == '#';
}

/* The next word; of length 0 where something else stands. */
static struct part next_part(struct reader *reader)
{
    skip_blanks(reader);
    struct part part = {reader->line + reader->at, 0, (uint32_t)reader->at + 1};
    while (reader->at < reader->length && is_word(reader->line[reader->at])) {
        reader->at++;
        part.length++;
    }
    return part;
}

static bool part_is(struct part part, const char *text)
{
    return strlen(text) == part.length && memcmp(text, part.text, part.length) == 0;
}

/* For messages: what a reader of them can bear. */
static int shown(struct part part)
{
    return part.length > 40 ? 40 : (int)part.length;
}

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Levenshtein distance of two short words. */
static uint32_t distance(struct part part, const char *key)
{
    uint32_t row[KEY_MAX + 1];
    size_t length = strlen(key);
    for (uint32_t j = 0; j <= length; j++)
        row[j] = j;
    for (uint32_t i = 1; i <= part.length; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= length; j++) {
            uint32_t above = row[j], differs = part.text[i - 1] != key[j - 1];
            row[j] = min3(above + 1, row[j - 1] + 1, diagonal + differs);
            diagonal = above;
        }
    }
    return row[length];
}

static const char *nearest_key(struct part part)
{
    size_t best = 4; /* farther is no help */
    const char *key = NULL;
    if (part.length > KEY_MAX) return NULL;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        size_t far = distance(part, FIELDS[i].key);
        if (far >= best || far * 2 > part.length) continue;
        best = far;
        key = FIELDS[i].key;
    }
    return key;
}

/* ---- values ---- */

static void store(struct devdesc *out, const struct field *field, uint64_t value)
{
    char *to = (char *)out + field->offset;
    uint32_t narrow = (uint32_t)value;
    if (field->kind == FIELD_U64)
        memcpy(to, &value, sizeof value);
    else
        memcpy(to, &narrow, sizeof narrow);
}

static bool read_name(struct reader *reader, const struct field *field)
{
    struct part part = next_part(reader);
    if (part.length == 0)
        return fail(reader, part.column, "'%s' needs a value of letters, digits, '_', '-' and '.'",
                    field->key);
    if (part.length > field->most)
        return fail(reader, part.column, "'%s' is longer than %" PRIu64 " characters", field->key,
                    field->most);
    memset(reader->out->name, 0, sizeof reader->out->name);
    memcpy(reader->out->name, part.text, part.length);
    return true;
}

/* Decimal digits at the front of `part`; gives how many, 0 on overflow of 64 bits or none. */
static size_t read_digits(struct part part, uint64_t *value)
{
    size_t i = 0;
    *value = 0;
    for (; i < part.length && part.text[i] >= '0' && part.text[i] <= '9'; i++) {
        uint64_t digit = (uint64_t)(part.text[i] - '0');
        if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
            __builtin_add_overflow(*value, digit, value))
            return 0;
    }
    return i;
}

static bool scale(struct reader *reader, const struct field *field, struct part suffix,
                  uint64_t *value)
{
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (UNITS[i].unit != field->unit || !part_is(suffix, UNITS[i].suffix)) continue;
        if (__builtin_mul_overflow(*value, UNITS[i].factor, value)) *value = UINT64_MAX;
        return true;
    }
    static const char *const allowed[] = {"no unit", "B, KiB, MiB, GiB or TiB",
                                          "Hz, kHz, MHz or GHz"};
    return fail(reader, suffix.column, "unknown unit '%.*s': '%s' takes %s", shown(suffix),
                suffix.text, field->key, allowed[field->unit]);
}

static bool read_number(struct reader *reader, const struct field *field)
{
    uint64_t value;
    struct part part = next_part(reader);
    size_t digits = read_digits(part, &value);
    if (digits == 0)
        return fail(reader, part.column, "'%s' needs a whole number below 2^64", field->key);
    struct part suffix = {part.text + digits, part.length - digits, part.column + (uint32_t)digits};
    if (suffix.length == 0 && field->unit != UNIT_NONE && !at_end(reader))
        suffix = next_part(reader);
    if (suffix.length && !scale(reader, field, suffix, &value)) return false;
    if (value < field->least || value > field->most)
        return fail(reader, part.column, "'%s' must be between %" PRIu64 " and %" PRIu64,
                    field->key, field->least, field->most);
    store(reader->out, field, value);
    return true;
}

static bool read_schemes(struct reader *reader, const struct field *field)
{
    uint32_t schemes = 0;
    do {
        struct part part = next_part(reader);
        size_t i = 0, count = sizeof SCHEMES / sizeof SCHEMES[0];
        while (i < count && !part_is(part, SCHEMES[i].word))
            i++;
        if (i == count)
            return fail(reader, part.column,
                        "'%.*s' is no scheme: equally, by_counts, by_affinity, or none",
                        shown(part), part.text);
        schemes |= SCHEMES[i].scheme;
    } while (!at_end(reader));
    store(reader->out, field, schemes);
    return true;
}

/* ---- lines ---- */

static bool find_field(struct reader *reader, struct part key, size_t *index)
{
    for (*index = 0; *index < FIELD_COUNT; ++*index)
        if (part_is(key, FIELDS[*index].key)) return true;
    const char *nearest = nearest_key(key);
    if (nearest)
        return fail(reader, key.column, "unknown key '%.*s'; did you mean '%s'?", shown(key),
                    key.text, nearest);
    return fail(reader, key.column, "unknown key '%.*s'", shown(key), key.text);
}

static bool read_value(struct reader *reader, const struct field *field)
{
    if (at_end(reader))
        return fail(reader, (uint32_t)reader->at + 1, "'%s' has no value", field->key);
    switch (field->kind) {
    case FIELD_NAME: return read_name(reader, field);
    case FIELD_SCHEMES: return read_schemes(reader, field);
    case FIELD_U32:
    case FIELD_U64: return read_number(reader, field);
    }
    return false;
}

static bool read_line(struct reader *reader)
{
    size_t index;
    if (at_end(reader)) return true;
    struct part key = next_part(reader);
    if (key.length == 0) return fail(reader, key.column, "a line is `key = value`");
    if (!find_field(reader, key, &index)) return false;
    if (reader->seen_line[index])
        return fail(reader, key.column, "'%s' is given twice, first on line %" PRIu32,
                    FIELDS[index].key, reader->seen_line[index]);
    reader->seen_line[index] = reader->line_number;
    skip_blanks(reader);
    if (reader->at == reader->length || reader->line[reader->at] != '=')
        return fail(reader, (uint32_t)reader->at + 1, "'=' expected after '%s'", FIELDS[index].key);
    reader->at++;
    if (!read_value(reader, &FIELDS[index])) return false;
    if (!at_end(reader))
        return fail(reader, (uint32_t)reader->at + 1, "nothing may follow the value of '%s'",
                    FIELDS[index].key);
    return true;
}

/* ---- the whole ---- */

static void set_standards(struct devdesc *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (FIELDS[i].kind != FIELD_NAME) store(out, &FIELDS[i], FIELDS[i].standard);
}

static bool check_missing(struct reader *reader)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (FIELDS[i].required && !reader->seen_line[i])
            return fail(reader, 1, "'%s' is missing", FIELDS[i].key);
    return true;
}

/* A domain of CUs lies within the device and within those of the wider level. */
static bool check_levels(struct reader *reader)
{
    uint32_t wider = reader->out->cu_count;
    const char *outside = "the device";
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (FIELDS[i].offset < AT(cus_per_domain) || FIELDS[i].offset >= AT(cache_bytes)) continue;
        uint32_t cus;
        memcpy(&cus, (const char *)reader->out + FIELDS[i].offset, sizeof cus);
        if (cus == 0) continue;
        reader->line_number = reader->seen_line[i];
        if (wider % cus)
            return fail(reader, 1, "'%s' must divide the %" PRIu32 " CUs of %s", FIELDS[i].key,
                        wider, outside);
        wider = cus;
        outside = "the level outside of it";
    }
    return true;
}

bool devdesc_parse(const char *text, size_t size, struct devdesc *out, struct devdesc_error *error)
{
    struct reader reader = {.out = out, .error = error};
    size_t begin = 0;
    set_standards(out);
    while (begin < size) {
        const char *end = memchr(text + begin, '\n', size - begin);
        reader.line = text + begin;
        reader.length = end ? (size_t)(end - reader.line) : size - begin;
        reader.at = 0;
        reader.line_number++;
        if (reader.length > UINT16_MAX) return fail(&reader, 1, "a line of more than 65535 bytes");
        if (!read_line(&reader)) return false;
        begin += reader.length + 1;
    }
    if (reader.line_number == 0) reader.line_number = 1;
    return check_missing(&reader) && check_levels(&reader);
}

bool devdesc_builtin(const char *name, struct devdesc *out)
{
    struct devdesc_error error;
    for (const struct embedded_file *file = embedded_device_files; file->name; file++)
        if (strcmp(file->name, name) == 0)
            return devdesc_parse((const char *)file->bytes, file->size, out, &error);
    return false;
}

const char *devdesc_builtin_name(size_t i)
{
    const struct embedded_file *file = embedded_device_files;
    while (i && file->name) {
        file++;
        i--;
    }
    return file->name;
}
