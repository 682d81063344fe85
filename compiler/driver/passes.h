/* SPDX-License-Identifier: MIT */
/*
 * passes: runs one program through the list of all passes.
 *
 * pass_list.h has the list: what each pass requires and gives, and where each command leaves it.
 */
#ifndef PIPEC_PASSES_H
#define PIPEC_PASSES_H

#include "compiler/codegen/common/codegen.h"
#include "compiler/describe/inspection.h"
#include "compiler/optimize/fuse/fuse.h"
#include "compiler/ir/graph.h"
#include "compiler/plan/plan.h"
#include "compiler/context/pass_list.h"
#include "compiler/syntax/ast.h"

enum pass {
#define X(pass, phase, requires, wanted, run, gives, gate) PASS_##pass,
    PASS_LIST(X)
#undef X
        PASS_COUNT
};

/* One program on its way through the list. The passes fill the fields; NULL: not yet, or not after an
 * error. All lives in cx->arena. */
struct passes {
    struct compile *cx;
    const struct devdesc *device; /* cx->device; required from PASS_FILTERS on */
    bool lints;                   /* the lint rows and PASS_SUPPRESSIONS are wanted */
    uint32_t source;              /* the input, for PASS_PARSE */
    struct ast_program *program;
    struct graph *written; /* as elaborated, later with less work: the graph that is described */
    struct graph *graph;   /* the graph to be planned; `written` until PASS_FUSION */
    struct graph *apart;   /* as elaborated, once passes have made another graph of it */
    struct fusion *fusion;
    struct plan *plan;
    struct sched_program *schedule;
    struct kernel_image *image;
    struct container_bytes container;
    enum pass next;  /* the row that runs next */
    unsigned facts;  /* that are known; passes.c */
    bool closed;     /* a gate has ended the list */
    bool is_part_of; /* runs inside a row of another list, in whose phase its time counts */
};

/* At PASS_PARSE. */
struct passes passes_of_source(struct compile *cx, uint32_t source);
/* At PASS_ELABORATE, with a program that is complete. */
struct passes passes_of_program(struct compile *cx, struct ast_program *program);
/* At PASS_OPERATIONS, with an elaborated graph, or NULL. */
struct passes passes_of_graph(struct compile *cx, struct graph *graph);

/* At PASS_PLAN, with a graph whose depths are final. */
struct passes passes_of_depths(struct compile *cx, struct graph *graph);

/* Runs the rows from `next` to `last`. False after an error of this row or an earlier one. */
bool passes_run(struct passes *passes, enum pass last);

/* How far the analyses came. */
struct verdict passes_verdict(const struct passes *passes);

/* Runs PASS_OPERATIONS to PASS_DEPTHS on an elaborated graph. False after an error. */
bool analyse_graph(struct compile *cx, struct graph *graph);
/* Runs PASS_REPETITIONS to PASS_DEPTHS on a graph whose kernels have rates and costs. False after an
 * error. */
bool prove_graph(struct compile *cx, struct graph *graph);

#endif
