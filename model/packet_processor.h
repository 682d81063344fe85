/* SPDX-License-Identifier: MIT */
/*
 * packet_processor: checks a dispatch packet as a device does, keeps the reference state table, and
 * returns the launches of the packet and their cost (lang/dispatch.md).
 *
 *     decode    the launches of a packet; nothing but the counters changes, so a packet that is
 *               refused, or for which there is no room, leaves no trace elsewhere
 *     accept    stores a reference, counts, and takes the launches' kernel objects
 *     ended     gives an object back
 *
 * A stage has a *kernarg block*: its arguments, tables and state, and a counter of launched firings.
 * A launch names its stage's block, so two launches of a stage are equal to the bit; the counter
 * holds the number of the first firing.
 *
 * Packets of all queues of a device are processed one by one, in order of enqueuing, so all see one
 * table.
 *
 * Cost: a full and a reference packet pay enqueuing, processing and clean-up.  A condensed packet
 * pays enqueuing and processing once, by its first launch; a launch with a completion signal or a
 * release scope pays a clean-up of its own, the last one always does, the others do not.
 *
 * Thread-safety: the scheduler thread only.  Allocation: set_objects only.
 * Errors: PRT_E_PACKET with the cause; PRT_E_NOMEM.
 */
#ifndef MODEL_PACKET_PROCESSOR_H
#define MODEL_PACKET_PROCESSOR_H

#include "lang/dispatch_codec.h"
#include "base/status.h"
#include "model/kernel_object.h"

/* One launch of a packet. */
struct prt_launch {
    uint32_t object;
    uint32_t firings;
    uint64_t first_firing;
    uint64_t signal; /* 0: none */
    enum prt_packet_kind packet;
    bool first_of_packet, last_of_packet;
    bool cleaned_up;
    /* The host sees its end: it has a signal, or is the last of its packet. */
    bool seen;
    bool barrier; /* its packet is processed when all launches before it in its queue have ended */
    uint32_t enqueue_cycles, process_cycles, cleanup_cycles; /* that it pays for */
};

/* Fills in the members of the record that are the same on every device: stage, packet and first firing. */
static inline void prt_launch_describe(const struct prt_launch *launch,
                                       const struct prt_kernel_object *object,
                                       struct prt_launch_record *record)
{
    record->stage = object->stage;
    record->finish = (object->flags & PRT_KERNEL_FINISH) != 0;
    record->packet = launch->packet;
    record->first_of_packet = launch->first_of_packet;
    record->cleaned_up = launch->cleaned_up;
    record->first_firing = launch->first_firing;
}

struct prt_packet_processor {
    struct dispatch_table table;
    uint32_t enqueue_cycles, process_cycles, cleanup_cycles;
    uint32_t object_count, stage_count;
    bool *taken; /* by object: in flight */
    /* By stage: the counter of its kernarg block; launches without packets count as well. */
    uint64_t *firings;
    struct prt_device_counters *counters;

    /* Of the packet decoded last. */
    struct dispatch_full launches[DISPATCH_UNITS];
    struct prt_launch decoded[DISPATCH_UNITS];
    uint32_t count;
    uint32_t entry; /* the table's entry that it stores; UINT32_MAX: none */
    enum prt_packet_kind kind;
};

/* An empty table.  `counters` outlives the processor. */
void prt_packet_processor_create(struct prt_packet_processor *processor,
                                 const struct devdesc *description,
                                 struct prt_device_counters *counters);
void prt_packet_processor_destroy(struct prt_packet_processor *processor);

/* Sets the objects that packets may name: one for each stage, then the `finish` objects of the stages
 * that have one, in the same order.  There are as many signals and kernarg blocks as stages.  Nothing
 * is in flight, nothing has been launched.  The table is empty again, because its entries named other
 * objects.  Requires: object_count <= 2 x stage_count. */
enum prt_status prt_packet_objects(struct prt_packet_processor *processor, uint32_t object_count,
                                   uint32_t stage_count);

/* Fills decoded[0..count).  A packet that is refused is counted. */
enum prt_status prt_packet_decode(struct prt_packet_processor *processor,
                                  const union dispatch_packet *packet, struct prt_error *error);

/* The launches decoded last will be executed. */
void prt_packet_accept(struct prt_packet_processor *processor);

/* The launch has ended: its object may be named again.  `firings` of it count: fewer than launched
 * where a source has stopped, none where the launch was skipped. */
void prt_packet_ended(struct prt_packet_processor *processor, const struct prt_launch *launch,
                      uint64_t firings);

#endif
