/* SPDX-License-Identifier: MIT */
/* completion: the report of a device on one launch whose end has been seen. */
#ifndef CORE_COMPLETION_H
#define CORE_COMPLETION_H

#include "lang/kernel_abi.h"

#include <stdbool.h>
#include <stdint.h>

struct core_completion {
    uint64_t signal; /* its completion_signal; 0: it had none */
    uint64_t begin_cycles, end_cycles;
    uint64_t execute_cycles, launch_cycles, switch_cycles; /* shares of the time between */
    uint32_t object;                                       /* kernel object */
    enum kernel_status kernel_status;
    bool skipped;              /* not executed: a launch of its queue before it has faulted */
    struct kernel_fault fault; /* of the lowest firing; written if the status is not KERNEL_OK */
};

#endif
