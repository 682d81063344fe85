/* SPDX-License-Identifier: MIT */
/*
 * source: the files of a compilation, and places in them.
 *
 * A place is a byte range of one file (`struct span`); lines and columns are computed when a
 * diagnostic is printed. Files are read whole; a byte-order mark is skipped.  The embedded standard
 * library is reached under the names `std/...`.  Source 0 does not exist: a zero span means "no
 * place".
 */
#ifndef PIPEC_SOURCE_H
#define PIPEC_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct span {
    uint32_t source;     /* counted from 1; 0: no place */
    uint32_t begin, end; /* byte offsets, half open */
};

struct source {
    const char *name;  /* as the user wrote it, or as an import was resolved; shown in messages */
    const char *bytes; /* NUL-terminated; may contain NULs */
    uint32_t size_bytes;
    bool has_mark; /* a byte-order mark stood before the bytes */
    uint32_t line_count;
    const uint32_t *line_begin; /* offset of each line */
};

struct sources;

enum source_status {
    SOURCE_OK,
    SOURCE_NOT_FOUND,  /* no such file in any of the folders */
    SOURCE_UNREADABLE, /* cannot be opened or read, a directory, ...: `errno` is kept */
    SOURCE_TOO_LARGE,  /* over SOURCE_MAX_BYTES */
};

#define SOURCE_MAX_BYTES (64u << 20)

struct sources *sources_create(struct arena *arena);
/* From now on the text of the file `path`, under whatever name, is `bytes`, as an editor holds it. `bytes` stay the
 * caller's. Nothing happens if there is no such file. */
void source_overlay(struct sources *sources, const char *path, const char *bytes,
                    size_t size_bytes);
/* Reads `path` ("-" is standard input).  On success *id names the source. */
enum source_status source_read(struct sources *sources, const char *path, uint32_t *id);
/* Finds `path` of an import: in the folder of the importing file, then in the `-I` folders in
 * order, then in the embedded library. The same file is never loaded twice: then *id is the
 * earlier one. */
enum source_status source_import(struct sources *sources, uint32_t importer, const char *path,
                                 const char *const *folders, size_t folder_count, uint32_t *id);
/* The path of another file that a source names, found like an import, except in the library; NULL: it is in none of
 * the folders. */
const char *source_find_file(struct sources *sources, uint32_t importer, const char *path,
                             const char *const *folders, size_t folder_count);
/* A source from memory, for tests and for text given on the command line. */
uint32_t source_add(struct sources *sources, const char *name, const char *bytes,
                    size_t size_bytes);
/* Says from which place of another source each line of source `id` was made. `by_line` lives in the arena and has a
 * span for each line; one without a place is the line's own. */
void source_set_origins(struct sources *sources, uint32_t id, const struct span *by_line);
/* The place that the text at `span` was made from; `span` itself if it was not made from any. */
struct span source_origin(const struct sources *sources, struct span span);
/* Copies a source of another compilation. `shared`: source_find finds it. */
uint32_t source_adopt(struct sources *sources, const struct source *source, bool shared);
/* The shared source of that name, or 0. */
uint32_t source_find(const struct sources *sources, const char *name);
const struct source *source_get(const struct sources *sources, uint32_t id);
uint32_t source_count(const struct sources *sources);
/* True if it was read from a file on disk: not standard input, a pipe, memory or the embedded
 * library. */
bool source_is_file(const struct sources *sources, uint32_t id);
/* True for a source of the embedded library. */
bool source_is_library(const struct sources *sources, uint32_t id);
/* 1-based line and byte column of an offset. */
void source_locate(const struct source *source, uint32_t offset, uint32_t *line, uint32_t *column);

static inline struct span span_join(struct span a, struct span b)
{
    if (a.source == 0) return b;
    if (b.source == 0 || b.source != a.source) return a;
    return (struct span){a.source, a.begin < b.begin ? a.begin : b.begin,
                         a.end > b.end ? a.end : b.end};
}

#endif
