/* SPDX-License-Identifier: MIT */
#include "tools/piperun/io/arrival_text.h"

#include "base/file_open.h"
#include "lang/rational.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

/* A text while it is read. */
struct cursor {
    const char *at, *end;
};

static bool skip_char(struct cursor *c, char expected)
{
    if (c->at == c->end || *c->at != expected) return false;
    c->at++;
    return true;
}

static bool is_at_digit(const struct cursor *c)
{
    return c->at < c->end && *c->at >= '0' && *c->at <= '9';
}

/* Digits.  False: there are none, or the number is 2^63 or more. */
static bool read_unsigned(struct cursor *c, int64_t *number)
{
    bool any = is_at_digit(c);
    while (is_at_digit(c)) {
        int digit = *c->at++ - '0';
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, digit, number))
            return false;
    }
    return any;
}

/* 44.1 is 441/10. */
static bool read_decimal(struct cursor *c, struct rational *number)
{
    int64_t numerator = 0, denominator = 1;
    if (!read_unsigned(c, &numerator)) return false;
    if (skip_char(c, '.')) {
        const char *first = c->at;
        if (!read_unsigned(c, &numerator)) return false;
        for (ptrdiff_t i = 0; i < c->at - first; i++)
            if (__builtin_mul_overflow(denominator, 10, &denominator)) return false;
    }
    return rational_of(numerator, denominator, number);
}

struct unit {
    const char *name;
    uint64_t up, down; /* the unit is up / down of the basic unit */
};

/* The unit at the cursor, or NULL. */
static const struct unit *find_unit(const struct cursor *c, const struct unit *units, size_t count)
{
    size_t length = (size_t)(c->end - c->at);
    for (size_t i = 0; i < count; i++)
        if (strlen(units[i].name) == length && memcmp(units[i].name, c->at, length) == 0)
            return &units[i];
    return NULL;
}

bool prt_arrival_rate_parse(const char *text, size_t length, uint64_t *packets, uint64_t *seconds)
{
    static const struct unit units[] = {
        {"", 1, 1}, {"Hz", 1, 1}, {"kHz", 1000, 1}, {"MHz", 1000000, 1}, {"GHz", 1000000000, 1}};
    struct cursor c = {text, text + length};
    struct rational rate, divisor = {1, 1};
    if (!read_decimal(&c, &rate)) return false;
    if (skip_char(&c, '/') && !read_decimal(&c, &divisor)) return false;
    const struct unit *unit = find_unit(&c, units, sizeof units / sizeof units[0]);
    if (unit == NULL || rate.numerator == 0 || divisor.numerator == 0 ||
        !rational_scale(rate, (uint64_t)divisor.denominator, (uint64_t)divisor.numerator, &rate) ||
        !rational_scale(rate, unit->up, 1, &rate))
        return false;
    *packets = (uint64_t)rate.numerator;
    *seconds = (uint64_t)rate.denominator;
    return true;
}

/* Rounds a time up to a cycle. */
static bool read_time(struct cursor *c, uint64_t clock_hz, uint64_t *cycles)
{
    static const struct unit units[] = {
        {"ns", 1, 1000000000}, {"us", 1, 1000000}, {"ms", 1, 1000}, {"s", 1, 1}};
    struct rational time;
    if (!read_decimal(c, &time)) return false;
    struct cursor word = *c;
    while (c->at < c->end && *c->at != ' ' && *c->at != '\t')
        c->at++;
    word.end = c->at;
    if (word.at == word.end) {
        *cycles = (uint64_t)time.numerator;
        return time.denominator == 1;
    }
    const struct unit *unit = find_unit(&word, units, sizeof units / sizeof units[0]);
    if (unit == NULL || !rational_scale(time, unit->up, unit->down, &time) ||
        !rational_scale(time, clock_hz, 1, &time))
        return false;
    *cycles =
        (uint64_t)(time.numerator / time.denominator) + (time.numerator % time.denominator > 0);
    return true;
}

/* ---- lists ---- */

static bool skip_blanks(struct cursor *c)
{
    const char *first = c->at;
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
        c->at++;
    return c->at > first;
}

static bool grow_list(struct prt_arrival_list *list, size_t *capacity)
{
    if (list->count < *capacity) return true;
    size_t larger = *capacity > 0 ? *capacity * 2 : 256;
    uint64_t *cycles = realloc(list->cycles, larger * sizeof *cycles);
    if (cycles != NULL) list->cycles = cycles;
    uint64_t *packets = realloc(list->packets, larger * sizeof *packets);
    if (packets != NULL) list->packets = packets;
    size_t *numbers = realloc(list->line_numbers, larger * sizeof *numbers);
    if (numbers != NULL) list->line_numbers = numbers;
    if (cycles == NULL || packets == NULL || numbers == NULL) return false;
    *capacity = larger;
    return true;
}

/* The place of a file while it is read. */
struct list_file {
    const char *path;
    uint64_t clock_hz;
    size_t line, capacity;
};

static enum prt_status read_arrival_line(struct list_file *file, struct cursor text,
                                         struct prt_arrival_list *list, struct prt_error *error)
{
    const char *comment = memchr(text.at, '#', (size_t)(text.end - text.at));
    uint64_t cycles = 0;
    int64_t packets = 0;
    if (comment != NULL) text.end = comment;
    while (text.end > text.at && strchr(" \t\r\n", text.end[-1]) != NULL && text.end[-1] != '\0')
        text.end--;
    (void)skip_blanks(&text);
    if (text.at == text.end) return PRT_OK;
    if (list->count == ARRIVAL_LINES_MAX)
        return prt_error_set(error, PRT_E_FORMAT, "%s:%zu: more than %zu arrivals", file->path,
                             file->line, ARRIVAL_LINES_MAX);
    const struct cursor whole = text;
    if (!read_time(&text, file->clock_hz, &cycles) || !skip_blanks(&text) ||
        !read_unsigned(&text, &packets) || text.at != text.end)
        return prt_error_set(error, PRT_E_FORMAT,
                             "%s:%zu: '%.*s' is not a time and a number of packets, such as "
                             "'20834 1' (cycles) or '1.5ms 64'",
                             file->path, file->line,
                             (int)(whole.end - whole.at < 80 ? whole.end - whole.at : 80),
                             whole.at);
    if (!grow_list(list, &file->capacity))
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    list->cycles[list->count] = cycles;
    list->packets[list->count] = (uint64_t)packets;
    list->line_numbers[list->count++] = file->line;
    return PRT_OK;
}

enum prt_status prt_arrival_list_read(const char *path, uint64_t clock_hz,
                                      struct prt_arrival_list *list, struct prt_error *error)
{
    struct list_file file = {.path = path, .clock_hz = clock_hz};
    enum prt_status status = PRT_OK;
    char *line = NULL;
    size_t bytes = 0;
    ssize_t length;
    *list = (struct prt_arrival_list){.count = 0};
    FILE *stream = file_open_input_stream(path);
    if (stream == NULL)
        return prt_error_set(error, PRT_E_OPEN, "%s: %s", path, file_error_text(errno));
    while (status == PRT_OK && (length = getline(&line, &bytes, stream)) >= 0) {
        file.line++;
        status = read_arrival_line(&file, (struct cursor){line, line + length}, list, error);
    }
    if (status == PRT_OK && !feof(stream))
        status = prt_error_set(error, PRT_E_READ, "%s: %s", path, strerror(errno));
    free(line);
    (void)fclose(stream);
    if (status != PRT_OK) prt_arrival_list_free(list);
    return status;
}

void prt_arrival_list_free(struct prt_arrival_list *list)
{
    free(list->cycles);
    free(list->packets);
    free(list->line_numbers);
    *list = (struct prt_arrival_list){.count = 0};
}
