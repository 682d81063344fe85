/* SPDX-License-Identifier: MIT */
/*
 * drawn_device: a device whose times come from bytes, so that these decide in which order queues
 * advance.
 *
 * A launch begins when the one before it in its queue has ended; how long it takes, and at which
 * moment between its begin and its end its kernel reads and writes memory, are drawn when it is
 * enqueued.  Queues do not wait for each other, also where they share compute units: every order
 * that a device may have (runtime/device/device.h), and more.  Without bytes, each launch is
 * executed where it is enqueued, and takes no time.
 */
#ifndef TESTS_FUZZ_DRAWN_DEVICE_H
#define TESTS_FUZZ_DRAWN_DEVICE_H

#include "runtime/device/device.h"

/* Choices that bytes make, one by one; 0 when they have been used up. */
struct drawn {
    const uint8_t *bytes;
    size_t left;
};

static inline uint32_t drawn_below(struct drawn *drawn, uint32_t end)
{
    if (drawn->left == 0 || end == 0) return 0;
    drawn->left--;
    return *drawn->bytes++ % end;
}

/* Times of the launches from now on; it outlives the device. */
void drawn_device_follow(struct prt_device *device, struct drawn *drawn);

extern const struct prt_device_ops drawn_device;

#endif
