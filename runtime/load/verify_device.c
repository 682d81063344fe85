/* What a container asks of its device, against the description: see verify.h. */
#include "runtime/load/verify.h"

#include "runtime/load/verify_rule.h"

#include <inttypes.h>

enum prt_status prt_verify_device(const struct prt_container *c, const struct devdesc *device,
                                  struct prt_error *error)
{
    uint64_t bytes = c->pipeline->memory_bytes;
    if (PRT_BREAKS(device->memory_bytes > 0 && bytes > device->memory_bytes))
        return prt_error_set(
            error, PRT_E_DEVICE,
            "the buffers of '%s' take %" PRIu64 " bytes, the memory of device '%s' "
            "has %" PRIu64 " [memory]",
            prt_container_text(c, c->pipeline->name), bytes, device->name, device->memory_bytes);
    for (uint32_t i = 0; i < c->stage_count; i++) {
        uint32_t entry = c->stages[i].entry;
        if (PRT_BREAKS(entry != CONTAINER_NONE && entry >= device->reference_entries))
            return prt_error_set(error, PRT_E_DEVICE,
                                 "'%s' is launched by reference entry %" PRIu32
                                 ", and device '%s' has %" PRIu32 " [reference-entries]",
                                 prt_container_text(c, c->nodes[c->stages[i].node].name), entry,
                                 device->name, device->reference_entries);
    }
    return PRT_OK;
}
