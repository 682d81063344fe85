/* SPDX-License-Identifier: MIT */
#include "compiler/support/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "lang/embedded.h"
#include "base/file_open.h"

enum origin { FROM_FILE, FROM_STREAM, FROM_MEMORY, FROM_LIBRARY };

struct entry {
    struct source source;
    enum origin origin;
    bool nameless; /* standard input that was redirected from a file */
    dev_t device;  /* with `inode`: which file this is */
    ino_t inode;
    const struct span *origins; /* by line; NULL: the text is the author's own */
};

struct overlay {
    dev_t device;
    ino_t inode;
    const char *bytes;
    size_t size_bytes;
};

struct sources {
    struct arena *arena;
    VEC(struct overlay) overlays;
    VEC(struct entry *) entries;
    VEC(uint32_t) shared; /* ids of the sources that source_find finds */
};

struct sources *sources_create(struct arena *arena)
{
    struct sources *sources = ARENA_NEW(arena, struct sources);
    sources->arena = arena;
    return sources;
}

const struct source *source_get(const struct sources *sources, uint32_t id)
{
    return id > 0 && id <= sources->entries.count ? &sources->entries.items[id - 1]->source : NULL;
}

uint32_t source_count(const struct sources *sources)
{
    return (uint32_t)sources->entries.count;
}

bool source_is_file(const struct sources *sources, uint32_t id)
{
    return id > 0 && id <= sources->entries.count &&
           sources->entries.items[id - 1]->origin == FROM_FILE &&
           !sources->entries.items[id - 1]->nameless;
}

bool source_is_library(const struct sources *sources, uint32_t id)
{
    return id > 0 && id <= sources->entries.count &&
           sources->entries.items[id - 1]->origin == FROM_LIBRARY;
}

/* `bytes` lives in the arena or is static, and has a NUL at `size_bytes`. */
static struct entry *add_source_entry(struct sources *sources, enum origin origin, const char *name,
                                      const char *bytes, size_t size_bytes, uint32_t *id)
{
    bool has_mark = size_bytes >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0;
    if (has_mark) {
        bytes += 3;
        size_bytes -= 3;
    }
    struct entry *entry = ARENA_NEW(sources->arena, struct entry);
    entry->origin = origin;
    entry->source.name = arena_string(sources->arena, name, strlen(name));
    entry->source.bytes = bytes;
    entry->source.size_bytes = (uint32_t)size_bytes;
    entry->source.has_mark = has_mark;
    const char *end = entry->source.bytes + entry->source.size_bytes;
    uint32_t count = 1;
    for (const char *p = entry->source.bytes; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        count++;
    uint32_t *begin = ARENA_ARRAY(sources->arena, uint32_t, count);
    entry->source.line_count = count;
    entry->source.line_begin = begin;
    uint32_t line = 0;
    for (const char *p = entry->source.bytes; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        begin[++line] = (uint32_t)(p - entry->source.bytes) + 1;
    vec_push(sources->arena, &sources->entries, entry);
    *id = (uint32_t)sources->entries.count;
    return entry;
}

uint32_t source_add(struct sources *sources, const char *name, const char *bytes, size_t size_bytes)
{
    uint32_t id;
    if (size_bytes > SOURCE_MAX_BYTES) size_bytes = SOURCE_MAX_BYTES;
    add_source_entry(sources, FROM_MEMORY, name, arena_string(sources->arena, bytes, size_bytes),
                     size_bytes, &id);
    return id;
}

void source_set_origins(struct sources *sources, uint32_t id, const struct span *by_line)
{
    sources->entries.items[id - 1]->origins = by_line;
}

struct span source_origin(const struct sources *sources, struct span span)
{
    uint32_t line, column;
    if (span.source == 0 || span.source > sources->entries.count) return span;
    const struct entry *entry = sources->entries.items[span.source - 1];
    if (entry->origins == NULL) return span;
    source_locate(&entry->source, span.begin, &line, &column);
    struct span origin = entry->origins[line - 1];
    return origin.source != 0 ? origin : span;
}

uint32_t source_find(const struct sources *sources, const char *name)
{
    for (size_t i = 0; i < sources->shared.count; i++) {
        uint32_t id = sources->shared.items[i];
        if (strcmp(sources->entries.items[id - 1]->source.name, name) == 0) return id;
    }
    return 0;
}

uint32_t source_adopt(struct sources *sources, const struct source *source, bool shared)
{
    struct entry *entry = ARENA_NEW(sources->arena, struct entry);
    entry->origin = FROM_MEMORY;
    entry->source = *source;
    entry->source.name = arena_string(sources->arena, source->name, strlen(source->name));
    entry->source.bytes = arena_string(sources->arena, source->bytes, source->size_bytes);
    entry->source.line_begin = arena_copy(sources->arena, source->line_begin,
                                          source->line_count * sizeof *source->line_begin);
    vec_push(sources->arena, &sources->entries, entry);
    uint32_t id = (uint32_t)sources->entries.count;
    if (shared) vec_push(sources->arena, &sources->shared, id);
    return id;
}

/* Reads to the end of file into malloc'ed memory; *bytes is NULL unless SOURCE_OK. */
static enum source_status read_all_bytes(int fd, size_t expected_bytes, char **bytes,
                                         size_t *size_bytes)
{
    size_t capacity = expected_bytes + 1, size = 0;
    enum source_status status = SOURCE_OK;
    char *buffer = malloc(capacity);
    for (;;) {
        if (!buffer) {
            errno = ENOMEM;
            return SOURCE_UNREADABLE;
        }
        ssize_t got = read(fd, buffer + size, capacity - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = SOURCE_UNREADABLE;
        if (got <= 0) break;
        size += (size_t)got;
        if (size > SOURCE_MAX_BYTES) {
            status = SOURCE_TOO_LARGE;
            break;
        }
        if (size < capacity) continue;
        capacity *= 2;
        char *larger = realloc(buffer, capacity);
        if (!larger) free(buffer);
        buffer = larger;
    }
    if (status != SOURCE_OK) {
        int error = errno;
        free(buffer);
        errno = error;
        return status;
    }
    *bytes = buffer;
    *size_bytes = size;
    return SOURCE_OK;
}

static bool find_loaded(const struct sources *sources, dev_t device, ino_t inode, uint32_t *id)
{
    for (size_t i = 0; i < sources->entries.count; i++) {
        const struct entry *entry = sources->entries.items[i];
        if (entry->origin != FROM_FILE || entry->device != device || entry->inode != inode)
            continue;
        *id = (uint32_t)i + 1;
        return true;
    }
    return false;
}

void source_overlay(struct sources *sources, const char *path, const char *bytes, size_t size_bytes)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return;
    vec_push(sources->arena, &sources->overlays,
             (struct overlay){info.st_dev, info.st_ino, bytes, size_bytes});
}

static const struct overlay *find_overlay(const struct sources *sources, const struct stat *info)
{
    for (size_t i = 0; S_ISREG(info->st_mode) && i < sources->overlays.count; i++) {
        const struct overlay *overlay = &sources->overlays.items[i];
        if (overlay->device == info->st_dev && overlay->inode == info->st_ino) return overlay;
    }
    return NULL;
}

/* `fd` is open; the caller closes it. */
static enum source_status load_open_file(struct sources *sources, const char *name, int fd,
                                         uint32_t *id)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return SOURCE_UNREADABLE;
    if (S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return SOURCE_UNREADABLE;
    }
    bool regular = S_ISREG(info.st_mode);
    if (regular && find_loaded(sources, info.st_dev, info.st_ino, id)) return SOURCE_OK;
    if (regular && info.st_size > (off_t)SOURCE_MAX_BYTES) return SOURCE_TOO_LARGE;
    char *bytes = NULL;
    size_t size_bytes = 0;
    const char *kept;
    const struct overlay *overlay = find_overlay(sources, &info);
    if (overlay != NULL) {
        if (overlay->size_bytes > SOURCE_MAX_BYTES) return SOURCE_TOO_LARGE;
        kept = arena_string(sources->arena, overlay->bytes, size_bytes = overlay->size_bytes);
    } else {
        enum source_status status =
            read_all_bytes(fd, regular ? (size_t)info.st_size : 4096, &bytes, &size_bytes);
        if (status != SOURCE_OK) return status;
        kept = arena_string(sources->arena, bytes, size_bytes);
        free(bytes);
    }
    struct entry *entry =
        add_source_entry(sources, regular ? FROM_FILE : FROM_STREAM, name, kept, size_bytes, id);
    entry->device = info.st_dev;
    entry->inode = info.st_ino;
    return SOURCE_OK;
}

static enum source_status load_file(struct sources *sources, const char *name, const char *path,
                                    uint32_t *id)
{
    int fd = file_open_input(path);
    if (fd < 0) return errno == ENOENT || errno == ENOTDIR ? SOURCE_NOT_FOUND : SOURCE_UNREADABLE;
    enum source_status status = load_open_file(sources, name, fd, id);
    int error = errno;
    close(fd);
    errno = error;
    return status;
}

enum source_status source_read(struct sources *sources, const char *path, uint32_t *id)
{
    if (strcmp(path, "-") != 0) return load_file(sources, path, path, id);
    enum source_status status = load_open_file(sources, "<stdin>", STDIN_FILENO, id);
    if (status == SOURCE_OK) sources->entries.items[*id - 1]->nameless = true;
    return status;
}

static enum source_status load_embedded(struct sources *sources, const char *path, uint32_t *id)
{
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    for (const struct embedded_file *file = embedded_std_files; file->name; file++) {
        if (strcmp(file->name, path) != 0) continue;
        for (size_t i = 0; i < sources->entries.count; i++) {
            const struct entry *entry = sources->entries.items[i];
            if (entry->origin != FROM_LIBRARY || strcmp(entry->source.name, path) != 0) continue;
            *id = (uint32_t)i + 1;
            return SOURCE_OK;
        }
        const char *bytes = arena_string(sources->arena, (const char *)file->bytes, file->size);
        add_source_entry(sources, FROM_LIBRARY, path, bytes, file->size, id);
        return SOURCE_OK;
    }
    return SOURCE_NOT_FOUND;
}

/* `path` as seen from the folder of the file `beside`. */
static const char *path_beside(struct arena *arena, const char *beside, const char *path)
{
    const char *slash = strrchr(beside, '/');
    if (!slash) return path;
    return arena_printf(arena, "%.*s/%s", (int)(slash - beside), beside, path);
}

enum source_status source_import(struct sources *sources, uint32_t importer, const char *path,
                                 const char *const *folders, size_t folder_count, uint32_t *id)
{
    const struct entry *from = importer && importer <= sources->entries.count
                                   ? sources->entries.items[importer - 1]
                                   : NULL;
    enum origin origin = from ? from->origin : FROM_MEMORY;
    if (*path == '\0') return SOURCE_NOT_FOUND;
    if (origin == FROM_LIBRARY) {
        const char *name = path_beside(sources->arena, from->source.name, path);
        enum source_status status = load_embedded(sources, name, id);
        return status == SOURCE_NOT_FOUND ? load_embedded(sources, path, id) : status;
    }
    if (origin != FROM_MEMORY) {
        const char *name = *path == '/' || origin == FROM_STREAM
                               ? path
                               : path_beside(sources->arena, from->source.name, path);
        enum source_status status = load_file(sources, name, name, id);
        if (status != SOURCE_NOT_FOUND) return status;
    }
    for (size_t i = 0; *path != '/' && i < folder_count; i++) {
        const char *name = arena_printf(sources->arena, "%s/%s", folders[i], path);
        enum source_status status = load_file(sources, name, name, id);
        if (status != SOURCE_NOT_FOUND) return status;
    }
    return load_embedded(sources, path, id);
}

static bool is_readable(const char *path)
{
    struct stat status;
    return access(path, R_OK) == 0 && stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

const char *source_find_file(struct sources *sources, uint32_t importer, const char *path,
                             const char *const *folders, size_t folder_count)
{
    const struct entry *from = importer && importer <= sources->entries.count
                                   ? sources->entries.items[importer - 1]
                                   : NULL;
    const char *beside = from != NULL && from->origin == FROM_FILE && *path != '/'
                             ? path_beside(sources->arena, from->source.name, path)
                             : path;
    if (is_readable(beside)) return beside;
    for (size_t i = 0; *path != '/' && i < folder_count; i++) {
        const char *name = arena_printf(sources->arena, "%s/%s", folders[i], path);
        if (is_readable(name)) return name;
    }
    return NULL;
}

void source_locate(const struct source *source, uint32_t offset, uint32_t *line, uint32_t *column)
{
    if (offset > source->size_bytes) offset = source->size_bytes;
    uint32_t low = 0, high = source->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (source->line_begin[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    *line = low + 1;
    *column = offset - source->line_begin[low] + 1;
}
