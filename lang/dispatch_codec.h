/* SPDX-License-Identifier: MIT */
/*
 * dispatch_codec: reference and condensed packets, to and from the launches they stand for
 * (lang/dispatch.md).
 *
 * A *launch* is a full packet: header DISPATCH_FULL, reserved fields 0.  A *table* is the device's
 * reference state: the launch that was stored last in each of its entries, decoded.
 *
 *     dispatch_append(writer, table, entry, launch) for each of a list of launches, and
 *     dispatch_expand(table, writer.packet), give the list again
 *
 * Packets are untrusted: nothing outside of one is read or written, and every defect has a name.
 * Nothing is refused in part: on a defect the outputs say nothing.
 * Thread-safety: no state.  Allocation: none.  Requires: a little-endian host.  Freestanding: a device may run it.
 */
#ifndef LANG_DISPATCH_CODEC_H
#define LANG_DISPATCH_CODEC_H

#include "lang/dispatch.h"

#include <stdbool.h>

/* A launch, decoded: for starting it, and for its end. */
struct dispatch_scheduling {
    uint64_t kernel_object, kernarg_address;
    uint32_t grid_size_x, grid_size_y, grid_size_z;
    uint32_t private_segment_size_bytes, group_segment_size_bytes;
    uint16_t workgroup_size_x, workgroup_size_y, workgroup_size_z;
    uint16_t setup;
    uint8_t barrier, acquire; /* the scope */
};
struct dispatch_cleanup {
    uint64_t completion_signal;
    uint8_t release; /* the scope */
};
struct dispatch_decoded {
    struct dispatch_scheduling scheduling;
    struct dispatch_cleanup cleanup;
};

struct dispatch_table {
    struct dispatch_decoded entries[DISPATCH_ENTRIES_MAX];
    uint32_t count;  /* that the device has: 1.. */
    uint32_t stored; /* set of entries that hold something */
};

enum dispatch_defect {
    DISPATCH_GOOD,
    DISPATCH_BAD_TYPE,
    DISPATCH_BAD_SETUP,
    DISPATCH_BAD_SCOPES,
    DISPATCH_BAD_RESERVED,
    DISPATCH_BAD_WORKGROUP,
    DISPATCH_BAD_GRID,
    DISPATCH_BAD_ENTRY,     /* the device has no such entry */
    DISPATCH_EMPTY_ENTRY,   /* nothing has been stored in it */
    DISPATCH_NO_KERNELS,    /* num_kernels is 0 */
    DISPATCH_PAST_UNITS,    /* a difference that runs past the 31 units */
    DISPATCH_WIDE_VALUE,    /* the unit of an 8-bit field has more than 8 bits */
    DISPATCH_TRAILING_UNITS /* a unit after the last difference is not 0 */
};

struct dispatch_finding {
    enum dispatch_defect defect;
    uint32_t kernel; /* of a condensed packet, from 0; else 0 */
    uint32_t value;  /* what was found there */
};

/* "a difference runs past the 31 units" */
const char *dispatch_defect_text(enum dispatch_defect defect);

/* The defect of a launch, whatever form it came in.  *found: the wrong value, written if there is a
 * defect. */
enum dispatch_defect dispatch_check(const struct dispatch_full *launch, uint32_t *found);

/* A reference packet that stores the launch in the entry, and the launch of such a packet. */
struct dispatch_reference dispatch_refer(const struct dispatch_full *launch, uint32_t entry);
bool dispatch_resolve(const struct dispatch_table *table, const struct dispatch_reference *packet,
                      struct dispatch_full *launch, struct dispatch_finding *finding);

/* The contents of a good launch, and the launch of such contents. */
struct dispatch_decoded dispatch_decode(const struct dispatch_full *launch);
struct dispatch_full dispatch_encode(const struct dispatch_decoded *decoded);

/* Stores what a good reference packet says, and the launch of an entry that holds something. */
void dispatch_store(struct dispatch_table *table, uint32_t entry,
                    const struct dispatch_full *launch);
struct dispatch_full dispatch_stored(const struct dispatch_table *table, uint32_t entry);

/* Set of the fields in which the launch is different from the reference; units that it then takes in
 * a condensed packet, its diff header included: 1 to 28. */
uint32_t dispatch_vector(const struct dispatch_full *reference, const struct dispatch_full *launch);
uint32_t dispatch_vector_units(uint32_t vector);

/* A condensed packet being written. */
struct dispatch_writer {
    struct dispatch_condensed packet;
    uint32_t units; /* taken */
};

void dispatch_open(struct dispatch_writer *writer);
/* One more launch, as different from that entry, which holds something.  False: it does not fit, and
 * nothing has changed. */
bool dispatch_append(struct dispatch_writer *writer, const struct dispatch_table *table,
                     uint32_t entry, const struct dispatch_full *launch);

/* The entry that the launch takes the fewest units with, the lowest of equals.  Requires: some entry
 * holds something. */
uint32_t dispatch_nearest(const struct dispatch_table *table, const struct dispatch_full *launch);

/* The launches of one condensed packet: at most DISPATCH_UNITS.  False: *finding. */
bool dispatch_expand(const struct dispatch_table *table, const struct dispatch_condensed *packet,
                     struct dispatch_full launches[DISPATCH_UNITS], uint32_t *count,
                     struct dispatch_finding *finding);

#endif
