/* SPDX-License-Identifier: MIT */
#include "runtime/sched/own_queues.h"

#include <assert.h>
#include <stdlib.h>

/* ---- sets of connected stages ---- */

/* `links` of a stage: another stage of its set with a lower number, or itself. */
static uint32_t find_first_of_set(uint32_t *links, uint32_t stage)
{
    while (links[stage] != stage) {
        links[stage] = links[links[stage]];
        stage = links[stage];
    }
    return stage;
}

static void connect_stages(uint32_t *links, uint32_t a, uint32_t b)
{
    a = find_first_of_set(links, a);
    b = find_first_of_set(links, b);
    links[a > b ? a : b] = a < b ? a : b;
}

/* Afterwards the link of each stage is the first stage of its set. */
static void find_sets(const struct core *core, uint32_t *links)
{
    for (uint32_t i = 0; i < core->stage_count; i++)
        links[i] = i;
    for (uint32_t i = 0; i < core->stage_count; i++) {
        const struct core_stage *stage = core_stage(core, i);
        for (uint32_t k = 0; k < stage->input_count; k++) {
            const struct core_input *input = core_input(core, stage, k);
            if (input->in_order) connect_stages(links, i, core_read_buffer(core, input)->writer);
        }
    }
    for (uint32_t i = 0; i < core->stage_count; i++)
        links[i] = find_first_of_set(links, i);
}

/* ---- queues ---- */

static enum prt_status open_queue_like(struct prt_sched *s, uint32_t like, uint32_t *queue)
{
    const struct prt_bound_queue *model = &s->bindings.queues[like];
    enum prt_status status = s->ops->queue_create(s->device, model->on, model->importance, queue);
    if (status != PRT_OK) return status;
    assert(*queue < s->core->stage_count); /* each queue has a stage */
    s->bindings.queues[*queue] = *model;
    s->bindings.queues[*queue].next = PRT_NO_QUEUE;
    s->core->queue_count = *queue + 1;
    return PRT_OK;
}

/* The first set of a queue keeps it. */
static enum prt_status divide_queues(struct prt_sched *s, const uint32_t *links, bool *kept)
{
    for (uint32_t i = 0; i < s->core->stage_count; i++) {
        struct core_stage *stage = &s->stages[i];
        if (links[i] != i) {
            stage->queue = s->stages[links[i]].queue;
        } else if (!kept[stage->queue]) {
            kept[stage->queue] = true;
        } else {
            enum prt_status status = open_queue_like(s, stage->queue, &stage->queue);
            if (status != PRT_OK) return status;
        }
    }
    return PRT_OK;
}

enum prt_status prt_own_queues_open(struct prt_sched *s)
{
    struct prt_device_info info;
    s->ops->info(s->device, &info);
    if (!info.real_time || s->bindings.form_given || s->core->queue_count < 2) return PRT_OK;
    size_t count = s->core->stage_count;
    uint32_t *links = calloc(count, sizeof *links);
    bool *kept = calloc(count, sizeof *kept);
    enum prt_status status = PRT_E_NOMEM;
    if (links != NULL && kept != NULL) {
        find_sets(s->core, links);
        status = divide_queues(s, links, kept);
    }
    free(links);
    free(kept);
    return status;
}
