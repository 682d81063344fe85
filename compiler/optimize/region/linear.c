/* SPDX-License-Identifier: MIT */
#include "compiler/optimize/region/linear.h"

#include <math.h>

#include "compiler/optimize/region/overlap_save.h"
#include "compiler/optimize/region/region_rewrite.h"

enum {
    MEMBERS_MAX = 256,
    PRODUCTS_MAX = 16384,  /* of an iteration */
    FACTORS_MAX = 1 << 21, /* of all intermediate sums of one region */
    KEPT_QUARTERS = 3,
};

/* ---- sums ---- */

/* constant + the sum of factor i x scalar i of the in-end, for low <= i < high; all in f64. */
struct form {
    bool known;
    uint64_t low, high;
    uint64_t room_low,
        room_high; /* `factors` has room for these; those outside of low .. high are 0 */
    sym *factors;  /* from room_low on */
    sym constant;
};

struct forms {
    struct region_space *space;
    struct symbols *symbols;
    struct arena *arena; /* of the factors */
    uint32_t buffer;
    uint64_t scalars; /* of its packets */
    struct form *of;  /* by node */
    uint32_t *uses;   /* by node: how many values and operations use it */
    uint64_t factors; /* so far */
};

static const sym zero = {SCALAR_F64, 0};

static sym as_f64(struct symbols *s, sym value)
{
    return sym_operation(
        s, (struct sym_node){
               .kind = SYM_CONVERT, .type = SCALAR_F64, .operand_count = 1, .operands = {value}});
}

static sym *factor_at(const struct form *form, uint64_t scalar)
{
    return &form->factors[scalar - form->room_low];
}

static bool make_form_room(struct forms *f, struct form *form, uint64_t low, uint64_t high)
{
    f->factors += high - low;
    if (f->factors > FACTORS_MAX) return false;
    form->room_low = low;
    form->room_high = high;
    form->factors = ARENA_ARRAY(f->arena, sym, high - low + 1);
    for (uint64_t i = 0; i < high - low; i++)
        form->factors[i] = zero;
    return true;
}

/* `take`: nothing else uses a, so the sum reuses its factors, with room for as many more: a long sum grows term
 * by term. */
static bool take_over(struct forms *f, struct form *sum, const struct form *a, bool take)
{
    uint64_t low = sum->low, high = sum->high, more = high - low;
    if (take && low >= a->room_low && high <= a->room_high) {
        sum->room_low = a->room_low;
        sum->room_high = a->room_high;
        sum->factors = a->factors;
        return true;
    }
    if (take && high > a->high) high += more;
    if (take && low < a->low) low -= more < low ? more : low;
    if (!make_form_room(f, sum, low, high)) return false;
    for (uint64_t i = a->low; i < a->high; i++)
        *factor_at(sum, i) = *factor_at(a, i);
    return true;
}

static struct form constant_form(sym value)
{
    return (struct form){.known = true, .constant = value};
}

static struct form linear_form(const struct forms *f, sym value)
{
    if (sym_is_constant(value)) return constant_form(as_f64(f->symbols, value));
    return f->of[value.bits];
}

static bool is_free_of_packets(const struct form *form)
{
    return form->low == form->high;
}

/* a + by * b.  `take`: nothing else uses a. */
static struct form add_scaled(struct forms *f, const struct form *a, const struct form *b, sym by,
                              bool take)
{
    struct symbols *s = f->symbols;
    struct form sum = {.known = a->known && b->known};
    sum.low = a->low < b->low ? a->low : b->low;
    sum.high = a->high > b->high ? a->high : b->high;
    if (is_free_of_packets(a)) sum.low = b->low, sum.high = b->high;
    if (is_free_of_packets(b)) sum.low = a->low, sum.high = a->high;
    if (!sum.known || !take_over(f, &sum, a, take)) return (struct form){0};
    for (uint64_t i = b->low; i < b->high; i++) {
        sym product = sym_binary(s, OP_MUL, SCALAR_F64, *factor_at(b, i), by);
        *factor_at(&sum, i) = sym_binary(s, OP_ADD, SCALAR_F64, *factor_at(&sum, i), product);
    }
    sym product = sym_binary(s, OP_MUL, SCALAR_F64, b->constant, by);
    sum.constant = sym_binary(s, OP_ADD, SCALAR_F64, a->constant, product);
    return sum;
}

static struct form scale_form(struct forms *f, const struct form *form, sym by)
{
    const struct form nothing = constant_form(zero);
    return add_scaled(f, &nothing, form, by, false);
}

static struct form product_form(struct forms *f, const struct form *a, const struct form *b)
{
    if (!a->known || !b->known) return (struct form){0};
    if (is_free_of_packets(b)) return scale_form(f, a, b->constant);
    if (is_free_of_packets(a)) return scale_form(f, b, a->constant);
    return (struct form){0};
}

static bool used_once(const struct forms *f, sym value)
{
    return !sym_is_constant(value) && f->uses[value.bits] == 1;
}

static struct form binary_form(struct forms *f, const struct sym_node *n)
{
    struct form a = linear_form(f, n->operands[0]), b = linear_form(f, n->operands[1]);
    const sym one = arith_f64(1);
    switch (n->op) {
    case OP_ADD:
        if (used_once(f, n->operands[1]) && b.high - b.low > a.high - a.low)
            return add_scaled(f, &b, &a, one, true);
        return add_scaled(f, &a, &b, one, used_once(f, n->operands[0]));
    case OP_SUB: return add_scaled(f, &a, &b, arith_f64(-1), used_once(f, n->operands[0]));
    case OP_MUL: return product_form(f, &a, &b);
    case OP_DIV:
        if (!a.known || !b.known || !is_free_of_packets(&b)) return (struct form){0};
        return scale_form(f, &a, sym_binary(f->symbols, OP_DIV, SCALAR_F64, one, b.constant));
    default: return (struct form){0};
    }
}

static struct form linear_packet_form(struct forms *f, const struct sym_node *n)
{
    struct form form = {.known = true, .constant = zero};
    form.low = n->packet * f->scalars + n->component;
    form.high = form.low + 1;
    if (n->stream != f->buffer || !make_form_room(f, &form, form.low, form.high))
        return (struct form){0};
    form.factors[0] = arith_f64(1);
    return form;
}

/* Does the operation depend on no packet?  Then it is a constant during the run. */
static bool operands_are_free(const struct forms *f, const struct sym_node *n)
{
    for (uint32_t i = 0; i < n->operand_count; i++) {
        struct form form = linear_form(f, n->operands[i]);
        if (!form.known || !is_free_of_packets(&form)) return false;
    }
    return true;
}

static struct form node_form(struct forms *f, size_t number)
{
    const struct sym_node n = f->symbols->nodes.items[number];
    if (n.kind == SYM_PACKET) return linear_packet_form(f, &n);
    if (n.kind == SYM_UNKNOWN) return (struct form){0};
    if (operands_are_free(f, &n))
        return constant_form(as_f64(f->symbols, sym_of_node(number, n.type)));
    if (!scalar_is_float(n.type)) return (struct form){0};
    struct form a = linear_form(f, n.operands[0]);
    if (n.kind == SYM_NEGATE && a.known) return scale_form(f, &a, arith_f64(-1));
    if (n.kind == SYM_CONVERT && a.known && scalar_is_float(sym_type(n.operands[0]))) return a;
    if (n.kind == SYM_BINARY) return binary_form(f, &n);
    if (n.kind != SYM_BUILTIN || n.builtin != BUILTIN_FMA) return (struct form){0};
    struct form b = linear_form(f, n.operands[1]), c = linear_form(f, n.operands[2]);
    struct form product = product_form(f, &a, &b);
    return add_scaled(f, &c, &product, arith_f64(1), used_once(f, n.operands[2]));
}

/* The forms of all nodes that the values depend on. */
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
                      .of = ARENA_ARRAY(arena, struct form, count + 1),
                      .uses = ARENA_ARRAY(arena, uint32_t, count + 1)};
    for (uint64_t i = 0; i < values; i++)
        if (!sym_is_constant(out->values[i])) f.uses[out->values[i].bits]++;
    for (size_t i = count; i-- > 0;)
        for (uint32_t k = 0; f.uses[i] > 0 && k < s->nodes.items[i].operand_count; k++)
            if (!sym_is_constant(s->nodes.items[i].operands[k]))
                f.uses[s->nodes.items[i].operands[k].bits]++;
    for (size_t i = 0; i < count; i++)
        if (f.uses[i] > 0) f.of[i] = node_form(&f, i);
    return f;
}

/* ---- the filter ---- */

/* The factor in the type of the packets; an item of the table if it depends on arguments. */
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

static sym write_linear_sum(struct forms *f, struct region *region, enum scalar_type type,
                            const struct form *form)
{
    struct symbols *s = f->symbols;
    sym sum = factor_value(f->space, region, type, form->constant);
    for (uint64_t i = form->low; i < form->high; i++) {
        sym factor = *factor_at(form, i);
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

/* The scalars that the region writes, as forms; NULL: it is not linear. */
static const struct form *forms_of(struct forms *f, const struct region *region, uint64_t count)
{
    const struct region_end *out = &region->out.items[0];
    struct form *forms = ARENA_ARRAY(f->arena, struct form, count + 1);
    uint64_t products = 0;
    for (uint64_t j = 0; j < count; j++) {
        forms[j] = linear_form(f, out->values[j]);
        products += forms[j].high - forms[j].low;
        if (!forms[j].known || products > PRODUCTS_MAX) return NULL;
    }
    return forms;
}

/* Replaces the region's values by sums of products. */
static void write_sums(struct forms *f, struct region *region, const struct form *forms,
                       uint64_t count)
{
    struct region_end *out = &region->out.items[0];
    const struct type *to = f->space->graph->buffers.items[out->buffer].type;
    sym *values = ARENA_ARRAY(f->space->scratch, sym, count + 1);
    for (uint64_t j = 0; j < count; j++)
        values[j] = write_linear_sum(f, region, type_item(to)->scalar, &forms[j]);
    out->values = values;
    region->linear = true;
    region_count(f->space, values, count, &region->operations, &region->loads);
}

/* ---- in the frequency domain ---- */

/* Are all factors known and finite? */
static bool are_known(const struct form *forms, uint64_t count)
{
    for (uint64_t j = 0; j < count; j++) {
        if (!sym_is_constant(forms[j].constant)) return false;
        for (uint64_t i = forms[j].low; i < forms[j].high; i++)
            if (!sym_is_constant(*factor_at(&forms[j], i)) ||
                !isfinite(arith_as_f64(*factor_at(&forms[j], i))))
                return false;
    }
    return true;
}

static double factor_of(const struct form *form, uint64_t scalar)
{
    return scalar < form->low || scalar >= form->high ? 0 : arith_as_f64(*factor_at(form, scalar));
}

/* Are the forms of the two parts of a packet sums of complex products? */
static bool are_complex(const struct form *re, const struct form *im, uint64_t window)
{
    for (uint64_t i = 0; i < window; i++)
        if (factor_of(re, 2 * i) != factor_of(im, 2 * i + 1) ||
            factor_of(re, 2 * i + 1) != -factor_of(im, 2 * i))
            return false;
    return true;
}

/* The region as a filter for overlap_save; false: it is none. */
static bool filter_of(struct forms *f, const struct region *region, const struct form *forms,
                      struct linear_filter *filter)
{
    struct arena *arena = f->space->scratch;
    const struct region_end *in = &region->in.items[0], *out = &region->out.items[0];
    const struct type *from = f->space->graph->buffers.items[in->buffer].type;
    const struct type *to = f->space->graph->buffers.items[out->buffer].type;
    uint64_t each = f->scalars, count = out->packets * each;
    if (type_scalar_count(to) != each || each > 2 || !are_known(forms, count)) return false;
    *filter = (struct linear_filter){.scalar = type_item(from)->scalar,
                                     .is_complex = each == 2,
                                     .pop = in->packets,
                                     .push = out->packets,
                                     .needs = out->needs};
    if (filter->scalar != SCALAR_F32 && filter->scalar != SCALAR_F64) return false;
    for (uint64_t j = 0; j < count; j++) { /* the widest sum decides the window */
        uint64_t seen = (forms[j].high + f->scalars - 1) / f->scalars;
        if (seen > filter->window) filter->window = seen;
    }
    double *re = ARENA_ARRAY(arena, double, filter->push * filter->window + 1);
    double *im = ARENA_ARRAY(arena, double, filter->push * filter->window + 1);
    double *constants = ARENA_ARRAY(arena, double, count + 1);
    for (uint64_t j = 0; j < filter->push; j++) {
        const struct form *real = &forms[j * each], *imaginary = &forms[j * each + each - 1];
        if (filter->is_complex && !are_complex(real, imaginary, filter->window)) return false;
        constants[j] = arith_as_f64(real->constant);
        if (filter->is_complex) constants[filter->push + j] = arith_as_f64(imaginary->constant);
        for (uint64_t i = 0; i < filter->window; i++) {
            re[j * filter->window + i] = factor_of(real, i * each);
            if (filter->is_complex) im[j * filter->window + i] = factor_of(imaginary, 2 * i);
        }
    }
    filter->re = re;
    filter->im = im;
    filter->constants = constants;
    return filter->window > 0;
}

/* ---- which regions ---- */

struct collapser {
    struct region_space space;
    const struct graph *graph;
    bool in_spectra;
    bool *taken; /* by node: in a region that was chosen */
    VEC(struct region_choice) choices;
};

struct growth {
    uint32_t nodes[MEMBERS_MAX];
    size_t count;
};

static bool is_in_growth(const struct growth *g, uint32_t node)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->nodes[i] == node) return true;
    return false;
}

/* Do only nodes of the region read the node's packets? */
static bool writes_for(const struct graph *graph, const struct growth *g, uint32_t node)
{
    const struct graph_node *of = &graph->nodes.items[node];
    for (size_t o = 0; o < of->outputs.count; o++) {
        const struct graph_buffer *buffer = &graph->buffers.items[of->outputs.items[o].buffer];
        if (buffer->outer == GRAPH_OUTER_OUT || buffer->initial.packets > 0) return false;
        for (size_t r = 0; r < buffer->readers.count; r++)
            if (!is_in_growth(g, buffer->readers.items[r].node)) return false;
    }
    return true;
}

static bool may_grow_transform(struct collapser *c, const struct growth *g, uint32_t node)
{
    const struct graph_node *of = &c->graph->nodes.items[node];
    const struct graph_node *first = &c->graph->nodes.items[g->nodes[0]];
    return !c->taken[node] && !is_in_growth(g, node) && writes_for(c->graph, g, node) &&
           of->importance == first->importance && of->component == first->component &&
           region_look(&c->space, node)->reason == NULL;
}

/* Adds the nodes that write only for the region. */
static bool grow_region(struct collapser *c, struct growth *g)
{
    size_t before = g->count;
    for (size_t i = 0; i < before; i++) {
        const struct graph_node *node = &c->graph->nodes.items[g->nodes[i]];
        for (size_t e = 0; e < node->inputs.count && g->count < MEMBERS_MAX; e++) {
            uint32_t writer = c->graph->buffers.items[node->inputs.items[e].buffer].writer_node;
            if (writer != GRAPH_NONE && may_grow_transform(c, g, writer))
                g->nodes[g->count++] = writer;
        }
    }
    return g->count > before;
}

/* Does a path from the region's output lead back to it? */
static bool is_in_cycle(struct collapser *c, const struct growth *g, uint32_t out)
{
    bool *seen = ARENA_ARRAY(c->space.scratch, bool, c->graph->buffers.count + 1);
    uint32_t *stack = ARENA_ARRAY(c->space.scratch, uint32_t, c->graph->buffers.count + 1);
    size_t top = 0;
    stack[top++] = out;
    seen[out] = true;
    while (top > 0) {
        const struct graph_buffer *buffer = &c->graph->buffers.items[stack[--top]];
        for (size_t r = 0; r < buffer->readers.count; r++) {
            const struct graph_node *node = &c->graph->nodes.items[buffer->readers.items[r].node];
            if (is_in_growth(g, buffer->readers.items[r].node)) return true;
            for (size_t o = 0; o < node->outputs.count; o++) {
                uint32_t next = node->outputs.items[o].buffer;
                if (!seen[next]) stack[top++] = next;
                seen[next] = true;
            }
        }
    }
    return false;
}

/* May the region wait for the packets of a block before it writes any? */
static bool may_wait(struct collapser *c, const struct growth *g, const struct region *region)
{
    uint32_t in = region->in.items[0].buffer, out = region->out.items[0].buffer;
    return !c->graph->buffers.items[in].depth_declared &&
           !c->graph->buffers.items[out].depth_declared && !is_in_cycle(c, g, out);
}

/* Operations of an iteration of a region: `before`, if each node executes by itself, and `saved`, how many of these the
 * collapsed region leaves out. */
struct work {
    uint64_t before, saved;
    uint64_t times; /* iterations in a firing of the collapsed region */
};

/* Moves the region to the frequency domain if this pays. */
static void try_spectra(struct collapser *c, const struct growth *g, struct region *region,
                        struct forms *f, const struct form *forms, struct work *work)
{
    struct linear_filter filter;
    struct overlap_save *blocks = ARENA_NEW(c->space.scratch, struct overlap_save);
    uint64_t operations = region->operations < work->before ? region->operations : work->before;
    if (!c->in_spectra || !may_wait(c, g, region) || !filter_of(f, region, forms, &filter) ||
        !overlap_save_choose(&filter, operations, blocks))
        return;
    work->times = blocks->blocks * blocks->iterations;
    region->blocks = blocks;
    region->operations = blocks->operations;
    region->ends_late = true;
}

/* Makes the region one filter; false: it is not linear, or this saves too little. */
static bool collapse_region(struct collapser *c, const struct growth *g, struct region *region,
                            struct work *work)
{
    if (!is_filter(c->graph, region)) return false;
    struct arena *arena = arena_create();
    struct forms f = find_forms(&c->space, region, arena);
    uint64_t count = region->out.items[0].packets *
                     type_scalar_count(c->graph->buffers.items[region->out.items[0].buffer].type);
    const struct form *forms = forms_of(&f, region, count);
    if (forms != NULL) {
        write_sums(&f, region, forms, count);
        try_spectra(c, g, region, &f, forms, work);
    }
    arena_destroy(arena);
    if (forms == NULL) return false;
    uint64_t now = region->operations / work->times;
    work->saved = now < work->before ? work->before - now : 0;
    return region->blocks != NULL || (g->count > 1 && now < work->before / 4 * KEPT_QUARTERS);
}

/* The collapsed region of the nodes; NULL: it is not possible, or saves too little. */
static const struct region *collapse_nodes(struct collapser *c, const struct growth *g,
                                           struct work *work)
{
    struct region *region = ARENA_NEW(c->space.scratch, struct region);
    const char *reason;
    *work = (struct work){.times = 1};
    if ((g->count < 2 && !c->in_spectra) ||
        !region_build(&c->space, g->nodes, g->count, region, &reason) || region->interleaved)
        return NULL;
    for (size_t m = 0; m < region->members.count; m++)
        work->before += region->members.items[m].firings *
                        region_look(&c->space, region->members.items[m].node)->operations;
    return collapse_region(c, g, region, work) ? region : NULL;
}

static void collapse_before(struct collapser *c, uint32_t node)
{
    struct growth g = {.nodes = {node}, .count = 1};
    struct region_choice best = {0};
    uint64_t best_saved = 0;
    if (c->taken[node] || region_look(&c->space, node)->reason != NULL) return;
    do {
        struct work work;
        const struct region *region = collapse_nodes(c, &g, &work);
        if (region == NULL || work.saved <= best_saved) continue;
        best = (struct region_choice){region, work.before * work.times};
        best_saved = work.saved;
    } while (grow_region(c, &g));
    if (best.region == NULL) return;
    vec_push(c->space.scratch, &c->choices, best);
    for (size_t m = 0; m < best.region->members.count; m++)
        c->taken[best.region->members.items[m].node] = true;
}

struct graph *linear_collapse(struct compile *cx, const struct graph *graph, bool in_spectra)
{
    struct arena *scratch = arena_create();
    struct collapser c = {.space = region_space(cx, graph, scratch),
                          .graph = graph,
                          .in_spectra = in_spectra,
                          .taken = ARENA_ARRAY(scratch, bool, graph->nodes.count + 1)};
    for (uint32_t n = (uint32_t)graph->nodes.count; n-- > 0;)
        collapse_before(&c, n);
    struct graph *collapsed_graph = region_rewrite(&c.space, c.choices.items, c.choices.count);
    arena_destroy(scratch);
    return collapsed_graph;
}
