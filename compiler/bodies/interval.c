/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/interval.h"

#include "compiler/ir/arith.h"
#include "compiler/ir/ratio.h"

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

bool interval_contains(struct interval outer, struct interval inner)
{
    return outer.low <= inner.low && inner.high <= outer.high;
}

bool interval_is(struct interval a, int64_t value)
{
    return a.low == value && a.high == value;
}

bool interval_is_true(struct interval a)
{
    return a.low > 0 || a.high < 0;
}

/* The scalar that a value is made of; or a struct, or void. */
static const struct type *scalar_of(const struct type *type)
{
    return type_is_scalar(type) ? type : type_base(type);
}

struct interval interval_of_type(const struct type *whole)
{
    const struct type *type = scalar_of(whole);
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

struct interval interval_wrapped(struct interval i, const struct type *type)
{
    struct interval all = interval_of_type(type);
    if (interval_contains(all, i) || !type_is_integer(scalar_of(type)))
        return interval_contains(all, i) ? i : all;
    wide modulus = all.high - all.low + 1;
    if (i.high - i.low >= modulus) return all;
    wide turns = floor_divide(i.low - all.low, modulus);
    if (floor_divide(i.high - all.low, modulus) != turns) return all;
    return (struct interval){i.low - turns * modulus, i.high - turns * modulus};
}

/* ---- arithmetic ---- */

static struct interval interval_product(struct interval a, struct interval b)
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

static wide largest_magnitude(struct interval a)
{
    wide low = a.low < 0 ? -a.low : a.low, high = a.high < 0 ? -a.high : a.high;
    return low > high ? low : high;
}

/* A division by zero has no result. */
static struct interval without_zero(struct interval b)
{
    if (b.low == 0 && b.high > 0) b.low = 1;
    if (b.high == 0 && b.low < 0) b.high = -1;
    return b;
}

static struct interval divide_range(struct interval a, struct interval divisor)
{
    struct interval b = without_zero(divisor);
    if (b.low <= 0 && b.high >= 0) {
        wide most = largest_magnitude(a);
        return (struct interval){-most, most};
    }
    wide q[4] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};
    struct interval r = {q[0], q[0]};
    for (int i = 1; i < 4; i++)
        r = interval_join(r, (struct interval){q[i], q[i]});
    return r;
}

/* It has the sign of the dividend, and is smaller than the divisor. */
static struct interval remainder_of(struct interval a, struct interval divisor)
{
    struct interval b = without_zero(divisor);
    if (b.low == 0 && b.high == 0) return INTERVAL_ALL;
    if (b.low == b.high && (a.low >= 0 || a.high <= 0) && a.low / b.low == a.high / b.low)
        return (struct interval){a.low % b.low, a.high % b.low};
    bool smaller = b.low > 0 && a.low > -b.low && a.high < b.low;
    if (smaller) return a;
    wide most = largest_magnitude(b) - 1;
    struct interval r = {a.low < 0 ? -most : 0, a.high > 0 ? most : 0};
    if (a.low > r.low && a.low < 0) r.low = a.low;
    if (a.high < r.high && a.high > 0) r.high = a.high;
    return r;
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
static struct interval bitwise_or(enum kx_op op, struct interval a, struct interval b)
{
    if (a.low < 0 || b.low < 0) return INTERVAL_ALL;
    wide top = 1;
    while (top <= a.high || top <= b.high)
        top <<= 1;
    wide low = a.low > b.low ? a.low : b.low;
    return (struct interval){op == OP_OR ? low : 0, top - 1};
}

static struct interval shift_range(enum kx_op op, struct interval a, struct interval count,
                                   const struct type *type)
{
    wide width = 8 * (wide)scalar_of(type)->width_bytes;
    if (count.low < 0 || count.high >= width) {
        if (op == OP_SHR && a.low >= 0) return (struct interval){0, a.high};
        if (op == OP_SHR) return (struct interval){a.low, a.high > -1 ? a.high : -1};
        return INTERVAL_ALL;
    }
    unsigned least = (unsigned)count.low, most = (unsigned)count.high;
    struct interval by = {(wide)1 << least, (wide)1 << most};
    if (op == OP_SHL) return interval_product(a, by);
    /* Arithmetic shift rounds down. */
    return (struct interval){a.low >> (a.low < 0 ? least : most),
                             a.high >> (a.high < 0 ? most : least)};
}

struct interval interval_binary(enum kx_op op, struct interval a, struct interval b,
                                const struct type *type)
{
    switch (op) {
    case OP_ADD: return (struct interval){a.low + b.low, a.high + b.high};
    case OP_SUB: return (struct interval){a.low - b.high, a.high - b.low};
    case OP_MUL: return interval_product(a, b);
    case OP_DIV: return divide_range(a, b);
    case OP_REM: return remainder_of(a, b);
    case OP_AND: return bitwise_and(a, b);
    case OP_OR:
    case OP_XOR: return bitwise_or(op, a, b);
    case OP_SHL:
    case OP_SHR: return shift_range(op, a, b, type);
    default: return INTERVAL_ALL;
    }
}
struct interval interval_compare(enum kx_op op, struct interval a, struct interval b)
{
    const struct interval no = {0, 0}, yes = {1, 1}, maybe = {0, 1};
    switch (op) {
    case OP_LT: return a.high < b.low ? yes : a.low >= b.high ? no : maybe;
    case OP_LE: return a.high <= b.low ? yes : a.low > b.high ? no : maybe;
    case OP_GT: return interval_compare(OP_LT, b, a);
    case OP_GE: return interval_compare(OP_LE, b, a);
    case OP_EQ:
        if (a.low == a.high && b.low == b.high && a.low == b.low) return yes;
        return interval_overlaps(a, b) ? maybe : no;
    case OP_NE:
        if (a.low == a.high && b.low == b.high && a.low == b.low) return no;
        return interval_overlaps(a, b) ? maybe : yes;
    default: return maybe;
    }
}

struct interval interval_truth(struct interval a)
{
    if (interval_is(a, 0)) return (struct interval){0, 0};
    if (interval_is_true(a)) return (struct interval){1, 1};
    return (struct interval){0, 1};
}

struct interval interval_convert(struct interval a, const struct type *from_whole,
                                 const struct type *to_whole)
{
    const struct type *from = scalar_of(from_whole), *to = scalar_of(to_whole);
    if (!type_is_integer(from) && !type_is_bool(from)) return interval_of_type(to);
    if (type_is_float(to)) return INTERVAL_ALL; /* rounded */
    return type_is_bool(to) ? interval_truth(a) : interval_wrapped(a, to);
}
