/* SPDX-License-Identifier: MIT */
// math_reference: measures one function of lang/std/math.pipe against a reference.
//
//   math_reference NAME LIMIT X OUT        a function of one argument: sin_f32, exp_f64, ...
//   math_reference NAME LIMIT X Y OUT      a function of two arguments, X the first (atan2: its y)
//   math_reference --bits FIRST COUNT      writes the COUNT f32 whose bit patterns start at FIRST
//   math_reference --sample NAME SEED COUNT PORT
//                                          writes COUNT arguments for NAME, PORT 0 (its first) or 1
//
// X, Y and OUT are files of raw little-endian f32 or f64 values, as the suffix of NAME says ("-" is
// standard input). Prints one line: the function, the number of values, the largest error in ulp
// and where it is, and the number of special values (NaN, infinities, signed zeros) that are not as
// C Annex F has them. Exit status: 0 if the largest error is at most LIMIT and every special value
// is right, 1 if not, 2 for a usage or file error.
//
// Built with -DMATH_REFERENCE_MPFR (and -lmpfr -lgmp) the reference is MPFR with 200 bits. Quicker
// references (the double libm for f32, the long double one for f64) serve as filters: MPFR decides
// where they show an error larger than the largest so far (f64: than that less 0.01 ulp); errors
// below 0.01 ulp count as none. Without MPFR the reference is the long double libm.
//
// The ulp is that of the binade of the exact result (of the smallest normal binade for subnormal
// results); an infinity counts as the power of two that follows the largest finite value.

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef MATH_REFERENCE_MPFR
#include <mpfr.h>
#define PRECISION_BITS 200
#endif

enum { CHUNK_VALUES = 1 << 14 };

typedef double (*unary_f64)(double);
typedef double (*binary_f64)(double, double);
typedef long double (*unary_long)(long double);
typedef long double (*binary_long)(long double, long double);
#ifdef MATH_REFERENCE_MPFR
typedef int (*unary_mpfr)(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int (*binary_mpfr)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
#endif

struct function {
    const char *name;
    unary_f64 one;
    unary_long one_long;
    binary_f64 two;
    binary_long two_long;
#ifdef MATH_REFERENCE_MPFR
    unary_mpfr one_mpfr;
    binary_mpfr two_mpfr;
#endif
};

struct format {
    bool is_f64;
    int mantissa_bits;
    int least_exponent; // of a normal value 2^e
    int most_exponent;
};

struct measure {
    const struct function *function;
    struct format format;
    uint64_t values;
    uint64_t special_mismatches;
    double worst_ulp;
    double worst_x, worst_y, worst_out;
};

#ifdef MATH_REFERENCE_MPFR
#define ONE(f) {#f, f, f##l, NULL, NULL, mpfr_##f, NULL}
#define TWO(f) {#f, NULL, NULL, f, f##l, NULL, mpfr_##f}
#else
#define ONE(f) {#f, f, f##l, NULL, NULL}
#define TWO(f) {#f, NULL, NULL, f, f##l}
#endif

static const struct function functions[] = {
    ONE(sin),   ONE(cos),   ONE(tan),   ONE(asin),  ONE(acos),  ONE(atan),  ONE(sinh),
    ONE(cosh),  ONE(tanh),  ONE(exp),   ONE(exp2),  ONE(exp10), ONE(expm1), ONE(log),
    ONE(log2),  ONE(log10), ONE(asinh), ONE(acosh), ONE(atanh), ONE(log1p), ONE(cbrt),
    TWO(atan2), TWO(pow),   TWO(hypot), TWO(fmod),
};

// NAME is a function's name followed by _f32 or _f64; NULL if there is none of that name.
static const struct function *function_find(const char *name, bool *is_f64)
{
    const char *suffix = strrchr(name, '_');
    if (suffix == NULL || (strcmp(suffix, "_f32") != 0 && strcmp(suffix, "_f64") != 0)) {
        return NULL;
    }
    *is_f64 = strcmp(suffix, "_f64") == 0;
    size_t length = (size_t)(suffix - name);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0) {
            return &functions[i];
        }
    }
    return NULL;
}

static struct format format_of(bool is_f64)
{
    struct format f32 = {false, 24, -126, 127};
    struct format f64 = {true, 53, -1022, 1023};
    return is_f64 ? f64 : f32;
}

// log2 of the ulp in the binade of a finite value of exponent e (2^e <= |value| < 2^(e+1)).
static int ulp_exponent(struct format format, long e)
{
    if (e < format.least_exponent) {
        e = format.least_exponent;
    }
    if (e > format.most_exponent) {
        e = format.most_exponent;
    }
    return (int)e - format.mantissa_bits + 1;
}

static double reference_f64(const struct measure *m, double x, double y)
{
    return m->function->one != NULL ? m->function->one(x) : m->function->two(x, y);
}

#ifdef MATH_REFERENCE_MPFR
// Error of a finite or infinite `out` where the exact result is finite and not zero.
static double exact_error_ulp(const struct measure *m, double x, double y, double out)
{
    mpfr_t exact, a, b;
    mpfr_inits2(PRECISION_BITS, exact, a, b, (mpfr_ptr)0);
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
    if (m->function->one_mpfr != NULL) {
        m->function->one_mpfr(exact, a, MPFR_RNDN);
    } else {
        m->function->two_mpfr(exact, a, b, MPFR_RNDN);
    }
    double error = 0;
    if (mpfr_zero_p(exact) != 0) {
        error = out == 0 ? 0 : INFINITY;
    } else {
        long exponent = mpfr_inf_p(exact) != 0 ? m->format.most_exponent : mpfr_get_exp(exact) - 1;
        if (isinf(out)) {
            mpfr_set_si_2exp(a, out > 0 ? 1 : -1, m->format.most_exponent + 1, MPFR_RNDN);
            bool beyond = mpfr_sgn(exact) == mpfr_sgn(a) && mpfr_cmpabs(exact, a) >= 0;
            mpfr_sub(b, exact, a, MPFR_RNDN);
            if (beyond) {
                mpfr_set_zero(b, 1);
            }
        } else {
            mpfr_set_d(a, out, MPFR_RNDN);
            mpfr_sub(b, exact, a, MPFR_RNDN);
        }
        mpfr_mul_2si(b, b, -(long)ulp_exponent(m->format, exponent), MPFR_RNDN);
        error = fabs(mpfr_get_d(b, MPFR_RNDN));
    }
    mpfr_clears(exact, a, b, (mpfr_ptr)0);
    return error;
}
#endif

// Error of an f32 result by the double libm; the exact result is finite in double and not zero.
static double filter_f32_error_ulp(double reference, double out)
{
    const double limit = 0x1p128;
    double value = out;
    if (isinf(out)) {
        value = copysign(limit, out);
        if (signbit(reference) == signbit(out) && fabs(reference) >= limit) {
            return 0;
        }
    }
    uint64_t pattern;
    memcpy(&pattern, &reference, sizeof pattern);
    int64_t exponent = (int64_t)(pattern >> 52 & 2047) - 1023;
    exponent = exponent < -126 ? -126 : exponent > 127 ? 127 : exponent;
    uint64_t inverse = (uint64_t)(1023 + 23 - exponent) << 52;
    double scale;
    memcpy(&scale, &inverse, sizeof scale);
    return fabs((reference - value) * scale);
}

// Error of any result by the long double libm.
static double long_error_ulp(const struct measure *m, double x, double y, double out)
{
    long double exact =
        m->function->one_long != NULL ? m->function->one_long(x) : m->function->two_long(x, y);
    if (exact == 0) {
        return out == 0 ? 0 : INFINITY;
    }
    int exponent = m->format.most_exponent;
    if (!isinf(exact)) {
        (void)frexpl(exact, &exponent);
        exponent--;
    }
    long double value = out;
    if (isinf(out)) {
        value = copysignl(ldexpl(1, m->format.most_exponent + 1), out);
        if (signbit(exact) == signbit(value) && fabsl(exact) >= fabsl(value)) {
            return 0;
        }
    }
    return (double)fabsl(ldexpl(exact - value, -ulp_exponent(m->format, exponent)));
}

#ifdef MATH_REFERENCE_MPFR
// Whether the quick reference shows that the error is below the largest so far, or of no account.
static bool filter_passes(const struct measure *m, double x, double y, double reference, double out)
{
    // f32: many values may share one error (acos near 0); a larger one is wanted.
    double margin = m->format.is_f64 ? -0.01 : 1e-7;
    double needed_ulp = m->worst_ulp > 0.02 ? m->worst_ulp + margin : 0.01;
    if (m->format.is_f64) {
        return LDBL_MANT_DIG >= 64 && long_error_ulp(m, x, y, out) < needed_ulp;
    }
    if (reference == 0 || isinf(reference)) { // in double, so far beyond the range of f32
        return out == reference;
    }
    return filter_f32_error_ulp(reference, out) < needed_ulp;
}
#else
static bool filter_passes(const struct measure *m, double x, double y, double reference, double out)
{
    (void)x, (void)y;
    return !m->format.is_f64 && reference != 0 && !isinf(reference) &&
           filter_f32_error_ulp(reference, out) < m->worst_ulp;
}
#endif

// NaN, poles and zeros: 1 if `out` is right, 0 if wrong, -1 if it is a matter of ulp.
static int special_verdict(const struct measure *m, double x, double y, double reference,
                           double out)
{
    if (isnan(reference) || isnan(out)) {
        return isnan(reference) && isnan(out);
    }
    bool infinite_argument = isinf(x) || (m->function->two != NULL && isinf(y));
    bool pole =
        x == 0 || fabs(x) == 1; // log(0), log1p(-1), pow(0, -1): an overflow has other arguments
    if (isinf(reference) && (infinite_argument || pole)) {
        return out == reference;
    }
    if (out == 0 && signbit(out) != signbit(reference)) {
        return 0;
    }
    if (reference == 0 && (x == 0 || infinite_argument)) {
        return out == 0;
    }
    if (m->function->two == fmod) {
        return out == reference; // exact by definition, in libm as well
    }
    return -1;
}

static void measure_value(struct measure *m, double x, double y, double out)
{
    m->values++;
    double reference = reference_f64(m, x, y);
    int verdict = special_verdict(m, x, y, reference, out);
    if (verdict >= 0) {
        if (verdict == 0) {
            if (m->special_mismatches == 0) {
                fprintf(stderr, "math_reference: %s(%a, %a) is %a, expected %a\n",
                        m->function->name, x, y, out, reference);
            }
            m->special_mismatches++;
        }
        return;
    }
    if (filter_passes(m, x, y, reference, out)) {
        return;
    }
#ifdef MATH_REFERENCE_MPFR
    double error = exact_error_ulp(m, x, y, out);
#else
    double error = long_error_ulp(m, x, y, out);
#endif
    if (error > m->worst_ulp) {
        m->worst_ulp = error;
        m->worst_x = x;
        m->worst_y = y;
        m->worst_out = out;
    }
}

// Prints the result; 0 if it is within the limit.
static int measure_report(const struct measure *m, double limit_ulp)
{
    bool good = m->worst_ulp <= limit_ulp && m->special_mismatches == 0;
    const char *type = m->format.is_f64 ? "f64" : "f32";
    printf("%s_%s: %" PRIu64 " values, max %.6f ulp at %a", m->function->name, type, m->values,
           m->worst_ulp, m->worst_x);
    if (m->function->two != NULL) {
        printf(", %a", m->worst_y);
    }
    printf(" (result %a), limit %g, %" PRIu64 " special values wrong: %s\n", m->worst_out,
           limit_ulp, m->special_mismatches, good ? "ok" : "FAILED");
    return good ? 0 : 1;
}

struct value_file {
    FILE *file;
    bool is_f64;
    double values[CHUNK_VALUES];
};

static bool value_file_open(struct value_file *v, const char *path, bool is_f64)
{
    v->is_f64 = is_f64;
    v->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (v->file == NULL) {
        perror(path);
    }
    return v->file != NULL;
}

static size_t value_file_read(struct value_file *v)
{
    if (v->is_f64) {
        return fread(v->values, sizeof(double), CHUNK_VALUES, v->file);
    }
    static float narrow[CHUNK_VALUES];
    size_t count = fread(narrow, sizeof(float), CHUNK_VALUES, v->file);
    for (size_t i = 0; i < count; i++) {
        v->values[i] = (double)narrow[i];
    }
    return count;
}

// paths: X [Y] OUT.
static int measure_files(struct measure *m, double limit_ulp, char **paths)
{
    static struct value_file x, y, out;
    bool two = m->function->two != NULL;
    if (!value_file_open(&x, paths[0], m->format.is_f64) ||
        (two && !value_file_open(&y, paths[1], m->format.is_f64)) ||
        !value_file_open(&out, paths[two ? 2 : 1], m->format.is_f64)) {
        return 2;
    }
    for (;;) {
        size_t count = value_file_read(&x);
        if ((two && value_file_read(&y) != count) || value_file_read(&out) != count) {
            fprintf(stderr, "math_reference: the files differ in length\n");
            return 2;
        }
        if (count == 0) {
            break;
        }
        for (size_t i = 0; i < count; i++) {
            measure_value(m, x.values[i], two ? y.values[i] : 0, out.values[i]);
        }
    }
    if (m->values == 0) {
        fprintf(stderr, "math_reference: no values\n");
        return 2;
    }
    return measure_report(m, limit_ulp);
}

static int bits_write(uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t pattern = (uint32_t)(first + i);
        if (fwrite(&pattern, sizeof pattern, 1, stdout) != 1) {
            perror("math_reference");
            return 2;
        }
    }
    return fflush(stdout) == 0 ? 0 : 2;
}

// splitmix64 of a counter: every sample is a function of the seed, the port and its index only.
static uint64_t random_bits(uint64_t counter)
{
    uint64_t z = counter * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double uniform(uint64_t random, double low, double high)
{
    return low + (high - low) * ((double)(random >> 11) * 0x1p-53);
}

// One sampled argument: special values, any bit pattern, log-uniform magnitudes, the function's own
// range, neighbourhoods of small multiples of pi/4, 1/2 and ln 2 / 2.
static double sample_value(bool is_f64, uint64_t seed, int port, uint64_t i)
{
    static const double specials[] = {0,
                                      -0.0,
                                      1,
                                      -1,
                                      0.5,
                                      -0.5,
                                      2,
                                      3,
                                      -2,
                                      -3,
                                      INFINITY,
                                      -INFINITY,
                                      NAN,
                                      0x1p-149,
                                      0x1p-126,
                                      0x1p-1074,
                                      0x1p-1022,
                                      0x1.fffffep127,
                                      -0x1.fffffep127,
                                      0x1.fffffffffffffp1023,
                                      -0x1.fffffffffffffp1023,
                                      10,
                                      100,
                                      1000};
    enum { SPECIALS = sizeof specials / sizeof specials[0] };
    uint64_t key = random_bits(seed * 0x100000001b3u + i) ^ (uint64_t)port << 62;
    uint64_t r = random_bits(key), choice = random_bits(r) >> 8;
    if (i < (uint64_t)SPECIALS * SPECIALS) {
        return specials[port == 0 ? i % SPECIALS : i / SPECIALS];
    }
    double sign = (choice >> 40 & 1) != 0 ? -1 : 1;
    switch (choice % 8) {
    case 0: {
        double any;
        float narrow;
        uint32_t low = (uint32_t)r;
        memcpy(&any, &r, sizeof any);
        memcpy(&narrow, &low, sizeof narrow);
        return is_f64 ? any : (double)narrow;
    }
    case 1: return sign * exp2(uniform(r, -40, 12));
    case 2: return uniform(r, -1, 1);
    case 3: return uniform(r, 0.5, 2);
    case 4: return uniform(r, -1100, 1100);
    case 5: return uniform(r, -20, 20);
    case 6: {
        static const double steps[] = {0.78539816339744831, 0.5, 0.34657359027997264, 1};
        double near = steps[choice >> 10 & 3] * (double)(int)(r % 2000 - 1000);
        return near + near * sign * exp2(uniform(random_bits(r + 1), is_f64 ? -54 : -25, -2));
    }
    default: return sign * exp2(uniform(r, is_f64 ? -1074 : -149, is_f64 ? 1024 : 128));
    }
}

static int sample_write(const char *name, uint64_t seed, uint64_t count, int port)
{
    bool is_f64 = false;
    const struct function *function = function_find(name, &is_f64);
    if (function == NULL) {
        fprintf(stderr, "math_reference: no function %s\n", name);
        return 2;
    }
    for (uint64_t i = 0; i < count; i++) {
        double wide = sample_value(is_f64, seed, port, i);
        float narrow = (float)wide;
        size_t written = is_f64 ? fwrite(&wide, sizeof wide, 1, stdout)
                                : fwrite(&narrow, sizeof narrow, 1, stdout);
        if (written != 1) {
            perror("math_reference");
            return 2;
        }
    }
    return fflush(stdout) == 0 ? 0 : 2;
}

static int usage(void)
{
    fprintf(stderr, "usage: math_reference NAME LIMIT X [Y] OUT\n"
                    "       math_reference --bits FIRST COUNT\n"
                    "       math_reference --sample NAME SEED COUNT PORT\n");
    return 2;
}

#ifndef MATH_REFERENCE_NO_MAIN
int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--bits") == 0) {
        return bits_write(strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
    }
    if (argc == 6 && strcmp(argv[1], "--sample") == 0) {
        return sample_write(argv[2], strtoull(argv[3], NULL, 0), strtoull(argv[4], NULL, 0),
                            atoi(argv[5]));
    }
    if (argc < 5) {
        return usage();
    }
    struct measure m = {.values = 0};
    bool is_f64 = false;
    m.function = function_find(argv[1], &is_f64);
    if (m.function == NULL) {
        fprintf(stderr, "math_reference: no function %s\n", argv[1]);
        return 2;
    }
    m.format = format_of(is_f64);
    if (argc != (m.function->two != NULL ? 6 : 5)) {
        return usage();
    }
    return measure_files(&m, strtod(argv[2], NULL), argv + 3);
}
#endif
