/* SPDX-License-Identifier: MIT */
#include "compiler/optimize/region/region_report.h"

struct report {
    const struct expr_build *tree;
    struct region_space *space;
    const struct region *region;
    uint64_t
        each; /* packets of the in-port for one of each in-end: more than 1 in an interleaved region */
};

/* first <= more && more <= last */
static struct kx *is_between(const struct report *r, const struct variable *more, uint64_t first,
                             uint64_t last)
{
    const struct expr_build *t = r->tree;
    struct kx *from = build_compare(t, OP_GE, build_variable(t, more), build_i64(t, first));
    struct kx *both = build_kx(t, KX_LOGICAL, from->type);
    both->op = OP_LOGICAL_AND;
    both->left = from;
    both->right = build_compare(t, OP_LE, build_variable(t, more), build_i64(t, last));
    return both;
}

static struct ks *build_stop(const struct report *r, struct kx *packets)
{
    struct ks *stop = build_ks(r->tree, KS_STOP);
    stop->expr = build_binary(r->tree, OP_MUL, packets->type, packets, build_i64(r->tree, r->each));
    return stop;
}

/* Says that `more` packets are left over, for each value from `first` to `last` for which the members leave some. */
static void say_between(const struct report *r, struct build_list *list,
                        const struct variable *more, bool fired, uint64_t first, uint64_t last)
{
    for (uint64_t i = first; i <= last; i++) {
        uint64_t begin = i;
        if (!region_leaves(r->space, r->region, fired, i)) continue;
        while (i < last && region_leaves(r->space, r->region, fired, i + 1))
            i++;
        build_append(list, build_if(r->tree, is_between(r, more, begin, i),
                                    build_stop(r, build_variable(r->tree, more))));
    }
}

/* After an iteration: more = (rest - history) % packets of an iteration */
static struct ks *report_fired(const struct report *r, const struct variable *rest)
{
    const struct expr_build *t = r->tree;
    const struct region_end *in = &r->region->in.items[0];
    struct build_list list = {0};
    uint64_t history = in->peek - in->packets;
    struct variable *more = build_local(t, "more", rest->type, true);
    struct kx *past =
        build_binary(t, OP_SUB, rest->type, build_variable(t, rest), build_i64(t, history));
    build_append(
        &list, build_declare(t, more,
                             build_binary(t, OP_REM, rest->type, past, build_i64(t, in->packets))));
    if (region_leaves(r->space, r->region, true, 0))
        build_append(&list,
                     build_if(t, is_between(r, more, 0, 0), build_stop(r, build_i64(t, history))));
    say_between(r, &list, more, true, 1, in->packets - 1);
    return build_block(t, &list);
}

void region_report(const struct expr_build *t, struct region_space *space,
                   const struct region *region, struct build_list *finish)
{
    const struct report r = {.tree = t,
                             .space = space,
                             .region = region,
                             .each = region->interleaved ? region->in.count : 1};
    const struct region_end *in = &region->in.items[0];
    struct kx *left = build_left(t, 0), *firing = build_kx(t, KX_FIRING, left->type);
    struct variable *rest = build_local(t, "rest", left->type, true);
    struct build_list never = {0};
    build_append(
        finish,
        build_declare(t, rest, build_binary(t, OP_DIV, left->type, left, build_i64(t, r.each))));
    say_between(&r, &never, rest, false, 0, in->peek - 1);
    struct kx *fired =
        build_kx(t, KX_LOGICAL, build_compare(t, OP_GT, firing, build_i64(t, 0))->type);
    fired->op = OP_LOGICAL_OR;
    fired->left = build_compare(t, OP_GT, firing, build_i64(t, 0));
    fired->right = build_compare(t, OP_GE, build_variable(t, rest), build_i64(t, in->peek));
    struct ks *choice = build_if(t, fired, report_fired(&r, rest));
    choice->otherwise = build_block(t, &never);
    build_append(finish, choice);
}
