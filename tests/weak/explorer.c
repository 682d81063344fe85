/* SPDX-License-Identifier: MIT */
#include "tests/weak/explorer.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

enum {
    THREADS = 4,
    STACK_BYTES = 256 << 10,
    OBJECTS = 512,      /* atomic ones of an execution */
    VALUES = 256,       /* of an object: the last ones */
    WORDS = 1 << 12,    /* of 8 bytes: plain memory that is looked after */
    PLACES = 256,       /* of the code */
    STEPS_MOST = 60000, /* of an execution */
    STALE_MOST = 12,    /* values that are not the latest, in an execution */
    LOCKS = 64,
};

enum order { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

struct clock {
    uint32_t of[THREADS];
};

struct value {
    uint64_t bits;
    struct clock released; /* the knowledge of the storing thread, if it has released */
    uint32_t thread, time; /* the storing thread, and its time */
};

struct object {
    const void *address; /* NULL: none */
    uint32_t count;      /* values ever stored; the last VALUES are kept */
    uint32_t last_seq_cst;
    uint32_t seen[THREADS];
    struct value values[VALUES];
};

struct word {
    uintptr_t address; /* of 8 bytes, and 1; 0: none */
    struct {
        uint32_t read[THREADS], written; /* times */
        uint8_t writer;
    } bytes[8];
};

enum state { UNUSED, GOES, LOCKING, SLEEPING, SLEEPING_TIMED, JOINING, ENDED };

struct thread {
    ucontext_t context;
    char *stack;
    enum state state;
    const void *waits_for; /* a mutex or a condition */
    uint32_t joins;
    bool timed_out;
    struct clock knows;
    explorer_body body;
    void *argument;
};

struct lock {
    const void *address;
    bool held;
    struct clock released;
};

struct place {
    uintptr_t address;
    int order;
};

static struct {
    ucontext_t main;
    struct thread threads[THREADS];
    uint32_t running;
    bool active;
    const char *failure;
    uint64_t random;
    uint32_t steps, stale, switches, stale_odds;
    int64_t now;
    struct object objects[OBJECTS];
    struct word *words;
    struct lock locks[LOCKS];
    struct place places[PLACES];
    uint32_t place_count;
    uintptr_t weak_place;
    int weak_order;
    char text[256];
} x;

uint32_t explorer_draw(uint32_t count)
{
    x.random ^= x.random << 13;
    x.random ^= x.random >> 7;
    x.random ^= x.random << 17;
    return (uint32_t)((x.random >> 11) % count);
}

/* ---- threads ---- */

static _Noreturn void leave(void)
{
    setcontext(&x.main);
    abort();
}

static _Noreturn void fail(const char *why)
{
    x.failure = why;
    leave();
}

void explorer_check(bool holds, const char *claim)
{
    if (!holds) fail(claim);
}

static const struct lock *find_lock(const void *address);

static bool can_go(const struct thread *t)
{
    switch (t->state) {
    case GOES:
    case SLEEPING_TIMED: return true;
    case LOCKING: return !find_lock(t->waits_for)->held;
    case JOINING: return x.threads[t->joins].state == ENDED;
    default: return false;
    }
}

static void go_to(uint32_t next)
{
    uint32_t before = x.running;
    if (next == before) return;
    x.running = next;
    swapcontext(&x.threads[before].context, &x.threads[next].context);
}

/* A thread that can goes on: mostly the current one. */
static void schedule(void)
{
    uint32_t can[THREADS], count = 0;
    if (++x.steps > STEPS_MOST) fail("it does not end");
    if (can_go(&x.threads[x.running]) && explorer_draw(x.switches) != 0) return;
    for (uint32_t i = 0; i < THREADS; i++)
        if (can_go(&x.threads[i])) can[count++] = i;
    if (count == 0) fail("no thread can go on");
    go_to(can[explorer_draw(count)]);
}

/* Until the running thread can go on. */
static void block(enum state state)
{
    struct thread *t = &x.threads[x.running];
    t->state = state;
    do
        schedule();
    while (!can_go(t));
    t->state = GOES;
}

void explorer_yield(void)
{
    schedule();
}

static void join_clock(struct clock *to, const struct clock *from)
{
    for (int i = 0; i < THREADS; i++)
        if (from->of[i] > to->of[i]) to->of[i] = from->of[i];
}

static struct clock *knows(void)
{
    return &x.threads[x.running].knows;
}

static void tick(void)
{
    knows()->of[x.running]++;
}

static void run_thread(void)
{
    struct thread *t = &x.threads[x.running];
    t->body(t->argument);
    t->state = ENDED;
    if (x.running == 0) leave();
    schedule();
    abort();
}

static uint32_t create(explorer_body body, void *argument)
{
    uint32_t number = 0;
    while (x.threads[number].state != UNUSED)
        if (++number == THREADS) abort();
    struct thread *t = &x.threads[number];
    if (t->stack == NULL) t->stack = malloc(STACK_BYTES);
    if (t->stack == NULL) abort();
    getcontext(&t->context);
    t->context.uc_stack.ss_sp = t->stack;
    t->context.uc_stack.ss_size = STACK_BYTES;
    t->context.uc_link = NULL;
    makecontext(&t->context, run_thread, 0);
    t->body = body;
    t->argument = argument;
    t->state = GOES;
    return number;
}

uint32_t explorer_start(explorer_body body, void *argument)
{
    uint32_t number = create(body, argument);
    x.threads[number].knows = *knows();
    x.threads[number].knows.of[number] = 1;
    tick();
    schedule();
    return number;
}

void explorer_join(uint32_t thread)
{
    x.threads[x.running].joins = thread;
    block(JOINING);
    join_clock(knows(), &x.threads[thread].knows);
}

/* ---- what POSIX gives ---- */

static struct lock *lock_of(const void *address)
{
    for (int i = 0; i < LOCKS; i++) {
        struct lock *lock = &x.locks[i];
        if (lock->address == NULL) lock->address = address;
        if (lock->address == address) return lock;
    }
    abort();
}

static const struct lock *find_lock(const void *address)
{
    return lock_of(address);
}

static void take(pthread_mutex_t *mutex)
{
    struct lock *lock = lock_of(mutex);
    x.threads[x.running].waits_for = mutex;
    block(LOCKING);
    lock->held = true;
    join_clock(knows(), &lock->released);
}

static void give(pthread_mutex_t *mutex)
{
    struct lock *lock = lock_of(mutex);
    explorer_check(lock->held, "a mutex is released that no thread holds");
    lock->held = false;
    lock->released = *knows();
    tick();
}

int explorer_mutex_lock(pthread_mutex_t *mutex);
int explorer_mutex_unlock(pthread_mutex_t *mutex);
int explorer_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int explorer_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                            const struct timespec *end);
int explorer_cond_signal(pthread_cond_t *condition);
int explorer_cond_broadcast(pthread_cond_t *condition);
int explorer_clock_gettime(clockid_t clock, struct timespec *now);

int explorer_mutex_lock(pthread_mutex_t *mutex)
{
    schedule();
    take(mutex);
    return 0;
}

int explorer_mutex_unlock(pthread_mutex_t *mutex)
{
    give(mutex);
    schedule();
    return 0;
}

static int sleep_for(pthread_cond_t *condition, pthread_mutex_t *mutex, enum state state)
{
    struct thread *t = &x.threads[x.running];
    give(mutex);
    t->waits_for = condition;
    t->timed_out = true;
    block(state);
    bool timed_out = t->timed_out;
    take(mutex);
    return timed_out ? ETIMEDOUT : 0;
}

int explorer_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    (void)sleep_for(condition, mutex, SLEEPING);
    return 0;
}

/* Its time may be over at any moment. */
int explorer_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                            const struct timespec *end)
{
    (void)end;
    return sleep_for(condition, mutex, SLEEPING_TIMED);
}

static void wake(pthread_cond_t *condition, bool all)
{
    schedule();
    uint32_t first = explorer_draw(THREADS);
    for (uint32_t i = 0; i < THREADS; i++) {
        struct thread *t = &x.threads[(first + i) % THREADS];
        if ((t->state != SLEEPING && t->state != SLEEPING_TIMED) || t->waits_for != condition)
            continue;
        t->state = GOES;
        t->timed_out = false;
        if (!all) return;
    }
}

int explorer_cond_signal(pthread_cond_t *condition)
{
    wake(condition, false);
    return 0;
}

int explorer_cond_broadcast(pthread_cond_t *condition)
{
    wake(condition, true);
    return 0;
}

int explorer_clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    x.now += 1 + (int64_t)explorer_draw(50000);
    *now = (struct timespec){.tv_sec = x.now / 1000000000, .tv_nsec = x.now % 1000000000};
    return 0;
}

/* ---- plain memory ---- */

static struct word *word_of(uintptr_t address)
{
    uintptr_t wanted = (address & ~(uintptr_t)7) + 1;
    for (size_t i = (address >> 3) * 0x9E3779B1u % WORDS, tries = 0; tries < WORDS;
         i = (i + 1) % WORDS, tries++) {
        if (x.words[i].address == 0) x.words[i].address = wanted;
        if (x.words[i].address == wanted) return &x.words[i];
    }
    abort();
}

static void drop_object(uintptr_t address);

static void access_byte(uintptr_t address, bool write)
{
    struct word *word = word_of(address);
    uint32_t at = address & 7;
    const struct clock *mine = knows();
    if (word->bytes[at].written > mine->of[word->bytes[at].writer]) fail("a race with a write");
    for (uint32_t i = 0; write && i < THREADS; i++)
        if (word->bytes[at].read[i] > mine->of[i]) fail("a race with a read");
    if (write) {
        word->bytes[at].written = mine->of[x.running];
        word->bytes[at].writer = (uint8_t)x.running;
    } else {
        word->bytes[at].read[x.running] = mine->of[x.running];
    }
}

static void access_bytes(void *address, size_t bytes, bool write)
{
    if (!x.active) return;
    uintptr_t own = (uintptr_t)address - (uintptr_t)x.threads[x.running].stack;
    if (own < STACK_BYTES) return;
    for (size_t i = 0; i < bytes; i++) {
        access_byte((uintptr_t)address + i, write);
        if (write) drop_object((uintptr_t)address + i);
    }
}

/* ---- atomic objects ---- */

static struct object *object_of(const void *address, uint64_t now)
{
    uint32_t at = (uint32_t)((uintptr_t)address >> 2) * 0x9E3779B1u % OBJECTS;
    for (uint32_t tries = 0; tries < OBJECTS; at = (at + 1) % OBJECTS, tries++) {
        struct object *o = &x.objects[at];
        if (o->address == address && o->count > 0) return o;
        if (o->address != NULL && o->address != address) continue;
        *o = (struct object){.address = address, .count = 1};
        o->values[0] = (struct value){.bits = now};
        return o;
    }
    abort();
}

/* It is written as plain memory: it begins anew. */
static void drop_object(uintptr_t address)
{
    uint32_t at = (uint32_t)(address >> 2) * 0x9E3779B1u % OBJECTS;
    for (uint32_t tries = 0; tries < OBJECTS && x.objects[at].address != NULL;
         at = (at + 1) % OBJECTS, tries++)
        if ((uintptr_t)x.objects[at].address == address) x.objects[at].count = 0;
}

static struct value *value_of(struct object *o, uint32_t number)
{
    return &o->values[number % VALUES];
}

static int order_at(uintptr_t place, int order)
{
    uint32_t i = 0;
    while (i < x.place_count && x.places[i].address != place)
        i++;
    if (i == PLACES) abort();
    if (i == x.place_count) x.places[x.place_count++] = (struct place){place, order};
    return place == x.weak_place ? x.weak_order : order;
}

static bool acquires(int order)
{
    return order == ACQUIRE || order == CONSUME || order == ACQ_REL || order == SEQ_CST;
}

static bool releases(int order)
{
    return order == RELEASE || order == ACQ_REL || order == SEQ_CST;
}

/* The oldest value that the running thread may still find. */
static uint32_t oldest_value(struct object *o, int order)
{
    uint32_t oldest = o->seen[x.running], kept = o->count > VALUES ? o->count - VALUES : 0;
    if (order == SEQ_CST && o->last_seq_cst > oldest) oldest = o->last_seq_cst;
    if (kept > oldest) oldest = kept;
    for (uint32_t i = o->count - 1; i > oldest; i--)
        if (value_of(o, i)->time <= knows()->of[value_of(o, i)->thread]) return i;
    return oldest;
}

static uint64_t find_value(struct object *o, uint32_t number, int order)
{
    const struct value *found = value_of(o, number);
    o->seen[x.running] = number;
    if (acquires(order)) join_clock(knows(), &found->released);
    return found->bits;
}

static uint64_t load(struct object *o, int order)
{
    uint32_t oldest = oldest_value(o, order), number = o->count - 1;
    if (oldest < number && x.stale < STALE_MOST && explorer_draw(x.stale_odds) == 0) {
        number = oldest + explorer_draw(o->count - oldest);
        x.stale += number + 1 < o->count;
    }
    return find_value(o, number, order);
}

static void store(struct object *o, uint64_t bits, int order, bool update)
{
    struct value made = {.bits = bits, .thread = x.running, .time = knows()->of[x.running]};
    if (update) made.released = value_of(o, o->count - 1)->released;
    if (releases(order)) join_clock(&made.released, knows());
    if (order == SEQ_CST) o->last_seq_cst = o->count;
    o->seen[x.running] = o->count;
    *value_of(o, o->count++) = made;
    tick();
}

#define PLACE ((uintptr_t)__builtin_return_address(0) - 1)

/* Memory holds the latest value. */
#define ATOMIC(size, type)                                                                         \
    type __tsan_atomic##size##_load(const volatile type *address, int order);                      \
    type __tsan_atomic##size##_load(const volatile type *address, int order)                       \
    {                                                                                              \
        order = order_at(PLACE, order);                                                            \
        schedule();                                                                                \
        return (type)load(object_of((const void *)address, *address), order);                      \
    }                                                                                              \
    void __tsan_atomic##size##_store(volatile type *address, type value, int order);               \
    void __tsan_atomic##size##_store(volatile type *address, type value, int order)                \
    {                                                                                              \
        order = order_at(PLACE, order);                                                            \
        schedule();                                                                                \
        store(object_of((const void *)address, *address), value, order, false);                    \
        *address = value;                                                                          \
    }                                                                                              \
    static type update##size(volatile type *address, type add, int order)                          \
    {                                                                                              \
        schedule();                                                                                \
        struct object *o = object_of((const void *)address, *address);                             \
        type before = (type)find_value(o, o->count - 1, order);                                    \
        store(o, (type)(before + add), order, true);                                               \
        *address = (type)(before + add);                                                           \
        return before;                                                                             \
    }                                                                                              \
    type __tsan_atomic##size##_fetch_add(volatile type *address, type value, int order);           \
    type __tsan_atomic##size##_fetch_add(volatile type *address, type value, int order)            \
    {                                                                                              \
        return update##size(address, value, order_at(PLACE, order));                               \
    }                                                                                              \
    type __tsan_atomic##size##_fetch_sub(volatile type *address, type value, int order);           \
    type __tsan_atomic##size##_fetch_sub(volatile type *address, type value, int order)            \
    {                                                                                              \
        return update##size(address, (type)(0 - value), order_at(PLACE, order));                   \
    }                                                                                              \
    int __tsan_atomic##size##_compare_exchange_weak(volatile type *address, type *expected,        \
                                                    type value, int order, int failing);           \
    int __tsan_atomic##size##_compare_exchange_weak(volatile type *address, type *expected,        \
                                                    type value, int order, int failing)            \
    {                                                                                              \
        order = order_at(PLACE, order);                                                            \
        if (order < failing) failing = order;                                                      \
        schedule();                                                                                \
        struct object *o = object_of((const void *)address, *address);                             \
        if (value_of(o, o->count - 1)->bits != *expected || explorer_draw(8) == 0) {               \
            *expected = (type)find_value(o, o->count - 1, failing);                                \
            return 0;                                                                              \
        }                                                                                          \
        (void)find_value(o, o->count - 1, order);                                                  \
        store(o, value, order, true);                                                              \
        *address = value;                                                                          \
        return 1;                                                                                  \
    }

ATOMIC(8, uint8_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

#define PLAIN(bytes)                                                                               \
    void __tsan_read##bytes(void *address);                                                        \
    void __tsan_write##bytes(void *address);                                                       \
    void __tsan_read##bytes(void *address)                                                         \
    {                                                                                              \
        access_bytes(address, bytes, false);                                                       \
    }                                                                                              \
    void __tsan_write##bytes(void *address)                                                        \
    {                                                                                              \
        access_bytes(address, bytes, true);                                                        \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *address, size_t bytes);
void __tsan_write_range(void *address, size_t bytes);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_init(void);

void __tsan_read_range(void *address, size_t bytes)
{
    access_bytes(address, bytes, false);
}

void __tsan_write_range(void *address, size_t bytes)
{
    access_bytes(address, bytes, true);
}

void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void)
{
}

void __tsan_init(void)
{
}

/* ---- executions ---- */

static void begin(uint64_t seed)
{
    x.random = seed * UINT64_C(0x9E3779B97F4A7C15) | 1;
    for (int i = 0; i < 4; i++)
        (void)explorer_draw(2);
    x.switches = 2u << explorer_draw(9);
    x.stale_odds = 2u << explorer_draw(5);
    x.failure = NULL;
    x.steps = x.stale = x.running = 0;
    x.now = 1000000000;
    memset(x.words, 0, WORDS * sizeof *x.words);
    for (int i = 0; i < OBJECTS; i++)
        x.objects[i].address = NULL, x.objects[i].count = 0;
    memset(x.locks, 0, sizeof x.locks);
    for (int i = 0; i < THREADS; i++) {
        x.threads[i].state = UNUSED;
        x.threads[i].knows = (struct clock){{0}};
    }
}

/* NULL, or why it fails.  The memory of a failed execution is lost. */
static const char *execute(explorer_body body, uint64_t seed)
{
    begin(seed);
    (void)create(body, NULL);
    x.threads[0].knows.of[0] = 1;
    volatile bool over = false;
    getcontext(&x.main);
    if (!over) {
        over = true;
        x.active = true;
        setcontext(&x.threads[0].context);
    }
    x.active = false;
    return x.failure;
}

int explorer_main(int count, char **words, explorer_body body)
{
    bool weaken = count == 6 && strcmp(words[1], "weaken") == 0;
    if (!weaken && (count != 4 || strcmp(words[1], "list") != 0)) {
        fprintf(stderr, "usage: %s list N SEED | weaken N SEED ADDRESS ORDER\n", words[0]);
        return 2;
    }
    uint64_t executions = strtoull(words[2], NULL, 10), seed = strtoull(words[3], NULL, 10);
    if (weaken) {
        x.weak_place = (uintptr_t)strtoull(words[4], NULL, 16);
        x.weak_order = atoi(words[5]);
    }
    x.words = calloc(WORDS, sizeof *x.words);
    if (x.words == NULL) abort();
    const char *why = NULL;
    uint64_t i = 0;
    while (i < executions && why == NULL)
        why = execute(body, seed + i++);
    if (why != NULL)
        printf("# seed %llu, execution %llu: %s\n", (unsigned long long)(seed + i - 1),
               (unsigned long long)i, why);
    for (uint32_t place = 0; !weaken && place < x.place_count; place++)
        printf("%llx %d\n", (unsigned long long)x.places[place].address, x.places[place].order);
    free(x.words);
    for (int thread = 0; thread < THREADS; thread++)
        free(x.threads[thread].stack);
    return weaken == (why != NULL) ? 0 : 1;
}
