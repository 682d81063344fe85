/* SPDX-License-Identifier: MIT */
#include "tools/piperun/run_ports.h"

#include "base/plural.h"
#include "lang/rational.h"
#include "tools/piperun/io/arrival_text.h"
#include "tools/piperun/message.h"
#include "tools/piperun/run_arguments.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads whole packets: a packet may have several scalars, and one read may return some of them. */
static enum prt_status read_port(void *context, void *packets, size_t capacity, size_t *count,
                                 struct prt_error *error)
{
    struct prt_binding *binding = context;
    size_t scalar_bytes = scalar_width_bytes(binding->port.scalar), got = 0;
    if (binding->limited && capacity > binding->packets_left)
        capacity = (size_t)binding->packets_left;
    assert(binding->scalars > 0);
    *count = 0;
    if (capacity == 0) return PRT_OK;
    do {
        size_t part = 0;
        enum prt_status status =
            prt_source_read(binding->source, (char *)packets + got * scalar_bytes,
                            capacity * binding->scalars - got, &part, error);
        /* Whole packets come first; the next call returns the status again. */
        if (status == PRT_E_INTERRUPTED && got >= binding->scalars) break;
        if (status != PRT_OK) return status;
        if (part == 0 && got % binding->scalars != 0)
            return prt_error_set(error, PRT_E_TRUNCATED,
                                 "%s: ends inside a packet of port '%s' (%zu of %zu %s)",
                                 binding->spec.path != NULL ? binding->spec.path : "generator",
                                 binding->port.name, got % binding->scalars, binding->scalars,
                                 prt_packet_is_record(&binding->packet) ? "bytes" : "values");
        if (part == 0) break;
        got += part;
    } while (got % binding->scalars != 0);
    *count = got / binding->scalars;
    atomic_store_explicit(&binding->read_bytes, prt_source_offset(binding->source),
                          memory_order_relaxed);
    if (binding->tap != NULL) watch_tap_put(binding->tap, packets, *count);
    binding->packets_left -= binding->limited ? *count : 0;
    return PRT_OK;
}

static enum prt_status write_port(void *context, const void *packets, size_t count,
                                  struct prt_error *error)
{
    struct prt_binding *binding = context;
    enum prt_status status = PRT_OK;
    if (binding->hash != NULL)
        (void)XXH64_update(binding->hash, packets, count * (size_t)binding->port.width_bytes);
    if (binding->tap != NULL) watch_tap_put(binding->tap, packets, count);
    if (binding->sink != NULL)
        status = prt_sink_write(binding->sink, packets, count * binding->scalars, error);
    if (status == PRT_E_CLOSED_PIPE) binding->closed = true;
    return status;
}

bool prt_binding_is_endless(const struct prt_binding *b)
{
    bool generator = b->spec.format == PRT_FORMAT_RAMP || b->spec.format == PRT_FORMAT_NOISE ||
                     b->spec.format == PRT_FORMAT_ZEROS;
    return b->spec.format == PRT_FORMAT_LIVE || (generator && !b->spec.has_count);
}

static void describe_port(const struct prt_binding *b)
{
    const char *deed = b->port.direction == PRT_PORT_IN ? "reads" : "writes";
    const char *format = prt_format_name(b->spec.format);
    if (b->spec.path != NULL)
        prt_say_done("port '%s' (%s) %s '%s' as %s", b->port.name, b->port.type, deed, b->spec.path,
                     format);
    else
        prt_say_done("port '%s' (%s) %s %s", b->port.name, b->port.type, deed, format);
}

/* Checks that an image has the row length of its port, and whole frames. */
static enum prt_status check_shape(const struct prt_binding *b, struct prt_error *error)
{
    const struct prt_port_information *port = &b->port;
    struct prt_source_information image;
    if (port->row_packets == 0 || !prt_format_is_picture(b->spec.format)) return PRT_OK;
    prt_source_information(b->source, &image);
    uint64_t samples = (uint64_t)image.width_packets * image.channels;
    bool rows = samples == port->row_packets * b->scalars;
    if (!rows && b->scalars * image.channels == 1)
        return prt_error_set(error, PRT_E_FORMAT,
                             "'%s' is %" PRIu32 "x%" PRIu32 ", port '%s' wants rows of %" PRIu64,
                             b->spec.path, image.width_packets, image.height_packets, port->name,
                             port->row_packets);
    if (!rows)
        return prt_error_set(error, PRT_E_FORMAT,
                             "'%s' has rows of %" PRIu32 " x %" PRIu32
                             " samples, port '%s' wants %" PRIu64 " x %zu",
                             b->spec.path, image.width_packets, image.channels, port->name,
                             port->row_packets, b->scalars);
    if (port->frame_rows > 0 && image.height_packets % port->frame_rows != 0)
        return prt_error_set(error, PRT_E_FORMAT,
                             "'%s' is %" PRIu32 "x%" PRIu32 ", port '%s' wants frames of %" PRIu64
                             "x%" PRIu64,
                             b->spec.path, image.width_packets, image.height_packets, port->name,
                             port->row_packets, port->frame_rows);
    return PRT_OK;
}

/* An image takes its rows from its spec, else from the port's shape; a packet of three samples is a
 * pixel.  A spec must agree with the shape. */
static enum prt_status shape_image(struct prt_binding *b, struct prt_error *error)
{
    struct prt_port_spec *spec = &b->spec;
    const struct prt_port_information *port = &b->port;
    if (!prt_format_is_picture(spec->format) || port->row_packets == 0) return PRT_OK;
    if (spec->channels == 0 && b->scalars == 3) spec->channels = 3;
    uint32_t channels = spec->channels > 0 ? spec->channels : 1;
    uint64_t samples = port->row_packets * b->scalars, width = samples / channels;
    if (samples % channels != 0)
        return prt_error_set(error, PRT_E_USAGE,
                             "'%s' is to have %" PRIu32 " samples a pixel, and a row of port '%s' "
                             "(%s) has %" PRIu64 ": that is no whole number of pixels%s",
                             spec->path, channels, port->name, port->type, samples,
                             b->scalars == 1 ? "; a grey image is a .pgm or .png" : "");
    if (spec->width_packets > 0 && spec->width_packets != width)
        return prt_error_set(error, PRT_E_USAGE,
                             "rows of port '%s' are %" PRIu64 " pixels wide in '%s', not %" PRIu32
                             ": leave width= out",
                             port->name, width, spec->path, spec->width_packets);
    if (spec->channels_implied && b->scalars == 1 && spec->width_packets == 0)
        prt_say_note("'%s' gets %" PRIu64 " pixels of %" PRIu32
                     " samples a row: port '%s' (%s) has rows "
                     "of %" PRIu64 "; a grey image is a .pgm or .png",
                     spec->path, width, channels, port->name, port->type, samples);
    if (width <= INT32_MAX) spec->width_packets = (uint32_t)width;
    if (spec->format != PRT_FORMAT_Y4M || port->frame_rows == 0 || port->frame_rows > INT32_MAX)
        return PRT_OK;
    if (spec->height_packets > 0 && spec->height_packets != port->frame_rows)
        return prt_error_set(error, PRT_E_USAGE,
                             "frames of port '%s' have %" PRIu64 " rows in '%s', not %" PRIu32
                             ": leave height= out",
                             port->name, port->frame_rows, spec->path, spec->height_packets);
    spec->height_packets = (uint32_t)port->frame_rows;
    return PRT_OK;
}

/* Samples of several channels one after the other are seldom meant for a port of scalars: channels=
 * must confirm it.  (The ending .ppm does.) */
static enum prt_status check_interleaved(const struct prt_binding *b, struct prt_error *error)
{
    struct prt_source_information file;
    prt_source_information(b->source, &file);
    if (file.channels < 2 || b->spec.channels != 0 || b->scalars > 1) return PRT_OK;
    return prt_error_set(error, PRT_E_FORMAT,
                         "'%s' has %" PRIu32 " channels, a packet of port '%s' (%s) holds 1: "
                         "declare it '%sx%" PRIu32 "', or add channels=%" PRIu32
                         " to read the channels one after the other",
                         b->spec.path, file.channels, b->port.name, b->port.type, b->port.type,
                         file.channels, file.channels);
}

/* Wakes sources that wait. */
static void wake_sources(void *context)
{
    const struct prt_session *session = context;
    uint64_t one = 1;
    ssize_t ignored = write(session->environment.interrupt_fd, &one, sizeof one);
    (void)ignored;
}

/* Ports are read and written in threads beside the pipeline, except inputs that never wait. */
static enum prt_status give_thread(struct prt_session *session, uint32_t port,
                                   struct prt_error *error)
{
    enum { FEW_BYTES = 64 << 10 };
    const struct prt_binding *b = &session->bindings[port];
    if (b->source != NULL) {
        struct prt_source_information source;
        prt_source_information(b->source, &source);
        uint64_t scalar_bytes = scalar_width_bytes(b->port.scalar);
        if (source.at_hand && source.packets <= FEW_BYTES / scalar_bytes) return PRT_OK;
    }
    return prt_run_give_thread(session->run, port, wake_sources, session, error);
}

static enum prt_status give_list(const struct prt_session *session, uint32_t port,
                                 struct prt_error *error)
{
    const char *path = session->bindings[port].spec.arrive_path;
    struct prt_device_statistics device;
    struct prt_arrival_list list;
    struct prt_error why;
    size_t line = SIZE_MAX;
    prt_run_device(session->run, &device);
    enum prt_status status = prt_arrival_list_read(path, device.clock_hz, &list, error);
    if (status != PRT_OK) return status;
    status = prt_run_input_arrivals(session->run, port, list.cycles, list.packets, list.count,
                                    &line, &why);
    if (status == PRT_E_USAGE && line < list.count)
        status = prt_error_set(error, PRT_E_FORMAT, "%s:%zu: %s", path, list.line_numbers[line],
                               why.message);
    else if (status == PRT_E_USAGE && list.count == 0)
        status = prt_error_set(error, PRT_E_FORMAT, "%s: %s", path, why.message);
    else if (status != PRT_OK)
        *error = why;
    prt_arrival_list_free(&list);
    return status;
}

/* Packets arrive as arrive= says.  Such a port, and one that may have to wait for its packets, is eager. */
static enum prt_status choose_eager(const struct prt_session *session, uint32_t port, bool at_hand,
                                    struct prt_error *error)
{
    const struct prt_port_spec *spec = &session->bindings[port].spec;
    enum prt_status status = PRT_OK;
    bool arrives = spec->arrive_packets > 0 || spec->arrive_path != NULL;
    if (spec->arrive_packets > 0)
        status = prt_run_input_rate(session->run, port, spec->arrive_packets, spec->arrive_seconds,
                                    error);
    else if (arrives)
        status = give_list(session, port, error);
    if (status != PRT_OK || spec->full || (at_hand && !arrives)) return status;
    return prt_run_input_eager(session->run, port, error);
}

static enum prt_status open_input(struct prt_session *session, uint32_t port,
                                  struct prt_error *error)
{
    struct prt_binding *b = &session->bindings[port];
    enum prt_status status =
        prt_source_open_packets(&b->spec, &b->packet, &session->environment, &b->source, error);
    if (status == PRT_OK) status = check_interleaved(b, error);
    if (status == PRT_OK) status = check_shape(b, error);
    if (status != PRT_OK) return status;
    b->limited = session->command->has_firings && prt_binding_is_endless(b);
    b->packets_left = session->command->firings;
    describe_port(b);
    status = prt_run_bind_input(session->run, port, read_port, b, error);
    struct prt_source_information source;
    prt_source_information(b->source, &source);
    if (status == PRT_OK && source.at_hand)
        status = prt_run_input_at_hand(session->run, port, error);
    if (status == PRT_OK && prt_binding_is_endless(b) && !b->limited)
        status = prt_run_input_endless(session->run, port, error);
    if (status == PRT_OK) status = choose_eager(session, port, source.at_hand, error);
    return status == PRT_OK ? give_thread(session, port, error) : status;
}

/* ---- the rate of sound and video that is written ---- */

/* The rate that an input implies for an output. */
struct stream_rate {
    const struct prt_binding *input; /* NULL: no input has a rate */
    uint32_t input_hertz;
    struct rational hertz; /* all zero: no exact rate connects the ports */
};

/* The samples of one frame: those of one moment of sound, or of one picture of a video. */
static uint64_t count_frame_samples(const struct prt_port_spec *spec, uint32_t channels,
                                    uint32_t width, uint32_t height)
{
    return spec->format == PRT_FORMAT_Y4M ? (uint64_t)channels * width * height : channels;
}

/* The rate of its file, times the packets of the output for each packet of the input; a packet has
 * scalars / (samples of a frame) frames. */
static enum prt_status frame_rate_from(const struct prt_session *session, uint32_t input,
                                       uint32_t output, struct stream_rate *rate,
                                       struct prt_error *error)
{
    const struct prt_binding *from = &session->bindings[input], *to = &session->bindings[output];
    struct prt_source_information file;
    struct prt_ratio ratio;
    prt_source_information(from->source, &file);
    enum prt_status status = prt_program_port_ratio(session->program, input, output, &ratio, error);
    if (status != PRT_OK) return status;
    uint32_t channels =
        to->spec.channels != 0 ? to->spec.channels : prt_packet_channels(&to->packet);
    uint64_t read =
        count_frame_samples(&from->spec, file.channels, file.width_packets, file.height_packets);
    uint64_t written =
        count_frame_samples(&to->spec, channels, to->spec.width_packets, to->spec.height_packets);
    *rate = (struct stream_rate){from, file.rate_hertz, {file.rate_hertz, file.rate_divisor}};
    if (ratio.denominator == 0 ||
        !rational_scale(rate->hertz, ratio.numerator, ratio.denominator, &rate->hertz) ||
        !rational_scale(rate->hertz, read, written, &rate->hertz) ||
        !rational_scale(rate->hertz, to->scalars, from->scalars, &rate->hertz))
        rate->hertz = (struct rational){0, 0};
    return PRT_OK;
}

/* "44100", or "11025/2", of Hz. */
static const char *hertz_text(struct rational hertz, char text[64])
{
    if (hertz.denominator == 1)
        snprintf(text, 64, "%" PRId64, hertz.numerator);
    else
        snprintf(text, 64, "%" PRId64 "/%" PRId64, hertz.numerator, hertz.denominator);
    return text;
}

/* Are both sound, or both video?  A video may lack its rate. */
static bool have_same_pace(const struct prt_binding *input, const struct prt_binding *output)
{
    struct prt_source_information file;
    if (prt_format_is_sound(output->spec.format)) return prt_format_is_sound(input->spec.format);
    prt_source_information(input->source, &file);
    return input->spec.format == PRT_FORMAT_Y4M && file.rate_hertz > 0;
}

/* The rate that all inputs agree on.  An input without an exact ratio counts only if no other input has one. */
static enum prt_status find_rate(const struct prt_session *session, uint32_t output,
                                 struct stream_rate *found, struct prt_error *error)
{
    *found = (struct stream_rate){NULL, 0, {0, 0}};
    for (uint32_t i = 0; i < session->port_count; i++) {
        const struct prt_binding *b = &session->bindings[i];
        struct stream_rate rate;
        char one[64], other[64];
        if (b->source == NULL || !have_same_pace(b, &session->bindings[output])) continue;
        enum prt_status status = frame_rate_from(session, i, output, &rate, error);
        if (status != PRT_OK) return status;
        if (!rational_is_known(rate.hertz)) {
            if (found->input == NULL ||
                (!rational_is_known(found->hertz) && found->input_hertz == PRT_WAV_RATE))
                *found = rate;
        } else if (found->input == NULL || !rational_is_known(found->hertz)) {
            *found = rate;
        } else if (!rational_equal(found->hertz, rate.hertz)) {
            return prt_error_set(error, PRT_E_USAGE,
                                 "'%s' would have %s Hz after '%s' (%" PRIu32
                                 " Hz), and %s Hz after '%s' (%" PRIu32 " Hz): add rate=N",
                                 session->bindings[output].spec.path, hertz_text(found->hertz, one),
                                 found->input->spec.path, found->input_hertz,
                                 hertz_text(rate.hertz, other), b->spec.path, rate.input_hertz);
        }
    }
    return PRT_OK;
}

/* Exactly, else that of the input: kernels of bounded rates seldom change the number of pictures. */
static void choose_video_rate(struct prt_port_spec *spec, const struct stream_rate *rate)
{
    struct prt_source_information file;
    prt_source_information(rate->input->source, &file);
    spec->rate_hertz = file.rate_hertz;
    spec->rate_divisor = file.rate_divisor;
    struct rational hertz = rate->hertz;
    if (!rational_is_known(hertz) || hertz.numerator > INT32_MAX || hertz.denominator > INT32_MAX)
        return;
    spec->rate_hertz = (uint32_t)hertz.numerator;
    spec->rate_divisor = (uint32_t)hertz.denominator;
}

/* A sound output has the pace of the sound input, and a video output that of the video input, unless rate= gives another one. */
static enum prt_status choose_rate(const struct prt_session *session, uint32_t output,
                                   struct prt_error *error)
{
    struct prt_binding *b = &session->bindings[output];
    struct stream_rate rate;
    char text[64];
    bool video = b->spec.format == PRT_FORMAT_Y4M;
    if ((!video && !prt_format_is_sound(b->spec.format)) || b->spec.rate_hertz != 0) return PRT_OK;
    enum prt_status status = find_rate(session, output, &rate, error);
    if (status != PRT_OK || rate.input == NULL) return status;
    if (video) {
        choose_video_rate(&b->spec, &rate);
        return PRT_OK;
    }
    if (!rational_is_known(rate.hertz)) {
        if (rate.input_hertz != PRT_WAV_RATE)
            prt_say_note("'%s' is written with %u Hz, and '%s' has %" PRIu32
                         ": no exact rate connects the two; rate=N says which it is to have",
                         b->spec.path, PRT_WAV_RATE, rate.input->spec.path, rate.input_hertz);
        return PRT_OK;
    }
    int64_t whole = rate.hertz.numerator / rate.hertz.denominator;
    int64_t rest = rate.hertz.numerator % rate.hertz.denominator;
    int64_t nearest = whole + (rest >= rate.hertz.denominator - rest);
    if (nearest < 1 || nearest > INT32_MAX)
        return prt_error_set(error, PRT_E_USAGE,
                             "'%s' would have %s Hz after '%s' (%" PRIu32
                             " Hz), which a sound file cannot have: add rate=N",
                             b->spec.path, hertz_text(rate.hertz, text), rate.input->spec.path,
                             rate.input_hertz);
    if (rest != 0)
        prt_say_note("'%s' is written with %" PRId64 " Hz, and would have %s after '%s' (%" PRIu32
                     " Hz); rate=N says which it is to have",
                     b->spec.path, nearest, hertz_text(rate.hertz, text), rate.input->spec.path,
                     rate.input_hertz);
    b->spec.rate_hertz = (uint32_t)nearest;
    return PRT_OK;
}

/* A null output has no callback, so it does not keep a run alive whose other outputs have been
 * closed. */
static enum prt_status open_output_port(struct prt_session *session, uint32_t port,
                                        struct prt_error *error)
{
    struct prt_binding *b = &session->bindings[port];
    bool dropped = !b->bound || b->spec.format == PRT_FORMAT_NULL;
    if (b->spec.full || b->spec.arrive_packets > 0 || b->spec.arrive_path != NULL)
        return prt_error_set(error, PRT_E_USAGE, "port '%s' is an out-port: %s is for in-ports",
                             b->port.name, b->spec.full ? "full" : "arrive=");
    enum prt_status status = shape_image(b, error);
    if (status == PRT_OK && !dropped) status = choose_rate(session, port, error);
    if (status == PRT_OK && !dropped)
        status =
            prt_sink_open_packets(&b->spec, &b->packet, &session->environment, &b->sink, error);
    if (status != PRT_OK) return status;
    if (b->bound) describe_port(b);
    bool used = !dropped || b->hash != NULL || b->tap != NULL;
    status = prt_run_bind_output(session->run, port, used ? write_port : NULL, b, error);
    return status == PRT_OK && used ? give_thread(session, port, error) : status;
}

int prt_ports_open(struct prt_session *session)
{
    struct prt_error error;
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < session->port_count && status == PRT_OK; i++) {
        if (session->bindings[i].port.direction == PRT_PORT_IN)
            status = open_input(session, i, &error);
    }
    if (status == PRT_OK) status = prt_arguments_take(session, &error);
    for (uint32_t i = 0; i < session->port_count && status == PRT_OK; i++) {
        if (session->bindings[i].port.direction == PRT_PORT_OUT)
            status = open_output_port(session, i, &error);
    }
    return status == PRT_OK ? EXIT_DONE : prt_complain_status(&error);
}

enum prt_status prt_ports_publish(struct prt_session *session, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < session->port_count && status == PRT_OK; i++) {
        struct prt_binding *b = &session->bindings[i];
        if (b->sink == NULL || b->closed) continue;
        status = prt_sink_prepare(b->sink, error);
        if (status == PRT_E_CLOSED_PIPE) {
            b->closed = true;
            status = PRT_OK;
        }
    }
    for (uint32_t i = 0; i < session->port_count && status == PRT_OK; i++) {
        struct prt_binding *b = &session->bindings[i];
        if (b->sink == NULL || b->closed) continue;
        status = prt_sink_finish(b->sink, error);
        if (status == PRT_OK) prt_say_done("wrote '%s'", b->spec.path);
    }
    return status;
}

/* Sound that a live device has lost is reported, though the run has ended well. */
static void report_losses(const struct prt_binding *b)
{
    uint64_t read = b->source != NULL ? prt_source_losses(b->source) : 0;
    uint64_t written = b->sink != NULL ? prt_sink_losses(b->sink) : 0;
    if (read > 0)
        prt_say_note("'%s' lost sound %" PRIu64 " time%s, because the pipeline was too slow",
                     b->spec.path, read, plural(read));
    if (written > 0)
        prt_say_note("'%s' had a gap %" PRIu64 " time%s, because the pipeline was too slow",
                     b->spec.path, written, plural(written));
}

void prt_ports_close(struct prt_session *session)
{
    for (uint32_t i = 0; session->bindings != NULL && i < session->port_count; i++) {
        struct prt_binding *b = &session->bindings[i];
        report_losses(b);
        prt_source_close(b->source);
        prt_sink_close(b->sink);
        if (b->bound) prt_port_spec_free(&b->spec);
        if (b->hash != NULL) (void)XXH64_freeState(b->hash);
        watch_tap_destroy(b->tap);
        free(b->fields);
    }
    free(session->bindings);
    free(session->given);
}
