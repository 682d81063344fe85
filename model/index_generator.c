/* SPDX-License-Identifier: MIT */
#include "model/index_generator.h"

#include "base/arithmetic.h"
#include "model/index_iterator.h"
#include "model/index_packer.h"

#include <assert.h>

size_t prt_index_bytes(const struct prt_index_configuration *configuration)
{
    struct index_format format = index_format_of(configuration->key.extents);
    return (size_t)configuration->items * (format.register_bits / 8);
}

static void iterator_start(const struct prt_index_configuration *configuration,
                           const struct index_format *format, struct prt_index_iterator *iterator)
{
    uint32_t lanes = min32(configuration->lanes, configuration->items);
    assert(lanes <= PRT_INDEX_LANES_MAX);
    iterator->lanes = lanes;
    for (int d = 0; d < 2; d++)
        iterator->extents[d] = configuration->key.extents[d];
    for (int d = 0; d < 3; d++)
        iterator->step[d] = configuration->step[d];
    for (uint32_t lane = 0; lane % PRT_INDEX_BLOCK != 0 || lane < lanes; lane++) {
        uint32_t packed = lane < lanes ? configuration->first_warp[lane] : 0;
        iterator->x[lane] = index_unpack(format, packed, 0);
        iterator->y[lane] = index_unpack(format, packed, 1);
        iterator->z[lane] = index_unpack(format, packed, 2);
    }
}

void prt_index_generate(const struct prt_index_configuration *configuration, void *registers)
{
    const struct index_format format = index_format_of(configuration->key.extents);
    struct prt_index_iterator iterator;
    iterator_start(configuration, &format, &iterator);
    for (uint32_t done = 0; done < configuration->items; done += iterator.lanes) {
        uint32_t count = min32(iterator.lanes, configuration->items - done);
        prt_index_pack(&format, iterator.x, iterator.y, iterator.z, count, registers, done);
        prt_index_iterate(&iterator);
    }
}

struct prt_index_issue prt_index_issue(uint64_t warp, uint64_t instruction, uint32_t cores)
{
    return (struct prt_index_issue){.core = (uint32_t)(instruction % cores),
                                    .cycle = warp + instruction + 1};
}

struct prt_index_cost prt_index_cycles(enum prt_index_outcome outcome, uint64_t warps)
{
    if (outcome == PRT_INDEX_RESIDENT) return (struct prt_index_cost){.cycles = 0};
    if (outcome == PRT_INDEX_HIT) return (struct prt_index_cost){.warps_packed = warps};
    return (struct prt_index_cost){
        .warps_iterated = warps, .warps_packed = warps, .cycles = prt_index_issue(0, 0, 1).cycle};
}

struct prt_index_operations prt_index_operations(const uint32_t extents[3])
{
    uint32_t dimensions = 0;
    for (int d = 0; d < 3; d++)
        dimensions += extents[d] > 1;
    /* Of one dimension the number is the index; each further one takes a division and a remainder,
     * or a shift and a mask. */
    uint32_t further = dimensions > 1 ? dimensions - 1 : 0;
    return (struct prt_index_operations){.divisions = 2 * further, .logic = 2 * further};
}
