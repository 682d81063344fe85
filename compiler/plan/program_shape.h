/* SPDX-License-Identifier: MIT */
/*
 * program_shape: the static part of a scheduler program as looped schedules, read from its code, and its size.  So
 * `inspect` shows a source and a container in the same way.
 *
 * The static part lies between the bindings and the first `ends`.  Runs before its loop are the prologue.  Each sequence
 * of runs in the loop is a round of one level.  A routine has the levels of one round, from the last to the
 * first.
 *
 *   Requires  nothing: the code may be any bytes.
 *   Gives     false: it is no program for so many stages.  All in `arena`.
 *   Size      O(bytes of the code).
 */
#ifndef PIPEC_PROGRAM_SHAPE_H
#define PIPEC_PROGRAM_SHAPE_H

#include "compiler/plan/schedule.h"

struct program_round {
    const struct schedule_part *levels; /* without guards; from the first to the last */
    uint32_t level_count;
};

struct program_shape {
    struct schedule_part prologue; /* without guards; without ops: there is none */
    const struct program_round *rounds;
    uint32_t round_count;
    const bool *is_static; /* by stage: there is a run of it */
    uint32_t stage_count, static_count;
    uint32_t code_bytes, static_bytes;
};

bool program_shape_read(struct arena *arena, const uint8_t *code, size_t code_bytes,
                        uint32_t stage_count, struct program_shape *shape);

/* "static", "guarded", "mixed" */
const char *program_shape_kind(const struct program_shape *shape);
/* Of the code, rounded up. */
uint32_t program_shape_bytes_per_stage(const struct program_shape *shape);

/* "(4096 read)(4 (1024 low)(128 out))": in the usual notation.  names: by stage. */
void program_shape_print_part(FILE *to, const char *const *names, const struct schedule_part *part);
/* Lines of `pipec inspect`; reason: why not everything is static, or NULL.  Unless `whole`, equal runs
 * are folded and long parts are cut. */
void program_shape_print(FILE *to, const char *const *names, const struct program_shape *shape,
                         const char *reason, bool whole);

#endif
