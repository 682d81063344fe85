/* SPDX-License-Identifier: MIT */
#include "compiler/ir/arith.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/half.h"

#define F32_NAN_BITS UINT32_C(0x7fc00000)
#define F64_NAN_BITS UINT64_C(0x7ff8000000000000)
#define F32_SIGN UINT64_C(0x80000000)
#define F64_SIGN (UINT64_C(1) << 63)

/* ---- values ---- */

struct scalar_value arith_integer(enum scalar_type type, uint64_t bits)
{
    if (type == SCALAR_BOOL) return (struct scalar_value){type, bits & 1};
    unsigned unused = 64 - 8 * (unsigned)scalar_width_bytes(type);
    uint64_t mask = UINT64_MAX >> unused;
    bits &= mask;
    if (scalar_is_signed(type) && bits >> (63 - unused)) bits |= ~mask;
    return (struct scalar_value){type, bits};
}

struct scalar_value arith_bool(bool truth)
{
    return (struct scalar_value){SCALAR_BOOL, truth};
}

static struct scalar_value f32_from_bits(uint32_t bits)
{
    return (struct scalar_value){SCALAR_F32, bits};
}

struct scalar_value arith_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return f32_from_bits(isnan(value) ? F32_NAN_BITS : bits);
}

struct scalar_value arith_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (struct scalar_value){SCALAR_F64, isnan(value) ? F64_NAN_BITS : bits};
}

static float f32_of(struct scalar_value value)
{
    uint32_t bits = (uint32_t)value.bits;
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

static double f64_of(struct scalar_value value)
{
    double result;
    memcpy(&result, &value.bits, sizeof result);
    return result;
}

double arith_as_f64(struct scalar_value value)
{
    switch (value.type) {
    case SCALAR_F16: return (double)half_from_f16((uint16_t)value.bits);
    case SCALAR_BF16: return (double)half_from_bf16((uint16_t)value.bits);
    case SCALAR_F32: return (double)f32_of(value);
    default: return f64_of(value);
    }
}

bool arith_truth(struct scalar_value value)
{
    return scalar_is_float(value.type) ? arith_as_f64(value) != 0.0 : value.bits != 0;
}

__int128 arith_as_exact(struct scalar_value value)
{
    return scalar_is_signed(value.type) ? (__int128)(int64_t)value.bits : (__int128)value.bits;
}

bool arith_fits(__int128 value, enum scalar_type type)
{
    unsigned width = 8 * (unsigned)scalar_width_bytes(type);
    if (type == SCALAR_BOOL) return value == 0 || value == 1;
    if (!scalar_is_signed(type)) return value >= 0 && value < (__int128)1 << width;
    __int128 limit = (__int128)1 << (width - 1);
    return value >= -limit && value < limit;
}

/* ---- operators ---- */

static struct scalar_value shift_bits(enum kx_op op, struct scalar_value left,
                                      struct scalar_value right)
{
    unsigned width = 8 * (unsigned)scalar_width_bytes(left.type);
    unsigned count = (unsigned)(right.bits & (width - 1));
    if (op == OP_SHL) return arith_integer(left.type, left.bits << count);
    /* The bits are extended by their type, so the sign comes in from above. */
    uint64_t bits = left.bits >> count;
    if (count && scalar_is_signed(left.type) && left.bits >> 63) bits |= UINT64_MAX << (64 - count);
    return arith_integer(left.type, bits);
}

static bool divide_integers(enum kx_op op, struct scalar_value left, struct scalar_value right,
                            struct scalar_value *out)
{
    bool quotient = op == OP_DIV;
    uint64_t bits;
    if (right.bits == 0) return false;
    if (!scalar_is_signed(left.type))
        bits = quotient ? left.bits / right.bits : left.bits % right.bits;
    else if (right.bits == UINT64_MAX) /* -1: the one that can overflow */
        bits = quotient ? 0 - left.bits : 0;
    else
        bits = (uint64_t)(quotient ? (int64_t)left.bits / (int64_t)right.bits
                                   : (int64_t)left.bits % (int64_t)right.bits);
    *out = arith_integer(left.type, bits);
    return true;
}

static struct scalar_value f32_binary(enum kx_op op, float a, float b)
{
    switch (op) {
    case OP_ADD: return arith_f32(a + b);
    case OP_SUB: return arith_f32(a - b);
    case OP_MUL: return arith_f32(a * b);
    default: return arith_f32(a / b);
    }
}

static struct scalar_value f64_binary(enum kx_op op, double a, double b)
{
    switch (op) {
    case OP_ADD: return arith_f64(a + b);
    case OP_SUB: return arith_f64(a - b);
    case OP_MUL: return arith_f64(a * b);
    default: return arith_f64(a / b);
    }
}

bool arith_binary(enum kx_op op, struct scalar_value left, struct scalar_value right,
                  struct scalar_value *out)
{
    if (left.type == SCALAR_F32)
        *out = f32_binary(op, f32_of(left), f32_of(right));
    else if (left.type == SCALAR_F64)
        *out = f64_binary(op, f64_of(left), f64_of(right));
    else {
        uint64_t a = left.bits, b = right.bits, bits = 0;
        switch (op) {
        case OP_DIV:
        case OP_REM: return divide_integers(op, left, right, out);
        case OP_SHL:
        case OP_SHR: *out = shift_bits(op, left, right); return true;
        case OP_ADD: bits = a + b; break;
        case OP_SUB: bits = a - b; break;
        case OP_MUL: bits = a * b; break;
        case OP_AND: bits = a & b; break;
        case OP_OR: bits = a | b; break;
        case OP_XOR: bits = a ^ b; break;
        default: break;
        }
        *out = arith_integer(left.type, bits);
        return true;
    }
    return true;
}

bool arith_compare(enum kx_op op, struct scalar_value left, struct scalar_value right)
{
    bool less, equal, greater;
    if (scalar_is_float(left.type)) {
        double a = arith_as_f64(left), b = arith_as_f64(right);
        less = a<b, equal = a == b, greater = a> b;
    } else {
        __int128 a = arith_as_exact(left), b = arith_as_exact(right);
        less = a<b, equal = a == b, greater = a> b;
    }
    switch (op) {
    case OP_LT: return less;
    case OP_GT: return greater;
    case OP_LE: return less || equal;
    case OP_GE: return greater || equal;
    case OP_EQ: return equal;
    default: return !equal;
    }
}

enum kx_op arith_opposite(enum kx_op op)
{
    switch (op) {
    case OP_LT: return OP_GE;
    case OP_LE: return OP_GT;
    case OP_GT: return OP_LE;
    case OP_GE: return OP_LT;
    case OP_EQ: return OP_NE;
    default: return OP_EQ;
    }
}

static uint64_t sign_bit_of(enum scalar_type type)
{
    return type == SCALAR_F32 ? F32_SIGN : F64_SIGN;
}

struct scalar_value arith_negate(struct scalar_value value)
{
    if (!scalar_is_float(value.type)) return arith_integer(value.type, 0 - value.bits);
    value.bits ^= sign_bit_of(value.type);
    return value;
}

struct scalar_value arith_complement(struct scalar_value value)
{
    return arith_integer(value.type, ~value.bits);
}

/* ---- conversions ---- */

static struct scalar_value saturate_to_integer(double value, enum scalar_type to)
{
    int width = 8 * (int)scalar_width_bytes(to);
    if (isnan(value)) return arith_integer(to, 0);
    if (!scalar_is_signed(to)) {
        if (value <= 0.0) return arith_integer(to, 0);
        if (value >= ldexp(1.0, width)) return arith_integer(to, UINT64_MAX);
        return arith_integer(to, (uint64_t)value);
    }
    double limit = ldexp(1.0, width - 1);
    if (value < -limit) value = -limit;
    if (value >= limit) return arith_integer(to, (UINT64_C(1) << (width - 1)) - 1);
    return arith_integer(to, (uint64_t)(int64_t)value);
}

static struct scalar_value float_of_integer(struct scalar_value value, enum scalar_type to)
{
    int64_t number = (int64_t)value.bits;
    if (scalar_is_signed(value.type))
        return to == SCALAR_F32 ? arith_f32((float)number) : arith_f64((double)number);
    return to == SCALAR_F32 ? arith_f32((float)value.bits) : arith_f64((double)value.bits);
}

/* Rounded once. */
static struct scalar_value round_to_half(struct scalar_value value, enum scalar_type to)
{
    double number = scalar_is_float(value.type)
                        ? arith_as_f64(value)
                        : half_integer_to_odd(value.bits, scalar_is_signed(value.type));
    return (struct scalar_value){to, half_of_f64(number, to == SCALAR_BF16)};
}

struct scalar_value arith_convert(struct scalar_value value, enum scalar_type to)
{
    if (to == value.type) return value;
    if (to == SCALAR_BOOL) return arith_bool(arith_truth(value));
    if (to == SCALAR_F16 || to == SCALAR_BF16) return round_to_half(value, to);
    if (!scalar_is_float(value.type))
        return scalar_is_float(to) ? float_of_integer(value, to) : arith_integer(to, value.bits);
    double number = arith_as_f64(value);
    if (to == SCALAR_F32) return arith_f32((float)number);
    if (to == SCALAR_F64) return arith_f64(number);
    return saturate_to_integer(number, to);
}

/* ---- built-in functions ---- */

static struct scalar_value minimum_maximum(bool maximum, struct scalar_value a,
                                           struct scalar_value b)
{
    if (!scalar_is_float(a.type)) {
        bool less = arith_compare(OP_LT, a, b);
        return less != maximum ? a : b;
    }
    double x = arith_as_f64(a), y = arith_as_f64(b);
    if (isnan(x) && isnan(y)) return a.type == SCALAR_F32 ? arith_f32(NAN) : arith_f64((double)NAN);
    if (isnan(x)) return b;
    if (isnan(y)) return a;
    bool less = x < y || (x == y && signbit(x) && !signbit(y));
    return less != maximum ? a : b;
}

/* The sign of a NaN differs between devices, so it is never seen: it counts as plus. */
static bool has_visible_sign(struct scalar_value value)
{
    return !isnan(arith_as_f64(value)) && (value.bits & sign_bit_of(value.type)) != 0;
}

static struct scalar_value round_f32(enum builtin builtin, float x)
{
    switch (builtin) {
    case BUILTIN_SQRT: return arith_f32(sqrtf(x));
    case BUILTIN_FLOOR: return arith_f32(floorf(x));
    case BUILTIN_CEIL: return arith_f32(ceilf(x));
    case BUILTIN_TRUNC: return arith_f32(truncf(x));
    case BUILTIN_RINT: return arith_f32(rintf(x));
    default: return arith_f32(roundf(x));
    }
}

static struct scalar_value round_f64(enum builtin builtin, double x)
{
    switch (builtin) {
    case BUILTIN_SQRT: return arith_f64(sqrt(x));
    case BUILTIN_FLOOR: return arith_f64(floor(x));
    case BUILTIN_CEIL: return arith_f64(ceil(x));
    case BUILTIN_TRUNC: return arith_f64(trunc(x));
    case BUILTIN_RINT: return arith_f64(rint(x));
    default: return arith_f64(round(x));
    }
}

static struct scalar_value reinterpret_bits(enum builtin builtin, struct scalar_value a)
{
    if (builtin == BUILTIN_FROM_BITS)
        return a.type == SCALAR_U32 ? f32_from_bits((uint32_t)a.bits)
                                    : (struct scalar_value){SCALAR_F64, a.bits};
    if (a.type == SCALAR_F32)
        return arith_integer(SCALAR_U32, isnan(f32_of(a)) ? F32_NAN_BITS : a.bits);
    return arith_integer(SCALAR_U64, isnan(f64_of(a)) ? F64_NAN_BITS : a.bits);
}

struct scalar_value arith_builtin(enum builtin builtin, const struct scalar_value *arguments)
{
    struct scalar_value a = arguments[0];
    bool narrow = a.type == SCALAR_F32;
    switch (builtin) {
    case BUILTIN_FMA:
        return narrow ? arith_f32(fmaf(f32_of(a), f32_of(arguments[1]), f32_of(arguments[2])))
                      : arith_f64(fma(f64_of(a), f64_of(arguments[1]), f64_of(arguments[2])));
    case BUILTIN_COPYSIGN: {
        uint64_t bit = sign_bit_of(a.type);
        a.bits = (a.bits & ~bit) | (has_visible_sign(arguments[1]) ? bit : 0);
        return a;
    }
    case BUILTIN_ABS:
        if (scalar_is_float(a.type)) {
            a.bits &= ~sign_bit_of(a.type);
            return a;
        }
        return scalar_is_signed(a.type) && a.bits >> 63 ? arith_negate(a) : a;
    case BUILTIN_MIN: return minimum_maximum(false, a, arguments[1]);
    case BUILTIN_MAX: return minimum_maximum(true, a, arguments[1]);
    case BUILTIN_ISNAN: return arith_bool(isnan(arith_as_f64(a)));
    case BUILTIN_ISINF: return arith_bool(isinf(arith_as_f64(a)));
    case BUILTIN_SIGNBIT: return arith_bool(has_visible_sign(a));
    case BUILTIN_BITS:
    case BUILTIN_FROM_BITS: return reinterpret_bits(builtin, a);
    default: return narrow ? round_f32(builtin, f32_of(a)) : round_f64(builtin, f64_of(a));
    }
}

/* ---- operations ---- */

struct operation kx_operation(const struct kx *x)
{
    return (struct operation){x->kind, x->op, x->builtin, type_item(x->type)->scalar};
}

bool arith_operate(struct operation operation, const struct scalar_value *operands,
                   struct scalar_value *out)
{
    switch (operation.kind) {
    case KX_NEGATE: *out = arith_negate(operands[0]); return true;
    case KX_COMPLEMENT: *out = arith_complement(operands[0]); return true;
    case KX_NOT: *out = arith_bool(!arith_truth(operands[0])); return true;
    case KX_BINARY: return arith_binary(operation.op, operands[0], operands[1], out);
    case KX_COMPARE:
        *out = arith_bool(arith_compare(operation.op, operands[0], operands[1]));
        return true;
    case KX_SELECT: *out = operands[arith_truth(operands[0]) ? 1 : 2]; return true;
    case KX_CONVERT: *out = arith_convert(operands[0], operation.type); return true;
    case KX_BUILTIN: *out = arith_builtin(operation.builtin, operands); return true;
    default: return false;
    }
}

bool kx_fold(const struct kx *x, struct scalar_value *value)
{
    const struct kx *parts[KX_OPERANDS_MAX];
    struct scalar_value operands[KX_OPERANDS_MAX] = {0};
    uint32_t count = kx_operands(x, parts);
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i]->kind != KX_CONSTANT) return false;
        operands[i] = parts[i]->value;
    }
    return count > 0 && arith_operate(kx_operation(x), operands, value);
}

struct kx *kx_chosen(const struct kx *x)
{
    if ((x->kind != KX_LOGICAL && x->kind != KX_SELECT) || x->left->kind != KX_CONSTANT)
        return NULL;
    bool truth = arith_truth(x->left->value);
    if (x->kind == KX_SELECT) return truth ? x->right : x->third;
    return truth == (x->op == OP_LOGICAL_AND) ? x->right : x->left;
}

/* ---- text ---- */

/* The shortest text that reads back as the same value of its type. */
static const char *float_text(struct arena *arena, struct scalar_value value)
{
    double number = arith_as_f64(value);
    int digits = value.type == SCALAR_F64 ? 17 : value.type == SCALAR_F32 ? 9 : 5;
    const char *text = "";
    for (int precision = 1; precision <= digits; precision++) {
        text = arena_printf(arena, "%.*g", precision, number);
        struct scalar_value back = arith_f64(strtod(text, NULL));
        if (value.type == SCALAR_F32) back = arith_f32(strtof(text, NULL));
        if (arith_as_f64(arith_convert(back, value.type)) == number) break;
    }
    return strpbrk(text, ".einf") ? text : arena_printf(arena, "%s.0", text);
}

const char *arith_text(struct arena *arena, struct scalar_value value)
{
    if (value.type == SCALAR_BOOL) return value.bits ? "true" : "false";
    if (scalar_is_float(value.type)) return float_text(arena, value);
    if (scalar_is_signed(value.type)) return arena_printf(arena, "%" PRId64, (int64_t)value.bits);
    return arena_printf(arena, "%" PRIu64, value.bits);
}
