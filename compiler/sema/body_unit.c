/* SPDX-License-Identifier: MIT */
/*
 * body_unit: builtin kernels, which a fixed-function unit of the device executes (lang/reference.md, "Built-in kernels").
 *
 * Kernel unit_NAME of std/units.pipe says what the unit NAME computes, with compile-time parameters that follow from the
 * declaration: T is the type of the in-port's packets, POP and PUSH are the rates.  Its body becomes that of the builtin
 * kernel.  The host's processor executes it like any other, a simulated device in the time of its unit.
 *
 * Gives  the kernel; without a body where the device does not have the unit.
 * Fails  RULE_BUILTIN_KERNEL, RULE_UNKNOWN_ATTRIBUTE, RULE_TOO_LARGE.
 */
#include <inttypes.h>
#include <string.h>

#include "base/nearest.h"
#include "compiler/sema/body_internal.h"
#include "compiler/target/target.h"

enum { BLOCK_BYTES_MAX = 1 << 20 }; /* that a unit reads, or writes, in a firing */

/* ---- the unit ---- */

static void list_units(struct arena *arena, const char **names, const char **text)
{
    *text = "";
    for (int i = 0; i < DEVDESC_UNITS; i++) {
        names[i] = devdesc_unit_name((enum devdesc_unit_kind)i);
        *text = arena_printf(arena, "%s%s\"%s\"", *text, i > 0 ? ", " : "", names[i]);
    }
}

static void refuse_unit(struct body *b, struct span span, const char *what)
{
    const char *names[DEVDESC_UNITS], *all;
    list_units(b->arena, names, &all);
    struct diag *diag = body_report(b, RULE_BUILTIN_KERNEL, span, "%s", what);
    diag_help(diag, "write from \"NAME\" after the parameter list, with one of %s", all);
}

/* `from "sort"` */
static void read_unit(struct body *b, const struct ast_attribute *at)
{
    const struct ast_expr *e = at->value;
    const char *names[DEVDESC_UNITS], *all;
    list_units(b->arena, names, &all);
    if (e->kind != AST_EXPR_STRING) {
        refuse_unit(b, e->span, "'from' names the unit of a builtin kernel, as a string");
        return;
    }
    const char *name = arena_string(b->arena, e->string.bytes, e->string.size_bytes);
    for (int i = 0; i < DEVDESC_UNITS; i++) {
        if (strlen(names[i]) != e->string.size_bytes || strcmp(names[i], name) != 0) continue;
        struct kernel_unit *unit = ARENA_NEW(b->arena, struct kernel_unit);
        unit->kind = (enum devdesc_unit_kind)i;
        b->kernel->kernel->unit = unit;
        return;
    }
    struct diag *diag = body_report(b, RULE_BUILTIN_KERNEL, e->span, "there is no unit '%s'", name);
    const char *nearest = nearest_name(name, names, DEVDESC_UNITS);
    if (nearest != NULL)
        diag_suggest(diag, e->span, arena_printf(b->arena, "\"%s\"", nearest));
    else
        diag_help(diag, "the units are %s", all);
}

void body_unit_attributes(struct body *b, const struct ast_item *item)
{
    static const char *const known[] = {"from"};
    const struct ast_attribute *first = item->signature.attributes;
    for (const struct ast_attribute *at = first; at; at = at->next) {
        if (body_repeated_attribute(b, first, at)) continue;
        if (strcmp(at->name.text, "from") == 0)
            read_unit(b, at);
        else
            body_unknown_attribute(b, at, "a builtin kernel", known, 1);
    }
    if (b->kernel->kernel->unit == NULL && !b->failed)
        refuse_unit(b, item->signature.name.span,
                    arena_printf(b->arena, "the builtin kernel '%s' does not name its unit",
                                 item->signature.name.text));
}

/* ---- whether the declaration fits the unit ---- */

static uint64_t block_bytes(const struct kernel_port *port, uint64_t packets)
{
    uint64_t bytes;
    return __builtin_mul_overflow(packets, port->type->width_bytes, &bytes) ? UINT64_MAX : bytes;
}

static bool check_block(struct body *b, const struct kernel_port *port, uint64_t packets)
{
    uint64_t bytes = block_bytes(port, packets);
    if (bytes <= BLOCK_BYTES_MAX) return true;
    struct diag *diag =
        body_report(b, RULE_TOO_LARGE, port->span,
                    "a firing of '%s' moves %" PRIu64 " bytes through '%s', and a unit at most %d",
                    b->kernel->kernel->name, bytes, port->name, BLOCK_BYTES_MAX);
    diag_help(diag, "declare smaller blocks");
    return false;
}

static bool is_sortable(const struct type *type)
{
    return type->kind == TYPE_SCALAR && type->scalar != SCALAR_BOOL;
}

/* Refuses ports and arguments that no unit has, whatever its parameters are. */
static bool check_unit_shape(struct body *b)
{
    const struct kernel *kernel = b->kernel->kernel;
    const char *what = NULL;
    struct span span = kernel->span;
    if (kernel->in_count != 1 || kernel->out_count != 1)
        what = "a unit has one in-port and one out-port";
    else if (kernel->in[0].is_array || kernel->out[0].is_array)
        what = "a unit has no arrays of ports";
    else if (kernel->in[0].window_width > 0)
        what = "a unit has no 2-D window";
    else if (kernel->phases > 1 || kernel->out[0].push_least != kernel->out[0].push)
        what = "the rates of a unit are single numbers";
    else if (kernel->argument_count > 0)
        what = "a unit takes no run-time arguments";
    else if (kernel->unit->kind == DEVDESC_UNIT_SORT && !is_sortable(kernel->in[0].type)) {
        what = "the unit 'sort' takes packets that are numbers";
        span = kernel->in[0].span;
    }
    if (what != NULL) body_report(b, RULE_BUILTIN_KERNEL, span, "%s", what);
    return what == NULL;
}

static const char *unit_rates_text(struct arena *arena, const struct kernel_port *in)
{
    if (in->peek > in->pop)
        return arena_printf(arena, "pop %" PRIu64 " peek %" PRIu64, in->pop, in->peek);
    return arena_printf(arena, "pop %" PRIu64, in->pop);
}

static bool same_port(const struct kernel_port *a, const struct kernel_port *b)
{
    return a->type == b->type && a->pop == b->pop && a->peek == b->peek && a->push == b->push;
}

/* Of two kernels with one in-port and one out-port. */
static bool check_fit(struct body *b, const struct kernel *unit)
{
    const struct kernel *kernel = b->kernel->kernel;
    const struct kernel_port *in = &kernel->in[0], *out = &kernel->out[0];
    bool in_fits = same_port(in, &unit->in[0]);
    if (in_fits && same_port(out, &unit->out[0])) return true;
    const struct kernel_port *wrong = in_fits ? out : in;
    const char *name = devdesc_unit_name(kernel->unit->kind);
    struct diag *diag = body_report(b, RULE_BUILTIN_KERNEL, wrong->span,
                                    "port '%s' of '%s' does not fit the unit '%s'", wrong->name,
                                    kernel->name, name);
    diag_help(diag,
              "as the unit has it: builtin kernel %s(in %s %s %s, out %s %s push %" PRIu64
              ") from \"%s\"",
              kernel->name, type_text(b->arena, unit->in[0].type), in->name,
              unit_rates_text(b->arena, &unit->in[0]), type_text(b->arena, unit->out[0].type),
              out->name, unit->out[0].push, name);
    return false;
}

/* ---- the kernel ---- */

/* T, POP and PUSH of the library's kernel. */
static struct compile_argument *unit_parameters(struct body *b, const struct ast_item *item,
                                                size_t *count)
{
    const struct kernel_port *in = &b->kernel->kernel->in[0], *out = &b->kernel->kernel->out[0];
    *count = 0;
    for (const struct ast_type_param *p = item->signature.type_params; p; p = p->next)
        ++*count;
    struct compile_argument *params = ARENA_ARRAY(b->arena, struct compile_argument, *count + 1);
    size_t i = 0;
    for (const struct ast_type_param *p = item->signature.type_params; p; p = p->next, i++) {
        if (p->is_type)
            params[i].type = in->type;
        else
            params[i].integer = (int64_t)(strcmp(p->name.text, "POP") == 0 ? in->pop : out->push);
    }
    return params;
}

static struct kernel *library_kernel(struct body *b)
{
    const char *unit = devdesc_unit_name(b->kernel->kernel->unit->kind);
    const char *name = intern_string(b->cx->names, arena_printf(b->arena, "unit_%s", unit));
    const struct symbol *symbol = scope_find(b->sema->library, name);
    if (symbol == NULL || symbol->kind != SYMBOL_KERNEL) return NULL;
    size_t count;
    struct compile_argument *params = unit_parameters(b, symbol->item, &count);
    return sema_own_kernel(b->sema, symbol->item, params, count);
}

/* Of a firing: the unit reads and writes at the same time. */
static uint64_t unit_cycles(const struct devdesc_unit *unit, const struct kernel *kernel)
{
    uint64_t in = block_bytes(&kernel->in[0], kernel->in[0].pop);
    uint64_t out = block_bytes(&kernel->out[0], kernel->out[0].push);
    uint64_t rate = unit->bytes_per_cycle, bytes = in > out ? in : out;
    return unit->start_cycles + (bytes + rate - 1) / rate;
}

/* The kernel of the library under the names of the declaration, for messages and for the graph. */
static struct kernel *named_as_declared(struct kernel *unit, const struct kernel *declared)
{
    unit->name = declared->name;
    unit->title = declared->title;
    unit->span = declared->span;
    unit->whole_span = declared->whole_span;
    unit->in[0].name = declared->in[0].name;
    unit->in[0].span = declared->in[0].span;
    unit->out[0].name = declared->out[0].name;
    unit->out[0].span = declared->out[0].span;
    return unit;
}

struct kernel *body_unit(struct body *b)
{
    struct kernel *declared = b->kernel->kernel;
    if (b->failed || !check_unit_shape(b)) return NULL;
    if (declared->out[0].push == 0) declared->out[0].push_least = declared->out[0].push = 1;
    if (!check_block(b, &declared->in[0], declared->in[0].pop) ||
        !check_block(b, &declared->out[0], declared->out[0].push))
        return NULL;
    struct kernel *unit = library_kernel(b);
    if (unit == NULL || !check_fit(b, unit)) return NULL;
    const struct devdesc *device = compile_device(b->cx);
    const struct devdesc_unit *has = &device->units[declared->unit->kind];
    enum target_units units = target_of(device)->units;
    bool of_device = units == TARGET_UNITS_OF_DEVICE && has->bytes_per_cycle > 0;
    if (!of_device && units != TARGET_UNITS_IN_SOFTWARE) return declared;
    named_as_declared(unit, declared);
    if (of_device) {
        struct kernel_unit *own = ARENA_NEW(b->arena, struct kernel_unit);
        *own = (struct kernel_unit){declared->unit->kind, unit_cycles(has, declared)};
        unit->unit = own;
    }
    return unit;
}
