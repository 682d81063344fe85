/* SPDX-License-Identifier: MIT */
/* The code of a run: the scheduler and the kernels of the container, joined by the driver. */
#include "runtime/backend/cuda/cuda_code.h"

#include "lang/embedded.h"
#include "lang/gpu_abi.h"
#include "runtime/load/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES = 4096, THREADS_MAX = 1024 };
enum {
    TILES_BYTES = 131072
}; /* four times GPU_TILE_BYTES, and half of the memory of an H100's multiprocessor */

/* Of the stack of a thread: without bodies that wait for others; for each body that waits, and what it calls, beside the
 * arrays of functions. */
enum { STACK_BYTES = 1024, LEVEL_STACK_BYTES = 2048 };

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
    void *values[] = {log, (void *)(uintptr_t)LOG_BYTES}, *cubin = NULL;
    size_t bytes = 0;
    int result = driver->link_create(2, options, values, &run->link);
    if (result == PRT_CUDA_SUCCESS)
        result =
            driver->link_add(run->link, PRT_CUDA_INPUT_PTX, (void *)(uintptr_t)scheduler->bytes,
                             scheduler->size + 1, "scheduler", 0, NULL, NULL);
    if (result == PRT_CUDA_SUCCESS)
        result = driver->link_add(run->link, PRT_CUDA_INPUT_PTX,
                                  (void *)(uintptr_t)(c->image + run->image->offset_bytes),
                                  (size_t)run->image->size_bytes, "kernels", 0, NULL, NULL);
    if (result == PRT_CUDA_SUCCESS) result = driver->link_complete(run->link, &cubin, &bytes);
    if (result == PRT_CUDA_SUCCESS) result = driver->module_load(&run->module, cubin);
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

/* The bytes of the arrays of all functions of a PTX text, which are in memory: ".local .align 8 .b8 __local_depot0[24];". */
static uint64_t local_array_bytes(const char *text)
{
    static const char word[] = "__local_depot";
    uint64_t bytes = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at, word)) {
        at += strlen(word);
        at += strspn(at, "0123456789");
        if (*at == '[') bytes += strtoul(at + 1, NULL, 10);
    }
    return bytes;
}

/* The driver finds out how much stack a kernel takes, unless functions call each other: those of the
 * scheduler, and bodies that ask whether an event is done. */
static enum prt_status limit_stack(const struct prt_cuda_run *run,
                                   const struct embedded_file *scheduler, struct prt_error *error)
{
    if (run->trees.levels == 0) return PRT_OK;
    uint64_t level = LEVEL_STACK_BYTES + local_array_bytes(kernels_text(run)) +
                     local_array_bytes((const char *)scheduler->bytes);
    uint64_t bytes = STACK_BYTES + run->trees.levels * level;
    int result = run->driver->context_limit(PRT_CUDA_STACK_BYTES, (size_t)bytes);
    if (result == PRT_CUDA_SUCCESS) return PRT_OK;
    return prt_error_set(error, result == PRT_CUDA_OUT_OF_MEMORY ? PRT_E_NOMEM : PRT_E_DEVICE,
                         "device 'cuda': %s while giving each thread a stack of %" PRIu64
                         " bytes, for kernels that ask 'done' on %" PRIu64
                         " levels: declare a lower 'nesting', or run on the host's cores "
                         "(--device cpu)",
                         prt_cuda_error_name(run->driver, result), bytes, run->trees.levels);
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
    return status == PRT_OK ? limit_stack(run, scheduler, error) : status;
}

void prt_cuda_code_unload(struct prt_cuda_run *run)
{
    if (run->module != NULL) (void)run->driver->module_unload(run->module);
    if (run->link != NULL) (void)run->driver->link_destroy(run->link);
    run->module = run->link = NULL;
}
