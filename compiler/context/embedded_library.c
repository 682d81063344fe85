/* SPDX-License-Identifier: MIT */
#include "compiler/context/embedded_library.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "compiler/diagnostics/diag.h"
#include "lang/embedded.h"
#include "base/nearest.h"
#include "base/words.h"

/* The word at `text`, past blanks. */
static const char *next_word(const char *text, size_t *length)
{
    text += strspn(text, " ");
    *length = 0;
    while (byte_is_word(text[*length]))
        ++*length;
    return text;
}

/* Whether the line declares the name; declarations of the library begin in the first column. */
static bool library_declares(const char *line, const char *name, bool function)
{
    size_t length;
    const char *word = next_word(line, &length);
    if (function) {
        if (length != 2 || strncmp(word, "fn", 2) != 0) return false;
        word = next_word(word + length, &length); /* the type */
    } else if (!(length == 6 && strncmp(word, "kernel", 6) == 0) &&
               !(length == 8 && strncmp(word, "pipeline", 8) == 0)) {
        return false;
    }
    word = next_word(word + length, &length);
    size_t wanted = strlen(name);
    if (length < wanted || strncmp(word, name, wanted) != 0) return false;
    if (length == wanted) return true;
    return function && length == wanted + 4 &&
           (memcmp(word + wanted, "_f32", 4) == 0 || memcmp(word + wanted, "_f64", 4) == 0);
}

static const char *library_file_of(const char *name, bool function)
{
    for (const struct embedded_file *file = embedded_std_files; file->name != NULL; file++) {
        const char *line = (const char *)file->bytes;
        while (*line != '\0') {
            if (byte_is_word(*line) && library_declares(line, name, function)) return file->name;
            line += strcspn(line, "\n");
            line += *line == '\n';
        }
    }
    return NULL;
}

/* Visits the words of a declaration, after its type and up to its parameters or value. */
static bool visit_line(const char *line, bool (*visit)(void *, const char *, size_t), void *data)
{
    enum { SUFFIX = 4 };
    for (int skipped = 0; skipped < 2; skipped++)
        line += strcspn(line, " (=\n"), line += *line == ' ';
    for (const char *end = line + strcspn(line, "(=\n"); line < end; line++) {
        size_t length;
        line = next_word(line, &length);
        if (length == 0 || line >= end) continue;
        bool typed = length > SUFFIX && (memcmp(line + length - SUFFIX, "_f32", SUFFIX) == 0 ||
                                         memcmp(line + length - SUFFIX, "_f64", SUFFIX) == 0);
        if (!visit(data, line, length)) return false;
        if (typed && !visit(data, line, length - SUFFIX)) return false;
        line += length - 1;
    }
    return true;
}

void library_mathematics_each(bool (*visit)(void *data, const char *word, size_t length),
                              void *data)
{
    const struct embedded_file *file = embedded_std_files;
    while (file->name != NULL && strcmp(file->name, "std/math.pipe") != 0)
        file++;
    if (file->name == NULL) return;
    for (const char *line = (const char *)file->bytes; *line != '\0';) {
        if (byte_is_word(*line) && !visit_line(line, visit, data)) return;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}

const char *library_file_of_kernel(const char *name)
{
    return library_file_of(name, false);
}

const char *library_file_of_function(const char *name)
{
    return library_file_of(name, true);
}

const char *library_file_meant(const char *path)
{
    enum { FILES_MAX = 32, STEM_MAX = 64 };
    static const char folder[] = "std/";
    char stems[FILES_MAX][STEM_MAX], wanted[STEM_MAX];
    const char *names[FILES_MAX] = {NULL};
    size_t count = 0;
    if (strncmp(path, folder, sizeof folder - 1) == 0) path += sizeof folder - 1;
    size_t length = strcspn(path, ".");
    if (strchr(path, '/') != NULL || length >= STEM_MAX) return NULL;
    memcpy(wanted, path, length);
    wanted[length] = '\0';
    const struct embedded_file *file = embedded_std_files;
    for (; count < FILES_MAX && file[count].name != NULL; count++) {
        const char *stem = file[count].name + sizeof folder - 1;
        size_t size = strcspn(stem, ".");
        if (size >= STEM_MAX) size = STEM_MAX - 1;
        memcpy(stems[count], stem, size);
        stems[count][size] = '\0';
        names[count] = stems[count];
    }
    const char *nearest = nearest_name(wanted, names, count);
    for (size_t i = 0; nearest != NULL && i < count; i++)
        if (names[i] == nearest) return file[i].name;
    return NULL;
}
