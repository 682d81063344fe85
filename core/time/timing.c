/* SPDX-License-Identifier: MIT */
#include "core/time/timing.h"

#include "lang/hosted_assert.h"
#include "core/time/warp_loads.h"

#include <stddef.h>

uint64_t core_timing_warps(struct core_warp_shape shape, uint64_t firings)
{
    uint64_t full = firings / shape.firings_per_warp;
    return core_cycles_multiply(full + (firings % shape.firings_per_warp > 0),
                                shape.warps_per_firing);
}

/* The share is B x C / D bytes a cycle, so the time is D x bytes / (B x C). */
uint64_t core_timing_memory(const struct devdesc *description, uint32_t cu_count, uint64_t bytes)
{
    uint64_t narrow, share = core_cycles_multiply(description->memory_bytes_per_cycle, cu_count);
    if (bytes == 0 || share == 0) return 0;
    if (!__builtin_mul_overflow(bytes, (uint64_t)description->cu_count, &narrow))
        return (narrow - 1) / share + 1;
    unsigned __int128 cycles = ((unsigned __int128)bytes * description->cu_count - 1) / share + 1;
    return cycles > UINT64_MAX ? UINT64_MAX : (uint64_t)cycles;
}

/* ---- warps of different costs ---- */

static bool is_free_before(const struct core_timing_cu *a, const struct core_timing_cu *b)
{
    return a->busy_cycles != b->busy_cycles ? a->busy_cycles < b->busy_cycles
                                            : a->number < b->number;
}

/* Restores the heap after its first unit became busier. */
static void sift_down(struct core_timing_cu *heap, uint32_t count)
{
    struct core_timing_cu moved = heap[0];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = at * 2 + 1;
        if (child >= count) break;
        if (child + 1 < count && is_free_before(&heap[child + 1], &heap[child])) child++;
        if (!is_free_before(&heap[child], &moved)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* Puts every compute unit back at the index of its number, along the cycles of the permutation. */
static void sort_by_number(struct core_timing_cu *cus, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        while (cus[i].number != i) {
            struct core_timing_cu other = cus[cus[i].number];
            cus[cus[i].number] = cus[i];
            cus[i] = other;
        }
    }
}

/* Makes a heap by (busy, number): idle compute units in order are a heap. */
static void begin_idle(struct core_timing_cu *cus, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        cus[i] = (struct core_timing_cu){.number = i};
}

/* A warp of no cycles takes a place all the same, and its compute unit stays the first.  So `warps`,
 * not `busy_cycles`, shows which compute units got a warp. */
static void list_schedule(const struct core_timing_work *work, uint32_t cu_count,
                          struct core_timing_cu *cus, struct core_timing_execution *out)
{
    begin_idle(cus, cu_count);
    for (uint64_t i = 0; i < work->warps; i++) {
        uint64_t cycles = work->each[i];
        out->busy_cycles = core_cycles_add(out->busy_cycles, cycles);
        out->busy_cus += cus[0].warps == 0;
        cus[0].warps++;
        cus[0].busy_cycles = core_cycles_add(cus[0].busy_cycles, cycles);
        if (cus[0].busy_cycles > out->compute_cycles) out->compute_cycles = cus[0].busy_cycles;
        sift_down(cus, cu_count);
    }
    sort_by_number(cus, cu_count);
}

/* Number of compute units that get a warp.  Warps that take time go to idle units as long as there are
 * any.  Of the warps that take none, all up to the next one that does go to the same unit. */
static uint32_t busy_cus(const struct core_timing_work *work, uint32_t cu_count)
{
    uint32_t busy = 0;
    for (uint64_t i = 0; i < work->warps && busy < cu_count; i++)
        busy += work->each[i] > 0;
    bool ends_idle = work->warps > 0 && work->each[work->warps - 1] == 0;
    return busy < cu_count && ends_idle ? busy + 1 : busy;
}

/* list_schedule without the work of each compute unit. */
static void list_schedule_in_all(const struct core_timing_work *work, uint32_t cu_count,
                                 struct core_timing_cu *scratch, struct core_timing_execution *out)
{
    if (!core_warp_loads_end(work->each, work->warps, cu_count, &out->compute_cycles,
                             &out->busy_cycles)) {
        out->busy_cycles = 0;
        list_schedule(work, cu_count, scratch, out);
        return;
    }
    out->busy_cus = busy_cus(work, cu_count);
}

/* ---- warps of one cost, or on one compute unit ---- */

static uint64_t serial_cycles(const struct core_timing_work *work)
{
    if (work->each == NULL) return core_cycles_multiply(work->warps, work->warp_cycles);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < work->warps; i++)
        sum = core_cycles_add(sum, work->each[i]);
    return sum;
}

/* Warp i goes to compute unit i modulo `width`. */
static void deal_in_turn(const struct core_timing_work *work, uint32_t cu_count, uint32_t width,
                         struct core_timing_cu *cus)
{
    begin_idle(cus, cu_count);
    for (uint32_t i = 0; i < width; i++) {
        cus[i].warps = work->warps / width + (i < work->warps % width);
        cus[i].busy_cycles = core_cycles_multiply(cus[i].warps, work->warp_cycles);
    }
}

static void schedule_serially(const struct core_timing_work *work, uint32_t cu_count,
                              struct core_timing_cu *cus, struct core_timing_execution *out)
{
    out->compute_cycles = out->busy_cycles = serial_cycles(work);
    out->busy_cus = work->warps > 0;
    if (cus == NULL) return;
    begin_idle(cus, cu_count);
    cus[0].warps = work->warps;
    cus[0].busy_cycles = out->busy_cycles;
}

static void schedule_equal(const struct core_timing_work *work, uint32_t cu_count,
                           struct core_timing_cu *cus, struct core_timing_execution *out)
{
    uint64_t rounds = work->warps / cu_count + (work->warps % cu_count > 0);
    out->compute_cycles = core_cycles_multiply(rounds, work->warp_cycles);
    out->busy_cycles = core_cycles_multiply(work->warps, work->warp_cycles);
    out->busy_cus = work->warps < cu_count ? (uint32_t)work->warps : cu_count;
    if (work->warp_cycles == 0 && work->warps > 0) out->busy_cus = 1;
    if (cus != NULL) deal_in_turn(work, cu_count, out->busy_cus > 0 ? out->busy_cus : 1, cus);
}

static void add_memory(const struct devdesc *description, uint32_t cu_count,
                       const struct core_timing_work *work, struct core_timing_execution *out)
{
    out->memory_cycles = core_timing_memory(description, cu_count, work->memory_bytes);
    out->execute_cycles =
        out->compute_cycles > out->memory_cycles ? out->compute_cycles : out->memory_cycles;
}

static bool is_listed(const struct core_timing_work *work)
{
    return work->each != NULL && !work->serial;
}

struct core_timing_execution core_timing_execute(const struct devdesc *description,
                                                 uint32_t cu_count,
                                                 const struct core_timing_work *work,
                                                 struct core_timing_cu *cus)
{
    struct core_timing_execution out = {0};
    assert(cu_count >= 1 && (cus != NULL || !is_listed(work)));
    if (work->serial)
        schedule_serially(work, cu_count, cus, &out);
    else if (work->each == NULL)
        schedule_equal(work, cu_count, cus, &out);
    else
        list_schedule(work, cu_count, cus, &out);
    add_memory(description, cu_count, work, &out);
    return out;
}

struct core_timing_execution core_timing_execute_in_all(const struct devdesc *description,
                                                        uint32_t cu_count,
                                                        const struct core_timing_work *work,
                                                        struct core_timing_cu *scratch)
{
    struct core_timing_execution out = {0};
    assert(cu_count >= 1 && (scratch != NULL || !is_listed(work)));
    if (work->serial)
        schedule_serially(work, cu_count, NULL, &out);
    else if (work->each == NULL)
        schedule_equal(work, cu_count, NULL, &out);
    else
        list_schedule_in_all(work, cu_count, scratch, &out);
    add_memory(description, cu_count, work, &out);
    return out;
}

/* ---- interruptions ---- */

/* At least `warps` warps, in whole work-groups. */
static uint64_t whole_groups(uint64_t warps, uint32_t group_warps, uint64_t most)
{
    uint64_t groups = warps / group_warps + (warps % group_warps > 0);
    uint64_t whole = core_cycles_multiply(groups, group_warps);
    return whole < most ? whole : most;
}

static struct core_timing_cut cut_equal(uint32_t cu_count, const struct core_timing_work *work,
                                        uint32_t group_warps, uint64_t at_cycles)
{
    struct core_timing_cut cut = {.warps = work->warps};
    uint64_t cycles = work->warp_cycles;
    if (cycles > 0) {
        uint64_t begun =
            core_cycles_multiply(at_cycles / cycles + (at_cycles % cycles > 0), cu_count);
        cut.warps = whole_groups(begun, group_warps, work->warps);
    }
    uint64_t rounds = cut.warps / cu_count + (cut.warps % cu_count > 0);
    cut.cycles = core_cycles_multiply(rounds, cycles);
    return cut;
}

/* The next warp begins on the first compute unit of the heap. */
static struct core_timing_cut cut_listed(uint32_t cu_count, const struct core_timing_work *work,
                                         uint32_t group_warps, uint64_t at_cycles,
                                         struct core_timing_cu *cus)
{
    struct core_timing_cut cut = {0};
    begin_idle(cus, cu_count);
    for (; cut.warps < work->warps; cut.warps++) {
        if (cut.warps % group_warps == 0 && cus[0].busy_cycles >= at_cycles) break;
        cus[0].busy_cycles = core_cycles_add(cus[0].busy_cycles, work->each[cut.warps]);
        if (cus[0].busy_cycles > cut.cycles) cut.cycles = cus[0].busy_cycles;
        sift_down(cus, cu_count);
    }
    return cut;
}

struct core_timing_cut core_timing_cut(uint32_t cu_count, const struct core_timing_work *work,
                                       uint32_t group_warps, uint64_t at_cycles,
                                       struct core_timing_cu *cus)
{
    assert(cu_count >= 1 && group_warps >= 1 && !work->serial);
    if (at_cycles == 0) return (struct core_timing_cut){0};
    if (work->each == NULL) return cut_equal(cu_count, work, group_warps, at_cycles);
    return cut_listed(cu_count, work, group_warps, at_cycles, cus);
}

uint64_t core_timing_end(uint64_t begin_cycles, const struct core_timing_parts *parts)
{
    uint64_t end = core_cycles_add(begin_cycles, parts->launch_cycles);
    end = core_cycles_add(end, parts->switch_cycles);
    end = core_cycles_add(end, parts->index_cycles);
    end = core_cycles_add(end, parts->execute_cycles);
    end = core_cycles_add(end, parts->device_queue_cycles);
    return core_cycles_add(end, parts->cleanup_cycles);
}
