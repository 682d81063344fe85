/*
 * rate: the repetition vector.
 *
 * Requires  pop, peek and push of every end.
 * Fills     node->repetitions, node->component, graph->component_count.
 * Fails     RULE_INVALID_RATE, RULE_INCONSISTENT_RATES, RULE_RATE_OVERFLOW.
 *
 * A buffer balances its writer with each of its readers: q[w] x push = q[r] x pop.  An outer
 * in-port that several nodes read balances these with each other.  So does a buffer that is written
 * at a bounded rate (graph_is_bounded), or by `finish` alone: it does not tie its readers to the
 * writer, and the components are the islands that exact rates join.
 *
 * Phases.  The rates are those of a whole cycle of phases, q counts cycles, and the repetitions are
 * q x phases.  Rationals are propagated over a
 * breadth-first spanning tree of each connected component, in lowest terms, from q[root] = 1 (Lee &
 * Messerschmitt, "Synchronous data flow", Proc. IEEE 75(9), 1987).  Every edge outside of the tree
 * closes one cycle and is checked.
 *
 * Scaling by the least common multiple L of the denominators gives the least integers: q[root] = L,
 * and a prime that divided all of them would divide L, hence to its full power the denominator of
 * some node, whose numerator it does not divide.  So a numerator, denominator or L beyond 63 bits
 * is itself (a factor of) a repetition count: overflow is reported only where the counts really
 * overflow.
 *
 * Zero rates.  A buffer that is neither written nor consumed while its readers fire (push 0 and
 * every pop 0) balances nothing and is allowed when its initial packets fill every window; a rate
 * of zero on one side only has no positive solution.  An outer out-port may have push 0 (only
 * `finish` writes it); an outer in-port needs pop >= 1.
 */
#include "compiler/analysis/analysis.h"
#include "compiler/analysis/ratio.h"

#include <inttypes.h>

enum { CYCLE_LABELS_MAX = 12, REPORTS_MAX = 100 };

struct fraction {
    uint64_t num, den; /* in lowest terms, below 2^63; num 0: not known yet */
};

/* q[a] x a_rate = q[b] x b_rate.  For an outer in-port a is its first reader. */
struct balance {
    uint32_t a, b, buffer;
    uint64_t a_rate, b_rate;
};

struct incidence { /* of a node with a balance */
    uint32_t balance, other;
};

struct rate_solver {
    struct compile *cx;
    struct graph *graph;
    struct arena *arena;
    VEC(struct balance) collected;
    const struct balance *balances; /* the collected ones, complete */
    uint32_t *first;                /* node -> its incidences */
    struct incidence *incidences;
    struct fraction *fractions;
    uint32_t *parent; /* node -> balance of the tree, GRAPH_NONE at a root */
    uint32_t *level;  /* distance from the root */
    uint32_t *queue;  /* nodes of the component, in order of visit */
    uint32_t queue_count;
    uint32_t reports;
};

static struct graph_node *node_at(const struct rate_solver *solver, uint32_t node)
{
    return &solver->graph->nodes.items[node];
}

static const char *name_of(const struct rate_solver *solver, uint32_t node)
{
    return node_at(solver, node)->name;
}

/* "per firing", or what a cycle of phases is. */
static const char *per(const struct rate_solver *solver, uint32_t node)
{
    uint32_t phases = graph_phases(node_at(solver, node));
    if (phases == 1) return "per firing";
    return arena_printf(solver->cx->arena, "per cycle of %" PRIu32 " firings", phases);
}

/* Do the two ends of the balance both read? */
static bool both_read(const struct rate_solver *solver, const struct balance *balance)
{
    const struct graph_buffer *buffer = &solver->graph->buffers.items[balance->buffer];
    return buffer->outer == GRAPH_OUTER_IN || graph_is_bounded(solver->graph, buffer);
}

/* ---- zero rates ---- */

static void report_one_sided(struct rate_solver *solver, const struct graph_buffer *buffer,
                             const struct graph_input *in, uint32_t reader, uint64_t push)
{
    struct diag *d;
    if (push) {
        d = diag_report(solver->cx->diags, RULE_INVALID_RATE, in->span,
                        "'%s' consumes nothing of '%s', which '%s' writes: it fills up for ever",
                        name_of(solver, reader), buffer->name,
                        name_of(solver, buffer->writer_node));
    } else {
        d = diag_report(solver->cx->diags, RULE_INVALID_RATE, buffer->span,
                        "'%s' writes nothing to '%s' while it fires, and '%s' consumes %" PRIu64
                        " packets %s",
                        name_of(solver, buffer->writer_node), buffer->name, name_of(solver, reader),
                        in->pop, per(solver, reader));
    }
    diag_label(d, node_at(solver, buffer->writer_node)->span, "writes %" PRIu64 " %s", push,
               per(solver, buffer->writer_node));
    diag_label(d, node_at(solver, reader)->span, "consumes %" PRIu64 " %s", in->pop,
               per(solver, reader));
}

static void report_unfilled(struct rate_solver *solver, const struct graph_buffer *buffer,
                            const struct graph_input *in, uint32_t reader)
{
    diag_report(solver->cx->diags, RULE_INVALID_RATE, in->span,
                "'%s' needs %" PRIu64 " packets of '%s', which holds %" PRIu64
                " initial packets and is never written",
                name_of(solver, reader), in->peek, buffer->name, buffer->initial.packets);
}

static void check_end(struct rate_solver *solver, const struct graph_buffer *buffer,
                      struct graph_reader reader)
{
    const struct graph_input *in = &node_at(solver, reader.node)->inputs.items[reader.input];
    if (in->peek > INT64_MAX || buffer->initial.packets > INT64_MAX) {
        diag_report(solver->cx->diags, RULE_RATE_OVERFLOW, in->span,
                    "the window of '%s' or the initial packets of '%s' do not fit 63 bits",
                    name_of(solver, reader.node), buffer->name);
    } else if (!in->pops && in->peek < in->pop) {
        diag_report(solver->cx->diags, RULE_INVALID_RATE, in->span,
                    "'%s' consumes %" PRIu64 " packets of '%s' but sees %" PRIu64,
                    name_of(solver, reader.node), in->pop, buffer->name, in->peek);
    } else if (buffer->outer == GRAPH_OUTER_IN) {
        if (in->pop == 0)
            diag_report(solver->cx->diags, RULE_INVALID_RATE, in->span,
                        "'%s' consumes nothing of in-port '%s': the port would fill up for ever",
                        name_of(solver, reader.node), buffer->name);
    } else {
        uint64_t push = graph_writer(solver->graph, buffer)->push;
        if (graph_is_bounded(solver->graph, buffer)) {
            if (in->pop == 0) report_one_sided(solver, buffer, in, reader.node, push);
        } else if ((push == 0) != (in->pop == 0))
            report_one_sided(solver, buffer, in, reader.node, push);
        else if (push == 0 && in->peek > buffer->initial.packets)
            report_unfilled(solver, buffer, in, reader.node);
    }
}

/* A node that consumes nothing at all would fire for ever. */
static void check_node(struct rate_solver *solver, const struct graph_node *node)
{
    uint64_t most = 0;
    for (size_t i = 0; i < node->inputs.count; i++)
        most = max64(most, node->inputs.items[i].pop);
    if (node->inputs.count && most == 0)
        diag_report(solver->cx->diags, RULE_INVALID_RATE, node->span,
                    "'%s' consumes nothing on any of its inputs: it would fire for ever",
                    node->name);
}

static bool check_rates(struct rate_solver *solver)
{
    size_t before = diag_error_count(solver->cx->diags);
    for (size_t i = 0; i < solver->graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &solver->graph->buffers.items[i];
        for (size_t r = 0; r < buffer->readers.count; r++)
            check_end(solver, buffer, buffer->readers.items[r]);
    }
    for (size_t i = 0; i < solver->graph->nodes.count; i++)
        check_node(solver, &solver->graph->nodes.items[i]);
    return diag_error_count(solver->cx->diags) == before;
}

/* ---- the balance equations ---- */

static uint64_t reader_pop(const struct rate_solver *solver, struct graph_reader reader)
{
    return node_at(solver, reader.node)->inputs.items[reader.input].pop;
}

static void collect_buffer(struct rate_solver *solver, uint32_t index)
{
    const struct graph_buffer *buffer = &solver->graph->buffers.items[index];
    if (buffer->readers.count == 0) return;
    struct balance balance = {.buffer = index};
    size_t r = 0;
    if (buffer->outer == GRAPH_OUTER_IN || graph_is_bounded(solver->graph, buffer)) {
        balance.a = buffer->readers.items[0].node;
        balance.a_rate = reader_pop(solver, buffer->readers.items[0]);
        r = 1;
    } else {
        balance.a = buffer->writer_node;
        balance.a_rate = node_at(solver, balance.a)->outputs.items[buffer->writer_output].push;
    }
    for (; balance.a_rate && r < buffer->readers.count; r++) {
        balance.b = buffer->readers.items[r].node;
        balance.b_rate = reader_pop(solver, buffer->readers.items[r]);
        vec_push(solver->arena, &solver->collected, balance);
    }
}

static void collect_balances(struct rate_solver *solver)
{
    size_t node_count = solver->graph->nodes.count;
    for (uint32_t i = 0; i < solver->graph->buffers.count; i++)
        collect_buffer(solver, i);
    size_t count = solver->collected.count;
    solver->balances =
        arena_copy(solver->arena, solver->collected.items, count * sizeof(struct balance));
    uint32_t *fill = ARENA_ARRAY(solver->arena, uint32_t, node_count + 1);
    solver->first = ARENA_ARRAY(solver->arena, uint32_t, node_count + 2);
    solver->incidences = ARENA_ARRAY(solver->arena, struct incidence, 2 * count + 1);
    for (size_t i = 0; i < count; i++) {
        solver->first[solver->balances[i].a + 1]++;
        solver->first[solver->balances[i].b + 1]++;
    }
    for (size_t i = 0; i < node_count; i++) {
        solver->first[i + 1] += solver->first[i];
        fill[i] = solver->first[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct balance *balance = &solver->balances[i];
        solver->incidences[fill[balance->a]++] = (struct incidence){i, balance->b};
        solver->incidences[fill[balance->b]++] = (struct incidence){i, balance->a};
    }
}

/* from x multiply / divide in lowest terms; false where a term needs more than 63 bits. */
static bool fraction_scale(struct fraction from, uint64_t multiply, uint64_t divide,
                           struct fraction *to)
{
    uint64_t g = gcd64(multiply, divide);
    multiply /= g;
    divide /= g;
    uint64_t across = gcd64(from.num, divide), down = gcd64(multiply, from.den);
    return mul63(from.num / across, multiply / down, &to->num) &&
           mul63(from.den / down, divide / across, &to->den);
}

/* The count of the other end that `balance` asks for, given the one of `node`. */
static bool fraction_across(const struct rate_solver *solver, const struct balance *balance,
                            uint32_t node, struct fraction *to)
{
    struct fraction from = solver->fractions[node];
    if (node == balance->a) return fraction_scale(from, balance->a_rate, balance->b_rate, to);
    return fraction_scale(from, balance->b_rate, balance->a_rate, to);
}

static void report_overflow(struct rate_solver *solver, uint32_t node)
{
    struct diag *d = diag_report(solver->cx->diags, RULE_RATE_OVERFLOW, node_at(solver, node)->span,
                                 "the firings of one iteration do not fit 63 bits at '%s'",
                                 name_of(solver, node));
    diag_note(d, "one iteration returns every buffer to the packets it began with; its counts are "
                 "the products of the rates along the way");
}

static bool spread(struct rate_solver *solver, uint32_t node)
{
    for (uint32_t i = solver->first[node]; i < solver->first[node + 1]; i++) {
        struct incidence at = solver->incidences[i];
        if (solver->fractions[at.other].num) continue;
        const struct balance *balance = &solver->balances[at.balance];
        if (!fraction_across(solver, balance, node, &solver->fractions[at.other])) {
            report_overflow(solver, at.other);
            return false;
        }
        solver->parent[at.other] = at.balance;
        solver->level[at.other] = solver->level[node] + 1;
        solver->queue[solver->queue_count++] = at.other;
    }
    return true;
}

/* ---- inconsistency ---- */

/* Labels the buffer of one tree edge on the way; gives the node nearer to the root. */
static uint32_t label_hop(struct rate_solver *solver, struct diag *d, uint32_t node, bool shown)
{
    const struct balance *balance = &solver->balances[solver->parent[node]];
    const struct graph_buffer *buffer = &solver->graph->buffers.items[balance->buffer];
    bool phased = graph_phases(node_at(solver, balance->b)) > 1;
    if (shown)
        diag_label(d, buffer->span, "'%s': '%s' %s %" PRIu64 " %s, '%s' reads %" PRIu64 "%s%s",
                   buffer->name, name_of(solver, balance->a),
                   both_read(solver, balance) ? "reads" : "writes", balance->a_rate,
                   per(solver, balance->a), name_of(solver, balance->b), balance->b_rate,
                   phased ? " " : "", phased ? per(solver, balance->b) : "");
    return balance->a == node ? balance->b : balance->a;
}

static void label_cycle(struct rate_solver *solver, struct diag *d, const struct balance *closing)
{
    uint32_t a = closing->a, b = closing->b, hops = 0;
    while (a != b) {
        uint32_t *deeper = solver->level[a] >= solver->level[b] ? &a : &b;
        *deeper = label_hop(solver, d, *deeper, hops++ < CYCLE_LABELS_MAX);
    }
    if (hops > CYCLE_LABELS_MAX)
        diag_note(d, "... and %" PRIu32 " more buffers close the cycle", hops - CYCLE_LABELS_MAX);
}

/* Least integers in the ratio of the two; false where they need more than 63 bits. */
static bool least_counts(struct fraction a, struct fraction b, uint64_t *count_a, uint64_t *count_b)
{
    struct fraction ratio;
    if (!fraction_scale(a, b.den, b.num, &ratio)) return false;
    *count_a = ratio.num;
    *count_b = ratio.den;
    return true;
}

static void report_sums(const struct rate_solver *solver, struct diag *d,
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

static uint64_t firings(const struct rate_solver *solver, uint32_t node, uint64_t cycles)
{
    return mul_clamped(cycles, graph_phases(node_at(solver, node)));
}

static void report_inconsistent(struct rate_solver *solver, const struct balance *balance)
{
    if (solver->reports++ >= REPORTS_MAX) return;
    const struct graph_buffer *buffer = &solver->graph->buffers.items[balance->buffer];
    const char *a = name_of(solver, balance->a), *b = name_of(solver, balance->b);
    const char *verb = both_read(solver, balance) ? "reads" : "writes";
    struct arena *arena = solver->cx->arena;
    bool phased = graph_phases(node_at(solver, balance->b)) > 1;
    uint64_t fires_a = 1, fires_b = 1; /* cycles of phases */
    bool known = least_counts(solver->fractions[balance->a], solver->fractions[balance->b],
                              &fires_a, &fires_b);
    struct diag *d;
    if (balance->a == balance->b)
        d = diag_report(solver->cx->diags, RULE_INCONSISTENT_RATES, buffer->span,
                        "the rates at '%s' do not balance: '%s' %s %s %s and reads %" PRIu64,
                        buffer->name, a, verb, arena_counted(arena, balance->a_rate, "packet"),
                        per(solver, balance->a), balance->b_rate);
    else
        d = diag_report(
            solver->cx->diags, RULE_INCONSISTENT_RATES, buffer->span,
            "the rates at '%s' do not balance: '%s' %s %s %s and fires %s, '%s' reads %" PRIu64
            "%s%s and fires %s",
            buffer->name, a, verb, arena_counted(arena, balance->a_rate, "packet"),
            per(solver, balance->a),
            arena_counted(arena, firings(solver, balance->a, fires_a), "time"), b, balance->b_rate,
            phased ? " " : "", phased ? per(solver, balance->b) : "",
            arena_counted(arena, firings(solver, balance->b, fires_b), "time"));
    diag_label(d, node_at(solver, balance->a)->span, "'%s' %s %s %s", a, verb,
               arena_counted(arena, balance->a_rate, "packet"), per(solver, balance->a));
    diag_label(d, node_at(solver, balance->b)->span, "'%s' reads %s %s", b,
               arena_counted(arena, balance->b_rate, "packet"), per(solver, balance->b));
    if (known) report_sums(solver, d, balance, fires_a, fires_b);
    if (balance->a != balance->b)
        diag_note(d, "the firings of '%s' and '%s' are also tied through the other buffers shown",
                  a, b);
    label_cycle(solver, d, balance);
}

/* Checks the edges of the component that are outside of the tree, once each. */
static bool check_cycles(struct rate_solver *solver)
{
    bool consistent = true;
    for (uint32_t k = 0; k < solver->queue_count; k++) {
        uint32_t node = solver->queue[k], last = GRAPH_NONE;
        for (uint32_t i = solver->first[node]; i < solver->first[node + 1]; i++) {
            uint32_t index = solver->incidences[i].balance;
            const struct balance *balance = &solver->balances[index];
            if (balance->a != node || index == last) continue; /* self-loops are there twice */
            last = index;
            struct fraction wanted, have = solver->fractions[balance->b];
            if (fraction_across(solver, balance, node, &wanted) && wanted.num == have.num &&
                wanted.den == have.den)
                continue;
            report_inconsistent(solver, balance);
            consistent = false;
        }
    }
    return consistent;
}

/* ---- integers ---- */

/* L; 0 after reporting the node where it overflows. */
static uint64_t common_denominator(struct rate_solver *solver)
{
    uint64_t common = 1;
    for (uint32_t k = 0; k < solver->queue_count; k++) {
        uint64_t den = solver->fractions[solver->queue[k]].den;
        uint64_t shared = max64(gcd64(common, den), 1);
        if (!mul63(common, den / shared, &common)) {
            report_overflow(solver, solver->queue[k]);
            return 0;
        }
    }
    return common;
}

/* Packets that pass an end in one iteration must fit as well: every later pass adds them up. */
static bool packets_fit(const struct graph_node *node)
{
    uint64_t packets, cycles = node->repetitions / graph_phases(node);
    for (size_t i = 0; i < node->inputs.count; i++)
        if (!mul63(cycles, node->inputs.items[i].pop, &packets)) return false;
    for (size_t i = 0; i < node->outputs.count; i++)
        if (!mul63(cycles, node->outputs.items[i].push, &packets)) return false;
    return true;
}

static void fill_repetitions(struct rate_solver *solver, uint64_t *sum)
{
    uint64_t common = common_denominator(solver);
    for (uint32_t k = 0; common && k < solver->queue_count; k++) {
        uint32_t index = solver->queue[k];
        struct graph_node *node = node_at(solver, index);
        struct fraction fraction = solver->fractions[index];
        if (!mul63(common / fraction.den, fraction.num, &node->repetitions) ||
            !mul63(node->repetitions, graph_phases(node), &node->repetitions) ||
            !add63(*sum, node->repetitions, sum) || !packets_fit(node)) {
            report_overflow(solver, index);
            return;
        }
    }
}

static void solve_component(struct rate_solver *solver, uint32_t root, uint64_t *sum)
{
    solver->queue[0] = root;
    solver->queue_count = 1;
    solver->fractions[root] = (struct fraction){1, 1};
    solver->parent[root] = GRAPH_NONE;
    bool fits = true;
    for (uint32_t k = 0; fits && k < solver->queue_count; k++) {
        node_at(solver, solver->queue[k])->component = solver->graph->component_count;
        fits = spread(solver, solver->queue[k]);
    }
    solver->graph->component_count++;
    if (fits && check_cycles(solver)) fill_repetitions(solver, sum);
}

void rate_solve(struct compile *cx, struct graph *graph)
{
    struct rate_solver solver = {.cx = cx, .graph = graph, .arena = arena_create()};
    size_t count = graph->nodes.count;
    uint64_t sum = 0;
    graph->component_count = 0;
    if (check_rates(&solver)) {
        collect_balances(&solver);
        solver.fractions = ARENA_ARRAY(solver.arena, struct fraction, count);
        solver.parent = ARENA_ARRAY(solver.arena, uint32_t, count);
        solver.level = ARENA_ARRAY(solver.arena, uint32_t, count);
        solver.queue = ARENA_ARRAY(solver.arena, uint32_t, count);
        for (uint32_t i = 0; i < count; i++)
            if (solver.fractions[i].num == 0) solve_component(&solver, i, &sum);
    }
    arena_destroy(solver.arena);
}
