/* SPDX-License-Identifier: MIT */
/* certify_graph and the loader's check of it: random graphs are certified, written as containers
 * and accepted; whatever is accepted after a change runs on, by literal execution (N, SEED). */
#include "tests/test.h"

#include "compiler/liveness/certify.h"
#include "compiler/liveness/schedule_text.h"
#include "compiler/liveness/rate.h"
#include "compiler/liveness/deadlock.h"
#include "compiler/pace/bufsize.h"
#include "runtime/verify/verify_certificate.h"
#include "tests/conform/made_container.h"
#include "tests/unit/graph_reference.h"

static unsigned environment(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

/* ---- a graph as a container ---- */

static uint32_t make_rates(struct made *m, const uint64_t *first, const uint64_t *second,
                           uint32_t phases)
{
    uint32_t at = m->rate_count;
    if (phases < 2) return CONTAINER_NONE;
    memcpy(m->rates + at, first, phases * sizeof *first);
    memcpy(m->rates + at + phases, second, phases * sizeof *second);
    m->rate_count += 2 * phases;
    return at;
}

static void make_node(struct made *m, const struct graph_node *node)
{
    uint32_t index = made_node(m, node->name, 0), phases = graph_phases(node);
    m->nodes[index].phases = phases;
    m->nodes[index].repetitions = node->repetitions;
    m->stages[index].batch_max = 1;
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        made_input(m, index, in->buffer, in->pop, in->peek);
        m->inputs[m->input_count - 1].rates = make_rates(m, in->pops, in->peeks, phases);
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct graph_output *out = &node->outputs.items[i];
        made_output(m, index, out->buffer, out->push, 0);
        m->outputs[m->output_count - 1].rates =
            make_rates(m, out->push_leasts, out->pushes, phases);
    }
}

static struct made *make(const struct graph *graph)
{
    static const uint8_t zeros[4];
    struct made *m = made_create("random", "sim16");
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        uint32_t index =
            made_buffer(m, buffer->name, SCALAR_I32, buffer->depth_packets,
                        buffer->outer == GRAPH_OUTER_IN ? CONTAINER_OUTER_IN : CONTAINER_INNER);
        if (buffer->initial.packets)
            made_initial(m, index, buffer->initial.packets, zeros, sizeof zeros);
    }
    for (size_t i = 0; i < graph->nodes.count; i++)
        make_node(m, &graph->nodes.items[i]);
    made_loop(m);
    made_settle(m);
    assert_true(graph->certificate_words <= MADE_CERTIFICATE_MAX);
    m->certificate_count = (uint32_t)graph->certificate_words;
    if (m->certificate_count)
        memcpy(m->certificate, graph->certificate, m->certificate_count * sizeof(uint64_t));
    return m;
}

static bool is_accepted(struct made *m, char *reason, size_t reason_size)
{
    struct prt_container c;
    struct prt_error error = {0};
    size_t size;
    made_settle(m);
    uint8_t *bytes = made_finish(m, &size);
    enum prt_status status = prt_container_read_memory(bytes, size, &c, &error);
    if (status == PRT_OK) status = prt_verify(&c, &error);
    prt_container_free(&c);
    free(bytes);
    if (reason) snprintf(reason, reason_size, "%.*s", (int)reason_size - 1, error.message);
    return status == PRT_OK;
}

/* ---- random graphs ---- */

struct subject {
    struct ref_graph g;
    struct fixture *f;
    struct made *m;
    long repetitions[REF_NODES];
    int depths[REF_BUFFERS];
    unsigned seed;
    bool by_starts; /* no schedules */
};

/* A made container lists the readers of a buffer in the order of their nodes. */
static void sort_readers(struct ref_graph *g)
{
    for (int b = 0; b < g->buffer_count; b++) {
        struct ref_buffer *buffer = &g->buffers[b], kept = *buffer;
        if (buffer->reader_count < 2 || kept.reader[0] <= kept.reader[1]) continue;
        for (int r = 0; r < 2; r++) {
            buffer->reader[r] = kept.reader[1 - r];
            buffer->pop[r] = kept.pop[1 - r];
            buffer->peek[r] = kept.peek[1 - r];
            memcpy(buffer->pops[r], kept.pops[1 - r], sizeof kept.pops[0]);
            memcpy(buffer->peeks[r], kept.peeks[1 - r], sizeof kept.peeks[0]);
        }
    }
}

/* False: the graph is refused by the analyses. */
static bool analyse(struct subject *s)
{
    s->f = ref_build(&s->g);
    struct compile *cx = &s->f->cx;
    rate_solve(cx, &s->f->graph);
    if (!diag_failed(cx->diags)) deadlock_check(cx, &s->f->graph);
    if (!diag_failed(cx->diags)) bufsize_assign(cx, &s->f->graph);
    const struct certify_limits limits = {.steps = s->by_starts ? 0 : CERTIFY_STEPS};
    if (!diag_failed(cx->diags)) certify_within(cx, &s->f->graph, limits);
    if (diag_failed(cx->diags)) return false;
    for (int b = 0; b < s->g.buffer_count; b++)
        s->depths[b] = (int)s->f->graph.buffers.items[b].depth_packets;
    ref_repetitions(s->f, s->repetitions);
    s->m = make(&s->f->graph);
    return true;
}

static void discard(struct subject *s)
{
    if (s->m) made_free(s->m);
    fixture_free(s->f);
}

/* An accepted pipeline must run, whatever was changed. */
static void expect_sound(struct subject *s, const char *what)
{
    if (!is_accepted(s->m, NULL, 0)) return;
    if (ref_live(&s->g, s->depths, s->repetitions, &s->seed)) return;
    ref_print(&s->g);
    fail_msg("accepted, and stops: %s", what);
}

static void lower_depths(struct subject *s)
{
    for (int b = 0; b < s->g.buffer_count; b++) {
        const struct graph_buffer *buffer = &s->f->graph.buffers.items[b];
        if (s->depths[b] == 1) continue;
        s->depths[b]--;
        s->m->buffers[b].depth_packets--;
        /* The minimum holds with the others at theirs, which a periodic schedule may have raised. */
        bool least = !s->by_starts && buffer->depth_min_packets == buffer->depth_packets;
        if (least && is_accepted(s->m, NULL, 0)) {
            ref_print(&s->g);
            fail_msg("accepted with b%d of %d packets, one below the minimum", b, s->depths[b]);
        }
        expect_sound(s, "a depth lowered");
        s->depths[b]++;
        s->m->buffers[b].depth_packets++;
    }
}

static void lower_initials(struct subject *s)
{
    for (int b = 0; b < s->g.buffer_count; b++) {
        if (s->g.buffers[b].initial < 2) continue;
        s->g.buffers[b].initial--;
        s->m->buffers[b].initial_packets--;
        expect_sound(s, "a packet less at the beginning");
        s->g.buffers[b].initial++;
        s->m->buffers[b].initial_packets++;
    }
}

static void change_words(struct subject *s)
{
    for (int i = 0; s->m->certificate_count && i < 12; i++) {
        uint64_t *word = &s->m->certificate[ref_random(&s->seed) % s->m->certificate_count];
        uint64_t kept = *word;
        int depth = ref_pick(&s->seed, s->g.buffer_count), before = s->depths[depth];
        *word = ref_pick(&s->seed, 3) ? kept + (uint64_t)ref_pick(&s->seed, 3) - 1
                                      : (uint64_t)ref_pick(&s->seed, 8);
        if (ref_pick(&s->seed, 2) && before > 1) s->depths[depth]--;
        s->m->buffers[depth].depth_packets = (uint64_t)s->depths[depth];
        expect_sound(s, "a word changed");
        *word = kept;
        s->depths[depth] = before;
        s->m->buffers[depth].depth_packets = (uint64_t)before;
    }
}

static void random_graphs_are_certified_and_changes_are_seen(void **unused)
{
    (void)unused;
    unsigned seed = environment("SEED", 1), count = environment("N", 4000), parts = 0, accepted = 0;
    for (unsigned i = 0; i < count; i++) {
        struct subject s = {.seed = seed + i, .by_starts = i % 3 == 2};
        char reason[400];
        ref_random_graph(&s.g, &s.seed, i % 2);
        if (i % 4 >= 2) ref_random_phases(&s.g, &s.seed);
        for (int b = 0; b < s.g.buffer_count; b++)
            memset(s.g.buffers[b].history, 0, sizeof s.g.buffers[b].history);
        sort_readers(&s.g);
        if (analyse(&s)) {
            accepted++;
            parts += s.m->certificate_count > 0;
            if (!is_accepted(s.m, reason, sizeof reason)) {
                ref_print(&s.g);
                fail_msg("seed %u: %s", seed + i, reason);
            }
            lower_depths(&s);
            lower_initials(&s);
            change_words(&s);
        }
        discard(&s);
    }
    assert_true(count < 1000 || (accepted > count / 4 && parts > count / 8));
}

/* ---- forms ---- */

/* A cycle of two with rates u and v, and minimal depths. */
static struct subject circle_of(uint64_t u, uint64_t v, uint64_t more, uint64_t steps)
{
    struct subject s = {0};
    s.f = fixture_new();
    uint32_t a = fixture_node(s.f, "a"), b = fixture_node(s.f, "b");
    fixture_edge(s.f, "there", a, u, b, v, 0, u + v - 1 + more);
    fixture_edge(s.f, "back", b, v, a, u, u + v - 1 + more, 2 * (u + v) + more);
    struct compile *cx = &s.f->cx;
    rate_solve(cx, &s.f->graph);
    deadlock_check(cx, &s.f->graph);
    if (!diag_failed(cx->diags)) bufsize_assign(cx, &s.f->graph);
    if (!diag_failed(cx->diags))
        certify_within(cx, &s.f->graph, (struct certify_limits){.steps = steps});
    char *messages = fixture_messages(s.f);
    if (diag_failed(cx->diags)) fail_msg("%s", messages);
    free(messages);
    s.m = make(&s.f->graph);
    return s;
}

static uint64_t form_of(const struct subject *s)
{
    return s->m->certificate[0] >> CONTAINER_CERTIFICATE_FORM_SHIFT;
}

static void expect_accepted(const struct subject *s)
{
    char reason[400];
    if (!is_accepted(s->m, reason, sizeof reason)) fail_msg("%s", reason);
}

/* Fires the symbol so often into `out`; false where it does not fit. */
static bool expand(const struct schedule_text *text, uint64_t symbol, uint64_t count, char *out,
                   size_t *used, size_t most)
{
    for (; count; count--) {
        if (symbol < text->terminals) {
            if (*used == most) return false;
            out[(*used)++] = (char)symbol;
            continue;
        }
        const struct schedule_rule *rule = &text->rules.items[symbol - text->terminals];
        for (size_t i = 0; i < rule->count; i++)
            if (!expand(text, rule->items[i].symbol, rule->items[i].count, out, used, most))
                return false;
    }
    return true;
}

static void expect_folded(const char *word, size_t length, size_t words_most)
{
    struct schedule_text text = {.arena = arena_create(), .terminals = 3};
    schedule_items items = {0};
    char *out = malloc(length + 1);
    size_t used = 0;
    for (size_t i = 0; i < length; i++)
        vec_push(text.arena, &items, (struct schedule_item){(uint64_t)word[i], 1});
    schedule_fold(&text, &items);
    for (size_t i = 0; i < items.count; i++)
        assert_true(expand(&text, items.items[i].symbol, items.items[i].count, out, &used, length));
    assert_int_equal(used, length);
    assert_memory_equal(out, word, length);
    assert_true(schedule_words(&text) + 2 * items.count <= words_most);
    free(out);
    arena_destroy(text.arena);
}

/* A balanced word of two coprime rates, loops in loops, and noise. */
static void what_repeats_on_any_scale_is_folded(void **unused)
{
    (void)unused;
    enum { LENGTH = 100000 };
    char *word = malloc(LENGTH);
    unsigned seed = 7;
    for (size_t i = 0, level = 0; i < LENGTH; i++) {
        word[i] = level >= 46368;
        level = word[i] ? level - 46368 : level + 28657;
    }
    expect_folded(word, LENGTH, 400);
    for (size_t i = 0; i < LENGTH; i++)
        word[i] = i % 1000 == 999 ? 2 : i % 10 == 9;
    expect_folded(word, LENGTH, 200);
    for (size_t i = 0; i < LENGTH; i++)
        word[i] = (char)ref_pick(&seed, 3);
    expect_folded(word, LENGTH, (size_t)2 * LENGTH);
    expect_folded(word, 0, 1);
    expect_folded(word, 1, 3);
    free(word);
}

static void starts_prove_what_is_too_long_to_fire(void **unused)
{
    (void)unused;
    struct subject s = circle_of(100003, 100019, 200000, 0);
    expect_accepted(&s);
    assert_int_equal(form_of(&s), CONTAINER_CERTIFICATE_STARTS);
    assert_true(s.m->certificate_count < 10);
    discard(&s);
}

/* All of them later: what counts is how much later one starts than the other. */
static void starts_may_be_larger_than_64_bits(void **unused)
{
    (void)unused;
    struct subject s = circle_of(100003, 100019, 200000, 0);
    uint64_t *a = s.m->certificate + 3, *b = s.m->certificate + 5;
    assert_true(a[0] < b[0] && a[1] == 0 && b[1] == 0);
    b[0] -= a[0] + 1; /* a starts one before 2^64, b after it */
    a[0] = UINT64_MAX;
    b[1] = 1;
    expect_accepted(&s);
    a[1] = 7;
    b[1] = 8;
    expect_accepted(&s);
    b[1] = 7;
    if (is_accepted(s.m, NULL, 0)) fail_msg("accepted where b starts 2^64 earlier");
    b[1] = 9;
    if (is_accepted(s.m, NULL, 0)) fail_msg("accepted where b starts 2^64 later");
    discard(&s);
}

/* ---- falsifications ---- */

/* a -> b with 2:3 and back with 6 packets: one schedule; `there` is as deep as it has to be. */
static struct subject small_circle(void)
{
    struct subject s = circle_of(2, 3, 0, CERTIFY_STEPS);
    expect_accepted(&s);
    assert_int_equal(form_of(&s), CONTAINER_CERTIFICATE_SCHEDULE);
    return s;
}

static void write_words(struct made *m, const uint64_t *words, uint32_t count)
{
    m->certificate[0] = (uint64_t)CONTAINER_CERTIFICATE_SCHEDULE
                        << CONTAINER_CERTIFICATE_FORM_SHIFT;
    m->certificate[1] = count;
    memcpy(m->certificate + 2, words, count * sizeof *words);
    m->certificate_count = 2 + count;
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void expect_words(const uint64_t *words, size_t count, const char *message)
{
    struct subject s = small_circle();
    char reason[400] = "";
    write_words(s.m, words, (uint32_t)count);
    bool accepted = is_accepted(s.m, reason, sizeof reason);
    if (accepted != (message == NULL)) fail_msg("'%s' expected: %s", message, reason);
    if (message && !strstr(reason, message)) fail_msg("'%s' expected: %s", message, reason);
    discard(&s);
}

#define WORDS(message, ...)                                                                        \
    expect_words((const uint64_t[]){__VA_ARGS__}, COUNT(((const uint64_t[]){__VA_ARGS__})), message)

static void every_false_schedule_is_refused(void **unused)
{
    (void)unused;
    const uint64_t most = UINT64_MAX, large = INT64_MAX;
    /* symbols: 0 a, 1 b, 2 the first rule; 4 packets in `back` */
    WORDS(NULL, 2, 0, 4, 0, 2, 1, 1, 0, 1, 1, 1);
    WORDS("without enough packets in 'there'", 2, 0, 4, 0, 1, 1, 1, 0, 2, 1, 1);
    WORDS("without room in 'there'", 2, 0, 2, 0, 3, 1, 2);
    WORDS("does not leave as many packets", 2, 0, 4, 0, 2, 1, 1, 0, 2, 1, 1);
    WORDS("does not leave as many packets", 2, 0, 3, 0, 2, 1, 1, 0, 1);
    WORDS("is empty", 2, 0, 0);
    WORDS("runs past the part", 2, 0, 5, 0, 2, 1, 1, 0, 1, 1, 1);
    WORDS("runs past the part", 2, 0, most, 0, 2);
    WORDS("or they are more than the words", 2, 0);
    WORDS("words after the last rule", 2, 0, 3, 0, 2, 1, 1, 0, 1, 1, 1);
    WORDS("a prologue and a period are missing", 1, 4, 0, 2, 1, 1, 0, 1, 1, 1);
    WORDS("a prologue and a period are missing", most, 4, 0, 2, 1, 1, 0, 1, 1, 1);
    WORDS("is empty", 3, 0, 0, 4, 0, 2, 1, 1, 0, 1, 1, 1);
    WORDS("the count 0 is out of range", 2, 0, 4, 0, 0, 1, 1, 0, 1, 1, 1);
    WORDS("the count 18446744073709551615 is out of range", 2, 0, 4, 0, most, 1, 1, 0, 1, 1, 1);
    WORDS("than can be counted", 2, 0, 1, 0, large);
    WORDS("rule 0 contains rule 0", 2, 1, 2, 1, 4, 0, 2, 1, 1, 0, 1, 1, 1);
    WORDS("rule 1 contains rule 1", 2, 0, 1, 3, 1);
    WORDS("rule 1 contains rule 7", 2, 0, 1, 9, 1);
    /* loops: (a b) is no loop here, a prologue that ends elsewhere is */
    WORDS(NULL, 3, 4, 0, 2, 1, 1, 0, 1, 1, 1, 0, 1, 2, large);
    WORDS(NULL, 2, 1, 0, 1, 5, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1);
}

/* Rules that double what they contain: counts beyond any number, in a text of some lines. */
static void nesting_bombs_are_refused(void **unused)
{
    (void)unused;
    uint64_t words[400] = {80};
    uint32_t at = 1;
    for (uint32_t i = 0; i < 79; i++) {
        words[at++] = 1;
        words[at++] = i == 0 ? 0 : 2 + i - 1;
        words[at++] = UINT64_C(1) << 40;
    }
    words[at++] = 1;
    words[at++] = 2;
    words[at++] = 1;
    expect_words(words, at, "than can be counted");
}

enum { RING = 240, USES = 5500 };

/* RING kernels in a cycle with one packet. */
static struct subject wide_circle(void)
{
    struct subject s = {.f = fixture_new()};
    uint32_t nodes[RING];
    char name[16];
    for (uint32_t i = 0; i < RING; i++) {
        snprintf(name, sizeof name, "n%u", i);
        nodes[i] = fixture_node(s.f, name);
    }
    for (uint32_t i = 0; i < RING; i++) {
        snprintf(name, sizeof name, "b%u", i);
        fixture_edge(s.f, name, nodes[i], 1, nodes[(i + 1) % RING], 1, i + 1 == RING, 2);
    }
    rate_solve(&s.f->cx, &s.f->graph);
    s.m = make(&s.f->graph);
    return s;
}

/* Every use of a rule costs what it touches: many uses of a wide one are refused, not made. */
static void work_is_bounded_by_the_file(void **unused)
{
    (void)unused;
    struct subject s = wide_circle();
    uint64_t words[3 + 2 * RING + 2 * USES + 3], at = 0;
    words[at++] = 3;
    words[at++] = RING;
    for (uint64_t i = 0; i < RING; i++, at += 2) {
        words[at] = i;
        words[at + 1] = 1;
    }
    uint64_t *uses = &words[at++];
    uint64_t *last = words + at + 2 * (size_t)USES;
    for (uint64_t i = 0; i < USES; i++, at += 2) {
        words[at] = RING;
        words[at + 1] = 1;
    }
    last[0] = 1;
    last[1] = RING;
    last[2] = 1;
    char reason[400] = "";
    *uses = USES;
    write_words(s.m, words, (uint32_t)COUNT(words));
    if (is_accepted(s.m, reason, sizeof reason) || !strstr(reason, "more work than a text"))
        fail_msg("%s", reason);
    discard(&s);
    s = wide_circle(); /* the same, less often */
    *uses = 10;
    memcpy(uses + 1 + 20, last, 3 * sizeof *last);
    write_words(s.m, words, (uint32_t)COUNT(words) - 2 * (USES - 10));
    if (!is_accepted(s.m, reason, sizeof reason)) fail_msg("%s", reason);
    discard(&s);
}

#define REFUSED_OF(circle, message, ...)                                                           \
    do {                                                                                           \
        struct subject s = circle;                                                                 \
        char reason[400] = "";                                                                     \
        __VA_ARGS__;                                                                               \
        if (is_accepted(s.m, reason, sizeof reason)) fail_msg("not refused: %s", #__VA_ARGS__);    \
        if (!strstr(reason, message)) fail_msg("%s: %s", #__VA_ARGS__, reason);                    \
        discard(&s);                                                                               \
    } while (0)
#define REFUSED(message, ...) REFUSED_OF(small_circle(), message, __VA_ARGS__)

static void parts_that_do_not_belong_are_refused(void **unused)
{
    (void)unused;
    REFUSED("nothing shows that 'a' and 'b'", s.m->certificate_count = 0);
    REFUSED("nothing shows that 'a' and 'b'", s.m->certificate_count = 1);
    REFUSED("runs past the section", s.m->certificate_count = 2);
    REFUSED("runs past the section", s.m->certificate_count--);
    REFUSED("runs past the section", s.m->certificate[1]++);
    REFUSED("runs past the section", s.m->certificate[1] = UINT64_MAX);
    REFUSED("runs past the section", s.m->certificate[1] = 0);
    REFUSED("nothing shows", s.m->certificate[0]++);
    REFUSED("an unknown form", s.m->certificate[0] += UINT64_C(4) << 32);
    REFUSED("an unknown form", s.m->certificate[0] += UINT64_C(1) << 32);
    REFUSED("belongs to no cycle", s.m->certificate[s.m->certificate_count++] = 0);
    REFUSED("without room in 'there'", s.m->buffers[0].depth_packets--);
    REFUSED("without enough packets in 'back'", s.m->buffers[1].initial_packets--);
}

static struct subject large_circle(void)
{
    return circle_of(100003, 100019, 200000, 0);
}

#define STARTS_REFUSED(message, ...) REFUSED_OF(large_circle(), message, __VA_ARGS__)

static void every_false_start_is_refused(void **unused)
{
    (void)unused;
    STARTS_REFUSED("would start before 'a' has written its packets to 'there'",
                   s.m->certificate[5] = 0);
    STARTS_REFUSED("has freed its room in 'there'", s.m->certificate[5] *= 64);
    STARTS_REFUSED("a period of 2^63", s.m->certificate[2] = 63);
    STARTS_REFUSED("a period of", s.m->certificate[2] = UINT64_MAX);
    STARTS_REFUSED("the starting time of 'a' is too large", s.m->certificate[4] = UINT64_MAX);
    STARTS_REFUSED("the starting time of 'a' is too large",
                   s.m->certificate[4] = UINT64_C(1) << (CONTAINER_CERTIFICATE_START_BITS - 64));
    STARTS_REFUSED("record 4: the starting time of 'a' is too", s.m->certificate[4] = UINT64_MAX);
    STARTS_REFUSED("record 6: the starting time of 'b' is too", s.m->certificate[6] = UINT64_MAX);
    STARTS_REFUSED("words for the starting times of 2 kernels", s.m->certificate[1] -= 2;
                   s.m->certificate_count -= 2);
    STARTS_REFUSED("has freed its room", s.m->buffers[0].depth_packets -= 200001);
    STARTS_REFUSED("has written its packets", s.m->buffers[1].initial_packets -= 200001);
}

TEST_MAIN("certify", cmocka_unit_test(random_graphs_are_certified_and_changes_are_seen),
          cmocka_unit_test(what_repeats_on_any_scale_is_folded),
          cmocka_unit_test(starts_prove_what_is_too_long_to_fire),
          cmocka_unit_test(starts_may_be_larger_than_64_bits),
          cmocka_unit_test(every_false_schedule_is_refused),
          cmocka_unit_test(nesting_bombs_are_refused),
          cmocka_unit_test(work_is_bounded_by_the_file),
          cmocka_unit_test(parts_that_do_not_belong_are_refused),
          cmocka_unit_test(every_false_start_is_refused))
