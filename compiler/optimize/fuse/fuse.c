/* SPDX-License-Identifier: MIT */
#include "compiler/optimize/fuse/fuse_internal.h"

#include "compiler/ir/ratio.h"
#include "compiler/liveness/strong_components.h"
#include "compiler/target/target.h"
#include "base/plural.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A packet in a buffer costs a store, a load, and a part of a hand-over to another core. */
#define HANDOVER_CYCLES 16
/* Firings ahead, which compute packets twice, may cost 1 / 8 of the others. */
#define AGAIN_PART 8
/* A cycle does not slow a stage down if so many iterations can be dispatched together: lanes are full, and the cost of
 * a dispatch is small. */
#define CYCLE_AT_ONCE UINT64_C(1024)
#define NEVER UINT32_MAX

struct group {
    uint32_t *nodes; /* ascending */
    uint32_t count;
    uint32_t version;               /* of the last change */
    uint32_t rank_least, rank_most; /* of the nodes */
    struct composite *composite;    /* NULL: one node, as it is */
};

struct candidate {     /* the writer and a reader of a buffer; or two readers, `side_by_side` */
    uint32_t from, to; /* nodes */
    uint32_t buffer;
    bool side_by_side;
    uint64_t traffic;     /* bytes an iteration */
    uint32_t versions[2]; /* at the last attempt */
};

struct merger {
    struct compile *cx;
    struct graph *graph;
    const struct devdesc *device;
    struct fusion *fusion;
    struct fuse_scratch scratch;
    struct group *groups; /* as many as nodes; some are empty */
    uint32_t *group_of;   /* by node */
    uint32_t
        *rank; /* by node: a buffer leads to a node of higher rank, or of equal rank in a cycle */
    const char **refusals;  /* by node: compose_refuses */
    bool *narrow;           /* by node: in a cycle that admits few firings in one dispatch */
    uint32_t *seen, visits; /* by group: marks of has_way_round; their present value */
    uint32_t *queue;
    uint32_t version;
    VEC(struct candidate) candidates;
};

static const char *off_reason(const struct compile *cx, const struct devdesc *device)
{
    if (cx->options.debug_mode) return "debug mode runs every kernel by itself";
    if (cx->options.fuse == FUSE_NEVER) return "--no-fuse";
    if (cx->options.fuse == FUSE_BY_DEVICE && target_of(device)->counts_cycles &&
        cx->options.buffers == BUFFERS_MIN)
        return "--buffers=min asks for memory, not for speed (--fuse fuses all the same)";
    return NULL;
}

bool fuse_wanted(const struct compile *cx, const struct devdesc *device)
{
    return off_reason(cx, device) == NULL;
}

bool fuse_is_timed(const struct compile *cx, const struct devdesc *device)
{
    return fuse_wanted(cx, device) && cx->options.fuse == FUSE_BY_DEVICE &&
           target_of(device)->counts_cycles;
}

/* ---- groups ---- */

static int compare_node(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static uint32_t *join_nodes(const struct merger *m, const struct group *a, const struct group *b)
{
    uint32_t *nodes = ARENA_ARRAY(m->scratch.arena, uint32_t, (size_t)a->count + b->count);
    memcpy(nodes, a->nodes, a->count * sizeof *nodes);
    memcpy(nodes + a->count, b->nodes, b->count * sizeof *nodes);
    qsort(nodes, (size_t)a->count + b->count, sizeof *nodes, compare_node);
    return nodes;
}

/* The reason why some declared depth is too small for the packets of an iteration; or NULL. */
static const char *depth_obstacle(const struct merger *m, const struct composite *composite)
{
    for (size_t i = 0; i < composite->inside.count; i++) {
        const struct compose_inside *inside = &composite->inside.items[i];
        const struct graph_buffer *buffer = &m->graph->buffers.items[inside->buffer];
        if (buffer->depth_declared && buffer->depth_packets < inside->packets)
            return arena_printf(m->cx->arena,
                                "the declared depth of '%s' is below the %" PRIu64
                                " packets of an iteration",
                                buffer->name, inside->packets);
    }
    return NULL;
}

/* ---- does it pay? ---- */

struct work {
    uint64_t cycles; /* an iteration */
    bool serial;
};

static struct work part_work(const struct merger *m, const struct fuse_group *whole,
                             const struct group *part)
{
    struct work work = {0};
    for (uint32_t i = 0; i < whole->count; i++) {
        const struct graph_node *node = &m->graph->nodes.items[whole->nodes[i]];
        if (&m->groups[m->group_of[whole->nodes[i]]] != part) continue;
        uint64_t cycles = mul_clamped(whole->firings[i], max64(node->cost_cycles, 1));
        work.cycles = add_clamped(work.cycles, cycles);
        work.serial |= m->scratch.serial[whole->nodes[i]] || m->narrow[whole->nodes[i]];
    }
    return work;
}

/* Packets of an iteration in the buffers between a and b. */
static uint64_t packets_between(const struct merger *m, const struct fuse_group *whole,
                                const struct group *a, const struct group *b)
{
    uint64_t packets = 0;
    for (uint32_t i = 0; i < whole->count; i++) {
        const struct graph_node *node = &m->graph->nodes.items[whole->nodes[i]];
        for (size_t e = 0; e < node->inputs.count; e++) {
            const struct graph_input *in = &node->inputs.items[e];
            uint32_t writer = m->graph->buffers.items[in->buffer].writer_node;
            if (writer == GRAPH_NONE) continue;
            const struct group *from = &m->groups[m->group_of[writer]];
            const struct group *to = &m->groups[m->group_of[whole->nodes[i]]];
            if (from != to && (from == a || from == b))
                packets = add_clamped(packets, mul_clamped(whole->firings[i], in->pop));
        }
    }
    return packets;
}

/* An inlined reader needs a branch for each packet.  If the writer has no state and the composite would have, it is
 * faster to select many packets at a time first. */
static bool selects_into_state(const struct merger *m, const struct composite *composite)
{
    for (size_t i = 0; i < composite->inside.count && composite->node.stateful; i++) {
        const struct compose_inside *inside = &composite->inside.items[i];
        const struct graph_buffer *buffer = &m->graph->buffers.items[inside->buffer];
        if (inside->form == COMPOSE_INLINED && graph_is_bounded(m->graph, buffer) &&
            !m->scratch.stateful[buffer->writer_node])
            return true;
    }
    return false;
}

/* State, including packets at rest between the two, makes the composite serial: its firings no longer fill lanes and
 * cores.  This pays if the part that was not serial, or the smaller of two serial parts, costs less than the packets'
 * way through the buffer.  A node of a `narrow` cycle counts as serial. */
static bool pays_beside_state(const struct merger *m, const struct fuse_group *whole,
                              const struct composite *composite, const struct group *a,
                              const struct group *b)
{
    struct work of_a = part_work(m, whole, a), of_b = part_work(m, whole, b);
    uint64_t saved = mul_clamped(packets_between(m, whole, a, b), HANDOVER_CYCLES);
    if (!of_a.serial && !of_b.serial)
        return !composite->node.stateful || add_clamped(of_a.cycles, of_b.cycles) <= saved;
    if (!of_a.serial) return of_a.cycles <= saved;
    if (!of_b.serial) return of_b.cycles <= saved;
    return min64(of_a.cycles, of_b.cycles) <= saved;
}

/* Does one of the two fill lanes of vectors by itself, but not in the merged group? */
static bool loses_lanes(const struct merger *m, const struct fuse_group *whole,
                        const struct group *a, const struct group *b)
{
    bool *of_a = ARENA_ARRAY(m->scratch.arena, bool, whole->count);
    bool *of_b = ARENA_ARRAY(m->scratch.arena, bool, whole->count);
    for (uint32_t i = 0; i < whole->count; i++) {
        of_a[i] = &m->groups[m->group_of[whole->nodes[i]]] == a;
        of_b[i] = &m->groups[m->group_of[whole->nodes[i]]] == b;
    }
    return fuse_loses_lanes(&m->scratch, m->graph, m->device, whole, of_a) ||
           fuse_loses_lanes(&m->scratch, m->graph, m->device, whole, of_b);
}

static bool pays_again(const struct merger *m, const struct composite *composite)
{
    uint64_t once = 0, again = 0;
    for (size_t i = 0; i < composite->members.count; i++) {
        const struct compose_member *member = &composite->members.items[i];
        uint64_t cycles = max64(m->graph->nodes.items[member->node].cost_cycles, 1);
        once = add_clamped(once, mul_clamped(member->firings, cycles));
        again = add_clamped(again, mul_clamped(member->ahead, cycles));
    }
    return mul_clamped(again, AGAIN_PART) <= once;
}

static bool is_group_small(const struct merger *m, const struct fuse_group *group)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct kernel *kernel = m->graph->nodes.items[group->nodes[i]].kernel;
        size = add_clamped(size, mul_clamped(group->firings[i], compose_size(kernel)));
    }
    return size <= FUSE_SIZE_MAX;
}

static bool has_few_ports(const struct graph_node *node)
{
    return node->inputs.count <= FUSE_PORTS_MAX && node->outputs.count <= FUSE_PORTS_MAX;
}

/* Code that fills lanes has a limit (kernel_lanes.c).  Is each part below it, but not the composite? */
static bool leaves_lanes(const struct merger *m, const struct fuse_group *group,
                         const struct composite *composite)
{
    if (composite->node.stateful || compose_size(composite->node.kernel) <= KERNEL_LANES_SIZE_MAX)
        return false;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct group *part = &m->groups[m->group_of[group->nodes[i]]];
        const struct graph_node *of = part->composite != NULL
                                          ? &part->composite->node
                                          : &m->graph->nodes.items[group->nodes[i]];
        const struct kernel *kernel = of->kernel;
        if (kernel->within || compose_size(kernel) > KERNEL_LANES_SIZE_MAX) return false;
    }
    return true;
}

/* ---- ways round ---- */

/* Queues the groups except a and b that a buffer of the group leads to.  *back: a buffer leads from another group to a
 * or b. */
static uint32_t queue_readers(struct merger *m, uint32_t group, uint32_t a, uint32_t b,
                              uint32_t rank_most, uint32_t queued, bool *back)
{
    for (uint32_t i = 0; i < m->groups[group].count; i++) {
        const struct graph_node *node = &m->graph->nodes.items[m->groups[group].nodes[i]];
        for (size_t o = 0; o < node->outputs.count; o++) {
            const struct graph_buffer *buffer =
                &m->graph->buffers.items[node->outputs.items[o].buffer];
            for (size_t r = 0; r < buffer->readers.count; r++) {
                uint32_t to = m->group_of[buffer->readers.items[r].node];
                if (to == a || to == b) {
                    *back |= group != a && group != b;
                    continue;
                }
                if (to == group || m->seen[to] == m->visits) continue;
                if (m->groups[to].rank_least > rank_most) continue;
                m->seen[to] = m->visits;
                m->queue[queued++] = to;
            }
        }
    }
    return queued;
}

/* Does a path lead out of the two groups and back into them? */
static bool has_way_round(struct merger *m, uint32_t a, uint32_t b)
{
    uint32_t rank_most = m->groups[a].rank_most, queued;
    bool back = false;
    if (m->groups[b].rank_most > rank_most) rank_most = m->groups[b].rank_most;
    m->visits++;
    queued = queue_readers(m, a, a, b, rank_most, 0, &back);
    if (b != a) queued = queue_readers(m, b, a, b, rank_most, queued, &back);
    for (uint32_t i = 0; i < queued && !back; i++)
        queued = queue_readers(m, m->queue[i], a, b, rank_most, queued, &back);
    return back;
}

/* ---- attempts ---- */

static const char *refusal_of(const struct merger *m, const struct fuse_group *group)
{
    for (uint32_t i = 0; i < group->count; i++) {
        const struct graph_node *node = &m->graph->nodes.items[group->nodes[i]];
        const char *refusal = m->refusals[group->nodes[i]];
        if (refusal != NULL) return arena_printf(m->cx->arena, "'%s' %s", node->name, refusal);
        if (node->importance != m->graph->nodes.items[group->nodes[0]].importance)
            return "they differ in importance";
    }
    return NULL;
}

/* Such a group is refused before the search for paths, whose time grows with the ports. */
static bool has_many_ports(const struct merger *m, const struct fuse_group *group)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (!has_few_ports(&m->graph->nodes.items[group->nodes[i]])) return true;
    return false;
}

/* Builds the composite of the group.  NULL: *reason. */
static struct composite *try_composite(struct merger *m, struct fuse_group *group,
                                       const char **reason)
{
    struct compose_group ordered;
    *reason = refusal_of(m, group);
    if (*reason != NULL) return NULL;
    *reason = "an iteration of both has too many firings";
    if (!fuse_firings(m->scratch.arena, m->graph, group)) return NULL;
    *reason = "the code would be too large";
    if (!is_group_small(m, group)) return NULL;
    *reason = "no order of firings gives each kernel its packets in time";
    if (!fuse_order(&m->scratch, m->graph, group, &ordered)) return NULL;
    struct composite *composite = ARENA_NEW(m->cx->arena, struct composite);
    ordered.name = fuse_name(m->cx->arena, m->graph, group);
    if (!compose(m->cx, m->graph, &ordered, composite, reason)) return NULL;
    *reason = "it would have no in-port, as a source, of which a run counts the firings";
    if (composite->node.inputs.count == 0) return NULL;
    *reason = "it would have too many ports";
    if (!has_few_ports(&composite->node)) return NULL;
    *reason = "the code would be too large for lanes of vectors";
    if (leaves_lanes(m, group, composite)) return NULL;
    *reason = depth_obstacle(m, composite);
    if (*reason != NULL) return NULL;
    *reason = "firings whose packets are read again would be executed again, which costs more";
    if (!pays_again(m, composite)) return NULL;
    *reason = "selecting many packets at a time, before the kernel with state, is faster";
    if (selects_into_state(m, composite)) return NULL;
    *reason = "fewer iterations of the cycle would be dispatched together";
    if (!fuse_goes_round(&m->scratch, m->graph, composite)) return NULL;
    const struct graph_buffer *partial = fuse_partial(&m->scratch, m->graph, group, composite);
    if (partial == NULL) return composite;
    *reason = arena_printf(m->cx->arena,
                           "at the end of a stream '%s' may hold a part of an iteration's packets, "
                           "from which some output follows",
                           partial->name);
    return NULL;
}

static void adopt_members(struct merger *m, uint32_t into, uint32_t from,
                          const struct fuse_group *group, struct composite *composite)
{
    struct group *a = &m->groups[into], *b = &m->groups[from];
    for (uint32_t i = 0; i < b->count; i++)
        m->group_of[b->nodes[i]] = into;
    if (b->rank_least < a->rank_least) a->rank_least = b->rank_least;
    if (b->rank_most > a->rank_most) a->rank_most = b->rank_most;
    if (b != a) b->count = 0;
    a->nodes = arena_copy(m->scratch.arena, group->nodes, group->count * sizeof *group->nodes);
    a->count = group->count;
    a->composite = composite;
    a->version = ++m->version;
    for (uint32_t i = 0; i < a->count; i++)
        m->scratch.serial[a->nodes[i]] |= composite->node.stateful;
}

static bool try_candidate(struct merger *m, struct candidate *candidate)
{
    uint32_t a = m->group_of[candidate->from], b = m->group_of[candidate->to];
    const char **obstacle = &m->fusion->obstacles[candidate->buffer], *reason = NULL;
    if (candidate->versions[0] == m->groups[a].version &&
        candidate->versions[1] == m->groups[b].version)
        return false;
    candidate->versions[0] = m->groups[a].version;
    candidate->versions[1] = m->groups[b].version;
    struct fuse_group group = {.nodes = join_nodes(m, &m->groups[a], &m->groups[b]),
                               .count = m->groups[a].count + m->groups[b].count};
    struct composite *composite = NULL;
    if (has_many_ports(m, &group))
        reason = refusal_of(m, &group);
    else if (has_way_round(m, a, b))
        reason = "another path leads from one to the other";
    else
        composite = try_composite(m, &group, &reason);
    if (composite != NULL &&
        !pays_beside_state(m, &group, composite, &m->groups[a], &m->groups[b])) {
        composite = NULL;
        reason = "state would make both serial, and the buffer costs less";
    }
    if (composite != NULL && loses_lanes(m, &group, &m->groups[a], &m->groups[b])) {
        composite = NULL;
        reason = "firings of one of them fill vectors by themselves, and would not in an iteration "
                 "of both";
    }
    if (!candidate->side_by_side) *obstacle = reason;
    if (composite == NULL) return false;
    *obstacle = NULL;
    adopt_members(m, a, b, &group, composite);
    return true;
}

/* ---- cycles ---- */

static bool reads_itself(const struct graph *graph, uint32_t node)
{
    const struct graph_node *n = &graph->nodes.items[node];
    for (size_t i = 0; i < n->inputs.count; i++)
        if (graph->buffers.items[n->inputs.items[i].buffer].writer_node == node) return true;
    return false;
}

static void explain_cycle(struct merger *m, const struct fuse_group *group, const char *reason)
{
    uint32_t component = m->rank[group->nodes[0]];
    for (size_t i = 0; i < m->graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &m->graph->buffers.items[i];
        if (buffer->writer_node == GRAPH_NONE || m->rank[buffer->writer_node] != component)
            continue;
        for (size_t r = 0; r < buffer->readers.count; r++)
            if (m->rank[buffer->readers.items[r].node] == component)
                m->fusion->obstacles[i] = reason;
    }
}

static void adopt_cycle(struct merger *m, const struct fuse_group *cycle,
                        struct composite *composite, const struct fuse_cycle_way *way)
{
    uint32_t into = m->group_of[cycle->nodes[0]];
    for (uint32_t i = 1; i < cycle->count; i++)
        adopt_members(m, into, m->group_of[cycle->nodes[i]], cycle, composite);
    if (cycle->count == 1 && composite->inside.count > 0)
        adopt_members(m, into, into, cycle, composite);
    for (uint32_t i = 0; i < cycle->count; i++)
        m->narrow[cycle->nodes[i]] = way->at_once < CYCLE_AT_ONCE;
    for (size_t i = 0; i < composite->node.inputs.count; i++) {
        const struct graph_input *in = &composite->node.inputs.items[i];
        const struct graph_buffer *buffer = &m->graph->buffers.items[in->buffer];
        if (!m->scratch.kept[in->buffer]) continue;
        uint64_t at_once = fuse_at_once(buffer, in->pop, in->peek);
        m->scratch.at_once[in->buffer] = min64(at_once, CYCLE_AT_ONCE);
        m->fusion->obstacles[in->buffer] = arena_printf(
            m->cx->arena, "its initial packets let %" PRIu64 " iteration%s be dispatched together",
            at_once, plural(at_once));
    }
}

/* Merges a cycle as a whole, before other groups: its nodes wait for each other anyway. */
static void merge_cycle(struct merger *m, const struct fuse_group *group)
{
    struct fuse_cycle_way ways[FUSE_CYCLE_WAYS];
    const char *reason = "an iteration of all has too many firings", *first = NULL;
    struct fuse_group cycle = *group;
    uint32_t count = 0;
    if (fuse_firings(m->scratch.arena, m->graph, &cycle))
        count = fuse_cycle_ways(&m->scratch, m->graph, m->device, &cycle, ways);
    for (uint32_t i = 0; i < count; i++) {
        if (ways[i].apart) {
            reason = "the cycle would be serial, and its initial packets let many firings be "
                     "dispatched together";
            break;
        }
        fuse_keep(&m->scratch, m->graph, &cycle, ways[i].kept_least);
        struct composite *composite = try_composite(m, &cycle, &reason);
        if (composite != NULL) {
            adopt_cycle(m, &cycle, composite, &ways[i]);
            return;
        }
        if (first == NULL) first = reason;
    }
    fuse_keep(&m->scratch, m->graph, &cycle, UINT64_MAX);
    explain_cycle(m, group, first != NULL ? first : reason);
}

/* Sets the ranks, in order of the flow, and merges the cycles. */
static void merge_cycles(struct merger *m)
{
    uint32_t nodes = (uint32_t)m->graph->nodes.count, arcs_count = 0;
    size_t arcs_most = 0;
    for (size_t i = 0; i < m->graph->buffers.count; i++)
        arcs_most += m->graph->buffers.items[i].readers.count;
    struct strong_arc *arcs = ARENA_ARRAY(m->scratch.arena, struct strong_arc, arcs_most + 1);
    for (size_t i = 0; i < m->graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &m->graph->buffers.items[i];
        for (size_t r = 0; r < buffer->readers.count && buffer->writer_node != GRAPH_NONE; r++)
            arcs[arcs_count++] =
                (struct strong_arc){buffer->writer_node, buffer->readers.items[r].node};
    }
    uint32_t count = strong_components(m->scratch.arena, nodes, arcs, arcs_count, m->rank);
    uint32_t *sizes = ARENA_ARRAY(m->scratch.arena, uint32_t, (size_t)count + 1);
    for (uint32_t i = 0; i < nodes; i++) {
        m->rank[i] = count - 1 - m->rank[i];
        m->groups[i].rank_least = m->groups[i].rank_most = m->rank[i];
        sizes[m->rank[i]]++;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        struct fuse_group group = {0};
        if (sizes[m->rank[i]] == 0 || (sizes[m->rank[i]] == 1 && !reads_itself(m->graph, i)))
            continue;
        uint32_t *members = ARENA_ARRAY(m->scratch.arena, uint32_t, sizes[m->rank[i]]);
        for (uint32_t k = i; k < nodes; k++)
            if (m->rank[k] == m->rank[i]) members[group.count++] = k;
        group.nodes = members;
        sizes[m->rank[i]] = 0;
        merge_cycle(m, &group);
    }
}

/* ---- candidates ---- */

/* Nodes of one cycle (equal rank) are no candidates: merge_cycle has decided about them. */
static void add_candidate(struct merger *m, uint32_t buffer, uint32_t from, uint32_t to,
                          bool side_by_side, uint64_t packets)
{
    uint64_t width = m->graph->buffers.items[buffer].width_bytes;
    if (m->rank[from] == m->rank[to]) return;
    vec_push(m->scratch.arena, &m->candidates,
             (struct candidate){.from = from,
                                .to = to,
                                .buffer = buffer,
                                .side_by_side = side_by_side,
                                .traffic = mul_clamped(packets, width),
                                .versions = {NEVER, NEVER}});
}

static void add_fuse_candidates(struct merger *m)
{
    for (uint32_t i = 0; i < m->graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &m->graph->buffers.items[i];
        for (size_t r = 0; r < buffer->readers.count; r++) {
            struct graph_reader reader = buffer->readers.items[r];
            const struct graph_node *node = &m->graph->nodes.items[reader.node];
            uint64_t packets =
                mul_clamped(max64(node->repetitions, 1), node->inputs.items[reader.input].pop);
            if (buffer->writer_node != GRAPH_NONE)
                add_candidate(m, i, buffer->writer_node, reader.node, false, packets);
            if (r > 0)
                add_candidate(m, i, buffer->readers.items[r - 1].node, reader.node, true, packets);
        }
    }
}

/* Writer and reader before two readers, then by traffic, then in the order of the source. */
static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->side_by_side != b->side_by_side) return a->side_by_side ? 1 : -1;
    if (a->traffic != b->traffic) return a->traffic > b->traffic ? -1 : 1;
    if (a->buffer != b->buffer) return a->buffer < b->buffer ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* No group changes twice in a round.  So groups grow evenly, and few members are composed again. */
static bool merge_round(struct merger *m, bool side_by_side)
{
    uint32_t before = m->version;
    for (size_t i = 0; i < m->candidates.count; i++) {
        struct candidate *candidate = &m->candidates.items[i];
        uint32_t a = m->group_of[candidate->from], b = m->group_of[candidate->to];
        if (a == b || candidate->side_by_side != side_by_side) continue;
        if (m->groups[a].version > before || m->groups[b].version > before) continue;
        try_candidate(m, candidate);
    }
    return m->version > before;
}

static void merge_all(struct merger *m)
{
    add_fuse_candidates(m);
    if (m->candidates.count == 0) return;
    qsort(m->candidates.items, m->candidates.count, sizeof *m->candidates.items,
          compare_candidates);
    for (bool more = true; more;) {
        while (merge_round(m, false))
            ;
        more = merge_round(m, true);
    }
}

/* ---- the whole ---- */

static struct merger make_merger(struct compile *cx, struct graph *graph,
                                 const struct devdesc *device, struct fusion *fusion,
                                 struct arena *arena)
{
    size_t count = graph->nodes.count;
    struct merger m = {.cx = cx, .graph = graph, .device = device, .fusion = fusion};
    m.scratch.arena = arena;
    m.scratch.local = ARENA_ARRAY(arena, uint32_t, count + 1);
    m.scratch.stateful = ARENA_ARRAY(arena, bool, count + 1);
    m.scratch.serial = ARENA_ARRAY(arena, bool, count + 1);
    m.scratch.kept = ARENA_ARRAY(arena, bool, graph->buffers.count + 1);
    m.scratch.at_once = ARENA_ARRAY(arena, uint64_t, graph->buffers.count + 1);
    m.narrow = ARENA_ARRAY(arena, bool, count + 1);
    m.groups = ARENA_ARRAY(arena, struct group, count + 1);
    m.group_of = ARENA_ARRAY(arena, uint32_t, count + 1);
    m.rank = ARENA_ARRAY(arena, uint32_t, count + 1);
    m.refusals = ARENA_ARRAY(arena, const char *, count + 1);
    m.seen = ARENA_ARRAY(arena, uint32_t, count + 1);
    m.queue = ARENA_ARRAY(arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];
        m.scratch.local[i] = GRAPH_NONE;
        m.scratch.stateful[i] = m.scratch.serial[i] = compose_has_state(node->kernel);
        m.group_of[i] = i;
        m.groups[i].nodes = ARENA_ARRAY(arena, uint32_t, 1);
        m.groups[i].nodes[0] = i;
        m.groups[i].count = 1;
        m.refusals[i] = node->inputs.count == 0 ? "is a source, whose firings a run may count"
                        : has_few_ports(node)   ? compose_refuses(cx, graph, i)
                                                : "has too many ports";
    }
    return m;
}

static bool has_neighbour(const struct graph *graph, const struct graph_node *node)
{
    for (size_t i = 0; i < node->inputs.count; i++)
        if (graph->buffers.items[node->inputs.items[i].buffer].outer == GRAPH_INNER) return true;
    for (size_t i = 0; i < node->outputs.count; i++)
        if (graph->buffers.items[node->outputs.items[i].buffer].outer == GRAPH_INNER) return true;
    return false;
}

/* With --fuse, reports each kernel that can be in no group. */
static void note_refusals(const struct merger *m)
{
    uint32_t ids = 1;
    for (size_t i = 0; i < m->graph->nodes.count; i++)
        if (m->graph->nodes.items[i].kernel->id >= ids)
            ids = m->graph->nodes.items[i].kernel->id + 1;
    bool *noted = ARENA_ARRAY(m->scratch.arena, bool, ids);
    for (size_t i = 0; i < m->graph->nodes.count; i++) {
        const struct graph_node *node = &m->graph->nodes.items[i];
        const struct kernel *kernel = node->kernel;
        if (m->refusals[i] == NULL || noted[kernel->id]) continue;
        noted[kernel->id] = true;
        struct diag *d = diag_report(
            m->cx->diags, RULE_NOT_FUSED, kernel->span, "'%s' is not fused%s: it %s%s",
            kernel->title, has_neighbour(m->graph, node) ? " with its neighbours" : "",
            has_neighbour(m->graph, node) ? "" : "has no neighbours, and it ", m->refusals[i]);
        diag_label(d, node->span, "used here");
    }
}

static void take_composites(const struct merger *m, struct fusion *fusion)
{
    size_t count = m->graph->nodes.count;
    uint32_t *numbers = ARENA_ARRAY(m->scratch.arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct group *group = &m->groups[i];
        numbers[i] = GRAPH_NONE;
        if (group->count > 0 && group->composite != NULL)
            numbers[i] = (uint32_t)vec_push(m->cx->arena, &fusion->composites, *group->composite);
    }
    fusion->composite_nodes = ARENA_ARRAY(m->cx->arena, uint32_t, fusion->composites.count + 1);
    for (uint32_t i = 0; i < count; i++)
        fusion->places[i].composite = numbers[m->group_of[i]];
}

static struct fusion *make_fusion(struct compile *cx, struct graph *graph)
{
    struct fusion *fusion = ARENA_NEW(cx->arena, struct fusion);
    fusion->written = graph;
    fusion->places = ARENA_ARRAY(cx->arena, struct fuse_place, graph->nodes.count + 1);
    fusion->buffers = ARENA_ARRAY(cx->arena, uint32_t, graph->buffers.count + 1);
    fusion->obstacles = ARENA_ARRAY(cx->arena, const char *, graph->buffers.count + 1);
    return fusion;
}

static struct fusion *leave_unfused(struct fusion *fusion, const char *why)
{
    fusion->graph = fusion->written;
    fusion->composites.count = 0;
    fusion->off = why;
    for (uint32_t i = 0; i < fusion->written->nodes.count; i++)
        fusion->places[i] = (struct fuse_place){.node = i, .composite = GRAPH_NONE};
    for (uint32_t i = 0; i < fusion->written->buffers.count; i++)
        fusion->buffers[i] = i;
    return fusion;
}

struct fusion *fuse_nothing(struct compile *cx, struct graph *graph, const char *off)
{
    return leave_unfused(make_fusion(cx, graph), off);
}

struct fusion *fuse_neighbours(struct compile *cx, struct graph *graph,
                               const struct devdesc *device, fuse_prover *prove)
{
    struct fusion *fusion = make_fusion(cx, graph);
    const char *off = off_reason(cx, device);
    if (off == NULL && graph->unproven) off = "liveness is not proven";
    if (off != NULL) return leave_unfused(fusion, off);
    struct arena *arena = arena_create();
    struct merger merger = make_merger(cx, graph, device, fusion, arena);
    if (cx->options.fuse == FUSE_ALWAYS) note_refusals(&merger);
    merge_cycles(&merger);
    merge_all(&merger);
    /* Removes the obstacles of buffers whose ends have become one group after all, through
     * other buffers. */
    const struct merger *m = &merger;
    for (size_t i = 0; i < m->graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &m->graph->buffers.items[i];
        bool apart = buffer->writer_node == GRAPH_NONE || m->scratch.kept[i];
        for (size_t r = 0; r < buffer->readers.count && !apart; r++)
            apart = m->group_of[buffer->readers.items[r].node] != m->group_of[buffer->writer_node];
        if (!apart) m->fusion->obstacles[i] = NULL;
    }
    take_composites(&merger, fusion);
    arena_destroy(arena);
    if (fusion->composites.count == 0) return leave_unfused(fusion, NULL);
    if (!fuse_build(cx, fusion, prove))
        return leave_unfused(fusion, "the fused pipeline could not be analysed");
    return fusion;
}
