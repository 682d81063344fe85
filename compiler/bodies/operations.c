/* SPDX-License-Identifier: MIT */

#include "compiler/bodies/operations.h"

#include <inttypes.h>

enum { OPERATIONS_MAX = 1 << 17 };

static bool count_operation(const struct kx *x, void *data)
{
    uint64_t *count = data;
    (void)x;
    ++*count;
    return false;
}

static uint64_t count_operations(const struct ks *code)
{
    uint64_t count = 0;
    ks_any(code, NULL, count_operation, &count);
    return count;
}

static void check_operations(struct compile *cx, uint64_t count, const char *what, const char *name,
                             struct span span)
{
    if (count <= OPERATIONS_MAX) return;
    struct diag *diag = diag_report(
        cx->diags, RULE_TOO_LARGE, span,
        "%s '%s' has %" PRIu64 " operations and operands, more than 131,072", what, name, count);
    diag_help(diag, "write statements that repeat as a loop, keep their numbers in a constant "
                    "array, or divide it into several kernels");
}

bool operations_check_bodies(struct compile *cx, const struct graph *graph)
{
    size_t errors = diag_error_count(cx->diags);
    for (size_t i = 0; i < graph->kernels.count; i++) {
        const struct kernel *kernel = graph->kernels.items[i];
        uint64_t count = count_operations(kernel->init) + count_operations(kernel->body) +
                         count_operations(kernel->finish);
        check_operations(cx, count, "kernel", kernel->title, kernel->span);
    }
    for (size_t i = 0; i < graph->functions.count; i++) {
        const struct function *f = graph->functions.items[i];
        check_operations(cx, count_operations(f->body), "function", f->name, f->span);
    }
    return diag_error_count(cx->diags) == errors;
}
