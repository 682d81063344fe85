/* SPDX-License-Identifier: MIT */
#include "compiler/syntax/parse.h"

#include <errno.h>
#include <string.h>

#include "compiler/context/embedded_library.h"
#include "base/vec.h"
#include "compiler/syntax/sdf3_import.h"
#include "compiler/syntax/token_stream.h"
#include "lang/container.h"
#include "base/file_open.h"

struct loader {
    struct compile *cx;
    struct ast_program *program;
    struct ast_file *last;
    VEC(bool) listed; /* by source id */
};

/* Appends a file to the program unless it is there; files are parsed in the order of the list. */
static void list_file(struct loader *loader, uint32_t id)
{
    struct arena *arena = loader->cx->arena;
    while (loader->listed.count <= id)
        vec_push(arena, &loader->listed, false);
    if (loader->listed.items[id]) return;
    loader->listed.items[id] = true;
    struct ast_file *file = ARENA_NEW(arena, struct ast_file);
    file->source = id;
    if (loader->last)
        loader->last->next = file;
    else
        loader->program->files = file;
    loader->last = file;
}

static void report_import(struct compile *cx, const struct ast_item *item,
                          enum source_status status)
{
    const char *reason = file_error_text(errno);
    struct diag *diag;
    switch (status) {
    case SOURCE_OK: return;
    case SOURCE_NOT_FOUND:
        diag = diag_report(cx->diags, RULE_IMPORT_NOT_FOUND, item->path_span,
                           "there is no file '%s'", item->path);
        diag_note(diag, "looked beside the importing file, in the folders given with -I, and in "
                        "the standard library");
        if (library_file_meant(item->path) != NULL)
            diag_help(diag, "did you mean \"%s\"?", library_file_meant(item->path));
        return;
    case SOURCE_UNREADABLE:
        diag_report(cx->diags, RULE_IMPORT_NOT_FOUND, item->path_span, "cannot read '%s': %s",
                    item->path, reason);
        return;
    case SOURCE_TOO_LARGE:
        diag_report(cx->diags, RULE_IMPORT_NOT_FOUND, item->path_span,
                    "'%s' is larger than %u bytes", item->path, SOURCE_MAX_BYTES);
        return;
    }
}

static bool is_command_list(const struct source *source)
{
    static const char first_line[] = "// pipec commands 1";
    size_t length = strlen(source->name), size = sizeof first_line - 1;
    if (length > 5 && strcmp(source->name + length - 5, ".cmds") == 0) return true;
    if (source->size_bytes < size || memcmp(source->bytes, first_line, size) != 0) return false;
    return source->size_bytes == size || source->bytes[size] == '\n' || source->bytes[size] == '\r';
}

static void import_file(struct loader *loader, struct ast_file *file, const struct ast_item *item)
{
    struct compile *cx = loader->cx;
    uint32_t id;
    enum source_status status =
        source_import(cx->sources, file->source, item->path, cx->options.import_folders,
                      cx->options.import_folder_count, &id);
    if (status == SOURCE_OK) {
        list_file(loader, id);
        return;
    }
    report_import(cx, item, status);
    file->names_missing = true;
}

static struct parser *open_file(struct compile *cx, uint32_t source)
{
    struct arena *scratch = arena_create();
    struct parser *ps = ARENA_NEW(scratch, struct parser);
    ps->cx = cx;
    ps->scratch = scratch;
    ps->source_id = source;
    ps->source = source_get(cx->sources, source);
    token_stream_open(ps);
    return ps;
}

static void close_file(struct parser *ps)
{
    token_stream_close(ps);
    arena_destroy(ps->scratch);
}

/* ---- binary files ---- */

enum { CONTROLS_MAX = 32 }; /* fewer may be typing errors: each is reported at its place */

/* Reports one error for the file instead of one for each byte. */
static bool refuse_binary(struct compile *cx, uint32_t id)
{
    const struct source *source = source_get(cx->sources, id);
    struct span first = {id, 0, 0};
    size_t magic = sizeof CONTAINER_MAGIC - 1;
    if (source->size_bytes >= magic && memcmp(source->bytes, CONTAINER_MAGIC, magic) == 0) {
        struct diag *d = diag_report(cx->diags, RULE_SYNTAX, first,
                                     "this is a container, compiled already, not a source");
        diag_help(d, "give it to 'piperun', or to 'pipec inspect'");
        return true;
    }
    /* The number of control characters that no text contains. */
    size_t controls = 0;
    for (uint32_t i = 0; i < source->size_bytes; i++) {
        unsigned char byte = (unsigned char)source->bytes[i];
        controls += byte < 0x20 && (byte < '\t' || byte > '\r');
    }
    if (controls <= CONTROLS_MAX) return false;
    struct diag *d =
        diag_report(cx->diags, RULE_INVALID_CHARACTER, first,
                    "this is not a text: %zu of its bytes are control characters", controls);
    if (source->size_bytes > 1 &&
        (memcmp(source->bytes, "\xff\xfe", 2) == 0 || memcmp(source->bytes, "\xfe\xff", 2) == 0))
        diag_help(d, "it looks like UTF-16: a source is UTF-8");
    return true;
}

/* A graph in XML becomes the command list that is made from it. False after an error. */
static bool import_graph(struct compile *cx, struct ast_file *file)
{
    if (!sdf3_begins(source_get(cx->sources, file->source))) return true;
    uint32_t made = sdf3_import(cx, file->source);
    if (made != 0) file->source = made;
    return made != 0;
}

static void parse_file(struct compile *cx, struct ast_file *file)
{
    if (refuse_binary(cx, file->source) || !import_graph(cx, file)) {
        file->names_missing = true;
        return;
    }
    struct parser *ps = open_file(cx, file->source);
    ps->file = file;
    file->is_commands = ps->begins_commands = is_command_list(ps->source);
    pipe_parse(ps);
    close_file(ps);
}

struct ast_file *parse_one_file(struct compile *cx, uint32_t id)
{
    struct ast_file *file = ARENA_NEW(cx->arena, struct ast_file);
    file->source = id;
    parse_file(cx, file);
    return file;
}

void token_list_read(struct compile *cx, uint32_t source, struct token_list *list)
{
    struct parser *ps = open_file(cx, source);
    ps->list = list;
    token_stream_list(ps);
    close_file(ps);
}

struct ast_program *parse_program(struct compile *cx, uint32_t id)
{
    struct loader loader = {.cx = cx, .program = ARENA_NEW(cx->arena, struct ast_program)};
    list_file(&loader, id);
    for (struct ast_file *file = loader.program->files; file; file = file->next) {
        parse_file(cx, file);
        if (file->is_commands && file != loader.program->files)
            diag_report(cx->diags, RULE_SYNTAX, (struct span){file->source, 0, 0},
                        "a command list is compiled by itself, not imported");
        for (const struct ast_item *item = file->items; item; item = item->next)
            if (item->kind == AST_ITEM_IMPORT) import_file(&loader, file, item);
        /* `source "PATH";` in a command list finds files as `import_file` does. */
        for (const struct ast_command *command = file->commands; command; command = command->next) {
            if (command->kind != AST_COMMAND_SET || strcmp(command->verb.text, "source") != 0)
                continue;
            struct ast_item item = {.path = command->subject.text,
                                    .path_span = command->subject.span};
            import_file(&loader, file, &item);
        }
    }
    return loader.program;
}
