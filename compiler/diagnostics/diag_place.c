/* SPDX-License-Identifier: MIT */
/* Places and texts that the machine-readable forms share. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "compiler/diagnostics/diag_internal.h"
#include "base/utf8.h"
#include "base/words.h"

enum { LINE_HASHED_BYTES = 512 };

/* Advances to the character that contains `target`, in the same line. */
static void advance_place(const struct source *source, uint32_t *offset, struct position *position,
                          uint32_t target)
{
    while (*offset < target) {
        uint32_t code = 0;
        const char *text = source->bytes + *offset;
        size_t available = source->size_bytes - *offset, length = 1;
        if ((unsigned char)*text >= 0x80) length = utf8_decode(text, available, &code);
        if (length == 0) length = utf8_broken_length(text, available);
        if (*offset + length > target) return;
        *offset += (uint32_t)length;
        position->character++;
        position->utf16 += code >= 0x10000 ? 2 : 1;
    }
}

/* Advances to the position of `target`. In the line of *offset, `target` is not before *offset. */
static void go_to(const struct source *source, uint32_t *offset, struct position *position,
                  uint32_t target)
{
    uint32_t line, column;
    if (target > source->size_bytes) target = source->size_bytes;
    source_locate(source, target, &line, &column);
    if (position->line != line || *offset > target) {
        *offset = source->line_begin[line - 1];
        *position = (struct position){line, 1, 1, 1};
    }
    advance_place(source, offset, position, target);
    position->byte = column;
}

bool locate_span(struct locator *locator, struct span span, struct extent *extent)
{
    extent->source = source_get(locator->sources, span.source);
    if (extent->source == NULL) return false;
    if (locator->source != span.source) locator->position.line = 0;
    locator->source = span.source;
    go_to(extent->source, &locator->offset, &locator->position, span.begin);
    extent->begin = extent->end = locator->position;
    uint32_t offset = locator->offset;
    if (span.end > span.begin) go_to(extent->source, &offset, &extent->end, span.end);
    return true;
}

bool diag_is_fixable(const struct sources *sources, const struct diag *diag)
{
    for (size_t i = 0; i < diag->edits.count; i++)
        if (source_is_library(sources, diag->edits.items[i].span.source)) return false;
    return diag->edits.count > 0;
}

const char *plain_path(const char *name)
{
    while (name[0] == '.' && name[1] == '/' && name[2] != '\0')
        name += 2;
    return name;
}

const char *uri_encoded(struct arena *arena, const char *prefix, const char *path)
{
    static const char digits[] = "0123456789ABCDEF";
    char *uri = arena_array(arena, strlen(prefix) + strlen(path) + 1, 3), *to = stpcpy(uri, prefix);
    for (; *path != '\0'; path++) {
        if (byte_is_word(*path) || strchr("/.-~", *path) != NULL) {
            *to++ = *path;
            continue;
        }
        *to++ = '%';
        *to++ = digits[(unsigned char)*path >> 4];
        *to++ = digits[(unsigned char)*path & 15];
    }
    *to = '\0';
    return uri;
}

const char *diag_full_text(const struct report *report, const struct diag *diag, bool labels)
{
    const char *text = diag->message;
    for (size_t i = 0; labels && i < diag->labels.count; i++) {
        const struct place *place = &diag->labels.items[i];
        const struct source *source = source_get(report->sources, place->span.source);
        uint32_t line, column;
        if (source == NULL) continue;
        source_locate(source, place->span.begin, &line, &column);
        text = arena_printf(report->arena, "%s\n%s:%" PRIu32 ":%" PRIu32 ": %s", text,
                            plain_path(source->name), line, column, place->text);
    }
    for (size_t i = 0; i < diag->remarks.count; i++)
        text = arena_printf(report->arena, "%s\n%s: %s", text,
                            diag->remarks.items[i].is_help ? "help" : "note",
                            diag->remarks.items[i].text);
    return text;
}

static bool is_trimmed_byte(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static uint64_t hash_line(const struct source *source, uint32_t offset, uint64_t hash)
{
    uint32_t line, column;
    source_locate(source, offset, &line, &column);
    uint32_t begin = source->line_begin[line - 1];
    uint32_t end = line < source->line_count ? source->line_begin[line] : source->size_bytes;
    while (begin < end && is_trimmed_byte(source->bytes[begin]))
        begin++;
    if (end - begin > LINE_HASHED_BYTES) end = begin + LINE_HASHED_BYTES;
    while (end > begin && is_trimmed_byte(source->bytes[end - 1]))
        end--;
    return XXH64(source->bytes + begin, end - begin, hash);
}

static uint64_t hash_text(const char *text, uint64_t hash)
{
    return XXH64(text, strlen(text), hash);
}

static uint64_t fingerprint_diag(const struct report *report, const struct diag *diag)
{
    const struct source *source = source_get(report->sources, diag->primary.span.source);
    uint64_t hash = hash_text(rule_id(diag->rule), 0);
    hash = hash_text(diag->message, hash);
    if (source == NULL) return hash;
    hash = hash_text(plain_path(source->name), hash);
    return hash_line(source, diag->primary.span.begin, hash);
}

struct numbered {
    uint64_t hash;
    size_t index;
};

static int compare_numbered(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

const uint64_t *diag_fingerprints(const struct report *report)
{
    struct numbered *sorted = ARENA_ARRAY(report->arena, struct numbered, report->count + 1);
    uint64_t *fingerprints = ARENA_ARRAY(report->arena, uint64_t, report->count + 1);
    for (size_t i = 0; i < report->count; i++)
        sorted[i] = (struct numbered){fingerprint_diag(report, report->items[i]), i};
    qsort(sorted, report->count, sizeof *sorted, compare_numbered);
    size_t equal_count = 0;
    for (size_t i = 0; i < report->count; i++) {
        equal_count = i > 0 && sorted[i].hash == sorted[i - 1].hash ? equal_count + 1 : 0;
        fingerprints[sorted[i].index] =
            equal_count ? sorted[i].hash * 31 + equal_count : sorted[i].hash;
    }
    return fingerprints;
}
