/* SPDX-License-Identifier: MIT */
/*
 * kernel_items: the work-items of a firing, executed one after the other between barriers.
 *
 * Statements that are done together (ks->together: barriers, what contains one, jumps out of that)
 * are emitted once; their conditions are the same for all items.  The runs of statements in between
 * are loops over the items, in order of their numbers.  A variable that is used in several runs is
 * an array with an element for each item (variable->per_item), or one for all where
 * bodies/divergence has found that it is the same for all.
 *
 * item.x, y, z are unpacked from the registers that the batch brings (lang/index_generator.md).
 * Taken from memory they would keep LLVM from vectorising and unrolling: firings are emitted twice,
 * and a batch first compares its registers with those that numbering x first gives.  Where they are
 * the same, as they always are, the loops count x, y and z themselves.
 */
#include "compiler/codegen/common/kernel_items.h"

#include "compiler/bodies/group.h"
#include "compiler/codegen/common/kernel_count.h"
#include "compiler/codegen/common/kernel_llvm_address.h"
#include "compiler/codegen/common/kernel_llvm_batch.h"
#include "compiler/codegen/common/kernel_llvm_expr.h"
#include "compiler/codegen/common/kernel_llvm_stmt.h"
#include "compiler/codegen/common/kernel_llvm_types.h"
#include "lang/index_format.h"

/* ---- loops over items ---- */

struct count_loop { /* from 0 to count - 1; block NULL: it is done once, with 0 */
    LLVMBasicBlockRef block;
    LLVMValueRef at; /* i32 */
    uint32_t count;
};

struct item_loop {
    struct count_loop loops[3]; /* z, y, x; or all items */
    LLVMBasicBlockRef outer_end;
};

static struct count_loop begin_count(struct kernel_emitter *e, uint32_t count, const char *name)
{
    LLVMValueRef zero = LLVMConstInt(e->i32, 0, 0);
    struct count_loop loop = {.at = zero, .count = count};
    if (count == 1) return loop;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    loop.block = kernel_block(e, name);
    LLVMBuildBr(e->builder, loop.block);
    kernel_position(e, loop.block);
    loop.at = LLVMBuildPhi(e->builder, e->i32, name);
    LLVMAddIncoming(loop.at, &zero, &before, 1);
    return loop;
}

static void end_count(struct kernel_emitter *e, const struct count_loop *loop)
{
    if (loop->block == NULL) return;
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder), end = kernel_block(e, "items.end");
    LLVMValueRef next = LLVMBuildNUWAdd(e->builder, loop->at, LLVMConstInt(e->i32, 1, 0), "");
    LLVMValueRef count = LLVMConstInt(e->i32, loop->count, 0);
    LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntULT, next, count, "");
    LLVMBuildCondBr(e->builder, more, loop->block, end);
    LLVMAddIncoming(loop->at, &next, &latch, 1);
    kernel_position(e, end);
}

/* The register of item `number` (i32), as the format has it. */
static LLVMValueRef load_register(struct kernel_emitter *e, LLVMTypeRef type,
                                  LLVMValueRef registers, LLVMValueRef number)
{
    LLVMValueRef at = LLVMBuildZExt(e->builder, number, e->i64, "");
    at = LLVMBuildInBoundsGEP2(e->builder, type, registers, &at, 1, "");
    LLVMValueRef packed = LLVMBuildLoad2(e->builder, type, at, "packed");
    LLVMSetMetadata(packed, e->invariant_kind, LLVMMetadataAsValue(e->context, e->empty_node));
    return packed;
}

static LLVMTypeRef register_type(struct kernel_emitter *e, const struct index_format *format)
{
    return format->register_bits == 16 ? e->i16 : e->i32;
}

/* Sets x, y, z of the item of that number. */
static void unpack_item(struct kernel_emitter *e, LLVMValueRef number)
{
    static const char *const names[] = {"item.x", "item.y", "item.z"};
    const struct index_format format = index_format_of(e->body->kernel->group);
    LLVMValueRef registers = LLVMGetParam(e->body->llvm, KERNEL_PARAM_INDICES);
    LLVMValueRef packed = load_register(e, register_type(e, &format), registers, number);
    packed = LLVMBuildZExtOrBitCast(e->builder, packed, e->i32, "");
    for (int d = 0; d < 3; d++) {
        LLVMValueRef shift = LLVMConstInt(e->i32, format.shift[d], 0);
        LLVMValueRef mask = LLVMConstInt(e->i32, (UINT64_C(1) << format.bits[d]) - 1, 0);
        LLVMValueRef low = LLVMBuildLShr(e->builder, packed, shift, "");
        e->body->item[d] = LLVMBuildAnd(e->builder, low, mask, names[d]);
    }
}

static void set_index(struct kernel_emitter *e)
{
    struct kernel_body *body = e->body;
    const uint32_t *group = body->kernel->group;
    LLVMValueRef index = LLVMConstInt(e->i32, 0, 0);
    for (int d = 2; d >= 0; d--) {
        LLVMValueRef extent = LLVMConstInt(e->i32, group[d], 0);
        index = LLVMBuildNUWMul(e->builder, index, extent, "");
        index = LLVMBuildNUWAdd(e->builder, index, body->item[d], "");
    }
    body->item_index = LLVMBuildZExt(e->builder, index, e->i64, "item");
}

static void no_item(struct kernel_emitter *e)
{
    for (int d = 0; d < 3; d++)
        e->body->item[d] = LLVMConstInt(e->i32, 0, 0);
    e->body->item_index = kernel_i64(e, 0);
}

static LLVMValueRef gone_flag(struct kernel_emitter *e)
{
    return LLVMBuildInBoundsGEP2(e->builder, e->i8, e->body->gone, &e->body->item_index, 1, "");
}

static struct item_loop begin_items(struct kernel_emitter *e)
{
    static const char *const names[] = {"item.x", "item.y", "item.z"};
    struct kernel_body *body = e->body;
    struct item_loop loop = {.outer_end = body->end};
    if (body->numbered) {
        for (int d = 2; d >= 0; d--) {
            loop.loops[2 - d] = begin_count(e, body->kernel->group[d], names[d]);
            body->item[d] = loop.loops[2 - d].at;
        }
        set_index(e);
    } else {
        loop.loops[0] = begin_count(e, group_items(body->kernel), "item");
        unpack_item(e, loop.loops[0].at);
        body->item_index = LLVMBuildZExt(e->builder, loop.loops[0].at, e->i64, "item");
    }
    body->end = kernel_block(e, "item.end");
    body->together = false;
    kernel_count_items_begin(e);
    /* Only the items go on that have not ended their firing. */
    if (e->body->gone != NULL) {
        LLVMBasicBlockRef here = kernel_block(e, "item.here");
        LLVMValueRef flag = LLVMBuildLoad2(e->builder, e->i8, gone_flag(e), "");
        LLVMValueRef gone =
            LLVMBuildICmp(e->builder, LLVMIntNE, flag, LLVMConstInt(e->i8, 0, 0), "");
        LLVMBuildCondBr(e->builder, gone, e->body->end, here);
        kernel_position(e, here);
    }
    return loop;
}

static void end_items(struct kernel_emitter *e, struct item_loop loop)
{
    struct kernel_body *body = e->body;
    LLVMBuildBr(e->builder, body->end);
    kernel_position(e, body->end);
    kernel_count_item_end(e);
    for (int i = 2; i >= 0; i--)
        end_count(e, &loop.loops[i]);
    body->end = loop.outer_end;
    body->together = true;
    kernel_count_items_end(e);
    no_item(e);
}

/* ---- what is done together ---- */

static bool assigns_item_variable(const struct kx *x, void *data)
{
    (void)data;
    const struct variable *variable = x->kind == KX_ASSIGN ? kx_root_variable(x->left) : NULL;
    return variable != NULL && variable->kind == VARIABLE_LOCAL && variable->per_item;
}

LLVMValueRef kernel_items_value(struct kernel_emitter *e, const struct kx *x)
{
    if (!kx_any(x, assigns_item_variable, NULL)) return kernel_expression(e, x);
    bool scalar = type_is_scalar(x->type);
    LLVMValueRef result =
        scalar ? kernel_alloca(e, kernel_scalar_type(e, x->type->scalar), "together") : NULL;
    struct item_loop loop = begin_items(e);
    LLVMValueRef value = kernel_expression(e, x);
    if (scalar) LLVMBuildStore(e->builder, value, result);
    end_items(e, loop);
    if (!scalar) return NULL;
    return LLVMBuildLoad2(e->builder, kernel_scalar_type(e, x->type->scalar), result, "");
}

static void run_items(struct kernel_emitter *e, const struct ks *first, const struct ks *end)
{
    if (first == end) return;
    struct item_loop loop = begin_items(e);
    for (const struct ks *s = first; s != end; s = s->next)
        kernel_statement(e, s);
    end_items(e, loop);
}

static bool is_per_item(const struct ks *s)
{
    return (s->kind == KS_DECLARE && s->variable->per_item) ||
           kx_any(s->expr, assigns_item_variable, NULL);
}

void kernel_items_init(struct kernel_emitter *e, const struct ks *first)
{
    for (const struct ks *s = first; s != NULL; s = s->next) {
        if (s->kind == KS_BLOCK) {
            kernel_items_init(e, s->body);
        } else if (is_per_item(s)) {
            run_items(e, s, s->next);
        } else {
            e->body->together = false;
            kernel_statement(e, s);
            e->body->together = true;
        }
    }
}

void kernel_items_zero(struct kernel_emitter *e, const struct variable *variable)
{
    if (!variable->per_item) {
        kernel_store_zero(e, variable->type, kernel_variable_address(e, variable));
        return;
    }
    struct item_loop loop = begin_items(e);
    kernel_store_zero(e, variable->type, kernel_variable_address(e, variable));
    end_items(e, loop);
}

void kernel_items_statements(struct kernel_emitter *e, const struct ks *first)
{
    const struct ks *begin = first;
    for (const struct ks *s = first; s != NULL; s = s->next) {
        if (!s->together && s->kind != KS_CASE) continue;
        run_items(e, begin, s);
        kernel_statement(e, s);
        begin = s->next;
    }
    run_items(e, begin, NULL);
}

/* ---- the registers of a batch ---- */

/* The registers of items that are numbered x first, as a constant array. */
static LLVMValueRef numbered_registers(struct kernel_emitter *e, const struct index_format *format)
{
    const uint32_t *d = e->body->kernel->group;
    uint32_t items = group_items(e->body->kernel);
    LLVMTypeRef type = register_type(e, format);
    LLVMValueRef *values = ARENA_ARRAY(e->scratch, LLVMValueRef, items);
    for (uint32_t n = 0; n < items; n++)
        values[n] =
            LLVMConstInt(type, index_pack(format, n % d[0], n / d[0] % d[1], n / d[0] / d[1]), 0);
    return kernel_private_constant(e, LLVMConstArray2(type, values, items), "numbered");
}

LLVMValueRef kernel_items_numbered(struct kernel_emitter *e)
{
    const struct index_format format = index_format_of(e->body->kernel->group);
    LLVMTypeRef type = register_type(e, &format);
    LLVMValueRef numbered = numbered_registers(e, &format);
    LLVMValueRef registers = LLVMGetParam(e->body->llvm, KERNEL_PARAM_INDICES);
    LLVMValueRef slot = kernel_alloca(e, type, "differ"), zero = LLVMConstInt(type, 0, 0);
    LLVMBuildStore(e->builder, zero, slot);
    struct count_loop loop = begin_count(e, group_items(e->body->kernel), "compare");
    LLVMValueRef differ = LLVMBuildXor(e->builder, load_register(e, type, registers, loop.at),
                                       load_register(e, type, numbered, loop.at), "");
    differ = LLVMBuildOr(e->builder, LLVMBuildLoad2(e->builder, type, slot, ""), differ, "");
    LLVMBuildStore(e->builder, differ, slot);
    end_count(e, &loop);
    differ = LLVMBuildLoad2(e->builder, type, slot, "");
    return LLVMBuildICmp(e->builder, LLVMIntEQ, differ, zero, "");
}

/* ---- a firing ---- */

void kernel_items_begin(struct kernel_emitter *e)
{
    struct kernel_body *body = e->body;
    const struct kernel *kernel = body->kernel;
    body->together = true;
    body->gone = NULL;
    no_item(e);
    if (kernel->items_leave) {
        uint64_t items = group_items(kernel);
        body->gone = kernel_alloca(e, LLVMArrayType2(e->i8, items), "gone");
        LLVMBuildMemSet(e->builder, body->gone, LLVMConstInt(e->i8, 0, 0), kernel_i64(e, items), 1);
    }
    for (size_t i = 0; i < kernel->shared.count; i++) {
        const struct variable *variable = kernel->shared.items[i];
        kernel_store_zero(e, variable->type, kernel_variable_address(e, variable));
    }
}

void kernel_items_leave(struct kernel_emitter *e)
{
    if (e->body->gone == NULL || e->body->together) return;
    LLVMBuildStore(e->builder, LLVMConstInt(e->i8, 1, 0), gone_flag(e));
}
