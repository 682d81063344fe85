/* SPDX-License-Identifier: MIT */
/* Rules of containers that only bytes, or many records, can break; and those of ports that are structs. */
#include "tests/test.h"

#include "lang/devdesc.h"
#include "lang/index_format.h"
#include "lang/sched_code.h"
#include "runtime/verify/verify.h"
#include "tests/conform/made_container.h"

/* ---- files ---- */

static struct made *small(void)
{
    struct made *m = made_create("small", "sim16");
    int32_t seven = 7;
    made_argument(m, "gain", SCALAR_I32, &seven);
    made_argument(m, "bias", SCALAR_I64, NULL);
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 1, 1);
    made_output(m, a, t, 1, 0);
    uint32_t b = made_node(m, "b", 0);
    made_input(m, b, t, 1, 1);
    made_output(m, b, y, 1, 0);
    made_loop(m);
    made_settle(m);
    return m;
}

struct file {
    uint8_t *bytes;
    size_t size;
};

static struct file finish(struct made *m)
{
    struct file f;
    f.bytes = made_finish(m, &f.size);
    made_free(m);
    return f;
}

static struct container_section section_of(const struct file *f, uint32_t kind)
{
    struct container_section section;
    memcpy(&section, f->bytes + sizeof(struct container_header) + (kind - 1) * sizeof section,
           sizeof section);
    return section;
}

static void set_section(struct file *f, uint32_t kind, const struct container_section *section)
{
    memcpy(f->bytes + sizeof(struct container_header) + (kind - 1) * sizeof *section, section,
           sizeof *section);
}

static uint32_t section_count(const struct file *f)
{
    struct container_header header;
    memcpy(&header, f->bytes, sizeof header);
    return header.section_count;
}

static uint64_t aligned(uint64_t at)
{
    return (at + CONTAINER_ALIGNMENT - 1) / CONTAINER_ALIGNMENT * CONTAINER_ALIGNMENT;
}

/* The file with other bytes in one section; takes `f` over. */
static struct file splice(struct file f, uint32_t kind, const void *bytes, size_t size)
{
    uint32_t count = section_count(&f);
    struct file out = {calloc(1, f.size + size + (size_t)64 * (count + 1)), 0};
    uint64_t at = sizeof(struct container_header) + count * sizeof(struct container_section);
    assert_non_null(out.bytes);
    memcpy(out.bytes, f.bytes, at);
    for (uint32_t k = 1; k <= count; k++) {
        struct container_section section = section_of(&f, k);
        const void *from = k == kind ? bytes : f.bytes + section.offset_bytes;
        if (k == kind) section.size_bytes = size;
        section.offset_bytes = at = aligned(at);
        if (section.size_bytes > 0) memcpy(out.bytes + at, from, section.size_bytes);
        set_section(&out, k, &section);
        at += section.size_bytes;
    }
    out.size = at;
    free(f.bytes);
    return out;
}

static void expect_file(struct file f, enum prt_status status, const char *message)
{
    struct prt_container c;
    struct prt_error error = {0};
    made_fix_checksum(f.bytes, f.size);
    enum prt_status got = prt_container_read_memory(f.bytes, f.size, &c, &error);
    if (got == PRT_OK) got = prt_verify(&c, &error);
    prt_container_free(&c);
    free(f.bytes);
    if (got != status) fail_msg("%s: %s, %s", message, prt_status_name(got), error.message);
    if (strstr(error.message, message) == NULL) fail_msg("%s, and not %s", error.message, message);
}

static void headers_and_section_tables_hold_together(void **unused)
{
    (void)unused;
    struct file f = finish(small());
    f.bytes[offsetof(struct container_header, reserved) + 9] = 1;
    expect_file(f, PRT_E_FORMAT, "a reserved field of the header is not zero");
    f = finish(small());
    f.bytes[offsetof(struct container_header, section_count)] = 7;
    expect_file(f, PRT_E_FORMAT, "7 sections, expected");
    for (uint32_t count = CONTAINER_IMAGE - 1; count <= CONTAINER_IMAGE + 1; count += 2) {
        char message[64];
        snprintf(message, sizeof message, "%u sections, expected %d", (unsigned)count,
                 CONTAINER_IMAGE);
        f = finish(small());
        memcpy(f.bytes + offsetof(struct container_header, section_count), &count, sizeof count);
        expect_file(f, PRT_E_FORMAT, message);
    }
    f = finish(small());
    f.size = sizeof(struct container_header);
    expect_file(f, PRT_E_TRUNCATED, "ends inside the section table");
    f = finish(small());
    uint8_t *longer = realloc(f.bytes, f.size + 3);
    assert_non_null(longer);
    f.bytes = longer;
    memset(f.bytes + f.size, 0, 3);
    f.size += 3;
    expect_file(f, PRT_E_FORMAT, "bytes after the last section");
    f = finish(small());
    struct container_section section = section_of(&f, CONTAINER_NODES);
    section.reserved = 1;
    set_section(&f, CONTAINER_NODES, &section);
    expect_file(f, PRT_E_FORMAT, "expected section 6 ('nodes')");
    f = finish(small());
    section.reserved = 0;
    section.kind = CONTAINER_INPUTS;
    set_section(&f, CONTAINER_NODES, &section);
    expect_file(f, PRT_E_FORMAT, "expected section 6 ('nodes')");
    f = finish(small());
    section = section_of(&f, CONTAINER_NODES);
    section.offset_bytes += CONTAINER_ALIGNMENT;
    set_section(&f, CONTAINER_NODES, &section);
    expect_file(f, PRT_E_FORMAT, "section 'nodes' lies where it must not");
    f = finish(small());
    section = section_of(&f, CONTAINER_STRINGS);
    f.bytes[section.offset_bytes + section.size_bytes] = 1;
    expect_file(f, PRT_E_FORMAT, "the bytes before section 'pipeline' are not zero");
    uint8_t zeros[256] = {0};
    expect_file(splice(finish(small()), CONTAINER_NODES, zeros, 3), PRT_E_FORMAT,
                "section 'nodes' has 3 bytes: not whole records");
    expect_file(
        splice(finish(small()), CONTAINER_DEVICE, zeros, 2 * sizeof(struct container_device)),
        PRT_E_FORMAT, "section 'device' has 48 bytes: not whole records");
}

static void tables_have_limits(void **unused)
{
    (void)unused;
    size_t size = SCHED_MAX_CODE_BYTES + 1;
    struct container_stage *zeros = calloc((size_t)SCHED_MAX_STAGES + 1, sizeof *zeros);
    assert_non_null(zeros);
    expect_file(splice(finish(small()), CONTAINER_PROGRAM, zeros, size), PRT_E_FORMAT,
                "the scheduler program is beyond");
    size = ((size_t)SCHED_MAX_STAGES + 1) * sizeof(struct container_stage);
    expect_file(splice(finish(small()), CONTAINER_STAGES, zeros, size), PRT_E_FORMAT,
                "too many stages");
    expect_file(
        splice(finish(small()), CONTAINER_SETS, zeros, (SCHED_MAX_SETS + 1) * sizeof(uint32_t)),
        PRT_E_FORMAT, "too many sets");
    struct made *m = small();
    m->interface_count = 1;
    m->interfaces[0].node = CONTAINER_NONE;
    expect_file(splice(finish(m), CONTAINER_LAUNCHES, zeros,
                       (CONTAINER_LAUNCHES_MAX + 1) * sizeof(struct container_launch)),
                PRT_E_VERIFY, "more than 65536 launches");
    m = small();
    m->nodes[0].flags |= CONTAINER_NODE_LAUNCHES;
    expect_file(finish(m), PRT_E_VERIFY, "'a' launches, and has no interface");
    free(zeros);
}

/* 65,535 work-items of 32 bits each, again and again. */
static void index_memory_has_a_limit(void **unused)
{
    (void)unused;
    enum { COUNT = 1025, LANES = 8 };
    const uint32_t extents[3] = {3, 21845, 1};
    const struct index_format format = index_format_of(extents);
    struct container_index *records = calloc(COUNT, sizeof *records);
    uint32_t *warps = calloc((size_t)COUNT * LANES, sizeof *warps);
    assert_true(records != NULL && warps != NULL && format.register_bits == 32);
    for (uint32_t i = 0; i < COUNT; i++) {
        records[i] = (struct container_index){.kernel = i + 100,
                                              .extents = {3, 21845, 1},
                                              .register_bits = 32,
                                              .step = {LANES % 3, LANES / 3, 0},
                                              .first_warp = i * LANES};
        for (uint32_t n = 0; n < LANES; n++)
            warps[i * LANES + n] = index_pack(&format, n % 3, n / 3, 0);
    }
    struct file f = splice(finish(small()), CONTAINER_INDICES, records, COUNT * sizeof *records);
    f = splice(f, CONTAINER_FIRST_WARPS, warps, (size_t)COUNT * LANES * sizeof *warps);
    expect_file(f, PRT_E_VERIFY, "more packed indices than");
    free(records);
    free(warps);
}

/* ---- records ---- */

static void expect(struct made *m, enum prt_status status, const char *message)
{
    expect_file(finish(m), status, message);
}

#define REFUSED(status, make, message, ...)                                                        \
    do {                                                                                           \
        struct made *m = make();                                                                   \
        __VA_ARGS__;                                                                               \
        expect(m, status, message);                                                                \
    } while (0)

static void reserved_fields_and_alignments_are_looked_at(void **unused)
{
    (void)unused;
    REFUSED(PRT_E_FORMAT, small, "is not aligned", m->arguments[0].offset_bytes = 2);
    REFUSED(PRT_E_FORMAT, small, "fields outside the section 'fields'",
            m->buffers[0].field_count = 1);
}

static void writers_and_readers_agree(void **unused)
{
    (void)unused;
    REFUSED(PRT_E_VERIFY, small,
            "'x' has a writer without its output, or an output without its writer",
            m->buffers[0].writer_node = 0);
    REFUSED(PRT_E_VERIFY, small, "the writer of 'x' is not an output of node 'a'",
            (m->buffers[0].outer = CONTAINER_INNER, m->buffers[0].writer_node = 0,
             m->buffers[0].writer_output = 1));
    REFUSED(PRT_E_VERIFY, small, "the writer of 'x' writes another buffer",
            (m->buffers[0].outer = CONTAINER_INNER, m->buffers[0].writer_node = 0,
             m->buffers[0].writer_output = 0));
    REFUSED(PRT_E_VERIFY, small, "its input is not one of node 'a'",
            (m->readers[m->reader_count++] = (struct container_reader){0, 1},
             m->buffers[1].reader_count = 2));
    REFUSED(PRT_E_VERIFY, small, "its input is not one of node 'b'",
            (m->readers[m->reader_count++] = (struct container_reader){1, 0},
             m->buffers[1].reader_count = 2));
    REFUSED(PRT_E_VERIFY, small, "its input does not read buffer 't'",
            (m->readers[m->reader_count++] = (struct container_reader){1, 1},
             m->buffers[1].reader_count = 2));
    REFUSED(PRT_E_VERIFY, small, "section 'readers', record 2: belongs to no buffer",
            m->readers[m->reader_count++] = (struct container_reader){1, 1});
    REFUSED(PRT_E_VERIFY, small, "the readers of 'y' do not follow",
            m->buffers[2].first_reader = 0);
    REFUSED(PRT_E_VERIFY, small, "section 'outputs', record 2: belongs to no node",
            (m->outputs[2] = m->outputs[1], m->output_count = 3));
}

static struct made *empty(void)
{
    struct made *m = made_create("empty", "sim16");
    m->reader_count = 0;
    return m;
}

static struct made *idle(void)
{
    struct made *m = small();
    m->stages[made_node(m, "idle", 0)].batch_max = 1;
    return m;
}

static void nodes_do_something(void **unused)
{
    (void)unused;
    REFUSED(PRT_E_VERIFY, empty, "there is no node", (void)m);
    REFUSED(PRT_E_VERIFY, idle, "'idle' has no ends", (void)m);
    REFUSED(PRT_E_VERIFY, small, "'a' has state, and 2 firings in a warp",
            (m->nodes[0].flags = CONTAINER_NODE_STATEFUL, m->nodes[0].warp_firings = 2));
    REFUSED(PRT_E_VERIFY, small, "'a' is executed by a unit, and has 2 firings in a warp",
            (m->nodes[0].flags = CONTAINER_NODE_UNIT_ONE, m->nodes[0].warp_firings = 2));
    REFUSED(PRT_E_FORMAT, small, "an unknown unit",
            m->nodes[0].flags = (DEVDESC_UNITS + 1) * CONTAINER_NODE_UNIT_ONE);
}

/* `count` stages one after the other. */
static struct made *row(uint32_t count, enum scalar_type type, uint64_t depth)
{
    struct made *m = made_create("row", "sim16");
    char name[16];
    uint32_t before = made_buffer(m, "x", type, 8, CONTAINER_OUTER_IN);
    for (uint32_t i = 0; i < count; i++) {
        bool last = i + 1 == count;
        snprintf(name, sizeof name, "b%u", i);
        uint32_t next = made_buffer(m, name, type, last ? 8 : depth,
                                    last ? CONTAINER_OUTER_OUT : CONTAINER_INNER);
        snprintf(name, sizeof name, "n%u", i);
        uint32_t node = made_node(m, name, 0);
        made_input(m, node, before, 1, 1);
        made_output(m, node, next, 1, 0);
        before = next;
    }
    made_loop(m);
    made_settle(m);
    return m;
}

static void sums_are_looked_at(void **unused)
{
    (void)unused;
    expect(row(6, SCALAR_U8, UINT64_C(1) << 62), PRT_E_FORMAT,
           "depth x width is zero or too large");
    expect(row(9, SCALAR_U8, UINT64_MAX / 4), PRT_E_VERIFY, "the memory of all buffers overflows");
}

static void packs_have_a_limit(void **unused)
{
    (void)unused;
    for (uint32_t count = 31; count <= 32; count++) {
        struct made *m = row(count, SCALAR_I32, 8);
        for (uint32_t i = 0; i < count; i++) {
            m->stages[i].pack = 0;
            m->stages[i].place = i;
            m->stages[i].entry = 0;
            m->stages[i].flags = i == 0 ? 0 : CONTAINER_STAGE_SPILLED;
        }
        m->stages[count - 1].flags |= CONTAINER_STAGE_ENDS_PACK;
        made_loop(m);
        if (count == 32) expect(m, PRT_E_VERIFY, "a pack of more than 31 stages");
        if (count == 31) expect(m, PRT_OK, "");
    }
    REFUSED(PRT_E_VERIFY, small, "a spilled stage without entry",
            m->stages[0].flags |= CONTAINER_STAGE_SPILLED);
}

/* ---- ports that are structs ---- */

/* The packets of x are { u8 a[4]; f32 v }, those of y two f32. */
static struct made *structs(void)
{
    struct made *m = made_create("structs", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_U8, 8, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_F32, 8, CONTAINER_OUTER_OUT);
    uint32_t k = made_node(m, "k", 0);
    made_input(m, k, x, 1, 1);
    made_output(m, k, y, 1, 0);
    m->buffers[x].width_bytes = m->buffers[y].width_bytes = 8;
    uint32_t four = made_string(m, "2, 2"), two = made_string(m, "2");
    m->fields[0] = (struct container_field){made_string(m, "a"), SCALAR_U8, 0, 4, four, 2};
    m->fields[1] = (struct container_field){made_string(m, "v"), SCALAR_F32, 4, 1, 0, 1};
    m->fields[2] = (struct container_field){0, SCALAR_F32, 0, 2, two, 1};
    m->field_count = 3;
    m->buffers[x].field_count = 2;
    m->buffers[y].first_field = 2;
    m->buffers[y].field_count = 1;
    made_loop(m);
    made_settle(m);
    return m;
}

/* One port of bytes, its packets 66 of them. */
static struct made *wide(void)
{
    struct made *m = made_create("wide", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_U8, 8, CONTAINER_OUTER_IN);
    made_input(m, made_node(m, "k", 0), x, 1, 1);
    m->buffers[x].width_bytes = 66;
    m->fields[0] = (struct container_field){made_string(m, "a"), SCALAR_U8, 0, 1, 0, 1};
    m->field_count = m->buffers[x].field_count = 1;
    made_loop(m);
    made_settle(m);
    return m;
}

static void fields_lie_in_their_packets(void **unused)
{
    (void)unused;
    expect(structs(), PRT_OK, "");
    REFUSED(PRT_E_FORMAT, structs, "section 'fields', record 1: a string",
            m->fields[1].name = 99999);
    REFUSED(PRT_E_FORMAT, structs, "section 'fields', record 1: a string",
            m->fields[1].shape = 99999);
    REFUSED(PRT_E_FORMAT, structs, "unknown scalar type", m->fields[1].scalar = SCALAR_COUNT);
    REFUSED(PRT_E_FORMAT, structs, "no scalars, or too many", m->fields[1].count = 0);
    REFUSED(PRT_E_FORMAT, structs, "no scalars, or too many", m->fields[1].count = UINT64_MAX / 2);
    REFUSED(PRT_E_FORMAT, structs, "no scalars, or too many",
            m->fields[1].offset_bytes = UINT64_MAX);
    REFUSED(PRT_E_FORMAT, structs, "no scalars, or too many",
            m->fields[1].offset_bytes = INT64_MAX);
    REFUSED(PRT_E_VERIFY, structs, "a place outside of the packet of 'x'",
            m->fields[1].offset_bytes = 8);
    REFUSED(PRT_E_VERIFY, structs, "a place outside of the packet of 'x'",
            m->fields[1].offset_bytes = 0);
    REFUSED(PRT_E_VERIFY, structs, "a place outside of the packet of 'x'",
            m->fields[1].offset_bytes = 12);
    REFUSED(PRT_E_VERIFY, structs, "a place outside of the packet of 'x'",
            m->fields[1].offset_bytes = 5);
    REFUSED(PRT_E_VERIFY, structs, "the shape '' is not that of 2 scalars",
            (m->fields[1].scalar = SCALAR_U8, m->fields[1].count = 2));
    REFUSED(PRT_E_VERIFY, structs, "the shape '2, 2' is not that of 3 scalars",
            m->fields[0].count = 3);
    REFUSED(PRT_E_VERIFY, structs, "the shape '2,2' is",
            m->fields[0].shape = made_string(m, "2,2"));
    REFUSED(PRT_E_VERIFY, structs, "5 is no number of lanes", m->fields[0].lanes = 5);
    static const char *const shapes[] = {"2; 2",
                                         "2 2",
                                         "2,  2",
                                         "2, 2, ",
                                         "4, ",
                                         ", 4",
                                         "4,",
                                         "0",
                                         "4, 0",
                                         ":",
                                         "/",
                                         "x",
                                         "-4",
                                         "4 ",
                                         "04, 0",
                                         "18446744073709551616",
                                         "18446744073709551620",
                                         "99999999999999999999", /* 0 and 4 in 64 bits */
                                         "4294967296, 4294967296",
                                         "2, 9223372036854775808, 2",
                                         "9223372036854775809, 4"};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        REFUSED(PRT_E_VERIFY, structs, "is not that of 4 scalars",
                m->fields[0].shape = made_string(m, shapes[i]));
    REFUSED(PRT_OK, structs, "", m->fields[0].shape = made_string(m, "1, 04, 1"),
            m->fields[0].lanes = 1);
    for (uint32_t lanes = 1; lanes <= 33; lanes++) {
        char shape[16];
        snprintf(shape, sizeof shape, "2, %u", lanes);
        bool good = lanes <= 4 || lanes == 8 || lanes == 16;
        REFUSED(good ? PRT_OK : PRT_E_VERIFY, wide, good ? "" : "is no number of lanes",
                m->fields[0].shape = made_string(m, shape),
                m->fields[0].count = UINT64_C(2) * lanes, m->fields[0].lanes = lanes);
    }
    REFUSED(PRT_E_VERIFY, wide, "8 is no number of lanes",
            m->fields[0].shape = made_string(m, "8, 4"), m->fields[0].count = 32,
            m->fields[0].lanes = 8);
    REFUSED(PRT_E_VERIFY, structs, "'y' is said to be of one scalar type",
            (m->fields[2].offset_bytes = 4, m->fields[2].count = 1, m->fields[2].shape = 0));
    REFUSED(PRT_E_VERIFY, structs, "4 is no number of lanes of the shape '2, 2'",
            m->fields[0].lanes = 4);
    REFUSED(PRT_E_VERIFY, structs, "'y' is said to be of one scalar type",
            m->fields[2].scalar = SCALAR_I32);
    REFUSED(PRT_E_VERIFY, structs, "the fields of 'y' do not fill its packets",
            (m->fields[2].count = 1, m->fields[2].shape = 0));
    REFUSED(PRT_E_VERIFY, structs, "the fields of 'y' do not follow",
            m->buffers[1].first_field = 1);
    REFUSED(PRT_E_VERIFY, structs, "section 'fields', record 3: belongs to no port",
            (m->fields[3] = m->fields[2], m->field_count = 4));
    REFUSED(PRT_E_VERIFY, small, "'t' is no port and has fields",
            (m->fields[0] = (struct container_field){0, SCALAR_I32, 0, 1, 0, 1}, m->field_count = 1,
             m->buffers[1].field_count = 1));
}

/* ---- devices ---- */

static void expect_status(struct made *m, const struct devdesc *device, enum prt_status expected,
                          const char *message)
{
    struct file f = finish(m);
    struct prt_container c;
    struct prt_error error = {0};
    assert_int_equal(prt_container_read_memory(f.bytes, f.size, &c, &error), PRT_OK);
    enum prt_status status = prt_verify_device(&c, device, &error);
    assert_int_equal(status, expected);
    if (message != NULL && strstr(error.message, message) == NULL) fail_msg("%s", error.message);
    prt_container_free(&c);
    free(f.bytes);
}

static void expect_device(struct made *m, const struct devdesc *device, const char *message)
{
    expect_status(m, device, message == NULL ? PRT_OK : PRT_E_DEVICE, message);
}

static void devices_have_memory_and_entries(void **unused)
{
    (void)unused;
    struct devdesc device;
    assert_true(devdesc_builtin("sim16", &device));
    device.reference_entries = 2;
    /* buffers, ports, arguments, tables and state, of two nodes, dispatch packets */
    const uint64_t needed = 64 + 64 + (uint64_t)2 * 3 * 64 + (uint64_t)(2 + 2) * 64;
    device.memory_bytes = needed;
    struct made *m = small();
    m->stages[0].entry = 1;
    for (int i = 0; i < 2; i++)
        m->nodes[i].arguments_bytes = m->nodes[i].tables_bytes = m->nodes[i].state_bytes = 33;
    expect_device(m, &device, NULL);
    device.memory_bytes = needed - 1;
    m = small();
    for (int i = 0; i < 2; i++)
        m->nodes[i].arguments_bytes = m->nodes[i].tables_bytes = m->nodes[i].state_bytes = 33;
    expect_device(
        m, &device,
        "'small' needs 768 bytes of memory, device 'sim16' has 767: buffers 64, ports 64, "
        "arguments, tables and state 384, index memory 0, device queue 0, dispatch "
        "packets and reference table 256 [memory]");
    device.memory_bytes = 0; /* not known */
    m = small();
    m->nodes[1].local_bytes = UINT64_MAX;
    expect_device(m, &device, NULL);
    device.memory_bytes = needed;
    device.local_bytes = 100;
    m = small();
    m->nodes[1].local_bytes = 100;
    expect_device(m, &device, NULL);
    m = small();
    m->nodes[1].local_bytes = 101;
    expect_device(m, &device,
                  "needs 101 bytes of local memory, a compute unit of device 'sim16' has 100 "
                  "[local-memory]");
    m = small();
    m->stages[1].entry = 2;
    expect_device(m, &device, "'b' is launched by reference entry 2, and device 'sim16' has 2");
    m = small();
    m->stages[0].entry = 2;
    expect_device(m, &device, "'a' is launched by reference entry 2, and device 'sim16' has 2");
}

/* The program begins with `partition`; message: NULL if the device can be cut so. */
static void expect_cut(const struct devdesc *device, const char *partition, const char *message)
{
    struct made *m = small();
    char text[256];
    snprintf(text, sizeof text,
             "%s\nbind 0, 0\nbind 1, 0\nL1: ends\nround_robin 0, L2\ndispatch\njump L1\n"
             "L2: wait L1\nhalt\n",
             partition);
    made_program(m, text);
    expect_status(m, device, message == NULL ? PRT_OK : PRT_E_VERIFY, message);
}

static void devices_can_be_cut(void **unused)
{
    (void)unused;
    struct devdesc device;
    assert_true(devdesc_builtin("sim16", &device));
    device.max_sub_devices = 4;
    expect_cut(&device, "partition_equally 4", NULL);
    expect_cut(&device, "partition_equally 8", NULL);
    expect_cut(&device, "partition_equally 3",
               "offset 0, 'partition_equally 3': 5 sub-devices, and device 'sim16' can be cut into "
               "4 [partition-most]");
    expect_cut(&device, "partition_counts 1 1 1 13", NULL);
    expect_cut(&device, "partition_counts 1 1 1 1 1",
               "offset 0, 'partition_counts 1 1 1 1 1': 5 sub-devices, and");
    expect_cut(&device, "partition_affinity l3, 8", NULL);
    expect_cut(&device, "partition_affinity l2, 4", NULL);
    expect_cut(&device, "partition_affinity l1, 1",
               "offset 0, 'partition_affinity l1, 1': 16 sub-devices, and");
    expect_cut(&device, "partition_affinity l2, 8",
               "offset 0, 'partition_affinity l2, 8': the domains of device 'sim16' have 4 CUs "
               "[partition-domains]");
    expect_cut(&device, "partition_affinity numa, 8",
               "offset 0, 'partition_affinity numa, 8': device 'sim16' has no domains of level "
               "numa [partition-domains]");
    device.max_sub_devices = 1;
    expect_cut(&device, "partition_equally 8",
               "offset 0, 'partition_equally 8': device 'sim16' cannot be cut [partition-most]");
    device.max_sub_devices = 16;
    device.schemes = DEVDESC_BY_COUNTS;
    expect_cut(&device, "partition_counts 8 8", NULL);
    expect_cut(&device, "partition_equally 8",
               "offset 0, 'partition_equally 8': device 'sim16' cannot be cut equally "
               "[partition-scheme]");
    expect_cut(&device, "partition_affinity l3, 8", "by affinity domains [partition-scheme]");
    device.schemes = DEVDESC_EQUALLY;
    expect_cut(&device, "partition_counts 8 8", "cannot be cut by counts [partition-scheme]");
}

TEST_MAIN("container_rules", cmocka_unit_test(headers_and_section_tables_hold_together),
          cmocka_unit_test(tables_have_limits), cmocka_unit_test(index_memory_has_a_limit),
          cmocka_unit_test(reserved_fields_and_alignments_are_looked_at),
          cmocka_unit_test(writers_and_readers_agree), cmocka_unit_test(nodes_do_something),
          cmocka_unit_test(sums_are_looked_at), cmocka_unit_test(packs_have_a_limit),
          cmocka_unit_test(fields_lie_in_their_packets),
          cmocka_unit_test(devices_have_memory_and_entries), cmocka_unit_test(devices_can_be_cut))
