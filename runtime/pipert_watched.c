/* What a measured run knows of itself, as records (runtime/observer.h). */
#include "runtime/pipert_run.h"
#include "runtime/sched/collect.h"

bool prt_run_stage_time(const struct prt_run *run, uint32_t stage, struct prt_stage_time *time)
{
    const struct prt_sched *s = run->sched;
    if (s->collect == NULL || stage >= s->container->stage_count) return false;
    prt_collect_stage_time(s, stage, time);
    return true;
}

bool prt_run_wait(const struct prt_run *run, uint32_t stage, uint32_t end,
                  struct prt_wait_statistics *wait)
{
    const struct prt_sched *s = run->sched;
    if (s->collect == NULL || stage >= s->container->stage_count) return false;
    const struct prt_stage *waiter = &s->stages[stage];
    const struct container_node *node = waiter->node;
    if (end >= node->input_count + node->output_count) return false;
    bool input = end < node->input_count;
    const struct prt_buffer *buffer =
        input ? waiter->inputs[end].buffer : waiter->outputs[end - node->input_count].buffer;
    *wait = (struct prt_wait_statistics){.buffer =
                                             prt_container_text(s->container, buffer->record->name),
                                         .cause = input ? PRT_STALL_PACKETS : PRT_STALL_ROOM,
                                         .cycles = prt_collect_wait_cycles(s, stage, end)};
    return true;
}

/* Outputs are those of the nodes one behind the other, and every node is a stage's. */
bool prt_run_output(const struct prt_run *run, uint32_t output,
                    struct prt_output_statistics *statistics)
{
    const struct prt_sched *s = run->sched;
    if (s->collect == NULL || output >= s->container->output_count) return false;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        const struct container_node *node = s->stages[i].node;
        if (output < node->first_output || output - node->first_output >= node->output_count)
            continue;
        prt_collect_output(s, &s->stages[i], output, statistics);
        statistics->stage = i;
        return true;
    }
    return false;
}

bool prt_run_queue(const struct prt_run *run, uint32_t queue,
                   struct prt_queue_statistics *statistics)
{
    return run->sched->collect != NULL && prt_collect_queue(run->sched, queue, statistics);
}

bool prt_run_cu(const struct prt_run *run, uint32_t cu, uint64_t *busy_cycles)
{
    const struct prt_sched *s = run->sched;
    if (s->collect == NULL || cu >= s->container->device->cu_count) return false;
    *busy_cycles = prt_collect_cu_cycles(s, cu);
    return true;
}

/* ---- what has limited it ---- */

static uint64_t busy_cycles(const struct prt_stage_time *t)
{
    return t->execute_cycles + t->launch_cycles + t->switch_cycles + t->index_cycles +
           t->device_queue_cycles;
}

static enum prt_limit limit_of(const struct prt_stage_time *t)
{
    uint64_t executing = t->execute_cycles + t->index_cycles + t->device_queue_cycles;
    if (t->launch_cycles > executing && t->launch_cycles >= t->switch_cycles)
        return PRT_LIMIT_LAUNCH;
    if (t->switch_cycles > executing) return PRT_LIMIT_SWITCH;
    return t->memory_bound_cycles > t->execute_cycles / 2 ? PRT_LIMIT_BANDWIDTH : PRT_LIMIT_COMPUTE;
}

/* The queue that is busy longest. */
static bool longest_queue(const struct prt_run *run, uint32_t *queue, uint64_t *busy)
{
    bool found = false;
    struct prt_queue_statistics q;
    for (uint32_t i = 0; i < run->sched->container->stage_count; i++) {
        if (!prt_run_queue(run, i, &q) || (found && q.busy_cycles <= *busy)) continue;
        *queue = i;
        *busy = q.busy_cycles;
        found = true;
    }
    return found;
}

bool prt_run_bottleneck(const struct prt_run *run, struct prt_bottleneck *b)
{
    const struct prt_sched *s = run->sched;
    if (s->collect == NULL) return false;
    uint64_t total = prt_run_total_cycles(run), longest = 0;
    *b = (struct prt_bottleneck){.limit = PRT_LIMIT_NOTHING, .stage = PRT_NONE};
    if (!longest_queue(run, &b->queue, &b->busy_cycles)) return true;
    struct prt_stage_time t, chosen = {.warps = 0};
    for (uint32_t i = 0; prt_run_stage_time(run, i, &t); i++) {
        if (t.queue != b->queue || (b->stage != PRT_NONE && busy_cycles(&t) <= longest)) continue;
        b->stage = i;
        longest = busy_cycles(&t);
        chosen = t;
    }
    if (b->busy_cycles >= total - total / 2) {
        b->limit = limit_of(&chosen);
    } else if (s->instruction_cycles >= total - total / 2) {
        b->limit = PRT_LIMIT_SCHEDULER;
        b->busy_cycles = s->instruction_cycles;
    } else {
        b->limit = PRT_LIMIT_DEPENDENCIES;
    }
    return true;
}
