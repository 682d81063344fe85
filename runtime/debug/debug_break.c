/* SPDX-License-Identifier: MIT */
#include "runtime/debug/debug_condition.h"
#include "runtime/debug/debug_internal.h"
#include "runtime/debug/debug_place.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum break_kind { BREAK_FIRING, BREAK_LEVEL, BREAK_VALUE, BREAK_CYCLE };

struct debug_break {
    struct debug_value value; /* LEVEL, VALUE: the value to compare with */
    char *text, *condition;
    uint64_t hits, ignore;
    const char *kernel; /* FIRING, where `stage` is PRT_NONE: of any node of it */
    uint64_t firing;
    uint64_t offset_bytes; /* VALUE: in the packet */
    uint64_t seen;         /* VALUE: packets that have been looked at */
    uint64_t cycles;       /* CYCLE */
    uint32_t number;
    enum break_kind kind;
    uint32_t stage, buffer; /* FIRING; LEVEL, VALUE; or PRT_NONE */
    enum debug_relation relation;
    enum scalar_type scalar;
    bool watch, temporary, enabled;
    bool spent;      /* met, and never again */
    bool one_firing; /* FIRING: only at `firing` */
    bool any;        /* VALUE: whatever it is */
    bool holds;      /* LEVEL: at the last look */
};

struct debug_breaks {
    struct debug_break *items;
    uint32_t count, made;
};

struct debug_breaks *prt_debugger_breaks_create(void)
{
    return calloc(1, sizeof(struct debug_breaks));
}

static void free_break(struct debug_break *b)
{
    free(b->text);
    free(b->condition);
}

void prt_debugger_breaks_free(struct debug_breaks *breaks)
{
    if (breaks == NULL) return;
    for (uint32_t i = 0; i < breaks->count; i++)
        free_break(&breaks->items[i]);
    free(breaks->items);
    free(breaks);
}

/* ---- names ---- */

/* `fir` is the kernel of `fir<8>`, too. */
static bool is_kernel(const char *title, const char *name)
{
    size_t length = strlen(name);
    return strncmp(title, name, length) == 0 && (title[length] == '\0' || title[length] == '<');
}

static const char *stage_title(const struct prt_debugger *d, uint32_t stage)
{
    return debug_text(d, prt_stage_node(d->sched, &d->sched->stages[stage])->kernel_title);
}

static uint32_t find_kernel_name(const struct prt_debugger *d, const char *name)
{
    for (uint32_t i = 0; i < d->container->stage_count && name[0] != '\0'; i++)
        if (is_kernel(stage_title(d, i), name)) return i;
    return PRT_NONE;
}

enum prt_status prt_debug_find_stage(const struct prt_debugger *d, const char *name,
                                     uint32_t *stage, struct prt_error *error)
{
    *stage = find_kernel_name(d, name);
    for (uint32_t i = d->container->stage_count; i-- > 0;)
        if (strcmp(debug_stage_name(d, i), name) == 0) *stage = i;
    if (*stage != PRT_NONE) return PRT_OK;
    return prt_debugger_refuse_name(d, DEBUG_NODES | DEBUG_KERNELS, name, error);
}

const char *prt_debug_name(const struct prt_debugger *d, uint32_t index)
{
    uint32_t stages = d->container->stage_count, buffers = d->container->buffer_count;
    if (index < stages) return debug_stage_name(d, index);
    if (index - stages < stages) return stage_title(d, index - stages);
    return index - 2 * stages < buffers ? debug_buffer_name(d, index - 2 * stages) : NULL;
}

/* ---- texts ---- */

static bool take_count(const char **at, uint64_t *count)
{
    struct debug_value value;
    if (!prt_debugger_take_number(at, &value) || value.kind != DEBUG_INTEGER || value.integer < 0 ||
        value.integer > (__int128)UINT64_MAX)
        return false;
    *count = (uint64_t)value.integer;
    return true;
}

/* [firing N], :N */
static enum prt_status read_firing_number(const char **at, struct debug_break *b,
                                          struct prt_error *error)
{
    prt_debugger_skip_blanks(at);
    bool colon = **at == ':';
    if (colon) ++*at;
    prt_debugger_skip_blanks(at);
    bool word = strncmp(*at, "firing", 6) == 0 && !isalnum((unsigned char)(*at)[6]);
    if (word) *at += 6;
    b->one_firing = colon || word;
    if (!b->one_firing || take_count(at, &b->firing)) return PRT_OK;
    return prt_error_set(error, PRT_E_USAGE, "the number of a firing is missing");
}

/* KERNEL [firing N] */
static enum prt_status read_kernel(const struct prt_debugger *d, const char **at,
                                   struct debug_break *b, struct prt_error *error)
{
    char name[DEBUG_PATH_MAX];
    prt_debugger_skip_blanks(at);
    size_t length = strcspn(*at, ": \t");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), *at);
    uint32_t stage = find_kernel_name(d, name);
    if (stage == PRT_NONE)
        return prt_debugger_refuse_name(d, DEBUG_NODES | DEBUG_KERNELS, *at, error);
    b->kind = BREAK_FIRING;
    b->kernel = stage_title(d, stage);
    *at += length;
    return read_firing_number(at, b, error);
}

/* NODE|KERNEL [firing N], NODE:N */
static enum prt_status read_firing(const struct prt_debugger *d, const char **at,
                                   struct debug_break *b, struct prt_error *error)
{
    b->kind = BREAK_FIRING;
    b->stage = prt_debugger_take_stage(d, at);
    return b->stage != PRT_NONE ? read_firing_number(at, b, error) : read_kernel(d, at, b, error);
}

static enum prt_status read_buffer(const struct prt_debugger *d, const char **at,
                                   struct debug_break *b, struct prt_error *error)
{
    prt_debugger_skip_blanks(at);
    const char *begin = *at;
    b->buffer = prt_debugger_take_buffer(d, at);
    if (b->buffer != PRT_NONE) return PRT_OK;
    if (*begin == '\0') return prt_error_set(error, PRT_E_USAGE, "the name of a buffer is missing");
    return prt_debugger_refuse_name(d, DEBUG_BUFFERS, begin, error);
}

static bool is_met_by_level(const struct prt_debugger *d, const struct debug_break *b)
{
    const struct core_fifo *fifo = d->sched->buffers[b->buffer].fifo;
    struct debug_value level = {
        .kind = DEBUG_INTEGER, .integer = (__int128)(fifo->written_packets - fifo->oldest_packets)};
    return prt_debugger_compare(level, b->relation, b->value);
}

/* BUFFER OP N */
static enum prt_status read_level_break(const struct prt_debugger *d, const char **at,
                                        struct debug_break *b, struct prt_error *error)
{
    b->kind = BREAK_LEVEL;
    enum prt_status status = read_buffer(d, at, b, error);
    if (status != PRT_OK) return status;
    if (d->container->buffers[b->buffer].outer == CONTAINER_OUTER_OUT)
        return prt_error_set(error, PRT_E_USAGE,
                             "'%s' is an out-port: the host takes its packets at once",
                             debug_buffer_name(d, b->buffer));
    if (!prt_debugger_take_relation(at, &b->relation) || !prt_debugger_take_number(at, &b->value))
        return prt_error_set(error, PRT_E_USAGE,
                             "a comparison is missing: break buffer %s >= NUMBER",
                             debug_buffer_name(d, b->buffer));
    b->holds = is_met_by_level(d, b);
    return PRT_OK;
}

/* BUFFER[.FIELD...] [OP V] */
static enum prt_status read_value(const struct prt_debugger *d, const char **at,
                                  struct debug_break *b, struct prt_error *error)
{
    char path[DEBUG_PATH_MAX];
    b->kind = BREAK_VALUE;
    enum prt_status status = read_buffer(d, at, b, error);
    if (status != PRT_OK) return status;
    b->seen = d->sched->buffers[b->buffer].fifo->written_packets;
    if (!prt_debugger_path_take(at, path)) return prt_error_set(error, PRT_E_USAGE, "too long");
    b->any = !prt_debugger_take_relation(at, &b->relation);
    if (b->any && path[0] == '\0') return PRT_OK;
    status = prt_debugger_packet_part(d, b->buffer, path, &b->scalar, &b->offset_bytes, error);
    if (status != PRT_OK || b->any) return status;
    if (prt_debugger_take_number(at, &b->value)) return PRT_OK;
    return prt_error_set(error, PRT_E_USAGE, "a number is missing after the comparison");
}

static bool take_kind(const char **at, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0 || ((*at)[length] != ' ' && (*at)[length] != '\t'))
        return false;
    *at += length;
    return true;
}

static enum prt_status read_cycle(const char **at, struct debug_break *b, struct prt_error *error)
{
    b->kind = BREAK_CYCLE;
    if (take_count(at, &b->cycles)) return PRT_OK;
    return prt_error_set(error, PRT_E_USAGE, "the number of a cycle is missing");
}

static enum prt_status read_kind(const struct prt_debugger *d, const char **at,
                                 struct debug_break *b, struct prt_error *error)
{
    prt_debugger_skip_blanks(at);
    if (b->watch || take_kind(at, "value")) return read_value(d, at, b, error);
    if (take_kind(at, "buffer")) return read_level_break(d, at, b, error);
    if (take_kind(at, "cycle")) return read_cycle(at, b, error);
    if (**at == '\0')
        return prt_error_set(error, PRT_E_USAGE,
                             "a node, a kernel, a buffer or a cycle is missing");
    if (take_kind(at, "kernel")) return read_kernel(d, at, b, error);
    return read_firing(d, at, b, error);
}

static enum prt_status check_condition(const struct prt_debugger *d, const char *text,
                                       struct prt_error *error)
{
    struct debug_value value;
    return prt_debugger_evaluate(d, text, 0, &value, error);
}

/* The text after the place: `if CONDITION`. */
static enum prt_status read_condition(const struct prt_debugger *d, const char *at,
                                      struct debug_break *b, struct prt_error *error)
{
    prt_debugger_skip_blanks(&at);
    bool given = strncmp(at, "if", 2) == 0 && strchr(" \t(", at[2]) != NULL; /* or its end */
    if (*at != '\0' && !given) return prt_debugger_refuse_rest(at, error);
    if (given) at += 2;
    prt_debugger_skip_blanks(&at);
    if (given && *at == '\0')
        return prt_error_set(error, PRT_E_USAGE, "a condition is missing after 'if'");
    enum prt_status status = *at != '\0' ? check_condition(d, at, error) : PRT_OK;
    if (status != PRT_OK) return status;
    b->condition = strdup(at);
    return b->condition != NULL ? PRT_OK : prt_error_set(error, PRT_E_NOMEM, "out of memory");
}

/* The part of the text before its condition, without blanks at its ends. */
static char *bare_text(const char *text, const char *condition)
{
    prt_debugger_skip_blanks(&text);
    size_t length = (size_t)(condition - text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    return strndup(text, length);
}

/* ---- the table ---- */

static bool make_break_room(struct prt_debugger *d)
{
    struct debug_breaks *t = d->breaks;
    size_t count = (size_t)t->count + 1;
    struct debug_break *items = realloc(t->items, count * sizeof *items);
    if (items != NULL) t->items = items;
    struct prt_break_hit *hits = realloc(d->hits, count * sizeof *hits);
    if (hits != NULL) d->hits = hits;
    return items != NULL && hits != NULL;
}

static enum prt_status add_breakpoint(struct prt_debugger *d, const char *text,
                                      struct debug_break *b, uint32_t *number,
                                      struct prt_error *error)
{
    const char *at = text;
    enum prt_status status = read_kind(d, &at, b, error);
    if (status == PRT_OK) b->text = bare_text(text, at);
    if (status == PRT_OK) status = read_condition(d, at, b, error);
    if (status == PRT_OK && (b->text == NULL || !make_break_room(d)))
        status = prt_error_set(error, PRT_E_NOMEM, "out of memory");
    if (status != PRT_OK) {
        free_break(b);
        return status;
    }
    *number = b->number = ++d->breaks->made;
    d->breaks->items[d->breaks->count++] = *b;
    return PRT_OK;
}

enum prt_status prt_debug_break(struct prt_debugger *d, const char *text, bool temporary,
                                uint32_t *number, struct prt_error *error)
{
    struct debug_break b = {
        .temporary = temporary, .enabled = true, .stage = PRT_NONE, .buffer = PRT_NONE};
    return add_breakpoint(d, text, &b, number, error);
}

enum prt_status prt_debug_watch(struct prt_debugger *d, const char *text, uint32_t *number,
                                struct prt_error *error)
{
    struct debug_break b = {.watch = true, .enabled = true, .stage = PRT_NONE, .buffer = PRT_NONE};
    return add_breakpoint(d, text, &b, number, error);
}

static struct debug_break *find_breakpoint(const struct prt_debugger *d, uint32_t number)
{
    for (uint32_t i = 0; i < d->breaks->count; i++)
        if (d->breaks->items[i].number == number) return &d->breaks->items[i];
    return NULL;
}

static enum prt_status find_live(struct prt_debugger *d, uint32_t number, struct debug_break **b,
                                 struct prt_error *error)
{
    *b = find_breakpoint(d, number);
    if (*b != NULL && !((*b)->temporary && (*b)->spent)) return PRT_OK;
    return prt_error_set(error, PRT_E_USAGE, "there is no breakpoint %" PRIu32, number);
}

bool prt_debug_break_information(const struct prt_debugger *d, uint32_t index,
                                 struct prt_break_information *information)
{
    for (uint32_t i = 0; i < d->breaks->count; i++) {
        const struct debug_break *b = &d->breaks->items[i];
        if ((b->temporary && b->spent) || index-- > 0) continue;
        *information = (struct prt_break_information){
            .number = b->number,
            .kind = b->watch ? "watchpoint" : "breakpoint",
            .text = b->text,
            .condition = b->condition,
            .temporary = b->temporary,
            .enabled = b->enabled,
            .hits = b->hits,
            .ignore = b->ignore,
        };
        return true;
    }
    return false;
}

enum prt_status prt_debug_break_delete(struct prt_debugger *d, uint32_t number,
                                       struct prt_error *error)
{
    struct debug_break *b;
    enum prt_status status = find_live(d, number, &b, error);
    if (status != PRT_OK) return status;
    struct debug_break *end = d->breaks->items + d->breaks->count--;
    free_break(b);
    memmove(b, b + 1, (size_t)(end - (b + 1)) * sizeof *b);
    return PRT_OK;
}

enum prt_status prt_debug_break_enable(struct prt_debugger *d, uint32_t number, bool enabled,
                                       struct prt_error *error)
{
    struct debug_break *b;
    enum prt_status status = find_live(d, number, &b, error);
    if (status != PRT_OK) return status;
    /* Packets that were written while it was disabled are skipped. */
    if (enabled && b->kind == BREAK_VALUE && !b->enabled)
        b->seen = d->sched->buffers[b->buffer].fifo->written_packets;
    b->enabled = enabled;
    return PRT_OK;
}

enum prt_status prt_debug_break_ignore(struct prt_debugger *d, uint32_t number, uint64_t count,
                                       struct prt_error *error)
{
    struct debug_break *b;
    enum prt_status status = find_live(d, number, &b, error);
    if (status == PRT_OK) b->ignore = count;
    return status;
}

enum prt_status prt_debug_break_condition(struct prt_debugger *d, uint32_t number,
                                          const char *condition, struct prt_error *error)
{
    struct debug_break *b;
    enum prt_status status = find_live(d, number, &b, error);
    if (status == PRT_OK && condition[0] != '\0') status = check_condition(d, condition, error);
    if (status != PRT_OK) return status;
    char *copy = strdup(condition);
    if (copy == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    free(b->condition);
    b->condition = copy;
    return PRT_OK;
}

bool prt_debugger_break_title(const struct prt_debugger *d, uint32_t number, char *kind,
                              size_t kind_size, char *text, size_t text_size)
{
    const struct debug_break *b = find_breakpoint(d, number);
    if (b == NULL) return false;
    snprintf(kind, kind_size, "%s",
             b->watch       ? "Watchpoint"
             : b->temporary ? "Temporary breakpoint"
                            : "Breakpoint");
    snprintf(text, text_size, "%s%s%s", b->text, b->condition[0] != '\0' ? " if " : "",
             b->condition);
    return true;
}

bool prt_debugger_break_is_level(const struct prt_debugger *d, uint32_t number)
{
    const struct debug_break *b = find_breakpoint(d, number);
    return b != NULL && b->kind == BREAK_LEVEL;
}

/* ---- are they met? ---- */

static bool is_break_wanted(const struct prt_debugger *d, struct debug_break *b, uint64_t firing)
{
    struct debug_value value;
    struct prt_error unheard;
    if (b->condition[0] != '\0' &&
        (prt_debugger_evaluate(d, b->condition, firing, &value, &unheard) != PRT_OK ||
         !prt_debugger_is_true(value)))
        return false;
    b->hits++;
    if (b->ignore > 0) {
        b->ignore--;
        return false;
    }
    return true;
}

static void record_hit(struct prt_debugger *d, struct debug_break *b, uint64_t firing,
                       struct prt_break_hit hit)
{
    if (!is_break_wanted(d, b, firing)) return;
    hit.number = b->number;
    d->hits[d->hit_count++] = hit;
    b->spent |= b->temporary;
}

static bool is_packet_written(const struct prt_debugger *d, const struct debug_break *b,
                              uint64_t packet)
{
    const uint8_t *bytes = prt_debugger_packet_bytes(d, b->buffer, packet);
    if (b->any || bytes == NULL) return bytes != NULL;
    return prt_debugger_compare(prt_debugger_scalar_value(b->scalar, bytes + b->offset_bytes),
                                b->relation, b->value);
}

static void look_at_value(struct prt_debugger *d, struct debug_break *b, uint64_t firing)
{
    uint64_t written = d->sched->buffers[b->buffer].fifo->written_packets;
    struct prt_break_hit hit = {.buffer = b->buffer};
    uint64_t found = 0;
    for (; b->seen < written; b->seen++) {
        if (!is_packet_written(d, b, b->seen)) continue;
        if (found++ == 0) hit.packet = b->seen;
    }
    if (found == 0) return;
    hit.others = found - 1;
    record_hit(d, b, firing, hit);
}

static void look_at_level(struct prt_debugger *d, struct debug_break *b, uint64_t firing)
{
    bool held = b->holds;
    b->holds = is_met_by_level(d, b);
    if (b->holds && !held) record_hit(d, b, firing, (struct prt_break_hit){.buffer = b->buffer});
}

void prt_debugger_breaks_look(struct prt_debugger *d, bool behind)
{
    uint64_t firing = behind ? d->last.firing : d->next.firing;
    for (uint32_t i = 0; i < d->breaks->count; i++) {
        struct debug_break *b = &d->breaks->items[i];
        if (!b->enabled || b->spent) continue;
        if (b->kind == BREAK_VALUE) look_at_value(d, b, firing);
        if (b->kind == BREAK_LEVEL) look_at_level(d, b, firing);
    }
}

static bool is_break_next(const struct prt_debugger *d, const struct debug_break *b)
{
    if (b->stage != PRT_NONE ? d->next.stage != b->stage
                             : strcmp(stage_title(d, d->next.stage), b->kernel) != 0)
        return false;
    return !b->one_firing || (!d->next.finish && d->next.firing == b->firing);
}

void prt_debugger_breaks_firing(struct prt_debugger *d)
{
    const struct prt_break_hit hit = {.buffer = PRT_NONE};
    for (uint32_t i = 0; i < d->breaks->count; i++) {
        struct debug_break *b = &d->breaks->items[i];
        if (!b->enabled || b->spent) continue;
        if (b->kind == BREAK_FIRING && is_break_next(d, b)) record_hit(d, b, d->next.firing, hit);
        if (b->kind != BREAK_CYCLE || prt_run_moment_cycles(d->run) < b->cycles) continue;
        record_hit(d, b, d->next.firing, hit);
        b->spent = true;
    }
}
