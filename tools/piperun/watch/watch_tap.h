/* SPDX-License-Identifier: MIT */
/*
 * watch_tap: keeps the last values of a port's packets, for a scope.
 *
 * The thread that passes the packets puts them in; another one copies them.  The first never waits for the second: if
 * it finds the tap in use, the values of this piece are not kept.
 *
 * Requires: `tap` does not move.  Ownership: watch_tap_create, watch_tap_destroy.
 */
#ifndef TOOLS_PIPERUN_WATCH_WATCH_TAP_H
#define TOOLS_PIPERUN_WATCH_WATCH_TAP_H

#include "tools/piperun/io/stream.h"

#include <pthread.h>

enum { WATCH_VALUES = 4096 };

struct watch_tap {
    enum scalar_type scalar;
    size_t offset_bytes; /* of the first value in a packet */
    size_t count;        /* of consecutive values of a packet */
    size_t width_bytes;  /* of a packet */

    pthread_mutex_t lock; /* of what follows */
    uint64_t packets;     /* that have passed */
    size_t held, next;    /* `values` is a ring */
    double values[WATCH_VALUES];
};

/* All scalars of a packet; of a vector and of a struct of scalars the first one, or the one that `part` names or, from
 * 0, counts.  `part` NULL: none is named.  Fills *tap on success only.  PRT_E_USAGE: there is no such part;
 * PRT_E_NOMEM. */
enum prt_status watch_tap_create(const struct prt_packet *packet, const char *part,
                                 struct watch_tap **tap, struct prt_error *error);
/* NULL is allowed. */
void watch_tap_destroy(struct watch_tap *tap);

void watch_tap_put(struct watch_tap *tap, const void *packets, size_t count);
/* Copies the values, the oldest first; returns their number. */
size_t watch_tap_copy(struct watch_tap *tap, double values[WATCH_VALUES], uint64_t *packets);

#endif
