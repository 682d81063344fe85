/* SPDX-License-Identifier: MIT */
#include "compiler/optimize/region/strands.h"

#include <string.h>

#include "compiler/optimize/region/dead_work.h"
#include "compiler/optimize/region/region_rewrite.h"
#include "compiler/support/set_links.h"

/*
 * An operation and all packets that it depends on are of one strand.  So sets of nodes are united along operands.
 */

enum {
    PACKETS_MAX = 1024,      /* of a block */
    REGISTERS_A_LANE = 2,    /* for the scalars of a strand */
    OPERATIONS_MAX = 1 << 14 /* of an iteration */
};

struct splitter {
    struct region_space space;
    const struct graph *graph;
    uint32_t lanes;
    bool *taken; /* by node: in a chosen chain */
    VEC(struct region_choice) choices;
};

/* ---- sets ---- */

struct sets {
    uint32_t *parent; /* by node of the symbolic graph, then by packet of the in-end */
    size_t nodes;
};

static void unite_sets(struct sets *sets, uint32_t a, uint32_t b)
{
    sets->parent[set_root(sets->parent, a)] = set_root(sets->parent, b);
}

static uint64_t end_part_count(const struct splitter *p, const struct region_end *end)
{
    return type_scalar_count(p->graph->buffers.items[end->buffer].type);
}

/* Unites the sets.  False: a written scalar depends on no packet, or on a value other than packets, constants and
 * operations. */
static bool unite_all(struct splitter *p, const struct region *region, struct sets *sets)
{
    const struct symbols *s = &p->space.symbols;
    const struct region_end *out = &region->out.items[0];
    uint64_t parts = end_part_count(p, out);
    bool *wanted = ARENA_ARRAY(p->space.scratch, bool, s->nodes.count + 1);
    sets->nodes = s->nodes.count;
    sets->parent =
        ARENA_ARRAY(p->space.scratch, uint32_t, s->nodes.count + region->in.items[0].packets);
    for (size_t i = 0; i < s->nodes.count + region->in.items[0].packets; i++)
        sets->parent[i] = (uint32_t)i;
    for (uint64_t i = 0; i < out->packets * parts; i++) {
        if (sym_is_constant(out->values[i])) return false;
        wanted[out->values[i].bits] = true;
        unite_sets(sets, (uint32_t)out->values[i].bits,
                   (uint32_t)out->values[i / parts * parts].bits);
    }
    for (size_t i = s->nodes.count; i-- > 0;) {
        const struct sym_node *n = &s->nodes.items[i];
        if (!wanted[i]) continue;
        if (n->kind == SYM_PACKET)
            unite_sets(sets, (uint32_t)i, (uint32_t)(sets->nodes + n->packet));
        if (n->kind == SYM_TABLE || n->kind == SYM_UNKNOWN) return false;
        for (uint32_t k = 0; k < n->operand_count; k++) {
            sym operand = n->operands[k];
            if (sym_is_constant(operand)) continue;
            wanted[operand.bits] = true;
            if (sym_node(s, operand)->kind != SYM_ARGUMENT)
                unite_sets(sets, (uint32_t)i, (uint32_t)operand.bits);
        }
    }
    return true;
}

/* ---- strands ---- */

/* The packets of an end by strand, in order. */
struct share {
    uint32_t *root; /* by packet */
    uint64_t packets;
};

static struct share share_in(struct splitter *p, const struct region *region, struct sets *sets)
{
    uint64_t packets = region->in.items[0].packets;
    struct share share = {ARENA_ARRAY(p->space.scratch, uint32_t, packets), packets};
    for (uint64_t i = 0; i < packets; i++)
        share.root[i] = set_root(sets->parent, (uint32_t)(sets->nodes + i));
    return share;
}

static struct share share_out(struct splitter *p, const struct region *region, struct sets *sets)
{
    const struct region_end *out = &region->out.items[0];
    uint64_t parts = end_part_count(p, out);
    struct share share = {ARENA_ARRAY(p->space.scratch, uint32_t, out->packets), out->packets};
    for (uint64_t i = 0; i < out->packets; i++)
        share.root[i] = set_root(sets->parent, (uint32_t)out->values[i * parts].bits);
    return share;
}

/* Numbers the *count strands from 0, in the order of `share`.  Returns an array by root: number + 1. */
static uint32_t *number_strands(struct splitter *p, const struct sets *sets,
                                const struct share *share, uint64_t *count)
{
    uint32_t *strand_of =
        ARENA_ARRAY(p->space.scratch, uint32_t, sets->nodes + PACKETS_MAX + (size_t)1);
    *count = 0;
    for (uint64_t i = 0; i < share->packets; i++)
        if (strand_of[share->root[i]] == 0) strand_of[share->root[i]] = (uint32_t)(*count += 1);
    return strand_of;
}

/* The packets by number and strand (struct region_strands); NULL: strands have different numbers of packets. */
static uint64_t *deal_packets(struct splitter *p, const struct share *share,
                              const uint32_t *strand_of, uint64_t count)
{
    uint64_t *packets = ARENA_ARRAY(p->space.scratch, uint64_t, share->packets);
    uint64_t *dealt = ARENA_ARRAY(p->space.scratch, uint64_t, count);
    uint64_t each = share->packets / count;
    if (share->packets % count != 0) return NULL;
    for (uint64_t i = 0; i < share->packets; i++) {
        uint32_t strand = strand_of[share->root[i]];
        if (strand == 0 || dealt[strand - 1] == each) return NULL;
        packets[dealt[strand - 1]++ * count + strand - 1] = i;
    }
    return packets;
}

static bool are_neighbours(const uint64_t *packets, uint64_t each, uint64_t count)
{
    for (uint64_t i = 0; i < each * count; i++)
        if (packets[i] != packets[i / count * count] + i % count) return false;
    return true;
}

/* Numbers strands so that the packets that a round reads, or those that it writes, are neighbours; NULL: neither. */
static struct region_strands *number_and_deal(struct splitter *p, const struct region *region)
{
    struct sets sets;
    struct region_strands *strands = ARENA_NEW(p->space.scratch, struct region_strands);
    if (!unite_all(p, region, &sets)) return NULL;
    struct share in = share_in(p, region, &sets), out = share_out(p, region, &sets);
    for (int by_out = 0; by_out < 2; by_out++) {
        uint64_t count;
        const uint32_t *strand_of = number_strands(p, &sets, by_out ? &out : &in, &count);
        if (count == 0) return NULL;
        strands->count = count;
        strands->reads = in.packets / count;
        strands->writes = out.packets / count;
        strands->in = deal_packets(p, &in, strand_of, count);
        strands->out = deal_packets(p, &out, strand_of, count);
        if (strands->in == NULL || strands->out == NULL) return NULL;
        if (are_neighbours(by_out ? strands->out : strands->in,
                           by_out ? strands->writes : strands->reads, count))
            return strands;
    }
    return NULL;
}

/* ---- are they alike? ---- */

struct match {
    struct splitter *p;
    const struct region_strands *strands;
    const uint64_t *number; /* by packet of the in-end: its number in its strand */
    sym **rows;
    uint32_t depth;
};

static bool match_strands(struct match *m, const sym *values);

static bool match_operands(struct match *m, const sym *values)
{
    const struct symbols *s = &m->p->space.symbols;
    uint64_t count = m->strands->count;
    sym *operands = ARENA_ARRAY(m->p->space.scratch, sym, count);
    for (uint32_t k = 0; k < sym_node(s, values[0])->operand_count; k++) {
        for (uint64_t i = 0; i < count; i++)
            operands[i] = sym_node(s, values[i])->operands[k];
        if (!match_strands(m, operands)) return false;
    }
    return true;
}

static bool is_alike(const struct match *m, const struct sym_node *a, const struct sym_node *b)
{
    if (a->kind != b->kind || a->op != b->op || a->builtin != b->builtin || a->type != b->type ||
        a->operand_count != b->operand_count || a->component != b->component)
        return false;
    if (a->kind == SYM_PACKET) return m->number[a->packet] == m->number[b->packet];
    return a->stream == b->stream;
}

/* Are the values, one of each strand, computed alike except for constants? */
static bool match_strands(struct match *m, const sym *values)
{
    enum { DEPTH_MAX = 1000 };
    const struct symbols *s = &m->p->space.symbols;
    uint64_t count = m->strands->count;
    for (uint64_t i = 0; i < count; i++)
        if (values[i].type != values[0].type) return false;
    if (sym_is_constant(values[0])) return true;
    sym **row = &m->rows[values[0].bits];
    for (uint64_t i = 0; i < count; i++) {
        if (*row != NULL && (*row)[i].bits != values[i].bits) return false;
        if (!is_alike(m, sym_node(s, values[0]), sym_node(s, values[i]))) return false;
    }
    if (*row != NULL) return true;
    if (m->depth == DEPTH_MAX) return false;
    *row = arena_copy(m->p->space.scratch, values, count * sizeof *values);
    m->depth++;
    bool alike = match_operands(m, values);
    m->depth--;
    return alike;
}

static bool match_all(struct splitter *p, const struct region *region,
                      struct region_strands *strands)
{
    const struct region_end *out = &region->out.items[0];
    uint64_t *number = ARENA_ARRAY(p->space.scratch, uint64_t, region->in.items[0].packets);
    uint64_t parts = end_part_count(p, out), count = strands->count;
    sym *values = ARENA_ARRAY(p->space.scratch, sym, count);
    for (uint64_t i = 0; i < strands->reads * count; i++)
        number[strands->in[i]] = i / count;
    struct match m = {.p = p, .strands = strands, .number = number};
    strands->node_count = p->space.symbols.nodes.count;
    m.rows = ARENA_ARRAY(p->space.scratch, sym *, strands->node_count);
    strands->rows = m.rows;
    for (uint64_t i = 0; i < strands->writes * parts; i++) {
        for (uint64_t c = 0; c < count; c++)
            values[c] = out->values[strands->out[i / parts * count + c] * parts + i % parts];
        if (!match_strands(&m, values)) return false;
    }
    return true;
}

static bool has_one_block(const struct region *region)
{
    return region->in.count == 1 && region->out.count == 1 && !region->ends_late &&
           region->in.items[0].peek == region->in.items[0].packets &&
           region->in.items[0].packets <= PACKETS_MAX &&
           region->out.items[0].packets <= PACKETS_MAX && region->operations <= OPERATIONS_MAX;
}

/* Sets the region's strands; false: it has none. */
static bool take_apart(struct splitter *p, struct region *region)
{
    if (!has_one_block(region)) return false;
    if (region->in.items[0].packets < p->lanes) return false; /* each strand reads at least one */
    struct region_strands *strands = number_and_deal(p, region);
    if (strands == NULL || strands->count % p->lanes != 0) return false;
    uint64_t reads = strands->reads * end_part_count(p, &region->in.items[0]);
    uint64_t writes = strands->writes * end_part_count(p, &region->out.items[0]);
    if ((reads > writes ? reads : writes) > (uint64_t)REGISTERS_A_LANE * p->lanes) return false;
    if (!match_all(p, region, strands)) return false;
    region->strands = strands;
    return true;
}

/* ---- chains ---- */

/* The only reader of the node's packets, if it reads nothing else; else GRAPH_NONE. */
static uint32_t next_of(const struct splitter *p, uint32_t node)
{
    const struct graph_node *of = &p->graph->nodes.items[node];
    if (of->outputs.count != 1) return GRAPH_NONE;
    const struct graph_buffer *buffer = &p->graph->buffers.items[of->outputs.items[0].buffer];
    if (buffer->outer == GRAPH_OUTER_OUT || buffer->readers.count != 1) return GRAPH_NONE;
    uint32_t next = buffer->readers.items[0].node;
    const struct graph_node *reader = &p->graph->nodes.items[next];
    bool joins = reader->inputs.count == 1 && reader->importance == of->importance;
    return joins ? next : GRAPH_NONE;
}

static bool is_strand_member(struct splitter *p, uint32_t node)
{
    return !p->taken[node] && region_look(&p->space, node)->reason == NULL;
}

/* Does a block exceed the registers? */
static bool is_long(const struct splitter *p, const struct region *region)
{
    const struct region_end *in = &region->in.items[0];
    return in->packets * end_part_count(p, in) > (uint64_t)REGISTERS_A_LANE * p->lanes;
}

static void split_from(struct splitter *p, uint32_t first)
{
    struct region_choice best = {0};
    VEC(uint32_t) nodes = {0};
    const char *reason;
    for (uint32_t at = first; at != GRAPH_NONE && is_strand_member(p, at); at = next_of(p, at)) {
        struct region *region = ARENA_NEW(p->space.scratch, struct region);
        vec_push(p->space.scratch, &nodes, at);
        if (!region_build(&p->space, nodes.items, nodes.count, region, &reason)) break;
        if (!take_apart(p, region)) break;
        best = (struct region_choice){region, region->operations};
    }
    if (best.region == NULL || best.region->members.count < 2 || !is_long(p, best.region)) return;
    vec_push(p->space.scratch, &p->choices, best);
    for (size_t i = 0; i < best.region->members.count; i++)
        p->taken[best.region->members.items[i].node] = true;
}

struct graph *strand_graph(struct compile *cx, const struct graph *graph,
                           const struct devdesc *device)
{
    struct arena *scratch = arena_create();
    struct splitter p = {.space = region_space(cx, graph, scratch),
                         .graph = graph,
                         .lanes = device->lanes,
                         .taken = ARENA_ARRAY(scratch, bool, graph->nodes.count + 1)};
    p.space.symbols.literal = true;
    for (uint32_t n = 0; n < graph->nodes.count; n++)
        split_from(&p, n);
    struct graph *split = region_rewrite(&p.space, p.choices.items, p.choices.count);
    arena_destroy(scratch);
    return split;
}
