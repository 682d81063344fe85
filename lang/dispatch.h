/* SPDX-License-Identifier: MIT */
/*
 * dispatch: the 64-byte records by which the scheduler gives work to a queue (lang/dispatch.md).
 *
 * Little-endian.  The full packet has the layout of the HSA AQL kernel-dispatch packet (HSA Platform
 * System Architecture Specification, "Architected Queuing Language"):
 *
 *   byte  0  header u8            1  synch_scopes u8           2  setup u16
 *         4  workgroup_size x, y, z u16                       10  reserved0 u16
 *        12  grid_size x, y, z u32
 *        24  private_segment_size u32                         28  group_segment_size u32
 *        32  kernel_object u64   40  kernarg_address u64
 *        48  reserved2 u64       56  completion_signal u64
 *
 * The reference packet has `ref_num` in place of reserved0; the condensed packet has launches as
 * their differences to stored references.  `header` distinguishes the three.
 *
 * pipec's use: grid_size_x is the number of firings (1 or more), workgroup_size_x the lanes of a
 * work-group, kernel_object the stage, kernarg_address the number of its
 * kernarg block, where the device counts the firings, completion_signal the stage's signal (0: none).
 */
#ifndef LANG_DISPATCH_H
#define LANG_DISPATCH_H

#include <stdint.h>

enum dispatch_header {
    DISPATCH_INVALID = 0,
    DISPATCH_FULL = 2, /* AQL's KERNEL_DISPATCH */
    /* AQL assigns no types from 6 on; these are pipec's own. */
    DISPATCH_REFERENCE = 16,
    DISPATCH_CONDENSED = 17
};

/* synch_scopes: bit 0 barrier, bits 1-2 acquire scope, bits 3-4 release scope */
enum dispatch_scope {
    DISPATCH_SCOPE_NONE = 0,
    DISPATCH_SCOPE_AGENT = 1,
    DISPATCH_SCOPE_SYSTEM = 2
};
#define DISPATCH_SCOPES(barrier, acquire, release)                                                 \
    ((uint8_t)((barrier) | (acquire) << 1 | (release) << 3))

struct dispatch_full {
    uint8_t header;
    uint8_t synch_scopes;
    uint16_t setup; /* dimensions, 1..3 */
    uint16_t workgroup_size_x, workgroup_size_y, workgroup_size_z;
    uint16_t reserved0;
    uint32_t grid_size_x, grid_size_y, grid_size_z;
    uint32_t private_segment_size_bytes, group_segment_size_bytes;
    uint64_t kernel_object;
    uint64_t kernarg_address;
    uint64_t reserved2;
    uint64_t completion_signal;
};

struct dispatch_reference {
    uint8_t header;
    uint8_t synch_scopes;
    uint16_t setup;
    uint16_t workgroup_size_x, workgroup_size_y, workgroup_size_z;
    uint16_t ref_num; /* entry of the reference state table */
    uint32_t grid_size_x, grid_size_y, grid_size_z;
    uint32_t private_segment_size_bytes, group_segment_size_bytes;
    uint64_t kernel_object;
    uint64_t kernarg_address;
    uint64_t reserved2;
    uint64_t completion_signal;
};

#define DISPATCH_UNITS 31u /* of 16 bits, that a condensed packet has for differences */
#define DISPATCH_ENTRIES_MAX                                                                       \
    8u /* of a reference state table: ref_num has three bits in a diff header */

struct dispatch_condensed {
    uint8_t header;
    uint8_t num_kernels; /* 1 to 31 */
    uint16_t diff_values[DISPATCH_UNITS];
};

/* FIELD(enumerator, member, units of 16 bits): what a launch may have different from its reference,
 * in the order of the bits of the diff_vector. */
#define DISPATCH_FIELDS(FIELD)                                                                     \
    FIELD(SYNCH_SCOPES, synch_scopes, 1)                                                           \
    FIELD(SETUP, setup, 1)                                                                         \
    FIELD(WORKGROUP_SIZE_X, workgroup_size_x, 1)                                                   \
    FIELD(WORKGROUP_SIZE_Y, workgroup_size_y, 1)                                                   \
    FIELD(WORKGROUP_SIZE_Z, workgroup_size_z, 1)                                                   \
    FIELD(GRID_SIZE_X, grid_size_x, 2)                                                             \
    FIELD(GRID_SIZE_Y, grid_size_y, 2)                                                             \
    FIELD(GRID_SIZE_Z, grid_size_z, 2)                                                             \
    FIELD(PRIVATE_SEGMENT_SIZE, private_segment_size_bytes, 2)                                     \
    FIELD(GROUP_SEGMENT_SIZE, group_segment_size_bytes, 2)                                         \
    FIELD(KERNEL_OBJECT, kernel_object, 4)                                                         \
    FIELD(KERNARG_ADDRESS, kernarg_address, 4)                                                     \
    FIELD(COMPLETION_SIGNAL, completion_signal, 4)

enum dispatch_field {
#define FIELD(enumerator, member, units) DISPATCH_FIELD_##enumerator,
    DISPATCH_FIELDS(FIELD)
#undef FIELD
        DISPATCH_FIELD_COUNT
};

/* A diff header: the entry in bits 0 to 2, bit 3 + k where field k is different. */
#define DISPATCH_DIFF_HEADER(entry, vector) ((uint16_t)((entry) | (vector) << 3))
#define DISPATCH_DIFF_ENTRY(header) ((header) & 7u)
#define DISPATCH_DIFF_VECTOR(header) ((uint32_t)(header) >> 3)

_Static_assert(sizeof(struct dispatch_full) == 64, "a dispatch packet is 64 bytes");
_Static_assert(sizeof(struct dispatch_reference) == 64, "a dispatch packet is 64 bytes");
_Static_assert(sizeof(struct dispatch_condensed) == 64, "a dispatch packet is 64 bytes");
_Static_assert(DISPATCH_FIELD_COUNT == 13, "bits of the diff_vector");

/* One form of dispatch packet; its `header` byte selects the member. */
union dispatch_packet {
    uint8_t header;
    struct dispatch_full full;
    struct dispatch_reference reference;
    struct dispatch_condensed condensed;
};

_Static_assert(sizeof(union dispatch_packet) == 64, "a slot of a queue is 64 bytes");

#endif
