/* SPDX-License-Identifier: MIT */
#include "compiler/diagnostics/fixes_apply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/diagnostics/diag_internal.h"
#include "compiler/support/output.h"

struct edit {
    struct span span;
    const char *text;
    size_t order;
};

struct fixer {
    struct arena *arena;
    const struct sources *sources;
    VEC(struct edit) edits; /* that are taken */
};

static bool inserts_lines(const struct edit *edit)
{
    size_t length = strlen(edit->text);
    return edit->span.begin == edit->span.end && length > 0 && edit->text[length - 1] == '\n';
}

static bool edits_are_equal(const struct edit *a, const struct edit *b)
{
    return a->span.source == b->span.source && a->span.begin == b->span.begin &&
           a->span.end == b->span.end && strcmp(a->text, b->text) == 0;
}

/* True if the result of both would depend on their order, or one would undo the other. */
static bool edits_collide(const struct edit *a, const struct edit *b)
{
    if (a->span.source != b->span.source) return false;
    if (a->span.begin == b->span.begin) return !(inserts_lines(a) && inserts_lines(b));
    return a->span.begin < b->span.end && b->span.begin < a->span.end;
}

static bool is_taken(const struct fixer *fixer, const struct edit *edit)
{
    for (size_t i = 0; i < fixer->edits.count; i++)
        if (edits_are_equal(&fixer->edits.items[i], edit)) return true;
    return false;
}

static bool collides_with_taken(const struct fixer *fixer, const struct edit *edit)
{
    for (size_t i = 0; i < fixer->edits.count; i++)
        if (edits_collide(&fixer->edits.items[i], edit)) return true;
    return false;
}

static bool is_editable(const struct sources *sources, uint32_t source)
{
    return !source_is_library(sources, source) &&
           strcmp(source_get(sources, source)->name, "-") != 0;
}

/* Takes the edits of a diagnostic, all or none. */
static bool take_fix(struct fixer *fixer, const struct diag *diag)
{
    if (!diag_is_fixable(fixer->sources, diag)) return false;
    for (size_t i = 0; i < diag->edits.count; i++) {
        struct edit edit = {diag->edits.items[i].span, diag->edits.items[i].text, 0};
        if (!is_editable(fixer->sources, edit.span.source)) return false;
        if (!is_taken(fixer, &edit) && collides_with_taken(fixer, &edit)) return false;
    }
    for (size_t i = 0; i < diag->edits.count; i++) {
        struct edit edit = {diag->edits.items[i].span, diag->edits.items[i].text,
                            fixer->edits.count};
        if (!is_taken(fixer, &edit)) vec_push(fixer->arena, &fixer->edits, edit);
    }
    return true;
}

static int compare_edits(const void *left, const void *right)
{
    const struct edit *a = left, *b = right;
    if (a->span.source != b->span.source) return a->span.source < b->span.source ? -1 : 1;
    if (a->span.begin != b->span.begin) return a->span.begin < b->span.begin ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* True if the file still has the text of the source. */
static bool is_unchanged(struct arena *arena, const struct source *source)
{
    uint32_t id;
    struct sources *again = sources_create(arena);
    if (source_read(again, source->name, &id) != SOURCE_OK) return false;
    const struct source *now = source_get(again, id);
    errno = 0;
    return now->size_bytes == source->size_bytes && now->has_mark == source->has_mark &&
           memcmp(now->bytes, source->bytes, source->size_bytes) == 0;
}

static bool write_edited(const struct source *source, const struct edit *edits, size_t count)
{
    struct output output;
    if (!output_open(&output, source->name)) return false;
    if (source->has_mark) fputs("\xEF\xBB\xBF", output.file);
    uint32_t at = 0;
    for (size_t i = 0; i < count; i++) {
        fwrite(source->bytes + at, 1, edits[i].span.begin - at, output.file);
        fputs(edits[i].text, output.file);
        at = edits[i].span.end;
    }
    fwrite(source->bytes + at, 1, source->size_bytes - at, output.file);
    return output_close(&output);
}

struct fixes_applied fixes_apply(struct arena *arena, const struct diags *diags,
                                 const struct sources *sources, enum diag_level min_level)
{
    struct fixer fixer = {.arena = arena, .sources = sources};
    struct fixes_applied applied = {0};
    for (size_t i = 0; i < diag_kept_count(diags); i++) {
        const struct diag *diag = diag_at(diags, i);
        applied.findings += diag_level(diag) >= min_level && take_fix(&fixer, diag);
    }
    const struct edit *edits = fixer.edits.items;
    if (fixer.edits.count > 0)
        qsort(fixer.edits.items, fixer.edits.count, sizeof *edits, compare_edits);
    for (size_t i = 0, end; i < fixer.edits.count; i = end) {
        const struct source *source = source_get(sources, edits[i].span.source);
        for (end = i; end < fixer.edits.count && edits[end].span.source == edits[i].span.source;)
            end++;
        if (!is_unchanged(arena, source) || !write_edited(source, edits + i, end - i)) {
            applied.failed = source->name;
            return applied;
        }
        applied.files++;
    }
    return applied;
}
