/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/registers.h"

#include "base/arena.h"
#include "base/vec.h"
#include "compiler/bodies/cost_table.h"
#include "lang/container.h"

struct life {
    const struct variable *variable; /* NULL: none with this index has been seen */
    size_t first, last;              /* moments; last < first: it is not read */
    size_t loop;                     /* 1 + the one to whose end it lives; 0: none */
    bool declared;
    bool in_memory; /* the address of a part depends on data */
    bool counts;    /* the counter of an unrolled loop */
};

struct loop {
    size_t first, last; /* moments */
};

struct registers {
    struct arena *scratch;
    const struct devdesc_costs *costs;
    struct life *lives; /* by variable->index */
    VEC(uint64_t) held; /* of each moment: the maximum that its expressions hold at once */
    VEC(struct loop) loops;
    VEC(size_t) around; /* the loops around the place of the walk, the outermost first */
};

/* ---- sizes ---- */

static uint64_t limit_registers(uint64_t registers)
{
    return registers < CONTAINER_REGISTERS_MAX ? registers : CONTAINER_REGISTERS_MAX;
}

static uint64_t greater_size(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t variable_size(const struct type *type)
{
    uint64_t sum = 0;
    switch (type->kind) {
    case TYPE_VOID: return 0;
    case TYPE_SCALAR: return (type->width_bytes + 3) / 4;
    case TYPE_VECTOR:
    case TYPE_ARRAY:
        return limit_registers(limit_registers(type->length) * variable_size(type->element));
    case TYPE_STRUCT: break;
    }
    for (uint32_t i = 0; i < type->field_count; i++)
        sum = limit_registers(sum + variable_size(type->fields[i].type));
    return sum;
}

/* Arrays and structs that are no variables move part by part. */
static uint64_t value_size(const struct type *type)
{
    uint64_t most = 0;
    if (type->kind == TYPE_ARRAY) return value_size(type->element);
    if (type->kind != TYPE_STRUCT) return variable_size(type);
    for (uint32_t i = 0; i < type->field_count; i++)
        most = greater_size(most, value_size(type->fields[i].type));
    return most;
}

/* ---- variables in memory ---- */

static bool mark_counter(const struct ks *s, void *data)
{
    const struct registers *r = data;
    if (s->kind == KS_LOOP && cost_is_unrolled(r->costs, s))
        r->lives[kx_root_variable(s->step->left)->index].counts = true;
    return false;
}

static bool varies_in_data(const struct kx *x, void *data)
{
    const struct registers *r = data;
    switch (x->kind) {
    case KX_CONSTANT:
    case KX_BINARY:
    case KX_NEGATE:
    case KX_CONVERT: return false;
    case KX_VARIABLE:
        return x->variable->kind != VARIABLE_LOCAL || !r->lives[x->variable->index].counts;
    default: return true;
    }
}

static bool mark_in_memory(const struct kx *x, void *data)
{
    struct registers *r = data;
    const struct variable *root = x->kind == KX_INDEX ? kx_root_variable(x->left) : NULL;
    if (root != NULL && root->kind == VARIABLE_LOCAL && kx_any(x->right, varies_in_data, r))
        r->lives[root->index].in_memory = true;
    return false;
}

/* Registers have no addresses. */
static void find_variables_in_memory(struct registers *r, const struct ks *body)
{
    ks_any(body, mark_counter, NULL, r);
    ks_any(body, NULL, mark_in_memory, r);
}

/* ---- expressions ---- */

static uint64_t most_held(const struct registers *r, const struct kx *x);

/* Registers of the value while operands after it are evaluated, besides the variables that are live. */
static uint64_t value_held(const struct registers *r, const struct kx *x)
{
    const struct variable *root = kx_root_variable(x);
    if (x->kind == KX_CONSTANT || x->kind == KX_ITEM || x->kind == KX_PHASE || x->kind == KX_FIRING)
        return 0;
    if (root != NULL && root->kind == VARIABLE_ARGUMENT) return 0;
    if (root != NULL && root->kind == VARIABLE_LOCAL && !r->lives[root->index].in_memory) return 0;
    return value_size(x->type);
}

/* To find the place of a part of a variable or of a packet, of which the rest is not loaded. */
static uint64_t held_for_place(const struct registers *r, const struct kx *x)
{
    uint64_t most = 0;
    if (x->kind == KX_VARIABLE) return 0;
    if (!kx_has_place(x)) return most_held(r, x);
    bool part = x->kind == KX_INDEX || x->kind == KX_MEMBER;
    for (uint32_t i = 0; i < kx_child_count(x); i++) {
        const struct kx *child = kx_child(x, i);
        if (child == NULL) continue;
        most = greater_size(most, part && i == 0 ? held_for_place(r, child) : most_held(r, child));
    }
    return most;
}

/* Operands are evaluated from the first to the last, and those before wait. */
static uint64_t held_for_operands(const struct registers *r, const struct kx *const *operands,
                                  uint32_t count, uint64_t *waiting)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i] == NULL) continue;
        most = greater_size(most, *waiting + most_held(r, operands[i]));
        *waiting += value_held(r, operands[i]);
    }
    return most;
}

/* The maximum that the expression holds at once while it is evaluated, with its own value. */
static uint64_t most_held(const struct registers *r, const struct kx *x)
{
    uint64_t most = value_held(r, x), waiting = 0;
    if (kx_has_place(x)) return greater_size(most, held_for_place(r, x));
    if (x->kind == KX_COMMA || x->kind == KX_AGGREGATE) {
        for (uint32_t i = 0; i < kx_child_count(x); i++)
            if (kx_child(x, i) != NULL) most = greater_size(most, most_held(r, kx_child(x, i)));
        return most;
    }
    const struct kx *parts[] = {x->left, x->right, x->third};
    most = greater_size(most, held_for_operands(r, parts, 3, &waiting));
    most = greater_size(most, held_for_operands(r, (const struct kx *const *)x->arguments,
                                                x->argument_count, &waiting));
    if (x->kind != KX_CALL) return most;
    /* The parameters hold the arguments; of a call for each element the other elements wait. */
    bool by_element = x->type != x->function->result;
    return greater_size(most,
                        x->function->registers + (by_element ? waiting + value_held(r, x) : 0));
}

/* ---- moments ---- */

static bool see_mention(const struct kx *x, void *data)
{
    struct registers *r = data;
    if (x->kind != KX_VARIABLE || x->variable->kind != VARIABLE_LOCAL) return false;
    struct life *life = &r->lives[x->variable->index];
    life->variable = x->variable;
    life->last = r->held.count;
    for (size_t i = 0; i < r->around.count; i++) {
        if (r->loops.items[r->around.items[i]].first < life->first) continue;
        life->loop = r->around.items[i] + 1;
        break;
    }
    return false;
}

/* The next moment, at which these expressions are evaluated; each may be NULL. */
static void add_moment(struct registers *r, const struct kx *const *parts, uint32_t count)
{
    uint64_t waiting = 0;
    for (uint32_t i = 0; i < count; i++)
        kx_any(parts[i], see_mention, r);
    vec_push(r->scratch, &r->held, held_for_operands(r, parts, count, &waiting));
}

static void number_moments(struct registers *r, const struct ks *first);

static void number_loop(struct registers *r, const struct ks *s)
{
    const struct kx *before = s->test_after ? NULL : s->expr;
    const struct kx *after[] = {s->step, s->test_after ? s->expr : NULL};
    number_moments(r, s->init);
    const size_t loop = r->loops.count;
    vec_push(r->scratch, &r->loops, (struct loop){.first = r->held.count});
    vec_push(r->scratch, &r->around, loop);
    add_moment(r, &before, 1);
    number_moments(r, s->body);
    r->loops.items[loop].last = r->held.count;
    add_moment(r, after, 2);
    r->around.count--;
}

static void begin_life(struct registers *r, const struct variable *v)
{
    if (v->kind != VARIABLE_LOCAL || r->lives[v->index].declared) return;
    r->lives[v->index].declared = true;
    r->lives[v->index].first = r->held.count;
}

static void number_moments(struct registers *r, const struct ks *first)
{
    for (const struct ks *s = first; s != NULL; s = s->next) {
        if (s->kind == KS_LOOP) {
            number_loop(r, s);
            continue;
        }
        if (s->kind != KS_BLOCK) {
            const struct launch *launch = s->kind == KS_LAUNCH ? s->launch : NULL;
            const struct kx *parts[] = {s->element,
                                        s->index,
                                        s->expr,
                                        launch != NULL ? launch->choice : NULL,
                                        launch != NULL ? launch->groups : NULL,
                                        launch != NULL ? launch->first_group : NULL};
            add_moment(r, parts, sizeof parts / sizeof *parts);
        }
        if (s->kind == KS_DECLARE) begin_life(r, s->variable);
        number_moments(r, s->body);
        number_moments(r, s->otherwise);
    }
}

/* The greatest sum of live variables and held values over all moments. */
static uint64_t most_at_once(const struct registers *r, uint32_t local_count)
{
    size_t moments = r->held.count;
    uint64_t *begin = ARENA_ARRAY(r->scratch, uint64_t, moments + 1);
    uint64_t *end = ARENA_ARRAY(r->scratch, uint64_t, moments + 1);
    for (uint32_t i = 0; i < local_count; i++) {
        const struct life *life = &r->lives[i];
        size_t last = life->last;
        if (life->variable == NULL || life->in_memory) continue;
        if (life->loop > 0 && r->loops.items[life->loop - 1].last > last)
            last = r->loops.items[life->loop - 1].last;
        if (last < life->first) continue;
        begin[life->first] += variable_size(life->variable->type);
        end[last] += variable_size(life->variable->type);
    }
    uint64_t live = 0, most = 0;
    for (size_t m = 0; m < moments; m++) {
        live += begin[m];
        most = greater_size(most, live + r->held.items[m]);
        live -= end[m];
    }
    return most;
}

static uint64_t body_registers(const struct devdesc_costs *costs, const struct ks *body,
                               uint32_t local_count)
{
    struct arena *scratch = arena_create();
    struct registers r = {.scratch = scratch,
                          .costs = costs,
                          .lives = ARENA_ARRAY(scratch, struct life, local_count + 1)};
    find_variables_in_memory(&r, body);
    number_moments(&r, body);
    uint64_t most = most_at_once(&r, local_count);
    arena_destroy(scratch);
    return most;
}

uint32_t registers_of_function(const struct devdesc_costs *costs, const struct function *function)
{
    return (uint32_t)limit_registers(body_registers(costs, function->body, function->local_count));
}

uint32_t registers_of_kernel(const struct devdesc_costs *costs, const struct kernel *kernel)
{
    uint64_t ports = (uint64_t)kernel->in_count + kernel->out_count;
    uint64_t values = body_registers(costs, kernel->body, kernel->local_count);
    return (uint32_t)limit_registers(REGISTERS_OF_FIRING + REGISTERS_OF_PORT * ports + values);
}
