/* SPDX-License-Identifier: MIT */
/*
 * Loads of lanes from places that have nothing in common, such as items of a table.
 *
 * Each lane needs a load, an address and two moves.  LLVM's passes take time for each of these and gain nothing.  So they
 * see the call of a function that is only declared, and the loads take its place after them.  The address of a lane
 * is then calculated as a scalar: LLVM sees the object that it leads to, and the processor adds base and index as it
 * loads.  Items of a small constant table need no load where the target can select them from registers.
 */
#include "compiler/codegen/common/kernel_gather.h"

#include <string.h>

#include "compiler/codegen/common/kernel_llvm_types.h"

/* Names of the functions begin with one of these.  No other function has such a name and no body. */
static const char of_any[] = "gather.any.", of_invariant[] = "gather.invariant.";

/* ---- before optimising ---- */

/* Memory that the call reads, as LLVM encodes it: of each location, whether it is read. */
static unsigned memory_read(bool invariant)
{
    enum { NOTHING = 0, EVERY_LOCATION = 0x555 };
    return invariant ? NOTHING : EVERY_LOCATION;
}

static void describe_gather(struct kernel_emitter *e, LLVMValueRef function, bool invariant)
{
    static const char memory[] = "memory", *const flags[] = {"nounwind", "willreturn", "nofree",
                                                             "nosync", "nocallback"};
    unsigned kind = LLVMGetEnumAttributeKindForName(memory, sizeof memory - 1);
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(e->context, kind, memory_read(invariant)));
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        kernel_function_attribute(e, function, flags[i]);
}

LLVMValueRef kernel_gather(struct kernel_emitter *e, LLVMTypeRef item, LLVMValueRef pointers,
                           bool invariant)
{
    enum { PER_LANE = 3 }; /* instructions of the expansion, addresses apart */
    uint32_t lanes = e->body->lanes;
    char *item_name = LLVMPrintTypeToString(item);
    const char *name =
        arena_printf(e->scratch, "%s%u.%s", invariant ? of_invariant : of_any, lanes, item_name);
    LLVMDisposeMessage(item_name);
    LLVMTypeRef from = LLVMTypeOf(pointers);
    LLVMTypeRef type = LLVMFunctionType(LLVMVectorType(item, lanes), &from, 1, 0);
    LLVMValueRef function = LLVMGetNamedFunction(e->module, name);
    if (function == NULL) {
        function = LLVMAddFunction(e->module, name, type);
        describe_gather(e, function, invariant);
    }
    e->body->added_instructions += (uint64_t)PER_LANE * lanes;
    return LLVMBuildCall2(e->builder, type, function, &pointers, 1, "");
}

/* ---- after optimising ---- */

/* One lane of a value that may be a vector: calculated as a scalar where that is an address, or an index that widens. */
static LLVMValueRef lane_of(struct kernel_emitter *e, LLVMValueRef value, uint32_t lane)
{
    if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMVectorTypeKind) return value;
    if (LLVMIsAGetElementPtrInst(value) != NULL) {
        unsigned count = (unsigned)LLVMGetNumOperands(value) - 1;
        LLVMValueRef *indices = ARENA_ARRAY(e->scratch, LLVMValueRef, count);
        LLVMValueRef base = lane_of(e, LLVMGetOperand(value, 0), lane);
        LLVMTypeRef item = LLVMGetGEPSourceElementType(value);
        for (unsigned i = 0; i < count; i++)
            indices[i] = lane_of(e, LLVMGetOperand(value, i + 1), lane);
        return LLVMIsInBounds(value)
                   ? LLVMBuildInBoundsGEP2(e->builder, item, base, indices, count, "")
                   : LLVMBuildGEP2(e->builder, item, base, indices, count, "");
    }
    if (LLVMIsAZExtInst(value) != NULL) {
        LLVMValueRef narrow = lane_of(e, LLVMGetOperand(value, 0), lane);
        return LLVMBuildZExt(e->builder, narrow, LLVMGetElementType(LLVMTypeOf(value)), "");
    }
    return LLVMBuildExtractElement(e->builder, value, kernel_i64(e, lane), "");
}

/* The items that the pointers lead to, if these are items of a constant table, and it is better not to load them; or
 * NULL. */
static LLVMValueRef items_of_table(struct kernel_emitter *e, LLVMTypeRef item,
                                   LLVMValueRef pointers)
{
    if (e->code->table_items == NULL || LLVMIsAGetElementPtrInst(pointers) == NULL) return NULL;
    LLVMValueRef base = LLVMGetOperand(pointers, 0);
    bool is_table = LLVMGetNumOperands(pointers) == 2 && LLVMIsAGlobalVariable(base) != NULL &&
                    LLVMIsGlobalConstant(base) && !LLVMIsExternallyInitialized(base) &&
                    LLVMGetGEPSourceElementType(pointers) == item;
    LLVMValueRef table = is_table ? LLVMGetInitializer(base) : NULL;
    if (table == NULL || LLVMGetTypeKind(LLVMTypeOf(table)) != LLVMArrayTypeKind ||
        LLVMGetElementType(LLVMTypeOf(table)) != item)
        return NULL;
    LLVMValueRef index = LLVMGetOperand(pointers, 1);
    if (LLVMIsAZExtInst(index) != NULL) index = LLVMGetOperand(index, 0);
    return e->code->table_items(e, table, index);
}

static LLVMValueRef load_pointed_lanes(struct kernel_emitter *e, LLVMTypeRef type,
                                       LLVMValueRef pointers, bool invariant)
{
    LLVMTypeRef item = LLVMGetElementType(type);
    LLVMValueRef vector = LLVMGetPoison(type);
    for (uint32_t lane = 0; lane < LLVMGetVectorSize(type); lane++) {
        LLVMValueRef load = LLVMBuildLoad2(e->builder, item, lane_of(e, pointers, lane), "");
        if (invariant)
            LLVMSetMetadata(load, e->invariant_kind,
                            LLVMMetadataAsValue(e->context, e->empty_node));
        vector = LLVMBuildInsertElement(e->builder, vector, load, kernel_i64(e, lane), "");
    }
    return vector;
}

static void expand_gather(struct kernel_emitter *e, LLVMValueRef call, bool invariant)
{
    LLVMValueRef pointers = LLVMGetOperand(call, 0);
    LLVMPositionBuilderBefore(e->builder, call);
    LLVMValueRef vector = items_of_table(e, LLVMGetElementType(LLVMTypeOf(call)), pointers);
    if (vector == NULL) vector = load_pointed_lanes(e, LLVMTypeOf(call), pointers, invariant);
    LLVMReplaceAllUsesWith(call, vector);
    LLVMInstructionEraseFromParent(call);
    if (LLVMIsAInstruction(pointers) != NULL && LLVMGetFirstUse(pointers) == NULL)
        LLVMInstructionEraseFromParent(pointers);
}

static bool name_begins_with(LLVMValueRef function, const char *prefix)
{
    size_t length;
    const char *name = LLVMGetValueName2(function, &length);
    return length >= strlen(prefix) && memcmp(name, prefix, strlen(prefix)) == 0;
}

void kernel_expand_gathers(struct kernel_emitter *e)
{
    LLVMValueRef next;
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f != NULL; f = next) {
        next = LLVMGetNextFunction(f);
        bool invariant = name_begins_with(f, of_invariant);
        if (!LLVMIsDeclaration(f) || (!invariant && !name_begins_with(f, of_any))) continue;
        for (LLVMUseRef use = LLVMGetFirstUse(f); use != NULL; use = LLVMGetFirstUse(f))
            expand_gather(e, LLVMGetUser(use), invariant);
        LLVMDeleteFunction(f);
    }
}
