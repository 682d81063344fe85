/*
 * json_stream: JSON text, value by value, to whoever takes bytes: the statistics and the timeline.
 *
 *     struct prt_json json = {.write = write, .context = file};
 *     prt_json_begin(&json, NULL, '{');
 *     prt_json_text(&json, "name", name);
 *     prt_json_begin_line(&json, "list", '[');      what is in it stands on one line
 *     prt_json_number(&json, NULL, 7);              elements of arrays have no key
 *     prt_json_end(&json, ']');
 *     prt_json_end(&json, '}');
 *     if (!prt_json_flush(&json)) ...
 *
 * Commas, indentation and escapes are put here.  All output is UTF-8: bytes that are not become
 * U+FFFD.
 * Errors: after a failed write nothing more is written; prt_json_flush tells.
 * Allocation: none.
 */
#ifndef RUNTIME_OBSERVE_JSON_STREAM_H
#define RUNTIME_OBSERVE_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prt_json { /* zero but for the first two */
    bool (*write)(void *context, const char *bytes, size_t size);
    void *context;
    unsigned depth;
    unsigned line_depth; /* at this depth and below all is on one line; 0: nowhere */
    bool has_members;    /* of what is open */
    bool failed;
    size_t used;
    char buffer[4096];
};

void prt_json_begin(struct prt_json *json, const char *key, char bracket);
void prt_json_begin_line(struct prt_json *json, const char *key, char bracket);
void prt_json_end(struct prt_json *json, char bracket);

void prt_json_text(struct prt_json *json, const char *key, const char *text);
void prt_json_number(struct prt_json *json, const char *key, uint64_t number);
void prt_json_boolean(struct prt_json *json, const char *key, bool value);
void prt_json_null(struct prt_json *json, const char *key);
/* number / 10^`decimals`, as a decimal fraction with that many places; decimals 1 to 9. */
void prt_json_fraction(struct prt_json *json, const char *key, uint64_t number, unsigned decimals);

/* Writes what is still held.  False: some of it could not be written. */
bool prt_json_flush(struct prt_json *json);

#endif
