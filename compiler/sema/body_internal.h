/* SPDX-License-Identifier: MIT */
/*
 * body_internal: the interface between the files of body.  One header because all of them work on
 * one struct body, and any construct may contain any other.
 *
 *   body.c          specialisation of kernels, functions and their signatures, recursion
 *   body_port.c     ports
 *   body_rate.c     their rates: numbers, bounds, phases, amplification
 *   body_window.c   2-D windows: their attributes, and reads of them
 *   body_type.c     types as written, the usual conversions, untyped trees, folding
 *   body_const.c    constants, compile-time integers, initialisers
 *   body_expr.c     operators
 *   body_struct.c   structs: declarations, members, construction of structs and vectors
 *   body_name.c     names, ports, indices, assignments
 *   body_call.c     calls: functions, built-ins, library mathematics, casts
 *   body_stmt.c     statements and declarations
 *   body_group.c    work-items: group, item, barrier, local
 *   body_foreign.c  extern kernels: their attributes, their signature
 *   body_unit.c     builtin kernels: the units of devices
 *   body_launch.c   child kernels: launch, events, done
 *   body_flow.c     whether a body can reach its end
 *
 * A tree under construction may be *untyped*: its type is body_untyped_integer (literals, compile-time
 * integers; a KX_CONSTANT, or a KX_SELECT between such) or body_untyped_float (at least one unsuffixed
 * float literal, or a call of mathematics on integers; its leaves may be typed integers).  The function
 * that knows the wanted type gives this type to the tree. Nothing untyped leaves body.
 *
 * Every function returns NULL (or false) after an error, which it has reported. Its caller then reports
 * nothing.
 *
 * One header serves all these files, because they are mutually recursive: a statement has expressions,
 * an expression calls functions, and a function has statements.
 */
#ifndef PIPEC_BODY_INTERNAL_H
#define PIPEC_BODY_INTERNAL_H

#include "compiler/ir/arith.h"
#include "compiler/sema/sema_internal.h"

enum body_place {
    PLACE_CONSTANT, /* a compile-time expression: sizes, rates, constants */
    PLACE_ARGUMENT, /* an argument of an instance */
    PLACE_FUNCTION,
    PLACE_FIRING,
    PLACE_INIT,
    PLACE_FINISH,
};

enum function_state { FUNCTION_NEW, FUNCTION_CHECKING, FUNCTION_CHECKED, FUNCTION_FAILED };

struct function_entry {
    struct function_entry *next; /* in its bucket of the table */
    const struct ast_item *item;
    struct function *function;
    enum function_state state;
    uint32_t call_depth;  /* 1 + that of the deepest callee */
    uint64_t stack_bytes; /* its locals, and the maximum that a callee needs */
};

struct kernel_entry {
    struct kernel_entry *next;
    const struct ast_item *item;
    struct compile_argument *params;
    size_t param_count;
    struct kernel *kernel;   /* NULL: it has errors, or it is being checked as `building` */
    struct kernel *building; /* its signature is known; a launch in its body may name it */
};

struct call_link { /* a function that is being checked, and the call of it */
    struct function_entry *entry;
    struct span call;
};

#define BODY_BUCKETS 256

struct body_cache {
    struct function_entry *functions[BODY_BUCKETS];
    struct kernel_entry *kernels[BODY_BUCKETS];
    VEC(struct call_link) checking;
    uint32_t nesting;
    uint32_t building; /* kernels under construction, nested: a launch needs its child */
    /* The kernel whose parameters, attributes and ports are being read; NULL within its body. */
    const struct ast_item *signature_of;
};

struct switch_frame {
    const struct type *type;         /* NULL: the value had an error */
    const struct ast_stmt *block;    /* labels stand directly in it */
    const struct variable *declared; /* the last variable declared directly in it, or NULL */
    VEC(struct ks *) labels;
};

/* A rate as written: `3`, `2..4`, `..8`, `{3, 1}`, `{0..2, 1}`. */
struct written_rate {
    bool is_list;           /* it has an entry for each phase */
    uint32_t count;         /* of entries; 0: no rate is written */
    uint64_t *least, *most; /* equal: exact */
    struct span span;       /* of the attribute */
    struct span value_span;
};

struct port_rates {
    struct written_rate pop, peek; /* of an in-port */
    struct written_rate push;      /* of an out-port */
    const struct ast_attribute *amplify;
};

/* The state that init, body and finish of one kernel share. */
struct kernel_body {
    struct kernel *kernel;
    struct scope *scope;                   /* of the body's outermost block */
    VEC(uint8_t) local_places;             /* enum body_place of each local, by index */
    struct span init_span, finish_span;    /* source 0: not seen */
    struct span *store_spans, *emit_spans; /* by out-port: the first of its kind in a firing */
    struct ks *init_first, **init_end;     /* initialisers of tables and states, as assignments */
    struct ks *init, *finish;
    struct port_rates *in_rates;     /* of the in-ports; those of the out-ports follow */
    bool phases_unknown;             /* an error in the rates */
    VEC(struct body_event *) events; /* in order of declaration */
    uint32_t barriers;               /* counted so far */
    bool *packets_explained;         /* by in-port: a note has explained its packets; or NULL */
};

struct body {
    struct sema *sema;
    struct compile *cx;
    struct arena *arena;
    struct scope *scope;
    enum body_place place;
    struct kernel_body *kernel;      /* NULL outside of kernels */
    struct function_entry *function; /* NULL outside of functions */
    uint32_t *local_count;           /* NULL where there are no locals */
    uint64_t stack_bytes;            /* of its locals */
    uint64_t callee_stack_bytes;
    uint32_t callee_depth;
    uint32_t loops; /* around this statement, within the function */
    struct switch_frame *innermost_switch;
    bool break_allowed;
    bool dead;         /* in an arm that is never executed */
    const char *title; /* fir<64>: the name in messages about a kernel with parameters */
    bool failed;
};

extern const struct type body_untyped_integer, body_untyped_float;

static inline bool is_untyped(const struct type *type)
{
    return type == &body_untyped_integer || type == &body_untyped_float;
}

/* ---- body.c ---- */

struct body body_begin(struct sema *sema, struct scope *scope, enum body_place place);
/* The same names, evaluated at compile time. */
struct body body_constant_part(const struct body *b);
/* Reports; an error marks the body as failed. */
struct diag *body_report(struct body *b, enum rule rule, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* RULE_UNSUPPORTED: "WHAT is/are not supported yet". */
void body_unsupported(struct body *b, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Limits recursion over nested constructs, functions included: false after RULE_TOO_DEEP. After
 * true, the caller calls body_leave. */
bool body_enter(struct body *b, struct span span);
void body_leave(struct body *b);
/* Declares a name. It is an error if this same scope has the name already. */
struct symbol *body_declare(struct body *b, struct symbol symbol);
/* The checked function, or NULL. */
struct function_entry *body_function(struct body *b, const struct ast_item *item, struct span call);
struct variable *body_local(struct body *b, struct ast_name name, const struct type *type);
void body_unknown_attribute(struct body *b, const struct ast_attribute *attribute,
                            const char *owner, const char *const *known, size_t count);

/* ---- body_port.c ---- */

void body_ports(struct body *b, const struct ast_signature *signature);
void body_signature_attributes(struct body *b, const struct ast_signature *signature);

/* ---- body_rate.c ---- */

/* `bounded`: L..M is allowed. */
bool body_written_rate(struct body *b, const struct ast_attribute *attribute, bool bounded,
                       struct written_rate *rate);
/* Fills the phases of the kernel and the rates of its ports from the written rates; `amplify`: the
 * attribute after the parameter list, or NULL. */
void body_settle_rates(struct body *b, const struct ast_attribute *amplify);
/* A rate of 1 .. SEMA_MAX_RATE. */
bool body_rate(struct body *b, const struct ast_attribute *attribute, uint64_t *out);

/* ---- body_port.c, too ---- */

/* Reports an attribute that stands twice in its list. */
bool body_repeated_attribute(struct body *b, const struct ast_attribute *first,
                             const struct ast_attribute *attribute);

/* ---- body_type.c ---- */

const char *body_type_text(struct body *b, const struct type *type);
const struct type *body_scalar(struct body *b, enum scalar_type scalar);
struct kx *body_kx(struct body *b, enum kx_kind kind, const struct type *type, struct span span);
struct kx *body_constant(struct body *b, struct span span, struct scalar_value value);
/* An untyped integer; RULE_CONSTANT_RANGE beyond -2^63 .. 2^64 - 1. */
struct kx *body_exact(struct body *b, struct span span, __int128 value);
/* The type of an operation on the operands: typed, or untyped if no operand gives a type.  NULL
 * after RULE_TYPE_MISMATCH ("OPERATION of f32[3] and i32").  Converts the operands to this type
 * unless it is untyped. */
const struct type *body_unify(struct body *b, struct kx **operands, size_t count, struct span span,
                              const char *operation);
/* Gives an untyped tree its default type: integers i32, otherwise i64, otherwise u64; floats f32. */
struct kx *body_settled(struct body *b, struct kx *kx);
/* The implicit conversion of assignments, arguments, results and packets. `what` names the value
 * in messages: "argument 'n'". */
struct kx *body_converted(struct body *b, struct kx *kx, const struct type *type, const char *what);
/* The conversion of a cast. */
struct kx *body_cast(struct body *b, struct kx *kx, const struct type *type);
struct kx *body_truth(struct body *b, struct kx *kx);
/* Converts to an index, a shift count or the value of a switch: a typed integer. */
struct kx *body_whole(struct body *b, struct kx *kx, const char *what);
/* As body_whole, but also accepts a vector of integers. */
struct kx *body_whole_items(struct body *b, struct kx *kx, const char *what);
/* A typed scalar becomes a vector with this value in every element; a vector stays. */
struct kx *body_broadcast(struct body *b, struct kx *kx, uint64_t lanes);
/* Converts to an operand of arithmetic: bool becomes i32, f16 and bf16 become f32, in vectors too. */
struct kx *body_promoted(struct body *b, struct kx *kx);
/* Replaces a typed operation on constants by its value; a division by zero stays. */
struct kx *body_fold(struct body *b, struct kx *kx);
/* For messages: the source text of a short expression, or NULL. */
const char *body_source_text(struct body *b, struct span span);

/* ---- body_struct.c ---- */

/* The type that a SYMBOL_STRUCT or SYMBOL_TYPE_PARAM names; NULL after an error. */
const struct type *body_symbol_type(struct body *b, struct symbol *symbol, struct span use);
/* left.name of a struct or vector, both built. */
struct kx *body_member_of(struct body *b, struct kx *left, struct ast_name name, struct span span);
/* TYPE(arguments): a struct or vector from its parts, or a conversion. */
struct kx *body_construct_type(struct body *b, const struct type *type,
                               const struct ast_expr *arguments, struct span span);
/* {...} of a struct or vector. */
struct kx *body_braces(struct body *b, const struct ast_expr *expr, const struct type *type,
                       const char *what);

/* ---- body_const.c ---- */

/* An initialiser: an expression, or braces for an array. */
struct kx *body_initialiser(struct body *b, const struct ast_expr *expr, const struct type *type,
                            const char *what);
/* All scalars of a compile-time value; NULL: reported. */
const struct scalar_value *body_constant_values(struct body *b, const struct kx *kx,
                                                const char *what);
/* The expression with these scalars: a constant, or a variable that is one and has no name. */
struct kx *body_constant_value(struct body *b, struct span span, const struct type *type,
                               const struct scalar_value *values);
/* True if the expression reads only constants. */
bool body_is_static(const struct kx *kx);
void body_report_consteval(struct body *b, const struct kx *kx, const struct consteval_error *error,
                           const char *what);
/* Declares one name of `const TYPE name = value`.  If `runtime` is not NULL and the value is known
 * only at run time, declares nothing: *runtime gets the value, *type its type. */
void body_const_declarator(struct body *b, const struct ast_type *written,
                           const struct ast_declarator *declarator, struct kx **runtime,
                           const struct type **type);
bool body_integer(struct body *b, const struct ast_expr *expr, int64_t *out);
/* The type as written, for values: neither void nor int. */
const struct type *body_value_type(struct body *b, const struct ast_type *type,
                                   const struct ast_expr *dims, const char *what);

/* ---- body_expr.c ---- */

struct kx *body_expr(struct body *b, const struct ast_expr *e); /* may be untyped */
struct kx *body_condition(struct body *b, const struct ast_expr *e);
/* Reports a comma at the top of an index. */
void body_check_comma(struct body *b, const struct ast_expr *index);
struct kx *body_value(struct body *b, const struct ast_expr *e); /* typed */
enum kx_op body_operator(enum ast_operator op);
const char *body_operator_text(enum kx_op op);
/* Reports a constant count outside the width of `left`. */
void body_check_count(struct body *b, struct kx *shift, struct kx *left, const struct kx *count);
/* Converts both operands of a shift to vectors if one is a vector. False after an error, or if an
 * operand is NULL. */
bool body_shift_operands(struct body *b, enum kx_op op, struct kx **left, struct kx **right,
                         struct span span);

/* ---- body_name.c ---- */

struct kx *body_name(struct body *b, const struct ast_expr *e);
struct kx *body_index(struct body *b, const struct ast_expr *e);
struct kx *body_assign(struct body *b, const struct ast_expr *e);
struct kx *body_increment(struct body *b, const struct ast_expr *e);
/* The symbol of a port that `e` indexes (x, x[i], x[p][i]), or NULL. `indices` gets the indices,
 * outermost first. */
struct port_access {
    const struct symbol *symbol;
    const struct ast_expr *indices[3];
    uint32_t count; /* may be above 3: further indices are not kept */
    struct span span;
};
bool body_port_access(struct body *b, const struct ast_expr *e, struct port_access *access);
/* The number of indices that select a packet of the port. Further indices select a part of the
 * packet. */
uint32_t body_port_indices(const struct kernel_port *port);
/* The element of a port array; *out stays NULL if the port is no array.  The remaining indices
 * stay in `access`. */
bool body_port_element(struct body *b, struct port_access *access, const struct kernel_port *port,
                       struct kx **out);

/* ---- body_window.c ---- */

/* Reads `window` and `border`; false for other attributes. */
bool body_window_attribute(struct body *b, const struct ast_attribute *attribute,
                           struct kernel_port *port);
/* Checks the window. Requires the rates of all ports. */
void body_window_check(struct body *b, const struct ast_port *ast, const struct kernel_port *port);
/* Reads the packet at the remaining indices of `access`. */
struct kx *body_window_read(struct body *b, struct port_access *access,
                            const struct kernel_port *port, struct kx *element);
/* Reports that `finish` reads a port with a window. */
bool body_window_finish(struct body *b, const struct kernel_port *port, struct span span);

/* ---- body_call.c ---- */

struct kx *body_call(struct body *b, const struct ast_expr *e);
struct kx *body_construct(struct body *b, const struct ast_expr *e);
/* Chooses the function for a call of library mathematics whose type was not known before. */
struct kx *body_settle_call(struct body *b, struct kx *kx, const struct type *type);

/* ---- body_stmt.c ---- */

struct ks_list {
    struct ks *first, **end;
};

void body_statements(struct body *b, const struct ast_stmt *first, struct ks_list *out);
/* Declares the variable (NULL: it had an error) under the declarator's name. */
void body_declare_variable(struct body *b, const struct ast_declarator *d,
                           struct variable *variable);
void ks_append(struct ks_list *list, struct ks *ks);

/* ---- body_group.c ---- */

/* `group N`, `group WxHxD` of a kernel. */
void body_group(struct body *b, const struct ast_attribute *attribute);
/* True for item.x, item.y and item.z, if the program does not declare the name `item`. */
bool body_is_item(const struct body *b, const struct ast_expr *e);
struct kx *body_item(struct body *b, const struct ast_expr *e);
/* `barrier();` as a statement: true if `e` calls the barrier. Adds it to `out` unless it is an
 * error. */
bool body_barrier(struct body *b, const struct ast_expr *e, struct ks_list *out);
/* Reports a call of the barrier within an expression. */
void body_barrier_value(struct body *b, const struct ast_expr *e);
/* True if `local` may stand here; otherwise reports. */
bool body_check_shared(struct body *b, const struct ast_stmt *s, bool in_for);
void body_declare_shared(struct body *b, const struct ast_stmt *s, const struct ast_declarator *d);
void body_check_shared_bytes(struct body *b);

/* ---- body_launch.c ---- */

/* Reads `launches`, `total`, `nesting`; false for other attributes. */
bool body_launch_attribute(struct body *b, const struct ast_attribute *attribute);
void body_launch(struct body *b, const struct ast_stmt *s, struct ks_list *out);
/* done(e), unless the program declares another `done`. */
struct kx *body_done(struct body *b, const struct ast_expr *e);
/* True if `what` ("state", "finish", ...) may stand here; otherwise reports. */
bool body_check_child_section(struct body *b, struct span span, const char *what);
/* After the body: checks the parts of a kernel in a tree of launches, and derives orders that are
 * not written. */
void body_settle_launches(struct body *b);

/* ---- body_unit.c ---- */

void body_unit_attributes(struct body *b, const struct ast_item *item);
/* The builtin kernel, once its ports are known; without a body if the device does not have its unit.  NULL after an error. */
struct kernel *body_unit(struct body *b);

/* ---- body_foreign.c ---- */

/* Before the ports of an extern kernel are read, and after its arguments. */
void body_foreign_attributes(struct body *b, const struct ast_item *item);
void body_foreign(struct body *b, const struct ast_item *item);

/* ---- body_flow.c ---- */

/* Whether control can reach the end of a list of statements. */
bool body_completes(const struct ks *list);

#endif
