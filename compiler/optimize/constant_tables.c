/* SPDX-License-Identifier: MIT */
#include "compiler/optimize/constant_tables.h"

#include <string.h>

#include "compiler/optimize/region/symbolic.h"
#include "compiler/ir/expr_build.h"

enum {
    KERNEL_STEPS = 7000000,       /* of one `init` */
    ALL_STEPS = 28000000,         /* of a program: less than a second */
    STATE_MAX = 64,               /* scalars of state that the new `init` sets */
    ARGUMENT_SCALARS_MAX = 65536, /* of an argument whose values are not known */
};

struct table_search {
    struct compile *cx;
    struct graph *graph;
    struct constant_tables *found;
    uint64_t bytes, steps;
};

/* ---- which tables ---- */

static bool same_value(const struct kx *a, const struct kx *b)
{
    if (!kx_is_constant(a) || !kx_is_constant(b) || a->type != b->type) return false;
    const struct scalar_value *left = kx_constant_scalars(a), *right = kx_constant_scalars(b);
    for (uint64_t i = 0; left != right && i < type_scalar_count(a->type); i++)
        // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): both have as many scalars as the type
        if (left[i].type != right[i].type || left[i].bits != right[i].bits) return false;
    return true;
}

/* A node of the kernel, if all nodes of the kernel have the same constant arguments; else NULL.  A single node
 * may have run-time arguments; then `init` must not depend on them. */
static const struct graph_node *common_node(const struct graph *graph, const struct kernel *kernel)
{
    const struct graph_node *first = NULL;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];
        if (node->kernel != kernel) continue;
        for (uint32_t a = 0; first != NULL && a < kernel->argument_count; a++)
            if (!same_value(first->arguments[a], node->arguments[a])) return NULL;
        if (first == NULL) first = node;
    }
    return first;
}

static void see_half(enum scalar_type scalar, uint64_t offset_bytes, void *data)
{
    (void)offset_bytes;
    *(bool *)data |= scalar == SCALAR_F16 || scalar == SCALAR_BF16;
}

static bool is_eligible(const struct table_search *s, const struct kernel *kernel)
{
    bool halves = false;
    if (kernel->tables.count == 0 || kernel->init == NULL) return false;
    if (kernel->tables_bytes > TABLES_KERNEL_BYTES ||
        kernel->tables_bytes > TABLES_ALL_BYTES - s->bytes)
        return false;
    for (size_t i = 0; i < kernel->tables.count; i++)
        type_each_scalar(kernel->tables.items[i]->type, see_half, &halves);
    return !halves;
}

/* ---- values ---- */

static const sym *const *argument_values(struct symbols *symbols, const struct graph_node *node)
{
    uint32_t count = node->kernel->argument_count;
    const sym **values = ARENA_ARRAY(symbols->arena, const sym *, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct kx *value = node->arguments[i];
        if (kx_is_constant(value)) {
            values[i] = kx_constant_scalars(value);
            continue;
        }
        uint64_t scalars = type_scalar_count(value->type);
        if (scalars > ARGUMENT_SCALARS_MAX) return NULL;
        sym *unknown = ARENA_ARRAY(symbols->arena, sym, (size_t)scalars);
        for (uint64_t k = 0; k < scalars; k++)
            unknown[k] = sym_unknown(symbols, type_base(value->type)->scalar);
        values[i] = unknown;
    }
    return values;
}

static bool all_constant(const sym *const *values, struct variable *const *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (uint64_t k = 0; k < type_scalar_count(of[i]->type); k++)
            if (!sym_is_constant(values[i][k])) return false;
    return true;
}

static uint64_t count_set(const struct kernel *kernel, const sym *const *states)
{
    uint64_t count = 0;
    for (size_t i = 0; i < kernel->states.count; i++)
        for (uint64_t k = 0; k < type_scalar_count(kernel->states.items[i]->type); k++)
            count += states[i][k].bits != 0;
    return count;
}

/* ---- the kernel without tables ---- */

/* Statements that set each nonzero scalar of the state; NULL: all are zero. */
static struct ks *state_init(const struct expr_build *t, const sym *const *states)
{
    struct build_list list = {0};
    for (size_t i = 0; i < t->kernel->states.count; i++) {
        struct variable *state = t->kernel->states.items[i];
        for (uint64_t k = 0; k < type_scalar_count(state->type); k++) {
            if (states[i][k].bits == 0) continue;
            struct kx *to = build_scalar_place(t, build_variable(t, state), k);
            build_append(&list,
                         build_expression(t, build_assign(t, to, build_constant(t, states[i][k]))));
        }
    }
    return list.first != NULL ? build_block(t, &list) : NULL;
}

static void replace_tables(struct table_search *s, struct kernel *kernel, const sym *const *tables,
                           const sym *const *states)
{
    struct expr_build t = {
        .arena = s->cx->arena, .types = s->graph->types, .kernel = kernel, .span = kernel->span};
    for (size_t i = 0; i < kernel->tables.count; i++) {
        struct variable *table = kernel->tables.items[i];
        size_t count = (size_t)type_scalar_count(table->type);
        table->kind = VARIABLE_CONSTANT;
        table->loaded = table->type->has_floats;
        table->constant = arena_copy(s->cx->arena, tables[i], count * sizeof(struct scalar_value));
        vec_push(s->cx->arena, &s->found->items,
                 (struct constant_table){kernel->title, table->name, table->type->width_bytes});
    }
    s->bytes += kernel->tables_bytes;
    kernel->tables.count = 0;
    kernel->tables_bytes = 0;
    kernel->init = state_init(&t, states);
}

static void try_kernel(struct table_search *s, struct kernel *kernel)
{
    const struct graph_node *node = common_node(s->graph, kernel);
    if (node == NULL || !is_eligible(s, kernel) || s->steps >= ALL_STEPS) return;
    struct arena *scratch = arena_create();
    struct symbols symbols = symbols_begin(scratch);
    const sym *const *tables, *const *states;
    symbols.step_limit = KERNEL_STEPS;
    const sym *const *arguments = argument_values(&symbols, node);
    if (arguments != NULL && symbolic_init(&symbols, kernel, arguments, &tables, &states) &&
        all_constant(tables, kernel->tables.items, kernel->tables.count) &&
        all_constant(states, kernel->states.items, kernel->states.count) &&
        count_set(kernel, states) <= STATE_MAX)
        replace_tables(s, kernel, tables, states);
    s->steps += symbols.steps;
    arena_destroy(scratch);
}

void tables_to_constants(struct compile *cx, struct graph *graph)
{
    struct table_search s = {
        .cx = cx, .graph = graph, .found = ARENA_NEW(cx->arena, struct constant_tables)};
    for (size_t i = 0; i < graph->kernels.count - graph->child_kernels; i++)
        try_kernel(&s, graph->kernels.items[i]);
    graph->constant_tables = s.found;
}
