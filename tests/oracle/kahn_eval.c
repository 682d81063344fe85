/* SPDX-License-Identifier: MIT */
/*
 * Expressions.  Literals have no type of their own: an expression is EXACT (an integer of literals and compile-time
 * integers, computed exactly), LOOSE (with a float literal that nothing has typed yet), or of a type.  kind_of() says
 * which, once for each tree, since names have the same types whenever a tree is evaluated; settle() evaluates an EXACT
 * or LOOSE one in the type that its context gives.  Operands are evaluated from left to right.
 */
#include "tests/oracle/kahn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scratch: values that live until their statement ends ---- */

enum { SCRATCH_BYTES = 1 << 28 };
static unsigned char *scratch_memory;
static size_t scratch_used;

size_t scratch_mark(void)
{
    return scratch_used;
}

void scratch_release(size_t mark)
{
    scratch_used = mark;
}

unsigned char *scratch(size_t bytes)
{
    if (!scratch_memory) scratch_memory = kahn_alloc(SCRATCH_BYTES);
    size_t at = (scratch_used + 15) & ~(size_t)15;
    if (bytes > SCRATCH_BYTES - at) kahn_refuse(0, "values beyond the memory of one statement");
    scratch_used = at + bytes;
    memset(scratch_memory + at, 0, bytes);
    return scratch_memory + at;
}

/* ---- small helpers ---- */

static bool is_scalar(const struct type *type)
{
    return type->kind == SCALAR;
}

static bool is_untyped(const struct type *type)
{
    return type->kind == EXACT || type->kind == LOOSE;
}

static const struct type *item_of(const struct type *type)
{
    return type->kind == VECTOR ? type->element : type;
}

static struct value scalar_value(const struct type *type, uint64_t bits)
{
    return (struct value){.type = type, .bits = bits};
}

static struct value load(const struct type *type, const unsigned char *at)
{
    if (is_scalar(type)) return scalar_value(type, scalar_load(type->scalar, at));
    unsigned char *copy = scratch(type->size);
    memcpy(copy, at, type->size);
    return (struct value){.type = type, .at = copy};
}

void value_store(struct value value, unsigned char *to)
{
    if (is_scalar(value.type))
        scalar_store(value.type->scalar, to, value.bits);
    else
        memcpy(to, value.at, value.type->size);
}

/* Element i of a vector; of a scalar itself. */
static uint64_t element(struct value value, uint64_t i)
{
    if (is_scalar(value.type)) return value.bits;
    return scalar_load(value.type->element->scalar, value.at + i * value.type->element->size);
}

static struct value converted(struct value from, const struct type *to, int line)
{
    if (from.type == to) return from;
    if (is_scalar(to) && is_scalar(from.type))
        return scalar_value(to, scalar_convert(from.bits, from.type->scalar, to->scalar));
    if (to->kind != VECTOR ||
        (!is_scalar(from.type) && (from.type->kind != VECTOR || from.type->length != to->length)))
        kahn_refuse(line, "a conversion that there is not");
    struct value result = {.type = to, .at = scratch(to->size)};
    for (uint64_t i = 0; i < to->length; i++)
        scalar_store(
            to->element->scalar, result.at + i * to->element->size,
            scalar_convert(element(from, i), item_of(from.type)->scalar, to->element->scalar));
    return result;
}

/* ---- literals and compile-time integers ---- */

static bool is_name(const struct tree *e, const char *name)
{
    return e->kind == T_NAME && strcmp(e->name, name) == 0;
}

static struct binding *look_up(struct frame *frame, const char *name)
{
    struct binding *found = frame_find(frame, name);
    return found ? found : kahn_constant(name, frame->library);
}

/* Known when compiling by its form: literals, compile-time integers, and what is computed from them. */
static bool is_constant(struct frame *frame, struct tree *e)
{
    struct binding *b;
    switch (e->kind) {
    case T_INT:
    case T_FLOAT: return true;
    case T_NAME:
        b = look_up(frame, e->name);
        return b ? b->kind == B_EXACT : is_name(e, "true") || is_name(e, "false");
    case T_UNARY: return is_constant(frame, e->a);
    case T_BINARY: return is_constant(frame, e->a) && is_constant(frame, e->b);
    case T_SELECT:
        return is_constant(frame, e->a) && is_constant(frame, e->b) && is_constant(frame, e->c);
    case T_CALL:
        for (struct tree *a = e->a; a; a = a->next)
            if (!is_constant(frame, a)) return false;
        return true;
    default: return false;
    }
}

static bool is_exact(struct frame *frame, struct tree *e)
{
    return kind_of(frame, e)->kind == EXACT && is_constant(frame, e);
}

static bool fits(__int128 value, enum scalar scalar)
{
    unsigned bits = scalar_bits(scalar);
    if (scalar_is_float(scalar)) return true;
    if (scalar_is_signed(scalar))
        return value >= -((__int128)1 << (bits - 1)) && value < (__int128)1 << (bits - 1);
    return value >= 0 && value < (__int128)1 << (scalar == BOOL ? 1 : bits);
}

static __int128 checked(__int128 value, int line)
{
    if (!fits(value, I64) && !fits(value, U64)) kahn_refuse(line, "a constant beyond 64 bits");
    return value;
}

static __int128 exact_binary(enum operator op, __int128 x, __int128 y, int line)
{
    bool shift = op == OP_SHL || op == OP_SHR;
    if ((op == OP_DIV || op == OP_REM) && y == 0) kahn_fault(line, "division-by-zero");
    if (shift && (y < 0 || y > 63)) kahn_refuse(line, "a constant shifted by more than 63");
    switch (op) {
    case OP_ADD: return x + y;
    case OP_SUB: return x - y;
    case OP_MUL:
        if (__builtin_mul_overflow(x, y, &x)) kahn_refuse(line, "a constant beyond 64 bits");
        return x;
    case OP_DIV: return x / y;
    case OP_REM: return x % y;
    case OP_SHL: return x * ((__int128)1 << (int)y);
    case OP_SHR: return x >> (int)y;
    case OP_AND: return x & y;
    case OP_OR: return x | y;
    case OP_XOR: return x ^ y;
    default: kahn_refuse(line, "no operator of compile-time integers");
    }
}

static __int128 exact_call(struct frame *frame, struct tree *e)
{
    __int128 x = eval_exact(frame, e->a), y = e->a->next ? eval_exact(frame, e->a->next) : 0;
    if (strcmp(e->name, "abs") == 0) return x < 0 ? -x : x;
    return (strcmp(e->name, "min") == 0) == (x < y) ? x : y;
}

__int128 eval_exact(struct frame *frame, struct tree *e)
{
    const struct type *kind = kind_of(frame, e);
    if (is_scalar(kind) &&
        !scalar_is_float(
            kind->scalar)) { /* a typed constant where a compile-time integer is wanted */
        uint64_t bits = eval(frame, e).bits;
        return scalar_is_signed(kind->scalar) ? (__int128)(int64_t)bits : (__int128)bits;
    }
    switch (e->kind) {
    case T_INT: return e->integer;
    case T_NAME: return look_up(frame, e->name)->exact;
    case T_SELECT:
        return eval_truth(frame, e->a) ? eval_exact(frame, e->b) : eval_exact(frame, e->c);
    case T_CALL: return exact_call(frame, e);
    case T_BINARY:
        return checked(exact_binary((enum operator)e->op, eval_exact(frame, e->a),
                                    eval_exact(frame, e->b), e->line),
                       e->line);
    case T_UNARY: {
        __int128 x = eval_exact(frame, e->a);
        return checked(e->op == OP_NEGATE ? -x : e->op == OP_COMPLEMENT ? -x - 1 : x, e->line);
    }
    default: kahn_refuse(e->line, "no compile-time integer");
    }
}

/* Every value that it may have fits. */
static bool all_fit(struct frame *frame, struct tree *e, enum scalar scalar)
{
    if (e->kind == T_SELECT && !is_constant(frame, e))
        return all_fit(frame, e->b, scalar) && all_fit(frame, e->c, scalar);
    return fits(eval_exact(frame, e), scalar);
}

static const struct type *default_integer(struct frame *frame, struct tree *e)
{
    return type_scalar(all_fit(frame, e, I32) ? I32 : all_fit(frame, e, I64) ? I64 : U64);
}

/* ---- kinds ---- */

/* The type in which values of a type are computed. */
static const struct type *promoted(const struct type *type)
{
    const struct type *item = item_of(type), *wide = item;
    if (!is_scalar(item)) return type;
    if (item->scalar == BOOL) wide = type_scalar(I32);
    if (item->scalar == F16 || item->scalar == BF16) wide = type_scalar(F32);
    return type->kind == VECTOR ? type_vector(wide, type->length) : wide;
}

static const struct type *usual(const struct type *a, const struct type *b)
{
    a = promoted(a);
    if (!b) return a;
    b = promoted(b);
    bool fa = scalar_is_float(a->scalar), fb = scalar_is_float(b->scalar);
    if (fa != fb) return fa ? a : b;
    if (a->size != b->size) return a->size > b->size ? a : b;
    return scalar_is_signed(a->scalar) ? b : a;
}

/* The type that an operation on these is done in; EXACT or LOOSE where nothing gives one. */
static const struct type *unified(struct frame *frame, struct tree **operands, size_t count)
{
    const struct type *typed = NULL, *common;
    uint64_t lanes = 0;
    bool loose = false;
    for (size_t i = 0; i < count; i++) {
        const struct type *kind = kind_of(frame, operands[i]);
        if (kind->kind == VECTOR) lanes = kind->length;
        loose |= kind->kind == LOOSE;
        if (!is_untyped(kind)) typed = usual(item_of(kind), typed);
    }
    common = typed;
    if (!typed || !scalar_is_float(typed->scalar)) {
        if (loose)
            common = type_loose();
        else if (!typed)
            common = type_exact();
        else
            for (size_t i = 0; i < count; i++)
                if (is_untyped(kind_of(frame, operands[i])) &&
                    !all_fit(frame, operands[i], typed->scalar))
                    common = usual(default_integer(frame, operands[i]), common);
    }
    if (lanes == 0) return common;
    return type_vector(is_untyped(common) ? type_scalar(F32) : common, lanes);
}

/* Where both are compile-time integers and one is chosen while running, each has a type of its own. */
static const struct type *unified_pair(struct frame *frame, struct tree *a, struct tree *b)
{
    struct tree *operands[2] = {a, b};
    const struct type *common = unified(frame, operands, 2);
    if (common->kind == EXACT && !(is_constant(frame, a) && is_constant(frame, b)))
        return usual(default_integer(frame, a), default_integer(frame, b));
    return common;
}

static const struct type *settled(struct frame *frame, struct tree *e)
{
    const struct type *kind = kind_of(frame, e);
    if (kind->kind == EXACT) return default_integer(frame, e);
    return kind->kind == LOOSE ? type_scalar(F32) : kind;
}

static const struct type *with_lanes(const struct type *scalar, const struct type *like)
{
    return like->kind == VECTOR ? type_vector(scalar, like->length) : scalar;
}

static bool compares(int op)
{
    return op >= OP_LT && op <= OP_NE;
}

static const struct type *kind_of_binary(struct frame *frame, struct tree *e)
{
    if (e->op == OP_ANDAND || e->op == OP_OROR) return type_scalar(BOOL);
    if (compares(e->op)) return with_lanes(type_scalar(BOOL), unified_pair(frame, e->a, e->b));
    if (e->op != OP_SHL && e->op != OP_SHR) return unified_pair(frame, e->a, e->b);
    if (is_exact(frame, e->a) && is_exact(frame, e->b)) return type_exact();
    const struct type *left = promoted(settled(frame, e->a)), *right = kind_of(frame, e->b);
    return left->kind == VECTOR ? left : with_lanes(left, right);
}

static const struct type *kind_of_unary(struct frame *frame, struct tree *e)
{
    const struct type *kind = kind_of(frame, e->a);
    if (e->op == OP_NOT) return with_lanes(type_scalar(BOOL), kind);
    if (kind->kind == EXACT && !is_constant(frame, e->a)) return default_integer(frame, e->a);
    return is_untyped(kind) ? kind : promoted(kind);
}

static const struct type *kind_of_name(struct frame *frame, struct tree *e)
{
    struct binding *b = look_up(frame, e->name);
    if (b && b->kind == B_EXACT) return type_exact();
    if (b && (b->kind == B_VARIABLE || b->kind == B_IN)) return b->type;
    if (!b && (is_name(e, "true") || is_name(e, "false"))) return type_scalar(BOOL);
    if (!b && is_name(e, "phase")) return type_scalar(I32);
    kahn_refuse(e->line, "'%s' is no value", e->name);
}

static const char *const FLOAT_FUNCTIONS[] = {"fma",   "sqrt", "floor", "ceil",
                                              "trunc", "rint", "round", "copysign"};
static const char *const FLOAT_QUESTIONS[] = {"isnan", "isinf", "signbit"};
static const char *const NUMBER_FUNCTIONS[] = {"abs", "min", "max"};
#define IS_ONE_OF(name, list) is_one_of(name, list, sizeof(list) / sizeof *(list))

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, list[i]) == 0) return true;
    return false;
}

static bool is_builtin(const char *name)
{
    static const char *const others[] = {"bits", "from_bits", "any", "all"};
    return IS_ONE_OF(name, FLOAT_FUNCTIONS) || IS_ONE_OF(name, FLOAT_QUESTIONS) ||
           IS_ONE_OF(name, NUMBER_FUNCTIONS) || IS_ONE_OF(name, others);
}

/* The meaning of a name that is called. */
struct callee {
    struct tree *function;    /* of the program or the library */
    struct tree *variants[2]; /* of library mathematics: NAME_f32, NAME_f64 */
    const struct type *construct;
};

static struct callee callee_of(struct frame *frame, const struct tree *e)
{
    struct callee callee = {0};
    struct binding *b = frame_find(frame, e->name);
    bool known = is_builtin(e->name);
    if (b && b->kind == B_TYPE) callee.construct = b->type;
    if (callee.construct || (known && frame->library)) return callee;
    struct tree *item = kahn_item(e->name, frame->library);
    if (item && item->kind == I_FUNCTION) callee.function = item;
    if (item && item->kind == I_STRUCT) {
        struct tree named = {.kind = T_TYPE, .name = e->name, .line = e->line};
        callee.construct = kahn_type(frame, &named, NULL);
    }
    for (int wide = 0; wide < 2 && !callee.function && !known; wide++) {
        char name[300];
        int length = snprintf(name, sizeof name, "%s_f%d", e->name, wide ? 64 : 32);
        item = kahn_item(kahn_intern(name, (size_t)length), frame->library);
        if (item && item->kind == I_FUNCTION) callee.variants[wide] = item;
    }
    return callee;
}

enum { ARGUMENTS_MAX = 16 };

static size_t listed(struct tree *first, struct tree **into)
{
    size_t count = 0;
    for (; first; first = first->next) {
        if (count == ARGUMENTS_MAX)
            kahn_refuse(first->line, "more than %d arguments are not covered", ARGUMENTS_MAX);
        into[count++] = first;
    }
    return count;
}

/* The type in which a built-in function is computed; LOOSE where the context says. */
static const struct type *type_of_builtin(struct frame *frame, struct tree *e)
{
    struct tree *arguments[ARGUMENTS_MAX];
    size_t count = listed(e->a, arguments);
    if (strcmp(e->name, "bits") == 0) return settled(frame, e->a);
    if (strcmp(e->name, "from_bits") == 0 && is_exact(frame, e->a))
        return type_scalar(fits(eval_exact(frame, e->a), U32) ? U32 : U64);
    if (strcmp(e->name, "from_bits") == 0) return settled(frame, e->a);
    const struct type *common = unified(frame, arguments, count);
    if (IS_ONE_OF(e->name, NUMBER_FUNCTIONS)) {
        if (common->kind != EXACT || is_constant(frame, e)) return common;
        common = default_integer(frame, arguments[0]);
        return count > 1 ? usual(common, default_integer(frame, arguments[1])) : common;
    }
    bool is_float = !is_untyped(common) && scalar_is_float(item_of(common)->scalar);
    if (is_float) return common;
    if (common->kind == VECTOR) return type_vector(type_scalar(F32), common->length);
    return IS_ONE_OF(e->name, FLOAT_FUNCTIONS) ? type_loose() : type_scalar(F32);
}

static const struct type *kind_of_builtin(struct frame *frame, struct tree *e)
{
    if (strcmp(e->name, "any") == 0 || strcmp(e->name, "all") == 0) return type_scalar(BOOL);
    const struct type *type = type_of_builtin(frame, e);
    if (IS_ONE_OF(e->name, FLOAT_QUESTIONS)) return with_lanes(type_scalar(BOOL), type);
    if (is_untyped(type)) return type;
    enum scalar scalar = item_of(type)->scalar, given = scalar;
    if (strcmp(e->name, "bits") == 0) given = scalar == F32 ? U32 : U64;
    if (strcmp(e->name, "from_bits") == 0) given = scalar == U32 ? F32 : F64;
    return with_lanes(type_scalar(given), type);
}

static const struct type *result_of(struct frame *frame, struct tree *function)
{
    struct frame outside = {.library = function->library};
    (void)frame;
    return kahn_type(&outside, function->d, NULL);
}

/* Library mathematics: the type of the arguments, LOOSE where the context says. */
static const struct type *type_of_library(struct frame *frame, struct tree *e)
{
    struct tree *arguments[ARGUMENTS_MAX];
    const struct type *common = unified(frame, arguments, listed(e->a, arguments));
    bool is_float = !is_untyped(common) && scalar_is_float(item_of(common)->scalar);
    if (is_float) return common;
    return common->kind == VECTOR ? type_vector(type_scalar(F32), common->length) : type_loose();
}

static const struct type *kind_of_call(struct frame *frame, struct tree *e)
{
    struct callee callee = callee_of(frame, e);
    if (callee.construct) return callee.construct;
    if (callee.function) return result_of(frame, callee.function);
    if (is_builtin(e->name)) return kind_of_builtin(frame, e);
    if (strcmp(e->name, "left") == 0) return type_scalar(I64);
    if (strcmp(e->name, "done") == 0) return type_scalar(BOOL);
    if (strcmp(e->name, "barrier") == 0) return type_void();
    if (callee.variants[0] || callee.variants[1]) return type_of_library(frame, e);
    kahn_refuse(e->line, "there is no function '%s'", e->name);
}

/* ---- places: names, indices, members ---- */

/* The in-port at the root of x[..][..], and how many indices the port itself takes; NULL: no port. */
static struct binding *port_root(struct frame *frame, struct tree *e, int *depth, int *wanted)
{
    *depth = 0;
    for (; e->kind == T_INDEX; e = e->a)
        ++*depth;
    if (e->kind != T_NAME) return NULL;
    struct binding *b = frame_find(frame, e->name);
    if (!b || b->kind != B_IN) return NULL;
    const struct port *port = &frame->firing->ports[b->port];
    *wanted = (port->is_array ? 1 : 0) + (port->window_width ? 2 : 1);
    return b;
}

static const struct type *kind_of_index(struct frame *frame, struct tree *e)
{
    int depth, wanted;
    struct binding *port = port_root(frame, e, &depth, &wanted);
    if (port && depth <= wanted) return port->type;
    return kind_of(frame, e->a)->element;
}

static bool is_item(struct frame *frame, const struct tree *e)
{
    return e->kind == T_MEMBER && is_name(e->a, "item") && !look_up(frame, e->a->name);
}

static const struct field *field_of(const struct type *type, const char *name)
{
    for (uint64_t i = 0; type->kind == STRUCT && i < type->length; i++)
        if (type->fields[i].name == name) return &type->fields[i];
    return NULL;
}

static const struct type *kind_of_member(struct frame *frame, struct tree *e)
{
    if (is_item(frame, e)) return type_scalar(I32);
    const struct type *type = kind_of(frame, e->a);
    const struct field *field = field_of(type, e->name);
    if (field) return field->type;
    if (type->kind != VECTOR) kahn_refuse(e->line, "there is no field '%s'", e->name);
    return type->element;
}

static const struct type *find_kind(struct frame *frame, struct tree *e)
{
    switch (e->kind) {
    case T_INT:
        if (e->flags & SUFFIX_U)
            return type_scalar(e->integer > UINT32_MAX || (e->flags & SUFFIX_L) ? U64 : U32);
        return e->flags & SUFFIX_L ? type_scalar(I64) : type_exact();
    case T_FLOAT: return e->flags & SUFFIX_F ? type_scalar(F32) : type_loose();
    case T_NAME: return kind_of_name(frame, e);
    case T_UNARY: return kind_of_unary(frame, e);
    case T_BINARY: return kind_of_binary(frame, e);
    case T_SELECT: {
        const struct type *yes = kind_of(frame, e->b), *no = kind_of(frame, e->c);
        struct tree *arms[2] = {e->b, e->c};
        return yes == no ? yes : unified(frame, arms, 2);
    }
    case T_ASSIGN:
        if (body_is_out(frame, e->a)) return type_void();
        return kind_of(frame, e->a);
    case T_STEP: return kind_of(frame, e->a);
    case T_COMMA: return settled(frame, e->b);
    case T_INDEX: return kind_of_index(frame, e);
    case T_MEMBER: return kind_of_member(frame, e);
    case T_CALL: return kind_of_call(frame, e);
    case T_CAST:
    case T_CONSTRUCT: return kahn_type(frame, e->d, NULL);
    default: kahn_refuse(e->line, "no value");
    }
}

const struct type *kind_of(struct frame *frame, struct tree *e)
{
    if (!e->known) e->known = find_kind(frame, e);
    return e->known;
}

static __int128 index_value(struct frame *frame, struct tree *e)
{
    if (is_exact(frame, e)) return eval_exact(frame, e);
    struct value v = eval(frame, e);
    return scalar_is_signed(v.type->scalar) ? (__int128)(int64_t)v.bits : (__int128)v.bits;
}

static const unsigned char *port_place(struct frame *frame, struct tree *e, struct binding *b,
                                       int depth)
{
    const struct port *port = &frame->firing->ports[b->port];
    __int128 index[3] = {0, 0, 0};
    struct tree *chain[3];
    for (int i = depth; i-- > 0; e = e->a)
        chain[i] = e;
    for (int i = 0; i < depth; i++)
        index[i] = index_value(frame, chain[i]->b);
    const __int128 *rest = index;
    uint64_t which = 0;
    if (port->is_array) {
        if (index[0] < 0 || index[0] >= (__int128)port->arity)
            kahn_fault(e->line, "index-out-of-range");
        which = (uint64_t)*rest++;
    }
    return port->window_width ? firing_window(frame, b->port, which, e->line, rest[0], rest[1])
                              : firing_packet(frame, b->port, which, e->line, rest[0]);
}

/* Where the value of an expression is. */
static unsigned char *place(struct frame *frame, struct tree *e)
{
    int depth, wanted;
    struct binding *b = port_root(frame, e, &depth, &wanted);
    if (b && depth <= wanted) return (unsigned char *)port_place(frame, e, b, depth);
    if (e->kind == T_NAME) {
        b = look_up(frame, e->name);
        if (b && b->kind == B_VARIABLE) return b->at;
    }
    if (e->kind == T_INDEX) {
        const struct type *type = kind_of(frame, e->a);
        unsigned char *base = place(frame, e->a);
        __int128 index = index_value(frame, e->b);
        if (index < 0 || index >= (__int128)type->length) kahn_fault(e->line, "index-out-of-range");
        return base + (size_t)index * type->element->size;
    }
    if (e->kind == T_MEMBER && !is_item(frame, e)) {
        const struct type *type = kind_of(frame, e->a);
        const struct field *field = field_of(type, e->name);
        unsigned char *base = place(frame, e->a);
        return base + (field ? field->offset
                             : (size_t)(strchr("xyzw", e->name[0]) - "xyzw") * type->element->size);
    }
    struct value v = eval(frame, e);
    if (!is_scalar(v.type)) return v.at;
    unsigned char *at = scratch(v.type->size);
    value_store(v, at);
    return at;
}

/* ---- evaluation ---- */

static uint64_t settle(struct frame *frame, struct tree *e, const struct type *type);

static uint64_t exact_to(__int128 value, enum scalar scalar)
{
    bool negative = value < 0;
    return scalar_convert((uint64_t)value, negative ? I64 : U64, scalar);
}

static uint64_t settle_call(struct frame *frame, struct tree *e, const struct type *type)
{
    struct callee callee = callee_of(frame, e);
    if (callee.variants[0] || callee.variants[1]) {
        bool wide = type->scalar == F64;
        struct tree *function =
            callee.variants[wide] ? callee.variants[wide] : callee.variants[!wide];
        return converted(call_function(frame, function, e->a, NULL), type, e->line).bits;
    }
    uint64_t arguments[3] = {0}, value;
    enum scalar result;
    struct tree *a = e->a;
    for (int i = 0; a && i < 3; a = a->next, i++)
        arguments[i] = settle(frame, a, type);
    if (!scalar_builtin(e->name, type->scalar, arguments, &value, &result))
        kahn_refuse(e->line, "'%s' is not covered", e->name);
    return value;
}

/* The value of an EXACT or LOOSE expression, or of a typed one inside it, computed in `type`. */
static uint64_t settle(struct frame *frame, struct tree *e, const struct type *type)
{
    if (!is_untyped(kind_of(frame, e))) return converted(eval(frame, e), type, e->line).bits;
    if (is_exact(frame, e)) return exact_to(eval_exact(frame, e), type->scalar);
    switch (e->kind) {
    case T_FLOAT: return scalar_of_double(e->number, type->scalar);
    case T_SELECT:
        return eval_truth(frame, e->a) ? settle(frame, e->b, type) : settle(frame, e->c, type);
    case T_UNARY: {
        uint64_t value = settle(frame, e->a, type);
        return e->op == OP_NEGATE ? scalar_negate(type->scalar, value) : value;
    }
    case T_BINARY: {
        uint64_t left = settle(frame, e->a, type), right = settle(frame, e->b, type);
        return scalar_binary((enum operator)e->op, type->scalar, left, right, e->line);
    }
    case T_CALL: return settle_call(frame, e, type);
    default: kahn_refuse(e->line, "a literal expression that is not covered");
    }
}

/* A float literal, perhaps with a sign. */
static bool is_float_leaf(const struct tree *e)
{
    while (e->kind == T_UNARY && (e->op == OP_NEGATE || e->op == OP_PLUS))
        e = e->a;
    return e->kind == T_FLOAT;
}

static uint64_t untyped_to(struct frame *frame, struct tree *e, const struct type *type)
{
    enum scalar to = type->scalar;
    const struct type *f32 = type_scalar(F32), *f64 = type_scalar(F64);
    if (is_exact(frame, e)) return exact_to(eval_exact(frame, e), to);
    if (is_float_leaf(e)) return scalar_convert(settle(frame, e, f64), F64, to);
    if (to == F16 || to == BF16) return scalar_convert(settle(frame, e, f32), F32, to);
    if (scalar_is_float(to) || (kind_of(frame, e)->kind == EXACT && to != BOOL))
        return settle(frame, e, type);
    const struct type *own = settled(frame, e);
    return scalar_convert(settle(frame, e, own), own->scalar, to);
}

struct value eval_to(struct frame *frame, struct tree *e, const struct type *type)
{
    if (!is_untyped(kind_of(frame, e))) return converted(eval(frame, e), type, e->line);
    const struct type *item = item_of(type);
    return converted(scalar_value(item, untyped_to(frame, e, item)), type, e->line);
}

bool eval_truth(struct frame *frame, struct tree *e)
{
    return eval_to(frame, e, type_scalar(BOOL)).bits != 0;
}

static struct value elementwise(enum operator op, struct value a, struct value b,
                                const struct type *result, int line)
{
    enum scalar scalar = item_of(a.type)->scalar;
    if (result->kind != VECTOR)
        return scalar_value(result, scalar_binary(op, scalar, a.bits, b.bits, line));
    struct value v = {.type = result, .at = scratch(result->size)};
    for (uint64_t i = 0; i < result->length; i++)
        scalar_store(result->element->scalar, v.at + i * result->element->size,
                     scalar_binary(op, scalar, element(a, i), element(b, i), line));
    return v;
}

static struct value eval_shift(struct frame *frame, enum operator op, struct value left,
                               struct tree *right, const struct type *result, int line)
{
    struct value count = eval_to(frame, right, promoted(settled(frame, right)));
    bool is_signed = scalar_is_signed(item_of(count.type)->scalar);
    (void)is_signed; /* the width is a power of two: modulo it all integers count alike */
    return elementwise(op, left, count, result, line);
}

static struct value eval_binary(struct frame *frame, struct tree *e)
{
    enum operator op = (enum operator)e->op;
    const struct type *result = kind_of(frame, e);
    if (op == OP_ANDAND || op == OP_OROR) {
        bool left = eval_truth(frame, e->a);
        return scalar_value(result, left == (op == OP_OROR) ? left : eval_truth(frame, e->b));
    }
    if (op == OP_SHL || op == OP_SHR)
        return eval_shift(frame, op, eval_to(frame, e->a, result), e->b, result, e->line);
    const struct type *type = unified_pair(frame, e->a, e->b);
    if (type->kind == EXACT) {
        __int128 x = eval_exact(frame, e->a), y = eval_exact(frame, e->b);
        bool truth = op == OP_LT   ? x < y
                     : op == OP_GT ? x > y
                     : op == OP_LE ? x <= y
                     : op == OP_GE ? x >= y
                                   : (op == OP_EQ) == (x == y);
        return scalar_value(result, truth);
    }
    if (type->kind == LOOSE) type = type_scalar(F32);
    struct value left = eval_to(frame, e->a, type), right = eval_to(frame, e->b, type);
    return elementwise(op, left, right, result, e->line);
}

static struct value eval_unary(struct frame *frame, struct tree *e)
{
    const struct type *type = kind_of(frame, e), *item = item_of(type);
    struct value a = eval_to(frame, e->a, type), v = {.type = type};
    if (type->kind == VECTOR) v.at = scratch(type->size);
    for (uint64_t i = 0; i < (type->kind == VECTOR ? type->length : 1); i++) {
        uint64_t x = element(a, i);
        if (e->op == OP_NOT) x = !x;
        if (e->op == OP_NEGATE) x = scalar_negate(item->scalar, x);
        if (e->op == OP_COMPLEMENT)
            x = scalar_convert(~x, scalar_is_signed(item->scalar) ? I64 : U64, item->scalar);
        if (type->kind == VECTOR) scalar_store(item->scalar, v.at + i * item->size, x);
        v.bits = x;
    }
    return v;
}

static struct value eval_builtin(struct frame *frame, struct tree *e)
{
    const struct type *result = kind_of(frame, e);
    struct value arguments[3];
    int count = 0;
    if (strcmp(e->name, "any") == 0 || strcmp(e->name, "all") == 0) {
        const struct type *type = settled(frame, e->a);
        struct value v = eval_to(frame, e->a, type_vector(type_scalar(BOOL), type->length));
        uint64_t set = 0;
        for (uint64_t i = 0; i < type->length; i++)
            set += element(v, i);
        return scalar_value(result, e->name[1] == 'n' ? set > 0 : set == type->length);
    }
    const struct type *type = type_of_builtin(frame, e);
    for (struct tree *a = e->a; a && count < 3; a = a->next)
        arguments[count++] = eval_to(frame, a, type);
    struct value v = {.type = result};
    if (result->kind == VECTOR) v.at = scratch(result->size);
    for (uint64_t i = 0; i < (result->kind == VECTOR ? result->length : 1); i++) {
        uint64_t items[3] = {0};
        enum scalar given;
        for (int n = 0; n < count; n++)
            items[n] = element(arguments[n], i);
        if (!scalar_builtin(e->name, item_of(type)->scalar, items, &v.bits, &given))
            kahn_refuse(e->line, "'%s' is not covered", e->name);
        if (result->kind == VECTOR) scalar_store(given, v.at + i * result->element->size, v.bits);
    }
    return v;
}

static struct value construct(struct frame *frame, const struct type *type, struct tree *arguments,
                              int line)
{
    bool single = arguments && !arguments->next;
    if (single && type->kind != STRUCT) return eval_to(frame, arguments, type);
    if (single && kind_of(frame, arguments) == type) return eval(frame, arguments);
    struct value v = {.type = type, .at = scratch(type->size)};
    uint64_t at = 0;
    for (struct tree *a = arguments; a; a = a->next) {
        if (at >= type->length) kahn_refuse(line, "too many values");
        const struct type *kind = kind_of(frame, a),
                          *wanted = type->kind == STRUCT ? type->fields[at].type : type->element;
        if (type->kind == VECTOR && kind->kind == VECTOR)
            wanted = type_vector(type->element, kind->length);
        size_t offset = type->kind == STRUCT ? type->fields[at].offset : at * type->element->size;
        value_store(eval_to(frame, a, wanted), v.at + offset);
        at += type->kind == VECTOR && kind->kind == VECTOR ? kind->length : 1;
    }
    return v;
}

static int64_t packets_left(struct frame *frame)
{
    const struct end *end = &frame->firing->node->ends[0];
    const struct node *node = frame->firing->node;
    bool counted = !node->stopped && (node->fed || end->channel->closed);
    return counted ? (int64_t)(end->channel->packets.count - end->at) : 0;
}

static struct value eval_call(struct frame *frame, struct tree *e)
{
    struct callee callee = callee_of(frame, e);
    const struct type *kind = kind_of(frame, e);
    if (callee.construct) return construct(frame, callee.construct, e->a, e->line);
    if (callee.function) return call_function(frame, callee.function, e->a, NULL);
    if (is_builtin(e->name)) return eval_builtin(frame, e);
    if (strcmp(e->name, "left") == 0) return scalar_value(kind, (uint64_t)packets_left(frame));
    if (strcmp(e->name, "done") == 0)
        return scalar_value(kind, frame_find(frame, e->a->name)->event->appended);
    if (kind->kind == VOID) kahn_refuse(e->line, "a barrier where it is not covered");
    bool wide = item_of(kind)->scalar == F64;
    struct tree *function = callee.variants[wide];
    if (!function && !wide) function = callee.variants[1];
    if (!function) kahn_refuse(e->line, "there is no '%s' for f64", e->name);
    struct value v = call_function(frame, function, e->a, kind->kind == VECTOR ? kind : NULL);
    return converted(v, kind, e->line);
}

static struct value eval_name(struct frame *frame, struct tree *e)
{
    const struct type *kind = kind_of(frame, e);
    if (!look_up(frame, e->name)) {
        if (is_name(e, "phase")) return scalar_value(kind, (uint64_t)frame->firing->phase);
        return scalar_value(kind, is_name(e, "true"));
    }
    return load(kind, place(frame, e));
}

/* a = b, a += b, ++a: `right` NULL for a step by one. */
static struct value assign(struct frame *frame, struct tree *e, struct tree *right)
{
    const struct type *type = kind_of(frame, e->a);
    enum operator op = (enum operator)e->op;
    unsigned char *at = place(frame, e->a);
    struct tree one = {.kind = T_INT, .integer = 1, .line = e->line};
    struct value old = load(type, at), v;
    if (!right) right = &one;
    if (op == OP_NONE) {
        unsigned char *copy = scratch(type->size);
        eval_into(frame, right, type, copy);
        memcpy(at, copy, type->size);
        return load(type, at);
    }
    if (op == OP_SHL || op == OP_SHR) {
        const struct type *wide = promoted(type);
        v = eval_shift(frame, op, converted(old, wide, e->line), right, wide, e->line);
    } else {
        struct tree *operands[2] = {e->a, right};
        const struct type *common = unified(frame, operands, 2);
        if (common->kind == LOOSE)
            common = type_scalar(is_scalar(type) && type->scalar == F64 ? F64 : F32);
        struct value left = converted(old, common, e->line);
        v = elementwise(op, left, eval_to(frame, right, common), common, e->line);
    }
    v = converted(v, type, e->line);
    value_store(v, at);
    return e->kind == T_STEP && e->flags ? old : v;
}

struct value eval(struct frame *frame, struct tree *e)
{
    const struct type *kind = kind_of(frame, e);
    if (is_untyped(kind)) {
        const struct type *own = settled(frame, e);
        return scalar_value(own, untyped_to(frame, e, own));
    }
    switch (e->kind) {
    case T_INT: return scalar_value(kind, e->integer);
    case T_FLOAT: return scalar_value(kind, scalar_of_double(e->number, kind->scalar));
    case T_NAME: return eval_name(frame, e);
    case T_UNARY: return eval_unary(frame, e);
    case T_BINARY: return eval_binary(frame, e);
    case T_SELECT: return eval_to(frame, eval_truth(frame, e->a) ? e->b : e->c, kind);
    case T_ASSIGN:
        if (kind->kind != VOID) return assign(frame, e, e->b);
        body_set_packet(frame, e);
        return scalar_value(kind, 0);
    case T_STEP: return assign(frame, e, NULL);
    case T_COMMA: eval(frame, e->a); return eval(frame, e->b);
    case T_INDEX: return load(kind, place(frame, e));
    case T_MEMBER:
        if (is_item(frame, e) && strcmp(e->name, "group") == 0)
            return scalar_value(kind, (uint64_t)frame->work_group);
        if (is_item(frame, e) && strcmp(e->name, "groups") == 0)
            return scalar_value(kind, (uint64_t)frame->work_groups);
        if (is_item(frame, e)) return scalar_value(kind, (uint64_t)frame->item[e->name[0] - 'x']);
        return load(kind, place(frame, e));
    case T_CALL: return eval_call(frame, e);
    case T_CAST:
    case T_CONSTRUCT: return construct(frame, kind, e->a, e->line);
    default: kahn_refuse(e->line, "no value");
    }
}

/* ---- initialisers ---- */

static void braces_into(struct frame *frame, struct tree *e, const struct type *type,
                        unsigned char *to)
{
    uint64_t at = 0;
    memset(to, 0, type->size);
    if (e->a && e->a->kind == T_FIELD) {
        for (at = 0; at < type->length; at++) /* in the order of the fields */
            for (struct tree *item = e->a; item; item = item->next)
                if (item->name == type->fields[at].name)
                    eval_into(frame, item->a, type->fields[at].type, to + type->fields[at].offset);
        return;
    }
    for (struct tree *item = e->a; item; item = item->next, at++) {
        if (at >= type->length) {
            kahn_refuse(item->line, "too many values in braces");
        } else if (type->kind == STRUCT) {
            eval_into(frame, item, type->fields[at].type, to + type->fields[at].offset);
        } else {
            eval_into(frame, item, type->element, to + at * type->element->size);
        }
    }
}

void eval_into(struct frame *frame, struct tree *e, const struct type *type, unsigned char *to)
{
    if (e->kind == T_BRACES) {
        braces_into(frame, e, type, to);
        return;
    }
    struct value v = eval_to(frame, e, type);
    value_store(v, to);
}
