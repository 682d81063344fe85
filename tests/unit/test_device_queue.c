/* SPDX-License-Identifier: MIT */
/* Kernels that launch kernels: random trees against a recursive model, bounds, faults, what a
 * container may say of them.  The kernels are linked in. */
#include "tests/test.h"

#include "lang/index_format.h"
#include "lang/kernel_abi.h"
#include "runtime/device/device_queue.h"
#include "runtime/load/device_need.h"
#include "runtime/verify/verify.h"
#include "tests/conform/pipelines.h"

enum {
    LEVELS = 5,
    LAUNCHES = 3,
    OWN = 4,
    QUEUE = LEVELS * LAUNCHES, /* E of a kernel that launches itself */
    TREE = 3 + 9 + 27 + 81 + 243,
    PUSH = (1 + TREE) * OWN,
    FIRINGS = 700,
};

/* ---- what a firing does ---- */

/* A firing follows from its seed, so a model can follow it too: it emits some packets, launches
 * children with seeds of their own, and asks whether what it has launched has appended anything. */
struct plan {
    uint32_t seed;
    uint32_t depth;
};

static uint32_t mix(uint32_t seed, uint32_t salt)
{
    uint64_t z = ((uint64_t)seed << 32 | salt) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(z >> 32);
}

static uint32_t launches_of(struct plan p)
{
    return p.depth >= LEVELS ? 0 : mix(p.seed, 1) % (LAUNCHES + 1);
}

static bool emits_before(struct plan p, uint32_t step)
{
    return mix(p.seed, 100 + step) % 4 == 0;
}

/* After launch `step`: the number of an earlier one that is asked for, or NONE. */
static uint32_t asks_for(struct plan p, uint32_t step)
{
    uint32_t choice = mix(p.seed, 200 + step) % (2 * LAUNCHES);
    return choice <= step ? choice : UINT32_MAX;
}

static struct plan child_of(struct plan p, uint32_t number)
{
    return (struct plan){mix(p.seed, 300 + number), p.depth + 1};
}

static int32_t value_of(struct plan p, uint32_t step)
{
    return (int32_t)(mix(p.seed, 400 + step) >> 8);
}

/* ---- the model ---- */

struct list {
    int32_t packets[PUSH];
    size_t count;
};

static void model(struct plan p, struct list *to);

static bool appends(struct plan p)
{
    struct list *tree = calloc(1, sizeof *tree);
    model(p, tree);
    bool any = tree->count > 0;
    free(tree);
    return any;
}

static void model(struct plan p, struct list *to)
{
    uint32_t launches = launches_of(p);
    for (uint32_t step = 0; step < launches; step++) {
        if (emits_before(p, step)) to->packets[to->count++] = value_of(p, step);
        uint32_t asked = asks_for(p, step);
        if (asked != UINT32_MAX && appends(child_of(p, asked)) && step == 0)
            to->packets[to->count++] = -1;
    }
    if (launches == 0 && emits_before(p, 9)) to->packets[to->count++] = value_of(p, 9);
    for (uint32_t i = 0; i < launches; i++)
        model(child_of(p, i), to);
}

/* ---- the kernels ---- */

/* As generated code does it. */
static int32_t launch(const struct kernel_batch *batch, uint32_t site, struct plan child,
                      uint32_t wait)
{
    struct kernel_launch_list *list = batch->launches;
    if (list->count >= list->capacity) {
        *batch->fault = (struct kernel_fault){.firing = batch->first_firing,
                                              .source = 0,
                                              .line = 77,
                                              .column = 5,
                                              .index = (int64_t)list->count + 1,
                                              .bound = list->capacity};
        return KERNEL_FAULT_LAUNCHES;
    }
    struct kernel_launch *entry = (void *)(list->entries + list->count++ * list->stride_bytes);
    memcpy(entry, list->interfaces + site * list->stride_bytes, list->stride_bytes);
    assert_int_equal(entry->site, site);
    entry->wait_count = wait != UINT32_MAX;
    entry->waits[0] = (uint16_t)wait;
    memcpy(entry + 1, &child, sizeof child);
    return KERNEL_OK;
}

static int32_t grow(const struct kernel_batch *batch, struct plan p)
{
    int32_t *out = batch->out[0];
    uint64_t count = 0;
    uint32_t launches = launches_of(p);
    assert_int_equal(batch->count, 1);
    for (uint32_t step = 0; step < launches; step++) {
        if (emits_before(p, step)) out[count++] = value_of(p, step);
        uint32_t wait = step > 0 ? mix(p.seed, 500 + step) % (2 * step) : UINT32_MAX;
        int32_t status = launch(batch, mix(p.seed, 600 + step) % 3, child_of(p, step),
                                wait < step ? wait : UINT32_MAX);
        if (status != KERNEL_OK) return status;
        uint32_t asked = asks_for(p, step);
        if (asked == UINT32_MAX) continue;
        int32_t done = batch->launches->done(batch->launches, asked, UINT64_MAX);
        if (done < 0) return -done;
        if (done > 0 && step == 0) out[count++] = -1;
    }
    if (launches == 0 && emits_before(p, 9)) out[count++] = value_of(p, 9);
    batch->produced[0] = count;
    return KERNEL_OK;
}

static int32_t grow_root(const struct kernel_batch *batch)
{
    const int32_t *in = batch->in[0];
    return grow(batch, (struct plan){(uint32_t)in[0], 0});
}

static int32_t grow_child(const struct kernel_batch *batch)
{
    struct plan p;
    memcpy(&p, batch->arguments, sizeof p);
    return grow(batch, p);
}

/* Launches as often as the packet says, each child one packet less; children emit their number. */
static int32_t chain_run(const struct kernel_batch *batch, int32_t left, int32_t wide)
{
    int32_t *out = batch->out[0];
    for (int32_t i = 0; left > 0 && i < wide; i++) {
        int32_t status =
            launch(batch, 0, (struct plan){(uint32_t)left - 1, (uint32_t)wide}, UINT32_MAX);
        if (status != KERNEL_OK) return status;
    }
    out[0] = left;
    batch->produced[0] = 1;
    return KERNEL_OK;
}

/* packet: levels + 100 x launches of each */
static int32_t chain_root(const struct kernel_batch *batch)
{
    const int32_t *in = batch->in[0];
    return chain_run(batch, in[0] % 100, in[0] / 100);
}

static int32_t chain_child(const struct kernel_batch *batch)
{
    struct plan p;
    memcpy(&p, batch->arguments, sizeof p);
    return chain_run(batch, (int32_t)p.seed, (int32_t)p.depth);
}

/* ---- the container ---- */

/* x -> grow -> y, with a child that launches itself, in each of the three orders. */
static struct made *made_launcher(const char *device, uint64_t own)
{
    struct made *m = made_create("launcher", device);
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, UINT64_C(4) * PUSH, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "grow", CONTAINER_NODE_LAUNCHES);
    made_input(m, node, x, 1, 1);
    made_output(m, node, y, PUSH, 0);
    m->outputs[0].push_least = 0;
    for (uint32_t i = 0; i < 2; i++) {
        m->interfaces[i] =
            (struct container_interface){.title = made_string(m, i == 0 ? "grow" : "child"),
                                         .kernel = i,
                                         .node = i == 0 ? node : CONTAINER_NONE,
                                         .line = 10 + i,
                                         .flags = CONTAINER_INTERFACE_ASKS,
                                         .entry_bytes = 128,
                                         .event_offset_bytes = 4,
                                         .arguments_offset_bytes = sizeof(struct kernel_launch),
                                         .arguments_bytes = 64,
                                         .work_groups = 1,
                                         .group = {1, 1, 1},
                                         .first_launch = 3 * i,
                                         .launch_count = 3,
                                         .first_port = 2 * i,
                                         .in_count = 1,
                                         .out_count = 1,
                                         .firing_warps = 1,
                                         .warp_cycles = 50,
                                         .launches = LAUNCHES};
        m->interfaces[i].entry_bytes = sizeof(struct kernel_launch) + 64;
        m->interface_ports[(size_t)2 * i] =
            (struct container_interface_port){.width_bytes = 4, .packets = 1};
        m->interface_ports[2 * i + 1] =
            (struct container_interface_port){.width_bytes = 4, .packets = own, .line = 33};
        for (uint32_t k = 0; k < 3; k++)
            m->launches[3 * i + k] = (struct container_launch){
                .parent = i, .child = 1, .order = k, .wait_max = 1, .line = 50 + 3 * i + k};
    }
    m->interfaces[0].nesting = LEVELS;
    m->interfaces[0].tree = TREE;
    m->interfaces[0].queue_entries = QUEUE;
    m->interface_count = 2;
    m->interface_port_count = 4;
    m->launch_count = 6;
    m->defaults_bytes = 64;
    made_loop(m);
    made_settle(m);
    return m;
}

static const struct prt_image_kernel grow_kernels[] = {
    {.run = grow_root}, {.run = grow_root}, {.run = grow_child}};
static const struct prt_image_kernel chain_kernels[] = {
    {.run = chain_root}, {.run = chain_root}, {.run = chain_child}};

static struct host in, out;

/* ---- outputs ---- */

static size_t expect_trees(const struct prt_program *program, uint32_t host_threads)
{
    struct prt_error error = {0};
    struct prt_run_statistics statistics;
    struct list *tree = calloc(1, sizeof *tree);
    size_t at = 0;
    host_ramp(&in, FIRINGS);
    out.count = 0;
    assert_int_equal(pipelines_run(program, host_threads, &in, &out, &statistics, &error), PRT_OK);
    for (uint32_t firing = 0; firing < FIRINGS; firing++) {
        tree->count = 0;
        model((struct plan){firing, 0}, tree);
        assert_true(at + tree->count <= out.count);
        assert_memory_equal(out.packets + at, tree->packets, tree->count * sizeof(int32_t));
        at += tree->count;
    }
    assert_int_equal(at, out.count);
    free(tree);
    return at;
}

/* The same whatever the device, the threads and the batches; children that are asked for run before
 * their parent has ended, and their packets follow its own all the same. */
static void trees_append_in_pre_order(void **unused)
{
    (void)unused;
    static const char *const devices[] = {"sim1", "sim4", "sim16"};
    for (size_t d = 0; d < sizeof devices / sizeof devices[0]; d++) {
        for (uint64_t batch = 1; batch <= 4; batch += 3) {
            struct made *m = made_launcher(devices[d], OWN);
            m->stages[0].batch_max = batch;
            struct prt_program *program = pipelines_load(m, grow_kernels);
            assert_true(expect_trees(program, 1) > FIRINGS);
            expect_trees(program, 2);
            prt_program_free(program);
        }
    }
}

/* ---- interfaces ---- */

static int32_t range_child(const struct kernel_batch *batch)
{
    int32_t *out = batch->out[0], given;
    memcpy(&given, batch->arguments, sizeof given);
    out[0] = given * 100 + (int32_t)(batch->launches->group * 10 + batch->launches->groups);
    batch->produced[0] = 1;
    return KERNEL_OK;
}

/* The interface of each site is a whole launch; one launch is made as it is, another one is updated. */
static int32_t range_root(const struct kernel_batch *batch)
{
    struct kernel_launch_list *list = batch->launches;
    kernel_entry code = range_child;
    uint64_t address;
    memcpy(&address, &code, sizeof address);
    for (uint32_t site = 0; site < 3; site++) {
        struct kernel_launch made;
        memcpy(&made, list->interfaces + site * list->stride_bytes, sizeof made);
        assert_int_equal(made.site, site);
        assert_int_equal(made.groups, 1);
        assert_int_equal(made.first_group, 0);
        assert_int_equal(made.group_end, 4);
        assert_int_equal(made.wait_count, 0);
        assert_int_equal(made.kernel, address);
        assert_int_equal(made.timestamp, UINT64_MAX);
    }
    memcpy(list->entries, list->interfaces, list->stride_bytes);
    struct kernel_launch *second = (void *)(list->entries + list->stride_bytes);
    memcpy(second, list->interfaces + list->stride_bytes, list->stride_bytes);
    second->groups = 2;
    second->first_group = 1;
    memcpy(second + 1, batch->in[0], sizeof(int32_t));
    list->count = 2;
    batch->produced[0] = 0;
    return KERNEL_OK;
}

static const struct prt_image_kernel range_kernels[] = {
    {.run = range_root}, {.run = range_root}, {.run = range_child}};

static struct made *made_range(void)
{
    struct made *m = made_launcher("sim4", OWN);
    m->interfaces[1].work_groups = 4;
    m->interfaces[1].group_offset = m->interfaces[1].global_offset = 1;
    m->launches[5].order = CONTAINER_LAUNCH_WITH_PARENT;
    m->defaults[0] = 7;
    return m;
}

static void a_launch_is_its_interface_with_what_the_parent_updates(void **unused)
{
    (void)unused;
    struct prt_error error = {0};
    struct prt_program *program = pipelines_load(made_range(), range_kernels);
    host_ramp(&in, 2);
    in.packets[0] = 5;
    in.packets[1] = -5;
    out.count = 0;
    if (pipelines_run(program, 1, &in, &out, NULL, &error) != PRT_OK) fail_msg("%s", error.message);
    const int32_t wanted[] = {701, 512, 522, 701, -488, -478};
    assert_int_equal(out.count, 6);
    assert_memory_equal(out.packets, wanted, sizeof wanted);
    prt_program_free(program);
}

/* ---- bounds ---- */

static void run_chain(int32_t packet, uint64_t tree, uint64_t push, const char *id,
                      const char *what)
{
    struct prt_error error = {0};
    struct made *m = made_launcher("sim16", 1);
    m->interfaces[0].tree = tree;
    if (tree < QUEUE) m->interfaces[0].queue_entries = tree;
    m->outputs[0].push = push;
    struct prt_program *program = pipelines_load(m, chain_kernels);
    host_ramp(&in, 1);
    in.packets[0] = packet;
    out.count = 0;
    enum prt_status status = pipelines_run(program, 1, &in, &out, NULL, &error);
    if (id == NULL) {
        if (status != PRT_OK) fail_msg("%d: %s", packet, error.message);
    } else {
        assert_int_equal(status, PRT_E_FAULT);
        if (strstr(error.message, id) == NULL || strstr(error.message, what) == NULL)
            fail_msg("%d: %s", packet, error.message);
        assert_int_equal(out.count, 0);
    }
    prt_program_free(program);
}

static void bounds_are_kept_and_checked(void **unused)
{
    (void)unused;
    run_chain(LEVELS + 100 * LAUNCHES, TREE, PUSH, NULL, NULL);
    assert_int_equal(out.count, 1 + TREE);
    run_chain(LEVELS + 1 + 100, TREE, PUSH, "[nesting-exceeded]",
              "in 6 levels in firing 0, declared 5");
    run_chain(1 + 100 * (LAUNCHES + 1), TREE, PUSH, "[launches-exceeded]",
              "launched 4 kernels in firing 0, declared 3");
    run_chain(3 + 100 * 2, 14, PUSH, NULL, NULL);
    assert_int_equal(out.count, 15);
    run_chain(3 + 100 * 2, 13, PUSH, "[launches-exceeded]",
              "launched 14 kernels with its tree in firing 0, declared 13");
    run_chain(3 + 100, 3, 4, NULL, NULL);
    run_chain(3 + 100, 3, 3, "[amplification-exceeded]", "wrote 4 packets in firing 0, declared 3");
    run_chain(3 + 100, 2, PUSH, "[launches-exceeded]", "launched 3 kernels with its tree");
}

/* Containers are made for one device, so the compiler sees it first; the run checks it all the same. */
/* Verifies a program that launches on this device; `*error` has the reason of a refusal. */
static enum prt_status verify_on(struct made *m, const struct devdesc *device,
                                 struct prt_error *error)
{
    struct prt_container c;
    size_t size;
    uint8_t *bytes = made_finish(m, &size);
    made_free(m);
    assert_int_equal(prt_container_read_memory(bytes, size, &c, error), PRT_OK);
    enum prt_status status = prt_verify_device(&c, device, error);
    prt_container_free(&c);
    free(bytes);
    return status;
}

static void the_queue_and_the_local_memory_of_children_count(void **unused)
{
    (void)unused;
    struct prt_error error = {0};
    struct devdesc device;
    assert_true(devdesc_builtin("sim16", &device));
    device.local_bytes = 100;
    struct made *m = made_launcher("sim16", OWN);
    m->interfaces[1].local_bytes = 100;
    assert_int_equal(verify_on(m, &device, &error), PRT_OK);
    m = made_launcher("sim16", OWN);
    m->interfaces[1].local_bytes = 101;
    assert_int_equal(verify_on(m, &device, &error), PRT_E_DEVICE);
    assert_non_null(strstr(error.message, "'child' needs 101 bytes of local memory"));
    device.device_queue_entries = 1 << 20;
    device.memory_bytes = UINT64_C(64) << 20;
    assert_int_equal(verify_on(made_launcher("sim16", OWN), &device, &error), PRT_E_DEVICE);
    assert_non_null(strstr(error.message, "[memory]"));
}

/* Of an out-port that one kernel has and another lacks, only the packets of the first count. */
static void packets_are_kept_aside_for_the_ports_that_a_kernel_has(void **unused)
{
    (void)unused;
    const struct container_interface_port ports[] = {{.width_bytes = 4, .packets = 3},
                                                     {.width_bytes = 4, .packets = 100},
                                                     {.width_bytes = 8, .packets = 40},
                                                     {.width_bytes = 8, .packets = 5000}};
    const struct container_interface interfaces[] = {{.node = 0,
                                                      .flags = CONTAINER_INTERFACE_ASKS,
                                                      .group = {5, 7, 3}, /* of 16 bits each */
                                                      .nesting = 1,
                                                      .entry_bytes = 64,
                                                      .first_port = 0,
                                                      .out_count = 2},
                                                     {.node = 1,
                                                      .group = {1, 1, 1},
                                                      .nesting = 2,
                                                      .entry_bytes = 128,
                                                      .first_port = 2,
                                                      .out_count = 1}};
    struct prt_container c = {
        .interfaces = interfaces, .interface_count = 2, .interface_ports = ports};
    const struct devdesc device = {.device_queue_entries = 10};
    const uint64_t indices = 5 * 7 * 3 * 2 + 46 + 64, entries = 10 * 128;
    const uint64_t first = 40 * 4 + 32 + 100 * 4 + 48, second = 40 * 8; /* in blocks of 64 bytes */
    assert_int_equal(prt_device_need(&c, &device).device_queue,
                     indices + entries + 2 * first + 3 * second);
    /* An interface for each child of a launch, and at each level what a firing that waits has of local memory. */
    struct container_interface keeping[] = {interfaces[0], interfaces[1]};
    keeping[0].local_bytes = 40;
    keeping[1].local_bytes = 4000;
    c.interfaces = keeping;
    c.launch_count = 3;
    assert_int_equal(prt_device_need(&c, &device).device_queue,
                     indices + entries + 3 * 128 + 2 * (first + 64) + 3 * (second + 64));
    c.interfaces = interfaces;
    c.launch_count = 0;
    c.interface_count = 1;
    assert_int_equal(prt_device_need(&c, &device).device_queue, 256 + 10 * 64 + 2 * (64 + 448));
    c.interface_count = 0;
    assert_int_equal(prt_device_need(&c, &device).device_queue, 0);
}

static void a_queue_too_small_is_refused(void **unused)
{
    (void)unused;
    struct prt_error error = {0};
    struct prt_container c;
    struct prt_device_queue *queue = NULL;
    struct devdesc device;
    size_t size;
    struct made *m = made_launcher("sim16", OWN);
    uint8_t *bytes = made_finish(m, &size);
    assert_int_equal(prt_container_read_memory(bytes, size, &c, &error), PRT_OK);
    assert_true(devdesc_builtin("sim16", &device));
    device.device_queue_entries = QUEUE - 1;
    assert_int_equal(prt_device_queue_create(&c, 0, grow_kernels + 1, &device, &queue, &error),
                     PRT_E_DEVICE);
    assert_non_null(strstr(error.message, "'grow' may have 15 launches in the device queue"));
    assert_non_null(strstr(error.message, "[device-queue-too-small]"));
    device.device_queue_entries = QUEUE;
    assert_int_equal(prt_device_queue_create(&c, 0, grow_kernels + 1, &device, &queue, &error),
                     PRT_OK);
    prt_device_queue_destroy(queue);
    prt_container_free(&c);
    free(bytes);
    made_free(m);
}

/* ---- containers ---- */

#define REFUSED(field, value, text)                                                                \
    do {                                                                                           \
        struct prt_error error;                                                                    \
        struct made *m = made_launcher("sim16", OWN);                                              \
        m->field = (value);                                                                        \
        if (made_verify(m, &error) == PRT_OK) fail_msg("%s is not refused", #field);               \
        if (strstr(error.message, text) == NULL) fail_msg("%s: %s", #field, error.message);        \
        assert_int_not_equal(error.offset, PRT_NO_OFFSET);                                         \
    } while (0)

static void tables_that_do_not_hold_together_are_refused(void **unused)
{
    (void)unused;
    struct prt_error error;
    assert_int_equal(made_verify(made_launcher("sim16", OWN), &error), PRT_OK);
    struct made *of_no_source = made_launcher("sim16", OWN);
    of_no_source->interfaces[1].source = CONTAINER_NONE;
    of_no_source->interface_ports[2].source = CONTAINER_NONE;
    of_no_source->launches[3].source = CONTAINER_NONE;
    assert_int_equal(made_verify(of_no_source, &error), PRT_OK);
    REFUSED(interfaces[0].queue_entries, QUEUE - 1, "it may have 15");
    REFUSED(interfaces[0].queue_entries, QUEUE + 1, "it may have 15");
    REFUSED(interfaces[0].tree, TREE + 1, "it has 363 at most");
    REFUSED(interfaces[0].tree, 0, "has 0 launches");
    REFUSED(interfaces[0].nesting, LEVELS - 1, "it has 120 at most");
    REFUSED(interfaces[0].nesting, 0, "has 0 levels");
    REFUSED(interfaces[0].nesting, CONTAINER_NESTING_MAX + 1, "has 1025 levels");
    REFUSED(interfaces[0].launches, 0, "0 launches a firing and 3 places");
    REFUSED(interfaces[1].launches, LAUNCHES - 1, "it has 93 at most");
    REFUSED(interfaces[1].launches, UINT64_MAX, "'child' has");
    REFUSED(interfaces[1].nesting, 1, "has bounds of an outermost kernel");
    REFUSED(interfaces[0].node, CONTAINER_NONE, "");
    REFUSED(interfaces[1].node, 0, "");
    REFUSED(interfaces[0].kernel, 1, "is not the kernel of node");
    REFUSED(interfaces[1].entry_bytes, 64, "is not laid out");
    REFUSED(interfaces[1].arguments_offset_bytes, 0, "is not laid out");
    REFUSED(interfaces[0].arguments_bytes, UINT64_MAX, "bytes of arguments");
    REFUSED(interfaces[1].arguments_bytes, UINT64_MAX, "has another size than the blocks");
    REFUSED(defaults_bytes, 72, "has another size than the blocks");
    REFUSED(interfaces[1].group[1], 0, "no work-items");
    REFUSED(interfaces[1].group[1], 1u << 31, "too many");
    REFUSED(interfaces[1].firing_warps, 0, "has 0 warps");
    REFUSED(interfaces[1].firing_warps, 2, "has 2 warps, for 1 work-items");
    REFUSED(interfaces[0].work_groups, 2, "is not one work-group");
    REFUSED(interfaces[1].work_groups, 0, "has no work-groups");
    REFUSED(interfaces[1].work_groups, CONTAINER_WORK_GROUPS_MAX + 1, "or too many");
    REFUSED(interfaces[1].work_groups, 2, "waits for all work-groups of a launch of 'child'");
    REFUSED(interfaces[1].global_offset, 1, "of 'child' does not begin with work-item 1");
    REFUSED(interfaces[1].group_offset, 1, "may begin with work-group 1, and has 1");
    REFUSED(interfaces[1].first_port, 1, "");
    REFUSED(interfaces[1].first_launch, 2, "do not follow");
    REFUSED(interfaces[1].launch_count, 2, "belongs to no kernel");
    REFUSED(interfaces[1].out_count, 0, "belongs to no kernel");
    REFUSED(interfaces[1].out_count, UINT32_MAX, "ports outside");
    REFUSED(interfaces[1].out_count, 2, "ports outside");
    REFUSED(interfaces[1].in_count, UINT32_MAX, "ports outside");
    REFUSED(interfaces[1].first_port, 5, "ports outside");
    REFUSED(interfaces[1].flags, 4, "unknown flags");
    REFUSED(interface_ports[1].packets, PUSH + 1, "is not as the output");
    REFUSED(interface_ports[0].packets, 2, "is not as the input");
    REFUSED(interface_ports[2].packets, 2, "sees more");
    REFUSED(interface_ports[3].width_bytes, 8, "is wider");
    REFUSED(launches[4].parent, 0, "is not one of 'child'");
    REFUSED(launches[4].child, 0, "is no child kernel");
    REFUSED(launches[4].child, 2, "an unknown interface");
    REFUSED(launches[4].order, 3, "an unknown order");
    REFUSED(launches[4].wait_max, KERNEL_LAUNCH_WAITS_MAX + 1, "too many events");
    REFUSED(nodes[0].flags, 0, "launches nothing");
    REFUSED(interface_count, 0, "");
}

static void each_part_of_a_rule_refuses_by_itself(void **unused)
{
    (void)unused;
    REFUSED(interfaces[1].event_offset_bytes, 1,
            "'child' has its event at 1: the device looks for");
    REFUSED(interfaces[1].local_offset_bytes, 16, "local memory of 'child' begins at 16");
    REFUSED(interfaces[1].group[2], 0, "no work-items");
    REFUSED(interfaces[1].group[2], INDEX_ITEMS_MAX + 1, "too many");

    REFUSED(interfaces[1].tree, 1, "has bounds of an outermost kernel");
    REFUSED(interfaces[1].queue_entries, 1, "has bounds of an outermost kernel");
    REFUSED(interfaces[1].launches, CONTAINER_EVENTS_MAX + 1, "'child' has");
    REFUSED(interfaces[0].tree, CONTAINER_TREE_MAX + 1, "a firing of");
    REFUSED(interfaces[0].arguments_bytes, m->interfaces[0].arguments_bytes + 1, "is not ");
    REFUSED(interface_ports[0].width_bytes, 8, "is not as the input");
    REFUSED(interface_ports[1].width_bytes, 8, "is not as the output");
    REFUSED(interfaces[1].first_port, m->interfaces[1].first_port - 1, "");
    REFUSED(nodes[0].flags, m->nodes[0].flags | CONTAINER_NODE_STOPS, "");
    REFUSED(interfaces[1].title, 99999, "'interfaces', record 1: a string outside");
    REFUSED(interfaces[1].node, (m->defaults_bytes = 0, 7),
            "'interfaces', record 1: an unknown node");
    REFUSED(interfaces[1].source, 7, "'interfaces', record 1: an unknown source");
    REFUSED(interfaces[1].reserved, 1, "'interfaces', record 1: a reserved field");
    REFUSED(interfaces[1].first_launch, 99, "launches outside");
    REFUSED(interface_ports[1].source, 7, "'interface_ports', record 1: an unknown source");
    REFUSED(interface_ports[1].reserved, 1, "'interface_ports', record 1: a reserved field");
    REFUSED(interfaces[0].in_count, 0, "has not the ends of its node");
    REFUSED(interfaces[0].out_count, 2, "has not the ends of its node");
    REFUSED(interfaces[0].first_port, 1, "'grow' do not follow");
    REFUSED(interfaces[0].launches, m->interfaces[0].launch_count = 0,
            "node 'grow' launches nothing");
    REFUSED(interfaces[0].arguments_bytes, 63, "'grow' is not the kernel of node 'grow'");
    REFUSED(inputs[0].window_width,
            (m->inputs[0].window_height = 1, m->buffers[0].row_packets = 8, 1),
            "'grow' launches, and has a 2-D window");
    REFUSED(nodes[0].flags, m->nodes[0].flags | CONTAINER_NODE_INDEXED, "writes by index");
    REFUSED(launches[1].source, 7, "'launches', record 1: an unknown source");
    REFUSED(launches[1].reserved, 1, "'launches', record 1: a reserved field");
}

static void expect_refusal(struct made *m, const char *text)
{
    struct prt_error error;
    assert_int_equal(made_verify(m, &error), PRT_E_VERIFY);
    if (strstr(error.message, text) == NULL) fail_msg("%s: %s", text, error.message);
}

static void a_node_that_launches_has_no_phases(void **unused)
{
    (void)unused;
    struct made *m = made_launcher("sim16", OWN);
    const uint64_t rates[] = {1, 1, 1, 1, 0, 0, PUSH, PUSH};
    memcpy(m->rates, rates, sizeof rates);
    m->rate_count = 8;
    m->nodes[0].repetitions = m->nodes[0].phases = 2;
    m->inputs[0].pop = 2;
    m->inputs[0].rates = 0;
    m->outputs[0].push = UINT64_C(2) * PUSH;
    m->outputs[0].rates = 4;
    expect_refusal(m, "node 'grow' launches, and stops, has phases");
}

/* So many work-items as a packed index can say, whatever their shape. */
static void a_child_has_work_items_up_to_the_limit(void **unused)
{
    (void)unused;
    const struct {
        uint32_t group[3];
        bool accepted;
    } cases[] = {
        {{INDEX_ITEMS_MAX, 1, 1}, true},
        {{1, INDEX_ITEMS_MAX, 1}, true},
        {{1, 1, INDEX_ITEMS_MAX}, true},
        {{257, 3, 85}, true},
        {{INDEX_ITEMS_MAX + 1, 1, 1}, false},
        {{300, 1, 300}, false},
        {{256, 256, 1}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct prt_error error;
        struct made *m = made_launcher("sim16", OWN);
        const uint32_t *group = cases[i].group, lanes = m->device.lanes;
        memcpy(m->interfaces[1].group, group, sizeof cases[i].group);
        m->interfaces[1].firing_warps = (group[0] * group[1] * group[2] + lanes - 1) / lanes;
        if (!cases[i].accepted)
            expect_refusal(m, "'child' has no work-items, or too many");
        else if (made_verify(m, &error) != PRT_OK)
            fail_msg("%s", error.message);
    }
}

/* 2^16 launches in each of five levels: 2^80 in all, and no sum of the loader goes round. */
static void bounds_beyond_64_bits_are_the_largest(void **unused)
{
    (void)unused;
    struct prt_error error;
    struct made *m = made_launcher("sim16", OWN);
    m->interfaces[0].launches = m->interfaces[1].launches = CONTAINER_EVENTS_MAX;
    m->interfaces[0].tree = CONTAINER_TREE_MAX;
    m->interfaces[0].queue_entries = (uint64_t)LEVELS * CONTAINER_EVENTS_MAX;
    if (made_verify(m, &error) != PRT_OK) fail_msg("%s", error.message);
}

/* x2 -> other -> y2 beside the launcher, which launches the same child. */
static struct made *made_two_launchers(uint64_t nesting)
{
    struct made *m = made_launcher("sim16", OWN);
    uint32_t x = made_buffer(m, "x2", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y2", SCALAR_I32, UINT64_C(4) * PUSH, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "other", CONTAINER_NODE_LAUNCHES);
    made_input(m, node, x, 1, 1);
    made_output(m, node, y, PUSH, 0);
    m->outputs[1].push_least = 0;
    m->nodes[node].kernel = 2;
    m->interfaces[2] = m->interfaces[0];
    m->interfaces[2].title = made_string(m, "other");
    m->interfaces[2].node = node;
    m->interfaces[2].kernel = 2;
    m->interfaces[2].first_launch = 6;
    m->interfaces[2].first_port = 4;
    m->interfaces[2].nesting = nesting;
    for (uint32_t k = 0; k < 3; k++) {
        m->launches[6 + k] = m->launches[k];
        m->launches[6 + k].parent = 2;
    }
    m->interface_ports[4] = m->interface_ports[0];
    m->interface_ports[5] = m->interface_ports[1];
    m->interface_count = 3;
    m->interface_port_count = 6;
    m->launch_count = 9;
    made_loop(m);
    made_settle(m);
    return m;
}

/* Kernels with few levels are looked at before those with more. */
static void each_kernel_has_bounds_of_its_own(void **unused)
{
    (void)unused;
    struct prt_error error;
    if (made_verify(made_two_launchers(LEVELS), &error) != PRT_OK) fail_msg("%s", error.message);
    expect_refusal(made_two_launchers(1),
                   "a firing of 'other' is said to have 363 launches, it has 3 at most");
}

static void where_launches_begin_is_checked(void **unused)
{
    (void)unused;
    struct prt_error error;
    struct made *m = made_range();
    if (made_verify(m, &error) != PRT_OK) fail_msg("%s", error.message);
    m = made_range();
    m->interfaces[1].group_offset = m->interfaces[1].global_offset = 4;
    expect_refusal(m, "a launch of 'child' may begin with work-group 4, and has 4");
    m = made_range();
    m->interfaces[1].global_offset = 2;
    expect_refusal(m, "work-group 1 of 'child' does not begin with work-item 2");
    m = made_range(); /* a group of three work-items, in one warp */
    m->interfaces[1].group[0] = 3;
    m->interfaces[1].group_offset = 2;
    m->interfaces[1].global_offset = 6;
    if (made_verify(m, &error) != PRT_OK) fail_msg("%s", error.message);
}

static void interfaces_fit_each_other(void **unused)
{
    (void)unused;
    struct made *m = made_launcher("sim16", OWN);
    m->interfaces[1].in_count = 2;
    m->interface_ports[m->interface_port_count++] = m->interface_ports[3];
    expect_refusal(m, "'child' has more ports than 'grow', which launches it");
    m = made_launcher("sim16", OWN);
    m->interfaces[1].out_count = 2;
    m->interface_ports[m->interface_port_count++] = m->interface_ports[3];
    expect_refusal(m, "'child' has more ports than 'grow', which launches it");
    m = made_launcher("sim16", OWN); /* two of the node, then the child of both */
    m->interfaces[2] = m->interfaces[1];
    m->interfaces[1] = m->interfaces[0];
    m->interface_count = 3;
    for (uint32_t i = 1; i < 3; i++) {
        m->interfaces[i].first_port = 2 * i;
        m->interfaces[i].first_launch = 3 * i;
    }
    m->interface_ports[4] = m->interface_ports[2];
    m->interface_ports[5] = m->interface_ports[3];
    m->interface_ports[2] = m->interface_ports[0];
    m->interface_ports[3] = m->interface_ports[1];
    m->interface_port_count = 6;
    for (uint32_t i = 0; i < 9; i++)
        m->launches[i] = (struct container_launch){
            .parent = i / 3, .child = 2, .order = i % 3, .wait_max = 1, .line = 50};
    m->launch_count = 9;
    expect_refusal(m, "node 'grow' has two interfaces");
    for (uint32_t kind = CONTAINER_VARIABLE_STATE; kind <= CONTAINER_VARIABLE_TABLE; kind++) {
        m = made_launcher("sim16", OWN); /* a child has no state and no tables */
        m->pipeline.flags |= CONTAINER_PIPELINE_DEBUG;
        m->kernels[0] = (struct container_kernel){.kernel = 1,
                                                  .title = made_string(m, "child"),
                                                  .place = CONTAINER_NONE,
                                                  .variable_count = 1};
        m->kernel_count = 1;
        m->variables[0] = (struct container_variable){made_string(m, "v"), kind, CONTAINER_NONE,
                                                      CONTAINER_NONE, 4};
        m->variable_count = 1;
        expect_refusal(m, "a variable of kernel 'child' lies outside of its arguments");
    }
}

TEST_MAIN("device_queue", cmocka_unit_test(trees_append_in_pre_order),
          cmocka_unit_test(a_launch_is_its_interface_with_what_the_parent_updates),
          cmocka_unit_test(where_launches_begin_is_checked),
          cmocka_unit_test(bounds_are_kept_and_checked),
          cmocka_unit_test(a_queue_too_small_is_refused),
          cmocka_unit_test(the_queue_and_the_local_memory_of_children_count),
          cmocka_unit_test(packets_are_kept_aside_for_the_ports_that_a_kernel_has),
          cmocka_unit_test(tables_that_do_not_hold_together_are_refused),
          cmocka_unit_test(each_part_of_a_rule_refuses_by_itself),
          cmocka_unit_test(a_node_that_launches_has_no_phases),
          cmocka_unit_test(a_child_has_work_items_up_to_the_limit),
          cmocka_unit_test(bounds_beyond_64_bits_are_the_largest),
          cmocka_unit_test(each_kernel_has_bounds_of_its_own),
          cmocka_unit_test(interfaces_fit_each_other))
