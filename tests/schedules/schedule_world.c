/* SPDX-License-Identifier: MIT */
/* The device and the host around scheduler programs: see schedule_world.h. */
#include "tests/schedules/schedule_world.h"

#include <stdlib.h>
#include <string.h>

enum { NOTHING = -1, GARBAGE = -2 };

const char *const schedule_fault_names[SCHEDULE_FAULTS] = {
    "fine", "underflow", "overflow", "disturbed", "order",  "ended", "unselected",
    "lost", "work left", "stall",    "livelock",  "unseen", "output"};

void schedule_world_fail(struct schedule_world *w, enum schedule_fault fault, uint32_t stage)
{
    if (w->fault != SCHEDULE_FINE) return;
    w->fault = fault;
    w->fault_stage = stage;
}

uint64_t schedule_world_draw(struct schedule_world *w, uint64_t below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return below > 0 ? w->random % below : 0;
}

/* ---- the graph ---- */

bool schedule_world_fits(const struct prt_container *c)
{
    if (c->pipeline->flags & (CONTAINER_PIPELINE_UNPROVEN | CONTAINER_PIPELINE_COUNTEREXAMPLE))
        return false;
    for (uint32_t i = 0; i < c->input_count; i++)
        if (c->inputs[i].window_width > 0) return false;
    return c->set_count <= SCHEDULE_SETS_MAX;
}

static const struct container_input *input_of(const struct schedule_world *w,
                                              const struct schedule_stage *s, uint32_t i)
{
    return &w->container->inputs[s->node->first_input + i];
}

static const struct container_output *output_of(const struct schedule_world *w,
                                                const struct schedule_stage *s, uint32_t o)
{
    return &w->container->outputs[s->node->first_output + o];
}

static struct schedule_stage *writer_of(const struct schedule_world *w, uint32_t buffer)
{
    uint32_t node = w->container->buffers[buffer].writer_node;
    return node == CONTAINER_NONE ? NULL : &w->stages[w->stage_of[node]];
}

/* Spreads `fed` and `driven` along the buffers. */
static void mark_driven(struct schedule_world *w)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t s = 0; s < w->container->stage_count; s++) {
            struct schedule_stage *stage = &w->stages[s];
            bool fed = stage->fed, driven = stage->driven || stage->node->input_count == 0;
            for (uint32_t i = 0; i < stage->node->input_count; i++) {
                const struct schedule_stage *writer = writer_of(w, input_of(w, stage, i)->buffer);
                fed = fed || writer == NULL || writer->fed;
                driven = driven || writer == NULL || writer->driven;
            }
            more = more || fed != stage->fed || driven != stage->driven;
            stage->fed = fed;
            stage->driven = driven;
        }
    }
}

/* Is there a path of buffers from one stage to the other? */
static bool leads_to(const struct schedule_world *w, uint32_t from, uint32_t to, bool *seen)
{
    const struct schedule_stage *stage = &w->stages[from];
    seen[from] = true;
    for (uint32_t o = 0; o < stage->node->output_count; o++) {
        const struct container_buffer *b = &w->container->buffers[output_of(w, stage, o)->buffer];
        for (uint32_t r = b->first_reader; r < b->first_reader + b->reader_count; r++) {
            uint32_t next = w->stage_of[w->container->readers[r].node];
            if (next == to || (!seen[next] && leads_to(w, next, to, seen))) return true;
        }
    }
    return false;
}

/* The component of a stage is the lowest stage that it leads to and that leads to it. */
static void find_components(struct schedule_world *w)
{
    uint32_t count = w->container->stage_count;
    bool *seen = calloc(count, sizeof *seen);
    for (uint32_t s = 0; s < count && seen != NULL; s++) {
        w->stages[s].component = s;
        if (w->stages[s].fed) continue;
        for (uint32_t t = 0; t < s; t++) {
            memset(seen, 0, count * sizeof *seen);
            bool there = leads_to(w, s, t, seen);
            memset(seen, 0, count * sizeof *seen);
            if (!there || !leads_to(w, t, s, seen)) continue;
            w->stages[s].component = w->stages[t].component;
            break;
        }
    }
    free(seen);
}

static void fill_buffer(struct schedule_world *w, uint32_t index)
{
    struct schedule_buffer *b = &w->buffers[index];
    b->record = &w->container->buffers[index];
    b->committed = b->written = b->record->initial_packets;
    b->left = b->record->outer == CONTAINER_OUTER_IN ? w->scenario->packets_in : 0;
    b->slots = malloc(b->record->depth_packets * sizeof *b->slots);
    for (uint64_t p = 0; p < b->record->depth_packets && b->slots != NULL; p++)
        b->slots[p] = p < b->committed ? (int64_t)p : NOTHING;
    for (uint32_t r = b->record->first_reader;
         r < b->record->first_reader + b->record->reader_count; r++)
        w->readers[r].attached = true;
}

struct schedule_world *schedule_world_create(const struct prt_container *c,
                                             const struct schedule_scenario *scenario)
{
    struct schedule_world *w = calloc(1, sizeof *w);
    if (w == NULL) abort();
    w->container = c;
    w->scenario = scenario;
    w->random = scenario->seed * 2 + 1;
    w->stages = calloc(c->stage_count, sizeof *w->stages);
    w->buffers = calloc(c->buffer_count + 1, sizeof *w->buffers);
    w->readers = calloc(c->reader_count + 1, sizeof *w->readers);
    w->stage_of = calloc(c->node_count, sizeof *w->stage_of);
    w->queues = calloc(c->stage_count, sizeof *w->queues);
    if (!w->stages || !w->buffers || !w->readers || !w->stage_of || !w->queues) abort();
    for (uint32_t s = 0; s < c->stage_count; s++) {
        uint32_t node = c->stages[s].node;
        w->stage_of[node] = s;
        w->stages[s] = (struct schedule_stage){.node = &c->nodes[node],
                                               .number = s,
                                               .node_number = node,
                                               .queue = CONTAINER_NONE,
                                               .threshold = c->stages[s].threshold,
                                               .batch_max = c->stages[s].batch_max};
    }
    for (uint32_t b = 0; b < c->buffer_count; b++)
        fill_buffer(w, b);
    mark_driven(w);
    find_components(w);
    return w;
}

void schedule_world_free(struct schedule_world *w)
{
    for (uint32_t b = 0; b < w->container->buffer_count; b++)
        free(w->buffers[b].slots);
    for (uint32_t q = 0; q < w->queue_count; q++)
        free(w->queues[q].launches);
    free(w->stages);
    free(w->buffers);
    free(w->readers);
    free(w->stage_of);
    free(w->queues);
    free(w);
}

/* ---- counts ---- */

uint64_t schedule_held(const struct schedule_world *w, const struct container_input *input)
{
    const struct schedule_buffer *b = &w->buffers[input->buffer];
    uint64_t freed = w->readers[input->reader].freed;
    return b->committed > freed ? b->committed - freed : 0;
}

/* The packet that the slowest reader, or the host, has not given back; `eaten`: not read. */
static uint64_t oldest_of(const struct schedule_world *w, uint32_t buffer, bool eaten)
{
    const struct schedule_buffer *b = &w->buffers[buffer];
    uint64_t oldest = eaten ? b->written : b->committed;
    if (b->record->outer == CONTAINER_OUTER_OUT) return b->taken;
    for (uint32_t r = b->record->first_reader;
         r < b->record->first_reader + b->record->reader_count; r++) {
        uint64_t at = eaten ? w->readers[r].eaten : w->readers[r].freed;
        if (w->readers[r].attached && at < oldest) oldest = at;
    }
    return oldest;
}

uint64_t schedule_room(const struct schedule_world *w, uint32_t buffer)
{
    const struct schedule_buffer *b = &w->buffers[buffer];
    uint64_t used = b->committed + b->claimed - oldest_of(w, buffer, false);
    return used < b->record->depth_packets ? b->record->depth_packets - used : 0;
}

static bool is_open_port(const struct schedule_world *w, uint32_t buffer)
{
    return w->container->buffers[buffer].outer == CONTAINER_OUTER_IN &&
           !w->buffers[buffer].closed && !w->scenario->live;
}

uint64_t schedule_source_left(const struct schedule_world *w, const struct schedule_stage *stage)
{
    if (stage->node->input_count > 0) return UINT64_MAX;
    return stage->fired < w->scenario->firings ? w->scenario->firings - stage->fired : 0;
}

/* Do the ends admit `count` firings? */
static bool ends_admit(const struct schedule_world *w, const struct schedule_stage *stage,
                       uint64_t count)
{
    const struct prt_container *c = w->container;
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct container_input *input = input_of(w, stage, i);
        uint64_t held = schedule_held(w, input);
        if (is_open_port(w, input->buffer)) held += schedule_room(w, input->buffer);
        if (held < schedule_sees(c, input, stage->fired, count)) return false;
    }
    for (uint32_t o = 0; o < stage->node->output_count; o++) {
        const struct container_output *output = output_of(w, stage, o);
        if (schedule_room(w, output->buffer) < schedule_most(c, output, stage->fired, count))
            return false;
    }
    return true;
}

uint64_t schedule_ready(const struct schedule_world *w, const struct schedule_stage *stage)
{
    uint64_t left = schedule_source_left(w, stage),
             most = left < stage->batch_max ? left : stage->batch_max, least = 0;
    if (stage->life != SCHEDULE_RUNS || stage->stopped || (w->interrupted && !stage->driven))
        return 0;
    if (w->interrupted && stage->node->input_count == 0) return 0;
    if (most == 0 || ends_admit(w, stage, most)) return most;
    if (!ends_admit(w, stage, 1)) return 0;
    while (least < most) { /* what n firings need grows with n */
        uint64_t middle = least + (most - least + 1) / 2;
        if (ends_admit(w, stage, middle))
            least = middle;
        else
            most = middle - 1;
    }
    return least;
}

/* ---- the ends of streams and stages ---- */

bool schedule_unwanted(const struct schedule_world *w, const struct schedule_stage *stage)
{
    if (stage->fed) return false;
    for (uint32_t s = 0; s < w->container->stage_count; s++) {
        const struct schedule_stage *member = &w->stages[s];
        if (member->fed || member->component != stage->component) continue;
        if (member->node->output_count == 0) return false;
        for (uint32_t o = 0; o < member->node->output_count; o++) {
            const struct container_buffer *b =
                &w->container->buffers[output_of(w, member, o)->buffer];
            if (b->outer == CONTAINER_OUTER_OUT) return false;
            for (uint32_t r = b->first_reader; r < b->first_reader + b->reader_count; r++) {
                const struct schedule_stage *reader =
                    &w->stages[w->stage_of[w->container->readers[r].node]];
                bool inside = !reader->fed && reader->component == stage->component;
                if (!inside && w->readers[r].attached) return false;
            }
        }
    }
    return true;
}

bool schedule_never_fires(const struct schedule_world *w, const struct schedule_stage *stage)
{
    bool source = stage->node->input_count == 0;
    if (stage->stopped || (source && w->interrupted) || schedule_source_left(w, stage) == 0)
        return true;
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct container_input *input = input_of(w, stage, i);
        if (w->buffers[input->buffer].closed &&
            schedule_held(w, input) < schedule_sees(w->container, input, stage->fired, 1))
            return true;
    }
    return schedule_unwanted(w, stage);
}

static void close_buffer(struct schedule_world *w, uint32_t buffer)
{
    w->buffers[buffer].closed = true;
    w->endings++;
    w->events++;
}

static void end_stage(struct schedule_world *w, struct schedule_stage *stage)
{
    stage->life = SCHEDULE_OVER;
    w->endings++;
    w->events++;
    for (uint32_t i = 0; i < stage->node->input_count; i++)
        w->readers[input_of(w, stage, i)->reader].attached = false;
    for (uint32_t o = 0; o < stage->node->output_count; o++)
        close_buffer(w, output_of(w, stage, o)->buffer);
}

static bool has_finish_room(const struct schedule_world *w, const struct schedule_stage *stage)
{
    for (uint32_t o = 0; o < stage->node->output_count; o++)
        if (schedule_room(w, output_of(w, stage, o)->buffer) < output_of(w, stage, o)->finish_max)
            return false;
    return true;
}

static void enqueue(struct schedule_world *w, struct schedule_launch launch)
{
    struct schedule_queue *queue = &w->queues[w->stages[launch.stage].queue];
    queue->launches[queue->count++] = launch;
    w->stages[launch.stage].in_flight = true;
    w->in_flight++;
    w->events++;
}

/* Does the stage begin to end, or begin its finish? */
static bool end_if_due(struct schedule_world *w, struct schedule_stage *stage)
{
    if (stage->in_flight) return false;
    if (stage->life == SCHEDULE_RUNS && schedule_never_fires(w, stage)) {
        stage->life = SCHEDULE_WAITS_TO_FINISH;
        w->endings++;
        if (!(stage->node->flags & CONTAINER_NODE_FINISH)) end_stage(w, stage);
        return true;
    }
    if (stage->life != SCHEDULE_WAITS_TO_FINISH || !has_finish_room(w, stage)) return false;
    for (uint32_t o = 0; o < stage->node->output_count; o++)
        w->buffers[output_of(w, stage, o)->buffer].claimed += output_of(w, stage, o)->finish_max;
    stage->life = SCHEDULE_FINISHES;
    enqueue(w, (struct schedule_launch){.stage = stage->number, .finish = true});
    return true;
}

void schedule_end_stages(struct schedule_world *w)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t s = 0; s < w->container->stage_count; s++)
            more = end_if_due(w, &w->stages[s]) || more;
    }
}

/* ---- the host ---- */

static void take_in(struct schedule_world *w, uint32_t buffer, uint64_t count)
{
    struct schedule_buffer *b = &w->buffers[buffer];
    for (; count > 0 && b->left > 0 && schedule_room(w, buffer) > 0; count--, b->left--) {
        b->slots[b->written % b->record->depth_packets] = (int64_t)b->written;
        b->written++;
        b->committed++;
        w->events++;
    }
}

void schedule_fill(struct schedule_world *w, uint32_t buffer)
{
    struct schedule_buffer *b = &w->buffers[buffer];
    take_in(w, buffer, UINT64_MAX);
    bool asked_again = schedule_room(w, buffer) > 0 || schedule_world_draw(w, 2) == 0;
    if (!b->closed && b->left == 0 && asked_again) close_buffer(w, buffer);
}

void schedule_interrupt(struct schedule_world *w)
{
    w->interrupted = true;
    for (uint32_t b = 0; b < w->container->buffer_count; b++)
        w->buffers[b].left = 0;
}

/* The host takes packets: each has to be the next one of the stream. */
static void take_out(struct schedule_world *w, uint32_t buffer, uint64_t count)
{
    struct schedule_buffer *b = &w->buffers[buffer];
    for (; count > 0 && b->taken < b->committed; count--, b->taken++) {
        if (b->slots[b->taken % b->record->depth_packets] != (int64_t)b->taken)
            schedule_world_fail(w, SCHEDULE_UNDERFLOW, CONTAINER_NONE);
        w->events++;
    }
}

bool schedule_host_acts(struct schedule_world *w)
{
    uint64_t before = w->events;
    for (uint32_t i = 0; i < w->container->buffer_count; i++) {
        struct schedule_buffer *b = &w->buffers[i];
        if (b->record->outer == CONTAINER_OUTER_OUT)
            take_out(w, i, 1 + schedule_world_draw(w, b->record->depth_packets));
        if (b->record->outer != CONTAINER_OUTER_IN || b->closed) continue;
        if (b->left == 0)
            close_buffer(w, i);
        else
            take_in(w, i, 1 + schedule_world_draw(w, b->record->depth_packets));
    }
    return w->events != before;
}

/* ---- launches: counts ---- */

void schedule_bind(struct schedule_world *w, uint32_t number, uint64_t place)
{
    struct schedule_stage *stage = &w->stages[number];
    uint32_t q = 0;
    place = place * 256 + stage->node->importance;
    while (q < w->queue_count && w->queues[q].place != place)
        q++;
    stage->queue = q;
    if (q < w->queue_count) return;
    w->queues[q] = (struct schedule_queue){.place = place};
    w->queues[q].launches = calloc(w->container->stage_count, sizeof *w->queues[q].launches);
    if (w->queues[q].launches == NULL) abort();
    w->queue_count++;
}

bool schedule_in_order(const struct schedule_world *w, uint32_t buffer)
{
    const struct container_buffer *b = &w->container->buffers[buffer];
    const struct schedule_stage *writer = writer_of(w, buffer);
    if (b->outer != CONTAINER_INNER) return false;
    for (uint32_t r = b->first_reader; r < b->first_reader + b->reader_count; r++)
        if (w->stages[w->stage_of[w->container->readers[r].node]].queue != writer->queue)
            return false;
    return true;
}

/* Are its packets committed when it is dispatched? */
static bool commits_at_once(const struct schedule_world *w, const struct schedule_stage *stage,
                            const struct container_output *output)
{
    return schedule_in_order(w, output->buffer) && output->push_least == output->push &&
           !(stage->node->flags & CONTAINER_NODE_STOPS);
}

void schedule_launch(struct schedule_world *w, uint32_t number, uint64_t count)
{
    struct schedule_stage *stage = &w->stages[number];
    const struct prt_container *c = w->container;
    if (stage->life != SCHEDULE_RUNS || stage->stopped || schedule_source_left(w, stage) < count)
        schedule_world_fail(w, SCHEDULE_ENDED, number);
    if (stage->queue == CONTAINER_NONE || count == 0) {
        schedule_world_fail(w, SCHEDULE_LOST, number);
        return;
    }
    for (uint32_t o = 0; o < stage->node->output_count; o++) {
        const struct container_output *output = output_of(w, stage, o);
        struct schedule_buffer *b = &w->buffers[output->buffer];
        uint64_t most = schedule_most(c, output, stage->fired, count);
        *(commits_at_once(w, stage, output) ? &b->committed : &b->claimed) += most;
    }
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct container_input *input = input_of(w, stage, i);
        if (schedule_in_order(w, input->buffer))
            w->readers[input->reader].freed += schedule_pops(c, input, stage->fired, count);
    }
    enqueue(w, (struct schedule_launch){.stage = number, .first = stage->fired, .count = count});
    stage->fired += count;
}

/* ---- launches: packets ---- */

/* Do the slots hold the packets that the firings see? */
static void read_inputs(struct schedule_world *w, const struct schedule_launch *launch,
                        enum schedule_fault fault)
{
    const struct schedule_stage *stage = &w->stages[launch->stage];
    for (uint32_t i = 0; i < stage->node->input_count && !launch->finish; i++) {
        const struct container_input *input = input_of(w, stage, i);
        const struct schedule_buffer *b = &w->buffers[input->buffer];
        uint64_t first = w->readers[input->reader].eaten;
        uint64_t sees = schedule_sees(w->container, input, launch->first, launch->count);
        for (uint64_t p = first; p < first + sees; p++)
            if (sees > b->record->depth_packets ||
                b->slots[p % b->record->depth_packets] != (int64_t)p)
                schedule_world_fail(w, fault, launch->stage);
    }
}

static uint64_t room_needed(const struct schedule_world *w, const struct schedule_launch *launch,
                            const struct container_output *output)
{
    return launch->finish ? output->finish_max
                          : schedule_most(w->container, output, launch->first, launch->count);
}

/* Overwrites the whole room that the firings may fill. */
static void soil_outputs(struct schedule_world *w, const struct schedule_launch *launch)
{
    const struct schedule_stage *stage = &w->stages[launch->stage];
    for (uint32_t o = 0; o < stage->node->output_count; o++) {
        const struct container_output *output = output_of(w, stage, o);
        struct schedule_buffer *b = &w->buffers[output->buffer];
        uint64_t room = room_needed(w, launch, output), depth = b->record->depth_packets;
        if (b->written + room > oldest_of(w, output->buffer, true) + depth)
            schedule_world_fail(w, SCHEDULE_OVERFLOW, launch->stage);
        for (uint64_t p = b->written; p < b->written + room && p < b->written + depth; p++)
            b->slots[p % depth] = GARBAGE;
    }
}

static void begin_launch(struct schedule_world *w, struct schedule_launch *launch)
{
    if (launch->begun) return;
    launch->begun = true;
    if (!launch->finish && launch->first != w->stages[launch->stage].executed)
        schedule_world_fail(w, SCHEDULE_ORDER, launch->stage);
    read_inputs(w, launch, SCHEDULE_UNDERFLOW);
    soil_outputs(w, launch);
}

/* A source that stops: firings from there on do not count. */
static void stop_stage(struct schedule_world *w, struct schedule_launch *launch)
{
    struct schedule_stage *stage = &w->stages[launch->stage];
    uint64_t stop = w->scenario->stop_after;
    if (launch->finish || !(stage->node->flags & CONTAINER_NODE_STOPS) ||
        launch->first + launch->count <= stop)
        return;
    stage->stopped = true;
    launch->count = launch->first < stop ? stop - launch->first : 0;
    stage->fired = launch->first + launch->count;
}

static void write_output(struct schedule_world *w, const struct schedule_launch *launch,
                         uint32_t number, uint64_t soiled)
{
    const struct container_output *output = &w->container->outputs[number];
    struct schedule_buffer *b = &w->buffers[output->buffer];
    uint64_t packets = launch->finish
                           ? schedule_finish_appends(output, number)
                           : schedule_appends(w->container, number, launch->first, launch->count);
    uint64_t depth = b->record->depth_packets, end = b->written + packets;
    if (!launch->finish && commits_at_once(w, &w->stages[launch->stage], output)) {
        soiled = 0;
    } else {
        b->committed += packets;
    }
    b->claimed -= soiled < b->claimed ? soiled : b->claimed;
    for (; b->written < end; b->written++) {
        if (b->slots[b->written % depth] != GARBAGE)
            schedule_world_fail(w, SCHEDULE_DISTURBED, launch->stage);
        b->slots[b->written % depth] = (int64_t)b->written;
    }
}

static void consume_inputs(struct schedule_world *w, const struct schedule_launch *launch)
{
    const struct schedule_stage *stage = &w->stages[launch->stage];
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct container_input *input = input_of(w, stage, i);
        uint64_t pops = schedule_pops(w->container, input, launch->first, launch->count);
        w->readers[input->reader].eaten += pops;
        if (!schedule_in_order(w, input->buffer)) w->readers[input->reader].freed += pops;
    }
}

static void end_launch(struct schedule_world *w, struct schedule_launch launch)
{
    struct schedule_stage *stage = &w->stages[launch.stage];
    begin_launch(w, &launch);
    read_inputs(w, &launch, SCHEDULE_DISTURBED);
    struct schedule_launch asked = launch;
    stop_stage(w, &launch);
    for (uint32_t o = 0; o < stage->node->output_count; o++)
        write_output(w, &launch, stage->node->first_output + o,
                     room_needed(w, &asked, output_of(w, stage, o)));
    if (!launch.finish) consume_inputs(w, &launch);
    stage->executed += launch.count;
    stage->in_flight = false;
    w->in_flight--;
    w->events++;
    if (launch.finish) end_stage(w, stage);
    for (uint32_t b = 0; b < w->container->buffer_count && !w->scenario->live; b++)
        if (w->buffers[b].record->outer == CONTAINER_OUTER_OUT) take_out(w, b, UINT64_MAX);
}

/* The number-th queue, from 0, that has launches. */
static struct schedule_queue *busy_queue(struct schedule_world *w, uint64_t number)
{
    for (uint32_t q = 0; q < w->queue_count; q++)
        if (w->queues[q].count > 0 && number-- == 0) return &w->queues[q];
    return NULL;
}

static struct schedule_queue *draw_queue(struct schedule_world *w)
{
    uint64_t busy = 0;
    for (uint32_t q = 0; q < w->queue_count; q++)
        busy += w->queues[q].count > 0;
    return busy_queue(w, schedule_world_draw(w, busy));
}

void schedule_complete_one(struct schedule_world *w)
{
    struct schedule_queue *queue = draw_queue(w);
    if (queue == NULL) return;
    struct schedule_launch first = queue->launches[0];
    memmove(queue->launches, queue->launches + 1, --queue->count * sizeof first);
    end_launch(w, first);
}

void schedule_time_passes(struct schedule_world *w)
{
    if (w->scenario->pace == SCHEDULE_AT_ONCE)
        while (w->in_flight > 0)
            schedule_complete_one(w);
    if (w->scenario->pace != SCHEDULE_ANY_TIME || w->in_flight == 0) return;
    uint64_t what = schedule_world_draw(w, 4);
    if (what == 0) schedule_complete_one(w);
    if (what == 1) begin_launch(w, &draw_queue(w)->launches[0]);
}
