/* SPDX-License-Identifier: MIT */
/*
 * trial_internal: a run that is played, as the files of the trial see it.
 *
 * trial.c has the devices, the buffers and the guarded loop.  trial_static.c has the static part of a program, which
 * dispatches and waits through these functions of trial.c.
 */
#ifndef PIPEC_TRIAL_INTERNAL_H
#define PIPEC_TRIAL_INTERNAL_H

#include "compiler/ir/ratio.h"
#include "compiler/plan/schedule.h"
#include "compiler/plan/trial.h"
#include "core/time/timing.h"
#include "lang/dispatch.h"

struct trial_end { /* of a buffer, at a stage */
    uint32_t buffer, reader;
    uint64_t rate, most; /* packets of a cycle of phases; that a firing needs */
    uint64_t group;      /* a window with border wrap: packets of a frame, or of a row; else 1 */
    bool in_order;       /* changes hands at dispatch */
};

struct trial_buffer {
    uint64_t depth;
    uint64_t committed, claimed; /* packets since the begin */
    uint32_t first_reader, reader_count;
    uint32_t writer; /* stage; GRAPH_NONE: an in-port */
    bool is_in_port, is_out_port;
};

struct trial_stage {
    uint32_t first_in, in_count, first_out, out_count; /* into ends */
    uint32_t phases, queue, threshold, units;
    bool serial, in_flight;
    uint64_t batch_max, limit, fired, batch;
    uint64_t warp_cycles;
    struct core_warp_shape warp;
    uint64_t tree_cycles;              /* of what a firing launches, over the compute units */
    uint64_t bytes;                    /* of a cycle of phases, read and written */
    uint64_t most_bytes, cached_bytes; /* the same at most, and of that what caches serve */
    uint64_t weight;                   /* of a firing, in the progress */
    uint64_t end;                      /* of its packet */
    /* A packet is known by the stage of its first launch. */
    uint32_t next_launch, next_packet;
    uint64_t left; /* cycles of a packet that was interrupted; 0: it was not */
};

struct trial_queue { /* of a sub-device, for one importance */
    uint32_t unit, importance, next_lower;
    uint32_t in_flight, open_count, units;
    uint32_t first_packet, last_packet;
    uint32_t open[DISPATCH_UNITS];
};

struct trial_unit { /* a sub-device */
    uint32_t cus, first_queue;
    uint32_t running; /* queue; GRAPH_NONE */
    uint32_t last;    /* stage of the last launch; GRAPH_NONE */
    uint64_t begin, end;
};

struct mark {
    uint128 progress;
    uint64_t clock;
    bool passed;
};

/* One struct because a trial is one state of a device: each step reads and writes most of it. */
struct playing {
    const struct graph *graph;
    const struct plan *plan;
    const struct devdesc *device;
    struct arena *arena;
    struct trial_stage *stages;
    struct trial_end *ends;
    struct trial_buffer *buffers;
    uint64_t *read,
        *freed; /* by reader: packets since the beginning; a window with border wrap frees whole groups */
    struct trial_queue *queues;
    struct trial_unit *units;
    uint32_t stage_count, queue_count, unit_count, open_queues;
    uint32_t
        holds[DISPATCH_ENTRIES_MAX]; /* by reference entry: 1 + the stage whose launch it holds */

    enum graph_policy selection;
    uint32_t *order;    /* stages as selections look at them: set after set */
    uint32_t *position; /* in there, by stage */
    uint64_t *maybe;    /* bits, by position: worth a look */
    uint32_t *sets;     /* first position of each, and the end of the last */
    uint32_t *cursors, *fullest;
    uint32_t set_count;

    uint32_t *heap; /* stages whose packet has ended and has not been seen to, by end */
    uint32_t heap_count, in_flight;
    uint64_t clock, looks;
    uint64_t cached_largest; /* size up to which buffers stay in the caches */
    const bool *is_static;   /* by stage: a selection passes it over; NULL: none */
    bool waiver;
    uint128 progress, goal;
    struct trial_size size;
    struct mark first, last; /* of the steady part */
    struct trial result;
};

/* Is more than that to be played? */
static inline bool trial_goes_on(const struct playing *p)
{
    return p->looks < p->size.looks;
}

/* Packets before the input, without those that firings in flight consume; room after the output. */
uint64_t trial_held(struct playing *p, const struct trial_stage *stage,
                    const struct trial_end *end);
uint64_t trial_room(struct playing *p, const struct trial_end *end);
void trial_dispatch(struct playing *p, uint32_t index, uint64_t firings);
/* The instruction: true, the program goes on at its label. */
bool trial_wait(struct playing *p);
/* All stages are worth a look. */
void trial_look_everywhere(struct playing *p);
/* Requires something in flight: the clock goes to what ends next. */
void trial_await(struct playing *p);
/* The first ready stage of the set by the selection; GRAPH_NONE: none. */
uint32_t trial_select(struct playing *p, uint32_t set, uint64_t *firings);

/* Plays the static part of the program until it is left. */
void trial_play_static(struct playing *p, const struct schedule *schedule);

#endif
