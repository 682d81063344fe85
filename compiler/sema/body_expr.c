/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>

#include "compiler/sema/body_internal.h"
#include "compiler/sema/widen.h"

enum kx_op body_operator(enum ast_operator op)
{
    switch (op) {
    case AST_OP_ADD: return OP_ADD;
    case AST_OP_SUB: return OP_SUB;
    case AST_OP_MUL: return OP_MUL;
    case AST_OP_DIV: return OP_DIV;
    case AST_OP_REM: return OP_REM;
    case AST_OP_SHL: return OP_SHL;
    case AST_OP_SHR: return OP_SHR;
    case AST_OP_AND: return OP_AND;
    case AST_OP_OR: return OP_OR;
    case AST_OP_XOR: return OP_XOR;
    case AST_OP_LT: return OP_LT;
    case AST_OP_GT: return OP_GT;
    case AST_OP_LE: return OP_LE;
    case AST_OP_GE: return OP_GE;
    case AST_OP_EQ: return OP_EQ;
    case AST_OP_NE: return OP_NE;
    case AST_OP_LOGICAL_AND: return OP_LOGICAL_AND;
    case AST_OP_LOGICAL_OR: return OP_LOGICAL_OR;
    case AST_OP_NEGATE:
    case AST_OP_PLUS:
    case AST_OP_NOT:
    case AST_OP_COMPLEMENT:
    case AST_OP_NONE: break;
    }
    return OP_NONE;
}

const char *body_operator_text(enum kx_op op)
{
    static const char *const texts[] = {
        "'='", "'+'", "'-'", "'*'",  "'/'",  "'%'",  "'<<'", "'>>'", "'&'",  "'|'",
        "'^'", "'<'", "'>'", "'<='", "'>='", "'=='", "'!='", "'&&'", "'||'",
    };
    return texts[op];
}

/* ---- literals ---- */

/* Without a suffix an integer has no type of its own; u gives u32 or u64, L gives i64. */
static struct kx *integer_literal(struct body *b, const struct ast_expr *e)
{
    uint64_t value = e->integer.value;
    if (e->integer.too_large) return NULL;
    if (!e->integer.is_unsigned && !e->integer.is_long)
        return body_exact(b, e->span, (__int128)value);
    enum scalar_type type = SCALAR_I64;
    if (e->integer.is_unsigned)
        type = value > UINT32_MAX || e->integer.is_long ? SCALAR_U64 : SCALAR_U32;
    if (arith_fits((__int128)value, type))
        return body_constant(b, e->span, arith_integer(type, value));
    body_report(b, RULE_CONSTANT_RANGE, e->span, "%s does not fit i64",
                arith_text(b->arena, arith_integer(SCALAR_U64, value)));
    return NULL;
}

/* Without a suffix a float takes the type of its context; f gives f32. */
static struct kx *float_literal(struct body *b, const struct ast_expr *e)
{
    struct scalar_value value = arith_f64(e->floating.value);
    if (!e->floating.is_f32) {
        struct kx *kx = body_kx(b, KX_CONSTANT, &body_untyped_float, e->span);
        kx->value = value;
        return kx;
    }
    struct scalar_value narrow = arith_convert(value, SCALAR_F32);
    if (!isfinite(arith_as_f64(narrow)) && isfinite(e->floating.value))
        body_report(b, RULE_CONSTANT_TRUNCATED, e->span, "%s is beyond f32 and becomes %s",
                    arith_text(b->arena, value), arith_text(b->arena, narrow));
    return body_constant(b, e->span, narrow);
}

/* ---- unary operators ---- */

static bool is_exact_integer(const struct kx *kx)
{
    return kx->kind == KX_CONSTANT && kx->type == &body_untyped_integer;
}

/* An untyped integer whose value is known only at run time gets its default type before an
 * operation. */
static struct kx *operand_value(struct body *b, struct kx *kx)
{
    if (kx && kx->type == &body_untyped_integer && kx->kind != KX_CONSTANT)
        return body_settled(b, kx);
    return kx;
}

static struct kx *unary_kx(struct body *b, enum kx_kind kind, struct kx *left, struct span span)
{
    struct kx *kx = body_kx(b, kind, left->type, span);
    kx->left = left;
    return body_fold(b, kx);
}

static struct kx *negate_expression(struct body *b, const struct ast_expr *e, struct kx *left)
{
    if (!body_unify(b, &left, 1, e->span, e->op == AST_OP_PLUS ? "unary '+'" : "unary '-'"))
        return NULL;
    left = body_promoted(b, left);
    if (e->op == AST_OP_PLUS) return left;
    if (is_exact_integer(left)) return body_exact(b, e->span, -arith_as_exact(left->value));
    if (left->kind == KX_CONSTANT && left->type == &body_untyped_float) {
        struct kx *kx = body_kx(b, KX_CONSTANT, &body_untyped_float, e->span);
        kx->value = arith_negate(left->value);
        return kx;
    }
    return unary_kx(b, KX_NEGATE, left, e->span);
}

static struct kx *complement_expression(struct body *b, const struct ast_expr *e, struct kx *left)
{
    if (is_exact_integer(left)) return body_exact(b, e->span, -arith_as_exact(left->value) - 1);
    left = body_whole_items(b, left, "the operand of '~'");
    return left ? unary_kx(b, KX_COMPLEMENT, left, e->span) : NULL;
}

static struct kx *unary_expression(struct body *b, const struct ast_expr *e)
{
    struct kx *left = operand_value(b, body_expr(b, e->left));
    if (!left) return NULL;
    switch (e->op) {
    case AST_OP_NEGATE:
    case AST_OP_PLUS: return negate_expression(b, e, left);
    case AST_OP_COMPLEMENT: return complement_expression(b, e, left);
    default: /* AST_OP_NOT */
        if (left->type->kind == TYPE_VECTOR)
            left = body_cast(
                b, left,
                type_vector(b->sema->types, body_scalar(b, SCALAR_BOOL), left->type->length));
        else
            left = body_truth(b, left);
        return left ? unary_kx(b, KX_NOT, left, e->span) : NULL;
    }
}

/* ---- exact integers: expressions of literals and compile-time integers ---- */

static bool exact_shift(struct body *b, enum kx_op op, struct kx *left, struct kx *right,
                        __int128 *out)
{
    __int128 value = arith_as_exact(left->value), count = arith_as_exact(right->value);
    if (count < 0 || count > 63) {
        body_report(b, RULE_CONSTANT_RANGE, right->span,
                    "a constant integer is shifted by 0 to 63, not by %s",
                    arith_text(b->arena, right->value));
        return false;
    }
    *out = op == OP_SHL ? value * ((__int128)1 << (int)count) : value >> (int)count;
    return true;
}

/* NULL after an error. A division by zero becomes an operation on i32, which fails when it is
 * executed. */
static struct kx *exact_binary(struct body *b, enum kx_op op, struct kx *left, struct kx *right,
                               struct span span)
{
    __int128 x = arith_as_exact(left->value), y = arith_as_exact(right->value), value = 0;
    switch (op) {
    case OP_ADD: value = x + y; break;
    case OP_SUB: value = x - y; break;
    case OP_MUL:
        if (__builtin_mul_overflow(x, y, &value)) value = (__int128)1 << 100; /* refused below */
        break;
    case OP_DIV:
    case OP_REM:
        if (y == 0) {
            left = body_settled(b, left);
            right = body_converted(b, right, left->type, "the divisor");
            struct kx *kx = body_kx(b, KX_BINARY, left->type, span);
            kx->op = op, kx->left = left, kx->right = right;
            return kx;
        }
        value = op == OP_DIV ? x / y : x % y;
        break;
    case OP_SHL:
    case OP_SHR:
        if (!exact_shift(b, op, left, right, &value)) return NULL;
        break;
    case OP_AND: value = x & y; break;
    case OP_OR: value = x | y; break;
    case OP_XOR: value = x ^ y; break;
    default: break;
    }
    return body_exact(b, span, value);
}

static struct kx *exact_compare(struct body *b, enum kx_op op, struct kx *left, struct kx *right,
                                struct span span)
{
    __int128 x = arith_as_exact(left->value), y = arith_as_exact(right->value);
    bool less = x < y, equal = x == y, truth;
    switch (op) {
    case OP_LT: truth = less; break;
    case OP_GT: truth = !less && !equal; break;
    case OP_LE: truth = less || equal; break;
    case OP_GE: truth = !less; break;
    case OP_EQ: truth = equal; break;
    default: truth = !equal; break;
    }
    return body_constant(b, span, arith_bool(truth));
}

/* ---- binary operators ---- */

bool body_shift_operands(struct body *b, enum kx_op op, struct kx **left, struct kx **right,
                         struct span span)
{
    if (!*left || !*right) return false;
    uint64_t lanes[2] = {0, 0};
    if ((*left)->type->kind == TYPE_VECTOR) lanes[0] = (*left)->type->length;
    if ((*right)->type->kind == TYPE_VECTOR) lanes[1] = (*right)->type->length;
    if (lanes[0] && lanes[1] && lanes[0] != lanes[1]) {
        body_report(b, RULE_TYPE_MISMATCH, span, "%s does not take %s and %s",
                    body_operator_text(op), body_type_text(b, (*left)->type),
                    body_type_text(b, (*right)->type));
        return false;
    }
    if (lanes[0]) *right = body_broadcast(b, *right, lanes[0]);
    if (lanes[1]) *left = body_broadcast(b, *left, lanes[1]);
    return *left && *right;
}

/* The narrowest type with more bits than the count, as signed as `type`. */
static const struct type *type_beyond(struct body *b, const struct type *type, int64_t count)
{
    bool is_signed = scalar_is_signed(type->scalar);
    if (count < 16) return body_scalar(b, is_signed ? SCALAR_I16 : SCALAR_U16);
    if (count < 32) return body_scalar(b, is_signed ? SCALAR_I32 : SCALAR_U32);
    return body_scalar(b, is_signed ? SCALAR_I64 : SCALAR_U64);
}

void body_check_count(struct body *b, struct kx *shift, struct kx *left, const struct kx *count)
{
    const struct type *item = type_item(left->type);
    while (count->kind == KX_BROADCAST || count->kind == KX_CONVERT)
        count = count->left;
    if (count->kind != KX_CONSTANT || !type_is_integer(item)) return;
    __int128 value = arith_as_exact(count->value);
    int64_t bits = 8 * (int64_t)item->width_bytes;
    if (value >= 0 && value < bits) return;
    int64_t taken = (int64_t)(((value % bits) + bits) % bits);
    size_t reported = diag_kept_count(b->cx->diags);
    struct diag *diag =
        body_report(b, RULE_SHIFT_BEYOND_WIDTH, count->span,
                    "%s has %" PRId64 " bits: a count of %s shifts by %" PRId64,
                    body_type_text(b, item), bits, arith_text(b->arena, count->value), taken);
    if (value < bits || value >= 64 || shift->kind == KX_ASSIGN) {
        diag_help(diag, "counts are taken modulo the width: write %" PRId64 " where that is meant",
                  taken);
        return;
    }
    const struct type *wide = type_beyond(b, item, (int64_t)value);
    bool vector = left->type->kind == TYPE_VECTOR;
    if (vector) wide = type_vector(b->sema->types, wide, left->type->length);
    const char *text = left->kind == KX_CONSTANT ? NULL : widen_value(b->cx, diag, left, wide);
    if (text)
        diag_help(diag, "widen what is shifted first: %s", text);
    else
        diag_help(diag, "widen what is shifted first, with a cast to %s", body_type_text(b, wide));
    shift->widening_reported = left->widening_reported = diag_kept_count(b->cx->diags) > reported;
}

/* The result has the type of the left operand. The count is any integer, modulo the width. */
static struct kx *shift_expr(struct body *b, enum kx_op op, struct kx *left, struct kx *right,
                             struct span span)
{
    left = body_whole_items(b, left, "what is shifted");
    right = body_whole_items(b, right, "the count of a shift");
    if (!body_shift_operands(b, op, &left, &right, span)) return NULL;
    struct kx *kx = body_kx(b, KX_BINARY, left->type, span);
    kx->op = op, kx->left = left, kx->right = right;
    body_check_count(b, kx, left, right);
    return body_fold(b, kx);
}

static bool needs_integers(enum kx_op op)
{
    return op == OP_REM || op == OP_AND || op == OP_OR || op == OP_XOR;
}

static bool check_integers(struct body *b, enum kx_op op, const struct type *type, struct span span)
{
    if (!needs_integers(op) || !scalar_is_float(type_item(type)->scalar)) return true;
    struct diag *diag = body_report(b, RULE_TYPE_MISMATCH, span, "%s takes integers, not %s",
                                    body_operator_text(op), body_type_text(b, type));
    if (op == OP_REM) diag_help(diag, "for floats there is fmod(x, y) of \"std/math.pipe\"");
    if (op == OP_XOR) diag_help(diag, "x to the power y is 'pow(x, y)'");
    return false;
}

/* left op right, of built operands; `span` is of the whole operation. */
static struct kx *build_operation(struct body *b, enum kx_op op, struct kx *left, struct kx *right,
                                  struct span span)
{
    if (!left || !right) return NULL;
    if (left->type == right->type && !(is_exact_integer(left) && is_exact_integer(right))) {
        left = operand_value(b, left);
        right = operand_value(b, right);
    }
    struct kx *operands[2] = {left, right};
    bool compare = op >= OP_LT && op <= OP_NE;
    if (is_exact_integer(operands[0]) && is_exact_integer(operands[1]))
        return compare ? exact_compare(b, op, operands[0], operands[1], span)
                       : exact_binary(b, op, operands[0], operands[1], span);
    if (op == OP_SHL || op == OP_SHR) return shift_expr(b, op, operands[0], operands[1], span);
    const struct type *type = body_unify(b, operands, 2, span, body_operator_text(op));
    if (!type || !check_integers(b, op, type, span)) return NULL;
    if (compare && is_untyped(type)) { /* floats without a context: f32 */
        type = body_scalar(b, SCALAR_F32);
        for (int i = 0; i < 2; i++)
            if (!(operands[i] = body_converted(b, operands[i], type, "the operand"))) return NULL;
    }
    const struct type *result = type;
    if (compare) result = body_scalar(b, SCALAR_BOOL);
    if (compare && type->kind == TYPE_VECTOR)
        result = type_vector(b->sema->types, result, type->length);
    struct kx *kx = body_kx(b, compare ? KX_COMPARE : KX_BINARY, result, span);
    kx->op = op, kx->left = operands[0], kx->right = operands[1];
    return body_fold(b, kx);
}

static struct kx *logical_expr(struct body *b, const struct ast_expr *e)
{
    struct kx *left = body_condition(b, e->left), *right = body_condition(b, e->right);
    if (!left || !right) return NULL;
    struct kx *kx = body_kx(b, KX_LOGICAL, left->type, e->span);
    kx->op = body_operator(e->op), kx->left = left, kx->right = right;
    return body_fold(b, kx);
}

/* `y << x` of an out-port. */
static bool appends_with_shift(struct body *b, const struct ast_expr *e)
{
    struct symbol *symbol =
        e->left->kind == AST_EXPR_NAME ? scope_find(b->scope, e->left->name.text) : NULL;
    if (!symbol || symbol->kind != SYMBOL_OUT_PORT) return false;
    symbol->used = true;
    struct diag *diag = body_report(b, RULE_WRONG_KIND_OF_NAME, e->left->span,
                                    "the out-port '%s' cannot be shifted", symbol->name);
    diag_label(diag, symbol->span, "declared here");
    diag_help(diag, "a packet is appended with '%s <- value;'", symbol->name);
    diag_fix(diag, e->op_span, "<-");
    return true;
}

/* Arms of one type keep it, bool too; other arms get the usual conversions. */
static struct kx *conditional_expression(struct body *b, const struct ast_expr *e)
{
    struct kx *condition = body_condition(b, e->left);
    struct kx *arms[2] = {body_expr(b, e->right), body_expr(b, e->third)};
    if (!condition || !arms[0] || !arms[1]) return NULL;
    const struct type *type = arms[0]->type;
    if (type != arms[1]->type || type->kind == TYPE_VOID)
        type = body_unify(b, arms, 2, e->span, "'?:'");
    if (!type) return NULL;
    struct kx *kx = body_kx(b, KX_SELECT, type, e->span);
    kx->left = condition, kx->right = arms[0], kx->third = arms[1];
    return body_fold(b, kx);
}

/* Constants are values, or lists of values, of which none is dropped. */
static struct kx *refuse_constant_comma(struct body *b, const struct ast_expr *e)
{
    struct diag *diag = body_report(b, RULE_TYPE_MISMATCH, e->span,
                                    "a constant has no comma: it would drop what stands before it");
    diag_help(diag,
              "a list of values has braces: '{1, 2}'; an index, a bracket for each dimension: "
              "'[1][2]'; a shape, 'x': '16x8'");
    return NULL;
}

static struct kx *comma_expression(struct body *b, const struct ast_expr *e)
{
    if (b->place == PLACE_CONSTANT) return refuse_constant_comma(b, e);
    struct kx *left = body_value(b, e->left), *right = body_value(b, e->right);
    if (!left || !right) return NULL;
    struct kx *kx = body_kx(b, KX_COMMA, right->type, e->span);
    kx->left = left, kx->right = right;
    return kx;
}

void body_check_comma(struct body *b, const struct ast_expr *index)
{
    if (index->kind != AST_EXPR_COMMA || index->parenthesised) return;
    struct diag *diag = body_report(b, RULE_COMMA_IN_INDEX, index->span,
                                    "this is one index: the comma drops what stands before it");
    diag_help(diag, "each index has its own brackets: [i][j]");
    for (const struct ast_expr *e = index; e->kind == AST_EXPR_COMMA && !e->parenthesised;
         e = e->left)
        diag_fix(diag, (struct span){e->span.source, e->left->span.end, e->right->span.begin},
                 "][");
}

/* ---- all expressions ---- */

static struct kx *report_wrong_operand(struct body *b, const struct ast_expr *e, const char *what)
{
    body_report(b, RULE_TYPE_MISMATCH, e->span, "%s", what);
    return NULL;
}

static struct kx *expression_by_kind(struct body *b, const struct ast_expr *e)
{
    switch (e->kind) {
    case AST_EXPR_NAME: return body_name(b, e);
    case AST_EXPR_INTEGER: return integer_literal(b, e);
    case AST_EXPR_FLOAT: return float_literal(b, e);
    case AST_EXPR_UNARY: return unary_expression(b, e);
    case AST_EXPR_BINARY: {
        if (e->op == AST_OP_LOGICAL_AND || e->op == AST_OP_LOGICAL_OR) return logical_expr(b, e);
        if (e->op == AST_OP_SHL && appends_with_shift(b, e)) return NULL;
        struct kx *left = body_expr(b, e->left), *right = body_expr(b, e->right);
        return build_operation(b, body_operator(e->op), left, right, e->span);
    }
    case AST_EXPR_CONDITIONAL: return conditional_expression(b, e);
    case AST_EXPR_ASSIGN: return body_assign(b, e);
    case AST_EXPR_INCREMENT: return body_increment(b, e);
    case AST_EXPR_INDEX: body_check_comma(b, e->right); return body_index(b, e);
    case AST_EXPR_MEMBER: return body_index(b, e);
    case AST_EXPR_CALL: return body_call(b, e);
    case AST_EXPR_CONSTRUCT:
    case AST_EXPR_CAST: return body_construct(b, e);
    case AST_EXPR_COMMA: return comma_expression(b, e);
    case AST_EXPR_STRING: return report_wrong_operand(b, e, "a string is no value");
    case AST_EXPR_BRACES:
        return report_wrong_operand(b, e, "braces stand only where a variable is initialised");
    case AST_EXPR_FIELD:
        return report_wrong_operand(b, e, "'.name = value' stands only in the braces of a struct");
    case AST_EXPR_RANGE: return report_wrong_operand(b, e, "a range 'A..B' is no value here");
    case AST_EXPR_REPEAT: return report_wrong_operand(b, e, "'N x VALUE' is no value here");
    case AST_EXPR_DIMENSIONS: return report_wrong_operand(b, e, "dimensions are no value here");
    }
    return NULL;
}

struct kx *body_expr(struct body *b, const struct ast_expr *e)
{
    if (!body_enter(b, e->span)) return NULL;
    struct kx *kx = expression_by_kind(b, e);
    body_leave(b);
    if (!kx) b->failed = true;
    return kx;
}

struct kx *body_value(struct body *b, const struct ast_expr *e)
{
    return body_settled(b, body_expr(b, e));
}

struct kx *body_condition(struct body *b, const struct ast_expr *e)
{
    return body_truth(b, body_expr(b, e));
}
