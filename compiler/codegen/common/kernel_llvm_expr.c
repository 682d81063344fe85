/* SPDX-License-Identifier: MIT */
/* Expressions.  Operands are evaluated from left to right. */
#include "compiler/codegen/common/kernel_llvm_expr.h"

#include "compiler/codegen/common/kernel_constants.h"
#include "compiler/codegen/common/kernel_count.h"
#include "compiler/codegen/common/kernel_launch.h"
#include "compiler/codegen/common/kernel_llvm_address.h"
#include "compiler/codegen/common/kernel_llvm_arith.h"
#include "compiler/codegen/common/kernel_llvm_batch.h"
#include "compiler/codegen/common/kernel_llvm_builtin.h"
#include "compiler/codegen/common/kernel_llvm_call.h"
#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/codegen/common/kernel_pairs.h"
#include "compiler/codegen/common/kernel_query.h"

/* ---- arrays, vectors, structs ---- */

static void copy_array_items(struct kernel_emitter *e, const struct type *type,
                             struct kernel_address to, struct kernel_address from)
{
    if (type_is_scalar(type)) {
        kernel_store(e, type, to, kernel_load(e, type, from));
        return;
    }
    for (uint64_t i = 0; i < type->length; i++)
        copy_array_items(e, type->element, kernel_item(e, type, to, kernel_i64(e, i)),
                         kernel_item(e, type, from, kernel_i64(e, i)));
}

void kernel_copy(struct kernel_emitter *e, const struct type *type, struct kernel_address to,
                 struct kernel_address from)
{
    if (to.layout != LAYOUT_UNIFORM || from.layout != LAYOUT_UNIFORM)
        copy_array_items(e, type, to, from);
    else
        LLVMBuildMemCpy(e->builder, to.pointer, type->alignment_bytes, from.pointer,
                        type->alignment_bytes, kernel_i64(e, type->width_bytes));
}

void kernel_store_zero(struct kernel_emitter *e, const struct type *type, struct kernel_address to)
{
    if (type_is_scalar(type)) {
        LLVMTypeRef scalar = kernel_scalar_type(e, type->scalar);
        kernel_store(e, type, to, LLVMConstNull(scalar));
        return;
    }
    if (to.layout != LAYOUT_UNIFORM && to.layout != LAYOUT_LANES) {
        for (uint64_t i = 0; i < type->length; i++)
            kernel_store_zero(e, type->element, kernel_item(e, type, to, kernel_i64(e, i)));
        return;
    }
    uint64_t lanes = to.layout == LAYOUT_LANES ? e->body->lanes : 1;
    LLVMBuildMemSet(e->builder, to.pointer, LLVMConstInt(e->i8, 0, 0),
                    kernel_i64(e, type->width_bytes * lanes), type->alignment_bytes);
}

/* Memory that can hold what an object of that layout does. */
static struct kernel_address temporary_like(struct kernel_emitter *e, const struct type *type,
                                            enum kernel_layout like)
{
    enum kernel_layout layout = like == LAYOUT_UNIFORM ? LAYOUT_UNIFORM : LAYOUT_LANES;
    return (struct kernel_address){.pointer = kernel_alloca_value(e, type, layout, "temporary"),
                                   .layout = layout};
}

static bool reads_varying(const struct kx *x, void *data)
{
    const struct kernel_emitter *e = data;
    if (x->kind == KX_PEEK || x->kind == KX_WINDOW) return true;
    return x->kind == KX_VARIABLE && x->variable->kind == VARIABLE_LOCAL &&
           e->body->varying[x->variable->index];
}

/* Of an expression's value. */
static enum kernel_layout value_layout(struct kernel_emitter *e, const struct kx *x)
{
    bool varies = e->body->lanes > 0 && kx_any(x, reads_varying, e);
    return varies ? LAYOUT_LANES : LAYOUT_UNIFORM;
}

/* Each argument follows the previous one; one of a vector may be a shorter vector. */
static void aggregate_into(struct kernel_emitter *e, const struct kx *x, struct kernel_address to)
{
    uint64_t at = 0;
    if (x->type->kind == TYPE_STRUCT) {
        bool whole = x->argument_count == x->type->field_count && !x->type->has_padding;
        for (uint32_t i = 0; i < x->argument_count; i++)
            whole = whole && x->arguments[i] != NULL;
        if (!whole) kernel_store_zero(e, x->type, to);
        for (uint32_t i = 0; i < x->argument_count; i++) {
            if (x->arguments[i] != NULL)
                kernel_expression_into(e, x->arguments[i],
                                       kernel_member(e, to, x->type->fields[i].offset_bytes), true);
        }
        return;
    }
    if (x->argument_count < x->type->length) kernel_store_zero(e, x->type, to);
    for (uint32_t i = 0; i < x->argument_count; i++) {
        const struct kx *argument = x->arguments[i];
        struct kernel_address item = kernel_item(e, x->type, to, kernel_i64(e, at));
        if (argument != NULL)
            kernel_expression_into(e, argument, item, true);
        else
            kernel_store_zero(e, x->type->element, item);
        bool part = argument != NULL && argument->type != x->type->element;
        at += part ? argument->type->length : 1;
    }
}

static void select_into(struct kernel_emitter *e, const struct kx *x, struct kernel_address to)
{
    LLVMBasicBlockRef yes = kernel_block(e, "yes"), no = kernel_block(e, "no");
    LLVMBasicBlockRef end = kernel_block(e, "selected");
    LLVMBuildCondBr(e->builder, kernel_expression(e, x->left), yes, no);
    kernel_position(e, yes);
    kernel_count(e, x->regions[0]);
    kernel_expression_into(e, x->right, to, true);
    LLVMBuildBr(e->builder, end);
    kernel_position(e, no);
    kernel_count(e, x->regions[1]);
    kernel_expression_into(e, x->third, to, true);
    LLVMBuildBr(e->builder, end);
    kernel_position(e, end);
}

/* ---- operations on vectors: element by element ---- */

struct kernel_operand kernel_operand(struct kernel_emitter *e, const struct kx *x, bool copied)
{
    struct kernel_operand operand = {.item = type_item(x->type)};
    if (x->kind == KX_BROADCAST) {
        operand.value = kernel_expression(e, x->left);
        return operand;
    }
    operand.at = kernel_value_address(e, x);
    if (copied) { /* what follows may change it */
        struct kernel_address now = operand.at;
        operand.at = temporary_like(e, x->type, now.layout);
        kernel_copy(e, x->type, operand.at, now);
    }
    return operand;
}

LLVMValueRef kernel_operand_item(struct kernel_emitter *e, const struct kernel_operand *operand,
                                 uint64_t lanes, uint64_t i)
{
    if (operand->value != NULL) return operand->value;
    struct type vector = {.kind = TYPE_VECTOR, .element = operand->item, .length = lanes};
    return kernel_load(e, operand->item, kernel_item(e, &vector, operand->at, kernel_i64(e, i)));
}

static LLVMValueRef item_value(struct kernel_emitter *e, const struct kx *x, LLVMValueRef *args)
{
    const struct type *item = x->type->element;
    switch (x->kind) {
    case KX_NEGATE: return kernel_negate(e, item, args[0]);
    case KX_COMPLEMENT:
    case KX_NOT: return LLVMBuildNot(e->builder, args[0], "");
    case KX_COMPARE: return kernel_compare(e, x->op, x->left->type->element, args[0], args[1]);
    case KX_CONVERT: return kernel_convert(e, args[0], x->left->type->element, item);
    case KX_BINARY: return kernel_binary(e, x->op, item, args[0], args[1], x);
    case KX_BUILTIN: return kernel_builtin_item(e, x, args);
    default: kernel_internal_error("an operation that vectors do not have");
    }
}

static void elementwise_into(struct kernel_emitter *e, const struct kx *x, struct kernel_address to)
{
    enum { OPERANDS_MAX = 3 };
    const struct kx *parts[OPERANDS_MAX] = {x->left, x->right};
    struct kernel_operand operands[OPERANDS_MAX];
    LLVMValueRef args[OPERANDS_MAX] = {NULL};
    uint32_t count = x->right != NULL ? 2 : 1;
    if (x->kind == KX_BUILTIN) {
        count = x->argument_count;
        for (uint32_t n = 0; n < count; n++)
            parts[n] = x->arguments[n];
    }
    for (uint32_t n = 0; n < count; n++) {
        bool changes = false;
        for (uint32_t later = n + 1; later < count; later++)
            changes = changes || kernel_has_effects(parts[later]);
        operands[n] = kernel_operand(e, parts[n], changes);
    }
    for (uint64_t i = 0; i < x->type->length; i++) {
        for (uint32_t n = 0; n < count; n++)
            args[n] = kernel_operand_item(e, &operands[n], x->type->length, i);
        LLVMValueRef value = item_value(e, x, args);
        kernel_store(e, x->type->element, kernel_item(e, x->type, to, kernel_i64(e, i)), value);
    }
}

static void broadcast_into(struct kernel_emitter *e, const struct kx *x, struct kernel_address to)
{
    LLVMValueRef value = kernel_expression(e, x->left);
    for (uint64_t i = 0; i < x->type->length; i++)
        kernel_store(e, x->type->element, kernel_item(e, x->type, to, kernel_i64(e, i)), value);
}

/* `to` is not read by the evaluation of `x`. */
static void array_into(struct kernel_emitter *e, const struct kx *x, struct kernel_address to)
{
    if (kx_is_elementwise(x)) {
        elementwise_into(e, x, to);
        return;
    }
    switch (x->kind) {
    case KX_AGGREGATE: aggregate_into(e, x, to); break;
    case KX_BROADCAST: broadcast_into(e, x, to); break;
    case KX_SELECT: select_into(e, x, to); break;
    case KX_CALL: kernel_call(e, x, to.pointer); break;
    case KX_COMMA:
        kernel_expression(e, x->left);
        kernel_expression_into(e, x->right, to, true);
        break;
    default: kernel_copy(e, x->type, to, kernel_value_address(e, x)); break;
    }
}

void kernel_expression_into(struct kernel_emitter *e, const struct kx *x, struct kernel_address to,
                            bool fresh)
{
    if (type_is_scalar(x->type)) {
        kernel_store(e, x->type, to, kernel_expression(e, x));
    } else if (fresh || kx_has_place(x)) {
        array_into(e, x, to);
    } else {
        struct kernel_address value = temporary_like(e, x->type, to.layout);
        array_into(e, x, value);
        kernel_copy(e, x->type, to, value);
    }
}

/* v op= w, element by element; the place of the value. */
static struct kernel_address assign_vector(struct kernel_emitter *e, const struct kx *x)
{
    uint64_t lanes = x->type->length;
    const struct type *item = x->type->element, *operation = x->operation->element;
    struct kernel_address to = kernel_address_of(e, x->left),
                          old = temporary_like(e, x->type, to.layout);
    kernel_copy(e, x->type, old, to);
    struct kernel_operand left = {.at = old, .item = item};
    struct kernel_operand right = kernel_operand(e, x->right, false);
    struct kernel_address result = temporary_like(e, x->type, to.layout);
    for (uint64_t i = 0; i < lanes; i++) {
        LLVMValueRef a = kernel_operand_item(e, &left, lanes, i);
        LLVMValueRef b = kernel_operand_item(e, &right, lanes, i);
        a = kernel_convert(e, a, item, operation);
        LLVMValueRef value = kernel_binary(e, x->op, operation, a, b, x);
        value = kernel_convert(e, value, operation, item);
        kernel_store(e, item, kernel_item(e, x->type, result, kernel_i64(e, i)), value);
    }
    kernel_copy(e, x->type, to, result);
    return x->postfix ? old : result;
}

static struct kernel_address assign_array(struct kernel_emitter *e, const struct kx *x)
{
    if (x->op != OP_NONE) return assign_vector(e, x);
    struct kernel_address to = kernel_address_of(e, x->left);
    kernel_expression_into(e, x->right, to, false);
    return to;
}

struct kernel_address kernel_value_address(struct kernel_emitter *e, const struct kx *x)
{
    if (kx_has_place(x)) return kernel_address_of(e, x);
    struct kernel_address value = temporary_like(e, x->type, value_layout(e, x));
    if (x->kind == KX_ASSIGN) /* a copy: the variable may change before the value is used */
        kernel_copy(e, x->type, value, assign_array(e, x));
    else
        array_into(e, x, value);
    return value;
}

/* ---- values of scalars ---- */

static LLVMValueRef variable_value(struct kernel_emitter *e, const struct kx *x)
{
    const struct variable *variable = x->variable;
    const struct kernel *kernel = e->body->kernel;
    if (variable->kind == VARIABLE_CONSTANT)
        return kernel_constant_in_lanes(e, variable->constant[0]);
    if (variable->kind == VARIABLE_ARGUMENT && kernel != NULL && !e->body->arguments_anew) {
        for (uint32_t i = 0; i < kernel->argument_count; i++) {
            if (kernel->arguments[i] == variable) return e->body->argument_values[i];
        }
    }
    return kernel_load(e, x->type, kernel_variable_address(e, variable));
}

static LLVMValueRef left_value(struct kernel_emitter *e, const struct kx *x)
{
    LLVMValueRef at = kernel_offset(e, e->builder, e->body->left, x->port * sizeof(uint64_t));
    return LLVMBuildLoad2(e->builder, e->i64, at, "left");
}

static LLVMValueRef firing_value(struct kernel_emitter *e, const struct type *type)
{
    const struct kernel_body *body = e->body;
    LLVMValueRef places[KERNEL_LANES_MAX], number = body->firing_number;
    LLVMTypeRef narrow = kernel_memory_type(e, type);
    if (body->entry == ENTRY_FINISH) number = LLVMGetParam(body->llvm, KERNEL_PARAM_FIRST);
    number = LLVMBuildTruncOrBitCast(e->builder, number, narrow, "firing");
    if (body->lanes == 0) return number;
    uint32_t part = body->lanes / body->weave; /* lane l of part k holds firing l x weave + k */
    for (uint32_t i = 0; i < body->lanes; i++)
        places[i] = LLVMConstInt(narrow, (uint64_t)(i % part) * body->weave + i / part, 0);
    return LLVMBuildAdd(e->builder, kernel_splat(e, number, body->lanes),
                        LLVMConstVector(places, body->lanes), "firings");
}

/* Where lanes are masked, those that do not execute keep the old value. */
static void store_assigned(struct kernel_emitter *e, const struct type *type,
                           struct kernel_address to, LLVMValueRef value)
{
    if (e->body->mask != NULL && to.layout == LAYOUT_LANES) {
        value = kernel_select(e, e->body->mask, value, kernel_load(e, type, to));
    }
    kernel_store(e, type, to, value);
}

static LLVMValueRef build_assignment(struct kernel_emitter *e, const struct kx *x)
{
    if (!type_is_scalar(x->type)) {
        assign_array(e, x);
        return NULL;
    }
    struct kernel_address to = kernel_address_of(e, x->left);
    if (x->op == OP_NONE) {
        LLVMValueRef value = kernel_expression(e, x->right);
        store_assigned(e, x->type, to, value);
        return value;
    }
    LLVMValueRef old = kernel_load(e, x->type, to);
    LLVMValueRef right = kernel_expression(e, x->right);
    LLVMValueRef left = kernel_convert(e, old, x->type, x->operation);
    LLVMValueRef value = kernel_binary(e, x->op, x->operation, left, right, x);
    value = kernel_convert(e, value, x->operation, x->type);
    store_assigned(e, x->type, to, value);
    return x->postfix ? old : value;
}

/* ---- choices ---- */

/* Joins the values of two blocks, which are not yet ended. */
static LLVMValueRef join_sides(struct kernel_emitter *e, LLVMValueRef value[2],
                               LLVMBasicBlockRef block[2])
{
    for (int i = 0; i < 2; i++) {
        if (!kernel_is_vector(value[i]) && kernel_is_vector(value[1 - i])) {
            kernel_position(e, block[i]);
            value[i] = kernel_splat(e, value[i], e->body->lanes);
        }
    }
    LLVMBasicBlockRef end = kernel_block(e, "joined");
    for (int i = 0; i < 2; i++) {
        kernel_position(e, block[i]);
        LLVMBuildBr(e->builder, end);
    }
    kernel_position(e, end);
    LLVMValueRef phi = LLVMBuildPhi(e->builder, LLVMTypeOf(value[0]), "");
    LLVMAddIncoming(phi, value, block, 2);
    return phi;
}

/* One of two values; without `x`: the constant true (yes) or false (no). */
struct side {
    const struct kx *x;
    uint32_t region;
};

static LLVMValueRef emit_choice_branch(struct kernel_emitter *e, LLVMValueRef condition,
                                       struct side yes, struct side no)
{
    LLVMBasicBlockRef block[2] = {kernel_block(e, "yes"), kernel_block(e, "no")};
    LLVMValueRef value[2];
    LLVMBuildCondBr(e->builder, condition, block[0], block[1]);
    const struct side sides[2] = {yes, no};
    for (int i = 0; i < 2; i++) {
        kernel_position(e, block[i]);
        if (sides[i].x != NULL) kernel_count(e, sides[i].region);
        value[i] =
            sides[i].x != NULL ? kernel_expression(e, sides[i].x) : LLVMConstInt(e->i1, i == 0, 0);
        block[i] = LLVMGetInsertBlock(e->builder);
    }
    return join_sides(e, value, block);
}

/* Evaluates a side whose value is used only where `condition` is `truth`. */
static LLVMValueRef speculate_side(struct kernel_emitter *e, struct side side,
                                   LLVMValueRef condition, bool truth)
{
    LLVMValueRef outer = e->body->wanted;
    if (e->body->counting != NULL) {
        LLVMValueRef wanted = truth ? condition : LLVMBuildNot(e->builder, condition, "");
        LLVMValueRef both = outer;
        if (outer != NULL) kernel_unify(e, &both, &wanted);
        e->body->wanted = outer != NULL ? LLVMBuildAnd(e->builder, both, wanted, "") : wanted;
        kernel_count(e, side.region);
    }
    e->body->speculative++;
    LLVMValueRef value = kernel_expression(e, side.x);
    e->body->speculative--;
    e->body->wanted = outer;
    return value;
}

static LLVMValueRef build_logical(struct kernel_emitter *e, const struct kx *x)
{
    LLVMValueRef left = kernel_expression(e, x->left);
    bool both = x->op == OP_LOGICAL_AND;
    const struct side other = {x->right, x->regions[0]}, constant = {NULL, 0};
    if (!kernel_is_vector(left) && !kernel_is_speculatable(e, x->right)) {
        return emit_choice_branch(e, left, both ? other : constant, both ? constant : other);
    }
    LLVMValueRef right = speculate_side(e, other, left, both);
    kernel_unify(e, &left, &right);
    return both ? LLVMBuildAnd(e->builder, left, right, "")
                : LLVMBuildOr(e->builder, left, right, "");
}

static LLVMValueRef emit_choice(struct kernel_emitter *e, const struct kx *x)
{
    LLVMValueRef condition = kernel_expression(e, x->left);
    const struct side sides[2] = {{x->right, x->regions[0]}, {x->third, x->regions[1]}};
    bool speculatable = kernel_is_speculatable(e, x->right) && kernel_is_speculatable(e, x->third);
    if (!kernel_is_vector(condition) && !speculatable)
        return emit_choice_branch(e, condition, sides[0], sides[1]);
    LLVMValueRef yes = speculate_side(e, sides[0], condition, true);
    LLVMValueRef no = speculate_side(e, sides[1], condition, false);
    return kernel_select(e, condition, yes, no);
}

/* ---- all ---- */

static LLVMValueRef emit_binary(struct kernel_emitter *e, const struct kx *x)
{
    LLVMValueRef left = kernel_expression(e, x->left);
    LLVMValueRef right = kernel_expression(e, x->right);
    if (x->kind == KX_COMPARE) return kernel_compare(e, x->op, x->left->type, left, right);
    return kernel_binary(e, x->op, x->type, left, right, x);
}

static LLVMValueRef scalar_expression(struct kernel_emitter *e, const struct kx *x)
{
    switch (x->kind) {
    case KX_CONSTANT: return kernel_constant_in_lanes(e, x->value);
    case KX_VARIABLE: return variable_value(e, x);
    case KX_INDEX:
    case KX_MEMBER:
    case KX_WINDOW:
    case KX_PEEK: return kernel_load(e, x->type, kernel_address_of(e, x));
    case KX_LEFT: return left_value(e, x);
    case KX_ITEM:
        return x->dimension <= ITEM_Z ? e->body->item[x->dimension]
                                      : kernel_group_number(e, x->dimension);
    case KX_PHASE:
        if (e->body->phase == NULL) return LLVMConstInt(e->i32, 0, 0);
        return LLVMBuildTrunc(e->builder, e->body->phase, e->i32, "");
    case KX_FIRING: return firing_value(e, x->type);
    case KX_DONE: return kernel_done(e, x);
    case KX_NEGATE: return kernel_negate(e, x->type, kernel_expression(e, x->left));
    case KX_COMPLEMENT:
    case KX_NOT: return LLVMBuildNot(e->builder, kernel_expression(e, x->left), "");
    case KX_BINARY:
    case KX_COMPARE: return emit_binary(e, x);
    case KX_LOGICAL: return build_logical(e, x);
    case KX_SELECT: return emit_choice(e, x);
    case KX_CONVERT:
        if (e->body->pairs && kernel_is_packet_word(x))
            return kernel_load_pair_words(e, kernel_address_of(e, x->left),
                                          scalar_is_signed(x->left->type->scalar));
        return kernel_convert(e, kernel_expression(e, x->left), x->left->type, x->type);
    case KX_ASSIGN: return build_assignment(e, x);
    case KX_CALL: return kernel_call(e, x, NULL);
    case KX_BUILTIN: return kernel_builtin(e, x);
    case KX_COMMA: kernel_expression(e, x->left); return kernel_expression(e, x->right);
    case KX_BROADCAST:
    case KX_AGGREGATE: break;
    }
    kernel_internal_error("an expression of an unknown kind");
}

LLVMValueRef kernel_expression(struct kernel_emitter *e, const struct kx *x)
{
    if (type_is_scalar(x->type)) return scalar_expression(e, x);
    switch (x->kind) {
    case KX_CALL:
        if (x->type->kind == TYPE_VOID) return kernel_call(e, x, NULL);
        break;
    case KX_COMMA: kernel_expression(e, x->left); return kernel_expression(e, x->right);
    case KX_SELECT:
        if (x->type->kind == TYPE_VOID) kernel_internal_error("a choice between voids");
        break;
    default: break;
    }
    kernel_value_address(e, x);
    return NULL;
}
