/* SPDX-License-Identifier: MIT */
/*
 * verify_certificate: what shows that the exact rates of a container never stop for ever, checked
 * again; shares nothing with the compiler's analyses.
 *
 * The model.  A *channel* is one reader of a buffer, and who writes it: a node, or, where nobody
 * inside writes (an in-port) or nobody knows how much (a bounded rate), the outside, which brings
 * single packets, or one share to each buffer of a bundle.  A vertex is a node, or the outside of
 * one buffer or bundle.  A channel holds L packets, D at first.  A firing of its
 * reader needs `peek` of them and takes `pop`; a firing of its writer needs room for `push`, that
 * is L + push <= depth - reserve, and adds them.  Reserved are the history of a 2-D window (freed
 * so much later than taken), what a bounded writer may append beside the one packet, and what a
 * `finish` appends.
 *
 * What is claimed.  Each channel has two ends that wait: the reader for packets, the writer for
 * room.  Firing anybody never takes from another what he waits for: packets of a channel have one
 * taker, its reader, and room has one, its writer.  So an order of firings that is possible stays
 * possible whatever else happens first (marked graphs and computation graphs are determinate:
 * Karp & Miller, "Properties of a model for parallel computations", SIAM J. Appl. Math. 14(6),
 * 1966; Lee & Messerschmitt, IEEE Trans. Computers C-36(1), 1987).  If some order fires every
 * vertex without end, then whatever order was taken so far, its first firing that has not been
 * made yet is possible: all firings before it in that order have been made, by determinacy, and
 * nobody else has taken its packets or its room.  So no execution that fires whatever can fire
 * comes to a stop.
 *
 * Parts.  Who waits, waits for the other end of a channel; in a stop that goes round a circuit of
 * the undirected graph, within one of its biconnected blocks.  So each block is shown alone.
 *   - One channel, one phase at both ends: arithmetic decides (bufsize.c has the derivation; the
 *     formula is exact).  A loop from a vertex to itself needs peek packets, and room for one more
 *     write beside them.
 *   - Any other block has a part of the certificate, in one of two forms:
 *     schedule   a prologue and a period, replayed from the initial packets by summaries of loops
 *                (verify_schedule.c): every vertex fires in the period, and it leaves every channel
 *                and every phase as it found them, so it can be repeated for ever
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

/* What sums and products of packets may reach; no buffer is so deep (reader.h). */
#define PRT_PACKETS_MAX (INT64_C(1) << 62)

struct prt_channel {
    uint32_t from, to;         /* vertices */
    uint64_t push, pop, cycle; /* of a cycle of phases; `cycle`: what it needs at its beginning */
    uint64_t peek;             /* of a firing; several phases: the most */
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

/* Replays the schedule of a block; takes what it does from *work. */
enum prt_status prt_verify_schedule(const struct prt_channels *channels, uint32_t block,
                                    struct prt_vertices vertices, struct prt_part part,
                                    uint64_t *work, struct prt_error *error);

#define CHECK_WORD(condition, at, ...)                                                             \
    do {                                                                                           \
        if (!PRT_HOLDS(condition))                                                                 \
            return prt_verify_refuse(c, error, CONTAINER_CERTIFICATE, (at), __VA_ARGS__);          \
    } while (0)

#endif
