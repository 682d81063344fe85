/* SPDX-License-Identifier: MIT */
/*
 * kernel: typed bodies of kernels and functions, after checking and specialisation.
 *
 * A kernel of the source with its compile-time parameters bound to values is one `struct kernel`;
 * several nodes of the graph may share it.  Everything implicit is explicit here: conversions are
 * KX_CONVERT, names are resolved, constants folded, sizes known.  Its readers are consteval, which
 * interprets it, the analyses of bodies (rates, value ranges, cost) and codegen.  After sema, only
 * fields marked "filled by" are written.
 *
 * Prefixes: `kx` is a typed expression, `ks` a typed statement.
 *
 * Meaning of arithmetic: language reference, "Integers" and "Floats".  Operands are evaluated left
 * to right.
 */
#ifndef PIPEC_KERNEL_H
#define PIPEC_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/type.h"
#include "compiler/support/source.h"
#include "base/vec.h"
#include "lang/devdesc.h"

/* ---- variables ---- */

enum variable_kind {
    VARIABLE_LOCAL, /* also parameters of functions; zero unless initialised */
    VARIABLE_TABLE, /* written by init only */
    VARIABLE_STATE,
    VARIABLE_SHARED,   /* `local`: one for all work-items of a firing; zero when it begins */
    VARIABLE_ARGUMENT, /* run-time argument of a kernel or of the top pipeline: read only */
    VARIABLE_CONSTANT, /* a `const` array of the file or of a body: read only, `constant` holds it
                        */
};

struct variable {
    enum variable_kind kind;
    const char *name;
    struct span span;
    const struct type *type;
    /* LOCAL, SHARED: unique within its function or kernel, 0..; TABLE, STATE: in the kernel's list,
     * filled by bodies/ranges */
    uint32_t index;
    uint64_t offset_bytes; /* TABLE, STATE, ARGUMENT: in the kernel's block of that kind */
    const struct scalar_value *constant; /* CONSTANT: all scalars, flattened, row-major */
    /* CONSTANT: code loads it and is not specialised to its values, which would spread each float over a
     * vector of its own; by optimize/constant_tables */
    bool loaded;
    bool is_const; /* a `const` local: assigned once, by its declaration */
    /* LOCAL of a kernel with work-items: each has its own that outlives a barrier; filled by
     * bodies/divergence */
    bool per_item;
};

/* ---- expressions ---- */

enum kx_kind {
    KX_CONSTANT, /* value (scalar) */
    KX_VARIABLE, /* variable */
    KX_INDEX,    /* left[right]: left an array or a vector, right an integer of any width */
    KX_MEMBER,   /* field `member` of left, a struct */
    KX_PEEK,     /* packet `right` of in-port `port` [element `left`, NULL where no port array] */
    KX_WINDOW,   /* packet `left` rows and `right` columns from the centre of the window of in-port
                     `port` [element `third`, NULL where no port array] */
    KX_LEFT,     /* left(port): packets that a finished node's in-port still holds, i64 */
    KX_PHASE,    /* number of the firing modulo kernel->phases, i32 */
    KX_FIRING, /* number of the firing (in `finish`: of all firings), wrapped to `type`, an integer; only
                     optimize/compose/compose_count makes it */
    KX_ITEM,       /* item.x, .y, .z, .group, .groups (`dimension`, enum item_member), i32 */
    KX_NEGATE,     /* -left */
    KX_COMPLEMENT, /* ~left */
    KX_NOT,        /* !left: bool */
    KX_BINARY,  /* left op right: both of the same type, the result of that type; SHL/SHR: right is
                   any integer */
    KX_COMPARE, /* left op right: operands of one type, result bool */
    KX_LOGICAL, /* && or ||: operands and result bool, right evaluated only if needed */
    KX_SELECT,  /* left ? right : third; only the chosen one is evaluated */
    KX_CONVERT, /* left converted to `type` (scalar to scalar, vector to vector element by element) */
    KX_BROADCAST, /* a vector of `type`, each element left: a scalar, evaluated once */
    KX_ASSIGN, /* left = right; with `op`: left = convert(convert(left, operation) op right); value:
                  see `postfix` */
    KX_CALL,   /* function(arguments).  A vector of scalar results: called for each element */
    KX_BUILTIN, /* builtin(arguments) */
    KX_DONE, /* done(e): left is the event, a KX_VARIABLE.  The launching firing waits for the end of
                     the tree of that launch; true if the tree has appended a packet to some out-port */
    KX_COMMA,     /* left, right */
    KX_AGGREGATE, /* array, vector or struct of `type` from `arguments` in order; NULL and missing
                     trailing ones are zero; may nest */
};

/* On vectors, these kinds work element by element, in order of the elements: NEGATE, COMPLEMENT, NOT,
 * BINARY, COMPARE, CONVERT, ASSIGN with `op`, CALL of a function of scalars, and BUILTIN except ANY and ALL.
 * Their operands are vectors of one length, and each is evaluated completely before the operation. */

enum kx_op {
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
    OP_LOGICAL_AND,
    OP_LOGICAL_OR,
};

/* Built-in functions, exact on every device (lang/reference.md, "Built-in functions"). */
enum builtin {
#define BUILTIN(enumerator, name, arity, kind) BUILTIN_##enumerator,
#include "compiler/ir/builtins.def"
#undef BUILTIN
    BUILTIN_COUNT
};

/* Whether an access, or a division, needs a check while running.  Filled by bodies/range_check.  */
enum access_check {
    ACCESS_CHECKED,
    ACCESS_PROVEN,
    ACCESS_GUARDED, /* by a test around it: compiler/optimize has put both there, and no analysis looks again */
};

/* One struct because one visitor and one copy then suffice for all kinds.  A member belongs to the kinds that
 * its comment names; in other kinds it is zero. */
struct kx {
    enum kx_kind kind;
    enum kx_op op;
    enum builtin builtin;
    /* INDEX, PEEK: the packet index; WINDOW: the row; BINARY, ASSIGN, of integers: the divisor, PROVEN: it is not 0 */
    enum access_check check;
    enum access_check column_check;  /* WINDOW */
    enum access_check element_check; /* PEEK, WINDOW: the port element */
    /* bodies/ranges: the visits of the accesses; of a division, whether there was one */
    unsigned char visited, visited_column, visited_element;
    /* bodies/ranges, of the index of an access: the number of places (0: not visited), and the minimum
     * and maximum of the index, counted from the first place and clamped to int64_t */
    uint64_t places;
    int64_t place_least, place_most;
    bool may_wrap;     /* BINARY: its exact value may leave `type`; filled by bodies/range_check */
    bool cast;         /* cast to the type that it has: wrapping is meant */
    bool count_inside; /* SHL, SHR: at some visit the count may be below the width */
    bool widening_reported; /* the operation in it that must be wider has been reported */
    bool postfix;           /* ASSIGN: the value is the old one (i++) */
    uint32_t port;          /* PEEK, WINDOW, LEFT: index into kernel->in */
    uint32_t dimension;     /* ITEM */
    uint32_t
        lines; /* PEEK, WINDOW: of memory, that a warp touches; 0: these do not count.  Filled by bodies/coalesce */
    /* Regions of kernel->costs.  LOGICAL, SELECT: the regions of `right` and `third`.  CALL: the region
     * that gets the cycles counted in the function.  0: none.  Filled by bodies/cost. */
    uint32_t regions[2];
    uint32_t member;              /* MEMBER: index into left->type->fields */
    const struct type *type;      /* of the value; ASSIGN: of left; statements' calls may be void */
    const struct type *operation; /* ASSIGN with op: the type the operation is done in */
    struct span span;
    struct kx *left, *right, *third;
    const struct variable *variable;
    struct scalar_value value;
    const struct function *function;
    struct kx **arguments;
    uint32_t argument_count;
};

/* ---- statements ---- */

enum ks_kind {
    KS_EXPR,    /* expr */
    KS_DECLARE, /* variable = expr (or zero where NULL) */
    KS_BLOCK,   /* body: first of a list */
    KS_IF,      /* expr, body, otherwise */
    KS_LOOP, /* init; expr (NULL: true); step; body.  `test_after`: do-while.  continue goes to step
              */
    KS_SWITCH, /* expr (integer), body; KS_CASE labels inside the body's block */
    KS_CASE,   /* label value, or `is_default` */
    KS_BREAK,
    KS_CONTINUE,
    KS_RETURN, /* expr or NULL; in a kernel body: ends the firing; in init or finish: ends that */
    KS_EMIT,   /* append `expr` to out-port `port` [element] */
    KS_STORE,  /* packet `index` of out-port `port` [element] = expr */
    KS_STOP, /* body of a source: it ends; this firing does not count.  `finish` of a composite, where it ends
                   nothing: `expr` (i64) says what the members' finishes have appended (compose_tail.c) */
    KS_BARRIER, /* every work-item of the firing arrives here before any continues */
    KS_LAUNCH,  /* launch; `variable`: the event that it sets (a KS_DECLARE stands before), or NULL;
                   `expr`: its events, then its arguments, joined by KX_COMMA, for passes that look at
                   expressions only; NULL: none */
    KS_FOREIGN, /* of an extern kernel: calls the foreign function of this section, once a firing; it
                   reads and writes packets as the rates say.  The only statement of its body */
};

/* Expressions of a body that codegen executes in lanes of vectors, at most. */
#define KERNEL_LANES_SIZE_MAX 4000

/* ---- launches ---- */

/* The members of `item`: the work-item's index in its group; the number of its work-group in its launch; how many the launch
 * has. */
enum item_member { ITEM_X, ITEM_Y, ITEM_Z, ITEM_GROUP, ITEM_GROUPS, ITEM_MEMBERS };

/* Limits; the limits of the container are at least as large. */
#define SEMA_MAX_LAUNCHES 65536           /* of one firing */
#define SEMA_MAX_TREE_LAUNCHES (1u << 20) /* work-groups of one firing's whole tree */
#define SEMA_MAX_WORK_GROUPS 65536        /* of one launch */
#define SEMA_MAX_LAUNCH_LEVELS 256        /* children of children */
#define SEMA_MAX_LAUNCH_WAITS 8           /* events that one launch waits for */
#define SEMA_MAX_LAUNCH_CHOICES 16        /* children of which one statement chooses */
#define SEMA_MAX_LAUNCH_STATEMENTS                                                                 \
    65536 /* of all kernels of a pipeline; each counts as often as it has children */
#define SEMA_MAX_LAUNCH_CHAIN 64      /* different children that launch one another */
#define SEMA_MAX_CHILD_ARGUMENTS 4096 /* bytes */

/* When a child may begin, apart from the events that it waits for: time only, never bits. */
enum launch_order {
    LAUNCH_WITH_PARENT,  /* at once, beside its parent */
    LAUNCH_AFTER_GROUP,  /* once the launching work-group has ended */
    LAUNCH_AFTER_PARENT, /* once all work-groups of the parent's dispatch have ended */
};

struct kernel;
struct body_event;

struct launch_child {
    struct kernel *kernel;
    struct span span; /* of its name in the statement */
};

/* One `launch` statement.
 *
 * Executed, it evaluates `choice`, `arguments` from left to right, `groups` and `first_group`, and records a launch: the n-th
 * launch that the firing executes (in item order between barriers) has the number n, from 0, and the event
 * variable, if any, gets that number.  The launch is `groups` firings of the chosen child, each a work-group: its in-port i is
 * the launching firing's window on in-port i, read only, its out-port i appends to that of the outermost kernel.
 *
 * Output of a firing: its own packets, then those of its launches in order of number, of each those of its firings in order,
 * each followed by its own launches' (pre-order), whatever the order of execution. */
struct launch {
    uint32_t
        index; /* of its first record, of which it has one for each child, among those of the kernel */
    struct span span;
    struct launch_child *children; /* which it may start */
    uint32_t child_count;          /* 1.. */
    struct kx *choice;             /* which of them it starts, i32, from 0; NULL: there is one */
    /* Constant, or evaluated when the statement is executed; one for each of the first arguments of the child, whose types
     * all children share; the others have defaults.  Passed by value at offset_bytes of the child's block. */
    struct kx **arguments;
    uint32_t argument_count;
    /* Events: KX_VARIABLE, each set by an earlier KS_LAUNCH of the same firing and item.  Their trees
     * end before this child begins. */
    struct kx **waits;
    uint32_t wait_count;
    /* `groups`, `from`: the number of work-groups and the number of the first one, i32; NULL: 1 and 0.  Their numbers are below
     * the child's work_groups.  `groups_checked`: the run checks it. */
    struct kx *groups, *first_group;
    bool groups_checked;
    enum launch_order order;
    bool runs_early;          /* the launching firing waits for it: done() of its event, or of one
                                 that waits for it; then `order` is WITH_PARENT */
    bool order_written;       /* else derived: */
    const char *order_reason; /* one phrase: why */
    bool behind_barrier;      /* of its group */
    struct body_event **wait_events; /* sema's; parallel to `waits` */
};

/* One struct for all kinds, as struct kx. */
struct ks {
    enum ks_kind kind;
    struct span span;
    struct ks *next;
    struct kx *expr, *step, *element, *index;
    enum access_check check,
        element_check; /* STORE: the packet index; STORE, EMIT: the port element */
    unsigned char visited, visited_element; /* as in struct kx */
    bool count_proven; /* EMIT: filled by bodies/amplify; false: a checked append */
    struct ks *init, *body, *otherwise;
    struct variable *variable; /* DECLARE; LAUNCH: a LOCAL of type u32 */
    struct launch *launch;     /* LAUNCH */
    uint32_t port;             /* EMIT, STORE: index into kernel->out */
    uint32_t lines;            /* EMIT, STORE: as in struct kx */
    bool test_after, is_default;
    bool unset; /* DECLARE without `expr`: need not be zero, for it is written before it is read */
    bool unbounded; /* LOOP: nothing shows how many rounds it makes; filled by bodies/range_check */
    /* Executed once for all work-items: a barrier, a statement that contains one, or a jump out of such a
     * statement.  Filled by bodies/divergence. */
    bool together;
    /* Regions of kernel->costs: the one that begins with this statement; LOOP: the one of a round, and
     * the one of the step and test after it.  0: none.  Filled by bodies/cost. */
    uint32_t region, round_region, step_region;
    struct scalar_value label; /* CASE: converted to the switch's type */
};

/* Whether the expression computes element by element (see above). */
static inline bool kx_is_elementwise(const struct kx *x)
{
    if (x->type->kind != TYPE_VECTOR) return false;
    switch (x->kind) {
    case KX_NEGATE:
    case KX_COMPLEMENT:
    case KX_NOT:
    case KX_BINARY:
    case KX_COMPARE:
    case KX_CONVERT:
    case KX_BUILTIN: return true;
    default: return false;
    }
}

/* The label at which a KS_SWITCH continues for this value of its type, or the default; NULL: after the switch. */
static inline const struct ks *ks_find_label(const struct ks *on, struct scalar_value value)
{
    const struct ks *otherwise = (const struct ks *)0, *s = on->body;
    if (s && s->kind == KS_BLOCK) s = s->body;
    for (; s; s = s->next) {
        if (s->kind != KS_CASE) continue;
        if (s->is_default)
            otherwise = s;
        else if (s->label.bits == value.bits)
            return s;
    }
    return otherwise;
}

/* The variable that an assignable expression is, or is a part of; or NULL. */
static inline const struct variable *kx_root_variable(const struct kx *x)
{
    while (x->kind == KX_INDEX || x->kind == KX_MEMBER)
        x = x->left;
    return x->kind == KX_VARIABLE ? x->variable : (const struct variable *)0;
}

/* Whether it is a value that is known when compiling: a scalar, or a whole constant. */
static inline bool kx_is_constant(const struct kx *x)
{
    return x->kind == KX_CONSTANT ||
           (x->kind == KX_VARIABLE && x->variable->kind == VARIABLE_CONSTANT);
}

/* The scalars of such a value. */
static inline const struct scalar_value *kx_constant_scalars(const struct kx *x)
{
    return x->kind == KX_CONSTANT ? &x->value : x->variable->constant;
}

/* The operands of an operation, in order of evaluation: of BUILTIN its arguments, else left, right and third as far as
 * there are any.  Returns their number. */
enum { KX_OPERANDS_MAX = 3 };
uint32_t kx_operands(const struct kx *x, const struct kx *operands[KX_OPERANDS_MAX]);

/* ---- children ---- */

/* In order: left, right, third, then the arguments; NULL: there is none at that place. */
static inline uint32_t kx_child_count(const struct kx *x)
{
    return 3 + x->argument_count;
}

static inline struct kx *kx_child(const struct kx *x, uint32_t i)
{
    return i == 0 ? x->left : i == 1 ? x->right : i == 2 ? x->third : x->arguments[i - 3];
}

/* Whether the value is in memory: a variable, a packet, or a part of one. */
static inline bool kx_has_place(const struct kx *x)
{
    return x->kind == KX_VARIABLE || x->kind == KX_INDEX || x->kind == KX_MEMBER ||
           x->kind == KX_PEEK || x->kind == KX_WINDOW;
}

/* A copy whose children are the results of `map` for the children of `x`, in order (kernel_any.c). */
struct arena;
typedef struct kx *kx_map(const struct kx *child, void *data);
struct kx *kx_copy(struct arena *arena, const struct kx *x, kx_map *map, void *data);

/* ---- searches (kernel_any.c) ----
 * Whether the test holds of some expression, outer ones first, or of some statement of the list or inside
 * of it; stops at the first.  The body of a called function is not searched.  NULL, as tree
 * or as test: nothing. */
typedef bool kx_test(const struct kx *x, void *data);
bool kx_any(const struct kx *x, kx_test *test, void *data);
const struct kx *kx_find(const struct kx *x, kx_test *test,
                         void *data); /* the expression, or NULL */
typedef bool ks_test(const struct ks *s, void *data);
bool ks_any(const struct ks *first, ks_test *statement, kx_test *expression, void *data);
const struct ks *ks_find(const struct ks *first, ks_test *test,
                         void *data); /* the statement, or NULL */
/* Whether packets are appended to the out-port. */
bool ks_appends(const struct ks *first, uint32_t port);
/* Whether the variable, or a part of it, is assigned, other than by its declaration; NULL: any is. */
bool kx_assigns(const struct kx *x, const struct variable *variable);
bool ks_assigns(const struct ks *first, const struct variable *variable);
/* Whether the variable is read or assigned. */
bool kx_mentions(const struct kx *x, const struct variable *variable);

/* ---- functions and kernels ---- */

struct function {
    const char *name;
    struct span span;
    const struct type *result; /* void, or any type (by value) */
    struct variable **params;
    uint32_t param_count;
    uint32_t local_count; /* variables of kind LOCAL, params included: indices are below this */
    struct ks *body;
    bool sound;                    /* checked, and without errors */
    uint32_t id;                   /* unique per compilation, in order of first use */
    const struct cost_plan *costs; /* filled by bodies/cost, with: */
    uint64_t cost_cycles;          /* of a call */
    uint32_t registers; /* of 32 bits, that its values take at once; filled by bodies/cost */
};

enum border { BORDER_CLAMP, BORDER_MIRROR, BORDER_WRAP, BORDER_ZERO }; /* as in lang/container.h */

/* Sema writes the members that the source declares; each analysis fills the ones that name it. */
struct kernel_port {
    const char *name;
    const struct type *type; /* of a packet */
    uint64_t arity;          /* 1 if not an array */
    struct span span;
    struct span rate_span; /* of the written rate */
    bool rate_declared;    /* pop/peek, push or amplify written */
    bool is_array;         /* a port array, even of one element */
    bool indexed;          /* out-ports: written by y[j] = v (KS_STORE), never both ways */
    /* Packets a firing where the kernel has one phase.  Where it has several, the arrays hold each
     * phase's, and here stand the sums over one cycle of phases (peek: the largest of a phase). */
    uint64_t pop, peek; /* in-ports */
    uint64_t push_least,
        push; /* out-ports: at least and at most; equal: exact.  Filled by sema where
                                  declared, else by bodies/amplify */
    const uint64_t *pops, *peeks;         /* by phase; NULL where there is one */
    const uint64_t *push_leasts, *pushes; /* by phase; NULL where there is one */
    /* in-ports: a 2-D window, centred; 0: none.  Then pop is 1, and what is seen follows from the
     * shape of the buffer (struct graph_input). */
    uint32_t window_width, window_height;
    enum border border;
    struct span window_span; /* of the attribute `window` */
    /* out-ports: most packets that `finish` appends; filled by bodies/amplify */
    uint64_t finish_max;
    bool count_proven, finish_proven; /* out-ports: the body shows it; filled by bodies/amplify */
    bool finish_declared;             /* `finish push M` was written: finish_max set by sema */
    struct span finish_span;          /* of that `push M` */
    /* out-ports: bounds were declared, and the body shows one number; filled by bodies/amplify */
    bool bounds_exact;
    /* out-ports of kernels that launch, and of children: the maximum that the body of one firing
     * appends itself.  Unless `count_proven`, the run checks it.  `push_least` and `push` are then
     * those of the firing with its tree (of a child: only of its own body).  Elsewhere equal to
     * `push`.  Filled by bodies/launches. */
    uint64_t own_push_least, own_push;
    bool tree_writes; /* some kernel below appends to it; filled by bodies/launches */
    /* ...: the whole tree's packets are proven to be within push_least .. push; else the total is
     * checked while running.  Filled by bodies/launches. */
    bool tree_proven;
};

/* The ends of the first `count` ports: a port array has one for each element. */
static inline uint64_t kernel_end_count(const struct kernel_port *ports, uint32_t count)
{
    uint64_t ends = 0;
    for (uint32_t i = 0; i < count; i++)
        ends += ports[i].arity;
    return ends;
}

/* Data of launches; zero for a kernel that launches nothing and is no child. */
struct kernel_launches {
    /* Statements, in order of the text; each child once, in order of first launch.  By sema. */
    VEC(struct launch *) statements;
    VEC(struct kernel *) children;
    /* `launches N`, `total T`, `nesting D`: as written, 0 where not; the two last of kernels that a
     * pipeline instantiates only (the outermost).  By sema. */
    uint64_t declared, total_declared, nesting_declared;
    struct span declared_span, total_span, nesting_span;
    /* ---- filled by bodies/launches ---- */
    /* Launches that one firing executes, its children's not counted: at least, and at most (1..). */
    uint64_t least, most;
    /* Of the outermost kernel: */
    uint64_t nesting; /* most levels below it, 1.. */
    uint64_t tree;    /* most work-groups that the whole tree of one firing launches */
    /* Most launches that are waiting or unfinished at one time where the deepest go first:
     * entries(k, d) = most(k) + max over its children c of entries(c, d - 1), entries(k, 0) = 0,
     * for d = nesting; no more than `tree`. */
    uint64_t queue_entries;
    bool waits_done;     /* the body has done(e); by sema */
    bool proven;         /* no firing executes more; else it is checked: fault launches-exceeded */
    bool nesting_proven; /* else checked: fault nesting-exceeded */
    bool tree_proven; /* else checked (a `total` below the worst case): fault launches-exceeded */
};

static inline bool kernel_launches_any(const struct kernel_launches *launches)
{
    return launches->statements.count > 0;
}

/* One for each child that a statement may start. */
static inline uint32_t kernel_launch_records(const struct kernel_launches *launches)
{
    size_t count = launches->statements.count;
    const struct launch *last = count > 0 ? launches->statements.items[count - 1] : NULL;
    return last != NULL ? last->index + last->child_count : 0;
}

/* One end of the out-ports: the bundle of ends that are written in step, from 1, and its share. */
struct kernel_step {
    uint32_t bundle;
    uint64_t share;
};

/* An instance whose parameters or file say more than the kernel's own place. */
struct kernel_use {
    struct span span;
    const char *title;
    const struct kernel_use *outer; /* of the pipeline that it stands in, or NULL */
};

/* Code of an extern kernel, which other compilers have made (lang/reference.md, "Extern kernels"). */
struct foreign {
    const char *const *files; /* as `from` names them */
    const struct span *file_spans;
    uint32_t file_count;
    bool
        pure; /* a firing depends on its arguments, its packets and its state only: the author's word */
    uint64_t cost_cycles; /* of a firing, as declared */
    bool finishes;        /* `finish M` was written, with: */
    uint64_t finish_packets;
    uint64_t state_bytes; /* as declared; kernel->state_bytes may have more for: */
    bool fires_twice;     /* pure, and to be checked: see foreign_align */
    /* Types, rates and sizes as one line of text: the same as the string NAME_signature of the code. */
    const char *signature;
};

/* The unit of the device that executes a kernel. */
struct kernel_unit {
    enum devdesc_unit_kind kind;
    uint64_t cycles; /* of a firing */
};

struct interval;

/* A specialised kernel.  Sema makes it; each analysis fills the members that name it, so the later passes
 * find everything about a kernel in one place.  One struct because the analyses fill it one after the other. */
struct kernel {
    const char *name;             /* as written: fir */
    const char *title;            /* with parameters: fir<64> */
    struct span span;             /* of the name in its definition */
    struct span whole_span;       /* of the definition */
    const struct kernel_use *use; /* the first one, for messages, or NULL */
    struct kernel_port *in, *out;
    uint32_t in_count, out_count;
    /* By end of the out-ports, port arrays flattened; NULL: nothing is known.  Filled by
     * bodies/amplify. */
    struct kernel_step *steps;
    struct variable **arguments;   /* run-time arguments, in order */
    struct kx **argument_defaults; /* parallel; NULL where none; constants */
    uint32_t argument_count;
    VEC(struct variable *) tables, states;
    VEC(struct variable *) shared; /* `local` variables */
    uint64_t shared_bytes; /* that they need of local memory, each from a multiple of 16 on */
    uint64_t arguments_bytes, tables_bytes, state_bytes;
    uint32_t local_count; /* over init, body and finish together */
    uint32_t phases;      /* of the rates, 1.. */
    uint32_t group[3];    /* work-items of a firing: x, y, z; all 1 without `group` */
    bool grouped;         /* `group` was written */
    /* Of a child: numbers of work-groups are below it; `in_groups`: `groups` was written.  Else 1. */
    uint32_t work_groups;
    bool in_groups;
    /* Some item may end its firing before code that other items still execute, without a barrier
     * in between; filled by bodies/divergence. */
    bool items_leave;
    bool stops;                    /* the body has `stop` */
    const struct foreign *foreign; /* an extern kernel: its sections are KS_FOREIGN; else NULL */
    /* A fixed-function unit executes it in the device's time; the body says what it computes.  Else NULL. */
    const struct kernel_unit *unit;
    /* Made of several kernels by compiler/optimize: what bodies/range_check and bodies/amplify fill has been
     * carried over from these; cost_cycles is their sum. */
    bool composed;
    /* Its loops are over the packets that a firing writes: they fill the lanes of vectors, firings do not.
     * By compiler/optimize. */
    bool within;
    /* Its loops count to constants, every round does the same, and the places that it touches are sums of
     * multiples of counters: what holds for all rounds is seen without executing each.  By
     * compiler/optimize. */
    bool regular;
    /* The same, and each packet is computed by itself: firings may fill the lanes, too. */
    bool packet_by_packet;
    bool
        is_child; /* `child kernel`: launched, never instantiated: no state, tables, finish, stop, and
                        one phase */
    struct kernel_launches launches; /* a kernel that launches does not stop, and has one phase */
    struct ks *init;                 /* tables and state; NULL where absent */
    struct ks *body;
    struct ks *finish; /* NULL where absent */
    uint32_t id;       /* unique per compilation, in order of first use */

    uint64_t cost_cycles; /* of one firing; filled by bodies/cost */
    /* Of the body, one work-item's, and of `finish` (or NULL); filled by bodies/cost. */
    const struct cost_plan *costs, *finish_costs;
    uint64_t finish_cycles; /* of `finish`, likewise */
    /* Of 32 bits, that a work-item of a firing takes; 0: not known, of foreign code and of units.  Filled by bodies/cost. */
    uint32_t registers;
    const struct interval *kept_ranges; /* of states, then tables; filled by bodies/ranges */
};

/* To fire twice, the node's state is followed by a copy of it and by a second window for each out-port, each from the
 * next multiple of 64 on. */
static inline uint64_t foreign_align(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Whether its firings execute one after the other. */
static inline bool kernel_is_stateful(const struct kernel *kernel)
{
    if (kernel->foreign) return !kernel->foreign->pure || kernel->state_bytes > 0;
    return kernel->states.count > 0;
}

/* All initialisers of `state` variables run before `init`: sema puts them, as assignments, at its
 * front. */

#endif
