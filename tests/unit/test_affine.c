/* SPDX-License-Identifier: MIT */
/* Whether two items can meet at one place, against trying all of them. */
#include "tests/test.h"

#include "compiler/bodies/affine.h"

enum { SYMBOLS = 3, SYMBOL_VALUES = 3 };

struct random {
    uint64_t state;
};

static int draw(struct random *random, int low, int high)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return low + (int)((random->state >> 33) % (uint64_t)(high - low + 1));
}

struct item {
    int index[3];
};

struct values {
    int of[SYMBOLS]; /* each from 0 to SYMBOL_VALUES - 1 */
};

static int64_t value_of(const struct affine *form, const struct item *item,
                        const struct values *values)
{
    int64_t sum = form->constant;
    for (int d = 0; d < 3; d++)
        sum += form->item[d] * item->index[d];
    for (uint32_t i = 0; i < form->count; i++)
        sum += form->terms[i].factor * values->of[form->terms[i].symbol];
    return sum;
}

/* Whether the item may be at the place: guards hold, indices lie within. */
static bool is_at(const struct affine_place *place, const struct item *item,
                  const struct values *values)
{
    for (const struct affine_guard *g = place->guards; g; g = g->outer) {
        int64_t value = value_of(&g->form, item, values);
        if (g->kind == GUARD_ZERO ? value != 0 : value > 0) return false;
    }
    for (uint32_t i = 0; i < place->dimensions; i++) {
        int64_t index = value_of(&place->index[i], item, values);
        if (index < 0 || index >= (int64_t)place->length[i]) return false;
    }
    return true;
}

static struct values values_of(int number)
{
    struct values values;
    for (int i = 0; i < SYMBOLS; i++, number /= SYMBOL_VALUES)
        values.of[i] = number % SYMBOL_VALUES;
    return values;
}

static struct item item_of(const uint32_t group[3], int number)
{
    struct item item;
    for (int d = 0; d < 3; d++) {
        item.index[d] = number % (int)group[d];
        number /= (int)group[d];
    }
    return item;
}

static bool overlap(const struct affine_place *a, const struct item *p, const struct values *v,
                    const struct affine_place *b, const struct item *q, const struct values *w)
{
    for (uint32_t i = 0; i < a->dimensions && i < b->dimensions; i++)
        if (value_of(&a->index[i], p, v) != value_of(&b->index[i], q, w)) return false;
    return is_at(a, p, v) && is_at(b, q, w);
}

/* The first symbol is stable, the others each item's own. */
static bool really_meet(const uint32_t group[3], const struct affine_place *a,
                        const struct affine_place *b)
{
    int items = (int)(group[0] * group[1] * group[2]), all = 27;
    for (int p = 0; p < items; p++)
        for (int q = 0; q < items; q++)
            for (int v = 0; p != q && v < all; v++)
                for (int w = v % SYMBOL_VALUES; w < all; w += SYMBOL_VALUES) {
                    struct item at_p = item_of(group, p), at_q = item_of(group, q);
                    struct values of_p = values_of(v), of_q = values_of(w);
                    if (overlap(a, &at_p, &of_p, b, &at_q, &of_q)) return true;
                }
    return false;
}

static struct affine random_form(struct random *random, int items, int terms)
{
    struct affine form = affine_constant(draw(random, -3, 3));
    static const int64_t factors[] = {-4, -2, -1, 0, 0, 1, 1, 2, 3, 4, 6, 8};
    for (int d = 0; d < items; d++)
        form.item[d] = factors[draw(random, 0, 11)];
    for (uint32_t i = 0; i < SYMBOLS; i++) {
        struct affine symbol = {.count = 1, .terms = {{i, 1}}};
        int64_t factor = factors[draw(random, 0, 11)];
        if (draw(random, 0, terms) > 0) assert_true(affine_add(&form, &symbol, factor));
    }
    return form;
}

static void random_place(struct random *random, struct affine_place *place,
                         struct affine_guard *guards)
{
    *place = (struct affine_place){.dimensions = (uint32_t)draw(random, 0, 2)};
    for (uint32_t i = 0; i < place->dimensions; i++) {
        place->index[i] = random_form(random, 3, 1);
        place->length[i] = (uint64_t)draw(random, 4, 24);
    }
    for (int i = draw(random, 0, 2); i > 0; i--) {
        guards[i] =
            (struct affine_guard){.outer = place->guards,
                                  .kind = draw(random, 0, 2) ? GUARD_AT_MOST_ZERO : GUARD_ZERO,
                                  .form = random_form(random, draw(random, 1, 3), 1)};
        place->guards = &guards[i];
    }
}

static struct affine_symbols make_symbols(struct arena *arena)
{
    struct affine_symbols symbols = {.arena = arena};
    for (int i = 0; i < SYMBOLS; i++)
        affine_fresh(&symbols, (struct affine_symbol){0, SYMBOL_VALUES - 1, i == 0});
    return symbols;
}

static void no_meeting_is_overlooked(void **state)
{
    static const uint32_t groups[][3] = {{8, 1, 1}, {4, 3, 1}, {2, 2, 3}, {1, 5, 1}, {3, 1, 2}};
    struct arena *arena = arena_create();
    struct affine_symbols symbols = make_symbols(arena);
    struct random random = {1};
    int excluded = 0, possible = 0;
    (void)state;
    for (int n = 0; n < 3000; n++) {
        const uint32_t *group = groups[n % 5];
        struct affine_place a, b;
        struct affine_guard guards[2][3];
        random_place(&random, &a, guards[0]);
        random_place(&random, &b, guards[1]);
        if (n % 3 == 0) b = a;
        bool may = affine_may_meet(&symbols, group, &a, &b);
        if (!may && really_meet(group, &a, &b)) fail_msg("case %d", n);
        *(may ? &possible : &excluded) += 1;
    }
    assert_true(excluded > 200 && possible > 200);
    arena_destroy(arena);
}

static struct affine form_of(int64_t x, int64_t y, int64_t constant)
{
    return (struct affine){.item = {x, y, 0}, .constant = constant};
}

static bool meets(const uint32_t group[3], struct affine a, struct affine b)
{
    struct arena *arena = arena_create();
    struct affine_symbols symbols = {.arena = arena};
    struct affine_place first = {1, {a}, {1 << 20}, NULL}, second = {1, {b}, {1 << 20}, NULL};
    bool result = affine_may_meet(&symbols, group, &first, &second);
    arena_destroy(arena);
    return result;
}

static void indices_of_their_own_never_meet(void **state)
{
    static const uint32_t line[] = {64, 1, 1}, tile[] = {16, 8, 1};
    (void)state;
    assert_false(meets(line, form_of(1, 0, 0), form_of(1, 0, 0)));
    assert_false(meets(line, form_of(-3, 0, 200), form_of(-3, 0, 200)));
    assert_false(meets(tile, form_of(1, 16, 0), form_of(1, 16, 0)));
    assert_false(meets(tile, form_of(8, 1, 0), form_of(8, 1, 0)));
    assert_false(meets(line, form_of(1, 0, 0), form_of(1, 0, 64)));
    assert_false(meets(line, form_of(2, 0, 0), form_of(2, 0, 1)));
}

static void neighbours_and_narrow_rows_meet(void **state)
{
    static const uint32_t line[] = {64, 1, 1}, tile[] = {16, 8, 1};
    (void)state;
    assert_true(meets(line, form_of(1, 0, 0), form_of(1, 0, 1)));
    assert_true(meets(line, form_of(0, 0, 5), form_of(0, 0, 5)));
    assert_true(meets(tile, form_of(1, 15, 0), form_of(1, 15, 0)));
    assert_true(meets(tile, form_of(1, 0, 0), form_of(1, 0, 0)));
}

TEST_MAIN("affine", cmocka_unit_test(no_meeting_is_overlooked),
          cmocka_unit_test(indices_of_their_own_never_meet),
          cmocka_unit_test(neighbours_and_narrow_rows_meet))
