/* SPDX-License-Identifier: MIT */
/*
 * schedule_world: the device and the host around scheduler programs, for tests: buffers whose packets are numbered, queues of
 * launches, ports.  It trusts every program, and finds each fault by what it does to the packets.
 *
 * A program claims, frees and commits by *counts*, as lang/scheduler.md says.  The packets themselves lie in rings of slots.  A
 * launch reads and writes its slots when it is executed: when it begins, and again when it ends.  So an order that the counts
 * do not exclude, and that loses, doubles or overwrites a packet, leaves a wrong number in a slot.
 *
 * One world serves any number of machines (schedule_machine.h): it knows nothing of programs.
 *
 * Shares no code with core/, the loader's proof or the compiler; only the tables of the container.
 */
#ifndef TESTS_SCHEDULES_SCHEDULE_WORLD_H
#define TESTS_SCHEDULES_SCHEDULE_WORLD_H

#include "model/container_tables.h"

#include <stdbool.h>
#include <stdint.h>

enum schedule_fault {
    SCHEDULE_FINE,
    SCHEDULE_UNDERFLOW,  /* a firing reads a packet that is not there: not yet, or no more */
    SCHEDULE_OVERFLOW,   /* a firing overwrites a packet that a reader or the host still needs */
    SCHEDULE_DISTURBED,  /* packets of a launch change while it is executed */
    SCHEDULE_ORDER,      /* a firing is executed twice, or before an earlier one */
    SCHEDULE_ENDED,      /* a stage fires that has ended, stopped, or reached its limit */
    SCHEDULE_UNSELECTED, /* a dispatch without a selection */
    SCHEDULE_LOST,       /* control leaves the code, a routine or a repeat */
    SCHEDULE_WORK_LEFT,  /* the end, while a stage can fire or has to end */
    SCHEDULE_STALL,      /* the end, while stages wait for each other */
    SCHEDULE_LIVELOCK,   /* instructions without end, and nothing happens */
    SCHEDULE_UNSEEN,     /* launches without end, and no guard that sees an interrupt */
    SCHEDULE_OUTPUT,     /* other packets at an out-port than any order of firings gives */
    SCHEDULE_FAULTS
};
extern const char *const schedule_fault_names[SCHEDULE_FAULTS];

enum { SCHEDULE_SETS_MAX = 64 }; /* of a container that a world can hold */

/* How launches complete. */
enum schedule_pace { SCHEDULE_AT_ONCE, SCHEDULE_LAST_MOMENT, SCHEDULE_ANY_TIME };

struct schedule_scenario {
    uint64_t seed;
    enum schedule_pace pace;
    bool live;             /* in-ports are eager, sinks take packets when they like */
    uint64_t packets_in;   /* at each in-port */
    uint64_t firings;      /* of a source at most */
    uint64_t stop_after;   /* firings of a source that may stop */
    uint64_t interrupt_at; /* instructions; UINT64_MAX: never */
};

enum schedule_life { SCHEDULE_RUNS, SCHEDULE_WAITS_TO_FINISH, SCHEDULE_FINISHES, SCHEDULE_OVER };

struct schedule_stage {
    const struct container_node *node;
    uint32_t number, node_number;
    uint64_t threshold, batch_max;
    uint64_t fired;    /* firings that are dispatched */
    uint64_t executed; /* firings that are executed */
    enum schedule_life life;
    bool stopped, in_flight;
    bool fed, driven;   /* by an in-port; by an in-port or a source, directly or not */
    uint32_t component; /* of stages that are not fed: they feed each other */
    uint32_t queue;     /* CONTAINER_NONE: not bound */
};

struct schedule_buffer {
    const struct container_buffer *record;
    int64_t *slots; /* numbers of packets; -1: nothing, -2: of a launch that is being executed */
    uint64_t committed; /* packets that readers may have */
    uint64_t claimed;   /* room that launches in flight may fill */
    uint64_t written;   /* packets that are in slots or were */
    uint64_t taken;     /* out-port: by the host */
    uint64_t left;      /* in-port: packets of the host that have not come */
    bool closed;
};

struct schedule_reader {
    uint64_t freed; /* packets whose room is given back */
    uint64_t eaten; /* packets that executed firings have consumed */
    bool attached;
};

struct schedule_launch {
    uint32_t stage;
    uint64_t first, count;
    bool finish, begun;
};

/* Of the stages that are bound to one place with one importance. */
struct schedule_queue {
    uint64_t place;
    struct schedule_launch *launches; /* in order; a stage has one at most */
    uint32_t count;
};

struct schedule_world {
    const struct prt_container *container;
    const struct schedule_scenario *scenario;
    struct schedule_stage *stages;
    struct schedule_buffer *buffers;
    struct schedule_reader *readers;
    uint32_t *stage_of; /* of each node */
    struct schedule_queue *queues;
    uint32_t queue_count, in_flight;
    uint64_t random;
    uint64_t events;  /* launches, completions, packets of the host: something has happened */
    uint64_t endings; /* streams and stages that have ended */
    bool interrupted;
    enum schedule_fault fault; /* the first one */
    uint32_t fault_stage;
};

/* Whether a world can hold it: rates are those of exact or bounded streams, without 2-D windows, and no stall is accepted. */
bool schedule_world_fits(const struct prt_container *c);
struct schedule_world *schedule_world_create(const struct prt_container *c,
                                             const struct schedule_scenario *scenario);
void schedule_world_free(struct schedule_world *w);
/* Notes the fault, if it is the first one. */
void schedule_world_fail(struct schedule_world *w, enum schedule_fault fault, uint32_t stage);
uint64_t schedule_world_draw(struct schedule_world *w, uint64_t below);

/* ---- rates (schedule_rates.c): of the firings first .. first + count - 1 ---- */

uint64_t schedule_pops(const struct prt_container *c, const struct container_input *input,
                       uint64_t first, uint64_t count);
/* Packets that an input must hold. */
uint64_t schedule_sees(const struct prt_container *c, const struct container_input *input,
                       uint64_t first, uint64_t count);
uint64_t schedule_most(const struct prt_container *c, const struct container_output *output,
                       uint64_t first, uint64_t count);
/* Packets that they do append: drawn from the number of the firing where the rate is bounded. */
uint64_t schedule_appends(const struct prt_container *c, uint32_t output, uint64_t first,
                          uint64_t count);
/* Packets that `finish` appends. */
uint64_t schedule_finish_appends(const struct container_output *output, uint32_t number);

/* ---- ends of stages ---- */

uint64_t schedule_held(const struct schedule_world *w, const struct container_input *input);
uint64_t schedule_room(const struct schedule_world *w, uint32_t buffer);
/* Is it a buffer inside that only stages of one queue write and read?  Its counts move at the dispatch. */
bool schedule_in_order(const struct schedule_world *w, uint32_t buffer);
/* Firings that a source may still execute; UINT64_MAX of other stages. */
uint64_t schedule_source_left(const struct schedule_world *w, const struct schedule_stage *stage);
/* Firings that are ready, whatever the threshold, if open in-ports were full. */
uint64_t schedule_ready(const struct schedule_world *w, const struct schedule_stage *stage);
bool schedule_unwanted(const struct schedule_world *w, const struct schedule_stage *stage);
bool schedule_never_fires(const struct schedule_world *w, const struct schedule_stage *stage);
/* `ends`. */
void schedule_end_stages(struct schedule_world *w);

/* ---- the host and the device ---- */

/* From now on, launches of the stage go to that place: 0 the device, else a sub-device. */
void schedule_bind(struct schedule_world *w, uint32_t stage, uint64_t place);

/* Fills the in-port, or finds its end. */
void schedule_fill(struct schedule_world *w, uint32_t buffer);
/* Sources stop, and the streams of in-ports end. */
void schedule_interrupt(struct schedule_world *w);
/* In a live run: some packets come, others are taken.  True: any.  The machine asks for it where it takes what has arrived:
 * between these moments nothing at the ports changes. */
bool schedule_host_acts(struct schedule_world *w);
void schedule_launch(struct schedule_world *w, uint32_t stage, uint64_t count);
/* One launch that may complete completes; there is one. */
void schedule_complete_one(struct schedule_world *w);
/* As the pace has it. */
void schedule_time_passes(struct schedule_world *w);

/* ---- what has to come out (schedule_kahn.c) ---- */

/* Packets of each out-port, by buffer, however stages are ordered.  False: the pipeline never ends by itself. */
bool schedule_expect(const struct prt_container *c, const struct schedule_scenario *scenario,
                     uint64_t *packets);

#endif
