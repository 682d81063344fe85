/* SPDX-License-Identifier: MIT */
/*
 * rate_path: an execution that appends a given count of packets, as labels along the body.
 *
 * It shows the steps that concern one out-port: branches that the analysis could not decide or that
 * go both ways on the path, rounds of loops, packets and, if there are too few packets, the end of
 * the firing.  At most RATE_PATH_LABELS of them.
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
