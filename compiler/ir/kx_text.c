/* SPDX-License-Identifier: MIT */
#include "compiler/ir/kx_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lang/scalar_text.h"

static const char *const operators[] = {
    [OP_ADD] = "+",  [OP_SUB] = "-",          [OP_MUL] = "*",         [OP_DIV] = "/",
    [OP_REM] = "%",  [OP_SHL] = "<<",         [OP_SHR] = ">>",        [OP_AND] = "&",
    [OP_OR] = "|",   [OP_XOR] = "^",          [OP_LT] = "<",          [OP_GT] = ">",
    [OP_LE] = "<=",  [OP_GE] = ">=",          [OP_EQ] = "==",         [OP_NE] = "!=",
    [OP_NONE] = "?", [OP_LOGICAL_AND] = "&&", [OP_LOGICAL_OR] = "||",
};

static const char *builtin_name(enum builtin builtin)
{
    static const char *const names[] = {
#define BUILTIN(enumerator, name, arity, kind) name,
#include "compiler/ir/builtins.def"
#undef BUILTIN
    };
    return names[builtin];
}

static void print_float(FILE *to, struct scalar_value value)
{
    const char *name = scalar_name(value.type);
    float single;
    double whole;
    uint32_t low = (uint32_t)value.bits;
    memcpy(&single, &low, sizeof single);
    memcpy(&whole, &value.bits, sizeof whole);
    double number = value.type == SCALAR_F64 ? whole : (double)single;
    char text[64];
    if (!isfinite(number)) {
        bool is_double = value.type == SCALAR_F64;
        fprintf(to, "(%s)from_bits((%s)%" PRIu64 "u)", name, is_double ? "u64" : "u32",
                is_double ? value.bits : (uint64_t)(uint32_t)value.bits);
        return;
    }
    enum scalar_type type = value.type == SCALAR_F64 ? SCALAR_F64 : SCALAR_F32;
    scalar_format(type, value.bits, text, sizeof text);
    bool plain = strpbrk(text, ".e") == NULL;
    if (value.type == SCALAR_F32)
        fprintf(to, "%s%sf", text, plain ? ".0" : "");
    else
        fprintf(to, "(%s)%s%s", name, text, plain ? ".0" : "");
}

void scalar_value_print(FILE *to, struct scalar_value value)
{
    char text[64];
    if (scalar_is_float(value.type)) {
        print_float(to, value);
        return;
    }
    scalar_format(value.type, value.bits, text, sizeof text);
    if (value.type == SCALAR_BOOL)
        fputs(value.bits != 0 ? "(bool)1" : "(bool)0", to);
    else
        fprintf(to, "(%s)%s", scalar_name(value.type), text);
}

void type_value_print(FILE *to, const struct type *type, const struct scalar_value **values)
{
    if (type->kind == TYPE_SCALAR) {
        scalar_value_print(to, *(*values)++);
        return;
    }
    uint64_t count = type->kind == TYPE_STRUCT ? type->field_count : type->length;
    fputc('{', to);
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0) fputs(", ", to);
        type_value_print(to, type->kind == TYPE_STRUCT ? type->fields[i].type : type->element,
                         values);
    }
    fputc('}', to);
}

static bool print_kx_list(FILE *to, const char *name, struct kx *const *arguments, uint32_t count)
{
    fprintf(to, "%s(", name);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) fputs(", ", to);
        if (!kx_print(to, arguments[i])) return false;
    }
    fputc(')', to);
    return true;
}

static bool print_prefix(FILE *to, const char *op, const struct kx *operand)
{
    fprintf(to, "(%s", op);
    bool ok = kx_print(to, operand);
    fputc(')', to);
    return ok;
}

static bool print_infix(FILE *to, const struct kx *x)
{
    fputc('(', to);
    bool ok = kx_print(to, x->left);
    fprintf(to, " %s ", operators[x->op]);
    ok = ok && kx_print(to, x->right);
    fputc(')', to);
    return ok;
}

static bool print_select(FILE *to, const struct kx *x)
{
    fputc('(', to);
    bool ok = kx_print(to, x->left);
    fputs(" ? ", to);
    ok = ok && kx_print(to, x->right);
    fputs(" : ", to);
    ok = ok && kx_print(to, x->third);
    fputc(')', to);
    return ok;
}

static bool print_kx_index(FILE *to, const struct kx *x)
{
    bool ok = kx_print(to, x->left);
    fputc('[', to);
    ok = ok && kx_print(to, x->right);
    fputc(']', to);
    return ok;
}

/* f32x2(a, b) */
static bool print_vector(FILE *to, const struct kx *x)
{
    fprintf(to, "%sx%" PRIu64 "(", scalar_name(x->type->element->scalar), x->type->length);
    bool ok = x->argument_count > 0;
    for (uint32_t i = 0; ok && i < x->argument_count; i++) {
        if (i > 0) fputs(", ", to);
        ok = x->arguments[i] != NULL && kx_print(to, x->arguments[i]);
    }
    fputc(')', to);
    return ok;
}

/* A constant without a name is one of an argument. */
static bool print_kx_variable(FILE *to, const struct kx *x)
{
    const struct scalar_value *values = x->variable->constant;
    fputs(x->variable->name, to);
    if (x->variable->name[0] != '\0') return true;
    if (x->type->kind != TYPE_VECTOR) return false;
    fprintf(to, "%sx%" PRIu64 "(", scalar_name(x->type->element->scalar), x->type->length);
    for (uint64_t i = 0; i < x->type->length; i++) {
        if (i > 0) fputs(", ", to);
        scalar_value_print(to, values[i]);
    }
    fputc(')', to);
    return true;
}

static bool print_kx_cast(FILE *to, const struct kx *x)
{
    fprintf(to, "(%s", scalar_name(type_item(x->type)->scalar));
    if (x->type->kind == TYPE_VECTOR) fprintf(to, "x%" PRIu64, x->type->length);
    fputc(')', to);
    return kx_print(to, x->left);
}

static bool print_kx_broadcast(FILE *to, const struct kx *x)
{
    fprintf(to, "%sx%" PRIu64 "(", scalar_name(x->type->element->scalar), x->type->length);
    bool ok = kx_print(to, x->left);
    fputc(')', to);
    return ok;
}

bool kx_value_print(FILE *to, const struct kx *x)
{
    if (x->type->kind == TYPE_ARRAY && kx_is_constant(x)) {
        const struct scalar_value *values = x->variable->constant;
        type_value_print(to, x->type, &values);
        return true;
    }
    if (x->type->kind != TYPE_ARRAY || x->kind != KX_AGGREGATE) return kx_print(to, x);
    bool ok = true;
    fputc('{', to);
    for (uint32_t i = 0; i < x->argument_count; i++) {
        if (i > 0) fputs(", ", to);
        if (x->arguments[i] != NULL)
            ok = kx_value_print(to, x->arguments[i]) && ok;
        else
            fputs("{}", to);
    }
    fputc('}', to);
    return ok;
}

bool kx_print(FILE *to, const struct kx *x)
{
    switch (x->kind) {
    case KX_CONSTANT: scalar_value_print(to, x->value); return true;
    case KX_VARIABLE: return print_kx_variable(to, x);
    case KX_NEGATE: return print_prefix(to, "- ", x->left);
    case KX_COMPLEMENT: return print_prefix(to, "~", x->left);
    case KX_NOT: return print_prefix(to, "!", x->left);
    case KX_BINARY:
    case KX_COMPARE:
    case KX_LOGICAL: return print_infix(to, x);
    case KX_SELECT: return print_select(to, x);
    case KX_CONVERT: return print_kx_cast(to, x);
    case KX_BROADCAST: return print_kx_broadcast(to, x);
    case KX_AGGREGATE: return x->type->kind == TYPE_VECTOR && print_vector(to, x);
    case KX_MEMBER:
        if (!kx_print(to, x->left)) return false;
        fprintf(to, ".%s", x->left->type->fields[x->member].name);
        return true;
    case KX_CALL: return print_kx_list(to, x->function->name, x->arguments, x->argument_count);
    case KX_BUILTIN:
        return print_kx_list(to, builtin_name(x->builtin), x->arguments, x->argument_count);
    case KX_INDEX: return print_kx_index(to, x);
    default: return false;
    }
}
