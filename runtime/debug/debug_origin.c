/* SPDX-License-Identifier: MIT */
/* The origin of packets: a record for each of the latest packets of a buffer. */
#include "runtime/debug/debug_internal.h"
#include "runtime/debug/debug_origin.h"
#include "runtime/sched/provenance.h"

#include <stdlib.h>

enum { RECORDS_MAX = 1 << 16 }; /* of a buffer */

struct history {
    struct debug_written *records; /* of packet n at n modulo `count` */
    uint64_t *packets;             /* number of that packet and 1; 0: none yet */
    uint64_t count;
};

struct debug_origins {
    struct history *histories; /* by buffer */
    uint32_t buffer_count;
};

static bool open_history(struct history *h, const struct core_fifo *fifo)
{
    uint64_t packets = fifo->ring_bytes / fifo->width_bytes;
    h->count = packets < RECORDS_MAX ? packets : RECORDS_MAX;
    h->records = calloc((size_t)h->count, sizeof *h->records);
    h->packets = calloc((size_t)h->count, sizeof *h->packets);
    return h->records != NULL && h->packets != NULL;
}

void prt_debugger_origins_free(struct debug_origins *o)
{
    if (o == NULL) return;
    for (uint32_t i = 0; o->histories != NULL && i < o->buffer_count; i++) {
        free(o->histories[i].records);
        free(o->histories[i].packets);
    }
    free(o->histories);
    free(o);
}

static bool fill_origins(struct debug_origins *o, const struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    o->histories = calloc((size_t)c->buffer_count + 1, sizeof *o->histories);
    if (o->histories == NULL) return false;
    o->buffer_count = c->buffer_count;
    for (uint32_t i = 0; i < c->buffer_count; i++)
        if (!open_history(&o->histories[i], s->buffers[i].fifo)) return false;
    return true;
}

struct debug_origins *prt_debugger_origins_create(const struct prt_sched *sched)
{
    struct debug_origins *o = calloc(1, sizeof *o);
    if (o == NULL || !fill_origins(o, sched)) {
        prt_debugger_origins_free(o);
        return NULL;
    }
    return o;
}

void prt_debugger_origins_behind(struct debug_origins *o, const struct prt_debugger *d)
{
    const struct core_stage *stage = &d->sched->stages[d->last.stage];
    for (uint32_t i = 0; i < stage->output_count; i++) {
        uint32_t index = stage->first_output + i;
        const struct prt_buffer *buffer =
            prt_output_buffer(d->sched, core_output(d->sched->core, stage, i));
        uint32_t number = (uint32_t)(buffer - d->sched->buffers);
        struct history *h = &o->histories[number];
        for (uint64_t n = d->given_from[index]; n < buffer->fifo->written_packets; n++) {
            uint32_t origin = prt_origin_of(d->sched, number, n);
            h->records[n % h->count] = (struct debug_written){d->last, origin};
            h->packets[n % h->count] = n + 1;
        }
    }
}

const struct debug_written *prt_debugger_origin_of(const struct prt_debugger *d, uint32_t buffer,
                                                   uint64_t packet)
{
    const struct history *h = &d->origins->histories[buffer];
    return h->packets[packet % h->count] == packet + 1 ? &h->records[packet % h->count] : NULL;
}
