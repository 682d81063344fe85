/* SPDX-License-Identifier: MIT */
#include "tools/piperun/watch/watch_tap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A number in decimal, below `limit`. */
static bool part_number(const char *part, uint64_t limit, uint64_t *number)
{
    char *end;
    if (part[0] < '0' || part[0] > '9') return false;
    *number = strtoull(part, &end, 10);
    return *end == '\0' && *number < limit;
}

/* The field that `part` names or counts; the first one if it is NULL.  NULL: there is no such field. */
static const struct prt_field_information *find_field(const struct prt_packet *packet,
                                                      const char *part)
{
    uint64_t number = 0;
    for (uint32_t i = 0; part != NULL && i < packet->field_count; i++)
        if (strcmp(part, packet->fields[i].name) == 0) return &packet->fields[i];
    if (part != NULL && !part_number(part, packet->field_count, &number)) return NULL;
    return &packet->fields[number];
}

static bool tap_find_part(struct watch_tap *tap, const struct prt_packet *packet, const char *part)
{
    size_t scalar_bytes = scalar_width_bytes(packet->scalar);
    uint64_t number = 0;
    if (packet->field_count > 1) {
        const struct prt_field_information *field = find_field(packet, part);
        if (field == NULL) return false;
        tap->scalar = field->scalar;
        tap->offset_bytes = (size_t)field->offset_bytes;
        tap->count = field->lanes > 1 ? 1 : (size_t)field->count;
        return true;
    }
    uint32_t channels = prt_packet_channels(packet);
    if (part != NULL && (channels == 1 || !part_number(part, channels, &number))) return false;
    tap->offset_bytes = (size_t)number * scalar_bytes;
    tap->count = channels > 1 ? 1 : prt_packet_units(packet);
    return true;
}

enum prt_status watch_tap_create(const struct prt_packet *packet, const char *part,
                                 struct watch_tap **tap, struct prt_error *error)
{
    struct watch_tap *made = calloc(1, sizeof *made);
    if (made == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    made->scalar = packet->scalar;
    made->width_bytes = (size_t)packet->width_bytes;
    if (!tap_find_part(made, packet, part)) {
        free(made);
        return prt_error_set(error, PRT_E_USAGE, "packets of type %s have no part '%s'",
                             packet->type, part);
    }
    int failed = pthread_mutex_init(&made->lock, NULL);
    assert(failed == 0); /* a mutex of this kind needs nothing of the system */
    (void)failed;
    *tap = made;
    return PRT_OK;
}

void watch_tap_destroy(struct watch_tap *tap)
{
    if (tap == NULL) return;
    pthread_mutex_destroy(&tap->lock);
    free(tap);
}

void watch_tap_put(struct watch_tap *tap, const void *packets, size_t count)
{
    size_t scalar_bytes = scalar_width_bytes(tap->scalar);
    size_t kept = WATCH_VALUES / tap->count + 1; /* packets whose values can still be seen */
    if (pthread_mutex_trylock(&tap->lock) != 0) return;
    tap->packets += count;
    for (size_t i = count > kept ? count - kept : 0; i < count; i++) {
        const unsigned char *at =
            (const unsigned char *)packets + i * tap->width_bytes + tap->offset_bytes;
        size_t skipped = tap->count > WATCH_VALUES ? tap->count - WATCH_VALUES : 0;
        for (size_t k = skipped; k < tap->count; k++) {
            tap->values[tap->next] = prt_scalar_value(tap->scalar, at + k * scalar_bytes);
            tap->next = (tap->next + 1) % WATCH_VALUES;
            if (tap->held < WATCH_VALUES) tap->held++;
        }
    }
    pthread_mutex_unlock(&tap->lock);
}

size_t watch_tap_copy(struct watch_tap *tap, double values[WATCH_VALUES], uint64_t *packets)
{
    pthread_mutex_lock(&tap->lock);
    size_t held = tap->held, first = (tap->next + WATCH_VALUES - held) % WATCH_VALUES;
    for (size_t i = 0; i < held; i++)
        values[i] = tap->values[(first + i) % WATCH_VALUES];
    *packets = tap->packets;
    pthread_mutex_unlock(&tap->lock);
    return held;
}
