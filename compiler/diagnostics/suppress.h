/* SPDX-License-Identifier: MIT */
/*
 * suppress: the comments that accept findings of a rule.
 *
 *     // pipec: allow(unused-variable) reason="kept for the next version"
 *
 * After code, the comment covers its line. On a line of its own, it covers the next statement, up to its
 * `;` or to the brace that opens its block.  Only rules that are suppressible can be accepted.
 */
#ifndef PIPEC_SUPPRESS_H
#define PIPEC_SUPPRESS_H

#include "compiler/diagnostics/diag.h"
#include "base/vec.h"

struct suppression { /* of one rule by one comment */
    struct span name;
    enum rule rule;      /* RULE_COUNT: there is no such rule */
    struct span comment; /* the whole comment */
    uint32_t begin, end; /* the offsets that it covers */
    struct span reason;  /* the text between the quotes */
    bool has_reason, used;
};

struct suppressions {
    VEC(struct suppression) items;
    VEC(struct span) malformed; /* comments that begin with `pipec:` and have another form */
};

/* The suppressions of source `id`. */
struct suppressions *suppressions_read(struct arena *arena, const struct source *source,
                                       uint32_t id);

#endif
