/* SPDX-License-Identifier: MIT */
#include "runtime/sched/indices.h"

#include "lang/index_format.h"
#include "model/stage_objects.h"

#include <inttypes.h>
#include <stdlib.h>

enum { REGISTER_ALIGNMENT = 4 };

/* The container has only a hash of the device description, so the limits are checked here. */
static enum prt_status check_index_limits(const struct prt_index_configuration *configuration,
                                          const struct prt_device_info *info,
                                          struct prt_error *error)
{
    const struct devdesc *device = info->description;
    uint64_t end = (uint64_t)configuration->key.address_bytes + prt_index_bytes(configuration);
    uint32_t bits = index_format_of(configuration->key.extents).total_bits;
    if (!info->executes || device->index_memory_bytes == 0) return PRT_OK;
    if (end > device->index_memory_bytes)
        return prt_error_set(error, PRT_E_DEVICE,
                             "packed indices end at byte %" PRIu64
                             ", the index memory of device '%s' has %" PRIu64,
                             end, device->name, device->index_memory_bytes);
    if (bits > device->index_register_bits)
        return prt_error_set(error, PRT_E_DEVICE,
                             "packed indices of %" PRIu32
                             " bits, the registers of device '%s' have %" PRIu32,
                             bits, device->name, device->index_register_bits);
    return PRT_OK;
}

static size_t aligned_bytes(const struct prt_index_configuration *configuration)
{
    return (prt_index_bytes(configuration) + REGISTER_ALIGNMENT - 1) / REGISTER_ALIGNMENT *
           REGISTER_ALIGNMENT;
}

/* The verifier has bounded the sum of all bytes. */
static enum prt_status generate_registers(const struct prt_container *c,
                                          struct prt_indices *indices, struct prt_error *error)
{
    size_t total = 0;
    for (uint32_t i = 0; i < c->index_count; i++)
        total += aligned_bytes(&indices->configurations[i]);
    indices->registers = malloc(total > 0 ? total : 1);
    if (indices->registers == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    uint8_t *at = indices->registers;
    for (uint32_t i = 0; i < c->index_count; i++) {
        prt_index_generate(&indices->configurations[i], at);
        indices->configurations[i].registers = at;
        at += aligned_bytes(&indices->configurations[i]);
    }
    return PRT_OK;
}

enum prt_status prt_indices_create(const struct prt_container *c,
                                   const struct prt_device_info *info, struct prt_indices *indices,
                                   struct prt_error *error)
{
    size_t count = c->index_count > 0 ? c->index_count : 1;
    *indices =
        (struct prt_indices){.configurations = calloc(count, sizeof *indices->configurations)};
    if (indices->configurations == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < c->index_count; i++) {
        indices->configurations[i] = prt_index_configure(c, &c->indices[i]);
        enum prt_status status = check_index_limits(&indices->configurations[i], info, error);
        if (status != PRT_OK) return status;
    }
    return generate_registers(c, indices, error);
}

void prt_indices_free(struct prt_indices *indices)
{
    free(indices->configurations);
    free(indices->registers);
    *indices = (struct prt_indices){0};
}

const struct prt_index_configuration *
prt_indices_find(const struct prt_container *c, const struct prt_indices *indices, uint32_t kernel)
{
    const struct container_index *record = prt_container_index(c, kernel);
    return record != NULL ? &indices->configurations[record - c->indices] : NULL;
}
