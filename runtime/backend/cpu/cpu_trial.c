/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cpu/cpu_trial.h"

#include <math.h>

/* Unshared execution has to be faster by this factor: measurements are not exact, and the other threads have nothing else
 * to do. */
#define ALONE_GAIN 0.98

/* A trial of unshared execution ends when its window has taken so many times as long as a shared one; the first window
 * after the change may take longer.  A trial of sharing goes on to its end: threads begin slowly. */
#define RULED_OUT 1.4
#define RULED_OUT_FRESH 1.7

static void begin_spell(struct prt_cpu_trial *trial, bool alone, uint32_t windows)
{
    trial->fresh = alone != trial->alone;
    trial->alone = alone;
    trial->windows_left = windows;
    trial->best = INFINITY;
}

void prt_cpu_trial_begin(struct prt_cpu_trial *trial)
{
    *trial = (struct prt_cpu_trial){.open = false};
    begin_spell(trial, false, PRT_CPU_TRIED);
    trial->fresh = true;
}

/* After both ways have been tried: chooses the faster one. */
static void choose_way(struct prt_cpu_trial *trial)
{
    bool before = !trial->alone, alone = trial->pace[1] < trial->pace[0] * ALONE_GAIN;
    if (trial->kept == 0 || alone != before)
        trial->kept = PRT_CPU_KEPT_LEAST;
    else if (trial->kept < PRT_CPU_KEPT_MOST)
        trial->kept *= 2;
    begin_spell(trial, alone, trial->kept);
}

static void end_spell(struct prt_cpu_trial *trial)
{
    trial->pace[trial->alone] = trial->best;
    trial->tried = !trial->tried;
    if (trial->tried)
        begin_spell(trial, !trial->alone, PRT_CPU_TRIED);
    else
        choose_way(trial);
}

static void end_window(struct prt_cpu_trial *trial, uint64_t now_ns)
{
    double pace = (double)(now_ns - trial->since_ns) / (double)trial->work;
    trial->round_work = trial->work / trial->rounds;
    if (trial->fresh) {
        trial->fresh = false;
        return;
    }
    if (trial->windows_left == PRT_CPU_TRIED || pace < trial->best) trial->best = pace;
    if (--trial->windows_left == 0) end_spell(trial);
}

/* Returns true if the trial of unshared execution has already taken too long.  Only whole rounds can be compared: until
 * the first one is complete, the time of a whole shared round is allowed. */
static bool is_ruled_out(const struct prt_cpu_trial *trial, uint64_t now_ns)
{
    if (!trial->tried || !trial->alone) return false;
    uint64_t work = trial->work > trial->round_work ? trial->work : trial->round_work;
    double factor = trial->fresh ? RULED_OUT_FRESH : RULED_OUT;
    uint64_t taken = now_ns - trial->since_ns;
    return taken >= PRT_CPU_WINDOW_NS && (double)taken > factor * trial->pace[0] * (double)work;
}

/* At the end of a round. */
static bool is_window_over(const struct prt_cpu_trial *trial, uint32_t rounds, uint64_t now_ns)
{
    uint64_t taken = now_ns - trial->since_ns;
    if (taken < PRT_CPU_WINDOW_NS) return false;
    return trial->rounds >= rounds || taken >= PRT_CPU_WINDOW_LONG_NS;
}

static void open_window(struct prt_cpu_trial *trial, uint32_t object, uint64_t now_ns)
{
    trial->open = true;
    trial->object = object;
    trial->since_ns = now_ns;
    trial->work = 0;
    trial->rounds = 0;
}

bool prt_cpu_trial_alone(struct prt_cpu_trial *trial, uint32_t object, uint64_t work,
                         uint32_t rounds, uint64_t now_ns)
{
    bool round_ends = trial->open && object == trial->object;
    trial->rounds += round_ends;
    if (!trial->open) {
        open_window(trial, object, now_ns);
    } else if (is_ruled_out(trial, now_ns)) {
        trial->best = INFINITY;
        end_spell(trial);
        open_window(trial, object, now_ns);
    } else if (round_ends && is_window_over(trial, rounds, now_ns)) {
        end_window(trial, now_ns);
        open_window(trial, object, now_ns);
    }
    trial->work += work;
    return trial->alone;
}
