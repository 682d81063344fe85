/* SPDX-License-Identifier: MIT */
/* Deeper buffers for threads: which depths grow, within which memory, and that the verifier accepts the result. */
#include "tests/test.h"

#include <string.h>

#include "lang/sched_code.h"
#include "runtime/load/deepen.h"
#include "runtime/verify/verify.h"
#include "tests/unit/built_container.h"

#define ANY (UINT64_C(1) << 40) /* bytes: more than anything here takes */

static const char kernels[] =
    "kernel k(in f32 x, out f32 y) { y <- x * 2.0; }\n"
    "kernel pair(in f32 x pop 2, out f32 y) { y <- x[0] + x[1]; }\n"
    "kernel sum(in f32 x, out f32 y) { state f32 s = 0; s = s + x; y <- s; }\n"
    "kernel add(in f32 x, in f32 back, out f32 y, out f32 b) "
    "{ y <- x + back; b <- x; }\n";

static struct prt_container built(const char *pipeline)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s", kernels, pipeline);
    return built_container(text, NULL, "cpu");
}

static const struct container_buffer *buffer_of(const struct prt_container *c, const char *name)
{
    for (uint32_t i = 0; i < c->buffer_count; i++)
        if (strcmp(prt_container_text(c, c->buffers[i].name), name) == 0) return &c->buffers[i];
    fail_msg("no buffer '%s'", name);
    return NULL;
}

static uint64_t depth_of(const struct prt_container *c, const char *name)
{
    return buffer_of(c, name)->depth_packets;
}

/* The sum of the counts of all `run`; *runs of them. */
static uint64_t run_firings(const struct prt_container *c, uint32_t *runs)
{
    struct sched_instruction instruction;
    uint64_t firings = 0;
    *runs = 0;
    for (uint32_t at = 0; at < c->code_bytes; at += instruction.size_bytes) {
        assert_true(sched_decode(c->code, c->code_bytes, at, &instruction));
        if (instruction.opcode != SCHED_RUN) continue;
        firings += instruction.operands[1];
        ++*runs;
    }
    return firings;
}

/* Deeper by `factor`, and proven; free it with prt_container_free_deep. */
static struct prt_container deepen(const struct prt_container *c, uint64_t factor, bool scales)
{
    struct prt_container deep;
    struct prt_error error;
    if (prt_container_deepen(c, factor, scales, &deep, &error) != PRT_OK ||
        prt_verify(&deep, &error) != PRT_OK)
        fail_msg("%s", error.message);
    return deep;
}

static const char chain[] = "pipeline p(in f32 x, out f32 y) { x -> k -> pair -> k -> y; }";

static void depths_batches_and_static_counts_are_multiplied_and_proven(void **state)
{
    static const uint64_t factors[] = {2, 3, 7, 16, 61};
    (void)state;
    struct prt_container c = built(chain);
    uint32_t runs, deep_runs;
    uint64_t firings = run_firings(&c, &runs);
    assert_true(runs > 0);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        struct prt_container deep = deepen(&c, factors[i], true);
        assert_int_equal(depth_of(&deep, "x"), depth_of(&c, "x") * factors[i]);
        assert_int_equal(depth_of(&deep, "y"), depth_of(&c, "y") * factors[i]);
        assert_int_equal(deep.pipeline->memory_bytes, c.pipeline->memory_bytes * factors[i]);
        assert_int_equal(run_firings(&deep, &deep_runs), firings * factors[i]);
        assert_int_equal(deep_runs, runs);
        for (uint32_t s = 0; s < c.stage_count; s++) {
            assert_int_equal(deep.stages[s].batch_max, c.stages[s].batch_max * factors[i]);
            assert_int_equal(deep.stages[s].threshold, c.stages[s].threshold);
        }
        prt_container_free_deep(&deep);
    }
    prt_container_free(&c);
}

static void without_scaling_the_program_stays(void **state)
{
    (void)state;
    struct prt_container c = built(chain), deep = deepen(&c, 5, false);
    assert_int_equal(depth_of(&deep, "x"), depth_of(&c, "x") * 5);
    assert_int_equal(deep.code_bytes, c.code_bytes);
    assert_memory_equal(deep.code, c.code, c.code_bytes);
    prt_container_free_deep(&deep);
    prt_container_free(&c);
}

static void a_declared_depth_stays(void **state)
{
    (void)state;
    struct prt_container c = built("pipeline p(in f32 x, out f32 y) {\n"
                                   "    buffer f32 d depth 77;\n    x -> k -> d; d -> k -> y; }");
    assert_int_equal(buffer_of(&c, "d")->flags, 0);
    struct prt_container deep = deepen(&c, 4, false);
    assert_int_equal(depth_of(&deep, "d"), 77);
    assert_int_equal(depth_of(&deep, "x"), depth_of(&c, "x") * 4);
    prt_container_free_deep(&deep);
    prt_container_free(&c);
}

/* A static part whose counts no longer fit a declared depth is refused by the verifier, not by deepen. */
static void a_static_part_that_exceeds_a_declared_depth_is_refused(void **state)
{
    (void)state;
    struct prt_container c = built("pipeline p(in f32 x, out f32 y) {\n"
                                   "    buffer f32 d depth 77;\n    x -> k -> d; d -> k -> y; }");
    struct prt_container deep;
    struct prt_error error;
    uint32_t runs;
    assert_true(run_firings(&c, &runs) > 0);
    assert_int_equal(prt_container_deepen(&c, 50, true, &deep, &error), PRT_OK);
    assert_int_equal(prt_verify(&deep, &error), PRT_E_VERIFY);
    prt_container_free_deep(&deep);
    prt_container_free(&c);
}

static void buffers_of_a_cycle_stay(void **state)
{
    (void)state;
    struct prt_container c = built("pipeline p(in f32 x, out f32 y) {\n"
                                   "    buffer f32 b, back init 3 x 0;\n"
                                   "    add(x, back -> y, b); b -> k -> back; }");
    assert_int_equal(buffer_of(&c, "b")->flags, 0);
    assert_int_equal(buffer_of(&c, "back")->flags, 0);
    struct prt_container deep = deepen(&c, 3, false);
    assert_int_equal(depth_of(&deep, "back"), depth_of(&c, "back"));
    assert_int_equal(depth_of(&deep, "b"), depth_of(&c, "b"));
    assert_int_equal(depth_of(&deep, "x"), depth_of(&c, "x") * 3);
    prt_container_free_deep(&deep);
    prt_container_free(&c);
}

static void the_factor_keeps_the_limits_of_memory(void **state)
{
    (void)state;
    struct prt_container c = built(chain);
    struct container_pipeline limited = *c.pipeline;
    uint64_t all = 0, inner = c.pipeline->memory_bytes;
    for (uint32_t i = 0; i < c.buffer_count; i++)
        all += c.buffers[i].depth_packets * c.buffers[i].width_bytes;
    assert_int_equal(prt_deepen_factor(&c, 9, ANY), 9);
    assert_int_equal(prt_deepen_factor(&c, 1, ANY), 1);
    assert_int_equal(prt_deepen_factor(&c, 9, all * 4), 5);
    assert_int_equal(prt_deepen_factor(&c, 9, all * 4 - 1), 4);
    assert_int_equal(prt_deepen_factor(&c, 9, all - 1), 1);
    c.pipeline = &limited;
    limited.memory_limit_bytes = inner * 3;
    assert_int_equal(prt_deepen_factor(&c, 9, ANY), 3);
    limited.memory_limit_bytes = inner * 3 - 1;
    assert_int_equal(prt_deepen_factor(&c, 9, ANY), 2);
    limited.memory_limit_bytes = inner - 1;
    assert_int_equal(prt_deepen_factor(&c, 9, ANY), 1);
    limited.memory_limit_bytes = 0;
    // cppcheck-suppress zerodiv
    assert_int_equal(prt_deepen_factor(&c, UINT64_MAX, UINT64_MAX), 1 + UINT64_MAX / all);
    prt_container_free(&c);
}

static void stages_that_all_have_state_need_no_deeper_buffers(void **state)
{
    (void)state;
    struct prt_container c = built("pipeline p(in f32 x, out f32 y) { x -> sum -> sum -> y; }");
    assert_int_equal(prt_deepen_factor(&c, 9, ANY), 1);
    prt_container_free(&c);
    c = built("pipeline p(in f32 x, out f32 y) { x -> sum -> k -> y; }");
    assert_int_equal(prt_deepen_factor(&c, 9, ANY), 9);
    prt_container_free(&c);
}

static void numbers_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct prt_container c = built(chain), deep;
    struct prt_error error;
    static const uint64_t factors[] = {UINT64_MAX, UINT64_C(1) << 46, UINT64_C(1) << 48};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        assert_int_equal(prt_container_deepen(&c, factors[i], false, &deep, &error), PRT_E_VERIFY);
        assert_string_equal(error.message, "depths cannot grow so far");
    }
    /* The depths fit, and the counts of the program do not. */
    assert_int_equal(prt_container_deepen(&c, UINT64_C(1) << 33, true, &deep, &error),
                     PRT_E_VERIFY);
    prt_container_free(&c);
}

static const char long_chain[] =
    "pipeline p(in f32 x, out f32 y) { x -> k -> k -> k -> k -> k -> k -> y; }";

/* The largest factor with which the largest buffer stays within the bytes that the reader admits. */
static uint64_t largest_factor(const struct prt_container *c)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        uint64_t bytes = c->buffers[i].depth_packets * c->buffers[i].width_bytes;
        if (bytes > largest) largest = bytes;
    }
    return SIZE_MAX / 4 / largest;
}

static void buffers_grow_to_what_the_reader_admits(void **state)
{
    (void)state;
    struct prt_error error;
    struct prt_container c = built(chain), deep;
    uint64_t factor = largest_factor(&c);
    assert_int_equal(prt_container_deepen(&c, factor, false, &deep, &error), PRT_OK);
    assert_int_equal(deep.pipeline->memory_bytes, c.pipeline->memory_bytes * factor);
    prt_container_free_deep(&deep);
    assert_int_equal(prt_container_deepen(&c, factor + 1, false, &deep, &error), PRT_E_VERIFY);
    prt_container_free(&c);
}

static void a_batch_that_has_no_32_bits_for_its_length_stays(void **state)
{
    (void)state;
    struct prt_error error;
    struct prt_container c = built(chain), deep;
    uint64_t batch = c.stages[0].batch_max, factor = UINT32_MAX / batch;
    assert_int_equal(prt_container_deepen(&c, factor, false, &deep, &error), PRT_OK);
    assert_int_equal(deep.stages[0].batch_max, batch * factor);
    prt_container_free_deep(&deep);
    assert_int_equal(prt_container_deepen(&c, factor + 1, false, &deep, &error), PRT_OK);
    assert_int_equal(deep.stages[0].batch_max, batch);
    prt_container_free_deep(&deep);
    prt_container_free(&c);
}

/* Each buffer is as large as the reader admits, or a third of that. */
static void sums_of_more_than_64_bits_do_not_grow(void **state)
{
    (void)state;
    struct prt_error error;
    struct prt_container c = built(long_chain), deep;
    struct container_buffer buffers[8];
    const struct container_buffer *own = c.buffers;
    assert_true(c.buffer_count == 7);
    memcpy(buffers, c.buffers, c.buffer_count * sizeof *buffers);
    c.buffers = buffers;
    for (uint64_t parts = 1; parts <= 3; parts += 2) {
        for (uint32_t i = 0; i < c.buffer_count; i++)
            buffers[i].depth_packets = SIZE_MAX / 4 / buffers[i].width_bytes / parts;
        if (parts == 1)
            assert_int_equal(prt_deepen_factor(&c, 2, UINT64_MAX), 1);
        else
            assert_int_equal(prt_container_deepen(&c, 3, false, &deep, &error), PRT_E_VERIFY);
    }
    c.buffers = own;
    prt_container_free(&c);
}

/* A container can have the flag where pipec does not set it: what grows is proven like the rest. */
static void a_flag_that_pipec_has_not_set_is_harmless(void **state)
{
    (void)state;
    struct prt_container c = built("pipeline p(in f32 x, out f32 y) {\n"
                                   "    buffer f32 b, back init 3 x 0;\n"
                                   "    add(x, back -> y, b); b -> k -> back; }");
    struct container_buffer buffers[8];
    assert_true(c.buffer_count <= 8);
    memcpy(buffers, c.buffers, c.buffer_count * sizeof *buffers);
    for (uint32_t i = 0; i < c.buffer_count; i++)
        buffers[i].flags = CONTAINER_BUFFER_GROWS;
    const struct container_buffer *own = c.buffers;
    c.buffers = buffers;
    struct prt_container deep = deepen(&c, 3, false);
    assert_int_equal(depth_of(&deep, "back"), depth_of(&c, "back") * 3);
    assert_int_equal(buffer_of(&deep, "back")->initial_packets, 3);
    prt_container_free_deep(&deep);
    c.buffers = own;
    prt_container_free(&c);
}

TEST_MAIN("deepen", cmocka_unit_test(depths_batches_and_static_counts_are_multiplied_and_proven),
          cmocka_unit_test(without_scaling_the_program_stays),
          cmocka_unit_test(a_declared_depth_stays),
          cmocka_unit_test(a_static_part_that_exceeds_a_declared_depth_is_refused),
          cmocka_unit_test(buffers_of_a_cycle_stay),
          cmocka_unit_test(the_factor_keeps_the_limits_of_memory),
          cmocka_unit_test(stages_that_all_have_state_need_no_deeper_buffers),
          cmocka_unit_test(numbers_that_do_not_fit_are_refused),
          cmocka_unit_test(buffers_grow_to_what_the_reader_admits),
          cmocka_unit_test(a_batch_that_has_no_32_bits_for_its_length_stays),
          cmocka_unit_test(sums_of_more_than_64_bits_do_not_grow),
          cmocka_unit_test(a_flag_that_pipec_has_not_set_is_harmless))
