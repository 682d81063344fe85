/* SPDX-License-Identifier: MIT */
#include "tests/reference/clock_draw.h"

#include <stddef.h>

enum { THRESHOLD_MOST = 16 };

long clock_number(struct clock_random *random, long low, long high)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return low + (long)((random->state >> 33) % (uint64_t)(high - low + 1));
}

static int add_buffer(struct clock_pipeline *p, struct clock_random *random, long least)
{
    p->buffers[p->buffer_count] =
        (struct clock_buffer){.depth = least * clock_number(random, 1, 12),
                              .width_bytes = 4 * clock_number(random, 1, 40)};
    return p->buffer_count++;
}

static struct clock_stage *add_stage(struct clock_pipeline *p, struct clock_random *random,
                                     long lanes)
{
    struct clock_stage *stage = &p->stages[p->stage_count++];
    *stage = (struct clock_stage){.state = clock_number(random, 0, 4) == 0,
                                  .warp_cycles =
                                      clock_number(random, 0, 3) * clock_number(random, 0, 120)};
    stage->counted = clock_number(random, 0, 1) == 1;
    stage->warp_firings = stage->state ? 1 : clock_number(random, 1, lanes);
    if (stage->counted && stage->warp_firings > 1)
        stage->warp_firings = lanes >= 8 && clock_number(random, 0, 1) ? 8 : 3;
    return stage;
}

static void connect(struct clock_stage *writer, long push, int buffer, long pop,
                    struct clock_stage *reader)
{
    if (writer != NULL) {
        writer->pushes[writer->output_count] = push;
        writer->outputs[writer->output_count++] = buffer;
    }
    if (reader != NULL) {
        reader->pops[reader->input_count] = pop;
        reader->inputs[reader->input_count++] = buffer;
    }
}

/* x -> stage -> .. -> y, each with rates of its own. */
static void draw_chain(struct clock_pipeline *p, struct clock_random *random, long lanes)
{
    int stages = (int)clock_number(random, 1, 4);
    struct clock_stage *before = NULL;
    for (int i = 0; i <= stages; i++) {
        long push = clock_number(random, 1, 3), pop = clock_number(random, 1, 3);
        int buffer = add_buffer(p, random, push + pop);
        struct clock_stage *reader = i < stages ? add_stage(p, random, lanes) : NULL;
        p->buffers[buffer].in_port = i == 0;
        p->buffers[buffer].out_port = i == stages;
        connect(before, push, buffer, pop, reader);
        before = reader;
    }
}

/* x -> fork -> two branches, one of which may be a stage -> join -> y, all rates 1. */
static void draw_join(struct clock_pipeline *p, struct clock_random *random, long lanes)
{
    struct clock_stage *fork = add_stage(p, random, lanes), *join = add_stage(p, random, lanes);
    int x = add_buffer(p, random, 1), y = add_buffer(p, random, 1);
    p->buffers[x].in_port = p->buffers[y].out_port = true;
    connect(NULL, 0, x, 1, fork);
    for (int i = 0; i < 2; i++) {
        struct clock_stage *middle =
            clock_number(random, 0, 1) ? add_stage(p, random, lanes) : NULL;
        connect(fork, 1, add_buffer(p, random, 1), 1, middle != NULL ? middle : join);
        if (middle != NULL) connect(middle, 1, add_buffer(p, random, 1), 1, join);
    }
    connect(join, 1, y, 0, NULL);
}

/* The largest batch that the depths admit, or less, and a threshold that it reaches. */
static void draw_batches(struct clock_pipeline *p, struct clock_random *random)
{
    for (int s = 0; s < p->stage_count; s++) {
        struct clock_stage *stage = &p->stages[s];
        long most = clock_number(random, 1, 200);
        for (int i = 0; i < stage->input_count; i++) {
            long fits = p->buffers[stage->inputs[i]].depth / stage->pops[i];
            if (fits < most) most = fits;
        }
        for (int i = 0; i < stage->output_count; i++) {
            long fits = p->buffers[stage->outputs[i]].depth / stage->pushes[i];
            if (fits < most) most = fits;
        }
        stage->batch_max = most;
        stage->threshold = clock_number(random, 1, most < THRESHOLD_MOST ? most : THRESHOLD_MOST);
    }
}

void clock_draw(struct clock_pipeline *p, struct clock_random *random,
                const struct clock_device *device, bool side_by_side)
{
    *p = (struct clock_pipeline){.cus = device->cus,
                                 .cores = device->cores,
                                 .bytes_per_cycle = device->bytes_per_cycle,
                                 .latency = device->latency,
                                 .in_flight = device->in_flight,
                                 .cache_bytes = device->cache_bytes,
                                 .cache_cus = device->cache_cus,
                                 .cache_bytes_per_cycle = device->cache_bytes_per_cycle,
                                 .held = device->held,
                                 .residence = device->residence,
                                 .between = device->between,
                                 .overlap = device->overlap,
                                 .shared = device->shared,
                                 .enqueue = device->enqueue,
                                 .process = device->process,
                                 .cleanup = device->cleanup,
                                 .ahead = device->ahead,
                                 .change = device->change,
                                 .packets = clock_number(random, 0, 500)};
    if (clock_number(random, 0, 2) == 0)
        draw_join(p, random, device->lanes);
    else
        draw_chain(p, random, device->lanes);
    draw_batches(p, random);
    p->queue_count = side_by_side ? p->stage_count : 1;
    p->prologue = side_by_side ? p->stage_count + 1 : p->stage_count;
    for (int i = 0; i < p->queue_count; i++) {
        p->queue_first[i] = side_by_side ? i : 0;
        p->queue_cus[i] = side_by_side ? 1 : p->cus;
    }
    for (int s = 0; s < p->stage_count; s++)
        p->stages[s].queue = side_by_side ? s : 0;
}
