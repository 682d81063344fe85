/* SPDX-License-Identifier: MIT */
/*
 * Replaces state that only counts firings: `state u32 n; ... n++;` holds initial + step x number of the firing.
 * Without other state, firings need no order, so they fill lanes and cores.
 *
 * A counter is an integer.  Every firing adds a constant to it once, outside of all conditions and loops; `init` may
 * only set it to a constant.  Integer arithmetic wraps, so the product has the bits of the sums.  Firings of inlined
 * members have no numbers, so their counters stay state.
 */
#include "compiler/optimize/compose/compose_internal.h"

#include "compiler/ir/arith.h"

struct use_count {
    const struct variable *state;
    uint64_t uses, moves;
};

static bool count_use(const struct kx *x, void *data)
{
    struct use_count *count = data;
    if (x->kind == KX_VARIABLE && x->variable == count->state) count->uses++;
    if (x->kind == KX_ASSIGN && kx_root_variable(x->left) == count->state) count->moves++;
    return false;
}

static struct use_count uses_of(const struct ks *first, const struct variable *state)
{
    struct use_count count = {.state = state};
    ks_any(first, NULL, count_use, &count);
    return count;
}

static bool moves_state(const struct ks *s, const struct variable *state)
{
    return s->kind == KS_EXPR && s->expr->kind == KX_ASSIGN &&
           kx_root_variable(s->expr->left) == state;
}

/* The statement that moves the state, in the list or in a block of it; or NULL. */
static const struct ks *find_move(const struct ks *first, const struct variable *state)
{
    for (const struct ks *s = first; s != NULL; s = s->next) {
        if (moves_state(s, state)) return s;
        const struct ks *inside = s->kind == KS_BLOCK ? find_move(s->body, state) : NULL;
        if (inside != NULL) return inside;
    }
    return NULL;
}

static bool find_step(const struct kernel *k, const struct variable *state, struct counter *found)
{
    const struct ks *s = find_move(k->body, state);
    if (s == NULL || uses_of(k->body, state).moves != 1 || uses_of(k->finish, state).moves != 0)
        return false;
    const struct kx *x = s->expr;
    if ((x->op != OP_ADD && x->op != OP_SUB) || !type_is_integer(x->operation) ||
        x->right->kind != KX_CONSTANT)
        return false;
    found->step = arith_convert(x->right->value, state->type->scalar);
    if (x->op == OP_SUB) found->step = arith_negate(found->step);
    found->step_at = s;
    return true;
}

static bool find_initial(const struct kernel *k, const struct variable *state,
                         struct counter *found)
{
    struct use_count count = uses_of(k->init, state);
    found->initial = (struct scalar_value){state->type->scalar, 0};
    if (count.uses == 0) return true;
    const struct ks *s = find_move(k->init, state);
    if (s == NULL || count.uses != 1 || s->expr->op != OP_NONE ||
        s->expr->right->kind != KX_CONSTANT)
        return false;
    found->initial = arith_convert(s->expr->right->value, state->type->scalar);
    return true;
}

static bool find_state_counter(const struct kernel *k, const struct variable *state,
                               struct counter *found)
{
    if (!type_is_scalar(state->type) || !type_is_integer(state->type)) return false;
    return find_step(k, state, found) && find_initial(k, state, found);
}

bool compose_has_state(const struct kernel *k)
{
    struct counter counter;
    for (size_t i = 0; i < k->states.count; i++)
        if (!find_state_counter(k, k->states.items[i], &counter)) return true;
    return false;
}

void compose_find_counters(struct composer *c, struct member *m)
{
    const struct kernel *k = m->kernel;
    m->counters = ARENA_ARRAY(c->cx->arena, struct counter, k->states.count + 1);
    m->stateful = false;
    for (size_t i = 0; i < k->states.count; i++) {
        struct counter found = {0};
        if (!m->inlined && find_state_counter(k, k->states.items[i], &found))
            m->counters[i] = found;
        else
            m->stateful = true;
    }
}

const struct counter *compose_counter(const struct member *m, const struct variable *state)
{
    const struct kernel *k = m->kernel;
    for (size_t i = 0; i < k->states.count; i++)
        if (k->states.items[i] == state && m->counters[i].step_at != NULL) return &m->counters[i];
    return NULL;
}

/* ---- values ---- */

static struct kx *multiply_value(struct composer *c, struct kx *x, struct scalar_value factor)
{
    if (factor.bits == 1) return x;
    return compose_binary(c, OP_MUL, x, compose_scalar(c, factor, x->span));
}

static struct kx *add_value(struct composer *c, struct kx *x, struct scalar_value more)
{
    if (more.bits == 0) return x;
    return compose_binary(c, OP_ADD, x, compose_scalar(c, more, x->span));
}

/* The number of the member's firing since the start, wrapped to the type. */
static struct kx *member_firing(struct firing *f, const struct type *type, struct span span)
{
    struct composer *c = f->c;
    struct kx *number = compose_firing_number(c, type, span);
    number = multiply_value(c, number, arith_integer(type->scalar, f->m->firings));
    number = add_value(c, number, arith_integer(type->scalar, f->number));
    if (f->round == NULL) return number;
    struct kx *round = compose_convert(c, type, compose_variable(c, f->round, span));
    return compose_binary(c, OP_ADD, number, round);
}

struct kx *compose_count_value(struct firing *f, const struct kx *x)
{
    const struct counter *counter = compose_counter(f->m, x->variable);
    struct scalar_value begin = counter->initial;
    if (f->counted[counter - f->m->counters]) arith_binary(OP_ADD, begin, counter->step, &begin);
    struct kx *number = member_firing(f, x->type, x->span);
    return add_value(f->c, multiply_value(f->c, number, counter->step), begin);
}

bool compose_moves_counter(struct firing *f, const struct ks *s)
{
    if (s->kind != KS_EXPR || s->expr->kind != KX_ASSIGN) return false;
    const struct variable *v = kx_root_variable(s->expr->left);
    const struct counter *counter = v != NULL ? compose_counter(f->m, v) : NULL;
    if (counter == NULL) return false;
    f->counted[counter - f->m->counters] = true;
    return true;
}
