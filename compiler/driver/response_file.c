/* SPDX-License-Identifier: MIT */
#include "compiler/driver/response_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/file_open.h"

struct expansion {
    struct arena *arena;
    struct compile_options *read;
    VEC(char *) arguments;
    unsigned files;
};

static bool add_argument(struct expansion *x, char *argument);

/* Reads the whole file into `arena`. NULL: reported. */
static char *read_response_file(struct arena *arena, const char *path)
{
    char *text = NULL, *kept = NULL;
    size_t capacity = 0;
    errno = 0;
    FILE *file = file_open_input_stream(path);
    ssize_t size = file != NULL ? getdelim(&text, &capacity, '\0', file) : -1;
    if (file == NULL || ferror(file))
        fprintf(stderr, "pipec: error: cannot read '%s': %s\n", path, file_error_text(errno));
    else if (size > 0 && text[size - 1] == '\0')
        fprintf(stderr, "pipec: error: the response file '%s' is not text\n", path);
    else
        kept = arena_string(arena, size > 0 ? text : "", size > 0 ? (size_t)size : 0);
    if (file != NULL) fclose(file);
    free(text);
    return kept;
}

/* Removes one argument from *text, and unquotes it in place. NULL: there are no more. */
static char *next_argument(char **text)
{
    static const char blanks[] = " \t\n\v\f\r";
    char *from = *text + strspn(*text, blanks);
    char *first = from, *to = from, quote = '\0';
    if (*from == '\0') return NULL;
    for (; *from != '\0' && (quote != '\0' || strchr(blanks, *from) == NULL); from++) {
        if (*from == '\\' && from[1] != '\0')
            *to++ = *++from;
        else if (*from == quote)
            quote = '\0';
        else if (quote == '\0' && (*from == '\'' || *from == '"'))
            quote = *from;
        else if (*from != '\\')
            *to++ = *from;
    }
    *text = *from != '\0' ? from + 1 : from;
    *to = '\0';
    return first;
}

static bool add_response_file(struct expansion *x, const char *path)
{
    if (++x->files > RESPONSE_FILES_MAX) {
        fprintf(stderr, "pipec: error: '@%s': over %d response files; does one name itself?\n",
                path, RESPONSE_FILES_MAX);
        return false;
    }
    char *text = read_response_file(x->arena, path), *argument;
    if (text == NULL) return false;
    vec_push(x->arena, &x->read->also_read, path);
    while ((argument = next_argument(&text)) != NULL)
        if (!add_argument(x, argument)) return false;
    return true;
}

static bool add_argument(struct expansion *x, char *argument)
{
    if (argument[0] == '@') return add_response_file(x, argument + 1);
    vec_push(x->arena, &x->arguments, argument);
    return x->arguments.count < INT_MAX;
}

bool response_files_expand(int *argc, char ***argv, struct arena *arena,
                           struct compile_options *read)
{
    struct expansion x = {.arena = arena, .read = read};
    for (int i = 0; i < *argc; i++) {
        if (i == 0)
            vec_push(arena, &x.arguments, (*argv)[0]);
        else if (!add_argument(&x, (*argv)[i]))
            return false;
    }
    *argc = (int)x.arguments.count;
    vec_push(arena, &x.arguments, NULL);
    *argv = x.arguments.items;
    return true;
}
