#include "base/json_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"

static void print_escape(FILE *to, uint32_t code)
{
    if (code == '\n')
        fputs("\\n", to);
    else if (code == '\t')
        fputs("\\t", to);
    else if (code < 0x10000)
        fprintf(to, "\\u%04" PRIx32, code);
    else
        fprintf(to, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xD800 + ((code - 0x10000) >> 10),
                0xDC00 + ((code - 0x10000) & 0x3FF));
}

/* Characters that stand for themselves: nearly all that there are. */
static size_t plain_length(const char *text)
{
    size_t length = 0;
    while (text[length] >= ' ' && text[length] <= '~' && text[length] != '"' &&
           text[length] != '\\')
        length++;
    return length;
}

void json_print_string(FILE *to, const char *text)
{
    const char *end = text + strlen(text);
    fputc('"', to);
    while (text < end) {
        uint32_t code;
        size_t plain = plain_length(text);
        fwrite(text, 1, plain, to);
        text += plain;
        if (text == end) break;
        size_t length = utf8_decode(text, (size_t)(end - text), &code);
        if (length == 0) {
            fprintf(to, "\\\\x%02X", (unsigned char)*text);
            length = 1;
        } else if (utf8_is_unprintable(code)) {
            print_escape(to, code);
        } else {
            if (code == '"' || code == '\\') fputc('\\', to);
            fwrite(text, 1, length, to);
        }
        text += length;
    }
    fputc('"', to);
}

static void new_line(const struct json *json)
{
    if (!json->compact) fprintf(json->to, "\n%*s", (int)(json->depth * 2), "");
}

static void begin_member(struct json *json, const char *key)
{
    if (json->has_members) fputc(',', json->to);
    if (json->depth > 0) new_line(json);
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

void json_end(struct json *json, char bracket)
{
    json->depth--;
    if (json->has_members) new_line(json);
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

void json_printed_begin(struct memory_text *text)
{
    if (!memory_text_begin(text)) arena_out_of_memory();
}

void json_printed_end(struct json *json, const char *key, struct memory_text *text)
{
    char *bytes = memory_text_end(text, NULL);
    if (bytes == NULL) arena_out_of_memory();
    json_text(json, key, bytes);
    free(bytes);
}

void json_number(struct json *json, const char *key, uint64_t number)
{
    begin_member(json, key);
    fprintf(json->to, "%" PRIu64, number);
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

void json_boolean(struct json *json, const char *key, bool value)
{
    begin_member(json, key);
    fputs(value ? "true" : "false", json->to);
}
