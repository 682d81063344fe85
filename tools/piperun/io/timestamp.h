/* SPDX-License-Identifier: MIT */
/*
 * timestamp: points in time as text, by RFC 3339: 2026-11-29T22:10:00.25+01:00.
 *
 * A blank may stand for the T.  Without a zone the time is UTC (Z), and without a time of day it is midnight.  Seconds have
 * up to nine digits after the point.  A leap second (:60) is refused.
 *
 * Thread-safety: no state.  Errors: false; nothing is written.
 */
#ifndef TOOLS_PIPERUN_IO_TIMESTAMP_H
#define TOOLS_PIPERUN_IO_TIMESTAMP_H

#include "lang/scalar.h"

#include <stdbool.h>

/* The time since 1970-01-01T00:00:00Z: for i64 and u64 in nanoseconds, for f64 in seconds.  False if the text is no such
 * time, if the type has no such number, and for other types. */
bool prt_timestamp_parse(const char *text, enum scalar_type type, void *scalar);

#endif
