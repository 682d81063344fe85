/* SPDX-License-Identifier: MIT */
/*
 * body_foreign: extern kernels.
 *
 * Their code comes from other compilers, so that their declaration says all that pipec knows of them: rates
 * (exact, or bounded for out-ports), bytes of state, cost, files.  No file is opened here: a declaration
 * is complete before its code exists.
 *
 * Fails  RULE_FOREIGN_KERNEL, RULE_UNKNOWN_ATTRIBUTE, RULE_TOO_LARGE.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/ir/graph.h"
#include "compiler/sema/body_internal.h"

enum { FILES_MAX = 64 };

/* ---- attributes ---- */

static struct foreign *foreign_of(struct body *b)
{
    return (struct foreign *)b->kernel->kernel->foreign;
}

/* A whole number in least .. most; false after an error. */
static bool eval_ranged(struct body *b, const struct ast_attribute *at, int64_t least,
                        uint64_t most, uint64_t *out)
{
    int64_t value;
    if (!sema_whole(b->sema, b->scope, at->value, arena_printf(b->arena, "'%s'", at->name.text),
                    &value)) {
        b->failed = true;
        return false;
    }
    *out = (uint64_t)value;
    if (value >= least && *out <= most) return true;
    body_report(b, value < least ? RULE_CONSTANT_RANGE : RULE_TOO_LARGE, at->value->span,
                "'%s' is %" PRId64 " to %" PRIu64 ", not %" PRId64, at->name.text, least, most,
                value);
    return false;
}

static bool is_bare_name(const struct ast_expr *e)
{
    if (e->kind != AST_EXPR_STRING || e->string.size_bytes == 0) return false;
    for (uint32_t i = 0; i < e->string.size_bytes; i++) {
        unsigned char byte = (unsigned char)e->string.bytes[i];
        if (byte < ' ' || byte == 0x7f) return false;
    }
    return true;
}

/* `from "a.o"`, `from {"a.o", "libz.so.1"}` */
static void read_files(struct body *b, const struct ast_attribute *at)
{
    struct foreign *foreign = foreign_of(b);
    const struct ast_expr *first = at->value, *e;
    if (first->kind == AST_EXPR_BRACES) first = first->arguments;
    uint32_t count = 0;
    for (e = first; e; e = e->next)
        count++;
    if (count > FILES_MAX) {
        body_report(b, RULE_TOO_LARGE, at->value->span, "an extern kernel has at most %d files",
                    FILES_MAX);
        return;
    }
    const char **files = ARENA_ARRAY(b->arena, const char *, count + 1);
    struct span *spans = ARENA_ARRAY(b->arena, struct span, count + 1);
    for (e = first; e; e = e->next) {
        if (!is_bare_name(e)) {
            struct diag *diag =
                body_report(b, RULE_FOREIGN_KERNEL, e->span,
                            "'from' names files, each as a string without control characters");
            diag_help(diag, "write from \"code.o\", or from {\"code.o\", \"libz.so.1\"}");
            return;
        }
        files[foreign->file_count] = arena_string(b->arena, e->string.bytes, e->string.size_bytes);
        spans[foreign->file_count++] = e->span;
        if (at->value->kind != AST_EXPR_BRACES) break;
    }
    foreign->files = files;
    foreign->file_spans = spans;
}

static void read_attribute(struct body *b, const struct ast_attribute *at)
{
    static const char *const known[] = {"from", "cost", "state", "finish"};
    struct foreign *foreign = foreign_of(b);
    if (at->of.text)
        body_report(b, RULE_UNKNOWN_ATTRIBUTE, at->of.span,
                    "'of PORT' belongs to 'amplify', not to '%s'", at->name.text);
    else if (strcmp(at->name.text, "from") == 0)
        read_files(b, at);
    else if (strcmp(at->name.text, "cost") == 0)
        eval_ranged(b, at, 1, (uint64_t)GRAPH_COST_MAX, &foreign->cost_cycles);
    else if (strcmp(at->name.text, "state") == 0)
        eval_ranged(b, at, 1, SEMA_MAX_NODE_BYTES, &b->kernel->kernel->state_bytes);
    else if (strcmp(at->name.text, "finish") == 0)
        foreign->finishes =
            eval_ranged(b, at, 0, (uint64_t)SEMA_MAX_RATE, &foreign->finish_packets);
    else
        body_unknown_attribute(b, at, "an extern kernel", known, sizeof known / sizeof *known);
}

static void require_property(struct body *b, bool there, const char *what, const char *help)
{
    if (there || b->failed) return;
    const struct kernel *kernel = b->kernel->kernel;
    struct diag *diag = body_report(b, RULE_FOREIGN_KERNEL, kernel->span,
                                    "the extern kernel '%s' does not say %s", kernel->name, what);
    diag_help(diag, "%s", help);
}

void body_foreign_attributes(struct body *b, const struct ast_item *item)
{
    struct foreign *foreign = ARENA_NEW(b->arena, struct foreign);
    const struct ast_signature *signature = &item->signature;
    foreign->pure = item->is_pure;
    b->kernel->kernel->foreign = foreign;
    for (const struct ast_attribute *at = signature->attributes; at; at = at->next)
        if (!body_repeated_attribute(b, signature->attributes, at)) read_attribute(b, at);
    require_property(
        b, foreign->file_count > 0, "which file has its code",
        "write from \"FILE\" after the parameter list: an object file, an archive, a shared "
        "object, or LLVM bitcode");
    require_property(
        b, foreign->cost_cycles > 0, "how long a firing takes",
        "write 'cost N' after the parameter list: N cycles of one firing, for the plan and for "
        "simulated time");
}

/* ---- what a declaration cannot have ---- */

static void refuse_extern(struct body *b, struct span span, const char *what, const char *name,
                          const char *help)
{
    struct diag *diag = body_report(b, RULE_FOREIGN_KERNEL, span, "an extern kernel has no %s%s",
                                    what, name ? arena_printf(b->arena, ": '%s'", name) : "");
    diag_help(diag, "%s", help);
}

static void note_bool(enum scalar_type scalar, uint64_t offset_bytes, void *data)
{
    bool *any = data;
    (void)offset_bytes;
    *any |= scalar == SCALAR_BOOL;
}

/* Every byte of a packet is defined: a bool is 0 or 1, and bytes between fields are zero.  Foreign code does not
 * promise that. */
static void check_packets(struct body *b, const struct kernel_port *port)
{
    bool has_bool = false;
    if (!port->type) return;
    type_each_scalar(port->type, note_bool, &has_bool);
    if (has_bool)
        refuse_extern(b, port->span, "out-port with bool packets", port->name,
                      "use u8, and convert it in a kernel of the pipeline: y <- x != 0");
    else if (port->type->has_padding)
        refuse_extern(
            b, port->span, "out-port whose packets have bytes between fields", port->name,
            "order the fields from the widest to the narrowest, and fill the end with a field");
}

static void check_foreign_ports(struct body *b, const struct ast_signature *signature)
{
    const struct kernel *kernel = b->kernel->kernel;
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *port = &kernel->in[i];
        if (port->is_array)
            refuse_extern(b, port->span, "array of ports", port->name,
                          "declare each port by itself");
        if (port->window_width > 0)
            refuse_extern(b, port->window_span, "2-D window", port->name,
                          "collect the rows in a kernel of the pipeline, and pass whole rows");
    }
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        const struct ast_attribute *amplify = b->kernel->in_rates[kernel->in_count + i].amplify;
        if (port->is_array)
            refuse_extern(b, port->span, "array of ports", port->name,
                          "declare each port by itself");
        if (amplify)
            refuse_extern(b, amplify->span, "amplification", port->name,
                          "declare the rate of its out-port: push N, or push L..M");
        check_packets(b, port);
    }
    if (kernel->phases > 1)
        refuse_extern(
            b, kernel->span, "phases", NULL,
            "give each port one rate; a kernel of the pipeline may collect or distribute packets");
    if (signature->type_params)
        refuse_extern(b, signature->type_params->name.span, "compile-time parameters",
                      signature->type_params->name.text,
                      "declare a kernel for each value, or pass the value as a run-time argument");
}

/* ---- the signature ---- */

/* With the fields of structs, which foreign code declares, too. */
static const char *type_signature(struct arena *arena, const struct type *type)
{
    if (type->kind == TYPE_ARRAY)
        return arena_printf(arena, "%s[%" PRIu64 "]", type_signature(arena, type->element),
                            type->length);
    if (type->kind != TYPE_STRUCT) return type_text(arena, type);
    const char *text = arena_printf(arena, "%s{", type->name);
    for (uint32_t i = 0; i < type->field_count; i++)
        text = arena_printf(arena, "%s%s%s %s", text, i ? ", " : "",
                            type_signature(arena, type->fields[i].type), type->fields[i].name);
    return arena_printf(arena, "%s}", text);
}

static const char *signature_text(struct arena *arena, const struct kernel *kernel)
{
    const struct foreign *foreign = kernel->foreign;
    const char *text = arena_printf(arena, "%s(", kernel->name), *before = "";
    for (uint32_t i = 0; i < kernel->in_count; i++, before = ", ") {
        const struct kernel_port *port = &kernel->in[i];
        text = arena_printf(arena, "%s%sin %s %s pop %" PRIu64 " peek %" PRIu64, text, before,
                            type_signature(arena, port->type), port->name, port->pop, port->peek);
    }
    for (uint32_t i = 0; i < kernel->out_count; i++, before = ", ") {
        const struct kernel_port *port = &kernel->out[i];
        const char *least = port->push_least == port->push
                                ? ""
                                : arena_printf(arena, "%" PRIu64 "..", port->push_least);
        text = arena_printf(arena, "%s%sout %s %s push %s%" PRIu64, text, before,
                            type_signature(arena, port->type), port->name, least, port->push);
    }
    for (uint32_t i = 0; i < kernel->argument_count; i++)
        text =
            arena_printf(arena, "%s%s%s %s", text, i ? ", " : "; ",
                         type_text(arena, kernel->arguments[i]->type), kernel->arguments[i]->name);
    text = arena_printf(arena, "%s)", text);
    if (kernel->state_bytes > 0)
        text = arena_printf(arena, "%s state %" PRIu64, text, kernel->state_bytes);
    if (foreign->finishes)
        text = arena_printf(arena, "%s finish %" PRIu64, text, foreign->finish_packets);
    return text;
}

/* ---- sections ---- */

static struct ks *foreign_section(struct body *b)
{
    struct ks *block = ARENA_NEW(b->arena, struct ks), *call = ARENA_NEW(b->arena, struct ks);
    call->kind = KS_FOREIGN;
    block->kind = KS_BLOCK;
    block->span = call->span = b->kernel->kernel->span;
    block->body = call;
    return block;
}

/* Undeclared rates are 1: no body shows others. */
static void settle_rates(struct kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        struct kernel_port *port = &kernel->out[i];
        if (port->push == 0) port->push_least = port->push = 1;
        port->rate_declared = true;
        port->own_push_least = port->push_least;
        port->own_push = port->push;
        port->count_proven = port->push_least == port->push;
        port->finish_max = kernel->foreign->finish_packets;
        port->finish_declared = kernel->foreign->finishes;
    }
}

/* A kernel whose second windows would take more than a node may have is not checked. */
static void make_fire_twice(struct kernel *kernel, struct foreign *foreign)
{
    uint64_t bytes = 2 * foreign_align(foreign->state_bytes);
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        uint64_t window;
        if (__builtin_mul_overflow(kernel->out[i].push, kernel->out[i].type->width_bytes,
                                   &window) ||
            window > SEMA_MAX_NODE_BYTES)
            return;
        bytes += foreign_align(window); /* an array of ports is refused, so there are few */
    }
    if (bytes > SEMA_MAX_NODE_BYTES) return;
    foreign->fires_twice = true;
    kernel->state_bytes = bytes;
}

void body_foreign(struct body *b, const struct ast_item *item)
{
    struct kernel *kernel = b->kernel->kernel;
    struct foreign *foreign = foreign_of(b);
    if (strncmp(kernel->name, "pipe_", 5) == 0)
        refuse_extern(b, kernel->span, "name that begins with 'pipe_'", kernel->name,
                      "its functions would have the names of pipec's own");
    check_foreign_ports(b, &item->signature);
    if (b->failed) return;
    settle_rates(kernel);
    foreign->signature = signature_text(b->arena, kernel);
    foreign->state_bytes = kernel->state_bytes;
    kernel->stops = kernel->in_count == 0;
    kernel->state_bytes = (kernel->state_bytes + 7) / 8 * 8;
    const struct compile_options *options = &b->cx->options;
    if (foreign->pure && (options->debug_mode || options->checks_purity))
        make_fire_twice(kernel, foreign);
    kernel->body = foreign_section(b);
    if (foreign->state_bytes > 0) kernel->init = foreign_section(b);
    if (foreign->finishes) kernel->finish = foreign_section(b);
    vec_push(b->cx->arena, &b->cx->foreign_kernels, kernel);
}
