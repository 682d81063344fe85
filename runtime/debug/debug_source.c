/* SPDX-License-Identifier: MIT */
#include "runtime/debug/debug_source.h"

#include "base/caret_text.h"
#include "runtime/load/debug_info.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES_A_LISTING = 10, LINES_ABOVE = 5 };

/* The lines listed last. */
struct debug_listing {
    bool there;
    uint32_t source, next_line;
};

void prt_debugger_listing_free(struct debug_listing *listing)
{
    free(listing);
}

/* ---- lines ---- */

/* A regular file; NULL: there is none of that name. */
static FILE *open_plain(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return NULL;
    FILE *file = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) ? fdopen(fd, "r") : NULL;
    if (file == NULL) close(fd);
    return file;
}

static FILE *open_below(const char *directory, const char *name)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    return length > 0 && (size_t)length < sizeof path ? open_plain(path) : NULL;
}

static FILE *open_source(const struct prt_debugger *d, uint32_t source)
{
    const char *name = prt_container_source(d->container, source);
    const char *slash = strrchr(name, '/');
    FILE *file = open_plain(name);
    if (file == NULL && d->directory != NULL) file = open_below(d->directory, name);
    if (file == NULL && d->directory != NULL && slash != NULL)
        file = open_below(d->directory, slash + 1);
    return file;
}

/* Line `line` of the file, without its end, to be freed; NULL: there is none. */
static char *read_line(FILE *file, uint32_t line)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t length = -1;
    for (uint32_t i = 0; i < line; i++) {
        length = getline(&text, &size, file);
        if (length < 0) break;
    }
    if (length < 0) {
        free(text);
        return NULL;
    }
    text[strcspn(text, "\r\n")] = '\0';
    return text;
}

static char *find_line(const struct prt_debugger *d, uint32_t source, uint32_t line)
{
    const char *text;
    size_t length;
    if (source >= d->container->source_count || line == 0) return NULL;
    if (prt_debug_source_line(d->container, source, line, &text, &length))
        return strndup(text, length);
    FILE *file = open_source(d, source);
    if (file == NULL) return NULL;
    char *found = read_line(file, line);
    fclose(file);
    return found;
}

/* Prints the line and, from a column on (1-based; 0: none), a mark. */
static void print_line(FILE *to, const char *text, uint32_t line, uint32_t column)
{
    size_t mark = column > 0 ? column - 1 : 0;
    struct caret_line shown = caret_line_at(text, strlen(text), mark, mark + 1);
    fprintf(to, "%6" PRIu32 "  ", line);
    struct caret_columns columns = caret_line_print(to, &shown);
    fputc('\n', to);
    if (column > 0) fprintf(to, "%8s%*s^\n", "", (int)columns.first, "");
}

void prt_debugger_source_line(const struct prt_debugger *d, uint32_t source, uint32_t line,
                              uint32_t column, FILE *to)
{
    char *text = find_line(d, source, line);
    if (text != NULL) print_line(to, text, line, column);
    free(text);
}

void prt_debugger_kernel_place(const struct prt_debugger *d, uint32_t stage, uint32_t *source,
                               uint32_t *line)
{
    const struct container_node *node = prt_stage_node(d->sched, &d->sched->stages[stage]);
    const struct container_kernel *kernel = prt_debug_kernel(d->container, node->kernel);
    const struct container_place *place =
        kernel != NULL ? prt_debug_place(d->container, kernel->place) : NULL;
    *source = place != NULL ? place->source : node->source;
    *line = place != NULL ? place->line : node->line;
}

/* ---- listings ---- */

/* "LINE" or "FILE:LINE"; a file may be named without its folders. */
static bool read_place(const struct prt_debugger *d, const char *text, uint32_t *source,
                       uint32_t *line)
{
    const char *colon = strrchr(text, ':');
    const char *digits = colon != NULL ? colon + 1 : text;
    char *end;
    errno = 0;
    unsigned long number = strtoul(digits, &end, 10);
    if (digits[0] < '0' || digits[0] > '9' || *end != '\0' || errno != 0 || number > UINT32_MAX ||
        number == 0)
        return false;
    *line = (uint32_t)number;
    if (colon == NULL) return *source < d->container->source_count;
    for (uint32_t i = 0; i < d->container->source_count; i++) {
        const char *name = prt_container_source(d->container, i), *slash = strrchr(name, '/');
        size_t length = (size_t)(colon - text);
        const char *base = slash != NULL ? slash + 1 : name;
        *source = i;
        if (strlen(name) == length && strncmp(name, text, length) == 0) return true;
        if (strlen(base) == length && strncmp(base, text, length) == 0) return true;
    }
    return false;
}

static enum prt_status show_from(struct prt_debugger *d, uint32_t source, uint32_t first, FILE *to,
                                 struct prt_error *error)
{
    uint32_t shown = 0;
    for (; shown < LINES_A_LISTING; shown++) {
        char *text = find_line(d, source, first + shown);
        if (text == NULL) break;
        if (shown == 0) prt_debugger_say(to, "%s\n", prt_container_source(d->container, source));
        print_line(to, text, first + shown, 0);
        free(text);
    }
    if (shown == 0)
        return prt_error_set(error, PRT_E_USAGE,
                             "there is no line %" PRIu32 " of '%s' (directory names where sources "
                             "are)",
                             first, prt_container_source(d->container, source));
    d->listing->there = true;
    d->listing->source = source;
    d->listing->next_line = first + shown;
    return PRT_OK;
}

enum prt_status prt_debug_list(struct prt_debugger *d, const char *text, FILE *to,
                               struct prt_error *error)
{
    if (d->listing == NULL) d->listing = calloc(1, sizeof *d->listing);
    if (d->listing == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    if (text[0] == '\0' && d->listing->there)
        return show_from(d, d->listing->source, d->listing->next_line, to, error);
    uint32_t stage = d->next.stage != PRT_NONE   ? d->next.stage
                     : d->last.stage != PRT_NONE ? d->last.stage
                                                 : 0;
    uint32_t source, line;
    if (d->container->stage_count == 0)
        return prt_error_set(error, PRT_E_USAGE, "there is nothing to list");
    struct prt_error unknown;
    if (text[0] != '\0' && prt_debug_find_stage(d, text, &stage, &unknown) != PRT_OK) {
        source = d->listing->there ? d->listing->source : 0;
        if (!read_place(d, text, &source, &line))
            return prt_error_set(error, PRT_E_USAGE, "'%s' is no FILE:LINE of the program; %s",
                                 text, unknown.message);
        return show_from(d, source, line > LINES_ABOVE ? line - LINES_ABOVE : 1, to, error);
    }
    prt_debugger_kernel_place(d, stage, &source, &line);
    return show_from(d, source, line > 1 ? line - 1 : 1, to, error);
}

enum prt_status prt_debug_directory(struct prt_debugger *d, const char *path,
                                    struct prt_error *error)
{
    struct stat about;
    if (path[0] != '\0' && (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)))
        return prt_error_set(error, PRT_E_USAGE, "'%s' is no directory", path);
    char *copy = path[0] != '\0' ? strdup(path) : NULL;
    if (path[0] != '\0' && copy == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    free(d->directory);
    d->directory = copy;
    return PRT_OK;
}
