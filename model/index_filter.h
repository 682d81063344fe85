/* SPDX-License-Identifier: MIT */
/*
 * index_filter: the configuration filter of an index generator and its history cache
 * (lang/index_generator.md, "Configuration filter").
 *
 * A *configuration* is a group's extents and the address in the index memory where its registers
 * are wanted.  The history remembers the last few; each is *resident* as long as its address still
 * holds its registers.  Writing an address ends the residence of every other configuration with it.
 * A new configuration replaces the one that was asked for longest ago.
 *
 * Requires: room for `capacity` entries, 1 or more; at first `count` is 0.
 * Ownership: `entries` is the caller's.  Thread-safety: the caller's.  Allocation, errors: none.
 */
#ifndef MODEL_INDEX_FILTER_H
#define MODEL_INDEX_FILTER_H

#include <stdbool.h>
#include <stdint.h>

enum prt_index_outcome {
    PRT_INDEX_RESIDENT, /* known, and its address still holds it: nothing is done */
    PRT_INDEX_HIT,      /* known: its indices are packed and stored again */
    PRT_INDEX_MISS      /* unknown: the iterator starts */
};

struct prt_index_key {
    uint32_t address_bytes;
    uint32_t extents[3];
};

struct prt_index_entry {
    struct prt_index_key key;
    bool resident;
};

struct prt_index_filter {
    struct prt_index_entry *entries; /* the one asked for last comes first */
    uint32_t count, capacity;
};

/* Looks the configuration up, remembers it, and makes it resident. */
enum prt_index_outcome prt_index_filter_ask(struct prt_index_filter *filter,
                                            const struct prt_index_key *key);

#endif
