#include <inttypes.h>
#include <stdio.h>

#include "compiler/analysis/walk_internal.h"
#include "compiler/sema/arith.h"

/* ---- intervals ---- */

struct interval interval_join(struct interval a, struct interval b)
{
    return (struct interval){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

bool interval_overlaps(struct interval a, struct interval b)
{
    return a.low <= b.high && b.low <= a.high;
}

struct interval interval_meet(struct interval a, struct interval b)
{
    if (!interval_overlaps(a, b)) return a;
    return (struct interval){a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}

bool interval_is(struct interval a, int64_t value)
{
    return a.low == value && a.high == value;
}

bool interval_is_true(struct interval a)
{
    return a.low > 0 || a.high < 0;
}

struct interval interval_of_type(const struct type *type)
{
    if (type_is_bool(type)) return (struct interval){0, 1};
    if (!type_is_integer(type)) return INTERVAL_ALL;
    unsigned bits = 8 * (unsigned)scalar_width_bytes(type->scalar);
    if (!scalar_is_signed(type->scalar)) return (struct interval){0, ((wide)1 << bits) - 1};
    return (struct interval){-((wide)1 << (bits - 1)), ((wide)1 << (bits - 1)) - 1};
}

struct interval interval_of_value(struct scalar_value value)
{
    if (scalar_is_float(value.type)) return INTERVAL_ALL;
    wide v = arith_as_exact(value);
    return (struct interval){v, v};
}

/* What an operation with the exact result `i` gives in `type`: itself, or anything where it may
 * wrap. */
static struct interval wrapped(struct interval i, const struct type *type)
{
    struct interval all = interval_of_type(type);
    return i.low >= all.low && i.high <= all.high ? i : all;
}

/* ---- arithmetic ---- */

static struct interval multiply(struct interval a, struct interval b)
{
    /* Operands are at most 2^64 in size: halve the range to keep products inside 128 bits. */
    const wide limit = (wide)1 << 62;
    if (a.low < -limit || a.high > limit || b.low < -limit || b.high > limit) return INTERVAL_ALL;
    wide p[4] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    struct interval r = {p[0], p[0]};
    for (int i = 1; i < 4; i++)
        r = interval_join(r, (struct interval){p[i], p[i]});
    return r;
}

static struct interval divide(struct interval a, struct interval b)
{
    if (b.low <= 0) return INTERVAL_ALL;
    wide q[4] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};
    struct interval r = {q[0], q[0]};
    for (int i = 1; i < 4; i++)
        r = interval_join(r, (struct interval){q[i], q[i]});
    return r;
}

static struct interval remainder_of(struct interval a, struct interval b)
{
    if (b.low <= 0) return INTERVAL_ALL;
    if (a.low == a.high && b.low == b.high) return (struct interval){a.low % b.low, a.low % b.low};
    wide most = b.high - 1;
    struct interval r = {a.low < 0 ? -most : 0, a.high > 0 ? most : 0};
    return a.low >= 0 && a.high < b.low ? a : r;
}

static struct interval bitwise_and(struct interval a, struct interval b)
{
    if (a.low == a.high && b.low == b.high) {
        wide v = (wide)((int64_t)a.low & (int64_t)b.low);
        return (struct interval){v, v};
    }
    if (a.low >= 0 && b.low >= 0) return (struct interval){0, a.high < b.high ? a.high : b.high};
    if (a.low >= 0) return (struct interval){0, a.high};
    if (b.low >= 0) return (struct interval){0, b.high};
    return INTERVAL_ALL;
}

/* Or, exclusive or: of values that are not negative, below the next power of two. */
static struct interval bitwise_or(struct interval a, struct interval b)
{
    if (a.low < 0 || b.low < 0) return INTERVAL_ALL;
    wide top = 1;
    while (top <= a.high || top <= b.high)
        top <<= 1;
    return (struct interval){0, top - 1};
}

static struct interval shift(enum kx_op op, struct interval a, struct interval count,
                             const struct type *type)
{
    wide width = 8 * (wide)type->width_bytes;
    if (count.low < 0 || count.high >= width || count.low != count.high) {
        if (op == OP_SHR && a.low >= 0) return (struct interval){0, a.high};
        return INTERVAL_ALL;
    }
    unsigned bits = (unsigned)count.low;
    struct interval by = {(wide)1 << bits, (wide)1 << bits};
    if (op == OP_SHL) return multiply(a, by);
    /* Arithmetic shift rounds down. */
    return (struct interval){a.low >> bits, a.high >> bits};
}

struct interval interval_binary(enum kx_op op, struct interval a, struct interval b,
                                const struct type *type)
{
    switch (op) {
    case OP_ADD: return (struct interval){a.low + b.low, a.high + b.high};
    case OP_SUB: return (struct interval){a.low - b.high, a.high - b.low};
    case OP_MUL: return multiply(a, b);
    case OP_DIV: return divide(a, b);
    case OP_REM: return remainder_of(a, b);
    case OP_AND: return bitwise_and(a, b);
    case OP_OR:
    case OP_XOR: return bitwise_or(a, b);
    case OP_SHL:
    case OP_SHR: return shift(op, a, b, type);
    default: return INTERVAL_ALL;
    }
}

static struct interval binary(enum kx_op op, struct interval a, struct interval b,
                              const struct type *type)
{
    if (!type_is_integer(type)) return interval_of_type(type);
    return wrapped(interval_binary(op, a, b, type), type);
}

/* Keeps whether the operation `e` may leave its type at some visit. */
static void mark_wrap(const struct walker *w, const struct walk_state *s, struct kx *e,
                      struct interval a, struct interval b)
{
    if (!w->mark || !s->reachable || !type_is_integer(e->type)) return;
    struct interval exact = interval_binary(e->op, a, b, e->type);
    struct interval all = interval_of_type(e->type);
    e->may_wrap |= exact.low < all.low || exact.high > all.high;
}

static struct interval compare(enum kx_op op, struct interval a, struct interval b)
{
    const struct interval no = {0, 0}, yes = {1, 1}, maybe = {0, 1};
    switch (op) {
    case OP_LT: return a.high < b.low ? yes : a.low >= b.high ? no : maybe;
    case OP_LE: return a.high <= b.low ? yes : a.low > b.high ? no : maybe;
    case OP_GT: return compare(OP_LT, b, a);
    case OP_GE: return compare(OP_LE, b, a);
    case OP_EQ:
        if (a.low == a.high && b.low == b.high && a.low == b.low) return yes;
        return interval_overlaps(a, b) ? maybe : no;
    case OP_NE:
        if (a.low == a.high && b.low == b.high && a.low == b.low) return no;
        return interval_overlaps(a, b) ? maybe : yes;
    default: return maybe;
    }
}

static struct interval truth(struct interval a)
{
    if (interval_is(a, 0)) return (struct interval){0, 0};
    if (interval_is_true(a)) return (struct interval){1, 1};
    return (struct interval){0, 1};
}

static struct interval convert(struct interval a, const struct type *from, const struct type *to)
{
    if (!type_is_integer(from) && !type_is_bool(from)) return interval_of_type(to);
    if (type_is_float(to)) return INTERVAL_ALL; /* rounded */
    return type_is_bool(to) ? truth(a) : wrapped(a, to);
}

/* ---- accesses ---- */

enum { SEEN = 1, MAYBE_INSIDE = 2, REPORTED = 4 }; /* bits of `visited` */

static const char ROW[] = "row", COLUMN[] = "column"; /* of a 2-D window, from its first one */

static void report_outside_window(struct walker *w, const struct walk_outside *o)
{
    int64_t half = (int64_t)(o->length / 2);
    struct diag *d;
    if (o->index.low == o->index.high)
        d = diag_report(w->cx->diags, RULE_OUT_OF_WINDOW, o->span,
                        "%s %" PRId64 " is outside the window of '%s', whose %ss are -%" PRId64
                        " to %" PRId64,
                        o->what, (int64_t)o->index.low - half, o->name, o->what, half, half);
    else
        d = diag_report(w->cx->diags, RULE_OUT_OF_WINDOW, o->span,
                        "the %s is outside the window of '%s', whose %ss are -%" PRId64
                        " to %" PRId64,
                        o->what, o->name, o->what, half, half);
    if (o->index.low > half) diag_help(d, "a %s counts from the centre, which is 0", o->what);
}

static void report_outside(struct walker *w, const struct walk_outside *o)
{
    bool window = o->what[0] == 'w', known = o->index.low == o->index.high;
    char index[24];
    snprintf(index, sizeof index, o->index.low < 0 ? "-%" PRIu64 : "%" PRIu64,
             (uint64_t)(o->index.low < 0 ? -o->index.low : o->index.low));
    const char *of = o->name[0] != '\0' ? " of '" : "", *end = o->name[0] != '\0' ? "'" : "";
    enum rule rule = window ? RULE_OUT_OF_WINDOW : RULE_OUT_OF_RANGE;
    struct diag *d;
    if (*o->visited & REPORTED) return;
    *o->visited |= REPORTED;
    if (o->what == ROW || o->what == COLUMN) {
        report_outside_window(w, o);
        return;
    }
    if (o->length == 0)
        d = diag_report(w->cx->diags, rule, o->span, "%s of '%s' is empty", o->what, o->name);
    else if (known)
        d = diag_report(w->cx->diags, rule, o->span,
                        "index %s is outside the %s%s%s%s, which ends at %" PRIu64, index, o->what,
                        of, o->name, end, o->length - 1);
    else
        d = diag_report(w->cx->diags, rule, o->span,
                        "the index is outside the %s%s%s%s, which ends at %" PRIu64, o->what, of,
                        o->name, end, o->length - 1);
    if (window && w->section == WALK_FIRING && w->kernel->phases > 1)
        diag_note(d, "in phase %" PRIu32 " of %" PRIu32, o->phase, w->kernel->phases);
    else if (window && known && o->index.low > 0 && o->index.low < INT32_MAX)
        diag_help(d, "'peek %" PRId64 "' would make the window large enough",
                  (int64_t)o->index.low + 1);
}

void walk_report_outside(struct walker *w)
{
    for (size_t i = 0; i < w->outside.count; i++)
        if (!(*w->outside.items[i].visited & MAYBE_INSIDE)) report_outside(w, &w->outside.items[i]);
}

void walk_mark_access(struct walker *w, const struct walk_state *s, enum access_check *check,
                      unsigned char *visited, struct interval index, uint64_t length,
                      struct span span, const char *what, const char *name)
{
    if (!w->mark || !s->reachable) return;
    if (!(*visited & SEEN)) *check = ACCESS_PROVEN;
    *visited |= SEEN;
    if (index.low < 0 || index.high >= (wide)length) *check = ACCESS_CHECKED;
    if (index.high >= 0 && index.low < (wide)length) {
        *visited |= MAYBE_INSIDE;
        return;
    }
    struct walk_outside outside = {visited, index, length, w->phase, span, what, name};
    if (s->certain)
        report_outside(w, &outside);
    else if (!(*visited & (MAYBE_INSIDE | REPORTED)))
        vec_push(w->scratch, &w->outside, outside);
}

/* Empty for a value without a name. */
static const char *array_name(const struct walker *w, const struct kx *e)
{
    while (e->kind == KX_INDEX)
        e = e->left;
    if (e->kind == KX_VARIABLE) return e->variable->name;
    if (e->kind == KX_MEMBER) return e->left->type->fields[e->member].name;
    bool packet = e->kind == KX_PEEK || e->kind == KX_WINDOW;
    if (packet && w->kernel != NULL) return w->kernel->in[e->port].name;
    return "";
}

/* Of all items of a constant array; found once. */
static struct interval whole_range(struct walker *w, const struct variable *v)
{
    for (size_t i = 0; i < w->constants.count; i++)
        if (w->constants.items[i].variable == v) return w->constants.items[i].range;
    struct interval r = interval_of_value(v->constant[0]);
    uint64_t count = type_scalar_count(v->type);
    for (uint64_t i = 1; i < count; i++)
        r = interval_join(r, interval_of_value(v->constant[i]));
    vec_push(w->scratch, &w->constants, (struct walk_constant){v, r});
    return r;
}

/* The value of an item of a constant array: of those that `index` can name, where that is cheap to
 * tell. */
static struct interval constant_range(struct walker *w, const struct kx *e, struct interval index)
{
    enum { ITEMS_MAX = 256 };
    const struct kx *root = e;
    while (root->kind == KX_INDEX)
        root = root->left;
    if (root->kind != KX_VARIABLE || root->variable->kind != VARIABLE_CONSTANT)
        return interval_of_type(e->type);
    if (!type_is_integer(e->type) || root->type->width_bytes == 0) return interval_of_type(e->type);
    wide last = (wide)e->left->type->length - 1;
    wide from = index.low < 0 ? 0 : index.low, to = index.high > last ? last : index.high;
    if (e->left != root || from > to || to - from > ITEMS_MAX)
        return whole_range(w, root->variable);
    struct interval r = interval_of_value(root->variable->constant[from]);
    for (wide i = from; i <= to; i++)
        r = interval_join(r, interval_of_value(root->variable->constant[i]));
    return r;
}

static struct interval eval_index(struct walker *w, struct walk_state *s, struct kx *e)
{
    walk_eval(w, s, e->left);
    struct interval index = walk_eval(w, s, e->right);
    walk_mark_access(w, s, &e->check, &e->visited, index, e->left->type->length, e->right->span,
                     type_is_vector(e->left->type) ? "vector" : "array", array_name(w, e->left));
    return constant_range(w, e, index);
}

/* The local that stands for the packet that `e` is, or NULL. */
static struct interval *packet_interval(const struct walker *w, const struct walk_state *s,
                                        const struct kx *e)
{
    if (e->kind != KX_PEEK || e->left != NULL || !type_is_integer(e->type)) return NULL;
    if (e->right != NULL && (e->right->kind != KX_CONSTANT || e->right->value.bits != 0))
        return NULL;
    return &s->locals[w->port_local + e->port];
}

static struct interval eval_peek(struct walker *w, struct walk_state *s, struct kx *e)
{
    const struct kernel_port *port = &w->kernel->in[e->port];
    if (e->left != NULL) {
        struct interval element = walk_eval(w, s, e->left);
        walk_mark_access(w, s, &e->element_check, &e->visited_element, element, port->arity,
                         e->left->span, "port array", port->name);
    }
    struct interval index = {0, 0};
    if (e->right != NULL) index = walk_eval(w, s, e->right);
    if (w->section != WALK_FINISH)
        walk_mark_access(w, s, &e->check, &e->visited, index,
                         port->peeks != NULL ? port->peeks[w->phase] : port->peek,
                         e->right != NULL ? e->right->span : e->span, "window", port->name);
    const struct interval *kept = packet_interval(w, s, e);
    struct interval all = interval_of_type(e->type);
    return kept != NULL ? interval_meet(*kept, all) : all;
}

/* A row or column counts from the centre. */
static void mark_window(struct walker *w, struct walk_state *s, struct kx *at,
                        enum access_check *check, unsigned char *visited, uint32_t side,
                        const char *what, const char *name)
{
    wide half = side / 2;
    struct interval index = walk_eval(w, s, at);
    index = (struct interval){index.low + half, index.high + half};
    walk_mark_access(w, s, check, visited, index, side, at->span, what, name);
}

static struct interval eval_window(struct walker *w, struct walk_state *s, struct kx *e)
{
    const struct kernel_port *port = &w->kernel->in[e->port];
    if (e->third != NULL) {
        struct interval element = walk_eval(w, s, e->third);
        walk_mark_access(w, s, &e->element_check, &e->visited_element, element, port->arity,
                         e->third->span, "port array", port->name);
    }
    mark_window(w, s, e->left, &e->check, &e->visited, port->window_height, ROW, port->name);
    mark_window(w, s, e->right, &e->column_check, &e->visited_column, port->window_width, COLUMN,
                port->name);
    return interval_of_type(e->type);
}

/* ---- expressions ---- */

static void set_local(struct walk_state *s, const struct kx *target, struct interval value)
{
    if (target->kind == KX_VARIABLE && target->variable->kind == VARIABLE_LOCAL)
        s->locals[target->variable->index] = value;
}

static struct interval eval_assign(struct walker *w, struct walk_state *s, struct kx *e)
{
    struct interval old = walk_eval(w, s, e->left);
    struct interval value = walk_eval(w, s, e->right);
    if (e->op != OP_NONE) {
        struct interval left = convert(old, e->left->type, e->operation);
        value = convert(binary(e->op, left, value, e->operation), e->operation, e->left->type);
    }
    set_local(s, e->left, value);
    return e->postfix ? old : value;
}

static struct interval eval_logical(struct walker *w, struct walk_state *s, struct kx *e)
{
    struct interval left = walk_eval(w, s, e->left);
    bool settled = e->op == OP_LOGICAL_AND ? interval_is(left, 0) : interval_is_true(left);
    if (settled) return truth(left);
    struct walk_state *before = walk_branch(w, s);
    bool certain = s->certain;
    s->certain = false;
    walk_assume(w, s, e->left, e->op == OP_LOGICAL_AND);
    struct interval right = walk_eval(w, s, e->right);
    walk_rejoin(w, s, before);
    s->certain = certain;
    bool left_decided = interval_is(left, 0) || interval_is_true(left);
    if (left_decided) return truth(right);
    if (e->op == OP_LOGICAL_AND && interval_is(right, 0)) return (struct interval){0, 0};
    if (e->op == OP_LOGICAL_OR && interval_is_true(right)) return (struct interval){1, 1};
    return (struct interval){0, 1};
}

static struct interval eval_select(struct walker *w, struct walk_state *s, struct kx *e)
{
    struct interval c = walk_eval(w, s, e->left);
    if (interval_is_true(c)) return walk_eval(w, s, e->right);
    if (interval_is(c, 0)) return walk_eval(w, s, e->third);
    bool certain = s->certain;
    s->certain = false;
    struct walk_state *other = walk_branch(w, s);
    walk_assume(w, s, e->left, true);
    walk_assume(w, other, e->left, false);
    struct interval a = walk_eval(w, s, e->right);
    struct interval b = walk_eval(w, other, e->third);
    walk_rejoin(w, s, other);
    s->certain = certain;
    return interval_join(a, b);
}

/* Operations that an expression counts as: one for each element. */
static uint64_t element_count(const struct type *type)
{
    return type->kind == TYPE_VECTOR ? type->length : 1;
}

static struct interval eval_builtin(struct walker *w, struct walk_state *s, struct kx *e)
{
    struct interval a[3] = {INTERVAL_ALL, INTERVAL_ALL, INTERVAL_ALL};
    for (uint32_t i = 0; i < e->argument_count && i < 3; i++)
        a[i] = walk_eval(w, s, e->arguments[i]);
    bool divides = e->builtin == BUILTIN_SQRT;
    walk_charge(s, (divides ? 8 : 1) * element_count(e->type));
    if (!type_is_integer(e->type)) return interval_of_type(e->type);
    switch (e->builtin) {
    case BUILTIN_MIN:
        return (struct interval){a[0].low < a[1].low ? a[0].low : a[1].low,
                                 a[0].high < a[1].high ? a[0].high : a[1].high};
    case BUILTIN_MAX:
        return (struct interval){a[0].low > a[1].low ? a[0].low : a[1].low,
                                 a[0].high > a[1].high ? a[0].high : a[1].high};
    case BUILTIN_ABS:
        if (a[0].low >= 0) return a[0];
        return wrapped((struct interval){0, -a[0].low > a[0].high ? -a[0].low : a[0].high},
                       e->type);
    default: return interval_of_type(e->type);
    }
}

static struct interval eval_call(struct walker *w, struct walk_state *s, struct kx *e)
{
    for (uint32_t i = 0; i < e->argument_count; i++)
        walk_eval(w, s, e->arguments[i]);
    uint64_t cost = w->function_costs != NULL ? w->function_costs[e->function->id] : 0;
    uint64_t calls = e->type != e->function->result ? element_count(e->type) : 1;
    walk_charge(s, (1 + cost) * calls); /* a function's cost is bounded: COST_MAX_CYCLES */
    return interval_of_type(e->type);
}

static struct interval eval_variable(const struct walk_state *s, const struct kx *e)
{
    struct interval all = interval_of_type(e->type);
    bool tracked = type_is_integer(e->type) || type_is_bool(e->type);
    if (e->variable->kind != VARIABLE_LOCAL || !tracked) return all;
    return interval_meet(s->locals[e->variable->index], all);
}

static uint64_t binary_cost(enum kx_op op)
{
    return op == OP_DIV || op == OP_REM ? 8 : 1;
}

static struct interval eval_scalar(struct walker *w, struct walk_state *s, struct kx *e)
{
    struct interval a, b;
    switch (e->kind) {
    case KX_CONSTANT: return interval_of_value(e->value);
    case KX_VARIABLE: return eval_variable(s, e);
    case KX_INDEX: walk_charge(s, 1); return eval_index(w, s, e);
    case KX_MEMBER:
        walk_charge(s, 1);
        walk_eval(w, s, e->left);
        return interval_of_type(e->type);
    case KX_BROADCAST: walk_eval(w, s, e->left); return INTERVAL_ALL;
    case KX_PEEK: walk_charge(s, 1); return eval_peek(w, s, e);
    case KX_ITEM: return s->locals[w->item_local + e->dimension];
    case KX_WINDOW: walk_charge(s, 1); return eval_window(w, s, e);
    case KX_LEFT: return (struct interval){0, (wide)w->kernel->in[e->port].peek - 1};
    case KX_PHASE: return (struct interval){w->phase, w->phase};
    case KX_NEGATE:
        a = walk_eval(w, s, e->left);
        walk_charge(s, 1);
        return binary(OP_SUB, (struct interval){0, 0}, a, e->type);
    case KX_COMPLEMENT:
        a = walk_eval(w, s, e->left);
        walk_charge(s, 1);
        return wrapped((struct interval){-1 - a.high, -1 - a.low}, e->type);
    case KX_NOT:
        a = truth(walk_eval(w, s, e->left));
        return (struct interval){1 - a.high, 1 - a.low};
    case KX_BINARY:
        a = walk_eval(w, s, e->left);
        b = walk_eval(w, s, e->right);
        walk_charge(s, binary_cost(e->op) * element_count(e->type));
        mark_wrap(w, s, e, a, b);
        return binary(e->op, a, b, e->type);
    case KX_COMPARE:
        a = walk_eval(w, s, e->left);
        b = walk_eval(w, s, e->right);
        walk_charge(s, 1);
        if (type_is_float(e->left->type)) return (struct interval){0, 1};
        return compare(e->op, a, b);
    case KX_LOGICAL: return eval_logical(w, s, e);
    case KX_SELECT: walk_charge(s, 1); return eval_select(w, s, e);
    case KX_CONVERT: a = walk_eval(w, s, e->left); return convert(a, e->left->type, e->type);
    case KX_ASSIGN:
        if (e->op != OP_NONE) walk_charge(s, binary_cost(e->op) * element_count(e->type));
        return eval_assign(w, s, e);
    case KX_CALL: return eval_call(w, s, e);
    case KX_BUILTIN: return eval_builtin(w, s, e);
    case KX_COMMA: walk_eval(w, s, e->left); return walk_eval(w, s, e->right);
    case KX_AGGREGATE:
        for (uint32_t i = 0; i < e->argument_count; i++)
            if (e->arguments[i] != NULL) walk_eval(w, s, e->arguments[i]);
        return INTERVAL_ALL;
    }
    return INTERVAL_ALL;
}

/* Nothing is known of the parts of arrays, vectors and structs. */
struct interval walk_eval(struct walker *w, struct walk_state *s, struct kx *e)
{
    w->cx->walk_steps++;
    struct interval value = eval_scalar(w, s, e);
    if (!type_is_scalar(e->type)) value = INTERVAL_ALL;
    if (w->observe != NULL && w->mark && s->reachable) w->observe(w->observer, e, value);
    return value;
}

/* ---- conditions ---- */

/* True if a conversion from `from` to `to` keeps every value. */
static bool keeps_values(const struct type *from, const struct type *to)
{
    struct interval a = interval_of_type(from), b = interval_of_type(to);
    return type_is_integer(from) && type_is_integer(to) && a.low >= b.low && a.high <= b.high;
}

const struct variable *walk_plain_local(const struct kx *e)
{
    while (e->kind == KX_CONVERT && keeps_values(e->left->type, e->type))
        e = e->left;
    if (e->kind != KX_VARIABLE || e->variable->kind != VARIABLE_LOCAL || !type_is_integer(e->type))
        return NULL;
    return e->variable;
}

/* The interval that is kept of `e` itself: of a local, or of an index of the work-item. */
static struct interval *kept_interval(const struct walker *w, struct walk_state *s,
                                      const struct kx *e)
{
    while (e->kind == KX_CONVERT && keeps_values(e->left->type, e->type))
        e = e->left;
    if (e->kind == KX_ITEM) return &s->locals[w->item_local + e->dimension];
    struct interval *packet = packet_interval(w, s, e);
    if (packet != NULL) {
        *packet = interval_meet(*packet, interval_of_type(e->type));
        return packet;
    }
    const struct variable *v = walk_plain_local(e);
    if (v == NULL) return NULL;
    s->locals[v->index] = interval_meet(s->locals[v->index], interval_of_type(v->type));
    return &s->locals[v->index];
}

/* The value of an operand that has no side effects and needs no evaluation. */
static bool known_value(const struct walker *w, const struct walk_state *s, const struct kx *e,
                        struct interval *out)
{
    while (e->kind == KX_CONVERT && keeps_values(e->left->type, e->type))
        e = e->left;
    if (e->kind == KX_CONSTANT)
        *out = interval_of_value(e->value);
    else if (e->kind == KX_ITEM)
        *out = s->locals[w->item_local + e->dimension];
    else if (packet_interval(w, s, e) != NULL)
        *out = interval_meet(*packet_interval(w, s, e), interval_of_type(e->type));
    else if (!type_is_integer(e->type))
        return false;
    else
        *out = e->kind == KX_VARIABLE ? eval_variable(s, e) : interval_of_type(e->type);
    return true;
}

static enum kx_op mirrored(enum kx_op op)
{
    switch (op) {
    case OP_LT: return OP_GT;
    case OP_LE: return OP_GE;
    case OP_GT: return OP_LT;
    case OP_GE: return OP_LE;
    default: return op;
    }
}

/* Narrows `kept`, an interval of `s`, by `kept op bound`. */
static void narrow(struct walk_state *s, struct interval *kept, enum kx_op op,
                   struct interval bound)
{
    struct interval now = *kept, limit = INTERVAL_ALL;
    switch (op) {
    case OP_LT: limit.high = bound.high - 1; break;
    case OP_LE: limit.high = bound.high; break;
    case OP_GT: limit.low = bound.low + 1; break;
    case OP_GE: limit.low = bound.low; break;
    case OP_EQ: limit = bound; break;
    case OP_NE:
        if (bound.low != bound.high) return;
        if (now.low == bound.low && now.low < now.high) limit.low = bound.low + 1;
        if (now.high == bound.low && now.low < now.high) limit.high = bound.low - 1;
        break;
    default: return;
    }
    if (!interval_overlaps(now, limit)) {
        s->reachable = false;
        return;
    }
    *kept = interval_meet(now, limit);
}

static void assume_compare(const struct walker *w, struct walk_state *s, const struct kx *c,
                           bool truth_value)
{
    enum kx_op op = truth_value ? c->op : arith_opposite(c->op);
    struct interval value;
    if (!type_is_integer(c->left->type)) return;
    struct interval *left = kept_interval(w, s, c->left), *right = kept_interval(w, s, c->right);
    if (left != NULL && known_value(w, s, c->right, &value)) narrow(s, left, op, value);
    if (right != NULL && known_value(w, s, c->left, &value)) narrow(s, right, mirrored(op), value);
}

bool walk_assigns(const struct kx *e)
{
    if (e == NULL) return false;
    for (uint32_t i = 0; i < e->argument_count; i++)
        if (walk_assigns(e->arguments[i])) return true;
    return e->kind == KX_ASSIGN || walk_assigns(e->left) || walk_assigns(e->right) ||
           walk_assigns(e->third);
}

void walk_assume(struct walker *w, struct walk_state *s, const struct kx *condition,
                 bool truth_value)
{
    /* A condition that assigns speaks of values that may be gone. */
    if (!s->reachable || walk_assigns(condition)) return;
    switch (condition->kind) {
    case KX_COMPARE: assume_compare(w, s, condition, truth_value); break;
    case KX_NOT: walk_assume(w, s, condition->left, !truth_value); break;
    case KX_LOGICAL:
        if ((condition->op == OP_LOGICAL_AND) == truth_value) {
            walk_assume(w, s, condition->left, truth_value);
            walk_assume(w, s, condition->right, truth_value);
        }
        break;
    case KX_CONVERT:
        if (type_is_bool(condition->type) && type_is_bool(condition->left->type))
            walk_assume(w, s, condition->left, truth_value);
        break;
    default: break;
    }
}
