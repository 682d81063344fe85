/* SPDX-License-Identifier: MIT */
/* The code of a run: the scheduler and the kernels of the container, joined by the driver. */
#include "runtime/backend/cuda/cuda_code.h"

#include "lang/embedded.h"
#include "lang/gpu_abi.h"
#include "runtime/backend/cuda/cuda_frames.h"
#include "runtime/load/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES = 4096, THREADS_MAX = 1024 };
enum {
    TILES_BYTES = 131072
}; /* four times GPU_TILE_BYTES, and half of the memory of an H100's multiprocessor */

enum { STACK_BYTES = 1024 }; /* of a thread, beside the frames of functions: CUDA's default */

/* The first line of the driver's log, as printable ASCII. */
static const char *first_log_line(char *log)
{
    log[LOG_BYTES - 1] = '\0';
    log[strcspn(log, "\n")] = '\0';
    for (char *at = log; *at != '\0'; at++)
        if (*at < ' ' || *at > '~') *at = '?';
    return log;
}

static enum prt_status refuse_code(const struct prt_cuda_run *run, int result, char *log,
                                   struct prt_error *error)
{
    if (result == PRT_CUDA_OUT_OF_MEMORY || log[0] == '\0')
        return prt_cuda_refuse(run->driver, result, "compiling the kernels", error);
    return prt_error_set(error, PRT_E_DEVICE, "device 'cuda': the driver refuses the kernels: %s",
                         first_log_line(log));
}

static enum prt_status join_texts(struct prt_cuda_run *run, const struct embedded_file *scheduler,
                                  struct prt_error *error)
{
    const struct prt_cuda_driver *driver = run->driver;
    const struct prt_container *c = run->work->container;
    char log[LOG_BYTES] = "";
    int options[] = {PRT_CUDA_ERROR_LOG, PRT_CUDA_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LOG_BYTES};
    int result = driver->link_create(2, options, values, &run->link);
    if (result == PRT_CUDA_SUCCESS)
        result =
            driver->link_add(run->link, PRT_CUDA_INPUT_PTX, (void *)(uintptr_t)scheduler->bytes,
                             scheduler->size + 1, "scheduler", 0, NULL, NULL);
    if (result == PRT_CUDA_SUCCESS)
        result = driver->link_add(run->link, PRT_CUDA_INPUT_PTX,
                                  (void *)(uintptr_t)(c->image + run->image->offset_bytes),
                                  (size_t)run->image->size_bytes, "kernels", 0, NULL, NULL);
    if (result == PRT_CUDA_SUCCESS)
        result = driver->link_complete(run->link, &run->cubin, &run->cubin_bytes);
    if (result == PRT_CUDA_SUCCESS) result = driver->module_load(&run->module, run->cubin);
    return result == PRT_CUDA_SUCCESS ? PRT_OK : refuse_code(run, result, log, error);
}

static enum prt_status find_kernel(struct prt_cuda_run *run, struct prt_error *error)
{
    const struct prt_cuda_driver *driver = run->driver;
    int threads = 0;
    int result = driver->function_get(&run->function, run->module, "core_resident_kernel");
    if (result == PRT_CUDA_SUCCESS)
        result = driver->function_attribute(&threads, PRT_CUDA_FUNCTION_THREADS, run->function);
    if (result != PRT_CUDA_SUCCESS)
        return prt_cuda_refuse(driver, result, "loading the kernels", error);
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    run->threads = threads >= (int)GPU_WARP ? (uint32_t)threads / GPU_WARP * GPU_WARP : 1;
    return PRT_OK;
}

static const char *kernels_text(const struct prt_cuda_run *run)
{
    return (const char *)run->work->container->image + run->image->offset_bytes;
}

/* Kernels with tiles get memory that a block shares.  The rest of it is the cache of the multiprocessor. */
static enum prt_status give_tiles(struct prt_cuda_run *run, struct prt_error *error)
{
    const struct prt_cuda_driver *driver = run->driver;
    int most = 0, declared = 0;
    if (strstr(kernels_text(run), GPU_TILES) == NULL) return PRT_OK;
    int result = driver->device_attribute(&most, PRT_CUDA_SHARED_BYTES_MOST, run->device);
    if (result == PRT_CUDA_SUCCESS)
        result =
            driver->function_attribute(&declared, PRT_CUDA_FUNCTION_SHARED_BYTES, run->function);
    int bytes = most - declared < TILES_BYTES ? most - declared : TILES_BYTES;
    if (result == PRT_CUDA_SUCCESS)
        result = driver->function_limit(run->function, PRT_CUDA_FUNCTION_SHARED_MORE, bytes);
    if (result != PRT_CUDA_SUCCESS)
        return prt_cuda_refuse(driver, result, "giving the kernels shared memory", error);
    run->tile_bytes = (uint32_t)bytes;
    return PRT_OK;
}

static enum prt_status refuse_stack(const struct prt_cuda_run *run, int result, uint64_t bytes,
                                    struct prt_error *error)
{
    return prt_error_set(error, result == PRT_CUDA_OUT_OF_MEMORY ? PRT_E_NOMEM : PRT_E_DEVICE,
                         "device 'cuda': %s while giving each thread a stack of %" PRIu64
                         " bytes, for kernels that ask 'done' on %" PRIu64
                         " levels: declare a lower 'nesting', or run on the host's cores "
                         "(--device cpu)",
                         prt_cuda_error_name(run->driver, result), bytes, run->trees.levels);
}

/* The driver finds out how much stack a kernel takes, unless functions call each other: those of the scheduler, and bodies
 * that ask whether an event is done.  On each level such a chain of calls has each function once, and one body.  The driver may
 * give less than it is asked for. */
static enum prt_status limit_stack(const struct prt_cuda_run *run, struct prt_error *error)
{
    struct prt_cuda_frames frames;
    uint64_t bytes;
    size_t given = 0;
    if (run->trees.levels == 0) return PRT_OK;
    if (!prt_cuda_frames_read(run->cubin, run->cubin_bytes, &frames))
        return prt_error_set(
            error, PRT_E_DEVICE,
            "device 'cuda': the driver does not say how much stack the kernels take, "
            "which ask 'done'; run on the host's cores (--device cpu)");
    if (__builtin_mul_overflow(run->trees.levels + 1, frames.others + frames.body, &bytes) ||
        bytes > SIZE_MAX / 2)
        return refuse_stack(run, PRT_CUDA_OUT_OF_MEMORY, UINT64_MAX, error);
    bytes += STACK_BYTES;
    int result = run->driver->context_limit(PRT_CUDA_STACK_BYTES, (size_t)bytes);
    if (result == PRT_CUDA_SUCCESS)
        result = run->driver->context_limit_get(&given, PRT_CUDA_STACK_BYTES);
    if (result == PRT_CUDA_SUCCESS && given < bytes) result = PRT_CUDA_OUT_OF_MEMORY;
    return result == PRT_CUDA_SUCCESS ? PRT_OK : refuse_stack(run, result, bytes, error);
}

enum prt_status prt_cuda_code_load(struct prt_cuda_run *run, struct prt_error *error)
{
    const struct embedded_file *scheduler = &embedded_resident_files[0];
    if (scheduler->size == 0)
        return prt_error_set(error, PRT_E_DEVICE,
                             "device 'cuda': this program was built without clang, which compiles "
                             "the scheduler for GPUs: install clang and build it again");
    enum prt_status status = join_texts(run, scheduler, error);
    if (status == PRT_OK) status = find_kernel(run, error);
    if (status == PRT_OK) status = give_tiles(run, error);
    return status == PRT_OK ? limit_stack(run, error) : status;
}

void prt_cuda_code_unload(struct prt_cuda_run *run)
{
    if (run->module != NULL) (void)run->driver->module_unload(run->module);
    if (run->link != NULL) (void)run->driver->link_destroy(run->link);
    run->module = run->link = run->cubin = NULL;
}
