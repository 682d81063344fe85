/* SPDX-License-Identifier: MIT */
/* Debug information: types are consistent, and variables lie in their blocks. */
#include "runtime/verify/verify_internal.h"

#include "lang/scalar.h"
#include "runtime/load/debug_info.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- types ---- */

static enum prt_status verify_scalar(const struct prt_container *c, uint32_t index,
                                     struct prt_error *error)
{
    const struct container_type *t = &c->types[index];
    CHECK(t->element == CONTAINER_NONE && t->length == 0 && t->member_count == 0, TYPES, index,
          "a scalar with parts");
    CHECK(t->width_bytes == scalar_width_bytes((enum scalar_type)t->scalar), TYPES, index,
          "a scalar '%s' of %" PRIu64 " bytes", scalar_name((enum scalar_type)t->scalar),
          t->width_bytes);
    return PRT_OK;
}

static enum prt_status verify_list(const struct prt_container *c, uint32_t index,
                                   struct prt_error *error)
{
    const struct container_type *t = &c->types[index];
    uint64_t width;
    CHECK(t->element != CONTAINER_NONE && t->length >= 1 && t->member_count == 0 && t->scalar == 0,
          TYPES, index, "a list without elements, or with members");
    CHECK(t->kind == CONTAINER_TYPE_ARRAY || c->types[t->element].kind == CONTAINER_TYPE_SCALAR,
          TYPES, index, "a vector of something that is no scalar");
    CHECK(!__builtin_mul_overflow(t->length, c->types[t->element].width_bytes, &width) &&
              width == t->width_bytes,
          TYPES, index, "%" PRIu64 " elements do not fill %" PRIu64 " bytes", t->length,
          t->width_bytes);
    return PRT_OK;
}

/* `*next`: the members of the structs before it. */
static enum prt_status verify_struct(const struct prt_container *c, uint32_t index, uint32_t *next,
                                     struct prt_error *error)
{
    const struct container_type *t = &c->types[index];
    uint64_t end = 0;
    CHECK(t->element == CONTAINER_NONE && t->length == 0 && t->scalar == 0 && t->member_count >= 1,
          TYPES, index, "a struct without members, or with elements");
    CHECK(t->first_member == *next, TYPES, index,
          "its members do not follow those of the struct before it");
    *next += t->member_count;
    for (uint32_t i = t->first_member; i < *next; i++) {
        const struct container_member *m = &c->members[i];
        uint64_t width = c->types[m->type].width_bytes;
        CHECK(m->offset_bytes >= end && m->offset_bytes <= t->width_bytes &&
                  width <= t->width_bytes - m->offset_bytes,
              MEMBERS, i, "a place outside of struct '%s', or inside of another member",
              prt_verify_text(c, t->name));
        end = m->offset_bytes + width;
    }
    return PRT_OK;
}

static enum prt_status verify_types(const struct prt_container *c, uint32_t *depths,
                                    struct prt_error *error)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < c->type_count; i++) {
        enum prt_status status;
        switch (c->types[i].kind) {
        case CONTAINER_TYPE_SCALAR: status = verify_scalar(c, i, error); break;
        case CONTAINER_TYPE_STRUCT: status = verify_struct(c, i, &next, error); break;
        default: status = verify_list(c, i, error); break;
        }
        if (status != PRT_OK) return status;
        /* The parts of a type precede it in the table. */
        const struct container_type *t = &c->types[i];
        uint32_t deepest = t->element != CONTAINER_NONE ? depths[t->element] : 0;
        for (uint32_t j = 0; j < t->member_count; j++) {
            uint32_t depth = depths[c->members[t->first_member + j].type];
            if (depth > deepest) deepest = depth;
        }
        depths[i] = deepest + 1;
        CHECK(depths[i] <= CONTAINER_TYPE_DEPTH_MAX, TYPES, i, "types nested %" PRIu32 " deep",
              depths[i]);
    }
    CHECK(next == c->member_count, MEMBERS, next, "belongs to no struct");
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        const struct container_buffer *b = &c->buffers[i];
        CHECK(b->type == CONTAINER_NONE || c->types[b->type].width_bytes == b->width_bytes, BUFFERS,
              i, "the type of '%s' is not as wide as its packets", prt_verify_text(c, b->name));
    }
    return PRT_OK;
}

/* ---- kernels ---- */

/* Where the variables of a kernel end in their blocks. */
struct block_ends {
    uint64_t bytes[CONTAINER_VARIABLE_ARGUMENT + 1];
};

static enum prt_status verify_variables(const struct prt_container *c,
                                        const struct container_kernel *k, struct block_ends *ends,
                                        struct prt_error *error)
{
    *ends = (struct block_ends){{0}};
    for (uint32_t i = k->first_variable; i < k->first_variable + k->variable_count; i++) {
        const struct container_variable *v = &c->variables[i];
        uint64_t end, width = v->type == CONTAINER_NONE ? 0 : c->types[v->type].width_bytes;
        CHECK(!__builtin_add_overflow(v->offset_bytes, width, &end), VARIABLES, i,
              "'%s' lies outside of its block", prt_verify_text(c, v->name));
        if (end > ends->bytes[v->kind]) ends->bytes[v->kind] = end;
    }
    return PRT_OK;
}

static enum prt_status verify_kernels(const struct prt_container *c, struct block_ends *ends,
                                      struct prt_error *error)
{
    uint32_t ports = 0, variables = 0;
    for (uint32_t i = 0; i < c->kernel_count; i++) {
        const struct container_kernel *k = &c->kernels[i];
        CHECK(i == 0 || k->kernel > k[-1].kernel, KERNELS, i,
              "its number does not follow that of the one before");
        CHECK(k->first_port == ports && k->first_variable == variables, KERNELS, i,
              "its ports or variables do not follow those of the one before");
        ports += k->in_count + k->out_count;
        variables += k->variable_count;
        enum prt_status status = verify_variables(c, k, &ends[i], error);
        if (status != PRT_OK) return status;
    }
    CHECK(ports == c->kernel_port_count, KERNEL_PORTS, ports, "belongs to no kernel");
    CHECK(variables == c->variable_count, VARIABLES, variables, "belongs to no kernel");
    return PRT_OK;
}

/* ---- blocks ---- */

static enum prt_status verify_node_blocks(const struct prt_container *c,
                                          const struct block_ends *ends, uint32_t node,
                                          struct prt_error *error)
{
    const struct container_node *n = &c->nodes[node];
    const struct container_kernel *k = prt_debug_kernel(c, n->kernel);
    if (k == NULL) return PRT_OK;
    const struct block_ends *end = &ends[k - c->kernels];
    CHECK(end->bytes[CONTAINER_VARIABLE_STATE] <= n->state_bytes &&
              end->bytes[CONTAINER_VARIABLE_TABLE] <= n->tables_bytes &&
              end->bytes[CONTAINER_VARIABLE_ARGUMENT] <= n->arguments_bytes,
          NODES, node, "a variable of kernel '%s' lies outside of the blocks of '%s'",
          prt_verify_text(c, k->title), prt_verify_text(c, n->name));
    return PRT_OK;
}

/* Child kernels have only arguments. */
static enum prt_status verify_child_blocks(const struct prt_container *c,
                                           const struct block_ends *ends, uint32_t interface,
                                           struct prt_error *error)
{
    const struct container_interface *f = &c->interfaces[interface];
    const struct container_kernel *k = prt_debug_kernel(c, f->kernel);
    if (k == NULL || f->node != CONTAINER_NONE) return PRT_OK;
    const struct block_ends *end = &ends[k - c->kernels];
    CHECK(end->bytes[CONTAINER_VARIABLE_STATE] == 0 && end->bytes[CONTAINER_VARIABLE_TABLE] == 0 &&
              end->bytes[CONTAINER_VARIABLE_ARGUMENT] <= f->arguments_bytes,
          INTERFACES, interface, "a variable of kernel '%s' lies outside of its arguments",
          prt_verify_text(c, k->title));
    return PRT_OK;
}

static enum prt_status verify_types_and_variables(const struct prt_container *c, uint32_t *depths,
                                                  struct block_ends *ends, struct prt_error *error)
{
    enum prt_status status = verify_types(c, depths, error);
    if (status == PRT_OK) status = verify_kernels(c, ends, error);
    for (uint32_t i = 0; i < c->node_count && status == PRT_OK; i++)
        status = verify_node_blocks(c, ends, i, error);
    for (uint32_t i = 0; i < c->interface_count && status == PRT_OK; i++)
        status = verify_child_blocks(c, ends, i, error);
    return status;
}

enum prt_status prt_verify_debug(const struct prt_container *c, struct prt_error *error)
{
    CHECK(prt_debug_mode(c) || (c->variable_count == 0 && c->source_texts_bytes == 0), PIPELINE, 0,
          "variables or source texts of a pipeline that was not compiled for debugging");
    uint32_t *depths = calloc((size_t)c->type_count + 1, sizeof *depths);
    struct block_ends *ends = calloc((size_t)c->kernel_count + 1, sizeof *ends);
    enum prt_status status = depths != NULL && ends != NULL
                                 ? verify_types_and_variables(c, depths, ends, error)
                                 : prt_error_set(error, PRT_E_NOMEM, "out of memory");
    free(depths);
    free(ends);
    return status;
}
