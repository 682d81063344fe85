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

/* ceil(a x b / c), of a and c above 0. */
static uint64_t scale_up(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t narrow;
    if (a == 0 || b == 0) return 0;
    if (!__builtin_mul_overflow(a, b, &narrow)) return (narrow - 1) / c + 1;
    unsigned __int128 cycles = ((unsigned __int128)a * b - 1) / c + 1;
    return cycles > UINT64_MAX ? UINT64_MAX : (uint64_t)cycles;
}

/* ---- memory ---- */

static uint64_t cus_at_work(const struct core_timing_work *work, uint32_t cu_count)
{
    if (work->serial || work->warps == 0) return 1;
    return work->warps < cu_count ? work->warps : cu_count;
}

/* Warps for which the cores of a compute unit have registers. */
static uint64_t warps_by_registers(const struct devdesc *description, uint64_t registers)
{
    const uint64_t cores = description->cores_per_cu, unit = description->register_unit;
    if (description->registers_per_item > 0 && registers > description->registers_per_item)
        registers = description->registers_per_item;
    uint64_t of_warp = (registers * description->lanes + unit - 1) / unit * unit;
    return description->registers_per_cu / cores / of_warp * cores;
}

uint32_t core_timing_resident(const struct devdesc *description, struct core_warp_shape shape,
                              struct core_timing_room room)
{
    const uint64_t most = description->resident_warps;
    uint64_t groups = most; /* that have room */
    if (most == 0) return 0;
    if (room.local_bytes > 0)
        groups = description->local_bytes / room.local_bytes / shape.firings_per_warp;
    if (room.registers > 0 && description->registers_per_cu > 0) {
        uint64_t by_registers =
            warps_by_registers(description, room.registers) / shape.warps_per_firing;
        if (by_registers < groups) groups = by_registers;
    }
    uint64_t warps = core_cycles_multiply(groups > 0 ? groups : 1, shape.warps_per_firing);
    return (uint32_t)(warps < most ? warps : most);
}

/* Warps that are on the compute units at a time. */
static uint64_t resident_warps(const struct core_timing_work *work, uint32_t cu_count)
{
    uint64_t room = core_cycles_multiply(work->resident, cus_at_work(work, cu_count));
    return work->serial || room == 0 || room > work->warps ? work->warps : room;
}

/* By Little's law F bytes under way bring F / L bytes a cycle to each compute unit at work. */
static uint64_t under_way_cycles(const struct devdesc *description, uint32_t cu_count,
                                 const struct core_timing_work *work)
{
    uint64_t bytes =
        core_cycles_multiply(description->memory_in_flight_bytes, cus_at_work(work, cu_count));
    return bytes == 0 ? 0 : scale_up(work->memory_bytes, description->memory_latency_cycles, bytes);
}

/* Warps after those that are there at first wait for their places. */
static uint64_t residence_cycles(const struct devdesc *description, uint32_t cu_count,
                                 const struct core_timing_work *work)
{
    uint64_t there = resident_warps(work, cu_count);
    if (there == 0) return 0;
    return scale_up(work->warps - there, description->warp_residence_cycles, there);
}

/* The share is B x C / D bytes a cycle, so the flow takes D x bytes / (B x C); B where launches share it as they need it.
 * Without a bandwidth it takes no time. */
static uint64_t flow_cycles(const struct devdesc *description, uint32_t cu_count, uint64_t bytes,
                            uint64_t bytes_per_cycle)
{
    if (description->memory_shared > 0) cu_count = description->cu_count;
    uint64_t share = core_cycles_multiply(bytes_per_cycle, cu_count);
    return share > 0 ? scale_up(bytes, description->cu_count, share) : 0;
}

static uint64_t greater_cycles(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Bytes that miss the caches wait for their turn there, too: they come later the more is under way. */
static uint64_t limited_cycles(const struct devdesc *description, uint32_t cu_count,
                               const struct core_timing_work *work)
{
    uint64_t under_way = under_way_cycles(description, cu_count, work);
    uint64_t missed = work->memory_bytes - work->cached_bytes;
    if (under_way == 0) return 0;
    return core_cycles_add(
        under_way, flow_cycles(description, cu_count, missed, description->cache_bytes_per_cycle));
}

uint64_t core_timing_both_ways(const struct devdesc *description,
                               const struct core_timing_work *work)
{
    if (work->memory_bytes == 0 || description->memory_bytes_per_cycle == 0) return 0;
    return core_cycles_multiply(2, description->memory_latency_cycles);
}

struct core_timing_flow core_timing_flow_of(const struct devdesc *description, uint32_t cu_count,
                                            const struct core_timing_work *work)
{
    struct core_timing_flow flow = {0};
    if (work->memory_bytes == 0 || description->memory_bytes_per_cycle == 0) return flow;
    uint64_t missed = work->memory_bytes - work->cached_bytes;
    uint64_t memory =
        flow_cycles(description, cu_count, missed, description->memory_bytes_per_cycle);
    uint64_t caches =
        flow_cycles(description, cu_count, work->memory_bytes, description->cache_bytes_per_cycle);
    uint64_t limited = greater_cycles(limited_cycles(description, cu_count, work),
                                      residence_cycles(description, cu_count, work));
    uint64_t asked = greater_cycles(memory, caches);
    flow.cycles = greater_cycles(asked, limited);
    if (description->memory_shared > 0)
        flow.share = scale_up(asked, CORE_TIMING_WHOLE, greater_cycles(flow.cycles, 1));
    return flow;
}

uint64_t core_timing_memory(const struct devdesc *description, uint32_t cu_count,
                            const struct core_timing_work *work)
{
    return core_cycles_add(core_timing_both_ways(description, work),
                           core_timing_flow_of(description, cu_count, work).cycles);
}

/* ---- places of compute units ---- */

/* A warp of so many cycles keeps its place for whole rounds of the cores. */
static uint64_t place_cycles(uint64_t warp_cycles, uint32_t cores)
{
    uint64_t rounds = warp_cycles / cores + (warp_cycles % cores > 0);
    return core_cycles_multiply(rounds, cores);
}

/* The end of the last of `warps` equal warps on one compute unit. */
static uint64_t equal_end(uint64_t warps, uint64_t warp_cycles, uint32_t cores)
{
    if (warps == 0 || warp_cycles == 0) return 0;
    uint64_t last = warps - 1;
    uint64_t begin = core_cycles_multiply(last / cores, place_cycles(warp_cycles, cores));
    return core_cycles_add(core_cycles_add(begin, last % cores), warp_cycles);
}

/* ---- warps of different costs ---- */

static bool is_free_before(const struct core_timing_cu *a, const struct core_timing_cu *b)
{
    return a->free_cycles != b->free_cycles ? a->free_cycles < b->free_cycles
                                            : a->number < b->number;
}

/* Restores the heap after its first place became busier. */
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

/* Puts every place back at the index of its number, along the cycles of the permutation. */
static void sort_by_number(struct core_timing_cu *places, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        while (places[i].number != i) {
            struct core_timing_cu other = places[places[i].number];
            places[places[i].number] = places[i];
            places[i] = other;
        }
    }
}

/* Place p of compute unit c has the number p x cu_count + c, and is free from cycle p on.  Idle places
 * in order are a heap by (free, number). */
static void begin_idle(struct core_timing_cu *places, uint32_t cu_count, uint32_t cores)
{
    for (uint32_t i = 0; i < cu_count * cores; i++)
        places[i] = (struct core_timing_cu){.free_cycles = i / cu_count, .number = i};
}

/* The next warp, on the place that is free first. */
static void take_place(struct core_timing_cu *heap, uint32_t count, uint64_t cycles, uint32_t cores)
{
    struct core_timing_cu *first = &heap[0];
    first->warps++;
    if (cycles > 0) first->busy_cycles = core_cycles_add(first->free_cycles, cycles);
    first->free_cycles = core_cycles_add(first->free_cycles, place_cycles(cycles, cores));
    sift_down(heap, count);
}

/* The work of a compute unit is that of its places, and ends with the last of them. */
static void add_places(struct core_timing_cu *places, uint32_t cu_count, uint32_t cores)
{
    for (uint32_t i = cu_count; i < cu_count * cores; i++) {
        struct core_timing_cu *cu = &places[i % cu_count];
        cu->warps += places[i].warps;
        if (places[i].busy_cycles > cu->busy_cycles) cu->busy_cycles = places[i].busy_cycles;
    }
}

/* A warp of no cycles takes a place all the same, which stays the first one.  So `warps`, not
 * `busy_cycles`, shows which compute units got a warp. */
static void list_schedule(const struct core_timing_work *work, uint32_t cu_count, uint32_t cores,
                          struct core_timing_cu *places, struct core_timing_execution *out)
{
    const uint32_t count = cu_count * cores;
    begin_idle(places, cu_count, cores);
    for (uint64_t i = 0; i < work->warps; i++)
        take_place(places, count, work->each[i], cores);
    sort_by_number(places, count);
    add_places(places, cu_count, cores);
    for (uint32_t i = 0; i < cu_count; i++) {
        uint64_t busy = places[i].busy_cycles;
        out->busy_cus += places[i].warps > 0;
        out->busy_cycles = core_cycles_add(out->busy_cycles, busy);
        if (busy > out->compute_cycles) out->compute_cycles = busy;
    }
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
                                 uint32_t cores, struct core_timing_cu *scratch,
                                 struct core_timing_execution *out)
{
    if (cores > 1 || !core_warp_loads_end(work->each, work->warps, cu_count, &out->compute_cycles,
                                          &out->busy_cycles)) {
        out->busy_cycles = 0;
        list_schedule(work, cu_count, cores, scratch, out);
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
                         uint32_t cores, struct core_timing_cu *cus)
{
    begin_idle(cus, cu_count, 1);
    for (uint32_t i = 0; i < width; i++) {
        cus[i].warps = work->warps / width + (i < work->warps % width);
        cus[i].busy_cycles = equal_end(cus[i].warps, work->warp_cycles, cores);
    }
}

static void schedule_serially(const struct core_timing_work *work, uint32_t cu_count,
                              struct core_timing_cu *cus, struct core_timing_execution *out)
{
    out->compute_cycles = out->busy_cycles = serial_cycles(work);
    out->busy_cus = work->warps > 0;
    if (cus == NULL) return;
    begin_idle(cus, cu_count, 1);
    cus[0].warps = work->warps;
    cus[0].busy_cycles = out->busy_cycles;
}

static void schedule_equal(const struct core_timing_work *work, uint32_t cu_count, uint32_t cores,
                           struct core_timing_cu *cus, struct core_timing_execution *out)
{
    uint64_t each = work->warps / cu_count, cycles = work->warp_cycles;
    uint32_t with_one_more = (uint32_t)(work->warps % cu_count);
    uint64_t longer = equal_end(each + 1, cycles, cores), shorter = equal_end(each, cycles, cores);
    out->compute_cycles = with_one_more > 0 ? longer : shorter;
    out->busy_cycles = core_cycles_add(core_cycles_multiply(longer, with_one_more),
                                       core_cycles_multiply(shorter, cu_count - with_one_more));
    out->busy_cus = work->warps < cu_count ? (uint32_t)work->warps : cu_count;
    if (cycles == 0 && work->warps > 0) out->busy_cus = 1;
    if (cus != NULL)
        deal_in_turn(work, cu_count, out->busy_cus > 0 ? out->busy_cus : 1, cores, cus);
}

/* A warp executes an instruction every so many cycles, while others of its compute unit do. */
static uint64_t latency_cycles(const struct devdesc *description, uint32_t cu_count,
                               const struct core_timing_work *work)
{
    const uint64_t latency = description->instruction_latency_cycles;
    if (latency <= 1 && work->resident == 0) return 0;
    uint64_t sum = serial_cycles(work), longest = work->warps > 0 ? work->warp_cycles : 0;
    if (work->serial) return core_cycles_multiply(sum, latency);
    for (uint64_t i = 0; work->each != NULL && i < work->warps; i++)
        longest = i == 0 ? work->each[0] : greater_cycles(longest, work->each[i]);
    uint64_t there = resident_warps(work, cu_count);
    uint64_t in_turn = there > 0 ? scale_up(sum, latency, there) : 0;
    return greater_cycles(core_cycles_multiply(longest, latency), in_turn);
}

/* Adds the time after the last instruction has been issued. */
static void add_latencies(const struct devdesc *description, uint32_t cu_count,
                          const struct core_timing_work *work, struct core_timing_execution *out)
{
    out->issue_cycles = out->compute_cycles;
    out->compute_cycles =
        greater_cycles(out->issue_cycles, latency_cycles(description, cu_count, work));
    out->flow = core_timing_flow_of(description, cu_count, work);
    out->both_ways_cycles = core_timing_both_ways(description, work);
    out->memory_cycles = core_cycles_add(out->both_ways_cycles, out->flow.cycles);
    out->execute_cycles = greater_cycles(
        core_cycles_add(out->both_ways_cycles, out->compute_cycles), out->memory_cycles);
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
        schedule_equal(work, cu_count, description->cores_per_cu, cus, &out);
    else
        list_schedule(work, cu_count, description->cores_per_cu, cus, &out);
    add_latencies(description, cu_count, work, &out);
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
        schedule_equal(work, cu_count, description->cores_per_cu, NULL, &out);
    else
        list_schedule_in_all(work, cu_count, description->cores_per_cu, scratch, &out);
    add_latencies(description, cu_count, work, &out);
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

/* Warps that begin on a compute unit before that moment, of any number of equal ones. */
static uint64_t begun_before(uint64_t at_cycles, uint64_t warp_cycles, uint32_t cores)
{
    uint64_t step = place_cycles(warp_cycles, cores), last = at_cycles - 1;
    uint64_t of_round = last % step < cores ? last % step + 1 : cores;
    return core_cycles_add(core_cycles_multiply(last / step, cores), of_round);
}

static struct core_timing_cut cut_equal(uint32_t cu_count, uint32_t cores,
                                        const struct core_timing_work *work, uint32_t group_warps,
                                        uint64_t at_cycles)
{
    struct core_timing_cut cut = {.warps = work->warps};
    uint64_t cycles = work->warp_cycles;
    if (cycles > 0) {
        uint64_t begun = core_cycles_multiply(begun_before(at_cycles, cycles, cores), cu_count);
        cut.warps = whole_groups(begun, group_warps, work->warps);
    }
    cut.cycles = equal_end(cut.warps / cu_count + (cut.warps % cu_count > 0), cycles, cores);
    return cut;
}

/* The next warp begins on the first place of the heap. */
static struct core_timing_cut cut_listed(uint32_t cu_count, uint32_t cores,
                                         const struct core_timing_work *work, uint32_t group_warps,
                                         uint64_t at_cycles, struct core_timing_cu *places)
{
    struct core_timing_cut cut = {0};
    begin_idle(places, cu_count, cores);
    for (; cut.warps < work->warps; cut.warps++) {
        uint64_t cycles = work->each[cut.warps];
        if (cut.warps % group_warps == 0 && places[0].free_cycles >= at_cycles) break;
        uint64_t end = cycles > 0 ? core_cycles_add(places[0].free_cycles, cycles) : 0;
        if (end > cut.cycles) cut.cycles = end;
        take_place(places, cu_count * cores, cycles, cores);
    }
    return cut;
}

struct core_timing_cut core_timing_cut(const struct devdesc *description, uint32_t cu_count,
                                       const struct core_timing_work *work, uint32_t group_warps,
                                       uint64_t at_cycles, struct core_timing_cu *cus)
{
    const uint32_t cores = description->cores_per_cu;
    assert(cu_count >= 1 && group_warps >= 1 && !work->serial);
    if (at_cycles == 0) return (struct core_timing_cut){0};
    struct core_timing_cut cut =
        work->each == NULL ? cut_equal(cu_count, cores, work, group_warps, at_cycles)
                           : cut_listed(cu_count, cores, work, group_warps, at_cycles, cus);
    struct core_timing_work begun = *work;
    begun.warps = cut.warps;
    cut.cycles = greater_cycles(cut.cycles, latency_cycles(description, cu_count, &begun));
    return cut;
}

/* ---- launches that overlap ---- */

uint64_t core_timing_there(uint64_t start_cycles, const struct core_timing_execution *execution)
{
    return core_cycles_add(start_cycles, execution->both_ways_cycles / 2);
}

uint64_t core_timing_executed(uint64_t there_cycles, const struct core_timing_execution *execution,
                              uint64_t flowed_cycles, uint64_t *issued_cycles)
{
    uint64_t end = core_cycles_add(there_cycles, execution->compute_cycles);
    *issued_cycles =
        core_cycles_add(greater_cycles(there_cycles, *issued_cycles), execution->issue_cycles);
    end = greater_cycles(greater_cycles(end, *issued_cycles), flowed_cycles);
    return core_cycles_add(end, execution->both_ways_cycles / 2);
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
