/* SPDX-License-Identifier: MIT */
#include "compiler/optimize/region/overlap_save.h"

#include "compiler/optimize/region/transform.h"

enum {
    PUSH_MAX = 8,     /* packets of an iteration, with one spectrum for each */
    NEAR_EIGHTHS = 9, /* up to 9 / 8 of the minimum cost counts as about the minimum */
    /* An operation of a transform takes 1.3 times as long as one of a sum (measured), and the
     * gain has to be 1.3. */
    PAYS_TENTHS = 17,
};

/* ---- which blocks ---- */

static uint64_t most_needed(const struct linear_filter *f)
{
    uint64_t most = 0;
    for (uint64_t j = 0; j < f->push; j++)
        if (f->needs[j] > most) most = f->needs[j];
    return most;
}

static uint64_t least_needed(const struct linear_filter *f)
{
    uint64_t least = UINT64_MAX;
    for (uint64_t j = 0; j < f->push; j++)
        if (f->needs[j] < least) least = f->needs[j];
    return least;
}

/* The largest power of two, up to TRANSFORM_ROW, that divides the distance of the wanted packets. */
static uint64_t every_of(uint64_t pop)
{
    uint64_t every = pop & (~pop + 1);
    return every < TRANSFORM_ROW ? every : TRANSFORM_ROW;
}

/* At most `most` iterations, a small number times a power of two.  Large odd factors would make the iteration of the
 * whole graph long. */
static uint64_t rounded_down(uint64_t most)
{
    uint64_t step = 1;
    while (step * 32 <= most)
        step *= 2;
    return most / step * step;
}

static struct overlap_save blocks_of(const struct linear_filter *f, uint64_t points)
{
    struct overlap_save b = {.filter = *f,
                             .points = points,
                             .iterations = rounded_down((points - f->window) / f->pop + 1),
                             .blocks = f->is_complex ? 1 : 2,
                             .every = every_of(f->pop)};
    uint64_t multiply = 4 * points + transform_back_operations(points, b.every);
    b.operations = transform_forward_operations(points) + f->push * multiply;
    return b;
}

/* Does a cost more than parts / 8 times b, per iteration of the filter? */
static bool is_dearer(const struct overlap_save *a, const struct overlap_save *b, uint64_t parts)
{
    return (unsigned __int128)a->operations * b->iterations * 8 >
           (unsigned __int128)b->operations * a->iterations * parts;
}

bool overlap_save_choose(const struct linear_filter *filter, uint64_t operations,
                         struct overlap_save *chosen)
{
    struct overlap_save best = {0};
    if (filter->push > PUSH_MAX || filter->window > TRANSFORM_POINTS_MAX) return false;
    /* Fewer packets than a firing consumes may be left at the end. */
    if (most_needed(filter) - least_needed(filter) > filter->pop) return false;
    for (uint64_t n = TRANSFORM_POINTS_MAX; n >= TRANSFORM_POINTS_MIN && n >= filter->window;
         n /= 2) {
        struct overlap_save b = blocks_of(filter, n);
        if (best.points == 0 || is_dearer(&best, &b, 8)) best = b;
    }
    *chosen = best;
    for (uint64_t n = best.points / 2; n >= TRANSFORM_POINTS_MIN && n >= filter->window; n /= 2) {
        struct overlap_save b = blocks_of(filter, n);
        if (!is_dearer(&b, &best, NEAR_EIGHTHS)) *chosen = b;
    }
    return best.points > 0 &&
           (unsigned __int128)chosen->operations * PAYS_TENTHS <=
               (unsigned __int128)operations * 10 * chosen->blocks * chosen->iterations;
}

/* ---- the kernel ---- */

struct writer {
    const struct overlap_save *b;
    const struct linear_filter *f;
    struct transform transform;
    struct transform_pair spectra[PUSH_MAX]; /* by packet of an iteration */
    /* In `finish`: the packets that are left.  NULL in the body. */
    const struct variable *left;
};

/* The distance of two blocks in the stream, in packets. */
static uint64_t block_packets(const struct writer *w)
{
    return w->b->iterations * w->f->pop;
}

static const struct type *type_of(const struct writer *w, enum scalar_type scalar)
{
    return type_scalar(w->transform.tree.types, scalar);
}

/* The counter converted to the type of left(). */
static struct kx *as_i64(const struct writer *w, const struct variable *counter)
{
    struct kx *x = build_kx(&w->transform.tree, KX_CONVERT, type_of(w, SCALAR_I64));
    x->left = build_variable(&w->transform.tree, counter);
    return x;
}

static struct kx *add_constant(const struct expr_build *t, struct kx *x, uint64_t constant)
{
    if (constant == 0) return x;
    struct kx *more =
        x->type->scalar == SCALAR_I64 ? build_i64(t, constant) : build_i32(t, constant);
    return build_binary(t, OP_ADD, x->type, x, more);
}

static struct kx *multiply_constant(const struct expr_build *t, struct kx *x, uint64_t constant)
{
    if (constant == 1) return x;
    struct kx *by = x->type->scalar == SCALAR_I64 ? build_i64(t, constant) : build_i32(t, constant);
    return build_binary(t, OP_MUL, x->type, x, by);
}

/* The transform of the reversed factors.  The product with a block gives the sum of factors[i] * packet (j + i) of the
 * block as packet j. */
static struct transform_pair filter_spectrum(struct writer *w, uint64_t number)
{
    struct arena *arena = w->transform.tree.arena;
    uint64_t points = w->b->points, rows = points / TRANSFORM_ROW;
    double *re = ARENA_ARRAY(arena, double, points), *im = ARENA_ARRAY(arena, double, points);
    struct scalar_value *reals = ARENA_ARRAY(arena, struct scalar_value, points);
    struct scalar_value *imaginaries = ARENA_ARRAY(arena, struct scalar_value, points);
    for (uint64_t i = 0; i < w->f->window; i++) {
        uint64_t place = (points - i) % points, from = number * w->f->window + i;
        re[place] = w->f->re[from] / (double)points;
        if (w->f->is_complex) im[place] = w->f->im[from] / (double)points;
    }
    transform_in_f64(re, im, points);
    for (uint64_t p = 0; p < points; p++) {
        uint64_t to = p % TRANSFORM_ROW * rows + p / TRANSFORM_ROW;
        uint64_t frequency = transform_frequency(points, p);
        reals[to] = arith_convert(arith_f64(re[frequency]), w->f->scalar);
        imaginaries[to] = arith_convert(arith_f64(im[frequency]), w->f->scalar);
    }
    const struct expr_build *t = &w->transform.tree;
    const struct variable *real = build_constant_array(
        t, arena_printf(arena, "re%llu", (unsigned long long)number), reals, points);
    return (struct transform_pair){
        real, build_constant_array(t, arena_printf(arena, "im%llu", (unsigned long long)number),
                                   imaginaries, points)};
}

/* ---- packets ---- */

static struct kx *indexed_item(const struct expr_build *t, const struct variable *of,
                               struct kx *index)
{
    return build_index(t, build_variable(t, of), index);
}

/* to[i] = part `part` of packet i + first; in `finish` only if there is such a packet. */
static struct ks *copy_packet(const struct writer *w, const struct variable *to,
                              const struct variable *i, uint64_t first, uint64_t part)
{
    const struct expr_build *t = &w->transform.tree;
    struct kx *peek = build_peek(t, 0, add_constant(t, build_variable(t, i), first)),
              *packet = peek;
    if (w->f->is_complex) packet = build_index(t, packet, build_i32(t, part));
    struct ks *copy =
        build_expression(t, build_assign(t, indexed_item(t, to, build_variable(t, i)), packet));
    if (w->left == NULL) return copy;
    peek->check = ACCESS_GUARDED;
    struct kx *there = add_constant(t, as_i64(w, i), first);
    return build_if(t, build_compare(t, OP_LT, there, build_variable(t, w->left)), copy);
}

/* Copies the packets of a block, followed by zeros. */
static struct transform_pair copy_padded_block(struct writer *w, struct build_list *list)
{
    const struct expr_build *t = &w->transform.tree;
    struct transform_pair block = transform_arrays(&w->transform, list, w->b->points);
    struct variable *i = build_local(t, "i", type_of(w, SCALAR_I32), false);
    struct build_list body = {0};
    uint64_t second = w->f->is_complex ? 0 : block_packets(w);
    build_append(&body, copy_packet(w, block.re, i, 0, 0));
    build_append(&body, copy_packet(w, block.im, i, second, 1));
    build_append(
        list, build_loop(t, i, block_packets(w) - w->f->pop + w->f->window, build_block(t, &body)));
    return block;
}

static struct kx *with_constant(const struct writer *w, uint64_t number, struct kx *value)
{
    const struct expr_build *t = &w->transform.tree;
    double constant = w->f->constants[number];
    if (constant == 0) return value;
    struct scalar_value rounded = arith_convert(arith_f64(constant), w->f->scalar);
    return build_binary(t, OP_ADD, value->type, value, build_constant(t, rounded));
}

/* The sum of iteration i of a block. */
static struct kx *block_sum(const struct writer *w, const struct variable *sums,
                            const struct variable *i)
{
    const struct expr_build *t = &w->transform.tree;
    return indexed_item(t, sums,
                        multiply_constant(t, build_variable(t, i), w->f->pop / w->b->every));
}

/* y <- packet `number` of iteration i of block `block`; in `finish` only if its input packets are there. */
static struct ks *emit_packet(const struct writer *w, struct transform_pair sums, uint64_t number,
                              const struct variable *i, uint64_t block)
{
    const struct expr_build *t = &w->transform.tree;
    struct kx *packet = with_constant(w, number, block_sum(w, block > 0 ? sums.im : sums.re, i));
    if (w->f->is_complex) {
        struct kx *re = packet;
        packet = build_kx(t, KX_AGGREGATE, t->kernel->out[0].type);
        packet->argument_count = 2;
        packet->arguments = ARENA_ARRAY(t->arena, struct kx *, 2);
        packet->arguments[0] = re;
        packet->arguments[1] = with_constant(w, w->f->push + number, block_sum(w, sums.im, i));
    }
    struct ks *emit = build_emit(t, 0, packet);
    if (w->left == NULL) return emit;
    struct kx *needed = add_constant(t, multiply_constant(t, as_i64(w, i), w->f->pop),
                                     block * block_packets(w) + w->f->needs[number]);
    return build_if(t, build_compare(t, OP_LE, needed, build_variable(t, w->left)), emit);
}

static void emit_block(const struct writer *w, struct build_list *list,
                       const struct transform_product *products, uint64_t block)
{
    const struct expr_build *t = &w->transform.tree;
    struct build_list body = {0};
    struct variable *i = build_local(t, "i", type_of(w, SCALAR_I32), false);
    for (uint64_t j = 0; j < w->f->push; j++)
        build_append(&body, emit_packet(w, products[j].to, j, i, block));
    build_append(list, build_loop(t, i, w->b->iterations, build_block(t, &body)));
}

static void write_blocks(struct writer *w, struct build_list *list)
{
    struct transform *t = &w->transform;
    struct transform_product products[PUSH_MAX] = {{{NULL, NULL}, {NULL, NULL}}};
    bool in_place = w->f->push == 1 && w->b->every == 1;
    struct transform_pair block = copy_padded_block(w, list);
    for (uint64_t j = 0; j < w->f->push; j++) {
        products[j].factors = w->spectra[j];
        products[j].to = in_place ? block : transform_arrays(t, list, w->b->points / w->b->every);
    }
    transform_forward(t, list, block);
    transform_multiply(t, list, block, products, w->f->push);
    for (uint64_t j = 0; j < w->f->push; j++)
        transform_back(t, list, products[j].to);
    for (uint64_t number = 0; number < w->b->blocks; number++)
        emit_block(w, list, products, number);
}

static struct ks *write_transform_body(struct writer *w)
{
    struct build_list list = {0};
    write_blocks(w, &list);
    return build_block(&w->transform.tree, &list);
}

static struct ks *write_transform_finish(struct writer *w)
{
    const struct expr_build *t = &w->transform.tree;
    struct build_list list = {0};
    struct variable *left = build_local(t, "there", type_of(w, SCALAR_I64), true);
    build_append(&list, build_declare(t, left, build_left(t, 0)));
    w->left = left;
    write_blocks(w, &list);
    return build_block(t, &list);
}

/* ---- ends ---- */

static void add_transform_ends(struct writer *w, const struct region_space *space,
                               const struct region *region, struct graph_node *node)
{
    const struct expr_build *t = &w->transform.tree;
    const struct graph_buffer *buffers = space->graph->buffers.items;
    uint32_t from = region->in.items[0].buffer, to = region->out.items[0].buffer;
    struct kernel *kernel = t->kernel;
    kernel->in_count = kernel->out_count = 1;
    kernel->in = ARENA_NEW(t->arena, struct kernel_port);
    kernel->out = ARENA_NEW(t->arena, struct kernel_port);
    *kernel->in = (struct kernel_port){.name = buffers[from].name,
                                       .span = t->span,
                                       .type = buffers[from].type,
                                       .arity = 1,
                                       .rate_declared = true,
                                       .rate_span = t->span,
                                       .pop = w->b->blocks * block_packets(w),
                                       .peek = w->b->blocks * block_packets(w) - w->f->pop +
                                               most_needed(w->f)};
    *kernel->out = (struct kernel_port){
        .name = buffers[to].name, .span = t->span, .type = buffers[to].type, .arity = 1};
    vec_push(t->arena, &node->inputs,
             (struct graph_input){.port = buffers[from].name, .span = t->span, .buffer = from});
    vec_push(t->arena, &node->outputs,
             (struct graph_output){.port = buffers[to].name, .span = t->span, .buffer = to});
}

struct graph_node overlap_save_kernel(struct region_space *space, const struct region *region,
                                      const char *name)
{
    const struct graph_node *first = &space->graph->nodes.items[region->members.items[0].node];
    const struct overlap_save *b = region->blocks;
    struct kernel *kernel = ARENA_NEW(space->cx->arena, struct kernel);
    struct graph_node node = {
        .name = name, .span = first->span, .kernel = kernel, .importance = first->importance};
    struct writer w = {.b = b,
                       .f = &b->filter,
                       .transform = {.tree = {.arena = space->cx->arena,
                                              .types = space->graph->types,
                                              .kernel = kernel,
                                              .span = first->span},
                                     .scalar = b->filter.scalar,
                                     .points = b->points,
                                     .every = b->every}};
    *kernel = (struct kernel){
        .name = name, .title = name, .span = first->kernel->span, .phases = 1, .group = {1, 1, 1}};
    add_transform_ends(&w, space, region, &node);
    kernel->within = kernel->regular = true;
    for (uint64_t j = 0; j < b->filter.push; j++)
        w.spectra[j] = filter_spectrum(&w, j);
    kernel->body = write_transform_body(&w);
    kernel->finish = write_transform_finish(&w);
    return node;
}
