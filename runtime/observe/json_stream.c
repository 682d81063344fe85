#include "runtime/observe/json_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool prt_json_flush(struct prt_json *json)
{
    if (json->used > 0 && !json->failed)
        json->failed = !json->write(json->context, json->buffer, json->used);
    json->used = 0;
    return !json->failed;
}

static void put(struct prt_json *json, const char *bytes, size_t size)
{
    while (size > 0) {
        if (json->used == sizeof json->buffer) prt_json_flush(json);
        size_t room = sizeof json->buffer - json->used;
        size_t part = size < room ? size : room;
        memcpy(json->buffer + json->used, bytes, part);
        json->used += part;
        bytes += part;
        size -= part;
    }
}

static void put_text(struct prt_json *json, const char *text)
{
    put(json, text, strlen(text));
}

/* Bytes of the character that begins there; 0: it is no UTF-8. */
static size_t character_bytes(const unsigned char *at)
{
    size_t length = *at < 0x80 ? 1 : *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
    if (length > 1 && (*at < 0xc2 || *at > 0xf4)) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
    }
    bool overlong = (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xf0 && at[1] < 0x90);
    bool beyond = (*at == 0xed && at[1] > 0x9f) || (*at == 0xf4 && at[1] > 0x8f);
    return overlong || beyond ? 0 : length;
}

static void put_string(struct prt_json *json, const char *text)
{
    put(json, "\"", 1);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        size_t length = character_bytes(at);
        if (length == 0) {
            put_text(json, "\\ufffd");
            at++;
            continue;
        }
        char escape[8];
        if (*at < 0x20 || *at == 0x7f) {
            snprintf(escape, sizeof escape, "\\u%04x", *at);
            put_text(json, escape);
        } else {
            if (*at == '"' || *at == '\\') put(json, "\\", 1);
            put(json, (const char *)at, length);
        }
        at += length;
    }
    put(json, "\"", 1);
}

static bool on_a_line(const struct prt_json *json)
{
    return json->line_depth > 0 && json->depth >= json->line_depth;
}

static void new_line(struct prt_json *json)
{
    if (on_a_line(json)) return;
    put(json, "\n", 1);
    for (unsigned i = 0; i < json->depth; i++)
        put(json, "  ", 2);
}

static void begin_member(struct prt_json *json, const char *key)
{
    if (json->has_members) put_text(json, on_a_line(json) ? ", " : ",");
    if (json->depth > 0) new_line(json);
    if (key != NULL) {
        put_string(json, key);
        put(json, ": ", 2);
    }
    json->has_members = true;
}

void prt_json_begin(struct prt_json *json, const char *key, char bracket)
{
    begin_member(json, key);
    put(json, &bracket, 1);
    json->depth++;
    json->has_members = false;
}

void prt_json_begin_line(struct prt_json *json, const char *key, char bracket)
{
    prt_json_begin(json, key, bracket);
    if (json->line_depth == 0) json->line_depth = json->depth;
}

void prt_json_end(struct prt_json *json, char bracket)
{
    bool line = on_a_line(json);
    if (json->line_depth == json->depth) json->line_depth = 0;
    json->depth--;
    if (json->has_members && !line) new_line(json);
    put(json, &bracket, 1);
    json->has_members = true;
    if (json->depth > 0) return;
    put(json, "\n", 1);
    json->has_members = false;
}

void prt_json_text(struct prt_json *json, const char *key, const char *text)
{
    begin_member(json, key);
    put_string(json, text);
}

void prt_json_number(struct prt_json *json, const char *key, uint64_t number)
{
    char digits[24];
    begin_member(json, key);
    snprintf(digits, sizeof digits, "%" PRIu64, number);
    put_text(json, digits);
}

void prt_json_boolean(struct prt_json *json, const char *key, bool value)
{
    begin_member(json, key);
    put_text(json, value ? "true" : "false");
}

void prt_json_null(struct prt_json *json, const char *key)
{
    begin_member(json, key);
    put_text(json, "null");
}

void prt_json_fraction(struct prt_json *json, const char *key, uint64_t number, unsigned decimals)
{
    char digits[40];
    uint64_t unit = 1;
    for (unsigned i = 0; i < decimals; i++)
        unit *= 10;
    begin_member(json, key);
    snprintf(digits, sizeof digits, "%" PRIu64 ".%0*" PRIu64, number / unit, (int)decimals,
             number % unit);
    put_text(json, digits);
}
