/* SPDX-License-Identifier: MIT */
/* Static schedules: played firing by firing, their texts, their sizes, and why there is none. */
#include "tests/test.h"

#include "tests/unit/graph_reference.h"
#include "tests/unit/plan_fixture.h"

#include "compiler/plan/schedule.h"
#include "compiler/liveness/rate.h"
#include "compiler/liveness/deadlock.h"
#include "compiler/pace/bufsize.h"

static struct devdesc device(uint32_t cus, uint32_t lanes)
{
    struct devdesc d = {.cu_count = cus,
                        .lanes = lanes,
                        .cores_per_cu = 1,
                        .memory_bytes = UINT64_C(1) << 30,
                        .schemes = DEVDESC_BY_COUNTS,
                        .max_sub_devices = cus,
                        .reference_entries = 8};
    strcpy(d.name, "test");
    return d;
}

/* ---- playing ---- */

enum { ENDS = 8 };

struct play {
    const struct graph *graph;
    const struct plan *plan;
    uint64_t *held[REF_BUFFERS * 8]; /* by buffer and reader */
    uint64_t fired[REF_NODES * 8];
    uint64_t granted_in[REF_NODES * 8][ENDS], granted_out[REF_NODES * 8][ENDS];
    uint64_t goes_on[REF_NODES * 8];
    bool asked[REF_NODES * 8];
};

static void play_start(struct play *p, struct fixture *f, const struct plan *plan)
{
    memset(p, 0, sizeof *p);
    p->graph = &f->graph;
    p->plan = plan;
    for (size_t b = 0; b < f->graph.buffers.count; b++) {
        const struct graph_buffer *buffer = &f->graph.buffers.items[b];
        p->held[b] = ARENA_ARRAY(f->cx.arena, uint64_t, buffer->readers.count + 1);
        for (size_t r = 0; r < buffer->readers.count; r++)
            p->held[b][r] = buffer->initial.packets;
    }
}

static uint64_t rate_at(const uint64_t *each, uint64_t all, uint64_t firing, uint32_t phases)
{
    return each ? each[firing % phases] : all;
}

/* The packets that the firings consume; *seen: the maximum that one of them sees, with the packets those before it
 * consume. */
static uint64_t takes(const struct graph_node *node, const struct graph_input *in, uint64_t first,
                      uint64_t firings, uint64_t *seen)
{
    uint32_t phases = graph_phases(node);
    uint64_t sum = 0;
    *seen = 0;
    if (phases == 1) {
        *seen = (firings - 1) * in->pop + in->peek;
        return firings * in->pop;
    }
    for (uint64_t i = 0; i < firings; i++) {
        uint64_t needs = sum + rate_at(in->peeks, in->peek, first + i, phases);
        if (needs > *seen) *seen = needs;
        sum += rate_at(in->pops, in->pop, first + i, phases);
    }
    return sum;
}

static uint64_t gives(const struct graph_node *node, const struct graph_output *out, uint64_t first,
                      uint64_t firings)
{
    uint32_t phases = graph_phases(node);
    uint64_t sum = 0;
    if (phases == 1) return firings * out->push;
    for (uint64_t i = 0; i < firings; i++)
        sum += rate_at(out->pushes, out->push, first + i, phases);
    return sum;
}

static uint64_t room_of(const struct play *p, uint32_t b)
{
    const struct graph_buffer *buffer = &p->graph->buffers.items[b];
    uint64_t most = 0;
    for (size_t r = 0; r < buffer->readers.count; r++)
        if (p->held[b][r] > most) most = p->held[b][r];
    assert_true(most <= buffer->depth_packets);
    return buffer->depth_packets - most;
}

static void play_input(struct play *p, uint32_t index, uint32_t i, uint64_t firings)
{
    const struct graph_node *node = &p->graph->nodes.items[index];
    const struct graph_input *in = &node->inputs.items[i];
    uint64_t seen, taken = takes(node, in, p->fired[index], firings, &seen);
    uint64_t *held = p->graph->buffers.items[in->buffer].outer == GRAPH_OUTER_IN
                         ? &p->granted_in[index][i]
                         : &p->held[in->buffer][in->reader];
    assert_true(seen <= *held);
    *held -= taken;
}

static void play_output(struct play *p, uint32_t index, uint32_t i, uint64_t firings)
{
    const struct graph_node *node = &p->graph->nodes.items[index];
    const struct graph_output *out = &node->outputs.items[i];
    const struct graph_buffer *buffer = &p->graph->buffers.items[out->buffer];
    uint64_t given = gives(node, out, p->fired[index], firings);
    if (buffer->outer == GRAPH_OUTER_OUT) {
        assert_true(given <= p->granted_out[index][i]);
        p->granted_out[index][i] -= given;
        return;
    }
    assert_true(given <= room_of(p, out->buffer));
}

static void play_run(struct play *p, uint32_t stage, uint64_t firings)
{
    uint32_t index = p->plan->stages[stage].node;
    const struct graph_node *node = &p->graph->nodes.items[index];
    assert_true(firings >= 1 && firings <= p->plan->stages[stage].batch_max);
    assert_int_equal(firings % graph_phases(node), 0);
    for (uint32_t i = 0; i < node->outputs.count; i++)
        play_output(p, index, i, firings);
    for (uint32_t i = 0; i < node->inputs.count; i++)
        play_input(p, index, i, firings);
    for (uint32_t i = 0; i < node->outputs.count; i++) {
        const struct graph_output *out = &node->outputs.items[i];
        const struct graph_buffer *buffer = &p->graph->buffers.items[out->buffer];
        for (size_t r = 0; r < buffer->readers.count; r++)
            p->held[out->buffer][r] += gives(node, out, p->fired[index], firings);
    }
    if (node->inputs.count == 0) {
        assert_true(firings <= p->goes_on[index]);
        p->goes_on[index] -= firings;
    }
    p->fired[index] += firings;
}

static void play_guards(struct play *p, const struct schedule_part *part)
{
    for (uint32_t i = 0; i < part->guard_count; i++) {
        const struct schedule_guard *guard = &part->guards[i];
        uint32_t index = p->plan->stages[guard->stage].node;
        const struct graph_node *node = &p->graph->nodes.items[index];
        const struct graph_buffer *buffers = p->graph->buffers.items;
        p->asked[index] = true;
        if (guard->kind == SCHEDULE_GOES_ON) {
            p->goes_on[index] = guard->count;
        } else if (guard->kind == SCHEDULE_HAS_PACKETS) {
            uint32_t b = node->inputs.items[guard->port].buffer;
            assert_true(guard->count <= buffers[b].depth_packets);
            p->granted_in[index][guard->port] = guard->count;
        } else {
            uint32_t b = node->outputs.items[guard->port].buffer;
            assert_true(guard->count <= buffers[b].depth_packets);
            p->granted_out[index][guard->port] = guard->count;
        }
    }
}

static uint32_t end_of_loop(const struct schedule_part *part, uint32_t at)
{
    uint32_t nest = 0;
    for (uint32_t i = at;; i++) {
        assert_true(i < part->op_count);
        if (part->ops[i].kind == SCHEDULE_REPEAT) nest++;
        if (part->ops[i].kind == SCHEDULE_AGAIN && --nest == 0) return i;
    }
}

static void play_ops(struct play *p, const struct schedule_part *part, uint32_t from, uint32_t to,
                     int nest)
{
    assert_true(nest <= SCHEDULE_NEST_MAX);
    for (uint32_t i = from; i < to; i++) {
        const struct schedule_op *op = &part->ops[i];
        assert_int_not_equal(op->kind, SCHEDULE_AGAIN);
        if (op->kind == SCHEDULE_RUN) {
            play_run(p, op->stage, op->count);
            continue;
        }
        uint32_t end = end_of_loop(part, i);
        assert_true(op->count >= 2);
        for (uint32_t k = 0; k < op->count; k++)
            play_ops(p, part, i + 1, end, nest + 1);
        i = end;
    }
}

static void play_part(struct play *p, const struct schedule_part *part)
{
    play_ops(p, part, 0, part->op_count, 0);
}

/* Fills the pipeline, then some iterations, each of which leaves the buffers as they were. */
static void play_island(struct play *p, const struct schedule_island *island)
{
    play_guards(p, &island->prologue);
    play_part(p, &island->prologue);
    uint64_t before[REF_BUFFERS * 8] = {0};
    for (uint32_t step = 0; step < island->level_count + 3; step++) {
        for (uint32_t level = 0; level <= step && level < island->level_count; level++)
            play_guards(p, &island->levels[level]);
        for (uint32_t level = island->level_count; level-- > 0;)
            if (level <= step) play_part(p, &island->levels[level]);
        for (size_t b = 0; b < p->graph->buffers.count; b++) {
            if (p->graph->buffers.items[b].outer != GRAPH_INNER) continue;
            if (step >= island->level_count) assert_int_equal(room_of(p, (uint32_t)b), before[b]);
            before[b] = room_of(p, (uint32_t)b);
        }
    }
    bool asked = false;
    for (size_t n = 0; n < p->graph->nodes.count; n++)
        asked |= p->asked[n];
    assert_true(asked); /* else it would never end */
}

/* ---- random graphs ---- */

struct tally {
    int graphs, whole, partly;
};

static void play_random(unsigned *seed, bool cyclic, bool phases, uint32_t cus, struct tally *tally)
{
    struct ref_graph g;
    ref_random_graph(&g, seed, cyclic);
    if (phases) ref_random_phases(&g, seed);
    struct fixture *f = ref_build(&g);
    struct devdesc d = device(cus, 8);
    rate_solve(&f->cx, &f->graph);
    if (!diag_failed(f->cx.diags)) deadlock_check(&f->cx, &f->graph);
    if (!diag_failed(f->cx.diags)) bufsize_assign(&f->cx, &f->graph);
    if (!diag_failed(f->cx.diags)) {
        struct plan *plan = fixture_plan(f, &d);
        const struct schedule *schedule = plan_schedule(&f->cx, &f->graph, plan, SCHEDULE_LONGEST);
        bool whole = schedule->static_count == plan->stage_count && schedule->island_count == 1;
        tally->graphs++;
        tally->whole += whole;
        tally->partly += schedule->island_count > 0 && !whole;
        assert_int_equal(schedule->reason == NULL, schedule->static_count == plan->stage_count);
        if (whole) {
            struct play p;
            play_start(&p, f, plan);
            play_island(&p, &schedule->islands[0]);
        }
    }
    fixture_free(f);
}

static struct tally play_many(bool cyclic, bool phases, uint32_t cus)
{
    unsigned seed = 20261122;
    struct tally tally = {0};
    for (int i = 0; i < 600; i += draw_step())
        play_random(&seed, cyclic, phases, cus, &tally);
    print_message("%s%s on %u CUs: %d graphs, %d static, %d in part\n",
                  cyclic ? "with cycles" : "without cycles", phases ? ", with phases" : "", cus,
                  tally.graphs, tally.whole, tally.partly);
    return tally;
}

static void random_graphs_in_sequence(void **state)
{
    (void)state;
    struct tally tally = play_many(false, false, 1);
    assert_true(tally.whole > tally.graphs * 9 / 10);
    tally = play_many(true, false, 1);
    assert_true(tally.whole > tally.graphs / 2);
    tally = play_many(false, true, 1);
    assert_true(tally.whole > tally.graphs / 4); /* some have a history */
}

static void random_graphs_side_by_side(void **state)
{
    (void)state;
    struct tally tally = play_many(false, false, 16);
    assert_true(tally.whole > tally.graphs / 2);
    play_many(true, false, 16);
    play_many(false, true, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_in_sequence),
        cmocka_unit_test(random_graphs_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
