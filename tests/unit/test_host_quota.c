/* SPDX-License-Identifier: MIT */
/* The grants of control groups of both versions, on made-up trees: the minimum of a group and the groups that contain it, in
 * whole processors and in bytes. */
#include "tests/test.h"

#include "runtime/device/host_quota.h"
#include "runtime/device/host_thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 512, TEXT_BYTES = 4096 };

static char folder[PATH_BYTES - 64]; /* with a space in its name */

static const char *in_folder(char *path, const char *name)
{
    snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    char path[PATH_BYTES];
    FILE *file = fopen(in_folder(path, name), "w");
    if (file == NULL) {
        fail_msg("%s", path);
        return;
    }
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Writes the files "groups" and "mounts": one mount of the folder; the space in its name stands there as \040. */
static void write_mount(const char *groups, const char *root, const char *type, const char *options)
{
    char text[TEXT_BYTES], escaped[PATH_BYTES] = "";
    size_t length = 0;
    for (const char *c = folder; *c != '\0'; c++)
        length += (size_t)snprintf(escaped + length, sizeof escaped - length,
                                   *c == ' ' ? "\\040" : "%c", *c);
    snprintf(text, sizeof text,
             "22 1 0:5 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
             "31 22 0:28 %s %s rw,relatime shared:4 - %s none %s\n",
             root, escaped, type, options);
    write_file("groups", groups);
    write_file("mounts", text);
}

static uint32_t quota_mounted(const char *groups, const char *root, const char *type,
                              const char *options)
{
    char groups_path[PATH_BYTES], path[PATH_BYTES];
    write_mount(groups, root, type, options);
    return prt_host_quota_processors(in_folder(groups_path, "groups"), in_folder(path, "mounts"));
}

static uint64_t memory_mounted(const char *groups, const char *root, const char *type,
                               const char *options)
{
    char groups_path[PATH_BYTES], path[PATH_BYTES];
    write_mount(groups, root, type, options);
    return prt_host_quota_memory_bytes(in_folder(groups_path, "groups"), in_folder(path, "mounts"));
}

static uint32_t quota(const char *groups, const char *outer, const char *inner)
{
    write_file("cpu.max", "max 100000\n");
    write_file("outer/cpu.max", outer);
    write_file("outer/inner/cpu.max", inner);
    return quota_mounted(groups, "/", "cgroup2", "rw,nsdelegate");
}

/* Of version 1. */
static uint32_t quota_first(const char *groups, const char *outer, const char *inner)
{
    static const char *const names[] = {"", "outer/", "outer/inner/"};
    for (size_t i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "%scpu.cfs_quota_us", names[i]);
        write_file(name, i == 0 ? "-1\n" : i == 1 ? outer : inner);
        snprintf(name, sizeof name, "%scpu.cfs_period_us", names[i]);
        write_file(name, "100000\n");
    }
    return quota_mounted(groups, "/", "cgroup", "rw,cpu,cpuacct");
}

static uint64_t memory(const char *groups, const char *outer, const char *inner)
{
    write_file("outer/memory.max", outer);
    write_file("outer/inner/memory.max", inner);
    return memory_mounted(groups, "/", "cgroup2", "rw,nsdelegate");
}

/* Of version 1. */
static uint64_t memory_first(const char *groups, const char *outer, const char *inner)
{
    write_file("memory.limit_in_bytes", "9223372036854771712\n");
    write_file("outer/memory.limit_in_bytes", outer);
    write_file("outer/inner/memory.limit_in_bytes", inner);
    return memory_mounted(groups, "/", "cgroup", "rw,memory");
}

static int create_folders(void **unused)
{
    (void)unused;
    char path[PATH_BYTES];
    const char *where = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/pipec quota-XXXXXX", where != NULL ? where : "/tmp");
    if (mkdtemp(folder) == NULL) return -1;
    if (mkdir(in_folder(path, "outer"), 0700) != 0) return -1;
    return mkdir(in_folder(path, "outer/inner"), 0700);
}

static int remove_folders(void **unused)
{
    static const char *const names[] = {"cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us",
                                        "memory.max", "memory.limit_in_bytes"};
    static const char *const folders[] = {"outer/inner/", "outer/", ""};
    (void)unused;
    char path[PATH_BYTES], name[64];
    remove(in_folder(path, "groups"));
    remove(in_folder(path, "mounts"));
    for (size_t f = 0; f < 3; f++) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            snprintf(name, sizeof name, "%s%s", folders[f], names[i]);
            remove(in_folder(path, name));
        }
        if (rmdir(in_folder(path, folders[f])) != 0) return -1;
    }
    return 0;
}

static void the_least_of_all_groups_counts(void **unused)
{
    (void)unused;
    const char *own = "7:cpuset:/elsewhere\n0::/outer/inner\n";
    assert_int_equal(quota(own, "max 100000\n", "max 100000\n"), UINT32_MAX);
    assert_int_equal(quota(own, "max 100000\n", "200000 100000\n"), 2);
    assert_int_equal(quota(own, "150000 100000\n", "400000 100000\n"), 2);
    assert_int_equal(quota(own, "150000 100000\n", "1000 100000\n"), 1);
    assert_int_equal(quota("0::/outer\n", "300000 100000\n", "100000 100000\n"), 3);
    assert_int_equal(quota("0::/\n", "100000 100000\n", "100000 100000\n"), UINT32_MAX);
}

static void groups_of_version_1_count_too(void **unused)
{
    (void)unused;
    const char *own = "9:cpuset:/outer\n4:cpuacct,cpu:/outer/inner\n0::/\n";
    assert_int_equal(quota_first(own, "-1\n", "-1\n"), UINT32_MAX);
    assert_int_equal(quota_first(own, "-1\n", "200000\n"), 2);
    assert_int_equal(quota_first(own, "150000\n", "400000\n"), 2);
    assert_int_equal(quota_first(own, "150000\n", "1000\n"), 1);
    assert_int_equal(quota_first("4:cpu:/outer\n", "300000\n", "100000\n"), 3);
    assert_int_equal(quota_first("4:cpu:/\n", "100000\n", "100000\n"), UINT32_MAX);
    write_file("outer/cpu.cfs_period_us", "50000\n");
    assert_int_equal(quota_mounted("4:cpu:/outer\n", "/", "cgroup", "rw,cpu"), 2);
}

/* As in a container, whose outermost group is one of the host's. */
static void a_group_below_what_is_mounted_is_found(void **unused)
{
    (void)unused;
    assert_int_equal(quota_first("4:cpu:/outer\n", "200000\n", "100000\n"), 2);
    const char *own = "4:cpu:/host/box/outer/inner\n";
    assert_int_equal(quota_mounted(own, "/host/box", "cgroup", "rw,cpu"), 1);
    assert_int_equal(quota_mounted("4:cpu:/host/box/outer\n", "/host/box", "cgroup", "rw,cpu"), 2);
    assert_int_equal(quota_mounted("4:cpu:/host/box\n", "/host/box/outer", "cgroup", "rw,cpu"),
                     UINT32_MAX);
    assert_int_equal(quota_mounted("4:cpu:/host/box2/outer\n", "/host/box", "cgroup", "rw,cpu"),
                     UINT32_MAX);
}

static void what_cannot_be_read_is_no_limit(void **unused)
{
    (void)unused;
    char path[PATH_BYTES];
    assert_int_equal(quota("0::/outer\n", "100000 100000\n", "max\n"), 1);
    assert_int_equal(quota("3:cpu:/outer\n", "100000 100000\n", "max\n"), UINT32_MAX);
    assert_int_equal(quota("0::/outer\n", "100000 0\n", "max\n"), UINT32_MAX);
    assert_int_equal(quota("0::/outer\n", "", "max\n"), UINT32_MAX);
    assert_int_equal(quota_first("3:cpuset:/outer\n", "100000\n", "100000\n"), UINT32_MAX);
    assert_int_equal(quota_first("3:cpu:/outer\n", "\n", "100000\n"), UINT32_MAX);
    assert_int_equal(quota_mounted("3:cpu:/outer/inner\n", "/", "cgroup", "rw,cpuset"), UINT32_MAX);
    assert_int_equal(quota_mounted("3:cpu:/outer/inner\n", "/", "tmpfs", "rw,cpu"), UINT32_MAX);
    assert_int_equal(prt_host_quota_processors("/nonexistent/groups", in_folder(path, "mounts")),
                     UINT32_MAX);
    write_file("groups", "3:cpu:/outer/inner\n");
    assert_int_equal(prt_host_quota_processors(in_folder(path, "groups"), "/nonexistent/mounts"),
                     UINT32_MAX);
}

static void memory_is_that_of_the_smallest_group(void **unused)
{
    (void)unused;
    const char *own = "7:cpuset:/elsewhere\n0::/outer/inner\n";
    assert_int_equal(memory(own, "max\n", "max\n"), UINT64_MAX);
    assert_int_equal(memory(own, "max\n", "536870912\n"), 536870912);
    assert_int_equal(memory(own, "268435456\n", "536870912\n"), 268435456);
    assert_int_equal(memory(own, "268435456\n", "0\n"), 0);
    assert_int_equal(memory("0::/outer\n", "268435456\n", "4096\n"), 268435456);
    assert_int_equal(memory("0::/\n", "4096\n", "4096\n"), UINT64_MAX);
    assert_int_equal(memory_mounted("0::/host/box/outer\n", "/host/box", "cgroup2", "rw"), 4096);
}

static void memory_of_groups_of_version_1_counts_too(void **unused)
{
    (void)unused;
    const char *own = "9:cpu:/\n4:memory:/outer/inner\n0::/\n", *none = "9223372036854771712\n";
    assert_int_equal(memory_first(own, none, none), INT64_MAX / 4096 * 4096);
    assert_int_equal(memory_first(own, none, "536870912\n"), 536870912);
    assert_int_equal(memory_first(own, "268435456\n", "536870912\n"), 268435456);
    assert_int_equal(memory_first("4:cpu:/outer/inner\n", "4096\n", "4096\n"), UINT64_MAX);
    assert_int_equal(memory_mounted(own, "/", "cgroup", "rw,cpu"), UINT64_MAX);
}

static void memory_that_cannot_be_read_is_no_limit(void **unused)
{
    (void)unused;
    static const char *const bad[] = {"",
                                      "\n",
                                      "-4096\n",
                                      "4096 4096\n",
                                      "4096K\n",
                                      "0x10\n",
                                      "many\n",
                                      " 4096\n",
                                      "99999999999999999999999\n"};
    char path[PATH_BYTES];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(memory("0::/outer\n", bad[i], "1\n"), UINT64_MAX);
    assert_int_equal(memory("0::/outer\n", "4096", "1\n"), 4096);
    assert_int_equal(memory("0:/outer\n", "4096\n", "1\n"), UINT64_MAX);
    assert_int_equal(memory("0::/nowhere\n", "4096\n", "1\n"), UINT64_MAX);
    assert_int_equal(memory_mounted("0::/outer\n", "/", "tmpfs", "rw"), UINT64_MAX);
    assert_int_equal(prt_host_quota_memory_bytes("/nonexistent", in_folder(path, "mounts")),
                     UINT64_MAX);
    assert_int_equal(prt_host_quota_memory_bytes(in_folder(path, "groups"), "/nonexistent"),
                     UINT64_MAX);
    assert_int_equal(prt_host_quota_memory_bytes(folder, folder), UINT64_MAX);
}

static void no_more_processors_than_that_are_used(void **unused)
{
    (void)unused;
    assert_in_range(prt_host_processors(), 1,
                    prt_host_quota_processors(PRT_HOST_GROUPS, PRT_HOST_MOUNTS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_of_all_groups_counts),
        cmocka_unit_test(groups_of_version_1_count_too),
        cmocka_unit_test(a_group_below_what_is_mounted_is_found),
        cmocka_unit_test(what_cannot_be_read_is_no_limit),
        cmocka_unit_test(memory_is_that_of_the_smallest_group),
        cmocka_unit_test(memory_of_groups_of_version_1_counts_too),
        cmocka_unit_test(memory_that_cannot_be_read_is_no_limit),
        cmocka_unit_test(no_more_processors_than_that_are_used),
    };
    return cmocka_run_group_tests(tests, create_folders, remove_folders);
}
