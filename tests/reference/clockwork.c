/* SPDX-License-Identifier: MIT */
#include "tests/reference/clock_units.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct place { /* a buffer while the run goes on */
    long held, claimed, host;
    bool closed, unread;
};

struct work { /* a stage while the run goes on */
    bool busy, ended;
    long batch, end, firings;
};

struct play {
    const struct clock_pipeline *p;
    struct clock_times times;
    struct place places[CLOCK_BUFFERS];
    struct work works[CLOCK_STAGES];
    long free_at[CLOCK_STAGES];
    long handed[CLOCK_STAGES]; /* when the compute units got the last launch of the queue */
    long issued[CLOCK_STAGES], flowed[CLOCK_STAGES]; /* its instructions, its bytes */
    long *used, used_count;                          /* of the bandwidth, in each cycle */
    int last[CLOCK_STAGES];                          /* stage of a queue's last launch, -1: none */
    long clock;
    struct clock_units units; /* where importances differ */
    int turn;
    bool waiver, ended_since;
};

static long least(long a, long b)
{
    return a < b ? a : b;
}

/* ---- how long a launch executes, cycle by cycle ---- */

static long warp_cost(const struct clock_stage *stage, long firing)
{
    return stage->counted ? clock_counted(firing) : stage->warp_cycles;
}

/* Compute units whose first core is free take the next warps, the lowest first; then a cycle passes. */
static long issue(const struct clock_stage *stage, long cus, long cores, long first, long firings)
{
    struct clock_cu units[CLOCK_CUS] = {0};
    long next = 0, cycles = 0;
    if (stage->state) cus = cores = 1;
    for (bool busy = true; busy;) {
        busy = false;
        for (long c = 0; c < cus; c++) {
            for (; clock_cu_can_begin(&units[c], cores) && next < firings;
                 next += stage->warp_firings)
                clock_cu_begin(&units[c], warp_cost(stage, first + next));
            busy |= clock_cu_pass(&units[c]);
        }
        cycles += busy;
    }
    return cycles;
}

/* Until the last instruction has ended, each warp with its pauses. */
static long compute(const struct clock_pipeline *p, const struct clock_stage *stage, long cus,
                    long first, long firings)
{
    long sum = 0, longest = 0, cycles = issue(stage, cus, p->cores, first, firings);
    if (stage->state) return cycles * p->between;
    for (long i = 0; i < firings; i += stage->warp_firings) {
        long cost = warp_cost(stage, first + i);
        sum += cost;
        if (cost > longest) longest = cost;
    }
    long paused =
        clock_pauses(p, clock_there(p, stage, cus, clock_warps(stage, firings)), sum, longest);
    return paused > cycles ? paused : cycles;
}

/* The first bytes come and the last ones go with the latency of memory.  Between, every cycle brings
 * the share's bytes, of which the device's cus are a common denominator: those that the caches miss
 * from memory, all of them through the caches.  The units at work have no more under way than they
 * can; of these bytes the latency is a common denominator.  Those that miss then wait for the caches, too.  Warps
 * without a place wait for those that have one.  Where the bandwidth is shared, the whole of it is there, and the
 * share is what the first two need of it, on the mean. */
struct clock_flow clock_flow_of(const struct clock_pipeline *p, const struct clock_stage *stage,
                                long firings)
{
    struct clock_flow flow = {0};
    long cus = p->queue_cus[stage->queue], width = p->shared ? p->cus : cus, asked = 0;
    long bytes = clock_bytes(p, stage, firings);
    long missed = clock_missed(p, stage, firings) * p->cus;
    long through = p->cache_bytes_per_cycle > 0 ? bytes * p->cus : 0;
    long under_way = p->in_flight > 0 ? bytes * p->latency : 0;
    long then = under_way > 0 && p->cache_bytes_per_cycle > 0 ? missed : 0;
    long warps = clock_warps(stage, firings), there = clock_there(p, stage, cus, warps);
    long waiting = (warps - there) * p->residence;
    if (bytes == 0) return flow;
    for (; missed > 0 || through > 0 || under_way > 0 || then > 0 || waiting > 0; flow.cycles++) {
        asked += missed > 0 || through > 0;
        missed -= p->bytes_per_cycle * width;
        through -= p->cache_bytes_per_cycle * width;
        if (under_way > 0)
            under_way -= p->in_flight * clock_at_work(stage, cus, firings);
        else
            then -= p->cache_bytes_per_cycle * width;
        waiting -= there;
    }
    while (flow.share * flow.cycles < asked * CLOCK_WHOLE)
        flow.share += flow.share == 0 ? asked * CLOCK_WHOLE / flow.cycles : 1;
    flow.left = flow.share * flow.cycles;
    return flow;
}

static long memory(const struct clock_pipeline *p, const struct clock_stage *stage, long firings)
{
    return clock_bytes(p, stage, firings) > 0
               ? 2 * p->latency + clock_flow_of(p, stage, firings).cycles
               : 0;
}

/* ---- stages ---- */

static long fits_inputs(const struct play *play, const struct clock_stage *stage)
{
    long firings = stage->batch_max;
    for (int i = 0; i < stage->input_count; i++) {
        const struct clock_buffer *buffer = &play->p->buffers[stage->inputs[i]];
        const struct place *place = &play->places[stage->inputs[i]];
        long packets = buffer->in_port && !place->closed ? buffer->depth : place->held;
        firings = least(firings, packets / stage->pops[i]);
    }
    return firings;
}

static long fits_outputs(const struct play *play, const struct clock_stage *stage)
{
    long firings = stage->batch_max;
    for (int i = 0; i < stage->output_count; i++) {
        const struct place *place = &play->places[stage->outputs[i]];
        long room = play->p->buffers[stage->outputs[i]].depth - place->held - place->claimed;
        firings = least(firings, room / stage->pushes[i]);
    }
    return firings;
}

static bool reads_closed(const struct play *play, const struct clock_stage *stage)
{
    for (int i = 0; i < stage->input_count; i++)
        if (play->places[stage->inputs[i]].closed) return true;
    return false;
}

static long ready(const struct play *play, const struct clock_stage *stage)
{
    long firings = least(fits_inputs(play, stage), fits_outputs(play, stage));
    if (firings >= stage->threshold || play->waiver || reads_closed(play, stage)) return firings;
    return 0;
}

/* The host fills the port; true: it had to. */
static bool fill(struct play *play, const struct clock_stage *stage, long firings)
{
    for (int i = 0; i < stage->input_count; i++) {
        const struct clock_buffer *buffer = &play->p->buffers[stage->inputs[i]];
        struct place *place = &play->places[stage->inputs[i]];
        if (!buffer->in_port || place->closed || place->held >= firings * stage->pops[i]) continue;
        long given = least(place->host, buffer->depth - place->held);
        place->held += given;
        place->host -= given;
        place->closed = place->held < buffer->depth;
        play->ended_since |= place->closed;
        return true;
    }
    return false;
}

static long look(struct play *play, int index)
{
    const struct clock_stage *stage = &play->p->stages[index];
    if (play->works[index].busy || play->works[index].ended) return 0;
    for (;;) {
        long firings = ready(play, stage);
        if (firings == 0 || !fill(play, stage, firings)) return firings;
    }
}

bool clock_is_in_order(const struct clock_pipeline *p, int buffer)
{
    const struct clock_stage *writer = NULL, *reader = NULL;
    for (int s = 0; s < p->stage_count; s++) {
        for (int i = 0; i < p->stages[s].output_count; i++)
            if (p->stages[s].outputs[i] == buffer) writer = &p->stages[s];
        for (int i = 0; i < p->stages[s].input_count; i++)
            if (p->stages[s].inputs[i] == buffer) reader = &p->stages[s];
    }
    return writer != NULL && reader != NULL && writer->queue == reader->queue &&
           writer->importance == reader->importance;
}

/* Frees what the firings have consumed, and makes visible what they have appended, in the buffers
 * that are in order, or in the others. */
static void hand_over(struct play *play, const struct clock_stage *stage, long firings,
                      bool in_order)
{
    for (int i = 0; i < stage->input_count; i++)
        if (clock_is_in_order(play->p, stage->inputs[i]) == in_order)
            play->places[stage->inputs[i]].held -= firings * stage->pops[i];
    for (int i = 0; i < stage->output_count; i++) {
        struct place *place = &play->places[stage->outputs[i]];
        if (clock_is_in_order(play->p, stage->outputs[i]) != in_order) continue;
        long packets = firings * stage->pushes[i];
        place->claimed -= packets;
        if (!play->p->buffers[stage->outputs[i]].out_port && !place->unread) place->held += packets;
    }
}

/* When the packet has been processed: cycles pass one by one from the moment of dispatch on. */
static long processed(const struct play *play, const struct clock_stage *stage)
{
    const struct clock_pipeline *p = play->p;
    long enqueue = p->enqueue, process = p->process, now = play->clock;
    long from =
        clock_has_barrier(p, stage) ? play->free_at[stage->queue] : play->handed[stage->queue];
    for (; enqueue > 0 || process > 0 || now < from; now++) {
        if (enqueue > 0)
            enqueue--;
        else
            process -= now >= from;
    }
    return now;
}

/* Passes so many cycles from `now` on, but none before `*free`; the end, which is `*free` then. */
static long pass(long now, long cycles, long *free)
{
    while (now < *free)
        now++;
    return *free = now + cycles;
}

/* Of the bandwidth, what launches have used in that cycle. */
static long *used_in(struct play *play, long cycle)
{
    if (cycle >= play->used_count) {
        long count = cycle * 2 + 1024;
        play->used = realloc(play->used, (size_t)count * sizeof *play->used);
        if (play->used == NULL) abort();
        memset(play->used + play->used_count, 0,
               (size_t)(count - play->used_count) * sizeof *play->used);
        play->used_count = count;
    }
    return &play->used[cycle];
}

/* The moment at which the bytes of a launch have come, the first of which are there then. */
static long flow(struct play *play, const struct clock_stage *stage, long there, long firings)
{
    struct clock_flow flow = clock_flow_of(play->p, stage, firings);
    if (!play->p->shared) return pass(there, flow.cycles, &play->flowed[stage->queue]);
    for (; flow.left > 0; there++) {
        long *used = used_in(play, there);
        long taken = least(least(flow.share, flow.left), CLOCK_WHOLE - *used);
        *used += taken;
        flow.left -= taken;
    }
    return there;
}

/* The end of an execution that begins while those before it go on. */
static long executed(struct play *play, const struct clock_stage *stage, long start, long first,
                     long firings)
{
    const struct clock_pipeline *p = play->p;
    long cus = p->queue_cus[stage->queue], moving = memory(p, stage, firings);
    long way = moving > 0 ? p->latency : 0, flowed = 0;
    long issuing = issue(stage, cus, p->cores, first, firings);
    long issued = pass(start + way, issuing, &play->issued[stage->queue]);
    long end = start + way + compute(p, stage, cus, first, firings);
    if (moving > 0) flowed = flow(play, stage, start + way, firings);
    if (issued > end) end = issued;
    return (flowed > end ? flowed : end) + way;
}

struct parts {
    long launch, change, execute, cleanup;
};

/* Of a launch of its stage that begins then. */
static struct parts parts_of(struct play *play, int index, long firings, long begin)
{
    const struct clock_pipeline *p = play->p;
    const struct clock_stage *stage = &p->stages[index];
    int queue = stage->queue;
    long first = play->works[index].firings, ready = processed(play, stage),
         cus = p->queue_cus[queue];
    struct parts parts = {.launch = p->enqueue + p->process, .cleanup = p->cleanup};
    if (p->ahead) parts.launch = ready > begin ? ready - begin : 0;
    if (play->last[queue] >= 0 && play->last[queue] != index) parts.change = p->change;
    play->handed[queue] = begin + parts.launch;
    if (p->overlap && p->ahead && parts.change == 0) {
        long end = executed(play, stage, ready, first, firings), there = play->handed[queue];
        parts.execute = end > there ? end - there : 0;
        if (end < there) parts.cleanup = end + p->cleanup > there ? end + p->cleanup - there : 0;
        play->handed[queue] = ready;
        return parts;
    }
    long computing = compute(p, stage, cus, first, firings);
    parts.execute = computing;
    if (memory(p, stage, firings) > 0) { /* packets come before, and go after that */
        long there = play->handed[queue] + parts.change + p->latency;
        long flowing = flow(play, stage, there, firings) - there;
        parts.execute = 2 * p->latency + (computing > flowing ? computing : flowing);
    }
    play->issued[queue] = play->flowed[queue] =
        play->handed[queue] + parts.change + parts.execute + parts.cleanup;
    return parts;
}

/* When it ends, where launches do not interrupt each other. */
static void time_launch(struct play *play, int index, long firings)
{
    int queue = play->p->stages[index].queue;
    long begin = play->clock > play->free_at[queue] ? play->clock : play->free_at[queue];
    const struct parts parts = parts_of(play, index, firings, begin);
    play->works[index].end = begin + parts.launch + parts.change + parts.execute + parts.cleanup;
    play->times.launch[index] += parts.launch + parts.cleanup;
    play->free_at[queue] = play->works[index].end;
    play->last[queue] = index;
    play->times.execute[index] += parts.execute;
    play->times.changes[index] += parts.change;
}

static void dispatch(struct play *play, int index, long firings)
{
    const struct clock_stage *stage = &play->p->stages[index];
    if (play->p->ranked)
        clock_units_enqueue(&play->units, index, play->clock, play->works[index].firings, firings);
    else
        time_launch(play, index, firings);
    for (int i = 0; i < stage->output_count; i++)
        play->places[stage->outputs[i]].claimed += firings * stage->pushes[i];
    play->works[index].busy = true;
    play->works[index].batch = firings;
    play->works[index].firings += firings;
    play->times.dispatches[index]++;
    play->waiver = false;
    hand_over(play, stage, firings, true);
}

static void complete(struct play *play, int index)
{
    struct work *work = &play->works[index];
    work->busy = false;
    hand_over(play, &play->p->stages[index], work->batch, false);
}

/* ---- instructions ---- */

static bool is_over(const struct play *play, const struct clock_stage *stage)
{
    for (int i = 0; i < stage->input_count; i++) {
        const struct place *place = &play->places[stage->inputs[i]];
        if (place->closed && place->held < stage->pops[i]) return true;
    }
    return false;
}

static void propagate_ends(struct play *play)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int s = 0; s < play->p->stage_count; s++) {
            const struct clock_stage *stage = &play->p->stages[s];
            struct work *work = &play->works[s];
            if (work->busy || work->ended || !is_over(play, stage)) continue;
            work->ended = changed = play->ended_since = true;
            for (int i = 0; i < stage->output_count; i++)
                play->places[stage->outputs[i]].closed = true;
            for (int i = 0; i < stage->input_count; i++) {
                play->places[stage->inputs[i]].held = 0;
                play->places[stage->inputs[i]].unread = true;
            }
        }
    }
}

/* True: a stage has been found, and dispatched after the instruction that does it. */
static bool select_in_turn(struct play *play)
{
    for (int i = 0; i < play->p->stage_count; i++) {
        int index = (play->turn + i) % play->p->stage_count;
        long firings = look(play, index);
        if (firings == 0) continue;
        play->turn = (index + 1) % play->p->stage_count;
        play->clock++;
        dispatch(play, index, firings);
        return true;
    }
    return false;
}

/* Where importances differ: what the units have ended by now, or end next. */
static void take_ends(struct play *play)
{
    for (int s = 0; s < play->p->stage_count; s++)
        play->works[s].end = LONG_MAX;
    if (!clock_units_wait(&play->units, play->clock)) return;
    for (int s = 0; s < play->p->stage_count; s++) {
        if (!play->units.launches[s].ended) continue;
        play->works[s].end = play->units.now;
        play->units.launches[s].ended = false;
    }
}

/* True: the loop goes on. */
static bool wait(struct play *play)
{
    long next = -1;
    if (play->p->ranked) take_ends(play);
    for (int s = 0; s < play->p->stage_count; s++)
        if (play->works[s].busy && (next < 0 || play->works[s].end < next))
            next = play->works[s].end;
    if (next < 0) {
        bool again = play->ended_since || !play->waiver;
        play->waiver = !play->ended_since;
        play->ended_since = false;
        return again;
    }
    play->ended_since = false;
    if (next > play->clock) play->clock = next;
    for (int s = 0; s < play->p->stage_count; s++)
        if (play->works[s].busy && play->works[s].end <= play->clock) complete(play, s);
    return true;
}

struct clock_times clock_run(const struct clock_pipeline *pipeline)
{
    struct play play = {.p = pipeline, .clock = pipeline->prologue};
    for (int i = 0; i < pipeline->buffer_count; i++)
        play.places[i].host = pipeline->packets;
    for (int i = 0; i < pipeline->queue_count; i++)
        play.last[i] = -1;
    clock_units_open(&play.units, pipeline, &play.times);
    for (;;) {
        play.clock++; /* ends */
        propagate_ends(&play);
        play.clock++; /* round_robin */
        if (select_in_turn(&play)) {
            play.clock++; /* jump */
            continue;
        }
        play.clock++; /* wait */
        if (!wait(&play)) break;
    }
    play.clock++; /* halt */
    free(play.used);
    play.times.total = play.clock;
    return play.times;
}
