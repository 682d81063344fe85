/* SPDX-License-Identifier: MIT */
/*
 * columns: the numbers of a packet as text, for formats with a packet a line.
 *
 * A column is one scalar of the packet.  The columns are in the order of their offsets.
 *
 * Requires: prt_number_parse and prt_number_print run under the locale "C": uselocale(columns->locale).
 * Ownership: prt_columns_free frees what prt_columns_make made; the packet's description belongs to the caller, and
 *   outlives the columns.
 * Errors: PRT_E_USAGE if a packet has more than PRT_COLUMNS_MAX numbers; PRT_E_NOMEM.
 */
#ifndef TOOLS_PIPERUN_IO_COLUMNS_H
#define TOOLS_PIPERUN_IO_COLUMNS_H

#include "tools/piperun/io/stream.h"

#include <locale.h>

enum {
    PRT_COLUMNS_MAX = 900, /* a line fits the reader's buffer */
    PRT_COLUMN_NAME_BYTES = 256,
    PRT_NUMBER_BYTES = 48
};

struct prt_column {
    enum scalar_type scalar;
    size_t offset_bytes;                       /* in the packet */
    const struct prt_field_information *field; /* that it is a part of, or NULL */
    uint64_t part;                             /* number of the scalar in the field */
};

/* Where the numbers of a line belong. */
struct prt_columns {
    struct prt_column *items; /* owned */
    size_t count;
    size_t units;       /* a packet has so many elements (prt_packet_units) */
    size_t width_bytes; /* of a packet */
    locale_t locale;    /* "C"; owned */
};

/* `name`: of the file, for messages. */
enum prt_status prt_columns_make(struct prt_columns *columns, const char *name,
                                 const struct prt_packet *layout, struct prt_error *error);
/* Of zeroed columns: nothing. */
void prt_columns_free(struct prt_columns *columns);

/* The name of a column: that of its field, of a packet without names that of the port; with the indices of a part. */
void prt_column_name(const struct prt_columns *columns, size_t index, const char *port,
                     char name[PRT_COLUMN_NAME_BYTES]);

/* Reads all of `text` as a number of the type.  False: it is none, or out of range.
 *   integers  decimal, with a sign if the type has one
 *   bool      a number (0 or not), true, false
 *   floats    as strtod reads them: decimal, hexadecimal, inf, nan; to the nearest
 *   times     timestamp.h */
bool prt_number_parse(const char *text, enum scalar_type type, void *packet);

/* Writes a scalar: integers in decimal, bool as 0 or 1, floats with the fewest digits that read back as the same value;
 * nan, inf, -inf.  Returns the length, less than PRT_NUMBER_BYTES - 1. */
int prt_number_print(char *text, enum scalar_type type, const unsigned char *packet);

#endif
