/* SPDX-License-Identifier: MIT */
/*
 * gpu_check FILE.pbc...: the kernels of each container give the same bits on a GPU as on this processor.
 *
 * Each container has an image of both kinds. Each entry `run` and `init` is called with the same drawn packets by this
 * processor, and through `pipe_call` by several blocks of threads (lang/gpu_abi.h). Packets, counts, state and faults
 * must be equal. A NaN in an inner buffer may have other bits: no program can see them.
 *
 * Not called: kernels that launch kernels, `finish`, and a batch that takes the processor longer than a second.
 * Exit status: 0 all equal, 1 some differ, 77 there is no GPU or no driver.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lang/gpu_abi.h"
#include "lang/index_format.h"
#include "lang/scalar.h"
#include "runtime/load/image.h"
#include "runtime/load/reader.h"

enum { BLOCKS = 5, THREADS = 96, KINDS = 3, FIRST_FIRING = 1000003, SKIPPED = 77 };
#define FIRINGS_MAX UINT64_C(1500)
#define END_BYTES_MAX (UINT64_C(1) << 20)
#define ARENA_BYTES (UINT64_C(1) << 29)

/* ---- the driver ---- */

typedef uint64_t device_address;
static int (*driver_init)(unsigned);
static int (*driver_device)(int *, int);
static int (*driver_device_name)(char *, int, int);
static int (*driver_retain)(void **, int);
static int (*driver_set_context)(void *);
static int (*driver_load)(void **, const void *);
static int (*driver_unload)(void *);
static int (*driver_function)(void **, void *, const char *);
static int (*driver_allocate)(device_address *, size_t);
static int (*driver_to_device)(device_address, const void *, size_t);
static int (*driver_from_device)(void *, device_address, size_t);
static int (*driver_launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                            unsigned, void *, void **, void **);
static int (*driver_wait)(void);
static int (*driver_error_name)(int, const char **);

static _Noreturn void skip(const char *why)
{
    printf("skip gpu_check: %s\n", why);
    exit(SKIPPED);
}

static void must(int result, const char *call)
{
    const char *name = "?";
    if (result == 0) return;
    driver_error_name(result, &name);
    printf("not ok %s: %s\n", call, name);
    exit(1);
}
#define MUST(call) must(call, #call)

static void find_driver(void)
{
    static const struct {
        const char *name;
        void *function;
    } functions[] = {{"cuInit", &driver_init},
                     {"cuDeviceGet", &driver_device},
                     {"cuDeviceGetName", &driver_device_name},
                     {"cuDevicePrimaryCtxRetain", &driver_retain},
                     {"cuCtxSetCurrent", &driver_set_context},
                     {"cuModuleLoadData", &driver_load},
                     {"cuModuleUnload", &driver_unload},
                     {"cuModuleGetFunction", &driver_function},
                     {"cuMemAlloc_v2", &driver_allocate},
                     {"cuMemcpyHtoD_v2", &driver_to_device},
                     {"cuMemcpyDtoH_v2", &driver_from_device},
                     {"cuLaunchKernel", &driver_launch},
                     {"cuCtxSynchronize", &driver_wait},
                     {"cuGetErrorName", &driver_error_name}};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) skip("there is no libcuda.so.1");
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(library, functions[i].name);
        if (address == NULL) skip("the driver is too old");
        memcpy(functions[i].function, &address, sizeof address);
    }
}

/* All that a call needs, at the same offset in host and device memory. */
static struct {
    uint8_t *host;
    device_address device;
    size_t used;
} arena;

static void open_device(void)
{
    int device;
    void *context;
    char name[128];
    find_driver();
    if (driver_init(0) != 0 || driver_device(&device, 0) != 0) skip("there is no GPU");
    MUST(driver_device_name(name, sizeof name, device));
    MUST(driver_retain(&context, device));
    MUST(driver_set_context(context));
    MUST(driver_allocate(&arena.device, ARENA_BYTES));
    arena.host = malloc(ARENA_BYTES);
    if (arena.host == NULL) exit(1);
    printf("# %s\n", name);
}

static void *take(uint64_t bytes)
{
    if (arena.used + bytes + 64 > ARENA_BYTES) {
        printf("not ok: a batch needs too much memory\n");
        exit(1);
    }
    void *place = arena.host + arena.used;
    arena.used += (bytes + 127) / 64 * 64;
    memset(place, 0, bytes + 64);
    return place;
}

/* Of a pointer into the arena: that of the device, as bits. */
static void *on_device(const void *host)
{
    return (void *)(uintptr_t)(arena.device + (uint64_t)((const uint8_t *)host - arena.host));
}

/* ---- drawn packets ---- */

static uint64_t drawn_state = 88172645463325252u;

static uint64_t draw(void)
{
    drawn_state ^= drawn_state << 13;
    drawn_state ^= drawn_state >> 7;
    return drawn_state ^= drawn_state << 17;
}

/* kind 0: small numbers; 1: wider ones; 2: any bits, subnormal and infinite numbers and NaNs included. */
static void draw_scalar(uint8_t *to, enum scalar_type scalar, int kind)
{
    size_t width = (size_t)scalar_width_bytes(scalar);
    uint64_t bits = draw();
    double number = (double)(int64_t)bits * (kind == 0 ? 0x1p-60 : 0x1p-54);
    float narrow = (float)number;
    uint64_t small = bits % (kind == 0 ? 10 : 100);
    if (scalar == SCALAR_BOOL) small = bits = bits & 1;
    if (kind == 2)
        memcpy(to, &bits, width);
    else if (scalar == SCALAR_F32)
        memcpy(to, &narrow, width);
    else if (scalar == SCALAR_F64)
        memcpy(to, &number, width);
    else if (scalar == SCALAR_F16 || scalar == SCALAR_BF16)
        memcpy(to, &bits, width);
    else
        memcpy(to, &small, width);
}

static void draw_packets(uint8_t *to, const struct container_buffer *buffer, uint64_t packets,
                         int kind)
{
    enum scalar_type scalar = (enum scalar_type)buffer->scalar;
    uint64_t width = (uint64_t)scalar_width_bytes(scalar);
    for (uint64_t at = 0; at < packets * buffer->width_bytes; at += width)
        draw_scalar(to + at, scalar, kind);
}

/* ---- one program ---- */

struct program {
    const char *name;
    struct prt_container container;
    struct prt_image image;
    void *module, *function;
    uint8_t **arguments; /* by node */
    uint32_t compared, faults, skipped;
    bool failed;
};

/* The entry that launches one batch: (entry, batch, local, statuses). */
static const char launcher[] =
    "\n.visible .entry gpu_check(.param .u32 entry, .param .u64 batch, .param .u64 statuses)\n{\n"
    "  .reg .b32 %a<9>;\n  .reg .b64 %b<9>;\n"
    "  ld.param.u32 %a1, [entry];\n  ld.param.u64 %b1, [batch];\n  ld.param.u64 %b3, [statuses];\n"
    "  mov.u32 %a2, %ctaid.x;\n  mov.u32 %a3, %nctaid.x;\n  mov.u64 %b2, 0;\n"
    "  {\n  .param .b32 p0;\n  .param .b64 p1;\n  .param .b32 p2;\n  .param .b32 p3;\n  .param "
    ".b64 p4;\n"
    "  .param .b32 r0;\n  st.param.b32 [p0], %a1;\n  st.param.b64 [p1], %b1;\n"
    "  st.param.b32 [p2], %a2;\n  st.param.b32 [p3], %a3;\n  st.param.b64 [p4], %b2;\n"
    "  call.uni (r0), pipe_call, (p0, p1, p2, p3, p4);\n  ld.param.b32 %a4, [r0];\n  }\n"
    "  mov.u32 %a5, %ntid.x;\n  mov.u32 %a6, %tid.x;\n  mad.lo.u32 %a7, %a2, %a5, %a6;\n"
    "  mul.wide.u32 %b4, %a7, 4;\n  add.u64 %b5, %b3, %b4;\n  st.global.u32 [%b5], %a4;\n  "
    "ret;\n}\n";

static void load_module(struct program *p)
{
    const struct prt_container *c = &p->container;
    for (uint32_t i = 0; i < c->image_count; i++) {
        if (c->images[i].kind != CONTAINER_IMAGE_PTX) continue;
        const char *text = (const char *)c->image + c->images[i].offset_bytes;
        char *whole = malloc(strlen(text) + sizeof launcher);
        if (whole == NULL) exit(1);
        strcat(strcpy(whole, text), launcher);
        MUST(driver_load(&p->module, whole));
        MUST(driver_function(&p->function, p->module, "gpu_check"));
        free(whole);
    }
    if (p->module == NULL) {
        printf("not ok %s: it has no image for GPUs\n", p->name);
        exit(1);
    }
}

/* Runs an entry on the device with the whole arena.  Returns the first status that is not KERNEL_OK. */
static int32_t call_device(struct program *p, uint32_t entry, const struct kernel_batch *batch,
                           unsigned blocks)
{
    int32_t *statuses = take(sizeof *statuses * blocks * THREADS), status = KERNEL_OK;
    struct kernel_batch *copy = take(sizeof *copy);
    *copy = *batch;
    device_address batch_at = (device_address)(uintptr_t)on_device(copy);
    device_address statuses_at = (device_address)(uintptr_t)on_device(statuses);
    void *parameters[] = {&entry, &batch_at, &statuses_at};
    MUST(driver_to_device(arena.device, arena.host, arena.used));
    MUST(driver_launch(p->function, blocks, 1, 1, THREADS, 1, 1, GPU_TILE_BYTES, NULL, parameters,
                       NULL));
    must(driver_wait(), p->name);
    MUST(driver_from_device(arena.host, arena.device, arena.used));
    for (unsigned i = 0; i < blocks * THREADS && status == KERNEL_OK; i++)
        status = statuses[i];
    return status;
}

static void differs(struct program *p, const struct container_node *node, const char *what)
{
    printf("not ok %s, node '%s': another %s\n", p->name,
           prt_container_text(&p->container, node->name), what);
    p->failed = true;
}

/* ---- the processor ---- */

static sigjmp_buf too_long;

static void give_up(int signal)
{
    (void)signal;
    siglongjmp(too_long, 1);
}

/* False: it takes too long. */
static bool call_processor(kernel_entry entry, const struct kernel_batch *batch, int32_t *status)
{
    bool done = false;
    if (sigsetjmp(too_long, 1) == 0) {
        alarm(1);
        *status = entry(batch);
        done = true;
    }
    alarm(0);
    return done;
}

/* ---- one batch ---- */

struct ends {
    uint64_t count; /* firings */
    uint8_t *in[64], *out[64], *expected[64];
    const void **in_device;
    void **out_device;
    struct kernel_window *windows;
    uint64_t *produced, *expected_produced;
};

/* The packets that the firings before `firing` of the batch take or append at most, at rates of a cycle. */
static uint64_t packets_before(const struct prt_container *c, const struct container_node *node,
                               uint64_t rate, uint32_t rates, uint64_t firing)
{
    if (rates == CONTAINER_NONE) return rate * firing;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < firing; i++)
        sum += c->rates[rates + (FIRST_FIRING + i) % node->phases];
    return sum;
}

static uint64_t out_before(const struct prt_container *c, const struct container_node *node,
                           const struct container_output *output, uint64_t firing)
{
    uint32_t most = output->rates == CONTAINER_NONE ? CONTAINER_NONE : output->rates + node->phases;
    return packets_before(c, node, output->push, most, firing);
}

static bool has_windows(const struct prt_container *c, const struct container_node *node)
{
    for (uint32_t i = 0; i < node->input_count; i++)
        if (c->inputs[node->first_input + i].window_width > 0) return true;
    return false;
}

/* Firings of a batch whose ends are not too large; with 2-D windows all in one frame. */
static uint64_t choose_count(const struct prt_container *c, const struct container_node *node)
{
    uint64_t count = FIRINGS_MAX;
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct container_input *in = &c->inputs[node->first_input + i];
        const struct container_buffer *b = &c->buffers[in->buffer];
        while (count > 1 && count * (in->pop + in->peek) * b->width_bytes > END_BYTES_MAX)
            count /= 2;
        uint64_t rows = b->frame_rows > 0 ? b->frame_rows : 9;
        if (in->window_width > 0 && count > rows * b->row_packets) count = rows * b->row_packets;
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct container_output *out = &c->outputs[node->first_output + i];
        uint64_t width = c->buffers[out->buffer].width_bytes;
        while (count > 1 && count * out->push * width > END_BYTES_MAX)
            count /= 2;
    }
    return count;
}

static void make_ends(struct program *p, const struct container_node *node, int kind,
                      struct ends *ends)
{
    const struct prt_container *c = &p->container;
    ends->in_device = take(sizeof(void *) * (node->input_count + 1));
    ends->out_device = take(sizeof(void *) * (node->output_count + 1));
    ends->windows = take(sizeof *ends->windows * (node->input_count + 1));
    ends->produced = take(sizeof(uint64_t) * (node->output_count * ends->count + 1));
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct container_input *in = &c->inputs[node->first_input + i];
        const struct container_buffer *b = &c->buffers[in->buffer];
        uint64_t rows = b->frame_rows > 0 ? b->frame_rows : 9;
        uint64_t packets = packets_before(c, node, in->pop, in->rates, ends->count) + in->peek;
        if (in->window_width > 0) packets = rows * b->row_packets;
        ends->in[i] = take(packets * b->width_bytes);
        draw_packets(ends->in[i], b, packets, kind);
        ends->in_device[i] = on_device(ends->in[i]);
        ends->windows[i] = (struct kernel_window){0, 0, rows};
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct container_output *out = &c->outputs[node->first_output + i];
        uint64_t packets = out_before(c, node, out, ends->count);
        uint64_t bytes = packets * c->buffers[out->buffer].width_bytes;
        ends->out[i] = take(bytes);
        ends->out_device[i] = on_device(ends->out[i]);
        ends->expected[i] = calloc(bytes + 64, 1);
    }
    ends->expected_produced = calloc(node->output_count + 1, sizeof(uint64_t));
}

static void free_ends(const struct container_node *node, struct ends *ends)
{
    for (uint32_t i = 0; i < node->output_count; i++)
        free(ends->expected[i]);
    free(ends->expected_produced);
}

static bool is_nan(const uint8_t *at, enum scalar_type scalar)
{
    float single;
    double wide;
    uint16_t half;
    memcpy(&half, at, sizeof half);
    if (scalar == SCALAR_F16) return (half & 0x7fff) > 0x7c00;
    if (scalar == SCALAR_BF16) return (half & 0x7fff) > 0x7f80;
    if (scalar == SCALAR_F32) {
        memcpy(&single, at, sizeof single);
        return isnan(single);
    }
    if (scalar != SCALAR_F64) return false;
    memcpy(&wide, at, sizeof wide);
    return isnan(wide);
}

static bool both_nan(const uint8_t *a, const uint8_t *expected, uint64_t at,
                     enum scalar_type scalar)
{
    uint64_t width = (uint64_t)scalar_width_bytes(scalar);
    at = at / width * width;
    return is_nan(a + at, scalar) && is_nan(expected + at, scalar);
}

/* Of state and structs, whose types are not known here: NaNs of any type of floats may differ. After the bytes there is room
 * for one more scalar. */
static bool same_but_nans(const uint8_t *a, const uint8_t *expected, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at++)
        if (a[at] != expected[at] && !both_nan(a, expected, at, SCALAR_F16) &&
            !both_nan(a, expected, at, SCALAR_BF16) && !both_nan(a, expected, at, SCALAR_F32) &&
            !both_nan(a, expected, at, SCALAR_F64))
            return false;
    return true;
}

static bool same_packets(const struct container_buffer *b, const uint8_t *a,
                         const uint8_t *expected, uint64_t bytes)
{
    enum scalar_type scalar = (enum scalar_type)b->scalar;
    uint64_t width = (uint64_t)scalar_width_bytes(scalar);
    if (bytes == 0 || memcmp(a, expected, bytes) == 0) return true;
    if (b->outer == CONTAINER_OUTER_OUT) return false;
    if (width < b->width_bytes && scalar == SCALAR_U8) return same_but_nans(a, expected, bytes);
    for (uint64_t at = 0; at < bytes; at += width)
        if (memcmp(a + at, expected + at, width) != 0 &&
            !(is_nan(a + at, scalar) && is_nan(expected + at, scalar)))
            return false;
    return true;
}

/* Moves the packets of all firings together, as the kernel that calls does it.  Returns how many there are. */
static uint64_t gather(const struct prt_container *c, const struct container_node *node,
                       const struct ends *ends, uint32_t q, uint64_t firings, bool sequential)
{
    const struct container_output *out = &c->outputs[node->first_output + q];
    uint64_t width = c->buffers[out->buffer].width_bytes, to = 0;
    bool ranges = false;
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct container_output *other = &c->outputs[node->first_output + i];
        for (uint32_t n = 0; other->rates != CONTAINER_NONE && n < node->phases; n++)
            ranges |= c->rates[other->rates + n] != c->rates[other->rates + node->phases + n];
        ranges |= other->rates == CONTAINER_NONE && other->push_least != other->push;
    }
    if (sequential) return ends->produced[q];
    if (!ranges) return out_before(c, node, out, firings);
    for (uint64_t i = 0; i < firings; i++) {
        uint64_t from = out_before(c, node, out, i), n = ends->produced[i * node->output_count + q];
        memmove(ends->out[q] + to * width, ends->out[q] + from * width, n * width);
        to += n;
    }
    return to;
}

static void compare_fault(struct program *p, const struct container_node *node,
                          struct kernel_batch batch, const struct ends *ends, uint64_t firing,
                          const struct kernel_fault *expected, int32_t status)
{
    const struct prt_container *c = &p->container;
    const void **in = take(sizeof(void *) * (node->input_count + 1));
    void **out = take(sizeof(void *) * (node->output_count + 1));
    struct kernel_window *windows = take(sizeof *windows * (node->input_count + 1));
    struct kernel_fault *fault = take(sizeof *fault);
    uint64_t *completed = take(sizeof *completed);
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct container_input *input = &c->inputs[node->first_input + i];
        uint64_t before = packets_before(c, node, input->pop, input->rates, firing);
        if (input->window_width > 0) before = 0;
        in[i] = on_device(ends->in[i] + before * c->buffers[input->buffer].width_bytes);
        windows[i] = ends->windows[i];
        windows[i].place += firing;
    }
    for (uint32_t i = 0; i < node->output_count; i++)
        out[i] = on_device(ends->out[i]);
    *completed = batch.count = 1;
    batch.first_firing += firing;
    batch.in = on_device(in);
    batch.out = on_device(out);
    batch.fault = on_device(fault);
    batch.completed = on_device(completed);
    if (batch.windows != NULL) batch.windows = on_device(windows);
    if (call_device(p, GPU_ENTRY(node->kernel, GPU_ENTRY_RUN), &batch, 1) != status)
        differs(p, node, "status");
    else if (status != KERNEL_STOPPED && memcmp(fault, expected, sizeof *fault) != 0)
        differs(p, node, "record of a fault");
    p->faults++;
}

/* Executes `init` on both; what it returned here. */
static int32_t compare_init(struct program *p, const struct container_node *node,
                            const struct prt_image_kernel *kernel, struct kernel_batch *host,
                            const struct kernel_batch *batch, const uint8_t *tables,
                            const uint8_t *state)
{
    int32_t expected = kernel->init(host);
    int32_t status = call_device(p, GPU_ENTRY(node->kernel, GPU_ENTRY_INIT), batch, BLOCKS);
    if (status != expected) differs(p, node, "status of init");
    if (memcmp(tables, host->tables, node->tables_bytes) != 0) differs(p, node, "table");
    if (memcmp(state, host->state, node->state_bytes) != 0) differs(p, node, "state after init");
    return expected;
}

/* The indices of a firing's work-items, numbered x first, packed as index_format.h says: this processor's code compares
 * them.  NULL: there are none. */
static const void *indices_of(const struct container_index *index)
{
    static uint32_t registers[1024];
    static uint16_t narrow[1024];
    if (index == NULL) return NULL;
    uint32_t group[3] = {index->extents[0], index->extents[1], index->extents[2]};
    const struct index_format format = index_format_of(group);
    for (uint32_t i = 0; i < group[0] * group[1] * group[2]; i++) {
        registers[i] =
            index_pack(&format, i % group[0], i / group[0] % group[1], i / group[0] / group[1]);
        narrow[i] = (uint16_t)registers[i];
    }
    return format.register_bits == 16 ? (const void *)narrow : registers;
}

static void compare_outputs(struct program *p, const struct container_node *node,
                            const struct ends *ends, uint64_t completed, bool sequential)
{
    const struct prt_container *c = &p->container;
    for (uint32_t q = 0; q < node->output_count; q++) {
        const struct container_buffer *b = &c->buffers[c->outputs[node->first_output + q].buffer];
        uint64_t packets = gather(c, node, ends, q, completed, sequential);
        if (packets != ends->expected_produced[q])
            differs(p, node, "number of packets");
        else if (!same_packets(b, ends->out[q], ends->expected[q], packets * b->width_bytes))
            differs(p, node, "packet");
    }
}

static void compare_run(struct program *p, uint32_t n, int kind)
{
    const struct prt_container *c = &p->container;
    const struct container_node *node = &c->nodes[n];
    const struct prt_image_kernel *kernel = &p->image.nodes[n];
    struct kernel_fault expected_fault = {0};
    struct ends ends = {.count = choose_count(c, node)};
    uint64_t expected_completed = 0;
    int32_t status, expected;
    arena.used = 0;
    uint8_t *arguments = take(node->arguments_bytes), *tables = take(node->tables_bytes);
    uint8_t *state = take(node->state_bytes), *initial_tables = calloc(node->tables_bytes + 64, 1);
    uint8_t *initial_state = calloc(node->state_bytes + 64, 1);
    uint64_t *completed = take(sizeof *completed);
    struct kernel_fault *fault = take(sizeof *fault);
    void *fault_device = on_device(fault);
    memcpy(arguments, p->arguments[n], node->arguments_bytes);
    make_ends(p, node, kind, &ends);
    struct kernel_batch host = {.arguments = arguments,
                                .tables = initial_tables,
                                .state = initial_state,
                                .fault = &expected_fault};
    struct kernel_batch batch = {.arguments = on_device(arguments),
                                 .tables = on_device(tables),
                                 .state = on_device(state),
                                 .in = on_device(ends.in_device),
                                 .out = on_device(ends.out_device),
                                 .produced = on_device(ends.produced),
                                 .fault = fault_device};
    if (kernel->init != NULL) {
        expected = compare_init(p, node, kernel, &host, &batch, tables, state);
        if (expected != KERNEL_OK) goto done;
    }
    host.in = (const void *const *)ends.in;
    host.out = (void *const *)ends.expected;
    host.produced = ends.expected_produced;
    host.first_firing = batch.first_firing = FIRST_FIRING;
    host.count = batch.count = *completed = ends.count;
    host.completed = &expected_completed;
    batch.completed = on_device(completed);
    bool sequential = (node->flags & CONTAINER_NODE_STATEFUL) != 0 || node->state_bytes > 0;
    if (!sequential) batch.fault = NULL;
    if (has_windows(c, node)) {
        host.windows = ends.windows;
        batch.windows = on_device(ends.windows);
    }
    host.indices = indices_of(prt_container_index(c, node->kernel));
    if (!call_processor(kernel->run, &host, &expected)) {
        p->skipped++;
        goto done;
    }
    status = call_device(p, GPU_ENTRY(node->kernel, GPU_ENTRY_RUN), &batch, BLOCKS);
    if (*completed != expected_completed) {
        printf("# %" PRIu64 " of %" PRIu64 " firings, expected %" PRIu64 "\n", *completed,
               ends.count, expected_completed);
        differs(p, node, "number of firings");
        goto done;
    }
    compare_outputs(p, node, &ends, expected_completed, sequential);
    if (!same_but_nans(state, initial_state, node->state_bytes)) differs(p, node, "state");
    if (sequential && status != expected) differs(p, node, "status");
    if (expected != KERNEL_OK && !sequential)
        compare_fault(p, node, batch, &ends, expected_completed, &expected_fault, expected);
    p->compared++;
done:
    free_ends(node, &ends);
    free(initial_tables);
    free(initial_state);
}

/* ---- all ---- */

/* The blocks of all nodes, with the arguments' defaults. */
static bool make_arguments(struct program *p)
{
    const struct prt_container *c = &p->container;
    struct kernel_fault fault;
    uint8_t *block = calloc(c->pipeline->arguments_bytes + 64, 1);
    p->arguments = calloc(c->node_count + 1u, sizeof *p->arguments);
    memcpy(block, c->defaults, c->pipeline->arguments_bytes);
    for (uint32_t i = 0; i < c->node_count; i++)
        p->arguments[i] = aligned_alloc(64, c->nodes[i].arguments_bytes / 64 * 64 + 128);
    bool good = p->image.arguments(block, (void *const *)p->arguments, &fault) == KERNEL_OK;
    free(block);
    return good;
}

static bool check_program(const char *path)
{
    struct program p = {.name = path};
    struct prt_error error = {0};
    if (prt_container_read_file(path, &p.container, &error) != PRT_OK ||
        prt_image_verify_all(&p.container, &error) != PRT_OK ||
        prt_image_choose(&p.container, &p.image, &error) != PRT_OK ||
        prt_image_open(&p.container, &p.image, &error) != PRT_OK) {
        printf("not ok %s: %s\n", path, error.message);
        return false;
    }
    load_module(&p);
    if (make_arguments(&p)) {
        for (uint32_t i = 0; i < p.container.node_count; i++) {
            const struct container_node *node = &p.container.nodes[i];
            bool leave = (node->flags & CONTAINER_NODE_LAUNCHES) != 0 || node->input_count > 64 ||
                         node->output_count > 64;
            p.skipped += leave;
            for (int kind = 0; kind < KINDS && !leave; kind++)
                compare_run(&p, i, kind);
        }
        for (uint32_t i = 0; i < p.container.node_count; i++)
            free(p.arguments[i]);
    }
    if (!p.failed)
        printf("ok %s: %" PRIu32 " batches are equal (%" PRIu32 " with a fault or stop, %" PRIu32
               " not called)\n",
               path, p.compared, p.faults, p.skipped);
    fflush(stdout);
    free(p.arguments);
    MUST(driver_unload(p.module));
    prt_image_free(&p.image);
    prt_container_free(&p.container);
    return !p.failed;
}

int main(int argc, char **argv)
{
    uint32_t failed = 0;
    signal(SIGALRM, give_up);
    open_device();
    for (int i = 1; i < argc; i++)
        failed += !check_program(argv[i]);
    printf("%d programs, %" PRIu32 " differ\n", argc - 1, failed);
    return failed > 0;
}
