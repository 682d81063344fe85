/* SPDX-License-Identifier: MIT */
#include "runtime/sched/packets.h"

#include "runtime/sched/stage_profile.h"
#include "runtime/sched/run_state.h"

#include <assert.h>

static struct dispatch_full make_full_packet(const struct prt_sched *s, uint32_t index, bool finish,
                                             uint64_t firings, bool quiet)
{
    uint8_t release = quiet ? DISPATCH_SCOPE_NONE : DISPATCH_SCOPE_AGENT;
    return (struct dispatch_full){.header = DISPATCH_FULL,
                                  .synch_scopes = DISPATCH_SCOPES(0, DISPATCH_SCOPE_AGENT, release),
                                  .setup = 1,
                                  .workgroup_size_x = s->lanes,
                                  .workgroup_size_y = 1,
                                  .workgroup_size_z = 1,
                                  .grid_size_x = (uint32_t)firings,
                                  .grid_size_y = 1,
                                  .grid_size_z = 1,
                                  .kernel_object =
                                      finish ? (uint64_t)s->container->stage_count + index : index,
                                  .kernarg_address = index,
                                  .completion_signal = quiet ? 0 : (uint64_t)index + 1};
}

/* Enqueues the packet.  If the queue is full, waits for completions. */
static enum prt_status enqueue_packet(struct prt_sched *s, uint32_t queue,
                                      const union prt_dispatch *packet, uint32_t launches,
                                      struct prt_error *error)
{
    for (;;) {
        prt_sched_pass_time(s);
        enum prt_doing before = prt_run_state_set(s, PRT_DOING_DEVICE, NULL); /* it may execute */
        enum prt_status status = s->ops->enqueue(s->device, queue, packet, error);
        (void)prt_run_state_set(s, before, NULL);
        if (status == PRT_OK) s->open_packets[queue].in_flight += launches;
        if (status != PRT_E_BUSY) return status;
        status = prt_sched_reap(s, error);
        if (status != PRT_OK) return status;
    }
}

/* ---- the open packet of a queue ---- */

static void reset_open_packet(struct prt_open_packet *open)
{
    dispatch_open(&open->writer);
    open->entries = 0;
}

static enum prt_status flush_queue(struct prt_sched *s, uint32_t queue, struct prt_error *error)
{
    struct prt_open_packet *open = &s->open_packets[queue];
    if (open->writer.packet.num_kernels == 0) return PRT_OK;
    const union prt_dispatch packet = {.condensed = open->writer.packet};
    s->open_count--;
    reset_open_packet(open);
    return enqueue_packet(s, queue, &packet, packet.condensed.num_kernels, error);
}

enum prt_status prt_packets_flush_idle(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    /* equivalent: a queue that is not there has no packet */
    for (uint32_t i = 0; s->open_count > 0 && i < s->queue_count && status == PRT_OK; i++)
        if (s->open_packets[i].in_flight == 0) status = flush_queue(s, i, error);
    return status;
}

enum prt_status prt_packets_flush(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; s->open_count > 0 && status == PRT_OK; i++) {
        assert(i < s->queue_count);
        status = flush_queue(s, i, error);
    }
    return status;
}

void prt_packets_drop(struct prt_sched *s)
{
    for (uint32_t i = 0; s->open_count > 0; i++) {
        assert(i < s->queue_count);
        struct prt_open_packet *open = &s->open_packets[i];
        if (open->writer.packet.num_kernels == 0) continue;
        for (uint32_t k = 0; k < open->writer.packet.num_kernels; k++) {
            struct prt_stage *stage = &s->stages[open->stages[k]];
            stage->in_flight = false;
            stage->firings -= stage->batch;
            stage->dispatches--;
            s->in_flight--;
            if (s->profile != NULL) prt_profile_completed(s, stage);
        }
        s->open_count--;
        reset_open_packet(open);
    }
}

/* ---- references ---- */

/* Enqueues the open packets that refer to the entry, so that they are processed before it changes. */
static enum prt_status flush_users(struct prt_sched *s, uint32_t entry, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    /* equivalent: a queue that is not there has no packet */
    for (uint32_t i = 0; s->open_count > 0 && i < s->queue_count && status == PRT_OK; i++)
        if ((s->open_packets[i].entries >> entry & 1) != 0) status = flush_queue(s, i, error);
    return status;
}

static enum prt_status send_reference(struct prt_sched *s, uint32_t index, uint32_t entry,
                                      const struct dispatch_full *launch, struct prt_error *error)
{
    const union prt_dispatch packet = {.reference = dispatch_refer(launch, entry)};
    uint32_t queue = s->stages[index].queue;
    enum prt_status status = flush_users(s, entry, error);
    if (status == PRT_OK) status = flush_queue(s, queue, error);
    if (status == PRT_OK) status = enqueue_packet(s, queue, &packet, 1, error);
    dispatch_store(&s->references, entry, launch);
    s->reference_stages[entry] = index;
    return status;
}

/* Can the launch be a difference to an entry?  A grid that comes twice in a row is worth storing, one that comes once
 * is not.  A spilled stage leaves the entries to their owners. */
static bool is_stored(const struct prt_sched *s, uint32_t index, const struct dispatch_full *launch)
{
    const struct prt_stage *stage = &s->stages[index];
    uint32_t holds = s->reference_stages[stage->entry];
    if (stage->spilled) return true;
    if (holds != index) return false;
    uint32_t grid = s->references.entries[stage->entry].grid_size_x;
    return grid == launch->grid_size_x || stage->grid_before != launch->grid_size_x;
}

/* Adds the launch to the open packet.  A spilled stage refers to the entry nearest to its launch, the others to their
 * own entry. */
static enum prt_status join_open_packet(struct prt_sched *s, uint32_t index,
                                        const struct dispatch_full *launch, struct prt_error *error)
{
    const struct prt_stage *stage = &s->stages[index];
    struct prt_open_packet *open = &s->open_packets[stage->queue];
    uint32_t entry = stage->spilled ? dispatch_nearest(&s->references, launch) : stage->entry;
    s->spilled_launches += stage->spilled;
    if (!dispatch_append(&open->writer, &s->references, entry, launch)) {
        enum prt_status status = flush_queue(s, stage->queue, error);
        if (status != PRT_OK) return status;
        bool fits = dispatch_append(&open->writer, &s->references, entry, launch);
        assert(fits); /* a packet has room for any one launch */
        (void)fits;
    }
    uint32_t place = open->writer.packet.num_kernels - 1u;
    s->open_count += place == 0;
    open->stages[place] = index;
    open->entries |= 1u << entry;
    return PRT_OK;
}

/* ---- launches ---- */

static enum prt_status send_full(struct prt_sched *s, uint32_t index,
                                 const struct dispatch_full *launch, struct prt_error *error)
{
    const union prt_dispatch packet = {.full = *launch};
    uint32_t queue = s->stages[index].queue;
    enum prt_status status = s->open_count > 0 ? flush_queue(s, queue, error) : PRT_OK;
    return status == PRT_OK ? enqueue_packet(s, queue, &packet, 1, error) : status;
}

/* In condensed form: as a part of the open packet, or as a reference packet. */
static enum prt_status launch_packed(struct prt_sched *s, uint32_t index, uint64_t firings,
                                     struct prt_error *error)
{
    struct prt_stage *stage = &s->stages[index];
    const struct dispatch_full launch =
        make_full_packet(s, index, false, firings, !stage->ends_pack && !stage->awaited);
    enum prt_status status = is_stored(s, index, &launch)
                                 ? join_open_packet(s, index, &launch, error)
                                 : send_reference(s, index, stage->entry, &launch, error);
    stage->grid_before = launch.grid_size_x;
    return status;
}

/* Has the stage an entry that is filled, or that it fills? */
static bool is_packed(const struct prt_sched *s, const struct prt_stage *stage)
{
    if (stage->entry == CONTAINER_NONE) return false;
    return stage->spilled ? s->references.stored != 0 : stage->loads;
}

static bool launch_directly(struct prt_sched *s, uint32_t index, bool finish, uint64_t firings,
                            struct prt_completion *ended)
{
    const struct prt_stage *stage = &s->stages[index];
    uint32_t object = finish ? s->container->stage_count + index : index;
    if (s->profile != NULL) prt_sched_pass_time(s);
    s->open_packets[stage->queue].in_flight++; /* equivalent: there are no packets to flush */
    enum prt_doing before = prt_run_state_set(s, PRT_DOING_DEVICE, NULL); /* it may execute */
    bool has_ended =
        s->ops->launch(s->device, stage->queue, object, stage->firings, (uint32_t)firings, ended);
    (void)prt_run_state_set(s, before, NULL);
    return has_ended;
}

enum prt_status prt_packets_launch(struct prt_sched *s, uint32_t index, bool finish,
                                   uint64_t firings, bool *ended, struct prt_error *error)
{
    const struct prt_stage *stage = &s->stages[index];
    if (ended != NULL) *ended = false;
    if (s->ops->launch != NULL && !s->dispatch_given) {
        bool at_once =
            launch_directly(s, index, finish, firings, ended == NULL ? NULL : &s->completions[0]);
        if (ended != NULL) *ended = at_once;
        return PRT_OK;
    }
    if (s->dispatch == PRT_PACKET_CONDENSED && !finish && is_packed(s, stage))
        return launch_packed(s, index, firings, error);
    const struct dispatch_full launch = make_full_packet(s, index, finish, firings, false);
    if (s->dispatch != PRT_PACKET_REFERENCE) return send_full(s, index, &launch, error);
    uint32_t entry = stage->entry != CONTAINER_NONE ? stage->entry : index % s->references.count;
    return send_reference(s, index, entry, &launch, error);
}

enum prt_status prt_packets_end_pack(struct prt_sched *s, uint32_t index, struct prt_error *error)
{
    const struct prt_stage *stage = &s->stages[index];
    return stage->ends_pack && s->open_count > 0 ? flush_queue(s, stage->queue, error) : PRT_OK;
}
