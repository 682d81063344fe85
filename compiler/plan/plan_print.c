/* SPDX-License-Identifier: MIT */
/*
 * plan_print: prints the plan as tables.  Their form is stable, for people and golden tests.
 */
#include "compiler/plan/program_shape.h"
#include "compiler/plan/priority_groups.h"
#include "base/terminal_text.h"
#include "base/name_fold.h"
#include "compiler/support/folded_table.h"

#include <inttypes.h>
#include <string.h>

/* Rows of the table of packs, unless all are asked for. */
enum { PRINTED_PACKED = 40 };

__extension__ typedef unsigned __int128 load_sum;

const char *plan_mode_name(enum plan_mode mode)
{
    static const char *const names[] = {[PLAN_SIDE_BY_SIDE] = "side by side",
                                        [PLAN_IN_GROUPS] = "in groups",
                                        [PLAN_IN_SEQUENCE] = "in sequence"};
    return names[mode];
}

static void print_memory(FILE *to, const struct graph *graph, const struct plan *plan)
{
    bool fast = graph->buffers_mode == BUFFERS_FAST;
    fprintf(to, "memory   %" PRIu64 " bytes in buffers", graph->memory_bytes);
    if (graph->buffers_mode == BUFFERS_DEFAULT) {
        fputc('\n', to);
    } else if (graph->unproven) {
        fputs(": as by default, for it is not proven to be free of deadlock\n", to);
    } else if (plan->depth_reason != NULL) {
        fprintf(to, ": the smallest found at full speed, %s\n", plan->depth_reason);
    } else if (graph->memory_least == LEAST_EXACT) {
        fprintf(to, ": exactly the minimum %s\n",
                fast ? "for the idealised maximum of throughput" : "that is free of deadlock");
    } else if (graph->memory_least == LEAST_BOUND) {
        fprintf(to, ": enough %s; the minimum is at least %" PRIu64 "\n",
                fast ? "for the idealised maximum of throughput" : "to be free of deadlock",
                graph->memory_least_bytes);
    } else if (graph->memory_least == LEAST_GIVEN_UP) {
        fputs(": no depths for the idealised maximum of throughput were found within the budget, "
              "so there is room "
              "for a full dispatch\n",
              to);
    } else {
        fputs(": the minimum for the idealised maximum of throughput, and room for a full dispatch "
              "where nothing "
              "limits it\n",
              to);
    }
}

/* Prints which part the proof leaves out, and why the author accepts that. */
static void print_accepted(FILE *to, const struct graph *graph)
{
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        if (!graph->unproven || buffer->unproven_reason == NULL) continue;
        fprintf(to, "accepted '%s' varies, and is not proven free of deadlock: ", buffer->name);
        terminal_text_print(to, buffer->unproven_reason);
        fputc('\n', to);
    }
}

/* Prints the static schedule, and why it has no stage or not all of them. */
static void print_schedule(FILE *to, const struct graph *graph, const struct plan *plan,
                           const struct sched_program *program, bool whole)
{
    struct arena *arena = arena_create();
    struct program_shape shape;
    if (program_shape_read(arena, program->code, program->code_bytes, plan->stage_count, &shape)) {
        const char **names = ARENA_ARRAY(arena, const char *, (size_t)plan->stage_count + 1);
        for (uint32_t i = 0; i < plan->stage_count; i++)
            names[i] = graph->nodes.items[plan->stages[i].node].name;
        program_shape_print(to, names, &shape, plan->schedule ? plan->schedule->reason : NULL,
                            whole);
    }
    arena_destroy(arena);
}

static void print_head(FILE *to, const struct graph *graph, const struct plan *plan,
                       const struct sched_program *program, bool whole)
{
    const struct devdesc *device = plan->device;
    fprintf(to, "pipeline %s on %s: %" PRIu32 " CU%s of %" PRIu32 " lane%s\n", graph->name,
            device->name, device->cu_count, device->cu_count == 1 ? "" : "s", device->lanes,
            device->lanes == 1 ? "" : "s");
    fprintf(to, "mode     %s: %s\n", plan_mode_name(plan->mode), plan->mode_reason);
    fprintf(to, "policy   %s: %s\n", plan->policy, plan->policy_reason);
    if (plan->batch_reason != NULL) fprintf(to, "batches  %s\n", plan->batch_reason);
    if (program != NULL) print_schedule(to, graph, plan, program, whole);
    print_memory(to, graph, plan);
    struct arena *arena = arena_create();
    fprintf(to, "device   %" PRIu64 " of %" PRIu64 " bytes: %s\n", plan->memory.total,
            plan->device->memory_bytes, plan_memory_text(arena, &plan->memory));
    arena_destroy(arena);
    print_accepted(to, graph);
}

/* Stages in the order of packs and places. */
static uint32_t *order_by_pack(struct arena *arena, const struct plan *plan)
{
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, (size_t)plan->pack_count + 2);
    uint32_t *order = ARENA_ARRAY(arena, uint32_t, (size_t)plan->stage_count + 1);
    for (uint32_t i = 0; i < plan->stage_count; i++)
        first[plan->stages[i].pack + 1]++;
    for (uint32_t p = 0; p < plan->pack_count; p++)
        first[p + 1] += first[p];
    for (uint32_t i = 0; i < plan->stage_count; i++)
        order[first[plan->stages[i].pack] + plan->stages[i].place] = i;
    return order;
}

/* Stages that are launched by one packet, where there are any. */
static void print_packs(FILE *to, const struct graph *graph, const struct plan *plan, bool whole)
{
    if (plan->entry_count == 0) return;
    struct arena *arena = arena_create();
    const uint32_t *order = order_by_pack(arena, plan);
    fprintf(to, "\npack  place  entry  stage\n");
    for (uint32_t i = 0, printed = 0; i < plan->stage_count; i++) {
        const struct plan_stage *stage = &plan->stages[order[i]];
        if (stage->entry == GRAPH_NONE) continue;
        if (printed++ == PRINTED_PACKED && !whole) {
            fprintf(to, "  ... and %" PRIu32 " more stages; -v prints them\n",
                    plan->stage_count - i);
            break;
        }
        fprintf(to, "%4" PRIu32 "  %5" PRIu32 "  %5" PRIu32 "  %s%s\n", stage->pack, stage->place,
                stage->entry, graph->nodes.items[stage->node].name,
                stage->spilled ? ": spilled, the entry is another stage's" : "");
    }
    arena_destroy(arena);
}

static void print_stages(FILE *to, const struct graph *graph, const struct plan *plan, bool whole)
{
    static const int widths[] = {0, 0, 11, 8, 6, 4, 6, 9, 7, 0};
    struct arena *arena = arena_create();
    struct folded_table table;
    load_sum all = 0;
    for (uint32_t i = 0; i < plan->stage_count; i++)
        all += plan->stages[i].load;
    FILE *rows = folded_table_begin(&table, arena);
    fputs("stage\tkernel\trepetitions\tcycles\tload\tCUs\tsubdev\tthreshold\tbatch\t\n", rows);
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        const struct plan_stage *stage = &plan->stages[i];
        const struct graph_node *node = &graph->nodes.items[stage->node];
        /* Tenths of a percent, in integers, so that every host prints the same. */
        uint32_t load = (uint32_t)(((load_sum)stage->load * 1000 + all / 2) / all);
        fprintf(rows, "%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 ".%" PRIu32 "%%\t%" PRIu32 "\t",
                node->name, node->kernel->title, node->repetitions, node->cost_cycles, load / 10,
                load % 10, stage->cu_count);
        if (stage->sub_device == GRAPH_NONE)
            fputc('-', rows);
        else
            fprintf(rows, "%" PRIu32, stage->sub_device);
        fprintf(rows, "\t%" PRIu32 "\t%" PRIu64 "\t%s\n", stage->threshold, stage->batch_max,
                stage->threshold_reason);
    }
    fputc('\n', to);
    folded_table_end(&table, to, widths, sizeof widths / sizeof widths[0], whole);
    arena_destroy(arena);
}

void plan_print_index(FILE *to, const char *kernel, const struct plan_index *index)
{
    fprintf(to, "indices  %s: %" PRIu32, kernel, index->extents[0]);
    for (int d = 1; d < 3 && (index->extents[d] > 1 || index->extents[2] > 1); d++)
        fprintf(to, "x%" PRIu32, index->extents[d]);
    fprintf(to,
            " in %" PRIu32 " of %" PRIu32 " bits, step (%" PRIu32 ", %" PRIu32 ", %" PRIu32
            "), %" PRIu64 " bytes of index memory from %" PRIu32 " on, %s\n",
            index->bits, index->register_bits, index->step[0], index->step[1], index->step[2],
            index->bytes, index->address_bytes, index->dedicated ? "its own" : "shared");
}

static void print_ports(FILE *to, const struct graph *graph, bool whole)
{
    struct arena *arena = arena_create();
    struct folded_table table;
    FILE *rows = folded_table_begin(&table, arena);
    fputs("stage\tport\tbuffer\tpackets of a firing\n", rows);
    for (size_t n = 0; n < graph->nodes.count; n++) {
        const struct graph_node *node = &graph->nodes.items[n];
        for (size_t i = 0; i < node->inputs.count; i++) {
            const struct graph_input *in = &node->inputs.items[i];
            fprintf(rows, "%s\t%s\t%s\t", node->name, in->port,
                    graph->buffers.items[in->buffer].name);
            graph_print_in_rates(rows, node, in);
            fputc('\n', rows);
        }
        for (size_t i = 0; i < node->outputs.count; i++) {
            const struct graph_output *out = &node->outputs.items[i];
            fprintf(rows, "%s\t%s\t%s\t", node->name, out->port,
                    graph->buffers.items[out->buffer].name);
            graph_print_out_rates(rows, node, out);
            fputc('\n', rows);
        }
    }
    fputc('\n', to);
    folded_table_end(&table, to, (const int[]){0, 0, 0, 0}, 4, whole);
    arena_destroy(arena);
}

static void print_buffers(FILE *to, const struct graph *graph, bool whole)
{
    static const int widths[] = {0, 0, 8, 8, 10, 0};
    struct arena *arena = arena_create();
    struct folded_table table;
    FILE *rows = folded_table_begin(&table, arena);
    fputs("buffer\ttype\tdepth\tleast\tbytes\twhy\n", rows);
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        fprintf(rows, "%s\t%s\t%" PRIu64 "\t", buffer->name, type_text(arena, buffer->type),
                buffer->depth_packets);
        if (buffer->depth_min_packets)
            fprintf(rows, "%" PRIu64 "\t", buffer->depth_min_packets);
        else
            fputs("?\t", rows);
        if (buffer->outer == GRAPH_INNER)
            fprintf(rows, "%" PRIu64 "\t", buffer->depth_packets * buffer->width_bytes);
        else
            fputs(buffer->outer == GRAPH_OUTER_IN ? "in-port\t" : "out-port\t", rows);
        fprintf(rows, "%s\n", buffer->depth_reason ? buffer->depth_reason : "");
    }
    fputc('\n', to);
    folded_table_end(&table, to, widths, sizeof widths / sizeof widths[0], whole);
    arena_destroy(arena);
}

/* Where stages of different importance share compute units. */
static void print_ranks(FILE *to, const struct graph *graph, const struct plan *plan, bool whole)
{
    struct arena *arena = arena_create();
    const struct plan_ranks ranks = plan_find_ranks(arena, graph, plan);
    if (ranks.count > 0)
        fputs(
            "\nimportance on shared CUs: those above interrupt those below, between work-groups\n",
            to);
    for (uint32_t i = 0; i < ranks.count; i++) {
        const struct plan_rank *rank = &ranks.items[i];
        if (rank->sub_device == GRAPH_NONE)
            fputs("all CUs        ", to);
        else
            fprintf(to, "sub-device %-4" PRIu32, rank->sub_device);
        fprintf(to, " %3" PRIu32 "  ", rank->importance);
        const char **names = ARENA_ARRAY(arena, const char *, (size_t)rank->stage_count + 1);
        for (uint32_t k = 0; k < rank->stage_count; k++)
            names[k] = graph->nodes.items[plan->stages[rank->stages[k]].node].name;
        for (uint32_t k = 0, run; k < rank->stage_count; k += run) {
            run = whole ? 1 : (uint32_t)name_run(names + k, rank->stage_count - k);
            fprintf(to, "%s%s", k > 0 ? ", " : "", name_fold(arena, names[k], names[k + run - 1]));
        }
        fputc('\n', to);
    }
    arena_destroy(arena);
}

void plan_print(FILE *to, const struct graph *graph, const struct plan *plan,
                const struct sched_program *program, bool whole)
{
    print_head(to, graph, plan, program, whole);
    print_stages(to, graph, plan, whole);
    print_packs(to, graph, plan, whole);
    print_ranks(to, graph, plan, whole);
    if (plan->index_count > 0) fputc('\n', to);
    for (uint32_t i = 0; i < plan->index_count; i++)
        plan_print_index(to, plan->indices[i].kernel->title, &plan->indices[i]);
    print_ports(to, graph, whole);
    print_buffers(to, graph, whole);
}
