/* SPDX-License-Identifier: MIT */
#include "compiler/optimize/region/symbolic.h"

#include <math.h>

enum { NODES_MAX = 1 << 16, STEPS_MAX = 6000000, SETTLE_MAX = 4096 };

struct symbols symbols_begin(struct arena *scratch)
{
    return (struct symbols){.arena = scratch, .node_limit = NODES_MAX, .step_limit = STEPS_MAX};
}

/* ---- unique nodes ---- */

static uint64_t mix_hash(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_symbol(const struct sym_node *n)
{
    uint64_t hash = mix_hash(n->packet, (uint64_t)n->kind << 40 | (uint64_t)n->op << 24 |
                                            (uint64_t)n->builtin << 8 | (uint64_t)n->type);
    hash = mix_hash(hash, (uint64_t)n->stream << 32 | n->component);
    for (uint32_t i = 0; i < n->operand_count; i++)
        hash = mix_hash(mix_hash(hash, n->operands[i].type), n->operands[i].bits);
    return hash;
}

static bool is_same_symbol(sym a, sym b)
{
    return a.type == b.type && a.bits == b.bits;
}

static bool is_equal(const struct sym_node *a, const struct sym_node *b)
{
    if (a->kind != b->kind || a->op != b->op || a->builtin != b->builtin || a->type != b->type ||
        a->packet != b->packet || a->stream != b->stream || a->component != b->component ||
        a->operand_count != b->operand_count)
        return false;
    for (uint32_t i = 0; i < a->operand_count; i++)
        if (!is_same_symbol(a->operands[i], b->operands[i])) return false;
    return true;
}

static uint32_t *find_symbol_slot(struct symbols *s, const struct sym_node *node)
{
    size_t at = hash_symbol(node) & (s->slot_count - 1);
    while (s->slots[at] != 0 && !is_equal(&s->nodes.items[s->slots[at] - 1], node))
        at = (at + 1) & (s->slot_count - 1);
    return &s->slots[at];
}

static bool is_float_zero(sym value, bool negative)
{
    return sym_is_constant(value) && scalar_is_float(value.type) && arith_as_f64(value) == 0 &&
           (signbit(arith_as_f64(value)) != 0) == negative;
}

static bool never_minus_zero(const struct symbols *s, sym value)
{
    if (sym_is_constant(value)) return !is_float_zero(value, true);
    return sym_node(s, value)->never_minus_zero;
}

/* A sum is -0.0 only if both terms are. */
static bool is_never_minus_zero(const struct symbols *s, const struct sym_node *n)
{
    if (n->kind == SYM_CONVERT) return !scalar_is_float(sym_type(n->operands[0]));
    if (n->kind == SYM_BUILTIN) return n->builtin == BUILTIN_ABS;
    if (n->kind != SYM_BINARY || n->op != OP_ADD) return false;
    return never_minus_zero(s, n->operands[0]) || never_minus_zero(s, n->operands[1]);
}

static sym intern_node(struct symbols *s, struct sym_node node)
{
    if (2 * s->nodes.count >= s->slot_count) {
        enum { FIRST_SLOTS = 1024 };
        s->slot_count = s->slot_count ? s->slot_count * 2 : FIRST_SLOTS;
        s->slots = ARENA_ARRAY(s->arena, uint32_t, s->slot_count);
        for (size_t i = 0; i < s->nodes.count; i++)
            *find_symbol_slot(s, &s->nodes.items[i]) = (uint32_t)i + 1;
    }
    uint32_t *slot = find_symbol_slot(s, &node);
    if (*slot == 0) {
        if (s->nodes.count >= s->node_limit && s->reason == NULL)
            s->reason = "computes too much in one firing";
        node.never_minus_zero = is_never_minus_zero(s, &node);
        *slot = (uint32_t)vec_push(s->arena, &s->nodes, node) + 1;
    }
    return sym_of_node(*slot - 1, node.type);
}

sym sym_packet(struct symbols *s, enum scalar_type type, uint32_t stream, uint64_t packet,
               uint32_t component)
{
    return intern_node(s, (struct sym_node){.kind = SYM_PACKET,
                                            .type = type,
                                            .stream = stream,
                                            .packet = packet,
                                            .component = component,
                                            .settled = true});
}

sym sym_argument(struct symbols *s, enum scalar_type type, uint32_t number)
{
    return intern_node(
        s,
        (struct sym_node){.kind = SYM_ARGUMENT, .type = type, .stream = number, .settled = true});
}

sym sym_table(struct symbols *s, enum scalar_type type, uint64_t item)
{
    return intern_node(
        s, (struct sym_node){.kind = SYM_TABLE, .type = type, .packet = item, .settled = true});
}

sym sym_unknown(struct symbols *s, enum scalar_type type)
{
    return intern_node(
        s, (struct sym_node){
               .kind = SYM_UNKNOWN, .type = type, .packet = s->nodes.count, .settled = true});
}

/* ---- properties of values ---- */

static bool is_constant_number(sym value, double number)
{
    if (!sym_is_constant(value)) return false;
    if (scalar_is_float(value.type)) return arith_as_f64(value) == number;
    return arith_as_exact(value) == (__int128)number;
}

static bool is_plus_zero_added(const struct sym_node *n)
{
    return n->kind == SYM_BINARY && n->op == OP_ADD && is_float_zero(n->operands[1], false);
}

/* Is the node a sum, which differs only in the sign of a zero if its terms do? */
static bool is_sum(const struct sym_node *n)
{
    if (!scalar_is_float(n->type)) return false;
    return (n->kind == SYM_BINARY && n->op == OP_ADD) ||
           (n->kind == SYM_BUILTIN && n->builtin == BUILTIN_FMA);
}

/* The value without `+ +0.0` in its sums: the same except for the sign of a zero.  The sign of a zero term has no effect
 * on a sum whose other term cannot be -0.0. */
static sym drop_plus_zero(struct symbols *s, sym value, uint32_t depth)
{
    if (sym_is_constant(value) || depth > SETTLE_MAX) return value;
    struct sym_node n = *sym_node(s, value);
    if (n.settled || !is_sum(&n)) return value;
    if (is_plus_zero_added(&n)) return drop_plus_zero(s, n.operands[0], depth + 1);
    bool is_fma = n.kind == SYM_BUILTIN;
    for (uint32_t i = is_fma ? 2 : 0; i < n.operand_count && i < SYM_OPERANDS; i++)
        n.operands[i] = drop_plus_zero(s, n.operands[i], depth + 1);
    n.settled = true;
    return intern_node(s, n);
}

/* ---- simplification ---- */

static sym add_float(struct symbols *s, enum scalar_type type, sym left, sym right)
{
    if (is_float_zero(left, true)) return right;
    if (is_float_zero(right, true)) return left;
    if (is_float_zero(left, false)) {
        sym zero = left;
        left = right;
        right = zero;
    }
    if (is_float_zero(right, false)) {
        if (never_minus_zero(s, left)) return left;
        left = drop_plus_zero(s, left, 0);
    } else if (never_minus_zero(s, left)) {
        right = drop_plus_zero(s, right, 0);
    } else if (never_minus_zero(s, right)) {
        left = drop_plus_zero(s, left, 0);
    }
    return intern_node(s, (struct sym_node){.kind = SYM_BINARY,
                                            .op = OP_ADD,
                                            .type = type,
                                            .operand_count = 2,
                                            .operands = {left, right}});
}

static bool simpler_float(struct symbols *s, const struct sym_node *n, sym *out)
{
    sym left = n->operands[0], right = n->operands[1];
    if (n->op == OP_ADD) {
        *out = add_float(s, n->type, left, right);
        return true;
    }
    bool unchanged = (n->op == OP_SUB && is_float_zero(right, false)) ||
                     ((n->op == OP_MUL || n->op == OP_DIV) && is_constant_number(right, 1));
    if (unchanged)
        *out = left;
    else if (n->op == OP_MUL && is_constant_number(left, 1))
        *out = right;
    else
        return false;
    return true;
}

static bool simpler_integer(const struct sym_node *n, sym *out)
{
    sym left = n->operands[0], right = n->operands[1];
    bool commutes =
        n->op == OP_ADD || n->op == OP_MUL || n->op == OP_AND || n->op == OP_OR || n->op == OP_XOR;
    if (commutes && sym_is_constant(left)) {
        sym constant = left;
        left = right;
        right = constant;
    }
    bool by_zero = is_constant_number(right, 0), by_one = is_constant_number(right, 1);
    switch (n->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_OR:
    case OP_XOR:
    case OP_SHL:
    case OP_SHR:
        if (by_zero) *out = left;
        return by_zero;
    case OP_MUL:
    case OP_AND:
        if (by_zero) *out = right;
        if (by_one && n->op == OP_MUL) *out = left;
        return by_zero || (by_one && n->op == OP_MUL);
    case OP_DIV:
        if (by_one) *out = left;
        return by_one;
    default: return false;
    }
}

/* fma(a, b, x) with constants a and b: the product is known to be exact only if it is zero. */
static bool simpler_fma(struct symbols *s, const struct sym_node *n, sym *out)
{
    sym a = n->operands[0], b = n->operands[1], product;
    if (is_constant_number(a, 1) || is_constant_number(b, 1)) {
        *out = sym_binary(s, OP_ADD, n->type, is_constant_number(a, 1) ? b : a, n->operands[2]);
        return true;
    }
    if (!sym_is_constant(a) || !sym_is_constant(b) ||
        (!is_constant_number(a, 0) && !is_constant_number(b, 0)))
        return false;
    if (!arith_binary(OP_MUL, a, b, &product) || arith_as_f64(product) != 0) return false;
    *out = sym_binary(s, OP_ADD, n->type, product, n->operands[2]);
    return true;
}

static bool simplify_node(struct symbols *s, const struct sym_node *n, sym *out)
{
    switch (n->kind) {
    case SYM_BINARY:
        return scalar_is_float(n->type) ? simpler_float(s, n, out) : simpler_integer(n, out);
    case SYM_BUILTIN: return n->builtin == BUILTIN_FMA && simpler_fma(s, n, out);
    case SYM_SELECT:
        if (!is_same_symbol(n->operands[1], n->operands[2])) return false;
        *out = n->operands[1];
        return true;
    case SYM_CONVERT: *out = n->operands[0]; return sym_type(n->operands[0]) == n->type;
    default: return false;
    }
}

/* ---- operations ---- */

static bool is_division(enum kx_op op)
{
    return op == OP_DIV || op == OP_REM;
}

sym sym_operation(struct symbols *s, struct sym_node n)
{
    sym result = {n.type, 0};
    bool constant = true;
    for (uint32_t i = 0; i < n.operand_count; i++)
        constant &= sym_is_constant(n.operands[i]);
    if (n.kind == SYM_SELECT && sym_is_constant(n.operands[0]))
        return n.operands[arith_truth(n.operands[0]) ? 1 : 2];
    struct operation operation = {(enum kx_kind)n.kind, n.op, n.builtin, n.type};
    if (constant && arith_operate(operation, n.operands, &result)) return result;
    if (n.kind == SYM_BINARY && is_division(n.op) && !scalar_is_float(n.type) &&
        (!sym_is_constant(n.operands[1]) || is_constant_number(n.operands[1], 0))) {
        s->reason = "divides by what may be zero";
        return result;
    }
    if (!s->literal && simplify_node(s, &n, &result)) return result;
    return intern_node(s, n);
}

sym sym_binary(struct symbols *s, enum kx_op op, enum scalar_type type, sym left, sym right)
{
    return sym_operation(s, (struct sym_node){.kind = SYM_BINARY,
                                              .op = op,
                                              .type = type,
                                              .operand_count = 2,
                                              .operands = {left, right}});
}
