/* SPDX-License-Identifier: MIT */
#include "compiler/sema/widen.h"

#include <string.h>

#include "compiler/ir/type.h"
#include "base/vec.h"
#include "base/words.h"

enum { DEPTH_MAX = 32, SHOWN_MAX = 64 };

struct cast {
    struct span span; /* of the operand */
    const char *before, *after;
};

struct widening {
    struct compile *cx;
    const struct source *source;
    struct span whole;
    const char *type;
    bool is_vector;
    VEC(struct cast) casts; /* in order of place */
};

/* An implicit conversion has the span of its operand. */
static const struct kx *written_operand(const struct kx *e)
{
    while ((e->kind == KX_CONVERT || e->kind == KX_BROADCAST) &&
           e->span.begin == e->left->span.begin && e->span.end == e->left->span.end)
        e = e->left;
    return e;
}

/* True if the result may be outside of the range of its operands, and no cast says that this is
 * intended. */
static bool is_computed(const struct kx *e, int depth)
{
    e = written_operand(e);
    if (e->cast || depth > DEPTH_MAX) return false;
    if (e->kind == KX_NEGATE) return true;
    if (e->kind == KX_SELECT)
        return is_computed(e->right, depth + 1) || is_computed(e->third, depth + 1);
    if (e->kind != KX_BINARY) return false;
    if (e->op == OP_DIV || e->op == OP_SHR) return is_computed(e->left, depth + 1);
    return e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL || e->op == OP_SHL;
}

static bool is_one_word(const struct widening *w, struct span span)
{
    for (uint32_t i = span.begin; i < span.end; i++) {
        char byte = w->source->bytes[i];
        if (!byte_is_word(byte) && byte != '.') return false;
    }
    return true;
}

/* True if a cast before the text of `e` applies to all of it. */
static bool takes_cast(const struct widening *w, const struct kx *e)
{
    switch (e->kind) {
    case KX_VARIABLE:
    case KX_PEEK:
    case KX_WINDOW:
    case KX_INDEX:
    case KX_MEMBER:
    case KX_CALL:
    case KX_BUILTIN:
    case KX_CONVERT: return true;
    default: return is_one_word(w, e->span);
    }
}

static bool has_place(const struct widening *w, const struct kx *e)
{
    return !e->cast && e->span.source == w->whole.source && e->span.begin >= w->whole.begin &&
           e->span.end <= w->whole.end && e->span.begin < e->span.end;
}

static bool cast_operand(struct widening *w, const struct kx *e)
{
    struct arena *arena = w->cx->arena;
    e = written_operand(e);
    if (!has_place(w, e)) return false;
    struct cast cast = {e->span, "", ""};
    if (w->is_vector)
        cast = (struct cast){e->span, arena_printf(arena, "%s(", w->type), ")"};
    else if (takes_cast(w, e))
        cast.before = arena_printf(arena, "(%s)", w->type);
    else
        cast = (struct cast){e->span, arena_printf(arena, "(%s)(", w->type), ")"};
    vec_push(arena, &w->casts, cast);
    return true;
}

static bool widen_operands(struct widening *w, const struct kx *e, int depth);

/* Casts one of two operands without operations: preferably a variable, not a constant. */
static bool widen_one(struct widening *w, const struct kx *a, const struct kx *b)
{
    bool second = written_operand(a)->kind == KX_CONSTANT || !has_place(w, a);
    const struct kx *preferred = second ? b : a, *other = second ? a : b;
    return cast_operand(w, preferred) || cast_operand(w, other);
}

static bool widen_both(struct widening *w, const struct kx *a, const struct kx *b, int depth)
{
    bool first = is_computed(a, 0), second = is_computed(b, 0);
    if (!first && !second) return widen_one(w, a, b);
    return (!first || widen_operands(w, a, depth + 1)) &&
           (!second || widen_operands(w, b, depth + 1));
}

static bool widen_operands(struct widening *w, const struct kx *e, int depth)
{
    e = written_operand(e);
    if (depth > DEPTH_MAX) return false;
    if (!is_computed(e, 0)) return cast_operand(w, e);
    switch (e->kind) {
    case KX_NEGATE: return widen_operands(w, e->left, depth + 1);
    case KX_SELECT: return widen_both(w, e->right, e->third, depth);
    default: break;
    }
    if (e->op == OP_SHL || e->op == OP_SHR) return widen_operands(w, e->left, depth + 1);
    return widen_both(w, e->left, e->right, depth);
}

const char *widen_value(struct compile *cx, struct diag *diag, const struct kx *value,
                        const struct type *type)
{
    struct widening w = {.cx = cx,
                         .source = source_get(cx->sources, value->span.source),
                         .whole = value->span,
                         .type = type_text(cx->arena, type),
                         .is_vector = type->kind == TYPE_VECTOR};
    if (w.source == NULL || w.whole.end > w.source->size_bytes || !widen_operands(&w, value, 0))
        return NULL;
    for (size_t i = 0; i < w.casts.count; i++) {
        const struct cast *cast = &w.casts.items[i];
        struct span begin = {cast->span.source, cast->span.begin, cast->span.begin};
        struct span end = {cast->span.source, cast->span.end, cast->span.end};
        diag_fix(diag, begin, "%s", cast->before);
        if (*cast->after) diag_fix(diag, end, "%s", cast->after);
    }
    /* The text with its casts. */
    struct arena *arena = w.cx->arena;
    const char *bytes = w.source->bytes, *text = "";
    uint32_t length = w.whole.end - w.whole.begin, at = w.whole.begin;
    if (length > SHOWN_MAX || memchr(bytes + at, '\n', length) != NULL) return NULL;
    for (size_t i = 0; i < w.casts.count; i++) {
        const struct cast *cast = &w.casts.items[i];
        text = arena_printf(arena, "%s%.*s%s%.*s%s", text, (int)(cast->span.begin - at), bytes + at,
                            cast->before, (int)(cast->span.end - cast->span.begin),
                            bytes + cast->span.begin, cast->after);
        at = cast->span.end;
    }
    return arena_printf(arena, "%s%.*s", text, (int)(w.whole.end - at), bytes + at);
}
