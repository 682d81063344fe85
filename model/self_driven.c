/* SPDX-License-Identifier: MIT */
#include "model/self_driven.h"

#include "core/ends.h"

#include <stdlib.h>

enum { UNSEEN = 0 };

/* Tarjan's strongly connected components.  A path through `parent` replaces recursion. */
struct visit {              /* of one stage */
    uint32_t order, lowest; /* numbered from 1; UNSEEN */
    uint32_t parent;
    uint32_t output, reader; /* the next reader to visit */
    bool open;               /* its component is not known yet */
};

struct search {
    struct core *core;
    struct visit *visits;
    uint32_t *open;
    uint32_t open_count, seen, components;
};

/* The next stage that reads from stage `index`; CORE_NONE: there is none. */
static uint32_t next_reader(const struct search *search, uint32_t index)
{
    const struct core *c = search->core;
    const struct core_stage *stage = core_stage(c, index);
    struct visit *visit = &search->visits[index];
    for (; visit->output < stage->output_count; visit->output++, visit->reader = 0) {
        const struct core_buffer *buffer =
            core_written_buffer(c, core_output(c, stage, visit->output));
        if (buffer->port == CORE_OUT_PORT || visit->reader == buffer->fifo.reader_count) continue;
        return core_fifo_reader(&buffer->fifo, visit->reader++)->stage;
    }
    return CORE_NONE;
}

static void enter_stage(struct search *search, uint32_t index, uint32_t parent)
{
    uint32_t order = ++search->seen;
    search->visits[index] =
        (struct visit){.order = order, .lowest = order, .parent = parent, .open = true};
    /* Each stage is entered once.  NOLINTNEXTLINE(clang-analyzer-security.ArrayBound) */
    search->open[search->open_count++] = index;
}

/* All readers of the stage have been visited.  Returns its parent. */
static uint32_t leave_stage(struct search *search, uint32_t index)
{
    struct visit *visit = &search->visits[index];
    if (visit->lowest == visit->order) {
        struct core_stage *stages = core_stages(search->core);
        uint32_t member, before = index;
        do {
            member = search->open[--search->open_count];
            search->visits[member].open = false;
            stages[member].component = search->components;
            stages[member].component_next = before;
            before = member;
        } while (member != index);
        search->components++;
    }
    if (visit->parent != CORE_NONE) {
        struct visit *parent = &search->visits[visit->parent];
        if (visit->lowest < parent->lowest) parent->lowest = visit->lowest;
    }
    return visit->parent;
}

static void search_component(struct search *search, uint32_t first)
{
    uint32_t at = first;
    enter_stage(search, first, CORE_NONE);
    while (at != CORE_NONE) {
        uint32_t to = next_reader(search, at);
        if (to == CORE_NONE) {
            at = leave_stage(search, at);
        } else if (core_stages(search->core)[to].fed) {
            continue;
        } else if (search->visits[to].order == UNSEEN) {
            enter_stage(search, to, at);
            at = to;
        } else if (search->visits[to].open &&
                   search->visits[to].order < search->visits[at].lowest) {
            search->visits[at].lowest = search->visits[to].order;
        }
    }
}

static bool share_component(const struct core_stage *writer, const struct core_stage *reader)
{
    return !reader->fed && reader->component == writer->component;
}

/* A stage without outputs counts as a taker: it keeps its writers running. */
static void count_takers(struct core *c, const struct core_stage *stage)
{
    uint64_t *takers = core_takers(c) + stage->component;
    if (stage->output_count == 0) ++*takers;
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_buffer *buffer = core_written_buffer(c, core_output(c, stage, i));
        const struct core_reader *readers = core_fifo_reader(&buffer->fifo, 0);
        for (uint32_t r = 0; r < buffer->fifo.reader_count; r++)
            *takers += readers[r].stage == CORE_NONE ||
                       !share_component(stage, core_stage(c, readers[r].stage));
    }
}

static bool find_components(struct core *c)
{
    uint32_t count = c->stage_count;
    struct search search = {.core = c,
                            .visits = calloc((size_t)count + 1, sizeof *search.visits),
                            .open = calloc((size_t)count + 1, sizeof *search.open)};
    bool done = search.visits != NULL && search.open != NULL;
    for (uint32_t i = 0; done && i < count; i++)
        if (!core_stage(c, i)->fed && search.visits[i].order == UNSEEN)
            search_component(&search, i);
    for (uint32_t i = 0; done && i < count; i++)
        if (!core_stage(c, i)->fed) count_takers(c, core_stage(c, i));
    for (uint32_t i = 0; done && i < count; i++)
        if (core_is_unwanted(c, core_stage(c, i))) core_stage_may_end(c, core_stage(c, i));
    free(search.visits);
    free(search.open);
    return done;
}

/* ---- stages that packets can reach ---- */

struct reach {
    const struct core *core;
    uint32_t *stages; /* reached, in the order in which they were; each once */
    bool *seen;
    uint32_t count;
};

/* False: out of memory. */
static bool begin_reach(struct reach *reach, const struct core *core)
{
    *reach = (struct reach){.core = core,
                            .stages = calloc((size_t)core->stage_count + 1, sizeof *reach->stages),
                            .seen = calloc((size_t)core->stage_count + 1, sizeof *reach->seen)};
    return reach->stages != NULL && reach->seen != NULL;
}

static void end_reach(struct reach *reach)
{
    free(reach->stages);
    free(reach->seen);
}

static void reach_stage(struct reach *reach, uint32_t stage)
{
    if (reach->seen[stage]) return;
    reach->seen[stage] = true;
    reach->stages[reach->count++] = stage;
}

static void reach_readers(struct reach *reach, const struct core_buffer *buffer)
{
    if (buffer->port == CORE_OUT_PORT) return;
    for (uint32_t r = 0; r < buffer->fifo.reader_count; r++)
        reach_stage(reach, core_fifo_reader(&buffer->fifo, r)->stage);
}

/* Reaches what the stages from number `from` on of those reached can reach. */
static void follow_reached(struct reach *reach, uint32_t from)
{
    const struct core *c = reach->core;
    for (uint32_t i = from; i < reach->count; i++) {
        const struct core_stage *stage = core_stage(c, reach->stages[i]);
        for (uint32_t o = 0; o < stage->output_count; o++)
            reach_readers(reach, core_written_buffer(c, core_output(c, stage, o)));
    }
}

/* Marks every stage that packets of an in-port can reach, then every stage that packets of a source can reach. */
static bool mark_driven_stages(struct core *c)
{
    struct reach reach;
    bool good = begin_reach(&reach, c);
    for (uint32_t i = 0; good && i < c->buffer_count; i++)
        if (core_buffers(c)[i].port == CORE_IN_PORT) reach_readers(&reach, &core_buffers(c)[i]);
    follow_reached(&reach, 0);
    uint32_t fed = reach.count;
    for (uint32_t i = 0; good && i < c->stage_count; i++)
        if (core_stage(c, i)->input_count == 0) reach_stage(&reach, i);
    follow_reached(&reach, fed);
    for (uint32_t i = 0; i < reach.count; i++) {
        core_stage(c, reach.stages[i])->fed = i < fed;
        core_stage(c, reach.stages[i])->driven = true;
    }
    end_reach(&reach);
    return good;
}

bool prt_self_driven_find(struct core *c)
{
    return mark_driven_stages(c) && find_components(c);
}

bool prt_self_driven_closes_cycle(const struct core *c, uint32_t number)
{
    const struct core_buffer *buffer = &core_buffers(c)[number];
    struct reach reach;
    if (buffer->writer == CORE_NONE) return false;
    bool closes = begin_reach(&reach, c);
    if (closes) { /* uncovered: without memory a note leaves the cycle out */
        reach_readers(&reach, buffer);
        follow_reached(&reach, 0);
        closes = reach.seen[buffer->writer];
    }
    end_reach(&reach);
    return closes;
}
