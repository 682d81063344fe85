/* SPDX-License-Identifier: MIT */
/*
 * symbolic: what a firing computes, as a graph of operations on the packets that it sees.
 *
 * A *value* is a constant, or a node of the graph: an operation on values.  Equal nodes are one, so
 * what is computed twice is computed once; operations on constants are done, and those that change
 * no bit of any result are left out:
 *
 *     x * 1, x / 1, x + -0.0, x - +0.0     x
 *     fma(0, c, x)                         x + the product, a zero whose sign is known
 *     x + +0.0                             x, where x cannot be -0.0: as -0.0 is the only number
 *                                          that it changes
 *     ((x + +0.0) + y) + +0.0              (x + y) + +0.0: what the inner one changes, the sign of a
 *                                          zero, the outer one makes the same again
 *     x + (y + +0.0)                       x + y, where x cannot be -0.0: nor can then the sum, whatever
 *                                          the sign of a zero y
 *     integers: x + 0, x * 1, x * 0, x & 0, x | 0, x ^ 0, x << 0 ...
 *
 * The sign and payload of a NaN are no part of the language, so they may differ.  Rounding is to the
 * nearest, ties to even, as the language has it.
 *
 * Bodies are executed with the packets of the in-ports unknown: the control flow has to follow from
 * constants alone, and nothing may fault.  A value that is chosen (`c ? a : b`, min, max) may depend
 * on packets.
 */
#ifndef PIPEC_SYMBOLIC_H
#define PIPEC_SYMBOLIC_H

#include <string.h>

#include "compiler/ir/arith.h"
#include "compiler/context/context.h"

/* ---- values ---- */

/* Operations have the numbers of their expressions. */
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
    SYM_UNKNOWN,                   /* a value of which nothing is known, number `packet` */
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
    bool settled;          /* no `+ +0.0` stands along its sums: see above */
    bool never_minus_zero; /* as far as is known */
};

struct symbols {
    struct arena *arena;
    VEC(struct sym_node) nodes; /* operands before operations */
    uint32_t *slots;            /* a hash table of nodes, numbers from 1 */
    size_t slot_count;
    size_t node_limit;
    uint64_t steps, step_limit;
    const char *reason; /* not NULL: what made it fail; nothing is to be used */
    /* What depends on packets is left as it is written: what is computed alike stays so, whatever the constants. */
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

/* No scalar type has such a number: it is kept as bits. */
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
/* A value of which nothing is known, equal to no other. */
sym sym_unknown(struct symbols *s, enum scalar_type type);
/* The operation that is described; `n` has kind, op, builtin, type and operands. */
sym sym_operation(struct symbols *s, struct sym_node n);
sym sym_binary(struct symbols *s, enum kx_op op, enum scalar_type type, sym left, sym right);

/* ---- bodies ---- */

/* A kernel with what is known of its arguments and tables. */
struct symbolic_kernel {
    const struct kernel *kernel;
    const sym *arguments;     /* by number */
    const sym *const *tables; /* by place in kernel->tables: all scalars, flattened */
};

/* Scalar `component` of packet `packet` of in-port `port`, `element` of it, as this firing sees it. */
typedef sym symbolic_read(void *data, uint32_t port, uint64_t element, uint64_t packet,
                          uint32_t component);

struct symbolic_ports {
    symbolic_read *read;
    void *data;
    /* By out-port, elements one after the other: room for what a firing appends, all scalars. */
    sym *const *out;
};

/* Executes `init`; `tables` takes the tables' scalars, `states`, if not NULL, those of the state; where
 * it is NULL, state is refused.  False: s->reason, a phrase without a subject ("is chosen by data"). */
bool symbolic_init(struct symbols *s, const struct kernel *kernel, const sym *arguments,
                   const sym *const **tables, const sym *const **states);
/* Tables of which nothing is known. */
void symbolic_unknown_tables(struct symbols *s, const struct kernel *kernel,
                             const sym *const **tables);
/* Executes one firing, whose rates are exact and the same every time.  False: s->reason. */
bool symbolic_fire(struct symbols *s, const struct symbolic_kernel *kernel,
                   const struct symbolic_ports *ports);

#endif
