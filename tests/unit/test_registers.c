/* SPDX-License-Identifier: MIT */
/* Registers of bodies, against figures that are counted by hand (lang/time.md, "Registers"). */
#include "tests/test.h"

#include "compiler/bodies/registers.h"
#include "lang/container.h"
#include "tests/unit/compile_text.h"

#include <stdio.h>

/* Of the kernel `k`, without what every kernel with so many ports has. */
static uint32_t values_of(const char *text, uint32_t unrolled_rounds)
{
    struct devdesc_costs costs = {.unrolled_rounds = unrolled_rounds};
    struct text_compile *c = text_compile(text);
    assert_non_null(c->graph);
    for (size_t i = 0; i < c->graph->functions.count; i++) /* callees may follow */
        for (size_t f = c->graph->functions.count; f-- > 0;)
            c->graph->functions.items[f]->registers =
                registers_of_function(&costs, c->graph->functions.items[f]);
    const struct kernel *kernel = c->graph->nodes.items[0].kernel;
    uint32_t registers = registers_of_kernel(&costs, kernel);
    assert_int_equal(registers, registers_of_kernel(&costs, kernel));
    text_compile_free(c);
    if (registers == CONTAINER_REGISTERS_MAX) return registers;
    assert_true(registers >= 12);
    return registers - 12;
}

/* Of a kernel of one in-port and one out-port with this body. */
static void expect_values(const char *type, const char *body, uint32_t registers)
{
    char text[1024];
    snprintf(text, sizeof text,
             "kernel k(in %s x peek 8, out %s y) { %s }\n"
             "pipeline main(in %s a, out %s b) { k(a -> b); }\n",
             type, type, body, type, type);
    uint32_t found = values_of(text, 0);
    if (found != registers) fail_msg("%s: %u registers, not %u", body, found, registers);
}

static void values_of_expressions_wait_for_their_operation(void **unused)
{
    (void)unused;
    expect_values("f32", "y <- x[0];", 1);
    expect_values("f64", "y <- x[0];", 2);
    expect_values("u8", "y <- x[0];", 1);
    expect_values("f32", "y <- 1;", 0);
    expect_values("f32", "y <- x[0] + x[1];", 2);
    expect_values("f32", "y <- x[0] + x[1] + x[2] + x[3];", 2);
    expect_values("f32", "y <- x[0] + (x[1] + (x[2] + x[3]));", 4);
    expect_values("f64", "y <- x[0] + (x[1] + (x[2] + x[3]));", 8);
    expect_values("f32", "y <- fma(x[0], x[1], x[2]);", 3);
    expect_values("f32x4", "y <- x[0] * x[1];", 8);
    expect_values("f32[64]", "y <- x[0];", 1);
}

static void variables_live_until_they_are_mentioned_for_the_last_time(void **unused)
{
    (void)unused;
    expect_values("f32", "f32 a = x[0]; f32 b = a * a; y <- a * b + x[1];", 4);
    expect_values("f32", "f32 a = x[0]; f32 b = a; f32 c = b; f32 d = c; y <- d;", 1);
    expect_values("f32", "f32 a = x[0]; f32 b = x[1]; f32 c = x[2]; y <- a; if (b > c) return;", 3);
    expect_values("f32", "f32 unused = x[0]; y <- 2;", 1);
    expect_values("f32", "f32 a[8]; a[1] = x[0]; a[7] = x[1]; y <- a[1] + a[7];", 9);
    expect_values("f32", "f32 a[8]; a[i32(x[0]) & 7] = x[1]; y <- a[1];", 2);
}

static void variables_that_the_next_round_needs_live_through_this_one(void **unused)
{
    (void)unused;
    expect_values(
        "f32",
        "f32 t = x[0]; f32 s; for (i32 i = 0; i < 8; i++) { s += t; f32 u = s * 2; s += u; }"
        "y <- s;",
        5);
    expect_values(
        "f32",
        "f32 t = x[0]; f32 s; for (i32 i = 0; i < 8; i++) { s += t; } f32 u = s * 2; s += u;"
        "y <- s;",
        4);
    expect_values(
        "f32",
        "f32 t = x[0]; f32 s; for (i32 i = 0; i < 8; i++) { for (i32 j = 0; j < 8; j++) s += t;"
        "f32 u = s; f32 v = s; s = u + v; } y <- s;",
        6);
    expect_values("f32", "f32 s; i32 i; do { f32 t = x[i]; i++; s += t; } while (i < 8); y <- s;",
                  4);
}

static void arrays_that_unrolled_loops_walk_through_are_in_registers(void **unused)
{
    (void)unused;
    const char *text = "kernel k(in f32 x peek 8, out f32 y) { f32 a[8]; f32 s;\n"
                       "for (i32 i = 0; i < 8; i++) a[i] = x[i];\n"
                       "for (i32 i = 1; i < 8; i++) s += a[i] * a[i - 1]; y <- s; }\n"
                       "pipeline main(in f32 a, out f32 b) { k(a -> b); }\n";
    assert_int_equal(values_of(text, 0), 4);  /* s, i, two elements */
    assert_int_equal(values_of(text, 7), 4);  /* the first loop has 8 rounds */
    assert_int_equal(values_of(text, 8), 11); /* a, s, i, the product or its sum */
}

static void a_function_takes_what_its_values_take(void **unused)
{
    (void)unused;
    assert_int_equal(
        values_of("fn f32 f(f32 a, f32 b) { f32 c = a - b; return c * a; }\n"
                  "kernel k(in f32 x, out f32 y) { f32 t = x; y <- f(t, t * t) + t; }\n"
                  "pipeline main(in f32 a, out f32 b) { k(a -> b); }\n",
                  0),
        4);
    assert_int_equal(values_of("fn f32 f(f32 a, f32 b) { f32 c = a - b; return c * a; }\n"
                               "fn f32 g(f32 a) { f32 b = a; f32 c = a + b; return f(a, b) + c; }\n"
                               "kernel k(in f32 x, out f32 y) { f32 t = x; y <- t + g(t); }\n"
                               "pipeline main(in f32 a, out f32 b) { k(a -> b); }\n",
                               0),
                     7);
}

static void more_than_a_container_says_is_the_most(void **unused)
{
    (void)unused;
    assert_int_equal(values_of("kernel k(in f32 x, out f32 y) { f64 a[40000]; a[0] = 1; y <- x;\n"
                               "y <- f32(a[0]); }\n"
                               "pipeline main(in f32 a, out f32 b) { k(a -> b); }\n",
                               0),
                     CONTAINER_REGISTERS_MAX);
}

TEST_MAIN("registers", cmocka_unit_test(values_of_expressions_wait_for_their_operation),
          cmocka_unit_test(variables_live_until_they_are_mentioned_for_the_last_time),
          cmocka_unit_test(variables_that_the_next_round_needs_live_through_this_one),
          cmocka_unit_test(arrays_that_unrolled_loops_walk_through_are_in_registers),
          cmocka_unit_test(a_function_takes_what_its_values_take),
          cmocka_unit_test(more_than_a_container_says_is_the_most))
