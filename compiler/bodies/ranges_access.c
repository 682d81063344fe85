/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "compiler/bodies/ranges_internal.h"
#include "lang/window.h"

/* ---- accesses ---- */

enum { SEEN = 1, MAYBE_INSIDE = 2, REPORTED = 4 }; /* bits of `visited` */

static const char *wide_text(struct arena *arena, wide value)
{
    return arena_printf(arena, value < 0 ? "-%" PRIu64 : "%" PRIu64,
                        (uint64_t)(value < 0 ? -value : value));
}

static const char ROW[] = "row", COLUMN[] = "column"; /* of a 2-D window, from its first one */
const char WALK_OUT_PORT[] = "out-port";

/* `7`, `-3 to 12`, `10 or more`, `less than 0`: what the interval says beyond the type's limits. */
static const char *range_text(struct walker *w, struct interval i, const struct type *type)
{
    struct interval all = type != NULL ? interval_of_type(type) : INTERVAL_ALL;
    bool open_low = i.low <= all.low, open_high = i.high >= all.high;
    if (open_low && open_high) return "any number";
    if (i.low == i.high) return wide_text(w->cx->arena, i.low);
    if (open_high) return arena_printf(w->cx->arena, "%s or more", wide_text(w->cx->arena, i.low));
    if (open_low) return arena_printf(w->cx->arena, "%s or less", wide_text(w->cx->arena, i.high));
    return arena_printf(w->cx->arena, "%s to %s", wide_text(w->cx->arena, i.low),
                        wide_text(w->cx->arena, i.high));
}

/* Where the values of the index come from: the loops that step its variables, or what is known of
 * them there. */
static void show_operands(struct walker *w, const struct walk_outside *o, struct diag *d)
{
    for (uint32_t i = 0; i < o->operand_count; i++) {
        const struct walk_operand *x = &o->operands[i];
        const char *range = range_text(w, x->value, x->variable->type);
        if (x->loop != NULL && x->round > 0)
            diag_label(d, x->loop->expr != NULL ? x->loop->expr->span : x->loop->span,
                       "'%s' is %s in round %" PRIu64 " of this loop", x->variable->name, range,
                       x->round);
        else if (x->loop != NULL)
            diag_label(d, x->loop->expr != NULL ? x->loop->expr->span : x->loop->span,
                       "'%s' is %s in this loop", x->variable->name, range);
        else
            diag_label(d, x->variable->span, "'%s' is %s where it is the index", x->variable->name,
                       range);
    }
}

static const struct kernel_port *port_named(const struct kernel_port *ports, uint32_t count,
                                            const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(ports[i].name, name) == 0) return &ports[i];
    return NULL;
}

static bool is_of_window(const struct walk_outside *o)
{
    return o->what == ROW || o->what == COLUMN;
}

static struct diag *report_outside_window(struct walker *w, const struct walk_outside *o)
{
    const struct kernel_port *port = port_named(w->kernel->in, w->kernel->in_count, o->name);
    int64_t half = (int64_t)(o->length / 2);
    struct interval at = {o->index.low - half, o->index.high - half};
    struct diag *d;
    if (at.low == at.high)
        d = diag_report(w->cx->diags, RULE_OUT_OF_WINDOW, o->span,
                        "%s %" PRId64 " is outside the window of '%s', whose %ss are %" PRId64
                        " to %" PRId64,
                        o->what, (int64_t)at.low, o->name, o->what, -half, half);
    else
        d = diag_report(w->cx->diags, RULE_OUT_OF_WINDOW, o->span,
                        "the %s is outside the window of '%s', whose %ss are %" PRId64
                        " to %" PRId64,
                        o->what, o->name, o->what, -half, half);
    show_operands(w, o, d);
    int64_t rows = port->window_height / 2, columns = port->window_width / 2;
    diag_label(d, port->window_span,
               "rows %" PRId64 " to %" PRId64 ", columns %" PRId64 " to %" PRId64
               ", counted from the centre",
               -rows, rows, -columns, columns);
    return d;
}

/* `y[2] = v` of a port that gets 2 packets. */
static struct diag *report_outside_firing(struct walker *w, const struct walk_outside *o)
{
    const struct kernel_port *port = port_named(w->kernel->out, w->kernel->out_count, o->name);
    const char *packets = arena_counted(w->cx->arena, o->length, "packet"), *index = "the index";
    if (o->index.low == o->index.high)
        index = arena_printf(w->cx->arena, "index %s", wide_text(w->cx->arena, o->index.low));
    struct diag *d;
    if (o->length == 1)
        d = diag_report(
            w->cx->diags, RULE_OUT_OF_RANGE, o->span,
            "%s is outside the one packet that a firing appends to '%s': its index is 0", index,
            o->name);
    else
        d = diag_report(
            w->cx->diags, RULE_OUT_OF_RANGE, o->span,
            "%s is outside the %s that a firing appends to '%s': they are 0 to %" PRIu64, index,
            packets, o->name, o->length - 1);
    show_operands(w, o, d);
    diag_label(d, port->rate_declared ? port->rate_span : port->span, "%s%s", packets,
               w->kernel->phases > 1 ? arena_printf(w->cx->arena, " in phase %" PRIu32, o->phase)
                                     : "");
    return d;
}

static struct diag *report_outside_other(struct walker *w, const struct walk_outside *o)
{
    bool window = o->what[0] == 'w', known = o->index.low == o->index.high;
    bool before = o->index.high < 0;
    const char *index =
        known ? arena_printf(w->cx->arena, "index %s", wide_text(w->cx->arena, o->index.low))
              : "the index";
    const char *of = o->name[0] != '\0' ? " of '" : "", *end = o->name[0] != '\0' ? "'" : "";
    enum rule rule = window ? RULE_OUT_OF_WINDOW : RULE_OUT_OF_RANGE;
    struct diag *d;
    if (o->length == 0)
        d = diag_report(w->cx->diags, rule, o->span, "%s of '%s' is empty", o->what, o->name);
    else
        d = diag_report(w->cx->diags, rule, o->span,
                        "%s is outside the %s%s%s%s, which %s at %" PRIu64, index, o->what, of,
                        o->name, end, before ? "begins" : "ends", before ? 0 : o->length - 1);
    if (!known && o->operand_count == 0) diag_primary(d, "it is %s", range_text(w, o->index, NULL));
    show_operands(w, o, d);
    return d;
}

static void report_outside(struct walker *w, const struct walk_outside *o)
{
    bool window = o->what[0] == 'w';
    struct diag *d;
    if (*o->visited & REPORTED) return;
    *o->visited |= REPORTED;
    if (is_of_window(o))
        d = report_outside_window(w, o);
    else if (o->what == WALK_OUT_PORT && o->length > 0)
        d = report_outside_firing(w, o);
    else
        d = report_outside_other(w, o);
    if (window && w->section == WALK_FIRING && w->kernel->phases > 1)
        diag_note(d, "in phase %" PRIu32 " of %" PRIu32, o->phase, w->kernel->phases);
    else if ((window || is_of_window(o)) && o->at != NULL)
        vec_push(w->scratch, &w->narrow, (struct walk_narrow){d, o->at, o->what, o->name});
}

/* The maximum number of packets that an access of the port needs. */
static int64_t packets_needed(const struct walker *w, const char *name)
{
    int64_t most = 0;
    for (size_t i = 0; i < w->narrow.count; i++) {
        const struct walk_narrow *n = &w->narrow.items[i];
        int64_t last = n->at->place_most;
        bool same = n->name == name && n->what != ROW && n->what != COLUMN;
        if (same && n->at->place_least >= 0 && last < INT32_MAX && last > most) most = last;
    }
    return most + 1;
}

static void help_peek(struct walker *w, const struct walk_narrow *n)
{
    int64_t least = n->at->place_least, most = n->at->place_most;
    const struct kernel_port *port = port_named(w->kernel->in, w->kernel->in_count, n->name);
    if (most < 0 && least > INT32_MIN) {
        int64_t newest = (int64_t)n->at->places - 1 - least;
        diag_help(n->diag,
                  "the oldest packet that a firing sees has index 0: with 'peek %" PRId64
                  "' that is '%s[0]', and the newest is '%s[%" PRId64
                  "]'; or keep earlier packets in a 'state' variable",
                  newest + 1, n->name, n->name, newest);
        return;
    }
    if (least < 0 || most >= INT32_MAX) return;
    if (n->at->places == 1 && type_is_indexed(port->type) && most < (int64_t)port->type->length) {
        struct span index = n->at->span;
        const char *element = least == most ? wide_text(w->cx->arena, most) : "...";
        diag_help(n->diag, "the first index of '%s' counts packets: an element is '%s[0][%s]'",
                  n->name, n->name, element);
        diag_fix(n->diag, (struct span){index.source, index.begin, index.begin}, "0][");
        return;
    }
    int64_t packets = packets_needed(w, n->name);
    diag_help(n->diag, "'peek %" PRId64 "' would make the window large enough", packets);
    struct span end = {port->span.source, port->span.end, port->span.end};
    /* One edit serves all accesses of the port.  The author decides on a port that depends on
     * parameters. */
    if (!port->rate_declared && !port->is_array && strcmp(w->kernel->name, w->kernel->title) == 0)
        diag_fix(n->diag, end, " peek %" PRId64, packets);
}

/* All rounds of the loops of the index are known now. */
static void help_narrow(struct walker *w, const struct walk_narrow *n)
{
    int64_t least = n->at->place_least, most = n->at->place_most;
    if (n->what != ROW && n->what != COLUMN) {
        help_peek(w, n);
        return;
    }
    const struct kernel_port *port = port_named(w->kernel->in, w->kernel->in_count, n->name);
    uint32_t width = port->window_width, height = port->window_height;
    uint32_t *side = n->what == ROW ? &height : &width;
    int64_t half = *side / 2, limit = WINDOW_MAX_SIDE / 2;
    if (least < half - limit || most > half + limit) return;
    int64_t reach = half - least > most - half ? half - least : most - half;
    *side = (uint32_t)(2 * reach + 1);
    diag_help(n->diag, "'window %" PRIu32 "x%" PRIu32 "' would be large enough", width, height);
}

void walk_report_outside(struct walker *w)
{
    for (size_t i = 0; i < w->outside.count; i++)
        if (!(*w->outside.items[i].visited & MAYBE_INSIDE)) report_outside(w, &w->outside.items[i]);
    for (size_t i = 0; i < w->narrow.count; i++)
        help_narrow(w, &w->narrow.items[i]);
}

/* ---- where an index comes from ---- */

static void add_operand(const struct walker *w, const struct walk_state *s, const struct kx *e,
                        struct walk_outside *o)
{
    for (uint32_t i = 0; i < o->operand_count; i++)
        if (o->operands[i].variable == e->variable) return;
    if (o->operand_count == WALK_OPERANDS_MAX) return;
    struct walk_operand operand = {
        .variable = e->variable, .span = e->span, .value = walk_variable(w, s, e)};
    for (size_t i = w->rounds.count; i-- > 0 && operand.loop == NULL;) {
        const struct walk_round *round = &w->rounds.items[i];
        const struct ks *loop = round->loop;
        if (!kx_assigns(loop->step, e->variable) && !kx_assigns(loop->expr, e->variable) &&
            !ks_assigns(loop->body, e->variable))
            continue;
        operand.loop = loop;
        operand.round = round->round;
    }
    o->operands[o->operand_count++] = operand;
}

static void find_operands(const struct walker *w, const struct walk_state *s, const struct kx *e,
                          struct walk_outside *o)
{
    if (e == NULL) return;
    if (e->kind == KX_VARIABLE && type_is_integer(e->type) &&
        walk_slot(w, e->variable) != WALK_NO_SLOT)
        add_operand(w, s, e, o);
    for (uint32_t i = 0; i < kx_child_count(e); i++)
        find_operands(w, s, kx_child(e, i), o);
}

static int64_t clamped_index(wide value)
{
    return value < INT64_MIN ? INT64_MIN : value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* Keeps the range of the index over all visits, and the smallest number of places over all phases. */
static void keep_range(struct kx *at, struct interval index, uint64_t length)
{
    if (at == NULL) return;
    struct interval all = index;
    if (at->places > 0)
        all = interval_join(all, (struct interval){at->place_least, at->place_most});
    at->place_least = clamped_index(all.low);
    at->place_most = clamped_index(all.high);
    at->places = at->places > 0 && at->places < length ? at->places : length;
}

void walk_mark_access(struct walker *w, const struct walk_state *s, enum access_check *check,
                      unsigned char *visited, struct interval index, uint64_t length, struct kx *at,
                      struct span span, const char *what, const char *name)
{
    if (!w->mark || !s->reachable) return;
    if (*check == ACCESS_GUARDED) {
        keep_range(at, index, length);
        return;
    }
    if (!(*visited & SEEN)) *check = ACCESS_PROVEN;
    *visited |= SEEN;
    if (index.low < 0 || index.high >= (wide)length) *check = ACCESS_CHECKED;
    keep_range(at, index, length);
    if (index.high >= 0 && index.low < (wide)length) {
        *visited |= MAYBE_INSIDE;
        return;
    }
    if (*visited & REPORTED || (!s->certain && *visited & MAYBE_INSIDE)) return;
    struct walk_outside outside = {.visited = visited,
                                   .index = index,
                                   .length = length,
                                   .phase = w->phase,
                                   .span = span,
                                   .what = what,
                                   .name = name,
                                   .at = at};
    find_operands(w, s, at, &outside);
    if (s->certain)
        report_outside(w, &outside);
    else
        vec_push(w->scratch, &w->outside, outside);
}

/* Empty for a value without a name. */
static const char *array_name(const struct walker *w, const struct kx *e)
{
    while (e->kind == KX_INDEX)
        e = e->left;
    if (e->kind == KX_VARIABLE) return e->variable->name;
    if (e->kind == KX_MEMBER) return e->left->type->fields[e->member].name;
    bool packet = e->kind == KX_PEEK || e->kind == KX_WINDOW;
    if (packet && w->kernel != NULL) return w->kernel->in[e->port].name;
    return "";
}

/* The value of an item of a constant array: of those that `index` can name, where that is cheap to
 * tell. */
static struct interval constant_range(struct walker *w, const struct kx *e, struct interval index,
                                      struct interval whole)
{
    enum { ITEMS_MAX = 256 };
    const struct kx *root = e;
    while (root->kind == KX_INDEX)
        root = root->left;
    if (root->kind != KX_VARIABLE || root->variable->kind != VARIABLE_CONSTANT) return whole;
    if (!type_is_integer(e->type) || root->type->width_bytes == 0) return whole;
    wide last = (wide)e->left->type->length - 1;
    wide from = index.low < 0 ? 0 : index.low, to = index.high > last ? last : index.high;
    if (e->left != root || from > to || to - from > ITEMS_MAX) {
        /* Of all items of a constant array; found once. */
        const struct variable *v = root->variable;
        for (size_t i = 0; i < w->constants.count; i++)
            if (w->constants.items[i].variable == v) return w->constants.items[i].range;
        struct interval r = interval_of_value(v->constant[0]);
        uint64_t count = type_scalar_count(v->type);
        for (uint64_t i = 1; i < count; i++)
            r = interval_join(r, interval_of_value(v->constant[i]));
        vec_push(w->scratch, &w->constants, (struct walk_constant){v, r});
        return r;
    }
    struct interval r = interval_of_value(root->variable->constant[from]);
    for (wide i = from; i <= to; i++)
        r = interval_join(r, interval_of_value(root->variable->constant[i]));
    return r;
}

struct interval walk_index(struct walker *w, struct walk_state *s, struct kx *e)
{
    struct interval whole = walk_eval(w, s, e->left);
    struct interval index = walk_eval(w, s, e->right);
    walk_mark_access(w, s, &e->check, &e->visited, index, e->left->type->length, e->right,
                     e->right->span, type_is_vector(e->left->type) ? "vector" : "array",
                     array_name(w, e->left));
    return constant_range(w, e, index, whole);
}

/* The local that stands for the packet that `e` is, or NULL. */
struct interval *walk_packet(const struct walker *w, const struct walk_state *s, const struct kx *e)
{
    if (e->kind != KX_PEEK || e->left != NULL || !type_is_integer(e->type)) return NULL;
    if (e->right != NULL && (e->right->kind != KX_CONSTANT || e->right->value.bits != 0))
        return NULL;
    return &s->locals[w->port_local + e->port];
}

struct interval walk_peek(struct walker *w, struct walk_state *s, struct kx *e)
{
    const struct kernel_port *port = &w->kernel->in[e->port];
    if (e->left != NULL) {
        struct interval element = walk_eval(w, s, e->left);
        walk_mark_access(w, s, &e->element_check, &e->visited_element, element, port->arity,
                         e->left, e->left->span, "port array", port->name);
    }
    struct interval index = {0, 0};
    if (e->right != NULL) index = walk_eval(w, s, e->right);
    if (w->section != WALK_FINISH)
        walk_mark_access(w, s, &e->check, &e->visited, index,
                         port->peeks != NULL ? port->peeks[w->phase] : port->peek, e->right,
                         e->right != NULL ? e->right->span : e->span, "window", port->name);
    const struct interval *kept = walk_packet(w, s, e);
    struct interval all = interval_of_type(e->type);
    return kept != NULL ? interval_meet(*kept, all) : all;
}

/* A row or column counts from the centre. */
static void mark_window(struct walker *w, struct walk_state *s, struct kx *at,
                        enum access_check *check, unsigned char *visited, uint32_t side,
                        const char *what, const char *name)
{
    wide half = side / 2;
    struct interval index = walk_eval(w, s, at);
    index = (struct interval){index.low + half, index.high + half};
    walk_mark_access(w, s, check, visited, index, side, at, at->span, what, name);
}

struct interval walk_window(struct walker *w, struct walk_state *s, struct kx *e)
{
    const struct kernel_port *port = &w->kernel->in[e->port];
    if (e->third != NULL) {
        struct interval element = walk_eval(w, s, e->third);
        walk_mark_access(w, s, &e->element_check, &e->visited_element, element, port->arity,
                         e->third, e->third->span, "port array", port->name);
    }
    mark_window(w, s, e->left, &e->check, &e->visited, port->window_height, ROW, port->name);
    mark_window(w, s, e->right, &e->column_check, &e->visited_column, port->window_width, COLUMN,
                port->name);
    return interval_of_type(e->type);
}
