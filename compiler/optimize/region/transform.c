/* SPDX-License-Identifier: MIT */
#include "compiler/optimize/region/transform.h"

#include "compiler/ir/arith.h"

enum { RADIX_MAX = TRANSFORM_RADIX_MAX, STAGES_MAX = TRANSFORM_DOUBLINGS_MAX };

/* Blocks of `length` are split into `radix` parts. */
struct stage {
    uint64_t length, radix;
};

/* Fills the stages that split a block of `points` into rows of `row`.  Returns their number. */
static size_t plan_transform_stages(uint64_t points, uint64_t row, struct stage *stages)
{
    size_t count = 0;
    for (uint64_t length = points; length > row; count++) {
        uint64_t radix = length / row >= RADIX_MAX ? RADIX_MAX : 2;
        stages[count] = (struct stage){length, radix};
        length /= radix;
    }
    return count;
}

static uint64_t reverse_digits(uint64_t value, uint64_t range)
{
    uint64_t result = 0;
    for (; range > 1; range /= 2, value /= 2)
        result = result * 2 + value % 2;
    return result;
}

uint64_t transform_frequency(uint64_t points, uint64_t place)
{
    return reverse_digits(place, points);
}

/* ---- in f64 ---- */

/* Sine or cosine of 0 <= x <= pi / 4, by the series about 0: the first omitted term is below 2^-60 of the result. */
static double sum_series(double x, double first, unsigned power)
{
    enum { TERMS = 9 };
    double sum = 0, square = x * x;
    for (unsigned n = TERMS; n-- > 0;)
        sum = 1 - square / ((2 * n + power + 1) * (2 * n + power + 2)) * sum;
    return first * sum;
}

/* exp(-2 pi i number / points), to about an ulp, the same on every machine. */
static void unit_root(uint64_t points, uint64_t number, double *re, double *im)
{
    static const double two_pi = 6.283185307179586476925;
    for (; points < 4; points *= 2)
        number *= 2;
    uint64_t quarter = points / 4, turn = number % points / quarter, rest = number % quarter;
    bool upper = 2 * rest > quarter; /* nearer to the next quarter */
    double x = two_pi * (double)(upper ? quarter - rest : rest) / (double)points;
    double sine = sum_series(x, x, 1), cosine = sum_series(x, 1, 0);
    double c = upper ? sine : cosine, s = upper ? cosine : sine;
    *re = turn == 0 ? c : turn == 1 ? -s : turn == 2 ? -c : s;
    *im = turn == 0 ? -s : turn == 1 ? -c : turn == 2 ? s : c;
}

static void swap_doubles(double *a, double *b)
{
    double kept = *a;
    *a = *b;
    *b = kept;
}

void transform_in_f64(double *re, double *im, uint64_t points)
{
    for (uint64_t half = points / 2; half > 0; half /= 2)
        for (uint64_t j = 0; j < half; j++) {
            double c = 1, s = 0;
            if (j > 0) unit_root(points, j * (points / 2 / half), &c, &s);
            for (uint64_t a = j; a < points; a += 2 * half) {
                uint64_t b = a + half;
                double real = re[a] - re[b], imaginary = im[a] - im[b];
                re[a] += re[b];
                im[a] += im[b];
                re[b] = c * real - s * imaginary;
                im[b] = c * imaginary + s * real;
            }
        }
    for (uint64_t p = 0; p < points; p++) {
        uint64_t other = reverse_digits(p, points);
        if (other <= p) continue;
        swap_doubles(&re[p], &re[other]);
        swap_doubles(&im[p], &im[other]);
    }
}

/* ---- expressions ---- */

static const char *fresh_name(struct transform *t)
{
    return arena_printf(t->tree.arena, "t%u", t->names++);
}

static const struct variable *keep_value(struct transform *t, struct build_list *list,
                                         struct kx *value)
{
    struct variable *local = build_local(&t->tree, fresh_name(t), value->type, true);
    build_append(list, build_declare(&t->tree, local, value));
    return local;
}

static struct kx *transform_operation(struct transform *t, enum kx_op op, const struct variable *a,
                                      const struct variable *b)
{
    return build_binary(&t->tree, op, a->type, build_variable(&t->tree, a),
                        build_variable(&t->tree, b));
}

static struct transform_pair operate_on_pairs(struct transform *t, struct build_list *list,
                                              enum kx_op op, struct transform_pair a,
                                              struct transform_pair b)
{
    const struct variable *re = keep_value(t, list, transform_operation(t, op, a.re, b.re));
    return (struct transform_pair){re, keep_value(t, list, transform_operation(t, op, a.im, b.im))};
}

static struct kx *build_negation(struct transform *t, struct kx *value)
{
    struct kx *x = build_kx(&t->tree, KX_NEGATE, value->type);
    x->left = value;
    return x;
}

/* a * b, or with the conjugate of b. */
static struct transform_pair complex_product(struct transform *t, struct build_list *list,
                                             struct transform_pair a, struct transform_pair b,
                                             bool conjugate)
{
    struct kx *real = transform_operation(t, OP_MUL, a.im, b.im);
    struct kx *imaginary = transform_operation(t, OP_MUL, a.re, b.im);
    if (conjugate)
        imaginary = build_negation(t, imaginary);
    else
        real = build_negation(t, real);
    real =
        build_fma(&t->tree, build_variable(&t->tree, a.re), build_variable(&t->tree, b.re), real);
    imaginary = build_fma(&t->tree, build_variable(&t->tree, a.im), build_variable(&t->tree, b.re),
                          imaginary);
    const struct variable *re = keep_value(t, list, real);
    return (struct transform_pair){re, keep_value(t, list, imaginary)};
}

static struct scalar_value rounded_to_type(const struct transform *t, double value)
{
    return arith_convert(arith_f64(value), t->scalar);
}

/* a times exp(-2 pi i number / points), or its conjugate. */
static struct transform_pair turn_value(struct transform *t, struct build_list *list,
                                        struct transform_pair a, uint64_t points, uint64_t number,
                                        bool conjugate)
{
    double re, im;
    if (number == 0) return a;
    if (4 * number == points) {
        const struct variable *part = conjugate ? a.im : a.re;
        const struct variable *other =
            keep_value(t, list, build_negation(t, build_variable(&t->tree, part)));
        return conjugate ? (struct transform_pair){other, a.re}
                         : (struct transform_pair){a.im, other};
    }
    unit_root(points, number, &re, &im);
    struct transform_pair root = {
        keep_value(t, list, build_constant(&t->tree, rounded_to_type(t, re))),
        keep_value(t, list, build_constant(&t->tree, rounded_to_type(t, im)))};
    return complex_product(t, list, a, root, conjugate);
}

/* ---- transforms of a few values ---- */

/* Transforms `count` values in place; place p becomes frequency reverse_digits(p). */
static void split_values(struct transform *t, struct build_list *list,
                         struct transform_pair *values, uint64_t count)
{
    uint64_t half = count / 2;
    if (half == 0) return;
    for (uint64_t j = 0; j < half; j++) {
        struct transform_pair a = values[j], b = values[j + half];
        values[j] = operate_on_pairs(t, list, OP_ADD, a, b);
        values[j + half] =
            turn_value(t, list, operate_on_pairs(t, list, OP_SUB, a, b), count, j, false);
    }
    split_values(t, list, values, half);
    split_values(t, list, values + half, half);
}

/* The reverse of split_values; computes only the results at multiples of `every`. */
static void join_values(struct transform *t, struct build_list *list, struct transform_pair *values,
                        uint64_t count, uint64_t every)
{
    uint64_t half = count / 2;
    if (half == 0) return;
    join_values(t, list, values, half, every);
    join_values(t, list, values + half, half, every);
    for (uint64_t j = 0; j < half; j += every) {
        struct transform_pair a = values[j];
        struct transform_pair b = turn_value(t, list, values[j + half], count, j, true);
        values[j] = operate_on_pairs(t, list, OP_ADD, a, b);
        if (half % every == 0) values[j + half] = operate_on_pairs(t, list, OP_SUB, a, b);
    }
}

static uint64_t turn_operations(uint64_t points, uint64_t number)
{
    return number == 0 || 4 * number == points ? 0 : 4;
}

static uint64_t split_operations(uint64_t count)
{
    uint64_t half = count / 2, operations = 0;
    if (half == 0) return 0;
    for (uint64_t j = 0; j < half; j++)
        operations += 4 + turn_operations(count, j);
    return operations + 2 * split_operations(half);
}

static uint64_t join_operations(uint64_t count, uint64_t every)
{
    uint64_t half = count / 2, operations = 0;
    if (half == 0) return 0;
    for (uint64_t j = 0; j < half; j += every)
        operations += (half % every == 0 ? 4 : 2) + turn_operations(count, j);
    return operations + 2 * join_operations(half, every);
}

uint64_t transform_forward_operations(uint64_t points)
{
    struct stage stages[STAGES_MAX];
    uint64_t operations = points / TRANSFORM_ROW * split_operations(TRANSFORM_ROW);
    for (size_t i = plan_transform_stages(points, TRANSFORM_ROW, stages); i-- > 0;) {
        uint64_t radix = stages[i].radix;
        operations += points / radix * (split_operations(radix) + 4 * (radix - 1));
    }
    return operations;
}

uint64_t transform_back_operations(uint64_t points, uint64_t every)
{
    struct stage stages[STAGES_MAX];
    uint64_t operations = points / TRANSFORM_ROW * join_operations(TRANSFORM_ROW, every);
    points /= every;
    for (size_t i = plan_transform_stages(points, TRANSFORM_ROW / every, stages); i-- > 0;) {
        uint64_t radix = stages[i].radix;
        operations += points / radix * (join_operations(radix, 1) + 4 * (radix - 1));
    }
    return operations;
}

/* ---- arrays ---- */

static const struct variable *new_array(struct transform *t, struct build_list *list,
                                        uint64_t count)
{
    const struct type *type =
        type_array(t->tree.types, type_scalar(t->tree.types, t->scalar), count);
    struct variable *local = build_local(&t->tree, fresh_name(t), type, false);
    build_append(list, build_declare(&t->tree, local, NULL));
    return local;
}

struct transform_pair transform_arrays(struct transform *t, struct build_list *list, uint64_t count)
{
    const struct variable *re = new_array(t, list, count);
    return (struct transform_pair){re, new_array(t, list, count)};
}

/* variable + offset */
static struct kx *offset_place(struct transform *t, const struct variable *variable,
                               uint64_t offset)
{
    struct kx *x = build_variable(&t->tree, variable);
    if (offset == 0) return x;
    return build_binary(&t->tree, OP_ADD, x->type, x, build_i32(&t->tree, offset));
}

static struct kx *transform_item(struct transform *t, const struct variable *of, struct kx *index)
{
    return build_index(&t->tree, build_variable(&t->tree, of), index);
}

static struct transform_pair load_pair(struct transform *t, struct build_list *list,
                                       struct transform_pair from, const struct variable *at,
                                       uint64_t offset)
{
    const struct variable *re =
        keep_value(t, list, transform_item(t, from.re, offset_place(t, at, offset)));
    return (struct transform_pair){
        re, keep_value(t, list, transform_item(t, from.im, offset_place(t, at, offset)))};
}

static void store_part(struct transform *t, struct build_list *list, struct kx *to,
                       const struct variable *value)
{
    build_append(list, build_expression(
                           &t->tree, build_assign(&t->tree, to, build_variable(&t->tree, value))));
}

static void store_pair(struct transform *t, struct build_list *list, struct transform_pair to,
                       const struct variable *at, uint64_t offset, struct transform_pair value)
{
    store_part(t, list, transform_item(t, to.re, offset_place(t, at, offset)), value.re);
    store_part(t, list, transform_item(t, to.im, offset_place(t, at, offset)), value.im);
}

static struct variable *transform_counter(struct transform *t)
{
    return build_local(&t->tree, fresh_name(t), type_scalar(t->tree.types, SCALAR_I32), false);
}

/* ---- stages ---- */

/* exp(-2 pi i j k / length) for the j of a part. */
static struct transform_pair roots_of_unity(struct transform *t, const struct stage *stage,
                                            uint64_t k)
{
    uint64_t part = stage->length / stage->radix;
    unsigned doublings = 0;
    while (stage->length >> doublings > 1)
        doublings++;
    struct transform_pair *kept = &t->roots[doublings][k];
    if (kept->re != NULL) return *kept;
    struct scalar_value *re = ARENA_ARRAY(t->tree.arena, struct scalar_value, part);
    struct scalar_value *im = ARENA_ARRAY(t->tree.arena, struct scalar_value, part);
    for (uint64_t j = 0; j < part; j++) {
        double c, s;
        unit_root(stage->length, j * k, &c, &s);
        re[j] = rounded_to_type(t, c);
        im[j] = rounded_to_type(t, s);
    }
    kept->re = build_constant_array(&t->tree, fresh_name(t), re, part);
    kept->im = build_constant_array(&t->tree, fresh_name(t), im, part);
    return *kept;
}

/* The loops of a stage: over the blocks, and over the places in a part.  `at` is the sum of both. */
struct round {
    struct variable *block, *in_part;
    struct build_list body;
    const struct variable *at;
};

static struct round begin_transform_round(struct transform *t, const struct stage *stage,
                                          uint64_t points)
{
    struct round round = {.block = transform_counter(t), .in_part = transform_counter(t)};
    struct kx *at = build_variable(&t->tree, round.in_part);
    if (stage->length < points) {
        struct kx *first =
            build_binary(&t->tree, OP_MUL, at->type, build_variable(&t->tree, round.block),
                         build_i32(&t->tree, stage->length));
        at = build_binary(&t->tree, OP_ADD, at->type, first, at);
    }
    round.at = keep_value(t, &round.body, at);
    return round;
}

static void end_round(struct transform *t, struct build_list *list, const struct stage *stage,
                      uint64_t points, const struct round *round)
{
    struct ks *loop = build_loop(&t->tree, round->in_part, stage->length / stage->radix,
                                 build_block(&t->tree, &round->body));
    if (stage->length < points)
        loop = build_loop(&t->tree, round->block, points / stage->length, loop);
    build_append(list, loop);
}

static void stage_forward(struct transform *t, struct build_list *list, const struct stage *stage,
                          struct transform_pair block)
{
    struct transform_pair values[RADIX_MAX];
    uint64_t radix = stage->radix, part = stage->length / radix;
    struct round round = begin_transform_round(t, stage, t->points);
    for (uint64_t k = 0; k < radix; k++)
        values[k] = load_pair(t, &round.body, block, round.at, k * part);
    split_values(t, &round.body, values, radix);
    for (uint64_t k = 0; k < radix; k++) {
        if (k > 0) {
            struct transform_pair root =
                load_pair(t, &round.body, roots_of_unity(t, stage, reverse_digits(k, radix)),
                          round.in_part, 0);
            values[k] = complex_product(t, &round.body, values[k], root, false);
        }
        store_pair(t, &round.body, block, round.at, k * part, values[k]);
    }
    end_round(t, list, stage, t->points, &round);
}

static void stage_back(struct transform *t, struct build_list *list, const struct stage *stage,
                       uint64_t points, struct transform_pair block)
{
    struct transform_pair values[RADIX_MAX];
    uint64_t radix = stage->radix, part = stage->length / radix;
    struct round round = begin_transform_round(t, stage, points);
    for (uint64_t k = 0; k < radix; k++) {
        values[k] = load_pair(t, &round.body, block, round.at, k * part);
        if (k == 0) continue;
        struct transform_pair root = load_pair(
            t, &round.body, roots_of_unity(t, stage, reverse_digits(k, radix)), round.in_part, 0);
        values[k] = complex_product(t, &round.body, values[k], root, true);
    }
    join_values(t, &round.body, values, radix, 1);
    for (uint64_t k = 0; k < radix; k++)
        store_pair(t, &round.body, block, round.at, k * part, values[k]);
    end_round(t, list, stage, points, &round);
}

void transform_forward(struct transform *t, struct build_list *list, struct transform_pair block)
{
    struct stage stages[STAGES_MAX];
    size_t count = plan_transform_stages(t->points, TRANSFORM_ROW, stages);
    for (size_t i = 0; i < count; i++)
        stage_forward(t, list, &stages[i], block);
}

void transform_back(struct transform *t, struct build_list *list, struct transform_pair block)
{
    struct stage stages[STAGES_MAX];
    uint64_t points = t->points / t->every;
    for (size_t i = plan_transform_stages(points, TRANSFORM_ROW / t->every, stages); i-- > 0;)
        stage_back(t, list, &stages[i], points, block);
}

/* ---- rows ---- */

static void multiply_row(struct transform *t, struct build_list *list, const struct variable *row,
                         const struct transform_pair *values, const struct transform_product *by)
{
    struct transform_pair back[TRANSFORM_ROW];
    uint64_t wanted = TRANSFORM_ROW / t->every;
    struct kx *first = build_binary(&t->tree, OP_MUL, row->type, build_variable(&t->tree, row),
                                    build_i32(&t->tree, wanted));
    const struct variable *at = keep_value(t, list, first);
    for (uint64_t k = 0; k < TRANSFORM_ROW; k++) {
        struct transform_pair factor =
            load_pair(t, list, by->factors, row, k * (t->points / TRANSFORM_ROW));
        back[k] = complex_product(t, list, values[k], factor, false);
    }
    join_values(t, list, back, TRANSFORM_ROW, t->every);
    for (uint64_t k = 0; k < wanted; k++)
        store_pair(t, list, by->to, at, k, back[k * t->every]);
}

void transform_multiply(struct transform *t, struct build_list *list, struct transform_pair block,
                        const struct transform_product *products, size_t count)
{
    struct transform_pair values[TRANSFORM_ROW];
    struct build_list body = {0};
    struct variable *row = transform_counter(t);
    struct kx *first = build_binary(&t->tree, OP_MUL, row->type, build_variable(&t->tree, row),
                                    build_i32(&t->tree, TRANSFORM_ROW));
    const struct variable *at = keep_value(t, &body, first);
    for (uint64_t k = 0; k < TRANSFORM_ROW; k++)
        values[k] = load_pair(t, &body, block, at, k);
    split_values(t, &body, values, TRANSFORM_ROW);
    for (size_t i = 0; i < count; i++)
        multiply_row(t, &body, row, values, &products[i]);
    build_append(
        list, build_loop(&t->tree, row, t->points / TRANSFORM_ROW, build_block(&t->tree, &body)));
}
