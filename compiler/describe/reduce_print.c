#include "compiler/describe/reduce_print.h"

#include <inttypes.h>

#include "compiler/fuse/constant_tables.h"
#include "compiler/fuse/reduce.h"

void reduce_print(FILE *to, const struct graph *graph)
{
    if (graph->reductions == NULL) return;
    fputs("\nless work\n", to);
    for (size_t i = 0; i < graph->reductions->items.count; i++) {
        const struct reduction *r = &graph->reductions->items.items[i];
        fprintf(to, "  %s: %" PRIu64 " operations an iteration in place of %" PRIu64 "%s%s\n",
                r->members, r->operations, r->operations_before,
                r->linear ? ", one filter (--fast-math)" : "",
                r->ends_late ? ", the last packets when the stream ends" : "");
    }
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
