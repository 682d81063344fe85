/* SPDX-License-Identifier: MIT */
#include "compiler/context/phase_times.h"

#include <inttypes.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

struct moment {
    int64_t wall_ns, processor_ns;
};

struct phase_times {
    struct moment spent[PHASE_COUNT];
    uint64_t counts[COUNT_COUNT];
    struct moment since;
    enum compile_phase current;
};

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t microseconds_ns(struct timeval time)
{
    return ((int64_t)time.tv_sec * 1000000 + time.tv_usec) * 1000;
}

static struct moment moment_now(void)
{
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    return (struct moment){clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_PROCESS_CPUTIME_ID) +
                                                          microseconds_ns(children.ru_utime) +
                                                          microseconds_ns(children.ru_stime)};
}

void phase_times_begin(struct compile *cx)
{
    cx->times = ARENA_NEW(cx->arena, struct phase_times);
    cx->times->since = moment_now();
}

enum compile_phase phase_begin(const struct compile *cx, enum compile_phase phase)
{
    struct phase_times *times = cx->times;
    if (times == NULL) return phase;
    enum compile_phase before = times->current;
    struct moment at = moment_now(), *spent = &times->spent[before];
    spent->wall_ns += at.wall_ns - times->since.wall_ns;
    spent->processor_ns += at.processor_ns - times->since.processor_ns;
    times->since = at;
    times->current = phase;
    return before;
}

void phase_count(const struct compile *cx, enum compile_count count, uint64_t more)
{
    if (cx->times != NULL) cx->times->counts[count] += more;
}

void phase_times_restart(const struct compile *cx)
{
    struct phase_times *times = cx->times;
    if (times != NULL)
        *times = (struct phase_times){.since = moment_now(), .current = times->current};
}

void phase_times_pack(struct parcel *parcel, const struct compile *cx)
{
    struct phase_times *times = cx->times;
    if (times == NULL) return;
    phase_resume(cx, phase_begin(cx, PHASE_START));
    for (size_t i = 0; i < PHASE_COUNT; i++) {
        pack_number(parcel, (uint64_t)times->spent[i].wall_ns);
        pack_number(parcel, (uint64_t)times->spent[i].processor_ns);
    }
    for (size_t i = 0; i < COUNT_COUNT; i++)
        pack_number(parcel, times->counts[i]);
}

/* Never negative: the clocks of two processes may differ by a little. */
static int64_t time_without(int64_t from, int64_t part)
{
    return part < from ? from - part : 0;
}

void phase_times_unpack(const struct compile *cx, struct parcel_reader *reader)
{
    struct phase_times *times = cx->times;
    if (times == NULL) return;
    phase_resume(cx, phase_begin(cx, times->current));
    struct moment *waited = &times->spent[times->current];
    for (size_t i = 0; i < PHASE_COUNT; i++) {
        int64_t wall_ns = (int64_t)unpack_number(reader);
        int64_t processor_ns = (int64_t)unpack_number(reader);
        waited->wall_ns = time_without(waited->wall_ns, wall_ns);
        waited->processor_ns = time_without(waited->processor_ns, processor_ns);
        times->spent[i].wall_ns += wall_ns;
        times->spent[i].processor_ns += processor_ns;
    }
    for (size_t i = 0; i < COUNT_COUNT; i++)
        times->counts[i] += unpack_number(reader);
}

static void print_phase_line(FILE *to, const char *name, struct moment spent, struct moment all)
{
    double share = all.wall_ns > 0 ? 100.0 * (double)spent.wall_ns / (double)all.wall_ns : 0;
    fprintf(to, "%-20s %10.2f %10.2f %6.1f %%\n", name, (double)spent.wall_ns * 1e-6,
            (double)spent.processor_ns * 1e-6, share);
}

void phase_times_print(FILE *to, const struct compile *cx)
{
    static const char *const names[] = {
#define X(name, text) text,
        COMPILE_PHASES(X)
#undef X
    };
    static const char *const counts[] = {
#define X(name, text) text,
        COMPILE_COUNTS(X)
#undef X
    };
    struct moment all = {0, 0};
    phase_resume(cx, phase_begin(cx, PHASE_START));
    for (size_t i = 0; i < PHASE_COUNT; i++) {
        all.wall_ns += cx->times->spent[i].wall_ns;
        all.processor_ns += cx->times->spent[i].processor_ns;
    }
    fprintf(to, "%-20s %10s %10s %8s\n", "phase", "wall ms", "cpu ms", "wall");
    for (size_t i = 0; i < PHASE_COUNT; i++)
        if (cx->times->spent[i].wall_ns > 0)
            print_phase_line(to, names[i], cx->times->spent[i], all);
    print_phase_line(to, "all", all, all);
    for (size_t i = 0; i < COUNT_COUNT; i++)
        if (cx->times->counts[i] > 0)
            fprintf(to, "%-31s %10" PRIu64 "\n", counts[i], cx->times->counts[i]);
}
