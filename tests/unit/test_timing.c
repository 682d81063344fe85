/* SPDX-License-Identifier: MIT */
/* The formulas of time against what they mean: a clock that ticks, and counting. */
#include "tests/test.h"

#include "core/time/caches.h"
#include "core/time/timing.h"

enum { CUS_MOST = 16, WARPS_MOST = 60 };

struct random {
    uint64_t state;
};

static uint64_t draw(struct random *random, uint64_t low, uint64_t high)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return low + (random->state >> 33) % (high - low + 1);
}

static struct devdesc device_of(uint32_t cu_count, uint64_t memory_bytes_per_cycle)
{
    return (struct devdesc){.cu_count = cu_count,
                            .lanes = 8,
                            .cores_per_cu = 1,
                            .memory_bytes_per_cycle = memory_bytes_per_cycle};
}

/* ---- warps ---- */

static void warps_are_those_that_firings_fill(void **unused)
{
    (void)unused;
    const struct {
        uint32_t firings_per_warp, warps_per_firing;
        uint64_t firings, warps;
    } cases[] = {{8, 1, 0, 0}, {8, 1, 1, 1}, {8, 1, 8, 1},  {8, 1, 9, 2},
                 {1, 1, 9, 9}, {1, 3, 0, 0}, {1, 3, 7, 21}, {5, 1, 25, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct core_warp_shape shape = {cases[i].firings_per_warp, cases[i].warps_per_firing};
        assert_int_equal(core_timing_warps(shape, cases[i].firings), cases[i].warps);
    }
    assert_true(core_timing_warps((struct core_warp_shape){1, 3}, UINT64_MAX) == UINT64_MAX);
    assert_true(core_timing_warps((struct core_warp_shape){2, 1}, UINT64_MAX) ==
                UINT64_MAX / 2 + 1);
}

/* ---- compute ---- */

struct ticking { /* a compute unit on which time passes */
    uint64_t left, busy, warps;
};

/* Each cycle every free compute unit, the lowest first, takes the next warps until one lasts.
 * Returns the cycle in which the last one ends. */
static uint64_t tick(uint32_t cu_count, const uint64_t *warp_cycles, uint64_t warps,
                     struct ticking *cus)
{
    uint64_t next = 0, now = 0, end = 0;
    memset(cus, 0, cu_count * sizeof *cus);
    for (;; now++) {
        bool busy = false;
        for (uint32_t i = 0; i < cu_count; i++) {
            while (cus[i].left == 0 && next < warps) {
                cus[i].left = warp_cycles[next++];
                cus[i].busy += cus[i].left;
                cus[i].warps++;
            }
            if (cus[i].left == 0) continue;
            cus[i].left--;
            busy = true;
            end = now + 1;
        }
        if (!busy) return end;
    }
}

static void warps_go_to_the_compute_unit_that_is_free_first(void **unused)
{
    (void)unused;
    struct random random = {1};
    for (int round = 0; round < 3000; round++) {
        uint64_t each[WARPS_MOST], sum = 0;
        struct ticking expected[CUS_MOST];
        struct core_timing_cu cus[CUS_MOST];
        uint32_t cu_count = (uint32_t)draw(&random, 1, CUS_MOST), busy_cus = 0;
        uint64_t warps = draw(&random, 0, WARPS_MOST), longest = draw(&random, 0, 30);
        for (uint64_t i = 0; i < warps; i++)
            sum += each[i] = draw(&random, 0, longest);
        uint64_t end = tick(cu_count, each, warps, expected);
        struct devdesc device = device_of(CUS_MOST, 1);
        struct core_timing_work work = {.warps = warps, .each = each};
        struct core_timing_execution e = core_timing_execute(&device, cu_count, &work, cus);
        assert_int_equal(e.compute_cycles, end);
        assert_int_equal(e.execute_cycles, end);
        assert_int_equal(e.busy_cycles, sum);
        for (uint32_t i = 0; i < cu_count; i++) {
            assert_int_equal(cus[i].number, i);
            assert_int_equal(cus[i].busy_cycles, expected[i].busy);
            assert_int_equal(cus[i].warps, expected[i].warps);
            busy_cus += expected[i].warps > 0;
        }
        assert_int_equal(e.busy_cus, busy_cus);
    }
}

static void assert_same(const struct core_timing_execution *a,
                        const struct core_timing_execution *b)
{
    assert_int_equal(a->compute_cycles, b->compute_cycles);
    assert_int_equal(a->memory_cycles, b->memory_cycles);
    assert_int_equal(a->execute_cycles, b->execute_cycles);
    assert_int_equal(a->busy_cycles, b->busy_cycles);
    assert_int_equal(a->busy_cus, b->busy_cus);
}

/* Numbers of compute units on both sides of what fits one vector, two, and any; costs on both sides of
 * 31 bits. */
static void what_all_take_does_not_depend_on_how_it_is_found(void **unused)
{
    (void)unused;
    enum { MOST = 300, CUS = 80 };
    static const uint64_t longest[] = {0, 1, 2, 9, 40, 1000, 5000000, 20000000, 3000000000u};
    struct random random = {77};
    struct devdesc device = device_of(CUS, 1);
    for (int round = 0; round < 20000; round++) {
        uint64_t each[MOST], most = longest[draw(&random, 0, 8)];
        uint64_t least = draw(&random, 0, 2) == 0 ? most - most / 8 : 0;
        struct core_timing_cu cus[CUS], scratch[CUS];
        uint32_t cu_count = (uint32_t)draw(&random, 1, CUS);
        struct core_timing_work work = {.warps = draw(&random, 0, MOST), .each = each};
        for (uint64_t i = 0; i < work.warps; i++)
            each[i] = draw(&random, 0, 4) == 0 ? least : draw(&random, least, most);
        struct core_timing_execution a = core_timing_execute(&device, cu_count, &work, cus);
        struct core_timing_execution b =
            core_timing_execute_in_all(&device, cu_count, &work, scratch);
        assert_same(&a, &b);
    }
}

/* Several cores: lang/time.md, "Compute", has these figures. */
static void cores_share_the_warps_of_a_compute_unit(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t cores;
        uint64_t warps, cycles, end; /* on two compute units */
    } cases[] = {{4, 0, 10, 0},  {4, 2, 10, 10}, {4, 8, 10, 13}, {4, 9, 10, 22}, {4, 16, 10, 25},
                 {4, 17, 8, 24}, {2, 8, 5, 12},  {1, 8, 5, 20},  {3, 1, 7, 7},   {4, 40, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct devdesc device = device_of(2, 1);
        device.cores_per_cu = cases[i].cores;
        struct core_timing_work work = {.warps = cases[i].warps, .warp_cycles = cases[i].cycles};
        assert_int_equal(core_timing_execute(&device, 2, &work, NULL).compute_cycles, cases[i].end);
    }
}

/* 4 cores, warps of 10 cycles, one compute unit: warps begin in cycles 0 to 3, 12 to 15, 24 .. */
static void an_interruption_counts_the_warps_of_all_cores(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t at, warps, end;
    } cases[] = {{1, 1, 10}, {2, 2, 11}, {4, 4, 13}, {12, 4, 13}, {13, 5, 22}, {100, 9, 34}};
    uint64_t each[9];
    struct devdesc device = device_of(1, 1);
    device.cores_per_cu = 4;
    for (size_t i = 0; i < 9; i++)
        each[i] = 10;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct core_timing_cu places[4];
        struct core_timing_work work = {.warps = 9, .warp_cycles = 10};
        struct core_timing_cut equal = core_timing_cut(&device, 1, &work, 1, cases[i].at, NULL);
        work.each = each;
        struct core_timing_cut listed = core_timing_cut(&device, 1, &work, 1, cases[i].at, places);
        assert_int_equal(equal.warps, cases[i].warps);
        assert_int_equal(equal.cycles, cases[i].end);
        assert_int_equal(listed.warps, cases[i].warps);
        assert_int_equal(listed.cycles, cases[i].end);
    }
}

static void equal_warps_need_no_looking_at(void **unused)
{
    (void)unused;
    uint64_t each[WARPS_MOST];
    for (uint32_t cu_count = 1; cu_count <= CUS_MOST; cu_count++) {
        for (uint64_t warps = 0; warps <= WARPS_MOST; warps++) {
            struct core_timing_cu closed[CUS_MOST * 4], listed[CUS_MOST * 4];
            uint64_t cost = warps % 5 * 7;
            struct devdesc device = device_of(CUS_MOST, 1);
            device.cores_per_cu = 1 + (uint32_t)(warps + cu_count) % 4;
            for (uint64_t i = 0; i < warps; i++)
                each[i] = cost;
            struct core_timing_work work = {.warps = warps, .warp_cycles = cost};
            struct core_timing_execution a = core_timing_execute(&device, cu_count, &work, closed);
            struct core_timing_execution c = core_timing_execute(&device, cu_count, &work, NULL);
            work.each = each;
            struct core_timing_execution b = core_timing_execute(&device, cu_count, &work, listed);
            if (device.cores_per_cu == 1)
                assert_int_equal(a.compute_cycles, (warps + cu_count - 1) / cu_count * cost);
            assert_same(&a, &b);
            assert_same(&a, &c);
            for (uint32_t i = 0; i < cu_count; i++) {
                assert_int_equal(closed[i].busy_cycles, listed[i].busy_cycles);
                assert_int_equal(closed[i].warps, listed[i].warps);
            }
        }
    }
}

static void state_leaves_one_compute_unit_busy(void **unused)
{
    (void)unused;
    const uint64_t each[] = {3, 1, 4, 1, 5};
    struct devdesc device = device_of(4, 1);
    struct core_timing_cu cus[4];
    struct core_timing_work work = {.warps = 5, .each = each, .serial = true};
    struct core_timing_execution e = core_timing_execute(&device, 4, &work, cus);
    assert_int_equal(e.compute_cycles, 14);
    assert_int_equal(e.busy_cycles, 14);
    assert_int_equal(e.busy_cus, 1);
    assert_int_equal(cus[0].warps, 5);
    assert_int_equal(cus[1].warps, 0);
    work = (struct core_timing_work){.warps = 33, .warp_cycles = 10, .serial = true};
    assert_int_equal(core_timing_execute(&device, 4, &work, NULL).compute_cycles, 330);
}

/* ---- memory ---- */

static uint64_t memory_of(const struct devdesc *device, uint32_t part, uint64_t bytes)
{
    const struct core_timing_work work = {.warps = 1, .memory_bytes = bytes};
    return core_timing_memory(device, part, &work);
}

/* The smallest t in which the share carries the bytes: t x B x C / D >= bytes. */
static void the_share_of_the_bandwidth_is_exact(void **unused)
{
    (void)unused;
    struct random random = {2};
    for (int round = 0; round < 20000; round++) {
        uint32_t cus = (uint32_t)draw(&random, 1, 24), part = (uint32_t)draw(&random, 1, cus);
        uint64_t bandwidth = draw(&random, 1, 300), bytes = draw(&random, 0, 100000);
        struct devdesc device = device_of(cus, bandwidth);
        uint64_t t = memory_of(&device, part, bytes);
        assert_true(t * bandwidth * part >= bytes * cus);
        assert_true(t == 0 || (t - 1) * bandwidth * part < bytes * cus);
    }
}

/* The first packets take the latency to come, the last ones to go; nothing takes none. */
static void packets_come_and_go_with_the_latency_of_memory(void **unused)
{
    (void)unused;
    struct devdesc device = device_of(4, 64);
    device.memory_latency_cycles = 400;
    assert_int_equal(memory_of(&device, 4, 0), 0);
    assert_int_equal(memory_of(&device, 4, 1), 801);
    assert_int_equal(memory_of(&device, 4, 6400), 900);
    assert_int_equal(memory_of(&device, 1, 6400), 1200);
}

/* The smallest t for which each compute unit at work, with F bytes under way for L cycles each, has
 * moved its part of the bytes: t x F x U >= bytes x L. */
static void bytes_under_way_are_those_of_the_compute_units_at_work(void **unused)
{
    (void)unused;
    struct random random = {4};
    int limited = 0;
    for (int round = 0; round < 20000; round++) {
        uint32_t part = (uint32_t)draw(&random, 1, 24);
        struct core_timing_work work = {.warps = draw(&random, 0, 40),
                                        .serial = draw(&random, 0, 3) == 0,
                                        .memory_bytes = draw(&random, 1, 100000)};
        struct devdesc device = device_of(24, draw(&random, 1, 3000));
        uint64_t flow = core_timing_memory(&device, part, &work);
        uint64_t latency = draw(&random, 0, 900), bytes = draw(&random, 1, 5000), at_work = 1;
        device.memory_latency_cycles = (uint32_t)latency;
        device.memory_in_flight_bytes = bytes;
        while (!work.serial && at_work < part && at_work < work.warps)
            at_work++;
        uint64_t t = core_timing_memory(&device, part, &work) - 2 * latency;
        assert_true(t >= flow && t * bytes * at_work >= work.memory_bytes * latency);
        assert_true(t == flow || (t - 1) * bytes * at_work < work.memory_bytes * latency);
        limited += t > flow;
    }
    assert_true(limited > 5000 && limited < 19000);
}

/* Memory carries what the caches miss, the caches carry all. */
static void what_caches_serve_does_not_come_from_memory(void **unused)
{
    (void)unused;
    struct devdesc device = device_of(4, 10);
    struct core_timing_work work = {.warps = 4, .memory_bytes = 1000, .cached_bytes = 600};
    device.cache_bytes_per_cycle = 40;
    assert_int_equal(core_timing_memory(&device, 4, &work), 40);
    assert_int_equal(core_timing_memory(&device, 1, &work), 160);
    work.cached_bytes = 1000;
    assert_int_equal(core_timing_memory(&device, 4, &work), 25);
    device.memory_latency_cycles = 7;
    assert_int_equal(core_timing_memory(&device, 4, &work), 39);
}

/* Bytes that miss are under way, then wait for the caches. */
static void what_misses_waits_for_the_caches_too(void **unused)
{
    (void)unused;
    struct devdesc device = device_of(4, 1000);
    struct core_timing_work work = {.warps = 4, .memory_bytes = 1000, .cached_bytes = 600};
    device.cache_bytes_per_cycle = 40;
    device.memory_latency_cycles = 100;
    device.memory_in_flight_bytes = 500;
    assert_int_equal(core_timing_memory(&device, 4, &work), 200 + 50 + 10);
    assert_int_equal(core_timing_memory(&device, 1, &work), 200 + 200 + 40);
    work.cached_bytes = 1000;
    assert_int_equal(core_timing_memory(&device, 4, &work), 200 + 50);
}

/* ---- warps on a compute unit ---- */

/* Each place takes a warp, when the one before has been there for its time; warps are shared out evenly,
 * to a fraction of one. */
static void warps_wait_for_places(void **unused)
{
    (void)unused;
    struct random random = {6};
    for (int round = 0; round < 5000; round++) {
        struct devdesc device = device_of(8, 1u << 20);
        uint64_t warps = draw(&random, 1, 500), cus = draw(&random, 1, 8), there = 0;
        uint64_t held = draw(&random, 1, 20), stay = draw(&random, 0, 300);
        struct core_timing_work work = {
            .warps = warps, .memory_bytes = 1, .resident = (uint32_t)held};
        device.warp_residence_cycles = (uint32_t)stay;
        while (there < warps && there < cus * held)
            there++;
        uint64_t t = core_timing_memory(&device, (uint32_t)cus, &work);
        assert_true(t >= 1 && t * there >= (warps - there) * stay);
        assert_true(t == 1 || (t - 1) * there < (warps - there) * stay);
        work.serial = true;
        assert_int_equal(core_timing_memory(&device, (uint32_t)cus, &work), 1);
    }
}

static uint32_t held(const struct devdesc *device, struct core_warp_shape shape,
                     uint64_t local_bytes, uint32_t registers)
{
    return core_timing_resident(device, shape, (struct core_timing_room){local_bytes, registers});
}

static void local_memory_has_room_for_whole_work_groups(void **unused)
{
    (void)unused;
    struct devdesc device = device_of(8, 1);
    const struct core_warp_shape single = {1, 1}, of_8 = {1, 8}, shared = {4, 1};
    device.local_bytes = 228 << 10;
    assert_int_equal(held(&device, of_8, 63 << 10, 0), 0);
    device.resident_warps = 64;
    assert_int_equal(held(&device, single, 0, 0), 64);
    assert_int_equal(held(&device, of_8, 63 << 10, 0), 24);
    assert_int_equal(held(&device, of_8, 200 << 10, 0), 8);
    assert_int_equal(held(&device, of_8, 16, 0), 64);
    assert_int_equal(held(&device, shared, 10 << 10, 0), 5);
    assert_int_equal(held(&device, shared, 100 << 10, 0), 1);
}

/* The figures of lang/time.md, "Occupancy". */
static void cores_have_registers_for_whole_work_groups(void **unused)
{
    (void)unused;
    struct devdesc device = device_of(132, 1);
    const struct core_warp_shape single = {1, 1}, of_5 = {1, 5}, of_64 = {1, 64}, shared = {4, 1};
    device.lanes = 32;
    device.cores_per_cu = 4;
    device.registers_per_cu = 65536;
    device.register_unit = 256;
    assert_int_equal(held(&device, single, 0, 40), 0);
    device.resident_warps = 64;
    assert_int_equal(held(&device, single, 0, 0), 64);
    assert_int_equal(held(&device, single, 0, 30), 64);
    assert_int_equal(held(&device, single, 0, 32), 64);
    assert_int_equal(held(&device, single, 0, 33), 48);
    assert_int_equal(held(&device, single, 0, 40), 48);
    assert_int_equal(held(&device, shared, 0, 40), 48);
    assert_int_equal(held(&device, of_5, 0, 40), 45);
    assert_int_equal(held(&device, of_64, 0, 40), 64);
    assert_int_equal(held(&device, of_5, 100 << 10, 40), 5);
    assert_int_equal(held(&device, single, 0, 1000), 1);
    device.registers_per_item = 255;
    assert_int_equal(held(&device, single, 0, 1000), 8);
    device.register_unit = 1;
    assert_int_equal(held(&device, single, 0, 33), 60);
    device.registers_per_cu = 0;
    assert_int_equal(held(&device, single, 0, 1000), 64);
}

/* The figures of lang/time.md, "Compute". */
static void warps_of_a_compute_unit_hide_each_others_latency(void **unused)
{
    (void)unused;
    struct devdesc device = device_of(132, 1);
    struct core_timing_work work = {.warps = 128, .warp_cycles = 2048, .resident = 64};
    device.cores_per_cu = 4;
    device.instruction_latency_cycles = 4;
    struct core_timing_execution e = core_timing_execute(&device, 132, &work, NULL);
    assert_int_equal(e.compute_cycles, 8192);
    assert_int_equal(e.issue_cycles, 2048);
    work.warps = 131072;
    e = core_timing_execute(&device, 132, &work, NULL);
    assert_int_equal(e.compute_cycles, 509952);
    assert_int_equal(e.issue_cycles, 509952);
    work.resident = 4;
    e = core_timing_execute(&device, 132, &work, NULL);
    assert_int_equal(e.compute_cycles, (UINT64_C(4) * 131072 * 2048 + 527) / 528);
    work.serial = true;
    assert_int_equal(core_timing_execute(&device, 132, &work, NULL).compute_cycles,
                     UINT64_C(4) * 131072 * 2048);
}

static void the_dearest_warp_counts_with_its_pauses(void **unused)
{
    (void)unused;
    struct devdesc device = device_of(4, 1);
    struct core_timing_cu cus[4];
    const uint64_t each[] = {3, 70, 5, 1, 2};
    struct core_timing_work work = {.warps = 5, .each = each};
    device.instruction_latency_cycles = 6;
    assert_int_equal(core_timing_execute(&device, 4, &work, cus).compute_cycles, 420);
    work.resident = 1;
    assert_int_equal(core_timing_execute(&device, 1, &work, cus).compute_cycles, 6 * 81);
    struct core_timing_cut cut = core_timing_cut(&device, 1, &work, 1, 4, cus);
    assert_int_equal(cut.warps, 2);
    assert_int_equal(cut.cycles, 6 * 73);
}

/* The figures of lang/time.md, "Overlap"; then one with more to issue, and one that moves nothing. */
static void executions_overlap_as_far_as_both_ways_are_free(void **unused)
{
    (void)unused;
    uint64_t issued = 0;
    struct core_timing_execution e = {
        .issue_cycles = 12, .compute_cycles = 48, .both_ways_cycles = 844};
    for (uint64_t i = 1; i <= 4; i++) {
        uint64_t there = core_timing_there(525 * i, &e);
        assert_int_equal(there, 525 * i + 422);
        assert_int_equal(core_timing_executed(there, &e, there + 16, &issued), 525 * i + 892);
    }
    e = (struct core_timing_execution){
        .issue_cycles = 1000, .compute_cycles = 4000, .both_ways_cycles = 844};
    assert_int_equal(core_timing_executed(3422, &e, 3422 + 5000, &issued), 3000 + 5844);
    assert_int_equal(core_timing_executed(3522, &e, 3422 + 10000, &issued), 3422 + 10000 + 422);
    assert_int_equal(issued, 3422 + 2000);
    e = (struct core_timing_execution){.issue_cycles = 100, .compute_cycles = 700};
    assert_int_equal(core_timing_executed(3200, &e, 0, &issued), 5522);
    assert_int_equal(core_timing_executed(4600, &e, 0, &issued), 5622);
    assert_int_equal(core_timing_executed(5600, &e, 0, &issued), 6300);
}

/* ---- caches ---- */

static void the_caches_are_those_of_the_widest_level(void **unused)
{
    (void)unused;
    struct devdesc device = device_of(12, 10);
    device.cus_per_domain[DEVDESC_L3] = 6;
    device.cus_per_domain[DEVDESC_L2] = 3;
    device.cache_bytes[DEVDESC_L2] = 100;
    assert_int_equal(core_caches_of(&device).bytes, 0);
    device.cache_bytes_per_cycle = 1;
    assert_int_equal(core_caches_of(&device).bytes, 100);
    assert_int_equal(core_caches_of(&device).cus, 3);
    device.cache_bytes[DEVDESC_L3] = 1000;
    assert_int_equal(core_caches_of(&device).bytes, 1000);
    assert_int_equal(core_caches_of(&device).cus, 6);
}

/* Domains of four compute units. */
static void packets_are_found_in_domains_that_both_ends_touch(void **unused)
{
    (void)unused;
    const struct core_caches caches = {.bytes = 1000, .cus = 4};
    struct core_domains one = core_caches_domains(caches, 4, 4);
    struct core_domains two = core_caches_domains(caches, 3, 2);
    struct core_domains three = core_caches_domains(caches, 7, 6);
    assert_true(one.first == 1 && one.last == 1 && two.first == 0 && two.last == 1);
    assert_true(three.first == 1 && three.last == 3);
    assert_int_equal(core_caches_found(one, one), 65536);
    assert_int_equal(core_caches_found(two, two), 32768);
    assert_int_equal(core_caches_found(one, two), 32768);
    assert_int_equal(core_caches_found(two, three), 10922);
    assert_int_equal(core_caches_found(core_caches_domains(caches, 0, 4), one), 0);
    assert_int_equal(core_caches_share(1000, three), 334);
    assert_int_equal(core_caches_share(UINT64_MAX, one), UINT64_MAX);
}

/* Sizes and a capacity at random: those up to the found size fit, those up to the next one do not. */
static void buffers_stay_from_the_smallest_on_while_they_fit(void **unused)
{
    (void)unused;
    struct random random = {5};
    enum { MOST = 12 };
    for (int round = 0; round < 5000; round++) {
        uint64_t bytes[MOST], capacity = draw(&random, 0, 400), in = 0, next = UINT64_MAX, more = 0;
        size_t count = (size_t)draw(&random, 0, MOST);
        for (size_t i = 0; i < count; i++)
            bytes[i] = draw(&random, 0, 3) * draw(&random, 0, 40);
        uint64_t largest = core_caches_largest(capacity, bytes, count);
        for (size_t i = 0; i < count; i++) {
            if (bytes[i] <= largest)
                in += bytes[i];
            else if (bytes[i] < next)
                next = bytes[i];
        }
        for (size_t i = 0; i < count; i++)
            more += bytes[i] == next ? bytes[i] : 0;
        assert_true(in <= capacity);
        assert_true(next == UINT64_MAX || in + more > capacity);
    }
    const uint64_t huge[] = {UINT64_MAX, UINT64_MAX, 3};
    assert_true(core_caches_largest(UINT64_MAX - 1, huge, 3) < UINT64_MAX);
}

static void the_part_of_the_caches_is_rounded_down(void **unused)
{
    (void)unused;
    assert_int_equal(core_caches_part(100, 1, 3), 33);
    assert_int_equal(core_caches_part(100, 0, 3), 0);
    assert_int_equal(core_caches_part(100, 3, 3), 100);
    assert_int_equal(core_caches_part(100, 0, 0), 0);
    assert_true(core_caches_part(UINT64_MAX, UINT64_MAX / 2, UINT64_MAX) == UINT64_MAX / 2);
}

static void time_is_bytes_by_bandwidth_beyond_the_ridge(void **unused)
{
    (void)unused;
    struct devdesc device = device_of(16, 256);
    for (uint32_t part = 1; part <= 16; part *= 2) {
        uint64_t share = UINT64_C(16) * part; /* bytes a cycle */
        struct core_timing_work work = {.warps = UINT64_C(100) * part, .warp_cycles = 7};
        work.memory_bytes = share * 700;
        struct core_timing_execution at = core_timing_execute(&device, part, &work, NULL);
        assert_int_equal(at.compute_cycles, 700);
        assert_int_equal(at.memory_cycles, 700);
        assert_int_equal(at.execute_cycles, 700);
        work.memory_bytes++;
        assert_int_equal(core_timing_execute(&device, part, &work, NULL).execute_cycles, 701);
        work.memory_bytes = share * 5000;
        assert_int_equal(core_timing_execute(&device, part, &work, NULL).execute_cycles, 5000);
        work.memory_bytes = share * 300;
        assert_int_equal(core_timing_execute(&device, part, &work, NULL).execute_cycles, 700);
    }
}

/* ---- the theorem ---- */

static void more_of_anything_never_takes_longer(void **unused)
{
    (void)unused;
    struct random random = {3};
    for (int round = 0; round < 20000; round++) {
        uint64_t each[WARPS_MOST], lighter[WARPS_MOST];
        struct core_timing_cu cus[CUS_MOST];
        uint64_t warps = draw(&random, 0, WARPS_MOST), bandwidth = draw(&random, 1, 64);
        uint32_t part = (uint32_t)draw(&random, 1, CUS_MOST);
        for (uint64_t i = 0; i < warps; i++) {
            each[i] = draw(&random, 0, 1000);
            lighter[i] = each[i] - draw(&random, 0, each[i]) * draw(&random, 0, 1);
        }
        struct devdesc device = device_of(CUS_MOST, bandwidth);
        device.memory_latency_cycles = (uint32_t)draw(&random, 0, 1) * 50;
        device.memory_in_flight_bytes = draw(&random, 0, 2000);
        device.warp_residence_cycles = (uint32_t)draw(&random, 0, 100);
        device.instruction_latency_cycles = (uint32_t)draw(&random, 1, 5);
        struct core_timing_work work = {.warps = warps,
                                        .each = each,
                                        .memory_bytes = draw(&random, 0, 20000),
                                        .resident = (uint32_t)draw(&random, 0, 3)};
        uint64_t before = core_timing_execute(&device, part, &work, cus).execute_cycles;
        uint32_t more = part + (uint32_t)draw(&random, 0, CUS_MOST - part);
        assert_true(core_timing_execute(&device, more, &work, cus).execute_cycles <= before);
        struct devdesc faster = device;
        faster.memory_bytes_per_cycle += draw(&random, 0, 64);
        faster.memory_latency_cycles /= (uint32_t)draw(&random, 1, 2);
        assert_true(core_timing_execute(&faster, part, &work, cus).execute_cycles <= before);
        work.each = lighter;
        assert_true(core_timing_execute(&device, part, &work, cus).execute_cycles <= before);
        assert_true(core_timing_execute(&faster, more, &work, cus).execute_cycles <= before);
    }
}

/* Warps in another order may take longer although none costs more: why the order is part of the
 * theorem. */
static void another_order_may_take_longer(void **unused)
{
    (void)unused;
    const uint64_t first[] = {3, 1, 1, 1}, last[] = {1, 1, 1, 3};
    struct devdesc device = device_of(2, 1);
    struct core_timing_cu cus[2];
    struct core_timing_work work = {.warps = 4, .each = first};
    assert_int_equal(core_timing_execute(&device, 2, &work, cus).compute_cycles, 3);
    work.each = last;
    assert_int_equal(core_timing_execute(&device, 2, &work, cus).compute_cycles, 4);
}

/* ---- sums ---- */

static void parts_of_a_launch_follow_each_other(void **unused)
{
    (void)unused;
    struct core_timing_parts parts = {.launch_cycles = 1,
                                      .switch_cycles = 20,
                                      .index_cycles = 300,
                                      .execute_cycles = 4000,
                                      .device_queue_cycles = 50000,
                                      .cleanup_cycles = 600000};
    assert_int_equal(core_timing_end(7000000, &parts), 7654321);
    assert_true(core_timing_end(UINT64_MAX - 10, &parts) == UINT64_MAX);
}

static void what_is_beyond_64_bits_is_the_end_of_time(void **unused)
{
    (void)unused;
    struct devdesc device = device_of(4, 1);
    struct core_timing_cu cus[4];
    const uint64_t each[] = {UINT64_MAX, UINT64_MAX, 5, 6, 7};
    struct core_timing_work work = {.warps = UINT64_MAX, .warp_cycles = 3};
    assert_true(core_timing_execute(&device, 2, &work, cus).compute_cycles == UINT64_MAX);
    work = (struct core_timing_work){.warps = 5, .each = each};
    assert_true(core_timing_execute(&device, 2, &work, cus).busy_cycles == UINT64_MAX);
    assert_true(core_timing_execute_in_all(&device, 2, &work, cus).compute_cycles == UINT64_MAX);
    assert_true(core_timing_execute_in_all(&device, 2, &work, cus).busy_cycles == UINT64_MAX);
    assert_true(core_timing_execute(&device, 1, &work, cus).compute_cycles == UINT64_MAX);
    assert_true(memory_of(&device, 1, UINT64_MAX) == UINT64_MAX);
    assert_true(memory_of(&device, 4, UINT64_MAX) == UINT64_MAX);
    assert_int_equal(memory_of(&device, 4, 0), 0);
    device.memory_latency_cycles = 9;
    assert_true(memory_of(&device, 4, UINT64_MAX - 1) == UINT64_MAX);
}

TEST_MAIN("timing", cmocka_unit_test(warps_are_those_that_firings_fill),
          cmocka_unit_test(warps_go_to_the_compute_unit_that_is_free_first),
          cmocka_unit_test(what_all_take_does_not_depend_on_how_it_is_found),
          cmocka_unit_test(cores_share_the_warps_of_a_compute_unit),
          cmocka_unit_test(an_interruption_counts_the_warps_of_all_cores),
          cmocka_unit_test(equal_warps_need_no_looking_at),
          cmocka_unit_test(state_leaves_one_compute_unit_busy),
          cmocka_unit_test(the_share_of_the_bandwidth_is_exact),
          cmocka_unit_test(packets_come_and_go_with_the_latency_of_memory),
          cmocka_unit_test(bytes_under_way_are_those_of_the_compute_units_at_work),
          cmocka_unit_test(what_caches_serve_does_not_come_from_memory),
          cmocka_unit_test(what_misses_waits_for_the_caches_too),
          cmocka_unit_test(warps_wait_for_places),
          cmocka_unit_test(local_memory_has_room_for_whole_work_groups),
          cmocka_unit_test(cores_have_registers_for_whole_work_groups),
          cmocka_unit_test(warps_of_a_compute_unit_hide_each_others_latency),
          cmocka_unit_test(the_dearest_warp_counts_with_its_pauses),
          cmocka_unit_test(executions_overlap_as_far_as_both_ways_are_free),
          cmocka_unit_test(the_caches_are_those_of_the_widest_level),
          cmocka_unit_test(packets_are_found_in_domains_that_both_ends_touch),
          cmocka_unit_test(buffers_stay_from_the_smallest_on_while_they_fit),
          cmocka_unit_test(the_part_of_the_caches_is_rounded_down),
          cmocka_unit_test(time_is_bytes_by_bandwidth_beyond_the_ridge),
          cmocka_unit_test(more_of_anything_never_takes_longer),
          cmocka_unit_test(another_order_may_take_longer),
          cmocka_unit_test(parts_of_a_launch_follow_each_other),
          cmocka_unit_test(what_is_beyond_64_bits_is_the_end_of_time))
