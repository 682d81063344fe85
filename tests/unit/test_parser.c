/* SPDX-License-Identifier: MIT */
#include "compiler/diagnostics/diag_set.h"
#include "tests/test.h"

#include <dirent.h>
#include <locale.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/syntax/ast_print.h"
#include "compiler/syntax/parse.h"

struct fixture {
    struct compile cx;
    struct ast_program *program;
    char *shown, *tree;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    return f ? 0 : -1;
}

/* A fresh compilation; what the last one showed is kept until the next. */
static void begin(struct fixture *f)
{
    if (f->cx.arena) arena_destroy(f->cx.arena);
    free(f->shown);
    free(f->tree);
    memset(f, 0, sizeof *f);
    f->cx.arena = arena_create();
    f->cx.names = intern_create(f->cx.arena);
    f->cx.sources = sources_create(f->cx.arena);
    f->cx.diags = diags_create(f->cx.arena, f->cx.sources);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    begin(f);
    arena_destroy(f->cx.arena);
    free(f);
    return 0;
}

static size_t parse_source(struct fixture *f, uint32_t id)
{
    size_t size;
    f->program = parse_program(&f->cx, id);
    FILE *to = open_memstream(&f->shown, &size);
    diag_flush(f->cx.diags, to, false);
    fclose(to);
    to = open_memstream(&f->tree, &size);
    ast_print(to, f->program);
    fclose(to);
    return diag_error_count(f->cx.diags);
}

static size_t parse_bytes(struct fixture *f, const char *bytes, size_t size_bytes)
{
    begin(f);
    return parse_source(f, source_add(f->cx.sources, "t.pipe", bytes, size_bytes));
}

static size_t parse(struct fixture *f, const char *text)
{
    return parse_bytes(f, text, strlen(text));
}

/* The first lines of the diagnostics, one a line. */
static const char *errors(struct fixture *f)
{
    char *to = arena_string(f->cx.arena, f->shown, strlen(f->shown)), *text = to;
    for (const char *line = f->shown; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        if (strncmp(line, "t.pipe:", 7) == 0 && strstr(line, ": error: ") &&
            strstr(line, ": error: ") < line + length) {
            memcpy(to, line + 7, length - 7);
            to += length - 7;
        }
        line += length;
    }
    *to = '\0';
    return text;
}

static void expect_errors(struct fixture *f, const char *text, const char *expected)
{
    parse(f, text);
    assert_string_equal(errors(f), expected);
}

/* ---- accepted and rejected ---- */

static void programs_of_the_accept_folder_are_accepted(void **state)
{
    struct fixture *f = *state;
    const char *root = getenv("ROOT");
    char folder[4096], path[8192];
    int count = 0;
    snprintf(folder, sizeof folder, "%s/tests/syntax/accept", root ? root : ".");
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        if (!strstr(entry->d_name, ".pipe")) continue;
        uint32_t id;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        begin(f);
        assert_int_equal(source_read(f->cx.sources, path, &id), SOURCE_OK);
        parse_source(f, id);
        if (*f->shown) fail_msg("%s", f->shown);
        count++;
    }
    if (entries) closedir(entries);
    assert_true(count >= 10);
}

enum place { BODY, NET, PORT, TOP };
static const struct {
    enum place place;
    bool accepted;
    const char *text;
} snippets[] = {
    {BODY, false, "if (x <-1) y <- 1;"},
    {BODY, false, "i = a<-b;"},
    {BODY, false, "y <- a, b;"},
    {BODY, false, "i = (T)a;"},
    {BODY, false, "i = (T)-a * 2 b;"},
    {BODY, false, "i = (T)(a);"},
    {BODY, false, "i = a->b;"},
    {BODY, false, "i = &a;"},
    {BODY, false, "i = *a;"},
    {BODY, false, "goto l;x"},
    {BODY, false, "i = f<3>(x;"},
    {BODY, false, "y <- {1, 2};"},
    {BODY, false, "i = {1};"},
    {BODY, false, "i = 8x8;"},
    {BODY, false, "stop();"},
    {BODY, false, "i32 stop = 1;"},
    {BODY, false, "launch f;"},
    {BODY, false, "state x;"},
    {BODY, false, "i32 a[];"},
    {BODY, false, "f32 *p;"},
    {BODY, false, "y <- z <- 3;"},
    {BODY, false, "(y <- 3);"},
    {BODY, false, "i = 2x;"},
    {BODY, false, "i = 0xg;"},
    {BODY, false, "finish y <- 1;"},
    {BODY, false, "i = \"abc"},
    {BODY, false, "case: i = 1;"},
    {BODY, false, "a++ b;"},
    {BODY, false, "(a) b;"},
    {BODY, false, "f(x) b[2];"},
    {BODY, false, "i = 08;"},
    {BODY, false, "i = 18446744073709551616;"},
    {BODY, false, "i = 0x10000000000000000;"},
    {BODY, false, "i = 1e999;"},
    {BODY, false, "i = 1e39f;"},
    {BODY, false, "i = 1.5.5;"},
    {BODY, false, "i = 1lul;"},
    {BODY, false, "i = '';"},
    {BODY, false, "i = 'ab';"},
    {BODY, false, "i = '\\q';"},
    {BODY, false, "i = '\\400';"},
    {BODY, false, "i = '\\x';"},
    {BODY, false, "i = '\xC3\xA9';"},
    {BODY, false, "i = 'a"},
    {BODY, true, "y <- a < -b;"},
    {BODY, true, "y <- a == b ? c : d;"},
    {BODY, true, "y <- x = 3;"},
    {BODY, true, "y[0][i + 1] <- x[-1][0];"},
    {BODY, true, "i = (a) -1;"},
    {BODY, true, "i = (f32)-a;"},
    {BODY, true, "T (a);"},
    {BODY, true, "pixel[3] p[2], q;"},
    {BODY, true, "a[3] = 4;"},
    {BODY, true, "i32 state_ = 1;"},
    {BODY, true, "i = 18446744073709551615 + 0xffffffffffffffffu;"},
    {BODY, true, "i = 1e308 + 3.4e38f + 1e-999;"},
    {BODY, true, "i = '\"' + '\\377' + '\\xfF' + '\\?';"},
    {BODY, true, "\f\v y <- 1;\r y <- 2;"},
    {NET, false, "k<a > b>(x -> y);"},
    {NET, false, "k<a < b>(x -> y);"},
    {NET, false, "k<-1>(x -> y);"},
    {NET, false, "k(x, y);  z"},
    {NET, false, "l: m: k(x -> y);"},
    {NET, false, "k(x -> y -> z);"},
    {NET, false, "k(x -> y; 1; 2);"},
    {NET, false, "x -> y"},
    {NET, false, "x y;"},
    {NET, false, "buffer a;"},
    {NET, false, "buffer f32;"},
    {NET, false, "buffer f32 a depth;"},
    {NET, false, "buffer f32 a depth 3 init;"},
    {NET, false, "buffer f32 a init 2 x;"},
    {NET, false, "buffer f32 a frame 2x;"},
    {NET, false, "buffer f32 a frame 640 x480;"},
    {NET, false, "x = 3;"},
    {NET, false, "i + 1;"},
    {NET, false, "k(x -> y) importance;"},
    {NET, true, "k<(a > b), c>(x -> y);"},
    {NET, true, "k< -1>(x -> y);"},
    {NET, true, "k<u8[3][3], T[2], N*2>(x -> y);"},
    {NET, true, "k(x[0], w -> y[1][2]; 1, a < b, c > d);"},
    {NET, true, "noise(42) -> k -> z;"},
    {NET, true, "x -> k(1) cost 3*4 -> y;"},
    {NET, true, "buffer f32 a init 2 x -1, b init 2 x {1, 2}, c init N x (M), d init {-1, 1};"},
    {NET, true, "if (N > 1) x -> y; else y -> z;"},
    {PORT, false, "in x"},
    {PORT, false, "f32 x"},
    {PORT, false, "in f32 x pop"},
    {PORT, false, "in f32 x window 3x"},
    {PORT, false, "in f32 x window 3 x"},
    {PORT, false, "in f32 x border"},
    {PORT, false, "out f32 y push 1.."},
    {PORT, false, "out f32 y push .."},
    {PORT, false, "out f32 y push {1"},
    {PORT, false, "in f32 x peek 2 pop"},
    {PORT, true, "in f32 x"},
    {PORT, true, "in T x[N] pop N peek (N) + 1"},
    {PORT, true, "out f32 y push max(2, N) amplify 3/2"},
    {PORT, true, "in u8[3][3] x[4] window 3x3 border zero pop 1"},
    {TOP, false, "kernel k<N>(in f32 x) { }"},
    {TOP, false, "kernel k(in f32 x) amplify { }"},
    {TOP, false, "kernel k(in f32 x);"},
    {TOP, false, "pipeline p(in f32 x)"},
    {TOP, false, "struct s { f32 x; }"},
    {TOP, false, "fn f() { }"},
    {TOP, false, "extern kernel k(in f32 x) { }"},
    {TOP, false, "child pipeline p() { }"},
    {TOP, false, "test t { }"},
    {TOP, false, "test t of { }"},
    {TOP, false, "const N = 3;"},
    {TOP, false, "f32 x = 3;"},
    {TOP, false, "import std;"},
    {TOP, false, "import \"a\\0b\";"},
    {TOP, false, "}"},
    {TOP, false, "/* no end"},
    {TOP, true, ";;"},
    {TOP, true, "// only a comment"},
    {TOP, true, "/**//***/ /* // */"},
};

static void every_snippet_is_judged_as_the_reference_says(void **state)
{
    static const char *const around[][2] = {
        [BODY] = {"kernel k(in f32 x, out f32 y) { ", " }\n"},
        [NET] = {"pipeline p(in f32 x, out f32 y) { ", " }\n"},
        [PORT] = {"kernel k(", ") { }\n"},
        [TOP] = {"", "\n"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof snippets / sizeof *snippets; i++) {
        char text[512];
        const char *const *frame = around[snippets[i].place];
        snprintf(text, sizeof text, "%s%s%s", frame[0], snippets[i].text, frame[1]);
        size_t count = parse(f, text);
        if ((count == 0) != snippets[i].accepted || (count > 0) != (*f->shown != '\0'))
            fail_msg("%s: %zu errors\n%s", snippets[i].text, count, f->shown);
        /* One mistake, one message (a lost bracket or quote may take a second one with it). */
        if (count > 2) fail_msg("%s: %zu errors\n%s", snippets[i].text, count, f->shown);
    }
}

/* ---- the tree ---- */

static void tree_keeps_what_was_written(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parse(f, "/// Doubles.\n///\n///  twice\r\n"
                              "kernel k<int N, type T>(in T x[2] pop {3, 1}, out u8x4 y push ..N;"
                              " f32 g = 1.5) amplify 3/2 of x window 3 x 5 init 2 x {1} {\n"
                              "  state T[2] s[3] = {.a = 1, 2..3}, t;\n"
                              "  y[0] <- -x[0][1]++ * (a, b) ? f32(c) : (u8)d.e;\n"
                              "  a = b <<= 0x1Fu; event e[2] = launch c<2>(1) after e, h;\n"
                              "}\n"
                              "pipeline p() { l: k<2, f32[3]>(a, b -> c; 1) cost 2 -> b[0]; }\n"
                              "test t of p<1>(2) { x = {}; expect a == b within 2 ulp; }\n"),
                     0);
    assert_string_equal(f->tree, "file\n"
                                 "  /// Doubles.\n"
                                 "  ///\n"
                                 "  ///  twice\n"
                                 "  kernel k\n"
                                 "    generic int N\n"
                                 "    generic type T\n"
                                 "    in T x[2]\n"
                                 "      attribute pop {3, 1}\n"
                                 "    out u8x4 y\n"
                                 "      attribute push ( .. N)\n"
                                 "    param f32 g = 0x1.8p+0\n"
                                 "    attribute amplify (3 / 2) of x\n"
                                 "    attribute window 3 x 5\n"
                                 "    attribute init (2 x {1})\n"
                                 "    block\n"
                                 "      state T[2] s[3] = {.a = 1, (2 .. 3)}\n"
                                 "      state T[2] t\n"
                                 "      emit y[0] <- (((-(x[0][1]++)) * (a , b)) ? f32(c) : "
                                 "((u8)d.e))\n"
                                 "      eval (a = (b <<= 31u))\n"
                                 "      event event e[2]\n"
                                 "      launch c<2>(1) after e, h\n"
                                 "  pipeline p\n"
                                 "    block\n"
                                 "      chain\n"
                                 "        node l: k<2, f32[3]()>(a, b -> c; 1)\n"
                                 "          attribute cost 2\n"
                                 "        node b[0]\n"
                                 "  test t of p<1>(2)\n"
                                 "    set x {}\n"
                                 "    expect a == b within 2 ulp\n");
}

static struct ast_expr *constant(struct fixture *f, const char *text)
{
    char source[256];
    snprintf(source, sizeof source, "const f64 c = %s;", text);
    parse(f, source);
    return f->program->files->items->declarators->init;
}

static void literals_have_their_values(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(constant(f, "0x1F")->integer.value, 31);
    assert_int_equal(constant(f, "017")->integer.value, 15);
    assert_int_equal(constant(f, "'\\n'")->integer.value, 10);
    assert_int_equal(constant(f, "'\\x41'")->integer.value, 65);
    assert_int_equal(constant(f, "'\\0'")->integer.value, 0);
    assert_true(constant(f, "18446744073709551615")->integer.value == UINT64_MAX);
    assert_true(constant(f, "99999999999999999999")->integer.too_large);
    assert_true(constant(f, "1uL")->integer.is_unsigned);
    assert_true(constant(f, "1uL")->integer.is_long);
    assert_true(constant(f, ".5e1")->floating.value == 5.0);
    assert_true(constant(f, "0.1")->floating.value == 0.1);
    assert_true(constant(f, "0.1f")->floating.value == (double)0.1f);
    assert_true(constant(f, "2f")->floating.is_f32);
    /* Half way between two f32 in f64, above it in the text: rounded once it goes up. */
    assert_true(constant(f, "1.00000005960464477540")->floating.value_f32 > 1.0f);
    struct ast_expr *string = constant(f, "\"a\\tb\\0c\"");
    assert_int_equal(string->string.size_bytes, 5);
    assert_memory_equal(string->string.bytes, "a\tb\0c", 6);
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    struct fixture *f = *state;
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (size_t i = 0; i < 3 && !setlocale(LC_ALL, comma[i]); i++)
        ;
    assert_true(constant(f, "1.5")->floating.value == 1.5);
    setlocale(LC_ALL, "C");
}

static void documentation_belongs_to_the_next_item(void **state)
{
    struct fixture *f = *state;
    parse(f, "/// of the file\n\n/// of a\n/// second line\n// plain\nconst int a = 1;\n"
             "const int b = 2; //// no\nfn void c() { /// inside\n return; }\n"
             "/// of d\n\nchild kernel d() { }\n/// at the end\n");
    const struct ast_item *a = f->program->files->items;
    assert_string_equal(a->documentation, "of a\nsecond line");
    assert_null(a->next->documentation);
    assert_null(a->next->next->documentation);
    assert_string_equal(a->next->next->next->documentation, "of d");
}

/* ---- places and recovery ---- */

static void independent_errors_are_all_reported_and_nothing_else(void **state)
{
    struct fixture *f = *state;
    expect_errors(f,
                  "kernel a(in f32 x, out f32 y) {\n"
                  "    f32 s = 0\n"
                  "    for (i32 i = 0; i < 3 x; i++) { s += 1; s += ; }\n"
                  "    if (s < ) { y <- 1; } else { y <- 2; }\n"
                  "    y <- s\n"
                  "}\n"
                  "kernel b(in f32 x pop, out f32 y) { y <- 1 2; }\n"
                  "struct s { f32 a; b c d; u8 e }\n"
                  "kernel c(in f32 x, out f32 y) {\n"
                  "    y <- f(x;\n"
                  "    i32 z = {1, 2 3};\n"
                  "    do { z--; z z z; } while (z > );\n"
                  "}\n"
                  "const i32 N = ;\n"
                  "fn f32 q(f32 a, i32 b) { return a b; }\n",
                  "2:14: error: expected ';' after expression, found 'for' [syntax]\n"
                  "3:27: error: expected ';' or ',' after expression, found 'x' [syntax]\n"
                  "4:13: error: expected an expression, found ')' [syntax]\n"
                  "5:11: error: expected ';' after 's', found '}' [syntax]\n"
                  "7:22: error: expected a value after 'pop', found ',' [syntax]\n"
                  "8:23: error: expected ';', '[' or ',', found 'd' [syntax]\n"
                  "8:30: error: expected ';' after 'e', found '}' [syntax]\n"
                  "8:32: error: expected ';' after '}', found 'kernel' [syntax]\n"
                  "10:13: error: expected ')' or ',', found ';' [syntax]\n"
                  "11:19: error: expected '}' or ',' after expression, found '3' [syntax]\n"
                  "12:19: error: expected ';', '[', ',' or '=', found 'z' [syntax]\n"
                  "12:35: error: expected an expression, found ')' [syntax]\n"
                  "14:15: error: expected an expression or '{', found ';' [syntax]\n"
                  "15:35: error: expected ';' or ',', found 'b' [syntax]\n");
}

static void errors_in_pipelines_and_tests_are_independent(void **state)
{
    struct fixture *f = *state;
    expect_errors(f,
                  "pipeline p(in f32 x, out f32 y) {\n"
                  "    buffer f32 a depth 3 b;\n"
                  "    x => d -> y;\n"
                  "    for (int i = 0; i < 3; i++) { x -> d d -> y; }\n"
                  "    lab: d(x -> y; 3 4);\n"
                  "    if (N { x -> y; }\n"
                  "    x -> d -> y\n"
                  "}\n"
                  "test t of p { x = {1,2; expect y == ; y = 3; }\n",
                  "2:27: error: expected a value after 'b', found ';' [syntax]\n"
                  "3:7: error: expected a name, '->', ';' or ':', found '=' [syntax]\n"
                  "4:44: error: expected a value after 'd', found '->' [syntax]\n"
                  "5:22: error: expected ')' or ',' after expression, found '4' [syntax]\n"
                  "6:11: error: expected ')' or ',', found '{' [syntax]\n"
                  "7:16: error: expected ';' after 'y', found '}' [syntax]\n"
                  "9:23: error: expected '}' or ',' after expression, found ';' [syntax]\n"
                  "9:37: error: expected an expression or '{', found ';' [syntax]\n");
}

static void lost_brace_does_not_swallow_the_next_item(void **state)
{
    struct fixture *f = *state;
    expect_errors(f,
                  "kernel a(in f32 x) {\n  if (x) { do { x++;\n\nextern kernel b(in f32 x);\n"
                  "kernel c(in f32 x) { x++ }\n",
                  "4:8: error: expected a name, ';' or ',', found 'kernel' [syntax]\n"
                  "5:25: error: expected ';' after expression, found '}' [syntax]\n");
    assert_non_null(strstr(f->tree, "extern kernel b\n"));
    expect_errors(f, "pipeline a() {\n  { x -> y;\n\nkernel b() { }\n",
                  "4:1: error: expected a statement of a pipeline or '}', found 'kernel' "
                  "[syntax]\n");
    assert_non_null(strstr(f->shown, "    2 |   { x -> y;\n      |   - to close this '{'\n"));
    expect_errors(f, "kernel a(in f32 x) {\n  x = 1;\n\n",
                  "2:9: error: expected a statement or '}', found the end of the file [syntax]\n");
}

static void lexical_errors_have_no_consequences(void **state)
{
    struct fixture *f = *state;
    expect_errors(f,
                  "kernel a() {\n  gr\xC3\xB6\xC3\x9F"
                  "e = 3;\n  @@@ i = 1 $ 2;\n"
                  "  i = \"abc\n  i = 08; i = 'ab\n  ; i = \xE2\x80\x9C;\n  i = = 2;\n}\n"
                  "/* no end",
                  "2:3: error: names are made of ASCII letters, digits and '_' "
                  "[invalid-character]\n"
                  "3:3: error: no token begins here [invalid-character]\n"
                  "3:13: error: no token begins here [invalid-character]\n"
                  "4:7: error: this string does not end [unterminated]\n"
                  "5:7: error: an octal number has no digits 8 and 9 [invalid-number]\n"
                  "5:15: error: this character constant does not end [unterminated]\n"
                  "6:9: error: no token begins here [invalid-character]\n"
                  "7:7: error: expected an expression, found '=' [syntax]\n"
                  "9:1: error: this comment does not end [unterminated]\n");
}

static void columns_count_bytes_after_the_mark_and_through_tabs(void **state)
{
    struct fixture *f = *state;
    expect_errors(f,
                  "\xEF\xBB\xBF"
                  "const = 1;",
                  "1:7: error: expected a type, found '=' [syntax]\n");
    expect_errors(f, "// \xC3\xA9\r\n\t/* \xC3\xA9 */ const\t= 1;\r\n",
                  "2:17: error: expected a type, found '=' [syntax]\n");
    assert_non_null(strstr(f->shown, "    2 |         /* \xC3\xA9 */ const   = 1;\n"
                                     "      |                         ^\n"));
}

static void classic_mistakes_get_a_mend(void **state)
{
    static const struct {
        const char *text, *help;
    } cases[] = {
        {"kernel k() { if (x <-1) ; }", "'<-' is one token"},
        {"kernel k() { y = x <-z; }", "'<-' is one token"},
        {"kernel k() { y <- a->b; }", "there are no pointers"},
        {"kernel k() { y = a->b; }", "there are no pointers"},
        {"kernel k() { y -> 1; }", "'port <- value;'"},
        {"pipeline p() { x <- k; }", "'->'"},
        {"pipeline p() { k<-1>(x); }", "'<-' is one token"},
        {"kernel k() { i32 stop; }", "'stop' is a reserved word"},
        {"kernel k() { y = 1\n y = 2; }", "write ';' here"},
        {"kernel k(in f32 x window 3x) { }", "set 'x' apart"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(parse(f, cases[i].text), 1);
        if (cases[i].help && !strstr(f->shown, cases[i].help))
            fail_msg("%s\n%s", cases[i].text, f->shown);
        if (!cases[i].help) assert_null(strstr(f->shown, "help:"));
    }
}

/* ---- imports ---- */

static void import_that_is_missing_is_reported_at_its_path(void **state)
{
    struct fixture *f = *state;
    expect_errors(f, "import \"std/no-such-file\";\nimport \"/etc/passwd\";\nconst int = 1;",
                  "1:8: error: there is no file 'std/no-such-file' [import-not-found]\n"
                  "2:8: error: there is no file '/etc/passwd' [import-not-found]\n"
                  "3:11: error: expected a name, found '=' [syntax]\n");
}

static void imports_come_in_order_of_first_mention_and_once(void **state)
{
    struct fixture *f = *state;
    char folder[] = "/tmp/test_parser.XXXXXX", path[64];
    static const char *const files[][2] = {
        {"main",
         "import \"b.pipe\"; import \"a.pipe\"; import \"./b.pipe\"; import \"main.pipe\";"},
        {"a", "import \"b.pipe\"; const int A = 1;"},
        {"b", "import \"c.pipe\"; import \"main.pipe\"; const int B = 1;"},
        {"c", "const int C = 1;"},
    };
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s.pipe", folder, files[i][0]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        if (file && fputs(files[i][1], file) >= 0) fclose(file);
    }
    begin(f);
    uint32_t id;
    snprintf(path, sizeof path, "%s/main.pipe", folder);
    assert_int_equal(source_read(f->cx.sources, path, &id), SOURCE_OK);
    size_t count = parse_source(f, id);
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s.pipe", folder, files[i][0]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(count, 0);
    assert_int_equal(source_count(f->cx.sources), 4);
    const struct ast_file *second = f->program->files->next;
    assert_non_null(strstr(source_get(f->cx.sources, second->source)->name, "/b.pipe"));
    assert_non_null(strstr(source_get(f->cx.sources, second->next->source)->name, "/a.pipe"));
    assert_non_null(strstr(source_get(f->cx.sources, second->next->next->source)->name, "/c.pipe"));
    assert_null(second->next->next->next);
}

/* ---- limits ---- */

/* `before`, then `count` times `unit`, then `after`. */
static size_t parse_repeated(struct fixture *f, const char *before, const char *unit, size_t count,
                             const char *after)
{
    char *text = NULL;
    size_t total = 0;
    FILE *to = open_memstream(&text, &total);
    assert_non_null(to);
    fputs(before, to);
    for (size_t i = 0; i < count; i++)
        fputs(unit, to);
    fputs(after, to);
    fclose(to);
    size_t errors_found = parse_bytes(f, text, total);
    free(text);
    return errors_found;
}

static void nesting_is_refused_beyond_the_limit_and_not_before(void **state)
{
    enum { MOST = AST_DEPTH_MAX };
    static const struct {
        const char *before, *unit, *after;
        size_t most; /* repetitions of `unit` that are accepted */
    } cases[] = {
        {"const int a = 1", "+1", ";", MOST - 1},
        {"const int a = ", "- ", "1;", MOST - 1},
        {"const int a = ", "1?1:", "1;", MOST - 1},
        {"const int a = b", "=b", ";", MOST - 1},
        {"const int a = b", "[1]", ";", MOST - 1},
        {"const int a = b", ".c", ";", MOST - 1},
        {"const int a = b", "++", ";", MOST - 1},
        {"pipeline p() { buffer i32 a init ", "1 x ", "1; }", MOST - 1},
        {"kernel k() { ", "if (1) ", "; }", MOST - 2},
        {"kernel k() { if (1) ;", "else if (1) ;", " }", MOST - 3},
        {"kernel k() { ", "case 1: ", "; }", MOST - 2},
        {"pipeline k() { ", "for (;;) ", "; }", MOST - 2},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t more = 0; more < 2; more++) {
            size_t count = cases[i].most + more;
            parse_repeated(f, cases[i].before, cases[i].unit, count, cases[i].after);
            bool refused = strstr(f->shown, "[too-deep]") != NULL;
            if (refused != (more > 0) || diag_error_count(f->cx.diags) != more)
                fail_msg("%s x %zu: %.200s", cases[i].unit, count, f->shown);
        }
    }
}

static void brackets_are_refused_beyond_the_limit_and_not_before(void **state)
{
    struct fixture *f = *state;
    char open[1003] = "", text[2200];
    for (size_t count = 1000; count <= 1001; count++) {
        memset(open, '(', count);
        open[count] = '\0';
        char close[1003] = "";
        memset(close, ')', count);
        snprintf(text, sizeof text, "const int a = %s1%s;", open, close);
        parse(f, text);
        assert_string_equal(
            errors(f),
            count == 1000 ? "" : "1:1015: error: nesting is deeper than 1000 levels [too-deep]\n");
    }
}

static void megabytes_of_anything_give_one_or_many_errors(void **state)
{
    enum { MEGABYTE = 1 << 20 };
    static const struct {
        const char *before, *unit, *after;
    } cases[] = {
        {"const int a = ", "(", ""},
        {"kernel k() { ", "{", ""},
        {"const int a = ", "-", ""},
        {"", "}", ""},
        {"", ")", ""},
        {"", "@ ", ""},
        {"", "kernel ", ""},
        {"kernel k() { ", "a b c; ", "}"},
        {"kernel k() { ", "do ", ""},
        {"", "\"", ""},
        {"", "'\n", ""},
        {"/*", "*", ""},
        {"", "a", ""},
        {"", "\xC3\xA9 ", ""},
        {"", "struct s { f32 x; } ", ""},
        {"const int a = ", "1x1", ";"},
        {"const int a = ", "1", ";"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t count = parse_repeated(f, cases[i].before, cases[i].unit,
                                      MEGABYTE / strlen(cases[i].unit), cases[i].after);
        assert_true(count > 0);
        assert_true(strlen(f->shown) < 200000);
    }
}

static void error_at_the_end_of_a_megabyte_line_is_found(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parse_repeated(f, "kernel k() { ", "a = 3; ", (1 << 20) / 7, " x y }"), 1);
    assert_non_null(strstr(f->shown, ":1:1048590: error: expected ';' after 'y', found '}'"));
    assert_true(strlen(f->shown) < 1000);
}

static void binary_noise_is_only_refused(void **state)
{
    struct fixture *f = *state;
    uint32_t seed = 12345;
    static char bytes[1 << 18];
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 1664525u + 1013904223u;
            unsigned byte = seed >> 24;
            bytes[i] = (char)(round == 1 ? 0 : round == 2 ? 32 + byte % 95 : byte);
        }
        assert_true(parse_bytes(f, bytes, sizeof bytes) > 0);
        for (const char *p = f->shown; *p; p++)
            assert_true(*p == '\n' || (unsigned char)*p >= 0x20);
    }
}

static void every_prefix_of_a_program_is_survived(void **state)
{
    static const char text[] =
        "/// d\nimport \"std/a\";\nstruct s { u8 r; };\nkernel k<int N>(in f32 x pop {1, 2}, out "
        "f32"
        " y; f32 g = 1) group 2x2 { state i32 n; init { n = '\\n'; } for (;;) do y[0] <- x[1]; "
        "while (1); event e = launch c<1>(1) after e; }\npipeline p() { l: k<2>(a -> b; 1) -> c[0];"
        " for (int i = 0; i < 1; i++) { } if (1) ; else ; }\ntest t of p { x = {1..2}; expect fault"
        " \"i\"; }\n";
    struct fixture *f = *state;
    for (size_t length = 0; length < sizeof text; length++)
        assert_true(parse_bytes(f, text, length) <= 4);
}

static void empty_file_is_a_program_without_items(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parse(f, ""), 0);
    assert_null(f->program->files->items);
    assert_int_equal(parse(f, "\xEF\xBB\xBF"), 0);
    assert_int_equal(parse(f, " \r\n\t// nothing"), 0);
}

#define FIXED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

TEST_MAIN("parser", FIXED(programs_of_the_accept_folder_are_accepted),
          FIXED(every_snippet_is_judged_as_the_reference_says), FIXED(tree_keeps_what_was_written),
          FIXED(literals_have_their_values), FIXED(numbers_do_not_depend_on_the_locale),
          FIXED(documentation_belongs_to_the_next_item),
          FIXED(independent_errors_are_all_reported_and_nothing_else),
          FIXED(errors_in_pipelines_and_tests_are_independent),
          FIXED(lost_brace_does_not_swallow_the_next_item),
          FIXED(lexical_errors_have_no_consequences),
          FIXED(columns_count_bytes_after_the_mark_and_through_tabs),
          FIXED(classic_mistakes_get_a_mend), FIXED(import_that_is_missing_is_reported_at_its_path),
          FIXED(imports_come_in_order_of_first_mention_and_once),
          FIXED(nesting_is_refused_beyond_the_limit_and_not_before),
          FIXED(brackets_are_refused_beyond_the_limit_and_not_before),
          FIXED(megabytes_of_anything_give_one_or_many_errors),
          FIXED(error_at_the_end_of_a_megabyte_line_is_found), FIXED(binary_noise_is_only_refused),
          FIXED(every_prefix_of_a_program_is_survived),
          FIXED(empty_file_is_a_program_without_items))
