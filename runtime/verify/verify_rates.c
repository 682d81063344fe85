/* SPDX-License-Identifier: MIT */
/* Checks the meaning of rates, phases and windows. */
#include "runtime/verify/verify_internal.h"

#include <inttypes.h>

enum { WINDOW_SIDE_MAX = 1023 };

uint64_t prt_verify_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* For an end with several phases: the pops, or the minimum pushes; then the peeks, or the maximum
 * pushes. */
static const uint64_t *first_list(const struct prt_container *c, uint32_t rates)
{
    return c->rates + rates;
}

static const uint64_t *second_list(const struct prt_container *c, uint32_t rates, uint32_t phases)
{
    return c->rates + rates + phases;
}

/* The sum, or false if that overflows. */
static bool sum_rates(const uint64_t *list, uint32_t count, uint64_t *sum)
{
    *sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (__builtin_add_overflow(*sum, list[i], sum)) return false;
    }
    return true;
}

static uint64_t largest_of(const uint64_t *list, uint32_t count)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] > largest) largest = list[i];
    }
    return largest;
}

/* The first index where `low` is above `high`, or `count`. */
static uint32_t first_above(const uint64_t *low, const uint64_t *high, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && low[i] <= high[i])
        i++;
    return i;
}

/* The lists of all ends follow one another in RATES: so work on them is bounded by the file. */
static enum prt_status verify_lists(const struct prt_container *c, enum container_section_kind kind,
                                    uint32_t index, uint32_t phases, uint32_t rates, uint64_t *next,
                                    struct prt_error *error)
{
    if (PRT_BREAKS(phases == 1 && rates != CONTAINER_NONE))
        return prt_verify_refuse(c, error, kind, index,
                                 "rates of several phases, the node has one");
    if (phases == 1) return PRT_OK;
    if (PRT_BREAKS(rates == CONTAINER_NONE))
        return prt_verify_refuse(c, error, kind, index,
                                 "the node has %" PRIu32 " phases, and this end no rates of each",
                                 phases);
    if (PRT_BREAKS(rates != *next || *next + 2 * (uint64_t)phases > c->rate_count))
        return prt_verify_refuse(c, error, kind, index,
                                 "its rates do not follow those before, or run past the section");
    *next += 2 * (uint64_t)phases;
    return PRT_OK;
}

static enum prt_status verify_input_lists(const struct prt_container *c, uint32_t index,
                                          uint32_t phases, struct prt_error *error)
{
    const struct container_input *input = &c->inputs[index];
    if (input->rates == CONTAINER_NONE) return PRT_OK;
    const uint64_t *pops = first_list(c, input->rates);
    const uint64_t *peeks = second_list(c, input->rates, phases);
    uint64_t sum;
    uint32_t at = first_above(pops, peeks, phases);
    CHECK(at == phases, INPUTS, index, "in phase %" PRIu32 " pop is above peek", at);
    CHECK(sum_rates(pops, phases, &sum) && sum == input->pop, INPUTS, index,
          "the phases do not pop %" PRIu64 " packets together", input->pop);
    CHECK(largest_of(peeks, phases) == input->peek, INPUTS, index,
          "the largest peek of a phase is not %" PRIu64, input->peek);
    return PRT_OK;
}

static enum prt_status verify_output_lists(const struct prt_container *c, uint32_t index,
                                           uint32_t phases, struct prt_error *error)
{
    const struct container_output *output = &c->outputs[index];
    if (output->rates == CONTAINER_NONE) return PRT_OK;
    const uint64_t *least = first_list(c, output->rates);
    const uint64_t *most = second_list(c, output->rates, phases);
    uint64_t sum;
    uint32_t at = first_above(least, most, phases);
    CHECK(at == phases, OUTPUTS, index,
          "in phase %" PRIu32 " the minimum push is above the maximum", at);
    CHECK(sum_rates(least, phases, &sum) && sum == output->push_least, OUTPUTS, index,
          "the phases do not push at least %" PRIu64 " packets together", output->push_least);
    CHECK(sum_rates(most, phases, &sum) && sum == output->push, OUTPUTS, index,
          "the phases do not push at most %" PRIu64 " packets together", output->push);
    return PRT_OK;
}

/* ---- windows ---- */

static enum prt_status verify_window(const struct prt_container *c, uint32_t index, uint32_t phases,
                                     struct prt_error *error)
{
    const struct container_input *input = &c->inputs[index];
    const struct container_buffer *buffer = &c->buffers[input->buffer];
    const char *name = prt_verify_text(c, buffer->name);
    uint32_t width = input->window_width, height = input->window_height;
    if (width == 0 && height == 0) {
        CHECK(input->border == 0, INPUTS, index, "a border without a window");
        return PRT_OK;
    }
    CHECK(width % 2 == 1 && height % 2 == 1 && width <= WINDOW_SIDE_MAX &&
              height <= WINDOW_SIDE_MAX,
          INPUTS, index, "a window of %" PRIu32 "x%" PRIu32 ": both are odd and up to %d", width,
          height, WINDOW_SIDE_MAX);
    CHECK(input->border <= CONTAINER_BORDER_ZERO, INPUTS, index, "an unknown border");
    CHECK(input->pop == phases && input->peek == 1, INPUTS, index,
          "a window, and pop or peek that is not 1");
    CHECK(buffer->row_packets > 0, INPUTS, index, "a window on buffer '%s', which has no rows",
          name);
    CHECK(input->border != CONTAINER_BORDER_WRAP || height == 1 || buffer->frame_rows > 0, INPUTS,
          index, "a window that wraps on buffer '%s', which has no frames", name);
    return PRT_OK;
}

/* All windows of a node stand at the same place. */
static enum prt_status verify_same_shape(const struct prt_container *c,
                                         const struct container_node *node, uint32_t *first,
                                         uint32_t index, struct prt_error *error)
{
    const struct container_input *input = &c->inputs[index];
    if (input->window_width == 0) return PRT_OK;
    if (*first == CONTAINER_NONE) *first = index;
    const struct container_buffer *one = &c->buffers[c->inputs[*first].buffer];
    const struct container_buffer *other = &c->buffers[input->buffer];
    CHECK(one->row_packets == other->row_packets && one->frame_rows == other->frame_rows, INPUTS,
          index, "the windows of '%s' are on buffers '%s' and '%s' of different shapes",
          prt_verify_text(c, node->name), prt_verify_text(c, one->name),
          prt_verify_text(c, other->name));
    return PRT_OK;
}

/* A frame may be smaller than the window.  Sides and rows are bounded, so nothing overflows. */
uint64_t prt_verify_needs(const struct prt_container *c, const struct container_input *input)
{
    const struct container_buffer *buffer = &c->buffers[input->buffer];
    if (input->window_width == 0) return input->peek;
    uint64_t frame = buffer->frame_rows > 0 ? buffer->frame_rows * buffer->row_packets : UINT64_MAX;
    if (input->border == CONTAINER_BORDER_WRAP)
        return input->window_height == 1 ? buffer->row_packets : frame;
    uint64_t span =
        (uint64_t)(input->window_height - 1) * buffer->row_packets + input->window_width;
    return span < frame ? span : frame; /* equivalent: of two equals either */
}

/* ---- one firing ---- */

static enum prt_status verify_input(const struct prt_container *c, uint32_t index, uint32_t phases,
                                    struct prt_error *error)
{
    const struct container_input *input = &c->inputs[index];
    const struct container_buffer *buffer = &c->buffers[input->buffer];
    CHECK(input->pop >= 1 && (phases > 1 || input->peek >= input->pop), INPUTS, index,
          "pop %" PRIu64 ", peek %" PRIu64 ": pop is 1 or more, peek at least pop", input->pop,
          input->peek);
    enum prt_status status = verify_input_lists(c, index, phases, error);
    if (status == PRT_OK) status = verify_window(c, index, phases, error);
    if (status != PRT_OK) return status;
    uint64_t needs = prt_verify_needs(c, input);
    CHECK(needs <= buffer->depth_packets, INPUTS, index,
          "a firing sees %" PRIu64 " packets, buffer '%s' holds %" PRIu64, needs,
          prt_verify_text(c, buffer->name), buffer->depth_packets);
    return PRT_OK;
}

uint64_t prt_verify_most(const struct prt_container *c, const struct container_node *node,
                         const struct container_output *output)
{
    if (output->rates == CONTAINER_NONE) return output->push;
    return largest_of(second_list(c, output->rates, node->phases), node->phases);
}

static enum prt_status verify_output(const struct prt_container *c,
                                     const struct container_node *node, uint32_t index,
                                     struct prt_error *error)
{
    const struct container_output *output = &c->outputs[index];
    const struct container_buffer *buffer = &c->buffers[output->buffer];
    const char *name = prt_verify_text(c, buffer->name);
    bool finishes = (node->flags & CONTAINER_NODE_FINISH) != 0;
    CHECK(output->push_least <= output->push, OUTPUTS, index,
          "writes at least %" PRIu64 " and at most %" PRIu64 " packets", output->push_least,
          output->push);
    CHECK(output->push >= 1 || (finishes && output->finish_max >= 1) ||
              buffer->outer == CONTAINER_OUTER_OUT,
          OUTPUTS, index, "writes nothing into buffer '%s'", name);
    enum prt_status status = verify_output_lists(c, index, node->phases, error);
    if (status != PRT_OK) return status;
    uint64_t most = prt_verify_most(c, node, output);
    CHECK(most <= buffer->depth_packets, OUTPUTS, index,
          "a firing writes %" PRIu64 " packets, buffer '%s' holds %" PRIu64, most, name,
          buffer->depth_packets);
    CHECK(!finishes || output->finish_max <= buffer->depth_packets, OUTPUTS, index,
          "finish writes up to %" PRIu64 " packets, buffer '%s' holds %" PRIu64, output->finish_max,
          name, buffer->depth_packets);
    return PRT_OK;
}

static enum prt_status verify_node(const struct prt_container *c, const struct container_node *node,
                                   uint64_t *next, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    uint32_t windowed = CONTAINER_NONE;
    for (uint32_t i = 0; i < node->input_count && status == PRT_OK; i++) {
        uint32_t at = node->first_input + i;
        status =
            verify_lists(c, CONTAINER_INPUTS, at, node->phases, c->inputs[at].rates, next, error);
        if (status == PRT_OK) status = verify_input(c, at, node->phases, error);
        if (status == PRT_OK) status = verify_same_shape(c, node, &windowed, at, error);
    }
    for (uint32_t i = 0; i < node->output_count && status == PRT_OK; i++) {
        uint32_t at = node->first_output + i;
        status =
            verify_lists(c, CONTAINER_OUTPUTS, at, node->phases, c->outputs[at].rates, next, error);
        if (status == PRT_OK) status = verify_output(c, node, at, error);
    }
    return status;
}

enum prt_status prt_verify_rates(const struct prt_container *c, struct prt_error *error)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < c->node_count; i++) {
        enum prt_status status = verify_node(c, &c->nodes[i], &next, error);
        if (status != PRT_OK) return status;
    }
    CHECK(next == c->rate_count, RATES, next, "belongs to no end");
    return PRT_OK;
}

/* ---- iterations and batches ---- */

bool prt_verify_is_exact(const struct prt_container *c, const struct container_output *output)
{
    (void)c; /* each phase's least is at most its most, so equal sums are equal lists */
    return output->push_least == output->push && output->push > 0;
}

/* Cycles x packets of a cycle on both sides; each product fits 128 bits. */
enum prt_status prt_verify_balance(const struct prt_container *c, uint32_t index,
                                   uint32_t reader_index, struct prt_error *error)
{
    const struct container_buffer *buffer = &c->buffers[index];
    if (buffer->writer_node == CONTAINER_NONE) return PRT_OK;
    const struct container_output *output = &c->outputs[buffer->writer_output];
    if (!prt_verify_is_exact(c, output)) return PRT_OK;
    const struct container_reader *reader = &c->readers[reader_index];
    const struct container_node *writer = &c->nodes[buffer->writer_node];
    const struct container_node *taker = &c->nodes[reader->node];
    uint64_t writes = writer->repetitions / writer->phases;
    uint64_t takes = taker->repetitions / taker->phases;
    uint64_t push = output->push, pop = c->inputs[reader->input].pop;
    CHECK((unsigned __int128)writes * push == (unsigned __int128)takes * pop, BUFFERS, index,
          "'%s' does not balance: '%s' writes %" PRIu64 " x %" PRIu64 ", '%s' takes %" PRIu64
          " x %" PRIu64 " packets an iteration",
          prt_verify_text(c, buffer->name), prt_verify_text(c, writer->name), writes, push,
          prt_verify_text(c, taker->name), takes, pop);
    return PRT_OK;
}

/* Whether the input can hold the packets that `firings` firings see.  With phases, it counts whole cycles. */
static bool admits_input(const struct prt_container *c, const struct container_node *node,
                         const struct container_input *input, uint64_t firings)
{
    const struct container_buffer *buffer = &c->buffers[input->buffer];
    uint64_t needs = prt_verify_needs(c, input), most = buffer->depth_packets;
    if (input->window_width > 0) return firings <= most;
    if (node->phases > 1) return (unsigned __int128)(firings / node->phases) * input->pop <= most;
    return (unsigned __int128)(firings - 1) * input->pop + needs <= most;
}

enum prt_status prt_verify_batch(const struct prt_container *c, uint32_t stage, uint64_t firings,
                                 struct prt_error *error)
{
    const struct container_node *node = &c->nodes[c->stages[stage].node];
    for (uint32_t k = 0; k < node->input_count; k++) {
        const struct container_input *input = &c->inputs[node->first_input + k];
        const struct container_buffer *buffer = &c->buffers[input->buffer];
        CHECK(admits_input(c, node, input, firings), STAGES, stage,
              "%" PRIu64 " firings of '%s' see more packets than buffer '%s' holds (%" PRIu64 ")",
              firings, prt_verify_text(c, node->name), prt_verify_text(c, buffer->name),
              buffer->depth_packets);
    }
    for (uint32_t k = 0; k < node->output_count; k++) {
        const struct container_output *output = &c->outputs[node->first_output + k];
        const struct container_buffer *buffer = &c->buffers[output->buffer];
        CHECK((unsigned __int128)(firings / node->phases) * output->push <= buffer->depth_packets,
              STAGES, stage,
              "%" PRIu64 " firings of '%s' write more packets than buffer '%s' holds (%" PRIu64 ")",
              firings, prt_verify_text(c, node->name), prt_verify_text(c, buffer->name),
              buffer->depth_packets);
    }
    return PRT_OK;
}
