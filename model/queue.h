/* SPDX-License-Identifier: MIT */
/*
 * queue: the state of queues on sub-devices, and the launches in flight in the order in which their ends are seen.
 * All backends have them.
 *
 * Time: a *timeline* per queue holds when its compute units are free.  Queues whose sub-devices
 * share a CU share their time: a dispatch begins when all of them are free.
 *
 * Thread-safety: the scheduler's thread only, as for everything of a device.
 * Allocation: only in the calls that return PRT_E_NOMEM.
 */
#ifndef MODEL_QUEUE_H
#define MODEL_QUEUE_H

#include "model/bandwidth.h"
#include "model/packet_processor.h"
#include "model/subdevice.h"

/* ---- queues ---- */

/* Makes the tree of a device.  PRT_E_INVALID_VALUE: as prt_device_tree_create; PRT_E_NOMEM. */
enum prt_status prt_queue_tree_create(const struct devdesc *description,
                                      struct prt_device_tree **tree);

/* The tree that is given, with another user; NULL: a new one. */
enum prt_status prt_queue_tree_take(struct prt_device_tree *given,
                                    const struct devdesc *description,
                                    struct prt_device_tree **tree);

struct prt_queue {
    struct prt_device_handle device;
    uint32_t importance;
    uint32_t first_cu, cu_count; /* of the root */
    bool open;
    uint32_t in_flight, capacity; /* packets */
    uint64_t free_cycles;         /* when its last dispatch ends */
    uint64_t last_stage;          /* of that dispatch; UINT64_MAX: none yet */
    /* The time at which its packet processor handed its last launch to the compute units, and so became free; the end of
     * that launch. */
    uint64_t handed_cycles, ended_cycles;
    /* When its compute units have issued the instructions of its launches, and the bytes of these have come, where
     * its sub-device has a share of the bandwidth. */
    uint64_t issued_cycles, flowed_cycles;
    uint32_t *neighbours; /* queues whose sub-devices share CUs with this one's */
    uint32_t neighbour_count;
};

struct prt_queue_table {
    struct prt_device_tree *tree;
    struct prt_queue *queues;
    uint32_t count, allocated;
    bool
        ranked; /* some neighbours differ in importance; where they share bandwidth, any two queues */
    bool shares_bandwidth; /* launches of different queues do; set before the first queue */
    struct prt_bandwidth bandwidth;
};

enum prt_status prt_queue_open(struct prt_queue_table *table, struct prt_device_handle on,
                               uint32_t importance, uint32_t capacity, uint32_t *queue);
enum prt_status prt_queue_close(struct prt_queue_table *table, uint32_t queue);
/* Closes all and frees the table's memory. */
void prt_queue_table_free(struct prt_queue_table *table);

/* The open queue of that number, or NULL. */
struct prt_queue *prt_queue_find(struct prt_queue_table *table, uint32_t queue);

/* PRT_OK: the packet is valid and accepted, the queue has taken it, `*found` is the queue;
 * the processor has its launches.  PRT_E_PACKET, PRT_E_BUSY, PRT_E_INVALID_VALUE as in device.h's
 * enqueue: nothing has changed. */
enum prt_status prt_queue_admit(struct prt_queue_table *table, uint32_t queue,
                                struct prt_packet_processor *processor,
                                const union dispatch_packet *packet, struct prt_queue **found,
                                struct prt_error *error);

/* The moment from which the queue's compute units are free, and whether their last stage was another
 * than `stage`. */
uint64_t prt_queue_free_at(const struct prt_queue_table *table, uint32_t queue, uint64_t stage,
                           bool *switches);

/* ---- launches in flight ---- */

struct prt_flight {
    uint64_t seen_cycles; /* when its end is seen */
    uint64_t number;      /* in order of enqueuing */
    uint32_t slot;        /* the backend's own number */
    uint32_t queue;
};

/* A heap, the earliest (seen, number) first. */
struct prt_flights {
    struct prt_flight *items;
    uint32_t count, capacity;
    uint64_t pushed;
};

enum prt_status prt_flights_reserve(struct prt_flights *flights, uint32_t capacity);
/* The fields of a struct prt_flight.  Requires: count < capacity. */
void prt_flights_push(struct prt_flights *flights, uint64_t seen_cycles, uint32_t slot,
                      uint32_t queue);
/* Requires: count > 0. */
struct prt_flight prt_flights_pop(struct prt_flights *flights);

#endif
