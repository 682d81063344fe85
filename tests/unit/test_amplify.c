/* SPDX-License-Identifier: MIT */
/* The proofs of the analyses of bodies: production, ranges of indices, cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

#include "compiler/bodies/range_check.h"
#include "compiler/bodies/amplify.h"
#include "compiler/bodies/divergence.h"
#include "compiler/bodies/cost.h"
#include "tests/unit/compile_text.h"

static struct text_compile *analyse(const char *body, const char *ports)
{
    char text[4096];
    snprintf(text, sizeof text,
             "kernel k(%s) { %s }\npipeline main(in i32 a, out i32 b) { k(a -> b); }\n", ports,
             body);
    struct text_compile *c = text_compile(text);
    assert_non_null(c->graph);
    amplify_infer_rates(&c->cx, c->graph);
    range_check_bodies(&c->cx, c->graph);
    return c;
}

static void expect_push(const char *body, uint64_t push)
{
    struct text_compile *c = analyse(body, "in i32 x peek 8, out i32 y");
    assert_false(diag_failed(c->cx.diags));
    assert_int_equal(c->graph->kernels.items[0]->out[0].push, push);
    assert_true(c->graph->kernels.items[0]->out[0].count_proven);
    assert_int_equal(c->graph->nodes.items[0].outputs.items[0].push, push);
    text_compile_free(c);
}

static void expect_message(const char *body, const char *ports, const char *wanted)
{
    struct text_compile *c = analyse(body, ports);
    char *messages = text_compile_messages(c);
    if (strstr(messages, wanted) == NULL) fail_msg("'%s' is not in:\n%s", wanted, messages);
    free(messages);
    text_compile_free(c);
}

static void production_is_read_off_the_body(void **state)
{
    (void)state;
    expect_push("y <- x;", 1);
    expect_push("y <- x; y <- x[1]; y <- 3;", 3);
    expect_push("for (i32 i = 0; i < 8; i++) y <- x[i];", 8);
    expect_push("for (i32 i = 7; i >= 0; i -= 2) y <- x[i];", 4);
    expect_push("i32 i = 0; while (true) { if (i == 5) break; y <- x[i]; i++; }", 5);
    expect_push("i32 i = 0; do y <- x[i]; while (++i < 3);", 3);
    expect_push("for (i32 i = 0; i < 4; i++) for (i32 j = 0; j <= i; j++) y <- x[j];", 10);
    expect_push("for (i32 i = 0; i < 8; i++) { if (i % 2) continue; y <- x[i]; }", 4);
    expect_push("if (x > 0) y <- 1; else y <- 2;", 1);
    expect_push("if (x > 0) { y <- 1; return; } y <- 2;", 1);
    expect_push("switch (x) { case 0: y <- 1; break; case 1: y <- 2; break; default: y <- 3; }", 1);
    expect_push("for (u32 i = 1; i < 64; i <<= 1) y <- x;", 6);
}

static void expect_bounds(const char *body, const char *ports, uint64_t least, uint64_t most,
                          bool proven)
{
    struct text_compile *c = analyse(body, ports);
    assert_false(diag_failed(c->cx.diags));
    const struct graph_output *out = &c->graph->nodes.items[0].outputs.items[0];
    assert_int_equal(out->push_least, least);
    assert_int_equal(out->push, most);
    assert_int_equal(c->graph->kernels.items[0]->out[0].count_proven, proven);
    text_compile_free(c);
}

static void production_that_varies_is_bounded(void **state)
{
    (void)state;
    const char *ports = "in i32 x peek 8, out i32 y";
    expect_bounds("if (x > 0) y <- 1;", ports, 0, 1, true);
    expect_bounds("for (i32 i = 0; i < 8; i++) if (x[i] > 0) y <- 1;", ports, 0, 8, true);
    expect_bounds("for (i32 i = 0; i < (x & 7); i++) y <- 1;", ports, 0, 7, true);
    expect_bounds("for (i32 i = 0; i < 8; i++) { y <- 1; if (x[i] > 0) break; }", ports, 1, 8,
                  true);
    /* more rounds than are executed one by one after the loop may have been left */
    expect_bounds("for (i32 i = 0; i < 5000; i++) { y <- 1; if (x[i & 7] > 0) break; }", ports, 1,
                  5000, true);
    expect_bounds("switch (x) { case 0: y <- 1; break; case 1: y <- 1; y <- 2; }", ports, 0, 2,
                  true);
    expect_message("for (i32 i = 0; i < x; i++) y <- 1;", ports, "[invalid-rate]");
    expect_message("i32 n = x; while (n > 0) { if (x[n & 7] == 7) { y <- 1; y <- 2; } n--; }",
                   ports, "appends 0 or more packets");
}

static void what_is_proven_narrows_what_is_declared(void **state)
{
    (void)state;
    expect_bounds("y <- x;", "in i32 x, out i32 y push ..4", 1, 1, true);
    expect_bounds("if (x > 0) y <- x;", "in i32 x pop 8, out i32 y amplify 1", 0, 1, true);
    expect_bounds("for (i32 i = 0; i < x; i++) y <- x;", "in i32 x pop 8, out i32 y amplify 3/2", 0,
                  12, false);
    expect_bounds("for (i32 i = 0; i < x; i++) y <- x;", "in i32 x pop 8, out i32 y amplify 1/16",
                  0, 1, false);
    expect_bounds("for (i32 i = 0; i < x; i++) y <- x;",
                  "in i32 x pop {8, 2}, out i32 y amplify 1/2", 0, 5, false);
    expect_bounds("for (i32 i = 0; i < x; i++) y <- x;", "in i32 x pop {8, 2}, out i32 y push ..3",
                  0, 6, false);
}

static void expect_phases(const char *body, const char *ports, const uint64_t *pushes)
{
    struct text_compile *c = analyse(body, ports);
    assert_false(diag_failed(c->cx.diags));
    const struct graph_node *node = &c->graph->nodes.items[0];
    for (uint32_t i = 0; i < node->kernel->phases; i++)
        assert_int_equal(node->outputs.items[0].pushes[i], pushes[i]);
    assert_true(graph_is_exact(node, &node->outputs.items[0]));
    text_compile_free(c);
}

static void production_follows_the_phase(void **state)
{
    (void)state;
    expect_phases("if (phase == 0) y <- x; else { y <- x; y <- x; }",
                  "in i32 x pop {1, 1}, out i32 y", (const uint64_t[]){1, 2});
    expect_phases("for (i32 i = 0; i < phase; i++) y <- x;", "in i32 x pop {3, 1, 1}, out i32 y",
                  (const uint64_t[]){0, 1, 2});
    expect_phases("const i32 n[2] = {2, 0}; for (i32 i = 0; i < n[phase]; i++) y <- x[i];",
                  "in i32 x pop {2, 1}, out i32 y push {2, 0}", (const uint64_t[]){2, 0});
    expect_message("i32 phase = 7; if (phase == 7) y <- x;",
                   "in i32 x pop {1, 1}, out i32 y push {2, 0}",
                   "declares push 2 on 'y' in phase 0, its body appends 1 packet");
    expect_message("y <- x[phase];", "in i32 x pop {1, 1}, out i32 y", "[out-of-window]");
}

static void declared_production_is_compared_with_the_body(void **state)
{
    (void)state;
    expect_message("y <- x;", "in i32 x, out i32 y push 2",
                   "declares push 2 on 'y', its body appends 1 packet");
    expect_message("if (x > 0) y <- x;", "in i32 x, out i32 y push 1", "[rate-unproven]");
    expect_message("if (x > 0) { y <- x; y <- x; }", "in i32 x, out i32 y push 3",
                   "[rate-mismatch]");
}

static bool every_peek_proven(const struct kx *e)
{
    if (e == NULL) return true;
    if (e->kind == KX_PEEK && e->check != ACCESS_PROVEN) return false;
    if (e->kind == KX_INDEX && e->check != ACCESS_PROVEN) return false;
    bool all =
        every_peek_proven(e->left) && every_peek_proven(e->right) && every_peek_proven(e->third);
    for (uint32_t i = 0; i < e->argument_count; i++)
        all &= every_peek_proven(e->arguments[i]);
    return all;
}

static bool every_access_proven(const struct ks *s)
{
    for (; s != NULL; s = s->next)
        if (!every_peek_proven(s->expr) || !every_peek_proven(s->step) ||
            !every_access_proven(s->init) || !every_access_proven(s->body) ||
            !every_access_proven(s->otherwise))
            return false;
    return true;
}

static void phases_in_which_every_firing_stops_keep_their_rates(void **state)
{
    (void)state;
    const char *stops = "state i32 n; if (n == 0) stop; n++; y <- x; y <- x; y <- x;";
    expect_bounds(stops, "in i32 x, out i32 y push 3", 3, 3, true);
    expect_bounds(stops, "in i32 x, out i32 y push ..2", 0, 2, true);
    expect_bounds("y <- x; y <- x; stop;", "in i32 x, out i32 y push 1", 1, 1, false);
    expect_phases("if (phase == 1) stop; y <- x;", "in i32 x pop {1, 1}, out i32 y push {1, 2}",
                  (const uint64_t[]){1, 2});
    expect_message("if (phase == 1) stop; y <- x;", "in i32 x pop {1, 1}, out i32 y push {2, 2}",
                   "'k' declares push 2 on 'y' in phase 0, its body appends 1 packet");
    expect_message("while (true) { y <- x; if (x > 3) stop; }", "in i32 x, out i32 y push 3",
                   "does not show that it appends exactly 3 packets");
    expect_message(stops, "in i32 x, out i32 y",
                   "'k' never writes its out-port 'y': each firing stops");
}

static void expect_checks(const char *body, bool proven)
{
    struct text_compile *c = analyse(body, "in i32 x peek 8, out i32 y");
    char *messages = text_compile_messages(c);
    if (diag_failed(c->cx.diags)) fail_msg("%s\n%s", body, messages);
    if (every_access_proven(c->graph->kernels.items[0]->body) != proven) fail_msg("%s", body);
    free(messages);
    text_compile_free(c);
}

static void accesses_in_range_need_no_check(void **state)
{
    (void)state;
    expect_checks("y <- x[7];", true);
    expect_checks("i32 s = 0; for (i32 i = 0; i < 8; i++) s += x[i]; y <- s;", true);
    expect_checks("y <- x[x & 7];", true);
    expect_checks("i32 i = x; if (i >= 0 && i < 8) y <- x[i]; else y <- 0;", true);
    expect_checks("i32 t[100]; for (i32 i = 0; i < 100; i++) t[i] = i; y <- t[99];", true);
    expect_checks("i32 t[1000]; for (i32 i = 0; i < 1000; i++) for (i32 j = 0; j < 1000; j++) t[j] "
                  "+= i; y <- t[0];",
                  true);
    expect_checks("u8 i = (u8)x; i32 t[256]; y <- t[i];", true);
    expect_checks("i32 s = 0; for (i32 i = x & 3; i < 8; i += 3) s += x[i]; y <- s;", true);
    expect_checks("y <- x[min(max(x, 0), 7)];", true);
}

static void guards_and_relations_prove_accesses(void **state)
{
    (void)state;
    const char *proven[] = {
        "i32 i = x; if (!(i >= 0 && i < 8)) return; y <- x[i];",
        "i32 i = x; if (i < 0 || i >= 8) { y <- 0; return; } y <- x[i];",
        "i32 i = x, j = x[1]; if (i >= 0 && j >= 0 && i + j < 8 && i < 9 && j < 9) y <- x[i + j];",
        "i32 i = x, j = x[1]; if (j + i >= 0 && i + j < 8) y <- x[j + i];",
        "i32 i = x; if (i == 3 || i == 5) y <- x[i];",
        "i32 i = x; switch (i) { case 0: case 1: y <- x[i]; break; default: y <- 1; }",
        "if (x[1] >= 0 && x[1] < 8) y <- x[x[1]];",
        "u32 n = (u32)x; if (n < 8) for (u32 i = 0; i < n; i++) y <- x[n - 1 - i];",
        ("i32 lo = 0; i32 hi = 8; while (lo < hi) { i32 m = (lo + hi) / 2; "
         "if (x[m] < 3) lo = m + 1; else hi = m; } y <- lo;"),
        "i32 n; for (;;) { if (n == 8) break; if (x[n] > 3) break; n++; } y <- n;",
        "state i32 at; i32 line[16]; y <- line[at]; at = (at + 1) % 16;",
        "state i32 at; i32 line[16]; y <- line[at]; if (++at == 16) at = 0;",
        "state u32 at; i32 line[16]; y <- line[at]; at = (at + 1) & 15;",
        "const i32 o[2] = {7, 5}; i32 p[2]; p[0] = o[0]; p[1] = o[1]; y <- x[p[x & 1]];",
        "i32x4 v = {0, 3, 5, 7}; y <- x[v[x & 3]];",
        "i32 k = 8 - (x & 3); for (i32 i = 0; i < k; i++) y <- x[i];",
        "i32 n = x & 3; i32 k = 8 - n; for (i32 i = 0; i < k; i++) y <- x[n + i];",
        "y <- x[7 - abs((x & 15) - 8) % 8];",
        "y <- x[(u8)x >> 5];",
        "y <- x[1 << (x & 1)];",
    };
    for (size_t i = 0; i < sizeof proven / sizeof *proven; i++)
        expect_checks(proven[i], true);
    expect_checks("i32 i = x; i32 j = x[1]; if (i + j < 8) y <- x[i + j];", false);
    expect_checks("i32 i = x, j = x[1]; if (j - i >= 0 && j - i < 8) y <- x[i - j];", false);
    expect_checks("i32 i = x; if (i < 8 || x[1] > 0) y <- x[i];", false);
    expect_checks("state i32 at; i32 line[16]; y <- line[at]; at = (at + 1) % 17;", false);
    expect_checks("i32 p[4]; p[x & 3] = x; y <- x[p[0]];", false);
}

static void counters_bound_what_loops_append(void **state)
{
    (void)state;
    const char *ports = "in i32 x peek 8, out i32 y";
    expect_bounds("i32 n; for (i32 i = 0; i < x; i++) if (n < 4) { y <- i; n++; }", ports, 0, 4,
                  true);
    expect_bounds("i32 n; for (i32 i = 0; i < x; i++) { if (n >= 4) break; y <- i; n++; }", ports,
                  0, 4, true);
    expect_bounds("i32 n = 4; while (n > 0 && x > 3) { y <- n; n--; }", ports, 0, 4, true);
    expect_bounds("i32 n; while (n < 4) { if (x[n] > 3) n++; else { y <- n; n++; } }", ports, 0, 4,
                  true);
    expect_bounds("i32 n; for (i32 i = 0; i < x; i++) if (n < 3) { y <- i; y <- x; n++; }", ports,
                  0, 6, true);
    expect_bounds("i32 n; for (i32 i = 0; i < x; i++) if (n < 4) { y <- i; n++; } "
                  "while (n < 4) { y <- 0; n++; }",
                  ports, 4, 4, true);
    expect_bounds("i32 i; while (i < (x & 7)) { if (x[i] > 0) y <- i; i++; }", ports, 0, 7, true);
    expect_bounds("i32 n = min(x, 4); for (i32 i = 0; i < n; i++) y <- i;", ports, 0, 4, true);
}

/* A condition that steps its variable, either way, by any step, in any type: the bound is the largest
 * number of packets that some input gives, and what would wrap is no bound. */
static void conditions_that_count_bound_what_loops_append(void **state)
{
    (void)state;
    const char *ports = "in i32 x peek 8, out i32 y";
    expect_bounds("i32 n = x & 7; while (n-- > 0) y <- n;", ports, 0, 7, true);
    expect_bounds("i32 n = x & 7; while (n--) y <- n;", ports, 0, 7, true);
    expect_bounds("i32 n = x & 7; i32 i = 0; while (i++ < n) y <- i;", ports, 0, 7, true);
    expect_bounds("for (i32 i = x & 7; i-- > 0;) y <- i;", ports, 0, 7, true);
    expect_bounds("for (i32 i = x & 7; --i >= 0;) y <- i;", ports, 0, 7, true);
    expect_bounds("i32 n = x & 7; i32 i = 0; while (++i < n) y <- i;", ports, 0, 6, true);
    expect_bounds("i32 n = x & 7; while (0 < n--) y <- n;", ports, 0, 7, true);
    expect_bounds("u32 n = (u32)x & 7; while (n--) y <- (i32)n;", ports, 0, 7, true);
    expect_bounds("u32 n = (u32)x & 7; while (n-- != 0) y <- (i32)n;", ports, 0, 7, true);
    expect_bounds("u8 n = (u8)x; while (n-- > 0) y <- (i32)n;", ports, 0, 255, true);
    expect_bounds("i8 n = (i8)x; while (n-- > 0) y <- (i32)n;", ports, 0, 127, true);
    expect_bounds("u8 n = (u8)x; while (n++ < 20) y <- (i32)n;", ports, 0, 20, true);
    expect_bounds("u8 n = (u8)x; do { y <- 1; } while (n-- > 4);", ports, 1, 252, true);
    expect_bounds("i32 n = x & 63; while ((n -= 3) > 0) y <- n;", ports, 0, 20, true);
    expect_bounds("i32 n = x & 63; i32 i = 0; while ((i += 2) <= n) y <- i;", ports, 0, 31, true);
    expect_bounds("i32 n = x & 7; while (n-- > 0 && x[n] != 3) y <- n;", ports, 0, 7, true);
    expect_bounds("u8 n = (u8)(x & 7); while (x != 3 && n-- > 0) y <- x[n];", ports, 0, 7, true);
    expect_bounds("i32 n = x & 7; while (!(n-- <= 0)) y <- n;", ports, 0, 7, true);
    expect_checks("i32 n = x & 7; i32 s = 0; while (n-- > 0 && x[n] != 3) s += x[n]; y <- s;",
                  true);
    expect_checks("i32 i = 0; i32 s = 0; while (i++ < (x & 7)) s += x[i - 1]; y <- s;", true);
    expect_checks("i32 n = x & 7; i32 s = 0; while (n-- >= 0) s += x[n + 1]; y <- s;", true);
    expect_checks("i32 n = x & 7; i32 s = 0; while (n-- >= 0) s += x[n]; y <- s;", false);
    expect_message("u32 n = (u32)x & 7; while (n--) {} y <- x[(i32)(n & 15)];", ports,
                   "index 15 is outside");
}

/* Each round divides, multiplies or clears a bit: the bound is the number of rounds of the longest firing. */
static void loops_that_scale_their_variable_are_bounded(void **state)
{
    (void)state;
    const char *ports = "in i32 x, out i32 y", *none = "shows no bound";
    expect_bounds("u32 n = (u32)x; while (n != 0) { y <- 1; n >>= 1; }", ports, 0, 32, true);
    expect_bounds("u32 n = (u32)x; while (n) { y <- 1; n = n >> 3; }", ports, 0, 11, true);
    expect_bounds("u32 n = (u32)x; while (n >>= 1) y <- 1;", ports, 0, 31, true);
    expect_bounds("u32 n = (u32)x; while ((n >>= 1) != 0) y <- 1;", ports, 0, 31, true);
    expect_bounds("i32 n = x; while (n > 0) { y <- 1; n >>= 1; }", ports, 0, 31, true);
    expect_bounds("u32 n = (u32)x; do { y <- 1; n /= 10; } while (n > 0);", ports, 1, 10, true);
    expect_bounds("u32 n = (u32)x; for (; n; n &= n - 1) y <- 1;", ports, 0, 32, true);
    expect_bounds("i32 n = x & 255; while (n) { y <- 1; n = n & n - 1; }", ports, 0, 8, true);
    expect_bounds("i32 n = x & 1023; for (i32 i = 1; i < n; i *= 2) y <- i;", ports, 0, 10, true);
    expect_bounds("i32 n = x & 1023; for (i32 i = 1; i < n; i <<= 2) y <- i;", ports, 0, 5, true);
    expect_bounds("i32 n = x & 1023; for (i32 i = 1; i < n; i += i) y <- i;", ports, 0, 10, true);
    expect_bounds(
        "i32 n = x & 1023; for (i32 i = 1; i <= n; i = i * 3) { if (x < 0) continue; y <- i; }",
        ports, 0, 7, true);
    /* -1 >> 1 is -1, 0 x 2 is 0, 2^30 x 2 wraps */
    expect_message("i32 n = x; while (n != 0) { y <- 1; n >>= 1; }", ports, none);
    expect_message("i32 n = x & 99; for (i32 i = 0; i < n; i *= 2) y <- i;", ports, none);
    expect_message("for (i32 i = 1; i < x; i *= 2) y <- i;", ports, none);
    /* rounds that leave the scaling out, or undo it */
    expect_message("u32 n = (u32)x; while (n) { y <- 1; if (n & 1) continue; n >>= 1; }", ports,
                   none);
    expect_message("u32 n = (u32)x; while (n) { y <- 1; n >>= 1; n += 1; }", ports, none);
    expect_message("u32 n = (u32)x; while (n) { y <- 1; if (n & 1) n >>= 1; }", ports, none);
    expect_message("u32 n = (u32)x; while (n) { y <- 1; bool b = x > 3 && (n >>= 1) > 0; }", ports,
                   none);
}

/* `i != n` bounds a counter that begins before n and comes nearer by 1. */
static void loops_until_a_counter_is_equal_are_bounded(void **state)
{
    (void)state;
    const char *ports = "in i32 x, out i32 y", *none = "shows no bound";
    expect_bounds("i32 n = x & 15; for (i32 i = 0; i != n; i++) y <- i;", ports, 0, 15, true);
    expect_bounds("i32 n = x & 15; i32 i = 20; while (i != n) { y <- i; i--; }", ports, 5, 20,
                  true);
    expect_bounds("i32 n = x & 15; i32 i = 0; while (i != 16 - n) { if (x > 3) y <- i; i++; }",
                  ports, 0, 16, true);
    expect_message("i32 n = x & 15; for (i32 i = 3; i != n; i++) y <- i;", ports, none);
    expect_message("i32 n = x & 15; for (i32 i = 0; i != n; i += 2) y <- i;", ports, none);
    expect_message("i32 n = x & 15; for (i32 i = 0; i != n; i++) { y <- i; n--; }", ports, none);
}

/* A second loop goes on from the number at which a first one ended, whatever the names of the counters. */
static void a_loop_begins_where_an_earlier_counter_ended(void **state)
{
    (void)state;
    const char *ports = "in i32 x peek 16, out i32 y";
    const char *zeros = "i32 z; for (i32 i = 0; i < 16; i++) if (x[i] == 0) ";
    char body[512];
    snprintf(body, sizeof body, "%s{ y <- 0; z++; } for (i32 i = z; i < 16; i++) y <- 1;", zeros);
    expect_bounds(body, ports, 16, 16, true);
    snprintf(body, sizeof body,
             "%sz++; for (i32 i = 0; i < z; i++) y <- 0; for (i32 i = z; i < 16; i++) y <- 1;",
             zeros);
    expect_bounds(body, ports, 16, 16, true);
    snprintf(body, sizeof body,
             "%s{ y <- 0; y <- 1; z++; } for (i32 i = z; i < 16; i++) { y <- 2; y <- 3; }", zeros);
    expect_bounds(body, ports, 32, 32, true);
    const char *n = "i32 n = x & 15;";
    static const struct {
        const char *loops;
        uint64_t least, most;
    } cases[] = {
        {"for (i32 i = 0; i < n; i++) y <- 0; for (i32 i = n; i < 16; i++) y <- 1;", 16, 16},
        {"for (i32 i = 0; i != n; i++) y <- 0; for (i32 i = n; i != 16; i++) y <- 1;", 16, 16},
        {"for (i32 i = 0; i <= n; i++) y <- 0; for (i32 i = n + 1; i < 16; i++) y <- 1;", 16, 16},
        {"for (i32 i = 15; i >= n; i--) y <- 0; for (i32 i = n; i > 0; i--) y <- 1;", 16, 16},
        {"for (i32 i = 0; i < 16 - n; i++) y <- 0; for (i32 i = 16 - n; i < 16; i++) y <- 1;", 16,
         16},
        {"i32 i; while (i < n) { y <- 0; i++; } for (i32 j = n; j < 16; j++) y <- 1;", 16, 16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(body, sizeof body, "%s %s", n, cases[i].loops);
        expect_bounds(body, ports, cases[i].least, cases[i].most, true);
    }
    /* a loop that is left earlier, or passes the number: other sums are possible */
    snprintf(body, sizeof body,
             "%s for (i32 i = 0; i < n; i++) { if (x[i] > 99) break; y <- 0; } for (i32 i = n; i < "
             "16; i++) y <- 1;",
             n);
    expect_bounds(body, ports, 1, 31, true);
    snprintf(body, sizeof body,
             "%s for (i32 i = 0; i < n; i += 2) y <- 0; for (i32 i = n; i < 16; i++) y <- 1;", n);
    expect_bounds(body, ports, 1, 24, true);
}

/* A firing that stays in a loop for ever appends more packets than one that ends: its appends are not unchecked. */
static void a_loop_that_may_never_end_has_no_bound(void **state)
{
    (void)state;
    const char *ports = "in i32 x, out i32 y", *none = "shows no bound";
    const char *endless = "i32 i = 0; while (i != 8) { y <- 1; i <<= 1; }";
    char body[256];
    snprintf(body, sizeof body, "if (x == 0) { %s } y <- 0;", endless);
    expect_message(body, ports, none);
    expect_message(body, ports, "nothing shows that this loop ends");
    expect_message(body, "in i32 x, out i32 y push 1", "it appends 1 or more packets");
    snprintf(body, sizeof body, "for (i32 k = 1; k > (x & 3); k--) { %s } y <- 0;", endless);
    expect_message(body, ports, none);
    expect_message("if (x == 0) { y <- 1; y <- 2; while (true) {} } y <- 0;",
                   "in i32 x, out i32 y push 1", "it appends 1 to 2 packets");
    /* within the bound all the time */
    expect_bounds("i32 n; while (x[n & 1] > 0) if (n < 4) { y <- n; n++; }",
                  "in i32 x peek 2, out i32 y", 0, 4, true);
    expect_bounds("if (x == 0) while (true) {} y <- 0;", ports, 1, 1, true);
}

/* The same condition asked twice is one unknown, as long as nothing of it has changed. */
static void conditions_asked_twice_are_one_unknown(void **state)
{
    (void)state;
    const char *ports = "in i32 x peek 16, out i32 y; i32 arg = 3";
    expect_bounds("for (i32 i = 0; i < 16; i++) if (x[i] == 0) y <- 0; "
                  "for (i32 i = 0; i < 16; i++) if (x[i] != 0) y <- x[i];",
                  ports, 16, 16, true);
    expect_bounds("for (i32 i = 0; i < 16; i++) if ((x[i] & 1) == 0) y <- 0; "
                  "for (i32 i = 0; i < 16; i++) if (x[i] & 1) y <- 1;",
                  ports, 16, 16, true);
    expect_bounds("for (i32 i = 0; i < 8; i++) { i32 v = x[i]; if (v < arg) y <- v; } "
                  "for (i32 i = 0; i < 8; i++) if (x[i] >= arg) y <- 1;",
                  ports, 8, 8, true);
    expect_bounds(
        "if (x < 0) y <- 0; if (x >= 0 && x < arg) y <- 1; if (x >= 0 && x >= arg) y <- 2;", ports,
        1, 1, true);
    expect_bounds("bool z = x > arg; if (z) y <- 1; else { y <- 3; y <- 4; } if (z) y <- 5;", ports,
                  2, 2, true);
    expect_bounds("f32 f = (f32)x; if (f == 1) y <- 1; if (f != 1) y <- 2;", ports, 1, 1, true);
    /* Neither may hold: f is not a number. */
    expect_bounds("f32 f = (f32)x / (f32)x; if (f < 1) y <- 1; if (f >= 1) y <- 2;", ports, 0, 2,
                  true);
    expect_bounds("i32 v = x; if (v > 3) y <- 1; v++; if (v <= 3) y <- 2;", ports, 0, 2, true);
    expect_bounds("i32 v = x; if (v > 3) y <- 1; if (x[1] == 2) v = x[2]; if (v <= 3) y <- 2;",
                  ports, 0, 2, true);
    expect_bounds("i32 t[2] = {1, 2}; t[0] = x; if (t[x & 1] > 3) y <- 1; t[1] = x[1]; "
                  "if (t[x & 1] <= 3) y <- 2;",
                  ports, 0, 2, true);
    expect_bounds("i32 v = x; if (v > 3) y <- 1; for (i32 i = 0; i < x; i++) v = x[i & 7]; "
                  "if (v <= 3) y <- 2;",
                  ports, 0, 2, true);
    expect_bounds("i32 v = x; if (v > 3) y <- 1; if (v++ <= 3) y <- 2; if (v <= 3) y <- 2;", ports,
                  0, 3, true);
}

/* Of integers a constant on either side, the next constant, and the ends of a range ask the same. */
static void one_question_in_other_words_is_one_unknown(void **state)
{
    (void)state;
    static const struct {
        const char *type, *first, *second;
        uint64_t least, most;
    } cases[] = {
        {"i32", "v < 5", "v > 4", 16, 16},
        {"i32", "5 > v", "5 <= v", 16, 16},
        {"i32", "v < 5", "v > 5", 0, 32},
        {"i32", "v > 2147483646", "v != 2147483647", 16, 16},
        {"i32", "(v & 1) == 0", "(v & 1) == 1", 16, 16},
        {"i32", "(v & 1) > 0", "!(v & 1)", 16, 16},
        {"i32", "(v >> 3 & 1) == 1", "(v >> 3 & 1) < 1", 16, 16},
        {"i32", "(v & 2) == 0", "(v & 2) == 1", 0, 32},
        {"u32", "v % 2 == 0", "v % 2 == 1", 16, 16},
        {"i32", "v % 2 == 0", "v % 2 == 1", 0, 32}, /* -1 as well */
        {"u8", "v == 0", "v > 0", 16, 16},
        {"u8", "v == 255", "v < 255", 16, 16},
        {"i8", "v == -128", "v >= -127", 16, 16},
        {"u64", "v == 18446744073709551615", "v < 18446744073709551615", 16, 16},
        {"i64", "v > 9223372036854775807", "v <= 9223372036854775807", 16, 16},
        {"bool", "v == false", "v == true", 16, 16},
        {"bool", "!v", "v != false", 16, 16},
        {"f32", "v < 0", "v >= 0", 0, 32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *type = cases[i].type;
        char body[512];
        snprintf(body, sizeof body,
                 "for (i32 i = 0; i < 16; i++) { %s v = (%s)x[i]; if (%s) y <- i; }"
                 "for (i32 i = 0; i < 16; i++) { %s v = (%s)x[i]; if (%s) y <- i; }",
                 type, type, cases[i].first, type, type, cases[i].second);
        expect_bounds(body, "in i32 x peek 16, out i32 y", cases[i].least, cases[i].most, true);
    }
}

/* A pass appends some and counts the others, and a loop appends as many as were counted. */
static void what_was_counted_is_appended_later(void **state)
{
    (void)state;
    static const struct {
        const char *loop;
        uint64_t least, most;
    } cases[] = {
        {"for (i32 i = 0; i < n; i++) y <- 1;", 16, 16},
        {"for (i32 i = 1; i <= n; i++) y <- 1;", 16, 16},
        {"for (i32 i = 0; i <= n; i++) y <- 1;", 17, 17},
        {"for (i32 i = 0; i != n; i++) y <- 1;", 16, 16},
        {"for (i32 i = n; i > 0; i--) y <- 1;", 16, 16},
        {"i32 k = 0; while (k < n) { y <- 1; k++; }", 16, 16},
        {"while (n-- > 0) y <- 1;", 16, 16},
        {"n += 5; for (i32 i = 0; i < n; i++) y <- 1;", 21, 21},
        {"for (i32 i = 0; i < n; i++) { y <- 1; if (x[0] == 9) break; }", 0, 17},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[512];
        snprintf(body, sizeof body,
                 "i32 n; for (i32 i = 0; i < 16; i++) if (x[i] > 3) n++; else y <- x[i]; %s",
                 cases[i].loop);
        expect_bounds(body, "in i32 x peek 16, out i32 y", cases[i].least, cases[i].most, true);
    }
}

/* A condition that has been made of others, over and over, takes no time or memory that grows with each
 * step, and no stack that grows with the rounds. */
static void conditions_made_of_conditions_stay_small(void **state)
{
    (void)state;
    const char *ports = "in i32 x peek 16, out i32 y", *ask = "if (b) y <- 1; if (!b) y <- 0;";
    char body[8192] = "bool b = x > 3, c = x[1] > 3;";
    size_t from = strlen(body);
    for (int i = 0; i < 300; i++)
        strcat(body, "b = b && b;");
    strcat(body, ask);
    expect_bounds(body, ports, 1, 1, true);
    body[from] = '\0';
    for (int i = 0; i < 300; i++)
        strcat(body, i % 2 == 0 ? "b = b && !c;" : "c = b || c;");
    strcat(body, ask);
    expect_bounds(body, ports, 1, 1, true);
    snprintf(body, sizeof body,
             "bool b = x > 3, c = x[1] > 3; for (i32 i = 0; i < 60000; i++) b = b && c; %s", ask);
    expect_bounds(body, ports, 1, 1, true);
    expect_bounds(
        "bool p = x > 3, q = x[1] > 3; if (p) { if (p && q) y <- 1; } if (!(p && q)) y <- 2;",
        ports, 1, 1, true);
}

/* Sums of some hundred products, one for each condition that is asked, do not add up to gigabytes. */
static void sums_of_a_body_keep_so_many_products(void **state)
{
    (void)state;
    const char *ports = "in i32 x pop 400, out i32 y";
    expect_bounds("for (i32 k = 0; k < 2; k++) {"
                  "for (i32 i = 0; i < 400; i++) if (x[i] == 0) y <- 0; "
                  "for (i32 i = 0; i < 400; i++) if (x[i] != 0) y <- 1; }",
                  ports, 800, 800, true);
    expect_bounds("for (i32 k = 0; k < 20; k++) {"
                  "for (i32 i = 0; i < 400; i++) if (x[i] == 0) y <- 0; "
                  "for (i32 i = 0; i < 400; i++) if (x[i] != 0) y <- 1; }",
                  ports, 0, 16000, true);
}

static void functions_are_followed_into(void **state)
{
    (void)state;
    struct text_compile *c = text_compile(
        "fn i32 clamped(i32 v, i32 low, i32 high) { return v < low ? low : v > high ? high : v; }\n"
        "const i32 T[4] = {0, 1, 2, 7};\n"
        "fn i32 looked(i32 i) { return T[i]; }\n"
        "kernel k(in i32 x peek 8, out i32 y) { y <- x[clamped(x, 0, 7)] + x[looked(x & 3)]; }\n"
        "pipeline main(in i32 a, out i32 b) { k(a -> b); }\n");
    assert_non_null(c->graph);
    amplify_infer_rates(&c->cx, c->graph);
    range_check_bodies(&c->cx, c->graph);
    assert_true(every_access_proven(c->graph->kernels.items[0]->body));
    for (size_t i = 0; i < c->graph->functions.count; i++)
        assert_true(every_access_proven(c->graph->functions.items[i]->body));
    text_compile_free(c);
}

static void accesses_that_are_never_evaluated_need_no_check(void **state)
{
    (void)state;
    expect_checks("i32 s = 0; for (i32 i = 0; i < 4 - 8; i++) s += x[i + 20]; y <- s;", true);
    expect_checks("i32 n = 4 - 8; i32 s = 0; while (n > 0) s += x[n--]; y <- s;", true);
    expect_checks("i32 s = 0; for (u32 i = 0; i + 8 < 4; i++) s += x[i + 20]; y <- s;", true);
    expect_checks("if (x > 3 && 2 > 4 && x[x] > 0) y <- 1; else y <- 0;", true);
    expect_checks("if (x > 9 && x < 3) y <- x[x]; else y <- 0;", true);
    expect_message("i32 s = 0; for (u32 i = 0; i < u32(4) - u32(8); i++) s += x[(i32)(i & 15u)]; "
                   "y <- s;",
                   "in i32 x peek 8, out i32 y", "index 8 is outside");
}

static void accesses_that_may_be_outside_stay_checked(void **state)
{
    (void)state;
    expect_checks("y <- x[x];", false);
    expect_checks("y <- x[x & 15];", false);
    expect_checks("i32 i = x; if (i >= 0 || i < 8) y <- x[i]; else y <- 0;", false);
    expect_checks("i32 i = 7; i += x; y <- x[i];", false);
    expect_checks("i32 i = 0; while (x[i] != 0) i++; y <- i;", false);
    expect_checks("i32 i = 0; if (i < 8 && (i = x) > 0) y <- x[i]; else y <- 0;", false);
    expect_checks("i32 t[4]; i32 i = 0; switch (x) { case 0: i = 1000000; break; } y <- t[i & 7];",
                  false);
    expect_checks("i8 i = (i8)x; i += 100; y <- x[(i32)i & -1];", false);
}

static void accesses_certainly_outside_are_errors(void **state)
{
    (void)state;
    const char *ports = "in i32 x peek 8, out i32 y";
    expect_message("y <- x[8];", ports, "index 8 is outside the window of 'x'");
    expect_message("y <- x[-1];", ports, "index -1 is outside the window of 'x'");
    expect_message("i32 s = 0; for (i32 i = 0; i <= 8; i++) s += x[i]; y <- s;", ports,
                   "index 8 is outside the window of 'x'");
    expect_message("i8 i = 100; i += 100; y <- x[i];", ports, "index -56 is outside");
    expect_message("i32 t[4]; y <- t[4];", ports, "index 4 is outside the array of 't'");
    expect_message("i32 i = x; if (i > 9) y <- x[i]; else y <- 0;", ports,
                   "the index is outside the window of 'x'");
}

static uint64_t cost_of(const char *body)
{
    struct text_compile *c = analyse(body, "in i32 x peek 64, out i32 y");
    cost_estimate(&c->cx, c->graph);
    uint64_t cost = c->graph->nodes.items[0].cost_cycles;
    text_compile_free(c);
    return cost;
}

static void cost_follows_the_work(void **state)
{
    (void)state;
    uint64_t one = cost_of("y <- x;");
    uint64_t eight = cost_of("i32 s = 0; for (i32 i = 0; i < 8; i++) s += x[i]; y <- s;");
    uint64_t all = cost_of("i32 s = 0; for (i32 i = 0; i < 64; i++) s += x[i]; y <- s;");
    assert_true(one >= 1 && one < eight);
    assert_in_range(all, 7 * eight, 9 * eight);
    assert_int_equal(cost_of("if (x > 0) y <- x / 3; else y <- 1;"),
                     cost_of("if (x > 0) y <- 1; else y <- x / 3;"));
    /* more rounds than are executed one by one */
    assert_true(cost_of("i32 s = 0; for (i32 i = 0; i < 1000000; i++) s += i; y <- s;") > 1000000);
}

static void expect_items_push(const char *group, const char *body, uint64_t push)
{
    char text[1024];
    snprintf(text, sizeof text,
             "kernel k(in i32 x peek 8, out i32 y) group %s { %s }\n"
             "pipeline main(in i32 a, out i32 b) { k(a -> b); }\n",
             group, body);
    struct text_compile *c = text_compile(text);
    assert_non_null(c->graph);
    amplify_infer_rates(&c->cx, c->graph);
    range_check_bodies(&c->cx, c->graph);
    group_check_bodies(&c->cx, c->graph);
    assert_false(diag_failed(c->cx.diags));
    assert_int_equal(c->graph->kernels.items[0]->out[0].push, push);
    assert_int_equal(c->graph->kernels.items[0]->out[0].push_least, push);
    assert_true(c->graph->kernels.items[0]->out[0].count_proven);
    text_compile_free(c);
}

static void production_of_work_items_adds_up(void **state)
{
    (void)state;
    expect_items_push("8", "y <- x[item.x];", 8);
    expect_items_push("4x2x3", "y <- item.z; y <- item.y;", 48);
    expect_items_push("8", "if (item.x == 0) y <- x;", 1);
    expect_items_push("4x2", "if (item.x == 0 && item.y == 1) y <- x; else y <- 1;", 8);
    expect_items_push("8", "for (i32 i = 0; i < item.x; i++) y <- x[i];", 28);
    expect_items_push("4x2", "if (item.y * 4 + item.x >= 3) return; y <- x;", 3);
    expect_items_push("8", "for (i32 i = item.x; i < 20; i += 8) y <- x;", 20);
}

TEST_MAIN("amplify", cmocka_unit_test(production_of_work_items_adds_up),
          cmocka_unit_test(production_is_read_off_the_body),
          cmocka_unit_test(production_that_varies_is_bounded),
          cmocka_unit_test(what_is_proven_narrows_what_is_declared),
          cmocka_unit_test(production_follows_the_phase),
          cmocka_unit_test(declared_production_is_compared_with_the_body),
          cmocka_unit_test(phases_in_which_every_firing_stops_keep_their_rates),
          cmocka_unit_test(accesses_in_range_need_no_check),
          cmocka_unit_test(guards_and_relations_prove_accesses),
          cmocka_unit_test(counters_bound_what_loops_append),
          cmocka_unit_test(conditions_that_count_bound_what_loops_append),
          cmocka_unit_test(loops_that_scale_their_variable_are_bounded),
          cmocka_unit_test(loops_until_a_counter_is_equal_are_bounded),
          cmocka_unit_test(a_loop_begins_where_an_earlier_counter_ended),
          cmocka_unit_test(a_loop_that_may_never_end_has_no_bound),
          cmocka_unit_test(conditions_asked_twice_are_one_unknown),
          cmocka_unit_test(one_question_in_other_words_is_one_unknown),
          cmocka_unit_test(what_was_counted_is_appended_later),
          cmocka_unit_test(conditions_made_of_conditions_stay_small),
          cmocka_unit_test(sums_of_a_body_keep_so_many_products),
          cmocka_unit_test(functions_are_followed_into),
          cmocka_unit_test(accesses_that_are_never_evaluated_need_no_check),
          cmocka_unit_test(accesses_that_may_be_outside_stay_checked),
          cmocka_unit_test(accesses_certainly_outside_are_errors),
          cmocka_unit_test(cost_follows_the_work))
