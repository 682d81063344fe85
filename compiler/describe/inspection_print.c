/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "compiler/describe/fuse_print.h"
#include "compiler/describe/dead_work_print.h"
#include "compiler/describe/front_print.h"
#include "compiler/describe/inspection_performance.h"
#include "compiler/diagnostics/diag_list.h"
#include "compiler/support/folded_table.h"
#include "compiler/support/json_printed.h"
#include "base/plural.h"

enum { INSPECTION_VERSION = 1 };

/* ---- JSON ---- */

static void put_known(struct json *json, const char *key, enum known known)
{
    if (known == UNKNOWN)
        json_text(json, key, NULL);
    else
        json_boolean(json, key, known == KNOWN_TRUE);
}

static void put_if(struct json *json, const char *key, bool is_known, uint64_t number)
{
    if (is_known)
        json_number(json, key, number);
    else
        json_text(json, key, NULL);
}

static void put_inspected_ends(struct json *json, const struct inspection *inspection,
                               const struct inspected_node *node, bool outputs)
{
    const struct inspected_end *ends = outputs ? node->outputs : node->inputs;
    uint32_t count = outputs ? node->output_count : node->input_count;
    json_begin(json, outputs ? "outputs" : "inputs", '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct inspected_end *end = &ends[i];
        json_begin(json, NULL, '{');
        json_text(json, "port", end->port);
        json_text(json, "buffer", inspection->buffers[end->buffer].name);
        json_numbers(json, outputs ? "push_min" : "pop", end->low, end->lows, node->phases);
        json_numbers(json, outputs ? "push_max" : "peek", end->high, end->highs, node->phases);
        if (end->bundle) json_number(json, "bundle", end->bundle);
        if (end->bundle) json_number(json, "share", end->share);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_triple(struct json *json, const char *key, const uint32_t values[3])
{
    json_begin(json, key, '[');
    for (int i = 0; i < 3; i++)
        json_number(json, NULL, values[i]);
    json_end(json, ']');
}

static void put_checks(struct json *json, const struct inspected_node *node)
{
    if (!node->has_checks) {
        json_text(json, "checks", NULL);
        return;
    }
    json_begin(json, "checks", '{');
    json_number(json, "appends_proven", node->appends_proven);
    json_number(json, "appends_checked", node->appends_checked);
    json_number(json, "accesses_proven", node->accesses_proven);
    json_number(json, "accesses_checked", node->accesses_checked);
    json_end(json, '}');
}

static void put_warp(struct json *json, const struct inspected_node *node)
{
    if (node->warp.firings == 0) {
        json_text(json, "warp", NULL);
        return;
    }
    json_begin(json, "warp", '{');
    json_number(json, "cycles", node->warp.cycles);
    json_boolean(json, "counted", node->warp.counted);
    json_number(json, "firings", node->warp.firings);
    json_number(json, "pieces", node->warp.pieces);
    json_number(json, "finish_cycles", node->warp.finish_cycles);
    if (node->region_count != 0) {
        json_number(json, "constant", node->constant_cycles);
        json_begin(json, "regions", '[');
        for (uint32_t i = 0; i < node->region_count; i++) {
            json_begin(json, NULL, '{');
            json_text(json, "what", node->regions[i].what);
            put_if(json, "line", node->regions[i].line > 0, node->regions[i].line);
            json_number(json, "cycles", node->regions[i].cycles);
            json_end(json, '}');
        }
        json_end(json, ']');
    }
    json_end(json, '}');
}

static void put_launches(struct json *json, const struct inspected_node *node)
{
    if (node->children == NULL) return;
    json_number(json, "launches", node->launches);
    json_number(json, "nesting", node->nesting);
    json_number(json, "tree_launches", node->tree_launches);
    json_number(json, "queue_entries", node->queue_entries);
    json_begin(json, "children", '[');
    for (uint32_t i = 0; i < node->child_count; i++)
        json_text(json, NULL, node->children[i]);
    json_end(json, ']');
}

static void put_fused_nodes(struct json *json, const struct inspected_node *node)
{
    if (node->fused_count == 0) return;
    json_begin(json, "fused", '[');
    for (uint32_t i = 0; i < node->fused_count; i++) {
        json_begin(json, NULL, '{');
        json_text(json, "name", node->fused[i].name);
        json_number(json, "firings", node->fused[i].firings);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_nodes(struct json *json, const struct inspection *inspection)
{
    json_begin(json, "nodes", '[');
    for (uint32_t i = 0; i < inspection->node_count; i++) {
        const struct inspected_node *node = &inspection->nodes[i];
        json_begin(json, NULL, '{');
        json_text(json, "name", node->name);
        json_text(json, "kernel", node->kernel);
        json_text(json, "file", node->file);
        put_if(json, "line", node->line > 0, node->line);
        put_triple(json, "group", node->group);
        json_number(json, "phases", node->phases);
        put_if(json, "repetitions", node->repetitions > 0, node->repetitions);
        json_number(json, "importance", node->importance);
        json_boolean(json, "stateful", node->stateful);
        if (node->foreign != NULL) json_text(json, "foreign", node->foreign);
        if (node->unit != NULL) json_text(json, "unit", node->unit);
        put_if(json, "cost_cycles", node->cost_cycles > 0, node->cost_cycles);
        put_warp(json, node);
        put_if(json, "registers", node->registers > 0, node->registers);
        put_launches(json, node);
        put_checks(json, node);
        put_inspected_ends(json, inspection, node, false);
        put_inspected_ends(json, inspection, node, true);
        put_fused_nodes(json, node);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static const char *inspected_name(const struct inspection *inspection, uint32_t node)
{
    return node < inspection->node_count ? inspection->nodes[node].name : NULL;
}

static void put_inspected_buffer(struct json *json, const struct inspection *inspection,
                                 const struct inspected_buffer *buffer)
{
    json_begin(json, NULL, '{');
    json_text(json, "name", buffer->name);
    json_text(json, "type", buffer->type);
    json_text(json, "writer", inspected_name(inspection, buffer->writer));
    json_begin(json, "readers", '[');
    for (uint32_t i = 0; i < buffer->reader_count; i++)
        json_text(json, NULL, inspected_name(inspection, buffer->readers[i]));
    json_end(json, ']');
    json_number(json, "width_bytes", buffer->width_bytes);
    json_number(json, "initial_packets", buffer->initial_packets);
    put_if(json, "row_packets", buffer->row_packets > 0, buffer->row_packets);
    put_if(json, "frame_rows", buffer->frame_rows > 0, buffer->frame_rows);
    put_if(json, "depth_packets", buffer->depth_packets > 0, buffer->depth_packets);
    put_if(json, "depth_min_packets", buffer->depth_min_packets > 0, buffer->depth_min_packets);
    put_known(json, "depth_declared", buffer->depth_declared);
    json_text(json, "depth_reason", buffer->depth_reason);
    json_end(json, '}');
}

static void put_inspected_buffers(struct json *json, const struct inspection *inspection)
{
    if (inspection->argument_count > 0) {
        json_begin(json, "arguments", '[');
        for (uint32_t i = 0; i < inspection->argument_count; i++) {
            json_begin(json, NULL, '{');
            json_text(json, "name", inspection->arguments[i].name);
            json_text(json, "type", inspection->arguments[i].type);
            json_text(json, "value", inspection->arguments[i].value);
            json_end(json, '}');
        }
        json_end(json, ']');
    }
    json_begin(json, "buffers", '[');
    for (uint32_t i = 0; i < inspection->buffer_count; i++)
        put_inspected_buffer(json, inspection, &inspection->buffers[i]);
    json_end(json, ']');
}

static void put_index(struct json *json, const struct plan_index *index)
{
    json_begin(json, "indices", '{');
    json_number(json, "bits", index->bits);
    json_number(json, "register_bits", index->register_bits);
    put_triple(json, "step", index->step);
    json_number(json, "address_bytes", index->address_bytes);
    json_number(json, "bytes", index->bytes);
    json_boolean(json, "dedicated", index->dedicated);
    json_end(json, '}');
}

static void put_inspected_stages(struct json *json, const struct inspected_plan *plan)
{
    json_begin(json, "stages", '[');
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        const struct inspected_stage *stage = &plan->stages[i];
        json_begin(json, NULL, '{');
        json_begin(json, "nodes", '[');
        for (uint32_t k = 0; k < stage->member_count; k++)
            json_text(json, NULL, stage->members[k]);
        json_end(json, ']');
        if (stage->member_count > 1) json_text(json, "name", stage->name);
        if (plan->sub_devices != NULL)
            put_if(json, "sub_device", stage->sub_device != GRAPH_NONE, stage->sub_device);
        if (stage->cu_count > 0) json_number(json, "cu_count", stage->cu_count);
        json_number(json, "threshold", stage->threshold);
        if (stage->threshold_reason != NULL)
            json_text(json, "threshold_reason", stage->threshold_reason);
        json_number(json, "batch_max", stage->batch_max);
        json_number(json, "pack", stage->pack);
        json_number(json, "place", stage->place);
        if (stage->entry != GRAPH_NONE) {
            json_number(json, "reference_entry", stage->entry);
            json_boolean(json, "spilled", stage->spilled);
        }
        if (stage->index != NULL) put_index(json, stage->index);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_ranks(struct json *json, const struct inspected_plan *plan)
{
    json_begin(json, "ranks", '[');
    for (uint32_t i = 0; i < plan->ranks->count; i++) {
        const struct plan_rank *rank = &plan->ranks->items[i];
        json_begin(json, NULL, '{');
        put_if(json, "sub_device", rank->sub_device != GRAPH_NONE, rank->sub_device);
        json_number(json, "importance", rank->importance);
        json_begin(json, "nodes", '[');
        for (uint32_t k = 0; k < rank->stage_count; k++)
            json_text(json, NULL, plan->stages[rank->stages[k]].name);
        json_end(json, ']');
        json_end(json, '}');
    }
    json_end(json, ']');
}

/* ---- the schedule ---- */

/* By stage. */
static const char **list_stage_names(struct arena *arena, const struct inspection *inspection)
{
    const struct inspected_plan *plan = inspection->plan;
    const char **names = ARENA_ARRAY(arena, const char *, (size_t)plan->stage_count + 1);
    for (uint32_t i = 0; i < plan->stage_count; i++)
        names[i] = plan->stages[i].name;
    return names;
}

static void put_loops(struct json *json, const char *key, const char *const *names,
                      const struct schedule_part *part)
{
    struct memory_text text;
    arena_text_begin(&text);
    program_shape_print_part(text.file, names, part);
    json_printed_end(json, key, &text);
}

static void put_guarded(struct json *json, const char *const *names,
                        const struct inspected_plan *plan)
{
    json_begin(json, "guarded", '[');
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        if (plan->program->is_static[i]) continue;
        json_begin(json, NULL, '{');
        json_text(json, "node", names[i]);
        json_text(json, "reason", plan->guarded_reasons ? plan->guarded_reasons[i] : NULL);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_schedule(struct json *json, const struct inspection *inspection)
{
    const struct inspected_plan *plan = inspection->plan;
    const struct program_shape *program = plan->program;
    struct arena *arena = arena_create();
    const char *const *names = list_stage_names(arena, inspection);
    json_begin(json, "schedule", '{');
    json_text(json, "kind", program_shape_kind(program));
    json_text(json, "reason", plan->guarded_reason);
    if (program->prologue.op_count > 0)
        put_loops(json, "prologue", names, &program->prologue);
    else
        json_text(json, "prologue", NULL);
    json_begin(json, "iterations", '[');
    for (uint32_t i = 0; i < program->round_count; i++) {
        json_begin(json, NULL, '[');
        for (uint32_t k = 0; k < program->rounds[i].level_count; k++)
            put_loops(json, NULL, names, &program->rounds[i].levels[k]);
        json_end(json, ']');
    }
    json_end(json, ']');
    json_number(json, "static_stages", program->static_count);
    put_guarded(json, names, plan);
    json_number(json, "code_bytes", program->code_bytes);
    json_number(json, "static_bytes", program->static_bytes);
    json_number(json, "bytes_per_stage", program_shape_bytes_per_stage(program));
    json_end(json, '}');
    arena_destroy(arena);
}

static void put_memory(struct json *json, const struct inspected_plan *plan)
{
    const struct plan_memory *memory = plan->memory;
    json_begin(json, "memory", '{');
    json_number(json, "bytes", memory->total);
    json_number(json, "limit_bytes", plan->memory_limit_bytes);
    json_number(json, "buffers_bytes", memory->buffers);
    json_number(json, "ports_bytes", memory->ports);
    json_number(json, "blocks_bytes", memory->blocks);
    json_number(json, "indices_bytes", memory->indices);
    json_number(json, "device_queue_bytes", memory->device_queue);
    json_number(json, "launching_bytes", memory->launching);
    json_end(json, '}');
}

static void put_plan(struct json *json, const struct inspection *inspection)
{
    const struct inspected_plan *plan = inspection->plan;
    json_begin(json, "plan", '{');
    json_text(json, "device", plan->device);
    json_number(json, "cu_count", plan->cu_count);
    json_number(json, "lanes", plan->lanes);
    if (plan->mode != NULL) {
        json_text(json, "mode", plan->mode);
        json_text(json, "mode_reason", plan->mode_reason);
        json_text(json, "policy", plan->policy);
        json_text(json, "policy_reason", plan->policy_reason);
        if (plan->batch_reason != NULL) json_text(json, "batch_reason", plan->batch_reason);
        if (plan->depth_reason != NULL) json_text(json, "depth_reason", plan->depth_reason);
    }
    if (plan->sub_devices != NULL) {
        json_text(json, "partition", plan->partition);
        json_begin(json, "sub_devices", '[');
        for (uint32_t i = 0; i < plan->sub_device_count; i++)
            json_number(json, NULL, plan->sub_devices[i]);
        json_end(json, ']');
    }
    if (plan->memory != NULL) put_memory(json, plan);
    performance_put_timed(json, plan);
    if (plan->front != NULL) front_put_timed(json, plan->fusion->graph, plan->front);
    if (plan->ranks != NULL) put_ranks(json, plan);
    put_inspected_stages(json, plan);
    if (plan->fusion != NULL) fuse_put_json(json, plan->fusion);
    if (plan->fusion != NULL) reduce_put_json(json, plan->fusion->written);
    if (plan->fusion != NULL) tables_put_json(json, plan->fusion->graph);
    if (plan->program != NULL) put_schedule(json, inspection);
    json_end(json, '}');
}

static const char *counter_kind_name(enum counter_kind kind)
{
    switch (kind) {
    case COUNTER_NONE: return "none";
    case COUNTER_FOUND: return "deadlock";
    case COUNTER_OTHER: return "other";
    case COUNTER_UNSEARCHED: return "unsearched";
    case COUNTER_BEYOND: break;
    }
    return "undecided";
}

static void put_waits(struct json *json, const struct inspection *inspection,
                      const struct counterexample *found)
{
    json_begin(json, "circle", '[');
    for (uint32_t i = 0; i < found->wait_count; i++) {
        const struct counter_wait *wait = &found->waits[i];
        json_begin(json, NULL, '{');
        json_text(json, "node", inspected_name(inspection, wait->node));
        json_text(json, "waits_for", wait->room ? "room" : "packets");
        json_text(json, "buffer", inspection->buffers[wait->buffer].name);
        json_text(json, "of", inspected_name(inspection, wait->next));
        json_number(json, "fired", wait->fired);
        json_number(json, "there", wait->holds);
        json_number(json, "needs", wait->needs);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_counterexample(struct json *json, const struct inspection *inspection)
{
    const struct counterexample *found = inspection->counterexample;
    json_begin(json, "counterexample", '{');
    json_text(json, "kind", counter_kind_name(found->kind));
    if (found->kind == COUNTER_FOUND) {
        json_number(json, "firings", found->firings);
        json_begin(json, "sequence", '[');
        for (size_t i = 0; i < found->run_count; i++) {
            const struct counter_run *run = &found->runs[i];
            json_begin(json, NULL, '{');
            json_text(json, "node", inspected_name(inspection, run->node));
            if (run->node == GRAPH_NONE)
                json_text(json, "buffer", inspection->buffers[run->buffer].name);
            json_number(json, run->node == GRAPH_NONE ? "packets" : "firings", run->count);
            json_end(json, '}');
        }
        json_end(json, ']');
        put_waits(json, inspection, found);
        json_begin(json, "levels", '[');
        for (uint32_t i = 0; i < found->level_count; i++) {
            const struct counter_level *level = &found->levels[i];
            json_begin(json, NULL, '{');
            json_text(json, "buffer", inspection->buffers[level->buffer].name);
            json_number(json, "packets", level->packets);
            put_if(json, "depth_packets", level->depth > 0, level->depth);
            json_end(json, '}');
        }
        json_end(json, ']');
        json_boolean(json, "replayable", found->no_replay == NULL);
    }
    json_end(json, '}');
}

/* Is each depth known to be the minimum with the others as they are, or how much more it is? */
static bool has_least_depths(const struct inspection *inspection)
{
    for (uint32_t i = 0; i < inspection->buffer_count; i++)
        if (inspection->buffers[i].depth_min_packets == 0) return false;
    return inspection->has_memory;
}

static void put_images(struct json *json, const struct inspection *inspection)
{
    json_begin(json, "images", '[');
    for (uint32_t i = 0; i < inspection->image_count; i++) {
        const struct inspected_image *image = &inspection->images[i];
        json_begin(json, NULL, '{');
        json_text(json, "isa", image->isa);
        json_text(json, "features", image->features);
        json_number(json, "bytes", image->size_bytes);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_libraries(struct json *json, const struct inspection *inspection)
{
    if (inspection->library_count == 0) return;
    json_begin(json, "libraries", '[');
    for (uint32_t i = 0; i < inspection->library_count; i++)
        json_text(json, NULL, inspection->libraries[i]);
    json_end(json, ']');
}

static uint32_t count_foreign(const struct inspection *inspection)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < inspection->node_count; i++)
        count += inspection->nodes[i].foreign != NULL;
    return count;
}

void inspection_print_json(FILE *to, const struct inspection *inspection)
{
    struct json json = {.to = to};
    const char *rates = inspection->rates_bounded ? "bounded" : "exact";
    json_begin(&json, NULL, '{');
    json_number(&json, "version", INSPECTION_VERSION);
    json_text(&json, "pipeline", inspection->pipeline);
    if (inspection->compiler != NULL) {
        json_begin(&json, "container", '{');
        json_text(&json, "compiler", inspection->compiler);
        json_text(&json, "isa", inspection->isa);
        put_images(&json, inspection);
        put_libraries(&json, inspection);
        json_end(&json, '}');
    }
    json_text(&json, "rates", inspection->has_topology ? rates : NULL);
    put_known(&json, "consistent", inspection->consistent);
    put_known(&json, "deadlock_free", inspection->deadlock_free);
    put_if(&json, "memory_bytes", inspection->has_memory, inspection->memory_bytes);
    put_if(&json, "physical_bytes", inspection->has_memory && inspection->physical_bytes > 0,
           inspection->physical_bytes);
    json_text(&json, "buffers_mode", inspection->buffers_mode);
    json_text(&json, "depths_for", inspection->plan != NULL ? inspection->plan->device : NULL);
    json_boolean(&json, "debug_mode", inspection->debug_mode);
    if (count_foreign(inspection) > 0) json_boolean(&json, "equal_bits", false);
    put_if(&json, "memory_least_bytes", inspection->memory_least_bytes > 0,
           inspection->memory_least_bytes);
    put_nodes(&json, inspection);
    put_inspected_buffers(&json, inspection);
    performance_put(&json, inspection);
    json_begin(&json, "exact", '{');
    json_boolean(&json, "deadlock", inspection->deadlock_free != UNKNOWN);
    json_boolean(&json, "depths", has_least_depths(inspection));
    json_boolean(&json, "rates", inspection->has_topology && !inspection->rates_bounded);
    put_known(&json, "memory", inspection->memory_is_least);
    if (inspection->explored != NULL)
        json_boolean(&json, "pareto", inspection->explored->front->whole);
    performance_put_exact(&json, inspection);
    json_end(&json, '}');
    if (inspection->explored != NULL) front_print_json(&json, inspection->explored);
    if (inspection->plan != NULL) put_plan(&json, inspection);
    if (inspection->counterexample != NULL) put_counterexample(&json, inspection);
    if (inspection->diags != NULL) diag_list_json(inspection->diags, &json, "diagnostics");
    json_end(&json, '}');
}

/* ---- text ---- */

static void print_inspected_rate(FILE *to, uint64_t rate, const uint64_t *phases, uint32_t count)
{
    const uint64_t *rates = phases != NULL ? phases : &rate;
    graph_print_rate(to, phases != NULL ? count : 1, rates, rates);
}

static void print_ends(FILE *to, const struct inspection *inspection,
                       const struct inspected_node *node)
{
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct inspected_end *end = &node->inputs[i];
        fprintf(to, "    in  %s from %s pop ", end->port, inspection->buffers[end->buffer].name);
        print_inspected_rate(to, end->low, end->lows, node->phases);
        fputs(" peek ", to);
        print_inspected_rate(to, end->high, end->highs, node->phases);
        fputc('\n', to);
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct inspected_end *end = &node->outputs[i];
        fprintf(to, "    out %s to %s push ", end->port, inspection->buffers[end->buffer].name);
        print_inspected_rate(to, end->low, end->lows, node->phases);
        if (end->low != end->high || end->lows != NULL) {
            fputs(" to ", to);
            print_inspected_rate(to, end->high, end->highs, node->phases);
        }
        if (end->bundle)
            fprintf(to, " in bundle %" PRIu32 " share %" PRIu64, end->bundle, end->share);
        fputc('\n', to);
    }
}

static void print_node_launches(FILE *to, const struct inspected_node *node)
{
    if (node->children == NULL) return;
    fputs("    launches", to);
    for (uint32_t i = 0; i < node->child_count; i++)
        fprintf(to, "%s %s", i > 0 ? "," : "", node->children[i]);
    fprintf(to,
            ": %" PRIu64 " a firing, %" PRIu64 " with its tree, nesting %" PRIu64 ", %" PRIu64
            " in the device queue\n",
            node->launches, node->tree_launches, node->nesting, node->queue_entries);
}

/* "executes 4 one, 2 two": firings of the nodes of the program. */
static void print_fused_nodes(FILE *to, const struct inspected_node *node)
{
    enum { NAMES_SHOWN = 8 };
    for (uint32_t i = 0; i < node->fused_count && i < NAMES_SHOWN; i++)
        fprintf(to, "%s%" PRIu64 " %s", i == 0 ? "    executes " : ", ", node->fused[i].firings,
                node->fused[i].name);
    if (node->fused_count > NAMES_SHOWN)
        fprintf(to, ", ... (%" PRIu32 " nodes)", node->fused_count);
    if (node->fused_count > 0) fputc('\n', to);
}

/* Nodes, an empty line, and buffers.  Lines are the cells of a table, so that equal ones are
 * folded. */
static void print_inspected_nodes(FILE *to, const struct inspection *inspection, bool whole)
{
    struct arena *arena = arena_create();
    struct folded_table table;
    FILE *rows = folded_table_begin(&table, arena);
    for (uint32_t i = 0; i < inspection->node_count; i++) {
        const struct inspected_node *node = &inspection->nodes[i];
        const char *foreign = node->foreign == NULL     ? ""
                              : node->foreign[0] == 'p' ? " foreign pure"
                                                        : " foreign";
        fprintf(rows, "node %s: %s%s%s%s%s cost %" PRIu64 "%s repetitions %" PRIu64 "\n",
                node->name, node->kernel, node->unit != NULL ? " unit " : "",
                node->unit != NULL ? node->unit : "", foreign, node->stateful ? " stateful" : "",
                node->cost_cycles, node->warp.counted ? " counted" : "", node->repetitions);
        if (node->registers > 0) fprintf(rows, "    %" PRIu32 " registers\n", node->registers);
        print_ends(rows, inspection, node);
        print_node_launches(rows, node);
        print_fused_nodes(rows, node);
    }
    fputc('\n', rows);
    for (uint32_t i = 0; i < inspection->argument_count; i++) {
        const struct inspected_argument *argument = &inspection->arguments[i];
        fprintf(rows, "argument %s: %s%s%s\n", argument->name, argument->type,
                argument->value != NULL ? " = " : "",
                argument->value != NULL ? argument->value : "");
    }
    for (uint32_t i = 0; i < inspection->buffer_count; i++) {
        const struct inspected_buffer *buffer = &inspection->buffers[i];
        static const char *const words[] = {"buffer", "in-port", "out-port"};
        fprintf(rows, "%s %s: %s", words[buffer->outer], buffer->name, buffer->type);
        if (buffer->initial_packets > 0) fprintf(rows, " init %" PRIu64, buffer->initial_packets);
        if (buffer->row_packets > 0) fprintf(rows, " rows %" PRIu64, buffer->row_packets);
        if (buffer->frame_rows > 0) fprintf(rows, " by %" PRIu64, buffer->frame_rows);
        fprintf(rows, " depth %" PRIu64 " (%" PRIu64 " byte%s a packet)\n", buffer->depth_packets,
                buffer->width_bytes, plural(buffer->width_bytes));
    }
    folded_table_end(&table, to, (const int[]){0}, 1, whole);
    arena_destroy(arena);
}

static void print_foreign(FILE *to, const struct inspection *inspection)
{
    uint32_t count = count_foreign(inspection);
    if (count == 0) return;
    fprintf(to,
            "foreign  %" PRIu32
            " node%s: other compilers have made this code; equal bits are not promised\n",
            count, plural(count));
    for (uint32_t i = 0; i < inspection->library_count; i++)
        fprintf(to, "library  %s: foreign code needs it\n", inspection->libraries[i]);
}

void inspection_print_text(FILE *to, const struct inspection *inspection, bool whole)
{
    const struct inspected_plan *plan = inspection->plan;
    fprintf(to, "pipeline %s on %s: %" PRIu32 " CU%s of %" PRIu32 " lane%s\n", inspection->pipeline,
            plan->device, plan->cu_count, plan->cu_count == 1 ? "" : "s", plan->lanes,
            plan->lanes == 1 ? "" : "s");
    fprintf(to, "written  by %s for %s\n", inspection->compiler, inspection->isa);
    for (uint32_t i = 0; i < inspection->image_count; i++) {
        const struct inspected_image *image = &inspection->images[i];
        fprintf(to, "image    %s: %" PRIu64 " bytes; needs %s\n", image->isa, image->size_bytes,
                image->features[0] != '\0' ? image->features : "no more than any x86-64");
    }
    print_foreign(to, inspection);
    if (inspection->debug_mode) fputs("mode     debug: minimum depths, one kernel at a time\n", to);
    struct arena *arena = arena_create();
    program_shape_print(to, list_stage_names(arena, inspection), inspection->plan->program, NULL,
                        whole);
    arena_destroy(arena);
    fprintf(to, "memory   %" PRIu64 " bytes in buffers\n\n", inspection->memory_bytes);
    print_inspected_nodes(to, inspection, whole);
    fputc('\n', to);
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        const struct inspected_stage *stage = &inspection->plan->stages[i];
        fprintf(to, "stage %" PRIu32 " %s: threshold %" PRIu32 " batch %" PRIu64, i, stage->name,
                stage->threshold, stage->batch_max);
        if (stage->entry != GRAPH_NONE)
            fprintf(to, " pack %" PRIu32 " place %" PRIu32 " entry %" PRIu32 "%s", stage->pack,
                    stage->place, stage->entry, stage->spilled ? " spilled" : "");
        fputc('\n', to);
    }
    for (uint32_t i = 0; i < plan->stage_count; i++)
        if (plan->stages[i].index != NULL)
            plan_print_index(to, plan->stages[i].kernel, plan->stages[i].index);
    performance_print(to, inspection);
}
