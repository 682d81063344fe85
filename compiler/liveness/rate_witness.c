/* SPDX-License-Identifier: MIT */
/*
 * rate_witness: why rates are inconsistent, and one rate that would make them consistent.
 *
 * The witness is a cycle of the undirected graph: a balance outside of the spanning tree, and the path
 * between its ends within the tree.  Each balance on it says how often one end fires for one firing of
 * the other.  Consistent rates multiply to 1 round the cycle.
 *
 * A fix changes one rate of one port of a kernel, by the factor that the product misses, at every node
 * of that kernel.  It is proposed only if the whole component then balances, which is tried:
 * O(balances) per rate, within rate_solver.fix_budget.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/liveness/rate_internal.h"
#include "compiler/ir/ratio.h"

enum { CYCLE_LABELS_MAX = 12, REPORTS_MAX = 100 };

struct hop { /* across one balance of the cycle */
    uint32_t balance, from, to;
};

struct balance_cycle {
    struct hop *hops; /* the balance outside of the tree first */
    uint32_t count;
    bool known; /* the product fits 63 bits */
    struct rational product;
};

struct end { /* of a node; the rate of a port of its kernel */
    uint32_t node, index;
    bool writes;
};

struct rate_fix {
    struct end end;
    uint64_t rate;
    uint32_t rank; /* the smallest is the likeliest */
};

/* ---- the cycle ---- */

static uint32_t balance_far_end(const struct balance *balance, uint32_t vertex)
{
    return balance->a == vertex ? balance->b : balance->a;
}

static uint32_t tree_distance(const struct rate_solver *solver, uint32_t a, uint32_t b)
{
    uint32_t hops = 0;
    for (; a != b; hops++) {
        uint32_t *deeper = solver->level[a] >= solver->level[b] ? &a : &b;
        *deeper = balance_far_end(&solver->balances[solver->parent[*deeper]], *deeper);
    }
    return hops;
}

/* Rates at the two ends of a hop. */
static uint64_t rate_from(const struct rate_solver *solver, const struct hop *hop)
{
    const struct balance *balance = &solver->balances[hop->balance];
    return balance->a == hop->from ? balance->a_rate : balance->b_rate;
}

static uint64_t rate_to(const struct rate_solver *solver, const struct hop *hop)
{
    const struct balance *balance = &solver->balances[hop->balance];
    return balance->a == hop->from ? balance->b_rate : balance->a_rate;
}

/* From `closing` on: across it to b, up the tree, and down to a. */
static struct balance_cycle find_balance_cycle(const struct rate_solver *solver,
                                               const struct balance *closing)
{
    uint32_t a = closing->a, b = closing->b, up = 1;
    struct balance_cycle cycle = {.count = 1 + tree_distance(solver, a, b)};
    uint32_t down = cycle.count;
    cycle.hops = ARENA_ARRAY(solver->arena, struct hop, cycle.count);
    cycle.hops[0] = (struct hop){(uint32_t)(closing - solver->balances), a, b};
    while (a != b) {
        bool from_b = solver->level[b] > solver->level[a];
        uint32_t at = from_b ? b : a, via = solver->parent[at];
        uint32_t above = balance_far_end(&solver->balances[via], at);
        if (from_b)
            cycle.hops[up++] = (struct hop){via, at, b = above};
        else
            cycle.hops[--down] = (struct hop){via, a = above, at};
    }
    cycle.known = true;
    cycle.product = (struct rational){1, 1};
    for (uint32_t i = 0; i < cycle.count && cycle.known; i++)
        cycle.known = rational_scale(cycle.product, rate_from(solver, &cycle.hops[i]),
                                     rate_to(solver, &cycle.hops[i]), &cycle.product);
    return cycle;
}

/* ---- a fix ---- */

/* The end of the balance's a, or b. */
static struct end balance_end(const struct rate_solver *solver, const struct balance *balance,
                              bool of_a)
{
    const struct graph_buffer *buffer = &solver->graph->buffers.items[balance->buffer];
    if (of_a && !rate_both_read(solver, balance))
        return (struct end){buffer->writer_node, buffer->writer_output, true};
    struct graph_reader reader = buffer->readers.items[of_a ? 0 : balance->reader];
    return (struct end){reader.node, reader.input, false};
}

/* NULL if the kernel does not say. */
static const struct kernel_port *end_port(const struct rate_solver *solver, struct end end)
{
    const struct graph_node *node = &solver->graph->nodes.items[end.node];
    const struct kernel *kernel = node->kernel;
    uint32_t port = end.writes ? node->outputs.items[end.index].kernel_port
                               : node->inputs.items[end.index].kernel_port;
    if (kernel == NULL || port >= (end.writes ? kernel->out_count : kernel->in_count)) return NULL;
    return end.writes ? &kernel->out[port] : &kernel->in[port];
}

/* A rate that an author could replace: one phase, and no window in rows. */
static bool can_change(const struct rate_solver *solver, struct end end, uint64_t rate)
{
    const struct graph_node *node = &solver->graph->nodes.items[end.node];
    const struct kernel_port *port = end_port(solver, end);
    if (!port || graph_phases(node) > 1 || rate == 0 || rate > INT32_MAX) return false;
    if (end.writes) return node->outputs.items[end.index].bundle == 0;
    const struct graph_input *in = &node->inputs.items[end.index];
    return port->window_width == 0 && (in->peek == in->pop || rate <= in->peek);
}

/* The rate of one end of `balance` with the fix. */
static uint64_t fixed_rate(const struct rate_solver *solver, const struct balance *balance,
                           bool of_a, const struct rate_fix *fix)
{
    uint64_t rate = of_a ? balance->a_rate : balance->b_rate;
    if (of_a && rate_is_added(solver, balance->a)) return rate;
    struct end end = balance_end(solver, balance, of_a);
    if (end.writes != fix->end.writes || end_port(solver, end) != end_port(solver, fix->end))
        return rate;
    return fix->rate;
}

/* Does the component of `root` balance with the fix? */
static bool balances_with(struct rate_solver *solver, uint32_t root, const struct rate_fix *fix)
{
    struct arena *arena = arena_create();
    struct rational *known = ARENA_ARRAY(arena, struct rational, solver->vertex_count);
    uint32_t *queue = ARENA_ARRAY(arena, uint32_t, solver->vertex_count), count = 0;
    bool works = true;
    known[root] = (struct rational){1, 1};
    queue[count++] = root;
    for (uint32_t k = 0; k < count && works; k++) {
        uint32_t at = queue[k];
        for (uint32_t i = solver->first[at]; i < solver->first[at + 1] && works; i++) {
            struct incidence next = solver->incidences[i];
            const struct balance *balance = &solver->balances[next.balance];
            uint64_t a_rate = fixed_rate(solver, balance, true, fix);
            uint64_t b_rate = fixed_rate(solver, balance, false, fix);
            bool from_a = balance->a == at;
            struct rational wanted, *have = &known[next.other];
            works = solver->fix_budget > 0 && rational_scale(known[at], from_a ? a_rate : b_rate,
                                                             from_a ? b_rate : a_rate, &wanted);
            if (solver->fix_budget > 0) solver->fix_budget--;
            if (works && rational_is_known(*have)) works = rational_equal(*have, wanted);
            if (!works || rational_is_known(*have)) continue;
            *have = wanted;
            queue[count++] = next.other;
        }
    }
    arena_destroy(arena);
    return works;
}

/* The likeliest is a rate that the author wrote, of a kernel that is used once, and that becomes
 * 1. */
static uint32_t rate_fix_rank(const struct rate_solver *solver, const struct rate_fix *fix)
{
    uint32_t uses = 0;
    const struct kernel *kernel = solver->graph->nodes.items[fix->end.node].kernel;
    for (size_t i = 0; i < solver->graph->nodes.count && uses < 2; i++)
        if (solver->graph->nodes.items[i].kernel == kernel) uses++;
    uint32_t rank = fix->rate == 1 ? 0 : 1;
    if (!end_port(solver, fix->end)->rate_declared) rank += 2;
    return uses > 1 ? rank + 4 : rank;
}

/* Tries the rate of one end times num / den, if that is a rate and fixes everything. */
static void try_rate(struct rate_solver *solver, const struct balance *balance, bool of_a,
                     struct rational by, struct rate_fix *best)
{
    struct rational rate = {(int64_t)(of_a ? balance->a_rate : balance->b_rate), 1};
    if (of_a && rate_is_added(solver, balance->a)) return;
    if (!rational_scale(rate, (uint64_t)by.numerator, (uint64_t)by.denominator, &rate) ||
        rate.denominator != 1)
        return;
    struct rate_fix fix = {.end = balance_end(solver, balance, of_a),
                           .rate = (uint64_t)rate.numerator};
    if (!can_change(solver, fix.end, fix.rate)) return;
    fix.rank = rate_fix_rank(solver, &fix);
    if (best->rate && best->rank <= fix.rank) return;
    if (balances_with(solver, balance->b, &fix)) *best = fix;
}

static struct rate_fix find_rate_fix(struct rate_solver *solver, const struct balance_cycle *cycle)
{
    struct rate_fix best = {.rate = 0};
    struct rational factor = cycle->product, inverse = {factor.denominator, factor.numerator};
    for (uint32_t i = 0; cycle->known && i < cycle->count; i++) {
        const struct hop *hop = &cycle->hops[i];
        const struct balance *balance = &solver->balances[hop->balance];
        bool along =
            balance->a == hop->from; /* a's rate is a factor of the product, b's divides it */
        try_rate(solver, balance, true, along ? inverse : factor, &best);
        try_rate(solver, balance, false, along ? factor : inverse, &best);
    }
    return best;
}

static void help_rate_fix(struct rate_solver *solver, struct diag *d, const struct rate_fix *fix)
{
    const struct graph_node *node = &solver->graph->nodes.items[fix->end.node];
    const struct kernel_port *port = end_port(solver, fix->end);
    uint64_t present = fix->end.writes ? node->outputs.items[fix->end.index].push
                                       : node->inputs.items[fix->end.index].pop;
    const char *of_kernel =
        strcmp(node->name, node->kernel->name) == 0
            ? ""
            : arena_printf(solver->cx->arena, " (kernel '%s')", node->kernel->name);
    diag_help(d,
              "all rates would balance if '%s'%s %s %s a firing %s its %s '%s', instead of %" PRIu64
              "; other changes may be meant",
              node->name, of_kernel, fix->end.writes ? "wrote" : "consumed",
              arena_counted(solver->cx->arena, fix->rate, "packet"), fix->end.writes ? "to" : "of",
              fix->end.writes ? "out-port" : "in-port", port->name, present);
}

/* ---- reporting ---- */

/* The buffer of one hop with its equation. */
static void label_hop(const struct rate_solver *solver, struct diag *d, const struct hop *hop)
{
    const struct balance *balance = &solver->balances[hop->balance];
    const struct graph_buffer *buffer = &solver->graph->buffers.items[balance->buffer];
    const char *a = rate_node(solver, balance->a)->name, *b = rate_node(solver, balance->b)->name;
    bool phased = graph_phases(rate_node(solver, balance->b)) > 1;
    diag_label(d, buffer->span,
               "'%s': '%s' %s %" PRIu64 " %s, '%s' reads %" PRIu64 "%s%s: %" PRIu64
               " x '%s' = %" PRIu64 " x '%s'",
               buffer->name, a, rate_both_read(solver, balance) ? "reads" : "writes",
               balance->a_rate, rate_per(solver, balance->a), b, balance->b_rate, phased ? " " : "",
               phased ? rate_per(solver, balance->b) : "", balance->a_rate, a, balance->b_rate, b);
}

/* In a long cycle the buffers with one rate at both ends are left out. */
static bool is_hop_shown(const struct rate_solver *solver, const struct balance_cycle *cycle,
                         uint32_t i)
{
    const struct hop *hop = &cycle->hops[i];
    return cycle->count <= CYCLE_LABELS_MAX || i == 0 ||
           rate_from(solver, hop) != rate_to(solver, hop);
}

static void label_hops(const struct rate_solver *solver, struct diag *d,
                       const struct balance_cycle *cycle, uint32_t first)
{
    uint32_t shown = 0, same = 0, hidden = 0;
    for (uint32_t i = first; i < cycle->count; i++) {
        if (!is_hop_shown(solver, cycle, i))
            same++;
        else if (shown == CYCLE_LABELS_MAX)
            hidden++;
        else {
            label_hop(solver, d, &cycle->hops[i]);
            shown++;
        }
    }
    if (same)
        diag_note(d, "%" PRIu32 " more buffers of the cycle have the same rate at both ends", same);
    if (hidden) diag_note(d, "... and %" PRIu32 " more buffers close the cycle", hidden);
}

static void note_product(const struct rate_solver *solver, struct diag *d,
                         const struct balance_cycle *cycle)
{
    struct arena *arena = solver->cx->arena;
    const char *way = arena_printf(arena, "'%s'", rate_node(solver, cycle->hops[0].from)->name);
    const char *factors = "";
    uint32_t names = 0, shown = 0, differing = 0;
    for (uint32_t i = 0; i < cycle->count; i++) {
        const struct hop *hop = &cycle->hops[i];
        if (names < CYCLE_LABELS_MAX)
            way = arena_printf(arena, "%s, '%s'", way, rate_node(solver, hop->to)->name);
        names++;
        if (rate_from(solver, hop) == rate_to(solver, hop)) continue;
        if (shown < CYCLE_LABELS_MAX)
            factors = arena_printf(arena, "%s%s%" PRIu64 "/%" PRIu64, factors, shown++ ? " x " : "",
                                   rate_from(solver, hop), rate_to(solver, hop));
        differing++;
    }
    if (names > CYCLE_LABELS_MAX) way = arena_printf(arena, "%s, ...", way);
    if (!cycle->known) {
        diag_note(d, "round the cycle %s the firings must be multiplied by 1", way);
        return;
    }
    if (differing > 1 || shown < differing)
        factors = arena_printf(arena, "%s%s = ", factors, shown < differing ? " x ..." : "");
    else
        factors = "";
    diag_note(d,
              "round the cycle %s the firings are multiplied by %s%" PRIu64 "/%" PRIu64
              ", which must be 1",
              way, factors, (uint64_t)cycle->product.numerator,
              (uint64_t)cycle->product.denominator);
}

/* The smallest integers in the ratio of the two; false if they need more than 63 bits. */
static bool least_counts(struct rational a, struct rational b, uint64_t *count_a, uint64_t *count_b)
{
    struct rational ratio;
    if (!rational_scale(a, (uint64_t)b.denominator, (uint64_t)b.numerator, &ratio)) return false;
    *count_a = (uint64_t)ratio.numerator;
    *count_b = (uint64_t)ratio.denominator;
    return true;
}

static void note_sums(const struct rate_solver *solver, struct diag *d,
                      const struct balance *balance, uint64_t fires_a, uint64_t fires_b)
{
    uint64_t left, right;
    if (!mul63(fires_a, balance->a_rate, &left) || !mul63(fires_b, balance->b_rate, &right)) return;
    uint64_t g = gcd64(left, right);
    diag_note(d,
              "%" PRIu64 " x %" PRIu64 " = %" PRIu64 " is not %" PRIu64 " x %" PRIu64 " = %" PRIu64
              ": the two ends of '%s' are in the ratio %" PRIu64 " : %" PRIu64,
              fires_a, balance->a_rate, left, fires_b, balance->b_rate, right,
              solver->graph->buffers.items[balance->buffer].name, left / g, right / g);
}

static uint64_t vertex_firings(const struct rate_solver *solver, uint32_t vertex, uint64_t cycles)
{
    return mul_clamped(cycles, graph_phases(rate_node(solver, vertex)));
}

static struct diag *report_itself(struct rate_solver *solver, const struct balance *balance)
{
    const struct graph_buffer *buffer = &solver->graph->buffers.items[balance->buffer];
    return diag_report(solver->cx->diags, RULE_INCONSISTENT_RATES, buffer->span,
                       "the rates at '%s' do not balance: '%s' %s %s %s and reads %" PRIu64,
                       buffer->name, rate_node(solver, balance->a)->name,
                       rate_both_read(solver, balance) ? "reads" : "writes",
                       arena_counted(solver->cx->arena, balance->a_rate, "packet"),
                       rate_per(solver, balance->a), balance->b_rate);
}

static struct diag *report_two(struct rate_solver *solver, const struct balance *balance,
                               uint64_t fires_a, uint64_t fires_b)
{
    struct arena *arena = solver->cx->arena;
    const struct graph_buffer *buffer = &solver->graph->buffers.items[balance->buffer];
    bool phased = graph_phases(rate_node(solver, balance->b)) > 1;
    bool added = rate_is_added(solver, balance->a);
    return diag_report(
        solver->cx->diags, RULE_INCONSISTENT_RATES, buffer->span,
        "the rates at '%s' do not balance: '%s' %s %s %s and %s %s, '%s' reads %" PRIu64
        "%s%s and fires %s",
        buffer->name, rate_node(solver, balance->a)->name,
        rate_both_read(solver, balance) ? "reads" : "writes",
        arena_counted(arena, balance->a_rate, "packet"), rate_per(solver, balance->a),
        added ? "does so" : "fires",
        arena_counted(arena, added ? fires_a : vertex_firings(solver, balance->a, fires_a), "time"),
        rate_node(solver, balance->b)->name, balance->b_rate, phased ? " " : "",
        phased ? rate_per(solver, balance->b) : "",
        arena_counted(arena, vertex_firings(solver, balance->b, fires_b), "time"));
}

void rate_report_inconsistent(struct rate_solver *solver, const struct balance *balance)
{
    if (solver->reports++ >= REPORTS_MAX) return;
    struct arena *arena = solver->cx->arena;
    uint64_t fires_a = 1, fires_b = 1; /* cycles of phases */
    bool known = least_counts(solver->fractions[balance->a], solver->fractions[balance->b],
                              &fires_a, &fires_b);
    bool itself = balance->a == balance->b;
    struct diag *d =
        itself ? report_itself(solver, balance) : report_two(solver, balance, fires_a, fires_b);
    diag_label(d, rate_node(solver, balance->a)->span, "'%s' %s %s %s",
               rate_node(solver, balance->a)->name,
               rate_both_read(solver, balance) ? "reads" : "writes",
               arena_counted(arena, balance->a_rate, "packet"), rate_per(solver, balance->a));
    diag_label(d, rate_node(solver, balance->b)->span, "'%s' reads %s %s",
               rate_node(solver, balance->b)->name, arena_counted(arena, balance->b_rate, "packet"),
               rate_per(solver, balance->b));
    struct balance_cycle cycle = find_balance_cycle(solver, balance);
    label_hops(solver, d, &cycle, itself ? 1 : 0);
    if (known) note_sums(solver, d, balance, fires_a, fires_b);
    if (!itself) note_product(solver, d, &cycle);
    struct rate_fix fix = find_rate_fix(solver, &cycle);
    if (fix.rate) help_rate_fix(solver, d, &fix);
}
