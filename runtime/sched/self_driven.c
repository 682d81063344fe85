/* SPDX-License-Identifier: MIT */
#include "runtime/sched/self_driven.h"

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
    struct prt_sched *sched;
    struct visit *visits;
    uint32_t *open;
    uint32_t open_count, seen, components;
};

/* The next stage that reads from stage `index`; UINT32_MAX: there is none. */
static uint32_t next_reader(const struct search *search, uint32_t index)
{
    const struct prt_sched *s = search->sched;
    const struct prt_stage *stage = &s->stages[index];
    struct visit *visit = &search->visits[index];
    for (; visit->output < stage->node->output_count; visit->output++, visit->reader = 0) {
        const struct container_buffer *record = stage->outputs[visit->output].buffer->record;
        if (visit->reader == record->reader_count) continue;
        uint32_t node = s->container->readers[record->first_reader + visit->reader++].node;
        return s->node_stage[node];
    }
    return UINT32_MAX;
}

static void enter_stage(struct search *search, uint32_t index, uint32_t parent)
{
    uint32_t order = ++search->seen;
    search->visits[index] =
        (struct visit){.order = order, .lowest = order, .parent = parent, .open = true};
    search->open[search->open_count++] = index;
}

/* All readers of the stage have been visited.  Returns its parent. */
static uint32_t leave_stage(struct search *search, uint32_t index)
{
    struct visit *visit = &search->visits[index];
    if (visit->lowest == visit->order) {
        struct prt_stage *stages = search->sched->stages;
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
    if (visit->parent != UINT32_MAX) {
        struct visit *parent = &search->visits[visit->parent];
        if (visit->lowest < parent->lowest) parent->lowest = visit->lowest;
    }
    return visit->parent;
}

static void search_component(struct search *search, uint32_t first)
{
    uint32_t at = first;
    enter_stage(search, first, UINT32_MAX);
    while (at != UINT32_MAX) {
        uint32_t to = next_reader(search, at);
        if (to == UINT32_MAX) {
            at = leave_stage(search, at);
        } else if (search->sched->stages[to].fed) {
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

static bool share_component(const struct prt_stage *writer, const struct prt_stage *reader)
{
    return !reader->fed && reader->component == writer->component;
}

/* A stage without outputs counts as a taker: it keeps its writers running. */
static void count_takers(struct prt_sched *s, const struct prt_stage *stage)
{
    uint64_t *takers = &s->takers[stage->component];
    if (stage->node->output_count == 0) ++*takers;
    for (uint32_t i = 0; i < stage->node->output_count; i++) {
        const struct prt_buffer *buffer = stage->outputs[i].buffer;
        const struct container_buffer *record = buffer->record;
        if (buffer->port != NULL) ++*takers;
        for (uint32_t r = 0; r < record->reader_count; r++) {
            uint32_t node = s->container->readers[record->first_reader + r].node;
            *takers += !share_component(stage, &s->stages[s->node_stage[node]]);
        }
    }
}

bool prt_self_driven_find_components(struct prt_sched *s)
{
    uint32_t count = s->container->stage_count;
    struct search search = {.sched = s,
                            .visits = calloc((size_t)count + 1, sizeof *search.visits),
                            .open = calloc((size_t)count + 1, sizeof *search.open)};
    bool done = search.visits != NULL && search.open != NULL;
    for (uint32_t i = 0; done && i < count; i++)
        if (!s->stages[i].fed && search.visits[i].order == UNSEEN) search_component(&search, i);
    for (uint32_t i = 0; done && i < count; i++)
        if (!s->stages[i].fed) count_takers(s, &s->stages[i]);
    for (uint32_t i = 0; done && i < count; i++)
        if (prt_self_driven_is_unwanted(s, &s->stages[i])) prt_stage_may_end(s, &s->stages[i]);
    free(search.visits);
    free(search.open);
    return done;
}

bool prt_self_driven_is_unwanted(const struct prt_sched *s, const struct prt_stage *stage)
{
    return !stage->fed && s->takers[stage->component] == 0;
}

void prt_self_driven_leave(struct prt_sched *s, const struct prt_buffer *buffer,
                           const struct prt_stage *reader)
{
    uint32_t node = buffer->record->writer_node;
    if (node == CONTAINER_NONE) return;
    const struct prt_stage *writer = &s->stages[s->node_stage[node]], *member = writer;
    if (writer->fed || (reader != NULL && share_component(writer, reader))) return;
    if (--s->takers[writer->component] > 0) return;
    do {
        prt_stage_may_end(s, member);
        member = &s->stages[member->component_next];
    } while (member != writer);
}

/* Stages that packets of a buffer can reach, each once. */
struct reach {
    const struct prt_sched *sched;
    uint32_t *stages;
    bool *seen;
    uint32_t count;
};

static void push_readers(struct reach *reach, const struct prt_buffer *buffer)
{
    const struct prt_sched *s = reach->sched;
    for (uint32_t r = 0; r < buffer->record->reader_count; r++) {
        uint32_t node = s->container->readers[buffer->record->first_reader + r].node;
        uint32_t stage = s->node_stage[node];
        if (reach->seen[stage]) continue;
        reach->seen[stage] = true;
        reach->stages[reach->count++] = stage;
    }
}

bool prt_self_driven_closes_cycle(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    uint32_t count = s->container->stage_count;
    if (buffer->record->writer_node == CONTAINER_NONE) return false;
    uint32_t writer = s->node_stage[buffer->record->writer_node];
    struct reach reach = {.sched = s,
                          .stages = calloc(count, sizeof *reach.stages),
                          .seen = calloc(count, sizeof *reach.seen)};
    bool closes = false;
    if (reach.stages != NULL && reach.seen != NULL) {
        push_readers(&reach, buffer);
        for (uint32_t i = 0; i < reach.count; i++) {
            const struct prt_stage *stage = &s->stages[reach.stages[i]];
            for (uint32_t o = 0; o < stage->node->output_count; o++)
                push_readers(&reach, stage->outputs[o].buffer);
        }
        closes = reach.seen[writer];
    }
    free(reach.stages);
    free(reach.seen);
    return closes;
}
