/* SPDX-License-Identifier: MIT */
/*
 * body_window: 2-D windows: `window WxH border HOW` of in-ports, and reads of them: x[row][column].
 */
#include <string.h>

#include "compiler/sema/body_internal.h"
#include "base/nearest.h"
#include "lang/window.h"
#include "base/words.h"

/* ---- attributes ---- */

static bool window_side(struct body *b, const struct ast_expr *expr, const char *what,
                        uint32_t *side)
{
    int64_t value;
    if (!sema_whole(b->sema, b->scope, expr, what, &value)) {
        b->failed = true;
        return false;
    }
    if (value > WINDOW_MAX_SIDE) {
        body_report(b, RULE_TOO_LARGE, expr->span, "%s is at most %u packets, not %lld", what,
                    WINDOW_MAX_SIDE, (long long)value);
        return false;
    }
    if (value < 1 || value % 2 == 0) {
        struct diag *diag =
            body_report(b, RULE_INVALID_RATE, expr->span,
                        "%s is an odd number of packets, not %lld", what, (long long)value);
        diag_help(diag, "the packet that the firing consumes is in the middle");
        return false;
    }
    *side = (uint32_t)value;
    return true;
}

static void window_size(struct body *b, const struct ast_attribute *attribute,
                        struct kernel_port *port)
{
    const struct ast_expr *value = attribute->value;
    port->window_width = port->window_height = 1;
    port->window_span = attribute->span;
    if (sema_refuse_shape(b->cx->diags, attribute) != NULL) {
        b->failed = true;
        return;
    }
    bool plane = value->kind == AST_EXPR_DIMENSIONS && value->arguments->next != NULL &&
                 value->arguments->next->next == NULL;
    if (!plane) {
        struct diag *diag =
            body_report(b, RULE_INVALID_RATE, value->span, "a window is width x height");
        const char *sides =
            value->kind == AST_EXPR_NAME ? scope_dimensions(b->scope, value->name.text) : NULL;
        if (sides)
            scope_help_dimensions(diag, value->name, sides);
        else
            diag_help(diag, "write 'window 3x3', or 'window 5x1' for a window along the row");
        return;
    }
    window_side(b, value->arguments, "the width of a window", &port->window_width);
    window_side(b, value->arguments->next, "the height of a window", &port->window_height);
}

static void window_border_kind(struct body *b, const struct ast_attribute *attribute,
                               struct kernel_port *port)
{
    static const char *const names[] = {[BORDER_CLAMP] = "clamp",
                                        [BORDER_MIRROR] = "mirror",
                                        [BORDER_WRAP] = "wrap",
                                        [BORDER_ZERO] = "zero"};
    enum { COUNT = sizeof names / sizeof *names };
    const struct ast_expr *value = attribute->value;
    bool named = value->kind == AST_EXPR_NAME;
    size_t border = named ? word_index(value->name.text, names, COUNT) : COUNT;
    if (border < COUNT) {
        port->border = (enum border)border;
        return;
    }
    struct diag *diag = body_report(b, RULE_UNKNOWN_ATTRIBUTE, value->span,
                                    "a border is clamp, mirror, wrap or zero");
    const char *nearest = named ? nearest_name(value->name.text, names, COUNT) : NULL;
    if (nearest) diag_suggest(diag, value->span, nearest);
}

bool body_window_attribute(struct body *b, const struct ast_attribute *attribute,
                           struct kernel_port *port)
{
    bool window = strcmp(attribute->name.text, "window") == 0;
    if (!window && strcmp(attribute->name.text, "border") != 0) return false;
    if (attribute->of.text)
        body_report(b, RULE_UNKNOWN_ATTRIBUTE, attribute->of.span,
                    "'of PORT' belongs to 'amplify', not to '%s'", attribute->name.text);
    if (window)
        window_size(b, attribute, port);
    else
        window_border_kind(b, attribute, port);
    return true;
}

void body_window_check(struct body *b, const struct ast_port *ast, const struct kernel_port *port)
{
    const struct ast_attribute *at = ast->attributes;
    while (at && strcmp(at->name.text, "border") != 0)
        at = at->next;
    if (port->window_width == 0) {
        if (!at) return;
        struct diag *diag =
            body_report(b, RULE_UNKNOWN_ATTRIBUTE, at->name.span,
                        "'border' says how a window ends, and '%s' has none", port->name);
        diag_help(diag, "declare it, too: 'window 3x3 border clamp'");
        return;
    }
    if (b->failed) return;
    if (b->kernel->kernel->phases > 1) {
        struct diag *diag = body_report(b, RULE_INVALID_RATE, port->window_span,
                                        "a kernel with phases cannot have a window");
        diag_help(diag, "declare bounds instead, such as 'push 0..1'");
    } else if (port->pop != 1 || port->peek != 1) {
        struct diag *diag =
            body_report(b, RULE_INVALID_RATE, port->rate_span,
                        "'%s' has a window: it consumes one packet a firing", port->name);
        diag_label(diag, port->window_span, "says what a firing sees");
        diag_help(diag, "leave the rate out");
    }
}

/* ---- reading ---- */

bool body_window_finish(struct body *b, const struct kernel_port *port, struct span span)
{
    if (port->window_width == 0 || b->place != PLACE_FINISH) return true;
    struct diag *diag = body_report(b, RULE_MISPLACED_STATEMENT, span,
                                    "'finish' cannot read '%s': it has a window", port->name);
    diag_label(diag, port->window_span, "a window has a centre only in a firing");
    return false;
}

/* A single index would select a row. */
static bool check_both_indices(struct body *b, const struct port_access *access,
                               const struct kernel_port *port)
{
    if (access->count != 1) return true;
    const char *element = port->is_array ? "[port]" : "";
    struct diag *diag =
        body_report(b, RULE_TYPE_MISMATCH, access->span,
                    "a packet of the window of '%s' is named by row and column", port->name);
    diag_label(diag, port->window_span, "%ux%u", port->window_width, port->window_height);
    diag_help(diag,
              "write '%s%s[row][column]', counted from the centre; '%s%s' by itself is the centre",
              port->name, element, port->name, element);
    return false;
}

struct kx *body_window_read(struct body *b, struct port_access *access,
                            const struct kernel_port *port, struct kx *element)
{
    struct kx *at[2];
    if (!body_window_finish(b, port, access->span)) return NULL;
    if (!check_both_indices(b, access, port)) return NULL;
    for (int i = 0; i < 2; i++) {
        const char *what = i == 0 ? "the row of a packet" : "the column of a packet";
        at[i] = access->count > 0 ? body_whole(b, body_expr(b, access->indices[i]), what)
                                  : body_constant(b, access->span, arith_integer(SCALAR_I32, 0));
    }
    if (!at[0] || !at[1]) return NULL;
    struct kx *kx = body_kx(b, KX_WINDOW, port->type, access->span);
    kx->port = access->symbol->port;
    kx->left = at[0];
    kx->right = at[1];
    kx->third = element;
    return kx;
}
