/* SPDX-License-Identifier: MIT */
/*
 * picture_fold: which nodes of a graph a drawing shows as one.
 *
 * The names of nodes are a tree: `rx.band[2].scale` is the node `scale` in the pipeline `band[2]` in the pipeline `rx`. An
 * *item* is a node, or all nodes of one pipeline. FOLD_LEAST or more items that follow each other are drawn as one:
 *   - an array: they are called base[..], and no packets go between them
 *   - a chain: packets go from each to the next one, and in an unnamed chain from and to no other item
 * They have the same kernels, connected in the same way inside. The first of them stands for all.
 */
#ifndef PIPEC_PICTURE_FOLD_H
#define PIPEC_PICTURE_FOLD_H

#include "compiler/ir/graph.h"

enum {
    FOLD_LEAST = 4,
    PICTURE_LEVELS_MAX = 32, /* pipelines in pipelines that are drawn as boxes */
};

struct fold_item {
    uint32_t begin, end; /* nodes */
    size_t from, length; /* of its part of their names */
    bool is_pipeline;
};

struct fold_group {
    struct fold_item first;
    uint32_t members;
    bool is_chain;
    const char *last_name; /* of the last member, without the names of the pipelines around */
    uint32_t next;         /* of the groups that begin with the same node, + 1; 0: none */
};

struct picture_fold {
    uint32_t *shown; /* by node: the node that stands for it */
    uint32_t *
        member_of; /* by node of a member after the first: the group, + 1; 0: none. Of several groups, the outermost */
    VEC(struct fold_group) groups;
    uint32_t *first_group; /* by node, + 1; 0: none */
};

/* Without `folds`, every node stands for itself. */
struct picture_fold picture_fold_make(struct arena *arena, const struct graph *graph, bool folds);
/* The item at node `begin`, among nodes up to `end` whose names are equal up to `from`. */
struct fold_item fold_item_at(const struct graph *graph, uint32_t begin, uint32_t end, size_t from,
                              unsigned level);
/* Are they in two members of one group? */
bool fold_is_link(const struct picture_fold *fold, uint32_t from, uint32_t to);
/* The group whose first member the item is; NULL: none. */
const struct fold_group *fold_group_of(const struct picture_fold *fold,
                                       const struct fold_item *item);

#endif
