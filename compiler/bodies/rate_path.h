/* SPDX-License-Identifier: MIT */
/*
 * rate_path: the execution behind a count of packets, as labels along the body.
 *
 * Shown are the branches that the analysis could not decide (or that come out differently on the
 * way), the rounds of loops, the packets, and, where there are too few, the end of the firing: what
 * has to do with one out-port.  At most RATE_PATH_LABELS of them.
 */
#ifndef PIPEC_RATE_PATH_H
#define PIPEC_RATE_PATH_H

#include "compiler/bodies/ranges.h"
#include "compiler/context/context.h"
#include "compiler/diagnostics/diag.h"

enum { RATE_PATH_LABELS = 10 };

struct rate_path {
    const struct kernel *kernel;
    const struct ks *body;
    const struct walk_step *last; /* of the execution */
    uint32_t port;
    uint64_t least, most; /* as declared; most WALK_UNBOUNDED: not declared */
    bool too_few;         /* the execution appends too few, else too many */
};

void rate_path_show(struct compile *cx, struct diag *d, const struct rate_path *path);

#endif
