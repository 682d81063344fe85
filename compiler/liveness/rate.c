/* SPDX-License-Identifier: MIT */
/*
 * rate: the repetition vector.
 *
 * Requires  pop, peek and push of every end.
 * Fills     node->repetitions, node->component, graph->component_count.
 * Fails     RULE_INVALID_RATE, RULE_INCONSISTENT_RATES, RULE_RATE_OVERFLOW.
 *
 * A buffer balances its writer with each of its readers: q[w] x push = q[r] x pop.  An outer in-port
 * that several nodes read balances these with each other.  So does a buffer that is written at a bounded
 * rate (graph_is_bounded), or only by `finish`: it does not tie its readers to the writer, and the
 * components are the islands that exact rates join.  Buffers that are written in step (bundles.h)
 * balance all of their readers with an added source, which writes one share to each.
 *
 * Phases.  The rates are those of a whole cycle of phases, q counts such cycles, and the repetitions are
 * q x phases.
 *
 * Method.  Rationals in lowest terms are propagated from q[root] = 1 over a breadth-first spanning tree
 * of each connected component (Lee & Messerschmitt, "Synchronous data flow", Proc. IEEE 75(9), 1987).
 * Every edge outside of the tree closes one cycle and is checked.
 *
 * Integers.  Scaling by the least common multiple L of the denominators gives the smallest integers.
 * q[root] = L, so a prime that divided all of them would divide L.  Hence its full power in L would
 * divide the denominator of some node, whose numerator it does not divide.  So a numerator, denominator
 * or L beyond 63 bits is (a factor of) a repetition count: overflow is reported only where the counts
 * really overflow.
 *
 * Zero rates.  A buffer with push 0 and every pop 0 is neither written nor consumed while its readers
 * fire.  It balances nothing, and is allowed if its initial packets fill every window.  A rate of zero
 * on one side only has no positive solution.  An outer out-port may have push 0 (only `finish` writes
 * it); an outer in-port needs pop >= 1.
 */
#include "compiler/liveness/rate.h"
#include "compiler/liveness/rate_internal.h"
#include "compiler/ir/ratio.h"

#include <assert.h>
#include <inttypes.h>

#define FIX_BALANCES 2000000 /* examined in search of fixes, over all reports */

bool rate_is_added(const struct rate_solver *solver, uint32_t vertex)
{
    return vertex >= solver->graph->nodes.count;
}

struct graph_node *rate_node(const struct rate_solver *solver, uint32_t vertex)
{
    uint32_t node = vertex;
    if (rate_is_added(solver, vertex)) {
        assert(solver->bundle_writers.items != NULL);
        node = solver->bundle_writers.items[vertex - solver->graph->nodes.count];
    }
    return &solver->graph->nodes.items[node];
}

const char *rate_per(const struct rate_solver *solver, uint32_t vertex)
{
    if (rate_is_added(solver, vertex)) return "in step";
    uint32_t phases = graph_phases(rate_node(solver, vertex));
    if (phases == 1) return "per firing";
    return arena_printf(solver->cx->arena, "per %" PRIu32 " firings", phases);
}

bool rate_both_read(const struct rate_solver *solver, const struct balance *balance)
{
    const struct graph_buffer *buffer = &solver->graph->buffers.items[balance->buffer];
    if (buffer->outer == GRAPH_OUTER_IN) return true;
    return graph_is_bounded(solver->graph, buffer) &&
           graph_writer(solver->graph, buffer)->bundle == 0;
}

/* ---- zero rates ---- */

static void report_one_sided(struct rate_solver *solver, const struct graph_buffer *buffer,
                             const struct graph_input *in, uint32_t reader, uint64_t push)
{
    struct diag *d;
    if (push) {
        d = diag_report(solver->cx->diags, RULE_INVALID_RATE, in->span,
                        "'%s' consumes nothing of '%s', which '%s' writes: it fills up forever",
                        rate_node(solver, reader)->name, buffer->name,
                        rate_node(solver, buffer->writer_node)->name);
    } else {
        d = diag_report(solver->cx->diags, RULE_INVALID_RATE, buffer->span,
                        "'%s' writes nothing to '%s' while it fires, and '%s' consumes %" PRIu64
                        " packets %s",
                        rate_node(solver, buffer->writer_node)->name, buffer->name,
                        rate_node(solver, reader)->name, in->pop, rate_per(solver, reader));
    }
    diag_label(d, rate_node(solver, buffer->writer_node)->span, "writes %" PRIu64 " %s", push,
               rate_per(solver, buffer->writer_node));
    diag_label(d, rate_node(solver, reader)->span, "consumes %" PRIu64 " %s", in->pop,
               rate_per(solver, reader));
}

static void report_unfilled(struct rate_solver *solver, const struct graph_buffer *buffer,
                            const struct graph_input *in, uint32_t reader)
{
    diag_report(solver->cx->diags, RULE_INVALID_RATE, in->span,
                "'%s' needs %" PRIu64 " packets of '%s', which holds %" PRIu64
                " initial packets and is never written",
                rate_node(solver, reader)->name, in->peek, buffer->name, buffer->initial.packets);
}

static void check_end(struct rate_solver *solver, const struct graph_buffer *buffer,
                      struct graph_reader reader)
{
    const struct graph_input *in = &rate_node(solver, reader.node)->inputs.items[reader.input];
    if (in->peek > INT64_MAX || buffer->initial.packets > INT64_MAX) {
        diag_report(solver->cx->diags, RULE_RATE_OVERFLOW, in->span,
                    "the window of '%s' or the initial packets of '%s' do not fit 63 bits",
                    rate_node(solver, reader.node)->name, buffer->name);
    } else if (!in->pops && in->peek < in->pop) {
        diag_report(solver->cx->diags, RULE_INVALID_RATE, in->span,
                    "'%s' consumes %" PRIu64 " packets of '%s' but sees %" PRIu64,
                    rate_node(solver, reader.node)->name, in->pop, buffer->name, in->peek);
    } else if (buffer->outer == GRAPH_OUTER_IN) {
        if (in->pop == 0)
            diag_report(solver->cx->diags, RULE_INVALID_RATE, in->span,
                        "'%s' consumes nothing of in-port '%s': the port would fill up forever",
                        rate_node(solver, reader.node)->name, buffer->name);
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

/* A node that consumes nothing at all would fire forever. */
static void check_node(struct rate_solver *solver, const struct graph_node *node)
{
    uint64_t most = 0;
    for (size_t i = 0; i < node->inputs.count; i++)
        most = max64(most, node->inputs.items[i].pop);
    if (node->inputs.count && most == 0)
        diag_report(solver->cx->diags, RULE_INVALID_RATE, node->span,
                    "'%s' consumes nothing on any of its inputs: it would fire forever",
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
    return rate_node(solver, reader.node)->inputs.items[reader.input].pop;
}

/* The added source of the writer's bundle. */
static uint32_t bundle_vertex(struct rate_solver *solver, const struct graph_buffer *buffer)
{
    const struct graph_node *writer = &solver->graph->nodes.items[buffer->writer_node];
    uint32_t bundle = writer->outputs.items[buffer->writer_output].bundle;
    uint32_t *source =
        &solver->bundle_sources[solver->first_output[buffer->writer_node] + bundle - 1];
    if (*source == 0)
        *source = (uint32_t)(solver->graph->nodes.count +
                             vec_push(solver->arena, &solver->bundle_writers, buffer->writer_node));
    return *source;
}

static void collect_buffer_balances(struct rate_solver *solver, uint32_t index)
{
    const struct graph_buffer *buffer = &solver->graph->buffers.items[index];
    const struct graph_output *out = graph_writer(solver->graph, buffer);
    if (buffer->readers.count == 0) return;
    struct balance balance = {.buffer = index};
    size_t r = 0;
    if (out && out->bundle) {
        balance.a = bundle_vertex(solver, buffer);
        balance.a_rate = out->share;
    } else if (rate_both_read(solver, &balance)) {
        balance.a = buffer->readers.items[0].node;
        balance.a_rate = reader_pop(solver, buffer->readers.items[0]);
        r = 1;
    } else {
        assert(out != NULL);
        balance.a = buffer->writer_node;
        balance.a_rate = out->push;
    }
    for (; balance.a_rate && r < buffer->readers.count; r++) {
        balance.b = buffer->readers.items[r].node;
        balance.b_rate = reader_pop(solver, buffer->readers.items[r]);
        balance.reader = (uint32_t)r;
        vec_push(solver->arena, &solver->collected, balance);
    }
}

static void collect_balances(struct rate_solver *solver)
{
    size_t nodes = solver->graph->nodes.count;
    solver->first_output = graph_number_outputs(solver->arena, solver->graph);
    solver->bundle_sources =
        ARENA_ARRAY(solver->arena, uint32_t, (size_t)solver->first_output[nodes] + 1);
    for (uint32_t i = 0; i < solver->graph->buffers.count; i++)
        collect_buffer_balances(solver, i);
    size_t vertices = solver->graph->nodes.count + solver->bundle_writers.count;
    solver->vertex_count = (uint32_t)vertices;
    size_t count = solver->collected.count;
    solver->balances =
        arena_copy(solver->arena, solver->collected.items, count * sizeof(struct balance));
    uint32_t *fill = ARENA_ARRAY(solver->arena, uint32_t, vertices + 1);
    solver->first = ARENA_ARRAY(solver->arena, uint32_t, vertices + 2);
    solver->incidences = ARENA_ARRAY(solver->arena, struct incidence, 2 * count + 1);
    for (size_t i = 0; i < count; i++) {
        solver->first[solver->balances[i].a + 1]++;
        solver->first[solver->balances[i].b + 1]++;
    }
    for (size_t i = 0; i < vertices; i++) {
        solver->first[i + 1] += solver->first[i];
        fill[i] = solver->first[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct balance *balance = &solver->balances[i];
        solver->incidences[fill[balance->a]++] = (struct incidence){i, balance->b};
        solver->incidences[fill[balance->b]++] = (struct incidence){i, balance->a};
    }
}

/* The count of the other end that `balance` demands, given the one of `node`. */
static bool fraction_across(const struct rate_solver *solver, const struct balance *balance,
                            uint32_t node, struct rational *to)
{
    struct rational from = solver->fractions[node];
    if (node == balance->a) return rational_scale(from, balance->a_rate, balance->b_rate, to);
    return rational_scale(from, balance->b_rate, balance->a_rate, to);
}

static void report_overflow(struct rate_solver *solver, uint32_t node)
{
    struct diag *d = diag_report(
        solver->cx->diags, RULE_RATE_OVERFLOW, rate_node(solver, node)->span,
        "the firings of one iteration do not fit 63 bits at '%s'", rate_node(solver, node)->name);
    diag_note(d, "one iteration returns every buffer to the packets it began with; its counts are "
                 "the products of the rates along the path");
    diag_help(d, "rates of one buffer that have a larger common divisor make them smaller");
}

static bool spread_fractions(struct rate_solver *solver, uint32_t node)
{
    for (uint32_t i = solver->first[node]; i < solver->first[node + 1]; i++) {
        struct incidence at = solver->incidences[i];
        if (rational_is_known(solver->fractions[at.other])) continue;
        const struct balance *balance = &solver->balances[at.balance];
        struct rational fraction;
        if (!fraction_across(solver, balance, node, &fraction)) {
            report_overflow(solver, at.other);
            return false;
        }
        solver->fractions[at.other] = fraction;
        solver->parent[at.other] = at.balance;
        solver->level[at.other] = solver->level[node] + 1;
        solver->queue[solver->queue_count++] = at.other;
    }
    return true;
}

/* Visits the rest of a component in which a count does not fit.  The overflow has been reported,
 * so no vertex of the rest begins a component of its own. */
static void visit_rest(struct rate_solver *solver)
{
    for (uint32_t k = 0; k < solver->queue_count; k++) {
        uint32_t node = solver->queue[k];
        if (!rate_is_added(solver, node))
            rate_node(solver, node)->component = solver->graph->component_count;
        for (uint32_t i = solver->first[node]; i < solver->first[node + 1]; i++) {
            uint32_t other = solver->incidences[i].other;
            if (rational_is_known(solver->fractions[other])) continue;
            solver->fractions[other] = (struct rational){1, 1};
            solver->queue[solver->queue_count++] = other;
        }
    }
}

/* ---- consistency ---- */

/* Checks each edge of the component that is outside of the tree once. */
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
            struct rational wanted, have = solver->fractions[balance->b];
            if (fraction_across(solver, balance, node, &wanted) && rational_equal(wanted, have))
                continue;
            rate_report_inconsistent(solver, balance);
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
        uint64_t den = (uint64_t)solver->fractions[solver->queue[k]].denominator;
        uint64_t shared = max64(gcd64(common, den), 1);
        if (!mul63(common, den / shared, &common)) {
            report_overflow(solver, solver->queue[k]);
            return 0;
        }
    }
    return common;
}

/* The packets that pass an end in one iteration must fit as well, because every later pass adds
 * them up. */
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
        struct graph_node *node = rate_node(solver, index);
        struct rational fraction = solver->fractions[index];
        if (rate_is_added(solver, index)) continue; /* its packets are those of its readers */
        if (!mul63(common / (uint64_t)fraction.denominator, (uint64_t)fraction.numerator,
                   &node->repetitions) ||
            !mul63(node->repetitions, graph_phases(node), &node->repetitions) ||
            !add63(*sum, node->repetitions, sum) || !packets_fit(node)) {
            report_overflow(solver, index);
            return;
        }
        if (node->source_repetitions == 0) node->source_repetitions = node->repetitions;
    }
}

static void solve_component(struct rate_solver *solver, uint32_t root, uint64_t *sum)
{
    solver->queue[0] = root;
    solver->queue_count = 1;
    solver->fractions[root] = (struct rational){1, 1};
    solver->parent[root] = GRAPH_NONE;
    bool fits = true;
    for (uint32_t k = 0; fits && k < solver->queue_count; k++) {
        if (!rate_is_added(solver, solver->queue[k]))
            rate_node(solver, solver->queue[k])->component = solver->graph->component_count;
        fits = spread_fractions(solver, solver->queue[k]);
    }
    if (!fits) visit_rest(solver);
    solver->graph->component_count++;
    if (fits && check_cycles(solver)) fill_repetitions(solver, sum);
}

void rate_solve(struct compile *cx, struct graph *graph)
{
    struct rate_solver solver = {
        .cx = cx, .graph = graph, .arena = arena_create(), .fix_budget = FIX_BALANCES};
    uint64_t sum = 0;
    graph->component_count = 0;
    if (check_rates(&solver)) {
        collect_balances(&solver);
        size_t count = solver.vertex_count;
        solver.fractions = ARENA_ARRAY(solver.arena, struct rational, count);
        solver.parent = ARENA_ARRAY(solver.arena, uint32_t, count);
        solver.level = ARENA_ARRAY(solver.arena, uint32_t, count);
        solver.queue = ARENA_ARRAY(solver.arena, uint32_t, count);
        for (uint32_t i = 0; i < graph->nodes.count; i++)
            if (!rational_is_known(solver.fractions[i])) solve_component(&solver, i, &sum);
    }
    arena_destroy(solver.arena);
}
