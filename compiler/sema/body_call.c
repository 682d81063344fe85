/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "compiler/sema/body_internal.h"
#include "compiler/sema/import_fix.h"
#include "compiler/context/embedded_library.h"
#include "compiler/syntax/habits.h"
#include "base/nearest.h"

/* A call of library mathematics whose type is not known yet; `kx.type` is body_untyped_float. */
struct pending_call {
    struct kx kx;
    const char *name;
    const struct ast_item *variants[2]; /* NAME_f32, NAME_f64; NULL where not declared */
};

enum builtin_kind {
    BUILTIN_KIND_F,
    BUILTIN_KIND_B,
    BUILTIN_KIND_N,
    BUILTIN_KIND_C,
    BUILTIN_KIND_V
};

static const struct {
    const char *name;
    uint32_t arity;
    enum builtin_kind kind;
} builtins[BUILTIN_COUNT] = {
#define BUILTIN(enumerator, name, arity, kind) {name, arity, BUILTIN_KIND_##kind},
#include "compiler/ir/builtins.def"
#undef BUILTIN
};

/* ---- arguments ---- */

struct arguments {
    struct kx **items;
    uint32_t count;
    bool failed; /* one of them has an error */
};

static struct arguments build_arguments(struct body *b, const struct ast_expr *first)
{
    struct arguments arguments = {0};
    for (const struct ast_expr *e = first; e; e = e->next)
        arguments.count++;
    arguments.items = ARENA_ARRAY(b->arena, struct kx *, arguments.count);
    uint32_t at = 0;
    for (const struct ast_expr *e = first; e; e = e->next, at++)
        if (!(arguments.items[at] = body_expr(b, e))) arguments.failed = true;
    return arguments;
}

/* True if an argument is a string. In a call of an unknown function, such as printf, it is no
 * error of its own. */
static bool has_string(const struct ast_expr *e)
{
    while (e && e->kind != AST_EXPR_STRING)
        e = e->next;
    return e != NULL;
}

static struct diag *report_count(struct body *b, struct span span, const char *name,
                                 uint32_t wanted, uint32_t given)
{
    return body_report(b, RULE_WRONG_ARGUMENT_COUNT, span, "'%s' takes %u argument%s, got %u", name,
                       wanted, wanted == 1 ? "" : "s", given);
}

/* ---- functions ---- */

/* `lanes` > 0: calls the function for each element of vectors; every argument is broadcast. */
static struct kx *call_function(struct body *b, const struct ast_item *item, struct kx **arguments,
                                uint32_t count, uint64_t lanes, struct span span)
{
    struct function_entry *entry = body_function(b, item, span);
    if (!entry) return NULL;
    const struct function *function = entry->function;
    if (count != function->param_count) {
        struct diag *diag = report_count(b, span, function->name, function->param_count, count);
        diag_label(diag, function->span, "'%s' is declared here", function->name);
        return NULL;
    }
    struct kx *kx = body_kx(b, KX_CALL, function->result, span);
    kx->function = function;
    kx->arguments = ARENA_ARRAY(b->arena, struct kx *, count);
    kx->argument_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct variable *param = function->params[i];
        const char *what =
            arena_printf(b->arena, "parameter '%s' of '%s'", param->name, function->name);
        const struct type *type = param->type;
        if (lanes > 0) type = type_vector(b->sema->types, type, lanes);
        if (!(kx->arguments[i] = body_converted(b, arguments[i], type, what))) return NULL;
    }
    if (lanes > 0) kx->type = type_vector(b->sema->types, function->result, lanes);
    return kx;
}

/* ---- library mathematics: NAME stands for NAME_f32 and NAME_f64 ---- */

static const struct ast_item *find_function_variant(struct body *b, const char *name,
                                                    const char *suffix)
{
    const char *full = intern_string(b->cx->names, arena_printf(b->arena, "%s_%s", name, suffix));
    const struct symbol *symbol = scope_find(b->scope, full);
    return symbol && symbol->kind == SYMBOL_FN ? symbol->item : NULL;
}

struct kx *body_settle_call(struct body *b, struct kx *kx, const struct type *type)
{
    const struct pending_call *call = (const struct pending_call *)kx;
    bool wide = type->scalar == SCALAR_F64;
    const struct ast_item *item = call->variants[wide];
    if (!item) item = call->variants[!wide];
    struct kx *result = call_function(b, item, kx->arguments, kx->argument_count, 0, kx->span);
    return body_converted(b, result, type, "the result");
}

static bool is_scalar_type(const struct ast_type *type)
{
    return type->kind == AST_TYPE_SCALAR && type->lanes == 1 && !type->dims;
}

/* True if parameters and results of the declared variants are scalars. */
static bool is_of_scalars(const struct pending_call *call)
{
    for (int i = 0; i < 2; i++) {
        const struct ast_item *item = call->variants[i];
        if (!item) continue;
        if (!is_scalar_type(item->type)) return false;
        for (const struct ast_param *param = item->params; param; param = param->next)
            if (!is_scalar_type(param->type) || param->dims) return false;
    }
    return true;
}

static struct kx *call_library(struct body *b, const struct ast_expr *e, struct pending_call *call,
                               struct arguments arguments)
{
    struct kx **operands = ARENA_ARRAY(b->arena, struct kx *, arguments.count + 1);
    memcpy(operands, arguments.items, arguments.count * sizeof *operands);
    const struct type *common = body_unify(b, operands, arguments.count, e->span,
                                           arena_printf(b->arena, "'%s'", call->name));
    if (!common) return NULL;
    uint64_t lanes = common->kind == TYPE_VECTOR ? common->length : 0;
    if (lanes > 0 && !is_of_scalars(call)) {
        body_report(b, RULE_TYPE_MISMATCH, e->span,
                    "'%s' takes %s only where it is a function of scalars", call->name,
                    body_type_text(b, common));
        return NULL;
    }
    if (!is_untyped(common) && scalar_is_float(type_item(common)->scalar)) {
        bool wide = type_item(common)->scalar == SCALAR_F64;
        const struct ast_item *item = call->variants[wide];
        if (item) return call_function(b, item, operands, arguments.count, lanes, e->span);
        if (!wide)
            return call_function(b, call->variants[1], operands, arguments.count, lanes, e->span);
        struct diag *diag = body_report(b, RULE_TYPE_MISMATCH, e->span,
                                        "there is no '%s' for f64 ('%s_f64' is not declared)",
                                        call->name, call->name);
        diag_help(diag, "convert the argument: %s((f32)...)", call->name);
        return NULL;
    }
    const struct ast_item *first = call->variants[call->variants[0] ? 0 : 1];
    bool gives_float = first->type->kind == AST_TYPE_SCALAR && !first->type->dims &&
                       scalar_is_float(first->type->scalar);
    if (!gives_float || lanes > 0)
        return call_function(b, first, operands, arguments.count, lanes, e->span);
    call->kx.arguments = arguments.items;
    call->kx.argument_count = arguments.count;
    return &call->kx;
}

/* ---- built-in functions ---- */

static struct kx *builtin_kx(struct body *b, enum builtin builtin, const struct type *type,
                             struct arguments arguments, struct span span)
{
    struct kx *kx = body_kx(b, KX_BUILTIN, type, span);
    kx->builtin = builtin;
    kx->arguments = arguments.items;
    kx->argument_count = arguments.count;
    return body_fold(b, kx);
}

static bool settle_all(struct body *b, struct arguments arguments, const struct type *type)
{
    for (uint32_t i = 0; i < arguments.count; i++) {
        arguments.items[i] = body_converted(b, arguments.items[i], type, "the argument");
        if (!arguments.items[i]) return false;
    }
    return true;
}

/* abs, min and max of literals and compile-time integers, exact; NULL: an argument is not
 * constant. */
static struct kx *exact_number(struct body *b, enum builtin builtin, struct arguments arguments,
                               struct span span)
{
    __int128 values[2] = {0, 0};
    for (uint32_t i = 0; i < arguments.count; i++) {
        if (arguments.items[i]->kind != KX_CONSTANT) return NULL;
        values[i] = arith_as_exact(arguments.items[i]->value);
    }
    __int128 value = values[0];
    if (builtin == BUILTIN_ABS && value < 0) value = -value;
    if (builtin == BUILTIN_MIN && values[1] < value) value = values[1];
    if (builtin == BUILTIN_MAX && values[1] > value) value = values[1];
    return body_exact(b, span, value);
}

static struct kx *call_number(struct body *b, enum builtin builtin, struct arguments arguments,
                              const struct type *common, struct span span)
{
    if (common == &body_untyped_integer) {
        struct kx *exact = exact_number(b, builtin, arguments, span);
        if (exact) return exact;
        for (uint32_t i = 0; i < arguments.count; i++)
            arguments.items[i] = body_settled(b, arguments.items[i]);
        common = body_unify(b, arguments.items, arguments.count, span, "the function");
        if (!common) return NULL;
    }
    return builtin_kx(b, builtin, common, arguments, span);
}

/* The scalar type, or a vector of it if the operand is a vector. */
static const struct type *result_like(struct body *b, const struct type *operand,
                                      enum scalar_type scalar)
{
    const struct type *result = body_scalar(b, scalar);
    if (operand->kind != TYPE_VECTOR) return result;
    return type_vector(b->sema->types, result, operand->length);
}

/* any, all: of the elements of a vector, each as a condition. */
static struct kx *call_reduction(struct body *b, enum builtin builtin, struct arguments arguments,
                                 struct span span)
{
    struct kx *value = body_settled(b, arguments.items[0]);
    if (!value) return NULL;
    if (value->type->kind != TYPE_VECTOR) {
        body_report(b, RULE_TYPE_MISMATCH, span, "'%s' takes a vector, not %s",
                    builtins[builtin].name, body_type_text(b, value->type));
        return NULL;
    }
    arguments.items[0] =
        body_converted(b, value, result_like(b, value->type, SCALAR_BOOL), "the argument");
    return builtin_kx(b, builtin, body_scalar(b, SCALAR_BOOL), arguments, span);
}

/* bits: f32 -> u32, f64 -> u64; from_bits the other way round. */
static struct kx *call_bits(struct body *b, enum builtin builtin, struct arguments arguments,
                            struct span span)
{
    struct kx *value = arguments.items[0];
    if (builtin == BUILTIN_FROM_BITS && value->kind == KX_CONSTANT &&
        value->type == &body_untyped_integer) {
        bool narrow = arith_fits(arith_as_exact(value->value), SCALAR_U32);
        value =
            body_converted(b, value, body_scalar(b, narrow ? SCALAR_U32 : SCALAR_U64), "the bits");
    } else {
        value = body_settled(b, value);
    }
    if (!value) return NULL;
    arguments.items[0] = value;
    enum scalar_type given = type_item(value->type)->scalar, result;
    if (builtin == BUILTIN_BITS && given == SCALAR_F32)
        result = SCALAR_U32;
    else if (builtin == BUILTIN_BITS && given == SCALAR_F64)
        result = SCALAR_U64;
    else if (builtin == BUILTIN_FROM_BITS && given == SCALAR_U32)
        result = SCALAR_F32;
    else if (builtin == BUILTIN_FROM_BITS && given == SCALAR_U64)
        result = SCALAR_F64;
    else {
        body_report(b, RULE_TYPE_MISMATCH, span, "'%s' takes %s, not %s", builtins[builtin].name,
                    builtin == BUILTIN_BITS ? "f32 or f64" : "u32 or u64",
                    body_type_text(b, value->type));
        return NULL;
    }
    return builtin_kx(b, builtin, result_like(b, value->type, result), arguments, span);
}

/* The type follows from the arguments, which all get one type.  If a function of floats gets only
 * integers, they become f64 if the context needs f64, otherwise f32. */
static struct kx *call_builtin(struct body *b, enum builtin builtin, struct arguments arguments,
                               struct span span)
{
    const char *name = builtins[builtin].name;
    if (arguments.count != builtins[builtin].arity) {
        report_count(b, span, name, builtins[builtin].arity, arguments.count);
        return NULL;
    }
    if (builtins[builtin].kind == BUILTIN_KIND_V)
        return call_reduction(b, builtin, arguments, span);
    const struct type *common =
        body_unify(b, arguments.items, arguments.count, span, arena_printf(b->arena, "'%s'", name));
    if (!common) return NULL;
    if (common->kind == TYPE_VECTOR && builtins[builtin].kind != BUILTIN_KIND_N &&
        builtins[builtin].kind != BUILTIN_KIND_C && !scalar_is_float(common->element->scalar)) {
        common = result_like(b, common, SCALAR_F32);
        if (!settle_all(b, arguments, common)) return NULL;
    }
    bool is_float = common != &body_untyped_integer && scalar_is_float(type_item(common)->scalar);
    switch (builtins[builtin].kind) {
    case BUILTIN_KIND_C: return call_bits(b, builtin, arguments, span);
    case BUILTIN_KIND_N: return call_number(b, builtin, arguments, common, span);
    case BUILTIN_KIND_F:
        return builtin_kx(b, builtin, is_float ? common : &body_untyped_float, arguments, span);
    case BUILTIN_KIND_B:
    case BUILTIN_KIND_V: break;
    }
    if (is_untyped(common) || !is_float) common = body_scalar(b, SCALAR_F32);
    if (!settle_all(b, arguments, common)) return NULL;
    return builtin_kx(b, builtin, result_like(b, common, SCALAR_BOOL), arguments, span);
}

/* left(x): the packets that the reader still has, from the beginning of its next window on. */
static struct kx *call_left(struct body *b, const struct ast_expr *e)
{
    struct port_access access;
    const struct ast_expr *argument = e->arguments;
    if (b->place != PLACE_FINISH) {
        body_report(b, RULE_MISPLACED_STATEMENT, e->span,
                    "'left' counts the packets that remain at the end: it stands in 'finish' only");
        return NULL;
    }
    if (!argument || argument->next || argument->kind != AST_EXPR_NAME ||
        !body_port_access(b, argument, &access) || access.symbol->kind != SYMBOL_IN_PORT) {
        body_report(b, RULE_TYPE_MISMATCH, e->span, "'left' takes the name of the in-port");
        return NULL;
    }
    const struct kernel *kernel = b->kernel->kernel;
    if (kernel->in_count != 1 || kernel->in[0].is_array) {
        body_report(b, RULE_MISPLACED_STATEMENT, e->span,
                    "'left' is known only in a kernel with one in-port");
        return NULL;
    }
    if (!body_window_finish(b, &kernel->in[access.symbol->port], e->span)) return NULL;
    struct kx *kx = body_kx(b, KX_LEFT, body_scalar(b, SCALAR_I64), e->span);
    kx->port = access.symbol->port;
    return kx;
}

/* ---- names that are called ---- */

struct names {
    struct arena *arena;
    VEC(const char *) items;
};

static void collect_function(const struct symbol *symbol, void *data)
{
    struct names *names = data;
    if (symbol->kind != SYMBOL_FN) return;
    vec_push(names->arena, &names->items, symbol->name);
    const char *suffix = strrchr(symbol->name, '_');
    if (suffix && (strcmp(suffix, "_f32") == 0 || strcmp(suffix, "_f64") == 0))
        vec_push(names->arena, &names->items,
                 arena_string(names->arena, symbol->name, (size_t)(suffix - symbol->name)));
}

/* The names are candidates whether the library was read or not. */
static bool collect_mathematics(void *data, const char *word, size_t length)
{
    struct names *names = data;
    vec_push(names->arena, &names->items, arena_string(names->arena, word, length));
    return true;
}

static const char *meant_function(struct body *b, const char *name)
{
    static const char *const known[][2] = {
        {"fabs", "abs"},       {"fabsf", "abs"}, {"fmin", "min"},   {"fmax", "max"},
        {"fminf", "min"},      {"fmaxf", "max"}, {"sqrtf", "sqrt"}, {"fmaf", "fma"},
        {"nearbyint", "rint"}, {"mad", "fma"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i][0], name) == 0) return known[i][1];
    struct names names = {.arena = b->arena};
    scope_each(b->scope, collect_function, &names);
    library_mathematics_each(collect_mathematics, &names);
    for (size_t i = 0; i < BUILTIN_COUNT; i++)
        vec_push(names.arena, &names.items, builtins[i].name);
    return nearest_name(name, names.items.items, names.items.count);
}

static struct kx *unknown_function(struct body *b, const struct ast_expr *e)
{
    const char *name = e->name.text;
    if (strcmp(name, "barrier") == 0) {
        body_barrier_value(b, e);
        return NULL;
    }
    struct diag *diag =
        body_report(b, RULE_UNKNOWN_NAME, e->name.span, "there is no function '%s'", name);
    const struct habit *habit = habit_find(name);
    const char *file = library_file_of_function(name);
    const char *meant = file != NULL || habit != NULL ? NULL : meant_function(b, name);
    if (file != NULL) {
        diag_help(diag, "'%s' is in the standard library: import \"%s\";", name, file);
        import_fix(b->cx, diag, e->name.span, file);
    } else if (habit != NULL)
        diag_help(diag, "%s", habit->help);
    else if (meant)
        diag_suggest(diag, e->name.span, meant);
    scope_poison(b->scope, e->name);
    return NULL;
}

static struct kx *call_other(struct body *b, const struct ast_expr *e, const struct symbol *symbol)
{
    struct diag *diag = body_report(b, RULE_WRONG_KIND_OF_NAME, e->name.span,
                                    "'%s' is not a function and cannot be called", e->name.text);
    diag_label(diag, symbol->span, "'%s' is declared here", e->name.text);
    return NULL;
}

/* The program's own declaration of this name that a call can mean. Kernels and pipelines are never
 * called, and in the standard library a built-in is always the built-in. */
static struct symbol *declared_name(struct body *b, const struct ast_expr *e, bool known)
{
    struct symbol *symbol = scope_find(b->scope, e->name.text);
    if (!symbol || !known) return symbol;
    if (symbol->kind == SYMBOL_KERNEL || symbol->kind == SYMBOL_PIPELINE ||
        symbol->kind == SYMBOL_BUFFER)
        return NULL;
    const struct source *source = source_get(b->cx->sources, e->span.source);
    return (source && strncmp(source->name, "std/", 4) == 0) ? NULL : symbol;
}

/* A struct or a type parameter in a call. */
static struct kx *construct_named(struct body *b, const struct ast_expr *e, struct symbol *symbol)
{
    symbol->used = true;
    const struct type *type = body_symbol_type(b, symbol, e->name.span);
    return type ? body_construct_type(b, type, e->arguments, e->span) : NULL;
}

struct kx *body_call(struct body *b, const struct ast_expr *e)
{
    const char *name = e->name.text;
    struct pending_call *call = ARENA_NEW(b->arena, struct pending_call);
    *call = (struct pending_call){
        .kx = {.kind = KX_CALL, .type = &body_untyped_float, .span = e->span},
        .name = name,
        .variants = {find_function_variant(b, name, "f32"), find_function_variant(b, name, "f64")}};
    size_t i = 0;
    while (i < BUILTIN_COUNT && strcmp(builtins[i].name, name) != 0)
        i++;
    enum builtin builtin = (enum builtin)i;
    bool is_left = strcmp(name, "left") == 0, library = call->variants[0] || call->variants[1];
    struct symbol *symbol = declared_name(b, e, builtin != BUILTIN_COUNT || library || is_left);
    if (!symbol && is_left) return call_left(b, e);
    if (!symbol && strcmp(name, "done") == 0) return body_done(b, e);
    if (symbol && symbol->kind == SYMBOL_POISON) return NULL;
    if (symbol && (symbol->kind == SYMBOL_STRUCT || symbol->kind == SYMBOL_TYPE_PARAM))
        return construct_named(b, e, symbol);
    if (symbol && symbol->kind != SYMBOL_FN) return call_other(b, e, symbol);
    bool unknown = !symbol && builtin == BUILTIN_COUNT && !library;
    if (unknown && has_string(e->arguments)) return unknown_function(b, e);
    struct arguments arguments = build_arguments(b, e->arguments);
    if (symbol) symbol->used = true;
    if (unknown) return unknown_function(b, e);
    if (arguments.failed) return NULL;
    if (symbol) return call_function(b, symbol->item, arguments.items, arguments.count, 0, e->span);
    if (builtin != BUILTIN_COUNT) return call_builtin(b, builtin, arguments, e->span);
    return call_library(b, e, call, arguments);
}

/* ---- casts: (T)x and T(x) ---- */

struct kx *body_construct(struct body *b, const struct ast_expr *e)
{
    const struct type *type = body_value_type(b, e->type, NULL, "the type of a cast");
    if (!type) return NULL;
    if (type->kind == TYPE_ARRAY) {
        body_report(b, RULE_TYPE_MISMATCH, e->type->span, "nothing is converted to an array");
        return NULL;
    }
    const struct ast_expr *arguments = e->kind == AST_EXPR_CAST ? e->left : e->arguments;
    return body_construct_type(b, type, arguments, e->span);
}
