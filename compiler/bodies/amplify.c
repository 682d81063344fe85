/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/amplify.h"

#include <inttypes.h>

#include "compiler/bodies/shape.h"
#include "compiler/bodies/bundles.h"
#include "compiler/bodies/launches.h"
#include "compiler/bodies/rate_path.h"
#include "compiler/bodies/ranges.h"

/* The maximum of an inferred rate in packets per firing; a declared rate has the same limit. */
#define RATE_MAX ((uint64_t)1 << 31)

/* Packets that a firing appends to one port: of a port array, to any one of its elements. */
static struct walk_count port_count(const struct kernel *kernel, uint32_t port,
                                    const struct walk_count *counts, uint32_t phase)
{
    uint32_t first = phase * walk_end_count(kernel) + walk_first_end(kernel, port);
    struct walk_count all = counts[first]; /* its paths are not used */
    for (uint64_t e = 1; e < kernel->out[port].arity; e++) {
        struct walk_count one = counts[first + e];
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

static const char *rate_text(struct arena *arena, struct walk_count c)
{
    if (c.least == c.most) return arena_printf(arena, "%" PRIu64, c.least);
    return arena_printf(arena, "%" PRIu64 "..%" PRIu64, c.least, c.most);
}

static const char *phase_text(struct arena *arena, const struct kernel *k, uint32_t phase)
{
    return k->phases > 1 ? arena_printf(arena, " in phase %" PRIu32, phase) : "";
}

/* ---- a firing ---- */

static struct walk_count declared_rate(const struct kernel_port *port, uint32_t phase)
{
    if (port->pushes)
        return (struct walk_count){.least = port->push_leasts[phase], .most = port->pushes[phase]};
    return (struct walk_count){.least = port->push_least, .most = port->push};
}

/* ---- the execution that shows a count ---- */

enum extreme { MOST, LEAST, MOST_STOPPED };

/* The end of the port's array that has the extreme. */
static uint32_t extreme_end(const struct kernel *k, uint32_t port, uint32_t phase,
                            const struct walk_count *counts, enum extreme which)
{
    uint32_t first = walk_first_end(k, port), best = first;
    const struct walk_count *of = counts + (size_t)phase * walk_end_count(k);
    for (uint32_t e = first; e < first + k->out[port].arity; e++)
        if (which == LEAST ? of[e].least < of[best].least : of[e].most > of[best].most) best = e;
    return best;
}

/* Does the count break the declaration, in the way that is to be shown? */
static bool breaks_declared(const struct walk_count *count, enum extreme which,
                            struct walk_count declared)
{
    if (which == LEAST) return count->least < declared.least;
    return count->most > declared.most || count->most == WALK_UNBOUNDED;
}

/* Does an execution that makes the choices of a path append as many packets as were counted along
 * it?  `again` is what the walk that follows the path counts. */
static bool count_confirms(const struct walk_count *again, const struct walk_count *path,
                           enum extreme which)
{
    return which == LEAST ? again->least <= path->least : again->most >= path->most;
}

static struct span endless_place(const struct ks *loop)
{
    return loop->expr != NULL && loop->expr->span.source != 0 ? loop->expr->span : loop->span;
}

enum { GUIDED_WALKS_MAX = 4 };

/* Walks again, to show how the port comes to its extreme.  The extremes of parts that follow one
 * another need not belong to one execution: a path is shown if a walk that makes its choices counts
 * as many packets, otherwise the path of that walk is tried. */
static void show_path(struct compile *cx, struct kernel *k, uint32_t port, uint32_t phase,
                      enum walk_section section, const struct walk_result *result,
                      enum extreme which, struct walk_count declared, struct diag *d)
{
    struct arena *scratch = arena_create();
    const struct walk_count *known = which == MOST_STOPPED ? result->stopped : result->counts;
    struct walk_trace trace = {.phase = phase, .end = extreme_end(k, port, phase, known, which)};
    struct walk_request request = {.cx = cx,
                                   .kernel = k,
                                   .body = section == WALK_FINISH ? k->finish : k->body,
                                   .local_count = k->local_count,
                                   .section = section,
                                   .ties = true,
                                   .trace = &trace};
    size_t at = (size_t)phase * walk_end_count(k) + trace.end;
    struct walk_count path = {0};
    bool confirmed = false;
    for (int i = 0; i < GUIDED_WALKS_MAX && !confirmed; i++) {
        struct walk_result traced = walk_body(&request, scratch);
        struct walk_count now = which == MOST_STOPPED ? traced.stopped[at] : traced.counts[at];
        if (i > 0) confirmed = count_confirms(&now, &path, which);
        if (!confirmed && !breaks_declared(&now, which, declared)) break;
        path = now;
        /* A walk that follows the path knows more of it: which of its loops have no round left. */
        trace.guide = which == LEAST ? now.least_path : now.most_path;
        confirmed |= trace.guide == NULL; /* there are no choices */
    }
    if (confirmed)
        rate_path_show(cx, d,
                       &(struct rate_path){.kernel = k,
                                           .body = request.body,
                                           .last = trace.guide,
                                           .port = port,
                                           .least = declared.least,
                                           .most = declared.most,
                                           .too_few = which == LEAST});
    else if (which == MOST && result->endless_most[trace.end].most >= declared.most &&
             result->endless_most[trace.end].loop != NULL)
        diag_label(d, endless_place(result->endless_most[trace.end].loop),
                   "nothing shows that this loop ends");
    else
        diag_note(
            d, "no single firing is known to do this: the numbers are sums over parts of the body");
    arena_destroy(scratch);
}

/* Only a kernel without compile-time parameters gets an edit: for other values of these, another number may be right. */
static void help_rate(struct compile *cx, struct diag *d, const struct kernel *k,
                      const struct kernel_port *port, struct walk_count count)
{
    const char *rate = rate_text(cx->arena, count);
    diag_help(d, "declare 'push %s', or leave the rate out: it is taken from the body", rate);
    if (strcmp(k->name, k->title) == 0) diag_fix(d, port->rate_span, "push %s", rate);
}

static void report_mismatch(struct compile *cx, struct kernel *k, uint32_t p, uint32_t phase,
                            const struct walk_result *result)
{
    const struct kernel_port *port = &k->out[p];
    struct walk_count count = port_count(k, p, result->counts, phase);
    enum extreme which = count.most < declared_rate(port, phase).least ? LEAST : MOST;
    const char *rate = rate_text(cx->arena, declared_rate(port, phase));
    const char *where = phase_text(cx->arena, k, phase);
    struct diag *d = diag_report(cx->diags, RULE_RATE_MISMATCH, port->rate_span,
                                 "'%s' declares push %s on '%s'%s, its body appends %s", k->name,
                                 rate, port->name, where, count_text(cx->arena, count));
    diag_primary(d, "push %s%s", rate, where);
    show_path(cx, k, p, phase, WALK_FIRING, result, which, declared_rate(port, phase), d);
    if (k->phases == 1 && count.most != WALK_UNBOUNDED && count.most > 0)
        help_rate(cx, d, k, port, count);
}

static void report_unproven_rate(struct compile *cx, struct kernel *k, uint32_t p, uint32_t phase,
                                 const struct walk_result *result)
{
    const struct kernel_port *port = &k->out[p];
    struct walk_count count = port_count(k, p, result->counts, phase);
    struct walk_count stopped = port_count(k, p, result->stopped, phase);
    struct walk_count rate = declared_rate(port, phase);
    const char *where = phase_text(cx->arena, k, phase);
    bool exact = rate.least == rate.most, inside = count.least >= rate.least;
    inside = inside && count.most <= rate.most;
    const char *what = exact ? "exactly " : rate.least == 0 ? "at most " : "";
    struct walk_count shown = {.least = exact || rate.least == 0 ? rate.most : rate.least,
                               .most = rate.most};
    struct diag *d;
    if (inside)
        d = diag_report(cx->diags, RULE_RATE_UNPROVEN,
                        port->rate_declared ? port->rate_span : port->span,
                        "a firing of '%s' may append %s to '%s'%s before it stops, and there is "
                        "room for %" PRIu64,
                        k->name, count_text(cx->arena, stopped), port->name, where, rate.most);
    else
        d = diag_report(cx->diags, RULE_RATE_UNPROVEN, port->rate_span,
                        "the body of '%s' does not show that it appends %s%s per firing to "
                        "'%s'%s: it appends %s",
                        k->name, what, count_text(cx->arena, shown), port->name, where,
                        count_text(cx->arena, count));
    enum extreme which = inside ? MOST_STOPPED : count.most > rate.most ? MOST : LEAST;
    diag_note(d, "every append is checked at run time; another number is a fault");
    show_path(cx, k, p, phase, WALK_FIRING, result, which, rate, d);
    if (!inside && exact && count.most <= rate.most && k->phases == 1)
        help_rate(cx, d, k, port, count);
}

/* A child's ports bind by position: one that it does not need may stand before one that it does. */
static void report_silent(struct compile *cx, const struct kernel *k,
                          const struct kernel_port *port, const struct walk_result *result)
{
    if (k->is_child) return;
    bool ends = false;
    for (uint32_t i = 0; i < k->phases; i++)
        ends |= result->returns[i];
    struct diag *d = diag_report(cx->diags, RULE_INVALID_RATE, port->span,
                                 "'%s' never writes its out-port '%s'%s", k->name, port->name,
                                 ends ? "" : ": each firing stops");
    if (ends)
        diag_help(d, "append a packet with '%s <- value;', or remove the port", port->name);
    else
        diag_help(d,
                  "let a firing come to its end, or declare the rate that it would have: 'push N'");
}

static bool is_within(struct walk_count count, struct walk_count stopped, struct walk_count rate)
{
    return count.least >= rate.least && count.most <= rate.most && stopped.most <= rate.most;
}

/* The proven rates replace the declared ones: they are never wider. */
static void set_rates(struct compile *cx, const struct kernel *k, uint32_t p,
                      const struct walk_result *result)
{
    struct kernel_port *port = &k->out[p];
    uint64_t *least = NULL, *most = NULL;
    if (k->phases > 1) {
        least = ARENA_ARRAY(cx->arena, uint64_t, k->phases);
        most = ARENA_ARRAY(cx->arena, uint64_t, k->phases);
    }
    port->push_least = port->push = 0;
    for (uint32_t i = 0; i < k->phases; i++) {
        struct walk_count count = port_count(k, p, result->counts, i);
        port->push_least += count.least;
        port->push += count.most;
        if (least) least[i] = count.least, most[i] = count.most;
    }
    port->push_leasts = least;
    port->pushes = most;
}

/* Whether bounds were declared for what is always the same number. */
static bool is_exact_within_bounds(const struct kernel *k, uint32_t p,
                                   const struct walk_result *result)
{
    bool bounds = false;
    for (uint32_t i = 0; i < k->phases; i++) {
        struct walk_count count = port_count(k, p, result->counts, i);
        struct walk_count rate = declared_rate(&k->out[p], i);
        if (count.least != count.most) return false;
        bounds |= rate.least != rate.most;
    }
    return bounds;
}

static void settle_declared(struct compile *cx, struct kernel *k, uint32_t p,
                            const struct walk_result *result)
{
    struct kernel_port *port = &k->out[p];
    uint64_t most = 0;
    port->count_proven = true;
    for (uint32_t i = 0; i < k->phases; i++) {
        struct walk_count count = port_count(k, p, result->counts, i),
                          stopped = port_count(k, p, result->stopped, i);
        struct walk_count rate = declared_rate(port, i);
        if (count.most < rate.least || count.least > rate.most) {
            report_mismatch(cx, k, p, i, result);
            return;
        }
        if (port->count_proven && !is_within(count, stopped, rate)) {
            report_unproven_rate(cx, k, p, i, result);
            port->count_proven = false;
        }
        most |= count.most;
    }
    if (most == 0 && k->finish == NULL && !port->tree_writes) {
        report_silent(cx, k, port, result);
    } else if (port->count_proven) {
        port->bounds_exact = is_exact_within_bounds(k, p, result);
        set_rates(cx, k, p, result);
    }
}

static void report_unbounded_rate(struct compile *cx, struct kernel *k, uint32_t p, uint32_t phase,
                                  const struct walk_result *result)
{
    const struct kernel_port *port = &k->out[p];
    struct walk_count count = port_count(k, p, result->counts, phase);
    const struct walk_count nothing = {.most = WALK_UNBOUNDED};
    if (count.most != WALK_UNBOUNDED) {
        diag_report(cx->diags, RULE_TOO_LARGE, port->span,
                    "'%s' appends %s per firing to '%s'%s: at most %" PRIu64 " are possible",
                    k->name, count_text(cx->arena, count), port->name,
                    phase_text(cx->arena, k, phase), RATE_MAX);
        return;
    }
    struct diag *d = diag_report(
        cx->diags, RULE_INVALID_RATE, port->span,
        "'%s' appends %s per firing to '%s'%s: its body shows no bound, so "
        "the rate has to be declared",
        k->name, count_text(cx->arena, count), port->name, phase_text(cx->arena, k, phase));
    const char *type = type_text(cx->arena, port->type);
    diag_help(d, "declare the maximum that a firing appends: out %s %s push ..N", type, port->name);
    diag_help(d, "or, where the number is always the same: out %s %s push N", type, port->name);
    show_path(cx, k, p, phase, WALK_FIRING, result, MOST, nothing, d);
}

static void settle_inferred(struct compile *cx, struct kernel *k, uint32_t p,
                            const struct walk_result *result)
{
    struct kernel_port *port = &k->out[p];
    uint64_t most = 0;
    for (uint32_t i = 0; i < k->phases; i++) {
        struct walk_count count = port_count(k, p, result->counts, i);
        if (count.most > RATE_MAX) {
            report_unbounded_rate(cx, k, p, i, result);
            return;
        }
        most |= count.most;
    }
    set_rates(cx, k, p, result);
    port->count_proven = true;
    for (uint32_t i = 0; port->count_proven && i < k->phases; i++) {
        struct walk_count count = port_count(k, p, result->counts, i),
                          stopped = port_count(k, p, result->stopped, i);
        if (stopped.most <= count.most) continue;
        if (most) report_unproven_rate(cx, k, p, i, result);
        port->count_proven = false;
    }
    if (most == 0 && k->finish == NULL && !port->tree_writes) report_silent(cx, k, port, result);
}

/* Keeps the narrower bounds, because both are sound. */
static void meet_counts(struct walk_count *into, const struct walk_count *more, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (more[i].least > into[i].least) into[i].least = more[i].least;
        if (more[i].most < into[i].most) into[i].most = more[i].most;
    }
}

/* A firing that may stay in a loop for ever has no bound that its end shows: what it appends there counts, too. */
static void count_endless_firing(const struct kernel *k, struct walk_result *into, size_t count,
                                 const struct walk_result *more)
{
    for (size_t i = 0; i < count; i++) {
        size_t end = i % walk_end_count(k);
        uint64_t most = into->endless_most[end].most;
        if (more->endless_most[end].most < most) most = more->endless_most[end].most;
        if (most > into->counts[i].most) into->counts[i].most = most;
    }
}

/* Counts the packets that the body appends.  If that is no single number, a second walk also looks
 * for relations between counters and packets. */
static struct walk_result walk_counts(struct compile *cx, struct kernel *k, struct ks *body,
                                      enum walk_section section, struct arena *scratch)
{
    struct walk_request request = {.cx = cx,
                                   .kernel = k,
                                   .body = body,
                                   .local_count = k->local_count,
                                   .section = section,
                                   .relate = section == WALK_FIRING &&
                                             !kernel_launches_any(&k->launches) &&
                                             bundles_possible(k)};
    struct walk_result result = walk_body(&request, scratch);
    size_t count = (size_t)walk_end_count(k) * (section == WALK_FIRING ? k->phases : 1);
    bool single = true;
    for (size_t i = 0; i < count; i++)
        single &= result.counts[i].least == result.counts[i].most &&
                  result.stopped[i].most <= result.counts[i].most &&
                  result.endless_most[i % walk_end_count(k)].most <= result.counts[i].most;
    if (single || !result.ends) return result;
    request.ties = true;
    request.relate = false;
    struct walk_result related = walk_body(&request, scratch);
    meet_counts(result.counts, related.counts, count);
    meet_counts(result.stopped, related.stopped, count);
    for (uint32_t i = 0; section == WALK_FIRING && i < k->phases; i++)
        result.returns[i] &= related.returns[i];
    count_endless_firing(k, &result, count, &related);
    return result;
}

/* Sets the packets that a firing appends by itself to a port that its tree writes too.  A declared
 * rate covers both. */
static void settle_own(struct compile *cx, struct kernel *k, uint32_t p,
                       const struct walk_result *result)
{
    struct kernel_port *port = &k->out[p];
    struct walk_count count = port_count(k, p, result->counts, 0);
    if (!port->rate_declared) {
        settle_inferred(cx, k, p, result);
    } else if (count.least > port->push) {
        report_mismatch(cx, k, p, 0, result);
    } else {
        port->count_proven = count.most <= port->push;
        if (!port->count_proven) report_unproven_rate(cx, k, p, 0, result);
    }
    port->own_push_least = port->rate_declared ? count.least : port->push_least;
    port->own_push = count.most < port->push || !port->rate_declared ? count.most : port->push;
}

static void settle_port_rate(struct compile *cx, struct kernel *k, uint32_t p,
                             const struct walk_result *result)
{
    struct kernel_port *port = &k->out[p];
    if (port->tree_writes && !k->is_child) {
        settle_own(cx, k, p, result);
        return;
    }
    if (port->indexed)
        port->count_proven = true;
    else if (port->rate_declared)
        settle_declared(cx, k, p, result);
    else
        settle_inferred(cx, k, p, result);
    port->own_push_least = port->push_least;
    port->own_push = port->push;
}

/* A phase in which every firing stops keeps its declared rates, whatever the body says: no firing shows another number. */
static void keep_declared(const struct kernel *k, uint32_t p, const struct walk_result *result)
{
    for (uint32_t i = 0; i < k->phases; i++) {
        struct walk_count rate = declared_rate(&k->out[p], i);
        struct walk_count *count =
            result->counts + (size_t)i * walk_end_count(k) + walk_first_end(k, p);
        for (uint64_t e = 0; !result->returns[i] && e < k->out[p].arity; e++, count++) {
            count->least = rate.least;
            if (count->most < rate.most) count->most = rate.most; /* more: in a loop without end */
        }
    }
}

static void infer_firing(struct compile *cx, struct kernel *k, struct arena *scratch)
{
    struct walk_result result = walk_counts(cx, k, k->body, WALK_FIRING, scratch);
    if (!result.ends) {
        struct diag *d =
            diag_report(cx->diags, RULE_ENDLESS_FIRING, result.endless,
                        "this loop is never left: a firing of '%s' would not end", k->name);
        diag_note(d, "its condition holds for every value that its variables can take");
        return;
    }
    if (result.relation) bundles_of_kernel(cx, k, result.relation);
    if (kernel_launches_any(&k->launches)) launches_count(cx, k, result.counts[walk_launch_end(k)]);
    for (uint32_t p = 0; p < k->out_count; p++) {
        if (k->out[p].rate_declared) keep_declared(k, p, &result);
        settle_port_rate(cx, k, p, &result);
    }
}

/* ---- finish ---- */

/* The maximum number of packets that one firing may append. */
static uint64_t firing_bound(const struct kernel *k, const struct kernel_port *port)
{
    uint64_t most = port->pushes ? 0 : port->push;
    for (uint32_t i = 0; port->pushes && i < k->phases; i++)
        if (port->pushes[i] > most) most = port->pushes[i];
    return most;
}

static void settle_finish(struct compile *cx, struct kernel *k, uint32_t p,
                          const struct walk_result *result)
{
    struct kernel_port *port = &k->out[p];
    struct walk_count count = port_count(k, p, result->counts, 0);
    const struct walk_count bound = {.most = port->finish_declared ? port->finish_max
                                                                   : firing_bound(k, port)};
    struct diag *d;
    if (!port->finish_declared) {
        /* The proven bound, else one firing's. */
        bool bounded = count.most != WALK_UNBOUNDED;
        port->finish_max = bounded ? count.most : firing_bound(k, port);
        port->finish_proven = bounded;
        if (!bounded) {
            d = diag_report(
                cx->diags, RULE_RATE_UNPROVEN, port->span,
                "the body of 'finish' of '%s' does not show how many packets it appends to "
                "'%s': at most %" PRIu64 " are allowed, as many as one firing appends",
                k->name, port->name, port->finish_max);
            show_path(cx, k, p, 0, WALK_FINISH, result, MOST, bound, d);
            diag_help(d, "declare the maximum: finish push N { ... }");
        }
        return;
    }
    port->finish_proven = count.most <= port->finish_max;
    if (port->finish_proven) return;
    if (count.least > port->finish_max)
        d = diag_report(cx->diags, RULE_RATE_MISMATCH, port->finish_span,
                        "'finish' of '%s' declares push %" PRIu64 ", its body appends %s to '%s'",
                        k->name, port->finish_max, count_text(cx->arena, count), port->name);
    else
        d = diag_report(cx->diags, RULE_RATE_UNPROVEN, port->finish_span,
                        "'finish' of '%s' may append %s to '%s', and declares push %" PRIu64
                        ": every append is checked at run time",
                        k->name, count_text(cx->arena, count), port->name, port->finish_max);
    show_path(cx, k, p, 0, WALK_FINISH, result, MOST, bound, d);
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

/* Whatever its place, a firing of a window sees no more than the window's reach. */
static void take_input(const struct graph *graph, struct graph_input *in,
                       const struct kernel_port *port)
{
    in->pop = port->pop;
    in->peek = port->peek;
    in->pops = port->pops;
    in->peeks = port->peeks;
    in->history = 0;
    if (port->window_width == 0) return;
    in->history = graph_window_reach(port, &graph->buffers.items[in->buffer].shape);
    in->peek = in->history + 1;
    in->peeks = NULL;
}

static void take_rates(struct compile *cx, struct graph *graph)
{
    for (size_t n = 0; n < graph->nodes.count; n++) {
        struct graph_node *node = &graph->nodes.items[n];
        for (size_t i = 0; i < node->inputs.count; i++) {
            struct graph_input *in = &node->inputs.items[i];
            take_input(graph, in, &node->kernel->in[in->kernel_port]);
        }
        for (size_t o = 0; o < node->outputs.count; o++) {
            struct graph_output *out = &node->outputs.items[o];
            const struct kernel_port *port = &node->kernel->out[out->kernel_port];
            out->push_least = port->push_least;
            out->push = port->push;
            out->push_leasts = port->push_leasts;
            out->pushes = port->pushes;
            out->finish_max = port->finish_max;
        }
    }
    bundles_of_graph(cx, graph);
}

void amplify_infer_rates(struct compile *cx, struct graph *graph)
{
    launches_find_writers(graph);
    for (size_t i = 0; i < graph->kernels.count; i++) {
        struct kernel *k = graph->kernels.items[i];
        struct arena *scratch = arena_create();
        size_t kept = diag_kept_count(cx->diags);
        if (k->foreign == NULL) infer_firing(cx, k, scratch);
        if (k->finish != NULL && k->foreign == NULL) {
            struct walk_result result = walk_counts(cx, k, k->finish, WALK_FINISH, scratch);
            for (uint32_t p = 0; p < k->out_count; p++)
                settle_finish(cx, k, p, &result);
        }
        graph_trace_kernel(cx, k, kept);
        mark_emissions(k->body, k, false);
        mark_emissions(k->finish, k, true);
        arena_destroy(scratch);
    }
    launches_bound_trees(cx, graph);
    shape_infer(cx, graph);
    take_rates(cx, graph);
}
