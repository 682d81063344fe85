/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cuda/cuda_trees.h"

#include "base/arithmetic.h"
#include "runtime/device/child_interfaces.h"

#include <stdlib.h>

enum { WORKSPACE_ALIGNMENT = 256, ASIDE_ALIGNMENT = 64 };

/* Adds rows to a workspace; false: too many bytes. */
static bool add_tree_rows(uint64_t *at, uint64_t *end, uint64_t count, uint64_t size)
{
    uint64_t bytes;
    *at = *end;
    return !__builtin_mul_overflow(count, size, &bytes) && bytes <= SIZE_MAX / 4 &&
           !__builtin_add_overflow(*end, align_up(bytes, WORKSPACE_ALIGNMENT), end);
}

/* Fills the stage's outputs in.  *bytes: of a level's packets that are kept aside. */
static bool fill_tree_outputs(const struct prt_container *c, const struct container_interface *root,
                              struct core_tree_output *outputs, uint64_t *bytes)
{
    const struct container_node *node = &c->nodes[root->node];
    *bytes = 0;
    for (uint32_t o = 0; o < root->out_count; o++) {
        uint64_t width = c->interface_ports[root->first_port + root->in_count + o].width_bytes;
        uint64_t room;
        outputs[o] =
            (struct core_tree_output){.width_bytes = width,
                                      .least = c->outputs[node->first_output + o].push_least,
                                      .most = c->outputs[node->first_output + o].push,
                                      .aside_bytes = *bytes};
        if (__builtin_mul_overflow(prt_child_packets_most(c, o), width, &room) ||
            room > SIZE_MAX / 4 ||
            __builtin_add_overflow(*bytes, align_up(room, ASIDE_ALIGNMENT), bytes))
            return false;
    }
    return true;
}

/* Lays out the workspace of a stage whose kernel has that interface. */
static bool fill_tree_root(const struct prt_container *c, uint32_t interface,
                           struct core_tree_output *outputs, struct core_tree_root *root,
                           uint64_t *bytes)
{
    const struct container_interface *f = &c->interfaces[interface];
    uint64_t levels = f->nesting + 1, outs = f->out_count, aside, end = 0, header;
    if (!fill_tree_outputs(c, f, outputs, &aside)) return false;
    bool waits = prt_child_waits(c);
    root->interface = interface;
    root->stride_bytes = prt_child_entry_bytes(c);
    root->level_bytes = waits ? aside : 0;
    *bytes = 0;
    bool fits = add_tree_rows(&header, &end, 1, sizeof(struct core_tree)) &&
                add_tree_rows(&root->frames_at, &end, levels, sizeof(struct core_tree_frame)) &&
                add_tree_rows(&root->in_at, &end, f->in_count, sizeof(void *)) &&
                add_tree_rows(&root->base_at, &end, outs, sizeof(void *)) &&
                add_tree_rows(&root->appended_at, &end, outs, sizeof(uint64_t)) &&
                add_tree_rows(&root->out_at, &end, levels * outs, sizeof(void *)) &&
                add_tree_rows(&root->produced_at, &end, levels * outs, sizeof(uint64_t)) &&
                add_tree_rows(&root->begin_at, &end, levels * outs, sizeof(uint64_t)) &&
                add_tree_rows(&root->heard_at, &end, f->queue_entries, sizeof(uint8_t)) &&
                add_tree_rows(&root->issued_at, &end, f->queue_entries, sizeof(uint64_t)) &&
                add_tree_rows(&root->cache_at, &end, f->queue_entries, root->stride_bytes) &&
                add_tree_rows(&root->aside_at, &end, waits ? levels : 1, aside);
    *bytes = end;
    return fits;
}

static uint32_t find_interface_stage(const struct core *core, uint32_t node)
{
    uint32_t stage = 0;
    while (core_stage(core, stage)->node != node)
        stage++;
    return stage;
}

static bool fill_trees(const struct prt_container *c, const struct core *core, bool emulated,
                       struct prt_cuda_trees *trees)
{
    bool waits = prt_child_waits(c);
    for (uint32_t i = 0; i < c->interface_count; i++) {
        const struct container_interface *f = &c->interfaces[i];
        uint32_t number = emulated ? core->stage_count + i : f->kernel;
        uint64_t bytes;
        trees->entries[i] = GPU_ENTRY(number, GPU_ENTRY_RUN);
        if (f->node == CONTAINER_NONE) continue;
        uint32_t stage = find_interface_stage(core, f->node);
        if (!fill_tree_root(c, i, &trees->outputs[core_stage(core, stage)->first_output],
                            &trees->roots[stage], &bytes))
            return false;
        if (bytes > trees->workspace_bytes) trees->workspace_bytes = bytes;
        if (waits && f->nesting + 1 > trees->levels) trees->levels = f->nesting + 1;
    }
    return true;
}

/* Their code is a number for pipe_call. */
static bool fill_children(const struct prt_container *c, struct prt_cuda_trees *trees)
{
    const uint8_t **defaults = prt_child_defaults(c);
    trees->child_bytes = prt_child_entry_bytes(c);
    trees->children = calloc((size_t)c->launch_count + 1, (size_t)trees->child_bytes);
    bool made = defaults != NULL && trees->children != NULL;
    for (uint32_t i = 0; made && i < c->launch_count; i++) {
        uint32_t child = c->launches[i].child;
        prt_child_interface_write(c, i, defaults[child], trees->entries[child], trees->child_bytes,
                                  trees->children + i * trees->child_bytes);
    }
    free(defaults);
    return made;
}

enum prt_status prt_cuda_trees_create(const struct prt_container *c, const struct core *core,
                                      bool emulated, struct prt_cuda_trees *trees)
{
    *trees = (struct prt_cuda_trees){.workspace_bytes = 0};
    if (c->interface_count == 0) return PRT_OK;
    trees->roots = calloc((size_t)core->stage_count + 1, sizeof *trees->roots);
    trees->outputs = calloc((size_t)core->output_count + 1, sizeof *trees->outputs);
    trees->entries = calloc((size_t)c->interface_count, sizeof *trees->entries);
    bool made = trees->roots != NULL && trees->outputs != NULL && trees->entries != NULL;
    made = made && fill_trees(c, core, emulated, trees) && fill_children(c, trees);
    return made ? PRT_OK : PRT_E_NOMEM;
}

void prt_cuda_trees_free(struct prt_cuda_trees *trees)
{
    free(trees->roots);
    free(trees->outputs);
    free(trees->entries);
    free(trees->children);
    *trees = (struct prt_cuda_trees){.workspace_bytes = 0};
}
