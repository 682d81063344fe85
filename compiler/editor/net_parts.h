/* SPDX-License-Identifier: MIT */
/*
 * net_parts: the parts of the pipelines of one file, by place: elements of chains, declared buffers, ports.
 *
 * The place of a part is the offset of its first byte: of the label or the name, in the source without a byte-order mark.
 */
#ifndef PIPEC_NET_PARTS_H
#define PIPEC_NET_PARTS_H

#include "base/arena.h"
#include "base/vec.h"
#include "compiler/syntax/ast.h"

struct net_part {
    uint32_t at;
    const struct ast_item *item; /* the pipeline */
    const struct ast_net *
        block; /* whose list the statement is in; NULL: a port, or the body of `for` or `if` without braces */
    const struct ast_net *statement; /* NULL: a port */
    const struct ast_node *element;  /* one of these three */
    const struct ast_buffer *buffer;
    const struct ast_port *port;
};

struct net_parts {
    struct arena *arena;
    VEC(struct net_part) items; /* in order of place */
};

struct net_parts net_parts_of_file(struct arena *arena, const struct ast_file *file);
/* The part at that place, or NULL. */
const struct net_part *net_part_at(const struct net_parts *parts, uint64_t at);
/* True if the element is a buffer of the chain, and no kernel. */
bool net_part_is_use(const struct net_parts *parts, const struct ast_item *item,
                     const struct ast_node *element);

#endif
