/* SPDX-License-Identifier: MIT */
#include "core/packets.h"

#include "core/launch.h"
#include "lang/sched_opcode.h"

static struct dispatch_full make_full_packet(const struct core *c, uint32_t index, bool finish,
                                             uint64_t firings, bool quiet)
{
    uint8_t release = quiet ? DISPATCH_SCOPE_NONE : DISPATCH_SCOPE_AGENT;
    uint8_t barrier = core_stage(c, index)->depends;
    return (struct dispatch_full){
        .header = DISPATCH_FULL,
        .synch_scopes = DISPATCH_SCOPES(barrier, DISPATCH_SCOPE_AGENT, release),
        .setup = 1,
        .workgroup_size_x = c->lanes,
        .workgroup_size_y = 1,
        .workgroup_size_z = 1,
        .grid_size_x = (uint32_t)firings,
        .grid_size_y = 1,
        .grid_size_z = 1,
        .kernel_object = finish ? (uint64_t)c->stage_count + index : index,
        .kernarg_address = index,
        .completion_signal = quiet ? 0 : (uint64_t)index + 1};
}

/* Enqueues the packet.  If the queue is full, waits for completions. */
static bool enqueue_or_wait(struct core *c, uint32_t queue, const union dispatch_packet *packet,
                            uint32_t launches)
{
    const struct core_environment *e = c->environment;
    for (;;) {
        core_pass_time(c);
        enum core_taken taken = CORE_ENTRY(e, enqueue)(e->context, queue, packet);
        if (taken == CORE_REFUSED) return core_fail(c, CORE_BAD_DEVICE, CORE_NONE, 0);
        if (taken == CORE_TAKEN) break;
        if (!core_reap(c, false)) return false;
    }
    core_open_packets(c)[queue].in_flight += launches;
    return true;
}

/* ---- the open packet of a queue ---- */

static void reset_open_packet(struct core_open_packet *open)
{
    dispatch_open(&open->writer);
    open->entries = 0;
}

static bool flush_queue(struct core *c, uint32_t queue)
{
    struct core_open_packet *open = &core_open_packets(c)[queue];
    if (open->writer.packet.num_kernels == 0) return true;
    const union dispatch_packet packet = {.condensed = open->writer.packet};
    c->open_count--;
    reset_open_packet(open);
    return enqueue_or_wait(c, queue, &packet, packet.condensed.num_kernels);
}

bool core_packets_flush_idle(struct core *c)
{
    bool good = true;
    /* equivalent: a queue that is not there has no packet */
    for (uint32_t i = 0; c->open_count > 0 && i < c->queue_count && good; i++)
        if (core_open_packets(c)[i].in_flight == 0) good = flush_queue(c, i);
    return good;
}

bool core_packets_flush(struct core *c)
{
    bool good = true;
    for (uint32_t i = 0; c->open_count > 0 && good; i++) {
        assert(i < c->queue_count);
        good = flush_queue(c, i);
    }
    return good;
}

void core_packets_drop(struct core *c)
{
    for (uint32_t i = 0; c->open_count > 0; i++) {
        assert(i < c->queue_count);
        struct core_open_packet *open = &core_open_packets(c)[i];
        if (open->writer.packet.num_kernels == 0) continue;
        for (uint32_t k = 0; k < open->writer.packet.num_kernels; k++) {
            struct core_stage *stage = &core_stages(c)[open->stages[k]];
            stage->in_flight = false;
            stage->firings -= stage->batch;
            stage->dispatches--;
            c->in_flight--;
            if (core_is_observed(c))
                core_send(c, CORE_EVENT_COMPLETED, core_stage_number(c, stage), false);
        }
        c->open_count--;
        reset_open_packet(open);
    }
}

/* ---- references ---- */

/* Enqueues the open packets that refer to the entry, so that they are processed before it changes. */
static bool flush_users(struct core *c, uint32_t entry)
{
    bool good = true;
    /* equivalent: a queue that is not there has no packet */
    for (uint32_t i = 0; c->open_count > 0 && i < c->queue_count && good; i++)
        if ((core_open_packets(c)[i].entries >> entry & 1) != 0) good = flush_queue(c, i);
    return good;
}

static bool send_reference(struct core *c, uint32_t index, uint32_t entry,
                           const struct dispatch_full *launch)
{
    const union dispatch_packet packet = {.reference = dispatch_refer(launch, entry)};
    uint32_t queue = core_stages(c)[index].queue;
    bool good =
        flush_users(c, entry) && flush_queue(c, queue) && enqueue_or_wait(c, queue, &packet, 1);
    dispatch_store(&c->references, entry, launch);
    c->reference_stages[entry] = index;
    return good;
}

/* Can the launch be a difference to an entry?  A grid that comes twice in a row is worth storing, one that comes once
 * is not.  A spilled stage leaves the entries to their owners. */
static bool is_stored(const struct core *c, uint32_t index, const struct dispatch_full *launch)
{
    const struct core_stage *stage = &core_stages(c)[index];
    uint32_t holds = c->reference_stages[stage->entry];
    if (stage->spilled) return true;
    if (holds != index) return false;
    uint32_t grid = c->references.entries[stage->entry].scheduling.grid_size_x;
    return grid == launch->grid_size_x || stage->grid_before != launch->grid_size_x;
}

/* Adds the launch to the open packet.  A spilled stage refers to the entry nearest to its launch, the others to their
 * own entry. */
static bool join_open_packet(struct core *c, uint32_t index, const struct dispatch_full *launch)
{
    const struct core_stage *stage = &core_stages(c)[index];
    struct core_open_packet *open = &core_open_packets(c)[stage->queue];
    uint32_t entry = stage->spilled ? dispatch_nearest(&c->references, launch) : stage->entry;
    c->spilled_launches += stage->spilled;
    if (!dispatch_append(&open->writer, &c->references, entry, launch)) {
        if (!flush_queue(c, stage->queue)) return false;
        bool fits = dispatch_append(&open->writer, &c->references, entry, launch);
        assert(fits); /* a packet has room for any one launch */
        (void)fits;
    }
    uint32_t place = open->writer.packet.num_kernels - 1u;
    c->open_count += place == 0;
    open->stages[place] = index;
    open->entries |= 1u << entry;
    return true;
}

/* ---- launches ---- */

static bool send_full(struct core *c, uint32_t index, const struct dispatch_full *launch)
{
    const union dispatch_packet packet = {.full = *launch};
    uint32_t queue = core_stages(c)[index].queue;
    if (c->open_count > 0 && !flush_queue(c, queue)) return false;
    return enqueue_or_wait(c, queue, &packet, 1);
}

/* In condensed form: as a part of the open packet, or as a reference packet. */
static bool launch_packed(struct core *c, uint32_t index, uint64_t firings)
{
    struct core_stage *stage = &core_stages(c)[index];
    const struct dispatch_full launch =
        make_full_packet(c, index, false, firings, !stage->ends_pack && !stage->awaited);
    bool good = is_stored(c, index, &launch) ? join_open_packet(c, index, &launch)
                                             : send_reference(c, index, stage->entry, &launch);
    stage->grid_before = launch.grid_size_x;
    return good;
}

/* Has the stage an entry that is filled, or that it fills? */
static bool is_packed(const struct core *c, const struct core_stage *stage)
{
    if (stage->entry == CORE_NONE) return false;
    return stage->spilled ? c->references.stored != 0 : stage->loads;
}

bool core_packets_launch(struct core *c, uint32_t index, bool finish)
{
    const struct core_environment *e = c->environment;
    const struct core_stage *stage = core_stage(c, index);
    uint64_t firings = finish ? 1 : stage->batch;
    CORE_ENTRY(e, open)(e->context, index, finish);
    if (c->form == SCHED_FORM_CONDENSED && !finish && is_packed(c, stage))
        return launch_packed(c, index, firings);
    const struct dispatch_full launch = make_full_packet(c, index, finish, firings, false);
    if (c->form != SCHED_FORM_REFERENCE) return send_full(c, index, &launch);
    uint32_t entry = stage->entry != CORE_NONE ? stage->entry : index % c->references.count;
    return send_reference(c, index, entry, &launch);
}

bool core_packets_end_pack(struct core *c, uint32_t index)
{
    const struct core_stage *stage = core_stage(c, index);
    return !stage->ends_pack || flush_queue(c, stage->queue);
}
