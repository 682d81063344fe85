/* SPDX-License-Identifier: MIT */
/*
 * test_values: the streams of test blocks, from expressions to bytes.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/ir/arith.h"
#include "compiler/sema/test_internal.h"
#include "lang/generate.h"
#include "base/nearest.h"

enum { MAP_DEPTH_MAX = 16 };

struct stream {
    struct sema *sema;
    struct scope *scope;
    uint32_t depth; /* of nested maps */
    struct test_values *first, *last;
    uint64_t packets;
};

static bool parse_stream(struct stream *s, const struct ast_expr *expr, const struct type *type);

/* ---- parts ---- */

static bool check_size(struct stream *s, struct span span, const struct type *type, uint64_t more)
{
    uint64_t width = type->width_bytes > 0 ? type->width_bytes : 1;
    bool fits = more <= TEST_MAX_PACKETS && s->packets + more <= TEST_MAX_PACKETS &&
                (s->packets + more) <= TEST_MAX_BYTES / width;
    if (!fits)
        diag_report(s->sema->cx->diags, RULE_TOO_LARGE, span,
                    "a stream of a test has at most %" PRIu64 " packets and %" PRIu64 " bytes",
                    TEST_MAX_PACKETS, TEST_MAX_BYTES);
    return fits;
}

/* Adds the last part; NULL: it would be too large. */
static struct test_values *add_value_part(struct stream *s, enum test_values_kind kind,
                                          struct span span, const struct type *type,
                                          uint64_t packets)
{
    if (!check_size(s, span, type, packets)) return NULL;
    struct test_values *part = ARENA_NEW(s->sema->cx->arena, struct test_values);
    *part = (struct test_values){.kind = kind, .span = span, .type = type, .packets = packets};
    if (s->first == NULL)
        s->first = part;
    else
        s->last->next = part;
    s->last = part;
    s->packets += packets;
    return part;
}

static bool report_wrong(struct stream *s, struct span span, const char *message)
{
    diag_report(s->sema->cx->diags, RULE_TYPE_MISMATCH, span, "%s", message);
    return false;
}

/* ---- lists ---- */

static bool list_value(struct stream *s, const struct ast_expr *e, const struct type *type)
{
    uint64_t count, constants = s->sema->cx->constant_values;
    const struct scalar_value *values = sema_values(s->sema, s->scope, e, type, &count);
    if (values == NULL) return false;
    s->sema->cx->constant_values = constants; /* check_size bounds streams */
    if (s->last == NULL || s->last->kind != TEST_LIST) {
        if (add_value_part(s, TEST_LIST, e->span, type, 1) == NULL) return false;
    } else {
        if (!check_size(s, e->span, type, 1)) return false;
        s->last->packets++;
        s->packets++;
    }
    for (uint64_t i = 0; i < count; i++)
        vec_push(s->sema->cx->arena, &s->last->scalars, values[i]);
    return true;
}

static bool holds_integer(enum scalar_type type, int64_t value)
{
    if (!scalar_is_float(type)) return arith_fits(value, type);
    struct scalar_value integer = arith_integer(SCALAR_I64, (uint64_t)value);
    struct scalar_value back = arith_convert(arith_convert(integer, type), SCALAR_I64);
    return back.bits == integer.bits;
}

static bool list_range(struct stream *s, const struct ast_expr *e, const struct type *type)
{
    int64_t from, to;
    struct diags *diags = s->sema->cx->diags;
    if (e->left == NULL)
        return report_wrong(s, e->span, "a range of values begins somewhere: 0..9");
    if (!type_is_scalar(type) || type_is_bool(type))
        return report_wrong(s, e->span, "a range stands for numbers, and these packets are none");
    if (!sema_integer(s->sema, s->scope, e->left, &from) ||
        !sema_integer(s->sema, s->scope, e->right, &to))
        return false;
    if (from > to) {
        diag_report(diags, RULE_CONSTANT_RANGE, e->span,
                    "the range begins at %" PRId64 ", beyond its end %" PRId64, from, to);
        return false;
    }
    if (!holds_integer(type->scalar, from) || !holds_integer(type->scalar, to)) {
        diag_report(diags, RULE_CONSTANT_RANGE, e->span,
                    "%s does not hold all of %" PRId64 " to %" PRId64, scalar_name(type->scalar),
                    from, to);
        return false;
    }
    uint64_t steps = (uint64_t)to - (uint64_t)from;
    uint64_t packets = steps < UINT64_MAX ? steps + 1 : steps;
    struct test_values *part = add_value_part(s, TEST_RANGE, e->span, type, packets);
    if (part != NULL) part->first = from;
    return part != NULL;
}

/* ---- generators ---- */

struct argument_list {
    const struct ast_expr *items[2];
    uint32_t count;
};

static bool take_arguments(struct stream *s, const struct ast_expr *e, uint32_t wanted,
                           const char *form, struct argument_list *list)
{
    list->count = 0;
    for (const struct ast_expr *a = e->arguments; a != NULL; a = a->next, list->count++)
        if (list->count < 2) list->items[list->count] = a;
    if (list->count == wanted) return true;
    struct diag *d = diag_report(s->sema->cx->diags, RULE_WRONG_ARGUMENT_COUNT, e->span,
                                 "'%s' takes %u argument%s, not %u", e->name.text, wanted,
                                 wanted == 1 ? "" : "s", list->count);
    diag_help(d, "write %s", form);
    return false;
}

static bool count_argument(struct stream *s, const struct ast_expr *e, uint64_t *packets)
{
    int64_t value;
    if (!sema_integer(s->sema, s->scope, e, &value)) return false;
    if (value < 0) {
        diag_report(s->sema->cx->diags, RULE_CONSTANT_RANGE, e->span,
                    "a stream cannot have %" PRId64 " packets", value);
        return false;
    }
    *packets = (uint64_t)value;
    return true;
}

static bool makes_value(struct stream *s, const struct ast_expr *e, const struct type *type)
{
    if (type_is_scalar(type)) return true;
    diag_report(s->sema->cx->diags, RULE_TYPE_MISMATCH, e->span,
                "'%s' does not make packets of type %s", e->name.text,
                type_text(s->sema->cx->arena, type));
    return false;
}

static bool generate_zeros(struct stream *s, const struct ast_expr *e, const struct type *type)
{
    struct argument_list list;
    uint64_t packets;
    return take_arguments(s, e, 1, "zeros(PACKETS)", &list) &&
           count_argument(s, list.items[0], &packets) &&
           add_value_part(s, TEST_ZEROS, e->span, type, packets) != NULL;
}

static bool generate_a_ramp(struct stream *s, const struct ast_expr *e, const struct type *type)
{
    struct argument_list list;
    uint64_t packets;
    return take_arguments(s, e, 1, "ramp(PACKETS)", &list) && makes_value(s, e, type) &&
           count_argument(s, list.items[0], &packets) &&
           add_value_part(s, TEST_RAMP, e->span, type, packets) != NULL;
}

static bool generate_some_noise(struct stream *s, const struct ast_expr *e, const struct type *type)
{
    struct argument_list list;
    uint64_t packets;
    int64_t seed;
    if (!take_arguments(s, e, 2, "noise(SEED, PACKETS)", &list) || !makes_value(s, e, type) ||
        !sema_integer(s->sema, s->scope, list.items[0], &seed) ||
        !count_argument(s, list.items[1], &packets))
        return false;
    struct test_values *part = add_value_part(s, TEST_NOISE, e->span, type, packets);
    if (part != NULL) part->seed = (uint64_t)seed;
    return part != NULL;
}

static bool generate_file(struct stream *s, const struct ast_expr *e, const struct type *type)
{
    struct argument_list list;
    struct arena *arena = s->sema->cx->arena;
    if (!take_arguments(s, e, 1, "file(\"PATH\")", &list)) return false;
    const struct ast_expr *path = list.items[0];
    if (path->kind != AST_EXPR_STRING)
        return report_wrong(s, path->span, "a file is named by a string");
    if (path->string.size_bytes == 0 ||
        memchr(path->string.bytes, '\0', path->string.size_bytes) != NULL)
        return report_wrong(s, path->span, "this is not the name of a file");
    if (s->first != NULL || s->depth > 0)
        return report_wrong(s, e->span,
                            "a file is a whole stream: it is no part of a list or of map()");
    struct test_values *part = add_value_part(s, TEST_FILE, path->span, type, 0);
    if (part == NULL) return false;
    const char *text = arena_string(arena, path->string.bytes, path->string.size_bytes);
    const char *source = source_get(s->sema->cx->sources, e->span.source)->name;
    const char *slash = strrchr(source, '/');
    int folder = text[0] == '/' || slash == NULL ? 0 : (int)(slash - source) + 1;
    part->path = arena_printf(arena, "%.*s%s", folder, source, text);
    return true;
}

/* ---- map ---- */

/* The type of the packets that `function` gets: that of its parameter, or for the library's
 * mathematics, that of the stream. */
static const struct type *parameter_scalar_type(struct stream *s, const struct ast_expr *function,
                                                const struct type *type)
{
    const struct symbol *symbol = scope_find(s->scope, function->name.text);
    if (symbol == NULL || symbol->kind != SYMBOL_FN) return type;
    const struct ast_param *param = symbol->item->params;
    if (param == NULL || param->next != NULL) {
        struct diag *d = diag_report(s->sema->cx->diags, RULE_WRONG_ARGUMENT_COUNT, function->span,
                                     "map() calls a function with one packet, and '%s' does not "
                                     "take one argument",
                                     symbol->name);
        diag_label(d, symbol->span, "declared here");
        return NULL;
    }
    struct scope *at = sema_scope_at(s->sema, symbol->item->span);
    return sema_type(s->sema, at, param->type, param->dims);
}

/* The call of the function with a packet whose value is not known yet. */
static struct kx *build_generator_call(struct stream *s, const struct ast_expr *function,
                                       const struct type *parameter, const struct type *type,
                                       struct variable **argument)
{
    struct compile *cx = s->sema->cx;
    const char *name = intern_string(cx->names, "a packet");
    struct scope *scope = scope_create(cx, s->scope);
    struct variable *variable = ARENA_NEW(cx->arena, struct variable);
    *variable = (struct variable){
        .kind = VARIABLE_ARGUMENT, .name = name, .span = function->span, .type = parameter};
    scope_declare(scope, (struct symbol){.kind = SYMBOL_VARIABLE,
                                         .name = name,
                                         .span = function->span,
                                         .variable = variable});
    struct ast_expr *packet = ARENA_NEW(cx->arena, struct ast_expr);
    *packet = (struct ast_expr){
        .kind = AST_EXPR_NAME, .span = function->span, .depth = 1, .name = {name, function->span}};
    struct ast_expr *call = ARENA_NEW(cx->arena, struct ast_expr);
    *call = (struct ast_expr){.kind = AST_EXPR_CALL,
                              .span = function->span,
                              .depth = 2,
                              .arguments = packet,
                              .name = function->name};
    struct kx *kx = sema_argument(s->sema, scope, call, type);
    variable->kind = VARIABLE_CONSTANT; /* gets the value of each packet in turn */
    *argument = variable;
    return kx;
}

static bool generate_map(struct stream *s, const struct ast_expr *e, const struct type *type)
{
    struct argument_list list;
    if (!take_arguments(s, e, 2, "map(FUNCTION, VALUES)", &list)) return false;
    if (list.items[0]->kind != AST_EXPR_NAME)
        return report_wrong(s, list.items[0]->span, "the first argument of map() is a function");
    if (s->depth >= MAP_DEPTH_MAX) {
        diag_report(s->sema->cx->diags, RULE_TOO_DEEP, e->span,
                    "map() in map() goes more than %d deep", MAP_DEPTH_MAX);
        return false;
    }
    const struct type *parameter = parameter_scalar_type(s, list.items[0], type);
    if (parameter == NULL) return false;
    struct stream inner = {.sema = s->sema, .scope = s->scope, .depth = s->depth + 1};
    struct variable *argument;
    if (!parse_stream(&inner, list.items[1], parameter)) return false;
    struct kx *call = build_generator_call(s, list.items[0], parameter, type, &argument);
    if (call == NULL) return false;
    struct test_values *part = add_value_part(s, TEST_MAP, e->span, type, inner.packets);
    if (part == NULL) return false;
    part->inner = inner.first;
    part->call = call;
    part->argument = argument;
    return true;
}

static const struct {
    const char *name;
    bool (*parse)(struct stream *, const struct ast_expr *, const struct type *);
} generators[] = {{"zeros", generate_zeros},
                  {"ramp", generate_a_ramp},
                  {"noise", generate_some_noise},
                  {"file", generate_file},
                  {"map", generate_map}};
enum { GENERATORS = sizeof generators / sizeof generators[0] };

static int find_generator(const struct ast_expr *e)
{
    for (int i = 0; e->kind == AST_EXPR_CALL && i < GENERATORS; i++)
        if (strcmp(e->name.text, generators[i].name) == 0) return i;
    return -1;
}

/* ---- streams ---- */

/* In a list, a function of the program hides a generator of the same name. */
static bool parse_list_element(struct stream *s, const struct ast_expr *e, const struct type *type)
{
    int generator = find_generator(e);
    if (e->kind == AST_EXPR_RANGE) return list_range(s, e, type);
    if (generator >= 0 && scope_find(s->scope, e->name.text) == NULL)
        return generators[generator].parse(s, e, type);
    return list_value(s, e, type);
}

static bool parse_stream(struct stream *s, const struct ast_expr *expr, const struct type *type)
{
    int generator = find_generator(expr);
    if (generator >= 0) return generators[generator].parse(s, expr, type);
    if (expr->kind != AST_EXPR_BRACES) {
        struct diag *d = diag_report(
            s->sema->cx->diags, RULE_TYPE_MISMATCH, expr->span,
            "a stream is a list of packets, or made by zeros, ramp, noise, file or map");
        if (expr->kind == AST_EXPR_CALL) {
            const char *names[GENERATORS];
            for (int i = 0; i < GENERATORS; i++)
                names[i] = generators[i].name;
            const char *nearest = nearest_name(expr->name.text, names, GENERATORS);
            if (nearest != NULL) diag_suggest(d, expr->name.span, nearest);
        } else {
            diag_help(d, "write it in braces: {1, 2, 3}");
        }
        return false;
    }
    bool ok = true;
    for (const struct ast_expr *e = expr->arguments; e != NULL; e = e->next)
        ok &= parse_list_element(s, e, type);
    return ok;
}

bool test_values_parse(struct sema *sema, struct scope *scope, const struct ast_expr *expr,
                       const struct type *type, struct test_values **out)
{
    struct stream stream = {.sema = sema, .scope = scope};
    bool ok = parse_stream(&stream, expr, type);
    *out = stream.first;
    return ok;
}

/* ---- bytes ---- */

struct packet_bytes {
    unsigned char *bytes;
    const struct scalar_value *next;
};

static void store_scalar(enum scalar_type scalar, uint64_t offset_bytes, void *data)
{
    struct packet_bytes *packet = data;
    uint64_t bits = packet->next->bits;
    packet->next++;
    memcpy(packet->bytes + offset_bytes, &bits, scalar_width_bytes(scalar));
}

struct packet_scalars {
    const unsigned char *bytes;
    struct scalar_value *next;
};

static void load_scalar(enum scalar_type scalar, uint64_t offset_bytes, void *data)
{
    struct packet_scalars *packet = data;
    size_t width = scalar_width_bytes(scalar);
    struct scalar_value value = {.type = scalar};
    memcpy(&value.bits, packet->bytes + offset_bytes, width);
    unsigned shift = 64 - 8 * (unsigned)width;
    if (scalar_kind(scalar) == SCALAR_KIND_SIGNED)
        value.bits = (uint64_t)((int64_t)(value.bits << shift) >> shift);
    *packet->next++ = value;
}

void test_packet_load(const struct type *type, const unsigned char *bytes,
                      struct scalar_value *scalars)
{
    type_each_scalar(type, load_scalar, &(struct packet_scalars){bytes, scalars});
}

static struct scalar_value scalar_of_bits(enum scalar_type type, uint64_t bits)
{
    return scalar_is_float(type) ? (struct scalar_value){type, bits} : arith_integer(type, bits);
}

static bool map_packet(struct compile *cx, const struct test_values *part, uint64_t index,
                       struct scalar_value *scalars);

/* The scalars of packet `index` of one part. */
static bool part_packet(struct compile *cx, const struct test_values *part, uint64_t index,
                        struct scalar_value *scalars)
{
    uint64_t count = type_scalar_count(part->type);
    enum scalar_type type = part->type->scalar; /* RANGE, RAMP, NOISE: only of scalars */
    switch (part->kind) {
    case TEST_LIST:
        memcpy(scalars, part->scalars.items + index * count, count * sizeof *scalars);
        return true;
    case TEST_RANGE:
        *scalars = arith_convert(arith_integer(SCALAR_I64, (uint64_t)part->first + index), type);
        return true;
    case TEST_ZEROS: {
        unsigned char *zeros = arena_alloc(cx->arena, (size_t)part->type->width_bytes);
        test_packet_load(part->type, zeros, scalars);
        return true;
    }
    case TEST_RAMP: *scalars = scalar_of_bits(type, generate_ramp(type, index)); return true;
    case TEST_NOISE:
        *scalars = scalar_of_bits(type, generate_noise(type, part->seed, index));
        return true;
    case TEST_MAP: return map_packet(cx, part, index, scalars);
    case TEST_FILE: break;
    }
    return false;
}

static bool map_packet(struct compile *cx, const struct test_values *part, uint64_t index,
                       struct scalar_value *scalars)
{
    uint64_t at = index;
    const struct test_values *inner = part->inner;
    for (; inner != NULL && at >= inner->packets; inner = inner->next)
        at -= inner->packets;
    if (inner == NULL) return false;
    uint64_t count = type_scalar_count(inner->type);
    struct scalar_value *packet = ARENA_ARRAY(cx->arena, struct scalar_value, count);
    struct consteval_error error;
    if (!part_packet(cx, inner, at, packet)) return false;
    part->argument->constant = packet;
    if (consteval(cx, part->call, scalars, &error)) return true;
    struct diag *d = diag_report(cx->diags, error.too_large ? RULE_TOO_LARGE : RULE_CONSTANT_FAULT,
                                 part->span, "%s in packet %" PRIu64 " of map()",
                                 error.reason != NULL ? error.reason : "no constant value", index);
    if (error.span.source != 0) diag_label(d, error.span, "here");
    return false;
}

/* Frees the scratch memory of each packet after it. */
static bool write_part(struct compile *cx, const struct test_values *part, FILE *to)
{
    uint64_t count = type_scalar_count(part->type);
    struct compile scratch = *cx;
    scratch.arena = arena_create();
    bool ok = true;
    for (uint64_t i = 0; ok && i < part->packets; i++) {
        struct scalar_value *scalars = ARENA_ARRAY(scratch.arena, struct scalar_value, count);
        unsigned char *bytes = arena_alloc(scratch.arena, (size_t)part->type->width_bytes);
        ok = part_packet(&scratch, part, i, scalars);
        if (!ok) break;
        type_each_scalar(part->type, store_scalar, &(struct packet_bytes){bytes, scalars});
        ok = fwrite(bytes, 1, part->type->width_bytes, to) == part->type->width_bytes;
        arena_reset(scratch.arena);
    }
    arena_destroy(scratch.arena);
    return ok;
}

bool test_values_write(struct compile *cx, const struct test_values *values, FILE *to)
{
    for (; values != NULL; values = values->next)
        if (!write_part(cx, values, to)) return false;
    return true;
}
