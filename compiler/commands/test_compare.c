/* SPDX-License-Identifier: MIT */
/*
 * test_compare: compares the packets of an output with the expected ones.
 *
 * Without a tolerance every bit counts, except that a NaN equals a NaN.  With a tolerance, two NaN are
 * equal, and one NaN differs from any number; an infinity equals only itself.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/commands/test_job.h"
#include "compiler/ir/arith.h"
#include "base/arena.h"

struct comparison {
    const struct test_stream *stream;
    const struct type *type;
    uint64_t scalar_count; /* of a packet */
    FILE *found, *expected;
    struct scalar_value *found_scalars, *expected_scalars;
    unsigned char *bytes;
    uint64_t found_packets, expected_packets, different, first_different;
    const char *first_story; /* "is 5, expected 4" */
};

/* ---- scalars ---- */

static bool scalar_is_nan(struct scalar_value value)
{
    if (!scalar_is_float(value.type)) return false;
    return isnan(arith_as_f64(arith_convert(value, SCALAR_F64)));
}

/* Neighbouring floats become neighbouring integers, across zero too. */
static __int128 float_order(struct scalar_value value)
{
    unsigned bits = 8 * (unsigned)scalar_width_bytes(value.type);
    uint64_t sign = UINT64_C(1) << (bits - 1);
    uint64_t magnitude = value.bits & (sign - 1);
    return value.bits & sign ? -(__int128)magnitude : (__int128)magnitude;
}

static __int128 ulp_distance(struct scalar_value a, struct scalar_value b)
{
    __int128 distance = float_order(a) - float_order(b);
    return distance < 0 ? -distance : distance;
}

static double absolute_difference(struct scalar_value a, struct scalar_value b)
{
    if (scalar_is_float(a.type))
        return fabs(arith_as_f64(arith_convert(a, SCALAR_F64)) -
                    arith_as_f64(arith_convert(b, SCALAR_F64)));
    __int128 difference = arith_as_exact(a) - arith_as_exact(b);
    return (double)(difference < 0 ? -difference : difference);
}

static bool is_scalar_equal(const struct test_stream *stream, struct scalar_value a,
                            struct scalar_value b)
{
    if (a.bits == b.bits) return true;
    if (scalar_is_nan(a) || scalar_is_nan(b)) return scalar_is_nan(a) && scalar_is_nan(b);
    if (stream->tolerance == TEST_ULP && scalar_is_float(a.type))
        return ulp_distance(a, b) <= (__int128)stream->ulp;
    return stream->tolerance == TEST_WITHIN && absolute_difference(a, b) <= stream->within;
}

/* ---- packets ---- */

static const char *shown_packet(struct arena *arena, const struct scalar_value *scalars,
                                uint64_t count)
{
    enum { SHOWN = 16 };
    const char *text = arith_text(arena, scalars[0]);
    if (count == 1) return text;
    for (uint64_t i = 1; i < count && i < SHOWN; i++)
        text = arena_printf(arena, "%s, %s", text, arith_text(arena, scalars[i]));
    return arena_printf(arena, "{%s%s}", text, count > SHOWN ? ", ..." : "");
}

/* The difference of a single float, if it helps the reader. */
static const char *distance_text(struct arena *arena, const struct comparison *c)
{
    struct scalar_value found = c->found_scalars[0], expected = c->expected_scalars[0];
    if (c->scalar_count != 1 || !scalar_is_float(found.type) || scalar_is_nan(found) ||
        scalar_is_nan(expected))
        return "";
    return arena_printf(arena, " (off by %g, %" PRIu64 " ulp)",
                        absolute_difference(found, expected),
                        (uint64_t)ulp_distance(found, expected));
}

static void compare_packet(struct arena *arena, struct comparison *c, uint64_t index)
{
    bool same = true;
    for (uint64_t i = 0; i < c->scalar_count && same; i++)
        same = is_scalar_equal(c->stream, c->found_scalars[i], c->expected_scalars[i]);
    if (same) return;
    if (c->different++ > 0) return;
    c->first_different = index;
    c->first_story = arena_printf(
        arena, "is %s, expected %s%s", shown_packet(arena, c->found_scalars, c->scalar_count),
        shown_packet(arena, c->expected_scalars, c->scalar_count), distance_text(arena, c));
}

static bool read_next_packet(struct comparison *c, FILE *file, struct scalar_value *scalars)
{
    size_t width = (size_t)c->type->width_bytes;
    if (fread(c->bytes, 1, width, file) != width) return false;
    test_packet_load(c->type, c->bytes, scalars);
    return true;
}

/* ---- the verdict ---- */

static bool judge_outputs(const struct test_environment *environment, struct test_job *job,
                          const struct comparison *c)
{
    struct arena *arena = environment->cx->arena;
    uint64_t both = c->found_packets < c->expected_packets ? c->found_packets : c->expected_packets;
    bool counts_differ = c->found_packets != c->expected_packets;
    if (c->different == 0 && !counts_differ) return true;
    struct diag *d;
    if (c->different > 0)
        d = test_job_fail(environment, job, c->stream->span, "packet %" PRIu64 " of '%s' %s",
                          c->first_different, c->stream->port, c->first_story);
    else
        d = test_job_fail(environment, job, c->stream->span, "'%s' has %s, expected %" PRIu64,
                          c->stream->port, arena_counted(arena, c->found_packets, "packet"),
                          c->expected_packets);
    if (c->different > 1)
        diag_note(d, "%" PRIu64 " of %s differ", c->different,
                  arena_counted(arena, both, "packet"));
    if (c->different > 0 && counts_differ)
        diag_note(d, "'%s' has %s, expected %" PRIu64, c->stream->port,
                  arena_counted(arena, c->found_packets, "packet"), c->expected_packets);
    if (c->different == 0 && both == 1) diag_note(d, "the first one is as expected");
    if (c->different == 0 && both > 1) diag_note(d, "the first %" PRIu64 " are as expected", both);
    return false;
}

bool test_compare(const struct test_environment *environment, struct test_job *job, size_t index)
{
    const struct test_stream *stream = &job->test->expected.items[index];
    const struct type *type = job->test->graph->buffers.items[stream->buffer].type;
    uint64_t count = type_scalar_count(type);
    struct comparison c = {
        .stream = stream,
        .type = type,
        .scalar_count = count,
        .found_scalars = ARENA_ARRAY(job->arena, struct scalar_value, count),
        .expected_scalars = ARENA_ARRAY(job->arena, struct scalar_value, count),
        .bytes = arena_alloc(job->arena, (size_t)type->width_bytes),
        .found = fopen(test_job_file(environment, job, "out", index, ".raw"), "rb"),
        .expected = fopen(test_job_file(environment, job, "expected", index, ".raw"), "rb"),
    };
    bool ok = c.found != NULL && c.expected != NULL;
    if (ok) {
        for (bool found = true, expected = true; found || expected;) {
            found = found && read_next_packet(&c, c.found, c.found_scalars);
            expected = expected && read_next_packet(&c, c.expected, c.expected_scalars);
            if (found && expected) compare_packet(environment->cx->arena, &c, c.found_packets);
            c.found_packets += found;
            c.expected_packets += expected;
        }
        ok = judge_outputs(environment, job, &c);
    } else {
        test_job_fail(environment, job, stream->span, "the packets of '%s' cannot be read: %s",
                      stream->port, strerror(errno));
    }
    if (c.found != NULL) fclose(c.found);
    if (c.expected != NULL) fclose(c.expected);
    return ok;
}
