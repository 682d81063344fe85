/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/coalesce.h"

#include "base/arena.h"
#include "compiler/ir/arith.h"

struct coalesce {
    struct kernel *kernel;
    const struct devdesc *device;
    bool *varying; /* by variable->index: local variables that may differ from lane to lane */
    bool changed;
    uint64_t lanes; /* whose accesses are together */
    uint64_t rows;  /* so many times: lanes that are not in one row of work-items */
};

uint64_t coalesced_lines(uint64_t lanes, uint64_t step, uint64_t width, uint64_t line)
{
    uint64_t lines = 0, next = 0; /* the first one that is not counted yet */
    for (uint64_t lane = 0; lane < lanes; lane++) {
        uint64_t first = lane * step / line, last = (lane * step + width - 1) / line;
        if (first < next) first = next;
        if (last < first) continue;
        lines += last - first + 1;
        next = last + 1;
    }
    return lines;
}

/* ---- values that differ from lane to lane ---- */

static bool is_varying_leaf(const struct kx *x, void *data)
{
    const struct coalesce *c = data;
    switch (x->kind) {
    case KX_VARIABLE:
        if (x->variable->kind == VARIABLE_LOCAL) return c->varying[x->variable->index];
        return x->variable->kind == VARIABLE_STATE || x->variable->kind == VARIABLE_SHARED;
    case KX_PEEK:
    case KX_WINDOW:
    case KX_PHASE:
    case KX_FIRING:
    case KX_DONE: return true;
    case KX_ITEM: return x->dimension <= ITEM_Z;
    default: return false;
    }
}

static bool varies_by_lane(const struct coalesce *c, const struct kx *x)
{
    return kx_any(x, is_varying_leaf, (void *)c);
}

static void mark_spread_value(struct coalesce *c, const struct variable *v)
{
    if (v->kind != VARIABLE_LOCAL || c->varying[v->index]) return;
    c->varying[v->index] = c->changed = true;
}

static bool spread_by_assignment(const struct kx *x, void *data)
{
    struct coalesce *c = data;
    if (x->kind != KX_ASSIGN || (!varies_by_lane(c, x->right) && !varies_by_lane(c, x->left)))
        return false;
    const struct kx *whole = x->left;
    while (whole->kind == KX_INDEX || whole->kind == KX_MEMBER)
        whole = whole->left;
    if (whole->kind == KX_VARIABLE) mark_spread_value(c, whole->variable);
    return false;
}

static bool spread_by_declaration(const struct ks *s, void *data)
{
    struct coalesce *c = data;
    if (s->kind == KS_DECLARE && s->expr != NULL && varies_by_lane(c, s->expr))
        mark_spread_value(c, s->variable);
    return false;
}

/* Lanes are in lock step: control makes no variable differ that all lanes change in the same way. */
static void find_lane_varying(struct coalesce *c)
{
    do {
        c->changed = false;
        ks_any(c->kernel->body, spread_by_declaration, spread_by_assignment, c);
    } while (c->changed);
}

/* ---- places ---- */

static bool declares_variable(const struct ks *s, void *data)
{
    return s->kind == KS_DECLARE && s->variable == data;
}

static bool lane_step(const struct coalesce *c, const struct kx *x, int64_t *step);

static bool step_of_variable(const struct coalesce *c, const struct variable *v, int64_t *step)
{
    if (v->kind != VARIABLE_LOCAL || ks_assigns(c->kernel->body, v)) return false;
    const struct ks *declaration = ks_find(c->kernel->body, declares_variable, (void *)v);
    return declaration != NULL && declaration->expr != NULL &&
           lane_step(c, declaration->expr, step);
}

static bool small_constant(const struct kx *x, int64_t *value)
{
    if (x->kind != KX_CONSTANT || !type_is_integer(x->type)) return false;
    __int128 exact = arith_as_exact(x->value);
    *value = (int64_t)exact;
    return exact > -(1 << 20) && exact < (1 << 20);
}

static bool step_of_binary(const struct coalesce *c, const struct kx *x, int64_t *step)
{
    int64_t left, right, factor;
    bool scales = x->op == OP_MUL || x->op == OP_SHL;
    if (scales && small_constant(x->right, &factor) && lane_step(c, x->left, &left)) {
        if (x->op == OP_SHL && (factor < 0 || factor > 20)) return false;
        *step = x->op == OP_MUL ? left * factor : left << factor;
    } else if (x->op == OP_MUL && small_constant(x->left, &factor) &&
               lane_step(c, x->right, &right)) {
        *step = right * factor;
    } else if ((x->op == OP_ADD || x->op == OP_SUB) && lane_step(c, x->left, &left) &&
               lane_step(c, x->right, &right)) {
        *step = x->op == OP_ADD ? left + right : left - right;
    } else {
        return false;
    }
    return *step > -(1 << 20) && *step < (1 << 20);
}

/* Packets from the place of a lane to that of the next one, beside what the firings differ by.  False: data decide. */
static bool lane_step(const struct coalesce *c, const struct kx *x, int64_t *step)
{
    *step = 0;
    if (x == NULL || !varies_by_lane(c, x)) return true;
    switch (x->kind) {
    case KX_ITEM: *step = x->dimension == ITEM_X; return true;
    case KX_CONVERT: return type_is_integer(x->left->type) && lane_step(c, x->left, step);
    case KX_VARIABLE: return step_of_variable(c, x->variable, step);
    case KX_BINARY: return step_of_binary(c, x, step);
    default: return false;
    }
}

/* Each lane may be anywhere in its window, `step` bytes after the one before. */
static uint64_t gathered_lines(uint64_t lanes, uint64_t step, uint64_t window_bytes, uint64_t width,
                               uint64_t line)
{
    uint64_t own = lanes * ((width + line - 1) / line);
    uint64_t all = ((lanes - 1) * step + window_bytes + line - 1) / line;
    return all < own ? all : own;
}

struct access {
    const struct kernel_port *port;
    uint64_t packets; /* that a firing consumes or appends */
    uint64_t window;  /* packets that an index may name */
    const struct kx *index;
    uint64_t line;
};

static uint32_t lines_of(const struct coalesce *c, const struct access *a)
{
    int64_t own;
    const uint64_t width = a->port->type->width_bytes, most = UINT64_C(1) << 40;
    uint64_t firings = c->kernel->grouped ? 0 : a->packets, lines;
    if (width == 0) return 1;
    if (firings > most / width) firings = most / width;
    if (lane_step(c, a->index, &own)) {
        int64_t step = (int64_t)firings + own;
        lines =
            coalesced_lines(c->lanes, (uint64_t)(step < 0 ? -step : step) * width, width, a->line);
    } else {
        uint64_t window = a->window > most / width ? most : a->window * width;
        lines = gathered_lines(c->lanes, firings * width, window, width, a->line);
    }
    lines *= c->rows;
    return lines == 0 ? 1 : lines > UINT16_MAX ? UINT16_MAX : (uint32_t)lines;
}

static uint64_t per_phase(const struct kernel *k, uint64_t packets)
{
    return (packets + k->phases - 1) / k->phases;
}

static bool count_loaded_lines(const struct kx *x, void *data)
{
    const struct coalesce *c = data;
    if (x->kind != KX_PEEK && x->kind != KX_WINDOW) return false;
    const struct kernel_port *port = &c->kernel->in[x->port];
    const struct access access = {.port = port,
                                  .packets = per_phase(c->kernel, port->pop),
                                  .window = x->right->places > 0 ? x->right->places : port->peek,
                                  .index = x->right,
                                  .line = c->device->costs.load_line_bytes};
    ((struct kx *)x)->lines = lines_of(c, &access);
    return false;
}

static bool count_stored_lines(const struct ks *s, void *data)
{
    const struct coalesce *c = data;
    if (s->kind != KS_EMIT && s->kind != KS_STORE) return false;
    const struct kernel_port *port = &c->kernel->out[s->port];
    const struct access access = {.port = port,
                                  .packets = per_phase(c->kernel, port->push),
                                  .window = port->push,
                                  .index = s->kind == KS_STORE ? s->index : NULL,
                                  .line = c->device->costs.store_line_bytes};
    ((struct ks *)s)->lines = lines_of(c, &access);
    return false;
}

void coalesce_accesses(struct kernel *kernel, const struct devdesc *device)
{
    bool loads = device->costs.load_line_bytes > 0, stores = device->costs.store_line_bytes > 0;
    if ((!loads && !stores) || kernel->foreign != NULL || kernel->unit != NULL ||
        kernel->phases == 0)
        return;
    struct arena *scratch = arena_create();
    struct coalesce c = {.kernel = kernel, .device = device, .lanes = device->lanes, .rows = 1};
    bool alone =
        kernel->states.count > 0 || kernel->is_child || kernel_launches_any(&kernel->launches);
    c.varying = ARENA_ARRAY(scratch, bool, kernel->local_count + 1);
    if (kernel->grouped && kernel->group[0] < device->lanes) {
        c.lanes = kernel->group[0];
        c.rows = (device->lanes + kernel->group[0] - 1) / kernel->group[0];
    } else if (!kernel->grouped && alone) {
        c.lanes = 1;
    }
    find_lane_varying(&c);
    ks_any(kernel->body, stores ? count_stored_lines : NULL, loads ? count_loaded_lines : NULL, &c);
    arena_destroy(scratch);
}
