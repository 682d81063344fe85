/* SPDX-License-Identifier: MIT */
/*
 * schedule_machine: one scheduler machine, as lang/scheduler.md defines it, over a world (schedule_world.h).
 *
 * A machine has its program and place in it, selection, turns, loops and waived thresholds.  The world has all that machines
 * share.  A world can be given several machines, each with a program for its stages: the caller steps them, one instruction at
 * a time, in any order.  Today a container has one program (`schedule_run`).
 */
#ifndef TESTS_SCHEDULES_SCHEDULE_MACHINE_H
#define TESTS_SCHEDULES_SCHEDULE_MACHINE_H

#include "lang/sched_code.h"
#include "tests/schedules/schedule_world.h"

struct schedule_machine {
    struct schedule_world *world;
    const uint8_t *code;
    uint32_t code_bytes;
    uint32_t next;     /* offset */
    uint32_t selected; /* stage, or NONE */
    uint64_t selected_firings;
    uint32_t turn[SCHEDULE_SETS_MAX]; /* of each set: its last place */
    struct {
        uint32_t first;
        uint64_t left;
    } loops[2 * SCHED_REPEAT_DEPTH];
    uint32_t loop_count;
    uint32_t link; /* offset, or NONE */
    bool found_none, waived, halted;
    uint64_t endings_seen;      /* of the world, at the last wait */
    uint64_t events_seen, idle; /* instructions since something has happened */
    uint64_t launches;          /* since the last guard */
    uint64_t instructions;
};

void schedule_machine_begin(struct schedule_machine *m, struct schedule_world *world,
                            const uint8_t *code, uint32_t code_bytes);
/* Executes one instruction.  After `halt` or a fault of the world it must not be called again. */
void schedule_machine_step(struct schedule_machine *m);

/* Where a run ended: the offset after the last instruction, and the stage that was at fault, or NONE. */
struct schedule_place {
    uint32_t offset, stage;
    uint64_t instructions; /* that were executed */
};

/* Executes one program to its end; `expected`: packets of each out-port, or NULL (schedule_expect). */
enum schedule_fault schedule_run(const struct prt_container *c, const uint8_t *code,
                                 uint32_t code_bytes, const struct schedule_scenario *scenario,
                                 const uint64_t *expected, struct schedule_place *where);

#endif
