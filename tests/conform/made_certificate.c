/* SPDX-License-Identifier: MIT */
#include "tests/conform/made_certificate.h"

#include "runtime/verify/verify_certificate.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 2 * MADE_MAX, FIRINGS_MAX = 6000 };

/* One block: channels are those of the whole, vertices too. */
struct rounds {
    const struct prt_channels *channels;
    uint32_t block;
    uint32_t vertices[KEYS_MAX], vertex_count;
    uint64_t terminals[KEYS_MAX];
    int64_t levels[KEYS_MAX];
    uint32_t phases[KEYS_MAX];
    uint64_t fired[FIRINGS_MAX]; /* symbols */
    uint32_t fired_count;
};

static bool is_in(const struct rounds *r, const struct prt_channel *channel)
{
    return channel->present && channel->block == r->block;
}

static uint64_t of_phase(const uint64_t *list, uint64_t one, uint32_t phase)
{
    return list != NULL ? list[phase] : one;
}

static bool is_ready(const struct rounds *r, uint32_t vertex)
{
    for (uint32_t i = 0; i < r->channels->container->reader_count; i++) {
        const struct prt_channel *channel = &r->channels->items[i];
        if (!is_in(r, channel)) continue;
        if (channel->to == vertex &&
            r->levels[i] < (int64_t)of_phase(channel->peeks, channel->peek, r->phases[vertex]))
            return false;
        if (channel->from == vertex &&
            r->levels[i] + (int64_t)of_phase(channel->pushes, channel->push, r->phases[vertex]) >
                (int64_t)channel->room)
            return false;
    }
    return true;
}

static void fire(struct rounds *r, uint32_t place)
{
    uint32_t vertex = r->vertices[place], phase = r->phases[vertex];
    for (uint32_t i = 0; i < r->channels->container->reader_count; i++) {
        const struct prt_channel *channel = &r->channels->items[i];
        if (!is_in(r, channel)) continue;
        if (channel->to == vertex)
            r->levels[i] -= (int64_t)of_phase(channel->pops, channel->pop, phase);
        if (channel->from == vertex)
            r->levels[i] += (int64_t)of_phase(channel->pushes, channel->push, phase);
    }
    r->fired[r->fired_count++] = r->terminals[place] + phase;
    r->phases[vertex] = (phase + 1) % prt_vertex_phases(r->channels, vertex);
}

static int compare(const void *a, const void *b)
{
    return (*(const uint32_t *)a > *(const uint32_t *)b) -
           (*(const uint32_t *)a < *(const uint32_t *)b);
}

static void begin(struct rounds *r)
{
    for (uint32_t i = 0; i < r->channels->container->reader_count; i++) {
        const struct prt_channel *channel = &r->channels->items[i];
        if (!is_in(r, channel)) continue;
        r->levels[i] = channel->initial;
        uint32_t ends[2] = {channel->from, channel->to};
        for (int e = 0; e < 2; e++) {
            uint32_t k = 0;
            while (k < r->vertex_count && r->vertices[k] != ends[e])
                k++;
            if (k == r->vertex_count) r->vertices[r->vertex_count++] = ends[e];
        }
    }
    qsort(r->vertices, r->vertex_count, sizeof r->vertices[0], compare);
    for (uint32_t i = 0, next = 0; i < r->vertex_count; i++) {
        r->terminals[i] = next;
        next += prt_vertex_phases(r->channels, r->vertices[i]);
    }
}

/* Firings before the period, or UINT32_MAX.  States are kept at doubling distances (Brent). */
static uint32_t find_period(struct rounds *r)
{
    int64_t levels[KEYS_MAX] = {0};
    uint32_t phases[KEYS_MAX] = {0}, kept = 0;
    memcpy(levels, r->levels, sizeof levels);
    for (uint32_t round = 1, next = 2; r->fired_count + r->vertex_count <= FIRINGS_MAX; round++) {
        uint32_t before = r->fired_count;
        for (uint32_t i = 0; i < r->vertex_count; i++)
            if (is_ready(r, r->vertices[i])) fire(r, i);
        if (r->fired_count == before) return UINT32_MAX;
        if (memcmp(levels, r->levels, sizeof levels) == 0 &&
            memcmp(phases, r->phases, sizeof phases) == 0)
            return kept;
        if (round < next) continue;
        next *= 2;
        kept = r->fired_count;
        memcpy(levels, r->levels, sizeof levels);
        memcpy(phases, r->phases, sizeof phases);
    }
    return UINT32_MAX;
}

static void put_rule(struct made *m, const uint64_t *symbols, uint32_t count)
{
    m->certificate[m->certificate_count++] = count;
    for (uint32_t i = 0; i < count; i++) {
        m->certificate[m->certificate_count++] = symbols[i];
        m->certificate[m->certificate_count++] = 1;
    }
}

static bool certify_block(struct made *m, const struct prt_channels *channels, uint32_t block)
{
    struct rounds *r = calloc(1, sizeof *r);
    if (r == NULL) abort();
    r->channels = channels;
    r->block = block;
    begin(r);
    uint32_t prologue = find_period(r);
    bool found = prologue != UINT32_MAX &&
                 m->certificate_count + 5 + 2 * r->fired_count <= MADE_CERTIFICATE_MAX;
    if (found) {
        m->certificate[m->certificate_count++] =
            channels->blocks[block].channels[0] | (uint64_t)CONTAINER_CERTIFICATE_SCHEDULE
                                                      << CONTAINER_CERTIFICATE_FORM_SHIFT;
        m->certificate[m->certificate_count++] = 3 + 2 * (uint64_t)r->fired_count;
        m->certificate[m->certificate_count++] = 2;
        put_rule(m, r->fired, prologue);
        put_rule(m, r->fired + prologue, r->fired_count - prologue);
    }
    free(r);
    return found;
}

static bool certify_blocks(struct made *m, const struct prt_channels *channels)
{
    for (uint32_t b = 0; b < channels->block_count; b++) {
        const struct prt_channel *first = &channels->items[channels->blocks[b].channels[0]];
        if (channels->blocks[b].count == 1 && prt_vertex_phases(channels, first->from) == 1 &&
            prt_vertex_phases(channels, first->to) == 1)
            continue;
        if (!certify_block(m, channels, b)) return false;
    }
    return true;
}

bool made_certify(struct made *m)
{
    struct prt_container c;
    struct prt_channels channels;
    struct prt_error error;
    size_t size;
    m->certificate_count = 0;
    uint8_t *bytes = made_finish(m, &size);
    bool found = true;
    if (prt_container_read_memory(bytes, size, &c, &error) == PRT_OK) {
        if (prt_channels_build(&c, &channels, &error) == PRT_OK) {
            found = certify_blocks(m, &channels);
            prt_channels_free(&channels);
        }
        prt_container_free(&c);
    }
    free(bytes);
    if (!found) m->certificate_count = 0;
    return found;
}
