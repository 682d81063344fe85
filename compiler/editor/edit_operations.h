/* SPDX-License-Identifier: MIT */
/*
 * edit_operations: changes of a pipeline, as edits of its source.
 *
 * An operation is a JSON object; lang/editor.md lists the operations and their members. Places are offsets of net_parts.h. All
 * bytes that the operation does not concern stay as they are; it is refused where it would have to drop a comment.
 */
#ifndef PIPEC_EDIT_OPERATIONS_H
#define PIPEC_EDIT_OPERATIONS_H

#include "compiler/editor/net_parts.h"
#include "compiler/editor/source_edit.h"
#include "compiler/ir/graph.h"

struct edit_subject {
    struct arena *arena;
    const struct source *source; /* without syntax errors */
    uint32_t source_id;
    const struct net_parts *parts;
    const struct graph *graph; /* of the shown pipeline; NULL: it has errors */
};

struct edit_refusal {
    const char *reason; /* NULL: not refused */
    bool has_place;
    uint32_t at; /* in the source */
};

/* Fills edit->edits, at least one, or says why not. */
struct edit_refusal edit_operation(const struct edit_subject *subject, const char *operation,
                                   struct source_edit *edit);

#endif
