/* SPDX-License-Identifier: MIT */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>

#include "compiler/ir/kernel.h"
#include "tests/unit/compile_text.h"

/*
 * Each value is computed when compiling, through the whole front end: `const TYPE V = EXPR;` is
 * emitted by a kernel, whose typed tree then holds the constant.
 */
static uint64_t constant_bits(const char *type, const char *declarations, const char *expr)
{
    char text[4096];
    snprintf(text, sizeof text,
             "%s\nconst %s V = %s;\n"
             "kernel k(in %s x, out %s y) { y <- V; }\n"
             "pipeline main(in %s a, out %s b) { a -> k -> b; }\n",
             declarations, type, expr, type, type, type, type);
    struct text_compile *c = text_compile(text);
    char *messages = text_compile_messages(c);
    if (!c->graph) {
        fail_msg("%s\n%s", text, messages);
        abort();
    }
    const struct ks *emit = c->graph->kernels.items[0]->body->body;
    assert_int_equal(emit->kind, KS_EMIT);
    assert_int_equal(emit->expr->kind, KX_CONSTANT);
    uint64_t bits = emit->expr->value.bits;
    free(messages);
    text_compile_free(c);
    return bits;
}

static int64_t integer(const char *type, const char *expr)
{
    return (int64_t)constant_bits(type, "", expr);
}

static uint64_t bits_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t bits_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void assert_f32(const char *expr, float expected)
{
    assert_int_equal(constant_bits("f32", "", expr), bits_f32(expected));
}

static void assert_f64(const char *expr, double expected)
{
    assert_int_equal(constant_bits("f64", "", expr), bits_f64(expected));
}

static void assert_refused(const char *declarations, const char *expected)
{
    char text[4096];
    snprintf(text, sizeof text,
             "%s\nkernel k(in i32 x, out i32 y) { y <- x; }\n"
             "pipeline main(in i32 a, out i32 b) { a -> k -> b; }\n",
             declarations);
    struct text_compile *c = text_compile(text);
    char *messages = text_compile_messages(c);
    if (c->graph || !strstr(messages, expected))
        fail_msg("%s\nexpected: %s\ngot: %s", text, expected, messages);
    free(messages);
    text_compile_free(c);
}

static void integers_wrap_in_their_type(void **state)
{
    (void)state;
    assert_int_equal(integer("u8", "(u8)250 + (u8)10"), 4);
    assert_int_equal(integer("i8", "(i8)127 + (i8)1"), -128);
    assert_int_equal(integer("i32", "(i32)2147483647 * (i32)2"), -2);
    assert_int_equal(integer("u32", "0u - 1u"), 4294967295);
    assert_int_equal(integer("i64", "9223372036854775807L + 1L"), INT64_MIN);
    assert_int_equal(integer("u64", "(u64)0 - (u64)1"), -1);
}

static void smallest_integer_by_minus_one_wraps(void **state)
{
    (void)state;
    assert_int_equal(integer("i32", "(i32)-2147483648 / (i32)-1"), INT32_MIN);
    assert_int_equal(integer("i32", "(i32)-2147483648 % (i32)-1"), 0);
    assert_int_equal(integer("i64", "(-9223372036854775807L - 1L) / -1L"), INT64_MIN);
    assert_int_equal(integer("i8", "abs((i8)-128)"), -128);
}

static void division_truncates_and_the_remainder_has_the_sign_of_the_dividend(void **state)
{
    (void)state;
    assert_int_equal(integer("i32", "-7 / 2"), -3);
    assert_int_equal(integer("i32", "-7 % 2"), -1);
    assert_int_equal(integer("i32", "(i32)-7 / (i32)2"), -3);
    assert_int_equal(integer("u32", "4294967295u / 2u"), 2147483647);
}

static void shift_counts_are_taken_modulo_the_width(void **state)
{
    (void)state;
    assert_int_equal(integer("i32", "(i32)1 << (i32)33"), 2);
    assert_int_equal(integer("u8", "(u8)1 << (i32)9"), 2);
    assert_int_equal(integer("i32", "(i32)-8 >> (i32)1"), -4);
    assert_int_equal(integer("i32", "(i32)1 << (i32)-1"), INT32_MIN);
    assert_int_equal(integer("i64", "-8L >> 66"), -2);
    assert_int_equal(integer("u32", "4294967295u >> 31"), 1);
}

static void mixed_operands_widen_and_equal_widths_take_the_unsigned(void **state)
{
    (void)state;
    assert_int_equal(integer("i64", "(i32)-1 + 1u == 0u ? 7 : 8"), 7);
    assert_int_equal(integer("bool", "(i32)-1 < 1u"), 0);
    assert_int_equal(integer("bool", "(i32)-1 < (i64)1"), 1);
    assert_int_equal(integer("i32", "(u8)200 + 100"), 44);
    assert_int_equal(integer("i32", "(u8)200 + 300"), 500);
    assert_int_equal(integer("i32", "true + true"), 2);
}

static void compile_time_integers_are_exact(void **state)
{
    (void)state;
    assert_int_equal(integer("i64", "2147483647 * 2147483647"), INT64_C(4611686014132420609));
    assert_int_equal(integer("u64", "18446744073709551615"), -1);
    assert_int_equal(integer("u64", "0xffffffffffffffff & 0xff00"), 0xff00);
    assert_int_equal(integer("i32", "1 << 20 >> 3"), 1 << 17);
    assert_int_equal(integer("i64", "min(3, -5) + max(2, 9) + abs(-4)"), 8);
    assert_refused("const int N = 9223372036854775807 * 3;", "constant-range");
    assert_refused("const int N = 1 << 64;", "constant-range");
}

static void float_literals_take_the_type_of_their_context(void **state)
{
    (void)state;
    volatile float tenth = 0.1f;
    assert_f32("0.1 * 3", tenth * 3.0f);
    assert_f64("0.1 * 3", 0.1 * 3.0);
    assert_f64("0.1f * 3", (double)(tenth * 3.0f));
    assert_f64("(f32)0.1", (double)0.1f);
    assert_f32("250e3 / 75e3", 250e3f / 75e3f);
    assert_f64("sqrt(2)", sqrt(2.0));
    assert_f32("sqrt(2)", sqrtf(2.0f));
    assert_f64("1 > 0 ? 0.1 : 0", 0.1);
    assert_f32("16777217", 16777216.0f);
}

static void floats_are_computed_in_their_own_width(void **state)
{
    (void)state;
    assert_f32("1e30f * 1e30f", INFINITY);
    assert_f32("16777216f + 1f", 16777216.0f);
    assert_f32("fma(16777217.0f, 3.0f, 1.0f)", fmaf(16777217.0f, 3.0f, 1.0f));
    assert_f32("1e-45f / 1f", 1e-45f);
    assert_f32("-0.0f + -0.0f", -0.0f);
}

static void floats_saturate_to_integers_and_nan_gives_zero(void **state)
{
    (void)state;
    assert_int_equal(integer("i32", "(i32)1e10f"), INT32_MAX);
    assert_int_equal(integer("i32", "(i32)-1e10f"), INT32_MIN);
    assert_int_equal(integer("u8", "(u8)-3.7f"), 0);
    assert_int_equal(integer("u8", "(u8)255.9f"), 255);
    assert_int_equal(integer("u8", "(u8)300f"), 255);
    assert_int_equal(integer("i32", "(i32)(0f / 0f)"), 0);
    assert_int_equal(integer("i64", "(i64)9223372036854775808.0f"), INT64_MAX);
    assert_int_equal(integer("u64", "(u64)1e300"), -1);
    assert_int_equal(integer("i32", "(i32)-2.9f"), -2);
    assert_int_equal(integer("bool", "(bool)0.25f"), 1);
    assert_int_equal(integer("bool", "(bool)256"), 1);
}

static void minimum_and_maximum_ignore_nan_and_order_zeros(void **state)
{
    (void)state;
    assert_f32("min(0f / 0f, 3f)", 3.0f);
    assert_f32("max(3f, 0f / 0f)", 3.0f);
    assert_f32("min(0f, -0f)", -0.0f);
    assert_f32("max(-0f, 0f)", 0.0f);
    assert_int_equal(integer("u32", "bits(min(0f / 0f, 0f / 0f))"), 0x7fc00000);
    assert_int_equal(integer("i32", "max(-3, (i32)-4)"), -3);
    assert_int_equal(integer("u32", "max(1u, 3000000000u)"), 3000000000);
}

static void bits_of_a_nan_are_canonical(void **state)
{
    (void)state;
    assert_int_equal(integer("u32", "bits(-(0f / 0f))"), 0x7fc00000);
    assert_int_equal(integer("u64", "bits((f64)(0f / 0f))"), 0x7ff8000000000000);
    assert_int_equal(integer("u32", "bits(from_bits(0x7f800001u))"), 0x7fc00000);
    assert_int_equal(integer("u32", "bits(1.5f)"), 0x3fc00000);
    assert_int_equal(integer("u64", "bits((f64)1.5)"), 0x3ff8000000000000);
}

static void rounding_functions_are_those_of_c(void **state)
{
    (void)state;
    assert_f32("rint(2.5f)", 2.0f);
    assert_f32("round(2.5f)", 3.0f);
    assert_f32("trunc(-2.5f)", -2.0f);
    assert_f32("floor(-2.5f)", -3.0f);
    assert_f32("ceil(-2.5f)", -2.0f);
    assert_f32("copysign(2f, -0f)", -2.0f);
    assert_f64("floor(7)", 7.0);
    assert_int_equal(integer("bool", "signbit(-0f) && isinf(1f / 0f) && isnan(0f / 0f)"), 1);
}

static void functions_run_with_loops_arrays_and_switches(void **state)
{
    (void)state;
    const char *sieve = "fn i32 primes(i32 n) { bool no[100]; i32 count = 0;\n"
                        "  for (i32 i = 2; i < n; i++) { if (no[i]) continue; count++;\n"
                        "    for (i32 j = i * i; j < n; j += i) no[j] = true; }\n"
                        "  return count; }";
    assert_int_equal(constant_bits("i32", sieve, "primes(100)"), 25);
    const char *fall =
        "fn i32 f(i32 n) { i32 r = 0; switch (n) { case 1: r += 1; case 2: r += 2; break;\n"
        "  case -3: r = 9; break; default: r = 5; } return r; }";
    assert_int_equal(constant_bits("i32", fall, "f(1) * 1000 + f(2) * 100 + f(-3) * 10 + f(7)"),
                     3295);
    const char *loops =
        "fn i32 f() { i32 n = 0, i = 0; do { n += i++; if (i == 3) continue; } while (i < 5);\n"
        "  while (true) { if (n > 20) break; n++; } return n, n + i; }";
    assert_int_equal(constant_bits("i32", loops, "f()"), 26);
}

static void array_parameters_are_copies(void **state)
{
    (void)state;
    const char *text =
        "fn i32 sum(i32 a[2][2]) { i32 s = 0; for (i32 i = 0; i < 2; i++)\n"
        "  for (i32 j = 0; j < 2; j++) { s += a[i][j]; a[i][j] = 100; } return s; }\n"
        "fn i32[2] pair(i32 x) { i32 p[2] = {x, x + 1}; return p; }\n"
        "fn i32 f() { i32 m[2][2] = {{1, 2}, {3}}; i32 s = sum(m); m[1] = pair(7);\n"
        "  return s * 1000 + sum(m) * 10 + pair(4)[1]; }";
    assert_int_equal(constant_bits("i32", text, "f()"), 6000 + 180 + 5);
}

static void operands_are_evaluated_from_left_to_right(void **state)
{
    (void)state;
    const char *text =
        "fn i32 f() { i32 i = 1; i32 a = i++ * 10 + i++; i += (i = 10); return a * 100 + i; }";
    assert_int_equal(constant_bits("i32", text, "f()"), 1200 + 13);
}

static void compound_assignment_computes_in_the_wider_type(void **state)
{
    (void)state;
    const char *text = "fn i32 f() { u8 x = 200; x += 100; i32 n = 7; n *= 0.5; u8 s = 1; s <<= 9; "
                       "bool b = true;\n"
                       "  b += 1; return x * 100 + n * 10 + s + b; }";
    assert_int_equal(constant_bits("i32", text, "f()"), (44 * 100 % 256) + 30 + 2 + 1);
}

static void locals_start_at_zero_in_every_round_of_a_loop(void **state)
{
    (void)state;
    const char *text = "fn i32 f() { i32 s = 0; for (i32 i = 0; i < 4; i++) { i32 a[2]; a[1]++; s "
                       "+= a[1]; } return s; }";
    assert_int_equal(constant_bits("i32", text, "f()"), 4);
}

static void constants_may_be_declared_in_any_order(void **state)
{
    (void)state;
    const char *text =
        "const i32 A = B * 2; const i32 B = T[1] + N; const int N = 3; const i32 T[2] = {1, 20};";
    assert_int_equal(constant_bits("i32", text, "A"), 46);
}

static void what_is_not_executed_does_not_fault(void **state)
{
    (void)state;
    assert_int_equal(constant_bits("i32", "const int N = 0;", "N != 0 ? 10 / N : 5"), 5);
    assert_int_equal(constant_bits("bool", "const int N = 0;", "N != 0 && 10 / N > 1"), 0);
}

static void faults_in_constants_are_reported(void **state)
{
    (void)state;
    assert_refused("const i32 A = 1 / 0;", "division by zero");
    assert_refused("const i32 Z = 0; const i32 A = 5 % Z;", "constant-fault");
    assert_refused("fn i32 f(i32 n) { i32 a[3]; return a[n]; } const i32 A = f(3);",
                   "index 3 is outside of an array of 3");
    assert_refused("fn i32 f(i32 n) { i32 a[3]; return a[n]; } const i32 A = f(-1);", "index -1");
}

static void endless_computations_end_with_an_error(void **state)
{
    (void)state;
    assert_refused("fn i32 f() { while (true) ; return 0; } const i32 A = f();",
                   "more than 10,000,000 steps");
    assert_refused("fn i32 f() { i32 a[200000], b[200000]; a = b; return a[1]; }\n"
                   "fn i32 g() { i32 a[200000]; for (i32 i = 0; i < 1000000; i++) { i32 b[200000]; "
                   "a = b; } return 0; }\n"
                   "const i32 A = f(), B = g();",
                   "more than 10,000,000 steps");
}

static void a_constant_cannot_need_itself(void **state)
{
    (void)state;
    assert_refused("const i32 A = B, B = C + 1, C = A;", "needs its own value");
}

static void the_library_runs_when_compiling(void **state)
{
    (void)state;
    const char *import = "import \"std/math.pipe\";";
    assert_int_equal(constant_bits("f32", import, "sin(0.5)"), bits_f32(sinf(0.5f)));
    assert_int_equal(constant_bits("f32", import, "exp2(10)"), bits_f32(1024.0f));
    assert_int_equal(constant_bits("f32", import, "pow(2, 0.5f)"), bits_f32(sqrtf(2.0f)));
    assert_int_equal(constant_bits("f64", import, "log2(8f)"), bits_f64(3.0));
}

TEST_MAIN("consteval", cmocka_unit_test(integers_wrap_in_their_type),
          cmocka_unit_test(smallest_integer_by_minus_one_wraps),
          cmocka_unit_test(division_truncates_and_the_remainder_has_the_sign_of_the_dividend),
          cmocka_unit_test(shift_counts_are_taken_modulo_the_width),
          cmocka_unit_test(mixed_operands_widen_and_equal_widths_take_the_unsigned),
          cmocka_unit_test(compile_time_integers_are_exact),
          cmocka_unit_test(float_literals_take_the_type_of_their_context),
          cmocka_unit_test(floats_are_computed_in_their_own_width),
          cmocka_unit_test(floats_saturate_to_integers_and_nan_gives_zero),
          cmocka_unit_test(minimum_and_maximum_ignore_nan_and_order_zeros),
          cmocka_unit_test(bits_of_a_nan_are_canonical),
          cmocka_unit_test(rounding_functions_are_those_of_c),
          cmocka_unit_test(functions_run_with_loops_arrays_and_switches),
          cmocka_unit_test(array_parameters_are_copies),
          cmocka_unit_test(operands_are_evaluated_from_left_to_right),
          cmocka_unit_test(compound_assignment_computes_in_the_wider_type),
          cmocka_unit_test(locals_start_at_zero_in_every_round_of_a_loop),
          cmocka_unit_test(constants_may_be_declared_in_any_order),
          cmocka_unit_test(what_is_not_executed_does_not_fault),
          cmocka_unit_test(faults_in_constants_are_reported),
          cmocka_unit_test(endless_computations_end_with_an_error),
          cmocka_unit_test(a_constant_cannot_need_itself),
          cmocka_unit_test(the_library_runs_when_compiling))
