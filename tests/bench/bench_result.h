/* SPDX-License-Identifier: MIT */
/* bench_result: what was measured, and how it is shown. */
#ifndef TESTS_BENCH_BENCH_RESULT_H
#define TESTS_BENCH_BENCH_RESULT_H

#include "tests/bench/bench.h"

enum { ROUNDS_MAX = 99, PEERS_MAX = 12, GROWTH_MAX = 20 };

enum bench_variant {
    OURS_1,
    OURS_2,
    HAND_1,
    HAND_2,
    UNFUSED,
    FIRST_PEER,
    VARIANTS = FIRST_PEER + PEERS_MAX
};

struct bench_result {
    const struct bench_workload *workload;
    const struct bench_peer *peers[PEERS_MAX]; /* up to NULL */
    const char *absent[PEERS_MAX];             /* why a peer is not measured; NULL: it is */
    bool has[VARIANTS];
    double seconds[VARIANTS][ROUNDS_MAX];
    int rounds;
    struct bench_limits limits;
    struct bench_counts counts;
    const char *wrong; /* the variant, ours or the hand-written, whose bits differ; NULL: none */
    double latency_ours[ROUNDS_MAX], latency_hand[ROUNDS_MAX]; /* where the workload has `one` */
    double latency_peers[PEERS_MAX];                           /* 0: it has none */
};

/* W1 with other numbers of kernels or packets. */
struct bench_growth {
    unsigned kernels;
    size_t packets;
    double seconds;
    double mebibytes; /* maximum at one time */
};

double result_median(const struct bench_result *result, int variant);
/* Of the ratios within a round. */
double result_ratio(const struct bench_result *result, int above, int below);

/* Everything, on standard output. */
void result_print(const struct bench_result *results, size_t count,
                  const struct bench_growth *growth, size_t growth_count);
/* The same as JSON; false: the file could not be written. */
bool result_write_json(const char *path, const struct bench_result *results, size_t count,
                       const struct bench_growth *growth, size_t growth_count);

#endif
