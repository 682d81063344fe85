/* SPDX-License-Identifier: MIT */
#include "tests/unit/random_body.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/arith.h"

/* ---- random programs ---- */

int random_draw(struct random *r, int low, int high)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return low + (int)((r->state >> 33) % (uint64_t)(high - low + 1));
}

static void put(struct body_writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct body_writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int more = vsnprintf(w->text + w->length, sizeof w->text - w->length, format, args);
    va_end(args);
    if (more > 0 && w->length + (size_t)more < sizeof w->text) w->length += (size_t)more;
}

static void put_expr(struct body_writer *w, int depth);

static void put_index(struct body_writer *w, int depth, int length)
{
    switch (w->style == BODY_EXACT ? 0 : random_draw(&w->random, 0, 6)) {
    case 0:
        put(w, "(");
        put_expr(w, depth - 1);
        put(w, ") & %d", w->style == BODY_EXACT ? 3 : random_draw(&w->random, 3, 7));
        break;
    case 1:
        put(w, "min(max(");
        put_expr(w, depth - 1);
        put(w, ", 0), %d)", length - random_draw(&w->random, 0, 2));
        break;
    case 2:
        put(w, "(i32)((u32)(");
        put_expr(w, depth - 1);
        put(w, ") %% %du)", length);
        break;
    case 3: put(w, "%d", random_draw(&w->random, 0, length - 1)); break;
    case 4: put(w, "a + b"); break;
    default: put(w, "%c", "abcnpq"[random_draw(&w->random, 0, 5)]); break;
    }
}

static void put_leaf(struct body_writer *w)
{
    static const char *const names[] = {"a", "b", "c", "n", "p", "q", "(i32)m", "(i32)u", "x"};
    int pick = random_draw(&w->random, 0, 13);
    if (pick < 9)
        put(w, "%s", names[pick]);
    else if (pick == 9 && w->loops > 0)
        put(w, "i%d", random_draw(&w->random, 0, w->loops - 1));
    else
        put(w, "%d", random_draw(&w->random, -2, 9));
}

static void put_expr(struct body_writer *w, int depth)
{
    static const char *const operators[] = {"+", "-", "*", "+", "-", "/", "%", "&", "|", "^"};
    if (depth <= 0 || random_draw(&w->random, 0, 4) == 0) {
        put_leaf(w);
        return;
    }
    switch (random_draw(&w->random, 0, 12)) {
    case 0:
        put(w, "x[");
        put_index(w, depth, 8);
        put(w, "]");
        break;
    case 1:
        put(w, "t[");
        put_index(w, depth, 6);
        put(w, "]");
        break;
    case 2:
        put(w, "r[");
        put_index(w, depth, 5);
        put(w, "]");
        break;
    case 3:
        put(w, "T[");
        put_index(w, depth, 8);
        put(w, "]");
        break;
    case 4:
        put(w, "%s(", random_draw(&w->random, 0, 1) ? "clamped" : "picked");
        put_expr(w, depth - 1);
        put(w, ", %d)", random_draw(&w->random, 0, 9));
        break;
    case 5:
        put(w, "%s(", random_draw(&w->random, 0, 1) ? "min" : "max");
        put_expr(w, depth - 1);
        put(w, ", ");
        put_expr(w, depth - 1);
        put(w, ")");
        break;
    case 6:
        put(w, "(i32)(%s)(", random_draw(&w->random, 0, 1) ? "u8" : "i8");
        put_expr(w, depth - 1);
        put(w, ")");
        break;
    case 7:
        put(w, "((");
        put_expr(w, depth - 1);
        put(w, ") %s %d)", random_draw(&w->random, 0, 1) ? "<<" : ">>",
            random_draw(&w->random, 0, 5));
        break;
    case 8:
        put(w, "(");
        put_expr(w, depth - 1);
        put(w, " < ");
        put_expr(w, depth - 1);
        put(w, " ? ");
        put_expr(w, depth - 1);
        put(w, " : ");
        put_expr(w, depth - 1);
        put(w, ")");
        break;
    case 9: put(w, "abs(a)"); break;
    default:
        put(w, "(");
        put_expr(w, depth - 1);
        put(w, " %s ", operators[random_draw(&w->random, 0, 9)]);
        if (random_draw(&w->random, 0, 1))
            put(w, "%d", random_draw(&w->random, 1, 9));
        else
            put_expr(w, depth - 1);
        put(w, ")");
        break;
    }
}

static void put_condition(struct body_writer *w, int depth)
{
    static const char *const compares[] = {"<", "<=", ">", ">=", "==", "!="};
    int pick = random_draw(&w->random, 0, 9);
    if (depth > 0 && pick < 3) {
        put(w, "(");
        put_condition(w, depth - 1);
        put(w, pick == 0 ? ") || (" : ") && (");
        put_condition(w, depth - 1);
        put(w, ")");
    } else if (depth > 0 && pick == 3) {
        put(w, "!(");
        put_condition(w, depth - 1);
        put(w, ")");
    } else if (pick == 4) {
        put(w, "a + b %s %d", compares[random_draw(&w->random, 0, 5)],
            random_draw(&w->random, 0, 9));
    } else if (pick == 6 && random_draw(&w->random, 0, 1)) {
        put(w, "%s%c %s %d", random_draw(&w->random, 0, 1) ? "++" : "--",
            "ncq"[random_draw(&w->random, 0, 2)], compares[random_draw(&w->random, 0, 5)],
            random_draw(&w->random, 0, 9));
    } else if (pick == 6) {
        put(w, "(c = ");
        put_expr(w, 1);
        put(w, ") %s b", compares[random_draw(&w->random, 0, 5)]);
    } else if (pick == 5) {
        put(w, "a %s b", compares[random_draw(&w->random, 0, 5)]);
    } else {
        put_expr(w, random_draw(&w->random, 0, 1));
        put(w, " %s ", compares[random_draw(&w->random, 0, 5)]);
        put_expr(w, random_draw(&w->random, 0, 1));
    }
}

static void put_block(struct body_writer *w, int depth);

/* A loop whose condition counts, in any integer type and from anything.  Wider types count towards
 * their bound, so that rounds are few; those of 8 bits may also go the other way and wrap. */
static void put_counting_loop(struct body_writer *w, int depth)
{
    static const char *const types[] = {"u8", "i8", "u8", "i32", "u32", "u16", "i32"};
    static const char *const starts[] = {"x & 7", "x", "b", "a & 3", "min(max(b, 0), 9)", "n"};
    static const char *const compares[] = {"<", "<=", "!=", ">", ">=", "!="};
    int i = w->loops++, bound = random_draw(&w->random, 0, 9), of = random_draw(&w->random, 0, 6);
    bool up = random_draw(&w->random, 0, 1);
    bool is_for = random_draw(&w->random, 0, 1);
    bool is_do = !is_for && random_draw(&w->random, 0, 5) == 0;
    const char *type = types[of], *start = starts[of < 3 ? random_draw(&w->random, 0, 5) : 0];
    const char *compare = compares[random_draw(&w->random, 0, 1) + (up ? 0 : 3)];
    const char *mirror = up ? ">" : "<", *step = up ? "++" : "--";
    char condition[128];
    if (of < 3) compare = compares[random_draw(&w->random, 0, 5)];
    switch (random_draw(&w->random, 0, 7)) {
    case 0: snprintf(condition, sizeof condition, "j%d--", i); break;
    case 1: snprintf(condition, sizeof condition, "j%d-- > 0", i); break;
    case 2: snprintf(condition, sizeof condition, "j%d%s %s %d", i, step, compare, bound); break;
    case 3: snprintf(condition, sizeof condition, "%sj%d %s %d", step, i, compare, bound); break;
    case 4: snprintf(condition, sizeof condition, "%d %s j%d%s", bound, mirror, i, step); break;
    case 5:
        snprintf(condition, sizeof condition, "(j%d %s %d) %s %d", i,
                 up ? "+=" : "-=", random_draw(&w->random, 1, 5), compare, bound);
        break;
    case 6: snprintf(condition, sizeof condition, "(i32)j%d++ < %c", i, "ab"[bound & 1]); break;
    default:
        snprintf(condition, sizeof condition, "%s && j%d-- > 0",
                 random_draw(&w->random, 0, 1) ? "c < 7" : "++c != 9", i);
        break;
    }
    put(w, "%s %s j%d = (%s)(%s);", is_for ? "for (" : "{", type, i, type, start);
    if (is_for)
        put(w, " %s;) {", condition);
    else if (is_do)
        put(w, " do {");
    else
        put(w, " while (%s) {", condition);
    put(w, " i32 i%d = (i32)j%d; ", i, i);
    if (random_draw(&w->random, 0, 5) == 0)
        put(w, "j%d %s %d; ", i,
            random_draw(&w->random, 0, 3) ? "-=" : "+=", random_draw(&w->random, 1, 3));
    put_block(w, depth - 1);
    if (is_do)
        put(w, "} while (%s); }\n", condition);
    else
        put(w, is_for ? "}\n" : "}}\n");
    w->loops--;
}

static void put_loop(struct body_writer *w, int depth)
{
    if (random_draw(&w->random, 0, 2) == 0) {
        put_counting_loop(w, depth);
        return;
    }
    int i = w->loops++;
    switch (random_draw(&w->random, 0, 4)) {
    case 0:
        put(w, "for (i32 i%d = %d; i%d < %d; i%d += %d) ", i, random_draw(&w->random, -1, 3), i,
            random_draw(&w->random, 0, 9), i, random_draw(&w->random, 1, 3));
        break;
    case 1:
        put(w, "for (i32 i%d = 0; i%d < %c; i%d++) ", i, i, "abnpq"[random_draw(&w->random, 0, 4)],
            i);
        break;
    case 2:
        put(w, "for (i32 i%d = %c; i%d >= %d; i%d--) ", i, "abnpq"[random_draw(&w->random, 0, 4)],
            i, random_draw(&w->random, 0, 2), i);
        break;
    case 3:
        put(w, "for (i32 i%d = 0; ; i%d++) { if (i%d == %d || ", i, i, i,
            random_draw(&w->random, 2, 9));
        put_condition(w, 1);
        put(w, ") break; ");
        put_block(w, depth - 1);
        put(w, "}\n");
        w->loops--;
        return;
    default:
        put(w, "{ i32 i%d = 0; while (i%d < %d && ", i, i, random_draw(&w->random, 2, 9));
        put_condition(w, 1);
        put(w, ") { i%d += %d; ", i, random_draw(&w->random, 1, 2));
        put_block(w, depth - 1);
        put(w, "}}\n");
        w->loops--;
        return;
    }
    put_block(w, depth - 1);
    w->loops--;
}

/* ---- conditions that are asked again ---- */

/* Two values that are alike and not the same, and ways to change them. */
struct alike {
    const char *values[2], *changes[6];
};

static const struct alike alikes[] = {
    {{"a", "b"}, {"a = x[3];", "a += 1;", "a++;", "--b;", "a = b;", "b = x[2] & 3;"}},
    {{"s.u", "s.v"},
     {"s.u = x[3];", "s.v -= 2;", "s = P(b, a);", "s.u++;", "s.v = s.u;", "s.v = a;"}},
    {{"t[1]", "t[2]"},
     {"t[1] = x[3];", "t[b & 3] += 2;", "t[2]--;", "t[n] = a;", "t[1] = b;", "t[2] = t[1];"}},
    {{"t[n & 3]", "t[1]"},
     {"n++;", "t[b & 3] += 2;", "n = x[6] & 3;", "t[1] = x[2];", "n = b;", "n ^= 1;"}},
    {{"x[n & 7]", "x[2]"}, {"n++;", "n = x[6] & 3;", "n = a & 3;", "n ^= 1;", "n += 2;", "n = 2;"}},
    {{"x[2]", "z[2]"}, {"n++;", "a++;", "c = a;", "a = x[2];", "a = b;", "b = a;"}},
    {{"a + b", "a - b"}, {"a = x[3];", "b = x[4];", "b += 2;", "a = b;", "a--;", "b = 0;"}},
    {{"(i32)(i8)(x[n & 7] << 6)", "x[n & 7] << 6"},
     {"n++;", "n = x[6] & 3;", "n = a & 3;", "n ^= 1;", "n += 2;", "n = 2;"}},
    {{"p", "p + 1"}, {"p = x[1];", "p++;", "p -= 2;", "p = a;", "p ^= 1;", "p = b;"}},
    {{"min(a, b)", "max(a, b)"}, {"a = x[3];", "b = x[4];", "b += 2;", "a = b;", "a--;", "b = 0;"}},
    {{"clamped(a, 3)", "folded(a, 3)"},
     {"a = x[3];", "b = x[4];", "b += 2;", "a = b;", "a--;", "b = 0;"}},
    {{"(a & 1)", "(a & 2)"}, {"a = x[3];", "a += 2;", "a++;", "a = b;", "a ^= 1;", "a = 7 - a;"}},
    {{"(u8)a", "(i8)(a << 6)"},
     {"a = x[3];", "a += 2;", "a++;", "a = -b;", "a = 3 - a;", "a *= 100;"}},
    {{"(u32)a % 2", "a % 2"}, {"a = x[3];", "a = 0 - b;", "a--;", "a = b;", "a ^= 1;", "a -= 5;"}},
    {{"-a", "~a"}, {"a = x[3];", "a -= 2;", "a++;", "a = b;", "a ^= 1;", "a = 7 - a;"}},
    {{"(i32)f", "(i32)!f"},
     {"f = !f;", "f = a < 2;", "f = f && x[1] > 1;", "f = x[3] > 2;", "f = a == b || f;",
      "f = b > 1;"}},
};

static void draw_questions(struct body_writer *w)
{
    static const char *const compares[] = {"<", "<=", ">", ">=", "==", "!="};
    static const int opposites[] = {3, 2, 1, 0, 5, 4};
    enum { ALIKES = sizeof alikes / sizeof *alikes };
    int pick = random_draw(&w->random, -4, ALIKES + 1); /* the first one more often; floats */
    const struct alike *of = w->alike = &alikes[pick < 0 || pick >= ALIKES ? 0 : pick];
    int one = random_draw(&w->random, 0, 5), other = random_draw(&w->random, 0, 5);
    const char *values[2] = {of->values[0], of->values[0]};
    if (random_draw(&w->random, 0, 1)) other = opposites[one];
    if (pick >= ALIKES) {
        values[0] = values[1] = "(f32)a / (f32)(b & 1)"; /* also no number */
    } else if (random_draw(&w->random, 0, 1)) {
        values[1] = of->values[1];
        other = one;
    }
    w->window = random_draw(&w->random, 2, 4);
    w->bound = random_draw(&w->random, 0, 3);
    w->compare = compares[one];
    for (int i = 0; i < 2; i++) {
        int bound =
            w->bound + (i == 1 ? random_draw(&w->random, -3, 3) / 3 : 0); /* 1 away, perhaps */
        snprintf(w->asked[i], sizeof w->asked[i], "%s %s %d", values[i],
                 compares[i == 0 ? one : other], bound);
    }
    snprintf(w->asked[2], sizeof w->asked[2], "x[%d] > 2", random_draw(&w->random, 0, 7));
    snprintf(w->asked[3], sizeof w->asked[3], "f");
}

/* One of the questions, its opposite, or two of them joined. */
static void put_asked(struct body_writer *w)
{
    const char *first = w->asked[random_draw(&w->random, 0, BODY_CONDITIONS - 1)];
    const char *second = w->asked[random_draw(&w->random, 0, BODY_CONDITIONS - 1)];
    if (random_draw(&w->random, 0, 2)) first = w->asked[0];
    switch (random_draw(&w->random, 0, 7)) {
    case 0: put(w, "(%s) && (%s)", first, second); break;
    case 1: put(w, "(%s) || !(%s)", first, second); break;
    case 2: put(w, "!((%s) && !(%s))", first, second); break;
    case 3:
    case 4:
    case 5: put(w, "!(%s)", first); break;
    default: put(w, "%s", first); break;
    }
}

/* A condition that gives a variable another value. */
static void put_changing_question(struct body_writer *w)
{
    static const char *const values[] = {"a++", "++a", "--n", "b -= 2", "a = x[3]", "a = b"};
    const char *value = values[random_draw(&w->random, 0, 5)];
    put(w, "(%s) %s %d", value, w->compare, w->bound);
    if (random_draw(&w->random, 0, 2) == 0) put(w, " && %s", w->asked[0]);
}

/* Gives a variable another value, mostly one that the questions speak of, in one of the ways there are. */
static void put_change(struct body_writer *w)
{
    static const char *const others[] = {"c = (a = x[2]) + 1;",
                                         "c = b < 2 ? a++ : n++;",
                                         "c = b < 2 && (a = x[3]) > 1 ? 0 : 4;",
                                         "{ i32 k = a; a = b; b = k; }",
                                         "{ i32 k; k = a; a = k & 1; }",
                                         "c += a;"};
    const char *change = w->alike->changes[random_draw(&w->random, 0, 5)];
    if (random_draw(&w->random, 0, 3) == 0) change = others[random_draw(&w->random, 0, 5)];
    int at = random_draw(&w->random, 0, 7);
    switch (random_draw(&w->random, 0, 9)) {
    case 0: put(w, "if (x[%d] > 2) %s\n", at, change); break;
    case 1: put(w, "for (i32 j = 0; j < (x[%d] & 1); j++) { %s }\n", at, change); break;
    case 2: put(w, "switch (x[7] & 1) { case 0: %s break; default: c += 1; }\n", change); break;
    case 3: put(w, "do { %s } while (c++ < (x[5] & 1));\n", change); break;
    case 4: put(w, "for (i32 j = 0; j < 2; j++) { if (x[j] > 3) break; %s }\n", change); break;
    default: put(w, "%s\n", change); break;
    }
}

/* Asks an element of an array in each round, from a window that other passes ask too. */
static void put_pass(struct body_writer *w)
{
    int i = w->loops++, from = random_draw(&w->random, 0, 3) == 0, end = w->window;
    bool changes = random_draw(&w->random, 0, 3) == 0;
    const char *compare = random_draw(&w->random, 0, 1) ? "<" : ">=";
    if (random_draw(&w->random, 0, 4) == 0) end++;
    put(w, "for (i32 i%d = %d; i%d < %d; i%d++) { ", i, from, i, end, i);
    if (changes && random_draw(&w->random, 0, 1)) put_change(w);
    switch (random_draw(&w->random, 0, 9)) {
    case 0: put(w, "if (t[i%d & 3] %s %d) y <- i%d;", i, compare, w->bound, i); break;
    case 1: put(w, "if (x[i%d] + a %s %d) y <- i%d;", i, compare, w->bound, i); break;
    case 2: put(w, "if (x[(i%d + n) & 7] %s %d) y <- i%d;", i, compare, w->bound, i); break;
    case 3: put(w, "if (x[i%d] == 9) break; if (x[i%d] < 3) y <- i%d;", i, i, i); break;
    case 4: put(w, "if (x[i%d] > 7) continue; if (x[i%d] %s 3) y <- 0;", i, i, compare); break;
    default: put(w, "if (x[i%d] %s %d) y <- i%d;", i, compare, w->bound, i); break;
    }
    if (changes) put_change(w);
    put(w, "}\n");
    w->loops--;
}

/* Counts where something holds, appends elsewhere, and appends as many as it has counted. */
static void put_counted(struct body_writer *w)
{
    static const char *const loops[] = {
        "for (i32 j = 0; j < k; j++) y <- j;",
        "for (i32 j = 1; j <= k; j++) y <- j;",
        "for (i32 j = k; j > 0; j--) y <- j;",
        "for (i32 j = 0; j < k; j++) { y <- j; if (x[5] > 2) break; }",
        "for (i32 j = 0; j < k; j++) { y <- j; if (x[j] > 2) k--; }",
        "for (i32 j = 0; j < k; j += 2) y <- j;",
        "for (i32 j = a; j < k; j++) y <- j;",
        "for (i32 j = 0; k > j; j++) { y <- j; y <- k; }",
        "{ i32 j = 0; while (j++ < k) y <- j; }",
        "{ i32 j = k; k = x[6]; while (j-- > 0) y <- j; }",
        "{ i32 e = k + 1; for (i32 j = 1; j < e; j++) y <- j; }",
        "for (i32 j = 0; j != k; j++) y <- j;",
    };
    int pick = random_draw(&w->random, 0, (int)(sizeof loops / sizeof *loops) - 1);
    int first = random_draw(&w->random, -6, 3);
    put(w, "{ i32 k = %d; for (i32 i = 0; i < %d; i++) { if (x[i] < %d) k%s; else %s }\n",
        first < 0 || pick == 11 ? 0 : first - 1, w->window, w->bound,
        random_draw(&w->random, 0, 5) ? "++" : " += 2",
        random_draw(&w->random, 0, 5) ? "y <- i;" : "{ y <- i; y <- k; }");
    if (random_draw(&w->random, 0, 5) == 0) put(w, "if (x[7] > 2) k++;\n");
    put(w, "%s }\n", loops[pick]);
}

static void put_appending(struct body_writer *w, int depth);

/* Statements around others. */
static void put_around(struct body_writer *w, int depth)
{
    int pick = random_draw(&w->random, 0, 6), i = w->loops++;
    if (pick == 0)
        put(w, "for (i32 i%d = 0; i%d < %d; i%d++) { ", i, i, random_draw(&w->random, 1, 3), i);
    else if (pick == 1)
        put(w, "for (i32 i%d = 0; i%d < (x[%d] & 1); i%d++) { ", i, i,
            random_draw(&w->random, 0, 7), i);
    else {
        put(w, "if (");
        put_asked(w);
        put(w, ") { ");
    }
    put_appending(w, depth - 1);
    if (pick == 2) put(w, "return; ");
    if (pick == 3) put_appending(w, depth - 1);
    if (pick > 3) {
        put(w, "}\nelse { ");
        put_appending(w, depth - 1);
    }
    put(w, "}\n");
    w->loops--;
}

static void put_appending(struct body_writer *w, int depth)
{
    int pick = random_draw(&w->random, 0, depth > 0 ? 9 : 7);
    if (pick < 2)
        put_change(w);
    else if (pick == 3)
        put_counted(w);
    else if (pick == 2)
        put_pass(w);
    else if (pick > 7)
        put_around(w, depth);
    else {
        put(w, "if (");
        if (random_draw(&w->random, 0, 9) == 0)
            put_changing_question(w);
        else
            put_asked(w);
        put(w, random_draw(&w->random, 0, 4) ? ") y <- 1;\n" : ") { y <- 1; y <- 2; }\n");
    }
}

static void put_assignment(struct body_writer *w)
{
    static const char *const operators[] = {"=", "=", "+=", "-=", "%=", "&="};
    int pick = random_draw(&w->random, 0, 9);
    if (pick == 0) {
        put(w, "t[");
        put_index(w, 1, 6);
        put(w, "] %s ", operators[random_draw(&w->random, 0, 3)]);
    } else if (pick == 1) {
        put(w, "r[");
        put_index(w, 1, 5);
        put(w, "] = ");
    } else if (pick == 2) {
        put(w, "m = (u8)(");
        put_expr(w, 2);
        put(w, ");\n");
        return;
    } else if (pick == 3) {
        put(w, "u = (u32)(");
        put_expr(w, 2);
        put(w, ");\n");
        return;
    } else if (pick == 4) {
        put(w, "%c%s;\n", "abcnpq"[random_draw(&w->random, 0, 5)],
            random_draw(&w->random, 0, 2) ? "++" : "--");
        return;
    } else {
        put(w, "%c %s ", "abcnpq"[random_draw(&w->random, 0, 5)],
            operators[random_draw(&w->random, 0, 5)]);
    }
    put_expr(w, 2);
    put(w, ";\n");
}

static void put_switch(struct body_writer *w, int depth)
{
    put(w, "switch (%c) {\n", "abcnpq"[random_draw(&w->random, 0, 5)]);
    int labels = random_draw(&w->random, 1, 3);
    for (int i = 0; i < labels; i++) {
        put(w,
            "case %d: ", i * random_draw(&w->random, 1, 1) + random_draw(&w->random, 0, 0) + 2 * i);
        put_block(w, depth - 1);
        if (random_draw(&w->random, 0, 2)) put(w, "break;\n");
    }
    if (random_draw(&w->random, 0, 1)) {
        put(w, "default: ");
        put_block(w, depth - 1);
    }
    put(w, "}\n");
}

static void put_child(struct body_writer *w)
{
    if (random_draw(&w->random, 0, 2) > 0) {
        put(w, "leaf");
        return;
    }
    put(w, "(");
    put_condition(w, 1);
    put(w, " ? leaf : twig)");
}

/* A launch, or two and a question for the first. */
static void put_launch(struct body_writer *w, int depth)
{
    bool asks = depth > 0 && random_draw(&w->random, 0, 1);
    int event = w->events;
    if (asks) put(w, "{ event e%d = ", w->events++);
    put(w, "launch ");
    put_child(w);
    put(w, "(");
    put_expr(w, 2);
    put(w, ");\n");
    if (!asks) return;
    put(w, "launch leaf(a) after e%d;\n", event);
    if (random_draw(&w->random, 0, 1)) put_block(w, depth - 1);
    put(w, "if (done(e%d)) ", event);
    put_block(w, depth - 1);
    put(w, "}\n");
}

static void put_statement(struct body_writer *w, int depth)
{
    if (w->style == BODY_LAUNCHES && random_draw(&w->random, 0, 4) == 0) {
        put_launch(w, depth);
        return;
    }
    int pick = random_draw(&w->random, 0, 15);
    if (w->statements++ > 40) pick = 15;
    if (depth <= 0 && pick < 7) pick = 8;
    if (w->style == BODY_EXACT && (pick == 7 || pick == 10 || pick == 11)) pick = 12;
    switch (pick) {
    case 0:
    case 1:
    case 2:
        put(w, "if (");
        put_condition(w, 2);
        put(w, ") ");
        put_block(w, depth - 1);
        if (random_draw(&w->random, 0, 1)) {
            put(w, "else ");
            put_block(w, depth - 1);
        }
        break;
    case 3:
    case 4:
    case 5: put_loop(w, depth); break;
    case 6: put_switch(w, depth); break;
    case 7: put(w, "if (n < %d) { y <- a; n++; }\n", random_draw(&w->random, 1, 6)); break;
    case 9:
        if (w->loops > 0)
            put(w,
                random_draw(&w->random, 0, 1) ? "if (a > b) break;\n" : "if (a < 2) continue;\n");
        else
            put(w, "if (b == 3) return;\n");
        break;
    case 10: put(w, "{ i32 k = 5 - n; if (k > 0 && a >= 0 && a < k) c = T[n + a]; }\n"); break;
    case 11:
        put(w, "y <- ");
        put_expr(w, 2);
        put(w, ";\n");
        break;
    default: put_assignment(w); break;
    }
}

static void put_block(struct body_writer *w, int depth)
{
    put(w, "{ ");
    for (int i = random_draw(&w->random, 1, 3); i > 0; i--)
        put_statement(w, depth);
    put(w, "}\n");
}

static void write_asking(struct body_writer *w)
{
    draw_questions(w);
    put(w, "struct P { i32 u; i32 v; };\n"
           "fn i32 clamped(i32 v, i32 h) { if (v < 0) return 0; return v > h ? h : v; }\n"
           "fn i32 folded(i32 v, i32 h) { return v > 1 ? h - v : v; }\n"
           "kernel k(in i32 x peek 8, in i32 z peek 8, out i32 y push ..100000) {\n"
           "state i32 p; i32 a = x & 3; i32 b = x[1] & 3; i32 c; i32 n; bool f = x[2] > 2;\n"
           "i32 t[4] = {1, 2, 3}; P s; s.u = x[5]; s.v = x[6]; n = x[4] & 3;\n");
    for (int i = random_draw(&w->random, 1, 4); i > 0; i--)
        put_appending(w, 2);
    /* So that some is asked on both sides of a change. */
    put(w, "if (%s) y <- 1;\n", w->asked[0]);
    if (random_draw(&w->random, 0, 3)) put_change(w);
    put(w, "if (!(%s)) y <- 1;\n", w->asked[random_draw(&w->random, 0, 2) == 0]);
    put(w, "p += 1;\n}\npipeline main(in i32 a, in i32 c, out i32 b) { k(a, c -> b); }\n");
}

void body_write(struct body_writer *w, uint64_t seed, enum body_style style)
{
    *w = (struct body_writer){.random = {seed * 7919 + 1}, .style = style};
    if (style == BODY_ASKED) {
        write_asking(w);
        return;
    }
    const char *kept = style == BODY_STATE ? "state " : "";
    put(w,
        "const i32 T[8] = {3, 1, 4, 1, 5, 9, 2, 6};\n"
        "fn i32 clamped(i32 v, i32 h) { if (v < 0) return 0; return v > h ? h : v; }\n"
        "fn i32 picked(i32 v, i32 k) { i32 s = k; for (i32 j = 0; j < 4; j++) if (j <= v) s = "
        "T[(v + j) & 7]; return s %% 5; }\n"
        "%skernel k(in i32 x peek 8, out i32 y%s)%s {\n",
        style == BODY_LAUNCHES ? "child kernel leaf(in i32 x, out i32 y; i32 v) { y <- v; }\n"
                                 "child kernel twig(in i32 x, out i32 y; i32 v) { y <- -v; }\n"
                               : "",
        style == BODY_EXACT ? "" : " push ..100000",
        style == BODY_LAUNCHES ? " launches 20000 total 20000" : "");
    put(w, "%si32 p; %si32 q = %d; %si32 r[5];\n", kept, kept, random_draw(&w->random, 0, 7), kept);
    put(w, "i32 a = x & %d; i32 b = x[1]; i32 c; i32 n; u8 m; u32 u; i32 t[6] = {1, 2, 3};\n",
        random_draw(&w->random, 1, 15));
    for (int i = random_draw(&w->random, 2, 6); i > 0; i--)
        put_statement(w, 3);
    if (style == BODY_LAUNCHES) put_launch(w, 0);
    put(w,
        "p = (p + %d) %% %d; y <- a + (i32)m + (i32)u + c;\n}\n"
        "pipeline main(in i32 a, out i32 b) { k(a -> b); }\n",
        random_draw(&w->random, 1, 3), random_draw(&w->random, 2, 9));
}

/* ---- execution ---- */

static struct scalar_value evaluate(struct body_run *x, const struct kx *e);

static struct scalar_value *storage_of(struct body_run *x, const struct variable *v)
{
    if (v->kind != VARIABLE_STATE) return x->locals[v->index];
    for (size_t i = 0; i < x->kernel->states.count; i++)
        if (x->kernel->states.items[i] == v) return x->kept[i];
    abort();
}

static int64_t index_in(struct body_run *x, const struct kx *at, const struct kx *index,
                        int64_t length)
{
    __int128 i = index != NULL ? arith_as_exact(evaluate(x, index)) : 0;
    if (i >= 0 && i < length) return (int64_t)i;
    if (x->outside != NULL) x->outside(x, at);
    longjmp(x->fault, 1);
}

static struct scalar_value *place_of(struct body_run *x, const struct kx *e)
{
    if (e->kind == KX_VARIABLE) return storage_of(x, e->variable);
    struct scalar_value *base = storage_of(x, e->left->variable);
    if (e->kind == KX_MEMBER) return base + e->member;
    return base + index_in(x, e, e->right, (int64_t)e->left->type->length);
}

enum outcome { NEXT, BREAK, CONTINUE, RETURN };

static enum outcome execute(struct body_run *x, const struct ks *list);

static struct scalar_value call(struct body_run *x, const struct kx *e)
{
    struct scalar_value saved[BODY_VARIABLES][BODY_ITEMS], arguments[4];
    for (uint32_t i = 0; i < e->argument_count; i++)
        arguments[i] = evaluate(x, e->arguments[i]);
    memcpy(saved, x->locals, sizeof saved);
    for (uint32_t i = 0; i < e->argument_count; i++)
        x->locals[e->function->params[i]->index][0] = arguments[i];
    bool first_test = x->first_test;
    x->first_test = false;
    x->depth++;
    execute(x, e->function->body);
    x->depth--;
    x->first_test = first_test;
    memcpy(x->locals, saved, sizeof saved);
    return x->returned;
}

static struct scalar_value binary(struct body_run *x, enum kx_op op, struct scalar_value a,
                                  struct scalar_value b)
{
    struct scalar_value out;
    if (!arith_binary(op, a, b, &out)) longjmp(x->fault, 1);
    return out;
}

/* A struct from its parts. */
static struct scalar_value assign_parts(struct body_run *x, const struct kx *e)
{
    struct scalar_value parts[BODY_ITEMS] = {0}, *place = storage_of(x, e->left->variable);
    uint32_t count = e->right->argument_count;
    for (uint32_t i = 0; i < count; i++)
        parts[i] = evaluate(x, e->right->arguments[i]);
    memcpy(place, parts, count * sizeof *parts);
    return *place;
}

static struct scalar_value assign(struct body_run *x, const struct kx *e)
{
    if (e->right->kind == KX_AGGREGATE) return assign_parts(x, e);
    struct scalar_value *place = place_of(x, e->left);
    struct scalar_value old = *place, value = evaluate(x, e->right);
    if (e->op != OP_NONE)
        value = arith_convert(binary(x, e->op, arith_convert(old, e->operation->scalar), value),
                              e->type->scalar);
    *place = value;
    return e->postfix ? old : value;
}

static struct scalar_value evaluate_kind(struct body_run *x, const struct kx *e)
{
    struct scalar_value a[3];
    switch (e->kind) {
    case KX_CONSTANT: return e->value;
    case KX_VARIABLE: return *storage_of(x, e->variable);
    case KX_INDEX:
        if (e->left->kind == KX_VARIABLE && e->left->variable->kind == VARIABLE_CONSTANT)
            return e->left->variable
                ->constant[index_in(x, e, e->right, (int64_t)e->left->type->length)];
        return *place_of(x, e);
    case KX_MEMBER: return *place_of(x, e);
    case KX_PEEK: {
        int64_t i = index_in(x, e, e->right, 8);
        return (struct scalar_value){SCALAR_I32,
                                     (uint64_t)(int64_t)x->packets[(i + 5 * e->port) & 7]};
    }
    case KX_NEGATE: return arith_negate(evaluate(x, e->left));
    case KX_COMPLEMENT: return arith_complement(evaluate(x, e->left));
    case KX_NOT: return arith_bool(!arith_truth(evaluate(x, e->left)));
    case KX_BINARY:
        a[0] = evaluate(x, e->left);
        return binary(x, e->op, a[0], evaluate(x, e->right));
    case KX_COMPARE:
        a[0] = evaluate(x, e->left);
        return arith_bool(arith_compare(e->op, a[0], evaluate(x, e->right)));
    case KX_LOGICAL:
        a[0] = evaluate(x, e->left);
        if (arith_truth(a[0]) == (e->op == OP_LOGICAL_OR)) return a[0];
        return evaluate(x, e->right);
    case KX_SELECT: return evaluate(x, arith_truth(evaluate(x, e->left)) ? e->right : e->third);
    case KX_CONVERT: return arith_convert(evaluate(x, e->left), e->type->scalar);
    case KX_ASSIGN: return assign(x, e);
    case KX_CALL: return call(x, e);
    case KX_BUILTIN:
        for (uint32_t i = 0; i < e->argument_count; i++)
            a[i] = evaluate(x, e->arguments[i]);
        return arith_builtin(e->builtin, a);
    case KX_DONE:
        a[0] = evaluate(x, e->left);
        if (x->timed != NULL) x->timed(x);
        return arith_bool(a[0].bits & 1);
    default: abort();
    }
}

static struct scalar_value evaluate(struct body_run *x, const struct kx *e)
{
    if (x->fuel-- <= 0) longjmp(x->fault, 1);
    if (x->enter != NULL) x->enter(x, e);
    struct scalar_value value = evaluate_kind(x, e);
    if (x->leave != NULL) x->leave(x, e, value);
    return value;
}

static enum outcome execute_loop(struct body_run *x, const struct ks *s)
{
    bool tested = !s->test_after, first = tested;
    execute(x, s->init);
    for (;; tested = true) {
        if (x->fuel-- <= 0) longjmp(x->fault, 1);
        x->first_test = first;
        bool goes_on = !tested || s->expr == NULL || arith_truth(evaluate(x, s->expr));
        x->first_test = first = false;
        if (!goes_on) return NEXT;
        enum outcome out = execute(x, s->body);
        if (out == BREAK) return NEXT;
        if (out == RETURN) return RETURN;
        if (s->step != NULL) evaluate(x, s->step);
        if (x->statement != NULL) x->statement(x, s); /* a round */
    }
}

static enum outcome execute_switch(struct body_run *x, const struct ks *s)
{
    struct scalar_value value = evaluate(x, s->expr);
    const struct ks *first = s->body->kind == KS_BLOCK ? s->body->body : s->body, *from = NULL;
    for (const struct ks *c = first; c != NULL; c = c->next)
        if (c->kind == KS_CASE && !c->is_default && c->label.bits == value.bits) from = c;
    for (const struct ks *c = first; c != NULL && from == NULL; c = c->next)
        if (c->kind == KS_CASE && c->is_default) from = c;
    enum outcome out = execute(x, from);
    return out == BREAK ? NEXT : out;
}

static void declare(struct body_run *x, const struct ks *s)
{
    struct scalar_value *place = x->locals[s->variable->index];
    const struct type *base = type_base(s->variable->type);
    if (base->kind == TYPE_STRUCT) base = base->fields[0].type;
    for (int i = 0; i < BODY_ITEMS; i++)
        place[i] = (struct scalar_value){base->scalar, 0};
    if (s->expr == NULL) return;
    if (s->expr->kind != KX_AGGREGATE) {
        place[0] = evaluate(x, s->expr);
        return;
    }
    for (uint32_t i = 0; i < s->expr->argument_count; i++)
        if (s->expr->arguments[i] != NULL) place[i] = evaluate(x, s->expr->arguments[i]);
}

static void launch(struct body_run *x, const struct ks *s)
{
    if (s->launch->choice != NULL) evaluate(x, s->launch->choice);
    for (uint32_t i = 0; i < s->launch->argument_count; i++)
        evaluate(x, s->launch->arguments[i]);
    if (x->timed != NULL) x->timed(x);
    uint32_t number = x->launched++;
    if (s->variable != NULL)
        x->locals[s->variable->index][0] = (struct scalar_value){SCALAR_U32, number};
}

static enum outcome execute(struct body_run *x, const struct ks *list)
{
    for (const struct ks *s = list; s != NULL; s = s->next) {
        enum outcome out = NEXT;
        if (x->fuel-- <= 0) longjmp(x->fault, 1);
        if (x->statement != NULL && s->kind != KS_LOOP) x->statement(x, s);
        switch (s->kind) {
        case KS_EXPR: evaluate(x, s->expr); break;
        case KS_DECLARE: declare(x, s); break;
        case KS_BLOCK: out = execute(x, s->body); break;
        case KS_IF:
            out = execute(x, arith_truth(evaluate(x, s->expr)) ? s->body : s->otherwise);
            break;
        case KS_LOOP: out = execute_loop(x, s); break;
        case KS_SWITCH: out = execute_switch(x, s); break;
        case KS_CASE: break;
        case KS_BREAK: return BREAK;
        case KS_CONTINUE: return CONTINUE;
        case KS_RETURN:
            if (s->expr != NULL) x->returned = evaluate(x, s->expr);
            return RETURN;
        case KS_EMIT:
            evaluate(x, s->expr);
            x->appended++;
            break;
        case KS_LAUNCH: launch(x, s); break;
        default: abort();
        }
        if (out != NEXT) return out;
    }
    return NEXT;
}

void body_execute(struct body_run *x, const struct ks *code)
{
    execute(x, code);
}

void body_begin_states(struct body_run *x)
{
    for (size_t i = 0; i < x->kernel->states.count; i++)
        for (int j = 0; j < BODY_ITEMS; j++)
            x->kept[i][j] = (struct scalar_value){SCALAR_I32, 0};
    if (x->kernel->init != NULL) execute(x, x->kernel->init);
}
