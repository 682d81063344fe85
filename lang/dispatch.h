/*
 * dispatch: the 64-byte records by which the scheduler gives work to a queue (lang/dispatch.md).
 *
 * Little-endian, the layout of the HSA AQL kernel-dispatch packet (HSA Platform System Architecture
 * Specification, "Architected Queuing Language").  The full packet is defined here; the reference
 * and condensed forms share the queue's slot size and are told apart by `header`.
 *
 *   byte  0  header u8            1  synch_scopes u8           2  setup u16
 *         4  workgroup_size x, y, z u16                       10  reserved0 u16
 *        12  grid_size x, y, z u32
 *        24  private_segment_size u32                         28  group_segment_size u32
 *        32  kernel_object u64   40  kernarg_address u64
 *        48  reserved2 u64       56  completion_signal u64
 *
 * pipec's use: grid_size_x is the number of firings (1 or more), workgroup_size_x the lanes of a
 * work-group, kernel_object the stage, kernarg_address the number of the first firing,
 * completion_signal the stage's signal.
 */
#ifndef LANG_DISPATCH_H
#define LANG_DISPATCH_H

#include <stdint.h>

enum dispatch_header {
    DISPATCH_INVALID = 0,
    DISPATCH_FULL = 2, /* AQL's KERNEL_DISPATCH */
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

_Static_assert(sizeof(struct dispatch_full) == 64, "a dispatch packet is 64 bytes");

#endif
