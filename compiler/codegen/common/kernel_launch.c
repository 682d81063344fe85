/* SPDX-License-Identifier: MIT */
/*
 * kernel_launch: what a body does to the list of launches that its caller provides
 * (lang/kernel_abi.h, lang/device_queue.md).
 *
 * A launch is an appended entry: the interface of the child, which the device has written, with the arguments of the
 * statement. These are evaluated before the entry is appended: one of them may
 * query an event, and the code of that query uses the entries past the last one. An event is a variable
 * that holds the number of its launch.
 */
#include "compiler/codegen/common/kernel_launch.h"

#include "base/arithmetic.h"
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

/* The bytes of an interface that have to be copied: without its block of arguments where the statement gives all of them. */
static uint64_t copied_bytes(const struct launch *launch)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < launch->child_count; i++) {
        const struct kernel *child = launch->children[i].kernel;
        if (child->argument_count > launch->argument_count)
            most = max64(most, child->arguments_bytes);
    }
    return sizeof(struct kernel_launch) + most;
}

/* The beginning of the block that the statement's arguments take: the same for all children. */
static uint64_t written_bytes(const struct launch *launch)
{
    if (launch->argument_count == 0) return 0;
    const struct kernel *child = launch->children[0].kernel;
    const struct variable *last = child->arguments[launch->argument_count - 1];
    return last->offset_bytes + last->type->width_bytes;
}

/* That beginning, or NULL where the statement gives no arguments. */
static LLVMValueRef evaluate_launch_arguments(struct kernel_emitter *e, const struct launch *launch)
{
    if (launch->argument_count == 0) return NULL;
    LLVMValueRef block =
        kernel_alloca(e, LLVMArrayType2(e->i8, written_bytes(launch)), "arguments");
    LLVMSetAlignment(block, ENTRY_ALIGNMENT);
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        uint64_t offset = launch->children[0].kernel->arguments[i]->offset_bytes;
        struct kernel_address to = {.pointer = kernel_offset(e, e->builder, block, offset)};
        kernel_expression_into(e, launch->arguments[i], to, true);
    }
    return block;
}

static void store_field(struct kernel_emitter *e, LLVMValueRef entry, size_t offset_bytes,
                        LLVMValueRef value)
{
    LLVMBuildStore(e->builder, value, kernel_offset(e, e->builder, entry, offset_bytes));
}

/* The `index`-th (i64) of the launch list's blocks from `first` on. */
static LLVMValueRef block_at(struct kernel_emitter *e, size_t first_offset, LLVMValueRef index,
                             const char *name)
{
    LLVMValueRef first = load_field(e, e->pointer, first_offset, "");
    LLVMValueRef stride =
        load_field(e, e->i64, offsetof(struct kernel_launch_list, stride_bytes), "stride");
    LLVMValueRef offset = LLVMBuildMul(e->builder, index, stride, "");
    return LLVMBuildInBoundsGEP2(e->builder, e->i8, first, &offset, 1, name);
}

/* The interface of the child that is started, as the device has written it. */
static LLVMValueRef chosen_interface(struct kernel_emitter *e, const struct launch *launch)
{
    LLVMValueRef index = kernel_i64(e, launch->index);
    if (launch->choice != NULL) {
        LLVMValueRef choice = kernel_expression(e, launch->choice);
        choice = LLVMBuildZExt(e->builder, choice, e->i64, "choice");
        index = LLVMBuildNUWAdd(e->builder, index, choice, "");
    }
    return block_at(e, offsetof(struct kernel_launch_list, interfaces), index, "interface");
}

/* The numbers of the work-groups: how many, and the first one, i32; NULL: as in the interface. */
struct group_numbers {
    LLVMValueRef groups, first;
};

static struct group_numbers evaluate_groups(struct kernel_emitter *e, const struct launch *launch)
{
    struct group_numbers numbers = {NULL, NULL};
    if (launch->groups != NULL) numbers.groups = kernel_expression(e, launch->groups);
    if (launch->first_group != NULL) numbers.first = kernel_expression(e, launch->first_group);
    return numbers;
}

/* Faults unless first is below the child's end, and groups is 1 to the rest. */
static void check_launch_groups(struct kernel_emitter *e, const struct launch *launch,
                                struct group_numbers numbers, LLVMValueRef interface)
{
    if (!launch->groups_checked) return;
    LLVMValueRef place =
        kernel_offset(e, e->builder, interface, offsetof(struct kernel_launch, group_end));
    LLVMValueRef end = LLVMBuildLoad2(e->builder, e->i32, place, "end"), room;
    room = end = LLVMBuildZExt(e->builder, end, e->i64, "");
    if (numbers.first != NULL) {
        LLVMValueRef first = LLVMBuildSExt(e->builder, numbers.first, e->i64, "first");
        LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntUGE, first, end, "");
        kernel_fault_if(e, bad, KERNEL_FAULT_INDEX, launch->first_group->span, first, end);
        room = LLVMBuildSub(e->builder, end, first, "room");
    }
    if (numbers.groups == NULL) return;
    LLVMValueRef groups = LLVMBuildSExt(e->builder, numbers.groups, e->i64, "groups");
    LLVMValueRef above = LLVMBuildSub(e->builder, groups, kernel_i64(e, 1), "");
    LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntUGE, above, room, "");
    kernel_fault_if(e, bad, KERNEL_FAULT_GROUPS, launch->groups->span, groups, room);
}

/* The entry is the interface with what the statement says. */
static void write_entry(struct kernel_emitter *e, const struct launch *launch, LLVMValueRef entry,
                        LLVMValueRef interface, LLVMValueRef arguments,
                        struct group_numbers numbers)
{
    LLVMTypeRef i16 = LLVMInt16TypeInContext(e->context);
    LLVMBuildMemCpy(e->builder, entry, ENTRY_ALIGNMENT, interface, ENTRY_ALIGNMENT,
                    kernel_i64(e, copied_bytes(launch)));
    if (numbers.groups != NULL)
        store_field(e, entry, offsetof(struct kernel_launch, groups), numbers.groups);
    if (numbers.first != NULL)
        store_field(e, entry, offsetof(struct kernel_launch, first_group), numbers.first);
    if (launch->wait_count > 0)
        store_field(e, entry, offsetof(struct kernel_launch, wait_count),
                    LLVMConstInt(i16, launch->wait_count, 0));
    store_field(e, entry, offsetof(struct kernel_launch, timestamp), kernel_count_so_far(e));
    for (uint32_t i = 0; i < launch->wait_count; i++)
        store_field(
            e, entry, offsetof(struct kernel_launch, waits) + i * sizeof(uint16_t),
            LLVMBuildTrunc(e->builder, kernel_expression(e, launch->waits[i]), i16, "event"));
    if (arguments != NULL)
        LLVMBuildMemCpy(
            e->builder, kernel_offset(e, e->builder, entry, sizeof(struct kernel_launch)),
            ENTRY_ALIGNMENT, arguments, ENTRY_ALIGNMENT, kernel_i64(e, written_bytes(launch)));
}

void kernel_launch_statement(struct kernel_emitter *e, const struct ks *s)
{
    const struct launch *launch = s->launch;
    const size_t count_offset = offsetof(struct kernel_launch_list, count);
    LLVMValueRef interface = chosen_interface(e, launch);
    LLVMValueRef arguments = evaluate_launch_arguments(e, launch);
    struct group_numbers numbers = evaluate_groups(e, launch);
    check_launch_groups(e, launch, numbers, interface);
    LLVMValueRef count = load_field(e, e->i64, count_offset, "launches");
    LLVMValueRef capacity =
        load_field(e, e->i64, offsetof(struct kernel_launch_list, capacity), "capacity");
    LLVMValueRef more = LLVMBuildNUWAdd(e->builder, count, kernel_i64(e, 1), "");
    LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntUGE, count, capacity, "");
    kernel_fault_if(e, bad, KERNEL_FAULT_LAUNCHES, launch->span, more, capacity);
    LLVMValueRef entry = block_at(e, offsetof(struct kernel_launch_list, entries), count, "entry");
    write_entry(e, launch, entry, interface, arguments, numbers);
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
