/* SPDX-License-Identifier: MIT */
#include "compiler/sema/body_internal.h"
#include "base/arithmetic.h"

#include <inttypes.h>
#include <string.h>

/* ---- shared by the files of body ---- */

static struct body_cache *body_cache(struct sema *sema)
{
    if (!sema->bodies) sema->bodies = ARENA_NEW(sema->cx->arena, struct body_cache);
    return sema->bodies;
}

struct body body_begin(struct sema *sema, struct scope *scope, enum body_place place)
{
    body_cache(sema);
    return (struct body){
        .sema = sema, .cx = sema->cx, .arena = sema->cx->arena, .scope = scope, .place = place};
}

struct body body_constant_part(const struct body *b)
{
    struct body constant = *b;
    constant.place = PLACE_CONSTANT;
    return constant;
}

struct diag *body_report(struct body *b, enum rule rule, struct span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(b->arena, format, args);
    va_end(args);
    if (rule_level(rule) == DIAG_ERROR) b->failed = true;
    struct diag *diag = diag_report(b->cx->diags, rule, span, "%s", text);
    if (b->title) diag_note(diag, "in the kernel '%s'", b->title);
    return diag;
}

void body_unsupported(struct body *b, struct span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(b->arena, format, args);
    va_end(args);
    body_report(b, RULE_UNSUPPORTED, span, "%s not supported yet", text);
}

bool body_enter(struct body *b, struct span span)
{
    if (b->sema->bodies->nesting < SEMA_MAX_NESTING) {
        b->sema->bodies->nesting++;
        return true;
    }
    body_report(b, RULE_TOO_DEEP, span,
                "this is nested too deeply, functions that are called included");
    return false;
}

void body_leave(struct body *b)
{
    b->sema->bodies->nesting--;
}

/* Of two equal names, either may be meant: no errors are reported for uses of them. */
struct symbol *body_declare(struct body *b, struct symbol symbol)
{
    struct symbol *declared = scope_declare(b->scope, symbol);
    struct symbol *found = scope_find(b->scope, symbol.name);
    if (found == declared) return declared;
    b->failed = true;
    if (found->kind != SYMBOL_BUFFER) found->kind = SYMBOL_POISON;
    return declared;
}

struct variable *body_local(struct body *b, struct ast_name name, const struct type *type)
{
    struct variable *variable = ARENA_NEW(b->arena, struct variable);
    *variable = (struct variable){.kind = VARIABLE_LOCAL,
                                  .name = name.text,
                                  .span = name.span,
                                  .type = type,
                                  .index = (*b->local_count)++};
    if (b->kernel) vec_push(b->arena, &b->kernel->local_places, (uint8_t)b->place);
    if (type->width_bytes > SEMA_MAX_LOCAL_BYTES) {
        struct diag *diag =
            body_report(b, RULE_TOO_LARGE, name.span,
                        "'%s' takes %" PRIu64 " bytes: a local variable has at most 1 MiB",
                        name.text, type->width_bytes);
        if (b->kernel) diag_help(diag, "'state' and 'table' variables may take up to 1 GiB");
        return variable;
    }
    b->stack_bytes += type->width_bytes;
    return variable;
}

static bool check_stack(struct body *b, const char *name, struct span span)
{
    uint64_t bytes = b->stack_bytes + b->callee_stack_bytes;
    if (bytes <= SEMA_MAX_STACK_BYTES) return true;
    body_report(b, RULE_TOO_LARGE, span,
                "the local variables of '%s' and of the functions it calls take %" PRIu64
                " bytes, at most 4 MiB are available",
                name, bytes);
    return false;
}

/* ---- functions ---- */

static uint32_t bucket_of(const void *item)
{
    return (uint32_t)((uint64_t)(uintptr_t)item * 0x9e3779b97f4a7c15u >> 40) % BODY_BUCKETS;
}

static struct function_entry *find_function(struct sema *sema, const struct ast_item *item)
{
    struct function_entry **bucket = &body_cache(sema)->functions[bucket_of(item)];
    for (struct function_entry *entry = *bucket; entry; entry = entry->next)
        if (entry->item == item) return entry;
    struct function_entry *entry = ARENA_NEW(sema->cx->arena, struct function_entry);
    entry->item = item;
    entry->next = *bucket;
    *bucket = entry;
    return entry;
}

static void function_signature(struct body *b, struct function *function,
                               const struct ast_item *item)
{
    uint32_t count = 0;
    struct scope *outer = b->scope;
    function->result = item->type->kind == AST_TYPE_VOID && !item->type->dims
                           ? type_void(b->sema->types)
                           : body_value_type(b, item->type, NULL, "the elements of a result");
    if (function->result && function->result->width_bytes > SEMA_MAX_LOCAL_BYTES)
        body_report(b, RULE_TOO_LARGE, item->type->span,
                    "the result of a function has at most 1 MiB");
    for (const struct ast_param *param = item->params; param; param = param->next)
        count++;
    function->params = ARENA_ARRAY(b->arena, struct variable *, count);
    b->scope = scope_create(b->cx, outer);
    for (const struct ast_param *param = item->params; param; param = param->next) {
        const char *what = arena_printf(b->arena, "the parameter '%s'", param->name.text);
        const struct type *type = body_value_type(b, param->type, param->dims, what);
        if (param->value)
            body_unsupported(b, param->value->span, "default values of function parameters are");
        struct symbol symbol = {
            .kind = SYMBOL_POISON, .name = param->name.text, .span = param->name.span};
        if (type) {
            symbol.kind = SYMBOL_VARIABLE;
            symbol.variable = body_local(b, param->name, type);
        }
        function->params[function->param_count++] = symbol.variable;
        body_declare(b, symbol);
    }
}

/* The statements of a block, in the current scope. */
static struct ks *statements_block(struct body *b, const struct ast_stmt *ast)
{
    struct ks_list list = {.end = &list.first};
    struct ks *block = ARENA_NEW(b->arena, struct ks);
    block->kind = KS_BLOCK;
    block->span = ast->span;
    body_statements(b, ast->body, &list);
    block->body = list.first;
    return block;
}

static void function_body(struct body *b, struct function *function, const struct ast_item *item)
{
    function->body = statements_block(b, item->body);
    if (b->failed || function->result->kind == TYPE_VOID || !body_completes(function->body->body))
        return;
    struct diag *diag = body_report(b, RULE_MISSING_RETURN, item->body->end,
                                    "'%s' may end here without a value", function->name);
    diag_label(diag, item->type->span, "it gives %s", body_type_text(b, function->result));
    diag_help(diag, "end it with 'return value;'");
}

static void check_call_depth(struct body *b, struct function_entry *entry)
{
    entry->call_depth = b->callee_depth + 1;
    entry->stack_bytes = b->stack_bytes + b->callee_stack_bytes;
    if (entry->call_depth > SEMA_MAX_CALL_DEPTH)
        body_report(b, RULE_TOO_LARGE, entry->function->span,
                    "functions call each other more than %d deep", SEMA_MAX_CALL_DEPTH);
    else if (!b->failed)
        check_stack(b, entry->function->name, entry->function->span);
}

static void check_function_body(struct sema *sema, struct function_entry *entry, struct span call)
{
    const struct ast_item *item = entry->item;
    struct function *function = ARENA_NEW(sema->cx->arena, struct function);
    struct call_link link = {entry, call};
    struct body b = body_begin(sema, sema_scope_at(sema, item->span), PLACE_FUNCTION);
    entry->function = function;
    entry->state = FUNCTION_CHECKING;
    vec_push(b.arena, &sema->bodies->checking, link);
    function->name = item->name.text;
    function->span = item->name.span;
    function->id = (uint32_t)sema->functions.count;
    vec_push(b.arena, &sema->functions, function);
    b.function = entry;
    b.local_count = &function->local_count;
    function_signature(&b, function, item);
    if (!function->result) b.failed = true;
    if (function->result && item->body) function_body(&b, function, item);
    check_call_depth(&b, entry);
    sema->bodies->checking.count--;
    entry->state = b.failed || !function->body ? FUNCTION_FAILED : FUNCTION_CHECKED;
    function->sound = entry->state == FUNCTION_CHECKED;
}

/* Reports that this call closes a cycle of the functions being checked from `entry` on. */
static void report_function_recursion(struct body *b, const struct function_entry *entry,
                                      struct span call)
{
    const struct call_link *links = b->sema->bodies->checking.items;
    size_t count = b->sema->bodies->checking.count, first = count - 1;
    const char *name = entry->function->name;
    while (links[first].entry != entry)
        first--;
    const char *text = arena_printf(b->arena, "'%s' calls itself", name);
    if (first + 1 < count) {
        text =
            arena_printf(b->arena, "'%s' calls '%s'", name, links[first + 1].entry->function->name);
        for (size_t i = first + 2; i < count; i++)
            text = arena_printf(b->arena, "%s, which calls '%s'", text,
                                links[i].entry->function->name);
        text = arena_printf(b->arena, "%s, which calls '%s'", text, name);
    }
    struct diag *diag =
        body_report(b, RULE_RECURSION, call, "functions cannot be recursive: %s", text);
    for (size_t i = first + 1; i < count; i++)
        diag_label(diag, links[i].call, "'%s' is called here", links[i].entry->function->name);
    diag_help(diag, "use a loop");
}

struct function_entry *body_function(struct body *b, const struct ast_item *item, struct span call)
{
    struct function_entry *entry = find_function(b->sema, item);
    if (entry->state == FUNCTION_CHECKING) {
        report_function_recursion(b, entry, call);
        return NULL;
    }
    if (entry->state == FUNCTION_NEW) {
        if (!body_enter(b, call)) return NULL;
        check_function_body(b->sema, entry, call);
        body_leave(b);
    }
    if (entry->state == FUNCTION_FAILED) {
        b->failed = true;
        return NULL;
    }
    if (entry->call_depth > b->callee_depth) b->callee_depth = entry->call_depth;
    if (entry->stack_bytes > b->callee_stack_bytes) b->callee_stack_bytes = entry->stack_bytes;
    return entry;
}

void sema_check_function(struct sema *sema, const struct ast_item *item)
{
    struct function_entry *entry = find_function(sema, item);
    if (entry->state == FUNCTION_NEW) check_function_body(sema, entry, item->name.span);
}

/* ---- kernels: signatures ---- */

static void declare_parameters(struct body *b, const struct ast_signature *signature,
                               const struct compile_argument *values, size_t count)
{
    size_t at = 0;
    for (const struct ast_type_param *p = signature->type_params; p; p = p->next, at++) {
        struct symbol symbol = {.kind = SYMBOL_INTEGER, .name = p->name.text, .span = p->name.span};
        if (p->is_type) {
            symbol.kind = at < count ? SYMBOL_TYPE_PARAM : SYMBOL_POISON;
            if (at < count) symbol.type = values[at].type;
        } else if (p->type && p->type->kind != AST_TYPE_INT) {
            struct diag *diag = body_report(b, RULE_TYPE_MISMATCH, p->type->span,
                                            "a compile-time parameter is 'int' or 'type'");
            diag_help(diag, "run-time arguments stand in the parentheses, after ';'");
            symbol.kind = SYMBOL_POISON;
        } else if (at < count) {
            symbol.integer = values[at].integer;
        }
        body_declare(b, symbol);
    }
}

bool sema_declare_parameters(struct sema *sema, struct scope *scope,
                             const struct ast_signature *signature,
                             const struct compile_argument *values, size_t count)
{
    struct body b = body_begin(sema, scope, PLACE_CONSTANT);
    declare_parameters(&b, signature, values, count);
    return !b.failed;
}

const char *sema_title(struct arena *arena, const char *name, const struct compile_argument *params,
                       size_t count)
{
    if (count == 0) return name;
    const char *title = arena_printf(arena, "%s<", name);
    for (size_t i = 0; i < count; i++)
        title = params[i].type
                    ? arena_printf(arena, "%s%s%s", title, i ? ", " : "",
                                   type_text(arena, params[i].type))
                    : arena_printf(arena, "%s%s%" PRId64, title, i ? ", " : "", params[i].integer);
    return arena_printf(arena, "%s>", title);
}

/* A default is a compile-time value, over the compile-time parameters and the program's constants.
 */
static struct kx *argument_default(struct body *b, const struct ast_param *param,
                                   const struct type *type)
{
    struct body constant = body_constant_part(b);
    const char *what = arena_printf(b->arena, "the default of '%s'", param->name.text);
    struct kx *kx = body_initialiser(&constant, param->value, type, what);
    const struct scalar_value *values = kx ? body_constant_values(&constant, kx, what) : NULL;
    if (values) return body_constant_value(b, param->value->span, type, values);
    b->failed = true;
    return NULL;
}

struct diag *sema_check_argument_type(struct compile *cx, const struct ast_param *param,
                                      const struct type *type)
{
    if (type_is_of_scalars(type)) return NULL;
    struct diag *diag =
        diag_report(cx->diags, RULE_TYPE_MISMATCH, param->span,
                    "a run-time argument is a scalar, a vector, or an array of these: '%s' is %s",
                    param->name.text, type_text(cx->arena, type));
    if (type_base(type)->kind == TYPE_STRUCT)
        diag_help(diag, "give each field of '%s' an argument of its own", type_base(type)->name);
    return diag;
}

static void declare_kernel_argument(struct body *b, const struct ast_param *param, uint32_t index)
{
    struct kernel *kernel = b->kernel->kernel;
    const char *what = arena_printf(b->arena, "the argument '%s'", param->name.text);
    const struct type *type = body_value_type(b, param->type, param->dims, what);
    struct symbol symbol = {
        .kind = SYMBOL_POISON, .name = param->name.text, .span = param->name.span};
    if (type && sema_check_argument_type(b->cx, param, type)) {
        b->failed = true;
    } else if (type) {
        symbol.kind = SYMBOL_VARIABLE;
        symbol.variable = ARENA_NEW(b->arena, struct variable);
        *symbol.variable = (struct variable){.kind = VARIABLE_ARGUMENT,
                                             .name = param->name.text,
                                             .span = param->name.span,
                                             .type = type};
        symbol.variable->offset_bytes =
            align_up(kernel->arguments_bytes, symbol.variable->type->alignment_bytes);
        kernel->arguments_bytes =
            symbol.variable->offset_bytes + symbol.variable->type->width_bytes;
        kernel->arguments[index] = symbol.variable;
        if (param->value) kernel->argument_defaults[index] = argument_default(b, param, type);
    }
    body_declare(b, symbol);
}

static void declare_arguments(struct body *b, const struct ast_signature *signature)
{
    struct kernel *kernel = b->kernel->kernel;
    for (const struct ast_param *param = signature->params; param; param = param->next)
        kernel->argument_count++;
    kernel->arguments = ARENA_ARRAY(b->arena, struct variable *, kernel->argument_count);
    kernel->argument_defaults = ARENA_ARRAY(b->arena, struct kx *, kernel->argument_count);
    uint32_t index = 0;
    for (const struct ast_param *param = signature->params; param; param = param->next)
        declare_kernel_argument(b, param, index++);
    kernel->arguments_bytes = align_up(kernel->arguments_bytes, 8);
}

/* ---- kernels: bodies ---- */

static struct ks *init_block(struct body *b)
{
    struct kernel_body *kernel = b->kernel;
    if (!kernel->init_first) return kernel->init;
    *kernel->init_end = kernel->init;
    struct ks *block = ARENA_NEW(b->arena, struct ks);
    block->kind = KS_BLOCK;
    block->span = kernel->init ? kernel->init->span : kernel->kernel->span;
    block->body = kernel->init_first;
    return block;
}

static void check_block_sizes(struct body *b)
{
    const struct kernel *kernel = b->kernel->kernel;
    static const char *const names[] = {"tables", "state variables", "run-time arguments"};
    const uint64_t sizes[] = {kernel->tables_bytes, kernel->state_bytes, kernel->arguments_bytes};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i] > SEMA_MAX_NODE_BYTES)
            body_report(b, RULE_TOO_LARGE, kernel->span,
                        "the %s of '%s' take %" PRIu64 " bytes, more than 1 GiB", names[i],
                        kernel->title, sizes[i]);
}

/* The body has a scope of its own, so that a local may hide a port or an argument. */
static void kernel_body(struct body *b, const struct ast_item *item)
{
    struct kernel *kernel = b->kernel->kernel;
    b->kernel->init_end = &b->kernel->init_first;
    b->local_count = &kernel->local_count;
    b->scope = b->kernel->scope = scope_create(b->cx, b->scope);
    kernel->body = statements_block(b, item->body);
    kernel->init = init_block(b);
    kernel->finish = b->kernel->finish;
    kernel->tables_bytes = align_up(kernel->tables_bytes, 8);
    kernel->state_bytes = align_up(kernel->state_bytes, 8);
    check_block_sizes(b);
    body_settle_launches(b);
    body_check_shared_bytes(b);
    if (!b->failed) check_stack(b, kernel->title, kernel->span);
}

static struct kernel *build_kernel(struct sema *sema, const struct ast_item *item,
                                   struct kernel_entry *entry)
{
    const struct compile_argument *params = entry->params;
    size_t count = entry->param_count;
    struct body b =
        body_begin(sema, scope_create(sema->cx, sema_scope_at(sema, item->span)), PLACE_FIRING);
    struct kernel *kernel = ARENA_NEW(b.arena, struct kernel);
    struct kernel_body shared = {.kernel = kernel};
    kernel->name = item->signature.name.text;
    kernel->span = item->signature.name.span;
    kernel->whole_span = item->span;
    kernel->phases = kernel->group[0] = kernel->group[1] = kernel->group[2] = 1;
    kernel->work_groups = 1;
    kernel->title = sema_title(b.arena, kernel->name, params, count);
    b.kernel = &shared;
    if (count) b.title = kernel->title;
    kernel->is_child = item->kernel_kind == AST_KERNEL_CHILD;
    sema->bodies->signature_of = item;
    declare_parameters(&b, &item->signature, params, count);
    if (item->kernel_kind == AST_KERNEL_EXTERN)
        body_foreign_attributes(&b, item);
    else if (item->kernel_kind == AST_KERNEL_BUILTIN)
        body_unit_attributes(&b, item);
    else
        body_signature_attributes(&b, &item->signature);
    body_ports(&b, &item->signature);
    declare_arguments(&b, &item->signature);
    sema->bodies->signature_of = NULL;
    entry->building = b.failed ? NULL : kernel;
    if (item->body) kernel_body(&b, item);
    if (item->kernel_kind == AST_KERNEL_EXTERN) body_foreign(&b, item);
    if (item->kernel_kind == AST_KERNEL_BUILTIN) return body_unit(&b);
    return b.failed || !kernel->body ? NULL : kernel;
}

struct kernel *sema_own_kernel(struct sema *sema, const struct ast_item *item,
                               struct compile_argument *params, size_t count)
{
    struct kernel_entry entry = {.item = item, .params = params, .param_count = count};
    return build_kernel(sema, item, &entry);
}

static bool same_params(const struct kernel_entry *entry, const struct compile_argument *params,
                        size_t count)
{
    bool same = entry->param_count == count;
    for (size_t i = 0; same && i < count; i++)
        same = entry->params[i].type == params[i].type &&
               entry->params[i].integer == params[i].integer;
    return same;
}

struct kernel *sema_kernel(struct sema *sema, const struct ast_item *item,
                           const struct compile_argument *params, size_t count)
{
    struct arena *arena = sema->cx->arena;
    struct kernel_entry **bucket = &body_cache(sema)->kernels[bucket_of(item)];
    for (struct kernel_entry *entry = *bucket; entry; entry = entry->next)
        if (entry->item == item && same_params(entry, params, count))
            return entry->kernel ? entry->kernel : entry->building;
    struct kernel_entry *entry = ARENA_NEW(arena, struct kernel_entry);
    entry->item = item;
    entry->param_count = count;
    if (count) entry->params = arena_copy(arena, params, count * sizeof *params);
    entry->next = *bucket;
    *bucket = entry;
    sema->bodies->building++;
    entry->kernel = build_kernel(sema, item, entry);
    entry->building = NULL;
    sema->bodies->building--;
    if (!entry->kernel || !entry->kernel->body) return entry->kernel;
    entry->kernel->id = (uint32_t)sema->kernels.count;
    vec_push(arena, &sema->kernels, entry->kernel);
    return entry->kernel;
}

/* ---- arguments of instances ---- */

struct kx *sema_folded(struct sema *sema, struct kx *kx)
{
    struct body b = body_begin(sema, sema->globals, PLACE_ARGUMENT);
    struct consteval_error error;
    if (kx_is_constant(kx) || !body_is_static(kx)) return kx;
    uint64_t count = type_scalar_count(kx->type);
    if (count > CONSTEVAL_MAX_SCALARS) return kx;
    struct scalar_value *values = ARENA_ARRAY(b.arena, struct scalar_value, (size_t)count);
    if (consteval(b.cx, kx, values, &error))
        return body_constant_value(&b, kx->span, kx->type, values);
    if (error.too_large || !error.reason) return kx; /* computed when the program starts */
    body_report_consteval(&b, kx, &error, "the argument");
    return NULL;
}

struct kx *sema_argument(struct sema *sema, struct scope *scope, const struct ast_expr *expr,
                         const struct type *type)
{
    struct body b = body_begin(sema, scope, PLACE_ARGUMENT);
    struct kx *kx = body_initialiser(&b, expr, type, "the argument");
    return kx ? sema_folded(sema, kx) : NULL;
}
