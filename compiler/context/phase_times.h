/* SPDX-License-Identifier: MIT */
/*
 * phase_times: the time of one compilation, by phase.
 *
 * At each moment one phase is *current*. Its time does not include the phases that it begins. Measured
 * are wall time, and processor time of this process and of the children that it has waited for (the
 * linker).
 *
 *     enum compile_phase before = phase_begin(cx, PHASE_LINK);
 *     ...
 *     phase_resume(cx, before);
 *
 * The module also counts work. A compilation whose `times` are NULL measures nothing.
 *
 * Thread-safety: one compilation is one thread.
 */
#ifndef PIPEC_PHASE_TIMES_H
#define PIPEC_PHASE_TIMES_H

#include <stdint.h>
#include <stdio.h>

#include "compiler/context/context.h"
#include "compiler/support/child_message.h"
#include "compiler/context/pass_list.h"

enum compile_phase {
#define X(name, text) PHASE_##name,
    COMPILE_PHASES(X)
#undef X
        PHASE_COUNT
};

/* Counts of work: the same for the same source, on any machine. */
#define COMPILE_COUNTS(X)                                                                          \
    X(EVALUATED, "expressions evaluated")                                                          \
    X(BUILT, "LLVM instructions built")                                                            \
    X(WRITTEN_OUT, "after loops are written out")                                                  \
    X(OPTIMISED, "after optimising")

enum compile_count {
#define X(name, text) COUNT_##name,
    COMPILE_COUNTS(X)
#undef X
        COUNT_COUNT
};

/* Makes PHASE_START current. The times live in the compilation's arena. */
void phase_times_begin(struct compile *cx);

/* Makes `phase` current and returns the phase before. */
enum compile_phase phase_begin(const struct compile *cx, enum compile_phase phase);
static inline void phase_resume(const struct compile *cx, enum compile_phase before)
{
    (void)phase_begin(cx, before);
}

/* Does nothing if times are not measured. */
void phase_count(const struct compile *cx, enum compile_count count, uint64_t more);

/* The times and counts of a child process.  The child restarts them when it begins and packs them when it ends.  The
 * parent replaces the time that it measured for the child by the phases that the child packed. */
void phase_times_restart(const struct compile *cx);
void phase_times_pack(struct parcel *parcel, const struct compile *cx);
void phase_times_unpack(const struct compile *cx, struct parcel_reader *reader);

/* Prints a table of the measured times: a line for each phase with a time, and the sum.  The counts
 * that are not 0 follow. */
void phase_times_print(FILE *to, const struct compile *cx);

#endif
