/* SPDX-License-Identifier: MIT */
#include "compiler/driver/passes.h"

#include "compiler/bodies/operations.h"
#include "compiler/bodies/range_check.h"
#include "compiler/bodies/wraps.h"
#include "compiler/bodies/amplify.h"
#include "compiler/bodies/divergence.h"
#include "compiler/bodies/cost.h"
#include "compiler/diagnostics/diag_set.h"
#include "compiler/liveness/rate.h"
#include "compiler/liveness/bounded.h"
#include "compiler/liveness/deadlock.h"
#include "compiler/pace/bufsize.h"
#include "compiler/pace/debug_depths.h"
#include "compiler/optimize/constant_tables.h"
#include "compiler/optimize/region/linear.h"
#include "compiler/optimize/region/dead_work.h"
#include "compiler/optimize/region/strands.h"
#include "compiler/driver/library_add.h"
#include "compiler/lint/lint.h"
#include "compiler/plan/full_runs.h"
#include "compiler/sema/sema.h"
#include "compiler/diagnostics/diag_list.h"
#include "compiler/context/phase_times.h"
#include "compiler/syntax/parse.h"
#include "compiler/target/target.h"

static bool runs_always(const struct passes *p)
{
    (void)p;
    return true;
}

/* ---- front end ---- */

static void run_parse(struct passes *p)
{
    p->program = parse_program(p->cx, p->source);
}

static void run_library(struct passes *p)
{
    library_add(p->cx, p->program);
}

/* The bodies of the kernels without errors: errors of one kernel do not hide those of another. */
static void analyse_sound_kernels(struct compile *cx)
{
    if (cx->sound == NULL) return;
    amplify_infer_rates(cx, cx->sound);
    range_check_bodies(cx, cx->sound);
    wraps_check_bodies(cx, cx->sound);
    group_check_bodies(cx, cx->sound);
}

static bool has_errors(const struct passes *p)
{
    return diag_failed(p->cx->diags);
}

static void run_recovery(struct passes *p)
{
    p->cx->sound = NULL;
    sema_check_damaged(p->cx, p->program);
    analyse_sound_kernels(p->cx);
}

static void run_elaborate(struct passes *p)
{
    p->cx->sound = NULL;
    p->written = p->graph = sema_elaborate(p->cx, p->program);
    if (p->graph == NULL) analyse_sound_kernels(p->cx);
}

static bool wants_lint(const struct passes *p)
{
    return p->lints;
}

static void run_lint_source(struct passes *p)
{
    lint_program(p->cx, p->program);
}

/* ---- passes that are one function over the graph ---- */

#define OVER_GRAPH(run, function)                                                                  \
    static void run(struct passes *p)                                                              \
    {                                                                                              \
        (void)function(p->cx, p->graph);                                                           \
    }
OVER_GRAPH(run_operations, operations_check_bodies)
OVER_GRAPH(run_kernel_rates, amplify_infer_rates)
OVER_GRAPH(run_ranges, range_check_bodies)
OVER_GRAPH(run_wraps, wraps_check_bodies)
OVER_GRAPH(run_work_items, group_check_bodies)
OVER_GRAPH(run_costs, cost_estimate)
OVER_GRAPH(run_repetitions, rate_solve)
OVER_GRAPH(run_bounded, bounded_check)
OVER_GRAPH(run_liveness, deadlock_check)
OVER_GRAPH(run_depths, bufsize_assign)
OVER_GRAPH(run_lint_graph, lint_graph)
OVER_GRAPH(run_debug_depths, debug_cut_depths)
OVER_GRAPH(run_tables, tables_to_constants)
#undef OVER_GRAPH

/* ---- analyses ---- */

static void run_suppressions(struct passes *p)
{
    diag_check_suppressions(p->cx->diags, true);
}

static bool wants_debug_depths(const struct passes *p)
{
    return p->cx->options.debug_mode;
}

/* ---- less work, fusion ---- */

static bool wants_fusion(const struct passes *p)
{
    return fuse_wanted(p->cx, p->device);
}

/* Tables become constants after the plan where the clock decides: kernels are shared with the pipeline as it is written. */
static bool wants_tables(const struct passes *p)
{
    return wants_fusion(p) && !fuse_is_timed(p->cx, p->device);
}

/* The graph before the first pass that makes another one of it. */
static void keep_apart(struct passes *p)
{
    if (p->apart == NULL) p->apart = p->graph;
}

static bool wants_less_work(const struct passes *p)
{
    return wants_fusion(p) && !p->graph->unproven;
}

static bool wants_filters(const struct passes *p)
{
    return wants_less_work(p) && p->cx->options.fast_math;
}

static bool wants_strands(const struct passes *p)
{
    return wants_less_work(p) && target_of(p->device)->makes_strands;
}

/* Continues with the graph that a pass made, which may be NULL. False if that graph cannot be analysed:
 * then the list continues with the graph that it had. */
static bool replace_graph(struct passes *p, struct graph *made)
{
    if (made == NULL) return false;
    struct diags *reported = p->cx->diags;
    p->cx->diags = diags_create(p->cx->arena, p->cx->sources);
    keep_apart(p);
    bool good = analyse_graph(p->cx, made);
    p->cx->diags = reported;
    if (good) p->written = p->graph = made;
    return good;
}

/* With filters in the frequency domain; if that leads to impossible rates or depths, without. */
static void run_filters(struct passes *p)
{
    if (!replace_graph(p, linear_collapse(p->cx, p->graph, true)))
        replace_graph(p, linear_collapse(p->cx, p->graph, false));
}

static void run_dead_work(struct passes *p)
{
    replace_graph(p, reduce_graph(p->cx, p->graph));
}

static void run_strands(struct passes *p)
{
    replace_graph(p, strand_graph(p->cx, p->graph, p->device));
}

static void run_fusion(struct passes *p)
{
    keep_apart(p);
    p->fusion = fuse_neighbours(p->cx, p->graph, p->device, prove_graph);
    p->graph = p->fusion->graph;
}

/* ---- plan and code ---- */

struct planned { /* one of two plans, and what it reports */
    struct plan *plan;
    struct diags *reports;
};

static struct planned plan_aside(struct passes *p, struct graph *graph)
{
    struct diags *reported = p->cx->diags;
    struct planned planned = {.reports = diags_fork(p->cx->arena, reported)};
    p->cx->diags = planned.reports;
    planned.plan = plan_place(p->cx, graph, p->device);
    p->cx->diags = reported;
    return planned;
}

static const char *contest_reason(struct arena *arena, const struct full_run_contest *contest)
{
    const struct full_runs *written = &contest->written, *made = &contest->made;
    if (written->iterations[0] == 0)
        return "iterations of the fused pipeline cannot be compared with those of the program";
    if (written->cycles[0] == 0 || made->cycles[0] == 0)
        return "whole runs take too long to be played when compiling";
    return contest->made_is_better ? full_runs_text(arena, made, "fused", written, "apart")
                                   : full_runs_text(arena, written, "apart", made, "fused");
}

static bool loses_layout(const struct compile *cx, const struct plan *apart,
                         const struct plan *fused)
{
    enum layout_wish wish = cx->options.layout;
    return (wish == LAYOUT_SIDE_BY_SIDE || wish == LAYOUT_GROUPS) &&
           apart->mode != PLAN_IN_SEQUENCE && fused->mode == PLAN_IN_SEQUENCE;
}

/* The clock of the device decides whether neighbours become one stage: both pipelines get a plan. */
static void choose_fusion(struct passes *p)
{
    struct planned apart = plan_aside(p, p->apart), fused = plan_aside(p, p->graph),
                   *taken = &apart;
    struct full_run_contest contest = {.made_is_better = diag_failed(apart.reports)};
    const char *reason = "the fused pipeline cannot be planned";
    if (loses_layout(p->cx, apart.plan, fused.plan)) {
        reason = "fused, it cannot have the layout that was asked for";
    } else if (!diag_failed(apart.reports) && !diag_failed(fused.reports)) {
        contest = full_runs_contest((struct planned_graph){p->apart, apart.plan},
                                    (struct planned_graph){p->graph, fused.plan});
        reason = contest_reason(p->cx->arena, &contest);
    }
    if (contest.made_is_better && !diag_failed(fused.reports)) {
        taken = &fused;
        p->fusion->reason = reason;
        tables_to_constants(p->cx, p->graph);
        plan_check_memory(p->cx, p->graph, fused.plan);
    } else {
        p->written = p->graph = p->apart;
        p->fusion = fuse_nothing(p->cx, p->apart, reason);
    }
    p->plan = taken->plan;
    diag_take(p->cx->diags, taken->reports);
}

static void run_plan(struct passes *p)
{
    if (p->apart != NULL && p->apart != p->graph && fuse_is_timed(p->cx, p->device))
        choose_fusion(p);
    else
        p->plan = plan_place(p->cx, p->graph, p->device);
    if (p->fusion != NULL) fuse_settle_depths(p->cx, p->fusion);
}

static void run_schedule(struct passes *p)
{
    p->schedule = sched_emit(p->cx, p->graph, p->plan);
}

static void run_kernels(struct passes *p)
{
    p->image = kernel_compile(p->cx, p->graph);
}

static void run_container(struct passes *p)
{
    p->container = container_build(p->cx, p->graph, p->plan, p->schedule, p->image);
}

/* ---- the list ---- */

enum fact {
    NOTHING = 0,
    ELABORATED = 1 << 0, /* there is a graph */
    SIZED = 1 << 1,      /* bodies are small enough for the analyses */
    RATES = 1 << 2,      /* the rates of kernels are known */
    CONSISTENT = 1 << 3, /* the rates of the graph agree: there are repetitions */
    BOUNDED = 1 << 4,    /* no buffer of bounded rates is refused */
    LIVE = 1 << 5,       /* there is no deadlock with unbounded buffers */
    ASSIGNED = 1 << 6,   /* buffers have depths, with which there is no deadlock either */
    PLANNED = 1 << 7,    /* there is a plan */
    COMPILED = 1 << 8,   /* there is an image */
};

enum gate { GOES_ON, GATE };

static const struct pass_row {
    enum compile_phase phase;
    unsigned requires;
    bool (*wanted)(const struct passes *p);
    void (*run)(struct passes *p);
    unsigned gives;
    enum gate gate;
} rows[PASS_COUNT] = {
#define X(pass, phase, requires, wanted, run, gives, gate)                                         \
    [PASS_##pass] = {PHASE_##phase, requires, wanted, run, gives, gate},
    PASS_LIST(X)
#undef X
};

static unsigned known_facts(const struct passes *p)
{
    return p->facts | (p->graph != NULL ? ELABORATED : NOTHING) |
           (p->plan != NULL ? PLANNED : NOTHING) | (p->image != NULL ? COMPILED : NOTHING);
}

bool passes_run(struct passes *p, enum pass last)
{
    for (; p->next <= last; p->next++) {
        const struct pass_row *row = &rows[p->next];
        if (p->closed) continue;
        if ((known_facts(p) & row->requires) == row->requires && row->wanted(p)) {
            if (!p->is_part_of) (void)phase_begin(p->cx, row->phase);
            size_t errors = diag_error_count(p->cx->diags);
            row->run(p);
            if (diag_error_count(p->cx->diags) == errors) p->facts |= row->gives;
        }
        p->closed = row->gate == GATE && diag_failed(p->cx->diags);
    }
    if (!p->is_part_of) (void)phase_begin(p->cx, PHASE_START);
    return !diag_failed(p->cx->diags);
}

struct passes passes_of_source(struct compile *cx, uint32_t source)
{
    return (struct passes){.cx = cx, .device = cx->device, .source = source};
}

struct passes passes_of_program(struct compile *cx, struct ast_program *program)
{
    return (struct passes){
        .cx = cx, .device = cx->device, .program = program, .next = PASS_ELABORATE};
}

struct passes passes_of_graph(struct compile *cx, struct graph *graph)
{
    return (struct passes){
        .cx = cx, .device = cx->device, .written = graph, .graph = graph, .next = PASS_OPERATIONS};
}

struct passes passes_of_depths(struct compile *cx, struct graph *graph)
{
    struct passes passes = passes_of_graph(cx, graph);
    passes.facts = SIZED | RATES | CONSISTENT | BOUNDED | LIVE | ASSIGNED;
    passes.next = PASS_PLAN;
    return passes;
}

struct verdict passes_verdict(const struct passes *p)
{
    const struct diags *diags = p->cx->diags;
    struct verdict verdict = {.rates_inferred = (p->facts & RATES) != 0,
                              .depths_assigned = (p->facts & ASSIGNED) != 0};
    if (diag_has(diags, RULE_INCONSISTENT_RATES))
        verdict.consistent = KNOWN_FALSE;
    else if ((p->facts & CONSISTENT) != 0)
        verdict.consistent = KNOWN_TRUE;
    if (diag_has(diags, RULE_DEADLOCK) || diag_has(diags, RULE_DEPTH_TOO_SMALL) ||
        diag_has(diags, RULE_BUFFER_BELOW_BURST))
        verdict.deadlock_free = KNOWN_FALSE;
    else if (verdict.depths_assigned && !p->written->unproven)
        verdict.deadlock_free = KNOWN_TRUE;
    return verdict;
}

/* ---- parts of the list ---- */

bool analyse_graph(struct compile *cx, struct graph *graph)
{
    struct passes part = passes_of_graph(cx, graph);
    part.is_part_of = true;
    return passes_run(&part, PASS_DEPTHS);
}

bool prove_graph(struct compile *cx, struct graph *graph)
{
    struct passes part = passes_of_graph(cx, graph);
    part.is_part_of = true;
    part.facts = SIZED | RATES;
    part.next = PASS_REPETITIONS;
    return passes_run(&part, PASS_DEPTHS);
}
