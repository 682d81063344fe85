/* SPDX-License-Identifier: MIT */
/*
 * symbolic: the computation of a firing as a graph of operations on the packets that it sees.
 *
 * A *value* is a constant, or a node of the graph: an operation on values.  Equal nodes are one node, so equal
 * values are computed once.  Operations on constants are evaluated.  Operations that change no bit of any result
 * are left out:
 *
 *     x * 1, x / 1, x + -0.0, x - +0.0     x
 *     fma(0, c, x)                         x + the product, a zero with a known sign
 *     x + +0.0                             x, if x cannot be -0.0, the only number that the sum changes
 *     ((x + +0.0) + y) + +0.0              (x + y) + +0.0: the inner +0.0 can only change the sign of a zero,
 *                                          and the outer +0.0 makes this zero positive anyway
 *     x + (y + +0.0)                       x + y, if x cannot be -0.0: then the sum cannot be -0.0, either,
 *                                          with either sign of a zero y
 *     integers: x + 0, x * 1, x * 0, x & 0, x | 0, x ^ 0, x << 0 ...
 *
 * The language does not define the sign and payload of a NaN, so they may differ.  It rounds to nearest, ties to
 * even.
 *
 * Bodies are executed with unknown packets.  The control flow must depend on constants only, and nothing may
 * fault.  A selected value (`c ? a : b`, min, max) may depend on packets.
 */
#ifndef PIPEC_SYMBOLIC_H
#define PIPEC_SYMBOLIC_H

#include <string.h>

#include "compiler/ir/arith.h"
#include "compiler/context/context.h"

/* ---- values ---- */

/* An operation has the number of the corresponding expression. */
enum sym_kind {
    SYM_NEGATE = KX_NEGATE,
    SYM_COMPLEMENT = KX_COMPLEMENT,
    SYM_NOT = KX_NOT,
    SYM_BINARY = KX_BINARY,        /* op */
    SYM_COMPARE = KX_COMPARE,      /* op */
    SYM_SELECT = KX_SELECT,        /* operands[0] ? operands[1] : operands[2] */
    SYM_CONVERT = KX_CONVERT,      /* to `type` */
    SYM_BUILTIN = KX_BUILTIN,      /* builtin, of one to three operands */
    SYM_PACKET = KX_AGGREGATE + 1, /* scalar `component` of packet `packet` of stream `stream` */
    SYM_ARGUMENT,                  /* run-time argument number `stream` */
    SYM_TABLE,                     /* item `packet` of the region's table */
    SYM_UNKNOWN,                   /* an unknown value, number `packet` */
};

/* A scalar_value whose type is `type + SYM_NODE` stands for node `bits`; else it is a constant. */
enum { SYM_NODE = 64, SYM_OPERANDS = 3 };
typedef struct scalar_value sym;

struct sym_node {
    enum sym_kind kind;
    enum kx_op op;
    enum builtin builtin;
    enum scalar_type type;
    uint32_t operand_count;
    sym operands[SYM_OPERANDS];
    uint64_t packet;
    uint32_t stream, component;
    bool settled;          /* its sums contain no `+ +0.0`: see above */
    bool never_minus_zero; /* it cannot be -0.0; false: unknown */
};

struct symbols {
    struct arena *arena;
    VEC(struct sym_node) nodes; /* operands before operations */
    uint32_t *slots;            /* a hash table of nodes, numbers from 1 */
    size_t slot_count;
    size_t node_limit;
    uint64_t steps, step_limit;
    const char *reason; /* NULL, or the reason of a failure; then no value is valid */
    /* Operations that depend on packets are not simplified, so computations that differ only in constants stay alike. */
    bool literal;
};

struct symbols symbols_begin(struct arena *scratch);

static inline bool sym_is_constant(sym value)
{
    return (int)value.type < SYM_NODE;
}
static inline enum scalar_type sym_type(sym value)
{
    return sym_is_constant(value) ? value.type : (enum scalar_type)((int)value.type - SYM_NODE);
}
static inline const struct sym_node *sym_node(const struct symbols *s, sym value)
{
    return &s->nodes.items[value.bits];
}

/* No scalar type has such a number, so the bits are copied. */
static inline sym sym_of_node(size_t number, enum scalar_type type)
{
    const unsigned marked = (unsigned)type + SYM_NODE;
    sym value = {.bits = number};
    _Static_assert(sizeof value.type == sizeof marked, "an enumeration has the size of an int");
    memcpy(&value.type, &marked, sizeof marked);
    return value;
}

sym sym_packet(struct symbols *s, enum scalar_type type, uint32_t stream, uint64_t packet,
               uint32_t component);
sym sym_argument(struct symbols *s, enum scalar_type type, uint32_t number);
sym sym_table(struct symbols *s, enum scalar_type type, uint64_t item);
/* An unknown value, equal to no other. */
sym sym_unknown(struct symbols *s, enum scalar_type type);
/* The value of operation n, which has kind, op, builtin, type and operands. */
sym sym_operation(struct symbols *s, struct sym_node n);
sym sym_binary(struct symbols *s, enum kx_op op, enum scalar_type type, sym left, sym right);

/* ---- bodies ---- */

/* A kernel with the values of its arguments and tables. */
struct symbolic_kernel {
    const struct kernel *kernel;
    const sym *const *arguments; /* the scalars of each */
    const sym *const *tables;    /* by place in kernel->tables: all scalars, flattened */
};

/* Scalar `component` of packet `packet`, counted from the firing's first one, of element `element` of in-port `port`. */
typedef sym symbolic_read(void *data, uint32_t port, uint64_t element, uint64_t packet,
                          uint32_t component);

struct symbolic_ports {
    symbolic_read *read;
    void *data;
    /* By out-port: room for all scalars that a firing writes, elements one after the other. */
    sym *const *out;
};

/* Executes `init`.  Fills `tables` and `states` with the scalars of tables and state.  `states` NULL: fails if the kernel
 * has state.  False: s->reason, a phrase without a subject ("is chosen by data"). */
bool symbolic_init(struct symbols *s, const struct kernel *kernel, const sym *const *arguments,
                   const sym *const **tables, const sym *const **states);
/* Fills `tables` with unknown values. */
void symbolic_unknown_tables(struct symbols *s, const struct kernel *kernel,
                             const sym *const **tables);
/* Executes one firing, whose rates are exact and the same every time.  False: s->reason. */
bool symbolic_fire(struct symbols *s, const struct symbolic_kernel *kernel,
                   const struct symbolic_ports *ports);

#endif
