/* SPDX-License-Identifier: MIT */
/*
 * compose_internal: the interfaces between the files of optimize/compose; private to them.  One
 * header because all of them work on one struct composer; its sections are the files.
 *
 *   compose.c        a group: its members, the buffers inside and outside, the kernel, the node
 *   compose_edge.c   buffers inside: firings ahead, the form of a buffer, the places of packets
 *   compose_unroll.c unrolls loops that name ports
 *   compose_body.c   clones the members' statements
 *   compose_zip.c    joins loops with the same rounds
 *   compose_count.c  replaces state that counts firings
 *   compose_stream.c joins a reader's loop with the firings of the writer
 *   compose_tail.c   the composite's `finish`: a part of an iteration at the end of the stream
 *   compose_port.c   reads and writes packets of a member's ports
 *   compose_tree.c   builds small typed trees
 *   compose_query.c  answers questions about kernels
 */
#ifndef PIPEC_COMPOSE_INTERNAL_H
#define PIPEC_COMPOSE_INTERNAL_H

#include "compiler/optimize/compose/compose.h"

/* ---- compose_query.c ---- */

/* The number of expressions in the list, with calls expanded. */
uint64_t compose_size_of(const struct ks *first);

/* The declaration of the loop's variable; NULL if the head declares nothing or something else. */
const struct ks *compose_counter_of(const struct ks *loop);
/* `first` is the body of a loop: does it contain a `continue` of this loop? */
bool compose_continues(const struct ks *first);

/* ---- groups ---- */

struct member;

/* A buffer inside.  The packets of an iteration have numbered places: first the `initial` packets that are there when
 * the iteration begins, then the written ones, in order. */
struct edge {
    uint32_t buffer;
    const struct type *type;
    enum compose_form form;
    struct member *writer,
        *reader; /* reader: of INLINED only; its firing stands where a packet is written */
    uint64_t initial, push;
    uint64_t places;
    bool zeroed; /* the writer may leave packets unwritten; these are zero */
    struct variable *
        *packets; /* by place: of SCALARS, and of a small STATE; NULL until written or read */
    struct variable *array; /* all places; or NULL */
    struct variable **rest; /* `state`, by place below `initial`; NULL: rest_array, or none */
    struct variable *rest_array;
    bool streamed;         /* SCALARS of one firing: compose_stream.c */
    struct variable *have; /* in the composite's finish: the number of packets in the edge, */
    uint64_t have_max;     /* and its maximum */
};

/* An element of an in-port or out-port of a member. */
struct member_input {
    struct edge *edge; /* NULL: outside */
    uint32_t port;     /* outside: in-port of the composite */
    const struct graph_input *end;
};

struct member_output {
    struct edge *edge; /* NULL: no member reads it */
    uint32_t port;     /* out-port of the composite; GRAPH_NONE: only members read it */
    const struct graph_output *end;
    bool counted;             /* the place of an appended packet is known only at run time */
    uint64_t place;           /* of the next appended packet, in the firing that is being cloned */
    struct variable *counter; /* if `counted`: the same, at run time */
};

/* A port of a member with all its elements. */
struct member_port {
    uint32_t first;          /* index of element 0 in the member's inputs or outputs */
    bool varying_element;    /* some access computes the element */
    bool varying_place;      /* some access computes the place of the packet */
    struct variable *joined; /* if varying_element: packets of all elements in the present firing */
    struct variable *
        counters; /* out-ports, likewise: packets appended so far, by element; NULL: one for each element */
};

/* A state variable that counts firings: before firing n it is initial + n x step. */
struct counter {
    const struct ks
        *step_at; /* the statement that adds the step; NULL: the variable is no counter */
    struct scalar_value initial, step;
};

struct member {
    uint32_t node;
    const struct graph_node *of;
    const struct kernel *kernel;
    const struct ks *body; /* of a firing, after compose_unroll */
    uint64_t firings, ahead, fired;
    uint64_t least; /* if inlined, an iteration has `least` to `firings` firings */
    bool inlined, unrolled;
    uint32_t step_count;
    struct member_input *inputs;
    struct member_output *outputs;
    uint32_t input_count, output_count;
    struct member_port *in, *out;
    /* The variables of the composite.  arguments: NULL for constants; states: NULL for counters. */
    struct variable **tables, **states, **arguments;
    struct counter *counters; /* by state */
    bool stateful;            /* some state variable is no counter */
    struct edge *streams;     /* the streamed edge that the member writes or reads; or NULL */
};

struct composer {
    struct compile *cx;
    const struct graph *graph;
    const struct compose_group *group;
    struct kernel *kernel;
    VEC(struct member) members;
    VEC(struct edge) edges;
    VEC(struct graph_input) inputs; /* of the composite, by in-port */
    VEC(struct graph_output) outputs;
    VEC(struct kernel_port) in, out;
    VEC(struct kx *) arguments;
    const char *reason;            /* why the group cannot be one kernel; or NULL */
    struct ks *declarations;       /* the statements before all firings, */
    struct ks **prologue;          /* and the end of this list */
    const struct type *index_type; /* i64 */
};

/* Sets c->reason.  Returns false. */
bool compose_fail(struct composer *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct member *compose_member_of(struct composer *c, uint32_t node);

/* ---- compose_edge.c ---- */

/* Finds the firings ahead, proves that each packet is written before it is read, and chooses the form of each edge. */
bool compose_settle_edges(struct composer *c);
/* Append the statements before and after the firings of an iteration. */
void compose_edges_begin(struct composer *c, struct ks ***at);
void compose_edges_end(struct composer *c, struct ks ***at);
struct variable *compose_edge_packet(struct composer *c, struct edge *edge, uint64_t place);

/* ---- compose_unroll.c ---- */

/* The body of the member's kernel.  Loops that name its ports are unrolled if the result stays small.
 * Requires the edges. */
const struct ks *compose_unroll(struct composer *c, const struct member *m);

/* ---- compose_body.c ---- */

/* A firing that is being cloned. */
struct firing {
    struct composer *c;
    struct member *m;
    uint64_t number;               /* the number of the firing in the iteration is this, */
    struct variable *round;        /* plus this variable unless it is NULL */
    const struct variable *packet; /* if inlined: holds the packet that is read */
    struct variable **locals;      /* the composite's locals, by index in the member */
    bool outside;      /* false: a firing ahead, which writes nothing to outside buffers */
    bool *counted;     /* by state: the firing has already moved this counter */
    uint64_t streamed; /* number of the streamed packet that x[i] reads */
    uint32_t depth;    /* enclosing statements that may execute their body more or less than once */
};

/* Appends `count` firings from `number` on. */
void compose_firings(struct composer *c, struct member *m, uint64_t number, uint64_t count,
                     bool outside, struct ks ***at);
/* Appends one firing. */
void compose_firing(struct firing *f, struct ks ***at);
/* The parts of a firing: the declarations before its statements, one statement, a copy of a list with new variables. */
void compose_firing_begin(struct firing *f, struct ks ***at);
void compose_statement(struct firing *f, const struct ks *s, struct ks ***at);
void compose_copy(struct firing *f, const struct ks *first, struct ks ***at);
void compose_init(struct composer *c, struct member *m, struct ks ***at);
void compose_finish(struct firing *f, struct ks ***at);
struct kx *compose_clone(struct firing *f, const struct kx *x);

/* ---- compose_count.c ---- */

/* Fills m->counters and m->stateful. */
void compose_find_counters(struct composer *c, struct member *m);
/* The counter that replaces the state variable, or NULL. */
const struct counter *compose_counter(const struct member *m, const struct variable *state);
/* The value of the counter at the present place of the firing. */
struct kx *compose_count_value(struct firing *f, const struct kx *x);
/* True if the statement only moves a counter; sets f->counted. */
bool compose_moves_counter(struct firing *f, const struct ks *s);

/* ---- compose_stream.c ---- */

/* Does the reader read the edge's packets one by one, in order, in a loop?  If so, marks the edge, writer and reader. */
bool compose_find_stream(struct composer *c, struct edge *edge);
/* Appends all firings of the writer and of the reader. */
void compose_stream(struct composer *c, struct edge *edge, struct ks ***at);

/* ---- compose_tail.c ---- */

/* If some member has a `finish`, builds the kernel's: the firings of a part of an iteration, and the members' `finish`.
 * Requires the body and the ports. */
bool compose_tail(struct composer *c);

/* ---- compose_zip.c ---- */

/* Joins loops of the kernel's body. */
void compose_zip(struct composer *c);

/* ---- compose_port.c ---- */

struct kx *compose_read(struct firing *f, const struct kx *x);
struct kx *compose_left_of(struct firing *f, const struct kx *x);
struct kx *compose_read_window(struct firing *f, const struct kx *x);
void compose_append(struct firing *f, const struct ks *s, struct ks ***at);
void compose_set(struct firing *f, const struct ks *s, struct ks ***at);
/* Append the statements that the ports need before and after a firing. */
void compose_ports_begin(struct firing *f, struct ks ***at);
void compose_ports_end(struct firing *f, struct ks ***at);

/* ---- compose_tree.c ---- */

struct kx *compose_integer(struct composer *c, uint64_t value);
struct kx *compose_scalar(struct composer *c, struct scalar_value value, struct span span);
struct kx *compose_firing_number(struct composer *c, const struct type *type, struct span span);
struct kx *compose_convert(struct composer *c, const struct type *type, struct kx *x);
struct kx *compose_compare(struct composer *c, enum kx_op op, struct kx *left, struct kx *right);
struct kx *compose_select(struct composer *c, struct kx *test, struct kx *yes, struct kx *no);
struct kx *compose_left(struct composer *c, struct span span); /* of in-port 0 */
struct kx *compose_variable(struct composer *c, const struct variable *v, struct span span);
struct kx *compose_item(struct composer *c, struct kx *array, struct kx *index);
/* index + offset, as i64. */
struct kx *compose_offset(struct composer *c, struct kx *index, uint64_t offset);
struct kx *compose_binary(struct composer *c, enum kx_op op, struct kx *left, struct kx *right);
struct kx *compose_as_index(struct composer *c, struct kx *x);
struct kx *compose_aggregate(struct composer *c, const struct type *type, struct kx **items,
                             uint64_t count, struct span span);
struct variable *compose_local(struct composer *c, const char *name, const struct type *type,
                               struct span span);
struct variable *compose_state(struct composer *c, const char *name, const struct type *type,
                               struct span span);
struct ks *compose_put(struct composer *c, struct ks ***at, enum ks_kind kind, struct span span);
void compose_declare(struct composer *c, struct ks ***at, struct variable *v, struct kx *value);
void compose_assign(struct composer *c, struct ks ***at, struct kx *to, struct kx *value);
/* Appends the declaration before all firings.  `unset`: it needs no initial value. */
void compose_declare_first(struct composer *c, struct variable *v, bool unset);
/* v++ */
void compose_count(struct composer *c, struct ks ***at, const struct variable *v);
/* for (i64 r = 0; r < rounds; r++).  Returns r.  *body: where to append the statements of a round. */
struct variable *compose_loop(struct composer *c, struct ks ***at, uint64_t rounds,
                              struct span span, struct ks ***body);
struct variable *compose_loop_to(struct composer *c, struct ks ***at, struct kx *rounds,
                                 struct span span, struct ks ***body);

#endif
