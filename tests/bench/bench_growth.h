/* SPDX-License-Identifier: MIT */
/* bench_growth: how W1 grows with its kernels and packets. */
#ifndef TESTS_BENCH_BENCH_GROWTH_H
#define TESTS_BENCH_BENCH_GROWTH_H

#include "tests/bench/bench_result.h"

/* Fills `growth`, GROWTH_MAX of them at most, from CONTAINERS/growthN.pbc; gives how many.  Before
 * anything else allocates: a child's memory begins with its parent's.  Ends the program with a
 * message where something fails. */
size_t bench_measure_growth(const char *containers, struct bench_growth *growth);

#endif
