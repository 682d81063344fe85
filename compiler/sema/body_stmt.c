/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/arithmetic.h"
#include "compiler/sema/body_internal.h"

static void build_statement(struct body *b, const struct ast_stmt *s, struct ks_list *out);

/* ---- building ---- */

void ks_append(struct ks_list *list, struct ks *ks)
{
    *list->end = ks;
    while (*list->end)
        list->end = &(*list->end)->next;
}

static struct ks *new_ks(struct body *b, enum ks_kind kind, struct span span)
{
    struct ks *ks = ARENA_NEW(b->arena, struct ks);
    ks->kind = kind;
    ks->span = span;
    return ks;
}

static struct ks *block_statement(struct body *b, struct ks_list list, struct span span)
{
    struct ks *block = new_ks(b, KS_BLOCK, span);
    block->body = list.first;
    return block;
}

void body_statements(struct body *b, const struct ast_stmt *first, struct ks_list *out)
{
    for (; first; first = first->next)
        build_statement(b, first, out);
}

/* A statement in a scope of its own, as a block. */
static struct ks *scoped_statement(struct body *b, const struct ast_stmt *s)
{
    struct scope *outer = b->scope;
    struct ks_list list = {.end = &list.first};
    b->scope = scope_create(b->cx, outer);
    if (s->kind == AST_STMT_BLOCK)
        body_statements(b, s->body, &list);
    else
        build_statement(b, s, &list);
    b->scope = outer;
    return block_statement(b, list, s->span);
}

static struct diag *report_misplaced_statement(struct body *b, struct span span, const char *text)
{
    return body_report(b, RULE_MISPLACED_STATEMENT, span, "%s", text);
}

static struct kx *require_expr(struct body *b, struct kx *kx)
{
    if (!kx) b->failed = true;
    return kx;
}

/* ---- declarations ---- */

void body_declare_variable(struct body *b, const struct ast_declarator *d,
                           struct variable *variable)
{
    struct symbol symbol = {.kind = variable ? SYMBOL_VARIABLE : SYMBOL_POISON,
                            .name = d->name.text,
                            .span = d->name.span,
                            .variable = variable};
    if (!variable) b->failed = true;
    body_declare(b, symbol);
}

static void append_declare(struct body *b, const struct ast_declarator *d,
                           struct variable *variable, struct kx *value, struct ks_list *out)
{
    struct ks *ks = new_ks(b, KS_DECLARE, d->span);
    ks->variable = variable;
    ks->expr = value;
    ks_append(out, ks);
}

/* The initialiser does not see the new name: `i32 x = x;` copies an outer x. */
static void declare_local(struct body *b, const struct ast_stmt *s, const struct ast_declarator *d,
                          struct ks_list *out)
{
    const char *what = arena_printf(b->arena, "'%s'", d->name.text);
    const struct type *type = body_value_type(b, s->type, d->dims, what);
    struct kx *value = NULL;
    bool alone = d->init && d->init->kind != AST_EXPR_BRACES && d->init->kind != AST_EXPR_STRING;
    if (!type && alone) body_expr(b, d->init);
    if (type && d->init) value = require_expr(b, body_initialiser(b, d->init, type, what));
    struct variable *variable = type ? body_local(b, d->name, type) : NULL;
    body_declare_variable(b, d, variable);
    if (variable) append_declare(b, d, variable, value, out);
}

/* A value that is known is a constant. One that is known only at run time is a local that cannot
 * be assigned again. */
static void declare_const(struct body *b, const struct ast_stmt *s, const struct ast_declarator *d,
                          struct ks_list *out)
{
    struct kx *value = NULL;
    const struct type *type = NULL;
    body_const_declarator(b, s->type, d, &value, &type);
    if (!value) return;
    struct variable *variable = body_local(b, d->name, type);
    variable->is_const = true;
    body_declare_variable(b, d, variable);
    append_declare(b, d, variable, value, out);
}

/* Assigns the initialiser before `init` runs. */
static void initialise_kept(struct body *b, const struct ast_declarator *d,
                            struct variable *variable, const char *what)
{
    struct body init = *b;
    init.place = PLACE_INIT;
    struct kx *value = body_initialiser(&init, d->init, variable->type, what);
    b->callee_depth = init.callee_depth;
    b->callee_stack_bytes = init.callee_stack_bytes;
    if (!value || init.failed) b->failed = true;
    if (!value) return;
    struct kx *target = body_kx(b, KX_VARIABLE, variable->type, d->name.span);
    target->variable = variable;
    struct kx *assign = body_kx(b, KX_ASSIGN, variable->type, d->span);
    assign->left = target;
    assign->right = value;
    struct ks *ks = new_ks(b, KS_EXPR, d->span);
    ks->expr = assign;
    *b->kernel->init_end = ks;
    b->kernel->init_end = &ks->next;
}

/* Tables and states live in the node's memory. */
static void declare_kept(struct body *b, const struct ast_stmt *s, const struct ast_declarator *d)
{
    bool is_table = s->qualifier == AST_TABLE;
    struct kernel *kernel = b->kernel->kernel;
    const char *what = arena_printf(b->arena, "'%s'", d->name.text);
    const struct type *type = body_value_type(b, s->type, d->dims, what);
    if (!type) {
        body_declare_variable(b, d, NULL);
        return;
    }
    struct variable *variable = ARENA_NEW(b->arena, struct variable);
    *variable = (struct variable){.kind = is_table ? VARIABLE_TABLE : VARIABLE_STATE,
                                  .name = d->name.text,
                                  .span = d->name.span,
                                  .type = type};
    uint64_t *bytes = is_table ? &kernel->tables_bytes : &kernel->state_bytes;
    variable->offset_bytes = align_up(*bytes, type->alignment_bytes);
    /* Each type is below 1 GiB, and the sum is checked at the end: no overflow with fewer than 2^33
     * variables. */
    *bytes = variable->offset_bytes + type->width_bytes;
    if (is_table)
        vec_push(b->arena, &kernel->tables, variable);
    else
        vec_push(b->arena, &kernel->states, variable);
    if (d->init) initialise_kept(b, d, variable, what);
    body_declare_variable(b, d, variable);
}

static bool check_qualifier(struct body *b, const struct ast_stmt *s, bool in_for)
{
    const char *name = s->qualifier == AST_TABLE ? "table" : "state";
    if (s->qualifier == AST_LOCAL) return body_check_shared(b, s, in_for);
    if (s->qualifier != AST_TABLE && s->qualifier != AST_STATE) return true;
    if (!body_check_child_section(b, s->span, name)) return false;
    if (b->kernel && b->place == PLACE_FIRING && !in_for) return true;
    body_report(b, RULE_MISPLACED_STATEMENT, s->span,
                "'%s' declares a variable of a kernel: it stands in %s", name,
                b->kernel ? "the kernel's body, outside of 'init', 'finish' and 'for (...)'"
                          : "kernels, not in functions");
    return false;
}

static void declaration_statement(struct body *b, const struct ast_stmt *s, bool in_for,
                                  struct ks_list *out)
{
    bool allowed = check_qualifier(b, s, in_for);
    for (const struct ast_declarator *d = s->declarators; d; d = d->next) {
        if (!allowed)
            body_declare_variable(b, d, NULL);
        else if (s->qualifier == AST_CONST)
            declare_const(b, s, d, out);
        else if (s->qualifier == AST_PLAIN)
            declare_local(b, s, d, out);
        else if (s->qualifier == AST_LOCAL)
            body_declare_shared(b, s, d);
        else
            declare_kept(b, s, d);
    }
}

/* ---- packets ---- */

static const struct kernel_port *out_port(struct body *b, const struct port_access *access)
{
    return &b->kernel->kernel->out[access->symbol->port];
}

static void check_both_ways(struct body *b, const struct port_access *access, struct span span)
{
    const struct span *stores = b->kernel->store_spans, *emits = b->kernel->emit_spans;
    uint32_t port = access->symbol->port;
    if (!stores[port].source || !emits[port].source) return;
    bool is_store = span.begin == stores[port].begin && span.source == stores[port].source;
    struct diag *diag =
        body_report(b, RULE_NOT_ASSIGNABLE, span,
                    "the packets of '%s' are either appended or written by index, not both",
                    access->symbol->name);
    diag_label(diag, is_store ? emits[port] : stores[port], "%s here",
               is_store ? "appended" : "written by index");
}

/* Where packets may be written: in firings and in finish. */
static bool check_writing(struct body *b, struct span span)
{
    if (b->place == PLACE_FIRING || b->place == PLACE_FINISH) return true;
    report_misplaced_statement(b, span,
                               "'init' runs before the first firing: it cannot write packets");
    return false;
}

static bool exact_rate(const struct kernel *kernel, const struct kernel_port *port)
{
    for (uint32_t i = 0; port->pushes && i < kernel->phases; i++)
        if (port->push_leasts[i] != port->pushes[i]) return false;
    return port->rate_declared && port->push_least == port->push;
}

static void store_statement(struct body *b, const struct ast_expr *e, struct port_access *access,
                            struct ks_list *out)
{
    struct kernel_port *port = &b->kernel->kernel->out[access->symbol->port];
    struct kx *element, *index, *value;
    struct diag *diag;
    if (!check_writing(b, e->span)) return;
    if (b->place == PLACE_FINISH) {
        diag = report_misplaced_statement(b, e->span,
                                          "in 'finish' packets are appended, not written by index");
        diag_help(diag, "write '%s <- value;'", port->name);
        return;
    }
    if (!exact_rate(b->kernel->kernel, port)) {
        diag = body_report(b, RULE_NOT_ASSIGNABLE, e->span,
                           "writing packets by index needs an exact rate");
        if (port->rate_declared)
            diag_label(diag, port->rate_span, "the rate of '%s' is bounded", port->name);
        else
            diag_label(diag, port->span, "'%s' declares none", port->name);
        diag_help(diag, "declare 'push N', or append with '%s <- value;'", port->name);
        return;
    }
    if (!body_port_element(b, access, port, &element)) return;
    index = body_whole(b, body_expr(b, access->indices[0]), "the index of a packet");
    value = body_converted(b, body_expr(b, e->right), port->type,
                           arena_printf(b->arena, "a packet of '%s'", port->name));
    struct span *first = &b->kernel->store_spans[access->symbol->port];
    if (!first->source) {
        *first = e->span;
        check_both_ways(b, access, e->span);
    }
    port->indexed = true;
    if (!require_expr(b, index) || !require_expr(b, value)) return;
    struct ks *ks = new_ks(b, KS_STORE, e->span);
    ks->port = access->symbol->port;
    ks->element = element, ks->index = index, ks->expr = value;
    ks_append(out, ks);
}

static void not_out_port(struct body *b, const struct ast_stmt *s, const struct port_access *access)
{
    struct diag *diag;
    if (access->symbol && access->symbol->kind == SYMBOL_IN_PORT) {
        diag = body_report(b, RULE_WRONG_KIND_OF_NAME, s->target->span,
                           "'%s' is an in-port: '<-' appends to out-ports", access->symbol->name);
        diag_label(diag, access->symbol->span, "declared here");
    } else if (access->symbol && access->symbol->kind == SYMBOL_POISON) {
        b->failed = true;
    } else if (access->symbol) {
        diag = body_report(b, RULE_WRONG_KIND_OF_NAME, s->target->span,
                           "'%s' is no out-port: '<-' appends to out-ports", access->symbol->name);
        diag_label(diag, access->symbol->span, "declared here");
        diag_help(diag, "to compare with a negative number write 'a < -b'");
    } else if (s->target->kind == AST_EXPR_NAME) {
        scope_lookup(b->scope, s->target->name, "out-port");
        b->failed = true;
    } else {
        report_misplaced_statement(b, s->target->span,
                                   "'<-' appends to an out-port, named before it");
    }
}

static void emit_statement(struct body *b, const struct ast_stmt *s, struct ks_list *out)
{
    struct port_access access;
    if (!body_port_access(b, s->target, &access) || access.symbol->kind != SYMBOL_OUT_PORT) {
        not_out_port(b, s, &access);
        return;
    }
    const struct kernel_port *port = out_port(b, &access);
    struct kx *element;
    if (!check_writing(b, s->span) || !body_port_element(b, &access, port, &element)) return;
    if (access.count > 0) {
        struct diag *diag = body_report(b, RULE_TYPE_MISMATCH, s->target->span,
                                        "'<-' appends after the last packet and takes no index");
        const char *index = body_source_text(b, access.indices[0]->span);
        diag_help(diag, "'%s%s[%s] = value;' writes one packet of those that 'push N' declares",
                  port->name, port->is_array ? "[port]" : "", index ? index : "j");
        return;
    }
    struct kx *value = body_converted(b, body_expr(b, s->expr), port->type,
                                      arena_printf(b->arena, "a packet of '%s'", port->name));
    struct span *first = &b->kernel->emit_spans[access.symbol->port];
    if (b->place == PLACE_FIRING && !first->source) {
        *first = s->span;
        check_both_ways(b, &access, s->span);
    }
    if (!require_expr(b, value)) return;
    struct ks *ks = new_ks(b, KS_EMIT, s->span);
    ks->port = access.symbol->port;
    ks->element = element, ks->expr = value;
    ks_append(out, ks);
}

static void expression_statement(struct body *b, const struct ast_stmt *s, struct ks_list *out)
{
    const struct ast_expr *e = s->expr;
    struct port_access access;
    if (e->kind == AST_EXPR_ASSIGN && e->op == AST_OP_NONE &&
        body_port_access(b, e->left, &access) && access.symbol->kind == SYMBOL_OUT_PORT &&
        access.count == body_port_indices(out_port(b, &access))) {
        store_statement(b, e, &access, out);
        return;
    }
    if (body_barrier(b, e, out)) return;
    struct kx *kx = require_expr(b, body_value(b, e));
    if (!kx) return;
    struct ks *ks = new_ks(b, KS_EXPR, s->span);
    ks->expr = kx;
    ks_append(out, ks);
}

/* ---- control ---- */

/* A condition that is known chooses at compile time; the other arm is also checked. */
static void if_statement(struct body *b, const struct ast_stmt *s, struct ks_list *out)
{
    struct kx *condition = require_expr(b, body_condition(b, s->expr));
    bool known = condition && condition->kind == KX_CONSTANT, dead = b->dead;
    bool taken = known && arith_truth(condition->value);
    b->dead = dead || (known && !taken);
    struct ks *body = scoped_statement(b, s->body), *otherwise = NULL;
    b->dead = dead || (known && taken);
    if (s->otherwise) otherwise = scoped_statement(b, s->otherwise);
    b->dead = dead;
    if (!condition) return;
    if (known) {
        if (!taken) body = otherwise;
        if (body) ks_append(out, body);
        return;
    }
    struct ks *ks = new_ks(b, KS_IF, s->span);
    ks->expr = condition, ks->body = body, ks->otherwise = otherwise;
    ks_append(out, ks);
}

static struct ks *loop_body(struct body *b, const struct ast_stmt *body)
{
    bool break_allowed = b->break_allowed;
    b->loops++;
    b->break_allowed = true;
    struct ks *ks = scoped_statement(b, body);
    b->break_allowed = break_allowed;
    b->loops--;
    return ks;
}

static void while_statement(struct body *b, const struct ast_stmt *s, struct ks_list *out)
{
    struct ks *ks = new_ks(b, KS_LOOP, s->span);
    ks->test_after = s->kind == AST_STMT_DO;
    if (!ks->test_after) ks->expr = require_expr(b, body_condition(b, s->expr));
    ks->body = loop_body(b, s->body);
    if (s->expr == NULL) b->failed = true; /* a syntax error */
    if (ks->test_after && s->expr) ks->expr = require_expr(b, body_condition(b, s->expr));
    ks_append(out, ks);
}

static struct ks *for_init(struct body *b, const struct ast_stmt *s)
{
    struct ks_list list = {.end = &list.first};
    if (!s->init) return NULL;
    if (s->init->kind == AST_STMT_DECLARE)
        declaration_statement(b, s->init, true, &list);
    else
        build_statement(b, s->init, &list);
    if (!list.first || !list.first->next) return list.first;
    return block_statement(b, list, s->init->span);
}

static void for_statement(struct body *b, const struct ast_stmt *s, struct ks_list *out)
{
    struct scope *outer = b->scope;
    struct ks *ks = new_ks(b, KS_LOOP, s->span);
    b->scope = scope_create(b->cx, outer);
    ks->init = for_init(b, s);
    if (s->expr) ks->expr = require_expr(b, body_condition(b, s->expr));
    if (s->step) ks->step = require_expr(b, body_value(b, s->step));
    ks->body = loop_body(b, s->body);
    b->scope = outer;
    ks_append(out, ks);
}

static void switch_statement(struct body *b, const struct ast_stmt *s, struct ks_list *out)
{
    struct switch_frame frame = {.block = s->body}, *outer = b->innermost_switch;
    bool break_allowed = b->break_allowed;
    struct kx *value =
        require_expr(b, body_whole(b, body_expr(b, s->expr), "the value of a switch"));
    if (value) frame.type = value->type;
    b->innermost_switch = &frame;
    b->break_allowed = true;
    struct ks *body = scoped_statement(b, s->body);
    b->innermost_switch = outer;
    b->break_allowed = break_allowed;
    if (!value) return;
    struct ks *ks = new_ks(b, KS_SWITCH, s->span);
    ks->expr = value, ks->body = body;
    ks_append(out, ks);
}

static bool case_value(struct body *b, const struct ast_stmt *s, struct ks *label)
{
    const struct type *type = b->innermost_switch->type;
    struct body constant = body_constant_part(b);
    struct scalar_value value;
    struct consteval_error error;
    struct kx *kx = body_whole(&constant, body_expr(&constant, s->expr), "a case");
    if (!kx || !type) return false;
    if (!consteval(b->cx, kx, &value, &error)) {
        body_report_consteval(b, kx, &error, "a case");
        return false;
    }
    if (!arith_fits(arith_as_exact(value), type->scalar)) {
        body_report(b, RULE_CONSTANT_RANGE, kx->span, "the switch is over %s, which is never %s",
                    body_type_text(b, type), arith_text(b->arena, value));
        return false;
    }
    label->label = arith_convert(value, type->scalar);
    return true;
}

static bool check_label_new(struct body *b, const struct ks *label)
{
    struct switch_frame *frame = b->innermost_switch;
    for (size_t i = 0; i < frame->labels.count; i++) {
        const struct ks *earlier = frame->labels.items[i];
        if (earlier->is_default != label->is_default) continue;
        if (!label->is_default && earlier->label.bits != label->label.bits) continue;
        const char *text = label->is_default ? "default" : arith_text(b->arena, label->label);
        struct diag *diag = body_report(b, RULE_DUPLICATE_CASE, label->span,
                                        "this switch has a case '%s' already", text);
        diag_label(diag, earlier->span, "'%s' is here", text);
        return false;
    }
    return true;
}

/* Labels stand directly in the block of their switch, and a label cannot jump past a declaration. */
static bool check_label_place(struct body *b, const struct ast_stmt *s)
{
    const char *text = s->kind == AST_STMT_CASE ? "case" : "default";
    const struct switch_frame *frame = b->innermost_switch;
    if (!frame || !frame->block) {
        struct diag *diag = body_report(b, RULE_MISPLACED_STATEMENT, s->span,
                                        "'%s' stands directly in the block of a switch", text);
        if (frame) diag_help(diag, "not within a further block, condition or loop");
        return false;
    }
    if (!frame->declared) return true;
    struct diag *diag =
        body_report(b, RULE_MISPLACED_STATEMENT, s->span,
                    "'%s' would jump past the declaration of '%s'", text, frame->declared->name);
    diag_label(diag, frame->declared->span, "declared here");
    diag_help(diag, "put the statements of that case in braces");
    return false;
}

static void label_statement(struct body *b, const struct ast_stmt *s, struct ks_list *out)
{
    for (; s && (s->kind == AST_STMT_CASE || s->kind == AST_STMT_DEFAULT); s = s->body) {
        struct ks *label = new_ks(b, KS_CASE, s->expr ? s->expr->span : s->span);
        label->is_default = s->kind == AST_STMT_DEFAULT;
        bool valid = check_label_place(b, s);
        if (valid && !label->is_default) valid = case_value(b, s, label);
        if (!valid) b->failed = true;
        if (!valid || !check_label_new(b, label)) continue;
        vec_push(b->arena, &b->innermost_switch->labels, label);
        ks_append(out, label);
    }
    if (s) build_statement(b, s, out);
}

/* ---- leaving: break, continue, return, stop ---- */

static void return_statement(struct body *b, const struct ast_stmt *s, struct ks_list *out)
{
    const struct type *result = b->function ? b->function->function->result : NULL;
    struct ks *ks = new_ks(b, KS_RETURN, s->span);
    struct diag *diag;
    if (!s->expr && result && result->kind != TYPE_VOID) {
        diag = body_report(b, RULE_TYPE_MISMATCH, s->span, "'%s' returns %s, and here nothing",
                           b->function->function->name, body_type_text(b, result));
        diag_label(diag, b->function->item->type->span, "declared here");
        return;
    }
    if (s->expr && (!result || result->kind == TYPE_VOID)) {
        diag = body_report(b, RULE_TYPE_MISMATCH, s->expr->span, "%s returns no value",
                           result ? "a function of type void" : "the body of a kernel");
        if (!result) diag_help(diag, "'PORT <- value;' appends a packet to an out-port");
        return;
    }
    if (s->expr) {
        const char *what =
            arena_printf(b->arena, "the result of '%s'", b->function->function->name);
        ks->expr = require_expr(b, body_converted(b, body_expr(b, s->expr), result, what));
        if (!ks->expr) return;
    }
    ks_append(out, ks);
}

static void jump_statement(struct body *b, const struct ast_stmt *s, struct ks_list *out)
{
    bool is_break = s->kind == AST_STMT_BREAK;
    if (is_break ? !b->break_allowed : b->loops == 0) {
        report_misplaced_statement(b, s->span,
                                   is_break ? "'break' stands only in a loop or a switch"
                                            : "'continue' stands only in a loop");
        return;
    }
    ks_append(out, new_ks(b, is_break ? KS_BREAK : KS_CONTINUE, s->span));
}

/* Ends the kernel, as if its inputs had ended before the current firing. */
static void stop_statement(struct body *b, const struct ast_stmt *s, struct ks_list *out)
{
    if (!b->kernel || b->place != PLACE_FIRING) {
        report_misplaced_statement(
            b, s->span,
            "'stop' stands only in the firings of a kernel: not in functions, 'init' and 'finish'");
        return;
    }
    if (!body_check_child_section(b, s->span, "stop")) return;
    b->kernel->kernel->stops = true;
    ks_append(out, new_ks(b, KS_STOP, s->span));
}

/* ---- init and finish ---- */

static bool check_section_place(struct body *b, const struct ast_stmt *s, const char *name)
{
    if (!b->kernel || b->scope != b->kernel->scope) {
        body_report(b, RULE_MISPLACED_STATEMENT, s->span,
                    "'%s' stands directly in the body of a kernel", name);
        return false;
    }
    struct span *seen = s->kind == AST_STMT_INIT ? &b->kernel->init_span : &b->kernel->finish_span;
    if (seen->source) {
        struct diag *diag =
            body_report(b, RULE_MISPLACED_STATEMENT, s->span, "a kernel has one '%s'", name);
        diag_label(diag, *seen, "the first one is here");
        return false;
    }
    *seen = s->span;
    return true;
}

static struct ks *sectioned_block(struct body *b, const struct ast_stmt *s, enum body_place place)
{
    enum body_place outer = b->place;
    b->place = place;
    struct ks *block = scoped_statement(b, s->body);
    b->place = outer;
    return block;
}

static void section_statement(struct body *b, const struct ast_stmt *s)
{
    bool is_init = s->kind == AST_STMT_INIT;
    const char *name = is_init ? "init" : "finish";
    if (!body_check_child_section(b, s->span, name) || !check_section_place(b, s, name)) return;
    if (is_init) {
        b->kernel->init = sectioned_block(b, s, PLACE_INIT);
        return;
    }
    static const char *const known[] = {"push"};
    struct kernel *kernel = b->kernel->kernel;
    uint64_t push;
    for (const struct ast_attribute *at = s->attributes; at; at = at->next) {
        if (body_repeated_attribute(b, s->attributes, at)) continue;
        if (strcmp(at->name.text, "push") != 0) {
            body_unknown_attribute(b, at, "'finish'", known, 1);
        } else if (body_rate(b, at, &push)) {
            for (uint32_t i = 0; i < kernel->out_count; i++) {
                kernel->out[i].finish_max = push;
                kernel->out[i].finish_declared = true;
                kernel->out[i].finish_span = at->span;
            }
        }
    }
    b->kernel->finish = sectioned_block(b, s, PLACE_FINISH);
}

/* ---- all statements ---- */

/* A label stands directly in the block of its switch, so while any other statement is read, no
 * block is set. */
static void build_statement(struct body *b, const struct ast_stmt *s, struct ks_list *out)
{
    struct switch_frame *frame = b->innermost_switch;
    const struct ast_stmt *block = frame ? frame->block : NULL;
    bool is_label = s->kind == AST_STMT_CASE || s->kind == AST_STMT_DEFAULT;
    if (!body_enter(b, s->span)) return;
    if (frame && !is_label) frame->block = NULL;
    struct ks **added = out->end;
    switch (s->kind) {
    case AST_STMT_BLOCK: ks_append(out, scoped_statement(b, s)); break;
    case AST_STMT_EMPTY: break;
    case AST_STMT_EXPR: expression_statement(b, s, out); break;
    case AST_STMT_DECLARE: declaration_statement(b, s, false, out); break;
    case AST_STMT_EMIT: emit_statement(b, s, out); break;
    case AST_STMT_IF: if_statement(b, s, out); break;
    case AST_STMT_WHILE:
    case AST_STMT_DO: while_statement(b, s, out); break;
    case AST_STMT_FOR: for_statement(b, s, out); break;
    case AST_STMT_SWITCH: switch_statement(b, s, out); break;
    case AST_STMT_CASE:
    case AST_STMT_DEFAULT: label_statement(b, s, out); break;
    case AST_STMT_BREAK:
    case AST_STMT_CONTINUE: jump_statement(b, s, out); break;
    case AST_STMT_RETURN: return_statement(b, s, out); break;
    case AST_STMT_STOP: stop_statement(b, s, out); break;
    case AST_STMT_LAUNCH: body_launch(b, s, out); break;
    case AST_STMT_INIT:
    case AST_STMT_FINISH: section_statement(b, s); break;
    case AST_STMT_ERROR: b->failed = true; break;
    }
    if (frame && !is_label) frame->block = block;
    bool declares = s->kind == AST_STMT_DECLARE ||
                    (s->kind == AST_STMT_LAUNCH && s->launch->event.text != NULL);
    if (block && declares && *added) frame->declared = (*added)->variable;
    body_leave(b);
}
