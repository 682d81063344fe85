/* SPDX-License-Identifier: MIT */
/*
 * bitwidth: integers of few bits computed in few bits.
 *
 * A kernel computes u8 and i16 packets in i32 or u32, as the language says. Yet a sum of nine pixels fits
 * 16 bits, of which a register holds twice as many.  LLVM narrows what is cut off in the end, but knows no ranges: an
 * absolute value or a comparison keeps all of it wide.
 *
 * Method: expressions and locals whose values meet in an operation, an assignment or a comparison are one *island*.
 * An island is computed in i16, or in u16, where bodies/ranges shows that every value in it fits, something narrow
 * flows into it, and what has to be widened again is less than what is computed.  Then every operation gives the
 * same value: sums, differences and products are exact modulo 2^16 and fit; quotients, shifts and comparisons have
 * operands that fit.  Values that address packets and items, count rounds or select a case keep their width.
 *
 * Reference: Stephenson, Babb, Amarasinghe, "Bitwidth analysis with application to silicon compilation", PLDI 2000.
 */
#ifndef PIPEC_BITWIDTH_H
#define PIPEC_BITWIDTH_H

#include "compiler/ir/kernel.h"
#include "compiler/context/context.h"

/* The kernel with a body of its own in which that has been done; the kernel itself where there is nothing to gain.
 * It has no state, launches or work-items, else nothing is done.  Requires bodies/range_check; what it reports again is
 * dropped.  The result lives in `arena`. */
struct kernel *narrow_kernel(struct compile *cx, struct types *types, struct arena *arena,
                             struct kernel *kernel);

#endif
