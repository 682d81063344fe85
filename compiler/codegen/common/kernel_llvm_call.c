/* SPDX-License-Identifier: MIT */
/*
 * Functions and their calls.
 *
 * Signature: the scalars by value, arrays, vectors and structs by address, then (such results) the
 * address of the result, then (functions that count) where the cycles go, then (functions that may fault) the fault record and the number of the firing.  Result:
 * the scalar or nothing; a function that may fault returns the status, followed by the scalar.  An
 * argument by address is not copied: the callee does so if it assigns to the parameter.
 */
#include "compiler/codegen/common/kernel_llvm_call.h"

#include <string.h>

#include "compiler/codegen/common/kernel_count.h"
#include "compiler/codegen/common/kernel_lanes.h"
#include "compiler/codegen/common/kernel_llvm_address.h"
#include "compiler/codegen/common/kernel_llvm_batch.h"
#include "compiler/codegen/common/kernel_llvm_expr.h"
#include "compiler/codegen/common/kernel_llvm_stmt.h"
#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/codegen/common/kernel_query.h"
#include "compiler/codegen/common/kernel_unroll.h"

/* Calls of functions up to this size, their own calls expanded, are always inlined: loops around
 * them vectorise. */
enum { INLINE_SIZE_MAX = 1500 };

static LLVMTypeRef parameter_type(struct kernel_emitter *e, const struct type *type, uint32_t lanes)
{
    if (!type_is_scalar(type)) return e->pointer;
    LLVMTypeRef scalar = kernel_scalar_type(e, type->scalar);
    return lanes > 0 ? LLVMVectorType(scalar, lanes) : scalar;
}

static LLVMTypeRef result_type(struct kernel_emitter *e, const struct function *f, uint32_t lanes)
{
    bool faults = lanes == 0 && kernel_function_faults(e, f);
    if (!type_is_scalar(f->result)) {
        return faults ? e->i32 : LLVMVoidTypeInContext(e->context);
    }
    LLVMTypeRef value = parameter_type(e, f->result, lanes);
    if (!faults) return value;
    LLVMTypeRef both[] = {e->i32, value};
    return LLVMStructTypeInContext(e->context, both, 2, 0);
}

static LLVMTypeRef function_type(struct kernel_emitter *e, const struct function *f, uint32_t lanes)
{
    LLVMTypeRef *params = ARENA_ARRAY(e->scratch, LLVMTypeRef, f->param_count + 4u);
    unsigned count = 0;
    for (uint32_t i = 0; i < f->param_count; i++) {
        params[count++] = parameter_type(e, f->params[i]->type, lanes);
    }
    if (type_is_aggregate(f->result)) params[count++] = e->pointer;
    if (kernel_function_counts(e, f)) params[count++] = e->pointer;
    if (lanes == 0 && kernel_function_faults(e, f)) {
        params[count++] = e->pointer;
        params[count++] = e->i64;
    }
    return LLVMFunctionType(result_type(e, f, lanes), params, count, 0);
}

/* ---- definitions ---- */

static void bind_parameters(struct kernel_emitter *e, const struct function *f,
                            struct kernel_counting *counting)
{
    struct kernel_body *body = e->body;
    for (uint32_t i = 0; i < f->param_count; i++) {
        const struct variable *variable = f->params[i];
        LLVMValueRef param = LLVMGetParam(body->llvm, i);
        LLVMSetValueName2(param, variable->name, strlen(variable->name));
        if (type_is_scalar(variable->type)) {
            kernel_store(e, variable->type, kernel_variable_address(e, variable), param);
        } else if (ks_assigns(f->body, variable)) {
            struct kernel_address from = {.pointer = param};
            kernel_copy(e, variable->type, kernel_variable_address(e, variable), from);
        } else {
            body->locals[variable->index] = param;
        }
    }
    unsigned count = f->param_count;
    if (type_is_aggregate(f->result)) body->result = LLVMGetParam(body->llvm, count++);
    if (kernel_function_counts(e, f))
        kernel_count_function(e, counting, f, LLVMGetParam(body->llvm, count++));
    if (count < LLVMCountParams(body->llvm)) {
        body->fault = LLVMGetParam(body->llvm, count);
        body->firing_number = LLVMGetParam(body->llvm, count + 1);
    }
}

void kernel_return(struct kernel_emitter *e, LLVMValueRef value)
{
    const struct function *f = e->body->function;
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(e->body->llvm));
    kernel_count_return(e);
    if (value != NULL && e->body->lanes > 0 && !kernel_is_vector(value)) {
        value = kernel_splat(e, value, e->body->lanes);
    }
    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind) {
        LLVMBuildRetVoid(e->builder);
    } else if (value == NULL) {
        LLVMBuildRet(e->builder, LLVMConstNull(type));
    } else if (e->body->lanes == 0 && kernel_function_faults(e, f)) {
        LLVMBuildRet(e->builder,
                     LLVMBuildInsertValue(e->builder, LLVMConstNull(type), value, 1, ""));
    } else {
        LLVMBuildRet(e->builder, value);
    }
}

/* The mathematics of the library depend on exact operations. */
static bool is_library_function(const struct kernel_emitter *e, const struct function *f)
{
    if (f->span.source == 0) return false;
    return strcmp(source_get(e->cx->sources, f->span.source)->name, "std/math.pipe") == 0;
}

static LLVMValueRef define_function(struct kernel_emitter *e, const struct function *f,
                                    uint32_t lanes, bool speculative, uint64_t *instructions)
{
    const char *name = lanes > 0 ? arena_printf(e->scratch, "%s.x%u", f->name, lanes) : f->name;
    LLVMValueRef function = LLVMAddFunction(e->module, name, function_type(e, f, lanes));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    kernel_function_attribute(e, function, "nounwind");
    bool in_place = lanes > 0 || kernel_size(e, f->body) <= INLINE_SIZE_MAX;
    if (in_place) kernel_function_attribute(e, function, "alwaysinline");
    const bool *varying = lanes > 0 ? kernel_function_lanes(e, f) : NULL;
    struct kernel_body *outer = e->body;
    LLVMBasicBlockRef outer_at = LLVMGetInsertBlock(e->builder);
    struct kernel_body body = {.entry = ENTRY_FUNCTION,
                               .function = f,
                               .lanes = lanes,
                               .varying = varying,
                               .loops = lanes > 0 ? kernel_plan_loops(e, f->body, varying) : NULL,
                               .strict = is_library_function(e, f),
                               .speculative = speculative};
    struct kernel_counting counting;
    kernel_body_begin(e, &body, function, f->local_count);
    bind_parameters(e, f, &counting);
    kernel_statements(e, f->body);
    kernel_return(e, NULL);
    *instructions = in_place ? kernel_count_instructions(function) + body.added_instructions : 0;
    kernel_body_end(e, outer, outer_at);
    return function;
}

/* The places of one emitted function in struct kernel_function. */
struct function_code {
    LLVMValueRef *llvm;
    uint64_t *instructions;
};

/* Where the function for so many lanes is kept; 0 lanes: the one for scalars, `speculative` or not. */
static struct function_code code_of(struct kernel_function *function, uint32_t lanes,
                                    bool speculative)
{
    if (lanes == 0 && speculative)
        return (struct function_code){&function->speculative_llvm,
                                      &function->speculative_instructions};
    if (lanes == 0) return (struct function_code){&function->llvm, &function->instructions};
    int width = 0;
    while ((uint32_t)KERNEL_LANES_MIN << width < lanes)
        width++;
    return (struct function_code){&function->lanes_llvm[width],
                                  &function->lanes_instructions[width]};
}

static LLVMValueRef function_llvm(struct kernel_emitter *e, const struct function *f,
                                  uint32_t lanes)
{
    bool speculative = lanes > 0 || (kernel_speculates(e) && kernel_function_rests_on_proofs(e, f));
    struct function_code code = code_of(kernel_function_of(e, f), lanes, speculative);
    if (*code.llvm == NULL) {
        uint64_t instructions;
        LLVMValueRef llvm = define_function(e, f, lanes, speculative, &instructions);
        code = code_of(kernel_function_of(e, f), lanes, speculative); /* define may have moved it */
        *code.llvm = llvm;
        *code.instructions = instructions;
    }
    e->body->added_instructions += *code.instructions;
    return *code.llvm;
}

/* ---- calls ---- */

/* The address of an array argument; a copy where a later argument could change it. */
static LLVMValueRef array_argument(struct kernel_emitter *e, const struct kx *call, uint32_t i)
{
    const struct kx *x = call->arguments[i];
    struct kernel_address at = kernel_value_address(e, x);
    bool changes = false;
    for (uint32_t later = i + 1; later < call->argument_count; later++) {
        changes = changes || kernel_has_effects(call->arguments[later]);
    }
    if (!changes) return at.pointer;
    LLVMValueRef copy = kernel_alloca_value(e, x->type, LAYOUT_UNIFORM, "argument");
    kernel_copy(e, x->type, (struct kernel_address){.pointer = copy}, at);
    return copy;
}

/* Evaluates the arguments.  Returns the lanes of the function to call: none where all arguments are
 * uniform. */
static uint32_t evaluate_arguments(struct kernel_emitter *e, const struct kx *x, LLVMValueRef *args)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < x->argument_count; i++) {
        bool scalar = type_is_scalar(x->arguments[i]->type);
        args[i] = scalar ? kernel_expression(e, x->arguments[i]) : array_argument(e, x, i);
        if (kernel_is_vector(args[i])) lanes = e->body->lanes;
    }
    for (uint32_t i = 0; i < x->argument_count && lanes > 0; i++) {
        bool scalar = type_is_scalar(x->arguments[i]->type);
        if (scalar && !kernel_is_vector(args[i])) args[i] = kernel_splat(e, args[i], lanes);
    }
    return lanes;
}

/* Calls with arguments that have been evaluated; `args` has room for four more. */
static LLVMValueRef call_with(struct kernel_emitter *e, const struct kx *x, LLVMValueRef *args,
                              uint32_t lanes, LLVMValueRef to)
{
    const struct function *f = x->function;
    unsigned count = f->param_count;
    bool faults = lanes == 0 && kernel_function_faults(e, f);
    bool counts = kernel_function_counts(e, f);
    LLVMTypeRef cycles_type = kernel_cycles_type(e, lanes);
    LLVMValueRef cycles = counts ? kernel_alloca(e, cycles_type, "cycles") : NULL;
    if (type_is_aggregate(f->result)) {
        args[count++] =
            to != NULL ? to : kernel_alloca_value(e, f->result, LAYOUT_UNIFORM, "result");
    }
    if (counts) args[count++] = cycles;
    if (faults) {
        args[count++] = e->body->fault;
        args[count++] = e->body->firing_number;
    }
    LLVMValueRef callee = function_llvm(e, f, lanes);
    LLVMTypeRef type = LLVMGlobalGetValueType(callee);
    LLVMValueRef result = LLVMBuildCall2(e->builder, type, callee, args, count, "");
    bool scalar = type_is_scalar(f->result);
    if (faults)
        kernel_fault_through(e, scalar ? LLVMBuildExtractValue(e->builder, result, 0, "") : result);
    if (counts)
        kernel_count_cycles(e, x->regions[0], LLVMBuildLoad2(e->builder, cycles_type, cycles, ""));
    if (!scalar) return NULL;
    return faults ? LLVMBuildExtractValue(e->builder, result, 1, "") : result;
}

/* A function of scalars for each element of vectors. */
static void call_each(struct kernel_emitter *e, const struct kx *x, LLVMValueRef to)
{
    uint64_t lanes = x->type->length;
    LLVMValueRef *args = ARENA_ARRAY(e->scratch, LLVMValueRef, x->argument_count + 4u);
    struct kernel_operand *operands =
        ARENA_ARRAY(e->scratch, struct kernel_operand, x->argument_count + 1u);
    for (uint32_t n = 0; n < x->argument_count; n++) {
        bool changes = false;
        for (uint32_t later = n + 1; later < x->argument_count; later++)
            changes = changes || kernel_has_effects(x->arguments[later]);
        operands[n] = kernel_operand(e, x->arguments[n], changes);
    }
    for (uint64_t i = 0; i < lanes; i++) {
        for (uint32_t n = 0; n < x->argument_count; n++)
            args[n] = kernel_operand_item(e, &operands[n], lanes, i);
        LLVMValueRef value = call_with(e, x, args, 0, NULL);
        struct kernel_address at = {.pointer = to};
        kernel_store(e, x->type->element, kernel_item(e, x->type, at, kernel_i64(e, i)), value);
    }
}

LLVMValueRef kernel_call(struct kernel_emitter *e, const struct kx *x, LLVMValueRef to)
{
    const struct function *f = x->function;
    if (x->type != f->result) {
        call_each(e, x, to);
        return NULL;
    }
    LLVMValueRef *args = ARENA_ARRAY(e->scratch, LLVMValueRef, x->argument_count + 4u);
    uint32_t lanes = evaluate_arguments(e, x, args);
    return call_with(e, x, args, lanes, to);
}
