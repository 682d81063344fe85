/* SPDX-License-Identifier: MIT */
#include "compiler/describe/report_page.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "compiler/support/arena_text.h"
#undef json_boolean /* of jansson: base/json_write.h has a function of that name */
#include "base/json_write.h"
#include "compiler/describe/graph_svg.h"
#include "compiler/describe/inspection_performance.h"
#include "compiler/describe/page_file.h"

struct page {
    struct arena *arena;
    const struct report_subject *subject;
    struct json json;
    struct svg_boxes boxes;
    json_t *text_numbers; /* texts that occur often are written once, in `texts` */
    VEC(const char *) texts;
    json_t *run_buffers; /* by name, numbers in the report */
};

uint32_t report_page_bins(const struct run_report *report)
{
    size_t values = 5 * report->stages.count / 2 + 7 * report->buffers.count / 2 + 1;
    size_t bins = REPORT_TIMELINE_BYTES / values;
    if (bins > REPORT_BINS_MAX) return REPORT_BINS_MAX;
    return bins > REPORT_BINS_MIN ? (uint32_t)bins : REPORT_BINS_MIN;
}

/* ---- numbers of names and texts ---- */

static uint64_t number_text(struct page *page, const char *text)
{
    if (text == NULL) text = "";
    json_t *number = json_object_get(page->text_numbers, text);
    if (number != NULL) return (uint64_t)json_integer_value(number);
    json_object_set_new(page->text_numbers, text, json_integer((json_int_t)page->texts.count));
    vec_push(page->arena, &page->texts, text);
    return page->texts.count - 1;
}

/* A number, or -1 for GRAPH_NONE. */
static void put_number_or_none(struct page *page, uint32_t number)
{
    if (number != GRAPH_NONE)
        json_number(&page->json, NULL, number);
    else
        json_literal(&page->json, NULL, "-1");
}

static void number_run_buffers(struct page *page)
{
    const struct run_report *report = page->subject->report;
    page->run_buffers = json_object();
    for (size_t b = 0; b < report->buffers.count; b++)
        json_object_set_new(page->run_buffers, report->buffers.items[b].name,
                            json_integer((json_int_t)b));
}

/* ---- the program ---- */

static const char *end_text(struct page *page, const struct graph_node *node,
                            const struct graph_input *in, const struct graph_output *out)
{
    struct memory_text text;
    arena_text_begin(&text);
    if (in != NULL)
        graph_print_in_rates(text.file, node, in);
    else
        graph_print_out_rates(text.file, node, out);
    return arena_text_end(page->arena, &text, NULL);
}

static void put_end(struct page *page, const char *port, const char *rates, uint32_t buffer)
{
    json_begin(&page->json, NULL, '[');
    json_text(&page->json, NULL, port);
    json_number(&page->json, NULL, number_text(page, rates));
    json_number(&page->json, NULL, buffer);
    json_end(&page->json, ']');
}

static void put_node_row(struct page *page, uint32_t number)
{
    struct json *json = &page->json;
    const struct graph_node *node = &page->subject->graph->nodes.items[number];
    const struct inspected_node *inspected = &page->subject->inspection->nodes[number];
    json_begin(json, NULL, '[');
    json_text(json, NULL, node->name);
    json_number(json, NULL, number_text(page, node->kernel->title));
    json_number(json, NULL, inspected->line);
    json_number(json, NULL, page->boxes.shown[number]);
    json_number(json, NULL, inspected->repetitions);
    json_number(json, NULL, inspected->cost_cycles);
    put_number_or_none(page, page->subject->stage_of[number]);
    json_begin(json, NULL, '[');
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        put_end(page, in->port, end_text(page, node, in, NULL), in->buffer);
    }
    json_end(json, ']');
    json_begin(json, NULL, '[');
    for (size_t o = 0; o < node->outputs.count; o++) {
        const struct graph_output *out = &node->outputs.items[o];
        put_end(page, out->port, end_text(page, node, NULL, out), out->buffer);
    }
    json_end(json, ']');
    json_end(json, ']');
}

static void put_report_buffer(struct page *page, uint32_t number)
{
    struct json *json = &page->json;
    const struct inspected_buffer *buffer = &page->subject->inspection->buffers[number];
    json_t *place = json_object_get(page->run_buffers, buffer->name);
    const struct run_buffer *run =
        place != NULL ? &page->subject->report->buffers.items[json_integer_value(place)] : NULL;
    uint64_t depth = run != NULL ? run->depth_packets : buffer->depth_packets, bytes;
    if (__builtin_mul_overflow(depth, buffer->width_bytes, &bytes)) bytes = UINT64_MAX;
    json_begin(json, NULL, '[');
    json_text(json, NULL, buffer->name);
    json_number(json, NULL, number_text(page, buffer->type));
    json_number(json, NULL, (uint64_t)buffer->outer);
    json_number(json, NULL, depth);
    json_number(json, NULL, buffer->depth_min_packets);
    json_number(json, NULL, bytes);
    json_number(json, NULL, number_text(page, buffer->depth_reason));
    json_number(json, NULL, page->boxes.bundle[number]);
    put_number_or_none(page, place != NULL ? (uint32_t)json_integer_value(place) : GRAPH_NONE);
    json_number(json, NULL, run != NULL ? run->packets : 0);
    json_number(json, NULL, run != NULL ? run->high_water_packets : 0);
    json_end(json, ']');
}

/* ---- the plan ---- */

static void put_fact(struct page *page, const char *name, const char *text)
{
    if (text == NULL || text[0] == '\0') return;
    json_begin(&page->json, NULL, '[');
    json_text(&page->json, NULL, name);
    json_text(&page->json, NULL, text);
    json_end(&page->json, ']');
}

static const char *with_reason(struct page *page, const char *what, const char *reason)
{
    return reason != NULL ? arena_printf(page->arena, "%s: %s", what, reason) : what;
}

/* The text that a function has printed, without the last line feed. */
/* The text that a function has printed, without the last line feed. */
static const char *end_printed(struct page *page, struct memory_text *text)
{
    size_t size;
    const char *printed = arena_text_end(page->arena, text, &size);
    while (size > 0 && printed[size - 1] == '\n')
        size--;
    return arena_string(page->arena, printed, size);
}

static const char *schedule_text(struct page *page)
{
    const struct inspected_plan *plan = page->subject->inspection->plan;
    const char **names = ARENA_ARRAY(page->arena, const char *, (size_t)plan->stage_count + 1);
    struct memory_text text;
    if (plan->program == NULL) return "";
    for (uint32_t i = 0; i < plan->stage_count; i++)
        names[i] = plan->stages[i].name;
    arena_text_begin(&text);
    program_shape_print(text.file, names, plan->program, plan->guarded_reason, false);
    return end_printed(page, &text);
}

static const char *performance_text(struct page *page)
{
    struct memory_text text;
    arena_text_begin(&text);
    performance_print(text.file, page->subject->inspection);
    return end_printed(page, &text);
}

static void put_facts(struct page *page)
{
    const struct inspected_plan *plan = page->subject->inspection->plan;
    json_begin(&page->json, "facts", '[');
    if (plan != NULL) {
        put_fact(page, "device",
                 arena_printf(page->arena, "%s: %" PRIu32 " CUs of %" PRIu32 " lanes", plan->device,
                              plan->cu_count, plan->lanes));
        put_fact(page, "mode", with_reason(page, plan->mode, plan->mode_reason));
        put_fact(page, "partition", plan->partition);
        put_fact(page, "policy", with_reason(page, plan->policy, plan->policy_reason));
        put_fact(page, "batches", plan->batch_reason);
    }
    json_end(&page->json, ']');
}

/* ---- the run ---- */

/* The limit of the run, as piperun --stats says it. */
static const char *bottleneck_text(struct page *page)
{
    static const struct {
        const char *limit, *text;
    } words[] = {
        {"compute", "the compute units, mostly computing"},
        {"bandwidth", "the compute units, mostly waiting for memory: packets need the bandwidth"},
        {"launch", "the compute units, mostly with the overhead of launches"},
        {"children", "the compute units, mostly with kernels that kernels launch on the device"},
        {"switch", "the compute units, mostly with switches from one stage to another"},
        {"scheduler", "the scheduler, with its instructions"},
        {"host", "the host, which writes the inputs and reads the outputs"},
        {"arrivals", "the times at which packets arrive"},
    };
    const struct run_report *run = page->subject->report;
    double busy = run->total_cycles > 0
                      ? 100.0 * (double)run->limit_busy_cycles / (double)run->total_cycles
                      : 0;
    if (strcmp(run->limit, "dependencies") == 0)
        return arena_printf(
            page->arena,
            "limited by no resource: stages wait for each other; '%s' is busy longest, "
            "%.1f%% of the time",
            run->limit_stage, busy);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(run->limit, words[i].limit) != 0) continue;
        if (run->limit_stage[0] == '\0')
            return arena_printf(page->arena, "limited by %s, %.1f%% of the time", words[i].text,
                                busy);
        return arena_printf(page->arena, "limited by %s, %.1f%% of the time; most of it '%s'",
                            words[i].text, busy, run->limit_stage);
    }
    return "nothing was executed";
}

static void put_stage_row(struct page *page, const struct run_stage *stage)
{
    struct json *json = &page->json;
    const uint64_t parts[] = {stage->execute_cycles, stage->index_cycles,
                              stage->device_queue_cycles, stage->launch_cycles,
                              stage->switch_cycles};
    json_begin(json, NULL, '[');
    json_text(json, NULL, stage->name);
    json_number(json, NULL, stage->queue);
    json_number(json, NULL, stage->cu_count);
    json_number(json, NULL, stage->firings);
    json_number(json, NULL, stage->dispatches);
    json_numbers(json, NULL, 0, parts, sizeof parts / sizeof parts[0]);
    json_numbers(json, NULL, 0, stage->stall_cycles, RUN_CAUSES);
    json_text(json, NULL, stage->wait_cause);
    json_text(json, NULL, stage->wait_buffer);
    json_end(json, ']');
}

static void put_run_queues(struct page *page)
{
    const struct run_report *report = page->subject->report;
    json_begin(&page->json, "queues", '[');
    for (size_t q = 0; q < report->queues.count; q++) {
        const struct run_queue *queue = &report->queues.items[q];
        const uint64_t row[] = {queue->queue, queue->first_cu, queue->cu_count, queue->launches,
                                queue->busy_cycles};
        json_numbers(&page->json, NULL, 0, row, sizeof row / sizeof row[0]);
    }
    json_end(&page->json, ']');
    json_begin(&page->json, "memory", '[');
    for (size_t m = 0; m < report->memory.count; m++) {
        json_begin(&page->json, NULL, '[');
        json_text(&page->json, NULL, report->memory.items[m].key);
        json_number(&page->json, NULL, report->memory.items[m].bytes);
        json_end(&page->json, ']');
    }
    json_end(&page->json, ']');
}

/* A negative number stands for so many repetitions of the value before it. */
static void put_runs(struct page *page, const uint64_t *values, uint32_t count)
{
    json_begin(&page->json, NULL, '[');
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && values[end] == values[i];)
            end++;
        json_number(&page->json, NULL, values[i]);
        if (end - i > 1)
            json_literal(&page->json, NULL, arena_printf(page->arena, "-%" PRIu32, end - i - 1));
    }
    json_end(&page->json, ']');
}

static void put_timeline(struct page *page)
{
    struct json *json = &page->json;
    const struct run_report *report = page->subject->report;
    const struct run_timeline *timeline = page->subject->timeline;
    if (timeline == NULL) return;
    json_begin(json, "timeline", '{');
    json_number(json, "bins", timeline->bins);
    json_begin(json, "levels", '[');
    for (size_t b = 0; b < report->buffers.count; b++)
        put_runs(page, &timeline->levels[b * timeline->bins], timeline->bins);
    json_end(json, ']');
    json_begin(json, "busy", '[');
    for (size_t s = 0; s < report->stages.count; s++)
        put_runs(page, &timeline->busy[s * timeline->bins], timeline->bins);
    json_end(json, ']');
    json_end(json, '}');
}

static void put_data(struct page *page)
{
    struct json *json = &page->json;
    const struct report_subject *subject = page->subject;
    json_begin(json, NULL, '{');
    json_text(json, "pipeline", subject->report->pipeline);
    json_text(json, "device", subject->report->device);
    json_number(json, "clock_hz", subject->report->clock_hz);
    json_boolean(json, "real", subject->report->is_real_time);
    json_number(json, "cycles", subject->report->total_cycles);
    put_facts(page);
    json_begin(json, "nodes", '[');
    for (uint32_t n = 0; n < subject->graph->nodes.count; n++)
        put_node_row(page, n);
    json_end(json, ']');
    json_begin(json, "buffers", '[');
    for (uint32_t b = 0; b < subject->graph->buffers.count; b++)
        put_report_buffer(page, b);
    json_end(json, ']');
    json_begin(json, "stages", '[');
    for (size_t s = 0; s < subject->report->stages.count; s++)
        put_stage_row(page, &subject->report->stages.items[s]);
    json_end(json, ']');
    put_run_queues(page);
    put_timeline(page);
    json_begin(json, "texts", '[');
    for (size_t t = 0; t < page->texts.count; t++)
        json_text(json, NULL, page->texts.items[t]);
    json_end(json, ']');
    json_end(json, '}');
}

/* ---- the page ---- */

/* Between the tags of a script no text may look like a tag. */
static void put_script_data(FILE *to, struct page *page)
{
    struct memory_text text;
    size_t size;
    arena_text_begin(&text);
    page->json = (struct json){.to = text.file, .compact = true};
    put_data(page);
    const char *bytes = arena_text_end(page->arena, &text, &size);
    fputs("<script type=\"application/json\" id=\"data\">", to);
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == '<')
            fputs("\\u003c", to);
        else
            fputc(bytes[i], to);
    fputs("</script>\n", to);
}

static void put_page_head(FILE *to, struct page *page)
{
    const struct run_report *run = page->subject->report;
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'; script-src 'unsafe-inline'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" "
          "content=\"light dark\">\n<title>",
          to);
    svg_put_escaped(to, run->pipeline);
    fputs(": report</title>\n<style>\n", to);
    page_file_put(to, "report.css");
    fputs("</style></head>\n<body>\n<header><h1>", to);
    svg_put_escaped(to, run->pipeline);
    fputs(" on ", to);
    svg_put_escaped(to, run->device);
    fputs("</h1>\n<p class=\"limit\">", to);
    svg_put_escaped(to, bottleneck_text(page));
    double hertz = run->clock_hz > 0 ? (double)run->clock_hz : 1e9;
    fprintf(to,
            "</p>\n<p class=\"soft\">%s %" PRIu64 " %s, %.6g ms; %" PRIu64 " launches, %zu kernels "
            "in %zu stages; %" PRIu64 " suspensions for input</p>\n",
            run->is_real_time ? "real time:" : "simulated time:", run->total_cycles,
            run->is_real_time ? "ns" : "cycles", (double)run->total_cycles / hertz * 1e3,
            run->dispatches, page->subject->graph->nodes.count, run->stages.count,
            run->suspensions);
    const struct run_timeline *timeline = page->subject->timeline;
    if (timeline != NULL && timeline->omitted_events > 0)
        fprintf(to,
                "<p>The timeline has no events after cycle %" PRIu64
                ": a larger --trace-limit keeps "
                "more.</p>\n",
                timeline->complete_cycles);
    fputs("<noscript><p>The tables and the slider need JavaScript; the picture does "
          "not.</p></noscript></header>\n",
          to);
}

static const uint64_t *depths_of_run(struct page *page)
{
    const struct inspection *inspection = page->subject->inspection;
    uint64_t *depths = ARENA_ARRAY(page->arena, uint64_t, (size_t)inspection->buffer_count + 1);
    for (uint32_t b = 0; b < inspection->buffer_count; b++) {
        json_t *place = json_object_get(page->run_buffers, inspection->buffers[b].name);
        if (place != NULL)
            depths[b] =
                page->subject->report->buffers.items[json_integer_value(place)].depth_packets;
    }
    return depths;
}

static void put_page_body(FILE *to, struct page *page)
{
    struct picture_look look = {
        .output = page->subject->output, .depths = depths_of_run(page), .untitled = true};
    fputs("<section id=\"time\"><button id=\"play\">play</button><input type=\"range\" "
          "id=\"slider\" min=\"0\" max=\"0\" value=\"0\" aria-label=\"time\"><output "
          "id=\"now\"></output></section>\n<section><h2>Topology</h2><p class=\"soft\">Colour: "
          "busy time in the run. At the time of the slider: thick borders are executing, lines "
          "are as thick as buffers are full.</p>\n<div class=\"scroll\">\n",
          to);
    graph_svg(to, page->arena, page->subject->cx, page->subject->graph, &look, &page->boxes);
    fputs("</div></section>\n<section id=\"over-time\"><h2>Sub-devices over time</h2><div "
          "id=\"stage-keys\"></div><div id=\"queues\"></div><h2>Buffers over time</h2><div "
          "id=\"fills\"></div></section>\n"
          "<section><h2>Where time went</h2><div id=\"time-keys\"></div><div "
          "id=\"where\"></div></section>\n"
          "<section><h2>Rates</h2><div id=\"rates\"></div></section>\n"
          "<section><h2>Depths, and why</h2><div id=\"depths\"></div></section>\n"
          "<section><h2>Memory</h2><div id=\"memory\"></div></section>\n"
          "<section><h2>Plan and schedule</h2><div id=\"plan\"></div><pre>",
          to);
    if (page->subject->inspection->plan != NULL) svg_put_lines_of_text(to, schedule_text(page));
    fputc('\n', to);
    svg_put_lines_of_text(to, performance_text(page));
    fputs("</pre></section>\n", to);
}

void report_page(FILE *to, const struct report_subject *subject)
{
    struct page page = {.arena = arena_create(), .subject = subject, .text_numbers = json_object()};
    number_run_buffers(&page);
    put_page_head(to, &page);
    put_page_body(to, &page);
    put_script_data(to, &page);
    fputs("<script>\n", to);
    page_file_put(to, "report.js");
    fputs("</script></body></html>\n", to);
    json_decref(page.text_numbers);
    json_decref(page.run_buffers);
    arena_destroy(page.arena);
}
