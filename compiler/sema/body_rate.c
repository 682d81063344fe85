/* SPDX-License-Identifier: MIT */
/*
 * body_rate: the rates of a kernel's ports: numbers, bounds, lists of phases, amplification.
 *
 * body_port collects the written rates (struct port_rates). Once every port is known,
 * body_settle_rates fills kernel->phases and the rates of every port:
 *
 *     lists      all have one length, which is the number of phases; a single number holds for all phases
 *     bounds     push L..M; amplify A: at most max(1, floor(A x pop)) packets a firing, by phase;
 *                with both, the lower one
 *     undeclared rates of out-ports stay 0, and rate_declared false: bodies/amplify fills them
 *
 * Fails  RULE_INVALID_RATE, RULE_TOO_LARGE, RULE_UNKNOWN_ATTRIBUTE.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/sema/body_internal.h"
#include "base/nearest.h"
#include "base/plural.h"

/* ---- one rate as written ---- */

static bool check_of(struct body *b, const struct ast_attribute *attribute)
{
    if (!attribute->of.text) return true;
    body_report(b, RULE_UNKNOWN_ATTRIBUTE, attribute->of.span,
                "'of PORT' belongs to 'amplify', not to '%s'", attribute->name.text);
    return false;
}

/* One number of a rate. */
static bool eval_rate_number(struct body *b, const char *name, const struct ast_expr *e,
                             uint64_t least, uint64_t *out)
{
    int64_t rate;
    if (!sema_whole(b->sema, b->scope, e, arena_printf(b->arena, "'%s'", name), &rate)) {
        b->failed = true;
        return false;
    }
    if (rate < (int64_t)least) {
        body_report(b, RULE_INVALID_RATE, e->span,
                    "'%s' is at least %" PRIu64 " packet%s a firing, not %" PRId64, name, least,
                    least == 1 ? "" : "s", rate);
        return false;
    }
    if (rate > SEMA_MAX_RATE) {
        body_report(b, RULE_TOO_LARGE, e->span,
                    "'%s' is at most %" PRId64 " packets a firing, not %" PRId64, name,
                    SEMA_MAX_RATE, rate);
        return false;
    }
    *out = (uint64_t)rate;
    return true;
}

static bool eval_rate_bounds(struct body *b, const char *name, const struct ast_expr *e,
                             uint64_t *least, uint64_t *most)
{
    *least = 0;
    if (e->left && !eval_rate_number(b, name, e->left, 0, least)) return false;
    if (!eval_rate_number(b, name, e->right, 1, most)) return false;
    if (*least <= *most) return true;
    body_report(b, RULE_INVALID_RATE, e->span,
                "'%s' is from %" PRIu64 " to %" PRIu64 ": the lower bound is above the upper one",
                name, *least, *most);
    return false;
}

/* A number, or bounds if the rate allows them; `zero`: 0 is allowed, in lists. */
static bool one_rate(struct body *b, const char *name, const struct ast_expr *e, bool zero,
                     bool bounded, uint64_t *least, uint64_t *most)
{
    switch (e->kind) {
    case AST_EXPR_RANGE: {
        if (bounded) return eval_rate_bounds(b, name, e, least, most);
        struct diag *diag =
            body_report(b, RULE_INVALID_RATE, e->span,
                        "'%s' is exact: only the rate of an out-port ('push L..M') may vary", name);
        diag_help(diag, "peek the maximum that a firing needs, and consume a fixed number");
        return false;
    }
    case AST_EXPR_BRACES:
    case AST_EXPR_REPEAT:
    case AST_EXPR_DIMENSIONS:
        body_report(b, RULE_INVALID_RATE, e->span, "'%s' is one number, or a list of numbers",
                    name);
        return false;
    default: break;
    }
    if (!eval_rate_number(b, name, e, zero ? 0 : 1, most)) return false;
    *least = *most;
    return true;
}

static bool rate_list(struct body *b, const struct ast_attribute *attribute, bool bounded,
                      struct written_rate *rate)
{
    const char *name = attribute->name.text;
    uint32_t count = 0;
    uint64_t all = 0;
    for (const struct ast_expr *e = attribute->value->arguments; e; e = e->next)
        if (++count > SEMA_MAX_PHASES) {
            body_report(b, RULE_TOO_LARGE, e->span, "a rate has at most %d phases",
                        SEMA_MAX_PHASES);
            return false;
        }
    if (count == 0) {
        body_report(b, RULE_INVALID_RATE, attribute->value->span, "'%s' has an empty list", name);
        return false;
    }
    rate->least = ARENA_ARRAY(b->arena, uint64_t, count);
    rate->most = ARENA_ARRAY(b->arena, uint64_t, count);
    for (const struct ast_expr *e = attribute->value->arguments; e; e = e->next, rate->count++) {
        if (!one_rate(b, name, e, true, bounded, &rate->least[rate->count],
                      &rate->most[rate->count]))
            return false;
        all |= rate->most[rate->count];
    }
    rate->is_list = true;
    if (all) return true;
    body_report(b, RULE_INVALID_RATE, attribute->value->span,
                "'%s' is 0 in every phase: packets have to pass in one of them at least", name);
    return false;
}

bool body_written_rate(struct body *b, const struct ast_attribute *attribute, bool bounded,
                       struct written_rate *rate)
{
    *rate = (struct written_rate){.span = attribute->span, .value_span = attribute->value->span};
    if (!check_of(b, attribute)) return false;
    if (attribute->value->kind == AST_EXPR_BRACES) return rate_list(b, attribute, bounded, rate);
    rate->least = ARENA_ARRAY(b->arena, uint64_t, 1);
    rate->most = ARENA_ARRAY(b->arena, uint64_t, 1);
    if (!one_rate(b, attribute->name.text, attribute->value, false, bounded, rate->least,
                  rate->most))
        return false;
    rate->count = 1;
    return true;
}

bool body_rate(struct body *b, const struct ast_attribute *attribute, uint64_t *out)
{
    uint64_t least;
    return check_of(b, attribute) &&
           one_rate(b, attribute->name.text, attribute->value, false, false, &least, out);
}

/* ---- phases ---- */

/* The first list, or the first list whose length differs from that of `like`. */
static const struct written_rate *find_list(const struct port_rates *rates, uint32_t count,
                                            const struct written_rate *like)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct written_rate *written[3] = {&rates[i].pop, &rates[i].peek, &rates[i].push};
        for (int k = 0; k < 3; k++)
            if (written[k]->is_list && (!like || written[k]->count != like->count))
                return written[k];
    }
    return NULL;
}

/* 0 after an error. */
static uint32_t common_phases(struct body *b)
{
    const struct kernel *kernel = b->kernel->kernel;
    uint32_t count = kernel->in_count + kernel->out_count;
    const struct port_rates *rates = b->kernel->in_rates; /* those of the out-ports follow */
    const struct written_rate *first = find_list(rates, count, NULL);
    if (!first) return 1;
    const struct written_rate *other = find_list(rates, count, first);
    if (!other) return first->count;
    struct diag *diag = body_report(b, RULE_INVALID_RATE, other->value_span,
                                    "the rates of '%s' have lists of different lengths: %" PRIu32
                                    " phase%s, and %" PRIu32 " phase%s",
                                    kernel->name, other->count, plural(other->count), first->count,
                                    plural(first->count));
    diag_label(diag, first->value_span, "%" PRIu32 " phase%s here", first->count,
               plural(first->count));
    diag_help(diag, "every list of a kernel has one entry for each phase; a single number holds "
                    "for all phases");
    return 0;
}

static uint64_t rate_entry(const uint64_t *list, const struct written_rate *rate, uint32_t phase)
{
    /* A list has as many values as the kernel has phases.
     * NOLINTNEXTLINE(clang-analyzer-security.ArrayBound) */
    return list[rate->is_list ? phase : 0];
}

/* The value for each phase; NULL if there is one phase. *total: their sum. */
static const uint64_t *spread_phases(struct body *b, const uint64_t *list,
                                     const struct written_rate *rate, uint64_t *total)
{
    uint32_t phases = b->kernel->kernel->phases;
    uint64_t *all = phases > 1 ? ARENA_ARRAY(b->arena, uint64_t, phases) : NULL;
    *total = 0;
    for (uint32_t i = 0; i < phases; i++) {
        uint64_t one = rate_entry(list, rate, i);
        *total += one; /* SEMA_MAX_PHASES x SEMA_MAX_RATE is far below 2^63 */
        if (all) all[i] = one;
    }
    return all;
}

/* ---- in-ports ---- */

static void report_peek(struct body *b, const struct kernel_port *port,
                        const struct port_rates *rates, uint32_t phase, uint64_t pop, uint64_t peek)
{
    const char *where =
        b->kernel->kernel->phases > 1 ? arena_printf(b->arena, " in phase %" PRIu32, phase) : "";
    struct diag *diag = body_report(b, RULE_INVALID_RATE, rates->peek.span,
                                    "'%s' sees fewer packets (peek %" PRIu64
                                    ") than it consumes (pop %" PRIu64 ")%s",
                                    port->name, peek, pop, where);
    if (rates->pop.span.source)
        diag_label(diag, rates->pop.span, "consumes %" PRIu64 "%s", pop, where);
    diag_help(diag, "peek is at least pop, and equal to it where it is left out");
}

static void settle_in(struct body *b, struct kernel_port *port, struct port_rates *rates)
{
    static uint64_t one = 1;
    uint64_t total;
    if (rates->pop.count == 0) rates->pop.most = &one;
    port->pops = spread_phases(b, rates->pop.most, &rates->pop, &port->pop);
    if (rates->peek.count == 0) {
        port->peeks = port->pops;
        port->peek = 0;
        for (uint32_t i = 0; i < b->kernel->kernel->phases; i++) {
            uint64_t pop = rate_entry(rates->pop.most, &rates->pop, i);
            if (pop > port->peek) port->peek = pop;
        }
        return;
    }
    port->peeks = spread_phases(b, rates->peek.most, &rates->peek, &total);
    port->peek = 0;
    bool reported = false;
    for (uint32_t i = 0; i < b->kernel->kernel->phases; i++) {
        uint64_t pop = rate_entry(rates->pop.most, &rates->pop, i),
                 peek = rate_entry(rates->peek.most, &rates->peek, i);
        if (peek > port->peek) port->peek = peek;
        if (peek < pop && !reported) report_peek(b, port, rates, i, pop, peek);
        reported |= peek < pop;
    }
}

/* ---- amplification ---- */

/* The in-port that `amplify A of PORT` counts; NULL after an error. */
static const struct kernel_port *amplified_port(struct body *b, const struct ast_attribute *amplify)
{
    const struct kernel *kernel = b->kernel->kernel;
    struct diag *diag;
    if (kernel->in_count == 0) {
        diag = body_report(b, RULE_INVALID_RATE, amplify->span,
                           "'amplify' counts packets for each one consumed, and '%s' has no "
                           "in-port",
                           kernel->name);
        diag_help(diag, "bound what a source writes with 'push ..M'");
        return NULL;
    }
    if (!amplify->of.text) return &kernel->in[0];
    for (uint32_t i = 0; i < kernel->in_count; i++)
        if (strcmp(kernel->in[i].name, amplify->of.text) == 0) return &kernel->in[i];
    const char **names = ARENA_ARRAY(b->arena, const char *, kernel->in_count);
    for (uint32_t i = 0; i < kernel->in_count; i++)
        names[i] = kernel->in[i].name;
    diag = body_report(b, RULE_UNKNOWN_NAME, amplify->of.span, "'%s' has no in-port '%s'",
                       kernel->name, amplify->of.text);
    const char *nearest = nearest_name(amplify->of.text, names, kernel->in_count);
    if (nearest) diag_suggest(diag, amplify->of.span, nearest);
    return NULL;
}

/* The value of `amplify`. */
static bool amplify_factor(struct body *b, const struct ast_attribute *amplify,
                           struct rational *out)
{
    switch (amplify->value->kind) {
    case AST_EXPR_RANGE:
    case AST_EXPR_BRACES:
    case AST_EXPR_REPEAT:
    case AST_EXPR_DIMENSIONS:
        body_report(b, RULE_INVALID_RATE, amplify->value->span, "'amplify' is one number");
        return false;
    default: break;
    }
    if (!sema_exact(b->sema, b->scope, amplify->value, out)) {
        b->failed = true;
        return false;
    }
    if (out->numerator > 0) return true;
    body_report(b, RULE_INVALID_RATE, amplify->value->span,
                "'amplify' is more than 0: packets written at most for each one consumed");
    return false;
}

/* The bound that `amplify` sets in one phase; 0 after an error. */
static uint64_t amplify_bound(struct body *b, const struct ast_attribute *amplify,
                              struct rational factor, const struct kernel_port *in, uint32_t phase)
{
    uint64_t pop = in->pops ? in->pops[phase] : in->pop;
    unsigned __int128 bound =
        (unsigned __int128)factor.numerator * pop / (unsigned __int128)factor.denominator;
    if (bound > (unsigned __int128)SEMA_MAX_RATE) {
        body_report(b, RULE_TOO_LARGE, amplify->span,
                    "amplifying %" PRIu64 " packets of '%s' gives more than %" PRId64
                    " packets a firing",
                    pop, in->name, SEMA_MAX_RATE);
        return 0;
    }
    return bound ? (uint64_t)bound : 1;
}

/* Lowers the written rate to the bound of each phase. An unwritten rate starts from 0. */
static bool amplify_push(struct body *b, const struct kernel_port *port, struct port_rates *rates,
                         const struct ast_attribute *amplify)
{
    uint32_t phases = b->kernel->kernel->phases;
    struct written_rate *push = &rates->push, all = {.is_list = true, .count = phases};
    struct rational factor;
    const struct kernel_port *in = amplified_port(b, amplify);
    if (!in || !amplify_factor(b, amplify, &factor)) return false;
    all.least = ARENA_ARRAY(b->arena, uint64_t, phases);
    all.most = ARENA_ARRAY(b->arena, uint64_t, phases);
    for (uint32_t i = 0; i < phases; i++) {
        uint64_t bound = amplify_bound(b, amplify, factor, in, i);
        uint64_t least = push->count ? rate_entry(push->least, push, i) : 0;
        uint64_t most = push->count ? rate_entry(push->most, push, i) : bound;
        if (bound == 0) return false;
        if (least > bound) {
            struct diag *diag = body_report(b, RULE_INVALID_RATE, amplify->span,
                                            "'amplify' allows '%s' %" PRIu64
                                            " packet%s a firing, 'push' promises %" PRIu64,
                                            port->name, bound, bound == 1 ? "" : "s", least);
            diag_label(diag, push->span, "promised here");
            return false;
        }
        all.least[i] = least;
        all.most[i] = most < bound ? most : bound;
    }
    all.span = push->count ? span_join(push->span, amplify->span) : amplify->span;
    *push = all;
    return true;
}

/* ---- out-ports ---- */

static void settle_out(struct body *b, struct kernel_port *port, struct port_rates *rates,
                       const struct ast_attribute *shared)
{
    const struct ast_attribute *amplify = rates->amplify;
    if (!amplify && rates->push.count == 0) amplify = shared;
    if (amplify && !amplify_push(b, port, rates, amplify)) return;
    if (rates->push.count == 0) return;
    port->push_leasts = spread_phases(b, rates->push.least, &rates->push, &port->push_least);
    port->pushes = spread_phases(b, rates->push.most, &rates->push, &port->push);
    port->rate_declared = true;
    port->rate_span = rates->push.span;
}

void body_settle_rates(struct body *b, const struct ast_attribute *amplify)
{
    struct kernel *kernel = b->kernel->kernel;
    struct rational factor;
    kernel->phases = common_phases(b);
    b->kernel->phases_unknown = b->failed;
    if (kernel->phases == 0) { /* reported */
        kernel->phases = 1;
        return;
    }
    for (uint32_t i = 0; i < kernel->in_count; i++)
        settle_in(b, &kernel->in[i], &b->kernel->in_rates[i]);
    if (amplify && kernel->out_count == 0)
        body_report(b, RULE_INVALID_RATE, amplify->span, "'%s' has no out-port to amplify",
                    kernel->name);
    else if (amplify && !b->failed && amplified_port(b, amplify))
        /* Reported once, even if every port has its own rate. */
        amplify_factor(b, amplify, &factor);
    for (uint32_t i = 0; !b->failed && i < kernel->out_count; i++)
        settle_out(b, &kernel->out[i], &b->kernel->in_rates[kernel->in_count + i], amplify);
}
