/* SPDX-License-Identifier: MIT */
#include "model/precedence.h"

#include "base/array_allocate.h"

#include <assert.h>
#include <stdlib.h>

enum prt_status prt_precedence_queues(struct prt_precedence *p)
{
    uint32_t count = p->queues->count;
    if (count <= p->line_count) return PRT_OK;
    struct prt_claim_line *lines = realloc(p->lines, count * sizeof *lines);
    if (lines == NULL) return PRT_E_NOMEM;
    p->lines = lines;
    struct prt_claim **flowing = realloc(p->flowing, count * sizeof *flowing);
    if (flowing == NULL) return PRT_E_NOMEM;
    p->flowing = flowing;
    for (; p->line_count < count; p->line_count++)
        lines[p->line_count] = (struct prt_claim_line){PRT_NO_CLAIM, PRT_NO_CLAIM};
    return PRT_OK;
}

enum prt_status prt_precedence_claims(struct prt_precedence *p, uint32_t count)
{
    assert(p->present == 0);
    struct prt_claim *claims = array_allocate(count, sizeof *claims);
    if (claims == NULL) return PRT_E_NOMEM;
    free(p->claims);
    p->claims = claims;
    return PRT_OK;
}

void prt_precedence_free(struct prt_precedence *p)
{
    free(p->claims);
    free(p->lines);
    free(p->flowing);
    *p = (struct prt_precedence){0};
}

static const struct prt_queue *queue_at(const struct prt_precedence *p, uint32_t queue)
{
    return &p->queues->queues[queue];
}

/* ---- the rest of an execution ---- */

/* Cycles until `firings` of the firings that follow each other have ended.  Where only their sum is
 * known, all are taken to cost the same. */
static uint64_t serial_end(const struct prt_claim *c, uint64_t firings)
{
    if (c->left.firings == 0) return 0;
    return (uint64_t)((unsigned __int128)c->serial_cycles * firings / c->left.firings);
}

/* The first firing that ends at that moment or after it. */
static uint64_t serial_reaches(const struct prt_claim *c, uint64_t cycles)
{
    uint64_t most = c->left.firings;
    if (c->serial_cycles == 0) return most;
    unsigned __int128 product = (unsigned __int128)cycles * most;
    unsigned __int128 firings = product / c->serial_cycles + (product % c->serial_cycles > 0);
    return firings < most ? (uint64_t)firings : most;
}

static uint64_t pieces_in_all(const struct prt_claim *c)
{
    return c->left.timing.serial ? c->left.firings : c->left.timing.warps;
}

/* `count` warps from `done` on. */
static struct core_timing_work warps_from(const struct prt_claim *c, uint64_t done, uint64_t count)
{
    struct core_timing_work work = c->left.timing;
    if (work.each != NULL) work.each += done;
    work.warps = count;
    work.memory_bytes = work.cached_bytes = 0;
    return work;
}

static uint64_t compute_left(const struct prt_precedence *p, const struct prt_claim *c)
{
    if (c->left.timing.serial) return c->serial_cycles - serial_end(c, c->done);
    const struct core_timing_work rest = warps_from(c, c->done, c->left.timing.warps - c->done);
    return core_timing_execute_in_all(p->description, queue_at(p, c->queue)->cu_count, &rest,
                                      p->cus)
        .compute_cycles;
}

/* ---- bytes ---- */

/* Cycles until they have come, at the rate of now. */
static uint64_t flow_cycles_left(const struct prt_claim *c)
{
    if (c->flow_left == 0) return 0;
    if (c->flow_rate == 0) return UINT64_MAX;
    unsigned __int128 cycles = (c->flow_left - 1) / c->flow_rate + 1;
    return cycles < UINT64_MAX ? (uint64_t)cycles : UINT64_MAX;
}

/* When the bytes of the piece have come, as far as can be known now. */
static uint64_t flow_end(const struct prt_precedence *p, const struct prt_claim *c)
{
    if (c->flow_left == 0) return 0;
    uint64_t from = c->flow_from_cycles > p->now_cycles ? c->flow_from_cycles : p->now_cycles;
    return core_cycles_add(from, flow_cycles_left(c));
}

static bool is_flowing(const struct prt_precedence *p, const struct prt_claim *c)
{
    return c->holds && c->flow_left > 0 && c->flow_from_cycles <= p->now_cycles;
}

/* Lets the bytes flow up to that moment, up to which no rate changes. */
static void pass_flow(const struct prt_precedence *p, struct prt_claim *c, uint64_t until)
{
    if (!c->holds || c->flow_left == 0 || c->flow_from_cycles >= until) return;
    uint64_t from = c->flow_from_cycles > p->now_cycles ? c->flow_from_cycles : p->now_cycles;
    uint64_t needed = flow_cycles_left(c), cycles = until - from;
    if (cycles >= needed)
        c->flow_left = 0;
    else
        c->flow_left -= (unsigned __int128)c->flow_rate * cycles;
    c->piece.flow_cycles = core_cycles_add(c->piece.flow_cycles, cycles < needed ? cycles : needed);
}

static void pass_until(struct prt_precedence *p, uint64_t until)
{
    for (uint32_t i = 0; i < p->line_count; i++)
        if (p->lines[i].first != PRT_NO_CLAIM) pass_flow(p, &p->claims[p->lines[i].first], until);
    p->now_cycles = until;
}

/* The execution of a piece that nothing has cut lasts until the last byte has come and the last instruction has ended. */
static void find_piece_end(const struct prt_precedence *p, struct prt_claim *c)
{
    struct prt_piece *piece = &c->piece;
    uint64_t end = core_cycles_add(c->flow_from_cycles, piece->compute_cycles);
    uint64_t flowed = flow_end(p, c);
    if (flowed > end) end = flowed;
    piece->parts.execute_cycles =
        core_cycles_add(piece->both_ways_cycles, end - c->flow_from_cycles);
    piece->end_cycles = core_timing_end(piece->begin_cycles, &piece->parts);
}

static bool flows_before(const struct prt_precedence *p, const struct prt_claim *a,
                         const struct prt_claim *b)
{
    uint32_t first = queue_at(p, a->queue)->importance, second = queue_at(p, b->queue)->importance;
    return first != second ? first > second : a->number < b->number;
}

/* Fills `flowing` with the claims whose bytes flow now, those that precede others first. */
static uint32_t list_flowing(const struct prt_precedence *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->line_count; i++) {
        if (p->lines[i].first == PRT_NO_CLAIM) continue;
        struct prt_claim *c = &p->claims[p->lines[i].first];
        if (!is_flowing(p, c)) continue;
        uint32_t at = count++;
        for (; at > 0 && flows_before(p, c, p->flowing[at - 1]); at--)
            p->flowing[at] = p->flowing[at - 1];
        p->flowing[at] = c;
    }
    return count;
}

/* Each takes what those before it leave of the bandwidth, at most its share, in its last cycle what it still needs. */
static void share_bandwidth(const struct prt_precedence *p)
{
    uint64_t free = CORE_TIMING_WHOLE;
    uint32_t count = list_flowing(p);
    for (uint32_t i = 0; i < count; i++) {
        struct prt_claim *c = p->flowing[i];
        c->flow_rate = c->left.flow.share < free ? c->left.flow.share : free;
        if (c->flow_left < c->flow_rate) c->flow_rate = (uint64_t)c->flow_left;
        free -= c->flow_rate;
        if (!c->yields) find_piece_end(p, c);
    }
}

/* When less is left than it takes in a cycle now. */
static uint64_t last_full_cycle(const struct prt_precedence *p, const struct prt_claim *c)
{
    if (c->flow_rate == 0) return UINT64_MAX;
    unsigned __int128 cycles = c->flow_left / c->flow_rate;
    return cycles < UINT64_MAX ? core_cycles_add(p->now_cycles, (uint64_t)cycles) : UINT64_MAX;
}

/* The next moment at which a rate may change; UINT64_MAX: none does. */
static uint64_t next_rates(const struct prt_precedence *p)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < p->line_count; i++) {
        if (p->lines[i].first == PRT_NO_CLAIM) continue;
        const struct prt_claim *c = &p->claims[p->lines[i].first];
        if (!c->holds || c->flow_left == 0) continue;
        uint64_t change =
            c->flow_from_cycles > p->now_cycles ? c->flow_from_cycles : last_full_cycle(p, c);
        if (change < next) next = change;
    }
    return next;
}

/* ---- beginning, and ending ---- */

/* Finds the rest of enqueue and processing, which go on without compute units where the processor works ahead. */
static void find_launch_left(struct prt_precedence *p, struct prt_claim *c)
{
    struct prt_queue *queue = &p->queues->queues[c->queue];
    const struct prt_launch_packet *packet = &c->left.packet;
    if (c->handed) return;
    if (p->description->processes_ahead > 0 &&
        packet->enqueue_cycles + packet->process_cycles > 0) {
        if (!c->begun)
            c->processed_cycles = prt_launch_processed(queue, c->left.enqueued_cycles, packet);
        uint64_t processed = c->processed_cycles;
        c->left.launch_cycles = processed > p->now_cycles ? processed - p->now_cycles : 0;
    }
    queue->handed_cycles = core_cycles_add(p->now_cycles, c->left.launch_cycles);
}

/* The compute units switch to a stage that has work for them; a clean-up needs no switch. */
static void begin_piece(struct prt_precedence *p, struct prt_claim *c)
{
    const struct prt_launch_work *left = &c->left;
    struct prt_piece *piece = &c->piece;
    find_launch_left(p, c);
    bool switches;
    (void)prt_queue_free_at(p->queues, c->queue, c->stage, &switches);
    *piece = (struct prt_piece){.begin_cycles = p->now_cycles,
                                .compute_cycles = compute_left(p, c),
                                .both_ways_cycles = left->both_ways_cycles,
                                .first = c->done,
                                .count = pieces_in_all(c) - c->done,
                                .resumed = c->begun};
    piece->switched = !c->begun || piece->count > 0 || piece->compute_cycles > 0 ||
                      left->both_ways_cycles > 0 || c->flow_left > 0 ||
                      left->device_queue_cycles > 0;
    piece->parts = (struct core_timing_parts){
        .launch_cycles = left->launch_cycles,
        .switch_cycles = switches && piece->switched ? p->description->switch_cycles : 0,
        .index_cycles = left->index_cycles,
        .device_queue_cycles = left->device_queue_cycles,
        .cleanup_cycles = left->cleanup_cycles};
    const struct core_timing_parts before = {.launch_cycles = left->launch_cycles,
                                             .switch_cycles = piece->parts.switch_cycles,
                                             .index_cycles = left->index_cycles,
                                             .execute_cycles = left->both_ways_cycles};
    c->flow_from_cycles = core_timing_end(p->now_cycles, &before);
    c->flow_rate = left->flow.share > 0 ? left->flow.share : 1;
    find_piece_end(p, c);
    if (!c->begun) c->compute_cycles = piece->compute_cycles;
    c->holds = true;
}

/* Is part of the launch left after the piece? */
static bool leaves_something(const struct prt_claim *c)
{
    const struct prt_launch_work *left = &c->left;
    const struct prt_piece *piece = &c->piece;
    const struct core_timing_parts *parts = &piece->parts;
    return c->done + piece->count < pieces_in_all(c) ||
           parts->launch_cycles < left->launch_cycles || parts->index_cycles < left->index_cycles ||
           piece->both_ways_cycles < left->both_ways_cycles || c->flow_left > 0 ||
           parts->device_queue_cycles < left->device_queue_cycles ||
           parts->cleanup_cycles < left->cleanup_cycles;
}

static void take_off(struct prt_claim *c)
{
    struct prt_launch_work *left = &c->left;
    const struct prt_piece *piece = &c->piece;
    c->done += piece->count;
    left->launch_cycles -= piece->parts.launch_cycles;
    c->handed = left->launch_cycles == 0;
    left->index_cycles -= piece->parts.index_cycles;
    left->both_ways_cycles -= piece->both_ways_cycles;
    left->device_queue_cycles -= piece->parts.device_queue_cycles;
    left->cleanup_cycles -= piece->parts.cleanup_cycles;
}

static void end_claim_piece(struct prt_precedence *p, uint32_t claim)
{
    struct prt_claim *c = &p->claims[claim];
    struct prt_queue *queue = &p->queues->queues[c->queue];
    struct prt_claim_line *line = &p->lines[c->queue];
    c->piece.interrupted = c->yields && leaves_something(c);
    take_off(c);
    c->holds = c->yields = false;
    c->begun = true;
    if (c->piece.switched) {
        queue->free_cycles = c->piece.end_cycles;
        queue->last_stage = c->stage;
    }
    if (c->piece.interrupted) return;
    assert(line->first == claim);
    queue->ended_cycles = c->piece.end_cycles;
    line->first = c->behind;
    if (line->first == PRT_NO_CLAIM) line->last = PRT_NO_CLAIM;
    p->present--;
}

/* ---- interrupting ---- */

/* Walks through the parts of a piece up to the moment of its interruption. */
struct interruption {
    uint64_t at_cycles; /* from the begin of the part on */
    bool reached;       /* the moment lies before this part */
};

/* A part in which no work-group executes stops at once. */
static uint64_t stop_at_once(struct interruption *i, uint64_t part)
{
    if (i->reached) return 0;
    if (i->at_cycles < part) {
        i->reached = true;
        return i->at_cycles;
    }
    i->at_cycles -= part;
    return part;
}

static void cut_serial(const struct prt_claim *c, uint64_t at_cycles, struct prt_piece *cut)
{
    uint64_t before = serial_end(c, c->done);
    uint64_t end = at_cycles > 0 ? serial_reaches(c, core_cycles_add(before, at_cycles)) : c->done;
    cut->count = end - c->done;
    cut->compute_cycles = serial_end(c, end) - before;
}

static void cut_warps(const struct prt_precedence *p, const struct prt_claim *c, uint64_t at_cycles,
                      struct prt_piece *cut)
{
    const struct core_timing_work rest = warps_from(c, c->done, c->left.timing.warps - c->done);
    const struct core_timing_cut made =
        core_timing_cut(p->description, queue_at(p, c->queue)->cu_count, &rest, c->left.group_warps,
                        at_cycles, p->cus);
    cut->count = made.warps;
    cut->compute_cycles = made.cycles;
}

/* Work-groups that have begun run to their end; bytes go on flowing meanwhile, and stop then.  While the first bytes are on
 * their way, nothing has begun. */
static void cut_execution(const struct prt_precedence *p, const struct prt_claim *c,
                          const struct prt_piece *whole, struct interruption *i,
                          struct prt_piece *cut)
{
    cut->both_ways_cycles = stop_at_once(i, whole->both_ways_cycles);
    cut->parts.execute_cycles = cut->both_ways_cycles;
    uint64_t part = whole->parts.execute_cycles - whole->both_ways_cycles, at = i->at_cycles;
    if (i->reached) return;
    if (at >= part) {
        i->at_cycles -= part;
        cut->count = whole->count;
        cut->compute_cycles = whole->compute_cycles;
        cut->parts.execute_cycles += part;
        return;
    }
    i->reached = true;
    if (c->left.timing.serial)
        cut_serial(c, at, cut);
    else
        cut_warps(p, c, at, cut);
    uint64_t executed = cut->compute_cycles > at ? cut->compute_cycles : at;
    cut->parts.execute_cycles += executed;
}

/* The cycles of children are taken to be pieces as long as the longest child. */
static uint64_t cut_children(const struct prt_claim *c, uint64_t part, struct interruption *i)
{
    uint64_t at = i->at_cycles, step = c->left.child_cycles;
    if (i->reached) return 0;
    if (at >= part) {
        i->at_cycles -= part;
        return part;
    }
    i->reached = true;
    if (step == 0 || at % step == 0) return at;
    uint64_t end = core_cycles_multiply(at / step + 1, step);
    return end < part ? end : part;
}

/* An unfinished switch is lost: the launch pays for it again. */
static void interrupt_claim(const struct prt_precedence *p, struct prt_claim *c)
{
    const struct prt_piece whole = c->piece;
    const struct core_timing_parts *parts = &whole.parts;
    struct interruption i = {.at_cycles = p->now_cycles - whole.begin_cycles};
    struct prt_piece *cut = &c->piece;
    *cut = (struct prt_piece){.begin_cycles = whole.begin_cycles,
                              .first = whole.first,
                              .resumed = whole.resumed,
                              .flow_cycles = whole.flow_cycles};
    cut->parts.launch_cycles = stop_at_once(&i, parts->launch_cycles);
    cut->switched = whole.switched && !i.reached;
    cut->parts.switch_cycles = stop_at_once(&i, parts->switch_cycles);
    cut->parts.index_cycles = stop_at_once(&i, parts->index_cycles);
    cut_execution(p, c, &whole, &i, cut);
    cut->parts.device_queue_cycles = cut_children(c, parts->device_queue_cycles, &i);
    cut->parts.cleanup_cycles = stop_at_once(&i, parts->cleanup_cycles);
    cut->end_cycles = core_timing_end(cut->begin_cycles, &cut->parts);
    if (cut->end_cycles <= c->flow_from_cycles) c->flow_from_cycles = UINT64_MAX;
    c->yields = true;
}

/* ---- arriving ---- */

static void append_claim(struct prt_precedence *p, uint32_t claim)
{
    struct prt_claim *c = &p->claims[claim];
    struct prt_claim_line *line = &p->lines[c->queue];
    c->behind = PRT_NO_CLAIM;
    if (line->last == PRT_NO_CLAIM)
        line->first = claim;
    else
        p->claims[line->last].behind = claim;
    line->last = claim;
    p->present++;
}

void prt_precedence_arrive(struct prt_precedence *p, uint32_t claim)
{
    struct prt_claim *c = &p->claims[claim];
    const struct prt_queue *queue = queue_at(p, c->queue);
    c->number = p->arrivals++;
    c->done = 0;
    c->begun = c->holds = c->yields = c->handed = false;
    c->flow_left = c->left.flow.share > 0
                       ? (unsigned __int128)c->left.flow.share * c->left.flow.cycles
                       : c->left.flow.cycles;
    if (c->left.timing.serial)
        c->serial_cycles =
            core_timing_execute_in_all(p->description, queue->cu_count, &c->left.timing, p->cus)
                .compute_cycles;
    append_claim(p, claim);
    for (uint32_t i = 0; i < queue->neighbour_count; i++) {
        uint32_t first = p->lines[queue->neighbours[i]].first;
        if (first == PRT_NO_CLAIM || !p->claims[first].holds || p->claims[first].yields) continue;
        if (queue_at(p, queue->neighbours[i])->importance < queue->importance)
            interrupt_claim(p, &p->claims[first]);
    }
}

/* ---- playing ---- */

/* Does another queue keep the first launch waiting: one that shares compute units and precedes it, or
 * still holds them? */
static bool is_kept_waiting(const struct prt_precedence *p, uint32_t number)
{
    const struct prt_queue *queue = queue_at(p, number);
    const struct prt_claim *c = &p->claims[p->lines[number].first];
    for (uint32_t i = 0; i < queue->neighbour_count; i++) {
        uint32_t first = p->lines[queue->neighbours[i]].first;
        if (first == PRT_NO_CLAIM) continue;
        const struct prt_claim *other = &p->claims[first];
        uint32_t importance = queue_at(p, queue->neighbours[i])->importance;
        if (importance > queue->importance || other->holds) return true;
        if (importance == queue->importance && other->number < c->number) return true;
    }
    return false;
}

static bool begin_pieces(struct prt_precedence *p)
{
    bool any = false;
    for (uint32_t i = 0; i < p->line_count; i++) {
        uint32_t first = p->lines[i].first;
        if (first == PRT_NO_CLAIM || p->claims[first].holds || is_kept_waiting(p, i)) continue;
        begin_piece(p, &p->claims[first]);
        any = true;
    }
    return any;
}

static bool ends_before(const struct prt_claim *a, const struct prt_claim *b)
{
    if (a->piece.end_cycles != b->piece.end_cycles)
        return a->piece.end_cycles < b->piece.end_cycles;
    return a->number < b->number;
}

static uint32_t first_to_end(const struct prt_precedence *p)
{
    uint32_t found = PRT_NO_CLAIM;
    for (uint32_t i = 0; i < p->line_count; i++) {
        uint32_t first = p->lines[i].first;
        if (first == PRT_NO_CLAIM || !p->claims[first].holds) continue;
        if (found == PRT_NO_CLAIM || ends_before(&p->claims[first], &p->claims[found]))
            found = first;
    }
    return found;
}

bool prt_precedence_next(struct prt_precedence *p, uint64_t until, uint32_t *claim)
{
    const bool shared = p->description->memory_shared > 0;
    for (;;) {
        if (shared) share_bandwidth(p);
        uint32_t first = p->present > 0 ? first_to_end(p) : PRT_NO_CLAIM;
        uint64_t end = first != PRT_NO_CLAIM ? p->claims[first].piece.end_cycles : UINT64_MAX;
        if (first != PRT_NO_CLAIM && end <= p->now_cycles) {
            end_claim_piece(p, first);
            *claim = first;
            return true;
        }
        if (p->now_cycles >= until && until != UINT64_MAX) return false;
        if (p->present > 0 && begin_pieces(p)) continue;
        if (first == PRT_NO_CLAIM) {
            if (until != UINT64_MAX) p->now_cycles = until;
            return false;
        }
        uint64_t rates = shared ? next_rates(p) : UINT64_MAX;
        if (rates < end) end = rates;
        pass_until(p, end < until ? end : until);
    }
}

/* ---- reporting ---- */

/* Without an interruption the firings would take `compute_cycles`. */
static uint64_t claim_share(const struct prt_claim *c, uint64_t done, uint64_t children_left,
                            uint64_t device_queue_cycles)
{
    uint64_t all = pieces_in_all(c);
    uint64_t share =
        all > 0 ? (uint64_t)((unsigned __int128)c->compute_cycles * done / all) : c->compute_cycles;
    return core_cycles_add(share, device_queue_cycles - children_left);
}

struct prt_launch_share prt_precedence_share(const struct prt_claim *c,
                                             uint64_t device_queue_cycles)
{
    uint64_t left = c->left.device_queue_cycles;
    uint64_t before = left + c->piece.parts.device_queue_cycles;
    return (struct prt_launch_share){
        .before = claim_share(c, c->piece.first, before, device_queue_cycles),
        .after = claim_share(c, c->done, left, device_queue_cycles),
        .whole = core_cycles_add(c->compute_cycles, device_queue_cycles)};
}

uint64_t prt_precedence_warps(const struct prt_claim *c)
{
    if (!c->left.timing.serial) return c->piece.count;
    return core_cycles_multiply(c->piece.count, c->left.group_warps);
}

void prt_precedence_place(const struct prt_precedence *p, const struct prt_claim *c,
                          struct core_timing_cu *cus, uint64_t *busy_cycles, uint32_t *busy_cus)
{
    uint32_t cu_count = queue_at(p, c->queue)->cu_count;
    struct core_timing_work work = warps_from(c, c->piece.first, c->piece.count);
    if (work.serial) {
        work.each = NULL;
        work.warps = 1;
        work.warp_cycles = c->piece.compute_cycles;
    }
    const struct core_timing_execution execution =
        core_timing_execute(p->description, cu_count, &work, cus);
    *busy_cycles = execution.busy_cycles;
    *busy_cus = execution.busy_cus;
}
