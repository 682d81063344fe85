/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "compiler/sema/body_internal.h"
#include "compiler/sema/quick_integer.h"

/* ---- what is constant ---- */

static bool changes_something(const struct kx *x, void *data)
{
    (void)data;
    switch (x->kind) {
    case KX_VARIABLE: return x->variable->kind != VARIABLE_CONSTANT;
    case KX_PEEK:
    case KX_WINDOW:
    case KX_LEFT:
    case KX_DONE:
    case KX_PHASE:
    case KX_ITEM:
    case KX_ASSIGN: return true;
    default: return false;
    }
}

bool body_is_static(const struct kx *kx)
{
    return !kx_any(kx, changes_something, NULL);
}

static void report_not_constant(struct body *b, const struct kx *culprit, const char *what)
{
    const char *name = NULL;
    struct span declared = {0};
    if (culprit->kind == KX_VARIABLE) {
        name = culprit->variable->name;
        declared = culprit->variable->span;
    } else if (culprit->kind == KX_PHASE) {
        name = "phase";
    } else if ((culprit->kind == KX_PEEK || culprit->kind == KX_WINDOW ||
                culprit->kind == KX_LEFT) &&
               b->kernel) {
        const struct kernel_port *port = &b->kernel->kernel->in[culprit->port];
        name = port->name;
        declared = port->span;
    }
    if (!name) {
        body_report(b, RULE_NOT_CONSTANT, culprit->span,
                    "%s must be known when compiling, and this is not", what);
        return;
    }
    struct diag *diag = body_report(b, RULE_NOT_CONSTANT, culprit->span,
                                    "%s must be known when compiling, and '%s' is not", what, name);
    if (declared.source)
        diag_label(diag, declared, "'%s' gets its value when the program runs", name);
    if (culprit->kind == KX_VARIABLE && culprit->variable->kind == VARIABLE_ARGUMENT)
        diag_help(diag,
                  "sizes and rates depend only on a 'const int', or on a parameter: "
                  "NAME<int %s>(...)",
                  name);
}

void body_report_consteval(struct body *b, const struct kx *kx, const struct consteval_error *error,
                           const char *what)
{
    if (!error->reason) {
        report_not_constant(b, error->culprit ? error->culprit : kx, what);
        return;
    }
    if (error->too_large) {
        body_report(b, RULE_TOO_LARGE, kx->span, "%s cannot be computed when compiling: %s", what,
                    error->reason);
        return;
    }
    struct diag *diag = body_report(b, RULE_CONSTANT_FAULT, error->span,
                                    "%s in a value that is computed when compiling", error->reason);
    bool inside = error->span.source == kx->span.source && error->span.begin >= kx->span.begin &&
                  error->span.end <= kx->span.end;
    if (!inside) diag_label(diag, kx->span, "needed by %s", what);
}

/* ---- compile-time integers ---- */

static bool report_no_integer(struct body *b, const struct kx *kx)
{
    struct diag *diag = body_report(b, RULE_TYPE_MISMATCH, kx->span,
                                    "a compile-time integer is needed, and this is %s",
                                    body_type_text(b, kx->type));
    if (kx->type->kind == TYPE_SCALAR) diag_help(diag, "convert it: (i64)");
    return false;
}

bool body_integer(struct body *b, const struct ast_expr *expr, int64_t *out)
{
    struct scalar_value value;
    struct consteval_error error;
    struct kx *kx = body_expr(b, expr);
    if (!kx) return false;
    if (kx->kind == KX_CONSTANT && kx->type == &body_untyped_integer) {
        value = kx->value;
    } else {
        if (!type_is_scalar(kx->type)) return report_no_integer(b, kx);
        kx = body_settled(b, kx);
        if (!kx) return false;
        if (!consteval(b->cx, kx, &value, &error)) {
            body_report_consteval(b, kx, &error, "this integer");
            return false;
        }
        if (scalar_is_float(kx->type->scalar)) return report_no_integer(b, kx);
    }
    __int128 exact = arith_as_exact(value);
    if (!arith_fits(exact, SCALAR_I64)) {
        body_report(b, RULE_CONSTANT_RANGE, kx->span,
                    "%s is beyond a compile-time integer (at most 9223372036854775807)",
                    arith_text(b->arena, value));
        return false;
    }
    *out = (int64_t)exact;
    return true;
}

bool sema_integer(struct sema *sema, struct scope *scope, const struct ast_expr *expr, int64_t *out)
{
    if (quick_integer(scope, expr, out)) return true;
    struct body b = body_begin(sema, scope, PLACE_CONSTANT);
    b.arena = arena_create();
    bool good = body_integer(&b, expr, out);
    arena_destroy(b.arena);
    return good;
}

static bool constant_condition(struct body *b, const struct ast_expr *expr, bool *out)
{
    struct kx *kx = body_condition(b, expr);
    struct scalar_value value;
    struct consteval_error error;
    if (!kx) return false;
    if (!consteval(b->cx, kx, &value, &error)) {
        body_report_consteval(b, kx, &error, "this condition");
        return false;
    }
    *out = arith_truth(value);
    return true;
}

/* The trees of sema_integer and sema_condition serve once: they live in an arena of their own. */
bool sema_condition(struct sema *sema, struct scope *scope, const struct ast_expr *expr, bool *out)
{
    if (quick_condition(scope, expr, out)) return true;
    struct body b = body_begin(sema, scope, PLACE_CONSTANT);
    b.arena = arena_create();
    bool good = constant_condition(&b, expr, out);
    arena_destroy(b.arena);
    return good;
}

/* ---- exact fractions, for the values of attributes ---- */

static bool reduce_rational(struct body *b, struct span span, __int128 numerator,
                            __int128 denominator, struct rational *out)
{
    if (rational_of(numerator, denominator, out)) return true;
    body_report(b, RULE_CONSTANT_RANGE, span, "this value does not fit 64 bits");
    return false;
}

static bool combine_fractions(struct body *b, const struct ast_expr *e, struct rational l,
                              struct rational r, struct rational *out)
{
    __int128 a = l.numerator, c = l.denominator, d = r.numerator, f = r.denominator;
    switch (e->op) {
    case AST_OP_MUL: return reduce_rational(b, e->span, a * d, c * f, out);
    case AST_OP_DIV:
        if (d == 0) {
            body_report(b, RULE_CONSTANT_FAULT, e->right->span,
                        "division by zero in a value that is computed when compiling");
            return false;
        }
        return reduce_rational(b, e->span, a * f, c * d, out);
    default:
        /* Each product is below 2^126, so the sum does not overflow. */
        a *= f;
        d *= c;
        return reduce_rational(b, e->span, e->op == AST_OP_ADD ? a + d : a - d, c * f, out);
    }
}

static bool exact_value(struct body *b, const struct ast_expr *e, struct rational *out)
{
    struct rational left = {0, 1}, right = {0, 1};
    *out = left;
    bool binary = e->kind == AST_EXPR_BINARY && (e->op == AST_OP_ADD || e->op == AST_OP_SUB ||
                                                 e->op == AST_OP_MUL || e->op == AST_OP_DIV);
    if (binary)
        return exact_value(b, e->left, &left) && exact_value(b, e->right, &right) &&
               combine_fractions(b, e, left, right, out);
    if (e->kind == AST_EXPR_UNARY && (e->op == AST_OP_NEGATE || e->op == AST_OP_PLUS)) {
        if (!exact_value(b, e->left, out)) return false;
        return e->op == AST_OP_PLUS ||
               reduce_rational(b, e->span, -(__int128)out->numerator, out->denominator, out);
    }
    return body_integer(b, e, &out->numerator);
}

bool sema_exact(struct sema *sema, struct scope *scope, const struct ast_expr *expr,
                struct rational *out)
{
    struct body b = body_begin(sema, scope, PLACE_CONSTANT);
    return exact_value(&b, expr, out);
}

bool sema_whole(struct sema *sema, struct scope *scope, const struct ast_expr *expr,
                const char *what, int64_t *out)
{
    struct body b = body_begin(sema, scope, PLACE_CONSTANT);
    struct rational value = {0, 1};
    if (!exact_value(&b, expr, &value)) return false;
    if (value.denominator != 1) {
        body_report(&b, RULE_INVALID_RATE, expr->span, "%s is a whole number, not %lld/%lld", what,
                    (long long)value.numerator, (long long)value.denominator);
        return false;
    }
    *out = value.numerator;
    return true;
}

/* ---- initialisers ---- */

struct kx *body_initialiser(struct body *b, const struct ast_expr *expr, const struct type *type,
                            const char *what)
{
    struct kx *kx = NULL;
    if (expr->kind != AST_EXPR_BRACES) return body_converted(b, body_expr(b, expr), type, what);
    if (!body_enter(b, expr->span)) return NULL;
    if (type_is_aggregate(type))
        kx = body_braces(b, expr, type, what);
    else if (expr->arguments && !expr->arguments->next && expr->arguments->kind != AST_EXPR_FIELD)
        kx = body_initialiser(b, expr->arguments, type, what);
    else
        body_report(b, RULE_TYPE_MISMATCH, expr->span,
                    "%s is %s and takes one value, without braces", what, body_type_text(b, type));
    body_leave(b);
    return kx;
}

/* Counts the values of a constant before memory is allocated for them. False beyond the limit of
 * all constants: only the first such constant is reported, because the others have the same cause. */
static bool count_values(struct body *b, const struct kx *kx, const char *what, uint64_t count)
{
    uint64_t before = b->cx->constant_values;
    if (count == 1) return true; /* a scalar needs no more than its expression */
    if (before > CONSTEVAL_ALL_SCALARS_MAX) return false;
    b->cx->constant_values += count;
    if (b->cx->constant_values <= CONSTEVAL_ALL_SCALARS_MAX) return true;
    struct diag *diag = body_report(b, RULE_TOO_LARGE, kx->span,
                                    "with %s the constants of the program have more than 8,388,608 "
                                    "values together",
                                    what);
    diag_note(diag, "%s has %" PRIu64 ", those before it have %" PRIu64, what, count, before);
    diag_help(diag, "let the program read large data through an in-port, or compute it in the "
                    "'init' of a kernel into a 'table'");
    return false;
}

const struct scalar_value *body_constant_values(struct body *b, const struct kx *kx,
                                                const char *what)
{
    uint64_t count = type_scalar_count(kx->type);
    struct consteval_error error;
    if (count > CONSTEVAL_MAX_SCALARS) {
        body_report(b, RULE_TOO_LARGE, kx->span, "a constant of %s has more than 4,194,304 values",
                    body_type_text(b, kx->type));
        return NULL;
    }
    if (!count_values(b, kx, what, count)) return NULL;
    struct scalar_value *values = ARENA_ARRAY(b->arena, struct scalar_value, (size_t)count);
    if (consteval(b->cx, kx, values, &error)) return values;
    body_report_consteval(b, kx, &error, what);
    return NULL;
}

const struct scalar_value *sema_values(struct sema *sema, struct scope *scope,
                                       const struct ast_expr *expr, const struct type *type,
                                       uint64_t *count)
{
    struct body b = body_begin(sema, scope, PLACE_CONSTANT);
    struct kx *kx = body_initialiser(&b, expr, type, "the value");
    *count = 0;
    if (!kx) return NULL;
    const struct scalar_value *values = body_constant_values(&b, kx, "the value");
    if (values) *count = type_scalar_count(type);
    return values;
}

/* ---- declarations of constants ---- */

static struct variable *constant_variable(struct body *b, struct ast_name name,
                                          const struct type *type,
                                          const struct scalar_value *values)
{
    struct variable *variable = ARENA_NEW(b->arena, struct variable);
    *variable = (struct variable){.kind = VARIABLE_CONSTANT,
                                  .name = name.text,
                                  .span = name.span,
                                  .type = type,
                                  .constant = values,
                                  .is_const = true};
    return variable;
}

struct kx *body_constant_value(struct body *b, struct span span, const struct type *type,
                               const struct scalar_value *values)
{
    if (type->kind == TYPE_SCALAR) return body_constant(b, span, values[0]);
    struct kx *kx = body_kx(b, KX_VARIABLE, type, span);
    kx->variable = constant_variable(b, (struct ast_name){"", span}, type, values);
    return kx;
}

/* The meaning of `name`: a scalar constant, or a variable for other constants. */
static struct symbol constant_symbol(struct body *b, struct ast_name name, const struct type *type,
                                     const struct scalar_value *values)
{
    struct symbol symbol = {.kind = SYMBOL_CONSTANT, .name = name.text, .span = name.span};
    if (type->kind == TYPE_SCALAR) {
        symbol.value = values[0];
        return symbol;
    }
    symbol.kind = SYMBOL_VARIABLE;
    symbol.variable = constant_variable(b, name, type, values);
    return symbol;
}

/* `const int N = ...`: false after an error. */
static bool integer_symbol(struct body *b, const struct ast_declarator *declarator,
                           struct symbol *out)
{
    struct body constant = body_constant_part(b);
    *out = (struct symbol){
        .kind = SYMBOL_INTEGER, .name = declarator->name.text, .span = declarator->name.span};
    if (declarator->dims) {
        struct diag *diag = body_report(b, RULE_TYPE_MISMATCH, declarator->span,
                                        "there are no arrays of the compile-time 'int'");
        diag_help(diag, "make it an array of i32 or i64");
        return false;
    }
    if (body_integer(&constant, declarator->init, &out->integer)) return true;
    b->failed = true;
    return false;
}

static bool value_symbol(struct body *b, const struct ast_type *written,
                         const struct ast_declarator *declarator, struct symbol *out,
                         struct kx **runtime, const struct type **type)
{
    const char *what = arena_printf(b->arena, "the constant '%s'", declarator->name.text);
    *type = body_value_type(b, written, declarator->dims, what);
    if (!*type) return false;
    struct kx *kx = body_initialiser(b, declarator->init, *type, what);
    if (!kx) return false;
    if (runtime && !body_is_static(kx)) {
        *runtime = kx;
        return true;
    }
    const struct scalar_value *values = body_constant_values(b, kx, what);
    if (values) *out = constant_symbol(b, declarator->name, *type, values);
    return values != NULL;
}

static bool const_symbol(struct body *b, const struct ast_type *written,
                         const struct ast_declarator *declarator, struct symbol *out,
                         struct kx **runtime, const struct type **type)
{
    if (!declarator->init) {
        struct diag *diag = body_report(b, RULE_NOT_CONSTANT, declarator->span,
                                        "the constant '%s' has no value", declarator->name.text);
        diag_help(diag, "write '%s = VALUE'", declarator->name.text);
        return false;
    }
    if (written->kind == AST_TYPE_INT && !written->dims) return integer_symbol(b, declarator, out);
    return value_symbol(b, written, declarator, out, runtime, type);
}

void body_const_declarator(struct body *b, const struct ast_type *written,
                           const struct ast_declarator *declarator, struct kx **runtime,
                           const struct type **type)
{
    struct symbol symbol = {0};
    if (!const_symbol(b, written, declarator, &symbol, runtime, type)) {
        b->failed = true;
        symbol = (struct symbol){
            .kind = SYMBOL_POISON, .name = declarator->name.text, .span = declarator->name.span};
    } else if (runtime && *runtime) {
        return;
    }
    body_declare(b, symbol);
}

void sema_const_declaration(struct sema *sema, struct scope *scope, const struct ast_type *type,
                            const struct ast_declarator *declarators)
{
    struct body b = body_begin(sema, scope, PLACE_CONSTANT);
    const struct type *ignored;
    for (; declarators; declarators = declarators->next)
        body_const_declarator(&b, type, declarators, NULL, &ignored);
}

bool sema_force_constant(struct sema *sema, struct symbol *symbol)
{
    if (symbol->kind == SYMBOL_POISON) return false;
    if (symbol->kind != SYMBOL_LAZY_CONSTANT) return true;
    struct body b = body_begin(sema, sema_scope_at(sema, symbol->span), PLACE_CONSTANT);
    struct symbol value = {0};
    const struct type *ignored;
    if (symbol->evaluating) {
        body_report(&b, RULE_NOT_CONSTANT, symbol->span,
                    "the constant '%s' needs its own value to be computed", symbol->name);
        return false;
    }
    bool done = false;
    symbol->evaluating = true;
    if (body_enter(&b, symbol->span)) {
        done = const_symbol(&b, symbol->item->type, symbol->declarator, &value, NULL, &ignored);
        body_leave(&b);
    }
    symbol->evaluating = false;
    symbol->kind = done ? value.kind : SYMBOL_POISON;
    symbol->integer = value.integer;
    symbol->value = value.value;
    symbol->variable = value.variable;
    return done;
}
