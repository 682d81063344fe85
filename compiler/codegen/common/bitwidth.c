/* SPDX-License-Identifier: MIT */
#include "compiler/codegen/common/bitwidth.h"

#include "compiler/bodies/ranges.h"
#include "compiler/ir/arith.h"

#define NO_ISLAND UINT32_MAX

enum { NARROW_BYTES = 2, NARROW_BITS = 16 };

struct island {
    uint32_t parent; /* itself: the island's own entry, which holds what follows */
    bool has_range, refused;
    struct interval range; /* of all its values */
    uint32_t sources;      /* narrow values that flow into it */
    uint32_t operations;
    uint32_t widened; /* values that someone wants wide */
};

struct seen { /* what bodies/ranges says of an expression */
    const struct kx *x;
    struct interval range;
    bool visited;
    uint32_t island; /* NO_ISLAND: in none */
};

struct narrowing {
    struct arena *scratch, *arena; /* of this; of the result */
    struct types *types;
    struct seen *table; /* open addressing by `x` */
    size_t count, capacity;
    VEC(struct island) islands; /* those of the locals first */
    struct variable **locals;   /* of the result, by index; NULL: not needed so far */
};

/* ---- what is known of expressions ---- */

static struct seen *seen_slot(const struct narrowing *n, const struct kx *x)
{
    size_t slot = ((uintptr_t)x >> 4) * 0x9E3779B97F4A7C15u >> 16;
    slot &= n->capacity - 1;
    while (n->table[slot].x != NULL && n->table[slot].x != x)
        slot = (slot + 1) & (n->capacity - 1);
    return &n->table[slot];
}

static struct seen *seen_of(struct narrowing *n, const struct kx *x)
{
    if (2 * n->count >= n->capacity) {
        const struct seen *old = n->table;
        size_t old_capacity = n->capacity;
        n->capacity = old_capacity > 0 ? 2 * old_capacity : 256;
        n->table = ARENA_ARRAY(n->scratch, struct seen, n->capacity);
        for (size_t i = 0; i < old_capacity; i++)
            if (old[i].x != NULL) *seen_slot(n, old[i].x) = old[i];
    }
    struct seen *seen = seen_slot(n, x);
    if (seen->x == NULL) {
        *seen = (struct seen){.x = x, .island = NO_ISLAND};
        n->count++;
    }
    return seen;
}

static void observe_value(void *data, const struct kx *x, struct interval value)
{
    struct seen *seen = seen_of(data, x);
    seen->range = seen->visited ? interval_join(seen->range, value) : value;
    seen->visited = true;
}

/* ---- islands ---- */

static bool is_wide(const struct type *type)
{
    return type_is_integer(type) && type->width_bytes > NARROW_BYTES;
}

static uint32_t new_island(struct narrowing *n)
{
    uint32_t id = (uint32_t)n->islands.count;
    vec_push(n->scratch, &n->islands, (struct island){.parent = id});
    return id;
}

static struct island *island_at(struct narrowing *n, uint32_t id)
{
    struct island *all = n->islands.items;
    while (all[id].parent != id)
        id = all[id].parent = all[all[id].parent].parent;
    return &all[id];
}

static void add_range(struct island *island, struct interval range)
{
    island->range = island->has_range ? interval_join(island->range, range) : range;
    island->has_range = true;
}

static void join_islands(struct narrowing *n, uint32_t a, uint32_t b)
{
    struct island *to = island_at(n, a), *from = island_at(n, b);
    if (to == from) return;
    from->parent = to->parent;
    if (from->has_range) add_range(to, from->range);
    to->refused = to->refused || from->refused;
    to->sources += from->sources;
    to->operations += from->operations;
    to->widened += from->widened;
}

static void refuse_island(struct narrowing *n, uint32_t island)
{
    if (island != NO_ISLAND) island_at(n, island)->refused = true;
}

static uint32_t visit_island(struct narrowing *n, const struct kx *x);

/* An operation outside of all islands uses the value. */
static void visit_taken(struct narrowing *n, const struct kx *x)
{
    uint32_t island = x != NULL ? visit_island(n, x) : NO_ISLAND;
    if (island != NO_ISLAND) island_at(n, island)->widened++;
}

/* The value is a place, or decides a jump. */
static void visit_refused(struct narrowing *n, const struct kx *x)
{
    if (x != NULL) refuse_island(n, visit_island(n, x));
}

static void visit_parts(struct narrowing *n, const struct kx *x)
{
    for (uint32_t i = 0; i < kx_child_count(x); i++)
        if (x->kind == KX_PEEK || x->kind == KX_WINDOW || x->kind == KX_INDEX)
            visit_refused(n, kx_child(x, i));
        else
            visit_taken(n, kx_child(x, i));
}

/* ---- the islands of expressions ---- */

static void join_value(struct narrowing *n, uint32_t island, const struct kx *x)
{
    uint32_t other = visit_island(n, x);
    if (other == NO_ISLAND)
        refuse_island(n, island);
    else
        join_islands(n, island, other);
}

/* The right operand, of an operation that is the same in few bits; others refuse. */
static void join_operand(struct narrowing *n, uint32_t island, enum kx_op op,
                         const struct kx *right)
{
    bool constant = right->kind == KX_CONSTANT;
    switch (op) {
    case OP_SHL:
    case OP_SHR:
        if (!constant || right->value.bits >= NARROW_BITS) refuse_island(n, island);
        visit_taken(n, right);
        return;
    case OP_DIV:
    case OP_REM:
        if (!constant || right->value.bits == 0) refuse_island(n, island);
        break;
    default: break;
    }
    join_value(n, island, right);
}

static bool is_local(const struct kx *x)
{
    return x->kind == KX_VARIABLE && x->variable->kind == VARIABLE_LOCAL && is_wide(x->type);
}

static void visit_island_assign(struct narrowing *n, uint32_t island, const struct kx *x)
{
    if (!is_local(x->left) || x->postfix || (x->op != OP_NONE && !is_wide(x->operation))) {
        refuse_island(n, island);
        visit_taken(n, x->left);
        visit_taken(n, x->right);
        if (is_local(x->left)) refuse_island(n, x->left->variable->index);
        return;
    }
    join_islands(n, island, x->left->variable->index);
    if (x->op == OP_NONE)
        join_value(n, island, x->right);
    else
        join_operand(n, island, x->op, x->right);
}

static void visit_convert(struct narrowing *n, uint32_t island, const struct kx *x)
{
    const struct type *from = x->left->type;
    if (is_wide(from)) {
        join_value(n, island, x->left);
        return;
    }
    visit_taken(n, x->left);
    if (type_is_integer(from) || type_is_bool(from))
        island_at(n, island)->sources++;
    else
        refuse_island(n, island);
}

static void visit_builtin(struct narrowing *n, uint32_t island, const struct kx *x)
{
    bool admitted =
        x->builtin == BUILTIN_ABS || x->builtin == BUILTIN_MIN || x->builtin == BUILTIN_MAX;
    if (!admitted) refuse_island(n, island);
    for (uint32_t i = 0; i < x->argument_count; i++)
        if (admitted)
            join_value(n, island, x->arguments[i]);
        else
            visit_taken(n, x->arguments[i]);
}

/* An expression of a wide integer: its parts are in its island, or refuse it. */
static void visit_wide(struct narrowing *n, uint32_t island, const struct kx *x)
{
    switch (x->kind) {
    case KX_CONSTANT: return;
    case KX_VARIABLE:
        if (is_local(x))
            join_islands(n, island, x->variable->index);
        else
            refuse_island(n, island);
        return;
    case KX_NEGATE:
    case KX_COMPLEMENT: join_value(n, island, x->left); break;
    case KX_BINARY:
        join_value(n, island, x->left);
        join_operand(n, island, x->op, x->right);
        break;
    case KX_SELECT:
        visit_taken(n, x->left);
        join_value(n, island, x->right);
        join_value(n, island, x->third);
        break;
    case KX_COMMA:
        visit_taken(n, x->left);
        join_value(n, island, x->right);
        return;
    case KX_CONVERT: visit_convert(n, island, x); return;
    case KX_BUILTIN: visit_builtin(n, island, x); break;
    case KX_ASSIGN:
        visit_island_assign(n, island, x);
        if (x->op == OP_NONE) return;
        break;
    default:
        refuse_island(n, island);
        visit_parts(n, x);
        return;
    }
    island_at(n, island)->operations++;
}

/* Both sides in one island, if they are wide integers. */
static void visit_compare(struct narrowing *n, const struct kx *x)
{
    if (!is_wide(x->left->type)) {
        visit_parts(n, x);
        return;
    }
    uint32_t left = visit_island(n, x->left), right = visit_island(n, x->right);
    join_islands(n, left, right);
    island_at(n, left)->operations++;
}

/* The island of the value; NO_ISLAND: it is no wide integer. */
static uint32_t visit_island(struct narrowing *n, const struct kx *x)
{
    if (!is_wide(x->type)) {
        if (x->kind == KX_COMPARE)
            visit_compare(n, x);
        else if (x->kind == KX_CONVERT && type_is_integer(x->type) && is_wide(x->left->type))
            visit_island(n, x->left); /* cut off: nothing has to be widened */
        else
            visit_parts(n, x);
        return NO_ISLAND;
    }
    struct seen *seen = seen_of(n, x);
    if (seen->island != NO_ISLAND) return seen->island;
    uint32_t island = seen->island = new_island(n);
    if (x->kind == KX_CONSTANT)
        add_range(island_at(n, island), interval_of_value(x->value));
    else if (seen->visited)
        add_range(island_at(n, island), seen->range);
    else
        refuse_island(n, island);
    visit_wide(n, island, x);
    return island;
}

/* ---- statements ---- */

static void visit_list(struct narrowing *n, const struct ks *first);

static void refuse_counters(struct narrowing *n, const struct ks *init)
{
    for (const struct ks *s = init; s != NULL; s = s->next) {
        if (s->kind == KS_BLOCK) refuse_counters(n, s->body);
        if (s->kind == KS_DECLARE && is_wide(s->variable->type))
            refuse_island(n, s->variable->index);
    }
}

static void visit_declare(struct narrowing *n, const struct ks *s)
{
    uint32_t local = s->variable->index;
    if (!is_wide(s->variable->type)) {
        visit_taken(n, s->expr);
        return;
    }
    if (s->expr != NULL)
        join_value(n, local, s->expr);
    else
        add_range(island_at(n, local), (struct interval){0, 0});
}

static void visit_statement(struct narrowing *n, const struct ks *s)
{
    visit_list(n, s->init);
    if (s->kind == KS_LOOP) refuse_counters(n, s->init);
    visit_refused(n, s->index);
    visit_refused(n, s->element);
    if (s->kind == KS_DECLARE)
        visit_declare(n, s);
    else if (s->kind == KS_SWITCH)
        visit_refused(n, s->expr);
    else if (s->kind == KS_EXPR)
        visit_island(n, s->expr);
    else
        visit_taken(n, s->expr);
    if (s->step != NULL) visit_island(n, s->step);
    visit_list(n, s->body);
    visit_list(n, s->otherwise);
}

static void visit_list(struct narrowing *n, const struct ks *first)
{
    for (const struct ks *s = first; s != NULL; s = s->next)
        visit_statement(n, s);
}

/* ---- the narrowed kernel ---- */

static bool is_in(struct interval range, wide low, wide high)
{
    return range.low >= low && range.high <= high;
}

/* The type that the island is computed in; NULL: as it is. */
static const struct type *narrow_type(struct narrowing *n, uint32_t id)
{
    const struct island *island = island_at(n, id);
    if (island->refused || !island->has_range || island->sources == 0) return NULL;
    if (2 * (uint64_t)island->widened > island->operations) return NULL;
    if (is_in(island->range, INT16_MIN, INT16_MAX)) return type_scalar(n->types, SCALAR_I16);
    if (is_in(island->range, 0, UINT16_MAX)) return type_scalar(n->types, SCALAR_U16);
    return NULL;
}

static const struct type *new_type(struct narrowing *n, const struct kx *x)
{
    if (!is_wide(x->type)) return NULL;
    uint32_t island = is_local(x) ? x->variable->index : seen_of(n, x)->island;
    return island != NO_ISLAND ? narrow_type(n, island) : NULL;
}

static const struct variable *new_local(struct narrowing *n, const struct variable *variable)
{
    if (variable == NULL || variable->kind != VARIABLE_LOCAL || !is_wide(variable->type))
        return variable;
    struct variable **local = &n->locals[variable->index];
    if (*local == NULL) {
        const struct type *type = narrow_type(n, variable->index);
        *local = arena_copy(n->arena, variable, sizeof *variable);
        if (type != NULL) (*local)->type = type;
    }
    return *local;
}

static struct kx *copy_narrowed(const struct kx *x, void *data);

/* For an expression that takes the value as it was. */
static struct kx *copy_taken(const struct kx *x, void *data)
{
    struct narrowing *n = data;
    if (x == NULL) return NULL;
    struct kx *value = copy_narrowed(x, n);
    if (value->type == x->type) return value;
    struct kx *widened = ARENA_NEW(n->arena, struct kx);
    *widened = (struct kx){.kind = KX_CONVERT, .type = x->type, .span = x->span, .left = value};
    return widened;
}

static struct kx *copy_narrowed(const struct kx *x, void *data)
{
    struct narrowing *n = data;
    const struct type *type = new_type(n, x);
    /* A comparison and a conversion take narrow operands without becoming narrow themselves. */
    bool takes_narrow = type != NULL || x->kind == KX_COMPARE || x->kind == KX_CONVERT;
    struct kx *clone = kx_copy(n->arena, x, takes_narrow ? copy_narrowed : copy_taken, n);
    if (type != NULL) {
        clone->type = type;
        if (x->kind == KX_CONSTANT) clone->value.type = type->scalar;
        if (x->operation != NULL) clone->operation = type;
    }
    clone->variable = new_local(n, x->variable);
    return clone;
}

static struct ks *copy_list(struct narrowing *n, const struct ks *first)
{
    struct ks *list = NULL, **end = &list;
    for (const struct ks *s = first; s != NULL; s = s->next) {
        struct ks *clone = arena_copy(n->arena, s, sizeof *s);
        bool assigns = s->kind == KS_DECLARE && is_wide(s->variable->type);
        bool alone = s->kind == KS_EXPR || assigns;
        clone->variable = (struct variable *)new_local(n, s->variable);
        clone->init = copy_list(n, s->init);
        clone->index = copy_taken(s->index, n);
        clone->element = copy_taken(s->element, n);
        clone->expr = alone && s->expr != NULL ? copy_narrowed(s->expr, n) : copy_taken(s->expr, n);
        clone->step = copy_taken(s->step, n);
        clone->body = copy_list(n, s->body);
        clone->otherwise = copy_list(n, s->otherwise);
        *end = clone;
        end = &clone->next;
    }
    *end = NULL;
    return list;
}

/* ---- kernels ---- */

static bool any_narrow(struct narrowing *n)
{
    for (uint32_t i = 0; i < n->islands.count; i++)
        if (narrow_type(n, i) != NULL) return true;
    return false;
}

static struct kernel *narrowed_copy(struct narrowing *n, struct kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->local_count; i++)
        new_island(n);
    visit_list(n, kernel->body);
    if (!any_narrow(n)) return kernel;
    n->locals = ARENA_ARRAY(n->scratch, struct variable *, kernel->local_count + 1u);
    struct kernel *made = arena_copy(n->arena, kernel, sizeof *kernel);
    made->body = copy_list(n, kernel->body);
    return made;
}

/* ---- is it worth a look? ---- */

static bool is_widening(const struct kx *x, void *data)
{
    (void)data;
    return x->kind == KX_CONVERT && is_wide(x->type) && type_is_integer(x->left->type) &&
           !is_wide(x->left->type);
}

struct kernel *narrow_kernel(struct compile *cx, struct types *types, struct arena *arena,
                             struct kernel *kernel)
{
    if (kernel->states.count > 0 || kernel->grouped || kernel->is_child ||
        kernel_launches_any(&kernel->launches) || !ks_any(kernel->body, NULL, is_widening, NULL))
        return kernel;
    struct narrowing n = {.scratch = arena_create(), .arena = arena, .types = types};
    struct walk_request request = {.cx = cx,
                                   .kernel = kernel,
                                   .body = kernel->body,
                                   .local_count = kernel->local_count,
                                   .section = WALK_FIRING,
                                   .mark = true,
                                   .observe = observe_value,
                                   .observer = &n};
    struct diags *reported = cx->diags;
    cx->diags = diags_create(cx->arena, cx->sources);
    walk_body(&request, n.scratch);
    cx->diags = reported;
    struct kernel *made = narrowed_copy(&n, kernel);
    arena_destroy(n.scratch);
    return made;
}
