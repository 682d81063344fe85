/* SPDX-License-Identifier: MIT */
/*
 * elaborate_internal: the interface between elaborate.c (declarations, loops), instance.c (chains,
 * instances) and the other files of elaboration.
 */
#ifndef PIPEC_ELABORATE_INTERNAL_H
#define PIPEC_ELABORATE_INTERNAL_H

#include "compiler/sema/sema_internal.h"

#define ELABORATE_MAX_PARTS (1 << 20) /* nodes; buffers */
#define ELABORATE_MAX_STEPS (1 << 20) /* rounds of compile-time loops, in total */
#define ELABORATE_MAX_INNER (1 << 15) /* pipelines used as kernels */
#define ELABORATE_MAX_DEPTH 64        /* nested pipelines */
#define ELABORATE_MAX_OPERATIONS 4096 /* of an argument that is passed through pipelines */
#define ELABORATE_MAX_PACKETS INT64_C(0x7fffffff) /* depth, initial packets */

/* A declared buffer, array of buffers, or port: buffers `first` .. `first + total - 1` of the
 * graph. For a port of a pipeline that is used as a kernel: the buffers that are bound to it. */
struct net_buffer {
    const char *name;
    struct span span;
    const struct type *type; /* of a packet */
    VEC(uint64_t) dims;      /* none: not an array */
    struct span dims_span;   /* `[16]` if it is one number; otherwise source 0 */
    uint64_t total;
    uint32_t first;
    const uint32_t *bound;  /* by element; NULL: from `first` on */
    bool *touched;          /* by element, with `bound`: whether a kernel reads or writes it */
    enum graph_outer outer; /* a port of the pipeline being elaborated */
    bool depth_meant;       /* it was reported that its length may be meant as a depth */
    bool doubtful;          /* doubt_buffer was called */
};

static inline uint32_t net_element(const struct net_buffer *buffer, uint64_t element)
{
    return buffer->bound != NULL ? buffer->bound[element] : buffer->first + (uint32_t)element;
}

/* The kernel that an instance names, or the pipeline that is used as one. */
struct callee {
    struct kernel *kernel; /* NULL: a pipeline */
    const struct ast_item *pipeline;
    struct scope *scope;     /* of the pipeline: its compile-time parameters */
    struct net_buffer *nets; /* of the pipeline: its ports in order of declaration */
    uint32_t net_count;
    const char *name, *title;
    struct span span;
    const struct kernel_port *in, *out;
    uint32_t in_count, out_count;
    struct variable **arguments;
    struct kx **argument_defaults;
    uint32_t argument_count;
};

struct instance {
    const struct ast_node *ast;
    struct callee callee;
    const char *name; /* the whole name */
    struct span span;
    struct kx **arguments;
    uint32_t importance;
    bool cost_declared;
    uint64_t cost_cycles;
    uint32_t node;      /* of a kernel */
    bool doubtful;      /* in a command list: a command that binds one of its ports was refused */
    uint32_t *in, *out; /* of a pipeline: the bound buffers, port by port */
};

/* A pipeline whose statements are being elaborated, and its use. */
struct frame {
    const struct frame *outer; /* NULL: the whole graph */
    const struct ast_item *pipeline;
    struct span span; /* of its use */
    struct variable *
        *variables; /* its arguments; their values are expressions over the graph's arguments */
    struct kx **values;
    uint32_t argument_count;
    const struct kernel_use *use; /* the use as messages show it, with the uses around it */
};

struct node_name {    /* counts how often a name was given to a node */
    const char *name; /* interned */
    struct span span; /* of the first node */
    uint64_t count;
};

/* The current round of a loop with a variable: `[value]` in the names of nodes. */
struct loop_round {
    const struct loop_round *outer;
    int64_t value;
};

/* An argument whose default is what an input knows. */
struct property_use {
    size_t argument; /* of the graph */
    const struct ast_expr *value;
};

struct elaboration {
    struct compile *cx;
    struct sema *sema;
    struct graph *graph;
    const struct frame *frame;
    const char *prefix;             /* `rx.` of the outer pipelines that are used as kernels */
    uint32_t importance;            /* default of instances */
    uint32_t depth;                 /* of nested pipelines */
    const struct loop_round *round; /* of the loops around, within the pipeline; NULL: none */
    bool is_top;                    /* the pipeline that is compiled: -D applies */
    bool overfull;                  /* a limit was reported: stop */
    bool incomplete;                /* a part was refused: there will be no graph */
    /* Buffers that a refused part may read or write: nothing is said of the ends that they lack. */
    VEC(uint32_t) doubtful;
    bool all_doubtful; /* it is not known which buffers a refused part names */
    VEC(struct property_use) properties;
    size_t end_errors; /* reported errors that leave no buffer without ends */
    uint32_t steps;
    uint32_t inner_count;         /* pipelines used as kernels */
    struct node_name *node_names; /* open addressing by pointer */
    size_t name_count, name_capacity;
    struct net_buffer loop_mark; /* its address marks the symbols of loop variables */
};

/* Declares a buffer or a port by its name; doubts it if the name was refused before, or stands for another one. */
void declare_net(struct elaboration *el, struct scope *scope, struct net_buffer *buffer);
/* The reader or the writer of a buffer may be a part that was refused. */
void doubt_buffer(struct elaboration *el, struct net_buffer *buffer);
/* `name` was refused as a buffer's: the nearest one may have been meant, or, with NULL, any. */
void doubt_nearest(struct elaboration *el, struct scope *scope, const char *nearest);
struct node_name *node_name_entry(struct elaboration *el, const char *name);
void elaborate_statements(struct elaboration *el, struct scope *scope, const struct ast_net *net);
void unknown_attribute(struct elaboration *el, const struct ast_attribute *a, const char *of,
                       const char *const *known, size_t count);
/* Reports an attribute that occurs twice in the list that begins with `first`. */
bool repeated_attribute(struct elaboration *el, const struct ast_attribute *first,
                        const struct ast_attribute *a);
/* The named buffer, or NULL after an error. */
struct net_buffer *elaborate_find_buffer(struct elaboration *el, struct scope *scope,
                                         struct ast_name name);

/* ---- parameter.c ---- */

/* The buffers that are bound to the ports of an instance: a written list, one packet type (a
 * chain), or ports. */
struct bound_end {
    const struct ast_expr *list;
    const struct type *type;         /* NULL: `list` is used, or nothing is bound */
    struct span span;                /* with `type`, `ports` */
    const struct kernel_port *ports; /* those of the launcher of a child; or NULL */
    uint32_t port_count;
};
struct bound_ports {
    struct bound_end in, out;
};
/* The values of the compile-time parameters of an instance of something with `signature`: those in
 * `<...>`, and omitted types as they follow from the bound buffers.  NULL after an error; *count
 * gets their number. */
struct compile_argument *elaborate_parameters(struct elaboration *el, struct scope *scope,
                                              const struct ast_node *node,
                                              const struct ast_signature *signature,
                                              const struct bound_ports *bound, size_t *count);

/* ---- define_option.c ---- */

/* The values for the compiled pipeline, as -D gives them.  NULL after an error; *count gets their
 * number. */
struct compile_argument *defined_parameters(struct elaboration *el, struct scope *scope,
                                            const struct ast_signature *signature, size_t *count);

/* Evaluates `[a][b]`: false after an error. */
bool array_dims(struct elaboration *el, struct scope *scope, const struct ast_expr *dims,
                struct net_buffer *buffer);
/* `band`, `band[3]`, `w[1][4]`: the name of one element of an array, by its flat index. */
const char *element_name(struct elaboration *el, const struct net_buffer *buffer, uint64_t flat);
/* An attribute of a port of a pipeline: its depth or its shape. False after an error. */
bool port_attribute(struct elaboration *el, struct scope *scope, const struct ast_attribute *a,
                    struct graph_buffer *model);
/* The depth and the shape that the attributes of a port of a pipeline declare. */
void port_attributes(struct elaboration *el, struct scope *scope, const struct ast_port *port,
                     struct graph_buffer *model);
/* `policy P`: false after an error. */
bool policy_attribute(struct elaboration *el, const struct ast_attribute *a,
                      enum graph_policy *policy);

/* ---- subpipeline.c: pipelines that are used as kernels ---- */

/* Fills the callee for a pipeline with its compile-time parameters.  False after an error. */
bool inner_callee(struct elaboration *el, const struct ast_item *pipeline, struct scope *parameters,
                  struct callee *callee);
/* The same expression over the arguments of the whole graph; NULL after an error. */
struct kx *inner_argument(struct elaboration *el, struct kx *argument);
/* The use of `item` by `node`, as messages show it, if `item` has compile-time parameters, or is
 * in the library and `node` is not. Otherwise the use of the outer pipeline. */
const struct kernel_use *elaborate_use(struct elaboration *el, const struct ast_node *node,
                                       const struct ast_item *item, const char *title);
/* Adds this use to the diagnostics in `item` that were reported after the first `kept` ones. */
void elaborate_trace(struct elaboration *el, const struct kernel_use *use, size_t kept);
/* Adds the nodes and buffers of the pipeline to the graph. Requires: every port is bound. */
void inner_elaborate(struct elaboration *el, const struct instance *instance);

/* The visible buffer, or kernel, with the nearest name, or NULL. */
const char *nearest_buffer(struct elaboration *el, struct scope *scope, const char *name);
const char *nearest_kernel(struct elaboration *el, struct scope *scope, const char *name);
/* shape_attribute.c: `rows W`, `frame WxH`; false after an error. */
bool is_shape_attribute(const struct ast_attribute *a);
bool shape_attribute(struct elaboration *el, struct scope *scope, const struct ast_attribute *a,
                     struct graph_shape *shape);
/* ---- the parts, for command_list.c; each reports, and returns false if it fails ---- */

void declare_port(struct elaboration *el, struct scope *scope, const struct ast_port *port);
void declare_buffer(struct elaboration *el, struct scope *scope, const struct type *type,
                    const struct ast_buffer *ast);
bool buffer_attribute(struct elaboration *el, struct scope *scope, const struct ast_attribute *a,
                      const struct type *type, struct graph_buffer *model);
void pipeline_attributes(struct elaboration *el, const struct ast_signature *signature);
/* Reports the buffers that lack an end, but for doubtful ones. */
void check_all_ends(struct elaboration *el);
/* An instance whose ports are not bound yet: a kernel's is in the graph. */
bool add_instance(struct elaboration *el, struct scope *scope, const struct ast_node *node,
                  const struct bound_ports *bound, const struct ast_expr *arguments,
                  struct instance *instance);
/* Applies the attributes of instance->ast. */
bool instance_attributes(struct elaboration *el, struct scope *scope, struct instance *out);
/* Binds one element of a port of a kernel to a buffer that is no array. */
bool connect_element(struct elaboration *el, const struct instance *instance, bool is_out,
                     uint32_t port, uint32_t element, const struct net_buffer *net,
                     struct span span);

void elaborate_chain(struct elaboration *el, struct scope *scope, const struct ast_net *net);

#endif
