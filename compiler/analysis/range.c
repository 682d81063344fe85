#include "compiler/analysis/analysis.h"
#include "compiler/analysis/walk.h"

static void check_section(struct compile *cx, struct kernel *kernel, struct ks *body,
                          enum walk_section section)
{
    if (body == NULL) return;
    struct arena *scratch = arena_create();
    struct walk_request request = {.cx = cx,
                                   .kernel = kernel,
                                   .body = body,
                                   .local_count = kernel->local_count,
                                   .section = section,
                                   .mark = true};
    walk_body(&request, scratch);
    arena_destroy(scratch);
}

void range_check_bodies(struct compile *cx, struct graph *graph)
{
    for (size_t i = 0; i < graph->functions.count; i++) {
        struct function *f = graph->functions.items[i];
        struct arena *scratch = arena_create();
        struct walk_request request = {.cx = cx,
                                       .body = f->body,
                                       .local_count = f->local_count,
                                       .section = WALK_FUNCTION,
                                       .mark = true};
        walk_body(&request, scratch);
        arena_destroy(scratch);
    }
    for (size_t i = 0; i < graph->kernels.count; i++) {
        struct kernel *k = graph->kernels.items[i];
        size_t kept = diag_kept_count(cx->diags);
        check_section(cx, k, k->init, WALK_INIT);
        check_section(cx, k, k->body, WALK_FIRING);
        check_section(cx, k, k->finish, WALK_FINISH);
        graph_trace_kernel(cx, k, kept);
    }
}
