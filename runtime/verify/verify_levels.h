/* SPDX-License-Identifier: MIT */
/*
 * verify_levels: executes the scheduler program on intervals.
 *
 * State.  For each of these *quantities* the machine knows a minimum and a maximum:
 *   - the packets before each reader of a buffer, counting launches in flight as done ("level"); for an
 *     out-port, the packets that the host has not read
 *   - the phase of a node whose rates have several
 *   - the firings that a `goes_on` has allowed a stage, and that have not been run
 *   - whether a stage is running, 1, or may have ended, 0
 *   - launches since the last guard
 * For the control flow it knows whether a stage is selected, whether `ends` has been executed, and
 * whether nothing is left to do.  It also knows which sets have been asked in vain since the last event
 * that may have changed their state.
 *
 * Effects.  A run of U firings consumes and appends fixed numbers of packets.  A sequence of runs has a
 * sum for each quantity: `net`, its growth; `need`, its required value before the sequence; `top`, its
 * maximum rise above that value.  A loop of k such bodies needs (k - 1) x -net more if net is below 0,
 * and rises (k - 1) x net higher if net is above 0.  So loops are never executed: work is linear in the
 * text.  Routines are executed where they are called.  A level must be at least `need`, and the level
 * plus `top` at most the depth; else the rules `underflow`, `overflow` refuse the program.
 *
 * Guards raise a minimum (`has_packets`, `goes_on`) or lower a maximum (`has_room`).  Such a fact stays
 * true until the only consumer of the packets, or the only writer that fills the room, is dispatched.  A
 * selection makes the packets and the room of its set unknown.  `ends` ends stages: the program must
 * then ask again which ones are running.  A stage that has not been asked is running under three
 * conditions: all writers of its inputs are running; no input is an in-port; and it has packets of an
 * in-port, or a running reader.  `ends` ends no other stages, so the first of such stages to end could
 * not be one.  (A reader counts only if stages that no in-port feeds form no cycle: a cycle ends when
 * no stage outside of it reads.)  In the meantime only the host changes ports: in-ports only grow, and
 * out-ports only shrink.
 *
 * Where paths meet, intervals are joined.  A bound that still grows when they meet again becomes
 * unknown.  So each quantity changes a few times at each label, and a fixed point is reached.
 *
 * Endless runs.  A program that runs launches forever asks for packets of in-ports, or for allowance,
 * without end.  To see this, follow the writers of the consumed packets.  They lead to an in-port, whose
 * packets only guards make known; or to a source, which needs an allowance; or to a cycle of stages that
 * no in-port feeds.  In such a cycle the stage with the lowest number needs an allowance, and all others
 * consume its packets, directly or not.
 *
 * The end.  `halt` is reached only from a `wait` that falls through.  Before it, `ends` must have been
 * executed, and every stage asked in vain since the last dispatch, guard or `wait`.
 */
#ifndef RUNTIME_VERIFY_VERIFY_LEVELS_H
#define RUNTIME_VERIFY_VERIFY_LEVELS_H

#include "runtime/verify/verify_certificate.h"
#include "runtime/verify/verify_program.h"

/* Maximum of sums of packets: larger sums are refused. */
#define PRT_LEVEL_MAX (INT64_C(1) << 60)
#define PRT_NO_TOP INT64_MIN
/* Launches between two guards: so an interrupt is soon seen. */
#define PRT_LAUNCHES_MAX (INT64_C(1) << 20)

/* ---- verify_quantities.c: quantities, and their bounds in the container ---- */

struct prt_quantities {
    const struct prt_container *container;
    uint32_t first_out, first_phase, first_allowance, first_running, launches; /* keys */
    uint32_t count;
    int64_t *most;       /* of each: its maximum */
    uint32_t *stage_of;  /* of each node */
    bool *fed, *allowed; /* of each stage: by an in-port; needs an allowance */
    bool *unfed;         /* of each stage: it is a source, or no in-port feeds it */
    bool ordered;        /* stages that no in-port feeds read from stages with lower numbers */
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

/* ---- verify_effects.c: the effects of runs and loops ---- */

struct prt_effect {
    int64_t net, need, top; /* of a phase: -, the first of the body, - */
};

/* Adds `next` after the effects in `sum`; false beyond the arithmetic. */
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
