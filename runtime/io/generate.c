/* Generators and null.  Packet n (from 0) of a port with k-bit packets is:
 *
 *   ramp   integers  n mod 2^k, as two's complement in the signed types
 *          bool      n mod 2
 *          floats    n, rounded to nearest, ties to even
 *   noise  z is output n of SplitMix64 with the seed S:
 *            z = S + (n + 1) * 0x9E3779B97F4A7C15
 *            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
 *            z = (z ^ (z >> 27)) * 0x94D049BB133111EB
 *            z = z ^ (z >> 31)                               all mod 2^64
 *          integers  the k highest bits of z, as two's complement in the signed types
 *          bool      the highest bit of z
 *          f32       ((z >> 40) - 2^23) / 2^23               in [-1, 1), exact
 *          f64       ((z >> 11) - 2^52) / 2^52               in [-1, 1), exact
 *   zeros  0
 *
 * so that a program in any language can make the same stream. */
#include "runtime/io/io_internal.h"

#include <stdlib.h>
#include <string.h>

struct generator {
    struct prt_source base;
    enum prt_format format;
    uint64_t seed;
    uint64_t next;  /* n of the next packet */
    uint64_t count; /* PRT_PACKETS_UNKNOWN: endless */
};

static uint64_t noise_bits(uint64_t seed, uint64_t n)
{
    uint64_t z = seed + (n + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Stores the `width` low bytes of each value (the host is little-endian, as all storage). */
static void fill_integers(unsigned char *target, const struct generator *generator, size_t width,
                          size_t count)
{
    unsigned shift = 64 - 8 * (unsigned)width;
    for (size_t i = 0; i < count; i++, target += width) {
        uint64_t n = generator->next + i;
        uint64_t bits =
            generator->format == PRT_FORMAT_RAMP ? n : noise_bits(generator->seed, n) >> shift;
        memcpy(target, &bits, width);
    }
}

static void fill_bools(unsigned char *target, const struct generator *generator, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t n = generator->next + i;
        target[i] = generator->format == PRT_FORMAT_RAMP
                        ? (unsigned char)(n & 1)
                        : (unsigned char)(noise_bits(generator->seed, n) >> 63);
    }
}

static void fill_f32(unsigned char *target, const struct generator *generator, size_t count)
{
    for (size_t i = 0; i < count; i++, target += sizeof(float)) {
        uint64_t n = generator->next + i;
        float value = (float)n;
        if (generator->format == PRT_FORMAT_NOISE) {
            int64_t top = (int64_t)(noise_bits(generator->seed, n) >> 40);
            value = (float)(top - (INT64_C(1) << 23)) / (float)(INT64_C(1) << 23);
        }
        memcpy(target, &value, sizeof value);
    }
}

static void fill_f64(unsigned char *target, const struct generator *generator, size_t count)
{
    for (size_t i = 0; i < count; i++, target += sizeof(double)) {
        uint64_t n = generator->next + i;
        double value = (double)n;
        if (generator->format == PRT_FORMAT_NOISE) {
            int64_t top = (int64_t)(noise_bits(generator->seed, n) >> 11);
            value = (double)(top - (INT64_C(1) << 52)) / (double)(INT64_C(1) << 52);
        }
        memcpy(target, &value, sizeof value);
    }
}

static enum prt_status generator_read(struct prt_source *source, void *packets, size_t capacity,
                                      size_t *count, struct prt_error *error)
{
    (void)error;
    struct generator *generator = (struct generator *)source;
    size_t width = scalar_width_bytes(source->packet);
    size_t part = capacity;
    if (generator->count != PRT_PACKETS_UNKNOWN && part > generator->count - generator->next)
        part = (size_t)(generator->count - generator->next);
    if (generator->format == PRT_FORMAT_ZEROS)
        memset(packets, 0, part * width);
    else if (source->packet == SCALAR_BOOL)
        fill_bools(packets, generator, part);
    else if (source->packet == SCALAR_F32)
        fill_f32(packets, generator, part);
    else if (source->packet == SCALAR_F64)
        fill_f64(packets, generator, part);
    else
        fill_integers(packets, generator, width, part);
    generator->next += part;
    *count = part;
    return PRT_OK;
}

static void generator_close(struct prt_source *source)
{
    free(source);
}

static const struct prt_source_ops generator_ops = {generator_read, generator_close};

enum prt_status prt_generator_open(const struct prt_port_spec *spec, enum scalar_type packet,
                                   const struct prt_io_environment *environment,
                                   struct prt_source **source, struct prt_error *error)
{
    (void)environment;
    struct prt_source *made =
        prt_source_make(sizeof(struct generator), &generator_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    struct generator *generator = (struct generator *)made;
    generator->format = spec->format;
    generator->seed = spec->seed;
    generator->count = spec->has_count ? spec->count_packets : PRT_PACKETS_UNKNOWN;
    made->information.packets = generator->count;
    *source = made;
    return PRT_OK;
}

/* --- null --- */

static enum prt_status null_read(struct prt_source *source, void *packets, size_t capacity,
                                 size_t *count, struct prt_error *error)
{
    (void)source, (void)packets, (void)capacity, (void)error;
    *count = 0;
    return PRT_OK;
}

static const struct prt_source_ops null_source_ops = {null_read, generator_close};

enum prt_status prt_null_source_open(const struct prt_port_spec *spec, enum scalar_type packet,
                                     const struct prt_io_environment *environment,
                                     struct prt_source **source, struct prt_error *error)
{
    (void)spec, (void)environment;
    struct prt_source *made =
        prt_source_make(sizeof(struct prt_source), &null_source_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    made->information.packets = 0;
    *source = made;
    return PRT_OK;
}

static enum prt_status null_write(struct prt_sink *sink, const void *packets, size_t count,
                                  struct prt_error *error)
{
    (void)sink, (void)packets, (void)count, (void)error;
    return PRT_OK;
}

static const struct prt_sink_ops null_sink_ops = {null_write, NULL, NULL};

enum prt_status prt_null_sink_open(const struct prt_port_spec *spec, enum scalar_type packet,
                                   const struct prt_io_environment *environment,
                                   struct prt_sink **sink, struct prt_error *error)
{
    (void)spec, (void)environment;
    struct prt_sink *made = prt_sink_make(sizeof(struct prt_sink), &null_sink_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    *sink = made;
    return PRT_OK;
}
