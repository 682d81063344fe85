/* SPDX-License-Identifier: MIT */
/*
 * Graphs of many stages for the part "cores": block ciphers of 60, 200 and 500 stages (tests/bench/compile), a chain of 40
 * products of small matrices, three Fourier transforms of 11 stages each, and twelve independent chains of stages with state
 * (tests/bench/cores).  Only the number of threads matters here: there is no hand-written code.
 */
#include "tests/bench/bench.h"

#define UNIT ((size_t)12 << 10) /* packets, over all ports */

static struct bench_shape shape(size_t units)
{
    size_t packets = units * UNIT, bytes = packets * sizeof(uint32_t);
    return (struct bench_shape){packets, bytes, bytes, (double)packets};
}

static void prepare(size_t units, void *in)
{
    bench_noise(in, units * UNIT);
}

#define GRAPH_WORKLOAD                                                                             \
    .check_units = 1, .bound = BENCH_INTEGERS, .extra = true, .shape = shape, .prepare = prepare

const struct bench_workload bench_graph60 = {
    .name = "G60 cipher, 60 kernels", .container = "kernels60.pbc", .units = 400, GRAPH_WORKLOAD};

const struct bench_workload bench_graph200 = {
    .name = "G200 cipher with tables", .container = "boxes200.pbc", .units = 100, GRAPH_WORKLOAD};

const struct bench_workload bench_graph500 = {
    .name = "G500 cipher", .container = "cipher500.pbc", .units = 1600, GRAPH_WORKLOAD};

const struct bench_workload bench_products = {
    .name = "M40 products of 4 x 4", .container = "products.pbc", .units = 400, GRAPH_WORKLOAD};

const struct bench_workload bench_transforms = {
    .name = "F33 transforms of 64", .container = "transforms.pbc", .units = 400, GRAPH_WORKLOAD};

const struct bench_workload bench_chains12 = {
    .name = "S12 chains with state", .container = "chains.pbc", .units = 6000, GRAPH_WORKLOAD};
