/* SPDX-License-Identifier: MIT */
#include "compiler/describe/dead_work_print.h"

#include <inttypes.h>

#include "compiler/optimize/constant_tables.h"
#include "compiler/optimize/region/dead_work.h"
#include "base/plural.h"

static void print_less_work(FILE *to, const struct reductions *reductions)
{
    fputs("\nless work\n", to);
    for (size_t i = 0; i < reductions->items.count; i++) {
        const struct reduction *r = &reductions->items.items[i];
        if (r->strands > 0) continue;
        fprintf(to, "  %s: %" PRIu64 " operations an iteration in place of %" PRIu64 "%s%s\n",
                r->members, r->operations, r->operations_before,
                r->linear ? ", one filter (--fast-math)" : "",
                r->ends_late ? ", the last packets when the stream ends" : "");
        if (r->block_packets > 0)
            fprintf(to,
                    "    in the frequency domain: %" PRIu64 " taps, blocks of %" PRIu64
                    " packets\n",
                    r->taps, r->block_packets);
    }
}

static void print_strands(FILE *to, const struct reductions *reductions)
{
    fputs("\nblocks taken apart\n", to);
    for (size_t i = 0; i < reductions->items.count; i++) {
        const struct reduction *r = &reductions->items.items[i];
        if (r->strands == 0) continue;
        fprintf(to,
                "  %s: %zu node%s, in each iteration %" PRIu64 " strand%s of %" PRIu64
                " operation%s\n",
                r->members, r->member_count, plural(r->member_count), r->strands,
                plural(r->strands), r->operations / r->strands, plural(r->operations / r->strands));
    }
}

void reduce_print(FILE *to, const struct graph *graph)
{
    if (graph->reductions == NULL) return;
    size_t strands = 0;
    for (size_t i = 0; i < graph->reductions->items.count; i++)
        strands += graph->reductions->items.items[i].strands > 0;
    if (strands < graph->reductions->items.count) print_less_work(to, graph->reductions);
    if (strands > 0) print_strands(to, graph->reductions);
}

void reduce_put_json(struct json *json, const struct graph *graph)
{
    json_begin(json, "left_out", '[');
    for (size_t i = 0; graph->reductions != NULL && i < graph->reductions->items.count; i++) {
        const struct reduction *r = &graph->reductions->items.items[i];
        json_begin(json, NULL, '{');
        json_text(json, "node", r->members);
        json_number(json, "members", r->member_count);
        json_number(json, "operations_before", r->operations_before);
        json_number(json, "operations", r->operations);
        json_boolean(json, "finishes", r->ends_late);
        json_boolean(json, "linear", r->linear);
        json_number(json, "strands", r->strands);
        json_number(json, "block_packets", r->block_packets);
        json_number(json, "taps", r->taps);
        json_end(json, '}');
    }
    json_end(json, ']');
}

void tables_print(FILE *to, const struct graph *graph)
{
    const struct constant_tables *tables = graph->constant_tables;
    if (tables == NULL || tables->items.count == 0) return;
    fputs("\ntables known when compiling, constants of the image\n", to);
    for (size_t i = 0; i < tables->items.count; i++)
        fprintf(to, "  '%s' of %s: %" PRIu64 " bytes\n", tables->items.items[i].table,
                tables->items.items[i].kernel, tables->items.items[i].bytes);
}

void tables_put_json(struct json *json, const struct graph *graph)
{
    const struct constant_tables *tables = graph->constant_tables;
    json_begin(json, "constant_tables", '[');
    for (size_t i = 0; tables != NULL && i < tables->items.count; i++) {
        json_begin(json, NULL, '{');
        json_text(json, "kernel", tables->items.items[i].kernel);
        json_text(json, "table", tables->items.items[i].table);
        json_number(json, "bytes", tables->items.items[i].bytes);
        json_end(json, '}');
    }
    json_end(json, ']');
}
