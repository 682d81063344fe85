/* SPDX-License-Identifier: MIT */
#include "model/queue.h"

#include "model/tree_device.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- queues ---- */

_Static_assert(DEVDESC_EQUALLY == PRT_SCHEME_EQUALLY && DEVDESC_BY_COUNTS == PRT_SCHEME_BY_COUNTS &&
                   DEVDESC_BY_AFFINITY == PRT_SCHEME_BY_AFFINITY_DOMAIN,
               "schemes");
_Static_assert((int)DEVDESC_LEVELS == (int)PRT_LEVEL_COUNT, "levels");

enum prt_status prt_queue_tree_create(const struct devdesc *description,
                                      struct prt_device_tree **tree)
{
    struct prt_device_description root = {.cu_count = description->cu_count,
                                          .schemes = description->schemes,
                                          .subdevices_max = description->max_sub_devices};
    for (int level = 0; level < DEVDESC_LEVELS; level++)
        root.cus_per_domain[level] = description->cus_per_domain[level];
    struct prt_device_tree *made;
    enum prt_status status = prt_device_tree_create(&root, &made);
    if (status != PRT_OK) return status == PRT_E_OUT_OF_HOST_MEMORY ? PRT_E_NOMEM : status;
    status = prt_device_tree_describe(made, description);
    if (status == PRT_OK)
        *tree = made;
    else
        prt_device_tree_destroy(made);
    return status;
}

enum prt_status prt_queue_tree_take(struct prt_device_tree *given,
                                    const struct devdesc *description,
                                    struct prt_device_tree **tree)
{
    if (given == NULL) return prt_queue_tree_create(description, tree);
    *tree = prt_device_tree_share(given);
    return PRT_OK;
}

static enum prt_status table_grow(struct prt_queue_table *table)
{
    if (table->count < table->allocated) return PRT_OK;
    uint32_t wanted = table->allocated > 0 ? table->allocated * 2 : 8;
    if (wanted < table->allocated) return PRT_E_NOMEM;
    struct prt_queue *queues = realloc(table->queues, wanted * sizeof *queues);
    if (queues == NULL) return PRT_E_NOMEM;
    table->queues = queues;
    table->allocated = wanted;
    return PRT_OK;
}

static bool add_neighbour(struct prt_queue *queue, uint32_t neighbour)
{
    uint32_t *grown = realloc(queue->neighbours, (queue->neighbour_count + 1) * sizeof *grown);
    if (grown == NULL) return false;
    queue->neighbours = grown;
    grown[queue->neighbour_count++] = neighbour;
    return true;
}

/* Makes the new queue and every open one that shares a CU with it neighbours, both ways. */
static enum prt_status link_neighbours(struct prt_queue_table *table, uint32_t number)
{
    struct prt_queue *queue = &table->queues[number];
    for (uint32_t i = 0; i < table->count; i++) {
        struct prt_queue *other = &table->queues[i];
        if (i == number || !other->open) continue;
        bool overlap = prt_device_overlap(table->tree, queue->device, other->device);
        if (overlap || table->shares_bandwidth)
            table->ranked |= queue->importance != other->importance;
        if (overlap && (!add_neighbour(queue, i) || !add_neighbour(other, number)))
            return PRT_E_NOMEM;
    }
    return PRT_OK;
}

enum prt_status prt_queue_open(struct prt_queue_table *table, struct prt_device_handle on,
                               uint32_t importance, uint32_t capacity, uint32_t *queue)
{
    struct prt_device_information information;
    enum prt_status status = prt_device_query(table->tree, on, &information);
    if (status == PRT_OK) status = table_grow(table);
    if (status != PRT_OK) return status;
    status = prt_device_attach(table->tree, on);
    if (status != PRT_OK) return status;
    uint32_t number = table->count++;
    table->queues[number] = (struct prt_queue){.device = on,
                                               .importance = importance,
                                               .first_cu = information.first_cu,
                                               .cu_count = information.cu_count,
                                               .open = true,
                                               .capacity = capacity,
                                               .last_stage = UINT64_MAX};
    status = link_neighbours(table, number);
    if (status == PRT_OK)
        *queue = number;
    else
        (void)prt_queue_close(table, number);
    return status;
}

struct prt_queue *prt_queue_find(struct prt_queue_table *table, uint32_t queue)
{
    return queue < table->count && table->queues[queue].open ? &table->queues[queue] : NULL;
}

enum prt_status prt_queue_admit(struct prt_queue_table *table, uint32_t queue,
                                struct prt_packet_processor *processor,
                                const union dispatch_packet *packet, struct prt_queue **found,
                                struct prt_error *error)
{
    struct prt_queue *q = prt_queue_find(table, queue);
    if (q == NULL) return prt_error_set(error, PRT_E_INVALID_VALUE, "there is no such queue");
    enum prt_status status = prt_packet_decode(processor, packet, error);
    if (status != PRT_OK) return status;
    if (q->in_flight == q->capacity) return prt_error_set(error, PRT_E_BUSY, "the queue is full");
    prt_packet_accept(processor);
    q->in_flight++;
    *found = q;
    return PRT_OK;
}

/* The number is not used again: work that was executed on its compute units still counts for its
 * neighbours. */
enum prt_status prt_queue_close(struct prt_queue_table *table, uint32_t queue)
{
    struct prt_queue *q = prt_queue_find(table, queue);
    if (q == NULL) return PRT_E_INVALID_VALUE;
    if (q->in_flight > 0) return PRT_E_BUSY;
    q->open = false;
    return prt_device_detach(table->tree, q->device);
}

void prt_queue_table_free(struct prt_queue_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        table->queues[i].in_flight = 0;
        (void)prt_queue_close(table, i);
        free(table->queues[i].neighbours);
    }
    free(table->queues);
    prt_bandwidth_free(&table->bandwidth);
    *table = (struct prt_queue_table){0};
}

uint64_t prt_queue_free_at(const struct prt_queue_table *table, uint32_t queue, uint64_t stage,
                           bool *switches)
{
    const struct prt_queue *last = &table->queues[queue];
    for (uint32_t i = 0; i < table->queues[queue].neighbour_count; i++) {
        const struct prt_queue *other = &table->queues[table->queues[queue].neighbours[i]];
        if (other->free_cycles > last->free_cycles) last = other;
    }
    *switches = last->last_stage != UINT64_MAX && last->last_stage != stage;
    return last->free_cycles;
}

/* ---- launches in flight ---- */

static bool is_before(const struct prt_flight *a, const struct prt_flight *b)
{
    if (a->seen_cycles != b->seen_cycles) return a->seen_cycles < b->seen_cycles;
    return a->number < b->number;
}

enum prt_status prt_flights_reserve(struct prt_flights *flights, uint32_t capacity)
{
    if (capacity <= flights->capacity) return PRT_OK;
    struct prt_flight *items = realloc(flights->items, capacity * sizeof *items);
    if (items == NULL) return PRT_E_NOMEM;
    flights->items = items;
    flights->capacity = capacity;
    return PRT_OK;
}

/* The pushed flight has the highest number, so it precedes only those that are seen later. */
void prt_flights_push(struct prt_flights *flights, uint64_t seen_cycles, uint32_t slot,
                      uint32_t queue)
{
    assert(flights->count < flights->capacity);
    uint32_t at = flights->count++;
    while (at > 0 && seen_cycles < flights->items[(at - 1) / 2].seen_cycles) {
        flights->items[at] = flights->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    struct prt_flight *flight = &flights->items[at];
    flight->seen_cycles = seen_cycles;
    flight->number = flights->pushed++;
    flight->slot = slot;
    flight->queue = queue;
}

struct prt_flight prt_flights_pop(struct prt_flights *flights)
{
    assert(flights->count > 0);
    struct prt_flight first = flights->items[0];
    struct prt_flight last = flights->items[--flights->count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = at * 2 + 1;
        if (child >= flights->count) break;
        if (child + 1 < flights->count &&
            is_before(&flights->items[child + 1], &flights->items[child]))
            child++;
        if (!is_before(&flights->items[child], &last)) break;
        flights->items[at] = flights->items[child];
        at = child;
    }
    if (flights->count > 0) flights->items[at] = last;
    return first;
}
