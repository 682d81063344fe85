/* SPDX-License-Identifier: MIT */
/*
 * resident: the scheduler core on the device itself, in one kernel that stays there for the whole run.
 *
 * The kernel has one block of threads for each multiprocessor.  All blocks are resident together.  Each says which
 * multiprocessor it is on.  When all have, each finds its seat (`find_seat`):
 *
 *     the scheduler    thread 0 of the first block, in the order of multiprocessors: it executes the program of the run
 *                      (core/machine.h), and kernels that one thread executes
 *     the workers      the other blocks: they execute jobs.  They are divided into *stations*, one for each sub-device of
 *                      the program.  All workers of a station execute one job at a time, and stations work side by side
 *     none             a block on a multiprocessor that the run does not use leaves at once, and so does one whose
 *                      compute unit belongs to no station
 *
 * A station's workers are those in its share of the multiprocessors.  If one would have none, all workers are at the
 * first station, and so are all stages.
 *
 * A station, its orders and its counters:
 *
 *     scheduler                                    worker
 *     writes an order
 *     writes its head                      ──────> waits for the head
 *                                                  is it among the workers of the order?
 *                                                  waits until `done` says that earlier orders are executed
 *                                                  executes its part
 *     waits until `done` has grown by      <────── done + 1
 *     the number of workers
 *
 * There is room for some orders, so the scheduler writes the next ones while one is executed.  It uses the room of an order
 * again when that one has been executed.  A worker that has no part in it may look there later.  The number in the head
 * shows that this is another order.
 *
 * Where firings are independent (`CORE_RESIDENT_THREADS`), or kernels launch kernels (`CORE_RESIDENT_TREES`), a launch
 * is one job or a few:
 *
 *     zero       the out-windows, if the kernel writes by index
 *     run        the firings, each by one thread (lang/gpu_abi.h)
 *     trees      the firings, each with all that it launches by the first thread of a worker (child_tree.h)
 *     sum, move  bounded rates: the firings write to scratch memory, each into room for its maximum.  The workers have equal
 *                parts of the firings.  `sum` adds up the numbers of packets of a part, `move` copies its packets to the
 *                out-window, after those of the parts before it
 *
 * The scheduler reads its block again and again, and only it writes there.  So it keeps what it has read in its cache: it
 * orders its reads after the writes of workers only where it reads such writes (`core_fence_device`).
 *
 * Firings that follow each other (with state) are a job `run` for the first worker of the station, always the same one.
 *
 * The machine goes on while these jobs are executed, and finds the launch complete when it waits.  The order in its station
 * is enough for that: the places where jobs read and write are known before, and how many packets there are is read when
 * the last job has been executed.  Jobs write that to `results`, not to the block of the core, which the host may have.
 *
 * Launches that may stop or fault, that launch kernels, or whose out-windows are zeroed are executed as a whole, after the
 * launches of the same station before them, before the machine goes on: so nothing has been executed after a fault.  If
 * their firings follow each other, the scheduler's thread executes them.  If a firing stops or faults, the scheduler
 * executes it again, with a record, after the firings before it.  A `finish` is executed when the machine waits.
 *
 * The host.  The block of the core lies in the device's memory.  While the run rests, the host has a copy of it:
 *
 *     host                                         scheduler
 *     writes `image`; go + 1               ──────> copies `image` to the block; core_resume
 *     ... polls ...                        <────── copies the block to `image`; outcome; reply = go
 *     serves the outcome
 *
 * So the host serves ports with the code that it always uses.  Packets of ports lie in memory of the host that the
 * device can access; all others are in the device's memory.  `interrupted` and `asked` reach the block between launches,
 * about a millisecond later.
 *
 * The same source runs on threads of the host, for tests: each is a block of one thread.  `host` has what such threads
 * need; on a GPU it is NULL.
 *
 * Requires: tables as their members say.  Thread-safety: as above.  Allocation: none.
 * Errors: those of the core, in its block.
 */
#ifndef CORE_RESIDENT_RESIDENT_H
#define CORE_RESIDENT_RESIDENT_H

#include "core/core.h"
#include "core/environment.h"
#include "core/resident/child_tree.h"
#include "lang/gpu_abi.h"

/* On threads of the host: what a GPU has by itself. */
struct core_resident_host {
    void *context;
    /* pipe_call of lang/gpu_abi.h */
    int32_t (*call)(void *context, uint32_t thread, uint32_t entry,
                    const struct kernel_batch *batch, uint32_t block, uint32_t blocks);
    void (*pause)(void *context, uint32_t round); /* of a loop that waits: from 0 */
    uint64_t (*now)(void *context);               /* nanoseconds */
};

/* In memory of the host that both sides access. */
struct core_mail {
    uint64_t go;      /* by the host: times that it has let the scheduler go on */
    uint32_t stop;    /* by the host: the kernel ends, wherever the scheduler waits */
    uint32_t attends; /* by the host: set of enum core_mail_flags */
    uint64_t reply;   /* by the device: `go` of the outcome */
    uint32_t outcome; /* by the device: enum core_outcome */
    uint32_t reserved;
    uint64_t beats;    /* by the device: it changes while the scheduler works or waits for jobs */
    uint64_t launches; /* by the device, with each outcome */
};

enum core_mail_flags { CORE_MAIL_INTERRUPTED = 1, CORE_MAIL_ASKED = 2 };

enum core_resident_flags {
    CORE_RESIDENT_THREADS = 1, /* firings are executed by different threads */
    CORE_RESIDENT_ZEROED = 2,  /* out-windows are zeroed before */
    CORE_RESIDENT_ENDS = 4,    /* a firing may stop or fault */
    CORE_RESIDENT_TREES = 8,   /* a firing launches kernels */
    CORE_RESIDENT_ORDERED = 16 /* firings follow each other */
};

struct core_resident_stage {
    uint32_t run, finish; /* numbers of its entries, for pipe_call */
    uint32_t station;
    uint32_t flags;          /* set of enum core_resident_flags */
    uint32_t worker_firings; /* a worker gets so many, if there are, or more */
    const void *arguments;
    void *tables, *state;
};

enum core_job_kind {
    CORE_JOB_RUN,   /* `batch` */
    CORE_JOB_TREES, /* `batch`, of a stage whose firings launch kernels */
    CORE_JOB_ZERO,  /* `bytes` from `to` on */
    CORE_JOB_SUM,   /* `sums` of the workers' parts of `count` firings */
    CORE_JOB_MOVE, /* the packets of output `output` of `count` firings from `from` to `to`, by as many workers */
    CORE_JOB_COPY, /* `bytes` from `from` to `to`, whole words of 8 bytes */
    CORE_JOB_LEAVE /* the run has ended */
};

struct core_job {
    enum core_job_kind kind;
    uint32_t stage, output, entry;
    uint64_t count, bytes;
    const void *from;
    void *to;
};

enum {
    CORE_ORDERS = 8, /* a power of two */
    CORE_ORDER_ENDS = 4
};

/* When a launch was executed, by the clock of the device: written by the workers. */
struct core_times {
    uint64_t begin; /* of the first worker */
    uint64_t end;   /* of the last one */
};

/* All that the workers read of a job, in one place: a block takes a copy into memory of its own. */
struct core_order {
    _Alignas(128) uint64_t done_before; /* `done` when all earlier orders have been executed */
    struct core_job job;
    struct kernel_batch batch;
    struct core_times *times; /* of the launch, if it is measured; else NULL */
    /* The windows of a batch with so few inputs, or outputs: `batch.in`, or `batch.out`, is NULL and points to them in the copy. */
    const void *in[CORE_ORDER_ENDS];
    void *out[CORE_ORDER_ENDS];
};

/* Of an order: the lower half of its number x 2^32 + workers that execute it.  It has a line of memory for itself, since all
 * workers look at it again and again, and would delay what the scheduler writes to the same line. */
struct core_order_head {
    _Alignas(128) uint64_t value;
};

/* A launch that the workers execute while the machine goes on. */
struct core_pending {
    uint32_t stage;
    uint64_t begin;          /* nanoseconds */
    uint64_t done;           /* `done` when it has been executed */
    uint64_t completed;      /* not read: firings neither stop nor fault */
    struct core_times times; /* if the run is measured */
};

/* A set of workers.  Compute units are those of the program's device. */
struct core_station {
    uint32_t first_cu, cu_count;
    uint32_t workers;
    uint32_t pending_room, pending_first, pending_next, pending_count;
    uint32_t pending_logged;      /* so many pending launches, the first ones, are in the log */
    struct core_pending *pending; /* a ring with room for one launch of each of its stages */
    uint64_t posted;              /* orders */
    uint64_t done_wanted;         /* `done` when all of them have been executed */
    uint64_t done_seen;           /* by the scheduler: `done`, when it looked at it last */
    uint64_t done_orders[CORE_ORDERS]; /* `done` when the order in that place has been executed */
    struct core_order orders[CORE_ORDERS]; /* order n in place n mod CORE_ORDERS */
    struct core_order_head heads[CORE_ORDERS];
    _Alignas(128) uint64_t done;
};

/* One struct because it is the block of memory that all blocks of threads share. */
struct core_resident {
    struct core *core;
    struct core_mail *mail;
    void *image; /* of the block, in the host's memory */
    const struct core_resident_host *host;
    struct core_log *log; /* in the host's memory (launch_log.h); NULL: the run is not measured */
    struct core_environment environment;

    struct core_resident_stage *stages; /* by stage */
    struct core_station *stations;
    uint8_t **rings; /* by buffer: memory that is mapped twice (runtime/device/ring.h) */
    const void **in; /* by input: windows */
    struct kernel_window *places; /* by input: 2-D windows */
    uint64_t *left;               /* by input */
    void **out;                   /* by output: windows, or scratch memory */
    uint64_t *results;  /* by output: packets that the last launch of its stage has appended */
    uint32_t *finishes; /* stages whose finish has been launched and not executed */
    uint8_t *scratch;   /* of bounded rates */
    uint64_t *appended; /* by firing and output */
    uint64_t *sums;     /* by worker and output: what its part of the firings has appended */
    struct core_station *scratch_station; /* whose jobs used the scratch memory last; NULL: none */
    uint64_t scratch_done;                /* `done` of it when they have been executed */
    uint32_t *multiprocessors;            /* by block: which one it is on */
    uint8_t *executed; /* by stage and block: 1, if the block has executed firings of the stage */
    struct core_trees trees;
    uint32_t finish_count, station_count;
    uint32_t open_stations;                              /* as many, or one that has all workers */
    uint32_t pending_count;                              /* of all stations */
    uint32_t own_block;                                  /* the scheduler's */
    uint32_t blocks, threads;                            /* of a block */
    uint32_t cu_count;                                   /* of the program's device */
    uint32_t first_multiprocessor, multiprocessor_count; /* that the run uses */

    /* the present launch */
    struct kernel_batch batch;
    struct kernel_fault fault;
    uint64_t completed; /* of a firing that is executed again */
    uint64_t looked;    /* when the mail was looked at last */
    uint64_t beats;
    uint64_t launches;
    uint64_t logged, log_taken;     /* entries of the log */
    _Alignas(128) uint64_t arrived; /* blocks that have said where they are */
};

/* Executes the block of that number: from 0, below `blocks`.  All threads of the block call it. */
void core_resident_block(struct core_resident *resident, uint32_t block);

#endif
