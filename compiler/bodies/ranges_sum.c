/* SPDX-License-Identifier: MIT */
/*
 * Sums: what was appended, as a polynomial over conditions.
 *
 * A pure condition over values that do not change within a firing is an unknown that is 0 or 1.  The
 * packets that were appended to an end are kept as a polynomial over such unknowns: where the ways
 * of an `if` meet, the sum is  F0 + p (F1 - F0)  with p for the condition, F1 after the one way, F0
 * after the other.  A negation is 1 - p, a conjunction a product; p p = p.  So the same condition
 * asked twice is one unknown, and a pass over the zeros of a block and one over its ones append
 * p1 + .. + pn + (1 - p1) + .. + (1 - pn) = n packets.
 *
 * Equal values get equal numbers (value numbering: Cocke & Schwartz, "Programming languages and their
 * compilers", 1970).  A variable has the number of what was assigned to it, and none where ways meet
 * on which that differs.
 *
 * Limits: `if` without jumps, in loops whose rounds are walked one by one; TERMS_MAX products of
 * up to SUM_DEGREE conditions, TERMS_KEPT_MAX in all sums of a walk; conditions that are made of
 * others, up to CONDITION_DEPTH_MAX deep.  Beyond, where an `if` has a condition with effects or of `state`, and
 * where a loop of any number of rounds appends, nothing is known of the end any more.
 */
#include "compiler/bodies/ranges_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    TERMS_MAX = 512,
    TERMS_KEPT_MAX = 1 << 20, /* of all sums of a walk */
    PRODUCTS_MAX = 4096,
    NODES_MAX = 1 << 16,
    NUMBER_DEPTH_MAX = 16,
    CONDITION_DEPTH_MAX = 64,
    TERMS_IN_A_STEP = 32,
    RANGE_DEPTH_MAX = 4, /* operations that a range is made of */
};

#define NOTHING UINT32_MAX /* an operand that a value does not have */

/* NODE_OF_BOOL: 0 or 1, by a condition. */
enum node_kind { NODE_FRESH, NODE_VALUE, NODE_CONSTANT, NODE_NOT, NODE_AND, NODE_OF_BOOL };

/* ---- numbers of values ---- */

static uint64_t hash_of(const struct walk_node *n)
{
    uint64_t h = (uint64_t)n->kind * 31 + (uint64_t)n->form;
    h = (h ^ (uintptr_t)n->about >> 4) * 0x9e3779b97f4a7c15u;
    h = (h ^ n->bits) * 0x9e3779b97f4a7c15u;
    h = (h ^ n->a) * 0x9e3779b97f4a7c15u;
    return (h ^ n->b) * 0x9e3779b97f4a7c15u >> 24;
}

static bool same_node(const struct walk_node *a, const struct walk_node *b)
{
    return a->kind == b->kind && a->form == b->form && a->about == b->about && a->bits == b->bits &&
           a->a == b->a && a->b == b->b;
}

/* 0: there are too many. */
static uint32_t number_of_node(struct walker *w, struct walk_node n)
{
    enum { SLOTS = 2 * NODES_MAX };
    if (w->node_slots == NULL) {
        w->node_slots = ARENA_ARRAY(w->scratch, uint32_t, SLOTS);
        vec_push(w->scratch, &w->nodes, (struct walk_node){.kind = NODE_FRESH}); /* number 0 */
    }
    if (w->nodes.count == NODES_MAX) return 0;
    uint64_t at = hash_of(&n) & (SLOTS - 1);
    for (; n.kind != NODE_FRESH && w->node_slots[at] != 0; at = (at + 1) & (SLOTS - 1))
        if (same_node(&w->nodes.items[w->node_slots[at]], &n)) return w->node_slots[at];
    uint32_t number = (uint32_t)vec_push(w->scratch, &w->nodes, n);
    if (n.kind != NODE_FRESH) w->node_slots[at] = number;
    return number;
}

static uint32_t number_constant(struct walker *w, const struct type *type, uint64_t bits)
{
    return number_of_node(w,
                          (struct walk_node){.kind = NODE_CONSTANT, .about = type, .bits = bits});
}

/* An index counts by its value, whatever its type is. */
static uint32_t number_of_index(struct walker *w, uint32_t number)
{
    const struct walk_node *n = &w->nodes.items[number];
    return n->kind == NODE_CONSTANT ? number_constant(w, NULL, n->bits) : number;
}

static uint32_t number_negation(struct walker *w, uint32_t a)
{
    if (a == 0) return 0;
    if (w->nodes.items[a].kind == NODE_NOT) return w->nodes.items[a].a;
    uint32_t depth = w->nodes.items[a].depth + 1;
    if (depth > CONDITION_DEPTH_MAX) return 0;
    return number_of_node(w, (struct walk_node){.kind = NODE_NOT, .a = a, .depth = depth});
}

static uint32_t number_conjunction(struct walker *w, uint32_t a, uint32_t b)
{
    if (a == 0 || b == 0) return 0;
    if (a == b) return a;
    if (a > b) return number_conjunction(w, b, a);
    uint32_t of_a = w->nodes.items[a].depth, of_b = w->nodes.items[b].depth;
    uint32_t depth = (of_a > of_b ? of_a : of_b) + 1;
    if (depth > CONDITION_DEPTH_MAX) return 0;
    return number_of_node(w, (struct walk_node){.kind = NODE_AND, .a = a, .b = b, .depth = depth});
}

static bool is_constant_node(const struct walker *w, uint32_t number)
{
    return w->nodes.items[number].kind == NODE_CONSTANT;
}

/* Of a value of `type`, at all times: by the operations that it is made of. */
static struct interval range_of(const struct walker *w, uint32_t number, const struct type *type,
                                int depth)
{
    const struct walk_node *n = &w->nodes.items[number];
    struct interval all = interval_of_type(type);
    if (n->kind == NODE_CONSTANT) {
        wide value = all.low < 0 ? (wide)(int64_t)n->bits : (wide)n->bits;
        return (struct interval){value, value};
    }
    if (n->kind == NODE_OF_BOOL) return (struct interval){0, 1};
    if (n->kind != NODE_VALUE || n->form / 256 != KX_BINARY || depth == RANGE_DEPTH_MAX) return all;
    enum kx_op op = (enum kx_op)(n->form % 256);
    if (op == OP_SHL || op == OP_SHR) return all;
    struct interval left = range_of(w, n->a, type, depth + 1);
    struct interval right = range_of(w, n->b, type, depth + 1);
    return interval_wrapped(interval_binary(op, left, right, type), type);
}

static uint32_t number_of_comparison(struct walker *w, enum kx_op op, const struct type *type,
                                     uint32_t a, uint32_t b)
{
    if (a == 0 || b == 0) return 0;
    return number_of_node(w, (struct walk_node){.kind = NODE_VALUE,
                                                .form = KX_COMPARE * 256 + (uint32_t)op,
                                                .about = type,
                                                .a = a,
                                                .b = b});
}

/* a == b. Whether one of two values equals the larger one is asked as whether it is the smaller one. */
static uint32_t number_equality(struct walker *w, const struct type *type, uint32_t a, uint32_t b)
{
    if (a == 0 || b == 0) return 0;
    if (a > b) return number_equality(w, type, b, a);
    if (is_constant_node(w, a) != is_constant_node(w, b) && !type_is_float(type)) {
        uint32_t value = is_constant_node(w, a) ? b : a, other = value == a ? b : a;
        struct interval range = range_of(w, value, type, 0);
        bool is_larger = range.high == range_of(w, other, type, 0).low;
        const struct walk_node *n = &w->nodes.items[value];
        uint32_t condition = type_is_bool(type) ? value : n->kind == NODE_OF_BOOL ? n->a : NOTHING;
        bool is_smaller = range.low == range_of(w, other, type, 0).low;
        if (condition != NOTHING && (is_larger || is_smaller))
            return is_larger ? condition : number_negation(w, condition);
        if (is_larger && range.high == range.low + 1)
            return number_negation(
                w, number_equality(w, type, value, number_constant(w, type, (uint64_t)range.low)));
    }
    return number_of_comparison(w, OP_EQ, type, a, b);
}

/* a < b of integers. A constant is on the right, and at the ends of the range of the other value it is asked whether they are
 * equal. */
static uint32_t number_order(struct walker *w, const struct type *type, uint32_t a, uint32_t b)
{
    if (a == 0 || b == 0) return 0;
    if (is_constant_node(w, a) == is_constant_node(w, b))
        return number_of_comparison(w, OP_LT, type, a, b);
    bool is_left = is_constant_node(w, a);
    wide limit = range_of(w, is_left ? a : b, type, 0).low;
    struct interval range = range_of(w, is_left ? b : a, type, 0);
    if (is_left && limit < interval_of_type(type).high)
        return number_negation(
            w, number_order(w, type, b, number_constant(w, type, (uint64_t)(limit + 1))));
    if (!is_left && limit == range.low + 1)
        return number_equality(w, type, a, number_constant(w, type, (uint64_t)range.low));
    if (!is_left && limit == range.high) return number_negation(w, number_equality(w, type, a, b));
    return number_of_comparison(w, OP_LT, type, a, b);
}

/* a op b, by ==, < and <=, negations and exchanged sides; of integers without <=.  Of floats `>=` is
 * no negation of `<`: there are values that are neither. */
static uint32_t number_comparison(struct walker *w, enum kx_op op, const struct type *type,
                                  uint32_t a, uint32_t b)
{
    bool exact = type_is_integer(type);
    switch (op) {
    case OP_EQ: return number_equality(w, type, a, b);
    case OP_NE: return number_negation(w, number_equality(w, type, a, b));
    case OP_GT: return number_comparison(w, OP_LT, type, b, a);
    case OP_GE: return number_comparison(w, OP_LE, type, b, a);
    case OP_LE:
        return exact ? number_negation(w, number_order(w, type, b, a))
                     : number_of_comparison(w, op, type, a, b);
    default: return exact ? number_order(w, type, a, b) : number_of_comparison(w, op, type, a, b);
    }
}

static uint32_t variable_number(struct walker *w, struct walk_state *s, const struct kx *e)
{
    const struct variable *v = e->variable;
    if (v->kind == VARIABLE_CONSTANT || v->kind == VARIABLE_ARGUMENT)
        return number_of_node(
            w, (struct walk_node){.kind = NODE_VALUE, .form = KX_VARIABLE * 256, .about = v});
    if (v->kind != VARIABLE_LOCAL || v->index >= w->local_count) return 0;
    if (walk_slot(w, v) != WALK_NO_SLOT && (type_is_integer(e->type) || type_is_bool(e->type))) {
        struct interval now = walk_variable(w, s, e);
        if (now.low == now.high) return number_constant(w, e->type, (uint64_t)now.low);
    }
    uint32_t *number = &s->numbers[v->index];
    if (*number == 0) *number = number_of_node(w, (struct walk_node){.kind = NODE_FRESH});
    return *number;
}

static uint32_t number_expression(struct walker *w, struct walk_state *s, const struct kx *e,
                                  int depth);

/* Of a value that is made of up to two others. */
static uint32_t made_of(struct walker *w, struct walk_state *s, const struct kx *e,
                        const struct kx *left, const struct kx *right, const void *about, int depth)
{
    struct walk_node n = {.kind = NODE_VALUE,
                          .form = (uint32_t)e->kind * 256 + (uint32_t)e->op,
                          .about = about,
                          .bits = e->kind == KX_MEMBER ? e->member : e->port,
                          .a = NOTHING,
                          .b = NOTHING};
    if (e->kind == KX_BUILTIN) n.bits = (uint64_t)e->builtin;
    if (left != NULL && (n.a = number_expression(w, s, left, depth)) == 0) return 0;
    if (right != NULL && (n.b = number_expression(w, s, right, depth)) == 0) return 0;
    if (e->kind == KX_INDEX || e->kind == KX_PEEK) {
        if (left != NULL && e->kind == KX_PEEK) n.a = number_of_index(w, n.a);
        n.b = right != NULL ? number_of_index(w, n.b) : number_constant(w, NULL, 0);
    }
    return number_of_node(w, n);
}

/* An integer as a condition is whether it is not 0. */
static uint32_t number_conversion(struct walker *w, struct walk_state *s, const struct kx *e,
                                  int depth)
{
    const struct type *from = e->left->type;
    uint32_t value = number_expression(w, s, e->left, depth);
    if (value == 0 || (type_is_bool(e->type) && type_is_bool(from))) return value;
    if (type_is_bool(e->type) && type_is_integer(from))
        return number_comparison(w, OP_NE, from, value, number_constant(w, from, 0));
    if (type_is_integer(e->type) && type_is_bool(from))
        return number_of_node(
            w, (struct walk_node){.kind = NODE_OF_BOOL, .about = e->type, .a = value});
    return made_of(w, s, e, e->left, NULL, e->type, depth);
}

/* Of the value of a pure expression; 0: it has none, or it may be another one each time. */
static uint32_t number_expression(struct walker *w, struct walk_state *s, const struct kx *e,
                                  int depth)
{
    if (++depth > NUMBER_DEPTH_MAX) return 0;
    switch (e->kind) {
    case KX_CONSTANT:
        return number_constant(w, e->type,
                               type_is_integer(e->type) || type_is_bool(e->type)
                                   ? (uint64_t)interval_of_value(e->value).low
                                   : e->value.bits);
    case KX_VARIABLE: return variable_number(w, s, e);
    case KX_PHASE: return number_constant(w, e->type, w->phase);
    case KX_FIRING:
    case KX_PEEK:
    case KX_INDEX:
    case KX_MEMBER:
    case KX_NEGATE:
    case KX_COMPLEMENT:
    case KX_BINARY: return made_of(w, s, e, e->left, e->right, e->type, depth);
    case KX_CONVERT: return number_conversion(w, s, e, depth);
    case KX_NOT: return number_negation(w, number_expression(w, s, e->left, depth));
    case KX_LOGICAL: {
        uint32_t a = number_expression(w, s, e->left, depth),
                 b = number_expression(w, s, e->right, depth);
        if (e->op == OP_LOGICAL_AND) return number_conjunction(w, a, b);
        return number_negation(w,
                               number_conjunction(w, number_negation(w, a), number_negation(w, b)));
    }
    case KX_COMPARE: {
        if (!type_is_scalar(e->left->type)) return 0;
        uint32_t a = number_expression(w, s, e->left, depth),
                 b = number_expression(w, s, e->right, depth);
        return a == 0 || b == 0 ? 0 : number_comparison(w, e->op, e->left->type, a, b);
    }
    case KX_CALL:
    case KX_BUILTIN: {
        if (e->argument_count > 2) return 0;
        const struct kx *first = e->argument_count > 0 ? e->arguments[0] : NULL;
        const struct kx *second = e->argument_count > 1 ? e->arguments[1] : NULL;
        const void *about = e->kind == KX_CALL ? (const void *)e->function : e->type;
        return made_of(w, s, e, first, second, about, depth);
    }
    default: return 0;
    }
}

uint32_t walk_number(struct walker *w, struct walk_state *s, const struct kx *e)
{
    return w->sums && s->reachable ? number_expression(w, s, e, 0) : 0;
}

void walk_sum_assigned(const struct walker *w, struct walk_state *s, const struct variable *v,
                       uint32_t number)
{
    if (w->sums && v->kind == VARIABLE_LOCAL && v->index < w->local_count)
        s->numbers[v->index] = number;
}

/* ---- the conditions of one execution ---- */

enum { PARTS_DEPTH_MAX = 6 }; /* of a condition that are looked at: they may share parts */

static enum walk_truth truth_negate(enum walk_truth truth)
{
    return truth == TRUTH_OPEN ? truth : truth == TRUTH_NO ? TRUTH_YES : TRUTH_NO;
}

static enum walk_truth known_truth(const struct walker *w, uint32_t number, int depth)
{
    if (number < w->truths.count && w->truths.items[number] != TRUTH_OPEN)
        return w->truths.items[number];
    const struct walk_node *n = &w->nodes.items[number];
    if (depth == PARTS_DEPTH_MAX || (n->kind != NODE_NOT && n->kind != NODE_AND)) return TRUTH_OPEN;
    enum walk_truth of_a = known_truth(w, n->a, depth + 1);
    if (n->kind == NODE_NOT) return truth_negate(of_a);
    enum walk_truth of_b = known_truth(w, n->b, depth + 1);
    if (of_a == TRUTH_NO || of_b == TRUTH_NO) return TRUTH_NO;
    return of_a == TRUTH_YES ? of_b : TRUTH_OPEN;
}

/* A negation decides its operand, too, and a conjunction that is true both of them. */
static void decide_node(struct walker *w, uint32_t number, enum walk_truth truth, int depth)
{
    const struct walk_node n = w->nodes.items[number];
    while (w->truths.count <= number)
        vec_push(w->scratch, &w->truths, TRUTH_OPEN);
    w->truths.items[number] = truth;
    if (depth == PARTS_DEPTH_MAX) return;
    if (n.kind == NODE_NOT) decide_node(w, n.a, truth_negate(truth), depth + 1);
    if (n.kind != NODE_AND || truth != TRUTH_YES) return;
    decide_node(w, n.a, truth, depth + 1);
    decide_node(w, n.b, truth, depth + 1);
}

bool walk_guided_truth(struct walker *w, uint32_t number, bool value)
{
    if (number == 0) return value;
    enum walk_truth truth = known_truth(w, number, 0);
    if (truth != TRUTH_OPEN) return truth == TRUTH_YES;
    decide_node(w, number, value ? TRUTH_YES : TRUTH_NO, 0);
    return value;
}

/* ---- polynomials ---- */

static int compare_atoms(const struct walk_product *a, const struct walk_product *b)
{
    for (int i = 0; i < SUM_DEGREE; i++)
        if (a->atoms[i] != b->atoms[i]) return a->atoms[i] < b->atoms[i] ? -1 : 1;
    return 0;
}

static const struct walk_sum unknown_sum = {.known = false};

static bool fits_term(wide value)
{
    return value >= INT64_MIN && value <= INT64_MAX;
}

/* A sum of the first `count` products; of all sums of a walk only so many products are kept. */
static struct walk_sum new_sum(struct walker *w, wide constant, uint32_t count)
{
    w->cx->walk_steps += count / TERMS_IN_A_STEP;
    if (!fits_term(constant) || count > TERMS_MAX || count > TERMS_KEPT_MAX - w->terms_kept)
        return unknown_sum;
    w->terms_kept += count;
    return (struct walk_sum){
        .known = true,
        .count = count,
        .constant = (int64_t)constant,
        .terms =
            count > 0 ? arena_copy(w->scratch, w->products, count * sizeof *w->products) : NULL,
    };
}

static struct walk_product *products_of(struct walker *w)
{
    if (w->products == NULL)
        w->products = ARENA_ARRAY(w->scratch, struct walk_product, PRODUCTS_MAX);
    return w->products;
}

/* a + factor x b, both sorted. */
static struct walk_sum sum_add_scaled(struct walker *w, struct walk_sum a, int64_t factor,
                                      struct walk_sum b)
{
    if (!a.known || !b.known) return unknown_sum;
    struct walk_product *terms = products_of(w);
    uint32_t count = 0;
    for (uint32_t i = 0, j = 0; i < a.count || j < b.count;) {
        int order = i == a.count ? 1 : j == b.count ? -1 : compare_atoms(&a.terms[i], &b.terms[j]);
        struct walk_product next = order <= 0 ? a.terms[i] : b.terms[j];
        wide sum = (order <= 0 ? a.terms[i].factor : 0) +
                   (order >= 0 ? (wide)factor * b.terms[j].factor : 0);
        if (!fits_term(sum)) return unknown_sum;
        next.factor = (int64_t)sum;
        i += order <= 0;
        j += order >= 0;
        if (next.factor != 0) terms[count++] = next;
    }
    return new_sum(w, a.constant + (wide)factor * b.constant, count);
}

/* The conditions of both, each once.  False: they are too many. */
static bool unite_atoms(const struct walk_product *a, const struct walk_product *b,
                        struct walk_product *both)
{
    int count = 0;
    *both = (struct walk_product){.factor = 1};
    for (int i = 0, j = 0; i < SUM_DEGREE || j < SUM_DEGREE;) {
        uint32_t x = i < SUM_DEGREE ? a->atoms[i] : 0, y = j < SUM_DEGREE ? b->atoms[j] : 0;
        if (x == 0 && y == 0) break;
        uint32_t next = x == 0 || (y != 0 && y < x) ? y : x;
        if (count == SUM_DEGREE) return false;
        both->atoms[count++] = next;
        i += x == next;
        j += y == next;
    }
    return true;
}

static int order_products(const void *a, const void *b)
{
    return compare_atoms(a, b);
}

/* Sorts products and adds up those of the same conditions; false: a factor is too large. */
static bool gather_terms(struct walk_product *terms, uint32_t *count)
{
    uint32_t sums = 0;
    qsort(terms, *count, sizeof *terms, order_products);
    for (uint32_t i = 0; i < *count;) {
        struct walk_product next = terms[i];
        wide sum = 0;
        for (; i < *count && compare_atoms(&terms[i], &next) == 0; i++)
            sum += terms[i].factor;
        if (!fits_term(sum)) return false;
        next.factor = (int64_t)sum;
        if (sum != 0) terms[sums++] = next;
    }
    *count = sums;
    return true;
}

static struct walk_sum sum_multiply(struct walker *w, struct walk_sum a, struct walk_sum b)
{
    if (!a.known || !b.known || (a.count + 1) * (b.count + 1) > PRODUCTS_MAX) return unknown_sum;
    struct walk_product *terms = products_of(w);
    const struct walk_product of_a = {.factor = a.constant}, of_b = {.factor = b.constant};
    uint32_t count = 0;
    for (uint32_t i = 0; i <= a.count; i++) {
        const struct walk_product *x = i == a.count ? &of_a : &a.terms[i];
        for (uint32_t j = 0; j <= b.count; j++) {
            const struct walk_product *y = j == b.count ? &of_b : &b.terms[j];
            bool constant = i == a.count && j == b.count;
            if (constant || x->factor == 0 || y->factor == 0) continue;
            if (!unite_atoms(x, y, &terms[count]) ||
                __builtin_mul_overflow(x->factor, y->factor, &terms[count].factor))
                return unknown_sum;
            count++;
        }
    }
    w->cx->walk_steps += count / TERMS_IN_A_STEP;
    if (!gather_terms(terms, &count)) return unknown_sum;
    return new_sum(w, (wide)a.constant * b.constant, count);
}

/* 1 where the condition of that number holds, else 0. */
static struct walk_sum sum_where_true(struct walker *w, uint32_t condition)
{
    static const struct walk_sum one = {.known = true, .constant = 1};
    if (condition == 0) return unknown_sum;
    const struct walk_node n = w->nodes.items[condition];
    if (n.holds != NULL) return *n.holds;
    struct walk_sum sum = unknown_sum;
    switch ((enum node_kind)n.kind) {
    case NODE_CONSTANT: sum = (struct walk_sum){.known = true, .constant = n.bits != 0}; break;
    case NODE_NOT: sum = sum_add_scaled(w, one, -1, sum_where_true(w, n.a)); break;
    case NODE_AND: sum = sum_multiply(w, sum_where_true(w, n.a), sum_where_true(w, n.b)); break;
    case NODE_FRESH:
    case NODE_VALUE:
    case NODE_OF_BOOL:
        *products_of(w) = (struct walk_product){.atoms = {condition}, .factor = 1};
        sum = new_sum(w, 0, 1);
        break;
    }
    w->nodes.items[condition].holds = arena_copy(w->scratch, &sum, sizeof sum);
    return sum;
}

/* ---- states ---- */

void walk_sum_begin(const struct walker *w, struct walk_state *s)
{
    if (!w->sums) return;
    memset(s->numbers, 0, w->local_count * sizeof *s->numbers);
    for (uint32_t i = 0; i < w->end_count; i++)
        s->sums[i] = (struct walk_sum){.known = true};
}

void walk_sum_append(const struct walker *w, struct walk_state *s, uint32_t end, bool certain)
{
    if (!w->sums) return;
    if (!certain || __builtin_add_overflow(s->sums[end].constant, 1, &s->sums[end].constant))
        s->sums[end] = unknown_sum;
}

static bool same_sum(struct walk_sum a, struct walk_sum b)
{
    if (!a.known || !b.known || a.constant != b.constant || a.count != b.count) return false;
    for (uint32_t i = 0; i < a.count && a.terms != b.terms; i++)
        if (compare_atoms(&a.terms[i], &b.terms[i]) != 0 || a.terms[i].factor != b.terms[i].factor)
            return false;
    return true;
}

void walk_sum_join(const struct walker *w, struct walk_state *to, const struct walk_state *from)
{
    if (!w->sums) return;
    for (uint32_t i = 0; i < w->local_count; i++)
        if (to->numbers[i] != from->numbers[i]) to->numbers[i] = 0;
    for (uint32_t i = 0; i < w->end_count; i++)
        if (!same_sum(to->sums[i], from->sums[i])) to->sums[i] = unknown_sum;
}

struct walk_sum *walk_sum_choice(struct walker *w, uint32_t condition,
                                 const struct walk_state *taken, const struct walk_state *skipped)
{
    if (!w->sums) return NULL;
    struct walk_sum *sums = ARENA_ARRAY(w->scratch, struct walk_sum, w->end_count);
    for (uint32_t i = 0; i < w->end_count; i++) {
        struct walk_sum after = taken->sums[i], otherwise = skipped->sums[i];
        sums[i] = otherwise;
        if (same_sum(after, otherwise)) continue;
        struct walk_sum more = sum_add_scaled(w, after, -1, otherwise);
        sums[i] =
            sum_add_scaled(w, otherwise, 1, sum_multiply(w, sum_where_true(w, condition), more));
    }
    return sums;
}

struct loop_entry {
    const struct walker *walker;
    struct walk_state *state;
};

static bool forget_appended(const struct ks *stmt, void *data)
{
    const struct loop_entry *at = data;
    const struct kernel *k = at->walker->kernel;
    if (k == NULL || (stmt->kind != KS_EMIT && stmt->kind != KS_LAUNCH)) return false;
    bool launch = stmt->kind == KS_LAUNCH;
    uint32_t first = launch ? walk_launch_end(k) : walk_first_end(k, stmt->port);
    uint64_t arity = launch ? 1 : k->out[stmt->port].arity;
    for (uint64_t e = 0; e < arity; e++)
        at->state->sums[first + e] = unknown_sum;
    return false;
}

void walk_sum_enter_loop(const struct walker *w, struct walk_state *s, const struct ks *loop)
{
    if (!w->sums) return;
    struct loop_entry at = {w, s};
    ks_any(loop->body, forget_appended, NULL, &at);
    walk_sum_leave_loop(w, s);
}

void walk_sum_leave_loop(const struct walker *w, struct walk_state *s)
{
    if (w->sums) memset(s->numbers, 0, w->local_count * sizeof *s->numbers);
}

void walk_sum_settle(const struct walker *w, struct walk_state *s)
{
    if (!w->sums || !s->reachable) return;
    for (uint32_t i = 0; i < w->end_count; i++) {
        const struct walk_sum *sum = &s->sums[i];
        struct walk_count *count = &s->counts[i];
        wide least = sum->constant, most = sum->constant;
        if (!sum->known) continue;
        for (uint32_t t = 0; t < sum->count; t++) {
            wide factor = sum->terms[t].factor;
            least += factor < 0 ? factor : 0;
            most += factor > 0 ? factor : 0;
        }
        if (most >= 0 && most < (wide)count->most) count->most = (uint64_t)most;
        if (least > (wide)count->least) count->least = (uint64_t)least;
        if (count->least > count->most) count->least = count->most;
    }
}
