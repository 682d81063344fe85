/* SPDX-License-Identifier: MIT */
/* live sound: the devices of libasound, which include those of PipeWire and JACK.
 *
 *   alsa:NAME         the device NAME ("default", "hw:1", "plughw:CARD=USB")
 *   pipewire:[NODE]   the device "pipewire", of the package pipewire-alsa
 *   jack:             the device "jack" of libasound2-plugins
 *
 * The library is loaded when such a port is opened.  Its ABI has been the same since version 0.9; the functions used are
 * declared here, so that building needs no header of it.
 *
 * Channels are interleaved.  u8, i16 and i32 are samples of these widths, f32 and f64 are floats of 32 bits from -1 to 1;
 * the device converts, also the rate.  An input has no end.  If a side is too slow, the device drops sound or plays a
 * gap: the stream goes on, and the losses are counted. */
#include "base/library_functions.h"
#include "tools/piperun/io/io_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libasound.so.2"
#define LATENCY_MICROSECONDS 100000
#define WAIT_MILLISECONDS 50
#define FRAMES_PART 1024
#define SAMPLE_BYTES 4 /* of the longest sample */

/* Of asoundlib.h. */
enum { STREAM_PLAYBACK = 0, STREAM_CAPTURE = 1, ACCESS_INTERLEAVED = 3, MODE_NONBLOCK = 1 };
enum { FORMAT_U8 = 1, FORMAT_S16_LE = 2, FORMAT_S32_LE = 10, FORMAT_FLOAT_LE = 14 };
typedef void error_handler(const char *file, int line, const char *function, int error,
                           const char *format, ...);

/* Each named as in asoundlib.h after `snd_` or `snd_pcm_`. */
struct live_library {
    void *handle;
    int (*open)(void **pcm, const char *name, int stream, int mode);
    int (*set_params)(void *pcm, int format, int access, unsigned channels, unsigned rate,
                      int resample, unsigned latency);
    long (*readi)(void *pcm, void *buffer, unsigned long frames);
    long (*writei)(void *pcm, const void *buffer, unsigned long frames);
    int (*start)(void *pcm);
    int (*wait)(void *pcm, int milliseconds);
    int (*recover)(void *pcm, int error, int silent);
    int (*drain)(void *pcm);
    int (*close)(void *pcm);
    const char *(*strerror)(int error);
    int (*set_error_handler)(error_handler *handler);
    int (*free_configuration)(void); /* snd_config_update_free_global */
};

/* An open device. */
struct live_device {
    struct live_library library;
    void *pcm;  /* NULL: not open */
    char *name; /* as the spec writes it; owned */
    enum scalar_type sample;
    uint32_t channels;
};

struct live_source {
    struct prt_source base;
    struct live_device device;
    int interrupt_fd;       /* -1: none */
    unsigned char *samples; /* owned: FRAMES_PART frames */
    size_t next, available; /* samples of these that are unread: [next, available) */
};

struct live_sink {
    struct prt_sink base;
    struct live_device device;
    unsigned char *samples; /* owned: FRAMES_PART frames */
    size_t used;            /* samples of these that are not written yet */
};

/* --- the library --- */

static void ignore_message(const char *file, int line, const char *function, int error,
                           const char *format, ...)
{
    (void)file, (void)line, (void)function, (void)error, (void)format;
}

static bool find_live_functions(struct live_library *library)
{
    const struct library_function rows[] = {
        {"snd_pcm_open", &library->open},
        {"snd_pcm_set_params", &library->set_params},
        {"snd_pcm_readi", &library->readi},
        {"snd_pcm_writei", &library->writei},
        {"snd_pcm_start", &library->start},
        {"snd_pcm_wait", &library->wait},
        {"snd_pcm_recover", &library->recover},
        {"snd_pcm_drain", &library->drain},
        {"snd_pcm_close", &library->close},
        {"snd_strerror", &library->strerror},
        {"snd_lib_error_set_handler", &library->set_error_handler},
        {"snd_config_update_free_global", &library->free_configuration}};
    return library_find_functions(library->handle, rows, sizeof rows / sizeof rows[0]) == NULL;
}

static enum prt_status load_live_library(struct live_library *library, const char *name,
                                         struct prt_error *error)
{
    library->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library->handle != NULL && find_live_functions(library)) {
        (void)library->set_error_handler(ignore_message); /* it would write to standard error */
        return PRT_OK;
    }
    return prt_error_set(error, PRT_E_OPEN,
                         "'%s': cannot load %s, which leads to sound devices: %s (the package "
                         "libasound2 has it)",
                         name, LIBRARY, dlerror());
}

/* --- devices --- */

/* The name that libasound knows.  NULL: no memory. */
static char *find_alsa_name(const char *spec)
{
    static const struct {
        const char *prefix, *device;
    } rows[] = {{"alsa:", ""}, {"pipewire:", "pipewire"}, {"jack:", "jack"}};
    char *name = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = strlen(rows[i].prefix);
        if (strncmp(spec, rows[i].prefix, length) != 0) continue;
        const char *rest = spec + length, *device = rows[i].device;
        bool both = device[0] != '\0' && rest[0] != '\0';
        if (device[0] == '\0' && rest[0] == '\0') device = "default";
        if (asprintf(&name, "%s%s%s", device, both ? ":NODE=" : "", rest) < 0) return NULL;
        break;
    }
    return name;
}

/* The sample of the device for packets of that type. */
static bool choose_sample(enum scalar_type packet, enum scalar_type *sample, int *format)
{
    *sample = packet;
    switch (packet) {
    case SCALAR_U8: *format = FORMAT_U8; return true;
    case SCALAR_I16: *format = FORMAT_S16_LE; return true;
    case SCALAR_I32: *format = FORMAT_S32_LE; return true;
    case SCALAR_F64:
        *sample = SCALAR_F32;
        *format = FORMAT_FLOAT_LE;
        return true;
    case SCALAR_F32: *format = FORMAT_FLOAT_LE; return true;
    default: return false;
    }
}

static const char *live_remedy(const char *name)
{
    if (strncmp(name, "pipewire:", 9) == 0) return "the package pipewire-alsa has this device";
    if (strncmp(name, "jack:", 5) == 0) return "the package libasound2-plugins has this device";
    return "'aplay -L' and 'arecord -L' list the devices";
}

static void close_device(struct live_device *device)
{
    if (device->pcm != NULL) (void)device->library.close(device->pcm);
    if (device->library.free_configuration != NULL) (void)device->library.free_configuration();
    if (device->library.handle != NULL) (void)dlclose(device->library.handle);
    free(device->name);
    *device = (struct live_device){.pcm = NULL};
}

/* Opens it, and gets memory for FRAMES_PART frames.  After a failure the caller closes it. */
static enum prt_status open_live_device(struct live_device *device,
                                        const struct prt_port_spec *spec,
                                        const struct prt_packet *layout, int stream,
                                        unsigned char **samples, struct prt_error *error)
{
    int format = 0;
    uint32_t rate = spec->rate_hertz > 0 ? spec->rate_hertz : PRT_WAV_RATE;
    if (!choose_sample(layout->scalar, &device->sample, &format))
        return prt_error_set(error, PRT_E_USAGE,
                             "'%s': live sound has packets of u8, i16, i32, f32 or f64, not %s",
                             spec->path, layout->type);
    device->name = strdup(spec->path);
    char *name = find_alsa_name(spec->path);
    device->channels = prt_io_channels(spec, layout);
    enum prt_status status = device->name == NULL || name == NULL
                                 ? prt_io_no_memory(error)
                                 : load_live_library(&device->library, spec->path, error);
    const struct live_library *library = &device->library;
    if (status == PRT_OK) {
        int code =
            library->open(&device->pcm, name, stream, stream == STREAM_CAPTURE ? MODE_NONBLOCK : 0);
        if (code < 0) {
            device->pcm = NULL;
            status = prt_error_set(error, PRT_E_OPEN, "'%s': cannot open: %s (%s)", spec->path,
                                   library->strerror(code), live_remedy(spec->path));
        }
    }
    if (status == PRT_OK) {
        int code = library->set_params(device->pcm, format, ACCESS_INTERLEAVED, device->channels,
                                       rate, 1, LATENCY_MICROSECONDS);
        if (code == 0 && stream == STREAM_CAPTURE) code = library->start(device->pcm);
        if (code < 0)
            status = prt_error_set(error, PRT_E_OPEN,
                                   "'%s': the device refuses %u channel%s of %s at %u Hz: %s",
                                   spec->path, device->channels, device->channels == 1 ? "" : "s",
                                   scalar_name(device->sample), rate, library->strerror(code));
    }
    free(name);
    if (status != PRT_OK) return status;
    *samples = calloc((size_t)FRAMES_PART * device->channels, SAMPLE_BYTES);
    return *samples != NULL ? PRT_OK : prt_io_no_memory(error);
}

/* After an error of a transfer: the device is made ready again.  Lost sound is counted. */
static enum prt_status recover_device(struct live_device *device, long code, bool capture,
                                      uint64_t *losses, struct prt_error *error)
{
    int failed = device->library.recover(device->pcm, (int)code, 1);
    if (failed == 0 && capture) failed = device->library.start(device->pcm);
    *losses += code == -EPIPE || code == -ESTRPIPE;
    if (failed == 0) return PRT_OK;
    return prt_error_set(error, capture ? PRT_E_READ : PRT_E_WRITE, "%s: %s", device->name,
                         device->library.strerror((int)code));
}

/* --- source --- */

static bool is_reading_interrupted(const struct live_source *live)
{
    struct pollfd polled = {live->interrupt_fd, POLLIN, 0};
    return live->interrupt_fd >= 0 && poll(&polled, 1, 0) > 0;
}

/* Waits for the next frames. */
static enum prt_status read_frames(struct live_source *live, struct prt_error *error)
{
    struct live_device *device = &live->device;
    for (;;) {
        if (is_reading_interrupted(live))
            return prt_error_set(error, PRT_E_INTERRUPTED, "%s: reading was interrupted",
                                 device->name);
        long frames = device->library.readi(device->pcm, live->samples, FRAMES_PART);
        if (frames > 0) {
            live->next = 0;
            live->available = (size_t)frames * device->channels;
            return PRT_OK;
        }
        if (frames == 0 || frames == -EAGAIN) {
            (void)device->library.wait(device->pcm, WAIT_MILLISECONDS);
            continue;
        }
        enum prt_status status = recover_device(device, frames, true, &live->base.losses, error);
        if (status != PRT_OK) return status;
    }
}

static enum prt_status live_read(struct prt_source *source, void *packets, size_t capacity,
                                 size_t *count, struct prt_error *error)
{
    struct live_source *live = (struct live_source *)source;
    if (live->next == live->available) {
        enum prt_status status = read_frames(live, error);
        if (status != PRT_OK) return status;
    }
    size_t part = live->available - live->next < capacity ? live->available - live->next : capacity;
    size_t width = scalar_width_bytes(live->device.sample);
    (void)prt_io_convert(packets, source->packet, live->samples + live->next * width,
                         live->device.sample, part);
    live->next += part;
    *count = part;
    return PRT_OK;
}

static void live_source_close(struct prt_source *source)
{
    struct live_source *live = (struct live_source *)source;
    close_device(&live->device);
    free(live->samples);
    free(source);
}

static const struct prt_source_ops live_source_ops = {live_read, live_source_close};

enum prt_status prt_live_source_open(const struct prt_port_spec *spec,
                                     const struct prt_packet *layout,
                                     const struct prt_io_environment *environment,
                                     struct prt_source **source, struct prt_error *error)
{
    struct live_source *live = (struct live_source *)prt_source_make(sizeof *live, &live_source_ops,
                                                                     layout->scalar, error);
    if (live == NULL) return PRT_E_NOMEM;
    live->interrupt_fd = environment != NULL ? environment->interrupt_fd : -1;
    enum prt_status status =
        open_live_device(&live->device, spec, layout, STREAM_CAPTURE, &live->samples, error);
    if (status != PRT_OK) {
        live_source_close(&live->base);
        return status;
    }
    live->base.information.channels = live->device.channels;
    live->base.information.rate_hertz = spec->rate_hertz > 0 ? spec->rate_hertz : PRT_WAV_RATE;
    live->base.waits = true;
    *source = &live->base;
    return PRT_OK;
}

/* --- sink --- */

static enum prt_status write_frames(struct live_sink *live, struct prt_error *error)
{
    struct live_device *device = &live->device;
    size_t width = scalar_width_bytes(device->sample), frames = live->used / device->channels;
    for (size_t done = 0; done < frames;) {
        long code = device->library.writei(
            device->pcm, live->samples + done * device->channels * width, frames - done);
        enum prt_status status =
            code < 0 ? recover_device(device, code, false, &live->base.losses, error) : PRT_OK;
        if (status != PRT_OK) return status;
        done += code > 0 ? (size_t)code : 0;
    }
    size_t rest = live->used % device->channels;
    memmove(live->samples, live->samples + (live->used - rest) * width, rest * width);
    live->used = rest;
    return PRT_OK;
}

static enum prt_status live_write(struct prt_sink *sink, const void *packets, size_t count,
                                  struct prt_error *error)
{
    struct live_sink *live = (struct live_sink *)sink;
    const unsigned char *next = packets;
    size_t capacity = (size_t)FRAMES_PART * live->device.channels;
    size_t width = scalar_width_bytes(live->device.sample);
    while (count > 0) {
        size_t part = count < capacity - live->used ? count : capacity - live->used;
        (void)prt_io_convert(live->samples + live->used * width, live->device.sample, next,
                             sink->packet, part);
        live->used += part;
        next += part * scalar_width_bytes(sink->packet);
        count -= part;
        enum prt_status status = write_frames(live, error);
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

/* Plays what the device still has. */
static enum prt_status live_complete(struct prt_sink *sink, struct prt_error *error)
{
    struct live_sink *live = (struct live_sink *)sink;
    const struct live_library *library = &live->device.library;
    int code = library->drain(live->device.pcm);
    if (live->used > 0)
        return prt_error_set(error, PRT_E_FORMAT, "%s: the last frame has %zu of %u samples",
                             live->device.name, live->used, live->device.channels);
    if (code == 0) return PRT_OK;
    return prt_error_set(error, PRT_E_WRITE, "%s: cannot play to the end: %s", live->device.name,
                         library->strerror(code));
}

static void live_release(struct prt_sink *sink)
{
    struct live_sink *live = (struct live_sink *)sink;
    close_device(&live->device);
    free(live->samples);
}

static const struct prt_sink_ops live_sink_ops = {live_write, live_complete, live_release};

enum prt_status prt_live_sink_open(const struct prt_port_spec *spec,
                                   const struct prt_packet *layout,
                                   const struct prt_io_environment *environment,
                                   struct prt_sink **sink, struct prt_error *error)
{
    (void)environment;
    struct live_sink *live =
        (struct live_sink *)prt_sink_make(sizeof *live, &live_sink_ops, layout->scalar, error);
    if (live == NULL) return PRT_E_NOMEM;
    enum prt_status status =
        open_live_device(&live->device, spec, layout, STREAM_PLAYBACK, &live->samples, error);
    if (status != PRT_OK) {
        prt_sink_close(&live->base);
        return status;
    }
    *sink = &live->base;
    return PRT_OK;
}
