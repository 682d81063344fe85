/* What control groups grant: the least of a group and those it is in, in whole processors. */
#include "tests/test.h"

#include "runtime/device/host_quota.h"
#include "runtime/device/host_thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/pipec-quota-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        fail_msg("%s", path);
        return;
    }
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static uint32_t quota(const char *groups, const char *outer, const char *inner)
{
    char path[128];
    write_file("groups", groups);
    write_file("cpu.max", "max 100000\n");
    write_file("outer/cpu.max", outer);
    write_file("outer/inner/cpu.max", inner);
    snprintf(path, sizeof path, "%s/groups", folder);
    return prt_host_quota(path, folder);
}

static int create_folders(void **unused)
{
    (void)unused;
    char path[128];
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(path, sizeof path, "%s/outer", folder);
    if (mkdir(path, 0700) != 0) return -1;
    snprintf(path, sizeof path, "%s/outer/inner", folder);
    return mkdir(path, 0700);
}

static int remove_folders(void **unused)
{
    static const char *const names[] = {
        "outer/inner/cpu.max", "outer/inner", "outer/cpu.max", "outer", "cpu.max", "groups"};
    (void)unused;
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (remove(path) != 0) return -1;
    }
    return rmdir(folder);
}

static void the_least_of_all_groups_counts(void **unused)
{
    (void)unused;
    const char *own = "7:cpu:/elsewhere\n0::/outer/inner\n";
    assert_int_equal(quota(own, "max 100000\n", "max 100000\n"), UINT32_MAX);
    assert_int_equal(quota(own, "max 100000\n", "200000 100000\n"), 2);
    assert_int_equal(quota(own, "150000 100000\n", "400000 100000\n"), 2);
    assert_int_equal(quota(own, "150000 100000\n", "1000 100000\n"), 1);
    assert_int_equal(quota("0::/outer\n", "300000 100000\n", "100000 100000\n"), 3);
    assert_int_equal(quota("0::/\n", "100000 100000\n", "100000 100000\n"), UINT32_MAX);
}

static void what_cannot_be_read_is_no_limit(void **unused)
{
    (void)unused;
    assert_int_equal(quota("3:cpu:/outer\n", "100000 100000\n", "max\n"), UINT32_MAX);
    assert_int_equal(quota("0::/outer\n", "100000 0\n", "max\n"), UINT32_MAX);
    assert_int_equal(quota("0::/outer\n", "", "max\n"), UINT32_MAX);
    assert_int_equal(prt_host_quota("/nonexistent/groups", folder), UINT32_MAX);
}

static void no_more_processors_than_that_are_used(void **unused)
{
    (void)unused;
    assert_in_range(prt_host_processors(), 1,
                    prt_host_quota(PRT_HOST_GROUPS, PRT_HOST_GROUPS_MOUNT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_of_all_groups_counts),
        cmocka_unit_test(what_cannot_be_read_is_no_limit),
        cmocka_unit_test(no_more_processors_than_that_are_used),
    };
    return cmocka_run_group_tests(tests, create_folders, remove_folders);
}
