/* SPDX-License-Identifier: MIT */
/*
 * bench_index TILE LOOPS: the index generator against division, and what packed indices cost a
 * kernel on the host.  TILE and LOOPS are the shared objects of tile.pipe and loops.pipe.
 * Environment: ROUNDS (default 7).
 *
 * Each round runs the variants one after the other, each for the best of a few repeats; ratios are
 * medians of the ratios within a round.  Exit status 1: results differ.
 */
#include "tests/bench/bench.h"

#include "lang/index_format.h"
#include "lang/kernel_abi.h"
#include "model/index_generator.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MAX = 99, REPEATS = 5, ITEMS_MAX = 4096, LANES_MAX = 1024, ITEMS_TIMED = 1 << 20 };

static int rounds = 7;

static int compare_doubles(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static double median(double *values)
{
    qsort(values, (size_t)rounds, sizeof *values, compare_doubles);
    return values[rounds / 2];
}

/* ---- the generator against division ---- */

struct group {
    struct prt_index_configuration configuration;
    uint32_t first_warp[LANES_MAX];
    uint16_t made[ITEMS_MAX], divided[ITEMS_MAX];
};

static void prepare(struct group *g, uint32_t dx, uint32_t dy, uint32_t dz, uint32_t lanes)
{
    g->configuration =
        (struct prt_index_configuration){.key = {.extents = {dx, dy, dz}},
                                         .items = dx * dy * dz,
                                         .lanes = lanes,
                                         .step = {lanes % dx, lanes / dx % dy, lanes / dx / dy},
                                         .first_warp = g->first_warp};
    struct index_format format = index_format_of(g->configuration.key.extents);
    for (uint32_t n = 0; n < lanes && n < dx * dy * dz; n++)
        g->first_warp[n] = index_pack(&format, n % dx, n / dx % dy, n / dx / dy);
}

static void generate(struct group *g)
{
    prt_index_generate(&g->configuration, g->made);
}

/* The extents are no constants, as in a device that takes any group. */
static void divide(struct group *g)
{
    const uint32_t *d = g->configuration.key.extents;
    const struct index_format format = index_format_of(d);
    for (uint32_t n = 0; n < g->configuration.items; n++) {
        uint32_t row = n / d[0];
        g->divided[n] = (uint16_t)index_pack(&format, n % d[0], row % d[1], row / d[1]);
    }
}

static double time_of(void (*work)(struct group *), struct group *g)
{
    double best = INFINITY;
    uint32_t times = ITEMS_TIMED / g->configuration.items;
    for (int r = 0; r < REPEATS; r++) {
        double begin = bench_processor_now();
        for (uint32_t i = 0; i < times; i++)
            work(g);
        double seconds = bench_processor_now() - begin;
        if (seconds < best) best = seconds;
    }
    return best / times / g->configuration.items;
}

static bool print_group(uint32_t dx, uint32_t dy, uint32_t dz, uint32_t lanes)
{
    static struct group g;
    double divided[ROUNDS_MAX], made[ROUNDS_MAX], ratio[ROUNDS_MAX];
    prepare(&g, dx, dy, dz, lanes);
    for (int r = 0; r < rounds; r++) {
        divided[r] = time_of(divide, &g);
        made[r] = time_of(generate, &g);
        ratio[r] = divided[r] / made[r];
    }
    struct prt_index_operations operations = prt_index_operations(g.configuration.key.extents);
    char name[32];
    snprintf(name, sizeof name, "%ux%ux%u", dx, dy, dz);
    printf("%-12s %6u %10.2f %10.2f %8.1f %10u %10u\n", name, lanes, median(divided) * 1e9,
           median(made) * 1e9, median(ratio), operations.divisions, operations.logic);
    return memcmp(g.made, g.divided, g.configuration.items * sizeof *g.made) == 0;
}

/* ---- what the registers cost a kernel ---- */

enum { SIDE = 16, TILE = SIDE * SIDE, TILES = 512 };

struct tiles {
    float *in, *out;
    uint16_t registers[TILE];
};

static void run_tiles(struct tiles *t, kernel_entry entry)
{
    uint64_t produced = 0, completed = 0, most = 0;
    struct kernel_fault fault;
    static uint8_t block[64];
    const void *in = t->in;
    void *out = t->out;
    const struct kernel_batch batch = {.arguments = block,
                                       .tables = block,
                                       .state = block,
                                       .in = &in,
                                       .out = &out,
                                       .produced = &produced,
                                       .count = TILES,
                                       .completed = &completed,
                                       .most = &most,
                                       .indices = t->registers,
                                       .fault = &fault};
    if (entry(&batch) != KERNEL_OK) abort();
}

/* Items numbered x first; or in another order, that of their columns: the same items. */
static void number_items(struct tiles *t, bool by_columns)
{
    const uint32_t extents[] = {SIDE, SIDE, 1};
    const struct index_format format = index_format_of(extents);
    for (uint32_t n = 0; n < TILE; n++) {
        uint32_t low = n % SIDE, high = n / SIDE;
        t->registers[n] =
            (uint16_t)index_pack(&format, by_columns ? high : low, by_columns ? low : high, 0);
    }
}

static double time_tiles(struct tiles *t, kernel_entry entry)
{
    double best = INFINITY;
    for (int r = 0; r < REPEATS * 10; r++) {
        double begin = bench_processor_now();
        run_tiles(t, entry);
        double seconds = bench_processor_now() - begin;
        if (seconds < best) best = seconds;
    }
    return best;
}

static kernel_entry load_entry(const char *image)
{
    void *library = dlopen(image, RTLD_NOW | RTLD_LOCAL);
    union {
        void *object;
        kernel_entry entry;
    } found = {library != NULL ? dlsym(library, "pipe_k0_run") : NULL};
    if (found.object == NULL) {
        fprintf(stderr, "bench: %s\n", dlerror());
        exit(1);
    }
    return found.entry;
}

static bool print_tiles(const char *tile_image, const char *loops_image)
{
    const size_t bytes = sizeof(float) * TILE * TILES;
    kernel_entry tile = load_entry(tile_image), loops = load_entry(loops_image);
    struct tiles t = {.in = bench_allocate(bytes), .out = bench_allocate(bytes)};
    float *wanted = bench_allocate(bytes);
    double plain[ROUNDS_MAX], numbered[ROUNDS_MAX], any[ROUNDS_MAX];
    bool same = true;
    bench_noise(t.in, (size_t)TILE * TILES);
    for (int r = 0; r < rounds; r++) {
        plain[r] = time_tiles(&t, loops);
        memcpy(wanted, t.out, bytes);
        number_items(&t, false);
        numbered[r] = time_tiles(&t, tile) / plain[r];
        same &= memcmp(wanted, t.out, bytes) == 0;
        number_items(&t, true);
        any[r] = time_tiles(&t, tile) / plain[r];
        same &= memcmp(wanted, t.out, bytes) == 0;
    }
    printf("\na tile of 16x16 on the host: %.2f ns an item as plain loops; %.2f times that with "
           "work-items, numbered\nx first as they always are; %.2f times in another order, where "
           "every item is unpacked\n",
           median(plain) * 1e9 / ((double)TILE * TILES), median(numbered), median(any));
    bench_free(t.in, bytes);
    bench_free(t.out, bytes);
    bench_free(wanted, bytes);
    return same;
}

int main(int argc, char **argv)
{
    static const uint32_t groups[][4] = {{64, 1, 1, 8},   {8, 8, 1, 8},   {16, 16, 1, 8},
                                         {16, 16, 1, 32}, {99, 4, 1, 32}, {8, 8, 8, 32},
                                         {7, 5, 3, 8},    {13, 11, 7, 64}};
    const char *wanted = getenv("ROUNDS");
    if (wanted != NULL) rounds = atoi(wanted);
    if (argc != 3 || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: [ROUNDS=1..%d] bench_index TILE LOOPS\n", ROUNDS_MAX);
        return 2;
    }
    bool same = true;
    printf("rounds: %d, paired and interleaved; medians; one thread of the host\n\n", rounds);
    printf("%-12s %6s %10s %10s %8s %10s %10s\n", "group", "lanes", "divided", "iterated", "ratio",
           "divisions", "shifts");
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        same &= print_group(groups[i][0], groups[i][1], groups[i][2], groups[i][3]);
    same &= print_tiles(argv[1], argv[2]);
    if (!same) puts("results differ");
    return same ? 0 : 1;
}
