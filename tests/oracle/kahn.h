/* SPDX-License-Identifier: MIT */
/*
 * kahn: executes a .pipe program straight from its text, as Kahn's semantics have it: one thread, queues without end,
 * one firing at a time, every operation checked.  It shares no code with the compiler and the runtime, so what both say
 * is said twice; lang/reference.md is its only source.
 *
 *   kahn_lex.c, kahn_parse.c   text to trees, which nothing annotates but the evaluator
 *   kahn_types.c               types, and arithmetic on one scalar
 *   kahn_eval.c                expressions
 *   kahn_body.c                statements, functions, firings with work-items, launches
 *   kahn_graph.c               pipelines to nodes and channels
 *   kahn_run.c                 which nodes fire and end, which packets are left
 *   kahn_verdict.c             which fault counts
 *   kahn.c                     the command
 *
 * A program is expected to be one that pipec accepts.  A program that is wrong nevertheless, or not covered,
 * ends the process with KAHN_REFUSED and a message; a fault of the program with KAHN_FAULT.
 */
#ifndef TESTS_ORACLE_KAHN_H
#define TESTS_ORACLE_KAHN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KAHN_REFUSED = 3, KAHN_FAULT = 4, KAHN_STARVED = 5 }; /* exit statuses; 0: the run ended */

__attribute__((noreturn, format(printf, 2, 3))) void kahn_refuse(int line, const char *format, ...);
_Noreturn void kahn_fault(int line, const char *id);
struct node;
/* Does `what` end in kahn_fault?  It is in a `section` (init, finish), or in the firing that is due. */
bool kahn_faults(struct node *node, void (*what)(struct node *node), const char *section);
void *kahn_alloc(size_t bytes); /* zeroed; never NULL */

/* ---- trees ---- */

enum tree_kind {
    /* expressions; `a`, `b`, `c` are the operands from left to right */
    T_NAME,
    T_INT,
    T_FLOAT,
    T_UNARY,
    T_BINARY,
    T_SELECT,
    T_ASSIGN,
    T_STEP,
    T_INDEX,
    T_MEMBER,
    T_CALL,      /* `name`, arguments from `a` on */
    T_CONSTRUCT, /* type `d`, arguments from `a` on */
    T_CAST,      /* type `d` */
    T_COMMA,
    T_BRACES,
    T_FIELD,
    T_RANGE,
    T_REPEAT,
    T_DIMENSIONS,
    T_STRING,
    T_TYPE,       /* `name`, dimensions from `a` on */
    T_DECLARATOR, /* `name`, dimensions from `a` on, value `b` */
    T_ATTRIBUTE,  /* `name`, value `a`, `b`: of that port */
    /* statements */
    S_BLOCK, /* from `a` on */
    S_EMPTY,
    S_EXPRESSION,
    S_DECLARE, /* storage `op`, type `d`, declarators from `a` on */
    S_EMIT,    /* `a` <- `b` */
    S_IF,
    S_WHILE,
    S_DO,
    S_FOR, /* `a`; `b`; `c`; body `d` */
    S_SWITCH,
    S_CASE,
    S_DEFAULT,
    S_BREAK,
    S_CONTINUE,
    S_RETURN,
    S_STOP,
    S_INIT,
    S_FINISH,
    S_LAUNCH, /* T_CHILD `a`, arguments from `b` on; T_RANGE `c`: work-groups, the first one; the event is `d`'s name */
    T_CHILD, /* `name`, parameters from `a` on; or, without a name, `b` ? `c` : `d`, which are T_CHILD */
    /* nets */
    N_BUFFER, /* type `d`, declarators from `a` on; attributes in `c` of each */
    N_CHAIN,  /* nodes from `a` on */
    N_NODE, /* `name`, label `d`, parameters `a`, inputs `b`, outputs and arguments in `c` (T_BINDING) */
    T_BINDING, /* inputs from `a` on, outputs from `b` on, arguments from `c` on; flags: 1 there is an arrow */
    /* items */
    I_CONST,
    I_STRUCT,
    I_FUNCTION, /* result `d`, parameters (S_DECLARE) from `a` on, body `b` */
    I_KERNEL,   /* signature `a`, body `b`; flags: 1 a child */
    I_PIPELINE, /* signature `a`, nets `b` */
    T_SIGNATURE, /* parameters `a` (T_PARAMETER), ports `b` (T_PORT), arguments `c` (S_DECLARE), attributes `d` */
    T_PARAMETER, /* `name`; flags: 1 a type */
    T_PORT       /* `name`, dimensions `a`, attributes `b`, type `d`; flags: 1 an out-port */
};

enum { STORE_PLAIN, STORE_CONST, STORE_STATE, STORE_TABLE, STORE_LOCAL };
enum { SUFFIX_U = 1, SUFFIX_L = 2, SUFFIX_F = 4 };

struct type;
struct tree {
    enum tree_kind kind;
    int op, line;
    unsigned flags;
    const char *name; /* interned */
    struct tree *a, *b, *c, *d, *next;
    uint64_t integer;
    double number;
    const struct type *known; /* of an expression, once it has been asked for */
    bool library;             /* of an item: from lang/std */
};

const char *kahn_intern(const char *text, size_t length);
struct tree *kahn_clone(const struct tree *tree); /* with what follows it */

/* ---- text ---- */

enum token_kind { K_END, K_NAME, K_WORD, K_NUMBER, K_STRING, K_DIMENSIONS, K_SIGN };
struct token {
    enum token_kind kind;
    int line;
    const char *text; /* interned; of a string what it stands for */
    uint64_t integer;
    double number;
    unsigned suffix;
    bool is_float;
};
struct token *kahn_tokens(const char *text); /* ends with K_END */

/* Operators are their own text, interned by the lexer: these give small numbers. */
enum operator{
    OP_NONE,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_REM,
    OP_SHL,
    OP_SHR,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_LT,
    OP_GT,
    OP_LE,
    OP_GE,
    OP_EQ,
    OP_NE,
    OP_ANDAND,
    OP_OROR,
    OP_NEGATE,
    OP_PLUS,
    OP_NOT,
    OP_COMPLEMENT
};

/* The items of the file and of what it imports, the library's mathematics included.  `library` is the folder lang/. */
struct tree *kahn_program(const char *path, const char *library);

/* ---- types and scalars ---- */

enum scalar { BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, SCALARS };
enum type_kind {
    SCALAR,
    VECTOR,
    ARRAY,
    STRUCT,
    VOID,
    EXACT,
    LOOSE
}; /* EXACT, LOOSE: literals without a type, see kahn_eval.c */
struct field {
    const char *name;
    const struct type *type;
    size_t offset;
};
struct type {
    enum type_kind kind;
    enum scalar scalar;
    const struct type *element;
    uint64_t length;
    const char *name; /* of a struct */
    struct field *fields;
    size_t size, align;
};

const struct type *type_scalar(enum scalar scalar);
const struct type *type_vector(const struct type *element, uint64_t length);
const struct type *type_array(const struct type *element, uint64_t length);
const struct type *type_struct(const char *name, struct field *fields, uint64_t count);
const struct type *type_void(void), *type_exact(void), *type_loose(void);
bool type_builtin(const char *name, const struct type **type); /* "f32x4" */
bool scalar_is_float(enum scalar scalar), scalar_is_signed(enum scalar scalar);
unsigned scalar_bits(enum scalar scalar);

/* A scalar is its bits, integers extended to 64 with their sign, floats in the low bits. */
uint64_t scalar_load(enum scalar scalar, const unsigned char *from);
void scalar_store(enum scalar scalar, unsigned char *to, uint64_t bits);
uint64_t scalar_convert(uint64_t bits, enum scalar from, enum scalar to);
uint64_t scalar_of_double(double value, enum scalar to);
uint64_t scalar_binary(enum operator op, enum scalar scalar, uint64_t a, uint64_t b,
                       int line); /* comparisons too */
uint64_t scalar_negate(enum scalar scalar, uint64_t a);
/* NULL: no such function.  `arguments` are of the one type `scalar`; *result gets the type of what is given. */
bool scalar_builtin(const char *name, enum scalar scalar, const uint64_t *arguments,
                    uint64_t *value, enum scalar *result);
void value_canonical(const struct type *type,
                     unsigned char *at); /* every NaN becomes the canonical one */

/* ---- values, names, frames ---- */

struct value {
    const struct type *type;
    uint64_t bits;     /* of a scalar */
    unsigned char *at; /* of anything else: valid until the statement ends */
};

enum binding_kind { B_VARIABLE, B_EXACT, B_TYPE, B_IN, B_OUT, B_EVENT };
struct binding {
    enum binding_kind kind;
    const char *name;
    const struct type *type;
    unsigned char *at;
    bool owned; /* freed with its scope */
    __int128 exact;
    uint32_t port;
    struct launch *event;
};

struct frame { /* the names that a body sees, the innermost last */
    struct binding *bindings;
    size_t count, room;
    bool library;          /* the body is of the library */
    struct firing *firing; /* NULL in functions and constants */
    int32_t item[3], work_group, work_groups;
    bool ended;
    unsigned char *result; /* of a function */
    const struct type *result_type;
    int depth;
};

void frame_bind(struct frame *frame, struct binding binding);
struct binding *frame_find(struct frame *frame, const char *name);
void frame_drop(struct frame *frame, size_t count); /* the bindings after the first `count` */

struct tree *kahn_item(const char *name, bool from_library); /* NULL: none */
struct binding *kahn_constant(const char *name, bool from_library);
const struct type *kahn_type(struct frame *frame, const struct tree *type, const struct tree *dims);

const struct type *kind_of(struct frame *frame, struct tree *e);
struct value eval(struct frame *frame, struct tree *e);
struct value eval_to(struct frame *frame, struct tree *e, const struct type *type); /* converted */
void eval_into(struct frame *frame, struct tree *e, const struct type *type,
               unsigned char *to); /* braces too */
bool eval_truth(struct frame *frame, struct tree *e);
__int128 eval_exact(struct frame *frame, struct tree *e); /* a compile-time integer */
void value_store(struct value value, unsigned char *to);

size_t scratch_mark(void);
void scratch_release(size_t mark);
unsigned char *scratch(size_t bytes);

/* ---- kernels and firings ---- */

struct bytes { /* packets one after the other */
    unsigned char *at;
    size_t count, room; /* in packets */
};
void bytes_append(struct bytes *bytes, size_t width, const unsigned char *packet);

struct channel {
    const char *name;
    const struct type *type;
    struct bytes packets;  /* all that were ever written */
    size_t initial, depth; /* depth: 0 none declared */
    bool closed, outer_in, outer_out;
    bool varies;          /* firings of one phase have appended different numbers of packets */
    uint64_t *appended;   /* by phase of the writer, 1 more; 0: no firing yet */
    uint64_t row, height; /* 0: none */
    struct node *writer;
    struct end *readers;
};

struct end { /* of a channel, at a reader */
    struct channel *channel;
    struct node *node;
    size_t at;
    bool lacks;       /* the node is held, and needs a packet of this one */
    struct end *next; /* reader of the same channel */
};

enum { BORDER_CLAMP, BORDER_MIRROR, BORDER_WRAP, BORDER_ZERO };
struct rate {
    uint64_t low, high;
    bool declared;
};
struct port {
    const char *name;
    const struct type *type;
    uint64_t arity;
    bool is_array, out;
    uint64_t *pop, *peek; /* one for each phase */
    struct rate *push;
    uint32_t window_width, window_height; /* 0: none */
    int border;
    uint32_t first; /* of its elements among the ends or the channels of the node */
};

struct node {
    const char *name;
    struct tree *signature, *body; /* of its own */
    bool library, ended, faulted, fed, alive;
    bool stopped; /* by `stop`: its finish finds nothing left, and nothing is left over */
    bool
        held; /* it needs a packet that a fault keeps back, and nothing else: likewise it keeps back its own */
    int fault_line;
    const char *fault_id, *fault_section; /* section NULL: in the firing that is due */
    uint64_t share,
        of; /* firings in an iteration of its exact part: share / of; share 0: not known yet */
    uint32_t part;
    bool wanted;
    uint64_t phases, firings;
    uint32_t in_count, out_count, port_count, in_elements, out_elements;
    struct port *ports; /* in-ports first */
    struct end *ends;
    struct channel **outs;
    struct binding *names; /* parameters, arguments, state and tables */
    size_t name_count;
    uint32_t group[3];
    uint64_t launches, nesting, total; /* UINT64_MAX: no bound */
    uint64_t groups;                   /* most of a launch; UINT64_MAX: `groups` was not written */
    struct node *next;
};

struct firing {
    struct node *node;        /* whose ends are read */
    const struct port *ports; /* of the kernel that executes: the node's, or a child's */
    uint32_t in_count;
    bool finishing, stopped;
    int phase;
    struct bytes *outs; /* what it appends, of each element of an out-port */
    bool *set;          /* written by index */
    struct launch *launches, **last_launch;
    uint64_t launched, level;
    uint64_t *total;
    const uint32_t *group;
    int32_t work_group, work_groups; /* of a child */
    struct binding *locals;
    size_t local_count;
    struct tree *kernel_attributes;
    uint64_t most_launches, *windows_rows;
};

struct launch { /* one that a firing has made, executed already */
    struct bytes *outs;
    bool appended;
    struct launch *next;
};

void node_prepare(struct node *node); /* state, tables, init */
void node_fire(struct node *node);    /* appends, advances */
void node_finish(struct node *node);
const unsigned char *firing_packet(struct frame *frame, uint32_t port, uint64_t element, int line,
                                   __int128 index);
const unsigned char *firing_window(struct frame *frame, uint32_t port, uint64_t element, int line,
                                   __int128 row, __int128 column);
struct value call_function(struct frame *frame, struct tree *item, struct tree *arguments,
                           const struct type *lanes);
void body_set_packet(struct frame *frame, struct tree *e); /* y[j] = v; */
bool body_is_out(struct frame *frame, const struct tree *e);

/* ---- the graph and the run ---- */

struct graph {
    struct node *nodes, **last;
    struct channel **channels;
    size_t channel_count, channel_room;
};
/* `values`: NAME=VALUE of run-time arguments and parameters. */
/* The kernel of a T_CHILD with a name, with its parameters. */
struct node *kahn_child(struct frame *frame, struct tree *child);
struct graph *kahn_graph(const char *pipeline, char **values, size_t count);
void kahn_items(struct tree *items); /* of the program, before anything is looked up */
bool node_has_finish(const struct node *node);
/* The exit status.  Depths that are declared are kept if `bounded`. */
int kahn_run(struct graph *graph, bool bounded, uint64_t firings);
/* Says which fault ends the run, and returns the exit status; 0: none does. */
int kahn_verdict(struct graph *graph);
size_t window_ahead(const struct node *node, const struct port *port, const struct end *end,
                    uint64_t *rows);

#endif
