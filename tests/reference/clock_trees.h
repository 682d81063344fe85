/* SPDX-License-Identifier: MIT */
/*
 * clock_trees: an oracle of the time of launch trees, written from lang/device_queue.md, "Time": one
 * cycle passes at a time, and each rule is asked of all firings.  Nothing is computed in advance.
 *
 * A firing is recorded as it is to be executed: open it, then its launches, waits and questions in
 * order, then close it.  Shares no code with runtime/device/launch_schedule.c.
 */
#ifndef TESTS_REFERENCE_CLOCK_TREES_H
#define TESTS_REFERENCE_CLOCK_TREES_H

#include <stdbool.h>
#include <stdint.h>

enum { CLOCK_FIRINGS = 2048, CLOCK_WAITS = 2, CLOCK_NO_FIRING = -1 };

enum clock_order { CLOCK_WITH_PARENT, CLOCK_AFTER_GROUP, CLOCK_AFTER_PARENT };
enum clock_state {
    CLOCK_UNISSUED,
    CLOCK_WAITING,
    CLOCK_RUNNING,
    CLOCK_STANDING,
    CLOCK_RESUMING,
    CLOCK_ENDED
};

struct clock_firing {
    int parent, level, launches, most, waits[CLOCK_WAITS], wait_count;
    enum clock_order order;
    uint64_t cost, before; /* before: of the parent's cost, in front of its launch */
    int first;             /* the first work-group of its launch; itself */
    bool has_mates;
    int asked_after; /* launches of the parent; -1: its end is never asked for */
    uint64_t asked_before;
    /* while it is played */
    enum clock_state state;
    bool begun, admitted, answered;
    bool called; /* of a first work-group: its start has passed, and the others may begin */
    int issued;
    uint64_t starting, issuing, work; /* cycles of the start and the launch left; cost executed */
};

struct clock_trees {
    struct clock_firing firings[CLOCK_FIRINGS];
    int count;
    /* of the device */
    int cus;
    uint64_t issue, start, entries, below_root;
    /* result */
    uint64_t end, roots_alone, entries_most, waited;
};

int clock_tree_open(struct clock_trees *t, int parent, enum clock_order order, int most,
                    uint64_t before);
/* A further work-group of the launch whose first one is `first`. */
int clock_tree_join(struct clock_trees *t, int first, int most);
void clock_tree_wait(struct clock_trees *t, int firing, int sibling);
void clock_tree_ask(struct clock_trees *t, int firing, int issued, uint64_t before);
void clock_tree_close(struct clock_trees *t, int firing, uint64_t cost);
void clock_trees_play(struct clock_trees *t);

#endif
