/*
 * Kernels first; then functions, callers before those that they call, each with the values that it
 * is called with: ids are given in order of completion, and there is no recursion.
 */
#include "compiler/analysis/analysis.h"
#include "compiler/analysis/walk.h"

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
    arena_destroy(scratch);
}

static struct walk_call *new_calls(const struct graph *graph, struct arena *arena)
{
    size_t ids = 1;
    for (size_t i = 0; i < graph->functions.count; i++)
        if (graph->functions.items[i]->id >= ids) ids = (size_t)graph->functions.items[i]->id + 1;
    return ARENA_ARRAY(arena, struct walk_call, ids);
}

void range_check_bodies(struct compile *cx, struct graph *graph)
{
    struct walk_call *calls = new_calls(graph, cx->arena);
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
