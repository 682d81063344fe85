/* SPDX-License-Identifier: MIT */
/*
 * name_walk: resolves the names inside one item, with the scopes of the language.
 */
#include <string.h>

#include "compiler/editor/name_table.h"
#include "base/words.h"

/* The static type of an expression, as far as fields need it. */
struct shape {
    bool known;
    uint32_t of;   /* the struct, in `names`; NAME_NONE: no struct */
    uint32_t dims; /* of an array */
};

struct local {
    const char *text;
    uint32_t named;
};

struct walk {
    struct name_table *table;
    const struct ast_item *item;
    uint32_t source;
    VEC(struct local) locals; /* visible ones, innermost last */
};

static const struct shape unknown_shape = {false, NAME_NONE, 0};
static const struct shape scalar_shape = {true, NAME_NONE, 0};

static struct shape walk_expr(struct walk *w, const struct ast_expr *e, struct shape expected);
static void walk_stmts(struct walk *w, const struct ast_stmt *first);
static void walk_nets(struct walk *w, const struct ast_net *first);

/* ---- names ---- */

static void bind_local(struct walk *w, uint32_t named)
{
    if (named != NAME_NONE)
        vec_push(w->table->cx->arena, &w->locals,
                 (struct local){w->table->names.items[named].text, named});
}

static uint32_t find_name(const struct walk *w, const char *text)
{
    for (size_t i = w->locals.count; i-- > 0;)
        if (w->locals.items[i].text == text) return w->locals.items[i].named;
    return name_table_item(w->table, w->source, text);
}

static uint32_t use_name(struct walk *w, struct ast_name name, uint32_t named, bool is_member)
{
    if (name.text == NULL || name.span.source == 0) return named;
    vec_push(w->table->cx->arena, &w->table->uses,
             (struct name_use){
                 .span = name.span, .text = name.text, .named = named, .is_member = is_member});
    return named;
}

static uint32_t use_found(struct walk *w, struct ast_name name)
{
    return name.text == NULL ? NAME_NONE : use_name(w, name, find_name(w, name.text), false);
}

static void declare_in_scope(struct walk *w, enum name_kind kind, struct ast_name name,
                             const struct ast_type *type, uint32_t dims)
{
    bind_local(w, name_table_declare(w->table, (struct named){.kind = kind,
                                                              .text = name.text,
                                                              .span = name.span,
                                                              .item = w->item,
                                                              .type = type,
                                                              .dims = dims}));
}

static void add_word(struct walk *w, struct span span)
{
    if (span.source != 0) vec_push(w->table->cx->arena, &w->table->words, span);
}

/* ---- types ---- */

static uint32_t walk_exprs(struct walk *w, const struct ast_expr *first)
{
    uint32_t count = 0;
    for (; first != NULL; first = first->next, count++)
        walk_expr(w, first, unknown_shape);
    return count;
}

static void walk_type(struct walk *w, const struct ast_type *type)
{
    if (type == NULL) return;
    if (type->kind == AST_TYPE_NAMED) use_found(w, type->name);
    walk_exprs(w, type->dims);
}

static struct shape shape_of_type(const struct walk *w, const struct ast_type *type, uint32_t dims)
{
    if (type == NULL) return unknown_shape;
    struct shape shape = {true, NAME_NONE, dims};
    for (const struct ast_expr *e = type->dims; e != NULL; e = e->next)
        shape.dims++;
    if (type->kind != AST_TYPE_NAMED || type->name.text == NULL) return shape;
    uint32_t found = find_name(w, type->name.text);
    if (found == NAME_NONE || w->table->names.items[found].kind != NAME_STRUCT)
        return unknown_shape;
    shape.of = found;
    return shape;
}

static struct shape shape_of_named(const struct walk *w, uint32_t named)
{
    if (named == NAME_NONE) return unknown_shape;
    const struct named *n = &w->table->names.items[named];
    return shape_of_type(w, n->type, n->dims);
}

/* ---- fields ---- */

static uint32_t find_field_name(const struct walk *w, struct shape shape, const char *text)
{
    if (!shape.known || shape.of == NAME_NONE) return NAME_NONE;
    const struct named *of = &w->table->names.items[shape.of];
    for (uint32_t i = of->first; i < of->first + of->count; i++)
        if (w->table->names.items[i].text == text) return i;
    return NAME_NONE;
}

static struct shape shape_of_element(const struct walk *w, struct shape of, uint32_t index)
{
    if (!of.known) return unknown_shape;
    if (of.dims > 0) return (struct shape){true, of.of, of.dims - 1};
    if (of.of == NAME_NONE) return scalar_shape;
    const struct named *named = &w->table->names.items[of.of];
    return index < named->count ? shape_of_named(w, named->first + index) : unknown_shape;
}

static void walk_braces(struct walk *w, const struct ast_expr *first, struct shape expected)
{
    uint32_t index = 0;
    for (const struct ast_expr *e = first; e != NULL; e = e->next, index++) {
        bool is_field = e->kind == AST_EXPR_FIELD;
        walk_expr(w, e, is_field ? expected : shape_of_element(w, expected, index));
    }
}

/* ---- expressions ---- */

static struct shape walk_call(struct walk *w, const struct ast_expr *e)
{
    uint32_t named = use_found(w, e->name), index = 0;
    const struct named *of = named != NAME_NONE ? &w->table->names.items[named] : NULL;
    bool is_struct = of != NULL && of->kind == NAME_STRUCT;
    uint32_t first = of != NULL ? of->first : 0, count = of != NULL ? of->count : 0;
    for (const struct ast_expr *a = e->arguments; a != NULL; a = a->next, index++)
        walk_expr(w, a, index < count ? shape_of_named(w, first + index) : unknown_shape);
    if (is_struct) return (struct shape){true, named, 0};
    return shape_of_named(w, named);
}

static struct shape walk_member(struct walk *w, const struct ast_expr *e)
{
    struct shape left = walk_expr(w, e->left, unknown_shape);
    uint32_t field = find_field_name(w, left, e->name.text);
    bool is_other = left.known && left.of == NAME_NONE; /* an element of a vector */
    if (!is_other) use_name(w, e->name, field, true);
    return is_other ? scalar_shape : shape_of_named(w, field);
}

static struct shape walk_subscript(struct walk *w, const struct ast_expr *e)
{
    struct shape left = walk_expr(w, e->left, unknown_shape);
    walk_expr(w, e->right, unknown_shape);
    if (left.dims > 0) left.dims--;
    return left;
}

static struct shape walk_right(struct walk *w, const struct ast_expr *e, struct shape expected)
{
    walk_expr(w, e->left, unknown_shape);
    walk_expr(w, e->third, expected);
    return walk_expr(w, e->right, expected);
}

static struct shape walk_expr(struct walk *w, const struct ast_expr *e, struct shape expected)
{
    if (e == NULL) return unknown_shape;
    walk_type(w, e->type);
    switch (e->kind) {
    case AST_EXPR_NAME: return shape_of_named(w, use_found(w, e->name));
    case AST_EXPR_INDEX: return walk_subscript(w, e);
    case AST_EXPR_MEMBER: return walk_member(w, e);
    case AST_EXPR_CALL: return walk_call(w, e);
    case AST_EXPR_CONDITIONAL:
    case AST_EXPR_COMMA: return walk_right(w, e, expected);
    case AST_EXPR_ASSIGN: {
        struct shape left = walk_expr(w, e->left, unknown_shape);
        walk_expr(w, e->right, left);
        return left;
    }
    case AST_EXPR_BRACES: walk_braces(w, e->arguments, expected); return expected;
    case AST_EXPR_FIELD: {
        uint32_t field = use_name(w, e->name, find_field_name(w, expected, e->name.text), true);
        return walk_expr(w, e->left, shape_of_named(w, field));
    }
    default:
        walk_expr(w, e->left, unknown_shape);
        walk_expr(w, e->right, unknown_shape);
        walk_expr(w, e->third, unknown_shape);
        walk_exprs(w, e->arguments);
        return scalar_shape;
    }
}

/* A word of the language is the value of these. */
static bool has_word_value(const char *attribute)
{
    static const char *const with_words[] = {"border", "policy"};
    return WORD_INDEX(attribute, with_words) < sizeof with_words / sizeof *with_words;
}

static void walk_attributes(struct walk *w, const struct ast_attribute *first)
{
    for (const struct ast_attribute *a = first; a != NULL; a = a->next) {
        add_word(w, a->name.span);
        if (has_word_value(a->name.text) && a->value != NULL && a->value->kind == AST_EXPR_NAME)
            add_word(w, a->value->span);
        else
            walk_expr(w, a->value, unknown_shape);
        use_found(w, a->of);
    }
}

static void walk_declarators(struct walk *w, enum name_kind kind, const struct ast_type *type,
                             const struct ast_declarator *first)
{
    walk_type(w, type);
    for (const struct ast_declarator *d = first; d != NULL; d = d->next) {
        uint32_t dims = walk_exprs(w, d->dims);
        walk_expr(w, d->init, shape_of_type(w, type, dims));
        declare_in_scope(w, kind, d->name, type, dims);
    }
}

/* ---- bodies ---- */

static void walk_child(struct walk *w, const struct ast_child *child)
{
    if (child->condition != NULL) {
        walk_expr(w, child->condition, unknown_shape);
        walk_child(w, child->yes);
        walk_child(w, child->no);
        return;
    }
    use_found(w, child->kernel);
    walk_exprs(w, child->type_arguments);
}

/* The words are `groups`, `from`, `with`, `after`; numbers, events, `group` and `parent` follow them. */
static void walk_launch(struct walk *w, const struct ast_launch *launch)
{
    if (launch == NULL) return;
    walk_child(w, launch->child);
    walk_exprs(w, launch->arguments);
    const struct ast_clause *numbers[] = {&launch->groups, &launch->from};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i]->word.text != NULL) add_word(w, numbers[i]->word.span);
        walk_exprs(w, numbers[i]->arguments);
    }
    add_word(w, launch->order.word.span);
    for (const struct ast_expr *e = launch->order.arguments; e != NULL; e = e->next) {
        bool is_word = e->kind == AST_EXPR_NAME && find_name(w, e->name.text) == NAME_NONE;
        if (is_word)
            add_word(w, e->span);
        else
            walk_expr(w, e, unknown_shape);
    }
}

static void walk_stmt(struct walk *w, const struct ast_stmt *s)
{
    size_t mark = w->locals.count;
    bool is_scope = s->kind != AST_STMT_DECLARE && s->kind != AST_STMT_LAUNCH;
    enum name_kind kind = s->launch != NULL           ? NAME_EVENT
                          : s->qualifier == AST_CONST ? NAME_CONSTANT
                                                      : NAME_VARIABLE;
    walk_launch(w, s->launch);
    walk_declarators(w, kind, s->type, s->declarators);
    walk_stmts(w, s->init);
    struct shape target = walk_expr(w, s->target, unknown_shape);
    walk_expr(w, s->expr, s->kind == AST_STMT_RETURN ? shape_of_type(w, w->item->type, 0) : target);
    walk_expr(w, s->step, unknown_shape);
    walk_attributes(w, s->attributes);
    walk_stmts(w, s->body);
    walk_stmts(w, s->otherwise);
    if (is_scope) w->locals.count = mark;
}

static void walk_stmts(struct walk *w, const struct ast_stmt *first)
{
    for (const struct ast_stmt *s = first; s != NULL; s = s->next)
        walk_stmt(w, s);
}

/* ---- pipelines ---- */

static void walk_node(struct walk *w, const struct ast_node *n)
{
    if (n->label.text != NULL)
        name_table_declare(w->table, (struct named){.kind = NAME_LABEL,
                                                    .text = n->label.text,
                                                    .span = n->label.span,
                                                    .item = w->item});
    use_found(w, n->name);
    walk_exprs(w, n->type_arguments);
    walk_exprs(w, n->inputs);
    walk_exprs(w, n->outputs);
    walk_exprs(w, n->arguments);
    walk_exprs(w, n->subscripts);
    walk_attributes(w, n->attributes);
}

static void walk_buffers(struct walk *w, const struct ast_net *net)
{
    for (const struct ast_buffer *b = net->buffers; b != NULL; b = b->next) {
        uint32_t dims = walk_exprs(w, b->dims);
        declare_in_scope(w, NAME_BUFFER, b->name, net->type, dims);
        walk_attributes(w, b->attributes);
    }
}

static void walk_net(struct walk *w, const struct ast_net *n)
{
    size_t mark = w->locals.count;
    bool is_scope = n->kind == AST_NET_BLOCK || n->kind == AST_NET_FOR || n->kind == AST_NET_IF;
    enum name_kind kind = n->kind == AST_NET_FOR ? NAME_VARIABLE : NAME_CONSTANT;
    walk_declarators(w, kind, n->type, n->declarators);
    walk_buffers(w, n);
    walk_expr(w, n->init_expr, unknown_shape);
    walk_expr(w, n->condition, unknown_shape);
    walk_expr(w, n->step, unknown_shape);
    for (const struct ast_node *node = n->chain; node != NULL; node = node->next)
        walk_node(w, node);
    walk_nets(w, n->body);
    walk_nets(w, n->otherwise);
    if (is_scope) w->locals.count = mark;
}

static void walk_nets(struct walk *w, const struct ast_net *first)
{
    for (const struct ast_net *n = first; n != NULL; n = n->next)
        walk_net(w, n);
}

/* ---- tests ---- */

/* Ports and arguments of the subject are set and read by name. */
static void walk_checks(struct walk *w, const struct ast_item *item)
{
    if (item->subject == NULL) return;
    uint32_t named = use_found(w, item->subject->name);
    walk_exprs(w, item->subject->type_arguments);
    walk_exprs(w, item->subject->inputs);
    if (named != NAME_NONE) {
        const struct named *subject = &w->table->names.items[named];
        for (uint32_t i = subject->first; i < subject->first + subject->count; i++)
            bind_local(w, i);
    }
    for (const struct ast_check *c = item->checks; c != NULL; c = c->next) {
        struct shape shape = unknown_shape;
        if (c->kind == AST_CHECK_SET) shape = shape_of_named(w, use_found(w, c->name));
        if (shape.known) shape.dims++; /* a list of packets */
        walk_exprs(w, c->dims);
        struct shape value = walk_expr(w, c->value, shape);
        if (value.known) value.dims++;
        walk_expr(w, c->other, value);
        if (c->kind != AST_CHECK_SET) add_word(w, c->name.span);
        add_word(w, c->tolerance.span);
        add_word(w, c->tolerance_unit.span);
        walk_expr(w, c->tolerance_value, unknown_shape);
    }
}

/* ---- items ---- */

static void walk_ports(struct walk *w, const struct ast_signature *s)
{
    for (const struct ast_port *p = s->ports; p != NULL; p = p->next) {
        walk_type(w, p->type);
        walk_exprs(w, p->dims);
        walk_attributes(w, p->attributes);
    }
}

/* Fields of one declaration share their type. */
static void walk_fields(struct walk *w, const struct ast_field *first)
{
    const struct ast_type *last = NULL;
    for (const struct ast_field *f = first; f != NULL; f = f->next) {
        if (f->type != last) walk_type(w, f->type);
        last = f->type;
        walk_exprs(w, f->dims);
    }
}

static void walk_params(struct walk *w, const struct ast_param *first)
{
    for (const struct ast_param *p = first; p != NULL; p = p->next) {
        walk_type(w, p->type);
        uint32_t dims = walk_exprs(w, p->dims);
        walk_expr(w, p->value, shape_of_type(w, p->type, dims));
    }
}

static void walk_constant(struct walk *w, const struct ast_item *item, const struct named *named)
{
    if (item->declarators->name.span.begin == named->span.begin) walk_type(w, item->type);
    for (const struct ast_declarator *d = item->declarators; d != NULL; d = d->next) {
        if (d->name.span.begin != named->span.begin) continue;
        walk_exprs(w, d->dims);
        walk_expr(w, d->init, shape_of_type(w, item->type, named->dims));
    }
}

void name_walk_item(struct name_table *table, const struct ast_item *item, uint32_t index)
{
    struct named named = table->names.items[index];
    struct walk w = {.table = table, .item = item, .source = named.span.source};
    if (item->kind == AST_ITEM_CONST) {
        walk_constant(&w, item, &named);
        return;
    }
    for (uint32_t i = named.first; item->kind != AST_ITEM_STRUCT && i < named.first + named.count;
         i++)
        bind_local(&w, i);
    walk_type(&w, item->type);
    walk_fields(&w, item->fields);
    walk_ports(&w, &item->signature);
    walk_params(&w, item->kind == AST_ITEM_FN ? item->params : item->signature.params);
    walk_attributes(&w, item->signature.attributes);
    walk_checks(&w, item);
    if (item->fallback != NULL) walk_node(&w, item->fallback);
    walk_stmts(&w, item->body);
    walk_nets(&w, item->net);
}
