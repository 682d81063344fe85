/* SPDX-License-Identifier: MIT */
/*
 * scalar_text: values of scalar types as people write them on a command line.
 *
 * No state; thread-safe while no other thread changes the locale.
 */
#ifndef LANG_SCALAR_TEXT_H
#define LANG_SCALAR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/scalar.h"

/* Reads all of `text` as a value of `type`: integers in C notation (decimal, 0x, 0), floats decimal
 * or hexadecimal, inf and nan too; bool as true, false, 1, 0.  *bits: integers sign- or
 * zero-extended to 64, f32 in the low half, f64 whole.  False: not a value, or outside the type's
 * range. */
bool scalar_parse(const char *text, enum scalar_type type, uint64_t *bits);
/* Writes why scalar_parse does not take `text`: "'1e99' is outside of f32: -3.4028235e+38 to
 * 3.4028235e+38".  A long text is cut. */
enum { SCALAR_WHY_BYTES = 256 };
void scalar_explain(const char *text, enum scalar_type type, char *out, size_t out_bytes);
/* Reads all of `text` as exactly `count` values with commas between them, as scalar_parse; blanks may follow a comma.
 * bits[i]: value i.  False: *why says which value is wrong, or how many there are. */
bool scalar_list_parse(const char *text, enum scalar_type type, uint64_t count, uint64_t *bits,
                       char *why, size_t why_bytes);
/* Writes the shortest decimal text that reads back as the same value. */
void scalar_format(enum scalar_type type, uint64_t bits, char *out, size_t out_bytes);

#endif
