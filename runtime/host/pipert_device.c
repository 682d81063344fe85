/* SPDX-License-Identifier: MIT */
#include "runtime/host/pipert_device.h"

#include "runtime/backend/cuda/cuda.h"
#include "runtime/device/description.h"
#include "runtime/device/host_cores.h"
#include "model/queue.h"
#include "model/tree_device.h"

#include <string.h>

const char *prt_device_name(size_t i)
{
    return devdesc_builtin_name(i);
}

_Static_assert(sizeof(((struct prt_device_figures *)NULL)->name) ==
                   sizeof(((struct devdesc *)NULL)->name),
               "names");

enum prt_status prt_gpu_describe(uint32_t number, struct prt_gpu_figures *figures,
                                 struct prt_error *error)
{
    struct prt_cuda_figures found;
    enum prt_status status = prt_cuda_describe(number, &found, error);
    if (status != PRT_OK) return status;
    *figures = (struct prt_gpu_figures){.multiprocessors = found.multiprocessors,
                                        .capability = found.capability,
                                        .clock_hz = found.clock_hz,
                                        .memory_bytes = found.memory_bytes,
                                        .memory_bytes_per_second = found.memory_bytes_per_second};
    memcpy(figures->name, found.name, sizeof figures->name);
    return PRT_OK;
}

static void fill_figures(const struct devdesc *description, struct prt_device_figures *figures)
{
    *figures = (struct prt_device_figures){
        .cu_count = description->cu_count,
        .lanes = description->lanes,
        .clock_hz = description->clock_hz,
        .memory_bytes = description->memory_bytes,
        .memory_bytes_per_cycle = description->memory_bytes_per_cycle,
        .local_bytes = description->local_bytes,
        .schemes = description->schemes,
        .subdevices_max = description->max_sub_devices < description->cu_count
                              ? description->max_sub_devices
                              : description->cu_count,
    };
    memcpy(figures->name, description->name, sizeof figures->name);
    for (int level = 0; level < PRT_LEVEL_COUNT; level++) {
        figures->cus_per_domain[level] = description->cus_per_domain[level];
        figures->cache_bytes[level] = description->cache_bytes[level];
    }
}

/* Number of CUs in the first domain. */
static uint32_t domain_size(const uint32_t *domains, uint32_t count)
{
    uint32_t size = 0;
    while (size < count && domains[size] == 0)
        size++;
    return size;
}

/* Describes the first `count` cores of the host.  If there are fewer, compute units are threads that share them, and there
 * are no domains. */
static void describe_cores(const struct prt_host_cores *cores, uint32_t count,
                           struct prt_device_description *root, struct prt_device_figures *figures)
{
    bool real = count <= prt_host_cores_count(cores);
    *root = (struct prt_device_description){.cu_count = count,
                                            .schemes = PRT_SCHEME_EQUALLY | PRT_SCHEME_BY_COUNTS,
                                            .subdevices_max = count};
    figures->cu_count = figures->subdevices_max = count;
    figures->memory_bytes = prt_host_cores_memory_bytes(cores);
    figures->memory_bytes_per_cycle = 0;
    for (int i = 0; i < PRT_LEVEL_COUNT; i++) {
        enum prt_affinity_level level = (enum prt_affinity_level)i;
        const uint32_t *domains = real ? prt_host_cores_domains(cores, level) : NULL;
        root->domain_of_cu[i] = domains;
        figures->cus_per_domain[i] = domains != NULL ? domain_size(domains, count) : 0;
        figures->cache_bytes[i] =
            domains != NULL && level != PRT_LEVEL_NUMA ? prt_host_cores_bytes(cores, level) : 0;
        if (domains != NULL) root->schemes |= PRT_SCHEME_BY_AFFINITY_DOMAIN;
    }
    figures->schemes = root->schemes;
}

/* `count` 0: all cores that the process may use. */
static enum prt_status open_cores(uint32_t count, struct devdesc *description,
                                  struct prt_device_tree **tree, struct prt_device_figures *figures,
                                  struct prt_error *error)
{
    struct prt_device_tree *made;
    struct prt_device_description root;
    struct prt_host_cores *cores = prt_host_cores_find();
    if (cores == NULL)
        return prt_error_set(error, PRT_E_DEVICE, "the system does not say which cores it has");
    describe_cores(cores, count > 0 ? count : prt_host_cores_count(cores), &root, figures);
    enum prt_status status = prt_device_tree_create(&root, &made);
    prt_host_cores_free(cores);
    if (status == PRT_E_OUT_OF_HOST_MEMORY) status = PRT_E_NOMEM;
    if (status != PRT_OK) return prt_error_set(error, status, "%s", prt_status_text(status));
    description->cu_count = root.cu_count;
    status = prt_device_tree_describe(made, description);
    if (status != PRT_OK) {
        prt_device_tree_destroy(made);
        return prt_error_set(error, status, "%s", prt_status_text(status));
    }
    *tree = made;
    return PRT_OK;
}

/* The description of a GPU, or another one.  "cuda", which pipec compiles for, too, has one without a GPU. */
static enum prt_status open_description(const char *name, const struct prt_reporter *reporter,
                                        struct devdesc *description, struct prt_error *error)
{
    uint32_t number;
    if (prt_cuda_find_name(name, &number) == PRT_CUDA_NONE)
        return prt_description_open(name, "", reporter, description, error);
    struct prt_error unread;
    bool without = strcmp(name, "cuda") == 0;
    enum prt_status status = prt_cuda_describe_device(name, description, without ? &unread : error);
    return status != PRT_OK && without
               ? prt_description_open(name, "", reporter, description, error)
               : status;
}

enum prt_status prt_device_open(const char *name, prt_report_callback report, void *context,
                                struct prt_device_tree **tree, struct prt_device_figures *figures,
                                struct prt_error *error)
{
    struct devdesc description;
    struct prt_device_figures unwanted;
    uint32_t cores;
    const struct prt_reporter reporter = {report, context};
    enum prt_status status = open_description(name, &reporter, &description, error);
    if (status != PRT_OK) return status;
    if (figures == NULL) figures = &unwanted;
    fill_figures(&description, figures);
    if (devdesc_host_cores(name, &cores))
        return open_cores(cores, &description, tree, figures, error);
    status = prt_queue_tree_create(&description, tree);
    return status == PRT_OK ? status : prt_error_set(error, status, "%s", prt_status_text(status));
}

enum prt_status prt_device_describe(const char *device, const struct prt_device_information *part,
                                    const char *name, char *text, size_t capacity, size_t *length,
                                    struct prt_error *error)
{
    struct devdesc whole, described;
    const struct prt_reporter nobody = {NULL, NULL};
    enum prt_status status = open_description(device, &nobody, &whole, error);
    if (status != PRT_OK) return status;
    if (whole.host)
        return prt_error_set(error, PRT_E_USAGE,
                             "device '%s' is the host's cores: only parts of simulated devices are "
                             "described",
                             device);
    devdesc_part(&whole, part->first_cu, part->cu_count, name, &described);
    *length = devdesc_write(&described, text, capacity);
    return PRT_OK;
}
