/* SPDX-License-Identifier: MIT */
#include "compiler/driver/driver_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file_open.h"
#include "base/standard_streams.h"

int refusal_status(const struct compile *cx)
{
    switch (cx->halt) {
    case HALT_RESOURCES: return EXIT_FILES;
    case HALT_INTERNAL: return EXIT_INTERNAL;
    case HALT_NONE: break;
    }
    return EXIT_REFUSED;
}

/* ---- files ---- */

int file_failure(const char *what, const char *path)
{
    if (errno == EPIPE) return EXIT_DONE; /* the reader needs no more */
    const char *reason = file_error_text(errno);
    bool writes = strcmp(what, "write") == 0;
    if (strcmp(path, "-") == 0)
        fprintf(stderr, "pipec: error: cannot %s %s: %s\n", what,
                writes ? "to standard output" : "from standard input", reason);
    else
        fprintf(stderr, "pipec: error: cannot %s '%s': %s\n", what, path, reason);
    return EXIT_FILES;
}

int unread_folders(const struct source_paths *paths)
{
    int status = EXIT_DONE;
    for (size_t i = 0; i < paths->unread.count; i++) {
        const struct unread_folder *folder = &paths->unread.items[i];
        errno = folder->error;
        status = folder->error != 0 ? file_failure("read", folder->path) : EXIT_FILES;
        if (folder->error == 0)
            fprintf(stderr,
                    "pipec: error: '%s' is more than %d folders deep and is left out: name it, or "
                    "a folder near it, as well\n",
                    folder->path, SOURCE_FOLDERS_MAX);
    }
    return status;
}

int standard_output_status(void)
{
    errno = stream_flush(stdout);
    return errno == 0 ? EXIT_DONE : file_failure("write", "-");
}

bool file_is_same(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino && S_ISREG(one.st_mode);
}

static bool is_source(const struct compile *cx, const char *path)
{
    for (uint32_t id = 1; id <= source_count(cx->sources); id++)
        if (source_is_file(cx->sources, id) &&
            file_is_same(path, source_get(cx->sources, id)->name))
            return true;
    return false;
}

static bool is_among(const char *path, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (file_is_same(path, paths[i])) return true;
    return false;
}

static bool report_over_read(const char *what, const char *path)
{
    fprintf(stderr, "pipec: error: the %s '%s' is a file that this command reads\n", what, path);
    return true;
}

bool refuse_over_read(const struct compile_options *options, const char *what, const char *path)
{
    return path != NULL && is_among(path, options->also_read.items, options->also_read.count) &&
           report_over_read(what, path);
}

bool refuse_over_input(const struct compile *cx, const char *what, const char *path)
{
    if (path == NULL) return false;
    if (is_among(path, cx->read_files.items, cx->read_files.count))
        return report_over_read(what, path);
    if (!is_source(cx, path)) return refuse_over_read(&cx->options, what, path);
    bool input = file_is_same(path, source_get(cx->sources, 1)->name);
    fprintf(stderr, "pipec: error: the %s '%s' is %s\n", what, path,
            input ? "the input" : "a source");
    return true;
}

int input_read(struct compile *cx, const char *path, uint32_t *source)
{
    switch (source_read(cx->sources, path, source)) {
    case SOURCE_OK: return EXIT_DONE;
    case SOURCE_TOO_LARGE:
        fprintf(stderr, "pipec: error: '%s' is larger than %u MiB\n", path, SOURCE_MAX_BYTES >> 20);
        return EXIT_REFUSED;
    case SOURCE_NOT_FOUND: errno = ENOENT; return file_failure("read", path);
    case SOURCE_UNREADABLE: break;
    }
    return file_failure("read", path);
}

/* ---- devices ---- */

static struct span description_span(uint32_t source, struct devdesc_place place)
{
    return (struct span){source, (uint32_t)place.begin, (uint32_t)place.end};
}

bool device_read(struct compile *cx, uint32_t source, struct devdesc *device)
{
    struct devdesc_findings findings;
    const struct source *text = source_get(cx->sources, source);
    bool valid = devdesc_parse(text->bytes, text->size_bytes, device, &findings);
    for (size_t i = 0; i < findings.count; i++) {
        const struct devdesc_finding *finding = &findings.items[i];
        enum rule rule = finding->severity == DEVDESC_ERROR ? RULE_DEVICE : RULE_DEVICE_DOUBTFUL;
        struct diag *d = diag_report(cx->diags, rule, description_span(source, finding->place),
                                     "%s", finding->message);
        if (finding->caret[0]) diag_primary(d, "%s", finding->caret);
        if (finding->other.line)
            diag_label(d, description_span(source, finding->other), "%s", finding->other_text);
        if (finding->note[0]) diag_note(d, "%s", finding->note);
        if (finding->help[0]) diag_help(d, "%s", finding->help);
    }
    return valid;
}

static int load_device_file(struct compile *cx, const char *path, struct devdesc *device)
{
    uint32_t id;
    int status = input_read(cx, path, &id);
    if (status != EXIT_DONE) return status;
    return device_read(cx, id, device) ? EXIT_DONE : EXIT_REFUSED;
}

const char *device_path(const char *name)
{
    if (strncmp(name, "sim:", 4) == 0) return name + 4; /* the spelling of piperun for a file */
    return strchr(name, '/') != NULL || devdesc_is_file_name(name) ? name : NULL;
}

int device_load(struct compile *cx, const char *name, struct devdesc *device)
{
    const char *path = device_path(name);
    if (path != NULL) return load_device_file(cx, path, device);
    if (devdesc_builtin(name, device)) return EXIT_DONE;
    char why[DEVDESC_WHY_BYTES];
    devdesc_explain_name(name, "", why, sizeof why);
    fprintf(stderr, "pipec: error: %s\n", why);
    return EXIT_FILES;
}
