/* SPDX-License-Identifier: MIT */
/*
 * debug_place: finds the values that a place names (runtime/host/pipert_debug.h, "Places").
 *
 * Requires: a stopped debugger, or one whose scheduler has nothing in flight.
 * Ownership: the bytes belong to the run, and change when it goes on.
 * Errors: PRT_E_USAGE: the text is no place.  A missing packet is no error: `missing` reports it.
 */
#ifndef RUNTIME_DEBUG_DEBUG_PLACE_H
#define RUNTIME_DEBUG_DEBUG_PLACE_H

#include "runtime/debug/debug_internal.h"

enum debug_place_kind {
    DEBUG_PACKETS, /* so many of a buffer */
    DEBUG_VALUE,   /* one value: a packet, a variable, or a part of it */
    DEBUG_BLOCK    /* the variables of a node, of one kind or of all */
};

enum { DEBUG_PATH_MAX = 256, DEBUG_ALL_VARIABLES = -1 };

struct debug_place {
    enum debug_place_kind kind;
    char name[DEBUG_PATH_MAX]; /* as it was given */
    char missing[200];         /* VALUE: why there is none; "" if there is */
    uint32_t buffer;           /* of packets; else PRT_NONE */
    uint64_t first, count;     /* PACKETS: packet numbers */
    uint64_t packet;           /* VALUE of a buffer */
    uint32_t type;             /* VALUE: in TYPES; CONTAINER_NONE: only `scalar` is known */
    enum scalar_type scalar;
    const uint8_t *bytes; /* VALUE that is there */
    uint64_t size_bytes;
    uint32_t stage; /* BLOCK */
    int block_kind; /* BLOCK: enum container_variable_kind, or DEBUG_ALL_VARIABLES */
};

/* Reads a place at *at, and moves *at past it. */
enum prt_status prt_debugger_place_read(const struct prt_debugger *d, const char **at,
                                        struct debug_place *place, struct prt_error *error);

/* Where a packet is in memory; NULL: it is not, any more or yet. */
const uint8_t *prt_debugger_packet_bytes(const struct prt_debugger *d, uint32_t buffer,
                                         uint64_t packet);

/* Follows a path from a packet of the buffer: which scalar, and where in the packet. */
enum prt_status prt_debugger_packet_part(const struct prt_debugger *d, uint32_t buffer,
                                         const char *path, enum scalar_type *scalar,
                                         uint64_t *offset_bytes, struct prt_error *error);

/* Copies the path at *at (fields and indices) and moves *at past it.  Returns false if it is too
 * long. */
bool prt_debugger_path_take(const char **at, char path[static DEBUG_PATH_MAX]);

/* The buffer, or the node, with the longest name that begins the text.  Moves *at past it.  Returns
 * PRT_NONE if there is none. */
uint32_t prt_debugger_take_buffer(const struct prt_debugger *d, const char **at);
uint32_t prt_debugger_take_stage(const struct prt_debugger *d, const char **at);

/* PRT_E_USAGE: there is no such name as the text begins with; the nearest one is offered, or it is said
 * that a node has become a part of a stage. */
enum debug_names { DEBUG_BUFFERS = 1, DEBUG_NODES = 2, DEBUG_KERNELS = 4 };
enum prt_status prt_debugger_refuse_name(const struct prt_debugger *d, unsigned names,
                                         const char *text, struct prt_error *error);

/* Where a variable of the stage's node lies. */
const uint8_t *prt_debugger_variable_bytes(const struct prt_debugger *d, uint32_t stage,
                                           const struct container_variable *variable);

#endif
