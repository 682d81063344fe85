/* SPDX-License-Identifier: MIT */
#include "runtime/sched/port_thread.h"

#include "base/monotonic.h"

#include "runtime/device/host_thread.h"
#include "runtime/sched/run_state.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CHUNK_BYTES = 256 << 10, /* of one read, which takes much longer than a system call */
    CHUNKS = 4, /* in the ring, in addition to the depth: some move while others are processed */
    GATHER_NANOSECONDS = 200000,
    SPINS = 500 /* before the scheduler sleeps */
};

#define NEVER UINT64_MAX

struct prt_port_thread {
    const struct prt_sched *sched;
    struct prt_buffer *buffer;
    void (*wake)(void *context);
    void *wake_context;
    uint64_t ring_packets, chunk_packets;
    struct prt_host_thread thread;
    pthread_mutex_t mutex;
    pthread_cond_t to_thread, to_scheduler;
    /* Positions.  Only the thread changes `moved`, only the scheduler `allowed`. */
    _Atomic uint64_t moved, allowed;
    _Atomic uint64_t wanted;  /* the thread sleeps until `allowed` is there; NEVER: it is awake */
    _Atomic uint64_t awaited; /* the scheduler sleeps until `moved` is there; NEVER: it is awake */
    atomic_bool stopping; /* the thread must end; a sink first gets all packets that are allowed */
    atomic_bool over;     /* the host gives or takes no more packets; the reason: */
    enum prt_status status;
    struct prt_error error;
    uint64_t taken;           /* position up to which the scheduler has taken packets */
    int64_t last_nanoseconds; /* when the sink was called last */
};

struct prt_bell {
    pthread_mutex_t mutex;
    pthread_cond_t rung;
    atomic_bool awaited; /* the scheduler sleeps until some thread has moved */
};

static uint64_t read_position(_Atomic uint64_t *position)
{
    return atomic_load(position);
}

/* If so, `status` and `error` are set. */
static bool is_over(struct prt_port_thread *t)
{
    return atomic_load_explicit(&t->over, memory_order_acquire);
}

/* Relaxed order suffices: a sleeping thread is woken under the mutex, and a thread that is awake checks again. */
static bool is_stopping(struct prt_port_thread *t)
{
    return atomic_load_explicit(&t->stopping, memory_order_relaxed);
}

/* ---- the two sides ---- */

/* Wakes the other side: a position is where it wants it, or never will be. */
static void signal_other(struct prt_port_thread *t, pthread_cond_t *condition)
{
    pthread_mutex_lock(&t->mutex);
    pthread_cond_signal(condition);
    pthread_mutex_unlock(&t->mutex);
}

static void ring_bell(struct prt_bell *bell)
{
    pthread_mutex_lock(&bell->mutex);
    pthread_cond_signal(&bell->rung);
    pthread_mutex_unlock(&bell->mutex);
}

/* All four positions and `awaited` of the bell are sequentially consistent: either the side that goes to sleep sees the
 * new position, or the other side sees that it sleeps.  Only the end of a sleep is stored in relaxed order: a signal to
 * a side that does not sleep has no effect. */
static void set_allowed(struct prt_port_thread *t, uint64_t position)
{
    atomic_store(&t->allowed, position);
    if (position >= read_position(&t->wanted)) signal_other(t, &t->to_thread);
}

static void set_moved(struct prt_port_thread *t, uint64_t position)
{
    atomic_store(&t->moved, position);
    if (position >= read_position(&t->awaited)) signal_other(t, &t->to_scheduler);
    struct prt_bell *bell = t->sched->bell;
    if (bell != NULL && atomic_load(&bell->awaited)) ring_bell(bell);
}

static bool has_moved(struct prt_port_thread *t, uint64_t position)
{
    return read_position(&t->moved) >= position || is_over(t);
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* The scheduler waits until `moved` is at the position, or the thread is over.  It spins first, because a sleep costs
 * more than most waits. */
static void await_moved(struct prt_port_thread *t, uint64_t position)
{
    for (int i = 0; i < SPINS && !has_moved(t, position); i++)
        pause_briefly();
    if (has_moved(t, position)) return;
    pthread_mutex_lock(&t->mutex);
    atomic_store(&t->awaited, position);
    pthread_cond_signal(&t->to_thread); /* the thread may gather packets */
    while (!has_moved(t, position))
        pthread_cond_wait(&t->to_scheduler, &t->mutex);
    atomic_store_explicit(&t->awaited, NEVER, memory_order_relaxed);
    pthread_mutex_unlock(&t->mutex);
}

static void end_port_thread(struct prt_port_thread *t, enum prt_status status)
{
    t->status = status;
    atomic_store_explicit(&t->over, true, memory_order_release);
    signal_other(t, &t->to_scheduler);
    if (t->sched->bell != NULL) ring_bell(t->sched->bell);
}

static uint64_t ring_offset(const struct prt_port_thread *t, uint64_t position)
{
    const struct core_fifo *fifo = t->buffer->fifo;
    unsigned __int128 offset = (unsigned __int128)position * fifo->width_bytes % fifo->ring_bytes;
    return (uint64_t)offset;
}

static void *ring_place(const struct prt_port_thread *t, uint64_t position)
{
    return t->buffer->ring.memory + ring_offset(t, position);
}

/* Does the window lie in the ring?  Then it is the place of `position`: it was claimed for the next packets.  The ring is
 * mapped twice, so a place has two addresses. */
static bool is_ring_place(const struct prt_port_thread *t, const void *window, uint64_t position)
{
    const struct core_fifo *fifo = t->buffer->fifo;
    uint64_t offset = (uint64_t)((uintptr_t)window - (uintptr_t)t->buffer->ring.memory);
    bool inside = offset < 2 * fifo->ring_bytes;
    assert(!inside || offset % fifo->ring_bytes == ring_offset(t, position));
    (void)position;
    return inside;
}

/* ---- the thread ---- */

int64_t prt_port_now_nanoseconds(void)
{
    return (int64_t)monotonic_nanoseconds();
}

/* Sleeps until `allowed` is at the position, or the thread must end. */
static void sleep_until(struct prt_port_thread *t, uint64_t position)
{
    pthread_mutex_lock(&t->mutex);
    atomic_store(&t->wanted, position);
    while (read_position(&t->allowed) < position && !is_stopping(t))
        pthread_cond_wait(&t->to_thread, &t->mutex);
    atomic_store_explicit(&t->wanted, NEVER, memory_order_relaxed);
    pthread_mutex_unlock(&t->mutex);
}

/* Gathers packets that follow each other fast: until `allowed` is at the position, GATHER_NANOSECONDS have passed since
 * the last call of the sink, or the scheduler waits.  A packet that comes later than that is written at once. */
static void gather_more_packets(struct prt_port_thread *t, uint64_t position)
{
    int64_t until = t->last_nanoseconds + GATHER_NANOSECONDS;
    if (read_position(&t->allowed) >= position || prt_port_now_nanoseconds() >= until) return;
    const struct timespec end = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    int waited = 0;
    pthread_mutex_lock(&t->mutex);
    /* Stronger than needed: this sleep has a limit.  But it should not last when its packets are allowed already. */
    atomic_store(&t->wanted, position);
    /* equivalent: in any order */
    while (waited == 0 && read_position(&t->allowed) < position &&
           read_position(&t->awaited) == NEVER && !is_stopping(t))
        waited = pthread_cond_timedwait(&t->to_thread, &t->mutex, &end);
    atomic_store_explicit(&t->wanted, NEVER, memory_order_relaxed);
    pthread_mutex_unlock(&t->mutex);
}

/* The room to ask the source for: a chunk.  If there is less, waits for room for two chunks. */
static size_t wait_for_room(struct prt_port_thread *t, uint64_t at)
{
    if (read_position(&t->allowed) < at + t->chunk_packets)
        sleep_until(t, at + 2 * t->chunk_packets);
    uint64_t room = read_position(&t->allowed) - at;
    return (size_t)(room < t->chunk_packets ? room : t->chunk_packets);
}

/* The thread of an in-port: reads until the stream or the run ends. */
static void read_source(void *context)
{
    struct prt_port_thread *t = context;
    const struct prt_port *port = t->buffer->port;
    for (;;) {
        uint64_t at = read_position(&t->moved);
        size_t room = wait_for_room(t, at), count = 0;
        if (is_stopping(t)) return;
        if (core_is_interrupted(t->sched->core)) {
            end_port_thread(t, PRT_E_INTERRUPTED);
            return;
        }
        enum prt_status status =
            port->source(port->context, ring_place(t, at), room, &count, &t->error);
        if (status == PRT_OK && count > room)
            status = prt_error_set(
                &t->error, PRT_E_USAGE, "the source of '%s' gave more packets than were asked for",
                prt_container_text(t->sched->container, t->buffer->record->name));
        if (status != PRT_OK || count == 0) {
            end_port_thread(t, status);
            return;
        }
        set_moved(t, at + count);
    }
}

/* The thread of an out-port: writes until the sink fails or the run ends. */
static void write_sink(void *context)
{
    struct prt_port_thread *t = context;
    const struct prt_port *port = t->buffer->port;
    for (;;) {
        uint64_t at = read_position(&t->moved);
        sleep_until(t, at + 1);
        gather_more_packets(t, at + t->chunk_packets / 2);
        uint64_t packets = read_position(&t->allowed) - at;
        if (packets == 0) return; /* it must end, and all packets are written */
        enum prt_status status =
            port->sink(port->context, ring_place(t, at), (size_t)packets, &t->error);
        if (status != PRT_OK) {
            end_port_thread(t, status);
            return;
        }
        t->last_nanoseconds = prt_port_now_nanoseconds();
        set_moved(t, at + packets);
    }
}

/* ---- creation, start ---- */

enum prt_status prt_port_thread_create(struct prt_sched *s, uint32_t number,
                                       void (*wake)(void *context), void *context,
                                       struct prt_error *error)
{
    struct prt_buffer *buffer = &s->buffers[number];
    uint64_t chunk = CHUNK_BYTES / buffer->fifo->width_bytes, packets;
    if (chunk == 0) chunk = 1;
    /* One more than the depth: of an in-port at hand the packet after a full buffer is read, too. */
    /* uncovered: no ring of such a depth can be mapped */
    if (__builtin_add_overflow(buffer->fifo->depth_packets, CHUNKS * chunk + 1, &packets))
        packets = UINT64_MAX;
    enum prt_status status = prt_ring_enlarge(&buffer->ring, buffer->fifo, packets, error);
    if (status != PRT_OK) return status;
    struct prt_port_thread *t = buffer->port->given_thread;
    if (t == NULL) t = calloc(1, sizeof *t);
    if (t == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    t->chunk_packets = chunk;
    t->sched = s;
    t->buffer = buffer;
    t->wake = wake;
    t->wake_context = context;
    buffer->port->given_thread = t;
    return PRT_OK;
}

void prt_port_thread_destroy(struct prt_port_thread *thread)
{
    free(thread);
}

/* With these attributes the calls cannot fail on Linux. */
static void prepare_port_thread(struct prt_port_thread *t, uint64_t moved, uint64_t allowed)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->to_thread, &monotonic);
    pthread_cond_init(&t->to_scheduler, NULL);
    pthread_condattr_destroy(&monotonic);
    t->ring_packets = t->buffer->fifo->ring_bytes / t->buffer->fifo->width_bytes;
    t->taken = moved;
    atomic_init(&t->moved, moved);
    atomic_init(&t->allowed, allowed);
    atomic_init(&t->wanted, NEVER);
    atomic_init(&t->awaited, NEVER);
    t->error = (struct prt_error){.offset = PRT_NO_OFFSET};
}

static void dispose_port_thread(struct prt_port_thread *t)
{
    pthread_mutex_destroy(&t->mutex);
    pthread_cond_destroy(&t->to_thread);
    pthread_cond_destroy(&t->to_scheduler);
}

/* The initial packets of an in-port come before those of its source. */
static void start_port_thread(struct prt_buffer *buffer)
{
    struct prt_port *port = buffer->port;
    struct prt_port_thread *t = port->given_thread;
    bool in = buffer->record->outer == CONTAINER_OUTER_IN;
    if (t == NULL || prt_ring_is_placed(&buffer->ring) || (!in && port->sink == NULL)) return;
    prepare_port_thread(t, in ? buffer->record->initial_packets : 0, 0);
    if (in) atomic_init(&t->allowed, t->ring_packets);
    if (prt_host_thread_start(&t->thread, in ? read_source : write_sink, t))
        port->thread = t;
    else
        dispose_port_thread(t);
}

void prt_port_threads_start(struct prt_sched *s)
{
    for (uint32_t i = 0; i < s->container->buffer_count && s->step == NULL; i++) {
        if (s->buffers[i].port != NULL) start_port_thread(&s->buffers[i]);
    }
}

/* The status with which the source or sink has ended. */
static enum prt_status ended_status(const struct prt_port_thread *t, struct prt_error *error)
{
    if (t->status != PRT_OK) *error = t->error;
    return t->status;
}

/* ---- in-ports ---- */

enum prt_status prt_port_thread_take(struct prt_buffer *buffer, void *window, size_t room,
                                     size_t *count, struct prt_error *error)
{
    struct prt_port_thread *t = buffer->port->thread;
    uint64_t freed = window == NULL ? t->taken : buffer->fifo->oldest_packets;
    set_allowed(t, freed + t->ring_packets);
    await_moved(t, t->taken + 1);
    uint64_t there = read_position(&t->moved) - t->taken;
    *count = there < room ? (size_t)there : room;
    if (*count == 0) return ended_status(t, error);
    if (window != NULL && !is_ring_place(t, window, t->taken))
        memcpy(window, ring_place(t, t->taken), *count * (size_t)buffer->fifo->width_bytes);
    t->taken += *count;
    return PRT_OK;
}

/* ---- out-ports ---- */

enum prt_status prt_port_thread_pass(struct prt_buffer *buffer, struct prt_error *error)
{
    struct prt_port_thread *t = buffer->port->thread;
    if (is_over(t)) return ended_status(t, error);
    set_allowed(t, buffer->fifo->written_packets);
    return PRT_OK;
}

void prt_port_thread_reserve(struct prt_sched *s, const struct prt_buffer *buffer, uint64_t packets)
{
    struct prt_port_thread *t = buffer->port->thread;
    uint64_t end = buffer->fifo->written_packets + packets;
    if (end <= t->ring_packets || has_moved(t, end - t->ring_packets)) return;
    enum prt_doing before = prt_run_state_set(s, PRT_DOING_WRITE, buffer);
    await_moved(t, end - t->ring_packets);
    (void)prt_run_state_set(s, before, NULL);
}

/* ---- eager ports ---- */

uint64_t prt_port_thread_arrived(const struct prt_buffer *buffer, bool *ended)
{
    struct prt_port_thread *t = buffer->port->thread;
    uint64_t room_end = buffer->fifo->oldest_packets + t->ring_packets;
    if (atomic_load_explicit(&t->allowed, memory_order_relaxed) != room_end)
        set_allowed(t, room_end);
    *ended = is_over(t);
    return read_position(&t->moved) - t->taken;
}

uint64_t prt_port_thread_room(const struct prt_buffer *buffer)
{
    struct prt_port_thread *t = buffer->port->thread;
    if (is_over(t)) return UINT64_MAX;
    uint64_t claimed_end = buffer->fifo->written_packets + buffer->fifo->claimed_packets;
    return t->ring_packets - (claimed_end - read_position(&t->moved));
}

/* With these attributes the calls cannot fail on Linux. */
struct prt_bell *prt_bell_create(void)
{
    struct prt_bell *bell = calloc(1, sizeof *bell);
    pthread_condattr_t monotonic;
    if (bell == NULL) return NULL;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&bell->mutex, NULL);
    pthread_cond_init(&bell->rung, &monotonic);
    pthread_condattr_destroy(&monotonic);
    atomic_init(&bell->awaited, false); /* equivalent: calloc has done it */
    return bell;
}

void prt_bell_destroy(struct prt_bell *bell)
{
    if (bell == NULL) return;
    pthread_mutex_destroy(&bell->mutex);
    pthread_cond_destroy(&bell->rung);
    free(bell);
}

/* Makes threads that gather packets write them at once; `hurry` false: they may gather again. */
static void hurry_sinks(struct prt_sched *s, bool hurry)
{
    for (uint32_t i = 0; i < s->container->buffer_count; i++) {
        const struct prt_buffer *buffer = &s->buffers[i];
        if (buffer->port == NULL || buffer->record->outer != CONTAINER_OUTER_OUT) continue;
        struct prt_port_thread *t = buffer->port->thread;
        if (t == NULL) continue;
        if (!hurry) {
            atomic_store_explicit(&t->awaited, NEVER, memory_order_relaxed);
        } else if (!has_moved(t, read_position(&t->allowed))) {
            pthread_mutex_lock(&t->mutex);
            atomic_store_explicit(&t->awaited, read_position(&t->allowed), memory_order_relaxed);
            pthread_cond_signal(&t->to_thread);
            pthread_mutex_unlock(&t->mutex);
        }
    }
}

/* Sleeps until a thread rings, or until that time. */
static void sleep_until_rung(struct prt_bell *bell, int64_t until)
{
    const struct timespec end = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    if (until == INT64_MAX)
        pthread_cond_wait(&bell->rung, &bell->mutex);
    else
        (void)pthread_cond_timedwait(&bell->rung, &bell->mutex, &end);
}

void prt_port_threads_await(struct prt_sched *s, int64_t (*find_time)(struct prt_sched *sched))
{
    struct prt_bell *bell = s->bell;
    int64_t until;
    hurry_sinks(s, true);
    for (int i = 0; i < SPINS && find_time(s) != INT64_MIN; i++)
        pause_briefly();
    pthread_mutex_lock(&bell->mutex);
    atomic_store(&bell->awaited, true);
    while ((until = find_time(s)) != INT64_MIN)
        sleep_until_rung(bell, until);
    atomic_store_explicit(&bell->awaited, false, memory_order_relaxed);
    pthread_mutex_unlock(&bell->mutex);
    hurry_sinks(s, false);
}

/* ---- the end ---- */

static void stop_port_thread(struct prt_buffer *buffer)
{
    struct prt_port_thread *t = buffer->port->thread;
    atomic_store_explicit(&t->stopping, true, memory_order_relaxed);
    signal_other(t, &t->to_thread);
    if (t->wake != NULL && buffer->record->outer == CONTAINER_OUTER_IN) t->wake(t->wake_context);
    prt_host_thread_join(&t->thread);
    dispose_port_thread(t);
    buffer->port->thread = NULL;
}

/* Waits until the sink has read all packets or failed, and ends the thread.  Returns the status of the sink, unless it
 * wanted no more before. */
static enum prt_status finish_out_port(struct prt_sched *s, struct prt_buffer *buffer,
                                       struct prt_error *error)
{
    struct prt_port *port = buffer->port;
    struct prt_port_thread *t = port->thread;
    enum prt_doing before = prt_run_state_set(s, PRT_DOING_WRITE, buffer);
    enum prt_status status = PRT_OK;
    await_moved(t, read_position(&t->allowed));
    (void)prt_run_state_set(s, before, NULL);
    if (!buffer->core->gone && is_over(t)) status = ended_status(t, error);
    buffer->core->gone |= status != PRT_OK;
    stop_port_thread(buffer);
    return status;
}

enum prt_status prt_port_threads_end(struct prt_sched *s, enum prt_status status,
                                     struct prt_error *error)
{
    struct prt_error words;
    bool failed = false;
    for (uint32_t i = 0; i < s->container->buffer_count; i++) {
        struct prt_buffer *buffer = &s->buffers[i];
        if (buffer->port == NULL || buffer->port->thread == NULL) continue;
        if (buffer->record->outer == CONTAINER_OUTER_IN) {
            stop_port_thread(buffer);
            continue;
        }
        enum prt_status one = finish_out_port(s, buffer, &words);
        if (one == PRT_E_CLOSED_PIPE) core_sink_leaves(s->core);
        if (one == PRT_OK || one == PRT_E_CLOSED_PIPE || failed) continue;
        failed = true;
        *error = words;
        status = one;
    }
    if (failed || !core_attends(s->core, CORE_NO_SINKS) || status == PRT_E_CLOSED_PIPE)
        return status;
    return prt_error_set(error, PRT_E_CLOSED_PIPE, "%s", prt_status_text(PRT_E_CLOSED_PIPE));
}
