/* SPDX-License-Identifier: MIT */
/*
 * verify_levels: the scheduler program executed on intervals.
 *
 * State.  Of each of these *quantities* the machine knows a least and a most:
 *   - the packets that each reader of a buffer has before it, counting what is in flight as done
 *     ("level"); of an out-port the packets that the host has not taken
 *   - the phase of a node whose rates have several
 *   - the firings that a `goes_on` has allowed a stage, and that have not been run
 *   - whether a stage is running, 1, or may have ended, 0
 *   - launches since the last guard
 * and of the flow: whether a stage is selected; whether `ends` has been executed, and which sets have
 * been asked in vain, since something may have changed; whether nothing is left to do.
 *
 * Effects.  A run of U firings takes and gives fixed numbers of packets.  Of a sequence of runs there
 * is a sum for each quantity: `net`, by how much it has grown; `need`, how much must be there before
 * it; `top`, how far it rises above what was there.  A loop of k times such a body needs (k - 1) x
 * -net more where net is below 0, and rises (k - 1) x net higher where it is above.  So loops are
 * never executed: work is linear in the text.  Routines are executed where they are called.
 * A level must be at least `need` and, with `top`, at most the depth: else the rules `underflow`,
 * `overflow`.
 *
 * Guards raise a least (`has_packets`, `goes_on`) or lower a most (`has_room`).  Such a fact stays
 * true until the one who takes the packets, or fills the room, is dispatched: each has one taker.
 * A selection makes what its set takes and gives unknown.  `ends` ends stages: which are running must
 * be asked again.  A stage that has not been asked is running if everybody who writes its inputs is,
 * no input is an in-port, and it has packets of an in-port, or a running reader: `ends` ends nobody
 * else, so the first of such stages to end could not be one.  (A reader says so only where stages that
 * no in-port feeds make no circle: a circle ends when nobody outside of it reads.)
 * In-ports only grow meanwhile and out-ports only shrink, by the host.
 *
 * Where paths meet, intervals are joined; what still grows when they meet again becomes unknown:
 * each quantity changes a few times at each label, and a fixed point is reached.
 *
 * Endless runs.  A program that runs launches for ever asks for packets of in-ports or for
 * allowance without end.  For follow who writes what is taken: an in-port, whose packets are known
 * of by guards alone; or a source, which needs an allowance; or one of a circle of stages that
 * nobody feeds, of which the stage with the lowest number needs one: every other takes, directly
 * or not, from it.
 *
 * The end.  `halt` is reached only from a `wait` that falls through when `ends` has been executed and
 * every stage asked for in vain since the last dispatch, guard or `wait`.
 */
#ifndef RUNTIME_VERIFY_VERIFY_LEVELS_H
#define RUNTIME_VERIFY_VERIFY_LEVELS_H

#include "runtime/verify/verify_certificate.h"
#include "runtime/verify/verify_program.h"

/* What sums of packets may reach: beyond, everything is refused. */
#define PRT_LEVEL_MAX (INT64_C(1) << 60)
#define PRT_NO_TOP INT64_MIN
/* Launches between two guards: so an interrupt is soon seen. */
#define PRT_LAUNCHES_MAX (INT64_C(1) << 20)

/* ---- verify_quantities.c: quantities, and what the container says of them ---- */

struct prt_quantities {
    const struct prt_container *container;
    uint32_t first_out, first_phase, first_allowance, first_running, launches; /* keys */
    uint32_t count;
    int64_t *most;       /* of each: what it can be */
    uint32_t *stage_of;  /* of each node */
    bool *fed, *allowed; /* of each stage: by an in-port; needs an allowance */
    bool *unfed;         /* of each stage: a source, or nobody feeds it */
    bool ordered;        /* what no in-port feeds gets its packets from stages with lower numbers */
};

enum prt_status prt_quantities_build(const struct prt_container *c, struct prt_quantities *q,
                                     struct prt_error *error);
void prt_quantities_free(struct prt_quantities *q);

enum prt_quantity_kind { PRT_LEVEL, PRT_PHASE, PRT_ALLOWANCE, PRT_RUNNING, PRT_LAUNCHES };
enum prt_quantity_kind prt_quantity_kind(const struct prt_quantities *q, uint32_t key);

/* The keys of a buffer's levels: of its readers, or of its out-port. */
struct prt_keys {
    uint32_t first, count;
};
struct prt_keys prt_quantities_levels(const struct prt_quantities *q, uint32_t buffer);
/* The buffer of a level. */
const struct container_buffer *prt_quantities_buffer(const struct prt_quantities *q, uint32_t key);

/* ---- verify_effects.c: what runs and loops do ---- */

struct prt_effect {
    int64_t net, need, top; /* of a phase: -, the first of the body, - */
};

/* `next` after what has been summed up; false beyond the arithmetic. */
bool prt_effect_append(struct prt_effect *sum, const struct prt_effect *next);
bool prt_effect_repeat(struct prt_effect *effect, uint64_t count);

/* A run of `firings` firings of a node from phase `phase` on, at one of its inputs or outputs; false
 * beyond the arithmetic. */
bool prt_effect_of_input(const struct prt_container *c, const struct container_node *node,
                         const struct container_input *input, uint64_t phase, uint64_t firings,
                         struct prt_effect *effect);
bool prt_effect_of_output(const struct prt_container *c, const struct container_node *node,
                          const struct container_output *output, uint64_t phase, uint64_t firings,
                          struct prt_effect *effect);

#endif
