/* SPDX-License-Identifier: MIT */
/*
 * compose_internal: what the files of composition share.  Private to optimize/compose/compose*.
 *
 *   compose.c        a group: its members, the buffers inside and outside, the kernel, the node
 *   compose_edge.c   buffers inside: how far ahead, in which form, where a packet is
 *   compose_unroll.c loops that name ports, written out
 *   compose_body.c   the members' statements, cloned
 *   compose_zip.c    loops with the same rounds become one
 *   compose_count.c  state that counts firings is none
 *   compose_stream.c a loop over what another member writes meanwhile
 *   compose_tail.c   what a part of an iteration makes when the stream ends
 *   compose_port.c   packets of a member's ports, wherever they are kept
 *   compose_tree.c   small typed trees
 *   compose_query.c  questions about kernels
 */
#ifndef PIPEC_COMPOSE_INTERNAL_H
#define PIPEC_COMPOSE_INTERNAL_H

#include "compiler/optimize/compose/compose.h"

/* ---- compose_query.c ---- */

/* Expressions, calls expanded. */
uint64_t compose_size_of(const struct ks *first);

/* The declaration of the loop's variable, where its head declares nothing else; or NULL. */
const struct ks *compose_counter_of(const struct ks *loop);
/* Some `continue` is of the loop whose body that is. */
bool compose_continues(const struct ks *first);

/* ---- groups ---- */

struct member;

/* A buffer inside.  Its packets of an iteration have places: first `initial` that are there when it
 * begins, then those written, in order. */
struct edge {
    uint32_t buffer;
    const struct type *type;
    enum compose_form form;
    struct member *writer, *reader; /* reader: INLINED, whose firing stands where it is written */
    uint64_t initial, push;
    uint64_t places;
    bool zeroed;               /* packets that nothing writes are zero */
    struct variable **packets; /* by place: SCALARS, and STATE of few; NULL until written or read */
    struct variable *array;    /* of all places; NULL: there is none */
    struct variable **rest;    /* `state`: by place below `initial`; NULL: rest_array, or none */
    struct variable *rest_array;
    bool streamed;         /* SCALARS of one firing: compose_stream.c */
    struct variable *have; /* in the composite's finish: packets that are there, */
    uint64_t have_max;     /* at most */
};

/* An element of an in-port or out-port of a member. */
struct member_input {
    struct edge *edge; /* NULL: outside */
    uint32_t port;     /* outside: in-port of the composite */
    const struct graph_input *end;
};

struct member_output {
    struct edge *edge; /* NULL: nobody reads it inside */
    uint32_t port;     /* out-port of the composite; GRAPH_NONE: nobody reads it outside */
    const struct graph_output *end;
    bool counted;             /* the place of an appended packet is known when executing only */
    uint64_t place;           /* in the firing that is being cloned: of the next appended packet */
    struct variable *counter; /* where `counted`, in that firing */
};

/* A port of a member, all elements. */
struct member_port {
    uint32_t first;          /* element 0 among the member's inputs, outputs */
    bool varying_element;    /* some access names an element that is not constant */
    bool varying_place;      /* in-ports: some access names a packet that is not constant */
    struct variable *joined; /* varying_element: packets of all elements, in the present firing */
    struct variable
        *counters; /* out-ports, likewise: appended so far, by element; NULL: one each */
};

/* A state variable that counts firings: before firing n it is initial + n x step. */
struct counter {
    const struct ks *step_at; /* NULL: it is none */
    struct scalar_value initial, step;
};

struct member {
    uint32_t node;
    const struct graph_node *of;
    const struct kernel *kernel;
    const struct ks *body; /* of a firing; compose_unroll */
    uint64_t firings, ahead, fired;
    uint64_t least; /* inlined: at least so many firings an iteration, `firings` at most */
    bool inlined, unrolled;
    uint32_t step_count;
    struct member_input *inputs;
    struct member_output *outputs;
    uint32_t input_count, output_count;
    struct member_port *in, *out;
    struct variable **tables, **states,
        **arguments; /* of the composite; arguments: NULL where constant; states: NULL where counters */
    struct counter *counters; /* by state */
    bool stateful;            /* some state is no counter */
    struct edge
        *streams; /* streamed: what the member writes, and is fired by the reader; or reads */
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
    const char *reason;            /* why not; NULL so far */
    struct ks *declarations;       /* what stands before all firings */
    struct ks **prologue;          /* where the next of them goes */
    const struct type *index_type; /* i64 */
};

/* False, with the reason. */
bool compose_fail(struct composer *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct member *compose_member_of(struct composer *c, uint32_t node);

/* ---- compose_edge.c ---- */

/* Finds the firings ahead, proves that a packet is written before it is read, and chooses forms. */
bool compose_settle_edges(struct composer *c);
/* Whether so many firings are written out one by one. */
bool compose_unrolls(const struct member *m);
/* What comes before the firings of an iteration, and behind them. */
void compose_edges_begin(struct composer *c, struct ks ***at);
void compose_edges_end(struct composer *c, struct ks ***at);
struct variable *compose_edge_packet(struct composer *c, struct edge *edge, uint64_t place);

/* ---- compose_unroll.c ---- */

/* The body of the member's kernel, or one that does the same and names its ports by constants where that
 * is not much longer.  Requires the buffers inside. */
const struct ks *compose_unroll(struct composer *c, const struct member *m);

/* ---- compose_body.c ---- */

/* A firing that is being cloned. */
struct firing {
    struct composer *c;
    struct member *m;
    uint64_t number;               /* of the iteration; */
    struct variable *round;        /* plus this one, NULL: 0 */
    const struct variable *packet; /* inlined: holds the packet that is read */
    struct variable **locals;      /* by index in the member */
    bool outside;                  /* what is written for outside counts: the firing is not ahead */
    bool *counted;                 /* by state that is a counter: the firing has counted itself */
    uint64_t streamed;             /* number of the streamed packet that x[i] is */
    uint32_t depth;                /* statements around that are not always executed once */
};

void compose_firings(struct composer *c, struct member *m, uint64_t number, uint64_t count,
                     bool outside, struct ks ***at);
/* The body of one firing. */
void compose_firing(struct firing *f, struct ks ***at);
/* The same in parts: what comes before the statements, one of them, and a copy of a list with variables of its own. */
void compose_firing_begin(struct firing *f, struct ks ***at);
void compose_statement(struct firing *f, const struct ks *s, struct ks ***at);
void compose_copy(struct firing *f, const struct ks *first, struct ks ***at);
void compose_init(struct composer *c, struct member *m, struct ks ***at);
void compose_finish(struct firing *f, struct ks ***at);
struct kx *compose_clone(struct firing *f, const struct kx *x);

/* ---- compose_count.c ---- */

/* Fills m->counters and m->stateful. */
void compose_find_counters(struct composer *c, struct member *m);
/* The state's counter, or NULL. */
const struct counter *compose_counter(const struct member *m, const struct variable *state);
/* What the counter holds at this place of the firing. */
struct kx *compose_count_value(struct firing *f, const struct kx *x);
/* The statement only moves a counter; notes that it has. */
bool compose_moves_counter(struct firing *f, const struct ks *s);

/* ---- compose_stream.c ---- */

/* Whether the reader takes the edge's packets one by one, in order, in a loop: then marks the three. */
bool compose_find_stream(struct composer *c, struct edge *edge);
/* All firings of the writer, and the reader's. */
void compose_stream(struct composer *c, struct edge *edge, struct ks ***at);

/* ---- compose_tail.c ---- */

/* Writes the kernel's finish, where some member has one: the firings of a part of an iteration, and the members'
 * finishes.  Requires the body and the ports. */
bool compose_tail(struct composer *c);

/* ---- compose_zip.c ---- */

/* Requires and changes the kernel's body. */
void compose_zip(struct composer *c);

/* ---- compose_port.c ---- */

struct kx *compose_read(struct firing *f, const struct kx *x);
struct kx *compose_left_of(struct firing *f, const struct kx *x);
struct kx *compose_read_window(struct firing *f, const struct kx *x);
void compose_append(struct firing *f, const struct ks *s, struct ks ***at);
void compose_set(struct firing *f, const struct ks *s, struct ks ***at);
/* Around a firing: what its ports need. */
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
/* Declares before all firings; `unset`: it is written before it is read. */
void compose_declare_first(struct composer *c, struct variable *v, bool unset);
/* v++ */
void compose_count(struct composer *c, struct ks ***at, const struct variable *v);
/* The same up to what a variable holds. */
struct variable *compose_loop_to(struct composer *c, struct ks ***at, struct kx *rounds,
                                 struct span span, struct ks ***body);
/* for (i64 r = 0; r < rounds; r++): returns r; *body: where the statements of a round go. */
struct variable *compose_loop(struct composer *c, struct ks ***at, uint64_t rounds,
                              struct span span, struct ks ***body);

#endif
