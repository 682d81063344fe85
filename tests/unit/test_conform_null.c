/* SPDX-License-Identifier: MIT */
#include "runtime/backend/null/null.h"
#include "tests/conform/conform.h"

int main(void)
{
    return conform_main("conform_null", &prt_null_device);
}
