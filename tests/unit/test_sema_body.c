/* SPDX-License-Identifier: MIT */
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>

#include "compiler/ir/kernel.h"
#include "tests/unit/compile_text.h"

/* ---- the typed tree as text: `(i32 + x[0] (i32 1))` ---- */

static void print_kx(FILE *to, const struct kx *kx)
{
    static const char *const operators[] = {"=", "+", "-", "*",  "/",  "%",  "<<", ">>", "&", "|",
                                            "^", "<", ">", "<=", ">=", "==", "!=", "&&", "||"};
    static const char *const names[] = {
#define BUILTIN(enumerator, name, arity, kind) name,
#include "compiler/ir/builtins.def"
#undef BUILTIN
    };
    const char *type = kx->type->kind == TYPE_SCALAR   ? scalar_name(kx->type->scalar)
                       : kx->type->kind == TYPE_ARRAY  ? "array"
                       : kx->type->kind == TYPE_VECTOR ? "vector"
                       : kx->type->kind == TYPE_STRUCT ? "struct"
                                                       : "void";
    const struct kx *children[] = {kx->left, kx->right, kx->third};
    double number;
    switch (kx->kind) {
    case KX_CONSTANT:
        if (scalar_is_signed(kx->value.type) && !scalar_is_float(kx->value.type))
            fprintf(to, "%" PRId64 ":%s", (int64_t)kx->value.bits, type);
        else if (kx->value.type == SCALAR_F64)
            memcpy(&number, &kx->value.bits, sizeof number), fprintf(to, "%.17g:f64", number);
        else
            fprintf(to, "%" PRIu64 ":%s", kx->value.bits, type);
        return;
    case KX_VARIABLE: fprintf(to, "%s:%s", kx->variable->name, type); return;
    case KX_PEEK: fprintf(to, "(peek%u", kx->port); break;
    case KX_WINDOW: fprintf(to, "(window%u", kx->port); break;
    case KX_LEFT: fprintf(to, "(left"); break;
    case KX_ITEM: fprintf(to, "item.%c", "xyz"[kx->dimension]); return;
    case KX_PHASE: fprintf(to, "(phase"); break;
    case KX_FIRING: fprintf(to, "(firing"); break;
    case KX_DONE: fprintf(to, "(done"); break;
    case KX_INDEX: fprintf(to, "(%s index", type); break;
    case KX_MEMBER: fprintf(to, "(%s .%s", type, kx->left->type->fields[kx->member].name); break;
    case KX_BROADCAST: fprintf(to, "(broadcast"); break;
    case KX_NEGATE: fprintf(to, "(%s neg", type); break;
    case KX_COMPLEMENT: fprintf(to, "(%s ~", type); break;
    case KX_NOT: fprintf(to, "(!"); break;
    case KX_BINARY: fprintf(to, "(%s %s", type, operators[kx->op]); break;
    case KX_COMPARE:
    case KX_LOGICAL: fprintf(to, "(%s", operators[kx->op]); break;
    case KX_SELECT: fprintf(to, "(%s ?", type); break;
    case KX_CONVERT: fprintf(to, "(to-%s", type); break;
    case KX_ASSIGN:
        fprintf(to, "(%s%s%s", kx->postfix ? "post" : "", kx->op ? operators[kx->op] : "", "=");
        if (kx->operation) fprintf(to, ":%s", scalar_name(kx->operation->scalar));
        break;
    case KX_CALL: fprintf(to, "(%s %s", type, kx->function->name); break;
    case KX_BUILTIN: fprintf(to, "(%s %s", type, names[kx->builtin]); break;
    case KX_COMMA: fprintf(to, "(,"); break;
    case KX_AGGREGATE: fprintf(to, "({}"); break;
    }
    for (int i = 0; i < 3; i++)
        if (children[i]) fputc(' ', to), print_kx(to, children[i]);
    for (uint32_t i = 0; i < kx->argument_count; i++)
        if (kx->arguments[i]) fputc(' ', to), print_kx(to, kx->arguments[i]);
    fputc(')', to);
}

/* ---- programs ---- */

static const char *const TAIL = "\npipeline main(in i32 pi, out i32 po) { pi -> copy_ -> po; }\n"
                                "kernel copy_(in i32 x, out i32 y) { y <- x; }\n";

static struct text_compile *compile(const char *text)
{
    char program[8192];
    snprintf(program, sizeof program, "%s%s", text, TAIL);
    return text_compile(program);
}

static size_t count_errors(const char *messages)
{
    size_t count = 0;
    for (const char *at = messages; (at = strstr(at, " error: ")) != NULL; at++)
        count++;
    return count;
}

/* Exactly one error, with this text in it. */
static void assert_error(const char *text, const char *expected)
{
    struct text_compile *c = compile(text);
    char *messages = text_compile_messages(c);
    if (!strstr(messages, expected) || count_errors(messages) != 1)
        fail_msg("%s\nexpected one error with: %s\ngot: %s", text, expected, messages);
    free(messages);
    text_compile_free(c);
}

/* No error; `expected` among the messages, or no message at all where it is NULL. */
static void assert_accepted(const char *text, const char *expected)
{
    struct text_compile *c = compile(text);
    char *messages = text_compile_messages(c);
    if (!c->graph || (expected ? !strstr(messages, expected) : *messages))
        fail_msg("%s\nexpected: %s\ngot: %s", text, expected ? expected : "nothing", messages);
    free(messages);
    text_compile_free(c);
}

static void assert_body_error(const char *statements, const char *expected)
{
    char text[4096];
    snprintf(text, sizeof text,
             "fn i32 two(i32 a, i32 b) { return a + b; } const i32 LIST[3] = {1, 2, 3};\n"
             "kernel k(in i32 x peek 4, out i32 y push 2; i32 arg) {\n%s\n}",
             statements);
    assert_error(text, expected);
}

static void assert_body(const char *statements, const char *warning)
{
    char text[4096];
    snprintf(text, sizeof text,
             "fn i32 two(i32 a, i32 b) { return a + b; } const i32 LIST[3] = {1, 2, 3};\n"
             "kernel k(in i32 x peek 4, out i32 y push 2; i32 arg) {\n%s\n}",
             statements);
    assert_accepted(text, warning);
}

/* The typed tree of `expr` in a function with variables of all types, in the context `type`. */
static void assert_tree(const char *type, const char *expr, const char *expected)
{
    char text[4096], *tree = NULL;
    size_t size;
    snprintf(
        text, sizeof text,
        "const i32 LIST[3] = {10, 20, 30}; const int N = 4;\n"
        "fn f32 half_f32(f32 v) { return v; } fn f64 half_f64(f64 v) { return v; }\n"
        "fn f32 only_f32(f32 v) { return v; }\n"
        "fn %s f(bool b, u8 c, i16 h, i32 i, u32 u, i64 l, f32 s, f64 d, i32 a[3]) { return %s; }\n"
        "kernel k(in i32 x, out i32 y) { i32 a[3]; y <- (i32)f(true, 1, 2, 3, 4, 5, 6, 7, a); }\n"
        "pipeline main(in i32 pi, out i32 po) { pi -> k -> po; }\n",
        type, expr);
    struct text_compile *c = text_compile(text);
    char *messages = text_compile_messages(c);
    if (!c->graph) {
        fail_msg("%s\n%s", expr, messages);
        abort();
    }
    const struct function *function = NULL;
    for (size_t i = 0; i < c->graph->functions.count; i++)
        if (strcmp(c->graph->functions.items[i]->name, "f") == 0)
            function = c->graph->functions.items[i];
    if (!function) abort();
    FILE *to = open_memstream(&tree, &size);
    print_kx(to, function->body->body->expr);
    fclose(to);
    if (strcmp(tree, expected) != 0)
        fail_msg("%s\nexpected: %s\ngot:      %s", expr, expected, tree);
    free(tree);
    free(messages);
    text_compile_free(c);
}

/* ---- types of expressions ---- */

static void integers_take_the_wider_type_then_the_unsigned(void **state)
{
    (void)state;
    assert_tree("i32", "c + i", "(i32 + (to-i32 c:u8) i:i32)");
    assert_tree("u32", "u + i", "(u32 + u:u32 (to-u32 i:i32))");
    assert_tree("i64", "l + u", "(i64 + l:i64 (to-i64 u:u32))");
    assert_tree("i32", "b + b", "(i32 + (to-i32 b:bool) (to-i32 b:bool))");
    assert_tree("i32", "~b", "(i32 ~ (to-i32 b:bool))");
}

static void literals_take_the_type_of_the_other_operand_where_they_fit(void **state)
{
    (void)state;
    assert_tree("u8", "c + 255", "(u8 + c:u8 255:u8)");
    assert_tree("i32", "c + 256", "(i32 + (to-i32 c:u8) 256:i32)");
    assert_tree("i16", "h * -3", "(i16 * h:i16 -3:i16)");
    assert_tree("i64", "i + 3000000000", "(i64 + (to-i64 i:i32) 3000000000:i64)");
    assert_tree("i32", "i + N * 2", "(i32 + i:i32 8:i32)");
    assert_tree("u32", "i + 1u", "(u32 + (to-u32 i:i32) 1:u32)");
    assert_tree("i64", "i + 1L", "(i64 + (to-i64 i:i32) 1:i64)");
    assert_tree("u8", "c + (b ? 1 : 2)", "(u8 + c:u8 (u8 ? b:bool 1:u8 2:u8))");
}

static void floats_win_over_integers_and_wide_over_narrow(void **state)
{
    (void)state;
    assert_tree("f32", "s * i", "(f32 * s:f32 (to-f32 i:i32))");
    assert_tree("f64", "s * d", "(f64 * (to-f64 s:f32) d:f64)");
    assert_tree("f64", "d + 0.5", "(f64 + d:f64 0.5:f64)");
    assert_tree("f64", "0.5 * i", "(f64 * 0.5:f64 (to-f64 i:i32))");
    assert_tree("f64", "0.5f * i", "(to-f64 (f32 * 1056964608:f32 (to-f32 i:i32)))");
    assert_tree("f64", "i ? 0.5 : i", "(f64 ? (to-bool i:i32) 0.5:f64 (to-f64 i:i32))");
    assert_tree("i32", "0.5 * i", "(to-i32 (f32 * 1056964608:f32 (to-f32 i:i32)))");
    assert_tree("bool", "0.5 < i", "(< 1056964608:f32 (to-f32 i:i32))");
}

static void shifts_have_the_type_of_the_left_operand(void **state)
{
    (void)state;
    assert_tree("u8", "c << l", "(u8 << c:u8 l:i64)");
    assert_tree("i32", "1 << c", "(i32 << 1:i32 c:u8)");
    assert_tree("i32", "b >> 1", "(i32 >> (to-i32 b:bool) 1:i32)");
}

static void builtins_take_their_type_from_the_arguments(void **state)
{
    (void)state;
    assert_tree("f64", "floor(i)", "(f64 floor (to-f64 i:i32))");
    assert_tree("f32", "floor(i)", "(f32 floor (to-f32 i:i32))");
    assert_tree("f64", "floor(s)", "(to-f64 (f32 floor s:f32))");
    assert_tree("i32", "min(c, i)", "(i32 min (to-i32 c:u8) i:i32)");
    assert_tree("f64", "fma(s, 2, d)", "(f64 fma (to-f64 s:f32) 2:f64 d:f64)");
    assert_tree("u8", "max(c, 3)", "(u8 max c:u8 3:u8)");
    assert_tree("u32", "bits(s)", "(u32 bits s:f32)");
    assert_tree("f64", "from_bits(bits(d))", "(f64 from_bits (u64 bits d:f64))");
    assert_tree("bool", "isnan(i)", "(bool isnan (to-f32 i:i32))");
}

static void library_names_choose_by_the_type(void **state)
{
    (void)state;
    assert_tree("f32", "half(s)", "(f32 half_f32 s:f32)");
    assert_tree("f32", "half(i)", "(f32 half_f32 (to-f32 i:i32))");
    assert_tree("f64", "half(2)", "(f64 half_f64 2:f64)");
    assert_tree("f32", "half(d)", "(to-f32 (f64 half_f64 d:f64))");
    assert_tree("f64", "only(2)", "(to-f64 (f32 only_f32 1073741824:f32))");
}

static void constants_are_folded(void **state)
{
    (void)state;
    assert_tree("i32", "a[N - 2]", "(i32 index a:array 2:i32)");
    assert_tree("i32", "LIST[N - 2] + LIST[0]", "40:i32");
    assert_tree("i32", "(u8)300 + (true ? 1 : 2)", "45:i32");
    assert_tree("i32", "i / 0", "(i32 / i:i32 0:i32)");
    assert_tree("bool", "b && false", "(&& b:bool 0:bool)");
    assert_tree("bool", "N > 3 || b", "1:bool");
}

static void conversions_are_explicit_in_the_tree(void **state)
{
    (void)state;
    assert_tree("bool", "i", "(to-bool i:i32)");
    assert_tree("u8", "s", "(to-u8 s:f32)");
    assert_tree("i32", "b ? i : c", "(i32 ? b:bool i:i32 (to-i32 c:u8))");
    assert_tree("bool", "!i && d", "(&& (! (to-bool i:i32)) (to-bool d:f64))");
    assert_tree("u8", "c += i", "(+=:i32 c:u8 i:i32)");
    assert_tree("i32", "i *= 0.5", "(*=:f32 i:i32 1056964608:f32)");
    assert_tree("u8", "c++", "(post+=:u8 c:u8 1:u8)");
    assert_tree("u8", "--c", "(-=:u8 c:u8 1:u8)");
}

/* ---- kernels ---- */

static struct kernel *first_kernel(struct text_compile *c)
{
    char *messages = text_compile_messages(c);
    if (!c->graph) {
        fail_msg("%s", messages);
        abort();
    }
    free(messages);
    return c->graph->kernels.items[0];
}

static void ports_rates_and_parameters_are_filled(void **state)
{
    (void)state;
    struct text_compile *c =
        text_compile("const int N = 3;\n"
                     "kernel k<int M>(in f32 x[2] pop M peek M * 3/2, in u8 z, out f64 y push 2*N; "
                     "f64 g = 2 * N, u8 h = 1) {\n"
                     "  state u8 flag; state f64 last = g; table i16 t[M] = {1, 2};\n"
                     "  init { t[3] = h; }\n"
                     "  y[0] = x[1][2] + x[0] + z; }\n"
                     "pipeline main(in f32 a, in u8 c, out f64 b) { k<4>(a, a, c -> b); }\n");
    struct kernel *k = first_kernel(c);
    assert_string_equal(k->title, "k<4>");
    assert_int_equal(k->in_count, 2);
    assert_int_equal(k->in[0].arity, 2);
    assert_true(k->in[0].is_array && k->in[0].rate_declared && !k->in[1].rate_declared);
    assert_int_equal(k->in[0].pop, 4);
    assert_int_equal(k->in[0].peek, 6);
    assert_int_equal(k->in[1].pop, 1);
    assert_int_equal(k->in[1].peek, 1);
    assert_int_equal(k->out[0].push, 6);
    assert_true(k->out[0].indexed);
    assert_int_equal(k->arguments[1]->offset_bytes, 8);
    assert_int_equal(k->states.items[1]->offset_bytes, 8);
    assert_int_equal(k->state_bytes, 16);
    assert_int_equal(k->tables_bytes, 8);
    assert_int_equal(k->argument_defaults[1]->value.bits, 1);
    /* last = g; t = {1, 2}; then init's own block */
    const struct ks *init = k->init->body;
    assert_int_equal(init->kind, KS_EXPR);
    assert_string_equal(init->expr->left->variable->name, "last");
    assert_int_equal(init->next->expr->right->kind, KX_AGGREGATE);
    assert_int_equal(init->next->next->kind, KS_BLOCK);
    assert_null(init->next->next->next);
    text_compile_free(c);
}

static void equal_parameters_give_the_same_kernel(void **state)
{
    (void)state;
    struct text_compile *c = text_compile(
        "kernel k<int M>(in f32 x peek M, out f32 y) { y <- x[M - 1]; }\n"
        "pipeline main(in f32 a, out f32 b) { a -> k<2> -> k<3> -> k<1 + 1> -> b; }\n");
    first_kernel(c);
    assert_int_equal(c->graph->kernels.count, 2);
    assert_ptr_equal(c->graph->nodes.items[0].kernel, c->graph->nodes.items[2].kernel);
    text_compile_free(c);
}

static void finish_may_read_the_tail(void **state)
{
    (void)state;
    struct text_compile *c =
        text_compile("kernel k(in i32 x pop 8, out i32 y) { y <- x;\n"
                     "  finish push 7 { for (i32 i = 0; i < left(x); i++) y <- x[i]; } }\n"
                     "pipeline main(in i32 a, out i32 b) { a -> k -> b; }\n");
    struct kernel *k = first_kernel(c);
    assert_true(k->out[0].finish_declared);
    assert_int_equal(k->out[0].finish_max, 7);
    assert_int_equal(k->finish->body->kind, KS_LOOP);
    text_compile_free(c);
}

static void a_known_condition_chooses_its_arm(void **state)
{
    (void)state;
    struct text_compile *c =
        text_compile("kernel k<int N>(in i32 x, out i32 y) { if (N > 1) y <- 1; else y <- 2; }\n"
                     "pipeline main(in i32 a, out i32 b) { a -> k<1> -> b; }\n");
    struct kernel *k = first_kernel(c);
    assert_int_equal(k->body->body->kind, KS_BLOCK);
    assert_int_equal(k->body->body->body->expr->value.bits, 2);
    text_compile_free(c);
}

/* ---- what is accepted ---- */

static void statements_of_c_are_accepted(void **state)
{
    (void)state;
    assert_body("i32 a = 1, b[3] = {1, 2}, c[3]; c = b; a += c[1]; a <<= 2;\n"
                "do a--; while (a > 3); while (a) { if (a == 2) break; else a--; continue; }\n"
                "switch (a) { case 0: case 1: a = 3; break; default: { i32 q = 1; a = q; } }\n"
                "for (a = 0, b[1] = 2; a < 2; a++, b[0]++) y <- a ? b[0] : (a, c[2]); ;",
                NULL);
}

static void shadowing_is_allowed(void **state)
{
    (void)state;
    assert_body("i32 x = x[1]; { f32 x = x; i32 arg = 3; for (i32 x = 0; x < 2; x++) y <- arg; }",
                NULL);
    assert_accepted("kernel floor(in f32 x, out f32 y) { y <- floor(x); }\n", NULL);
    assert_accepted(
        "fn f32 sqrt(f32 v) { return v + 1; } kernel k(in f32 x, out f32 y) { y <- sqrt(x); }",
        NULL);
}

static void constants_of_bodies_may_depend_on_packets(void **state)
{
    (void)state;
    assert_body("const i32 n = x + 1; const int M = 2; const i32 t[M] = {n, 2}; y <- t[0]; y <- n;",
                NULL);
    assert_body_error("const i32 n = x + 1; n = 3; y <- n; y <- n;", "it is const");
    assert_body_error("const i32 n = x; i32 a[n]; y <- 1; y <- 2;", "'n' is not [not-constant]");
}

/* ---- warnings ---- */

static void narrow_results_that_are_widened_are_warned_about(void **state)
{
    (void)state;
    assert_body("i64 w = x * x; y <- 1; y <- 2;",
                "the product is computed in i32 and widened to i64");
    assert_body("i64 w = (i64)(x + 1) ; y <- 1; y <- 2;", "(i64)x");
    assert_body("u8 c = 1; u16 w = (c + c) / 2; y <- 1; y <- 2;", "the sum is computed in u8");
    assert_body("i64 w = 1; w += x << 3; y <- 1; y <- 2;", "the shift is computed in i32");
}

static void results_that_cannot_overflow_are_not_warned_about(void **state)
{
    (void)state;
    assert_body("i64 w = (i64)x * x; u8 c = 1; i64 v = (i32)c * (i32)c + 1; i64 u = (x & 255) * 2; "
                "y <- 1; y <- 2;",
                NULL);
    assert_body("i64 w = x; i64 v = x / 3; f32 f = x * x; i64 u = x % 5 + 1; y <- 1; y <- 2;",
                NULL);
}

static void constants_that_do_not_fit_are_warned_about(void **state)
{
    (void)state;
    assert_body("u8 a = 300; y <- 1; y <- 2;", "300 does not fit u8 and becomes 44");
    assert_body("u32 a = -1; y <- 1; y <- 2;", "(u32)(-1)");
    assert_body("i32 a = 2.5; y <- 1; y <- 2;", "2.5 is not a value of i32 and becomes 2");
    assert_body("u8 a = (u8)300; u32 b = (u32)-1; i32 c = 4.0; bool d = 5; y <- 1; y <- 2;", NULL);
}

/* ---- what is refused ---- */

static void names_are_checked(void **state)
{
    (void)state;
    assert_body_error("i32 count = 1; y <- cuont; y <- 1;", "did you mean 'count'?");
    assert_body_error("y <- tow(1, 2); y <- 1;", "did you mean 'two'?");
    assert_body_error("y <- sin(1); y <- 1;", "import \"std/math.pipe\"");
    assert_body_error("y <- two; y <- 1;", "call it: two(...)");
    assert_body_error("i32 a; f32 a; y <- 1; y <- 2;", "'a' is declared twice");
    assert_body_error("y <- arg(3); y <- 2;", "not a function");
    assert_body_error("float f = 1; y <- f; y <- f;", "did you mean 'f32'?");
    assert_body_error("z <- 1; y <- 1; y <- 2;", "there is no out-port 'z'");
    assert_error("kernel k(in f32 x, out f32 x) { x <- 1; }", "'x' is declared twice");
}

static void an_error_has_no_consequences(void **state)
{
    (void)state;
    assert_body_error("i32 a = nothing + 1; a += 2; y <- a * a; y <- a;",
                      "there is no variable 'nothing'");
    assert_body_error("pixel p = 3; y <- p + 1; y <- p[2];", "there is no type 'pixel'");
    assert_body_error("const i32 c = 1 / 0; y <- c; y <- LIST[c];", "constant-fault");
    assert_error("fn i32 f() { return bad; } fn i32 g() { return f(); }\n"
                 "kernel k(in i32 x, out i32 y) { y <- f() + g(); }",
                 "there is no variable 'bad'");
    assert_error("const i32 A = BAD; kernel k(in i32 x, out i32 y) { y <- A + A; }",
                 "there is no variable 'BAD'");
}

static void errors_of_a_specialisation_are_reported_once(void **state)
{
    (void)state;
    struct text_compile *c =
        text_compile("kernel k<int N>(in f32 x, out f32 y) { y <- bad; }\n"
                     "pipeline main(in f32 a, out f32 b) { a -> k<2> -> k<3> -> b; }\n");
    char *messages = text_compile_messages(c);
    assert_null(c->graph);
    assert_int_equal(count_errors(messages), 1);
    free(messages);
    text_compile_free(c);
}

static void ports_are_used_as_they_are_meant(void **state)
{
    (void)state;
    assert_body_error("y = 3; y <- 1; y <- 2;", "write 'y <- value;'");
    assert_body_error("x = 3; y <- 1; y <- 2;", "the packets of an in-port are read only");
    assert_body_error("x[1] += 3; y <- 1; y <- 2;", "the packets of an in-port are read only");
    assert_body_error("y <- y; y <- 2;", "the out-port 'y' cannot be read");
    assert_body_error("y[0] += 2; y[1] = 1;", "the out-port 'y' cannot be read");
    assert_body_error("y[0] <- 2; y <- 1;", "'y[0] = value;' writes one packet");
    assert_body_error("y[0] = 2; y <- 1;", "either appended or written by index");
    assert_body_error("i32 a = y[0] = 2; y[1] = 2;", "by a statement of its own");
    assert_body_error("y <- x[1][2]; y <- 2;", "has no elements");
    assert_error("kernel k(in i32 x, out i32 y) { y[0] = x; }", "declare 'push N'");
    assert_error("kernel k(in i32 x[2], out i32 y) { y <- x; }", "'x' is an array of 2 ports");
    assert_error("kernel k(in i32 x, out i32 y[2]) { y <- x; }", "say which: y[0]");
}

static void assignments_need_something_that_can_be_written(void **state)
{
    (void)state;
    assert_body_error("arg = 3; y <- 1; y <- 2;", "run-time arguments are read only");
    assert_body_error("LIST[0] = 3; y <- 1; y <- 2;", "it is a constant");
    assert_body_error("two(1, 2) = 3; y <- 1; y <- 2;", "cannot be assigned");
    assert_body_error("table i32 t[2]; t[0] = 3; y <- 1; y <- 2;", "a table is set in 'init'");
    assert_body_error("5 = 3; y <- 1; y <- 2;", "cannot be assigned");
}

static void types_are_checked(void **state)
{
    (void)state;
    assert_body_error("int n = 3; y <- n; y <- n;", "write i32");
    assert_body_error("i32 a[2], b[3]; a = b; y <- 1; y <- 2;",
                      "what is assigned is i32[2], but the value is i32[3]");
    assert_body_error("i32 a[2]; y <- a + 1; y <- 2;",
                      "'+' does not take i32[2] and an integer literal");
    assert_body_error("i32 a[2] = {1, 2, 3}; y <- 1; y <- 2;", "too many values in braces");
    assert_body_error("i32 a[2] = 0; y <- 1; y <- 2;", "but the value is an integer literal");
    assert_body_error("y <- two(1); y <- 2;", "'two' takes 2 arguments, got 1");
    assert_body_error("y <- min(1, 2, 3); y <- 2;", "'min' takes 2 arguments, got 3");
    assert_body_error("y <- x[1.5]; y <- 2;",
                      "the index of a packet is an integer, not a float literal");
    assert_body_error("y <- 1.5f % 2; y <- 2;", "'%' takes integers, not f32");
    assert_body_error("y <- ~1.5f; y <- 2;", "the operand of '~' is an integer");
    assert_body_error("y <- arg[1]; y <- 2;", "i32 has no elements");
    assert_body_error("switch (1.5f) { } y <- 1; y <- 2;", "the value of a switch is an integer");
    assert_error("fn void v() { } kernel k(in i32 x, out i32 y) { y <- v(); }",
                 "the function is void");
    assert_error("fn f32 h_f32(f32 v) { return v; } kernel k(in f64 x, out f64 y) { y <- h(x); }",
                 "there is no 'h' for f64");
}

static void statements_stand_where_they_mean_something(void **state)
{
    (void)state;
    assert_body_error("break; y <- 1; y <- 2;", "'break' stands only in a loop or a switch");
    assert_body_error("switch (x) { default: continue; } y <- 1; y <- 2;",
                      "'continue' stands only in a loop");
    assert_body_error("case 1: y <- 1; y <- 2;", "'case' stands directly in the block of a switch");
    assert_body_error("switch (x) { case 1: if (x) { case 2: ; } } y <- 1; y <- 2;",
                      "'case' stands directly");
    assert_body_error("switch (x) { case 1: i32 a = 1; break; case 2: break; } y <- 1; y <- 2;",
                      "jump past");
    assert_body_error("switch (x) { case 1: break; case 2 - 1: break; } y <- 1; y <- 2;",
                      "duplicate-case");
    assert_body_error("u8 c; switch (c) { case 256: break; } y <- 1; y <- 2;",
                      "the switch is over u8, which is never 256");
    assert_body_error("return 3; y <- 1; y <- 2;", "the body of a kernel returns no value");
    assert_body_error("if (x) { init { } } y <- 1; y <- 2;", "'init' stands directly");
    assert_body_error("init { } init { } y <- 1; y <- 2;", "a kernel has one 'init'");
    assert_body_error("init { y <- 1; } y <- 1; y <- 2;", "cannot write packets");
    assert_body_error("init { i32 a = x; } y <- 1; y <- 2;", "cannot read the in-port 'x'");
    assert_body_error("i32 a; finish { a = 1; } y <- 1; y <- 2;", "does not exist in 'finish'");
    assert_body_error("y <- left(x); y <- 2;", "stands in 'finish' only");
    assert_error("kernel k(in i32 x, in i32 z, out i32 y) { y <- x; finish { y <- z; } }",
                 "with one in-port");
    assert_error("fn i32 f() { state i32 s; return 1; }", "not in functions");
}

static void functions_return_on_all_paths(void **state)
{
    (void)state;
    assert_error("fn i32 f(i32 a) { if (a) return 1; }", "missing-return");
    assert_error("fn i32 f(i32 a) { while (a) return 1; }", "missing-return");
    assert_error("fn i32 f(i32 a) { for (;;) { if (a) break; } }", "missing-return");
    assert_error("fn i32 f(i32 a) { switch (a) { case 1: return 1; } }", "missing-return");
    assert_error("fn i32 f(i32 a) { return; }", "returns i32, and here nothing");
    assert_accepted("fn i32 f(i32 a) { if (a) return 1; else return 2; }", NULL);
    assert_accepted("fn i32 f(i32 a) { for (;;) { if (a) return 1; a++; } }", NULL);
    assert_accepted("fn i32 f(i32 a) { switch (a) { case 1: a++; default: return a; } }", NULL);
    assert_accepted("fn i32 f(i32 a) { do { return a; } while (true); }", NULL);
}

static void recursion_is_an_error_that_names_the_cycle(void **state)
{
    (void)state;
    assert_error("fn i32 f(i32 n) { return f(n - 1); }", "'f' calls itself");
    assert_error("fn i32 f(i32 n) { return g(n); } fn i32 g(i32 n) { return h(n); } fn i32 h(i32 "
                 "n) { return f(n); }",
                 "'f' calls 'g', which calls 'h', which calls 'f'");
}

static void rates_are_checked(void **state)
{
    (void)state;
    assert_error("kernel k(in i32 x pop 3 peek 2, out i32 y) { y <- x; }", "peek 2");
    assert_error("kernel k(in i32 x pop 0, out i32 y) { y <- x; }", "'pop' is at least 1");
    assert_error("kernel k(in i32 x, out i32 y push 3/2) { y <- x; }",
                 "'push' is a whole number, not 3/2");
    assert_error("kernel k(in i32 x, out i32 y push 4294967296) { y <- x; }", "too-large");
    assert_error("kernel k(in i32 x peak 2, out i32 y) { y <- x; }", "did you mean 'peek'?");
    assert_error("kernel k(in i32 x push 2, out i32 y) { y <- x; }",
                 "'push' belongs to an out-port");
    assert_error("kernel k(in i32 x pop 2 pop 2, out i32 y) { y <- x; }", "'pop' is given twice");
    assert_error("kernel k(in i32 x[0], out i32 y) { y <- 1; }", "at least 1 port");
    assert_error("kernel k(in i32 x[65537], out i32 y) { y <- 1; }", "at most 65536 ports");
    assert_error("kernel k(in i32 x, out i32 y; i32 n) { i32 a[n]; y <- 1; }",
                 "'n' is not [not-constant]");
}

static void what_is_not_compiled_yet_is_refused_by_name(void **state)
{
    (void)state;
    assert_body_error("y <- item.x; y <- 1;", "'item.x' belongs to a kernel with work-items");
    assert_body_error("barrier(); y <- 1; y <- 2;",
                      "'barrier' belongs to a kernel with work-items");
    assert_body_error("local i32 a; y <- 1; y <- 2;",
                      "'local' belongs to a kernel with work-items");
    assert_body_error("launch k(1); y <- 1; y <- 2;", "'k' is not a child kernel");
    assert_error("struct pair { i32 a; i32 b; };\n"
                 "kernel k(in i32 x, out i32 y; pair a[2]) { y <- x; }",
                 "a run-time argument is a scalar, a vector, or an array of these");
}

static void sizes_beyond_the_limits_are_refused(void **state)
{
    (void)state;
    assert_body_error("i32 a[300000]; y <- 1; y <- 2;", "a local variable has at most 1 MiB");
    assert_body_error("state i32 a[300000000]; y <- 1; y <- 2;", "more than 1 GiB");
    assert_body_error("table i32 a[200000000], b[200000000]; y <- 1; y <- 2;", "the tables of 'k'");
    assert_body_error("i32 a[0]; y <- 1; y <- 2;", "at least 1 element");
    assert_error("fn i32 f() { i32 a[250000], b[250000], c[250000]; return a[1]; }\n"
                 "fn i32 g() { i32 a[250000], b[250000]; return f() + a[1]; }",
                 "at most 4 MiB");
}

TEST_MAIN("sema_body", cmocka_unit_test(integers_take_the_wider_type_then_the_unsigned),
          cmocka_unit_test(literals_take_the_type_of_the_other_operand_where_they_fit),
          cmocka_unit_test(floats_win_over_integers_and_wide_over_narrow),
          cmocka_unit_test(shifts_have_the_type_of_the_left_operand),
          cmocka_unit_test(builtins_take_their_type_from_the_arguments),
          cmocka_unit_test(library_names_choose_by_the_type),
          cmocka_unit_test(constants_are_folded),
          cmocka_unit_test(conversions_are_explicit_in_the_tree),
          cmocka_unit_test(ports_rates_and_parameters_are_filled),
          cmocka_unit_test(equal_parameters_give_the_same_kernel),
          cmocka_unit_test(finish_may_read_the_tail),
          cmocka_unit_test(a_known_condition_chooses_its_arm),
          cmocka_unit_test(statements_of_c_are_accepted), cmocka_unit_test(shadowing_is_allowed),
          cmocka_unit_test(constants_of_bodies_may_depend_on_packets),
          cmocka_unit_test(narrow_results_that_are_widened_are_warned_about),
          cmocka_unit_test(results_that_cannot_overflow_are_not_warned_about),
          cmocka_unit_test(constants_that_do_not_fit_are_warned_about),
          cmocka_unit_test(names_are_checked), cmocka_unit_test(an_error_has_no_consequences),
          cmocka_unit_test(errors_of_a_specialisation_are_reported_once),
          cmocka_unit_test(ports_are_used_as_they_are_meant),
          cmocka_unit_test(assignments_need_something_that_can_be_written),
          cmocka_unit_test(types_are_checked),
          cmocka_unit_test(statements_stand_where_they_mean_something),
          cmocka_unit_test(functions_return_on_all_paths),
          cmocka_unit_test(recursion_is_an_error_that_names_the_cycle),
          cmocka_unit_test(rates_are_checked),
          cmocka_unit_test(what_is_not_compiled_yet_is_refused_by_name),
          cmocka_unit_test(sizes_beyond_the_limits_are_refused))
