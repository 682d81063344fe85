/* SPDX-License-Identifier: MIT */
/*
 * body_group: work-items: the attribute `group` of a kernel, `item`, `barrier();`, and `local`
 * variables, which the items of one firing share.
 *
 * bodies/divergence checks that barriers stand in uniform control flow; bodies/race checks that items do
 * not race.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/sema/body_internal.h"

/* ---- group ---- */

static bool eval_extent(struct body *b, const struct ast_expr *e, uint32_t *out)
{
    int64_t value;
    if (!sema_integer(b->sema, b->scope, e, &value)) {
        b->failed = true;
        return false;
    }
    if (value >= 1 && value <= SEMA_MAX_GROUP_ITEMS) {
        *out = (uint32_t)value;
        return true;
    }
    body_report(b, value < 1 ? RULE_CONSTANT_RANGE : RULE_TOO_LARGE, e->span,
                "a group has 1 to %d work-items, not %" PRId64, SEMA_MAX_GROUP_ITEMS, value);
    return false;
}

void body_group(struct body *b, const struct ast_attribute *attribute)
{
    struct kernel *kernel = b->kernel->kernel;
    const struct ast_expr *value = attribute->value;
    uint64_t items = 1;
    kernel->grouped = true;
    if (attribute->of.text)
        body_report(b, RULE_UNKNOWN_ATTRIBUTE, attribute->of.span,
                    "'of PORT' belongs to 'amplify', not to 'group'");
    if (sema_refuse_shape(b->cx->diags, attribute) != NULL) {
        b->failed = true;
        return;
    }
    if (value->kind != AST_EXPR_DIMENSIONS) {
        if (value->kind == AST_EXPR_RANGE || value->kind == AST_EXPR_BRACES ||
            value->kind == AST_EXPR_REPEAT) {
            struct diag *diag = body_report(b, RULE_CONSTANT_RANGE, value->span,
                                            "'group' is one, two or three numbers of work-items");
            diag_help(diag, "write 'group 64', 'group 16x16' or 'group 8x8x4', width first");
            return;
        }
        eval_extent(b, value, &kernel->group[0]);
        return;
    }
    int dimension = 0;
    for (const struct ast_expr *e = value->arguments; e; e = e->next, dimension++) {
        if (dimension == 3) {
            body_report(b, RULE_CONSTANT_RANGE, e->span, "a group has three dimensions at most");
            return;
        }
        if (!eval_extent(b, e, &kernel->group[dimension])) return;
        items *= kernel->group[dimension]; /* at most 2^30 */
    }
    if (items > SEMA_MAX_GROUP_ITEMS)
        body_report(b, RULE_TOO_LARGE, value->span, "a group has 1 to %d work-items, not %" PRIu64,
                    SEMA_MAX_GROUP_ITEMS, items);
}

/* ---- where work-items exist ---- */

/* Reports the use of `what` outside of the firings of a kernel with work-items. */
static bool check_items(struct body *b, struct span span, const char *what)
{
    struct diag *diag;
    if (!b->kernel) {
        diag =
            body_report(b, RULE_MISPLACED_STATEMENT, span,
                        b->place == PLACE_FUNCTION
                            ? "%s belongs to the body of a kernel with work-items, not to functions"
                            : "%s belongs to the body of a kernel with work-items",
                        what);
        if (b->place == PLACE_FUNCTION)
            diag_help(diag, strcmp(what, "'barrier'") == 0
                                ? "put it in the body of the kernel, before or after the call"
                                : "pass the value to the function as an argument");
        return false;
    }
    if (!b->kernel->kernel->grouped) {
        diag = body_report(b, RULE_MISPLACED_STATEMENT, span,
                           "%s belongs to a kernel with work-items", what);
        diag_label(diag, b->kernel->kernel->span, "'%s' has no 'group'", b->kernel->kernel->name);
        diag_help(diag, "write 'group N' after its parameter list");
        return false;
    }
    if (b->place == PLACE_FIRING) return true;
    if (b->place == PLACE_INIT || b->place == PLACE_FINISH)
        body_report(b, RULE_MISPLACED_STATEMENT, span,
                    "'%s' runs once for the node, without work-items: %s has no meaning there",
                    b->place == PLACE_INIT ? "init" : "finish", what);
    else
        body_report(b, RULE_NOT_CONSTANT, span, "%s is not known when compiling", what);
    return false;
}

/* ---- item ---- */

bool body_is_item(const struct body *b, const struct ast_expr *e)
{
    return e->kind == AST_EXPR_MEMBER && e->left->kind == AST_EXPR_NAME &&
           strcmp(e->left->name.text, "item") == 0 && !scope_find(b->scope, e->left->name.text);
}

/* The number of the work-group and the number of work-groups belong to a launch. */
static bool check_group_member(struct body *b, struct span span, const char *member)
{
    const char *what = arena_printf(b->arena, "'item.%s'", member);
    if (!b->kernel || b->place != PLACE_FIRING) {
        body_report(b, RULE_MISPLACED_STATEMENT, span,
                    "%s belongs to the body of a child kernel with 'groups'", what);
        return false;
    }
    const struct kernel *kernel = b->kernel->kernel;
    if (kernel->in_groups) return true;
    struct diag *diag = body_report(b, RULE_MISPLACED_STATEMENT, span,
                                    "%s belongs to a child kernel with 'groups'", what);
    diag_label(diag, kernel->span, "'%s' has no 'groups'", kernel->name);
    diag_help(diag, kernel->is_child
                        ? "write 'groups N', the maximum of work-groups of a launch, after "
                          "its parameter list"
                        : "only launches have several work-groups: a firing is one");
    return false;
}

struct kx *body_item(struct body *b, const struct ast_expr *e)
{
    static const char *const members[ITEM_MEMBERS] = {"x", "y", "z", "group", "groups"};
    const char *name = e->name.text;
    uint32_t member = 0;
    while (member < ITEM_MEMBERS && strcmp(name, members[member]) != 0)
        member++;
    bool known = member < ITEM_MEMBERS;
    if (member == ITEM_GROUP || member == ITEM_GROUPS) {
        if (!check_group_member(b, e->span, name)) return NULL;
    } else if (!check_items(b, e->span,
                            known ? arena_printf(b->arena, "'item.%s'", name) : "'item'"))
        return NULL;
    if (!known) {
        struct diag *diag =
            body_report(b, RULE_UNKNOWN_NAME, e->name.span, "'item' has no member '%s'", name);
        diag_help(diag, "the index of the work-item is item.x, item.y, item.z");
        return NULL;
    }
    struct kx *kx = body_kx(b, KX_ITEM, body_scalar(b, SCALAR_I32), e->span);
    kx->dimension = member;
    return kx;
}

/* ---- barrier ---- */

bool body_barrier(struct body *b, const struct ast_expr *e, struct ks_list *out)
{
    if (e->kind != AST_EXPR_CALL || strcmp(e->name.text, "barrier") != 0 ||
        scope_find(b->scope, e->name.text))
        return false;
    if (e->arguments) {
        body_report(b, RULE_WRONG_ARGUMENT_COUNT, e->arguments->span,
                    "'barrier' takes no arguments");
        return true;
    }
    if (!check_items(b, e->span, "'barrier'")) return true;
    b->kernel->barriers++;
    struct ks *ks = ARENA_NEW(b->arena, struct ks);
    ks->kind = KS_BARRIER;
    ks->span = e->span;
    ks_append(out, ks);
    return true;
}

void body_barrier_value(struct body *b, const struct ast_expr *e)
{
    struct diag *diag = body_report(b, RULE_MISPLACED_STATEMENT, e->span,
                                    "'barrier' has no value: it is a statement of its own");
    diag_help(diag, "write 'barrier();'");
}

/* ---- local ---- */

bool body_check_shared(struct body *b, const struct ast_stmt *s, bool in_for)
{
    if (!check_items(b, s->span, "'local'")) return false;
    if (b->scope == b->kernel->scope && !in_for) return true;
    struct diag *diag = body_report(b, RULE_MISPLACED_STATEMENT, s->span,
                                    "'local' stands directly in the body of a kernel");
    diag_note(diag, "the work-items share it for the whole firing");
    return false;
}

void body_declare_shared(struct body *b, const struct ast_stmt *s, const struct ast_declarator *d)
{
    const char *what = arena_printf(b->arena, "'%s'", d->name.text);
    const struct type *type = body_value_type(b, s->type, d->dims, what);
    struct variable *variable = NULL;
    if (type) {
        variable = body_local(b, d->name, type);
        variable->kind = VARIABLE_SHARED;
        vec_push(b->arena, &b->kernel->kernel->shared, variable);
    }
    if (d->init) {
        struct diag *diag =
            body_report(b, RULE_MISPLACED_STATEMENT, d->init->span,
                        "'%s' is shared by the work-items and has no initialiser", d->name.text);
        diag_help(diag, "it is zero when a firing begins; let one item set it, then 'barrier();'");
    }
    body_declare_variable(b, d, variable);
}

void body_check_shared_bytes(struct body *b)
{
    struct kernel *kernel = b->kernel->kernel;
    uint64_t bytes = 0;
    for (size_t i = 0; i < kernel->shared.count; i++) /* each below 2^30 */
        bytes = (bytes + 15) / 16 * 16 + kernel->shared.items[i]->type->width_bytes;
    kernel->shared_bytes = bytes;
    if (bytes > SEMA_MAX_SHARED_BYTES)
        body_report(b, RULE_TOO_LARGE, kernel->shared.items[0]->span,
                    "the 'local' variables of '%s' take %" PRIu64
                    " bytes, at most 64 KiB are available",
                    kernel->title, bytes);
}
