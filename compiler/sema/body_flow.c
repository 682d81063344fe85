/* SPDX-License-Identifier: MIT */
#include "compiler/sema/body_internal.h"

/* The ways in which control leaves a list of statements. After a return, no statement is
 * reachable. */
struct ways {
    bool completes, breaks, continues;
};

static struct ways list_ways(const struct ks *ks);

static bool is_true(const struct kx *kx)
{
    return !kx || (kx->kind == KX_CONSTANT && arith_truth(kx->value));
}

static struct ways statement_ways(const struct ks *ks)
{
    switch (ks->kind) {
    case KS_RETURN:
    case KS_STOP: return (struct ways){0};
    case KS_BREAK: return (struct ways){.breaks = true};
    case KS_CONTINUE: return (struct ways){.continues = true};
    case KS_BLOCK: return list_ways(ks->body);
    case KS_IF: {
        struct ways ways = list_ways(ks->body), other = {.completes = true};
        if (ks->otherwise) other = list_ways(ks->otherwise);
        return (struct ways){ways.completes || other.completes, ways.breaks || other.breaks,
                             ways.continues || other.continues};
    }
    case KS_LOOP: {
        struct ways body = list_ways(ks->body);
        bool tested = ks->test_after ? body.completes || body.continues : true;
        return (struct ways){.completes = body.breaks || (tested && !is_true(ks->expr))};
    }
    case KS_SWITCH: {
        bool has_default = false;
        const struct ks *first = ks->body && ks->body->kind == KS_BLOCK ? ks->body->body : ks->body;
        for (const struct ks *at = first; at; at = at->next)
            if (at->kind == KS_CASE && at->is_default) has_default = true;
        struct ways ways = list_ways(first);
        return (struct ways){.completes = ways.completes || ways.breaks || !has_default,
                             .continues = ways.continues};
    }
    default: return (struct ways){.completes = true};
    }
}

/* A label makes the statements after it reachable again. */
static struct ways list_ways(const struct ks *ks)
{
    struct ways all = {.completes = true};
    for (; ks; ks = ks->next) {
        if (ks->kind == KS_CASE) all.completes = true;
        if (!all.completes) continue;
        struct ways one = statement_ways(ks);
        all.completes = one.completes;
        all.breaks |= one.breaks;
        all.continues |= one.continues;
    }
    return all;
}

bool body_completes(const struct ks *list)
{
    return list_ways(list).completes;
}
