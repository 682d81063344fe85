/* SPDX-License-Identifier: MIT */
/*
 * bench CONTAINERS: the table of `make bench`, on standard output, and CONTAINERS/host.json.
 * bench --check CONTAINERS [DEVICE...]: compares bits only, of small inputs, and takes no time.
 *
 * CONTAINERS is the folder with the compiled pipelines; CONTAINERS/least has those whose latency is
 * measured, with the smallest buffers.  Environment: ROUNDS (default 5), ONLY (a
 * part of a workload's name, "programs" or "growth"), THREADS (1: no variant with two), PROFILE (ours, hand or unfused: runs that one again and
 * again for some seconds, with one thread, and nothing else: for perf).
 *
 * Each round runs every variant of a workload once, one after the other: what disturbs the machine
 * for a while disturbs them all.  A round's time is the best of a few repeats; times are medians
 * over the rounds, ratios are medians of the ratios within a round.  Exit status 1: an output has
 * not the bits of ours.
 */
#include "tests/bench/bench.h"
#include "tests/bench/bench_growth.h"
#include "tests/bench/bench_result.h"

#include <immintrin.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SAMPLE_SECONDS 0.08 /* a sample takes about so long: short variants are repeated */
#define LONG_SECONDS 1.5    /* longer ones are measured in the first round only */
#define QUIET_SECONDS 0.15  /* that a sample waits for others to be quiet */
#define FOREIGN_MAX 0.1     /* CPUs that others may use during a sample */
#define PATIENCE_SECONDS 3  /* with others, of a workload in all; after that they are endured */
#define TOLERANCE 1e-4      /* of peers with other arithmetic */
#define PROFILE_SECONDS 5

static const struct bench_workload *const workloads[] = {
    &bench_chain8,        &bench_chain1,       &bench_bank,      &bench_radio,
    &bench_radio_fast,    &bench_picture,      &bench_sums,      &bench_running,
    &bench_fourier,       &bench_bitonic,      &bench_chain64,   &bench_chain64_by_4096,
    &bench_chain64_by_64, &bench_chain64_by_1, &bench_loop,      &bench_loop1,
    &bench_cipher,        &bench_lattice,      &bench_correlate, &bench_fourier16,
    &bench_matrices,      &bench_round,        &bench_recursive};

enum { WORKLOADS = sizeof workloads / sizeof *workloads };

struct bench {
    const struct bench_workload *workload;
    struct bench_program *program;
    size_t units;
    struct bench_shape shape;
    uint8_t *in, *out;
    struct bench_result *result;
    double patience_seconds; /* left */
};

/* ---- running a variant ---- */

struct parts {
    const struct bench *bench;
    size_t ends[2];
};

static void hand_part(void *context, unsigned part, unsigned parts)
{
    struct parts *p = context;
    const struct bench *b = p->bench;
    p->ends[part] = b->workload->hand(b->units, b->in, b->out, part, parts);
}

/* The number of output bytes, if the variant counts them, else 0. */
static size_t run_variant(const struct bench *b, int variant)
{
    const struct bench_workload *w = b->workload;
    struct parts parts = {.bench = b};
    switch (variant) {
    case OURS_1:
    case OURS_2:
        return bench_run(b->program, NULL, variant == OURS_1 ? 1 : 2, w->batch, b->in,
                         b->shape.in_bytes, b->out, b->shape.out_bytes, NULL);
    case HAND_1: return w->hand(b->units, b->in, b->out, 0, 1);
    case HAND_2:
        bench_two_threads(hand_part, &parts);
        return parts.ends[0] > parts.ends[1] ? parts.ends[0] : parts.ends[1];
    case UNFUSED: w->unfused(b->units, b->in, b->out); return 0;
    default: b->result->peers[variant - FIRST_PEER]->run(); return 0;
    }
}

/* ---- what else the machine does ---- */

/* CPU seconds of everybody, or 0 where the system does not tell. */
static double busy_seconds(void)
{
    unsigned long long user = 0, nice = 0, system = 0, idle, wait, irq = 0, soft = 0, stolen = 0;
    FILE *file = fopen("/proc/stat", "r");
    if (file == NULL) return 0;
    int found = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
                       &idle, &wait, &irq, &soft, &stolen);
    fclose(file);
    double ticks = (double)(user + nice + system + irq + soft + stolen);
    return found == 8 ? ticks / (double)sysconf(_SC_CLK_TCK) : 0;
}

static double own_seconds(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

/* CPUs that other processes use. */
static double foreign_cpus(double busy, double own, double since)
{
    double used = busy_seconds() - busy - (own_seconds() - own);
    return used > 0 ? used / (bench_now() - since) : 0;
}

static void wait_until_quiet(struct bench *b)
{
    double begin = bench_now(), end = begin + QUIET_SECONDS;
    while (b->patience_seconds > 0 && bench_now() < end) {
        double busy = busy_seconds(), own = own_seconds(), since = bench_now();
        usleep(50000);
        if (foreign_cpus(busy, own, since) < FOREIGN_MAX) break;
    }
    b->patience_seconds -= bench_now() - begin;
}

/* ---- sampling ---- */

/* With one thread nothing waits, so the time is that of the processor; with two the wall's counts.
 */
static double clock_of(int variant)
{
    bool one = variant == OURS_1 || variant == HAND_1 || variant == UNFUSED;
    return one ? bench_processor_now() : bench_now();
}

static double sample_once(struct bench *b, int variant, int repeats, double *foreign)
{
    wait_until_quiet(b);
    double busy = busy_seconds(), own = own_seconds(), since = bench_now();
    double best = INFINITY;
    for (int i = 0; i == 0 || i < repeats; i++) {
        if (variant == HAND_2) bench_two_threads_ready();
        double begin = clock_of(variant);
        run_variant(b, variant);
        double seconds = clock_of(variant) - begin;
        if (seconds < best) best = seconds;
    }
    *foreign = foreign_cpus(busy, own, since);
    return best;
}

/* Once more if others were busy; the better one counts. */
static double sample(struct bench *b, int variant, int repeats)
{
    double foreign;
    double seconds = sample_once(b, variant, repeats, &foreign);
    if (foreign < FOREIGN_MAX || b->patience_seconds <= 0 || repeats == 0) return seconds;
    double second = sample_once(b, variant, repeats, &foreign);
    return second < seconds ? second : seconds;
}

/* ---- latency ---- */

static bool give_one(const struct bench *b, size_t *at, float *packet)
{
    size_t bytes = b->shape.in_bytes / b->shape.packets * b->workload->one_in;
    if (bytes > b->shape.in_bytes - *at) return false;
    size_t came = b->workload->one(b->in + *at, packet);
    *at += bytes;
    return came > 0;
}

/* Bytes that come out packet by packet. */
static size_t run_one_by_one(const struct bench *b)
{
    size_t at = 0, came = 0;
    float packet;
    b->workload->one(NULL, NULL);
    while (at < b->shape.in_bytes) {
        size_t before = at;
        if (give_one(b, &at, &packet)) {
            memcpy(b->out + came, &packet, sizeof packet);
            came += sizeof packet;
        }
        if (at == before) break;
    }
    return came;
}

/* Each packet waits until the one before it is out. */
static double hand_latency(const struct bench *b)
{
    enum { PACKETS = 20000 };
    size_t at = 0;
    float packet = 0;
    b->workload->one(NULL, NULL);
    while (!give_one(b, &at, &packet))
        continue;
    double begin = bench_processor_now();
    for (int i = 0; i < PACKETS; i++) {
        give_one(b, &at, &packet);
        _mm_lfence();
    }
    return (bench_processor_now() - begin) / PACKETS;
}

/* The pipeline with the smallest buffers, which collect nothing. */
static double our_latency(const struct bench *b, const char *containers)
{
    char path[4096];
    const struct bench_workload *w = b->workload;
    struct bench_shape shape = w->shape(w->check_units);
    snprintf(path, sizeof path, "%s/least/%s", containers, w->container);
    struct bench_program *program = bench_load(path);
    double seconds =
        bench_latency(program, w->one_in, b->in, shape.in_bytes, b->out, shape.out_bytes);
    bench_unload(program);
    return seconds;
}

/* ---- one workload ---- */

/* Gives what is to be compared with every other output. */
static uint8_t *expected(struct bench *b, const char *device, size_t *bytes)
{
    uint8_t *ours = bench_allocate(b->shape.out_bytes);
    *bytes = bench_run(b->program, device, 1, b->workload->batch, b->in, b->shape.in_bytes, ours,
                       b->shape.out_bytes, &b->result->counts);
    return ours;
}

/* With other arithmetic: the root of the mean square of the differences, by that of ours. */
static bool is_near(const float *ours, const float *theirs, size_t count)
{
    double differences = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = (double)theirs[i] - (double)ours[i];
        differences += difference * difference;
        all += (double)ours[i] * (double)ours[i];
    }
    return sqrt(differences) <= TOLERANCE * sqrt(all);
}

/* `variant` is what has written to b->out. */
static void compare(struct bench *b, int variant, const char *who, const uint8_t *ours,
                    size_t bytes, size_t came)
{
    const void *theirs = b->out;
    bool by_hand = variant == HAND_1 || variant == HAND_2 || variant == UNFUSED;
    bool right = by_hand && b->workload->near
                     ? is_near((const float *)(const void *)ours, theirs, bytes / sizeof(float))
                     : memcmp(ours, theirs, bytes) == 0;
    if (bytes == 0 || (came != 0 && came != bytes) || !right) b->result->wrong = who;
    memset(b->out, 0xff, b->shape.out_bytes);
}

static void begin_peers(struct bench *b)
{
    const struct bench_peer *peer = bench_peer_of(b->workload, NULL);
    struct bench_result *r = b->result;
    for (int i = 0; i < PEERS_MAX && peer != NULL; i++) {
        r->peers[i] = peer;
        r->absent[i] = peer->begin == NULL ? "latency only"
                                           : peer->begin(b->units, b->in, b->shape.in_bytes, b->out,
                                                         b->shape.out_bytes);
        r->has[FIRST_PEER + i] = r->absent[i] == NULL;
        peer = bench_peer_of(b->workload, peer);
    }
}

static void end_peer(struct bench *b, int number)
{
    const struct bench_peer *peer = b->result->peers[number];
    if (b->result->has[FIRST_PEER + number] && peer->end != NULL) peer->end();
}

static void end_peers(struct bench *b)
{
    for (int i = 0; i < PEERS_MAX && b->result->peers[i] != NULL; i++)
        end_peer(b, i);
}

static void measure_peer_latency(struct bench *b)
{
    struct bench_result *r = b->result;
    for (int i = 0; i < PEERS_MAX && r->peers[i] != NULL; i++)
        if (r->peers[i]->latency != NULL)
            r->latency_peers[i] =
                r->peers[i]->latency(b->in, b->shape.in_bytes, b->out, b->shape.out_bytes);
}

/* A peer that computes something else is not measured, and said so. */
static void compare_peer(struct bench *b, int number, const uint8_t *ours, size_t bytes)
{
    struct bench_result *r = b->result;
    bool right = r->peers[number]->same_bits
                     ? memcmp(ours, b->out, bytes) == 0
                     : is_near((const float *)(const void *)ours,
                               (const float *)(const void *)b->out, bytes / sizeof(float));
    memset(b->out, 0xff, b->shape.out_bytes);
    if (right) return;
    end_peer(b, number);
    r->has[FIRST_PEER + number] = false;
    r->absent[number] =
        r->peers[number]->same_bits ? "other bits than ours" : "far from what ours computes";
}

/* Runs every variant once, compares what comes out, and finds how often a sample repeats it; 0: one
 * run is all that is wanted. */
static void warm_up(struct bench *b, int *repeats)
{
    static const char *const names[] = {"ours", "ours with 2 threads", "hand-written",
                                        "hand-written with 2 threads", "unfused"};
    struct bench_result *r = b->result;
    size_t bytes;
    uint8_t *ours = expected(b, NULL, &bytes);
    memset(b->out, 0xff, b->shape.out_bytes);
    for (int v = 0; v < VARIANTS; v++) {
        if (!r->has[v]) continue;
        double begin = clock_of(v);
        size_t came = run_variant(b, v);
        double seconds = clock_of(v) - begin;
        repeats[v] = seconds > LONG_SECONDS ? 0 : (int)fmax(1, SAMPLE_SECONDS / seconds);
        if (v < FIRST_PEER)
            compare(b, v, names[v], ours, bytes, came);
        else
            compare_peer(b, v - FIRST_PEER, ours, bytes);
    }
    bench_free(ours, b->shape.out_bytes);
}

static void open_workload(struct bench *b, const char *containers, size_t units)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", containers, b->workload->container);
    b->units = units;
    b->shape = b->workload->shape(units);
    b->program = bench_load(path);
    b->in = bench_allocate(b->shape.in_bytes);
    b->out = bench_allocate(b->shape.out_bytes);
    b->workload->prepare(units, b->in);
    b->patience_seconds = PATIENCE_SECONDS;
    b->result->workload = b->workload;
}

static void close_workload(struct bench *b)
{
    bench_free(b->in, b->shape.in_bytes);
    bench_free(b->out, b->shape.out_bytes);
    bench_spare_free();
    bench_unload(b->program);
}

/* The variants besides peers. */
static void choose_variants(const struct bench_workload *workload, bool *has)
{
    const char *threads = getenv("THREADS");
    bool two = threads == NULL || strcmp(threads, "1") != 0;
    has[OURS_1] = has[HAND_1] = true;
    has[OURS_2] = two;
    has[HAND_2] = two && !workload->serial;
    has[UNFUSED] = workload->unfused != NULL;
}

static void measure(struct bench *b, const char *containers, int rounds)
{
    int repeats[VARIANTS];
    struct bench_result *result = b->result;
    open_workload(b, containers, b->workload->units);
    choose_variants(b->workload, result->has);
    if (result->has[OURS_2]) begin_peers(b);
    warm_up(b, repeats);
    result->rounds = rounds;
    for (int r = 0; r < rounds && result->wrong == NULL; r++) {
        bench_measure_limits(&result->limits);
        for (int v = 0; v < VARIANTS; v++)
            if (result->has[v])
                result->seconds[v][r] =
                    repeats[v] == 0 && r > 0 ? result->seconds[v][0] : sample(b, v, repeats[v]);
        if (b->workload->one == NULL) continue;
        result->latency_ours[r] = our_latency(b, containers);
        result->latency_hand[r] = hand_latency(b);
    }
    end_peers(b);
    if (result->wrong == NULL) measure_peer_latency(b);
    close_workload(b);
}

static void profile(struct bench *b, const char *containers, const char *name)
{
    int variant = strcmp(name, "hand") == 0      ? HAND_1
                  : strcmp(name, "unfused") == 0 ? UNFUSED
                                                 : OURS_1;
    open_workload(b, containers, b->workload->units);
    double begin = bench_now(), least = INFINITY;
    int runs = 0;
    for (; bench_now() < begin + PROFILE_SECONDS; runs++) {
        double since = bench_processor_now();
        run_variant(b, variant);
        least = fmin(least, bench_processor_now() - since);
    }
    fprintf(stderr, "bench: %s, %s: %d runs, the quickest took %.3f ms\n", b->workload->name, name,
            runs, least * 1e3);
    close_workload(b);
}

/* ---- comparison of bits ---- */

static void check_variant(struct bench *b, int variant, const char *who, const uint8_t *ours,
                          size_t bytes, size_t came)
{
    b->result->wrong = NULL;
    compare(b, variant, who, ours, bytes, came);
    printf("%s %s: %s\n", b->result->wrong == NULL ? "ok" : "not ok", b->workload->name, who);
}

/* Prints a line for each comparison; false: one failed. */
static bool check(struct bench *b, const char *containers, char **devices, int device_count)
{
    bool same = true;
    size_t bytes, other;
    open_workload(b, containers, b->workload->check_units);
    uint8_t *ours = expected(b, NULL, &bytes);
    memset(b->out, 0xff, b->shape.out_bytes);
    for (int v = OURS_2; v <= UNFUSED; v++) {
        static const char *const names[] = {"", "2 threads", "by hand", "by hand, 2 threads",
                                            "by hand, kernel by kernel"};
        if ((v == HAND_2 && b->workload->serial) || (v == UNFUSED && b->workload->unfused == NULL))
            continue;
        check_variant(b, v, names[v], ours, bytes, run_variant(b, v));
        same = same && b->result->wrong == NULL;
    }
    if (b->workload->one != NULL) {
        check_variant(b, HAND_1, "by hand, packet by packet", ours, bytes, run_one_by_one(b));
        same = same && b->result->wrong == NULL;
    }
    for (int d = 0; d < device_count; d++) {
        uint8_t *there = expected(b, devices[d], &other);
        memcpy(b->out, there, b->shape.out_bytes);
        check_variant(b, OURS_1, devices[d], ours, bytes, other);
        same = same && b->result->wrong == NULL;
        bench_free(there, b->shape.out_bytes);
    }
    bench_free(ours, b->shape.out_bytes);
    close_workload(b);
    return same;
}

/* ---- the whole ---- */

static bool is_wanted(const struct bench_workload *workload)
{
    const char *only = getenv("ONLY");
    if (only != NULL && strcmp(only, "programs") == 0) return workload->program;
    return only == NULL ? !workload->program : strstr(workload->name, only) != NULL;
}

static int check_all(const char *containers, char **devices, int device_count)
{
    static struct bench_result result;
    int status = 0;
    for (int i = 0; i < WORKLOADS; i++) {
        if (getenv("ONLY") != NULL && !is_wanted(workloads[i])) continue;
        struct bench b = {.workload = workloads[i], .result = &result};
        if (!check(&b, containers, devices, device_count)) status = 1;
    }
    return status;
}

static int measure_all(const char *containers, int rounds)
{
    static struct bench_result results[WORKLOADS];
    static struct bench_growth growth[GROWTH_MAX];
    const char *only = getenv("ONLY"), *profiled = getenv("PROFILE");
    double busy = busy_seconds(), own = own_seconds(), since = bench_now();
    size_t growth_count = 0, count = 0;
    int status = 0;
    if (profiled == NULL && (only == NULL || strcmp(only, "growth") == 0)) {
        fprintf(stderr, "bench: growth\n");
        growth_count = bench_measure_growth(containers, growth);
    }
    for (int i = 0; i < WORKLOADS; i++) {
        if (!is_wanted(workloads[i])) continue;
        struct bench b = {.workload = workloads[i], .result = &results[count]};
        fprintf(stderr, "bench: %s\n", workloads[i]->name);
        if (profiled != NULL) {
            profile(&b, containers, profiled);
            continue;
        }
        measure(&b, containers, rounds);
        if (results[count++].wrong != NULL) status = 1;
    }
    if (profiled != NULL) return 0;
    printf("rounds: %d, paired and interleaved; medians; %.0f s; others used %.2f CPUs meanwhile\n",
           rounds, bench_now() - since, foreign_cpus(busy, own, since));
    result_print(results, count, growth, growth_count);
    char path[4096];
    snprintf(path, sizeof path, "%s/host.json", containers);
    if (!result_write_json(path, results, count, growth, growth_count)) {
        perror(path);
        return 3;
    }
    return status;
}

int main(int argc, char **argv)
{
    const char *wanted = getenv("ROUNDS");
    int rounds = wanted != NULL ? atoi(wanted) : 5;
    if (argc >= 3 && strcmp(argv[1], "--check") == 0) return check_all(argv[2], argv + 3, argc - 3);
    if (argc != 2 || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr,
                "usage: [ROUNDS=1..%d] [ONLY=NAME] [PROFILE=ours|hand|unfused] bench CONTAINERS\n"
                "       [ONLY=NAME] bench --check CONTAINERS [DEVICE...]\n",
                ROUNDS_MAX);
        return 2;
    }
    return measure_all(argv[1], rounds);
}
