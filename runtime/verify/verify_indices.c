/* SPDX-License-Identifier: MIT */
/* Checks the starting values of the index generator: generated code trusts its indices. */
#include "runtime/verify/verify_internal.h"

#include "lang/index_format.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* For all kernels together.  Hundreds of thousands of groups fit into it. */
#define REGISTERS_BYTES_MAX (UINT64_C(1) << 28)

/* x + y dx + z dx dy; the reader has bounded the product of the extents. */
static uint64_t index_number(const uint32_t extents[3], uint64_t x, uint64_t y, uint64_t z)
{
    return x + y * extents[0] + z * extents[0] * extents[1];
}

static uint32_t count_index_items(const struct container_index *x)
{
    return x->extents[0] * x->extents[1] * x->extents[2];
}

static uint64_t index_register_bytes(const struct container_index *x)
{
    return (uint64_t)count_index_items(x) * (x->register_bits / 8);
}

/* Checks the packed index of each item.  Its x, y and z are below their extents, and together give the item's number: only
 * one packed index has these properties. */
static enum prt_status verify_first_warp(const struct prt_container *c, uint32_t index,
                                         uint32_t lanes, struct prt_error *error)
{
    const struct container_index *x = &c->indices[index];
    const struct index_format format = index_format_of(x->extents);
    for (uint32_t n = 0; n < lanes; n++) {
        uint32_t packed = c->first_warps[x->first_warp + n], at[3];
        bool inside = packed >> format.total_bits == 0;
        for (int d = 0; d < 3; d++) {
            at[d] = index_unpack(&format, packed, d);
            inside = inside && at[d] < x->extents[d];
        }
        CHECK(inside && index_number(x->extents, at[0], at[1], at[2]) == n, FIRST_WARPS,
              x->first_warp + n, "is not the packed index of item %" PRIu32, n);
    }
    return PRT_OK;
}

static enum prt_status verify_index(const struct prt_container *c, uint32_t index,
                                    uint32_t *first_warp, struct prt_error *error)
{
    const struct container_index *x = &c->indices[index];
    uint32_t lanes = c->device->lanes, items = count_index_items(x);
    CHECK(x->register_bits == index_format_of(x->extents).register_bits, INDICES, index,
          "registers of %" PRIu32 " bits are not those of this group", x->register_bits);
    CHECK(x->step[0] < x->extents[0] && x->step[1] < x->extents[1] && x->step[2] <= lanes &&
              index_number(x->extents, x->step[0], x->step[1], x->step[2]) == lanes,
          INDICES, index, "its step is not of %" PRIu32 " lanes", lanes);
    CHECK(x->address_bytes % 4 == 0, INDICES, index, "its index memory is not aligned");
    CHECK(x->first_warp == *first_warp, INDICES, index,
          "its first warp does not follow that of the one before");
    uint32_t first = items < lanes ? items : lanes;
    *first_warp += first;
    return verify_first_warp(c, index, first, error);
}

/* ---- index memory ---- */

static int compare_addresses(const void *left, const void *right)
{
    const struct container_index *a = *(const struct container_index *const *)left;
    const struct container_index *b = *(const struct container_index *const *)right;
    /* equivalent: any positive result means the same to qsort */
    if (a->address_bytes != b->address_bytes) return a->address_bytes < b->address_bytes ? -1 : 1;
    /* uncovered: a qsort that merges always has the earlier record of the file as `left` */
    return a < b ? -1 : a > b;
}

static bool is_dedicated(const struct container_index *x)
{
    return (x->flags & CONTAINER_INDEX_DEDICATED) != 0;
}

/* May two kernels use one place?  Either it is dedicated to neither of them, or to both: then they have the same registers,
 * because they are one kernel of the source, compiled twice. */
static bool may_share(const struct container_index *a, const struct container_index *b)
{
    if (!is_dedicated(a) && !is_dedicated(b)) return true;
    return is_dedicated(a) && is_dedicated(b) &&
           memcmp(a->extents, b->extents, sizeof a->extents) == 0;
}

/* Two places are equal or do not overlap, and a dedicated place has one user.  So the generator may
 * reason about an address for all bytes of its place. */
static enum prt_status verify_index_places(const struct prt_container *c, struct prt_error *error)
{
    if (c->index_count == 0) return PRT_OK;
    const struct container_index **order = calloc(c->index_count, sizeof *order);
    if (order == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < c->index_count; i++)
        order[i] = &c->indices[i];
    qsort(order, c->index_count, sizeof *order, compare_addresses);
    uint64_t end = 0;
    const struct container_index *bad = NULL;
    for (uint32_t i = 0; i < c->index_count && bad == NULL; i++) {
        bool same = i > 0 && order[i]->address_bytes == order[i - 1]->address_bytes;
        if (same ? !may_share(order[i], order[i - 1]) : order[i]->address_bytes < end)
            bad = order[i];
        uint64_t own_end = order[i]->address_bytes + index_register_bytes(order[i]);
        if (own_end > end) end = own_end;
    }
    free(order);
    CHECK(bad == NULL, INDICES, (uint64_t)(bad - c->indices),
          "its index memory lies in that of another kernel");
    return PRT_OK;
}

/* ---- warps ---- */

/* Generated code reports the costs of that many warps, so there must be room for them. */
static enum prt_status verify_node_warps(const struct prt_container *c, uint32_t i,
                                         struct prt_error *error)
{
    const struct container_node *node = &c->nodes[i];
    const struct container_index *x = prt_container_index(c, node->kernel);
    uint32_t items = x != NULL ? count_index_items(x) : 1, lanes = c->device->lanes;
    assert(items > 0 && lanes > 0); /* the reader has seen to it */
    uint32_t firings = items < lanes ? lanes / items : 1;
    uint32_t warps = items / lanes + (items % lanes != 0);
    CHECK(node->warp_firings <= firings && node->firing_warps == warps, NODES, i,
          "'%s' has %" PRIu32 " firings in a warp and %" PRIu32 " warps in a firing, for %" PRIu32
          " work-items and %" PRIu32 " lanes",
          prt_verify_text(c, node->name), node->warp_firings, node->firing_warps, items, lanes);
    return PRT_OK;
}

enum prt_status prt_verify_indices(const struct prt_container *c, struct prt_error *error)
{
    uint32_t first_warp = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < c->index_count; i++) {
        enum prt_status status = verify_index(c, i, &first_warp, error);
        if (status != PRT_OK) return status;
        bytes += index_register_bytes(&c->indices[i]);
        CHECK(bytes <= REGISTERS_BYTES_MAX, INDICES, i,
              "more packed indices than %" PRIu64 " bytes", REGISTERS_BYTES_MAX);
    }
    CHECK(first_warp == c->first_warp_count, FIRST_WARPS, first_warp, "belongs to no kernel");
    enum prt_status status = verify_index_places(c, error);
    for (uint32_t i = 0; i < c->node_count && status == PRT_OK; i++)
        status = verify_node_warps(c, i, error);
    return status;
}
