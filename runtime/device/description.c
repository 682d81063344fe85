/* SPDX-License-Identifier: MIT */
#include "runtime/device/description.h"

#include "base/file_open.h"
#include "base/memory_text.h"

#include "runtime/device/finding_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 1 << 20 }; /* of a file */

#define NO_MEMORY(error) prt_error_set((error), PRT_E_NOMEM, "out of memory")

/* ---- files ---- */

static enum prt_status read_text(const char *path, char *text, size_t *size,
                                 struct prt_error *error)
{
    FILE *file = file_open_input_stream(path);
    if (file == NULL)
        return prt_error_set(error, PRT_E_OPEN, "%s: %s", path, file_error_text(errno));
    *size = fread(text, 1, BYTES_MAX, file);
    bool failed = ferror(file) != 0;
    int why = errno;
    fclose(file);
    if (failed) return prt_error_set(error, PRT_E_READ, "%s: %s", path, strerror(why));
    if (*size == BYTES_MAX)
        return prt_error_set(error, PRT_E_FORMAT, "%s: larger than 1 MiB", path);
    return PRT_OK;
}

static bool report_finding(const struct prt_reporter *reporter, const char *path, const char *text,
                           size_t size, const struct devdesc_finding *finding)
{
    struct memory_text memory;
    if (!memory_text_begin(&memory)) return false;
    prt_finding_print(memory.file, path, text, size, finding);
    char *lines = memory_text_end(&memory, NULL);
    if (lines == NULL) return false;
    reporter->report(reporter->context, lines);
    free(lines);
    return true;
}

static size_t count_errors(const struct devdesc_findings *findings)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        count += findings->items[i].severity == DEVDESC_ERROR;
    return count;
}

static enum prt_status refuse_description(const char *path, const struct devdesc_findings *findings,
                                          bool reported, struct prt_error *error)
{
    size_t first = 0, errors = count_errors(findings);
    if (reported)
        return prt_error_set(error, PRT_E_FORMAT, "%s: the device description has %zu%s error%s",
                             path, errors, findings->left_out ? " or more" : "",
                             errors == 1 && !findings->left_out ? "" : "s");
    while (first + 1 < findings->count && findings->items[first].severity != DEVDESC_ERROR)
        first++;
    const struct devdesc_finding *finding = &findings->items[first];
    return prt_error_set(error, PRT_E_FORMAT, "%s:%" PRIu32 ":%" PRIu32 ": %s", path,
                         finding->place.line, finding->place.column, finding->message);
}

static enum prt_status parse_text(const char *path, const char *text, size_t size,
                                  const struct prt_reporter *reporter, struct devdesc *description,
                                  struct prt_error *error)
{
    struct devdesc_findings findings;
    bool valid = devdesc_parse(text, size, description, &findings);
    for (size_t i = 0; reporter->report != NULL && i < findings.count; i++)
        if (!report_finding(reporter, path, text, size, &findings.items[i]))
            return NO_MEMORY(error);
    return valid ? PRT_OK : refuse_description(path, &findings, reporter->report != NULL, error);
}

static enum prt_status read_description_file(const char *path, const struct prt_reporter *reporter,
                                             struct devdesc *description, struct prt_error *error)
{
    size_t size = 0, mark = 0;
    char *text = malloc(BYTES_MAX);
    if (text == NULL) return NO_MEMORY(error);
    enum prt_status status = read_text(path, text, &size, error);
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) mark = 3; /* of byte order */
    if (status == PRT_OK)
        status = parse_text(path, text + mark, size - mark, reporter, description, error);
    free(text);
    return status;
}

/* ---- names ---- */

static enum prt_status refuse_name(const char *name, const char *others, struct prt_error *error)
{
    char why[DEVDESC_WHY_BYTES];
    if (strncmp(name, "opencl", strlen("opencl")) == 0)
        return prt_error_set(error, PRT_E_DEVICE, "device '%s' is not supported by this version",
                             name);
    devdesc_explain_name(name, others, why, sizeof why);
    return prt_error_set(error, PRT_E_USAGE, "%s", why);
}

enum prt_status prt_description_open(const char *name, const char *others,
                                     const struct prt_reporter *reporter,
                                     struct devdesc *description, struct prt_error *error)
{
    if (strncmp(name, "sim:", 4) == 0)
        return read_description_file(name + 4, reporter, description, error);
    if (devdesc_is_file_name(name))
        return read_description_file(name, reporter, description, error);
    if (devdesc_builtin(name, description)) return PRT_OK;
    return refuse_name(name, others, error);
}
