/* SPDX-License-Identifier: MIT */
/*
 * sema_internal: the interface between the files of sema.
 *
 *   sema.c             the program's scope, the choice of the pipeline, checks of unused items
 *   recovery_check.c   the check of a program with syntax errors
 *   elaborate.c        pipelines to graph: ports, buffers, loops
 *   instance.c         chains and instances
 *   subpipeline.c      pipelines that are used as kernels
 *   command_list.c     command lists to graph
 *   parameter.c        compile-time parameters of instances, written or inferred
 *   define_option.c    those of the compiled pipeline, by -D
 *   body*.c            kernels and functions: specialisation, statements, expressions
 *   consteval.c        typed trees to values
 *   test_*.c           test blocks: their subject, statements and streams
 */
#ifndef PIPEC_SEMA_INTERNAL_H
#define PIPEC_SEMA_INTERNAL_H

#include "compiler/ir/graph.h"
#include "compiler/sema/scope.h"
#include "lang/rational.h"

struct sema {
    struct compile *cx;
    struct types *types;
    struct scope *library;                  /* the items of the standard library, outermost */
    struct scope *globals;                  /* the program's own items: they hide the library's */
    VEC(struct kernel *) kernels;           /* every specialisation once, by id */
    VEC(struct function *) functions;       /* every function once, by id */
    struct body_cache *bodies;              /* body.c: the specialised kernels and functions */
    VEC(const struct ast_item *) recursive; /* pipelines that use themselves, reported */
    VEC(const struct ast_item *) inner;     /* pipelines within the compiled one */
    bool too_deep;                          /* nested pipelines; reported */
};

/* Declares the items of a program, and checks nothing else. */
struct sema *sema_create(struct compile *cx, const struct ast_program *program);
/* "'a', 'b'": the first 8, "and N more". */
const char *sema_list_names(struct compile *cx, const char *const *names, size_t count);
/* The scope of the items that are visible at `span`: the library sees only itself. */
struct scope *sema_scope_at(struct sema *sema, struct span span);

/* ---- body*.c: types, constants, bodies.  Each reports and returns false/NULL on error. ----
 *
 * Limits, refused with RULE_TOO_LARGE (nesting: RULE_TOO_DEEP): */
#define SEMA_MAX_LOCAL_BYTES ((uint64_t)1 << 20) /* one local, parameter or result */
/* All locals of a body and of the functions it calls. */
#define SEMA_MAX_STACK_BYTES ((uint64_t)4 << 20)
#define SEMA_MAX_GROUP_ITEMS 1024                  /* work-items of a firing */
#define SEMA_MAX_SHARED_BYTES ((uint64_t)64 << 10) /* all `local` variables of a kernel */
#define SEMA_MAX_NODE_BYTES ((uint64_t)1 << 30)    /* tables of a kernel; its state; any type */
#define SEMA_MAX_ARITY 65536                       /* elements of a port array */
#define SEMA_MAX_RATE ((int64_t)1 << 31)           /* pop, peek, push; of one phase */
#define SEMA_MAX_PHASES 1024                       /* of the rates of a kernel */
#define SEMA_MAX_CALL_DEPTH 256                    /* functions that call functions */
#define SEMA_MAX_NESTING 2000                      /* nested expressions and statements */

/* The type written as `type` with further dimensions `dims` (those after the name; outermost
 * first). */
const struct type *sema_type(struct sema *sema, struct scope *scope, const struct ast_type *type,
                             const struct ast_expr *dims);
/* A compile-time integer. RULE_NOT_CONSTANT if it is not known, with the run-time name it depends
 * on. */
bool sema_integer(struct sema *sema, struct scope *scope, const struct ast_expr *expr,
                  int64_t *out);
/* As sema_integer, for the value of an attribute, which is exact: `3/2` is one and a half, and is
 * refused (RULE_INVALID_RATE) because `what` ("pop") is an integer. */
bool sema_whole(struct sema *sema, struct scope *scope, const struct ast_expr *expr,
                const char *what, int64_t *out);
/* As sema_whole, for an attribute whose value may be a fraction. */
bool sema_exact(struct sema *sema, struct scope *scope, const struct ast_expr *expr,
                struct rational *out);
/* Checks that a shape (`group`, `window`, `rows`, `frame`) has no comma, `(16, 16)`, and that its numbers are decimal: `0x3`
 * is one number but looks like dimensions.  Returns the report of the first that is not decimal, or
 * NULL. */
struct diag *sema_refuse_shape(struct diags *diags, const struct ast_attribute *attribute);
/* A compile-time condition (any scalar; true if not zero). */
bool sema_condition(struct sema *sema, struct scope *scope, const struct ast_expr *expr, bool *out);
/* A compile-time value of `type` (braces for arrays): all its scalars, flattened; NULL after an
 * error. */
const struct scalar_value *sema_values(struct sema *sema, struct scope *scope,
                                       const struct ast_expr *expr, const struct type *type,
                                       uint64_t *count);
/* Declares `const TYPE a = .., b[2] = {..};` in `scope` (const int, scalars, arrays). */
void sema_const_declaration(struct sema *sema, struct scope *scope, const struct ast_type *type,
                            const struct ast_declarator *declarators);
/* Evaluates a SYMBOL_LAZY_CONSTANT in the program's scope; false after an error (reported once). */
bool sema_force_constant(struct sema *sema, struct symbol *symbol);
/* A run-time expression over the names in `scope`, converted to `type`: an argument of an
 * instance. Folds constants. */
struct kx *sema_argument(struct sema *sema, struct scope *scope, const struct ast_expr *expr,
                         const struct type *type);
/* Reports a type that a run-time argument cannot have; NULL: it can. */
struct diag *sema_check_argument_type(struct compile *cx, const struct ast_param *param,
                                      const struct type *type);
/* The value of a compile-time parameter. */
struct compile_argument {
    const struct type *type; /* `type T`; NULL: `int N` */
    int64_t integer;
};
/* The value of a constant argument, otherwise the argument; NULL after an error. */
struct kx *sema_folded(struct sema *sema, struct kx *kx);
/* Declares the compile-time parameters of a signature with their values.  False after an error. */
bool sema_declare_parameters(struct sema *sema, struct scope *scope,
                             const struct ast_signature *signature,
                             const struct compile_argument *params, size_t count);
/* `fir<64, f32>` */
const char *sema_title(struct arena *arena, const char *name, const struct compile_argument *params,
                       size_t count);
/* The kernel specialised to the values of its compile-time parameters (`count` is checked by the
 * caller against the signature).  The same values give the same kernel.  NULL after an error in it,
 * reported once.  Of a builtin kernel that the device does not have, the ports only: it has no body. */
struct kernel *sema_kernel(struct sema *sema, const struct ast_item *item,
                           const struct compile_argument *params, size_t count);
/* The same, each time a new kernel, which is not in sema->kernels. */
struct kernel *sema_own_kernel(struct sema *sema, const struct ast_item *item,
                               struct compile_argument *params, size_t count);
/* The type of a SYMBOL_STRUCT; NULL after an error, reported once. */
const struct type *sema_struct(struct sema *sema, struct symbol *symbol);
/* Checks a function that nothing uses. */
void sema_check_function(struct sema *sema, const struct ast_item *item);

/* ---- consteval.c ---- */

struct consteval_error {
    const char *reason; /* "division by zero", ... ; NULL: not constant */
    struct span span;
    /* name of the variable or argument that is not constant; NULL for a port */
    const char *depends_on;
    const struct kx *culprit; /* the expression that reads it, if it is not constant */
    bool too_large;           /* beyond the limit of steps, depth or memory: RULE_TOO_LARGE */
};
/* Evaluates a typed expression without run-time inputs, with the bits of compiled code (arith.h).
 * `out` gets all scalars of the value.  Only executed parts matter: `N > 0 ? 10 / N : 0` is valid
 * for N = 0. Limits: CONSTEVAL_MAX_STEPS steps (an expression, a statement, or 16 copied scalars),
 * _MAX_CALLS nested calls, _MAX_SCALARS live scalars of locals. */
#define CONSTEVAL_MAX_STEPS 10000000u
#define CONSTEVAL_ALL_STEPS 500000000u /* of all constants of a compilation */
#define CONSTEVAL_MAX_CALLS 256u
#define CONSTEVAL_MAX_SCALARS ((uint64_t)4 << 20)
/* All constants of a compilation with more than one value. Those of test blocks have limits of
 * their own. */
#define CONSTEVAL_ALL_SCALARS_MAX ((uint64_t)8 << 20)
bool consteval(struct compile *cx, const struct kx *expr, struct scalar_value *out,
               struct consteval_error *error);

/* ---- elaborate.c ---- */

/* The graph of one pipeline, NULL after errors.  `is_top`: the compiled one (-D applies).
 * `parameters`: its `<...>` as written in `scope`, or NULL. */
struct graph *sema_elaborate_pipeline(struct sema *sema, const struct ast_item *pipeline,
                                      struct scope *scope, const struct ast_node *parameters,
                                      bool is_top);
/* Gives the graph its kernels and functions, in order of id. */
void sema_collect_used(struct sema *sema, struct graph *graph);

/* ---- test_subject.c: the subject of a test is a pipeline, or a kernel, which becomes a pipeline
 * ---- */

/* Reports a problem with the name. */
bool sema_check_subject(struct sema *sema, struct scope *scope, const struct ast_node *subject);
struct graph *sema_elaborate_subject(struct sema *sema, struct scope *scope,
                                     const struct ast_node *subject);

/* ---- command_list.c ---- */

/* The graph that a command list builds; NULL after errors. */
struct graph *sema_elaborate_commands(struct sema *sema, const struct ast_file *file);

#endif
