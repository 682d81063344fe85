/* SPDX-License-Identifier: MIT */
#include "tests/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/support/child.h"
#include "compiler/support/output.h"

enum { KIND_NUMBERS = 7, KIND_LARGE = 9, LARGE_BYTES = 1 << 20 };

/* How a child ends that does `work`, when its messages have been read. */
static struct child_end end_of(struct arena *arena, child_work *work)
{
    struct child_message message;
    struct child *child = child_start(arena, work, NULL);
    assert_non_null(child);
    while (child_receive(child, &message))
        continue;
    return child_finish(child);
}

/* ---- messages ---- */

static void send_both(struct child_line *line, void *data)
{
    struct arena *arena = arena_create();
    struct parcel numbers = {.arena = arena}, large = {.arena = arena};
    pack_number(&numbers, *(uint64_t *)data);
    pack_text(&numbers, "text");
    pack_text(&numbers, NULL);
    pack_span(&numbers, (struct span){2, 3, 5});
    child_send(line, KIND_NUMBERS, &numbers);
    unsigned char *bytes = ARENA_ARRAY(arena, unsigned char, LARGE_BYTES);
    memset(bytes, 0x5A, LARGE_BYTES);
    pack_bytes(&large, bytes, LARGE_BYTES);
    child_send(line, KIND_LARGE, &large);
}

static void messages_come_whole_and_in_order(void **state)
{
    (void)state;
    uint64_t number = UINT64_MAX - 1;
    struct arena *arena = arena_create();
    struct child *child = child_start(arena, send_both, &number);
    struct child_message message;
    assert_non_null(child);
    assert_true(child_receive(child, &message));
    assert_int_equal(message.kind, KIND_NUMBERS);
    assert_true(unpack_number(&message.parcel) == number);
    assert_string_equal(unpack_text(&message.parcel), "text");
    assert_null(unpack_text(&message.parcel));
    struct span span = unpack_span(&message.parcel, 2);
    assert_true(span.source == 2 && span.begin == 3 && span.end == 5);
    assert_true(!message.parcel.damaged && message.parcel.size_bytes == 0);
    assert_true(child_receive(child, &message));
    size_t size;
    const unsigned char *bytes = unpack_bytes(&message.parcel, &size);
    assert_int_equal(size, LARGE_BYTES);
    assert_true(bytes[0] == 0x5A && bytes[LARGE_BYTES - 1] == 0x5A);
    assert_false(child_receive(child, &message));
    assert_int_equal(child_finish(child).fate, CHILD_ENDED);
    arena_destroy(arena);
}

static void send_without_end(struct child_line *line, void *data)
{
    (void)data;
    struct arena *arena = arena_create();
    struct parcel parcel = {.arena = arena};
    pack_number(&parcel, 0);
    for (;;)
        child_send(line, KIND_NUMBERS, &parcel);
}

static void messages_that_nobody_wants_end_the_child(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct child_message message;
    struct child *child = child_start(arena, send_without_end, NULL);
    assert_non_null(child);
    assert_true(child_receive(child, &message));
    struct child_end end = child_finish(child);
    assert_int_equal(end.fate, CHILD_KILLED);
    assert_int_equal(end.number, SIGKILL);
    arena_destroy(arena);
}

/* ---- parcels are not trusted ---- */

static void counts_beyond_the_parcel_are_damage(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct parcel parcel = {.arena = arena};
    pack_number(&parcel, UINT64_MAX);
    pack_number(&parcel, 1);
    struct parcel_reader reader = {
        .arena = arena, .bytes = parcel.bytes.items, .size_bytes = parcel.bytes.count};
    struct parcel_reader again = reader;
    size_t size;
    assert_null(unpack_bytes(&reader, &size));
    assert_true(reader.damaged && size == 0);
    assert_int_equal(unpack_number(&reader), 0);
    assert_int_equal(unpack_small(&again, 5), 0);
    assert_true(again.damaged);
    arena_destroy(arena);
}

static void every_prefix_of_a_parcel_is_damage(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct parcel parcel = {.arena = arena};
    pack_text(&parcel, "words");
    pack_span(&parcel, (struct span){1, 0, 4});
    for (size_t size = 0; size <= parcel.bytes.count; size++) {
        struct parcel_reader reader = {
            .arena = arena, .bytes = parcel.bytes.items, .size_bytes = size};
        unpack_text(&reader);
        unpack_span(&reader, 1);
        assert_true(reader.damaged == (size < parcel.bytes.count));
    }
    arena_destroy(arena);
}

/* ---- ends ---- */

static void be_killed(struct child_line *line, void *data)
{
    (void)line, (void)data;
    raise(SIGSEGV);
}

static void be_quiet(struct child_line *line, void *data)
{
    (void)line, (void)data;
    exit(3);
}

static void abort_for_memory(struct child_line *line, void *data)
{
    (void)line, (void)data;
    fputs("LLVM ERROR: out of memory\n", stderr);
    fflush(stderr);
    abort();
}

/* Where a sanitizer sees them at the exit, which is in the midst of a call that does not return. */
static struct arena *volatile parents_arena, *volatile own_arena;

static void exhaust_an_arena(struct child_line *line, void *data)
{
    (void)line, (void)data;
    own_arena = arena_create();
    arena_alloc(own_arena, SIZE_MAX);
}

static void each_end_is_told(void **state)
{
    (void)state;
    struct arena *arena = parents_arena = arena_create();
    struct child_end end = end_of(arena, be_killed);
    assert_int_equal(end.fate, CHILD_KILLED);
    assert_int_equal(end.number, SIGSEGV);
    end = end_of(arena, be_quiet);
    assert_int_equal(end.fate, CHILD_EXITED);
    assert_int_equal(end.number, 3);
    end = end_of(arena, abort_for_memory);
    assert_int_equal(end.fate, CHILD_NO_MEMORY);
    assert_string_equal(end.words, "LLVM ERROR: out of memory\n");
    assert_int_equal(end_of(arena, exhaust_an_arena).fate, CHILD_NO_MEMORY);
    arena_destroy(arena);
}

/* Its exit handlers run, and find nothing to remove. */
static void files_of_the_parent_stay(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const char *folder = getenv("TMPDIR");
    char *path = arena_printf(arena, "%s/child-XXXXXX", folder != NULL ? folder : "/tmp");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    cleanup_install();
    cleanup_add(path, false);
    assert_int_equal(end_of(arena, be_quiet).fate, CHILD_EXITED);
    assert_int_equal(access(path, F_OK), 0);
    cleanup_forget(path);
    assert_int_equal(unlink(path), 0);
    arena_destroy(arena);
}

TEST_MAIN("child", cmocka_unit_test(messages_come_whole_and_in_order),
          cmocka_unit_test(messages_that_nobody_wants_end_the_child),
          cmocka_unit_test(counts_beyond_the_parcel_are_damage),
          cmocka_unit_test(every_prefix_of_a_parcel_is_damage), cmocka_unit_test(each_end_is_told),
          cmocka_unit_test(files_of_the_parent_stay))
