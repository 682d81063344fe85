/* SPDX-License-Identifier: MIT */
/*
 * Unused things, and names that hide others.
 *
 * Names are resolved as sema does it, innermost first; the program is right, so every name that is
 * not found belongs to the library or to the built-in functions.  A name maps to its innermost
 * symbol, which remembers the one that it hides: a look-up costs the same however much is declared.
 */
#include <assert.h>
#include <string.h>

#include "compiler/lint/lint_internal.h"

static const enum rule rules[] = {RULE_UNUSED_VARIABLE,  RULE_UNUSED_PARAMETER, RULE_UNUSED_PORT,
                                  RULE_UNUSED_ITEM,      RULE_UNUSED_IMPORT,    RULE_SHADOWED_NAME,
                                  RULE_UNUSED_ASSIGNMENT};

enum kind { ITEM, CONSTANT_ITEM, VARIABLE, PARAMETER, COMPILE_TIME_PARAMETER, IN_PORT, OTHER };

struct symbol {
    struct ast_name name;
    enum kind kind;
    const char *noun; /* "the variable" */
    uint32_t outer;   /* index + 1 of the symbol that it hides; 0: none */
    bool read, written;
};

struct binding { /* of a name, in the table */
    const char *text;
    uint32_t symbol; /* index + 1 of the innermost; 0: none now */
};

struct names {
    struct compile *cx;
    struct arena *arena;
    const struct ast_program *program;
    VEC(struct symbol) symbols;
    struct binding *table;
    size_t capacity, count; /* capacity: a power of two */
    bool *source_read;      /* by source id: something of it is mentioned in the linted file */
    bool quiet;             /* the visited tree is not of the linted file */
};

/* ---- the table ---- */

static size_t symbol_slot(const struct binding *table, size_t capacity, const char *text)
{
    size_t slot = ((uintptr_t)text >> 3) * 11400714819323198485u & (capacity - 1);
    while (table[slot].text != NULL && table[slot].text != text)
        slot = (slot + 1) & (capacity - 1);
    return slot;
}

static void grow_linted_names(struct names *names)
{
    size_t capacity = names->capacity ? names->capacity * 2 : 256;
    struct binding *table = ARENA_ARRAY(names->arena, struct binding, capacity);
    for (size_t i = 0; i < names->capacity; i++)
        if (names->table[i].text != NULL)
            table[symbol_slot(table, capacity, names->table[i].text)] = names->table[i];
    names->table = table;
    names->capacity = capacity;
}

static struct binding *bind_linted_name(struct names *names, const char *text)
{
    if (names->count * 2 >= names->capacity) grow_linted_names(names);
    struct binding *binding = &names->table[symbol_slot(names->table, names->capacity, text)];
    if (binding->text == NULL) names->count++;
    binding->text = text;
    return binding;
}

static struct symbol *find_symbol(struct names *names, const char *text)
{
    if (text == NULL || names->capacity == 0) return NULL;
    uint32_t index = names->table[symbol_slot(names->table, names->capacity, text)].symbol;
    return index ? &names->symbols.items[index - 1] : NULL;
}

/* ---- declaring ---- */

static bool is_item_symbol(const struct symbol *s)
{
    return s->kind == ITEM || s->kind == CONSTANT_ITEM;
}

/* Kernels and functions may have the names of values: their uses look different. */
static void check_hidden(struct names *names, const struct symbol *inner,
                         const struct symbol *outer)
{
    assert(outer != NULL);
    if (inner->kind == OTHER || outer->kind == OTHER || outer->kind == ITEM) return;
    if (inner->name.span.source != LINTED_SOURCE) return;
    struct diag *d = diag_report(names->cx->diags, RULE_SHADOWED_NAME, inner->name.span,
                                 "%s '%s' hides another one", inner->noun, inner->name.text);
    diag_label(d, outer->name.span, "%s '%s' is out of reach here", outer->noun, outer->name.text);
}

static void declare_name(struct names *names, struct ast_name name, enum kind kind,
                         const char *noun)
{
    struct symbol symbol = {.name = name, .kind = kind, .noun = noun};
    if (name.text == NULL) return;
    struct binding *binding = bind_linted_name(names, name.text);
    symbol.outer = binding->symbol;
    if (!is_item_symbol(&symbol) && symbol.outer && !names->quiet)
        check_hidden(names, &symbol, &names->symbols.items[symbol.outer - 1]);
    vec_push(names->arena, &names->symbols, symbol);
    binding->symbol = (uint32_t)names->symbols.count;
}

static void report_variable(struct names *names, const struct symbol *s)
{
    if (s->written) {
        struct diag *d = diag_report(names->cx->diags, RULE_UNUSED_ASSIGNMENT, s->name.span,
                                     "%s '%s' is assigned and never read", s->noun, s->name.text);
        diag_help(d, "remove it, or use its value");
    } else {
        diag_report(names->cx->diags, RULE_UNUSED_VARIABLE, s->name.span, "%s '%s' is never used",
                    s->noun, s->name.text);
    }
}

static void report_unused(struct names *names, const struct symbol *s)
{
    struct diags *diags = names->cx->diags;
    if (s->read || s->name.span.source != LINTED_SOURCE) return;
    if (s->kind == VARIABLE) report_variable(names, s);
    if (s->kind == PARAMETER)
        diag_report(diags, RULE_UNUSED_PARAMETER, s->name.span, "%s '%s' is never used", s->noun,
                    s->name.text);
    if (s->kind == COMPILE_TIME_PARAMETER) {
        struct diag *d = diag_report(diags, RULE_UNUSED_PARAMETER, s->name.span,
                                     "%s '%s' is never used", s->noun, s->name.text);
        diag_note(d, "each value of it makes another copy of the same code");
    }
    if (s->kind == IN_PORT)
        diag_report(diags, RULE_UNUSED_PORT, s->name.span,
                    "the packets of the in-port '%s' are consumed unseen", s->name.text);
}

/* Ends the scope of the names declared since `first`, and reports the unused ones. */
static void leave_scope(struct names *names, size_t first)
{
    for (size_t i = names->symbols.count; i-- > first;) {
        const struct symbol *s = &names->symbols.items[i];
        bind_linted_name(names, s->name.text)->symbol = s->outer;
        if (!names->quiet) report_unused(names, s);
    }
    names->symbols.count = first;
}

/* ---- using ---- */

static void read_symbol(struct names *names, struct symbol *s)
{
    if (s == NULL) return;
    s->read = true;
    if (!names->quiet) names->source_read[s->name.span.source] = true;
}

static void read_name_text(struct names *names, const char *text)
{
    read_symbol(names, find_symbol(names, text));
}

static void read_expression(struct names *names, const struct ast_expr *e, bool value_used);

static void read_expressions(struct names *names, const struct ast_expr *first)
{
    for (const struct ast_expr *e = first; e != NULL; e = e->next)
        read_expression(names, e, true);
}

static void read_type(struct names *names, const struct ast_type *type)
{
    if (type == NULL) return;
    if (type->kind == AST_TYPE_NAMED) read_name_text(names, type->name.text);
    read_expressions(names, type->dims);
}

/* The name that is written through indices and members, or NULL; the indices are read. */
static void visit_target(struct names *names, const struct ast_expr *e, bool read)
{
    for (; e != NULL && (e->kind == AST_EXPR_INDEX || e->kind == AST_EXPR_MEMBER); e = e->left)
        if (e->kind == AST_EXPR_INDEX) read_expression(names, e->right, true);
    if (e == NULL) return;
    struct symbol *s = e->kind == AST_EXPR_NAME ? find_symbol(names, e->name.text) : NULL;
    if (s == NULL) {
        read_expression(names, e, true);
        return;
    }
    s->written = true;
    if (read) read_symbol(names, s);
}

static void read_expression(struct names *names, const struct ast_expr *e, bool value_used)
{
    if (e == NULL) return;
    switch (e->kind) {
    case AST_EXPR_NAME: read_name_text(names, e->name.text); return;
    case AST_EXPR_ASSIGN:
        visit_target(names, e->left, value_used);
        read_expression(names, e->right, true);
        return;
    case AST_EXPR_INCREMENT: visit_target(names, e->left, value_used); return;
    case AST_EXPR_COMMA:
        read_expression(names, e->left, false);
        read_expression(names, e->right, value_used);
        return;
    case AST_EXPR_CALL: {
        static const char *const endings[] = {"_f32", "_f64"};
        read_name_text(names, e->name.text);
        for (size_t i = 0; i < 2 && e->name.text != NULL; i++) {
            const char *full = arena_printf(names->arena, "%s%s", e->name.text, endings[i]);
            read_name_text(names, intern_string(names->cx->names, full));
        }
        break;
    }
    default: break;
    }
    read_type(names, e->type);
    read_expression(names, e->left, true);
    read_expression(names, e->right, true);
    read_expression(names, e->third, true);
    read_expressions(names, e->arguments);
}

static void read_attributes(struct names *names, const struct ast_attribute *first)
{
    for (const struct ast_attribute *a = first; a != NULL; a = a->next) {
        read_expression(names, a->value, true);
        read_name_text(names, a->of.text);
    }
}

/* ---- bodies ---- */

static const char *variable_noun(enum ast_qualifier qualifier)
{
    switch (qualifier) {
    case AST_STATE: return "the state";
    case AST_TABLE: return "the table";
    case AST_CONST: return "the constant";
    case AST_LOCAL: return "the shared variable";
    case AST_PLAIN: break;
    }
    return "the variable";
}

static void declare_declarators(struct names *names, const struct ast_type *type,
                                const struct ast_declarator *first, enum kind kind,
                                const char *noun)
{
    read_type(names, type);
    for (const struct ast_declarator *d = first; d != NULL; d = d->next) {
        read_expressions(names, d->dims);
        read_expression(names, d->init, true);
        declare_name(names, d->name, kind, noun);
    }
}

static void read_child(struct names *names, const struct ast_child *child)
{
    if (child->condition != NULL) {
        read_expression(names, child->condition, true);
        read_child(names, child->yes);
        read_child(names, child->no);
        return;
    }
    read_name_text(names, child->kernel.text);
    read_expressions(names, child->type_arguments);
}

static void visit_stmts(struct names *names, const struct ast_stmt *first);

static void visit_stmt(struct names *names, const struct ast_stmt *s)
{
    size_t first = names->symbols.count;
    bool is_event = s->launch != NULL && s->launch->event.text != NULL;
    bool is_declaration = s->kind == AST_STMT_DECLARE || is_event;
    if (s->launch != NULL) {
        read_child(names, s->launch->child);
        read_expressions(names, s->launch->arguments);
        read_expressions(names, s->launch->groups.arguments);
        read_expressions(names, s->launch->from.arguments);
        read_expressions(names, s->launch->order.arguments);
        /* The child sees the windows of all in-ports. */
        for (size_t i = 0; i < names->symbols.count; i++)
            if (names->symbols.items[i].kind == IN_PORT) names->symbols.items[i].read = true;
    }
    if (is_event)
        declare_declarators(names, s->type, s->declarators, VARIABLE, "event");
    else if (is_declaration)
        declare_declarators(names, s->type, s->declarators, VARIABLE, variable_noun(s->qualifier));
    visit_stmts(names, s->init);
    if (s->target != NULL) visit_target(names, s->target, false);
    read_expression(names, s->expr, s->kind != AST_STMT_EXPR);
    read_attributes(names, s->attributes);
    visit_stmts(names, s->body);
    visit_stmts(names, s->otherwise);
    read_expression(names, s->step, false);
    if (!is_declaration && s->kind != AST_STMT_CASE && s->kind != AST_STMT_DEFAULT)
        leave_scope(names, first);
}

/* Declarations stay until the block, which holds the list, is left. */
static void visit_stmts(struct names *names, const struct ast_stmt *first)
{
    for (const struct ast_stmt *s = first; s != NULL; s = s->next)
        visit_stmt(names, s);
}

/* ---- pipelines ---- */

static void visit_chain(struct names *names, const struct ast_node *first)
{
    for (const struct ast_node *n = first; n != NULL; n = n->next) {
        read_name_text(names, n->name.text);
        read_expressions(names, n->type_arguments);
        read_expressions(names, n->inputs);
        read_expressions(names, n->outputs);
        read_expressions(names, n->arguments);
        read_expressions(names, n->subscripts);
        read_attributes(names, n->attributes);
    }
}

static void visit_net(struct names *names, const struct ast_net *n);

static void read_nets(struct names *names, const struct ast_net *first)
{
    for (const struct ast_net *n = first; n != NULL; n = n->next)
        visit_net(names, n);
}

static void visit_net(struct names *names, const struct ast_net *n)
{
    size_t first = names->symbols.count;
    bool is_const = n->kind == AST_NET_CONST;
    declare_declarators(names, n->type, n->declarators, is_const ? VARIABLE : OTHER,
                        "the constant");
    for (const struct ast_buffer *b = n->buffers; b != NULL; b = b->next) {
        read_expressions(names, b->dims);
        read_attributes(names, b->attributes);
        declare_name(names, b->name, OTHER, "the buffer");
    }
    read_expression(names, n->init_expr, false);
    read_expression(names, n->condition, true);
    visit_chain(names, n->chain);
    read_nets(names, n->body);
    read_nets(names, n->otherwise);
    read_expression(names, n->step, false);
    if (!is_const && n->kind != AST_NET_BUFFER) leave_scope(names, first);
}

/* ---- items ---- */

static void visit_params(struct names *names, const struct ast_param *first, const char *noun)
{
    for (const struct ast_param *p = first; p != NULL; p = p->next) {
        read_type(names, p->type);
        read_expressions(names, p->dims);
        read_expression(names, p->value, true);
        declare_name(names, p->name, PARAMETER, noun);
    }
}

/* `consumes`: a firing removes the packets of its in-ports, whether it reads them or not. */
static void visit_signature(struct names *names, const struct ast_signature *s, bool consumes)
{
    for (const struct ast_type_param *p = s->type_params; p != NULL; p = p->next)
        declare_name(names, p->name, COMPILE_TIME_PARAMETER, "the parameter");
    for (const struct ast_port *p = s->ports; p != NULL; p = p->next) {
        read_type(names, p->type);
        read_expressions(names, p->dims);
        declare_name(names, p->name, consumes && !p->is_out ? IN_PORT : OTHER, "the port");
    }
    visit_params(names, s->params, "the argument");
    for (const struct ast_port *p = s->ports; p != NULL; p = p->next)
        read_attributes(names, p->attributes);
    read_attributes(names, s->attributes);
}

static void visit_checks(struct names *names, const struct ast_check *first)
{
    for (const struct ast_check *c = first; c != NULL; c = c->next) {
        read_expressions(names, c->dims);
        read_expression(names, c->value, true);
        read_expression(names, c->other, true);
        read_expression(names, c->tolerance_value, true);
    }
}

/* The fallback of a builtin kernel is used, also where the kernel itself has no body to look at. */
static void visit_fallback(struct names *names, const struct ast_node *fallback, bool quiet)
{
    bool before = names->quiet;
    names->quiet = quiet;
    visit_chain(names, fallback);
    names->quiet = before;
}

/* A kernel without a body has ports and arguments for others to use. */
static void visit_item(struct names *names, const struct ast_item *item)
{
    size_t first = names->symbols.count;
    bool quiet = names->quiet;
    if (item->kind == AST_ITEM_KERNEL && item->body == NULL) names->quiet = true;
    read_type(names, item->type);
    for (const struct ast_declarator *d = item->declarators; d != NULL; d = d->next) {
        read_expressions(names, d->dims);
        read_expression(names, d->init, true);
    }
    for (const struct ast_field *f = item->fields; f != NULL; f = f->next) {
        read_type(names, f->type);
        read_expressions(names, f->dims);
    }
    visit_params(names, item->params, "the parameter");
    visit_signature(names, &item->signature,
                    item->kind == AST_ITEM_KERNEL && item->kernel_kind != AST_KERNEL_CHILD);
    visit_stmts(names, item->body);
    read_nets(names, item->net);
    visit_fallback(names, item->fallback, quiet);
    visit_chain(names, item->subject);
    visit_checks(names, item->checks);
    leave_scope(names, first);
    names->quiet = quiet;
}

static void declare_linted_item(struct names *names, const struct ast_item *item)
{
    switch (item->kind) {
    case AST_ITEM_CONST:
        for (const struct ast_declarator *d = item->declarators; d != NULL; d = d->next)
            declare_name(names, d->name, CONSTANT_ITEM, "the constant");
        break;
    case AST_ITEM_STRUCT: declare_name(names, item->name, ITEM, "the struct"); break;
    case AST_ITEM_FN: declare_name(names, item->name, ITEM, "the function"); break;
    case AST_ITEM_KERNEL: declare_name(names, item->signature.name, ITEM, "the kernel"); break;
    case AST_ITEM_PIPELINE: declare_name(names, item->signature.name, OTHER, "the pipeline"); break;
    case AST_ITEM_IMPORT:
    case AST_ITEM_TEST: break;
    }
}

/* ---- imports ---- */

static bool import_source(const struct names *names, const struct ast_file *from,
                          const struct ast_item *item, uint32_t *id)
{
    const struct compile_options *options = &names->cx->options;
    return item->kind == AST_ITEM_IMPORT &&
           source_import(names->cx->sources, from->source, item->path, options->import_folders,
                         options->import_folder_count, id) == SOURCE_OK;
}

/* Whether the linted file uses a name of this file, or of a file that this one imports. */
static bool is_file_used(const struct names *names, uint32_t source, bool *seen)
{
    uint32_t id;
    if (names->source_read[source]) return true;
    seen[source] = true;
    const struct ast_file *file = names->program->files;
    while (file != NULL && file->source != source)
        file = file->next;
    for (const struct ast_item *i = file != NULL ? file->items : NULL; i != NULL; i = i->next)
        if (import_source(names, file, i, &id) && !seen[id] && is_file_used(names, id, seen))
            return true;
    return false;
}

static void check_imports(const struct names *names)
{
    const struct ast_file *file = names->program->files;
    size_t count = source_count(names->cx->sources) + 1;
    bool *seen = ARENA_ARRAY(names->arena, bool, count);
    uint32_t id;
    for (const struct ast_item *item = file->items; item != NULL; item = item->next) {
        if (!import_source(names, file, item, &id)) continue;
        memset(seen, 0, count * sizeof *seen);
        seen[file->source] = true;
        if (is_file_used(names, id, seen)) continue;
        diag_report(names->cx->diags, RULE_UNUSED_IMPORT, item->span,
                    "nothing of '%s' is used in this file", item->path);
    }
}

/* ---- the family ---- */

/* Other files may use the items of a file, so only a program can have unused ones.  A program is a
 * file whose pipeline is `main`, or that has one pipeline and neither tests nor `///` comments. */
static bool is_program(const struct ast_file *file)
{
    size_t pipelines = 0, others = 0;
    assert(file != NULL);
    for (const struct ast_item *item = file->items; item != NULL; item = item->next) {
        bool is_pipeline = item->kind == AST_ITEM_PIPELINE;
        if (is_pipeline && strcmp(item->signature.name.text, "main") == 0) return true;
        pipelines += is_pipeline;
        others += item->kind == AST_ITEM_TEST || item->documentation != NULL;
    }
    return pipelines == 1 && others == 0;
}

/* Declares the items of the library, or of the other files.  The scope of the library is outside of
 * that of programs. */
static void declare_files(struct names *names, bool of_library)
{
    for (const struct ast_file *file = names->program->files; file != NULL; file = file->next) {
        if (source_is_library(names->cx->sources, file->source) != of_library) continue;
        for (const struct ast_item *item = file->items; item != NULL; item = item->next)
            declare_linted_item(names, item);
    }
}

void lint_names(struct compile *cx, const struct ast_program *program)
{
    if (!lint_wants(cx, rules, sizeof rules / sizeof rules[0])) return;
    struct arena *arena = arena_create();
    struct names names = {.cx = cx, .arena = arena, .program = program};
    names.source_read = ARENA_ARRAY(arena, bool, source_count(cx->sources) + 1);
    grow_linted_names(&names);
    declare_files(&names, true);
    declare_files(&names, false);
    for (const struct ast_file *file = program->files; file != NULL; file = file->next) {
        if (source_is_library(cx->sources, file->source)) continue; /* it sees only itself */
        names.quiet = file != program->files;
        for (const struct ast_item *item = file->items; item != NULL; item = item->next)
            visit_item(&names, item);
    }
    names.quiet = false;
    if (is_program(names.program->files)) {
        for (size_t i = 0; i < names.symbols.count; i++) {
            const struct symbol *s = &names.symbols.items[i];
            if (!is_item_symbol(s) || s->read || s->name.span.source != LINTED_SOURCE) continue;
            diag_report(names.cx->diags, RULE_UNUSED_ITEM, s->name.span, "%s '%s' is never used",
                        s->noun, s->name.text);
        }
    }
    check_imports(&names);
    arena_destroy(arena);
}
