/* SPDX-License-Identifier: MIT */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "compiler/support/intern.h"
#include "compiler/support/source.h"
#include "base/vec.h"
#include "lang/embedded.h"

/* ---- arena ---- */

static void memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (int round = 0; round < 2; round++) {
        for (size_t size_bytes = 0; size_bytes < 200000; size_bytes = size_bytes * 3 + 1) {
            unsigned char *p = arena_alloc(arena, size_bytes);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
            for (size_t i = 0; i < size_bytes; i++)
                assert_int_equal(p[i], 0);
            memset(p, 0xA5, size_bytes);
        }
        arena_reset(arena);
    }
    arena_destroy(arena);
    arena_destroy(NULL);
}

static void reset_memory_is_used_again(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    void *first = arena_alloc(arena, 100);
    arena_reset(arena);
    assert_ptr_equal(arena_alloc(arena, 100), first);
    arena_destroy(arena);
}

static void printf_makes_texts_of_any_length(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (int length = 0; length < 2000; length += 37) {
        char *text = arena_printf(arena, "%*s|%d", length, "", length);
        assert_int_equal(text[length], '|');
        assert_int_equal(strtol(text + length + 1, NULL, 10), length);
    }
    assert_string_equal(arena_string(arena, "abcdef", 3), "abc");
    assert_string_equal(arena_string(arena, "", 0), "");
    arena_destroy(arena);
}

/* Keeps the exit code: what cmocka has allocated is not the child's leak. */
static void leave_at_once(int status, void *nothing)
{
    (void)nothing;
    _exit(status);
}

static void size_overflow_ends_the_process_with_2(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        on_exit(leave_at_once, NULL);
        struct arena *arena = arena_create();
        arena_array(arena, SIZE_MAX / 2, 3);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 2);
}

/* ---- vec, intern ---- */

static void vector_keeps_what_is_pushed(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    VEC(int) numbers = {0};
    for (int i = 0; i < 10000; i++)
        vec_push(arena, &numbers, i * 3);
    assert_int_equal(numbers.count, 10000);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(numbers.items[i], i * 3);
    arena_destroy(arena);
}

static void equal_names_are_one_pointer(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct intern *names = intern_create(arena);
    static const char *seen[20000];
    char text[32];
    for (int i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "name%d", i);
        seen[i] = intern_string(names, text);
        assert_string_equal(seen[i], text);
    }
    for (int i = 0; i < 20000; i++) {
        int length = snprintf(text, sizeof text, "name%dtail", i);
        assert_ptr_equal(intern_name(names, text, (size_t)length - 4), seen[i]);
    }
    assert_ptr_equal(intern_string(names, ""), intern_name(names, "x", 0));
    arena_destroy(arena);
}

/* ---- source ---- */

struct folder {
    char path[64];
    struct arena *arena;
    struct sources *sources;
};

static int make_folder(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    if (!folder) return -1;
    strcpy(folder->path, "/tmp/test_support.XXXXXX");
    if (!mkdtemp(folder->path)) {
        free(folder);
        return -1;
    }
    folder->arena = arena_create();
    folder->sources = sources_create(folder->arena);
    *state = folder;
    return 0;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    return remove(path);
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    int status = nftw(folder->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    arena_destroy(folder->arena);
    free(folder);
    return status;
}

static const char *write_file(struct folder *folder, const char *name, const char *text)
{
    const char *path = arena_printf(folder->arena, "%s/%s", folder->path, name);
    char *parent = arena_string(folder->arena, path, strlen(path));
    *strrchr(parent, '/') = '\0';
    mkdir(parent, 0777);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    if (file && fputs(text, file) >= 0) fclose(file);
    return path;
}

static void place_is(const struct source *source, uint32_t offset, uint32_t line, uint32_t column)
{
    uint32_t found_line, found_column;
    source_locate(source, offset, &found_line, &found_column);
    assert_int_equal(found_line, line);
    assert_int_equal(found_column, column);
}

static void places_count_lines_and_bytes_from_1(void **state)
{
    struct folder *folder = *state;
    static const char text[] = "ab\n\n\tc\r\nlast";
    const struct source *source =
        source_get(folder->sources, source_add(folder->sources, "m", text, sizeof text - 1));
    assert_int_equal(source->line_count, 4);
    place_is(source, 0, 1, 1);
    place_is(source, 2, 1, 3);
    place_is(source, 3, 2, 1);
    place_is(source, 5, 3, 2);
    place_is(source, 8, 4, 1);
    place_is(source, 12, 4, 5);
    place_is(source, 4000000000u, 4, 5);
    source = source_get(folder->sources, source_add(folder->sources, "empty", "", 0));
    assert_int_equal(source->line_count, 1);
    place_is(source, 0, 1, 1);
    assert_null(source_get(folder->sources, 0));
    assert_null(source_get(folder->sources, 3));
}

static void byte_order_mark_is_skipped(void **state)
{
    struct folder *folder = *state;
    uint32_t id;
    const char *path = write_file(folder, "bom.pipe", "\xEF\xBB\xBFkernel");
    assert_int_equal(source_read(folder->sources, path, &id), SOURCE_OK);
    assert_string_equal(source_get(folder->sources, id)->bytes, "kernel");
    assert_int_equal(source_get(folder->sources, id)->size_bytes, 6);
}

static void unreadable_files_say_why(void **state)
{
    struct folder *folder = *state;
    uint32_t id;
    assert_int_equal(source_read(folder->sources, "/nonexistent/a", &id), SOURCE_NOT_FOUND);
    errno = 0;
    assert_int_equal(source_read(folder->sources, folder->path, &id), SOURCE_UNREADABLE);
    assert_int_equal(errno, EISDIR);
    const char *large = write_file(folder, "large", "");
    assert_int_equal(truncate(large, (off_t)SOURCE_MAX_BYTES + 1), 0);
    assert_int_equal(source_read(folder->sources, large, &id), SOURCE_TOO_LARGE);
    assert_int_equal(source_count(folder->sources), 0);
}

static void endless_stream_is_too_large(void **state)
{
    struct folder *folder = *state;
    uint32_t id;
    char path[32];
    int zeros = open("/dev/zero", O_RDONLY);
    assert_true(zeros >= 0);
    snprintf(path, sizeof path, "/dev/fd/%d", zeros);
    assert_int_equal(source_read(folder->sources, path, &id), SOURCE_TOO_LARGE);
    close(zeros);
    assert_int_equal(source_read(folder->sources, "/dev/zero", &id), SOURCE_UNREADABLE);
}

static void import_looks_beside_then_in_folders_then_in_the_library(void **state)
{
    struct folder *folder = *state;
    struct sources *sources = folder->sources;
    uint32_t main_id, id;
    const char *main_path = write_file(folder, "main.pipe", "");
    const char *beside = write_file(folder, "a.pipe", "beside");
    write_file(folder, "lib/a.pipe", "folder");
    const char *in_folder = write_file(folder, "lib/b.pipe", "folder");
    const char *lib[] = {"/nonexistent", arena_printf(folder->arena, "%s/lib", folder->path)};
    assert_int_equal(source_read(sources, main_path, &main_id), SOURCE_OK);
    assert_int_equal(source_import(sources, main_id, "a.pipe", lib, 2, &id), SOURCE_OK);
    assert_string_equal(source_get(sources, id)->name, beside);
    assert_int_equal(source_import(sources, main_id, "b.pipe", lib, 2, &id), SOURCE_OK);
    assert_string_equal(source_get(sources, id)->name, in_folder);
    assert_int_equal(source_import(sources, main_id, "c.pipe", lib, 2, &id), SOURCE_NOT_FOUND);
    assert_int_equal(source_import(sources, main_id, "", lib, 2, &id), SOURCE_NOT_FOUND);
    errno = 0;
    assert_int_equal(source_import(sources, main_id, "lib", lib, 2, &id), SOURCE_UNREADABLE);
    assert_int_equal(errno, EISDIR);
    for (const struct embedded_file *file = embedded_std_files; file->name; file++) {
        assert_int_equal(source_import(sources, main_id, file->name, lib, 2, &id), SOURCE_OK);
        assert_string_equal(source_get(sources, id)->name, file->name);
        assert_string_equal(source_get(sources, id)->bytes, (const char *)file->bytes);
    }
}

static void file_is_loaded_once_under_all_its_names(void **state)
{
    struct folder *folder = *state;
    struct sources *sources = folder->sources;
    uint32_t main_id, first, second;
    const char *main_path = write_file(folder, "main.pipe", "");
    write_file(folder, "sub/a.pipe", "");
    assert_int_equal(source_read(sources, main_path, &main_id), SOURCE_OK);
    assert_int_equal(source_import(sources, main_id, "sub/a.pipe", NULL, 0, &first), SOURCE_OK);
    assert_int_equal(source_import(sources, main_id, "./sub/../sub/a.pipe", NULL, 0, &second),
                     SOURCE_OK);
    assert_int_equal(first, second);
    assert_int_equal(source_import(sources, first, "../main.pipe", NULL, 0, &second), SOURCE_OK);
    assert_int_equal(second, main_id);
}

static void source_from_memory_reaches_no_file_of_its_own(void **state)
{
    struct folder *folder = *state;
    uint32_t id, memory = source_add(folder->sources, "m", "", 0);
    const char *path = write_file(folder, "a.pipe", "");
    const char *folders[] = {folder->path};
    assert_int_equal(source_import(folder->sources, memory, path, NULL, 0, &id), SOURCE_NOT_FOUND);
    assert_int_equal(source_import(folder->sources, memory, path, folders, 1, &id),
                     SOURCE_NOT_FOUND);
    assert_int_equal(source_import(folder->sources, memory, "a.pipe", folders, 1, &id), SOURCE_OK);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

TEST_MAIN("support", cmocka_unit_test(memory_is_zeroed_and_aligned),
          cmocka_unit_test(reset_memory_is_used_again),
          cmocka_unit_test(printf_makes_texts_of_any_length),
          cmocka_unit_test(size_overflow_ends_the_process_with_2),
          cmocka_unit_test(vector_keeps_what_is_pushed),
          cmocka_unit_test(equal_names_are_one_pointer),
          WITH_FOLDER(places_count_lines_and_bytes_from_1), WITH_FOLDER(byte_order_mark_is_skipped),
          WITH_FOLDER(unreadable_files_say_why), WITH_FOLDER(endless_stream_is_too_large),
          WITH_FOLDER(import_looks_beside_then_in_folders_then_in_the_library),
          WITH_FOLDER(file_is_loaded_once_under_all_its_names),
          WITH_FOLDER(source_from_memory_reaches_no_file_of_its_own))
