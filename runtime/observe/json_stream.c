#include "runtime/observe/json_stream.h"

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
    if (size <= sizeof json->buffer - json->used) {
        memcpy(json->buffer + json->used, bytes, size);
        json->used += size;
        return;
    }
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

/* Bytes that stand for themselves: nearly all that there are. */
static size_t plain_length(const unsigned char *at)
{
    size_t length = 0;
    while (at[length] >= ' ' && at[length] <= '~' && at[length] != '"' && at[length] != '\\')
        length++;
    return length;
}

/* One character, or a byte that is none; returns its bytes. */
static size_t put_character(struct prt_json *json, const unsigned char *at)
{
    size_t length = character_bytes(at);
    char escape[8];
    if (length == 0) {
        put_text(json, "\\ufffd");
        return 1;
    }
    if (*at < 0x20 || *at == 0x7f) {
        snprintf(escape, sizeof escape, "\\u%04x", *at);
        put_text(json, escape);
        return 1;
    }
    if (*at == '"' || *at == '\\') put(json, "\\", 1);
    put(json, (const char *)at, length);
    return length;
}

static void put_string(struct prt_json *json, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    put(json, "\"", 1);
    for (;;) {
        size_t plain = plain_length(at);
        put(json, (const char *)at, plain);
        at += plain;
        if (*at == '\0') break;
        at += put_character(json, at);
    }
    put(json, "\"", 1);
}

/* At least `digits` of them. */
static void put_number(struct prt_json *json, uint64_t number, unsigned digits)
{
    char text[24];
    size_t at = sizeof text;
    while (number > 0 || sizeof text - at < digits) {
        text[--at] = (char)('0' + number % 10);
        number /= 10;
    }
    put(json, text + at, sizeof text - at);
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
    begin_member(json, key);
    put_number(json, number, 1);
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
    uint64_t unit = 1;
    for (unsigned i = 0; i < decimals; i++)
        unit *= 10;
    begin_member(json, key);
    put_number(json, number / unit, 1);
    put(json, ".", 1);
    put_number(json, number % unit, decimals);
}
