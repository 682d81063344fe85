/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "compiler/sema/body_internal.h"
#include "base/plural.h"

/* ---- names that are not variables ---- */

/* The number of the firing modulo the phases of the rates. */
static struct kx *phase_value(struct body *b, struct span span)
{
    const struct kernel *kernel = b->kernel->kernel;
    if (b->place == PLACE_INIT || b->place == PLACE_FINISH) {
        body_report(b, RULE_WRONG_KIND_OF_NAME, span,
                    "'phase' is that of a firing: there is none in %s",
                    b->place == PLACE_INIT ? "'init'" : "'finish'");
        return NULL;
    }
    if (b->place == PLACE_FIRING && kernel->phases == 1 && !b->kernel->phases_unknown) {
        struct diag *diag =
            body_report(b, RULE_WRONG_KIND_OF_NAME, span,
                        "'%s' has one phase only: its rates are no lists", kernel->name);
        diag_help(diag, "'pop {3, 1}' or 'push {2, 0}' give a rate for each phase");
        return NULL;
    }
    return body_kx(b, KX_PHASE, body_scalar(b, SCALAR_I32), span);
}

/* ---- names that sizes and rates cannot use ---- */

static const struct ast_declarator *find_declared(const struct ast_stmt *s, const char *name)
{
    for (; s; s = s->next) {
        for (const struct ast_declarator *d = s->declarators; d; d = d->next)
            if (d->name.text == name) return d;
        const struct ast_stmt *const parts[] = {s->init, s->body, s->otherwise};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            const struct ast_declarator *found = find_declared(parts[i], name);
            if (found) return found;
        }
    }
    return NULL;
}

static void help_parameter(struct diag *diag, const struct ast_signature *signature,
                           const char *name, const char *constant)
{
    if (signature->type_params)
        diag_help(diag, "add 'int %s' to the compile-time parameters of '%s'%s", name,
                  signature->name.text, constant);
    else
        diag_help(diag,
                  "make it a compile-time parameter: 'kernel %s<int %s>(...)', used as "
                  "'%s<8>'%s",
                  signature->name.text, name, signature->name.text, constant);
}

/* Explains the use of a run-time argument, or of a variable of the body, in a port or an
 * attribute. */
static bool explain_early(struct body *b, struct ast_name name)
{
    const struct ast_item *item = b->sema->bodies->signature_of;
    struct diag *diag;
    if (!item || name.span.source != item->span.source || name.span.begin < item->span.begin ||
        name.span.end > item->span.end)
        return false;
    for (const struct ast_param *p = item->signature.params; p; p = p->next) {
        if (p->name.text != name.text) continue;
        diag = body_report(b, RULE_NOT_CONSTANT, name.span,
                           "'%s' is a run-time argument: sizes and rates are known when compiling",
                           name.text);
        diag_label(diag, p->name.span, "'%s' gets its value when the program runs", name.text);
        help_parameter(diag, &item->signature, name.text, "");
        return true;
    }
    const struct ast_declarator *declared = find_declared(item->body, name.text);
    if (!declared) return false;
    diag =
        body_report(b, RULE_NOT_CONSTANT, name.span,
                    "'%s' is declared in the body: sizes and rates are known before it", name.text);
    diag_label(diag, declared->name.span, "declared here");
    help_parameter(diag, &item->signature, name.text,
                   arena_printf(b->cx->arena, ", or declare 'const int %s = ...;' before '%s'",
                                name.text, item->signature.name.text));
    return true;
}

static struct kx *report_undeclared(struct body *b, struct ast_name name)
{
    if (explain_early(b, name)) return NULL;
    if (strcmp(name.text, "phase") == 0 && b->kernel) return phase_value(b, name.span);
    if (strcmp(name.text, "true") == 0 || strcmp(name.text, "false") == 0)
        return body_constant(b, name.span, arith_bool(name.text[0] == 't'));
    if (strcmp(name.text, "item") == 0) {
        struct diag *diag =
            body_report(b, RULE_TYPE_MISMATCH, name.span, "'item' has no value of its own");
        diag_help(diag, "the index of the work-item is item.x, item.y, item.z");
        return NULL;
    }
    const char *dimensions =
        b->place == PLACE_CONSTANT ? scope_dimensions(b->scope, name.text) : NULL;
    if (dimensions)
        scope_help_dimensions(
            body_report(b, RULE_UNKNOWN_NAME, name.span, "there is no variable '%s'", name.text),
            name, dimensions);
    else
        scope_lookup(b->scope, name, "variable"); /* reports */
    b->failed = true;
    return NULL;
}

static struct kx *report_wrong_kind(struct body *b, struct span span, const struct symbol *symbol)
{
    const char *kind = "something else";
    switch (symbol->kind) {
    case SYMBOL_FN: kind = "a function"; break;
    case SYMBOL_KERNEL: kind = "a kernel"; break;
    case SYMBOL_PIPELINE: kind = "a pipeline"; break;
    case SYMBOL_BUFFER: kind = "a buffer, which only kernels read and write,"; break;
    case SYMBOL_STRUCT:
    case SYMBOL_TYPE_PARAM: kind = "a type"; break;
    case SYMBOL_EVENT: kind = "an event of a launch"; break;
    default: break;
    }
    struct diag *diag = body_report(b, RULE_WRONG_KIND_OF_NAME, span, "'%s' is %s and has no value",
                                    symbol->name, kind);
    diag_label(diag, symbol->span, "'%s' is declared here", symbol->name);
    if (symbol->kind == SYMBOL_FN) diag_help(diag, "call it: %s(...)", symbol->name);
    if (symbol->kind == SYMBOL_BUFFER)
        diag_help(diag,
                  "a pipeline is joined when compiling: its conditions and sizes use constants and "
                  "compile-time parameters; a kernel decides packet by packet, as in 'if (x > 0) y "
                  "<- x;'");
    if (symbol->kind == SYMBOL_EVENT)
        diag_help(diag, "'launch ... after %s;' waits for it, 'done(%s)' asks for its outcome",
                  symbol->name, symbol->name);
    return NULL;
}

/* ---- variables ---- */

/* Reports a local of the firing in init or finish, and the other way round. */
static bool check_variable_reach(struct body *b, const struct variable *variable, struct span span)
{
    static const char *const places[] = {
        [PLACE_FIRING] = "a firing", [PLACE_INIT] = "'init'", [PLACE_FINISH] = "'finish'"};
    bool local = variable->kind == VARIABLE_LOCAL || variable->kind == VARIABLE_SHARED;
    if (!local || !b->kernel || b->place < PLACE_FIRING) return true;
    enum body_place home = (enum body_place)b->kernel->local_places.items[variable->index];
    if (home == b->place) return true;
    struct diag *diag = body_report(b, RULE_WRONG_KIND_OF_NAME, span,
                                    "'%s' is a local variable of %s and does not exist in %s",
                                    variable->name, places[home], places[b->place]);
    diag_label(diag, variable->span, "declared here");
    diag_help(diag, "what lives longer than a firing is declared with 'state' or 'table'");
    return false;
}

/* ---- reading ports ---- */

static bool check_port_read(struct body *b, const struct symbol *symbol, struct span span)
{
    const struct kernel *kernel = b->kernel->kernel;
    struct diag *diag;
    if (b->place == PLACE_INIT) {
        diag = body_report(b, RULE_MISPLACED_STATEMENT, span,
                           "'init' runs before the first packet: it cannot read the in-port '%s'",
                           symbol->name);
        diag_label(diag, symbol->span, "declared here");
        return false;
    }
    if (b->place != PLACE_FINISH || (kernel->in_count == 1 && !kernel->in[0].is_array)) return true;
    diag =
        body_report(b, RULE_MISPLACED_STATEMENT, span,
                    "'finish' reads the packets that are left only in a kernel with one in-port");
    diag_label(diag, symbol->span, "'%s' is one of several", symbol->name);
    return false;
}

bool body_port_access(struct body *b, const struct ast_expr *e, struct port_access *access)
{
    *access = (struct port_access){.span = e->span};
    const struct ast_expr *root = e;
    while (root->kind == AST_EXPR_INDEX)
        root = root->left;
    if (root->kind != AST_EXPR_NAME) return false;
    access->symbol = scope_find(b->scope, root->name.text);
    if (!access->symbol ||
        (access->symbol->kind != SYMBOL_IN_PORT && access->symbol->kind != SYMBOL_OUT_PORT))
        return false;
    uint32_t depth = 0;
    for (const struct ast_expr *at = e; at != root; at = at->left)
        depth++;
    access->count = depth;
    for (const struct ast_expr *at = e; at != root; at = at->left) {
        if (--depth < 3) access->indices[depth] = at->right;
        body_check_comma(b, at->right);
    }
    return true;
}

bool body_port_element(struct body *b, struct port_access *access, const struct kernel_port *port,
                       struct kx **out)
{
    *out = NULL;
    if (!port->is_array) return true;
    if (access->count == 0) {
        struct diag *diag =
            body_report(b, RULE_TYPE_MISMATCH, access->span, "'%s' is an array of %llu port%s",
                        port->name, (unsigned long long)port->arity, plural(port->arity));
        diag_label(diag, port->span, "declared here");
        diag_help(diag, "say which: %s[0]", port->name);
        return false;
    }
    *out = body_whole(b, body_expr(b, access->indices[0]), "the index of a port");
    access->indices[0] = access->indices[1];
    access->indices[1] = access->indices[2];
    access->count--;
    return *out != NULL;
}

static struct kx *read_out_port(struct body *b, const struct symbol *symbol, struct span span)
{
    struct diag *diag = body_report(b, RULE_WRONG_KIND_OF_NAME, span,
                                    "the out-port '%s' cannot be read", symbol->name);
    diag_label(diag, symbol->span, "declared here");
    diag_help(diag, "keep what is needed again in a variable; '%s <- value;' appends a packet",
              symbol->name);
    return NULL;
}

uint32_t body_port_indices(const struct kernel_port *port)
{
    return (port->is_array ? 2u : 1u) + (port->window_width > 0 ? 1u : 0u);
}

/* True if there are indices after those of the packet: they select a part of it. */
static bool indexes_packet(struct body *b, const struct port_access *access)
{
    const struct kernel *kernel = b->kernel->kernel;
    uint32_t port = access->symbol->port;
    if (access->symbol->kind != SYMBOL_IN_PORT) return false;
    return access->count > body_port_indices(&kernel->in[port]) &&
           type_is_indexed(kernel->in[port].type);
}

static struct kx *read_port_packet(struct body *b, struct port_access *access)
{
    const struct symbol *symbol = access->symbol;
    if (symbol->kind == SYMBOL_OUT_PORT) return read_out_port(b, symbol, access->span);
    const struct kernel_port *port = &b->kernel->kernel->in[symbol->port];
    struct kx *element, *packet;
    if (!check_port_read(b, symbol, access->span)) return NULL;
    if (!body_port_element(b, access, port, &element)) return NULL;
    bool window = port->window_width > 0;
    if (access->count > (window ? 2 : 1)) {
        struct diag *diag = body_report(b, RULE_TYPE_MISMATCH, access->span,
                                        "a packet of '%s' is %s and has no elements", port->name,
                                        body_type_text(b, port->type));
        diag_label(diag, port->span, "declared here");
        return NULL;
    }
    if (window) return body_window_read(b, access, port, element);
    if (access->count)
        packet = body_whole(b, body_expr(b, access->indices[0]), "the index of a packet");
    else
        packet = body_constant(b, access->span, arith_integer(SCALAR_I32, 0));
    if (!packet) return NULL;
    struct kx *kx = body_kx(b, KX_PEEK, port->type, access->span);
    kx->port = symbol->port;
    kx->left = element;
    kx->right = packet;
    return kx;
}

/* ---- names and indices ---- */

struct kx *body_name(struct body *b, const struct ast_expr *e)
{
    struct symbol *symbol = scope_find(b->scope, e->name.text);
    if (!symbol) return report_undeclared(b, e->name);
    symbol->used = true;
    if (!sema_force_constant(b->sema, symbol)) return NULL;
    switch (symbol->kind) {
    case SYMBOL_INTEGER: return body_exact(b, e->span, symbol->integer);
    case SYMBOL_CONSTANT: return body_constant(b, e->span, symbol->value);
    case SYMBOL_VARIABLE: {
        if (!symbol->variable) {
            b->failed = true;
            return NULL;
        }
        if (!check_variable_reach(b, symbol->variable, e->span)) return NULL;
        struct kx *kx = body_kx(b, KX_VARIABLE, symbol->variable->type, e->span);
        kx->variable = symbol->variable;
        return kx;
    }
    case SYMBOL_IN_PORT:
    case SYMBOL_OUT_PORT: {
        struct port_access access = {.symbol = symbol, .span = e->span};
        return read_port_packet(b, &access);
    }
    default: return report_wrong_kind(b, e->span, symbol);
    }
}

static struct kx *member_access(struct body *b, const struct ast_expr *e)
{
    struct port_access access;
    if (body_is_item(b, e)) return body_item(b, e);
    if (strcmp(e->name.text, "left") == 0 && body_port_access(b, e->left, &access)) {
        struct diag *diag =
            body_report(b, RULE_TYPE_MISMATCH, e->span, "a port has no member 'left'");
        diag_help(diag, "write left(%s)", access.symbol->name);
    } else {
        struct kx *left = body_value(b, e->left);
        return left ? body_member_of(b, left, e->name, e->span) : NULL;
    }
    return NULL;
}

struct kx *body_index(struct body *b, const struct ast_expr *e)
{
    struct port_access access;
    if (e->kind == AST_EXPR_MEMBER) return member_access(b, e);
    if (body_port_access(b, e, &access) && !indexes_packet(b, &access))
        return read_port_packet(b, &access);
    struct kx *left = body_value(b, e->left);
    struct kx *right = body_whole(b, body_expr(b, e->right), "an index");
    if (!left || !right) return NULL;
    if (!type_is_indexed(left->type)) {
        struct diag *diag =
            body_report(b, RULE_TYPE_MISMATCH, e->span,
                        "%s has no elements: only arrays, vectors and ports take an index",
                        body_type_text(b, left->type));
        if (left->kind == KX_VARIABLE && left->variable->span.source)
            diag_label(diag, left->variable->span, "'%s' is declared here", left->variable->name);
        return NULL;
    }
    struct kx *kx = body_kx(b, KX_INDEX, left->type->element, e->span);
    kx->left = left;
    kx->right = right;
    return body_fold(b, kx);
}

/* ---- assignments ---- */

static bool not_assignable(struct body *b, struct span span, const char *name, struct span declared,
                           const char *why, const char *help)
{
    struct diag *diag =
        body_report(b, RULE_NOT_ASSIGNABLE, span, "'%s' cannot be assigned: %s", name, why);
    if (declared.source) diag_label(diag, declared, "'%s' is declared here", name);
    if (help) diag_help(diag, "%s", help);
    return false;
}

/* True if the source has `e;` after the end of another statement, or at the beginning of a block. */
static bool is_own_statement(struct body *b, const struct ast_expr *e)
{
    const struct source *source = source_get(b->cx->sources, e->span.source);
    uint32_t begin = e->span.begin;
    while (begin > 0 && strchr(" \t\r\n", source->bytes[begin - 1]) != NULL)
        begin--;
    const char *rest = source->bytes + e->span.end;
    return begin > 0 && strchr("{};", source->bytes[begin - 1]) != NULL &&
           rest[strspn(rest, " \t\r\n")] == ';';
}

static bool out_port_assigned(struct body *b, const struct ast_expr *e,
                              const struct port_access *access)
{
    const char *name = access->symbol->name;
    const struct kernel_port *port = &b->kernel->kernel->out[access->symbol->port];
    bool indexed = access->count == (port->is_array ? 2u : 1u);
    struct diag *diag;
    if (e->kind == AST_EXPR_INCREMENT || e->op != AST_OP_NONE) {
        read_out_port(b, access->symbol, access->span);
        return false;
    }
    if (indexed) {
        diag =
            body_report(b, RULE_MISPLACED_STATEMENT, e->span,
                        "a packet is written by a statement of its own, not within an expression");
        diag_help(diag, "write '%s[j] = value;' as a statement", name);
    } else {
        diag = body_report(b, RULE_NOT_ASSIGNABLE, e->span,
                           "packets are appended to the out-port '%s', not assigned", name);
        const char *target = body_source_text(b, access->span);
        diag_help(diag, "write '%s <- value;'", target ? target : name);
        if (is_own_statement(b, e)) diag_fix(diag, e->op_span, "<-");
    }
    diag_label(diag, access->symbol->span, "declared here");
    return false;
}

/* True if the variable (or port, constant, ...) at the root of `e->left` may be written here. */
static bool check_variable_written(struct body *b, const struct variable *v, struct span span)
{
    switch (v->kind) {
    case VARIABLE_LOCAL:
        if (!v->is_const) return true;
        return not_assignable(b, span, v->name, v->span, "it is const", NULL);
    case VARIABLE_STATE:
    case VARIABLE_SHARED: return true;
    case VARIABLE_TABLE:
        if (b->place == PLACE_INIT) return true;
        return not_assignable(b, span, v->name, v->span,
                              "a table is set in 'init' and constant afterwards",
                              "what changes from firing to firing is declared with 'state'");
    case VARIABLE_ARGUMENT:
        return not_assignable(b, span, v->name, v->span, "run-time arguments are read only",
                              "copy it into a local variable");
    case VARIABLE_CONSTANT: break;
    }
    return not_assignable(b, span, v->name, v->span, "it is a constant", NULL);
}

static bool check_target(struct body *b, const struct ast_expr *e)
{
    const struct ast_expr *root = e->left;
    struct port_access access;
    while (root->kind == AST_EXPR_INDEX ||
           (root->kind == AST_EXPR_MEMBER && !body_is_item(b, root)))
        root = root->left;
    if (root->kind != AST_EXPR_NAME) {
        if (root->kind == AST_EXPR_MEMBER)
            return not_assignable(b, e->left->span, "item", (struct span){0},
                                  "the index of a work-item is read only", NULL);
        body_report(b, RULE_NOT_ASSIGNABLE, e->left->span,
                    "this cannot be assigned: it is no variable and no element of one");
        return false;
    }
    struct symbol *symbol = scope_find(b->scope, root->name.text);
    if (!symbol)
        return report_undeclared(b, root->name) != NULL &&
               not_assignable(b, root->span, root->name.text, (struct span){0}, "it is a constant",
                              NULL);
    if (symbol->kind == SYMBOL_OUT_PORT) {
        const struct kernel_port *port = &b->kernel->kernel->out[symbol->port];
        if (body_port_access(b, e->left, &access) && access.count <= body_port_indices(port))
            return out_port_assigned(b, e, &access);
        /* `y[j].r = ..`, `y[j][r] = ..`: only whole packets are written. */
        struct diag *diag =
            body_report(b, RULE_NOT_ASSIGNABLE, e->left->span,
                        "a packet of '%s' is written whole, not part by part", symbol->name);
        diag_label(diag, symbol->span, "declared here");
        diag_help(diag, "fill a local variable and write that");
        return false;
    }
    if (symbol->kind == SYMBOL_IN_PORT) {
        return not_assignable(b, e->left->span, symbol->name, symbol->span,
                              "the packets of an in-port are read only",
                              "copy the packet into a local variable; '==' compares");
    }
    if (symbol->kind == SYMBOL_VARIABLE)
        return !symbol->variable || check_variable_written(b, symbol->variable, e->left->span);
    if (symbol->kind != SYMBOL_INTEGER && symbol->kind != SYMBOL_CONSTANT &&
        symbol->kind != SYMBOL_LAZY_CONSTANT)
        return true; /* body_expr reports the kind of name */
    return not_assignable(b, e->left->span, symbol->name, symbol->span, "it is a constant", NULL);
}

/* The variable or element that `e` assigns, or NULL. */
static struct kx *assigned_target(struct body *b, const struct ast_expr *e)
{
    if (!check_target(b, e)) {
        b->failed = true;
        return NULL;
    }
    struct kx *left = body_expr(b, e->left);
    if (!left) return NULL;
    if (kx_root_variable(left)) return left;
    body_report(b, RULE_NOT_ASSIGNABLE, e->left->span, "this cannot be assigned");
    return NULL;
}

static struct kx *assign_kx(struct body *b, struct kx *left, enum kx_op op, struct kx *right,
                            const struct type *operation, struct span span)
{
    struct kx *kx = body_kx(b, KX_ASSIGN, left->type, span);
    kx->op = op;
    kx->left = left;
    kx->right = right;
    kx->operation = operation;
    return kx;
}

/* Reports a vector assigned to a scalar: the result would not fit. */
static bool check_compound(struct body *b, const struct ast_expr *e, const struct type *left,
                           const struct type *operation, const char *text)
{
    if (operation->kind != TYPE_VECTOR || left->kind == TYPE_VECTOR) return true;
    body_report(b, RULE_TYPE_MISMATCH, e->span, "%s gives %s, which does not fit %s", text,
                body_type_text(b, operation), body_type_text(b, left));
    return false;
}

/* left op= right: computed in the type of `left op right`, then converted to that of left. */
static struct kx *compound_assignment(struct body *b, const struct ast_expr *e, struct kx *left,
                                      struct kx *right)
{
    enum kx_op op = body_operator(e->op);
    const char *text = arena_printf(b->arena, "'%.*s='", (int)strlen(body_operator_text(op)) - 2,
                                    body_operator_text(op) + 1);
    struct kx *operands[2] = {left, right};
    if (op == OP_SHL || op == OP_SHR) {
        right = body_whole_items(b, right, "the count of a shift");
        struct kx *shifted = body_whole_items(b, left, "what is shifted");
        if (!body_shift_operands(b, op, &shifted, &right, e->span)) return NULL;
        if (!check_compound(b, e, left->type, shifted->type, text)) return NULL;
        struct kx *kx = assign_kx(b, left, op, right, shifted->type, e->span);
        body_check_count(b, kx, shifted, right);
        return kx;
    }
    const struct type *type = body_unify(b, operands, 2, e->span, text);
    if (!type || !check_compound(b, e, left->type, type, text)) return NULL;
    if (is_untyped(type)) type = body_scalar(b, SCALAR_F32); /* an integer with a float literal */
    if (scalar_is_float(type_item(type)->scalar) && op >= OP_REM && op <= OP_XOR) {
        body_report(b, RULE_TYPE_MISMATCH, e->span, "%s takes integers, not %s", text,
                    body_type_text(b, type));
        return NULL;
    }
    right = body_converted(b, operands[1], type, "the operand");
    return right ? assign_kx(b, left, op, right, type, e->span) : NULL;
}

struct kx *body_assign(struct body *b, const struct ast_expr *e)
{
    struct kx *left = assigned_target(b, e);
    if (e->right->kind == AST_EXPR_BRACES) {
        body_report(b, RULE_TYPE_MISMATCH, e->right->span,
                    "braces initialise a variable where it is declared; they cannot be assigned");
        return NULL;
    }
    struct kx *right = body_expr(b, e->right);
    if (!left || !right) return NULL;
    if (e->op != AST_OP_NONE) return compound_assignment(b, e, left, right);
    right = body_converted(b, right, left->type, "what is assigned");
    return right ? assign_kx(b, left, OP_NONE, right, NULL, e->span) : NULL;
}

struct kx *body_increment(struct body *b, const struct ast_expr *e)
{
    struct kx *left = assigned_target(b, e);
    if (!left) return NULL;
    if (left->type->kind != TYPE_SCALAR && left->type->kind != TYPE_VECTOR) {
        body_report(b, RULE_TYPE_MISMATCH, e->span, "'%s' does not take %s",
                    e->op == AST_OP_ADD ? "++" : "--", body_type_text(b, left->type));
        return NULL;
    }
    const struct type *operation = body_promoted(b, left)->type;
    struct kx *one = body_constant(
        b, e->span, arith_convert(arith_integer(SCALAR_I32, 1), type_item(operation)->scalar));
    if (operation->kind == TYPE_VECTOR) one = body_broadcast(b, one, operation->length);
    struct kx *kx = assign_kx(b, left, body_operator(e->op), one, operation, e->span);
    kx->postfix = e->postfix;
    return kx;
}
