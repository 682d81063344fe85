/* SPDX-License-Identifier: MIT */
/* Generators and null.  lang/generate.h defines the packets of a generator. */
#include "tools/piperun/io/io_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lang/generate.h"

struct generator {
    struct prt_source base;
    enum prt_format format;
    uint64_t seed;
    uint64_t next;  /* n of the next packet */
    uint64_t count; /* PRT_PACKETS_UNKNOWN: endless */
};

/* Stores the `width` low bytes of each packet (the host is little-endian, as all storage). */
static void fill_packets(unsigned char *target, const struct generator *generator, size_t width,
                         size_t count)
{
    enum scalar_type type = generator->base.packet;
    for (size_t i = 0; i < count; i++, target += width) {
        uint64_t n = generator->next + i;
        uint64_t bits = generator->format == PRT_FORMAT_RAMP
                            ? generate_ramp(type, n)
                            : generate_noise(type, generator->seed, n);
        memcpy(target, &bits, width);
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
    else
        fill_packets(packets, generator, width, part);
    generator->next += part;
    *count = part;
    return PRT_OK;
}

static void generator_close(struct prt_source *source)
{
    free(source);
}

static const struct prt_source_ops generator_ops = {generator_read, generator_close};

enum prt_status prt_generator_open(const struct prt_port_spec *spec,
                                   const struct prt_packet *layout,
                                   const struct prt_io_environment *environment,
                                   struct prt_source **source, struct prt_error *error)
{
    enum scalar_type packet = layout->scalar;
    (void)environment;
    struct prt_source *made =
        prt_source_make(sizeof(struct generator), &generator_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    struct generator *generator = (struct generator *)made;
    generator->format = spec->format;
    generator->seed = spec->seed;
    generator->count = PRT_PACKETS_UNKNOWN;
    if (spec->has_count &&
        __builtin_mul_overflow(spec->count_packets, prt_packet_units(layout), &generator->count))
        generator->count = PRT_PACKETS_UNKNOWN;
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

enum prt_status prt_null_source_open(const struct prt_port_spec *spec,
                                     const struct prt_packet *layout,
                                     const struct prt_io_environment *environment,
                                     struct prt_source **source, struct prt_error *error)
{
    enum scalar_type packet = layout->scalar;
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

enum prt_status prt_null_sink_open(const struct prt_port_spec *spec,
                                   const struct prt_packet *layout,
                                   const struct prt_io_environment *environment,
                                   struct prt_sink **sink, struct prt_error *error)
{
    enum scalar_type packet = layout->scalar;
    (void)spec, (void)environment;
    struct prt_sink *made = prt_sink_make(sizeof(struct prt_sink), &null_sink_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    *sink = made;
    return PRT_OK;
}
