/* SPDX-License-Identifier: MIT */
/* Types, and what the language says about one scalar: conversions, operators, built-in functions. */
#include "tests/oracle/kahn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned bits;
    bool is_float, is_signed;
} SCALAR_TABLE[SCALARS] = {
    {"bool", 8, 0, 0},  {"i8", 8, 0, 1},   {"i16", 16, 0, 1}, {"i32", 32, 0, 1}, {"i64", 64, 0, 1},
    {"u8", 8, 0, 0},    {"u16", 16, 0, 0}, {"u32", 32, 0, 0}, {"u64", 64, 0, 0}, {"f16", 16, 1, 1},
    {"bf16", 16, 1, 1}, {"f32", 32, 1, 1}, {"f64", 64, 1, 1}};

bool scalar_is_float(enum scalar scalar)
{
    return SCALAR_TABLE[scalar].is_float;
}

bool scalar_is_signed(enum scalar scalar)
{
    return SCALAR_TABLE[scalar].is_signed;
}

unsigned scalar_bits(enum scalar scalar)
{
    return SCALAR_TABLE[scalar].bits;
}

/* ---- types; equal ones are one ---- */

static struct made {
    struct type type;
    struct made *next;
} *made;

static const struct type *the_one(struct type wanted)
{
    for (struct made *m = made; m; m = m->next)
        if (m->type.kind == wanted.kind && m->type.scalar == wanted.scalar &&
            m->type.element == wanted.element && m->type.length == wanted.length &&
            m->type.name == wanted.name)
            return &m->type;
    struct made *m = kahn_alloc(sizeof *m);
    m->type = wanted;
    m->next = made;
    made = m;
    return &m->type;
}

const struct type *type_scalar(enum scalar scalar)
{
    size_t size = scalar_bits(scalar) / 8;
    return the_one((struct type){.kind = SCALAR, .scalar = scalar, .size = size, .align = size});
}

static const struct type *sequence(enum type_kind kind, const struct type *element, uint64_t length)
{
    size_t size;
    if (__builtin_mul_overflow(element->size, length, &size))
        kahn_refuse(0, "an array beyond all sizes");
    return the_one((struct type){
        .kind = kind, .element = element, .length = length, .size = size, .align = element->align});
}

const struct type *type_vector(const struct type *element, uint64_t length)
{
    return sequence(VECTOR, element, length);
}

const struct type *type_array(const struct type *element, uint64_t length)
{
    return sequence(ARRAY, element, length);
}

const struct type *type_struct(const char *name, struct field *fields, uint64_t count)
{
    size_t size = 0, align = 1;
    for (uint64_t i = 0; i < count; i++) {
        size_t own = fields[i].type->align;
        fields[i].offset = size = (size + own - 1) / own * own;
        size += fields[i].type->size;
        if (own > align) align = own;
    }
    size = (size + align - 1) / align * align;
    return the_one((struct type){.kind = STRUCT,
                                 .name = name,
                                 .fields = fields,
                                 .length = count,
                                 .size = size,
                                 .align = align});
}

const struct type *type_void(void)
{
    return the_one((struct type){.kind = VOID});
}

const struct type *type_exact(void)
{
    return the_one((struct type){.kind = EXACT});
}

const struct type *type_loose(void)
{
    return the_one((struct type){.kind = LOOSE});
}

bool type_builtin(const char *name, const struct type **type)
{
    for (int i = 0; i < SCALARS; i++) {
        size_t length = strlen(SCALAR_TABLE[i].name);
        if (strncmp(name, SCALAR_TABLE[i].name, length) != 0) continue;
        static const char *const lanes[] = {"", "x2", "x3", "x4", "x8", "x16"};
        for (size_t n = 0; n < sizeof lanes / sizeof *lanes; n++) {
            if (strcmp(name + length, lanes[n]) != 0) continue;
            *type = type_scalar((enum scalar)i);
            if (n > 0) *type = type_vector(*type, strtoull(lanes[n] + 1, NULL, 10));
            return true;
        }
    }
    return false;
}

/* ---- bits ---- */

static uint64_t wrapped(enum scalar scalar, uint64_t bits)
{
    unsigned width = scalar_bits(scalar);
    if (width == 64) return bits;
    uint64_t mask = (UINT64_C(1) << width) - 1;
    bits &= mask;
    bool negative =
        scalar_is_signed(scalar) && !scalar_is_float(scalar) && (bits >> (width - 1)) != 0;
    return negative ? bits | ~mask : bits;
}

uint64_t scalar_load(enum scalar scalar, const unsigned char *from)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < scalar_bits(scalar) / 8; i++)
        bits |= (uint64_t)from[i] << 8 * i;
    return wrapped(scalar, bits);
}

void scalar_store(enum scalar scalar, unsigned char *to, uint64_t bits)
{
    for (unsigned i = 0; i < scalar_bits(scalar) / 8; i++)
        to[i] = (unsigned char)(bits >> 8 * i);
}

static float float_of(uint64_t bits)
{
    uint32_t narrow = (uint32_t)bits;
    float value;
    memcpy(&value, &narrow, sizeof value);
    return value;
}

static uint64_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* f16 and bf16: `fraction` bits after the point, smallest normal 2^least. */
static double half_value(uint64_t bits, int fraction, int least)
{
    int exponent = (int)(bits & 0x7fff) >> fraction, all = (1 << (15 - fraction)) - 1;
    double mantissa = (double)(bits & ((UINT64_C(1) << fraction) - 1)), value;
    if (exponent == all)
        value = mantissa != 0 ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(mantissa, least - fraction);
    else
        value = ldexp(mantissa + ldexp(1, fraction), exponent - 1 + least - fraction);
    return bits >> 15 ? -value : value;
}

/* Nearest, ties to even; long doubles hold every 64-bit integer. */
static uint64_t half_bits(long double value, int fraction, int least)
{
    uint64_t sign = signbit(value) ? UINT64_C(0x8000) : 0,
             infinity = (uint64_t)((1 << (15 - fraction)) - 1) << fraction;
    if (isnan(value)) return infinity | UINT64_C(1) << (fraction - 1);
    long double magnitude = fabsl(value);
    if (isinf(value)) return sign | infinity;
    if (magnitude == 0) return sign;
    int exponent;
    frexpl(magnitude, &exponent);
    exponent = exponent - 1 < least ? least : exponent - 1;
    long double steps = rintl(
        ldexpl(magnitude, fraction - exponent)); /* 2^fraction .. 2^(fraction + 1) if normal */
    uint64_t bits = (uint64_t)steps + ((uint64_t)(exponent - least) << fraction);
    return sign | (bits >= infinity ? infinity : bits);
}

/* Exact. */
static double as_double(enum scalar scalar, uint64_t bits)
{
    switch (scalar) {
    case F16: return half_value(bits, 10, -14);
    case BF16: return half_value(bits, 7, -126);
    case F32: return float_of(bits);
    default: return double_of(bits);
    }
}

static uint64_t float_from(enum scalar scalar, long double value)
{
    switch (scalar) {
    case F16: return half_bits(value, 10, -14);
    case BF16: return half_bits(value, 7, -126);
    case F32: return bits_of_float((float)value);
    default: return bits_of_double((double)value);
    }
}

uint64_t scalar_of_double(double value, enum scalar to)
{
    return scalar_convert(bits_of_double(value), F64, to);
}

/* Towards zero; saturates; NaN gives 0. */
static uint64_t integer_from(enum scalar to, double value)
{
    unsigned width = scalar_bits(to);
    if (isnan(value)) return 0;
    value = trunc(value);
    if (scalar_is_signed(to)) {
        double limit = ldexp(1, (int)width - 1);
        if (value >= limit) return (UINT64_C(1) << (width - 1)) - 1;
        if (value < -limit) return wrapped(to, UINT64_C(1) << (width - 1));
        return (uint64_t)(int64_t)value;
    }
    if (value <= 0) return 0;
    return value >= ldexp(1, (int)width) ? wrapped(to, UINT64_MAX) : (uint64_t)value;
}

uint64_t scalar_convert(uint64_t bits, enum scalar from, enum scalar to)
{
    if (from == to) return bits;
    if (scalar_is_float(from)) {
        double value = as_double(from, bits);
        if (to == BOOL) return value != 0;
        return scalar_is_float(to) ? float_from(to, value) : integer_from(to, value);
    }
    if (to == BOOL) return bits != 0;
    if (!scalar_is_float(to)) return wrapped(to, bits);
    return float_from(to, scalar_is_signed(from) ? (long double)(int64_t)bits : (long double)bits);
}

/* ---- operators ---- */

static uint64_t divide(enum operator op, enum scalar scalar, uint64_t a, uint64_t b, int line)
{
    if (b == 0) kahn_fault(line, "division-by-zero");
    if (!scalar_is_signed(scalar)) return op == OP_DIV ? a / b : a % b;
    if ((int64_t)b == -1) return op == OP_DIV ? wrapped(scalar, -a) : 0;
    return wrapped(scalar,
                   (uint64_t)(op == OP_DIV ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b));
}

static uint64_t shifted(enum operator op, enum scalar scalar, uint64_t a, uint64_t b)
{
    unsigned count = (unsigned)(b % scalar_bits(scalar));
    if (op == OP_SHL) return wrapped(scalar, a << count);
    if (!scalar_is_signed(scalar)) return a >> count;
    return (int64_t)a < 0 ? ~(~a >> count) : a >> count;
}

static uint64_t integers(enum operator op, enum scalar scalar, uint64_t a, uint64_t b, int line)
{
    bool less = scalar_is_signed(scalar) ? (int64_t)a < (int64_t)b : a < b;
    switch (op) {
    case OP_ADD: return wrapped(scalar, a + b);
    case OP_SUB: return wrapped(scalar, a - b);
    case OP_MUL: return wrapped(scalar, a * b);
    case OP_DIV:
    case OP_REM: return divide(op, scalar, a, b, line);
    case OP_SHL:
    case OP_SHR: return shifted(op, scalar, a, b);
    case OP_AND: return a & b;
    case OP_OR: return a | b;
    case OP_XOR: return a ^ b;
    case OP_LT: return less;
    case OP_GT: return !less && a != b;
    case OP_LE: return less || a == b;
    case OP_GE: return !less;
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    default: kahn_refuse(line, "an operator that integers do not have");
    }
}

#define FLOATS(type, of, bits_of)                                                                  \
    static uint64_t type##s(enum operator op, uint64_t left, uint64_t right, int line)             \
    {                                                                                              \
        volatile type a = of(left), b = of(right), result = 0;                                     \
        switch (op) {                                                                              \
        case OP_ADD: result = a + b; break;                                                        \
        case OP_SUB: result = a - b; break;                                                        \
        case OP_MUL: result = a * b; break;                                                        \
        case OP_DIV: result = a / b; break;                                                        \
        case OP_LT: return a < b;                                                                  \
        case OP_GT: return a > b;                                                                  \
        case OP_LE: return a <= b;                                                                 \
        case OP_GE: return a >= b;                                                                 \
        case OP_EQ: return a == b;                                                                 \
        case OP_NE: return a != b;                                                                 \
        default: kahn_refuse(line, "an operator that floats do not have");                         \
        }                                                                                          \
        return bits_of(result);                                                                    \
    }
FLOATS(float, float_of, bits_of_float)
FLOATS(double, double_of, bits_of_double)

uint64_t scalar_binary(enum operator op, enum scalar scalar, uint64_t a, uint64_t b, int line)
{
    if (scalar == F32) return floats(op, a, b, line);
    if (scalar == F64) return doubles(op, a, b, line);
    return integers(op, scalar, a, b, line);
}

uint64_t scalar_negate(enum scalar scalar, uint64_t a)
{
    if (scalar_is_float(scalar)) return a ^ UINT64_C(1) << (scalar_bits(scalar) - 1);
    return wrapped(scalar, -a);
}

/* ---- built-in functions ---- */

static double sign_of(double value)
{
    return !isnan(value) && signbit(value) ? -1 : 1;
}

static double extreme(bool least, double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) ? b : a;
    if (a == b) return least == (signbit(a) != 0) ? a : b;
    return least == (a < b) ? a : b;
}

static double rounded_away(double value)
{
    double whole = trunc(value);
    return fabs(value - whole) >= 0.5 ? whole + copysign(1, value) : copysign(whole, value);
}

/* In double; every result is exact or, for a square root in f32, rounds to the right float. */
static bool of_floats(const char *name, const double *a, double *value)
{
    if (strcmp(name, "sqrt") == 0)
        *value = sqrt(a[0]);
    else if (strcmp(name, "floor") == 0)
        *value = floor(a[0]);
    else if (strcmp(name, "ceil") == 0)
        *value = ceil(a[0]);
    else if (strcmp(name, "trunc") == 0)
        *value = trunc(a[0]);
    else if (strcmp(name, "rint") == 0)
        *value = rint(a[0]);
    else if (strcmp(name, "round") == 0)
        *value = rounded_away(a[0]);
    else if (strcmp(name, "abs") == 0)
        *value = fabs(a[0]);
    else if (strcmp(name, "copysign") == 0)
        *value = copysign(a[0], sign_of(a[1]));
    else if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        *value = extreme(name[1] == 'i', a[0], a[1]);
    else
        return false;
    return true;
}

static bool of_integers(const char *name, enum scalar scalar, const uint64_t *a, uint64_t *value)
{
    bool negative = scalar_is_signed(scalar) && (int64_t)a[0] < 0;
    if (strcmp(name, "abs") == 0)
        *value = negative ? wrapped(scalar, -a[0]) : a[0];
    else if (strcmp(name, "min") == 0)
        *value = integers(OP_LT, scalar, a[1], a[0], 0) ? a[1] : a[0];
    else if (strcmp(name, "max") == 0)
        *value = integers(OP_LT, scalar, a[0], a[1], 0) ? a[1] : a[0];
    else
        return false;
    return true;
}

static uint64_t canonical(enum scalar scalar, uint64_t bits)
{
    static const uint64_t nans[SCALARS] = {
        [F16] = 0x7e00, [BF16] = 0x7fc0, [F32] = 0x7fc00000, [F64] = 0x7ff8000000000000};
    return scalar_is_float(scalar) && isnan(as_double(scalar, bits)) ? nans[scalar] : bits;
}

static bool asks(const char *name, double a, uint64_t *value)
{
    if (strcmp(name, "isnan") == 0)
        *value = isnan(a) ? 1u : 0u;
    else if (strcmp(name, "isinf") == 0)
        *value = isinf(a) ? 1u : 0u;
    else if (strcmp(name, "signbit") == 0)
        *value = sign_of(a) < 0 ? 1u : 0u;
    else
        return false;
    return true;
}

bool scalar_builtin(const char *name, enum scalar scalar, const uint64_t *a, uint64_t *value,
                    enum scalar *result)
{
    *result = scalar;
    if (strcmp(name, "from_bits") == 0) {
        *result = scalar == U32 ? F32 : F64;
        *value = a[0];
        return true;
    }
    if (!scalar_is_float(scalar)) return of_integers(name, scalar, a, value);
    if (strcmp(name, "bits") == 0) {
        *result = scalar == F32 ? U32 : U64;
        *value = canonical(scalar, a[0]);
        return true;
    }
    if (strcmp(name, "fma") == 0) {
        *value = scalar == F32
                     ? bits_of_float(fmaf(float_of(a[0]), float_of(a[1]), float_of(a[2])))
                     : bits_of_double(fma(double_of(a[0]), double_of(a[1]), double_of(a[2])));
        return true;
    }
    if (asks(name, as_double(scalar, a[0]), value)) {
        *result = BOOL;
        return true;
    }
    bool two =
        strcmp(name, "min") == 0 || strcmp(name, "max") == 0 || strcmp(name, "copysign") == 0;
    double operands[2] = {as_double(scalar, a[0]), two ? as_double(scalar, a[1]) : 0}, found;
    if (!of_floats(name, operands, &found)) return false;
    *value = float_from(scalar, found);
    return true;
}

void value_canonical(const struct type *type, unsigned char *at)
{
    switch (type->kind) {
    case SCALAR:
        scalar_store(type->scalar, at, canonical(type->scalar, scalar_load(type->scalar, at)));
        return;
    case STRUCT:
        for (uint64_t i = 0; i < type->length; i++)
            value_canonical(type->fields[i].type, at + type->fields[i].offset);
        return;
    default:
        for (uint64_t i = 0; i < type->length; i++)
            value_canonical(type->element, at + i * type->element->size);
    }
}
