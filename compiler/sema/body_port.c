#include <string.h>

#include "compiler/sema/body_internal.h"

/* ---- attributes ---- */

void body_unknown_attribute(struct body *b, const struct ast_attribute *attribute,
                            const char *owner, const char *const *known, size_t count)
{
    const char *name = attribute->name.text;
    struct diag *diag = body_report(b, RULE_UNKNOWN_ATTRIBUTE, attribute->name.span,
                                    "%s has no attribute '%s'", owner, name);
    const char *nearest = nearest_name(name, known, count);
    if (nearest) {
        diag_help(diag, "did you mean '%s'?", nearest);
        return;
    }
    const char *all = "";
    for (size_t i = 0; i < count; i++)
        all = arena_printf(b->arena, "%s%s%s", all, i ? ", " : "", known[i]);
    diag_help(diag, "known here: %s", all);
}

bool body_repeated_attribute(struct body *b, const struct ast_attribute *first,
                             const struct ast_attribute *attribute)
{
    for (; first != attribute; first = first->next) {
        if (first->name.text != attribute->name.text) continue;
        struct diag *diag = body_report(b, RULE_DUPLICATE_NAME, attribute->span,
                                        "'%s' is given twice", attribute->name.text);
        diag_label(diag, first->span, "given here already");
        return true;
    }
    return false;
}

static bool is_name(const struct ast_attribute *attribute, const char *name)
{
    return strcmp(attribute->name.text, name) == 0;
}

static bool plain_rate(struct body *b, const struct ast_attribute *attribute)
{
    const char *name = attribute->name.text;
    switch (attribute->value->kind) {
    case AST_EXPR_RANGE:
        body_unsupported(b, attribute->span, "bounded rates ('%s L..M') are", name);
        return false;
    case AST_EXPR_BRACES:
        body_unsupported(b, attribute->span, "phases ('%s {...}') are", name);
        return false;
    case AST_EXPR_REPEAT:
    case AST_EXPR_DIMENSIONS:
        body_report(b, RULE_INVALID_RATE, attribute->value->span, "'%s' is one number", name);
        return false;
    default: break;
    }
    if (!attribute->of.text) return true;
    body_report(b, RULE_UNKNOWN_ATTRIBUTE, attribute->of.span,
                "'of PORT' belongs to 'amplify', not to '%s'", name);
    return false;
}

bool body_rate(struct body *b, const struct ast_attribute *attribute, uint64_t *out)
{
    int64_t rate;
    const char *name = attribute->name.text;
    if (!plain_rate(b, attribute)) return false;
    if (!sema_whole(b->sema, b->scope, attribute->value, arena_printf(b->arena, "'%s'", name),
                    &rate)) {
        b->failed = true;
        return false;
    }
    if (rate < 1) {
        body_report(b, RULE_INVALID_RATE, attribute->span,
                    "'%s' is at least 1 packet a firing, not %lld", name, (long long)rate);
        return false;
    }
    if (rate > SEMA_MAX_RATE) {
        body_report(b, RULE_TOO_LARGE, attribute->span,
                    "'%s' is at most %lld packets a firing, not %lld", name,
                    (long long)SEMA_MAX_RATE, (long long)rate);
        return false;
    }
    *out = (uint64_t)rate;
    return true;
}

/* ---- ports ---- */

static const char *const in_names[] = {"pop", "peek", "window", "border"};
static const char *const out_names[] = {"push", "amplify"};

static void misplaced_attribute(struct body *b, const struct ast_attribute *attribute, bool is_out)
{
    const char *const *others = is_out ? in_names : out_names;
    size_t other_count = is_out ? 4 : 2;
    for (size_t i = 0; i < other_count; i++)
        if (is_name(attribute, others[i])) {
            struct diag *diag = body_report(b, RULE_UNKNOWN_ATTRIBUTE, attribute->name.span,
                                            "'%s' belongs to an %s-port", attribute->name.text,
                                            is_out ? "in" : "out");
            diag_help(diag, "the rate of an %s",
                      is_out ? "out-port is 'push'" : "in-port is 'pop' and 'peek'");
            return;
        }
    body_unknown_attribute(b, attribute, is_out ? "an out-port" : "an in-port",
                           is_out ? out_names : in_names, is_out ? 2 : 4);
}

static void port_attribute(struct body *b, const struct ast_port *ast,
                           const struct ast_attribute *attribute, struct kernel_port *port)
{
    uint64_t *rate = NULL;
    if (!ast->is_out && is_name(attribute, "pop")) rate = &port->pop;
    if (!ast->is_out && is_name(attribute, "peek")) rate = &port->peek;
    if (ast->is_out && is_name(attribute, "push")) rate = &port->push;
    if (rate) {
        if (!body_rate(b, attribute, rate)) *rate = 1;
        port->rate_declared = true;
        port->rate_span = span_join(port->rate_span, attribute->span);
        return;
    }
    if (!ast->is_out && (is_name(attribute, "window") || is_name(attribute, "border"))) {
        body_unsupported(b, attribute->span, "2-D in-ports ('%s') are", attribute->name.text);
        port->type = NULL; /* uses of the port are not looked at */
    } else if (ast->is_out && is_name(attribute, "amplify"))
        body_unsupported(b, attribute->span, "amplification ('amplify') is");
    else
        misplaced_attribute(b, attribute, ast->is_out);
}

static const struct ast_attribute *find_attribute(const struct ast_port *ast, const char *name)
{
    const struct ast_attribute *attribute = ast->attributes;
    while (attribute && !is_name(attribute, name))
        attribute = attribute->next;
    return attribute;
}

static void port_rates(struct body *b, const struct ast_port *ast, struct kernel_port *port)
{
    for (const struct ast_attribute *at = ast->attributes; at; at = at->next)
        if (!body_repeated_attribute(b, ast->attributes, at)) port_attribute(b, ast, at, port);
    if (ast->is_out) return;
    if (port->pop == 0) port->pop = 1;
    if (port->peek == 0) port->peek = port->pop;
    if (port->peek >= port->pop || b->failed) return;
    const struct ast_attribute *pop = find_attribute(ast, "pop"),
                               *peek = find_attribute(ast, "peek");
    struct diag *diag =
        body_report(b, RULE_INVALID_RATE, peek->span,
                    "'%s' sees fewer packets (peek %llu) than it consumes (pop %llu)", port->name,
                    (unsigned long long)port->peek, (unsigned long long)port->pop);
    if (pop) diag_label(diag, pop->span, "consumes %llu", (unsigned long long)port->pop);
    diag_help(diag, "peek is at least pop, and equal to it where it is left out");
}

static void port_arity(struct body *b, const struct ast_port *ast, struct kernel_port *port)
{
    int64_t arity;
    port->arity = 1;
    if (!ast->dims) return;
    port->is_array = true;
    if (ast->dims->next) {
        body_report(b, RULE_TYPE_MISMATCH, ast->dims->next->span,
                    "an array of ports has one dimension");
        return;
    }
    if (!sema_integer(b->sema, b->scope, ast->dims, &arity)) {
        b->failed = true;
    } else if (arity < 1) {
        body_report(b, RULE_CONSTANT_RANGE, ast->dims->span,
                    "an array has at least 1 port, not %lld", (long long)arity);
    } else if (arity > SEMA_MAX_ARITY) {
        body_report(b, RULE_TOO_LARGE, ast->dims->span, "an array has at most %d ports, not %lld",
                    SEMA_MAX_ARITY, (long long)arity);
    } else {
        port->arity = (uint64_t)arity;
    }
}

static void declare_port(struct body *b, const struct ast_port *ast, struct kernel_port *port,
                         uint32_t index)
{
    *port = (struct kernel_port){.name = ast->name.text, .span = ast->name.span};
    port->type = body_value_type(b, ast->type, NULL, "a packet");
    bool usable = port->type && port->type->kind == TYPE_SCALAR;
    if (port->type && !usable)
        body_unsupported(b, ast->type->span, "packets that are arrays ('%s') are",
                         body_type_text(b, port->type));
    port_arity(b, ast, port);
    port_rates(b, ast, port);
    usable = usable && port->type != NULL;
    enum symbol_kind kind = ast->is_out ? SYMBOL_OUT_PORT : SYMBOL_IN_PORT;
    body_declare(b, (struct symbol){.kind = usable ? kind : SYMBOL_POISON,
                                    .name = ast->name.text,
                                    .span = ast->name.span,
                                    .port = index});
}

/* Sizes and rates may use the compile-time parameters and the program's constants; a port's name
 * hides neither while the ports are read, because all are declared in the scope of the parameters
 * one by one. */
void body_ports(struct body *b, const struct ast_signature *signature)
{
    struct kernel *kernel = b->kernel->kernel;
    for (const struct ast_port *port = signature->ports; port; port = port->next)
        *(port->is_out ? &kernel->out_count : &kernel->in_count) += 1;
    kernel->in = ARENA_ARRAY(b->arena, struct kernel_port, kernel->in_count);
    kernel->out = ARENA_ARRAY(b->arena, struct kernel_port, kernel->out_count);
    b->kernel->store_spans = ARENA_ARRAY(b->arena, struct span, kernel->out_count);
    b->kernel->emit_spans = ARENA_ARRAY(b->arena, struct span, kernel->out_count);
    uint32_t in = 0, out = 0;
    for (const struct ast_port *port = signature->ports; port; port = port->next) {
        uint32_t index = port->is_out ? out++ : in++;
        declare_port(b, port, port->is_out ? &kernel->out[index] : &kernel->in[index], index);
    }
    if (kernel->in_count == 0)
        body_unsupported(b, signature->name.span, "kernels without an in-port (sources: '%s') are",
                         signature->name.text);
}

void body_signature_attributes(struct body *b, const struct ast_signature *signature)
{
    static const char *const known[] = {"amplify", "group", "launches", "total", "nesting"};
    enum { KNOWN_COUNT = sizeof known / sizeof *known };
    for (const struct ast_attribute *at = signature->attributes; at; at = at->next) {
        size_t i = 0;
        while (i < KNOWN_COUNT && !is_name(at, known[i]))
            i++;
        if (i < KNOWN_COUNT)
            body_unsupported(b, at->span, "the attribute '%s' of a kernel is", at->name.text);
        else
            body_unknown_attribute(b, at, "a kernel", known, KNOWN_COUNT);
    }
}
