/* SPDX-License-Identifier: MIT */
#include "compiler/plan/trial.h"

#include "compiler/ir/ratio.h"
#include "compiler/plan/emit_sched.h"
#include "compiler/plan/plan_internal.h"
#include "compiler/plan/plan_tables.h"
#include "core/ends.h"
#include "core/machine.h"
#include "model/bindings.h"
#include "model/block.h"
#include "model/cached_buffers.h"
#include "model/sim_clock.h"
#include "model/stage_objects.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SELECTED_A_LOOK = 256 }; /* stages that a selection passes over in the time of a look */

struct mark {
    uint128 progress;
    uint64_t clock;
    bool passed;
};

struct played_stage {
    uint64_t limit;                     /* firings that count in the progress */
    uint64_t weight;                    /* of a firing, in the progress */
    uint64_t looks;                     /* of a dispatch */
    uint64_t tree_cycles, child_cycles; /* of what a firing launches, and of one launch of it */
    struct prt_index_configuration indexing; /* of a kernel with work-items */
};

struct playing {
    const struct graph *graph;
    const struct plan *plan;
    struct arena *arena;
    struct prt_container tables;
    struct core *core;
    struct core_environment environment;
    struct prt_stage_objects objects;
    struct prt_sim_clock clock;
    struct prt_bindings bindings;
    struct played_stage *stages;
    uint64_t *left; /* by buffer: packets that an in-port still brings */

    uint64_t looks;
    uint128 progress, goal;
    struct trial_size size;
    struct mark first, last; /* of the steady part */
    uint64_t dispatches;
};

/* Without memory the compiler ends. */
static void require_memory(bool good)
{
    if (!good) arena_out_of_memory();
}

/* ---- what launches cost ---- */

/* Bounded rates append what the trial assumes; core_launch has stored the maximum. */
static void append_least(const struct playing *p, const struct prt_sim_job *job)
{
    const struct core_stage *stage = core_stage(p->core, job->object->stage);
    for (uint32_t i = 0; i < stage->output_count; i++)
        job->object->produced[i] =
            core_flow_total(core_numbers(p->core), &core_output(p->core, stage, i)->least,
                            job->launch.first_firing, job->launch.firings);
}

static void append_finish(const struct playing *p, const struct prt_sim_job *job)
{
    const struct core_stage *stage = core_stage(p->core, job->object->stage);
    for (uint32_t i = 0; i < stage->output_count; i++)
        job->object->produced[i] = core_output(p->core, stage, i)->finish_max;
}

static void play_job(void *context, struct prt_sim_job *job)
{
    const struct playing *p = context;
    const struct played_stage *stage = &p->stages[job->object->stage];
    uint32_t cus = p->clock.queues.queues[job->queue].cu_count, flags = job->object->flags;
    job->done = job->executed = true;
    job->status = KERNEL_OK;
    if (flags & PRT_KERNEL_FINISH)
        append_finish(p, job);
    else if ((flags & PRT_KERNEL_BOUNDED) && p->size.least)
        append_least(p, job);
    if ((flags & PRT_KERNEL_LAUNCHES) == 0) return;
    uint128 cycles = ((uint128)job->launch.firings * stage->tree_cycles + cus - 1) / cus;
    job->trees = (struct prt_sim_trees){.cycles = cycles >> 62 ? INT64_MAX : (uint64_t)cycles,
                                        .longest_cycles = stage->child_cycles};
}

static void finish_trial_job(void *context, struct prt_sim_job *job)
{
    (void)context;
    (void)job;
}

static const struct prt_sim_executor executor = {play_job, finish_trial_job};

/* ---- the environment of the core ---- */

static bool is_used_up(const struct playing *p)
{
    return p->looks >= p->size.looks;
}

/* Makes core_resume return before the next instruction. */
static void leave_core(struct playing *p)
{
    atomic_store_explicit(&p->core->asked, true, memory_order_relaxed);
}

static void open_launch(void *context, uint32_t index, bool finish)
{
    struct playing *p = context;
    const struct core_stage *stage = core_stage(p->core, index);
    for (uint32_t i = 0; finish && i < stage->input_count; i++)
        prt_stage_objects_open_tail(&p->objects, p->core, stage, index, i);
    if (!finish) prt_stage_objects_open(&p->objects, p->core, stage, index);
    for (uint32_t i = 0; i < stage->output_count; i++)
        prt_stage_objects_claim(&p->objects,
                                &core_written_buffer(p->core, core_output(p->core, stage, i))->fifo,
                                stage->first_output + i);
    p->dispatches++;
    p->looks += p->stages[index].looks;
    if (is_used_up(p)) leave_core(p);
}

static bool launch_without_packet(void *context, uint32_t stage, bool finish)
{
    (void)context;
    (void)stage;
    (void)finish;
    return false; /* the core is not `direct` */
}

static enum core_taken enqueue_trial_packet(void *context, uint32_t queue,
                                            const union dispatch_packet *packet)
{
    struct playing *p = context;
    enum prt_status status = prt_sim_clock_enqueue(&p->clock, queue, packet, NULL);
    assert(status == PRT_OK || status == PRT_E_BUSY);
    return status == PRT_OK ? CORE_TAKEN : CORE_BUSY;
}

/* Notes when that part of the way has been made: by work, or by looks where the goal is too far. */
static void pass_mark(const struct playing *p, struct mark *mark, uint32_t part, uint32_t parts)
{
    if (mark->passed) return;
    if (p->progress * parts < p->goal * part && p->looks / part < p->size.looks / parts) return;
    *mark = (struct mark){p->progress, p->clock.now_cycles, true};
}

/* A stage that nothing ends may fire more often than it counts. */
static void count_progress(struct playing *p, uint32_t index)
{
    const struct core_stage *stage = core_stage(p->core, index);
    const struct played_stage *played = &p->stages[index];
    uint64_t before = min64(stage->firings - stage->batch, played->limit);
    p->progress += (uint128)(min64(stage->firings, played->limit) - before) * played->weight;
}

/* The cycles of half of the work, or of a whole run, are more than those of the best trial. */
static bool is_beaten(const struct playing *p)
{
    uint64_t best = p->size.best_cycles;
    if (best == 0) return false;
    if (p->size.whole) return p->clock.now_cycles > add_clamped(best, best / 100);
    if (!p->first.passed) return false;
    uint64_t half = best / 2;
    return p->clock.now_cycles - p->first.clock > add_clamped(half, half / 50);
}

static bool wait_for_clock(void *context, bool until_arrival, uint32_t *count)
{
    struct playing *p = context;
    struct core_completion *completions = core_completions(p->core);
    (void)until_arrival;
    (void)prt_sim_clock_wait_until(&p->clock, UINT64_MAX, completions, p->core->stage_count, count);
    for (uint32_t i = 0; i < *count; i++) {
        uint32_t object = completions[i].object;
        if (object < p->core->stage_count) count_progress(p, object);
    }
    p->looks++;
    pass_mark(p, &p->first, 1, 4);
    pass_mark(p, &p->last, 3, 4);
    if ((!p->size.whole && p->last.passed) || is_beaten(p)) leave_core(p);
    return true;
}

static void advance_trial_clock(void *context, uint64_t cycles)
{
    struct playing *p = context;
    prt_sim_clock_advance(&p->clock, cycles);
}

static void resume_no_queue(void *context)
{
    (void)context; /* nothing faults */
}

static bool ignore_event(void *context, enum core_event event, uint32_t stage, bool finish)
{
    (void)context;
    (void)event;
    (void)stage;
    (void)finish;
    return true;
}

static const struct core_environment environment = {.open = open_launch,
                                                    .launch = launch_without_packet,
                                                    .enqueue = enqueue_trial_packet,
                                                    .wait = wait_for_clock,
                                                    .advance = advance_trial_clock,
                                                    .resume = resume_no_queue,
                                                    .event = ignore_event};

/* ---- ports ---- */

static void commit_packets(struct core_buffer *buffer, uint64_t packets)
{
    core_fifo_claim(&buffer->fifo, packets);
    core_fifo_commit(&buffer->fifo, packets);
}

/* As a host that knows of each packet whether another one follows (runtime/sched/inport.h): it closes an in-port that
 * has room when no packet is left. */
static void fill_port(struct playing *p, uint32_t number)
{
    struct core_buffer *buffer = &core_buffers(p->core)[number];
    uint64_t room = core_fifo_room(&buffer->fifo), packets = min64(room, p->left[number]);
    if (packets > 0) commit_packets(buffer, packets);
    p->left[number] -= packets;
    if (packets < room && !buffer->fifo.closed) core_close(p->core, buffer);
    core_readers_changed(p->core, buffer);
}

/* No stage can go on: streams without further packets end. */
static void fill_all_ports(struct playing *p)
{
    for (uint32_t i = 0; i < p->core->input_count; i++) {
        const struct core_input *input = &core_inputs(p->core)[i];
        struct core_buffer *buffer = core_read_buffer(p->core, input);
        if (!core_ready_is_filled(p->core, input) || !core_input_reader(p->core, input)->attached)
            continue;
        if (buffer->fifo.closed) continue;
        fill_port(p, input->buffer);
        if (p->left[input->buffer] == 0 && !buffer->fifo.closed) core_close(p->core, buffer);
    }
}

static void drain_trial_ports(struct playing *p)
{
    for (uint32_t i; (i = core_take_undrained(p->core)) != CORE_NONE;) {
        struct core_fifo *fifo = &core_buffers(p->core)[i].fifo;
        core_fifo_release(fifo, 0, core_fifo_held(fifo, 0));
    }
}

static void commit_initial_packets(struct playing *p)
{
    for (uint32_t i = 0; i < p->core->buffer_count; i++) {
        struct core_buffer *buffer = &core_buffers(p->core)[i];
        if (buffer->initial_packets == 0) continue;
        commit_packets(buffer, buffer->initial_packets);
        if (buffer->port == CORE_OUT_PORT)
            core_fifo_release(&buffer->fifo, 0, buffer->initial_packets);
    }
}

/* ---- laying it out ---- */

static uint64_t dearest_child(const struct graph *graph)
{
    uint64_t dearest = 0;
    for (size_t i = graph->kernels.count - graph->child_kernels; i < graph->kernels.count; i++)
        dearest = max64(dearest, graph->kernels.items[i]->cost_cycles);
    return dearest;
}

/* A selection passes over all stages, which are many more than the buffers of one of them in a large graph. */
static uint64_t looks_of(const struct graph *graph, const struct graph_node *node, uint32_t stages)
{
    uint64_t looks = 2 + stages / SELECTED_A_LOOK;
    for (size_t i = 0; i < node->inputs.count; i++)
        looks += 1 + graph->buffers.items[node->inputs.items[i].buffer].readers.count;
    for (size_t i = 0; i < node->outputs.count; i++)
        looks += 1 + graph->buffers.items[node->outputs.items[i].buffer].readers.count;
    return looks;
}

static void index_object(struct playing *p, const struct plan *plan, uint32_t index)
{
    const struct graph_node *node = &p->graph->nodes.items[plan->stages[index].node];
    const struct plan_index *made = plan_find_index(plan, node->kernel);
    if (made == NULL) return;
    struct prt_index_configuration *indexing = &p->stages[index].indexing;
    *indexing = (struct prt_index_configuration){.key = {.address_bytes = made->address_bytes},
                                                 .items = made->items,
                                                 .lanes = plan->device->lanes};
    for (int d = 0; d < 3; d++)
        indexing->key.extents[d] = made->extents[d];
    p->objects.items[index].index = indexing;
}

/* An object whose cost is counted has its estimate. */
static void set_object(struct playing *p, uint32_t index)
{
    struct prt_kernel_object *object = &p->objects.items[index];
    object->flags &= ~(uint32_t)PRT_KERNEL_COUNTED;
    object[p->core->stage_count].flags &= ~(uint32_t)PRT_KERNEL_COUNTED;
    if (core_stage(p->core, index)->flags & CONTAINER_NODE_LAUNCHES)
        prt_stage_object_isolate(object);
}

/* Do packets from elsewhere end the stage?  Else it would go on for as long as the others, or be a source. */
static bool is_driven(const struct core *c, uint32_t index)
{
    const struct core_stage *stage = core_stage(c, index);
    return stage->driven && stage->input_count > 0;
}

static void set_stage(struct playing *p, uint32_t index)
{
    const struct plan_stage *from = &p->plan->stages[index];
    const struct graph_node *node = &p->graph->nodes.items[from->node];
    struct played_stage *stage = &p->stages[index];
    uint128 limit = (uint128)from->pace * p->size.iterations / PLAN_PACE_ONE;
    uint128 weight = (uint128)from->load * PLAN_PACE_ONE / from->pace;
    stage->weight = weight >> 44 ? UINT64_C(1) << 44 : max64((uint64_t)weight, 1);
    stage->looks = looks_of(p->graph, node, p->core->stage_count);
    if (node->kernel->launches.tree > 0) stage->child_cycles = dearest_child(p->graph);
    stage->tree_cycles = mul_clamped(node->kernel->launches.tree, stage->child_cycles);
    stage->limit = limit >> 62 ? INT64_MAX : max64((uint64_t)limit, 1);
    p->goal += (uint128)stage->limit * stage->weight;
    if (!is_driven(p->core, index)) core_stage(p->core, index)->firings_limit = stage->limit;
    set_object(p, index);
}

/* The plan has indices for good only when the layout has been chosen. */
static void set_indices(struct playing *p, const struct plan *plan)
{
    struct plan indexed = *plan;
    plan_indices(NULL, p->arena, p->graph, &indexed);
    for (uint32_t i = 0; indexed.index_count > 0 && i < plan->stage_count; i++)
        index_object(p, &indexed, i);
}

static enum prt_status add_trial_queue(void *context, struct prt_device_handle on,
                                       uint32_t importance, uint32_t *queue)
{
    struct playing *p = context;
    return prt_sim_clock_add_queue(&p->clock, on, importance, queue);
}

/* Executes the prologue of the program. */
static void bind_stages(struct playing *p)
{
    struct sched_instruction instruction;
    uint32_t number = 0;
    p->bindings = (struct prt_bindings){.container = &p->tables,
                                        .core = p->core,
                                        .tree = p->clock.tree,
                                        .root = prt_device_tree_root(p->clock.tree),
                                        .add_queue = add_trial_queue,
                                        .context = p};
    require_memory(prt_bindings_create(&p->bindings) == PRT_OK);
    for (uint32_t at = 0; sched_decode(p->tables.code, p->tables.code_bytes, at, &instruction) &&
                          !core_executes(instruction.opcode);
         at += instruction.size_bytes, number++) {
        p->core->instruction_cycles += sched_opcodes[instruction.opcode].cycles;
        require_memory(prt_bindings_execute(&p->bindings, &instruction, NULL) == PRT_OK);
    }
    require_memory(prt_cached_buffers_find(&p->bindings, p->plan->device, p->objects.items) ==
                   PRT_OK);
    core_begin(p->core, number);
}

static void lay_out_trial(struct playing *p, const struct plan *plan)
{
    uint32_t stages = p->tables.stage_count;
    uint32_t *node_stage = ARENA_ARRAY(p->arena, uint32_t, (size_t)p->tables.node_count + 1);
    p->stages = ARENA_ARRAY(p->arena, struct played_stage, (size_t)stages + 1);
    p->core = prt_block_create(&p->tables, plan->device->reference_entries, node_stage);
    require_memory(p->core != NULL);
    require_memory(prt_sim_clock_create(&p->clock, plan->device, NULL, PRT_QUEUE_ENTRIES_DEFAULT,
                                        &executor, p) == PRT_OK);
    require_memory(prt_stage_objects_create(&p->tables, p->core, &p->objects) == PRT_OK);
    for (uint32_t i = 0; i < stages; i++)
        set_stage(p, i);
    set_indices(p, plan);
    require_memory(prt_sim_clock_set_objects(&p->clock, p->objects.items, stages * 2, stages) ==
                   PRT_OK);
    bind_stages(p);
    p->core->lanes = (uint16_t)plan->device->lanes;
    p->environment = environment;
    p->environment.context = p;
    commit_initial_packets(p);
}

static void destroy_trial(struct playing *p)
{
    prt_sim_clock_destroy(&p->clock);
    prt_stage_objects_free(&p->objects);
    prt_bindings_free(&p->bindings);
    free(p->core);
}

/* ---- playing ---- */

/* True: the run has ended by itself. */
static bool play_trial(struct playing *p)
{
    for (;;) {
        switch (core_resume(p->core, &p->environment)) {
        case CORE_DRAIN: drain_trial_ports(p); break;
        case CORE_FILL: fill_port(p, p->core->request_buffer); break;
        case CORE_FILL_ALL: fill_all_ports(p); break;
        case CORE_ASKED: return false;
        default: return true; /* OVER: no port is eager */
        }
    }
}

/* The cycles for which launches of the stage take its compute units, in all iterations. */
static uint128 work_of_stage(const struct playing *p, uint32_t index)
{
    const struct core_stage *stage = core_stage(p->core, index);
    uint64_t firings = stage->firings - (stage->in_flight ? stage->batch : 0);
    uint128 busy = (uint128)stage->execute_cycles + stage->launch_cycles + stage->switch_cycles;
    return firings > 0 ? busy * p->stages[index].limit / firings : 0;
}

/* The largest work of a sub-device.  While some stages fill buffers for others, and where one group of stages has less to do
 * than another, the progress of all together is no measure. */
static uint128 most_work(const struct playing *p)
{
    size_t count = (size_t)p->plan->sub_device_count + 1;
    uint128 *work = arena_array(p->arena, count, sizeof *work), most = 0;
    for (uint32_t i = 0; i < p->core->stage_count; i++) {
        uint32_t sub_device = p->plan->stages[i].sub_device;
        work[sub_device == GRAPH_NONE ? count - 1 : sub_device] += work_of_stage(p, i);
    }
    for (size_t i = 0; i < count; i++)
        if (work[i] > most) most = work[i];
    return most;
}

static uint64_t steady_cycles(const struct playing *p)
{
    static const struct mark begin;
    /* in one launch from before the first mark to past the last one: from the begin on */
    const struct mark first = p->first.progress < p->last.progress ? p->first : begin;
    uint128 work = p->last.progress - first.progress, goal = p->goal;
    while (goal >> 62) {
        goal >>= 1;
        work >>= 1;
    }
    if (work == 0) return UINT64_MAX;
    uint128 cycles = (uint128)(p->last.clock - first.clock) * goal / work;
    uint128 most = most_work(p);
    if (most > cycles + cycles / 20) cycles = most; /* less comes from the first launches */
    return cycles >> 62 ? INT64_MAX : (uint64_t)cycles;
}

/* In-ports bring what the firings of their readers take that count. */
static void limit_ports(struct playing *p)
{
    const struct prt_container *t = &p->tables;
    for (uint32_t i = 0; i < t->stage_count; i++) {
        const struct container_node *node = &t->nodes[t->stages[i].node];
        for (uint32_t k = 0; k < node->input_count; k++) {
            const struct container_input *input = &t->inputs[node->first_input + k];
            if (t->buffers[input->buffer].outer != CONTAINER_OUTER_IN) continue;
            uint64_t cycles = p->stages[i].limit / node->phases + 1;
            uint64_t packets = add_clamped(mul_clamped(cycles, input->pop), input->peek);
            p->left[input->buffer] = max64(p->left[input->buffer], packets);
        }
    }
}

/* `packets` NULL: as many as the iterations of the trial take. */
static struct trial play_plan(struct playing *p, const uint64_t *packets, uint64_t firings)
{
    struct trial result = {.steady_cycles = UINT64_MAX};
    const struct sched_program *program = sched_program_of(p->arena, p->graph, p->plan);
    size_t buffers = p->graph->buffers.count;
    if (program->code_bytes == 0 ||
        !plan_tables_fill(p->arena, p->graph, p->plan, program, &p->tables))
        return result;
    p->left = ARENA_ARRAY(p->arena, uint64_t, buffers + 1);
    lay_out_trial(p, p->plan);
    if (packets == NULL)
        limit_ports(p);
    else
        memcpy(p->left, packets, buffers * sizeof *packets);
    for (uint32_t i = 0; packets != NULL && i < p->core->stage_count; i++)
        core_stage(p->core, i)->firings_limit =
            core_stage(p->core, i)->input_count == 0 ? firings : UINT64_MAX;
    bool over = play_trial(p);
    /* the clock does not have the cycles of the last instructions yet */
    result.cycles = p->clock.now_cycles + p->core->instruction_cycles - p->core->passed_cycles;
    result.dispatches = p->dispatches;
    for (uint32_t i = 0; i < p->core->stage_count; i++) {
        const struct core_stage *stage = core_stage(p->core, i);
        uint64_t launch = add_clamped(stage->launch_cycles, stage->switch_cycles);
        result.launch_cycles = add_clamped(result.launch_cycles, launch);
        result.busy_cycles =
            add_clamped(result.busy_cycles, add_clamped(launch, stage->execute_cycles));
    }
    result.whole = over && core_attends(p->core, CORE_HAS_HALTED);
    if (!p->last.passed) p->last = (struct mark){p->progress, p->clock.now_cycles, true};
    result.steady_cycles = steady_cycles(p);
    destroy_trial(p);
    return result;
}

struct trial trial_run(struct arena *scratch, const struct graph *graph, const struct plan *plan,
                       const struct schedule *schedule, enum graph_policy selection,
                       struct trial_size size)
{
    struct plan tried = *plan;
    struct playing p = {.graph = graph, .plan = &tried, .arena = scratch, .size = size};
    tried.schedule = schedule;
    tried.selection = selection;
    return play_plan(&p, NULL, UINT64_MAX);
}

struct trial trial_stream(struct arena *scratch, const struct graph *graph, const struct plan *plan,
                          const uint64_t *packets, uint64_t firings)
{
    struct playing p = {
        .graph = graph,
        .plan = plan,
        .arena = scratch,
        .size = {.iterations = UINT64_C(1) << 60, .looks = UINT64_MAX},
    };
    return play_plan(&p, packets, firings);
}

/* ---- how much ---- */

/* Dispatches of all stages for so many iterations. */
static uint128 dispatches_for(const struct plan *plan, uint64_t iterations)
{
    uint128 sum = 0;
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        const struct plan_stage *stage = &plan->stages[i];
        sum += (uint128)stage->pace * iterations / PLAN_PACE_ONE / stage->batch_max + 1;
    }
    return sum;
}

uint64_t trial_iterations_for(const struct plan *plan, uint64_t dispatches)
{
    uint64_t iterations = 1;
    while (iterations < UINT64_C(1) << 40 && dispatches_for(plan, iterations * 2) <= dispatches)
        iterations *= 2;
    return iterations;
}

struct trial_size trial_size_for(const struct plan *plan)
{
    enum { EACH = 32, LEAST = 384, LOOKS_LEAST = 200 * 1000, LOOKS_EACH = 40 };
    uint64_t wanted = max64((uint64_t)plan->stage_count * EACH, LEAST);
    return (struct trial_size){
        .iterations = trial_iterations_for(plan, wanted),
        .looks = max64((uint64_t)plan->stage_count * LOOKS_EACH, LOOKS_LEAST),
    };
}

bool trial_is_faster(uint64_t cycles, uint64_t than)
{
    return (uint128)cycles * 101 < (uint128)than * 100;
}

const char *trial_iterations_text(struct arena *arena, uint64_t iterations)
{
    return arena_printf(arena, "%" PRIu64 " iteration%s", iterations,
                        iterations == 1 ? " takes" : "s take");
}
