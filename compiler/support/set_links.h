/* SPDX-License-Identifier: MIT */
/*
 * set_links: disjoint sets of numbers, as links.
 *
 * links[i] is another member of i's set, or i: then i is the root, which stands for the set.  Two sets become one when
 * the root of one gets a link to the root of the other.
 */
#ifndef PIPEC_SET_LINKS_H
#define PIPEC_SET_LINKS_H

#include <stdint.h>

/* The root of the set of `at`.  Shortens the way to it. */
static inline uint32_t set_root(uint32_t *links, uint32_t at)
{
    while (links[at] != at)
        at = links[at] = links[links[at]];
    return at;
}

#endif
