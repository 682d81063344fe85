/* SPDX-License-Identifier: MIT */
/*
 * kernel_launch: what a body does to the list of launches that its caller provides
 * (lang/kernel_abi.h, lang/device_queue.md).
 *
 * A launch is an appended entry. Its arguments are evaluated before the entry is appended: one of them may
 * query an event, and the code of that query uses the entries past the last one. An event is a variable
 * that holds the number of its launch.
 */
#include "compiler/codegen/common/kernel_launch.h"

#include "compiler/codegen/common/kernel_count.h"
#include "compiler/codegen/common/kernel_llvm_address.h"
#include "compiler/codegen/common/kernel_llvm_expr.h"
#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/ir/kernel.h"

enum { ENTRY_ALIGNMENT = 64 };

static LLVMValueRef list_field(struct kernel_emitter *e, size_t offset_bytes)
{
    return kernel_offset(e, e->builder, e->body->launches, offset_bytes);
}

static LLVMValueRef load_field(struct kernel_emitter *e, LLVMTypeRef type, size_t offset_bytes,
                               const char *name)
{
    return LLVMBuildLoad2(e->builder, type, list_field(e, offset_bytes), name);
}

LLVMValueRef kernel_group_number(struct kernel_emitter *e, uint32_t member)
{
    size_t offset = member == ITEM_GROUP ? offsetof(struct kernel_launch_list, group)
                                         : offsetof(struct kernel_launch_list, groups);
    return load_field(e, e->i32, offset, member == ITEM_GROUP ? "group" : "groups");
}

/* The child's block of arguments, or NULL where it has none. */
static LLVMValueRef evaluate_launch_arguments(struct kernel_emitter *e, const struct launch *launch)
{
    const struct kernel *child = launch->child;
    if (child->argument_count == 0) return NULL;
    LLVMValueRef block =
        kernel_alloca(e, LLVMArrayType2(e->i8, child->arguments_bytes), "arguments");
    LLVMSetAlignment(block, ENTRY_ALIGNMENT);
    for (uint32_t i = 0; i < child->argument_count; i++) {
        struct kernel_address to = {
            .pointer = kernel_offset(e, e->builder, block, child->arguments[i]->offset_bytes)};
        kernel_expression_into(e, launch->arguments[i], to, true);
    }
    return block;
}

static void store_field(struct kernel_emitter *e, LLVMValueRef entry, size_t offset_bytes,
                        LLVMValueRef value)
{
    LLVMBuildStore(e->builder, value, kernel_offset(e, e->builder, entry, offset_bytes));
}

/* The number of work-groups, i32. */
static LLVMValueRef evaluate_groups(struct kernel_emitter *e, const struct launch *launch)
{
    if (launch->groups == NULL) return LLVMConstInt(e->i32, 1, 0);
    LLVMValueRef groups = kernel_expression(e, launch->groups);
    if (!launch->groups_checked) return groups;
    LLVMValueRef index = LLVMBuildSExt(e->builder, groups, e->i64, "groups");
    LLVMValueRef above = LLVMBuildSub(e->builder, index, kernel_i64(e, 1), "");
    LLVMValueRef most = kernel_i64(e, launch->child->work_groups);
    LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntUGE, above, most, "");
    kernel_fault_if(e, bad, KERNEL_FAULT_GROUPS, launch->span, index, most);
    return groups;
}

static void write_entry(struct kernel_emitter *e, const struct launch *launch, LLVMValueRef entry,
                        LLVMValueRef arguments, LLVMValueRef groups)
{
    store_field(e, entry, offsetof(struct kernel_launch, site),
                LLVMConstInt(e->i32, launch->index, 0));
    store_field(e, entry, offsetof(struct kernel_launch, groups), groups);
    store_field(e, entry, offsetof(struct kernel_launch, wait_count),
                LLVMConstInt(LLVMInt16TypeInContext(e->context), launch->wait_count, 0));
    store_field(e, entry, offsetof(struct kernel_launch, timestamp), kernel_count_so_far(e));
    for (uint32_t i = 0; i < launch->wait_count; i++)
        store_field(e, entry, offsetof(struct kernel_launch, waits) + i * sizeof(uint32_t),
                    kernel_expression(e, launch->waits[i]));
    if (arguments == NULL) return;
    LLVMBuildMemCpy(e->builder, kernel_offset(e, e->builder, entry, sizeof(struct kernel_launch)),
                    ENTRY_ALIGNMENT, arguments, ENTRY_ALIGNMENT,
                    kernel_i64(e, launch->child->arguments_bytes));
}

void kernel_launch_statement(struct kernel_emitter *e, const struct ks *s)
{
    const struct launch *launch = s->launch;
    const size_t count_offset = offsetof(struct kernel_launch_list, count);
    LLVMValueRef arguments = evaluate_launch_arguments(e, launch);
    LLVMValueRef groups = evaluate_groups(e, launch);
    LLVMValueRef count = load_field(e, e->i64, count_offset, "launches");
    LLVMValueRef capacity =
        load_field(e, e->i64, offsetof(struct kernel_launch_list, capacity), "capacity");
    LLVMValueRef more = LLVMBuildNUWAdd(e->builder, count, kernel_i64(e, 1), "");
    LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntUGE, count, capacity, "");
    kernel_fault_if(e, bad, KERNEL_FAULT_LAUNCHES, launch->span, more, capacity);
    LLVMValueRef entries =
        load_field(e, e->pointer, offsetof(struct kernel_launch_list, entries), "entries");
    LLVMValueRef stride =
        load_field(e, e->i64, offsetof(struct kernel_launch_list, stride_bytes), "stride");
    LLVMValueRef offset = LLVMBuildMul(e->builder, count, stride, "");
    LLVMValueRef entry = LLVMBuildInBoundsGEP2(e->builder, e->i8, entries, &offset, 1, "entry");
    write_entry(e, launch, entry, arguments, groups);
    LLVMBuildStore(e->builder, more, list_field(e, count_offset));
    if (s->variable == NULL) return;
    kernel_store(e, s->variable->type, kernel_variable_address(e, s->variable),
                 LLVMBuildTrunc(e->builder, count, e->i32, "event"));
}

LLVMValueRef kernel_done(struct kernel_emitter *e, const struct kx *x)
{
    LLVMTypeRef params[] = {e->pointer, e->i32, e->i64};
    LLVMTypeRef type = LLVMFunctionType(e->i32, params, 3, 0);
    LLVMValueRef event = kernel_expression(e, x->left);
    LLVMValueRef done =
        load_field(e, e->pointer, offsetof(struct kernel_launch_list, done), "done");
    LLVMValueRef args[] = {e->body->launches, event, kernel_count_so_far(e)};
    LLVMValueRef result = LLVMBuildCall2(e->builder, type, done, args, 3, "done");
    LLVMValueRef zero = LLVMConstInt(e->i32, 0, 0);
    LLVMValueRef failed = LLVMBuildICmp(e->builder, LLVMIntSLT, result, zero, "");
    LLVMValueRef status =
        LLVMBuildSelect(e->builder, failed, LLVMBuildNeg(e->builder, result, ""), zero, "status");
    kernel_fault_through(e, status);
    return LLVMBuildICmp(e->builder, LLVMIntNE, result, zero, "");
}
