/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cuda/emulated_driver.h"

#include "base/monotonic.h"
#include "core/resident/firing_ends.h"
#include "core/resident/resident_machine.h"
#include "runtime/device/device_queue.h"
#include "runtime/device/kernel_call.h"
#include "runtime/load/image_ptx.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { YIELDS = 200, SLEEP_NANOSECONDS = 20000 };

struct prt_emulated_kernels {
    struct core_resident_host host;
    const struct core *core;
    const struct prt_kernel_object *objects; /* runs, then finishes */
    bool *threads;                      /* by stage: firings are executed by different threads */
    struct prt_kernel_scratch *scratch; /* by thread */
    uint32_t blocks;
};

/* ---- one firing ---- */

static enum kernel_status execute_firing(const struct prt_emulated_kernels *k, uint32_t index,
                                         const struct kernel_batch *batch, uint64_t firing,
                                         const struct prt_kernel_scratch *scratch)
{
    const struct core_stage *stage = core_stage(k->core, index);
    const struct prt_kernel_object *object = &k->objects[index];
    struct kernel_fault unread = {0};
    uint64_t completed = 1;
    const struct core_firing_ends ends = {scratch->in, scratch->out, scratch->windows};
    core_place_firing(k->core, stage, batch, firing, &ends);
    for (uint32_t i = 0; i < stage->output_count; i++)
        scratch->produced[i] = 0;
    struct kernel_batch one = *batch;
    one.in = scratch->in;
    one.out = scratch->out;
    one.produced = scratch->produced;
    one.first_firing += firing;
    one.count = 1;
    one.completed = &completed;
    one.windows = batch->windows != NULL ? scratch->windows : NULL;
    one.indices = object->index != NULL ? object->index->registers : NULL;
    one.fault = batch->fault != NULL ? batch->fault : &unread;
    enum kernel_status status = prt_kernel_call(object, object->entry, &one);
    if (stage->exact) return status;
    for (uint32_t i = 0; i < stage->output_count; i++)
        batch->produced[firing * stage->output_count + i] = scratch->produced[i];
    return status;
}

/* ---- entries ---- */

static int32_t execute_strided(const struct prt_emulated_kernels *k, uint32_t index,
                               const struct kernel_batch *batch, uint32_t block, uint32_t blocks,
                               const struct prt_kernel_scratch *scratch)
{
    for (uint64_t i = block; i < batch->count; i += blocks) {
        enum kernel_status status = execute_firing(k, index, batch, i, scratch);
        if (status == KERNEL_OK) continue;
        core_min_device(batch->completed, i);
        return (int32_t)status;
    }
    return KERNEL_OK;
}

static int32_t execute_alone(const struct prt_kernel_object *object,
                             const struct kernel_batch *batch)
{
    struct kernel_batch whole = *batch;
    bool finish = (object->flags & PRT_KERNEL_FINISH) != 0;
    whole.indices = object->index != NULL && !finish ? object->index->registers : NULL;
    return (int32_t)prt_kernel_call(object, object->entry, &whole);
}

/* The body of a kernel that launches or is launched.  Reports of crashes name the first stage that launches. */
static int32_t call_tree_kernel(const struct prt_emulated_kernels *k, uint32_t interface,
                                const struct kernel_batch *batch)
{
    const struct prt_kernel_object *object = k->objects;
    while (object->device_queue == NULL)
        object++;
    return (int32_t)prt_device_queue_call(object->device_queue, interface, object, batch);
}

/* On the host all threads are first threads of a block. */
static int32_t call_emulated_entry(void *context, uint32_t thread, uint32_t entry,
                                   const struct kernel_batch *batch, uint32_t block,
                                   uint32_t blocks)
{
    const struct prt_emulated_kernels *k = context;
    uint32_t index = entry / GPU_ENTRY_KINDS;
    if (index >= k->core->stage_count)
        return call_tree_kernel(k, index - k->core->stage_count, batch);
    const struct prt_kernel_object *run = &k->objects[index];
    if (entry % GPU_ENTRY_KINDS == GPU_ENTRY_FINISH)
        return block > 0 ? KERNEL_OK : execute_alone(run + k->core->stage_count, batch);
    if (k->threads[index])
        return execute_strided(k, index, batch, block, blocks, &k->scratch[thread]);
    return block > 0 ? KERNEL_OK : execute_alone(run, batch);
}

/* ---- time ---- */

static void pause_thread(void *context, uint32_t round)
{
    const struct timespec time = {.tv_nsec = SLEEP_NANOSECONDS};
    (void)context;
    if (round < YIELDS)
        sched_yield();
    else
        nanosleep(&time, NULL);
}

static uint64_t read_emulated_clock(void *context)
{
    (void)context;
    return monotonic_nanoseconds();
}

/* ---- creation ---- */

static bool create_scratch(struct prt_emulated_kernels *k)
{
    k->scratch = calloc(k->blocks, sizeof *k->scratch);
    for (uint32_t i = 0; k->scratch != NULL && i < k->blocks; i++)
        if (prt_kernel_scratch_create(k->objects, k->core->stage_count, &k->scratch[i]) != PRT_OK)
            return false;
    return k->scratch != NULL;
}

struct prt_emulated_kernels *prt_emulated_kernels_create(const struct prt_container *container,
                                                         const struct core *core,
                                                         const struct prt_kernel_object *objects,
                                                         uint32_t workers)
{
    struct prt_emulated_kernels *k = calloc(1, sizeof *k);
    if (k == NULL) return NULL;
    k->host =
        (struct core_resident_host){k, call_emulated_entry, pause_thread, read_emulated_clock};
    k->core = core;
    k->objects = objects;
    k->blocks = workers;
    k->threads = calloc((size_t)core->stage_count + 1, sizeof *k->threads);
    if (k->threads == NULL || !create_scratch(k)) {
        prt_emulated_kernels_destroy(k);
        return NULL;
    }
    for (uint32_t i = 0; i < core->stage_count; i++)
        k->threads[i] =
            prt_image_ptx_has_threads(container, &container->nodes[core_stage(core, i)->node]);
    return k;
}

void prt_emulated_kernels_destroy(struct prt_emulated_kernels *k)
{
    if (k == NULL) return;
    for (uint32_t i = 0; k->scratch != NULL && i < k->blocks; i++)
        prt_kernel_scratch_free(&k->scratch[i]);
    free(k->scratch);
    free(k->threads);
    free(k);
}

const struct core_resident_host *prt_emulated_kernels_host(const struct prt_emulated_kernels *k)
{
    return &k->host;
}
