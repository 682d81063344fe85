/* SPDX-License-Identifier: MIT */
#include "compiler/emit/debug_tables.h"

#include "compiler/codegen/common/source_map.h"

/* ---- types ---- */

static struct debug_type add_type(struct debug_tables *t, const struct type *type);

static uint32_t type_kind(const struct type *type)
{
    switch (type->kind) {
    case TYPE_VECTOR: return CONTAINER_TYPE_VECTOR;
    case TYPE_ARRAY: return CONTAINER_TYPE_ARRAY;
    case TYPE_STRUCT: return CONTAINER_TYPE_STRUCT;
    default: return CONTAINER_TYPE_SCALAR;
    }
}

/* The types of the fields come first, then their records in one sequence. */
static uint32_t add_members(struct debug_tables *t, const struct type *type,
                            struct container_type *record)
{
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < type->field_count; i++) {
        uint32_t depth = add_type(t, type->fields[i].type).depth;
        if (depth > deepest) deepest = depth;
    }
    if (deepest >= CONTAINER_TYPE_DEPTH_MAX) return deepest;
    record->first_member = (uint32_t)t->members.count;
    record->member_count = type->field_count;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct type_field *field = &type->fields[i];
        struct container_member member = {.type = add_type(t, field->type).index,
                                          .offset_bytes = field->offset_bytes};
        vec_push(t->arena, &t->members, member);
        vec_push(t->arena, &t->member_names, field->name);
    }
    return deepest;
}

static struct debug_type make_type(struct debug_tables *t, const struct type *type)
{
    struct debug_type known = {.type = type, .index = CONTAINER_NONE};
    struct container_type record = {
        .kind = type_kind(type), .element = CONTAINER_NONE, .width_bytes = type->width_bytes};
    if (type->kind == TYPE_STRUCT) {
        known.depth = add_members(t, type, &record);
    } else if (type_is_indexed(type)) {
        struct debug_type element = add_type(t, type->element);
        record.element = element.index;
        record.length = type->length;
        known.depth = element.depth;
    } else {
        record.scalar = type->scalar;
    }
    if (known.depth >= CONTAINER_TYPE_DEPTH_MAX) return known;
    known.depth++;
    known.index = (uint32_t)t->types.count;
    vec_push(t->arena, &t->types, record);
    vec_push(t->arena, &t->type_names, type->kind == TYPE_STRUCT ? type->name : "");
    return known;
}

static struct debug_type add_type(struct debug_tables *t, const struct type *type)
{
    for (size_t i = t->known.count; i-- > 0;)
        if (t->known.items[i].type == type) return t->known.items[i];
    struct debug_type made = make_type(t, type);
    vec_push(t->arena, &t->known, made);
    return made;
}

uint32_t debug_type_index(struct debug_tables *t, const struct type *type)
{
    return add_type(t, type).index;
}

/* ---- kernels ---- */

static void add_debug_port(struct debug_tables *t, struct place_table *places,
                           const struct kernel_port *port)
{
    struct container_kernel_port record = {.type = debug_type_index(t, port->type),
                                           .place = places_add(places, port->span)};
    vec_push(t->arena, &t->ports, record);
    vec_push(t->arena, &t->port_names, port->name);
}

static void add_variable(struct debug_tables *t, struct place_table *places,
                         const struct variable *variable, enum container_variable_kind kind)
{
    struct container_variable record = {.kind = kind,
                                        .type = debug_type_index(t, variable->type),
                                        .place = places_add(places, variable->span),
                                        .offset_bytes = variable->offset_bytes};
    vec_push(t->arena, &t->variables, record);
    vec_push(t->arena, &t->variable_names, variable->name);
}

static void add_kernel(struct debug_tables *t, struct place_table *places,
                       const struct kernel *kernel, uint32_t id, bool variables)
{
    struct container_kernel record = {.kernel = id,
                                      .place = places_add(places, kernel->span),
                                      .first_port = (uint32_t)t->ports.count,
                                      .in_count = kernel->in_count,
                                      .out_count = kernel->out_count,
                                      .first_variable = (uint32_t)t->variables.count};
    for (uint32_t i = 0; i < kernel->in_count; i++)
        add_debug_port(t, places, &kernel->in[i]);
    for (uint32_t i = 0; i < kernel->out_count; i++)
        add_debug_port(t, places, &kernel->out[i]);
    if (variables) {
        for (size_t i = 0; i < kernel->states.count; i++)
            add_variable(t, places, kernel->states.items[i], CONTAINER_VARIABLE_STATE);
        for (size_t i = 0; i < kernel->tables.count; i++)
            add_variable(t, places, kernel->tables.items[i], CONTAINER_VARIABLE_TABLE);
        for (uint32_t i = 0; i < kernel->argument_count; i++)
            add_variable(t, places, kernel->arguments[i], CONTAINER_VARIABLE_ARGUMENT);
    }
    record.variable_count = (uint32_t)t->variables.count - record.first_variable;
    vec_push(t->arena, &t->kernels, record);
    vec_push(t->arena, &t->kernel_titles, kernel->title);
}

void debug_tables_build(struct compile *cx, struct arena *arena, const struct graph *graph,
                        const struct kernel_image *image, struct debug_tables *tables)
{
    *tables = (struct debug_tables){.arena = arena};
    bool variables = cx->options.debug_mode;
    uint32_t next = 0; /* numbers of nodes' kernels ascend in order of first use, children follow */
    for (size_t i = 0; i < graph->nodes.count; i++) {
        uint32_t id = image->node_kernel[i];
        if (id < next) continue;
        next = id + 1;
        add_kernel(tables, image->places, graph->nodes.items[i].kernel, id, variables);
    }
    size_t first = graph->kernels.count - graph->child_kernels;
    for (size_t i = 0; i < graph->child_kernels; i++)
        add_kernel(tables, image->places, graph->kernels.items[first + i], image->child_kernel[i],
                   variables);
}
