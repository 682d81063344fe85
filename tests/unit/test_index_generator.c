/* SPDX-License-Identifier: MIT */
/* index_generator: iterator, filter and packer against division and a history kept by hand. */
#include "tests/test.h"

#include "model/index_generator.h"
#include "model/index_iterator.h"
#include "model/index_packer.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS_MAX = INDEX_ITEMS_MAX };

struct bench {
    struct prt_index_configuration configuration;
    uint32_t first_warp[PRT_INDEX_LANES_MAX];
    uint32_t registers[ITEMS_MAX];
};

/* The configuration that the compiler makes: with division. */
static void configure(struct bench *b, uint32_t dx, uint32_t dy, uint32_t dz, uint32_t lanes)
{
    struct prt_index_configuration *c = &b->configuration;
    *c = (struct prt_index_configuration){.key = {.extents = {dx, dy, dz}},
                                          .items = dx * dy * dz,
                                          .lanes = lanes,
                                          .step = {lanes % dx, lanes / dx % dy, lanes / dx / dy},
                                          .first_warp = b->first_warp,
                                          .registers = b->registers};
    struct index_format format = index_format_of(c->key.extents);
    for (uint32_t n = 0; n < c->items && n < lanes; n++)
        b->first_warp[n] = index_pack(&format, n % dx, n / dx % dy, n / dx / dy);
}

static uint32_t packed_at(const struct bench *b, const struct index_format *format, uint32_t n)
{
    const void *registers = b->registers;
    const uint16_t *narrow = registers;
    return format->register_bits == 16 ? narrow[n] : b->registers[n];
}

/* Every item's x, y, z by division. */
static void expect_division(struct bench *b, uint32_t dx, uint32_t dy, uint32_t dz, uint32_t lanes)
{
    configure(b, dx, dy, dz, lanes);
    prt_index_generate(&b->configuration, b->registers);
    const struct index_format format = index_format_of(b->configuration.key.extents);
    uint32_t wrong = 0;
    for (uint32_t n = 0; n < b->configuration.items; n++) {
        uint32_t packed = packed_at(b, &format, n);
        wrong += index_unpack(&format, packed, 0) != n % dx;
        wrong += index_unpack(&format, packed, 1) != n / dx % dy;
        wrong += index_unpack(&format, packed, 2) != n / dx / dy;
        wrong += packed >> format.total_bits != 0;
    }
    if (wrong != 0) print_message("%ux%ux%u, %u lanes\n", dx, dy, dz, lanes);
    assert_int_equal(wrong, 0);
}

/* The result of division for all numbers below MOST: it does not depend on dz, and 14 bits hold it. */
enum { MOST = 4096 };
static void divide_all(uint32_t dx, uint32_t dy, uint16_t wanted[MOST])
{
    const uint32_t extents[] = {dx, dy, MOST / (dx * dy)};
    struct index_format format = index_format_of(extents);
    for (uint32_t n = 0; n < extents[0] * extents[1] * extents[2]; n++)
        wanted[n] = (uint16_t)index_pack(&format, n % dx, n / dx % dy, n / dx / dy);
}

static void expect_registers(struct bench *b, uint32_t dx, uint32_t dy, uint32_t dz, uint32_t lanes,
                             const uint16_t wanted[MOST])
{
    configure(b, dx, dy, dz, lanes);
    prt_index_generate(&b->configuration, b->registers);
    size_t bytes = (size_t)dx * dy * dz * sizeof *wanted;
    if (memcmp(b->registers, wanted, bytes) == 0) return;
    print_message("%ux%ux%u, %u lanes\n", dx, dy, dz, lanes);
    fail();
}

static void every_group_of_up_to_4096_items_is_numbered_as_by_division(void **state)
{
    (void)state;
    static const uint32_t lanes[] = {1, 3, 4, 7, 8, 16, 17, 32, 33, 63, 64};
    enum { LANES = sizeof lanes / sizeof lanes[0] };
    struct bench *b = malloc(sizeof *b);
    uint16_t wanted[MOST];
    uint32_t groups = 0;
    for (uint32_t dx = 1; dx <= MOST; dx++)
        for (uint32_t dy = 1; dx * dy <= MOST; dy++) {
            divide_all(dx, dy, wanted);
            for (uint32_t dz = 1; dx * dy * dz <= MOST; dz++, groups++) {
                /* Small groups with all lanes, larger ones with each of them in turn. */
                uint32_t of = dx * dy * dz <= 128 ? LANES : 1;
                for (uint32_t i = 0; i < of; i++)
                    expect_registers(b, dx, dy, dz, lanes[(groups + 4 * i) % LANES], wanted);
            }
        }
    assert_int_equal(groups, 168736);
    free(b);
}

static void random_larger_groups_and_lanes_are_numbered_as_by_division(void **state)
{
    (void)state;
    struct bench *b = malloc(sizeof *b);
    uint32_t seed = 7;
    for (int i = 0; i < 400; i++) {
        uint32_t d[3];
        do {
            for (int k = 0; k < 3; k++) {
                seed = seed * 1664525u + 1013904223u;
                d[k] = (seed >> 8) % (k == (int)(seed % 3) ? 2000 : 40) + 1;
            }
        } while ((uint64_t)d[0] * d[1] * d[2] > ITEMS_MAX || d[0] * d[1] * d[2] <= 4096);
        seed = seed * 1664525u + 1013904223u;
        expect_division(b, d[0], d[1], d[2], (seed >> 8) % PRT_INDEX_LANES_MAX + 1);
    }
    expect_division(b, ITEMS_MAX, 1, 1, 8);
    expect_division(b, 1, ITEMS_MAX, 1, 1024);
    expect_division(b, 1, 1, ITEMS_MAX, 1000);
    free(b);
}

/* For every lane count from 1 to 64 and all extents that matter to a carry. */
static void every_number_of_lanes_steps_as_by_division(void **state)
{
    (void)state;
    struct bench *b = malloc(sizeof *b);
    for (uint32_t lanes = 1; lanes <= 64; lanes++)
        for (uint32_t dx = 1; dx <= 9; dx++)
            for (uint32_t dy = 1; dy <= 9; dy++)
                expect_division(b, dx, dy, 5, lanes);
    free(b);
}

/* ---- packer ---- */

static void widths_hold_the_greatest_index_and_no_bit_more(void **state)
{
    (void)state;
    assert_int_equal(index_bits(1), 0);
    assert_int_equal(index_bits(2), 1);
    assert_int_equal(index_bits(64), 6);
    assert_int_equal(index_bits(65), 7);
    assert_int_equal(index_bits(99), 7);
    for (uint32_t d = 2; d <= ITEMS_MAX; d++) {
        assert_true((d - 1) >> index_bits(d) == 0);
        assert_true((d - 1) >> (index_bits(d) - 1) == 1);
    }
}

static void registers_are_of_16_bits_where_that_is_enough(void **state)
{
    (void)state;
    const uint32_t small[] = {99, 4, 8}, exact[] = {256, 16, 16}, large[] = {257, 15, 17};
    struct index_format format = index_format_of(small);
    assert_int_equal(format.total_bits, 12);
    assert_int_equal(format.register_bits, 16);
    assert_int_equal(index_pack(&format, 98, 3, 7), 98 | 3 << 7 | 7 << 9);
    assert_int_equal(index_format_of(exact).register_bits, 16);
    assert_int_equal(index_format_of(large).total_bits, 18);
    assert_int_equal(index_format_of(large).register_bits, 32);
}

static void the_packer_writes_the_registers_it_is_told_to(void **state)
{
    (void)state;
    const uint32_t extents[] = {4, 4, 1}, x[] = {1, 2, 3}, y[] = {3, 2, 1}, z[] = {0, 0, 0};
    struct index_format format = index_format_of(extents);
    uint16_t registers[5] = {77, 77, 77, 77, 77};
    prt_index_pack(&format, x, y, z, 3, registers, 1);
    const uint16_t wanted[5] = {77, 13, 10, 7, 77};
    assert_memory_equal(registers, wanted, sizeof wanted);
}

/* ---- filter ---- */

enum { HISTORY_MAX = 16 };

static struct prt_index_filter filter_of(uint32_t capacity)
{
    static struct prt_index_entry entries[HISTORY_MAX];
    assert_true(capacity <= HISTORY_MAX);
    return (struct prt_index_filter){.entries = entries, .capacity = capacity};
}

static enum prt_index_outcome ask(struct prt_index_filter *filter, uint32_t address, uint32_t dx)
{
    const struct prt_index_key key = {address, {dx, 1, 1}};
    return prt_index_filter_ask(filter, &key);
}

static void what_is_asked_for_again_is_resident(void **state)
{
    (void)state;
    struct prt_index_filter filter = filter_of(4);
    assert_int_equal(ask(&filter, 0, 8), PRT_INDEX_MISS);
    assert_int_equal(ask(&filter, 0, 8), PRT_INDEX_RESIDENT);
    assert_int_equal(ask(&filter, 0, 8), PRT_INDEX_RESIDENT);
}

static void writing_an_address_ends_the_residence_of_the_others_with_it(void **state)
{
    (void)state;
    struct prt_index_filter filter = filter_of(4);
    assert_int_equal(ask(&filter, 0, 8), PRT_INDEX_MISS);
    assert_int_equal(ask(&filter, 64, 9), PRT_INDEX_MISS);
    assert_int_equal(ask(&filter, 0, 16), PRT_INDEX_MISS);
    assert_int_equal(ask(&filter, 0, 8), PRT_INDEX_HIT);
    assert_int_equal(ask(&filter, 0, 16), PRT_INDEX_HIT);
    assert_int_equal(ask(&filter, 0, 16), PRT_INDEX_RESIDENT);
    assert_int_equal(ask(&filter, 64, 9), PRT_INDEX_RESIDENT);
}

static void the_same_group_elsewhere_is_another_configuration(void **state)
{
    (void)state;
    struct prt_index_filter filter = filter_of(4);
    assert_int_equal(ask(&filter, 0, 8), PRT_INDEX_MISS);
    assert_int_equal(ask(&filter, 16, 8), PRT_INDEX_MISS);
    assert_int_equal(ask(&filter, 0, 8), PRT_INDEX_RESIDENT);
}

static void a_full_history_forgets_what_was_asked_for_longest_ago(void **state)
{
    (void)state;
    struct prt_index_filter filter = filter_of(2);
    ask(&filter, 0, 1);
    ask(&filter, 16, 2);
    assert_int_equal(ask(&filter, 0, 1), PRT_INDEX_RESIDENT);
    assert_int_equal(ask(&filter, 32, 3), PRT_INDEX_MISS);
    assert_int_equal(ask(&filter, 0, 1), PRT_INDEX_RESIDENT);
    assert_int_equal(ask(&filter, 16, 2), PRT_INDEX_MISS);
}

/* A history as a plain list of all requests: an entry is known while fewer than `capacity` other
 * keys have been asked for since, resident while no other key has asked for its address. */
static enum prt_index_outcome model(const struct prt_index_key *asked, uint32_t count,
                                    uint32_t capacity)
{
    const struct prt_index_key *now = &asked[count];
    struct prt_index_key others[HISTORY_MAX];
    uint32_t other_count = 0;
    bool overwritten = false;
    for (uint32_t i = count; i-- > 0;) {
        if (memcmp(&asked[i], now, sizeof *now) == 0)
            return overwritten ? PRT_INDEX_HIT : PRT_INDEX_RESIDENT;
        overwritten |= asked[i].address_bytes == now->address_bytes;
        uint32_t k = 0;
        while (k < other_count && memcmp(&others[k], &asked[i], sizeof *now) != 0)
            k++;
        if (k < other_count) continue;
        if (other_count + 1 == capacity) return PRT_INDEX_MISS;
        others[other_count++] = asked[i];
    }
    return PRT_INDEX_MISS;
}

static void random_requests_agree_with_a_list_of_all_of_them(void **state)
{
    (void)state;
    enum { REQUESTS = 400 };
    static struct prt_index_key asked[REQUESTS];
    uint32_t seed = 11;
    for (uint32_t capacity = 1; capacity <= 9; capacity++) {
        struct prt_index_filter filter = filter_of(capacity);
        for (uint32_t i = 0; i < REQUESTS; i++) {
            seed = seed * 1664525u + 1013904223u;
            asked[i] = (struct prt_index_key){(seed >> 8) % 3 * 16, {(seed >> 16) % 3 + 1, 1, 1}};
            assert_int_equal(prt_index_filter_ask(&filter, &asked[i]), model(asked, i, capacity));
        }
    }
}

/* ---- time ---- */

static void launches_wait_for_the_first_warp_that_is_iterated(void **state)
{
    (void)state;
    struct prt_index_cost cost = prt_index_cycles(PRT_INDEX_RESIDENT, 8);
    assert_int_equal(cost.cycles + cost.warps_iterated + cost.warps_packed, 0);
    cost = prt_index_cycles(PRT_INDEX_HIT, 8);
    assert_int_equal(cost.cycles, 0);
    assert_int_equal(cost.warps_iterated, 0);
    assert_int_equal(cost.warps_packed, 8);
    cost = prt_index_cycles(PRT_INDEX_MISS, 8);
    assert_int_equal(cost.cycles, 1);
    assert_int_equal(cost.warps_iterated, 8);
    assert_int_equal(cost.warps_packed, 8);
}

/* Warp w can start at w + 1; a clock that ticks agrees for any cost of a warp. */
static void waiting_agrees_with_a_clock(void **state)
{
    (void)state;
    for (uint64_t warps = 1; warps <= 12; warps++)
        for (uint64_t cost = 1; cost <= 5; cost++) {
            uint64_t end = 0;
            for (uint64_t w = 0; w < warps; w++) {
                uint64_t there = prt_index_issue(w, 0, 4).cycle;
                end = (end > there ? end : there) + cost;
            }
            assert_int_equal(prt_index_cycles(PRT_INDEX_MISS, warps).cycles, end - warps * cost);
        }
}

static void warps_ascend_in_time_and_instructions_along_the_cores(void **state)
{
    (void)state;
    enum { CORES = 4, CYCLES = 64 };
    bool busy[CYCLES][CORES] = {{false}};
    for (uint64_t w = 0; w < CORES; w++)
        for (uint64_t i = 0; i < 9; i++) {
            struct prt_index_issue issue = prt_index_issue(w, i, CORES);
            assert_int_equal(issue.core, i % CORES);
            assert_int_equal(issue.cycle, w + i + 1);
            /* As many warps as there are cores never meet on one. */
            assert_false(busy[issue.cycle][issue.core]);
            busy[issue.cycle][issue.core] = true;
        }
}

static void a_dimension_costs_a_division_and_a_remainder(void **state)
{
    (void)state;
    const uint32_t line[] = {64, 1, 1}, upright[] = {1, 1, 9}, plane[] = {8, 1, 8},
                   space[] = {4, 4, 4};
    assert_int_equal(prt_index_operations(line).divisions, 0);
    assert_int_equal(prt_index_operations(upright).divisions, 0);
    assert_int_equal(prt_index_operations(plane).divisions, 2);
    assert_int_equal(prt_index_operations(space).divisions, 4);
    assert_int_equal(prt_index_operations(space).logic, 4);
}

TEST_MAIN("index_generator",
          cmocka_unit_test(every_group_of_up_to_4096_items_is_numbered_as_by_division),
          cmocka_unit_test(random_larger_groups_and_lanes_are_numbered_as_by_division),
          cmocka_unit_test(every_number_of_lanes_steps_as_by_division),
          cmocka_unit_test(widths_hold_the_greatest_index_and_no_bit_more),
          cmocka_unit_test(registers_are_of_16_bits_where_that_is_enough),
          cmocka_unit_test(the_packer_writes_the_registers_it_is_told_to),
          cmocka_unit_test(what_is_asked_for_again_is_resident),
          cmocka_unit_test(writing_an_address_ends_the_residence_of_the_others_with_it),
          cmocka_unit_test(the_same_group_elsewhere_is_another_configuration),
          cmocka_unit_test(a_full_history_forgets_what_was_asked_for_longest_ago),
          cmocka_unit_test(random_requests_agree_with_a_list_of_all_of_them),
          cmocka_unit_test(launches_wait_for_the_first_warp_that_is_iterated),
          cmocka_unit_test(waiting_agrees_with_a_clock),
          cmocka_unit_test(warps_ascend_in_time_and_instructions_along_the_cores),
          cmocka_unit_test(a_dimension_costs_a_division_and_a_remainder))
