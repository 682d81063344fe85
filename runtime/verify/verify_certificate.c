/* SPDX-License-Identifier: MIT */
/* See verify_certificate.h. */
#include "runtime/verify/verify_certificate.h"

#include "lang/window.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct certificate {
    const struct prt_container *c;
    struct prt_channels channels;
    uint32_t *vertices; /* of the block at hand */
    uint64_t *cycles;   /* by place in it: of an iteration; scratch, 0 */
    uint64_t next;      /* word of the section */
    uint64_t work;
};

static prt_int128 floor_of(prt_int128 a, prt_int128 b)
{
    prt_int128 quotient = a / b;
    return a % b < 0 ? quotient - 1 : quotient;
}

/* ---- one channel ---- */

struct pair { /* packets: consumed at once, needed at once, and kept free */
    prt_int128 step, window, reserve;
};

/* The minimum depth with which writer and reader cannot both wait. */
static prt_int128 depth_of_pair(const struct prt_channel *channel, struct pair pair)
{
    prt_int128 divisor = (prt_int128)prt_verify_divisor(channel->push, (uint64_t)pair.step);
    prt_int128 tokens = channel->initial - pair.window;
    prt_int128 rest = tokens - floor_of(tokens, divisor) * divisor;
    return channel->push + pair.step - divisor + rest + pair.window + pair.reserve;
}

/* A reader with a 2-D window sees no packet outside of the ones it passes.  So it is ready, and has freed
 * them all, no later than a reader that consumes all of them at once. */
static prt_int128 least_depth(const struct prt_container *c, uint32_t reader,
                              const struct prt_channel *channel)
{
    const struct container_input *input = &c->inputs[c->readers[reader].input];
    const struct container_buffer *buffer = &c->buffers[input->buffer];
    struct window_shape shape = {buffer->row_packets, buffer->frame_rows};
    struct window window = {input->window_width, input->window_height, input->border};
    struct pair pair = {.step = channel->pop,
                        .window = (prt_int128)channel->peek - channel->pop,
                        .reserve = channel->reserve};
    prt_int128 least = depth_of_pair(channel, pair);
    if (window.width == 0) return least;
    uint64_t whole =
        window.border == CONTAINER_BORDER_WRAP ? window_round(window, shape) : window_frame(shape);
    if (whole == UINT64_MAX) return least;
    pair = (struct pair){.step = whole, .reserve = pair.reserve - pair.window};
    prt_int128 other = depth_of_pair(channel, pair);
    return other < least ? other : least; /* equivalent: of two equals either */
}

static enum prt_status verify_pair(const struct certificate *at, uint32_t reader,
                                   struct prt_error *error)
{
    const struct prt_container *c = at->c;
    const struct prt_channel *channel = &at->channels.items[reader];
    uint32_t index = c->inputs[c->readers[reader].input].buffer;
    const struct container_buffer *buffer = &c->buffers[index];
    const char *name = prt_verify_text(c, buffer->name);
    const char *writer = prt_vertex_name(&at->channels, channel->from);
    const char *taker = prt_vertex_name(&at->channels, channel->to);
    /* Below 2^64: packets written, seen and kept free are each at most 2^62. */
    prt_int128 least = (prt_int128)channel->initial + channel->push + channel->reserve;
    if (channel->from == channel->to)
        CHECK((uint64_t)channel->initial >= channel->peek, BUFFERS, index,
              "'%s' begins with %" PRIu64 " packets: '%s', which writes it, waits for %" PRIu64
              " of them forever",
              name, buffer->initial_packets, taker, channel->peek);
    else
        least = least_depth(c, reader, channel);
    CHECK((prt_int128)buffer->depth_packets >= least, BUFFERS, index,
          "'%s' holds %" PRIu64 " packets, and '%s' and '%s' could wait for each other with less "
          "than %" PRIu64,
          name, buffer->depth_packets, writer, taker, (uint64_t)least);
    return PRT_OK;
}

/* ---- starting times ---- */

struct starts {
    const struct certificate *at;
    uint32_t block, period_bits;
    const uint64_t *words;
    uint64_t common; /* divisor of the cycles of all vertices */
};

static prt_int128 vertex_start(const struct starts *s, uint32_t vertex)
{
    const uint64_t *words = s->words + 2 * (uint64_t)s->at->channels.local[vertex];
    return (prt_int128)((unsigned __int128)words[1] << 64 | words[0]);
}

/* Packets of an iteration: the reader consumes as many as the writer writes. */
static prt_int128 flow_of(const struct prt_container *c, const struct prt_channel *channel)
{
    const struct container_node *node = &c->nodes[channel->to];
    return (prt_int128)(node->repetitions / node->phases) * channel->pop;
}

/* The outside writes for each reader as many packets as it consumes, equally often for each. */
static enum prt_status divide_cycles(struct starts *s, const struct prt_block *block,
                                     struct prt_error *error)
{
    const struct prt_container *c = s->at->c;
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t reader = block->channels[i];
        const struct prt_channel *channel = &s->at->channels.items[reader];
        uint64_t *cycles = &s->at->cycles[s->at->channels.local[channel->from]];
        prt_int128 flow = flow_of(c, channel);
        assert(flow > 0 && channel->push > 0); /* verify.c, verify_rates.c */
        CHECK(flow < PRT_PACKETS_MAX && channel->cycle < PRT_PACKETS_MAX, READERS, reader,
              "takes too many packets an iteration");
        if (*cycles == 0) *cycles = (uint64_t)(flow / channel->push);
        CHECK((prt_int128)*cycles * channel->push == flow, READERS, reader,
              "takes %" PRIu64 " packets an iteration, which does not balance with other readers",
              (uint64_t)flow);
        s->common = prt_verify_divisor(*cycles, s->common);
        s->common = prt_verify_divisor((uint64_t)(flow / channel->pop), s->common);
    }
    return PRT_OK;
}

/* The arc from `from` to `to`, with so many tokens more than those that have to stay. */
static bool arc_is_respected(const struct starts *s, const struct prt_channel *channel, bool room)
{
    assert(s->common > 0);
    prt_int128 add = room ? channel->pop : channel->push;
    prt_int128 take = room ? channel->push : channel->pop;
    prt_int128 tokens =
        room ? (prt_int128)channel->room - channel->initial
             : (prt_int128)channel->initial - ((prt_int128)channel->cycle - channel->pop);
    prt_int128 divisor = (prt_int128)prt_verify_divisor((uint64_t)add, (uint64_t)take);
    prt_int128 lead = take - divisor - floor_of(tokens, divisor) * divisor;
    prt_int128 flow = flow_of(s->at->c, channel) / (prt_int128)s->common;
    prt_int128 ahead = vertex_start(s, channel->to) - vertex_start(s, channel->from);
    if (room) ahead = -ahead;
    return ahead > floor_of(lead * ((prt_int128)1 << s->period_bits), flow);
}

static enum prt_status verify_starts(const struct certificate *at, uint32_t block,
                                     struct prt_vertices vertices, struct prt_part part,
                                     struct prt_error *error)
{
    const struct prt_container *c = at->c;
    struct starts s = {.at = at, .block = block, .words = part.words + 1};
    CHECK_WORD(part.count == 1 + 2 * (uint64_t)vertices.count, part.at,
               "%" PRIu64 " words for the starting times of %" PRIu32 " kernels", part.count,
               vertices.count);
    CHECK_WORD(part.words[0] <= CONTAINER_CERTIFICATE_PERIOD_BITS, part.at,
               "a period of 2^%" PRIu64, part.words[0]);
    s.period_bits = (uint32_t)part.words[0];
    for (uint32_t i = 0; i < vertices.count; i++)
        CHECK_WORD(s.words[2 * (uint64_t)i + 1] >> (CONTAINER_CERTIFICATE_START_BITS - 64) == 0,
                   part.at + 2 + 2 * (uint64_t)i, "the starting time of '%s' is too large",
                   prt_vertex_name(&at->channels, vertices.items[i]));
    const struct prt_block *channels = &at->channels.blocks[block];
    memset(at->cycles, 0, vertices.count * sizeof *at->cycles);
    enum prt_status status = divide_cycles(&s, channels, error);
    for (uint32_t i = 0; i < channels->count && status == PRT_OK; i++) {
        uint32_t reader = channels->channels[i];
        const struct prt_channel *channel = &at->channels.items[reader];
        const char *name =
            prt_verify_text(c, c->buffers[c->inputs[c->readers[reader].input].buffer].name);
        const char *writer = prt_vertex_name(&at->channels, channel->from);
        const char *taker = prt_vertex_name(&at->channels, channel->to);
        CHECK_WORD(arc_is_respected(&s, channel, false), part.at,
                   "'%s' would start before '%s' has written its packets to '%s'", taker, writer,
                   name);
        CHECK_WORD(arc_is_respected(&s, channel, true), part.at,
                   "'%s' would start before '%s' has freed its room in '%s'", writer, taker, name);
    }
    return status;
}

/* ---- parts ---- */

static int compare_vertices(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Also numbers them: `local`. */
static struct prt_vertices vertices_of(struct certificate *at, const struct prt_block *block)
{
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        at->vertices[count++] = at->channels.items[block->channels[i]].from;
        at->vertices[count++] = at->channels.items[block->channels[i]].to;
    }
    qsort(at->vertices, count, sizeof *at->vertices, compare_vertices);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && at->vertices[i] == at->vertices[i - 1]) continue;
        at->channels.local[at->vertices[i]] = kept;
        at->vertices[kept++] = at->vertices[i];
    }
    return (struct prt_vertices){at->vertices, kept};
}

static enum prt_status verify_part(struct certificate *at, uint32_t block, struct prt_error *error)
{
    const struct prt_container *c = at->c;
    const struct prt_block *channels = &at->channels.blocks[block];
    uint64_t begin = at->next, total = c->certificate_count;
    uint32_t lowest = channels->channels[0];
    bool given = total - begin >= 2 && (uint32_t)c->certificate[begin] == lowest;
    if (!given && c->pipeline->flags & CONTAINER_PIPELINE_UNPROVEN) return PRT_OK;
    CHECK_WORD(given, begin,
               "nothing shows that '%s' and '%s' cannot wait for each other around buffer '%s'",
               prt_vertex_name(&at->channels, at->channels.items[lowest].from),
               prt_vertex_name(&at->channels, at->channels.items[lowest].to),
               prt_verify_text(c, c->buffers[c->inputs[c->readers[lowest].input].buffer].name));
    struct prt_part part = {c->certificate + begin + 2, c->certificate[begin + 1], begin + 2};
    CHECK_WORD(part.count >= 1 && part.count <= total - part.at, begin + 1,
               "a part that runs past the section, or is empty");
    at->next = part.at + part.count;
    struct prt_vertices vertices = vertices_of(at, channels);
    switch (c->certificate[begin] >> CONTAINER_CERTIFICATE_FORM_SHIFT) {
    case CONTAINER_CERTIFICATE_STARTS: return verify_starts(at, block, vertices, part, error);
    case CONTAINER_CERTIFICATE_SCHEDULE:
        return prt_verify_schedule(&at->channels, block, vertices, part, &at->work, error);
    default: break;
    }
    return prt_verify_refuse(c, error, CONTAINER_CERTIFICATE, begin, "an unknown form of proof");
}

static bool is_simple(const struct prt_channels *channels, const struct prt_block *block)
{
    const struct prt_channel *channel = &channels->items[block->channels[0]];
    return block->count == 1 && prt_vertex_phases(channels, channel->from) == 1 &&
           prt_vertex_phases(channels, channel->to) == 1;
}

static enum prt_status verify_blocks(struct certificate *at, struct prt_error *error)
{
    const struct prt_container *c = at->c;
    for (uint32_t b = 0; b < at->channels.block_count; b++) {
        const struct prt_block *block = &at->channels.blocks[b];
        enum prt_status status = is_simple(&at->channels, block)
                                     ? verify_pair(at, block->channels[0], error)
                                     : verify_part(at, b, error);
        if (status != PRT_OK) return status;
    }
    CHECK_WORD(at->next == c->certificate_count, at->next,
               "belongs to no cycle of buffers, or is not in their order");
    return PRT_OK;
}

/* ---- the end of the stream ---- */

/* The packets that a finish appends fit beside those that a reader keeps because they make no
 * window. */
static enum prt_status verify_finish(const struct prt_container *c, uint32_t index,
                                     struct prt_error *error)
{
    const struct container_buffer *buffer = &c->buffers[index];
    if (buffer->writer_node == CONTAINER_NONE) return PRT_OK;
    const struct container_output *output = &c->outputs[buffer->writer_output];
    if (!(c->nodes[buffer->writer_node].flags & CONTAINER_NODE_FINISH)) return PRT_OK;
    for (uint32_t k = 0; k < buffer->reader_count; k++) {
        const struct container_reader *reader = &c->readers[buffer->first_reader + k];
        uint64_t kept = prt_verify_needs(c, &c->inputs[reader->input]);
        kept -= kept > 0;
        CHECK((prt_int128)output->finish_max + kept <= buffer->depth_packets, BUFFERS, index,
              "'%s' holds %" PRIu64 " packets: too few for the %" PRIu64
              " of a finish while '%s' keeps %" PRIu64,
              prt_verify_text(c, buffer->name), buffer->depth_packets, output->finish_max,
              prt_verify_text(c, c->nodes[reader->node].name), kept);
    }
    return PRT_OK;
}

enum prt_status prt_verify_certificate(const struct prt_container *c, struct prt_error *error)
{
    struct certificate at = {.c = c, .work = CONTAINER_CERTIFICATE_WORK(c->certificate_count)};
    if (c->pipeline->flags & CONTAINER_PIPELINE_COUNTEREXAMPLE) return prt_verify_stall(c, error);
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < c->buffer_count && status == PRT_OK; i++)
        status = verify_finish(c, i, error);
    if (status == PRT_OK) status = prt_channels_build(c, &at.channels, error);
    if (status != PRT_OK) return status;
    size_t ends = (size_t)c->reader_count * 2 + 1;
    at.vertices = calloc(ends, sizeof *at.vertices);
    at.cycles = calloc(ends, sizeof *at.cycles);
    status = at.vertices != NULL && at.cycles != NULL
                 ? verify_blocks(&at, error)
                 : prt_error_set(error, PRT_E_NOMEM, "out of memory");
    free(at.vertices);
    free(at.cycles);
    prt_channels_free(&at.channels);
    return status;
}
