/* SPDX-License-Identifier: MIT */
#include "compiler/describe/prediction.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/plural.h"
#include "base/vec.h"
#include "compiler/plan/trial.h"

/* ---- the extent ---- */

/* The number at the begin of the text; *end: what follows.  False: there is none, or it is too large. */
static bool parse_count(const char *text, uint64_t *count, const char **end)
{
    char *rest;
    if (text[0] < '0' || text[0] > '9') return false;
    errno = 0;
    *count = strtoull(text, &rest, 10);
    *end = rest;
    return errno == 0 && *count < UINT64_MAX && (*rest == ',' || *rest == '\0');
}

static size_t find_bounded_in_port(const struct graph *graph, const char *name, size_t length)
{
    size_t i = 0;
    for (; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        if (buffer->outer == GRAPH_OUTER_IN && strlen(buffer->name) == length &&
            strncmp(buffer->name, name, length) == 0)
            break;
    }
    return i;
}

static const char *parse_port(struct arena *arena, const struct graph *graph, const char *text,
                              struct prediction_extent *extent, const char **end)
{
    size_t length = strcspn(text, "=,");
    size_t port = find_bounded_in_port(graph, text, length);
    if (text[length] != '=') return arena_printf(arena, "'%s' is not PORT=COUNT", text);
    if (port == graph->buffers.count)
        return arena_printf(arena, "pipeline '%s' has no in-port '%.*s'", graph->name, (int)length,
                            text);
    if (!parse_count(text + length + 1, &extent->packets[port], end))
        return arena_printf(arena, "'%s' is not a number of packets", text + length + 1);
    return NULL;
}

const char *prediction_parse(struct arena *arena, const struct graph *graph, const char *text,
                             struct prediction_extent *extent)
{
    const char *problem = NULL, *at = text;
    if (!parse_count(text, &extent->count, &at))
        return arena_printf(arena, "'%s' is not COUNT[,PORT=COUNT...]", text);
    extent->packets = ARENA_ARRAY(arena, uint64_t, graph->buffers.count + 1);
    for (size_t i = 0; i < graph->buffers.count; i++)
        extent->packets[i] = extent->count;
    while (problem == NULL && *at == ',')
        problem = parse_port(arena, graph, at + 1, extent, &at);
    return problem;
}

/* ---- assumptions ---- */

typedef VEC(const char *) text_list;

static bool appends_vary(const struct graph_node *node)
{
    for (size_t i = 0; i < node->outputs.count; i++)
        if (node->outputs.items[i].push_least != node->outputs.items[i].push) return true;
    return false;
}

static bool finish_appends(const struct graph_node *node)
{
    for (size_t i = 0; i < node->outputs.count; i++)
        if (node->outputs.items[i].finish_max > 0) return true;
    return false;
}

static void add_assumption(struct arena *arena, text_list *texts, const char *before,
                           const char *name, const char *after)
{
    vec_push(arena, texts, arena_printf(arena, "%s '%s' %s", before, name, after));
}

static text_list collect_assumptions(struct arena *arena, const struct graph *graph)
{
    text_list texts = {0};
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];
        const char *name = node->name;
        if (node->warp.counted)
            add_assumption(arena, &texts, "the cost of", name, "depends on data: estimated");
        if (appends_vary(node))
            add_assumption(arena, &texts, "what is appended by", name,
                           "depends on data: its maximum");
        if (finish_appends(node))
            add_assumption(arena, &texts, "what is appended by the finish of", name,
                           "is its maximum");
        if (node->kernel->stops) add_assumption(arena, &texts, "no stop of", name, "comes");
        if (node->kernel->launches.tree > 0)
            add_assumption(arena, &texts, "what is launched by", name,
                           "depends on data: its maximum");
    }
    return texts;
}

/* ---- printing ---- */

static void print_prediction_text(FILE *to, const struct plan *plan, const struct trial *trial,
                                  const text_list *assumptions)
{
    fprintf(to, "cycles     %" PRIu64 " on %s\ndispatches %" PRIu64 "\nexact      %s\n",
            trial->cycles, plan->device->name, trial->dispatches,
            assumptions->count == 0 ? "yes, unless a firing faults" : "no");
    for (size_t i = 0; i < assumptions->count; i++)
        fprintf(to, "assumed    %s\n", assumptions->items[i]);
}

static void print_prediction_json(FILE *to, const struct plan *plan, const struct trial *trial,
                                  const text_list *assumptions)
{
    struct json json = {.to = to};
    json_begin(&json, NULL, '{');
    json_text(&json, "device", plan->device->name);
    json_number(&json, "cycles", trial->cycles);
    json_number(&json, "dispatches", trial->dispatches);
    json_begin(&json, "assumptions", '[');
    for (size_t i = 0; i < assumptions->count; i++)
        json_text(&json, NULL, assumptions->items[i]);
    json_end(&json, ']');
    json_end(&json, '}');
}

bool prediction_print(FILE *to, struct arena *arena, const struct graph *graph,
                      const struct plan *plan, const struct prediction_extent *extent, bool as_json)
{
    struct trial trial = trial_stream(arena, graph, plan, extent->packets, extent->count);
    text_list assumptions = collect_assumptions(arena, graph);
    if (!trial.whole) return false;
    if (as_json)
        print_prediction_json(to, plan, &trial, &assumptions);
    else
        print_prediction_text(to, plan, &trial, &assumptions);
    return true;
}
