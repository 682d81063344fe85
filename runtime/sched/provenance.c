/* SPDX-License-Identifier: MIT */
#include "runtime/sched/provenance.h"

#include <stdlib.h>
#include <string.h>

struct kept {         /* origins of the packets of one buffer */
    uint32_t *ring;   /* packet n is at n modulo the depth */
    uint32_t *window; /* of the firing that executes */
    uint64_t begin;   /* number of its first packet */
};

struct prt_origins {
    struct kept *buffers;
    uint32_t buffer_count;
    uint32_t **windows; /* by output of the container */
};

static bool allocate_rings(struct prt_origins *o, const struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    o->buffer_count = c->buffer_count;
    o->buffers = calloc((size_t)c->buffer_count + 1, sizeof *o->buffers);
    o->windows = calloc((size_t)c->output_count + 1, sizeof *o->windows);
    if (o->buffers == NULL || o->windows == NULL) return false;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        const struct container_buffer *record = &c->buffers[i];
        if (record->writer_output == CONTAINER_NONE) continue;
        o->buffers[i].ring = calloc((size_t)record->depth_packets, sizeof *o->buffers[i].ring);
        o->buffers[i].window = calloc((size_t)record->depth_packets, sizeof *o->buffers[i].window);
        o->windows[record->writer_output] = o->buffers[i].window;
        if (o->buffers[i].ring == NULL || o->buffers[i].window == NULL) return false;
    }
    return true;
}

enum prt_status prt_origins_create(struct prt_sched *s, struct prt_error *error)
{
    const struct prt_container *c = s->container;
    struct prt_origins *o = calloc(1, sizeof *o);
    if (o == NULL || !allocate_rings(o, s)) {
        prt_origins_destroy(o);
        return prt_error_set(error, PRT_E_NOMEM, "out of memory for the origins of packets");
    }
    for (uint32_t i = 0; i < 2 * c->stage_count; i++)
        s->objects[i].origins = o->windows + s->stages[i % c->stage_count].first_output;
    s->origins = o;
    return PRT_OK;
}

void prt_origins_destroy(struct prt_origins *o)
{
    if (o == NULL) return;
    for (uint32_t i = 0; o->buffers != NULL && i < o->buffer_count; i++) {
        free(o->buffers[i].ring);
        free(o->buffers[i].window);
    }
    free(o->buffers);
    free(o->windows);
    free(o);
}

static struct kept *kept_of(struct prt_sched *s, const struct core_output *output)
{
    return &s->origins->buffers[prt_output_buffer(s, output) - s->buffers];
}

void prt_origins_open(struct prt_sched *s, const struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(s->core, stage, i);
        struct kept *kept = kept_of(s, output);
        kept->begin = prt_output_buffer(s, output)->fifo->written_packets;
        memset(kept->window, 0,
               (size_t)prt_output_buffer(s, output)->fifo->depth_packets * sizeof *kept->window);
    }
}

void prt_origins_keep(struct prt_sched *s, const struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_fifo *fifo = prt_output_buffer(s, core_output(s->core, stage, i))->fifo;
        struct kept *kept = kept_of(s, core_output(s->core, stage, i));
        for (uint64_t n = kept->begin; n < fifo->written_packets; n++)
            kept->ring[n % fifo->depth_packets] = kept->window[n - kept->begin];
    }
}

uint32_t prt_origin_of(const struct prt_sched *s, uint32_t buffer, uint64_t packet)
{
    const struct core_fifo *fifo = s->buffers[buffer].fifo;
    if (s->origins == NULL || s->origins->buffers[buffer].ring == NULL) return 0;
    if (packet >= fifo->written_packets || fifo->written_packets - packet > fifo->depth_packets)
        return 0;
    return s->origins->buffers[buffer].ring[packet % fifo->depth_packets];
}
