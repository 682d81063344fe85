/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "compiler/sema/body_internal.h"
#include "base/nearest.h"

/* ---- attributes ---- */

void body_unknown_attribute(struct body *b, const struct ast_attribute *attribute,
                            const char *owner, const char *const *known, size_t count)
{
    const char *name = attribute->name.text;
    struct diag *diag = body_report(b, RULE_UNKNOWN_ATTRIBUTE, attribute->name.span,
                                    "%s has no attribute '%s'", owner, name);
    const char *nearest = nearest_name(name, known, count);
    if (nearest) {
        diag_suggest(diag, attribute->name.span, nearest);
        return;
    }
    const char *all = "";
    for (size_t i = 0; i < count; i++)
        all = arena_printf(b->arena, "%s%s%s", all, i ? ", " : "", known[i]);
    diag_help(diag, "attributes that are allowed here: %s", all);
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

static bool attribute_is(const struct ast_attribute *attribute, const char *name)
{
    return strcmp(attribute->name.text, name) == 0;
}

/* ---- ports ---- */

static const char *const in_names[] = {"pop", "peek", "window", "border"};
static const char *const out_names[] = {"push", "amplify"};

static void misplaced_attribute(struct body *b, const struct ast_attribute *attribute, bool is_out)
{
    const char *const *others = is_out ? in_names : out_names;
    size_t other_count = is_out ? 4 : 2;
    for (size_t i = 0; i < other_count; i++)
        if (attribute_is(attribute, others[i])) {
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

static void body_port_attribute(struct body *b, const struct ast_port *ast,
                                const struct ast_attribute *attribute, struct kernel_port *port,
                                struct port_rates *rates)
{
    struct written_rate *rate = NULL;
    if (!ast->is_out && attribute_is(attribute, "pop")) rate = &rates->pop;
    if (!ast->is_out && attribute_is(attribute, "peek")) rate = &rates->peek;
    if (ast->is_out && attribute_is(attribute, "push")) rate = &rates->push;
    if (rate) {
        if (!body_written_rate(b, attribute, ast->is_out, rate)) *rate = (struct written_rate){0};
        port->rate_declared = true;
        port->rate_span = span_join(port->rate_span, attribute->span);
        return;
    }
    if (!ast->is_out && body_window_attribute(b, attribute, port)) return;
    if (ast->is_out && attribute_is(attribute, "amplify"))
        rates->amplify = attribute;
    else
        misplaced_attribute(b, attribute, ast->is_out);
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

static void declare_kernel_port(struct body *b, const struct ast_port *ast,
                                struct kernel_port *port, struct port_rates *rates, uint32_t index)
{
    *port = (struct kernel_port){.name = ast->name.text, .span = ast->name.span};
    port->type = body_value_type(b, ast->type, NULL, "a packet");
    bool usable = port->type != NULL;
    port_arity(b, ast, port);
    for (const struct ast_attribute *at = ast->attributes; at; at = at->next)
        if (!body_repeated_attribute(b, ast->attributes, at))
            body_port_attribute(b, ast, at, port, rates);
    usable = usable && port->type != NULL;
    enum symbol_kind kind = ast->is_out ? SYMBOL_OUT_PORT : SYMBOL_IN_PORT;
    body_declare(b, (struct symbol){.kind = usable ? kind : SYMBOL_POISON,
                                    .name = ast->name.text,
                                    .span = ast->name.span,
                                    .port = index});
}

/* Sizes and rates may use the compile-time parameters and the program's constants. A port's name
 * hides neither while the ports are read, because the ports are declared in the scope of the
 * parameters one by one. */
void body_ports(struct body *b, const struct ast_signature *signature)
{
    struct kernel *kernel = b->kernel->kernel;
    for (const struct ast_port *port = signature->ports; port; port = port->next)
        *(port->is_out ? &kernel->out_count : &kernel->in_count) += 1;
    kernel->in = ARENA_ARRAY(b->arena, struct kernel_port, kernel->in_count);
    kernel->out = ARENA_ARRAY(b->arena, struct kernel_port, kernel->out_count);
    b->kernel->store_spans = ARENA_ARRAY(b->arena, struct span, kernel->out_count);
    b->kernel->emit_spans = ARENA_ARRAY(b->arena, struct span, kernel->out_count);
    b->kernel->in_rates =
        ARENA_ARRAY(b->arena, struct port_rates, (size_t)kernel->in_count + kernel->out_count);
    uint32_t in = 0, out = 0;
    for (const struct ast_port *port = signature->ports; port; port = port->next) {
        uint32_t index = port->is_out ? out++ : in++;
        struct port_rates *rates =
            &b->kernel->in_rates[port->is_out ? kernel->in_count + index : index];
        declare_kernel_port(b, port, port->is_out ? &kernel->out[index] : &kernel->in[index], rates,
                            index);
    }
    if (kernel->in_count + kernel->out_count == 0)
        body_report(b, RULE_WRONG_ARGUMENT_COUNT, signature->name.span,
                    "'%s' has no ports, so nothing could see what it does", signature->name.text);
    const struct ast_attribute *amplify = signature->attributes;
    while (amplify && !attribute_is(amplify, "amplify"))
        amplify = amplify->next;
    body_settle_rates(b, amplify);
    in = 0;
    for (const struct ast_port *port = signature->ports; port; port = port->next)
        if (!port->is_out) body_window_check(b, port, &kernel->in[in++]);
}

void body_signature_attributes(struct body *b, const struct ast_signature *signature)
{
    static const char *const known[] = {"amplify",  "group", "groups",
                                        "launches", "total", "nesting"};
    enum { KNOWN_COUNT = sizeof known / sizeof *known };
    for (const struct ast_attribute *at = signature->attributes; at; at = at->next) {
        size_t i = 0;
        while (i < KNOWN_COUNT && !attribute_is(at, known[i]))
            i++;
        if (body_repeated_attribute(b, signature->attributes, at) || i == 0) continue;
        if (attribute_is(at, "group"))
            body_group(b, at);
        else if (body_launch_attribute(b, at))
            continue;
        else if (attribute_is(at, "cost") || attribute_is(at, "importance")) {
            /* It belongs to the use of a kernel, not to its declaration. */
            struct diag *diag = body_report(b, RULE_UNKNOWN_ATTRIBUTE, at->name.span,
                                            "a kernel has no attribute '%s'", at->name.text);
            diag_help(diag, "it belongs to a node, in the pipeline: kernel(in -> out) %s N;",
                      at->name.text);
        } else
            body_unknown_attribute(b, at, "a kernel", known, KNOWN_COUNT);
    }
}
