/* SPDX-License-Identifier: MIT */
/*
 * Does a merge stop a part from filling lanes of vectors (fuse_internal.h)?
 *
 * On the host's cores the firings of a kernel fill the lanes of vectors, side by side.  This works as long as the packets
 * of a firing are few enough for a transposition in registers (codegen/common/kernel_phases.c).  Inside a longer
 * iteration these firings are a loop around the loops of the kernel.  Their packets lie apart in an array, so the code
 * stays scalar, or loads and stores each lane separately.  Straight-line code fills lanes either way, and a kernel with
 * more packets has loops that fill lanes.
 */
#include "compiler/optimize/fuse/fuse_internal.h"

#include "compiler/ir/ratio.h"
#include "compiler/target/target.h"

/* Scalars at most so far apart are cheap to load and store in a loop, too. */
enum { NEAR_SCALARS = 2 };

struct
    block { /* the packets of one end of a part in an iteration of the part: the maximum over its ends */
    uint64_t scalars; /* or words of scalars; UINT64_MAX: the part does not fill lanes */
    bool many;        /* some end has more than one packet */
};

static bool is_in_part(const bool *part, const struct fuse_group *group, uint32_t node)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (group->nodes[i] == node) return part[i];
    return false;
}

/* Narrow integers that fill whole words of 32 bits are transposed as words. */
static uint64_t in_words(const struct type *base, uint64_t scalars)
{
    enum { WORD_BYTES = 4 };
    if (!type_is_integer(base) || base->width_bytes >= WORD_BYTES) return scalars;
    uint64_t many = WORD_BYTES / base->width_bytes;
    return scalars % many == 0 ? scalars / many : scalars;
}

static void add_block_end(struct block *block, const struct graph_buffer *buffer, uint64_t packets)
{
    const struct type *base = type_base(buffer->type);
    uint64_t scalars = in_words(base, mul_clamped(type_scalar_count(buffer->type), packets));
    block->many |= packets > 1;
    block->scalars = max64(block->scalars, base->kind == TYPE_STRUCT ? UINT64_MAX : scalars);
}

static bool is_read_outside(const bool *part, const struct fuse_group *group,
                            const struct graph_buffer *buffer)
{
    for (size_t r = 0; r < buffer->readers.count; r++)
        if (!is_in_part(part, group, buffer->readers.items[r].node)) return true;
    return buffer->outer == GRAPH_OUTER_OUT;
}

static bool part_loops(const struct graph *graph, const struct fuse_group *group, const bool *part)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (part[i] && compose_loops(graph->nodes.items[group->nodes[i]].kernel)) return true;
    return false;
}

static struct block fused_block(const struct fuse_scratch *scratch, const struct graph *graph,
                                const struct fuse_group *group, const bool *part)
{
    struct block block = {0};
    uint64_t iterations = 0; /* of the part in an iteration of the group */
    for (uint32_t i = 0; i < group->count; i++)
        if (part[i]) iterations = gcd64(iterations, group->firings[i]);
    if (iterations == 0) return block;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct graph_node *node = &graph->nodes.items[group->nodes[i]];
        if (!part[i]) continue;
        uint64_t firings = group->firings[i] / iterations;
        for (size_t k = 0; k < node->inputs.count; k++) {
            const struct graph_buffer *buffer = &graph->buffers.items[node->inputs.items[k].buffer];
            if (!is_in_part(part, group, buffer->writer_node))
                add_block_end(&block, buffer, mul_clamped(firings, node->inputs.items[k].pop));
        }
        for (size_t k = 0; k < node->outputs.count; k++) {
            const struct graph_buffer *buffer =
                &graph->buffers.items[node->outputs.items[k].buffer];
            if (is_read_outside(part, group, buffer))
                add_block_end(&block, buffer, mul_clamped(firings, node->outputs.items[k].push));
        }
        if (scratch->serial[group->nodes[i]]) block.scalars = UINT64_MAX;
    }
    return block;
}

bool fuse_loses_lanes(const struct fuse_scratch *scratch, const struct graph *graph,
                      const struct devdesc *device, const struct fuse_group *group,
                      const bool *part)
{
    bool *whole = ARENA_ARRAY(scratch->arena, bool, group->count);
    uint32_t registers = target_of(device)->registers_a_lane;
    uint64_t most = mul_clamped(registers, device->lanes);
    if (registers == 0 || !part_loops(graph, group, part)) return false;
    for (uint32_t i = 0; i < group->count; i++)
        whole[i] = true;
    struct block of_part = fused_block(scratch, graph, group, part);
    if (!of_part.many || of_part.scalars <= NEAR_SCALARS || of_part.scalars > most) return false;
    return fused_block(scratch, graph, group, whole).scalars > most;
}
