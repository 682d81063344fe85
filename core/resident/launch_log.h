/* SPDX-License-Identifier: MIT */
/*
 * launch_log: a list of all launches, from a resident scheduler to the host, in a run that is measured.
 *
 * The log is a ring of entries in memory of the host.  The scheduler writes an entry when it has found a launch completed,
 * and `written` after it; the host takes entries and says how many in `taken`.  If the ring is full, the scheduler waits.
 *
 * Times are nanoseconds of the device's clock.  The two clocks are compared before the first launch:
 *
 *     host                                         scheduler
 *                                          <────── waits = 1
 *     notes its time; moment = 1           ──────>
 *                                          <────── clock = its time
 *
 * The noted time is a little earlier than `clock`: so no time seems to be later than the moment at which the host sees it.
 *
 * Thread-safety: one writer, one reader.  Allocation: none.  Errors: entries are lost if the host ends the run.
 */
#ifndef CORE_RESIDENT_LAUNCH_LOG_H
#define CORE_RESIDENT_LAUNCH_LOG_H

#include "core/resident/resident.h"

struct core_log_entry {
    uint32_t stage;
    uint32_t finish;                 /* 1: its finish */
    uint64_t first_firing, firings;  /* that count; of a finish 1 */
    uint64_t dispatched, begin, end; /* nanoseconds */
};

struct core_log {
    uint64_t waits, clock; /* by the device */
    uint64_t moment;       /* by the host */
    uint64_t written;      /* by the device: entries since the beginning */
    uint64_t taken;        /* by the host */
    uint32_t rows;         /* entries that there is room for: entry n in row n mod rows */
    uint32_t outputs;      /* maximum of a stage */
    /* entries, then numbers of packets that the launch has appended, a row of `outputs` for each entry */
};

/* Bytes of a log; the product fits. */
static inline uint64_t core_log_bytes(uint32_t rows, uint32_t outputs)
{
    return sizeof(struct core_log) +
           (uint64_t)rows * (sizeof(struct core_log_entry) + outputs * sizeof(uint64_t));
}

static inline struct core_log_entry *core_log_row(const struct core_log *log, uint64_t number)
{
    return (struct core_log_entry *)((uintptr_t)log + sizeof *log) + number % log->rows;
}

/* By output of the stage. */
static inline uint64_t *core_log_appended(const struct core_log *log, uint64_t number)
{
    return (uint64_t *)((uintptr_t)log + sizeof *log + log->rows * sizeof(struct core_log_entry)) +
           number % log->rows * log->outputs;
}

/* Without a log these do nothing. */
void core_log_begin(struct core_resident *resident);
/* The numbers of packets are those that the block has of the stage. */
void core_log_launch(struct core_resident *resident, const struct core_log_entry *entry);

#endif
