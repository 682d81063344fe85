/*
 * passes: what every command that compiles does with a file: reads it, loads the device, analyses a
 * graph, writes a container.
 *
 * Functions that return int return an exit status of the process; what is not EXIT_DONE has been
 * reported (on stderr, or as a diagnostic of `cx`).
 */
#ifndef PIPEC_PASSES_H
#define PIPEC_PASSES_H

#include <stdio.h>

#include "compiler/describe/inspection.h"
#include "compiler/optimize/fuse/fuse.h"
#include "compiler/ir/graph.h"
#include "compiler/plan/plan.h"
#include "compiler/syntax/ast.h"

enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_FILES = 2, EXIT_INTERNAL = 3 };

/* After an error: whose it is, as cx->halt has it. */
int refusal_status(const struct compile *cx);

/* Prints "cannot WHAT 'PATH'" with errno's reason and returns the exit code.  Path "-" is standard
 * output or input.  A reader that has gone away (EPIPE) is no failure. */
int file_failure(const char *what, const char *path);
/* Of a folder that a command does not look through, as it lies in too many others (source_paths.h). */
int folder_too_deep(const char *path);
/* What a command that has printed ends with: whether all of it has been written. */
int standard_output_status(void);
int input_read(struct compile *cx, const char *path, uint32_t *source);
/* Two names of one file that is there. */
bool file_is_same(const char *a, const char *b);
/* `what` ("output") written over a file that the program is made of would destroy it: true, and
 * reported.  Source 1 is the input; `path` may be NULL. */
bool refuse_over_source(const struct compile *cx, const char *what, const char *path);
/* The library's mathematics are always in reach: `sin(x)` needs no import.  Requires a parsed
 * program; one that has none of their names is left as it is. */
void library_add(struct compile *cx, struct ast_program *program);
/* Adds it, where the program is whole.  Where it is not, what is left of it is checked: false. */
bool program_complete(struct compile *cx, struct ast_program *program);
/* Ends in .dev. */
bool is_description_name(const char *name);
/* Parses and reports.  False: it is not valid. */
bool device_read(struct compile *cx, uint32_t source, struct devdesc *device);
/* The built-in device of that name, or what a file NAME.dev describes. */
int device_load(struct compile *cx, const char *name, struct devdesc *device);

/* The graph of the program; NULL after errors: what can be said of its other kernels is reported,
 * too. */
struct graph *program_elaborate(struct compile *cx, const struct ast_program *program);
/* Rates, ranges, costs, liveness and depths of an elaborated graph.  Goes on after an error as long
 * as what follows has a meaning; says what became known. */
struct verdict analyse_graph_further(struct compile *cx, struct graph *graph);
/* The same.  False after an error. */
bool analyse_graph(struct compile *cx, struct graph *graph);
/* The graph with less work in it, analysed, where neighbours are to be fused; or `graph` itself.  What
 * the program is told about was found in `graph`. */
struct graph *reduce_work(struct compile *cx, struct graph *graph, const struct devdesc *device);
/* Tables that are known become constants, where neighbours are to be fused. */
void settle_tables(struct compile *cx, struct graph *graph, const struct devdesc *device);
/* Where it runs on the device; in debug mode depths are cut first, and `graph` is no more what the
 * source says. */
struct plan *plan_graph(struct compile *cx, struct graph *graph, const struct devdesc *device);
/* Kernels and schedule, compiled, as a whole container.  False: a diagnostic, or errno of `to`. */
bool container_write(struct compile *cx, const struct graph *graph, const struct plan *plan,
                     FILE *to);

#endif
