/* SPDX-License-Identifier: MIT */
/*
 * verify_launches: kernels that launch kernels, checked from the container's records only
 * (lang/device_queue.md, "Bounds").
 *
 *     E(k, d) = launches(k) + max of E(c, d - 1) over the kernels c that k launches,  E(k, 0) = 0
 *     T(k, d) = launches(k) x max of groups(c) x (1 + T(c, d - 1)),                   T(k, 0) = 0
 *
 * are maxima for one firing of k with d levels below it, where groups(c) is the maximum of work-groups of a launch of c.  E is the
 * number of entries of the device queue at one time, if the deepest kernels execute first.  T is the number of all
 * work-groups that are launched.
 */
#include "runtime/verify/verify_internal.h"

#include "lang/index_format.h"
#include "lang/kernel_abi.h"
#include "base/arithmetic.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAX (UINT64_C(1) << 20) /* bytes of a child's arguments */

static const char *interface_title(const struct prt_container *c, uint32_t interface)
{
    return prt_verify_text(c, c->interfaces[interface].title);
}

/* ---- one interface ---- */

static enum prt_status verify_entry(const struct prt_container *c, uint32_t i,
                                    struct prt_error *error)
{
    const struct container_interface *f = &c->interfaces[i];
    const uint64_t begin = sizeof(struct kernel_launch);
    CHECK(f->arguments_bytes <= ARGUMENTS_MAX, INTERFACES, i,
          "'%s' has %" PRIu64 " bytes of arguments", interface_title(c, i), f->arguments_bytes);
    CHECK(f->entry_bytes == begin + (f->arguments_bytes + 63) / 64 * 64 &&
              f->arguments_offset_bytes == begin,
          INTERFACES, i, "the entry of '%s' is not laid out as entries are", interface_title(c, i));
    CHECK(f->event_offset_bytes == offsetof(struct kernel_launch, event), INTERFACES, i,
          "the entry of '%s' has its event at %" PRIu32
          ": the device looks for it at %zu, before it "
          "knows the child",
          interface_title(c, i), f->event_offset_bytes, offsetof(struct kernel_launch, event));
    CHECK(f->local_offset_bytes == 0, INTERFACES, i,
          "local memory of '%s' begins at %" PRIu32
          ": a work-group has all of a compute unit's, from "
          "0 on",
          interface_title(c, i), f->local_offset_bytes);
    uint64_t plane = (uint64_t)f->group[0] * f->group[1];
    CHECK(plane >= 1 && plane <= INDEX_ITEMS_MAX && f->group[2] >= 1 &&
              plane * f->group[2] <= INDEX_ITEMS_MAX,
          INTERFACES, i, "'%s' has no work-items, or too many", interface_title(c, i));
    uint64_t items = plane * f->group[2], lanes = c->device->lanes;
    CHECK(f->firing_warps == items / lanes + (items % lanes != 0), INTERFACES, i,
          "'%s' has %" PRIu32 " warps, for %" PRIu64 " work-items and %" PRIu64 " lanes",
          interface_title(c, i), f->firing_warps, items, lanes);
    CHECK(f->work_groups >= 1 && f->work_groups <= CONTAINER_WORK_GROUPS_MAX, INTERFACES, i,
          "a launch of '%s' has no work-groups, or too many", interface_title(c, i));
    CHECK(f->group_offset < f->work_groups, INTERFACES, i,
          "a launch of '%s' may begin with work-group %" PRIu32 ", and has %" PRIu32,
          interface_title(c, i), f->group_offset, f->work_groups);
    CHECK(f->global_offset == f->group_offset * items, INTERFACES, i,
          "work-group %" PRIu32 " of '%s' does not begin with work-item %" PRIu32, f->group_offset,
          interface_title(c, i), f->global_offset);
    /* equivalent: neither of its parts needs the other */
    CHECK((f->launches > 0) == (f->launch_count > 0) && f->launches <= CONTAINER_EVENTS_MAX,
          INTERFACES, i, "'%s' has %" PRIu64 " launches a firing and %" PRIu32 " places for them",
          interface_title(c, i), f->launches, f->launch_count);
    return PRT_OK;
}

static enum prt_status verify_child(const struct prt_container *c, uint32_t i,
                                    struct prt_error *error)
{
    const struct container_interface *f = &c->interfaces[i];
    CHECK(f->nesting == 0 && f->tree == 0 && f->queue_entries == 0, INTERFACES, i,
          "'%s' is a child, and has bounds of an outermost kernel", interface_title(c, i));
    return PRT_OK;
}

/* The interface's ports are those of its node. */
static enum prt_status verify_node_ports(const struct prt_container *c, uint32_t i,
                                         struct prt_error *error)
{
    const struct container_interface *f = &c->interfaces[i];
    const struct container_node *node = &c->nodes[f->node];
    CHECK(f->in_count == node->input_count && f->out_count == node->output_count, INTERFACES, i,
          "'%s' has not the ends of its node", interface_title(c, i));
    for (uint32_t k = 0; k < f->in_count; k++) {
        const struct container_input *input = &c->inputs[node->first_input + k];
        const struct container_interface_port *port = &c->interface_ports[f->first_port + k];
        CHECK(input->window_width == 0, INTERFACES, i, "'%s' launches, and has a 2-D window",
              interface_title(c, i));
        CHECK(port->width_bytes == c->buffers[input->buffer].width_bytes &&
                  port->packets == input->peek,
              INTERFACE_PORTS, f->first_port + k, "is not as the input of node '%s'",
              prt_verify_text(c, node->name));
    }
    for (uint32_t k = 0; k < f->out_count; k++) {
        uint32_t at = f->first_port + f->in_count + k;
        const struct container_output *output = &c->outputs[node->first_output + k];
        const struct container_interface_port *port = &c->interface_ports[at];
        CHECK(port->width_bytes == c->buffers[output->buffer].width_bytes &&
                  port->packets <= output->push,
              INTERFACE_PORTS, at, "is not as the output of node '%s'",
              prt_verify_text(c, node->name));
    }
    return PRT_OK;
}

static enum prt_status verify_outermost(const struct prt_container *c, uint32_t i,
                                        struct prt_error *error)
{
    const struct container_interface *f = &c->interfaces[i];
    const struct container_node *node = &c->nodes[f->node];
    const uint32_t never = CONTAINER_NODE_STOPS | CONTAINER_NODE_INDEXED;
    CHECK((node->flags & CONTAINER_NODE_LAUNCHES) && f->launches > 0, INTERFACES, i,
          "node '%s' launches nothing", prt_verify_text(c, node->name));
    CHECK(f->work_groups == 1, INTERFACES, i, "a firing of node '%s' is not one work-group",
          prt_verify_text(c, node->name));
    CHECK((node->flags & never) == 0 && node->phases == 1, INTERFACES, i,
          "node '%s' launches, and stops, has phases or writes by index",
          prt_verify_text(c, node->name));
    CHECK(f->kernel == node->kernel && f->arguments_bytes == node->arguments_bytes, INTERFACES, i,
          "'%s' is not the kernel of node '%s'", interface_title(c, i),
          prt_verify_text(c, node->name));
    CHECK(f->nesting >= 1 && f->nesting <= CONTAINER_NESTING_MAX, INTERFACES, i,
          "'%s' has %" PRIu64 " levels below it", interface_title(c, i), f->nesting);
    CHECK(f->tree >= 1 && f->tree <= CONTAINER_TREE_MAX, INTERFACES, i,
          "a firing of '%s' has %" PRIu64 " launches", interface_title(c, i), f->tree);
    return verify_node_ports(c, i, error);
}

/* ---- one launch ---- */

static enum prt_status verify_launch(const struct prt_container *c, uint32_t i, uint32_t parent,
                                     struct prt_error *error)
{
    const struct container_launch *launch = &c->launches[i];
    const struct container_interface *from = &c->interfaces[parent];
    const struct container_interface *to = &c->interfaces[launch->child];
    CHECK(launch->parent == parent, LAUNCHES, i, "is not one of '%s'", interface_title(c, parent));
    CHECK(to->node == CONTAINER_NONE, LAUNCHES, i, "'%s' is no child kernel",
          interface_title(c, launch->child));
    CHECK(to->in_count <= from->in_count && to->out_count <= from->out_count, LAUNCHES, i,
          "'%s' has more ports than '%s', which launches it", interface_title(c, launch->child),
          interface_title(c, parent));
    CHECK(launch->order != CONTAINER_LAUNCH_AFTER_PARENT || from->work_groups == 1, LAUNCHES, i,
          "waits for all work-groups of a launch of '%s'", interface_title(c, parent));
    for (uint32_t k = 0; k < to->in_count + to->out_count; k++) {
        bool in = k < to->in_count;
        uint32_t theirs = from->first_port + (in ? k : from->in_count + k - to->in_count);
        const struct container_interface_port *outer = &c->interface_ports[theirs];
        const struct container_interface_port *inner = &c->interface_ports[to->first_port + k];
        CHECK(inner->width_bytes == outer->width_bytes && (!in || inner->packets <= outer->packets),
              INTERFACE_PORTS, to->first_port + k,
              "port of '%s' is wider than that of '%s', which launches it, or sees more",
              interface_title(c, launch->child), interface_title(c, parent));
    }
    return PRT_OK;
}

static enum prt_status verify_tables(const struct prt_container *c, struct prt_error *error)
{
    uint32_t ports = 0, launches = 0;
    CHECK(c->launch_count <= CONTAINER_LAUNCHES_MAX, LAUNCHES, CONTAINER_LAUNCHES_MAX,
          "more than %u launches", CONTAINER_LAUNCHES_MAX);
    for (uint32_t i = 0; i < c->interface_count; i++) {
        const struct container_interface *f = &c->interfaces[i];
        CHECK(f->first_port == ports && f->first_launch == launches, INTERFACES, i,
              "the ports or launches of '%s' do not follow those of the kernel before it",
              interface_title(c, i));
        ports += f->in_count + f->out_count;
        launches += f->launch_count;
        enum prt_status status = verify_entry(c, i, error);
        if (status == PRT_OK)
            status = f->node == CONTAINER_NONE ? verify_child(c, i, error)
                                               : verify_outermost(c, i, error);
        for (uint32_t k = f->first_launch; k < launches && status == PRT_OK; k++)
            status = verify_launch(c, k, i, error);
        if (status != PRT_OK) return status;
    }
    CHECK(ports == c->interface_port_count, INTERFACE_PORTS, ports, "belongs to no kernel");
    CHECK(launches == c->launch_count, LAUNCHES, launches, "belongs to no kernel");
    return PRT_OK;
}

/* Each node that launches has one interface. */
static enum prt_status verify_interface_coverage(const struct prt_container *c,
                                                 struct prt_error *error)
{
    uint8_t *seen = calloc((size_t)c->node_count + 1, 1);
    if (seen == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < c->interface_count && status == PRT_OK; i++) {
        uint32_t node = c->interfaces[i].node;
        if (node == CONTAINER_NONE) continue;
        if (PRT_BREAKS(seen[node]++))
            status =
                prt_verify_refuse(c, error, CONTAINER_INTERFACES, i, "node '%s' has two interfaces",
                                  prt_verify_text(c, c->nodes[node].name));
    }
    for (uint32_t i = 0; i < c->node_count && status == PRT_OK; i++) {
        if (PRT_BREAKS((c->nodes[i].flags & CONTAINER_NODE_LAUNCHES) && !seen[i]))
            status = prt_verify_refuse(c, error, CONTAINER_NODES, i,
                                       "'%s' launches, and has no interface",
                                       prt_verify_text(c, c->nodes[i].name));
    }
    free(seen);
    return status;
}

/* ---- bounds ---- */

struct bounds {
    uint64_t entries, tree;
};

/* `deeper` from `row`, the bounds with one level less. */
static void deepen_bounds(const struct prt_container *c, const struct bounds *row,
                          struct bounds *deeper)
{
    for (uint32_t i = 0; i < c->interface_count; i++) {
        const struct container_interface *f = &c->interfaces[i];
        struct bounds most = {0};
        for (uint32_t k = f->first_launch; k < f->first_launch + f->launch_count; k++) {
            const struct bounds *child = &row[c->launches[k].child];
            uint64_t tree = saturating_multiply(c->interfaces[c->launches[k].child].work_groups,
                                                saturating_add(1, child->tree));
            if (child->entries > most.entries) most.entries = child->entries;
            if (tree > most.tree) most.tree = tree;
        }
        deeper[i].entries = saturating_add(f->launches, most.entries);
        deeper[i].tree = saturating_multiply(f->launches, most.tree);
    }
}

static enum prt_status verify_depth(const struct prt_container *c, uint64_t depth,
                                    const struct bounds *row, struct prt_error *error)
{
    for (uint32_t i = 0; i < c->interface_count; i++) {
        const struct container_interface *f = &c->interfaces[i];
        if (f->node == CONTAINER_NONE || f->nesting != depth) continue;
        CHECK(f->tree <= row[i].tree, INTERFACES, i,
              "a firing of '%s' is said to have %" PRIu64 " launches, it has %" PRIu64 " at most",
              interface_title(c, i), f->tree, row[i].tree);
        uint64_t entries = row[i].entries < f->tree ? row[i].entries : f->tree;
        CHECK(f->queue_entries == entries, INTERFACES, i,
              "'%s' is said to have %" PRIu64 " entries in the device queue, it may have %" PRIu64,
              interface_title(c, i), f->queue_entries, entries);
    }
    return PRT_OK;
}

static enum prt_status verify_bounds(const struct prt_container *c, struct prt_error *error)
{
    /* equivalent: room for a third row */
    struct bounds *rows = calloc((size_t)c->interface_count * 2, sizeof *rows);
    if (rows == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    struct bounds *row = rows, *deeper = rows + c->interface_count;
    uint64_t deepest = 0;
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < c->interface_count; i++)
        /* equivalent: the larger of two equal ones */
        if (c->interfaces[i].nesting > deepest) deepest = c->interfaces[i].nesting;
    for (uint64_t depth = 1; depth <= deepest && status == PRT_OK; depth++) {
        deepen_bounds(c, row, deeper);
        struct bounds *swap = row;
        row = deeper;
        deeper = swap;
        status = verify_depth(c, depth, row, error);
    }
    free(rows);
    return status;
}

enum prt_status prt_verify_launches(const struct prt_container *c, struct prt_error *error)
{
    enum prt_status status = verify_tables(c, error);
    if (status == PRT_OK) status = verify_interface_coverage(c, error);
    /* equivalent: without interfaces there is nothing to check; a single one is a child, without
     * bounds */
    if (status == PRT_OK && c->interface_count > 0) status = verify_bounds(c, error);
    return status;
}
