/* SPDX-License-Identifier: MIT */
#include "compiler/optimize/region/region_kernel_internal.h"

#include <string.h>

/*
 * Packets that are computed alike: by the same operations on the same packets, or on neighbouring ones, with
 * different constants.  One loop over the packets replaces the straight-line code for each packet.  Its rounds fill
 * the lanes of vectors, with constants and results side by side.
 *
 * Expressions are unified recursively.  The values of packets j = 0, 1, ... become one expression over j:
 *
 *     the same constant for all j                                  this constant
 *     different constants                                          constants[j]
 *     the same packet of a stream, x[a]                            x[a]
 *     packets of a stream, x[a] up to some j, then x[b]            j < split ? x[a] : x[b]
 *     the same, x[a] only for j = 0                                x[b]; the first packet is computed separately
 *     packets of a stream, x[a + s * j]                            x[a + s * j]
 *     operations of one kind                                       this operation on the unified operands
 *     some are sums with +0.0                                      the others plus zeros[j]; adding -0.0 changes
 *                                                                  no value
 */

enum { ALIKE_MIN = 8, OPERATIONS_MAX = 512, DEPTH_MAX = 200, TERMS_MAX = 64 };

struct alike {
    struct region_writer *w;
    uint64_t count;
    const struct variable *j;
    uint32_t operations, depth;
    bool first_differs; /* packet 0 has another expression */
};

static struct kx *unify_values(struct alike *a, const sym *values);

static struct kx *unify_constants(struct alike *a, const sym *values)
{
    const struct expr_build *t = &a->w->tree;
    const struct variable *constants =
        build_constant_array(t, region_fresh_name(a->w), values, a->count);
    return build_index(t, build_variable(t, constants), build_variable(t, a->j));
}

/* j < split ? before : x */
static struct kx *select_by_index(const struct alike *a, uint64_t split, struct kx *before,
                                  struct kx *x)
{
    const struct expr_build *t = &a->w->tree;
    struct kx *chosen = build_kx(t, KX_SELECT, x->type);
    chosen->left = build_compare(t, OP_LT, build_variable(t, a->j), build_i32(t, split));
    chosen->right = before;
    chosen->third = x;
    return chosen;
}

/* Unifies packets that are the same, or change once from one packet to another; else NULL. */
static struct kx *unify_split(struct alike *a, const struct sym_node *const *nodes)
{
    const struct expr_build *t = &a->w->tree;
    uint64_t split = 1;
    while (split < a->count && nodes[split]->packet == nodes[0]->packet)
        split++;
    for (uint64_t i = split; i < a->count; i++)
        if (nodes[i]->packet != nodes[split]->packet) return NULL;
    if (split == 1) {
        a->first_differs = true;
        return region_packet(a->w, nodes[1], build_i32(t, nodes[1]->packet));
    }
    struct kx *from = region_packet(a->w, nodes[0], build_i32(t, nodes[0]->packet));
    if (split == a->count) return from;
    struct kx *to = region_packet(a->w, nodes[split], build_i32(t, nodes[split]->packet));
    return select_by_index(a, split, from, to);
}

/* Unifies packets of interleaved in-ends at equal distances; else NULL. */
static struct kx *unify_ends(struct alike *a, const struct sym_node *const *nodes)
{
    const struct expr_build *t = &a->w->tree;
    uint64_t first = region_interleaved_place(a->w, nodes[0]);
    uint64_t second = region_interleaved_place(a->w, nodes[1]), step = second - first;
    if (second <= first) return NULL;
    for (uint64_t i = 0; i < a->count; i++)
        if (nodes[i]->component != nodes[0]->component ||
            region_interleaved_place(a->w, nodes[i]) != first + step * i)
            return NULL;
    struct kx *index = build_variable(t, a->j);
    if (step > 1) index = build_binary(t, OP_MUL, a->j->type, index, build_i32(t, step));
    if (first > 0) index = build_binary(t, OP_ADD, a->j->type, index, build_i32(t, first));
    return region_place(a->w, 0, nodes[0]->component, index);
}

static struct kx *unify_packets(struct alike *a, const struct sym_node *const *nodes)
{
    const struct expr_build *t = &a->w->tree;
    if (nodes[0]->stream != nodes[1]->stream)
        return a->w->region->interleaved ? unify_ends(a, nodes) : NULL;
    uint64_t first = nodes[0]->packet, step = nodes[1]->packet - first;
    bool even = nodes[1]->packet > first;
    for (uint64_t i = 0; i < a->count; i++) {
        if (nodes[i]->stream != nodes[0]->stream || nodes[i]->component != nodes[0]->component)
            return NULL;
        even = even && nodes[i]->packet == first + step * i;
    }
    if (!even) return unify_split(a, nodes);
    struct kx *index = build_variable(t, a->j);
    if (step > 1) index = build_binary(t, OP_MUL, a->j->type, index, build_i32(t, step));
    if (first > 0) index = build_binary(t, OP_ADD, a->j->type, index, build_i32(t, first));
    return region_packet(a->w, nodes[0], index);
}

static bool adds_plus_zero(const struct alike *a, sym value)
{
    if (sym_is_constant(value)) return false;
    const struct sym_node *n = region_node_at(a->w, value.bits);
    return n->kind == SYM_BINARY && n->op == OP_ADD && scalar_is_float(n->type) &&
           sym_is_constant(n->operands[1]) && arith_as_f64(n->operands[1]) == 0;
}

/* Some values are sums with +0.0: treats all as sums with zeros[j], +0.0 or -0.0. */
static struct kx *unify_zeros(struct alike *a, const sym *values)
{
    const struct expr_build *t = &a->w->tree;
    struct arena *scratch = a->w->space->scratch;
    sym *terms = ARENA_ARRAY(scratch, sym, a->count), *zeros = ARENA_ARRAY(scratch, sym, a->count);
    for (uint64_t i = 0; i < a->count; i++) {
        bool adds = adds_plus_zero(a, values[i]);
        enum scalar_type type = sym_type(values[i]);
        sym minus = type == SCALAR_F32 ? arith_f32(-0.0F) : arith_f64(-0.0);
        terms[i] = adds ? region_node_at(a->w, values[i].bits)->operands[0] : values[i];
        zeros[i] = adds ? region_node_at(a->w, values[i].bits)->operands[1] : minus;
    }
    struct kx *left = unify_values(a, terms);
    return left == NULL ? NULL
                        : build_binary(t, OP_ADD, left->type, left, unify_constants(a, zeros));
}

static bool alike_nodes(const struct sym_node *a, const struct sym_node *b)
{
    return a->kind == b->kind && a->op == b->op && a->builtin == b->builtin && a->type == b->type &&
           a->operand_count == b->operand_count;
}

static struct kx *unify_operations(struct alike *a, const struct sym_node *const *nodes)
{
    struct kx *operands[3] = {NULL};
    sym *of = ARENA_ARRAY(a->w->space->scratch, sym, a->count);
    if (++a->operations > OPERATIONS_MAX) return NULL;
    for (uint32_t k = 0; k < nodes[0]->operand_count; k++) {
        for (uint64_t i = 0; i < a->count; i++)
            of[i] = nodes[i]->operands[k];
        operands[k] = unify_values(a, of);
        if (operands[k] == NULL) return NULL;
    }
    return region_operation(a->w, nodes[0], operands);
}

static struct kx *unify_nodes(struct alike *a, const sym *values)
{
    const struct sym_node **nodes =
        ARENA_ARRAY(a->w->space->scratch, const struct sym_node *, a->count);
    bool alike = true, zeros = false, all_zeros = true;
    for (uint64_t i = 0; i < a->count; i++) {
        if (sym_is_constant(values[i])) return NULL;
        nodes[i] = region_node_at(a->w, values[i].bits);
        alike = alike && alike_nodes(nodes[0], nodes[i]);
        bool adds = adds_plus_zero(a, values[i]);
        zeros |= adds;
        all_zeros &= adds;
    }
    if (zeros && !all_zeros) return unify_zeros(a, values);
    if (!alike) return NULL;
    if (nodes[0]->kind == SYM_PACKET) return unify_packets(a, nodes);
    return nodes[0]->operand_count > 0 ? unify_operations(a, nodes) : NULL;
}

/* The values of all packets as one expression over j; NULL: they are not alike. */
static struct kx *unify_values(struct alike *a, const sym *values)
{
    bool same = true, constant = true;
    for (uint64_t i = 0; i < a->count; i++) {
        same = same && values[i].type == values[0].type && values[i].bits == values[0].bits;
        constant = constant && sym_is_constant(values[i]) && values[i].type == values[0].type;
    }
    if (constant) return same ? build_constant(&a->w->tree, values[0]) : unify_constants(a, values);
    struct kx *x = NULL;
    if (a->depth++ < DEPTH_MAX) x = unify_nodes(a, values);
    a->depth--;
    return x;
}

/* The terms of a sum in order.  Returns their number: 1 if the value is no sum, 0 if there are too many. */
static uint64_t terms_of(const struct region_writer *w, sym sum, sym terms[static TERMS_MAX])
{
    uint64_t count = 0;
    for (bool more = true; more; count++) {
        const struct sym_node *n = sym_is_constant(sum) ? NULL : region_node_at(w, sum.bits);
        more = n != NULL && n->kind == SYM_BINARY && n->op == OP_ADD &&
               !sym_is_constant(n->operands[0]) && !sym_is_constant(n->operands[1]);
        if (count == TERMS_MAX) return 0;
        terms[count] = more ? n->operands[1] : sum;
        if (more) sum = n->operands[0];
    }
    for (uint64_t i = 0; i < count / 2; i++) {
        sym other = terms[i];
        terms[i] = terms[count - 1 - i];
        terms[count - 1 - i] = other;
    }
    return count;
}

/* If the terms of the sum are computed alike, appends a loop over them.  Returns their sum in order; else NULL. */
static struct kx *write_sum(struct region_writer *w, struct build_list *list, sym sum)
{
    const struct expr_build *t = &w->tree;
    sym terms[TERMS_MAX];
    uint64_t count = terms_of(w, sum, terms);
    if (count < ALIKE_MIN) return NULL;
    uint32_t locals = t->kernel->local_count;
    struct variable *j =
        build_local(t, region_fresh_name(w), type_scalar(t->types, SCALAR_I32), false);
    struct alike alike = {.w = w, .count = count, .j = j};
    struct kx *value = unify_values(&alike, terms);
    if (value == NULL || alike.first_differs) {
        t->kernel->local_count = locals;
        return NULL;
    }
    const struct type *type = type_array(t->types, value->type, count);
    struct variable *parts = build_local(t, region_fresh_name(w), type, false);
    struct kx *part = build_index(t, build_variable(t, parts), build_variable(t, j));
    build_append(list, build_declare(t, parts, NULL));
    build_append(list, build_loop(t, j, count, build_expression(t, build_assign(t, part, value))));
    struct kx *x = build_index(t, build_variable(t, parts), build_i32(t, 0));
    for (uint64_t i = 1; i < count; i++)
        x = build_binary(t, OP_ADD, x->type, x,
                         build_index(t, build_variable(t, parts), build_i32(t, i)));
    return x;
}

/* Appends packet 0 to the list, and the value of the other packets to the body of the loop, which selects one of the
 * two.  Both are computed unconditionally, so the loop fills lanes without masks. */
static struct kx *with_first(struct alike *a, struct build_list *list, struct build_list *body,
                             sym first, struct kx *value)
{
    const struct expr_build *t = &a->w->tree;
    struct kx *x = write_sum(a->w, list, first);
    if (x == NULL) x = region_write_value(a->w, list, first);
    struct variable *before = build_local(t, region_fresh_name(a->w), x->type, true);
    struct variable *others = build_local(t, region_fresh_name(a->w), x->type, true);
    build_append(list, build_declare(t, before, x));
    build_append(body, build_declare(t, others, value));
    return select_by_index(a, 1, build_variable(t, before), build_variable(t, others));
}

bool region_write_alike(struct region_writer *w, struct build_list *list, uint32_t port)
{
    const struct expr_build *t = &w->tree;
    const struct region_end *out = &w->region->out.items[port];
    struct kernel_port *to = &t->kernel->out[port];
    if (!type_is_scalar(to->type) || out->packets < ALIKE_MIN || out->packets % ALIKE_MIN != 0)
        return false;
    uint32_t locals = t->kernel->local_count;
    struct variable *j =
        build_local(t, region_fresh_name(w), type_scalar(t->types, SCALAR_I32), false);
    struct alike alike = {.w = w, .count = out->packets, .j = j};
    struct kx *value = unify_values(&alike, out->values);
    if (value == NULL) {
        t->kernel->local_count = locals;
        return false;
    }
    struct build_list body = {0};
    if (alike.first_differs) value = with_first(&alike, list, &body, out->values[0], value);
    struct ks *store = build_ks(t, KS_STORE);
    store->port = port;
    store->index = build_variable(t, j);
    store->expr = value;
    build_append(&body, store);
    build_append(list, build_loop(t, j, out->packets, build_block(t, &body)));
    to->indexed = true;
    to->rate_declared = true;
    to->rate_span = t->span;
    to->push_least = to->push = out->packets;
    return true;
}
