/* SPDX-License-Identifier: MIT */
/*
 * weak_port: runtime/sched/port_thread.c under the explorer.  A host that brings packets (an in-port) or takes them (an
 * out-port), a scheduler that takes or passes them, and stops early at times; a source may have its next packet only when
 * the ones before have been seen, and the scheduler may wait for what a sink has seen; a sink may fail.
 *
 * Claims: packets arrive whole, in order and without a race, however the ring is used again; no thread is left asleep; the word that
 * the host has said at the end arrives.
 */
#include "runtime/device/host_thread.h"
#include "runtime/sched/port_thread.h"
#include "runtime/sched/run_state.h"
#include "tests/weak/explorer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A chunk, what a source is asked for at a time, is a packet, or four. */
enum { CHUNK_BYTES = 256 << 10, DEPTH = 2, RING_BYTES = CHUNK_BYTES * (DEPTH + 5), PACKETS = 12 };

static struct {
    struct prt_sched sched;
    struct core core;
    struct core_buffer row;
    struct prt_container container;
    struct container_buffer record;
    struct prt_buffer buffer;
    struct prt_port port;
    struct prt_error error;
    uint64_t brought, sunk; /* the host's */
    uint64_t fails_at;      /* a sink */
    bool interactive;
    /* Between the two sides of the host. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t seen;
    bool woken;
} w;

static uint8_t ring[RING_BYTES];

/* ---- what port_thread asks of others ---- */

enum prt_status prt_ring_enlarge(struct prt_ring *made, struct core_fifo *fifo, uint64_t packets,
                                 struct prt_error *error)
{
    (void)error;
    made->memory = made->own = ring;
    fifo->ring_bytes = packets * fifo->width_bytes;
    explorer_check(fifo->ring_bytes <= RING_BYTES, "the ring is large enough");
    return PRT_OK;
}

void prt_run_state_answer(struct prt_sched *sched)
{
    (void)sched;
}

void prt_profile_doing(struct prt_sched *sched, enum prt_doing doing,
                       const struct prt_buffer *buffer)
{
    (void)sched, (void)doing, (void)buffer;
}

enum prt_status prt_error_set(struct prt_error *error, enum prt_status status, const char *format,
                              ...)
{
    (void)error, (void)format;
    return status;
}

const char *prt_status_text(enum prt_status status)
{
    (void)status;
    return "";
}

bool prt_host_thread_start(struct prt_host_thread *thread, void (*body)(void *argument),
                           void *argument)
{
    thread->thread = explorer_start(body, argument);
    return true;
}

void prt_host_thread_join(struct prt_host_thread *thread)
{
    explorer_join((uint32_t)thread->thread);
}

/* ---- the host ---- */

static void *packet(uint64_t number)
{
    return w.buffer.ring.memory + number * w.buffer.fifo->width_bytes % w.buffer.fifo->ring_bytes;
}

static void await_seen(uint64_t packets)
{
    pthread_mutex_lock(&w.mutex);
    while (w.seen < packets && !w.woken)
        pthread_cond_wait(&w.changed, &w.mutex);
    pthread_mutex_unlock(&w.mutex);
}

static void wake(void *context)
{
    (void)context;
    pthread_mutex_lock(&w.mutex);
    w.woken = true;
    pthread_cond_broadcast(&w.changed);
    pthread_mutex_unlock(&w.mutex);
}

static enum prt_status bring_packet(void *context, void *window, size_t room, size_t *count,
                                    struct prt_error *error)
{
    (void)context, (void)error;
    explorer_check(room >= 1 && room <= CHUNK_BYTES / w.buffer.fifo->width_bytes,
                   "a chunk at most is asked for");
    explorer_check(window == packet(w.brought), "in its place");
    if (w.interactive) await_seen(w.brought);
    uint32_t most = 1 + explorer_draw((uint32_t)room);
    for (*count = 0; *count < most && w.brought < PACKETS; ++*count, w.brought++)
        *(uint64_t *)packet(w.brought) = w.brought;
    return *count > 0 ? PRT_OK : PRT_E_READ;
}

static void see(uint64_t packets)
{
    if (!w.interactive) return;
    pthread_mutex_lock(&w.mutex);
    w.seen = packets;
    pthread_cond_broadcast(&w.changed);
    pthread_mutex_unlock(&w.mutex);
}

static enum prt_status take_packets(void *context, const void *window, size_t count,
                                    struct prt_error *error)
{
    (void)context, (void)error;
    explorer_check(window == packet(w.sunk), "in its place");
    for (size_t i = 0; i < count; i++, w.sunk++) {
        if (w.sunk == w.fails_at) {
            see(UINT64_MAX);
            return PRT_E_WRITE;
        }
        explorer_check(*(const uint64_t *)packet(w.sunk) == w.sunk, "the packet, whole");
    }
    see(w.sunk);
    return PRT_OK;
}

/* ---- the scheduler ---- */

static void create(bool in)
{
    struct prt_port_thread *old = w.port.given_thread;
    prt_bell_destroy(w.sched.bell);
    memset(&w, 0, sizeof w);
    free(old);
    w.record.outer = in ? CONTAINER_OUTER_IN : CONTAINER_OUTER_OUT;
    w.container.buffer_count = 1;
    w.container.strings = "x";
    w.buffer = (struct prt_buffer){
        .record = &w.record, .core = &w.row, .fifo = &w.row.fifo, .port = &w.port};
    w.row.fifo =
        (struct core_fifo){.width_bytes = explorer_draw(2) == 0 ? CHUNK_BYTES : CHUNK_BYTES / 4,
                           .depth_packets = explorer_draw(DEPTH) + 1};
    w.port.source = in ? bring_packet : NULL;
    w.port.sink = in ? NULL : take_packets;
    w.sched.core = &w.core;
    w.sched.buffers = &w.buffer;
    w.sched.container = &w.container;
    w.fails_at = explorer_draw(3) == 0 ? explorer_draw(PACKETS) : PACKETS;
    w.interactive = explorer_draw(2) == 0;
    if (explorer_draw(2) == 0) w.sched.bell = prt_bell_create();
    explorer_check(prt_port_thread_create(&w.sched, 0, in ? wake : NULL, NULL, NULL) == PRT_OK,
                   "there is memory");
    prt_port_threads_start(&w.sched);
    explorer_check(w.port.thread != NULL, "there is a thread");
}

/* ---- eager ports: the scheduler waits for the bell ---- */

static int64_t now_if(bool met)
{
    return met ? INT64_MIN : INT64_MAX;
}

static int64_t find_arrival(struct prt_sched *s)
{
    bool ended;
    return now_if(prt_port_thread_arrived(&s->buffers[0], &ended) > 0 || ended);
}

static int64_t find_room(struct prt_sched *s)
{
    return now_if(prt_port_thread_room(&s->buffers[0]) > 0);
}

static void run_in(void)
{
    uint64_t taken = 0, last = explorer_draw(2) == 0 ? PACKETS + 1 : explorer_draw(PACKETS);
    while (taken < last) {
        size_t count;
        if (w.sched.bell != NULL) prt_port_threads_await(&w.sched, find_arrival);
        enum prt_status status = prt_port_thread_take(&w.buffer, NULL, DEPTH, &count, &w.error);
        if (count == 0) {
            explorer_check(status == PRT_E_READ && taken == PACKETS,
                           "what the source has said at its end");
            break;
        }
        for (size_t i = 0; i < count; i++, taken++)
            explorer_check(*(const uint64_t *)packet(taken) == taken, "the packet, whole");
        w.buffer.fifo->oldest_packets = taken;
        see(taken);
    }
    explorer_check(prt_port_threads_end(&w.sched, PRT_OK, &w.error) == PRT_OK, "the run's status");
}

static void run_out(void)
{
    uint64_t packets = explorer_draw(PACKETS + 1);
    enum prt_status status = PRT_OK;
    while (w.buffer.fifo->written_packets < packets && status == PRT_OK) {
        if (w.sched.bell != NULL) prt_port_threads_await(&w.sched, find_room);
        prt_port_thread_reserve(&w.sched, &w.buffer, 1);
        *(uint64_t *)packet(w.buffer.fifo->written_packets) = w.buffer.fifo->written_packets;
        w.buffer.fifo->written_packets++;
        status = prt_port_thread_pass(&w.buffer, &w.error);
        if (w.interactive && explorer_draw(2) == 0) await_seen(w.buffer.fifo->written_packets);
    }
    bool fails = w.fails_at < w.buffer.fifo->written_packets;
    w.row.gone = status != PRT_OK;
    explorer_check(status == PRT_OK || (status == PRT_E_WRITE && fails), "what the sink has said");
    enum prt_status end = prt_port_threads_end(&w.sched, status, &w.error);
    explorer_check(end == (fails ? PRT_E_WRITE : PRT_OK), "what the sink has said at the end");
    explorer_check(fails || w.sunk == w.buffer.fifo->written_packets, "all has been taken");
}

static void run(void *argument)
{
    (void)argument;
    bool in = explorer_draw(2) == 0;
    create(in);
    if (in)
        run_in();
    else
        run_out();
}

int main(int count, char **words)
{
    return explorer_main(count, words, run);
}
