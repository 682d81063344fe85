/* SPDX-License-Identifier: MIT */
/* Changed scheduler programs: see schedule_mutant.h. */
#include "tests/schedules/schedule_mutant.h"

#include "lang/sched_code.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* MANY: launches that no guard interrupts are fewer (lang/scheduler.md, rule `launches`). */
enum { LINES_MAX = 4096, MANY = 1 << 20 };

/* An instruction; its label is the number of a line. */
struct line {
    enum sched_opcode opcode;
    uint32_t operands[SCHED_MAX_OPERANDS];
    const uint8_t *list;
    uint32_t offset;   /* in the code that it comes from, then in the code that is made */
    uint32_t identity; /* labels name it: lines move */
};

struct listing {
    const struct prt_container *c;
    struct line lines[LINES_MAX];
    uint32_t count, identities;
    uint64_t random;
};

static uint32_t draw(struct listing *l, uint64_t below)
{
    l->random ^= l->random << 13;
    l->random ^= l->random >> 7;
    l->random ^= l->random << 17;
    return (uint32_t)(below > 0 ? l->random % below : 0);
}

static int label_operand(enum sched_opcode opcode)
{
    const char *letters = sched_opcodes[opcode].operands, *label = strchr(letters, 'L');
    return label == NULL ? -1 : (int)(label - letters);
}

/* ---- from bytes and back ---- */

static void read_listing(struct listing *l)
{
    struct sched_instruction i;
    for (uint32_t at = 0; at < l->c->code_bytes && l->count < LINES_MAX / 2; at += i.size_bytes) {
        if (!sched_decode(l->c->code, l->c->code_bytes, at, &i)) abort();
        struct line *line = &l->lines[l->count];
        *line =
            (struct line){.opcode = i.opcode, .list = i.list, .offset = at, .identity = l->count++};
        memcpy(line->operands, i.operands, sizeof line->operands);
    }
    l->identities = l->count;
    for (uint32_t n = 0; n < l->count; n++) {
        int label = label_operand(l->lines[n].opcode);
        for (uint32_t t = 0; label >= 0 && t < l->count; t++) {
            if (l->lines[t].offset != l->lines[n].operands[label]) continue;
            l->lines[n].operands[label] = l->lines[t].identity;
            break;
        }
    }
}

/* The line that a label names; if it is gone, the last one. */
static uint32_t find_identity(const struct listing *l, uint32_t identity)
{
    for (uint32_t n = 0; n < l->count; n++)
        if (l->lines[n].identity == identity) return n;
    return l->count - 1;
}

static void append_line(struct sched_builder *builder, struct line *line)
{
    uint32_t list[256];
    bool listed = line->list != NULL && line->operands[0] <= 256;
    struct sched_instruction i = {.list = line->list};
    for (uint32_t k = 0; listed && k < line->operands[0]; k++)
        list[k] = sched_list_item(&i, k);
    line->offset = sched_build(builder, line->opcode, line->operands, listed ? list : NULL);
}

static struct schedule_code write_listing(struct listing *l)
{
    struct sched_builder builder = {0};
    for (uint32_t n = 0; n < l->count; n++)
        append_line(&builder, &l->lines[n]);
    for (uint32_t n = 0; n < l->count; n++) {
        int label = label_operand(l->lines[n].opcode);
        if (label < 0) continue;
        uint32_t target = find_identity(l, l->lines[n].operands[label]);
        sched_patch(&builder, l->lines[n].offset, (uint32_t)label, l->lines[target].offset);
    }
    if (builder.failed) abort();
    return (struct schedule_code){builder.code, builder.code_bytes};
}

/* ---- lines ---- */

/* The first line after the prologue. */
static uint32_t first_free(const struct listing *l)
{
    uint32_t n = 0;
    for (; n < l->count; n++) {
        enum sched_opcode o = l->lines[n].opcode;
        if (o == SCHED_ENDS || o == SCHED_RUN || o == SCHED_HAS_PACKETS || o == SCHED_HAS_ROOM ||
            o == SCHED_GOES_ON || o == SCHED_REPEAT || o == SCHED_CALL || o == SCHED_JUMP ||
            o == SCHED_FENCE || o == SCHED_WAIT || o == SCHED_ROUND_ROBIN || o == SCHED_PRIORITY ||
            o == SCHED_FULLEST)
            break;
    }
    return n;
}

static uint32_t draw_line(struct listing *l)
{
    uint32_t first = first_free(l);
    return l->count > first ? first + draw(l, l->count - first) : l->count - 1;
}

static void remove_line(struct listing *l, uint32_t at)
{
    uint32_t identity = l->lines[at].identity;
    if (l->count < 2) return;
    memmove(&l->lines[at], &l->lines[at + 1], (l->count - at - 1) * sizeof *l->lines);
    l->count--;
    /* Labels of it name what follows. */
    uint32_t next = l->lines[at < l->count ? at : l->count - 1].identity;
    for (uint32_t n = 0; n < l->count; n++) {
        int label = label_operand(l->lines[n].opcode);
        if (label >= 0 && l->lines[n].operands[label] == identity)
            l->lines[n].operands[label] = next;
    }
}

static void insert_line(struct listing *l, uint32_t at, struct line line)
{
    if (l->count == LINES_MAX) return;
    line.identity = l->identities++;
    memmove(&l->lines[at + 1], &l->lines[at], (l->count - at) * sizeof *l->lines);
    l->lines[at] = line;
    l->count++;
}

static uint32_t draw_identity(struct listing *l)
{
    return l->lines[draw_line(l)].identity;
}

/* ---- changes ---- */

static uint32_t other_number(struct listing *l, uint32_t value)
{
    switch (draw(l, 8)) {
    case 0: return value + 1;
    case 1: return value > 0 ? value - 1 : 1;
    case 2: return value * 2;
    case 3: return value / 2;
    case 4: return 1;
    case 5: return value + draw(l, 16);
    case 6: return 2 * MANY;
    default: return draw(l, 2 * (uint64_t)value + 2);
    }
}

static uint32_t other_operand(struct listing *l, char letter, uint32_t value)
{
    switch (letter) {
    case 'U': return other_number(l, value);
    case 'S': return draw(l, l->c->stage_count);
    case 'T': return draw(l, l->c->set_count);
    case 'L': return draw_identity(l);
    case 'D': return draw(l, 4);
    case 'I':
    case 'O': return draw(l, 3);
    default: return value;
    }
}

static void change_operand(struct listing *l)
{
    struct line *line = &l->lines[draw(l, 5) == 0 ? draw(l, l->count) : draw_line(l)];
    size_t operands = strlen(sched_opcodes[line->opcode].operands);
    if (operands == 0 || line->list != NULL) return;
    uint32_t which = draw(l, operands);
    line->operands[which] =
        other_operand(l, sched_opcodes[line->opcode].operands[which], line->operands[which]);
}

static void change_opcode(struct listing *l)
{
    static const enum sched_opcode kin[][3] = {
        {SCHED_ROUND_ROBIN, SCHED_PRIORITY, SCHED_FULLEST},
        {SCHED_JUMP, SCHED_WAIT, SCHED_CALL},
        {SCHED_HAS_PACKETS, SCHED_HAS_ROOM, SCHED_HAS_PACKETS},
        {SCHED_FENCE, SCHED_ENDS, SCHED_DISPATCH},
        {SCHED_HALT, SCHED_RETURN, SCHED_ENDS}};
    struct line *line = &l->lines[draw_line(l)];
    for (size_t k = 0; k < sizeof kin / sizeof *kin; k++)
        for (int m = 0; m < 3; m++) {
            if (kin[k][m] != line->opcode) continue;
            line->opcode = kin[k][draw(l, 3)];
            return;
        }
}

static void move_line(struct listing *l)
{
    uint32_t from = draw_line(l),
             to = draw(l, 2) == 0 && from + 1 < l->count ? from + 1 : draw_line(l);
    struct line line = l->lines[from];
    memmove(&l->lines[from], &l->lines[from + 1], (l->count - from - 1) * sizeof line);
    memmove(&l->lines[to + 1], &l->lines[to], (l->count - 1 - to) * sizeof line);
    l->lines[to] = line;
}

static void insert_new(struct listing *l)
{
    static const enum sched_opcode some[] = {
        SCHED_RUN,   SCHED_RUN,         SCHED_RUN,      SCHED_ENDS,       SCHED_WAIT,
        SCHED_JUMP,  SCHED_HAS_PACKETS, SCHED_HAS_ROOM, SCHED_GOES_ON,    SCHED_CALL,
        SCHED_FENCE, SCHED_DISPATCH,    SCHED_HALT,     SCHED_ROUND_ROBIN};
    struct line line = {.opcode = some[draw(l, sizeof some / sizeof *some)]};
    const char *letters = sched_opcodes[line.opcode].operands;
    for (uint32_t k = 0; letters[k] != '\0'; k++)
        line.operands[k] = other_operand(l, letters[k], 1 + draw(l, 8));
    insert_line(l, draw_line(l), line);
}

static void insert_repeat(struct listing *l)
{
    uint32_t first = draw_line(l), length = 1 + draw(l, 3);
    struct line repeat = {.opcode = SCHED_REPEAT}, again = {.opcode = SCHED_AGAIN};
    repeat.operands[0] = draw(l, 8) == 0 ? 2 * MANY : 1 + draw(l, 6);
    if (first + length > l->count) return;
    insert_line(l, first + length, again);
    insert_line(l, first, repeat);
}

/* A number that two lines have in common, in both: a guard with its run. */
static void change_together(struct listing *l)
{
    struct line *line = &l->lines[draw_line(l)];
    const char *letters = sched_opcodes[line->opcode].operands, *number = strchr(letters, 'U');
    if (number == NULL || line->list != NULL) return;
    uint32_t was = line->operands[number - letters], now = other_number(l, was);
    for (uint32_t n = first_free(l); n < l->count; n++) {
        letters = sched_opcodes[l->lines[n].opcode].operands;
        for (uint32_t k = 0; letters[k] != '\0' && l->lines[n].list == NULL; k++)
            if (letters[k] == 'U' && l->lines[n].operands[k] == was) l->lines[n].operands[k] = now;
    }
}

static bool is_guard(const struct line *line)
{
    return line->opcode == SCHED_HAS_PACKETS || line->opcode == SCHED_HAS_ROOM ||
           line->opcode == SCHED_GOES_ON;
}

/* A round of the static part becomes several, and its guards ask for as much more. */
static void lengthen_round(struct listing *l)
{
    uint32_t first = draw_line(l), last, rounds = 2 + draw(l, 3);
    while (first < l->count && l->lines[first].opcode != SCHED_RUN)
        first++;
    for (last = first; last < l->count && l->lines[last].opcode == SCHED_RUN;)
        last++;
    if (first == last || l->count + 2 > LINES_MAX) return;
    if (draw(l, 4) == 0) rounds = MANY / (last - first) + 1;
    insert_line(l, last, (struct line){.opcode = SCHED_AGAIN});
    insert_line(l, first, (struct line){.opcode = SCHED_REPEAT, .operands = {rounds}});
    for (uint32_t n = first; n-- > 0 && is_guard(&l->lines[n]);)
        l->lines[n].operands[l->lines[n].opcode == SCHED_GOES_ON ? 1 : 2] *= rounds;
}

/* A run becomes several of as many firings in all, with a repeat in the middle. */
static void split_run(struct listing *l)
{
    uint32_t at = draw_line(l);
    while (at < l->count && l->lines[at].opcode != SCHED_RUN)
        at++;
    if (at == l->count || l->count + 4 > LINES_MAX || l->lines[at].operands[1] < 4) return;
    struct line run = l->lines[at];
    uint32_t firings = run.operands[1], first = 1 + draw(l, firings / 2 - 1),
             rounds = 1 + draw(l, 4);
    uint32_t each = 1 + draw(l, (firings - first) / rounds), rest = firings - first;
    if (each * rounds >= rest) return;
    l->lines[at].operands[1] = first;
    run.operands[1] = rest - each * rounds;
    insert_line(l, at + 1, run);
    insert_line(l, at + 1, (struct line){.opcode = SCHED_AGAIN});
    run.operands[1] = each;
    insert_line(l, at + 1, run);
    insert_line(l, at + 1, (struct line){.opcode = SCHED_REPEAT, .operands = {rounds}});
}

static void change_listing(struct listing *l)
{
    switch (draw(l, 11)) {
    case 0:
    case 1: change_operand(l); return;
    case 2: change_together(l); return;
    case 3: change_opcode(l); return;
    case 4: move_line(l); return;
    case 5: remove_line(l, draw_line(l)); return;
    case 6: insert_line(l, draw_line(l), l->lines[draw_line(l)]); return;
    case 7: insert_new(l); return;
    case 8: insert_repeat(l); return;
    case 9: split_run(l); return;
    default: lengthen_round(l); return;
    }
}

struct schedule_code schedule_mutate(const struct prt_container *c, uint64_t seed)
{
    struct listing *l = calloc(1, sizeof *l);
    if (l == NULL) abort();
    l->c = c;
    l->random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    read_listing(l);
    for (uint32_t changes = 1 + draw(l, 3); changes > 0; changes--)
        change_listing(l);
    struct schedule_code code = write_listing(l);
    free(l);
    return code;
}
