/* SPDX-License-Identifier: MIT */
/*
 * define_option: the compile-time parameters of the compiled pipeline, as -D gives them.
 *
 * Gives  a value for each parameter of the signature.
 * Fails  RULE_NO_PIPELINE if a parameter has no -D; RULE_CONSTANT_RANGE, RULE_UNKNOWN_NAME if its text is
 *        not an integer or not a type.
 */
#include <ctype.h>
#include <string.h>

#include "compiler/sema/elaborate_internal.h"
#include "compiler/sema/sema.h"
#include "lang/scalar_text.h"

/* The last definition of the name counts. */
static const struct definition *definition_of(const struct compile *cx, const char *name)
{
    const struct definition *found = NULL;
    for (size_t i = 0; i < cx->options.definition_count; i++)
        if (strcmp(cx->options.definitions[i].name, name) == 0) found = &cx->options.definitions[i];
    return found;
}

bool sema_all_defined(const struct compile *cx, const struct ast_signature *signature)
{
    for (const struct ast_type_param *p = signature->type_params; p != NULL; p = p->next)
        if (definition_of(cx, p->name.text) == NULL) return false;
    return true;
}

/* ---- types: `f32`, `u8x4`, the name of a struct ---- */

static bool read_lanes(const char *text, uint32_t *lanes)
{
    static const struct {
        const char *text;
        uint32_t lanes;
    } known[] = {{"", 1}, {"x2", 2}, {"x3", 3}, {"x4", 4}, {"x8", 8}, {"x16", 16}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        *lanes = known[i].lanes;
        if (strcmp(text, known[i].text) == 0) return true;
    }
    return false;
}

static bool is_identifier(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_') return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return *text == '\0';
}

static const struct type *defined_type(struct elaboration *el, struct scope *scope,
                                       const struct ast_type_param *param, const char *text)
{
    struct ast_type type = {.kind = AST_TYPE_NAMED, .lanes = 1, .span = param->name.span};
    size_t length = strcspn(text, "x");
    type.name = (struct ast_name){intern_string(el->cx->names, text), param->name.span};
    if (scalar_from_name(text, length, &type.scalar) && read_lanes(text + length, &type.lanes))
        type.kind = AST_TYPE_SCALAR;
    const struct symbol *symbol = scope_find(scope, type.name.text);
    if (type.kind == AST_TYPE_SCALAR ||
        (is_identifier(text) && symbol != NULL && symbol->kind == SYMBOL_STRUCT))
        return sema_type(el->sema, scope, &type, NULL);
    struct diag *d = diag_report(el->cx->diags, RULE_UNKNOWN_NAME, param->name.span,
                                 "-D %s=%s: there is no type '%s'", param->name.text, text, text);
    diag_help(d, "a scalar (f32), a vector (f32x4) or a struct of the program");
    return NULL;
}

static bool defined_value(struct elaboration *el, struct scope *scope,
                          const struct ast_type_param *param, struct compile_argument *value)
{
    const char *text = definition_of(el->cx, param->name.text)->value;
    uint64_t bits;
    if (param->is_type) {
        value->type = defined_type(el, scope, param, text);
        return value->type != NULL;
    }
    if (!scalar_parse(text, SCALAR_I64, &bits)) {
        char why[SCALAR_WHY_BYTES];
        scalar_explain(text, SCALAR_I64, why, sizeof why);
        diag_report(el->cx->diags, RULE_CONSTANT_RANGE, param->name.span, "-D %s: %s",
                    param->name.text, why);
        return false;
    }
    value->integer = (int64_t)bits;
    return true;
}

struct compile_argument *defined_parameters(struct elaboration *el, struct scope *scope,
                                            const struct ast_signature *signature, size_t *count)
{
    *count = 0;
    if (!sema_all_defined(el->cx, signature)) {
        struct arena *arena = el->cx->arena;
        const char *missing = "";
        for (const struct ast_type_param *p = signature->type_params; p != NULL; p = p->next)
            if (definition_of(el->cx, p->name.text) == NULL)
                missing = arena_printf(arena, "%s -D %s=%s", missing, p->name.text,
                                       p->is_type ? "TYPE" : "INTEGER");
        struct diag *d =
            diag_report(el->cx->diags, RULE_NO_PIPELINE, signature->name.span,
                        "pipeline '%s' has compile-time parameters: it cannot be compiled "
                        "without their values",
                        signature->name.text);
        diag_help(d, "give them:%s", missing);
        return NULL;
    }
    for (const struct ast_type_param *p = signature->type_params; p != NULL; p = p->next)
        ++*count;
    struct compile_argument *values =
        ARENA_ARRAY(el->cx->arena, struct compile_argument, *count + 1);
    bool good = true;
    size_t at = 0;
    for (const struct ast_type_param *p = signature->type_params; p != NULL; p = p->next)
        good = defined_value(el, scope, p, &values[at++]) && good;
    return good ? values : NULL;
}
