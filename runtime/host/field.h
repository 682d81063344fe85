/* SPDX-License-Identifier: MIT */
/*
 * field: the fields of a port's packets, for readers and writers of packets.
 *
 * A port whose scalars all have one type has no fields.  Otherwise the fields are in the order of their
 * offsets, and do not overlap.
 */
#ifndef RUNTIME_HOST_FIELD_H
#define RUNTIME_HOST_FIELD_H

#include "lang/scalar.h"

#include <stdint.h>

/* A part of a packet: the whole of it (name "") or an innermost field of a struct. */
struct prt_field_information {
    const char *name; /* "pos.x", "parts[2].id" */
    enum scalar_type scalar;
    uint64_t offset_bytes; /* in the packet */
    uint64_t count;        /* number of consecutive scalars */
    const char *shape;     /* "": one scalar; "7, 7" */
    uint32_t lanes;        /* of the vector that they make, innermost; 1: none */
};

#endif
