/* SPDX-License-Identifier: MIT */
/* monotonic: the time of the host's monotonic clock.  Thread-safe and async-signal-safe. */
#ifndef BASE_MONOTONIC_H
#define BASE_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic_nanoseconds(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
