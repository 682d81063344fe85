/* SPDX-License-Identifier: MIT */
/*
 * devdesc: reads device descriptions.  The table FIELDS is the format; lang/devices.md explains it,
 * and a unit test holds the two together.
 */
#include "base/nearest.h"
#include "lang/devdesc_internal.h"
#include "lang/embedded.h"

#include <inttypes.h>
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
#define COST_MAX 65536
#define BYTES_MAX (UINT64_C(1) << 50)

#define UNIT_FIELD(key, most, kind, member)                                                        \
    {key, FIELD_U32, UNIT_NONE, false, 0, most, 0, AT(units[kind].member)}

static const struct field FIELDS[] = {
    {"name", FIELD_NAME, UNIT_NONE, true, 1, 63, 0, AT(name)},
    {"cu_count", FIELD_U32, UNIT_NONE, true, 1, CUS_MAX, 0, AT(cu_count)},
    {"lanes", FIELD_U32, UNIT_NONE, true, 1, 1024, 0, AT(lanes)},
    {"host", FIELD_U32, UNIT_NONE, false, 0, 1, 0, AT(host)},
    {"cuda", FIELD_U32, UNIT_NONE, false, 0, 1, 0, AT(cuda)},
    {"clock", FIELD_U64, UNIT_HERTZ, true, 1000, UINT64_C(100000000000), 0, AT(clock_hz)},
    {"memory", FIELD_U64, UNIT_BYTES, true, 65536, BYTES_MAX, 0, AT(memory_bytes)},
    {"memory_bytes_per_cycle", FIELD_U64, UNIT_NONE, true, 1, 1 << 20, 0,
     AT(memory_bytes_per_cycle)},
    {"memory_shared", FIELD_U32, UNIT_NONE, false, 0, 1, 0, AT(memory_shared)},
    {"memory_latency", FIELD_U32, UNIT_NONE, false, 0, 1 << 20, 0, AT(memory_latency_cycles)},
    {"memory_in_flight", FIELD_U64, UNIT_BYTES, false, 0, 1 << 30, 0, AT(memory_in_flight_bytes)},
    {"resident_warps", FIELD_U32, UNIT_NONE, false, 0, 1 << 16, 0, AT(resident_warps)},
    {"registers_per_cu", FIELD_U32, UNIT_NONE, false, 0, 1 << 24, 0, AT(registers_per_cu)},
    {"registers_per_item", FIELD_U32, UNIT_NONE, false, 0, 1 << 16, 0, AT(registers_per_item)},
    {"register_unit", FIELD_U32, UNIT_NONE, false, 1, 1 << 16, 1, AT(register_unit)},
    {"warp_residence", FIELD_U32, UNIT_NONE, false, 0, 1 << 20, 0, AT(warp_residence_cycles)},
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
    {"cache_bytes_per_cycle", FIELD_U64, UNIT_NONE, false, 0, 1 << 20, 0,
     AT(cache_bytes_per_cycle)},
    {"launch_enqueue", FIELD_U32, UNIT_NONE, false, 0, 1 << 24, 200, AT(launch_enqueue_cycles)},
    {"launch_process", FIELD_U32, UNIT_NONE, false, 0, 1 << 24, 400, AT(launch_process_cycles)},
    {"launch_cleanup", FIELD_U32, UNIT_NONE, false, 0, 1 << 24, 200, AT(launch_cleanup_cycles)},
    {"processes_ahead", FIELD_U32, UNIT_NONE, false, 0, 1, 0, AT(processes_ahead)},
    {"launches_overlap", FIELD_U32, UNIT_NONE, false, 0, 1, 0, AT(launches_overlap)},
    {"switch", FIELD_U32, UNIT_NONE, false, 0, 1 << 24, 100, AT(switch_cycles)},
    {"device_queue_entries", FIELD_U32, UNIT_NONE, false, 0, 1 << 24, 1024,
     AT(device_queue_entries)},
    {"child_issue", FIELD_U32, UNIT_NONE, false, 0, 1 << 24, 100, AT(child_issue_cycles)},
    {"child_start", FIELD_U32, UNIT_NONE, false, 0, 1 << 24, 2400, AT(child_start_cycles)},
    {"cores_per_cu", FIELD_U32, UNIT_NONE, false, 1, 64, 1, AT(cores_per_cu)},
    {"instruction_latency", FIELD_U32, UNIT_NONE, false, 1, 1024, 1,
     AT(instruction_latency_cycles)},
    {"index_register_bits", FIELD_U32, UNIT_NONE, false, 8, 64, 16, AT(index_register_bits)},
    {"index_history", FIELD_U32, UNIT_NONE, false, 1, 64, 4, AT(index_history_entries)},
    {"index_memory", FIELD_U64, UNIT_BYTES, false, 0, 1 << 30, 16384, AT(index_memory_bytes)},
    {"index_shared_below", FIELD_U64, UNIT_BYTES, false, 0, 1 << 30, 4096,
     AT(index_shared_below_bytes)},
    {"index_dedicated_launches", FIELD_U32, UNIT_NONE, false, 1, 1 << 24, 2,
     AT(index_dedicated_launches)},
    {"cost_integer", FIELD_U32, UNIT_NONE, false, 0, COST_MAX, 1, AT(costs.integer)},
    {"cost_multiply", FIELD_U32, UNIT_NONE, false, 0, COST_MAX, 1, AT(costs.multiply)},
    {"cost_divide", FIELD_U32, UNIT_NONE, false, 0, COST_MAX, 8, AT(costs.divide)},
    {"cost_float", FIELD_U32, UNIT_NONE, false, 0, COST_MAX, 1, AT(costs.floating)},
    {"cost_float_divide", FIELD_U32, UNIT_NONE, false, 0, COST_MAX, 8, AT(costs.float_divide)},
    {"cost_sqrt", FIELD_U32, UNIT_NONE, false, 0, COST_MAX, 8, AT(costs.sqrt)},
    {"cost_convert", FIELD_U32, UNIT_NONE, false, 0, COST_MAX, 1, AT(costs.convert)},
    {"cost_double", FIELD_U32, UNIT_NONE, false, 1, COST_MAX, 1, AT(costs.double_factor)},
    {"cost_load", FIELD_U32, UNIT_NONE, false, 0, COST_MAX, 1, AT(costs.load)},
    {"cost_store", FIELD_U32, UNIT_NONE, false, 0, COST_MAX, 1, AT(costs.store)},
    {"cost_branch", FIELD_U32, UNIT_NONE, false, 0, COST_MAX, 1, AT(costs.branch)},
    {"cost_call", FIELD_U32, UNIT_NONE, false, 0, COST_MAX, 1, AT(costs.call)},
    {"cost_barrier", FIELD_U32, UNIT_NONE, false, 0, COST_MAX, 1, AT(costs.barrier)},
    {"load_line", FIELD_U32, UNIT_BYTES, false, 0, 4096, 0, AT(costs.load_line_bytes)},
    {"store_line", FIELD_U32, UNIT_BYTES, false, 0, 4096, 0, AT(costs.store_line_bytes)},
    {"cost_line", FIELD_U32, UNIT_NONE, false, 0, COST_MAX, 1, AT(costs.line)},
    {"unrolled_rounds", FIELD_U32, UNIT_NONE, false, 0, COST_MAX, 0, AT(costs.unrolled_rounds)},
#define UNIT(enumerator, name)                                                                     \
    UNIT_FIELD("unit_" name, 1 << 20, DEVDESC_UNIT_##enumerator, bytes_per_cycle),                 \
        UNIT_FIELD("unit_" name "_start", 1 << 24, DEVDESC_UNIT_##enumerator, start_cycles),
#include "lang/units.def"
#undef UNIT
};

enum { FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0] };

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
    struct devdesc_place place;
};

struct devdesc_reader {
    const char *line;
    size_t length, at;
    size_t line_begin; /* of the line, in the text */
    uint32_t line_number;
    struct devdesc_given given[FIELD_COUNT];
    struct devdesc *out;
    struct devdesc_findings *findings;
};

/* ---- words ---- */

static bool is_inline_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_key_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static void skip_line_blanks(struct devdesc_reader *reader)
{
    while (reader->at < reader->length && is_inline_blank(reader->line[reader->at]))
        reader->at++;
}

static bool devdesc_at_end(struct devdesc_reader *reader)
{
    skip_line_blanks(reader);
    return reader->at == reader->length || reader->line[reader->at] == '#';
}

static struct devdesc_place place_in_line(const struct devdesc_reader *reader, size_t begin,
                                          size_t end)
{
    return (struct devdesc_place){reader->line_number, (uint32_t)begin + 1,
                                  reader->line_begin + begin, reader->line_begin + end};
}

/* The rest of the line, without its comment and the blanks at its end. */
static struct devdesc_place rest_of_line(const struct devdesc_reader *reader)
{
    const char *comment = memchr(reader->line + reader->at, '#', reader->length - reader->at);
    size_t end = comment ? (size_t)(comment - reader->line) : reader->length;
    while (end > reader->at && is_inline_blank(reader->line[end - 1]))
        end--;
    return place_in_line(reader, reader->at, end);
}

/* From the beginning of `first` to what has been read. */
static struct devdesc_place place_up_to_here(const struct devdesc_reader *reader,
                                             struct devdesc_place first)
{
    first.end = reader->line_begin + reader->at;
    return first;
}

/* The next word; of length 0 where something else stands, with the place of the rest. */
static struct part next_part(struct devdesc_reader *reader)
{
    skip_line_blanks(reader);
    size_t begin = reader->at;
    while (reader->at < reader->length && is_key_character(reader->line[reader->at]))
        reader->at++;
    if (reader->at == begin) return (struct part){reader->line + begin, 0, rest_of_line(reader)};
    return (struct part){reader->line + begin, reader->at - begin,
                         place_in_line(reader, begin, reader->at)};
}

static bool part_is(struct part part, const char *text)
{
    return strlen(text) == part.length && memcmp(text, part.text, part.length) == 0;
}

/* The bytes of a part that messages show. */
static int shown_length(struct part part)
{
    return part.length > 40 ? 40 : (int)part.length;
}

/* True: `word` is near to what was written, and nearer than *best, which it becomes. */
static bool is_nearer_word(struct part part, const char *word, size_t *best)
{
    if (part.length > NAME_COMPARED_MAX) return false;
    size_t far = edit_distance(part.text, part.length, word, strlen(word), false);
    if (far >= *best || far * 2 > part.length) return false;
    *best = far;
    return true;
}

enum { NEAR_ENOUGH = 4 }; /* farther is no help */

static const char *nearest_scheme(struct part part)
{
    size_t best = NEAR_ENOUGH;
    const char *word = NULL;
    for (size_t i = 0; i < sizeof SCHEMES / sizeof SCHEMES[0]; i++)
        if (is_nearer_word(part, SCHEMES[i].word, &best)) word = SCHEMES[i].word;
    return word;
}

/* ---- values ---- */

#define REFUSE(reader, place, ...)                                                                 \
    devdesc_report((reader)->findings, DEVDESC_ERROR, (place), __VA_ARGS__)

static void put_field(struct devdesc *out, const struct field *field, uint64_t value)
{
    char *to = (char *)out + field->offset;
    uint32_t narrow = (uint32_t)value;
    if (field->kind == FIELD_U64)
        memcpy(to, &value, sizeof value);
    else
        memcpy(to, &narrow, sizeof narrow);
}

/* In the largest unit that leaves a whole number: "64 KiB". */
static const char *value_text(const struct field *field, uint64_t value, char *to, size_t size)
{
    size_t unit = 0;
    bool has_unit = false;
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (UNITS[i].unit != field->unit || value % UNITS[i].factor || value == 0) continue;
        unit = i;
        has_unit = true;
    }
    if (has_unit)
        snprintf(to, size, "%" PRIu64 " %s", value / UNITS[unit].factor, UNITS[unit].suffix);
    else
        snprintf(to, size, "%" PRIu64, value);
    return to;
}

static void help_range(struct devdesc_finding *finding, const struct field *field)
{
    char least[32], most[32];
    if (field->kind == FIELD_U32 || field->kind == FIELD_U64)
        devdesc_help(finding, "'%s' is a whole number from %s to %s", field->key,
                     value_text(field, field->least, least, sizeof least),
                     value_text(field, field->most, most, sizeof most));
    else if (field->kind == FIELD_NAME)
        devdesc_help(finding,
                     "a name is 1 to %" PRIu64 " letters, digits, '_', '-' and '.': name = my_gpu",
                     field->most);
    else
        devdesc_help(finding, "schemes are equally, by_counts and by_affinity, or none");
}

static bool read_device_name(struct devdesc_reader *reader, const struct field *field)
{
    struct part part = next_part(reader);
    if (part.length == 0) {
        help_range(REFUSE(reader, part.place, "'%s' has other characters than these", field->key),
                   field);
        return false;
    }
    if (part.length > field->most) {
        REFUSE(reader, part.place, "'%s' is longer than %" PRIu64 " characters", field->key,
               field->most);
        return false;
    }
    memset(reader->out->name, 0, sizeof reader->out->name);
    memcpy(reader->out->name, part.text, part.length);
    return true;
}

/* Decimal digits at the front of `part`: how many.  *value is UINT64_MAX where 64 bits do not hold
 * it. */
static size_t read_digits(struct part part, uint64_t *value)
{
    size_t i = 0;
    bool fits = true;
    *value = 0;
    for (; i < part.length && part.text[i] >= '0' && part.text[i] <= '9'; i++) {
        uint64_t digit = (uint64_t)(part.text[i] - '0');
        fits = fits && !__builtin_mul_overflow(*value, UINT64_C(10), value) &&
               !__builtin_add_overflow(*value, digit, value);
    }
    if (!fits) *value = UINT64_MAX;
    return i;
}

static char lower_case_of(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool scale_unit(struct devdesc_reader *reader, const struct field *field, struct part suffix,
                       uint64_t *value)
{
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (UNITS[i].unit != field->unit || !part_is(suffix, UNITS[i].suffix)) continue;
        if (__builtin_mul_overflow(*value, UNITS[i].factor, value)) *value = UINT64_MAX;
        return true;
    }
    static const char *const allowed[] = {"no unit", "B, KiB, MiB, GiB or TiB",
                                          "Hz, kHz, MHz or GHz"};
    struct devdesc_finding *finding =
        REFUSE(reader, suffix.place, "unknown unit '%.*s': '%s' takes %s", shown_length(suffix),
               suffix.text, field->key, allowed[field->unit]);
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++)
        if (UNITS[i].unit == field->unit &&
            lower_case_of(UNITS[i].suffix[0]) == lower_case_of(suffix.text[0]))
            devdesc_help(finding, "did you mean '%s'?", UNITS[i].suffix);
    if (strcmp(field->key, "memory_bytes_per_cycle") == 0)
        devdesc_help(finding, "bytes a second, divided by the clock: 256 GB/s at 1 GHz are 256");
    return false;
}

static bool refuse_number(struct devdesc_reader *reader, const struct field *field,
                          struct part part)
{
    struct devdesc_finding *finding =
        REFUSE(reader, part.place, "'%s' needs a whole number", field->key);
    const char *dot = memchr(part.text, '.', part.length);
    if (dot && field->unit != UNIT_NONE)
        devdesc_help(finding, "a smaller unit leaves no fraction: 1500 MHz, 512 KiB");
    else if (part.length > 1 && part.text[0] == '0' && lower_case_of(part.text[1]) == 'x')
        devdesc_help(finding, "numbers are decimal");
    else
        help_range(finding, field);
    return false;
}

static bool check_range(struct devdesc_reader *reader, const struct field *field,
                        struct devdesc_place place, uint64_t value)
{
    char least[32], most[32];
    if (value >= field->least && value <= field->most) return true;
    struct devdesc_finding *finding =
        REFUSE(reader, place, "'%s' must be between %s and %s", field->key,
               value_text(field, field->least, least, sizeof least),
               value_text(field, field->most, most, sizeof most));
    if (value < field->least)
        devdesc_caret(finding, "at least %s", least);
    else
        devdesc_caret(finding, "at most %s", most);
    return false;
}

static bool is_fraction_or_hex(struct part part, size_t digits)
{
    return digits < part.length &&
           (part.text[digits] == '.' || (digits == 1 && lower_case_of(part.text[1]) == 'x'));
}

static bool read_field_number(struct devdesc_reader *reader, const struct field *field)
{
    uint64_t value;
    struct part part = next_part(reader);
    size_t digits = read_digits(part, &value);
    if (digits == 0 || is_fraction_or_hex(part, digits)) return refuse_number(reader, field, part);
    size_t number_end = (size_t)(part.text - reader->line) + digits;
    struct part suffix = {part.text + digits, part.length - digits,
                          place_in_line(reader, number_end, reader->at)};
    if (suffix.length == 0 && field->unit != UNIT_NONE && !devdesc_at_end(reader))
        suffix = next_part(reader);
    if (suffix.length && !scale_unit(reader, field, suffix, &value)) return false;
    if (!check_range(reader, field, place_up_to_here(reader, part.place), value)) return false;
    put_field(reader->out, field, value);
    return true;
}

static bool read_scheme_field(struct devdesc_reader *reader, uint32_t *scheme, struct part *part)
{
    *part = next_part(reader);
    size_t i = 0, count = sizeof SCHEMES / sizeof SCHEMES[0];
    while (i < count && !part_is(*part, SCHEMES[i].word))
        i++;
    if (i < count) {
        *scheme = SCHEMES[i].scheme;
        return true;
    }
    if (part->length == 0) {
        devdesc_help(REFUSE(reader, part->place, "a scheme expected"),
                     "schemes are equally, by_counts and by_affinity, with blanks between them");
        return false;
    }
    struct devdesc_finding *finding =
        REFUSE(reader, part->place, "'%.*s' is no scheme: equally, by_counts, by_affinity, or none",
               shown_length(*part), part->text);
    const char *nearest = nearest_scheme(*part);
    if (nearest) devdesc_help(finding, "did you mean '%s'?", nearest);
    return false;
}

static bool read_scheme_list(struct devdesc_reader *reader, const struct field *field)
{
    uint32_t schemes = 0, scheme = 0;
    struct part part, none = {NULL, 0, {0}};
    size_t count = 0;
    do {
        if (!read_scheme_field(reader, &scheme, &part)) return false;
        if (scheme == 0) none = part;
        if (scheme & schemes)
            devdesc_report(reader->findings, DEVDESC_WARNING, part.place, "'%.*s' is named twice",
                           shown_length(part), part.text);
        schemes |= scheme;
        count++;
    } while (!devdesc_at_end(reader));
    if (none.length && count > 1) {
        devdesc_help(REFUSE(reader, none.place, "'none' excludes schemes"),
                     "leave 'none' out, or the schemes");
        return false;
    }
    put_field(reader->out, field, schemes);
    return true;
}

/* ---- lines ---- */

static bool find_device_field(struct devdesc_reader *reader, struct part key, size_t *index)
{
    for (*index = 0; *index < FIELD_COUNT; ++*index)
        if (part_is(key, FIELDS[*index].key)) return true;
    struct devdesc_finding *finding =
        REFUSE(reader, key.place, "unknown key '%.*s'", shown_length(key), key.text);
    size_t best = NEAR_ENOUGH, nearest = FIELD_COUNT;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (is_nearer_word(key, FIELDS[i].key, &best)) nearest = i;
    if (nearest == FIELD_COUNT) return false;
    devdesc_help(finding, "did you mean '%s'?", FIELDS[nearest].key);
    /* It was meant, so it is not missing. */
    reader->given[nearest].seen = true;
    return false;
}

static bool read_field_value(struct devdesc_reader *reader, const struct field *field)
{
    if (devdesc_at_end(reader)) {
        help_range(REFUSE(reader, place_in_line(reader, reader->at, reader->at),
                          "'%s' has no value", field->key),
                   field);
        return false;
    }
    switch (field->kind) {
    case FIELD_NAME: return read_device_name(reader, field);
    case FIELD_SCHEMES: return read_scheme_list(reader, field);
    case FIELD_U32:
    case FIELD_U64: return read_field_number(reader, field);
    }
    return false;
}

/* False: there has been one with a place. */
static bool enter_key(struct devdesc_reader *reader, size_t index, struct part key)
{
    struct devdesc_given *given = &reader->given[index];
    if (given->seen && given->key.line) {
        struct devdesc_finding *finding =
            REFUSE(reader, key.place, "'%s' is given twice", FIELDS[index].key);
        devdesc_other(finding, given->key, "first given here");
        return false;
    }
    given->seen = true;
    given->key = key.place;
    return true;
}

static void read_device_line(struct devdesc_reader *reader)
{
    size_t index;
    if (devdesc_at_end(reader)) return;
    struct part key = next_part(reader);
    if (key.length == 0) {
        REFUSE(reader, key.place, "a line is `key = value`");
        return;
    }
    if (!find_device_field(reader, key, &index) || !enter_key(reader, index, key)) return;
    struct devdesc_given *given = &reader->given[index];
    skip_line_blanks(reader);
    if (reader->at == reader->length || reader->line[reader->at] != '=') {
        devdesc_help(
            REFUSE(reader, rest_of_line(reader), "'=' expected after '%s'", FIELDS[index].key),
            "a line is `key = value`");
        return;
    }
    reader->at++;
    skip_line_blanks(reader);
    given->value = rest_of_line(reader);
    if (!read_field_value(reader, &FIELDS[index])) return;
    if (!devdesc_at_end(reader)) {
        REFUSE(reader, rest_of_line(reader), "nothing may follow the value of '%s'",
               FIELDS[index].key);
        return;
    }
    given->valid = true;
}

/* ---- the whole ---- */

const struct devdesc_given *devdesc_given(const struct devdesc_reader *reader, const char *key)
{
    static const struct devdesc_given none;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (strcmp(FIELDS[i].key, key) == 0) return &reader->given[i];
    return &none;
}

/* "'a', 'b' and 'c'"; what does not fit is left out. */
static void list_keys(char *to, size_t size, const size_t *fields, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count && used < size; i++) {
        const char *between = i == 0 ? "" : i + 1 == count ? " and " : ", ";
        used += (size_t)snprintf(to + used, size - used, "%s'%s'", between, FIELDS[fields[i]].key);
    }
}

/* All in one finding, where the text says whose description it is. */
static void check_missing(struct devdesc_reader *reader)
{
    size_t missing[FIELD_COUNT], count = 0, required[FIELD_COUNT], required_count = 0;
    char keys[200];
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (!FIELDS[i].required) continue;
        required[required_count++] = i;
        if (!reader->given[i].seen) missing[count++] = i;
    }
    if (count == 0) return;
    struct devdesc_place place = devdesc_given(reader, "name")->key;
    if (place.line == 0) place = (struct devdesc_place){1, 1, 0, 0};
    list_keys(keys, sizeof keys, missing, count);
    struct devdesc_finding *finding =
        REFUSE(reader, place, "%s %s missing", keys, count == 1 ? "is" : "are");
    if (count == 1) {
        help_range(finding, &FIELDS[missing[0]]);
        return;
    }
    list_keys(keys, sizeof keys, required, required_count);
    devdesc_help(finding, "every description gives %s", keys);
}

bool devdesc_parse(const char *text, size_t size, struct devdesc *out,
                   struct devdesc_findings *findings)
{
    struct devdesc_reader reader = {.out = out, .findings = findings};
    size_t begin = 0;
    *findings = (struct devdesc_findings){.failed = false};
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (FIELDS[i].kind != FIELD_NAME) put_field(out, &FIELDS[i], FIELDS[i].standard);
    while (begin < size) {
        const char *end = memchr(text + begin, '\n', size - begin);
        reader.line = text + begin;
        reader.line_begin = begin;
        reader.length = end ? (size_t)(end - reader.line) : size - begin;
        reader.at = 0;
        reader.line_number++;
        if (reader.length > UINT16_MAX) {
            REFUSE(&reader, place_in_line(&reader, 0, 0), "a line of more than 65535 bytes");
            return false;
        }
        read_device_line(&reader);
        begin += reader.length + 1;
    }
    check_missing(&reader);
    devdesc_check(&reader, out, findings);
    devdesc_sort(findings);
    return !findings->failed;
}

/* ---- writing ---- */

static uint64_t read_field(const struct devdesc *from, const struct field *field)
{
    const unsigned char *at = (const unsigned char *)from + field->offset;
    uint32_t narrow;
    uint64_t wide;
    memcpy(&narrow, at, sizeof narrow);
    if (field->kind != FIELD_U64) return narrow;
    memcpy(&wide, at, sizeof wide);
    return wide;
}

static int write_schemes(const struct field *field, uint64_t schemes, char *to, size_t room)
{
    char words[64] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof SCHEMES / sizeof SCHEMES[0]; i++) {
        bool has = schemes == 0 ? SCHEMES[i].scheme == 0 : (schemes & SCHEMES[i].scheme) != 0;
        if (has && used < sizeof words)
            used += (size_t)snprintf(words + used, sizeof words - used, " %s", SCHEMES[i].word);
    }
    return snprintf(to, room, "%s =%s\n", field->key, words);
}

static int write_field(const struct devdesc *d, const struct field *field, char *to, size_t room)
{
    if (field->kind == FIELD_NAME)
        return snprintf(to, room, "%s = %.*s\n", field->key, (int)sizeof d->name, d->name);
    uint64_t value = read_field(d, field);
    if (value == field->standard && !field->required) return 0;
    if (field->kind == FIELD_SCHEMES) return write_schemes(field, value, to, room);
    char number[40];
    return snprintf(to, room, "%s = %s\n", field->key,
                    value_text(field, value, number, sizeof number));
}

size_t devdesc_write(const struct devdesc *d, char *to, size_t capacity)
{
    size_t length = 0;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        size_t room = length < capacity ? capacity - length : 0;
        int written = write_field(d, &FIELDS[i], room > 0 ? to + length : NULL, room);
        if (written > 0) length += (size_t)written;
    }
    return length;
}

/* ---- names and parts ---- */

/* At least 1 of a bandwidth that there is; all of one that no part has for itself. */
static uint64_t bandwidth_share(uint64_t bandwidth, const struct devdesc *whole, uint32_t cu_count)
{
    if (whole->memory_shared > 0) return bandwidth;
    unsigned __int128 share = (unsigned __int128)bandwidth * cu_count / whole->cu_count;
    return share == 0 && bandwidth > 0 ? 1 : (uint64_t)share;
}

void devdesc_part(const struct devdesc *whole, uint32_t first_cu, uint32_t cu_count,
                  const char *name, struct devdesc *part)
{
    bool domains = false;
    *part = *whole;
    snprintf(part->name, sizeof part->name, "%s", name);
    part->cu_count = cu_count;
    if (part->max_sub_devices > cu_count) part->max_sub_devices = cu_count;
    part->memory_bytes_per_cycle = bandwidth_share(whole->memory_bytes_per_cycle, whole, cu_count);
    part->cache_bytes_per_cycle = bandwidth_share(whole->cache_bytes_per_cycle, whole, cu_count);
    for (int level = 0; level < DEVDESC_LEVELS; level++) {
        uint32_t each = whole->cus_per_domain[level];
        if (each == 0 || first_cu % each || cu_count % each)
            part->cache_bytes[level] = part->cus_per_domain[level] = 0;
        else
            domains |= each < cu_count;
    }
    if (!devdesc_has_cache(part)) part->cache_bytes_per_cycle = 0;
    if (!domains) part->schemes &= ~(uint32_t)DEVDESC_BY_AFFINITY;
}

bool devdesc_host_cores(const char *name, uint32_t *cores)
{
    *cores = 0;
    if (strncmp(name, "cpu", 3) != 0) return false;
    if (name[3] == '\0') return true;
    const char *digits = name + 4;
    size_t length = strspn(digits, "0123456789");
    if (name[3] != ':' || length == 0 || length > 4 || digits[length] != '\0' || digits[0] == '0')
        return false;
    for (size_t i = 0; i < length; i++)
        *cores = *cores * 10 + (uint32_t)(digits[i] - '0');
    return *cores <= DEVDESC_HOST_CORES_MAX;
}

bool devdesc_is_file_name(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".dev") == 0;
}

bool devdesc_builtin(const char *name, struct devdesc *out)
{
    struct devdesc_findings findings;
    uint32_t cores;
    if (devdesc_host_cores(name, &cores) && cores > 0) {
        bool found = devdesc_builtin("cpu", out);
        if (found) {
            /* As many cores, which share one last cache. */
            snprintf(out->name, sizeof out->name, "%s", name);
            out->cu_count = out->max_sub_devices = cores;
            for (int level = 0; level < DEVDESC_LEVELS; level++)
                if (out->cus_per_domain[level] > 1) out->cus_per_domain[level] = cores;
        }
        return found;
    }
    for (const struct embedded_file *file = embedded_device_files; file->name; file++)
        if (strcmp(file->name, name) == 0)
            return devdesc_parse((const char *)file->bytes, file->size, out, &findings);
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

void devdesc_explain_name(const char *name, const char *others, char *out, size_t out_bytes)
{
    enum { SHOWN_BYTES = 200 };
    char known[300] = "";
    int shown = (int)strnlen(name, SHOWN_BYTES);
    const char *rest = name[shown] != '\0' ? "..." : "";
    if (strncmp(name, "cpu:", 4) == 0) {
        snprintf(out, out_bytes,
                 "there is no device '%.*s%s': write cpu:N, with N, the threads, from 1 to %d",
                 shown, name, rest, DEVDESC_HOST_CORES_MAX);
        return;
    }
    for (size_t i = 0, used = 0; devdesc_builtin_name(i) != NULL && used < sizeof known; i++)
        used +=
            (size_t)snprintf(known + used, sizeof known - used, "%s, ", devdesc_builtin_name(i));
    snprintf(out, out_bytes, "there is no device '%.*s%s'; there are: %scpu:N, %sand FILE.dev",
             shown, name, rest, known, others);
}
