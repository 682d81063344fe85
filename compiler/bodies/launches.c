/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/launches.h"

#include <inttypes.h>

#include "base/plural.h"
#include "base/arithmetic.h"
#include "compiler/ir/ratio.h"

#define RATE_MAX ((uint64_t)1 << 31) /* packets of a firing */
#define LEVELS_MAX SEMA_MAX_LAUNCH_LEVELS

/* ---- which kernels write ---- */

static bool child_writes(const struct kernel *kernel, uint32_t port)
{
    for (size_t i = 0; i < kernel->launches.children.count; i++) {
        const struct kernel *child = kernel->launches.children.items[i];
        if (port >= child->out_count) continue;
        if (child->out[port].tree_writes || ks_appends(child->body, port)) return true;
    }
    return false;
}

void launches_find_writers(struct graph *graph)
{
    bool changed = graph->child_kernels > 0;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < graph->kernels.count; i++) {
            const struct kernel *k = graph->kernels.items[i];
            for (uint32_t p = 0; kernel_launches_any(&k->launches) && p < k->out_count; p++)
                if (!k->out[p].tree_writes && child_writes(k, p))
                    changed = k->out[p].tree_writes = true;
        }
    }
}

/* ---- launches of one firing ---- */

static void label_launches(struct diag *d, const struct kernel *k)
{
    enum { SHOWN = 4 };
    for (size_t i = 0; i < k->launches.statements.count && i < SHOWN; i++)
        diag_label(d, k->launches.statements.items[i]->span, "launched here");
}

static void report_unbounded(struct compile *cx, const struct kernel *k)
{
    struct diag *d = diag_report(cx->diags, RULE_LAUNCHES_UNBOUNDED, k->span,
                                 "the body of '%s' does not bound how many kernels a firing "
                                 "launches",
                                 k->name);
    label_launches(d, k);
    diag_help(d, "declare the maximum after its parameter list: launches N");
}

static void report_exceeded(struct compile *cx, const struct kernel *k, struct walk_count count)
{
    const struct kernel_launches *l = &k->launches;
    struct diag *d =
        diag_report(cx->diags, RULE_LAUNCHES_EXCEEDED, l->declared_span,
                    "'%s' declares launches %" PRIu64 ", and each firing launches "
                    "%s%" PRIu64,
                    k->name, l->declared, count.least < count.most ? "at least " : "", count.least);
    label_launches(d, k);
    if (count.most <= SEMA_MAX_LAUNCHES) diag_help(d, "declare 'launches %" PRIu64 "'", count.most);
}

static void report_unproven(struct compile *cx, const struct kernel *k, struct walk_count count)
{
    const struct kernel_launches *l = &k->launches;
    const char *shown = count.most == WALK_UNBOUNDED
                            ? "any number of them"
                            : arena_printf(cx->arena, "up to %" PRIu64, count.most);
    struct diag *d = diag_report(cx->diags, RULE_LAUNCHES_UNPROVEN, l->declared_span,
                                 "the body of '%s' does not show that a firing launches at most "
                                 "%" PRIu64 " kernel%s: it may launch %s",
                                 k->name, l->declared, plural(l->declared), shown);
    label_launches(d, k);
    diag_note(d, "every launch is counted at run time; more of them are a fault");
}

void launches_count(struct compile *cx, struct kernel *k, struct walk_count count)
{
    struct kernel_launches *l = &k->launches;
    l->least = count.least;
    l->most = max64(count.most, 1);
    l->proven = true;
    if (l->declared == 0) {
        if (count.most == WALK_UNBOUNDED) {
            report_unbounded(cx, k);
            l->most = 1;
        } else if (count.most > SEMA_MAX_LAUNCHES) {
            struct diag *d = diag_report(cx->diags, RULE_TOO_LARGE, k->span,
                                         "a firing of '%s' launches up to %" PRIu64
                                         " kernels: at most %d are possible",
                                         k->name, count.most, SEMA_MAX_LAUNCHES);
            label_launches(d, k);
        }
        return;
    }
    if (count.most <= l->declared) return;
    l->most = l->declared;
    l->proven = false;
    if (count.least > l->declared)
        report_exceeded(cx, k, count);
    else
        report_unproven(cx, k, count);
}

/* ---- bounds by the number of levels ---- */

struct bounds { /* of one firing and all that it launches */
    uint64_t entries, tree;
    uint64_t *packets; /* by out-port */
};

struct row {           /* the bounds with at most so many levels of launches */
    struct bounds *of; /* by position in graph->kernels */
};

struct forest {
    struct compile *cx;
    struct graph *graph;
    struct arena *scratch;
    const uint32_t *place; /* by kernel->id: position in graph->kernels */
    /* By position: the maximum number of levels below, and the minimum that every firing reaches;
     * LEVELS_MAX + 1: more. */
    uint64_t *deepest, *certain;
    uint64_t **widest; /* by position and out-port: maximum packets of one firing of a descendant */
};

static size_t kernel_place(const struct forest *f, const struct kernel *kernel)
{
    return f->place[kernel->id];
}

static const uint32_t *number_kernels(const struct graph *graph, struct arena *scratch)
{
    uint32_t last = 0;
    for (size_t i = 0; i < graph->kernels.count; i++)
        if (graph->kernels.items[i]->id > last) last = graph->kernels.items[i]->id;
    uint32_t *place = ARENA_ARRAY(scratch, uint32_t, (size_t)last + 1);
    for (size_t i = 0; i < graph->kernels.count; i++)
        place[graph->kernels.items[i]->id] = (uint32_t)i;
    return place;
}

static struct row new_row(const struct forest *f)
{
    const struct graph *graph = f->graph;
    struct row row = {ARENA_ARRAY(f->scratch, struct bounds, graph->kernels.count + 1)};
    for (size_t i = 0; i < graph->kernels.count; i++) {
        const struct kernel *k = graph->kernels.items[i];
        row.of[i].packets = ARENA_ARRAY(f->scratch, uint64_t, k->out_count + 1);
        for (uint32_t p = 0; p < k->out_count; p++)
            row.of[i].packets[p] = k->out[p].own_push;
    }
    return row;
}

/* `deeper` from `row`, the bounds with one level less. */
static void step_launch_level(const struct forest *f, const struct row *row, struct row *deeper)
{
    for (size_t i = 0; i < f->graph->kernels.count; i++) {
        const struct kernel *k = f->graph->kernels.items[i];
        const struct kernel_launches *l = &k->launches;
        struct bounds *to = &deeper->of[i];
        uint64_t entries = 0, tree = 0;
        if (!kernel_launches_any(&k->launches)) continue;
        for (uint32_t p = 0; p < k->out_count; p++)
            to->packets[p] = 0;
        for (size_t c = 0; c < l->children.count; c++) {
            const struct kernel *child = l->children.items[c];
            const struct bounds *from = &row->of[kernel_place(f, child)];
            uint64_t groups = child->work_groups;
            entries = max64(entries, from->entries);
            tree = max64(tree, saturating_multiply(groups, saturating_add(1, from->tree)));
            for (uint32_t p = 0; p < child->out_count; p++)
                to->packets[p] =
                    max64(to->packets[p], saturating_multiply(groups, from->packets[p]));
        }
        to->entries = saturating_add(l->most, entries);
        to->tree = saturating_multiply(l->most, tree);
        for (uint32_t p = 0; p < k->out_count; p++)
            to->packets[p] =
                saturating_add(k->out[p].own_push, saturating_multiply(l->most, to->packets[p]));
    }
}

/* ---- levels ---- */

static bool deepen_launches(const struct forest *f, const struct kernel *k, size_t at)
{
    const struct kernel_launches *l = &k->launches;
    uint64_t most = 0, least = LEVELS_MAX;
    bool changed = false;
    for (size_t c = 0; c < l->children.count; c++) {
        size_t child = kernel_place(f, l->children.items[c]);
        most = max64(most, f->deepest[child]);
        least = min64(least, f->certain[child]);
        for (uint32_t p = 0; p < l->children.items[c]->out_count; p++) {
            uint64_t widest = max64(f->widest[child][p], l->children.items[c]->out[p].own_push);
            if (widest <= f->widest[at][p]) continue;
            f->widest[at][p] = widest;
            changed = true;
        }
    }
    uint64_t deepest = min64(most + 1, LEVELS_MAX + 1);
    uint64_t certain = l->least > 0 ? min64(least + 1, LEVELS_MAX + 1) : 0;
    changed |= deepest != f->deepest[at] || certain != f->certain[at];
    f->deepest[at] = deepest;
    f->certain[at] = certain;
    return changed;
}

/* To a fixed point: no path without a cycle is longer than there are kernels. */
static void find_launch_levels(struct forest *f)
{
    size_t count = f->graph->kernels.count;
    f->deepest = ARENA_ARRAY(f->scratch, uint64_t, count + 1);
    f->certain = ARENA_ARRAY(f->scratch, uint64_t, count + 1);
    f->widest = ARENA_ARRAY(f->scratch, uint64_t *, count + 1);
    for (size_t i = 0; i < count; i++)
        f->widest[i] = ARENA_ARRAY(f->scratch, uint64_t, f->graph->kernels.items[i]->out_count + 1);
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = count; i-- > 0;)
            if (kernel_launches_any(&f->graph->kernels.items[i]->launches))
                changed |= deepen_launches(f, f->graph->kernels.items[i], i);
    }
}

/* A child of the launch below which nothing bounds the levels, or NULL. */
static const struct kernel *deep_child(const struct forest *f, const struct launch *launch)
{
    for (uint32_t i = 0; i < launch->child_count; i++)
        if (f->deepest[kernel_place(f, launch->children[i].kernel)] > LEVELS_MAX)
            return launch->children[i].kernel;
    return NULL;
}

/* A launch on a cycle of kernels below `kernel`, and which of its children is on it; NULL: there is none. */
static const struct launch *deep_launch(const struct forest *f, const struct kernel *kernel,
                                        const struct kernel **child)
{
    const struct kernel *at = kernel;
    const struct launch *last = NULL;
    *child = NULL;
    for (size_t steps = 0; steps <= f->graph->kernels.count; steps++) {
        const struct kernel_launches *l = &at->launches;
        const struct kernel *deeper = NULL;
        for (size_t i = 0; i < l->statements.count && deeper == NULL; i++) {
            deeper = deep_child(f, l->statements.items[i]);
            if (deeper != NULL) last = l->statements.items[i];
        }
        if (deeper == NULL) return last;
        *child = at = deeper;
    }
    return last;
}

static void report_endless_nesting(const struct forest *f, const struct kernel *k)
{
    const struct kernel *child;
    const struct launch *deep = deep_launch(f, k, &child);
    struct diag *d =
        diag_report(f->cx->diags, RULE_LAUNCHES_UNBOUNDED, k->span,
                    "nothing bounds how deep the launches below '%s' are nested", k->name);
    if (deep != NULL)
        diag_label(d, deep->span, "'%s' may be launched again by what it launches", child->title);
    diag_help(d,
              "declare the maximum number of levels below '%s' after its parameter list: nesting D",
              k->name);
}

static void settle_nesting(const struct forest *f, struct kernel *k)
{
    struct kernel_launches *l = &k->launches;
    uint64_t deepest = f->deepest[kernel_place(f, k)], certain = f->certain[kernel_place(f, k)];
    l->nesting_proven = true;
    l->nesting = min64(deepest, LEVELS_MAX);
    if (l->nesting_declared == 0) {
        if (deepest <= LEVELS_MAX) return;
        report_endless_nesting(f, k);
        l->nesting = 0; /* no further report about its trees */
        return;
    }
    if (deepest <= l->nesting_declared) return;
    l->nesting = l->nesting_declared;
    l->nesting_proven = false;
    struct diag *d;
    if (certain > l->nesting_declared) {
        l->nesting = 0;
        const char *levels = certain > LEVELS_MAX
                                 ? "without an end"
                                 : arena_printf(f->cx->arena, "%" PRIu64 " levels deep", certain);
        d = diag_report(f->cx->diags, RULE_NESTING_EXCEEDED, l->nesting_span,
                        "'%s' declares nesting %" PRIu64 ", and each firing launches %s", k->name,
                        l->nesting_declared, levels);
        label_launches(d, k);
        if (certain > LEVELS_MAX)
            diag_help(d, "launch only if an argument has not reached a limit");
        else
            diag_help(d, "declare 'nesting %" PRIu64 "'", certain);
        return;
    }
    d = diag_report(f->cx->diags, RULE_NESTING_UNPROVEN, l->nesting_span,
                    "nothing shows that launches below '%s' are nested at most %" PRIu64
                    " levels deep",
                    k->name, l->nesting_declared);
    const struct kernel *child;
    const struct launch *deep = deep_launch(f, k, &child);
    if (deep != NULL) diag_label(d, deep->span, "launched here again");
    diag_note(d, "levels are counted at run time; deeper ones are a fault");
}

/* ---- whole trees ---- */

/* Sets the bounds of the whole tree.  False: the tree is too large, which has been reported. */
static bool settle_tree(const struct forest *f, struct kernel *k, const struct bounds *bounds)
{
    struct kernel_launches *l = &k->launches;
    struct diag *d;
    l->tree = bounds->tree;
    l->tree_proven = true;
    if (l->total_declared > 0 && l->total_declared < bounds->tree) {
        l->tree = l->total_declared;
        l->tree_proven = false;
        if (l->least > l->total_declared) {
            d = diag_report(f->cx->diags, RULE_LAUNCHES_EXCEEDED, l->total_span,
                            "'%s' declares total %" PRIu64 ", and each firing launches %" PRIu64
                            " kernels itself",
                            k->name, l->total_declared, l->least);
            label_launches(d, k);
        }
    }
    l->queue_entries = min64(bounds->entries, l->tree);
    if (l->tree <= SEMA_MAX_TREE_LAUNCHES) return true;
    const char *all = bounds->tree == UINT64_MAX
                          ? "more than 2^64"
                          : arena_printf(f->cx->arena, "%" PRIu64, bounds->tree);
    d = diag_report(f->cx->diags, RULE_LAUNCHES_UNBOUNDED, k->span,
                    "the tree of one firing of '%s' may have %s launches: at most %d are possible",
                    k->name, all, SEMA_MAX_TREE_LAUNCHES);
    diag_note(d, "%" PRIu64 " launch%s of one firing of '%s', %s", l->most,
              l->most == 1 ? "" : "es", k->name, arena_counted(f->cx->arena, l->nesting, "level"));
    diag_help(d, "declare the maximum of a whole tree after its parameter list: total N");
    return false;
}

static void report_total(const struct forest *f, const struct kernel *k,
                         const struct kernel_port *port, uint64_t total)
{
    struct compile *cx = f->cx;
    const char *rate =
        port->push_least == port->push
            ? arena_printf(cx->arena, "%" PRIu64, port->push)
            : arena_printf(cx->arena, "%" PRIu64 "..%" PRIu64, port->push_least, port->push);
    struct diag *d = diag_report(
        cx->diags, RULE_RATE_UNPROVEN, port->rate_span,
        "a firing of '%s' with all that it launches may append %" PRIu64 " to %s to '%s', and "
        "declares push %s",
        k->name, port->own_push_least,
        total == UINT64_MAX ? "any number of packets"
                            : arena_printf(cx->arena, "%" PRIu64 " packets", total),
        port->name, rate);
    diag_note(
        d, "%" PRIu64 " of its own, and up to %" PRIu64 " launch%s in %" PRIu64 " level%s below it",
        port->own_push, k->launches.tree, k->launches.tree == 1 ? "" : "es", k->launches.nesting,
        k->launches.nesting == 1 ? "" : "s");
    diag_note(d, "the packets of the whole tree are counted at run time; another number is a "
                 "fault");
}

static void report_too_many(const struct forest *f, const struct kernel *k,
                            const struct kernel_port *port, uint64_t total)
{
    struct compile *cx = f->cx;
    const char *type = type_text(cx->arena, port->type);
    struct diag *d = diag_report(
        cx->diags, RULE_INVALID_RATE, port->span,
        "a firing of '%s' with all that it launches may append %s packets to '%s': at most "
        "%" PRIu64 " are possible",
        k->name, total == UINT64_MAX ? "any number of" : arena_printf(cx->arena, "%" PRIu64, total),
        port->name, RATE_MAX);
    diag_help(d, "declare the maximum of a firing with its whole tree: out %s %s push ..N", type,
              port->name);
    diag_help(
        d, "or the maximum number of launches of a whole tree, after the parameter list: total N");
}

static void settle_launch_port(const struct forest *f, struct kernel *k, uint32_t p, uint64_t worst)
{
    struct kernel_port *port = &k->out[p];
    uint64_t flat = saturating_add(
        port->own_push, saturating_multiply(k->launches.tree, f->widest[kernel_place(f, k)][p]));
    uint64_t total = min64(worst, flat);
    if (!port->tree_writes) {
        port->tree_proven = port->count_proven;
        return;
    }
    if (port->rate_declared && (total > port->push || port->own_push_least < port->push_least)) {
        report_total(f, k, port, total);
        port->tree_proven = false;
        return;
    }
    if (total > RATE_MAX) {
        report_too_many(f, k, port, total);
        return;
    }
    port->push_least = port->own_push_least;
    port->push = total;
    port->tree_proven = true;
}

static bool is_root(const struct kernel *k)
{
    return kernel_launches_any(&k->launches) && !k->is_child;
}

static void check_statements(struct compile *cx, const struct graph *graph)
{
    uint64_t count = 0;
    for (size_t i = 0; i < graph->kernels.count; i++) {
        uint64_t before = count;
        count += kernel_launch_records(&graph->kernels.items[i]->launches);
        if (before <= SEMA_MAX_LAUNCH_STATEMENTS && count > SEMA_MAX_LAUNCH_STATEMENTS)
            diag_report(cx->diags, RULE_TOO_LARGE, graph->kernels.items[i]->span,
                        "the kernels of the pipeline have more than %d launch statements",
                        SEMA_MAX_LAUNCH_STATEMENTS);
    }
}

void launches_bound_trees(struct compile *cx, struct graph *graph)
{
    if (graph->child_kernels == 0) return;
    check_statements(cx, graph);
    struct forest f = {.cx = cx, .graph = graph, .scratch = arena_create()};
    f.place = number_kernels(graph, f.scratch);
    find_launch_levels(&f);
    uint64_t levels = 0;
    for (size_t i = 0; i < graph->kernels.count; i++) {
        struct kernel *k = graph->kernels.items[i];
        if (!is_root(k)) continue;
        size_t kept = diag_kept_count(cx->diags);
        settle_nesting(&f, k);
        graph_trace_kernel(cx, k, kept);
        levels = max64(levels, k->launches.nesting);
    }
    struct row row = new_row(&f), deeper = new_row(&f);
    for (uint64_t d = 1; d <= levels; d++) {
        step_launch_level(&f, &row, &deeper);
        struct row swap = row;
        row = deeper;
        deeper = swap;
        for (size_t i = 0; i < graph->kernels.count; i++)
            if (is_root(graph->kernels.items[i]) &&
                graph->kernels.items[i]->launches.nesting == d) {
                struct kernel *k = graph->kernels.items[i];
                size_t kept = diag_kept_count(f.cx->diags);
                bool bounded = settle_tree(&f, k, &row.of[i]);
                for (uint32_t p = 0; bounded && p < k->out_count; p++)
                    settle_launch_port(&f, k, p, row.of[i].packets[p]);
                graph_trace_kernel(f.cx, k, kept);
            }
    }
    arena_destroy(f.scratch);
}
