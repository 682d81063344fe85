/* SPDX-License-Identifier: MIT */
/* `rows W` and `frame WxH`: the layout of a buffer's packets in two dimensions. */
#include <inttypes.h>
#include <string.h>

#include "compiler/sema/elaborate_internal.h"
#include "lang/window.h"

static const struct ast_expr *first_undecimal(const struct ast_expr *value)
{
    const struct ast_expr *e = value->kind == AST_EXPR_DIMENSIONS ? value->arguments : value;
    for (; e != NULL; e = value->kind == AST_EXPR_DIMENSIONS ? e->next : NULL)
        if (e->kind == AST_EXPR_INTEGER && e->integer.base != 10 && !e->integer.too_large) return e;
    return NULL;
}

/* `group (16, 16)`: a comma expression, the value of which is its last part. */
static struct diag *refuse_comma(struct diags *diags, const struct ast_attribute *attribute)
{
    const struct ast_expr *value = attribute->value, *first = value;
    struct diag *d =
        diag_report(diags, RULE_TYPE_MISMATCH, value->span,
                    "the dimensions of '%s' have 'x' between them, no comma", attribute->name.text);
    diag_help(d, "for example '%s 16x8'", attribute->name.text);
    for (; first->kind == AST_EXPR_COMMA && (first == value || !first->parenthesised);
         first = first->left)
        diag_fix(d,
                 (struct span){value->span.source, first->left->span.end, first->right->span.begin},
                 " x ");
    diag_fix(d, (struct span){value->span.source, value->span.begin, first->span.begin}, "%s", "");
    diag_fix(d, (struct span){value->span.source, value->right->span.end, value->span.end}, "%s",
             "");
    return d;
}

struct diag *sema_refuse_shape(struct diags *diags, const struct ast_attribute *attribute)
{
    if (attribute->value->kind == AST_EXPR_COMMA) return refuse_comma(diags, attribute);
    const struct ast_expr *e = first_undecimal(attribute->value);
    if (e == NULL) return NULL;
    bool hexadecimal = e->integer.base == 16;
    const char *base = hexadecimal ? "hexadecimal" : e->integer.base == 2 ? "binary" : "octal";
    struct diag *d = diag_report(diags, RULE_INVALID_NUMBER, e->span,
                                 "the numbers of '%s' are decimal: this %s number is %" PRIu64 "%s",
                                 attribute->name.text, base, e->integer.value,
                                 hexadecimal ? ", and reads like dimensions" : "");
    diag_help(d, "write '%" PRIu64 "'%s", e->integer.value,
              hexadecimal ? ", or dimensions that begin with 1 or more" : "");
    return d;
}

static bool shape_side(struct elaboration *el, struct scope *scope, const struct ast_expr *expr,
                       const char *what, uint64_t *side)
{
    int64_t value;
    if (!sema_whole(el->sema, scope, expr, what, &value)) return false;
    if (value < 1 || (uint64_t)value > WINDOW_MAX_FRAME) {
        diag_report(el->cx->diags, value < 1 ? RULE_CONSTANT_RANGE : RULE_TOO_LARGE, expr->span,
                    "%s is 1 to %" PRIu64 ", not %" PRId64, what, WINDOW_MAX_FRAME, value);
        return false;
    }
    *side = (uint64_t)value;
    return true;
}

static bool frame_size(struct elaboration *el, struct scope *scope, const struct ast_expr *value,
                       struct graph_shape *shape)
{
    bool plane = value->kind == AST_EXPR_DIMENSIONS && value->arguments->next != NULL &&
                 value->arguments->next->next == NULL;
    if (!plane) {
        struct diag *d = diag_report(el->cx->diags, RULE_TYPE_MISMATCH, value->span,
                                     "a frame is width x height");
        const char *sides =
            value->kind == AST_EXPR_NAME ? scope_dimensions(scope, value->name.text) : NULL;
        if (sides != NULL)
            scope_help_dimensions(d, value->name, sides);
        else
            diag_help(d, "write 'frame 640x480', or 'rows 640' where rows have no end");
        return false;
    }
    const struct ast_expr *width = value->arguments, *height = width->next;
    if (!shape_side(el, scope, width, "the width of a frame", &shape->row_packets) ||
        !shape_side(el, scope, height, "the height of a frame", &shape->frame_rows))
        return false;
    if (shape->row_packets * shape->frame_rows <= WINDOW_MAX_FRAME) return true;
    diag_report(el->cx->diags, RULE_TOO_LARGE, value->span,
                "a frame has at most %" PRIu64 " packets, not %" PRIu64, WINDOW_MAX_FRAME,
                shape->row_packets * shape->frame_rows);
    return false;
}

bool is_shape_attribute(const struct ast_attribute *a)
{
    return strcmp(a->name.text, "rows") == 0 || strcmp(a->name.text, "frame") == 0;
}

bool shape_attribute(struct elaboration *el, struct scope *scope, const struct ast_attribute *a,
                     struct graph_shape *shape)
{
    struct graph_shape read = {.declared = true, .span = a->span};
    if (a->of.text != NULL) {
        diag_report(el->cx->diags, RULE_UNKNOWN_ATTRIBUTE, a->of.span,
                    "'of PORT' belongs to 'amplify', not to '%s'", a->name.text);
        return false;
    }
    if (shape->declared) {
        struct diag *d = diag_report(el->cx->diags, RULE_DUPLICATE_NAME, a->span,
                                     "a buffer has rows or frames, not both");
        diag_label(d, shape->span, "the other one");
        return false;
    }
    if (sema_refuse_shape(el->cx->diags, a) != NULL) return false;
    bool ok = strcmp(a->name.text, "rows") == 0
                  ? shape_side(el, scope, a->value, "the length of a row", &read.row_packets)
                  : frame_size(el, scope, a->value, &read);
    if (ok) *shape = read;
    return ok;
}
