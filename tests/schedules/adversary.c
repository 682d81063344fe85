/* SPDX-License-Identifier: MIT */
/*
 * adversary COUNT SEED (FILE [TEXT.sched]...)...: no unsafe schedule runs.
 *
 * Each container's scheduler program is changed at random (schedule_mutant.h) until COUNT changed ones have passed the loader's
 * checks of structure and meaning.  Then only the proof is between them and a run (lang/scheduler.md, "Verification",
 * "Execution on intervals").
 *   - What the proof accepts has to run to its end with the right packets, in each scenario of an interpreter that trusts it
 *     (schedule_machine.h), and, a part of it, in the runtime itself, with kernels that stamp packets (tests/fuzz/stamped.h).
 *   - What a rule of the proof refuses is proven again without that rule.  If it is accepted then, it is run: has the rule kept
 *     a fault away?
 * TEXT is a program that a person has written for the container before it; it is judged like the changed ones.
 * Prints a line for each rule of the proof, then the totals:
 *
 *     rule NAME PLACE refused N accepted-without N faults N
 *     total real N mutants N accepted N run N stamped N wrong N
 *
 * The first line of the output of a wrong acceptance begins with "wrong".  Exit status: 0, 1 if anything was accepted wrongly or
 * a real program does not run, 2 if a file cannot be read.
 *
 * Built with PRT_VERIFY_REMOVABLE (runtime/load/verify_rule.h).
 */
#include "runtime/load/reader.h"
#include "runtime/load/verify_rule.h"
#include "runtime/verify/verify.h"
#include "tests/fuzz/stamped.h"
#include "tests/schedules/schedule_machine.h"
#include "tests/schedules/schedule_mutant.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCENARIOS = 6,
    RULES_MAX = 64,
    TRIES = 40,
    STAMPED_EACH = 16,
    WITHOUT_MAX = 4,
    INTERRUPTS = 64
};
#define INSTRUCTIONS_ENOUGH (UINT64_C(1) << 22) /* of one mutant, in all its runs */

/* A rule of the proof, by its place. */
struct rule_record {
    const struct prt_rule *rule;
    char name[32];
    uint64_t refused, accepted_without, faults;
};

struct totals {
    struct rule_record rules[RULES_MAX];
    uint32_t rule_count;
    uint64_t real, mutants, accepted, run, stamped, wrong;
};

/* A container, and what has to come out of it in each scenario. */
struct subject {
    const char *path;
    struct prt_container c;
    struct schedule_scenario scenarios[SCENARIOS];
    uint64_t *expected[SCENARIOS]; /* NULL: it runs until it is interrupted */
    uint64_t *seen;                /* checksums of the mutants */
    uint64_t seen_count;
};

/* ---- scenarios ---- */

static uint64_t deepest_port(const struct prt_container *c)
{
    uint64_t deepest = 16;
    for (uint32_t b = 0; b < c->buffer_count; b++)
        if (c->buffers[b].outer != CONTAINER_INNER && c->buffers[b].depth_packets > deepest)
            deepest = c->buffers[b].depth_packets;
    return deepest < 20000 ? deepest : 20000;
}

static void draw_scenarios(struct subject *s, uint64_t seed)
{
    static const enum schedule_pace paces[] = {SCHEDULE_AT_ONCE, SCHEDULE_LAST_MOMENT,
                                               SCHEDULE_ANY_TIME};
    uint64_t depth = deepest_port(&s->c);
    for (uint32_t k = 0; k < SCENARIOS; k++) {
        uint64_t drawn = (seed + k + 1) * UINT64_C(0x9e3779b97f4a7c15);
        struct schedule_scenario *x = &s->scenarios[k];
        *x = (struct schedule_scenario){.seed = drawn >> 8,
                                        .pace = paces[k % 3],
                                        .live = k == 5,
                                        .packets_in =
                                            k == 3 ? drawn % 7 : depth + drawn % (depth + 3),
                                        .firings = 5 + drawn % (k == 3 ? 16 : 2 * depth),
                                        .stop_after = drawn % (2 * depth),
                                        .interrupt_at = k == 4 ? drawn % 400 : UINT64_MAX};
        s->expected[k] = calloc(s->c.buffer_count + 1, sizeof **s->expected);
        if (s->expected[k] == NULL) abort();
        if (schedule_expect(&s->c, x, s->expected[k])) continue;
        free(s->expected[k]);
        s->expected[k] = NULL;
        if (x->interrupt_at == UINT64_MAX) x->interrupt_at = 20 + drawn % 400;
    }
}

/* The first fault in any scenario. */
static enum schedule_fault run_all(const struct subject *s, const struct prt_container *c,
                                   struct schedule_place *where)
{
    enum schedule_fault fault = SCHEDULE_FINE;
    for (uint32_t k = 0; k < SCENARIOS && fault == SCHEDULE_FINE; k++)
        fault = schedule_run(c, c->code, c->code_bytes, &s->scenarios[k], s->expected[k], where);
    return fault;
}

/* Has it parts that only an interrupt or a limit ends? */
static bool has_sources(const struct subject *s)
{
    bool any = s->expected[0] == NULL;
    for (uint32_t n = 0; n < s->c.node_count; n++)
        any = any || s->c.nodes[n].input_count == 0;
    return any;
}

/* The same, and if there is none: with an interrupt, at one moment after the other. */
static enum schedule_fault run_interrupted(const struct subject *s, const struct prt_container *c)
{
    struct schedule_place where;
    enum schedule_fault fault = run_all(s, c, &where);
    uint64_t instructions = 0;
    for (uint64_t at = 0; at < INTERRUPTS && fault == SCHEDULE_FINE && has_sources(s); at++) {
        if (instructions > INSTRUCTIONS_ENOUGH) break;
        struct schedule_scenario x = s->scenarios[at % 3];
        x.interrupt_at = at;
        if (at % 2 != 0) x.firings = UINT64_MAX;
        fault = schedule_run(c, c->code, c->code_bytes, &x, NULL, &where);
        instructions += where.instructions;
    }
    return fault;
}

/* ---- the proof ---- */

static const char *const of_execution[] = {
    "underflow", "overflow", "allowance",   "run-ended",   "phase",    "repeat-phase", "launches",
    "numbers",   "goes-on",  "guard-depth", "guard-never", "dispatch", "halt",         "work"};

/* The rule that a refusal ends with, in brackets. */
static void name_rule(const struct prt_error *error, char *name, size_t size)
{
    const char *open = strrchr(error->message, '[');
    snprintf(name, size, "%.*s", open != NULL ? (int)strcspn(open + 1, "]") : 0,
             open != NULL ? open + 1 : "");
}

static bool is_of_execution(const char *name)
{
    for (size_t i = 0; i < sizeof of_execution / sizeof *of_execution; i++)
        if (strcmp(name, of_execution[i]) == 0) return true;
    return false;
}

static struct rule_record *find_rule(struct totals *t, const struct prt_rule *rule,
                                     const char *name)
{
    for (uint32_t i = 0; i < t->rule_count; i++)
        if (t->rules[i].rule->line == rule->line && strcmp(t->rules[i].rule->file, rule->file) == 0)
            return &t->rules[i];
    if (t->rule_count == RULES_MAX) abort();
    struct rule_record *record = &t->rules[t->rule_count++];
    record->rule = rule;
    snprintf(record->name, sizeof record->name, "%s", name);
    return record;
}

static bool is_accepted(const struct prt_container *c, struct prt_error *error)
{
    struct prt_proof proof;
    return prt_verify_program(c, &proof, error) == PRT_OK;
}

/* ---- mutants ---- */

static void report_wrong(struct totals *t, const struct subject *s, const struct prt_container *c,
                         uint64_t seed, enum schedule_fault fault, struct schedule_place where)
{
    struct sched_program program = {
        .stage_count = c->stage_count, .code = (uint8_t *)c->code, .code_bytes = c->code_bytes};
    struct sched_error error;
    t->wrong++;
    printf("wrong %s seed %" PRIu64 ": %s of stage %" PRId32 ", before offset %" PRIu32 "\n",
           s->path, seed, schedule_fault_names[fault], (int32_t)where.stage, where.offset);
    program.sets = calloc(c->set_count + 1, sizeof *program.sets);
    program.set_count = c->set_count;
    for (uint32_t i = 0; i < c->set_count && program.sets != NULL; i++)
        program.sets[i] = (struct sched_set){(uint32_t *)c->sets[i].stages, c->sets[i].count};
    (void)sched_disassemble(stdout, &program, &error);
    free(program.sets);
}

static void run_accepted(struct totals *t, const struct subject *s, const struct prt_container *c,
                         uint64_t seed)
{
    struct schedule_place where;
    enum schedule_fault fault = run_all(s, c, &where);
    t->accepted++;
    if (fault != SCHEDULE_FINE) {
        report_wrong(t, s, c, seed, fault, where);
        return;
    }
    t->run++;
    if (t->accepted % STAMPED_EACH != 0) return;
    const struct schedule_scenario *x = &s->scenarios[0];
    const struct stamped_options options = {.text = s->path,
                                            .packets_in = x->packets_in,
                                            .piece = seed % 9,
                                            .firings = x->firings,
                                            .stop_after = x->stop_after,
                                            .interrupt_at = s->expected[0] != NULL ? UINT64_MAX
                                                                                   : x->firings / 2,
                                            .alarm_milliseconds = s->expected[0] != NULL ? 0 : 50};
    stamped_run(c, &options);
    t->stamped++;
}

/* What would happen without the rule that refuses it? */
static void run_refused(struct totals *t, const struct subject *s, const struct prt_container *c,
                        const char *name)
{
    struct rule_record *record = find_rule(t, prt_rule_broken(), name);
    struct prt_error error = {0};
    record->refused++;
    if (record->faults >= WITHOUT_MAX || record->accepted_without >= (uint64_t)4 * WITHOUT_MAX)
        return;
    prt_rule_remove(record->rule);
    bool accepted = is_accepted(c, &error);
    prt_rule_remove(NULL);
    if (!accepted) return;
    record->accepted_without++;
    record->faults += run_interrupted(s, c) != SCHEDULE_FINE;
}

/* Is it none of those before, and not the real one? */
static bool is_new(struct subject *s, const struct schedule_code *code)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (uint32_t i = 0; i < code->size; i++)
        sum = (sum ^ code->bytes[i]) * UINT64_C(0x100000001b3);
    for (uint64_t i = 0; i < s->seen_count; i++)
        if (s->seen[i] == sum) return false;
    s->seen[s->seen_count++] = sum;
    return code->size != s->c.code_bytes || memcmp(code->bytes, s->c.code, code->size) != 0;
}

/* True: it has passed structure and meaning.  Takes the code. */
static bool try_code(struct totals *t, struct subject *s, struct schedule_code code, uint64_t seed)
{
    struct prt_container c = s->c;
    struct prt_error error = {0};
    char name[32];
    bool passes = is_new(s, &code);
    c.code = code.bytes;
    c.code_bytes = code.size;
    if (passes && is_accepted(&c, &error)) {
        run_accepted(t, s, &c, seed);
    } else if (passes) {
        name_rule(&error, name, sizeof name);
        passes = is_of_execution(name);
        if (passes) run_refused(t, s, &c, name);
    }
    t->mutants += passes;
    free(code.bytes);
    return passes;
}

/* ---- containers ---- */

/* A program that a person has written for the container. */
static bool try_text(struct totals *t, struct subject *s, const char *path)
{
    char text[8192];
    struct sched_program program;
    struct sched_error error = {0};
    FILE *file = fopen(path, "r");
    size_t size = file != NULL ? fread(text, 1, sizeof text, file) : 0;
    if (file != NULL) fclose(file);
    if (!sched_assemble(text, size, &program, &error)) {
        fprintf(stderr, "%s:%" PRIu32 ": %s\n", path, error.line, error.message);
        return false;
    }
    struct schedule_code code = {program.code, program.code_bytes};
    program.code = NULL;
    sched_program_free(&program);
    if (try_code(t, s, code, 0)) return true;
    fprintf(stderr, "%s: refused for its structure or meaning\n", path);
    return false;
}

/* False: it, or the text for it, cannot be read. */
static bool take_container(struct totals *t, const char *path, char **texts, int text_count,
                           uint64_t count, uint64_t seed)
{
    struct subject s = {.path = path};
    struct prt_error error = {0};
    struct schedule_place where;
    if (prt_container_read_file(path, &s.c, &error) != PRT_OK ||
        prt_verify(&s.c, &error) != PRT_OK) {
        fprintf(stderr, "%s: %s\n", path, error.message);
        return false;
    }
    t->real++;
    if (schedule_world_fits(&s.c)) {
        draw_scenarios(&s, seed);
        s.seen = calloc(TRIES * count + (uint64_t)text_count + 1, sizeof *s.seen);
        if (s.seen == NULL) abort();
        enum schedule_fault fault = run_all(&s, &s.c, &where);
        if (fault != SCHEDULE_FINE) report_wrong(t, &s, &s.c, 0, fault, where);
        for (int i = 0; i < text_count; i++)
            if (!try_text(t, &s, texts[i])) return false;
        for (uint64_t passed = 0, at = 0;
             passed < count && at < TRIES * count && fault == SCHEDULE_FINE; at++) {
            uint64_t drawn = seed * UINT64_C(1000003) + at;
            passed += try_code(t, &s, schedule_mutate(&s.c, drawn), drawn);
        }
        for (uint32_t k = 0; k < SCENARIOS; k++)
            free(s.expected[k]);
        free(s.seen);
    }
    prt_container_free(&s.c);
    return true;
}

static bool is_text(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && strcmp(dot, ".sched") == 0;
}

int main(int argc, char **argv)
{
    struct totals t = {.rule_count = 0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 4) {
        fprintf(stderr, "usage: adversary COUNT SEED (FILE [TEXT.sched]...)...\n");
        return 2;
    }
    uint64_t count = strtoull(argv[1], NULL, 10), seed = strtoull(argv[2], NULL, 10);
    for (int i = 3, texts; i < argc; i += 1 + texts) {
        for (texts = 0; i + 1 + texts < argc && is_text(argv[i + 1 + texts]);)
            texts++;
        if (!take_container(&t, argv[i], argv + i + 1, texts, count, seed)) return 2;
    }
    for (uint32_t i = 0; i < t.rule_count; i++)
        printf("rule %s %s:%ld refused %" PRIu64 " accepted-without %" PRIu64 " faults %" PRIu64
               "\n",
               t.rules[i].name, t.rules[i].rule->file, t.rules[i].rule->line, t.rules[i].refused,
               t.rules[i].accepted_without, t.rules[i].faults);
    printf("total real %" PRIu64 " mutants %" PRIu64 " accepted %" PRIu64 " run %" PRIu64
           " stamped %" PRIu64 " wrong %" PRIu64 "\n",
           t.real, t.mutants, t.accepted, t.run, t.stamped, t.wrong);
    return t.wrong > 0;
}
