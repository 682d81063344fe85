/* SPDX-License-Identifier: MIT */
#include "compiler/describe/front_print.h"

#include <inttypes.h>

#include "base/plural.h"

/* The first node of a part names it. */
static const char *part_name(const struct graph *graph, uint32_t component)
{
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.items[i].component == component) return graph->nodes.items[i].name;
    return "";
}

static bool has_front_parts(const struct graph_front *front)
{
    for (size_t i = 1; i < front->points.count; i++)
        if (front->points.items[i].component != front->points.items[0].component) return true;
    return false;
}

/* Does the mode choose its depth, and do the rows count it? */
static bool is_depth_chosen(const struct graph_buffer *buffer, bool with_ports)
{
    return !buffer->depth_declared && (with_ports || buffer->outer == GRAPH_INNER);
}

/* ---- text ---- */

enum { PACE_SIZE = 48 };

static void word_pace(char text[PACE_SIZE], const struct graph_tradeoff *row)
{
    if (row->cycles == 0)
        snprintf(text, PACE_SIZE, "unbounded");
    else
        snprintf(text, PACE_SIZE, "%" PRIu64 "/%" PRIu64, row->iterations, row->cycles);
}

__extension__ typedef unsigned __int128 product;

/* The speed relative to the row `first`: "1.62".  In integers, so that every host prints the
 * same. */
static void word_speed(char text[PACE_SIZE], const struct graph_tradeoff *row,
                       const struct graph_tradeoff *first)
{
    product above = (product)row->iterations * first->cycles;
    product below = (product)row->cycles * first->iterations, hundreds;
    snprintf(text, PACE_SIZE, "-");
    if (below == 0 || __builtin_mul_overflow(above, 200, &hundreds)) return;
    hundreds = (hundreds / below + 1) / 2;
    if (hundreds > UINT64_MAX) return;
    snprintf(text, PACE_SIZE, "%" PRIu64 ".%02" PRIu64, (uint64_t)hundreds / 100,
             (uint64_t)hundreds % 100);
}

/* For a long part, the table shows the first rows, where little memory gains much speed.  After them it shows
 * only rows that are a quarter faster than the row above, and always the last row. */
enum { ROWS_OF_SHORT_PART = 32, FIRST_ROWS = 8 };

static bool is_quarter_faster(const struct graph_tradeoff *row, const struct graph_tradeoff *than)
{
    product left = (product)row->iterations * than->cycles;
    product right = (product)row->cycles * than->iterations;
    return __builtin_mul_overflow(left, 4, &left) || __builtin_mul_overflow(right, 5, &right) ||
           left >= right;
}

/* Number of rows from `first` on that belong to its part. */
static size_t part_rows(const struct graph_front *front, size_t first)
{
    size_t count = 0;
    while (first + count < front->points.count &&
           front->points.items[first + count].component == front->points.items[first].component)
        count++;
    return count;
}

/* Prints the depths that differ from the row above; of a first row all. */
static void print_depths(FILE *to, const struct graph *graph, const struct graph_tradeoff *row,
                         const struct graph_tradeoff *above, bool with_ports)
{
    const char *between = "";
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        if (!is_depth_chosen(buffer, with_ports) || (above && above->depths[i] == row->depths[i]))
            continue;
        fprintf(to, "%s%s %" PRIu64, between, buffer->name, row->depths[i]);
        between = ", ";
    }
    fputc('\n', to);
}

/* Prints the rows of a part; returns the number of rows left out. */
static size_t print_part(FILE *to, const struct graph *graph, const struct graph_tradeoff *rows,
                         size_t count, bool with_ports)
{
    const struct graph_tradeoff *above = NULL;
    size_t left_out = 0;
    fprintf(to, "\n%14s", "bytes");
    if (with_ports) fprintf(to, "  %14s", "in ports");
    fprintf(to, "  %22s  %8s  %s\n", "iterations per cycle", "times",
            "depths; then those that change");
    for (size_t i = 0; i < count; i++) {
        char pace[PACE_SIZE], speed[PACE_SIZE];
        if (count > ROWS_OF_SHORT_PART && i >= FIRST_ROWS && i + 1 < count &&
            !is_quarter_faster(&rows[i], above)) {
            left_out++;
            continue;
        }
        word_pace(pace, &rows[i]);
        word_speed(speed, &rows[i], rows);
        fprintf(to, "%14" PRIu64, rows[i].memory_bytes);
        if (with_ports) fprintf(to, "  %14" PRIu64, rows[i].port_bytes);
        fprintf(to, "  %22s  %8s  ", pace, speed);
        print_depths(to, graph, &rows[i], above, with_ports);
        above = &rows[i];
    }
    return left_out;
}

void front_print_text(FILE *to, const struct graph *graph)
{
    const struct graph_front *front = graph->front;
    bool parts = has_front_parts(front);
    size_t left_out = 0;
    fprintf(to, "memory against throughput of pipeline %s%s\n", graph->name,
            front->whole ? "" : ", not complete");
    for (size_t i = 0, count; i < front->points.count; i += count) {
        const struct graph_tradeoff *rows = &front->points.items[i];
        count = part_rows(front, i);
        if (parts)
            fprintf(to, "\npart of '%s', the others with their minimum memory",
                    part_name(graph, rows->component));
        left_out += print_part(to, graph, rows, count, false);
    }
    if (left_out > 0)
        fprintf(to,
                "\nleft out: %zu row%s, each less than a quarter faster than the one shown above "
                "it; --json has "
                "them\n",
                left_out, plural(left_out));
    if (front->whole)
        fputs("\ncomplete: no other depths are better than these\n", to);
    else
        fprintf(to, "\nnot complete: %s\n", front->reason);
}

void front_print_timed(FILE *to, const struct graph *graph, const struct plan *plan)
{
    const struct graph_front *front = plan->front;
    fprintf(to, "memory against throughput of pipeline %s by the clock of %s\n", graph->name,
            plan->device->name);
    if (front->points.count == 0)
        fputs("\nno trial finished\n\n", to);
    else
        (void)print_part(to, graph, front->points.items, front->points.count, true);
    fputs("\nfound by trials: they do not try all depths\n\nidealised, with free launches and any "
          "number of compute "
          "units:\n",
          to);
}

/* ---- JSON ---- */

static void put_row(struct json *json, const struct graph *graph, const struct graph_tradeoff *row,
                    bool with_ports)
{
    char pace[PACE_SIZE];
    word_pace(pace, row);
    json_begin(json, NULL, '{');
    if (!with_ports) json_text(json, "part", part_name(graph, row->component));
    json_number(json, "memory_bytes", row->memory_bytes);
    if (with_ports) json_number(json, "port_bytes", row->port_bytes);
    json_text(json, "iterations_per_cycle", pace);
    json_begin(json, "depths", '[');
    for (size_t i = 0; i < graph->buffers.count; i++) {
        if (!is_depth_chosen(&graph->buffers.items[i], with_ports)) continue;
        json_begin(json, NULL, '{');
        json_text(json, "buffer", graph->buffers.items[i].name);
        json_number(json, "depth_packets", row->depths[i]);
        json_end(json, '}');
    }
    json_end(json, ']');
    json_end(json, '}');
}

static void put_rows(struct json *json, const struct graph *graph, const struct graph_front *front,
                     bool with_ports)
{
    json_begin(json, "pareto", '[');
    for (size_t i = 0; i < front->points.count; i++)
        put_row(json, graph, &front->points.items[i], with_ports);
    json_end(json, ']');
}

void front_print_json(struct json *json, const struct graph *graph)
{
    put_rows(json, graph, graph->front, false);
}

void front_put_timed(struct json *json, const struct graph *graph, const struct graph_front *front)
{
    put_rows(json, graph, front, true);
}
