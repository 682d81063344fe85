/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/wraps.h"

#include <inttypes.h>

#include "compiler/bodies/ranges_internal.h"
#include "compiler/sema/widen.h"

enum { NARROW_BYTES = 2, DEPTH_MAX = 32 };

static bool is_operation(const struct kx *e)
{
    return e->kind == KX_BINARY &&
           (e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL || e->op == OP_SHL);
}

static bool is_narrow_type(const struct type *type)
{
    const struct type *item = type_item(type);
    return type_is_integer(item) && item->width_bytes <= NARROW_BYTES;
}

/* ---- ranges without a state ---- */

static struct interval exact_range(const struct kx *e, int depth);

/* The range of the expression, from its form only. */
static struct interval range_by_form(const struct kx *e, int depth)
{
    struct interval all = interval_of_type(type_item(e->type));
    if (depth > DEPTH_MAX || !type_is_integer(type_item(e->type))) return all;
    struct interval found = exact_range(e, depth);
    return found.low >= all.low && found.high <= all.high ? found : all;
}

/* The same before it wraps. */
static struct interval exact_range(const struct kx *e, int depth)
{
    struct interval all = interval_of_type(type_item(e->type));
    if (depth > DEPTH_MAX || !type_is_integer(type_item(e->type))) return all;
    switch (e->kind) {
    case KX_CONSTANT: return interval_of_value(e->value);
    case KX_BROADCAST: return range_by_form(e->left, depth + 1);
    case KX_CONVERT:
        return type_is_integer(type_item(e->left->type)) ? range_by_form(e->left, depth + 1) : all;
    case KX_BINARY:
        return interval_binary(e->op, exact_range(e->left, depth + 1),
                               exact_range(e->right, depth + 1), type_item(e->type));
    default: return all;
    }
}

static bool may_wrap(const struct kx *e)
{
    if (!is_operation(e) || e->cast || !is_narrow_type(e->type)) return false;
    if (e->type->kind != TYPE_VECTOR) return e->may_wrap;
    struct interval all = interval_of_type(type_item(e->type));
    struct interval exact = interval_binary(e->op, range_by_form(e->left, 0),
                                            range_by_form(e->right, 0), type_item(e->type));
    return exact.low < all.low || exact.high > all.high;
}

/* ---- the message ---- */

/* The wrapped operation whose result `e` is, or is made of; or NULL. */
static const struct kx *find_wrapped(const struct kx *e, int depth)
{
    if (depth > DEPTH_MAX || e->cast) return NULL;
    if (e->kind == KX_BROADCAST || e->kind == KX_NEGATE) return find_wrapped(e->left, depth + 1);
    if (e->kind == KX_SELECT) {
        const struct kx *found = find_wrapped(e->right, depth + 1);
        return found != NULL ? found : find_wrapped(e->third, depth + 1);
    }
    if (!is_operation(e)) return NULL;
    if (may_wrap(e)) return e;
    const struct kx *found = find_wrapped(e->left, depth + 1);
    return found != NULL || e->op == OP_SHL ? found : find_wrapped(e->right, depth + 1);
}

/* The range of the value if none of its operations wrapped. */
static struct interval unwrapped_range(const struct kx *e, int depth)
{
    struct interval range = exact_range(e, 0);
    if (depth > DEPTH_MAX || e->cast) return range;
    if (e->kind == KX_BROADCAST || e->kind == KX_NEGATE || is_operation(e))
        range = interval_join(range, unwrapped_range(e->left, depth + 1));
    if (is_operation(e) && e->op != OP_SHL)
        range = interval_join(range, unwrapped_range(e->right, depth + 1));
    if (e->kind == KX_SELECT)
        range = interval_join(unwrapped_range(e->right, depth + 1),
                              unwrapped_range(e->third, depth + 1));
    return range;
}

/* The scalar type that holds the value without wrapping. */
static enum scalar_type wide_enough(const struct kx *value)
{
    static const enum scalar_type types[] = {SCALAR_U16, SCALAR_I16, SCALAR_U32, SCALAR_I32};
    bool is_signed = scalar_is_signed(type_item(value->type)->scalar);
    struct interval need = unwrapped_range(value, 0);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        wide limit = (wide)1 << (8 * scalar_width_bytes(types[i]) - scalar_is_signed(types[i]));
        wide low = scalar_is_signed(types[i]) ? -limit : 0;
        if (is_signed && !scalar_is_signed(types[i])) continue;
        if (need.low >= low && need.high < limit) return types[i];
    }
    return SCALAR_I64;
}

static void report_wrap(struct compile *cx, const struct kx *value, const struct kx *operation,
                        const char *before)
{
    static const char *const names[] = {
        [OP_ADD] = "sum", [OP_SUB] = "difference", [OP_MUL] = "product", [OP_SHL] = "left shift"};
    const char *type = scalar_name(type_item(operation->type)->scalar);
    struct diag *d = diag_report(cx->diags, RULE_WRAPS_BEFORE_USE, operation->span,
                                 "this %s is computed in %s, where it may wrap, before it is %s",
                                 names[operation->op], type, before);
    enum scalar_type wider = wide_enough(value);
    struct type item = {.kind = TYPE_SCALAR, .scalar = wider};
    struct type vector = {.kind = TYPE_VECTOR, .element = &item, .length = value->type->length};
    bool is_vector = value->type->kind == TYPE_VECTOR;
    const char *text = widen_value(cx, d, value, is_vector ? &vector : &item);
    if (text != NULL)
        diag_help(d,
                  is_vector
                      ? "widen an operand first: %s; if wrapping is meant, cast it: %s(...)"
                      : "widen an operand first: %s; if wrapping is meant, cast it: (%s)(...)",
                  text, type_text(cx->arena, operation->type));
    else
        diag_help(d, "widen the operands first, to %s%s", scalar_name(wider),
                  is_vector ? " elements" : "");
}

/* ---- uses ---- */

static void judge_wrap(struct compile *cx, const struct kx *value, const char *before)
{
    const struct kx *operation = value != NULL ? find_wrapped(value, 0) : NULL;
    if (operation != NULL && !operation->widening_reported && !value->widening_reported)
        report_wrap(cx, value, operation, before);
}

/* An index whose type ends with the array makes the array a ring: it wraps on purpose. */
static void check_index(struct compile *cx, const struct kx *index, uint64_t length)
{
    if (index == NULL) return;
    struct interval all = interval_of_type(type_item(index->type));
    if (all.low == 0 && all.high == (wide)length - 1) return;
    judge_wrap(cx, index, "used as an index");
}

/* x % 2^n is the same after an unsigned x has wrapped. */
static bool keeps_remainder(const struct kx *e)
{
    const struct kx *by = e->right;
    while (by->kind == KX_BROADCAST)
        by = by->left;
    if (by->kind != KX_CONSTANT || scalar_is_signed(type_item(e->type)->scalar)) return false;
    return (by->value.bits & (by->value.bits - 1)) == 0;
}

/* (x << n) >> m takes bits out of the middle. */
static bool extracts_bits(const struct kx *e)
{
    return e->left->kind == KX_BINARY && e->left->op == OP_SHL;
}

/* A count that is beyond the width whenever the shift is executed; constants are sema's. */
static void check_shift_count(struct compile *cx, const struct kx *e, const struct type *type)
{
    if ((e->op != OP_SHL && e->op != OP_SHR) || !e->visited || e->count_inside) return;
    const struct kx *count = e->right;
    while (count->kind == KX_CONVERT)
        count = count->left;
    if (!type_is_integer(type) || count->kind == KX_CONSTANT) return;
    const char *name = scalar_name(type->scalar);
    struct diag *d =
        diag_report(cx->diags, RULE_SHIFT_BEYOND_WIDTH, count->span,
                    "%s has %" PRIu64 " bits: this count is always outside 0 to %" PRIu64
                    ", and taken modulo %" PRIu64,
                    name, 8 * type->width_bytes, 8 * type->width_bytes - 1, 8 * type->width_bytes);
    diag_help(d, "subtract the width, or widen what is shifted first");
}

static void check_binary(struct compile *cx, const struct kx *e)
{
    check_shift_count(cx, e, e->type);
    switch (e->op) {
    case OP_DIV:
        judge_wrap(cx, e->left, "divided");
        judge_wrap(cx, e->right, "divided by");
        break;
    case OP_REM:
        if (!keeps_remainder(e)) judge_wrap(cx, e->left, "taken modulo");
        break;
    case OP_SHR:
        if (!extracts_bits(e)) judge_wrap(cx, e->left, "shifted right");
        break;
    default: break;
    }
}

struct checked_body {
    struct compile *cx;
    const struct kernel *kernel; /* NULL: a function */
};

static bool check_wrapping_operands(const struct kx *e, void *data)
{
    const struct checked_body *in = data;
    struct compile *cx = in->cx;
    switch (e->kind) {
    case KX_BINARY: check_binary(cx, e); break;
    case KX_ASSIGN:
        if (e->op != OP_NONE) check_shift_count(cx, e, e->operation);
        break;
    case KX_BUILTIN:
        if (e->builtin == BUILTIN_MIN || e->builtin == BUILTIN_MAX || e->builtin == BUILTIN_ABS)
            for (uint32_t i = 0; i < e->argument_count; i++)
                judge_wrap(cx, e->arguments[i],
                           e->builtin == BUILTIN_ABS ? "made positive" : "compared");
        break;
    case KX_COMPARE:
        judge_wrap(cx, e->left, "compared");
        judge_wrap(cx, e->right, "compared");
        break;
    case KX_CONVERT:
        if (type_is_float(type_item(e->type))) judge_wrap(cx, e->left, "converted to a float");
        break;
    case KX_INDEX: check_index(cx, e->right, e->left->type->length); break;
    case KX_PEEK: check_index(cx, e->right, in->kernel->in[e->port].peek); break;
    case KX_WINDOW:
        check_index(cx, e->left, 0);
        check_index(cx, e->right, 0);
        break;
    default: break;
    }
    return false;
}

static bool check_store(const struct ks *s, void *data)
{
    const struct checked_body *in = data;
    if (s->kind == KS_STORE && in->kernel != NULL)
        check_index(in->cx, s->index, in->kernel->out[s->port].push);
    return false;
}

void wraps_check_bodies(struct compile *cx, const struct graph *graph)
{
    if (!diag_wants(cx->diags, RULE_WRAPS_BEFORE_USE) &&
        !diag_wants(cx->diags, RULE_SHIFT_BEYOND_WIDTH))
        return;
    struct checked_body in = {.cx = cx};
    for (size_t i = 0; i < graph->functions.count; i++)
        ks_any(graph->functions.items[i]->body, check_store, check_wrapping_operands, &in);
    for (size_t i = 0; i < graph->kernels.count; i++) {
        const struct kernel *k = in.kernel = graph->kernels.items[i];
        const struct ks *sections[] = {k->init, k->body, k->finish};
        for (int n = 0; n < 3; n++)
            ks_any(sections[n], check_store, check_wrapping_operands, &in);
    }
}
