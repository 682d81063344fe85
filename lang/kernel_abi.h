/* SPDX-License-Identifier: MIT */
/*
 * kernel_abi: the contract between compiled kernels and their callers.
 *
 * The code of a stage has entries in a native shared object (x86-64 System V), or in PTX (lang/gpu_abi.h).  An entry gets
 * one `struct kernel_batch` and returns an `enum kernel_status`.  Windows are contiguous and naturally aligned.  The caller
 * guarantees their size, and the callee accesses nothing beyond them.  In an out-window, the bytes after the appended
 * packets have no meaning: the callee may have written there.  Entries are thread-safe as long as no two calls share state,
 * out-windows or launches.  They call only memcpy, memmove, memset and the `done` of their launches.  Entries of extern
 * kernels also call foreign code, about which nothing is known.
 *
 * Symbols:
 *     pipe_k<ID>_run
 *     pipe_k<ID>_init, pipe_k<ID>_finish    only if the kernel has these sections
 *     pipe_arguments                        evaluates the arguments of all nodes
 */
#ifndef LANG_KERNEL_ABI_H
#define LANG_KERNEL_ABI_H

#include <stdint.h>

enum kernel_status {
    KERNEL_OK = 0,
    KERNEL_FAULT_DIVISION = 1, /* integer division or remainder by zero */
    KERNEL_FAULT_INDEX = 2,    /* index out of its array, window, or port array */
    KERNEL_FAULT_PUSH = 3,     /* more or fewer packets than declared */
    KERNEL_STOPPED = 4,        /* run: no fault; see `completed` */
    KERNEL_FAULT_LAUNCHES = 5, /* a firing launches more kernels than declared */
    KERNEL_FAULT_TREE = 6,     /* a firing, with all that it launches, likewise */
    KERNEL_FAULT_NESTING = 7,  /* kernels launch each other deeper than declared */
    KERNEL_FAULT_FOREIGN = 8,  /* foreign code has returned `index` */
    KERNEL_FAULT_IMPURE =
        9, /* foreign code, fired twice with the same packets, has done two things */
    KERNEL_FAULT_GROUPS = 10, /* a launch of no work-groups, or of more than declared */
};

/* The result of a foreign function.  0: done.  Of a source's firing: the stream has ended, and this firing does not count.
 * Anything else is a fault. */
enum foreign_status { FOREIGN_DONE = 0, FOREIGN_STOP = -1 };

struct kernel_fault {
    uint64_t firing; /* absolute number of the firing; UINT64_MAX in init and finish */
    uint32_t source; /* index into the container's source names */
    uint32_t line, column;
    uint32_t level; /* of a launched kernel, from 1 (lang/device_queue.md); 0: not in one */
    int64_t index;  /* the value that was out of range, or 0 */
    uint64_t bound; /* what it had to be below, or 0 */
};

/* Of an in-port with a 2-D window, for one batch: all its firings lie in one frame. */
struct kernel_window {
    uint64_t first; /* place within its frame of the packet that in[p] points at */
    uint64_t place; /* place within the frame of the packet that the first firing consumes */
    uint64_t
        rows; /* of the frame; UINT64_MAX: it has no end yet, and no firing of the batch sees one */
};

#define KERNEL_LAUNCH_WAITS_MAX 8u /* events that one launch waits for */

/* One launch, an entry of the device-queue cache (lang/device_queue.md).  The child's block of arguments follows the struct.
 *
 * For each child that a `launch` statement of a kernel may start, the device has written an *interface* into the cache, with this
 * layout: a launch without waits, of one work-group, whose arguments are the child's defaults.  The launching firing copies
 * the interface of the child that it starts to its next entry.  It then updates the members marked "by the firing" and the
 * arguments that the statement gives.  The device writes `event` and `level` when it takes the child. */
struct kernel_launch {
    uint32_t site;   /* which of the kernel's records in LAUNCHES: the statement and the child */
    uint32_t event;  /* number of this launch among those of its firing, from 0 */
    uint32_t groups; /* by the firing: work-groups, 1.. */
    uint32_t first_group; /* by the firing: number of the first one */
    uint32_t group_end;   /* of the child: numbers of work-groups are below it */
    uint16_t wait_count;  /* by the firing */
    uint16_t level;       /* of the child: 1 where the outermost kernel has launched it */
    uint16_t waits[KERNEL_LAUNCH_WAITS_MAX]; /* by the firing: events below its own */
    uint32_t reserved[2];                    /* zero */
    uint64_t kernel; /* address of the child's entry; on a GPU its number for pipe_call */
    /* By the firing: the cycles of its own body that it executed before this launch (lang/time.md,
     * "Launches").  UINT64_MAX: it counts none, or all of them come before. */
    uint64_t timestamp;
};

_Static_assert(sizeof(struct kernel_launch) == 64, "an entry of the device queue begins so");

/* The launches of one firing.  A firing appends entry `count` where that is below `capacity`; beyond
 * it faults with KERNEL_FAULT_LAUNCHES. */
struct kernel_launch_list {
    uint8_t *entries; /* aligned to 64 bytes */
    /* Of the kernel's records in LAUNCHES, in order; as far from each other as entries, and not to be written. */
    const uint8_t *interfaces;
    uint64_t stride_bytes, capacity, count;
    uint32_t group,
        groups; /* of a child: which work-group of its launch this firing is, of so many */
    /* Has the tree of the launch with that number (below `count`) appended a packet: 0, 1; it is
     * executed now if it has not been.  `timestamp` is that of the question, as of a launch.
     * Negative: it has faulted, *fault is written, and the firing returns the number without its
     * sign as its own status. */
    int32_t (*done)(struct kernel_launch_list *launches, uint32_t event, uint64_t timestamp);
};

struct kernel_batch {
    const void *arguments; /* the node's block of run-time arguments */
    void *tables;          /* read-only but for init */
    void *state;           /* exclusively the callee's during the call */
    const void *const *in; /* one window per input, port arrays flattened in order */
    void *const *out;      /* one window per output */
    /* run: the first firing of the batch reads input p from packet 0 of in[p] on.  Each later firing begins after the packets
     * that the earlier ones popped.  A firing sees as many packets as it peeks.  The firings append to output q one after
     * the other: a window has room for the maximum of all of them.  With a 2-D window, windows[p] describes in[p].
     * init: no windows.
     * finish: in[0] holds left[0] packets (kernels with one input); out-windows have room for finish_max packets. */
    const uint64_t *left;  /* finish: packets still held, per input; else NULL */
    uint64_t *produced;    /* run, finish: packets appended, per output; run: may be NULL */
    uint64_t first_firing; /* absolute number of the first firing; modulo the phases: its phase */
    uint64_t count;        /* firings: 1.. */
    uint64_t
        *completed; /* run: firings that count: `count`, or after a stop or a fault those before
                                   the one that stopped or faulted; `produced` counts only theirs.  finish: 0, where that of a composite stores
                                   what the finishes of its members have appended (lang/container.md, "Fused nodes").  init: NULL */
    const struct kernel_window
        *windows; /* run: per input; NULL where the kernel has no 2-D window */
    /* run, kernels with `group`: item n's x, y, z packed in register n, as the extents say
     * (lang/index_format.h): uint16_t, or uint32_t where they do not fit 16 bits.  Else NULL. */
    const void *indices;
    /* Run of a kernel that launches: `count` is 1, `launches->count` is 0; else NULL.  Of such a
     * kernel and of children out-windows have room for what one firing's own body appends. */
    struct kernel_launch_list *launches;
    struct kernel_fault *fault; /* written when the status is not KERNEL_OK */
    /* run, finish, of a kernel whose cost depends on data (CONTAINER_NODE_COUNTED): takes the cycles
     * of every warp of the batch, in order, saturated; NULL: not wanted.  A warp is `warp_firings`
     * consecutive firings from the batch's first on (the last one may be partial), or one of the
     * `firing_warps` parts of a firing of work-items: ceil(count / warp_firings) x firing_warps of
     * them.  A stateful kernel, and `finish`, have one, [0], the sum of all.  After a stop
     * those of the firings that count are written, after a fault nothing is said of them. */
    uint64_t *warp_cycles;
    uint64_t
        *most; /* run: maximum of packets that one firing of the batch has appended, per output,
                       only of outputs whose rate is a range; NULL: not wanted */
    /* run, finish, of a container compiled for debugging (CONTAINER_PIPELINE_DEBUG; other kernels do
     * not look at it): beside each window out[q] one number for each packet that it has room for, all
     * zero.  A statement that writes a packet stores 1 + the index in PLACES of where it stands. NULL:
     * not wanted. */
    uint32_t *const *origins;
    /* run: not 0 where the appended packets are larger than the caches and are not read soon: stores may go past
     * them.  When the entry returns they are seen by every thread, as others are. */
    uint64_t past_caches;
};

typedef int32_t (*kernel_entry)(const struct kernel_batch *batch);

/* pipe_arguments(pipeline block, node blocks, fault): writes the argument block of node i to
 * nodes[i].  Scalars have their width, arrays and vectors lie row by row, each at a multiple of its scalar's width.  A fault in the expression of an argument leaves `firing` at UINT64_MAX. */
typedef int32_t (*kernel_arguments_entry)(const void *pipeline, void *const *nodes,
                                          struct kernel_fault *fault);

#endif
