/* SPDX-License-Identifier: MIT */
/* Declarations that the files of the verifier share: see verify.h. */
#ifndef RUNTIME_VERIFY_VERIFY_INTERNAL_H
#define RUNTIME_VERIFY_VERIFY_INTERNAL_H

#include "runtime/verify/verify.h"
#include "runtime/load/verify_rule.h"

#include <stdbool.h>

/* "container: section 'nodes', record 3: ..." */
enum prt_status prt_verify_refuse(const struct prt_container *c, struct prt_error *error,
                                  enum container_section_kind kind, uint64_t index,
                                  const char *format, ...) PRT_PRINTF(5, 6);

#define CHECK(condition, kind, index, ...)                                                         \
    do {                                                                                           \
        if (!PRT_HOLDS(condition))                                                                 \
            return prt_verify_refuse(c, error, CONTAINER_##kind, (index), __VA_ARGS__);            \
    } while (0)

static inline const char *prt_verify_text(const struct prt_container *c, container_string string)
{
    return prt_container_text(c, string);
}

/* ---- verify_debug.c ---- */

/* Types have the widths that their parts make, at most so deep; kernels are in order; variables lie
 * in the blocks of all nodes whose kernel theirs is. */
enum prt_status prt_verify_debug(const struct prt_container *c, struct prt_error *error);

/* ---- verify_fields.c ---- */

/* Fields lie in their packets, in order, and have the shapes they say. */
enum prt_status prt_verify_fields(const struct prt_container *c, struct prt_error *error);

/* Whether it is a list of lengths with that product, the last one the lanes (1: there are none). */
bool prt_verify_shape(const char *shape, uint64_t count, uint32_t lanes);

/* ---- verify_fused.c ---- */

/* Fused nodes are parts of nodes that say so, read in a firing of these what is read and written, and the reports of
 * their finishes fit 63 bits.  Requires: ends and readers that agree. */
enum prt_status prt_verify_fused(const struct prt_container *c, struct prt_error *error);

/* ---- verify_indices.c ---- */

/* Verifies the indices of kernels with work-items: formats, steps, first warps, and places in the index
 * memory; and how the work-items of each node fill warps. */
enum prt_status prt_verify_indices(const struct prt_container *c, struct prt_error *error);

/* ---- verify_launches.c ---- */

/* The interface table: its kernels, ports and launches fit each other and the nodes, and a firing's
 * bounds of launches and entries in the device queue are what they are said to be. */
enum prt_status prt_verify_launches(const struct prt_container *c, struct prt_error *error);

/* ---- verify_packs.c ---- */

/* Packs and their places have no gaps, and each entry of the reference table one owner. */
enum prt_status prt_verify_packs(const struct prt_container *c, struct prt_error *error);

/* ---- verify_rates.c ---- */

/* The greatest common divisor; of 0 and b: b. */
uint64_t prt_verify_divisor(uint64_t a, uint64_t b);

/* Verifies for each node the lists of phases, their sums, the bounds of rates, 2-D windows, and the depths
 * that one firing needs. */
enum prt_status prt_verify_rates(const struct prt_container *c, struct prt_error *error);

/* With exact rates, an iteration consumes as many packets as it writes.  Requires:
 * prt_verify_rates, and ends that agree. */
enum prt_status prt_verify_balance(const struct prt_container *c, uint32_t index,
                                   uint32_t reader_index, struct prt_error *error);

/* The depths admit so many firings of a stage at once. */
enum prt_status prt_verify_batch(const struct prt_container *c, uint32_t stage, uint64_t firings,
                                 struct prt_error *error);

/* Does each firing, of each phase, append as many packets as the other ones of that phase, and
 * anything at all? */
bool prt_verify_is_exact(const struct prt_container *c, const struct container_output *output);

/* The maximum number of packets that the input may have to hold before a firing.  Requires: a
 * verified shape. */
uint64_t prt_verify_needs(const struct prt_container *c, const struct container_input *input);

/* The maximum number of packets that one firing appends. */
uint64_t prt_verify_most(const struct prt_container *c, const struct container_node *node,
                         const struct container_output *output);

/* ---- verify_bounded.c ---- */

/* Every buffer whose writer has a bounded rate, or the bundle that it is in, lies on no cycle of the
 * undirected graph, and has room for a firing while its reader still waits for more; unless the
 * author accepts a stall. */
enum prt_status prt_verify_bounded(const struct prt_container *c, struct prt_error *error);

/* ---- verify_certificate.c ---- */

/* Exact rates cannot stop for ever with these depths and initial packets: verify_certificate.h. */
enum prt_status prt_verify_certificate(const struct prt_container *c, struct prt_error *error);

/* ---- verify_stall.c ---- */

/* The sequence of a counterexample can be read, and has an end. */
enum prt_status prt_verify_stall(const struct prt_container *c, struct prt_error *error);

#endif
