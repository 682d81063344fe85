/* SPDX-License-Identifier: MIT */
#include "compiler/editor/name_table.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/driver/library_add.h"
#include "compiler/syntax/parse.h"

/* ---- files ---- */

void name_table_add(struct name_table *table, uint32_t source)
{
    for (size_t i = 0; i < table->sources.count; i++)
        if (table->sources.items[i] == source) return;
    vec_push(table->cx->arena, &table->sources, source);
}

static uint32_t file_index(const struct name_table *table, uint32_t source)
{
    uint32_t i = 0;
    while (i < table->sources.count && table->sources.items[i] != source)
        i++;
    return i;
}

static void read_imports(struct name_table *table, struct name_file *added)
{
    struct compile *cx = table->cx;
    uint32_t source;
    for (const struct ast_item *item = added->file->items; item != NULL; item = item->next)
        if (item->kind == AST_ITEM_IMPORT &&
            source_import(cx->sources, added->file->source, item->path, cx->options.import_folders,
                          cx->options.import_folder_count, &source) == SOURCE_OK) {
            name_table_add(table, source);
            vec_push(cx->arena, &added->imports, file_index(table, source));
        }
}

static void read_source_file(struct name_table *table, uint32_t source)
{
    struct name_file added = {.file = parse_one_file(table->cx, source)};
    if (table->files.count == 0)
        table->program.files = added.file;
    else
        table->files.items[table->files.count - 1].file->next = added.file;
    read_imports(table, &added);
    vec_push(table->cx->arena, &table->files, added);
}

/* std/math is part of every program that uses a word of it. */
static void read_mathematics(struct name_table *table)
{
    if (table->files.count == 0) return;
    struct ast_file *last = table->files.items[table->files.count - 1].file;
    library_add(table->cx, &table->program);
    for (struct ast_file *file = last->next; file != NULL; file = file->next) {
        vec_push(table->cx->arena, &table->sources, file->source);
        vec_push(table->cx->arena, &table->files,
                 (struct name_file){.file = file, .is_everywhere = true});
    }
}

static void mark_reached(const struct name_table *table, uint32_t file, bool *reached)
{
    if (reached[file]) return;
    reached[file] = true;
    for (size_t i = 0; i < table->files.items[file].imports.count; i++)
        mark_reached(table, table->files.items[file].imports.items[i], reached);
}

/* ---- declarations ---- */

uint32_t name_table_declare(struct name_table *table, struct named named)
{
    struct arena *arena = table->cx->arena;
    uint32_t index = (uint32_t)table->names.count;
    if (named.text == NULL || *named.text == '\0') return NAME_NONE;
    named.next_item = NAME_NONE;
    vec_push(arena, &table->names, named);
    if (!source_is_library(table->cx->sources, named.span.source))
        vec_push(arena, &table->uses,
                 (struct name_use){.span = named.span,
                                   .text = named.text,
                                   .named = index,
                                   .declares = true,
                                   .is_member = named.kind == NAME_FIELD});
    return index;
}

static uint32_t expr_count(const struct ast_expr *first)
{
    uint32_t count = 0;
    for (; first != NULL; first = first->next)
        count++;
    return count;
}

static void declare_parts(struct name_table *table, const struct ast_item *item)
{
    const struct ast_signature *s = &item->signature;
    const struct ast_param *param = item->kind == AST_ITEM_FN ? item->params : s->params;
    for (const struct ast_type_param *p = s->type_params; p != NULL; p = p->next)
        name_table_declare(table, (struct named){.kind = p->is_type ? NAME_TYPE : NAME_PARAMETER,
                                                 .text = p->name.text,
                                                 .span = p->name.span,
                                                 .item = item,
                                                 .type = p->type});
    for (const struct ast_port *p = s->ports; p != NULL; p = p->next)
        name_table_declare(table, (struct named){.kind = NAME_PORT,
                                                 .text = p->name.text,
                                                 .span = p->name.span,
                                                 .item = item,
                                                 .type = p->type,
                                                 .dims = expr_count(p->dims)});
    for (const struct ast_param *p = param; p != NULL; p = p->next)
        name_table_declare(table, (struct named){.kind = NAME_PARAMETER,
                                                 .text = p->name.text,
                                                 .span = p->name.span,
                                                 .item = item,
                                                 .type = p->type,
                                                 .dims = expr_count(p->dims)});
    for (const struct ast_field *f = item->fields; f != NULL; f = f->next)
        name_table_declare(table, (struct named){.kind = NAME_FIELD,
                                                 .text = f->name.text,
                                                 .span = f->name.span,
                                                 .item = item,
                                                 .type = f->type,
                                                 .dims = expr_count(f->dims)});
}

static size_t slot_of(const struct name_table *table, const char *text)
{
    uint64_t hash = ((uint64_t)(uintptr_t)text >> 3) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(hash >> 32) & (table->item_slot_count - 1);
    while (table->item_slots[at] != NAME_NONE &&
           table->names.items[table->item_slots[at]].text != text)
        at = (at + 1) & (table->item_slot_count - 1);
    return at;
}

static void declare_item(struct name_table *table, const struct ast_item *item, struct named named)
{
    named.item = item;
    uint32_t index = name_table_declare(table, named);
    if (index == NAME_NONE) return;
    uint32_t first = (uint32_t)table->names.count;
    if (item->kind != AST_ITEM_CONST) declare_parts(table, item);
    table->names.items[index].first = first;
    table->names.items[index].count = (uint32_t)table->names.count - first;
}

static void declare_items(struct name_table *table, const struct ast_file *file)
{
    static const enum name_kind kinds[] = {
        [AST_ITEM_STRUCT] = NAME_STRUCT, [AST_ITEM_FN] = NAME_FUNCTION,
        [AST_ITEM_KERNEL] = NAME_KERNEL, [AST_ITEM_PIPELINE] = NAME_PIPELINE,
        [AST_ITEM_TEST] = NAME_TEST,
    };
    for (const struct ast_item *item = file->items; item != NULL; item = item->next) {
        if (item->kind == AST_ITEM_CONST)
            for (const struct ast_declarator *d = item->declarators; d != NULL; d = d->next)
                declare_item(table, item,
                             (struct named){.kind = NAME_CONSTANT,
                                            .text = d->name.text,
                                            .span = d->name.span,
                                            .type = item->type,
                                            .dims = expr_count(d->dims)});
        else if (item->kind != AST_ITEM_IMPORT) {
            bool has_signature = item->kind == AST_ITEM_KERNEL || item->kind == AST_ITEM_PIPELINE;
            struct ast_name name = has_signature ? item->signature.name : item->name;
            declare_item(table, item,
                         (struct named){.kind = kinds[item->kind],
                                        .text = name.text,
                                        .span = name.span,
                                        .type = item->type});
        }
    }
}

static bool is_found_by_name(const struct named *named)
{
    return named->kind <= NAME_STRUCT;
}

/* So that the first declaration of a text comes first. */
static void index_items(struct name_table *table)
{
    table->item_slot_count = 16;
    while (table->item_slot_count < 2 * table->names.count)
        table->item_slot_count *= 2;
    table->item_slots = ARENA_ARRAY(table->cx->arena, uint32_t, table->item_slot_count);
    for (size_t i = 0; i < table->item_slot_count; i++)
        table->item_slots[i] = NAME_NONE;
    for (uint32_t i = (uint32_t)table->names.count; i-- > 0;) {
        struct named *named = &table->names.items[i];
        if (!is_found_by_name(named)) continue;
        size_t slot = slot_of(table, named->text);
        named->next_item = table->item_slots[slot];
        table->item_slots[slot] = i;
    }
}

/* ---- questions ---- */

/* 2: `from` imports `to`, or is it; 1: some program contains both; 0: none does. */
static unsigned file_nearness(const struct name_table *table, uint32_t from, uint32_t to)
{
    if (table->files.items[from].reaches[to] || table->files.items[to].is_everywhere) return 2;
    for (size_t i = 0; i < table->files.count; i++)
        if (table->files.items[i].reaches[from] && table->files.items[i].reaches[to]) return 1;
    return 0;
}

uint32_t name_table_item(const struct name_table *table, uint32_t source, const char *text)
{
    uint32_t from = file_index(table, source), found = NAME_NONE;
    unsigned best = 0;
    if (from >= table->files.count) return NAME_NONE;
    for (uint32_t i = table->item_slots[slot_of(table, text)]; i != NAME_NONE && best < 2;
         i = table->names.items[i].next_item) {
        unsigned near =
            file_nearness(table, from, file_index(table, table->names.items[i].span.source));
        if (near > best) {
            best = near;
            found = i;
        }
    }
    return found;
}

static int compare_spans(const struct span *a, const struct span *b)
{
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    return 0;
}

static int compare_uses(const void *a, const void *b)
{
    return compare_spans(&((const struct name_use *)a)->span, &((const struct name_use *)b)->span);
}

static int compare_words(const void *a, const void *b)
{
    return compare_spans(a, b);
}

const struct name_use *name_table_at(const struct name_table *table, uint32_t source,
                                     uint32_t offset)
{
    size_t low = 0, high = table->uses.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct span *span = &table->uses.items[middle].span;
        if (span->source < source || (span->source == source && span->end < offset))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == table->uses.count) return NULL;
    const struct name_use *use = &table->uses.items[low];
    return use->span.source == source && use->span.begin <= offset ? use : NULL;
}

void name_table_resolve(struct name_table *table)
{
    struct compile *cx = table->cx;
    for (size_t i = 0; i < table->sources.count; i++)
        read_source_file(table, table->sources.items[i]);
    read_mathematics(table);
    for (uint32_t i = 0; i < table->files.count; i++) {
        table->files.items[i].reaches = ARENA_ARRAY(cx->arena, bool, table->files.count);
        mark_reached(table, i, table->files.items[i].reaches);
        declare_items(table, table->files.items[i].file);
    }
    index_items(table);
    uint32_t declared = (uint32_t)table->names.count;
    for (uint32_t i = 0; i < declared; i++) {
        struct named *named = &table->names.items[i];
        bool is_item = is_found_by_name(named) || named->kind == NAME_TEST;
        if (is_item && !source_is_library(cx->sources, named->span.source))
            name_walk_item(table, named->item, i);
    }
    if (table->uses.count > 1)
        qsort(table->uses.items, table->uses.count, sizeof *table->uses.items, compare_uses);
    if (table->words.count > 1)
        qsort(table->words.items, table->words.count, sizeof *table->words.items, compare_words);
}
