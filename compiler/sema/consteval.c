/* SPDX-License-Identifier: MIT */
/* Computes constants: see sema_internal.h. */
#include "compiler/sema/evaluate.h"
#include "compiler/sema/sema_internal.h"

struct constant {
    struct compile *cx;
    struct consteval_error *error;
    uint64_t steps;
};

static bool fail_too_large(struct constant *c, struct span span, const char *reason)
{
    *c->error = (struct consteval_error){.reason = reason, .span = span, .too_large = true};
    return false;
}

static bool spend_budget(void *data, struct span span, uint64_t steps)
{
    struct constant *c = data;
    c->steps += steps;
    c->cx->constant_steps += steps;
    if (c->steps > CONSTEVAL_MAX_STEPS)
        return fail_too_large(c, span, "it takes more than 10,000,000 steps");
    if (c->cx->constant_steps <= CONSTEVAL_ALL_STEPS) return true;
    return fail_too_large(c, span,
                          "the constants of the program take more than 500,000,000 steps together");
}

static void record_failure(void *data, const struct evaluate_error *error)
{
    struct constant *c = data;
    const struct kx *culprit = error->culprit;
    switch (error->failure) {
    case EVALUATE_TOO_DEEP:
        fail_too_large(c, error->span, "its calls and expressions are nested too deeply");
        return;
    case EVALUATE_TOO_MANY_CALLS:
        fail_too_large(c, error->span, "its calls are nested more than 256 deep");
        return;
    case EVALUATE_TOO_MANY_SCALARS:
        fail_too_large(c, error->span, "its variables hold more than 4,194,304 values at one time");
        return;
    case EVALUATE_DIVISION_BY_ZERO: c->error->reason = "division by zero"; break;
    case EVALUATE_NO_RESULT: c->error->reason = "the function ends without a value"; break;
    case EVALUATE_INDEX:
        c->error->reason =
            arena_printf(c->cx->arena, "index %s is outside of an array of %llu",
                         arith_text(c->cx->arena, error->index), (unsigned long long)error->bound);
        break;
    default: /* not constant */
        c->error->culprit = culprit;
        if (culprit && culprit->kind == KX_VARIABLE) c->error->depends_on = culprit->variable->name;
    }
    c->error->span = error->span;
}

bool consteval(struct compile *cx, const struct kx *expr, struct scalar_value *out,
               struct consteval_error *error)
{
    static const struct evaluate_domain domain = {.spend = spend_budget, .fail = record_failure};
    *error = (struct consteval_error){0};
    if (expr->kind == KX_CONSTANT) {
        *out = expr->value;
        return true;
    }
    struct constant constant = {.cx = cx, .error = error};
    struct evaluator in = {.domain = &domain,
                           .data = &constant,
                           .scratch = arena_create(),
                           .scalars_max = CONSTEVAL_MAX_SCALARS,
                           .calls_max = CONSTEVAL_MAX_CALLS};
    bool done = evaluate(&in, expr, out);
    arena_destroy(in.scratch);
    return done;
}
