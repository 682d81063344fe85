/* SPDX-License-Identifier: MIT */
/* Containers that are damaged: every prefix, every bit, every table. */
#include "tests/test.h"

#include "runtime/load/reader.h"
#include "tests/conform/made_container.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* One of 20 bytes, one of 22; then bytes that are not in the section. */
enum { TWO_IMAGES_BYTES = 64 + 22 };
static const uint8_t two_images[100] = {[0] = 'a', [64] = 'b'};
static const uint8_t damaged_images[100] = {[0] = 'a', [40] = 1, [64] = 'b'};

static uint8_t *small(size_t *size, struct made **edit)
{
    struct made *m = made_create("small", "sim16");
    int32_t seven = 7;
    made_argument(m, "gain", SCALAR_I32, &seven);
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    made_initial(m, t, 2, &seven, sizeof seven);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 1, 1);
    made_output(m, a, t, 1, 0);
    uint32_t b = made_node(m, "b", CONTAINER_NODE_FINISH);
    made_input(m, b, t, 1, 2);
    made_output(m, b, y, 1, 1);
    m->indices[0] = (struct container_index){.kernel = a, .extents = {2, 2, 1}};
    m->indices[1] = (struct container_index){.kernel = b, .extents = {4, 4, 4}, .first_warp = 4};
    m->index_count = 2;
    m->first_warp_count = 4 + 8; /* sim16 has 8 lanes */
    m->image = two_images;
    m->image_bytes = TWO_IMAGES_BYTES;
    m->images[0] = (struct container_image){.isa = made_string(m, "best"), .size_bytes = 20};
    m->images[1] = (struct container_image){
        .isa = made_string(m, "other"), .offset_bytes = 64, .size_bytes = 22};
    m->image_count = 2;
    m->foreign[0] = (struct container_foreign){
        .kernel = a, .name = made_string(m, "a"), .signature = made_string(m, "a()")};
    m->foreign[1] = (struct container_foreign){
        .kernel = b, .name = m->foreign[0].name, .flags = CONTAINER_FOREIGN_PURE};
    m->foreign_count = 2;
    m->libraries[0].name = made_string(m, "libz.so.1");
    m->library_count = 1;
    made_loop(m);
    made_settle(m);
    if (edit != NULL) {
        *edit = m;
        return NULL;
    }
    uint8_t *bytes = made_finish(m, size);
    made_free(m);
    return bytes;
}

static enum prt_status read_bytes(const void *bytes, size_t size, struct prt_error *error)
{
    struct prt_container container;
    enum prt_status status = prt_container_read_memory(bytes, size, &container, error);
    prt_container_free(&container);
    return status;
}

static void a_good_container_is_read(void **unused)
{
    (void)unused;
    size_t size;
    uint8_t *bytes = small(&size, NULL);
    struct prt_container c;
    struct prt_error error;
    assert_int_equal(prt_container_read_memory(bytes, size, &c, &error), PRT_OK);
    assert_int_equal(c.node_count, 2);
    assert_int_equal(c.buffer_count, 3);
    assert_int_equal(c.set_count, 1);
    assert_int_equal(c.sets[0].count, 2);
    assert_int_equal(c.index_count, 2);
    assert_int_equal(c.indices[1].extents[2], 4);
    assert_int_equal(c.first_warp_count, 12);
    assert_string_equal(prt_container_text(&c, c.nodes[1].name), "b");
    assert_string_equal(prt_container_source(&c, CONTAINER_NONE), "?");
    prt_container_free(&c);
    prt_container_free(&c);
    free(bytes);
}

static void every_prefix_is_refused(void **unused)
{
    (void)unused;
    size_t size;
    uint8_t *bytes = small(&size, NULL);
    for (size_t length = 0; length < size; length++) {
        uint8_t *prefix = malloc(length > 0 ? length : 1);
        struct prt_error error;
        assert_non_null(prefix);
        memcpy(prefix, bytes, length);
        enum prt_status status = read_bytes(prefix, length, &error);
        assert_true(status == PRT_E_TRUNCATED || (length == 0 && status == PRT_E_FORMAT));
        /* with a header that says so, too */
        made_fix_checksum(prefix, length);
        assert_int_not_equal(read_bytes(prefix, length, &error), PRT_OK);
        free(prefix);
    }
    free(bytes);
}

static void every_flipped_bit_is_refused(void **unused)
{
    (void)unused;
    size_t size;
    uint8_t *bytes = small(&size, NULL);
    for (size_t bit = 0; bit < size * 8; bit++) {
        struct prt_error error;
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(read_bytes(bytes, size, &error), PRT_OK);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(bytes);
}

/* The reader must not read past its tables whatever is in them: sanitizers watch. */
static void every_flipped_bit_with_a_right_checksum_is_survived(void **unused)
{
    (void)unused;
    size_t size;
    uint8_t *bytes = small(&size, NULL);
    for (size_t bit = 256; bit < size * 8; bit++) {
        struct prt_error error;
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        made_fix_checksum(bytes, size);
        (void)read_bytes(bytes, size, &error);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(bytes);
}

static void bytes_behind_the_end_are_refused(void **unused)
{
    (void)unused;
    size_t size;
    uint8_t *bytes = small(&size, NULL);
    struct prt_error error;
    uint8_t *longer = calloc(1, size + 64);
    assert_non_null(longer);
    memcpy(longer, bytes, size);
    assert_int_equal(read_bytes(longer, size + 64, &error), PRT_E_FORMAT);
    made_fix_checksum(longer, size + 64);
    assert_int_equal(read_bytes(longer, size + 64, &error), PRT_E_FORMAT);
    free(longer);
    free(bytes);
}

/* One byte less, 4 GiB, and one more: only the beginning is looked at, which is all that there is. */
static void more_than_4_gib_are_refused_before_they_are_read(void **unused)
{
    (void)unused;
    struct prt_error error;
    for (int more = -1; more <= 1; more++) {
        size_t size = PRT_CONTAINER_BYTES_MAX + (size_t)(int64_t)more;
        assert_int_equal(read_bytes("#!/bin/sh", size, &error), PRT_E_FORMAT);
        assert_string_equal(error.message, more > 0
                                               ? "container: larger than 4 GiB"
                                               : "not a container: it does not begin with 'PIPEC'");
    }
}

/* The same of files, which consist of one hole. */
static void files_of_more_than_4_gib_are_refused_before_they_are_read(void **unused)
{
    (void)unused;
    char path[] = "/tmp/test_reader.XXXXXX", expected[128];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (int more = -1; more <= 1; more++) {
        struct prt_container container;
        struct prt_error error;
        assert_int_equal(ftruncate(fd, (off_t)PRT_CONTAINER_BYTES_MAX + more), 0);
        assert_int_equal(prt_container_read_file(path, &container, &error), PRT_E_FORMAT);
        snprintf(expected, sizeof expected, "%s: %s", path,
                 more > 0 ? "larger than 4 GiB"
                          : "not a container: it does not begin with 'PIPEC'");
        assert_string_equal(error.message, expected);
    }
    close(fd);
    unlink(path);
}

static void other_files_are_told_at_their_beginning(void **unused)
{
    (void)unused;
    struct prt_error error;
    assert_int_equal(read_bytes("#!/bin/sh", 9, &error), PRT_E_FORMAT);
    assert_string_equal(error.message, "not a container: it does not begin with 'PIPEC'");
    assert_int_equal(error.offset, 0);
}

static void other_versions_are_named(void **unused)
{
    (void)unused;
    size_t size;
    uint8_t *bytes = small(&size, NULL);
    struct prt_error error;
    bytes[8] = CONTAINER_VERSION + 1;
    assert_int_equal(read_bytes(bytes, size, &error), PRT_E_VERSION);
    assert_non_null(strstr(error.message, "version 14"));
    assert_int_equal(error.offset, 8);
    free(bytes);
}

/* One edit each: what is refused, and what the message says. */
#define REFUSED(field, value, section)                                                             \
    do {                                                                                           \
        struct made *m;                                                                            \
        small(NULL, &m);                                                                           \
        m->field = (value);                                                                        \
        expect_refusal(m, #field, section);                                                        \
    } while (0)

static void expect_refusal(struct made *m, const char *what, const char *section)
{
    size_t size;
    struct prt_error error = {0};
    uint8_t *bytes = made_finish(m, &size);
    if (read_bytes(bytes, size, &error) != PRT_E_FORMAT) fail_msg("%s is not refused", what);
    if (strstr(error.message, section) == NULL) fail_msg("%s: %s", what, error.message);
    assert_true(error.offset < size);
    free(bytes);
    made_free(m);
}

static void records_of_images_and_devices_that_point_outside_are_refused(void **unused)
{
    (void)unused;
    REFUSED(pipeline.name, 20000, "'pipeline', record 0");
    REFUSED(pipeline.flags, 8, "'pipeline'");
    REFUSED(pipeline.arguments_bytes, UINT64_MAX, "'pipeline'");
    REFUSED(pipeline.reserved, 1, "'pipeline'");
    REFUSED(image_bytes, (m->images[1].offset_bytes = 64, 22), "'images', record 1: lies where");
    REFUSED(images[0].isa, 20000, "'images', record 0");
    REFUSED(images[0].kind, CONTAINER_IMAGE_KINDS, "'images', record 0: an unknown kind");
    REFUSED(images[0].offset_bytes, 64, "'images'");
    REFUSED(images[0].size_bytes, 1000, "'images'");
    REFUSED(images[0].size_bytes, UINT64_MAX, "'images'");
    REFUSED(images[1].offset_bytes, 0, "'images', record 1");
    REFUSED(images[1].size_bytes, 23, "'images', record 1");
    REFUSED(image_bytes, 90, "bytes after the last image");
    REFUSED(image, damaged_images, "bytes before it");
    REFUSED(foreign[0].name, 20000, "'foreign', record 0");
    REFUSED(foreign[1].signature, 20000, "'foreign', record 1");
    REFUSED(foreign[1].flags, 2, "'foreign', record 1: an unknown flag");
    REFUSED(foreign[1].kernel, 0, "'foreign', record 1: kernels out of order");
    REFUSED(libraries[0].name, 20000, "'libraries', record 0");
    REFUSED(libraries[0].name, 0, "'libraries', record 0: a name that is empty");
    REFUSED(libraries[0].name, made_string(m, "lib/z.so"), "or has a folder");
    REFUSED(foreign_count, 0, "'libraries', record 0: no foreign code");
    REFUSED(device.name, UINT32_MAX, "'device'");
    REFUSED(device.cu_count, 0, "'device'");
    REFUSED(device.lanes, 0, "'device'");
    REFUSED(device.lanes, CONTAINER_LANES_MAX + 1, "'device'");
    REFUSED(device.reserved, 1, "'device'");
}

static void records_of_the_graph_that_point_outside_are_refused(void **unused)
{
    (void)unused;
    REFUSED(arguments[0].name, 20000, "'arguments', record 0");
    REFUSED(arguments[0].scalar, SCALAR_COUNT, "'arguments'");
    REFUSED(arguments[0].has_default, 2, "'arguments'");
    REFUSED(arguments[0].type_text, 20000, "'arguments', record 0");
    REFUSED(arguments[0].shape, 20000, "'arguments', record 0");
    REFUSED(arguments[0].property, CONTAINER_PROPERTY_CHANNELS + 1, "'arguments'");
    REFUSED(arguments[0].property, CONTAINER_PROPERTY_RATE, "'arguments'");
    REFUSED(arguments[0].buffer, 0, "'arguments'");
    REFUSED(arguments[0].count, 0, "'arguments'");
    REFUSED(arguments[0].count, UINT64_MAX / 2, "'arguments'");
    REFUSED(defaults_bytes, m->defaults_bytes - 1, "'defaults'");
    REFUSED(arguments[0].offset_bytes, 4, "'arguments'");
    REFUSED(arguments[0].offset_bytes, UINT64_MAX - 1, "'arguments'");
    REFUSED(sources[0].name, 20000, "'sources'");
    REFUSED(nodes[1].reserved, 1, "'nodes', record 1");
    REFUSED(nodes[1].name, 20000, "'nodes', record 1");
    REFUSED(nodes[1].kernel_title, 20000, "'nodes'");
    REFUSED(nodes[1].source, 1, "'nodes'");
    REFUSED(nodes[1].flags, 1u << 31, "'nodes'");
    REFUSED(nodes[1].importance, 256, "'nodes'");
    REFUSED(nodes[1].first_input, 3, "'nodes'");
    REFUSED(nodes[1].input_count, 2, "'nodes'");
    REFUSED(nodes[1].input_count, UINT32_MAX, "'nodes'");
    REFUSED(nodes[1].output_count, 2, "'nodes'");
    REFUSED(nodes[1].phases, 0, "'nodes'");
    REFUSED(nodes[1].state_bytes, UINT64_MAX, "'nodes'");
    REFUSED(inputs[0].buffer, 3, "'inputs', record 0");
    REFUSED(inputs[0].reader, 2, "'inputs'");
    REFUSED(inputs[0].port, 20000, "'inputs'");
    REFUSED(inputs[0].reserved, 1, "'inputs'");
    REFUSED(outputs[0].bundle, 1, "a bundle without a share");
    REFUSED(outputs[1].buffer, 3, "'outputs', record 1");
    REFUSED(outputs[1].port, 20000, "'outputs'");
    REFUSED(buffers[1].name, 20000, "'buffers', record 1");
    REFUSED(buffers[1].scalar, SCALAR_COUNT, "'buffers'");
    REFUSED(buffers[1].outer, 3, "'buffers'");
    REFUSED(buffers[1].flags, 2, "'buffers', record 1: unknown flags");
    REFUSED(buffers[1].reserved, 1, "'buffers', record 1: unknown flags");
    REFUSED(buffers[1].width_bytes, 0, "'buffers'");
    REFUSED(buffers[1].width_bytes, 6, "'buffers'");
    REFUSED(buffers[1].depth_packets, 0, "'buffers'");
    REFUSED(buffers[1].depth_packets, UINT64_MAX, "'buffers'");
    REFUSED(buffers[1].initial_offset_bytes, 5, "'buffers'");
    REFUSED(buffers[1].initial_size_bytes, 5, "'buffers'");
    REFUSED(buffers[1].writer_node, 2, "'buffers'");
    REFUSED(buffers[1].writer_output, 2, "'buffers'");
    REFUSED(buffers[1].first_reader, 3, "'buffers'");
    REFUSED(buffers[1].reader_count, 9, "'buffers'");
    REFUSED(readers[0].node, 2, "'readers'");
    REFUSED(readers[0].input, 2, "'readers'");
}

static void records_of_the_plan_that_point_outside_are_refused(void **unused)
{
    (void)unused;
    REFUSED(stages[0].node, 2, "'stages'");
    REFUSED(stages[0].threshold, 0, "'stages'");
    REFUSED(stages[0].entry, 8, "a reference entry that no device has");
    REFUSED(stages[0].flags, 4, "unknown flags");
    REFUSED(stages[0].pack, 2, "a pack or a place beyond the stages");
    REFUSED(stages[0].place, 2, "a pack or a place beyond the stages");
    REFUSED(stages[0].batch_max, 0, "'stages'");
    REFUSED(stages[0].batch_max, UINT64_C(1) << 32, "'stages'");
    REFUSED(sets[0], 3, "'sets'");
    REFUSED(sets[0], UINT32_MAX, "'sets'");
    REFUSED(sets[1], 2, "'sets'");
    REFUSED(indices[1].kernel, 0, "'indices', record 1");
    REFUSED(indices[0].extents[0], 0, "'indices', record 0");
    REFUSED(indices[0].extents[1], 0, "'indices'");
    REFUSED(indices[0].extents[2], 0, "'indices'");
    REFUSED(indices[0].extents[0], UINT32_MAX, "'indices'");
    REFUSED(indices[0].extents[1], 32768, "'indices'");
    REFUSED(indices[1].extents[2], 4096, "'indices'");
    REFUSED(indices[1].first_warp, 5, "'indices'");
    REFUSED(indices[1].first_warp, UINT32_MAX, "'indices'");
    REFUSED(first_warp_count, 11, "'indices'");
    REFUSED(indices[0].flags, 2, "'indices'");
    REFUSED(indices[0].reserved, 1, "'indices'");
    REFUSED(strings[0], 'x', "'strings'");
    REFUSED(strings_bytes, 0, "");
}

/* Parts that the compiler has made come from no source. */
static void nodes_of_no_source_are_read(void **unused)
{
    (void)unused;
    struct made *m;
    struct prt_container c;
    struct prt_error error;
    size_t size;
    small(NULL, &m);
    m->nodes[1].source = CONTAINER_NONE;
    uint8_t *bytes = made_finish(m, &size);
    made_free(m);
    assert_int_equal(prt_container_read_memory(bytes, size, &c, &error), PRT_OK);
    assert_string_equal(prt_container_source(&c, c.nodes[0].source), "made.pipe");
    assert_string_equal(prt_container_source(&c, c.nodes[1].source), "?");
    prt_container_free(&c);
    free(bytes);
}

static void files_are_named(void **unused)
{
    (void)unused;
    struct prt_container c;
    struct prt_error error;
    assert_int_equal(prt_container_read_file("/nonexistent/p.pbc", &c, &error), PRT_E_OPEN);
    assert_non_null(strstr(error.message, "/nonexistent/p.pbc"));
    assert_int_equal(prt_container_read_file("/tmp", &c, &error), PRT_E_OPEN);
    assert_int_equal(prt_container_read_file("/dev/null", &c, &error), PRT_E_FORMAT);
}

struct rewriter {
    const char *path;
    const uint8_t *bytes;
    size_t size;
    atomic_bool stop;
};

static void *rewrite(void *context)
{
    struct rewriter *r = context;
    for (size_t length = 0; !atomic_load(&r->stop); length = (length * 7 + 13) % (r->size + 1)) {
        FILE *file = fopen(r->path, "wb");
        if (file == NULL) break;
        (void)fwrite(r->bytes, 1, length, file);
        fclose(file);
    }
    return NULL;
}

/* T4: the file is truncated and rewritten while it is loaded. */
static void a_file_that_changes_is_read_or_refused(void **unused)
{
    (void)unused;
    char path[] = "/tmp/test_reader.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct rewriter r = {.path = path};
    uint8_t *bytes = small(&r.size, NULL);
    r.bytes = bytes;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, rewrite, &r), 0);
    for (int i = 0; i < 1000; i++) {
        struct prt_container c;
        struct prt_error error;
        (void)prt_container_read_file(path, &c, &error);
        prt_container_free(&c);
    }
    atomic_store(&r.stop, true);
    pthread_join(thread, NULL);
    unlink(path);
    free(bytes);
}

TEST_MAIN("reader", cmocka_unit_test(a_good_container_is_read),
          cmocka_unit_test(every_prefix_is_refused), cmocka_unit_test(every_flipped_bit_is_refused),
          cmocka_unit_test(every_flipped_bit_with_a_right_checksum_is_survived),
          cmocka_unit_test(bytes_behind_the_end_are_refused),
          cmocka_unit_test(more_than_4_gib_are_refused_before_they_are_read),
          cmocka_unit_test(files_of_more_than_4_gib_are_refused_before_they_are_read),
          cmocka_unit_test(other_files_are_told_at_their_beginning),
          cmocka_unit_test(other_versions_are_named),
          cmocka_unit_test(records_of_images_and_devices_that_point_outside_are_refused),
          cmocka_unit_test(records_of_the_graph_that_point_outside_are_refused),
          cmocka_unit_test(records_of_the_plan_that_point_outside_are_refused),
          cmocka_unit_test(nodes_of_no_source_are_read), cmocka_unit_test(files_are_named),
          cmocka_unit_test(a_file_that_changes_is_read_or_refused))
