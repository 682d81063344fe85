/* SPDX-License-Identifier: MIT */
/* Bounds of trees of launches, against trees that are grown one launch at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

#include "compiler/bodies/amplify.h"
#include "tests/unit/compile_text.h"
#include "tests/unit/random_body.h"

enum { KERNELS = 4, STATEMENTS = 2, LEVELS = 4 };

/* A kernel launches `count[s]` times the child `child[s]`, one after the other. */
struct model {
    int own[KERNELS], statements[KERNELS];
    int child[KERNELS][STATEMENTS], count[KERNELS][STATEMENTS];
    bool single; /* each kernel launches children of one kind */
};

static struct model random_model(struct random *r)
{
    struct model m = {.single = random_draw(r, 0, 1) == 0};
    for (int k = 0; k < KERNELS; k++) {
        m.own[k] = random_draw(r, 0, 3);
        m.statements[k] = k == 0 ? STATEMENTS : random_draw(r, 0, STATEMENTS);
        for (int s = 0; s < m.statements[k]; s++) {
            m.child[k][s] = m.single && s > 0 ? m.child[k][0] : random_draw(r, 1, KERNELS - 1);
            m.count[k][s] = random_draw(r, 1, 2);
        }
    }
    m.own[1] = 1; /* something is written */
    m.child[0][0] = 1;
    if (m.single) m.child[0][1] = 1;
    return m;
}

static void write_kernel(FILE *to, const struct model *m, int k)
{
    if (k == 0)
        fprintf(to, "kernel k(in i32 x, out i32 y) nesting %d {\n", LEVELS);
    else
        fprintf(to, "child kernel c%d(in i32 x, out i32 y; i32 n) {\n", k);
    for (int i = 0; i < m->own[k]; i++)
        fprintf(to, "y <- x;\n");
    for (int s = 0; s < m->statements[k]; s++)
        fprintf(to, "%sfor (i32 i = 0; i < %d; i++) launch c%d(%s);\n", k == 0 ? "" : "if (n > 0) ",
                m->count[k][s], m->child[k][s], k == 0 ? "x" : "n - 1");
    fprintf(to, "}\n");
}

/* ---- growing a tree ---- */

struct grown {
    uint64_t launches, packets, waiting, most_waiting;
};

/* One firing with all that it launches: its launches wait until the trees before them have ended. */
static void grow(const struct model *m, int k, int levels, struct grown *g)
{
    g->packets += (uint64_t)m->own[k];
    if (levels == 0) return;
    uint64_t launched = 0;
    for (int s = 0; s < m->statements[k]; s++)
        launched += (uint64_t)m->count[k][s];
    g->launches += launched;
    g->waiting += launched;
    if (g->waiting > g->most_waiting) g->most_waiting = g->waiting;
    uint64_t waiting = g->waiting;
    for (int s = 0; s < m->statements[k]; s++)
        for (int i = 0; i < m->count[k][s]; i++) {
            g->waiting =
                waiting; /* the same while each of them runs: room is given back together */
            grow(m, m->child[k][s], levels - 1, g);
        }
    g->waiting = waiting - launched;
}

static int depth_of(const struct model *m, int k, int levels)
{
    int deepest = 0;
    for (int s = 0; levels > 0 && s < m->statements[k]; s++) {
        int depth = 1 + depth_of(m, m->child[k][s], levels - 1);
        if (depth > deepest) deepest = depth;
    }
    return deepest;
}

static void check_model(const struct model *m)
{
    char text[4096];
    FILE *to = fmemopen(text, sizeof text, "w");
    assert_non_null(to);
    for (int k = 0; k < KERNELS; k++)
        write_kernel(to, m, k);
    fprintf(to, "pipeline main(in i32 a, out i32 b) { k(a -> b); }\n");
    fclose(to);
    struct text_compile *c = text_compile(text);
    assert_non_null(c->graph);
    amplify_infer_rates(&c->cx, c->graph);
    if (diag_failed(c->cx.diags)) fail_msg("%s", text);
    const struct kernel *k = c->graph->kernels.items[0];
    int levels = depth_of(m, 0, LEVELS);
    struct grown g = {0};
    grow(m, 0, levels, &g);
    assert_int_equal(k->launches.nesting, levels);
    assert_true(k->launches.tree >= g.launches);
    assert_true(k->launches.queue_entries >= g.most_waiting);
    assert_true(k->out[0].push >= g.packets);
    assert_int_equal(k->out[0].push_least, m->own[0]);
    if (m->single) {
        assert_int_equal(k->launches.tree, g.launches);
        assert_int_equal(k->launches.queue_entries, g.most_waiting);
        assert_int_equal(k->out[0].push, g.packets);
    }
    text_compile_free(c);
}

static void bounds_hold_for_every_tree_and_are_met_where_children_are_alike(void **state)
{
    (void)state;
    struct random r = {.state = 7};
    for (int i = 0; i < 300; i++) {
        struct model m = random_model(&r);
        check_model(&m);
    }
}

TEST_MAIN("launches",
          cmocka_unit_test(bounds_hold_for_every_tree_and_are_met_where_children_are_alike))
