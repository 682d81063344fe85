/* SPDX-License-Identifier: MIT */
/* The code of a run: the scheduler and the kernels of the container, joined by the driver. */
#include "runtime/backend/cuda/cuda_code.h"

#include "lang/embedded.h"
#include "runtime/load/reader.h"

#include <stdio.h>
#include <string.h>

enum { LOG_BYTES = 4096, THREADS_MAX = 1024, WARP = 32 };

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
    run->threads = threads >= WARP ? (uint32_t)(threads / WARP * WARP) : 1;
    return PRT_OK;
}

enum prt_status prt_cuda_code_load(struct prt_cuda_run *run, struct prt_error *error)
{
    const struct embedded_file *scheduler = &embedded_resident_files[0];
    if (scheduler->size == 0)
        return prt_error_set(error, PRT_E_DEVICE,
                             "device 'cuda': this program was built without clang, which compiles "
                             "the scheduler for GPUs: install clang and build it again");
    enum prt_status status = join_texts(run, scheduler, error);
    return status == PRT_OK ? find_kernel(run, error) : status;
}

void prt_cuda_code_unload(struct prt_cuda_run *run)
{
    if (run->module != NULL) (void)run->driver->module_unload(run->module);
    if (run->link != NULL) (void)run->driver->link_destroy(run->link);
    run->module = run->link = NULL;
}
