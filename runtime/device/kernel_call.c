/* SPDX-License-Identifier: MIT */
#include "runtime/device/kernel_call.h"

#include "runtime/device/device_queue.h"

#include <stdlib.h>
#include <string.h>

/* Per thread, for its signal handlers; each thread writes its own.  The TLS model makes access free of
 * calls in a shared library too: the first access in a thread could otherwise allocate in a handler. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    const struct prt_kernel_object *volatile object;
    volatile uint64_t first, count;
} executing;

bool prt_kernel_executing(const struct prt_kernel_object **object, uint64_t *first, uint64_t *count)
{
    *object = executing.object;
    *first = executing.first;
    *count = executing.count;
    return *object != NULL;
}

/* `firings` 0: the call is no run. */
static enum kernel_status call_kernel_entry(const struct prt_kernel_object *object,
                                            kernel_entry entry, const struct kernel_batch *batch,
                                            uint64_t firings)
{
    const struct prt_kernel_object *outer = executing.object;
    executing.first = batch->first_firing;
    executing.count = firings;
    executing.object = object;
    enum kernel_status status = (enum kernel_status)entry(batch);
    executing.object = outer;
    return status;
}

enum prt_status prt_kernel_scratch_create(const struct prt_kernel_object *objects, uint32_t count,
                                          struct prt_kernel_scratch *scratch)
{
    uint32_t inputs = 1, outputs = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (objects[i].input_count > inputs) inputs = objects[i].input_count;
        if (objects[i].output_count > outputs) outputs = objects[i].output_count;
    }
    *scratch = (struct prt_kernel_scratch){
        .in = calloc(inputs, sizeof *scratch->in),
        .out = calloc(outputs, sizeof *scratch->out),
        .produced = calloc(outputs, sizeof *scratch->produced),
        .windows = calloc(inputs, sizeof *scratch->windows),
    };
    bool all = scratch->in != NULL && scratch->out != NULL && scratch->produced != NULL &&
               scratch->windows != NULL;
    return all ? PRT_OK : PRT_E_NOMEM;
}

void prt_kernel_scratch_free(struct prt_kernel_scratch *scratch)
{
    free(scratch->in);
    free(scratch->out);
    free(scratch->produced);
    free(scratch->windows);
    *scratch = (struct prt_kernel_scratch){0};
}

/* The windows of the firings that begin `skip` firings after those of the dispatch. */
static void place_windows(const struct prt_kernel_object *object, uint64_t skip,
                          const struct prt_kernel_scratch *scratch)
{
    for (uint32_t i = 0; i < object->input_count; i++) {
        scratch->in[i] = (const uint8_t *)object->in[i] + skip * object->pop_bytes[i];
        if (object->windows == NULL) continue;
        scratch->windows[i] = object->windows[i];
        scratch->windows[i].place += skip;
    }
    for (uint32_t i = 0; i < object->output_count; i++)
        scratch->out[i] = (uint8_t *)object->out[i] + skip * object->push_bytes[i];
}

/* Where a kernel that writes by index does not write, its output is zero. */
static void zero_kernel_outputs(const struct prt_kernel_object *object, uint64_t count,
                                void *const *out)
{
    bool whole = (object->flags & PRT_KERNEL_WHOLE) != 0;
    for (uint32_t i = 0; i < object->output_count; i++)
        memset(out[i], 0,
               (size_t)(whole ? object->claimed_bytes[i] : count * object->push_bytes[i]));
}

/* If the windows begin with the dispatch's first firing, they are the object's own. */
enum kernel_status prt_kernel_execute(const struct prt_kernel_object *object, uint64_t origin,
                                      uint64_t first, uint64_t count,
                                      const struct prt_kernel_scratch *scratch,
                                      uint64_t *warp_cycles, struct kernel_fault *fault)
{
    bool finishes = (object->flags & PRT_KERNEL_FINISH) != 0;
    if (object->device_queue != NULL && !finishes)
        return prt_device_queue_execute(object->device_queue, object, first, count, scratch->in,
                                        scratch->windows, warp_cycles, fault);
    bool whole = finishes || (object->flags & PRT_KERNEL_WHOLE) != 0;
    bool part = !whole && first != origin;
    uint64_t unread = 0;
    if (part) place_windows(object, first - origin, scratch);
    void *const *out = part ? scratch->out : object->out;
    if (object->flags & PRT_KERNEL_INDEXED && !finishes) zero_kernel_outputs(object, count, out);
    for (uint32_t i = 0; whole && i < object->output_count; i++)
        object->produced[i] = 0;
    struct kernel_batch batch = {.arguments = object->arguments,
                                 .tables = object->tables,
                                 .state = object->state,
                                 .in = part ? scratch->in : object->in,
                                 .out = out,
                                 .left = object->left,
                                 .produced = whole ? object->produced : scratch->produced,
                                 .first_firing = first,
                                 .count = count,
                                 .completed = whole ? object->completed : &unread,
                                 .windows = part && object->windows != NULL ? scratch->windows
                                                                            : object->windows,
                                 .indices = object->index == NULL ? NULL : object->index->registers,
                                 .fault = fault,
                                 .most = object->most,
                                 .origins = part ? NULL : object->origins,
                                 .past_caches = object->flags & PRT_KERNEL_PAST_CACHES,
                                 .warp_cycles = warp_cycles};
    return call_kernel_entry(object, object->entry, &batch, finishes ? 0 : count);
}

enum kernel_status prt_kernel_execute_apart(const struct prt_kernel_object *object, uint64_t origin,
                                            uint64_t first, uint64_t count,
                                            const struct prt_kernel_scratch *scratch,
                                            const uint64_t *begin, uint64_t *produced,
                                            uint64_t *most, struct kernel_fault *fault)
{
    uint64_t unread = 0;
    place_windows(object, first - origin, scratch);
    for (uint32_t i = 0; i < object->output_count; i++) {
        scratch->out[i] = (uint8_t *)object->out[i] + begin[i] * object->packet_bytes[i];
        if (object->flags & PRT_KERNEL_INDEXED)
            memset(scratch->out[i], 0, (size_t)(count * object->push_bytes[i]));
        produced[i] = 0;
        if (most != NULL) most[i] = 0;
    }
    const struct kernel_batch batch = {
        .arguments = object->arguments,
        .tables = object->tables,
        .state = object->state,
        .in = scratch->in,
        .out = scratch->out,
        .produced = produced,
        .first_firing = first,
        .count = count,
        .completed = &unread,
        .windows = object->windows == NULL ? NULL : scratch->windows,
        .indices = object->index == NULL ? NULL : object->index->registers,
        .fault = fault,
        .most = most,
    };
    return call_kernel_entry(object, object->entry, &batch, count);
}

enum kernel_status prt_kernel_call(const struct prt_kernel_object *object, kernel_entry run,
                                   const struct kernel_batch *batch)
{
    return call_kernel_entry(object, run, batch, batch->count);
}

enum kernel_status prt_kernel_init(const struct prt_kernel_object *object, kernel_entry init,
                                   struct kernel_fault *fault)
{
    const struct kernel_batch batch = {.arguments = object->arguments,
                                       .tables = object->tables,
                                       .state = object->state,
                                       .count = 1,
                                       .fault = fault};
    return call_kernel_entry(object, init, &batch, 0);
}
