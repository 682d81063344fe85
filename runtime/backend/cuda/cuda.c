/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cuda/cuda.h"

#include "base/monotonic.h"
#include "runtime/backend/cuda/cuda_driver.h"
#include "runtime/backend/cuda/cuda_run.h"
#include "runtime/backend/cuda/emulated_driver.h"
#include "model/queue.h"
#include "model/tree_device.h"
#include "runtime/device/launch_schedule.h"
#include "runtime/load/image_ptx.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct prt_device {
    struct devdesc description;
    struct prt_device_tree *tree;  /* of the program's device */
    struct prt_device_tree *parts; /* of the GPU; NULL: not wanted yet */
    struct prt_queue_table queues;
    struct prt_cuda_driver driver;
    struct prt_cuda_figures figures;
    int number;    /* the driver's, of the GPU */
    bool retained; /* its context */
    void *context;
    const struct prt_kernel_object *objects;
    uint64_t origin_nanoseconds;
    prt_launch_observer observe; /* NULL: runs are not measured */
    void *observe_context;
    struct prt_cuda_run run;
};

/* ---- names ---- */

enum prt_cuda_kind prt_cuda_find_name(const char *name, uint32_t *number)
{
    static const char prefix[] = "cuda:";
    *number = 0;
    if (strcmp(name, "cuda-emulated") == 0) return PRT_CUDA_EMULATED;
    if (strcmp(name, "cuda") == 0) return PRT_CUDA_REAL;
    if (strncmp(name, prefix, strlen(prefix)) != 0) return PRT_CUDA_NONE;
    const char *digits = name + strlen(prefix);
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 4 || digits[count] != '\0') return PRT_CUDA_NONE;
    *number = (uint32_t)strtoul(digits, NULL, 10);
    return PRT_CUDA_REAL;
}

/* ---- GPUs ---- */

static enum prt_status find_gpu(const struct prt_cuda_driver *driver, uint32_t number, int *device,
                                struct prt_error *error)
{
    int count = 0;
    int result = driver->init(0);
    if (result == PRT_CUDA_SUCCESS) result = driver->device_count(&count);
    if (result == PRT_CUDA_NO_DEVICE || (result == PRT_CUDA_SUCCESS && count == 0))
        return prt_error_set(error, PRT_E_DEVICE,
                             "device 'cuda': this machine has no NVIDIA GPU that can be used; run "
                             "on the host's cores (--device cpu)");
    if (result == PRT_CUDA_SUCCESS && number >= (uint32_t)count)
        return prt_error_set(error, PRT_E_DEVICE,
                             "device 'cuda:%" PRIu32 "': this machine has %d NVIDIA GPU%s, "
                             "numbered from 0",
                             number, count, count == 1 ? "" : "s");
    if (result == PRT_CUDA_SUCCESS) result = driver->device_get(device, (int)number);
    return result == PRT_CUDA_SUCCESS
               ? PRT_OK
               : prt_cuda_refuse(driver, result, "opening the driver", error);
}

static int read_figures(const struct prt_cuda_driver *driver, int device,
                        struct prt_cuda_figures *figures)
{
    static const int attributes[] = {PRT_CUDA_MULTIPROCESSORS,  PRT_CUDA_CAPABILITY_MAJOR,
                                     PRT_CUDA_CAPABILITY_MINOR, PRT_CUDA_CLOCK_KHZ,
                                     PRT_CUDA_MEMORY_CLOCK_KHZ, PRT_CUDA_MEMORY_BUS_BITS,
                                     PRT_CUDA_L2_BYTES};
    enum { COUNT = sizeof attributes / sizeof attributes[0] };
    int values[COUNT] = {0};
    size_t memory = 0;
    int result = driver->device_name(figures->name, sizeof figures->name, device);
    if (result == PRT_CUDA_SUCCESS) result = driver->device_memory(&memory, device);
    for (int i = 0; i < COUNT && result == PRT_CUDA_SUCCESS; i++) {
        result = driver->device_attribute(&values[i], attributes[i], device);
        if (values[i] < 0) values[i] = 0;
    }
    figures->name[sizeof figures->name - 1] = '\0';
    figures->multiprocessors = (uint32_t)values[0];
    figures->capability = (uint32_t)values[1] * 10 + (uint32_t)values[2];
    figures->clock_hz = (uint64_t)values[3] * 1000;
    /* both edges of the memory's clock carry data */
    figures->memory_bytes_per_second = (uint64_t)values[4] * 1000 * 2 * ((uint64_t)values[5] / 8);
    figures->l2_bytes = (uint64_t)values[6];
    figures->memory_bytes = memory;
    return result;
}

/* Closes the driver. */
static enum prt_status describe_gpu(struct prt_cuda_driver *driver, uint32_t number,
                                    struct prt_cuda_figures *figures, struct prt_error *error)
{
    int device = 0;
    enum prt_status status = find_gpu(driver, number, &device, error);
    if (status == PRT_OK) {
        int result = read_figures(driver, device, figures);
        if (result != PRT_CUDA_SUCCESS)
            status = prt_cuda_refuse(driver, result, "reading the figures of a GPU", error);
    }
    prt_cuda_driver_close(driver);
    return status;
}

enum prt_status prt_cuda_describe(uint32_t number, struct prt_cuda_figures *figures,
                                  struct prt_error *error)
{
    struct prt_cuda_driver driver;
    enum prt_status status = prt_cuda_driver_open(&driver, error);
    return status == PRT_OK ? describe_gpu(&driver, number, figures, error) : status;
}

static void fill_description(const struct prt_cuda_figures *figures, struct devdesc *description)
{
    (void)devdesc_builtin("cuda", description);
    description->cu_count = description->max_sub_devices = figures->multiprocessors;
    description->cus_per_domain[PRT_LEVEL_L2] = figures->multiprocessors;
    description->memory_bytes = figures->memory_bytes;
    if (figures->l2_bytes > 0) description->cache_bytes[PRT_LEVEL_L2] = figures->l2_bytes;
    if (figures->clock_hz == 0) return;
    description->clock_hz = figures->clock_hz;
    description->memory_bytes_per_cycle = figures->memory_bytes_per_second / figures->clock_hz;
}

enum prt_status prt_cuda_describe_device(const char *name, struct devdesc *description,
                                         struct prt_error *error)
{
    struct prt_cuda_driver driver;
    struct prt_cuda_figures figures;
    uint32_t number;
    enum prt_status status = PRT_OK;
    if (prt_cuda_find_name(name, &number) == PRT_CUDA_EMULATED)
        prt_emulated_driver_open(&driver);
    else
        status = prt_cuda_driver_open(&driver, error);
    if (status == PRT_OK) status = describe_gpu(&driver, number, &figures, error);
    if (status != PRT_OK) return status;
    fill_description(&figures, description);
    snprintf(description->name, sizeof description->name, "%s", name);
    return PRT_OK;
}

/* ---- opening ---- */

static enum prt_status refuse_figures(const struct prt_cuda_figures *figures, int cooperative,
                                      int virtual_memory, struct prt_error *error)
{
    enum { CAPABILITY_LEAST = 80 };
    if (figures->capability >= CAPABILITY_LEAST && cooperative != 0 && virtual_memory != 0 &&
        figures->multiprocessors >= 2)
        return PRT_OK;
    return prt_error_set(error, PRT_E_DEVICE,
                         "device 'cuda': '%s' has compute capability %" PRIu32 ".%" PRIu32
                         "; 8.0 is needed, with cooperative launches and virtual memory",
                         figures->name, figures->capability / 10, figures->capability % 10);
}

static enum prt_status take_gpu(struct prt_device *device, uint32_t number, struct prt_error *error)
{
    const struct prt_cuda_driver *driver = &device->driver;
    int cooperative = 0, virtual_memory = 0;
    enum prt_status status = find_gpu(driver, number, &device->number, error);
    if (status != PRT_OK) return status;
    int result = read_figures(driver, device->number, &device->figures);
    if (result == PRT_CUDA_SUCCESS)
        result = driver->device_attribute(&cooperative, PRT_CUDA_COOPERATIVE, device->number);
    if (result == PRT_CUDA_SUCCESS)
        result = driver->device_attribute(&virtual_memory, PRT_CUDA_VIRTUAL_MEMORY, device->number);
    if (result == PRT_CUDA_SUCCESS) {
        status = refuse_figures(&device->figures, cooperative, virtual_memory, error);
        if (status != PRT_OK) return status;
        result = driver->context_retain(&device->context, device->number);
    }
    device->retained = result == PRT_CUDA_SUCCESS;
    if (result == PRT_CUDA_SUCCESS) result = driver->context_set(device->context);
    return result == PRT_CUDA_SUCCESS ? PRT_OK
                                      : prt_cuda_refuse(driver, result, "taking the GPU", error);
}

static void cuda_close(struct prt_device *device)
{
    if (device == NULL) return;
    if (device->retained) (void)device->driver.context_set(device->context);
    prt_cuda_run_end(&device->run);
    if (device->retained) (void)device->driver.context_release(device->number);
    prt_cuda_driver_close(&device->driver);
    prt_queue_table_free(&device->queues);
    prt_device_tree_destroy(device->parts);
    prt_device_tree_destroy(device->tree);
    free(device);
}

static enum prt_status open_device(struct prt_device *made,
                                   const struct prt_device_options *options,
                                   struct prt_error *error)
{
    made->description = *options->description;
    made->observe = options->observe;
    made->observe_context = options->observe_context;
    enum prt_status status = prt_queue_tree_create(&made->description, &made->tree);
    if (status != PRT_OK)
        return prt_error_set(error, status, "device '%s': %s", options->description->name,
                             prt_status_text(status));
    if (options->tree != NULL) made->parts = prt_device_tree_share(options->tree);
    made->queues.tree = made->tree;
    made->origin_nanoseconds = monotonic_nanoseconds();
    return take_gpu(made, options->number, error);
}

static enum prt_status finish_open(struct prt_device *made,
                                   const struct prt_device_options *options,
                                   struct prt_device **device, struct prt_error *error)
{
    enum prt_status status = open_device(made, options, error);
    if (status == PRT_OK)
        *device = made;
    else
        cuda_close(made);
    return status;
}

static enum prt_status cuda_open(const struct prt_device_options *options,
                                 struct prt_device **device, struct prt_error *error)
{
    struct prt_device *made = calloc(1, sizeof *made);
    if (made == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    enum prt_status status = prt_cuda_driver_open(&made->driver, error);
    if (status == PRT_OK) return finish_open(made, options, device, error);
    free(made);
    return status;
}

static enum prt_status emulated_open(const struct prt_device_options *options,
                                     struct prt_device **device, struct prt_error *error)
{
    struct prt_device *made = calloc(1, sizeof *made);
    if (made == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    prt_emulated_driver_open(&made->driver);
    return finish_open(made, options, device, error);
}

/* The slowest multiprocessor ends a launch.  Half as many launches cost half of that, and the packets between two stages
 * still fit in the L2 cache of an H100: 4 and 8 times as deep, light stages are slower there. */
#define GPU_DEPTH_FACTOR UINT64_C(2)
#define GPU_GROWTH_BYTES_MAX (UINT64_C(256) << 20)

static void cuda_info(const struct prt_device *device, struct prt_device_info *info)
{
    *info = (struct prt_device_info){.backend = "cuda",
                                     .description = &device->description,
                                     .host_threads = 1,
                                     .executes = true,
                                     .real_time = true,
                                     .depth_factor = device->driver.emulates ? 1 : GPU_DEPTH_FACTOR,
                                     .depth_bytes_max = GPU_GROWTH_BYTES_MAX};
}

static struct prt_device_tree *cuda_tree(struct prt_device *device)
{
    return device->tree;
}

static enum prt_status cuda_parts(struct prt_device *device, struct prt_device_tree **tree,
                                  struct prt_error *error)
{
    struct devdesc own;
    fill_description(&device->figures, &own);
    if (device->parts == NULL && prt_queue_tree_create(&own, &device->parts) != PRT_OK)
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    const struct devdesc *given = prt_device_tree_description(device->parts);
    if (given->cu_count != own.cu_count)
        return prt_error_set(error, PRT_E_INVALID_DEVICE,
                             "the tree is of a device of %" PRIu32
                             " compute units, and the GPU has %" PRIu32
                             " multiprocessors: prt_device_open with \"cuda\" makes its tree",
                             given->cu_count, own.cu_count);
    *tree = device->parts;
    return PRT_OK;
}

static void cuda_confine(struct prt_device *device, uint32_t first_cu, uint32_t cu_count)
{
    device->run.first_multiprocessor = first_cu;
    device->run.multiprocessor_count = cu_count;
}

static bool cuda_unit_used(const struct prt_device *device, uint32_t stage, uint32_t cu)
{
    return cu < device->figures.multiprocessors && prt_cuda_run_used(&device->run, stage, cu);
}

static enum prt_status cuda_set_kernels(struct prt_device *device,
                                        const struct prt_kernel_object *objects, uint32_t count,
                                        uint32_t stage_count)
{
    (void)count, (void)stage_count;
    device->objects = objects;
    return PRT_OK;
}

static enum prt_status cuda_queue_create(struct prt_device *device, struct prt_device_handle on,
                                         uint32_t importance, uint32_t *queue)
{
    return prt_queue_open(&device->queues, on, importance, 1, queue);
}

static enum prt_status cuda_queue_destroy(struct prt_device *device, uint32_t queue)
{
    return prt_queue_close(&device->queues, queue);
}

/* ---- runs ---- */

enum prt_status prt_cuda_check_container(const struct prt_container *c, struct prt_error *error)
{
    if (prt_image_ptx_find(c, UINT64_MAX) != NULL) return PRT_OK;
    return prt_error_set(error, PRT_E_DEVICE,
                         "device 'cuda': the container has no image for GPUs: compile it with "
                         "--device=cuda, or --march=x86-64-v3,sm_80");
}

static enum prt_status find_image(struct prt_device *device, const struct prt_container *c,
                                  struct prt_error *error)
{
    const struct prt_cuda_figures *figures = &device->figures;
    device->run.image = prt_image_ptx_find(c, figures->capability);
    if (device->run.image != NULL) return prt_image_ptx_verify(c, device->run.image, error);
    return prt_error_set(error, PRT_E_DEVICE,
                         "device 'cuda': the container has no image for a GPU of compute "
                         "capability %" PRIu32 ".%" PRIu32
                         ": compile it with --device=cuda, or --march=x86-64-v3,sm_80",
                         figures->capability / 10, figures->capability % 10);
}

static enum prt_status cuda_begin(struct prt_device *device, const struct prt_resident_run *work,
                                  struct prt_error *error)
{
    enum prt_status status = find_image(device, work->container, error);
    if (status != PRT_OK) return status;
    int result = device->driver.context_set(device->context);
    if (result != PRT_CUDA_SUCCESS)
        return prt_cuda_refuse(&device->driver, result, "taking the GPU", error);
    device->run.driver = &device->driver;
    device->run.objects = device->objects;
    device->run.device = device->number;
    device->run.queues = &device->queues;
    device->run.multiprocessors = device->figures.multiprocessors;
    if (device->run.multiprocessor_count == 0)
        device->run.multiprocessor_count = device->figures.multiprocessors;
    device->run.cu_count = device->description.cu_count;
    device->run.log = (struct prt_cuda_log){.observe = device->observe,
                                            .observe_context = device->observe_context,
                                            .objects = device->objects,
                                            .queues = &device->queues,
                                            .origin_nanoseconds = device->origin_nanoseconds};
    return prt_cuda_run_begin(&device->run, work, error);
}

static enum prt_status cuda_resume(struct prt_device *device, struct core *core,
                                   enum core_outcome *outcome, struct prt_error *error)
{
    return prt_cuda_run_resume(&device->run, core, outcome, error);
}

static uint64_t cuda_now_cycles(const struct prt_device *device)
{
    return monotonic_nanoseconds() - device->origin_nanoseconds;
}

static void cuda_counters(const struct prt_device *device, struct prt_device_counters *counters)
{
    struct core_child_count all = {0};
    for (uint32_t i = 0; i < device->run.counted_children; i++)
        prt_cuda_run_count_child(&device->run, i, &all);
    *counters = (struct prt_device_counters){.launches = {device->run.launches},
                                             .child_launches = all.launches,
                                             .child_groups = all.groups,
                                             .child_cycles = all.execute_time,
                                             .child_wait_cycles = all.wait_time,
                                             .child_levels_most = all.level_most,
                                             .child_queue_most = (uint32_t)all.entries_most};
}

/* A nanosecond is a cycle of the device. */
static void cuda_count_child(const struct prt_device *device, uint32_t interface,
                             struct prt_launch_kernel *sum)
{
    struct core_child_count count = {0};
    prt_cuda_run_count_child(&device->run, interface, &count);
    *sum = (struct prt_launch_kernel){.launches = count.launches,
                                      .groups = count.groups,
                                      .cycles = count.execute_time,
                                      .wait_cycles = count.wait_time,
                                      .longest_cycles = count.longest_time,
                                      .level_most = count.level_most};
}

const struct prt_device_ops prt_cuda_device = {
    .name = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .info = cuda_info,
    .tree = cuda_tree,
    .parts = cuda_parts,
    .confine = cuda_confine,
    .unit_used = cuda_unit_used,
    .set_kernels = cuda_set_kernels,
    .queue_create = cuda_queue_create,
    .queue_destroy = cuda_queue_destroy,
    .now_cycles = cuda_now_cycles,
    .counters = cuda_counters,
    .count_child = cuda_count_child,
    .resident_begin = cuda_begin,
    .resident_resume = cuda_resume,
};

const struct prt_device_ops prt_cuda_emulated_device = {
    .name = "cuda-emulated",
    .open = emulated_open,
    .close = cuda_close,
    .info = cuda_info,
    .tree = cuda_tree,
    .parts = cuda_parts,
    .confine = cuda_confine,
    .unit_used = cuda_unit_used,
    .set_kernels = cuda_set_kernels,
    .queue_create = cuda_queue_create,
    .queue_destroy = cuda_queue_destroy,
    .now_cycles = cuda_now_cycles,
    .counters = cuda_counters,
    .count_child = cuda_count_child,
    .resident_begin = cuda_begin,
    .resident_resume = cuda_resume,
};
