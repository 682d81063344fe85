/* SPDX-License-Identifier: MIT */
/*
 * anomalies: looks for pipelines that take longer on a device that is better in one figure
 * (lang/time.md, "What is a theorem, and what is not"), and prints how many there are, how bad the
 * worst is, and the smallest.
 *
 *     anomalies [PIPELINES [SEED]]
 *
 * Times are the oracle's (tests/reference/clockwork.h), with which the runtime agrees to the cycle
 * (tests/reference/test_time.c): so many can be tried.  Exit status 1: an anomaly
 * where there can be none, of a single stage.
 */
#include "tests/reference/clock_draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_PIPELINES = 5000, CUS = 4, LANES = 4, BYTES = 64, LAUNCH = 80, CHANGE = 10 };

/* ---- what can be better ---- */

static void more_compute_units(struct clock_pipeline *p)
{
    p->cus *= 2;
    for (int i = 0; i < p->queue_count; i++)
        p->queue_cus[i] *= 2;
}

static void more_bandwidth(struct clock_pipeline *p)
{
    p->bytes_per_cycle *= 2;
}

static void cheaper_launches(struct clock_pipeline *p)
{
    p->enqueue /= 2;
    p->process /= 2;
    p->cleanup /= 2;
}

static void cheaper_switches(struct clock_pipeline *p)
{
    p->change = 0;
}

static void cheaper_first_stage(struct clock_pipeline *p)
{
    if (!p->stages[0].counted) p->stages[0].warp_cycles /= 2;
}

static void cheaper_last_stage(struct clock_pipeline *p)
{
    struct clock_stage *last = &p->stages[p->stage_count - 1];
    if (!last->counted) last->warp_cycles /= 2;
}

static void deeper_buffers(struct clock_pipeline *p)
{
    for (int i = 0; i < p->buffer_count; i++)
        p->buffers[i].depth *= 2;
}

/* `alone`: even a pipeline of one stage may take longer. */
static const struct better {
    const char *what;
    void (*improve)(struct clock_pipeline *p);
    bool alone;
} BETTER[] = {
    {"twice the compute units", more_compute_units, false},
    {"twice the bandwidth", more_bandwidth, false},
    {"launches at half the cost", cheaper_launches, false},
    {"switches at no cost", cheaper_switches, false},
    {"first stage at half the cost", cheaper_first_stage, false},
    {"last stage at half the cost", cheaper_last_stage, false},
    {"buffers twice as deep", deeper_buffers, true},
};
enum { BETTER_COUNT = sizeof BETTER / sizeof BETTER[0] };

struct found {
    long slower;
    double worst; /* ratio of the times */
    bool there;
    struct clock_pipeline smallest;
    long before, after; /* cycles of it */
};

/* ---- looking ---- */

static bool is_smaller(const struct clock_pipeline *a, const struct clock_pipeline *b)
{
    if (a->stage_count != b->stage_count) return a->stage_count < b->stage_count;
    return a->packets < b->packets;
}

static bool compare(const struct clock_pipeline *p, const struct better *better,
                    struct found *found)
{
    struct clock_pipeline improved = *p;
    better->improve(&improved);
    long before = clock_run(p).total, after = clock_run(&improved).total;
    if (after <= before) return true;
    double ratio = (double)after / (double)before;
    found->slower++;
    if (ratio > found->worst) found->worst = ratio;
    if (!found->there || is_smaller(p, &found->smallest)) {
        found->there = true;
        found->smallest = *p;
        found->before = before;
        found->after = after;
    }
    return p->stage_count > 1 || better->alone;
}

/* ---- printing ---- */

static void print_ends(const struct clock_pipeline *p, int count, const int *buffers,
                       const long *rates)
{
    for (int i = 0; i < count; i++) {
        const struct clock_buffer *b = &p->buffers[buffers[i]];
        char outer = b->in_port ? 'x' : 'y', inner = (char)('a' + buffers[i]);
        printf("%s%ld of %c", i > 0 ? ", " : "", rates[i],
               b->in_port || b->out_port ? outer : inner);
    }
}

static void print_pipeline(const struct clock_pipeline *p)
{
    printf("    %ld packets at x; %s; buffers of", p->packets,
           p->queue_count > 1 ? "each stage on compute units of its own"
                              : "all stages on the whole device");
    for (int i = 0; i < p->buffer_count; i++)
        printf(" %ld x %ld B", p->buffers[i].depth, p->buffers[i].width_bytes);
    printf("\n");
    for (int s = 0; s < p->stage_count; s++) {
        const struct clock_stage *stage = &p->stages[s];
        printf("    stage %d: ", s);
        print_ends(p, stage->input_count, stage->inputs, stage->pops);
        printf(" -> ");
        print_ends(p, stage->output_count, stage->outputs, stage->pushes);
        if (stage->counted)
            printf("; cost counted");
        else
            printf("; cost %ld", stage->warp_cycles);
        if (stage->state)
            printf(", state");
        else
            printf(", %ld firings a warp", stage->warp_firings);
        printf("; threshold %ld, batch %ld\n", stage->threshold, stage->batch_max);
    }
}

static void report(const struct found *found, long pipelines)
{
    printf("%-30s %10s %8s %8s\n", "better", "pipelines", "slower", "worst");
    for (int i = 0; i < BETTER_COUNT; i++)
        printf("%-30s %10ld %8ld %7.2fx\n", BETTER[i].what, pipelines, found[i].slower,
               found[i].there ? found[i].worst : 1.0);
    for (int i = 0; i < BETTER_COUNT; i++) {
        if (!found[i].there) continue;
        printf("\n%s: %ld cycles become %ld, of %d stages:\n", BETTER[i].what, found[i].before,
               found[i].after, found[i].smallest.stage_count);
        print_pipeline(&found[i].smallest);
    }
}

int main(int argc, char **argv)
{
    long pipelines = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_PIPELINES;
    struct clock_random random = {argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    static struct found found[BETTER_COUNT];
    bool lawful = true;
    for (long n = 0; n < pipelines; n++) {
        const struct clock_device device = {.cus = CUS,
                                            .cores = 1,
                                            .lanes = LANES,
                                            .bytes_per_cycle = BYTES,
                                            .enqueue = LAUNCH / 4,
                                            .process = LAUNCH / 2,
                                            .cleanup = LAUNCH / 4,
                                            .change = CHANGE};
        struct clock_pipeline p;
        clock_draw(&p, &random, &device, clock_number(&random, 0, 1) == 1);
        for (int i = 0; i < BETTER_COUNT; i++)
            lawful = compare(&p, &BETTER[i], &found[i]) && lawful;
    }
    report(found, pipelines);
    if (!lawful) printf("\na pipeline of one stage takes longer: that cannot be\n");
    return lawful ? 0 : 1;
}
