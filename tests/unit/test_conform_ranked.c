/* SPDX-License-Identifier: MIT */
/* The simulated GPU with a queue of greater importance that was never used: launches may interrupt
 * each other, and none does.  All that holds without it holds. */
#include "runtime/backend/sim/sim.h"
#include "tests/conform/conform.h"

static bool is_ranked;

static enum prt_status open_plain(const struct prt_device_options *options,
                                  struct prt_device **device, struct prt_error *error)
{
    is_ranked = false;
    return prt_sim_device.open(options, device, error);
}

/* The unused queue comes after the first, which has its expected number, and is closed. */
static enum prt_status create_beside(struct prt_device *device, struct prt_device_handle on,
                                     uint32_t importance, uint32_t *queue)
{
    uint32_t unused;
    enum prt_status status = prt_sim_device.queue_create(device, on, importance, queue);
    if (status != PRT_OK || is_ranked) return status;
    is_ranked = true;
    struct prt_device_handle root = prt_device_tree_root(prt_sim_device.tree(device));
    status = prt_sim_device.queue_create(device, root, importance + 1, &unused);
    return status == PRT_OK ? prt_sim_device.queue_destroy(device, unused) : status;
}

int main(void)
{
    struct prt_device_ops ranked = prt_sim_device;
    ranked.open = open_plain;
    ranked.queue_create = create_beside;
    return conform_main("conform_ranked", &ranked);
}
