#include <inttypes.h>

#include "compiler/analysis/analysis.h"
#include "compiler/analysis/walk.h"

/* Packets that the ends of one port append: of a port array, joined over its elements. */
static struct walk_count port_count(const struct kernel *kernel, uint32_t port,
                                    const struct walk_result *result)
{
    uint32_t first = walk_first_end(kernel, port);
    struct walk_count all = result->counts[first];
    for (uint64_t e = 1; e < kernel->out[port].arity; e++) {
        struct walk_count one = result->counts[first + e];
        if (one.least < all.least) all.least = one.least;
        if (one.most > all.most) all.most = one.most;
    }
    return all;
}

static const char *count_text(struct arena *arena, struct walk_count c)
{
    if (c.most == WALK_UNBOUNDED)
        return arena_printf(arena, "%" PRIu64 " or more packets", c.least);
    if (c.least == c.most)
        return arena_printf(arena, "%" PRIu64 " packet%s", c.least, c.least == 1 ? "" : "s");
    return arena_printf(arena, "%" PRIu64 " to %" PRIu64 " packets", c.least, c.most);
}

/* ---- a firing ---- */

static void report_mismatch(struct compile *cx, const struct kernel *k,
                            const struct kernel_port *port, struct walk_count count)
{
    struct diag *d = diag_report(cx->diags, RULE_RATE_MISMATCH, port->rate_span,
                                 "'%s' declares push %" PRIu64 " on '%s', its body appends %s",
                                 k->name, port->push, port->name, count_text(cx->arena, count));
    diag_primary(d, "push %" PRIu64, port->push);
    if (count.least == count.most && count.least > 0)
        diag_help(d, "declare 'push %" PRIu64 "', or leave the rate out: it is taken from the body",
                  count.least);
}

static void report_unproven(struct compile *cx, const struct kernel *k,
                            const struct kernel_port *port, struct walk_count count)
{
    struct diag *d = diag_report(cx->diags, RULE_RATE_UNPROVEN, port->rate_span,
                                 "the body of '%s' does not show that it appends exactly %" PRIu64
                                 " packets to '%s' a firing: it appends %s",
                                 k->name, port->push, port->name, count_text(cx->arena, count));
    diag_note(d, "every append is checked while running; another number is a fault");
}

static void settle_declared(struct compile *cx, const struct kernel *k, struct kernel_port *port,
                            struct walk_count count)
{
    bool proven = count.least == port->push && count.most == port->push;
    port->count_proven = proven;
    if (proven) return;
    if (count.most < port->push || count.least > port->push)
        report_mismatch(cx, k, port, count);
    else
        report_unproven(cx, k, port, count);
}

static void settle_inferred(struct compile *cx, const struct kernel *k, struct kernel_port *port,
                            struct walk_count count, bool has_finish)
{
    port->count_proven = true;
    port->push = count.least;
    if (count.least == count.most) {
        if (count.most > 0 || has_finish) return;
        struct diag *d = diag_report(cx->diags, RULE_INVALID_RATE, port->span,
                                     "'%s' never writes its out-port '%s'", k->name, port->name);
        diag_help(d, "append a packet with '%s <- value;', or remove the port", port->name);
        return;
    }
    struct diag *d =
        diag_report(cx->diags, RULE_UNSUPPORTED, port->span,
                    "'%s' appends %s to '%s' a firing: production that varies is not supported yet",
                    k->name, count_text(cx->arena, count), port->name);
    if (count.most == WALK_UNBOUNDED)
        diag_help(d, "if the number is always the same, declare it: out %s %s push N",
                  type_text(cx->arena, port->type), port->name);
}

static void infer_firing(struct compile *cx, struct kernel *k, struct arena *scratch)
{
    struct walk_request request = {.cx = cx,
                                   .kernel = k,
                                   .body = k->body,
                                   .local_count = k->local_count,
                                   .section = WALK_FIRING};
    struct walk_result result = walk_body(&request, scratch);
    if (!result.ends) {
        struct diag *d =
            diag_report(cx->diags, RULE_ENDLESS_FIRING, result.endless,
                        "this loop is never left: a firing of '%s' would not end", k->name);
        diag_note(d, "its condition holds for every value that its variables can take");
        return;
    }
    for (uint32_t p = 0; p < k->out_count; p++) {
        struct kernel_port *port = &k->out[p];
        if (port->indexed) {
            port->count_proven = true;
            port->push_least = port->push;
            continue;
        }
        struct walk_count count = port_count(k, p, &result);
        if (port->rate_declared)
            settle_declared(cx, k, port, count);
        else
            settle_inferred(cx, k, port, count, k->finish != NULL);
        port->push_least = port->push;
    }
}

/* ---- finish ---- */

static void settle_finish(struct compile *cx, const struct kernel *k, struct kernel_port *port,
                          struct walk_count count)
{
    if (!port->finish_declared) {
        /* The proven bound, else one firing's. */
        bool bounded = count.most != WALK_UNBOUNDED;
        port->finish_max = bounded ? count.most : port->push;
        port->finish_proven = bounded;
        if (!bounded) {
            struct diag *d = diag_report(
                cx->diags, RULE_RATE_UNPROVEN, port->span,
                "how much 'finish' of '%s' appends to '%s' is not shown by its body: at "
                "most one firing's %" PRIu64 " packets are allowed",
                k->name, port->name, port->push);
            diag_help(d, "declare the most: finish push N { ... }");
        }
        return;
    }
    port->finish_proven = count.most <= port->finish_max;
    if (count.least > port->finish_max)
        diag_report(cx->diags, RULE_RATE_MISMATCH, port->rate_span,
                    "'finish' of '%s' declares push %" PRIu64 ", its body appends %s to '%s'",
                    k->name, port->finish_max, count_text(cx->arena, count), port->name);
    else if (!port->finish_proven)
        diag_report(cx->diags, RULE_RATE_UNPROVEN, port->span,
                    "'finish' of '%s' may append %s to '%s', declared is push %" PRIu64
                    ": every append is checked while running",
                    k->name, count_text(cx->arena, count), port->name, port->finish_max);
}

static void infer_finish(struct compile *cx, struct kernel *k, struct arena *scratch)
{
    if (k->finish == NULL) return;
    struct walk_request request = {.cx = cx,
                                   .kernel = k,
                                   .body = k->finish,
                                   .local_count = k->local_count,
                                   .section = WALK_FINISH};
    struct walk_result result = walk_body(&request, scratch);
    for (uint32_t p = 0; p < k->out_count; p++)
        settle_finish(cx, k, &k->out[p], port_count(k, p, &result));
}

/* ---- what codegen reads ---- */

static void mark_emissions(struct ks *stmt, const struct kernel *k, bool finish)
{
    for (; stmt != NULL; stmt = stmt->next) {
        if (stmt->kind == KS_EMIT)
            stmt->count_proven = finish ? k->out[stmt->port].finish_proven
                                        : k->out[stmt->port].count_proven && !k->stops;
        mark_emissions(stmt->init, k, finish);
        mark_emissions(stmt->body, k, finish);
        mark_emissions(stmt->otherwise, k, finish);
    }
}

static void take_rates(struct graph *graph)
{
    for (size_t n = 0; n < graph->nodes.count; n++) {
        struct graph_node *node = &graph->nodes.items[n];
        for (size_t i = 0; i < node->inputs.count; i++) {
            struct graph_input *in = &node->inputs.items[i];
            in->pop = node->kernel->in[in->kernel_port].pop;
            in->peek = node->kernel->in[in->kernel_port].peek;
        }
        for (size_t o = 0; o < node->outputs.count; o++) {
            struct graph_output *out = &node->outputs.items[o];
            out->push = node->kernel->out[out->kernel_port].push;
            out->push_least = out->push;
            out->finish_max = node->kernel->out[out->kernel_port].finish_max;
        }
    }
}

/* A rate of zero is possible only where nothing inside waits for it: on an out-port that finish
 * alone writes. */
static void refuse_silent_buffers(struct compile *cx, struct graph *graph)
{
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *b = &graph->buffers.items[i];
        if (b->writer_node == GRAPH_NONE || b->readers.count == 0) continue;
        const struct graph_node *writer = &graph->nodes.items[b->writer_node];
        const struct graph_output *out = &writer->outputs.items[b->writer_output];
        if (out->push > 0) continue;
        struct diag *d = diag_report(
            cx->diags, RULE_UNSUPPORTED, out->span,
            "'%s' writes '%s' in 'finish' alone; reading such a buffer inside the pipeline is "
            "not supported yet",
            writer->name, b->name);
        diag_help(d, "bind '%s' to an out-port of the pipeline", out->port);
    }
}

void amplify_infer_rates(struct compile *cx, struct graph *graph)
{
    for (size_t i = 0; i < graph->kernels.count; i++) {
        struct kernel *k = graph->kernels.items[i];
        struct arena *scratch = arena_create();
        infer_firing(cx, k, scratch);
        infer_finish(cx, k, scratch);
        mark_emissions(k->body, k, false);
        mark_emissions(k->finish, k, true);
        arena_destroy(scratch);
    }
    take_rates(graph);
    if (!diag_failed(cx->diags)) refuse_silent_buffers(cx, graph);
}
