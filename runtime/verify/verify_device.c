/* SPDX-License-Identifier: MIT */
/* Checks the needs of a container against the description of its device: see verify.h. */
#include "runtime/verify/verify.h"

#include "runtime/load/device_need.h"
#include "runtime/verify/verify_program.h"
#include "runtime/load/verify_rule.h"

#include <inttypes.h>

_Static_assert((int)SCHED_LEVELS == (int)DEVDESC_LEVELS, "levels have the same numbers");

static enum devdesc_scheme scheme_of(enum sched_opcode opcode)
{
    if (opcode == SCHED_PARTITION_EQUALLY) return DEVDESC_EQUALLY;
    return opcode == SCHED_PARTITION_COUNTS ? DEVDESC_BY_COUNTS : DEVDESC_BY_AFFINITY;
}

static const char *scheme_text(enum devdesc_scheme scheme)
{
    if (scheme == DEVDESC_EQUALLY) return "equally";
    return scheme == DEVDESC_BY_COUNTS ? "by counts" : "by affinity domains";
}

static enum prt_status verify_domains(const struct prt_code *code,
                                      const struct sched_instruction *instruction,
                                      const struct devdesc *device)
{
    uint32_t level = instruction->operands[0], each = device->cus_per_domain[level];
    RULE(code, 0, each > 0, "partition-domains", "device '%s' has no domains of level %s",
         device->name, sched_levels[level]);
    RULE(code, 0, each == instruction->operands[1], "partition-domains",
         "the domains of device '%s' have %" PRIu32 " CUs", device->name, each);
    return PRT_OK;
}

static enum prt_status verify_device_partition(const struct prt_code *code,
                                               const struct sched_instruction *instruction,
                                               const struct devdesc *device)
{
    enum devdesc_scheme scheme = scheme_of(instruction->opcode);
    uint32_t most =
        device->max_sub_devices < device->cu_count ? device->max_sub_devices : device->cu_count;
    RULE(code, 0, (device->schemes & scheme) != 0, "partition-scheme",
         "device '%s' cannot be cut %s", device->name, scheme_text(scheme));
    enum prt_status status =
        scheme == DEVDESC_BY_AFFINITY ? verify_domains(code, instruction, device) : PRT_OK;
    if (status != PRT_OK) return status;
    uint32_t count = instruction->operands[0];
    if (scheme == DEVDESC_EQUALLY) count = device->cu_count / count;
    if (scheme == DEVDESC_BY_AFFINITY) count = device->cu_count / instruction->operands[1];
    RULE(code, 0, most >= 2, "partition-most", "device '%s' cannot be cut", device->name);
    RULE(code, 0, count <= most, "partition-most",
         "%" PRIu32 " sub-devices, and device '%s' can be cut into %" PRIu32, count, device->name,
         most);
    return PRT_OK;
}

static enum prt_status verify_partitions(const struct prt_container *c,
                                         const struct devdesc *device, struct prt_error *error)
{
    struct sched_instruction instruction;
    for (uint32_t at = 0; sched_decode(c->code, c->code_bytes, at, &instruction);
         at += instruction.size_bytes) {
        const struct prt_code code = {.container = c, .error = error, .offsets = &at};
        if (!prt_code_is_partition(instruction.opcode)) continue;
        enum prt_status status = verify_device_partition(&code, &instruction, device);
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

static enum prt_status verify_device_memory(const struct prt_container *c,
                                            const struct devdesc *device, struct prt_error *error)
{
    const struct prt_device_need need = prt_device_need(c, device);
    if (PRT_BREAKS(need.total > device->memory_bytes))
        return prt_error_set(
            error, PRT_E_DEVICE,
            "'%s' needs %" PRIu64 " bytes of memory, device '%s' has %" PRIu64 ": buffers %" PRIu64
            ", ports %" PRIu64 ", arguments, tables and state %" PRIu64 ", index memory %" PRIu64
            ", device queue %" PRIu64 ", dispatch packets and reference table %" PRIu64 " [memory]",
            prt_container_text(c, c->pipeline->name), need.total, device->name,
            device->memory_bytes, need.buffers, need.ports, need.blocks, need.indices,
            need.device_queue, need.launching);
    return PRT_OK;
}

static enum prt_status refuse_local(const struct prt_container *c, container_string kernel,
                                    uint64_t bytes, const struct devdesc *device,
                                    struct prt_error *error)
{
    return prt_error_set(error, PRT_E_DEVICE,
                         "a work-group of '%s' needs %" PRIu64
                         " bytes of local memory, a compute unit of device '%s' has %" PRIu64
                         " [local-memory]",
                         prt_container_text(c, kernel), bytes, device->name, device->local_bytes);
}

static enum prt_status verify_local_memory(const struct prt_container *c,
                                           const struct devdesc *device, struct prt_error *error)
{
    for (uint32_t i = 0; i < c->node_count; i++) {
        const struct container_node *node = &c->nodes[i];
        if (PRT_BREAKS(node->local_bytes > device->local_bytes))
            return refuse_local(c, node->kernel_title, node->local_bytes, device, error);
    }
    for (uint32_t i = 0; i < c->interface_count; i++) {
        const struct container_interface *f = &c->interfaces[i];
        if (PRT_BREAKS(f->local_bytes > device->local_bytes))
            return refuse_local(c, f->title, f->local_bytes, device, error);
    }
    return PRT_OK;
}

enum prt_status prt_verify_device(const struct prt_container *c, const struct devdesc *device,
                                  struct prt_error *error)
{
    bool known = device->memory_bytes > 0;
    enum prt_status status = known ? verify_device_memory(c, device, error) : PRT_OK;
    if (status == PRT_OK && known) status = verify_local_memory(c, device, error);
    if (status != PRT_OK) return status;
    for (uint32_t i = 0; i < c->stage_count; i++) {
        uint32_t entry = c->stages[i].entry;
        if (PRT_BREAKS(entry != CONTAINER_NONE && entry >= device->reference_entries))
            return prt_error_set(error, PRT_E_DEVICE,
                                 "'%s' is launched by reference entry %" PRIu32
                                 ", and device '%s' has %" PRIu32 " [reference-entries]",
                                 prt_container_text(c, c->nodes[c->stages[i].node].name), entry,
                                 device->name, device->reference_entries);
    }
    return verify_partitions(c, device, error);
}
