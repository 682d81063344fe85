/* SPDX-License-Identifier: MIT */
#include "compiler/commands/edit_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "compiler/support/output.h"
#include "compiler/support/source.h"

static void print_hash(char *hash, const char *bytes, size_t size)
{
    XXH128_hash_t value = XXH3_128bits(bytes, size);
    snprintf(hash, EDIT_HASH_DIGITS + 1, "%016llx%016llx", (unsigned long long)value.high64,
             (unsigned long long)value.low64);
}

bool edit_file_read(const struct edit_file *file, struct edit_text *text)
{
    uint32_t id;
    struct arena *arena = arena_create();
    struct sources *sources = sources_create(arena);
    enum source_status status = source_read(sources, file->path, &id);
    int error = status == SOURCE_OK          ? 0
                : status == SOURCE_TOO_LARGE ? EFBIG
                : status == SOURCE_NOT_FOUND ? ENOENT
                                             : errno;
    *text = (struct edit_text){0};
    if (status == SOURCE_OK) {
        const struct source *source = source_get(sources, id);
        size_t mark = source->has_mark ? 3 : 0;
        text->size_bytes = source->size_bytes + mark;
        text->bytes = malloc(text->size_bytes + 1);
        if (text->bytes == NULL)
            error = ENOMEM;
        else
            memcpy(text->bytes, source->bytes - mark, text->size_bytes + 1);
    }
    arena_destroy(arena);
    if (text->bytes != NULL) print_hash(text->hash, text->bytes, text->size_bytes);
    errno = error;
    return error == 0;
}

void edit_text_free(struct edit_text *text)
{
    free(text->bytes);
    *text = (struct edit_text){0};
}

/* The last look is after the new bytes are on disk, directly before they get the name. */
static bool file_is_unchanged(const struct edit_file *file, const struct edit_text *before)
{
    struct edit_text now;
    if (!edit_file_read(file, &now)) return false;
    bool same = now.bytes != NULL && now.size_bytes == before->size_bytes &&
                memcmp(now.bytes, before->bytes, now.size_bytes) == 0;
    edit_text_free(&now);
    errno = 0;
    return same;
}

bool edit_file_write(const struct edit_file *file, const struct edit_text *before,
                     const char *bytes, size_t size_bytes, char *hash)
{
    struct output output;
    if (!output_open(&output, file->path)) return false;
    if (output.temporary == NULL) { /* no regular file any more */
        output_abandon(&output);
        errno = EINVAL;
        return false;
    }
    fwrite(bytes, 1, size_bytes, output.file);
    if (!output_complete(&output)) return false;
    if (!file_is_unchanged(file, before)) {
        int error = errno;
        output_abandon(&output);
        errno = error;
        return false;
    }
    print_hash(hash, bytes, size_bytes);
    return output_publish(&output);
}

void edit_file_forget(struct edit_file *file)
{
    struct edit_text *last = &file->undos[--file->undo_count].before;
    file->undo_bytes -= last->size_bytes;
    edit_text_free(last);
}

void edit_file_remember(struct edit_file *file, struct edit_text before, const char *after)
{
    file->undo_bytes += before.size_bytes;
    while (file->undo_count > 0 &&
           (file->undo_count == EDIT_UNDO_MAX || file->undo_bytes > EDIT_UNDO_MAX_BYTES)) {
        file->undo_bytes -= file->undos[0].before.size_bytes;
        edit_text_free(&file->undos[0].before);
        memmove(&file->undos[0], &file->undos[1], --file->undo_count * sizeof file->undos[0]);
    }
    file->undos[file->undo_count].before = before;
    snprintf(file->undos[file->undo_count].after, sizeof file->undos[0].after, "%s", after);
    file->undo_count++;
}

const struct edit_text *edit_file_earlier(const struct edit_file *file, const char *hash)
{
    size_t last = file->undo_count - 1;
    bool is_there = file->undo_count > 0 && strcmp(file->undos[last].after, hash) == 0;
    return is_there ? &file->undos[last].before : NULL;
}
