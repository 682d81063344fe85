/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cpu/cpu_trial.h"

#include <math.h>

/* Unshared execution has to be faster by this factor: measurements are not exact, and the other threads have nothing else
 * to do. */
#define ALONE_GAIN 0.98

/* An unshared window that takes so many times as long as a shared one ends the trial.  A trial of sharing goes on to its
 * end: threads begin slowly. */
#define RULED_OUT 1.4

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
static void decide(struct prt_cpu_trial *trial)
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
        decide(trial);
}

static void end_window(struct prt_cpu_trial *trial, uint64_t now_ns)
{
    double pace = (double)(now_ns - trial->since_ns) / (double)trial->work;
    if (trial->fresh) {
        trial->fresh = false;
        return;
    }
    if (trial->tried && trial->alone && pace > trial->pace[0] * RULED_OUT) {
        trial->best = pace;
        end_spell(trial);
        return;
    }
    if (trial->windows_left == PRT_CPU_TRIED || pace < trial->best) trial->best = pace;
    if (--trial->windows_left == 0) end_spell(trial);
}

bool prt_cpu_trial_alone(struct prt_cpu_trial *trial, uint32_t object, uint64_t work,
                         uint32_t rounds, uint64_t now_ns)
{
    bool again = trial->open && object == trial->object;
    if (again && trial->rounds_left > 0) trial->rounds_left--;
    bool ends = again && trial->rounds_left == 0 && now_ns - trial->since_ns >= PRT_CPU_WINDOW_NS;
    if (ends) end_window(trial, now_ns);
    if (ends || !trial->open) {
        trial->open = true;
        trial->object = object;
        trial->since_ns = now_ns;
        trial->work = 0;
        trial->rounds_left = rounds;
    }
    trial->work += work;
    return trial->alone;
}
