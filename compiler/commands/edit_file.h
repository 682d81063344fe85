/* SPDX-License-Identifier: MIT */
/*
 * edit_file: the file that `pipec edit` changes, and its earlier texts.
 *
 * The hash of a text names it: XXH3, 128 bits, as 32 hexadecimal digits. It protects from mistakes, not from forgery.
 */
#ifndef PIPEC_EDIT_FILE_H
#define PIPEC_EDIT_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { EDIT_HASH_DIGITS = 32, EDIT_UNDO_MAX = 100, EDIT_UNDO_MAX_BYTES = 64 << 20 };

struct edit_text {
    char *bytes; /* ended by a NUL that is not counted; owned */
    size_t size_bytes;
    char hash[EDIT_HASH_DIGITS + 1];
};

struct edit_file {
    const char *path;
    struct {
        struct edit_text before;
        char after[EDIT_HASH_DIGITS + 1]; /* what was written in its place */
    } undos[EDIT_UNDO_MAX];
    size_t undo_count, undo_bytes;
};

/* Reads the file as it is now. False: errno. */
bool edit_file_read(const struct edit_file *file, struct edit_text *text);
void edit_text_free(struct edit_text *text);
/* Writes `bytes` in the place of `before`, completely or not at all. False: errno; 0 says that the file is no longer `before`, and
 * then it stays as it is. */
bool edit_file_write(const struct edit_file *file, const struct edit_text *before,
                     const char *bytes, size_t size_bytes, char *hash);
/* Remembers `before`, and owns it from now on; what was written has the hash `after`. The oldest texts are forgotten. */
void edit_file_remember(struct edit_file *file, struct edit_text before, const char *after);
/* The text before the one of that hash, if that was the last one written; else NULL. */
const struct edit_text *edit_file_earlier(const struct edit_file *file, const char *hash);
/* Forgets the last text. */
void edit_file_forget(struct edit_file *file);

#endif
