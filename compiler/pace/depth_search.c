/* SPDX-License-Identifier: MIT */
/* Best-first search (depth_search.h), and the climb for graphs whose search exceeds the budget. */
#include "compiler/pace/depth_search.h"

#include <string.h>

enum {
    STATES_MAX = 100 * 1000,
    WORDS_MAX = 4 * 1000 * 1000,
    CLIMBS_BEFORE_DOUBLING = 4,
    DOUBLINGS_MAX = 24
};

struct vector { /* that the search has reached */
    uint64_t *depths;
    depth_cost cost, key;    /* its own; a lower bound for every useful vector above it */
    uint32_t parent, choice; /* its predecessor and the raised choice; GRAPH_NONE: the floors */
    uint32_t waiter;         /* arc of packets in the cycle that raised it, or GRAPH_NONE */
};

struct search {
    struct arena *arena, *scratch;
    const struct depth_group *group;
    const struct depth_request *request;
    VEC(struct vector) vectors;
    uint32_t *heap, heap_count, heap_capacity;
    uint32_t *seen; /* a hash table of vectors, plus one; 0: free */
    size_t seen_count;
    uint64_t *budget;
    depth_cost limit; /* no vector of a higher cost is of use */
    struct throughput pace;
    VEC(struct depth_point) points;
    bool whole; /* nothing was left out */
    depth_cost least;
};

/* ---- queue ---- */

static bool comes_before(const struct search *search, uint32_t a, uint32_t b)
{
    const struct vector *left = &search->vectors.items[a], *right = &search->vectors.items[b];
    if (left->key != right->key) return left->key < right->key;
    if (left->cost != right->cost) return left->cost > right->cost;
    return a > b;
}

static void queue_push(struct search *search, uint32_t vector)
{
    if (search->heap_count == search->heap_capacity) {
        uint32_t capacity = search->heap_capacity ? 2 * search->heap_capacity : 256;
        uint32_t *heap = ARENA_ARRAY(search->arena, uint32_t, capacity);
        if (search->heap_count) memcpy(heap, search->heap, search->heap_count * sizeof *heap);
        search->heap = heap;
        search->heap_capacity = capacity;
    }
    uint32_t at = search->heap_count++;
    for (; at > 0 && comes_before(search, vector, search->heap[(at - 1) / 2]); at = (at - 1) / 2)
        search->heap[at] = search->heap[(at - 1) / 2];
    search->heap[at] = vector;
}

static uint32_t queue_pop(struct search *search)
{
    uint32_t *heap = search->heap, first = heap[0], last = heap[--search->heap_count], at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= search->heap_count) break;
        if (child + 1 < search->heap_count && comes_before(search, heap[child + 1], heap[child]))
            child++;
        if (!comes_before(search, heap[child], last)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

/* ---- vectors ---- */

static size_t hash_depths(const uint64_t *depths, uint32_t count)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ depths[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return (size_t)hash;
}

/* At most half full. */
static void seen_grow(struct search *search)
{
    size_t count = search->vectors.count;
    if (2 * count < search->seen_count) return;
    search->seen_count = search->seen_count ? 2 * search->seen_count : 64;
    search->seen = ARENA_ARRAY(search->arena, uint32_t, search->seen_count);
    for (uint32_t i = 0; i + 1 < count; i++) {
        size_t mask = search->seen_count - 1;
        size_t slot =
            hash_depths(search->vectors.items[i].depths, search->group->choice_count) & mask;
        while (search->seen[slot])
            slot = (slot + 1) & mask;
        search->seen[slot] = i + 1;
    }
}

/* Remembers the last vector; false if it was known. */
static bool note_seen(struct search *search, uint32_t vector)
{
    seen_grow(search);
    const uint64_t *depths = search->vectors.items[vector].depths;
    uint32_t count = search->group->choice_count;
    size_t mask = search->seen_count - 1, slot = hash_depths(depths, count) & mask;
    for (; search->seen[slot]; slot = (slot + 1) & mask) {
        const struct vector *other = &search->vectors.items[search->seen[slot] - 1];
        if (memcmp(other->depths, depths, count * sizeof *depths) == 0) return false;
    }
    search->seen[slot] = vector + 1;
    return true;
}

static bool is_full(const struct search *search)
{
    size_t count = search->vectors.count + 1;
    return count > STATES_MAX || count * search->group->choice_count > WORDS_MAX;
}

static void add_vector(struct search *search, struct vector vector)
{
    vector.cost = depth_vector_cost(search->group, vector.depths);
    if (vector.cost > vector.key) vector.key = vector.cost;
    if (vector.key >= search->limit) return;
    uint32_t index = (uint32_t)vec_push(search->arena, &search->vectors, vector);
    if (note_seen(search, index))
        queue_push(search, index);
    else
        search->vectors.count--;
}

static uint32_t waiting_arc(const struct search *search, const struct depth_verdict *verdict)
{
    const struct net *net = search->group->nets[verdict->net].net;
    for (uint32_t i = 0; i < verdict->count; i++)
        if (net->arcs[verdict->arcs[i]].kind == ARC_PACKETS) return verdict->arcs[i];
    return GRAPH_NONE;
}

/* Adds every vector that raises one choice of the cycle. */
static void expand_vector(struct search *search, uint32_t index,
                          const struct depth_verdict *verdict, const struct throughput *target)
{
    const struct depth_group *group = search->group;
    uint64_t *raises = ARENA_ARRAY(search->scratch, uint64_t, group->choice_count), bytes;
    size_t size_bytes = group->choice_count * sizeof *raises;
    depth_raises(group, verdict, target, raises, &bytes);
    struct vector from = search->vectors.items[index];
    depth_cost key = from.cost + ((depth_cost)bytes << 64);
    if (from.key > key) key = from.key;
    for (uint32_t i = 0; i < group->choice_count; i++) {
        if (raises[i] == 0) continue;
        if (is_full(search)) {
            search->whole = false;
            return;
        }
        struct vector next = {.depths = arena_copy(search->arena, from.depths, size_bytes),
                              .key = key,
                              .parent = index,
                              .choice = i,
                              .waiter = waiting_arc(search, verdict)};
        next.depths[i] = add_clamped(next.depths[i], raises[i]);
        add_vector(search, next);
    }
}

/* ---- results ---- */

static const uint32_t *collect_waiters(const struct search *search, uint32_t index)
{
    uint32_t *waiters = ARENA_ARRAY(search->arena, uint32_t, search->group->choice_count);
    for (uint32_t i = 0; i < search->group->choice_count; i++)
        waiters[i] = GRAPH_NONE;
    for (; index != GRAPH_NONE; index = search->vectors.items[index].parent) {
        const struct vector *at = &search->vectors.items[index];
        if (at->choice != GRAPH_NONE && waiters[at->choice] == GRAPH_NONE)
            waiters[at->choice] = at->waiter;
    }
    return waiters;
}

/* The vector is faster than the target; is there a higher target? */
static bool raise_target(struct search *search, const struct depth_verdict *verdict, uint32_t index)
{
    search->pace = verdict->pace;
    /* A faster point of the same memory replaces the point before. */
    const struct vector *at = &search->vectors.items[index];
    struct depth_point point = {at->depths, depth_cost_bytes(at->cost), search->pace};
    size_t count = search->points.count;
    if (count && search->points.items[count - 1].bytes == point.bytes) search->points.count--;
    vec_push(search->arena, &search->points, point);
    if (search->points.count == search->request->points_max) {
        search->whole = false;
        return false;
    }
    return verdict->pace.kind == THROUGHPUT_RATIO &&
           (!search->request->target ||
            throughput_compare(&verdict->pace, search->request->target) < 0);
}

/* Takes the next vector; false when the search has ended. */
static bool search_step(struct search *search, struct depth_found *found)
{
    const struct depth_request *request = search->request;
    const struct throughput *target = request->front ? &search->pace : request->target;
    uint32_t index = queue_pop(search);
    search->least = search->vectors.items[index].key;
    struct depth_verdict verdict =
        depth_examine(search->scratch, search->group, search->vectors.items[index].depths, target,
                      request->front, search->budget);
    bool decided = verdict.outcome != DEPTH_UNDECIDED;
    if (decided && target && verdict.outcome != DEPTH_STUCK &&
        verdict.pace.kind == THROUGHPUT_RATIO && !verdict.pace.exact)
        decided = verdict.outcome == DEPTH_ENOUGH && !request->front;
    if (!decided) {
        search->whole = false;
        return false;
    }
    if (verdict.outcome == DEPTH_ENOUGH && !request->front) {
        found->depths = search->vectors.items[index].depths;
        found->waiters = collect_waiters(search, index);
        return false;
    }
    if (verdict.outcome == DEPTH_ENOUGH) {
        if (!raise_target(search, &verdict, index)) return false;
        verdict.outcome = DEPTH_SLOW;
    }
    expand_vector(search, index, &verdict, target);
    return search->whole;
}

static void search_begin(struct search *search)
{
    const struct depth_group *group = search->group;
    size_t size_bytes = group->choice_count * sizeof(uint64_t);
    struct vector floors = {.depths = arena_alloc(search->arena, size_bytes + 1),
                            .parent = GRAPH_NONE,
                            .choice = GRAPH_NONE,
                            .waiter = GRAPH_NONE};
    for (uint32_t i = 0; i < group->choice_count; i++)
        floors.depths[i] = group->choices[i].floor_packets;
    add_vector(search, floors);
}

/* Copies the results out of the search's arena. */
static void keep_found(struct arena *arena, const struct search *search, struct depth_found *found)
{
    size_t count = search->group->choice_count;
    if (found->depths) {
        found->depths = arena_copy(arena, found->depths, count * sizeof *found->depths);
        found->waiters = arena_copy(arena, found->waiters, count * sizeof *found->waiters);
    }
    found->point_count = (uint32_t)search->points.count;
    found->points = ARENA_ARRAY(arena, struct depth_point, search->points.count + 1);
    for (uint32_t i = 0; i < found->point_count; i++) {
        struct depth_point *point = &found->points[i];
        *point = search->points.items[i];
        point->depths = arena_copy(arena, point->depths, count * sizeof *point->depths);
        point->pace.critical = NULL;
        point->pace.critical_count = 0;
    }
}

struct depth_found depth_search(struct arena *arena, const struct depth_group *group,
                                const struct depth_request *request, uint64_t *budget)
{
    struct depth_found found = {.exact = true};
    struct search search = {
        .arena = arena_create(),
        .scratch = arena_create(),
        .group = group,
        .request = request,
        .budget = budget,
        .limit = DEPTH_COST_MAX,
        .pace = {.kind = THROUGHPUT_STUCK, .exact = true},
        .whole = true,
    };
    if (request->known) search.limit = depth_vector_cost(group, request->known);
    search.least = search.limit;
    search_begin(&search);
    while (search.heap_count && search_step(&search, &found))
        arena_reset(search.scratch);
    found.exact = search.whole;
    if (search.whole && !found.depths && !request->front) search.least = search.limit;
    found.least_bytes = depth_cost_bytes(search.least);
    keep_found(arena, &search, &found);
    arena_destroy(search.scratch);
    arena_destroy(search.arena);
    return found;
}

/* ---- climbing ---- */

struct climb {
    struct arena *scratch;
    const struct depth_group *group;
    const struct throughput *target;
    uint64_t *depths, *raises, *budget;
    uint32_t *times; /* by choice: how often it was raised */
};

static enum depth_outcome try_depths(const struct climb *climb, struct depth_verdict *verdict)
{
    if (*climb->budget == 0) return DEPTH_UNDECIDED;
    arena_reset(climb->scratch);
    *verdict = depth_examine(climb->scratch, climb->group, climb->depths, climb->target, false,
                             climb->budget);
    return verdict->outcome;
}

/* The choice whose raise costs fewest bytes. */
static uint32_t cheapest_raise(const struct climb *climb)
{
    uint32_t best = GRAPH_NONE;
    depth_cost best_cost = 0;
    for (uint32_t i = 0; i < climb->group->choice_count; i++) {
        if (climb->raises[i] == 0) continue;
        depth_cost cost = depth_price(&climb->group->choices[i], climb->raises[i]);
        if (best != GRAPH_NONE && cost >= best_cost) continue;
        best = i;
        best_cost = cost;
    }
    return best;
}

/* A choice that is raised repeatedly is raised by more each time. */
static bool raise_choice(const struct climb *climb, const struct depth_verdict *verdict)
{
    uint64_t bytes;
    depth_raises(climb->group, verdict, climb->target, climb->raises, &bytes);
    uint32_t choice = cheapest_raise(climb);
    if (choice == GRAPH_NONE) return false;
    uint32_t times = climb->times[choice]++;
    uint64_t raise = climb->raises[choice];
    if (times > CLIMBS_BEFORE_DOUBLING)
        raise = mul_clamped(raise, (uint64_t)1 << min64(times - CLIMBS_BEFORE_DOUBLING, 40));
    climb->depths[choice] = add_clamped(climb->depths[choice], raise);
    return climb->depths[choice] < (uint64_t)1 << 60;
}

/* Shrinks a choice to its minimum, with the others as they are. */
static void shrink_choice(const struct climb *climb, uint32_t choice)
{
    uint64_t low = climb->group->choices[choice].floor_packets, high = climb->depths[choice];
    struct depth_verdict verdict;
    while (low < high) {
        climb->depths[choice] = low + (high - low) / 2;
        enum depth_outcome outcome = try_depths(climb, &verdict);
        if (outcome == DEPTH_UNDECIDED) break;
        if (outcome == DEPTH_ENOUGH)
            high = climb->depths[choice];
        else
            low = climb->depths[choice] + 1;
    }
    climb->depths[choice] = high;
}

static uint32_t costliest_choice(const struct climb *climb, const bool *done)
{
    uint32_t best = GRAPH_NONE;
    depth_cost best_cost = 0;
    for (uint32_t i = 0; i < climb->group->choice_count; i++) {
        if (done[i]) continue;
        depth_cost cost = depth_price(&climb->group->choices[i], climb->depths[i]);
        if (best != GRAPH_NONE && cost <= best_cost) continue;
        best = i;
        best_cost = cost;
    }
    return best;
}

static void shrink_all(const struct climb *climb)
{
    bool *done = ARENA_ARRAY(climb->scratch, bool, climb->group->choice_count + 1);
    struct arena *own = arena_create();
    struct climb inner = *climb;
    inner.scratch = own;
    for (uint32_t i = 0; i < climb->group->choice_count; i++) {
        uint32_t choice = costliest_choice(climb, done);
        done[choice] = true;
        shrink_choice(&inner, choice);
    }
    arena_destroy(own);
}

/* Raises along critical cycles, with half of the budget. */
static enum depth_outcome climb_cycles(const struct climb *climb)
{
    uint64_t share = *climb->budget / 2, left = share;
    struct climb half = *climb;
    struct depth_verdict verdict;
    enum depth_outcome outcome;
    half.budget = &left;
    while ((outcome = try_depths(&half, &verdict)) == DEPTH_STUCK || outcome == DEPTH_SLOW)
        if (!raise_choice(&half, &verdict)) break;
    *climb->budget -= share - left;
    return outcome;
}

/* Doubles all choices repeatedly. */
static enum depth_outcome climb_doubling(const struct climb *climb)
{
    enum depth_outcome outcome = DEPTH_SLOW;
    struct depth_verdict verdict;
    for (int i = 0; i < DOUBLINGS_MAX && outcome != DEPTH_ENOUGH; i++) {
        for (uint32_t k = 0; k < climb->group->choice_count; k++)
            climb->depths[k] = min64(mul_clamped(climb->depths[k], 2), (uint64_t)1 << 60);
        outcome = try_depths(climb, &verdict);
        if (outcome == DEPTH_UNDECIDED) break;
    }
    return outcome;
}

uint64_t *depth_climb(struct arena *arena, const struct depth_group *group, const uint64_t *from,
                      const struct throughput *target, uint64_t *budget)
{
    uint32_t count = group->choice_count;
    struct climb climb = {
        .scratch = arena_create(),
        .group = group,
        .target = target,
        .depths = arena_copy(arena, from, count * sizeof *from),
        .raises = ARENA_ARRAY(arena, uint64_t, count + 1),
        .times = ARENA_ARRAY(arena, uint32_t, count + 1),
        .budget = budget,
    };
    enum depth_outcome outcome = climb_cycles(&climb);
    if (outcome != DEPTH_ENOUGH) outcome = climb_doubling(&climb);
    if (outcome == DEPTH_ENOUGH) {
        arena_reset(climb.scratch);
        shrink_all(&climb);
    }
    arena_destroy(climb.scratch);
    return outcome == DEPTH_ENOUGH ? climb.depths : NULL;
}
