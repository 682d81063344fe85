/* SPDX-License-Identifier: MIT */
#include "compiler/driver/kernel_sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/syntax/token_list.h"

struct collector {
    struct compile *cx;
    const struct ast_program *program;
    const char *output; /* NULL: a stream */
    struct kernel_sources *found;
};

/* ---- names of files ---- */

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

static bool same_folder(const char *one, const char *other)
{
    size_t length = folder_length(one);
    return length == folder_length(other) && strncmp(one, other, length) == 0;
}

/* The path by which a list at `output` finds the file `name`: relative to the list's folder, as it
 * is, or absolute. */
static const char *name_from(const struct collector *c, const char *name)
{
    if (c->output == NULL) return name;
    if (same_folder(c->output, name)) return name + folder_length(name);
    if (name[0] == '/' || folder_length(c->output) == 0) return name;
    char *whole = realpath(name, NULL);
    if (whole == NULL && errno == ENOMEM) arena_out_of_memory();
    const char *copy = whole != NULL ? arena_string(c->cx->arena, whole, strlen(whole)) : name;
    free(whole);
    return copy;
}

static void add_name(const struct collector *c, const char *name)
{
    for (size_t i = 0; i < c->found->names.count; i++)
        if (strcmp(c->found->names.items[i], name) == 0) return;
    vec_push(c->cx->arena, &c->found->names, name);
}

/* The id of the file that `path` in `importer` was resolved to; 0: none. */
static uint32_t resolve_import(const struct collector *c, uint32_t importer, const char *path)
{
    uint32_t id;
    enum source_status status =
        source_import(c->cx->sources, importer, path, c->cx->options.import_folders,
                      c->cx->options.import_folder_count, &id);
    return status == SOURCE_OK ? id : 0;
}

static bool is_source_command(const struct ast_command *command)
{
    return command->kind == AST_COMMAND_SET && strcmp(command->verb.text, "source") == 0;
}

/* Adds the library files that `file` needs, by their own names. */
static void name_library(const struct collector *c, const struct ast_file *file)
{
    struct sources *sources = c->cx->sources;
    for (const struct ast_item *item = file->items; item != NULL; item = item->next) {
        uint32_t id =
            item->kind == AST_ITEM_IMPORT ? resolve_import(c, file->source, item->path) : 0;
        if (source_is_library(sources, id)) add_name(c, source_get(sources, id)->name);
    }
    for (const struct ast_command *command = file->commands; command; command = command->next) {
        uint32_t id =
            is_source_command(command) ? resolve_import(c, file->source, command->subject.text) : 0;
        if (source_is_library(sources, id)) add_name(c, source_get(sources, id)->name);
    }
}

/* ---- text of items ---- */

/* A position in a file, between its items. */
struct reader {
    const struct source *source;
    const struct list_comment *comments;
    size_t comment_count, next_comment;
    const struct ast_command *command; /* the next command */
    uint32_t end;                      /* the end of the text before, with the comments after it */
};

static uint32_t count_lines(const struct reader *r, uint32_t begin, uint32_t end)
{
    uint32_t lines = 0;
    for (uint32_t i = begin; i < end; i++)
        lines += r->source->bytes[i] == '\n';
    return lines;
}

/* Advances past an item or a command, and the comments before `limit` that begin on its last line. */
static void advance_past(struct reader *r, uint32_t end, uint32_t limit)
{
    r->end = end;
    for (; r->next_comment < r->comment_count; r->next_comment++) {
        struct span comment = r->comments[r->next_comment].span;
        if (comment.begin >= limit) break;
        if (comment.begin < end) continue;
        if (count_lines(r, r->end, comment.begin) > 0) break;
        r->end = comment.end;
    }
}

static uint32_t next_begin(const struct reader *r, const struct ast_item *item)
{
    uint32_t begin = item != NULL ? item->span.begin : UINT32_MAX;
    if (r->command != NULL && r->command->span.begin < begin) begin = r->command->span.begin;
    return begin;
}

static bool is_carried(const struct ast_item *item)
{
    return item->kind != AST_ITEM_IMPORT && item->kind != AST_ITEM_PIPELINE &&
           item->kind != AST_ITEM_TEST;
}

static void carry_items(const struct collector *c, const struct ast_file *file)
{
    struct token_list list = {0};
    token_list_read(c->cx, file->source, &list);
    struct reader r = {.source = source_get(c->cx->sources, file->source),
                       .comments = list.comments.items,
                       .comment_count = list.comments.count,
                       .command = file->commands};
    bool has_first_line = file->is_commands && r.comment_count > 0 && r.comments[0].span.begin == 0;
    if (has_first_line) advance_past(&r, r.comments[0].span.end, r.comments[0].span.end);
    for (const struct ast_item *item = file->items; item != NULL; item = item->next) {
        while (r.command != NULL && (item == NULL || r.command->span.begin < item->span.begin)) {
            uint32_t end = r.command->span.end;
            r.command = r.command->next;
            advance_past(&r, end, next_begin(&r, item));
        }
        uint32_t begin = item->span.begin, before = r.end;
        bool has_comment =
            r.next_comment < r.comment_count && r.comments[r.next_comment].span.begin < begin;
        if (has_comment) begin = r.comments[r.next_comment].span.begin;
        advance_past(&r, item->span.end, next_begin(&r, item->next));
        struct item_text text = {.bytes = r.source->bytes + begin,
                                 .size_bytes = r.end - begin,
                                 .is_apart = count_lines(&r, before, begin) > 1};
        if (is_carried(item)) vec_push(c->cx->arena, &c->found->items, text);
    }
}

/* ---- the program ---- */

static void embed_all(const struct collector *c)
{
    for (const struct ast_file *file = c->program->files; file != NULL; file = file->next) {
        if (source_is_library(c->cx->sources, file->source)) continue;
        name_library(c, file);
        carry_items(c, file);
    }
}

const struct kernel_sources *kernel_sources(struct compile *cx, const struct ast_program *program,
                                            const char *output, bool embed)
{
    const struct ast_file *file = program->files;
    struct collector c = {.cx = cx,
                          .program = program,
                          .output = output != NULL && strcmp(output, "-") != 0 ? output : NULL,
                          .found = ARENA_NEW(cx->arena, struct kernel_sources)};
    bool has_file =
        source_is_file(cx->sources, file->source) || source_is_library(cx->sources, file->source);
    if (embed || (!has_file && !file->is_commands)) {
        embed_all(&c);
    } else if (file->is_commands) {
        /* Adds the files that a list names, with paths that hold in the folder of the output. */
        const char *main_name = source_get(c.cx->sources, file->source)->name;
        bool stays = c.output == NULL || same_folder(c.output, main_name);
        for (const struct ast_command *command = file->commands; command; command = command->next) {
            if (!is_source_command(command)) continue;
            const char *path = command->subject.text;
            uint32_t id = stays ? 0 : resolve_import(&c, file->source, path);
            bool is_elsewhere = id != 0 && source_is_file(c.cx->sources, id);
            add_name(&c, is_elsewhere ? name_from(&c, source_get(c.cx->sources, id)->name) : path);
        }
        carry_items(&c, file);
    } else {
        add_name(&c, name_from(&c, source_get(cx->sources, file->source)->name));
    }
    return c.found;
}
