/* SPDX-License-Identifier: MIT */
/* Images of containers as pipec writes them: which one is loaded, what is refused and why; programs
 * that are replaced; stages as text. */
#include "tests/test.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/cpu_features.h"
#include "lang/gpu_abi.h"
#include "runtime/load/image.h"
#include "runtime/load/image_ptx.h"
#include "runtime/load/rewrite.h"
#include "runtime/load/stage_listing.h"
#include "runtime/verify/verify.h"
#include "tests/conform/made_container.h"
#include "tests/unit/built_container.h"

static const char program[] =
    "kernel count(in i32 x, out i32 y) { state i32 n; init { n = 5; } n += x; y <- n; finish { y "
    "<- 0; } }\n"
    "kernel uneven(in i32 x pop {3, 1}, out i32 y push {1, 0}) { if (phase == 0) y <- x[0]; }\n"
    "kernel around(in i32 x window 3x1 border wrap, out i32 y) { y <- x[0][-1] + x[0][1]; }\n"
    "kernel positive(in i32 x, out i32 y) { if (x > 0) y <- x; }\n"
    "child kernel mark(out i32 y; i32 v) { y <- v; }\n"
    "kernel asks(in i32 x, out i32 y) nesting 1 { if (x > 3) launch mark(x); else y <- x; }\n"
    "pipeline plain(in i32 x, out i32 y) { x -> count -> y; }\n"
    "pipeline launching(in i32 x, out i32 y) { x -> asks -> y; }\n"
    "pipeline shapes(in i32 x frame 8x2, out i32 y, out i32 z) {\n"
    "  buffer i32 some depth 64; x -> around -> some; some -> uneven -> y; some -> positive -> z;\n"
    "}\n";

static enum prt_status load_image(struct prt_container *c, struct prt_image *image,
                                  struct prt_error *error)
{
    enum prt_status status = prt_image_choose(c, image, error);
    if (status == PRT_OK) status = prt_image_open(c, image, error);
    if (status != PRT_OK) prt_image_free(image);
    return status;
}

static void refused(struct prt_container *c, enum prt_status expected, const char *why)
{
    struct prt_image image;
    struct prt_error error = {0};
    enum prt_status status = load_image(c, &image, &error);
    if (status != expected || strstr(error.message, why) == NULL)
        fail_msg("status %d instead of %d: '%s' is not '%s'", (int)status, (int)expected,
                 error.message, why);
    assert_null(image.nodes);
    assert_int_equal(image.fd, -1);
}

/* Records of a container are read only for whoever loads it; here they are damaged after that. */
#define EDITED(container, table) ((void *)(uintptr_t)(container).table)

static void entries_are_found(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "plain", "sim4");
    struct prt_image image;
    struct prt_error error;
    assert_int_equal(load_image(&c, &image, &error), PRT_OK);
    assert_non_null(image.arguments);
    assert_non_null(image.nodes[0].run);
    assert_non_null(image.nodes[0].init);
    assert_non_null(image.nodes[0].finish);
    assert_ptr_not_equal(image.nodes[0].run, image.nodes[0].finish);
    assert_ptr_equal(image.chosen, &c.images[0]);
    prt_image_free(&image);
    prt_image_free(&image);
    prt_container_free(&c);
    c = built_container(program, "launching", "sim4");
    assert_true(c.interface_count > 0);
    assert_int_equal(load_image(&c, &image, &error), PRT_OK);
    assert_ptr_equal(image.interfaces, image.nodes + c.node_count);
    for (uint32_t i = 0; i < c.interface_count; i++)
        assert_non_null(image.interfaces[i].run);
    prt_image_free(&image);
    struct container_interface *interfaces = EDITED(c, interfaces);
    interfaces[c.interface_count - 1].kernel = 99;
    refused(&c, PRT_E_FORMAT, "lacks the entry of kernel 99");
    prt_container_free(&c);
}

static void entries_that_are_missing_are_named(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "shapes", "sim4");
    struct container_node *nodes = EDITED(c, nodes);
    static const uint32_t flags[] = {CONTAINER_NODE_INIT, CONTAINER_NODE_FINISH};
    for (int i = 0; i < 2; i++) {
        nodes[1].flags |= flags[i];
        refused(&c, PRT_E_FORMAT, "(node 'uneven')");
        nodes[1].flags &= ~flags[i];
    }
    uint32_t kernel = nodes[2].kernel;
    nodes[2].kernel = 77;
    refused(&c, PRT_E_FORMAT, "lacks an entry of kernel 77 (node 'positive')");
    nodes[2].kernel = kernel;
    nodes[2].flags |= CONTAINER_NODE_INIT | CONTAINER_NODE_FINISH;
    refused(&c, PRT_E_FORMAT, "(node 'positive')");
    prt_container_free(&c);
}

static void ptx_refused(struct prt_container *c, const char *why)
{
    struct prt_error error = {0};
    enum prt_status status = prt_image_verify_all(c, &error);
    if (status != PRT_E_FORMAT || strstr(error.message, why) == NULL)
        fail_msg("status %d: '%s' is not '%s'", (int)status, error.message, why);
}

/* The place of a word in the image. */
static char *in_image(struct prt_container *c, const struct container_image *image,
                      const char *word)
{
    char *at = (char *)EDITED(*c, image) + image->offset_bytes;
    char *found = strstr(at, word);
    assert_non_null(found);
    return found;
}

static void damaged_images_for_gpus_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *word, *why;
    } entries[] = {{"pipe_k0_run(", "lacks an entry of kernel 0 (node 'count')"},
                   {"pipe_k0_init(", "lacks an entry of kernel 0 (node 'count')"},
                   {"pipe_k0_finish(", "lacks an entry of kernel 0 (node 'count')"},
                   {"pipe_arguments(", "has no 'pipe_arguments'"},
                   {"pipe_call(", "has no 'pipe_call'"}};
    struct prt_container c = built_container(program, "plain", "cuda");
    struct prt_error error = {0};
    assert_int_equal(c.image_count, 2);
    struct container_image *image = (struct container_image *)EDITED(c, images) + 1;
    assert_int_equal(image->kind, CONTAINER_IMAGE_PTX);
    assert_int_equal(image->features, 80);
    assert_int_equal(prt_image_verify_all(&c, &error), PRT_OK);
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        char *at = in_image(&c, image, entries[i].word);
        *at = 'q';
        ptx_refused(&c, entries[i].why);
        *at = 'p';
    }
    char *first = in_image(&c, image, "");
    static const char bytes[] = {'\0', '\r', '\x7f', '\x1f', (char)0x80};
    for (size_t i = 0; i < sizeof bytes; i++) {
        char before = first[100];
        first[100] = bytes[i];
        ptx_refused(&c, "has a byte that no text has");
        first[100] = before;
    }
    image->size_bytes--;
    ptx_refused(&c, "does not end with a NUL");
    image->size_bytes = 0;
    ptx_refused(&c, "is empty");
    prt_container_free(&c);
}

/* Names that only look like an entry's are none; a kernel has the entries that its node needs, and may lack others. */
static void entries_in_images_for_gpus_are_numbered_by_kernel(void **unused)
{
    (void)unused;
    static const char *const names[] = {"pipe_kq_run(", "pipe_k9_run(", "pipe_k00000000000_run("};
    struct prt_container c = built_container(program, "plain", "cuda");
    struct prt_error error = {0};
    struct container_image *image = (struct container_image *)EDITED(c, images) + 1;
    char *at = in_image(&c, image, "pipe_k0_run("), before[32];
    memcpy(before, at, sizeof before);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        memcpy(at, names[i], strlen(names[i]));
        ptx_refused(&c, "lacks an entry of kernel 0 (node 'count')");
        memcpy(at, before, sizeof before);
    }
    *in_image(&c, image, "pipe_k0_finish(") = 'q';
    ptx_refused(&c, "lacks an entry of kernel 0 (node 'count')");
    struct container_node *nodes = EDITED(c, nodes);
    nodes[0].flags &= ~(uint32_t)CONTAINER_NODE_FINISH;
    assert_int_equal(prt_image_verify_all(&c, &error), PRT_OK);
    prt_container_free(&c);
}

static void entries_of_launched_kernels_are_looked_for_in_images_for_gpus(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "launching", "cuda");
    struct prt_error error = {0};
    assert_int_equal(prt_image_verify_all(&c, &error), PRT_OK);
    struct container_interface *interfaces = EDITED(c, interfaces);
    uint32_t kernel = interfaces[c.interface_count - 1].kernel;
    static const uint32_t numbers[] = {99, UINT32_MAX};
    for (int i = 0; i < 2; i++) {
        interfaces[c.interface_count - 1].kernel = numbers[i];
        ptx_refused(&c, "lacks the entry of kernel");
    }
    interfaces[c.interface_count - 1].kernel = kernel;
    assert_int_equal(prt_image_verify_all(&c, &error), PRT_OK);
    prt_container_free(&c);
}

/* Each firing has a thread of its own, unless firings depend on each other, launch, or leave traces for a debugger. */
static void firings_have_threads_of_a_gpu_unless_one_follows_the_other(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "shapes", "cuda");
    struct container_pipeline pipeline = *c.pipeline;
    const struct container_node good = c.nodes[0];
    c.pipeline = &pipeline;
    assert_true(prt_image_ptx_has_threads(&c, &good));
    for (int i = 0; i < 5; i++) {
        struct container_node node = good;
        if (i == 0) node.flags |= CONTAINER_NODE_STATEFUL;
        if (i == 1) node.flags |= CONTAINER_NODE_LAUNCHES;
        if (i == 2) node.state_bytes = 8;
        if (i == 3) node.input_count = GPU_ENDS_MAX - node.output_count + 1;
        if (i == 4) pipeline.flags |= CONTAINER_PIPELINE_DEBUG;
        assert_false(prt_image_ptx_has_threads(&c, &node));
    }
    pipeline.flags = 0;
    struct container_node most = good;
    most.input_count = GPU_ENDS_MAX - most.output_count;
    assert_true(prt_image_ptx_has_threads(&c, &most));
    prt_container_free(&c);
}

static void the_first_image_for_no_newer_gpu_is_found(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "plain", "cuda");
    assert_int_equal(c.images[1].features, 80);
    assert_ptr_equal(prt_image_ptx_find(&c, 80), &c.images[1]);
    assert_ptr_equal(prt_image_ptx_find(&c, 90), &c.images[1]);
    assert_null(prt_image_ptx_find(&c, 75));
    prt_container_free(&c);
}

static void images_for_gpus_are_not_loaded_for_a_processor(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "plain", "cuda");
    struct container_image *images = EDITED(c, images);
    images[0].kind = CONTAINER_IMAGE_PTX;
    refused(&c, PRT_E_DEVICE, "only images for GPUs (x86-64-v3, sm_80)");
    prt_container_free(&c);
}

/* The names of symbols are found by a hash of what they should be. */
static void an_image_without_arguments_is_refused(void **unused)
{
    (void)unused;
    static const char symbol[] = "pipe_arguments";
    struct prt_container c = built_container(program, "plain", "sim4");
    uint8_t *at = EDITED(c, image);
    size_t renamed = 0;
    for (size_t i = 0; i + sizeof symbol <= c.images[0].size_bytes; i++)
        if (memcmp(at + i, symbol, sizeof symbol) == 0) {
            at[i] = 'x';
            renamed++;
        }
    assert_true(renamed > 0);
    refused(&c, PRT_E_FORMAT, "the image has no 'pipe_arguments'");
    prt_container_free(&c);
}

static void what_is_no_shared_object_is_refused(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "plain", "sim4");
    uint8_t *at = EDITED(c, image);
    at += c.images[0].offset_bytes;
    static const struct {
        size_t offset;
        enum prt_status status;
        const char *why;
    } damages[] = {
        {0, PRT_E_FORMAT, "not a 64-bit shared object"},
        {3, PRT_E_FORMAT, "not a 64-bit shared object"},
        {EI_CLASS, PRT_E_FORMAT, "not a 64-bit shared object"},
        {EI_DATA, PRT_E_FORMAT, "not a 64-bit shared object"},
        {offsetof(Elf64_Ehdr, e_type), PRT_E_FORMAT, "not a 64-bit shared object"},
        {offsetof(Elf64_Ehdr, e_machine), PRT_E_DEVICE, "not for x86-64"},
        {offsetof(Elf64_Ehdr, e_phnum), PRT_E_FORMAT, "has program headers outside of it"},
        {EI_OSABI, PRT_E_OPEN, "cannot load the image: "},
    };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        uint8_t before = at[damages[i].offset];
        at[damages[i].offset] = (uint8_t)~before;
        refused(&c, damages[i].status, damages[i].why);
        at[damages[i].offset] = before;
    }
    /* the name of the memory file does not matter */
    struct prt_image image;
    struct prt_error error;
    at[EI_OSABI] ^= 0xff;
    assert_int_not_equal(load_image(&c, &image, &error), PRT_OK);
    assert_null(strstr(error.message, "/proc/self"));
    static const char loading[] = "cannot load the image: ";
    const char *why = strstr(error.message, loading);
    assert_non_null(why);
    why += sizeof loading - 1; /* nor is what separates it from the reason, a few words */
    assert_true(isalpha((unsigned char)why[0]) && strlen(why) > 8 && strchr(why, ' ') != NULL);
    assert_null(strstr(error.message, "unknown reason"));
    at[EI_OSABI] ^= 0xff;
    struct container_image *images = EDITED(c, images);
    uint64_t size = images[0].size_bytes;
    images[0].size_bytes = sizeof(Elf64_Ehdr) - 1;
    refused(&c, PRT_E_FORMAT, "too small");
    images[0].size_bytes = sizeof(Elf64_Ehdr);
    refused(&c, PRT_E_FORMAT, "has program headers outside of it");
    images[0].size_bytes = size;
    c.image_count = 0;
    refused(&c, PRT_E_FORMAT, "there is no image");
    prt_container_free(&c);
}

/* Descriptor 0 included. */
static void an_image_that_the_linker_refuses_leaves_no_descriptor(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "plain", "sim4");
    struct prt_image image;
    struct prt_error error;
    ((uint8_t *)EDITED(c, image))[c.images[0].offset_bytes + EI_OSABI] ^= 0xff;
    int input = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    enum prt_status status = load_image(&c, &image, &error);
    bool left = fcntl(STDIN_FILENO, F_GETFD) >= 0;
    if (left) close(STDIN_FILENO);
    if (input >= 0) assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
    if (input >= 0) close(input);
    assert_int_equal(status, PRT_E_OPEN);
    assert_false(left);
    prt_container_free(&c);
}

static void the_first_image_that_the_processor_can_execute_is_loaded(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "plain", "sim4");
    struct container_image images[4] = {c.images[0], c.images[0], c.images[0], c.images[0]};
    const struct container_image *own = c.images;
    struct prt_image image;
    struct prt_error error;
    uint64_t host = cpu_features_of_host();
    c.images = images;
    c.image_count = 2;
    images[0].features = host;
    assert_int_equal(load_image(&c, &image, &error), PRT_OK);
    assert_ptr_equal(image.chosen, &images[0]);
    prt_image_free(&image);
    images[0].features = UINT64_MAX;
    assert_int_equal(load_image(&c, &image, &error), PRT_OK);
    assert_ptr_equal(image.chosen, &images[1]);
    prt_image_free(&image);
    /* each of them is verified, and the first bad one is refused */
    assert_int_equal(prt_image_verify_all(&c, &error), PRT_OK);
    images[0].size_bytes = 16;
    assert_int_equal(prt_image_verify_all(&c, &error), PRT_E_FORMAT);
    images[0].size_bytes = images[1].size_bytes;
    /* what the last one lacks is said, and not what others do */
    images[0].features = UINT64_C(3) << 61;
    images[1].features = UINT64_C(1) << 63;
    images[2].features = images[3].features = images[0].features;
    refused(&c, PRT_E_DEVICE,
            "no image for this processor: there are x86-64-v3, x86-64-v3, and the last one needs "
            "(unknown);");
    images[2].features = 0; /* past the last one */
    refused(&c, PRT_E_DEVICE, "no image for this processor");
    /* more of them than the message has room for */
    struct container_image many[64];
    for (int i = 0; i < 64; i++)
        many[i] = images[1];
    c.images = many;
    c.image_count = 64;
    refused(&c, PRT_E_DEVICE, "x86-64-v3, x86-64, and the last one needs (unknown);");
    c.images = own;
    prt_container_free(&c);
}

static void an_image_behind_others_is_loaded(void **unused)
{
    (void)unused;
    const size_t page = 4096;
    struct prt_container c = built_container(program, "plain", "sim4");
    struct container_image *only = EDITED(c, images);
    const uint8_t *own = c.image;
    uint8_t *bytes = calloc(1, 2 * page + only->size_bytes);
    struct prt_image image;
    struct prt_error error;
    assert_non_null(bytes);
    memcpy(bytes + 2 * page, own, only->size_bytes);
    c.image = bytes + page;
    only->offset_bytes = page;
    assert_int_equal(load_image(&c, &image, &error), PRT_OK);
    prt_image_free(&image);
    bytes[2 * page] ^= 0xff;
    assert_int_equal(load_image(&c, &image, &error), PRT_E_FORMAT);
    assert_int_equal(error.offset, c.section_offset_bytes[CONTAINER_IMAGE] + page);
    only->offset_bytes = 0;
    refused(&c, PRT_E_FORMAT, "not a 64-bit shared object");
    c.image = own;
    free(bytes);
    prt_container_free(&c);
}

/* Each is the first image of the container, and is removed. */
static int files_in(const char *folder, const struct prt_container *c)
{
    int count = 0;
    DIR *listing = opendir(folder);
    if (listing == NULL) abort();
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        if (entry->d_name[0] != '.') {
            char path[512];
            struct stat about;
            count++;
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            assert_int_equal(stat(path, &about), 0);
            assert_int_equal(about.st_size, c->images[0].size_bytes);
            unlink(path);
        }
    closedir(listing);
    return count;
}

static void images_lie_where_a_profiler_finds_them(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "plain", "sim4");
    struct prt_image image;
    struct prt_error error;
    char folder[] = "/tmp/test_image.XXXXXX", long_name[5000];
    assert_non_null(mkdtemp(folder));
    setenv("PIPERT_IMAGE_FOLDER", folder, 1);
    assert_int_equal(load_image(&c, &image, &error), PRT_OK);
    prt_image_free(&image);
    assert_int_equal(files_in(folder, &c), 1);
    int here = open(".", O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(chdir(folder), 0);
    setenv("PIPERT_IMAGE_FOLDER", ".", 1);
    assert_int_equal(load_image(&c, &image, &error), PRT_OK);
    prt_image_free(&image);
    assert_int_equal(files_in(".", &c), 1);
    assert_int_equal(fchdir(here), 0);
    close(here);
    setenv("PIPERT_IMAGE_FOLDER", "", 1);
    assert_int_equal(load_image(&c, &image, &error), PRT_OK);
    prt_image_free(&image);
    rmdir(folder);
    setenv("PIPERT_IMAGE_FOLDER", folder, 1);
    refused(&c, PRT_E_OPEN, "PIPERT_IMAGE_FOLDER: cannot create");
    /* by one byte, and by far */
    int added = snprintf(NULL, 0, "/pipec-%ld-XXXXXX.so", (long)getpid());
    memset(long_name, 'a', sizeof long_name);
    long_name[PATH_MAX - added] = '\0';
    setenv("PIPERT_IMAGE_FOLDER", long_name, 1);
    refused(&c, PRT_E_OPEN, "the name is too long");
    long_name[PATH_MAX - added] = 'a';
    long_name[sizeof long_name - 1] = '\0';
    setenv("PIPERT_IMAGE_FOLDER", long_name, 1);
    refused(&c, PRT_E_OPEN, "the name is too long");
    unsetenv("PIPERT_IMAGE_FOLDER");
    prt_container_free(&c);
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* Also 0, which is free where standard input is closed; an image that is none has no file. */
static void images_close_their_file_and_no_other(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "plain", "sim4");
    struct prt_image image = {0};
    struct prt_error error;
    char folder[] = "/tmp/test_image.XXXXXX";
    assert_non_null(mkdtemp(folder));
    int saved = dup(STDIN_FILENO);
    prt_image_free(&image);
    assert_int_equal(is_open(STDIN_FILENO), saved >= 0);
    close(STDIN_FILENO);
    for (int i = 0; i < 2; i++) {
        if (i == 1) setenv("PIPERT_IMAGE_FOLDER", folder, 1);
        assert_int_equal(load_image(&c, &image, &error), PRT_OK);
        assert_int_equal(image.fd, 0);
        prt_image_free(&image);
        assert_false(is_open(STDIN_FILENO));
    }
    unsetenv("PIPERT_IMAGE_FOLDER");
    assert_int_equal(files_in(folder, &c), 1);
    rmdir(folder);
    if (saved >= 0) {
        assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
        close(saved);
    }
    prt_container_free(&c);
}

static void a_container_without_nodes_has_no_entries(void **unused)
{
    (void)unused;
    struct prt_container c = {0};
    struct prt_image image;
    struct prt_error error;
    assert_int_equal(prt_image_from_entries(&c, NULL, NULL, &image, &error), PRT_OK);
    assert_non_null(image.nodes);
    prt_image_free(&image);
}

static int32_t no_firing(const struct kernel_batch *batch)
{
    (void)batch;
    return 0;
}

static int32_t no_arguments(const void *pipeline, void *const *nodes, struct kernel_fault *fault)
{
    (void)pipeline, (void)nodes, (void)fault;
    return 0;
}

static void entries_of_all_nodes_and_interfaces_are_copied(void **unused)
{
    (void)unused;
    static const char *const pipelines[] = {"plain", "launching"};
    static const size_t entries[] = {1, 3};
    const struct prt_image_kernel given[3] = {
        {.run = no_firing}, {.run = no_firing}, {.run = no_firing}};
    for (int i = 0; i < 2; i++) {
        struct prt_container c = built_container(program, pipelines[i], "sim4");
        kernel_arguments_entry arguments = no_arguments;
        struct prt_image image;
        struct prt_error error;
        assert_int_equal(c.node_count, 1);
        assert_int_equal(c.node_count + c.interface_count, entries[i]);
        assert_int_equal(prt_image_from_entries(&c, given, arguments, &image, &error), PRT_OK);
        assert_memory_equal(image.nodes, given, entries[i] * sizeof *given);
        assert_ptr_equal(image.interfaces, image.nodes + 1);
        assert_ptr_equal(image.arguments, arguments);
        assert_null(image.chosen);
        assert_int_equal(image.fd, -1);
        prt_image_free(&image);
        prt_container_free(&c);
    }
}

/* ---- programs ---- */

static void a_program_is_replaced_and_nothing_else(void **unused)
{
    (void)unused;
    size_t size, new_size, same_size;
    struct prt_container other;
    struct prt_error error;
    uint8_t *bytes = built_container_bytes(program, "shapes", "sim4", &size), *made = NULL;
    struct prt_container c = built_container(program, "shapes", "sim4");
    uint8_t code[] = {SCHED_HALT};
    uint32_t stages[] = {2, 0, 1};
    struct sched_set sets[] = {{stages, 3}, {stages + 1, 1}, {stages, 0}};
    struct sched_program with = {c.stage_count, sets, 3, code, sizeof code};
    assert_int_equal(prt_container_with_program(&c, &with, &made, &new_size, &error), PRT_OK);
    assert_int_equal(prt_container_read_memory(made, new_size, &other, &error), PRT_OK);
    assert_int_equal(other.set_count, 3);
    assert_int_equal(other.sets[0].count, 3);
    assert_memory_equal(other.sets[0].stages, stages, sizeof stages);
    assert_int_equal(other.sets[1].count, 1);
    assert_int_equal(other.sets[1].stages[0], 0);
    assert_int_equal(other.sets[2].count, 0);
    assert_int_equal(other.code_bytes, 1);
    assert_memory_equal(other.code, code, 1);
    assert_int_equal(other.node_count, c.node_count);
    assert_memory_equal(other.image, c.image, c.images[0].size_bytes);
    /* its own program put back: the container that it was */
    struct sched_set *own = calloc(c.set_count + 1, sizeof *own);
    uint8_t *same = NULL;
    assert_non_null(own);
    for (uint32_t i = 0; i < c.set_count; i++)
        own[i] = (struct sched_set){(uint32_t *)(uintptr_t)c.sets[i].stages, c.sets[i].count};
    struct sched_program back = {c.stage_count, own, c.set_count, EDITED(c, code), c.code_bytes};
    assert_int_equal(prt_container_with_program(&other, &back, &same, &same_size, &error), PRT_OK);
    assert_int_equal(same_size, size);
    assert_memory_equal(same, bytes, size);
    free(same);
    /* no sets, no code */
    struct sched_program empty = {.stage_count = c.stage_count};
    assert_int_equal(prt_container_with_program(&c, &empty, &same, &same_size, &error), PRT_OK);
    free(same);
    empty.stage_count++;
    assert_int_equal(prt_container_with_program(&c, &empty, &same, &same_size, &error),
                     PRT_E_FORMAT);
    assert_string_equal(error.message, "the program is for 4 stages, the container has 3");
    prt_container_free(&other);
    prt_container_free(&c);
    free(own);
    free(made);
    free(bytes);
}

/* ---- stages as text ---- */

static char *listing_of(const struct prt_container *c)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    prt_stage_listing(to, c);
    fclose(to);
    return text;
}

static void stages_are_listed(void **unused)
{
    (void)unused;
    struct prt_container c = built_container(program, "shapes", "sim4");
    struct container_stage *stages = EDITED(c, stages);
    for (uint32_t i = 0; i < 3; i++) {
        stages[i].batch_max = 5 + i;
        stages[i].entry = i == 0 ? CONTAINER_NONE : i;
        stages[i].flags = i == 2 ? CONTAINER_STAGE_SPILLED : 0;
        stages[i].threshold = i + 1;
    }
    struct container_buffer *buffers = EDITED(c, buffers);
    for (uint32_t i = 0; i < c.buffer_count; i++)
        buffers[i].depth_packets = 20 + i;
    char *text = listing_of(&c);
    assert_string_equal(
        text, "# stage 0: 'around', batches of at most 5; 14 registers\n"
              "#   input 0: 'x', in-port, 20 packets; window 3 x 1\n"
              "#   output 0: 'some', 23 packets; pushes 1\n"
              "# stage 1: 'uneven', batches of at most 6, dispatched from 2 firings on; 13 "
              "registers; owns entry 1\n"
              "#   input 0: 'some', 23 packets; pops 4 in a cycle of its phases, peeks at most 3\n"
              "#   output 0: 'y', out-port, 21 packets; pushes 1 in a cycle of its phases\n"
              "# stage 2: 'positive', batches of at most 7, dispatched from 3 firings on; 13 "
              "registers; shares entry "
              "2\n"
              "#   input 0: 'some', 23 packets; pops 1, peeks 1\n"
              "#   output 0: 'z', out-port, 22 packets; pushes 0 to 1\n");
    free(text);
    /* whatever bytes a file has for a name */
    char *name = (char *)(uintptr_t)prt_container_text(&c, c.nodes[0].name);
    name[0] = '\x1b';
    name[1] = '\x7f';
    text = listing_of(&c);
    assert_memory_equal(text, "# stage 0: '??ound'", 19);
    free(text);
    prt_container_free(&c);
}

TEST_MAIN("image", cmocka_unit_test(entries_are_found),
          cmocka_unit_test(entries_that_are_missing_are_named),
          cmocka_unit_test(damaged_images_for_gpus_are_refused),
          cmocka_unit_test(entries_in_images_for_gpus_are_numbered_by_kernel),
          cmocka_unit_test(entries_of_launched_kernels_are_looked_for_in_images_for_gpus),
          cmocka_unit_test(firings_have_threads_of_a_gpu_unless_one_follows_the_other),
          cmocka_unit_test(the_first_image_for_no_newer_gpu_is_found),
          cmocka_unit_test(images_for_gpus_are_not_loaded_for_a_processor),
          cmocka_unit_test(an_image_without_arguments_is_refused),
          cmocka_unit_test(what_is_no_shared_object_is_refused),
          cmocka_unit_test(an_image_that_the_linker_refuses_leaves_no_descriptor),
          cmocka_unit_test(the_first_image_that_the_processor_can_execute_is_loaded),
          cmocka_unit_test(an_image_behind_others_is_loaded),
          cmocka_unit_test(images_lie_where_a_profiler_finds_them),
          cmocka_unit_test(images_close_their_file_and_no_other),
          cmocka_unit_test(a_container_without_nodes_has_no_entries),
          cmocka_unit_test(entries_of_all_nodes_and_interfaces_are_copied),
          cmocka_unit_test(a_program_is_replaced_and_nothing_else),
          cmocka_unit_test(stages_are_listed))
