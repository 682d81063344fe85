/* SPDX-License-Identifier: MIT */
/*
 * resident_machine: what the resident scheduler needs of the machine: threads of a block, and memory that others change.
 *
 *     the two sides                      counter                      orders
 *     scheduler and workers              head, done                   acquire and release among the GPU's threads
 *     scheduler and host                 go, reply, outcome, beats    acquire and release in the whole system
 *     threads of a block                 -                            a barrier
 *
 * A ring is mapped twice, so the same packet has two addresses.  A read by one address sees a write by the other if a fence
 * between aliases is on the way from the write to the read (PTX ISA, "Causality order").  The reader executes it:
 * core_fence_packets, before a block or the scheduler reads packets.
 */
#ifndef CORE_RESIDENT_RESIDENT_MACHINE_H
#define CORE_RESIDENT_RESIDENT_MACHINE_H

#include "core/resident/resident.h"

typedef uint64_t __attribute__((may_alias)) core_word; /* of any struct */

/* Clang makes a loop over bytes of an assignment of so many bytes on a GPU. */
static inline void core_copy_batch(struct kernel_batch *to, const struct kernel_batch *from)
{
    for (uint32_t i = 0; i < sizeof *to / sizeof(core_word); i++)
        ((core_word *)to)[i] = ((const core_word *)from)[i];
}

#ifdef __NVPTX__

/* Before a loop: all its rounds are written out, so that arrays stay in registers and loads are under way together. */
#define CORE_WRITTEN_OUT _Pragma("clang loop unroll(full)")

/* Of the container's image. */
int32_t pipe_call(uint32_t entry, const struct kernel_batch *batch, uint32_t block, uint32_t blocks,
                  void *local);

static inline uint32_t core_thread(void)
{
    uint32_t number;
    __asm__("mov.u32 %0, %%tid.x;" : "=r"(number));
    return number;
}

/* Of a block. */
static inline uint32_t core_threads(const struct core_resident *r)
{
    uint32_t count;
    (void)r;
    __asm__("mov.u32 %0, %%ntid.x;" : "=r"(count));
    return count;
}

static inline uint32_t core_multiprocessor(uint32_t block)
{
    uint32_t number;
    (void)block;
    __asm__("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

static inline void core_barrier(void)
{
    __asm__ volatile("bar.sync 0;" ::: "memory");
}

/* A copy of the order for all threads of the block, in memory that they share.  `own` is not used. */
static inline const struct core_order *core_take_order(const struct core_resident *r,
                                                       const struct core_order *order,
                                                       struct core_order *own)
{
    enum {
        WORD = sizeof(uint64_t),
        WORDS = sizeof(struct core_order) / WORD,
        IN = offsetof(struct core_order, batch.in) / WORD,
        OUT = offsetof(struct core_order, batch.out) / WORD
    };
    static __attribute__((address_space(3))) core_word words[WORDS];
    struct core_order *copy = (struct core_order *)(core_word *)words;
    (void)own;
    for (uint32_t i = core_thread(); i < WORDS; i += core_threads(r)) {
        uint64_t word = ((const core_word *)order)[i];
        if (i == IN && word == 0) word = (uint64_t)copy->in;
        if (i == OUT && word == 0) word = (uint64_t)copy->out;
        words[i] = word;
    }
    core_barrier();
    return copy;
}

/* The value of thread 0, for all threads of the block. */
static inline uint64_t core_share(uint64_t value)
{
    static __attribute__((address_space(3))) volatile uint64_t shared;
    if (core_thread() == 0) shared = value;
    core_barrier();
    uint64_t of_first = shared;
    core_barrier();
    return of_first;
}

/* Of the lane so many before it.  Those that have none get their own. */
static inline uint64_t core_shift_lanes(uint64_t value, int32_t lanes)
{
    uint32_t low = (uint32_t)__nvvm_shfl_sync_up_i32(UINT32_MAX, (int32_t)value, lanes, 0);
    uint32_t high = (uint32_t)__nvvm_shfl_sync_up_i32(UINT32_MAX, (int32_t)(value >> 32), lanes, 0);
    return (uint64_t)high << 32 | low;
}

/* The sum of the values of the block's threads before this one.  *all: of all threads. */
static inline uint64_t core_sum_before(const struct core_resident *r, uint64_t own, uint64_t *all)
{
    enum { LANES = 32, WARPS = 32 /* of a block, at most */ };
    static __attribute__((address_space(3))) volatile uint64_t sums[WARPS];
    uint32_t lane = core_thread() % LANES, warp = core_thread() / LANES;
    uint64_t sum = own, before = 0;
    for (uint32_t lanes = 1; lanes < LANES; lanes *= 2) {
        uint64_t earlier = core_shift_lanes(sum, (int32_t)lanes);
        if (lane >= lanes) sum += earlier;
    }
    if (lane == LANES - 1) sums[warp] = sum;
    core_barrier();
    *all = 0;
    for (uint32_t i = 0; i < core_threads(r) / LANES; i++) {
        if (i == warp) before = *all;
        *all += sums[i];
    }
    core_barrier();
    return before + sum - own;
}

/* Without an order: what the thread has read before stays in its cache. */
static inline uint64_t core_peek_device(const uint64_t *at)
{
    uint64_t value;
    __asm__ volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}

static inline void core_store_device(uint64_t *at, uint64_t value)
{
    __asm__ volatile("st.release.gpu.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

static inline void core_add_device(uint64_t *at)
{
    __asm__ volatile("red.release.gpu.add.u64 [%0], 1;" ::"l"(at) : "memory");
}

static inline void core_max_device(uint64_t *at, uint64_t value)
{
    __asm__ volatile("red.relaxed.gpu.max.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

static inline void core_min_device(uint64_t *at, uint64_t value)
{
    __asm__ volatile("red.relaxed.gpu.min.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

static inline uint64_t core_load_system(const uint64_t *at)
{
    uint64_t value;
    __asm__ volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}

static inline uint32_t core_load_system_32(const uint32_t *at)
{
    uint32_t value;
    __asm__ volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

static inline void core_store_system(uint64_t *at, uint64_t value)
{
    __asm__ volatile("st.release.sys.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

/* Without an order. */
static inline void core_poke_system(uint64_t *at, uint64_t value)
{
    __asm__ volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

static inline void core_fence_device(void)
{
    __asm__ volatile("fence.acq_rel.gpu;" ::: "memory");
}

static inline void core_fence_packets(void)
{
    __asm__ volatile("fence.acq_rel.gpu;\n\tfence.proxy.alias;" ::: "memory");
}

static inline void core_fence_system(void)
{
    __asm__ volatile("fence.acq_rel.sys;" ::: "memory");
}

/* Others are waited for: the longer, the less often they are looked at. */
static inline void core_pause(const struct core_resident *r, uint32_t round)
{
    (void)r;
    if (round > 4096)
        __asm__ volatile("nanosleep.u32 1000;");
    else if (round > 256)
        __asm__ volatile("nanosleep.u32 100;");
}

static inline uint64_t core_now(const struct core_resident *r)
{
    uint64_t nanoseconds;
    (void)r;
    __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
}

/* `thread` is the number of the calling block. */
static inline int32_t core_call(const struct core_resident *r, uint32_t thread,
                                const struct kernel_batch *batch, uint32_t entry, uint32_t block,
                                uint32_t blocks)
{
    (void)r, (void)thread;
    return pipe_call(entry, batch, block, blocks, NULL);
}

#else

#define CORE_WRITTEN_OUT

static inline uint32_t core_thread(void)
{
    return 0;
}

static inline uint32_t core_threads(const struct core_resident *r)
{
    return r->threads;
}

static inline uint32_t core_multiprocessor(uint32_t block)
{
    return block;
}

static inline void core_barrier(void)
{
}

static inline const struct core_order *core_take_order(const struct core_resident *r,
                                                       const struct core_order *order,
                                                       struct core_order *own)
{
    (void)r;
    *own = *order;
    if (own->batch.in == NULL) own->batch.in = own->in;
    if (own->batch.out == NULL) own->batch.out = own->out;
    return own;
}

static inline uint64_t core_share(uint64_t value)
{
    return value;
}

static inline uint64_t core_sum_before(const struct core_resident *r, uint64_t own, uint64_t *all)
{
    (void)r;
    *all = own;
    return 0;
}

static inline uint64_t core_peek_device(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static inline void core_store_device(uint64_t *at, uint64_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

static inline void core_add_device(uint64_t *at)
{
    (void)__atomic_fetch_add(at, 1, __ATOMIC_RELEASE);
}

static inline void core_max_device(uint64_t *at, uint64_t value)
{
    uint64_t before = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (before < value && !__atomic_compare_exchange_n(at, &before, value, true,
                                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static inline void core_min_device(uint64_t *at, uint64_t value)
{
    uint64_t before = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (before > value && !__atomic_compare_exchange_n(at, &before, value, true,
                                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static inline uint64_t core_load_system(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static inline uint32_t core_load_system_32(const uint32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

static inline void core_store_system(uint64_t *at, uint64_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

static inline void core_poke_system(uint64_t *at, uint64_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
}

static inline void core_fence_device(void)
{
}

static inline void core_fence_packets(void)
{
}

static inline void core_fence_system(void)
{
}

static inline void core_pause(const struct core_resident *r, uint32_t round)
{
    r->host->pause(r->host->context, round);
}

static inline uint64_t core_now(const struct core_resident *r)
{
    return r->host->now(r->host->context);
}

static inline int32_t core_call(const struct core_resident *r, uint32_t thread,
                                const struct kernel_batch *batch, uint32_t entry, uint32_t block,
                                uint32_t blocks)
{
    return r->host->call(r->host->context, thread, entry, batch, block, blocks);
}

#endif
#endif
