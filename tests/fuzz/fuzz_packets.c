/* SPDX-License-Identifier: MIT */
/*
 * Bytes as a queue of dispatch packets: the first says how many entries the reference table has, then
 * 64 bytes are a packet, the rest of the last one zero.  An accepted packet can be encoded again: its
 * launches, condensed, expand to themselves.  A refused packet leaves the table as it was.
 */
#include "tests/fuzz/fuzz.h"

#include "model/packet_processor.h"

#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 12, SIGNALS = 6, ENTRIES_MAX = 8 };

static void expect(bool holds)
{
    if (!holds) abort();
}

static void check_packet(const struct dispatch_table *table, const struct dispatch_writer *writer,
                         const struct dispatch_full *launches)
{
    struct dispatch_full found[DISPATCH_UNITS];
    struct dispatch_finding finding;
    uint32_t count;
    expect(dispatch_expand(table, &writer->packet, found, &count, &finding));
    expect(count == writer->packet.num_kernels);
    expect(memcmp(launches, found, count * sizeof found[0]) == 0);
}

/* As the scheduler packs what is launched by other stages' entries. */
static void check_round_trip(const struct prt_packet_processor *p)
{
    struct dispatch_writer writer;
    uint32_t first = 0;
    if (p->table.stored == 0) return;
    dispatch_open(&writer);
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t entry = dispatch_nearest(&p->table, &p->launches[i]);
        if (dispatch_append(&writer, &p->table, entry, &p->launches[i])) continue;
        check_packet(&p->table, &writer, &p->launches[first]);
        first = i;
        dispatch_open(&writer);
        expect(dispatch_append(&writer, &p->table, entry, &p->launches[i]));
    }
    check_packet(&p->table, &writer, &p->launches[first]);
}

/* Every other packet's launches end at once, the others' when all have been read. */
static void process(struct prt_packet_processor *p, const union dispatch_packet *packet, bool ends)
{
    struct dispatch_table before;
    struct prt_error error = {0};
    memcpy(&before, &p->table, sizeof before);
    if (prt_packet_decode(p, packet, &error) != PRT_OK) {
        expect(error.message[0] != '\0');
        /* Every byte is as before.  NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
        expect(memcmp(&before, &p->table, sizeof before) == 0);
        return;
    }
    expect(p->count > 0 && p->count <= DISPATCH_UNITS);
    prt_packet_accept(p);
    check_round_trip(p);
    for (uint32_t i = 0; i < p->count; i++) {
        expect(p->decoded[i].object < OBJECTS && p->decoded[i].signal <= SIGNALS);
        expect(p->decoded[i].firings > 0);
        if (ends) prt_packet_ended(p, &p->decoded[i], p->decoded[i].firings);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct prt_device_counters counters = {0};
    struct prt_packet_processor processor;
    if (size == 0) return 0;
    struct devdesc description = {.reference_entries = 1 + data[0] % ENTRIES_MAX};
    prt_packet_processor_create(&processor, &description, &counters);
    if (prt_packet_objects(&processor, OBJECTS, SIGNALS) == PRT_OK) {
        for (size_t at = 1; at < size; at += sizeof(union dispatch_packet)) {
            union dispatch_packet packet;
            size_t left = size - at;
            memset(&packet, 0, sizeof packet);
            memcpy(&packet, data + at, left < sizeof packet ? left : sizeof packet);
            process(&processor, &packet, at / sizeof packet % 4 != 3);
        }
    }
    prt_packet_processor_destroy(&processor);
    return 0;
}
