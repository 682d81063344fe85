/* SPDX-License-Identifier: MIT */
/*
 * index_generator: item.x, y, z of work-items without a division (lang/index_generator.md).
 *
 * Three units: the configuration filter (index_filter.h) finds out whether the registers of a group
 * are in the index memory already; if they are not, the iterator (index_iterator.h) makes the
 * indices of one warp a clock, and the format packer (index_packer.h) packs and stores them.
 *
 * Every CU has a generator and an index memory of its own; index_units.h says which launches find
 * their indices there.  The registers themselves are made once for each kernel, before anything is
 * launched, and only read from then on: a host thread may still execute a launch whose place in a
 * shared index memory the next one has taken.
 *
 * Ownership: plain data; a configuration's first warp and registers are its owner's.
 * Thread-safe: no state; registers are read by all.
 * Allocation, errors: none.
 */
#ifndef MODEL_INDEX_GENERATOR_H
#define MODEL_INDEX_GENERATOR_H

#include "lang/devdesc.h"
#include "model/index_filter.h"

#include <stddef.h>
#include <stdint.h>

/* Of a stage whose kernel has work-items: what the compiler has worked out. */
struct prt_index_configuration {
    struct prt_index_key key;
    uint32_t items;             /* of a group: the product of the extents */
    uint32_t lanes;             /* of a warp */
    uint32_t step[3];           /* the lanes as xc + yc dx + zc dx dy */
    const uint32_t *first_warp; /* packed; min(lanes, items) of them */
    const void *registers;      /* of all items, packed: prt_index_generate */
};

/* Bytes of the registers of a group: as many in memory as in the device's index memory. */
size_t prt_index_bytes(const struct prt_index_configuration *configuration);

/* Iterates and packs: writes the registers of all items, from the first warp and the step. */
void prt_index_generate(const struct prt_index_configuration *configuration, void *registers);

/* The cost of requesting the indices of a launch. */
struct prt_index_cost {
    uint64_t warps_iterated; /* clocks of the iterator */
    uint64_t warps_packed;   /* warps that the packer has stored */
    uint64_t cycles;         /* until the launch's first warp can start: only this one waits */
};

/* Of a launch of groups that take `warps` warps each, 1 or more.  The iterator makes warp w in clock w,
 * and its first instruction can be issued in the next one (prt_index_issue).  Indices that the history knows can be
 * used at once. */
struct prt_index_cost prt_index_cycles(enum prt_index_outcome outcome, uint64_t warps);

/* Operations with which an item finds x, y, z: dividing its number, or unpacking its register. */
struct prt_index_operations {
    uint32_t divisions; /* and remainders */
    uint32_t logic;     /* shifts and masks */
};
struct prt_index_operations prt_index_operations(const uint32_t extents[3]);

/* Incremental mode: the core to which instruction `instruction` of warp `warp` is issued, and in
 * which cycle after the request. */
struct prt_index_issue {
    uint32_t core;
    uint64_t cycle;
};
struct prt_index_issue prt_index_issue(uint64_t warp, uint64_t instruction, uint32_t cores);

#endif
