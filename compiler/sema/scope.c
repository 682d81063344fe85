/* SPDX-License-Identifier: MIT */
#include "compiler/sema/scope.h"

#include <string.h>

#include "compiler/syntax/habits.h"
#include "base/nearest.h"

/* Up to LINEAR_MAX symbols are searched one by one; a larger scope has a hash table. */
enum { LINEAR_MAX = 8 };

struct scope {
    struct compile *cx;
    struct scope *outer;
    VEC(struct symbol *) symbols;
    struct symbol **table; /* NULL while small; by name, a power of two of slots */
    size_t table_size;
};

struct scope *scope_create(struct compile *cx, struct scope *outer)
{
    struct scope *scope = ARENA_NEW(cx->arena, struct scope);
    scope->cx = cx;
    scope->outer = outer;
    return scope;
}

bool scope_is_within(const struct scope *scope, const struct scope *outer)
{
    while (scope && scope != outer)
        scope = scope->outer;
    return scope != NULL;
}

/* The slot of `name`, or the empty one where it belongs. */
static struct symbol **find_slot(struct symbol **table, size_t size, const char *name)
{
    uint64_t hash = ((uint64_t)(uintptr_t)name >> 3) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(hash >> 32) & (size - 1);
    while (table[at] && table[at]->name != name)
        at = (at + 1) & (size - 1);
    return &table[at];
}

static void grow_table(struct scope *scope)
{
    size_t size = scope->table_size ? scope->table_size * 2 : 4 * (size_t)LINEAR_MAX;
    struct symbol **table = ARENA_ARRAY(scope->cx->arena, struct symbol *, size);
    for (size_t i = 0; i < scope->symbols.count; i++)
        *find_slot(table, size, scope->symbols.items[i]->name) = scope->symbols.items[i];
    scope->table = table;
    scope->table_size = size;
}

static struct symbol *find_here(const struct scope *scope, const char *name)
{
    if (scope->table) return *find_slot(scope->table, scope->table_size, name);
    for (size_t i = 0; i < scope->symbols.count; i++)
        if (scope->symbols.items[i]->name == name) return scope->symbols.items[i];
    return NULL;
}

struct symbol *scope_declare(struct scope *scope, struct symbol symbol)
{
    struct symbol *earlier = find_here(scope, symbol.name);
    if (earlier && earlier->kind == SYMBOL_POISON) { /* reported at its use */
        *earlier = symbol;
        return earlier;
    }
    struct symbol *declared = ARENA_NEW(scope->cx->arena, struct symbol);
    *declared = symbol;
    if (earlier) {
        struct diag *diag = diag_report(scope->cx->diags, RULE_DUPLICATE_NAME, symbol.span,
                                        "'%s' is declared twice", symbol.name);
        if (earlier->span.source)
            diag_label(diag, earlier->span, "'%s' is already declared here", symbol.name);
        return declared; /* usable through the pointer, never found by name */
    }
    vec_push(scope->cx->arena, &scope->symbols, declared);
    if (scope->table && scope->symbols.count * 2 <= scope->table_size)
        *find_slot(scope->table, scope->table_size, symbol.name) = declared;
    else if (scope->symbols.count > LINEAR_MAX)
        grow_table(scope);
    return declared;
}

struct symbol *scope_find(struct scope *scope, const char *name)
{
    for (; scope; scope = scope->outer) {
        struct symbol *symbol = find_here(scope, name);
        if (symbol) return symbol;
    }
    return NULL;
}

struct name_list {
    struct arena *arena;
    VEC(const char *) names;
};

static void collect_pipeline(const struct symbol *symbol, void *data)
{
    struct name_list *list = data;
    if (symbol->kind == SYMBOL_PIPELINE) vec_push(list->arena, &list->names, symbol->name);
}

/* Candidates are names that can stand in the place of a variable or port. */
static void collect_name(const struct symbol *symbol, void *data)
{
    struct name_list *list = data;
    switch (symbol->kind) {
    case SYMBOL_FN:
    case SYMBOL_KERNEL:
    case SYMBOL_PIPELINE:
    case SYMBOL_STRUCT:
    case SYMBOL_TYPE_PARAM:
    case SYMBOL_EVENT:
    case SYMBOL_POISON: return;
    default: break;
    }
    vec_push(list->arena, &list->names, symbol->name);
}

/* The scope of the whole body or pipeline that `scope` is part of, else the program's. */
static struct scope *whole_scope(struct scope *scope)
{
    while (scope->outer != NULL && scope->outer->outer != NULL &&
           scope->outer->outer->outer != NULL)
        scope = scope->outer;
    return scope;
}

static void declare_poison(struct scope *scope, struct ast_name name)
{
    if (find_here(scope, name.text) == NULL)
        scope_declare(scope,
                      (struct symbol){.kind = SYMBOL_POISON, .name = name.text, .span = name.span});
}

void scope_poison(struct scope *scope, struct ast_name name)
{
    while (scope->outer != NULL && scope->outer->outer != NULL)
        scope = scope->outer;
    declare_poison(scope, name);
}

/* A number, or a name that is known. */
static bool is_side(struct scope *scope, const char *text, size_t length)
{
    if (length == 0) return false;
    if (strspn(text, "0123456789") >= length) return true;
    return scope_find(scope, intern_name(scope->cx->names, text, length)) != NULL;
}

const char *scope_dimensions(struct scope *scope, const char *name)
{
    for (const char *x = strchr(name, 'x'); x != NULL; x = strchr(x + 1, 'x')) {
        size_t length = (size_t)(x - name);
        if (is_side(scope, name, length) && is_side(scope, x + 1, strlen(x + 1)))
            return arena_printf(scope->cx->arena, "%.*s x %s", (int)length, name, x + 1);
    }
    return NULL;
}

void scope_help_dimensions(struct diag *diag, struct ast_name name, const char *dimensions)
{
    diag_help(diag, "'%s' is one name: write '%s', with blanks around the x", name.text,
              dimensions);
    diag_fix(diag, name.span, "%s", dimensions);
}

struct symbol *scope_lookup(struct scope *scope, struct ast_name name, const char *what)
{
    struct symbol *symbol = scope_find(scope, name.text);
    if (symbol) {
        symbol->used = true;
        return symbol;
    }
    struct diag *diag = diag_report(scope->cx->diags, RULE_UNKNOWN_NAME, name.span,
                                    "there is no %s '%s'", what, name.text);
    struct name_list list = {.arena = scope->cx->arena};
    scope_each(scope, strcmp(what, "pipeline") == 0 ? collect_pipeline : collect_name, &list);
    const char *nearest = nearest_name(name.text, list.names.items, list.names.count);
    const struct habit *habit = habit_find(name.text);
    if (habit)
        diag_help(diag, "%s", habit->help);
    else if (nearest)
        diag_suggest(diag, name.span, nearest);
    declare_poison(whole_scope(scope), name);
    return NULL;
}

void scope_each(struct scope *scope, void (*visit)(const struct symbol *, void *), void *data)
{
    for (; scope; scope = scope->outer)
        for (size_t i = 0; i < scope->symbols.count; i++)
            visit(scope->symbols.items[i], data);
}
