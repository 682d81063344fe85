/* SPDX-License-Identifier: MIT */
/*
 * group: definitions that the analyses of kernels with work-items share.
 *
 * A value is *varying* if it may differ between the items that compute it, else *uniform*.  Reads
 * of `local` and `state` at a uniform place are uniform: until the next barrier, no other item
 * accesses a place that one item writes (race.h).
 */
#ifndef PIPEC_GROUP_H
#define PIPEC_GROUP_H

#include "compiler/ir/graph.h"

struct group_cause {  /* why a variable is varying */
    struct span span; /* of the cause */
    const char *text; /* "depends on item.x" */
};

struct group_facts {
    struct compile *cx;
    struct kernel *kernel;
    struct arena *arena;
    bool *varying;              /* by variable->index */
    struct group_cause *causes; /* parallel */
};

static inline uint32_t group_items(const struct kernel *kernel)
{
    return kernel->group[0] * kernel->group[1] *
           kernel->group[2]; /* SEMA_MAX_GROUP_ITEMS at most */
}

/* Whether the value may differ between items. */
bool group_varies(const struct group_facts *facts, const struct kx *x);
/* Whether a barrier is in this statement. */
bool group_has_barrier(const struct ks *s);

#endif
