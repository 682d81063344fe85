/* SPDX-License-Identifier: MIT */
#include "runtime/load/stage_listing.h"
#include "base/plural.h"

#include <inttypes.h>

/* Prints a name.  Bytes that could end the comment are replaced. */
static void show_name(FILE *to, const char *name)
{
    fputc('\'', to);
    for (; *name != '\0'; name++)
        fputc((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name, to);
    fputc('\'', to);
}

static void show_buffer(FILE *to, const struct prt_container *c, uint32_t buffer)
{
    const struct container_buffer *record = &c->buffers[buffer];
    show_name(to, prt_container_text(c, record->name));
    fprintf(to, "%s, %" PRIu64 " packet%s",
            record->outer == CONTAINER_OUTER_IN    ? ", in-port"
            : record->outer == CONTAINER_OUTER_OUT ? ", out-port"
                                                   : "",
            record->depth_packets, plural(record->depth_packets));
}

/* The suffix of a rate that shows whether it is the rate of a firing. */
static const char *cycle_of(uint32_t rates)
{
    return rates == CONTAINER_NONE ? "" : " in a cycle of its phases";
}

static void show_input(FILE *to, const struct prt_container *c, const struct container_node *node,
                       uint32_t index)
{
    const struct container_input *input = &c->inputs[node->first_input + index];
    fprintf(to, "#   input %" PRIu32 ": ", index);
    show_buffer(to, c, input->buffer);
    if (input->window_width > 0)
        fprintf(to, "; window %" PRIu32 " x %" PRIu32 "\n", input->window_width,
                input->window_height);
    else
        fprintf(to, "; pops %" PRIu64 "%s, peeks %s%" PRIu64 "\n", input->pop,
                cycle_of(input->rates), input->rates == CONTAINER_NONE ? "" : "at most ",
                input->peek);
}

static void show_output(FILE *to, const struct prt_container *c, const struct container_node *node,
                        uint32_t index)
{
    const struct container_output *output = &c->outputs[node->first_output + index];
    fprintf(to, "#   output %" PRIu32 ": ", index);
    show_buffer(to, c, output->buffer);
    fprintf(to, "; pushes ");
    if (output->push_least != output->push) fprintf(to, "%" PRIu64 " to ", output->push_least);
    fprintf(to, "%" PRIu64 "%s\n", output->push, cycle_of(output->rates));
}

static void print_stage_line(FILE *to, const struct prt_container *c, uint32_t index)
{
    const struct container_stage *stage = &c->stages[index];
    const struct container_node *node = &c->nodes[stage->node];
    fprintf(to, "# stage %" PRIu32 ": ", index);
    show_name(to, prt_container_text(c, node->name));
    fprintf(to, ", batches of at most %" PRIu64, stage->batch_max);
    if (stage->threshold > 1)
        fprintf(to, ", dispatched from %" PRIu32 " firings on", stage->threshold);
    if (node->registers > 0)
        fprintf(to, "; %" PRIu32 " register%s", node->registers, plural(node->registers));
    if (stage->entry != CONTAINER_NONE)
        fprintf(to, "; %s entry %" PRIu32,
                (stage->flags & CONTAINER_STAGE_SPILLED) != 0 ? "shares" : "owns", stage->entry);
    fputc('\n', to);
    for (uint32_t i = 0; i < node->input_count; i++)
        show_input(to, c, node, i);
    for (uint32_t i = 0; i < node->output_count; i++)
        show_output(to, c, node, i);
}

void prt_stage_listing(FILE *to, const struct prt_container *container)
{
    for (uint32_t i = 0; i < container->stage_count; i++)
        print_stage_line(to, container, i);
}
