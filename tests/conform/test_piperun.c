/* SPDX-License-Identifier: MIT */
/*
 * The command itself, as its manual page has it: what is printed, exit statuses, standard streams.
 * Runs PIPERUN, with the pipec beside it (tests/run.sh names them).
 */
#include "tests/test.h"

#include "runtime/host/pipert.h"
#include "tests/conform/made_container.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], printed[65536];

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    if (file == NULL) abort();
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* By a shell: the commands are this file's own. */
static int shell(const char *command)
{
    return system(command); /* NOLINT(bugprone-command-processor) */
}

/* Runs it in the folder; `printed` is its standard error.  The exit status. */
static int run(const char *command)
{
    char line[1024];
    snprintf(line, sizeof line, "exec 2>stderr; %s", command);
    int status = shell(line);
    FILE *file = fopen("stderr", "r");
    if (file == NULL) abort();
    size_t size = fread(printed, 1, sizeof printed - 1, file);
    printed[size] = '\0';
    fclose(file);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool is_printed(const char *text)
{
    return strstr(printed, text) != NULL;
}

static off_t size_of(const char *name)
{
    struct stat about;
    return stat(name, &about) == 0 ? about.st_size : -1;
}

/* Every test has a folder of its own, with two programs that are there already. */
static int begin(void **unused)
{
    const char *piperun = getenv("PIPERUN"), *pipec = getenv("PIPEC");
    (void)unused;
    folder[0] = '\0';
    if (piperun == NULL || pipec == NULL || access(piperun, X_OK) != 0 || access(pipec, X_OK) != 0)
        return 0;
    snprintf(folder, sizeof folder, "/tmp/test_piperun.XXXXXX");
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) return -1;
    write_file("mask.pipe",
               "kernel mask(in u8 data pop 4, in u8 key pop 4, out u8 y push 4) {\n"
               "    for (i32 i = 0; i < 4; i++) y <- data[i] ^ key[i];\n"
               "}\n"
               "pipeline main(in u8 data, in u8 key, out u8 y) { m: mask(data, key -> y); }\n");
    write_file("ten.u8", "0123456789");
    return run("\"$PIPEC\" mask.pipe -o mask.pbc");
}

static int end(void **unused)
{
    char line[128];
    (void)unused;
    if (folder[0] == '\0') return 0;
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return chdir("/") != 0 || shell(line) != 0;
}

#define NEEDS_PROGRAMS()                                                                           \
    do {                                                                                           \
        if (folder[0] == '\0') SKIP_BECAUSE("PIPEC and PIPERUN name no programs");                 \
    } while (0)

static void initial_packets_of_a_loop_are_not_missed(void **unused)
{
    (void)unused;
    NEEDS_PROGRAMS();
    write_file("loop.pipe", "kernel mix(in i32 x, in i32 back, out i32 y) { y <- x + back; }\n"
                            "kernel copy(in i32 x, out i32 y) { y <- x; }\n"
                            "pipeline main(in i32 x, out i32 y) {\n"
                            "    buffer i32 back init 3 x 0, sum;\n"
                            "    mix(x, back -> sum);\n"
                            "    sum -> copy -> back;\n"
                            "    sum -> copy -> y;\n"
                            "}\n");
    assert_int_equal(run("\"$PIPERUN\" loop.pipe x=gen:ramp:10 y=null"), 0);
    assert_string_equal(printed, "");
    write_file("ahead.pipe", "kernel mix(in i32 x, in i32 back, out i32 y) { y <- x + back; }\n"
                             "kernel copy(in i32 x, out i32 y) { y <- x; }\n"
                             "pipeline main(in i32 x, out i32 y) {\n"
                             "    buffer i32 back init 3 x 0;\n"
                             "    x -> copy -> back;\n"
                             "    mix(x, back -> y);\n"
                             "}\n");
    assert_int_equal(run("\"$PIPERUN\" ahead.pipe x=gen:ramp:10 y=null"), 0);
    assert_string_equal(printed, "piperun: note: 3 packets left over in buffer 'back': its reader "
                                 "'mix' found too few in 'x'\n");
}

static void leftovers_are_explained_as_they_are(void **unused)
{
    (void)unused;
    NEEDS_PROGRAMS();
    assert_int_equal(run("\"$PIPERUN\" mask.pbc data=ten.u8 key=gen:ramp:7 y=out.u8"), 0);
    assert_string_equal(printed,
                        "piperun: note: 6 packets left over in buffer 'data': its reader 'm' found "
                        "too few in 'key'\n"
                        "piperun: note: 3 packets left over in buffer 'key': too few for another "
                        "firing\n");
    assert_int_equal(run("\"$PIPERUN\" mask.pbc data=ten.u8 key=gen:ramp y=out.u8"), 0);
    assert_string_equal(printed, "piperun: note: 2 packets left over in buffer 'data': too few for "
                                 "another firing\n"); /* nothing of what is endless */
    assert_int_equal(run("\"$PIPERUN\" -q mask.pbc data=ten.u8 key=gen:ramp:7 y=out.u8"), 0);
    assert_string_equal(printed, "");
}

static void v_says_what_is_done(void **unused)
{
    (void)unused;
    NEEDS_PROGRAMS();
    assert_int_equal(run("\"$PIPERUN\" -vq mask.pipe data=ten.u8 key=gen:ramp y=out.u8"), 0);
    assert_true(is_printed("piperun: done: compiled 'mask.pipe' with '"));
    assert_true(is_printed("piperun: done: loaded pipeline 'main' for device 'sim16' ("));
    assert_true(is_printed("piperun: done: port 'data' (u8) reads 'ten.u8' as raw\n"));
    assert_true(is_printed("piperun: done: port 'y' (u8) writes 'out.u8' as raw\n"));
    assert_true(is_printed("piperun: done: wrote 'out.u8'\n"));
}

static void sources_are_files_whatever_their_name(void **unused)
{
    (void)unused;
    NEEDS_PROGRAMS();
    assert_int_equal(run("cp mask.pipe ./-o.pipe"), 0);
    assert_int_equal(run("\"$PIPERUN\" -- -o.pipe data=ten.u8 key=gen:ramp y=out.u8"), 0);
    assert_int_equal(size_of("out.u8"), 8);
    /* a parent that ignores the ends of its children */
    assert_int_equal(run("trap '' CHLD; \"$PIPERUN\" mask.pipe data=ten.u8 key=gen:ramp y=two.u8"),
                     0);
    assert_int_equal(size_of("two.u8"), 8);
}

/* Output for a closed stream goes nowhere else. */
static void closed_standard_streams_are_errors(void **unused)
{
    (void)unused;
    NEEDS_PROGRAMS();
    assert_int_equal(run("\"$PIPERUN\" -q mask.pbc data=ten.u8 key=gen:ramp y=- >&-"), 2);
    assert_true(is_printed("piperun: error: standard output: cannot write: "));
    assert_int_equal(run("\"$PIPERUN\" -q mask.pbc data=- key=gen:ramp y=out.u8 <&-"), 2);
    assert_true(is_printed("piperun: error: standard input: cannot read at byte 0: "));
    assert_int_equal(size_of("out.u8"), -1);
    assert_int_equal(
        run("\"$PIPERUN\" -q --stats=json:- mask.pbc data=ten.u8 key=gen:ramp y=out.u8 >&-"), 2);
    assert_true(is_printed("piperun: error: standard output: "));
    assert_int_equal(size_of("out.u8"), 8);
}

/* Two outputs would be one file, whatever the spelling: one of them would be lost. */
static void outputs_are_different_files(void **unused)
{
    (void)unused;
    NEEDS_PROGRAMS();
    write_file("two.pipe", "kernel two(in u8 x, out u8 y, out u8 z) { y <- x; z <- x; }\n"
                           "pipeline main(in u8 x, out u8 y, out u8 z) { two(x -> y, z); }\n");
    assert_int_equal(run("\"$PIPEC\" two.pipe -o two.pbc"), 0);
    assert_int_equal(run("\"$PIPERUN\" two.pbc x=ten.u8 y=out.u8 z=./out.u8"), 2);
    assert_string_equal(printed,
                        "piperun: error: ports 'y' and 'z' are bound to one file: 'out.u8' is "
                        "'./out.u8' by another name\n");
    assert_int_equal(size_of("out.u8"), -1);
    assert_int_equal(run("ln -s other.u8 link.u8; : >other.u8; "
                         "\"$PIPERUN\" two.pbc x=ten.u8 y=link.u8 z=other.u8"),
                     2);
    assert_int_equal(run("\"$PIPERUN\" two.pbc x=ten.u8 y=- z=./-,raw >one.u8"), 0);
    assert_int_equal(size_of("one.u8"), 10);
    assert_int_equal(size_of("-"), 10);
}

static void every_error_is_one_of_piperun(void **unused)
{
    (void)unused;
    NEEDS_PROGRAMS();
    write_file("bad.sasm", ".stages 1\nbogus\n");
    assert_int_equal(run("\"$PIPERUN\" asm bad.sasm --into mask.pbc -o new.pbc"), 1);
    assert_true(is_printed("piperun: error: bad.sasm:2: "));
    assert_int_equal(size_of("new.pbc"), -1);
    assert_int_equal(run("\"$PIPERUN\" mask.pbc dta=ten.u8"), 2);
    assert_string_equal(printed, "piperun: error: pipeline 'main' has no port 'dta'; did you mean "
                                 "'data'?\n");
    assert_int_equal(run("\"$PIPERUN\" mask.pbc dta=ten.u8 data=ten.u8"), 2);
    assert_false(is_printed("did you mean 'data'"));
    assert_int_equal(run("\"$PIPERUN\" \"$(printf 'a\\033[31m')\""), 2);
    assert_true(is_printed("piperun: error: there is no command 'a\\x1B[31m' ("));
}

/* ---- the same containers through the library ---- */

struct mask_host {
    size_t given, taken;
    bool right;
};

static enum prt_status give(void *context, void *packets, size_t capacity, size_t *count,
                            struct prt_error *error)
{
    struct mask_host *host = context;
    (void)error;
    *count = 1000 - host->given < capacity ? 1000 - host->given : capacity;
    memset(packets, 0x5a, *count);
    host->given += *count;
    return PRT_OK;
}

static enum prt_status give_zeros(void *context, void *packets, size_t capacity, size_t *count,
                                  struct prt_error *error)
{
    (void)context;
    (void)error;
    memset(packets, 0, capacity);
    *count = capacity;
    return PRT_OK;
}

static enum prt_status take(void *context, const void *packets, size_t count,
                            struct prt_error *error)
{
    struct mask_host *host = context;
    (void)error;
    for (size_t i = 0; i < count; i++)
        host->right = host->right && ((const uint8_t *)packets)[i] == 0x5a;
    host->taken += count;
    return PRT_OK;
}

static bool load_and_run(void)
{
    struct mask_host host = {.right = true};
    struct prt_program *program = NULL;
    struct prt_run *run = NULL;
    struct prt_run_options options = {.host_threads = 2};
    bool good = prt_program_load_file("mask.pbc", &program, NULL) == PRT_OK &&
                prt_run_create(program, &options, &run, NULL) == PRT_OK;
    good = good &&
           prt_run_bind_input(run, prt_program_find_port(program, "data"), give, &host, NULL) ==
               PRT_OK &&
           prt_run_bind_input(run, prt_program_find_port(program, "key"), give_zeros, NULL, NULL) ==
               PRT_OK &&
           prt_run_bind_output(run, prt_program_find_port(program, "y"), take, &host, NULL) ==
               PRT_OK &&
           prt_run_execute(run, NULL) == PRT_OK && host.right && host.taken == 1000;
    prt_run_destroy(run);
    prt_program_free(program);
    return good;
}

static void *load_and_run_often(void *context)
{
    bool *good = context;
    for (int i = 0; i < 25 && *good; i++)
        *good = load_and_run();
    return NULL;
}

/* Each loads its own image, runs it, unloads it: none takes another's. */
static void images_are_independent_across_threads(void **unused)
{
    (void)unused;
    NEEDS_PROGRAMS();
    pthread_t threads[4];
    bool good[4] = {true, true, true, true};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, load_and_run_often, &good[i]), 0);
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(good[i]);
    }
}

/* ---- images for other processors ---- */

/* Writes a container anew in which the first `count` images need a feature that no processor has. */
static void need_the_unknown(const char *from, const char *to, uint32_t count)
{
    static uint8_t bytes[1 << 20];
    struct container_section images;
    FILE *file = fopen(from, "rb");
    if (file == NULL) abort();
    size_t size = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    assert_true(size > sizeof(struct container_header) && size < sizeof bytes);
    const size_t entry = sizeof(struct container_header) + (CONTAINER_IMAGES - 1) * sizeof images;
    memcpy(&images, bytes + entry, sizeof images);
    for (uint32_t i = 0; i < count; i++) {
        struct container_image image;
        uint8_t *at = bytes + images.offset_bytes + i * sizeof image;
        memcpy(&image, at, sizeof image);
        image.features |= UINT64_C(1) << 63;
        memcpy(at, &image, sizeof image);
    }
    made_fix_checksum(bytes, size);
    file = fopen(to, "wb");
    if (file == NULL) abort();
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void the_best_image_that_the_processor_can_run_is_chosen(void **unused)
{
    static const char *const ran[] = {"(x86-64-v2, ", "(x86-64, "};
    (void)unused;
    NEEDS_PROGRAMS();
    assert_int_equal(run("\"$PIPEC\" --march=x86-64,x86-64-v2 mask.pipe -o two.pbc"), 0);
    for (uint32_t lacking = 0; lacking < 2; lacking++) {
        need_the_unknown("two.pbc", "lacking.pbc", lacking);
        assert_int_equal(run("\"$PIPERUN\" -v lacking.pbc data=ten.u8 key=ten.u8 y=y.u8"), 0);
        assert_true(is_printed(ran[lacking]));
    }
    need_the_unknown("two.pbc", "lacking.pbc", 2);
    assert_int_equal(run("\"$PIPERUN\" lacking.pbc data=ten.u8 key=ten.u8 y=y.u8"), 6);
    assert_true(is_printed("there are x86-64-v2, x86-64, and the last one needs (unknown)"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
TEST_MAIN("piperun", TEST(leftovers_are_explained_as_they_are),
          TEST(initial_packets_of_a_loop_are_not_missed), TEST(v_says_what_is_done),
          TEST(sources_are_files_whatever_their_name), TEST(closed_standard_streams_are_errors),
          TEST(outputs_are_different_files), TEST(every_error_is_one_of_piperun),
          TEST(images_are_independent_across_threads),
          TEST(the_best_image_that_the_processor_can_run_is_chosen))
