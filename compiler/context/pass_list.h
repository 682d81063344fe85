/* SPDX-License-Identifier: MIT */
/*
 * pass_list: all passes in their order, and the phases of --time-report.
 *
 * Each command that compiles runs this one list and leaves it at a row of its own:
 *
 *     pipec graph, pipec edit         DEPTHS, without LINT_SOURCE
 *     pipec lint                      LINT_GRAPH, for each pipeline of a file
 *     pipec inspect --trace-deadlock  SUPPRESSIONS
 *     pipec inspect --json            DEBUG_DEPTHS; with --device SCHEDULE
 *     pipec FILE (a check)            PLAN
 *     pipec inspect                   SCHEDULE
 *     pipec FILE -o OUT, pipec test   CONTAINER
 *
 * The columns of X(pass, phase, requires, wanted, run, gives, gate):
 *
 *     phase     in which the time of the pass counts; a pass may begin other phases inside it
 *     requires  facts (passes.c); a pass that lacks one is skipped, so that after an error all passes
 *               run that still have a meaning
 *     wanted    a predicate for passes that an option or the device turns on, or `runs_always`
 *     run       the function in passes.c
 *     gives     facts that are known if the pass reports no error
 *     gate      GATE: the list ends here if the program has an error by now
 */
#ifndef PIPEC_PASS_LIST_H
#define PIPEC_PASS_LIST_H

/* clang-format off */
#define PASS_LIST(X)                                                                                      \
    X(PARSE,        FRONT_END, NOTHING,        runs_always,        run_parse,        NOTHING,    GOES_ON) \
    X(LIBRARY,      FRONT_END, NOTHING,        runs_always,        run_library,      NOTHING,    GOES_ON) \
    X(RECOVERY,     FRONT_END, NOTHING,        has_errors,         run_recovery,     NOTHING,    GATE)    \
    X(ELABORATE,    FRONT_END, NOTHING,        runs_always,        run_elaborate,    NOTHING,    GATE)    \
    X(LINT_SOURCE,  FRONT_END, NOTHING,        wants_lint,         run_lint_source,  NOTHING,    GOES_ON) \
    X(OPERATIONS,   ANALYSES,  ELABORATED,     runs_always,        run_operations,   SIZED,      GOES_ON) \
    X(KERNEL_RATES, ANALYSES,  SIZED,          runs_always,        run_kernel_rates, RATES,      GOES_ON) \
    X(RANGES,       ANALYSES,  SIZED,          runs_always,        run_ranges,       NOTHING,    GOES_ON) \
    X(WRAPS,        ANALYSES,  SIZED,          runs_always,        run_wraps,        NOTHING,    GOES_ON) \
    X(WORK_ITEMS,   ANALYSES,  SIZED,          runs_always,        run_work_items,   NOTHING,    GOES_ON) \
    X(COSTS,        ANALYSES,  RATES,          runs_always,        run_costs,        NOTHING,    GOES_ON) \
    X(REPETITIONS,  ANALYSES,  RATES,          runs_always,        run_repetitions,  CONSISTENT, GOES_ON) \
    X(BOUNDED,      ANALYSES,  CONSISTENT,     runs_always,        run_bounded,      BOUNDED,    GOES_ON) \
    X(LIVENESS,     ANALYSES,  CONSISTENT,     runs_always,        run_liveness,     LIVE,       GOES_ON) \
    X(DEPTHS,       ANALYSES,  BOUNDED | LIVE, runs_always,        run_depths,       ASSIGNED,   GATE)    \
    X(LINT_GRAPH,   ANALYSES,  ASSIGNED,       wants_lint,         run_lint_graph,   NOTHING,    GOES_ON) \
    X(SUPPRESSIONS, ANALYSES,  ASSIGNED,       wants_lint,         run_suppressions, NOTHING,    GOES_ON) \
    X(DEBUG_DEPTHS, ANALYSES,  ASSIGNED,       wants_debug_depths, run_debug_depths, NOTHING,    GOES_ON) \
    X(FILTERS,      FUSION,    ASSIGNED,       wants_filters,      run_filters,      NOTHING,    GOES_ON) \
    X(DEAD_WORK,    FUSION,    ASSIGNED,       wants_less_work,    run_dead_work,    NOTHING,    GOES_ON) \
    X(STRANDS,      FUSION,    ASSIGNED,       wants_strands,      run_strands,      NOTHING,    GOES_ON) \
    X(FUSION,       FUSION,    ASSIGNED,       runs_always,        run_fusion,       NOTHING,    GOES_ON) \
    X(TABLES,       FUSION,    ASSIGNED,       wants_tables,       run_tables,       NOTHING,    GOES_ON) \
    X(PLAN,         PLAN,      ASSIGNED,       runs_always,        run_plan,         NOTHING,    GOES_ON) \
    X(SCHEDULE,     PLAN,      PLANNED,        runs_always,        run_schedule,     NOTHING,    GATE)    \
    X(KERNELS,      START,     PLANNED,        runs_always,        run_kernels,      NOTHING,    GATE)    \
    X(CONTAINER,    CONTAINER, COMPILED,       runs_always,        run_container,    NOTHING,    GOES_ON)

/* X(phase, name): START is the first, and counts the time outside of all passes; plan and codegen begin TRIALS, LLVM_... and LINK. */
#define COMPILE_PHASES(X)               \
    X(START, "start, output")           \
    X(FRONT_END, "front end")           \
    X(ANALYSES, "analyses")             \
    X(FUSION, "less work, fusion")      \
    X(PLAN, "plan")                     \
    X(TRIALS, "plan: trials")           \
    X(LLVM_BUILD, "LLVM: building")     \
    X(LLVM_OPTIMISE, "LLVM: optimising") \
    X(LLVM_EMIT, "LLVM: machine code")  \
    X(LINK, "link")                     \
    X(CONTAINER, "container")
/* clang-format on */

#endif
