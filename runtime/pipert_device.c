#include "runtime/pipert_device.h"

#include "runtime/device/description.h"
#include "runtime/device/queue.h"

#include <string.h>

const char *prt_device_name(size_t i)
{
    return devdesc_builtin_name(i);
}

_Static_assert(sizeof(((struct prt_device_figures *)NULL)->name) ==
                   sizeof(((struct devdesc *)NULL)->name),
               "names");

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

enum prt_status prt_device_open(const char *name, prt_report_callback report, void *context,
                                struct prt_device_tree **tree, struct prt_device_figures *figures,
                                struct prt_error *error)
{
    struct devdesc description;
    const struct prt_reporter reporter = {report, context};
    enum prt_status status = prt_description_open(name, "", &reporter, &description, error);
    if (status != PRT_OK) return status;
    if (prt_queue_tree_create(&description, tree) != PRT_OK)
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    if (figures != NULL) fill_figures(&description, figures);
    return PRT_OK;
}
