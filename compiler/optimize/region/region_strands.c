/* SPDX-License-Identifier: MIT */
/*
 * Strands as one loop over them (strands.h):
 *
 *     for (c ..) { packets of strand c; its operations, each a local; what it writes }
 *
 * Constants that differ between strands are arrays by strand.  If the packets of a round are not neighbours, the loop
 * reads or writes an array of scalars of all strands instead.  Straight-line code copies the packets from or to it.
 */
#include "compiler/optimize/region/region_kernel_internal.h"
#include "compiler/optimize/region/strands.h"

struct strand_writer {
    struct region_writer *w;
    const struct region_strands *strands;
    const struct variable *c;
    struct variable *in, *out; /* arrays for packets that are not neighbours; or NULL */
    uint64_t in_parts, out_parts;
    const struct variable **locals; /* by node of strand 0 */
    uint64_t *number;               /* by packet of strand 0 that it reads */
    VEC(const struct variable *) constants;
};

static bool reads_neighbours(const struct strand_writer *s, const uint64_t *packets, uint64_t each)
{
    uint64_t count = s->strands->count;
    for (uint64_t i = 0; i < each * count; i++)
        if (packets[i] != packets[i / count * count] + i % count) return false;
    return true;
}

static struct variable *spare_array(struct strand_writer *s, const struct type *packet,
                                    uint64_t packets, const char *name)
{
    const struct expr_build *t = &s->w->tree;
    const struct type *type = type_array(t->types, type_base(packet),
                                         packets * type_scalar_count(packet) * s->strands->count);
    return build_local(t, name, type, false);
}

/* Item `number` of the array, of the strand in the loop's variable c. */
static struct kx *spare_item(const struct strand_writer *s, struct variable *array, uint64_t number)
{
    const struct expr_build *t = &s->w->tree;
    struct kx *index = build_variable(t, s->c);
    if (number > 0)
        index =
            build_binary(t, OP_ADD, s->c->type, index, build_i32(t, number * s->strands->count));
    return build_index(t, build_variable(t, array), index);
}

static struct kx *strand_place(const struct strand_writer *s, uint64_t first)
{
    const struct expr_build *t = &s->w->tree;
    struct kx *index = build_variable(t, s->c);
    return first == 0 ? index : build_binary(t, OP_ADD, s->c->type, index, build_i32(t, first));
}

/* ---- operations ---- */

static bool is_same_constant(const struct variable *array, const sym *values, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (array->constant[i].type != values[i].type || array->constant[i].bits != values[i].bits)
            return false;
    return true;
}

static struct kx *strand_constant(struct strand_writer *s, const sym *values)
{
    const struct expr_build *t = &s->w->tree;
    uint64_t count = s->strands->count, same = 1;
    while (same < count && values[same].bits == values[0].bits)
        same++;
    if (same == count) return build_constant(t, values[0]);
    const struct variable *array = NULL;
    for (size_t i = 0; i < s->constants.count && array == NULL; i++)
        if (is_same_constant(s->constants.items[i], values, count)) array = s->constants.items[i];
    if (array == NULL) {
        array = build_constant_array(t, region_fresh_name(s->w), values, count);
        vec_push(s->w->space->scratch, &s->constants, array);
    }
    return build_index(t, build_variable(t, array), build_variable(t, s->c));
}

static struct kx *strand_operand(struct strand_writer *s, const sym *row, uint32_t k)
{
    sym first = region_node_at(s->w, row[0].bits)->operands[k];
    if (!sym_is_constant(first)) return build_variable(&s->w->tree, s->locals[first.bits]);
    sym *values = ARENA_ARRAY(s->w->space->scratch, sym, s->strands->count);
    for (uint64_t i = 0; i < s->strands->count; i++)
        values[i] = region_node_at(s->w, row[i].bits)->operands[k];
    return strand_constant(s, values);
}

static struct kx *strand_value(struct strand_writer *s, const sym *row)
{
    const struct sym_node *n = region_node_at(s->w, row[0].bits);
    struct kx *operands[SYM_OPERANDS] = {NULL};
    if (n->kind == SYM_PACKET) {
        const struct expr_build *t = &s->w->tree;
        if (s->in != NULL)
            return spare_item(s, s->in, s->number[n->packet] * s->in_parts + n->component);
        struct kx *x = build_peek(t, 0, strand_place(s, n->packet));
        return type_is_vector(x->type) ? build_index(t, x, build_i32(t, n->component)) : x;
    }
    if (n->kind == SYM_ARGUMENT) return build_variable(&s->w->tree, s->w->arguments[n->stream]);
    for (uint32_t k = 0; k < n->operand_count; k++)
        operands[k] = strand_operand(s, row, k);
    return region_operation(s->w, n, operands);
}

/* ---- statements ---- */

static struct kx *of_scalars(const struct expr_build *t, const struct type *type,
                             struct kx **scalars)
{
    if (!type_is_vector(type)) return scalars[0];
    struct kx *x = build_kx(t, KX_AGGREGATE, type);
    x->argument_count = (uint32_t)type->length;
    x->arguments = arena_copy(t->arena, scalars, type->length * sizeof *scalars);
    return x;
}

static void append_strand_packet(struct strand_writer *s, struct build_list *list, uint64_t number)
{
    const struct expr_build *t = &s->w->tree;
    const struct region_end *out = &s->w->region->out.items[0];
    uint64_t first = s->strands->out[number * s->strands->count];
    struct kx **scalars = ARENA_ARRAY(s->w->space->scratch, struct kx *, s->out_parts);
    for (uint64_t i = 0; i < s->out_parts; i++) {
        scalars[i] = build_variable(t, s->locals[out->values[first * s->out_parts + i].bits]);
        if (s->out == NULL) continue;
        struct kx *to = spare_item(s, s->out, number * s->out_parts + i);
        build_append(list, build_expression(t, build_assign(t, to, scalars[i])));
    }
    if (s->out != NULL) return;
    struct ks *store = build_ks(t, KS_STORE);
    store->index = strand_place(s, first);
    store->expr = of_scalars(t, t->kernel->out[0].type, scalars);
    build_append(list, store);
}

static void write_loop(struct strand_writer *s, struct build_list *list)
{
    const struct expr_build *t = &s->w->tree;
    struct build_list body = {0};
    struct variable *c =
        build_local(t, region_fresh_name(s->w), type_scalar(t->types, SCALAR_I32), false);
    s->c = c;
    for (size_t i = 0; i < s->strands->node_count; i++) {
        const sym *row = s->strands->rows[i];
        if (row == NULL) continue;
        const struct type *type = type_scalar(t->types, region_node_at(s->w, i)->type);
        struct variable *local = build_local(t, region_fresh_name(s->w), type, true);
        build_append(&body, build_declare(t, local, strand_value(s, row)));
        s->locals[i] = local;
    }
    for (uint64_t i = 0; i < s->strands->writes; i++)
        append_strand_packet(s, &body, i);
    build_append(list, build_loop(t, c, s->strands->count, build_block(t, &body)));
}

/* ---- packets that are not neighbours ---- */

static void declare_spare(const struct expr_build *t, struct build_list *list,
                          struct variable *array)
{
    struct ks *s = build_declare(t, array, NULL);
    s->unset = true; /* every item is written before it is read */
    build_append(list, s);
}

static void move_in(struct strand_writer *s, struct build_list *list)
{
    const struct expr_build *t = &s->w->tree;
    uint64_t count = s->strands->count;
    for (uint64_t i = 0; i < s->strands->reads * count * s->in_parts; i++) {
        uint64_t number = i / s->in_parts, part = i % s->in_parts;
        uint64_t at = (number / count * s->in_parts + part) * count + number % count;
        struct kx *x = build_peek(t, 0, build_i32(t, s->strands->in[number]));
        if (type_is_vector(x->type)) x = build_index(t, x, build_i32(t, part));
        struct kx *to = build_index(t, build_variable(t, s->in), build_i32(t, at));
        build_append(list, build_expression(t, build_assign(t, to, x)));
    }
}

static void move_out(struct strand_writer *s, struct build_list *list)
{
    const struct expr_build *t = &s->w->tree;
    uint64_t count = s->strands->count, packets = s->strands->writes * count;
    uint64_t *from = ARENA_ARRAY(s->w->space->scratch, uint64_t, packets);
    struct kx **scalars = ARENA_ARRAY(s->w->space->scratch, struct kx *, s->out_parts);
    for (uint64_t i = 0; i < packets; i++)
        from[s->strands->out[i]] = i;
    for (uint64_t p = 0; p < packets; p++) {
        for (uint64_t part = 0; part < s->out_parts; part++) {
            uint64_t at = (from[p] / count * s->out_parts + part) * count + from[p] % count;
            scalars[part] = build_index(t, build_variable(t, s->out), build_i32(t, at));
        }
        build_append(list, build_emit(t, 0, of_scalars(t, t->kernel->out[0].type, scalars)));
    }
}

/* ---- the body ---- */

struct ks *region_write_strands(struct region_writer *w)
{
    const struct region_strands *strands = w->region->strands;
    const struct type *in = w->tree.kernel->in[0].type, *out = w->tree.kernel->out[0].type;
    struct build_list list = {0};
    struct strand_writer s = {.w = w,
                              .strands = strands,
                              .in_parts = type_scalar_count(in),
                              .out_parts = type_scalar_count(out)};
    s.locals = ARENA_ARRAY(w->space->scratch, const struct variable *, strands->node_count);
    s.number = ARENA_ARRAY(w->space->scratch, uint64_t, w->region->in.items[0].packets);
    for (uint64_t i = 0; i < strands->reads; i++)
        s.number[strands->in[i * strands->count]] = i;
    if (!reads_neighbours(&s, strands->in, strands->reads)) {
        s.in = spare_array(&s, in, strands->reads, "read");
        declare_spare(&w->tree, &list, s.in);
        move_in(&s, &list);
    }
    if (!reads_neighbours(&s, strands->out, strands->writes)) {
        s.out = spare_array(&s, out, strands->writes, "written");
        declare_spare(&w->tree, &list, s.out);
    } else {
        struct kernel_port *to = &w->tree.kernel->out[0];
        to->indexed = true;
        to->rate_declared = true;
        to->rate_span = w->tree.span;
        to->push_least = to->push = w->region->out.items[0].packets;
    }
    write_loop(&s, &list);
    if (s.out != NULL) move_out(&s, &list);
    w->tree.kernel->within = true;
    return build_block(&w->tree, &list);
}
