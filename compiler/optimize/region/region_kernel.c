/* SPDX-License-Identifier: MIT */
#include "base/arithmetic.h"
#include "compiler/optimize/region/region_kernel_internal.h"

/*
 * The order of the nodes' numbers is an order of execution.  A value that is used more than once is a local.  A value
 * that is used once is an operand in place, nested up to DEPTH_MAX.  A sum of products of packets at equal distances
 * with constants is a loop over a constant array.
 */

enum { DEPTH_MAX = 16, ROLL_MIN = 12 };

/* A link of a sum: fma(packet, constant, rest) or rest + packet * constant. */
struct link {
    sym rest;
    uint32_t packet; /* its node */
    sym factor;
    bool fused;
};

struct roll { /* from the first product that is added to the last */
    sym start;
    uint32_t first_packet;
    int64_t stride;
    uint64_t count;
    bool fused;
    const sym *factors; /* constants, or consecutive items of the table */
};

struct region_shape { /* how this kernel computes a node of the symbolic graph */
    uint32_t uses;
    uint32_t depth;
    bool wanted;
    bool hidden; /* inside a rolled sum */
    const struct roll *roll;
    const struct variable *local; /* holds its value, once it is computed; or NULL */
};

const struct sym_node *region_node_at(const struct region_writer *w, uint64_t number)
{
    return &w->space->symbols.nodes.items[number];
}

/* ---- which operations are needed, and how often ---- */

static void want_symbol(struct region_writer *w, sym value)
{
    if (sym_is_constant(value)) return;
    w->shapes[value.bits].wanted = true;
    w->shapes[value.bits].uses++;
}

static void mark_wanted(struct region_writer *w, const sym *values, size_t count)
{
    size_t nodes = w->space->symbols.nodes.count;
    w->shapes = ARENA_ARRAY(w->space->scratch, struct region_shape, nodes + 1);
    for (size_t i = 0; i < count; i++)
        want_symbol(w, values[i]);
    for (size_t i = nodes; i-- > 0;)
        for (uint32_t n = 0; w->shapes[i].wanted && n < region_node_at(w, i)->operand_count; n++)
            want_symbol(w, region_node_at(w, i)->operands[n]);
}

/* ---- sums of products ---- */

static bool is_packet(const struct region_writer *w, sym value)
{
    return !sym_is_constant(value) && region_node_at(w, value.bits)->kind == SYM_PACKET;
}

static bool is_item(const struct region_writer *w, sym value)
{
    return !sym_is_constant(value) && region_node_at(w, value.bits)->kind == SYM_TABLE;
}

static bool is_factor(const struct region_writer *w, sym value)
{
    return sym_is_constant(value) || is_item(w, value);
}

/* Is a * b a product of a packet and a constant, in either order?  Sets link->packet and ->factor. */
static bool product_of(const struct region_writer *w, sym a, sym b, struct link *link)
{
    if (!is_packet(w, a) || !is_factor(w, b)) {
        sym other = a;
        a = b;
        b = other;
    }
    if (!is_packet(w, a) || !is_factor(w, b)) return false;
    link->packet = (uint32_t)a.bits;
    link->factor = b;
    return true;
}

static bool is_single_product(const struct region_writer *w, sym value, struct link *link)
{
    if (sym_is_constant(value) || w->shapes[value.bits].uses != 1) return false;
    const struct sym_node *n = region_node_at(w, value.bits);
    return n->kind == SYM_BINARY && n->op == OP_MUL &&
           product_of(w, n->operands[0], n->operands[1], link);
}

static bool link_of(const struct region_writer *w, uint64_t number, struct link *link)
{
    const struct sym_node *n = region_node_at(w, number);
    if (n->kind == SYM_BUILTIN && n->builtin == BUILTIN_FMA) {
        link->rest = n->operands[2];
        link->fused = true;
        return product_of(w, n->operands[0], n->operands[1], link);
    }
    if (n->kind != SYM_BINARY || n->op != OP_ADD) return false;
    link->fused = false;
    link->rest = n->operands[0];
    if (is_single_product(w, n->operands[1], link)) return true;
    link->rest = n->operands[1];
    return is_single_product(w, n->operands[0], link);
}

static bool link_follows(const struct region_writer *w, const struct link *later,
                         const struct link *link, int64_t *stride, bool known)
{
    const struct sym_node *a = region_node_at(w, link->packet),
                          *b = region_node_at(w, later->packet);
    if (link->fused != later->fused || a->stream != b->stream || a->component != b->component)
        return false;
    if (is_item(w, link->factor) != is_item(w, later->factor)) return false;
    if (is_item(w, link->factor) && region_node_at(w, later->factor.bits)->packet !=
                                        region_node_at(w, link->factor.bits)->packet + 1)
        return false;
    int64_t step = (int64_t)b->packet - (int64_t)a->packet;
    if (known && step != *stride) return false;
    *stride = step;
    return step != 0;
}

/* The longest sum of products that ends with this operation; NULL: it is too short. */
static const struct roll *find_roll(struct region_writer *w, uint64_t number)
{
    struct arena *arena = w->space->scratch;
    VEC(struct link) links = {0};
    VEC(uint64_t) numbers = {0};
    struct link link;
    int64_t stride = 0;
    for (uint64_t at = number; link_of(w, at, &link); at = link.rest.bits) {
        size_t count = links.count;
        if (count > 0 && w->shapes[at].uses != 1) break;
        if (count > 0 && !link_follows(w, &links.items[count - 1], &link, &stride, count > 1))
            break;
        vec_push(arena, &links, link);
        vec_push(arena, &numbers, at);
        if (sym_is_constant(link.rest)) break;
    }
    size_t count = links.count;
    if (count < ROLL_MIN) return NULL;
    sym *factors = ARENA_ARRAY(arena, sym, count);
    for (size_t i = 0; i < count; i++) {
        factors[i] = links.items[count - 1 - i].factor;
        if (i > 0) w->shapes[numbers.items[i]].hidden = true;
    }
    struct roll *roll = ARENA_NEW(arena, struct roll);
    *roll = (struct roll){.start = links.items[count - 1].rest,
                          .first_packet = links.items[count - 1].packet,
                          .stride = stride,
                          .count = count,
                          .fused = links.items[0].fused,
                          .factors = factors};
    return roll;
}

/* Hides the products of the sum: if they are no fma, they are separate nodes, which the loop computes. */
static void hide_products(struct region_writer *w, uint64_t number, uint64_t count)
{
    struct link link;
    for (uint64_t i = 0; i < count && link_of(w, number, &link); i++) {
        const struct sym_node *n = region_node_at(w, number);
        for (uint32_t o = 0; !link.fused && o < n->operand_count; o++) {
            sym operand = n->operands[o];
            bool rest = operand.type == link.rest.type && operand.bits == link.rest.bits;
            if (!rest) w->shapes[operand.bits].hidden = true;
        }
        if (sym_is_constant(link.rest)) break;
        number = link.rest.bits;
    }
}

/* ---- expressions ---- */

static uint32_t port_of(const struct region_writer *w, uint32_t buffer)
{
    uint32_t port = 0;
    while (w->region->in.items[port].buffer != buffer)
        port++;
    return port;
}

static const struct type *scalar_type(const struct region_writer *w, enum scalar_type scalar)
{
    return type_scalar(w->tree.types, scalar);
}

uint64_t region_interleaved_place(const struct region_writer *w, const struct sym_node *n)
{
    return n->packet * w->region->in.count + port_of(w, n->stream);
}

/* The index in the single in-port of an interleaved region of packet `index` of the in-end. */
static struct kx *interleaved_index(const struct region_writer *w, uint32_t end, struct kx *index)
{
    const struct expr_build *t = &w->tree;
    uint64_t ends = w->region->in.count;
    if (index->kind == KX_CONSTANT) return build_i32(t, index->value.bits * ends + end);
    index = build_binary(t, OP_MUL, index->type, index, build_i32(t, ends));
    return end == 0 ? index : build_binary(t, OP_ADD, index->type, index, build_i32(t, end));
}

struct kx *region_place(struct region_writer *w, uint32_t port, uint32_t component,
                        struct kx *index)
{
    struct kx *x = build_peek(&w->tree, port, index);
    return type_is_vector(x->type) ? build_index(&w->tree, x, build_i32(&w->tree, component)) : x;
}

struct kx *region_packet(struct region_writer *w, const struct sym_node *n, struct kx *index)
{
    uint32_t end = port_of(w, n->stream);
    if (!w->region->interleaved) return region_place(w, end, n->component, index);
    return region_place(w, 0, n->component, interleaved_index(w, end, index));
}

static struct kx *symbol_value(struct region_writer *w, sym value);

struct kx *region_operation(struct region_writer *w, const struct sym_node *n,
                            struct kx *const *operands)
{
    const struct expr_build *t = &w->tree;
    struct kx *x = build_kx(t, (enum kx_kind)n->kind, scalar_type(w, n->type));
    x->op = n->op;
    x->builtin = n->builtin;
    if (n->kind == SYM_BUILTIN) {
        x->argument_count = n->operand_count;
        x->arguments = arena_copy(t->arena, operands, n->operand_count * sizeof *operands);
        return x;
    }
    x->cast = n->kind == SYM_CONVERT;
    x->left = operands[0];
    x->right = operands[1];
    x->third = operands[2];
    return x;
}

static struct kx *operation_node(struct region_writer *w, const struct sym_node *n)
{
    struct kx *operands[3] = {NULL};
    for (uint32_t i = 0; i < n->operand_count; i++)
        operands[i] = symbol_value(w, n->operands[i]);
    return region_operation(w, n, operands);
}

static struct kx *symbol_value(struct region_writer *w, sym value)
{
    if (sym_is_constant(value)) return build_constant(&w->tree, value);
    const struct sym_node *n = region_node_at(w, value.bits);
    if (w->shapes[value.bits].local != NULL)
        return build_variable(&w->tree, w->shapes[value.bits].local);
    if (n->kind == SYM_ARGUMENT) return build_variable(&w->tree, w->arguments[n->stream]);
    if (n->kind == SYM_TABLE)
        return build_index(&w->tree, build_variable(&w->tree, w->table),
                           build_i32(&w->tree, n->packet));
    if (n->kind == SYM_PACKET) return region_packet(w, n, build_i32(&w->tree, n->packet));
    return operation_node(w, n);
}

/* ---- statements ---- */

const char *region_fresh_name(struct region_writer *w)
{
    return arena_printf(w->tree.arena, "v%u", w->names++);
}

static struct kx *roll_factor(struct region_writer *w, const struct roll *roll,
                              const struct variable *i)
{
    const struct expr_build *t = &w->tree;
    struct kx *index = build_variable(t, i);
    if (sym_is_constant(roll->factors[0])) {
        const struct variable *factors =
            build_constant_array(t, region_fresh_name(w), roll->factors, roll->count);
        return build_index(t, build_variable(t, factors), index);
    }
    uint64_t first = region_node_at(w, roll->factors[0].bits)->packet;
    if (first > 0) index = build_binary(t, OP_ADD, i->type, build_i32(t, first), index);
    return build_index(t, build_variable(t, w->table), index);
}

/* for (i ..) sum = fma(packet[first + stride * i], factors[i], sum) */
static const struct variable *write_roll(struct region_writer *w, struct build_list *list,
                                         const struct roll *roll)
{
    const struct expr_build *t = &w->tree;
    const struct sym_node *first = region_node_at(w, roll->first_packet);
    const struct type *i32 = scalar_type(w, SCALAR_I32);
    struct variable *sum = build_local(t, region_fresh_name(w), scalar_type(w, first->type), false);
    struct variable *i = build_local(t, region_fresh_name(w), i32, false);
    struct kx *index = build_variable(t, i);
    if (roll->stride != 1 && roll->stride != -1)
        index =
            build_binary(t, OP_MUL, i32, index,
                         build_i32(t, (uint64_t)(roll->stride < 0 ? -roll->stride : roll->stride)));
    if (roll->stride < 0)
        index = build_binary(t, OP_SUB, i32, build_i32(t, first->packet), index);
    else if (first->packet > 0)
        index = build_binary(t, OP_ADD, i32, build_i32(t, first->packet), index);
    struct kx *packet = region_packet(w, first, index);
    struct kx *factor = roll_factor(w, roll, i);
    struct kx *so_far = build_variable(t, sum);
    struct kx *next = roll->fused
                          ? build_fma(t, packet, factor, so_far)
                          : build_binary(t, OP_ADD, sum->type, so_far,
                                         build_binary(t, OP_MUL, sum->type, packet, factor));
    build_append(list, build_declare(t, sum, symbol_value(w, roll->start)));
    build_append(list,
                 build_loop(t, i, roll->count,
                            build_expression(t, build_assign(t, build_variable(t, sum), next))));
    return sum;
}

static bool needs_local(struct region_writer *w, uint64_t number)
{
    const struct sym_node *n = region_node_at(w, number);
    struct region_shape *shape = &w->shapes[number];
    if (n->kind == SYM_ARGUMENT || n->kind == SYM_PACKET || n->kind == SYM_TABLE) return false;
    shape->depth = 1;
    for (uint32_t i = 0; i < n->operand_count; i++) {
        if (sym_is_constant(n->operands[i])) continue;
        const struct region_shape *operand = &w->shapes[n->operands[i].bits];
        if (operand->local == NULL && operand->depth >= shape->depth)
            shape->depth = operand->depth + 1;
    }
    return shape->uses > 1 || shape->depth > DEPTH_MAX;
}

static void write_values(struct region_writer *w, struct build_list *list, const sym *values,
                         size_t count)
{
    mark_wanted(w, values, count);
    for (size_t i = w->space->symbols.nodes.count; i-- > 0;) {
        struct region_shape *shape = &w->shapes[i];
        if (!shape->wanted || shape->hidden) continue;
        shape->roll = find_roll(w, i);
        if (shape->roll != NULL) hide_products(w, i, shape->roll->count);
    }
    for (size_t i = 0; i < w->space->symbols.nodes.count; i++) {
        struct region_shape *shape = &w->shapes[i];
        if (!shape->wanted || shape->hidden) continue;
        if (shape->roll != NULL) {
            shape->local = write_roll(w, list, shape->roll);
        } else if (needs_local(w, i)) {
            struct variable *local = build_local(&w->tree, region_fresh_name(w),
                                                 scalar_type(w, region_node_at(w, i)->type), true);
            struct kx *value = operation_node(w, region_node_at(w, i));
            build_append(list, build_declare(&w->tree, local, value));
            shape->local = local;
        }
    }
}

struct kx *region_write_value(struct region_writer *w, struct build_list *list, sym value)
{
    write_values(w, list, &value, 1);
    return symbol_value(w, value);
}

static struct kx *packet_value(struct region_writer *w, const struct type *type, const sym *scalars)
{
    if (!type_is_vector(type)) return symbol_value(w, *scalars);
    struct kx *x = build_kx(&w->tree, KX_AGGREGATE, type);
    x->argument_count = (uint32_t)type->length;
    x->arguments = ARENA_ARRAY(w->tree.arena, struct kx *, type->length);
    for (uint32_t i = 0; i < x->argument_count; i++)
        x->arguments[i] = symbol_value(w, scalars[i]);
    return x;
}

static struct ks *write_region_body(struct region_writer *w)
{
    struct build_list list = {0};
    VEC(sym) all = {0};
    struct kernel *kernel = w->tree.kernel;
    kernel->within = kernel->packet_by_packet = true;
    for (uint32_t o = 0; o < kernel->out_count; o++) {
        if (region_write_alike(w, &list, o)) continue;
        kernel->within = kernel->packet_by_packet = false;
        for (uint64_t i = 0;
             i < (w->region->out.items[o].packets * type_scalar_count(w->tree.kernel->out[o].type));
             i++)
            vec_push(w->space->scratch, &all, w->region->out.items[o].values[i]);
    }
    write_values(w, &list, all.items, all.count);
    for (uint32_t o = 0; o < kernel->out_count; o++) {
        const struct region_end *out = &w->region->out.items[o];
        const struct type *type = kernel->out[o].type;
        uint64_t each = type_scalar_count(type);
        for (uint64_t j = 0; !kernel->out[o].indexed && j < out->packets; j++)
            build_append(&list,
                         build_emit(&w->tree, o, packet_value(w, type, &out->values[j * each])));
    }
    return build_block(&w->tree, &list);
}

/* ---- the end of the stream ---- */

/* left(a) >= needs[a] && left(b) >= needs[b]; NULL: the packet needs a whole iteration. */
static struct kx *enough_left(struct region_writer *w, const uint64_t *needs)
{
    const struct expr_build *t = &w->tree;
    struct kx *all = NULL;
    bool early = false;
    uint64_t each = w->region->interleaved ? w->region->in.count : 1;
    for (uint32_t i = 0; i < w->tree.kernel->in_count; i++) {
        early |= needs[i] < w->region->in.items[i].peek;
        if (needs[i] == 0) continue;
        struct kx *there = build_compare(t, OP_GE, build_left(t, i), build_i64(t, needs[i] * each));
        if (all != NULL) {
            struct kx *both = build_kx(t, KX_LOGICAL, there->type);
            both->op = OP_LOGICAL_AND;
            both->left = all;
            both->right = there;
            there = both;
        }
        all = there;
    }
    return early ? all : NULL;
}

/* Appends the packet; or stores it by index, if the body does so on this port. */
static struct ks *append_region_packet(struct region_writer *w, uint32_t port, uint64_t number,
                                       struct kx *value)
{
    struct ks *s = build_emit(&w->tree, port, value);
    if (!w->tree.kernel->out[port].indexed) return s;
    s->kind = KS_STORE;
    s->index = build_i32(&w->tree, number);
    w->tree.kernel->out[port].finish_declared = true;
    w->tree.kernel->out[port].finish_max = number + 1;
    return s;
}

static struct ks *write_region_finish(struct region_writer *w)
{
    const struct kernel *kernel = w->tree.kernel;
    size_t ins = w->region->in.count;
    struct build_list list = {0};
    for (uint32_t o = 0; o < kernel->out_count; o++) {
        const struct region_end *out = &w->region->out.items[o];
        const struct type *type = kernel->out[o].type;
        uint64_t scalars = type_scalar_count(type);
        for (uint64_t j = 0; j < out->packets; j++) {
            struct build_list packet = {0};
            struct kx *condition = enough_left(w, &out->needs[j * ins]);
            if (condition == NULL) break;
            write_values(w, &packet, &out->values[j * scalars], scalars);
            build_append(&packet, append_region_packet(
                                      w, o, j, packet_value(w, type, &out->values[j * scalars])));
            build_append(&list, build_if(&w->tree, condition, build_block(&w->tree, &packet)));
        }
    }
    return build_block(&w->tree, &list);
}

/* ---- the table ---- */

static void declare_table(struct region_writer *w)
{
    size_t count = w->region->table.count;
    struct kernel *kernel = w->tree.kernel;
    if (count == 0) return;
    const struct type *item = scalar_type(w, sym_type(w->region->table.items[0]));
    w->table = ARENA_NEW(w->tree.arena, struct variable);
    *w->table = (struct variable){.kind = VARIABLE_TABLE,
                                  .name = "factors",
                                  .span = w->tree.span,
                                  .type = type_array(w->tree.types, item, count)};
    vec_push(w->tree.arena, &kernel->tables, w->table);
    kernel->tables_bytes = w->table->type->width_bytes;
}

static struct ks *write_init(struct region_writer *w)
{
    const struct expr_build *t = &w->tree;
    struct build_list list = {0};
    write_values(w, &list, w->region->table.items, w->region->table.count);
    for (size_t i = 0; i < w->region->table.count; i++) {
        struct kx *item = build_index(t, build_variable(t, w->table), build_i32(t, i));
        struct kx *value = symbol_value(w, w->region->table.items[i]);
        build_append(&list, build_expression(t, build_assign(t, item, value)));
    }
    return build_block(t, &list);
}

/* ---- the kernel ---- */

static void set_region_ports(struct region_writer *w, struct kernel *kernel)
{
    const struct graph *graph = w->space->graph;
    const struct region *region = w->region;
    uint64_t each = region->interleaved ? region->in.count : 1;
    kernel->in_count = region->interleaved ? 1 : (uint32_t)region->in.count;
    kernel->out_count = (uint32_t)region->out.count;
    kernel->in = ARENA_ARRAY(w->tree.arena, struct kernel_port, kernel->in_count);
    kernel->out = ARENA_ARRAY(w->tree.arena, struct kernel_port, kernel->out_count);
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct region_end *in = &region->in.items[i];
        const struct graph_buffer *buffer = &graph->buffers.items[in->buffer];
        kernel->in[i] = (struct kernel_port){.name = buffer->name,
                                             .span = w->tree.span,
                                             .type = buffer->type,
                                             .arity = 1,
                                             .rate_declared = true,
                                             .rate_span = w->tree.span,
                                             .pop = in->packets * each,
                                             .peek = in->peek * each};
    }
    for (uint32_t o = 0; o < kernel->out_count; o++) {
        const struct graph_buffer *buffer = &graph->buffers.items[region->out.items[o].buffer];
        kernel->out[o] = (struct kernel_port){
            .name = buffer->name, .span = w->tree.span, .type = buffer->type, .arity = 1};
    }
}

static bool is_wanted_argument(const struct region *region, const struct region_argument *argument)
{
    for (size_t m = 0; m < region->members.count; m++)
        if (region->members.items[m].node == argument->node) return true;
    return false;
}

/* Adds the arguments of the members, in order of their numbers. */
static void add_member_arguments(struct region_writer *w, struct kernel *kernel,
                                 struct graph_node *node)
{
    struct arena *arena = w->tree.arena;
    size_t count = w->space->arguments.count;
    w->arguments = ARENA_ARRAY(w->space->scratch, const struct variable *, count + 1);
    kernel->arguments = ARENA_ARRAY(arena, struct variable *, count + 1);
    kernel->argument_defaults = ARENA_ARRAY(arena, struct kx *, count + 1);
    node->arguments = ARENA_ARRAY(arena, struct kx *, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct region_argument *of = &w->space->arguments.items[i];
        if (!is_wanted_argument(w->region, of)) continue;
        struct variable *variable = ARENA_NEW(arena, struct variable);
        *variable = *of->variable;
        uint64_t align = variable->type->alignment_bytes;
        variable->offset_bytes = align_up(kernel->arguments_bytes, align);
        kernel->arguments_bytes = variable->offset_bytes + variable->type->width_bytes;
        node->arguments[kernel->argument_count] = of->value;
        kernel->arguments[kernel->argument_count++] = variable;
        w->arguments[i] = variable;
    }
    kernel->arguments_bytes = (kernel->arguments_bytes + 7) / 8 * 8;
}

static void add_region_ends(struct region_writer *w, struct graph_node *node)
{
    const struct graph *graph = w->space->graph;
    for (uint32_t i = 0; i < w->tree.kernel->in_count; i++) {
        uint32_t buffer = w->region->in.items[i].buffer;
        vec_push(w->tree.arena, &node->inputs,
                 (struct graph_input){.port = graph->buffers.items[buffer].name,
                                      .kernel_port = i,
                                      .span = w->tree.span,
                                      .buffer = w->region->interleaved ? GRAPH_NONE : buffer});
    }
    for (uint32_t o = 0; o < w->region->out.count; o++) {
        uint32_t buffer = w->region->out.items[o].buffer;
        vec_push(w->tree.arena, &node->outputs,
                 (struct graph_output){.port = graph->buffers.items[buffer].name,
                                       .kernel_port = o,
                                       .span = w->tree.span,
                                       .buffer = buffer});
    }
}

struct graph_node region_kernel(struct region_space *space, const struct region *region,
                                const char *name)
{
    const struct graph_node *first = &space->graph->nodes.items[region->members.items[0].node];
    struct kernel *kernel = ARENA_NEW(space->cx->arena, struct kernel);
    struct graph_node node = {
        .name = name, .span = first->span, .kernel = kernel, .importance = first->importance};
    struct region_writer w = {.space = space,
                              .region = region,
                              .tree = {.arena = space->cx->arena,
                                       .types = space->graph->types,
                                       .kernel = kernel,
                                       .span = first->span}};
    *kernel = (struct kernel){
        .name = name, .title = name, .span = first->kernel->span, .phases = 1, .group = {1, 1, 1}};
    set_region_ports(&w, kernel);
    add_member_arguments(&w, kernel, &node);
    declare_table(&w);
    if (w.table != NULL) kernel->init = write_init(&w);
    kernel->body = region->strands != NULL ? region_write_strands(&w) : write_region_body(&w);
    if (region->ends_late) kernel->finish = write_region_finish(&w);
    add_region_ends(&w, &node);
    return node;
}
