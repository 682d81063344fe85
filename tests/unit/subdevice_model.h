/* SPDX-License-Identifier: MIT */
/*
 * subdevice_model: sub-devices (model/subdevice.h) against a little model that shares nothing
 * with them: CU sets are sets, domains are found CU by CU, what is alive is found by asking every
 * device.
 */
#ifndef TESTS_SUBDEVICE_MODEL_H
#define TESTS_SUBDEVICE_MODEL_H

#include <stdint.h>

/* Where the choices of a history come from. */
struct subdevice_choices {
    uint32_t (*below)(void *context, uint32_t end); /* a number from 0 to end - 1 */
    void *context;
};

struct subdevice_counts {
    unsigned made, refused; /* partitions */
};

/* Makes a tree and so many calls (partitions, retains, releases, attachments), then gives everything
 * back in any order.  After every call both sides are the same, or the program ends (abort) with
 * what differs.  Adds to `*counts`. */
void subdevice_model_run(const struct subdevice_choices *choices, int steps,
                         struct subdevice_counts *counts);

#endif
