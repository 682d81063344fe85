/* SPDX-License-Identifier: MIT */
/*
 * name_table: the meaning of each name in source texts, for editors.
 *
 * Unlike sema, it needs no program without errors: it resolves the names in the parts of the tree that the parser
 * has kept. A name without a known declaration has the meaning NAME_NONE. Nothing is reported.
 *
 *     name_table_add(&table, source);       each file; files that it imports follow by themselves
 *     name_table_resolve(&table);
 *
 * A field is resolved if the type of the value before the point is known. In a kernel with type parameters it may
 * not be.
 */
#ifndef PIPEC_NAME_TABLE_H
#define PIPEC_NAME_TABLE_H

#include "compiler/context/context.h"
#include "compiler/syntax/ast.h"

enum name_kind {
    NAME_KERNEL,
    NAME_PIPELINE,
    NAME_FUNCTION,
    NAME_CONSTANT,
    NAME_STRUCT,
    NAME_TEST,
    NAME_FIELD,
    NAME_TYPE,      /* `type T` */
    NAME_PARAMETER, /* compile-time integers, arguments, parameters of functions */
    NAME_PORT,
    NAME_BUFFER,
    NAME_LABEL,
    NAME_VARIABLE,
    NAME_EVENT,
};

#define NAME_NONE UINT32_MAX

struct named { /* a declaration */
    enum name_kind kind;
    const char *text; /* interned */
    struct span span;
    const struct ast_item *item; /* that it is, or is a part of */
    const struct ast_type *type; /* of a value; NULL: none is written */
    uint32_t dims;               /* brackets after the name */
    uint32_t first, count;       /* of an item: its fields, or parameters and ports, in `names` */
    uint32_t next_item;          /* of an item: another one of the same text, or NAME_NONE */
};

struct name_use {
    struct span span;
    const char *text;
    uint32_t named; /* index into `names`, or NAME_NONE */
    bool declares;  /* the use is the declaration */
    bool is_member; /* stands after a point */
};

struct name_file {
    struct ast_file *file;
    VEC(uint32_t) imports; /* indices into `files` */
    bool is_everywhere;    /* visible without an import: std/math */
    bool *reaches; /* by index into `files`: itself, and all that it imports, directly or not */
};

struct name_table {
    struct compile *cx;
    struct ast_program program; /* all files, in order */
    VEC(uint32_t) sources;      /* to be read: parallel to `files` as far as these have been read */
    VEC(struct name_file) files;
    VEC(struct named) names;
    VEC(struct name_use) uses; /* in order of source and place; not of the library */
    VEC(struct span) words;    /* names of attributes, and words that are their values; likewise */
    uint32_t *item_slots;      /* by hash of the text: the first item of that text, or NAME_NONE */
    size_t item_slot_count;
};

/* Adds a source that has been read; nothing happens if it is there. */
void name_table_add(struct name_table *table, uint32_t source);
/* Reads the added files and their imports. */
void name_table_resolve(struct name_table *table);
/* The use that contains the offset, or ends there; NULL: none does. */
const struct name_use *name_table_at(const struct name_table *table, uint32_t source,
                                     uint32_t offset);
/* The item of that interned name that the file can use, or NAME_NONE. An item of the file and its imports comes first,
 * then one of a program that contains the file. */
uint32_t name_table_item(const struct name_table *table, uint32_t source, const char *text);

/* ---- between name_table.c and name_walk.c ---- */

/* Appends the declaration, and its use unless it is of the library. */
uint32_t name_table_declare(struct name_table *table, struct named named);
/* Resolves the names of an item's body. Its own declarations are there already. */
void name_walk_item(struct name_table *table, const struct ast_item *item, uint32_t index);

#endif
