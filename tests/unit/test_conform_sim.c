/* SPDX-License-Identifier: MIT */
#include "runtime/backend/sim/sim.h"
#include "tests/conform/conform.h"

int main(void)
{
    return conform_main("conform_sim", &prt_sim_device);
}
