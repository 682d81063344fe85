/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/range_check.h"
#include "compiler/bodies/ranges.h"

/* ---- what is never evaluated ---- */

static void settle_access(enum access_check *check, unsigned char visited)
{
    if (visited == 0 && *check == ACCESS_CHECKED) *check = ACCESS_PROVEN;
}

static bool settle_kx(const struct kx *x, void *data)
{
    struct kx *e = (struct kx *)(uintptr_t)x;
    const enum walk_section *section = data;
    switch (e->kind) {
    case KX_PEEK:
        settle_access(&e->element_check, e->visited_element);
        if (*section == WALK_FINISH) break; /* what is left over is known while running */
        settle_access(&e->check, e->visited);
        break;
    case KX_WINDOW:
        settle_access(&e->column_check, e->visited_column);
        settle_access(&e->element_check, e->visited_element);
        settle_access(&e->check, e->visited);
        break;
    case KX_INDEX: settle_access(&e->check, e->visited); break;
    case KX_BINARY: /* the walk does not look at divisions of vectors */
        if (type_is_integer(e->type)) settle_access(&e->check, e->visited);
        break;
    case KX_ASSIGN:
        if (e->operation != NULL && type_is_integer(e->operation))
            settle_access(&e->check, e->visited);
        break;
    default: break;
    }
    return false;
}

static bool settle_ks(const struct ks *stmt, void *data)
{
    struct ks *s = (struct ks *)(uintptr_t)stmt;
    (void)data;
    if (s->kind == KS_STORE) settle_access(&s->check, s->visited);
    if (s->kind == KS_STORE || s->kind == KS_EMIT)
        settle_access(&s->element_check, s->visited_element);
    return false;
}

/* The walk visits all that some execution evaluates.  An access or a division that it has not
 * visited, in a loop that never runs or after an operand that decides, needs no check. */
static void settle_unvisited(const struct ks *body, enum walk_section section)
{
    ks_any(body, settle_ks, settle_kx, &section);
}

/* ---- sections ---- */

static void check_section(struct compile *cx, struct kernel *kernel, struct ks *body,
                          enum walk_section section, struct walk_call *calls)
{
    if (body == NULL) return;
    struct arena *scratch = arena_create();
    struct walk_request request = {.cx = cx,
                                   .kernel = kernel,
                                   .body = body,
                                   .local_count = kernel->local_count,
                                   .section = section,
                                   .mark = true,
                                   .calls = calls};
    walk_body(&request, scratch);
    settle_unvisited(body, section);
    arena_destroy(scratch);
}

static void check_function(struct compile *cx, const struct function *f, struct walk_call *calls)
{
    struct arena *scratch = arena_create();
    const struct walk_call *call = &calls[f->id];
    struct walk_request request = {.cx = cx,
                                   .body = f->body,
                                   .local_count = f->local_count,
                                   .section = WALK_FUNCTION,
                                   .mark = true,
                                   .calls = calls,
                                   .function = f,
                                   .params = call->called ? call->arguments : NULL};
    walk_body(&request, scratch);
    settle_unvisited(f->body, WALK_FUNCTION);
    arena_destroy(scratch);
}

void range_check_bodies(struct compile *cx, struct graph *graph)
{
    size_t ids = 1;
    for (size_t i = 0; i < graph->functions.count; i++)
        if (graph->functions.items[i]->id >= ids) ids = (size_t)graph->functions.items[i]->id + 1;
    struct walk_call *calls = ARENA_ARRAY(cx->arena, struct walk_call, ids);
    for (size_t i = 0; i < graph->kernels.count; i++) {
        struct kernel *k = graph->kernels.items[i];
        size_t kept = diag_kept_count(cx->diags);
        check_section(cx, k, k->init, WALK_INIT, calls);
        check_section(cx, k, k->body, WALK_FIRING, calls);
        check_section(cx, k, k->finish, WALK_FINISH, calls);
        graph_trace_kernel(cx, k, kept);
    }
    for (size_t i = graph->functions.count; i-- > 0;)
        check_function(cx, graph->functions.items[i], calls);
}
