/* SPDX-License-Identifier: MIT */
#include "base/json_write.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

void json_print_string(FILE *to, const char *text)
{
    const char *end = text + strlen(text);
    fputc('"', to);
    while (text < end) {
        uint32_t code;
        /* The number of bytes from `text` on that need no escape: usually nearly all. */
        size_t plain = 0;
        while (text[plain] >= ' ' && text[plain] <= '~' && text[plain] != '"' &&
               text[plain] != '\\')
            plain++;
        fwrite(text, 1, plain, to);
        text += plain;
        if (text == end) break;
        size_t length = utf8_decode(text, (size_t)(end - text), &code);
        if (length == 0) {
            fprintf(to, "\\\\x%02X", (unsigned char)*text);
            length = 1;
        } else if (utf8_is_unprintable(code)) {
            if (code == '\n')
                fputs("\\n", to);
            else if (code == '\t')
                fputs("\\t", to);
            else if (code < 0x10000)
                fprintf(to, "\\u%04" PRIx32, code);
            else
                fprintf(to, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xD800 + ((code - 0x10000) >> 10),
                        0xDC00 + ((code - 0x10000) & 0x3FF));
        } else {
            if (code == '"' || code == '\\') fputc('\\', to);
            fwrite(text, 1, length, to);
        }
        text += length;
    }
    fputc('"', to);
}

/* Prints at least `digits` digits. */
static void print_digits(FILE *to, uint64_t number, unsigned digits)
{
    char text[24];
    size_t at = sizeof text;
    while (number > 0 || sizeof text - at < digits) {
        text[--at] = (char)('0' + number % 10);
        number /= 10;
    }
    fwrite(text + at, 1, sizeof text - at, to);
}

static bool is_on_line(const struct json *json)
{
    return json->line_depth > 0 && json->depth >= json->line_depth;
}

static void begin_new_line(const struct json *json)
{
    if (json->compact || is_on_line(json)) return;
    fputc('\n', json->to);
    for (unsigned i = 0; i < json->depth; i++)
        fwrite("  ", 1, 2, json->to);
}

static void begin_member(struct json *json, const char *key)
{
    if (json->has_members) fputc(',', json->to);
    if (json->has_members && is_on_line(json) && !json->compact) fputc(' ', json->to);
    if (json->depth > 0) begin_new_line(json);
    if (key != NULL) {
        json_print_string(json->to, key);
        fputs(json->compact ? ":" : ": ", json->to);
    }
    json->has_members = true;
}

void json_begin(struct json *json, const char *key, char bracket)
{
    begin_member(json, key);
    fputc(bracket, json->to);
    json->depth++;
    json->has_members = false;
}

void json_begin_line(struct json *json, const char *key, char bracket)
{
    json_begin(json, key, bracket);
    if (json->line_depth == 0) json->line_depth = json->depth;
}

void json_end(struct json *json, char bracket)
{
    bool is_line = is_on_line(json);
    if (json->line_depth == json->depth) json->line_depth = 0;
    json->depth--;
    if (json->has_members && !is_line) begin_new_line(json);
    fputc(bracket, json->to);
    json->has_members = true;
    if (json->depth > 0) return;
    fputc('\n', json->to);
    json->has_members = false;
}

void json_text(struct json *json, const char *key, const char *text)
{
    begin_member(json, key);
    if (text != NULL)
        json_print_string(json->to, text);
    else
        fputs("null", json->to);
}

void json_number(struct json *json, const char *key, uint64_t number)
{
    begin_member(json, key);
    print_digits(json->to, number, 1);
}

void json_numbers(struct json *json, const char *key, uint64_t single, const uint64_t *numbers,
                  size_t count)
{
    if (numbers == NULL) {
        json_number(json, key, single);
        return;
    }
    json_begin(json, key, '[');
    for (size_t i = 0; i < count; i++)
        json_number(json, NULL, numbers[i]);
    json_end(json, ']');
}

void json_fraction(struct json *json, const char *key, uint64_t number, unsigned decimals)
{
    uint64_t unit = 1;
    for (unsigned i = 0; i < decimals; i++)
        unit *= 10;
    begin_member(json, key);
    print_digits(json->to, number / unit, 1);
    fputc('.', json->to);
    print_digits(json->to, number % unit, decimals);
}

void json_boolean(struct json *json, const char *key, bool value)
{
    begin_member(json, key);
    fputs(value ? "true" : "false", json->to);
}

void json_literal(struct json *json, const char *key, const char *value)
{
    begin_member(json, key);
    fputs(value, json->to);
}
