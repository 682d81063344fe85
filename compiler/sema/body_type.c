/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "compiler/sema/body_internal.h"
#include "compiler/sema/widen.h"
#include "compiler/syntax/habits.h"
#include "base/nearest.h"

const struct type body_untyped_integer = {
    .kind = TYPE_SCALAR, .scalar = SCALAR_I64, .width_bytes = 8, .alignment_bytes = 8};
const struct type body_untyped_float = {
    .kind = TYPE_SCALAR, .scalar = SCALAR_F64, .width_bytes = 8, .alignment_bytes = 8};

const char *body_type_text(struct body *b, const struct type *type)
{
    if (type == &body_untyped_integer) return "an integer literal";
    if (type == &body_untyped_float) return "a float literal";
    return type_text(b->arena, type);
}

const struct type *body_scalar(struct body *b, enum scalar_type scalar)
{
    return type_scalar(b->sema->types, scalar);
}

struct kx *body_kx(struct body *b, enum kx_kind kind, const struct type *type, struct span span)
{
    struct kx *kx = ARENA_NEW(b->arena, struct kx);
    kx->kind = kind;
    kx->type = type;
    kx->span = span;
    return kx;
}

struct kx *body_constant(struct body *b, struct span span, struct scalar_value value)
{
    struct kx *kx = body_kx(b, KX_CONSTANT, body_scalar(b, value.type), span);
    kx->value = value;
    return kx;
}

struct kx *body_exact(struct body *b, struct span span, __int128 value)
{
    if (!arith_fits(value, SCALAR_I64) && !arith_fits(value, SCALAR_U64)) {
        body_report(b, RULE_CONSTANT_RANGE, span,
                    "the value of this constant expression does not fit 64 bits");
        return NULL;
    }
    struct kx *kx = body_kx(b, KX_CONSTANT, &body_untyped_integer, span);
    kx->value.type = arith_fits(value, SCALAR_I64) ? SCALAR_I64 : SCALAR_U64;
    kx->value.bits = (uint64_t)value;
    return kx;
}

const char *body_source_text(struct body *b, struct span span)
{
    const struct source *source = source_get(b->cx->sources, span.source);
    enum { SHOWN_MAX = 32 };
    if (!source || span.end > source->size_bytes || span.begin >= span.end ||
        span.end - span.begin > SHOWN_MAX)
        return NULL;
    const char *text = source->bytes + span.begin;
    if (memchr(text, '\n', span.end - span.begin)) return NULL;
    return arena_string(b->arena, text, span.end - span.begin);
}

/* ---- folding ---- */

/* A part of a constant array, vector or struct, selected by constant indices and members.
 * bodies/range_check reports an index that is out of range. */
static struct kx *fold_index(struct body *b, struct kx *kx)
{
    uint64_t at = 0;
    const struct kx *base = kx;
    if (kx->type->kind != TYPE_SCALAR) return kx;
    for (; base->kind == KX_INDEX || base->kind == KX_MEMBER; base = base->left) {
        if (base->kind == KX_MEMBER) {
            at += base->left->type->fields[base->member].first_scalar;
            continue;
        }
        if (base->right == NULL || base->right->kind != KX_CONSTANT) return kx;
        __int128 index = arith_as_exact(base->right->value);
        if (index < 0 || index >= (__int128)base->left->type->length) return kx;
        at += (uint64_t)index * type_scalar_count(base->type);
    }
    if (base->kind != KX_VARIABLE || base->variable->kind != VARIABLE_CONSTANT) return kx;
    return body_constant(b, kx->span, base->variable->constant[at]);
}

struct kx *body_fold(struct body *b, struct kx *kx)
{
    struct scalar_value value;
    if (kx->kind == KX_INDEX || kx->kind == KX_MEMBER) return fold_index(b, kx);
    if (type_is_aggregate(kx->type)) return kx;
    if (kx->kind == KX_LOGICAL || kx->kind == KX_SELECT) {
        /* An untyped arm may differ in type until it is settled. */
        struct kx *chosen = kx_chosen(kx);
        return chosen != NULL && chosen->type == kx->type ? chosen : kx;
    }
    if (is_untyped(kx->type) || !kx_fold(kx, &value)) return kx;
    return body_constant(b, kx->span, value);
}

/* ---- warnings of conversions ---- */

/*
 * Implicit conversions between scalars are silent as in C, with two warnings: for a constant that its type
 * cannot represent (a cast silences it); and for an integer operation in a narrow type that can overflow,
 * if its result is widened afterwards, implicitly or by a cast.
 */
static void warn_truncated(struct body *b, struct span span, struct scalar_value from,
                           enum scalar_type to)
{
    struct scalar_value after = arith_convert(from, to);
    double number = scalar_is_float(from.type) ? arith_as_f64(from) : 0.0;
    const char *text = arith_text(b->arena, from), *type = scalar_name(to);
    struct diag *diag;
    if (to == SCALAR_BOOL || to == SCALAR_F64) return;
    if (!scalar_is_float(from.type) && scalar_is_float(to)) {
        if (isfinite(arith_as_f64(after))) return;
        diag = body_report(b, RULE_CONSTANT_TRUNCATED, span, "%s is beyond %s and becomes %s", text,
                           type, arith_text(b->arena, after));
    } else if (!scalar_is_float(from.type)) {
        if (arith_fits(arith_as_exact(from), to)) return;
        diag = body_report(b, RULE_CONSTANT_TRUNCATED, span, "%s does not fit %s and becomes %s",
                           text, type, arith_text(b->arena, after));
    } else if (scalar_is_float(to)) {
        if (!isfinite(number) || isfinite(arith_as_f64(after))) return;
        diag = body_report(b, RULE_CONSTANT_TRUNCATED, span, "%s is beyond %s and becomes %s", text,
                           type, arith_text(b->arena, after));
    } else {
        if (number == arith_as_f64(arith_convert(after, SCALAR_F64))) return;
        diag =
            body_report(b, RULE_CONSTANT_TRUNCATED, span, "%s is not a value of %s and becomes %s",
                        text, type, arith_text(b->arena, after));
    }
    const char *source = body_source_text(b, span);
    if (source && strspn(source, "0123456789.abcdefxABCDEF") == strlen(source))
        diag_help(diag, "if that is meant, write a cast: (%s)%s", type, source);
    else if (source)
        diag_help(diag, "if that is meant, write a cast: (%s)(%s)", type, source);
    else
        diag_help(diag, "if that is meant, write a cast to %s", type);
}

struct interval {
    __int128 low, high;
};

static struct interval scalar_type_interval(enum scalar_type type)
{
    unsigned width = 8 * (unsigned)scalar_width_bytes(type);
    if (type == SCALAR_BOOL) return (struct interval){0, 1};
    if (!scalar_is_signed(type)) return (struct interval){0, ((__int128)1 << width) - 1};
    __int128 limit = (__int128)1 << (width - 1);
    return (struct interval){-limit, limit - 1};
}

static bool interval_within(struct interval inner, struct interval outer)
{
    return inner.low >= outer.low && inner.high <= outer.high;
}

static struct interval interval_of(const struct kx *kx, int depth);

static bool product_interval(struct interval a, struct interval c, struct interval *out)
{
    __int128 corners[4];
    if (__builtin_mul_overflow(a.low, c.low, &corners[0]) ||
        __builtin_mul_overflow(a.low, c.high, &corners[1]) ||
        __builtin_mul_overflow(a.high, c.low, &corners[2]) ||
        __builtin_mul_overflow(a.high, c.high, &corners[3]))
        return false;
    *out = (struct interval){corners[0], corners[0]};
    for (int i = 1; i < 4; i++) {
        if (corners[i] < out->low) out->low = corners[i];
        if (corners[i] > out->high) out->high = corners[i];
    }
    return true;
}

/* The values of an operation before wrapping; false: only the bounds of the type are known. */
static bool operation_interval(const struct kx *kx, int depth, struct interval *out)
{
    struct interval a = interval_of(kx->left, depth + 1), c = interval_of(kx->right, depth + 1);
    bool fixed = c.low == c.high;
    switch (kx->op) {
    case OP_ADD: *out = (struct interval){a.low + c.low, a.high + c.high}; return true;
    case OP_SUB: *out = (struct interval){a.low - c.high, a.high - c.low}; return true;
    case OP_MUL: return product_interval(a, c, out);
    case OP_SHL:
        if (!fixed || c.low < 0 || c.low > 63) return false;
        c.low = c.high = (__int128)1 << c.low;
        return product_interval(a, c, out);
    case OP_DIV:
        if (!fixed || c.low <= 0) return false;
        *out = (struct interval){a.low / c.low, a.high / c.low};
        return true;
    case OP_REM:
        if (!fixed || c.low <= 0) return false;
        *out = (struct interval){a.low < 0 ? 1 - c.low : 0, a.high > 0 ? c.low - 1 : 0};
        return true;
    case OP_SHR:
        if (!fixed || c.low < 0 || c.low >= 8 * (__int128)kx->type->width_bytes) return false;
        *out = (struct interval){a.low >> (int)c.low, a.high >> (int)c.low};
        return true;
    case OP_AND:
        if (!fixed || c.low < 0) return false;
        *out = (struct interval){0, c.low};
        return true;
    default: return false;
    }
}

static struct interval interval_of(const struct kx *kx, int depth)
{
    enum { DEPTH_MAX = 12 };
    struct interval whole = scalar_type_interval(kx->type->scalar), found = whole;
    if (depth > DEPTH_MAX) return whole;
    if (kx->kind == KX_CONSTANT) {
        __int128 value = arith_as_exact(kx->value);
        return (struct interval){value, value};
    }
    if (kx->kind == KX_CONVERT && !scalar_is_float(kx->left->type->scalar))
        found = interval_of(kx->left, depth + 1);
    else if (kx->kind == KX_BINARY && !operation_interval(kx, depth, &found))
        return whole;
    return interval_within(found, whole) ? found : whole;
}

/* The product, sum, difference or shift that computes this value and can overflow, or NULL. */
static struct kx *find_overflow(struct kx *kx, int depth)
{
    enum { DEPTH_MAX = 12 };
    if (depth > DEPTH_MAX || kx->cast) return NULL;
    if (kx->kind == KX_SELECT) {
        struct kx *found = find_overflow(kx->right, depth + 1);
        return found ? found : find_overflow(kx->third, depth + 1);
    }
    if (kx->kind == KX_NEGATE) return find_overflow(kx->left, depth + 1);
    if (kx->kind != KX_BINARY) return NULL;
    struct interval result;
    switch (kx->op) {
    case OP_DIV:
    case OP_SHR: return find_overflow(kx->left, depth + 1);
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_SHL:
        if (!operation_interval(kx, 0, &result)) return kx;
        return interval_within(result, scalar_type_interval(kx->type->scalar)) ? NULL : kx;
    default: return NULL;
    }
}

static void warn_widened(struct body *b, struct kx *from, const struct type *to)
{
    if (!type_is_integer(from->type) || !type_is_integer(to) ||
        to->width_bytes <= from->type->width_bytes)
        return;
    struct kx *narrow = find_overflow(from, 0);
    if (!narrow || narrow->widening_reported) return;
    const char *what = narrow->op == OP_ADD   ? "sum"
                       : narrow->op == OP_SUB ? "difference"
                       : narrow->op == OP_MUL ? "product"
                                              : "shift";
    const char *wide = body_type_text(b, to);
    size_t reported = diag_kept_count(b->cx->diags);
    struct diag *diag = body_report(b, RULE_WIDENED_AFTERWARDS, narrow->span,
                                    "the %s is computed in %s and widened to %s afterwards", what,
                                    body_type_text(b, narrow->type), wide);
    narrow->widening_reported = diag_kept_count(b->cx->diags) > reported;
    const char *text = widen_value(b->cx, diag, from, to);
    if (text)
        diag_help(diag, "widen an operand first: %s", text);
    else
        diag_help(diag, "widen an operand first, with a cast to %s", wide);
}

static bool loses_range(const struct kx *from, const struct type *to)
{
    bool from_float = type_is_float(from->type);
    if (from_float && type_is_integer(to)) return true;
    if (from_float && type_is_float(to)) return to->width_bytes < from->type->width_bytes;
    if (!type_is_integer(from->type) || !type_is_integer(to)) return false;
    return to->width_bytes < from->type->width_bytes &&
           !interval_within(interval_of(from, 0), scalar_type_interval(to->scalar));
}

static void warn_narrowed(struct body *b, const struct kx *from, const struct type *to)
{
    if (!diag_wants(b->cx->diags, RULE_IMPLICIT_NARROWING) || !loses_range(from, to)) return;
    const char *narrow = body_type_text(b, to);
    struct diag *diag =
        body_report(b, RULE_IMPLICIT_NARROWING, from->span, "this %s becomes %s, which holds less",
                    body_type_text(b, from->type), narrow);
    diag_help(diag, "where this is meant, write the conversion: (%s)(...)", narrow);
    struct span span = from->span;
    diag_fix(diag, (struct span){span.source, span.begin, span.begin}, "(%s)(", narrow);
    diag_fix(diag, (struct span){span.source, span.end, span.end}, ")");
}

/* ---- untyped trees ---- */

static bool untyped_fits(const struct kx *kx, enum scalar_type type)
{
    if (kx->kind == KX_SELECT)
        return untyped_fits(kx->right, type) && untyped_fits(kx->third, type);
    return arith_fits(arith_as_exact(kx->value), type);
}

/* The default type of an untyped integer. */
static const struct type *default_integer(struct body *b, const struct kx *kx)
{
    if (untyped_fits(kx, SCALAR_I32)) return body_scalar(b, SCALAR_I32);
    return body_scalar(b, untyped_fits(kx, SCALAR_I64) ? SCALAR_I64 : SCALAR_U64);
}

static struct kx *convert_constant(struct body *b, const struct kx *kx, const struct type *type,
                                   bool explicit)
{
    if (!explicit) warn_truncated(b, kx->span, kx->value, type->scalar);
    return body_constant(b, kx->span, arith_convert(kx->value, type->scalar));
}

static struct kx *convert_typed(struct body *b, struct kx *kx, const struct type *type,
                                bool explicit)
{
    if (kx->type == type) return kx;
    if (kx->kind == KX_CONSTANT) return convert_constant(b, kx, type, explicit);
    warn_widened(b, kx, type);
    if (!explicit) warn_narrowed(b, kx, type);
    struct kx *convert = body_kx(b, KX_CONVERT, type, kx->span);
    convert->left = kx;
    return convert;
}

/* Gives an untyped tree the type `type`: a float type to floats, a float or an integer type to
 * integers. Every operation of the tree is then computed in this type, and a literal is rounded to
 * it once: 0.1 * 3 in f32 is f32(0.1) * f32(3). */
static struct kx *give_type(struct body *b, struct kx *kx, const struct type *type, bool explicit)
{
    if (!kx || !is_untyped(kx->type)) return kx ? convert_typed(b, kx, type, explicit) : NULL;
    switch (kx->kind) {
    case KX_CONSTANT: return convert_constant(b, kx, type, explicit);
    case KX_CALL: return body_settle_call(b, kx, type);
    case KX_SELECT:
        kx->right = give_type(b, kx->right, type, explicit);
        kx->third = give_type(b, kx->third, type, explicit);
        if (!kx->right || !kx->third) return NULL;
        break;
    case KX_BUILTIN:
        for (uint32_t i = 0; i < kx->argument_count; i++)
            if (!(kx->arguments[i] = give_type(b, kx->arguments[i], type, explicit))) return NULL;
        break;
    default: /* KX_NEGATE, KX_BINARY */
        if (!(kx->left = give_type(b, kx->left, type, explicit))) return NULL;
        if (kx->right && !(kx->right = give_type(b, kx->right, type, explicit))) return NULL;
        break;
    }
    kx->type = type;
    return body_fold(b, kx);
}

struct kx *body_settled(struct body *b, struct kx *kx)
{
    if (!kx || !is_untyped(kx->type)) return kx;
    if (kx->type == &body_untyped_integer) return give_type(b, kx, default_integer(b, kx), false);
    return give_type(b, kx, body_scalar(b, SCALAR_F32), false);
}

static bool is_value(struct body *b, const struct kx *kx)
{
    if (kx->type->kind != TYPE_VOID) return true;
    body_report(b, RULE_TYPE_MISMATCH, kx->span, "this call gives no value: the function is void");
    return false;
}

static struct kx *convert_scalar(struct body *b, struct kx *kx, const struct type *type,
                                 bool explicit)
{
    if (!is_untyped(kx->type)) return convert_typed(b, kx, type, explicit);
    if (type_is_half(type) && kx->kind != KX_CONSTANT) { /* computed in f32, then stored */
        kx = give_type(b, kx, body_scalar(b, SCALAR_F32), explicit);
        return kx ? convert_typed(b, kx, type, explicit) : NULL;
    }
    if (scalar_is_float(type->scalar)) return give_type(b, kx, type, explicit);
    if (kx->kind == KX_CONSTANT) return convert_constant(b, kx, type, explicit);
    if (kx->type == &body_untyped_integer && type->scalar != SCALAR_BOOL)
        return give_type(b, kx, type, explicit);
    kx = body_settled(b, kx);
    return kx ? convert_typed(b, kx, type, explicit) : NULL;
}

/* Converts a scalar to a vector with equal elements, and a vector to one of the same length,
 * element by element. */
static struct kx *convert_vector(struct body *b, struct kx *kx, const struct type *type,
                                 bool explicit)
{
    if (kx->type == type) return kx;
    bool is_scalar = kx->type->kind == TYPE_SCALAR;
    struct kx *left = is_scalar ? convert_scalar(b, kx, type->element, explicit) : kx;
    if (!left) return NULL;
    struct kx *convert = body_kx(b, is_scalar ? KX_BROADCAST : KX_CONVERT, type, kx->span);
    convert->left = left;
    return convert;
}

/* True if values of type `from` convert to type `to`. */
static bool is_convertible(const struct type *from, const struct type *to)
{
    if (from->kind == TYPE_SCALAR) return to->kind == TYPE_SCALAR || to->kind == TYPE_VECTOR;
    return from->kind == TYPE_VECTOR && to->kind == TYPE_VECTOR && from->length == to->length;
}

static struct kx *convert_value(struct body *b, struct kx *kx, const struct type *type,
                                bool explicit)
{
    return type->kind == TYPE_SCALAR ? convert_scalar(b, kx, type, explicit)
                                     : convert_vector(b, kx, type, explicit);
}

/* ---- packets in the place of their elements ---- */

/* The read of a packet at the root of indices such as x[i][j], or NULL. */
static const struct kx *packet_read(const struct kx *e)
{
    while (e->kind == KX_INDEX)
        e = e->left;
    return e->kind == KX_PEEK ? e : NULL;
}

/* True if the value is a packet, or an array in a packet, where an element was probably meant.
 * Reports it once for each port of a kernel. */
static bool explain_packet(struct body *b, const struct kx *kx)
{
    const struct kx *packet = kx->type->kind == TYPE_ARRAY && b->kernel ? packet_read(kx) : NULL;
    if (!packet) return false;
    const struct kernel *kernel = b->kernel->kernel;
    const struct kernel_port *port = &kernel->in[packet->port];
    bool **explained = &b->kernel->packets_explained;
    if (!*explained) *explained = ARENA_ARRAY(b->cx->arena, bool, kernel->in_count);
    b->failed = true;
    if ((*explained)[packet->port]) return true;
    (*explained)[packet->port] = true;
    const char *text = body_source_text(b, kx->span);
    const char *type = body_type_text(b, kx->type);
    struct diag *diag =
        body_report(b, RULE_TYPE_MISMATCH, kx->span, "'%s' is %s %s of '%s', not a number",
                    text ? text : port->name,
                    kx == packet ? "a whole packet" : "a part of a packet", type, port->name);
    diag_label(diag, port->span, "each packet of '%s' is %s", port->name,
               body_type_text(b, port->type));
    struct span index = packet->right->span;
    bool indexed = index.begin > packet->span.begin && index.end < packet->span.end;
    const char *inner = indexed ? body_source_text(b, index) : NULL;
    if (kx == packet && inner && kx->type->element->kind != TYPE_ARRAY) {
        diag_help(diag, "the first index counts packets: an element is '%s%s[0][%s]'", port->name,
                  port->is_array ? "[port]" : "", inner);
        diag_fix(diag, (struct span){index.source, index.begin, index.begin}, "0][");
    } else {
        const char *indices = "";
        for (const struct type *t = port->type; t->kind == TYPE_ARRAY; t = t->element)
            indices = arena_printf(b->cx->arena, "%s[%c]", indices, *indices ? 'j' : 'i');
        diag_help(diag, "the first index counts packets, the others are within one: '%s%s[0]%s'",
                  port->name, port->is_array ? "[port]" : "", indices);
    }
    return true;
}

/* A packet that is a vector and is read with one index, in the place of an element; or NULL. */
static const struct kx *vector_read(const struct kx *e)
{
    if (!e || e->type->kind != TYPE_VECTOR) return NULL;
    bool indexed = e->kind == KX_PEEK && e->right->span.begin > e->span.begin;
    if (indexed || e->kind == KX_CALL || e->kind == KX_CONVERT) return indexed ? e : NULL;
    const struct kx *left = vector_read(e->left);
    return left ? left : vector_read(e->right);
}

static void help_with_cast(struct body *b, struct diag *diag, const struct kx *kx,
                           const struct type *to, const char *what)
{
    const struct type *from = kx->type;
    const struct kx *packet = type_is_scalar(to) && b->kernel ? vector_read(kx) : NULL;
    const char *index = packet ? body_source_text(b, packet->right->span) : NULL;
    if (index) {
        const char *name = b->kernel->kernel->in[packet->port].name;
        diag_help(diag, "the first index counts packets: an element is '%s[0][%s]'", name, index);
    } else if (type_is_indexed(from) && type_is_scalar(to)) {
        diag_help(diag, "take one element of the %s by an index",
                  from->kind == TYPE_ARRAY ? "array" : "vector");
    }
    if (from->kind == TYPE_STRUCT && type_is_scalar(to))
        diag_help(diag, "take one of its fields: .%s", from->fields[0].name);
    if (from->kind == TYPE_SCALAR && to->kind == TYPE_STRUCT)
        diag_help(diag, "construct it: %s(...)", to->name);
    if (from->kind != TYPE_SCALAR || to->kind != TYPE_ARRAY) return;
    if (*what == '\'')
        diag_help(diag, "braces give the elements in order: {a, b, ...}; those left out are zero");
    else
        diag_help(diag,
                  "declare an array with its elements before, '%s name = {a, b, ...};', and "
                  "write its name here",
                  body_type_text(b, to));
}

struct kx *body_converted(struct body *b, struct kx *kx, const struct type *type, const char *what)
{
    if (!kx || !is_value(b, kx)) return NULL;
    if (kx->type == type) return kx;
    if (is_convertible(kx->type, type)) return convert_value(b, kx, type, false);
    if (type->kind != TYPE_ARRAY && explain_packet(b, kx)) return NULL;
    struct diag *diag =
        body_report(b, RULE_TYPE_MISMATCH, kx->span, "%s is %s, but the value is %s", what,
                    body_type_text(b, type), body_type_text(b, kx->type));
    help_with_cast(b, diag, kx, type, what);
    return NULL;
}

struct kx *body_cast(struct body *b, struct kx *kx, const struct type *type)
{
    if (!kx || !is_value(b, kx)) return NULL;
    if (kx->type == type) {
        kx->cast = true;
        return kx;
    }
    if (is_convertible(kx->type, type)) return convert_value(b, kx, type, true);
    if (explain_packet(b, kx)) return NULL;
    body_report(b, RULE_TYPE_MISMATCH, kx->span, "%s cannot be converted to %s",
                body_type_text(b, kx->type), body_type_text(b, type));
    return NULL;
}

struct kx *body_truth(struct body *b, struct kx *kx)
{
    if (!kx || !is_value(b, kx)) return NULL;
    if (kx->type->kind == TYPE_SCALAR)
        return convert_scalar(b, kx, body_scalar(b, SCALAR_BOOL), false);
    if (explain_packet(b, kx)) return NULL;
    struct diag *diag = body_report(b, RULE_TYPE_MISMATCH, kx->span,
                                    "a condition is a scalar, not %s", body_type_text(b, kx->type));
    if (kx->type->kind == TYPE_VECTOR) diag_help(diag, "any(...) or all(...) of its elements");
    return NULL;
}

/* The type in which values of `type` are computed: bool as i32, f16 and bf16 as f32. */
static const struct type *promoted_type(struct body *b, const struct type *type)
{
    if (type_is_bool(type)) return body_scalar(b, SCALAR_I32);
    return type_is_half(type) ? body_scalar(b, SCALAR_F32) : type;
}

struct kx *body_promoted(struct body *b, struct kx *kx)
{
    if (!kx || is_untyped(kx->type)) return kx;
    const struct type *item = type_item(kx->type), *promoted = promoted_type(b, item);
    if (promoted == item) return kx;
    if (kx->type->kind != TYPE_VECTOR) return convert_typed(b, kx, promoted, true);
    return convert_vector(b, kx, type_vector(b->sema->types, promoted, kx->type->length), true);
}

struct kx *body_whole(struct body *b, struct kx *kx, const char *what)
{
    if (!kx || !is_value(b, kx)) return NULL;
    if (kx->type->kind == TYPE_SCALAR && !scalar_is_float(kx->type->scalar))
        return body_promoted(b, body_settled(b, kx));
    if (explain_packet(b, kx)) return NULL;
    struct diag *diag = body_report(b, RULE_TYPE_MISMATCH, kx->span, "%s is an integer, not %s",
                                    what, body_type_text(b, kx->type));
    if (kx->type->kind == TYPE_SCALAR) diag_help(diag, "convert it: (i32)");
    return NULL;
}

struct kx *body_whole_items(struct body *b, struct kx *kx, const char *what)
{
    if (kx && kx->type->kind == TYPE_VECTOR && !scalar_is_float(kx->type->element->scalar))
        return body_promoted(b, kx);
    return body_whole(b, kx, what);
}

struct kx *body_broadcast(struct body *b, struct kx *kx, uint64_t lanes)
{
    if (!kx || kx->type->kind == TYPE_VECTOR) return kx;
    return convert_vector(b, kx, type_vector(b->sema->types, kx->type, lanes), true);
}

/* ---- the usual conversions ---- */

/*
 * There is no promotion to int.  bool becomes i32, f16 and bf16 become f32. Of an integer and a float, the
 * float's type is the result; of f32 and f64, f64. Of two integer types the wider one is the result; of
 * two equally wide ones, the unsigned one.  With a vector the same holds for the elements, and a scalar
 * stands for each element.
 */
static const struct type *usual_type(struct body *b, const struct type *left,
                                     const struct type *right)
{
    left = promoted_type(b, left);
    if (!right) return left;
    right = promoted_type(b, right);
    if (type_is_float(left) != type_is_float(right)) return type_is_float(left) ? left : right;
    if (left->width_bytes != right->width_bytes)
        return left->width_bytes > right->width_bytes ? left : right;
    return scalar_is_signed(left->scalar) ? right : left;
}

/* Adds as help the reason why the operands do not match. */
static void help_operands(struct body *b, struct diag *diag, struct kx **operands, size_t count)
{
    const struct type *array = NULL, *record = NULL;
    for (size_t i = 0; i < count; i++) {
        if (operands[i]->type->kind == TYPE_ARRAY) array = operands[i]->type;
        if (operands[i]->type->kind == TYPE_STRUCT) record = operands[i]->type;
    }
    if (record)
        diag_help(diag, "structs are computed and compared field by field: .%s",
                  record->fields[0].name);
    else if (array)
        diag_help(diag, "arrays are computed element by element, in a loop");
    else
        diag_help(diag, "vectors of one length go together, and a vector with a scalar");
    (void)b;
}

/* Operands of arithmetic: scalars and vectors of one length, which is *lanes (0: only scalars). */
static bool check_operands(struct body *b, struct kx **operands, size_t count, struct span span,
                           const char *operation, uint64_t *lanes)
{
    bool good = true;
    *lanes = 0;
    for (size_t i = 0; i < count; i++) {
        const struct type *type = operands[i]->type;
        if (!is_value(b, operands[i])) return false;
        if (type->kind == TYPE_VECTOR) {
            good = good && (*lanes == 0 || *lanes == type->length);
            *lanes = type->length;
        } else if (type->kind != TYPE_SCALAR) {
            good = false;
        }
    }
    if (good) return true;
    for (size_t i = 0; i < count; i++)
        if (explain_packet(b, operands[i])) good = true;
    if (good) return false;
    const char *types = "";
    for (size_t i = 0; i < count; i++)
        types = arena_printf(b->arena, "%s%s%s", types,
                             i == 0           ? ""
                             : i + 1 == count ? " and "
                                              : ", ",
                             body_type_text(b, operands[i]->type));
    struct diag *diag =
        body_report(b, RULE_TYPE_MISMATCH, span, "%s does not take %s", operation, types);
    help_operands(b, diag, operands, count);
    return false;
}

/* Literals get the type of the other operands if they fit, otherwise their default. */
static const struct type *unify_integers(struct body *b, struct kx **operands, size_t count,
                                         const struct type *typed)
{
    const struct type *common = typed;
    for (size_t i = 0; i < count; i++)
        if (is_untyped(operands[i]->type) && !untyped_fits(operands[i], typed->scalar))
            common = usual_type(b, common, default_integer(b, operands[i]));
    return common;
}

static const struct type *common_type(struct body *b, struct kx **operands, size_t count)
{
    const struct type *typed = NULL;
    bool untyped_float = false;
    for (size_t i = 0; i < count; i++) {
        const struct type *type =
            is_untyped(operands[i]->type) ? operands[i]->type : type_item(operands[i]->type);
        if (type == &body_untyped_float) untyped_float = true;
        if (!is_untyped(type)) typed = usual_type(b, type, typed);
    }
    if (typed && type_is_float(typed)) return typed;
    if (untyped_float) return &body_untyped_float;
    return typed ? unify_integers(b, operands, count, typed) : &body_untyped_integer;
}

const struct type *body_unify(struct body *b, struct kx **operands, size_t count, struct span span,
                              const char *operation)
{
    for (size_t i = 0; i < count; i++)
        if (!operands[i]) return NULL;
    uint64_t lanes;
    if (!check_operands(b, operands, count, span, operation, &lanes)) return NULL;
    const struct type *common = common_type(b, operands, count);
    if (lanes > 0) { /* a vector decides the type of literals */
        if (is_untyped(common)) common = body_scalar(b, SCALAR_F32);
        common = type_vector(b->sema->types, common, lanes);
    }
    for (size_t i = 0; i < count; i++) {
        operands[i] = is_untyped(common) ? body_promoted(b, operands[i])
                                         : convert_value(b, operands[i], common, false);
        if (!operands[i]) return NULL;
    }
    return common;
}

/* ---- types as written ---- */

static const char *meant_type(const char *name)
{
    if (habit_type(name)) return habit_type(name);
    const char *names[SCALAR_COUNT];
    for (int i = 0; i < SCALAR_COUNT; i++)
        names[i] = scalar_name((enum scalar_type)i);
    return nearest_name(name, names, SCALAR_COUNT);
}

static const struct type *find_named_type(struct body *b, const struct ast_type *type)
{
    const char *name = type->name.text;
    struct symbol *symbol = scope_find(b->scope, name);
    if (symbol) symbol->used = true;
    if (symbol && (symbol->kind == SYMBOL_STRUCT || symbol->kind == SYMBOL_TYPE_PARAM))
        return body_symbol_type(b, symbol, type->name.span);
    if (symbol && symbol->kind == SYMBOL_POISON) {
        b->failed = true;
    } else if (symbol) {
        struct diag *diag =
            body_report(b, RULE_WRONG_KIND_OF_NAME, type->name.span, "'%s' is not a type", name);
        diag_label(diag, symbol->span, "'%s' is declared here", name);
    } else if (strcmp(name, "event") == 0) {
        struct diag *diag = body_report(b, RULE_TYPE_MISMATCH, type->name.span,
                                        "an event is declared only by the launch that sets it");
        diag_help(diag, "event e = launch child(...);");
    } else {
        struct diag *diag =
            body_report(b, RULE_UNKNOWN_NAME, type->name.span, "there is no type '%s'", name);
        const char *meant = meant_type(name);
        const struct habit *habit = habit_find(name);
        if (meant)
            diag_suggest(diag, type->name.span, meant);
        else if (habit)
            diag_help(diag, "%s", habit->help);
        scope_poison(b->scope, type->name);
    }
    return NULL;
}

static const struct type *base_type(struct body *b, const struct ast_type *type)
{
    switch (type->kind) {
    case AST_TYPE_NAMED: return find_named_type(b, type);
    case AST_TYPE_VOID: return type_void(b->sema->types);
    case AST_TYPE_INT: {
        struct diag *diag = body_report(b, RULE_INT_IN_BODY, type->span,
                                        "'int' is the compile-time integer and no type of values");
        diag_help(diag, "write i32");
        diag_fix(diag, type->name.span, "i32");
        return body_scalar(b, SCALAR_I32);
    }
    case AST_TYPE_SCALAR: break;
    }
    const struct type *scalar = body_scalar(b, type->scalar);
    return type->lanes > 1 ? type_vector(b->sema->types, scalar, type->lanes) : scalar;
}

/* Adds `[dims]`, the first of which is outermost. The number of dimensions was checked before. */
static const struct type *add_dimensions(struct body *b, const struct type *type,
                                         const struct ast_expr *dims)
{
    int64_t length;
    if (!dims) return type;
    type = add_dimensions(b, type, dims->next);
    struct body constant = body_constant_part(b);
    bool known = body_integer(&constant, dims, &length);
    if (!known) b->failed = true;
    if (!known || !type) return NULL;
    if (type->kind == TYPE_VOID) {
        body_report(b, RULE_TYPE_MISMATCH, dims->span, "there are no arrays of void");
        return NULL;
    }
    if (length < 1) {
        body_report(b, RULE_CONSTANT_RANGE, dims->span, "an array has at least 1 element, not %lld",
                    (long long)length);
        return NULL;
    }
    const struct type *array = type_array(b->sema->types, type, (uint64_t)length);
    if (array && array->width_bytes <= SEMA_MAX_NODE_BYTES) return array;
    body_report(b, RULE_TOO_LARGE, dims->span,
                "an array of %lld elements of %s takes more than 1 GiB", (long long)length,
                body_type_text(b, type));
    return NULL;
}

static const struct type *find_written_type(struct body *b, const struct ast_type *type,
                                            const struct ast_expr *dims)
{
    enum { DIMENSIONS_MAX = 16 };
    const struct type *base = base_type(b, type);
    const struct ast_expr *const lists[2] = {type->dims, dims};
    for (size_t i = 0, count = 0; i < 2; i++)
        for (const struct ast_expr *dim = lists[i]; dim; dim = dim->next)
            if (++count > DIMENSIONS_MAX) {
                body_report(b, RULE_TOO_LARGE, dim->span, "an array has at most %d dimensions",
                            DIMENSIONS_MAX);
                return NULL;
            }
    return add_dimensions(b, add_dimensions(b, base, type->dims), dims);
}

const struct type *body_value_type(struct body *b, const struct ast_type *type,
                                   const struct ast_expr *dims, const char *what)
{
    const struct type *found = find_written_type(b, type, dims);
    if (!found || found->kind != TYPE_VOID) return found;
    body_report(b, RULE_TYPE_MISMATCH, type->span, "%s cannot be void", what);
    return NULL;
}

const struct type *sema_type(struct sema *sema, struct scope *scope, const struct ast_type *type,
                             const struct ast_expr *dims)
{
    struct body b = body_begin(sema, scope, PLACE_CONSTANT);
    return find_written_type(&b, type, dims);
}
