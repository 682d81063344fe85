/* SPDX-License-Identifier: MIT */
/* raw: packets one after the other, nothing else.  The type is raw:TYPE or the port's. */
#include "tools/piperun/io/io_internal.h"

#include <stdlib.h>

struct raw_source {
    struct prt_source base;
    struct prt_io_reader reader;
    struct prt_io_elements elements;
};

struct raw_sink {
    struct prt_sink base;
    enum scalar_type element;
    bool big_endian;
};

static enum prt_status raw_read(struct prt_source *source, void *packets, size_t capacity,
                                size_t *count, struct prt_error *error)
{
    struct raw_source *raw = (struct raw_source *)source;
    return prt_io_elements_read(&raw->reader, &raw->elements, source->packet, packets, capacity,
                                count, error);
}

static void raw_close(struct prt_source *source)
{
    prt_io_reader_close(&((struct raw_source *)source)->reader);
    free(source);
}

static const struct prt_source_ops raw_source_ops = {raw_read, raw_close};

enum prt_status prt_raw_source_open(const struct prt_port_spec *spec,
                                    const struct prt_packet *layout,
                                    const struct prt_io_environment *environment,
                                    struct prt_source **source, struct prt_error *error)
{
    enum scalar_type packet = layout->scalar;
    enum scalar_type element;
    enum prt_status status = prt_io_element(spec, layout, &element, error);
    if (status != PRT_OK) return status;
    struct prt_source *made =
        prt_source_make(sizeof(struct raw_source), &raw_source_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    struct raw_source *raw = (struct raw_source *)made;
    made->reader = &raw->reader;
    status = prt_io_reader_open(&raw->reader, spec->path, environment, error);
    if (status != PRT_OK) {
        free(made);
        return status;
    }
    raw->elements = (struct prt_io_elements){element, spec->big_endian, PRT_PACKETS_UNKNOWN};
    if (raw->reader.regular)
        made->information.packets = raw->reader.size_bytes / scalar_width_bytes(element);
    *source = made;
    return PRT_OK;
}

static enum prt_status raw_write(struct prt_sink *sink, const void *packets, size_t count,
                                 struct prt_error *error)
{
    struct raw_sink *raw = (struct raw_sink *)sink;
    return prt_sink_put_elements(sink, raw->element, raw->big_endian, packets, count, error);
}

static const struct prt_sink_ops raw_sink_ops = {raw_write, NULL, NULL};

enum prt_status prt_raw_sink_open(const struct prt_port_spec *spec, const struct prt_packet *layout,
                                  const struct prt_io_environment *environment,
                                  struct prt_sink **sink, struct prt_error *error)
{
    enum scalar_type packet = layout->scalar;
    enum scalar_type element;
    enum prt_status status = prt_io_element(spec, layout, &element, error);
    if (status != PRT_OK) return status;
    struct prt_sink *made = prt_sink_make(sizeof(struct raw_sink), &raw_sink_ops, packet, error);
    if (made == NULL) return PRT_E_NOMEM;
    status = prt_io_writer_open(&made->writer, spec->path, false, environment, error);
    if (status != PRT_OK) {
        free(made);
        return status;
    }
    ((struct raw_sink *)made)->element = element;
    ((struct raw_sink *)made)->big_endian = spec->big_endian;
    *sink = made;
    return PRT_OK;
}
