/* SPDX-License-Identifier: MIT */
/* LLVM types, constants, loads and stores, and the way out of a fault. */
#include "compiler/codegen/common/kernel_llvm_types.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/codegen/common/kernel_gather.h"
#include "compiler/codegen/common/kernel_llvm_rate.h"
#include "compiler/codegen/common/kernel_pairs.h"
#include "compiler/codegen/common/kernel_registers.h"
#include "compiler/codegen/common/kernel_stream.h"

_Noreturn void kernel_internal_error(const char *what)
{
    fprintf(stderr, "pipec: internal error: %s\n", what);
    exit(3);
}

/* ---- types ---- */

LLVMTypeRef kernel_scalar_type(struct kernel_emitter *e, enum scalar_type scalar)
{
    switch (scalar) {
    case SCALAR_BOOL: return e->i1;
    case SCALAR_I8:
    case SCALAR_U8: return e->i8;
    case SCALAR_I16:
    case SCALAR_U16:
    case SCALAR_F16:
    case SCALAR_BF16: return e->i16;
    case SCALAR_I32:
    case SCALAR_U32: return e->i32;
    case SCALAR_I64:
    case SCALAR_U64: return e->i64;
    case SCALAR_F32: return e->f32;
    case SCALAR_F64: return e->f64;
    }
    kernel_internal_error("a scalar type without LLVM type");
}

LLVMTypeRef kernel_memory_type(struct kernel_emitter *e, const struct type *type)
{
    if (type_is_indexed(type)) {
        return LLVMArrayType2(kernel_memory_type(e, type->element), type->length);
    }
    if (type->kind == TYPE_STRUCT) return LLVMArrayType2(e->i8, type->width_bytes);
    return type->scalar == SCALAR_BOOL ? e->i8 : kernel_scalar_type(e, type->scalar);
}

LLVMTypeRef kernel_layout_type(struct kernel_emitter *e, const struct type *type,
                               enum kernel_layout layout)
{
    if (layout != LAYOUT_LANES) return kernel_memory_type(e, type);
    if (type_is_indexed(type)) {
        return LLVMArrayType2(kernel_layout_type(e, type->element, layout), type->length);
    }
    if (type->kind == TYPE_STRUCT) kernel_internal_error("a struct in lanes");
    return LLVMVectorType(kernel_memory_type(e, type), e->body->lanes);
}

bool kernel_is_vector(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
}

LLVMTypeRef kernel_type_like(LLVMTypeRef scalar, LLVMValueRef like)
{
    if (!kernel_is_vector(like)) return scalar;
    return LLVMVectorType(scalar, LLVMGetVectorSize(LLVMTypeOf(like)));
}

LLVMValueRef kernel_splat(struct kernel_emitter *e, LLVMValueRef value, uint32_t lanes)
{
    LLVMTypeRef vector = LLVMVectorType(LLVMTypeOf(value), lanes);
    LLVMValueRef one = LLVMBuildInsertElement(e->builder, LLVMGetPoison(vector), value,
                                              LLVMConstInt(e->i64, 0, 0), "");
    LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(e->i32, lanes));
    return LLVMBuildShuffleVector(e->builder, one, LLVMGetPoison(vector), zeros, "splat");
}

void kernel_unify(struct kernel_emitter *e, LLVMValueRef *a, LLVMValueRef *b)
{
    bool left = kernel_is_vector(*a), right = kernel_is_vector(*b);
    if (left && !right) *b = kernel_splat(e, *b, LLVMGetVectorSize(LLVMTypeOf(*a)));
    if (right && !left) *a = kernel_splat(e, *a, LLVMGetVectorSize(LLVMTypeOf(*b)));
}

/* ---- constants ---- */

LLVMValueRef kernel_i64(struct kernel_emitter *e, uint64_t value)
{
    return LLVMConstInt(e->i64, value, 0);
}

LLVMValueRef kernel_integer_like(struct kernel_emitter *e, LLVMValueRef like, unsigned bits,
                                 uint64_t value)
{
    LLVMValueRef scalar = LLVMConstInt(LLVMIntTypeInContext(e->context, bits), value, 0);
    if (!kernel_is_vector(like)) return scalar;
    LLVMValueRef items[KERNEL_LANES_MAX];
    unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(like));
    if (lanes > KERNEL_LANES_MAX) kernel_internal_error("too many lanes");
    for (unsigned i = 0; i < lanes; i++)
        items[i] = scalar;
    return LLVMConstVector(items, lanes);
}

LLVMValueRef kernel_constant(struct kernel_emitter *e, struct scalar_value value)
{
    LLVMTypeRef type = kernel_scalar_type(e, value.type);
    if (value.type == SCALAR_F32) {
        return LLVMConstBitCast(LLVMConstInt(e->i32, value.bits & UINT32_MAX, 0), type);
    }
    if (value.type == SCALAR_F64)
        return LLVMConstBitCast(LLVMConstInt(e->i64, value.bits, 0), type);
    unsigned width = LLVMGetIntTypeWidth(type);
    uint64_t kept = width == 64 ? value.bits : value.bits & ((UINT64_C(1) << width) - 1);
    return LLVMConstInt(type, kept, 0);
}

static LLVMValueRef constant_tree(struct kernel_emitter *e, const struct type *type,
                                  const struct scalar_value **values);

/* Adds zeros from *at to `end`. */
static void pad_constant(struct kernel_emitter *e, LLVMValueRef *parts, unsigned *count,
                         uint64_t at, uint64_t end)
{
    if (end > at) parts[(*count)++] = LLVMConstNull(LLVMArrayType2(e->i8, end - at));
}

static LLVMValueRef constant_struct(struct kernel_emitter *e, const struct type *type,
                                    const struct scalar_value **values)
{
    LLVMValueRef *parts = ARENA_ARRAY(e->scratch, LLVMValueRef, 2 * type->field_count + 1);
    unsigned count = 0;
    uint64_t at = 0;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct type_field *field = &type->fields[i];
        pad_constant(e, parts, &count, at, field->offset_bytes);
        parts[count++] = constant_tree(e, field->type, values);
        at = field->offset_bytes + field->type->width_bytes;
    }
    pad_constant(e, parts, &count, at, type->width_bytes);
    return LLVMConstStructInContext(e->context, parts, count, 1);
}

/* The constant of `type` from its scalars, in memory form; advances *values. */
static LLVMValueRef constant_tree(struct kernel_emitter *e, const struct type *type,
                                  const struct scalar_value **values)
{
    if (type->kind == TYPE_STRUCT) return constant_struct(e, type, values);
    if (type->kind != TYPE_SCALAR) {
        LLVMValueRef *items = ARENA_ARRAY(e->scratch, LLVMValueRef, type->length);
        for (uint64_t i = 0; i < type->length; i++)
            items[i] = constant_tree(e, type->element, values);
        return LLVMConstArray2(LLVMTypeOf(items[0]), items, type->length);
    }
    struct scalar_value value = *(*values)++;
    if (value.type == SCALAR_BOOL) return LLVMConstInt(e->i8, value.bits & 1, 0);
    return kernel_constant(e, value);
}

LLVMValueRef kernel_private_constant(struct kernel_emitter *e, LLVMValueRef value, const char *name)
{
    LLVMValueRef global = LLVMAddGlobal(e->module, LLVMTypeOf(value), name);
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    return global;
}

LLVMValueRef kernel_constant_global(struct kernel_emitter *e, const struct variable *variable)
{
    for (size_t i = 0; i < e->constants.count; i++) {
        if (e->constants.items[i].variable == variable) return e->constants.items[i].global;
    }
    const struct scalar_value *values = variable->constant;
    LLVMValueRef initial = constant_tree(e, variable->type, &values);
    const char *name = arena_printf(e->scratch, "const.%s", variable->name);
    LLVMValueRef global = kernel_private_constant(e, initial, name);
    LLVMSetExternallyInitialized(global, variable->loaded);
    LLVMSetAlignment(global, variable->type->alignment_bytes);
    struct kernel_constant entry = {variable, global};
    vec_push(e->scratch, &e->constants, entry);
    return global;
}

LLVMValueRef kernel_unknown(struct kernel_emitter *e, LLVMBuilderRef builder, LLVMValueRef value,
                            const char *name)
{
    LLVMTypeRef operand = LLVMTypeOf(value), type = LLVMFunctionType(operand, &operand, 1, 0);
    unsigned bits = operand == e->pointer ? 64 : LLVMGetIntTypeWidth(operand);
    char tie[] = "=r,0";
    tie[1] = e->code->register_letter(bits);
    LLVMValueRef same =
        LLVMGetInlineAsm(type, "", 0, tie, sizeof tie - 1, 0, 0, LLVMInlineAsmDialectATT, 0);
    return LLVMBuildCall2(builder, type, same, &value, 1, name);
}

/* ---- blocks, allocas, attributes, intrinsics ---- */

LLVMBasicBlockRef kernel_block(struct kernel_emitter *e, const char *name)
{
    return LLVMAppendBasicBlockInContext(e->context, e->body->llvm, name);
}

void kernel_position(struct kernel_emitter *e, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderAtEnd(e->builder, block);
}

LLVMValueRef kernel_alloca(struct kernel_emitter *e, LLVMTypeRef type, const char *name)
{
    return LLVMBuildAlloca(e->body->setup, type, name);
}

LLVMValueRef kernel_alloca_value(struct kernel_emitter *e, const struct type *type,
                                 enum kernel_layout layout, const char *name)
{
    LLVMValueRef place = kernel_alloca(e, kernel_layout_type(e, type, layout), name);
    if (layout != LAYOUT_LANES && LLVMGetAlignment(place) < type->alignment_bytes)
        LLVMSetAlignment(place, type->alignment_bytes);
    return place;
}

static LLVMAttributeRef make_attribute(struct kernel_emitter *e, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (kind == 0) kernel_internal_error("an attribute that this LLVM does not know");
    return LLVMCreateEnumAttribute(e->context, kind, 0);
}

void kernel_function_attribute(struct kernel_emitter *e, LLVMValueRef function, const char *name)
{
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            make_attribute(e, name));
}

void kernel_parameter_attribute(struct kernel_emitter *e, LLVMValueRef function, unsigned parameter,
                                const char *name)
{
    LLVMAddAttributeAtIndex(function, parameter + 1, make_attribute(e, name));
}

LLVMValueRef kernel_intrinsic(struct kernel_emitter *e, const char *name, LLVMValueRef *args,
                              unsigned count, LLVMTypeRef *overloads, unsigned overload_count)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (id == 0) kernel_internal_error("an intrinsic that this LLVM does not know");
    LLVMValueRef callee = LLVMGetIntrinsicDeclaration(e->module, id, overloads, overload_count);
    LLVMTypeRef type = LLVMIntrinsicGetType(e->context, id, overloads, overload_count);
    return LLVMBuildCall2(e->builder, type, callee, args, count, "");
}

LLVMValueRef kernel_smaller(struct kernel_emitter *e, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef args[] = {a, b};
    return kernel_intrinsic(e, "llvm.umin", args, 2, &e->i64, 1);
}

LLVMValueRef kernel_offset(struct kernel_emitter *e, LLVMBuilderRef builder, LLVMValueRef pointer,
                           uint64_t bytes)
{
    if (bytes == 0) return pointer;
    LLVMValueRef index = kernel_i64(e, bytes);
    return LLVMBuildInBoundsGEP2(builder, e->i8, pointer, &index, 1, "");
}

static LLVMMetadataRef metadata_string(struct kernel_emitter *e, const char *text)
{
    return LLVMMDStringInContext2(e->context, text, strlen(text));
}

/* A loop's metadata is a node that names itself first: it is made with a stand-in. */
static void describe_loop(struct kernel_emitter *e, LLVMValueRef branch, LLVMMetadataRef *parts,
                          size_t count)
{
    static const char kind[] = "llvm.loop";
    parts[0] = LLVMTemporaryMDNode(e->context, NULL, 0);
    LLVMMetadataRef loop = LLVMMDNodeInContext2(e->context, parts, count);
    LLVMMetadataReplaceAllUsesWith(parts[0], loop);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(e->context, kind, (unsigned)strlen(kind)),
                    LLVMMetadataAsValue(e->context, loop));
}

void kernel_leave_loop_alone(struct kernel_emitter *e, LLVMValueRef branch)
{
    LLVMMetadataRef unroll[] = {metadata_string(e, "llvm.loop.unroll.disable")};
    LLVMMetadataRef vectorise[] = {metadata_string(e, "llvm.loop.vectorize.enable"),
                                   LLVMValueAsMetadata(LLVMConstInt(e->i1, 0, 0))};
    LLVMMetadataRef parts[] = {NULL, LLVMMDNodeInContext2(e->context, unroll, 1),
                               LLVMMDNodeInContext2(e->context, vectorise, 2)};
    describe_loop(e, branch, parts, 3);
}

void kernel_unroll_loop(struct kernel_emitter *e, LLVMValueRef branch)
{
    LLVMMetadataRef unroll[] = {metadata_string(e, "llvm.loop.unroll.full")};
    LLVMMetadataRef parts[] = {NULL, LLVMMDNodeInContext2(e->context, unroll, 1)};
    describe_loop(e, branch, parts, 2);
}

void kernel_interleave_loop(struct kernel_emitter *e, LLVMValueRef branch, uint64_t rounds)
{
    LLVMMetadataRef unroll[] = {metadata_string(e, "llvm.loop.unroll.disable")};
    LLVMMetadataRef enable[] = {metadata_string(e, "llvm.loop.vectorize.enable"),
                                LLVMValueAsMetadata(LLVMConstInt(e->i1, 1, 0))};
    LLVMMetadataRef width[] = {metadata_string(e, "llvm.loop.vectorize.width"),
                               LLVMValueAsMetadata(LLVMConstInt(e->i32, 1, 0))};
    LLVMMetadataRef count[] = {metadata_string(e, "llvm.loop.interleave.count"),
                               LLVMValueAsMetadata(LLVMConstInt(e->i32, rounds, 0))};
    LLVMMetadataRef parts[] = {NULL, LLVMMDNodeInContext2(e->context, enable, 2),
                               LLVMMDNodeInContext2(e->context, width, 2),
                               LLVMMDNodeInContext2(e->context, count, 2),
                               LLVMMDNodeInContext2(e->context, unroll, 1)};
    describe_loop(e, branch, parts, 5);
}

/* ---- loads and stores of scalars ---- */

LLVMValueRef kernel_memory_value(struct kernel_emitter *e, const struct type *type,
                                 LLVMValueRef value)
{
    if (type->scalar != SCALAR_BOOL) return value;
    return LLVMBuildZExt(e->builder, value, kernel_type_like(e->i8, value), "");
}

static LLVMValueRef load_at(struct kernel_emitter *e, LLVMTypeRef memory, const struct type *type,
                            LLVMValueRef pointer, bool invariant)
{
    LLVMValueRef load = LLVMBuildLoad2(e->builder, memory, pointer, "");
    LLVMSetAlignment(load, type->alignment_bytes);
    if (invariant) {
        LLVMSetMetadata(load, e->invariant_kind, LLVMMetadataAsValue(e->context, e->empty_node));
    }
    return load;
}

/* Where lane `lane` of a strided or gathered object is. */
static LLVMValueRef lane_pointer(struct kernel_emitter *e, struct kernel_address address,
                                 uint32_t lane)
{
    if (address.layout == LAYOUT_GATHER) {
        return LLVMBuildExtractElement(e->builder, address.pointer, kernel_i64(e, lane), "");
    }
    return kernel_offset(e, e->builder, address.pointer, lane * address.stride_bytes);
}

/* One load for each lane. */
static LLVMValueRef load_apart(struct kernel_emitter *e, LLVMTypeRef memory,
                               const struct type *type, struct kernel_address from)
{
    if (from.layout == LAYOUT_GATHER) return kernel_gather(e, memory, from.pointer, from.invariant);
    LLVMValueRef vector = LLVMGetPoison(LLVMVectorType(memory, e->body->lanes));
    for (uint32_t lane = 0; lane < e->body->lanes; lane++) {
        LLVMValueRef item = load_at(e, memory, type, lane_pointer(e, from, lane), from.invariant);
        vector = LLVMBuildInsertElement(e->builder, vector, item, kernel_i64(e, lane), "");
    }
    return vector;
}

/* One load of all that lies between the first and the last lane, of which every `step`-th is taken.
 */
static LLVMValueRef load_every(struct kernel_emitter *e, LLVMTypeRef memory,
                               const struct type *type, struct kernel_address from, uint32_t step)
{
    uint32_t lanes = e->body->lanes;
    LLVMValueRef places[KERNEL_LANES_MAX];
    LLVMTypeRef all = LLVMVectorType(memory, (lanes - 1) * step + 1);
    LLVMValueRef vector = load_at(e, all, type, from.pointer, from.invariant);
    for (uint32_t i = 0; i < lanes; i++)
        places[i] = LLVMConstInt(e->i32, (uint64_t)i * step, 0);
    return LLVMBuildShuffleVector(e->builder, vector, LLVMGetPoison(all),
                                  LLVMConstVector(places, lanes), "");
}

/* The parts are consecutive in the vector. */
static LLVMValueRef load_woven(struct kernel_emitter *e, LLVMTypeRef memory,
                               const struct type *type, struct kernel_address from)
{
    LLVMValueRef parts[KERNEL_WEAVE_MAX] = {NULL};
    uint32_t count = e->body->weave;
    LLVMTypeRef vector = LLVMVectorType(memory, e->body->lanes / count);
    for (uint32_t k = 0; k < count; k++) {
        LLVMValueRef place =
            LLVMBuildInBoundsGEP2(e->builder, e->i8, from.pointer, &from.parts[k], 1, "");
        parts[k] = load_at(e, vector, type, place, from.invariant);
    }
    return kernel_join_registers(e, parts, count);
}

static LLVMValueRef load_strided_lanes(struct kernel_emitter *e, LLVMTypeRef memory,
                                       const struct type *type, struct kernel_address from)
{
    enum { STEP_MAX = 4 };
    uint64_t step = from.stride_bytes / type->width_bytes;
    if (from.layout != LAYOUT_STRIDED || step * type->width_bytes != from.stride_bytes ||
        step == 0 || step > STEP_MAX) {
        return load_apart(e, memory, type, from);
    }
    LLVMTypeRef vector = LLVMVectorType(memory, e->body->lanes);
    return step == 1 ? load_at(e, vector, type, from.pointer, from.invariant)
                     : load_every(e, memory, type, from, (uint32_t)step);
}

LLVMValueRef kernel_load(struct kernel_emitter *e, const struct type *type,
                         struct kernel_address from)
{
    LLVMTypeRef memory = kernel_memory_type(e, type);
    LLVMValueRef value;
    if (from.layout == LAYOUT_UNIFORM) {
        value = load_at(e, memory, type, from.pointer, from.invariant);
    } else if (from.layout == LAYOUT_LANES) {
        LLVMTypeRef vector = LLVMVectorType(memory, e->body->lanes);
        value = LLVMBuildLoad2(e->builder, vector, from.pointer, "");
    } else if (from.layout == LAYOUT_WOVEN) {
        value = load_woven(e, memory, type, from);
    } else if (from.layout == LAYOUT_PAIRS) {
        value = kernel_load_pairs(e, from);
    } else {
        value = load_strided_lanes(e, memory, type, from);
    }
    /* The register value of a scalar as memory holds it (i8 for bool). */
    if (type->scalar != SCALAR_BOOL) return value;
    return LLVMBuildICmp(e->builder, LLVMIntNE, value, LLVMConstNull(LLVMTypeOf(value)), "");
}

static void store_at(struct kernel_emitter *e, const struct type *type, LLVMValueRef value,
                     LLVMValueRef pointer)
{
    LLVMValueRef store = LLVMBuildStore(e->builder, value, pointer);
    LLVMSetAlignment(store, type->alignment_bytes);
}

/* The scalars of all lanes are consecutive in memory. */
static void store_lanes(struct kernel_emitter *e, const struct type *type, LLVMValueRef value,
                        struct kernel_address to)
{
    static const char kind[] = "nontemporal";
    LLVMValueRef store = LLVMBuildStore(e->builder, value, to.pointer);
    LLVMSetAlignment(store, to.streamed ? KERNEL_LINE_BYTES : type->alignment_bytes);
    if (!to.streamed) return;
    LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(e->i32, 1, 0));
    LLVMSetMetadata(store, LLVMGetMDKindIDInContext(e->context, kind, sizeof kind - 1),
                    LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, &one, 1)));
}

void kernel_store(struct kernel_emitter *e, const struct type *type, struct kernel_address to,
                  LLVMValueRef value)
{
    if (to.layout != LAYOUT_UNIFORM && !kernel_is_vector(value)) {
        value = kernel_splat(e, value, e->body->lanes);
    }
    value = kernel_memory_value(e, type, value);
    if (to.layout == LAYOUT_LANES) {
        LLVMBuildStore(e->builder, value, to.pointer);
    } else if (to.layout == LAYOUT_UNIFORM) {
        store_at(e, type, value, to.pointer);
    } else if (to.layout == LAYOUT_PAIRS) {
        kernel_store_pairs(e, to, value);
    } else if (to.layout == LAYOUT_STRIDED && to.stride_bytes == type->width_bytes) {
        store_lanes(e, type, value, to);
    } else {
        for (uint32_t lane = 0; lane < e->body->lanes; lane++) {
            LLVMValueRef item = LLVMBuildExtractElement(e->builder, value, kernel_i64(e, lane), "");
            store_at(e, type, item, lane_pointer(e, to, lane));
        }
    }
}

/* ---- faults ---- */

static LLVMTypeRef fault_type(struct kernel_emitter *e)
{
    LLVMTypeRef params[] = {e->pointer, e->i64, e->i32, e->i32, e->i32, e->i64, e->i64};
    return LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 7, 0);
}

/* void fault(record, firing, source, line, column, index, bound): fills the record. */
static LLVMValueRef fault_function(struct kernel_emitter *e)
{
    static const size_t offsets[] = {
        offsetof(struct kernel_fault, firing), offsetof(struct kernel_fault, source),
        offsetof(struct kernel_fault, line),   offsetof(struct kernel_fault, column),
        offsetof(struct kernel_fault, index),  offsetof(struct kernel_fault, bound)};
    if (e->fault_function != NULL) return e->fault_function;
    LLVMValueRef function = LLVMAddFunction(e->module, "fault", fault_type(e));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    kernel_function_attribute(e, function, "cold");
    kernel_function_attribute(e, function, "noinline");
    kernel_function_attribute(e, function, "nounwind");
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(e->context);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(e->context, function, "entry"));
    LLVMValueRef record = LLVMGetParam(function, 0);
    for (unsigned i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        LLVMBuildStore(builder, LLVMGetParam(function, i + 1),
                       kernel_offset(e, builder, record, offsets[i]));
    }
    LLVMBuildStore(builder, LLVMConstInt(e->i32, 0, 0),
                   kernel_offset(e, builder, record, offsetof(struct kernel_fault, level)));
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    return e->fault_function = function;
}

/* Ends the body: the status is the entry's or function's result, or the first part of it. */
/* Leaves the function with the status.  A run leaves its loop as a stop does: the firings before count. */
static void return_status(struct kernel_emitter *e, LLVMValueRef status)
{
    if (e->body->status != NULL) {
        kernel_leave_batch(e, status);
        return;
    }
    LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(e->body->llvm));
    if (LLVMGetTypeKind(result) == LLVMStructTypeKind) {
        status = LLVMBuildInsertValue(e->builder, LLVMConstNull(result), status, 0, "");
    }
    LLVMBuildRet(e->builder, status);
}

void kernel_prefetch(struct kernel_emitter *e, LLVMValueRef address)
{
    enum { READ = 0, ALL_LEVELS = 3, DATA = 1 };
    LLVMValueRef args[] = {address, LLVMConstInt(e->i32, READ, 0),
                           LLVMConstInt(e->i32, ALL_LEVELS, 0), LLVMConstInt(e->i32, DATA, 0)};
    kernel_intrinsic(e, "llvm.prefetch", args, 4, &e->pointer, 1);
}

void kernel_branch_unlikely(struct kernel_emitter *e, LLVMValueRef condition,
                            LLVMBasicBlockRef unlikely, LLVMBasicBlockRef likely)
{
    LLVMValueRef branch = LLVMBuildCondBr(e->builder, condition, unlikely, likely);
    LLVMSetMetadata(branch, e->prof_kind, LLVMMetadataAsValue(e->context, e->unlikely));
}

void kernel_fault_if(struct kernel_emitter *e, LLVMValueRef bad, enum kernel_status status,
                     struct span span, LLVMValueRef index, LLVMValueRef bound)
{
    LLVMBasicBlockRef fault = kernel_block(e, "fault"), good = kernel_block(e, "good");
    kernel_branch_unlikely(e, bad, fault, good);
    kernel_position(e, fault);
    uint32_t line = 0, column = 0;
    if (span.source != 0) {
        source_locate(source_get(e->cx->sources, span.source), span.begin, &line, &column);
    }
    LLVMValueRef args[] = {e->body->fault,
                           e->body->firing_number,
                           LLVMConstInt(e->i32, span.source != 0 ? span.source - 1 : UINT32_MAX, 0),
                           LLVMConstInt(e->i32, line, 0),
                           LLVMConstInt(e->i32, column, 0),
                           index != NULL ? index : kernel_i64(e, 0),
                           bound != NULL ? bound : kernel_i64(e, 0)};
    LLVMBuildCall2(e->builder, fault_type(e), fault_function(e), args, 7, "");
    return_status(e, LLVMConstInt(e->i32, (unsigned)status, 0));
    kernel_position(e, good);
}

void kernel_fault_through(struct kernel_emitter *e, LLVMValueRef status)
{
    LLVMBasicBlockRef fault = kernel_block(e, "fault"), good = kernel_block(e, "good");
    LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntNE, status, LLVMConstInt(e->i32, 0, 0), "");
    kernel_branch_unlikely(e, bad, fault, good);
    kernel_position(e, fault);
    return_status(e, status);
    kernel_position(e, good);
}
