/* SPDX-License-Identifier: MIT */
/*
 * verify_certificate: checks the proof that the exact rates of a container never deadlock.  Shares no
 * code with the compiler's analyses.
 *
 * The model.  A *channel* is one reader of a buffer together with its writer.  The writer is a node, or
 * the outside.  The outside writes an in-port, or a buffer with a bounded rate, whose packets cannot be
 * predicted.  It writes single packets, or one share to each buffer of a bundle.  A vertex is a node, or
 * the outside of one buffer or bundle.  A channel holds L packets, D at first.  A firing of its reader
 * needs `peek` of them and consumes `pop`.  A firing of its writer needs room for `push`, that is
 * L + push <= depth - reserve, and adds them.  The reserve is the history of a 2-D window (freed that
 * much later than consumed), the packets that a bounded writer may append beside the one packet, and
 * the packets that a `finish` appends.
 *
 * The claim.  Each channel has two ends that wait: the reader for packets, the writer for room.  No
 * firing takes packets or room that another vertex waits for: only the reader consumes the packets of a
 * channel, and only the writer uses its room.  So an order of firings that is possible stays possible
 * whatever fires first (marked graphs and computation graphs are determinate: Karp & Miller,
 * "Properties of a model for parallel computations", SIAM J. Appl. Math. 14(6), 1966; Lee &
 * Messerschmitt, IEEE Trans. Computers C-36(1), 1987).  Suppose that some order fires every vertex
 * without end, and consider any sequence of firings so far.  The first firing of that order that has not
 * happened yet is possible.  All firings before it in the order have happened, by determinacy, and no
 * other vertex has taken its packets or its room.  So an execution that fires any vertex that can fire
 * never stops.
 *
 * Parts.  A waiting vertex waits for the other end of a channel.  In a deadlock these waits form a cycle
 * of the undirected graph, within one of its biconnected blocks.  So each block is checked by itself.
 *   - One channel, one phase at both ends: arithmetic decides (depth_of_pair; the formula is exact).
 *     A loop from a vertex to itself needs peek packets, and room for one more write beside them.
 *   - Any other block has a part of the certificate, in one of two forms:
 *     schedule   a prologue and a period, replayed from the initial packets by summaries of loops
 *                (verify_schedule.c).  Every vertex fires in the period, and the period leaves every
 *                channel and every phase as it found them.  So it can be repeated forever.
 *     starts     starting times s of a periodic schedule: cycle k of vertex n, of all its phases at
 *                once, starts at s[n] + k T / q[n].  An arc a -> b (adds u, takes v, M tokens
 *                beyond those that must stay, g = gcd(u, v)) is respected by all firings if and
 *                only if s[b] - s[a] > T / (q[a] u) x (v - g - floor(M / g) g).  Firings in order
 *                of time never wait (Benazouz, Marchetti, Munier-Kordon & Urard, AICCSA 2010).
 * Bounded rates: verify_bounded.c.
 *
 * Work: linear in the file (CONTAINER_CERTIFICATE_WORK), whatever the counts are.
 */
#ifndef RUNTIME_VERIFY_VERIFY_CERTIFICATE_H
#define RUNTIME_VERIFY_VERIFY_CERTIFICATE_H

#include "runtime/verify/verify_internal.h"

__extension__ typedef __int128 prt_int128;

/* Maximum of sums and products of packets; no buffer is so deep (reader.h). */
#define PRT_PACKETS_MAX (INT64_C(1) << 62)

struct prt_channel {
    uint32_t from, to; /* vertices */
    uint64_t push, pop,
        cycle;     /* of a cycle of phases; `cycle`: packets that the reader needs as it begins */
    uint64_t peek; /* of a firing; with several phases, the maximum */
    /* By phase; NULL: one phase. */
    const uint64_t *pushes, *pops, *peeks;
    uint64_t reserve, room; /* room: depth - reserve; PRT_PACKETS_MAX at most */
    int64_t initial;        /* 0.. */
    uint32_t block;
    bool present;
};

struct prt_block {
    const uint32_t *channels; /* ascending */
    uint32_t count;
};

struct prt_channels {
    const struct prt_container *container;
    struct prt_channel *items; /* by reader */
    uint32_t vertex_count;     /* nodes, then the outside of each buffer */
    struct prt_block *blocks;  /* in the order of their lowest channels */
    uint32_t block_count;
    uint32_t *numbers; /* owned: the rest of the memory */
    uint32_t *bundles; /* by place of a bundle among the outputs: its lowest buffer */
    uint32_t *local;   /* scratch by vertex: its place in a block */
};

/* ---- verify_channels.c ---- */

/* Derives channels and blocks from the records; prt_channels_free.  Requires: all of the graph that
 * verify.c checks. */
enum prt_status prt_channels_build(const struct prt_container *c, struct prt_channels *channels,
                                   struct prt_error *error);
void prt_channels_free(struct prt_channels *channels);
uint32_t prt_vertex_phases(const struct prt_channels *channels, uint32_t vertex);
const char *prt_vertex_name(const struct prt_channels *channels, uint32_t vertex);

/* ---- verify_schedule.c ---- */

/* A part's words, and where they begin in the section. */
struct prt_part {
    const uint64_t *words;
    uint64_t count, at;
};

/* The vertices of a block, ascending. */
struct prt_vertices {
    const uint32_t *items;
    uint32_t count;
};

/* Replays the schedule of a block; subtracts its steps from *work. */
enum prt_status prt_verify_schedule(const struct prt_channels *channels, uint32_t block,
                                    struct prt_vertices vertices, struct prt_part part,
                                    uint64_t *work, struct prt_error *error);

#define CHECK_WORD(condition, at, ...)                                                             \
    do {                                                                                           \
        if (!PRT_HOLDS(condition))                                                                 \
            return prt_verify_refuse(c, error, CONTAINER_CERTIFICATE, (at), __VA_ARGS__);          \
    } while (0)

#endif
