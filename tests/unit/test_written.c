/* SPDX-License-Identifier: MIT */
/* written_wholly: of which out-ports every packet is written by index, whatever data decide. */
#include "tests/test.h"

#include "compiler/bodies/written.h"
#include "compiler/driver/passes.h"
#include "tests/unit/compile_text.h"

/* Of the out-port of a kernel that pops and pushes 8. */
static void expect(const char *statements, bool wholly)
{
    char text[1024];
    snprintf(text, sizeof text,
             "const i32 order[8] = {4, 5, 6, 7, 3, 2, 1, 0};\n"
             "fn i32 turned(i32 i) { i32 j = 7; j -= i; return j; }\n"
             "kernel k(in i32 x pop 8, out i32 y push 8) { %s }\n"
             "pipeline main(in i32 x, out i32 y) { x -> k -> y; }",
             statements);
    struct text_compile *compile = text_compile(text);
    assert_non_null(compile->graph);
    assert_true(analyse_graph(&compile->cx, compile->graph));
    const struct kernel *kernel = compile->graph->nodes.items[0].kernel;
    if (written_wholly(compile->cx.arena, kernel, 0) != wholly) fail_msg("%s", statements);
    text_compile_free(compile);
}

static void loops_that_reach_every_packet(void **state)
{
    (void)state;
    expect("for (i32 i = 0; i < 8; i++) y[i] = x[i];", true);
    expect("for (i32 i = 0; i < 8; i += 2) { y[i] = x[i]; y[i + 1] = 0; }", true);
    expect("for (i32 i = 0; i < 4; i++) { const i32 j = 2 * i; y[j] = 1; y[7 - j] = x[i]; }", true);
    expect("for (i32 i = 0; i < 2; i++) for (i32 j = 0; j < 4; j++) y[j * 2 + i] = x[j];", true);
    expect("y[7] = 1; for (i32 i = 0; i <= 6; i++) { y[i] = x[0]; }", true);
    expect("for (i32 i = 0; i < 8; i++) y[i < 4 ? i + 4 : i - 4] = x[i];", true);
    expect("for (i32 i = 0; i < 8; i++) y[turned(i)] = x[i];", true);
    expect("for (i32 i = 0; i < 8; i++) y[order[i]] = x[i];", true);
}

static void what_is_left_out(void **state)
{
    (void)state;
    expect("for (i32 i = 0; i < 7; i++) y[i] = x[i];", false);
    expect("for (i32 i = 0; i < 8; i += 2) y[i] = x[i];", false);
    expect("for (i32 i = 0; i < 8; i++) y[i & 6] = x[i];", false);
    expect("for (i32 i = 0; i < 8; i++) y[order[i] & 6] = x[i];", false);
    expect("for (i32 i = 0; i < 8; i++) y[turned(i) / 2] = x[i];", false);
}

static void what_data_decide(void **state)
{
    (void)state;
    expect("for (i32 i = 0; i < 8; i++) if (x[i] > 0) y[i] = x[i];", false);
    expect("for (i32 i = 0; i < 8; i++) y[x[i] & 7] = i;", false);
    expect("for (i32 i = 0; i < (x[0] & 7) + 1; i++) y[i] = 1;", false);
    expect("if (x[0] == 0) return; for (i32 i = 0; i < 8; i++) y[i] = x[i];", false);
    expect("for (i32 i = 0; i < 8; i++) { if (x[i] == 3) break; y[i] = x[i]; }", false);
    expect("for (i32 i = 0; i < 8; i++) { y[i] = x[i]; if (x[i] == 3) i += 1; }", false);
    expect("i32 j = 0; for (i32 i = 0; i < 8; i++) { y[j] = i; j += x[i] & 1; }", false);
}

TEST_MAIN("written", cmocka_unit_test(loops_that_reach_every_packet),
          cmocka_unit_test(what_is_left_out), cmocka_unit_test(what_data_decide))
