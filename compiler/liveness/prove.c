#include "compiler/ir/analysis.h"

bool prove_graph(struct compile *cx, struct graph *graph)
{
    rate_solve(cx, graph);
    if (diag_failed(cx->diags)) return false;
    bounded_check(cx, graph);
    deadlock_check(cx, graph);
    if (diag_failed(cx->diags)) return false;
    bufsize_assign(cx, graph);
    return !diag_failed(cx->diags);
}
