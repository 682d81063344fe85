#include "compiler/fuse/linear.h"

#include "compiler/fuse/region_rewrite.h"

enum {
    MEMBERS_MAX = 256,
    PRODUCTS_MAX = 16384,  /* of an iteration */
    FACTORS_MAX = 1 << 21, /* of all sums on the way to those of one region */
    KEPT_QUARTERS = 3,
};

/* ---- sums ---- */

/* constant + factors[i] * scalar number low + i of the in-end; all f64. */
struct form {
    bool known;
    uint64_t low, high;
    sym *factors;
    sym constant;
};

struct forms {
    struct region_space *space;
    struct symbols *symbols;
    struct arena *arena; /* of the factors */
    uint32_t buffer;
    uint64_t scalars; /* of its packets */
    struct form *of;  /* by node */
    uint64_t factors; /* so far */
};

static const sym zero = {SCALAR_F64, 0};

static sym as_f64(struct symbols *s, sym value)
{
    return sym_operation(
        s, (struct sym_node){
               .kind = SYM_CONVERT, .type = SCALAR_F64, .operand_count = 1, .operands = {value}});
}

static bool make_room(struct forms *f, struct form *form, uint64_t low, uint64_t high)
{
    f->factors += high - low;
    if (f->factors > FACTORS_MAX) return false;
    form->low = low;
    form->high = high;
    form->factors = ARENA_ARRAY(f->arena, sym, high - low + 1);
    for (uint64_t i = 0; i < high - low; i++)
        form->factors[i] = zero;
    return true;
}

static struct form constant_form(sym value)
{
    return (struct form){.known = true, .constant = value};
}

static struct form form_of(const struct forms *f, sym value)
{
    if (sym_is_constant(value)) return constant_form(as_f64(f->symbols, value));
    return f->of[value.bits];
}

static bool is_free_of_packets(const struct form *form)
{
    return form->low == form->high;
}

/* a + by * b */
static struct form add_scaled(struct forms *f, const struct form *a, const struct form *b, sym by)
{
    struct symbols *s = f->symbols;
    struct form sum = {.known = a->known && b->known};
    uint64_t low = a->low < b->low ? a->low : b->low, high = a->high > b->high ? a->high : b->high;
    if (is_free_of_packets(a)) low = b->low, high = b->high;
    if (is_free_of_packets(b)) low = a->low, high = a->high;
    if (!sum.known || !make_room(f, &sum, low, high)) return (struct form){0};
    for (uint64_t i = a->low; i < a->high; i++)
        sum.factors[i - low] = a->factors[i - a->low];
    for (uint64_t i = b->low; i < b->high; i++) {
        sym product = sym_binary(s, OP_MUL, SCALAR_F64, b->factors[i - b->low], by);
        sum.factors[i - low] = sym_binary(s, OP_ADD, SCALAR_F64, sum.factors[i - low], product);
    }
    sym product = sym_binary(s, OP_MUL, SCALAR_F64, b->constant, by);
    sum.constant = sym_binary(s, OP_ADD, SCALAR_F64, a->constant, product);
    return sum;
}

static struct form scaled(struct forms *f, const struct form *form, sym by)
{
    const struct form nothing = constant_form(zero);
    return add_scaled(f, &nothing, form, by);
}

static struct form product_form(struct forms *f, const struct form *a, const struct form *b)
{
    if (!a->known || !b->known) return (struct form){0};
    if (is_free_of_packets(b)) return scaled(f, a, b->constant);
    if (is_free_of_packets(a)) return scaled(f, b, a->constant);
    return (struct form){0};
}

static struct form binary_form(struct forms *f, const struct sym_node *n)
{
    struct form a = form_of(f, n->operands[0]), b = form_of(f, n->operands[1]);
    const sym one = arith_f64(1);
    switch (n->op) {
    case OP_ADD: return add_scaled(f, &a, &b, one);
    case OP_SUB: return add_scaled(f, &a, &b, arith_f64(-1));
    case OP_MUL: return product_form(f, &a, &b);
    case OP_DIV:
        if (!a.known || !b.known || !is_free_of_packets(&b)) return (struct form){0};
        return scaled(f, &a, sym_binary(f->symbols, OP_DIV, SCALAR_F64, one, b.constant));
    default: return (struct form){0};
    }
}

static struct form packet_form(struct forms *f, const struct sym_node *n)
{
    struct form form = {.known = true, .constant = zero};
    uint64_t number = n->packet * f->scalars + n->component;
    if (n->stream != f->buffer || !make_room(f, &form, number, number + 1)) return (struct form){0};
    form.factors[0] = arith_f64(1);
    return form;
}

/* Does no packet decide it?  Then it is a constant of the run. */
static bool operands_are_free(const struct forms *f, const struct sym_node *n)
{
    for (uint32_t i = 0; i < n->operand_count; i++) {
        struct form form = form_of(f, n->operands[i]);
        if (!form.known || !is_free_of_packets(&form)) return false;
    }
    return true;
}

static struct form node_form(struct forms *f, size_t number)
{
    const struct sym_node n = f->symbols->nodes.items[number];
    if (n.kind == SYM_PACKET) return packet_form(f, &n);
    if (n.kind == SYM_UNKNOWN) return (struct form){0};
    if (operands_are_free(f, &n))
        return constant_form(as_f64(f->symbols, sym_of_node(number, n.type)));
    if (!scalar_is_float(n.type)) return (struct form){0};
    struct form a = form_of(f, n.operands[0]);
    if (n.kind == SYM_NEGATE && a.known) return scaled(f, &a, arith_f64(-1));
    if (n.kind == SYM_CONVERT && a.known && scalar_is_float(sym_type(n.operands[0]))) return a;
    if (n.kind == SYM_BINARY) return binary_form(f, &n);
    if (n.kind != SYM_BUILTIN || n.builtin != BUILTIN_FMA) return (struct form){0};
    struct form b = form_of(f, n.operands[1]), c = form_of(f, n.operands[2]);
    struct form product = product_form(f, &a, &b);
    return add_scaled(f, &c, &product, arith_f64(1));
}

/* Of every node that the values are computed from. */
static struct forms find_forms(struct region_space *space, const struct region *region,
                               struct arena *arena)
{
    struct symbols *s = &space->symbols;
    const struct region_end *in = &region->in.items[0], *out = &region->out.items[0];
    const struct graph *graph = space->graph;
    size_t count = s->nodes.count;
    uint64_t values = out->packets * type_scalar_count(graph->buffers.items[out->buffer].type);
    struct forms f = {.space = space,
                      .symbols = s,
                      .arena = arena,
                      .buffer = in->buffer,
                      .scalars = type_scalar_count(graph->buffers.items[in->buffer].type),
                      .of = ARENA_ARRAY(arena, struct form, count + 1)};
    bool *wanted = ARENA_ARRAY(arena, bool, count + 1);
    for (uint64_t i = 0; i < values; i++)
        if (!sym_is_constant(out->values[i])) wanted[out->values[i].bits] = true;
    for (size_t i = count; i-- > 0;)
        for (uint32_t k = 0; wanted[i] && k < s->nodes.items[i].operand_count; k++)
            if (!sym_is_constant(s->nodes.items[i].operands[k]))
                wanted[s->nodes.items[i].operands[k].bits] = true;
    for (size_t i = 0; i < count; i++)
        if (wanted[i]) f.of[i] = node_form(&f, i);
    return f;
}

/* ---- the filter ---- */

/* In the type of the packets; what arguments decide is an item of the table. */
static sym factor_value(struct region_space *space, struct region *region, enum scalar_type type,
                        sym factor)
{
    sym value = sym_operation(&space->symbols, (struct sym_node){.kind = SYM_CONVERT,
                                                                 .type = type,
                                                                 .operand_count = 1,
                                                                 .operands = {factor}});
    if (sym_is_constant(value)) return value;
    size_t item = vec_push(space->scratch, &region->table, value);
    return sym_table(&space->symbols, type, item);
}

static sym write_sum(struct forms *f, struct region *region, enum scalar_type type,
                     const struct form *form)
{
    struct symbols *s = f->symbols;
    sym sum = factor_value(f->space, region, type, form->constant);
    for (uint64_t i = form->low; i < form->high; i++) {
        sym factor = form->factors[i - form->low];
        if (sym_is_constant(factor) && arith_as_f64(factor) == 0) continue;
        sym packet = sym_packet(s, type, f->buffer, i / f->scalars, (uint32_t)(i % f->scalars));
        sym by = factor_value(f->space, region, type, factor);
        sum = sym_operation(s, (struct sym_node){.kind = SYM_BUILTIN,
                                                 .builtin = BUILTIN_FMA,
                                                 .type = type,
                                                 .operand_count = 3,
                                                 .operands = {packet, by, sum}});
    }
    return sum;
}

static bool is_filter(const struct graph *graph, const struct region *region)
{
    if (region->in.count != 1 || region->out.count != 1) return false;
    const struct type *from = graph->buffers.items[region->in.items[0].buffer].type;
    const struct type *to = graph->buffers.items[region->out.items[0].buffer].type;
    return scalar_is_float(type_item(to)->scalar) &&
           type_item(from)->scalar == type_item(to)->scalar;
}

/* Writes what the region writes as sums of products; false: it is not linear. */
static bool collapse(struct region_space *space, struct region *region)
{
    if (!is_filter(space->graph, region)) return false;
    struct region_end *out = &region->out.items[0];
    const struct type *to = space->graph->buffers.items[out->buffer].type;
    enum scalar_type type = type_item(to)->scalar;
    uint64_t count = out->packets * type_scalar_count(to), products = 0;
    struct arena *arena = arena_create();
    struct forms f = find_forms(space, region, arena);
    sym *values = ARENA_ARRAY(space->scratch, sym, count + 1);
    bool linear = true;
    for (uint64_t j = 0; linear && j < count; j++) {
        struct form form = form_of(&f, out->values[j]);
        products += form.high - form.low;
        linear = form.known && products <= PRODUCTS_MAX;
        if (linear) values[j] = write_sum(&f, region, type, &form);
    }
    arena_destroy(arena);
    if (!linear) return false;
    out->values = values;
    region->linear = true;
    region_count(space, values, count, &region->operations, &region->loads);
    return true;
}

/* ---- which regions ---- */

struct collapser {
    struct region_space space;
    const struct graph *graph;
    bool *taken; /* by node: part of a region that was chosen */
    VEC(struct region_choice) choices;
};

struct growth {
    uint32_t nodes[MEMBERS_MAX];
    size_t count;
};

static bool is_in(const struct growth *g, uint32_t node)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->nodes[i] == node) return true;
    return false;
}

/* Everything that the node writes is read by those that are in. */
static bool writes_for(const struct graph *graph, const struct growth *g, uint32_t node)
{
    const struct graph_node *of = &graph->nodes.items[node];
    for (size_t o = 0; o < of->outputs.count; o++) {
        const struct graph_buffer *buffer = &graph->buffers.items[of->outputs.items[o].buffer];
        if (buffer->outer == GRAPH_OUTER_OUT || buffer->initial.packets > 0) return false;
        for (size_t r = 0; r < buffer->readers.count; r++)
            if (!is_in(g, buffer->readers.items[r].node)) return false;
    }
    return true;
}

static bool may_join(struct collapser *c, const struct growth *g, uint32_t node)
{
    const struct graph_node *of = &c->graph->nodes.items[node];
    const struct graph_node *first = &c->graph->nodes.items[g->nodes[0]];
    return !c->taken[node] && !is_in(g, node) && writes_for(c->graph, g, node) &&
           of->importance == first->importance && of->component == first->component &&
           region_look(&c->space, node)->reason == NULL;
}

/* Adds the writers that write for those that are in alone. */
static bool grow(struct collapser *c, struct growth *g)
{
    size_t before = g->count;
    for (size_t i = 0; i < before; i++) {
        const struct graph_node *node = &c->graph->nodes.items[g->nodes[i]];
        for (size_t e = 0; e < node->inputs.count && g->count < MEMBERS_MAX; e++) {
            uint32_t writer = c->graph->buffers.items[node->inputs.items[e].buffer].writer_node;
            if (writer != GRAPH_NONE && may_join(c, g, writer)) g->nodes[g->count++] = writer;
        }
    }
    return g->count > before;
}

/* The region of those that are in, collapsed; NULL: it cannot be, or saves too little. */
static const struct region *collapsed(struct collapser *c, const struct growth *g, uint64_t *alone)
{
    struct region *region = ARENA_NEW(c->space.scratch, struct region);
    const char *reason;
    *alone = 0;
    if (g->count < 2 || !region_build(&c->space, g->nodes, g->count, region, &reason) ||
        region->interleaved || !collapse(&c->space, region))
        return NULL;
    for (size_t m = 0; m < region->members.count; m++)
        *alone += region->members.items[m].firings *
                  region_look(&c->space, region->members.items[m].node)->operations;
    return region->operations < *alone / 4 * KEPT_QUARTERS ? region : NULL;
}

static void collapse_before(struct collapser *c, uint32_t node)
{
    struct growth g = {.nodes = {node}, .count = 1};
    struct region_choice best = {0};
    uint64_t best_saved = 0;
    if (c->taken[node] || region_look(&c->space, node)->reason != NULL) return;
    do {
        uint64_t alone;
        const struct region *region = collapsed(c, &g, &alone);
        if (region == NULL || alone - region->operations <= best_saved) continue;
        best = (struct region_choice){region, alone};
        best_saved = alone - region->operations;
    } while (grow(c, &g));
    if (best.region == NULL) return;
    vec_push(c->space.scratch, &c->choices, best);
    for (size_t m = 0; m < best.region->members.count; m++)
        c->taken[best.region->members.items[m].node] = true;
}

struct graph *linear_collapse(struct compile *cx, const struct graph *graph)
{
    struct arena *scratch = arena_create();
    struct collapser c = {.space = region_space(cx, graph, scratch),
                          .graph = graph,
                          .taken = ARENA_ARRAY(scratch, bool, graph->nodes.count + 1)};
    for (uint32_t n = (uint32_t)graph->nodes.count; n-- > 0;)
        collapse_before(&c, n);
    struct graph *collapsed_graph = region_rewrite(&c.space, c.choices.items, c.choices.count);
    arena_destroy(scratch);
    return collapsed_graph;
}
