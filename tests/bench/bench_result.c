/* SPDX-License-Identifier: MIT */
/* The tables of `make bench`, and the same figures as JSON. */
#include "tests/bench/bench_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPEEDUP_GOAL 1.9 /* of two threads, where computing limits */

/* ---- figures ---- */

static int compare_doubles(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static double median(const double *values, int count)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

double result_median(const struct bench_result *result, int variant)
{
    return median(result->seconds[variant], result->rounds);
}

double result_ratio(const struct bench_result *result, int above, int below)
{
    double ratios[ROUNDS_MAX];
    for (int i = 0; i < result->rounds; i++)
        ratios[i] = result->seconds[above][i] / result->seconds[below][i];
    return median(ratios, result->rounds);
}

/* The minimum times of moving the data and of computing. */
static double move_seconds(const struct bench_result *r, int t)
{
    struct bench_shape shape = r->workload->shape(r->workload->units);
    return (double)(shape.in_bytes + shape.out_bytes) / r->limits.bytes[t];
}

static double compute_seconds(const struct bench_result *r, int t)
{
    double operations = r->workload->shape(r->workload->units).operations;
    switch (r->workload->bound) {
    case BENCH_SERIAL: return operations * r->limits.step_seconds;
    case BENCH_FLOATS: return operations / r->limits.float_operations[t];
    case BENCH_INTEGERS: break;
    }
    return operations / r->limits.integer_operations[t];
}

static double limit_seconds(const struct bench_result *r, int t)
{
    return fmax(move_seconds(r, t), compute_seconds(r, t));
}

/* The quickest peer that has our bits; NULL: there is none. */
static const struct bench_peer *best_peer(const struct bench_result *r, int *variant)
{
    const struct bench_peer *best = NULL;
    double least = INFINITY;
    for (int i = 0; i < PEERS_MAX && r->peers[i] != NULL; i++) {
        if (!r->has[FIRST_PEER + i] || !r->peers[i]->same_bits) continue;
        if (result_median(r, FIRST_PEER + i) >= least) continue;
        least = result_median(r, FIRST_PEER + i);
        best = r->peers[i];
        *variant = FIRST_PEER + i;
    }
    return best;
}

/* The hand-written code that ours with two threads is compared with. */
static int hand_2_of(const struct bench_result *r)
{
    return r->has[HAND_2] ? HAND_2 : HAND_1;
}

/* ---- goals ---- */

static bool misses_hand_1(const struct bench_result *r)
{
    return !r->workload->extra && result_ratio(r, OURS_1, HAND_1) > r->workload->goal;
}

static bool misses_hand_2(const struct bench_result *r)
{
    return !r->workload->extra && r->has[OURS_2] &&
           result_ratio(r, OURS_2, hand_2_of(r)) > r->workload->goal;
}

static bool misses_peer(const struct bench_result *r)
{
    int variant;
    return !r->workload->extra && best_peer(r, &variant) != NULL &&
           result_ratio(r, variant, OURS_2) < 1;
}

static bool misses_speedup(const struct bench_result *r)
{
    return !r->workload->extra && !r->workload->serial && r->has[OURS_2] &&
           compute_seconds(r, 0) > move_seconds(r, 0) &&
           result_ratio(r, OURS_1, OURS_2) < SPEEDUP_GOAL;
}

/* Of ours/h1; extra rows do not count. */
static double geometric_mean(const struct bench_result *results, size_t count)
{
    double sum = 0, rows = 0;
    for (size_t i = 0; i < count; i++)
        if (results[i].wrong == NULL && !results[i].workload->extra) {
            sum += log(result_ratio(&results[i], OURS_1, HAND_1));
            rows++;
        }
    return exp(sum / rows);
}

/* ---- the tables ---- */

static void print_time(double seconds, bool there)
{
    if (there)
        printf(" %8.2f", seconds * 1e3);
    else
        printf(" %8s", "-");
}

static void print_ratio(double ratio, bool there, bool missed)
{
    if (there)
        printf(" %7.2f%c", ratio, missed ? '!' : ' ');
    else
        printf(" %7s ", "-");
}

static void print_row(const struct bench_result *r)
{
    printf("%-30s", r->workload->name);
    if (r->wrong != NULL) {
        printf(" %s: other bits than ours\n", r->wrong);
        return;
    }
    for (int v = OURS_1; v <= UNFUSED; v++)
        print_time(r->has[v] ? result_median(r, v) : 0, r->has[v]);
    int variant;
    bool peer = best_peer(r, &variant) != NULL;
    print_time(peer ? result_median(r, variant) : 0, peer);
    print_time(limit_seconds(r, 0), true);
    bool two = r->has[OURS_2];
    print_time(limit_seconds(r, 1), two && !r->workload->serial);
    print_ratio(result_ratio(r, OURS_1, HAND_1), true, misses_hand_1(r));
    print_ratio(two ? result_ratio(r, OURS_2, hand_2_of(r)) : 0, two, misses_hand_2(r));
    print_ratio(peer ? result_ratio(r, variant, OURS_2) : 0, peer, misses_peer(r));
    print_ratio(two ? result_ratio(r, OURS_1, OURS_2) : 0, two, misses_speedup(r));
    putchar('\n');
}

static void print_peers(const struct bench_result *r)
{
    for (int i = 0; i < PEERS_MAX && r->peers[i] != NULL; i++) {
        const struct bench_peer *peer = r->peers[i];
        char name[64];
        if (peer->begin == NULL) continue;
        snprintf(name, sizeof name, "%s %s", peer->workload, peer->name);
        printf("%-46s", name);
        if (!r->has[FIRST_PEER + i]) {
            printf(" %s\n", r->absent[i]);
            continue;
        }
        double seconds = result_median(r, FIRST_PEER + i);
        print_time(seconds, true);
        printf(" %8.2f%s\n", result_ratio(r, FIRST_PEER + i, OURS_2),
               peer->same_bits ? "" : "  other arithmetic");
    }
}

static void print_schedule(const struct bench_result *r)
{
    if (r->wrong != NULL) return;
    double ours = result_median(r, OURS_1), all = (double)r->counts.dispatches;
    double packets = (double)r->workload->shape(r->workload->units).packets;
    printf("%-30s %7u %11.0f %9.0f %9.3f %11.0f\n", r->workload->name, r->counts.stages, all,
           (double)r->counts.firings / all, ours * 1e9 / packets, ours * 1e9 / all);
}

static void print_latency(const struct bench_result *r)
{
    if (r->wrong != NULL || r->workload->one == NULL) return;
    double ours = median(r->latency_ours, r->rounds), hand = median(r->latency_hand, r->rounds);
    printf("%-30s %8.3f %8.3f\n", r->workload->name, ours * 1e6, hand * 1e6);
}

static void print_peer_latency(const struct bench_result *r)
{
    for (int i = 0; i < PEERS_MAX && r->peers[i] != NULL; i++) {
        char name[64];
        if (r->latency_peers[i] == 0) continue;
        snprintf(name, sizeof name, "%s %s", r->peers[i]->workload, r->peers[i]->name);
        printf("%-30s %8.3f\n", name, r->latency_peers[i] * 1e6);
    }
}

static void print_limits(const struct bench_limits *l)
{
    printf("\nlimits, 1 and 2 threads: %.1f and %.1f GB/s (read and written), f32 %.0f and %.0f "
           "Gflop/s,\nu32 addition %.0f and %.0f G/s, an addition and a product in series %.2f "
           "ns\n",
           l->bytes[0] * 1e-9, l->bytes[1] * 1e-9, l->float_operations[0] * 1e-9,
           l->float_operations[1] * 1e-9, l->integer_operations[0] * 1e-9,
           l->integer_operations[1] * 1e-9, l->step_seconds * 1e9);
}

void result_print(const struct bench_result *results, size_t count,
                  const struct bench_growth *growth, size_t growth_count)
{
    printf("\n%-30s %8s %8s %8s %8s %8s %8s %8s %8s %7s  %7s  %7s  %7s\n", "milliseconds", "ours 1",
           "ours 2", "hand 1", "hand 2", "unfused", "peer", "limit 1", "limit 2", "ours/h1",
           "ours/h2", "peer/o2", "o1/o2");
    for (size_t i = 0; i < count; i++)
        print_row(&results[i]);
    if (count > 0) printf("geometric mean of ours/h1: %.2f\n", geometric_mean(results, count));
    printf("\n%-46s %8s %8s\n", "peers, 2 threads: milliseconds", "", "peer/o2");
    for (size_t i = 0; i < count; i++)
        print_peers(&results[i]);
    printf("\n%-30s %7s %11s %9s %9s %11s\n", "ours, 1 thread", "kernels", "dispatches",
           "firings/d", "ns/packet", "ns/dispatch");
    for (size_t i = 0; i < count; i++)
        print_schedule(&results[i]);
    printf("\n%-30s %8s %8s\n", "latency, microseconds", "ours", "hand");
    for (size_t i = 0; i < count; i++)
        print_latency(&results[i]);
    printf("\n%-30s %8s\n", "peers' latency, microseconds", "theirs");
    for (size_t i = 0; i < count; i++)
        print_peer_latency(&results[i]);
    if (growth_count > 0)
        printf("\n%-30s %7s %11s %9s %9s %11s\n", "W1 grows, 1 thread", "kernels", "packets", "ms",
               "ns/packet", "MiB at most");
    for (size_t i = 0; i < growth_count; i++)
        printf("%-30s %7u %11zu %9.2f %9.3f %11.1f\n", "", growth[i].kernels, growth[i].packets,
               growth[i].seconds * 1e3, growth[i].seconds * 1e9 / (double)growth[i].packets,
               growth[i].mebibytes);
    if (count > 0) print_limits(&results[count - 1].limits);
}

/* ---- JSON ---- */

static void write_seconds(FILE *file, const char *name, double seconds)
{
    fprintf(file, ", \"%s\": %.9g", name, seconds);
}

static void write_result(FILE *file, const struct bench_result *r)
{
    static const char *const names[] = {"ours_1", "ours_2", "hand_1", "hand_2", "unfused"};
    fprintf(file, "{\"name\": \"%s\", \"extra\": %s, \"same_bits\": %s", r->workload->name,
            r->workload->extra ? "true" : "false", r->wrong == NULL ? "true" : "false");
    if (r->wrong == NULL) {
        for (int v = OURS_1; v <= UNFUSED; v++)
            if (r->has[v]) write_seconds(file, names[v], result_median(r, v));
        write_seconds(file, "limit_1", limit_seconds(r, 0));
        write_seconds(file, "limit_2", limit_seconds(r, 1));
        write_seconds(file, "ours_to_hand_1", result_ratio(r, OURS_1, HAND_1));
        if (r->has[OURS_2]) {
            write_seconds(file, "ours_to_hand_2", result_ratio(r, OURS_2, hand_2_of(r)));
            write_seconds(file, "speedup", result_ratio(r, OURS_1, OURS_2));
        }
        fprintf(file, ", \"kernels\": %u, \"dispatches\": %llu", r->counts.stages,
                (unsigned long long)r->counts.dispatches);
        if (r->workload->one != NULL) {
            write_seconds(file, "latency_ours", median(r->latency_ours, r->rounds));
            write_seconds(file, "latency_hand", median(r->latency_hand, r->rounds));
        }
    }
    fprintf(file, ", \"peers\": [");
    for (int i = 0; i < PEERS_MAX && r->peers[i] != NULL; i++) {
        fprintf(file, "%s{\"name\": \"%s\", \"same_bits\": %s", i == 0 ? "" : ", ",
                r->peers[i]->name, r->peers[i]->same_bits ? "true" : "false");
        if (r->has[FIRST_PEER + i])
            write_seconds(file, "seconds", result_median(r, FIRST_PEER + i));
        if (r->latency_peers[i] != 0) write_seconds(file, "latency", r->latency_peers[i]);
        fprintf(file, "}");
    }
    fprintf(file, "]}");
}

static void write_limits(FILE *file, const struct bench_limits *l)
{
    fprintf(file,
            ",\n\"limits\": {\"bytes\": [%.6g, %.6g], \"float_operations\": [%.6g, %.6g], "
            "\"integer_operations\": [%.6g, %.6g], \"step_seconds\": %.6g}",
            l->bytes[0], l->bytes[1], l->float_operations[0], l->float_operations[1],
            l->integer_operations[0], l->integer_operations[1], l->step_seconds);
}

bool result_write_json(const char *path, const struct bench_result *results, size_t count,
                       const struct bench_growth *growth, size_t growth_count)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) return false;
    fprintf(file, "{\"unit\": \"seconds\",\n\"rows\": [");
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "%s\n", i == 0 ? "" : ",");
        write_result(file, &results[i]);
    }
    fprintf(file, "],\n\"growth\": [");
    for (size_t i = 0; i < growth_count; i++)
        fprintf(file,
                "%s\n{\"kernels\": %u, \"packets\": %zu, \"seconds\": %.9g, \"mebibytes\": %.6g}",
                i == 0 ? "" : ",", growth[i].kernels, growth[i].packets, growth[i].seconds,
                growth[i].mebibytes);
    fprintf(file, "]");
    if (count > 0) {
        write_limits(file, &results[count - 1].limits);
        fprintf(file, ",\n\"geometric_mean\": %.6g", geometric_mean(results, count));
    }
    fprintf(file, "}\n");
    return fclose(file) == 0;
}
