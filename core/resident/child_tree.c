/* SPDX-License-Identifier: MIT */
#include "core/resident/child_tree.h"

#include "core/resident/firing_ends.h"
#include "core/resident/resident_machine.h"

/* ---- the workspace ---- */

static void *tree_memory(const struct core_tree *tree, uint64_t distance)
{
    return (uint8_t *)(uintptr_t)tree + distance;
}

static const struct core_trees *trees_of(const struct core_tree *tree)
{
    return &tree->resident->trees;
}

static struct core_tree_frame *tree_frame(const struct core_tree *tree, uint32_t level)
{
    return (struct core_tree_frame *)tree_memory(tree, tree->root->frames_at) + level;
}

static const struct container_interface *tree_interface(const struct core_tree *tree,
                                                        uint32_t number)
{
    return &trees_of(tree)->interfaces[number];
}

static const struct container_interface *root_interface(const struct core_tree *tree)
{
    return tree_interface(tree, tree->root->interface);
}

static uint64_t *tree_appended(const struct core_tree *tree)
{
    return tree_memory(tree, tree->root->appended_at);
}

static uint8_t **tree_base(const struct core_tree *tree)
{
    return tree_memory(tree, tree->root->base_at);
}

static uint8_t *tree_heard(const struct core_tree *tree)
{
    return tree_memory(tree, tree->root->heard_at);
}

static struct kernel_launch *tree_entry(const struct core_tree *tree, uint64_t entry)
{
    return tree_memory(tree, tree->root->cache_at + entry * tree->root->stride_bytes);
}

/* A row by output, of that level. */
static uint64_t *level_numbers(const struct core_tree_frame *frame, uint64_t distance)
{
    uint32_t outputs = root_interface(frame->tree)->out_count;
    return (uint64_t *)tree_memory(frame->tree, distance) + (uint64_t)frame->level * outputs;
}

static void **level_out(const struct core_tree_frame *frame)
{
    uint32_t outputs = root_interface(frame->tree)->out_count;
    return (void **)tree_memory(frame->tree, frame->tree->root->out_at) +
           (uint64_t)frame->level * outputs;
}

static uint64_t total_packets(const struct core_tree *tree)
{
    uint64_t total = 0;
    for (uint32_t o = 0; o < root_interface(tree)->out_count; o++)
        total += tree_appended(tree)[o];
    return total;
}

/* ---- measured runs ---- */

static bool is_measured(const struct core_tree *tree)
{
    return trees_of(tree)->counts != NULL;
}

static uint64_t tree_now(const struct core_tree *tree)
{
    return is_measured(tree) ? core_now(tree->resident) : 0;
}

static struct core_child_count *child_count(const struct core_tree *tree, uint32_t interface)
{
    const struct core_trees *trees = trees_of(tree);
    return &trees->counts[(uint64_t)tree->block * trees->interface_count + interface];
}

static uint64_t *tree_issued(const struct core_tree *tree)
{
    return tree_memory(tree, tree->root->issued_at);
}

/* The body has made the frame's launches by now. */
static void note_issued(struct core_tree_frame *frame, uint64_t now)
{
    if (!is_measured(frame->tree)) return;
    for (; frame->issued < frame->list.count; frame->issued++)
        tree_issued(frame->tree)[frame->first_entry + frame->issued] = now;
}

/* A work-group of the launch in that entry begins. */
static void count_begin(const struct core_tree *tree, uint32_t child, uint64_t entry, bool first,
                        uint32_t level)
{
    if (!is_measured(tree)) return;
    struct core_child_count *count = child_count(tree, child);
    uint64_t now = core_now(tree->resident), issued = tree_issued(tree)[entry];
    count->launches += first;
    count->groups++;
    count->wait_time += now > issued ? now - issued : 0;
    if (tree->used > count->entries_most) count->entries_most = tree->used;
    if (level > count->level_most) count->level_most = level;
}

/* The body of a child has been executed since `begin`. */
static void count_body(const struct core_tree_frame *frame, uint64_t begin, uint64_t end)
{
    if (!is_measured(frame->tree) || frame->level == 0) return;
    struct core_child_count *count = child_count(frame->tree, frame->interface);
    uint64_t away = begin + frame->away_time;
    uint64_t time = end > away ? end - away : 0;
    count->execute_time += time;
    if (time > count->longest_time) count->longest_time = time;
}

/* ---- faults of the queue itself ---- */

static enum kernel_status fail_tree(struct core_tree *tree, enum kernel_status status,
                                    const uint32_t place[3], uint64_t index, uint64_t bound)
{
    tree->fault = (struct kernel_fault){.firing = tree->firing,
                                        .source = place[0],
                                        .line = place[1],
                                        .column = place[2],
                                        .index = (int64_t)index,
                                        .bound = bound};
    return status;
}

static enum kernel_status fail_tree_port(struct core_tree *tree, uint32_t output, uint64_t packets,
                                         uint64_t bound)
{
    const struct container_interface *root = root_interface(tree);
    const struct container_interface_port *port =
        &trees_of(tree)->ports[root->first_port + root->in_count + output];
    const uint32_t place[] = {port->source, port->line, port->column};
    return fail_tree(tree, KERNEL_FAULT_PUSH, place, packets, bound);
}

/* The generated code has run out of room for launches: why. */
static enum kernel_status explain_tree(const struct core_tree_frame *frame)
{
    struct core_tree *tree = frame->tree;
    const struct container_interface *root = root_interface(tree);
    if (frame->level >= root->nesting) {
        tree->fault.index = (int64_t)frame->level + 1;
        tree->fault.bound = root->nesting;
        tree->fault.level = 0; /* bounds of the outermost kernel */
        return KERNEL_FAULT_NESTING;
    }
    if (frame->list.capacity == tree_interface(tree, frame->interface)->launches)
        return KERNEL_FAULT_LAUNCHES;
    tree->fault.level = 0;
    tree->fault.index = (int64_t)(tree->launched + frame->list.count + 1);
    tree->fault.bound = root->tree;
    return KERNEL_FAULT_TREE;
}

/* ---- outputs ---- */

/* May the body append where the tree's packets end? */
static bool fits_tree(const struct core_tree *tree, const struct container_interface *f)
{
    if ((f->flags & CONTAINER_INTERFACE_ASKS) != 0) return false;
    const struct container_interface_port *ports =
        &trees_of(tree)->ports[f->first_port + f->in_count];
    for (uint32_t o = 0; o < f->out_count; o++) {
        uint64_t end;
        if (__builtin_add_overflow(tree_appended(tree)[o], ports[o].packets, &end) ||
            end > tree->outputs[o].most)
            return false;
    }
    return true;
}

static void place_tree_outputs(struct core_tree_frame *frame)
{
    const struct core_tree *tree = frame->tree;
    const struct container_interface *f = tree_interface(tree, frame->interface);
    uint64_t *produced = level_numbers(frame, tree->root->produced_at);
    uint64_t *begin = level_numbers(frame, tree->root->begin_at);
    uint8_t *aside =
        tree_memory(tree, tree->root->aside_at + frame->level * tree->root->level_bytes);
    void **out = level_out(frame);
    frame->set_aside = !fits_tree(tree, f);
    for (uint32_t o = 0; o < f->out_count; o++) {
        produced[o] = 0;
        begin[o] = tree_appended(tree)[o];
        out[o] = frame->set_aside ? aside + tree->outputs[o].aside_bytes
                                  : tree_base(tree)[o] + begin[o] * tree->outputs[o].width_bytes;
    }
}

/* Puts the body's own packets in front of those that its launches have appended already. */
static enum kernel_status append_tree_packets(const struct core_tree_frame *frame, uint32_t o)
{
    struct core_tree *tree = frame->tree;
    const struct core_tree_output *output = &tree->outputs[o];
    uint64_t own = level_numbers(frame, tree->root->produced_at)[o];
    uint64_t begin = level_numbers(frame, tree->root->begin_at)[o];
    uint64_t *appended = &tree_appended(tree)[o], end;
    if (__builtin_add_overflow(*appended, own, &end)) end = UINT64_MAX;
    if (end > output->most) return fail_tree_port(tree, o, end, output->most);
    if (frame->set_aside) {
        uint8_t *at = tree_base(tree)[o] + begin * output->width_bytes;
        const uint8_t *from = level_out(frame)[o];
        uint64_t bytes = own * output->width_bytes;
        for (uint64_t i = (*appended - begin) * output->width_bytes; i-- > 0;)
            at[bytes + i] = at[i];
        for (uint64_t i = 0; i < bytes; i++)
            at[i] = from[i];
    }
    *appended = end;
    return KERNEL_OK;
}

/* ---- firings ---- */

/* A firing that is to be executed. */
struct tree_firing {
    uint32_t level, interface;
    uint32_t code; /* for pipe_call */
    const void *arguments;
    uint32_t group, groups; /* of a child: which work-group of its launch, of so many */
};

static int32_t ask_tree_done(struct kernel_launch_list *list, uint32_t event, uint64_t timestamp);

static void open_tree_frame(struct core_tree *tree, const struct tree_firing *firing)
{
    struct core_tree_frame *frame = tree_frame(tree, firing->level);
    const struct container_interface *root = root_interface(tree);
    uint64_t room = firing->level < root->nesting ? root->queue_entries - tree->used : 0;
    const struct container_interface *f = tree_interface(tree, firing->interface);
    frame->tree = tree;
    frame->interface = firing->interface;
    frame->level = firing->level;
    frame->first_entry = tree->used;
    frame->executed = 0;
    frame->groups = 0;
    frame->issued = frame->away_time = 0;
    frame->failed = KERNEL_OK;
    frame->list.entries = (uint8_t *)tree_entry(tree, tree->used);
    frame->list.interfaces = trees_of(tree)->children + f->first_launch * tree->root->stride_bytes;
    frame->list.stride_bytes = tree->root->stride_bytes;
    frame->list.capacity = f->launches < room ? f->launches : room;
    frame->list.count = 0;
    frame->list.group = firing->group;
    frame->list.groups = firing->groups;
    frame->list.done = ask_tree_done;
    place_tree_outputs(frame);
}

static enum kernel_status call_tree_body(struct core_tree_frame *frame,
                                         const struct tree_firing *firing)
{
    struct core_tree *tree = frame->tree;
    bool outermost = frame->level == 0;
    uint64_t completed = 1;
    const struct kernel_batch batch = {.arguments = firing->arguments,
                                       .tables = outermost ? tree->batch->tables : NULL,
                                       .state = outermost ? tree->batch->state : NULL,
                                       .in = tree_memory(tree, tree->root->in_at),
                                       .out = level_out(frame),
                                       .produced = level_numbers(frame, tree->root->produced_at),
                                       .first_firing = tree->firing,
                                       .count = 1,
                                       .completed = &completed,
                                       .launches = &frame->list,
                                       .fault = &tree->fault};
    return (enum kernel_status)core_call(tree->resident, tree->block, &batch, firing->code, 0, 1);
}

/* Executes the body.  Its frame then has its launches. */
static enum kernel_status begin_tree_firing(struct core_tree *tree,
                                            const struct tree_firing *firing)
{
    struct core_tree_frame *frame = tree_frame(tree, firing->level);
    open_tree_frame(tree, firing);
    uint64_t began = tree_now(tree);
    enum kernel_status status = call_tree_body(frame, firing);
    uint64_t now = tree_now(tree);
    count_body(frame, began, now);
    note_issued(frame, now);
    if (frame->failed != KERNEL_OK) return frame->failed;
    if (status != KERNEL_OK) tree->fault.level = firing->level;
    if (status == KERNEL_FAULT_LAUNCHES) return explain_tree(frame);
    uint32_t outputs = tree_interface(tree, firing->interface)->out_count;
    for (uint32_t o = 0; o < outputs && status == KERNEL_OK; o++)
        status = append_tree_packets(frame, o);
    tree->used = frame->first_entry + frame->list.count;
    return status;
}

/* ---- launches ---- */

/* Begins the next work-group of the frame's present launch, one level below. */
static enum kernel_status begin_tree_group(struct core_tree_frame *frame,
                                           struct kernel_launch *entry)
{
    struct core_tree *tree = frame->tree;
    const struct container_interface *parent = tree_interface(tree, frame->interface);
    const struct container_launch *site =
        &trees_of(tree)->launches[parent->first_launch + entry->site];
    const struct container_interface *child = tree_interface(tree, site->child);
    if (frame->groups == 0) {
        entry->event = (uint32_t)frame->executed;
        entry->level = (uint16_t)(frame->level + 1);
        frame->before = total_packets(tree);
    }
    if (++tree->launched > root_interface(tree)->tree) {
        const uint32_t place[] = {site->source, site->line, site->column};
        return fail_tree(tree, KERNEL_FAULT_TREE, place, tree->launched,
                         root_interface(tree)->tree);
    }
    count_begin(tree, site->child, frame->first_entry + frame->executed, frame->groups == 0,
                frame->level + 1);
    const struct tree_firing firing = {.level = frame->level + 1,
                                       .interface = site->child,
                                       .code = (uint32_t)entry->kernel,
                                       .arguments =
                                           (const uint8_t *)entry + child->arguments_offset_bytes,
                                       .group = entry->first_group + frame->groups++,
                                       .groups = entry->groups};
    return begin_tree_firing(tree, &firing);
}

/* The next step of the firing at that level: it begins a work-group, which is the next firing, or it ends a launch, or itself. */
static enum kernel_status step_tree(struct core_tree *tree, uint32_t *level)
{
    struct core_tree_frame *frame = tree_frame(tree, *level);
    if (frame->executed == frame->list.count) {
        tree->used = frame->first_entry;
        (*level)--;
        return KERNEL_OK;
    }
    uint64_t index = frame->first_entry + frame->executed;
    struct kernel_launch *entry = tree_entry(tree, index);
    if (frame->groups < entry->groups) {
        (*level)++;
        return begin_tree_group(frame, entry);
    }
    tree_heard(tree)[index] = total_packets(tree) > frame->before;
    frame->executed++;
    frame->groups = 0;
    return KERNEL_OK;
}

/* Executes launches of the firing at that level, with their trees, until `count` have been. */
static enum kernel_status execute_tree_launches(struct core_tree *tree, uint32_t base,
                                                uint64_t count)
{
    enum kernel_status status = KERNEL_OK;
    const struct core_tree_frame *frame = tree_frame(tree, base);
    uint32_t level = base;
    while (status == KERNEL_OK && (level > base || frame->executed < count))
        status = step_tree(tree, &level);
    return status;
}

/* kernel_launch_list.done */
static int32_t ask_tree_done(struct kernel_launch_list *list, uint32_t event, uint64_t timestamp)
{
    struct core_tree_frame *frame = (struct core_tree_frame *)list;
    struct core_tree *tree = frame->tree;
    (void)timestamp;
    if (event >= list->count) return 0;
    tree->used = frame->first_entry + list->count;
    uint64_t asked = tree_now(tree);
    note_issued(frame, asked);
    if (frame->failed == KERNEL_OK)
        frame->failed = execute_tree_launches(tree, frame->level, (uint64_t)event + 1);
    frame->away_time += tree_now(tree) - asked;
    if (frame->failed != KERNEL_OK) return -(int32_t)frame->failed;
    return tree_heard(tree)[frame->first_entry + event];
}

/* ---- batches ---- */

/* Checks that a firing and its tree have appended as many packets as declared, and notes how many. */
static enum kernel_status check_tree_packets(struct core_tree *tree, uint64_t number)
{
    const struct core_resident *r = tree->resident;
    uint32_t outputs = root_interface(tree)->out_count;
    const uint64_t *appended = tree_appended(tree);
    for (uint32_t o = 0; o < outputs; o++)
        if (appended[o] < tree->outputs[o].least)
            return fail_tree_port(tree, o, appended[o], tree->outputs[o].least);
    if (core_stage(r->core, tree->stage)->exact) return KERNEL_OK;
    for (uint32_t o = 0; o < outputs; o++)
        r->appended[number * outputs + o] = appended[o];
    return KERNEL_OK;
}

static enum kernel_status execute_tree(struct core_tree *tree, uint64_t number)
{
    const struct core *core = tree->resident->core;
    const struct core_firing_ends ends = {.in = tree_memory(tree, tree->root->in_at),
                                          .out = tree_memory(tree, tree->root->base_at)};
    const struct tree_firing outermost = {.interface = tree->root->interface,
                                          .code = trees_of(tree)->entries[tree->root->interface],
                                          .arguments = tree->batch->arguments,
                                          .groups = 1};
    core_place_firing(core, core_stage(core, tree->stage), tree->batch, number, &ends);
    for (uint32_t o = 0; o < root_interface(tree)->out_count; o++)
        tree_appended(tree)[o] = 0;
    tree->firing = tree->batch->first_firing + number;
    tree->launched = tree->used = 0;
    enum kernel_status status = begin_tree_firing(tree, &outermost);
    if (status == KERNEL_OK)
        status = execute_tree_launches(tree, 0, tree_frame(tree, 0)->list.count);
    return status == KERNEL_OK ? check_tree_packets(tree, number) : status;
}

static struct core_tree *block_tree(const struct core_resident *r, uint32_t block)
{
    void *at = r->trees.workspaces + block * r->trees.workspace_bytes;
    return at;
}

void core_tree_open(struct core_resident *r, uint32_t block)
{
    struct core_tree *tree = block_tree(r, block);
    tree->resident = r;
    tree->block = block;
    tree->status = KERNEL_OK;
}

void core_tree_execute(struct core_resident *r, uint32_t block, const struct core_order *order,
                       uint32_t worker, uint32_t workers)
{
    struct core_tree *tree = block_tree(r, block);
    uint32_t stage = order->job.stage;
    tree->root = &r->trees.roots[stage];
    tree->outputs = &r->trees.outputs[core_stage(r->core, stage)->first_output];
    tree->batch = &order->batch;
    tree->stage = stage;
    tree->status = KERNEL_OK;
    tree->fault = (struct kernel_fault){.firing = 0};
    for (uint64_t i = worker; i < order->batch.count && tree->status == KERNEL_OK; i += workers) {
        tree->failed = i;
        tree->status = execute_tree(tree, i);
    }
    if (tree->status != KERNEL_OK) core_min_device(order->batch.completed, tree->failed);
}

const struct core_tree *core_tree_find_fault(const struct core_resident *r, uint32_t stage,
                                             uint64_t firing)
{
    uint32_t block = 0;
    const struct core_tree *tree;
    do
        tree = block_tree(r, block++);
    while (block < r->blocks &&
           (tree->stage != stage || tree->status == KERNEL_OK || tree->failed != firing));
    return tree;
}
