/* SPDX-License-Identifier: MIT */
#include "compiler/diagnostics/diag_set.h"
#include "compiler/lint/baseline_internal.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/json_write.h"
#include "compiler/support/output.h"
#include "base/vec.h"

enum { LINE_BYTES = 200, BUCKETS = 256 };

/* ---- identity of a finding ---- */

/* By file, rule and line: for qsort and bsearch. */
static int compare_findings(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    if (order == 0) order = strcmp(x->rule, y->rule);
    return order != 0 ? order : strcmp(x->line, y->line);
}

/* Equal entries become one. */
void baseline_sort(struct baseline *baseline)
{
    size_t kept = 0;
    if (baseline->count > 0)
        qsort(baseline->entries, baseline->count, sizeof(struct entry), compare_findings);
    for (size_t i = 0; i < baseline->count; i++) {
        struct entry *last = kept > 0 ? &baseline->entries[kept - 1] : NULL;
        if (last != NULL && compare_findings(last, &baseline->entries[i]) == 0)
            last->count += baseline->entries[i].count;
        else
            baseline->entries[kept++] = baseline->entries[i];
    }
    baseline->count = kept;
}

/* Printable ASCII; a run of blanks becomes one blank, other bytes become \xNN, so JSON keeps the text as it is. */
static const char *plain_text(struct arena *arena, const char *text, size_t length)
{
    char *plain = arena_alloc(arena, length * 4 + 1), *to = plain;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (isspace(byte) || byte == ' ') {
            if (to > plain && to[-1] != ' ') *to++ = ' ';
        } else if (byte > ' ' && byte < 0x7F) {
            *to++ = (char)byte;
        } else {
            to += sprintf(to, "\\x%02X", byte);
        }
    }
    while (to > plain && to[-1] == ' ')
        to--;
    *to = '\0';
    return plain;
}

/* Names a file below the current folder relative to this folder. */
static const char *below_folder(const char *name)
{
    char folder[PATH_MAX];
    if (name[0] != '/' || getcwd(folder, sizeof folder) == NULL) return name;
    size_t length = strlen(folder);
    return strncmp(name, folder, length) == 0 && name[length] == '/' ? name + length + 1 : name;
}

/* The end of the text without its last part, which `..` removes; NULL: there is none to remove. */
static char *without_last(const char *begin, char *end)
{
    char *at = end - (end > begin);
    while (at > begin && at[-1] != '/')
        at--;
    return at == end || strcmp(at, "../") == 0 ? NULL : at;
}

/* The shortest name of the same file, from its text: without `//`, `.`, and `..` after a name.  So a
 * file has one name, however a command names it. */
static const char *file_text(struct arena *arena, const char *name)
{
    name = below_folder(name);
    char *text = arena_alloc(arena, strlen(name) + 2), *begin = text, *to, *back;
    if (*name == '/') *begin++ = '/';
    for (to = begin; *name != '\0'; name += strspn(name, "/")) {
        size_t length = strcspn(name, "/");
        bool here = length == 0 || (length == 1 && *name == '.');
        bool above = length == 2 && name[0] == '.' && name[1] == '.';
        *to = '\0';
        if (above && (back = without_last(begin, to)) != NULL) {
            to = back;
        } else if (!here && !(above && begin > text)) {
            memcpy(to, name, length);
            to[length] = '/';
            to += length + 1;
        }
        name += length;
    }
    if (to > begin) to--;
    *to = '\0';
    return plain_text(arena, text, strlen(text));
}

static struct entry entry_of(struct arena *arena, const struct sources *sources, enum rule rule,
                             struct span span)
{
    const struct source *source = source_get(sources, span.source);
    struct entry entry = {.file = "", .rule = rule_id(rule), .line = "", .count = 1};
    if (source == NULL) return entry;
    uint32_t line, column;
    source_locate(source, span.begin, &line, &column);
    const char *text = source->bytes + source->line_begin[line - 1];
    size_t length = (line < source->line_count ? source->line_begin[line] : source->size_bytes) -
                    source->line_begin[line - 1];
    entry.file = file_text(arena, source->name);
    entry.line = plain_text(arena, text, length < LINE_BYTES ? length : LINE_BYTES);
    return entry;
}

static bool is_acceptable(enum rule rule)
{
    return rule_level(rule) != DIAG_ERROR && rule != RULE_OUTDATED_BASELINE;
}

/* ---- applying ---- */

/* A finding that is reported again, for another use of the same kernel, is the same finding. */
struct known {
    struct known *next;
    enum rule rule;
    struct span span;
    const char *message;
};

struct application {
    struct baseline *baseline;
    const struct sources *sources;
    struct arena *arena;
    bool first_source_only;
    struct known *buckets[BUCKETS];
};

static bool is_known(const struct known *known, enum rule rule, struct span span,
                     const char *message)
{
    for (; known != NULL; known = known->next)
        if (known->rule == rule && known->span.source == span.source &&
            known->span.begin == span.begin && known->span.end == span.end &&
            strcmp(known->message, message) == 0)
            return true;
    return false;
}

static bool baseline_hides(void *data, enum rule rule, struct span span, const char *message)
{
    struct application *a = data;
    if (!is_acceptable(rule) || (a->first_source_only && span.source > 1)) return false;
    struct known **bucket = &a->buckets[XXH64(message, strlen(message), span.begin) % BUCKETS];
    if (is_known(*bucket, rule, span, message)) return true;
    struct entry wanted = entry_of(a->arena, a->sources, rule, span);
    struct entry *entry = a->baseline->count == 0
                              ? NULL
                              : bsearch(&wanted, a->baseline->entries, a->baseline->count,
                                        sizeof wanted, compare_findings);
    if (entry == NULL || entry->found >= entry->count) return false;
    entry->found++;
    struct known *known = ARENA_NEW(a->arena, struct known);
    *known = (struct known){*bucket, rule, span, arena_string(a->arena, message, strlen(message))};
    *bucket = known;
    return true;
}

void baseline_apply(struct baseline *baseline, struct compile *cx, bool first_source_only)
{
    struct application *a = ARENA_NEW(cx->arena, struct application);
    a->baseline = baseline;
    a->sources = cx->sources;
    a->arena = cx->arena;
    a->first_source_only = first_source_only;
    diag_hide(cx->diags, baseline_hides, a);
}

void baseline_examined(struct baseline *baseline, const char *file)
{
    struct arena *scratch = arena_create();
    const char *name = file_text(scratch, file);
    for (size_t i = 0; i < baseline->count; i++)
        if (strcmp(baseline->entries[i].file, name) == 0) baseline->entries[i].examined = true;
    arena_destroy(scratch);
}

static bool is_outdated(const struct entry *entry)
{
    if (entry->found >= entry->count) return false;
    return entry->examined || (*entry->file && access(entry->file, F_OK) != 0);
}

void baseline_report_outdated(const struct baseline *baseline, struct diags *diags)
{
    for (size_t i = 0; i < baseline->count; i++) {
        const struct entry *entry = &baseline->entries[i];
        enum rule rule = rule_find(entry->rule);
        if (rule != RULE_COUNT && (!diag_wants(diags, rule) || !is_outdated(entry))) continue;
        struct diag *d = diag_report(
            diags, RULE_OUTDATED_BASELINE, (struct span){0},
            rule == RULE_COUNT ? "'%s' accepts findings of a rule that does not exist: '%s' in '%s'"
                               : "'%s' accepts findings of '%s' in '%s' that are no longer there",
            baseline->path, entry->rule, entry->file);
        diag_note(d, "the line was: %s", entry->line);
    }
}

/* ---- writing ---- */

static bool collect_finding(void *data, const struct diag *diag)
{
    (void)data;
    return is_acceptable(diag_rule(diag));
}

bool baseline_write(struct diags *diags, const struct sources *sources, struct arena *arena,
                    const char *path)
{
    size_t count = diag_kept_count(diags);
    struct baseline baseline = {.path = path};
    struct output output;
    baseline.entries = ARENA_ARRAY(arena, struct entry, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct diag *diag = diag_at(diags, i);
        if (!is_acceptable(diag_rule(diag))) continue;
        baseline.entries[baseline.count++] =
            entry_of(arena, sources, diag_rule(diag), diag_span(diag));
    }
    baseline_sort(&baseline);
    if (!output_open(&output, path)) return false;
    struct json json = {.to = output.file};
    json_begin(&json, NULL, '{');
    json_number(&json, "version", BASELINE_VERSION);
    json_text(&json, "tool", "pipec");
    json_begin(&json, "findings", '[');
    for (size_t i = 0; i < baseline.count; i++) {
        const struct entry *entry = &baseline.entries[i];
        json_begin(&json, NULL, '{');
        json_text(&json, "file", entry->file);
        json_text(&json, "rule", entry->rule);
        json_text(&json, "line", entry->line);
        json_number(&json, "count", entry->count);
        json_end(&json, '}');
    }
    json_end(&json, ']');
    json_end(&json, '}');
    if (!output_close(&output)) return false;
    diag_drop(diags, collect_finding, NULL);
    return true;
}
