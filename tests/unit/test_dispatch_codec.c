/* SPDX-License-Identifier: MIT */
/* Reference and condensed packets: the layouts, the worked examples, the round trip, and what is
 * refused. */
#include "tests/test.h"

#include "lang/dispatch_codec.h"

#include <assert.h>

static uint64_t random_state;

/* xorshift64*, Vigna 2016. */
static uint64_t random_next(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * UINT64_C(0x2545f4914f6cdd1d);
}

static uint32_t random_below(uint32_t bound)
{
    assert(bound > 0);
    return (uint32_t)(random_next() >> 33) % bound;
}

static struct dispatch_full simple_launch(uint64_t object)
{
    return (struct dispatch_full){.header = DISPATCH_FULL,
                                  .synch_scopes = DISPATCH_SCOPES(0, 1, 1),
                                  .setup = 1,
                                  .workgroup_size_x = 32,
                                  .workgroup_size_y = 1,
                                  .workgroup_size_z = 1,
                                  .grid_size_x = 100,
                                  .grid_size_y = 1,
                                  .grid_size_z = 1,
                                  .kernel_object = object,
                                  .kernarg_address = 7,
                                  .completion_signal = object + 1};
}

static struct dispatch_table full_table(uint32_t count)
{
    struct dispatch_table table = {.count = count};
    for (uint32_t i = 0; i < count; i++) {
        struct dispatch_full launch = simple_launch(i);
        dispatch_store(&table, i, &launch);
    }
    return table;
}

static void assert_same(const struct dispatch_full *a, const struct dispatch_full *b)
{
    assert_memory_equal(a, b, sizeof *a);
}

/* ---- the worked examples ---- */

static void another_completion_signal_is_one_header_and_four_units(void **unused)
{
    (void)unused;
    struct dispatch_table table = full_table(8);
    struct dispatch_full launch = dispatch_stored(&table, 4), back[DISPATCH_UNITS];
    struct dispatch_writer writer;
    struct dispatch_finding finding;
    uint32_t count;
    launch.completion_signal = UINT64_C(0x1122334455667788);
    const struct dispatch_full fourth = dispatch_stored(&table, 4);
    assert_int_equal(dispatch_vector(&fourth, &launch), 0x1000);
    dispatch_open(&writer);
    assert_true(dispatch_append(&writer, &table, 4, &launch));
    assert_int_equal(writer.units, 5);
    const uint8_t bytes[] = {
        DISPATCH_CONDENSED, 1, 0x04, 0x80, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
    assert_memory_equal(&writer.packet, bytes, sizeof bytes);
    assert_true(dispatch_expand(&table, &writer.packet, back, &count, &finding));
    assert_int_equal(count, 1);
    assert_same(&back[0], &launch);
}

static void other_arguments_are_one_header_and_four_units(void **unused)
{
    (void)unused;
    struct dispatch_table table = full_table(8);
    struct dispatch_full launch = dispatch_stored(&table, 6), back[DISPATCH_UNITS];
    struct dispatch_writer writer;
    struct dispatch_finding finding;
    uint32_t count;
    launch.kernarg_address = 9;
    const struct dispatch_full sixth = dispatch_stored(&table, 6);
    assert_int_equal(dispatch_vector(&sixth, &launch), 0x0800);
    dispatch_open(&writer);
    assert_true(dispatch_append(&writer, &table, 6, &launch));
    const uint8_t bytes[] = {DISPATCH_CONDENSED, 1, 0x06, 0x40, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    assert_memory_equal(&writer.packet, bytes, sizeof bytes);
    assert_true(dispatch_expand(&table, &writer.packet, back, &count, &finding));
    assert_same(&back[0], &launch);
}

static void the_reference_as_it_is_takes_one_unit(void **unused)
{
    (void)unused;
    struct dispatch_table table = full_table(1);
    const struct dispatch_full first = dispatch_stored(&table, 0);
    struct dispatch_full back[DISPATCH_UNITS];
    struct dispatch_writer writer;
    struct dispatch_finding finding;
    uint32_t count;
    dispatch_open(&writer);
    for (uint32_t i = 0; i < DISPATCH_UNITS; i++)
        assert_true(dispatch_append(&writer, &table, 0, &first));
    assert_false(dispatch_append(&writer, &table, 0, &first));
    assert_true(dispatch_expand(&table, &writer.packet, back, &count, &finding));
    assert_int_equal(count, DISPATCH_UNITS);
    for (uint32_t i = 0; i < count; i++)
        assert_same(&back[i], &first);
}

/* As few condensed packets as keep the order: each launch as different from the entry that it is
 * nearest to, in the present packet while it fits. */
static uint32_t condense(const struct dispatch_table *table, const struct dispatch_full *launches,
                         uint32_t count, struct dispatch_condensed *packets)
{
    struct dispatch_writer writer;
    uint32_t written = 0;
    dispatch_open(&writer);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t entry = dispatch_nearest(table, &launches[i]);
        if (dispatch_append(&writer, table, entry, &launches[i])) continue;
        packets[written++] = writer.packet;
        dispatch_open(&writer);
        assert_true(dispatch_append(&writer, table, entry, &launches[i]));
    }
    if (writer.packet.num_kernels > 0) packets[written++] = writer.packet;
    return written;
}

static void six_launches_with_other_arguments_fit_one_packet(void **unused)
{
    (void)unused;
    struct dispatch_table table = full_table(8);
    struct dispatch_full launches[7];
    struct dispatch_condensed packets[7];
    for (uint32_t i = 0; i < 7; i++) {
        launches[i] = dispatch_stored(&table, i);
        launches[i].kernarg_address = 1000 + i;
    }
    assert_int_equal(condense(&table, launches, 6, packets), 1);
    assert_int_equal(packets[0].num_kernels, 6);
    assert_int_equal(packets[0].diff_values[30], 0);
    assert_int_equal(condense(&table, launches, 7, packets), 2);
}

static void the_nearest_entry_takes_the_fewest_units(void **unused)
{
    (void)unused;
    struct dispatch_table table = full_table(8);
    struct dispatch_full launch = dispatch_stored(&table, 5);
    assert_int_equal(dispatch_nearest(&table, &launch), 5);
    launch.grid_size_x++;
    assert_int_equal(dispatch_nearest(&table, &launch), 5);
    table.stored = 0x28;
    assert_int_equal(dispatch_nearest(&table, &launch), 5);
    table.stored = 0x88;
    table.entries[3] = table.entries[7]; /* of equals the lowest */
    assert_int_equal(dispatch_nearest(&table, &launch), 3);
}

static void every_field_alone_has_its_bit_and_width(void **unused)
{
    (void)unused;
    const uint32_t units[DISPATCH_FIELD_COUNT] = {1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 4, 4, 4};
    struct dispatch_full zero = {0};
    uint32_t bit = 0;
#define FIELD(enumerator, member, units_of)                                                        \
    {                                                                                              \
        struct dispatch_full other = {.member = 1};                                                \
        assert_int_equal(dispatch_vector(&zero, &other), 1u << bit);                               \
        assert_int_equal(dispatch_vector(&other, &zero), 1u << bit);                               \
        assert_int_equal(dispatch_vector_units(1u << bit), 1 + units[bit]);                        \
        bit++;                                                                                     \
    }
    DISPATCH_FIELDS(FIELD)
#undef FIELD
    assert_int_equal(bit, 13);
    assert_int_equal(dispatch_vector_units((1u << 13) - 1), 28);
}

/* ---- the round trip ---- */

static struct dispatch_full random_launch(const struct dispatch_table *table)
{
    struct dispatch_full launch = dispatch_stored(table, random_below(table->count));
    uint32_t change = random_below(4) == 0 ? (uint32_t)random_next() : 1u << random_below(13);
    if (change & 1u)
        launch.synch_scopes =
            (uint8_t)DISPATCH_SCOPES(random_below(2), random_below(3), random_below(3));
    if (change & 2u) launch.setup = (uint16_t)(1 + random_below(3));
    if (change & 4u) launch.workgroup_size_x = (uint16_t)(1 + random_below(65535));
    if (change & 0x20u) launch.grid_size_x = 1 + random_below(UINT32_MAX - 1);
    if (change & 0x100u) launch.private_segment_size_bytes = (uint32_t)random_next();
    if (change & 0x200u) launch.group_segment_size_bytes = (uint32_t)random_next();
    if (change & 0x400u) launch.kernel_object = random_next();
    if (change & 0x800u) launch.kernarg_address = random_next();
    if (change & 0x1000u) launch.completion_signal = random_next();
    return launch;
}

/* Greedy: no packet could have taken the next one's first launch. */
static void assert_greedy(const struct dispatch_table *table, const struct dispatch_full *launches,
                          const struct dispatch_condensed *packets, uint32_t count)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i + 1 < count; i++) {
        uint32_t units = 0;
        for (uint32_t k = 0; k <= packets[i].num_kernels; k++) {
            uint32_t fewest = UINT32_MAX;
            for (uint32_t e = 0; e < table->count; e++) {
                const struct dispatch_full reference = dispatch_stored(table, e);
                uint32_t vector = dispatch_vector(&reference, &launches[at + k]);
                uint32_t takes = dispatch_vector_units(vector);
                if (takes < fewest) fewest = takes;
            }
            units += fewest;
        }
        assert_true(units > DISPATCH_UNITS);
        at += packets[i].num_kernels;
    }
}

static void expanding_what_was_condensed_gives_the_list(void **unused)
{
    (void)unused;
    enum { ROUNDS = 4000, LAUNCHES = 100 };
    static struct dispatch_full launches[LAUNCHES], back[LAUNCHES + DISPATCH_UNITS];
    static struct dispatch_condensed packets[LAUNCHES];
    random_state = 0x5eed;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct dispatch_table table = full_table(1 + round % 8);
        for (uint32_t i = 0; i < table.count; i++) {
            struct dispatch_full launch = random_launch(&table);
            dispatch_store(&table, i, &launch);
        }
        uint32_t length = random_below(LAUNCHES + 1), at = 0;
        for (uint32_t i = 0; i < length; i++)
            launches[i] = random_launch(&table);
        uint32_t packet_count = condense(&table, launches, length, packets);
        for (uint32_t i = 0; i < packet_count; i++) {
            struct dispatch_finding finding;
            uint32_t count;
            assert_true(dispatch_expand(&table, &packets[i], &back[at], &count, &finding));
            assert_true(count >= 1);
            at += count;
        }
        assert_int_equal(at, length);
        assert_memory_equal(back, launches, length * sizeof *launches);
        assert_greedy(&table, launches, packets, packet_count);
    }
}

static void a_reference_packet_is_its_launch_and_an_entry(void **unused)
{
    (void)unused;
    struct dispatch_table table = {.count = 8};
    struct dispatch_full launch = simple_launch(3), back;
    struct dispatch_finding finding;
    struct dispatch_reference packet = dispatch_refer(&launch, 5);
    const uint8_t *bytes = (const uint8_t *)&packet;
    assert_int_equal(bytes[0], 16);
    assert_int_equal(bytes[10], 5);
    assert_int_equal(bytes[11], 0);
    assert_true(dispatch_resolve(&table, &packet, &back, &finding));
    assert_same(&back, &launch);
    assert_int_equal(table.stored, 0);
    dispatch_store(&table, 5, &back);
    assert_int_equal(table.stored, 1u << 5);
    packet.ref_num = 8;
    assert_false(dispatch_resolve(&table, &packet, &back, &finding));
    assert_int_equal(finding.defect, DISPATCH_BAD_ENTRY);
    packet.ref_num = 0x105;
    assert_false(dispatch_resolve(&table, &packet, &back, &finding));
    packet.ref_num = 5;
    packet.header = DISPATCH_FULL;
    assert_false(dispatch_resolve(&table, &packet, &back, &finding));
    assert_int_equal(finding.defect, DISPATCH_BAD_TYPE);
    assert_int_equal(finding.value, DISPATCH_FULL);
    packet.header = DISPATCH_REFERENCE;
    packet.grid_size_x = 0;
    assert_false(dispatch_resolve(&table, &packet, &back, &finding));
    assert_int_equal(finding.defect, DISPATCH_BAD_GRID);
    assert_string_equal(dispatch_defect_text(DISPATCH_GOOD), "good");
}

/* ---- what is refused ---- */

static void assert_refused(const struct dispatch_table *table,
                           const struct dispatch_condensed *packet, enum dispatch_defect defect,
                           uint32_t kernel)
{
    struct dispatch_full launches[DISPATCH_UNITS];
    struct dispatch_finding finding;
    uint32_t count;
    assert_false(dispatch_expand(table, packet, launches, &count, &finding));
    assert_int_equal(finding.defect, defect);
    assert_int_equal(finding.kernel, kernel);
    assert_true(strlen(dispatch_defect_text(finding.defect)) > 5);
}

static struct dispatch_condensed repeated(uint8_t kernels)
{
    return (struct dispatch_condensed){.header = DISPATCH_CONDENSED, .num_kernels = kernels};
}

static void malformed_packets_have_a_reason(void **unused)
{
    (void)unused;
    struct dispatch_table table = full_table(4);
    struct dispatch_condensed packet = repeated(0);
    assert_refused(&table, &packet, DISPATCH_NO_KERNELS, 0);
    packet = repeated(1);
    packet.header = DISPATCH_FULL;
    assert_refused(&table, &packet, DISPATCH_BAD_TYPE, 0);
    packet = repeated(32);
    assert_refused(&table, &packet, DISPATCH_PAST_UNITS, 31);
    packet = repeated(255);
    assert_refused(&table, &packet, DISPATCH_PAST_UNITS, 31);
    packet = repeated(2);
    packet.diff_values[1] = 4;
    assert_refused(&table, &packet, DISPATCH_BAD_ENTRY, 1);
    packet.diff_values[1] = 3;
    table.stored &= ~8u;
    assert_refused(&table, &packet, DISPATCH_EMPTY_ENTRY, 1);
    table.stored |= 8u;
    packet = repeated(1);
    packet.diff_values[1] = 1;
    assert_refused(&table, &packet, DISPATCH_TRAILING_UNITS, 1);
    packet.diff_values[1] = 0;
    packet.diff_values[30] = 0x8000;
    assert_refused(&table, &packet, DISPATCH_TRAILING_UNITS, 1);
    packet = repeated(1);
    packet.diff_values[0] = DISPATCH_DIFF_HEADER(0, 1u);
    packet.diff_values[1] = 0x100;
    assert_refused(&table, &packet, DISPATCH_WIDE_VALUE, 0);
    packet.diff_values[1] = 0x20;
    assert_refused(&table, &packet, DISPATCH_BAD_SCOPES, 0);
    packet = repeated(1);
    packet.diff_values[0] = DISPATCH_DIFF_HEADER(0, 1u << DISPATCH_FIELD_SETUP);
    assert_refused(&table, &packet, DISPATCH_BAD_SETUP, 0);
    packet.diff_values[0] = DISPATCH_DIFF_HEADER(0, 1u << DISPATCH_FIELD_SYNCH_SCOPES);
    packet.diff_values[1] = UINT8_MAX + 1;
    assert_refused(&table, &packet, DISPATCH_WIDE_VALUE, 0);
    packet.diff_values[1] = UINT8_MAX; /* narrow, and no scopes */
    assert_refused(&table, &packet, DISPATCH_BAD_SCOPES, 0);
    packet.diff_values[1] = 0;
    packet.diff_values[0] = DISPATCH_DIFF_HEADER(0, 1u << DISPATCH_FIELD_GRID_SIZE_X);
    assert_refused(&table, &packet, DISPATCH_BAD_GRID, 0);
    packet.diff_values[0] = DISPATCH_DIFF_HEADER(0, 1u << DISPATCH_FIELD_WORKGROUP_SIZE_Y);
    assert_refused(&table, &packet, DISPATCH_BAD_WORKGROUP, 0);
}

/* The scopes of acquire and release are two bits each, at 1 and 3; 3 is none; the bits around them are 0. */
static void every_combination_of_scopes_is_known_or_refused(void **unused)
{
    (void)unused;
    for (uint32_t scopes = 0; scopes < 256; scopes++) {
        struct dispatch_full launch = simple_launch(1);
        uint32_t found;
        launch.synch_scopes = (uint8_t)scopes;
        bool good = scopes < 32 && (scopes >> 1 & 3) != 3 && (scopes >> 3 & 3) != 3;
        assert_int_equal(dispatch_check(&launch, &found),
                         good ? DISPATCH_GOOD : DISPATCH_BAD_SCOPES);
    }
}

/* A launch that the packet has no room for leaves it as it was. */
static void what_does_not_fit_is_not_appended(void **unused)
{
    (void)unused;
    struct dispatch_table table = full_table(1);
    struct dispatch_writer writer, before;
    dispatch_open(&writer);
    for (uint32_t i = 0; i < DISPATCH_UNITS; i++) {
        struct dispatch_full launch = simple_launch(100 + i);
        before = writer;
        if (!dispatch_append(&writer, &table, 0, &launch)) break;
        assert_int_equal(writer.packet.num_kernels, before.packet.num_kernels + 1);
    }
    assert_memory_equal(&writer, &before, sizeof writer);
    assert_in_range(writer.packet.num_kernels, 2, DISPATCH_UNITS - 1);
}

/* The last difference is cut off after each number of its units. */
static void a_difference_past_the_units_is_refused(void **unused)
{
    (void)unused;
    struct dispatch_table table = full_table(1);
    const uint32_t fields[] = {DISPATCH_FIELD_COMPLETION_SIGNAL, DISPATCH_FIELD_GRID_SIZE_X,
                               DISPATCH_FIELD_SETUP};
    const uint32_t units[] = {4, 2, 1};
    for (uint32_t f = 0; f < 3; f++) {
        for (uint32_t there = 0; there < units[f]; there++) {
            uint32_t before = DISPATCH_UNITS - 1 - there;
            struct dispatch_condensed packet = repeated((uint8_t)(before + 1));
            packet.diff_values[before] = DISPATCH_DIFF_HEADER(0, 1u << fields[f]);
            for (uint32_t i = 0; i < there; i++)
                packet.diff_values[before + 1 + i] = 1;
            assert_refused(&table, &packet, DISPATCH_PAST_UNITS, before);
        }
    }
}

/* Whatever the bytes: refused, or launches that condense and expand to themselves. */
static void random_bytes_are_refused_or_mean_something(void **unused)
{
    (void)unused;
    uint32_t good = 0;
    random_state = 0xbad5eed;
    for (uint32_t round = 0; round < 200000; round++) {
        struct dispatch_table table = full_table(1 + random_below(8));
        struct dispatch_condensed packet = repeated((uint8_t)(1 + random_below(3)));
        struct dispatch_full launches[DISPATCH_UNITS], back[DISPATCH_UNITS];
        struct dispatch_condensed again[DISPATCH_UNITS];
        struct dispatch_finding finding;
        uint32_t count, at = 0, part;
        for (uint32_t i = 0; i < DISPATCH_UNITS; i++)
            packet.diff_values[i] = random_below(3) ? 0 : (uint16_t)(random_next() >> 40);
        if (random_below(50) == 0) packet.num_kernels = (uint8_t)random_next();
        if (!dispatch_expand(&table, &packet, launches, &count, &finding)) {
            assert_int_not_equal(finding.defect, DISPATCH_GOOD);
            continue;
        }
        good++;
        uint32_t packets = condense(&table, launches, count, again);
        assert_int_equal(packets, 1);
        for (uint32_t i = 0; i < packets; i++, at += part)
            assert_true(dispatch_expand(&table, &again[i], &back[at], &part, &finding));
        assert_int_equal(at, count);
        assert_memory_equal(back, launches, count * sizeof *launches);
    }
    assert_true(good > 0);
}

TEST_MAIN("dispatch_codec",
          cmocka_unit_test(another_completion_signal_is_one_header_and_four_units),
          cmocka_unit_test(other_arguments_are_one_header_and_four_units),
          cmocka_unit_test(the_reference_as_it_is_takes_one_unit),
          cmocka_unit_test(six_launches_with_other_arguments_fit_one_packet),
          cmocka_unit_test(the_nearest_entry_takes_the_fewest_units),
          cmocka_unit_test(every_field_alone_has_its_bit_and_width),
          cmocka_unit_test(expanding_what_was_condensed_gives_the_list),
          cmocka_unit_test(a_reference_packet_is_its_launch_and_an_entry),
          cmocka_unit_test(malformed_packets_have_a_reason),
          cmocka_unit_test(every_combination_of_scopes_is_known_or_refused),
          cmocka_unit_test(what_does_not_fit_is_not_appended),
          cmocka_unit_test(a_difference_past_the_units_is_refused),
          cmocka_unit_test(random_bytes_are_refused_or_mean_something))
