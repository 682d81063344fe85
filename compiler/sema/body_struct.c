/* SPDX-License-Identifier: MIT */
/* Structs: their declarations, members, and the construction of structs and vectors. */
#include <inttypes.h>
#include <string.h>

#include "compiler/sema/body_internal.h"
#include "base/nearest.h"

enum { FIELDS_MAX = 4096 };

/* ---- declarations ---- */

static bool check_field_name(struct body *b, const struct ast_field *field,
                             const struct type_field *earlier, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (earlier[i].name != field->name.text) continue;
        struct diag *diag = body_report(b, RULE_DUPLICATE_NAME, field->name.span,
                                        "the struct has a field '%s' already", field->name.text);
        diag_label(diag, earlier[i].span, "declared here");
        return false;
    }
    return true;
}

static bool build_fields(struct body *b, const struct ast_item *item, struct type_field *fields)
{
    bool good = true;
    uint32_t count = 0;
    for (const struct ast_field *field = item->fields; field; field = field->next, count++) {
        const char *what = arena_printf(b->arena, "the field '%s'", field->name.text);
        const struct type *type = body_value_type(b, field->type, field->dims, what);
        good = check_field_name(b, field, fields, count) && type && good;
        fields[count] =
            (struct type_field){.name = field->name.text, .span = field->name.span, .type = type};
    }
    return good;
}

static const struct type *declared_struct(struct body *b, const struct ast_item *item)
{
    uint32_t count = 0;
    for (const struct ast_field *field = item->fields; field; field = field->next)
        count++;
    if (item->fields_missing) return NULL; /* already reported */
    if (count == 0) {
        body_report(b, RULE_TYPE_MISMATCH, item->name.span, "the struct '%s' has no fields",
                    item->name.text);
        return NULL;
    }
    if (count > FIELDS_MAX) {
        body_report(b, RULE_TOO_LARGE, item->name.span, "a struct has at most %d fields",
                    FIELDS_MAX);
        return NULL;
    }
    struct type_field *fields = ARENA_ARRAY(b->arena, struct type_field, count);
    if (!build_fields(b, item, fields)) return NULL;
    const struct type *type =
        type_struct(b->sema->types, item->name.text, item->name.span, fields, count);
    if (type && type->width_bytes <= SEMA_MAX_NODE_BYTES) return type;
    body_report(b, RULE_TOO_LARGE, item->name.span, "the struct '%s' takes more than 1 GiB",
                item->name.text);
    return NULL;
}

const struct type *sema_struct(struct sema *sema, struct symbol *symbol)
{
    struct body b = body_begin(sema, sema->globals, PLACE_CONSTANT);
    if (symbol->kind != SYMBOL_STRUCT || symbol->type) return symbol->type;
    if (body_enter(&b, symbol->span)) {
        symbol->evaluating = true;
        symbol->type = declared_struct(&b, symbol->item);
        symbol->evaluating = false;
        body_leave(&b);
    }
    if (!symbol->type) symbol->kind = SYMBOL_POISON;
    return symbol->type;
}

const struct type *body_symbol_type(struct body *b, struct symbol *symbol, struct span use)
{
    const struct type *type = NULL;
    if (symbol->kind == SYMBOL_STRUCT && symbol->evaluating) {
        struct diag *diag = body_report(b, RULE_RECURSION, use,
                                        "the struct '%s' would contain itself", symbol->name);
        diag_label(diag, symbol->span, "declared here");
        return NULL;
    }
    type = symbol->kind == SYMBOL_STRUCT ? sema_struct(b->sema, symbol) : symbol->type;
    if (!type) b->failed = true;
    return type;
}

/* ---- members ---- */

static void report_no_member(struct body *b, const struct type *type, struct ast_name name)
{
    const char **names = ARENA_ARRAY(b->arena, const char *, type->field_count);
    for (uint32_t i = 0; i < type->field_count; i++)
        names[i] = type->fields[i].name;
    struct diag *diag = body_report(b, RULE_UNKNOWN_NAME, name.span, "'%s' has no field '%s'",
                                    type->name, name.text);
    diag_label(diag, type->span, "'%s' is declared here", type->name);
    const char *nearest = nearest_name(name.text, names, type->field_count);
    if (!nearest) return;
    diag_help(diag, "did you mean '.%s'?", nearest);
    diag_fix(diag, name.span, "%s", nearest);
}

/* The index of a field, or field_count. */
static uint32_t find_struct_field(const struct type *type, const char *name)
{
    uint32_t i = 0;
    while (i < type->field_count && type->fields[i].name != name)
        i++;
    return i;
}

static struct kx *vector_member(struct body *b, struct kx *left, struct ast_name name,
                                struct span span)
{
    static const char letters[] = "xyzw";
    uint64_t length = left->type->length;
    const char *letter = name.text[0] && !name.text[1] ? strchr(letters, name.text[0]) : NULL;
    if (!letter || length > 4 || (uint64_t)(letter - letters) >= length) {
        struct diag *diag = body_report(b, RULE_UNKNOWN_NAME, name.span, "%s has no element '.%s'",
                                        body_type_text(b, left->type), name.text);
        if (length > 4)
            diag_help(diag, "its elements are [0] to [%" PRIu64 "]", length - 1);
        else
            diag_help(diag, "its elements are .x to .%c, or [0] to [%" PRIu64 "]",
                      letters[length - 1], length - 1);
        return NULL;
    }
    struct kx *kx = body_kx(b, KX_INDEX, left->type->element, span);
    kx->left = left;
    kx->right =
        body_constant(b, name.span, arith_integer(SCALAR_I32, (uint64_t)(letter - letters)));
    return body_fold(b, kx);
}

struct kx *body_member_of(struct body *b, struct kx *left, struct ast_name name, struct span span)
{
    if (left->type->kind == TYPE_VECTOR) return vector_member(b, left, name, span);
    if (left->type->kind != TYPE_STRUCT) {
        struct diag *diag =
            body_report(b, RULE_TYPE_MISMATCH, span, "%s has no fields: '.%s' wants a struct",
                        body_type_text(b, left->type), name.text);
        if (left->type->kind == TYPE_ARRAY && type_base(left->type)->kind == TYPE_STRUCT)
            diag_help(diag, "take one element of the array first: [0].%s", name.text);
        return NULL;
    }
    uint32_t member = find_struct_field(left->type, name.text);
    if (member == left->type->field_count) {
        report_no_member(b, left->type, name);
        return NULL;
    }
    struct kx *kx = body_kx(b, KX_MEMBER, left->type->fields[member].type, span);
    kx->left = left;
    kx->member = member;
    return body_fold(b, kx);
}

/* ---- construction: pixel(r, g, b), f32x4(a, b, c, d) ---- */

static uint32_t count_list(const struct ast_expr *list)
{
    uint32_t count = 0;
    for (; list; list = list->next)
        count++;
    return count;
}

static struct kx *new_aggregate(struct body *b, const struct type *type, uint32_t count,
                                struct span span)
{
    struct kx *kx = body_kx(b, KX_AGGREGATE, type, span);
    kx->arguments = ARENA_ARRAY(b->arena, struct kx *, count);
    return kx;
}

static const char *field_text(struct body *b, const struct type *type, uint32_t field)
{
    return arena_printf(b->arena, "field '%s' of '%s'", type->fields[field].name, type->name);
}

static struct kx *construct_struct(struct body *b, const struct type *type,
                                   const struct ast_expr *arguments, struct span span)
{
    uint32_t given = count_list(arguments);
    bool failed = false;
    if (given != type->field_count) {
        struct diag *diag = body_report(
            b, RULE_WRONG_ARGUMENT_COUNT, span,
            "'%s' has %" PRIu32 " field%s, got %" PRIu32 " value%s", type->name, type->field_count,
            type->field_count == 1 ? "" : "s", given, given == 1 ? "" : "s");
        diag_label(diag, type->span, "declared here");
        return NULL;
    }
    struct kx *kx = new_aggregate(b, type, given, span);
    for (const struct ast_expr *e = arguments; e; e = e->next) {
        uint32_t at = kx->argument_count++;
        kx->arguments[at] =
            body_converted(b, body_expr(b, e), type->fields[at].type, field_text(b, type, at));
        if (!kx->arguments[at]) failed = true;
    }
    return failed ? NULL : kx;
}

/* Scalars and shorter vectors, one after the other. */
static struct kx *construct_vector(struct body *b, const struct type *type,
                                   const struct ast_expr *arguments, struct span span)
{
    struct kx *kx = new_aggregate(b, type, count_list(arguments), span);
    uint64_t given = 0;
    bool failed = false;
    for (const struct ast_expr *e = arguments; e; e = e->next) {
        struct kx *value = body_expr(b, e);
        bool is_part = value && value->type->kind == TYPE_VECTOR;
        const struct type *wanted = type->element;
        if (is_part) wanted = type_vector(b->sema->types, type->element, value->type->length);
        value = body_converted(b, value, wanted, "an element");
        kx->arguments[kx->argument_count++] = value;
        if (value) given += wanted->scalar_count;
        if (!value) failed = true;
    }
    if (failed) return NULL;
    if (given == type->length) return kx;
    struct diag *diag = body_report(b, RULE_WRONG_ARGUMENT_COUNT, span,
                                    "'%s' has %" PRIu64 " elements, got %" PRIu64,
                                    body_type_text(b, type), type->length, given);
    diag_help(diag, "a single value is given to every element");
    return NULL;
}

struct kx *body_construct_type(struct body *b, const struct type *type,
                               const struct ast_expr *arguments, struct span span)
{
    uint32_t given = count_list(arguments);
    if (given == 1 && type->kind == TYPE_STRUCT) {
        struct kx *value = body_expr(b, arguments);
        if (!value || value->type == type) return value;
        return construct_struct(b, type, arguments, span);
    }
    if (type->kind == TYPE_STRUCT) return construct_struct(b, type, arguments, span);
    if (type->kind == TYPE_VECTOR && given > 1) return construct_vector(b, type, arguments, span);
    if (given != 1) {
        body_report(b, RULE_WRONG_ARGUMENT_COUNT, span, "'%s' takes 1 argument, got %" PRIu32,
                    body_type_text(b, type), given);
        return NULL;
    }
    struct kx *value = body_expr(b, arguments);
    struct kx *kx = body_cast(b, value, type);
    if (kx && (kx->kind == KX_CONSTANT || kx != value)) kx->span = span;
    return kx;
}

/* ---- braces ---- */

/* The place in a struct of an item of braces; field_count after an error. */
static uint32_t place_in_struct(struct body *b, const struct ast_expr *item,
                                const struct type *type, bool named, uint32_t position)
{
    if ((item->kind == AST_EXPR_FIELD) != named) {
        body_report(b, RULE_TYPE_MISMATCH, item->span,
                    "the values of a struct are all named or all in order");
        return type->field_count;
    }
    if (!named) return position;
    uint32_t field = find_struct_field(type, item->name.text);
    if (field == type->field_count) report_no_member(b, type, item->name);
    return field;
}

static struct kx *brace_struct(struct body *b, const struct ast_expr *expr, const struct type *type)
{
    struct kx *kx = new_aggregate(b, type, type->field_count, expr->span);
    bool named = expr->arguments && expr->arguments->kind == AST_EXPR_FIELD, failed = false;
    uint32_t position = 0;
    kx->argument_count = type->field_count;
    for (const struct ast_expr *item = expr->arguments; item; item = item->next, position++) {
        uint32_t field = place_in_struct(b, item, type, named, position);
        if (field == type->field_count) {
            failed = true;
            continue;
        }
        if (kx->arguments[field]) {
            body_report(b, RULE_DUPLICATE_NAME, item->span, "the field '%s' has a value already",
                        type->fields[field].name);
            failed = true;
            continue;
        }
        kx->arguments[field] = body_initialiser(
            b, named ? item->left : item, type->fields[field].type, field_text(b, type, field));
        if (!kx->arguments[field]) failed = true;
    }
    return failed ? NULL : kx;
}

static struct kx *brace_list(struct body *b, const struct ast_expr *expr, const struct type *type)
{
    struct kx *kx = new_aggregate(b, type, count_list(expr->arguments), expr->span);
    bool failed = false;
    for (const struct ast_expr *item = expr->arguments; item; item = item->next) {
        struct kx *value = NULL;
        if (item->kind == AST_EXPR_FIELD) {
            body_report(b, RULE_TYPE_MISMATCH, item->span, "%s has no fields: '.%s' wants a struct",
                        body_type_text(b, type), item->name.text);
        } else
            value = body_initialiser(b, item, type->element, "an element");
        if (!value) failed = true;
        kx->arguments[kx->argument_count++] = value;
    }
    return failed ? NULL : kx;
}

struct kx *body_braces(struct body *b, const struct ast_expr *expr, const struct type *type,
                       const char *what)
{
    uint64_t places = type->kind == TYPE_STRUCT ? type->field_count : type->length, count = 0;
    for (const struct ast_expr *item = expr->arguments; item; item = item->next) {
        if (++count <= places) continue;
        struct diag *diag =
            body_report(b, RULE_WRONG_ARGUMENT_COUNT, item->span,
                        "%s is %s: too many values in braces", what, body_type_text(b, type));
        if (type->kind == TYPE_STRUCT) diag_label(diag, type->span, "declared here");
        if (type->kind == TYPE_ARRAY && type->element->kind == TYPE_ARRAY)
            diag_help(diag, "each row has braces of its own: {{a, b}, {c, d}}");
        return NULL;
    }
    return type->kind == TYPE_STRUCT ? brace_struct(b, expr, type) : brace_list(b, expr, type);
}
