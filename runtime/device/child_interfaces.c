/* SPDX-License-Identifier: MIT */
#include "runtime/device/child_interfaces.h"

#include "base/arithmetic.h"
#include "lang/kernel_abi.h"

#include <stdlib.h>
#include <string.h>

uint64_t prt_child_entry_bytes(const struct prt_container *c)
{
    uint64_t longest = sizeof(struct kernel_launch);
    for (uint32_t i = 0; i < c->interface_count; i++)
        longest = max64(longest, c->interfaces[i].entry_bytes);
    return longest;
}

uint64_t prt_child_packets_most(const struct prt_container *c, uint32_t output)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < c->interface_count; i++) {
        const struct container_interface *f = &c->interfaces[i];
        if (output >= f->out_count) continue;
        most = max64(most, c->interface_ports[f->first_port + f->in_count + output].packets);
    }
    return most;
}

bool prt_child_waits(const struct prt_container *c)
{
    for (uint32_t i = 0; i < c->interface_count; i++)
        if ((c->interfaces[i].flags & CONTAINER_INTERFACE_ASKS) != 0) return true;
    return false;
}

const uint8_t **prt_child_defaults(const struct prt_container *c)
{
    const uint8_t **of = calloc((size_t)c->interface_count + 1, sizeof *of);
    const uint8_t *at = (const uint8_t *)c->defaults + c->pipeline->arguments_bytes;
    for (uint32_t i = 0; of != NULL && i < c->interface_count; i++) {
        if (c->interfaces[i].node != CONTAINER_NONE) continue;
        of[i] = at;
        at += c->interfaces[i].arguments_bytes;
    }
    return of;
}

void prt_child_interface_write(const struct prt_container *c, uint32_t launch,
                               const uint8_t *defaults, uint64_t kernel, uint64_t stride_bytes,
                               uint8_t *to)
{
    const struct container_launch *record = &c->launches[launch];
    const struct container_interface *child = &c->interfaces[record->child];
    const struct kernel_launch made = {.site = launch - c->interfaces[record->parent].first_launch,
                                       .groups = 1,
                                       .group_end = child->work_groups,
                                       .kernel = kernel,
                                       .timestamp = UINT64_MAX};
    memset(to, 0, (size_t)stride_bytes);
    memcpy(to, &made, sizeof made);
    memcpy(to + child->arguments_offset_bytes, defaults, (size_t)child->arguments_bytes);
}
