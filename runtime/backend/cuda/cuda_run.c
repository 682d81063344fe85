/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cuda/cuda_run.h"

#include "base/arithmetic.h"
#include "base/monotonic.h"
#include "core/machine.h"
#include "runtime/backend/cuda/cuda_code.h"
#include "runtime/backend/cuda/cuda_rings.h"
#include "runtime/load/image_ptx.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ALIGNMENT = 256,
    SPINS = 2000,  /* looks at the mail, before others get the processor, and ... */
    YIELDS = 2000, /* ... before this thread sleeps between two looks */
    SLEEP_NANOSECONDS = 20000
};
#define SILENCE_NANOSECONDS UINT64_C(2000000000) /* then the driver is asked */
#define ANSWER_NANOSECONDS UINT64_C(1000000000)  /* then a state of before is shown */

enum prt_status prt_cuda_refuse(const struct prt_cuda_driver *driver, int result, const char *deed,
                                struct prt_error *error)
{
    if (result == PRT_CUDA_OUT_OF_MEMORY)
        return prt_error_set(error, PRT_E_NOMEM, "device 'cuda': out of memory while %s", deed);
    return prt_error_set(error, PRT_E_DEVICE, "device 'cuda': %s while %s",
                         prt_cuda_error_name(driver, result), deed);
}

/* ---- the arena ---- */

/* Distances from its beginning. */
struct layout {
    uint64_t resident, stages, stations, rings;
    uint64_t interfaces, ports, launches, entries, children, roots,
        outputs;                                /* of struct core_trees */
    uint64_t multiprocessors, executed, counts; /* `counts` of struct core_trees; then: */
    uint64_t in, places, left, out, results, finishes, pending, sums, core;
    uint64_t appended, scratch, workspaces;
    uint64_t filled; /* bytes that the host fills: up to `counts` and these */
    uint64_t bytes;
};

static bool add_room(uint64_t *at, uint64_t *end, uint64_t count, uint64_t size)
{
    uint64_t bytes;
    *at = *end;
    return !__builtin_mul_overflow(count, size, &bytes) &&
           !__builtin_add_overflow(bytes, ALIGNMENT, &bytes) &&
           !__builtin_add_overflow(*end, bytes / ALIGNMENT * ALIGNMENT, end);
}

/* The maximum number of firings of a batch that the outputs have room for. */
static uint64_t most_firings(const struct core *core, const struct core_stage *stage)
{
    uint64_t firings = stage->batch_max;
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(core, stage, i);
        uint64_t depth = core_written_buffer(core, output)->fifo.depth_packets;
        if (output->most.cycle == 0) continue;
        uint64_t fits = (depth / output->most.cycle + 1) * output->most.phases;
        if (fits < firings) firings = fits;
    }
    return firings;
}

/* Does each firing append from a place of its own on? */
static bool executes_firings_apart(const struct prt_container *c, const struct core_stage *stage)
{
    const struct container_node *node = &c->nodes[stage->node];
    return prt_image_ptx_has_threads(c, node) || (node->flags & CONTAINER_NODE_LAUNCHES) != 0;
}

/* Room for the numbers and the packets of stages with bounded rates. */
static bool measure_scratch(const struct prt_resident_run *work, uint64_t *numbers,
                            uint64_t *packets)
{
    const struct core *core = work->core;
    *numbers = *packets = 0;
    for (uint32_t i = 0; i < core->stage_count; i++) {
        const struct core_stage *stage = core_stage(core, i);
        uint64_t rows = most_firings(core, stage), bytes = 0, cells;
        if (stage->exact || !executes_firings_apart(work->container, stage)) continue;
        if (__builtin_mul_overflow(rows, stage->output_count, &cells)) return false;
        for (uint32_t k = 0; k < stage->output_count; k++) {
            const struct core_fifo *fifo =
                &core_written_buffer(core, core_output(core, stage, k))->fifo;
            bytes += fifo->depth_packets * fifo->width_bytes + ALIGNMENT; /* the ring has them */
        }
        if (cells > *numbers) *numbers = cells;
        if (bytes > *packets) *packets = bytes;
    }
    return true;
}

/* Tables of struct core_trees. */
static bool add_tree_tables(const struct prt_cuda_run *run, struct layout *l, uint64_t *end)
{
    const struct prt_container *c = run->work->container;
    const struct core *core = run->work->core;
    bool any = run->trees.workspace_bytes > 0;
    return add_room(&l->interfaces, end, c->interface_count, sizeof *c->interfaces) &&
           add_room(&l->ports, end, c->interface_port_count, sizeof *c->interface_ports) &&
           add_room(&l->launches, end, c->launch_count, sizeof *c->launches) &&
           add_room(&l->entries, end, c->interface_count, sizeof *run->trees.entries) &&
           add_room(&l->children, end, c->launch_count, run->trees.child_bytes) &&
           add_room(&l->roots, end, any ? core->stage_count : 0, sizeof *run->trees.roots) &&
           add_room(&l->outputs, end, any ? core->output_count : 0, sizeof *run->trees.outputs);
}

static bool lay_out_memory(const struct prt_cuda_run *run, struct layout *l)
{
    const struct core *core = run->work->core;
    uint64_t end = 0, numbers, packets;
    *l = (struct layout){.bytes = 0};
    bool fits = measure_scratch(run->work, &numbers, &packets) &&
                add_room(&l->resident, &end, 1, sizeof(struct core_resident)) &&
                add_room(&l->stages, &end, core->stage_count, sizeof(struct core_resident_stage)) &&
                add_room(&l->stations, &end, run->stations.count, sizeof(struct core_station)) &&
                add_room(&l->rings, &end, core->buffer_count, sizeof(uint8_t *)) &&
                add_tree_tables(run, l, &end) &&
                add_room(&l->multiprocessors, &end, run->multiprocessors, sizeof(uint32_t)) &&
                add_room(&l->executed, &end, core->stage_count, run->multiprocessors) &&
                add_room(&l->counts, &end, run->multiprocessors,
                         run->counted_children * sizeof(struct core_child_count));
    l->filled = end;
    fits = fits && add_room(&l->in, &end, core->input_count, sizeof(void *)) &&
           add_room(&l->places, &end, core->input_count, sizeof(struct kernel_window)) &&
           add_room(&l->left, &end, core->input_count, sizeof(uint64_t)) &&
           add_room(&l->out, &end, core->output_count, sizeof(void *)) &&
           add_room(&l->results, &end, core->output_count, sizeof(uint64_t)) &&
           add_room(&l->finishes, &end, core->stage_count, sizeof(uint32_t)) &&
           add_room(&l->pending, &end, core->stage_count, sizeof(struct core_pending)) &&
           add_room(&l->sums, &end, run->multiprocessors, core->output_count * sizeof(uint64_t)) &&
           add_room(&l->core, &end, 1, core->bytes) &&
           add_room(&l->appended, &end, numbers, sizeof(uint64_t)) &&
           add_room(&l->scratch, &end, packets, 1) &&
           add_room(&l->workspaces, &end, run->multiprocessors, run->trees.workspace_bytes);
    l->bytes = end;
    return fits && end <= SIZE_MAX / 4;
}

/* An address on the device, as its code writes it. */
static void *on_device(prt_cuda_address base, uint64_t distance)
{
    return (void *)(uintptr_t)(base + distance);
}

/* A worker gets at least a microsecond or two of work, and at most a firing for each of its threads, if there are so few. */
static uint32_t find_worker_firings(const struct prt_cuda_run *run,
                                    const struct container_node *node)
{
    enum { WORK_CYCLES = 4096 };
    uint64_t firings = node->cost_cycles > 0 ? WORK_CYCLES / node->cost_cycles : WORK_CYCLES;
    firings = (firings / GPU_WARP + 1) * GPU_WARP;
    return firings < run->threads ? (uint32_t)firings : run->threads;
}

static void fill_resident_stage(const struct prt_cuda_run *run, uint32_t index,
                                struct core_resident_stage *stage)
{
    const struct prt_container *c = run->work->container;
    const struct container_node *node = &c->nodes[core_stage(run->work->core, index)->node];
    const struct prt_kernel_object *object = &run->objects[index];
    const uint8_t *blocks = run->work->blocks;
    uint32_t number = run->driver->emulates ? index : node->kernel;
    *stage = (struct core_resident_stage){
        .run = GPU_ENTRY(number, GPU_ENTRY_RUN),
        .finish = GPU_ENTRY(number, GPU_ENTRY_FINISH),
        .station = run->stations.of_stage[index],
        .worker_firings = find_worker_firings(run, node),
        .arguments =
            on_device(run->blocks, (uint64_t)((const uint8_t *)object->arguments - blocks)),
        .tables = on_device(run->blocks, (uint64_t)((const uint8_t *)object->tables - blocks)),
        .state = on_device(run->blocks, (uint64_t)((const uint8_t *)object->state - blocks))};
    if (prt_image_ptx_has_threads(c, node)) stage->flags |= CORE_RESIDENT_THREADS;
    if ((node->flags & CONTAINER_NODE_INDEXED) != 0) stage->flags |= CORE_RESIDENT_ZEROED;
    if ((node->flags & (CONTAINER_NODE_STOPS | CONTAINER_NODE_FAULTS)) != 0)
        stage->flags |= CORE_RESIDENT_ENDS;
    if ((node->flags & CONTAINER_NODE_LAUNCHES) != 0) stage->flags |= CORE_RESIDENT_TREES;
    if ((node->flags & CONTAINER_NODE_STATEFUL) != 0) stage->flags |= CORE_RESIDENT_ORDERED;
}

static void *copy_at(uint8_t *copy, uint64_t offset)
{
    return copy + offset;
}

/* The mail, the image of the block, the log. */
static uint64_t mail_log_distance(const struct core *core)
{
    return ALIGNMENT + (core->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void copy_tree_table(void *to, const void *from, uint64_t count, size_t size)
{
    if (count > 0) memcpy(to, from, (size_t)count * size);
}

static void fill_tree_tables(const struct prt_cuda_run *run, const struct layout *l, uint8_t *copy,
                             struct core_trees *trees)
{
    const struct prt_container *c = run->work->container;
    const struct core *core = run->work->core;
    const struct prt_cuda_trees *made = &run->trees;
    prt_cuda_address arena = run->arena;
    *trees = (struct core_trees){.interfaces = on_device(arena, l->interfaces),
                                 .ports = on_device(arena, l->ports),
                                 .launches = on_device(arena, l->launches),
                                 .entries = on_device(arena, l->entries),
                                 .children = on_device(arena, l->children),
                                 .roots = on_device(arena, l->roots),
                                 .outputs = on_device(arena, l->outputs),
                                 .workspaces = on_device(arena, l->workspaces),
                                 .workspace_bytes = made->workspace_bytes,
                                 .counts =
                                     run->counted_children > 0 ? on_device(arena, l->counts) : NULL,
                                 .interface_count = run->counted_children};
    if (made->workspace_bytes == 0) return;
    copy_tree_table(copy + l->interfaces, c->interfaces, c->interface_count, sizeof *c->interfaces);
    copy_tree_table(copy + l->ports, c->interface_ports, c->interface_port_count,
                    sizeof *c->interface_ports);
    copy_tree_table(copy + l->launches, c->launches, c->launch_count, sizeof *c->launches);
    copy_tree_table(copy + l->entries, made->entries, c->interface_count, sizeof *made->entries);
    copy_tree_table(copy + l->children, made->children, c->launch_count, made->child_bytes);
    copy_tree_table(copy + l->roots, made->roots, core->stage_count, sizeof *made->roots);
    copy_tree_table(copy + l->outputs, made->outputs, core->output_count, sizeof *made->outputs);
}

/* Fills in a copy of the first part of the arena. */
static void fill_arena(const struct prt_cuda_run *run, const struct layout *l, uint8_t *copy)
{
    struct core_resident *resident = copy_at(copy, l->resident);
    struct core_resident_stage *stages = copy_at(copy, l->stages);
    struct core_station *stations = copy_at(copy, l->stations);
    uint8_t **rings = copy_at(copy, l->rings);
    uint64_t pending = l->pending;
    prt_cuda_address arena = run->arena;
    *resident = (struct core_resident){
        .core = on_device(arena, l->core),
        .mail = on_device(run->mail_address, 0),
        .image = on_device(run->mail_address, ALIGNMENT),
        .host = run->emulated != NULL ? prt_emulated_kernels_host(run->emulated) : NULL,
        .log = run->log.memory != NULL
                   ? on_device(run->mail_address, mail_log_distance(run->work->core))
                   : NULL,
        .stages = on_device(arena, l->stages),
        .stations = on_device(arena, l->stations),
        .station_count = run->stations.count,
        .rings = on_device(arena, l->rings),
        .in = on_device(arena, l->in),
        .places = on_device(arena, l->places),
        .left = on_device(arena, l->left),
        .out = on_device(arena, l->out),
        .results = on_device(arena, l->results),
        .finishes = on_device(arena, l->finishes),
        .scratch = on_device(arena, l->scratch),
        .appended = on_device(arena, l->appended),
        .sums = on_device(arena, l->sums),
        .multiprocessors = on_device(arena, l->multiprocessors),
        .executed = on_device(arena, l->executed),
        .blocks = run->multiprocessors,
        .threads = run->threads,
        .cu_count = run->cu_count,
        .first_multiprocessor = run->first_multiprocessor,
        .multiprocessor_count = run->multiprocessor_count};
    fill_tree_tables(run, l, copy, &resident->trees);
    for (uint32_t i = 0; i < run->work->core->stage_count; i++)
        fill_resident_stage(run, i, &stages[i]);
    for (uint32_t i = 0; i < run->stations.count; i++) {
        const struct prt_cuda_range *range = &run->stations.ranges[i];
        stations[i] = (struct core_station){.first_cu = range->first_cu,
                                            .cu_count = range->end_cu - range->first_cu,
                                            .pending_room = range->stages,
                                            .pending = on_device(arena, pending)};
        pending += range->stages * sizeof(struct core_pending);
    }
    for (uint32_t i = 0; i < run->ring_count; i++)
        rings[i] = on_device(run->rings[i].address, 0);
}

static enum prt_status create_arena(struct prt_cuda_run *run, struct prt_error *error)
{
    const struct prt_cuda_driver *driver = run->driver;
    struct layout layout;
    if (!lay_out_memory(run, &layout))
        return prt_cuda_refuse(driver, PRT_CUDA_OUT_OF_MEMORY, "allocating tables", error);
    int result = driver->memory_allocate(&run->arena, (size_t)layout.bytes);
    if (result != PRT_CUDA_SUCCESS)
        return prt_cuda_refuse(driver, result, "allocating tables", error);
    run->used = run->arena + layout.multiprocessors;
    run->used_bytes = (size_t)(layout.filled - layout.multiprocessors);
    run->executed_at = (size_t)(layout.executed - layout.multiprocessors);
    run->counts_at = (size_t)(layout.counts - layout.multiprocessors);
    uint8_t *copy = aligned_alloc(ALIGNMENT, (size_t)layout.filled);
    if (copy == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    memset(copy, 0, (size_t)layout.filled);
    fill_arena(run, &layout, copy);
    result = driver->copy_to_device(run->arena, copy, (size_t)layout.filled);
    free(copy);
    /* The scheduler reads the size of its block before the first letter. */
    if (result == PRT_CUDA_SUCCESS)
        result = driver->copy_to_device(run->arena + layout.core, run->work->core,
                                        (size_t)run->work->core->bytes);
    return result == PRT_CUDA_SUCCESS ? PRT_OK
                                      : prt_cuda_refuse(driver, result, "copying tables", error);
}

/* ---- the other memory ---- */

static enum prt_status create_device_blocks(struct prt_cuda_run *run, struct prt_error *error)
{
    const struct prt_cuda_driver *driver = run->driver;
    size_t bytes = run->work->blocks_bytes;
    int result = driver->memory_allocate(&run->blocks, bytes);
    if (result == PRT_CUDA_SUCCESS)
        result = driver->copy_to_device(run->blocks, run->work->blocks, bytes);
    return result == PRT_CUDA_SUCCESS
               ? PRT_OK
               : prt_cuda_refuse(driver, result, "copying arguments and state", error);
}

static enum prt_status create_mail(struct prt_cuda_run *run, struct prt_error *error)
{
    const struct prt_cuda_driver *driver = run->driver;
    void *memory = NULL;
    uint64_t log_at = mail_log_distance(run->work->core);
    bool measured = run->log.observe != NULL;
    size_t bytes = (size_t)(log_at + (measured ? prt_cuda_log_bytes(run->work->core) : 0));
    int result = driver->host_allocate(&memory, bytes, PRT_CUDA_HOST_MAPPED);
    if (result == PRT_CUDA_SUCCESS) {
        memset(memory, 0, bytes);
        run->mail = memory;
        run->letter = (uint8_t *)memory + ALIGNMENT;
        if (measured) run->log.memory = (struct core_log *)((uint8_t *)memory + log_at);
        if (measured) prt_cuda_log_create(run->log.memory, run->work->core);
        result = driver->host_address(&run->mail_address, memory, 0);
    }
    return result == PRT_CUDA_SUCCESS
               ? PRT_OK
               : prt_cuda_refuse(driver, result, "making memory that it shares", error);
}

static enum prt_status create_emulated(struct prt_cuda_run *run, struct prt_error *error)
{
    if (!run->driver->emulates) return PRT_OK;
    run->emulated = prt_emulated_kernels_create(run->work->container, run->work->core, run->objects,
                                                run->multiprocessors);
    return run->emulated != NULL ? PRT_OK : prt_error_set(error, PRT_E_NOMEM, "out of memory");
}

static enum prt_status launch_kernel(struct prt_cuda_run *run, struct prt_error *error)
{
    enum { NON_BLOCKING = 1 };
    const struct prt_cuda_driver *driver = run->driver;
    void *parameters[] = {&run->arena};
    int result = driver->stream_create(&run->stream, NON_BLOCKING);
    if (result == PRT_CUDA_SUCCESS)
        result = driver->launch(run->function, run->multiprocessors, 1, 1, run->threads, 1, 1,
                                run->tile_bytes, run->stream, parameters);
    run->launched = result == PRT_CUDA_SUCCESS;
    return run->launched ? PRT_OK
                         : prt_cuda_refuse(driver, result, "launching the scheduler", error);
}

enum prt_status prt_cuda_run_begin(struct prt_cuda_run *run, const struct prt_resident_run *work,
                                   struct prt_error *error)
{
    run->work = work;
    enum prt_status status = prt_cuda_stations_find(work->core, run->queues, &run->stations);
    if (status != PRT_OK) return prt_error_set(error, status, "out of memory");
    status = prt_cuda_trees_create(work->container, work->core, run->driver->emulates, &run->trees);
    if (status != PRT_OK) return prt_error_set(error, status, "out of memory");
    run->counted_children = run->log.observe != NULL ? work->container->interface_count : 0;
    status = prt_cuda_code_load(run, error);
    if (status == PRT_OK) status = prt_cuda_rings_create(run, error);
    if (status == PRT_OK) status = create_device_blocks(run, error);
    if (status == PRT_OK) status = create_mail(run, error);
    if (status == PRT_OK) status = create_emulated(run, error);
    if (status == PRT_OK) status = create_arena(run, error);
    if (status == PRT_OK) status = launch_kernel(run, error);
    run->work = NULL;
    return status;
}

void prt_cuda_run_end(struct prt_cuda_run *run)
{
    const struct prt_cuda_driver *driver = run->driver;
    if (driver == NULL) return;
    if (run->launched) {
        __atomic_store_n(&run->mail->stop, 1, __ATOMIC_RELEASE);
        (void)driver->stream_wait(run->stream);
    }
    if (run->stream != NULL) (void)driver->stream_destroy(run->stream);
    prt_cuda_rings_destroy(run);
    if (run->arena != 0) (void)driver->memory_free(run->arena);
    if (run->blocks != 0) (void)driver->memory_free(run->blocks);
    if (run->mail != NULL) (void)driver->host_free(run->mail);
    prt_cuda_code_unload(run);
    prt_emulated_kernels_destroy(run->emulated);
    prt_cuda_stations_free(&run->stations);
    prt_cuda_trees_free(&run->trees);
    free(run->uses);
    *run = (struct prt_cuda_run){.driver = NULL};
}

/* ---- letters ---- */

/* The two flags of the block that signal handlers of the host write: the device's copies are not taken over. */
#define FLAGS_AT offsetof(struct core, interrupted)
#define FLAGS_END offsetof(struct core, lanes)
_Static_assert(FLAGS_END - FLAGS_AT == 2 * sizeof(atomic_bool), "two flags");

static void tell_flags(const struct prt_cuda_run *run, struct core *core)
{
    uint32_t flags = core_is_interrupted(core) ? CORE_MAIL_INTERRUPTED : 0;
    if (core_flag(&core->asked)) flags |= CORE_MAIL_ASKED;
    __atomic_store_n(&run->mail->attends, flags, __ATOMIC_RELEASE);
}

static void send_letter(struct prt_cuda_run *run, struct core *core)
{
    tell_flags(run, core);
    memcpy(run->letter, core, (size_t)core->bytes);
    __atomic_store_n(&run->mail->go, ++run->go, __ATOMIC_RELEASE);
    run->awaiting = true;
}

static void take_letter(struct prt_cuda_run *run, struct core *core)
{
    const struct core_environment *environment = core->environment;
    size_t bytes = (size_t)core->bytes;
    memcpy(core, run->letter, FLAGS_AT);
    memcpy((uint8_t *)core + FLAGS_END, run->letter + FLAGS_END, bytes - FLAGS_END);
    core->environment = environment;
    run->launches = run->mail->launches;
    run->awaiting = false;
}

static bool has_answered(const struct prt_cuda_run *run)
{
    return __atomic_load_n(&run->mail->reply, __ATOMIC_ACQUIRE) == run->go;
}

/* A kernel that has given no sign of life for long may have failed. */
static enum prt_status check_life(struct prt_cuda_run *run, uint64_t now, struct prt_error *error)
{
    uint64_t beats = __atomic_load_n(&run->mail->beats, __ATOMIC_RELAXED);
    if (beats != run->beats) run->beat_nanoseconds = now;
    run->beats = beats;
    if (now - run->beat_nanoseconds < SILENCE_NANOSECONDS) return PRT_OK;
    run->beat_nanoseconds = now;
    int result = run->driver->stream_query(run->stream);
    if (result == PRT_CUDA_NOT_READY || has_answered(run)) return PRT_OK;
    run->launched = false;
    if (result == PRT_CUDA_SUCCESS) result = PRT_CUDA_LAUNCH_FAILED;
    return prt_cuda_refuse(run->driver, result, "executing the pipeline", error);
}

static void pause_host(const struct prt_cuda_run *run, uint32_t round)
{
    const struct timespec time = {.tv_nsec = SLEEP_NANOSECONDS};
    if (round < SPINS && !run->driver->emulates)
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    else if (round < SPINS + YIELDS)
        sched_yield();
    else
        nanosleep(&time, NULL);
}

/* Has a request for the state of the run been there for so long that the host answers it by itself? */
static bool answers_itself(struct prt_cuda_run *run, struct core *core, uint64_t now)
{
    if (!core_flag(&core->asked))
        run->asked_nanoseconds = 0;
    else if (run->asked_nanoseconds == 0)
        run->asked_nanoseconds = now;
    return run->asked_nanoseconds > 0 && now - run->asked_nanoseconds > ANSWER_NANOSECONDS;
}

/* Afterwards prt_cuda_run_used knows which multiprocessors have executed which stages. */
static enum prt_status end_kernel(struct prt_cuda_run *run, struct prt_error *error)
{
    const struct prt_cuda_driver *driver = run->driver;
    run->launched = false;
    int result = driver->stream_wait(run->stream);
    if (result != PRT_CUDA_SUCCESS)
        return prt_cuda_refuse(driver, result, "executing the pipeline", error);
    run->uses = malloc(run->used_bytes);
    if (run->uses == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    result = driver->copy_to_host(run->uses, run->used, run->used_bytes);
    return result == PRT_CUDA_SUCCESS
               ? PRT_OK
               : prt_cuda_refuse(driver, result, "reading which multiprocessors it used", error);
}

bool prt_cuda_run_used(const struct prt_cuda_run *run, uint32_t stage, uint32_t multiprocessor)
{
    if (run->uses == NULL) return false;
    const void *uses = run->uses;
    const uint32_t *multiprocessors = uses;
    const uint8_t *executed = run->uses + run->executed_at + (size_t)stage * run->multiprocessors;
    for (uint32_t block = 0; block < run->multiprocessors; block++)
        if (multiprocessors[block] == multiprocessor && executed[block] != 0) return true;
    return false;
}

void prt_cuda_run_count_child(const struct prt_cuda_run *run, uint32_t interface,
                              struct core_child_count *sum)
{
    if (run->uses == NULL || interface >= run->counted_children) return;
    const void *counts = run->uses + run->counts_at;
    for (uint32_t block = 0; block < run->multiprocessors; block++) {
        const struct core_child_count *own = (const struct core_child_count *)counts +
                                             (size_t)block * run->counted_children + interface;
        sum->launches += own->launches;
        sum->groups += own->groups;
        sum->execute_time = core_cycles_add(sum->execute_time, own->execute_time);
        sum->wait_time = core_cycles_add(sum->wait_time, own->wait_time);
        sum->longest_time = max64(sum->longest_time, own->longest_time);
        sum->entries_most = max64(sum->entries_most, own->entries_most);
        if (own->level_most > sum->level_most) sum->level_most = own->level_most;
    }
}

enum prt_status prt_cuda_run_resume(struct prt_cuda_run *run, struct core *core,
                                    enum core_outcome *outcome, struct prt_error *error)
{
    if (!run->awaiting) send_letter(run, core);
    run->asked_nanoseconds = 0;
    run->beat_nanoseconds = monotonic_nanoseconds();
    for (uint32_t round = 0; !has_answered(run); round += round < UINT32_MAX) {
        pause_host(run, round);
        prt_cuda_log_take(&run->log, core);
        if (round < SPINS) continue;
        uint64_t now = monotonic_nanoseconds();
        tell_flags(run, core);
        *outcome = CORE_ASKED;
        if (answers_itself(run, core, now)) return PRT_OK;
        enum prt_status status = check_life(run, now, error);
        if (status != PRT_OK) return status;
    }
    prt_cuda_log_take(&run->log, core);
    take_letter(run, core);
    *outcome = (enum core_outcome)run->mail->outcome;
    return core_has_ended(core) ? end_kernel(run, error) : PRT_OK;
}
