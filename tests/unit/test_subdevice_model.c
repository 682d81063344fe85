/* SPDX-License-Identifier: MIT */
/* Random histories of sub-devices are those of the model (subdevice_model.h): trees are partitioned,
 * retained, released, attached and detached in random order. */
#include "tests/test.h"

#include "tests/unit/subdevice_model.h"

enum { ROUNDS = 800, STEPS = 80 };

static uint32_t random_below(void *context, uint32_t end)
{
    uint64_t *seed = context;
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*seed >> 33) % end);
}

static void random_histories_are_those_of_the_model(void **state)
{
    (void)state;
    uint64_t seed = 5;
    struct subdevice_counts counts = {0};
    struct subdevice_choices choices = {random_below, &seed};
    for (int round = 0; round < ROUNDS; round++)
        subdevice_model_run(&choices, STEPS, &counts);
    print_message("%u partitions, %u refusals\n", counts.made, counts.refused);
    assert_true(counts.made > 1500 && counts.refused > 1500);
}

TEST_MAIN("subdevice_model", cmocka_unit_test(random_histories_are_those_of_the_model))
