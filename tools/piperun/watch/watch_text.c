/* SPDX-License-Identifier: MIT */
#include "tools/piperun/watch/watch_text.h"

#include "base/plural.h"
#include "base/terminal_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- frames ---- */

void watch_frame_begin(struct watch_frame *frame, uint32_t columns, uint32_t rows, bool colour,
                       char *text, size_t size)
{
    *frame = (struct watch_frame){.columns = columns, .rows = rows, .colour = colour, .size = size};
    frame->text = text;
}

/* The bytes of `line` that fit so many columns. */
static size_t fitting_bytes(const char *line, uint32_t columns)
{
    size_t length = strlen(line), at = 0;
    uint32_t used = 0;
    while (at < length) {
        struct glyph glyph = glyph_at(line + at, length - at);
        if (used + glyph.columns > columns) break;
        used += glyph.columns;
        at += glyph.length;
    }
    return at;
}

void watch_frame_line(struct watch_frame *frame, bool strong, const char *line)
{
    const char *begin = strong && frame->colour ? "\033[1m" : "";
    const char *end = strong && frame->colour ? "\033[0m" : "";
    if (frame->columns < WATCH_COLUMNS_LEAST || frame->lines + 1 >= frame->rows) return;
    char piece[WATCH_LINE_BYTES + 32];
    int length = snprintf(piece, sizeof piece, "\r%s%.*s%s\033[K\n", begin,
                          (int)fitting_bytes(line, frame->columns - 1), line, end);
    if (length < 0 || (size_t)length >= sizeof piece || frame->size - frame->used < (size_t)length)
        return;
    memcpy(frame->text + frame->used, piece, (size_t)length);
    frame->used += (size_t)length;
    frame->lines++;
}

/* ---- numbers and names ---- */

/* "12.9 M": three or four digits. */
static const char *short_number(double number, char text[24])
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P"};
    size_t unit = 0;
    while (number >= (unit == 0 ? 9999.5 : 999.5) && unit + 1 < sizeof units / sizeof units[0]) {
        number /= 1000;
        unit++;
    }
    int digits = unit == 0 && (number >= 99.95 || number == floor(number)) ? 0
                 : number < 9.995                                          ? 2
                 : number < 99.95                                          ? 1
                                                                           : 0;
    snprintf(text, 24, "%.*f%s", digits, number, units[unit]);
    return text;
}

/* The name in so many columns, escaped; blanks follow it. */
static const char *name_cell(const char *name, unsigned columns, char text[WATCH_LINE_BYTES])
{
    char safe[WATCH_LINE_BYTES / 2];
    terminal_text_copy(safe, sizeof safe, name);
    bool whole = terminal_text_columns(safe) <= columns;
    size_t length = fitting_bytes(safe, whole ? columns : columns - 1);
    int used = snprintf(text, WATCH_LINE_BYTES, "%.*s%s", (int)length, safe, whole ? "" : "~");
    for (unsigned shown = terminal_text_columns(text);
         shown < columns && used + 1 < WATCH_LINE_BYTES; shown++)
        text[used++] = ' ';
    text[used] = '\0';
    return text;
}

/* ---- progress ---- */

/* From 0 to 1; -1: not known. */
static double port_progress(const struct watch_port *port)
{
    double progress = -1;
    if (port->whole.packets > 0)
        progress = (double)port->buffer.packets / (double)port->whole.packets;
    else if (port->whole.bytes > 0)
        progress = (double)port->read_bytes / (double)port->whole.bytes;
    return progress > 1 ? 1 : progress;
}

/* The in-port of which most is left, else one of which nothing is known, else an out-port; UINT32_MAX: there are none. */
static uint32_t leading_port(const struct watch_sample *now)
{
    uint32_t leading = UINT32_MAX;
    for (uint32_t i = 0; i < now->port_count; i++) {
        const struct watch_port *port = &now->ports[i];
        const struct watch_port *best = leading < UINT32_MAX ? &now->ports[leading] : NULL;
        if (best != NULL && best->input && !port->input) continue;
        double known = best != NULL && best->input ? port_progress(best) : -1;
        double progress = port_progress(port);
        bool better = best == NULL || best->input != port->input ||
                      (progress >= 0 && (known < 0 || progress < known));
        if (better) leading = i;
    }
    return leading;
}

/* A text of parts, each of which is there as a whole or not at all. */
struct parts {
    char *text;
    size_t size;
    uint32_t columns;
    bool full;
};

PRT_PRINTF(2, 3)
static void parts_add(struct parts *parts, const char *format, ...)
{
    char part[WATCH_LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(part, sizeof part, format, arguments);
    va_end(arguments);
    const char *between = parts->text[0] != '\0' ? ", " : "";
    size_t used = strlen(parts->text);
    if (terminal_text_columns(parts->text) + strlen(between) + terminal_text_columns(part) >
            parts->columns ||
        used + strlen(between) + strlen(part) >= parts->size)
        parts->full = true;
    if (!parts->full) snprintf(parts->text + used, parts->size - used, "%s%s", between, part);
}

static void add_time_left(struct parts *parts, const struct watch_sample *first,
                          const struct watch_sample *now, double progress)
{
    if (progress <= 0 || now->time_ns <= first->time_ns) return;
    double seconds = (double)(now->time_ns - first->time_ns) / 1e9 * (1 - progress) / progress;
    if (seconds >= 360000) return; /* a guess so far from the end says nothing */
    unsigned whole = (unsigned)(seconds + 0.5);
    if (whole >= 3600)
        parts_add(parts, "%u:%02u:%02u left", whole / 3600, whole / 60 % 60, whole % 60);
    else
        parts_add(parts, "%u:%02u left", whole / 60, whole % 60);
}

static uint64_t sum_firings(const struct watch_sample *sample)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < sample->stage_count; i++)
        sum += sample->stages[i].firings;
    return sum;
}

static void add_port_position(struct parts *parts, const struct watch_port *port)
{
    char name[WATCH_LINE_BYTES / 2], passed[24], whole[24];
    double progress = port_progress(port);
    terminal_text_copy(name, sizeof name, port->buffer.name);
    if (progress >= 0) parts_add(parts, "%d %%", (int)(100 * progress));
    short_number((double)port->buffer.packets, passed);
    if (port->whole.packets > 0)
        parts_add(parts, "%s of %s packets of '%s'", passed,
                  short_number((double)port->whole.packets, whole), name);
    else
        parts_add(parts, "%s packets of '%s'", passed, name);
}

void watch_progress_text(const struct watch_sample *first, const struct watch_sample *before,
                         const struct watch_sample *now, uint32_t columns, char *text, size_t size)
{
    struct parts parts = {.text = text, .size = size, .columns = columns};
    uint32_t port = leading_port(now);
    uint64_t passed, passed_before;
    char number[24], name[WATCH_LINE_BYTES / 2];
    text[0] = '\0';
    if (port < UINT32_MAX) {
        passed = now->ports[port].buffer.packets;
        passed_before = before->ports[port].buffer.packets;
        add_port_position(&parts, &now->ports[port]);
    } else {
        passed = sum_firings(now);
        passed_before = sum_firings(before);
        parts_add(&parts, "%s firings", short_number((double)passed, number));
    }
    parts_add(&parts, "%s/s",
              short_number(watch_per_second(before, now, passed - passed_before), number));
    if (port < UINT32_MAX) add_time_left(&parts, first, now, port_progress(&now->ports[port]));
    uint32_t slowest = watch_busiest_stage(before, now);
    if (slowest == UINT32_MAX) return;
    terminal_text_copy(name, sizeof name, now->stages[slowest].name);
    parts_add(&parts, "slowest stage '%s' (%d %% busy)", name,
              watch_busy_percent(before, now, slowest));
}

/* ---- the table ---- */

enum { STAGE_COLUMNS = 16, KERNEL_COLUMNS = 12, BAR_COLUMNS = 10 };

static void add_stage_line(struct watch_frame *frame, const struct watch_sample *before,
                           const struct watch_sample *now, uint32_t index, bool strong)
{
    const struct prt_stage_moment *stage = &now->stages[index];
    char line[4 * WATCH_LINE_BYTES], name[WATCH_LINE_BYTES], kernel[WATCH_LINE_BYTES];
    char state[WATCH_LINE_BYTES], buffer[WATCH_LINE_BYTES / 2] = "", firings[24], rate[24],
                                                            busy[16] = "-";
    static const char *const states[] = {[PRT_STAGE_READY] = "ready",
                                         [PRT_STAGE_IN_FLIGHT] = "executes",
                                         [PRT_STAGE_LACKS_PACKETS] = "waits for packets in",
                                         [PRT_STAGE_LACKS_ROOM] = "waits for room in",
                                         [PRT_STAGE_STOPPED] = "has stopped",
                                         [PRT_STAGE_FAULTED] = "has faulted",
                                         [PRT_STAGE_ENDED] = "has ended"};
    int percent = watch_busy_percent(before, now, index);
    if (percent >= 0) snprintf(busy, sizeof busy, "%d %%", percent);
    if (stage->buffer < now->buffer_count)
        terminal_text_copy(buffer, sizeof buffer, now->buffers[stage->buffer].name);
    snprintf(state, sizeof state, "%s%s%s%s", states[stage->doing], buffer[0] != '\0' ? " '" : "",
             buffer, buffer[0] != '\0' ? "'" : "");
    snprintf(
        line, sizeof line, "%s %s %8s %8s %6s  %s", name_cell(stage->name, STAGE_COLUMNS, name),
        name_cell(stage->kernel, KERNEL_COLUMNS, kernel),
        short_number((double)stage->firings, firings),
        short_number(watch_per_second(before, now, stage->firings - before->stages[index].firings),
                     rate),
        busy, state);
    watch_frame_line(frame, strong, line);
}

static double buffer_fill(const struct prt_buffer_moment *buffer)
{
    if (buffer->depth_packets == 0) return 0;
    double fill = (double)buffer->held_packets / (double)buffer->depth_packets;
    return fill > 1 ? 1 : fill;
}

static void add_buffer_line(struct watch_frame *frame, const struct watch_sample *before,
                            const struct watch_sample *now, uint32_t index)
{
    const struct prt_buffer_moment *buffer = &now->buffers[index];
    char line[2 * WATCH_LINE_BYTES], name[WATCH_LINE_BYTES], held[24], depth[24], rate[24];
    char bar[BAR_COLUMNS + 1];
    size_t filled = (size_t)(buffer_fill(buffer) * BAR_COLUMNS + 0.5);
    memset(bar, '.', BAR_COLUMNS);
    memset(bar, '#', filled);
    bar[BAR_COLUMNS] = '\0';
    snprintf(
        line, sizeof line, "%s [%s] %8s %8s %8s  %s", name_cell(buffer->name, STAGE_COLUMNS, name),
        bar, short_number((double)buffer->held_packets, held),
        short_number((double)buffer->depth_packets, depth),
        short_number(
            watch_per_second(before, now, buffer->packets - before->buffers[index].packets), rate),
        buffer->closed ? "closed" : "open");
    watch_frame_line(frame, false, line);
}

/* The heaviest first; of two equals the one declared first. */
static int compare_weights(const void *a, const void *b)
{
    const struct watch_weight *first = a, *second = b;
    if (first->weight != second->weight) return first->weight > second->weight ? -1 : 1;
    return first->index < second->index ? -1 : 1;
}

static int compare_indices(const void *a, const void *b)
{
    const struct watch_weight *first = a, *second = b;
    return first->index < second->index ? -1 : 1;
}

/* Brings the `shown` heaviest to the front, in the order of declaration. */
static void choose_heaviest(struct watch_weight *weights, uint32_t count, uint32_t shown)
{
    if (shown < count) qsort(weights, count, sizeof *weights, compare_weights);
    qsort(weights, shown, sizeof *weights, compare_indices);
}

static void add_rest_line(struct watch_frame *frame, uint32_t rest, const char *what)
{
    char line[64];
    if (rest == 0) return;
    snprintf(line, sizeof line, "... and %" PRIu32 " more %s%s", rest, what, plural(rest));
    watch_frame_line(frame, false, line);
}

/* So many lines, of `count`, if `lines` are left for all: one of them says how many are left out. */
static uint32_t lines_of_table(uint32_t count, uint32_t lines)
{
    if (count <= lines) return count;
    return lines > 0 ? lines - 1 : 0;
}

void watch_table(struct watch_frame *frame, const struct watch_sample *before,
                 const struct watch_sample *now, struct watch_weight *weights)
{
    char line[128];
    uint32_t slowest = watch_busiest_stage(before, now);
    /* two headings, and the row of the cursor */
    uint32_t room = frame->rows > frame->lines + 3 ? frame->rows - frame->lines - 3 : 0;
    uint32_t for_buffers = now->buffer_count < room / 2 ? now->buffer_count : room / 2;
    uint32_t shown = lines_of_table(now->stage_count, room - for_buffers);
    snprintf(line, sizeof line, "%-*s %-*s %8s %8s %6s", STAGE_COLUMNS, "stage", KERNEL_COLUMNS,
             "kernel", "firings", "/s", "busy");
    watch_frame_line(frame, false, line);
    for (uint32_t i = 0; i < now->stage_count; i++)
        weights[i] = (struct watch_weight){
            i, (double)(now->stages[i].busy_cycles - before->stages[i].busy_cycles)};
    choose_heaviest(weights, now->stage_count, shown);
    for (uint32_t i = 0; i < shown; i++)
        add_stage_line(frame, before, now, weights[i].index, weights[i].index == slowest);
    add_rest_line(frame, now->stage_count - shown, "stage");

    room = frame->rows > frame->lines + 2 ? frame->rows - frame->lines - 2 : 0;
    shown = lines_of_table(now->buffer_count, room);
    snprintf(line, sizeof line, "%-*s %-*s %8s %8s %8s", STAGE_COLUMNS, "buffer", BAR_COLUMNS + 2,
             "fill", "holds", "depth", "/s");
    watch_frame_line(frame, false, line);
    for (uint32_t i = 0; i < now->buffer_count; i++)
        weights[i] = (struct watch_weight){i, buffer_fill(&now->buffers[i])};
    choose_heaviest(weights, now->buffer_count, shown);
    for (uint32_t i = 0; i < shown; i++)
        add_buffer_line(frame, before, now, weights[i].index);
    add_rest_line(frame, now->buffer_count - shown, "buffer");
}

/* ---- the scope ---- */

enum { LABEL_COLUMNS = 11, DOTS_ACROSS = 2, DOTS_DOWN = 4, CELLS_ACROSS = 400 };

struct range {
    double least, most; /* least > most: no value is finite */
};

static struct range values_range(const double *values, size_t count)
{
    struct range range = {INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) continue;
        if (values[i] < range.least) range.least = values[i];
        if (values[i] > range.most) range.most = values[i];
    }
    return range;
}

/* The row of a value, counted from the top, of so many rows of dots. */
static uint32_t dot_row(struct range range, double value, uint32_t rows)
{
    /* halves: the difference of two finite values may be infinite */
    double height = range.most / 2 - range.least / 2;
    double part = height > 0 ? (range.most / 2 - value / 2) / height : 0.5;
    return (uint32_t)(part * (rows - 1) + 0.5);
}

/* The bits of the dots of a character of U+2800 by row and column. */
static const unsigned char dot_bits[DOTS_DOWN][DOTS_ACROSS] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

/* Sets the dots of one row of characters; `cells` have one byte each. */
static void draw_cells(unsigned char *cells, uint32_t cell_count, uint32_t row, uint32_t rows,
                       struct range range, const double *values, size_t count, bool braille)
{
    uint32_t across = braille ? DOTS_ACROSS : 1, down = braille ? DOTS_DOWN : 1;
    size_t dots = (size_t)cell_count * across;
    size_t used = count < dots ? count : dots;
    memset(cells, 0, cell_count);
    for (size_t x = 0; x < used; x++) {
        size_t first = x * count / used, last = (x + 1) * count / used;
        struct range part = values_range(values + first, last - first);
        if (part.least > part.most) continue;
        uint32_t top = dot_row(range, part.most, rows * down),
                 bottom = dot_row(range, part.least, rows * down);
        for (uint32_t y = 0; y < down; y++)
            if (row * down + y >= top && row * down + y <= bottom)
                cells[x / across] |= dot_bits[y][x % across];
    }
}

static void add_scope_row(struct watch_frame *frame, const char *label, const unsigned char *cells,
                          uint32_t cell_count, bool braille)
{
    char line[LABEL_COLUMNS + 3 * CELLS_ACROSS + 16];
    int used = snprintf(line, sizeof line, "%*s ", LABEL_COLUMNS, label);
    for (uint32_t i = 0; i < cell_count && used > 0; i++) {
        if (braille && cells[i] != 0) { /* U+2800 and the dots, in UTF-8 */
            line[used++] = (char)0xe2;
            line[used++] = (char)(0xa0 + (cells[i] >> 6));
            line[used++] = (char)(0x80 + (cells[i] & 0x3f));
        } else {
            line[used++] = cells[i] != 0 ? '*' : ' ';
        }
    }
    line[used] = '\0';
    watch_frame_line(frame, false, line);
}

void watch_scope(struct watch_frame *frame, const char *title, const double *values, size_t count,
                 uint32_t rows, bool braille)
{
    unsigned char cells[CELLS_ACROSS];
    char label[32];
    struct range range = values_range(values, count);
    uint32_t cell_count =
        frame->columns > LABEL_COLUMNS + 2 ? frame->columns - LABEL_COLUMNS - 2 : 0;
    if (cell_count > CELLS_ACROSS) cell_count = CELLS_ACROSS;
    watch_frame_line(frame, true, title);
    for (uint32_t row = 0; row < rows; row++) {
        bool known = range.least <= range.most;
        label[0] = '\0';
        if (known && row == 0) snprintf(label, sizeof label, "%.4g", range.most);
        if (known && row + 1 == rows) snprintf(label, sizeof label, "%.4g", range.least);
        draw_cells(cells, cell_count, row, rows, range, values, known ? count : 0, braille);
        add_scope_row(frame, label, cells, cell_count, braille);
    }
}
