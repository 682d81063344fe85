/* SPDX-License-Identifier: MIT */
/*
 * body_launch: the device queue in bodies: child kernels, `launch`, events and `done`
 * (lang/reference.md, "Child kernels").
 *
 * A launch names its child as an instance names its kernel. Omitted type parameters follow from the ports
 * of the launcher, to which the child's ports bind by position.  An event is a local variable of type u32
 * that only launches set. It is visible only after its launch, in the same firing and work-item, so a
 * statement that waits for it comes after the launch: events form no cycles.
 *
 * Fails: RULE_CHILD_KERNEL, RULE_LAUNCH_PORTS, RULE_LAUNCH_ORDER, and the rules of arguments and
 * parameters of instances.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/sema/body_internal.h"
#include "compiler/sema/elaborate_internal.h"
#include "base/nearest.h"

struct body_event {
    const struct ast_name *name;
    struct variable *variable;
    struct launch *launch;      /* NULL: never executed, or an error */
    bool needed;                /* the launching firing waits for it */
    VEC(struct scope *) waited; /* the scopes in which a launch waits for it */
    struct span done;           /* of the first done(); source 0: none */
};

/* ---- attributes ---- */

static void bound_attribute(struct body *b, const struct ast_attribute *at, uint64_t most,
                            uint64_t *value, struct span *span)
{
    int64_t written;
    *span = at->span;
    if (at->of.text) {
        body_report(b, RULE_UNKNOWN_ATTRIBUTE, at->of.span,
                    "'of PORT' belongs to 'amplify', not to '%s'", at->name.text);
    } else if (!sema_whole(b->sema, b->scope, at->value, at->name.text, &written)) {
        b->failed = true;
    } else if (written < 1 || (uint64_t)written > most) {
        body_report(b, written < 1 ? RULE_CONSTANT_RANGE : RULE_TOO_LARGE, at->value->span,
                    "'%s' is 1 to %" PRIu64 ", not %" PRId64, at->name.text, most, written);
    } else {
        *value = (uint64_t)written;
    }
}

/* `groups N` of a child: the maximum of work-groups of one launch. */
static void groups_attribute(struct body *b, const struct ast_attribute *at)
{
    struct kernel *kernel = b->kernel->kernel;
    uint64_t most = 1;
    struct span span;
    if (!kernel->is_child) {
        struct diag *diag = body_report(b, RULE_CHILD_KERNEL, at->span,
                                        "'groups' bounds the work-groups of a launch, and '%s' is "
                                        "not launched",
                                        kernel->name);
        diag_help(diag, "'group N' is the number of work-items of a firing");
        return;
    }
    bound_attribute(b, at, SEMA_MAX_WORK_GROUPS, &most, &span);
    kernel->work_groups = (uint32_t)most;
    kernel->in_groups = true;
}

bool body_launch_attribute(struct body *b, const struct ast_attribute *at)
{
    struct kernel *kernel = b->kernel->kernel;
    struct kernel_launches *launches = &kernel->launches;
    if (strcmp(at->name.text, "launches") == 0) {
        bound_attribute(b, at, SEMA_MAX_LAUNCHES, &launches->declared, &launches->declared_span);
        return true;
    }
    if (strcmp(at->name.text, "groups") == 0) {
        groups_attribute(b, at);
        return true;
    }
    bool is_total = strcmp(at->name.text, "total") == 0;
    if (!is_total && strcmp(at->name.text, "nesting") != 0) return false;
    if (kernel->is_child) {
        struct diag *diag = body_report(b, RULE_CHILD_KERNEL, at->span,
                                        "'%s' bounds a whole tree of launches, and a child kernel "
                                        "is not its root",
                                        at->name.text);
        diag_help(diag, "write it on the kernel that the pipeline instantiates; here 'launches N' "
                        "bounds one firing's own launches");
    } else if (is_total) {
        bound_attribute(b, at, SEMA_MAX_TREE_LAUNCHES, &launches->total_declared,
                        &launches->total_span);
    } else {
        bound_attribute(b, at, SEMA_MAX_LAUNCH_LEVELS, &launches->nesting_declared,
                        &launches->nesting_span);
    }
    return true;
}

/* ---- the child ---- */

struct children {
    struct arena *arena;
    VEC(const char *) names;
};

static void collect_child(const struct symbol *symbol, void *data)
{
    struct children *children = data;
    if (symbol->kind == SYMBOL_KERNEL && symbol->item->kernel_kind == AST_KERNEL_CHILD)
        vec_push(children->arena, &children->names, symbol->name);
}

static void report_unknown_child(struct body *b, struct ast_name name)
{
    struct children children = {.arena = b->arena};
    struct diag *diag =
        body_report(b, RULE_UNKNOWN_NAME, name.span, "there is no child kernel '%s'", name.text);
    scope_each(b->scope, collect_child, &children);
    const char *nearest = nearest_name(name.text, children.names.items, children.names.count);
    if (nearest) diag_suggest(diag, name.span, nearest);
    scope_poison(b->scope, name);
}

static const struct ast_item *find_child(struct body *b, struct ast_name name)
{
    struct symbol *symbol = scope_find(b->scope, name.text);
    struct diag *diag;
    if (!symbol) {
        report_unknown_child(b, name);
        return NULL;
    }
    symbol->used = true;
    bool is_kernel = symbol->kind == SYMBOL_KERNEL;
    if (is_kernel && symbol->item->kernel_kind == AST_KERNEL_CHILD) return symbol->item;
    b->failed = true;
    if (symbol->kind == SYMBOL_POISON) return NULL;
    diag = body_report(b, RULE_WRONG_KIND_OF_NAME, name.span, "'%s' is not a child kernel: %s",
                       name.text, is_kernel ? "pipelines instantiate it" : "it cannot be launched");
    diag_label(diag, symbol->span, "declared here");
    if (is_kernel && symbol->item->kernel_kind == AST_KERNEL_PLAIN)
        diag_help(diag, "declare it as 'child kernel %s(...)'", name.text);
    return NULL;
}

/* The child with its compile-time parameters. */
static struct kernel *specialise_child(struct body *b, const struct ast_child *ast,
                                       const struct ast_item *item)
{
    const struct kernel *parent = b->kernel->kernel;
    if (b->sema->bodies->building > SEMA_MAX_LAUNCH_CHAIN) {
        body_report(b, RULE_TOO_DEEP, ast->kernel.span,
                    "child kernels, each another one, launch one another more than %d deep",
                    SEMA_MAX_LAUNCH_CHAIN);
        return NULL;
    }
    struct elaboration el = {.cx = b->cx, .sema = b->sema};
    const struct ast_node node = {.name = ast->kernel,
                                  .has_type_arguments = ast->type_arguments != NULL,
                                  .type_arguments = ast->type_arguments,
                                  .span = ast->kernel.span};
    const struct bound_ports bound = {
        .in = {.ports = parent->in, .port_count = parent->in_count, .span = ast->kernel.span},
        .out = {.ports = parent->out, .port_count = parent->out_count, .span = ast->kernel.span}};
    size_t count;
    const struct compile_argument *params =
        elaborate_parameters(&el, b->scope, &node, &item->signature, &bound, &count);
    struct kernel *child = params ? sema_kernel(b->sema, item, params, count) : NULL;
    if (!child) return NULL;
    if (!child->use && count > 0) {
        struct kernel_use *use = ARENA_NEW(b->arena, struct kernel_use);
        *use = (struct kernel_use){ast->kernel.span, child->title, NULL};
        child->use = use;
    }
    return child;
}

static void add_started_child(struct body *b, const struct ast_child *ast, struct launch *launch)
{
    const struct ast_item *item = find_child(b, ast->kernel);
    if (b->dead) return; /* a launch that is never executed specialises no kernel */
    if (launch->child_count == SEMA_MAX_LAUNCH_CHOICES) {
        body_report(b, RULE_TOO_LARGE, ast->span, "a launch chooses one of %d children at most",
                    SEMA_MAX_LAUNCH_CHOICES);
        return;
    }
    struct kernel *child = item ? specialise_child(b, ast, item) : NULL;
    if (child)
        launch->children[launch->child_count++] = (struct launch_child){child, ast->kernel.span};
    else
        b->failed = true;
}

/* Adds the children that the launch may start; returns the number of the one that it starts, i32, or NULL after an error.  A
 * condition that is known chooses at compile time, as that of `if` does. */
static struct kx *choose_child(struct body *b, const struct ast_child *ast, struct launch *launch)
{
    struct kx *number = body_constant(b, ast->span, arith_integer(SCALAR_I32, launch->child_count));
    if (!ast->condition) {
        add_started_child(b, ast, launch);
        return number;
    }
    struct kx *condition = body_condition(b, ast->condition);
    bool known = condition && condition->kind == KX_CONSTANT, dead = b->dead;
    bool taken = known && arith_truth(condition->value);
    b->dead = dead || (known && !taken);
    struct kx *yes = choose_child(b, ast->yes, launch);
    b->dead = dead || (known && taken);
    struct kx *no = choose_child(b, ast->no, launch);
    b->dead = dead;
    if (!condition) b->failed = true;
    if (!condition || !yes || !no) return NULL;
    if (known) return taken ? yes : no;
    struct kx *choice = body_kx(b, KX_SELECT, number->type, ast->span);
    choice->left = condition, choice->right = yes, choice->third = no;
    return choice;
}

/* ---- ports ---- */

static struct diag *report_port(struct body *b, const struct launch_child *launched,
                                const struct kernel_port *port, const struct kernel_port *parents,
                                const char *text)
{
    struct diag *diag = body_report(b, RULE_LAUNCH_PORTS, launched->span, "%s", text);
    diag_label(diag, port->span, "of the child");
    diag_label(diag, parents->span, "of its launcher");
    return diag;
}

/* True if the ports can be bound to each other: packets of one type, and as many ports. */
static bool check_like(struct body *b, const struct launch_child *launched,
                       const struct kernel_port *port, const struct kernel_port *parents)
{
    const char *child = launched->kernel->title, *parent = b->kernel->kernel->title;
    if (port->type == NULL || parents->type == NULL) return false; /* reported at the port */
    if (port->type != parents->type) {
        report_port(b, launched, port, parents,
                    arena_printf(b->arena,
                                 "port '%s' of '%s' takes packets of type %s, port '%s' of '%s', "
                                 "which launches it, %s",
                                 port->name, child, body_type_text(b, port->type), parents->name,
                                 parent, body_type_text(b, parents->type)));
        return false;
    }
    if (port->is_array == parents->is_array && port->arity == parents->arity) return true;
    report_port(b, launched, port, parents,
                arena_printf(b->arena,
                             "port '%s' of '%s' and port '%s' of '%s', which launches it, are not "
                             "arrays of one length",
                             port->name, child, parents->name, parent));
    return false;
}

/* The child sees the window of the launching firing, or the first packets of it. */
static void check_window(struct body *b, const struct launch_child *launched,
                         const struct kernel_port *port, const struct kernel_port *parents)
{
    const char *child = launched->kernel->title, *parent = b->kernel->kernel->title;
    if (port->peek <= parents->peek) return;
    struct diag *diag =
        report_port(b, launched, port, parents,
                    arena_printf(b->arena,
                                 "in-port '%s' of '%s' looks at %" PRIu64
                                 " packets, and a firing of '%s', which launches it, at "
                                 "%" PRIu64,
                                 port->name, child, port->peek, parent, parents->peek));
    diag_help(diag, "write 'peek %" PRIu64 "' at '%s' of '%s'", port->peek, parents->name, parent);
}

static bool check_port_count(struct body *b, const struct launch_child *launched, uint32_t count,
                             uint32_t parents, const char *kind)
{
    if (count <= parents) return true;
    const struct kernel *child = launched->kernel;
    struct diag *diag = body_report(
        b, RULE_LAUNCH_PORTS, launched->span, "'%s' has %s, and '%s', which launches it, %" PRIu32,
        child->title, arena_counted(b->arena, count, kind), b->kernel->kernel->title, parents);
    diag_label(diag, child->span, "declared here");
    diag_note(diag,
              "the ports of a child bind by position to those of the kernel that launches it");
    return false;
}

static void check_ports(struct body *b, const struct launch_child *launched)
{
    const struct kernel *child = launched->kernel, *parent = b->kernel->kernel;
    if (check_port_count(b, launched, child->in_count, parent->in_count, "in-port"))
        for (uint32_t i = 0; i < child->in_count; i++)
            if (check_like(b, launched, &child->in[i], &parent->in[i]))
                check_window(b, launched, &child->in[i], &parent->in[i]);
    if (check_port_count(b, launched, child->out_count, parent->out_count, "out-port"))
        for (uint32_t i = 0; i < child->out_count; i++)
            check_like(b, launched, &child->out[i], &parent->out[i]);
}

/* ---- arguments ---- */

/* Each argument is evaluated once, whichever child takes it: all of them take the same type. */
static bool check_like_arguments(struct body *b, const struct launch *launch, uint32_t n)
{
    const struct kernel *first = launch->children[0].kernel;
    for (uint32_t i = 1; i < launch->child_count; i++) {
        const struct kernel *other = launch->children[i].kernel;
        const struct variable *theirs = other->arguments[n], *ours = first->arguments[n];
        if (!theirs || !ours || theirs->type == ours->type) continue;
        struct diag *diag =
            body_report(b, RULE_TYPE_MISMATCH, launch->children[i].span,
                        "'%s' and '%s' take different arguments: '%s' is %s, and '%s' %s",
                        first->title, other->title, ours->name, body_type_text(b, ours->type),
                        theirs->name, body_type_text(b, theirs->type));
        diag_label(diag, ours->span, "of '%s'", first->title);
        diag_label(diag, theirs->span, "of '%s'", other->title);
        diag_help(diag, "launch each of them in an arm of an 'if'");
        return false;
    }
    return true;
}

/* The child takes `count` arguments, and the others have defaults. */
static void check_argument_count(struct body *b, const struct launch_child *launched,
                                 uint32_t count)
{
    const struct kernel *child = launched->kernel;
    if (count > child->argument_count) {
        struct diag *diag =
            body_report(b, RULE_WRONG_ARGUMENT_COUNT, launched->span, "'%s' takes %s, not %" PRIu32,
                        child->title,
                        arena_counted(b->arena, child->argument_count, "run-time argument"), count);
        diag_label(diag, child->span, "declared here");
    }
    for (uint32_t n = count; n < child->argument_count; n++) {
        if (child->argument_defaults[n] || !child->arguments[n]) continue;
        struct diag *diag = body_report(b, RULE_WRONG_ARGUMENT_COUNT, launched->span,
                                        "'%s' needs a value for its run-time argument '%s'",
                                        child->title, child->arguments[n]->name);
        diag_label(diag, child->arguments[n]->span, "it has no default");
        return;
    }
}

static void convert_launch_arguments(struct body *b, const struct ast_launch *ast,
                                     struct launch *launch)
{
    const struct kernel *child = launch->children[0].kernel;
    uint32_t n = 0, most = UINT32_MAX;
    for (uint32_t i = 0; i < launch->child_count; i++)
        if (launch->children[i].kernel->argument_count < most)
            most = launch->children[i].kernel->argument_count;
    launch->arguments = ARENA_ARRAY(b->arena, struct kx *, child->argument_count + 1);
    for (const struct ast_expr *e = ast->arguments; e; e = e->next, n++) {
        if (n >= most || !child->arguments[n] || !check_like_arguments(b, launch, n)) {
            body_value(b, e);
            continue;
        }
        const char *what = arena_printf(b->arena, "the argument '%s'", child->arguments[n]->name);
        launch->arguments[n] = body_initialiser(b, e, child->arguments[n]->type, what);
        if (!launch->arguments[n]) b->failed = true;
    }
    launch->argument_count = n;
    for (uint32_t i = 0; i < launch->child_count; i++)
        check_argument_count(b, &launch->children[i], n);
}

/* ---- work-groups ---- */

static int64_t known_number(const struct kx *number, int64_t otherwise)
{
    return number ? (int32_t)number->value.bits : otherwise;
}

/* Numbers that are known are checked here, others by the run. */
static bool check_first_group(struct body *b, const struct launch *launch,
                              const struct kernel *child)
{
    int64_t first = known_number(launch->first_group, 0);
    if (first >= 0 && first < (int64_t)child->work_groups) return true;
    struct diag *diag = body_report(b, RULE_CONSTANT_RANGE, launch->first_group->span,
                                    "a launch of '%s' begins with a work-group from 0 to "
                                    "%" PRIu32 ", not %" PRId64,
                                    child->title, child->work_groups - 1, first);
    diag_label(diag, child->span, "declared here");
    return false;
}

static void check_group_number(struct body *b, const struct launch *launch,
                               const struct kernel *child)
{
    bool known_first = !launch->first_group || launch->first_group->kind == KX_CONSTANT;
    int64_t first = known_first ? known_number(launch->first_group, 0) : 0;
    int64_t number = known_number(launch->groups, 1), most = child->work_groups - first;
    if (number >= 1 && number <= most) return;
    struct diag *diag = body_report(
        b, number < 1 ? RULE_CONSTANT_RANGE : RULE_LAUNCHES_EXCEEDED, launch->groups->span,
        "a launch of '%s'%s has 1 to %" PRId64 " work-groups, not %" PRId64, child->title,
        first > 0 ? arena_printf(b->arena, " from %" PRId64, first) : "", most, number);
    diag_label(diag, child->span, "declared here");
    if (number >= 1 && first + number <= SEMA_MAX_WORK_GROUPS)
        diag_help(diag, "declare 'groups %" PRId64 "' after its parameter list", first + number);
}

static void report_no_groups(struct body *b, const struct ast_clause *clause,
                             const struct kernel *child)
{
    struct diag *diag = body_report(b, RULE_CHILD_KERNEL, clause->word.span,
                                    "a launch of '%s' is one work-group", child->title);
    diag_label(diag, child->span, "'%s' has no 'groups'", child->name);
    diag_help(diag,
              "write 'groups N', the maximum of work-groups of a launch, after its parameter list");
}

/* The number after `groups` or `from`; NULL: there is none, or an error. */
static struct kx *group_clause(struct body *b, const struct ast_clause *clause,
                               const struct launch *launch, const char *what)
{
    const struct ast_expr *number = clause->arguments;
    if (!clause->word.text) return NULL;
    if (number->next || number->kind == AST_EXPR_COMMA) {
        body_report(b, RULE_WRONG_ARGUMENT_COUNT, number->next ? number->next->span : number->span,
                    "'%s' takes one number", clause->word.text);
        return NULL;
    }
    for (uint32_t i = 0; i < launch->child_count; i++) {
        if (launch->children[i].kernel->in_groups) continue;
        report_no_groups(b, clause, launch->children[i].kernel);
        return NULL;
    }
    struct kx *kx = body_initialiser(b, number, body_scalar(b, SCALAR_I32),
                                     arena_printf(b->arena, "the number of %s", what));
    if (!kx) b->failed = true;
    return kx;
}

static void launch_groups(struct body *b, const struct ast_launch *ast, struct launch *launch)
{
    launch->groups = group_clause(b, &ast->groups, launch, "work-groups");
    launch->first_group = group_clause(b, &ast->from, launch, "the first work-group");
    bool first_known = !launch->first_group || launch->first_group->kind == KX_CONSTANT;
    bool groups_known = !launch->groups || launch->groups->kind == KX_CONSTANT;
    launch->groups_checked = !first_known || !groups_known;
    for (uint32_t i = 0; i < launch->child_count; i++) {
        const struct kernel *child = launch->children[i].kernel;
        bool begins = !launch->first_group || !first_known || check_first_group(b, launch, child);
        if (launch->groups && groups_known && begins) check_group_number(b, launch, child);
    }
}

/* ---- order ---- */

static struct kx *event_kx(struct body *b, const struct body_event *event, struct span span)
{
    struct kx *kx = body_kx(b, KX_VARIABLE, event->variable->type, span);
    kx->variable = event->variable;
    return kx;
}

static void report_no_event(struct body *b, const struct ast_expr *e, const struct symbol *symbol)
{
    b->failed = true;
    if (symbol && symbol->kind == SYMBOL_POISON) return;
    if (!symbol) {
        struct diag *diag =
            body_report(b, RULE_UNKNOWN_NAME, e->span, "there is no event '%s' here", e->name.text);
        diag_help(diag,
                  "an event is declared by the launch that sets it, before and in the same "
                  "block or around: event %s = launch ...;",
                  e->name.text);
        return;
    }
    struct diag *diag =
        body_report(b, RULE_WRONG_KIND_OF_NAME, e->span, "'%s' is not an event", e->name.text);
    diag_label(diag, symbol->span, "declared here");
}

/* The event that `e` names; NULL after an error. */
static struct body_event *named_event(struct body *b, const struct ast_expr *e)
{
    if (e->kind != AST_EXPR_NAME) {
        body_report(b, RULE_TYPE_MISMATCH, e->span, "this is the name of an event");
        return NULL;
    }
    struct symbol *symbol = scope_find(b->scope, e->name.text);
    if (!symbol || symbol->kind != SYMBOL_EVENT) {
        report_no_event(b, e, symbol);
        return NULL;
    }
    symbol->used = true;
    return symbol->event;
}

static void add_wait(struct body *b, const struct ast_expr *e, struct launch *launch)
{
    struct body_event *event = named_event(b, e);
    if (!event) return;
    for (uint32_t i = 0; i < launch->wait_count; i++)
        if (launch->waits[i]->variable == event->variable) {
            body_report(b, RULE_LAUNCH_ORDER, e->span, "'%s' is waited for twice", e->name.text);
            return;
        }
    launch->wait_events[launch->wait_count] = event;
    launch->waits[launch->wait_count++] = event_kx(b, event, e->span);
    vec_push(b->arena, &event->waited, b->scope);
}

static bool is_launch_word(struct body *b, const struct ast_expr *e, const char *word)
{
    if (e->kind != AST_EXPR_NAME || strcmp(e->name.text, word) != 0) return false;
    const struct symbol *symbol = scope_find(b->scope, word);
    return !symbol || symbol->kind != SYMBOL_EVENT;
}

static void written_order(struct body *b, const struct ast_expr *e, struct launch *launch,
                          enum launch_order order)
{
    if (launch->order_written)
        body_report(b, RULE_LAUNCH_ORDER, e->span,
                    "only one of 'parent' and 'group' may say when a child begins");
    launch->order_written = true;
    launch->order = order;
}

static void after_order(struct body *b, const struct ast_launch *ast, struct launch *launch)
{
    uint32_t count = 0;
    for (const struct ast_expr *e = ast->order.arguments; e; e = e->next)
        count++;
    if (count > SEMA_MAX_LAUNCH_WAITS) {
        body_report(b, RULE_TOO_LARGE, ast->order.word.span,
                    "a launch waits for %d events at most, not %" PRIu32, SEMA_MAX_LAUNCH_WAITS,
                    count);
        return;
    }
    launch->waits = ARENA_ARRAY(b->arena, struct kx *, count + 1);
    launch->wait_events = ARENA_ARRAY(b->arena, struct body_event *, count + 1);
    for (const struct ast_expr *e = ast->order.arguments; e; e = e->next) {
        if (is_launch_word(b, e, "parent"))
            written_order(b, e, launch, LAUNCH_AFTER_PARENT);
        else if (is_launch_word(b, e, "group"))
            written_order(b, e, launch, LAUNCH_AFTER_GROUP);
        else
            add_wait(b, e, launch);
    }
}

static void launch_order(struct body *b, const struct ast_launch *ast, struct launch *launch)
{
    static const char *const words[] = {"with", "after"};
    const struct ast_expr *first = ast->order.arguments;
    if (!ast->order.word.text) return;
    if (strcmp(ast->order.word.text, "after") == 0) {
        after_order(b, ast, launch);
        return;
    }
    if (strcmp(ast->order.word.text, "with") == 0) {
        if (first && !first->next && is_launch_word(b, first, "parent")) {
            written_order(b, first, launch, LAUNCH_WITH_PARENT);
            return;
        }
        body_report(b, RULE_LAUNCH_ORDER, ast->order.word.span,
                    "a child may begin 'with parent' and with nothing else");
        return;
    }
    struct diag *diag = body_report(b, RULE_LAUNCH_ORDER, ast->order.word.span,
                                    "'%s' is no order of a launch", ast->order.word.text);
    const char *nearest = nearest_name(ast->order.word.text, words, 2);
    if (nearest)
        diag_suggest(diag, ast->order.word.span, nearest);
    else
        diag_help(diag, "a launch is ordered by 'with parent', 'after group', 'after parent' or "
                        "'after EVENT, ...'");
}

/* ---- the statement ---- */

static bool check_place(struct body *b, struct span span)
{
    if (b->kernel && b->place == PLACE_FIRING) return true;
    struct diag *diag = body_report(b, RULE_MISPLACED_STATEMENT, span,
                                    "'launch' stands in the body of a kernel, not in %s",
                                    b->place == PLACE_INIT     ? "'init'"
                                    : b->place == PLACE_FINISH ? "'finish'"
                                                               : "functions");
    if (b->place == PLACE_FUNCTION)
        diag_help(diag, "let the function compute the arguments, and launch in the kernel");
    return false;
}

/* `event e = launch ...`: declares e, after the launch, which may not name its own event. */
static struct body_event *declare_event(struct body *b, const struct ast_stmt *s,
                                        struct ks_list *out)
{
    const struct ast_launch *ast = s->launch;
    const struct ast_declarator *d = s->declarators;
    struct symbol symbol = {
        .kind = SYMBOL_POISON, .name = ast->event.text, .span = ast->event.span};
    struct body_event *event = NULL;
    bool is_event = s->type->kind == AST_TYPE_NAMED && strcmp(s->type->name.text, "event") == 0 &&
                    !s->type->dims;
    if (!is_event) {
        struct diag *diag = body_report(b, RULE_TYPE_MISMATCH, s->type->span,
                                        "a launch gives an event, and no other value");
        diag_help(diag, "event %s = launch ...;", ast->event.text);
    } else if (d->dims) {
        body_report(b, RULE_TYPE_MISMATCH, d->span,
                    "an event is declared by itself: there are no arrays of events");
    } else {
        symbol.kind = SYMBOL_EVENT;
        symbol.variable = body_local(b, ast->event, body_scalar(b, SCALAR_U32));
        event = ARENA_NEW(b->arena, struct body_event);
        *event = (struct body_event){.name = &ast->event, .variable = symbol.variable};
        symbol.event = event;
        vec_push(b->arena, &b->kernel->events, event);
        struct ks *declare = ARENA_NEW(b->arena, struct ks);
        *declare =
            (struct ks){.kind = KS_DECLARE, .span = ast->event.span, .variable = symbol.variable};
        ks_append(out, declare);
    }
    body_declare(b, symbol);
    return event;
}

static void add_launched_child(struct body *b, struct kernel *child)
{
    struct kernel_launches *launches = &b->kernel->kernel->launches;
    for (size_t i = 0; i < launches->children.count; i++)
        if (launches->children.items[i] == child) return;
    vec_push(b->arena, &launches->children, child);
}

/* The expressions that the statement reads, in order of evaluation. */
struct expressions {
    struct kx **items;
    uint32_t count;
};

static void add_expression(struct expressions *all, struct kx *kx)
{
    if (kx) all->items[all->count++] = kx;
}

/* Joins the expressions `first` .. `end` into one, for passes that visit only expressions.  They are evaluated from left to
 * right, in a tree of minimum depth. */
static struct kx *join_expressions(struct body *b, const struct expressions *all, uint32_t first,
                                   uint32_t end)
{
    if (first == end) return NULL;
    if (end - first == 1) return all->items[first];
    uint32_t middle = first + (end - first) / 2;
    struct kx *right = join_expressions(b, all, middle, end);
    struct kx *pair = body_kx(b, KX_COMMA, right->type, right->span);
    pair->left = join_expressions(b, all, first, middle);
    pair->right = right;
    return pair;
}

static struct kx *join_launch(struct body *b, const struct launch *launch)
{
    enum { OTHERS = 3 };
    struct expressions all = {
        ARENA_ARRAY(b->arena, struct kx *, launch->wait_count + launch->argument_count + OTHERS),
        0};
    add_expression(&all, launch->choice);
    for (uint32_t i = 0; i < launch->wait_count; i++)
        add_expression(&all, launch->waits[i]);
    for (uint32_t i = 0; i < launch->argument_count; i++)
        add_expression(&all, launch->arguments[i]);
    add_expression(&all, launch->groups);
    add_expression(&all, launch->first_group);
    return join_expressions(b, &all, 0, all.count);
}

static void report_repeated_clause(struct body *b, struct ast_name word)
{
    bool is_number = strcmp(word.text, "groups") == 0 || strcmp(word.text, "from") == 0;
    if (is_number)
        body_report(b, RULE_LAUNCH_ORDER, word.span, "'%s' is written twice", word.text);
    else
        body_report(b, RULE_LAUNCH_ORDER, word.span,
                    "a launch has one order: 'with parent', or one 'after' with all that it "
                    "waits for");
}

/* Names and types of a launch without children: they were wrong, or it is never executed. */
static void check_values(struct body *b, const struct ast_launch *ast)
{
    const struct ast_expr *lists[] = {ast->arguments, ast->groups.arguments, ast->from.arguments};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const struct ast_expr *e = lists[i]; e; e = e->next)
            body_value(b, e);
}

static struct launch *build_launch(struct body *b, const struct ast_stmt *s)
{
    const struct ast_launch *ast = s->launch;
    struct launch *launch = ARENA_NEW(b->arena, struct launch);
    *launch = (struct launch){.span = s->span};
    launch->children = ARENA_ARRAY(b->arena, struct launch_child, SEMA_MAX_LAUNCH_CHOICES);
    launch_order(b, ast, launch);
    if (ast->repeated.text) report_repeated_clause(b, ast->repeated);
    launch->choice = choose_child(b, ast->child, launch);
    if (launch->child_count == 0) {
        check_values(b, ast);
        return NULL;
    }
    if (launch->child_count == 1) launch->choice = NULL;
    for (uint32_t i = 0; i < launch->child_count; i++)
        check_ports(b, &launch->children[i]);
    convert_launch_arguments(b, ast, launch);
    launch_groups(b, ast, launch);
    return launch;
}

void body_launch(struct body *b, const struct ast_stmt *s, struct ks_list *out)
{
    if (!check_place(b, s->span)) {
        if (s->launch->event.text)
            body_declare(b, (struct symbol){.kind = SYMBOL_POISON,
                                            .name = s->launch->event.text,
                                            .span = s->launch->event.span});
        return;
    }
    struct launch *launch = build_launch(b, s);
    struct body_event *event = s->launch->event.text ? declare_event(b, s, out) : NULL;
    if (!launch || b->failed) return;
    struct kernel_launches *launches = &b->kernel->kernel->launches;
    launch->index = kernel_launch_records(launches);
    launch->behind_barrier = b->kernel->barriers > 0;
    vec_push(b->arena, &launches->statements, launch);
    for (uint32_t i = 0; i < launch->child_count; i++)
        add_launched_child(b, launch->children[i].kernel);
    struct ks *ks = ARENA_NEW(b->arena, struct ks);
    *ks = (struct ks){.kind = KS_LAUNCH,
                      .span = s->span,
                      .launch = launch,
                      .variable = event ? event->variable : NULL,
                      .expr = join_launch(b, launch)};
    if (event) event->launch = launch;
    ks_append(out, ks);
}

/* ---- done ---- */

static bool event_is_waited_for(struct body *b, const struct body_event *event)
{
    for (size_t i = 0; i < event->waited.count; i++)
        if (scope_is_within(b->scope, event->waited.items[i])) return true;
    return false;
}

struct kx *body_done(struct body *b, const struct ast_expr *e)
{
    const struct ast_expr *argument = e->arguments;
    struct diag *diag;
    if (!b->kernel || b->place != PLACE_FIRING) {
        body_report(b, RULE_MISPLACED_STATEMENT, e->span,
                    "'done' asks for an event of a launch: it stands in the body of a kernel");
        return NULL;
    }
    if (!argument || argument->next || argument->kind != AST_EXPR_NAME) {
        body_report(b, RULE_TYPE_MISMATCH, e->span, "'done' takes the name of an event");
        return NULL;
    }
    struct body_event *event = named_event(b, argument);
    if (!event) return NULL;
    if (!event_is_waited_for(b, event)) {
        diag =
            body_report(b, RULE_LAUNCH_ORDER, e->span, "no launch before 'done(%s)' waits for '%s'",
                        event->name->text, event->name->text);
        diag_label(diag, event->name->span, "the event");
        diag_help(diag, "write 'launch ... after %s;' before, in this block or around it",
                  event->name->text);
        return NULL;
    }
    if (!event->done.source) event->done = e->span;
    event->needed = true;
    b->kernel->kernel->launches.waits_done = true;
    struct kx *kx = body_kx(b, KX_DONE, body_scalar(b, SCALAR_BOOL), e->span);
    kx->left = event_kx(b, event, argument->span);
    return kx;
}

/* ---- restrictions of kernels ---- */

bool body_check_child_section(struct body *b, struct span span, const char *what)
{
    if (!b->kernel || !b->kernel->kernel->is_child) return true;
    struct diag *diag = body_report(b, RULE_CHILD_KERNEL, span, "a child kernel has no '%s'", what);
    diag_label(diag, b->kernel->kernel->span, "'%s' is one", b->kernel->kernel->name);
    if (strcmp(what, "state") == 0)
        diag_help(diag, "hand it what it needs as arguments: each launch is a firing of its own");
    else if (strcmp(what, "finish") == 0)
        diag_help(diag, "a child does not end with the streams: 'finish' belongs to the kernel "
                        "that the pipeline instantiates");
    else if (strcmp(what, "stop") == 0)
        diag_help(diag, "'return;' ends a firing");
    else
        diag_help(diag, "write a constant array: const f32 taps[3] = {...};");
    return false;
}

/* Checks kernels that launch, and children: their firings are parts of a tree. */
static void check_tree_kernel(struct body *b)
{
    struct kernel *kernel = b->kernel->kernel;
    const char *what = kernel->is_child ? "a child kernel" : "a kernel that launches";
    struct diag *diag;
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        if (!kernel->out[i].indexed) continue;
        diag = body_report(b, RULE_CHILD_KERNEL, b->kernel->store_spans[i],
                           "%s appends its packets, and writes none by its index", what);
        diag_help(diag, "write '%s <- value;'", kernel->out[i].name);
    }
    if (kernel->phases > 1)
        body_report(b, RULE_CHILD_KERNEL, kernel->span, "%s has one phase, and '%s' %" PRIu32, what,
                    kernel->title, kernel->phases);
    if (kernel->is_child && kernel->arguments_bytes > SEMA_MAX_CHILD_ARGUMENTS)
        body_report(b, RULE_TOO_LARGE, kernel->span,
                    "the arguments of '%s' take %" PRIu64
                    " bytes: those of a child have %d at most",
                    kernel->title, kernel->arguments_bytes, SEMA_MAX_CHILD_ARGUMENTS);
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        if (kernel->in[i].window_width == 0) continue;
        diag = body_report(b, RULE_CHILD_KERNEL, kernel->in[i].window_span,
                           "%s has no 2-D window: a launch hands packets on by their number", what);
        diag_help(diag, "take a block as the packet, or write 'pop N' or 'peek N'");
    }
    if (kernel->stops && !kernel->is_child) {
        diag = body_report(b, RULE_CHILD_KERNEL, kernel->launches.statements.items[0]->span,
                           "a kernel that stops does not launch");
        diag_label(diag, kernel->span, "'%s' has 'stop'", kernel->name);
        diag_help(diag, "let a kernel of its own be the source, and launch in one that it feeds");
    }
}

/* ---- derived orders ---- */

/* Marks the event, and all events that its launch waits for: the launching firing waits for them. */
static void mark_needed(struct body *b, const struct body_event *event)
{
    struct launch *launch = event->launch;
    launch->runs_early = true;
    for (uint32_t i = 0; i < launch->wait_count; i++) {
        struct body_event *before = launch->wait_events[i];
        before->needed = true;
        if (!before->done.source) before->done = event->done;
    }
    if (launch->order == LAUNCH_WITH_PARENT) return;
    struct diag *diag = body_report(
        b, RULE_LAUNCH_ORDER, event->done,
        "this waits for '%s', which begins after the waiting kernel has ended", event->name->text);
    diag_label(diag, launch->span, "launched 'after %s'",
               launch->order == LAUNCH_AFTER_GROUP ? "group" : "parent");
    diag_help(diag, "launch it 'with parent', or ask for another event");
}

/* All work-groups of a launch have ended: no launch waits for that, because not all of them need to have room in the queue at
 * one time. */
static void check_parent_order(struct body *b, const struct launch *launch)
{
    const struct kernel *kernel = b->kernel->kernel;
    if (launch->order != LAUNCH_AFTER_PARENT || kernel->work_groups == 1) return;
    struct diag *diag =
        body_report(b, RULE_LAUNCH_ORDER, launch->span,
                    "a child of several work-groups does not launch 'after parent'");
    diag_label(diag, kernel->span, "a launch of '%s' has up to %" PRIu32 " work-groups",
               kernel->name, kernel->work_groups);
    diag_help(diag, "write 'after group': once the launching work-group has ended");
}

static void derive_order(struct launch *launch)
{
    if (launch->order_written) {
        launch->order_reason = "as written";
        return;
    }
    bool behind = launch->behind_barrier && !launch->runs_early && launch->wait_count == 0;
    launch->order = behind ? LAUNCH_AFTER_GROUP : LAUNCH_WITH_PARENT;
    if (behind)
        launch->order_reason = "the launch comes after a barrier of its group";
    else if (launch->wait_count > 0)
        launch->order_reason = "it waits for nothing but its events";
    else if (launch->runs_early)
        launch->order_reason = "its parent asks whether it is done";
    else
        launch->order_reason = "it needs nothing but its arguments and its parent's window";
}

void body_settle_launches(struct body *b)
{
    struct kernel *kernel = b->kernel->kernel;
    struct kernel_launches *launches = &kernel->launches;
    if (!kernel->is_child && !kernel_launches_any(launches)) return;
    check_tree_kernel(b);
    /* Sets the events that launches wait for; these were declared before. */
    for (size_t i = b->kernel->events.count; i-- > 0;) {
        const struct body_event *event = b->kernel->events.items[i];
        if (event->needed && event->launch) mark_needed(b, event);
    }
    for (size_t i = 0; i < launches->statements.count; i++) {
        derive_order(launches->statements.items[i]);
        check_parent_order(b, launches->statements.items[i]);
    }
}
