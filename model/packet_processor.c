/* SPDX-License-Identifier: MIT */
#include "model/packet_processor.h"

#include "base/array_allocate.h"
#include "core/time/timing.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

void prt_packet_processor_create(struct prt_packet_processor *p, const struct devdesc *description,
                                 struct prt_device_counters *counters)
{
    uint32_t entries = description->reference_entries;
    *p = (struct prt_packet_processor){
        .table.count = entries < DISPATCH_ENTRIES_MAX ? entries : DISPATCH_ENTRIES_MAX,
        .enqueue_cycles = description->launch_enqueue_cycles,
        .process_cycles = description->launch_process_cycles,
        .cleanup_cycles = description->launch_cleanup_cycles,
        .counters = counters};
}

void prt_packet_processor_destroy(struct prt_packet_processor *p)
{
    free(p->taken);
    free(p->firings);
    p->taken = NULL;
    p->firings = NULL;
}

enum prt_status prt_packet_objects(struct prt_packet_processor *p, uint32_t object_count,
                                   uint32_t stage_count)
{
    assert((uint64_t)object_count <= (uint64_t)stage_count * 2);
    bool *taken = array_allocate(object_count, sizeof *taken);
    uint64_t *firings = array_allocate(stage_count, sizeof *firings);
    if (taken == NULL || firings == NULL) {
        free(taken);
        free(firings);
        return PRT_E_NOMEM;
    }
    prt_packet_processor_destroy(p);
    p->taken = taken;
    p->firings = firings;
    p->object_count = object_count;
    p->stage_count = stage_count;
    p->table.stored = 0;
    return PRT_OK;
}

/* The kernarg block of an object; `finish` objects, which follow the stages, use that of their stage. */
static uint64_t block_of(const struct prt_packet_processor *p, uint64_t object)
{
    return object < p->stage_count ? object : object - p->stage_count;
}

/* ---- decoding ---- */

/* The launches as full packets. */
static bool expand_packet(struct prt_packet_processor *p, const union dispatch_packet *packet,
                          struct dispatch_finding *finding)
{
    p->entry = UINT32_MAX;
    p->count = 1;
    switch (packet->header) {
    case DISPATCH_FULL:
        p->kind = PRT_PACKET_FULL;
        p->launches[0] = packet->full;
        finding->kernel = 0;
        finding->value = 0;
        finding->defect = dispatch_check(&packet->full, &finding->value);
        return finding->defect == DISPATCH_GOOD;
    case DISPATCH_REFERENCE:
        p->kind = PRT_PACKET_REFERENCE;
        p->entry = packet->reference.ref_num;
        return dispatch_resolve(&p->table, &packet->reference, &p->launches[0], finding);
    case DISPATCH_CONDENSED:
        p->kind = PRT_PACKET_CONDENSED;
        return dispatch_expand(&p->table, &packet->condensed, p->launches, &p->count, finding);
    default:
        *finding = (struct dispatch_finding){DISPATCH_BAD_TYPE, 0, packet->header};
        return false;
    }
}

/* Checks of a launch that need the device's state. */
static enum prt_status check_launch(const struct prt_packet_processor *p,
                                    const struct dispatch_full *launch, struct prt_error *error)
{
    if (launch->kernel_object >= p->object_count)
        return prt_error_set(error, PRT_E_PACKET,
                             "dispatch packet: kernel object %" PRIu64 " of %" PRIu32,
                             launch->kernel_object, p->object_count);
    if (launch->kernarg_address != block_of(p, launch->kernel_object))
        return prt_error_set(error, PRT_E_PACKET,
                             "dispatch packet: kernel object %" PRIu64
                             " with kernarg block %" PRIu64 ", not its own",
                             launch->kernel_object, launch->kernarg_address);
    if (launch->completion_signal > p->stage_count)
        return prt_error_set(error, PRT_E_PACKET,
                             "dispatch packet: completion signal %" PRIu64 " of %" PRIu32,
                             launch->completion_signal, p->stage_count);
    if (p->taken[launch->kernel_object])
        return prt_error_set(error, PRT_E_PACKET,
                             "dispatch packet: kernel object %" PRIu64 " is in flight",
                             launch->kernel_object);
    return PRT_OK;
}

/* Takes the objects of the launches as it proceeds, so that none is named twice, and gives them
 * back. */
static enum prt_status check_launches(struct prt_packet_processor *p, struct prt_error *error)
{
    if (p->count == 1) return check_launch(p, &p->launches[0], error);
    enum prt_status status = PRT_OK;
    uint32_t good = 0;
    while (good < p->count) {
        status = check_launch(p, &p->launches[good], error);
        if (status != PRT_OK) break;
        p->taken[p->launches[good++].kernel_object] = true;
    }
    while (good > 0)
        p->taken[p->launches[--good].kernel_object] = false;
    return status;
}

static void describe_launch(struct prt_packet_processor *p, uint32_t index)
{
    const struct dispatch_decoded launch = dispatch_decode(&p->launches[index]);
    const struct dispatch_scheduling *scheduling = &launch.scheduling;
    const struct dispatch_cleanup *cleanup = &launch.cleanup;
    bool first = index == 0, last = index + 1 == p->count;
    bool cleans = cleanup->completion_signal != 0 || cleanup->release != 0 || last;
    p->decoded[index] = (struct prt_launch){.object = (uint32_t)scheduling->kernel_object,
                                            .firings = scheduling->grid_size_x,
                                            .first_firing = p->firings[scheduling->kernarg_address],
                                            .signal = cleanup->completion_signal,
                                            .packet = p->kind,
                                            .first_of_packet = first,
                                            .last_of_packet = last,
                                            .cleaned_up = cleans,
                                            .seen = last || cleanup->completion_signal != 0,
                                            .barrier = scheduling->barrier != 0,
                                            .enqueue_cycles = first ? p->enqueue_cycles : 0,
                                            .process_cycles = first ? p->process_cycles : 0,
                                            .cleanup_cycles = cleans ? p->cleanup_cycles : 0};
}

static enum prt_status refuse_packet(const struct dispatch_finding *finding, uint32_t header,
                                     struct prt_error *error)
{
    const char *what = dispatch_defect_text(finding->defect);
    if (header == DISPATCH_CONDENSED && finding->defect != DISPATCH_TRAILING_UNITS)
        return prt_error_set(error, PRT_E_PACKET,
                             "dispatch packet: kernel %" PRIu32 ": %s (%" PRIu32 ")",
                             finding->kernel, what, finding->value);
    return prt_error_set(error, PRT_E_PACKET, "dispatch packet: %s (%" PRIu32 ")", what,
                         finding->value);
}

enum prt_status prt_packet_decode(struct prt_packet_processor *p,
                                  const union dispatch_packet *packet, struct prt_error *error)
{
    struct dispatch_finding finding;
    bool good = expand_packet(p, packet, &finding);
    enum prt_status status =
        good ? check_launches(p, error) : refuse_packet(&finding, packet->header, error);
    if (status != PRT_OK) {
        p->counters->packets_refused++;
        p->count = 0;
        return status;
    }
    for (uint32_t i = 0; i < p->count; i++)
        describe_launch(p, i);
    return PRT_OK;
}

/* ---- accepting ---- */

static void store_reference(struct prt_packet_processor *p)
{
    const struct dispatch_scheduling *before = &p->table.entries[p->entry].scheduling;
    bool held = (p->table.stored >> p->entry & 1) != 0;
    p->counters->reference_stores++;
    p->counters->spills += held && before->kernel_object != p->launches[0].kernel_object;
    dispatch_store(&p->table, p->entry, &p->launches[0]);
}

void prt_packet_accept(struct prt_packet_processor *p)
{
    struct prt_device_counters *counters = p->counters;
    counters->packets[p->kind]++;
    counters->launches[p->kind] += p->count;
    counters->bytes_enqueued += sizeof(union dispatch_packet);
    counters->enqueue_cycles = core_cycles_add(counters->enqueue_cycles, p->enqueue_cycles);
    counters->process_cycles = core_cycles_add(counters->process_cycles, p->process_cycles);
    if (p->entry != UINT32_MAX) store_reference(p);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct prt_launch *launch = &p->decoded[i];
        p->taken[launch->object] = true;
        if (launch->object < p->stage_count) p->firings[launch->object] += launch->firings;
        counters->clean_ups += launch->cleaned_up;
        counters->cleanup_cycles =
            core_cycles_add(counters->cleanup_cycles, launch->cleanup_cycles);
    }
}

void prt_packet_ended(struct prt_packet_processor *p, const struct prt_launch *launch,
                      uint64_t firings)
{
    p->taken[launch->object] = false;
    if (launch->object < p->stage_count) p->firings[launch->object] -= launch->firings - firings;
}
