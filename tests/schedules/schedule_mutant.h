/* SPDX-License-Identifier: MIT */
/*
 * schedule_mutant: scheduler programs that differ a little from a real one: an operand, a label, an instruction more or less,
 * another order, a repeat around some.
 */
#ifndef TESTS_SCHEDULES_SCHEDULE_MUTANT_H
#define TESTS_SCHEDULES_SCHEDULE_MUTANT_H

#include "model/container_tables.h"

struct schedule_code {
    uint8_t *bytes; /* free() */
    uint32_t size;
};

/* One to three changes of the container's program, as `seed` has it. */
struct schedule_code schedule_mutate(const struct prt_container *c, uint64_t seed);

#endif
