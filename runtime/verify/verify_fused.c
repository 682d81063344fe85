/* SPDX-License-Identifier: MIT */
/* The nodes of the program that are parts of stages: see verify_internal.h. */
#include "runtime/verify/verify_internal.h"

#include <inttypes.h>
#include <stdlib.h>

static bool stands_for_others(const struct prt_container *c, uint32_t node)
{
    return (c->nodes[node].flags & CONTAINER_NODE_FUSED) != 0;
}

static enum prt_status verify_run_input(const struct prt_container *c,
                                        const struct container_fused_node *node, uint32_t index,
                                        struct prt_error *error)
{
    const struct container_fused_input *input = &c->fused_inputs[index];
    const struct container_input *of = &c->inputs[input->input];
    uint32_t owner = c->readers[of->reader].node;
    uint64_t packets;
    CHECK(stands_for_others(c, owner), FUSED_INPUTS, index, "node '%s' stands for no others",
          prt_verify_text(c, c->nodes[owner].name));
    CHECK(of->window_width == 0 || (input->pop == 1 && input->peek == 1), FUSED_INPUTS, index,
          "a window, and pop or peek that is not 1");
    CHECK(owner != node->node ||
              (!__builtin_mul_overflow(node->firings, input->pop, &packets) && packets == of->pop),
          FUSED_INPUTS, index,
          "%" PRIu64 " firings that pop %" PRIu64 " packets, where their node pops %" PRIu64,
          node->firings, input->pop, of->pop);
    return PRT_OK;
}

static enum prt_status verify_made_input(const struct prt_container *c,
                                         const struct container_fused_node *node, uint32_t index,
                                         struct prt_error *error)
{
    const struct container_fused_input *input = &c->fused_inputs[index];
    const struct container_fused_buffer *buffer = &c->fused_buffers[input->buffer];
    const struct container_fused_node *writer = &c->fused_nodes[buffer->writer];
    uint64_t written, read;
    CHECK(writer->node != node->node ||
              (!__builtin_mul_overflow(writer->firings, buffer->push, &written) &&
               !__builtin_mul_overflow(node->firings, input->pop, &read) && written == read),
          FUSED_INPUTS, index, "a firing of '%s' does not read what it writes to '%s'",
          prt_verify_text(c, c->nodes[node->node].name), prt_verify_text(c, buffer->name));
    return PRT_OK;
}

static enum prt_status verify_fused_node(const struct prt_container *c, uint32_t index,
                                         struct prt_error *error)
{
    const struct container_fused_node *node = &c->fused_nodes[index];
    const struct container_node *whole = &c->nodes[node->node];
    bool sees_tail = (node->flags & CONTAINER_FUSED_SEES_TAIL) != 0;
    CHECK(stands_for_others(c, node->node), FUSED_NODES, index, "node '%s' stands for no others",
          prt_verify_text(c, whole->name));
    CHECK(node->firings > 0 && node->input_count > 0, FUSED_NODES, index,
          "it never fires, or reads nothing");
    CHECK(!sees_tail || ((whole->flags & CONTAINER_NODE_FINISH) != 0 && node->input_count == 1),
          FUSED_NODES, index, "its finish sees no packets");
    for (uint32_t i = node->first_input; i < node->first_input + node->input_count; i++) {
        const struct container_fused_input *input = &c->fused_inputs[i];
        CHECK(input->pop > 0 && input->pop <= input->peek, FUSED_INPUTS, i,
              "it pops nothing, or more than it sees");
        enum prt_status status = input->input != CONTAINER_NONE
                                     ? verify_run_input(c, node, i, error)
                                     : verify_made_input(c, node, i, error);
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

/* `reports`: by node, so many values its finish may report. */
static enum prt_status verify_fused_buffer(const struct prt_container *c, uint32_t index,
                                           uint64_t *reports, struct prt_error *error)
{
    const struct container_fused_buffer *buffer = &c->fused_buffers[index];
    uint32_t whole = c->fused_nodes[buffer->writer].node;
    const char *name = prt_verify_text(c, buffer->name);
    CHECK(buffer->push > 0, FUSED_BUFFERS, index, "nothing is written to '%s'", name);
    CHECK(index == 0 || buffer->buffer >= buffer[-1].buffer, FUSED_BUFFERS, index,
          "'%s' is declared before the one before it", name);
    if ((buffer->flags & CONTAINER_FUSED_BUFFER_KEPT) != 0) {
        const struct container_buffer *kept = &c->buffers[buffer->buffer];
        CHECK(kept->writer_node == whole && kept->initial_packets == buffer->initial_packets,
              FUSED_BUFFERS, index, "buffer '%s' has another writer, or other initial packets",
              prt_verify_text(c, kept->name));
    }
    if (buffer->finish_max == 0) return PRT_OK;
    CHECK((c->nodes[whole].flags & CONTAINER_NODE_FINISH) != 0, FUSED_BUFFERS, index,
          "node '%s' has no finish", prt_verify_text(c, c->nodes[whole].name));
    uint64_t *values = &reports[whole], digit;
    if (*values == 0) *values = 1;
    CHECK(!__builtin_add_overflow(buffer->finish_max, 1, &digit) &&
              !__builtin_mul_overflow(*values, digit, values) && *values <= INT64_MAX,
          FUSED_BUFFERS, index, "the finish of node '%s' cannot report so much",
          prt_verify_text(c, c->nodes[whole].name));
    return PRT_OK;
}

enum prt_status prt_verify_fused(const struct prt_container *c, struct prt_error *error)
{
    /* equivalent: one more; asan sees one fewer */
    uint64_t *reports = calloc((size_t)c->node_count + 1, sizeof *reports);
    enum prt_status status = PRT_OK;
    if (reports == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < c->fused_buffer_count && status == PRT_OK; i++)
        status = verify_fused_buffer(c, i, reports, error);
    for (uint32_t i = 0; i < c->fused_node_count && status == PRT_OK; i++)
        status = verify_fused_node(c, i, error);
    free(reports); /* equivalent: only sanitizers see the leak */
    return status;
}
