/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: bytes as a history of calls on a device and its sub-devices, each byte a choice.  After
 * every call the tree is what the model of reference counts says (tests/unit/subdevice_model.h).
 */
#include "tests/fuzz/fuzz.h"

#include "tests/unit/subdevice_model.h"

enum { STEPS_MAX = 200, STEPS_EXTRA = 4 };

struct bytes {
    const uint8_t *at;
    size_t left;
};

static uint32_t next_below(void *context, uint32_t end)
{
    struct bytes *bytes = context;
    if (bytes->left == 0) return 0;
    bytes->left--;
    return *bytes->at++ % end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    struct subdevice_counts counts = {0};
    struct subdevice_choices choices = {next_below, &bytes};
    size_t steps = size / 2 + STEPS_EXTRA;
    subdevice_model_run(&choices, steps < STEPS_MAX ? (int)steps : STEPS_MAX, &counts);
    return 0;
}
