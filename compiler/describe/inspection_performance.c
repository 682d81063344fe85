/* SPDX-License-Identifier: MIT */
#include "compiler/describe/inspection_performance.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/optimize/fuse/fuse.h"
#include "lang/devdesc.h"
#include "base/plural.h"
#include "compiler/ir/ratio.h"

static bool is_pace_known(const struct pace *pace)
{
    return pace->kind != THROUGHPUT_UNKNOWN;
}

/* Does another graph run than the one that was measured? */
static bool is_before_fusion(const struct inspection *inspection)
{
    const struct inspected_plan *plan = inspection->plan;
    return plan != NULL && plan->fusion != NULL && plan->fusion->composites.count > 0;
}

static bool has_timed_pace(const struct inspected_plan *plan)
{
    return plan != NULL && plan->timed_iterations > 0 && plan->timed_cycles > 0 &&
           plan->timed_cycles < UINT64_MAX;
}

/* ---- JSON ---- */

static void put_pace_ratio(struct json *json, const char *key, const struct pace *pace)
{
    char text[48] = "0/1"; /* stuck */
    if (pace->kind == THROUGHPUT_RATIO)
        snprintf(text, sizeof text, "%" PRIu64 "/%" PRIu64, pace->iterations, pace->cycles);
    const char *shown = pace->kind == THROUGHPUT_UNBOUNDED ? "unbounded" : text;
    json_text(json, key, is_pace_known(pace) ? shown : NULL);
}

/* Nodes and buffers in turn; the last buffer leads back to the first node. */
static void put_cycle(struct json *json, const char *key, const struct inspection *inspection,
                      const struct pace *pace)
{
    json_begin(json, key, '[');
    for (uint32_t i = 0; i < pace->hop_count; i++) {
        json_text(json, NULL, inspection->nodes[pace->hops[i].node].name);
        if (pace->hops[i].buffer != GRAPH_NONE)
            json_text(json, NULL, inspection->buffers[pace->hops[i].buffer].name);
    }
    json_end(json, ']');
}

void performance_put(struct json *json, const struct inspection *inspection)
{
    const struct performance *performance = inspection->performance;
    if (performance == NULL) {
        json_text(json, "throughput", NULL);
        json_text(json, "latency_cycles", NULL);
        return;
    }
    json_begin(json, "throughput", '{');
    json_boolean(json, "before_fusion", is_before_fusion(inspection));
    put_pace_ratio(json, "iterations_per_cycle", &performance->unlimited);
    put_cycle(json, "critical_cycle", inspection, &performance->unlimited);
    put_pace_ratio(json, "at_depths", &performance->at_depths);
    put_cycle(json, "at_depths_critical_cycle", inspection, &performance->at_depths);
    json_end(json, '}');
    if (performance->latency.known)
        json_number(json, "latency_cycles", performance->latency.cycles);
    else
        json_text(json, "latency_cycles", NULL);
}

void performance_put_exact(struct json *json, const struct inspection *inspection)
{
    const struct performance *performance = inspection->performance;
    json_boolean(json, "throughput",
                 performance != NULL && is_pace_known(&performance->unlimited) &&
                     performance->unlimited.exact);
    json_boolean(json, "throughput_at_depths",
                 performance != NULL && is_pace_known(&performance->at_depths) &&
                     performance->at_depths.exact);
    json_boolean(json, "latency", performance != NULL && performance->latency_exact);
}

void performance_put_timed(struct json *json, const struct inspected_plan *plan)
{
    if (!has_timed_pace(plan)) return;
    uint64_t common = gcd64(plan->timed_iterations, plan->timed_cycles);
    struct pace pace = {.kind = THROUGHPUT_RATIO,
                        .iterations = plan->timed_iterations / common,
                        .cycles = plan->timed_cycles / common};
    put_pace_ratio(json, "iterations_per_cycle", &pace);
}

/* ---- in words ---- */

/* With bounded rates a figure is an assumption; else the model waits longer than necessary. */
static const char *hedge_words(const struct inspection *inspection, bool exact, const char *bound)
{
    if (exact) return "";
    return inspection->rates_bounded ? "about " : bound;
}

/* "1/24 iterations per clock cycle: ..."; `unbounded`: the text if there is no limit. */
static void print_pace(FILE *to, const struct inspection *inspection, const struct pace *pace,
                       const char *unbounded)
{
    switch (pace->kind) {
    case THROUGHPUT_UNKNOWN: fputs("not found within the budget\n", to); return;
    case THROUGHPUT_UNBOUNDED: fprintf(to, "unbounded: %s\n", unbounded); return;
    case THROUGHPUT_STUCK: fputs("none: it deadlocks, round ", to); break;
    case THROUGHPUT_RATIO:
        fprintf(to, "%s%" PRIu64 "/%" PRIu64 " iterations per clock cycle: limited by ",
                hedge_words(inspection, pace->exact, "at least "), pace->iterations, pace->cycles);
        break;
    }
    if (pace->hops[0].buffer == GRAPH_NONE)
        fprintf(to, "'%s', whose firings do not overlap",
                inspection->nodes[pace->hops[0].node].name);
    else {
        uint32_t shown =
            pace->hop_count < PERFORMANCE_HOPS_MAX ? pace->hop_count : PERFORMANCE_HOPS_MAX;
        for (uint32_t i = 0; i < shown; i++) {
            const struct pace_hop *hop = &pace->hops[i];
            fprintf(to, "'%s' -> %s'%s' -> ", inspection->nodes[hop->node].name,
                    hop->room ? "room in " : "", inspection->buffers[hop->buffer].name);
        }
        if (shown < pace->hop_count)
            fprintf(to, "... (%" PRIu32 " more) -> ", pace->hop_count - shown);
        fprintf(to, "'%s'", inspection->nodes[pace->hops[0].node].name);
    }
    fputc('\n', to);
}

static void print_inspected_latency(FILE *to, const struct inspection *inspection,
                                    const struct performance *performance)
{
    const struct latency *latency = &performance->latency;
    if (!latency->known) {
        fputs("not found\n", to);
        return;
    }
    fprintf(to, "%s%" PRIu64 " cycle%s until ",
            hedge_words(inspection, performance->latency_exact, "at most "), latency->cycles,
            plural(latency->cycles));
    if (latency->buffer != GRAPH_NONE)
        fprintf(to, "the first packet of '%s'\n", inspection->buffers[latency->buffer].name);
    else
        fprintf(to, "'%s' has fired\n", inspection->nodes[latency->node].name);
}

/* In an iteration, all nodes that read one port read the same number of packets. */
static uint64_t packets_at(const struct inspection *inspection, uint32_t buffer)
{
    for (uint32_t n = 0; n < inspection->node_count; n++) {
        const struct inspected_node *node = &inspection->nodes[n];
        bool out = inspection->buffers[buffer].outer == GRAPH_OUTER_OUT;
        const struct inspected_end *ends = out ? node->outputs : node->inputs;
        uint32_t count = out ? node->output_count : node->input_count;
        for (uint32_t i = 0; i < count; i++)
            if (ends[i].buffer == buffer) {
                /* The packets of an iteration; 0: not known. */
                uint64_t sum = ends[i].low, cycles = node->repetitions / node->phases, packets;
                if (ends[i].lows != NULL) {
                    sum = 0;
                    for (uint32_t p = 0; p < node->phases; p++)
                        sum += ends[i].lows[p]; /* 1024 phases of 2^31 at most */
                }
                return __builtin_mul_overflow(sum, cycles, &packets) ? 0 : packets;
            }
    }
    return 0;
}

enum { PORTS_MAX = 8 }; /* shown */

static void print_advice(FILE *to, const struct inspection *inspection)
{
    uint32_t cores;
    const char *mode = inspection->buffers_mode;
    if (mode == NULL || strcmp(mode, "min") != 0 || inspection->plan == NULL ||
        !devdesc_host_cores(inspection->plan->device, &cores))
        return;
    fputs("slow       with minimum depths (--buffers=min) each dispatch is a few firings, and "
          "costs "
          "the host's cores more than these\n",
          to);
}

/* "throughput 64 iterations take 1000 cycles on sim16, once buffers are filled" */
static void print_timed(FILE *to, const struct inspected_plan *plan)
{
    if (!has_timed_pace(plan)) return;
    fprintf(to,
            "throughput %" PRIu64 " iteration%s %" PRIu64
            " cycle%s on %s, once buffers are filled\n",
            plan->timed_iterations, plan->timed_iterations == 1 ? " takes" : "s take",
            plan->timed_cycles, plural(plan->timed_cycles), plan->device);
}

void performance_print(FILE *to, const struct inspection *inspection)
{
    const struct performance *performance = inspection->performance;
    if (performance == NULL) return;
    fputc('\n', to);
    print_timed(to, inspection->plan);
    if (is_before_fusion(inspection))
        fputs("of the pipeline as it is written, before neighbours become one stage\n", to);
    /* "iteration 147 packets from 'cd', 160 packets to 'dat'", where rates are exact. */
    uint32_t shown = 0;
    if (!inspection->rates_bounded) {
        for (uint32_t b = 0; b < inspection->buffer_count && shown <= PORTS_MAX; b++) {
            const struct inspected_buffer *buffer = &inspection->buffers[b];
            uint64_t packets = buffer->outer == GRAPH_INNER ? 0 : packets_at(inspection, b);
            if (packets == 0) continue;
            fputs(shown == 0 ? "iteration  " : ", ", to);
            if (shown++ == PORTS_MAX)
                fputs("...", to);
            else
                fprintf(to, "%" PRIu64 " packet%s %s '%s'", packets, packets == 1 ? "" : "s",
                        buffer->outer == GRAPH_OUTER_IN ? "from" : "to", buffer->name);
        }
        if (shown > 0) fputc('\n', to);
    }
    fputs("idealised, with free launches and any number of compute units:\nunlimited  ", to);
    print_pace(to, inspection, &performance->unlimited,
               "nothing but the depths of buffers limits it");
    fputs("at depths  ", to);
    print_pace(to, inspection, &performance->at_depths, "these depths do not limit it either");
    fputs("latency    ", to);
    print_inspected_latency(to, inspection, performance);
    print_advice(to, inspection);
}
