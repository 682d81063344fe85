/* SPDX-License-Identifier: MIT */
/* Rings: contiguous windows, exact depths, readers of their own pace. */
#include "tests/test.h"

#include "runtime/device/ring.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { READERS_MAX = 64 };

struct fifo {
    struct prt_ring ring;
    struct core_fifo at;
    struct core_reader readers[READERS_MAX];
};

/* Readers are found by their distance from the positions, so a fifo can be returned. */
static struct fifo make(uint64_t width, uint64_t depth, uint32_t readers)
{
    struct fifo fifo = {.at.closed = false};
    struct prt_error error;
    assert_true(readers <= READERS_MAX);
    core_fifo_lay_out(&fifo.at, width, depth, fifo.readers, readers);
    assert_int_equal(prt_ring_create(&fifo.ring, &fifo.at, &error), PRT_OK);
    return fifo;
}

static void the_depth_is_exact(void **unused)
{
    (void)unused;
    struct fifo fifo = make(4, 5, 1);
    assert_int_equal(core_fifo_room(&fifo.at), 5);
    prt_ring_claim(&fifo.ring, &fifo.at, 3);
    assert_int_equal(core_fifo_room(&fifo.at), 2);
    core_fifo_commit(&fifo.at, 3);
    assert_int_equal(core_fifo_room(&fifo.at), 2);
    assert_int_equal(core_fifo_held(&fifo.at, 0), 3);
    prt_ring_claim(&fifo.ring, &fifo.at, 2);
    assert_int_equal(core_fifo_room(&fifo.at), 0);
    core_fifo_commit(&fifo.at, 2);
    core_fifo_release(&fifo.at, 0, 5);
    assert_int_equal(core_fifo_room(&fifo.at), 5);
    assert_int_equal(fifo.at.high_water_packets, 5);
    prt_ring_destroy(&fifo.ring);
}

static void unused_room_is_given_back_at_the_commit(void **unused)
{
    (void)unused;
    struct fifo fifo = make(4, 10, 1);
    prt_ring_claim(&fifo.ring, &fifo.at, 10);
    core_fifo_commit(&fifo.at, 4);
    assert_int_equal(core_fifo_room(&fifo.at), 6);
    assert_int_equal(core_fifo_held(&fifo.at, 0), 4);
    prt_ring_destroy(&fifo.ring);
}

/* Every width and step: what goes in comes out, in windows that never wrap. */
static void windows_are_contiguous_across_the_wrap(void **unused)
{
    (void)unused;
    const uint64_t widths[] = {1, 3, 4, 12, 49, 4096, 5000};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        uint64_t width = widths[w], depth = 7 + w;
        struct fifo fifo = make(width, depth, 1);
        uint64_t written = 0, read = 0;
        for (uint32_t round = 0; round < 3000; round++) {
            uint64_t step = 1 + round % depth;
            if (core_fifo_room(&fifo.at) < step) step = core_fifo_room(&fifo.at);
            uint8_t *out = prt_ring_claim(&fifo.ring, &fifo.at, step);
            for (uint64_t i = 0; i < step; i++, written++)
                memset(out + i * width, (int)(written % 251), width);
            core_fifo_commit(&fifo.at, step);
            uint64_t held = core_fifo_held(&fifo.at, 0);
            const uint8_t *in = prt_ring_window(&fifo.ring, &fifo.at, 0);
            for (uint64_t i = 0; i < held; i++) {
                assert_int_equal(in[i * width], (read + i) % 251);
                assert_int_equal(in[i * width + width - 1], (read + i) % 251);
            }
            uint64_t taken = (round * 5 + 1) % (held + 1);
            core_fifo_release(&fifo.at, 0, taken);
            read += taken;
        }
        assert_true(written > 2000);
        prt_ring_destroy(&fifo.ring);
    }
}

static void windows_keep_the_alignment_of_their_packets(void **unused)
{
    (void)unused;
    struct fifo fifo = make(8, 3, 1);
    for (uint32_t i = 0; i < 2000; i++) {
        assert_int_equal((uintptr_t)prt_ring_claim(&fifo.ring, &fifo.at, 1) % 8, 0);
        core_fifo_commit(&fifo.at, 1);
        assert_int_equal((uintptr_t)prt_ring_window(&fifo.ring, &fifo.at, 0) % 8, 0);
        core_fifo_release(&fifo.at, 0, 1);
    }
    prt_ring_destroy(&fifo.ring);
}

static void room_is_that_of_the_slowest_reader(void **unused)
{
    (void)unused;
    struct fifo fifo = make(4, 8, 3);
    prt_ring_claim(&fifo.ring, &fifo.at, 8);
    core_fifo_commit(&fifo.at, 8);
    core_fifo_release(&fifo.at, 0, 8);
    assert_int_equal(core_fifo_room(&fifo.at), 0);
    core_fifo_release(&fifo.at, 1, 5);
    assert_int_equal(core_fifo_room(&fifo.at), 0);
    core_fifo_release(&fifo.at, 2, 3);
    assert_int_equal(core_fifo_room(&fifo.at), 3);
    core_fifo_release(&fifo.at, 2, 4);
    assert_int_equal(core_fifo_room(&fifo.at), 5);
    assert_int_equal(core_fifo_held(&fifo.at, 1), 3);
    assert_int_equal(core_fifo_held(&fifo.at, 2), 1);
    prt_ring_destroy(&fifo.ring);
}

static void a_detached_reader_holds_no_room(void **unused)
{
    (void)unused;
    struct fifo fifo = make(4, 4, 2);
    prt_ring_claim(&fifo.ring, &fifo.at, 4);
    core_fifo_commit(&fifo.at, 4);
    core_fifo_release(&fifo.at, 0, 3);
    core_fifo_detach(&fifo.at, 1);
    core_fifo_detach(&fifo.at, 1);
    assert_int_equal(core_fifo_held(&fifo.at, 1), 0);
    assert_int_equal(core_fifo_room(&fifo.at), 3);
    assert_int_equal(fifo.at.discarded_packets, 4);
    prt_ring_destroy(&fifo.ring);
}

/* Of several slowest readers the last one that goes, or moves on, frees the room. */
static void room_is_freed_by_the_last_of_the_slowest_readers(void **unused)
{
    (void)unused;
    struct fifo fifo = make(4, 8, 4);
    prt_ring_claim(&fifo.ring, &fifo.at, 8);
    core_fifo_commit(&fifo.at, 8);
    core_fifo_release(&fifo.at, 3, 5);
    core_fifo_release(&fifo.at, 2, 2);
    core_fifo_detach(&fifo.at, 0);
    assert_int_equal(core_fifo_room(&fifo.at), 0);
    core_fifo_release(&fifo.at, 1, 5);
    assert_int_equal(core_fifo_room(&fifo.at), 2);
    core_fifo_detach(&fifo.at, 3); /* not one of the slowest: nothing of theirs is counted */
    assert_int_equal(core_fifo_room(&fifo.at), 2);
    core_fifo_detach(&fifo.at, 2);
    assert_int_equal(core_fifo_room(&fifo.at), 5);
    core_fifo_detach(&fifo.at, 1);
    assert_int_equal(core_fifo_room(&fifo.at), 8);
    assert_int_equal(fifo.at.discarded_packets, 8 + 3 + 6 + 3);
    prt_ring_destroy(&fifo.ring);
    fifo = make(4, 8, 2);
    prt_ring_claim(&fifo.ring, &fifo.at, 8);
    core_fifo_commit(&fifo.at, 8);
    core_fifo_release(&fifo.at, 1, 8);
    assert_int_equal(core_fifo_room(&fifo.at), 0);
    core_fifo_release(&fifo.at, 0, 3);
    assert_int_equal(core_fifo_room(&fifo.at), 3);
    prt_ring_destroy(&fifo.ring);
}

/* The last time only as much of it as there is to be filled. */
static void a_pattern_is_repeated_up_to_the_last_packet(void **unused)
{
    (void)unused;
    static const uint32_t pattern[16] = {1, 2, 3, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
    struct fifo fifo = make(4, 8, 1);
    prt_ring_fill(&fifo.ring, &fifo.at, pattern, 3 * sizeof *pattern, 4);
    const uint32_t *in = prt_ring_window(&fifo.ring, &fifo.at, 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(in[i], i % 3 + 1);
    const uint32_t *next = prt_ring_claim(&fifo.ring, &fifo.at, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(next[i], 0);
    prt_ring_destroy(&fifo.ring);
}

static void without_readers_packets_are_discarded_and_counted(void **unused)
{
    (void)unused;
    struct fifo fifo = make(4, 4, 1);
    prt_ring_claim(&fifo.ring, &fifo.at, 2);
    core_fifo_commit(&fifo.at, 2);
    prt_ring_claim(&fifo.ring, &fifo.at, 2);
    core_fifo_detach(&fifo.at, 0); /* while a firing of the writer is in flight */
    assert_int_equal(fifo.at.discarded_packets, 2);
    core_fifo_commit(&fifo.at, 2);
    assert_int_equal(fifo.at.discarded_packets, 4);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(core_fifo_room(&fifo.at), 4);
        prt_ring_claim(&fifo.ring, &fifo.at, 4);
        core_fifo_commit(&fifo.at, 4);
    }
    assert_int_equal(fifo.at.discarded_packets, 404);
    prt_ring_destroy(&fifo.ring);
}

static void initial_packets_repeat_their_pattern(void **unused)
{
    (void)unused;
    const uint16_t pattern[] = {1, 2, 3};
    struct fifo fifo = make(2, 8, 2);
    prt_ring_fill(&fifo.ring, &fifo.at, pattern, sizeof pattern, 7);
    const uint16_t *in = prt_ring_window(&fifo.ring, &fifo.at, 1);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(in[i], i % 3 + 1);
    assert_int_equal(core_fifo_held(&fifo.at, 0), 7);
    assert_int_equal(fifo.at.high_water_packets, 7);
    prt_ring_destroy(&fifo.ring);
}

static void closing_twice_is_closing_once(void **unused)
{
    (void)unused;
    struct fifo fifo = make(2, 8, 1);
    core_fifo_close(&fifo.at);
    core_fifo_close(&fifo.at);
    assert_true(fifo.at.closed);
    prt_ring_destroy(&fifo.ring);
    prt_ring_destroy(&fifo.ring);
}

static void sizes_that_overflow_are_refused(void **unused)
{
    (void)unused;
    struct fifo fifo;
    struct prt_error error;
    const uint64_t huge[][2] = {{UINT64_MAX, 2},
                                {1, UINT64_MAX},
                                {UINT64_C(1) << 32, UINT64_C(1) << 32},
                                {1, UINT64_C(1) << 62},
                                {8, UINT64_C(1) << 44}};
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
        errno = EBADF; /* of something before */
        core_fifo_lay_out(&fifo.at, huge[i][0], huge[i][1], fifo.readers, 1);
        assert_int_equal(prt_ring_create(&fifo.ring, &fifo.at, &error), PRT_E_NOMEM);
        assert_non_null(strstr(error.message, strerror(ENOMEM)));
        assert_null(fifo.ring.memory);
    }
}

/* The halves of all rings, as the system lists them, and the bytes that the process has mapped. */
static size_t mapped_halves(size_t *mapped_bytes)
{
    char line[512];
    size_t halves = 0;
    unsigned long begin, end;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    *mapped_bytes = 0;
    while (fgets(line, sizeof line, maps) != NULL) {
        halves += strstr(line, "memfd:pipec-fifo") != NULL;
        if (sscanf(line, "%lx-%lx", &begin, &end) == 2) *mapped_bytes += end - begin;
    }
    fclose(maps);
    return halves;
}

static void rings_leave_no_mapping(void **unused)
{
    (void)unused;
    struct prt_error error;
    size_t before, after;
    const uint64_t packets = 1 << 20;
    struct fifo kept = make(4, packets, 1); /* beside the others */
    assert_int_equal(mapped_halves(&before), 2);
    for (int i = 0; i < 8; i++) {
        struct fifo fifo = make(4, packets, 1);
        assert_int_equal(mapped_halves(&after), 4);
        assert_int_equal(prt_ring_enlarge(&fifo.ring, &fifo.at, packets * 2, &error), PRT_OK);
        assert_int_equal(mapped_halves(&after), 4);
        prt_ring_destroy(&fifo.ring);
        assert_null(fifo.ring.memory);
        prt_ring_destroy(&fifo.ring); /* a second time it does nothing */
    }
    assert_int_equal(mapped_halves(&after), 2);
    assert_true(after <
                before + packets); /* what the C library keeps is less than a quarter of a ring */
    prt_ring_destroy(&kept.ring);
    assert_int_equal(mapped_halves(&after), 0);
}

/* The depth stays, and windows are contiguous in the larger ring, too. */
static void a_larger_ring_keeps_the_depth(void **unused)
{
    (void)unused;
    struct fifo fifo = make(4, 5, 1);
    struct prt_error error;
    assert_int_equal(prt_ring_enlarge(&fifo.ring, &fifo.at, UINT64_MAX, &error), PRT_E_NOMEM);
    assert_int_equal(prt_ring_enlarge(&fifo.ring, &fifo.at, 5000, &error), PRT_OK);
    assert_true(fifo.at.ring_bytes >= 5000 * 4);
    assert_int_equal(core_fifo_room(&fifo.at), 5);
    for (uint32_t n = 0; n < 30000; n += 5) {
        uint32_t *out = prt_ring_claim(&fifo.ring, &fifo.at, 5);
        for (uint32_t i = 0; i < 5; i++)
            out[i] = n + i;
        core_fifo_commit(&fifo.at, 5);
        assert_int_equal(core_fifo_room(&fifo.at), 0);
        const uint32_t *in = prt_ring_window(&fifo.ring, &fifo.at, 0);
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(in[i], n + i);
        core_fifo_release(&fifo.at, 0, 5);
    }
    prt_ring_destroy(&fifo.ring);
}

/* Packet n lies at n times the width; past the end of the memory the ring goes on. */
static void a_placed_fifo_uses_the_memory_up_to_its_end(void **unused)
{
    (void)unused;
    struct fifo fifo = make(4, 5, 1);
    uint32_t memory[12];
    assert_int_equal(prt_ring_alignment(&fifo.at), 4);
    prt_ring_place(&fifo.ring, &fifo.at, memory, sizeof memory, 12);
    assert_int_equal(fifo.at.ring_bytes, sizeof memory);
    for (uint32_t n = 0; n < 30; n += 5) {
        bool fits = n + 5 <= 12;
        uint32_t *out = prt_ring_claim(&fifo.ring, &fifo.at, 5);
        if (fits)
            assert_ptr_equal(out, &memory[n]);
        else
            assert_true(out < memory || out >= memory + 12);
        assert_int_equal(prt_ring_is_placed(&fifo.ring), fits);
        for (uint32_t i = 0; i < 5; i++)
            out[i] = n + i;
        core_fifo_commit(&fifo.at, 5);
        const uint32_t *in = prt_ring_window(&fifo.ring, &fifo.at, 0);
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(in[i], n + i);
        core_fifo_release(&fifo.at, 0, 5);
    }
    assert_int_equal(fifo.ring.from_packets, 10);
    prt_ring_destroy(&fifo.ring);
}

/* While it is placed its ring is enlarged as well: that is where it goes on. */
static void a_placed_fifo_leaves_for_the_larger_ring(void **unused)
{
    (void)unused;
    struct fifo fifo = make(4, 5000, 1);
    struct prt_error error;
    uint32_t memory[8];
    prt_ring_place(&fifo.ring, &fifo.at, memory, sizeof memory, 8);
    assert_int_equal(prt_ring_enlarge(&fifo.ring, &fifo.at, 50000, &error), PRT_OK);
    assert_true(prt_ring_is_placed(&fifo.ring));
    assert_ptr_equal(prt_ring_claim(&fifo.ring, &fifo.at, 8), memory);
    core_fifo_commit(&fifo.at, 8);
    core_fifo_release(&fifo.at, 0, 8);
    uint8_t *out = prt_ring_claim(&fifo.ring, &fifo.at, 5000);
    assert_false(prt_ring_is_placed(&fifo.ring));
    assert_true(fifo.at.ring_bytes >= 50000 * 4);
    memset(out, 1, 5000 * 4);
    core_fifo_commit(&fifo.at, 5000);
    prt_ring_destroy(&fifo.ring);
}

/* Back in the ring every reader finds the packets where the writer puts them. */
static void all_readers_leave_the_memory(void **unused)
{
    (void)unused;
    struct fifo fifo = make(4, 5, 3);
    uint32_t memory[6], *out;
    prt_ring_place(&fifo.ring, &fifo.at, memory, sizeof memory, 6);
    for (int part = 0; part < 2; part++) {
        assert_ptr_equal(prt_ring_claim(&fifo.ring, &fifo.at, 3), memory + 3 * part);
        core_fifo_commit(&fifo.at, 3);
        for (uint32_t r = 0; r < 3; r++)
            core_fifo_release(&fifo.at, r, 3);
    }
    out = prt_ring_claim(&fifo.ring, &fifo.at, 2);
    assert_false(prt_ring_is_placed(&fifo.ring));
    out[0] = 17;
    out[1] = 18;
    core_fifo_commit(&fifo.at, 2);
    for (uint32_t r = 0; r < 3; r++) {
        const uint32_t *in = prt_ring_window(&fifo.ring, &fifo.at, r);
        assert_int_equal(core_fifo_held(&fifo.at, r), 2);
        assert_int_equal(in[0], 17);
        assert_int_equal(in[1], 18);
    }
    prt_ring_destroy(&fifo.ring);
}

/* No page more than it takes. */
static void rings_are_whole_pages(void **unused)
{
    (void)unused;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    for (uint64_t pages = 1; pages <= 3; pages++) {
        const uint64_t depths[] = {pages * page - 1, pages * page, pages * page + 1};
        for (int i = 0; i < 3; i++) {
            struct fifo fifo = make(1, depths[i], 1);
            assert_int_equal(fifo.at.ring_bytes, (pages + (i == 2)) * page);
            prt_ring_destroy(&fifo.ring);
        }
    }
}

static void a_fifo_may_have_no_readers_from_the_start(void **unused)
{
    (void)unused;
    struct fifo fifo = make(4, 5, 0);
    for (int i = 0; i < 4; i++) {
        prt_ring_claim(&fifo.ring, &fifo.at, 5);
        core_fifo_commit(&fifo.at, 3);
        assert_int_equal(core_fifo_room(&fifo.at), 5);
    }
    assert_int_equal(fifo.at.discarded_packets, 12);
    prt_ring_destroy(&fifo.ring);
}

/* Packets written and released across the end of the ring are taken back, as if neither had happened. */
static void steps_are_taken_back_across_the_wrap(void **unused)
{
    (void)unused;
    struct fifo fifo = make(4, 6, 2);
    const uint64_t ring_packets = fifo.at.ring_bytes / 4;
    for (uint64_t written = 0; written < 2 * ring_packets; written += 4) {
        for (int again = 0; again < 2; again++) { /* the first time is taken back */
            uint32_t *out = prt_ring_claim(&fifo.ring, &fifo.at, 4);
            for (uint32_t i = 0; i < 4; i++)
                out[i] = (uint32_t)(written + i) - (again == 0);
            core_fifo_commit(&fifo.at, 4);
            core_fifo_release(&fifo.at, 0, 3);
            if (again == 1) break;
            core_fifo_reclaim(&fifo.at, 0, 0);
            assert_int_equal(core_fifo_held(&fifo.at, 0), 1);
            core_fifo_reclaim(&fifo.at, 0, 1);
            assert_int_equal(core_fifo_held(&fifo.at, 0),
                             2); /* of which reader 1 holds the oldest */
            core_fifo_reclaim(&fifo.at, 0, 2);
            assert_int_equal(core_fifo_held(&fifo.at, 0), 4);
            assert_int_equal(core_fifo_room(&fifo.at), 2);
            core_fifo_retract(&fifo.at, 4);
            assert_int_equal(core_fifo_held(&fifo.at, 1), 0);
        }
        core_fifo_release(&fifo.at, 0, 1);
        assert_int_equal(core_fifo_room(&fifo.at), 2);
        const uint32_t *in = prt_ring_window(&fifo.ring, &fifo.at, 1);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(in[i], (uint32_t)(written + i));
        core_fifo_release(&fifo.at, 1, 4);
        assert_int_equal(core_fifo_room(&fifo.at), 6);
    }
    prt_ring_destroy(&fifo.ring);
}

TEST_MAIN("fifo", cmocka_unit_test(steps_are_taken_back_across_the_wrap),
          cmocka_unit_test(a_placed_fifo_leaves_for_the_larger_ring),
          cmocka_unit_test(all_readers_leave_the_memory), cmocka_unit_test(rings_are_whole_pages),
          cmocka_unit_test(a_fifo_may_have_no_readers_from_the_start),
          cmocka_unit_test(the_depth_is_exact),
          cmocka_unit_test(unused_room_is_given_back_at_the_commit),
          cmocka_unit_test(windows_are_contiguous_across_the_wrap),
          cmocka_unit_test(windows_keep_the_alignment_of_their_packets),
          cmocka_unit_test(room_is_that_of_the_slowest_reader),
          cmocka_unit_test(a_detached_reader_holds_no_room),
          cmocka_unit_test(room_is_freed_by_the_last_of_the_slowest_readers),
          cmocka_unit_test(a_pattern_is_repeated_up_to_the_last_packet),
          cmocka_unit_test(without_readers_packets_are_discarded_and_counted),
          cmocka_unit_test(initial_packets_repeat_their_pattern),
          cmocka_unit_test(closing_twice_is_closing_once),
          cmocka_unit_test(a_larger_ring_keeps_the_depth),
          cmocka_unit_test(a_placed_fifo_uses_the_memory_up_to_its_end),
          cmocka_unit_test(rings_leave_no_mapping),
          cmocka_unit_test(sizes_that_overflow_are_refused))
