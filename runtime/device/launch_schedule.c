/* SPDX-License-Identifier: MIT */
#include "runtime/device/launch_schedule.h"

#include "base/arithmetic.h"
#include "core/time/timing.h"

#include <assert.h>
#include <stdlib.h>

enum node_state { NODE_UNISSUED, NODE_HELD, NODE_READY, NODE_RUNNING, NODE_SUSPENDED, NODE_ENDED };

struct node {
    uint64_t cost_cycles;
    uint64_t before_cycles; /* part of its parent's cost that precedes its launch */
    uint64_t asked_cycles;  /* part of its parent's cost that precedes the question for it */
    uint64_t launches_most;
    uint64_t work_cycles;   /* of its cost, up to its next mark */
    uint64_t done_cycles;   /* of its own time up to there: with the start and its launches */
    uint64_t event_cycles;  /* moment of its next mark, while it runs */
    uint64_t issued_cycles; /* moment of its issue */
    uint64_t held_cycles;   /* moment since which it holds its compute unit */
    uint32_t parent;
    uint32_t end;        /* one past its tree: its next sibling, if there is one */
    uint32_t launches;   /* number of launches that it issues */
    uint32_t issued;     /* number of launches so far */
    uint32_t next_child; /* next child to issue */
    uint32_t open;       /* itself and children whose trees have not ended */
    uint32_t missing;    /* ends that it still waits for before it is ready */
    uint32_t first_edge; /* list of the nodes that wait for the end of its tree */
    uint32_t first_held; /* list of the children that wait for its own end, by next_held */
    uint32_t next_held;
    uint32_t first_ask, last_ask; /* list of the children that it asks for, by next_ask */
    uint32_t next_ask, asked_at;
    uint32_t first; /* of a mate: the first node of its launch; else itself */
    uint32_t first_mate, last_mate, next_mate;
    uint32_t level;
    uint32_t cu;     /* the compute unit that it holds */
    uint32_t kernel; /* in reports */
    uint8_t order;   /* enum prt_launch_order */
    uint8_t state;   /* enum node_state */
    bool started, resumed;
    bool calls; /* its mates wait for the end of its start */
};

/* `waiter` waits for `ended`; the edges of one `ended` are a list. */
struct edge {
    uint32_t waiter, ended, next;
};

struct heap {
    uint32_t *items;
    uint32_t count;
};

struct prt_launch_schedule {
    struct prt_launch_limits limits;
    struct node *nodes;
    struct edge *edges;
    uint32_t count, edge_count;

    struct heap ready;   /* by goes_first */
    struct heap running; /* earliest mark first, then in order */
    uint64_t now_cycles;
    uint64_t held, reserved; /* entries of the queue */
    uint32_t next_root, roots_open, cus_free;
    uint32_t *free_cus;  /* stack of cus_free numbers */
    uint32_t first_late; /* list of the children of roots that wait for all roots, by next_held */
    struct prt_launch_times times;
    struct prt_launch_report *report;
};

/* ---- heaps ---- */

typedef bool before_function(const struct node *nodes, uint32_t a, uint32_t b);

/* The order in which ready nodes take compute units; launch_schedule.h says why. */
static bool goes_first(const struct node *nodes, uint32_t a, uint32_t b)
{
    if (nodes[a].level != nodes[b].level) return nodes[a].level > nodes[b].level;
    if (nodes[a].started != nodes[b].started) return nodes[a].started;
    return a < b;
}

static bool comes_earlier(const struct node *nodes, uint32_t a, uint32_t b)
{
    if (nodes[a].event_cycles != nodes[b].event_cycles)
        return nodes[a].event_cycles < nodes[b].event_cycles;
    return a < b;
}

static void heap_push(struct heap *heap, const struct node *nodes, before_function *before,
                      uint32_t node)
{
    uint32_t at = heap->count++;
    while (at > 0 && before(nodes, node, heap->items[(at - 1) / 2])) {
        heap->items[at] = heap->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->items[at] = node;
}

static uint32_t heap_pop(struct heap *heap, const struct node *nodes, before_function *before)
{
    uint32_t first = heap->items[0], last = heap->items[--heap->count], at = 0;
    for (;;) {
        uint32_t child = at * 2 + 1;
        if (child >= heap->count) break;
        if (child + 1 < heap->count && before(nodes, heap->items[child + 1], heap->items[child]))
            child++;
        if (!before(nodes, heap->items[child], last)) break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    heap->items[at] = last;
    return first;
}

/* ---- life ---- */

enum prt_status prt_launch_schedule_create(const struct prt_launch_limits *limits,
                                           struct prt_launch_schedule **schedule)
{
    struct prt_launch_schedule *s = calloc(1, sizeof *s);
    if (s == NULL) return PRT_E_NOMEM;
    s->limits = *limits;
    size_t nodes = limits->nodes > 0 ? limits->nodes : 1;
    size_t edges = nodes * (limits->waits_per_node > 0 ? limits->waits_per_node : 1);
    s->nodes = calloc(nodes, sizeof *s->nodes);
    s->edges = calloc(edges, sizeof *s->edges);
    s->ready.items = calloc(nodes, sizeof *s->ready.items);
    s->running.items = calloc(nodes, sizeof *s->running.items);
    s->free_cus = calloc(limits->cu_count, sizeof *s->free_cus);
    if (s->nodes == NULL || s->edges == NULL || s->ready.items == NULL ||
        s->running.items == NULL || s->free_cus == NULL) {
        prt_launch_schedule_destroy(s);
        return PRT_E_NOMEM;
    }
    *schedule = s;
    return PRT_OK;
}

void prt_launch_schedule_destroy(struct prt_launch_schedule *s)
{
    if (s == NULL) return;
    free(s->nodes);
    free(s->edges);
    free(s->ready.items);
    free(s->running.items);
    free(s->free_cus);
    free(s);
}

/* ---- recording ---- */

uint32_t prt_launch_count(const struct prt_launch_schedule *s)
{
    return s->count;
}

bool prt_launch_has_room(const struct prt_launch_schedule *s, uint64_t nodes)
{
    return nodes <= s->limits.nodes - s->count;
}

void prt_launch_clear(struct prt_launch_schedule *s)
{
    s->count = s->edge_count = 0;
}

uint32_t prt_launch_open(struct prt_launch_schedule *s, uint32_t parent,
                         enum prt_launch_order order, uint64_t launches_most,
                         uint64_t before_cycles)
{
    assert(s->count < s->limits.nodes);
    uint32_t index = s->count++;
    struct node *node = &s->nodes[index];
    *node = (struct node){.before_cycles = before_cycles,
                          .launches_most = launches_most,
                          .parent = parent,
                          .next_child = index + 1,
                          .open = 1,
                          .first_edge = PRT_LAUNCH_NONE,
                          .first_held = PRT_LAUNCH_NONE,
                          .next_held = PRT_LAUNCH_NONE,
                          .first_ask = PRT_LAUNCH_NONE,
                          .last_ask = PRT_LAUNCH_NONE,
                          .next_ask = PRT_LAUNCH_NONE,
                          .first = index,
                          .first_mate = PRT_LAUNCH_NONE,
                          .last_mate = PRT_LAUNCH_NONE,
                          .next_mate = PRT_LAUNCH_NONE,
                          .order = (uint8_t)order};
    if (parent == PRT_LAUNCH_NONE) return index;
    node->level = s->nodes[parent].level + 1;
    s->nodes[parent].launches++;
    s->nodes[parent].open++;
    return index;
}

uint32_t prt_launch_join(struct prt_launch_schedule *s, uint32_t first, uint64_t launches_most)
{
    struct node *of = &s->nodes[first];
    uint32_t index = prt_launch_open(s, PRT_LAUNCH_NONE, PRT_LAUNCH_WITH_PARENT, launches_most, 0);
    struct node *node = &s->nodes[index];
    node->parent = of->parent;
    node->level = of->level;
    node->first = first;
    if (of->last_mate == PRT_LAUNCH_NONE)
        of->first_mate = index;
    else
        s->nodes[of->last_mate].next_mate = index;
    of->last_mate = index;
    of->open++;
    return index;
}

void prt_launch_name(struct prt_launch_schedule *s, uint32_t node, uint32_t kernel)
{
    s->nodes[node].kernel = kernel;
}

void prt_launch_wait(struct prt_launch_schedule *s, uint32_t node, uint32_t sibling)
{
    uint32_t index = s->edge_count++;
    s->edges[index] = (struct edge){node, sibling, s->nodes[sibling].first_edge};
    s->nodes[sibling].first_edge = index;
    s->nodes[node].missing++;
}

void prt_launch_ask(struct prt_launch_schedule *s, uint32_t index, uint64_t issued,
                    uint64_t before_cycles)
{
    struct node *node = &s->nodes[index], *parent = &s->nodes[node->parent];
    node->asked_at = (uint32_t)issued;
    node->asked_cycles = before_cycles;
    if (parent->last_ask == PRT_LAUNCH_NONE)
        parent->first_ask = index;
    else
        s->nodes[parent->last_ask].next_ask = index;
    parent->last_ask = index;
}

void prt_launch_close(struct prt_launch_schedule *s, uint32_t index, uint64_t cost_cycles)
{
    s->nodes[index].cost_cycles = cost_cycles;
    s->nodes[index].end = s->count;
    s->nodes[s->nodes[index].first].end = s->count; /* of a launch: past all of its mates */
}

/* ---- transitions of a node ---- */

static void make_ready(struct prt_launch_schedule *s, uint32_t index)
{
    s->nodes[index].state = NODE_READY;
    heap_push(&s->ready, s->nodes, goes_first, index);
}

/* One of the ends that an issued node waits for has come. */
static void miss_less(struct prt_launch_schedule *s, uint32_t index)
{
    struct node *node = &s->nodes[index];
    if (--node->missing == 0 && node->state == NODE_HELD) make_ready(s, index);
}

static void release_list(struct prt_launch_schedule *s, uint32_t *first)
{
    uint32_t index = *first;
    *first = PRT_LAUNCH_NONE;
    while (index != PRT_LAUNCH_NONE) {
        uint32_t next = s->nodes[index].next_held;
        miss_less(s, index);
        index = next;
    }
}

static void hold_node(struct prt_launch_schedule *s, uint32_t index, uint32_t *first)
{
    s->nodes[index].next_held = *first;
    s->nodes[index].missing++;
    *first = index;
}

/* Does the node ask before it issues its next launch? */
static bool asks_next(const struct prt_launch_schedule *s, const struct node *node)
{
    return node->first_ask != PRT_LAUNCH_NONE && s->nodes[node->first_ask].asked_at <= node->issued;
}

/* A launch starts once, on the compute unit of its first work-group. */
static uint64_t start_cycles_of(const struct prt_launch_schedule *s, const struct node *node)
{
    bool starts = node->parent != PRT_LAUNCH_NONE && node == &s->nodes[node->first];
    return starts ? s->times.start_cycles : 0;
}

/* Moves the node to its next mark: the end of its start, if mates wait for it, a question, its next launch, or its end.
 * Returns its own time until then. */
static uint64_t advance_node(const struct prt_launch_schedule *s, struct node *node)
{
    uint64_t launches = node->issued, work = node->cost_cycles;
    if (node->calls) {
        work = 0;
    } else if (asks_next(s, node)) {
        work = s->nodes[node->first_ask].asked_cycles;
    } else if (node->issued < node->launches) {
        work = s->nodes[node->next_child].before_cycles;
        launches++;
    }
    if (work > node->cost_cycles) work = node->cost_cycles;
    if (work > node->work_cycles) node->work_cycles = work;
    uint64_t start = start_cycles_of(s, node);
    uint64_t issue = core_cycles_multiply(launches, s->times.issue_cycles);
    uint64_t before = node->done_cycles;
    node->done_cycles = core_cycles_add(core_cycles_add(start, issue), node->work_cycles);
    return node->done_cycles - before;
}

static void add_span(struct prt_launch_schedule *s, const struct node *node)
{
    struct prt_launch_spans *spans = &s->report->spans;
    if (spans->items == NULL) return;
    if (spans->count == spans->capacity) {
        spans->omitted++;
        return;
    }
    uint64_t base = spans->base_cycles;
    spans->items[spans->count++] =
        (struct prt_firing_span){.begin_cycles = core_cycles_add(base, node->held_cycles),
                                 .end_cycles = core_cycles_add(base, s->now_cycles),
                                 .issued_cycles = core_cycles_add(base, node->issued_cycles),
                                 .interface = node->kernel,
                                 .level = node->level,
                                 .cu = node->cu,
                                 .resumed = node->resumed};
}

static void give_cu_back(struct prt_launch_schedule *s, struct node *node)
{
    s->free_cus[s->cus_free++] = node->cu;
    add_span(s, node);
    node->resumed = true;
}

static void run_to_mark(struct prt_launch_schedule *s, uint32_t index)
{
    struct node *node = &s->nodes[index];
    uint64_t cycles = advance_node(s, node);
    uint64_t *cu_cycles = s->report->cu_cycles;
    if (cu_cycles != NULL) cu_cycles[node->cu] = core_cycles_add(cu_cycles[node->cu], cycles);
    node->event_cycles = core_cycles_add(s->now_cycles, cycles);
    node->state = NODE_RUNNING;
    heap_push(&s->running, s->nodes, comes_earlier, index);
}

static void take_answer(struct prt_launch_schedule *s, struct node *node)
{
    node->first_ask = s->nodes[node->first_ask].next_ask;
}

/* If the tree has not ended, the node is suspended.  The children that it has launched so far no
 * longer wait for its end. */
static void ask_node(struct prt_launch_schedule *s, uint32_t index)
{
    struct node *node = &s->nodes[index];
    if (s->nodes[node->first_ask].open == 0) {
        take_answer(s, node);
        run_to_mark(s, index);
        return;
    }
    node->state = NODE_SUSPENDED;
    give_cu_back(s, node);
    release_list(s, &node->first_held);
}

static void tree_ended(struct prt_launch_schedule *s, uint32_t index)
{
    while (index != PRT_LAUNCH_NONE && --s->nodes[index].open == 0) {
        struct node *node = &s->nodes[index];
        for (uint32_t i = node->first_edge; i != PRT_LAUNCH_NONE; i = s->edges[i].next)
            miss_less(s, s->edges[i].waiter);
        if (node->first != index) {
            index = node->first;
            continue;
        }
        if (node->parent == PRT_LAUNCH_NONE) return;
        s->held--;
        struct node *parent = &s->nodes[node->parent];
        if (parent->state == NODE_SUSPENDED && parent->first_ask == index)
            make_ready(s, node->parent);
        index = node->parent;
    }
}

static void issue_launch(struct prt_launch_schedule *s, uint32_t index)
{
    struct node *node = &s->nodes[index];
    uint32_t child_index = node->next_child;
    struct node *child = &s->nodes[child_index];
    node->next_child = child->end;
    node->issued++;
    s->reserved--;
    s->held++;
    assert(s->held <= s->limits.queue_entries);
    if (s->held > s->report->entries_most) s->report->entries_most = (uint32_t)s->held;
    if (child->level > s->report->levels_most) s->report->levels_most = child->level;
    s->report->launches++;
    child->issued_cycles = s->now_cycles;
    child->state = NODE_HELD;
    child->calls = child->first_mate != PRT_LAUNCH_NONE;
    for (uint32_t i = child->first_mate; i != PRT_LAUNCH_NONE; i = s->nodes[i].next_mate) {
        s->nodes[i].issued_cycles = s->now_cycles;
        s->nodes[i].state = NODE_HELD;
    }
    bool of_root = node->parent == PRT_LAUNCH_NONE;
    if (child->order == PRT_LAUNCH_AFTER_PARENT && of_root)
        hold_node(s, child_index, &s->first_late);
    else if (child->order != PRT_LAUNCH_WITH_PARENT)
        hold_node(s, child_index, &node->first_held);
    if (child->missing == 0) make_ready(s, child_index);
    run_to_mark(s, index);
}

/* The start of a launch has passed: its further work-groups may begin. */
static void call_mates(struct prt_launch_schedule *s, uint32_t index)
{
    struct node *node = &s->nodes[index];
    node->calls = false;
    for (uint32_t i = node->first_mate; i != PRT_LAUNCH_NONE; i = s->nodes[i].next_mate)
        make_ready(s, i);
    run_to_mark(s, index);
}

static void end_node(struct prt_launch_schedule *s, uint32_t index)
{
    struct node *node = &s->nodes[index];
    node->state = NODE_ENDED;
    give_cu_back(s, node);
    s->reserved -= node->launches_most - node->launches;
    release_list(s, &node->first_held);
    if (node->parent == PRT_LAUNCH_NONE) s->roots_open--;
    tree_ended(s, index);
}

/* `around`: what the start of the child and its launches take. */
static void report_child(struct prt_launch_report *report, const struct node *node, bool is_first,
                         uint64_t wait_cycles, uint64_t around_cycles)
{
    uint64_t held = core_cycles_add(node->cost_cycles, around_cycles);
    report->child_cycles = core_cycles_add(report->child_cycles, node->cost_cycles);
    report->wait_cycles = core_cycles_add(report->wait_cycles, wait_cycles);
    report->longest_cycles = max64(report->longest_cycles, held);
    report->groups++;
    if (report->kernels == NULL) return;
    struct prt_launch_kernel *kernel = &report->kernels[node->kernel];
    kernel->launches += is_first;
    kernel->groups++;
    kernel->cycles = core_cycles_add(kernel->cycles, node->cost_cycles);
    kernel->launch_cycles = core_cycles_add(kernel->launch_cycles, around_cycles);
    kernel->wait_cycles = core_cycles_add(kernel->wait_cycles, wait_cycles);
    kernel->longest_cycles = max64(kernel->longest_cycles, held);
    if (node->level > kernel->level_most) kernel->level_most = node->level;
}

static void start_node(struct prt_launch_schedule *s, uint32_t index)
{
    struct node *node = &s->nodes[index];
    node->cu = s->free_cus[--s->cus_free];
    node->held_cycles = s->now_cycles;
    if (node->started) {
        take_answer(s, node);
    } else {
        bool child = node->parent != PRT_LAUNCH_NONE;
        node->started = true;
        s->reserved += node->launches_most;
        uint64_t around = core_cycles_add(
            start_cycles_of(s, node), core_cycles_multiply(node->launches, s->times.issue_cycles));
        s->report->launch_cycles = core_cycles_add(s->report->launch_cycles, around);
        if (child)
            report_child(s->report, node, node->first == index, s->now_cycles - node->issued_cycles,
                         around);
    }
    run_to_mark(s, index);
}

/* ---- the loop ---- */

/* Does the queue have room for the node beside the entries held and reserved? */
static bool is_admitted(const struct prt_launch_schedule *s, uint32_t index)
{
    const struct node *node = &s->nodes[index];
    if (node->started || node->launches_most == 0 || s->running.count == 0) return true;
    uint64_t taken = core_cycles_add(core_cycles_add(s->held, s->reserved), node->launches_most);
    return core_cycles_add(taken, s->limits.below_root) <= s->limits.queue_entries;
}

/* Can a root begin beside others?  A root by itself begins when the trees before it have ended. */
static bool root_is_admitted(const struct prt_launch_schedule *s)
{
    const struct node *node = &s->nodes[s->next_root];
    if (node->launches_most == 0 || s->held + s->reserved == 0) return true;
    uint64_t taken = core_cycles_add(core_cycles_add(s->held, s->reserved), node->launches_most);
    return core_cycles_add(taken, s->limits.below_root) <= s->limits.queue_entries;
}

static void begin_nodes(struct prt_launch_schedule *s)
{
    while (s->cus_free > 0 && s->ready.count > 0 && is_admitted(s, s->ready.items[0]))
        start_node(s, heap_pop(&s->ready, s->nodes, goes_first));
    while (s->cus_free > 0 && s->ready.count == 0 && s->next_root < s->count &&
           root_is_admitted(s)) {
        uint32_t root = s->next_root;
        s->next_root = s->nodes[root].end;
        s->roots_open++;
        start_node(s, root);
    }
    /* The dispatch of the roots ends here: all roots, or as many as the queue has room for. */
    bool last = s->next_root == s->count && s->roots_open == 0;
    bool stands = s->running.count == 0 && s->ready.count == 0;
    if (s->first_late != PRT_LAUNCH_NONE && (last || stands)) {
        release_list(s, &s->first_late);
        begin_nodes(s);
    }
}

static void reach_mark(struct prt_launch_schedule *s, uint32_t index)
{
    const struct node *node = &s->nodes[index];
    if (node->calls)
        call_mates(s, index);
    else if (asks_next(s, node))
        ask_node(s, index);
    else if (node->issued < node->launches)
        issue_launch(s, index);
    else
        end_node(s, index);
}

/* Roots in order, each to the compute unit that is free first. */
static uint64_t run_roots(struct prt_launch_schedule *s, uint32_t cu_count)
{
    uint64_t end = 0;
    for (uint32_t root = 0; root < s->count; root = s->nodes[root].end) {
        uint64_t begin = 0;
        if (s->running.count == cu_count)
            begin = s->nodes[heap_pop(&s->running, s->nodes, comes_earlier)].event_cycles;
        struct node *node = &s->nodes[root];
        node->event_cycles = core_cycles_add(begin, node->cost_cycles);
        if (node->event_cycles > end) end = node->event_cycles;
        heap_push(&s->running, s->nodes, comes_earlier, root);
    }
    s->running.count = 0;
    return end;
}

struct prt_launch_run prt_launch_schedule_run(struct prt_launch_schedule *s, uint32_t cu_count,
                                              const struct prt_launch_times *times,
                                              struct prt_launch_report *report)
{
    struct prt_launch_run run = {.root_cycles = run_roots(s, cu_count)};
    s->times = *times;
    s->report = report;
    s->now_cycles = s->held = s->reserved = 0;
    s->next_root = s->roots_open = 0;
    for (s->cus_free = 0; s->cus_free < cu_count; s->cus_free++)
        s->free_cus[s->cus_free] = cu_count - 1 - s->cus_free;
    s->first_late = PRT_LAUNCH_NONE;
    begin_nodes(s);
    while (s->running.count > 0) {
        s->now_cycles = s->nodes[s->running.items[0]].event_cycles;
        while (s->running.count > 0 && s->nodes[s->running.items[0]].event_cycles == s->now_cycles)
            reach_mark(s, heap_pop(&s->running, s->nodes, comes_earlier));
        begin_nodes(s);
    }
    assert(s->next_root == s->count && s->held == 0 && s->reserved == 0);
    prt_launch_clear(s);
    report->spans.base_cycles = core_cycles_add(report->spans.base_cycles, s->now_cycles);
    run.end_cycles = s->now_cycles;
    return run;
}
