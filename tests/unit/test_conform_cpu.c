/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cpu/cpu.h"
#include "tests/conform/conform.h"

int main(void)
{
    return conform_main("conform_cpu", &prt_cpu_device);
}
