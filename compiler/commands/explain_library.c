/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "compiler/commands/command_explain.h"
#include "compiler/driver/driver_files.h"
#include "base/terminal_text.h"
#include "base/json_write.h"
#include "compiler/syntax/parse.h"
#include "lang/embedded.h"
#include "base/nearest.h"

struct library {
    struct compile cx;
    const char *file; /* std/math.pipe */
    const struct source *source;
    const struct ast_file *ast;
};

/* ---- the items of a file ---- */

static bool is_public(const struct ast_item *item)
{
    return item->kind != AST_ITEM_IMPORT && item->kind != AST_ITEM_TEST;
}

static const char *item_name(const struct ast_item *item)
{
    if (item->kind == AST_ITEM_KERNEL || item->kind == AST_ITEM_PIPELINE)
        return item->signature.name.text;
    return item->kind == AST_ITEM_CONST ? item->declarators->name.text : item->name.text;
}

static const char *kind_name(const struct ast_item *item)
{
    static const char *const names[] = {
        [AST_ITEM_IMPORT] = "import", [AST_ITEM_CONST] = "const",
        [AST_ITEM_STRUCT] = "struct", [AST_ITEM_FN] = "function",
        [AST_ITEM_KERNEL] = "kernel", [AST_ITEM_PIPELINE] = "pipeline",
        [AST_ITEM_TEST] = "test",
    };
    return names[item->kind];
}

/* The length of the name that calls use. For sin_f32 of the mathematics it is 3: the types of the
 * arguments choose the variant. */
static size_t call_length(const struct library *lib, const struct ast_item *item)
{
    const char *name = item_name(item);
    size_t length = strlen(name);
    bool chosen =
        item->kind == AST_ITEM_FN && strcmp(lib->file, "std/math.pipe") == 0 && length > 4 &&
        (strcmp(name + length - 4, "_f32") == 0 || strcmp(name + length - 4, "_f64") == 0);
    return chosen ? length - 4 : length;
}

/* The declaration without its body, on one line. */
static const char *declaration_text(const struct library *lib, const struct ast_item *item)
{
    uint32_t begin = item->span.begin, end = item->span.end;
    if (item->body != NULL) end = item->body->span.begin;
    if (item->net != NULL) end = item->net->span.begin;
    char *text = arena_alloc(lib->cx.arena, end - begin + 1), *to = text;
    for (uint32_t i = begin; i < end; i++) {
        bool blank = isspace((unsigned char)lib->source->bytes[i]) != 0;
        if (blank && (to == text || to[-1] == ' ')) continue;
        *to++ = blank ? ' ' : lib->source->bytes[i];
    }
    while (to > text && (to[-1] == ' ' || to[-1] == ';'))
        to--;
    *to = '\0';
    return text;
}

/* Sets *begin to the start of the line before. False at the beginning of the file. */
static bool line_before(const struct source *source, uint32_t *begin)
{
    if (*begin == 0) return false;
    uint32_t at = *begin - 1;
    while (at > 0 && source->bytes[at - 1] != '\n')
        at--;
    *begin = at;
    return true;
}

/* The lines `// ..` directly before an item that has no `///` comment. */
static const char *plain_comment(const struct library *lib, const struct ast_item *item)
{
    const struct source *source = lib->source;
    uint32_t line, column;
    source_locate(source, item->span.begin, &line, &column);
    uint32_t first = source->line_begin[line - 1], at = first;
    while (line_before(source, &at) && strncmp(source->bytes + at, "//", 2) == 0)
        first = at;
    char *text = arena_alloc(lib->cx.arena, item->span.begin - first + 1), *to = text;
    while (first < source->line_begin[line - 1]) {
        size_t length = strcspn(source->bytes + first, "\n");
        size_t skipped = length > 2 && source->bytes[first + 2] == ' ' ? 3 : 2;
        if (to > text) *to++ = '\n';
        memcpy(to, source->bytes + first + skipped, length - skipped);
        to += length - skipped;
        first += (uint32_t)length + 1;
    }
    return text;
}

static const char *item_documentation(const struct library *lib, const struct ast_item *item)
{
    return item->documentation != NULL ? item->documentation : plain_comment(lib, item);
}

/* ---- showing ---- */

/* The length of the first sentence, which may span lines; ".." belongs to a range. */
static size_t first_sentence(const char *text)
{
    for (size_t i = 0; text[i] != '\0'; i++) {
        bool ends = text[i + 1] == '\0' || isspace((unsigned char)text[i + 1]) != 0;
        if (text[i] == '.' && ends && (i == 0 || text[i - 1] != '.')) return i + 1;
        if (text[i] == '\n' && text[i + 1] == '\n') return i;
    }
    return strlen(text);
}

static void print_indented(FILE *to, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t line = strcspn(text + i, "\n");
        if (line > length - i) line = length - i;
        fprintf(to, "%s%.*s\n", line > 0 ? "    " : "", (int)line, text + i);
        i += line + 1;
    }
}

/* Prints the declaration with the name that a call uses. */
static void print_call(FILE *to, const struct library *lib, const struct ast_item *item)
{
    const char *text = declaration_text(lib, item), *name = item_name(item);
    const char *at = strstr(text, name);
    size_t length = call_length(lib, item);
    if (at == NULL)
        fprintf(to, "%s\n", text);
    else
        fprintf(to, "%.*s%s\n", (int)((size_t)(at - text) + length), text, at + strlen(name));
}

/* Prints the comment at the beginning of the file, up to an empty line. */
static void print_heading(FILE *to, const struct library *lib)
{
    const char *text = lib->source->bytes;
    for (; strncmp(text, "//", 2) == 0; text += strcspn(text, "\n") + 1) {
        size_t length = strcspn(text, "\n"), skipped = 2;
        if (length > 2 && text[2] == ' ') skipped = 3;
        fprintf(to, "%.*s\n", (int)(length - skipped), text + skipped);
        if (text[length] == '\0') break;
    }
    fputc('\n', to);
}

/* True if `wanted` names the item: `sin` means sin_f32 and sin_f64. */
static bool is_meant(const struct library *lib, const struct ast_item *item, const char *wanted)
{
    const char *name = item_name(item);
    size_t length = call_length(lib, item);
    return strcmp(name, wanted) == 0 ||
           (strlen(wanted) == length && strncmp(name, wanted, length) == 0);
}

/* Items whose names begin with the name of the file are internal. */
static bool is_internal(const struct library *lib, const struct ast_item *item)
{
    const char *stem = strrchr(lib->file, '/') + 1, *name = item_name(item);
    size_t length = strcspn(stem, ".");
    return strncasecmp(name, stem, length) == 0 && name[length] == '_';
}

static bool is_there(const struct library *lib, const char *wanted)
{
    for (const struct ast_item *item = lib->ast->items; item != NULL; item = item->next)
        if (is_public(item) && is_meant(lib, item, wanted)) return true;
    return false;
}

/* Shows the items that `wanted` means, or all that are not internal. */
static void show_items(struct json *json, const struct library *lib, const char *wanted,
                       bool as_json)
{
    if (wanted == NULL && !as_json) print_heading(json->to, lib);
    for (const struct ast_item *item = lib->ast->items; item != NULL; item = item->next) {
        if (!is_public(item)) continue;
        if (wanted != NULL ? !is_meant(lib, item, wanted) : is_internal(lib, item)) continue;
        if (as_json) {
            json_begin(json, NULL, '{');
            json_text(json, "name", item_name(item));
            json_text(json, "call",
                      arena_string(lib->cx.arena, item_name(item), call_length(lib, item)));
            json_text(json, "kind", kind_name(item));
            json_text(json, "declaration", declaration_text(lib, item));
            json_text(json, "documentation", item_documentation(lib, item));
            json_end(json, '}');
        } else if (wanted != NULL) {
            /* With its whole name if it was requested by that name. */
            const char *text = item_documentation(lib, item);
            if (strcmp(wanted, item_name(item)) == 0)
                fprintf(json->to, "%s\n", declaration_text(lib, item));
            else
                print_call(json->to, lib, item);
            print_indented(json->to, text, strlen(text));
        } else {
            const char *text = item_documentation(lib, item);
            print_call(json->to, lib, item);
            print_indented(json->to, text, first_sentence(text));
        }
    }
}

/* ---- finding ---- */

static bool load_library(struct library *lib)
{
    uint32_t id;
    if (source_import(lib->cx.sources, 0, lib->file, NULL, 0, &id) != SOURCE_OK) return false;
    lib->source = source_get(lib->cx.sources, id);
    lib->ast = parse_program(&lib->cx, id)->files;
    return true;
}

static int unknown_item(const struct library *lib, const char *wanted)
{
    VEC(const char *) names = {0};
    for (const struct ast_item *item = lib->ast->items; item != NULL; item = item->next)
        if (is_public(item)) vec_push(lib->cx.arena, &names, item_name(item));
    const char *nearest = nearest_name(wanted, names.items, names.count);
    fprintf(stderr, "pipec: error: '%s' has no item '", lib->file);
    terminal_text_print(stderr, wanted);
    fprintf(stderr, nearest != NULL ? "'; did you mean '%s'?\n" : "'\n", nearest);
    return EXIT_FILES;
}

/* Splits std/FILE.ITEM; an ending .pipe belongs to the file. */
static const char *split_name(struct library *lib, const char *name)
{
    const char *dot = strchr(strrchr(name, '/'), '.');
    if (dot != NULL && strncmp(dot, ".pipe", 5) == 0 && (dot[5] == '\0' || dot[5] == '.'))
        dot = dot[5] == '.' ? dot + 5 : NULL;
    size_t length = dot != NULL ? (size_t)(dot - name) : strlen(name);
    bool complete = length > 5 && strncmp(name + length - 5, ".pipe", 5) == 0;
    lib->file = arena_printf(lib->cx.arena, "%.*s%s", (int)length, name, complete ? "" : ".pipe");
    return dot != NULL ? dot + 1 : NULL;
}

static int show_named(struct json *json, struct library *lib, const char *name, bool as_json)
{
    const char *wanted = split_name(lib, name);
    if (!load_library(lib)) {
        fputs("pipec: error: the library has no file '", stderr);
        terminal_text_print(stderr, name);
        fputs("'; there are:", stderr);
        for (const struct embedded_file *file = embedded_std_files; file->name != NULL; file++)
            fprintf(stderr, " %.*s", (int)(strlen(file->name) - strlen(".pipe")), file->name);
        fputc('\n', stderr);
        return EXIT_FILES;
    }
    if (wanted != NULL && !is_there(lib, wanted)) return unknown_item(lib, wanted);
    show_items(json, lib, wanted, as_json);
    return EXIT_DONE;
}

/* Shows an item without a file name from every file that has it. */
static void show_everywhere(struct json *json, struct library *lib, const char *name, bool as_json)
{
    for (const struct embedded_file *file = embedded_std_files; file->name != NULL; file++) {
        lib->file = file->name;
        if (!load_library(lib) || !is_there(lib, name)) continue;
        if (!as_json) fprintf(json->to, "// import \"%s\";\n", lib->file);
        show_items(json, lib, name, as_json);
    }
}

/* Shows a line for each file. */
static void show_files(struct json *json, struct library *lib, bool as_json)
{
    for (const struct embedded_file *file = embedded_std_files; file->name != NULL; file++) {
        lib->file = file->name;
        if (!load_library(lib)) continue;
        const char *text = lib->source->bytes;
        size_t skipped = strspn(text, "/ ");
        size_t stem = strlen(file->name) - strlen(".pipe");
        if (as_json) {
            json_begin(json, NULL, '{');
            json_text(json, "file", file->name);
            json_text(json, "documentation",
                      arena_string(lib->cx.arena, text + skipped, strcspn(text + skipped, "\n")));
            json_end(json, '}');
        } else {
            fprintf(json->to, "%.*s\n    %.*s\n", (int)stem, file->name,
                    (int)strcspn(text + skipped, "\n"), text + skipped);
        }
    }
}

bool explain_is_library(const char *name)
{
    struct arena *arena = arena_create();
    struct library lib = {.cx = compile_begin(arena, (struct compile_options){0})};
    bool found = strchr(name, '/') != NULL || strcmp(name, "std") == 0;
    for (const struct embedded_file *file = embedded_std_files; !found && file->name; file++) {
        lib.file = file->name;
        found = load_library(&lib) && is_there(&lib, name);
    }
    arena_destroy(arena);
    return found;
}

void explain_item_names(struct arena *arena, struct explain_names *names)
{
    struct library lib = {.cx = compile_begin(arena, (struct compile_options){0})};
    for (const struct embedded_file *file = embedded_std_files; file->name != NULL; file++) {
        lib.file = file->name;
        if (!load_library(&lib)) continue;
        for (const struct ast_item *item = lib.ast->items; item != NULL; item = item->next)
            if (is_public(item) && !is_internal(&lib, item))
                vec_push(arena, &names->of, item_name(item));
    }
}

int explain_library(FILE *to, const char **names, size_t count, bool as_json)
{
    struct json json = {.to = to};
    int status = EXIT_DONE;
    if (as_json) json_begin(&json, NULL, '[');
    for (size_t i = 0; i < count && status == EXIT_DONE; i++) {
        struct arena *arena = arena_create();
        struct library lib = {.cx = compile_begin(arena, (struct compile_options){0})};
        if (i > 0 && !as_json) fputc('\n', to);
        if (strchr(names[i], '/') != NULL)
            status = show_named(&json, &lib, names[i], as_json);
        else if (strcmp(names[i], "std") == 0)
            show_files(&json, &lib, as_json);
        else
            show_everywhere(&json, &lib, names[i], as_json);
        arena_destroy(arena);
    }
    if (as_json) json_end(&json, ']');
    return status;
}
