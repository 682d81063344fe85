/*
 * elaborate_internal: what elaborate.c (declarations, loops) and instance.c (chains, instances)
 * share.
 */
#ifndef PIPEC_ELABORATE_INTERNAL_H
#define PIPEC_ELABORATE_INTERNAL_H

#include "compiler/sema/sema_internal.h"

#define ELABORATE_MAX_PARTS (1 << 20)             /* nodes; buffers */
#define ELABORATE_MAX_STEPS (1 << 20)             /* rounds of compile-time loops, all together */
#define ELABORATE_MAX_PACKETS INT64_C(0x7fffffff) /* depth, initial packets */

/* A declared buffer, array of buffers, or port: elements `first` .. `first + total - 1` of the
 * graph. */
struct net_buffer {
    const char *name;
    struct span span;
    const struct type *type; /* of a packet */
    VEC(uint64_t) dims;      /* none: not an array */
    uint64_t total;
    uint32_t first;
    enum graph_outer outer;
};

struct node_name {    /* how often a name has been given to a node */
    const char *name; /* interned */
    struct span span; /* of the first */
    uint64_t count;
};

struct elaboration {
    struct compile *cx;
    struct sema *sema;
    struct graph *graph;
    const char *suffix; /* `[b]` of the loops around */
    bool is_top;        /* the pipeline that is compiled: -D applies */
    bool overfull;      /* a limit was reported: stop */
    bool incomplete;    /* something was refused: buffers may lack their ends because of it */
    uint32_t steps;
    struct node_name *node_names; /* open addressing by pointer */
    size_t name_count, name_capacity;
    struct net_buffer loop_mark; /* its address marks the symbols of loop variables */
};

/* Declares the compile-time parameters of `signature` in `to`, with the values that `instance`
 * (NULL: none) gives them in `from`.  False after an error. */
bool declare_parameters(struct elaboration *el, struct scope *from, struct scope *to,
                        const struct ast_signature *signature, const struct ast_node *instance);
struct node_name *node_name_entry(struct elaboration *el, const char *name);
void elaborate_statements(struct elaboration *el, struct scope *scope, const struct ast_net *net);
void unknown_attribute(struct elaboration *el, const struct ast_attribute *a, const char *of,
                       const char *const *known, size_t count);
/* Reports an attribute that stands twice in the list that begins with `first`. */
bool repeated_attribute(struct elaboration *el, const struct ast_attribute *first,
                        const struct ast_attribute *a);
/* The buffer that is named, or NULL after an error. */
const struct net_buffer *elaborate_find_buffer(struct elaboration *el, struct scope *scope,
                                               struct ast_name name);

/* ---- parameter.c ---- */

/* What is bound to the ports of an instance: a list as written, or one packet type (a chain). */
struct bound_end {
    const struct ast_expr *list;
    const struct type *type; /* NULL: by the list, or nothing */
    struct span span;        /* with `type` */
};
struct bound_ports {
    struct bound_end in, out;
};
/* The values of the compile-time parameters of an instance of something with `signature`: those in
 * `<...>`, and omitted types from what is bound.  NULL after an error; *count gets their number. */
struct compile_argument *elaborate_parameters(struct elaboration *el, struct scope *scope,
                                              const struct ast_node *node,
                                              const struct ast_signature *signature,
                                              const struct bound_ports *bound, size_t *count);

/* The visible buffer, or kernel, whose name is nearest, or NULL. */
const char *nearest_buffer(struct elaboration *el, struct scope *scope, const char *name);
const char *nearest_kernel(struct elaboration *el, struct scope *scope, const char *name);
/* shape_attribute.c: `rows W`, `frame WxH`; false after an error. */
bool is_shape_attribute(const struct ast_attribute *a);
bool shape_attribute(struct elaboration *el, struct scope *scope, const struct ast_attribute *a,
                     struct graph_shape *shape);
void elaborate_chain(struct elaboration *el, struct scope *scope, const struct ast_net *net);

#endif
